//! Which columns of a table are class, group and features, as told on the command line.

use std::collections::HashSet;

use clap::Args;

use super::ending::Failure;
use atomscope_engine::dataset::{DataPlan, DataSettings, TableChoice, TableClasses};
use atomscope_engine::records::table::DecimalSign;
use atomscope_engine::records::{Mode, Record, open_with};

/// What the columns of a table mean.
#[derive(Debug, Args, Default)]
pub(super) struct ColumnArguments {
    /// The column of the class, by name or number from 1; several are joined
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    class: Vec<String>,
    /// The column of the group: rows of one group never stand on both sides of a split
    #[arg(long, value_name = "COLUMN")]
    group: Option<String>,
    /// The columns that are features, by name or number from 1
    #[arg(long, value_name = "A,B,5-20", value_delimiter = ',')]
    features: Vec<String>,
    /// The decimal sign of numbers such as 1,234: comma or point
    #[arg(long, value_name = "SIGN", value_parser = decimal_sign)]
    decimal: Option<DecimalSign>,
    /// The sheet of a workbook that is the table
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
    /// Refuse a table that leaves something to be assumed
    #[arg(long)]
    strict: bool,
}

fn decimal_sign(text: &str) -> Result<DecimalSign, String> {
    match text {
        "comma" | "," => Ok(DecimalSign::Comma),
        "point" | "." => Ok(DecimalSign::Point),
        _ => Err("the decimal sign is comma or point".to_owned()),
    }
}

impl ColumnArguments {
    fn is_empty(&self) -> bool {
        let names_none = self.class.is_empty() && self.group.is_none() && self.features.is_empty();
        names_none && self.decimal.is_none() && self.sheet.is_none() && !self.strict
    }

    /// Changes the data settings as told.
    pub(super) fn apply(&self, data: &mut DataSettings) -> Result<(), Failure> {
        if self.is_empty() {
            return Ok(());
        }
        let DataPlan::Table(source) = &mut data.source else {
            let text = "--class, --group, --features, --decimal, --sheet and --strict are for tables, but the data are none";
            return Err(Failure::usage(text));
        };
        source.decimal = self.decimal.or(source.decimal);
        let is_other_sheet = self.sheet.is_some() && self.sheet != source.sheet;
        if is_other_sheet {
            // What the columns of one sheet mean says nothing of another.
            (source.sheet, source.choice, source.recordings) = (self.sheet.clone(), None, None);
        }
        if self.strict {
            source.mode = Mode::Strict;
        }
        if self.class.is_empty() && self.group.is_none() && self.features.is_empty() {
            return Ok(());
        }
        let path = source.paths.first().cloned().unwrap_or_default();
        if path.is_dir() {
            let text = format!(
                "name a table, not a folder, to choose columns: {}",
                path.display()
            );
            return Err(Failure::Usage(text));
        }
        let record = open_with(&path, &source.read_options()).map_err(Failure::failed)?;
        let known = source
            .choice
            .clone()
            .or_else(|| TableChoice::guess(&record));
        let mut choice = known.unwrap_or(TableChoice {
            classes: TableClasses::Columns(Vec::new()),
            group_column: None,
            feature_columns: None,
        });
        if !self.class.is_empty() {
            choice.classes = TableClasses::Columns(columns(&record, &self.class)?);
            choice.feature_columns = None;
            source.labels.clear();
        }
        if let Some(group) = &self.group {
            choice.group_column = columns(&record, std::slice::from_ref(group))?.pop();
        }
        if !self.features.is_empty() {
            choice.feature_columns = Some(columns(&record, &self.features)?);
        }
        source.choice = Some(choice);
        source.recordings = None;
        Ok(())
    }
}

/// The names of columns that are told by name, number or range of numbers.
fn columns(record: &Record, told: &[String]) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for text in told.iter().map(|text| text.trim()) {
        if record.channel_index(text).is_some() {
            names.push(text.to_owned());
            continue;
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let n_columns = record.channels.len();
        let number = |text: &str| {
            text.trim()
                .parse()
                .ok()
                .filter(|n| (1..=n_columns).contains(n))
        };
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => {
                let range = &record.channels[first - 1..last];
                names.extend(range.iter().map(|channel| channel.name.clone()));
            }
            _ => {
                return Err(Failure::Usage(format!(
                    "{text:?} is neither a column nor a number from 1 to {n_columns}; the columns are {}: {}",
                    record.first_channel_names(),
                    record.source.path.display()
                )));
            }
        }
    }
    let mut known = HashSet::new();
    names.retain(|name| known.insert(name.clone()));
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use atomscope_engine::records::{Input, read};

    #[test]
    fn columns_are_told_by_name_number_and_range() {
        let text = "a,b,c,5-20,d\n1,2,3,4,5\n".as_bytes();
        let record = read(&Input::from_bytes("a.csv", text), &Mode::Tolerant.into());
        let record = record.expect("a table");
        let named = |told: &str| {
            let told: Vec<String> = told.split(',').map(str::to_owned).collect();
            columns(&record, &told).ok().map(|names| names.join(" "))
        };
        assert_eq!(named("a,3").as_deref(), Some("a c"));
        assert_eq!(named("2-4,d,2").as_deref(), Some("b c 5-20 d"));
        assert_eq!(named("5-20").as_deref(), Some("5-20"));
        for wrong in ["e", "0", "6", "4-2", "1-9"] {
            assert_eq!(named(wrong), None, "{wrong}");
        }
    }
}
