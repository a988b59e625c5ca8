//! Members of a ZIP archive, stored or deflated, with a bound on what they may grow to. Our own,
//! because that bound must hold for all members together and errors must name file and byte.

use std::io::{self, Read, Write};
use std::ops::Range;

use flate2::read::DeflateDecoder;

use super::source_reader::SourceReader;
use super::{ByteSource, FilePlace, Findings, ReadError};

const END_MAGIC: &[u8] = b"PK\x05\x06";
const ENTRY_MAGIC: &[u8] = b"PK\x01\x02";
const LOCAL_MAGIC: &[u8] = b"PK\x03\x04";
/// The end record without its comment.
const END_BYTES: usize = 22;
/// A local header without its name.
const LOCAL_BYTES: u64 = 30;
/// The longest comment.
const MAX_COMMENT_BYTES: u64 = 1 << 16;
/// An entry of the directory without its name.
const ENTRY_BYTES: usize = 46;
const MAX_ENTRIES: usize = 10_000;
/// What stands in 32 bits for a number that needs more.
const LONG: u64 = u32::MAX as u64;
const LOCATOR_MAGIC: &[u8] = b"PK\x06\x07";
const LOCATOR_BYTES: u64 = 20;
const LONG_END_MAGIC: &[u8] = b"PK\x06\x06";
const LONG_END_BYTES: u64 = 56;

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
    let (start, length) = (u64::from(u32_at(end, 16)), u64::from(u32_at(end, 12)));
    if start < LONG && length < LONG {
        return Ok((start, length));
    }
    // Beyond 4 GB the place stands in a longer record, which a locator before the end record tells.
    let end_at = source.len() - tail_bytes + at.unwrap_or(0) as u64;
    let long = end_at.checked_sub(LOCATOR_BYTES).and_then(|at| {
        let locator = source.read_range(at, LOCATOR_BYTES).ok()?;
        let record = u64_at(&locator, 8).filter(|_| locator.starts_with(LOCATOR_MAGIC))?;
        let record = source.read_range(record, LONG_END_BYTES).ok()?;
        let is_one = record.starts_with(LONG_END_MAGIC);
        u64_at(&record, 48)
            .zip(u64_at(&record, 40))
            .filter(|_| is_one)
    });
    long.ok_or_else(|| {
        let place = FilePlace::Byte(end_at);
        let expected = "an end record for more than 4 GB";
        findings.refusal(place, "archive end", "missing", expected)
    })
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
                    if *field == LONG {
                        *field = values.next().map_or(*field, u64::from_le_bytes);
                    }
                }
                return;
            }
            extra = extra.get(4 + length..).unwrap_or(&[]);
        }
    }

    /// The bytes of a member that is stored as it is, in place; none where it is packed.
    pub(super) fn in_place(
        &self,
        source: &ByteSource,
        name: &str,
        findings: &Findings,
    ) -> Result<Option<ByteSource>, ReadError> {
        if self.method != 0 {
            return Ok(None);
        }
        let place = self.packed_place(source, findings)?;
        Ok(Some(source.part(name, place)))
    }

    /// Unpacks the member; refuses if it grows beyond `limit` bytes.
    pub(super) fn unpack(
        &self,
        source: &ByteSource,
        limit: u64,
        findings: &Findings,
    ) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::new();
        self.unpack_into(source, limit, &mut bytes, findings)?;
        Ok(bytes)
    }

    /// Unpacks the member piece by piece into `out`; refuses if it grows beyond `limit` bytes, and says how many
    /// there were.
    pub(super) fn unpack_into(
        &self,
        source: &ByteSource,
        limit: u64,
        out: &mut dyn Write,
        findings: &Findings,
    ) -> Result<u64, ReadError> {
        let refuse = |found, expected| Err(self.refusal(found, expected, findings));
        let place = self.packed_place(source, findings)?;
        let packed = SourceReader::new(source, place.start, place.end);
        // One byte more than allowed shows that there is more.
        let unpacked = match self.method {
            0 => io::copy(&mut packed.take(limit + 1), out),
            8 => io::copy(&mut DeflateDecoder::new(packed).take(limit + 1), out),
            other => return refuse(format!("packed by method {other}"), "0 or 8".to_owned()),
        };
        match unpacked {
            Ok(n_bytes) if n_bytes <= limit => Ok(n_bytes),
            Ok(_) => {
                let expected = format!("at most {limit} for an archive of {} bytes", source.len());
                refuse(format!("more than {limit} bytes when unpacked"), expected)
            }
            Err(error) => refuse(format!("damaged ({error})"), "deflated data".to_owned()),
        }
    }

    fn refusal(&self, found: String, expected: String, findings: &Findings) -> ReadError {
        let place = FilePlace::Byte(self.local_header);
        let field = format!("member {:?}", self.name);
        findings.refusal(place, &field, found, expected)
    }

    /// Where the packed bytes lie.
    fn packed_place(
        &self,
        source: &ByteSource,
        findings: &Findings,
    ) -> Result<Range<u64>, ReadError> {
        let refuse = |found, expected| Err(self.refusal(found, expected, findings));
        let local = source.read_range(self.local_header, LOCAL_BYTES)?;
        if !local.starts_with(LOCAL_MAGIC) {
            return refuse("no local header".to_owned(), "one".to_owned());
        }
        let name_and_extra = u64::from(u16_at(&local, 26)) + u64::from(u16_at(&local, 28));
        let start = self.local_header + LOCAL_BYTES + name_and_extra;
        let end = start.checked_add(self.compressed_bytes);
        let Some(end) = end.filter(|end| *end <= source.len()) else {
            let found = format!("{} bytes from byte {start}", self.compressed_bytes);
            return refuse(found, format!("at most the {} of the file", source.len()));
        };
        Ok(start..end)
    }
}

