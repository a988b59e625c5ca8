//! One decision of a stream, as scripts read it.

use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::experiment::Opinion;
use crate::records::StartTime;

/// What was decided about one sample of a stream. As JSON it has exactly these keys, in this order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamDecision {
    /// When it was decided, UTC, as `2026-01-31T12:00:00.000Z`.
    pub time: String,
    /// The source as it was named.
    pub source: String,
    /// The file, where it is one.
    pub path: Option<String>,
    /// Start of the segment, from the start of the stream or file; none for rows of features.
    pub start_s: Option<f64>,
    /// The class.
    pub class: String,
    /// How clear the decision is.
    pub margin: f64,
    /// The prediction set; none of a model that cannot tell.
    pub set: Option<Vec<String>>,
    /// How probable so strange a sample is among training samples.
    pub fit_p: Option<f64>,
}

impl StreamDecision {
    /// The decision that an opinion says.
    pub(super) fn new(
        opinion: &Opinion,
        class_names: &[String],
        source: &str,
        path: Option<&Path>,
        start_s: Option<f64>,
    ) -> Self {
        let name = |class: usize| class_names.get(class).cloned().unwrap_or_default();
        let assured = opinion.assurance.as_ref();
        Self {
            time: utc_now(),
            source: source.to_owned(),
            path: path.map(|path| path.display().to_string()),
            start_s,
            class: name(opinion.verdict.class),
            margin: opinion.verdict.margin,
            set: assured.map(|assured| assured.set().into_iter().map(name).collect()),
            fit_p: assured.map(|assured| assured.fit_p),
        }
    }
}

/// This moment in UTC, to the millisecond.
pub fn utc_now() -> String {
    let since_1970 = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let now = StartTime::new((1970, 1, 1), (0, 0, 0), 0)
        .and_then(|epoch| epoch.plus_seconds(since_1970.as_secs() as f64));
    let Some(now) = now else {
        return String::new();
    };
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        now.year,
        now.month,
        now.day,
        now.hour,
        now.minute,
        now.second,
        since_1970.subsec_millis()
    )
}
