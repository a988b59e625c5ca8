//! Cholesky factors A = L Lᵀ with the smallest pivot reported, and the solves that use them.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltError, LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::cholesky::llt::inverse::{inverse as llt_inverse, inverse_scratch};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, Par};

use super::matrix::{Matrix, View};
use super::product::{Write, as_faer, product};
use super::vectorised::{add_scaled, dot, vectorised};

/// From this size on faer's blocked factorisation is faster than the plain loop.
const BLOCKED_FROM: usize = 128;
/// Columns factored between two looks at whether to continue: some milliseconds for matrices
/// of some thousands.
const PANEL: usize = 128;
/// Up to this size a factorisation takes so few milliseconds that nobody asks to end it.
const LARGEST_AT_ONCE: usize = 512;

/// A matrix that was to be factored has a direction without positive energy.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the matrix is not positive definite: pivot {pivot:e} in row {row}")]
pub struct NotPositiveDefinite {
    /// The row whose pivot failed.
    pub row: usize,
    /// The pivot found there.
    pub pivot: f64,
}

/// The lower factor of a symmetric positive definite matrix; its memory is reused.
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    lower: Matrix,
    smallest_pivot: f64,
    largest_pivot: f64,
    inverse_root: Matrix,
    scratch: Scratch,
}

impl Cholesky {
    /// Factors a symmetric matrix, of which only the lower half is read.
    pub fn factor(&mut self, matrix: View<'_>) -> Result<(), NotPositiveDefinite> {
        assert_eq!(matrix.rows(), matrix.cols(), "only square matrices factor");
        self.lower.copy_from(matrix);
        if matrix.rows() < BLOCKED_FROM {
            vectorised(
                #[inline(always)]
                || factor_plain(&mut self.lower),
            )?;
        } else {
            factor_blocked(&mut self.lower, &mut self.scratch)?;
        }
        self.note_pivots();
        Ok(())
    }

    /// The same, a panel at a time while `goes_on` says so; whether it came to the end.
    pub fn factor_while(
        &mut self,
        matrix: View<'_>,
        goes_on: impl FnMut() -> bool,
    ) -> Result<bool, NotPositiveDefinite> {
        self.lower.copy_from(matrix);
        self.factor_written(goes_on)
    }

