//! The settings that may change while a run continues, beside what they change.

use egui::{ScrollArea, Ui};

use crate::ui::elements;
use crate::ui::theme;
use crate::ui::widgets::{Edit, SchedulePlot};
use crate::workbench::{Action, Draft, LearnerChange, Workbench, pruning_name};
use atomscope_engine::learner::declared::{BUDGET, GROWING_THRESHOLD, NOVELTY};
use atomscope_engine::learner::{Algorithm, Growing, LearnerSettings, Pruning};

use super::algorithm::{algorithm_numbers_ui, all_prunings};
use super::fields::SettingField;
use super::learner::learner_problem;

/// Forgetting, budget, thresholds and pruning.
pub(super) fn tune_ui(
    ui: &mut Ui,
    height: f32,
    workbench: &Workbench,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    let learner = &mut draft.experiment.learner;
    let problems = learner.problems();
    let (mut forgetting, mut budget, mut algorithm) = <(Edit, Edit, Edit)>::default();
    ScrollArea::vertical().max_height(height).show(ui, |ui| {
        let n_rounds = workbench.training().run().map_or(60, |run| run.n_rounds);
        let current = workbench.shown_part().and_then(|part| part.rounds.last());
        let plot = SchedulePlot {
            n_rounds,
            current_round: current.map(|round| round.batch),
            height: (height * 0.5).clamp(90.0, 180.0),
        };
        if learner.algorithm.is_recursive() {
            forgetting = plot.show(ui, &mut learner.forgetting);
            ui.add_space(4.0);
        }
        if !learner.algorithm.keeps_all() {
            budget = BUDGET.whole_ui(ui, &mut learner.budget, &problems);
        }
        algorithm = criterion_ui(ui, learner, &problems);
        if let Some(pruning) = pruning_ui(ui, workbench, learner) {
            set_pruning(learner, pruning);
            algorithm.finished = true;
        }
    });
    if let Some(problem) = learner_problem(&problems) {
        elements::wrong(ui, problem);
    } else if workbench.training().is_alive() {
        // What was changed alone: another field may hold something that is not meant for the run.
        let changes = [
            (forgetting, LearnerChange::Forgetting(learner.forgetting)),
            (budget, LearnerChange::Budget(learner.budget)),
            (
                algorithm,
                LearnerChange::Algorithm(learner.algorithm.clone()),
            ),
        ];
        let finished = changes.into_iter().filter(|(edit, _)| edit.finished);
        actions.extend(finished.map(|(_, change)| Action::TuneRun(change)));
    }
    ui.add_space(theme::GRID / 2.0);
}

/// The threshold of the growing criterion, whatever it is called, or what else can be tuned.
fn criterion_ui(
    ui: &mut Ui,
    learner: &mut LearnerSettings,
    problems: &[atomscope_engine::settings::SettingProblem],
) -> Edit {
    match &mut learner.algorithm {
        Algorithm::Krls { growing, .. } => match growing {
            Growing::Always => Edit::default(),
            Growing::Coherence { threshold }
            | Growing::Representation { threshold }
            | Growing::RepresentationAsPublished { threshold }
            | Growing::Projection { threshold } => GROWING_THRESHOLD.ui(ui, threshold, problems),
        },
        Algorithm::Evidence { novelty, .. } | Algorithm::Margin { novelty, .. } => {
            NOVELTY.ui(ui, novelty, problems)
        }
        other => algorithm_numbers_ui(ui, other, problems),
    }
}

/// The pruning strategies that a run can change to.
fn pruning_ui(ui: &mut Ui, workbench: &Workbench, learner: &LearnerSettings) -> Option<Pruning> {
    let present = learner.algorithm.pruning()?;
    let alive = workbench.training().run().filter(|run| run.is_alive());
    let possible: Vec<Pruning> = all_prunings(&learner.algorithm)
        .into_iter()
        .filter(|pruning| {
            alive.is_none_or(|run| {
                let mut tried = run.learner_now().clone();
                set_pruning(&mut tried, *pruning);
                run.learner_now().check_change(&tried).is_ok()
            })
        })
        .collect();
    let names: Vec<&str> = possible
        .iter()
        .map(|pruning| pruning_name(*pruning))
        .collect();
    let current = possible.iter().position(|pruning| *pruning == present);
    let help = "Which kept samples are removed first when the budget is full. Default: least loss; KRLS: the oldest.";
    let chosen = elements::choice(ui, "Pruning", help, current.unwrap_or(usize::MAX), &names)?;
    Some(possible[chosen])
}

/// Changes which samples leave first.
pub(super) fn set_pruning(learner: &mut LearnerSettings, wanted: Pruning) {
    if let Some(pruning) = learner.algorithm.pruning_mut() {
        *pruning = wanted;
    }
}
