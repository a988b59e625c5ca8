//! Lines of text as a stream: CSV with one moment, one sample or one file per line.
//!
//! A first line that is not made of numbers names the columns. For a model of recordings a line is one moment: one value
//! per channel, in µV unless the name says otherwise (`Fp1 [mV]`); a column `time` (seconds) gives the rate and shows
//! gaps. For a model of tables, arrays or fault features a line is one sample: its features, by name or in the model's
//! order; a column `class` or `label` holds the class where it is known. Empty cells and `nan` are missing values. A line
//! that is the path of a file is judged as a file. Cells are separated by commas, semicolons or tabs.

use std::collections::VecDeque;
use std::io::BufRead;
use std::path::Path;

use super::{Arrival, FileMark, StreamError, StreamSource};
use crate::records::{Channel, Unit};

/// Longest line that is read: 20 000 values of 50 characters.
const MOST_BYTES: u64 = 1 << 20;
/// Differences of times from which the rate is taken.
const RATE_LINES: usize = 16;

/// What a line is.
#[derive(Debug, Clone, PartialEq)]
pub enum LineKind {
    /// One value per channel.
    Moments {
        /// Names of the channels where the first line has none.
        channel_names: Vec<String>,
        /// Samples per second; without it from the column `time`.
        rate_hz: Option<f64>,
    },
    /// The features of a sample.
    Samples {
        /// In the model's order.
        feature_names: Vec<String>,
    },
}

/// Which cells of a line mean what.
#[derive(Debug, Clone)]
struct LineColumns {
    n_cells: usize,
    values: Vec<usize>,
    time: Option<usize>,
    label: Option<usize>,
}

/// Lines of text.
pub struct LineSource<R> {
    input: R,
    kind: LineKind,
    columns: Option<LineColumns>,
    channels: Vec<Channel>,
    /// Moments that wait until the rate is known.
    held: Vec<(f64, Vec<f64>)>,
    rate_hz: Option<f64>,
    last_time_s: Option<f64>,
    ready: VecDeque<Arrival>,
    line_number: u64,
    n_bad: u64,
    delimiter: char,
    is_over: bool,
}

impl<R: BufRead + Send> LineSource<R> {
    /// Lines of `input`.
    pub fn new(input: R, kind: LineKind) -> Self {
        let rate_hz = match &kind {
            LineKind::Moments { rate_hz, .. } => *rate_hz,
            LineKind::Samples { .. } => None,
        };
        Self {
            input,
            kind,
            columns: None,
            channels: Vec::new(),
            held: Vec::new(),
            rate_hz,
            last_time_s: None,
            ready: VecDeque::new(),
            line_number: 0,
            n_bad: 0,
            delimiter: ',',
            is_over: false,
        }
    }