    /// The same for the matrix that `write` makes, of which no copy is held: it returns what is added to the
    /// diagonal. While rounding makes the sum indefinite it is written again, with ten times as much on top;
    /// at most `n_tries` times.
    pub fn factor_raised(
        &mut self,
        n_tries: usize,
        mut write: impl FnMut(&mut Matrix) -> f64,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<bool, NotPositiveDefinite> {
        let (mut multiple, mut step) = (1.0, 1.0);
        for _ in 1..n_tries {
            self.write_raised(&mut write, multiple);
            if let Ok(is_complete) = self.factor_written(&mut goes_on) {
                return Ok(is_complete);
            }
            step *= 10.0;
            multiple += step;
        }
        self.write_raised(&mut write, multiple);
        self.factor_written(goes_on)
    }

    fn write_raised(&mut self, write: &mut impl FnMut(&mut Matrix) -> f64, multiple: f64) {
        let lift = write(&mut self.lower).max(f64::MIN_POSITIVE);
        for j in 0..self.lower.cols() {
            self.lower[(j, j)] += multiple * lift;
        }
    }

    /// Factors what stands in the place of the factor.
    fn factor_written(
        &mut self,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<bool, NotPositiveDefinite> {
        let n = self.lower.rows();
        assert_eq!(n, self.lower.cols(), "only square matrices factor");
        if !goes_on() {
            return Ok(false);
        }
        if n < BLOCKED_FROM {
            vectorised(
                #[inline(always)]
                || factor_plain(&mut self.lower),
            )?;
        } else if n <= LARGEST_AT_ONCE {
            factor_blocked(&mut self.lower, &mut self.scratch)?;
        } else {
            for first in (0..n).step_by(PANEL) {
                if !goes_on() {
                    return Ok(false);
                }
                factor_panel(&mut self.lower, first, &mut self.scratch)?;
            }
            clear_above(&mut self.lower)?;
        }
        self.note_pivots();
        Ok(true)
    }

    fn note_pivots(&mut self) {
        self.smallest_pivot = f64::INFINITY;
        self.largest_pivot = 0.0;
        for j in 0..self.lower.cols() {
            let pivot = self.lower[(j, j)] * self.lower[(j, j)];
            self.smallest_pivot = self.smallest_pivot.min(pivot);
            self.largest_pivot = self.largest_pivot.max(pivot);
        }
    }

    /// The smallest squared diagonal element of the factor.
    pub fn smallest_pivot(&self) -> f64 {
        self.smallest_pivot
    }

    /// Ratio of the largest to the smallest pivot: a lower bound of the condition number.
    pub fn condition_estimate(&self) -> f64 {
        self.largest_pivot / self.smallest_pivot
    }

    /// The factor L; elements above the diagonal are zero.
    pub fn lower(&self) -> View<'_> {
        self.lower.view()
    }

    /// x ← A⁻¹ x.
    #[inline(always)]
    pub fn solve(&self, x: &mut [f64]) {
        self.solve_lower(x);
        self.solve_upper(x);
    }

    /// x ← L⁻¹ x.
    #[inline(always)]
    pub fn solve_lower(&self, x: &mut [f64]) {
        solve_lower_from(&self.lower, 0, x);
    }

    /// x ← L⁻ᵀ x.
    #[inline(always)]
    pub fn solve_upper(&self, x: &mut [f64]) {
        for j in (0..x.len()).rev() {
            let column = self.lower.col(j);
            x[j] = (x[j] - dot(&column[j + 1..], &x[j + 1..])) / column[j];
        }
    }

    /// X ← A⁻¹ X, to the bits of [`Cholesky::solve`] for each column, with the factor read once for all.
    pub fn solve_columns(&self, x: &mut Matrix) {
        let (n, count) = (x.rows(), x.cols());
        vectorised(
            #[inline(always)]
            || {
                for j in 0..n {
                    let column = &self.lower.col(j)[j..];
                    for c in 0..count {
                        let (head, tail) = x.col_mut(c)[j..].split_at_mut(1);
                        head[0] /= column[0];
                        add_scaled(tail, -head[0], &column[1..]);
                    }
                }
                for j in (0..n).rev() {
                    let column = &self.lower.col(j)[j..];
                    for c in 0..count {
                        let (head, tail) = x.col_mut(c)[j..].split_at_mut(1);
                        head[0] = (head[0] - dot(&column[1..], tail)) / column[0];
                    }
                }
            },
        );
    }

    /// `inverse` ← A⁻¹, symmetric to the last bit.
    pub fn inverse_into(&mut self, inverse: &mut Matrix) {
        let n = self.lower.rows();
        if n >= BLOCKED_FROM {
            self.inverse_blocked(inverse);
            return;
        }
        // A⁻¹ = L⁻ᵀ L⁻¹.
        let root = &mut self.inverse_root;
        root.reshape(n, n);
        root.fill(0.0);
        vectorised(
            #[inline(always)]
            || {
                for j in 0..n {
                    let column = &mut root.col_mut(j)[j..];
                    column[0] = 1.0;
                    solve_lower_from(&self.lower, j, column);
                }
            },
        );
        inverse.resize(n, n);
        product(
            inverse.view_mut(),
            Write::Replace,
            root.view().t(),
            root.view(),
        );
        inverse.symmetrise();
    }
}

impl Cholesky {
    /// faer's blocked inversion, which fills the lower half; the upper half is its mirror.
    fn inverse_blocked(&self, inverse: &mut Matrix) {
        let n = self.lower.rows();
        let mut scratch = MemBuffer::new(inverse_scratch::<f64>(n, Par::Seq));
        let mut lower_half = Matrix::zeros(n, n);
        llt_inverse(
            MatMut::from_column_major_slice_mut(lower_half.flat_mut(), n, n),
            as_faer(self.lower()),
            Par::Seq,
            MemStack::new(&mut scratch),
        );
        inverse.resize(n, n);
        for j in 0..n {
            inverse.col_mut(j)[j..].copy_from_slice(&lower_half.col(j)[j..]);
            for i in 0..j {
                inverse[(i, j)] = lower_half[(j, i)];
            }
        }
    }
}

/// x ← L⁻¹ x for an x whose elements before `first` are zero and omitted.
#[inline(always)]
fn solve_lower_from(lower: &Matrix, first: usize, x: &mut [f64]) {
    for j in 0..x.len() {
        let column = &lower.col(first + j)[first + j..];
        x[j] /= column[0];
        let (head, tail) = x.split_at_mut(j + 1);
        add_scaled(tail, -head[j], &column[1..]);
    }
}

/// Right-looking factorisation by columns.
#[inline(always)]
fn factor_plain(a: &mut Matrix) -> Result<(), NotPositiveDefinite> {
    let n = a.rows();
    for j in 0..n {
        let pivot = a[(j, j)];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(NotPositiveDefinite { row: j, pivot });
        }
        let root = pivot.sqrt();
        let column = a.col_mut(j);
        column[..j].fill(0.0);
        for value in &mut column[j..] {
            *value /= root;
        }
        for k in j + 1..n {
            let (source, target) = two_columns(a, j, k);
            add_scaled(&mut target[k..], -source[k], &source[k..]);
        }
    }
    Ok(())
}

