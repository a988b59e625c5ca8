//! Eigenvalues and eigenvectors of symmetric matrices, and functions of such matrices.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{MatMut, Par};

use super::matrix::{Matrix, View};
use super::product::{Write, as_faer, product};

/// The decomposition A = V diag(λ) Vᵀ of a symmetric matrix; its memory is kept for the next one.
#[derive(Default)]
pub struct SymmetricEigen {
    values: Vec<f64>,
    vectors: Matrix,
    scaled: Matrix,
    memory: Option<MemBuffer>,
}

/// The eigenvalues did not converge: the matrix holds something that is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the eigenvalues of a matrix did not converge: it holds infinities or missing values")]
pub struct NotConverged;

impl SymmetricEigen {
    /// Decomposes a matrix, of which only the lower half is read.
    pub fn decompose(&mut self, matrix: View<'_>) -> Result<(), NotConverged> {
        let n = matrix.rows();
        // Asked first: iterations on what is no number would run to their limit.
        if !(0..n).all(|j| (j..n).all(|i| matrix.at(i, j).is_finite())) {
            return Err(NotConverged);
        }
        if self.values.len() != n {
            self.values.resize(n, 0.0);
            self.vectors = Matrix::zeros(n, n);
            self.scaled = Matrix::zeros(n, n);
            let needed = self_adjoint_evd_scratch::<f64>(
                n,
                ComputeEigenvectors::Yes,
                Par::Seq,
                Default::default(),
            );
            self.memory = Some(MemBuffer::new(needed));
        }
        let Some(memory) = &mut self.memory else {
            return Ok(());
        };
        self_adjoint_evd(
            as_faer(matrix),
            DiagMut::from_slice_mut(&mut self.values),
            Some(MatMut::from_column_major_slice_mut(
                self.vectors.flat_mut(),
                n,
                n,
            )),
            Par::Seq,
            MemStack::new(memory),
            Default::default(),
        )
        .map_err(|_not_converged| NotConverged)
    }

    /// The eigenvalues, rising.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The eigenvectors as columns, in the order of the eigenvalues.
    pub fn vectors(&self) -> View<'_> {
        self.vectors.view()
    }

    /// V diag(f(λ)) Vᵀ: the logarithm or a power of the matrix, say.
    pub fn function(&mut self, f: impl Fn(f64) -> f64, result: &mut Matrix) {
        let n = self.values.len();
        result.reshape(n, n);
        for (j, value) in self.values.iter().enumerate() {
            let factor = f(*value);
            let column = self.vectors.col(j).iter();
            for (scaled, v) in self.scaled.col_mut(j).iter_mut().zip(column) {
                *scaled = factor * v;
            }
        }
        product(
            result.view_mut(),
            Write::Replace,
            self.scaled.view(),
            self.vectors.view().t(),
        );
        result.symmetrise();
    }
}

impl Clone for SymmetricEigen {
    /// A decomposition of its own, still empty: what was computed stays with the original.
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symmetric(n: usize) -> Matrix {
        let a = Matrix::from_fn(n, n + 3, |i, j| ((i * 31 + j * 17 + 1) as f64).sin());
        let mut square = Matrix::zeros(n, n);
        product(square.view_mut(), Write::Replace, a.view(), a.view().t());
        square
    }

    #[test]
    fn functions_of_a_matrix_are_those_of_its_eigenvalues() {
        let mut eigen = SymmetricEigen::default();
        for n in [1, 2, 19, 64, 150] {
            let a = symmetric(n);
            eigen.decompose(a.view()).expect("finite");
            assert!(eigen.values().is_sorted());
            let mut same = Matrix::default();
            eigen.function(|value| value, &mut same);
            let mut root = Matrix::default();
            // Rounding may put what is nearly singular below 0.
            eigen.function(|value| value.max(0.0).sqrt(), &mut root);
            let mut squared = Matrix::zeros(n, n);
            product(
                squared.view_mut(),
                Write::Replace,
                root.view(),
                root.view().t(),
            );
            let scale = a.max_abs();
            for j in 0..n {
                for i in 0..n {
                    assert!((same[(i, j)] - a[(i, j)]).abs() < 1e-12 * scale, "{n}");
                    assert!((squared[(i, j)] - a[(i, j)]).abs() < 1e-9 * scale, "{n}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let mut a = symmetric(5);
        a[(3, 2)] = f64::NAN;
        assert_eq!(
            SymmetricEigen::default().decompose(a.view()),
            Err(NotConverged)
        );
    }
}
