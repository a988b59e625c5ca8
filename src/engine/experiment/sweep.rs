//! Parameter sweeps: many settings of one experiment, judged by nested validation.
//!
//! Every outer fold is a little world of its own. Its training samples are dealt to inner
//! folds, on which all settings are tried; the one that does best there is trained on all of
//! them and judged on the outer test samples, which had no part in the choice.

mod halving;
mod nested;
mod points;
mod table;

pub use halving::{Effort, Entrants, Halving, StageCount, WorkSaved};
pub use nested::{OuterResult, PointProblem, PointResult, SweepError, SweepPlan};
pub use points::{Axis, Search, SettingText, SweepPoint, Values};
pub use table::{Chosen, Stopped, SweepRow, SweepTable};

/// A sweep: what is tried, and how it is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Which settings are tried.
    pub search: Search,
    /// Folds into which the training samples of each outer fold are dealt.
    pub inner_folds: usize,
    /// How points are stopped early, if they are.
    pub halving: Option<Halving>,
}

impl Sweep {
    /// Inner folds where nothing else is said.
    pub const USUAL_INNER_FOLDS: usize = 3;

    /// What is computed of the points, one phase after the other.
    fn efforts(&self) -> Vec<Effort> {
        match &self.halving {
            Some(halving) => halving.efforts(),
            None => vec![Effort::Whole],
        }
    }
}

#[cfg(test)]
mod tests;
