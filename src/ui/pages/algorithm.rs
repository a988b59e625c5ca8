//! Which algorithm learns, and the settings that only it has.

use egui::Ui;

use super::fields::SettingField;
use crate::ui::elements::{self, choice, switch};
use crate::ui::widgets::Edit;
use atomscope_engine::learner::declared::{
    ALTERNATIONS, ATOM_PENALTY, ATOM_RATE, CAUTION, CODE_RATE, COST, DECAY, GROWING_THRESHOLD,
    KMOD_RIDGE, LEAST_CURVATURE, MEMORY_OF_ERRORS, METHOD_THRESHOLD, NOVELTY, SKDL_CODE_PENALTY,
    STEP_RATE, TOLERANCE,
};
use atomscope_engine::learner::{
    Algorithm, ContributionNorm, Conventions, GradientSpace, Growing, LearnerSettings, Pruning,
};
use atomscope_engine::settings::{Setting, SettingProblem};

/// The algorithms in the order they are offered, with the preset each comes from.
fn offered() -> [(&'static str, LearnerSettings); 12] {
    [
        ("Margin-aware KRLS", LearnerSettings::margin_aware()),
        (
            "Evidence-preserving KRLS",
            LearnerSettings::evidence_preserving(),
        ),
        ("KRLS, the paper's text", LearnerSettings::paper_text()),
        ("KRLS, the authors' code", LearnerSettings::as_published()),
        ("sKDL", LearnerSettings::skdl()),
        ("OKDLRS", LearnerSettings::okdlrs()),
        ("OKDLFB", LearnerSettings::okdlfb()),
        ("KMOD (batch)", LearnerSettings::kmod()),
        ("Kernel K-SVD (batch)", LearnerSettings::ksvd()),
        (
            "Nearest class mean (baseline)",
            LearnerSettings::nearest_mean(),
        ),
        ("Kernel ridge (baseline)", LearnerSettings::kernel_ridge()),
        ("Support vector machines (baseline)", LearnerSettings::svm()),
    ]
}

/// Whether two algorithms stand at the same place of the list.
fn is_same(one: &Algorithm, other: &Algorithm) -> bool {
    let published = |algorithm: &Algorithm| match algorithm {
        Algorithm::Krls { conventions, .. } => *conventions == Conventions::Published,
        _ => false,
    };
    std::mem::discriminant(one) == std::mem::discriminant(other)
        && published(one) == published(other)
}

/// The choice of the algorithm; another one begins with its own settings.
pub(super) fn algorithm_ui(ui: &mut Ui, learner: &mut LearnerSettings) {
    let offered = offered();
    let present =
        |(_, preset): &(&str, LearnerSettings)| is_same(&preset.algorithm, &learner.algorithm);
    let current = offered.iter().position(present).unwrap_or(usize::MAX);
    let names: Vec<&str> = offered.iter().map(|(name, _)| *name).collect();
    let help = "The learning algorithm, online or batch. Default: margin-aware.";
    if let Some(chosen) = choice(ui, "Algorithm", help, current, &names) {
        learner.take_algorithm(&offered[chosen].1.algorithm);
    }
}

pub(super) fn growing_ui(ui: &mut Ui, learner: &mut LearnerSettings, problems: &[SettingProblem]) {
    let growing = match &mut learner.algorithm {
        Algorithm::Krls { growing, .. } => growing,
        Algorithm::Evidence { novelty, .. } | Algorithm::Margin { novelty, .. } => {
            NOVELTY.ui(ui, novelty, problems);
            return;
        }
        _ => return,
    };
    let current = match growing {
        Growing::Always => 0,
        Growing::Coherence { .. } => 1,
        Growing::Representation { .. } => 2,
        Growing::RepresentationAsPublished { .. } => 3,
        Growing::Projection { .. } => 4,
    };
    let names = [
        "Every sample",
        "Coherence",
        "Representation",
        "Representation as published",
        "Projection",
    ];
    let help = "Which samples of a mini-batch are kept. Default: coherence.";
    if let Some(chosen) = choice(ui, "Growing criterion", help, current, &names) {
        let threshold = 0.95;
        *growing = match chosen {
            0 => Growing::Always,
            1 => Growing::Coherence { threshold },
            2 => Growing::Representation { threshold },
            3 => Growing::RepresentationAsPublished { threshold: 0.93 },
            _ => Growing::Projection { threshold },
        };
    }
    match growing {
        Growing::Always => {}
        Growing::Coherence { threshold }
        | Growing::Representation { threshold }
        | Growing::RepresentationAsPublished { threshold }
        | Growing::Projection { threshold } => {
            GROWING_THRESHOLD.ui(ui, threshold, problems);
        }
    }
}

/// The pruning strategies that an algorithm knows.
pub(super) fn all_prunings(algorithm: &Algorithm) -> Vec<Pruning> {
    let mut all = vec![
        Pruning::Oldest,
        Pruning::LeastContribution(ContributionNorm::L1),
        Pruning::LeastContribution(ContributionNorm::L2),
        Pruning::LeastContributionOlderHalf(ContributionNorm::L1),
        Pruning::LeastContributionOlderHalf(ContributionNorm::L2),
    ];
    if !matches!(algorithm, Algorithm::Krls { .. }) {
        all.insert(0, Pruning::LeastLoss);
    }
    all
}

/// The settings of an algorithm that is not recursive.
pub(super) fn algorithm_numbers_ui(
    ui: &mut Ui,
    algorithm: &mut Algorithm,
    problems: &[SettingProblem],
) -> Edit {
    let mut edit = Edit::default();
    let mut number = |ui: &mut Ui, field: &Setting, value: &mut f64| {
        edit = edit.and(field.ui(ui, value, problems));
    };
    let conventions = match algorithm {
        Algorithm::Kmod { ridge } | Algorithm::KernelRidge { ridge } => {
            number(ui, &KMOD_RIDGE, ridge);
            None
        }
        Algorithm::Skdl {
            threshold,
            code_penalty,
            atom_penalty,
            code_rate,
            atom_rate,
            conventions,
            ..
        } => {
            number(ui, &METHOD_THRESHOLD, threshold);
            number(ui, &SKDL_CODE_PENALTY, code_penalty);
            number(ui, &ATOM_PENALTY, atom_penalty);
            number(ui, &CODE_RATE, code_rate);
            number(ui, &ATOM_RATE, atom_rate);
            Some(conventions)
        }
        Algorithm::Okdlrs {
            caution,
            least_curvature,
            alternations,
            conventions,
            ..
        } => {
            number(ui, &CAUTION, caution);
            number(ui, &LEAST_CURVATURE, least_curvature);
            let mut count = *alternations as f64;
            number(ui, &ALTERNATIONS, &mut count);
            *alternations = count.round().max(0.0) as usize;
            Some(conventions)
        }
        Algorithm::Okdlfb {
            threshold,
            code_penalty,
            decay,
            rate,
            space,
            conventions,
            ..
        } => {
            number(ui, &METHOD_THRESHOLD, threshold);
            number(ui, &SKDL_CODE_PENALTY, code_penalty);
            number(ui, &DECAY, decay);
            number(ui, &STEP_RATE, rate);
            space_ui(ui, space, &mut edit);
            Some(conventions)
        }
        Algorithm::Svm { cost, tolerance } => {
            number(ui, &COST, cost);
            number(ui, &TOLERANCE, tolerance);
            None
        }
        Algorithm::Ksvd | Algorithm::NearestMean => {
            elements::help(ui, "No further settings");
            None
        }
        Algorithm::Krls { .. } | Algorithm::Evidence { .. } | Algorithm::Margin { .. } => None,
    };
    if let Some(conventions) = conventions {
        conventions_ui(ui, conventions, &mut edit);
    }
    edit
}

fn space_ui(ui: &mut Ui, space: &mut GradientSpace, edit: &mut Edit) {
    let spaces = [GradientSpace::Feature, GradientSpace::Parameter];
    let names = ["Feature space", "Parameter space"];
    let current = spaces.iter().position(|other| other == space);
    let help =
        "Gradient with respect to the dictionary or to its coefficients. Default: feature space.";
    if let Some(chosen) = choice(ui, "Gradient", help, current.unwrap_or(0), &names) {
        *space = spaces[chosen];
        edit.finished = true;
    }
}

fn conventions_ui(ui: &mut Ui, conventions: &mut Conventions, edit: &mut Edit) {
    let mut published = *conventions == Conventions::Published;
    let text = "As in the code behind the published figures: rates and penalties unscaled, random start. Default: off.";
    if switch(ui, "Rates and start as published", text, &mut published) {
        *conventions = match published {
            true => Conventions::Published,
            false => Conventions::Text,
        };
        edit.finished = true;
    }
}

pub(super) fn margin_ui(ui: &mut Ui, learner: &mut LearnerSettings, problems: &[SettingProblem]) {
    let Algorithm::Margin {
        decision_layer,
        error_weights,
        memory_of_errors,
        second_look,
        ..
    } = &mut learner.algorithm
    else {
        return;
    };
    MEMORY_OF_ERRORS.ui(ui, memory_of_errors, problems);
    switch(
        ui,
        "Decision layer",
        "Learned online from the residuals; otherwise the smallest residual decides. Default on.",
        decision_layer,
    );
    switch(
        ui,
        "Error weights",
        "Samples that are hard to classify weigh more in the dictionary. Default on.",
        error_weights,
    );
    switch(
        ui,
        "Second look",
        "Doubtful samples are compared again by their two best classes. Default on.",
        second_look,
    );
}
