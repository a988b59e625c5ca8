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

use crate::math::{
    Matrix, Vectors, WithVectors, Write, add_symmetric_product, load, small_product, store,
    vectorised, with_vectors,
};

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
    /// g + h.
    sums: Matrix,
}

impl Recursion {
    /// Makes room for blocks of `most` samples.
    pub(super) fn reserve(&mut self, n_atoms: usize, most: usize) {
        self.gains.reshape(n_atoms, most);
        self.errors.reshape(n_atoms, most);
        self.energies.reshape(most, most);
        self.sums.reshape(n_atoms, most);
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
        let sums = &mut self.sums;
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
        small_product(
            &mut self.errors,
            Write::Add,
            self.gains.view(),
            self.energies.view(),
        );
        let (gains, errors) = (self.gains.view(), self.errors.view());
        add_symmetric_product(atom_gram, sign, gains, errors);
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

/// Most vectors of a combination that stay in registers over all atoms.
const SIDE_BY_SIDE: usize = 4;

/// `target` ← factor · `matrix` · w.
#[inline(always)]
fn set_combination<S: Vectors>(
    simd: S,
    target: &mut [f64],
    matrix: &Matrix,
    code: (&[u32], &[f64]),
    factor: f64,
) {
    let (n, lanes) = (target.len(), S::F64_LANES);
    if n < lanes {
        for (i, value) in target.iter_mut().enumerate() {
            let pairs = code.0.iter().zip(code.1);
            let sum = pairs.fold(0.0, |sum: f64, (&atom, value)| {
                value.mul_add(matrix[(i, atom as usize)], sum)
            });
            *value = factor * sum;
        }
        return;
    }
    let mut row = 0;
    while row < n {
        match (n - row).div_ceil(lanes) {
            1 => set_rows::<S, 1>(simd, target, row, matrix, code, factor),
            2 => set_rows::<S, 2>(simd, target, row, matrix, code, factor),
            3 => set_rows::<S, 3>(simd, target, row, matrix, code, factor),
            _ => set_rows::<S, SIDE_BY_SIDE>(simd, target, row, matrix, code, factor),
        }
        row += SIDE_BY_SIDE * lanes;
    }
}

/// `V` vectors of a combination from `row` on. The last one ends with the matrix and may for that
/// begin among rows that are done: they come out the same a second time.
#[inline(always)]
fn set_rows<S: Vectors, const V: usize>(
    simd: S,
    target: &mut [f64],
    row: usize,
    matrix: &Matrix,
    (atoms, values): (&[u32], &[f64]),
    factor: f64,
) {
    let last = (row + (V - 1) * S::F64_LANES).min(target.len() - S::F64_LANES);
    let mut sums = [simd.splat_f64s(0.0); V];
    for (&atom, &value) in atoms.iter().zip(values) {
        let column = matrix.col(atom as usize);
        let elements = load::<S, V>(simd, &column[row..], &column[last..]);
        for (sum, element) in sums.iter_mut().zip(elements) {
            *sum = simd.mul_add_f64s(simd.splat_f64s(value), element, *sum);
        }
    }
    for sum in &mut sums {
        *sum = simd.mul_f64s(*sum, simd.splat_f64s(factor));
    }
    store::<S, V>(target, row, last, sums);
}

/// w_jᵀ `dense`.
#[inline(always)]
pub(super) fn sparse_dot(codes: &SparseCodes, j: usize, dense: &[f64]) -> f64 {
    codes
        .pairs(j)
        .map(|(atom, value)| value * dense[atom])
        .sum()
}
