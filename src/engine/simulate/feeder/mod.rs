//! Short circuits on a 20 kV distribution feeder, solved in time as EMTP does.
//!
//! # Network
//!
//! An ideal three-phase source behind its impedance feeds a tree of line sections
//! with consumers at their ends ([`FeederNetwork`]). A section is a series branch
//! of mutually coupled R and L,
//!
//! ```text
//! u = R i + L di/dt,   R = [[s m m] [m s m] [m m s]],   s = (r0 + 2 r1)/3,   m = (r0 − r1)/3
//! ```
//!
//! (L alike from x0/ω and x1/ω): a transposed line with the given sequence
//! impedances. Consumers are RL branches in delta, since Dyn transformers let no
//! zero-sequence current pass; their three branches differ (unbalance). A fault is a
//! star of resistances at any point of any section, isolated or earthed:
//!
//! | class | star |
//! |---|---|
//! | SLG | R_f from one phase to earth |
//! | LL | R_f between two phases |
//! | LLG | R_f from two phases each to a common point, R_e from there to earth |
//! | LLL | R_f from each phase to an isolated common point |
//!
//! The default is a feeder of 23 km and 5.3 MVA: 0.8 km of 185 mm² cable, then
//! overhead lines of 126 mm² (trunk) and 73 mm² (laterals), behind a 63/20 kV, 30 MVA
//! transformer (193 MVA at the bus) whose earthing transformer limits earth faults to
//! 1 kA. Impedances are typical catalogue values; R0 of the overhead lines follows
//! Carson's earth return. Capacitances are omitted: they would add a charging current
//! of about 1.5 A (one per cent of the rated current) and, for some milliseconds after
//! inception, a ringing of a few kHz, which real recorders mostly filter out.
//!
//! # What is drawn ([`FaultRanges`])
//!
//! Place uniform over all metres of line, phases uniform over all choices, R_f and R_e
//! independent and log-uniform 0.01 to 50 Ω, inception angle 0 to 360°, each consumer 30 to 100 % of its
//! rating at a power factor of 0.80 to 0.97 with ± 20 % between its branches, source 0.95 to
//! 1.05 pu. Of the records without fault, half see a consumer switched on at time
//! zero. Every record has its own stream of the seed: it depends on seed, class and
//! number alone.
//!
//! # Solution
//!
//! The phasor solution before inception gives the initial state. Trapezoidal companion
//! models then step it ([`FeederSettings::steps_per_sample`] steps between two
//! samples), with two half steps of backward Euler at inception so that the jump of the
//! voltages leaves no oscillation from step to step. The sample at inception shows
//! the network just before it. The tests hold the solution against symmetrical
//! components (0.2 %), against finer steps (0.06 % of the peak, falling by four with every
//! halving) and against Kirchhoff's law.

mod circuit;
mod drift;
mod network;

mod record;
mod scenario;
mod transient;

use serde::{Deserialize, Serialize};

pub use drift::FeederDrift;
pub use network::{Consumer, FeederNetwork, LineSection, SequenceImpedance};
pub use scenario::{Fault, FaultClass, FaultRanges, LoadState, Scenario};

use super::SimulateError;
use crate::math::random_stream;
use crate::settings::{SettingProblem, SettingProblems};
use crate::simulate::declared;
use transient::SwitchingTiming;

/// Everything that decides which records are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FeederSettings {
    /// Seed of all random draws.
    pub seed: u64,
    /// Records of each class.
    pub records_per_class: u32,
    /// Samples in one cycle of the network's frequency.
    pub samples_per_cycle: usize,
    /// Cycles before inception that a record shows.
    pub cycles_before: usize,
    /// Cycles from inception on that a record shows.
    pub cycles_after: usize,
    /// Time steps of the solution between two samples.
    pub steps_per_sample: usize,
    /// The feeder.
    pub network: FeederNetwork,
    /// What is drawn at random.
    pub ranges: FaultRanges,
    /// How the feeder changes from the first record to the last; records without order where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<FeederDrift>,
}

impl Default for FeederSettings {
    fn default() -> Self {
        Self {
            seed: 1,
            records_per_class: 400,
            samples_per_cycle: 200,
            cycles_before: 0,
            cycles_after: 1,
            steps_per_sample: 4,
            network: FeederNetwork::default(),
            ranges: FaultRanges::default(),
            drift: None,
        }
    }
}

impl FeederSettings {
    /// Steps of one record: a few seconds of work and under 100 MB.
    const MOST_STEPS: usize = 2_000_000;

