//! A folder of fault records as a list: one row per record, grouped by event, written as CSV.

use std::path::PathBuf;

use crate::records::{Record, StartTime};

use super::analysis::FaultAnalysis;
use super::summary::{DistanceEntry, FaultSummary};

/// Inceptions that lie no further apart belong to one event: clocks of relays without synchronisation differ by less.
const SAME_EVENT_S: f64 = 1.0;

/// What a model says of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelDecision {
    /// The class.
    pub class: String,
    /// Its margin.
    pub margin: f64,
    /// Whether its prediction set is not one class; none of a model that cannot tell.
    pub is_uncertain: Option<bool>,
    /// How well the record fits the model.
    pub fit_p: Option<f64>,
}

/// One record of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct InboxRow {
    /// The file.
    pub path: PathBuf,
    /// Station and recorder.
    pub station: String,
    /// Start of the record.
    pub start: Option<StartTime>,
    /// The closed-form part.
    pub summary: FaultSummary,
    /// Largest current.
    pub peak_current_a: Option<f64>,
    /// The model's part, where there is a model.
    pub model: Option<ModelDecision>,
    /// Number of the event that the record belongs to, from 1; records without a time are events of their own.
    pub event: usize,
}

impl InboxRow {
    /// The row of a record.
    pub fn new(
        path: PathBuf,
        record: &Record,
        summary: FaultSummary,
        analysis: Option<&FaultAnalysis>,
    ) -> Self {
        let grid = record.grid.clone().unwrap_or_default();
        Self {
            path,
            station: [grid.station.trim(), grid.device.trim()]
                .join(" ")
                .trim()
                .to_owned(),
            start: record.start,
            peak_current_a: analysis.and_then(FaultAnalysis::peak_current_a),
            summary,
            model: None,
            event: 0,
        }
    }

    /// Length of the fault.
    pub fn duration_s(&self) -> Option<f64> {
        Some(self.summary.clearing_s? - self.summary.inception_s?)
    }

    /// The distance that stands for all: Takagi where there is one, since it stands the fault resistance best.
    pub fn distance(&self) -> Option<&DistanceEntry> {
        let all = &self.summary.distance;
        all.iter().find(|d| d.method == "Takagi").or(all.first())
    }

    /// When the fault begins, by the record's clock.
    pub fn inception(&self) -> Option<StartTime> {
        self.start?
            .plus_seconds(self.summary.inception_s.unwrap_or(0.0))
    }
}

/// Numbers the events: rows in order of their inceptions, a new event where the next lies more than a second later.
pub fn group_by_event(rows: &mut [InboxRow]) {
    let mut order: Vec<(StartTime, usize)> = Vec::new();
    let mut timeless = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        match row.inception() {
            Some(time) => order.push((time, place)),
            None => timeless.push(place),
        }
    }
    order.sort();
    let (mut event, mut before): (usize, Option<StartTime>) = (0, None);
    for (time, place) in order {
        let is_same = before.is_some_and(|before| time.seconds_since(before) <= SAME_EVENT_S);
        event += usize::from(!is_same);
        rows[place].event = event;
        before = Some(time);
    }
    for place in timeless {
        event += 1;
        rows[place].event = event;
    }
}

/// Heads of the columns.
pub const COLUMNS: [&str; 18] = [
    "event",
    "file",
    "station",
    "start",
    "bay",
    "type",
    "phases",
    "inception_s",
    "clearing_s",
    "duration_s",
    "distance",
    "distance_low",
    "distance_high",
    "peak_current_a",
    "model_class",
    "model_margin",
    "model_uncertain",
    "fit_p",
];

/// The list as CSV.
pub fn to_csv(rows: &[InboxRow]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for row in rows {
        let summary = &row.summary;
        let distance = row.distance();
        let model = row.model.as_ref();
        writer.write_record([
            row.event.to_string(),
            row.path.display().to_string(),
            row.station.clone(),
            row.start.map_or(String::new(), |start| start.to_string()),
            summary.bay.clone().unwrap_or_default(),
            summary.type_rule.unwrap_or_default().to_owned(),
            summary.phases.clone().unwrap_or_default(),
            number(summary.inception_s),
            number(summary.clearing_s),
            number(row.duration_s()),
            number(distance.map(|d| d.value)),
            number(distance.and_then(|d| d.low)),
            number(distance.and_then(|d| d.high)),
            number(row.peak_current_a),
            model.map_or(String::new(), |model| model.class.clone()),
            number(model.map(|model| model.margin)),
            model
                .and_then(|model| model.is_uncertain)
                .map_or(String::new(), |is| is.to_string()),
            number(model.and_then(|model| model.fit_p)),
        ])?;
    }
    writer
        .into_inner()
        .map_err(|error| csv::Error::from(error.into_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, second: u8, inception_s: Option<f64>) -> InboxRow {
        InboxRow {
            path: name.into(),
            station: "Süd, 110 kV".to_owned(),
            start: StartTime::new((2024, 5, 1), (12, 0, second), 0),
            summary: FaultSummary {
                inception_s,
                ..FaultSummary::default()
            },
            peak_current_a: Some(1234.5),
            model: None,
            event: 0,
        }
    }

    #[test]
    fn records_of_one_moment_are_one_event_in_any_order() {
        let mut rows = [
            row("late", 30, Some(0.1)),
            row("far", 10, Some(0.9)),
            row("near", 10, Some(0.2)),
            row("timeless", 99, None),
        ];
        group_by_event(&mut rows);
        assert_eq!(rows.each_ref().map(|row| row.event), [2, 1, 1, 3]);
        let text = String::from_utf8(to_csv(&rows).expect("written")).expect("text");
        assert!(text.contains("\"Süd, 110 kV\""), "{text}");
        assert_eq!(text.lines().count(), 5);
    }
}
