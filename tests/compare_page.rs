//! The Compare page driven by accessibility label: runs, sessions, columns, a sweep.

mod pictures;

use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use atomscope::dataset::DataSettings;
use atomscope::experiment::{Experiment, OuterResult, PointResult, Status, SweepPoint};
use atomscope::learner::LearnerSettings;
use atomscope::session::{Session, SweepStore};
use atomscope::simulate::feeder::FeederSettings;
use atomscope::split::SplitPlan;
use atomscope::ui::app::App;
use atomscope::workbench::{Action, Column, CompareAction, Draft, Stage, Workbench};
use egui::{Theme, vec2};
use egui_kittest::kittest::Queryable;
use pictures::{PictureHarness, assert_picture, write_picture};

const PATIENCE: Duration = Duration::from_secs(120);

type Window = PictureHarness<'static, App>;

fn experiment() -> Experiment {
    let mut experiment = Experiment {
        data: DataSettings::feeder_faults(FeederSettings {
            records_per_class: 20,
            ..FeederSettings::default()
        }),
        split: SplitPlan::KFold {
            n_folds: 2,
            seed: 1,
        },
        ..Experiment::default()
    };
    experiment.learner.n_atoms = 6;
    experiment.learner.batch_size = 2;
    experiment.learner.budget = 20;
    experiment.tests.n_tests = 4;
    experiment
}

fn window(theme: Theme) -> Window {
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    workbench.edit(
        Draft {
            experiment: experiment(),
            ..Draft::default()
        },
        false,
    );
    workbench.apply(Action::SetTheme(match theme {
        Theme::Dark => atomscope::session::Theme::Dark,
        Theme::Light => atomscope::session::Theme::Light,
    }));
    workbench.apply(Action::LoadData);
    workbench.apply(Action::Show(Stage::Compare));
    let app = App::new(workbench, false);
    PictureHarness::new(vec2(1280.0, 900.0), 1.0, theme, app, |ui, app| {
        app.frame(ui)
    })
}

fn until(window: &mut Window, what: &str, done: impl Fn(&Workbench) -> bool) {
    let begun = Instant::now();
    loop {
        window.harness.step();
        if done(window.harness.state().workbench()) {
            window.harness.step();
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}");
        sleep(Duration::from_millis(2));
    }
}

fn apply(window: &mut Window, action: CompareAction) {
    let workbench = window.harness.state_mut().workbench_mut();
    workbench.apply(Action::Compare(action));
    window.harness.step();
}

fn click(window: &mut Window, label: &str) {
    window.harness.get_by_label(label).click();
    window.harness.step();
    window.harness.step();
}

fn says(window: &Window, text: &str) -> bool {
    window.harness.query_all_by_label_contains(text).count() > 0
}

/// A session beside, with another learner, not trained.
fn other_session(folder: &Path) -> std::path::PathBuf {
    let own = experiment();
    let learner = LearnerSettings {
        n_atoms: own.learner.n_atoms,
        batch_size: own.learner.batch_size,
        budget: own.learner.budget,
        ..LearnerSettings::as_published()
    };
    let path = folder.join("paper.ron");
    let mut session = Session::new(Experiment { learner, ..own });
    session.save_as(&path).expect("writable");
    path
}

fn trained(window: &mut Window) {
    window
        .harness
        .state_mut()
        .workbench_mut()
        .apply(Action::Start);
    until(window, "it is complete", |w| {
        let run = w.training().run();
        run.is_some_and(|run| run.status == Status::Complete) && !w.is_busy()
    });
}

#[test]
fn a_run_and_a_session_are_trained_on_the_same_folds_and_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = window(Theme::Light);
    trained(&mut window);
    assert!(says(&window, "run 1: margin KRLS"));
    apply(
        &mut window,
        CompareAction::Add(other_session(folder.path())),
    );
    until(&mut window, "the session is there", |w| {
        w.comparison().contenders().len() == 2 && !w.is_busy()
    });
    assert!(says(&window, "not trained"));
    apply(&mut window, CompareAction::SetSeeds(2));
    click(&mut window, "Train all ticked");
    until(&mut window, "both are trained", |w| {
        w.comparison().training_share().is_none() && w.comparison().compared().len() == 2
    });
    let compared = window.harness.state().workbench().comparison().compared();
    let folds: Vec<usize> = compared.iter().map(|run| run.outcomes.len()).collect();
    assert_eq!(folds, [4, 4], "two folds with two seeds each");
    assert!(says(&window, "Accuracy of the compared runs"));
    assert!(says(&window, "4 pairs"));
    // Left out, it takes no part in the pictures; put away, it is gone.
    click(&mut window, "paper");
    assert_eq!(
        window
            .harness
            .state()
            .workbench()
            .comparison()
            .compared()
            .len(),
        1
    );
    click(&mut window, "Remove paper");
    assert_eq!(
        window
            .harness
            .state()
            .workbench()
            .comparison()
            .contenders()
            .len(),
        1
    );
    let report = folder.path().join("report.html");
    apply(&mut window, CompareAction::SaveReport(report.clone()));
    until(&mut window, "it is written", |w| !w.is_busy());
    let page = std::fs::read_to_string(report).expect("written");
    assert!(page.contains("margin KRLS") && page.contains("<svg"));
}

