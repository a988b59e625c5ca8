//! Corrections by a reviewer: a model learns another class for a segment at once, and unlearns it exactly.

use serde::{Deserialize, Serialize};

use super::model::TrainedModel;
use crate::dataset::DatasetError;
use crate::learner::{
    LearnError, LearnerSettings, Progress, SampleStream, StepReport, Supply, resume_learner,
};
use crate::math::View;

/// What a reviewer said of a segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Correction {
    /// Start of the segment, from the start of the recording.
    pub start_s: f64,
    /// Its length.
    pub duration_s: f64,
    /// The class the model had decided for.
    pub before: String,
    /// The class it is; none for an artefact, which is left out and not learned.
    pub after: Option<String>,
}

/// Why a model cannot learn from a correction.
#[derive(Debug, thiserror::Error)]
pub enum CorrectionError {
    /// The model learns from all samples at once.
    #[error(
        "a model of this kind learns from all samples at once: train it again with the corrected data"
    )]
    NotOnline,
    /// The model has no such class.
    #[error("class {class} is not among the {n_classes} the model knows")]
    UnknownClass {
        /// The class asked for, by number.
        class: usize,
        /// Classes of the model.
        n_classes: usize,
    },
    /// The segment has missing values that the model's preparation does not fill.
    #[error("the segment has missing values")]
    Missing,
    /// The features do not fit the model.
    #[error(transparent)]
    Features(#[from] DatasetError),
    /// The step failed; the model is as it was.
    #[error(transparent)]
    Learn(#[from] LearnError),
}

impl TrainedModel {
    /// The model after one online step on a segment (its features before preparation) of another class.
    pub fn corrected(&self, features: &[f64], class: usize) -> Result<Self, CorrectionError> {
        let algorithm = &self.learner.algorithm;
        if algorithm.is_batch() || algorithm.is_baseline() {
            return Err(CorrectionError::NotOnline);
        }
        let mut features = features.to_vec();
        if self.preparation.apply(&mut features)?.is_none() {
            return Err(CorrectionError::Missing);
        }
        let mut learner = resume_learner(&self.learner, self.state.clone())?;
        let n_classes = learner.n_classes();
        if class >= n_classes {
            return Err(CorrectionError::UnknownClass { class, n_classes });
        }
        // A mini-batch of one sample of one class; schedules stand where training left them.
        let alone = LearnerSettings {
            batch_size: 1,
            ..self.learner.clone()
        };
        learner.change_settings(alone)?;
        let mut orders = vec![Vec::new(); n_classes];
        orders[class].push(0);
        let view = View::from_columns(&features, features.len());
        let mut stream = SampleStream::new(view, orders, Supply::Repeat);
        let progress = Progress {
            round: self.n_batches,
            n_rounds: self.n_batches + 1,
        };
        learner.step(progress, &mut stream, &mut StepReport::default())?;
        learner.change_settings(self.learner.clone())?;
        Ok(Self {
            state: learner.state(),
            n_corrections: self.n_corrections + 1,
            ..self.clone()
        })
    }
}
