//! Inner products to about twice the digits of a number, for differences of nearly equal ones.

use super::cholesky::Cholesky;
use super::matrix::Matrix;
use super::product::{Write, product};

/// Scratch memory of [`precise_inner_products`].
#[derive(Clone, Debug, Default)]
pub struct Halves {
    /// Of the left columns: leading digits, and what is left of them.
    left: [Matrix; 2],
    right: [Matrix; 2],
    leading: Matrix,
}

/// `values` ← leftᵀ right, every element rounded once.
///
/// Columns are split so that products of leading halves are sums of whole multiples of one unit below 2⁵³ of it:
/// exact in any order (Ozaki, Ogita, Oishi, Rump, *Error-free transformations of matrix multiplication*, 2012).
/// All else is 2⁻²⁰ of that or less, and its rounding does not count. Other programs get the same bits.
pub fn precise_inner_products(
    values: &mut Matrix,
    left: &Matrix,
    right: &Matrix,
    work: &mut Halves,
) {
    inner_products_in_parts(values, left, right, work);
    for (value, leading) in values.flat_mut().iter_mut().zip(work.leading.flat_mut()) {
        *value += *leading;
    }
}

/// `distances` ← these minus ‖rightᵀ x‖² of every column x of `left`, with all digits of the sums.
pub fn subtract_precise_lengths(
    distances: &mut [f64],
    left: &Matrix,
    right: &Matrix,
    values: &mut Matrix,
    work: &mut Halves,
) {
    inner_products_in_parts(values, left, right, work);
    for (i, distance) in distances.iter_mut().enumerate() {
        let (mut sum, mut rest) = (*distance, 0.0);
        for j in 0..values.cols() {
            let (leading, low) = (work.leading[(i, j)], values[(i, j)]);
            let square = leading * leading;
            let next = sum - square;
            let part = next - sum;
            rest += (sum - (next - part)) - (square + part);
            rest -= leading.mul_add(leading, -square) + low * (2.0 * leading + low);
            sum = next;
        }
        *distance = sum + rest;
    }
}

/// x = (AᵀA + λI)⁻¹ Aᵀb, columns of one element a row, as the sum of two: all digits of the first and those that
/// follow them. `factor` holds AᵀA + λI, as near as it was rounded.
///
/// Every round solves for what the last one left, b − Ax with twice the digits (iterative refinement; Higham, *Accuracy
/// and Stability of Numerical Algorithms*, 2002, section 12.1), so x does not depend on how `factor` was rounded.
pub fn precise_ridge(a: &Matrix, b: &Matrix, lambda: f64, factor: &Cholesky) -> [Matrix; 2] {
    let transposed = Matrix::from_fn(a.cols(), a.rows(), |k, i| a[(i, k)]);
    let mut x = Matrix::zeros(a.cols(), 1);
    let mut correction = x.clone();
    let (mut left, mut low) = (b.clone(), b.clone());
    let (mut part, mut work) = (Matrix::default(), Halves::default());
    for _ in 0..3 {
        for (x, correction) in x.flat_mut().iter_mut().zip(correction.col(0)) {
            *x += correction;
        }
        inner_products_in_parts(&mut part, &transposed, &x, &mut work);
        for i in 0..b.rows() {
            let (b, leading) = (b[(i, 0)], work.leading[(i, 0)]);
            let rest = b - leading;
            let taken = rest - b;
            left[(i, 0)] = rest;
            low[(i, 0)] = (b - (rest - taken)) - (leading + taken) - part[(i, 0)];
        }
        inner_products_in_parts(&mut part, a, &left, &mut work);
        product(part.view_mut(), Write::Add, a.view().t(), low.view());
        for k in 0..a.cols() {
            correction[(k, 0)] = (-lambda).mul_add(x[(k, 0)], work.leading[(k, 0)]) + part[(k, 0)];
        }
        factor.solve(correction.col_mut(0));
    }
    [x, correction]
}

/// leftᵀ (first + second), every element rounded once.
pub fn precise_inner_products_of_sum(left: &Matrix, [first, second]: &[Matrix; 2]) -> Matrix {
    let (mut values, mut work) = (Matrix::default(), Halves::default());
    inner_products_in_parts(&mut values, left, first, &mut work);
    product(
        values.view_mut(),
        Write::Add,
        left.view().t(),
        second.view(),
    );
    for (value, leading) in values.flat_mut().iter_mut().zip(work.leading.flat_mut()) {
        *value += *leading;
    }
    values
}