#[test]
fn earlier_runs_stay_and_columns_can_be_hidden() {
    let mut window = window(Theme::Light);
    trained(&mut window);
    let workbench = window.harness.state_mut().workbench_mut();
    let mut draft = workbench.draft().clone();
    draft.experiment.learner.n_atoms = 4;
    workbench.edit(draft, false);
    trained(&mut window);
    until(&mut window, "both are there", |w| {
        w.comparison().contenders().len() == 2
    });
    assert!(says(&window, "run 1: margin KRLS, Q 6") && says(&window, "run 2: margin KRLS, Q 4"));
    assert!(says(&window, "2 pairs"));
    assert!(
        window
            .harness
            .state()
            .workbench()
            .comparison()
            .shows(Column::Memory)
    );
    click(&mut window, "Memory");
    assert!(
        !window
            .harness
            .state()
            .workbench()
            .comparison()
            .shows(Column::Memory)
    );
}

fn sweep_folder(folder: &Path) {
    let store = SweepStore::open(folder, "test".into()).expect("writable");
    for number in 0..6 {
        let (atoms, share) = (10 * (number / 3 + 1), 0.9 + 0.04 * (number % 3) as f64);
        let accuracy = 0.8 + 0.02 * number as f64;
        let result = PointResult {
            point: SweepPoint {
                number,
                values: vec![
                    ("learner.n_atoms".into(), atoms.to_string()),
                    (
                        "learner.forgetting.start_value".into(),
                        format!("{share:.2}"),
                    ),
                ],
            },
            problem: None,
            outer: vec![OuterResult {
                inner: vec![accuracy, accuracy + 0.01],
                outer: accuracy - 0.01,
            }],
            train_us_per_batch: Some(100.0),
        };
        store.keep(&result).expect("writable");
    }
}

#[test]
fn the_results_of_a_sweep_are_a_map_and_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    sweep_folder(folder.path());
    let mut window = window(Theme::Light);
    apply(
        &mut window,
        CompareAction::OpenSweep(folder.path().to_owned()),
    );
    until(&mut window, "it is read", |w| {
        w.comparison().sweep().is_some()
    });
    assert!(says(&window, "Nested score: 89.00 % in one outer fold"));
    let cell = "learner.n_atoms 20, learner.forgetting.start_value 0.98: 90.5 %";
    assert!(says(&window, cell), "the cell is not there");
    click(&mut window, "Close sweep");
    assert!(
        window
            .harness
            .state()
            .workbench()
            .comparison()
            .sweep()
            .is_none()
    );
    let empty = tempfile::tempdir().expect("a folder");
    apply(
        &mut window,
        CompareAction::OpenSweep(empty.path().to_owned()),
    );
    until(&mut window, "it is refused", |w| {
        let told = w.notices().list().iter();
        told.into_iter()
            .any(|notice| notice.text.contains("no finished point"))
    });
}

#[test]
fn the_compare_page_looks_as_it_did_in_both_themes() {
    for (theme, name) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        let folder = tempfile::tempdir().expect("a folder");
        sweep_folder(folder.path());
        let mut window = window(theme);
        trained(&mut window);
        // Times differ from run to run.
        for column in [
            Column::Growing,
            Column::Pruning,
            Column::Round,
            Column::Classifying,
        ] {
            apply(&mut window, CompareAction::ToggleColumn(column));
        }
        let workbench = window.harness.state_mut().workbench_mut();
        let ids: Vec<u64> = workbench
            .notices()
            .list()
            .iter()
            .map(|notice| notice.id)
            .collect();
        for id in ids {
            workbench.apply(Action::DismissNotice(id));
        }
        for _ in 0..12 {
            window.harness.step();
        }
        let name = format!("page-compare-{name}");
        let picture = window.picture();
        write_picture(&name, &picture);
        assert_picture(&name, &picture);
    }
}