    fn read_line(&mut self) -> Result<Option<String>, StreamError> {
        let mut bytes = Vec::new();
        let n_read = std::io::Read::take(&mut self.input, MOST_BYTES)
            .read_until(b'\n', &mut bytes)
            .map_err(StreamError::Input)?;
        self.line_number += 1;
        Ok((n_read > 0).then(|| String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn take_line(&mut self, line: &str) -> Result<(), StreamError> {
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if self.columns.is_none() {
            let likeliest = [',', ';', '\t'].into_iter();
            let count = |d: &char| line.matches(*d).count();
            self.delimiter = likeliest.rev().max_by_key(count).unwrap_or(',');
        }
        let cells: Vec<&str> = line
            .split(self.delimiter)
            .map(|c| c.trim().trim_matches('"'))
            .collect();
        let is_numeric = cells.iter().all(|cell| number(cell).is_some());
        if !is_numeric && cells.len() == 1 && Path::new(line).is_file() {
            let path = Path::new(line).to_owned();
            let mark = FileMark::of(&path).unwrap_or_default();
            self.ready.push_back(Arrival::File { path, mark });
            return Ok(());
        }
        let Some(columns) = self.columns.clone() else {
            let columns = match is_numeric {
                true => self.unnamed(cells.len())?,
                false => self.named(&cells)?,
            };
            self.begin(&columns, (!is_numeric).then_some(cells.as_slice()))?;
            self.columns = Some(columns.clone());
            if is_numeric {
                self.take_cells(&columns, &cells);
            }
            return Ok(());
        };
        self.take_cells(&columns, &cells);
        Ok(())
    }

    /// Columns by the names of the first line.
    fn named(&self, names: &[&str]) -> Result<LineColumns, StreamError> {
        let find = |wanted: &[&str]| {
            names
                .iter()
                .position(|name| wanted.iter().any(|w| name.eq_ignore_ascii_case(w)))
        };
        let label = find(&["class", "label"]);
        let time = find(&["time", "time_s", "t", "timestamp", "time [s]"]);
        let values = match &self.kind {
            LineKind::Moments { .. } => {
                let others = (0..names.len()).filter(|at| Some(*at) != time && Some(*at) != label);
                others.collect()
            }
            LineKind::Samples { feature_names } => {
                let place = |wanted: &String| {
                    let found = names.iter().position(|name| name == wanted);
                    found.ok_or_else(|| StreamError::NoColumn {
                        name: wanted.clone(),
                        found: names
                            .iter()
                            .take(12)
                            .copied()
                            .collect::<Vec<_>>()
                            .join(", "),
                    })
                };
                feature_names.iter().map(place).collect::<Result<_, _>>()?
            }
        };
        Ok(LineColumns {
            n_cells: names.len(),
            values,
            time,
            label,
        })
    }

    /// Columns in the model's order.
    fn unnamed(&self, n_cells: usize) -> Result<LineColumns, StreamError> {
        let expected: &[String] = match &self.kind {
            LineKind::Moments { channel_names, .. } => channel_names,
            LineKind::Samples { feature_names } => feature_names,
        };
        if n_cells != expected.len() {
            return Err(StreamError::NoNames {
                expected: format!(
                    "{} cells were found, the model has {}: {}",
                    n_cells,
                    expected.len(),
                    expected
                        .iter()
                        .take(6)
                        .cloned()
                        .collect::<Vec<_>>()
                        .join(", ")
                ),
            });
        }
        Ok(LineColumns {
            n_cells,
            values: (0..n_cells).collect(),
            time: None,
            label: None,
        })
    }

    fn begin(&mut self, columns: &LineColumns, names: Option<&[&str]>) -> Result<(), StreamError> {
        let LineKind::Moments { channel_names, .. } = &self.kind else {
            return Ok(());
        };
        if self.rate_hz.is_none() && columns.time.is_none() {
            return Err(StreamError::NoRate);
        }
        let channel = |(number, at): (usize, &usize)| {
            let text = match names {
                Some(names) => names[*at],
                None => channel_names[number].as_str(),
            };
            let with_unit = text
                .strip_suffix(']')
                .and_then(|text| text.rsplit_once('['));
            let (name, unit) = with_unit.unwrap_or((text, "uV"));
            Channel::analog(name.trim(), Unit::parse(unit), self.rate_hz, 0)
        };
        self.channels = columns.values.iter().enumerate().map(channel).collect();
        if let Some(rate_hz) = self.rate_hz {
            self.announce(rate_hz);
        }
        Ok(())
    }

    fn announce(&mut self, rate_hz: f64) {
        let channels = self.channels.clone();
        self.ready
            .push_back(Arrival::Channels { channels, rate_hz });
    }

    fn take_cells(&mut self, columns: &LineColumns, cells: &[&str]) {
        let parsed: Option<Vec<f64>> = match cells.len() == columns.n_cells {
            true => columns.values.iter().map(|at| number(cells[*at])).collect(),
            false => None,
        };
        let Some(values) = parsed else {
            self.complain(columns, cells);
            return;
        };
        let is_moment = matches!(self.kind, LineKind::Moments { .. });
        let time_s = columns.time.and_then(|at| number(cells[at]));
        if !is_moment {
            let label = columns.label.map(|at| cells[at].to_owned());
            let label = label.filter(|text| !text.is_empty());
            self.ready.push_back(Arrival::Row {
                features: values,
                label,
            });
        } else {
            self.take_moment(time_s, values);
        }
    }

    /// Says that a line cannot be used: the first, then ever more rarely.
    fn complain(&mut self, columns: &LineColumns, cells: &[&str]) {
        self.n_bad += 1;
        if self.n_bad.is_power_of_two() {
            let what = match cells.len() == columns.n_cells {
                false => format!("has {} of {} cells", cells.len(), columns.n_cells),
                true => "has a cell that is no number".to_owned(),
            };
            let (line, n_bad) = (self.line_number, self.n_bad);
            let lines = if n_bad == 1 { "line" } else { "lines" };
            let note = format!("line {line} {what} and is left out ({n_bad} {lines} so far)");
            self.ready.push_back(Arrival::Note(note));
        }
        if matches!(self.kind, LineKind::Moments { .. }) {
            let lost_s = self.rate_hz.map_or(0.0, f64::recip);
            self.ready.push_back(Arrival::Gap { lost_s });
        }
    }

    fn take_moment(&mut self, time_s: Option<f64>, values: Vec<f64>) {
        match (self.rate_hz, time_s) {
            (None, time_s) => {
                self.held.push((time_s.unwrap_or(f64::NAN), values));
                if self.held.len() > RATE_LINES {
                    self.find_rate();
                }
            }
            (Some(rate_hz), time_s) => {
                self.check_time(rate_hz, time_s);
                self.ready.push_back(Arrival::Frames(values));
            }
        }
    }

    /// A gap where the clock jumps.
    fn check_time(&mut self, rate_hz: f64, time_s: Option<f64>) {
        let Some(time_s) = time_s.filter(|time| time.is_finite()) else {
            return;
        };
        if let Some(last_s) = self.last_time_s.replace(time_s) {
            let step_s = time_s - last_s;
            if step_s <= 0.0 {
                let note = format!(
                    "line {}: the clock jumps back from {last_s} s to {time_s} s; a new stretch begins",
                    self.line_number
                );
                self.ready.push_back(Arrival::Note(note));
                self.ready.push_back(Arrival::Gap { lost_s: 0.0 });
            } else if step_s > 1.5 / rate_hz {
                let lost_s = step_s - 1.0 / rate_hz;
                self.ready.push_back(Arrival::Gap { lost_s });
            }
        }
    }

    /// The rate is the inverse of the median step of the times held.
    fn find_rate(&mut self) {
        let mut steps: Vec<f64> = self
            .held
            .windows(2)
            .map(|pair| pair[1].0 - pair[0].0)
            .filter(|step| *step > 0.0)
            .collect();
        steps.sort_by(f64::total_cmp);
        let Some(median) = steps.get(steps.len() / 2) else {
            return;
        };
        // Times are written with few digits: a rate within one part in a thousand of a whole number is meant so.
        let exact = 1.0 / median;
        let rate_hz = match (exact - exact.round()).abs() < 1e-3 * exact {
            true => exact.round(),
            false => exact,
        };
        self.rate_hz = Some(rate_hz);
        self.announce(rate_hz);
        for (time_s, values) in std::mem::take(&mut self.held) {
            self.take_moment(Some(time_s), values);
        }
    }
}

/// The number of a cell; an empty one is missing.
fn number(cell: &str) -> Option<f64> {
    match cell {
        "" | "NA" | "n/a" => Some(f64::NAN),
        cell => cell.parse().ok(),
    }
}

impl<R: BufRead + Send> StreamSource for LineSource<R> {
    fn next(&mut self) -> Result<Arrival, StreamError> {
        loop {
            if let Some(arrival) = self.ready.pop_front() {
                return Ok(arrival);
            }
            if self.is_over {
                return Ok(Arrival::End);
            }
            match self.read_line()? {
                Some(line) => self.take_line(&line)?,
                None => {
                    self.is_over = true;
                    if self.rate_hz.is_none() && !self.held.is_empty() {
                        self.find_rate();
                    }
                }
            }
        }
    }
}
