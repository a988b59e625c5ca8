//! What learned dictionaries are worth: classification, confusion matrix, scores and their comparison.

mod classifier;
mod comparison;
mod confusion;
mod groups;

pub use classifier::{Classifier, ClassifierWork, Explanation, Verdict};
pub use comparison::{Finding, PairedDifference};
pub use confusion::Confusion;
pub use groups::{GroupScore, GroupVote, group_votes, wilson_interval};
