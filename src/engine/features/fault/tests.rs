//! Claims about windows and features of fault records, on signals known in closed form.

use super::*;
use crate::records::{Channel, Format, GridFacts, Kind, RateSection, TimeAxis, Unit};
use proptest::prelude::*;
use std::f64::consts::PI;
use std::sync::Arc;

const VOLTAGE: f64 = 16_330.0;
const CURRENT: f64 = 120.0;
const INCEPTION_S: f64 = 0.0632;

/// Three voltages and a lagging load; from the inception on phase B carries ten times the current at 40 % voltage.
fn value(channel: usize, time_s: f64, faulted: bool) -> f64 {
    let angle = 2.0 * PI * (50.0 * time_s - (channel % 3) as f64 / 3.0) + 0.3;
    let in_fault = faulted && channel % 3 == 1 && time_s >= INCEPTION_S - 1e-9;
    match (channel < 3, in_fault) {
        (true, false) => VOLTAGE * angle.cos(),
        (true, true) => 0.4 * VOLTAGE * angle.cos(),
        (false, false) => CURRENT * (angle - 0.4).cos(),
        (false, true) => 10.0 * CURRENT * (angle - 1.2).cos(),
    }
}

fn record(rate_hz: f64, faulted: bool) -> Record {
    let n_samples = (0.2 * rate_hz) as usize;
    let data = PHASE_NAMES.iter().enumerate().map(|(channel, name)| {
        let (unit, scale) = if channel < 3 {
            ("kV", 1e-3)
        } else {
            ("A", 1.0)
        };
        let values = (0..n_samples)
            .map(|t| scale * value(channel, t as f64 / rate_hz, faulted))
            .collect();
        (
            Channel::analog(*name, Unit::parse(unit), Some(rate_hz), 0),
            values,
        )
    });
    let mut record = Record::in_memory(
        Format::Simulated,
        Kind::FaultRecord,
        "feeder.cfg",
        data.collect(),
    );
    record.grid = Some(GridFacts {
        line_frequency_hz: Some(50.0),
        ..GridFacts::default()
    });
    record
}

fn only_sample(recipe: &FaultRecipe, record: &Record) -> Sample {
    let mut found = recipe.extract(record).expect("the record fits the recipe");
    assert_eq!(found.samples.len(), 1, "{:?}", found.rejected);
    assert_eq!(found.feature_names.len(), found.samples[0].values.len());
    found.samples.remove(0)
}

#[test]
fn the_window_starts_at_the_fault_and_holds_the_waveform_per_unit() {
    let sample = only_sample(&FaultRecipe::of_waveforms(), &record(10_000.0, true));
    assert_eq!(sample.values.len(), 1206);
    assert!((sample.start_s - INCEPTION_S).abs() < 1.5e-4);
    assert!((sample.duration_s - 0.02).abs() < 1e-12);
    for (place, found) in sample.values.iter().enumerate() {
        let (channel, point) = (place / 201, place % 201);
        let time_s = sample.start_s + point as f64 * 1e-4;
        let base = if channel < 3 { VOLTAGE } else { CURRENT };
        let expected = value(channel, time_s, true) / base;
        assert!(
            (found - expected).abs() < 1e-6 * expected.abs().max(1.0),
            "{place}"
        );
    }
}

#[test]
fn other_rates_give_nearly_the_same_waveform() {
    // Away from the step, where a band-limited signal cannot follow.
    let recipe = FaultRecipe {
        inception: Inception::At { time_s: 0.1 },
        ..FaultRecipe::of_waveforms()
    };
    let expected = only_sample(&recipe, &record(10_000.0, true)).values;
    for rate_hz in [1_600.0, 5_760.0, 30_707.25, 100_000.0] {
        let found = only_sample(&recipe, &record(rate_hz, true)).values;
        for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(
                (found - expected).abs() < 5e-3,
                "{rate_hz} Hz, {place}: {found} {expected}"
            );
        }
    }
}

