//! The Learner page: every setting of the learner at the left, what they mean at the right, presets on top.

use egui::{RichText, Ui};

use super::algorithm::{algorithm_numbers_ui, algorithm_ui, all_prunings, growing_ui, margin_ui};
use super::certainty::choice_ui;
use super::fields::SettingField;
use super::meaning::meaning_ui;
use super::tune::set_pruning;
use crate::ui::elements::{self, button, choice, page_title, section, switch};
use crate::ui::theme;
use crate::workbench::{Action, Ask, Draft, RunView, Workbench, pruning_name};
use atomscope_engine::dataset::MissingPolicy;
use atomscope_engine::experiment::declared as experiment_settings;
use atomscope_engine::experiment::declared::{BATCHES, EPSILON, N_TESTS, PASSES, SEED};
use atomscope_engine::experiment::{Experiment, Training, TrainingLength};
use atomscope_engine::learner::declared;
use atomscope_engine::learner::declared::{
    BATCH_SIZE, BUDGET, CALIBRATION, DEGREE, ERROR_LIMIT, HEADROOM, N_ATOMS, OFFSET, POOL,
    RAMP_SHARE, REGULARISATION, SPARSITY, START_VALUE, WIDTH,
};
use atomscope_engine::learner::{
    Algorithm, Forgetting, ForgettingShape, Head, Kernel, LearnerSettings, Normalisation, Pursuit,
    Radial, Start, Supply,
};
use atomscope_engine::settings::SettingProblem;

/// Iterations of a batch learner to begin with.
const ITERATIONS: usize = 20;

/// The Learner page.
pub(in crate::ui) fn learner_page_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    page_title(
        ui,
        "Learner",
        "how a dictionary is learned from the stream of samples",
    );
    let before = draft.experiment.learner.algorithm.clone();
    presets_ui(ui, workbench, &mut draft.experiment.learner, actions);
    fit_training(&before, &mut draft.experiment);
    ui.add_space(theme::GRID);
    let width = ui.available_width();
    let left = (width * 0.54)
        .max(theme::body_font(ui).size * 36.0)
        .min(width * 0.65);
    let (left, right) = elements::two_columns(ui, left);
    elements::scrolling_column(ui, left, "learner settings", |ui| {
        settings_ui(ui, workbench, draft, actions);
    });
    elements::scrolling_column(ui, right, "learner meaning", |ui| {
        meaning_ui(ui, workbench, draft, actions);
    });
}

fn presets_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    learner: &mut LearnerSettings,
    actions: &mut Vec<Action>,
) {
    let tones = theme::tones(ui);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Presets").color(tones.weak));
        for preset in LearnerSettings::presets() {
            let chip = ui.selectable_label(*learner == preset.settings, preset.name);
            if chip.on_hover_text(preset.text).clicked() {
                *learner = preset.settings;
            }
        }
        for preset in &workbench.settings().presets {
            let chip = ui.selectable_label(*learner == preset.learner, &preset.name);
            if chip.on_hover_text("Your own settings").clicked() {
                learner.clone_from(&preset.learner);
            }
        }
        if button(
            ui,
            "Save as preset…",
            "Save these settings under a name, for all sessions",
        ) {
            actions.push(Action::Ask(Ask::PresetName));
        }
        let own = &workbench.settings().presets;
        if let Some(preset) = own.iter().find(|preset| *learner == preset.learner) {
            let remove = ui.button("Remove this preset");
            let text = format!(
                "Deletes the preset {}; the settings do not change",
                preset.name
            );
            if remove.on_hover_text(text).clicked() {
                actions.push(Action::RemovePreset(preset.name.clone()));
            }
        }
    });
}

/// The first problem in words.
pub(super) fn learner_problem(problems: &[SettingProblem]) -> Option<&str> {
    problems.first().map(|problem| problem.message.as_str())
}

