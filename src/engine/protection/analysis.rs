//! Everything that can be said of a fault record without a model: type, phases, inception, clearing, stages.

use num_complex::Complex64;

use crate::features::FeatureError;
use crate::features::fault::{FaultForm, FaultRecipe, Inception};
use crate::features::fault_phasors::FaultPhasors;
use crate::features::inception::first_visible_change;
use crate::features::phase_signals::PhaseSignals;
use crate::features::phases::Bay;
use crate::records::Record;
use crate::simulate::feeder::FaultClass;

use super::course::{CourseStage, clearing_s, stages};
use super::onset::onset_s;
use super::other_event::{OtherEvent, Suspect};
use super::rule::{RuleVerdict, judge};

/// Cycles from an earlier, smaller fault to the one that was found: the cycle that judges it is over before the larger one
/// begins, which may be half a cycle before it is found.
const EARLIER_CYCLES: f64 = 1.625;

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
    /// What else the change may be, also where the record begins within a fault.
    pub other_event: Option<OtherEvent>,
    /// Types one after the other.
    pub stages: Vec<CourseStage>,
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
        let warnings = signals.notes.clone();
        let bay = Bay::of(&record.channels, map.complete().unwrap_or_default());
        let nominal_hz = signals.nominal_hz;
        let mut analysis = Self {
            bay,
            frequency_hz: nominal_hz,
            judged_s: signals.start_s,
            inception_s: None,
            clearing_s: None,
            verdict: None,
            other_event: None,
            stages: Vec::new(),
            phasors: None,
            warnings,
            signals,
        };
        match window {
            Ok(window) => {
                analysis.judged_s = window.start_s;
                if let (Inception::Change { threshold }, true) =
                    (recipe.inception, window.has_inception)
                {
                    analysis.settle_inception(threshold);
                }
                analysis.judge(window.has_inception);
            }
            Err(error) => analysis.warnings.push(error.to_string()),
        }
        // Why there is no verdict goes before what was odd about the file.
        let of_file = record.warnings.iter().map(ToString::to_string);
        analysis.warnings.extend(of_file);
        Ok(analysis)
    }

    /// Takes an earlier, smaller fault that grows into the one that was found, and the moment between samples.
    fn settle_inception(&mut self, threshold: f64) {
        if let Some(earlier_s) = self.earlier_fault_s(threshold) {
            self.judged_s = earlier_s;
        }
        let frequency_hz = self.signals.own_frequency(self.judged_s);
        if let Some(exact_s) = onset_s(&self.signals, self.judged_s, frequency_hz) {
            self.judged_s = exact_s;
        }
    }

    /// A change before the one that was found, too small beside it to be taken for the fault at first, if it is one of
    /// one or two phases: loads swing in all three.
    fn earlier_fault_s(&self, threshold: f64) -> Option<f64> {
        let signals = &self.signals;
        let (voltages, currents) = signals.values.split_at(3);
        let cycle = signals.rate_hz / signals.nominal_hz;
        let sample = first_visible_change(&[voltages, currents], cycle, threshold)?;
        let earlier_s = signals.time_s(sample) - 0.5 / signals.rate_hz;
        (earlier_s < self.judged_s - EARLIER_CYCLES / signals.nominal_hz).then_some(())?;
        // The end of a fault within which the record begins is no larger one.
        let found = signals.fault_phasors(self.judged_s).ok()?.ok()?;
        let size = |three: [Complex64; 3]| three.iter().map(|i| i.norm()).sum::<f64>();
        (size(found.currents) > size(found.currents_before)).then_some(())?;
        let phasors = signals.fault_phasors(earlier_s).ok()?.ok()?;
        let is_healthy = OtherEvent::before_inception(&phasors, true).is_none();
        let class = judge(&phasors).class;
        let is_fault = !matches!(class, FaultClass::NoFault | FaultClass::ThreeLine);
        (is_healthy && is_fault).then_some(earlier_s)
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
        if let Some(event) = OtherEvent::before_inception(&phasors, has_inception) {
            self.other_event = Some(event);
            return self.warnings.push(format!("{event}: no verdict"));
        }
        let verdict = match has_inception {
            true => judge(&phasors),
            false => RuleVerdict::NO_FAULT,
        };
        self.verdict = Some(verdict);
        if verdict.class == FaultClass::NoFault {
            if let Some(event) = self.recovery() {
                (self.verdict, self.other_event) = (None, Some(event));
                self.warnings.push(format!("{event}: no verdict"));
            }
            return;
        }
        if phasors.was_dead && verdict.class == FaultClass::ThreeLine {
            let text = "a load that is switched on with the line would look the same";
            self.warnings.push(text.to_owned());
        }
        self.clearing_s = clearing_s(&self.signals, self.judged_s, self.frequency_hz);
        let stages = stages(
            &self.signals,
            self.judged_s,
            self.clearing_s,
            self.frequency_hz,
        );
        let suspect = Suspect {
            signals: &self.signals,
            phasors: &phasors,
            verdict,
            inception_s: self.judged_s,
            clearing_s: self.clearing_s,
            stages: &stages,
        };
        self.other_event = suspect.other_event();
        match self.other_event {
            Some(event) if event.is_likelier() => {
                self.verdict = None;
                let text = format!("the phasors are those of {verdict}, but {event}: no verdict");
                return self.warnings.push(text);
            }
            Some(event) => self.warnings.push(event.to_string()),
            None => {}
        }
        self.stages = stages;
        if let [first, .., last] = self.stages.as_slice() {
            let text = format!(
                "the fault evolves: {} becomes {} at {:.4} s",
                first.verdict, last.verdict, last.start_s
            );
            self.warnings.push(text);
        }
    }

    /// The end of a balanced fault within which the record begins, later than the change that was judged: the DC part of
    /// such a fault changes too.
    fn recovery(&self) -> Option<OtherEvent> {
        const LAST_CYCLES: f64 = 1.25;
        let last_s = self.signals.end_s() - LAST_CYCLES / self.frequency_hz;
        let phasors = self
            .signals
            .fault_phasors_from(self.judged_s, last_s, self.frequency_hz);
        let event = OtherEvent::before_inception(&phasors.ok()?.ok()?, true);
        event.filter(|event| matches!(event, OtherEvent::Recovery(_)))
    }

    /// Whether a decision for a class is to be doubted, because the record looks like another event.
    pub fn doubts(&self, class: &str) -> bool {
        self.other_event.is_some_and(|event| event.doubts(class))
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
