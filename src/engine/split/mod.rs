//! Splits of a data set into training and test samples, and the audit that finds what leaks between them.

pub mod audit;
mod deal;
mod in_time;
mod plan;

pub use in_time::{ArrivalPlan, ArrivalRound, BadDelay, LabelDelay, TimeOrder};
pub use plan::{HoldOut, KeptFolds, SplitError, SplitPlan};

/// Training and test samples of one fold, as rising positions in the data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// The samples to learn from.
    pub train: Vec<usize>,
    /// The samples to be judged on.
    pub test: Vec<usize>,
}

/// In which fold each sample is tested; in every other fold it is learned from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The fold in which each sample is tested, or [`NEVER`].
    test_fold: Vec<u32>,
    n_folds: usize,
}

/// Of a sample that is only learned from.
const NEVER: u32 = u32::MAX;

impl Split {
    /// A split from the number of the fold in which each sample is tested; `None` for samples that are only learned
    /// from. Numbers that no sample has are closed up.
    pub fn new(test_fold: impl IntoIterator<Item = Option<usize>>) -> Self {
        let number = |fold: usize| u32::try_from(fold).unwrap_or(NEVER);
        let test_fold = test_fold.into_iter();
        let mut test_fold: Vec<u32> = test_fold.map(|fold| fold.map_or(NEVER, number)).collect();
        let mut used = test_fold.clone();
        used.sort_unstable();
        used.dedup();
        used.pop_if(|last| *last == NEVER);
        for fold in test_fold.iter_mut().filter(|fold| **fold != NEVER) {
            *fold = used.partition_point(|number| number < fold) as u32;
        }
        Self {
            test_fold,
            n_folds: used.len(),
        }
    }

    /// Number of folds.
    pub fn n_folds(&self) -> usize {
        self.n_folds
    }

    /// The fold in which a sample is tested; none also of samples that it does not know.
    pub fn test_fold(&self, sample: usize) -> Option<usize> {
        let fold = self.test_fold.get(sample).copied()?;
        (fold != NEVER).then_some(fold as usize)
    }

    /// The fold in which each sample is tested.
    pub fn test_folds(&self) -> impl ExactSizeIterator<Item = Option<usize>> + '_ {
        (0..self.test_fold.len()).map(move |sample| self.test_fold(sample))
    }

    /// The samples of one fold.
    pub fn fold(&self, fold: usize) -> Fold {
        let (test, train) =
            (0..self.test_fold.len()).partition(|sample| self.test_fold(*sample) == Some(fold));
        Fold { train, test }
    }

    /// All folds, one after the other.
    pub fn folds(&self) -> impl Iterator<Item = Fold> {
        (0..self.n_folds).map(|fold| self.fold(fold))
    }
}

#[cfg(test)]
mod tests;
