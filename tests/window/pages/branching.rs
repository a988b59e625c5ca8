//! Branch here: another future of a run from the window.

use atomscope::workbench::{Action, CompareAction, CompareTab, Otherwise, Stage, Workbench};
use atomscope_engine::experiment::Status;
use atomscope_engine::learner::Forgetting;
use egui::Theme;

use super::driving::{
    Window, apply, click, empty_window, loaded, says, show, status, trained, until, until_complete,
};

fn branches(workbench: &Workbench) -> Vec<String> {
    let contenders = workbench.comparison().contenders().iter();
    let names = contenders.map(|contender| contender.name.clone());
    names
        .filter(|name| name.starts_with("branch at "))
        .collect()
}

fn until_branched(window: &mut Window, n: usize) {
    until(window, "the branch is taken", |w| {
        w.branching_share().is_none() && branches(w).len() == n
    });
}

#[test]
fn a_run_is_taken_up_at_an_earlier_mini_batch_and_stands_beside_itself() {
    let mut window = trained(Theme::Light);
    let sweep = CompareAction::Show(CompareTab::Sweep);
    apply(&mut window, Action::Compare(sweep));
    show(&mut window, Stage::Train);
    apply(&mut window, Action::Replay(Some(4)));
    let mut draft = window.harness.state().workbench().draft().clone();
    draft.experiment.learner.forgetting = Forgetting::constant(0.5);
    let workbench = window.harness.state_mut().workbench_mut();
    workbench.edit(draft, false);
    window.harness.step();
    click(&mut window, "Branch here");
    until_branched(&mut window, 1);
    let workbench = window.harness.state().workbench();
    assert_eq!(workbench.view().page, Stage::Compare);
    assert_eq!(workbench.comparison().tab(), CompareTab::Runs);
    assert_eq!(workbench.comparison().compared().len(), 2);
    assert!(says(&window, "branch at 4: "));
    let notices = workbench.notices().list();
    let told = notices.iter().any(|n| n.text.contains("sign test p"));
    assert!(told, "both futures are paired");

    // A sample less, with the settings of the run.
    apply(&mut window, Action::Undo);
    let sample = {
        let run = window.harness.state().workbench().training().run();
        let folds = run.expect("trained").folds().next().expect("a fold").1;
        folds.decisions().expect("it was tested").sample[0]
    };
    apply(&mut window, Action::Branch(Otherwise::Without(sample)));
    until_branched(&mut window, 2);
    assert!(branches(window.harness.state().workbench())[1].contains("without "));
}

#[test]
fn a_run_that_pauses_is_branched_from_and_the_branch_comes_back_with_the_session() {
    let mut window = loaded(Theme::Dark);
    show(&mut window, Stage::Train);
    let n_done = |w: &Workbench| w.training().run().map_or(0, |run| run.progress.n_done);
    for _ in 0..2 {
        let before = n_done(window.harness.state().workbench());
        apply(&mut window, Action::Step);
        until(&mut window, "a round is done", |w| {
            n_done(w) > before && status(w) == Some(Status::Paused)
        });
    }
    let mut draft = window.harness.state().workbench().draft().clone();
    draft.experiment.learner.forgetting = Forgetting::constant(0.5);
    let workbench = window.harness.state_mut().workbench_mut();
    workbench.edit(draft, false);
    apply(&mut window, Action::Branch(Otherwise::Settings));
    until_branched(&mut window, 1);
    let workbench = window.harness.state().workbench();
    let notices = workbench.notices().list();
    let said = notices.iter().any(|n| n.text.contains("no complete fold"));
    assert!(said, "nothing can be paired yet");
    let paused = status(workbench);
    assert_eq!(paused, Some(Status::Paused), "the run stays as it was");
    apply(&mut window, Action::Start);
    until_complete(&mut window);
    until(&mut window, "both are compared", |w| {
        w.comparison().compared().len() == 2
    });

    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("branched.ron");
    apply(&mut window, Action::SaveAs(path.clone()));
    until(&mut window, "it is saved", |w| {
        !w.is_saving() && path.is_file()
    });
    let mut opened = empty_window();
    apply(&mut opened, Action::Open(path));
    until(&mut opened, "the run is shown", |w| {
        status(w) == Some(Status::Complete) && !w.is_busy()
    });
    until_branched(&mut opened, 1);
    until(&mut opened, "both are compared", |w| {
        w.comparison().compared().len() == 2
    });
}
