//! Samples of fault records: n cycles from the inception, per unit, as waveforms or as phasors, sequence components and harmonics.

use realfft::num_complex::Complex64;
use serde::{Deserialize, Serialize};

use super::inception::first_change;
use super::phase_signals::PhaseSignals;
use super::phases::{PHASE_NAMES, PhaseChoice, PhaseMap};
use super::phasor::{phasor, sequence_components};
use super::resample::{PASSED_SHARE, resample};
use super::{Extraction, FeatureError, Layout, Problem, RejectReason, Rejection, Sample};
use crate::records::Record;

/// Fewest samples per cycle with which a cycle can be compared with the one before.
const MIN_SAMPLES_PER_CYCLE: f64 = 8.0;

/// Fewest points per cycle from which phasors are computed where samples do not divide the cycle evenly.
const MIN_PHASOR_POINTS: usize = 128;

/// The highest harmonic a recipe may ask for.
const MAX_HARMONIC: usize = 50;

/// Where the window of a sample begins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Inception {
    /// Where a signal first differs from its previous cycle.
    Change {
        /// Smallest difference, as a share of the normal amplitude (0.1 is a good start).
        threshold: f64,
    },
    /// At the trigger the record names.
    Trigger,
    /// At a given time after the first sample.
    At {
        /// The time.
        time_s: f64,
    },
}

/// What to do with a record in which nothing changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SteadyRecord {
    /// Take the window at the trigger where the record has one, else after the first cycle: it shows the normal state.
    Take,
    /// Leave the record out.
    Reject,
}

/// What voltages and currents are divided by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum PerUnit {
    /// Nothing: primary volts and amperes.
    Off,
    /// Their amplitude in the cycle before the window, mean of the three phases.
    BeforeInception,
    /// Given peak values of the line.
    Base {
        /// Peak phase voltage.
        voltage_v: f64,
        /// Peak phase current.
        current_a: f64,
    },
}

/// What a sample consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FaultForm {
    /// The six waveforms one after the other (the paper's 6 × 201).
    Waveform {
        /// Points of each waveform, both ends of the window included.
        n_points: usize,
    },
    /// Fundamental phasors (real and imaginary part), magnitudes of the zero, positive and negative sequence, magnitudes of the harmonics.
    Phasors {
        /// The highest harmonic; 1 for none.
        highest_harmonic: usize,
    },
}

/// How a sample is made from a fault record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRecipe {
    /// Channels named by hand.
    pub phases: PhaseChoice,
    /// Nominal frequency, where the record does not tell or tells wrongly.
    pub nominal_hz: Option<f64>,
    /// Where the window begins.
    pub inception: Inception,
    /// What to do where nothing changes.
    pub steady: SteadyRecord,
    /// Length of the window in cycles.
    pub n_cycles: usize,
    /// What voltages and currents are divided by.
    pub per_unit: PerUnit,
    /// What a sample consists of.
    pub form: FaultForm,
}

impl Default for FaultRecipe {
    /// The paper's form, one cycle of 6 × 201 values, found and scaled by the record itself.
    fn default() -> Self {
        Self {
            phases: PhaseChoice::default(),
            nominal_hz: None,
            inception: Inception::Change { threshold: 0.1 },
            steady: SteadyRecord::Take,
            n_cycles: 1,
            per_unit: PerUnit::BeforeInception,
            form: FaultForm::Waveform { n_points: 201 },
        }
    }
}

/// Where the window of a record lies, for showing it before features are computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FaultWindow {
    /// Start of the window after the first sample of the record.
    pub start_s: f64,
    /// Length of the window.
    pub duration_s: f64,
    /// Whether a change, a trigger or a given time stands at its start; false for a steady record.
    pub has_inception: bool,
}