#[test]
fn phasors_sequences_and_harmonics_match_the_known_signal() {
    let recipe = FaultRecipe {
        inception: Inception::At { time_s: 0.1 },
        per_unit: PerUnit::Base {
            voltage_v: VOLTAGE,
            current_a: CURRENT,
        },
        form: FaultForm::Phasors {
            highest_harmonic: 5,
        },
        n_cycles: 2,
        ..FaultRecipe::of_waveforms()
    };
    for rate_hz in [1_600.0, 10_000.0, 12_345.6] {
        let found = only_sample(&recipe, &record(rate_hz, true)).values;
        // The cycle before 0.1 s is already in the fault: V1 = (1 + 0.4 + 1)/3 in phase with VA.
        let expected_va = Complex64::from_polar(1.0, 0.0);
        let expected_ib = Complex64::from_polar(10.0, -1.2 - 2.0 * PI / 3.0);
        assert!((Complex64::new(found[0], found[1]) - expected_va).norm() < 1e-3);
        assert!((Complex64::new(found[8], found[9]) - expected_ib).norm() < 1e-2);
        let zero_voltage = 0.6 / 3.0;
        assert!((found[12] - zero_voltage).abs() < 1e-3, "{}", found[12]);
        assert!((found[13] - 0.8).abs() < 1e-3);
        assert!((found[14] - zero_voltage).abs() < 1e-3);
        assert!(found[18..].iter().all(|harmonic| *harmonic < 5e-3));
    }
}

#[test]
fn a_steady_record_is_taken_or_left_out_as_asked() {
    let steady = record(10_000.0, false);
    let taken = FaultRecipe::of_waveforms().extract(&steady).expect("taken");
    assert!((taken.samples[0].start_s - 0.02).abs() < 1e-9);
    assert!(taken.notes[0].starts_with("no change found"));
    let recipe = FaultRecipe {
        steady: SteadyRecord::Reject,
        ..FaultRecipe::of_waveforms()
    };
    assert!(matches!(
        recipe.extract(&steady),
        Err(FeatureError::NoChange { .. })
    ));
}

#[test]
fn a_frequency_that_the_record_does_not_state_or_states_wrongly_is_seen() {
    for stated in [None, Some(0.0), Some(60.0)] {
        let mut odd = record(10_000.0, true);
        odd.grid = stated.map(|hz| GridFacts {
            line_frequency_hz: Some(hz),
            ..GridFacts::default()
        });
        let found = FaultRecipe::of_waveforms()
            .extract(&odd)
            .expect("50 Hz is seen");
        assert!((found.samples[0].duration_s - 0.02).abs() < 1e-12);
        assert!(
            found.notes[0].contains("repeat at 50 Hz"),
            "{:?}",
            found.notes
        );
    }
    let given = FaultRecipe {
        nominal_hz: Some(60.0),
        ..FaultRecipe::of_waveforms()
    };
    let window = given.window(&record(10_000.0, true)).expect("believed");
    assert!((window.duration_s - 1.0 / 60.0).abs() < 1e-12);
    let mut flat = record(10_000.0, true);
    flat.grid = None;
    let zeros = flat
        .channels
        .iter()
        .map(|c| (c.clone(), vec![0.0; 2000]))
        .collect();
    let flat = Record::in_memory(Format::Simulated, Kind::FaultRecord, "flat", zeros);
    assert!(matches!(
        FaultRecipe::of_waveforms().extract(&flat),
        Err(FeatureError::NoFrequency)
    ));
}

#[test]
fn the_trigger_of_the_record_can_start_the_window() {
    let mut triggered = record(10_000.0, true);
    let recipe = FaultRecipe {
        inception: Inception::Trigger,
        ..FaultRecipe::of_waveforms()
    };
    assert!(matches!(
        recipe.extract(&triggered),
        Err(FeatureError::NoTrigger)
    ));
    if let Some(grid) = &mut triggered.grid {
        grid.trigger_s = Some(0.05);
    }
    let window = recipe.window(&triggered).expect("there is a trigger");
    assert_eq!(window.start_s, 0.05);
}

#[test]
fn windows_beyond_the_record_are_refused_with_both_ends() {
    let recipe = FaultRecipe {
        inception: Inception::At { time_s: 0.19 },
        ..FaultRecipe::of_waveforms()
    };
    let refusal = recipe
        .extract(&record(10_000.0, true))
        .expect_err("too late");
    assert!(
        refusal
            .to_string()
            .contains("reaches beyond the record (0 to 0.1999 s)"),
        "{refusal}"
    );
}

#[test]
fn a_record_of_one_cycle_needs_a_given_base() {
    let mut short = record(10_000.0, true);
    let values: Vec<Vec<f64>> = (0..6)
        .map(|c| short.read(c, 632..833).expect("there"))
        .collect();
    let data = short.channels.drain(..).zip(values).collect();
    let mut cut = Record::in_memory(Format::Simulated, Kind::FaultRecord, "cut", data);
    cut.grid = short.grid;
    let recipe = FaultRecipe {
        inception: Inception::At { time_s: 0.0 },
        per_unit: PerUnit::Base {
            voltage_v: VOLTAGE,
            current_a: CURRENT,
        },
        ..FaultRecipe::of_waveforms()
    };
    assert_eq!(only_sample(&recipe, &cut).values.len(), 1206);
    let own = FaultRecipe {
        per_unit: PerUnit::BeforeInception,
        ..recipe
    };
    assert!(matches!(
        own.extract(&cut),
        Err(FeatureError::NoCycleBefore { .. })
    ));
}

