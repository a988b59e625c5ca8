//! The data of a session: where it lies, what it was, and where it is now.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::SessionError;
use super::hash::hash_file;
use crate::dataset::{DataFile, DataSettings};
use crate::records::{ContentHash, SourceId};

/// The variable of the environment that names a folder of data.
pub const DATA_VARIABLE: &str = "ATOMSCOPE_DATA";

/// How deep below a folder moved data is looked for.
const MAX_DEPTH: usize = 4;
/// How many files and folders are examined when data is looked for.
const MAX_ENTRIES: usize = 20_000;

/// A file or folder of data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataReference {
    /// The path relative to the folder of the session, or to a folder of data, with `/`.
    pub path: String,
    /// What it was when it was last read; without it any content is accepted.
    #[serde(default)]
    pub content: Option<Content>,
    /// What was assumed when it was read.
    #[serde(default)]
    pub assumed: Vec<String>,
}

/// What data was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Content {
    /// A file.
    File {
        /// Bytes.
        size: u64,
        /// SHA-256 in hexadecimal digits.
        sha256: String,
    },
    /// Files in a folder.
    Folder {
        /// Those that were read.
        files: Vec<FileContent>,
    },
}

/// What a file in a folder was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileContent {
    /// The path relative to the folder, with `/`.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

impl Content {
    fn of(content: &ContentHash) -> Self {
        Self::File {
            size: content.size,
            sha256: content.sha256.clone(),
        }
    }

    /// The files that were read below `folder`, in the order of their names.
    fn of_folder(folder: &Path, read: &BTreeMap<&Path, &ContentHash>) -> Self {
        let inside = |(path, content): (&&Path, &&ContentHash)| {
            Some(FileContent {
                path: relative_path(folder, path).ok()?,
                size: content.size,
                sha256: content.sha256.clone(),
            })
        };
        let mut files: Vec<FileContent> = read.iter().filter_map(inside).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self::Folder { files }
    }
}

/// Where data is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Where the reference says.
    Found(PathBuf),
    /// The same content under the same name in another folder.
    Moved(PathBuf),
    /// There is something where the reference says, but it is not what it was.
    Changed {
        /// What is there.
        path: PathBuf,
        /// What differs.
        difference: String,
    },
    /// Nowhere: the user must say which file replaces it.
    Missing,
}

/// Where data is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataPlaces {
    /// The folder of the session, folders given by the user, that of the environment, in
    /// this order.
    pub folders: Vec<PathBuf>,
    /// What the data was, so that it is found when it was moved.
    pub references: Vec<DataReference>,
}

impl DataPlaces {
    /// The folder of `session`, then `given` folders, then the one in `ATOMSCOPE_DATA`.
    pub fn new(session: Option<&Path>, given: &[PathBuf]) -> Self {
        let beside = session.map(|path| super::atomic_file::folder_of(path).to_owned());
        let variable = std::env::var_os(DATA_VARIABLE)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from);
        let folders = beside
            .into_iter()
            .chain(given.iter().cloned())
            .chain(variable)
            .collect();
        Self {
            folders,
            references: Vec::new(),
        }
    }

    /// The same places, with what the data was.
    pub fn knowing(mut self, references: &[DataReference]) -> Self {
        self.references = references.to_vec();
        self
    }

    /// The file or folder that settings call `named`: where the name says, or else the same
    /// content under the same name elsewhere in these folders.
    pub fn locate(&self, named: &Path) -> Option<PathBuf> {
        let mut direct = self.folders.iter().map(|folder| folder.join(named));
        if let Some(path) = direct.find(|path| path.exists()) {
            return Some(path);
        }
        if named.is_absolute() && named.exists() {
            return Some(named.to_owned());
        }
        let name = with_slashes(named);
        let reference = self.references.iter().find(|known| known.path == name)?;
        reference.find_moved(self, &mut |_| true).ok()?
    }
}

