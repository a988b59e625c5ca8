//! A session on disk: `name.ron`, and beside it `name.<hash>.safetensors` with its arrays.
//!
//! Saving writes the arrays under the hash of their content, makes them durable, replaces the
//! RON (from that moment the new session counts) and then removes arrays no longer named.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::SessionError;
use super::arrays::{Arrays, read_arrays};
use super::atomic_file::{Disk, Staged, folder_of, is_staged_for, name_text};
use super::hash::{HashingWriter, hash_of};
use super::lock_file::LockFile;
use crate::records::open_regular;

/// Largest RON read; a session of 10⁵ samples has about 1 MB.
const MAX_TEXT_BYTES: u64 = 256 << 20;
/// Largest file of arrays read; a session at the largest budget has about 1 GB.
const MAX_ARRAYS_BYTES: u64 = 16 << 30;
/// Digits of the hash in the name of the arrays.
const N_HASH_DIGITS: usize = 16;
/// Most files looked through for a mention of arrays that seem to be left over.
const MAX_NEIGHBOURS: usize = 1000;

/// The arrays of a session as its RON names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArraysReference {
    /// SHA-256 of the file; its first 16 digits are part of the file's name.
    pub sha256: String,
    /// Size of the file in bytes.
    pub size: u64,
}

impl ArraysReference {
    fn digits(&self) -> &str {
        self.sha256.get(..N_HASH_DIGITS).unwrap_or(&self.sha256)
    }

    fn is_well_formed(&self) -> bool {
        self.sha256.len() == 64 && self.sha256.bytes().all(|b| b.is_ascii_hexdigit())
    }
}

/// What the RON on disk was when it was read or written here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(pub(super) String);

/// What a save may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replace<'a> {
    /// Nothing: the file must be new.
    Nothing,
    /// The file as it was when it was last read or written here.
    Unchanged(&'a Stamp),
    /// Whatever is there, because the user said so.
    Anything,
}

/// The arrays that belong to what is saved.
#[derive(Clone, Copy)]
pub(super) enum SavedArrays<'a> {
    /// None.
    Nothing,
    /// Those that are there already.
    AsTheyAre(&'a ArraysReference),
    /// These.
    New(&'a Arrays),
}

/// The names that belong to one session.
struct Names {
    path: PathBuf,
    folder: PathBuf,
    file_name: String,
    stem: String,
}

impl Names {
    fn of(path: &Path) -> Result<Self, SessionError> {
        // A link is followed, so that saving changes the file and not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let named = |file_name: &str| {
            let stem = file_name.strip_suffix(".ron")?;
            (!stem.is_empty()).then(|| Self {
                folder: folder_of(&path).to_owned(),
                file_name: file_name.to_owned(),
                stem: stem.to_owned(),
                path: path.clone(),
            })
        };
        let file_name = path.file_name().map(name_text);
        file_name
            .as_deref()
            .and_then(named)
            .ok_or_else(|| SessionError::Name { path: path.clone() })
    }

    fn arrays(&self, reference: &ArraysReference) -> PathBuf {
        let digits = reference.digits();
        self.folder
            .join(format!("{}.{digits}.safetensors", self.stem))
    }

    /// The name arrays are staged under while their hash is not known.
    fn staged_arrays(&self) -> PathBuf {
        self.folder.join(format!("{}.safetensors", self.stem))
    }

    /// The digits in the name of arrays, if they belong to this session.
    fn digits_of_own_arrays<'a>(&self, file_name: &'a str) -> Option<&'a str> {
        file_name
            .strip_prefix(self.stem.as_str())?
            .strip_prefix('.')?
            .strip_suffix(".safetensors")
            .filter(|digits| digits.len() == N_HASH_DIGITS)
            .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
    }

    fn is_own_leftover(&self, file_name: &str) -> bool {
        is_staged_for(file_name, &self.file_name)
            || is_staged_for(file_name, &format!("{}.safetensors", self.stem))
    }
}

