//! What the settings of a learner mean: memory, cost, and what changes against the last run.

use egui::{RichText, Ui};

use crate::ui::elements::{fact, help, section};
use crate::ui::numbers::{count, percent, short};
use crate::ui::theme;
use crate::ui::widgets::{AdmissionPlot, SchedulePlot};
use crate::workbench::{
    Action, Criterion, Draft, LearnerChange, NotMeasured, Workbench, what_changed,
};
use atomscope_engine::experiment::Experiment;
use atomscope_engine::learner::LearnerSettings;
use atomscope_engine::records::counted;

/// The right side of the Learner page.
pub(super) fn meaning_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    if draft.experiment.learner.algorithm.is_recursive() {
        section(ui, "Forgetting: λ against mini-batches");
        let plot = SchedulePlot {
            n_rounds: n_rounds(workbench, &draft.experiment),
            current_round: None,
            height: 170.0,
        };
        plot.show(ui, &mut draft.experiment.learner.forgetting);
    }
    cost_ui(ui, workbench, &draft.experiment.learner);
    admitted_ui(ui, workbench, &draft.experiment.learner);
    changes_ui(ui, workbench, &draft.experiment, actions);
}

/// Rounds of a fold with the draft's settings, as far as the data tell.
fn n_rounds(workbench: &Workbench, experiment: &Experiment) -> usize {
    let Some(trained) = largest_training_class(workbench) else {
        return 60;
    };
    let batch_size = experiment.learner.batch_size.max(1);
    let learner = LearnerSettings {
        batch_size,
        ..experiment.learner.clone()
    };
    experiment.training.n_rounds(&learner, trained)
}

/// Training samples of the largest class in a fold, as far as the data tell.
fn largest_training_class(workbench: &Workbench) -> Option<usize> {
    let counts = workbench.data().loaded()?.dataset.class_counts();
    let largest = counts.into_iter().max().unwrap_or(0);
    let n_folds = workbench
        .split()
        .made()
        .map_or(5, |made| made.split.n_folds());
    Some(largest - largest / n_folds.max(2))
}

/// Operations and memory that the settings ask for.
fn cost_ui(ui: &mut Ui, workbench: &Workbench, learner: &LearnerSettings) {
    section(ui, "Cost");
    let loaded = workbench.data().loaded();
    let (n_features, n_classes) = match loaded {
        Some(loaded) => (loaded.dataset.n_features(), loaded.dataset.n_classes()),
        None => (100, 2),
    };
    let keeps_all = learner.algorithm.keeps_all();
    let kept = match keeps_all {
        true => largest_training_class(workbench).unwrap_or(learner.budget),
        false => learner.budget,
    };
    let [m, l, q, s, n] = [
        learner.batch_size,
        kept,
        learner.n_atoms,
        learner.sparsity,
        n_features,
    ]
    .map(|size| size as f64);
    // Kernel values of the mini-batch, rank-M updates of K⁻¹ and U, sparse codes, Ψ.
    let recursive = 2.0 * m * l * n + 4.0 * m * l * l + 4.0 * m * q * l + m * s * q * q;
    // U K, and codes of all samples.
    let batch = 2.0 * q * l * l + l * s * q * q;
    let (step, operations) = match learner.algorithm.is_batch() {
        true => ("Iteration and class", batch),
        false => ("Mini-batch and class", recursive),
    };
    let bytes = 8.0 * (l * n + 2.0 * l * l + 2.0 * q * l + 3.0 * q * q) * n_classes as f64;
    fact(ui, step, format!("≈ {} operations", count(operations)));
    fact(
        ui,
        "Memory",
        format!("≈ {}B for {}", count(bytes), counted(n_classes, "class")),
    );
    let timing = workbench
        .training()
        .run()
        .and_then(|run| run.summary.as_ref())
        .map(|summary| summary.timing);
    if let Some(grow) = timing.and_then(|timing| timing.grow_us_per_batch) {
        fact(ui, "Measured, last run", format!("{} µs", short(grow)));
    }
    if loaded.is_none() {
        help(
            ui,
            "Estimated for 100 features and 2 classes: nothing is loaded",
        );
    }
}

/// The share of samples that the last run admitted, and would have at other thresholds.
fn admitted_ui(ui: &mut Ui, workbench: &Workbench, learner: &LearnerSettings) {
    let Some(part) = workbench.shown_part() else {
        return;
    };
    section(ui, "Growing: what the last run admitted");
    let (mut admitted, mut seen) = (0_u64, 0_u64);
    for class in part.rounds.iter().flat_map(|round| &round.classes) {
        admitted += u64::from(class.admitted);
        seen += u64::from(class.admitted) + u64::from(class.rejected);
    }
    if seen > 0 {
        let share = percent(admitted as f64 / seen as f64);
        fact(ui, "Admitted", format!("{share} of the samples"));
    }
    let Some((criterion, threshold)) = Criterion::of(learner) else {
        help(ui, "These settings admit every sample");
        return;
    };
    let admissions = match workbench.admissions() {
        Ok(admissions) => admissions,
        Err(NotMeasured::OtherRun) => {
            let text = "The last run had a different criterion, kernel or samples; the share for these settings is known after the next run";
            help(ui, text);
            return;
        }
        Err(NotMeasured::Nothing) => {
            help(ui, "No run has been measured yet");
            return;
        }
    };
    let share = percent(admissions.share_at(threshold));
    let threshold_text = format!("Threshold {}", short(threshold));
    fact(ui, &threshold_text, format!("would have admitted {share}"));
    let is_novelty = criterion == Criterion::Novelty;
    let range = if is_novelty { (1e-6, 1.0) } else { (0.0, 1.0) };
    AdmissionPlot {
        share_at: &|threshold| admissions.share_at(threshold),
        threshold,
        range,
        logarithmic: is_novelty,
        height: 150.0,
    }
    .show(ui);
    let text = format!(
        "Share of {} samples of the last run that each threshold would have admitted, measured against the samples that were kept then",
        admissions.n_samples()
    );
    help(ui, &text);
}

/// What differs from the run, and what can be done about it.
fn changes_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    experiment: &Experiment,
    actions: &mut Vec<Action>,
) {
    let Some(run) = workbench.training().run() else {
        return;
    };
    section(ui, "Against the last run");
    let changes = what_changed(&run.experiment_now(), experiment);
    if changes.is_empty() || run.is_of(experiment) {
        help(ui, "Nothing has changed");
        return;
    }
    let tones = theme::tones(ui);
    for change in &changes {
        ui.label(RichText::new(change).color(tones.stale));
    }
    ui.add_space(theme::GRID);
    if run.is_alive() {
        let can = run.learner_now().check_change(&experiment.learner);
        let button = ui.add_enabled(
            can.is_ok(),
            egui::Button::new("Apply to the running training"),
        );
        let text = "From the next round on; the change is recorded with the run";
        let button = match &can {
            Ok(()) => button.on_hover_text(text),
            Err(error) => button.on_disabled_hover_text(error.to_string()),
        };
        if button.clicked() {
            let learner = Box::new(experiment.learner.clone());
            actions.push(Action::TuneRun(LearnerChange::All(learner)));
        }
    } else {
        let can = workbench.obstacle().is_none();
        let button = ui.add_enabled(can, egui::Button::new("Train with these settings"));
        if button
            .on_hover_text("The curve of the last run is kept for comparison")
            .clicked()
        {
            actions.push(Action::Start);
            actions.push(Action::Show(crate::workbench::Stage::Train));
        }
    }
}
