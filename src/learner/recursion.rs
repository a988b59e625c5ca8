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

use crate::math::{Matrix, Write, add_scaled, product, vectorised};

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
}

impl Recursion {
    /// Makes room for blocks of `most` samples.
    pub(super) fn reserve(&mut self, n_atoms: usize, most: usize) {
        self.gains.reshape(n_atoms, most);
        self.errors.reshape(n_atoms, most);
        self.energies.reshape(most, most);
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
        let m = codes.len();
        errors.copy_from(inner_products.view());
        energies.copy_from(block_kernel.view());
        vectorised(
            #[inline(always)]
            || {
                for j in 0..m {
                    add_combination(errors.col_mut(j), atom_gram, codes, j, -1.0);
                }
                for j in 0..m {
                    for i in 0..m {
                        let w_g = sparse_dot(codes, i, errors.col(j));
                        let w_h = sparse_dot(codes, j, inner_products.col(i));
                        energies[(i, j)] -= w_g + w_h;
                    }
                }
            },
        );
        energies.symmetrise();
    }

    /// Ψ ± (G gᵀ + g Gᵀ ± G E Gᵀ): plus when samples enter, minus when they leave.
    pub(super) fn update(&mut self, atom_gram: &mut Matrix, entering: bool) {
        // F = g ± ½ G E makes it G Fᵀ + F Gᵀ.
        let (write, half) = if entering {
            (Write::Add, 0.5)
        } else {
            (Write::Subtract, -0.5)
        };
        self.energies.scale(half);
        product(
            self.errors.view_mut(),
            Write::Add,
            self.gains.view(),
            self.energies.view(),
        );
        let (gains, errors) = (self.gains.view(), self.errors.view());
        product(atom_gram.view_mut(), write, gains, errors.t());
        product(atom_gram.view_mut(), write, errors, gains.t());
        atom_gram.symmetrise();
    }
}

/// `target` += factor · `matrix` · w_j.
#[inline(always)]
pub(super) fn add_combination(
    target: &mut [f64],
    matrix: &Matrix,
    codes: &SparseCodes,
    j: usize,
    factor: f64,
) {
    for (atom, value) in codes.pairs(j) {
        if value != 0.0 {
            add_scaled(target, factor * value, matrix.col(atom));
        }
    }
}

/// `target` ← factor · `matrix` · w_j, two atoms at a time so that `target` is touched half as often.
#[inline(always)]
pub(super) fn set_combination(
    target: &mut [f64],
    matrix: &Matrix,
    codes: &SparseCodes,
    j: usize,
    factor: f64,
) {
    let (atoms, values) = codes.code(j);
    let mut is_first = true;
    for (atoms, values) in atoms.chunks(2).zip(values.chunks(2)) {
        let (a, x) = (matrix.col(atoms[0] as usize), factor * values[0]);
        let second = atoms.len() - 1;
        // A lone last atom is paired with itself and the factor 0.
        let y = if second == 1 { factor * values[1] } else { 0.0 };
        let b = matrix.col(atoms[second] as usize);
        let sums = target.iter_mut().zip(a.iter().zip(b));
        if is_first {
            sums.for_each(|(t, (a, b))| *t = x * a + y * b);
        } else {
            sums.for_each(|(t, (a, b))| *t += x * a + y * b);
        }
        is_first = false;
    }
}

/// w_jᵀ `dense`.
#[inline(always)]
pub(super) fn sparse_dot(codes: &SparseCodes, j: usize, dense: &[f64]) -> f64 {
    codes
        .pairs(j)
        .map(|(atom, value)| value * dense[atom])
        .sum()
}
