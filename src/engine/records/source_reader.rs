//! A stretch of a byte source as a stream, for readers that go through text once.

use std::io::{self, Read};

use super::{ByteSource, ReadError};

/// Reads the bytes `at .. end` of a source in order.
#[derive(Debug)]
pub(crate) struct SourceReader<'a> {
    source: &'a ByteSource,
    at: u64,
    end: u64,
}

impl<'a> SourceReader<'a> {
    /// The bytes from `start` to `end`, which is cut to the length of the source.
    pub(crate) fn new(source: &'a ByteSource, start: u64, end: u64) -> Self {
        let end = end.min(source.len());
        Self {
            source,
            at: start.min(end),
            end,
        }
    }
}

impl Read for SourceReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let n = left.min(out.len());
        let Some(part) = out.get_mut(..n) else {
            return Ok(0);
        };
        match self.source.read_exact_at(self.at, part) {
            Ok(()) => {
                self.at += n as u64;
                Ok(n)
            }
            Err(ReadError::Io { source, .. }) => Err(source),
            Err(other) => Err(io::Error::other(other.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_ends_where_it_should() {
        let source = ByteSource::from_bytes("x", b"0123456789".to_vec());
        let mut text = String::new();
        SourceReader::new(&source, 3, 7)
            .read_to_string(&mut text)
            .expect("readable");
        assert_eq!(text, "3456");
        text.clear();
        SourceReader::new(&source, 8, u64::MAX)
            .read_to_string(&mut text)
            .expect("readable");
        assert_eq!(text, "89");
    }
}
