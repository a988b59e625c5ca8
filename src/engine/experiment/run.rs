//! A run: all parts of an experiment, advanced a little at a time, without threads or clock of its own.
//!
//! As many parts are in training at once as there are threads in the pool that calls
//! [`Run::advance`]. Parts do not know of each other, so the result is the same, bit for
//! bit, for any number of threads and any way of cutting the work into pieces.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::branch::Timeline;
use super::checked::{CheckedExperiment, Part};
use super::error::RunError;
use super::model::TrainedModel;
use super::part_run::{Extent, Extras, News, PartContext, PartRun};
use super::record::PartRecord;
use super::settings::Experiment;
use super::shared::Shared;
use super::snapshot::Snapshot;
use super::state::{PartState, RunState, SampleChange, SettingChange};
use crate::learner::{LearnerSettings, StopSignal};

/// Which parts a run trains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunParts {
    /// The folds, from 0; all without a choice.
    pub folds: Option<Vec<usize>>,
    /// Whether a final model is trained on all samples after the folds.
    pub final_model: bool,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunProgress {
    /// Rounds done, over all parts.
    pub n_done: usize,
    /// Rounds planned, over all parts.
    pub n_planned: usize,
}

impl RunProgress {
    /// The share done.
    pub fn share(&self) -> f64 {
        self.n_done as f64 / self.n_planned.max(1) as f64
    }
}

/// A part that is complete.
#[derive(Clone)]
struct CompletePart {
    record: Arc<PartRecord>,
    model: Arc<TrainedModel>,
}

/// An experiment in training.
pub struct Run {
    checked: Arc<CheckedExperiment>,
    planned: Vec<Part>,
    /// Those that have not begun, the next one last.
    waiting: Vec<Part>,
    active: Vec<PartRun>,
    complete: Vec<CompletePart>,
    changes: Vec<SettingChange>,
    samples: Vec<SampleChange>,
    /// Where states are kept on the way, if anybody wants to go back.
    timeline: Option<Arc<Mutex<Timeline>>>,
    stop: Arc<AtomicBool>,
    /// What is wanted beside the score.
    extras: Extras,
}

impl Run {
    /// The same run without calibration: trials of sweeps need the score alone, those of comparisons simple
    /// classifiers beside it.
    pub fn bare(self, with_baselines: bool) -> Self {
        Self {
            extras: Extras {
                calibration: false,
                baselines: with_baselines,
            },
            ..self
        }
    }

    /// A run from its beginning. Changes of a run that is to be repeated are made again.
    pub fn new(
        checked: Arc<CheckedExperiment>,
        parts: &RunParts,
        changes: Vec<SettingChange>,
    ) -> Result<Self, RunError> {
        let n_folds = checked.split().n_folds();
        let mut folds = match &parts.folds {
            Some(folds) => folds.clone(),
            None => (0..n_folds).collect(),
        };
        folds.sort_unstable();
        folds.dedup();
        if let Some(&beyond) = folds.iter().find(|fold| **fold >= n_folds) {
            let asked = beyond.saturating_add(1);
            return Err(RunError::NoSuchFold { asked, n_folds });
        }
        let mut planned: Vec<Part> = folds.into_iter().map(Part::Fold).collect();
        planned.extend(parts.final_model.then_some(Part::Final));
        Ok(Self {
            checked,
            waiting: planned.iter().rev().copied().collect(),
            planned,
            active: Vec::new(),
            complete: Vec::new(),
            changes,
            samples: Vec::new(),
            timeline: None,
            stop: Arc::default(),
            extras: Extras::ALL,
        })
    }

