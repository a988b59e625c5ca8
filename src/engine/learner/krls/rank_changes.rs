//! C with samples entering or leaving one after the other, C ∓ Σ v vᵀ, the sum carried out at once.
//!
//! Each sample needs C as the ones before it left it, but of that only C w. The vectors v
//! therefore wait side by side, and one small product brings them all into C.

use crate::math::{Matrix, Write, small_product};

use super::super::recursion::{set_one_combination, sparse_dot};
use super::super::sparse_coding::SparseCodes;

/// The vectors v that wait, and the sample measured last.
#[derive(Clone, Debug, Default)]
pub(super) struct RankChanges {
    /// One column each.
    vectors: Matrix,
    n_waiting: usize,
    /// Whether evidence enters C⁻¹ and is subtracted from C, or leaves.
    write: Write,
    /// u = C w of the sample measured last, a column.
    measured: Matrix,
    /// wᵀv of that sample for every v that waits, a row.
    along: Matrix,
}

impl RankChanges {
    /// Nothing waits. Evidence that enters C⁻¹ is subtracted from C, evidence that leaves is added.
    pub(super) fn begin(&mut self, n_atoms: usize, write: Write) {
        self.write = write;
        self.n_waiting = 0;
        self.vectors.reshape(n_atoms, n_atoms);
        self.measured.reshape(n_atoms, 1);
        self.along.reshape(1, n_atoms);
    }

    /// u = C w_j with what waits; returns w_jᵀu.
    pub(super) fn measure(&mut self, precision: &Matrix, codes: &SparseCodes, j: usize) -> f64 {
        set_one_combination(self.measured.col_mut(0), precision, codes, j);
        self.along.reshape(1, self.n_waiting);
        for k in 0..self.n_waiting {
            self.along[(0, k)] = sparse_dot(codes, j, self.vectors.col(k));
        }
        let waiting = self.vectors.cols_view(0, self.n_waiting);
        small_product(&mut self.measured, self.write, waiting, self.along.view());
        sparse_dot(codes, j, self.measured.col(0))
    }

    /// Lets v = scale · u of the sample measured last wait. As many as there are atoms do at most.
    pub(super) fn keep(&mut self, precision: &mut Matrix, scale: f64) {
        let vector = self.vectors.col_mut(self.n_waiting).iter_mut();
        for (value, u) in vector.zip(self.measured.col(0)) {
            *value = scale * u;
        }
        self.n_waiting += 1;
        if self.n_waiting == self.vectors.rows() {
            self.finish(precision);
        }
    }

    /// C ∓ V Vᵀ; nothing waits any more.
    pub(super) fn finish(&mut self, precision: &mut Matrix) {
        let waiting = self.vectors.cols_view(0, self.n_waiting);
        small_product(precision, self.write, waiting, waiting);
        self.n_waiting = 0;
    }
}
