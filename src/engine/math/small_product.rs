//! Products of matrices so small that they stay in the nearest cache: preparing them for the
//! kernels of [`product`](super::product) would take longer than multiplying them.

use super::matrix::{Matrix, View};
use super::product::Write;
use super::vectorised::{Vectors, WithVectors, load, store, with_vectors};

/// Vectors of a column of the destination that are summed at a time.
const VECTORS: usize = 4;
/// Columns of the destination that are summed at a time.
const COLUMNS: usize = 3;

/// `destination (=, +=, −=) left · rightᵀ`. Every element is summed in the order of the columns, so
/// that a matrix times its own transpose is symmetric to the last bit.
///
/// # Panics
/// If the shapes do not fit.
pub fn small_product(destination: &mut Matrix, write: Write, left: View<'_>, right: View<'_>) {
    assert!(destination.rows() == left.rows() && destination.cols() == right.rows());
    assert_eq!(left.cols(), right.cols());
    with_vectors(SumOfProducts {
        destination,
        keeps: write != Write::Replace,
        factor: if write == Write::Subtract { -1.0 } else { 1.0 },
        pairs: [(left, right)],
    });
}

/// `destination += factor · (left · rightᵀ + right · leftᵀ)`, which leaves a symmetric matrix
/// symmetric to the last bit: across the diagonal the two terms have changed places.
///
/// # Panics
/// If the shapes do not fit.
pub fn add_symmetric_product(
    destination: &mut Matrix,
    factor: f64,
    left: View<'_>,
    right: View<'_>,
) {
    assert!(destination.rows() == left.rows() && destination.cols() == left.rows());
    assert!(left.rows() == right.rows() && left.cols() == right.cols());
    with_vectors(SumOfProducts {
        destination,
        keeps: true,
        factor,
        pairs: [(left, right), (right, left)],
    });
}

/// destination ← (destination, if it `keeps` it) + factor · Σ left · rightᵀ over the pairs, in blocks of
/// vectors that stay in registers.
struct SumOfProducts<'a, const PAIRS: usize> {
    destination: &'a mut Matrix,
    keeps: bool,
    factor: f64,
    pairs: [(View<'a>, View<'a>); PAIRS],
}

impl<const PAIRS: usize> WithVectors for SumOfProducts<'_, PAIRS> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Vectors>(mut self, simd: S) {
        let n = self.destination.cols();
        let together = n - n % COLUMNS;
        for j in (0..together).step_by(COLUMNS) {
            self.take_columns::<S, COLUMNS>(simd, j);
        }
        for j in together..n {
            self.take_columns::<S, 1>(simd, j);
        }
    }
}

impl<const PAIRS: usize> SumOfProducts<'_, PAIRS> {
    /// `N` columns of the destination from column `j` on.
    #[inline(always)]
    fn take_columns<S: Vectors, const N: usize>(&mut self, simd: S, j: usize) {
        let n = self.destination.rows();
        let mut row = 0;
        while n - row >= VECTORS * S::F64_LANES {
            self.take_block::<S, N, VECTORS>(simd, row, j);
            row += VECTORS * S::F64_LANES;
        }
        match (n - row).div_ceil(S::F64_LANES) {
            0 => {}
            _ if n - row < S::F64_LANES => {
                for i in row..n {
                    (j..j + N).for_each(|j| self.take_element(i, j));
                }
            }
            1 => self.take_block::<S, N, 1>(simd, row, j),
            2 => self.take_block::<S, N, 2>(simd, row, j),
            3 => self.take_block::<S, N, 3>(simd, row, j),
            _ => self.take_block::<S, N, VECTORS>(simd, row, j),
        }
    }

    /// `V` vectors of `N` columns from (`row`, `j`) on. The last vector ends with the matrix, and may
    /// for that begin inside the one before it: both then come to the same numbers.
    #[inline(always)]
    fn take_block<S: Vectors, const N: usize, const V: usize>(
        &mut self,
        simd: S,
        row: usize,
        j: usize,
    ) {
        let lanes = S::F64_LANES;
        let last = (row + (V - 1) * lanes).min(self.destination.rows() - lanes);
        let mut totals = [[simd.splat_f64s(0.0); V]; N];
        for pair in self.pairs {
            let sums = sum_block::<S, N, V>(simd, pair, (row, last), j);
            for (total, sum) in totals
                .as_flattened_mut()
                .iter_mut()
                .zip(sums.as_flattened())
            {
                *total = simd.add_f64s(*total, *sum);
            }
        }
        let factor = simd.splat_f64s(self.factor);
        for (c, mut values) in totals.into_iter().enumerate() {
            let column = self.destination.col_mut(j + c);
            if self.keeps {
                let before = load::<S, V>(simd, &column[row..], &column[last..]);
                for (value, before) in values.iter_mut().zip(before) {
                    *value = simd.mul_add_f64s(factor, *value, before);
                }
            }
            store::<S, V>(column, row, last, values);
        }
    }

    /// Element (`i`, `j`).
    #[inline(always)]
    fn take_element(&mut self, i: usize, j: usize) {
        let mut total = 0.0;
        for (left, right) in self.pairs {
            total += (0..left.cols()).fold(0.0, |sum: f64, k| {
                left.at(i, k).mul_add(right.at(j, k), sum)
            });
        }
        let value = &mut self.destination[(i, j)];
        *value = if self.keeps {
            self.factor.mul_add(total, *value)
        } else {
            total
        };
    }
}