/// The sums of products of leading halves in `work.leading`, exact, and what they lack in `values`.
fn inner_products_in_parts(values: &mut Matrix, left: &Matrix, right: &Matrix, work: &mut Halves) {
    let n_digits = digits_of_halves(left.rows());
    split(left, n_digits, &mut work.left);
    split(right, n_digits, &mut work.right);
    let ([left_high, left_low], [right_high, right_low]) = (&work.left, &work.right);
    let shape = (left.cols(), right.cols());
    values.reshape(shape.0, shape.1);
    work.leading.reshape(shape.0, shape.1);
    let mut add = |write, left: &Matrix, right: &Matrix| {
        product(values.view_mut(), write, left.view().t(), right.view());
    };
    add(Write::Replace, left_low, right_high);
    add(Write::Add, left, right_low);
    product(
        work.leading.view_mut(),
        Write::Replace,
        left_high.view().t(),
        right_high.view(),
    );
}

/// Binary digits of leading halves, so that the sum of `n` products has at most 53.
fn digits_of_halves(n: usize) -> i32 {
    let of_sum = n.max(1).next_power_of_two().trailing_zeros();
    (53 - of_sum.min(53)) as i32 / 2
}

/// Columns into multiples of 2^(e − digits), e the exponent of the largest element, and the rest.
fn split(columns: &Matrix, n_digits: i32, [high, low]: &mut [Matrix; 2]) {
    high.copy_from(columns.view());
    low.copy_from(columns.view());
    for j in 0..columns.cols() {
        let largest = columns.col(j).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        let exponent = (largest.to_bits() >> 52) as i32 - 1022;
        // Adding this rounds to the unit.
        let power = (52 + exponent - n_digits + 1023).clamp(1, 2046) as u64;
        let shift = 1.5 * f64::from_bits(power << 52);
        for (high, low) in high.col_mut(j).iter_mut().zip(low.col_mut(j)) {
            *high = (*high + shift) - shift;
            *low -= *high;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Normal, random_stream};

    #[test]
    fn sums_that_cancel_keep_their_digits() {
        let mut random = random_stream(3, "precise", 0);
        let mut normal = Normal::default();
        for n in [1, 2, 57, 1206] {
            let mut draw = |scale: f64| {
                Matrix::from_fn(n, 5, |_, j| {
                    scale * (j + 1) as f64 * normal.draw(&mut random)
                })
            };
            let (left, right) = (draw(1e3), draw(1e-7));
            let (mut values, mut work) = (Matrix::default(), Halves::default());
            precise_inner_products(&mut values, &left, &right, &mut work);
            for i in 0..5 {
                for j in 0..5 {
                    let expected = exact(left.col(i), right.col(j));
                    let error = (values[(i, j)] - expected).abs();
                    assert!(
                        error <= f64::EPSILON * expected.abs(),
                        "{n}: {error:e} of {expected:e}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_ridge_of_nearly_dependent_columns_is_solved_to_the_last_digit() {
        // Determinant 1: A⁻ᵀ has integer elements, so b = Ax + λA⁻ᵀx is exact, and AᵀA has a condition of 1e9.
        let (n, lambda) = (100.0, 2.0_f64.powi(-20));
        let a = Matrix::from_fn(2, 2, |i, k| [[n, n + 1.0], [n - 1.0, n]][i][k]);
        let inverse = [[n, 1.0 - n], [-1.0 - n, n]];
        let x = [3.0, -2.0];
        let b = Matrix::from_fn(2, 1, |i, _| {
            (0..2)
                .map(|k| a[(i, k)] * x[k] + lambda * inverse[i][k] * x[k])
                .sum()
        });
        let mut square = Matrix::zeros(2, 2);
        product(square.view_mut(), Write::Replace, a.view().t(), a.view());
        (0..2).for_each(|k| square[(k, k)] += lambda);
        let mut factor = Cholesky::default();
        factor.factor(square.view()).expect("positive definite");
        let found = precise_ridge(&a, &b, lambda, &factor);
        let values = precise_inner_products_of_sum(&Matrix::identity(2), &found);
        assert_eq!(values.col(0), x);
        let mut once = Matrix::zeros(2, 1);
        product(once.view_mut(), Write::Replace, a.view().t(), b.view());
        factor.solve(once.col_mut(0));
        assert!((once[(0, 0)] - x[0]).abs() > 1e-12, "{}", once[(0, 0)]);
    }

    /// By sums and products with their rounding errors (Ogita, Rump, Oishi 2005).
    fn exact(x: &[f64], y: &[f64]) -> f64 {
        let (mut sum, mut error) = (0.0_f64, 0.0);
        for (a, b) in x.iter().zip(y) {
            let product = a * b;
            error += a.mul_add(*b, -product);
            let next = sum + product;
            let part = next - sum;
            error += (sum - (next - part)) + (product - part);
            sum = next;
        }
        sum + error
    }
}
