//! Data sets from tables: rows are samples, columns are features, a class and perhaps a group.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::builder::DatasetBuilder;
use super::labels::{NameList, number_name};
use super::{DatasetError, Layout, Place};
use crate::records::table::{are_truth_values, plain_name};
use crate::records::{Channel, ChannelKind, Record};
use crate::settings::{SettingProblem, SettingProblems};

/// More different values than this tell no classes.
pub(super) const MAX_CLASSES: usize = 1000;

/// Names that hardly anything but a class has.
const LABEL_NAMES: [&str; 4] = ["class", "class label", "label", "target"];

/// Column names that usually hold the class, the surest first; lower case, words apart by a space.
pub(super) const CLASS_NAMES: [&str; 23] = [
    "class",
    "class label",
    "label",
    "target",
    "classes",
    "labels",
    "targets",
    "class id",
    "ground truth",
    "gnd",
    "species",
    "fault type",
    "fault class",
    "fault",
    "category",
    "diagnosis",
    "condition",
    "outcome",
    "output",
    "output (s)",
    "state",
    "type",
    "y",
];

/// Column names that usually hold the group, the surest first.
const GROUP_NAMES: [&str; 9] = [
    "group",
    "subject",
    "patient",
    "participant id",
    "participant",
    "speaker",
    "record",
    "subject id",
    "patient id",
];

/// Column names that usually tell which case, of several rows, a row belongs to, the surest first.
const CASE_NAMES: [&str; 14] = [
    "id",
    "case",
    "case id",
    "sample id",
    "trial",
    "trial id",
    "series",
    "series id",
    "sequence",
    "recording",
    "recording id",
    "record id",
    "session id",
    "file",
];

/// Fewest cases of every class that can be dealt to folds.
const CASES_FOR_FOLDS: usize = 5;

/// Most columns of 0 and 1 that together may be the class, and fewest where several of them may be 1.
const MAX_FLAGS: usize = 8;
const MIN_FLAGS: usize = 3;

/// Where the class of a row stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableClasses {
    /// In columns; several are joined to one name (flags for phases and ground, say).
    Columns(Vec<String>),
    /// All rows are of this class.
    Whole(String),
}

/// Which columns of a table mean what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableChoice {
    /// Where the class stands.
    pub classes: TableClasses,
    /// The column of the group, if there is one.
    pub group_column: Option<String>,
    /// The columns that are features; without a choice all numeric ones that are neither class nor group.
    pub feature_columns: Option<Vec<String>>,
}

impl TableChoice {
    /// Where class and group stand, in a few words.
    pub(super) fn in_words(&self) -> String {
        let classes = match &self.classes {
            TableClasses::Columns(names) if names.len() > 1 => {
                format!("columns {names:?} together")
            }
            TableClasses::Columns(names) => format!("column {:?}", names.join("")),
            TableClasses::Whole(class) => format!("all rows are {class:?}"),
        };
        match &self.group_column {
            Some(group) => format!("{classes}, groups in column {group:?}"),
            None => classes,
        }
    }

