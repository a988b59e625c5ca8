//! The one place where matrices are multiplied.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::matrix::{View, ViewMut};

/// What a product does to its destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Write {
    /// destination = product
    #[default]
    Replace,
    /// destination += product
    Add,
    /// destination −= product
    Subtract,
}

/// Up to so many multiplications faer computes a product in another way than larger ones.
const SMALL: usize = 16 * 16 * 16;

/// Whether the columns of a product of `rows` × `inner` and `inner` × `cols` have the same bits
/// whatever stands beside them, so that they may be computed in several products of this kind. Each
/// element is then one chain of fused operations per 512 elements of `inner`. Vectors and small
/// products are computed in other ways, and so is everything on processors without AVX2.
pub fn columns_stand_alone(rows: usize, inner: usize, cols: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    let has_vectors = std::arch::is_x86_feature_detected!("avx512f")
        || (std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma"));
    #[cfg(not(target_arch = "x86_64"))]
    let has_vectors = false;
    has_vectors && rows.min(inner).min(cols) > 1 && rows * inner * cols > SMALL
}

/// `destination (=, +=, −=) left · right`, on the calling thread.
///
/// # Panics
/// If the shapes do not fit.
pub fn product(destination: ViewMut<'_>, write: Write, left: View<'_>, right: View<'_>) {
    let (accumulate, factor) = match write {
        Write::Replace => (Accum::Replace, 1.0),
        Write::Add => (Accum::Add, 1.0),
        Write::Subtract => (Accum::Add, -1.0),
    };
    let inner = left.cols();
    if destination.rows() == 0 || destination.cols() == 0 {
        return;
    }
    if inner == 0 {
        if write == Write::Replace {
            fill(destination, 0.0);
        }
        return;
    }
    let (data, rows, cols, stride) = destination.into_parts();
    let (left, right) = (as_faer(left), as_faer(right));
    if rows == 1 && stride == 1 {
        // A row is computed as a column: the kernels want many rows.
        let column = MatMut::from_column_major_slice_mut(data, cols, 1);
        let (left, right) = (right.transpose(), left.transpose());
        matmul(column, accumulate, left, right, factor, Par::Seq);
    } else {
        let matrix = MatMut::from_column_major_slice_with_stride_mut(data, rows, cols, stride);
        matmul(matrix, accumulate, left, right, factor, Par::Seq);
    }
    clear_upper_registers();
}

fn fill(mut destination: ViewMut<'_>, value: f64) {
    for j in 0..destination.cols() {
        destination.col_mut(j).fill(value);
    }
}

pub(super) fn as_faer(view: View<'_>) -> MatRef<'_, f64> {
    let (data, rows, cols, stride, transposed) = view.parts();
    let matrix = MatRef::from_column_major_slice_with_stride(data, rows, cols, stride);
    if transposed {
        matrix.transpose()
    } else {
        matrix
    }
}

/// faer's assembly kernels leave the upper halves of the vector registers dirty; on some
/// processors every scalar `exp` or `ln` afterwards then pays a penalty of tens of cycles.
#[inline]
fn clear_upper_registers() {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        simd.avx._mm256_zeroupper();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Matrix;

    #[test]
    fn columns_have_the_same_bits_beside_any_others() {
        let value = |i: usize, j: usize| ((i * 37 + j * 101) as f64).sin();
        for inner in [2, 16, 76, 256, 617, 1206] {
            let right = Matrix::from_fn(inner, 203, value);
            for rows in [2, 16, 77, 128] {
                let left = Matrix::from_fn(inner, rows, |i, j| value(j, i + 5));
                let mut whole = Matrix::zeros(rows, 203);
                product(
                    whole.view_mut(),
                    Write::Replace,
                    left.view().t(),
                    right.view(),
                );
                if !columns_stand_alone(rows, inner, 203) {
                    continue;
                }
                for count in [2, 3, 5, 8, 13, 30, 100] {
                    for first in [0, 7, 103] {
                        if !columns_stand_alone(rows, inner, count) {
                            continue;
                        }
                        let mut some = Matrix::zeros(rows, count);
                        let right = right.cols_view(first, count);
                        product(some.view_mut(), Write::Replace, left.view().t(), right);
                        for j in 0..count {
                            let (found, expected) = (some.col(j), whole.col(first + j));
                            assert_eq!(found, expected, "{rows} × {inner} × {count}");
                        }
                    }
                }
            }
        }
    }

    fn schoolbook(left: View<'_>, right: View<'_>) -> Matrix {
        Matrix::from_fn(left.rows(), right.cols(), |i, j| {
            (0..left.cols())
                .map(|k| left.at(i, k) * right.at(k, j))
                .sum()
        })
    }

    #[test]
    fn products_agree_with_the_definition_for_every_orientation() {
        let a = Matrix::from_fn(7, 5, |i, j| ((3 * i + 7 * j) % 11) as f64 - 5.0);
        let b = Matrix::from_fn(5, 6, |i, j| ((5 * i + 2 * j) % 13) as f64 - 6.0);
        let (at, bt) = (
            Matrix::from_fn(5, 7, |i, j| a[(j, i)]),
            Matrix::from_fn(6, 5, |i, j| b[(j, i)]),
        );
        let expected = schoolbook(a.view(), b.view());
        for (left, right) in [
            (a.view(), b.view()),
            (at.view().t(), b.view()),
            (a.view(), bt.view().t()),
            (at.view().t(), bt.view().t()),
        ] {
            let mut result = Matrix::zeros(7, 6);
            product(result.view_mut(), Write::Replace, left, right);
            assert_eq!(result, expected);
            product(result.view_mut(), Write::Add, left, right);
            product(result.view_mut(), Write::Subtract, left, right);
            assert_eq!(result, expected);
        }
    }

    #[test]
    fn a_matrix_times_its_own_transpose_is_symmetric_to_the_last_bit() {
        for n in [3, 30, 137, 211] {
            let a = Matrix::from_fn(n, 10, |i, j| ((i * 37 + j * 101) as f64).sin());
            let mut square = Matrix::zeros(n, n);
            product(square.view_mut(), Write::Subtract, a.view(), a.view().t());
            for j in 0..n {
                for i in 0..j {
                    assert_eq!(square[(i, j)].to_bits(), square[(j, i)].to_bits());
                }
            }
        }
    }
}
