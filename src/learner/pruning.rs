//! Which kept samples leave first when the budget is exceeded.

use serde::{Deserialize, Serialize};

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

/// So many samples are put in order at a time; mostly the first portion is enough.
const PORTION: usize = 16;

/// Kept samples in the order in which they should leave.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranking {
    /// (rank, order of entrance, position in the profile), sorted as far as `n_sorted`.
    places: Vec<(u64, u64, usize)>,
    n_sorted: usize,
    n_taken: usize,
    candidates: Vec<usize>,
    ages: Vec<u64>,
    contributions: Contributions,
}

impl Ranking {
    /// Ranks kept samples by one of the paper's strategies. `entered` holds their order of
    /// entrance; `measure` measures the contributions of the candidates it is given.
    ///
    /// # Panics
    /// For [`Pruning::LeastLoss`], which needs what only its learners know.
    pub(super) fn rank(
        &mut self,
        pruning: Pruning,
        entered: &[u64],
        measure: impl FnOnce(&mut Contributions, ContributionNorm, &[usize]),
    ) {
        self.n_sorted = 0;
        self.n_taken = 0;
        self.places.clear();
        let places = entered.iter().enumerate();
        self.places.extend(places.map(|(j, &age)| (age, age, j)));
        let norm = match pruning {
            Pruning::Oldest => return,
            Pruning::LeastContribution(norm) => norm,
            Pruning::LeastContributionOlderHalf(norm) => {
                self.keep_older_half(entered);
                norm
            }
            Pruning::LeastLoss => unreachable!("checked with the settings"),
        };
        self.candidates.clear();
        let positions = self.places.iter().map(|&(_, _, j)| j);
        self.candidates.extend(positions);
        measure(&mut self.contributions, norm, &self.candidates);
        for (rank, _, j) in &mut self.places {
            // Contributions are not negative, so their bits are in the same order as they.
            *rank = self.contributions.of(*j).to_bits();
        }
    }

    /// Forgets the places of samples that entered in the later half.
    fn keep_older_half(&mut self, entered: &[u64]) {
        let half = entered.len() / 2;
        self.ages.clear();
        self.ages.extend_from_slice(entered);
        let first_younger = match half {
            0 => 0,
            _ => *self.ages.select_nth_unstable(half).1,
        };
        self.places.retain(|&(_, age, _)| age < first_younger);
    }

    /// The next sample to leave, by its position in the profile.
    pub(super) fn next(&mut self) -> Option<usize> {
        if self.n_taken == self.n_sorted {
            let rest = &mut self.places[self.n_sorted..];
            let portion = rest.len().min(PORTION);
            if portion < rest.len() {
                rest.select_nth_unstable(portion);
            }
            rest[..portion].sort_unstable();
            self.n_sorted += portion;
        }
        let &(_, _, position) = self.places.get(self.n_taken)?;
        self.n_taken += 1;
        Some(position)
    }

    /// The reason to report for a sample that leaves by this ranking.
    pub(super) fn reason(&self, pruning: Pruning, position: usize) -> Removal {
        match pruning {
            Pruning::Oldest => Removal::Oldest,
            _ => Removal::LeastContribution(self.contributions.of(position)),
        }
    }
}