    /// The likely meaning of a table, by the names and kinds of its columns; `None` where no column looks like a class.
    pub fn guess(record: &Record) -> Option<Self> {
        let named = |known: &'static [&str]| {
            let with = |name: &&str| {
                let is_it = |channel: &&Channel| plain_name(&channel.name) == **name;
                record.channels.iter().find(is_it)
            };
            known.iter().filter_map(with)
        };
        let group = named(&GROUP_NAMES).next();
        let is_group = |channel: &Channel| group.is_some_and(|group| group.name == channel.name);
        let is_text = |channel: &&Channel| matches!(channel.kind, ChannelKind::Nominal { .. });
        let may_be_class =
            |channel: &&Channel| !is_group(channel) && tells_classes(record, channel);
        let text_columns = || record.channels.iter().rev().filter(is_text);
        // Of `label 1` and `label 2` nothing tells which is meant.
        let is_numbered = |channel: &&Channel| {
            let name = plain_name(&channel.name);
            let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
            base.len() < name.len() && LABEL_NAMES.contains(&base)
        };
        let numbered = record
            .channels
            .iter()
            .filter(is_numbered)
            .filter(may_be_class);
        if numbered.count() > 1 && !named(&CLASS_NAMES).any(|channel| may_be_class(&channel)) {
            return None;
        }
        // Words for yes and no may be one of several flags.
        let words = || text_columns().filter(|channel| !is_feature(&channel.kind));
        let alone = |class: &Channel| vec![class.name.clone()];
        let classes = named(&CLASS_NAMES)
            .find(may_be_class)
            .or_else(|| words().find(may_be_class))
            .map(alone)
            .or_else(|| flag_columns(record))
            .or_else(|| text_columns().find(may_be_class).map(alone))?;
        Some(Self {
            classes: TableClasses::Columns(classes),
            group_column: group.map(|channel| channel.name.clone()),
            feature_columns: None,
        })
    }

    /// With the column that tells which rows are of one case as the group, if none is and there are cases enough.
    pub(super) fn grouped_by_case(mut self, record: &Record) -> Self {
        if self.group_column.is_none()
            && let TableClasses::Columns(names) = &self.classes
            && let Ok(classes) = row_names(record, names, n_rows(record))
            && let Some((name, fewest)) = column_of_cases(record, &classes)
            && fewest >= CASES_FOR_FOLDS
        {
            self.group_column = Some(name);
        }
        self
    }

    /// What is wrong with the settings.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        let is_told = self.classes != TableClasses::Columns(Vec::new());
        let text = "no column is the class: choose one".to_owned();
        problems.require(is_told, "classes", text);
        let of_classes: &[String] = match &self.classes {
            TableClasses::Columns(names) => names,
            TableClasses::Whole(_) => &[],
        };
        let mut features = self.feature_columns.iter().flatten();
        if let Some(name) = features.find(|name| of_classes.contains(name)) {
            let text = format!("column {name:?} is the class and cannot be a feature too");
            problems.require(false, "feature_columns", text);
        }
        problems.into_list()
    }
}

impl DatasetBuilder {
    /// Adds the rows of a table. Rows without class are omitted; missing features stay missing.
    pub fn add_table(&mut self, record: &Record, choice: &TableChoice) -> Result<(), DatasetError> {
        let path = record.source.path.as_path();
        for warning in &record.warnings {
            self.note(format!("{warning}: {}", path.display()));
        }
        let n_rows = n_rows(record);
        let classes = match &choice.classes {
            TableClasses::Whole(class) => vec![Some(class.clone()); n_rows],
            TableClasses::Columns(names) => row_names(record, names, n_rows)?,
        };
        check_number_of_classes(&classes, &choice.classes)?;
        check_decided(record, choice)?;
        let groups = match &choice.group_column {
            Some(column) => row_names(record, std::slice::from_ref(column), n_rows)?,
            None => vec![None; n_rows],
        };
        if choice.group_column.is_none()
            && let Some((name, _)) = column_of_cases(record, &classes)
        {
            self.note(format!(
                "column {name:?} has several rows of one class for each value, so rows of one value may be learned from and tested; make it the group (--group) if they are of one case: {}",
                path.display()
            ));
        }
        let is_time = |channel: &Channel| channel.kind == ChannelKind::Time;
        if let Some(column) = record.channels.iter().position(is_time) {
            self.note_row_times(path, record.read(column, 0..n_rows)?);
        }
        let columns = self.feature_columns(record, choice)?;
        let mut names = Vec::with_capacity(columns.len());
        let mut values = Vec::with_capacity(columns.len());
        for column in columns {
            let column_values = record.read(column, 0..n_rows)?;
            let name = record.channels[column].name.clone();
            let is_empty = column_values.iter().all(|value| value.is_nan());
            if is_empty && choice.feature_columns.is_none() {
                self.note(format!(
                    "column {name:?} is empty and was excluded: {}",
                    path.display()
                ));
            } else {
                names.push(name);
                values.push(column_values);
            }
        }
        if names.is_empty() {
            return Err(DatasetError::NoFeatures);
        }
        for (name, values) in names.iter().zip(&values) {
            let reason = match plain_name(name).as_str() {
                _ if choice.feature_columns.is_some() => continue,
                _ if are_paired(values, &classes) => "has one value for each class",
                plain if LABEL_NAMES.contains(&plain) => "is named as a class is",
                _ => continue,
            };
            self.note(format!(
                "column {name:?} is a feature, but {reason}; leave it out (--features) if it tells the answer: {}",
                path.display()
            ));
        }
        if let Err(reason) = self.join_features(&names, Layout::Plain) {
            self.leave_out(path, None, reason.to_string());
            return Ok(());
        }
        let mut row_values = vec![0.0; names.len()];
        for (row, (class, group)) in classes.iter().zip(&groups).enumerate() {
            let Some(class) = class else {
                self.leave_out(
                    path,
                    Some(Place::Row(row)),
                    "the class is missing".to_owned(),
                );
                continue;
            };
            for (value, column) in row_values.iter_mut().zip(&values) {
                *value = column[row];
            }
            self.push(path, Place::Row(row), &row_values, class, group.as_deref())?;
        }
        Ok(())
    }

