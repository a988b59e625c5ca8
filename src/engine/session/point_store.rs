//! Finished points in files of their own, each with what it was computed from: the version of the
//! program, the data and the audit of the split. Points that do not agree are refused by name.

use std::fs;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::SessionError;
use super::atomic_file::{RealDisk, replace_file};
use super::format::{from_text, to_text};
use super::hash::hash_of;
use super::store::read_text;
use crate::dataset::DataFile;
use crate::export::VERSION;

/// The identity of the work in its folder.
const IDENTITY_NAME: &str = "identity.ron";

/// The content of a data file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataHash {
    /// The name of the file without its folder.
    pub name: String,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

/// What points were computed from; all of a folder agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkIdentity {
    /// Settings, samples and folds as a number.
    pub fingerprint: String,
    /// The version of Atomscope.
    pub version: String,
    /// The data files.
    pub data: Vec<DataHash>,
    /// What the audit of the split found.
    pub audit: Vec<String>,
}

impl WorkIdentity {
    /// That of work by this version of the program.
    pub fn new<'a>(
        fingerprint: String,
        files: impl IntoIterator<Item = &'a DataFile>,
        audit: Vec<String>,
    ) -> Self {
        let contents = files.into_iter().flat_map(|file| &file.contents);
        let mut data: Vec<DataHash> = contents
            .map(|(path, content)| DataHash {
                name: path
                    .file_name()
                    .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
                sha256: content.sha256.clone(),
            })
            .collect();
        data.sort();
        data.dedup();
        Self {
            fingerprint,
            version: VERSION.to_owned(),
            data,
            audit,
        }
    }

    /// What every point says of it. Files may have been renamed: only their content counts.
    fn made_by(&self) -> MadeBy {
        let mut hashes: Vec<&str> = self.data.iter().map(|file| file.sha256.as_str()).collect();
        hashes.sort_unstable();
        MadeBy {
            version: self.version.clone(),
            data: hash_of(hashes.join("\n").as_bytes()),
            audit: self.audit.clone(),
        }
    }

    /// Why results of `other` work, that of now, cannot stand beside these.
    fn difference(&self, other: &Self) -> Option<String> {
        match self.made_by().difference(&other.made_by())? {
            Difference::Data => Some(match self.changed_file(other) {
                Some(name) => format!("the data file {name} has changed since"),
                None => DATA_CHANGED.to_owned(),
            }),
            Difference::Said(said) => Some(said),
        }
    }

    /// The first file of `other` whose content is not among these.
    fn changed_file<'a>(&self, other: &'a Self) -> Option<&'a str> {
        let is_known = |file: &&DataHash| self.data.iter().any(|own| own.sha256 == file.sha256);
        let changed = other.data.iter().find(|file| !is_known(file))?;
        Some(&changed.name)
    }
}

const DATA_CHANGED: &str = "the data have changed since";

/// With what a point was computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MadeBy {
    version: String,
    /// SHA-256 of the hashes of all data files.
    data: String,
    audit: Vec<String>,
}

enum Difference {
    Data,
    Said(String),
}

impl MadeBy {
    /// In what this differs from `own`.
    fn difference(&self, own: &Self) -> Option<Difference> {
        if self.version != own.version {
            return Some(Difference::Said(format!(
                "computed by Atomscope {}, and this is Atomscope {}",
                self.version, own.version
            )));
        }
        (self.data != own.data).then_some(Difference::Data)
    }

    /// What is said of points of the same work whose audits differ.
    fn audit_difference(&self, own: &Self) -> Option<String> {
        let said = || "the audit of its split found something else".to_owned();
        (self.audit != own.audit).then(said)
    }
}

/// A finished point as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "KeptPoint")]
struct KeptPoint<R> {
    /// Of which work on which data: points of another are not taken for this one's.
    sweep: String,
    #[serde(default)]
    made_by: Option<MadeBy>,
    /// What came out of it.
    result: R,
}

/// A folder with the finished points of some work.
#[derive(Clone, Debug)]
pub struct PointStore<R> {
    folder: PathBuf,
    fingerprint: String,
    made_by: Option<MadeBy>,
    results: PhantomData<fn() -> R>,
}

