//! A file of the program's own for what does not fit into memory: written once, then read in place,
//! and deleted with it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::ByteSource;

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct ScratchWriter {
    file: File,
    path: PathBuf,
    is_finished: bool,
}

/// A file that was written.
#[derive(Debug)]
pub(crate) struct ScratchFile {
    bytes: ByteSource,
}

impl ScratchWriter {
    /// A new file in a folder.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("atomscope-{}-{number}.tmp", std::process::id()));
        Ok(Self {
            file: File::create_new(&path)?,
            path,
            is_finished: false,
        })
    }

    /// Adds bytes at the end.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// The file, to be read.
    pub(crate) fn finish(mut self) -> io::Result<ScratchFile> {
        let bytes = ByteSource::open(&self.path).map_err(io::Error::other)?;
        self.is_finished = true;
        Ok(ScratchFile { bytes })
    }
}

impl ScratchFile {
    /// What was written.
    pub(crate) fn bytes(&self) -> &ByteSource {
        &self.bytes
    }
}

impl Drop for ScratchWriter {
    fn drop(&mut self) {
        // What was written is open: Unix lets it be deleted now, elsewhere that comes with its end.
        if cfg!(unix) || !self.is_finished {
            remove(&self.path);
        }
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        if !cfg!(unix) {
            remove(self.bytes.path());
        }
    }
}

/// A file that cannot be deleted is no trouble of the user's.
fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path) {
        tracing::debug!(%error, path = %path.display(), "a scratch file is left");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_appended_is_read_and_nothing_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = ScratchWriter::new(folder.path()).expect("room");
        writer.append(b"first ").expect("room");
        writer.append(b"second").expect("room");
        let file = writer.finish().expect("room");
        assert_eq!(
            file.bytes().read_all().expect("it is open"),
            b"first second"
        );
        drop(file);
        let left = fs::read_dir(folder.path()).expect("a folder");
        assert_eq!(left.count(), 0);
        assert!(ScratchWriter::new(&folder.path().join("missing")).is_err());
    }
}