fn settings_ui(ui: &mut Ui, workbench: &Workbench, draft: &mut Draft, actions: &mut Vec<Action>) {
    let problems = draft.experiment.problems(None);
    let before = draft.experiment.learner.algorithm.clone();
    section(ui, "Choose for me");
    switch(
        ui,
        "Choose kernel, width, scaling and head",
        "In every fold anew, on inner folds of its training samples alone, so that the score stays honest. Default on for tables and arrays.",
        &mut draft.experiment.auto,
    );
    if let Some(report) = workbench.training().run().and_then(RunView::choice) {
        choice_ui(ui, report);
        let chosen = report.chosen.as_ref().filter(|_| draft.experiment.auto);
        if let Some(chosen) = chosen
            && ui
                .button("Use as settings")
                .on_hover_text("The choice becomes ordinary settings that can be edited; nothing is chosen any more")
                .clicked()
        {
            draft.experiment.learner = chosen.learner(&draft.experiment.learner);
            let preparation = &mut draft.experiment.preparation;
            *preparation = chosen.preparation(*preparation);
            let loaded = workbench.data().loaded();
            if loaded.is_some_and(|loaded| loaded.dataset.n_missing() > 0)
                && preparation.missing == MissingPolicy::Refuse
            {
                // As it was done while the settings were chosen.
                preparation.missing = MissingPolicy::TrainingMean;
            }
            draft.experiment.training = chosen.training(draft.experiment.training);
            draft.experiment.auto = false;
        }
    }
    let learner = &mut draft.experiment.learner;
    section(ui, "Algorithm");
    algorithm_ui(ui, learner);
    section(ui, "Kernel");
    kernel_ui(ui, workbench, learner, &problems, actions);
    section(ui, "Dictionary");
    dictionary_ui(ui, learner, &problems);
    if learner.algorithm.is_recursive() {
        section(ui, "Growing");
        growing_ui(ui, learner, &problems);
    } else {
        section(ui, "Method");
        algorithm_numbers_ui(ui, &mut learner.algorithm, &problems);
    }
    section(ui, "Pruning");
    pruning_ui(ui, learner, &problems);
    if learner.algorithm.is_recursive() {
        section(ui, "Forgetting");
        forgetting_ui(ui, &mut learner.forgetting, &problems);
    }
    if !learner.algorithm.is_baseline() {
        section(ui, "Regularisation and decision");
        decision_ui(ui, learner, &problems);
    }
    fit_training(&before, &mut draft.experiment);
    section(ui, "Training");
    training_ui(ui, &mut draft.experiment.training, &problems);
    let tests = &mut draft.experiment.tests;
    N_TESTS.whole_ui(ui, &mut tests.n_tests, &problems);
    missing_shares_ui(ui, &mut tests.missing_shares);
    switch(
        ui,
        experiment_settings::PREQUENTIAL.label,
        experiment_settings::PREQUENTIAL.help,
        &mut tests.prequential,
    );
    switch(
        ui,
        experiment_settings::CALIBRATE.label,
        experiment_settings::CALIBRATE.help,
        &mut tests.calibrate,
    );
    if tests.calibrate {
        EPSILON.ui(ui, &mut tests.epsilon, &problems);
    }
    switch(
        ui,
        experiment_settings::REPAIR.label,
        experiment_settings::REPAIR.help,
        &mut tests.repair,
    );
    let mut wants_final = workbench.trains_final_model();
    let text = "After the folds, one more model trained on all samples, for classifying new recordings. Default: off.";
    if switch(ui, "Train a final model", text, &mut wants_final) {
        actions.push(Action::TrainFinalModel(wants_final));
    }
    let mut seed = draft.experiment.seed as f64;
    if SEED.ui(ui, &mut seed, &[]).changed {
        draft.experiment.seed = seed.round().max(0.0) as u64;
    }
    ui.add_space(theme::PANEL_GAP);
}

/// γ, β and the switches of the margin-aware learner.
fn decision_ui(ui: &mut Ui, learner: &mut LearnerSettings, problems: &[SettingProblem]) {
    if learner.algorithm.is_recursive() {
        REGULARISATION.ui(ui, &mut learner.regularisation, problems);
    }
    CALIBRATION.ui(ui, &mut learner.calibration, problems);
    margin_ui(ui, learner, problems);
    head_ui(ui, learner, problems);
}

