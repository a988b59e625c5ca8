//! Data sets from tables: rows are samples, columns are features, a class and perhaps a group.

use serde::{Deserialize, Serialize};

use super::builder::DatasetBuilder;
use super::labels::{NameList, number_name};
use super::{DatasetError, Layout, Place};
use crate::records::{Channel, ChannelKind, Record};
use crate::settings::{SettingProblem, SettingProblems};

/// More different values than this tell no classes.
pub(super) const MAX_CLASSES: usize = 1000;

/// Column names that usually hold the class, in lower case.
const CLASS_NAMES: [&str; 10] = [
    "class",
    "label",
    "target",
    "y",
    "fault",
    "fault_type",
    "output",
    "output (s)",
    "category",
    "diagnosis",
];

/// Column names that usually hold the group, in lower case.
const GROUP_NAMES: [&str; 8] = [
    "group",
    "subject",
    "patient",
    "participant_id",
    "speaker",
    "record",
    "subject_id",
    "patient_id",
];

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
        let named = |known: &[&str]| {
            let is_known =
                |channel: &&Channel| known.contains(&channel.name.trim().to_lowercase().as_str());
            record.channels.iter().find(is_known)
        };
        let is_text = |channel: &&Channel| matches!(channel.kind, ChannelKind::Nominal { .. });
        let group = named(&GROUP_NAMES);
        let mut text_columns = record.channels.iter().rev().filter(is_text);
        let class = named(&CLASS_NAMES)
            .or_else(|| text_columns.find(|text| group.is_none_or(|g| g.name != text.name)))?;
        Some(Self {
            classes: TableClasses::Columns(vec![class.name.clone()]),
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
        let groups = match &choice.group_column {
            Some(column) => row_names(record, std::slice::from_ref(column), n_rows)?,
            None => vec![None; n_rows],
        };
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
        let is_text =
            |column: usize| matches!(record.channels[column].kind, ChannelKind::Nominal { .. });
        if let Some(names) = &choice.feature_columns {
            let mut columns = Vec::with_capacity(names.len());
            for name in names {
                let column = column(record, name)?;
                if is_text(column) {
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
        let (text, numeric): (Vec<usize>, Vec<usize>) = free.partition(|c| is_text(*c));
        for column in text {
            self.note(format!(
                "column {:?} contains text and was excluded: {}",
                record.channels[column].name,
                record.source.path.display()
            ));
        }
        Ok(numeric)
    }
}

fn column(record: &Record, name: &str) -> Result<usize, DatasetError> {
    record
        .channel_index(name)
        .ok_or_else(|| DatasetError::NoColumn {
            name: name.to_owned(),
            columns: record.first_channel_names(),
            path: record.source.path.clone(),
        })
}

/// The text of one or more columns in every row, joined by "-"; `None` where one of them is missing.
fn row_names(
    record: &Record,
    names: &[String],
    n_rows: usize,
) -> Result<Vec<Option<String>>, DatasetError> {
    let mut rows: Vec<Option<String>> = vec![Some(String::new()); n_rows];
    for (position, name) in names.iter().enumerate() {
        let column = column(record, name)?;
        let values = record.read(column, 0..n_rows)?;
        let kind = &record.channels[column].kind;
        for (row, value) in rows.iter_mut().zip(values) {
            let text = match kind {
                _ if value.is_nan() => None,
                ChannelKind::Nominal { levels } => levels.get(value as usize).cloned(),
                ChannelKind::Analog | ChannelKind::Digital { .. } => Some(number_name(value)),
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
        assert_eq!(data.sample(1), [2.0, 0.5]);
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
        assert!(refuse(&record, &text_feature).contains("holds text"));
        let many: Vec<f64> = (0..1001).map(f64::from).collect();
        let text = refuse(&table(&[("a", &many), ("b", &many)]), &by_columns(&["a"]));
        assert!(text.contains("more than 1000 different values"), "{text}");
        assert!(matches!(
            DatasetBuilder::new().add_table(&table(&[("a", &[1.0])]), &by_columns(&["a"])),
            Err(DatasetError::NoFeatures)
        ));
    }
}
