//! Samples of fault records: n cycles from the inception, per unit, as waveforms or as phasors, sequence components and harmonics.

use num_complex::Complex64;
use serde::{Deserialize, Serialize};

use super::declared;
use super::fault_phasors::{CYCLES_BEFORE, JUDGED_CYCLES, MAGNITUDE_NAMES, magnitudes};
use super::inception::first_change;
use super::phase_signals::PhaseSignals;
use super::phases::{Bay, PHASE_NAMES, PhaseChoice, PhaseMap};
use super::phasor::{phasor, sequence_components};
use super::resample::{PASSED_SHARE, resample};
use super::{Extraction, FeatureError, Layout, RejectReason, RejectedStretch, Sample, is_positive};
use crate::records::Record;
use crate::settings::{SettingProblem, SettingProblems};

/// Fewest samples per cycle from which values between the samples are taken.
pub(super) const MIN_SAMPLES_PER_CYCLE: f64 = 8.0;

/// Fewest samples per cycle with which a cycle can be compared with the one before.
pub(super) const LEAST_SAMPLES_PER_CYCLE: f64 = 4.0;

/// Fewest points per cycle from which phasors are computed where samples do not divide the cycle evenly.
const MIN_PHASOR_POINTS: usize = 128;

/// How many times more the currents of another bay must change to be taken instead of the likeliest: the sum of two
/// circuits changes twice as much as either.
const CLEARLY_MORE: f64 = 3.0;

/// The highest harmonic a recipe may ask for.
pub(super) const MAX_HARMONIC: usize = 50;

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
    /// Fifteen magnitudes of changes, sequences and voltages (MAG15), scaled by the record's own cycle before the
    /// inception: what is the same on every network.
    Magnitudes,
}

/// How a sample is made from a fault record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
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
    /// What transfers from network to network: fifteen magnitudes, found and scaled by the record itself.
    fn default() -> Self {
        Self {
            phases: PhaseChoice::default(),
            nominal_hz: None,
            inception: Inception::Change { threshold: 0.1 },
            steady: SteadyRecord::Take,
            n_cycles: 1,
            per_unit: PerUnit::BeforeInception,
            form: FaultForm::Magnitudes,
        }
    }
}

impl FaultRecipe {
    /// The paper's form for records that were cut at the inception and show no cycle before it: the window starts at
    /// the trigger, and the bases (peak values of one phase) must be known.
    pub fn of_cut_records(voltage_v: f64, current_a: f64) -> Self {
        Self {
            inception: Inception::Trigger,
            per_unit: PerUnit::Base {
                voltage_v,
                current_a,
            },
            ..Self::of_waveforms()
        }
    }

    /// The paper's form, one cycle of 6 × 201 values, found and scaled by the record itself.
    pub fn of_waveforms() -> Self {
        Self {
            form: FaultForm::Waveform { n_points: 201 },
            ..Self::default()
        }
    }

    /// Length of the window in cycles of the nominal frequency.
    fn window_cycles(&self) -> f64 {
        match self.form {
            FaultForm::Magnitudes => JUDGED_CYCLES,
            FaultForm::Waveform { .. } | FaultForm::Phasors { .. } => self.n_cycles as f64,
        }
    }

    /// Fewest samples per cycle that the form can be computed from.
    fn least_samples_per_cycle(&self) -> f64 {
        match self.form {
            FaultForm::Magnitudes => LEAST_SAMPLES_PER_CYCLE,
            FaultForm::Waveform { .. } | FaultForm::Phasors { .. } => MIN_SAMPLES_PER_CYCLE,
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
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        if let Some(nominal_hz) = self.nominal_hz {
            let text = format!("nominal frequency must be more than 0 Hz, but is {nominal_hz} Hz");
            problems.require(is_positive(nominal_hz), "nominal_hz", text);
        }
        match self.inception {
            Inception::Change { threshold } => {
                let text = format!("threshold must be more than 0, but is {threshold}");
                problems.require(is_positive(threshold), "threshold", text);
            }
            Inception::At { time_s } => {
                let text = format!("time must be 0 s or later, but is {time_s} s");
                problems.require(time_s.is_finite() && time_s >= 0.0, "time_s", text);
            }
            Inception::Trigger => {}
        }
        let text = format!(
            "number of cycles must be 1 to 100, but is {}",
            self.n_cycles
        );
        problems.require((1..=100).contains(&self.n_cycles), "n_cycles", text);
        if let PerUnit::Base {
            voltage_v,
            current_a,
        } = self.per_unit
        {
            let text =
                format!("bases must be more than 0, but are {voltage_v} V and {current_a} A");
            problems.require(
                is_positive(voltage_v) && is_positive(current_a),
                "per_unit",
                text,
            );
        }
        match self.form {
            FaultForm::Waveform { n_points } => {
                let text = format!("points per waveform must be 2 to 100000, but are {n_points}");
                problems.require(
                    (2..=100_000).contains(&n_points),
                    declared::N_POINTS.name,
                    text,
                );
            }
            FaultForm::Phasors { highest_harmonic } => {
                let text = format!(
                    "highest harmonic must be 1 to {MAX_HARMONIC}, but is {highest_harmonic}"
                );
                problems.require(
                    (1..=MAX_HARMONIC).contains(&highest_harmonic),
                    declared::HIGHEST_HARMONIC.name,
                    text,
                );
            }
            FaultForm::Magnitudes => {}
        }
        problems.into_list()
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
            FaultForm::Magnitudes => MAGNITUDE_NAMES.map(str::to_owned).to_vec(),
        }
    }

