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
    test_fold: Vec<Option<usize>>,
    n_folds: usize,
}

impl Split {
    /// A split from the number of the fold in which each sample is tested; `None` for samples that are only learned
    /// from. Numbers that no sample has are closed up.
    pub fn new(mut test_fold: Vec<Option<usize>>) -> Self {
        let mut used: Vec<usize> = test_fold.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        for fold in test_fold.iter_mut().flatten() {
            *fold = used.partition_point(|number| number < fold);
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

    /// The fold in which each sample is tested.
    pub fn test_folds(&self) -> &[Option<usize>] {
        &self.test_fold
    }

    /// The samples of one fold.
    pub fn fold(&self, fold: usize) -> Fold {
        let (test, train) =
            (0..self.test_fold.len()).partition(|sample| self.test_fold[*sample] == Some(fold));
        Fold { train, test }
    }

    /// All folds, one after the other.
    pub fn folds(&self) -> impl Iterator<Item = Fold> {
        (0..self.n_folds).map(|fold| self.fold(fold))
    }
}

#[cfg(test)]
mod tests;