impl DataReference {
    /// A reference that accepts any content.
    pub fn to_any(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            content: None,
            assumed: Vec::new(),
        }
    }

    /// References to all data that `settings` name, as it was when it was read: `files` are those
    /// that were opened. No file is read here.
    pub fn of_data(settings: &DataSettings, files: &[DataFile]) -> Vec<Self> {
        let mut references = Vec::new();
        for named in settings.files() {
            let inside: Vec<&DataFile> = files
                .iter()
                .filter(|file| file.named.starts_with(&named))
                .collect();
            let mut reference = Self::to_any(with_slashes(&named));
            reference.assumed = warnings_of(&named, &inside);
            let Some(found) = inside.first().and_then(|file| real_place(&named, file)) else {
                references.push(reference);
                continue;
            };
            let read: BTreeMap<&Path, &ContentHash> = inside
                .iter()
                .flat_map(|file| &file.contents)
                .map(|(path, content)| (path.as_path(), content))
                .collect();
            let is_file = inside.iter().any(|file| file.named == named);
            reference.content = match is_file {
                true => read
                    .get(found.as_path())
                    .map(|content| Content::of(content)),
                false => Some(Content::of_folder(&found, &read)),
            };
            references.push(reference);
            if is_file {
                let companions = read.iter().filter(|(path, _)| **path != found);
                references.extend(companions.map(|(path, content)| {
                    let name = path.file_name().unwrap_or_default();
                    let beside = Self::to_any(with_slashes(&named.with_file_name(name)));
                    Self {
                        content: Some(Content::of(content)),
                        ..beside
                    }
                }));
            }
        }
        references
    }

    /// Whether a file with this content was among the data.
    pub(super) fn holds(&self, content: &ContentHash) -> bool {
        match &self.content {
            None => false,
            Some(Content::File { size, sha256 }) => {
                *size == content.size && *sha256 == content.sha256
            }
            Some(Content::Folder { files }) => files
                .iter()
                .any(|file| file.size == content.size && file.sha256 == content.sha256),
        }
    }

    /// Finds the data. `keep_going` learns the share done of the file being compared and
    /// cancels by returning `false`.
    pub fn resolve(
        &self,
        places: &DataPlaces,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Resolution, SessionError> {
        let mut changed = None;
        for folder in &places.folders {
            let path = folder.join(path_of(&self.path));
            if !path.exists() {
                continue;
            }
            match self.difference(&path, keep_going)? {
                None => return Ok(Resolution::Found(path)),
                Some(difference) if changed.is_none() => {
                    changed = Some(Resolution::Changed { path, difference });
                }
                Some(_) => {}
            }
        }
        if let Some(moved) = self.find_moved(places, keep_going)? {
            return Ok(Resolution::Moved(moved));
        }
        Ok(changed.unwrap_or(Resolution::Missing))
    }

    /// What differs between the data at `path` and what is noted here, in words.
    pub fn difference(
        &self,
        path: &Path,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<String>, SessionError> {
        match &self.content {
            None => Ok(None),
            Some(Content::File { size, sha256 }) => {
                let mut progress = HashProgress::of(*size, keep_going);
                file_difference(path, *size, sha256, &mut progress)
            }
            Some(Content::Folder { files }) => folder_difference(path, files, keep_going),
        }
    }

    fn find_moved(
        &self,
        places: &DataPlaces,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<PathBuf>, SessionError> {
        let wanted = path_of(&self.path);
        let Some(name) = wanted.file_name() else {
            return Ok(None);
        };
        let Some(content) = &self.content else {
            return Ok(None);
        };
        for folder in &places.folders {
            let named = named_below(folder, name).into_iter();
            for candidate in named.chain(renamed(folder, content)) {
                if self.difference(&candidate, keep_going)?.is_none() {
                    return Ok(Some(candidate));
                }
            }
        }
        Ok(None)
    }
}

/// What may hold the content under another name: the folder itself, or the files of the same size in it.
fn renamed(folder: &Path, content: &Content) -> Vec<PathBuf> {
    match content {
        Content::Folder { files } if files.is_empty() => Vec::new(),
        Content::Folder { .. } => vec![folder.to_owned()],
        Content::File { size, .. } => {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let is_alike = |entry: &fs::DirEntry| {
                let found = entry.metadata();
                found.is_ok_and(|found| found.is_file() && found.len() == *size)
            };
            let mut alike: Vec<PathBuf> = entries.filter(is_alike).map(|e| e.path()).collect();
            alike.sort();
            alike
        }
    }
}

fn warnings_of(named: &Path, inside: &[&DataFile]) -> Vec<String> {
    let in_words = |file: &DataFile| -> Vec<String> {
        let name = with_slashes(&file.named);
        let warnings = file.warnings.iter();
        warnings
            .map(|warning| match file.named == named {
                true => warning.to_string(),
                false => format!("{name}: {warning}"),
            })
            .collect()
    };
    inside.iter().flat_map(|file| in_words(file)).collect()
}

/// Where the file or folder `named` really is, known from where a file in it was found.
fn real_place(named: &Path, file: &DataFile) -> Option<PathBuf> {
    let below = file.named.strip_prefix(named).ok()?.components().count();
    let place = file.source.path.ancestors().nth(below)?;
    Some(place.to_owned())
}

/// The path that a text of a session names.
fn path_of(text: &str) -> PathBuf {
    SourceId::from_text(text).path()
}

fn with_slashes(path: &Path) -> String {
    SourceId::of(path).into()
}

/// Bytes done of all bytes to be hashed.
struct HashProgress<'a> {
    total: u64,
    done: u64,
    keep_going: &'a mut dyn FnMut(f64) -> bool,
}

impl<'a> HashProgress<'a> {
    fn of(total: u64, keep_going: &'a mut dyn FnMut(f64) -> bool) -> Self {
        Self {
            total: total.max(1),
            done: 0,
            keep_going,
        }
    }

    fn hash(&mut self, path: &Path) -> Result<String, SessionError> {
        let hashed = hash_file(path, &mut |n_bytes| {
            let share = (self.done + n_bytes) as f64 / self.total as f64;
            (self.keep_going)(share.min(1.0))
        })?;
        self.done += hashed.size;
        Ok(hashed.sha256)
    }
}

fn file_difference(
    path: &Path,
    size: u64,
    sha256: &str,
    progress: &mut HashProgress<'_>,
) -> Result<Option<String>, SessionError> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Ok(Some("it is not a file".into())),
        Ok(metadata) if metadata.len() != size => Ok(Some(format!(
            "it has {} bytes, expected {size}",
            metadata.len()
        ))),
        Ok(_) => match progress.hash(path) {
            Ok(found) if found == sha256 => Ok(None),
            Ok(_) => Ok(Some("it has the same size but other content".into())),
            Err(SessionError::Cancelled) => Err(SessionError::Cancelled),
            Err(error) => Ok(Some(error.to_string())),
        },
        Err(error) => Ok(Some(format!("it cannot be read: {error}"))),
    }
}

