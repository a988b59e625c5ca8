//! Repeated groupings: the same experiment with its groups dealt to folds by several seeds, as one result with its
//! spread.

use std::sync::Arc;

use super::checked::CheckedExperiment;
use super::error::RunError;
use super::part_run::Extent;
use super::run::{Run, RunParts};
use super::summary::{CurvePoint, RunSummary, mean_and_sd};
use crate::evaluation::{GroupScore, exact_interval};

/// The result of one grouping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grouping {
    /// Seed of the folds and of the order of the samples.
    pub seed: u64,
    /// Mean accuracy over the folds.
    pub accuracy: Option<f64>,
    /// Share of the groups that were decided rightly by vote, where groups are known.
    pub group_accuracy: Option<f64>,
}

impl Grouping {
    /// The result of one run in brief.
    pub fn of(seed: u64, summary: &RunSummary) -> Self {
        let score = summary.group_score();
        Self {
            seed,
            accuracy: summary.accuracy.map(|point| point.mean),
            group_accuracy: score.map(|score| score.right as f64 / score.total as f64),
        }
    }
}

/// Trains an experiment once for each of several checked groupings, without calibration and baselines: their result
/// in brief. `keep_going` receives the share done and cancels by saying false: there is no result then.
pub fn repeat_groupings(
    groupings: Vec<CheckedExperiment>,
    keep_going: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<Vec<Grouping>>, RunError> {
    let n_groupings = groupings.len() as f64;
    let mut results = Vec::with_capacity(groupings.len());
    for (number, checked) in groupings.into_iter().enumerate() {
        let seed = checked.experiment().seed;
        let mut run = Run::new(Arc::new(checked), &RunParts::default(), Vec::new())?.bare(false);
        let mut news = Vec::new();
        while !run.is_complete() {
            if !keep_going((number as f64 + run.progress().share()) / n_groupings) {
                return Ok(None);
            }
            news.clear();
            run.advance(Extent::Slice, &mut news)?;
        }
        let summary = RunSummary::of(run.checked().facts(), &run.complete_folds());
        results.push(Grouping::of(seed, &summary));
    }
    Ok(Some(results))
}

impl RunSummary {
    /// One result of several groupings: means over them, their spread as deviation, and all decisions together, so
    /// that intervals over groups see each group as often as it was tested. Nothing without groupings.
    pub fn over_groupings(runs: Vec<(u64, Self)>) -> Option<Self> {
        let groupings: Vec<Grouping> = runs
            .iter()
            .map(|(seed, summary)| Grouping::of(*seed, summary))
            .collect();
        let accuracy = mean_and_sd(groupings.iter().filter_map(|grouping| grouping.accuracy));
        let n_runs = runs.len();
        let mut summaries = runs.into_iter().map(|(_, summary)| summary);
        let mut whole = summaries.next()?;
        whole.groupings = groupings;
        if n_runs == 1 {
            return Some(whole);
        }
        let others: Vec<Self> = summaries.collect();
        let of_curve = |get: &dyn Fn(&Self) -> &[CurvePoint], number: usize, whole: &Self| {
            let all = others.iter().chain([whole]);
            mean_and_sd(all.filter_map(|s| get(s).get(number).map(|point| point.mean)))
        };
        let mean_curve = |get: &dyn Fn(&Self) -> &[CurvePoint], whole: &Self| -> Vec<CurvePoint> {
            let points = get(whole).iter().enumerate();
            points
                .filter_map(|(number, point)| {
                    let (mean, sd) = of_curve(get, number, whole)?;
                    Some(CurvePoint { mean, sd, ..*point })
                })
                .collect()
        };
        let curve = mean_curve(&|summary| &summary.curve, &whole);
        let missing = mean_curve(&|summary| &summary.missing, &whole);
        let mean_of = |get: &dyn Fn(&Self) -> Option<f64>| {
            let all = others.iter().chain([&whole]).filter_map(get);
            mean_and_sd(all).map(|(mean, _)| mean)
        };
        let readout_logo = mean_of(&|summary| summary.readout_logo);
        let prequential_accuracy = mean_of(&|summary| summary.prequential_accuracy);
        whole.curve = curve;
        whole.missing = missing;
        whole.readout_logo = readout_logo;
        whole.prequential_accuracy = prequential_accuracy;
        whole.accuracy = whole
            .accuracy
            .zip(accuracy)
            .map(|(point, (mean, sd))| CurvePoint { mean, sd, ..point });
        let n_folds = whole.folds.len();
        for (number, other) in others.into_iter().enumerate() {
            let later = other.folds.into_iter();
            let numbered = later.map(|(fold, c)| ((number + 1) * n_folds + fold, c));
            whole.folds.extend(numbered);
            whole.confusion.merge(&other.confusion);
            whole.decisions.extend(other.decisions);
            whole.timing.train_s += other.timing.train_s;
            whole.timing.test_s += other.timing.test_s;
        }
        Some(whole)
    }

    /// The vote of the groups, over repeated groupings its mean, with the exact interval for that many groups.
    pub fn group_score_over_groupings(&self) -> Option<GroupScore> {
        let score = self.group_score()?;
        let shares = self.groupings.iter().filter_map(|g| g.group_accuracy);
        let (mean, _) = mean_and_sd(shares)?;
        let right = (mean * score.total as f64).round() as u64;
        Some(GroupScore {
            right,
            interval: exact_interval(right, score.total),
            ..score
        })
    }
}
