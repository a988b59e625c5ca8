//! What learned dictionaries are worth: classification, confusion matrix, scores and their comparison.

mod baseline;
mod calibration;
mod classifier;
mod comparison;
mod confusion;
mod drift;
mod epoch_scores;
mod event_score;
mod gathered;
mod groups;
mod left_out_groups;
mod principal;
mod ranking;
mod scores;
mod watch;

pub use baseline::{Baseline, BaselineData, BaselineResult};
pub(crate) use baseline::{chance, nearest_mean, ridge_on_kept};
pub use calibration::{
    Assurance, Calibration, CalibrationSample, CalibrationSource, FEWEST_CALIBRATION_SAMPLES,
    FEWEST_SEGMENTS, FeatureFacts, RecordingFacts, Strangeness, prediction_set,
};
pub(crate) use calibration::{log_residual, shape_directions};
pub use classifier::{Classifier, ClassifierWork, Explanation, HeadScores, Verdict};
pub use comparison::{PairedDifference, Superiority};
pub use confusion::Confusion;
pub use drift::{
    Adwin, AdwinSettings, Direction, DriftAlarm, DriftDetector, PageHinkley, PageHinkleySettings,
};
pub use epoch_scores::{Agreement, EpochScores};
pub use event_score::{DetectionCounts, EventScore, EventScoring, TimeSpan};
pub use gathered::GatheredScores;
pub use groups::{
    GroupScore, GroupVote, binomial_cdf, exact_interval, group_votes, wilson_interval,
};
pub use left_out_groups::readout_without_own_group;
pub use principal::{Imputation, Principal};
pub(crate) use ranking::{RankedDecisions, ranked};
pub(crate) use scores::groups_have_one_class;
pub use scores::{Estimate, GroupRow, ScoredDecision, Scores};
pub use watch::{AlarmAnswer, ChangeWatch, FasterForgetting, Watched, WatchedAlarm};