fn folder_difference(
    path: &Path,
    files: &[FileContent],
    keep_going: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<String>, SessionError> {
    if !path.is_dir() {
        return Ok(Some("it is not a folder".into()));
    }
    let total = files
        .iter()
        .fold(0_u64, |sum, file| sum.saturating_add(file.size));
    let mut progress = HashProgress::of(total, keep_going);
    let mut n_different = 0;
    let mut first = None;
    for file in files {
        let place = path.join(path_of(&file.path));
        if let Some(difference) = file_difference(&place, file.size, &file.sha256, &mut progress)? {
            n_different += 1;
            first.get_or_insert_with(|| format!("{}: {difference}", file.path));
        }
    }
    let n_files = files.len();
    Ok(first.map(|first| {
        format!("{n_different} of {n_files} files have changed; the first is {first}")
    }))
}

/// Files and folders called `name` in `folder` and below, nearest first.
fn named_below(folder: &Path, name: &std::ffi::OsStr) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut n_seen = 0;
    let mut level = vec![folder.to_owned()];
    for _ in 0..=MAX_DEPTH {
        let mut below = Vec::new();
        for folder in level {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            for entry in entries {
                n_seen += 1;
                if n_seen > MAX_ENTRIES {
                    return found;
                }
                if entry.file_name() == name {
                    found.push(entry.path());
                }
                // Links to folders are not followed: they may lead round in circles.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    below.push(entry.path());
                }
            }
        }
        below.sort();
        level = below;
    }
    found
}

