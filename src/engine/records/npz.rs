//! Archives of NumPy arrays (.npz).

use super::npy::{self, NpyArray};
use super::unread::UNPACK;
use super::workbook;
use super::zip;
use super::{
    ByteSource, FilePlace, Findings, Format, Input, ReadError, ReadOptions, Record, Source,
};

/// Whether the first bytes are those of an archive.
pub(super) fn is_likely(head: &[u8]) -> bool {
    zip::is_likely(head)
}

/// Reads all arrays of an archive.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let mut findings = Findings::new(input.path(), options.mode);
    let members = zip::members(&input.bytes, &findings)?;
    // What all arrays together may grow to.
    let mut room = input.bytes.len().saturating_mul(3).saturating_add(24 << 20);
    let mut arrays = Vec::new();
    for member in &members {
        let Some(name) = member.name.strip_suffix(".npy") else {
            let text = format!("member {:?} is not an array and was excluded", member.name);
            findings.note(FilePlace::File, text);
            continue;
        };
        let bytes = member.unpack(&input.bytes, room, &findings)?;
        room -= bytes.len() as u64;
        let path = format!("{}/{}", input.path().display(), member.name);
        let source = ByteSource::from_bytes(&path, bytes);
        match NpyArray::open(source, &findings) {
            Ok(array) => arrays.push((name.to_owned(), array)),
            // Names and objects beside the numbers do not spoil them.
            Err(error @ ReadError::Unsupported { .. }) => {
                findings.note(FilePlace::File, format!("skipped: {error}"));
            }
            Err(error) => return Err(error),
        }
    }
    if arrays.is_empty() && workbook::is_workbook(&members) {
        return workbook::read(input, options);
    }
    if !members.iter().any(|member| member.name.ends_with(".npy")) {
        return Err(ReadError::Unsupported {
            path: input.path().to_owned(),
            what: "a ZIP archive without arrays".to_owned(),
            remedy: UNPACK.to_owned(),
        });
    }
    if arrays.is_empty() {
        let found = format!("{} members", members.len());
        let expected = "at least one numeric array";
        return Err(findings.refusal(FilePlace::File, "archive", found, expected));
    }
    let source = Source::new(input.path(), input.bytes.len());
    npy::record_of(Format::Npz, source, arrays, findings, options)
}
