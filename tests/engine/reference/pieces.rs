//! Sparse coding and kernels on their own.

use atomscope_engine::learner::{Kernel, Pursuit, Samples, SparseCoder, SparseCodes};
use atomscope_engine::math::Matrix;

use super::archive::{Archive, assert_close};

/// A dictionary and test vectors of a reference file.
struct TestVectors {
    gram: Matrix,
    h: Matrix,
    sigma: Vec<f64>,
}

impl TestVectors {
    /// Codes every column of h and compares W and r² with those named by `prefix`.
    fn compare(&self, archive: &Archive, pursuit: Pursuit, sparsity: usize, prefix: &str) {
        let mut coder = SparseCoder::new(pursuit, sparsity, 1e-6);
        coder.prepare(self.gram.view());
        let mut codes = SparseCodes::new(sparsity, self.h.cols());
        let mut found = Vec::new();
        let everything = 0..self.h.cols();
        coder.code_block(&self.h, &self.sigma, everything, &mut codes, &mut found);
        for (j, &own) in self.sigma.iter().enumerate() {
            let (code, residual) = coder.code(self.h.col(j), own);
            assert_eq!(residual, found[j]);
            let mut alone = SparseCodes::new(sparsity, 1);
            alone.push(code.into_iter());
            assert_eq!(alone.code(0), codes.code(j));
        }
        let residuals = Matrix::from_fn(1, found.len(), |_, j| found[j]);
        let mut dense = Matrix::default();
        codes.write_dense(self.gram.rows(), &mut dense);
        let w_name = format!("{prefix}_W");
        assert_close(&w_name, &dense, &archive.matrix(&w_name), 1e-9);
        let expected = archive.numbers(&format!("{prefix}_r2"));
        let expected = Matrix::from_fn(1, expected.len(), |_, j| expected[j]);
        assert_close(&format!("{prefix}_r2"), &residuals, &expected, 1e-9);
    }
}

#[test]
fn small_test_vectors() {
    for name in [
        "krls_a_poly2_coherency_m4_g01",
        "krls_a_poly2_representation_m4_g0",
        "krls_b_gauss1p5_coherency_m1_g01",
        "krls_b_gauss1p5_projection_m4_g01",
        "krls_c_lin1_coherency_m4_g01",
        "krls_c_poly3_coherency_m1_g0",
    ] {
        let archive = Archive::small(&format!("{name}.npz"));
        let vectors = TestVectors {
            gram: archive.matrix("last_Psi"),
            h: archive.matrix("test_h"),
            sigma: archive.numbers("test_sigma"),
        };
        for (pursuit, prefix) in [(Pursuit::Ormp, "test_ormp"), (Pursuit::Omp, "test_omp")] {
            vectors.compare(&archive, pursuit, 3, prefix);
        }
    }
    for name in [
        "a_poly2_m4",
        "b_gauss1p5_m4",
        "c_gauss1p5_m1",
        "c_npoly2_m1",
    ] {
        let archive = Archive::small(&format!("evidence_{name}.npz"));
        let vectors = TestVectors {
            gram: archive.matrix("last_Psi"),
            h: archive.matrix("test_h"),
            sigma: archive.numbers("test_sigma"),
        };
        vectors.compare(&archive, Pursuit::Ormp, 3, "test");
    }
}

#[test]
fn usps_test_vectors() {
    let Some(archive) = Archive::large("mykomp.npz") else {
        return;
    };
    for stage in ["init", "last", "lastn"] {
        let vectors = TestVectors {
            gram: archive.matrix(&format!("{stage}_Psi")),
            h: archive.matrix(&format!("{stage}_h")),
            sigma: archive.numbers(&format!("{stage}_sigma")),
        };
        for (pursuit, name) in [(Pursuit::Ormp, "ormp"), (Pursuit::Omp, "omp")] {
            for sparsity in [1, 3, 5] {
                let prefix = format!("{stage}_{name}_s{sparsity}");
                vectors.compare(&archive, pursuit, sparsity, &prefix);
            }
        }
    }
}

#[test]
fn kernel_values() {
    let Some(archive) = Archive::large("ker_eval.npz") else {
        return;
    };
    let poly = |degree| Kernel::Polynomial {
        degree,
        offset: 1.0,
    };
    for (name, kernel) in [
        ("Lin", Kernel::Linear),
        ("Poly2", poly(2)),
        ("Poly3", poly(3)),
        ("Gauss2", Kernel::Gaussian { width: 2.0 }),
        ("Gauss4", Kernel::Gaussian { width: 4.0 }),
    ] {
        let block = |name: &str| {
            let data = archive.matrix(name);
            let all: Vec<usize> = (0..data.cols()).collect();
            let mut samples = Samples::new(data.rows(), data.cols());
            samples
                .load(&kernel, data.view(), &all)
                .expect("sound samples");
            samples
        };
        let mut values = Matrix::default();
        kernel.block(&block("X1"), &block("X2"), &mut values);
        assert_close(name, &values, &archive.matrix(name), 1e-9);
    }
}
