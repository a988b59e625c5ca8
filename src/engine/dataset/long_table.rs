//! Tables whose rows are moments of recordings, one below the other, with the class beside the signal (long format).

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::table::{column, row_names};
use super::{DatasetError, TableChoice, TableClasses};
use crate::records::table::{TIME_NAMES, base_name, rate_of_times, seconds_in};
use crate::records::{Channel, ChannelKind, Kind, Record};

/// Column names that usually tell which recording a row belongs to, the surest first.
const RECORDING_NAMES: [&str; 15] = [
    "recording",
    "recording id",
    "record",
    "record id",
    "trial",
    "trial id",
    "epoch",
    "segment",
    "series",
    "series id",
    "sequence",
    "event",
    "file",
    "id",
    "subject",
];

/// Column names that count the rows of a recording, without telling their rate.
const COUNT_NAMES: [&str; 5] = ["sample", "sample number", "frame", "step", "index"];

/// Fewest rows of a recording.
const MIN_ROWS: usize = 16;

/// Which columns put the rows of a table together to recordings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongTable {
    /// The column that tells which recording a row belongs to.
    pub recording_column: String,
    /// The column with the time of the row; without it the sampling rate is unknown.
    pub time_column: Option<String>,
}

/// One recording of a table.
pub(super) struct LongRecording {
    pub(super) record: Record,
    /// `None` if a row has none, or they differ.
    pub(super) class: Option<String>,
    pub(super) group: String,
}

impl LongTable {
    /// Recognises recordings one below the other: a column that names them, a time that rises within each, and one
    /// class for each.
    pub fn guess(record: &Record, choice: &TableChoice) -> Option<Self> {
        let used = |name: &str| match &choice.classes {
            TableClasses::Columns(names) => names.iter().any(|class| class == name),
            TableClasses::Whole(_) => false,
        };
        let named = |known: &'static [&str]| {
            known.iter().filter_map(|name| {
                let is_it = |c: &&Channel| base_name(&c.name) == *name && !used(&c.name);
                record.channels.iter().find(is_it).map(|c| c.name.clone())
            })
        };
        let times: Vec<String> = named(&TIME_NAMES).collect();
        let clocks = times.iter().cloned().chain(named(&COUNT_NAMES));
        for clock in clocks {
            for recording in named(&RECORDING_NAMES).filter(|name| *name != clock) {
                let is_time = times.contains(&clock);
                let long = Self {
                    recording_column: recording,
                    time_column: is_time.then(|| clock.clone()),
                };
                if long.fits(record, choice, &clock).unwrap_or(false) {
                    return Some(long);
                }
            }
        }
        None
    }

    fn fits(
        &self,
        record: &Record,
        choice: &TableChoice,
        clock: &str,
    ) -> Result<bool, DatasetError> {
        let runs = self.runs(record)?;
        let ids = row_names(
            record,
            std::slice::from_ref(&self.recording_column),
            n_rows(record),
        )?;
        let different: BTreeSet<&Option<String>> = ids.iter().collect();
        let is_whole = runs.len() >= 2
            && different.len() == runs.len()
            && runs.iter().all(|run| run.len() >= MIN_ROWS);
        if !is_whole {
            return Ok(false);
        }
        let times = record.read(column(record, clock)?, 0..n_rows(record))?;
        let rises = |run: &Range<usize>| times[run.clone()].windows(2).all(|two| two[0] < two[1]);
        let classes = classes_of(record, choice)?;
        let is_one =
            |run: &Range<usize>| classes[run.clone()].windows(2).all(|two| two[0] == two[1]);
        Ok(runs.iter().all(|run| rises(run) && is_one(run)))
    }

    /// Rows that follow each other and name the same recording.
    fn runs(&self, record: &Record) -> Result<Vec<Range<usize>>, DatasetError> {
        let n_rows = n_rows(record);
        let ids = record.read(column(record, &self.recording_column)?, 0..n_rows)?;
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (row, id) in ids.iter().enumerate() {
            match runs.last_mut() {
                Some(run) if ids[run.start].to_bits() == id.to_bits() => run.end = row + 1,
                _ => runs.push(row..row + 1),
            }
        }
        Ok(runs)
    }

    /// The recordings of a table.
    pub(super) fn recordings(
        &self,
        table: &Record,
        choice: &TableChoice,
    ) -> Result<Vec<LongRecording>, DatasetError> {
        let n_rows = n_rows(table);
        let own = std::slice::from_ref(&self.recording_column);
        let ids = row_names(table, own, n_rows)?;
        let classes = classes_of(table, choice)?;
        let groups = match &choice.group_column {
            Some(name) => row_names(table, std::slice::from_ref(name), n_rows)?,
            None => ids.clone(),
        };
        let times = match &self.time_column {
            Some(name) => {
                let column = column(table, name)?;
                Some((
                    seconds_in(&table.channels[column].unit),
                    table.read(column, 0..n_rows)?,
                ))
            }
            None => None,
        };
        let mut signals = Vec::new();
        for (number, channel) in table.channels.iter().enumerate() {
            if self.is_signal(channel, choice) {
                signals.push((channel, table.read(number, 0..n_rows)?));
            }
        }
        let mut recordings = Vec::new();
        for run in self.runs(table)? {
            let rate_hz = times
                .as_ref()
                .and_then(|(unit_s, times)| rate_of_times(&times[run.clone()], *unit_s));
            let data = signals.iter().map(|(channel, values)| {
                let channel =
                    Channel::analog(channel.name.clone(), channel.unit.clone(), rate_hz, 0);
                (channel, values[run.clone()].to_vec())
            });
            let name = table.source.path.to_string_lossy();
            let mut record =
                Record::in_memory(table.format, Kind::Recording, &name, data.collect());
            record.source = table.source.clone();
            // Windows of two of them share no stretch, though both begin at 0 s.
            if let Some(id) = &ids[run.start] {
                record.source.path.as_mut_os_string().push(format!("#{id}"));
            }
            let class = classes[run.start].clone();
            let is_one = classes[run.clone()].iter().all(|other| *other == class);
            let group = groups[run.start].clone();
            recordings.push(LongRecording {
                record,
                class: class.filter(|_| is_one),
                group: group.unwrap_or_else(|| format!("row {}", run.start + 1)),
            });
        }
        Ok(recordings)
    }

    fn is_signal(&self, channel: &Channel, choice: &TableChoice) -> bool {
        let name = &channel.name;
        let is_class =
            matches!(&choice.classes, TableClasses::Columns(names) if names.contains(name));
        let is_chosen = match &choice.feature_columns {
            Some(names) => names.contains(name),
            None => !COUNT_NAMES.contains(&base_name(name).as_str()),
        };
        channel.kind == ChannelKind::Analog
            && is_chosen
            && !is_class
            && *name != self.recording_column
            && self.time_column.as_ref() != Some(name)
            && choice.group_column.as_ref() != Some(name)
    }
}

