//! Trained dictionaries with the preparation of features that belongs to them.

use serde::{Deserialize, Serialize};

use super::apply::fills_missing;
use super::calibrating::kept_samples;
use super::checked::Part;
use super::shared::Shared;
use crate::dataset::FittedPreparation;
use crate::evaluation::{Calibration, Imputation};
use crate::learner::{LearnError, Learner, LearnerSettings, LearnerState, resume_learner};

/// What one part of a run has learned: enough to classify, to explain and to continue.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainedModel {
    /// The part.
    pub part: Part,
    /// Rounds learned.
    pub n_batches: usize,
    /// What is done to the features of a sample first.
    pub preparation: FittedPreparation,
    /// The settings in force at the end.
    pub learner: LearnerSettings,
    /// The state of the learner.
    pub state: LearnerState,
    /// What its decisions are worth; absent where that was not measured.
    #[serde(default)]
    pub calibration: Option<Shared<Calibration>>,
    /// Corrections by a reviewer that it has learned since; scores are of before them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub n_corrections: usize,
}

/// Left out while there is none, as earlier versions of the program do not know it.
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl TrainedModel {
    /// What fills in missing features of prepared samples after the preparation has: where the model
    /// does that, the shape of the samples that `learner`, which is its own, keeps.
    pub(crate) fn imputation(&self, learner: &dyn Learner) -> Option<Imputation> {
        fills_missing(&self.learner).then(|| Imputation::of(&kept_samples(learner)))
    }

    /// The learner as it was, ready to classify.
    pub fn revive(&self) -> Result<Box<dyn Learner>, LearnError> {
        resume_learner(&self.learner, self.state.clone())
    }
}