    /// Everything that is out of range, for the text beside each field.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        let per_class = self.records_per_class;
        problems.require_legal(&declared::RECORDS_PER_CLASS, per_class as f64);
        let counts = [
            ("samples_per_cycle", self.samples_per_cycle, 8, 10_000),
            ("cycles_before", self.cycles_before, 0, 1000),
            ("cycles_after", self.cycles_after, 1, 1000),
            ("steps_per_sample", self.steps_per_sample, 1, 1000),
        ];
        for (setting, value, low, high) in counts {
            problems.require_within(setting, value, low, high);
        }
        let cycles = self.cycles_before.saturating_add(self.cycles_after);
        let n_samples = cycles.saturating_mul(self.samples_per_cycle);
        let n_steps = n_samples.saturating_mul(self.steps_per_sample);
        let setting = "cycles × samples_per_cycle × steps_per_sample";
        problems.require_within(setting, n_steps, 1, Self::MOST_STEPS);
        self.network.check(&mut problems);
        self.ranges.check(&mut problems);
        if let Some(drift) = &self.drift {
            drift.check(&mut problems);
        }
        problems.into_list()
    }
}

/// Voltages and currents at the head of the feeder, phase by phase.
#[derive(Clone, Debug, PartialEq)]
pub struct FeederWaveforms {
    /// Samples per second.
    pub rate_hz: f64,
    /// Index of the sample at inception.
    pub inception: usize,
    /// Phase-to-earth voltages a, b, c in V.
    pub voltages_v: [Vec<f64>; 3],
    /// Currents into the feeder a, b, c in A.
    pub currents_a: [Vec<f64>; 3],
}

impl FeederWaveforms {
    /// The six waveforms one after another, voltages first: the sample a learner sees.
    pub fn concatenated(&self) -> Vec<f64> {
        let waveforms = self.voltages_v.iter().chain(&self.currents_a);
        waveforms.flatten().copied().collect()
    }
}

/// Makes records; its settings are known to be legal.
#[derive(Clone, Debug)]
pub struct FeederSimulator {
    settings: FeederSettings,
}

impl FeederSimulator {
    /// Refuses settings that are out of range, naming the first one.
    pub fn new(settings: FeederSettings) -> Result<Self, SimulateError> {
        match settings.problems().into_iter().next() {
            Some(problem) => Err(SimulateError::Setting(problem)),
            None => Ok(Self { settings }),
        }
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &FeederSettings {
        &self.settings
    }

    /// Samples per second of its records.
    pub fn rate_hz(&self) -> f64 {
        self.settings.network.frequency_hz * self.settings.samples_per_cycle as f64
    }

    /// Every record of the settings: class and number within the class.
    pub fn records(&self) -> impl Iterator<Item = (FaultClass, u32)> + use<> {
        let count = self.settings.records_per_class;
        let of = move |class| (0..count).map(move |index| (class, index));
        FaultClass::ALL.into_iter().flat_map(of)
    }

    /// Draws record `index` of `class`, whatever the number of records.
    pub fn scenario(&self, class: FaultClass, index: u32) -> Scenario {
        if let Some(then) = self.as_of(index) {
            return then.scenario(class, index);
        }
        let number = (class.label() as u64) << 32 | u64::from(index);
        let mut random = random_stream(self.settings.seed, "feeder record", number);
        Scenario::draw(
            class,
            &self.settings.network,
            &self.settings.ranges,
            &mut random,
        )
    }

    /// Solves a scenario in time.
    pub fn waveforms(&self, scenario: &Scenario) -> FeederWaveforms {
        let settings = &self.settings;
        let circuit = scenario.circuit(&settings.network);
        let steps_per_s = self.rate_hz() * settings.steps_per_sample as f64;
        let timing = SwitchingTiming {
            step_s: 1.0 / steps_per_s,
            steps_per_sample: settings.steps_per_sample,
            samples_before: settings.cycles_before * settings.samples_per_cycle,
            samples_after: settings.cycles_after * settings.samples_per_cycle + 1,
        };
        let samples = transient::simulate(&circuit, timing);
        let voltage = |p: usize| samples.iter().map(|s| s.voltage.0[p]).collect();
        let current = |p: usize| samples.iter().map(|s| s.current.0[p]).collect();
        FeederWaveforms {
            rate_hz: self.rate_hz(),
            inception: timing.samples_before,
            voltages_v: [voltage(0), voltage(1), voltage(2)],
            currents_a: [current(0), current(1), current(2)],
        }
    }
}

#[cfg(test)]
mod tests;
