//! The files that came into a watched folder as an inbox: filtered, sorted, acknowledged, exported.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::FileMark;

/// A file that was judged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JudgedFile {
    /// What it looked like.
    pub mark: FileMark,
    /// When it counted as complete, UTC, as `2026-01-31T12:00:00.000Z`.
    pub arrived: String,
    /// The class decided by vote; none of a file that cannot be read.
    pub class: Option<String>,
    /// Median margin of the segments that were decided so.
    pub margin: Option<f64>,
    /// Median over its segments of how probable so strange a sample is among training samples.
    pub fit_p: Option<f64>,
    /// Segments, or samples, that were judged.
    pub n_judged: usize,
    /// The class it has, where a label came.
    pub label: Option<String>,
    /// Whether it was learned.
    pub is_learned: bool,
    /// Whether somebody has seen it.
    pub is_acknowledged: bool,
    /// Why it was not judged.
    pub problem: Option<String>,
}

impl JudgedFile {
    /// Whether the label says otherwise than the decision.
    pub fn is_wrong(&self) -> bool {
        self.label.is_some() && self.label != self.class
    }
}

/// Which files of an inbox are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InboxShow {
    /// Every file.
    #[default]
    All,
    /// Those that nobody has acknowledged.
    New,
    /// Those whose class is known.
    Labelled,
    /// Those whose label says otherwise than the decision.
    Wrong,
    /// Those that could not be judged.
    Unread,
}

impl InboxShow {
    /// All choices.
    pub const ALL: [Self; 5] = [
        Self::All,
        Self::New,
        Self::Labelled,
        Self::Wrong,
        Self::Unread,
    ];

    /// The choice in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "All",
            Self::New => "Not acknowledged",
            Self::Labelled => "With a label",
            Self::Wrong => "Decided wrongly",
            Self::Unread => "Not readable",
        }
    }

    fn shows(self, file: &JudgedFile) -> bool {
        match self {
            Self::All => true,
            Self::New => !file.is_acknowledged,
            Self::Labelled => file.label.is_some(),
            Self::Wrong => file.is_wrong(),
            Self::Unread => file.problem.is_some(),
        }
    }
}

/// What an inbox is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum InboxColumn {
    /// Time of arrival.
    #[default]
    Arrived,
    /// Path of the file.
    File,
    /// Class decided.
    Class,
    /// Margin.
    Margin,
    /// Fit.
    Fit,
    /// Label.
    Label,
}

impl InboxColumn {
    /// All columns in the order of the list.
    pub const ALL: [Self; 6] = [
        Self::Arrived,
        Self::File,
        Self::Class,
        Self::Margin,
        Self::Fit,
        Self::Label,
    ];

    /// The head of the column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arrived => "Arrived",
            Self::File => "File",
            Self::Class => "Class",
            Self::Margin => "Margin",
            Self::Fit => "Fit p",
            Self::Label => "Label",
        }
    }

    fn compare(self, a: (&PathBuf, &JudgedFile), b: (&PathBuf, &JudgedFile)) -> Ordering {
        // Files without a number come first.
        let number = |value: Option<f64>| value.unwrap_or(f64::NEG_INFINITY);
        match self {
            Self::Arrived => a.1.arrived.cmp(&b.1.arrived),
            Self::File => Ordering::Equal,
            Self::Class => a.1.class.cmp(&b.1.class),
            Self::Margin => number(a.1.margin).total_cmp(&number(b.1.margin)),
            Self::Fit => number(a.1.fit_p).total_cmp(&number(b.1.fit_p)),
            Self::Label => a.1.label.cmp(&b.1.label),
        }
        .then_with(|| a.0.cmp(b.0))
    }
}

/// Which files of an inbox are wanted, and in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InboxQuery {
    /// Part of path, class or label, in any case; empty for all.
    pub text: String,
    /// Kind of file.
    pub show: InboxShow,
    /// What they are sorted by.
    pub column: InboxColumn,
    /// Whether the largest come first.
    pub is_descending: bool,
}

impl InboxQuery {
    fn wants(&self, path: &Path, file: &JudgedFile) -> bool {
        let text = self.text.trim().to_lowercase();
        let has = |field: &str| field.to_lowercase().contains(&text);
        let texts = [&file.class, &file.label, &file.problem];
        self.show.shows(file)
            && (text.is_empty()
                || has(&path.to_string_lossy())
                || texts.into_iter().flatten().any(|field| has(field)))
    }
}

/// Files judged, by their full path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Inbox {
    files: BTreeMap<PathBuf, JudgedFile>,
}

impl Inbox {
    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether no file came yet.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Files that nobody has acknowledged.
    pub fn n_new(&self) -> usize {
        let files = self.files.values();
        files.filter(|file| !file.is_acknowledged).count()
    }

