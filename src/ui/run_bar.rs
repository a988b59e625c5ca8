//! The run bar of the workbench: what it does, and what its buttons ask for.

use egui::Ui;

use super::numbers::{clock, count, percent};
use super::widgets::{RunBar, RunPhase, RunRequest};
use crate::workbench::{Action, RunView, Workbench};
use atomscope_engine::experiment::{Part, Status};

/// The run bar.
pub(super) fn run_bar_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let training = workbench.training();
    let run = training.run();
    let phase = match run.map(|run| &run.status) {
        Some(Status::Paused) if training.is_alive() => RunPhase::Paused,
        Some(_) if training.is_alive() => RunPhase::Running,
        _ => RunPhase::Idle,
    };
    let obstacle = workbench.obstacle().filter(|_| !training.is_alive());
    let loading = workbench.loading_share();
    let facts = match (loading, run, &obstacle) {
        (Some(_), _, _) => vec!["loading data".to_owned()],
        (None, Some(run), _) => facts(run, workbench),
        (None, None, Some(_)) if workbench.data().lacks_classes() => {
            vec!["no classes to train on: see Records".to_owned()]
        }
        (None, None, Some(_)) if workbench.data().error().is_some() => {
            vec!["the data cannot be loaded: see Records".to_owned()]
        }
        (None, None, Some(obstacle)) => vec![obstacle.clone()],
        (None, None, None) if training.is_starting() => vec!["preparing the run".to_owned()],
        (None, None, None) => vec!["ready to train".to_owned()],
    };
    let bar = RunBar {
        phase,
        obstacle: obstacle.as_deref(),
        progress: loading.or(run.map(|run| run.progress.share())),
        facts: &facts,
        n_notices: workbench.notices().list().len(),
        gravest: workbench.notices().gravest(),
    };
    actions.extend(bar.show(ui).map(|request| match request {
        RunRequest::Start => Action::Start,
        RunRequest::Pause => Action::Pause,
        RunRequest::Step => Action::Step,
        RunRequest::Stop => Action::Stop,
        RunRequest::Notices => Action::ToggleNotices,
    }));
}

/// Fold, batch, accuracy, speed, time left.
fn facts(run: &RunView, workbench: &Workbench) -> Vec<String> {
    let mut facts = Vec::new();
    match (&run.status, run.active.first()) {
        (Status::Complete, _) => facts.push("complete".to_owned()),
        (Status::Stopped, _) => facts.push("stopped".to_owned()),
        (Status::Ending, _) => facts.push("ending".to_owned()),
        (Status::Failed(_), _) => facts.push("failed".to_owned()),
        (Status::Running | Status::Paused, Some((part @ Part::Fold(_), batch))) => {
            let folds: Vec<String> = run
                .active
                .iter()
                .filter_map(|(part, _)| match part {
                    Part::Fold(fold) => Some((fold + 1).to_string()),
                    Part::Final => None,
                })
                .collect();
            let word = if folds.len() == 1 { "fold" } else { "folds" };
            let folds = folds.join(" and ");
            facts.push(format!("{word} {folds} of {}", run.n_folds()));
            facts.push(match run.is_choosing(*part) {
                true => "choosing settings (see Learner)".to_owned(),
                false => format!("batch {batch} of {}", run.rounds_of(*part)),
            });
        }
        (Status::Running | Status::Paused, Some((Part::Final, batch))) => {
            let n_rounds = run.rounds_of(Part::Final);
            facts.push(format!("final model, batch {batch} of {n_rounds}"));
        }
        (Status::Running | Status::Paused, None) => {}
    }
    if let Some(accuracy) = run.accuracy() {
        facts.push(format!("{} right", percent(accuracy)));
    }
    if let Some(rate) = run.samples_per_s() {
        facts.push(format!("{} samples/s", count(rate)));
    }
    match (&run.status, run.seconds_left(), workbench.stale()) {
        (Status::Paused, _, _) => facts.push("paused".to_owned()),
        (Status::Running, Some(_), _) if workbench.training().rounds_per_s().is_some() => {
            facts.push("slowed down (Run → Speed)".to_owned());
        }
        (Status::Running, Some(left), _) => facts.push(format!("{} left", clock(left))),
        (_, _, Some(reason)) => facts.push(reason),
        _ => {}
    }
    facts
}