/// Rows `row`.. of `N` columns of left · rightᵀ from column `j` on, the last vector from `last` on.
#[inline(always)]
fn sum_block<S: Vectors, const N: usize, const V: usize>(
    simd: S,
    (left, right): (View<'_>, View<'_>),
    (row, last): (usize, usize),
    j: usize,
) -> [[S::f64s; V]; N] {
    let mut sums = [[simd.splat_f64s(0.0); V]; N];
    for (left, right) in left.columns().zip(right.columns()) {
        let elements = load::<S, V>(simd, &left[row..], &left[last..]);
        for (sums, factor) in sums.iter_mut().zip(&right[j..j + N]) {
            let factor = simd.splat_f64s(*factor);
            for (sum, element) in sums.iter_mut().zip(elements) {
                *sum = simd.mul_add_f64s(element, factor, *sum);
            }
        }
    }
    sums
}

/// `target` ← inner products of the columns among each other, symmetric to the last bit. For few and
/// long columns.
pub fn inner_products(target: &mut Matrix, columns: View<'_>) {
    target.reshape(columns.cols(), columns.cols());
    with_vectors(ColumnProducts { target, columns });
}

struct ColumnProducts<'a> {
    target: &'a mut Matrix,
    columns: View<'a>,
}

impl WithVectors for ColumnProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Vectors>(self, simd: S) {
        let Self { target, columns } = self;
        for j in 0..columns.cols() {
            for first in (0..=j).step_by(VECTORS) {
                // The last ones may be taken twice.
                let others: [usize; VECTORS] = std::array::from_fn(|k| (first + k).min(j));
                let products = inner_products_with::<S>(simd, columns, j, others);
                for (i, product) in others.into_iter().zip(products) {
                    target[(i, j)] = product;
                    target[(j, i)] = product;
                }
            }
        }
    }
}

