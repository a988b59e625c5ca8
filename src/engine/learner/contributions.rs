//! How much each kept sample contributes to the representation of all kept ones: the norm
//! of its row of UᵀW.

use crate::math::{
    Lanes, Matrix, TOGETHER, Vectors, WithVectors, Write, dot, product, small_product, vectorised,
    with_vectors,
};

use super::pruning::ContributionNorm;
use super::recursion::set_combinations;
use super::sparse_coding::SparseCodes;

/// Contributions by position in the profile, with the scratch memory to find them.
#[derive(Clone, Debug, Default)]
pub(super) struct Contributions {
    values: Vec<f64>,
    columns: Matrix,
    products: Matrix,
    code_gram: Matrix,
    side_by_side: Vec<Lanes>,
}

/// What U = C W Λ is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodedProfile<'a> {
    /// C.
    pub(super) precision: &'a Matrix,
    /// W Wᵀ.
    pub(super) code_gram: &'a Matrix,
    /// W.
    pub(super) codes: &'a SparseCodes,
    /// λ_j.
    pub(super) weights: &'a [f64],
}

impl Contributions {
    /// The contribution measured last of a position that was a candidate.
    pub(super) fn of(&self, position: usize) -> f64 {
        self.values[position]
    }

    /// Measures the `candidates` of a profile with given U and W.
    pub(super) fn measure(
        &mut self,
        norm: ContributionNorm,
        candidates: &[usize],
        coefficients: &Matrix,
        codes: &SparseCodes,
    ) {
        let n_atoms = coefficients.rows();
        self.begin(n_atoms, codes.len(), candidates.len());
        for (k, &j) in candidates.iter().enumerate() {
            let column = self.columns.col_mut(k);
            column.copy_from_slice(coefficients.col(j));
        }
        match norm {
            ContributionNorm::L1 => self.sum_rows(candidates, codes),
            ContributionNorm::L2 => self.square_rows(candidates, codes),
        }
    }

    /// Measures the `candidates` of a profile with U = C W Λ, without U.
    pub(super) fn measure_coded(
        &mut self,
        norm: ContributionNorm,
        candidates: &[usize],
        profile: CodedProfile<'_>,
    ) {
        let CodedProfile {
            precision,
            codes,
            weights,
            ..
        } = profile;
        self.begin(precision.rows(), codes.len(), candidates.len());
        if norm == ContributionNorm::L2 {
            self.square_coded(candidates, profile);
            return;
        }
        set_combinations(&mut self.columns, precision, codes, |k| {
            (candidates[k], weights[candidates[k]])
        });
        self.sum_rows(candidates, codes);
    }

    fn begin(&mut self, n_atoms: usize, n_kept: usize, n_candidates: usize) {
        self.values.clear();
        self.values.resize(n_kept, 0.0);
        self.columns.reshape(n_atoms, n_candidates);
    }

    /// ‖row j‖₂² = u_jᵀ (W Wᵀ) u_j: no L × L matrix is needed.
    fn square_rows(&mut self, candidates: &[usize], codes: &SparseCodes) {
        let n_atoms = self.columns.rows();
        self.code_gram.reshape(n_atoms, n_atoms);
        self.code_gram.fill(0.0);
        for j in 0..codes.len() {
            add_outer_product(&mut self.code_gram, codes, j, 1.0);
        }
        self.products.reshape(n_atoms, candidates.len());
        product(
            self.products.view_mut(),
            Write::Replace,
            self.code_gram.view(),
            self.columns.view(),
        );
        vectorised(
            #[inline(always)]
            || {
                for (k, &j) in candidates.iter().enumerate() {
                    let squared = dot(self.products.col(k), self.columns.col(k));
                    self.values[j] = squared.max(0.0).sqrt();
                }
            },
        );
    }

    /// The same for u_j = λ_j C w_j: λ_j² w_jᵀ (C W Wᵀ C) w_j, a sparse quadratic form.
    fn square_coded(&mut self, candidates: &[usize], profile: CodedProfile<'_>) {
        let precision = profile.precision;
        let n_atoms = precision.rows();
        self.products.reshape(n_atoms, n_atoms);
        self.code_gram.reshape(n_atoms, n_atoms);
        small_product(
            &mut self.products,
            Write::Replace,
            precision.view(),
            profile.code_gram.view(),
        );
        small_product(
            &mut self.code_gram,
            Write::Replace,
            self.products.view(),
            precision.view(),
        );
        for &j in candidates {
            let (atoms, values) = profile.codes.code(j);
            let mut squared = 0.0;
            for (k, (&p, x)) in atoms.iter().zip(values).enumerate() {
                // The matrix is symmetric: every pair of atoms counts twice.
                let column = self.code_gram.col(p as usize);
                let others = atoms[..k].iter().zip(&values[..k]);
                let along: f64 = others.map(|(&q, y)| y * column[q as usize]).sum();
                squared += x * (2.0 * along + x * column[p as usize]);
            }
            self.values[j] = profile.weights[j] * squared.max(0.0).sqrt();
        }
    }