impl FaultRecipe {
    /// What is wrong with the settings, field by field; nothing when the recipe can be used.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut require = |holds: bool, field: &'static str, message: String| {
            if !holds {
                problems.push(Problem { field, message });
            }
        };
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if let Some(nominal_hz) = self.nominal_hz {
            let text = format!("nominal frequency must be more than 0 Hz, but is {nominal_hz} Hz");
            require(positive(nominal_hz), "nominal_hz", text);
        }
        match self.inception {
            Inception::Change { threshold } => {
                let text = format!("threshold must be more than 0, but is {threshold}");
                require(positive(threshold), "threshold", text);
            }
            Inception::At { time_s } => {
                let text = format!("time must be 0 s or later, but is {time_s} s");
                require(time_s.is_finite() && time_s >= 0.0, "time_s", text);
            }
            Inception::Trigger => {}
        }
        let text = format!(
            "number of cycles must be 1 to 100, but is {}",
            self.n_cycles
        );
        require((1..=100).contains(&self.n_cycles), "n_cycles", text);
        if let PerUnit::Base {
            voltage_v,
            current_a,
        } = self.per_unit
        {
            let text =
                format!("bases must be more than 0, but are {voltage_v} V and {current_a} A");
            require(positive(voltage_v) && positive(current_a), "per_unit", text);
        }
        match self.form {
            FaultForm::Waveform { n_points } => {
                let text = format!("points per waveform must be 2 to 100000, but are {n_points}");
                require((2..=100_000).contains(&n_points), "n_points", text);
            }
            FaultForm::Phasors { highest_harmonic } => {
                let text = format!(
                    "highest harmonic must be 1 to {MAX_HARMONIC}, but is {highest_harmonic}"
                );
                require(
                    (1..=MAX_HARMONIC).contains(&highest_harmonic),
                    "highest_harmonic",
                    text,
                );
            }
        }
        problems
    }

    /// Names of the features, in their order.
    pub fn feature_names(&self) -> Vec<String> {
        match self.form {
            FaultForm::Waveform { n_points } => PHASE_NAMES
                .iter()
                .flat_map(|phase| (0..n_points).map(move |point| format!("{phase} {point}")))
                .collect(),
            FaultForm::Phasors { highest_harmonic } => {
                let parts = PHASE_NAMES
                    .iter()
                    .flat_map(|phase| [format!("{phase} re"), format!("{phase} im")]);
                let sequences = ["V0", "V1", "V2", "I0", "I1", "I2"].map(str::to_owned);
                let harmonics = PHASE_NAMES.iter().flat_map(|phase| {
                    (2..=highest_harmonic).map(move |order| format!("{phase} h{order}"))
                });
                parts.chain(sequences).chain(harmonics).collect()
            }
        }
    }

    /// How the features lie side by side.
    pub fn layout(&self) -> Layout {
        match self.form {
            FaultForm::Waveform { n_points } => Layout::Waveform {
                n_channels: 6,
                n_points,
            },
            FaultForm::Phasors { .. } => Layout::Plain,
        }
    }

    /// Finds the window of a record.
    pub fn window(&self, record: &Record) -> Result<FaultWindow, FeatureError> {
        let signals = self.signals(record)?;
        self.window_in(record, &signals)
    }

    /// Makes the sample of a record, or says why there is none.
    pub fn extract(&self, record: &Record) -> Result<Extraction, FeatureError> {
        let signals = self.signals(record)?;
        let window = self.window_in(record, &signals)?;
        let mut extraction = Extraction::new(self.feature_names(), self.layout());
        extraction.notes.clone_from(&signals.notes);
        if !window.has_inception {
            extraction.notes.push(format!(
                "nothing changes in the record: the window at {:.4} s shows its normal state",
                window.start_s
            ));
        }
        match self.sample(&signals, &window)? {
            Ok(values) => extraction.samples.push(Sample {
                start_s: window.start_s,
                duration_s: window.duration_s,
                values,
            }),
            Err(reason) => extraction.rejected.push(Rejection {
                start_s: window.start_s,
                duration_s: window.duration_s,
                reason,
            }),
        }
        Ok(extraction)
    }

    fn signals(&self, record: &Record) -> Result<PhaseSignals, FeatureError> {
        if let Some(problem) = self.problems().into_iter().next() {
            return Err(FeatureError::Recipe(problem));
        }
        let map = PhaseMap::of(record, &self.phases);
        let Some(channels) = map.complete() else {
            return Err(FeatureError::Unmapped {
                missing: map.missing().join(", "),
                channels: record
                    .channels
                    .iter()
                    .take(12)
                    .map(|channel| channel.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            });
        };
        let stated = record.grid.as_ref().and_then(|grid| grid.line_frequency_hz);
        let nominal_hz = self
            .nominal_hz
            .or(stated)
            .filter(|hz| hz.is_finite() && *hz > 0.0)
            .ok_or(FeatureError::NoFrequency)?;
        let signals = PhaseSignals::read(record, channels, nominal_hz)?;
        let samples_per_cycle = signals.rate_hz / nominal_hz;
        if !(samples_per_cycle >= MIN_SAMPLES_PER_CYCLE) {
            return Err(FeatureError::TooCoarse {
                rate_hz: signals.rate_hz,
                nominal_hz,
                needed_hz: MIN_SAMPLES_PER_CYCLE * nominal_hz,
            });
        }
        Ok(signals)
    }

    fn window_in(
        &self,
        record: &Record,
        signals: &PhaseSignals,
    ) -> Result<FaultWindow, FeatureError> {
        let cycle_s = 1.0 / signals.nominal_hz;
        let trigger_s = record.grid.as_ref().and_then(|grid| grid.trigger_s);
        let duration_s = self.n_cycles as f64 * cycle_s;
        let fits = |start_s: &f64| {
            *start_s >= signals.start_s + cycle_s && start_s + duration_s <= signals.end_s()
        };
        let (start_s, has_inception) = match self.inception {
            Inception::At { time_s } => (time_s, true),
            Inception::Trigger => (trigger_s.ok_or(FeatureError::NoTrigger)?, true),
            Inception::Change { threshold } => {
                let (voltages, currents) = signals.values.split_at(3);
                let cycle = signals.rate_hz * cycle_s;
                match (
                    first_change(&[voltages, currents], cycle, threshold),
                    self.steady,
                ) {
                    (Some(sample), _) => (signals.time_s(sample), true),
                    (None, SteadyRecord::Take) => {
                        let normal_s = signals.start_s + cycle_s;
                        (trigger_s.filter(fits).unwrap_or(normal_s), false)
                    }
                    (None, SteadyRecord::Reject) => {
                        return Err(FeatureError::NoChange { threshold });
                    }
                }
            }
        };
        // Half a sample of rounding is no reason to refuse.
        let slack_s = 0.5 / signals.rate_hz;
        let end_s = start_s + duration_s;
        if !(start_s >= signals.start_s - slack_s && end_s <= signals.end_s() + slack_s) {
            return Err(FeatureError::WindowOutside {
                start_s,
                end_s,
                record_start_s: signals.start_s,
                record_end_s: signals.end_s(),
            });
        }
        Ok(FaultWindow {
            start_s,
            duration_s,
            has_inception,
        })
    }

    /// The features of the window; the inner error is a hole in the recording.
    fn sample(
        &self,
        signals: &PhaseSignals,
        window: &FaultWindow,
    ) -> Result<Result<Vec<f64>, RejectReason>, FeatureError> {
        let bases = self.bases(signals, window)?;
        let n_intervals = match self.form {
            FaultForm::Waveform { n_points } => n_points - 1,
            FaultForm::Phasors { highest_harmonic } => {
                let nominal_hz = signals.nominal_hz;
                let highest_hz = highest_harmonic as f64 * nominal_hz;
                if highest_hz > PASSED_SHARE * signals.rate_hz {
                    return Err(FeatureError::TooCoarse {
                        rate_hz: signals.rate_hz,
                        nominal_hz,
                        needed_hz: highest_hz / PASSED_SHARE,
                    });
                }
                phasor_points_per_cycle(signals) * self.n_cycles
            }
        };
        let mut waveforms = points(signals, window.start_s, window.duration_s, n_intervals)?;
        for (channel, waveform) in waveforms.iter_mut().enumerate() {
            let n_missing = waveform.iter().filter(|value| !value.is_finite()).count();
            if n_missing > 0 {
                return Ok(Err(RejectReason::Missing {
                    channel: signals.names[channel].clone(),
                    n_missing,
                }));
            }
            let base = bases[channel / 3];
            waveform.iter_mut().for_each(|value| *value /= base);
        }
        let values = match self.form {
            FaultForm::Waveform { .. } => waveforms.concat(),
            FaultForm::Phasors { highest_harmonic } => {
                let reference = self.reference_angle(signals, window);
                phasor_features(&waveforms, self.n_cycles, highest_harmonic, reference)
            }
        };
        if values.iter().all(|value| value.is_finite()) {
            Ok(Ok(values))
        } else {
            Ok(Err(RejectReason::Overflow))
        }
    }

    /// What voltages and currents are divided by.
    fn bases(
        &self,
        signals: &PhaseSignals,
        window: &FaultWindow,
    ) -> Result<[f64; 2], FeatureError> {
        match self.per_unit {
            PerUnit::Off => Ok([1.0, 1.0]),
            PerUnit::Base {
                voltage_v,
                current_a,
            } => Ok([voltage_v, current_a]),
            PerUnit::BeforeInception => {
                let before =
                    cycle_before(signals, window.start_s).ok_or(FeatureError::NoCycleBefore {
                        start_s: window.start_s,
                    })?;
                let mean = |three: &[Complex64]| three.iter().map(|x| x.norm()).sum::<f64>() / 3.0;
                let bases = [mean(&before[..3]), mean(&before[3..])];
                for (base, quantity) in bases.iter().zip(["voltage", "current"]) {
                    if !(base.is_finite() && *base > 0.0) {
                        return Err(FeatureError::NoBase { quantity });
                    }
                }
                Ok(bases)
            }
        }
    }

    /// Angle of the positive-sequence voltage before the window, as a relay remembers it: it still exists when the
    /// fault takes all voltage away. `None` without a cycle before the window.
    fn reference_angle(&self, signals: &PhaseSignals, window: &FaultWindow) -> Option<f64> {
        let before = cycle_before(signals, window.start_s)?;
        let [_, positive, _] = sequence_components([before[0], before[1], before[2]]);
        // The cycle before starts exactly one turn earlier, so its angle is that of the window.
        (positive.norm() > 0.0).then(|| positive.arg())
    }
}

