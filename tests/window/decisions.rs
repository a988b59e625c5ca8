//! From decision to signal and back, in the window: cursors by key, the ribbon, links both ways, stretches put right
//! by hand, the report.

use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use atomscope::ui::app::App;
use atomscope::ui::theme;
use atomscope::workbench::explore::{
    BesideChoice, ExploreAction, FaultAction, ModelChoice, RibbonAction,
};
use atomscope::workbench::{Action, Ask, Draft, PathAsk, Stage, StageState, Workbench};
use atomscope_engine::dataset::{DataSettings, StretchCorrection};
use atomscope_engine::experiment::{Experiment, Status};
use atomscope_engine::simulate::feeder::FeederSettings;
use atomscope_engine::split::SplitPlan;
use egui::{Key, Theme, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

const PATIENCE: Duration = Duration::from_secs(300);

type Window = Harness<'static, App>;

fn draft() -> Draft {
    let mut experiment = Experiment {
        data: DataSettings::feeder_faults(FeederSettings {
            records_per_class: 12,
            cycles_before: 2,
            cycles_after: 3,
            ..FeederSettings::default()
        }),
        split: SplitPlan::KFold {
            n_folds: 2,
            seed: 1,
        },
        ..Experiment::default()
    };
    experiment.learner.n_atoms = 4;
    experiment.learner.sparsity = 2;
    experiment.learner.batch_size = 2;
    experiment.learner.budget = 6;
    experiment.tests.n_tests = 2;
    Draft {
        experiment,
        ..Draft::default()
    }
}

fn until(window: &mut Window, what: &str, done: impl Fn(&Workbench) -> bool) {
    let begun = Instant::now();
    loop {
        window.step();
        if done(window.state().workbench()) {
            window.step();
            window.step();
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}");
        sleep(Duration::from_millis(2));
    }
}

fn apply(window: &mut Window, action: Action) {
    window.state_mut().workbench_mut().apply(action);
    window.step();
}

fn explore(window: &mut Window, action: ExploreAction) {
    apply(window, Action::Explore(action));
}

fn press(window: &mut Window, key: Key) {
    window.key_press(key);
    window.step();
    window.step();
}

fn click(window: &mut Window, label: &str) {
    // Not by the pointer: what is scrolled out of sight is reached too.
    window.get_by_label(label).click_accesskit();
    window.step();
    window.step();
}

fn shows(window: &Window, text: &str) -> bool {
    window.query_all_by_label_contains(text).count() > 0
}

/// A window with loaded data, at a record of them.
fn exploring(source: usize) -> Window {
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    workbench.edit(draft(), false);
    workbench.apply(Action::LoadData);
    let app = App::new(workbench, false);
    let mut window = Harness::builder()
        .with_size(vec2(1600.0, 1000.0))
        .with_theme(Theme::Light)
        .with_context_setup(theme::install)
        .build_ui_state(|ui, app: &mut App| app.frame(ui), app);
    until(&mut window, "data are loaded", |w| {
        w.data().loaded().is_some() && w.split().made().is_some()
    });
    open(&mut window, source);
    window
}

fn open(window: &mut Window, source: usize) {
    explore(
        window,
        ExploreAction::OpenRecord {
            source,
            stretch: None,
        },
    );
    until(window, "the record is shown and measured", |w| {
        let is_it = w
            .explore()
            .opened()
            .is_some_and(|o| o.source == Some(source));
        is_it && w.explore().fault().measures().is_some() && !w.is_busy()
    });
}

/// The same with a trained run and its final model.
fn judged(source: usize) -> Window {
    let mut window = exploring(source);
    apply(&mut window, Action::TrainFinalModel(true));
    apply(&mut window, Action::Start);
    until(&mut window, "training is complete", |w| {
        let status = w.training().run().map(|run| run.status.clone());
        status == Some(Status::Complete)
    });
    apply(&mut window, Action::Show(Stage::Explore));
    until(&mut window, "the record is judged", |w| {
        w.explore().ribbon().judged().is_some()
    });
    window
}

fn cursor_s(window: &Window, cursor: usize) -> f64 {
    let workbench = window.state().workbench();
    let look = workbench
        .explore()
        .fault()
        .view()
        .expect("a record is shown");
    look.cursors_s[cursor]
}

#[test]
fn cursors_are_moved_by_keys_and_measured_where_they_stand() {
    let mut window = exploring(3);
    let record = {
        let workbench = window.state().workbench();
        workbench
            .explore()
            .fault()
            .record()
            .expect("it is shown")
            .clone()
    };
    let times = &record.signals[0].times;
    let step_s = times.time_s(1).expect("two samples") - times.time_s(0).expect("a sample");
    press(&mut window, Key::A);
    press(&mut window, Key::Home);
    let before = cursor_s(&window, 0);
    for _ in 0..3 {
        press(&mut window, Key::ArrowRight);
    }
    let moved = cursor_s(&window, 0) - before;
    assert!((moved - 3.0 * step_s).abs() < 1e-9, "{moved} s");
    press(&mut window, Key::ArrowLeft);
    let moved = cursor_s(&window, 0) - before;
    assert!((moved - 2.0 * step_s).abs() < 1e-9, "{moved} s");
    press(&mut window, Key::B);
    let (other, before) = (cursor_s(&window, 0), cursor_s(&window, 1));
    press(&mut window, Key::PageUp);
    let cycle_s = 1.0 / record.facts.nominal_hz.expect("it is told");
    let moved = before - cursor_s(&window, 1);
    assert!((moved - cycle_s).abs() < step_s, "{moved} s");
    assert_eq!(cursor_s(&window, 0), other);
    let wanted = cursor_s(&window, 0);
    until(&mut window, "it is measured there", |w| {
        let measures = w.explore().fault().measures();
        measures.is_some_and(|m| m.cursors[0].time_s == wanted)
    });
    let workbench = window.state().workbench();
    let measures = workbench.explore().fault().measures().expect("measured");
    let sample = times.nearest(wanted).expect("inside");
    let found = measures.cursors[0].signals[0].value;
    assert_eq!(found, Some(record.signals[0].values[sample]));
    for label in ["Cursor A", "Cursor B", "Phasor diagram", "Harmonics"] {
        assert!(shows(&window, label), "{label}");
    }
}

#[test]
fn scale_pages_and_a_record_beside_are_reached() {
    let mut window = exploring(20);
    click(&mut window, "Per unit");
    assert!(shows(&window, "pu"));
    click(&mut window, "Whole record");
    let look = |window: &Window| {
        let workbench = window.state().workbench();
        workbench.explore().fault().view().expect("shown").clone()
    };
    let whole_s = look(&window).span_s;
    let mut near = look(&window);
    near.span_s = whole_s / 4.0;
    explore(
        &mut window,
        ExploreAction::Fault(FaultAction::View(Box::new(near))),
    );
    press(&mut window, Key::PageDown);
    assert!(look(&window).start_s > 0.0);
    press(&mut window, Key::End);
    let at_end = look(&window);
    press(&mut window, Key::ArrowLeft);
    assert!(look(&window).start_s < at_end.start_s);
    press(&mut window, Key::Home);
    let gain = look(&window).gain;
    press(&mut window, Key::Plus);
    assert!(look(&window).gain > gain);
    let beside = FaultAction::Beside(BesideChoice::Source(40));
    explore(&mut window, ExploreAction::Fault(beside));
    until(&mut window, "a record is beside", |w| {
        w.explore().fault().beside().is_some()
    });
    assert!(shows(&window, "Signals beside"));
    click(&mut window, "Close second record");
    assert!(!shows(&window, "Signals beside"));
}

#[test]
fn a_segment_is_explained_and_leads_to_the_kept_samples_and_to_evaluate() {
    let mut window = judged(3);
    {
        let workbench = window.state().workbench();
        let judged = workbench.explore().ribbon().judged().expect("judged");
        // Records of the data are judged by the fold that held them out.
        assert_eq!(judged.choice, ModelChoice::HeldOut);
        assert!(!judged.has_learned);
    }
    let segment = window.query_all_by_label_contains("Segment 0.");
    let segment = segment.into_iter().next().expect("a segment is shown");
    segment.click();
    until(&mut window, "it is explained", |w| {
        w.explore().ribbon().explained().is_some()
    });
    assert!(shows(&window, "Residual of every class"));
    assert!(shows(&window, "In training"));
    let kept = {
        let workbench = window.state().workbench();
        let explained = workbench.explore().ribbon().explained().expect("explained");
        let decided = explained.inspection.decided;
        explained.inspection.atoms[decided][0].strongest[0].0
    };
    explore(
        &mut window,
        ExploreAction::Ribbon(RibbonAction::ShowKept(kept)),
    );
    until(&mut window, "its signal is beside", |w| {
        w.explore().ribbon().kept().is_some()
    });
    click(&mut window, "Show in Evaluate");
    let workbench = window.state().workbench();
    assert_eq!(workbench.view().page, Stage::Evaluate);
    assert!(workbench.view().cell.is_some());
    apply(&mut window, Action::Show(Stage::Explore));
    window.step();
    click(&mut window, "Open its recording");
    until(
        &mut window,
        "the recording of the kept sample is open",
        |w| {
            let opened = w.explore().opened();
            let loaded = w.data().loaded().expect("loaded");
            let source = loaded.dataset.origin(kept).source;
            opened.is_some_and(|opened| opened.source == Some(source))
        },
    );
}

#[test]
fn a_confusion_cell_and_an_atom_lead_to_their_signals() {
    let mut window = judged(0);
    apply(&mut window, Action::ChooseCell(Some((0, 0))));
    apply(&mut window, Action::Show(Stage::Evaluate));
    window.step();
    let open = window.query_all_by_label("Open");
    open.into_iter().next().expect("samples are listed").click();
    until(&mut window, "the sample is open at its place", |w| {
        w.view().page == Stage::Explore && w.explore().ribbon().selected().is_some()
    });
    apply(&mut window, Action::Show(Stage::Train));
    until(&mut window, "the dictionary is shown", |w| {
        w.dictionary().is_some()
    });
    let (atom, sample) = {
        let workbench = window.state().workbench();
        let shown = workbench.dictionary().expect("shown");
        (shown.atoms[0].index, shown.atoms[0].strongest[0].0)
    };
    apply(&mut window, Action::ChooseAtom(Some(atom)));
    window.step();
    let origin = {
        let workbench = window.state().workbench();
        let loaded = workbench.data().loaded().expect("loaded");
        atomscope::workbench::origin_text(&loaded.dataset, sample)
    };
    let link = window.query_all_by_label_contains(&origin);
    link.into_iter()
        .next()
        .expect("its kept samples are links")
        .click();
    until(&mut window, "the kept sample is open", |w| {
        let loaded = w.data().loaded().expect("loaded");
        let source = loaded.dataset.origin(sample).source;
        let opened = w.explore().opened();
        w.view().page == Stage::Explore && opened.is_some_and(|o| o.source == Some(source))
    });
}

#[test]
fn a_stretch_is_relabelled_and_left_out_and_the_data_follow_and_it_can_be_undone() {
    let mut window = judged(3);
    let facts = |window: &Window| {
        let workbench = window.state().workbench();
        let loaded = workbench.data().loaded().expect("loaded");
        (loaded.dataset.n_samples(), loaded.dataset.class_counts())
    };
    let before = facts(&window);
    explore(
        &mut window,
        ExploreAction::Ribbon(RibbonAction::Select(Some(0))),
    );
    click(&mut window, "Exclude it");
    until(&mut window, "the data follow", |w| {
        let loaded = w.data().loaded().expect("loaded");
        loaded.dataset.n_samples() == before.0 - 1 && w.split().made().is_some()
    });
    let workbench = window.state().workbench();
    let stale = workbench.stale().expect("training is stale");
    assert!(stale.contains("relabelled segments"), "{stale}");
    assert!(matches!(
        workbench.status(Stage::Train).state,
        StageState::Stale(_)
    ));
    // What was decided stays to be looked at.
    assert!(workbench.explore().ribbon().judged().is_some());
    apply(&mut window, Action::Undo);
    until(&mut window, "it is back", |w| {
        w.data().loaded().expect("loaded").dataset.n_samples() == before.0
    });
    assert_eq!(window.state().workbench().stale(), None);
    let other = window.state().workbench();
    let names = other
        .data()
        .loaded()
        .expect("loaded")
        .dataset
        .class_names()
        .to_vec();
    let relabel = StretchCorrection::Relabel(names[4].clone());
    explore(
        &mut window,
        ExploreAction::Ribbon(RibbonAction::Put(relabel)),
    );
    until(&mut window, "it has another class", |w| {
        let counts = w.data().loaded().expect("loaded").dataset.class_counts();
        counts[4] == before.1[4] + 1
    });
    click(&mut window, "By the rules");
    until(&mut window, "the rules count again", |w| {
        w.data().loaded().expect("loaded").dataset.class_counts() == before.1
    });
}

#[test]
fn a_report_is_written_from_the_window() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = judged(3);
    click(&mut window, "Report…");
    let asked = window.state().workbench().view().ask.clone();
    assert!(matches!(asked, Some(Ask::Path(PathAsk::Report))));
    let path = folder.path().join("report.html");
    explore(
        &mut window,
        ExploreAction::Ribbon(RibbonAction::Report(path.clone())),
    );
    until(&mut window, "it is written", |w| {
        let notices = w.notices().list();
        notices
            .iter()
            .any(|notice| notice.text.starts_with("Written"))
    });
    let html = std::fs::read_to_string(&path).expect("it was written");
    for part in ["no medical device", "held-out folds", "not saved", "<svg"] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn a_correction_is_learned_at_once_and_undone_exactly() {
    let mut window = judged(0);
    explore(
        &mut window,
        ExploreAction::Ribbon(RibbonAction::Choose(ModelChoice::Final)),
    );
    until(&mut window, "the final model has judged", |w| {
        let judged = w.explore().ribbon().judged();
        judged.is_some_and(|judged| judged.choice == ModelChoice::Final) && !w.is_busy()
    });
    let models = |window: &Window| {
        let run = window.state().workbench().training().run().expect("a run");
        run.models()
            .map(|(_, model)| model.clone())
            .collect::<Vec<_>>()
    };
    let before = models(&window);
    let verdict = |window: &Window| {
        let judged = window.state().workbench().explore().ribbon().judged();
        judged.expect("judged").ribbon.segments[0].verdict.class
    };
    let other = (verdict(&window) + 1) % 5;
    let correct = RibbonAction::Correct {
        segment: 0,
        class: Some(other),
    };
    explore(&mut window, ExploreAction::Ribbon(correct));
    until(
        &mut window,
        "the correction is learned and judged anew",
        |w| {
            let judged = w.explore().ribbon().judged();
            w.corrections().len() == 1 && judged.is_some_and(|judged| judged.n_corrections() == 1)
        },
    );
    assert!(window.state().workbench().corrections()[0].after.is_some());
    assert!(window.state().workbench().is_unsaved());
    apply(&mut window, Action::Undo);
    until(&mut window, "it is taken back and judged anew", |w| {
        let judged = w.explore().ribbon().judged();
        w.corrections().is_empty() && judged.is_some_and(|judged| judged.n_corrections() == 0)
    });
    let after = models(&window);
    assert!(
        before.iter().zip(&after).all(|(a, b)| Arc::ptr_eq(a, b)),
        "the very same models"
    );
    apply(&mut window, Action::Redo);
    until(&mut window, "it is learned again", |w| {
        let judged = w.explore().ribbon().judged();
        judged.is_some_and(|judged| judged.n_corrections() == 1)
    });
}
