//! One mini-batch in the steady state against its bare matrix products.

use atomscope_engine::learner::{Algorithm, ContributionNorm, LearnerSettings, Pruning};
use atomscope_engine::math::{Matrix, Write, product};

use crate::workload::{Running, Sizes, best_of, samples};

/// The matrix products that one step cannot do without, on matrices of its sizes.
pub(crate) struct Floor {
    sizes: Sizes,
    with_inverse: bool,
    new: Matrix,
    kept: Matrix,
    kernel_rows: Matrix,
    coefficients: Matrix,
    inner_products: Matrix,
    gains: Matrix,
    change: Matrix,
    atom_gram: Matrix,
    inverse: Matrix,
    weights: Matrix,
    half: Matrix,
}

impl Floor {
    pub(crate) fn new(sizes: Sizes, n_coded: usize, with_inverse: bool) -> Self {
        let Sizes {
            n_features,
            budget,
            n_atoms,
            batch_size,
            ..
        } = sizes;
        let filled =
            |rows, cols| Matrix::from_fn(rows, cols, |i, j| 1e-3 * ((i + 3 * j) % 7) as f64);
        Self {
            sizes,
            with_inverse,
            new: filled(n_features, n_coded),
            kept: filled(n_features, budget),
            kernel_rows: filled(n_coded, budget),
            coefficients: filled(n_atoms, budget),
            inner_products: filled(n_atoms, n_coded),
            gains: filled(n_atoms, batch_size),
            change: filled(batch_size, budget),
            atom_gram: filled(n_atoms, n_atoms),
            inverse: filled(budget, budget),
            weights: filled(n_coded, budget),
            half: filled(budget, batch_size),
        }
    }

    /// X_newᵀX, U k, the update of U; pruning: the updates of U and Ψ; with the inverse
    /// also P k and its two updates.
    pub(crate) fn run(&mut self) {
        for _ in 0..self.sizes.n_classes {
            let values = self.kernel_rows.view_mut();
            product(
                values,
                Write::Replace,
                self.new.view().t(),
                self.kept.view(),
            );
            let values = self.inner_products.view_mut();
            product(
                values,
                Write::Replace,
                self.coefficients.view(),
                self.kernel_rows.view().t(),
            );
            for write in [Write::Add, Write::Subtract] {
                let values = self.coefficients.view_mut();
                product(values, write, self.gains.view(), self.change.view());
            }
            let values = self.atom_gram.view_mut();
            product(
                values,
                Write::Subtract,
                self.gains.view(),
                self.gains.view().t(),
            );
            if self.with_inverse {
                let values = self.weights.view_mut();
                product(
                    values,
                    Write::Replace,
                    self.kernel_rows.view(),
                    self.inverse.view(),
                );
                for write in [Write::Add, Write::Subtract] {
                    let values = self.inverse.view_mut();
                    product(values, write, self.half.view(), self.half.view().t());
                }
            }
        }
    }
}

/// Name, settings and floor of every variant for `n_features`.
pub(crate) fn variants(n_features: usize) -> Vec<(&'static str, LearnerSettings, Sizes, Floor)> {
    let one = Sizes::paper(n_features);
    let ten = Sizes {
        n_classes: 10,
        ..one
    };
    let mut l1 = LearnerSettings::paper_text();
    if let Algorithm::Krls { pruning, .. } = &mut l1.algorithm {
        *pruning = Pruning::LeastContributionOlderHalf(ContributionNorm::L1);
    }
    let mut once = LearnerSettings::margin_aware();
    if let Algorithm::Margin { second_look, .. } = &mut once.algorithm {
        *second_look = false;
    }
    let row = |name, preset, sizes: Sizes, n_coded, with_inverse| {
        (
            name,
            sizes.settings(preset),
            sizes,
            Floor::new(sizes, n_coded, with_inverse),
        )
    };
    vec![
        row("paper", LearnerSettings::paper_text(), one, 10, false),
        row("paper, ℓ1 contributions", l1, one, 10, false),
        row(
            "evidence-preserving",
            LearnerSettings::evidence_preserving(),
            one,
            10,
            true,
        ),
        row("margin-aware, 10 classes", once, ten, 100, true),
        row(
            "margin-aware with second look",
            LearnerSettings::margin_aware(),
            ten,
            100,
            true,
        ),
    ]
}

/// The time of a step, its floor and their ratio for every variant and size.
pub(crate) fn table() -> String {
    let mut table =
        String::from("| variant | N | step | matrix products | ratio |\n|---|---|---|---|---|\n");
    for n_features in [76, 256, 617, 1206] {
        for (name, settings, sizes, mut floor) in variants(n_features) {
            let samples = samples(&sizes, 700);
            let mut running = Running::settled(&settings, &sizes, &samples);
            let calls = 20 / sizes.n_classes + 3;
            let times = best_of(
                60,
                calls,
                &mut [&mut || running.step(), &mut || floor.run()],
            );
            table += &format!(
                "| {name} | {n_features} | {:.0} | {:.0} | {:.2} |\n",
                1e6 * times[0],
                1e6 * times[1],
                times[0] / times[1]
            );
        }
    }
    table
}
