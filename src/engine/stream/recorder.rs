//! Everything that came in, kept without loss: chunks of NPY, gaps, rows of features and the decisions as CSV.
//!
//! A folder with `stream.json` (channels, units, rate), `samples-000001.npy`, … (frames × channels, `<f8`), `gaps.csv`
//! (number of the frame before which something is missing, seconds), `rows.csv` (rows of features, if such come),
//! `decisions.csv` and, where changes were noticed, `alarms.csv`. Every chunk is a complete file
//! when it appears, so that nothing recorded is lost when the program is killed.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Arrival, StreamDecision, StreamError, utc_now};
use crate::records::{Channel, Unit};
use crate::session::write_at_once;

/// A chunk is written after this time, or when it has so many values.
const CHUNK_EVERY: Duration = Duration::from_secs(2);
const CHUNK_VALUES: usize = 1 << 20;

/// The channels of a recorded stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamFacts {
    pub(super) names: Vec<String>,
    pub(super) units: Vec<String>,
    pub(super) rate_hz: f64,
    /// When the first samples came, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) begun: Option<String>,
}

impl StreamFacts {
    pub(super) fn channels(&self) -> Vec<Channel> {
        let pairs = self.names.iter().zip(&self.units);
        pairs
            .map(|(name, unit)| {
                Channel::analog(name.clone(), Unit::parse(unit), Some(self.rate_hz), 0)
            })
            .collect()
    }
}

/// A stream on its way to the disk.
pub struct StreamRecorder {
    folder: PathBuf,
    decisions: csv::Writer<File>,
    rows: Option<csv::Writer<File>>,
    channels: Option<(Vec<Channel>, f64)>,
    n_channels: usize,
    chunk: Vec<f64>,
    n_chunks: usize,
    n_frames: u64,
    last_chunk: Instant,
}

