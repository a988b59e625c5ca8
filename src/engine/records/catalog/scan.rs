//! The recordings in a folder and in the folders below it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::{READERS, ReadError, events_beside};
use super::pattern::Pattern;
use super::{AnnotationRule, CatalogError, Rule};

/// A folder and the files in it that a reader takes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Folder {
    /// The folder.
    pub path: PathBuf,
    /// Its files, relative to it, in order.
    pub files: Vec<PathBuf>,
    /// Tables that may hold labels, relative to it.
    pub tables: Vec<PathBuf>,
    /// What was skipped: why, and how many files.
    pub skipped: BTreeMap<String, usize>,
}

/// Folders below the chosen one that are looked into.
const MAX_DEPTH: usize = 12;
/// Most files listed.
const MAX_FILES: usize = 200_000;

/// Endings of files that belong to another one, with the endings of that other one.
const COMPANIONS: &[(&str, &[&str])] = &[
    ("eeg", &["vhdr", "ahdr"]),
    ("avg", &["vhdr", "ahdr"]),
    ("vmrk", &["vhdr", "ahdr"]),
    ("amrk", &["vhdr", "ahdr"]),
    ("fdt", &["set"]),
    ("dat", &["cfg", "vhdr", "set"]),
    ("hdr", &["cfg"]),
    ("inf", &["cfg"]),
];

/// Whether a file is a fault record, by the ending of its name.
fn is_fault_record(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str());
    let ending = ending.unwrap_or_default().to_lowercase();
    ["cfg", "cff", "cev"].contains(&ending.as_str())
}

impl Folder {
    /// The fault records, by the endings of their names.
    pub fn fault_records(&self) -> Vec<PathBuf> {
        let files = self.files.iter().filter(|file| is_fault_record(file));
        files.map(|file| self.path.join(file)).collect()
    }

    /// Lists the files; links to folders are not followed.
    pub fn scan(path: &Path) -> Result<Self, CatalogError> {
        let mut found = Vec::new();
        let mut skipped = BTreeMap::new();
        list(path, path, 0, &mut found, &mut skipped)?;
        found.sort();
        let (tables, others): (Vec<_>, Vec<_>) =
            found.iter().cloned().partition(|file| is_table(file));
        let mut files = Vec::with_capacity(others.len());
        for file in others {
            match reason_to_skip(&file) {
                // It is read with the file that it belongs to.
                _ if belongs_to_another(&file, &found) => {}
                Some(reason) => skip(&mut skipped, reason),
                None => files.push(file),
            }
        }
        Ok(Self {
            path: path.to_owned(),
            files,
            tables,
            skipped,
        })
    }

