//! Sparse coding and kernels on their own.

use atomscope::learner::{Kernel, Pursuit, Samples, SparseCoder, SparseCodes};
use atomscope::math::Matrix;

use crate::archive::{Archive, assert_close};

/// Codes every column of h and compares W and r².
fn compare_codes(
    archive: &Archive,
    gram: &Matrix,
    h: &Matrix,
    sigma: &[f64],
    pursuit: Pursuit,
    sparsity: usize,
    prefix: &str,
    tolerance: f64,
) {
    let mut coder = SparseCoder::new(pursuit, sparsity, 1e-6);
    coder.prepare(gram.view());
    let mut codes = SparseCodes::new(sparsity, h.cols());
    let mut residuals = Matrix::zeros(1, h.cols());
    for (j, &own) in sigma.iter().enumerate() {
        residuals[(0, j)] = coder.code(h.col(j), own);
        assert_eq!(residuals[(0, j)], coder.residual(h.col(j), own));
        coder.code(h.col(j), own);
        codes.push(coder.chosen());
    }
    let mut dense = Matrix::default();
    codes.write_dense(gram.rows(), &mut dense);
    let w_name = format!("{prefix}_W");
    assert_close(&w_name, &dense, &archive.matrix(&w_name), tolerance);
    let expected = archive.numbers(&format!("{prefix}_r2"));
    let expected = Matrix::from_fn(1, expected.len(), |_, j| expected[j]);
    assert_close(&format!("{prefix}_r2"), &residuals, &expected, tolerance);
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
        let gram = archive.matrix("last_Psi");
        let (h, sigma) = (archive.matrix("test_h"), archive.numbers("test_sigma"));
        for (pursuit, prefix) in [(Pursuit::Ormp, "test_ormp"), (Pursuit::Omp, "test_omp")] {
            compare_codes(&archive, &gram, &h, &sigma, pursuit, 3, prefix, 1e-9);
        }
    }
    for name in [
        "a_poly2_m4",
        "b_gauss1p5_m4",
        "c_gauss1p5_m1",
        "c_npoly2_m1",
    ] {
        let archive = Archive::small(&format!("evidence_{name}.npz"));
        let gram = archive.matrix("last_Psi");
        let (h, sigma) = (archive.matrix("test_h"), archive.numbers("test_sigma"));
        compare_codes(&archive, &gram, &h, &sigma, Pursuit::Ormp, 3, "test", 1e-9);
    }
}

#[test]
fn usps_test_vectors() {
    let Some(archive) = Archive::large("mykomp.npz") else {
        return;
    };
    for stage in ["init", "last", "lastn"] {
        let gram = archive.matrix(&format!("{stage}_Psi"));
        let h = archive.matrix(&format!("{stage}_h"));
        let sigma = archive.numbers(&format!("{stage}_sigma"));
        for (pursuit, name) in [(Pursuit::Ormp, "ormp"), (Pursuit::Omp, "omp")] {
            for sparsity in [1, 3, 5] {
                let prefix = format!("{stage}_{name}_s{sparsity}");
                compare_codes(
                    &archive, &gram, &h, &sigma, pursuit, sparsity, &prefix, 1e-9,
                );
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
