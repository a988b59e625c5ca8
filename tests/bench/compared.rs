//! The methods that the paper compares with: one iteration of the batch learners against its bare
//! matrix products, one mini-batch of the online ones beside the published time.

use atomscope_engine::learner::LearnerSettings;
use atomscope_engine::math::{Matrix, Write, product};

use crate::workload::{Running, Sizes, best_of, samples};

/// Training samples of a USPS digit in five folds.
const N_SAMPLES: usize = 880;

/// W Wᵀ, U = (W Wᵀ)⁻¹ W, U K and Ψ = U K Uᵀ: what an iteration of KMOD cannot do without.
struct Floor {
    kept_gram: Matrix,
    coefficients: Matrix,
    inner_products: Matrix,
    atom_gram: Matrix,
    codes: Matrix,
    code_gram: Matrix,
}

impl Floor {
    fn new(n_atoms: usize) -> Self {
        let filled =
            |rows, cols| Matrix::from_fn(rows, cols, |i, j| 1e-3 * ((i + 3 * j) % 7) as f64);
        Self {
            kept_gram: filled(N_SAMPLES, N_SAMPLES),
            coefficients: filled(n_atoms, N_SAMPLES),
            inner_products: filled(n_atoms, N_SAMPLES),
            atom_gram: filled(n_atoms, n_atoms),
            codes: filled(n_atoms, N_SAMPLES),
            code_gram: filled(n_atoms, n_atoms),
        }
    }

    fn run(&mut self) {
        let values = self.code_gram.view_mut();
        let (left, right) = (self.codes.view(), self.codes.view().t());
        product(values, Write::Replace, left, right);
        let values = self.coefficients.view_mut();
        let (left, right) = (self.code_gram.view(), self.codes.view());
        product(values, Write::Replace, left, right);
        let values = self.inner_products.view_mut();
        let (left, right) = (self.coefficients.view(), self.kept_gram.view());
        product(values, Write::Replace, left, right);
        let values = self.atom_gram.view_mut();
        let (left, right) = (self.inner_products.view(), self.coefficients.view().t());
        product(values, Write::Replace, left, right);
    }
}

/// The batch learners, then the online ones.
pub(crate) fn tables() -> String {
    format!("{}\n{}", batch_table(), online_table())
}

/// The time of an iteration, the floor and their ratio.
fn batch_table() -> String {
    let mut table = String::from(
        "| batch learner | samples | iteration (ms) | products alone (ms) | ratio |\n|---|---|---|---|---|\n",
    );
    let sizes = Sizes::paper(256);
    let data = samples(&sizes, N_SAMPLES);
    for (name, preset) in [
        ("KMOD", LearnerSettings::kmod()),
        ("kernel K-SVD", LearnerSettings::ksvd()),
    ] {
        let mut running = Running::settled(&sizes.settings(preset), &sizes, &data);
        let mut floor = Floor::new(sizes.n_atoms);
        let times = best_of(20, 3, &mut [&mut || running.step(), &mut || floor.run()]);
        table += &format!(
            "| {name} | {N_SAMPLES} | {:.2} | {:.2} | {:.2} |\n",
            1e3 * times[0],
            1e3 * times[1],
            times[0] / times[1]
        );
    }
    table
}

/// The time of a mini-batch of one class in the steady state, and the published one on USPS.
fn online_table() -> String {
    let mut table = String::from(
        "| online learner | L_max | mini-batch (ms) | published, MATLAB (ms) |\n|---|---|---|---|\n",
    );
    let sizes = Sizes::paper(256);
    let data = samples(&sizes, N_SAMPLES);
    for (name, preset, published) in [
        ("sKDL", LearnerSettings::skdl(), 87.2),
        ("OKDLRS", LearnerSettings::okdlrs(), 2856.6),
        ("OKDLFB", LearnerSettings::okdlfb(), 141.5),
        (
            "OKDLFB, parameter space",
            LearnerSettings::okdlfb_parameter(),
            141.5,
        ),
    ] {
        let mut running = Running::settled(&sizes.settings(preset), &sizes, &data);
        let times = best_of(10, 3, &mut [&mut || running.step()]);
        table += &format!(
            "| {name} | {} | {:.2} | {published} |\n",
            sizes.budget,
            1e3 * times[0]
        );
    }
    table
}
