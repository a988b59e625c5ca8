//! In what two experiments differ, and what a learner is, in the words of the window.

use std::fmt::Debug;

use atomscope_engine::experiment::{Experiment, TrainingLength};
use atomscope_engine::learner::{
    Algorithm, Conventions, Forgetting, Kernel, LearnerSettings, Pruning,
};
use atomscope_engine::records::counted;

/// What was changed from one experiment to another, setting by setting: "Q (30 → 40)".
pub fn what_changed(then: &Experiment, now: &Experiment) -> Vec<String> {
    let mut list = Vec::new();
    let mut note = |differs: bool, what: &str| {
        if differs {
            list.push(what.to_owned());
        }
    };
    note(then.data.source != now.data.source, "records");
    note(then.data.recipe != now.data.recipe, "feature recipe");
    note(then.data.class_names != now.data.class_names, "class names");
    note(then.data.by_hand != now.data.by_hand, "relabelled segments");
    note(then.preparation != now.preparation, "preparation");
    note(then.split != now.split, "split");
    list.extend(learner_changes(&then.learner, &now.learner));
    let (then_length, now_length) = (
        length_text(then.training.length),
        length_text(now.training.length),
    );
    note_value(&mut list, "training", &then_length, &now_length);
    note_other(
        &mut list,
        "supply",
        &then.training.supply,
        &now.training.supply,
    );
    note_other(&mut list, "tests", &then.tests, &now.tests);
    note_value(&mut list, "seed", &then.seed, &now.seed);
    list
}

fn learner_changes(then: &LearnerSettings, now: &LearnerSettings) -> Vec<String> {
    let mut list = Vec::new();
    let names = (
        algorithm_name(&then.algorithm),
        algorithm_name(&now.algorithm),
    );
    note_value(&mut list, "algorithm", &names.0, &names.1);
    let kernels = (kernel_name(&then.kernel), kernel_name(&now.kernel));
    note_value(&mut list, "kernel", &kernels.0, &kernels.1);
    note_value(&mut list, "Q", &then.n_atoms, &now.n_atoms);
    note_value(&mut list, "s", &then.sparsity, &now.sparsity);
    note_value(&mut list, "M", &then.batch_size, &now.batch_size);
    note_value(&mut list, "L_max", &then.budget, &now.budget);
    note_value(&mut list, "γ", &then.regularisation, &now.regularisation);
    let lambdas = (
        forgetting_text(&then.forgetting),
        forgetting_text(&now.forgetting),
    );
    note_value(&mut list, "λ", &lambdas.0, &lambdas.1);
    if names.0 == names.1 {
        note_other(
            &mut list,
            "settings of the algorithm",
            &then.algorithm,
            &now.algorithm,
        );
    }
    note_other(&mut list, "pursuit", &then.pursuit, &now.pursuit);
    note_value(
        &mut list,
        "error limit",
        &then.error_limit,
        &now.error_limit,
    );
    note_other(&mut list, "start", &then.start, &now.start);
    note_other(
        &mut list,
        "normalisation",
        &then.normalisation,
        &now.normalisation,
    );
    note_value(
        &mut list,
        "calibration",
        &then.calibration,
        &now.calibration,
    );
    list
}

fn note_value<T: PartialEq + std::fmt::Display>(
    list: &mut Vec<String>,
    what: &str,
    then: &T,
    now: &T,
) {
    if then != now {
        list.push(format!("{what} ({then} → {now})"));
    }
}

fn note_other<T: PartialEq + Debug>(list: &mut Vec<String>, what: &str, then: &T, now: &T) {
    if then != now {
        list.push(what.to_owned());
    }
}

/// The changes as a reason: "Q (30 → 40) changed after training".
pub(super) fn stale_reason(changes: &[String]) -> Option<String> {
    let first = changes.first()?;
    Some(match changes.len() {
        1 => format!("{first} changed after training"),
        n => format!("{first} and {} more changed after training", n - 1),
    })
}

/// An algorithm in two or three words.
pub fn algorithm_name(algorithm: &Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Krls {
            conventions: Conventions::Published,
            ..
        } => "KRLS as published",
        Algorithm::Krls { .. } => "KRLS",
        Algorithm::Evidence { .. } => "evidence KRLS",
        Algorithm::Margin { .. } => "margin KRLS",
        Algorithm::Kmod { .. } => "KMOD",
        Algorithm::Ksvd => "kernel K-SVD",
        Algorithm::Skdl {
            conventions: Conventions::Published,
            ..
        } => "sKDL as published",
        Algorithm::Skdl { .. } => "sKDL",
        Algorithm::Okdlrs {
            conventions: Conventions::Published,
            ..
        } => "OKDLRS as published",
        Algorithm::Okdlrs { .. } => "OKDLRS",
        Algorithm::Okdlfb {
            conventions: Conventions::Published,
            ..
        } => "OKDLFB as published",
        Algorithm::Okdlfb { .. } => "OKDLFB",
        Algorithm::NearestMean => "nearest mean",
        Algorithm::KernelRidge { .. } => "kernel ridge",
        Algorithm::Svm { .. } => "SVM",
    }
}

/// A kernel with its parameters.
pub fn kernel_name(kernel: &Kernel) -> String {
    match kernel {
        Kernel::Linear => "linear".into(),
        Kernel::Polynomial { degree, offset } => format!("polynomial {degree}, offset {offset}"),
        Kernel::NormalisedPolynomial { degree, offset } => {
            format!("normalised polynomial {degree}, offset {offset}")
        }
        Kernel::Gaussian { width } => format!("Gaussian, width {width}"),
        Kernel::Laplacian { width } => format!("Laplacian, width {width}"),
        Kernel::OfMedian { shape, multiple } => {
            format!("{shape:?}, width {multiple} × median distance")
        }
    }
}

/// A pruning strategy in words.
pub fn pruning_name(pruning: Pruning) -> &'static str {
    use atomscope_engine::learner::ContributionNorm::{L1, L2};
    match pruning {
        Pruning::Oldest => "oldest first",
        Pruning::LeastContribution(L1) => "least contribution (L1)",
        Pruning::LeastContribution(L2) => "least contribution (L2)",
        Pruning::LeastContributionOlderHalf(L1) => "least contribution of the older half (L1)",
        Pruning::LeastContributionOlderHalf(L2) => "least contribution of the older half (L2)",
        Pruning::LeastLoss => "least loss",
    }
}

/// How long is trained.
pub(super) fn length_text(length: TrainingLength) -> String {
    match length {
        TrainingLength::Batches(n) => counted(n, "batch"),
        TrainingLength::Passes(1.0) => "1 pass".into(),
        TrainingLength::Passes(passes) => format!("{passes} passes"),
    }
}

fn forgetting_text(forgetting: &Forgetting) -> String {
    format!(
        "{:?} from {} over {} %",
        forgetting.shape,
        forgetting.start_value,
        forgetting.ramp_share * 100.0
    )
    .to_lowercase()
}

/// A learner in one line: "margin KRLS, Q 30, L 200".
pub fn learner_summary(learner: &LearnerSettings) -> String {
    let mut summary = algorithm_name(&learner.algorithm).to_owned();
    if !learner.algorithm.is_baseline() {
        summary += &format!(", Q {}", learner.n_atoms);
    }
    if learner.algorithm.keeps_all() {
        summary + ", all samples"
    } else {
        summary + &format!(", L {}", learner.budget)
    }
}
