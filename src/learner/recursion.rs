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

use crate::math::{Matrix, Vectors, WithVectors, Write, product, vectorised, with_vectors};

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
        self.gains.reshape(matrix.rows(), codes.len());
        set_combinations(&mut self.gains, matrix, codes, |j| (j, weight(j)));
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
        set_combinations(errors, atom_gram, codes, |j| (j, -1.0));
        vectorised(
            #[inline(always)]
            || {
                for j in 0..m {
                    let (error, sum) = (errors.col_mut(j), sums.col_mut(j));
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

/// Column k of `target` ← factor · `matrix` · w_j with (j, factor) = `of`(k).
pub(super) fn set_combinations(
    target: &mut Matrix,
    matrix: &Matrix,
    codes: &SparseCodes,
    of: impl Fn(usize) -> (usize, f64),
) {
    with_vectors(Combinations {
        target,
        matrix,
        codes,
        of,
    });
}

/// `target` ← `matrix` · w_j.
pub(super) fn set_one_combination(
    target: &mut [f64],
    matrix: &Matrix,
    codes: &SparseCodes,
    j: usize,
) {
    struct Combination<'a> {
        target: &'a mut [f64],
        matrix: &'a Matrix,
        code: (&'a [u32], &'a [f64]),
    }
    impl WithVectors for Combination<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Vectors>(self, simd: S) {
            set_combination(simd, self.target, self.matrix, self.code, 1.0);
        }
    }
    let code = codes.code(j);
    with_vectors(Combination {
        target,
        matrix,
        code,
    });
}

/// The work of [`set_combinations`].
struct Combinations<'a, F> {
    target: &'a mut Matrix,
    matrix: &'a Matrix,
    codes: &'a SparseCodes,
    of: F,
}

impl<F: Fn(usize) -> (usize, f64)> WithVectors for Combinations<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Vectors>(self, simd: S) {
        for k in 0..self.target.cols() {
            let (j, factor) = (self.of)(k);
            let target = self.target.col_mut(k);
            set_combination(simd, target, self.matrix, self.codes.code(j), factor);
        }
    }
}

/// Vectors of a combination that stay in registers over all atoms.
const SIDE_BY_SIDE: usize = 4;

/// `target` ← factor · `matrix` · w. The last vectors reach back over rows that are done already:
/// they come out the same a second time, and no loop over single rows is left.
#[inline(always)]
fn set_combination<S: Vectors>(
    simd: S,
    target: &mut [f64],
    matrix: &Matrix,
    (atoms, values): (&[u32], &[f64]),
    factor: f64,
) {
    let (n, lanes) = (target.len(), S::F64_LANES);
    let Some(last) = n.checked_sub(lanes) else {
        let mut sum = simd.splat_f64s(0.0);
        for (&atom, &value) in atoms.iter().zip(values) {
            let column = simd.partial_load_f64s(matrix.col(atom as usize));
            sum = simd.mul_add_f64s(simd.splat_f64s(value), column, sum);
        }
        simd.partial_store_f64s(target, simd.mul_f64s(sum, simd.splat_f64s(factor)));
        return;
    };
    let mut row = 0;
    while row < n {
        let rows: [usize; SIDE_BY_SIDE] = std::array::from_fn(|k| (row + k * lanes).min(last));
        let mut sums = [simd.splat_f64s(0.0); SIDE_BY_SIDE];
        for (&atom, &value) in atoms.iter().zip(values) {
            let column = matrix.col(atom as usize);
            let value = simd.splat_f64s(value);
            for (sum, row) in sums.iter_mut().zip(rows) {
                let (elements, _) = S::as_simd_f64s(&column[row..row + lanes]);
                *sum = simd.mul_add_f64s(value, elements[0], *sum);
            }
        }
        for (sum, row) in sums.into_iter().zip(rows) {
            let (elements, _) = S::as_mut_simd_f64s(&mut target[row..row + lanes]);
            elements[0] = simd.mul_f64s(sum, simd.splat_f64s(factor));
        }
        row += SIDE_BY_SIDE * lanes;
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