fn n_rows(record: &Record) -> usize {
    let lengths = record.channels.iter().map(|c| c.n_samples);
    lengths.min().unwrap_or(0)
}

fn classes_of(record: &Record, choice: &TableChoice) -> Result<Vec<Option<String>>, DatasetError> {
    match &choice.classes {
        TableClasses::Columns(names) => row_names(record, names, n_rows(record)),
        TableClasses::Whole(class) => Ok(vec![Some(class.clone()); n_rows(record)]),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::records::{Input, Mode, read};

    #[test]
    fn recordings_below_each_other_are_recognised_and_taken_apart() {
        let mut text = "trial,time [ms],C3,C4,class\n".to_owned();
        for row in 0..60 {
            let (trial, moment) = (row / 20, row % 20);
            let class = ["left", "right", "left"][trial];
            text += &format!("{trial},{},{row},{},{class}\n", 4 * moment, 100 - row);
        }
        let table = read(
            &Input::from_bytes("a.csv", text.into_bytes()),
            &Mode::Strict.into(),
        );
        let table = table.expect("a table");
        let choice = TableChoice::guess(&table).expect("there is a class");
        let long = LongTable::guess(&table, &choice).expect("three recordings");
        assert_eq!(long.recording_column, "trial");
        let recordings = long.recordings(&table, &choice).expect("readable");
        assert_eq!(recordings.len(), 3);
        let second = &recordings[1];
        assert_eq!(second.class.as_deref(), Some("right"));
        assert_eq!(second.group, "1");
        let names: Vec<&str> = second
            .record
            .channels
            .iter()
            .map(|c| c.name.as_str())
            .collect();
        assert_eq!(names, ["C3", "C4"]);
        assert_eq!(second.record.channels[0].rate_hz, Some(250.0));
        assert_eq!(second.record.read(0, 0..2).expect("readable"), [20.0, 21.0]);
        assert_eq!(
            second.record.source.path,
            Path::new("a.csv#1"),
            "a source of its own"
        );
    }

    #[test]
    fn rows_that_are_samples_of_their_own_stay_rows() {
        let mut text = "trial,time,x,class\n".to_owned();
        for row in 0..60 {
            text += &format!("{},{row},{row},{}\n", row / 20, row % 2);
        }
        let table = read(
            &Input::from_bytes("a.csv", text.into_bytes()),
            &Mode::Strict.into(),
        );
        let table = table.expect("a table");
        let choice = TableChoice::guess(&table).expect("there is a class");
        assert_eq!(LongTable::guess(&table, &choice), None, "the class changes");
    }
}
