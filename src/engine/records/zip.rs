//! Members of a ZIP archive, stored or deflated, with a bound on what they may grow to. Our own,
//! because that bound must hold for all members together and errors must name file and byte.

use std::io::Read;

use flate2::read::DeflateDecoder;

use super::source_reader::SourceReader;
use super::{ByteSource, FilePlace, Findings, ReadError};

const END_MAGIC: &[u8] = b"PK\x05\x06";
const ENTRY_MAGIC: &[u8] = b"PK\x01\x02";
const LOCAL_MAGIC: &[u8] = b"PK\x03\x04";
/// The end record without its comment.
const END_BYTES: usize = 22;
/// The longest comment.
const MAX_COMMENT_BYTES: u64 = 1 << 16;
/// An entry of the directory without its name.
const ENTRY_BYTES: usize = 46;
const MAX_ENTRIES: usize = 10_000;

/// One member, as the directory of the archive lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// Name with folders.
    pub(super) name: String,
    method: u16,
    compressed_bytes: u64,
    /// Size when unpacked.
    pub(super) unpacked_bytes: u64,
    local_header: u64,
}

/// Whether the first bytes are those of an archive.
pub(super) fn is_likely(head: &[u8]) -> bool {
    head.starts_with(LOCAL_MAGIC) || head.starts_with(END_MAGIC)
}

/// Lists the members.
pub(super) fn members(source: &ByteSource, findings: &Findings) -> Result<Vec<Member>, ReadError> {
    let (directory_start, directory_bytes) = find_directory(source, findings)?;
    let directory = source.read_range(directory_start, directory_bytes)?;
    let mut members = Vec::new();
    let mut rest = directory.as_slice();
    while rest.starts_with(ENTRY_MAGIC) && members.len() < MAX_ENTRIES {
        let place = FilePlace::Byte(directory_start + (directory.len() - rest.len()) as u64);
        let entry = parse_entry(rest);
        let (member, length) = entry.ok_or_else(|| {
            findings.refusal(place, "archive directory", "cut off", "a whole entry")
        })?;
        members.push(member);
        rest = rest.get(length..).unwrap_or(&[]);
    }
    Ok(members)
}

fn find_directory(source: &ByteSource, findings: &Findings) -> Result<(u64, u64), ReadError> {
    let tail_bytes = source.len().min(END_BYTES as u64 + MAX_COMMENT_BYTES);
    let tail = source.read_range(source.len() - tail_bytes, tail_bytes)?;
    let at = tail
        .windows(END_MAGIC.len())
        .rposition(|window| window == END_MAGIC);
    let end = at.and_then(|at| tail.get(at..at + END_BYTES));
    let Some(end) = end else {
        let expected = "an end record (the file was cut?)";
        return Err(findings.refusal(
            FilePlace::Byte(source.len()),
            "archive end",
            "missing",
            expected,
        ));
    };
    Ok((u64::from(u32_at(end, 16)), u64::from(u32_at(end, 12))))
}

/// A member and the length of its entry.
fn parse_entry(bytes: &[u8]) -> Option<(Member, usize)> {
    let head = bytes.get(..ENTRY_BYTES)?;
    let name_bytes = usize::from(u16_at(head, 28));
    let extra_bytes = usize::from(u16_at(head, 30));
    let comment_bytes = usize::from(u16_at(head, 32));
    let name = bytes.get(ENTRY_BYTES..ENTRY_BYTES + name_bytes)?;
    let extra_start = ENTRY_BYTES + name_bytes;
    let extra = bytes.get(extra_start..extra_start + extra_bytes)?;
    let mut member = Member {
        name: String::from_utf8_lossy(name).into_owned(),
        method: u16_at(head, 10),
        compressed_bytes: u64::from(u32_at(head, 20)),
        unpacked_bytes: u64::from(u32_at(head, 24)),
        local_header: u64::from(u32_at(head, 42)),
    };
    member.take_long_sizes(extra);
    Some((member, extra_start + extra_bytes + comment_bytes))
}

impl Member {
    /// Sizes beyond 32 bits stand in an extra field, in this order, where they are needed.
    fn take_long_sizes(&mut self, mut extra: &[u8]) {
        const LONG_SIZES: u16 = 1;
        while extra.len() >= 4 {
            let (id, length) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
            let body = extra.get(4..4 + length).unwrap_or(&[]);
            if id == LONG_SIZES {
                let mut values = body
                    .chunks_exact(8)
                    .filter_map(|eight| eight.try_into().ok());
                let fields = [
                    &mut self.unpacked_bytes,
                    &mut self.compressed_bytes,
                    &mut self.local_header,
                ];
                for field in fields {
                    if *field == u64::from(u32::MAX) {
                        *field = values.next().map_or(*field, u64::from_le_bytes);
                    }
                }
                return;
            }
            extra = extra.get(4 + length..).unwrap_or(&[]);
        }
    }

    /// Unpacks the member; refuses if it grows beyond `limit` bytes.
    pub(super) fn unpack(
        &self,
        source: &ByteSource,
        limit: u64,
        findings: &Findings,
    ) -> Result<Vec<u8>, ReadError> {
        let place = FilePlace::Byte(self.local_header);
        let field = format!("member {:?}", self.name);
        let refuse =
            |found: String, expected: String| Err(findings.refusal(place, &field, found, expected));
        let local = source.read_range(self.local_header, 30)?;
        if !local.starts_with(LOCAL_MAGIC) {
            return refuse("no local header".to_owned(), "one".to_owned());
        }
        let name_and_extra = u64::from(u16_at(&local, 26)) + u64::from(u16_at(&local, 28));
        let start = self.local_header + 30 + name_and_extra;
        let end = start.checked_add(self.compressed_bytes);
        let Some(end) = end.filter(|end| *end <= source.len()) else {
            let found = format!("{} bytes from byte {start}", self.compressed_bytes);
            return refuse(found, format!("at most the {} of the file", source.len()));
        };
        let packed = SourceReader::new(source, start, end);
        let mut bytes = Vec::new();
        // One byte more than allowed shows that there is more.
        let unpacked = match self.method {
            0 => packed.take(limit + 1).read_to_end(&mut bytes),
            8 => DeflateDecoder::new(packed)
                .take(limit + 1)
                .read_to_end(&mut bytes),
            other => return refuse(format!("packed by method {other}"), "0 or 8".to_owned()),
        };
        if let Err(error) = unpacked {
            return refuse(format!("damaged ({error})"), "deflated data".to_owned());
        }
        if bytes.len() as u64 > limit {
            let expected = format!("at most {limit} for an archive of {} bytes", source.len());
            return refuse(format!("more than {limit} bytes when unpacked"), expected);
        }
        Ok(bytes)
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    let two = bytes.get(at..).and_then(|rest| rest.first_chunk());
    two.map_or(0, |two| u16::from_le_bytes(*two))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk());
    four.map_or(0, |four| u32::from_le_bytes(*four))
}
