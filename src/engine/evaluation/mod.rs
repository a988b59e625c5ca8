//! What learned dictionaries are worth: classification, confusion matrix, scores and their comparison.

mod classifier;
mod comparison;
mod confusion;
mod groups;
mod left_out_groups;
mod scores;

pub use classifier::{Classifier, ClassifierWork, Explanation, Verdict};
pub use comparison::{Finding, PairedDifference};
pub use confusion::Confusion;
pub use groups::{GroupScore, GroupVote, exact_interval, group_votes, wilson_interval};
pub use left_out_groups::readout_without_own_group;
pub use scores::{Estimate, GroupRow, ScoredDecision, Scores};
