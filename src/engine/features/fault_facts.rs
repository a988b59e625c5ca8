//! What must be known of a fault record before anything in it is measured: frequency, inception, bases of per unit.

use super::FeatureError;
use super::cycle::Cycle;
use super::fault::LEAST_SAMPLES_PER_CYCLE;
use super::inception::first_change;
use super::phase_signals::PhaseSignals;
use super::phases::PhaseMap;
use super::sampled::Sampled;
use crate::records::Record;

/// Smallest change that counts as an inception, as a share of the normal amplitude.
pub const INCEPTION_THRESHOLD: f64 = 0.1;

/// Frequency and inception of a fault record.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FaultFacts {
    /// The nominal frequency; `None` if neither the record nor its voltages tell.
    pub nominal_hz: Option<f64>,
    /// The first lasting change against the previous cycle, if there is one.
    pub inception_s: Option<f64>,
    /// What was assumed, and what could not be found out.
    pub notes: Vec<String>,
}

impl FaultFacts {
    /// Looks at the phases of `map`; where it names only voltages or only currents, at those alone. `given_hz` goes
    /// before the frequency that the record states.
    pub fn of(record: &Record, map: &PhaseMap, given_hz: Option<f64>) -> Self {
        match Self::find(record, map, given_hz) {
            Ok(facts) => facts,
            Err(error) => {
                let stated = record.grid.as_ref().and_then(|grid| grid.line_frequency_hz);
                Self {
                    nominal_hz: given_hz.or(stated).filter(|hz| *hz > 0.0),
                    inception_s: None,
                    notes: vec![format!("the inception was not searched: {error}")],
                }
            }
        }
    }

    fn find(record: &Record, map: &PhaseMap, given_hz: Option<f64>) -> Result<Self, FeatureError> {
        let (voltages, currents) = map.channels.split_at(3);
        let whole = |three: &[Option<usize>]| match *three {
            [Some(a), Some(b), Some(c)] => Some([a, b, c]),
            _ => None,
        };
        let (first, second) = match (whole(voltages), whole(currents)) {
            (Some(voltages), Some(currents)) => (voltages, currents),
            // One quantity stands for both: it is compared with itself twice.
            (Some(only), None) | (None, Some(only)) => (only, only),
            (None, None) => {
                return Err(FeatureError::Unmapped {
                    missing: map.missing().join(", "),
                    channels: record.first_channel_names(),
                });
            }
        };
        let [a, b, c] = first;
        let [d, e, f] = second;
        let signals = PhaseSignals::read(record, [a, b, c, d, e, f], given_hz)?;
        let nominal_hz = signals.nominal_hz;
        if signals.rate_hz < LEAST_SAMPLES_PER_CYCLE * nominal_hz {
            return Err(FeatureError::TooCoarse {
                rate_hz: signals.rate_hz,
                nominal_hz,
                needed_hz: LEAST_SAMPLES_PER_CYCLE * nominal_hz,
            });
        }
        let (voltages, currents) = signals.values.split_at(3);
        let cycle = signals.rate_hz / nominal_hz;
        let mut notes = signals.notes.clone();
        // A change must last a quarter cycle after the first one that it is compared with.
        let is_long_enough = voltages[0].len() as f64 >= 1.25 * cycle;
        let change = match is_long_enough {
            true => first_change(&[voltages, currents], cycle, INCEPTION_THRESHOLD),
            false => {
                notes.push("the record is too short to find its inception".to_owned());
                None
            }
        };
        Ok(Self {
            nominal_hz: Some(nominal_hz),
            inception_s: change.map(|sample| signals.time_s(sample)),
            notes,
        })
    }
}