impl StreamRecorder {
    /// Records into a folder, which must be new or empty.
    pub fn create(folder: &Path) -> Result<Self, StreamError> {
        let cannot = |doing| move |source| StreamError::io(doing, folder, source);
        fs::create_dir_all(folder).map_err(cannot("make the folder of the recording"))?;
        let mut entries = fs::read_dir(folder).map_err(cannot("list the folder"))?;
        if entries.next().is_some() {
            let taken = std::io::Error::other("the folder is not empty: name another");
            return Err(StreamError::io("record", folder, taken));
        }
        let file = File::create_new(folder.join("decisions.csv"));
        let file = file.map_err(cannot("write the decisions"))?;
        let mut decisions = csv::Writer::from_writer(file);
        let head = [
            "time", "source", "path", "start_s", "class", "margin", "set", "fit_p",
        ];
        decisions
            .write_record(head)
            .map_err(std::io::Error::other)
            .map_err(cannot("write the decisions"))?;
        Ok(Self {
            folder: folder.to_owned(),
            decisions,
            rows: None,
            channels: None,
            n_channels: 0,
            chunk: Vec::new(),
            n_chunks: 0,
            n_frames: 0,
            last_chunk: Instant::now(),
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps what came in.
    pub fn keep(&mut self, arrival: &Arrival) -> Result<(), StreamError> {
        match arrival {
            Arrival::Channels { channels, rate_hz } => self.begin(channels, *rate_hz)?,
            Arrival::Frames(values) => {
                self.chunk.extend_from_slice(values);
                self.n_frames += (values.len() / self.n_channels.max(1)) as u64;
            }
            Arrival::Gap { lost_s } => {
                self.append("gaps.csv", &format!("{},{lost_s}\n", self.n_frames))?;
            }
            _ => {}
        }
        if self.chunk.len() >= CHUNK_VALUES || self.last_chunk.elapsed() >= CHUNK_EVERY {
            self.flush()?;
        }
        Ok(())
    }

    /// Keeps rows of features, the class last where it is known, so that they can be sent again line by line.
    pub fn keep_rows(
        &mut self,
        names: &[String],
        rows: &[(Vec<f64>, Option<String>)],
    ) -> Result<(), StreamError> {
        if rows.is_empty() {
            return Ok(());
        }
        let path = self.folder.join("rows.csv");
        let failed = |source| StreamError::io("record", &path, source);
        let mut writer = match self.rows.take() {
            Some(writer) => writer,
            None => {
                let file = File::create_new(&path).map_err(failed)?;
                let mut writer = csv::Writer::from_writer(file);
                let head = names.iter().map(String::as_str).chain(["class"]);
                let written = writer.write_record(head).map_err(std::io::Error::other);
                written.map_err(failed)?;
                writer
            }
        };
        let written = rows.iter().try_for_each(|(features, label)| {
            // The shortest digits that give the same number again.
            let values = features.iter().map(|value| format!("{value:?}"));
            writer.write_record(values.chain([label.clone().unwrap_or_default()]))
        });
        let written = written.map_err(std::io::Error::other);
        written.and_then(|()| writer.flush()).map_err(failed)?;
        self.rows = Some(writer);
        Ok(())
    }

    fn append(&self, name: &str, line: &str) -> Result<(), StreamError> {
        let path = self.folder.join(name);
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .map_err(|source| StreamError::io("record", &path, source))
    }

    /// Keeps an alarm: when, and what it says.
    pub fn alarmed(&self, start_s: f64, sentence: &str) -> Result<(), StreamError> {
        let sentence = sentence.replace(['\n', '\r'], " ");
        self.append("alarms.csv", &format!("{start_s},{sentence}\n"))
    }

    fn begin(&mut self, channels: &[Channel], rate_hz: f64) -> Result<(), StreamError> {
        let path = self.folder.join("stream.json");
        if let Some((known, known_hz)) = &self.channels {
            // A sender that is back with the channels it had.
            if known == channels && *known_hz == rate_hz {
                return Ok(());
            }
            let changed = std::io::Error::other(
                "the channels have changed: record the rest into another folder",
            );
            return Err(StreamError::io("record", &path, changed));
        }
        self.n_channels = channels.len();
        self.channels = Some((channels.to_vec(), rate_hz));
        let facts = StreamFacts {
            names: channels.iter().map(|c| c.name.clone()).collect(),
            units: channels.iter().map(|c| c.unit.raw.clone()).collect(),
            rate_hz,
            begun: Some(utc_now()),
        };
        let text = serde_json::to_string_pretty(&facts)
            .map_err(|error| StreamError::io("record", &path, std::io::Error::other(error)))?;
        Ok(write_at_once(&path, text.as_bytes())?)
    }

    /// Keeps decisions.
    pub fn decided(&mut self, decisions: &[StreamDecision]) -> Result<(), StreamError> {
        if decisions.is_empty() {
            return Ok(());
        }
        let written = decisions
            .iter()
            .try_for_each(|decision| self.decisions.write_record(cells(decision)));
        written
            .map_err(std::io::Error::other)
            .and_then(|()| self.decisions.flush())
            .map_err(|source| StreamError::io("write the decisions", &self.folder, source))
    }

    /// Writes the chunk at hand as a file of its own.
    pub fn flush(&mut self) -> Result<(), StreamError> {
        self.last_chunk = Instant::now();
        if self.chunk.is_empty() || self.n_channels == 0 {
            return Ok(());
        }
        let n_frames = self.chunk.len() / self.n_channels;
        let mut bytes = npy_head(n_frames, self.n_channels);
        bytes.extend(self.chunk.iter().flat_map(|value| value.to_le_bytes()));
        let number = self.n_chunks + 1;
        let path = self.folder.join(format!("samples-{number:06}.npy"));
        write_at_once(&path, &bytes)?;
        self.n_chunks = number;
        self.chunk.clear();
        Ok(())
    }
}

/// A decision as a row of the table.
fn cells(decision: &StreamDecision) -> [String; 8] {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let set = decision.set.as_ref().map(|set| set.join(" "));
    [
        decision.time.clone(),
        decision.source.clone(),
        decision.path.clone().unwrap_or_default(),
        number(decision.start_s),
        decision.class.clone(),
        decision.margin.to_string(),
        set.unwrap_or_default(),
        number(decision.fit_p),
    ]
}

/// The head of a NumPy file of doubles, row by row.
fn npy_head(n_rows: usize, n_columns: usize) -> Vec<u8> {
    let text =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n_rows}, {n_columns}), }}");
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend((length as u16).to_le_bytes());
    head.extend(text.as_bytes());
    head.resize(10 + length - 1, b' ');
    head.push(b'\n');
    head
}
