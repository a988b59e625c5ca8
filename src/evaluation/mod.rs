//! What learned dictionaries are worth: classification, confusion matrix and scores.

mod classifier;
mod confusion;
mod groups;

pub use classifier::{Classifier, ClassifierWork, Explanation, Verdict};
pub use confusion::Confusion;
pub use groups::{GroupScore, GroupVote, group_votes, wilson_interval};
