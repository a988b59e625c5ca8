//! Faults and other events on many networks: what a learner must see to judge records of lines it does not know.
//!
//! # Network
//!
//! A source behind its impedance feeds a bus; a breaker, where voltages and currents are recorded, connects a line at
//! whose far end is another source, a load or an earthed transformer:
//!
//! ```text
//! E ──Zs── bus ──/ ── m·Zl ── F ── (1−m)·Zl ── far end ──Zr── (E′, load, earthed transformer)
//!           ┴ C                ┴ fault              └─/─ switched load
//! ```
//!
//! Everything is drawn ([`NetworkRanges`]): voltage, frequency, fault level, X/R, neutral (solid, through an impedance,
//! isolated, Petersen coil), line, far end, load, fault and its resistance, sampling rate, noise, harmonics, polarity of
//! the current transformers, a line dead before, the opening of the breaker, a slow ramp of the voltage.
//!
//! # Events
//!
//! Beside the five conditions of [`FaultClass`] there are six other events ([`EventKind`]) of a records inbox: inrush,
//! motor start, capacitor switching, high-impedance arc, load change, evolving fault. They have not been validated on
//! real records. In the presets of faults the first three, load changes and ramps of the voltage are among the records
//! without fault.
//!
//! # Solution
//!
//! `solver` steps the circuit with 256 steps a cycle or more; `inrush` integrates the flux of a saturating
//! transformer. The tests hold them against symmetrical components, closed forms of RL and LC circuits and an
//! independent integration.

mod inrush;
mod record;
mod scenario;
mod solver;

use serde::{Deserialize, Serialize};

pub use scenario::{EventKind, FarEnd, NetworkClass, NetworkScenario, Neutral};

use super::feeder::FaultClass;
use super::{Interval, SimulateError};
use crate::settings::{SettingProblem, SettingProblems};

/// Which classes are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NetworkClasses {
    /// The five conditions.
    Faults,
    /// The five conditions and six other events.
    Events,
}

impl NetworkClasses {
    /// The classes in order.
    pub fn all(self) -> Vec<NetworkClass> {
        let faults = FaultClass::ALL.into_iter().map(NetworkClass::Fault);
        let events = EventKind::ALL.into_iter().map(NetworkClass::Event);
        match self {
            Self::Faults => faults.collect(),
            Self::Events => faults.chain(events).collect(),
        }
    }
}

/// The intervals that networks are drawn from, log-uniformly unless said otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkRanges {
    /// Line-to-line voltage.
    pub nominal_kv: Interval,
    /// Three-phase fault level at the bus.
    pub fault_level_mva: Interval,
    /// Reactance over resistance of the source.
    pub x_over_r: Interval,
    /// Length of the line.
    pub line_km: Interval,
    /// Resistance of a fault between phases.
    pub phase_resistance_ohm: Interval,
    /// Resistance of a fault to earth; ten times that where the neutral is isolated or compensated.
    pub earth_resistance_ohm: Interval,
    /// Ratio of signal to noise, uniform.
    pub noise_db: Interval,
    /// Largest amplitude of the harmonics 5 and 7, as a share of the voltage.
    pub harmonics: f64,
    /// Share of the faults on a line that was dead before.
    pub dead_share: f64,
    /// Share of the faults that the breaker clears within the record.
    pub cleared_share: f64,
}

impl Default for NetworkRanges {
    fn default() -> Self {
        Self {
            nominal_kv: Interval::new(4.0, 500.0),
            fault_level_mva: Interval::new(40.0, 20_000.0),
            x_over_r: Interval::new(2.0, 30.0),
            line_km: Interval::new(0.5, 250.0),
            phase_resistance_ohm: Interval::new(0.01, 10.0),
            earth_resistance_ohm: Interval::new(0.01, 60.0),
            noise_db: Interval::new(30.0, 60.0),
            harmonics: 0.02,
            dead_share: 0.05,
            cleared_share: 0.5,
        }
    }
}

/// Everything that decides which records are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkSettings {
    /// Seed of all random draws.
    pub seed: u64,
    /// Records of each class.
    pub records_per_class: u32,
    /// Which classes.
    pub classes: NetworkClasses,
    /// Cycles before inception that a record shows.
    pub cycles_before: usize,
    /// Cycles from inception on that a record shows.
    pub cycles_after: usize,
    /// What is drawn at random.
    pub ranges: NetworkRanges,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self {
            seed: 1,
            records_per_class: 800,
            classes: NetworkClasses::Faults,
            cycles_before: 3,
            cycles_after: 8,
            ranges: NetworkRanges::default(),
        }
    }
}

impl NetworkSettings {
    /// Everything that is out of range, for the text beside each field.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        problems.require_within("records_per_class", self.records_per_class, 1, 1_000_000);
        problems.require_within("cycles_before", self.cycles_before, 2, 1000);
        problems.require_within("cycles_after", self.cycles_after, 2, 1000);
        let ranges = &self.ranges;
        let intervals = [
            ("nominal_kv", ranges.nominal_kv, 0.4, 1200.0),
            ("fault_level_mva", ranges.fault_level_mva, 1.0, 100_000.0),
            ("x_over_r", ranges.x_over_r, 0.1, 100.0),
            ("line_km", ranges.line_km, 0.01, 1000.0),
            (
                "phase_resistance_ohm",
                ranges.phase_resistance_ohm,
                1e-3,
                1e4,
            ),
            (
                "earth_resistance_ohm",
                ranges.earth_resistance_ohm,
                1e-3,
                1e4,
            ),
            ("noise_db", ranges.noise_db, 0.0, 200.0),
        ];
        for (setting, interval, low, high) in intervals {
            interval.check(setting, Interval::new(low, high), &mut problems);
        }
        for (setting, share) in [
            ("harmonics", ranges.harmonics),
            ("dead_share", ranges.dead_share),
            ("cleared_share", ranges.cleared_share),
        ] {
            problems.require_within(setting, share, 0.0, 1.0);
        }
        problems.into_list()
    }
}

/// Voltages and currents at the breaker, and at the far end of the line.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkWaveforms {
    /// Samples per second.
    pub rate_hz: f64,
    /// Time of the inception after the first sample.
    pub inception_s: f64,
    /// When the last pole that carried part of the fault interrupted its current; none if the breaker stays closed.
    pub clearing_s: Option<f64>,
    /// Phase-to-earth voltages a, b, c in V.
    pub voltages_v: [Vec<f64>; 3],
    /// Currents into the line a, b, c in A.
    pub currents_a: [Vec<f64>; 3],
    /// Voltages and currents into the line at its far end; the inrush of a transformer has none.
    pub far_end: Option<[Vec<f64>; 6]>,
}

/// Makes records; its settings are known to be legal.
#[derive(Clone, Debug)]
pub struct NetworkSimulator {
    settings: NetworkSettings,
}

impl NetworkSimulator {
    /// Refuses settings that are out of range, naming the first one.
    pub fn new(settings: NetworkSettings) -> Result<Self, SimulateError> {
        match settings.problems().into_iter().next() {
            Some(problem) => Err(SimulateError::Setting(problem)),
            None => Ok(Self { settings }),
        }
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &NetworkSettings {
        &self.settings
    }

    /// Every record of the settings: class and number within the class.
    pub fn records(&self) -> impl Iterator<Item = (NetworkClass, u32)> + use<> {
        let count = self.settings.records_per_class;
        let of = move |class| (0..count).map(move |index| (class, index));
        self.settings.classes.all().into_iter().flat_map(of)
    }
}

#[cfg(test)]
mod tests;