#[test]
fn holes_in_the_window_reject_the_sample_and_holes_elsewhere_do_not() {
    let damaged = |at: usize| {
        let whole = record(10_000.0, true);
        let mut data: Vec<(Channel, Vec<f64>)> = whole
            .channels
            .iter()
            .enumerate()
            .map(|(c, channel)| (channel.clone(), whole.read_channel(c).expect("there")))
            .collect();
        data[4].1[at] = f64::NAN;
        let mut record = Record::in_memory(Format::Simulated, Kind::FaultRecord, "holes", data);
        record.grid = whole.grid;
        FaultRecipe::of_waveforms()
            .extract(&record)
            .expect("mapped")
    };
    let hit = damaged(700);
    assert!(hit.samples.is_empty());
    assert_eq!(
        hit.rejected[0].reason,
        RejectReason::Missing {
            channel: "IB".into(),
            n_missing: 1
        }
    );
    assert_eq!(damaged(1500).samples.len(), 1);
}

#[test]
fn changing_rates_and_given_times_are_followed() {
    let recipe = FaultRecipe {
        inception: Inception::At { time_s: 0.1 },
        ..FaultRecipe::of_waveforms()
    };
    let expected = only_sample(&recipe, &record(10_000.0, true)).values;
    let sections = [(0.0, 5_000.0, 0, 400), (0.08, 20_000.0, 400, 2000)];
    let mut times = Vec::new();
    for (onset_s, rate_hz, _, n) in sections {
        times.extend((0..n).map(|t| onset_s + t as f64 / rate_hz));
    }
    let data = PHASE_NAMES.iter().enumerate().map(|(channel, name)| {
        let values = times.iter().map(|t| value(channel, *t, true)).collect();
        let unit = if channel < 3 { "V" } else { "A" };
        (Channel::analog(*name, Unit::parse(unit), None, 0), values)
    });
    let mut uneven = Record::in_memory(
        Format::Simulated,
        Kind::FaultRecord,
        "uneven",
        data.collect(),
    );
    uneven.grid = Some(GridFacts {
        line_frequency_hz: Some(50.0),
        ..GridFacts::default()
    });
    let by_section = sections.map(|(onset_s, rate_hz, first_sample, n_samples)| RateSection {
        rate_hz,
        onset_s,
        first_sample,
        n_samples,
    });
    for axis in [
        TimeAxis::Sections(by_section.into()),
        TimeAxis::Stamps(Arc::from(times.clone())),
    ] {
        uneven.time_axis = axis;
        let found = only_sample(&recipe, &uneven).values;
        let worst = found
            .iter()
            .zip(&expected)
            .map(|(x, y)| (x - y).abs())
            .fold(0.0, f64::max);
        assert!(worst < 1e-2, "{worst}");
    }
    uneven.time_axis = TimeAxis::Stamps(Arc::from(vec![0.0; times.len()]));
    assert!(matches!(
        recipe.extract(&uneven),
        Err(FeatureError::TimesDoNotRise { sample: 1, .. })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn hostile_numbers_give_finite_features_or_a_reason(
        values in prop::collection::vec(any::<f64>(), 0..400), rate_hz in prop_oneof![any::<f64>(), Just(1000.0)], nominal_hz in prop_oneof![any::<f64>(), Just(50.0)],
        time_s in prop::option::of(prop_oneof![any::<f64>(), 0.0f64..0.4]), phasors in any::<bool>(), own_base in any::<bool>(),
    ) {
        let data = PHASE_NAMES.iter().map(|name| {
            (Channel::analog(*name, Unit::none(), Some(rate_hz), 0), values.clone())
        });
        let record = Record::in_memory(Format::Simulated, Kind::FaultRecord, "odd", data.collect());
        let recipe = FaultRecipe {
            nominal_hz: Some(nominal_hz),
            inception: match time_s {
                Some(time_s) => Inception::At { time_s },
                None => Inception::Change { threshold: 0.1 },
            },
            form: if phasors { FaultForm::Phasors { highest_harmonic: 3 } } else { FaultForm::Waveform { n_points: 201 } },
            per_unit: if own_base { PerUnit::BeforeInception } else { PerUnit::Off },
            ..FaultRecipe::of_waveforms()
        };
        if let Ok(found) = recipe.extract(&record) {
            prop_assert_eq!(found.samples.len() + found.rejected.len(), 1);
            prop_assert!(found.samples.iter().all(|s| s.values.iter().all(|v| v.is_finite())));
        }
    }
}
