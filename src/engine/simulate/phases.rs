//! Quantities of three phases: vectors of 3 and matrices of 3 × 3, real in time and complex as phasors.

use num_complex::Complex64;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// What vectors and matrices are made of: `f64` in time, `Complex64` as phasors.
pub(super) trait Scalar:
    Copy
    + Default
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + From<f64>
{
    /// Distance from zero.
    fn size(self) -> f64;
}

impl Scalar for f64 {
    fn size(self) -> f64 {
        self.abs()
    }
}

impl Scalar for Complex64 {
    fn size(self) -> f64 {
        self.norm()
    }
}

/// One value per phase a, b, c.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Phases<T>(pub(super) [T; 3]);

impl<T: Scalar> Phases<T> {
    pub(super) fn map<U>(self, f: impl Fn(T) -> U) -> Phases<U> {
        Phases(self.0.map(f))
    }
}

impl<T: Scalar> Add for Phases<T> {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Self([a + x, b + y, c + z])
    }
}

impl<T: Scalar> Sub for Phases<T> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Self([a - x, b - y, c - z])
    }
}

/// How three phases act on one another: row = effect, column = cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Coupling<T>(pub(super) [[T; 3]; 3]);

impl<T: Scalar> Coupling<T> {
    /// The matrix of a transposed line: `own` on the diagonal, `mutual` elsewhere.
    pub(super) fn balanced(own: T, mutual: T) -> Self {
        let mut matrix = Self([[mutual; 3]; 3]);
        for phase in 0..3 {
            matrix.0[phase][phase] = own;
        }
        matrix
    }

    pub(super) fn map<U>(self, f: impl Fn(T) -> U) -> Coupling<U> {
        Coupling(self.0.map(|row| row.map(&f)))
    }

    #[inline]
    pub(super) fn times(&self, x: Phases<T>) -> Phases<T> {
        let [a, b, c] = x.0;
        Phases(self.0.map(|row| row[0] * a + row[1] * b + row[2] * c))
    }

    pub(super) fn transposed(&self) -> Self {
        let m = &self.0;
        Self([0, 1, 2].map(|row| [m[0][row], m[1][row], m[2][row]]))
    }

    /// The inverse by cofactors; blocks of a passive network are never singular.
    pub(super) fn inverse(&self) -> Self {
        let m = &self.0;
        let cofactor = |row: usize, column: usize| {
            let (r1, r2) = ((row + 1) % 3, (row + 2) % 3);
            let (c1, c2) = ((column + 1) % 3, (column + 2) % 3);
            m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1]
        };
        let determinant =
            m[0][0] * cofactor(0, 0) + m[0][1] * cofactor(0, 1) + m[0][2] * cofactor(0, 2);
        let row = |r: usize| [0, 1, 2].map(|column| cofactor(column, r) / determinant);
        Self([row(0), row(1), row(2)])
    }
}

impl<T: Scalar> Mul for Coupling<T> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let columns = other
            .transposed()
            .0
            .map(|column| self.times(Phases(column)).0);
        Self(columns).transposed()
    }
}

impl<T: Scalar> Add for Coupling<T> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let row = |r: usize| (Phases(self.0[r]) + Phases(other.0[r])).0;
        Self([row(0), row(1), row(2)])
    }
}

impl<T: Scalar> Sub for Coupling<T> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        let row = |r: usize| (Phases(self.0[r]) - Phases(other.0[r])).0;
        Self([row(0), row(1), row(2)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_the_identity() {
        let c = Complex64::new;
        let matrix = Coupling([
            [c(4.0, 1.0), c(1.0, -2.0), c(0.5, 0.0)],
            [c(0.0, 3.0), c(5.0, 0.5), c(-1.0, 1.0)],
            [c(2.0, 0.0), c(1.0, 1.0), c(6.0, -3.0)],
        ]);
        let product = matrix * matrix.inverse();
        let identity = Coupling::balanced(c(1.0, 0.0), c(0.0, 0.0));
        for (row, expected) in product.0.iter().zip(identity.0) {
            for (value, target) in row.iter().zip(expected) {
                assert!((value - target).norm() < 1e-14, "{product:?}");
            }
        }
    }
}
