//! Records to learn from without any file: faults on a feeder, EEG of simulated subjects, streams that change.

pub mod concepts;
pub mod declared;
pub mod eeg;
mod fault_star;
pub mod feeder;
mod interval;
pub mod network;
mod phases;
pub mod two_source;

pub use fault_star::{FaultStar, phase_letters};
pub use interval::Interval;

use crate::records::StartTime;
use crate::settings::SettingProblem;

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

/// Why nothing can be simulated.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// A setting is out of range.
    #[error("the simulator's setting {0}")]
    Setting(SettingProblem),
}
