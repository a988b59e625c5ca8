//! A run driven by its buttons, and watched.

use std::time::{Duration, Instant};

use atomscope::workbench::{Action, Stage, Workbench};
use atomscope_engine::experiment::{ProfileEvent, Status};
use egui::Theme;
use egui_kittest::kittest::{NodeT, Queryable};

use super::driving::{Window, apply, click, loaded, show, status, trained, until, until_complete};

#[test]
fn a_run_is_started_paused_stepped_and_stopped_by_its_buttons() {
    let mut window = loaded(Theme::Light);
    let workbench = window.harness.state_mut().workbench_mut();
    workbench.apply(Action::LimitSpeed(Some(20.0)));
    click(&mut window, "Start");
    until(&mut window, "it runs", |w| {
        status(w) == Some(Status::Running)
    });
    until(&mut window, "a test was made", |w| {
        w.shown_part().is_some_and(|part| !part.tests.is_empty())
    });
    click(&mut window, "Pause");
    until(&mut window, "it rests", |w| {
        status(w) == Some(Status::Paused)
    });
    let n_rounds = |w: &Workbench| w.shown_part().map_or(0, |part| part.rounds.len());
    let before = n_rounds(window.harness.state().workbench());
    click(&mut window, "Step");
    until(&mut window, "a step is done", |w| n_rounds(w) == before + 1);
    click(&mut window, "Stop");
    until(&mut window, "it stops", |w| {
        status(w) == Some(Status::Stopped)
    });
}

#[test]
fn the_confusion_matrix_follows_the_training_and_its_replay() {
    let mut window = trained(Theme::Light);
    let cells = |window: &Window| -> Vec<String> {
        let found = window.harness.query_all_by_label_contains("predicted");
        found
            .filter_map(|node| NodeT::accesskit_node(&node).label())
            .collect()
    };
    window.harness.step();
    let last = cells(&window);
    assert_eq!(last.len(), 25, "five classes: {last:?}");
    let workbench = window.harness.state_mut().workbench_mut();
    workbench.apply(Action::Replay(Some(0)));
    window.harness.step();
    window.harness.step();
    assert_ne!(cells(&window), last, "before training it decided otherwise");
    click(&mut window, "live");
    assert_eq!(cells(&window), last);
}

/// How long it takes from a click on Stop until the window says so, read from its labels.
fn time_to_stop() -> Duration {
    let mut window = loaded(Theme::Light);
    apply(&mut window, Action::LimitSpeed(Some(20.0)));
    click(&mut window, "Start");
    until(&mut window, "a test was made", |w| {
        w.shown_part().is_some_and(|part| !part.tests.is_empty())
    });
    window.harness.get_by_label("Stop").click();
    let begun = Instant::now();
    let says_so = |window: &Window| {
        let words = ["stopped", "ending"];
        let shown = |word: &&str| window.harness.query_all_by_label_contains(word).count() > 0;
        words.iter().any(shown)
    };
    while !says_so(&window) {
        window.harness.step();
        let waited = begun.elapsed();
        assert!(waited < Duration::from_secs(5), "Stop shows no effect");
    }
    let waited = begun.elapsed();
    until(&mut window, "it stops", |w| {
        status(w) == Some(Status::Stopped)
    });
    waited
}

#[test]
fn a_click_on_stop_shows_its_effect_at_once() {
    // A machine that does other work as well may keep the window waiting, but not every time.
    let waited: Vec<Duration> = (0..5).map(|_| time_to_stop()).collect();
    let shortest = waited.iter().min().expect("it was stopped");
    assert!(*shortest < Duration::from_millis(100), "{waited:?}");
}

#[test]
fn samples_and_their_comings_and_goings_are_known_before_a_fold_is_complete() {
    let mut window = loaded(Theme::Light);
    apply(&mut window, Action::LimitSpeed(Some(20.0)));
    click(&mut window, "Start");
    until(&mut window, "a test was made", |w| {
        let part = w.shown_part();
        part.is_some_and(|part| part.tests.len() > 1 && part.rounds.len() > 2)
    });
    click(&mut window, "Pause");
    let workbench = window.harness.state().workbench();
    let part = workbench.shown_part().expect("a fold has begun");
    assert!(part.record.is_none(), "the fold is not complete");
    let n_admitted: u32 = part
        .rounds
        .iter()
        .flat_map(|round| &round.classes)
        .map(|class| class.admitted)
        .sum();
    let admitted = |entry: &atomscope_engine::experiment::LogEntry| {
        matches!(entry.event, ProfileEvent::Admitted(_))
    };
    let n_logged = part.log().entries().filter(admitted).count();
    assert_eq!(n_logged, n_admitted as usize, "every admission is logged");
    apply(
        &mut window,
        Action::Enlarge(Some(atomscope::workbench::Panel::Log)),
    );
    window.harness.step();
    assert!(
        window
            .harness
            .query_all_by_label_contains("admitted")
            .count()
            > 0
    );
    let confusion = workbench_of(&window)
        .training()
        .run()
        .expect("a run")
        .confusion();
    let cell = (0..5)
        .find(|class| confusion.count(*class, *class) > 0)
        .expect("something is right");
    apply(&mut window, Action::ChooseCell(Some((cell, cell))));
    show(&mut window, Stage::Evaluate);
    let listed = window.harness.query_all_by_label_contains("margin").count();
    assert!(listed > 0, "the samples of the cell are listed");
}

fn workbench_of(window: &Window) -> &Workbench {
    window.harness.state().workbench()
}

#[test]
fn a_final_model_is_one_click_after_the_folds() {
    let mut window = trained(Theme::Light);
    show(&mut window, Stage::Evaluate);
    click(&mut window, "Train a final model");
    until(&mut window, "it has begun", |w| !w.can_add_final_model());
    until_complete(&mut window);
    let run = workbench_of(&window).training().run().expect("a run");
    let last = run.part(atomscope_engine::experiment::Part::Final);
    assert!(last.is_some_and(|part| part.model.is_some()));
    assert_eq!(run.folds().count(), 2, "the folds are still there");
    window.harness.get_by_label("Final model trained");
}
