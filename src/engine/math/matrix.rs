//! A column-major matrix that grows and shrinks inside its reserved memory, and
//! borrowed views of its parts.

use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

/// A column-major matrix of `f64`.
///
/// Columns lie `stride` elements apart, so that rows can be added in place while
/// `stride` allows it. Two ways of changing the shape serve two uses:
/// [`Matrix::reshape`] for scratch space (contents lost, memory reused) and
/// [`Matrix::resize`] for state (contents kept).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    data: Vec<f64>,
    rows: usize,
    cols: usize,
    stride: usize,
}

/// Rows and columns of the largest matrix for which memory is reserved.
const MOST_RESERVED: usize = 1 << 12;

impl Matrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self {
            data: vec![0.0; rows * cols],
            rows,
            cols,
            stride: rows,
        }
    }

    /// An empty matrix with room for `rows` × `cols` elements, or for so many of them as are worth reserving: limits
    /// may be set far beyond what is ever kept.
    pub fn with_capacity(rows: usize, cols: usize) -> Self {
        let (rows, cols) = match rows.saturating_mul(cols) <= MOST_RESERVED * MOST_RESERVED {
            true => (rows, cols),
            false => (rows.min(MOST_RESERVED), cols.min(MOST_RESERVED)),
        };
        Self {
            data: Vec::with_capacity(rows * cols),
            rows: 0,
            cols: 0,
            stride: rows,
        }
    }

    /// The matrix with element (i, j) = `f(i, j)`.
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut matrix = Self::zeros(rows, cols);
        for j in 0..cols {
            for i in 0..rows {
                matrix[(i, j)] = f(i, j);
            }
        }
        matrix
    }

    /// The identity of size `n`.
    pub fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |i, j| f64::from(u8::from(i == j)))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Gives scratch space another shape; the contents are unspecified, the memory is reused.
    pub fn reshape(&mut self, rows: usize, cols: usize) {
        self.rows = rows;
        self.cols = cols;
        self.stride = rows;
        let wanted = rows * cols;
        if self.data.len() < wanted {
            self.data.resize(wanted, 0.0);
        }
    }

    /// Gives the matrix another shape and keeps what both shapes share; new elements
    /// are zero. Memory moves only when the reserved space is exceeded.
    pub fn resize(&mut self, rows: usize, cols: usize) {
        if rows > self.stride {
            self.widen_stride(rows);
        }
        let (held, wanted) = (self.data.len(), self.stride * cols);
        if held < wanted {
            self.data.resize(wanted, 0.0);
        }
        if rows > self.rows {
            for j in 0..cols.min(self.cols) {
                let start = j * self.stride;
                self.data[start + self.rows..start + rows].fill(0.0);
            }
        }
        // What was not held before is zero.
        for j in (self.cols..cols).take_while(|j| j * self.stride < held) {
            let start = j * self.stride;
            self.data[start..start + rows].fill(0.0);
        }
        self.rows = rows;
        self.cols = cols;
    }

    fn widen_stride(&mut self, rows: usize) {
        let stride = rows.max(self.stride + self.stride / 2);
        let mut data = vec![0.0; stride * self.cols];
        for j in 0..self.cols {
            data[j * stride..j * stride + self.rows].copy_from_slice(self.col(j));
        }
        self.data = data;
        self.stride = stride;
    }

    /// Takes the shape and the contents of `other`, reusing the memory.
    pub fn copy_from(&mut self, other: View<'_>) {
        self.reshape(other.rows(), other.cols());
        for j in 0..other.cols() {
            if other.transposed {
                for i in 0..other.rows() {
                    self[(i, j)] = other.at(i, j);
                }
            } else {
                self.col_mut(j).copy_from_slice(other.col(j));
            }
        }
    }

    /// Column `j`.
    #[inline(always)]
    pub fn col(&self, j: usize) -> &[f64] {
        &self.data[j * self.stride..j * self.stride + self.rows]
    }

    /// Column `j`, to be written.
    #[inline(always)]
    pub fn col_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.data[j * self.stride..j * self.stride + self.rows]
    }

    /// All elements of a matrix whose columns are adjacent (every reshaped one), in column order.
    pub fn flat_mut(&mut self) -> &mut [f64] {
        assert_eq!(self.stride, self.rows, "columns are not adjacent");
        &mut self.data[..self.rows * self.cols]
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> impl Iterator<Item = &f64> {
        let data = &self.data[..self.stride * self.cols];
        data[i.min(data.len())..].iter().step_by(self.stride.max(1))
    }

    /// Overwrites column `to` with column `from`.
    pub fn copy_col(&mut self, from: usize, to: usize) {
        let start = from * self.stride;
        self.data
            .copy_within(start..start + self.rows, to * self.stride);
    }

    /// Sets every element.
    pub fn fill(&mut self, value: f64) {
        for j in 0..self.cols {
            self.col_mut(j).fill(value);
        }
    }

    /// Multiplies every element.
    pub fn scale(&mut self, factor: f64) {
        for j in 0..self.cols {
            for value in self.col_mut(j) {
                *value *= factor;
            }
        }
    }

    /// Makes a square matrix symmetric by averaging it with its transpose.
    pub fn symmetrise(&mut self) {
        let stride = self.stride;
        for j in 1..self.cols {
            let (left, right) = self.data.split_at_mut(j * stride);
            let column = &mut right[..j];
            for (value, across) in column.iter_mut().zip(left.chunks_exact_mut(stride)) {
                let mean = 0.5 * (*value + across[j]);
                *value = mean;
                across[j] = mean;
            }
        }
    }

    /// Copies what is above the diagonal below it.
    pub fn mirror_upper(&mut self) {
        let stride = self.stride;
        for j in 1..self.cols {
            let (left, right) = self.data.split_at_mut(j * stride);
            for (value, across) in right[..j].iter().zip(left.chunks_exact_mut(stride)) {
                across[j] = *value;
            }
        }
    }

    /// Exchanges rows and columns `a` and `b` of a symmetric matrix.
    pub fn swap_symmetric(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        let (low, high) = (a.min(b), a.max(b));
        let (left, right) = self.data.split_at_mut(high * self.stride);
        let low_col = &mut left[low * self.stride..low * self.stride + self.rows];
        low_col.swap_with_slice(&mut right[..self.rows]);
        for j in 0..self.cols {
            self.data.swap(j * self.stride + a, j * self.stride + b);
        }
    }

    /// Overwrites row and column `to` of a symmetric matrix with row and column `from`, one
    /// pair (from, to) after the other.
    pub fn copy_symmetric(&mut self, pairs: &[(usize, usize)]) {
        for &(from, to) in pairs {
            self.copy_col(from, to);
        }
        // Column by column, because a row lies in as many places of the memory as it has elements.
        let stride = self.stride;
        for column in self.data.chunks_exact_mut(stride).take(self.cols) {
            for &(from, to) in pairs {
                column[to] = column[from];
            }
        }
    }

    /// Exchanges columns `a` and `b`.
    pub fn swap_cols(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        let (low, high) = (a.min(b), a.max(b));
        let (left, right) = self.data.split_at_mut(high * self.stride);
        let low_col = &mut left[low * self.stride..low * self.stride + self.rows];
        low_col.swap_with_slice(&mut right[..self.rows]);
    }

    /// Largest absolute element; NaN if any element is NaN.
    pub fn max_abs(&self) -> f64 {
        let mut largest = 0.0_f64;
        for j in 0..self.cols {
            for &value in self.col(j) {
                if value.is_nan() {
                    return f64::NAN;
                }
                largest = largest.max(value.abs());
            }
        }
        largest
    }

    /// Whether every element is a finite number.
    pub fn is_finite(&self) -> bool {
        (0..self.cols).all(|j| self.col(j).iter().all(|value| value.is_finite()))
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.data.capacity() * size_of::<f64>()
    }

    /// The whole matrix.
    pub fn view(&self) -> View<'_> {
        self.cols_view(0, self.cols)
    }

    /// `count` columns from column `first` on.
    pub fn cols_view(&self, first: usize, count: usize) -> View<'_> {
        self.block(0, self.rows, first, count)
    }

    /// `n_rows` × `n_cols` elements from (`row`, `col`) on.
    pub fn block(&self, row: usize, n_rows: usize, col: usize, n_cols: usize) -> View<'_> {
        assert!(row + n_rows <= self.rows && col + n_cols <= self.cols);
        let range = block_range(self.stride, row, n_rows, col, n_cols);
        View {
            data: &self.data[range],
            rows: n_rows,
            cols: n_cols,
            stride: self.stride,
            transposed: false,
        }
    }

    /// The whole matrix, to be written.
    pub fn view_mut(&mut self) -> ViewMut<'_> {
        let (rows, cols) = (self.rows, self.cols);
        self.block_mut(0, rows, 0, cols)
    }

    /// `n_rows` × `n_cols` elements from (`row`, `col`) on, to be written.
    pub fn block_mut(
        &mut self,
        row: usize,
        n_rows: usize,
        col: usize,
        n_cols: usize,
    ) -> ViewMut<'_> {
        assert!(row + n_rows <= self.rows && col + n_cols <= self.cols);
        let range = block_range(self.stride, row, n_rows, col, n_cols);
        ViewMut {
            data: &mut self.data[range],
            rows: n_rows,
            cols: n_cols,
            stride: self.stride,
        }
    }
}