/// Points of a cycle from which phasors are computed: the samples themselves where they divide the cycle evenly.
fn phasor_points_per_cycle(signals: &PhaseSignals) -> usize {
    let samples_per_cycle = signals.rate_hz / signals.nominal_hz;
    let whole = samples_per_cycle.round();
    if (samples_per_cycle - whole).abs() < 1e-6 {
        whole as usize
    } else {
        MIN_PHASOR_POINTS.max(samples_per_cycle.ceil() as usize)
    }
}

/// Fundamental phasors of the cycle that ends where the window begins, from values before the window only.
fn cycle_before(signals: &PhaseSignals, start_s: f64) -> Option<[Complex64; 6]> {
    let n_points = phasor_points_per_cycle(signals);
    let cycle = signals.rate_hz / signals.nominal_hz;
    let mut phasors = [Complex64::default(); 6];
    for (channel, found) in phasors.iter_mut().enumerate() {
        let end = signals.position(channel, start_s);
        if !(end >= cycle - 0.5) {
            return None;
        }
        let values = &signals.values[channel];
        let before = &values[..values.len().min(end.round() as usize + 1)];
        let first = (end - cycle).max(0.0);
        let wave = resample(before, first, cycle / n_points as f64, n_points)?;
        *found = phasor(&wave, 1, 1);
    }
    phasors.iter().all(|x| x.is_finite()).then_some(phasors)
}

