//! The Compare page: runs, sessions and columns.

use std::path::{Path, PathBuf};

use atomscope::workbench::{Action, CompareAction, ResultColumn, Stage};
use atomscope_engine::experiment::Experiment;
use atomscope_engine::learner::LearnerSettings;
use atomscope_engine::session::Session;
use egui::Theme;
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable;

use super::driving::{Window, apply, click, says, show, trained, until, until_complete};

fn compare(window: &mut Window, action: CompareAction) {
    apply(window, Action::Compare(action));
    window.harness.step();
}

/// A window with a run, at the Compare page.
fn with_run() -> Window {
    let mut window = trained(Theme::Light);
    show(&mut window, Stage::Compare);
    until(&mut window, "the run takes part", |w| {
        w.comparison().compared().len() == 1 && !w.is_busy()
    });
    window
}

/// A session beside, with another learner, not trained.
fn other_session(window: &Window, folder: &Path) -> PathBuf {
    let own = window
        .harness
        .state()
        .workbench()
        .draft()
        .experiment
        .clone();
    let learner = LearnerSettings {
        n_atoms: own.learner.n_atoms,
        sparsity: own.learner.sparsity,
        batch_size: own.learner.batch_size,
        budget: own.learner.budget,
        ..LearnerSettings::evidence_preserving()
    };
    let path = folder.join("evidence.ron");
    let mut session = Session::new(Experiment { learner, ..own });
    session.save_as(&path).expect("writable");
    path
}

#[test]
fn a_run_and_a_session_are_trained_on_the_same_folds_and_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = with_run();
    let session = other_session(&window, folder.path());
    compare(&mut window, CompareAction::Add(session));
    until(&mut window, "the session is there", |w| {
        w.comparison().contenders().len() == 2 && !w.is_busy()
    });
    assert!(says(&window, "not trained"));
    compare(&mut window, CompareAction::SetSeeds(2));
    click(&mut window, "Train all ticked");
    until(&mut window, "both are trained", |w| {
        w.comparison().training_share().is_none() && w.comparison().compared().len() == 2
    });
    let compared = window.harness.state().workbench().comparison().compared();
    let folds: Vec<usize> = compared.iter().map(|run| run.outcomes.len()).collect();
    assert!(folds[0] >= 4 && folds[0] == folds[1], "{folds:?}");
    let pairs = format!("{} pairs", folds[0]);
    assert!(says(&window, "Accuracy of the compared runs"));
    assert!(says(&window, &pairs));
    // Left out, it takes no part in the pictures; put away, it is gone.
    let ticked = window
        .harness
        .get_by_role_and_label(Role::CheckBox, "evidence");
    ticked.click();
    window.harness.step();
    window.harness.step();
    let comparison = window.harness.state().workbench().comparison();
    assert_eq!(comparison.compared().len(), 1);
    click(&mut window, "Remove evidence");
    let comparison = window.harness.state().workbench().comparison();
    assert_eq!(comparison.contenders().len(), 1);
    let report = folder.path().join("report.html");
    compare(&mut window, CompareAction::SaveReport(report.clone()));
    until(&mut window, "it is written", |w| !w.is_busy());
    let page = std::fs::read_to_string(report).expect("written");
    assert!(page.contains("margin KRLS") && page.contains("<svg"));
}

#[test]
fn earlier_runs_stay_and_columns_can_be_hidden() {
    let mut window = with_run();
    let workbench = window.harness.state_mut().workbench_mut();
    let mut draft = workbench.draft().clone();
    draft.experiment.learner.n_atoms -= 1;
    workbench.edit(draft, false);
    apply(&mut window, Action::Start);
    until_complete(&mut window);
    until(&mut window, "both are there", |w| {
        w.comparison().compared().len() == 2 && !w.is_busy()
    });
    assert!(says(&window, "run 1: margin KRLS") && says(&window, "run 2: margin KRLS"));
    assert!(says(&window, " pairs"));
    let shows = |window: &Window| {
        let comparison = window.harness.state().workbench().comparison();
        comparison.shows(ResultColumn::Pruning)
    };
    assert!(shows(&window));
    compare(
        &mut window,
        CompareAction::ToggleColumn(ResultColumn::Pruning),
    );
    assert!(!shows(&window));
}