    /// The columns that become features.
    fn feature_columns(
        &mut self,
        record: &Record,
        choice: &TableChoice,
    ) -> Result<Vec<usize>, DatasetError> {
        if let Some(names) = &choice.feature_columns {
            let mut columns = Vec::with_capacity(names.len());
            for name in names {
                let column = column(record, name)?;
                let kind = &record.channels[column].kind;
                if *kind != ChannelKind::Time && !is_feature(kind) {
                    return Err(DatasetError::TextColumn {
                        name: name.clone(),
                        path: record.source.path.clone(),
                    });
                }
                columns.push(column);
            }
            return Ok(columns);
        }
        let mut used: Vec<&String> = choice.group_column.iter().collect();
        if let TableClasses::Columns(names) = &choice.classes {
            used.extend(names);
        }
        let mut features = Vec::with_capacity(record.channels.len());
        for (column, channel) in record.channels.iter().enumerate() {
            let what = match channel.kind {
                _ if used.contains(&&channel.name) => continue,
                ChannelKind::Time => "contains dates or times",
                _ if !is_feature(&channel.kind) => "contains text",
                // Of sorted rows their number would tell the class.
                _ if counts_rows(record, channel) => "counts the rows",
                _ => {
                    features.push(column);
                    continue;
                }
            };
            let (name, path) = (&channel.name, record.source.path.display());
            self.note(format!("column {name:?} {what} and was excluded: {path}"));
        }
        Ok(features)
    }
}

/// Whether a column can be a feature as it is: numbers, and words for yes and no, which are 1 and 0.
pub fn is_feature(kind: &ChannelKind) -> bool {
    match kind {
        ChannelKind::Analog | ChannelKind::Digital { .. } => true,
        ChannelKind::Nominal { levels } => are_truth_values(levels),
        ChannelKind::Time => false,
    }
}

/// Whether the values of a column can tell classes: names or whole numbers, most of them more than once.
fn tells_classes(record: &Record, channel: &Channel) -> bool {
    match &channel.kind {
        ChannelKind::Nominal { levels } => are_few(levels.len(), channel.n_samples),
        ChannelKind::Time => false,
        ChannelKind::Analog | ChannelKind::Digital { .. } => {
            let values = record
                .channel_index(&channel.name)
                .and_then(|column| record.read_channel(column).ok());
            tell_classes(values.unwrap_or_default())
        }
    }
}

/// Whether numbers can tell classes: whole ones, most of them more than once.
pub(super) fn tell_classes(mut values: Vec<f64>) -> bool {
    values.retain(|value| !value.is_nan());
    let (n_values, is_whole) = (
        values.len(),
        values.iter().all(|value| value.fract() == 0.0),
    );
    values.sort_by(f64::total_cmp);
    values.dedup();
    is_whole && are_few(values.len(), n_values)
}

