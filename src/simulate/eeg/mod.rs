//! EEG of simulated subjects, two classes of them, 19 channels of the 10–20 system.

mod montage;
mod noise;
mod record;
mod subject;
mod synthesis;

use serde::{Deserialize, Serialize};

pub use montage::ELECTRODES;
pub use subject::{RhythmTraits, SubjectClass, SubjectTraits};

use super::random::check_value;
use super::{SettingProblem, SimulateError};
use synthesis::{Part, Sampling, Streams};

/// Everything that decides which recordings are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EegSettings {
    /// Seed of all random draws.
    pub seed: u64,
    /// Subjects of each class.
    pub subjects_per_class: usize,
    /// Length of each recording.
    pub duration_s: f64,
    /// Samples per second.
    pub rate_hz: f64,
    /// Frequency of the mains that the electrodes pick up.
    pub mains_hz: f64,
    /// Difference of the classes in each of four traits, in standard deviations between
    /// subjects; 0 makes two classes that do not differ.
    pub effect: f64,
}

impl Default for EegSettings {
    fn default() -> Self {
        Self {
            seed: 1,
            subjects_per_class: 14,
            duration_s: 120.0,
            rate_hz: 250.0,
            mains_hz: 50.0,
            effect: 1.2,
        }
    }
}

impl EegSettings {
    /// Everything that is out of range, for the text beside each field.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = Vec::new();
        let subjects = self.subjects_per_class;
        check_value("subjects_per_class", subjects, 1, 10_000, &mut problems);
        let values = [
            ("duration_s", self.duration_s, 1.0, 3600.0),
            ("rate_hz", self.rate_hz, 100.0, 2000.0),
            ("mains_hz", self.mains_hz, 1.0, 100.0),
            ("effect", self.effect, 0.0, 5.0),
        ];
        for (setting, value, low, high) in values {
            check_value(setting, value, low, high, &mut problems);
        }
        problems
    }
}

/// The recording of one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct EegRecording {
    /// Samples per second.
    pub rate_hz: f64,
    /// One vector per electrode, in the order of [`ELECTRODES`], in µV.
    pub channels_uv: Vec<Vec<f64>>,
}

/// Makes recordings; its settings are known to be legal.
#[derive(Clone, Debug)]
pub struct EegSimulator {
    settings: EegSettings,
}

impl EegSimulator {
    /// Refuses settings that are out of range, naming the first one.
    pub fn new(settings: EegSettings) -> Result<Self, SimulateError> {
        match settings.problems().into_iter().next() {
            Some(problem) => Err(SimulateError::Setting(problem)),
            None => Ok(Self { settings }),
        }
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &EegSettings {
        &self.settings
    }

    /// Draws subject `index` of `class`, whatever the number of subjects.
    pub fn subject(&self, class: SubjectClass, index: u32) -> SubjectTraits {
        let mut rng = self.streams(class, index).of(Part::Traits);
        SubjectTraits::draw(class, self.settings.effect, &mut rng)
    }

    /// Records subject `index` of `class`; a longer recording starts with the same samples.
    pub fn recording(&self, class: SubjectClass, index: u32) -> EegRecording {
        let traits = self.subject(class, index);
        let settings = &self.settings;
        let sampling = Sampling {
            rate_hz: settings.rate_hz,
            n_samples: (settings.duration_s * settings.rate_hz).round() as usize,
            mains_hz: settings.mains_hz,
        };
        EegRecording {
            rate_hz: settings.rate_hz,
            channels_uv: synthesis::synthesise(&traits, sampling, self.streams(class, index)),
        }
    }

    fn streams(&self, class: SubjectClass, index: u32) -> Streams {
        Streams {
            seed: self.settings.seed,
            subject: (class.label() as u64) << 32 | u64::from(index),
        }
    }
}

#[cfg(test)]
mod tests;
