//! Which kept samples leave first when the budget is exceeded.

use serde::{Deserialize, Serialize};

use crate::math::{Matrix, Write, dot, product, vectorised};

use super::report::Removal;
use super::sparse_coding::SparseCodes;

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

/// Scratch memory for ranking kept samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranking {
    /// Positions in the profile, first to leave first.
    pub(super) order: Vec<usize>,
    /// The norm of its row of UᵀW, by position in the profile.
    contributions: Vec<f64>,
    candidates: Matrix,
    code_gram: Matrix,
    dense_codes: Matrix,
    products: Matrix,
}

impl Ranking {
    /// Ranks kept samples by one of the paper's strategies. `entered` holds the order of entrance.
    ///
    /// # Panics
    /// For [`Pruning::LeastLoss`], which needs what only its learners know.
    pub(super) fn rank(
        &mut self,
        pruning: Pruning,
        coefficients: &Matrix,
        codes: &SparseCodes,
        entered: &[u64],
    ) {
        let n_kept = entered.len();
        self.order.clear();
        self.order.extend(0..n_kept);
        let norm = match pruning {
            Pruning::Oldest => {
                self.order.sort_unstable_by_key(|&j| entered[j]);
                return;
            }
            Pruning::LeastContribution(norm) => norm,
            Pruning::LeastContributionOlderHalf(norm) => {
                let half = n_kept / 2;
                if half > 0 {
                    self.order.select_nth_unstable_by_key(half, |&j| entered[j]);
                }
                self.order.truncate(half);
                norm
            }
            Pruning::LeastLoss => unreachable!("checked with the settings"),
        };
        self.measure_contributions(norm, coefficients, codes);
        let contributions = &self.contributions;
        // Contributions are not negative, so their bits are in the same order as they.
        self.order
            .sort_unstable_by_key(|&j| (contributions[j].to_bits(), entered[j]));
    }

    /// The reason to report for a sample that leaves by this ranking.
    pub(super) fn reason(&self, pruning: Pruning, position: usize) -> Removal {
        match pruning {
            Pruning::Oldest => Removal::Oldest,
            _ => Removal::LeastContribution(self.contributions[position]),
        }
    }

    /// Norm of row j of B = UᵀW for every candidate j in `order`.
    fn measure_contributions(
        &mut self,
        norm: ContributionNorm,
        coefficients: &Matrix,
        codes: &SparseCodes,
    ) {
        let n_atoms = coefficients.rows();
        self.candidates.reshape(n_atoms, self.order.len());
        for (k, &j) in self.order.iter().enumerate() {
            self.candidates
                .col_mut(k)
                .copy_from_slice(coefficients.col(j));
        }
        self.contributions.clear();
        self.contributions.resize(coefficients.cols(), 0.0);
        match norm {
            ContributionNorm::L2 => self.measure_l2(n_atoms, codes),
            ContributionNorm::L1 => self.measure_l1(n_atoms, codes),
        }
    }

    /// ‖row j‖₂² = u_jᵀ (W Wᵀ) u_j: no L × L matrix is needed.
    fn measure_l2(&mut self, n_atoms: usize, codes: &SparseCodes) {
        self.code_gram.reshape(n_atoms, n_atoms);
        self.code_gram.fill(0.0);
        for j in 0..codes.len() {
            add_outer_product(&mut self.code_gram, codes, j, 1.0);
        }
        self.products.reshape(n_atoms, self.order.len());
        product(
            self.products.view_mut(),
            Write::Replace,
            self.code_gram.view(),
            self.candidates.view(),
        );
        vectorised(
            #[inline(always)]
            || {
                for (k, &j) in self.order.iter().enumerate() {
                    let squared = dot(self.products.col(k), self.candidates.col(k));
                    self.contributions[j] = squared.max(0.0).sqrt();
                }
            },
        );
    }

    /// ‖row j‖₁ from the rows themselves.
    fn measure_l1(&mut self, n_atoms: usize, codes: &SparseCodes) {
        codes.write_dense(n_atoms, &mut self.dense_codes);
        self.products.reshape(self.order.len(), codes.len());
        product(
            self.products.view_mut(),
            Write::Replace,
            self.candidates.view().t(),
            self.dense_codes.view(),
        );
        // Sums by candidate, kept in the first column of the candidates' scratch.
        self.code_gram.reshape(self.order.len(), 1);
        self.code_gram.fill(0.0);
        vectorised(
            #[inline(always)]
            || {
                for i in 0..codes.len() {
                    let sums = self.code_gram.col_mut(0).iter_mut();
                    for (sum, value) in sums.zip(self.products.col(i)) {
                        *sum += value.abs();
                    }
                }
            },
        );
        for (k, &j) in self.order.iter().enumerate() {
            self.contributions[j] = self.code_gram[(k, 0)];
        }
    }
}

/// `matrix` += factor · w_j w_jᵀ.
#[inline(always)]
pub(super) fn add_outer_product(matrix: &mut Matrix, codes: &SparseCodes, j: usize, factor: f64) {
    for (p, x) in codes.pairs(j) {
        let column = matrix.col_mut(p);
        for (q, y) in codes.pairs(j) {
            column[q] += factor * (x * y);
        }
    }
}
