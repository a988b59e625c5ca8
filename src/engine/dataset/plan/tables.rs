//! Rows of tables as samples: files read one after the other, with labels that may stand in second files.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::builder::{DataFile, DatasetBuilder, Label};
use super::super::long_table::LongTable;
use super::super::table::row_names;
use super::super::{DatasetError, TableChoice, TableClasses, is_feature};
use super::{Locate, OpenedFile, add_each, found, no_class};
use crate::features::FeatureRecipe;
use crate::records::table::DecimalSign;
use crate::records::{Channel, Mode, ReadOptions, Record, open_with};

/// Rows of tables as samples.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TableSource {
    /// Files, or folders of them.
    #[serde(with = "crate::records::path_texts")]
    pub paths: Vec<PathBuf>,
    /// Which columns mean what; without it the likeliest for each file.
    pub choice: Option<TableChoice>,
    /// Tolerant or strict reading.
    pub mode: Mode,
    /// Files with a label for every row, one for each of `paths`; none where the tables hold their labels.
    #[serde(
        with = "crate::records::path_texts",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub labels: Vec<PathBuf>,
    /// The decimal sign, where numbers can be read in two ways.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<DecimalSign>,
    /// The sheet of workbooks; without it the first that looks like a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// Where rows are moments of recordings: the columns that put them together. A recipe makes the samples then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recordings: Option<LongTable>,
}

impl TableSource {
    /// How its files are read.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions {
            mode: self.mode,
            decimal: self.decimal,
            array: self.sheet.clone(),
            ..ReadOptions::default()
        }
    }

    /// All files that it names.
    pub(super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter().chain(&self.labels)
    }

    /// Names every file anew.
    pub(super) fn rename_files(&mut self, new_name: &dyn Fn(&Path) -> PathBuf) {
        for path in self.paths.iter_mut().chain(&mut self.labels) {
            *path = new_name(path);
        }
    }

    /// Adds the rows, or the recordings that they are moments of.
    pub(super) fn add_to(
        &self,
        builder: &mut DatasetBuilder,
        recipe: Option<&FeatureRecipe>,
        locate: &Locate<'_>,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<(), DatasetError> {
        let options = self.read_options();
        let add = |builder: &mut DatasetBuilder, opened: OpenedFile<'_>| {
            let OpenedFile {
                named,
                record,
                keep_going,
            } = opened;
            let labels = self.labels_of(named, locate)?;
            let record = match labels {
                Some(path) => with_labels(&record, &open_with(&path, &options)?)?,
                None => record,
            };
            let choice = match &self.choice {
                Some(choice) => choice.clone(),
                None => TableChoice::guess(&record).ok_or_else(|| no_class(&record))?,
            };
            builder.add_file(DataFile::opened(named, &record, keep_going)?);
            match (&self.recordings, recipe) {
                (Some(long), Some(recipe)) => add_long(builder, &record, long, &choice, recipe),
                _ => builder.add_table(&record, &choice),
            }
        };
        add_each(&self.paths, &options, locate, keep_going, builder, add)
    }

    /// The file with the labels of a file, if it has one.
    fn labels_of(
        &self,
        named: &Path,
        locate: &Locate<'_>,
    ) -> Result<Option<PathBuf>, DatasetError> {
        let place = self.paths.iter().position(|path| path == named);
        let labels = place.and_then(|place| self.labels.get(place));
        labels.map(|labels| found(labels, locate)).transpose()
    }
}

/// Adds the recordings whose moments the rows of a table are; all of them are of class `choice` says.
pub(super) fn add_long(
    builder: &mut DatasetBuilder,
    table: &Record,
    long: &LongTable,
    choice: &TableChoice,
    recipe: &FeatureRecipe,
) -> Result<(), DatasetError> {
    for recording in long.recordings(table, choice)? {
        let Some(class) = recording.class else {
            let reason = format!(
                "the class of recording {:?} is missing or changes",
                recording.group
            );
            builder.leave_out(&table.source.path, None, reason);
            continue;
        };
        let (record, group) = (&recording.record, recording.group.as_str());
        builder.add_record(
            record,
            recipe,
            &Label::Whole(class),
            Some(group),
            &mut |_| true,
        )?;
    }
    Ok(())
}

/// Number of rows of a table.
fn n_rows_of(record: &Record) -> usize {
    let lengths = record.channels.iter().map(|c| c.n_samples);
    lengths.min().unwrap_or(0)
}

/// A column that both tables have, and the row of the labels for each row of the table, where it has one.
type Key = (String, Vec<Option<usize>>);

/// The key by which labels are found: a column of the same name in both tables, without a value twice, that most rows
/// of the table share.
fn key_of(table: &Record, labels: &Record) -> Result<Option<Key>, DatasetError> {
    if labels.channels.len() < 2 {
        return Ok(None);
    }
    for channel in &labels.channels {
        let name = std::slice::from_ref(&channel.name);
        if table.channel_index(&channel.name).is_none() {
            continue;
        }
        let wanted = row_names(table, name, n_rows_of(table))?;
        let mut places = HashMap::new();
        let given = row_names(labels, name, n_rows_of(labels))?;
        for (row, value) in given.iter().enumerate() {
            places.insert(value.as_deref(), row);
        }
        let different: BTreeSet<Option<&str>> = wanted.iter().map(Option::as_deref).collect();
        let is_unique = places.len() == given.len() && different.len() == wanted.len();
        let is_whole = !places.contains_key(&None) && !different.contains(&None);
        let found = |value: &Option<String>| places.get(&value.as_deref()).copied();
        let rows: Vec<Option<usize>> = wanted.iter().map(found).collect();
        if is_unique && is_whole && 2 * rows.iter().flatten().count() > rows.len() {
            return Ok(Some((channel.name.clone(), rows)));
        }
    }
    Ok(None)
}

