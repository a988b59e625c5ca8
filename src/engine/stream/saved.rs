//! What survives a restart: files judged, the place in a growing file, what was learned.

use std::path::{Path, PathBuf};

use ciborium::Value;
use serde::{Deserialize, Serialize};

use super::{Inbox, LiveScores, StreamError};
use crate::evaluation::ChangeWatch;
use crate::experiment::{SettingChange, TrainedModel};
use crate::learner::Forgetting;
use crate::session::{SessionError, write_at_once};

/// Version of the file.
const FORMAT: u32 = 2;

/// The state of a stream, as it is saved every few seconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedStream {
    format: u32,
    /// SHA-256 of the model at the start.
    pub model_sha256: String,
    /// The source.
    pub source: String,
    /// Files judged, by their full path.
    pub files: Inbox,
    /// Start of the last segment of a growing file that was decided.
    pub decided_until_s: Option<f64>,
    /// Decisions made.
    pub n_decisions: u64,
    /// The model, if it has learned.
    pub learned: Option<Box<TrainedModel>>,
    /// Samples that wait for their mini-batch.
    pub pending: Vec<(Vec<f64>, usize)>,
    /// Scores where labels came.
    pub scores: LiveScores,
    /// Detectors and alarms.
    pub watch: Option<ChangeWatch>,
    /// The learner's settings as they were changed on the way, by hand or after an alarm.
    pub changes: Vec<SettingChange>,
    /// While the past is forgotten faster: the mini-batch from which on λ is as before, and how it was.
    pub forgets_faster: Option<(usize, Forgetting)>,
}

impl SavedStream {
    /// A state of a stream that begins.
    pub fn new(model_sha256: String, source: String) -> Self {
        Self {
            format: FORMAT,
            model_sha256,
            source,
            ..Self::default()
        }
    }

    /// Where the state of a source is kept unless a place is named: beside the model.
    pub fn usual_place(model: &Path, source: &str) -> PathBuf {
        let real = std::fs::canonicalize(source);
        let text = real.map_or_else(|_| source.to_owned(), |path| path.display().to_string());
        let number = crate::math::fnv(text.as_bytes());
        let stem = model.file_stem().unwrap_or_default().to_string_lossy();
        model.with_file_name(format!("{stem}.{number:016x}.stream"))
    }

    /// The saved state; none if nothing was saved.
    pub fn load(path: &Path) -> Result<Option<Self>, StreamError> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StreamError::io("read the state", path, error)),
        };
        let bad = |reason: String| StreamError::BadState {
            reason,
            path: path.to_owned(),
        };
        let value: Value =
            ciborium::from_reader(bytes.as_slice()).map_err(|error| bad(error.to_string()))?;
        let state: Self = untagged(value)
            .deserialized()
            .map_err(|error| bad(error.to_string()))?;
        match state.format {
            FORMAT => Ok(Some(state)),
            other => Err(bad(format!("its format is {other}, {FORMAT} is known"))),
        }
    }

    /// Saves the state at once.
    pub fn save(&self, path: &Path) -> Result<(), SessionError> {
        let mut bytes = Vec::new();
        ciborium::into_writer(self, &mut bytes).map_err(|error| SessionError::Io {
            doing: "write the state of the stream",
            source: std::io::Error::other(error.to_string()),
            path: path.to_owned(),
        })?;
        write_at_once(path, &bytes)
    }
}

/// The value without the tags that say what lists of packed numbers hold: their readers know it.
fn untagged(value: Value) -> Value {
    match value {
        Value::Tag(_, inner) => untagged(*inner),
        Value::Array(items) => Value::Array(items.into_iter().map(untagged).collect()),
        Value::Map(pairs) => {
            let pairs = pairs.into_iter();
            Value::Map(pairs.map(|(k, v)| (untagged(k), untagged(v))).collect())
        }
        other => other,
    }
}
