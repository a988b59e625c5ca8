//! A sweep on the Compare page: filled in, started, watched, stopped, gone on with, looked at, used.

use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use atomscope::ui::app::App;
use atomscope::workbench::{
    Action, AxisForm, CompareAction, CompareTab, Stage, SweepAction, SweepForm, SweepResults,
    Workbench,
};
use atomscope_engine::experiment::{Effort, Halving, OuterResult, PointResult, SweepPoint};
use atomscope_engine::session::{SweepStore, WorkIdentity, described_sweep};
use atomscope_engine::split::SplitPlan;
use egui::accesskit::Role;
use egui::{Theme, vec2};
use egui_kittest::kittest::{NodeT, Queryable};

use super::choices::choose;
use super::driving::{
    Window, apply, bare_workbench, click, is_ready, loading_workbench, says, show, type_text,
    until, window_of,
};
use crate::pictures::write_picture;

fn sweep(window: &mut Window, action: SweepAction) {
    apply(window, Action::Compare(CompareAction::Sweep(action)));
    window.harness.step();
}

/// A window with the small data, at the Sweep tab; so high that nothing must be scrolled to.
fn at_sweep() -> Window {
    let app = App::new(loading_workbench(), false);
    let mut window = window_of(Theme::Light, vec2(1280.0, 1500.0), app);
    until(&mut window, "data are loaded", is_ready);
    show(&mut window, Stage::Compare);
    click(&mut window, "Sweep");
    window
}

fn form(axes: &[(&str, &str)], folder: &Path) -> SweepForm {
    let axes = axes.iter().map(|(setting, values)| AxisForm {
        setting: (*setting).into(),
        values: (*values).into(),
    });
    SweepForm {
        inner_folds: 2,
        axes: axes.collect(),
        folder: Some(folder.to_owned()),
        ..SweepForm::default()
    }
}

fn look(window: &Window) -> &SweepResults {
    let comparison = window.harness.state().workbench().comparison();
    comparison.sweep().results().expect("results are shown")
}

fn n_finished(window: &Window) -> usize {
    look(window).table.rows.len()
}

fn until_ended(window: &mut Window) {
    until(window, "the sweep has ended", |w| {
        w.comparison().sweep().share().is_none()
    });
}

/// Numbers of the points in the order in which they are listed.
fn listed(window: &Window) -> Vec<usize> {
    let look = look(window);
    let rows = look.order.iter().map(|place| &look.table.rows[*place]);
    rows.map(|row| row.result.point.number).collect()
}

#[test]
fn settings_are_picked_and_wrong_values_named_at_once() {
    let mut window = at_sweep();
    assert!(says(&window, "No setting is tried yet"));
    let start = window.harness.get_by_label("Start sweep");
    assert!(start.accesskit_node().is_disabled());
    click(&mut window, "Add a setting");
    let stage = window.harness.state().workbench().comparison().sweep();
    let present = stage.form().axes[0].clone();
    let known = stage.settings().iter().any(|s| s.name == present.setting);
    assert!(known && !present.values.is_empty());
    sweep(
        &mut window,
        SweepAction::Edit(form(&[("learner.sparsity", "3")], Path::new("x"))),
    );
    type_text(&mut window, "Values 1", "3, 40");
    assert!(says(&window, "40: sparsity must be 1 to 12, but is 40"));
    type_text(&mut window, "Values 1", "3,");
    assert!(says(&window, "a value is missing"));
    let start = window.harness.get_by_label("Start sweep");
    assert!(start.accesskit_node().is_disabled());
    type_text(&mut window, "Values 1", "3, 4");
    assert!(says(&window, "2 points, each trained 2 × (2 + 1) times"));
    click(&mut window, "Remove setting 1");
    assert!(says(&window, "No setting is tried yet"));
}