/// Which score decides, and the gate before it.
fn head_ui(ui: &mut Ui, learner: &mut LearnerSettings, problems: &[SettingProblem]) {
    if !learner.algorithm.remembers_all() {
        return;
    }
    let has_layer = learner.algorithm.has_decision_layer();
    let heads: Vec<Head> = Head::ALL
        .into_iter()
        .filter(|head| has_layer || !head.uses_decision_layer())
        .collect();
    let names: Vec<&str> = std::iter::once("as the algorithm says")
        .chain(heads.iter().map(|head| head.name()))
        .collect();
    let current = heads.iter().position(|head| learner.head == Some(*head));
    let current = current.map_or(0, |place| place + 1);
    let help = learner
        .head
        .map_or("Which score decides between the classes.", Head::text);
    if let Some(chosen) = choice(ui, "Head", help, current, &names) {
        learner.head = chosen.checked_sub(1).map(|place| heads[place]);
    }
    if has_layer {
        switch(
            ui,
            "Gate",
            "Offsets of the decision count less for samples that fit no dictionary: keeps decisions when features are missing.",
            &mut learner.gate,
        );
    }
    for field in ["learner.head", "learner.gate"] {
        if let Some(problem) = problems.iter().find(|problem| problem.field == field) {
            elements::wrong(ui, &problem.message);
        }
    }
}

/// When a batch learner takes the place of an online one, or the other way round, the length
/// of the training follows: iterations are no passes.
fn fit_training(before: &Algorithm, experiment: &mut Experiment) {
    let now = &experiment.learner.algorithm;
    let differs = (before.is_batch(), before.is_baseline()) != (now.is_batch(), now.is_baseline());
    if differs {
        experiment.training.length = match (now.is_baseline(), now.is_batch()) {
            (true, _) => TrainingLength::Batches(1),
            (_, true) => TrainingLength::Batches(ITERATIONS),
            _ => TrainingLength::Passes(1.0),
        };
    }
}

fn kernel_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    learner: &mut LearnerSettings,
    problems: &[SettingProblem],
    actions: &mut Vec<Action>,
) {
    let kernel = &mut learner.kernel;
    let current = match kernel {
        Kernel::Linear => 0,
        Kernel::Polynomial { .. } => 1,
        Kernel::NormalisedPolynomial { .. } => 2,
        Kernel::Gaussian { .. }
        | Kernel::OfMedian {
            shape: Radial::Gaussian,
            ..
        } => 3,
        Kernel::Laplacian { .. }
        | Kernel::OfMedian {
            shape: Radial::Laplacian,
            ..
        } => 4,
    };
    let names = [
        "Linear",
        "Polynomial",
        "Normalised polynomial",
        "Gaussian",
        "Laplacian",
    ];
    if let Some(chosen) = choice(
        ui,
        declared::KERNEL.label,
        declared::KERNEL.help,
        current,
        &names,
    ) {
        let (degree, offset, width) = (2, 1.0, 1.0);
        *kernel = match chosen {
            0 => Kernel::Linear,
            1 => Kernel::Polynomial { degree, offset },
            2 => Kernel::NormalisedPolynomial { degree, offset },
            3 => Kernel::Gaussian { width },
            _ => Kernel::Laplacian { width },
        };
    }
    match kernel {
        Kernel::Linear => {}
        Kernel::Polynomial { degree, offset } | Kernel::NormalisedPolynomial { degree, offset } => {
            let mut whole = *degree as usize;
            if DEGREE.whole_ui(ui, &mut whole, problems).changed {
                *degree = u32::try_from(whole).unwrap_or(u32::MAX);
            }
            OFFSET.ui(ui, offset, &[]);
        }
        Kernel::Gaussian { width } | Kernel::Laplacian { width } => {
            WIDTH.ui(ui, width, problems);
            let can = workbench.data().loaded().is_some();
            let button = ui.add_enabled(can, egui::Button::new("Suggest a width"));
            let text = "The median distance between samples, a good first width; needs data";
            if button
                .on_hover_text(text)
                .on_disabled_hover_text(text)
                .clicked()
            {
                actions.push(Action::SuggestWidth);
            }
        }
        Kernel::OfMedian { multiple, .. } => {
            WIDTH.ui(ui, multiple, problems);
            elements::help(ui, "times the median distance between training samples");
        }
    }
}

