//! Labels from tables: a CSV of files, or the participants of a BIDS data set.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::super::ByteSource;
use super::super::text::{decode, quoted};
use super::{CatalogError, RuleFinding};

/// Most bytes of a table that are read.
const MAX_BYTES: u64 = 64 << 20;

/// Rows of a table by the names of its columns.
struct Rows {
    path: PathBuf,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Rows {
    /// Reads a table; the delimiter is the likeliest of tab, semicolon and comma.
    fn read(path: &Path) -> Result<Self, CatalogError> {
        let text = decode(&ByteSource::open(path)?.read_start(MAX_BYTES)?);
        let text = text.trim_start_matches('\u{feff}');
        let first = text.lines().next().unwrap_or_default();
        let delimiter = [b'\t', b';', b',']
            .into_iter()
            .max_by_key(|&d| first.bytes().filter(|&byte| byte == d).count())
            .unwrap_or(b',');
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        // The text is UTF-8 by now, and rows of any length are taken: nothing is left to fail.
        let mut rows = reader
            .records()
            .filter_map(Result::ok)
            .map(|row| row.iter().map(str::to_owned).collect::<Vec<String>>());
        Ok(Self {
            path: path.to_owned(),
            columns: rows.next().unwrap_or_default(),
            rows: rows.collect(),
        })
    }

    /// Position of the first column with one of these names, upper and lower case being equal.
    fn column(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| {
            let is_it = |column: &String| column.eq_ignore_ascii_case(name);
            self.columns.iter().position(is_it)
        })
    }

    fn required(&self, names: &[&str]) -> Result<usize, CatalogError> {
        self.column(names).ok_or_else(|| CatalogError::Column {
            path: self.path.clone(),
            wanted: names.join(", "),
            found: self.columns.join(", "),
        })
    }
}

/// A cell that says something.
fn cell(row: &[String], column: Option<usize>) -> Option<String> {
    let text = row.get(column?)?;
    let is_missing = text.is_empty() || text.eq_ignore_ascii_case("n/a");
    (!is_missing).then(|| text.clone())
}

/// Class and group of a file.
type ClassAndGroup = (Option<String>, Option<String>);

/// Class and group by file; none where rows contradict each other.
pub(super) struct Table {
    labels: BTreeMap<String, Option<ClassAndGroup>>,
}

impl Table {
    pub(super) fn read(path: &Path) -> Result<Self, CatalogError> {
        let rows = Rows::read(path)?;
        let file = rows.required(&[
            "file",
            "filename",
            "file_name",
            "path",
            "file name",
            "record",
            "recording",
            "recording_id",
            "name",
        ])?;
        let class = rows.required(&[
            "class",
            "label",
            "target",
            "diagnosis",
            "condition",
            "category",
        ])?;
        let group = rows.column(&[
            "group",
            "subject",
            "patient",
            "participant",
            "participant_id",
            "subject_id",
            "patient_id",
        ]);
        let mut labels = BTreeMap::new();
        for row in &rows.rows {
            let Some(name) = cell(row, Some(file)) else {
                continue;
            };
            let told = Some((cell(row, Some(class)), cell(row, group)));
            let known = labels.entry(normal(&name)).or_insert_with(|| told.clone());
            if *known != told {
                *known = None;
            }
        }
        Ok(Self { labels })
    }

    /// The files that it lists and that are not among these.
    pub(super) fn not_among(&self, files: &[PathBuf]) -> Vec<String> {
        let keys: BTreeSet<String> = files.iter().flat_map(|file| keys(file)).collect();
        let listed = self.labels.keys();
        listed
            .filter(|name| !keys.contains(*name))
            .cloned()
            .collect()
    }

    /// What it says of a file.
    pub(super) fn labels(&self, path: &Path) -> RuleFinding {
        let problem = |text: &str| RuleFinding {
            problem: Some(text.to_owned()),
            ..RuleFinding::default()
        };
        match keys(path).iter().find_map(|key| self.labels.get(key)) {
            Some(Some((class, group))) => RuleFinding {
                class: class.clone(),
                group: group.clone(),
                ..RuleFinding::default()
            },
            Some(None) => problem("rows of the table contradict each other"),
            None => problem("the table does not list the file"),
        }
    }
}

/// The names by which a table may list a file: its path, then its name, each with and without extension.
fn keys(path: &Path) -> Vec<String> {
    let whole = normal(&path.to_string_lossy());
    let name = whole.rsplit('/').next().unwrap_or(&whole).to_owned();
    let with_stem = |path: String| {
        let stem = path.rsplit_once('.').map(|(stem, _)| stem.to_owned());
        [Some(path), stem]
    };
    [whole, name]
        .into_iter()
        .flat_map(with_stem)
        .flatten()
        .collect()
}

fn normal(path: &str) -> String {
    let path = path.replace('\\', "/").to_lowercase();
    path.trim_start_matches("./").to_owned()
}

/// Class by participant.
pub(super) struct Participants {
    classes: BTreeMap<String, Option<String>>,
}

impl Participants {
    pub(super) fn read(path: &Path, class_column: Option<&str>) -> Result<Self, CatalogError> {
        let rows = Rows::read(path)?;
        let id = rows.required(&["participant_id"])?;
        let class = match class_column {
            Some(name) => rows.required(&[name])?,
            None => rows.required(&[
                "class",
                "group",
                "diagnosis",
                "condition",
                "label",
                "patient",
                "disease",
            ])?,
        };
        let classes = rows
            .rows
            .iter()
            .filter_map(|row| Some((cell(row, Some(id))?.to_lowercase(), cell(row, Some(class)))))
            .collect();
        Ok(Self { classes })
    }

    /// The participant is the part `sub-…` of the path.
    pub(super) fn labels(&self, path: &Path) -> RuleFinding {
        let whole = path.to_string_lossy().replace('\\', "/");
        let participant = whole
            .split(['/', '_'])
            .map(|part| part.split('.').next().unwrap_or(part))
            .find(|part| part.to_lowercase().starts_with("sub-"));
        let Some(participant) = participant else {
            return RuleFinding {
                problem: Some("no part of the path is a participant (sub-…)".to_owned()),
                ..RuleFinding::default()
            };
        };
        match self.classes.get(&participant.to_lowercase()) {
            Some(class) => RuleFinding {
                class: class.clone(),
                group: Some(participant.to_owned()),
                ..RuleFinding::default()
            },
            None => RuleFinding {
                group: Some(participant.to_owned()),
                problem: Some(format!(
                    "participants.tsv does not list {}",
                    quoted(participant)
                )),
                ..RuleFinding::default()
            },
        }
    }
}
