//! What a file is: its size and SHA-256, computed once as long as its size and time stay the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

/// Bytes hashed between two looks at the callback.
const BLOCK: usize = 1 << 20;
/// A file changed less than this ago may change again within the same tick of its time.
const SETTLED: Duration = Duration::from_secs(2);
/// Most files remembered.
const MOST_REMEMBERED: usize = 100_000;

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentHash {
    /// Bytes.
    pub size: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

/// What shows that a file has not been written since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    size: u64,
    modified: Option<SystemTime>,
}

static REMEMBERED: Mutex<BTreeMap<PathBuf, (FileStamp, ContentHash)>> = Mutex::new(BTreeMap::new());

impl ContentHash {
    /// The content of the file at `path`. `keep_going` learns how many bytes are done and stops
    /// the work by answering `false`, which is an error of the kind `Interrupted`.
    pub fn of_file(path: &Path, keep_going: &mut dyn FnMut(u64) -> bool) -> io::Result<Self> {
        let mut file = open_regular(path)?;
        let stamp = FileStamp::of(&file.metadata()?);
        if let Some(known) = remembered(path, stamp) {
            return Ok(known);
        }
        let content = hash(&mut file, keep_going)?;
        let is_settled = |modified: SystemTime| modified.elapsed().is_ok_and(|age| age > SETTLED);
        let is_whole = FileStamp::of(&file.metadata()?) == stamp && content.size == stamp.size;
        if is_whole && stamp.modified.is_some_and(is_settled) {
            remember(path, stamp, content.clone());
        }
        Ok(content)
    }
}

impl FileStamp {
    fn of(metadata: &fs::Metadata) -> Self {
        Self {
            size: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }
}

fn remembered(path: &Path, stamp: FileStamp) -> Option<ContentHash> {
    let known = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
    let (then, content) = known.get(path)?;
    (*then == stamp).then(|| content.clone())
}

fn remember(path: &Path, stamp: FileStamp, content: ContentHash) {
    let mut known = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() >= MOST_REMEMBERED {
        known.clear();
    }
    known.insert(path.to_owned(), (stamp, content));
}

fn hash(file: &mut File, keep_going: &mut dyn FnMut(u64) -> bool) -> io::Result<ContentHash> {
    let mut hasher = Sha256::new();
    let mut block = vec![0; BLOCK];
    let mut size = 0;
    loop {
        if !keep_going(size) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let n_read = match file.read(&mut block) {
            Ok(n_read) => n_read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if n_read == 0 {
            let sha256 = hexadecimal(hasher.finalize().as_slice());
            return Ok(ContentHash { size, sha256 });
        }
        hasher.update(&block[..n_read]);
        size += n_read as u64;
    }
}

/// Opens a regular file; a named pipe would wait for ever.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    File::open(path)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes any text");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of "abc" in FIPS 180-4.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn written(content: &[u8], seconds_ago: u64) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        fs::write(&path, content).expect("the file");
        let time = SystemTime::now() - Duration::from_secs(seconds_ago);
        let file = File::options().write(true).open(&path).expect("the file");
        file.set_modified(time).expect("a time");
        (folder, path)
    }

    #[test]
    fn a_file_has_the_hash_of_the_standard_and_is_read_once_while_it_stays() {
        let (_folder, path) = written(b"abc", 60);
        let mut n_looks = 0;
        for _ in 0..2 {
            let content = ContentHash::of_file(&path, &mut |_| {
                n_looks += 1;
                true
            });
            let content = content.expect("readable");
            assert_eq!((content.size, content.sha256.as_str()), (3, ABC));
        }
        assert_eq!(n_looks, 2, "the second time nothing was read");
    }

    #[test]
    fn a_file_that_was_just_written_is_read_again() {
        let (_folder, path) = written(b"abc", 0);
        ContentHash::of_file(&path, &mut |_| true).expect("readable");
        fs::write(&path, b"abd").expect("the file");
        let content = ContentHash::of_file(&path, &mut |_| true).expect("readable");
        assert_ne!(content.sha256, ABC);
    }

    #[test]
    fn hashing_stops_when_told() {
        let (_folder, path) = written(&vec![0; 3 * BLOCK], 60);
        let stopped = ContentHash::of_file(&path, &mut |done| done < BLOCK as u64);
        let kind = stopped.expect_err("it was told to").kind();
        assert_eq!(kind, io::ErrorKind::Interrupted);
    }
}
