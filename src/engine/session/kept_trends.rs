//! Trends of recordings kept with a session, so that a day need not be read again to see them.

use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::features::trends::{TrendChannels, Trends};
use crate::records::Record;

/// Trends of one recording, and what they were made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptTrends {
    /// What they were made of.
    pub of: TrendSource,
    /// The trends.
    pub trends: Trends,
}

/// What trends are made of: if nothing of it has changed, they are those that would be computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrendSource {
    /// The file's name without its folder: a session may move with its data.
    file_name: String,
    size_bytes: u64,
    /// When each file of the recording was written, in nanoseconds since 1970.
    written_ns: Vec<u64>,
    /// Names, units and rates, which the user may have given.
    channels: Vec<(String, String, Option<f64>)>,
    /// Bad channels and kinds.
    pub chosen: TrendChannels,
}

impl TrendSource {
    /// Of a recording in files; nothing for one in memory.
    pub fn of(record: &Record, chosen: &TrendChannels) -> Option<Self> {
        let source = &record.source;
        let written = |path: &Path| {
            let modified = path.metadata().ok()?.modified().ok()?;
            let since = modified.duration_since(UNIX_EPOCH).ok()?;
            u64::try_from(since.as_nanos()).ok()
        };
        let paths = std::iter::once(&source.path).chain(&source.companions);
        let channel = |channel: &crate::records::Channel| {
            let unit = channel.unit.symbol.clone();
            (channel.name.clone(), unit, channel.rate_hz)
        };
        Some(Self {
            file_name: source.path.file_name()?.to_string_lossy().into_owned(),
            size_bytes: source.size_bytes,
            written_ns: paths.map(|path| written(path)).collect::<Option<_>>()?,
            channels: record.channels.iter().map(channel).collect(),
            chosen: chosen.clone(),
        })
    }

    /// Whether both are of one recording, whatever the user has said of its channels.
    pub fn is_of_same_files(&self, other: &Self) -> bool {
        (&self.file_name, self.size_bytes, &self.written_ns)
            == (&other.file_name, other.size_bytes, &other.written_ns)
    }
}
