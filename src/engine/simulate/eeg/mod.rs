//! EEG of simulated subjects: two classes of them, 19 electrodes of the 10–20 system.
//!
//! # Model
//!
//! The voltage at electrode c is a sum of parts, each with a random stream of its own:
//!
//! ```text
//! x_c(t) = background_c(t) + Σ_r A_r T_r,c g_r(t) r(t) + blinks + muscle + mains + amplifier
//! ```
//!
//! - **Background**: 1/f^χ noise of one source under each electrode, seen by its
//!   neighbours through a Gaussian of 35°. χ is 1.15 ± 0.15 between subjects, the
//!   level 9 µV (log-normal, 25 %), each electrode's another 15 %.
//! - **Coupling** of front and back: a share κ of the background's amplitude (0.35 ± 0.1 between
//!   subjects) is one source that both see, with opposite signs and without changing the power
//!   of any electrode.
//! - **Rhythms** r: posterior alpha (10 ± 0.8 Hz, 9 µV, 45 %), frontal-midline theta
//!   (6 ± 0.5 Hz, 4 µV, 40 %), central beta (20 ± 2 Hz, 2.2 µV, 40 %): white noise
//!   through a resonance of 1.5 Hz (beta 4 Hz). Topography T is a bell around its
//!   centre, moved and widened for each subject; the gain g drifts with vigilance
//!   (35 %, memory 20 s).
//! - **Artefacts**: blinks (4 to 24 a minute, 70 to 180 µV at the frontal pole, falling
//!   off by e every 32°), bursts of the jaw muscles at either temple (0.5 to 5 a
//!   minute, 3 to 12 µV around 40 Hz), the mains (1.5 µV, log-normal, phase by
//!   electrode), white amplifier noise (0.4 to 1 µV), and a 16-bit converter with
//!   steps of 1/16 µV, which makes files exact.
//!
//! Orders of magnitude follow resting EEG with eyes closed: the individual alpha
//! frequency (Klimesch 1999), the aperiodic exponent (Donoghue et al. 2020), blink
//! rates (Bentivoglio et al. 1997). They are typical values, no measurement of a person.
//!
//! # Two classes, honestly
//!
//! Cases differ from controls in the *distribution* of four traits: alpha slower and
//! weaker, theta stronger, background steeper, each by [`EegSettings::effect`] standard
//! deviations between subjects; and front and back are coupled more strongly, by
//! [`EegSettings::coupling_effect`] deviations, which no band power can see and the covariance
//! of the channels can. Nothing else differs, so a new subject of seed 1 is told right about eight
//! times in ten by covariance (of other seeds up to nine) and five to seven times by band power, while segments of a subject who is also
//! in training are recognised by the person, not by the class: they score above nine in
//! ten, and hardly less without any effect. That gap is what folds by subject are for.
//!
//! # Randomness
//!
//! Every part of every subject has its own stream of the seed. A subject is the same
//! however many others are made, and a longer recording starts with the same samples.

mod montage;
mod noise;
mod record;
mod subject;
mod synthesis;

use serde::{Deserialize, Serialize};

pub use montage::ELECTRODES;
pub use subject::{RhythmTraits, SubjectClass, SubjectTraits};

use super::SimulateError;
use crate::math::{Normal, random_stream};
use crate::settings::{SettingProblem, SettingProblems};
use crate::simulate::declared;
use synthesis::{Sampling, SignalPart, Streams};

/// Everything that decides which recordings are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EegSettings {
    /// Seed of all random draws.
    pub seed: u64,
    /// Subjects of each class.
    pub subjects_per_class: u32,
    /// Length of each recording.
    pub duration_s: f64,
    /// Samples per second.
    pub rate_hz: f64,
    /// Frequency of the mains that the electrodes pick up.
    pub mains_hz: f64,
    /// Difference of the classes in each of four traits, in standard deviations between
    /// subjects; 0 makes two classes that do not differ in them.
    pub effect: f64,
    /// Difference of the classes in the coupling of front and back, in standard deviations
    /// between subjects.
    pub coupling_effect: f64,
    /// The recordings come one after the other under one cap whose electrodes drift: by the last one the logarithms
    /// of their gains have this standard deviation. 0 for electrodes that stay, and recordings without order.
    pub electrode_drift: f64,
}

