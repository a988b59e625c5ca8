//! Records to learn from without any file: faults on a feeder, EEG of simulated subjects.

pub mod eeg;
pub mod feeder;
mod random;

pub use random::Interval;

use crate::records::StartTime;

/// The moment at which every simulated record starts: fixed, so that the same settings
/// give the same file whenever it is made.
const SIMULATED_START: StartTime = StartTime {
    year: 2000,
    month: 1,
    day: 1,
    hour: 0,
    minute: 0,
    second: 0,
    nanosecond: 0,
    utc_offset_min: None,
};

/// A setting that is out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting} must be {expected}, but is {found}")]
pub struct SettingProblem {
    /// Which setting, as it is spelt in the settings.
    pub setting: String,
    /// What is legal.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl SettingProblem {
    fn new(setting: &str, expected: String, found: String) -> Self {
        Self {
            setting: setting.to_owned(),
            expected,
            found,
        }
    }
}

/// Why nothing can be simulated.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// A setting is out of range.
    #[error("the simulator's setting {0}")]
    Setting(SettingProblem),
}
