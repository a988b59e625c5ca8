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
        let path = format!("{}/{}", input.path().display(), member.name);
        let source = match member.in_place(&input.bytes, &path, &findings)? {
            Some(source) => source,
            None => {
                let bytes = member.unpack(&input.bytes, room, &findings)?;
                room -= bytes.len() as u64;
                ByteSource::from_bytes(&path, bytes)
            }
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::ReadOptions;
    use ndarray::Axis;

    fn npy(column_major: bool) -> Vec<u8> {
        let order = if column_major { "True" } else { "False" };
        let header = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': (4, 3), }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend((0..12).flat_map(|k| f64::from(k).to_le_bytes()));
        bytes
    }

    /// Stored members; all places stand in the records for more than 4 GB.
    fn long_archive(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for (name, content) in members {
            let start = bytes.len() as u64;
            let long = u32::MAX.to_le_bytes();
            let mut head = [45_u16, 0, 0, 0, 0x21].map(u16::to_le_bytes).concat();
            head.extend([[0; 4], long, long].concat());
            head.extend((name.len() as u16).to_le_bytes());
            let size = (content.len() as u64).to_le_bytes();
            let extra = [&[1, 0, 16, 0][..], &size, &size].concat();
            bytes.extend([&b"PK\x03\x04"[..], &head, &20_u16.to_le_bytes()].concat());
            bytes.extend([name.as_bytes(), &extra, content].concat());
            let extra = [&[1, 0, 24, 0][..], &size, &size, &start.to_le_bytes()].concat();
            directory.extend([&b"PK\x01\x02"[..], &45_u16.to_le_bytes(), &head].concat());
            directory
                .extend([&28_u16.to_le_bytes()[..], &[0; 10], &long, name.as_bytes()].concat());
            directory.extend(extra);
        }
        let (start, length) = (bytes.len() as u64, directory.len() as u64);
        bytes.extend(directory);
        let record = bytes.len() as u64;
        let mut end = b"PK\x06\x06".to_vec();
        end.resize(40, 0);
        end.extend([length, start].map(u64::to_le_bytes).concat());
        end.extend([&b"PK\x06\x07"[..], &[0; 4], &record.to_le_bytes(), &[0; 4]].concat());
        end.extend([&b"PK\x05\x06"[..], &[0; 8], &[255; 8], &[0; 2]].concat());
        bytes.extend(end);
        bytes
    }

    #[test]
    fn an_archive_for_more_than_4_gb_is_read_in_place_and_in_parts() {
        let members = [("rows.npy", npy(false)), ("columns.npy", npy(true))];
        let bytes = long_archive(&members);
        let cut = bytes[..bytes.len() - 50].to_vec();
        let options = ReadOptions::default();
        let record = read(&Input::from_bytes("long.npz", bytes), &options).expect("an archive");
        for name in ["rows", "columns"] {
            let whole = record.array(name).expect("an array");
            for axis in [0, 1] {
                let (n_along, n_across) = (whole.len_of(Axis(axis)), whole.len_of(Axis(1 - axis)));
                let mut part = vec![0.0; 2 * n_across];
                let first = n_along - 2;
                let is_there = record.slices(name, axis, first, &mut part);
                assert!(is_there.expect("readable"));
                for (k, values) in part.chunks(n_across).enumerate() {
                    let expected = whole.index_axis(Axis(axis), first + k);
                    assert_eq!(values, expected.iter().copied().collect::<Vec<f64>>());
                }
            }
        }
        assert!(read(&Input::from_bytes("cut.npz", cut), &options).is_err());
    }
}
