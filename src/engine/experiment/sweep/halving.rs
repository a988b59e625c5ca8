//! Early stopping by successive halving: short trainings on inner folds decide which points are
//! worth a longer one.
//!
//! All points begin with a part of the training. In every outer fold those that do best on its
//! inner folds go on to the next stage, whose training is longer, until the last stage trains
//! like a sweep without early stopping; the best of it alone is trained on the outer fold. Each
//! outer fold decides for itself: its test samples are training samples of the other folds, and
//! a common decision would let them have a part in the choice.

use serde::{Deserialize, Serialize};

use super::nested::PointResult;
use crate::experiment::settings::{Training, TrainingLength};
use crate::experiment::{declared, summary::mean_and_sd};

/// How points are stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Halving {
    /// Stages; the last one trains to the end.
    pub stages: usize,
    /// One point in so many proceeds to the next stage, whose training is so many times as long.
    pub factor: usize,
}

impl Default for Halving {
    fn default() -> Self {
        Self {
            stages: 3,
            factor: 3,
        }
    }
}

/// What of a point was computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Effort {
    /// Inner and outer folds.
    #[default]
    Whole,
    /// Inner folds in a stage of successive halving.
    Stage {
        /// The stage, from 0.
        number: usize,
        /// One part in so many of the training.
        part: usize,
    },
    /// The outer folds that chose the point.
    Choice,
}

impl Effort {
    pub(super) fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

impl Halving {
    /// Fewest and most stages.
    pub const STAGES: (usize, usize) = (2, 6);
    /// Smallest and largest factor.
    pub const FACTOR: (usize, usize) = (2, 10);

    /// What is wrong with it, if anything.
    pub fn problem(&self) -> Option<String> {
        let outside = |name: &str, value: usize, (fewest, most): (usize, usize)| {
            let legal = (fewest..=most).contains(&value);
            (!legal).then(|| format!("halving: {name} must be {fewest} to {most}, but is {value}"))
        };
        outside("stages", self.stages, Self::STAGES)
            .or_else(|| outside("factor", self.factor, Self::FACTOR))
    }

    /// What is computed in each phase: the stages, then the choice.
    pub(super) fn efforts(&self) -> Vec<Effort> {
        let part = |number: usize| self.factor.pow((self.stages - 1 - number) as u32);
        let stages = (0..self.stages).map(|number| Effort::Stage {
            number,
            part: part(number),
        });
        stages.chain([Effort::Choice]).collect()
    }

    /// How many of so many points go on after a stage.
    pub(super) fn n_kept(&self, n_points: usize) -> usize {
        n_points.div_ceil(self.factor)
    }

    /// In a few words.
    pub fn in_words(&self) -> String {
        let Self { stages, factor } = self;
        format!("successive halving in {stages} stages by {factor}")
    }
}

/// A part of a training: its mini-batches or passes divided by `part`.
pub(super) fn shortened(training: Training, part: usize) -> Training {
    let length = match training.length {
        TrainingLength::Batches(n) => TrainingLength::Batches((n / part).max(1)),
        TrainingLength::Passes(passes) => {
            let (fewest, _) = declared::PASSES.legal();
            TrainingLength::Passes((passes / part as f64).max(fewest.min(passes)))
        }
    };
    Training { length, ..training }
}

/// The points that are computed in a phase, for each outer fold in the order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrants(pub(super) Vec<Vec<usize>>);

impl Entrants {
    /// Whether a point is computed in an outer fold.
    pub(super) fn has(&self, fold: usize, number: usize) -> bool {
        let points = self.0.get(fold);
        points.is_some_and(|points| points.binary_search(&number).is_ok())
    }
}

/// The best points of a stage in each outer fold; of equals the first. `n_kept` says how many of
/// those that were computed go on.
pub(super) fn best_of_stage(
    stage: Effort,
    results: &[PointResult],
    n_folds: usize,
    n_kept: impl Fn(usize) -> usize,
) -> Entrants {
    let of_stage = || results.iter().filter(|result| result.effort == stage);
    let best_of_fold = |fold: usize| {
        let mut found: Vec<(usize, f64)> = of_stage()
            .filter_map(|result| {
                let inner = &result.outer.get(fold)?.inner;
                Some((result.point.number, mean(inner)?))
            })
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut best: Vec<usize> = found.iter().map(|(number, _)| *number).collect();
        best.truncate(n_kept(best.len()));
        best.sort_unstable();
        best
    };
    Entrants((0..n_folds).map(best_of_fold).collect())
}

/// The mean, where there is one.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    mean_and_sd(values.iter().copied()).map(|(mean, _)| mean)
}

/// How many points a stage has computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageCount {
    /// One part in so many of the training.
    pub part: usize,
    /// Points that were computed in at least one outer fold.
    pub n_points: usize,
}

/// What early stopping has saved.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkSaved {
    /// The stages so far.
    pub stages: Vec<StageCount>,
    /// Trainings, a short one counting by its length.
    pub spent: f64,
    /// Trainings of the same points without early stopping.
    pub whole: f64,
}

impl WorkSaved {
    /// What these results have saved; nothing where no point was stopped early.
    pub(super) fn of(results: &[PointResult]) -> Option<Self> {
        let mut stages: Vec<StageCount> = Vec::new();
        let (mut spent, mut whole) = (0.0, 0.0);
        for result in results {
            let n_inner = || result.outer.iter().map(|outer| outer.inner.len());
            match result.effort {
                Effort::Whole => return None,
                Effort::Stage { number, part } => {
                    let n_trainings: usize = n_inner().sum();
                    spent += n_trainings as f64 / part as f64;
                    if number == 0 && n_trainings > 0 {
                        whole += (n_trainings + result.outer.len()) as f64;
                    }
                    if stages.len() <= number {
                        let none = StageCount { part, n_points: 0 };
                        stages.resize(number + 1, none);
                    }
                    stages[number].part = part;
                    stages[number].n_points += usize::from(n_trainings > 0);
                }
                Effort::Choice => {
                    let outer = result.outer.iter();
                    spent += outer.filter(|outer| outer.outer.is_some()).count() as f64;
                }
            }
        }
        (!stages.is_empty()).then_some(Self {
            stages,
            spent,
            whole,
        })
    }

    /// The share of the trainings that was saved.
    pub fn share(&self) -> f64 {
        match self.whole > 0.0 {
            true => 1.0 - self.spent / self.whole,
            false => 0.0,
        }
    }

    /// "27 points with 1/9 of the training, 12 with 1/3, 5 with all of it: 31.4 trainings instead
    /// of 216, 85 % saved".
    pub fn in_words(&self) -> String {
        let stages = self.stages.iter().enumerate().map(|(place, stage)| {
            let points = match (place, stage.n_points) {
                (0, 1) => "1 point".to_owned(),
                (0, n) => format!("{n} points"),
                (_, n) => n.to_string(),
            };
            match (place, stage.part) {
                (_, 1) => format!("{points} with all of it"),
                (0, part) => format!("{points} with 1/{part} of the training"),
                (_, part) => format!("{points} with 1/{part}"),
            }
        });
        format!(
            "{}: {:.1} trainings instead of {:.0}, {:.0} % saved",
            stages.collect::<Vec<String>>().join(", "),
            self.spent,
            self.whole,
            100.0 * self.share()
        )
    }
}