/// Where a block lies in the memory of a matrix with that stride.
fn block_range(
    stride: usize,
    row: usize,
    n_rows: usize,
    col: usize,
    n_cols: usize,
) -> std::ops::Range<usize> {
    if n_rows == 0 || n_cols == 0 {
        return 0..0;
    }
    let start = col * stride + row;
    start..start + (n_cols - 1) * stride + n_rows
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[j * self.stride + i]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[j * self.stride + i]
    }
}

/// How a matrix is written to a state: without its reserve.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedMatrix {
    rows: usize,
    cols: usize,
    #[serde(with = "super::packed")]
    data: Vec<f64>,
}

impl Serialize for Matrix {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut data = Vec::with_capacity(self.rows * self.cols);
        for j in 0..self.cols {
            data.extend_from_slice(self.col(j));
        }
        SavedMatrix {
            rows: self.rows,
            cols: self.cols,
            data,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Matrix {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let SavedMatrix { rows, cols, data } = SavedMatrix::deserialize(deserializer)?;
        if rows.checked_mul(cols) != Some(data.len()) {
            return Err(serde::de::Error::custom(format!(
                "a {rows} × {cols} matrix needs as many numbers, but {} are given",
                data.len()
            )));
        }
        Ok(Self {
            data,
            rows,
            cols,
            stride: rows,
        })
    }
}

/// A borrowed rectangle of numbers, possibly seen transposed.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    data: &'a [f64],
    rows: usize,
    cols: usize,
    stride: usize,
    transposed: bool,
}

