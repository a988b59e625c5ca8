//! Why a run cannot continue.

use super::checked::Part;
use crate::dataset::DatasetError;
use crate::learner::LearnError;
use crate::split::SplitError;

/// What stopped a run, and where.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Preparing or learning failed in a fold.
    #[error("{}: {trouble}", moment(*.part, *.batch))]
    Trouble {
        /// The part of the run.
        part: Part,
        /// Rounds done.
        batch: usize,
        /// What happened.
        trouble: RunTrouble,
    },
    /// A saved run belongs to other data.
    #[error("the saved run cannot be resumed with these data: {0}")]
    OtherData(String),
    /// A saved run belongs to other settings.
    #[error("the saved run cannot be resumed: {0}")]
    OtherSettings(String),
    /// A fold that does not exist was asked for.
    #[error("there is no fold {asked}: the split has folds 1 to {n_folds}")]
    NoSuchFold {
        /// The number asked for, from 1.
        asked: usize,
        /// How many there are.
        n_folds: usize,
    },
    /// A fold came to its end without a test.
    #[error("fold {fold} has no test sample that could be classified")]
    NothingTested {
        /// The fold, from 1.
        fold: usize,
    },
    /// The settings cannot change like this while the run continues.
    #[error("{0}")]
    Change(LearnError),
}

/// What happened.
#[derive(Debug, thiserror::Error)]
pub enum RunTrouble {
    /// While preparing the features.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// While learning or testing.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// A class is missing on the side of the training.
    #[error("class {class:?} has no training sample: {remedy}")]
    ClassMissing {
        /// Its name.
        class: String,
        /// What can be done.
        remedy: &'static str,
    },
    /// No median distance to take the width of the kernel from.
    #[error(
        "most training samples are alike, so there is no median distance to take the width of the kernel from: give the width as a number"
    )]
    AllAlike,
    /// The kernel says the same of all training samples.
    #[error(
        "{0}, so that decisions would be guesses: scale the features (preparation.scaling), choose another width, or let the settings be chosen (Learner › Choose for me, --auto)"
    )]
    Blind(&'static str),
    /// The training samples cannot be dealt to inner folds.
    #[error("settings cannot be chosen on these training samples: {0}")]
    InnerSplit(SplitError),
    /// Features on disk cannot be read back.
    #[error("{0}")]
    FeaturesLost(String),
    /// No kernel could be trained.
    #[error("no kernel can be trained on these samples, so none can be chosen: {0}")]
    NothingChosen(String),
}

impl RunError {
    pub(super) fn new(part: Part, batch: usize, trouble: RunTrouble) -> Self {
        Self::Trouble {
            part,
            batch,
            trouble,
        }
    }
}

/// The part, and what it had learned.
fn moment(part: Part, n_batches: usize) -> String {
    let part = match part {
        Part::Fold(fold) => format!("fold {}", fold + 1),
        Part::Final => "the final model".into(),
    };
    match n_batches {
        0 => part,
        1 => format!("{part}, after 1 mini-batch"),
        _ => format!("{part}, after {n_batches} mini-batches"),
    }
}
