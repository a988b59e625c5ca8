//! SHA-256 of files and of what is being written, as hexadecimal text.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::SessionError;
use crate::experiment::TrainedModel;

/// Bytes hashed between two looks at the callback.
const BLOCK: usize = 1 << 20;

/// The hash of `bytes`.
pub(super) fn hash_of(bytes: &[u8]) -> String {
    hex(Sha256::digest(bytes).as_slice())
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

fn hex(digest: &[u8]) -> String {
    let mut text = String::with_capacity(2 * digest.len());
    for byte in digest {
        write!(text, "{byte:02x}").expect("a string takes any text");
    }
    text
}

/// The hash of a file, and its size. `keep_going` learns how many bytes are done and stops
/// the work by answering `false`.
pub(super) fn hash_file(
    path: &Path,
    keep_going: &mut dyn FnMut(u64) -> bool,
) -> Result<(String, u64), SessionError> {
    let cannot = |source| SessionError::io("read the file", path, source);
    let mut file = open_regular(path)?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; BLOCK];
    let mut done = 0;
    loop {
        if !keep_going(done) {
            return Err(SessionError::Cancelled);
        }
        let n_read = match file.read(&mut block) {
            Ok(n_read) => n_read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(cannot(error)),
        };
        if n_read == 0 {
            return Ok((hex(hasher.finalize().as_slice()), done));
        }
        hasher.update(&block[..n_read]);
        done += n_read as u64;
    }
}

/// Opens a regular file; a named pipe would wait for ever.
pub(super) fn open_regular(path: &Path) -> Result<File, SessionError> {
    let cannot = |source| SessionError::io("read the file", path, source);
    if !std::fs::metadata(path).map_err(cannot)?.is_file() {
        return Err(cannot(io::Error::other("it is not a regular file")));
    }
    File::open(path).map_err(cannot)
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
        (hex(self.hasher.finalize().as_slice()), self.n_bytes)
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
    fn files_writers_and_bytes_have_the_hash_of_the_standard() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("abc");
        let mut written = Vec::new();
        let mut writer = HashingWriter::new(&mut written);
        writer.write_all(b"abc").expect("memory takes it");
        assert_eq!(writer.finish(), (ABC.to_owned(), 3));
        std::fs::write(&path, &written).expect("the file");
        let hashed = hash_file(&path, &mut |_| true).expect("readable");
        assert_eq!(hashed, (ABC.to_owned(), 3));
        assert_eq!(hash_of(b"abc"), ABC);
    }

    #[test]
    fn hashing_stops_when_told() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("large");
        std::fs::write(&path, vec![0; 3 * BLOCK]).expect("the file");
        let stopped = hash_file(&path, &mut |done| done < BLOCK as u64);
        assert!(matches!(stopped, Err(SessionError::Cancelled)));
    }
}
