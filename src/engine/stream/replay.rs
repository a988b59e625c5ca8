//! A recorded stream once more: the same values in the same order, so the same decisions.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use super::recorder::StreamFacts;
use super::{Arrival, StreamError, StreamSource};
use crate::records::{Mode, ReadError, open};

/// Whether a folder holds a recorded stream.
pub fn is_recorded_stream(folder: &Path) -> bool {
    folder.join("stream.json").is_file() && folder.join("decisions.csv").is_file()
}

/// The chunks of a recorded stream.
pub struct ReplaySource {
    chunks: VecDeque<PathBuf>,
    /// Numbers of the frames before which something is missing, and for how long.
    gaps: VecDeque<(u64, f64)>,
    n_channels: usize,
    n_frames: u64,
    ready: VecDeque<Arrival>,
}

/// What `stream.json` says.
pub(super) fn read_facts(folder: &Path) -> Result<StreamFacts, StreamError> {
    let path = folder.join("stream.json");
    let text = fs::read_to_string(&path)
        .map_err(|source| StreamError::io("read the recorded stream", &path, source))?;
    serde_json::from_str(&text).map_err(|error| StreamError::BadState {
        reason: error.to_string(),
        path,
    })
}

/// The files of samples, in order.
pub(super) fn chunks_of(folder: &Path) -> Result<Vec<PathBuf>, StreamError> {
    let entries = fs::read_dir(folder)
        .map_err(|source| StreamError::io("list the recorded stream", folder, source))?;
    let is_chunk = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("samples-") && name.ends_with(".npy")
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut chunks: Vec<PathBuf> = paths.filter(is_chunk).collect();
    chunks.sort();
    Ok(chunks)
}

/// Numbers of the frames before which something is missing, and for how long.
pub(super) fn gaps_of(folder: &Path) -> VecDeque<(u64, f64)> {
    let gaps = fs::read_to_string(folder.join("gaps.csv")).unwrap_or_default();
    let gap = |line: &str| {
        let (frame, lost_s) = line.split_once(',')?;
        Some((frame.parse().ok()?, lost_s.parse().ok()?))
    };
    gaps.lines().filter_map(gap).collect()
}

/// The values of a chunk, frame after frame.
pub(super) fn read_chunk(path: &Path) -> Result<Vec<f64>, ReadError> {
    let record = open(path, Mode::Strict)?;
    let name = record.arrays.first().map(|array| array.name.clone());
    let array = record.array(&name.unwrap_or_default())?;
    Ok(array.iter().copied().collect())
}

impl ReplaySource {
    /// Opens the folder.
    pub fn open(folder: &Path) -> Result<Self, StreamError> {
        let facts = read_facts(folder)?;
        let channels = facts.channels();
        Ok(Self {
            chunks: chunks_of(folder)?.into(),
            gaps: gaps_of(folder),
            n_channels: channels.len().max(1),
            n_frames: 0,
            ready: VecDeque::from([Arrival::Channels {
                channels,
                rate_hz: facts.rate_hz,
            }]),
        })
    }

    fn take_chunk(&mut self, path: &Path) -> Result<(), StreamError> {
        let values = read_chunk(path)?;
        let n_rows = values.len() / self.n_channels;
        let mut values = values.into_iter();
        let end = self.n_frames + n_rows as u64;
        while self.n_frames < end {
            while let Some((_, lost_s)) =
                self.gaps.pop_front_if(|(frame, _)| *frame <= self.n_frames)
            {
                self.ready.push_back(Arrival::Gap { lost_s });
            }
            let until = self
                .gaps
                .front()
                .map_or(end, |(frame, _)| (*frame).min(end));
            let n_values = (until - self.n_frames) as usize * self.n_channels;
            let frames: Vec<f64> = values.by_ref().take(n_values).collect();
            self.ready.push_back(Arrival::Frames(frames));
            self.n_frames = until;
        }
        Ok(())
    }
}

impl StreamSource for ReplaySource {
    fn next(&mut self) -> Result<Arrival, StreamError> {
        if self.ready.is_empty()
            && let Some(path) = self.chunks.pop_front()
        {
            self.take_chunk(&path)?;
        }
        Ok(self.ready.pop_front().unwrap_or(Arrival::End))
    }
}