    /// How the features lie side by side.
    pub fn layout(&self) -> Layout {
        match self.form {
            FaultForm::Waveform { n_points } => Layout::Waveform {
                n_channels: 6,
                n_points,
            },
            FaultForm::Phasors { .. } | FaultForm::Magnitudes => Layout::Plain,
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
                "no change found in the record: the window at {:.4} s shows its normal state",
                window.start_s
            ));
        }
        match self.sample(&signals, &window)? {
            Ok(values) => extraction.samples.push(Sample {
                start_s: window.start_s,
                duration_s: window.duration_s,
                values,
            }),
            Err(reason) => extraction.rejected.push(RejectedStretch {
                start_s: window.start_s,
                duration_s: window.duration_s,
                reason,
            }),
        }
        Ok(extraction)
    }

    /// The channels that the recipe takes from a record: those named by hand and the likeliest bay. Of several bays
    /// another one is taken where its currents change far more: that is where the fault is.
    pub fn phase_map(&self, record: &Record) -> PhaseMap {
        let usual = PhaseMap::of(record, &self.phases);
        let is_by_hand = self.phases.channels.iter().any(Option::is_some);
        let bays = Bay::all(&record.channels);
        if is_by_hand || bays.len() < 2 {
            return usual;
        }
        let change = |bay: &Bay| {
            let signals = PhaseSignals::read(record, bay.channels, self.nominal_hz);
            signals.map_or(0.0, |signals| signals.largest_current_change())
        };
        let mut found = (CLEARLY_MORE * change(&bays[0]), None);
        for bay in &bays[1..] {
            let changed = change(bay);
            if changed > found.0 {
                found = (changed, Some(bay.channels.map(Some)));
            }
        }
        found.1.map_or(usual, |channels| PhaseMap { channels })
    }

    /// The six signals that the recipe takes from a record.
    pub fn signals(&self, record: &Record) -> Result<PhaseSignals, FeatureError> {
        if let Some(problem) = self.problems().into_iter().next() {
            return Err(FeatureError::Recipe(problem));
        }
        let map = self.phase_map(record);
        let Some(channels) = map.complete() else {
            return Err(FeatureError::Unmapped {
                missing: map.missing().join(", "),
                channels: record.first_channel_names(),
            });
        };
        let mut signals = PhaseSignals::read(record, channels, self.nominal_hz)?;
        if self.phases.is_reversed {
            for current in &mut signals.values[3..] {
                current.iter_mut().for_each(|value| *value = -*value);
            }
        }
        let nominal_hz = signals.nominal_hz;
        let needed_hz = self.least_samples_per_cycle() * nominal_hz;
        if signals.rate_hz < needed_hz * (1.0 - 1e-6) {
            return Err(FeatureError::TooCoarse {
                rate_hz: signals.rate_hz,
                nominal_hz,
                needed_hz,
            });
        }
        Ok(signals)
    }

    /// Finds the window in signals that were read.
    pub fn window_in(
        &self,
        record: &Record,
        signals: &PhaseSignals,
    ) -> Result<FaultWindow, FeatureError> {
        let cycle_s = 1.0 / signals.nominal_hz;
        let trigger_s = record.grid.as_ref().and_then(|grid| grid.trigger_s);
        let duration_s = self.window_cycles() * cycle_s;
        let lead_s = match self.form {
            FaultForm::Magnitudes => CYCLES_BEFORE * cycle_s,
            FaultForm::Waveform { .. } | FaultForm::Phasors { .. } => cycle_s,
        };
        let fits = |start_s: &f64| {
            *start_s >= signals.start_s + lead_s && start_s + duration_s <= signals.end_s()
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
                    // The change lies anywhere between the sample that shows it and the one before.
                    (Some(sample), _) if self.form == FaultForm::Magnitudes => {
                        (signals.time_s(sample) - 0.5 / signals.rate_hz, true)
                    }
                    (Some(sample), _) => (signals.time_s(sample), true),
                    (None, SteadyRecord::Take) => {
                        let normal_s = signals.start_s + lead_s;
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

    /// The features of the window; the inner error is a hole in the recording, or nothing that can be judged.
    fn sample(
        &self,
        signals: &PhaseSignals,
        window: &FaultWindow,
    ) -> Result<Result<Vec<f64>, RejectReason>, FeatureError> {
        let values = match self.form {
            FaultForm::Magnitudes => {
                let phasors = signals.fault_phasors(window.start_s)?;
                phasors.map(|phasors| magnitudes(&phasors))
            }
            FaultForm::Waveform { n_points } => {
                let waveforms = self.waveforms(signals, window, n_points - 1)?;
                waveforms.map(|waveforms| waveforms.concat())
            }
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
                let n_intervals = phasor_points_per_cycle(signals) * self.n_cycles;
                let reference = self.reference_angle(signals, window);
                let waveforms = self.waveforms(signals, window, n_intervals)?;
                waveforms.map(|waveforms| {
                    phasor_features(&waveforms, self.n_cycles, highest_harmonic, reference)
                })
            }
        };
        Ok(values.and_then(|values| {
            let is_finite = values.iter().all(|value| value.is_finite());
            if is_finite {
                Ok(values)
            } else {
                Err(RejectReason::Overflow)
            }
        }))
    }

    /// The six waveforms of the window in per unit.
    fn waveforms(
        &self,
        signals: &PhaseSignals,
        window: &FaultWindow,
        n_intervals: usize,
    ) -> Result<Result<[Vec<f64>; 6], RejectReason>, FeatureError> {
        let bases = self.bases(signals, window)?;
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
        Ok(Ok(waveforms))
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
        if end < cycle - 0.5 {
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
mod tests;
