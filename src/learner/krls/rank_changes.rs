//! C with samples entering or leaving one after the other, C ∓ Σ v vᵀ, the sum carried out at once.
//!
//! Each sample needs C as the ones before it left it, but of that only C w. The vectors v
//! therefore wait side by side, and one matrix product brings them all into C.

use crate::math::{Matrix, Write, add_scaled, product, vectorised};

use super::super::recursion::{set_one_combination, sparse_dot};
use super::super::sparse_coding::SparseCodes;

/// The vectors that wait, one column each; the last column is the one measured last.
#[derive(Clone, Debug, Default)]
pub(super) struct RankChanges {
    vectors: Matrix,
    n_waiting: usize,
    /// −1 when evidence enters C⁻¹, 1 when it leaves.
    sign: f64,
}

impl RankChanges {
    /// Nothing waits. Evidence that enters C⁻¹ is subtracted from C, evidence that leaves is added.
    pub(super) fn begin(&mut self, n_atoms: usize, write: Write) {
        self.sign = if write == Write::Subtract { -1.0 } else { 1.0 };
        self.n_waiting = 0;
        self.vectors.reshape(n_atoms, n_atoms + 1);
    }

    /// u = C w_j with what waits; returns w_jᵀu.
    pub(super) fn measure(&mut self, precision: &Matrix, codes: &SparseCodes, j: usize) -> f64 {
        let at = self.n_waiting;
        set_one_combination(self.vectors.col_mut(at), precision, codes, j);
        let (vectors, sign) = (&mut self.vectors, self.sign);
        vectorised(
            #[inline(always)]
            || {
                let (waiting, u) = vectors.split_last_col_mut(at);
                for v in waiting {
                    add_scaled(u, sign * sparse_dot(codes, j, v), v);
                }
                sparse_dot(codes, j, u)
            },
        )
    }

    /// Lets v = scale · u of the sample measured last wait. As many as there are atoms do at most.
    pub(super) fn keep(&mut self, precision: &mut Matrix, scale: f64) {
        for value in self.vectors.col_mut(self.n_waiting) {
            *value *= scale;
        }
        self.n_waiting += 1;
        if self.n_waiting == self.vectors.rows() {
            self.finish(precision);
        }
    }

    /// C ∓ V Vᵀ; nothing waits any more.
    pub(super) fn finish(&mut self, precision: &mut Matrix) {
        let write = if self.sign < 0.0 {
            Write::Subtract
        } else {
            Write::Add
        };
        let waiting = self.vectors.cols_view(0, self.n_waiting);
        product(precision.view_mut(), write, waiting, waiting.t());
        self.n_waiting = 0;
    }
}