fn dictionary_ui(ui: &mut Ui, learner: &mut LearnerSettings, problems: &[SettingProblem]) {
    if learner.algorithm.is_baseline() {
        elements::help(ui, "Baselines have no atoms");
        return;
    }
    N_ATOMS.whole_ui(ui, &mut learner.n_atoms, problems);
    SPARSITY.whole_ui(ui, &mut learner.sparsity, problems);
    if !learner.algorithm.is_batch() {
        BATCH_SIZE.whole_ui(ui, &mut learner.batch_size, problems);
    }
    let current = usize::from(learner.pursuit == Pursuit::Omp);
    let names = [
        "Order-recursive matching pursuit",
        "Orthogonal matching pursuit",
    ];
    if let Some(chosen) = choice(
        ui,
        declared::PURSUIT.label,
        declared::PURSUIT.help,
        current,
        &names,
    ) {
        learner.pursuit = [Pursuit::Ormp, Pursuit::Omp][chosen];
    }
    ERROR_LIMIT.ui(ui, &mut learner.error_limit, problems);
    start_ui(ui, learner, problems);
    if learner.algorithm.is_recursive() {
        normalisation_ui(ui, learner, problems);
    }
}

fn start_ui(ui: &mut Ui, learner: &mut LearnerSettings, problems: &[SettingProblem]) {
    let current = match learner.start {
        Start::Random => 0,
        Start::FarthestFirst { .. } => 1,
        Start::Given(_) => 2,
    };
    let is_given = matches!(learner.start, Start::Given(_));
    let names = [
        "Samples drawn at random",
        "Samples far from each other",
        "Given samples",
    ];
    let names = if is_given { &names[..] } else { &names[..2] };
    if let Some(chosen) = choice(
        ui,
        declared::START.label,
        declared::START.help,
        current,
        names,
    ) {
        learner.start = match chosen {
            0 => Start::Random,
            _ => Start::FarthestFirst { pool: 100 },
        };
    }
    if let Start::FarthestFirst { pool } = &mut learner.start {
        POOL.whole_ui(ui, pool, problems);
    }
}

fn normalisation_ui(ui: &mut Ui, learner: &mut LearnerSettings, problems: &[SettingProblem]) {
    let current = match learner.normalisation {
        Normalisation::Never => 0,
        Normalisation::WhenPruned => 1,
        Normalisation::EveryBatches(_) => 2,
        Normalisation::WhenOutOfRange { .. } => 3,
    };
    let names = [
        "Never",
        "When samples are removed",
        "Every 10 mini-batches",
        "When out of range",
    ];
    if let Some(chosen) = choice(
        ui,
        declared::NORMALISATION.label,
        declared::NORMALISATION.help,
        current,
        &names,
    ) {
        learner.normalisation = match chosen {
            0 => Normalisation::Never,
            1 => Normalisation::WhenPruned,
            2 => Normalisation::EveryBatches(10),
            _ => LearnerSettings::default().normalisation,
        };
    }
    let wrong = problems.iter().find(|p| p.field == "learner.normalisation");
    if let Some(problem) = wrong {
        elements::wrong(ui, &problem.message);
    }
}