/// A plain archive of members as they are packed, each with its true size and check sum: other code that opens it
/// sees the members that were measured and nothing else of the file.
#[derive(Debug, Default)]
pub(super) struct PlainArchive {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    n_members: u16,
}

impl PlainArchive {
    /// Adds a member that unpacks to `n_bytes` with this check sum.
    pub(super) fn add(
        &mut self,
        member: &Member,
        (n_bytes, check_sum): (u64, u32),
        source: &ByteSource,
        findings: &Findings,
    ) -> Result<(), ReadError> {
        let place = member.packed_place(source, findings)?;
        let packed = source.read_range(place.start, place.end - place.start)?;
        let too_long = || {
            let expected = "sizes below 4 GB";
            findings.refusal(FilePlace::File, "archive", "larger", expected)
        };
        let size = |n: u64| u32::try_from(n).ok().ok_or_else(too_long);
        let offset = size(self.bytes.len() as u64)?;
        let name_bytes = u16::try_from(member.name.len()).ok().ok_or_else(too_long)?;
        // Version, flags (names in UTF-8), method, time and date, check sum, sizes, name, no extra field.
        let mut head = [20_u16, 1 << 11, member.method, 0, 0x21]
            .map(u16::to_le_bytes)
            .concat();
        let sizes = [check_sum, size(packed.len() as u64)?, size(n_bytes)?];
        head.extend(sizes.map(u32::to_le_bytes).concat());
        head.extend([name_bytes, 0].map(u16::to_le_bytes).concat());
        let name = member.name.as_bytes();
        self.bytes
            .extend([LOCAL_MAGIC, &head, name, &packed].concat());
        let (made_by, attributes) = (20_u16.to_le_bytes(), [0; 10]);
        let offset = offset.to_le_bytes();
        let entry = [ENTRY_MAGIC, &made_by, &head, &attributes, &offset, name];
        self.directory.extend(entry.concat());
        self.n_members += 1;
        Ok(())
    }

    /// The archive.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(&self.directory);
        self.bytes.extend_from_slice(END_MAGIC);
        let counts = [0, 0, self.n_members, self.n_members];
        self.bytes.extend(counts.map(u16::to_le_bytes).concat());
        let place = [self.directory.len() as u32, start];
        self.bytes.extend(place.map(u32::to_le_bytes).concat());
        self.bytes.extend([0, 0]);
        self.bytes
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    let two = bytes.get(at..).and_then(|rest| rest.first_chunk());
    two.map_or(0, |two| u16::from_le_bytes(*two))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..).and_then(|rest| rest.first_chunk());
    eight.map(|eight| u64::from_le_bytes(*eight))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk());
    four.map_or(0, |four| u32::from_le_bytes(*four))
}
