//! The results of a sweep: every point by its inner folds, and the nested score of the choice.

use super::halving::{Effort, WorkSaved, mean};
use super::nested::{OuterResult, PointResult};
use crate::experiment::summary::mean_and_sd;

/// A point by what its inner folds say.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRow {
    /// The result; with early stopping that of whole trainings.
    pub result: PointResult,
    /// Mean over all inner folds of all outer folds, those in which it was not stopped early.
    pub inner: Option<f64>,
    /// Standard deviation over the outer folds of the means of their inner folds.
    pub inner_sd: Option<f64>,
    /// Outer folds in which it was trained to the end.
    pub n_folds: usize,
    /// The last stage that it reached, where it was stopped early in every outer fold.
    pub stopped: Option<Stopped>,
}

/// A point that was stopped early.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stopped {
    /// It was trained with one part in so many of the training.
    pub part: usize,
    /// Mean accuracy of the inner folds then.
    pub inner: f64,
}

/// What was chosen in an outer fold.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The outer fold, from 0.
    pub fold: usize,
    /// Number of the point, from 0.
    pub point: usize,
    /// Mean of its inner folds there.
    pub inner: f64,
    /// Its accuracy on the test samples of the fold.
    pub outer: f64,
}

/// The results of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepTable {
    /// All points, the best by inner folds first, those that were stopped early after them; those
    /// that could not be run last.
    pub rows: Vec<SweepRow>,
    /// The choice of every outer fold.
    pub chosen: Vec<Chosen>,
    /// Mean accuracy of the choices on data that had no part in them, and its deviation.
    pub nested: Option<(f64, Option<f64>)>,
    /// What early stopping has saved so far.
    pub saving: Option<WorkSaved>,
    /// What it was made of.
    results: Vec<PointResult>,
}

impl SweepTable {
    /// The table of the results, whatever order they come in.
    pub fn of(mut results: Vec<PointResult>) -> Self {
        results.sort_by_key(|result| (result.point.number, result.effort));
        results.dedup_by_key(|result| (result.point.number, result.effort));
        let points = results.chunk_by(|a, b| a.point.number == b.point.number);
        let mut rows: Vec<SweepRow> = points.map(SweepRow::of).collect();
        let n_folds = rows.iter().map(|row| row.result.outer.len()).max();
        let chosen: Vec<Chosen> = (0..n_folds.unwrap_or(0))
            .filter_map(|fold| choice(&rows, fold))
            .collect();
        let nested = mean_and_sd(chosen.iter().map(|choice| choice.outer));
        // Stable, so that equals stay in the order of their numbers.
        rows.sort_by(|a, b| {
            let trained = b.n_folds.cmp(&a.n_folds);
            let accuracy = |row: &SweepRow| row.inner.unwrap_or(f64::NEG_INFINITY);
            let reached = |row: &SweepRow| row.stopped.map_or(usize::MAX, |stopped| stopped.part);
            let then = |row: &SweepRow| row.stopped.map_or(0.0, |stopped| stopped.inner);
            trained
                .then(accuracy(b).total_cmp(&accuracy(a)))
                .then(reached(a).cmp(&reached(b)))
                .then(then(b).total_cmp(&then(a)))
        });
        Self {
            rows,
            chosen,
            nested,
            saving: WorkSaved::of(&results),
            results,
        }
    }

    /// The results that it was made of.
    pub fn into_results(self) -> Vec<PointResult> {
        self.results
    }

    /// The point that the inner folds of all outer folds together like best.
    pub fn best(&self) -> Option<&SweepRow> {
        self.rows.first().filter(|row| row.inner.is_some())
    }

    /// A point by its number.
    pub fn row(&self, number: usize) -> Option<&SweepRow> {
        self.rows
            .iter()
            .find(|row| row.result.point.number == number)
    }
}

impl SweepRow {
    /// The row of a point, from all that was computed of it in the order in which it was.
    fn of(parts: &[PointResult]) -> Self {
        let mut result = parts[0].clone();
        let mut stopped = None;
        for part in parts {
            result.problem = result.problem.or_else(|| part.problem.clone());
            match part.effort {
                Effort::Whole => {}
                Effort::Stage { part: 1, .. } => result.outer.clone_from(&part.outer),
                Effort::Stage { part: share, .. } => {
                    let means = part.outer.iter().filter_map(|outer| mean(&outer.inner));
                    if let Some((inner, _)) = mean_and_sd(means) {
                        let part = share;
                        stopped = Some(Stopped { part, inner });
                    }
                    result.outer = vec![OuterResult::default(); part.outer.len()];
                }
                Effort::Choice => {
                    for (own, found) in result.outer.iter_mut().zip(&part.outer) {
                        own.outer = found.outer;
                    }
                }
            }
            result.train_us_per_batch = part.train_us_per_batch.or(result.train_us_per_batch);
        }
        let means = result.outer.iter().filter_map(|outer| mean(&outer.inner));
        let means: Vec<f64> = means.collect();
        let (inner, inner_sd) = match mean_and_sd(means.iter().copied()) {
            Some((mean, sd)) => (Some(mean), sd),
            None => (None, None),
        };
        Self {
            stopped: stopped.filter(|_| inner.is_none() && result.problem.is_none()),
            result,
            inner,
            inner_sd,
            n_folds: means.len(),
        }
    }
}

/// The best point of an outer fold by its inner folds; of equals the first.
fn choice(rows: &[SweepRow], fold: usize) -> Option<Chosen> {
    let candidates = rows.iter().filter_map(|row| {
        let found = row.result.outer.get(fold)?;
        Some(Chosen {
            fold,
            point: row.result.point.number,
            inner: mean(&found.inner)?,
            outer: found.outer?,
        })
    });
    candidates.reduce(|best, other| {
        if other.inner > best.inner {
            other
        } else {
            best
        }
    })
}
