//! Data sets from tables: rows are samples, columns are features, a class and perhaps a group.

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
const CLASS_NAMES: [&str; 16] = [
    "class",
    "class label",
    "label",
    "target",
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
        let class = named(&CLASS_NAMES)
            .find(may_be_class)
            .or_else(|| text_columns().find(may_be_class));
        let classes = match class {
            Some(class) => vec![class.name.clone()],
            None => flag_columns(record)?,
        };
        Some(Self {
            classes: TableClasses::Columns(classes),
            group_column: group.map(|channel| channel.name.clone()),
            feature_columns: None,
        })
    }

    /// What is wrong with the settings.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        let is_told = self.classes != TableClasses::Columns(Vec::new());
        let text = "no column is the class: choose one".to_owned();
        problems.require(is_told, "classes", text);
        problems.into_list()
    }
}

impl DatasetBuilder {
    /// Adds the rows of a table. Rows without class are omitted; missing features stay missing.
    pub fn add_table(&mut self, record: &Record, choice: &TableChoice) -> Result<(), DatasetError> {
        let path = record.source.path.as_path();
        let n_rows = record
            .channels
            .iter()
            .map(|c| c.n_samples)
            .min()
            .unwrap_or(0);
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
        let is_label = |name: &&String| LABEL_NAMES.contains(&plain_name(name).as_str());
        if choice.feature_columns.is_none()
            && let Some(name) = names.iter().find(is_label)
        {
            self.note(format!(
                "column {name:?} is a feature, but is named as a class is; leave it out (--features) if it tells the answer: {}",
                path.display()
            ));
        }
        if let Err(reason) = self.join_features(&names, Layout::Plain) {
            self.leave_out(path, None, reason);
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
        let free =
            (0..record.channels.len()).filter(|c| !used.contains(&&record.channels[*c].name));
        let (features, others): (Vec<usize>, Vec<usize>) =
            free.partition(|c| is_feature(&record.channels[*c].kind));
        for column in others {
            let channel = &record.channels[column];
            let what = match channel.kind {
                ChannelKind::Time => "dates or times",
                _ => "text",
            };
            self.note(format!(
                "column {:?} contains {what} and was excluded: {}",
                channel.name,
                record.source.path.display()
            ));
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
    /// In a table of fewer rows every class may have one row.
    const FEW_ROWS: usize = 8;
    let is_enough = |n_different: usize| {
        n_different <= MAX_CLASSES
            && (channel.n_samples < FEW_ROWS || 2 * n_different <= channel.n_samples)
    };
    match &channel.kind {
        ChannelKind::Nominal { levels } => is_enough(levels.len()),
        ChannelKind::Time => false,
        ChannelKind::Analog | ChannelKind::Digital { .. } => {
            let values = record
                .channel_index(&channel.name)
                .and_then(|column| record.read_channel(column).ok());
            let mut values = values.unwrap_or_default();
            values.retain(|value| !value.is_nan());
            let is_whole = values.iter().all(|value| value.fract() == 0.0);
            values.sort_by(f64::total_cmp);
            values.dedup();
            is_whole && is_enough(values.len())
        }
    }
}

/// Columns of 0 and 1 at the beginning or the end of a table of other numbers: the class, one column each.
fn flag_columns(record: &Record) -> Option<Vec<String>> {
    let flags = |column: usize| -> Option<Vec<f64>> {
        let is_number = record.channels[column].kind == ChannelKind::Analog;
        let values = is_number.then(|| record.read_channel(column).ok())??;
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
    use crate::records::{Format, Kind, Unit};
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