/// Whether so many different values can be classes.
fn are_few(n_different: usize, n_values: usize) -> bool {
    /// Of fewer values every class may have one.
    const FEW_VALUES: usize = 8;
    n_different <= MAX_CLASSES && (n_values < FEW_VALUES || 2 * n_different <= n_values)
}

/// Whether a column that is called as row numbers are, or has no name, rises by 1 from row to row.
fn counts_rows(record: &Record, channel: &Channel) -> bool {
    const NAMES: [&str; 9] = [
        "id",
        "index",
        "no",
        "nr",
        "row",
        "unnamed: 0",
        "column 1",
        "",
        "#",
    ];
    let name = channel.name.to_lowercase();
    NAMES.contains(&name.trim_end_matches('.'))
        && channel.n_samples > 2
        && record
            .channel_index(&channel.name)
            .and_then(|column| record.read_channel(column).ok())
            .is_some_and(|values| values.windows(2).all(|pair| pair[1] - pair[0] == 1.0))
}

/// Whether every class has one value, and every value is that of one class, in rows that are more than the classes.
fn are_paired(values: &[f64], classes: &[Option<String>]) -> bool {
    let (mut value_of, mut class_of) = (HashMap::new(), HashMap::new());
    let labelled = values.iter().zip(classes).filter_map(|(value, class)| {
        let class = class.as_deref()?;
        (!value.is_nan()).then_some((value.to_bits(), class))
    });
    let mut n_rows = 0;
    for (value, class) in labelled {
        n_rows += 1;
        if *value_of.entry(class).or_insert(value) != value
            || *class_of.entry(value).or_insert(class) != class
        {
            return false;
        }
    }
    value_of.len() > 1 && 2 * value_of.len() <= n_rows
}

fn n_rows(record: &Record) -> usize {
    let lengths = record.channels.iter().map(|channel| channel.n_samples);
    lengths.min().unwrap_or(0)
}

/// The column that tells by its name and its values which rows are of one case, and the fewest cases that a class has.
fn column_of_cases(record: &Record, classes: &[Option<String>]) -> Option<(String, usize)> {
    CASE_NAMES.iter().find_map(|known| {
        let is_it = |channel: &&Channel| plain_name(&channel.name) == *known;
        let name = record.channels.iter().find(is_it)?.name.clone();
        let cases = row_names(record, std::slice::from_ref(&name), classes.len()).ok()?;
        Some((name, fewest_cases(&cases, classes)?))
    })
}

/// The fewest cases that a class has, where every class has several, and cases have several rows, all of one class.
fn fewest_cases(cases: &[Option<String>], classes: &[Option<String>]) -> Option<usize> {
    let mut class_of: BTreeMap<&str, &str> = BTreeMap::new();
    let mut n_rows = 0;
    for (case, class) in cases.iter().zip(classes) {
        let Some(class) = class.as_deref() else {
            continue;
        };
        n_rows += 1;
        if *class_of.entry(case.as_deref()?).or_insert(class) != class {
            return None;
        }
    }
    let mut n_cases: BTreeMap<&str, usize> = BTreeMap::new();
    for class in class_of.values() {
        *n_cases.entry(*class).or_default() += 1;
    }
    let has_several_rows = n_rows >= 2 * class_of.len() && n_cases.len() > 1;
    let fewest = n_cases.into_values().min().filter(|fewest| *fewest > 1);
    fewest.filter(|_| has_several_rows)
}