/// The amplitude that counts as 1 per unit: the mean of the three phases over the last whole cycle before the
/// inception, over the first whole cycle of a record without one. `None` where there is no such cycle, or nothing in it.
pub fn normal_amplitude(
    phases: &[Sampled<'_>; 3],
    inception_s: Option<f64>,
    nominal_hz: f64,
) -> Option<f64> {
    let (start_s, _) = phases[0].times.span_s()?;
    let end_s = match inception_s {
        Some(inception_s) => {
            // The sample at the inception has changed already.
            let before = phases[0].times.nearest(inception_s)?.checked_sub(1)?;
            phases[0].times.time_s(before)?
        }
        None => start_s + 1.0 / nominal_hz,
    };
    let mut sum = 0.0;
    for phase in phases {
        sum += Cycle::before(phase, end_s, nominal_hz)?.phasor(1).norm();
    }
    let mean = sum / 3.0;
    (mean > 0.0).then_some(mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::sampled::SampleTimes;
    use crate::records::{Channel, Format, GridFacts, Kind, RateSection, TimeAxis, Unit};
    use std::f64::consts::PI;

    /// Three currents of 100 A that become 800 A at 0.25 s; 1 kHz before 0.2 s and 4 kHz after.
    fn currents() -> Record {
        let sections = vec![
            RateSection {
                rate_hz: 1000.0,
                onset_s: 0.0,
                first_sample: 0,
                n_samples: 200,
            },
            RateSection {
                rate_hz: 4000.0,
                onset_s: 0.2,
                first_sample: 200,
                n_samples: 1200,
            },
        ];
        let times = SampleTimes::Stretches(sections.clone());
        let data = ["IA", "IB", "IC"].iter().enumerate().map(|(phase, name)| {
            let wave = |sample| {
                let t = times.time_s(sample).expect("inside");
                let size = if t < 0.25 { 100.0 } else { 800.0 };
                size * (2.0 * PI * (50.0 * t - phase as f64 / 3.0)).cos()
            };
            let values = (0..1400).map(wave).collect();
            (Channel::analog(*name, Unit::parse("A"), None, 0), values)
        });
        let mut record = Record::in_memory(
            Format::Comtrade1999,
            Kind::FaultRecord,
            "currents",
            data.collect(),
        );
        record.time_axis = TimeAxis::Sections(sections);
        record.grid = Some(GridFacts {
            line_frequency_hz: Some(50.0),
            ..GridFacts::default()
        });
        record
    }

    #[test]
    fn currents_alone_tell_the_inception_also_where_the_rate_changes() {
        let record = currents();
        let facts = FaultFacts::of(&record, &PhaseMap::guess(&record.channels), None);
        assert_eq!(facts.nominal_hz, Some(50.0));
        let inception_s = facts.inception_s.expect("eight times the current");
        assert!((inception_s - 0.25).abs() < 0.001, "{inception_s}");
    }

    #[test]
    fn a_record_of_one_cycle_has_no_inception() {
        let mut record = currents();
        let one_cycle = |channel: usize| record.read(channel, 0..21).expect("in memory");
        let data = (0..3).map(|channel| (record.channels[channel].clone(), one_cycle(channel)));
        let mut data: Vec<_> = data.collect();
        data.iter_mut().for_each(|(c, _)| c.rate_hz = Some(1000.0));
        // The last sample alone differs from the cycle before.
        data[0].1[20] *= 3.0;
        let grid = record.grid.take();
        record = Record::in_memory(Format::Comtrade1999, Kind::FaultRecord, "short", data);
        record.grid = grid;
        let facts = FaultFacts::of(&record, &PhaseMap::guess(&record.channels), Some(50.0));
        assert_eq!((facts.nominal_hz, facts.inception_s), (Some(50.0), None));
        assert!(facts.notes[0].contains("too short"));
    }

    #[test]
    fn the_base_is_the_amplitude_before_the_inception() {
        let record = currents();
        let times = SampleTimes::of(&record, 0).expect("sections");
        let values: Vec<Vec<f64>> = (0..3)
            .map(|channel| record.read_channel(channel).expect("in memory"))
            .collect();
        let phases = [0, 1, 2].map(|phase: usize| Sampled {
            times: &times,
            values: &values[phase],
            skew_s: 0.0,
        });
        let base = normal_amplitude(&phases, Some(0.25), 50.0).expect("a cycle before");
        assert!((base - 100.0).abs() < 1e-3, "{base}");
        let base = normal_amplitude(&phases, None, 50.0).expect("a first cycle");
        assert!((base - 100.0).abs() < 1e-9, "{base}");
        assert_eq!(normal_amplitude(&phases, Some(0.01), 50.0), None);
    }

    #[test]
    fn a_record_without_phases_says_why_nothing_was_found() {
        let mut record = currents();
        record.channels.truncate(1);
        let facts = FaultFacts::of(&record, &PhaseMap::guess(&record.channels), None);
        assert_eq!((facts.nominal_hz, facts.inception_s), (Some(50.0), None));
        assert!(facts.notes[0].contains("VA, VB, VC, IA, IB, IC"));
    }
}
