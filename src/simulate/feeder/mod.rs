//! Short circuits on a 20 kV distribution feeder, solved in time as EMTP does.

mod circuit;
mod network;
mod phases;
mod record;
mod scenario;
mod transient;

use serde::{Deserialize, Serialize};

pub use network::{Consumer, FeederNetwork, Section, SequenceImpedance};
pub use scenario::{Fault, FaultClass, FaultRanges, LoadState, Scenario};

use super::random::{check_value, stream};
use super::{SettingProblem, SimulateError};
use transient::Timing;

/// Everything that decides which records are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FeederSettings {
    /// Seed of all random draws.
    pub seed: u64,
    /// Records of each class.
    pub records_per_class: usize,
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
        }
    }
}

impl FeederSettings {
    /// Everything that is out of range, for the text beside each field.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = Vec::new();
        let counts = [
            ("records_per_class", self.records_per_class, 1, 1_000_000),
            ("samples_per_cycle", self.samples_per_cycle, 8, 10_000),
            ("cycles_before", self.cycles_before, 0, 1000),
            ("cycles_after", self.cycles_after, 1, 1000),
            ("steps_per_sample", self.steps_per_sample, 1, 1000),
        ];
        for (setting, value, low, high) in counts {
            check_value(setting, value, low, high, &mut problems);
        }
        self.network.check(&mut problems);
        self.ranges.check(&mut problems);
        problems
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

    /// Draws record `index` of `class`, whatever the number of records.
    pub fn scenario(&self, class: FaultClass, index: u32) -> Scenario {
        let number = (class.label() as u64) << 32 | u64::from(index);
        let mut rng = stream(self.settings.seed, number);
        Scenario::draw(
            class,
            &self.settings.network,
            &self.settings.ranges,
            &mut rng,
        )
    }

    /// Solves a scenario in time.
    pub fn waveforms(&self, scenario: &Scenario) -> FeederWaveforms {
        let settings = &self.settings;
        let circuit = scenario.circuit(&settings.network);
        let steps_per_s = self.rate_hz() * settings.steps_per_sample as f64;
        let timing = Timing {
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