/// The six waveforms at `n_intervals + 1` equally spaced times, each channel shifted by its own skew.
fn points(
    signals: &PhaseSignals,
    start_s: f64,
    duration_s: f64,
    n_intervals: usize,
) -> Result<[Vec<f64>; 6], FeatureError> {
    let step = duration_s * signals.rate_hz / n_intervals as f64;
    let mut waveforms: [Vec<f64>; 6] = Default::default();
    for (channel, waveform) in waveforms.iter_mut().enumerate() {
        let values = &signals.values[channel];
        let last = values.len().saturating_sub(1) as f64;
        let skew = signals.skews_s[channel] * signals.rate_hz;
        let start = (start_s - signals.start_s) * signals.rate_hz - skew;
        // A window found within half a sample of either end is moved onto the samples.
        let latest = last - step * n_intervals as f64;
        let start = if (start - latest).abs() <= 0.5 + skew.abs() {
            start.min(latest)
        } else {
            start
        };
        let start = if start > -0.5 - skew.abs() {
            start.max(0.0)
        } else {
            start
        };
        *waveform =
            resample(values, start, step, n_intervals + 1).ok_or(FeatureError::WindowOutside {
                start_s,
                end_s: start_s + duration_s,
                record_start_s: signals.start_s,
                record_end_s: signals.end_s(),
            })?;
    }
    Ok(waveforms)
}

