//! A folder of recordings as a labelled set: class and group of each file by rules, shown before they are applied.

mod annotations;
mod pattern;
mod scan;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::text::counted;
use super::{Mode, ReadError};
pub use annotations::{AnnotationRule, LabelledSpan, Lasts};
pub use pattern::Pattern;
pub use scan::{Folder, files_in};

/// Where class and group of a file are taken from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Rule {
    /// From the file name; see [`Pattern`].
    FileName(Pattern),
    /// The class is the name of the folder that the file is in.
    ParentFolder,
    /// From a table with the columns `file`, `class` and perhaps `group`.
    Table {
        /// The table: comma, semicolon or tab between columns.
        #[serde(with = "super::path_text")]
        path: PathBuf,
    },
    /// From a BIDS `participants.tsv`: the group is the participant.
    Participants {
        /// The table.
        #[serde(with = "super::path_text")]
        path: PathBuf,
        /// The column with the class; by default the likeliest.
        #[serde(default)]
        class_column: Option<String>,
    },
    /// From annotations: stretches of each recording have a class of their own.
    Annotations(AnnotationRule),
}

impl Rule {
    /// The table it reads, if it reads one.
    pub fn table(&self) -> Option<&Path> {
        match self {
            Self::Table { path } | Self::Participants { path, .. } => Some(path),
            Self::FileName(_) | Self::ParentFolder | Self::Annotations(_) => None,
        }
    }

    /// What it does, in a sentence.
    pub fn in_words(&self) -> String {
        match self {
            Self::FileName(pattern) => format!("From file names: {}", pattern.text()),
            Self::ParentFolder => "The class is the folder that the file is in".into(),
            Self::Table { path } => format!("From the table {}", path.display()),
            Self::Participants { path, .. } => format!("From the participants {}", path.display()),
            Self::Annotations(_) => "From annotations: each section has its own class".into(),
        }
    }

    /// The table it reads, to be named otherwise.
    pub fn table_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::Table { path } | Self::Participants { path, .. } => Some(path),
            Self::FileName(_) | Self::ParentFolder | Self::Annotations(_) => None,
        }
    }
}

/// Why a rule cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// A file or folder cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The pattern makes no sense.
    #[error("pattern {pattern:?}: {problem}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The table lacks a column.
    #[error("no column for {wanted}; the columns are {found}: {}", path.display())]
    Column {
        /// The table.
        path: PathBuf,
        /// What was looked for.
        wanted: String,
        /// The columns there are.
        found: String,
    },
}

/// What the rules say of one file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LabelledFile {
    /// The file, relative to the folder.
    pub path: PathBuf,
    /// Its class, if it has one as a whole.
    pub class: Option<String>,
    /// Its group (subject); without a rule for it, each file is its own.
    pub group: String,
    /// Whether no rule gives a group, so that the file is its own.
    pub is_own_group: bool,
    /// Stretches with a class of their own.
    pub spans: Vec<LabelledSpan>,
    /// Why the rules give no class.
    pub problem: Option<String>,
}

impl LabelledFile {
    /// Whether the file takes part in a data set.
    pub fn has_class(&self) -> bool {
        self.class.is_some() || !self.spans.is_empty()
    }
}

/// What rules give for a folder: to be examined, then used.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LabelledSet {
    /// All files, in order of their paths.
    pub files: Vec<LabelledFile>,
    /// Files that tables of labels list and that are not there.
    pub not_found: Vec<String>,
}

/// The first names of a list.
fn first_of(names: &[String]) -> String {
    const LISTED: usize = 10;
    let listed = names.iter().take(LISTED).map(String::as_str);
    let listed = listed.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(LISTED) {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}

/// Files and groups of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassCount {
    /// The class.
    pub class: String,
    /// Files, or files with a stretch of it.
    pub n_files: usize,
    /// Groups among them.
    pub n_groups: usize,
}

impl LabelledSet {
    /// The classes with their numbers of files and groups.
    pub fn classes(&self) -> Vec<ClassCount> {
        let mut found: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
        for file in &self.files {
            let of_spans = file.spans.iter().map(|span| span.class.as_str());
            let classes: BTreeSet<&str> = of_spans.chain(file.class.as_deref()).collect();
            for class in classes {
                let entry = found.entry(class).or_default();
                entry.0 += 1;
                entry.1.insert(&file.group);
            }
        }
        found
            .into_iter()
            .map(|(class, (n_files, groups))| ClassCount {
                class: class.to_owned(),
                n_files,
                n_groups: groups.len(),
            })
            .collect()
    }

