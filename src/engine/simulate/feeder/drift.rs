//! A feeder that changes while its records come: grounding and load drift.

use serde::{Deserialize, Serialize};

use super::super::SIMULATED_START;
use super::{FaultClass, FeederSettings, FeederSimulator};
use crate::math::{random_stream, shuffle};
use crate::records::StartTime;
use crate::settings::SettingProblems;
use crate::simulate::Interval;

/// Time from one record to the next.
const STEP_S: f64 = 600.0;

/// What of the feeder changes, and when: factors are 1 before `begin`, reach their value at `end` and stay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FeederDrift {
    /// Factor on the zero-sequence impedance of the source: above 1 the grounding becomes weaker, as when the neutral
    /// is moved from a resistor to a coil, or a resistor burns through.
    pub grounding: f64,
    /// Factor on the load of every consumer.
    pub load: f64,
    /// Share of the records after which the change begins.
    pub begin: f64,
    /// Share of the records at which it is complete; the same as `begin` for a sudden change.
    pub end: f64,
}

impl Default for FeederDrift {
    fn default() -> Self {
        Self {
            grounding: 20.0,
            load: 1.5,
            begin: 0.45,
            end: 0.55,
        }
    }
}

impl FeederDrift {
    pub(super) fn check(&self, problems: &mut SettingProblems) {
        problems.require_within("drift.grounding", self.grounding, 1.0, 1000.0);
        problems.require_within("drift.load", self.load, 0.1, 2.0);
        problems.require_within("drift.begin", self.begin, 0.0, 1.0);
        problems.require_within("drift.end", self.end, self.begin.min(1.0), 1.0);
    }

    /// How far the change is at a share of the records, 0 to 1.
    fn progress(&self, share: f64) -> f64 {
        if share <= self.begin {
            0.0
        } else if share >= self.end {
            1.0
        } else {
            (share - self.begin) / (self.end - self.begin)
        }
    }

    /// The settings as they are at a share of the records; impedances change evenly in their logarithm.
    fn applied(&self, settings: &FeederSettings, share: f64) -> FeederSettings {
        let progress = self.progress(share);
        let mut then = FeederSettings {
            drift: None,
            ..settings.clone()
        };
        let grounding = self.grounding.powf(progress);
        then.network.source_impedance.r0 *= grounding;
        then.network.source_impedance.x0 *= grounding;
        let load = self.load.powf(progress);
        let Interval { low, high } = then.ranges.load_level;
        // As much as settings allow: twice the rating.
        then.ranges.load_level = Interval::new((low * load).min(2.0), (high * load).min(2.0));
        then
    }
}

impl FeederSimulator {
    /// The simulator as the feeder is when record `index` of each class comes; none where nothing changes.
    pub(super) fn as_of(&self, index: u32) -> Option<Self> {
        let drift = self.settings.drift?;
        let share = f64::from(index) / f64::from(self.settings.records_per_class.max(1));
        let settings = drift.applied(&self.settings, share);
        Some(Self { settings })
    }

    /// When a record starts: where the feeder changes one after the other, the classes in another order every time.
    pub(super) fn start_of(&self, class: FaultClass, index: u32) -> Option<StartTime> {
        if self.settings.drift.is_none() {
            return Some(SIMULATED_START);
        }
        let mut order: Vec<usize> = (0..FaultClass::ALL.len()).collect();
        let number = u64::from(index);
        let mut random = random_stream(self.settings.seed, "feeder order", number);
        shuffle(&mut order, &mut random);
        let round = f64::from(index) * FaultClass::ALL.len() as f64;
        SIMULATED_START.plus_seconds((round + order[class.label()] as f64) * STEP_S)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drifting() -> FeederSimulator {
        FeederSimulator::new(FeederSettings {
            records_per_class: 20,
            drift: Some(FeederDrift::default()),
            ..FeederSettings::default()
        })
        .expect("legal settings")
    }

    fn peak_a(simulator: &FeederSimulator, index: u32) -> f64 {
        let record = simulator.record(FaultClass::SingleLineToGround, index);
        let n = record.channels[3].n_samples;
        let currents = (3..6).map(|channel| record.read(channel, 0..n).expect("in memory"));
        currents
            .flatten()
            .fold(0.0, |most: f64, i| most.max(i.abs()))
    }

    #[test]
    fn the_first_records_are_those_of_a_feeder_that_stays_and_the_last_of_another() {
        let drifting = drifting();
        let staying = FeederSimulator::new(FeederSettings {
            records_per_class: 20,
            ..FeederSettings::default()
        })
        .expect("legal settings");
        assert_eq!(peak_a(&drifting, 2), peak_a(&staying, 2));
        let then = drifting.as_of(19).expect("it drifts").settings;
        let (before, after) = (staying.settings.network, then.network);
        let ratio = after.source_impedance.x0 / before.source_impedance.x0;
        assert!((ratio - 20.0).abs() < 1e-9, "{ratio}");
        let Interval { low, high } = then.ranges.load_level;
        assert!((low - 0.45).abs() < 1e-12 && (high - 1.5).abs() < 1e-12);
    }

    #[test]
    fn records_come_one_after_the_other() {
        let simulator = drifting();
        let mut starts: Vec<f64> = simulator
            .records()
            .map(|(class, index)| {
                let start = simulator
                    .record(class, index)
                    .start
                    .expect("it has a start");
                start.seconds_since(SIMULATED_START)
            })
            .collect();
        starts.sort_by(f64::total_cmp);
        let expected: Vec<f64> = (0..100).map(|number| 600.0 * f64::from(number)).collect();
        assert_eq!(starts, expected);
    }

    #[test]
    fn a_change_backwards_is_refused() {
        let settings = FeederSettings {
            drift: Some(FeederDrift {
                begin: 0.6,
                end: 0.4,
                ..FeederDrift::default()
            }),
            ..FeederSettings::default()
        };
        let problems = settings.problems();
        assert!(
            problems.iter().any(|p| p.field == "drift.end"),
            "{problems:?}"
        );
    }
}
