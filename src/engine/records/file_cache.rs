//! A folder of files that can be made again: each is written whole or not at all, and those that were not used for
//! longest are deleted when all together take too much.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// The folder is looked through after so many new bytes.
const LOOK_EVERY: u64 = 1 << 30;
/// Seconds after which a file that is being written was left by a program that was killed.
const LEFT_AFTER_S: u64 = 24 * 3600;

/// Files of one ending in a folder, which is made when there is something to keep.
#[derive(Debug)]
pub(crate) struct FileCache {
    folder: PathBuf,
    ending: &'static str,
    most_bytes: u64,
    /// Bytes written since the folder was looked through.
    n_new: AtomicU64,
}

impl FileCache {
    pub(crate) fn new(folder: &Path, ending: &'static str, most_bytes: u64) -> Self {
        Self {
            folder: folder.to_owned(),
            ending,
            most_bytes,
            n_new: AtomicU64::new(LOOK_EVERY),
        }
    }

    /// The same; all files together take no more than so many bytes.
    pub(crate) fn within(self, most_bytes: u64) -> Self {
        Self { most_bytes, ..self }
    }

    /// Where the file of a name is, whether or not it is there.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.{}", self.ending))
    }

    /// A file was used now: others are deleted before it.
    pub(crate) fn touch(&self, path: &Path) {
        let used = File::options().write(true).open(path);
        drop(used.and_then(|file| file.set_modified(SystemTime::now())));
    }

    /// Writes a file, whole or not at all; `write` says how many bytes it has written.
    pub(crate) fn keep(
        &self,
        path: &Path,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<u64>,
    ) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let own = format!("{}-{}-{number}.tmp", self.ending, std::process::id());
        let staged = self.folder.join(own);
        match stage(&staged, path, write) {
            Ok(n_bytes) => {
                if self.n_new.fetch_add(n_bytes, Ordering::Relaxed) >= LOOK_EVERY {
                    self.n_new.store(0, Ordering::Relaxed);
                    self.delete_old()?;
                }
                Ok(())
            }
            Err(error) => {
                drop(fs::remove_file(&staged));
                Err(error)
            }
        }
    }

    /// Deletes what was not used for longest until the rest is within the limit, and what killed programs left.
    fn delete_old(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            // Somebody else may have deleted it meanwhile.
            let Ok(facts) = fs::metadata(&path) else {
                continue;
            };
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let age = facts.modified()?.elapsed().unwrap_or_default();
            let is_left = name.starts_with(self.ending) && name.ends_with(".tmp");
            if is_left && age.as_secs() > LEFT_AFTER_S {
                fs::remove_file(&path)?;
            } else if path.extension().is_some_and(|ending| ending == self.ending) {
                files.push((facts.modified()?, facts.len(), path.clone()));
            }
        }
        files.sort();
        let mut sum: u64 = files.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in files {
            if sum <= self.most_bytes {
                break;
            }
            drop(fs::remove_file(path));
            sum -= size;
        }
        Ok(())
    }
}

/// Writes a file under another name first, so that a kill leaves it whole or not at all.
fn stage(
    staged: &Path,
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<u64>,
) -> io::Result<u64> {
    let mut out = BufWriter::new(File::create(staged)?);
    let n_bytes = write(&mut out)?;
    out.flush()?;
    fs::rename(staged, path)?;
    Ok(n_bytes)
}

/// Length and time of the program that runs: another build may compute otherwise.
pub(crate) fn program_build() -> Option<(u64, SystemTime)> {
    let facts = fs::metadata(std::env::current_exe().ok()?).ok()?;
    Some((facts.len(), facts.modified().ok()?))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn the_folder_stays_within_its_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = FileCache::new(folder.path(), "made", 1 << 30).within(100_000);
        let path = |number: usize| cache.path(&number.to_string());
        for number in 0..6 {
            let write = |out: &mut BufWriter<File>| {
                out.write_all(&[0; 42_000])?;
                Ok(42_000)
            };
            cache.keep(&path(number), write).expect("room");
            let time = UNIX_EPOCH + Duration::from_secs(1000 + number as u64);
            let file = File::options().write(true).open(path(number));
            file.and_then(|file| file.set_modified(time))
                .expect("there");
        }
        cache.touch(&path(0));
        cache.delete_old().expect("readable");
        let left: Vec<usize> = (0..6).filter(|n| path(*n).exists()).collect();
        assert_eq!(left, [0, 5], "two of 42 kB each");
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = FileCache::new(folder.path(), "made", 1 << 30);
        let path = cache.path("a");
        let fails = |out: &mut BufWriter<File>| {
            out.write_all(b"half")?;
            Err(io::Error::other("no room"))
        };
        assert!(cache.keep(&path, fails).is_err());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}