fn pruning_ui(ui: &mut Ui, learner: &mut LearnerSettings, problems: &[SettingProblem]) {
    if learner.algorithm.keeps_all() {
        elements::help(ui, "All samples are kept; the budget does not apply");
        return;
    }
    BUDGET.whole_ui(ui, &mut learner.budget, problems);
    if let Some(headroom) = learner.algorithm.headroom_mut() {
        HEADROOM.whole_ui(ui, headroom, problems);
    }
    let Some(present) = learner.algorithm.pruning() else {
        return;
    };
    let prunings = all_prunings(&learner.algorithm);
    let names: Vec<&str> = prunings
        .iter()
        .map(|pruning| pruning_name(*pruning))
        .collect();
    let current = prunings.iter().position(|pruning| *pruning == present);
    let help = "Which kept samples are removed first when the budget is full. Default: least loss; KRLS: the oldest.";
    if let Some(chosen) = choice(ui, "Pruning", help, current.unwrap_or(usize::MAX), &names) {
        set_pruning(learner, prunings[chosen]);
    }
    if let Some(problem) = problems
        .iter()
        .find(|p| p.field == "learner.algorithm.pruning")
    {
        elements::wrong(ui, &problem.message);
    }
}

fn forgetting_ui(ui: &mut Ui, forgetting: &mut Forgetting, problems: &[SettingProblem]) {
    let shapes = [
        (ForgettingShape::Constant, "Constant"),
        (ForgettingShape::Step, "Step"),
        (ForgettingShape::Linear, "Linear"),
        (ForgettingShape::Quadratic, "Quadratic"),
        (ForgettingShape::Cubic, "Cubic"),
        (ForgettingShape::Exponential, "Exponential"),
    ];
    let names = shapes.map(|(_, name)| name);
    let current = shapes
        .iter()
        .position(|(shape, _)| *shape == forgetting.shape);
    if let Some(chosen) = choice(
        ui,
        declared::FORGETTING_SHAPE.label,
        declared::FORGETTING_SHAPE.help,
        current.unwrap_or(0),
        &names,
    ) {
        forgetting.shape = shapes[chosen].0;
    }
    START_VALUE.ui(ui, &mut forgetting.start_value, problems);
    if forgetting.shape != ForgettingShape::Constant {
        RAMP_SHARE.ui(ui, &mut forgetting.ramp_share, &[]);
    }
}

fn training_ui(ui: &mut Ui, training: &mut Training, problems: &[SettingProblem]) {
    let current = usize::from(matches!(training.length, TrainingLength::Batches(_)));
    let help = "How long a dictionary is trained. Default one pass.";
    let names = [
        "Passes through the data",
        "Number of mini-batches or iterations",
    ];
    if let Some(chosen) = choice(ui, "Length", help, current, &names) {
        training.length = match chosen {
            0 => TrainingLength::Passes(1.0),
            _ => TrainingLength::Batches(60),
        };
    }
    match &mut training.length {
        TrainingLength::Batches(n) => {
            BATCHES.whole_ui(ui, n, problems);
        }
        TrainingLength::Passes(passes) => {
            PASSES.ui(ui, passes, problems);
        }
    }
    let supplies = [Supply::Proportional, Supply::Repeat, Supply::Once];
    let current = supplies
        .iter()
        .position(|supply| *supply == training.supply);
    let current = current.unwrap_or(0);
    let names = [
        "In proportion to their size",
        "A whole mini-batch; small classes repeat",
        "Every sample once",
    ];
    if let Some(chosen) = choice(
        ui,
        experiment_settings::SUPPLY.label,
        experiment_settings::SUPPLY.help,
        current,
        &names,
    ) {
        training.supply = supplies[chosen];
    }
}

/// Tests with a share of the features set to zero, on or off.
fn missing_shares_ui(ui: &mut Ui, shares: &mut Vec<f64>) {
    let mut wanted = !shares.is_empty();
    let text = "After training, tests with 10 to 90 % of the features set to zero. Default off.";
    if switch(ui, "Test with missing features", text, &mut wanted) {
        *shares = match wanted {
            true => (0..=9).map(|tenth| f64::from(tenth) / 10.0).collect(),
            false => Vec::new(),
        };
    }
}
