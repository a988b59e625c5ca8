//! The rank-M update of Ψ that growing, pruning and evidence share.
//!
//! With G the gain of the new samples, w their codes and h = U k,
//!
//! ```text
//! g = h − Ψ w        E = σ − wᵀh − hᵀw + wᵀΨw
//! Ψ ← Ψ + G gᵀ + g Gᵀ + G E Gᵀ
//! ```
//!
//! which equals Eq. (eqPsi2) of the paper without any L × L product.

use crate::math::{Matrix, Write, product, vectorised};

use super::sparse_coding::SparseCodes;

/// Scratch memory of an update; all matrices have one column per sample of the block.
#[derive(Clone, Debug, Default)]
pub(super) struct Recursion {
    /// G, to be filled before [`Recursion::update`].
    pub(super) gains: Matrix,
    /// g = h − Ψ w.
    errors: Matrix,
    /// E, sample by sample.
    energies: Matrix,
    /// g + h, and later G Fᵀ.
    scratch: Matrix,
}

impl Recursion {
    /// Makes room for blocks of `most` samples.
    pub(super) fn reserve(&mut self, n_atoms: usize, most: usize) {
        self.gains.reshape(n_atoms, most);
        self.errors.reshape(n_atoms, most);
        self.energies.reshape(most, most);
        self.scratch.reshape(n_atoms, n_atoms.max(most));
    }

    /// `gains` ← `matrix` · w for sparse codes w, each column multiplied by `weight(j)`.
    pub(super) fn gains_by_product(
        &mut self,
        matrix: &Matrix,
        codes: &SparseCodes,
        weight: impl Fn(usize) -> f64,
    ) {
        let gains = &mut self.gains;
        gains.reshape(matrix.rows(), codes.len());
        vectorised(
            #[inline(always)]
            || {
                for j in 0..codes.len() {
                    set_combination(gains.col_mut(j), matrix, codes, j, weight(j));
                }
            },
        );
    }

    /// g and E from h, Ψ, the codes and the kernel matrix σ of the block.
    pub(super) fn measure(
        &mut self,
        inner_products: &Matrix,
        atom_gram: &Matrix,
        codes: &SparseCodes,
        block_kernel: &Matrix,
    ) {
        let (errors, energies) = (&mut self.errors, &mut self.energies);
        let sums = &mut self.scratch;
        let (n_atoms, m) = (atom_gram.rows(), codes.len());
        errors.reshape(n_atoms, m);
        sums.reshape(n_atoms, m);
        energies.reshape(m, m);
        vectorised(
            #[inline(always)]
            || {
                for j in 0..m {
                    let (error, sum) = (errors.col_mut(j), sums.col_mut(j));
                    set_combination(error, atom_gram, codes, j, -1.0);
                    let values = error.iter_mut().zip(sum).zip(inner_products.col(j));
                    for ((error, sum), h) in values {
                        *error += h;
                        *sum = *error + h;
                    }
                }
                // E = σ − (N + Nᵀ)/2 with N = wᵀ(g + h), for wᵀg = wᵀh − wᵀΨw.
                for j in 0..m {
                    let sum = sums.col(j);
                    for (i, value) in energies.col_mut(j).iter_mut().enumerate() {
                        *value = sparse_dot(codes, i, sum);
                    }
                }
                for j in 0..m {
                    for i in 0..=j {
                        let kernel = 0.5 * (block_kernel[(i, j)] + block_kernel[(j, i)]);
                        let energy = kernel - 0.5 * (energies[(i, j)] + energies[(j, i)]);
                        energies[(i, j)] = energy;
                        energies[(j, i)] = energy;
                    }
                }
            },
        );
    }

    /// Ψ ± (G gᵀ + g Gᵀ ± G E Gᵀ): plus when samples enter, minus when they leave.
    pub(super) fn update(&mut self, atom_gram: &mut Matrix, entering: bool) {
        // F = g ± ½ G E makes it G Fᵀ + its transpose.
        let sign = if entering { 1.0 } else { -1.0 };
        self.energies.scale(0.5 * sign);
        product(
            self.errors.view_mut(),
            Write::Add,
            self.gains.view(),
            self.energies.view(),
        );
        self.scratch.reshape(atom_gram.rows(), atom_gram.rows());
        product(
            self.scratch.view_mut(),
            Write::Replace,
            self.gains.view(),
            self.errors.view().t(),
        );
        atom_gram.add_with_transpose(sign, &self.scratch);
    }
}

/// `target` ← factor · `matrix` · w_j, in pieces that stay in registers over all atoms.
#[inline(always)]
pub(super) fn set_combination(
    target: &mut [f64],
    matrix: &Matrix,
    codes: &SparseCodes,
    j: usize,
    factor: f64,
) {
    let (atoms, values) = codes.code(j);
    let mut row = 0;
    row = combine_pieces::<16>(target, row, matrix, atoms, values, factor);
    row = combine_pieces::<8>(target, row, matrix, atoms, values, factor);
    row = combine_pieces::<4>(target, row, matrix, atoms, values, factor);
    combine_pieces::<1>(target, row, matrix, atoms, values, factor);
}

/// Pieces of `N` rows from `row` on, as many as there are; returns the first row left.
#[inline(always)]
fn combine_pieces<const N: usize>(
    target: &mut [f64],
    mut row: usize,
    matrix: &Matrix,
    atoms: &[u32],
    values: &[f64],
    factor: f64,
) -> usize {
    for piece in target[row..].chunks_exact_mut(N) {
        let mut sums = [0.0; N];
        for (&atom, value) in atoms.iter().zip(values) {
            let column = &matrix.col(atom as usize)[row..row + N];
            for (sum, element) in sums.iter_mut().zip(column) {
                *sum += value * element;
            }
        }
        for (target, sum) in piece.iter_mut().zip(sums) {
            *target = factor * sum;
        }
        row += N;
    }
    row
}

/// w_jᵀ `dense`.
#[inline(always)]
pub(super) fn sparse_dot(codes: &SparseCodes, j: usize, dense: &[f64]) -> f64 {
    codes
        .pairs(j)
        .map(|(atom, value)| value * dense[atom])
        .sum()
}
