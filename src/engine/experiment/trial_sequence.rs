//! Trials one after the other that can be stopped anywhere, saved, and resumed elsewhere bit for bit.

use serde::{Deserialize, Serialize};

use super::error::RunError;
use super::part_run::{Extent, News};
use super::run::{Run, RunParts};
use super::state::RunState;
use super::task_pool::Watch;
use super::trial::{FoldOutcome, Trial};

/// What a point has come to so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointProgress {
    /// The trials that are complete, in their order.
    pub complete: Vec<FoldOutcome>,
    /// The one under way.
    pub under_way: Option<RunState>,
}

/// What a point shall do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Go on.
    GoOn,
    /// Have its progress saved, and go on.
    Save,
    /// Have its progress saved, and end without a result.
    Stop,
}

/// Who watches over a point.
pub trait Watcher {
    /// Receives the rounds done and decides what is next.
    fn look(&mut self, n_rounds: u64) -> Pace;
    /// Saves the progress.
    fn save(&mut self, progress: &PointProgress);
}

/// Points that run side by side in one process are not saved halfway.
impl Watcher for &Watch {
    fn look(&mut self, n_rounds: u64) -> Pace {
        match self.go_on(n_rounds) {
            true => Pace::GoOn,
            false => Pace::Stop,
        }
    }

    fn save(&mut self, _progress: &PointProgress) {}
}

/// The trials of a point.
pub(super) struct TrialSequence<'a> {
    /// Outcomes of an earlier time that are not asked for yet.
    past: std::vec::IntoIter<FoldOutcome>,
    under_way: Option<RunState>,
    complete: Vec<FoldOutcome>,
    watcher: &'a mut dyn Watcher,
}

impl<'a> TrialSequence<'a> {
    /// From the beginning, or from where the trials were left.
    pub(super) fn new(saved: Option<PointProgress>, watcher: &'a mut dyn Watcher) -> Self {
        let saved = saved.unwrap_or_default();
        Self {
            past: saved.complete.into_iter(),
            under_way: saved.under_way,
            complete: Vec::new(),
            watcher,
        }
    }

    /// The outcomes so far.
    pub(super) fn outcomes(&self) -> &[FoldOutcome] {
        &self.complete
    }

    /// Trains the next trial to its end; nothing if it was stopped.
    pub(super) fn run(&mut self, trial: &Trial) -> Result<Option<FoldOutcome>, RunError> {
        let outcome = match self.past.next() {
            Some(known) => known,
            None => match self.train(trial)? {
                Some(outcome) => outcome,
                None => return Ok(None),
            },
        };
        self.complete.push(outcome.clone());
        Ok(Some(outcome))
    }

    fn train(&mut self, trial: &Trial) -> Result<Option<FoldOutcome>, RunError> {
        let mut run = self.begin(trial)?;
        let mut news = Vec::new();
        let mut n_done = run.progress().n_done;
        while !run.is_complete() {
            news.clear();
            run.advance(Extent::Slice, &mut news)?;
            let now = run.progress().n_done;
            let pace = self.watcher.look((now - n_done) as u64);
            n_done = now;
            // What has just become complete is kept whatever is asked: stopping would lose it.
            if pace != Pace::GoOn && !run.is_complete() {
                self.watcher.save(&PointProgress {
                    complete: self.complete.clone(),
                    under_way: Some(run.state()),
                });
                if pace == Pace::Stop {
                    return Ok(None);
                }
            }
        }
        let seed = trial.checked.experiment().seed;
        let outcome = news.iter().find_map(|item| match item {
            News::Complete(_, record, model) => FoldOutcome::of(seed, record, model),
            _ => None,
        });
        let fold = trial.fold + 1;
        outcome.map(Some).ok_or(RunError::NothingTested { fold })
    }

    /// The trial under way if it is this one, or else the trial from its beginning.
    fn begin(&mut self, trial: &Trial) -> Result<Run, RunError> {
        if let Some(state) = self.under_way.take()
            && let Ok(run) = Run::resume(trial.checked.clone(), state)
        {
            return Ok(run.bare(trial.with_baselines));
        }
        let parts = RunParts {
            folds: Some(vec![trial.fold]),
            final_model: false,
        };
        Ok(Run::new(trial.checked.clone(), &parts, Vec::new())?.bare(trial.with_baselines))
    }
}
