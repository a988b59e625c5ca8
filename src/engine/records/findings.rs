//! Tolerant and strict reading: what a reader found odd, as data.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::table::DecimalSign;
use super::text::quoted;
use super::{ReadError, Unit};

/// How to take what breaks a standard but has a likely meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Mode {
    /// Assume the likely meaning and say so in a warning.
    #[default]
    Tolerant,
    /// Refuse.
    Strict,
}

/// How to read a file; the default is right for most.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReadOptions {
    /// Tolerant or strict.
    pub mode: Mode,
    /// Which array of a file of arrays is the recording, or which sheet of a workbook is the table; by default the
    /// likeliest.
    pub array: Option<String>,
    /// Whether the rows of that array are channels; by default the shorter side is.
    pub rows_are_channels: Option<bool>,
    /// Sampling rate where the file does not tell.
    pub rate_hz: Option<f64>,
    /// Names of the signal channels in the order of the file, where the file names them badly or not at all.
    pub channel_names: Option<Vec<String>>,
    /// The decimal sign of a table, where its numbers can be read in two ways.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<DecimalSign>,
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
pub enum FilePlace {
    /// The file as a whole.
    File,
    /// Byte offset from the start.
    Byte(u64),
    /// Line, from 1.
    Line(usize),
}

/// As it follows the name of a field: ` at byte 8`, or nothing for the whole file.
impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Byte(offset) => write!(f, " at byte {offset}"),
            Self::Line(line) => write!(f, " at line {line}"),
        }
    }
}

/// Something a user should know about a file that was read all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Where.
    pub place: FilePlace,
    /// What was found and what was assumed.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            FilePlace::File => f.write_str(&self.text),
            FilePlace::Byte(offset) => write!(f, "byte {offset}: {}", self.text),
            FilePlace::Line(line) => write!(f, "line {line}: {}", self.text),
        }
    }
}

/// Most warnings kept for one file; a broken file must not fill memory with them.
const MAX_WARNINGS: usize = 100;
/// Most breaches of one field listed, so that they do not hide the others.
const MAX_WARNINGS_PER_FIELD: usize = 10;

/// Collects warnings while a file is read, or refuses in strict mode.
#[derive(Debug)]
pub struct Findings {
    path: PathBuf,
    mode: Mode,
    warnings: Vec<Warning>,
    /// Breaches of each field that has some in the list.
    field_counts: BTreeMap<String, usize>,
    n_unlisted: usize,
}

impl Findings {
    /// Nothing found yet in `path`.
    pub fn new(path: &Path, mode: Mode) -> Self {
        Self {
            path: path.to_owned(),
            mode,
            warnings: Vec::new(),
            field_counts: BTreeMap::new(),
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
        place: FilePlace,
        field: &str,
        found: impl fmt::Display,
        expected: impl fmt::Display,
        assumed: impl fmt::Display,
    ) -> Result<(), ReadError> {
        if self.mode == Mode::Strict {
            return Err(self.refusal(place, field, found, expected));
        }
        let count = match self.field_counts.get_mut(field) {
            Some(count) => {
                *count += 1;
                *count
            }
            None if self.warnings.len() < MAX_WARNINGS => {
                self.field_counts.insert(field.to_owned(), 1);
                1
            }
            None => 1,
        };
        if count <= MAX_WARNINGS_PER_FIELD {
            let text = format!("{field} is {found}, expected {expected}; {assumed}");
            self.note(place, text);
        }
        Ok(())
    }

    /// Worth telling in either mode: an assumption, a gap, an unknown unit.
    pub fn note(&mut self, place: FilePlace, text: impl Into<String>) {
        if self.warnings.len() < MAX_WARNINGS {
            let text = text.into();
            self.warnings.push(Warning { place, text });
        } else {
            self.n_unlisted += 1;
        }
    }

    /// Says that a channel's unit is kept as it is, if nobody knows it.
    pub fn note_unit(&mut self, place: FilePlace, unit: &Unit, channel: &str) {
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
        place: FilePlace,
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

    /// The warnings, the unlisted ones counted at the end.
    pub fn into_warnings(mut self) -> Vec<Warning> {
        let of_fields = self.field_counts.iter().filter_map(|(field, count)| {
            let more = count.checked_sub(MAX_WARNINGS_PER_FIELD)?;
            (more > 0).then(|| format!("{field}: {more} more warnings of this kind"))
        });
        let of_file = (self.n_unlisted > 0).then(|| format!("{} more warnings", self.n_unlisted));
        let unlisted: Vec<Warning> = of_fields
            .chain(of_file)
            .map(|text| Warning {
                place: FilePlace::File,
                text,
            })
            .collect();
        self.warnings.extend(unlisted);
        self.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_breaches_of_one_field_do_not_hide_another() {
        let mut findings = Findings::new(Path::new("file"), Mode::Tolerant);
        for line in 1..=500 {
            let place = FilePlace::Line(line);
            let told = findings.breach(place, "onset", "x", "a number", "skipped");
            told.expect("tolerant reading goes on");
        }
        let told = findings.breach(FilePlace::File, "rate", "0", "more", "it is unknown");
        told.expect("tolerant reading goes on");
        let warnings = findings.into_warnings();
        let texts: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), MAX_WARNINGS_PER_FIELD + 2);
        assert_eq!(texts[10], "rate is 0, expected more; it is unknown");
        assert_eq!(texts[11], "onset: 490 more warnings of this kind");
    }

    #[test]
    fn strict_reading_refuses_the_first_breach() {
        let mut findings = Findings::new(Path::new("file"), Mode::Strict);
        let refusal = findings
            .breach(FilePlace::Byte(4), "rate", "0", "more", "it is unknown")
            .expect_err("strict");
        assert_eq!(
            refusal.to_string(),
            "rate at byte 4 is 0, expected more: file"
        );
    }
}
