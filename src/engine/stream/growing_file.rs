//! A recording that is still being written (EDF, BDF), or a file that is complete.

use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Arrival, FileMark, StreamError, StreamSource};
use crate::records::{ChannelKind, ReadOptions, Record, open_with};

/// How often the file is examined.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Frames delivered at a time.
const BLOCK: usize = 4096;

/// The end of a file, followed.
pub struct GrowingFile {
    path: PathBuf,
    options: ReadOptions,
    size_bytes: u64,
    /// Frames delivered.
    n_frames: usize,
    /// The channels delivered: their places in the record.
    channels: Option<Vec<usize>>,
    rate_hz: f64,
    ready: VecDeque<Arrival>,
    last_look: Option<Instant>,
}

impl GrowingFile {
    /// Follows a file.
    pub fn new(path: &Path, options: ReadOptions) -> Self {
        Self {
            path: path.to_owned(),
            options,
            size_bytes: 0,
            n_frames: 0,
            channels: None,
            rate_hz: 0.0,
            ready: VecDeque::new(),
            last_look: None,
        }
    }

    /// Whether the file is of a kind that can be followed while it grows.
    pub fn can_follow(path: &Path) -> bool {
        let mut head = [0; 8];
        let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
        read.is_ok() && (head == *b"\xffBIOSEMI" || head == *b"0       ")
    }

    fn look(&mut self) -> Result<(), StreamError> {
        let facts = std::fs::metadata(&self.path)
            .map_err(|source| StreamError::io("read the growing file", &self.path, source))?;
        let has_grown = facts.len() != self.size_bytes;
        if facts.len() < self.size_bytes {
            let note = format!(
                "the file has become shorter ({} of {} bytes): {}",
                facts.len(),
                self.size_bytes,
                self.path.display()
            );
            self.ready.push_back(Arrival::Note(note));
        }
        self.size_bytes = facts.len();
        let is_first = self.channels.is_none();
        if has_grown || is_first {
            // A header that is being written is no error yet.
            match open_with(&self.path, &self.options) {
                Ok(record) => self.take(&record)?,
                Err(_) if is_first && !self.is_complete(None) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // The writer replaces the −1 of the header at the end, which changes no size.
        let is_over =
            self.channels.is_some() && self.is_complete(Some((self.n_frames, self.rate_hz)));
        if is_over {
            self.ready.push_back(Arrival::End);
        }
        Ok(())
    }

    fn take(&mut self, record: &Record) -> Result<(), StreamError> {
        let is_analog = |at: &usize| record.channels[*at].kind == ChannelKind::Analog;
        let places: Vec<usize> = (0..record.channels.len()).filter(is_analog).collect();
        let rate_hz = places
            .first()
            .and_then(|at| record.channels[*at].rate_hz)
            .ok_or(StreamError::NoRate)?;
        // Channels at other rates than the first (a status or a trigger) are not part of a frame.
        let same_rate = |at: &usize| record.channels[*at].rate_hz == Some(rate_hz);
        let places: Vec<usize> = places.into_iter().filter(same_rate).collect();
        if self.channels.as_ref() != Some(&places) {
            if self.channels.is_some() {
                let note = format!("the channels have changed: {}", self.path.display());
                self.ready.push_back(Arrival::Note(note));
            }
            let channels = places
                .iter()
                .map(|at| record.channels[*at].clone())
                .collect();
            self.ready
                .push_back(Arrival::Channels { channels, rate_hz });
        }
        let lengths = places.iter().map(|at| record.channels[*at].n_samples);
        let n_present = lengths.min().unwrap_or(0);
        let segments = record.segments(places[0]);
        for (number, segment) in segments.iter().enumerate() {
            let end = (segment.first_sample + segment.n_samples).min(n_present);
            if number > 0 && segment.first_sample == self.n_frames && end > self.n_frames {
                let before = &segments[number - 1];
                let ended_s = before.onset_s + before.n_samples as f64 / rate_hz;
                let lost_s = segment.onset_s - ended_s;
                self.ready.push_back(Arrival::Gap { lost_s });
            }
            while self.n_frames < end && self.n_frames >= segment.first_sample {
                let block = self.n_frames..end.min(self.n_frames + BLOCK);
                self.ready
                    .push_back(Arrival::Frames(frames(record, &places, &block)?));
                self.n_frames = block.end;
            }
        }
        (self.channels, self.rate_hz) = (Some(places), rate_hz);
        Ok(())
    }

    /// Whether the header declares a number of data records and all of them are there; −1 says that writing goes on.
    fn is_complete(&self, present: Option<(usize, f64)>) -> bool {
        let mut head = [0; 256];
        let read = std::fs::File::open(&self.path).and_then(|mut file| file.read_exact(&mut head));
        if read.is_err() {
            return false;
        }
        let number = |range: std::ops::Range<usize>| -> Option<f64> {
            std::str::from_utf8(&head[range]).ok()?.trim().parse().ok()
        };
        let (Some(n_declared), Some(record_s)) = (number(236..244), number(244..252)) else {
            return false;
        };
        match present {
            _ if n_declared < 0.0 => false,
            None => n_declared > 0.0,
            Some((n_samples, rate_hz)) => {
                n_samples as f64 / rate_hz + 1e-6 >= n_declared * record_s
            }
        }
    }
}

fn frames(
    record: &Record,
    places: &[usize],
    block: &std::ops::Range<usize>,
) -> Result<Vec<f64>, StreamError> {
    let columns: Vec<Vec<f64>> = places
        .iter()
        .map(|at| record.read(*at, block.clone()))
        .collect::<Result<_, _>>()?;
    let times = 0..block.len();
    Ok(times
        .flat_map(|time| columns.iter().map(move |column| column[time]))
        .collect())
}

impl StreamSource for GrowingFile {
    fn next(&mut self) -> Result<Arrival, StreamError> {
        if let Some(arrival) = self.ready.pop_front() {
            return Ok(arrival);
        }
        if let Some(last) = self.last_look {
            std::thread::sleep(LOOK_EVERY.saturating_sub(last.elapsed()));
        }
        self.look()?;
        self.last_look = Some(Instant::now());
        Ok(self.ready.pop_front().unwrap_or(Arrival::Nothing))
    }
}

/// A complete file that is judged once.
pub struct WholeFile {
    path: Option<PathBuf>,
}

impl WholeFile {
    /// The file.
    pub fn new(path: &Path) -> Self {
        Self {
            path: Some(path.to_owned()),
        }
    }
}

impl StreamSource for WholeFile {
    fn next(&mut self) -> Result<Arrival, StreamError> {
        Ok(match self.path.take() {
            None => Arrival::End,
            Some(path) => {
                let mark = FileMark::of(&path).unwrap_or_default();
                Arrival::File { path, mark }
            }
        })
    }
}