/// Columns of 0 and 1, or of yes and no, at the beginning or the end of a table of other columns: the class, one column
/// each.
fn flag_columns(record: &Record) -> Option<Vec<String>> {
    let flags = |column: usize| -> Option<Vec<f64>> {
        let may_be = is_feature(&record.channels[column].kind);
        let values = may_be.then(|| record.read_channel(column).ok())??;
        let is_flag = |value: &f64| *value == 0.0 || *value == 1.0;
        (values.iter().all(is_flag) && values.contains(&1.0)).then_some(values)
    };
    let all: Vec<Option<Vec<f64>>> = (0..record.channels.len()).map(flags).collect();
    let n_flags = all.iter().flatten().count();
    let at_start = all.iter().take_while(|flags| flags.is_some()).count();
    let at_end = all.iter().rev().take_while(|flags| flags.is_some()).count();
    let is_block = (2..=MAX_FLAGS).contains(&n_flags)
        && n_flags < all.len()
        && (at_start == n_flags || at_end == n_flags);
    if !is_block || (n_flags < MIN_FLAGS && !is_one_hot(&all.iter().flatten().collect::<Vec<_>>()))
    {
        return None;
    }
    let names = record.channels.iter().zip(&all);
    let names = names.filter(|(_, flags)| flags.is_some());
    Some(names.map(|(channel, _)| channel.name.clone()).collect())
}

/// Whether exactly one of several columns of 0 and 1 is 1 in every row.
fn is_one_hot(columns: &[&Vec<f64>]) -> bool {
    let n_rows = columns.first().map_or(0, |column| column.len());
    let is_flag = |value: f64| value == 0.0 || value == 1.0;
    columns.len() > 1
        && n_rows > 0
        && (0..n_rows).all(|row| {
            let mut values = columns.iter().map(|column| column[row]);
            values.clone().all(is_flag) && values.by_ref().sum::<f64>() == 1.0
        })
}

/// Refuses a column that is used and can be read in two ways.
fn check_decided(record: &Record, choice: &TableChoice) -> Result<(), DatasetError> {
    let is_used = |name: &&String| {
        let features = choice.feature_columns.as_ref();
        features.is_none_or(|features| features.contains(name))
            || matches!(&choice.classes, TableClasses::Columns(classes) if classes.contains(name))
    };
    match record.undecided.iter().find(is_used) {
        Some(name) => Err(DatasetError::Undecided {
            name: name.clone(),
            path: record.source.path.clone(),
        }),
        None => Ok(()),
    }
}

pub(super) fn column(record: &Record, name: &str) -> Result<usize, DatasetError> {
    record
        .channel_index(name)
        .ok_or_else(|| DatasetError::NoColumn {
            name: name.to_owned(),
            columns: record.first_channel_names(),
            path: record.source.path.clone(),
        })
}

/// The text of one or more columns in every row, joined by "-"; `None` where one of them is missing. Of columns
/// exactly one of which is 1 in every row, the name of that column.
pub(super) fn row_names(
    record: &Record,
    names: &[String],
    n_rows: usize,
) -> Result<Vec<Option<String>>, DatasetError> {
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let column = column(record, name)?;
        columns.push((
            &record.channels[column].kind,
            record.read(column, 0..n_rows)?,
        ));
    }
    let values: Vec<&Vec<f64>> = columns.iter().map(|(_, values)| values).collect();
    if is_one_hot(&values) {
        let one_of = |row: usize| values.iter().position(|column| column[row] == 1.0);
        let name_of = |row: usize| one_of(row).map(|column| names[column].clone());
        return Ok((0..n_rows).map(name_of).collect());
    }
    let mut rows: Vec<Option<String>> = vec![Some(String::new()); n_rows];
    for (position, (kind, values)) in columns.iter().enumerate() {
        for (row, value) in rows.iter_mut().zip(values) {
            let text = match kind {
                _ if value.is_nan() => None,
                ChannelKind::Nominal { levels } => levels.get(*value as usize).cloned(),
                ChannelKind::Analog | ChannelKind::Digital { .. } | ChannelKind::Time => {
                    Some(number_name(*value))
                }
            };
            *row = row.take().zip(text).map(|(before, text)| {
                if position == 0 {
                    text
                } else {
                    format!("{before}-{text}")
                }
            });
        }
    }
    Ok(rows)
}

