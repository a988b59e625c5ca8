//! Files that are replaced as a whole: a kill, a full disk or a power cut at any moment
//! leaves the old content or the new.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use super::SessionError;

/// The operations of a disk that change it; the tests let each of them fail.
pub(crate) trait Disk {
    /// A new file, open for writing.
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Gives a file another name, replacing what had it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// A file open for writing.
pub(crate) trait DiskFile: Write {
    /// Makes what was written durable.
    fn sync(&self) -> io::Result<()>;
}

/// The disk of the machine.
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        Ok(Box::new(file))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    #[cfg(unix)]
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    /// Elsewhere a folder cannot be opened as a file, and renaming is durable by itself.
    #[cfg(not(unix))]
    fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
        Ok(())
    }
}

impl DiskFile for File {
    fn sync(&self) -> io::Result<()> {
        self.sync_all()
    }
}

/// A file written and durable under a name of its own, not yet under the name it is for.
pub(crate) struct Staged<'a> {
    disk: &'a dyn Disk,
    path: PathBuf,
    committed: bool,
}

impl<'a> Staged<'a> {
    /// Writes a file beside `target`.
    pub(crate) fn write(
        disk: &'a dyn Disk,
        target: &Path,
        content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Self, SessionError> {
        static N_STAGED: AtomicU64 = AtomicU64::new(0);
        let name = name_text(target.file_name().unwrap_or_default());
        let number = N_STAGED.fetch_add(1, Ordering::Relaxed);
        let path = target.with_file_name(format!(".{name}.{}-{number}.tmp", process::id()));
        let cannot = |source| SessionError::io("write the file", target, source);
        let file = disk.create_new(&path).map_err(cannot)?;
        let staged = Self {
            disk,
            path,
            committed: false,
        };
        let mut file = BufWriter::new(file);
        content(&mut file)
            .and_then(|()| file.flush())
            .and_then(|()| file.get_ref().sync())
            .map_err(cannot)?;
        Ok(staged)
    }

    /// Puts the file under the name it is for: the moment from which the new content counts.
    pub(crate) fn commit(mut self, target: &Path) -> Result<(), SessionError> {
        let cannot = |source| SessionError::io("replace the file", target, source);
        if let Ok(replaced) = fs::metadata(target) {
            fs::set_permissions(&self.path, replaced.permissions()).map_err(cannot)?;
        }
        self.disk.rename(&self.path, target).map_err(cannot)?;
        self.committed = true;
        self.disk
            .sync_folder(folder_of(target))
            .map_err(|source| SessionError::io("make the file durable", target, source))
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.committed {
            // The failure that brought us here is what counts; a leftover is removed by the
            // next save.
            self.disk.remove(&self.path).unwrap_or_default();
        }
    }
}

/// A file name as text, bytes that are no UTF-8 as `%FF`: files that belong to a session are named by it.
pub(super) fn name_text(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// Whether `name` is that of a staged file for `target_name`.
pub(super) fn is_staged_for(name: &str, target_name: &str) -> bool {
    name.strip_prefix('.')
        .and_then(|rest| rest.strip_prefix(target_name))
        .and_then(|rest| rest.strip_prefix('.'))
        .and_then(|rest| rest.strip_suffix(".tmp"))
        .is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit() || b == b'-'))
}

/// Replaces the content of `path`.
pub(crate) fn replace_file(
    disk: &dyn Disk,
    path: &Path,
    content: &[u8],
) -> Result<(), SessionError> {
    Staged::write(disk, path, &mut |out| out.write_all(content))?.commit(path)
}

/// Replaces the content of `path` at once: a reader, or a machine that fails, sees the old or the new content whole.
pub fn write_at_once(path: &Path, content: &[u8]) -> Result<(), SessionError> {
    replace_file(&RealDisk, path, content)
}