    /// All files in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&PathBuf, &JudgedFile)> {
        self.files.iter()
    }

    /// What is known of a file.
    pub fn get(&self, path: &Path) -> Option<&JudgedFile> {
        self.files.get(path)
    }

    pub(super) fn get_mut(&mut self, path: &Path) -> Option<&mut JudgedFile> {
        self.files.get_mut(path)
    }

    pub(super) fn insert(&mut self, path: &Path, file: JudgedFile) {
        self.files.insert(path.to_owned(), file);
    }

    /// The files wanted, in the order wanted.
    pub fn select(&self, query: &InboxQuery) -> Vec<(&Path, &JudgedFile)> {
        let mut chosen: Vec<(&PathBuf, &JudgedFile)> = self
            .files
            .iter()
            .filter(|(path, file)| query.wants(path, file))
            .collect();
        chosen.sort_by(|a, b| {
            let order = query.column.compare(*a, *b);
            if query.is_descending {
                order.reverse()
            } else {
                order
            }
        });
        chosen
            .into_iter()
            .map(|(path, file)| (path.as_path(), file))
            .collect()
    }

    /// Somebody has seen the file, or has not; whether that is news.
    pub fn acknowledge(&mut self, path: &Path, is_seen: bool) -> bool {
        match self.files.get_mut(path) {
            Some(file) => std::mem::replace(&mut file.is_acknowledged, is_seen) != is_seen,
            None => false,
        }
    }

    /// The files wanted as a table, in the order wanted.
    pub fn csv(&self, query: &InboxQuery) -> String {
        let head = [
            "arrived",
            "file",
            "class",
            "margin",
            "fit_p",
            "judged",
            "label",
            "learned",
            "acknowledged",
            "problem",
        ];
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let row = |(path, file): (&Path, &JudgedFile)| {
            [
                file.arrived.clone(),
                path.display().to_string(),
                text(&file.class),
                number(file.margin),
                number(file.fit_p),
                file.n_judged.to_string(),
                text(&file.label),
                file.is_learned.to_string(),
                file.is_acknowledged.to_string(),
                text(&file.problem),
            ]
        };
        let rows = self.select(query).into_iter().map(row);
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in std::iter::once(head.map(str::to_owned)).chain(rows) {
            // Memory takes every row, and all rows are as long as the head.
            writer.write_record(&row).unwrap_or_default();
        }
        String::from_utf8_lossy(&writer.into_inner().unwrap_or_default()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inbox() -> Inbox {
        let mut inbox = Inbox::default();
        let file = |arrived: &str, class: &str, margin: f64| JudgedFile {
            arrived: arrived.into(),
            class: Some(class.into()),
            margin: Some(margin),
            ..JudgedFile::default()
        };
        inbox.insert(Path::new("b.edf"), file("2026-01-01", "rest", 0.5));
        inbox.insert(Path::new("a.edf"), file("2026-01-02", "task", 0.1));
        let unread = JudgedFile {
            arrived: "2026-01-03".into(),
            problem: Some("damaged, at byte 7".into()),
            ..JudgedFile::default()
        };
        inbox.insert(Path::new("c.edf"), unread);
        inbox
    }

    fn names(inbox: &Inbox, query: &InboxQuery) -> Vec<String> {
        let chosen = inbox.select(query).into_iter();
        chosen.map(|(path, _)| path.display().to_string()).collect()
    }

    #[test]
    fn files_are_filtered_sorted_and_acknowledged() {
        let mut inbox = inbox();
        let mut query = InboxQuery::default();
        assert_eq!(names(&inbox, &query), ["b.edf", "a.edf", "c.edf"]);
        (query.column, query.is_descending) = (InboxColumn::Margin, true);
        assert_eq!(names(&inbox, &query), ["b.edf", "a.edf", "c.edf"]);
        query.is_descending = false;
        assert_eq!(names(&inbox, &query), ["c.edf", "a.edf", "b.edf"]);
        query.text = " TASK".into();
        assert_eq!(names(&inbox, &query), ["a.edf"]);
        (query.text, query.show) = (String::new(), InboxShow::New);
        assert!(inbox.acknowledge(Path::new("a.edf"), true));
        assert!(!inbox.acknowledge(Path::new("a.edf"), true));
        assert!(!inbox.acknowledge(Path::new("none.edf"), true));
        assert_eq!(names(&inbox, &query), ["c.edf", "b.edf"]);
        assert_eq!(inbox.n_new(), 2);
        let wrong = inbox.get_mut(Path::new("b.edf")).expect("it came");
        wrong.label = Some("task".into());
        query.show = InboxShow::Wrong;
        assert_eq!(names(&inbox, &query), ["b.edf"]);
        query.show = InboxShow::Unread;
        let table = inbox.csv(&query);
        assert!(table.ends_with("\n2026-01-03,c.edf,,,,0,,false,false,\"damaged, at byte 7\"\n"));
    }
}
