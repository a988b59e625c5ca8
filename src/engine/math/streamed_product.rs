//! Products with a matrix that is used once and lies far from the processor: its columns are read in their order, so
//! that the next ones are under way while one is multiplied.

use super::matrix::{Matrix, View};
use super::product::{Write, columns_stand_alone, product};
use super::vectorised::{Vectors, WithVectors, vectorised, with_vectors};

/// Columns that are read together.
const COLUMNS: usize = 8;
/// Vectors of each that are multiplied at a time.
const VECTORS: usize = 2;
/// From so many rows on it pays.
const FEWEST_ROWS: usize = 32;
/// Up to so many terms [`product`] adds up one after the other.
const LONGEST_CHAIN: usize = 512;
/// Elements of a row that are written side by side.
const TURNED: usize = 8;

/// `destination` ← `left` · `right`ᵀ to the bits of [`product`], where `right` has many rows; `sums` is scratch memory.
///
/// # Panics
/// If the shapes do not fit.
pub fn streamed_product(
    destination: &mut Matrix,
    left: View<'_>,
    right: View<'_>,
    sums: &mut Matrix,
) {
    let (n_left, n_right, inner) = (left.rows(), right.rows(), right.cols());
    assert_eq!(left.cols(), inner);
    destination.reshape(n_left, n_right);
    let pays = n_right >= FEWEST_ROWS && inner <= LONGEST_CHAIN;
    if !pays || !columns_stand_alone(n_left, inner, n_right) {
        product(destination.view_mut(), Write::Replace, left, right.t());
        return;
    }
    sums.reshape(n_right, n_left);
    sums.fill(0.0);
    with_vectors(Sums { sums, left, right });
    vectorised(
        #[inline(always)]
        || turn(sums, destination),
    );
}

/// `sums` += `right` · `left`ᵀ, a few columns of both after the other.
struct Sums<'a> {
    sums: &'a mut Matrix,
    left: View<'a>,
    right: View<'a>,
}

impl WithVectors for Sums<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Vectors>(mut self, simd: S) {
        let inner = self.right.cols();
        let together = inner - inner % COLUMNS;
        for j in (0..together).step_by(COLUMNS) {
            self.add_columns::<S, COLUMNS>(simd, j);
        }
        for j in together..inner {
            self.add_columns::<S, 1>(simd, j);
        }
    }
}

impl Sums<'_> {
    /// The terms of `N` columns from column `j` on.
    #[inline(always)]
    fn add_columns<S: Vectors, const N: usize>(&mut self, simd: S, j: usize) {
        let (n, n_left) = (self.right.rows(), self.left.rows());
        let columns: [&[f64]; N] = std::array::from_fn(|k| &self.right.col(j + k)[..n]);
        let factors: [&[f64]; N] = std::array::from_fn(|k| &self.left.col(j + k)[..n_left]);
        let width = VECTORS * S::F64_LANES;
        let whole = n - n % width;
        for row in (0..whole).step_by(width) {
            let mut values = [[simd.splat_f64s(0.0); VECTORS]; N];
            for (values, column) in values.iter_mut().zip(columns) {
                values.copy_from_slice(S::as_simd_f64s(&column[row..row + width]).0);
            }
            let targets = self.sums.flat_mut().chunks_exact_mut(n);
            for (i, target) in targets.enumerate() {
                let (target, _) = S::as_mut_simd_f64s(&mut target[row..row + width]);
                let mut sums: [S::f64s; VECTORS] = std::array::from_fn(|v| target[v]);
                for (values, factors) in values.iter().zip(factors) {
                    let factor = simd.splat_f64s(factors[i]);
                    for (sum, value) in sums.iter_mut().zip(values) {
                        *sum = simd.mul_add_f64s(*value, factor, *sum);
                    }
                }
                target.copy_from_slice(&sums);
            }
        }
        let targets = self.sums.flat_mut().chunks_exact_mut(n);
        for (i, target) in targets.enumerate() {
            for row in whole..n {
                let terms = columns.iter().zip(factors);
                target[row] = terms.fold(target[row], |sum, (column, factors)| {
                    column[row].mul_add(factors[i], sum)
                });
            }
        }
    }
}

/// `target` ← the transpose of `source`.
#[inline(always)]
fn turn(source: &Matrix, target: &mut Matrix) {
    let (rows, cols) = (source.rows(), source.cols());
    let flat = target.flat_mut();
    for first in (0..rows).step_by(TURNED) {
        let count = TURNED.min(rows - first);
        let part = &mut flat[first * cols..(first + count) * cols];
        for j in 0..cols {
            let values = &source.col(j)[first..first + count];
            for (k, value) in values.iter().enumerate() {
                part[k * cols + j] = *value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_bits_of_the_product() {
        let value = |i: usize, j: usize| ((i * 37 + j * 101) as f64).sin();
        for n_left in [1, 2, 10, 30, 33] {
            for n_right in [1, 16, 31, 32, 77, 100, 128, 130] {
                for inner in [1, 7, 8, 60, 203, 512, 600] {
                    let left = Matrix::from_fn(n_left, inner, value);
                    let right = Matrix::from_fn(n_right, inner, |i, j| value(j, i + 5));
                    let mut expected = Matrix::zeros(n_left, n_right);
                    product(
                        expected.view_mut(),
                        Write::Replace,
                        left.view(),
                        right.view().t(),
                    );
                    let (mut found, mut sums) = (Matrix::default(), Matrix::default());
                    streamed_product(&mut found, left.view(), right.view(), &mut sums);
                    assert_eq!(found, expected, "{n_left} × {inner} × {n_right}");
                }
            }
        }
    }
}
