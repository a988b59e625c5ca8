//! How the cost of a mini-batch grows with every size, one size at a time.

use atomscope_engine::learner::LearnerSettings;

use crate::workload::{Running, Sizes, best_of, samples};

/// The time of a mini-batch for every size varied.
pub(crate) fn table() -> String {
    let usual = Sizes::paper(256);
    let at = |change: &dyn Fn(&mut Sizes)| {
        let mut sizes = usual;
        change(&mut sizes);
        sizes
    };
    let mut table = String::from(
        "| L_max | N | Q | M | paper (µs) | evidence-preserving (µs) |\n|---|---|---|---|---|---|\n",
    );
    for budget in [100, 200, 500, 1000, 2000, 5000] {
        table += &row(at(&|s| s.budget = budget));
    }
    for n_features in [16, 64, 1024, 4096, 16_384] {
        table += &row(at(&|s| s.n_features = n_features));
    }
    for n_atoms in [10, 60, 100, 200] {
        table += &row(at(&|s| {
            s.n_atoms = n_atoms;
            s.budget = s.budget.max(2 * n_atoms);
        }));
    }
    for batch_size in [1, 3, 30, 100] {
        table += &row(at(&|s| s.batch_size = batch_size));
    }
    table
}

fn row(sizes: Sizes) -> String {
    let samples = samples(
        &sizes,
        2 * (sizes.budget + sizes.batch_size) + sizes.n_atoms,
    );
    let time = |preset: LearnerSettings| {
        let settings = sizes.settings(preset);
        let mut running = Running::settled(&settings, &sizes, &samples);
        1e6 * best_of(8, 2, &mut [&mut || running.step()])[0]
    };
    let paper = time(LearnerSettings::paper_text());
    let evidence = time(LearnerSettings::evidence_preserving());
    let Sizes {
        n_features,
        budget,
        n_atoms,
        batch_size,
        ..
    } = sizes;
    format!("| {budget} | {n_features} | {n_atoms} | {batch_size} | {paper:.0} | {evidence:.0} |\n")
}