    /// A saved run that continues. The data must be those it has learned from so far.
    pub fn resume(checked: Arc<CheckedExperiment>, state: RunState) -> Result<Self, RunError> {
        if let Some(difference) = state.facts.difference(checked.dataset()) {
            return Err(RunError::OtherData(difference));
        }
        // Data may have moved: what they are was compared above.
        let expected = Experiment {
            data: checked.experiment().data.clone(),
            ..state.experiment
        };
        if expected != *checked.experiment() {
            let message = "its settings are not those of the experiment".to_owned();
            return Err(RunError::OtherSettings(message));
        }
        if !checked.split().test_folds().eq(state.test_folds) {
            let message = "its samples were assigned to other folds".to_owned();
            return Err(RunError::OtherSettings(message));
        }
        let n_folds = checked.split().n_folds();
        let exists = |part: &Part| matches!(part, Part::Final) || *part < Part::Fold(n_folds);
        if !state.planned.iter().all(exists) {
            let message = "it names folds that do not exist".to_owned();
            return Err(RunError::OtherSettings(message));
        }
        let mut run = Self {
            checked,
            waiting: state.planned.iter().rev().copied().collect(),
            planned: state.planned,
            active: Vec::new(),
            complete: Vec::new(),
            changes: state.changes,
            samples: state.samples,
            timeline: None,
            stop: Arc::default(),
            extras: Extras::ALL,
        };
        for part in state.parts {
            run.take_up(part)?;
        }
        Ok(run)
    }

    fn take_up(&mut self, state: PartState) -> Result<(), RunError> {
        let part = state.record.part;
        self.waiting.retain(|other| *other != part);
        let record = state.record.0;
        if let Some(model) = state.model {
            let model = model.0;
            self.complete.push(CompletePart { record, model });
            return Ok(());
        }
        let record = Arc::unwrap_or_clone(record);
        let halfway = state.halfway.map(|halfway| *halfway);
        let run = PartRun::resume(&self.checked, &self.changes, record, halfway)?;
        self.active.push(run);
        Ok(())
    }

    /// The run as it can be saved.
    pub fn state(&self) -> RunState {
        let complete = self.complete.iter().map(|part| PartState {
            record: Shared(part.record.clone()),
            model: Some(Shared(part.model.clone())),
            halfway: None,
        });
        let active = self.active.iter().map(|part| PartState {
            record: Shared(Arc::new(part.record.clone())),
            model: None,
            halfway: part.halfway().map(Box::new),
        });
        RunState {
            experiment: self.checked.experiment().clone(),
            facts: Shared(self.checked.facts().clone()),
            test_folds: self.checked.split().test_folds().collect(),
            planned: self.planned.clone(),
            parts: complete.chain(active).collect(),
            changes: self.changes.clone(),
            samples: self.samples.clone(),
        }
    }

    /// Keeps states on the way from now on.
    pub fn keep_states(&mut self, timeline: Arc<Mutex<Timeline>>) {
        self.timeline = Some(timeline);
    }

    /// The experiment.
    pub fn checked(&self) -> &Arc<CheckedExperiment> {
        &self.checked
    }

    /// Set it, and [`Run::advance`] comes back as soon as it can. What was begun and not
    /// finished counts as not begun; the run can be saved and resumed as ever.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// Whether all parts are complete.
    pub fn is_complete(&self) -> bool {
        self.waiting.is_empty() && self.active.is_empty()
    }

    /// How far the run has come.
    pub fn progress(&self) -> RunProgress {
        let planned = self.planned.iter().map(|part| self.checked.n_rounds(*part));
        let complete = self.complete.iter().map(|part| part.record.n_rounds);
        let active = self.active.iter().map(PartRun::n_rounds_done);
        RunProgress {
            n_done: complete.chain(active).sum(),
            n_planned: planned.sum(),
        }
    }

