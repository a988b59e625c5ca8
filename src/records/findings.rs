//! Tolerant and strict reading: what a reader found odd, as data.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::text::quoted;
use super::{ReadError, Unit};

/// How to take what breaks a standard but has a likely meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Assume the likely meaning and say so in a warning.
    #[default]
    Tolerant,
    /// Refuse.
    Strict,
}

/// How to read a file; the default is right for most.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    /// Tolerant or strict.
    pub mode: Mode,
    /// Which array of a file of arrays is the recording; by default the likeliest.
    pub array: Option<String>,
    /// Whether the rows of that array are channels; by default the shorter side is.
    pub rows_are_channels: Option<bool>,
    /// Sampling rate where the file does not tell.
    pub rate_hz: Option<f64>,
}

impl From<Mode> for ReadOptions {
    fn from(mode: Mode) -> Self {
        Self {
            mode,
            ..Self::default()
        }
    }
}

/// Where in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The file as a whole.
    File,
    /// Byte offset from the start.
    Byte(u64),
    /// Line, from 1.
    Line(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => write!(f, "the file as a whole"),
            Self::Byte(offset) => write!(f, "byte {offset}"),
            Self::Line(line) => write!(f, "line {line}"),
        }
    }
}

/// Something a user should know about a file that was read all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Where.
    pub place: Place,
    /// What was found and what was assumed.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::File => f.write_str(&self.text),
            place => write!(f, "{place}: {}", self.text),
        }
    }
}

/// Most warnings kept for one file; a broken file must not fill memory with them.
const MAX_WARNINGS: usize = 100;

/// Collects warnings while a file is read, or refuses in strict mode.
#[derive(Debug)]
pub struct Findings {
    path: PathBuf,
    mode: Mode,
    warnings: Vec<Warning>,
    n_unlisted: usize,
}

impl Findings {
    /// Nothing found yet in `path`.
    pub fn new(path: &Path, mode: Mode) -> Self {
        Self {
            path: path.to_owned(),
            mode,
            warnings: Vec::new(),
            n_unlisted: 0,
        }
    }

    /// The mode of reading.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// A breach of the standard: a warning with what is `assumed`, in strict mode an error.
    pub fn breach(
        &mut self,
        place: Place,
        field: &str,
        found: impl fmt::Display,
        expected: impl fmt::Display,
        assumed: impl fmt::Display,
    ) -> Result<(), ReadError> {
        if self.mode == Mode::Strict {
            return Err(self.refusal(place, field, found, expected));
        }
        self.note(
            place,
            format!("{field} is {found}, expected {expected}; {assumed}"),
        );
        Ok(())
    }

    /// Worth telling in either mode: an assumption, a gap, an unknown unit.
    pub fn note(&mut self, place: Place, text: impl Into<String>) {
        if self.warnings.len() < MAX_WARNINGS {
            let text = text.into();
            self.warnings.push(Warning { place, text });
        } else {
            self.n_unlisted += 1;
        }
    }

    /// Says that a channel's unit is kept as it is, if nobody knows it.
    pub fn note_unit(&mut self, place: Place, unit: &Unit, channel: &str) {
        if !unit.is_known() {
            let (unit, channel) = (quoted(&unit.raw), quoted(channel));
            self.note(
                place,
                format!("unit {unit} of channel {channel} is unknown; kept, values not converted"),
            );
        }
    }

    /// The error for something without a likely meaning.
    pub fn refusal(
        &self,
        place: Place,
        field: &str,
        found: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> ReadError {
        ReadError::malformed(
            &self.path,
            place,
            field,
            found.to_string(),
            expected.to_string(),
        )
    }

    /// The warnings, the unlisted ones counted in a last one.
    pub fn into_warnings(mut self) -> Vec<Warning> {
        if self.n_unlisted > 0 {
            self.warnings.push(Warning {
                place: Place::File,
                text: format!(
                    "{} more warnings of this kind are not listed",
                    self.n_unlisted
                ),
            });
        }
        self.warnings
    }
}
