//! A trained model applied to samples it has not learned from: class, margin and residuals of each.

use super::error::{RunError, RunTrouble};
use super::model::TrainedModel;
use crate::dataset::{Dataset, Place};
use crate::evaluation::{Classifier, GroupVote, Verdict, group_votes};
use crate::math::View;

/// Samples that are classified between two looks at whether to continue.
const BLOCK: usize = 128;

/// What was decided about one sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Place in the data set.
    pub sample: usize,
    /// Number of its file among the sources of the data set.
    pub source: usize,
    /// Where in the file.
    pub place: Place,
    /// Class, runner-up and margin.
    pub verdict: Verdict,
    /// r²/σ per class.
    pub residual_shares: Vec<f64>,
}

impl TrainedModel {
    /// Judges all samples of a data set; those with missing values that the model's
    /// preparation drops are omitted. `keep_going` receives the share done and stops the work
    /// by saying false: what was judged by then is the result.
    pub fn judge(
        &self,
        dataset: &Dataset,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Vec<Judged>, RunError> {
        let trouble = |error: RunTrouble| RunError::new(self.part, self.n_batches, error);
        let learner = self.revive().map_err(|error| trouble(error.into()))?;
        let classifier = Classifier::of(learner.as_ref());
        let mut work = classifier.work();
        let n_samples = dataset.n_samples();
        let mut judged = Vec::with_capacity(n_samples);
        let mut values = Vec::new();
        let mut verdicts = Vec::new();
        for first in (0..n_samples).step_by(BLOCK) {
            if !keep_going(first as f64 / n_samples as f64) {
                break;
            }
            let mut kept = Vec::new();
            values.clear();
            for sample in first..(first + BLOCK).min(n_samples) {
                let mut features = dataset.sample(sample).to_vec();
                let outcome = self.preparation.apply(&mut features);
                if outcome.map_err(|error| trouble(error.into()))?.is_some() {
                    values.extend(features);
                    kept.push(sample);
                }
            }
            let view = View::from_columns(&values, dataset.n_features());
            let positions: Vec<usize> = (0..kept.len()).collect();
            verdicts.clear();
            let mut residuals = Vec::new();
            classifier
                .classify_with_residuals(view, &positions, &mut work, &mut verdicts, &mut residuals)
                .map_err(|error| trouble(error.into()))?;
            for ((sample, verdict), residual_shares) in
                kept.into_iter().zip(&verdicts).zip(residuals)
            {
                let origin = dataset.origin(sample);
                judged.push(Judged {
                    sample,
                    source: origin.source,
                    place: origin.place,
                    verdict: *verdict,
                    residual_shares,
                });
            }
        }
        Ok(judged)
    }
}

/// The vote of every file over its samples, in the order of the sources. The truth is not
/// known and stands as the decision.
pub fn votes_by_source(n_classes: usize, judged: &[Judged]) -> Vec<GroupVote> {
    let decisions = judged.iter().map(|judged| {
        let Verdict { class, margin, .. } = judged.verdict;
        (judged.source, class, class, margin)
    });
    group_votes(n_classes, decisions)
}
