//! Everything that can be said of a fault record without a model: type, phases, inception, clearing, stages.

use crate::features::FeatureError;
use crate::features::fault::{FaultForm, FaultRecipe};
use crate::features::fault_phasors::FaultPhasors;
use crate::features::phase_signals::PhaseSignals;
use crate::features::phases::Bay;
use crate::features::phasor::phasor;
use crate::features::resample::resample;
use crate::records::Record;
use crate::simulate::feeder::FaultClass;

use super::course::{Stage, clearing_s, stages};
use super::rule::{RuleVerdict, judge};

/// Second harmonic in every phase from which a change may be an inrush.
const INRUSH_HARMONIC: f64 = 0.12;
/// Positive-sequence voltage, per unit, above which a balanced change may be a motor start.
const MOTOR_VOLTAGE: f64 = 0.9;

/// What a record says in closed form.
#[derive(Debug, Clone)]
pub struct FaultAnalysis {
    /// The channels it is about.
    pub bay: Bay,
    /// The six signals.
    pub signals: PhaseSignals,
    /// Frequency of the record before the inception.
    pub frequency_hz: f64,
    /// Start of what was judged, also where nothing changes.
    pub judged_s: f64,
    /// The first lasting change.
    pub inception_s: Option<f64>,
    /// The interruption of the current.
    pub clearing_s: Option<f64>,
    /// Type and phases; `None` where nothing can be judged.
    pub verdict: Option<RuleVerdict>,
    /// Types one after the other.
    pub stages: Vec<Stage>,
    /// Phasors before and during the fault.
    pub phasors: Option<FaultPhasors>,
    /// What was assumed, and why there is no verdict.
    pub warnings: Vec<String>,
}

impl FaultAnalysis {
    /// Analyses one bay of a record, found and timed as `recipe` says.
    pub fn of(record: &Record, recipe: &FaultRecipe) -> Result<Self, FeatureError> {
        let recipe = FaultRecipe {
            form: FaultForm::Magnitudes,
            ..recipe.clone()
        };
        let map = recipe.phase_map(record);
        let signals = recipe.signals(record)?;
        let window = recipe.window_in(record, &signals);
        let mut warnings = signals.notes.clone();
        warnings.extend(record.warnings.iter().map(ToString::to_string));
        let bay = Bay::of(&record.channels, map.complete().unwrap_or_default());
        let nominal_hz = signals.nominal_hz;
        let mut analysis = Self {
            bay,
            frequency_hz: nominal_hz,
            judged_s: signals.start_s,
            inception_s: None,
            clearing_s: None,
            verdict: None,
            stages: Vec::new(),
            phasors: None,
            warnings,
            signals,
        };
        match window {
            Ok(window) => {
                analysis.judged_s = window.start_s;
                analysis.judge(window.has_inception);
            }
            Err(error) => analysis.warnings.push(error.to_string()),
        }
        Ok(analysis)
    }

    fn judge(&mut self, has_inception: bool) {
        self.frequency_hz = self.signals.own_frequency(self.judged_s);
        self.inception_s = has_inception.then_some(self.judged_s);
        let found =
            self.signals
                .fault_phasors_from(self.judged_s, self.judged_s, self.frequency_hz);
        let phasors = match found {
            Ok(Ok(phasors)) => phasors,
            Ok(Err(reason)) => return self.warnings.push(reason.to_string()),
            Err(error) => return self.warnings.push(error.to_string()),
        };
        self.phasors = Some(phasors);
        if phasors.was_dead {
            let text = "the line was dead before the inception: a healthy voltage was assumed";
            self.warnings.push(text.to_owned());
        }
        if phasors.is_acb {
            self.warnings.push("the phases turn A–C–B".to_owned());
        }
        let verdict = match has_inception {
            true => judge(&phasors),
            false => RuleVerdict::NO_FAULT,
        };
        self.verdict = Some(verdict);
        if verdict.class == FaultClass::NoFault {
            return;
        }
        self.clearing_s = clearing_s(&self.signals, self.judged_s, self.frequency_hz);
        let other = self.other_event(&phasors, verdict);
        self.warnings.extend(other);
        self.stages = stages(
            &self.signals,
            self.judged_s,
            self.clearing_s,
            self.frequency_hz,
        );
        if let [first, .., last] = self.stages.as_slice() {
            let text = format!(
                "the fault evolves: {} becomes {} at {:.4} s",
                first.verdict, last.verdict, last.start_s
            );
            self.warnings.push(text);
        }
    }

    /// What else looks like the fault that the rule sees: an inrush has a second harmonic in every phase for long, a
    /// motor start is balanced and leaves the voltage nearly as it was.
    fn other_event(&self, phasors: &FaultPhasors, verdict: RuleVerdict) -> Option<String> {
        let share = self.second_harmonic();
        if let Some(share) = share.filter(|share| *share > INRUSH_HARMONIC) {
            let percent = 100.0 * share;
            return Some(format!(
                "every phase has a second harmonic of {percent:.0} % or more after three cycles, as the inrush of a transformer has"
            ));
        }
        let kept = phasors.positive_voltage();
        (verdict.class == FaultClass::ThreeLine && kept > MOTOR_VOLTAGE).then(|| {
            let percent = 100.0 * kept;
            format!(
                "the voltage keeps {percent:.0} %, as it does when a motor starts or a load joins"
            )
        })
    }

    /// The second harmonic of the currents three to five cycles after the inception, as a share of the fundamental: the
    /// smallest of the phases. None of a current that is interrupted by then, or sampled too rarely.
    fn second_harmonic(&self) -> Option<f64> {
        const POINTS: usize = 64;
        let signals = &self.signals;
        let cycle = signals.rate_hz / self.frequency_hz;
        let [start_s, end_s] = [3.0, 5.0].map(|cycles| self.judged_s + cycles / self.frequency_hz);
        let is_interrupted = self.clearing_s.is_some_and(|at_s| at_s < end_s);
        (cycle >= 8.0 && !is_interrupted).then_some(())?;
        let mut smallest = f64::INFINITY;
        for channel in 3..6 {
            let start = signals.position(channel, start_s);
            let wave = resample(
                &signals.values[channel],
                start,
                cycle / POINTS as f64,
                2 * POINTS,
            )?;
            let [first, second] = [1, 2].map(|order| phasor(&wave, 2, order).norm());
            (first > 0.0).then_some(())?;
            smallest = smallest.min(second / first);
        }
        smallest.is_finite().then_some(smallest)
    }

    /// How long the fault lasts.
    pub fn duration_s(&self) -> Option<f64> {
        Some(self.clearing_s? - self.inception_s?)
    }

    /// Largest instantaneous current from the inception on.
    pub fn peak_current_a(&self) -> Option<f64> {
        let first =
            ((self.judged_s - self.signals.start_s) * self.signals.rate_hz).max(0.0) as usize;
        let after = self.signals.values[3..]
            .iter()
            .flat_map(|i| i.iter().skip(first));
        after
            .filter(|i| i.is_finite())
            .map(|i| i.abs())
            .reduce(f64::max)
    }
}
