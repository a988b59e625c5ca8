//! A lock that ends with its process: who holds it is alive.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::SessionError;

/// How often a lock file may vanish while it is being locked.
const MAX_ATTEMPTS: usize = 16;

/// A locked file, removed when dropped. If the process is killed the file stays, unlocked.
#[derive(Debug)]
pub(super) struct LockFile {
    path: PathBuf,
    /// Closing it ends the lock.
    _file: File,
}

impl LockFile {
    /// Locks `path`, or `None` if somebody else holds it.
    pub(super) fn try_acquire(path: &Path) -> Result<Option<Self>, SessionError> {
        let cannot = |source| SessionError::io("lock the file", path, source);
        for _ in 0..MAX_ATTEMPTS {
            let file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)
                .map_err(cannot)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                // Some network disks know no locks: better to save without than not at all.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => return Err(cannot(error)),
            }
            if is_still_at(&file, path) {
                return Ok(Some(Self {
                    path: path.to_owned(),
                    _file: file,
                }));
            }
        }
        Ok(None)
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Removed before it is unlocked, so that nobody locks a file that is about to vanish
        // without noticing. A file that cannot be removed does no harm.
        fs::remove_file(&self.path).unwrap_or_default();
    }
}

/// Whether `path` still names `file`, which its last holder may have removed meanwhile.
#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(locked), Ok(found)) => locked.ino() == found.ino() && locked.dev() == found.dev(),
        _ => false,
    }
}

/// Elsewhere a file that is open cannot be replaced by another of the same name.
#[cfg(not(unix))]
fn is_still_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(".a.lock");
        let held = LockFile::try_acquire(&path).expect("lockable");
        assert!(held.is_some());
        assert!(LockFile::try_acquire(&path).expect("lockable").is_none());
        drop(held);
        assert!(!path.exists());
        assert!(LockFile::try_acquire(&path).expect("lockable").is_some());
    }

    #[test]
    fn a_file_left_by_a_killed_process_is_not_locked() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(".a.lock");
        fs::write(&path, "").expect("the leftover");
        assert!(LockFile::try_acquire(&path).expect("lockable").is_some());
    }
}
