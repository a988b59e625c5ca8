//! One fold of an experiment trained and tested by itself: what comparisons and sweeps are made of.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::checked::{CheckedExperiment, Part};
use super::error::RunError;
use super::model::TrainedModel;
use super::record::{PartRecord, Timing};
use super::task_pool::TaskList;
use super::trial_sequence::TrialSequence;
use crate::evaluation::{BaselineResult, Confusion};

/// A fold to be trained.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The experiment.
    pub checked: Arc<CheckedExperiment>,
    /// The fold, from 0.
    pub fold: usize,
    /// Whether simple classifiers are tried on the same fold.
    pub with_baselines: bool,
}

/// What a fold has come to, in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoldOutcome {
    /// Seed of the experiment.
    pub seed: u64,
    /// The fold, from 0.
    pub fold: usize,
    /// Samples learned from, and held out.
    pub n_samples: (usize, usize),
    /// Rounds done and accuracy at every test.
    pub curve: Vec<(usize, f64)>,
    /// Decisions at the last test.
    pub confusion: Confusion,
    /// Share of the features set to zero, and accuracy.
    pub missing: Vec<(f64, f64)>,
    /// Rounds learned.
    pub n_rounds: usize,
    /// Measured times.
    pub timing: Timing,
    /// Memory of what is needed to classify, all classes together.
    pub model_bytes: usize,
    /// Worth telling the user.
    pub remarks: Vec<String>,
    /// Simple classifiers on the same fold, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<BaselineResult>,
}

impl FoldOutcome {
    /// The outcome of a complete fold; nothing of a final model or a fold without a test.
    pub fn of(seed: u64, record: &PartRecord, model: &TrainedModel) -> Option<Self> {
        let Part::Fold(fold) = record.part else {
            return None;
        };
        let accuracies = record.tests.iter();
        let curve = accuracies.filter_map(|test| Some((test.batch, test.confusion.accuracy()?)));
        let missing = record.missing.iter();
        let missing = missing.filter_map(|test| Some((test.share, test.confusion.accuracy()?)));
        let learner = model.revive().ok()?;
        let classes = 0..learner.n_classes();
        Some(Self {
            seed,
            fold,
            n_samples: record.n_samples,
            curve: curve.collect(),
            confusion: record.tests.last()?.confusion.clone(),
            missing: missing.collect(),
            n_rounds: record.rounds.len(),
            timing: record.timing,
            model_bytes: classes
                .map(|class| learner.dictionary(class).memory_bytes())
                .sum(),
            remarks: record.remarks.clone(),
            baselines: record.baselines.clone(),
        })
    }

    /// Accuracy at the last test.
    pub fn accuracy(&self) -> f64 {
        self.confusion.accuracy().unwrap_or(0.0)
    }
}

impl Trial {
    /// Rounds that it takes.
    pub(super) fn n_rounds(&self) -> usize {
        self.checked.n_rounds(Part::Fold(self.fold))
    }
}

/// Trains all folds, as many at once as there are threads; what each has come to, in order. One
/// that fails does not stop the others. Those that were not reached before `keep_going` said no
/// are missing.
pub fn run_trials(
    trials: &[Trial],
    n_threads: usize,
    keep_going: &mut dyn FnMut(f64) -> bool,
) -> Vec<Option<Result<FoldOutcome, RunError>>> {
    let tasks = TaskList {
        n_tasks: trials.len(),
        n_units: trials.iter().map(|trial| trial.n_rounds() as u64).sum(),
        work: &|number, mut watch| {
            let mut sequence = TrialSequence::new(None, &mut watch);
            Ok(sequence.run(&trials[number]).transpose())
        },
    };
    let mut outcomes: Vec<_> = trials.iter().map(|_| None).collect();
    let end: Result<bool, std::convert::Infallible> =
        tasks.work_through(n_threads, keep_going, &mut |number, outcome| {
            outcomes[number] = Some(outcome);
            Ok(())
        });
    let Ok(_) = end;
    outcomes
}
