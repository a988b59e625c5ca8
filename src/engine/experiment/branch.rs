//! A run gone back to: from any mini-batch it continues with other settings, another label or without a sample, and
//! both futures are set side by side.
//!
//! States are kept sparsely while a run goes on ([`Timeline`]); a branch begins at the nearest one before its
//! mini-batch and recomputes the rest exactly, so that up to there it is the run, bit for bit.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::checked::{CheckedExperiment, Part};
use super::error::RunError;
use super::part_run::PartRun;
use super::record::PartRecord;
use super::run::Run;
use super::shared::Shared;
use super::state::{PartState, RunState, SampleChange, SettingChange};
use crate::evaluation::binomial_cdf;
use crate::learner::LearnerSettings;

/// States of a part that are kept; of more every second one is dropped.
const MOST_STATES: usize = 8;
/// Rounds between the first two.
const FIRST_INTERVAL: usize = 8;

/// States of a run on its way, a few of every part.
#[derive(Debug, Default)]
pub struct Timeline {
    parts: BTreeMap<Part, KeptStates>,
}

/// States of one part, and the rounds between them.
#[derive(Debug)]
struct KeptStates {
    interval: usize,
    states: Vec<(usize, PartState)>,
}

impl Timeline {
    /// Keeps the state of a part, if the last one is long enough ago.
    pub(super) fn note(&mut self, part: &PartRun) {
        let kept = self.parts.entry(part.part).or_insert_with(|| KeptStates {
            interval: FIRST_INTERVAL,
            states: Vec::new(),
        });
        let n_done = part.n_rounds_done();
        let last = kept.states.last().map_or(0, |(n_done, _)| *n_done);
        if n_done < last + kept.interval || !part.wanted_changes.is_empty() {
            return;
        }
        let Some(halfway) = part.halfway() else {
            return;
        };
        let state = PartState {
            record: Shared(Arc::new(part.record.clone())),
            model: None,
            halfway: Some(Box::new(halfway)),
        };
        kept.states.push((n_done, state));
        if kept.states.len() > MOST_STATES {
            let mut place = 0;
            kept.states.retain(|_| {
                place += 1;
                place % 2 == 0
            });
            kept.interval *= 2;
        }
    }

    /// The last state of a part that had done at most so many rounds.
    pub fn nearest(&self, part: Part, batch: usize) -> Option<&PartState> {
        let states = self.parts.get(&part)?.states.iter().rev();
        let mut before = states.filter(|(n_done, _)| *n_done <= batch);
        before.next().map(|(_, state)| state)
    }

    /// States that are kept, all parts together.
    pub fn len(&self) -> usize {
        self.parts.values().map(|kept| kept.states.len()).sum()
    }

    /// Whether nothing is kept yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Another future of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// Rounds that are those of the run.
    pub batch: usize,
    /// All settings of the learner from then on.
    pub learner: LearnerSettings,
    /// Samples with another class from then on, or left out.
    pub samples: Vec<(usize, Option<usize>)>,
}

impl Branch {
    /// The run that takes this branch of another one: the same folds, the changes before the branch, then its own.
    pub fn begin(
        &self,
        checked: Arc<CheckedExperiment>,
        origin: &[SettingChange],
        timeline: &Timeline,
    ) -> Result<Run, RunError> {
        let before = origin.iter().filter(|change| change.batch < self.batch);
        let mut changes: Vec<SettingChange> = before.cloned().collect();
        let experiment = checked.experiment();
        let now = changes
            .last()
            .map_or(&experiment.learner, |change| &change.learner);
        now.check_change(&self.learner).map_err(RunError::Change)?;
        if *now != self.learner {
            changes.push(SettingChange {
                batch: self.batch,
                spared: Vec::new(),
                learner: self.learner.clone(),
            });
        }
        let folds: Vec<Part> = (0..checked.split().n_folds()).map(Part::Fold).collect();
        let nearest = |part: &Part| timeline.nearest(*part, self.batch).cloned();
        let state = RunState {
            experiment: experiment.clone(),
            facts: Shared(checked.facts().clone()),
            test_folds: checked.split().test_folds().collect(),
            parts: folds.iter().filter_map(nearest).collect(),
            planned: folds,
            changes,
            samples: self.sample_changes(),
        };
        Run::resume(checked, state)
    }

    fn sample_changes(&self) -> Vec<SampleChange> {
        let change = |(sample, class): &(usize, Option<usize>)| SampleChange {
            batch: self.batch,
            sample: *sample,
            class: *class,
        };
        self.samples.iter().map(change).collect()
    }
}

/// Another future of a run, kept with its session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptBranch {
    /// What it does otherwise, and from where on.
    pub name: String,
    /// How far it has come.
    pub state: RunState,
}

/// Decisions of two futures on the same samples, paired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairedDecisions {
    /// Samples that both have decided.
    pub n_both: usize,
    /// Right in the branch alone.
    pub only_branch: usize,
    /// Right in the run alone.
    pub only_origin: usize,
}

impl PairedDecisions {
    /// Pairs the decisions of complete folds.
    pub fn of(origin: &[&PartRecord], branch: &[&PartRecord], classes: &[usize]) -> Self {
        let decided = |records: &[&PartRecord]| -> BTreeMap<(Part, usize), usize> {
            let of_part = |record: &&PartRecord| {
                let pairs = record.decisions.sample.iter().zip(&record.decisions.class);
                let part = record.part;
                let pairs = pairs.map(move |(sample, class)| ((part, *sample), *class));
                pairs.collect::<Vec<_>>()
            };
            records.iter().flat_map(of_part).collect()
        };
        let (origin, branch) = (decided(origin), decided(branch));
        let mut found = Self::default();
        for (key, there) in &origin {
            let Some(here) = branch.get(key) else {
                continue;
            };
            let truth = classes.get(key.1);
            found.n_both += 1;
            found.only_branch += usize::from(Some(here) == truth && here != there);
            found.only_origin += usize::from(Some(there) == truth && here != there);
        }
        found
    }

    /// How probable so uneven a share is if both futures are equally good: the exact sign test, two-sided.
    pub fn p(&self) -> f64 {
        let n = (self.only_branch + self.only_origin) as u64;
        let fewer = self.only_branch.min(self.only_origin) as u64;
        (2.0 * binomial_cdf(fewer, n, 0.5)).min(1.0)
    }

    /// In words.
    pub fn sentence(&self) -> String {
        if self.n_both == 0 {
            return "the run itself has no complete fold to be paired with yet; differences appear here as its folds \
                    are completed"
                .to_owned();
        }
        let Self {
            n_both,
            only_branch,
            only_origin,
        } = self;
        let difference = 100.0 * (*only_branch as f64 - *only_origin as f64);
        let points = difference / (*n_both).max(1) as f64;
        format!(
            "of {n_both} decisions {only_branch} are right in the branch alone and {only_origin} in the run alone: {points:+.2} points (sign test p {:.2})",
            self.p()
        )
    }
}
