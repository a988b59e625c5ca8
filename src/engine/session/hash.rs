//! SHA-256 of models and of what is being written, as hexadecimal text.

use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::SessionError;
use crate::experiment::TrainedModel;
use crate::records::{ContentHash, hexadecimal};

/// The hash of `bytes`.
pub(super) fn hash_of(bytes: &[u8]) -> String {
    hexadecimal(Sha256::digest(bytes).as_slice())
}

/// The hash of everything that a model has learned, the same wherever and whenever it is computed.
pub fn model_sha256(model: &TrainedModel) -> Result<String, SessionError> {
    let mut nowhere = io::sink();
    let mut writer = HashingWriter::new(&mut nowhere);
    let written = ron::Options::default().to_io_writer(&mut writer, model);
    written.map_err(|error| SessionError::Unwritable {
        reason: error.to_string(),
        path: Path::new("the model").to_owned(),
    })?;
    Ok(writer.finish().0)
}

/// The content of a file. `keep_going` learns how many bytes are done and stops the work by
/// answering `false`.
pub(super) fn hash_file(
    path: &Path,
    keep_going: &mut dyn FnMut(u64) -> bool,
) -> Result<ContentHash, SessionError> {
    ContentHash::of_file(path, keep_going).map_err(|error| match error.kind() {
        io::ErrorKind::Interrupted => SessionError::Cancelled,
        _ => SessionError::io("read the file", path, error),
    })
}

/// Hashes and counts what passes on to another writer.
pub(super) struct HashingWriter<'a> {
    out: &'a mut dyn Write,
    hasher: Sha256,
    n_bytes: u64,
}

impl<'a> HashingWriter<'a> {
    /// Nothing passed yet.
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            hasher: Sha256::new(),
            n_bytes: 0,
        }
    }

    /// The hash of all that passed, and how many bytes it was.
    pub(super) fn finish(self) -> (String, u64) {
        (hexadecimal(self.hasher.finalize().as_slice()), self.n_bytes)
    }
}

impl Write for HashingWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_written = self.out.write(bytes)?;
        self.hasher.update(&bytes[..n_written]);
        self.n_bytes += n_written as u64;
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of "abc" in FIPS 180-4.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn writers_and_bytes_have_the_hash_of_the_standard() {
        let mut written = Vec::new();
        let mut writer = HashingWriter::new(&mut written);
        writer.write_all(b"abc").expect("memory takes it");
        assert_eq!(writer.finish(), (ABC.to_owned(), 3));
        assert_eq!(written, b"abc");
        assert_eq!(hash_of(b"abc"), ABC);
    }
}
