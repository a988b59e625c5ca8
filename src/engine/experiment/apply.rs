//! A trained model applied to samples it has not learned from: class, margin and residuals of each.

use std::cell::OnceCell;

use super::calibrating::{Assessor, kept_samples};
use super::error::{RunError, RunTrouble};
use super::model::TrainedModel;
use super::settings::USUAL_EPSILON;
use crate::dataset::{Dataset, Place};
use crate::evaluation::{
    Assurance, Classifier, GroupVote, Imputation, Strangeness, Verdict, group_votes,
};
use crate::learner::LearnerSettings;
use crate::math::View;

/// Samples that are classified between two looks at whether to continue.
const BLOCK: usize = 128;

/// How samples are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgeOptions {
    /// ε: the share of samples whose prediction set may miss their class.
    pub epsilon: f64,
    /// Whether exact zeros that are no values are found and filled in, in samples that fit worse
    /// than training samples do.
    pub repair: bool,
}

impl Default for JudgeOptions {
    fn default() -> Self {
        Self {
            epsilon: USUAL_EPSILON,
            repair: false,
        }
    }
}

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
    /// Features that were missing and filled in.
    pub n_missing: usize,
    /// What the decision is worth; none of a model that cannot tell.
    pub assurance: Option<Assurance>,
}

/// What is to be said of the samples of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileWarning {
    /// Number of the file among the sources of the data set.
    pub source: usize,
    /// What about it is strange.
    pub reason: Strangeness,
}

impl FileWarning {
    /// The warning in one sentence with the remedy.
    pub fn sentence(&self) -> &'static str {
        match self.reason {
            Strangeness::Fit => {
                "This recording is unlike anything the model has learned: its samples fit no class; do not rely on the decisions, and train with recordings of this kind"
            }
            Strangeness::Scale => {
                "This recording is unlike anything the model has learned: its values are much larger or smaller than in training; check units, gain and reference"
            }
            Strangeness::Shape => {
                "This recording is unlike anything the model has learned: its features go together in another way than in training; check channels, sampling rate and filters"
            }
        }
    }
}

impl TrainedModel {
    /// Judges all samples of a data set; those with missing values that the model's
    /// preparation drops are omitted. `keep_going` receives the share done and stops the work
    /// by saying false: what was judged by then is the result.
    pub fn judge(
        &self,
        dataset: &Dataset,
        options: &JudgeOptions,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Vec<Judged>, RunError> {
        let trouble = |error: RunTrouble| RunError::new(self.part, self.n_batches, error);
        let learner = self.revive().map_err(|error| trouble(error.into()))?;
        let classifier = Classifier::of(learner.as_ref());
        let mut work = classifier.work();
        let assessor = self.calibration.as_ref().map(|calibration| {
            Assessor::new(calibration.0.clone(), learner.as_ref(), options.epsilon)
        });
        // Made when the first sample misses something.
        let model = OnceCell::new();
        let imputation = || model.get_or_init(|| Imputation::of(&kept_samples(learner.as_ref())));
        let fills = fills_missing(&self.learner);
        let n_samples = dataset.n_samples();
        let mut judged = Vec::with_capacity(n_samples);
        let mut values = Vec::new();
        let mut verdicts = Vec::new();
        for first in (0..n_samples).step_by(BLOCK) {
            if !keep_going(first as f64 / n_samples as f64) {
                break;
            }
            let mut kept = Vec::new();
            let mut n_missing = Vec::new();
            values.clear();
            for sample in first..(first + BLOCK).min(n_samples) {
                let mut features = dataset.sample(sample).to_vec();
                let missing: Vec<bool> = features.iter().map(|value| value.is_nan()).collect();
                let outcome = self.preparation.apply(&mut features);
                if outcome.map_err(|error| trouble(error.into()))?.is_some() {
                    let count = missing.iter().filter(|missing| **missing).count();
                    if count > 0 && fills {
                        imputation().fill(&mut features, &missing);
                    }
                    values.extend(features);
                    kept.push(sample);
                    n_missing.push(count);
                }
            }
            let positions: Vec<usize> = (0..kept.len()).collect();
            if let (true, Some(calibration)) = (options.repair, &self.calibration) {
                let zero_share = &calibration.0.features.zero_share;
                let n_features = dataset.n_features();
                let view = View::from_columns(&values, n_features);
                let is_whole = classifier
                    .fits_usually(view, &positions, &mut work)
                    .map_err(|error| trouble(error.into()))?;
                for (place, features) in values.chunks_mut(n_features.max(1)).enumerate() {
                    let raw = dataset.sample(kept[place]);
                    let zeros: Vec<bool> = raw.iter().map(|value| *value == 0.0).collect();
                    if !is_whole[place] && zeros.contains(&true) {
                        let missing = imputation().suspects(features, &zeros, zero_share);
                        imputation().fill(features, &missing);
                        n_missing[place] += missing.iter().filter(|missing| **missing).count();
                    }
                }
            }
            let view = View::from_columns(&values, dataset.n_features());
            verdicts.clear();
            let mut residuals = Vec::new();
            classifier
                .classify_with_residuals(view, &positions, &mut work, &mut verdicts, &mut residuals)
                .map_err(|error| trouble(error.into()))?;
            let mut assured = Vec::with_capacity(kept.len());
            if let Some(assessor) = &assessor {
                let head = [self.learner.head];
                classifier
                    .compare_heads(view, &positions, &head, &mut work, |found| {
                        let place = found.position;
                        let raw = dataset.sample(kept[place]);
                        assured.push(assessor.assess(raw, view.col(place), found));
                    })
                    .map_err(|error| trouble(error.into()))?;
            }
            let mut assured = assured.into_iter();
            for (((sample, verdict), residual_shares), n_missing) in kept
                .into_iter()
                .zip(&verdicts)
                .zip(residuals)
                .zip(n_missing)
            {
                let origin = dataset.origin(sample);
                judged.push(Judged {
                    n_missing,
                    assurance: assured.next(),
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

impl TrainedModel {
    /// The files among judged samples that are unlike anything learned; none of a model that cannot
    /// tell.
    pub fn strange_files(&self, judged: &[Judged]) -> Vec<FileWarning> {
        let Some(calibration) = &self.calibration else {
            return Vec::new();
        };
        let mut by_source: std::collections::BTreeMap<usize, Vec<&Judged>> =
            std::collections::BTreeMap::new();
        for item in judged {
            by_source.entry(item.source).or_default().push(item);
        }
        let warn = |(source, items): (usize, Vec<&Judged>)| {
            let is_recording = matches!(items.first()?.place, Place::Window { .. });
            let assured: Vec<&Assurance> = items
                .iter()
                .filter_map(|item| item.assurance.as_ref())
                .collect();
            let reason = calibration.strange_file(&assured, is_recording)?;
            Some(FileWarning { source, reason })
        };
        by_source.into_iter().filter_map(warn).collect()
    }

    /// Whether a sample is unlike anything learned; none of a model that cannot tell.
    pub fn is_strange(&self, judged: &Judged) -> Option<bool> {
        let (calibration, assured) = (self.calibration.as_ref()?, judged.assurance.as_ref()?);
        Some(calibration.is_strange(assured.fit_p))
    }
}

/// Whether missing features of samples to be judged are filled in from the kept samples: all learners
/// whose head was chosen do; those of earlier versions keep the training mean.
pub(super) fn fills_missing(learner: &LearnerSettings) -> bool {
    learner.head.is_some() && learner.algorithm.remembers_all()
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
