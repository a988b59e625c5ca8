//! The folder of work that is shared: its names, and what is there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::ClusterError;
use super::heartbeat::{Life, life_of};
use crate::session::{RealDisk, from_text, point_number, read_text, replace_file, to_text};

/// Everything but results and the script lies in here.
const INNER: &str = "cluster";

/// What the workers are asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Finish what is under way and take no other point.
    Paused,
    /// Save what is under way and end.
    Cancelled,
}

/// A folder with points that workers share.
#[derive(Clone, Debug)]
pub struct WorkFolder {
    folder: PathBuf,
}

/// What is in the folder at a moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    pub(super) done: BTreeSet<usize>,
    /// The attempts of each point, from 1.
    pub(super) attempts: BTreeMap<usize, BTreeSet<u32>>,
    /// The attempts of each point that failed.
    pub(super) failures: BTreeMap<usize, BTreeSet<u32>>,
    /// Names of workers.
    pub(super) workers: Vec<String>,
}

/// The point and the attempt in a name such as `claim-000001-02.ron`.
fn point_and_attempt(name: &str, kind: &str) -> Option<(usize, u32)> {
    let rest = name.strip_prefix(kind)?.strip_suffix(".ron")?;
    let (point, attempt) = rest.split_once('-')?;
    let number = point.parse::<usize>().ok()?.checked_sub(1)?;
    Some((number, attempt.parse().ok()?))
}

impl WorkFolder {
    /// The folder, whether there is work in it or not.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    pub(super) fn inner(&self, name: &str) -> PathBuf {
        self.folder.join(INNER).join(name)
    }

    pub(super) fn make(&self) -> Result<(), ClusterError> {
        let path = self.inner("log");
        fs::create_dir_all(&path).map_err(|error| ClusterError::io("make the folder", &path, error))
    }

    pub(super) fn claim_path(&self, number: usize, attempt: u32) -> PathBuf {
        self.inner(&format!("claim-{:06}-{attempt:02}.ron", number + 1))
    }

    pub(super) fn failure_path(&self, number: usize, attempt: u32) -> PathBuf {
        self.inner(&format!("failure-{:06}-{attempt:02}.ron", number + 1))
    }

    pub(super) fn state_path(&self, number: usize) -> PathBuf {
        self.inner(&format!("state-{:06}.safetensors", number + 1))
    }

    pub(super) fn worker_path(&self, worker: &str) -> PathBuf {
        self.inner(&format!("worker-{worker}.ron"))
    }

    fn mark_path(&self, mark: Mark) -> PathBuf {
        self.inner(match mark {
            Mark::Paused => "paused",
            Mark::Cancelled => "cancelled",
        })
    }

    /// Asks the workers for something, or no longer.
    pub fn set(&self, mark: Mark, is_set: bool) -> Result<(), ClusterError> {
        let path = self.mark_path(mark);
        match is_set {
            true => Ok(replace_file(&RealDisk, &path, b"")?),
            false => remove(&path),
        }
    }

    /// Whether the workers are asked for it.
    pub fn is(&self, mark: Mark) -> bool {
        self.mark_path(mark).exists()
    }

    pub(super) fn write<T: Serialize>(&self, path: &Path, value: &T) -> Result<(), ClusterError> {
        Ok(replace_file(
            &RealDisk,
            path,
            to_text(value, path)?.as_bytes(),
        )?)
    }

    /// The value in a file; nothing where there is none or it cannot be read.
    pub(super) fn read<T: DeserializeOwned>(&self, path: &Path) -> Option<T> {
        let (text, _) = read_text(path).ok()?;
        from_text(&text, path).ok()
    }

    pub(super) fn list(&self) -> Result<Listing, ClusterError> {
        let mut listing = Listing::default();
        for name in names_in(&self.folder.join(INNER))? {
            if let Some((number, attempt)) = point_and_attempt(&name, "claim-") {
                listing.attempts.entry(number).or_default().insert(attempt);
            } else if let Some((number, attempt)) = point_and_attempt(&name, "failure-") {
                listing.failures.entry(number).or_default().insert(attempt);
            } else if let Some(worker) = name
                .strip_prefix("worker-")
                .and_then(|name| name.strip_suffix(".ron"))
            {
                listing.workers.push(worker.to_owned());
            }
        }
        // Results last: what was finished while the claims were listed counts as done.
        let done = names_in(&self.folder)?;
        listing.done = done.iter().filter_map(|name| point_number(name)).collect();
        Ok(listing)
    }

    /// The time of the file server: that of a file that is written now. Where nothing may be
    /// written, as on a disk that is only watched, the clock of this machine.
    pub(super) fn now(&self) -> SystemTime {
        let path = self.inner(&format!(".clock-{}", super::heartbeat::own_process()));
        let asked = fs::write(&path, b"now").and_then(|()| fs::metadata(&path)?.modified());
        drop(fs::remove_file(&path));
        asked.unwrap_or_else(|_| SystemTime::now())
    }

    /// Removes the files of finished work that nobody needs any more.
    pub(super) fn clean(&self, listing: &Listing) -> Result<(), ClusterError> {
        for (number, attempts) in &listing.attempts {
            for attempt in attempts {
                remove(&self.claim_path(*number, *attempt))?;
            }
        }
        for number in &listing.done {
            remove(&self.state_path(*number))?;
        }
        // What killed workers had begun to write.
        for (folder, start) in [
            (self.folder.join(INNER), "."),
            (self.folder.clone(), ".point-"),
        ] {
            for name in names_in(&folder)? {
                if name.starts_with(start) {
                    remove(&folder.join(name))?;
                }
            }
        }
        for worker in &listing.workers {
            if matches!(life_of(self, worker, self.now()), Life::Dead) {
                remove(&self.worker_path(worker))?;
            }
        }
        Ok(())
    }
}

/// The names in a folder; none where it is missing.
fn names_in(folder: &Path) -> Result<Vec<String>, ClusterError> {
    let cannot = |error| ClusterError::io("read the folder", folder, error);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(cannot(error)),
    };
    let name = |entry: std::io::Result<fs::DirEntry>| {
        Ok(entry
            .map_err(cannot)?
            .file_name()
            .to_string_lossy()
            .into_owned())
    };
    entries.map(name).collect()
}

/// Removes a file; one that is not there is as good.
pub(super) fn remove(path: &Path) -> Result<(), ClusterError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(ClusterError::io("remove the file", path, error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