/// The way from `folder` to `target`, with `/`; the whole path where there is none.
pub fn relative_path(folder: &Path, target: &Path) -> Result<String, SessionError> {
    let from = plain(folder)?;
    let to = plain(target)?;
    let from: Vec<Component<'_>> = from.components().collect();
    let parts: Vec<Component<'_>> = to.components().collect();
    let n_common = from.iter().zip(&parts).take_while(|(a, b)| a == b).count();
    // On another drive there is no relative way, and one that leads through the root says less
    // than the whole path.
    let share_a_folder = parts[..n_common]
        .iter()
        .any(|part| matches!(part, Component::Normal(_)));
    if !share_a_folder {
        return Ok(with_slashes(&to));
    }
    let back = from.iter().skip(n_common).map(|_| Component::ParentDir);
    let way: PathBuf = back.chain(parts[n_common..].iter().copied()).collect();
    Ok(match way.as_os_str().is_empty() {
        true => ".".to_owned(),
        false => with_slashes(&way),
    })
}

/// An absolute path without links, `.` and `..`, as far as it exists.
fn plain(path: &Path) -> Result<PathBuf, SessionError> {
    if let Ok(path) = fs::canonicalize(path) {
        return Ok(path);
    }
    let absolute = std::path::absolute(path)
        .map_err(|source| SessionError::io("make the path absolute", path, source))?;
    let mut plain = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    // The part that exists may be reached through links.
    let existing = plain.ancestors().skip(1).find_map(|ancestor| {
        let rest = plain.strip_prefix(ancestor).ok()?;
        Some(fs::canonicalize(ancestor).ok()?.join(rest))
    });
    Ok(existing.unwrap_or(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go_on(_: f64) -> bool {
        true
    }

    fn content_of(path: &Path) -> ContentHash {
        hash_file(path, &mut |_| true).expect("readable")
    }

    struct HashScene {
        folder: tempfile::TempDir,
    }

    impl HashScene {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a temporary folder");
            for name in ["sessions", "data/deep", "elsewhere"] {
                fs::create_dir_all(folder.path().join(name)).expect("a folder");
            }
            Self { folder }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn write(&self, name: &str, text: &str) -> PathBuf {
            fs::write(self.path(name), text).expect("written");
            self.path(name)
        }

        fn reference(&self, name: &str) -> DataReference {
            let path = self.path(name);
            let way = relative_path(&self.path("sessions"), &path).expect("a way");
            let mut reference = DataReference::to_any(way);
            reference.content = Some(Content::of(&content_of(&path)));
            reference
        }

        fn resolve(&self, reference: &DataReference) -> Resolution {
            let places = DataPlaces {
                folders: vec![self.path("sessions"), self.path("data")],
                references: Vec::new(),
            };
            reference.resolve(&places, &mut go_on).expect("resolved")
        }
    }

    #[test]
    fn data_that_stayed_is_found_and_the_path_is_relative() {
        let scene = HashScene::new();
        scene.write("elsewhere/a.csv", "1,2,3");
        let reference = scene.reference("elsewhere/a.csv");
        assert_eq!(reference.path, "../elsewhere/a.csv");
        let found = scene.path("sessions").join("../elsewhere/a.csv");
        assert_eq!(scene.resolve(&reference), Resolution::Found(found));
    }

    #[test]
    fn moved_data_is_found_by_name_and_hash_and_not_by_name_alone() {
        let scene = HashScene::new();
        let old = scene.write("elsewhere/a.csv", "1,2,3");
        let reference = scene.reference("elsewhere/a.csv");
        fs::remove_file(old).expect("removed");
        scene.write("sessions/a.csv", "9,9,9");
        assert_eq!(scene.resolve(&reference), Resolution::Missing);
        let new = scene.write("data/deep/a.csv", "1,2,3");
        assert_eq!(scene.resolve(&reference), Resolution::Moved(new));
    }

    #[test]
    fn places_locate_a_name_and_what_was_moved() {
        let scene = HashScene::new();
        let old = scene.write("sessions/a.csv", "1,2,3");
        let reference = scene.reference("sessions/a.csv");
        let places = DataPlaces {
            folders: vec![scene.path("sessions"), scene.path("data")],
            references: Vec::new(),
        };
        assert_eq!(places.locate(Path::new("a.csv")), Some(old.clone()));
        let new = scene.path("data/deep/a.csv");
        fs::rename(old, &new).expect("moved");
        assert_eq!(places.locate(Path::new("a.csv")), None);
        let places = places.knowing(&[reference]);
        assert_eq!(places.locate(Path::new("a.csv")), Some(new.clone()));
        fs::remove_file(new).expect("removed");
        scene.write("data/other.csv", "3,2,1");
        assert_eq!(places.locate(Path::new("a.csv")), None);
        let renamed = scene.write("data/renamed.csv", "1,2,3");
        assert_eq!(places.locate(Path::new("a.csv")), Some(renamed));
    }

    #[test]
    fn changed_data_is_told_with_what_differs() {
        let scene = HashScene::new();
        scene.write("sessions/a.csv", "1,2,3");
        let reference = scene.reference("sessions/a.csv");
        for (content, words) in [("3,2,1", "other content"), ("1,2", "3 bytes, expected 5")] {
            let path = scene.write("sessions/a.csv", content);
            match scene.resolve(&reference) {
                Resolution::Changed {
                    path: found,
                    difference,
                } => {
                    assert_eq!(found, path);
                    assert!(difference.contains(words), "{difference}");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_reference_without_content_accepts_any_file_at_its_path_only() {
        let scene = HashScene::new();
        let reference = DataReference::to_any("deep/a.csv");
        assert_eq!(scene.resolve(&reference), Resolution::Missing);
        let path = scene.write("data/deep/a.csv", "anything");
        assert_eq!(scene.resolve(&reference), Resolution::Found(path));
        assert_eq!(
            scene.resolve(&DataReference::to_any("a.csv")),
            Resolution::Missing
        );
    }

    #[test]
    fn a_folder_is_compared_file_by_file_and_found_when_moved() {
        let scene = HashScene::new();
        let a = scene.write("data/deep/a.csv", "1");
        let b = scene.write("data/deep/b.csv", "2");
        let mut reference = DataReference::to_any("../data/deep");
        let contents = [content_of(&b), content_of(&a)];
        let read = BTreeMap::from([(b.as_path(), &contents[0]), (a.as_path(), &contents[1])]);
        reference.content = Some(Content::of_folder(&scene.path("data/deep"), &read));
        let found = scene.path("sessions").join("../data/deep");
        assert_eq!(scene.resolve(&reference), Resolution::Found(found));
        fs::rename(scene.path("data/deep"), scene.path("sessions/deep")).expect("moved");
        let moved = scene.path("sessions/deep");
        assert_eq!(scene.resolve(&reference), Resolution::Moved(moved));
        fs::rename(scene.path("sessions/deep"), scene.path("data/deep")).expect("back");
        fs::write(a, "7").expect("changed");
        match scene.resolve(&reference) {
            Resolution::Changed { difference, .. } => {
                assert!(difference.contains("1 of 2 files") && difference.contains("a.csv"));
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_way_to_what_is_not_there_yet_is_known_too() {
        let scene = HashScene::new();
        let way = relative_path(&scene.path("sessions"), &scene.path("data/new/a.csv"));
        assert_eq!(way.expect("a way"), "../data/new/a.csv");
        let same = relative_path(&scene.path("data"), &scene.path("sessions/../data"));
        assert_eq!(same.expect("a way"), ".");
    }

    #[test]
    fn comparing_stops_when_told() {
        let scene = HashScene::new();
        scene.write("sessions/a.csv", "1,2,3");
        let reference = scene.reference("sessions/a.csv");
        let places = DataPlaces {
            folders: vec![scene.path("sessions")],
            references: Vec::new(),
        };
        let stopped = reference.resolve(&places, &mut |_| false);
        assert!(matches!(stopped, Err(SessionError::Cancelled)));
    }
}
