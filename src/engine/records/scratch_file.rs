//! A file of the program's own for what does not fit into memory: written once, then read in place,
//! and deleted with it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::ByteSource;

/// A file that is being written. Unix keeps what is open without a name, so that nothing stays however the program
/// ends; elsewhere the name goes when the file is no longer needed.
#[derive(Debug)]
pub(crate) struct ScratchWriter {
    file: File,
    path: PathBuf,
    length: u64,
    is_finished: bool,
}

/// A file that was written.
#[derive(Debug)]
pub(crate) struct ScratchFile {
    bytes: ByteSource,
}

/// The folder of large temporary files: the one of the system for them, as /tmp is often in memory; what `TMPDIR` names
/// goes before it.
pub(crate) fn scratch_folder() -> PathBuf {
    let lasting = Path::new("/var/tmp");
    match std::env::var_os("TMPDIR") {
        None if cfg!(unix) && lasting.is_dir() => lasting.to_owned(),
        _ => std::env::temp_dir(),
    }
}

impl ScratchWriter {
    /// A new file in a folder.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        let (file, path) = create(folder)?;
        if cfg!(unix) {
            remove(&path);
        }
        Ok(Self {
            file,
            path,
            length: 0,
            is_finished: false,
        })
    }

    /// The file, to be read.
    pub(crate) fn finish(mut self) -> io::Result<ScratchFile> {
        let bytes = ByteSource::of_file(&self.path, self.file.try_clone()?, self.length);
        self.is_finished = true;
        Ok(ScratchFile { bytes })
    }
}

impl Write for ScratchWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_written = self.file.write(bytes)?;
        self.length += n_written as u64;
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A new file with a name that no other has.
fn create(folder: &Path) -> io::Result<(File, PathBuf)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("atomscope-{}-{number}.tmp", std::process::id()));
        let mut options = OpenOptions::new();
        match options.read(true).write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            // Left by a process that had the same number, perhaps in another container.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
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
        if !cfg!(unix) && !self.is_finished {
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
        writer.write_all(b"first ").expect("room");
        #[cfg(unix)]
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
        writer.write_all(b"second").expect("room");
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