    /// ‖row j‖₁ = Σ_i |u_jᵀ w_i|, by the sparsity of w_i, for many candidates side by side.
    fn sum_rows(&mut self, candidates: &[usize], codes: &SparseCodes) {
        let n_atoms = self.columns.rows();
        self.side_by_side.resize(n_atoms, Lanes::default());
        for (part, positions) in candidates.chunks(TOGETHER).enumerate() {
            for k in 0..positions.len() {
                let column = self.columns.col(part * TOGETHER + k);
                for (row, value) in self.side_by_side.iter_mut().zip(column) {
                    row.0[k] = *value;
                }
            }
            let rows = &self.side_by_side[..];
            let sums = with_vectors(AbsoluteProducts { rows, codes });
            for (&j, sum) in positions.iter().zip(sums.0) {
                self.values[j] = sum;
            }
        }
    }
}

/// Σ_i |Σ_q w_qi · rows_q|, side by side.
struct AbsoluteProducts<'a> {
    rows: &'a [Lanes],
    codes: &'a SparseCodes,
}

impl WithVectors for AbsoluteProducts<'_> {
    type Output = Lanes;

    #[inline(always)]
    fn with_simd<S: Vectors>(self, simd: S) -> Lanes {
        let mut sums = Lanes::default();
        let mut products = Lanes::default();
        for i in 0..self.codes.len() {
            products.0.fill(0.0);
            let (totals, _) = S::as_mut_simd_f64s(&mut products.0);
            for (atom, value) in self.codes.pairs(i) {
                let factor = simd.splat_f64s(value);
                let (row, _) = S::as_simd_f64s(&self.rows[atom].0);
                for (total, element) in totals.iter_mut().zip(row) {
                    *total = simd.mul_add_f64s(factor, *element, *total);
                }
            }
            for (sum, total) in S::as_mut_simd_f64s(&mut sums.0).0.iter_mut().zip(totals) {
                *sum = simd.add_f64s(*sum, simd.abs_f64s(*total));
            }
        }
        sums
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_give_the_norms_of_the_rows() {
        let (n_atoms, n_kept) = (7, 40);
        let mut codes = SparseCodes::new(3, n_kept);
        for j in 0..n_kept {
            codes.push((0..3).map(|k| ((2 * j + 3 * k) % n_atoms, ((j + k) as f64).sin())));
        }
        let root = Matrix::from_fn(n_atoms, n_atoms, |i, j| ((i * 5 + j * 3) as f64).cos());
        let mut precision = Matrix::identity(n_atoms);
        product(
            precision.view_mut(),
            Write::Add,
            root.view(),
            root.view().t(),
        );
        let weights: Vec<f64> = (0..n_kept).map(|j| 1.0 / (1.0 + j as f64)).collect();
        let mut dense = Matrix::default();
        codes.write_dense(n_atoms, &mut dense);
        let mut code_gram = Matrix::zeros(n_atoms, n_atoms);
        product(
            code_gram.view_mut(),
            Write::Replace,
            dense.view(),
            dense.view().t(),
        );
        let mut coefficients = Matrix::zeros(n_atoms, n_kept);
        product(
            coefficients.view_mut(),
            Write::Replace,
            precision.view(),
            dense.view(),
        );
        for (j, weight) in weights.iter().enumerate() {
            coefficients
                .col_mut(j)
                .iter_mut()
                .for_each(|value| *value *= weight);
        }
        let mut rows = Matrix::zeros(n_kept, n_kept);
        product(
            rows.view_mut(),
            Write::Replace,
            dense.view().t(),
            coefficients.view(),
        );
        let candidates: Vec<usize> = (0..n_kept).rev().filter(|j| j % 7 != 2).collect();
        let profile = CodedProfile {
            precision: &precision,
            code_gram: &code_gram,
            codes: &codes,
            weights: &weights,
        };
        let mut found = Contributions::default();
        for norm in [ContributionNorm::L1, ContributionNorm::L2] {
            let expected = |j: usize| -> f64 {
                match norm {
                    ContributionNorm::L1 => rows.col(j).iter().map(|value| value.abs()).sum(),
                    ContributionNorm::L2 => dot(rows.col(j), rows.col(j)).sqrt(),
                }
            };
            found.measure(norm, &candidates, &coefficients, &codes);
            for &j in &candidates {
                assert!((found.of(j) / expected(j) - 1.0).abs() < 1e-12);
            }
            found.measure_coded(norm, &candidates, profile);
            for &j in &candidates {
                assert!((found.of(j) / expected(j) - 1.0).abs() < 1e-12);
            }
        }
    }
}