fn check_number_of_classes(
    classes: &[Option<String>],
    choice: &TableClasses,
) -> Result<(), DatasetError> {
    let TableClasses::Columns(names) = choice else {
        return Ok(());
    };
    let mut different = NameList::default();
    for class in classes.iter().flatten() {
        different.number(class);
        if different.len() > MAX_CLASSES {
            return Err(DatasetError::TooManyClasses {
                name: format!("column {:?}", names.join(", ")),
                most: MAX_CLASSES,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Built;
    use crate::records::{FilePlace, Format, Kind, Unit, Warning};
    use std::sync::Arc;

    const NAN: f64 = f64::NAN;

    fn table(columns: &[(&str, &[f64])]) -> Record {
        let data = columns.iter().map(|(name, values)| {
            (
                Channel::analog(*name, Unit::none(), None, 0),
                values.to_vec(),
            )
        });
        Record::in_memory(Format::Csv, Kind::Table, "faults.csv", data.collect())
    }

    fn make_text(record: &mut Record, column: usize, levels: &[&str]) {
        let levels: Vec<String> = levels.iter().map(|l| (*l).to_owned()).collect();
        record.channels[column].kind = ChannelKind::Nominal {
            levels: Arc::from(levels),
        };
    }

    #[test]
    fn of_two_numbered_labels_none_is_guessed() {
        let column = [0.0, 1.0, 0.0, 1.0];
        for (names, expected) in [
            (["x", "label1", "label2"], None),
            (["x", "Label 1", "Label 2"], None),
            (["label1", "label2", "class"], Some("class")),
            (["x", "y2", "label1"], Some("label1")),
        ] {
            let mut record = table(&names.map(|name| (name, &column[..])));
            for (place, name) in names.iter().enumerate() {
                if *name != "x" {
                    make_text(&mut record, place, &["open", "shut"]);
                }
            }
            let guess = TableChoice::guess(&record);
            let classes = guess.map(|choice| choice.classes);
            let expected = expected.map(|name| TableClasses::Columns(vec![name.to_owned()]));
            assert_eq!(classes, expected, "{names:?}");
        }
    }

    fn build(record: &Record, choice: &TableChoice) -> Built {
        let mut builder = DatasetBuilder::new();
        builder
            .add_table(record, choice)
            .expect("the columns exist");
        builder.finish().expect("there are rows")
    }

    fn by_columns(names: &[&str]) -> TableChoice {
        TableChoice {
            classes: TableClasses::Columns(names.iter().map(|n| (*n).to_owned()).collect()),
            group_column: None,
            feature_columns: None,
        }
    }

    #[test]
    fn flags_in_several_columns_make_one_class() {
        let record = table(&[
            ("G", &[1.0, 0.0, 1.0]),
            ("A", &[1.0, 0.0, 1.0]),
            ("Ia", &[-151.3, 2.0, NAN]),
            ("Va", &[0.4, 0.5, 0.6]),
        ]);
        let built = build(&record, &by_columns(&["G", "A"]));
        let data = &built.dataset;
        assert_eq!(data.class_names(), ["1-1", "0-0"]);
        assert_eq!(data.feature_names(), ["Ia", "Va"]);
        assert_eq!(*data.sample(1), [2.0, 0.5]);
        assert!(data.sample(2)[0].is_nan() && data.n_missing() == 1);
        assert_eq!(data.origin(2).place, Place::Row(2));
        assert!(data.groups().is_none());
    }

    #[test]
    fn the_meaning_of_columns_is_guessed() {
        let mut record = table(&[
            ("x", &[1.0, 2.0, 3.0]),
            ("Subject", &[7.0, 7.0, 8.0]),
            ("remark", &[0.0, 1.0, 0.0]),
            ("Class", &[1.0, 0.0, NAN]),
            ("empty", &[NAN, NAN, NAN]),
        ]);
        make_text(&mut record, 2, &["fine", "odd"]);
        make_text(&mut record, 3, &["closed", "open"]);
        let choice = TableChoice::guess(&record).expect("there is a class column");
        assert_eq!(choice.classes, TableClasses::Columns(vec!["Class".into()]));
        let built = build(&record, &choice);
        assert_eq!(built.dataset.class_names(), ["open", "closed"]);
        assert_eq!(built.dataset.group_names(), ["7"]);
        assert_eq!(built.dataset.feature_names(), ["x"]);
        assert_eq!(built.left_out[0].reason, "the class is missing");
        assert_eq!(built.notes.len(), 2);
        assert_eq!(
            TableChoice::guess(&table(&[("a", &[1.0]), ("b", &[2.0])])),
            None
        );
    }

    #[test]
    fn the_class_is_told_by_the_surest_name_of_a_fitting_kind() {
        let guessed = |columns: &[(&str, &[f64])]| {
            let choice = TableChoice::guess(&table(columns))?;
            match choice.classes {
                TableClasses::Columns(names) => Some(names.join(" ")),
                TableClasses::Whole(_) => None,
            }
        };
        let (whole, real): (&[f64], &[f64]) = (&[1.0, 2.0, 1.0], &[0.1, 0.2, 0.3]);
        let both = guessed(&[("y", whole), ("x", real), ("Fault_Type", whole)]);
        assert_eq!(both.as_deref(), Some("Fault_Type"));
        assert_eq!(
            guessed(&[("class", real), ("x", real), ("y", whole)]).as_deref(),
            Some("y")
        );
        assert_eq!(guessed(&[("x", real), ("y", real)]), None);
        let many: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(guessed(&[("x", &many), ("y", &many)]), None);
    }

    #[test]
    fn columns_of_flags_are_joined_and_one_hot_columns_named() {
        let (a, b): (&[f64], &[f64]) = (&[1.0, 0.0, 0.0], &[0.0, 1.0, 1.0]);
        let record = table(&[("SLG", a), ("LL", b), ("Ia", &[5.0, 6.0, 7.0])]);
        let choice = TableChoice::guess(&record).expect("one column is 1 in every row");
        assert_eq!(build(&record, &choice).dataset.class_names(), ["SLG", "LL"]);
        let record = table(&[("Ia", &[5.0, 6.0, 7.0]), ("G", a), ("B", a), ("A", b)]);
        let choice = TableChoice::guess(&record).expect("three flags");
        assert_eq!(
            build(&record, &choice).dataset.class_names(),
            ["1-1-0", "0-0-1"]
        );
        let mut record = table(&[("Ia", &[5.0, 6.0, 7.0]), ("y_A", a), ("y_B", b)]);
        for column in [1, 2] {
            make_text(&mut record, column, &["False", "True"]);
        }
        let choice = TableChoice::guess(&record).expect("one is yes in every row");
        assert_eq!(
            build(&record, &choice).dataset.class_names(),
            ["y_A", "y_B"]
        );
        let alone = table(&[("on", a), ("off", a), ("Ia", &[5.0, 6.0, 7.0])]);
        assert_eq!(
            TableChoice::guess(&alone),
            None,
            "two flags may be features"
        );
    }

    #[test]
    fn words_for_yes_and_no_are_features_and_times_are_not() {
        let mut record = table(&[
            ("trip", &[0.0, 1.0]),
            ("when", &[5.0, 6.0]),
            ("c", &[0.0, 1.0]),
        ]);
        make_text(&mut record, 0, &["no", "yes"]);
        record.channels[1].kind = ChannelKind::Time;
        let built = build(&record, &by_columns(&["c"]));
        assert_eq!(built.dataset.feature_names(), ["trip"]);
        assert!(
            built.notes[0].contains("dates or times"),
            "{:?}",
            built.notes
        );
    }

    #[test]
    fn a_column_that_can_be_read_in_two_ways_is_asked_about() {
        let mut record = table(&[("x", &[1.234, 5.678]), ("c", &[0.0, 1.0])]);
        record.undecided = vec!["x".into()];
        let refused = DatasetBuilder::new().add_table(&record, &by_columns(&["c"]));
        assert!(matches!(refused, Err(DatasetError::Undecided { .. })));
    }

    #[test]
    fn what_would_tell_the_class_is_left_out_or_named() {
        let (class, code): (&[f64], &[f64]) = (&[0.0, 1.0, 0.0, 1.0], &[7.0, 9.0, 7.0, 9.0]);
        let mut record = table(&[
            ("Id", &[1.0, 2.0, 3.0, 4.0]),
            ("x", &[1.0, 2.0, 3.0, 5.0]),
            ("code", code),
            ("c", class),
        ]);
        record.warnings = vec![Warning {
            place: FilePlace::Line(3),
            text: "assumed".to_owned(),
        }];
        let built = build(&record, &by_columns(&["c"]));
        assert_eq!(built.dataset.feature_names(), ["x", "code"]);
        let told = [
            "line 3: assumed",
            "counts the rows",
            "one value for each class",
        ];
        assert_eq!(built.notes.len(), told.len(), "{:?}", built.notes);
        for (note, told) in built.notes.iter().zip(told) {
            assert!(note.contains(told), "{note}");
        }
        let twice = TableChoice {
            feature_columns: Some(vec!["x".into(), "c".into()]),
            ..by_columns(&["c"])
        };
        assert_eq!(twice.problems().len(), 1);
    }

    #[test]
    fn rows_of_one_case_are_named_and_grouped_where_there_are_enough() {
        let of_cases = |n_cases: usize| {
            let ids: Vec<f64> = (0..3 * n_cases).map(|row| (row / 3) as f64).collect();
            let classes: Vec<f64> = ids.iter().map(|id| id % 2.0).collect();
            let values: Vec<f64> = (0..ids.len()).map(|row| row as f64 * 0.7).collect();
            table(&[("id", &ids), ("value", &values), ("class", &classes)])
        };
        let grouped = |record: &Record| by_columns(&["class"]).grouped_by_case(record).group_column;
        assert_eq!(grouped(&of_cases(10)).as_deref(), Some("id"));
        let few = of_cases(4);
        assert_eq!(grouped(&few), None);
        let built = build(&few, &by_columns(&["class"]));
        assert!(
            built.notes[0].contains("make it the group"),
            "{:?}",
            built.notes
        );
        let one_row_each = table(&[
            ("id", &[1.0, 2.0, 3.0, 4.0]),
            ("class", &[0.0, 1.0, 0.0, 1.0]),
        ]);
        assert_eq!(grouped(&one_row_each), None);
    }

    #[test]
    fn one_file_per_class_joins_by_columns() {
        let mut builder = DatasetBuilder::new();
        for class in ["SLG", "LL"] {
            let choice = TableChoice {
                classes: TableClasses::Whole(class.into()),
                group_column: None,
                feature_columns: None,
            };
            builder
                .add_table(&table(&[("Ia", &[1.0, 2.0])]), &choice)
                .expect("fits");
        }
        let data = builder.finish().expect("rows").dataset;
        assert_eq!(data.class_counts(), [2, 2]);
        assert_eq!(data.class_names(), ["SLG", "LL"]);
    }

    #[test]
    fn wrong_choices_are_refused_by_name() {
        let mut record = table(&[("a", &[1.0]), ("t", &[0.0])]);
        make_text(&mut record, 1, &["word"]);
        let refuse = |record: &Record, choice: &TableChoice| {
            DatasetBuilder::new()
                .add_table(record, choice)
                .expect_err("wrong")
                .to_string()
        };
        let text = refuse(&record, &by_columns(&["b"]));
        assert_eq!(
            text,
            "column \"b\" is not in the table, which has a, t: faults.csv"
        );
        let text_feature = TableChoice {
            feature_columns: Some(vec!["t".into()]),
            ..by_columns(&["a"])
        };
        assert!(refuse(&record, &text_feature).contains("contains text"));
        let many: Vec<f64> = (0..1001).map(f64::from).collect();
        let text = refuse(&table(&[("a", &many), ("b", &many)]), &by_columns(&["a"]));
        assert!(text.contains("more than 1000 different values"), "{text}");
        assert!(matches!(
            DatasetBuilder::new().add_table(&table(&[("a", &[1.0])]), &by_columns(&["a"])),
            Err(DatasetError::NoFeatures)
        ));
    }
}