impl<R: Serialize + DeserializeOwned> PointStore<R> {
    /// The store in a folder, which is made if need be. Other work, another version of the program
    /// or changed data are refused by name.
    pub fn open(folder: &Path, identity: &WorkIdentity) -> Result<Self, SessionError> {
        fs::create_dir_all(folder)
            .map_err(|source| SessionError::io("make the folder", folder, source))?;
        let path = folder.join(IDENTITY_NAME);
        if path.exists() {
            // Every point says the same of itself, so nothing is lost without this file.
            let remedy = "it is written again";
            let found: WorkIdentity = read_part(&path, "the identity of the work", remedy)?;
            if let Some(reason) = found.difference(identity) {
                return Err(SessionError::Mixed { reason, path });
            }
            if found.fingerprint != identity.fingerprint {
                return Err(SessionError::OtherSweep { path });
            }
            let (before, now) = (found.made_by(), identity.made_by());
            if let Some(reason) = before.audit_difference(&now) {
                return Err(SessionError::Mixed { reason, path });
            }
        }
        let store = Self {
            folder: folder.to_owned(),
            fingerprint: identity.fingerprint.clone(),
            made_by: Some(identity.made_by()),
            results: PhantomData,
        };
        if !path.exists() {
            // Points of another sweep are refused before anything is written beside them.
            store.finished()?;
            replace_file(&RealDisk, &path, to_text(identity, &path)?.as_bytes())?;
        }
        Ok(store)
    }

    /// The points of whatever work is in a folder, if all are of the same.
    pub(super) fn found_in(folder: &Path) -> Result<Vec<(usize, R)>, SessionError> {
        let kept = points_in::<R>(folder)?;
        let Some((_, _, first)) = kept.first() else {
            return Err(SessionError::NoSweep {
                path: folder.to_owned(),
            });
        };
        let store = Self {
            folder: folder.to_owned(),
            fingerprint: first.sweep.clone(),
            made_by: first.made_by.clone(),
            results: PhantomData,
        };
        store.checked(kept)
    }

    /// Keeps a finished point; a kill at any moment leaves it whole or not at all.
    pub fn keep(&self, number: usize, result: &R) -> Result<(), SessionError> {
        let path = self.folder.join(point_file_name(number));
        let kept = KeptPoint {
            sweep: self.fingerprint.clone(),
            made_by: self.made_by.clone(),
            result,
        };
        replace_file(&RealDisk, &path, to_text(&kept, &path)?.as_bytes())
    }

    /// The finished points of this work with their numbers, in order. A file of another or one
    /// that cannot be read is an error that names it: nothing is silently done again.
    pub fn finished(&self) -> Result<Vec<(usize, R)>, SessionError> {
        self.checked(points_in(&self.folder)?)
    }

    fn checked(
        &self,
        found: Vec<(PathBuf, usize, KeptPoint<R>)>,
    ) -> Result<Vec<(usize, R)>, SessionError> {
        let mut results = Vec::with_capacity(found.len());
        for (path, number, kept) in found {
            if let Some(reason) = self.difference(kept.made_by.as_ref()) {
                return Err(SessionError::Mixed { reason, path });
            }
            if kept.sweep != self.fingerprint {
                return Err(SessionError::OtherSweep { path });
            }
            let audits = kept.made_by.as_ref().zip(self.made_by.as_ref());
            if let Some(reason) = audits.and_then(|(found, own)| found.audit_difference(own)) {
                return Err(SessionError::Mixed { reason, path });
            }
            results.push((number, kept.result));
        }
        Ok(results)
    }

    fn difference(&self, found: Option<&MadeBy>) -> Option<String> {
        match (found, &self.made_by) {
            (None, None) => None,
            (None, Some(_)) | (Some(_), None) => {
                Some("computed by an Atomscope that did not note its version and data".to_owned())
            }
            (Some(found), Some(own)) => match found.difference(own)? {
                Difference::Data => Some(DATA_CHANGED.to_owned()),
                Difference::Said(said) => Some(said),
            },
        }
    }
}

/// The name of the file of a finished point.
pub fn point_file_name(number: usize) -> String {
    format!("point-{:06}.ron", number + 1)
}

/// The point, from 0, whose file has this name.
pub fn point_number(name: &str) -> Option<usize> {
    let digits = name.strip_prefix("point-")?.strip_suffix(".ron")?;
    digits.parse::<usize>().ok()?.checked_sub(1)
}

/// The value in a file of the work; where it is damaged, what to do.
fn read_part<T: DeserializeOwned>(
    path: &Path,
    kind: &'static str,
    remedy: &'static str,
) -> Result<T, SessionError> {
    let read = read_text(path).and_then(|(text, _)| from_text(&text, path));
    read.map_err(|error| match error {
        // The system refuses, as on a disk that is not there now: the file may be sound.
        error @ SessionError::Io { .. } => error,
        reason => SessionError::DamagedWork {
            kind,
            remedy,
            reason: Box::new(reason),
        },
    })
}

fn points_in<R: DeserializeOwned>(
    folder: &Path,
) -> Result<Vec<(PathBuf, usize, KeptPoint<R>)>, SessionError> {
    let cannot = |source| SessionError::io("read the folder", folder, source);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(number) = point_number(&name) {
            found.push((number, path));
        }
    }
    found.sort();
    let read = |(number, path): (usize, PathBuf)| {
        let remedy = "the point is computed again";
        let kept = read_part(&path, "the result of a finished point", remedy)?;
        Ok((path, number, kept))
    };
    found.into_iter().map(read).collect()
}