/// The folder a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
pub(super) mod failing {
    //! A disk that works for a given number of bytes and deeds and then fails for good.

    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    /// Every byte written, file created, made durable, renamed or removed takes one unit.
    pub(in super::super) struct FailingDisk {
        left: Rc<Cell<usize>>,
    }

    impl FailingDisk {
        pub(in super::super) fn after(units: usize) -> Self {
            Self {
                left: Rc::new(Cell::new(units)),
            }
        }

        /// Whether it never had to fail.
        pub(in super::super) fn has_units_left(&self) -> bool {
            self.left.get() > 0
        }
    }

    fn take(left: &Cell<usize>, wanted: usize) -> io::Result<usize> {
        let granted = wanted.min(left.get());
        left.set(left.get() - granted);
        if granted == 0 && wanted > 0 {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        Ok(granted)
    }

    struct FailingFile {
        file: File,
        left: Rc<Cell<usize>>,
    }

    impl Write for FailingFile {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let granted = take(&self.left, bytes.len())?;
            self.file.write(&bytes[..granted])
        }

        fn flush(&mut self) -> io::Result<()> {
            self.file.flush()
        }
    }

    impl DiskFile for FailingFile {
        fn sync(&self) -> io::Result<()> {
            take(&self.left, 1).map(drop)
        }
    }

    impl Disk for FailingDisk {
        fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
            take(&self.left, 1)?;
            Ok(Box::new(FailingFile {
                file: File::create_new(path)?,
                left: Rc::clone(&self.left),
            }))
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            take(&self.left, 1)?;
            fs::rename(from, to)
        }

        fn remove(&self, path: &Path) -> io::Result<()> {
            take(&self.left, 1)?;
            fs::remove_file(path)
        }

        fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
            take(&self.left, 1).map(drop)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::failing::FailingDisk;
    use super::*;

    #[test]
    fn a_disk_that_fails_at_any_byte_or_deed_leaves_the_old_file_or_the_new() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("settings.ron");
        for units in 0.. {
            fs::write(&path, "old content").expect("the old file");
            let disk = FailingDisk::after(units);
            let done = replace_file(&disk, &path, b"the new content");
            let found = fs::read_to_string(&path).expect("a file is there");
            assert!(["old content", "the new content"].contains(&found.as_str()));
            if done.is_ok() {
                assert_eq!(found, "the new content");
                assert!(units > 15, "at least every byte was a chance to fail");
                break;
            }
        }
    }

    #[test]
    fn a_failed_write_removes_what_it_had_begun() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("settings.ron");
        let refused = Staged::write(&RealDisk, &path, &mut |out| {
            out.write_all(b"half of it")?;
            Err(io::Error::other("no more"))
        });
        let message = refused.err().expect("it failed").to_string();
        assert!(message.contains("no more") && message.ends_with("settings.ron"));
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_without_space_is_an_error_that_names_the_file() {
        let full = OpenOptions::new().write(true).open("/dev/full");
        let Ok(mut full) = full else {
            eprintln!("skipped: there is no /dev/full");
            return;
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("settings.ron");
        fs::write(&path, "old").expect("the old file");
        let refused = Staged::write(&RealDisk, &path, &mut |_| full.write_all(b"new"));
        let message = refused.err().expect("no space").to_string();
        assert!(message.contains("settings.ron"), "{message}");
        assert_eq!(fs::read_to_string(&path).expect("readable"), "old");
    }

    #[cfg(unix)]
    #[test]
    fn the_permissions_of_the_replaced_file_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("settings.ron");
        fs::write(&path, "old").expect("the old file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("set");
        replace_file(&RealDisk, &path, b"new").expect("replaced");
        let mode = fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[test]
    fn staged_files_are_told_from_others() {
        assert!(is_staged_for(".a.ron.12-0.tmp", "a.ron"));
        assert!(!is_staged_for(".a.b.ron.12-0.tmp", "a.ron"));
        assert!(!is_staged_for("a.ron", "a.ron"));
    }
}