/// The row of the labels for each row of the table: by a key, or else one after the other.
fn rows_of_labels(table: &Record, labels: &Record) -> Result<Vec<Option<usize>>, DatasetError> {
    if let Some((_, rows)) = key_of(table, labels)? {
        return Ok(rows);
    }
    let (n_rows, n_labels) = (n_rows_of(table), n_rows_of(labels));
    match n_labels.checked_sub(n_rows) {
        // A header such as `0` looks like a label.
        Some(first @ (0 | 1)) => Ok((first..n_labels).map(Some).collect()),
        _ => Err(DatasetError::LabelRows {
            labels: labels.source.path.clone(),
            n_labels,
            n_rows,
            path: table.source.path.clone(),
        }),
    }
}

/// The table with the columns of its labels behind its own.
pub(super) fn with_labels(table: &Record, labels: &Record) -> Result<Record, DatasetError> {
    let n_rows = n_rows_of(table);
    let rows = rows_of_labels(table, labels)?;
    let mut data = Vec::new();
    for (number, channel) in table.channels.iter().enumerate() {
        data.push((channel.clone(), table.read(number, 0..n_rows)?));
    }
    for (number, channel) in labels.channels.iter().enumerate() {
        let is_known = |known: &Channel| known.name == channel.name;
        let mut channel = channel.clone();
        if table.channels.iter().any(is_known) {
            channel.name = format!("label {}", number + 1);
        }
        let values = labels.read_channel(number)?;
        let value = |row: &Option<usize>| row.map_or(f64::NAN, |row| values[row]);
        data.push((channel, rows.iter().map(value).collect()));
    }
    let name = table.source.path.to_string_lossy();
    let mut joined = Record::in_memory(table.format, table.kind, &name, data);
    joined.source = table.source.clone();
    joined
        .source
        .add_companion(&labels.source.path, labels.source.size_bytes);
    joined.warnings = [table.warnings.as_slice(), &labels.warnings].concat();
    joined.sheets.clone_from(&table.sheets);
    joined.undecided = [table.undecided.as_slice(), &labels.undecided].concat();
    Ok(joined)
}

/// The file beside a table that likely holds its labels: `y.csv` beside `X.csv`, `labels.csv` beside `data.csv`.
pub(super) fn labels_beside(table: &Path, files: &[PathBuf]) -> Option<PathBuf> {
    let stem = |path: &Path| {
        path.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase()
    };
    let own = stem(table);
    let mut wanted = vec![
        format!("{own}_labels"),
        format!("labels_{own}"),
        format!("{own}_y"),
    ];
    let is_x = |rest: &str| !rest.starts_with(|c: char| c.is_alphabetic());
    if let Some(rest) = own.strip_prefix('x').filter(|rest| is_x(rest)) {
        wanted.push(format!("y{rest}"));
    }
    for word in ["features", "data", "samples", "signals", "x"] {
        if let Some(rest) = own.strip_prefix(word) {
            let words = ["labels", "label", "targets", "target", "classes"];
            wanted.extend(words.map(|labels| format!("{labels}{rest}")));
        }
    }
    let is_text = |path: &&PathBuf| {
        let ending = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        matches!(ending.as_str(), "csv" | "tsv" | "txt" | "xlsx" | "ods")
    };
    let candidates = || files.iter().filter(is_text).filter(|path| *path != table);
    wanted
        .iter()
        .find_map(|name| candidates().find(|path| stem(path) == *name))
        .cloned()
}

/// The class that a file of labels tells: its only column, or the likeliest.
pub(super) fn choice_with_labels(table: &Record, labels: &Record) -> Option<TableChoice> {
    let joined = with_labels(table, labels).ok()?;
    let guessed = TableChoice::guess(labels);
    let class = match (&guessed, labels.channels.as_slice()) {
        (_, [_]) | (None, _) => joined.channels.last()?.name.clone(),
        (Some(guessed), _) => match &guessed.classes {
            TableClasses::Columns(names) => names.first()?.clone(),
            TableClasses::Whole(_) => return None,
        },
    };
    let of_labels = joined.channels.iter().skip(table.channels.len());
    let others: Vec<String> = of_labels.map(|c| c.name.clone()).collect();
    let key = key_of(table, labels).ok().flatten().map(|(name, _)| name);
    let used = |name: &String| others.contains(name) || key.as_ref() == Some(name);
    let features = table.channels.iter().filter(|c| is_feature(&c.kind));
    let features = features.map(|c| c.name.clone()).filter(|name| !used(name));
    Some(TableChoice {
        classes: TableClasses::Columns(vec![class]),
        group_column: None,
        feature_columns: Some(features.collect()),
    })
}