#[test]
fn a_sweep_is_started_watched_stopped_and_gone_on_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = at_sweep();
    // Many more points than are tried at once, so that stopping leaves some.
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let n_shares = 2 * n_cores.max(2);
    let shares: Vec<String> = (0..n_shares)
        .map(|step| (0.9 + 0.09 * step as f64 / n_shares as f64).to_string())
        .collect();
    let n_points = 6 * shares.len();
    let shares = shares.join(", ");
    let axes = [
        ("learner.n_atoms", "6, 9, 12"),
        ("learner.algorithm.second_look", "true, false"),
        ("learner.forgetting.start_value", shares.as_str()),
    ];
    sweep(&mut window, SweepAction::Edit(form(&axes, folder.path())));
    click(&mut window, "Start sweep");
    assert!(says(&window, "Sweeping"), "progress is shown");
    until(&mut window, "some points are finished", |w| {
        let look = w.comparison().sweep().results();
        look.is_some_and(|look| look.table.rows.len() >= 2)
    });
    click(&mut window, "Stop sweeping");
    until_ended(&mut window);
    let kept = n_finished(&window);
    assert!(
        folder.path().join("sweep.html").exists(),
        "what is finished is reported"
    );
    assert!(kept < n_points, "all {kept} points were tried");
    // The points that were kept are taken as they are: their files do not change.
    let first = listed(&window)[0];
    let then = written(folder.path(), first);
    assert!(then.is_some(), "the point is in its file");
    click(&mut window, "Start sweep");
    until_ended(&mut window);
    assert_eq!(n_finished(&window), n_points);
    let status = window.harness.state().workbench().status(Stage::Compare);
    assert!(status.summary.contains("points"), "{}", status.summary);
    assert_eq!(written(folder.path(), first), then);
    let counted = format!("{n_points} of {n_points} points");
    assert!(says(&window, &format!("{counted} · nested score: ")));
    let cell = "learner.n_atoms 9, learner.algorithm.second_look false: ";
    assert!(says(&window, cell), "the map has no such cell");
    assert!(says(
        &window,
        "Mean accuracy of the inner folds over learner.n_atoms"
    ));

    // Another sweep is not mixed with it.
    let other = [("learner.n_atoms", "6, 9")];
    sweep(&mut window, SweepAction::Edit(form(&other, folder.path())));
    click(&mut window, "Start sweep");
    until_ended(&mut window);
    let told = window.harness.state().workbench().notices().list();
    let refused = |text: &str| text.contains("belongs to another sweep");
    assert!(told.iter().any(|notice| refused(&notice.text)));

    // Its folder opens with results and form.
    sweep(&mut window, SweepAction::Open(folder.path().to_owned()));
    until(&mut window, "it is read", |w| !w.is_busy());
    let stage = window.harness.state().workbench().comparison().sweep();
    assert_eq!(*stage.form(), form(&axes, folder.path()));
    assert_eq!(look(&window).counted(), counted);
}

/// When the file of a point was written, if it is there.
fn written(folder: &Path, number: usize) -> Option<SystemTime> {
    let path = folder.join(format!("point-{:06}.ron", number + 1));
    std::fs::metadata(path).and_then(|m| m.modified()).ok()
}

/// A window with a table from a file, at the Sweep tab.
fn at_sweep_of_table(table: &Path) -> Window {
    let rows = (0..60).map(|row| {
        let (class, bend) = (row % 2, (row * row) % 17);
        format!("{},{bend},{},c{class}", row * 7 % 23, row % 5 + 3 * class)
    });
    let rows = rows.collect::<Vec<_>>().join("\n");
    std::fs::write(table, format!("a,b,c,class\n{rows}\n")).expect("writable");
    let app = App::new(bare_workbench(), false);
    let mut window = window_of(Theme::Light, vec2(1280.0, 1500.0), app);
    apply(&mut window, Action::Open(table.to_owned()));
    until(&mut window, "the table is loaded", is_ready);
    let workbench = window.harness.state_mut().workbench_mut();
    let mut draft = workbench.draft().clone();
    draft.experiment.split = SplitPlan::KFold {
        n_folds: 2,
        seed: 1,
    };
    let learner = &mut draft.experiment.learner;
    (learner.n_atoms, learner.sparsity) = (4, 2);
    (learner.batch_size, learner.budget) = (2, 10);
    workbench.edit(draft, false);
    until(&mut window, "its folds are made", |w| {
        let made = w.split().made();
        made.is_some_and(|made| made.split.n_folds() == 2)
    });
    show(&mut window, Stage::Compare);
    click(&mut window, "Sweep");
    window
}

/// Takes a point away and lets `go_on` try it again; no other may be tried.
fn assert_only_what_is_missing_is_tried(folder: &Path, missing: usize, go_on: impl FnOnce()) {
    let times = || -> Vec<Option<SystemTime>> {
        let others = (0..4).filter(|number| *number != missing);
        others.map(|number| written(folder, number)).collect()
    };
    let before = times();
    assert!(before.iter().all(Option::is_some), "{before:?}");
    let path = folder.join(format!("point-{:06}.ron", missing + 1));
    std::fs::remove_file(path).expect("it was there");
    go_on();
    assert!(written(folder, missing).is_some(), "it is not there again");
    assert_eq!(times(), before);
}