impl PartialEq for View<'_> {
    fn eq(&self, other: &Self) -> bool {
        let same = |j: usize| match self.transposed || other.transposed {
            true => (0..self.rows).all(|i| self.at(i, j) == other.at(i, j)),
            false => self.col(j) == other.col(j),
        };
        (self.rows, self.cols) == (other.rows, other.cols) && (0..self.cols).all(same)
    }
}

impl<'a> View<'a> {
    /// Adjacent columns of length `rows` as a matrix.
    ///
    /// # Panics
    /// If `data` is not a whole number of columns.
    pub fn from_columns(data: &'a [f64], rows: usize) -> Self {
        assert!(rows > 0 && data.len().is_multiple_of(rows));
        Self {
            data,
            rows,
            cols: data.len() / rows,
            stride: rows,
            transposed: false,
        }
    }

    /// Number of rows.
    pub fn rows(self) -> usize {
        if self.transposed {
            self.cols
        } else {
            self.rows
        }
    }

    /// Number of columns.
    #[inline(always)]
    pub fn cols(self) -> usize {
        if self.transposed {
            self.rows
        } else {
            self.cols
        }
    }

    /// The transpose.
    #[must_use]
    pub fn t(self) -> Self {
        Self {
            transposed: !self.transposed,
            ..self
        }
    }