    /// The parts in training with the rounds each has done.
    pub fn active_parts(&self) -> impl Iterator<Item = (Part, usize)> + '_ {
        let active = self.active.iter();
        active.map(|part| (part.part, part.n_rounds_done()))
    }

    /// What was changed on the way.
    pub fn changes(&self) -> &[SettingChange] {
        &self.changes
    }

    /// Records of all parts that have begun, in their order.
    pub fn records(&self) -> Vec<&PartRecord> {
        let complete = self.complete.iter().map(|part| part.record.as_ref());
        let active = self.active.iter().map(|part| &part.record);
        let mut records: Vec<&PartRecord> = complete.chain(active).collect();
        records.sort_by_key(|record| record.part);
        records
    }

    /// Records of complete folds, in their order.
    pub fn complete_folds(&self) -> Vec<&PartRecord> {
        let complete = self.complete.iter().map(|part| part.record.as_ref());
        let is_fold = |record: &&PartRecord| record.part != Part::Final;
        let mut records: Vec<&PartRecord> = complete.filter(is_fold).collect();
        records.sort_by_key(|record| record.part);
        records
    }

    /// The dictionaries of the first part in training, as they are now.
    pub fn snapshot(&self) -> Option<Snapshot> {
        self.active.first()?.snapshot()
    }

    /// Puts other settings of the learner in force, from the next round that no part has begun.
    pub fn change_learner(&mut self, learner: LearnerSettings) -> Result<(), RunError> {
        let before = self.learner_now();
        before.check_change(&learner).map_err(RunError::Change)?;
        if *before == learner {
            return Ok(());
        }
        let batch = self.active.iter().map(PartRun::n_rounds_done).max();
        let batch = batch.unwrap_or(0);
        let spared: Vec<Part> = self.complete.iter().map(|part| part.record.part).collect();
        // A change that no round has seen yet is replaced.
        let is_unseen = |last: &mut SettingChange| last.batch == batch && last.spared == spared;
        drop(self.changes.pop_if(is_unseen));
        self.changes.push(SettingChange {
            batch,
            spared,
            learner,
        });
        Ok(())
    }

    /// What the rule about alarms asks of one part is a change as if made by hand, which spares all other parts. A run
    /// that is repeated has made it already.
    fn take_wanted_changes(&mut self) {
        for active in &mut self.active {
            for mut learner in std::mem::take(&mut active.wanted_changes) {
                // A width that follows from the samples is no change.
                learner.kernel = self.checked.experiment().learner.kernel;
                let others = self.planned.iter().filter(|part| **part != active.part);
                let change = SettingChange {
                    batch: active.n_rounds_done(),
                    spared: others.copied().collect(),
                    learner,
                };
                if !self.changes.contains(&change) {
                    // In an order that does not depend on which part was quicker.
                    let later = |other: &SettingChange| {
                        (other.batch, &other.spared) > (change.batch, &change.spared)
                    };
                    let n_later = self.changes.iter().rev().take_while(|other| later(other));
                    let place = self.changes.len() - n_later.count();
                    self.changes.insert(place, change);
                }
            }
        }
    }

    /// The settings of the learner that hold from the next round on.
    pub fn learner_now(&self) -> &LearnerSettings {
        let Experiment { learner, .. } = self.checked.experiment();
        self.changes
            .last()
            .map_or(learner, |change| &change.learner)
    }

    /// Works on all parts in training at once, for one extent.
    pub fn advance(&mut self, extent: Extent, news: &mut Vec<News>) -> Result<(), RunError> {
        let n_threads = rayon::current_num_threads();
        while self.active.len() < n_threads
            && let Some(part) = self.waiting.pop()
        {
            self.active.push(PartRun::new(&self.checked, part));
        }
        let spare = (n_threads / self.active.len().max(1)).max(1);
        let around = PartContext {
            checked: &self.checked,
            changes: &self.changes,
            samples: &self.samples,
            n_threads: spare,
            extras: self.extras,
            stop: StopSignal::new(&self.stop),
        };
        let told: Result<Vec<Vec<News>>, RunError> = self
            .active
            .par_iter_mut()
            .map(|part| {
                let mut news = Vec::new();
                part.advance(around, extent, &mut news)?;
                Ok(news)
            })
            .collect();
        let told = told?;
        if let Some(timeline) = &self.timeline {
            let mut timeline = timeline.lock().unwrap_or_else(PoisonError::into_inner);
            let in_training = self.active.iter().filter(|part| !part.is_complete());
            in_training.for_each(|part| timeline.note(part));
        }
        self.take_wanted_changes();
        for item in told.into_iter().flatten() {
            if let News::Complete(_, record, model) = &item {
                let (record, model) = (record.clone(), model.clone());
                self.complete.push(CompletePart { record, model });
            }
            news.push(item);
        }
        self.active.retain(|part| !part.is_complete());
        Ok(())
    }
}