#[test]
fn a_sweep_on_a_file_goes_on_wherever_the_session_is_and_in_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    for name in ["data", "sessions", "deep"] {
        std::fs::create_dir(place(name)).expect("writable");
    }
    let out = place("out");
    let mut window = at_sweep_of_table(&place("data/table.csv"));
    let axes = [("learner.n_atoms", "3, 4, 5, 6")];
    sweep(&mut window, SweepAction::Edit(form(&axes, &out)));
    let start = |window: &mut Window| {
        click(window, "Start sweep");
        until_ended(window);
        let told = window.harness.state().workbench().notices().list();
        let words: Vec<&str> = told.iter().map(|notice| notice.text.as_str()).collect();
        assert_eq!(n_finished(window), 4, "{words:?}");
    };
    start(&mut window);
    assert_only_what_is_missing_is_tried(&out, 2, || start(&mut window));

    for (missing, name) in [(1, "sessions/s.ron"), (3, "deep/s.ron")] {
        let path = place(name);
        apply(&mut window, Action::SaveAs(path.clone()));
        until(&mut window, "it is saved", |w| {
            !w.is_saving() && w.path() == Some(path.as_path())
        });
        until(&mut window, "its data are there", is_ready);
        assert_only_what_is_missing_is_tried(&out, missing, || start(&mut window));
    }

    let described = described_sweep(&out).expect("readable").expect("there");
    let named = described.session.experiment.data.files();
    assert!(
        named.iter().all(|file| out.join(file).exists()),
        "{named:?}"
    );
    assert_only_what_is_missing_is_tried(&out, 0, || {
        let ran = Command::new(env!("CARGO_BIN_EXE_atomscope"))
            .args(["sweep", "--quiet"])
            .arg(out.join("sweep.ron"))
            .env_remove("ATOMSCOPE_DATA")
            .env_remove("DISPLAY")
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{said}");
    });
}

#[test]
fn early_stopping_is_chosen_and_its_saving_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = at_sweep();
    let filled = form(&[("learner.n_atoms", "6, 9, 12")], folder.path());
    sweep(&mut window, SweepAction::Edit(filled));
    window.harness.step();
    choose(&mut window, "Early stopping", "successive halving");
    let halving = |window: &Window| {
        let comparison = window.harness.state().workbench().comparison();
        comparison.sweep().form().halving
    };
    assert_eq!(halving(&window), Some(Halving::default()));
    click(&mut window, "Start sweep");
    until(&mut window, "the sweep has ended", |w| {
        w.comparison().sweep().share().is_none()
    });
    until(&mut window, "every fold has chosen", |w| {
        let results = w.comparison().sweep().results();
        results.is_some_and(|results| results.table.chosen.len() > 1)
    });
    let saving = look(&window).table.saving.clone().expect("points stopped");
    assert!(saving.share() > 0.3, "{}", saving.in_words());
    assert!(says(
        &window,
        &format!("Early stopping: {}", saving.in_words())
    ));
    assert!(says(&window, "stopped early"));
    let described = described_sweep(folder.path()).expect("readable");
    let described = described.expect("written").sweep.halving;
    assert_eq!(described, Some(Halving::default()));
}

#[test]
fn looking_at_a_form_does_not_change_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = at_sweep();
    let odd = SweepForm {
        is_random: true,
        n_points: 200_000,
        seed: 0,
        inner_folds: 1,
        ..form(&[("learner.n_atoms", "6 to 9 whole")], folder.path())
    };
    for seed in [0, (1 << 53) + 1, u64::MAX] {
        let filled = SweepForm {
            seed,
            ..odd.clone()
        };
        sweep(&mut window, SweepAction::Edit(filled.clone()));
        window.harness.step();
        let stage = window.harness.state().workbench().comparison().sweep();
        assert_eq!(*stage.form(), filled);
    }
}

fn finished_sweep(folder: &Path) {
    let identity = WorkIdentity::new("test".into(), [], Vec::new());
    let store = SweepStore::open(folder, &identity).expect("writable");
    for number in 0..6 {
        let (atoms, share) = (5 * (number / 3 + 1), 0.9 + 0.04 * (number % 3) as f64);
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
            effort: Effort::Whole,
            problem: None,
            outer: vec![OuterResult {
                inner: vec![accuracy, accuracy + 0.01],
                outer: Some(accuracy - 0.01),
            }],
            train_us_per_batch: Some(100.0 - number as f64),
        };
        store.keep(number, &result).expect("writable");
    }
}

