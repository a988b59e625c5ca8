//! Which kept samples leave first when the budget is exceeded.

use serde::{Deserialize, Serialize};

use crate::math::vectorised;

use super::contributions::Contributions;
use super::report::Removal;

/// How the length of a row of UᵀW is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContributionNorm {
    /// Sum of absolute values, as in the authors' code.
    L1,
    /// Root of the sum of squares, as in the paper's text.
    L2,
}

/// The order in which samples leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pruning {
    /// In the order of their entrance.
    Oldest,
    /// Those first that contribute least to the representation of all kept samples.
    LeastContribution(ContributionNorm),
    /// The same, but only among the half of the samples that entered first.
    LeastContributionOlderHalf(ContributionNorm),
    /// Those first whose removal adds least to the loss (evidence-preserving learners only).
    LeastLoss,
}

/// Kept samples in the order in which they should leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranking {
    /// Positions in the profile of those that may leave, in the order of their entrance.
    candidates: Vec<usize>,
    /// The contribution of each candidate as a key; empty where age alone decides.
    keys: Vec<u64>,
    n_taken: usize,
    contributions: Contributions,
}

/// The key of a candidate that was taken. Contributions are not negative, so that their bits are in
/// the same order as they and below this.
const TAKEN: u64 = u64::MAX;

impl Ranking {
    /// Ranks kept samples by one of the paper's strategies. `by_age` holds their positions in the
    /// order of their entrance; `measure` measures the contributions of the candidates it is given.
    ///
    /// # Panics
    /// For [`Pruning::LeastLoss`], which needs what only its learners know.
    pub(super) fn rank(
        &mut self,
        pruning: Pruning,
        by_age: &[usize],
        measure: impl FnOnce(&mut Contributions, ContributionNorm, &[usize]),
    ) {
        self.n_taken = 0;
        self.candidates.clear();
        self.keys.clear();
        let (norm, candidates) = match pruning {
            Pruning::Oldest => {
                self.candidates.extend_from_slice(by_age);
                return;
            }
            Pruning::LeastContribution(norm) => (norm, by_age),
            Pruning::LeastContributionOlderHalf(norm) => (norm, &by_age[..by_age.len() / 2]),
            Pruning::LeastLoss => unreachable!("checked with the settings"),
        };
        self.candidates.extend_from_slice(candidates);
        measure(&mut self.contributions, norm, candidates);
        let contributions = candidates.iter().map(|&j| self.contributions.of(j));
        self.keys.extend(contributions.map(f64::to_bits));
    }

    /// The next sample to leave, by its position in the profile. Of equal ones the oldest goes.
    pub(super) fn next(&mut self) -> Option<usize> {
        if self.n_taken == self.candidates.len() {
            return None;
        }
        let next = if self.keys.is_empty() {
            self.n_taken
        } else {
            let least = vectorised(
                #[inline(always)]
                || self.keys.iter().fold(TAKEN, |least, &key| least.min(key)),
            );
            let next = self.keys.iter().position(|&key| key == least)?;
            self.keys[next] = TAKEN;
            next
        };
        self.n_taken += 1;
        Some(self.candidates[next])
    }

    /// The reason to report for a sample that leaves by this ranking.
    pub(super) fn reason(&self, pruning: Pruning, position: usize) -> Removal {
        match pruning {
            Pruning::Oldest => Removal::Oldest,
            _ => Removal::LeastContribution(self.contributions.of(position)),
        }
    }
}

/// `by_age` ← the positions of kept samples in the order of their entrance.
pub(super) fn sort_by_age(entered: &[u64], by_age: &mut Vec<usize>) {
    by_age.clear();
    by_age.extend(0..entered.len());
    by_age.sort_unstable_by_key(|&j| (entered[j], j));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::sparse_coding::SparseCodes;
    use crate::math::Matrix;

    fn in_order(pruning: Pruning, entered: &[u64], lengths: &[f64]) -> Vec<usize> {
        let mut codes = SparseCodes::new(1, lengths.len());
        lengths
            .iter()
            .for_each(|_| codes.push([(0, 1.0)].into_iter()));
        let coefficients = Matrix::from_fn(1, lengths.len(), |_, j| lengths[j]);
        let mut by_age = Vec::new();
        sort_by_age(entered, &mut by_age);
        let mut ranking = Ranking::default();
        ranking.rank(pruning, &by_age, |found, norm, candidates| {
            found.measure(norm, candidates, &coefficients, &codes);
        });
        std::iter::from_fn(|| ranking.next()).collect()
    }

    #[test]
    fn the_least_goes_first_and_of_equals_the_oldest() {
        let entered = [7, 3, 9, 1, 5, 8];
        let lengths = [2.0, 1.0, 0.5, 1.0, 0.0, 1.0];
        for norm in [ContributionNorm::L1, ContributionNorm::L2] {
            let all = in_order(Pruning::LeastContribution(norm), &entered, &lengths);
            assert_eq!(all, [4, 2, 3, 1, 5, 0]);
            let older = Pruning::LeastContributionOlderHalf(norm);
            assert_eq!(in_order(older, &entered, &lengths), [4, 3, 1]);
        }
        let oldest = in_order(Pruning::Oldest, &entered, &lengths);
        assert_eq!(oldest, [3, 1, 4, 0, 5, 2]);
    }
}