impl Default for EegSettings {
    fn default() -> Self {
        Self {
            seed: 1,
            subjects_per_class: 14,
            duration_s: 120.0,
            rate_hz: 250.0,
            mains_hz: 50.0,
            effect: 1.0,
            coupling_effect: 5.0,
            electrode_drift: 0.0,
        }
    }
}

impl EegSettings {
    /// Samples of one channel: with 19 channels a recording takes at most 150 MB.
    const MOST_SAMPLES: f64 = 1e6;

    /// Everything that is out of range, for the text beside each field.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        let subjects = self.subjects_per_class;
        problems.require_legal(&declared::SUBJECTS_PER_CLASS, subjects as f64);
        problems.require_legal(&declared::DURATION_S, self.duration_s);
        problems.require_within("rate_hz", self.rate_hz, 100.0, 2000.0);
        problems.require_within("mains_hz", self.mains_hz, 1.0, 100.0);
        problems.require_legal(&declared::EFFECT, self.effect);
        problems.require_within("coupling_effect", self.coupling_effect, 0.0, 10.0);
        problems.require_legal(&declared::ELECTRODE_DRIFT, self.electrode_drift);
        let n_samples = self.duration_s * self.rate_hz;
        let most = Self::MOST_SAMPLES;
        problems.require_within("duration_s × rate_hz", n_samples, 1.0, most);
        problems.into_list()
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

    /// Every subject of the settings: class and number within the class.
    pub fn subjects(&self) -> impl Iterator<Item = (SubjectClass, u32)> + use<> {
        let count = self.settings.subjects_per_class;
        let of = move |class| (0..count).map(move |index| (class, index));
        SubjectClass::ALL.into_iter().flat_map(of)
    }

    /// Draws subject `index` of `class`, whatever the number of subjects.
    pub fn subject(&self, class: SubjectClass, index: u32) -> SubjectTraits {
        let mut random = self.streams(class, index).of(SignalPart::Traits);
        let EegSettings {
            effect,
            coupling_effect,
            ..
        } = self.settings;
        SubjectTraits::draw(class, effect, coupling_effect, &mut random)
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
        let streams = self.streams(class, index);
        let mut channels_uv = synthesis::synthesise(&traits, sampling, streams);
        if settings.electrode_drift > 0.0 {
            self.drift_electrodes(&mut channels_uv, class, index);
        }
        EegRecording {
            rate_hz: settings.rate_hz,
            channels_uv,
        }
    }

    /// Place of a recording among all, where they come one after the other: classes take turns.
    pub(super) fn place_in_time(&self, class: SubjectClass, index: u32) -> f64 {
        let n_classes = SubjectClass::ALL.len() as u32;
        f64::from(index * n_classes + class.label() as u32)
    }

    /// The gain of an electrode goes from 1 to exp(drift × n) along all recordings, n standard normal.
    fn drift_electrodes(&self, channels_uv: &mut [Vec<f64>], class: SubjectClass, index: u32) {
        let mut random = random_stream(self.settings.seed, "EEG electrode drift", 0);
        let mut normal = Normal::default();
        let n_recordings = f64::from(self.settings.subjects_per_class) * 2.0;
        let place = self.place_in_time(class, index);
        for channel in channels_uv {
            let at_end = self.settings.electrode_drift * normal.draw(&mut random);
            let n_samples = channel.len().max(1) as f64;
            for (k, value) in channel.iter_mut().enumerate() {
                let share = (place + k as f64 / n_samples) / n_recordings;
                *value = synthesis::digitise(*value * (at_end * share).exp());
            }
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
