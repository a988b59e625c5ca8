//! The results of a sweep: every point by its inner folds, and the nested score of the choice.

use super::nested::PointResult;
use crate::experiment::summary::mean_and_sd;

/// A point by what its inner folds say.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRow {
    /// The result.
    pub result: PointResult,
    /// Mean over all inner folds of all outer folds.
    pub inner: Option<f64>,
    /// Standard deviation over the outer folds of the means of their inner folds.
    pub inner_sd: Option<f64>,
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
    /// All points, the best by inner folds first; those that could not be run last.
    pub rows: Vec<SweepRow>,
    /// The choice of every outer fold.
    pub chosen: Vec<Chosen>,
    /// Mean accuracy of the choices on data that had no part in them, and its deviation.
    pub nested: Option<(f64, Option<f64>)>,
}

impl SweepTable {
    /// The table of the results, whatever order they come in.
    pub fn of(mut results: Vec<PointResult>) -> Self {
        results.sort_by_key(|result| result.point.number);
        results.dedup_by_key(|result| result.point.number);
        let n_folds = results.iter().map(|result| result.outer.len()).max();
        let chosen: Vec<Chosen> = (0..n_folds.unwrap_or(0))
            .filter_map(|fold| choice(&results, fold))
            .collect();
        let nested = mean_and_sd(chosen.iter().map(|choice| choice.outer));
        let mut rows: Vec<SweepRow> = results.into_iter().map(SweepRow::of).collect();
        // Stable, so that equals stay in the order of their numbers.
        rows.sort_by(|a, b| {
            let key = |row: &SweepRow| row.inner.unwrap_or(f64::NEG_INFINITY);
            key(b).total_cmp(&key(a))
        });
        Self {
            rows,
            chosen,
            nested,
        }
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
    fn of(result: PointResult) -> Self {
        let means = result.outer.iter().filter_map(|outer| mean(&outer.inner));
        let (inner, inner_sd) = match mean_and_sd(means) {
            Some((mean, sd)) => (Some(mean), sd),
            None => (None, None),
        };
        Self {
            result,
            inner,
            inner_sd,
        }
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    mean_and_sd(values.iter().copied()).map(|(mean, _)| mean)
}

/// The best point of an outer fold by its inner folds; of equals the first.
fn choice(results: &[PointResult], fold: usize) -> Option<Chosen> {
    let candidates = results.iter().filter_map(|result| {
        let found = result.outer.get(fold)?;
        Some(Chosen {
            fold,
            point: result.point.number,
            inner: mean(&found.inner)?,
            outer: found.outer,
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
