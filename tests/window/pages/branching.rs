//! Branch here: another future of a run from the window.

use atomscope::workbench::{Action, Otherwise, Stage, Workbench};
use atomscope_engine::learner::Forgetting;
use egui::Theme;

use super::driving::{Window, apply, click, says, show, trained, until};

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