/// Phasors turned by the reference angle (the window's own positive sequence if there is none), sequences, harmonics.
fn phasor_features(
    waveforms: &[Vec<f64>; 6],
    n_cycles: usize,
    highest_harmonic: usize,
    reference: Option<f64>,
) -> Vec<f64> {
    let of_order = |order: usize| -> Vec<Complex64> {
        let waves = waveforms.iter();
        waves
            .map(|wave| phasor(&wave[..wave.len() - 1], n_cycles, order))
            .collect()
    };
    let fundamental = of_order(1);
    let sequences = |three: &[Complex64]| sequence_components([three[0], three[1], three[2]]);
    let voltages = sequences(&fundamental[..3]);
    let currents = sequences(&fundamental[3..]);
    let turn = Complex64::cis(-reference.unwrap_or_else(|| voltages[1].arg()));

    let mut features = Vec::with_capacity(18 + 6 * highest_harmonic);
    features.extend(fundamental.iter().flat_map(|x| {
        let turned = x * turn;
        [turned.re, turned.im]
    }));
    features.extend(voltages.iter().chain(&currents).map(|x| x.norm()));
    let harmonics: Vec<Vec<Complex64>> = (2..=highest_harmonic).map(of_order).collect();
    for channel in 0..6 {
        features.extend(harmonics.iter().map(|of_all| of_all[channel].norm()));
    }
    features
}

#[cfg(test)]
mod tests {
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
        let sample = only_sample(&FaultRecipe::default(), &record(10_000.0, true));
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
            ..FaultRecipe::default()
        };
        let expected = only_sample(&recipe, &record(10_000.0, true)).values;
        for rate_hz in [1_600.0, 5_760.0, 30_707.2441, 100_000.0] {
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
            ..FaultRecipe::default()
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
        let taken = FaultRecipe::default().extract(&steady).expect("taken");
        assert!((taken.samples[0].start_s - 0.02).abs() < 1e-9);
        assert!(taken.notes[0].starts_with("nothing changes"));
        let recipe = FaultRecipe {
            steady: SteadyRecord::Reject,
            ..FaultRecipe::default()
        };
        assert!(matches!(
            recipe.extract(&steady),
            Err(FeatureError::NoChange { .. })
        ));
    }

    #[test]
    fn the_trigger_of_the_record_can_start_the_window() {
        let mut triggered = record(10_000.0, true);
        let recipe = FaultRecipe {
            inception: Inception::Trigger,
            ..FaultRecipe::default()
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
            ..FaultRecipe::default()
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
            ..FaultRecipe::default()
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
            FaultRecipe::default().extract(&record).expect("mapped")
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
            ..FaultRecipe::default()
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
                ..FaultRecipe::default()
            };
            if let Ok(found) = recipe.extract(&record) {
                prop_assert_eq!(found.samples.len() + found.rejected.len(), 1);
                prop_assert!(found.samples.iter().all(|s| s.values.iter().all(|v| v.is_finite())));
            }
        }
    }
}