    /// What to look at before the rules are applied.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let without = self.files.iter().filter(|f| !f.has_class());
        let without: Vec<String> = without.map(|f| f.path.display().to_string()).collect();
        if !without.is_empty() {
            let (n_without, n_files) = (without.len(), self.files.len());
            let listed = first_of(&without);
            problems.push(format!(
                "{n_without} of {n_files} files have no class and are excluded: {listed}"
            ));
        }
        problems.extend(self.lost());
        let classes = self.classes();
        if classes.len() == 1 {
            problems.push(format!("all files are of class {:?}", classes[0].class));
        }
        problems.extend(self.groups_of_several_classes());
        problems
    }

    /// Says that files of a table of labels are not there.
    pub fn lost(&self) -> Option<String> {
        let n_lost = counted(self.not_found.len(), "file");
        let listed = first_of(&self.not_found);
        let has_some = !self.not_found.is_empty();
        has_some
            .then(|| format!("{n_lost} of the table of labels not found in the folder: {listed}"))
    }

    /// `01` of healthy and `01` of patients may be two persons.
    fn groups_of_several_classes(&self) -> Option<String> {
        let mut classes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for file in &self.files {
            if let Some(class) = &file.class {
                classes.entry(&file.group).or_default().insert(class);
            }
        }
        let mixed: Vec<_> = classes
            .iter()
            .filter(|(_, classes)| classes.len() > 1)
            .collect();
        let (group, names) = mixed.first()?;
        let names: Vec<&str> = names.iter().copied().collect();
        Some(format!(
            "{} groups have files of several classes, e.g. {group:?} of {}: the same subject?",
            mixed.len(),
            names.join(" and ")
        ))
    }
}

/// Applies rules to the files of a folder; the first rule that knows a class or a group wins.
///
/// `go_on` receives the share done and cancels by returning `false`.
pub fn label(
    folder: &Folder,
    rules: &[Rule],
    mode: Mode,
    mut go_on: impl FnMut(f64) -> bool,
) -> Result<LabelledSet, CatalogError> {
    let sources: Vec<Labels> = rules.iter().map(Labels::new).collect::<Result<_, _>>()?;
    let mut files = Vec::with_capacity(folder.files.len());
    for (position, path) in folder.files.iter().enumerate() {
        if !go_on(position as f64 / folder.files.len() as f64) {
            return Err(ReadError::Cancelled.into());
        }
        files.push(label_file(folder, path, &sources, mode));
    }
    go_on(1.0);
    let missing = |source: &Labels| match source {
        Labels::Table(table) => table.not_among(&folder.files),
        _ => Vec::new(),
    };
    let not_found = sources.iter().flat_map(missing).collect();
    Ok(LabelledSet { files, not_found })
}

fn label_file(folder: &Folder, path: &Path, sources: &[Labels], mode: Mode) -> LabelledFile {
    let mut file = LabelledFile {
        path: path.to_owned(),
        ..LabelledFile::default()
    };
    let mut group = None;
    for source in sources {
        let found = source.of(folder, path, mode);
        if !file.has_class() {
            file.class = found.class;
            file.spans = found.spans;
        }
        group = group.or(found.group);
        file.problem = file.problem.or(found.problem);
    }
    if file.has_class() {
        file.problem = None;
    } else {
        let unknown = || "no rule gives a class".to_owned();
        file.problem = Some(file.problem.unwrap_or_else(unknown));
    }
    file.is_own_group = group.is_none();
    file.group = group.unwrap_or_else(|| own_name(path));
    file
}

/// A file as its own group: its path without the extension.
pub fn own_name(path: &Path) -> String {
    super::SourceId::of(&path.with_extension("")).into()
}

/// What one rule says of one file.
#[derive(Debug, Default)]
struct Found {
    class: Option<String>,
    group: Option<String>,
    spans: Vec<LabelledSpan>,
    problem: Option<String>,
}

/// A rule with its table read.
enum Labels<'a> {
    FileName(&'a Pattern),
    ParentFolder,
    Table(table::Table),
    Participants(table::Participants),
    Annotations(&'a AnnotationRule),
}

impl<'a> Labels<'a> {
    fn new(rule: &'a Rule) -> Result<Self, CatalogError> {
        Ok(match rule {
            Rule::FileName(pattern) => Self::FileName(pattern),
            Rule::ParentFolder => Self::ParentFolder,
            Rule::Table { path } => Self::Table(table::Table::read(path)?),
            Rule::Participants { path, class_column } => {
                Self::Participants(table::Participants::read(path, class_column.as_deref())?)
            }
            Rule::Annotations(rule) => Self::Annotations(rule),
        })
    }

    fn of(&self, folder: &Folder, path: &Path, mode: Mode) -> Found {
        match self {
            Self::FileName(pattern) => match pattern.labels(path) {
                Some((class, group)) => Found {
                    class,
                    group,
                    ..Found::default()
                },
                None => Found {
                    problem: Some(format!("the name does not fit {:?}", pattern.text())),
                    ..Found::default()
                },
            },
            Self::ParentFolder => {
                let whole = folder.path.join(path);
                let parent = whole.parent().and_then(Path::file_name);
                Found {
                    class: parent.map(|name| name.to_string_lossy().into_owned()),
                    ..Found::default()
                }
            }
            Self::Table(table) => table.labels(path),
            Self::Participants(participants) => participants.labels(path),
            Self::Annotations(rule) => match rule.spans(&folder.path.join(path), mode) {
                Ok(spans) => Found {
                    problem: spans
                        .is_empty()
                        .then(|| "no annotation of a class".to_owned()),
                    spans,
                    ..Found::default()
                },
                Err(error) => Found {
                    problem: Some(error.to_string()),
                    ..Found::default()
                },
            },
        }
    }
}

#[cfg(test)]
mod tests;