/// Columns `j` < `k`, the second to be written.
#[inline(always)]
fn two_columns(a: &mut Matrix, j: usize, k: usize) -> (&[f64], &mut [f64]) {
    let n = a.rows();
    let (left, right) = a.flat_mut().split_at_mut(k * n);
    (&left[j * n..(j + 1) * n], &mut right[..n])
}

/// faer's blocked factorisation; `scratch` is its memory, kept for the next call.
fn factor_blocked(a: &mut Matrix, scratch: &mut Scratch) -> Result<(), NotPositiveDefinite> {
    let n = a.rows();
    let outcome = cholesky_in_place(
        MatMut::from_column_major_slice_mut(a.flat_mut(), n, n),
        LltRegularization::default(),
        Par::Seq,
        scratch.stack(n),
        Default::default(),
    );
    if let Err(LltError::NonPositivePivot { index }) = outcome {
        return Err(NotPositiveDefinite {
            row: index,
            pivot: a[(index, index)],
        });
    }
    clear_above(a)
}

/// Factors the columns of a panel and takes their part out of all that follow.
fn factor_panel(
    a: &mut Matrix,
    first: usize,
    scratch: &mut Scratch,
) -> Result<(), NotPositiveDefinite> {
    let n = a.rows();
    let width = PANEL.min(n - first);
    let whole = MatMut::from_column_major_slice_mut(a.flat_mut(), n, n);
    let trailing = whole.submatrix_mut(first, first, n - first, n - first);
    let (mut corner, _, mut below, rest) = trailing.split_at_mut(width, width);
    let outcome = cholesky_in_place(
        corner.as_mut(),
        LltRegularization::default(),
        Par::Seq,
        scratch.stack(width),
        Default::default(),
    );
    if let Err(LltError::NonPositivePivot { index }) = outcome {
        return Err(NotPositiveDefinite {
            row: first + index,
            pivot: corner[(index, index)],
        });
    }
    // B ← B L⁻ᵀ, then R ← R − B Bᵀ, of which the lower half is enough.
    solve_lower_triangular_in_place(corner.as_ref(), below.as_mut().transpose_mut(), Par::Seq);
    matmul(
        rest,
        BlockStructure::TriangularLower,
        Accum::Add,
        below.as_ref(),
        BlockStructure::Rectangular,
        below.as_ref().transpose(),
        BlockStructure::Rectangular,
        -1.0,
        Par::Seq,
    );
    Ok(())
}

