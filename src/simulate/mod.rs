//! Records to learn from without any file: faults on a feeder, EEG of simulated subjects.

pub mod eeg;
pub mod feeder;
mod random;

pub use random::Interval;

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