/// Inner products of column `j` with `others`.
#[inline(always)]
fn inner_products_with<S: Vectors>(
    simd: S,
    columns: View<'_>,
    j: usize,
    others: [usize; VECTORS],
) -> [f64; VECTORS] {
    let own = columns.col(j);
    let (own_vectors, own_rest) = S::as_simd_f64s(own);
    let [a, b, c, d] = others;
    let [a, b, c, d] = [
        columns.col(a),
        columns.col(b),
        columns.col(c),
        columns.col(d),
    ];
    let vectors = |column| S::as_simd_f64s(column).0.iter();
    let mut sums = [simd.splat_f64s(0.0); VECTORS];
    let four = vectors(a).zip(vectors(b)).zip(vectors(c).zip(vectors(d)));
    for (x, ((a, b), (c, d))) in own_vectors.iter().zip(four) {
        for (sum, y) in sums.iter_mut().zip([a, b, c, d]) {
            *sum = simd.mul_add_f64s(*x, *y, *sum);
        }
    }
    let from = own.len() - own_rest.len();
    let mut products = [0.0; VECTORS];
    for ((product, sum), column) in products.iter_mut().zip(sums).zip([a, b, c, d]) {
        let rest = own_rest.iter().zip(&column[from..]);
        *product = rest.fold(simd.reduce_sum_f64s(sum), |sum, (x, y)| x.mul_add(*y, sum));
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_the_definition_for_every_size() {
        for rows in [1, 3, 7, 8, 9, 15, 16, 30, 32, 33, 39, 41, 70] {
            for cols in [1, 2, 3, 5, 9] {
                let left = Matrix::from_fn(rows, 4, |i, j| ((3 * i + 7 * j) % 11) as f64 - 5.0);
                let right = Matrix::from_fn(cols, 4, |i, j| ((5 * i + 2 * j) % 13) as f64 - 6.0);
                let before = Matrix::from_fn(rows, cols, |i, j| (i + 100 * j) as f64);
                let exact = |i: usize, j: usize| -> f64 {
                    (0..4).map(|k| left[(i, k)] * right[(j, k)]).sum()
                };
                for (write, old, sign) in [
                    (Write::Replace, 0.0, 1.0),
                    (Write::Add, 1.0, 1.0),
                    (Write::Subtract, 1.0, -1.0),
                ] {
                    let mut found = before.clone();
                    small_product(&mut found, write, left.view(), right.view());
                    let expected = Matrix::from_fn(rows, cols, |i, j| {
                        old * before[(i, j)] + sign * exact(i, j)
                    });
                    assert_eq!(found, expected, "{rows} × {cols}, {write:?}");
                }
            }
        }
    }

    #[test]
    fn a_matrix_times_its_own_transpose_is_symmetric_to_the_last_bit() {
        for n in [3, 13, 30, 37, 66] {
            let a = Matrix::from_fn(n, 10, |i, j| ((i * 37 + j * 101) as f64).sin());
            let mut square = Matrix::zeros(n, n);
            small_product(&mut square, Write::Subtract, a.view(), a.view());
            for j in 0..n {
                for i in 0..j {
                    assert_eq!(square[(i, j)].to_bits(), square[(j, i)].to_bits());
                }
            }
        }
    }

    #[test]
    fn a_symmetric_product_is_a_product_and_its_transpose() {
        for n in [1, 5, 8, 13, 30, 37] {
            let left = Matrix::from_fn(n, 6, |i, j| ((3 * i + 7 * j) % 11) as f64 - 5.0);
            let right = Matrix::from_fn(n, 6, |i, j| ((5 * i + 2 * j) % 13) as f64 - 6.0);
            let before = Matrix::from_fn(n, n, |i, j| (i * j) as f64);
            let mut found = before.clone();
            add_symmetric_product(&mut found, -1.0, left.view(), right.view());
            let exact = Matrix::from_fn(n, n, |i, j| {
                let term = |k| left[(i, k)] * right[(j, k)] + right[(i, k)] * left[(j, k)];
                before[(i, j)] - (0..6).map(term).sum::<f64>()
            });
            assert_eq!(found, exact);
            let rough = Matrix::from_fn(n, 6, |i, j| ((i * 37 + j * 101) as f64).sin());
            add_symmetric_product(&mut found, 0.3, left.view(), rough.view());
            let across = Matrix::from_fn(n, n, |i, j| found[(j, i)]);
            assert_eq!(found, across);
        }
    }

    #[test]
    fn inner_products_agree_with_the_definition() {
        for (rows, cols) in [(1, 1), (5, 2), (8, 4), (76, 10), (83, 9)] {
            let a = Matrix::from_fn(rows, cols, |i, j| ((3 * i + 7 * j) % 11) as f64 - 5.0);
            let mut found = Matrix::default();
            inner_products(&mut found, a.view());
            let exact = Matrix::from_fn(cols, cols, |i, j| {
                (0..rows).map(|k| a[(k, i)] * a[(k, j)]).sum()
            });
            assert_eq!(found, exact);
        }
    }
}