    /// What was skipped in a few words: `2 of .docx, which is no format that is read; 1 beside its .vhdr`.
    pub fn skipped_in_words(&self) -> Option<String> {
        let parts = self
            .skipped
            .iter()
            .map(|(reason, n)| format!("{n} {reason}"));
        let parts: Vec<String> = parts.collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Rules that may fit, each to be previewed: what the files themselves suggest.
    pub fn suggestions(&self) -> Vec<Rule> {
        let mut rules = Vec::new();
        for table in &self.tables {
            let path = self.path.join(table);
            let name = table
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .to_lowercase();
            rules.push(match name.as_str() {
                "participants.tsv" => Rule::Participants {
                    path,
                    class_column: None,
                },
                _ => Rule::Table { path },
            });
        }
        let parents = self.files.iter().filter_map(|file| file.parent());
        let mut parents: Vec<&Path> = parents.collect();
        parents.dedup();
        let fits = |pattern: &Pattern| self.files.iter().any(|file| pattern.labels(file).is_some());
        let by_name = |text: &&str| Some(Rule::FileName(Pattern::new(text).ok().filter(fits)?));
        // Subjects within the folder of their class; the folder of a file; a name in the folder of the subject.
        rules.extend(by_name(&"{class}/{group}/{*}"));
        if parents.len() > 1 {
            rules.push(Rule::ParentFolder);
        }
        // The first letter of the name, and what stands before an underscore or a hyphen.
        let names = [
            "{group}/{class}.{*}",
            "{class:1}{*}",
            "{group}_{class}.{*}",
            "{class}_{*}",
            "{class}-{*}",
        ];
        rules.extend(names.iter().filter_map(by_name));
        rules.push(Rule::Annotations(AnnotationRule::seizures()));
        rules
    }
}

/// The first files and folders of a folder, in order of their names; none of one that cannot be read.
pub fn files_in(folder: &Path, most: usize) -> Vec<PathBuf> {
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(most);
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    files
}

fn list(
    root: &Path,
    folder: &Path,
    depth: usize,
    found: &mut Vec<PathBuf>,
    skipped: &mut BTreeMap<String, usize>,
) -> Result<(), CatalogError> {
    let cannot = |source| ReadError::io(folder, source);
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let kind = entry.file_type().map_err(cannot)?;
        let path = entry.path();
        if kind.is_dir() {
            match depth < MAX_DEPTH {
                true => list(root, &path, depth + 1, found, skipped)?,
                false => skip(skipped, format!("folders deeper than {MAX_DEPTH} levels")),
            }
        } else if kind.is_symlink() && path.is_dir() {
            skip(
                skipped,
                "links to folders, which are not followed".to_owned(),
            );
        } else if found.len() >= MAX_FILES {
            skip(skipped, format!("beyond the first {MAX_FILES}"));
        } else if let Ok(relative) = path.strip_prefix(root) {
            found.push(relative.to_owned());
        }
    }
    Ok(())
}

fn skip(skipped: &mut BTreeMap<String, usize>, reason: String) {
    *skipped.entry(reason).or_insert(0) += 1;
}

fn ending(file: &Path) -> String {
    let ending = file.extension().unwrap_or_default();
    ending.to_string_lossy().to_lowercase()
}

fn belongs_to_another(file: &Path, all: &[PathBuf]) -> bool {
    is_companion(file, all) || events_beside::is_about_another(file) && is_not_alone(file, all)
}

/// Why a file is no recording or table of its own.
fn reason_to_skip(file: &Path) -> Option<String> {
    if is_readable(file) {
        return None;
    }
    let ending = ending(file);
    Some(match ending.as_str() {
        "" => "without an ending that tells the format".to_owned(),
        ending => format!("of .{ending}, which is no format that is read"),
    })
}

/// Whether the folder holds more than tables about recordings and hypnograms.
fn is_not_alone(file: &Path, all: &[PathBuf]) -> bool {
    let folder = file.parent().unwrap_or(file);
    let start = all.partition_point(|other| other.as_path() < folder);
    let mut inside = all[start..]
        .iter()
        .take_while(|other| other.starts_with(folder));
    inside.any(|other| is_readable(other) && !events_beside::is_about_another(other))
}

fn is_readable(file: &Path) -> bool {
    let ending = ending(file);
    READERS
        .iter()
        .any(|reader| reader.extensions.contains(&ending.as_str()))
}

/// Tables whose name says that they hold labels.
fn is_table(file: &Path) -> bool {
    let stem = file
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let says_labels = [
        "participants",
        "labels",
        "classes",
        "groups",
        "metadata",
        "catalog",
    ];
    matches!(ending(file).as_str(), "csv" | "tsv") && says_labels.contains(&stem.as_str())
}

fn is_companion(file: &Path, all: &[PathBuf]) -> bool {
    let own = ending(file);
    let Some((_, owners)) = COMPANIONS.iter().find(|(ending, _)| *ending == own) else {
        return false;
    };
    // The list is sorted, so that files of one stem stand close together.
    let stem = file.with_extension("");
    let start = all.partition_point(|other| other.as_path() < stem.as_path());
    all[start..]
        .iter()
        .take_while(|other| {
            other
                .to_string_lossy()
                .starts_with(&*stem.to_string_lossy())
        })
        .any(|other| other.with_extension("") == stem && owners.contains(&ending(other).as_str()))
}