/// Zeros above the diagonal; refuses a diagonal that rounding or NaN has spoilt.
fn clear_above(a: &mut Matrix) -> Result<(), NotPositiveDefinite> {
    for j in 0..a.rows() {
        a.col_mut(j)[..j].fill(0.0);
        let root = a[(j, j)];
        if !(root > 0.0 && root.is_finite()) {
            return Err(NotPositiveDefinite {
                row: j,
                pivot: root,
            });
        }
    }
    Ok(())
}

/// Memory for faer's factorisation of matrices up to a size.
#[derive(Default)]
struct Scratch {
    size: usize,
    memory: Option<MemBuffer>,
}

impl Scratch {
    fn stack(&mut self, n: usize) -> &mut MemStack {
        if self.size < n {
            self.memory = None;
        }
        let memory = self.memory.get_or_insert_with(|| {
            self.size = n;
            let needed = cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
            MemBuffer::new(needed)
        });
        MemStack::new(memory)
    }
}

impl Clone for Scratch {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Scratch for size {}", self.size)
    }
}

/// `x` ← `x` L⁻ᵀ, where the columns of `x` (many rows, few columns) are combined in place.
pub fn solve_lower_transposed_right(x: &mut Matrix, factor: &Cholesky) {
    let lower = factor.lower();
    let (rows, cols) = (x.rows(), x.cols());
    assert_eq!(cols, lower.rows());
    vectorised(
        #[inline(always)]
        || {
            let flat = x.flat_mut();
            for j in 0..cols {
                let (done, rest) = flat.split_at_mut(j * rows);
                let target = &mut rest[..rows];
                for k in 0..j {
                    add_scaled(target, -lower.at(j, k), &done[k * rows..(k + 1) * rows]);
                }
                let pivot = lower.at(j, j);
                for value in target {
                    *value /= pivot;
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positive_definite(n: usize) -> Matrix {
        let root = Matrix::from_fn(n, n, |i, j| ((i * 13 + j * 7) as f64).sin());
        let mut matrix = Matrix::identity(n);
        product(matrix.view_mut(), Write::Add, root.view(), root.view().t());
        matrix
    }

    #[test]
    fn columns_are_solved_together_as_one_by_one() {
        for n in [1, 30, 150] {
            let mut factor = Cholesky::default();
            let factored = factor.factor(positive_definite(n).view());
            factored.expect("positive definite");
            let mut together = Matrix::from_fn(n, 5, |i, j| ((i * 3 + j * 11) as f64).cos());
            let mut alone = together.clone();
            factor.solve_columns(&mut together);
            vectorised(
                #[inline(always)]
                || (0..5).for_each(|c| factor.solve(alone.col_mut(c))),
            );
            assert_eq!(together, alone);
        }
    }

    #[test]
    fn the_factor_times_its_transpose_is_the_matrix() {
        for n in [1, 2, 7, 30, 127, 128, 200] {
            let matrix = positive_definite(n);
            let mut factor = Cholesky::default();
            factor.factor(matrix.view()).expect("positive definite");
            let mut back = Matrix::zeros(n, n);
            product(
                back.view_mut(),
                Write::Replace,
                factor.lower(),
                factor.lower().t(),
            );
            product(
                back.view_mut(),
                Write::Subtract,
                matrix.view(),
                Matrix::identity(n).view(),
            );
            assert!(back.max_abs() < 1e-12 * matrix.max_abs(), "size {n}");
        }
    }

    #[test]
    fn a_factor_by_panels_is_the_factor() {
        for n in [100, 512, 513, 700] {
            let matrix = positive_definite(n);
            let (mut whole, mut by_panels) = (Cholesky::default(), Cholesky::default());
            whole.factor(matrix.view()).expect("positive definite");
            let outcome = by_panels.factor_while(matrix.view(), || true);
            assert_eq!(outcome, Ok(true));
            let mut defect = Matrix::default();
            defect.copy_from(by_panels.lower());
            for j in 0..n {
                for (value, expected) in defect.col_mut(j).iter_mut().zip(whole.lower().col(j)) {
                    *value -= expected;
                }
            }
            assert!(defect.max_abs() < 1e-10 * matrix.max_abs(), "size {n}");
        }
    }

    #[test]
    fn a_factorisation_ends_when_told_to() {
        let matrix = positive_definite(700);
        let mut looks = 0;
        let outcome = Cholesky::default().factor_while(matrix.view(), || {
            looks += 1;
            looks < 4
        });
        assert_eq!((outcome, looks), (Ok(false), 4));
    }

    #[test]
    fn what_rounding_made_indefinite_is_written_again_and_raised_more() {
        for n in [5, 140, 600] {
            let mut n_written = 0;
            let mut factor = Cholesky::default();
            let outcome = factor.factor_raised(
                8,
                |matrix| {
                    n_written += 1;
                    matrix.copy_from(Matrix::identity(n).view());
                    matrix[(n - 1, n - 1)] = -0.5;
                    0.01
                },
                || true,
            );
            // 1, 11 and 111 times .01: the last is enough.
            assert_eq!((outcome, n_written), (Ok(true), 3));
            assert!((factor.lower().at(0, 0).powi(2) - 2.11).abs() < 1e-12);
            let outcome = factor.factor_raised(
                2,
                |matrix| {
                    matrix.copy_from(Matrix::identity(n).view());
                    matrix[(n - 1, n - 1)] = -0.5;
                    0.01
                },
                || true,
            );
            assert_eq!(outcome.expect_err("indefinite").row, n - 1);
        }
    }

    #[test]
    fn the_inverse_times_the_matrix_is_the_identity() {
        for n in [1, 5, 30, 150] {
            let matrix = positive_definite(n);
            let mut factor = Cholesky::default();
            factor.factor(matrix.view()).expect("positive definite");
            let mut inverse = Matrix::default();
            factor.inverse_into(&mut inverse);
            let mut defect = Matrix::identity(n);
            product(
                defect.view_mut(),
                Write::Subtract,
                inverse.view(),
                matrix.view(),
            );
            assert!(defect.max_abs() < 1e-10, "size {n}: {}", defect.max_abs());
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused_with_its_row() {
        for n in [3, 140] {
            let mut matrix = Matrix::identity(n);
            matrix[(2, 2)] = -1.0;
            let failure = Cholesky::default().factor(matrix.view());
            assert_eq!(failure.expect_err("indefinite").row, 2);
        }
        let mut matrix = Matrix::identity(3);
        matrix[(1, 1)] = f64::NAN;
        assert!(Cholesky::default().factor(matrix.view()).is_err());
        let mut matrix = Matrix::identity(600);
        matrix[(300, 300)] = -1.0;
        let failure = Cholesky::default().factor_while(matrix.view(), || true);
        assert_eq!(failure.expect_err("indefinite").row, 300);
    }

    #[test]
    fn solving_from_the_right_undoes_the_factor() {
        let mut factor = Cholesky::default();
        factor
            .factor(positive_definite(6).view())
            .expect("definite");
        let original = Matrix::from_fn(9, 6, |i, j| (i * j) as f64 - 3.0);
        let mut solved = Matrix::default();
        solved.copy_from(original.view());
        solve_lower_transposed_right(&mut solved, &factor);
        let mut back = Matrix::zeros(9, 6);
        product(
            back.view_mut(),
            Write::Replace,
            solved.view(),
            factor.lower().t(),
        );
        product(
            back.view_mut(),
            Write::Subtract,
            original.view(),
            Matrix::identity(6).view(),
        );
        assert!(back.max_abs() < 1e-12);
    }
}
