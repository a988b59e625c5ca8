//! The user's line data: impedances per kilometre and lengths, in a table kept as a text file.

use std::path::{Path, PathBuf};

use num_complex::Complex64;
use ron::extensions::Extensions;
use serde::{Deserialize, Serialize};

use crate::records::{Input, ReadError};
use crate::settings::{SettingProblem, SettingProblems};

/// Largest line table that is read.
const MOST_BYTES: u64 = 1 << 20;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// Own name; also the station or bay whose records it is for.
    #[serde(default)]
    pub name: String,
    /// Length.
    pub length_km: f64,
    /// Positive-sequence resistance and reactance in Ω/km, primary.
    pub z1_ohm_per_km: (f64, f64),
    /// Zero-sequence resistance and reactance in Ω/km; three times z1 where it is not known.
    #[serde(default)]
    pub z0_ohm_per_km: Option<(f64, f64)>,
    /// Source impedance behind the near end in Ω, for the interval of distances: r1, x1.
    #[serde(default)]
    pub source_ohm: Option<(f64, f64)>,
}

/// Why a line table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file is too large to be one.
    #[error("a line table has at most {MOST_BYTES} bytes, but this has {n_bytes}: {}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        n_bytes: u64,
    },
    /// The text is no line table.
    #[error("the line table is not as expected at {place}: {reason}: {}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line and column.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// A value is out of range.
    #[error("line {name:?}: {problem}: {}", path.display())]
    Setting {
        /// The file.
        path: PathBuf,
        /// The line.
        name: String,
        /// What is wrong.
        problem: SettingProblem,
    },
    /// The table has no line.
    #[error("the line table has no line: {}", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl Line {
    /// Reads one line, or a list of them, from a text file (RON); the text itself may stand in place of a file's name.
    pub fn load_all(path: &Path) -> Result<Vec<Self>, LineError> {
        if let Some(text) = path.to_str().filter(|text| text.starts_with(['(', '['])) {
            return Self::parse_all(text, path);
        }
        let input = Input::open(path)?;
        let n_bytes = input.bytes.len();
        if n_bytes > MOST_BYTES {
            return Err(LineError::TooLarge {
                path: path.to_owned(),
                n_bytes,
            });
        }
        let bytes = input.bytes.read_range(0, n_bytes)?;
        Self::parse_all(&String::from_utf8_lossy(&bytes), path)
    }

    /// The same from text; `path` is named where it is wrong.
    fn parse_all(text: &str, path: &Path) -> Result<Vec<Self>, LineError> {
        let syntax = |error: ron::error::SpannedError| LineError::Syntax {
            path: path.to_owned(),
            place: error.span.start.to_string(),
            reason: error.code.to_string(),
        };
        // Files are written by hand: z0 may stand with or without `Some`.
        let plain = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
        let read = |options: &ron::Options| match text.trim_start().starts_with('[') {
            true => options.from_str::<Vec<Self>>(text),
            false => options.from_str::<Self>(text).map(|line| vec![line]),
        };
        let lines = read(&ron::Options::default())
            .or_else(|error| read(&plain).map_err(|_same_place| error))
            .map_err(syntax)?;
        for line in &lines {
            if let Some(problem) = line.problems().into_iter().next() {
                return Err(LineError::Setting {
                    path: path.to_owned(),
                    name: line.name.clone(),
                    problem,
                });
            }
        }
        if lines.is_empty() {
            return Err(LineError::Empty {
                path: path.to_owned(),
            });
        }
        Ok(lines)
    }

    /// The line whose name is part of a station's.
    pub fn of_station<'a>(lines: &'a [Self], station: &str) -> Option<&'a Self> {
        let is_named = |line: &&Self| !line.name.is_empty() && station.contains(&line.name);
        lines.iter().find(is_named)
    }

    /// What is out of range.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        problems.require_within("length_km", self.length_km, 1e-3, 1e4);
        let (r1, x1) = self.z1_ohm_per_km;
        problems.require_within("z1_ohm_per_km.0", r1, 0.0, 1e3);
        problems.require_within("z1_ohm_per_km.1", x1, 1e-6, 1e3);
        if let Some((r0, x0)) = self.z0_ohm_per_km {
            problems.require_within("z0_ohm_per_km.0", r0, 0.0, 1e4);
            problems.require_within("z0_ohm_per_km.1", x0, 1e-6, 1e4);
        }
        if let Some((r, x)) = self.source_ohm {
            problems.require_within("source_ohm.0", r, 0.0, 1e6);
            problems.require_within("source_ohm.1", x, 1e-6, 1e6);
        }
        problems.into_list()
    }

    /// Positive-sequence impedance of the whole line.
    pub fn z1(&self) -> Complex64 {
        let (r, x) = self.z1_ohm_per_km;
        Complex64::new(r, x) * self.length_km
    }

    /// Zero-sequence impedance of the whole line.
    pub fn z0(&self) -> Complex64 {
        match self.z0_ohm_per_km {
            Some((r, x)) => Complex64::new(r, x) * self.length_km,
            None => 3.0 * self.z1(),
        }
    }

    /// Residual compensation k0 = (Z0 − Z1)/(3 Z1).
    pub fn k0(&self) -> Complex64 {
        (self.z0() - self.z1()) / (3.0 * self.z1())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_data_are_read_as_people_write_them() {
        let path = Path::new("line.ron");
        let texts = [
            "(length_km: 50, z1_ohm_per_km: (0.1, 0.4), z0_ohm_per_km: (0.3, 1.2))",
            "(name: \"L\", length_km: 50.0, z1_ohm_per_km: (0.1, 0.4), z0_ohm_per_km: Some((0.3, 1.2)))",
            "[(length_km: 50, z1_ohm_per_km: (0.1, 0.4))]",
        ];
        for text in texts {
            let lines = Line::parse_all(text, path).expect(text);
            assert_eq!(lines.len(), 1, "{text}");
            assert!(
                (lines[0].z0() - Complex64::new(15.0, 60.0)).norm() < 1e-9,
                "{text}"
            );
        }
        let error = Line::parse_all("(length_km: 50)", path).expect_err("no impedance");
        assert!(error.to_string().contains("z1_ohm_per_km"), "{error}");
    }
}