    /// Column `j` of a view that is not transposed.
    #[inline(always)]
    pub fn col(self, j: usize) -> &'a [f64] {
        assert!(!self.transposed, "a transposed view has no columns");
        &self.data[j * self.stride..j * self.stride + self.rows]
    }

    /// Element (i, j).
    #[inline(always)]
    pub fn at(self, i: usize, j: usize) -> f64 {
        let (i, j) = if self.transposed { (j, i) } else { (i, j) };
        self.data[j * self.stride + i]
    }

    /// The columns of a view that is not transposed, each with what lies behind it up to the next.
    #[inline(always)]
    pub(super) fn columns(self) -> impl Iterator<Item = &'a [f64]> {
        assert!(!self.transposed, "a transposed view has no columns");
        self.data.chunks(self.stride.max(1)).take(self.cols)
    }

    /// The memory as (elements, rows, columns, stride, transposed) of the matrix underneath.
    pub(super) fn parts(self) -> (&'a [f64], usize, usize, usize, bool) {
        (
            self.data,
            self.rows,
            self.cols,
            self.stride,
            self.transposed,
        )
    }
}

/// A borrowed rectangle of numbers, to be written.
#[derive(Debug)]
pub struct ViewMut<'a> {
    data: &'a mut [f64],
    rows: usize,
    cols: usize,
    stride: usize,
}

impl<'a> ViewMut<'a> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Column `j`.
    pub fn col_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.data[j * self.stride..j * self.stride + self.rows]
    }

    /// The memory as (elements, rows, columns, stride).
    pub(super) fn into_parts(self) -> (&'a mut [f64], usize, usize, usize) {
        (self.data, self.rows, self.cols, self.stride)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_memory_is_reserved_for_a_limit_far_away() {
        let mut matrix = Matrix::with_capacity(10_000_000, 10_000_000);
        matrix.resize(3, 2);
        matrix[(2, 1)] = 7.0;
        matrix.resize(5_000, 3);
        assert_eq!((matrix[(2, 1)], matrix.rows()), (7.0, 5_000));
    }

    #[test]
    fn resizing_keeps_contents_and_zeroes_what_is_new() {
        let mut matrix = Matrix::with_capacity(4, 4);
        matrix.resize(2, 2);
        matrix.col_mut(0).copy_from_slice(&[1.0, 2.0]);
        matrix.col_mut(1).copy_from_slice(&[3.0, 4.0]);
        matrix.resize(1, 1);
        matrix.resize(3, 3);
        assert_eq!(matrix.col(0), [1.0, 0.0, 0.0]);
        assert_eq!(matrix.col(1), [0.0, 0.0, 0.0]);
        matrix.resize(9, 2);
        assert_eq!(matrix[(0, 0)], 1.0);
        assert_eq!(matrix.rows(), 9);
    }

    #[test]
    fn swapping_exchanges_rows_and_columns_alike() {
        let original = Matrix::from_fn(4, 4, |i, j| (i + j) as f64 + ((i * j) as f64).sqrt());
        let mut swapped = original.clone();
        swapped.swap_symmetric(1, 3);
        let place = |i: usize| [0, 3, 2, 1][i];
        for i in 0..4 {
            for j in 0..4 {
                assert_eq!(swapped[(i, j)], original[(place(i), place(j))]);
            }
        }
    }

    #[test]
    fn copying_overwrites_row_and_column_alike() {
        let original = Matrix::from_fn(4, 4, |i, j| (i + j) as f64 + ((i * j) as f64).sqrt());
        let mut copied = original.clone();
        copied.copy_symmetric(&[(3, 1)]);
        let place = |i: usize| [0, 3, 2, 3][i];
        for i in 0..4 {
            for j in 0..4 {
                assert_eq!(copied[(i, j)], original[(place(i), place(j))]);
            }
        }
    }

    #[test]
    fn a_transposed_view_swaps_its_indices() {
        let matrix = Matrix::from_fn(2, 3, |i, j| (10 * i + j) as f64);
        let seen = matrix.view().t();
        assert_eq!((seen.rows(), seen.cols()), (3, 2));
        assert_eq!(seen.at(2, 1), 12.0);
    }
}