#[test]
fn results_are_a_map_a_curve_and_a_table_to_sort_and_use() {
    let folder = tempfile::tempdir().expect("a folder");
    finished_sweep(folder.path());
    let mut window = at_sweep();
    sweep(&mut window, SweepAction::Open(folder.path().to_owned()));
    until(&mut window, "it is read", |w| {
        w.comparison().sweep().results().is_some()
    });
    assert!(says(&window, "nested score: 89.00 % in one outer fold"));
    let cell = "learner.n_atoms 10, learner.forgetting.start_value 0.98: 90.5 %";
    assert!(says(&window, cell), "the cell is not there");

    write_picture("page-sweep-light", &window.picture());
    assert_eq!(listed(&window), [5, 4, 3, 2, 1, 0], "the best first");
    click(&mut window, "Sort by point");
    assert_eq!(listed(&window), [0, 1, 2, 3, 4, 5]);
    click(&mut window, "Sort by start_value");
    assert_eq!(listed(&window), [0, 3, 1, 4, 2, 5]);
    click(&mut window, "Sort by start_value");
    assert_eq!(listed(&window), [2, 5, 1, 4, 0, 3]);
    click(&mut window, "Sort by µs");
    assert_eq!(listed(&window), [5, 4, 3, 2, 1, 0]);

    let learner = |window: &Window| {
        let draft = window.harness.state().workbench().draft();
        let learner = &draft.experiment.learner;
        (learner.n_atoms, learner.forgetting.start_value)
    };
    let before = learner(&window);
    click(&mut window, "Use point 6");
    assert_eq!(learner(&window), (10, 0.98));
    apply(&mut window, Action::Undo);
    assert_eq!(learner(&window), before);

    click(&mut window, "Close sweep");
    let stage = window.harness.state().workbench().comparison().sweep();
    assert!(stage.results().is_none());
    let empty = tempfile::tempdir().expect("a folder");
    sweep(&mut window, SweepAction::Open(empty.path().to_owned()));
    until(&mut window, "it is refused", |w| {
        let told = w.notices().list().iter();
        told.into_iter()
            .any(|notice| notice.text.contains("no finished point"))
    });
}

/// Work of sixty points in the folder of a finished sweep: forty workers are at it, and the last point has failed.
fn watched_sweep(folder: &Path) {
    finished_sweep(folder);
    let inner = folder.join("cluster");
    std::fs::create_dir(&inner).expect("writable");
    let write = |name: String, text: String| {
        std::fs::write(inner.join(name), text).expect("writable");
    };
    let order = "(task: Reproduce(is_quick: true), data: [], n_points: 60)";
    write("work.ron".into(), order.into());
    for number in 0..40 {
        let beat = format!(
            "(host: \"node{number}\", process: None, point: Some({}), point_s: 1.0, n_done: 1, up_s: 60.0)",
            number + 6
        );
        write(format!("worker-node{number}-1-0-0.ron"), beat);
    }
    for attempt in 1..=3 {
        let failure = "(worker: \"node1-1-0-0\", error: \"the disk is full\", is_final: false)";
        write(format!("failure-000060-{attempt:02}.ron"), failure.into());
    }
}

#[test]
fn many_workers_leave_room_for_the_results_and_failed_points_are_retried() {
    let folder = tempfile::tempdir().expect("a folder");
    watched_sweep(folder.path());
    let mut window = at_sweep();
    sweep(&mut window, SweepAction::Open(folder.path().to_owned()));
    let failed = |w: &Workbench| {
        let status = w.comparison().sweep().cluster.status();
        status.map(|status| status.failed.len())
    };
    until(&mut window, "the folder is watched", |w| {
        failed(w) == Some(1)
    });
    window.harness.step();
    assert!(says(&window, "40 workers"));
    assert!(says(&window, "6 done, 0 running, 1 failed, 53 open"));
    assert!(says(&window, "point 60: the disk is full"));
    for name in ["Retry point 60", "Sort by point"] {
        let rect = window.harness.get_by_label(name).rect();
        assert!(rect.bottom() < 1500.0, "{name} is at {rect:?}");
    }
    click(&mut window, "Retry point 60");
    until(&mut window, "it is open again", |w| failed(w) == Some(0));
    assert!(!folder.path().join("cluster/failure-000060-01.ron").exists());
}

#[test]
fn the_tabs_lead_from_runs_to_the_sweep_and_back() {
    let mut window = at_sweep();
    let tab = |window: &Window| window.harness.state().workbench().comparison().tab();
    assert_eq!(tab(&window), CompareTab::Sweep);
    let combos = window.harness.query_all_by_role(Role::ComboBox).count();
    assert_eq!(combos, 2, "the kind of search, and early stopping");
    click(&mut window, "Runs");
    assert_eq!(tab(&window), CompareTab::Runs);
    assert!(says(&window, "Reproduce the paper…"));
}