/// Saves a session. `text` makes its RON, given the references to its files of arrays.
pub(super) fn save<const N: usize>(
    disk: &dyn Disk,
    path: &Path,
    replace: Replace<'_>,
    arrays: [SavedArrays<'_>; N],
    text: &dyn Fn([Option<ArraysReference>; N]) -> Result<String, SessionError>,
) -> Result<Stamp, SessionError> {
    let names = Names::of(path)?;
    let lock = names.folder.join(format!(".{}.lock", names.file_name));
    let Some(_lock) = LockFile::try_acquire(&lock)? else {
        return Err(SessionError::Busy { path: names.path });
    };
    check_replaceable(&names.path, replace)?;
    remove_leftovers(disk, &names);
    let mut references = [const { None }; N];
    for (reference, arrays) in references.iter_mut().zip(arrays) {
        *reference = match arrays {
            SavedArrays::New(arrays) => Some(save_arrays(disk, &names, arrays)?),
            SavedArrays::AsTheyAre(reference) => Some(reference.clone()),
            SavedArrays::Nothing => None,
        };
    }
    let kept: Vec<ArraysReference> = references.iter().flatten().cloned().collect();
    let text = text(references)?;
    let mut content = |out: &mut dyn std::io::Write| out.write_all(text.as_bytes());
    Staged::write(disk, &names.path, &mut content)?.commit(&names.path)?;
    remove_orphans(disk, &names, &kept);
    Ok(Stamp(hash_of(text.as_bytes())))
}

fn check_replaceable(path: &Path, replace: Replace<'_>) -> Result<(), SessionError> {
    let Ok(metadata) = fs::metadata(path) else {
        return Ok(());
    };
    let path = path.to_owned();
    if metadata.permissions().readonly() {
        return Err(SessionError::ReadOnly { path });
    }
    match replace {
        Replace::Anything => Ok(()),
        Replace::Nothing => Err(SessionError::Exists { path }),
        Replace::Unchanged(stamp) => match read_text(&path) {
            Ok((_, found)) if found == *stamp => Ok(()),
            _ => Err(SessionError::ChangedOnDisk { path }),
        },
    }
}

fn save_arrays(
    disk: &dyn Disk,
    names: &Names,
    arrays: &Arrays,
) -> Result<ArraysReference, SessionError> {
    let mut reference = None;
    let staged = Staged::write(disk, &names.staged_arrays(), &mut |out| {
        let mut out = HashingWriter::new(out);
        arrays.write_to(&mut out)?;
        let (sha256, size) = out.finish();
        reference = Some(ArraysReference { sha256, size });
        Ok(())
    })?;
    let reference = reference.expect("what was written was hashed");
    staged.commit(&names.arrays(&reference))?;
    Ok(reference)
}

/// Files that a killed save left half written. Nobody else writes while we hold the lock.
fn remove_leftovers(disk: &dyn Disk, names: &Names) {
    for (name, path) in files_in(&names.folder) {
        if names.is_own_leftover(&name) {
            // A leftover does no harm; the next save tries again.
            disk.remove(&path).unwrap_or_default();
        }
    }
}

/// Arrays of this session that neither it nor a copy of it names any more.
fn remove_orphans(disk: &dyn Disk, names: &Names, kept: &[ArraysReference]) {
    let files = files_in(&names.folder);
    let mut orphans: Vec<(&str, &Path)> = files
        .iter()
        .filter_map(|(name, path)| Some((names.digits_of_own_arrays(name)?, path.as_path())))
        .filter(|(digits, _)| kept.iter().all(|kept| kept.digits() != *digits))
        .collect();
    let neighbours = files
        .iter()
        .filter(|(name, _)| name.ends_with(".ron") && *name != names.file_name);
    for (n_read, (name, neighbour)) in neighbours.enumerate() {
        if orphans.is_empty() {
            return;
        }
        match read_text(neighbour) {
            Ok((text, _)) if n_read < MAX_NEIGHBOURS => {
                let stem = name.trim_end_matches(".ron");
                let has_own = |digits: &str| {
                    let own = format!("{stem}.{digits}.safetensors");
                    files.iter().any(|(file, _)| *file == own)
                };
                orphans.retain(|(digits, _)| !text.contains(digits) || has_own(digits));
            }
            // What cannot be looked through may name any of them.
            _ => return,
        }
    }
    for (_, path) in orphans {
        // The session is saved; an orphan that stays does no harm.
        disk.remove(path).unwrap_or_default();
    }
}

/// Removes a session and its arrays, as far as they are there.
pub(super) fn remove(disk: &dyn Disk, path: &Path) -> Result<(), SessionError> {
    let names = Names::of(path)?;
    match disk.remove(&names.path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(SessionError::io("remove the file", path, error));
        }
        _ => {}
    }
    remove_leftovers(disk, &names);
    remove_orphans(disk, &names, &[]);
    Ok(())
}

