//! Inflates a compressed element, with a bound on what it may become.

use flate2::{Decompress, FlushDecompress, Status};

use super::super::{ByteSource, FilePlace, Findings, ReadError};
use super::budget::Budget;

/// Most bytes that one deflated byte can stand for.
const MAX_RATIO: u64 = 1032;
const CHUNK_BYTES: u64 = 1 << 16;
/// Bytes of the tag with which the inflated element starts.
const TAG_BYTES: u64 = 8;

/// A zlib stream in a file.
pub(super) struct Compressed<'a> {
    pub(super) bytes: &'a ByteSource,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) is_big_endian: bool,
}

impl Compressed<'_> {
    /// The inflated element, whose sum is checked.
    ///
    /// Its tag comes out first and tells how much memory to take.
    pub(super) fn inflate(
        &self,
        budget: &mut Budget,
        findings: &Findings,
    ) -> Result<Vec<u8>, ReadError> {
        let place = FilePlace::Byte(self.offset);
        let refusal = |found: String, expected: &str| {
            findings.refusal(place, "compressed element", found, expected)
        };
        let mut inflater = Decompress::new(true);
        let mut out: Vec<u8> = Vec::with_capacity(TAG_BYTES as usize);
        let mut chunk = Vec::new();
        let mut whole_bytes = None;
        loop {
            if out.len() as u64 == TAG_BYTES && whole_bytes.is_none() {
                let declared = self.declared_bytes(&out);
                let most = self.len.saturating_mul(MAX_RATIO);
                if declared > most {
                    let found = format!("{} bytes that shall become {declared}", self.len);
                    return Err(refusal(found, "what a zlib stream can hold"));
                }
                budget.spend(declared, place, findings)?;
                out.reserve_exact(declared as usize);
                whole_bytes = Some(declared);
            }
            let at = inflater.total_in();
            chunk.resize((self.len - at).min(CHUNK_BYTES) as usize, 0);
            self.bytes.read_exact_at(self.offset + at, &mut chunk)?;
            let before = out.len();
            let status = inflater
                .decompress_vec(&chunk, &mut out, FlushDecompress::None)
                .map_err(|error| refusal(error.to_string(), "a sound zlib stream"))?;
            if status == Status::StreamEnd {
                return Ok(out);
            }
            let is_stuck = inflater.total_in() == at && out.len() == before;
            if is_stuck && out.len() < out.capacity() {
                let found = format!("cut short after {at} bytes");
                return Err(refusal(found, "a whole zlib stream"));
            }
            if is_stuck && whole_bytes.is_some() {
                let found = format!("more than the {} bytes of its tag", out.len());
                return Err(refusal(found, "as much as the tag says"));
            }
        }
    }

    /// Bytes behind the tag, padding included.
    fn declared_bytes(&self, tag: &[u8]) -> u64 {
        let word = |at: usize| {
            let bytes = [tag[at], tag[at + 1], tag[at + 2], tag[at + 3]];
            match self.is_big_endian {
                true => u32::from_be_bytes(bytes),
                false => u32::from_le_bytes(bytes),
            }
        };
        if word(0) >> 16 != 0 {
            return 0;
        }
        u64::from(word(4)).next_multiple_of(8)
    }
}