fn files_in(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .map(|entry| (name_text(&entry.file_name()), entry.path()))
        .collect();
    files.sort();
    files
}

/// The RON of a session, and what it was.
pub(crate) fn read_text(path: &Path) -> Result<(String, Stamp), SessionError> {
    let cannot = |source| SessionError::io("read the file", path, source);
    let file = open_regular(path).map_err(cannot)?;
    let mut bytes = Vec::new();
    file.take(MAX_TEXT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(cannot)?;
    if bytes.len() as u64 > MAX_TEXT_BYTES {
        return Err(SessionError::TooLarge {
            found: bytes.len() as u64,
            most: MAX_TEXT_BYTES,
            path: path.to_owned(),
        });
    }
    let stamp = Stamp(hash_of(&bytes));
    let text = String::from_utf8(bytes).map_err(|error| SessionError::NotText {
        byte: error.utf8_error().valid_up_to(),
        path: path.to_owned(),
    })?;
    Ok((text, stamp))
}

/// The arrays of a session, if they are those that were saved.
pub(super) fn load_arrays<T: DeserializeOwned>(
    path: &Path,
    reference: &ArraysReference,
) -> Result<T, SessionError> {
    let names = Names::of(path)?;
    let expected = names.arrays(reference);
    let damaged = |path: &Path, reason: String| SessionError::ArraysDamaged {
        reason,
        path: path.to_owned(),
    };
    if !reference.is_well_formed() {
        let reason = format!(
            "{:?} is not a SHA-256, which has 64 hexadecimal digits",
            reference.sha256
        );
        return Err(damaged(&names.path, reason));
    }
    let found = find_arrays(&names, &expected, reference.digits())
        .ok_or(SessionError::ArraysMissing { path: expected })?;
    let bytes = read_exactly(&found, reference.size)?;
    let sha256 = hash_of(&bytes);
    if sha256 != reference.sha256 {
        let reason = format!("its hash is {sha256}, expected {}", reference.sha256);
        return Err(damaged(&found, reason));
    }
    read_arrays(&bytes).map_err(|error| damaged(&found, error.to_string()))
}

/// The arrays under the name of this session, or under that of a session it was copied from.
fn find_arrays(names: &Names, expected: &Path, digits: &str) -> Option<PathBuf> {
    if expected.is_file() {
        return Some(expected.to_owned());
    }
    let ending = format!(".{digits}.safetensors");
    files_in(&names.folder)
        .into_iter()
        .find(|(name, path)| name.ends_with(&ending) && path.is_file())
        .map(|(_, path)| path)
}

fn read_exactly(path: &Path, size: u64) -> Result<Vec<u8>, SessionError> {
    let cannot = |source| SessionError::io("read the file", path, source);
    let file = open_regular(path).map_err(cannot)?;
    let found = file.metadata().map_err(cannot)?.len();
    if found != size || size > MAX_ARRAYS_BYTES {
        return Err(SessionError::ArraysDamaged {
            reason: format!("it has {found} bytes, expected {size} and at most {MAX_ARRAYS_BYTES}"),
            path: path.to_owned(),
        });
    }
    let mut bytes = Vec::new();
    let room = usize::try_from(size).unwrap_or(usize::MAX);
    bytes
        .try_reserve_exact(room)
        .map_err(|error| cannot(std::io::Error::other(error)))?;
    file.take(size).read_to_end(&mut bytes).map_err(cannot)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
