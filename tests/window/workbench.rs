//! The workbench driven without a window: data, runs, settings changed on the way, sessions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::small_data::small_draft;
use atomscope::workbench::{
    Action, Ask, Criterion, Gravity, LearnerChange, NotMeasured, Panel, PanelMove, Stage,
    StageState, Tiling, Workbench,
};
use atomscope_engine::dataset::{DataPlan, DataSettings, TableSource};
use atomscope_engine::experiment::{Experiment, Part, Status};
use atomscope_engine::features::FeatureRecipe;
use atomscope_engine::learner::{Kernel, LearnerSettings};
use atomscope_engine::records::edf::{SampleWidth, write_file};
use atomscope_engine::session::UserFolders;
use atomscope_engine::simulate::eeg::{EegSettings, EegSimulator};
use atomscope_engine::split::SplitPlan;

const PATIENCE: Duration = Duration::from_secs(300);

pub(crate) fn empty(folders: Option<UserFolders>) -> Workbench {
    Workbench::new(folders, Arc::new(|| {}))
}

pub(crate) fn until(workbench: &mut Workbench, what: &str, done: impl Fn(&Workbench) -> bool) {
    let begun = Instant::now();
    loop {
        workbench.update();
        if done(workbench) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}");
        sleep(Duration::from_millis(2));
    }
}

pub(crate) fn status(workbench: &Workbench) -> Option<Status> {
    workbench.training().run().map(|run| run.status.clone())
}

pub(crate) fn n_rounds(workbench: &Workbench) -> usize {
    let run = workbench.training().run();
    run.map_or(0, |run| {
        run.folds().map(|(_, part)| part.rounds.len()).sum()
    })
}

/// A workbench with the small data loaded.
pub(crate) fn loaded() -> Workbench {
    let mut workbench = empty(None);
    workbench.edit(small_draft(), false);
    workbench.apply(Action::LoadData);
    until(&mut workbench, "data are loaded", |w| {
        w.data().loaded().is_some() && w.split().made().is_some()
    });
    workbench
}

pub(crate) fn trained() -> Workbench {
    let mut workbench = loaded();
    workbench.apply(Action::Start);
    until(&mut workbench, "the run is complete", |w| {
        status(w) == Some(Status::Complete)
    });
    workbench
}

pub(crate) fn edit(workbench: &mut Workbench, change: impl FnOnce(&mut Experiment)) {
    let mut draft = workbench.draft().clone();
    change(&mut draft.experiment);
    workbench.edit(draft, false);
}

pub(crate) fn save_as(workbench: &mut Workbench, path: &Path) {
    workbench.apply(Action::SaveAs(path.to_owned()));
    until(workbench, "the session is saved", |w| {
        !w.is_saving() && w.path().is_some()
    });
}

pub(crate) fn reopened(path: &Path) -> Workbench {
    let mut workbench = empty(None);
    workbench.apply(Action::Open(path.to_owned()));
    until(&mut workbench, "the session is open", |w| {
        w.path().is_some() && (w.data().loaded().is_some() || w.data().error().is_some())
    });
    workbench
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("small.ron");
    (folder, path)
}

#[test]
fn an_empty_workbench_says_what_is_missing_and_starts_nothing() {
    let mut workbench = empty(None);
    workbench.update();
    assert_eq!(workbench.status(Stage::Records).state, StageState::Empty);
    assert_eq!(workbench.status(Stage::Train).state, StageState::Empty);
    let obstacle = workbench.obstacle().expect("nothing is loaded");
    assert!(obstacle.contains("nothing is loaded"), "{obstacle}");
    let tune = Action::TuneRun(LearnerChange::Budget(25));
    for action in [Action::Pause, Action::Stop, Action::Undo, tune] {
        workbench.apply(action);
    }
    assert!(!workbench.training().is_alive());
}

#[test]
fn data_are_loaded_split_audited_and_trained() {
    let mut workbench = trained();
    until(&mut workbench, "the run can be compared", |w| {
        !w.is_busy() && w.status(Stage::Compare).state != StageState::Empty
    });
    for stage in Stage::ALL {
        let found = workbench.status(stage);
        let expected = match stage {
            Stage::Live => StageState::Empty,
            _ => StageState::Ready,
        };
        assert_eq!(found.state, expected, "{stage:?}: {}", found.summary);
    }
    assert_eq!(
        workbench.status(Stage::Records).summary,
        "200 records · 5 classes"
    );
    let run = workbench.training().run().expect("there is a run");
    let summary = run.summary.as_ref().expect("folds are complete");
    assert_eq!(summary.confusion.total(), 200);
    assert_eq!(summary.folds.len(), 2);
    assert!(run.accuracy().expect("there were tests") > 0.5);
}

#[test]
fn pause_step_and_stop_do_what_they_say_and_change_no_result() {
    let mut workbench = loaded();
    workbench.apply(Action::LimitSpeed(Some(20.0)));
    workbench.apply(Action::Start);
    until(&mut workbench, "rounds are done", |w| n_rounds(w) >= 2);
    workbench.apply(Action::StartOrPause);
    until(&mut workbench, "it rests", |w| {
        status(w) == Some(Status::Paused)
    });
    let before = n_rounds(&workbench);
    let n_active = workbench.training().run().expect("a run").active.len();
    sleep(Duration::from_millis(150));
    workbench.update();
    assert_eq!(n_rounds(&workbench), before, "a paused run does not go on");
    workbench.apply(Action::Step);
    until(&mut workbench, "the step is done", |w| n_rounds(w) > before);
    until(&mut workbench, "it rests again", |w| {
        status(w) == Some(Status::Paused)
    });
    assert_eq!(n_rounds(&workbench), before + n_active);
    workbench.apply(Action::Stop);
    let begun = Instant::now();
    until(&mut workbench, "it stops", |w| {
        status(w) == Some(Status::Stopped)
    });
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert!(workbench.can_resume());
    workbench.apply(Action::LimitSpeed(None));
    workbench.apply(Action::Start);
    until(&mut workbench, "it is complete", |w| {
        status(w) == Some(Status::Complete)
    });
    let interrupted = workbench.training().run().expect("a run").confusion();
    assert_eq!(
        interrupted,
        trained().training().run().expect("a run").confusion()
    );
}

#[test]
fn a_step_begins_a_run_that_rests() {
    let mut workbench = loaded();
    workbench.apply(Action::Step);
    until(&mut workbench, "a step is done", |w| {
        n_rounds(w) > 0 && status(w) == Some(Status::Paused)
    });
    assert!(n_rounds(&workbench) <= 2, "at most one round of each fold");
}

#[test]
fn settings_change_while_it_runs_and_what_shapes_the_state_stays() {
    let mut workbench = loaded();
    workbench.apply(Action::LimitSpeed(Some(20.0)));
    workbench.apply(Action::Start);
    until(&mut workbench, "rounds are done", |w| n_rounds(w) >= 2);
    edit(&mut workbench, |experiment| {
        experiment.learner.budget = 25;
        experiment.learner.n_atoms = 6;
    });
    let learner = workbench.draft().experiment.learner.clone();
    workbench.apply(Action::TuneRun(LearnerChange::All(Box::new(learner))));
    until(&mut workbench, "the change is in force", |w| {
        let run = w.training().run().expect("a run");
        run.learner_now().budget == 25
    });
    let run = workbench.training().run().expect("a run");
    assert_eq!(run.learner_now().n_atoms, 12, "Q shapes the state");
    assert_eq!(run.changes.len(), 1);
    let stale = workbench.stale().expect("Q differs");
    assert!(stale.starts_with("Q (12 → 6)"), "{stale}");
}

#[test]
fn a_changed_setting_makes_the_run_stale_until_it_is_undone() {
    let mut workbench = trained();
    assert_eq!(workbench.stale(), None);
    edit(&mut workbench, |experiment| experiment.learner.n_atoms = 7);
    let reason = workbench.stale().expect("the run is stale");
    assert_eq!(reason, "Q (12 → 7) changed after training");
    let state = workbench.status(Stage::Evaluate).state;
    assert_eq!(state, StageState::Stale(reason));
    workbench.apply(Action::Undo);
    assert_eq!(workbench.stale(), None);
    workbench.apply(Action::Redo);
    assert_eq!(workbench.draft().experiment.learner.n_atoms, 7);
    workbench.apply(Action::Start);
    until(&mut workbench, "the new run is complete", |w| {
        status(w) == Some(Status::Complete) && w.stale().is_none()
    });
    let earlier = workbench.training().earlier();
    assert_eq!(earlier.len(), 1, "the first run stays for comparison");
    assert!(!earlier[0].curve.is_empty());
}

#[test]
fn what_is_held_is_one_step_of_undo() {
    let mut workbench = empty(None);
    let start = workbench.draft().experiment.learner.budget;
    for budget in [210, 220, 230] {
        let mut draft = workbench.draft().clone();
        draft.experiment.learner.budget = budget;
        workbench.edit(draft, true);
    }
    let draft = workbench.draft().clone();
    workbench.edit(draft, false);
    workbench.apply(Action::Undo);
    assert_eq!(workbench.draft().experiment.learner.budget, start);
    assert!(!workbench.can_undo() && workbench.can_redo());
}

#[test]
fn a_wrong_value_is_an_obstacle_with_its_reason() {
    let mut workbench = loaded();
    edit(&mut workbench, |experiment| {
        experiment.learner.sparsity = 45
    });
    let obstacle = workbench.obstacle().expect("45 of 12 atoms are too many");
    assert_eq!(obstacle, "sparsity must be 1 to 12, but is 45");
    assert!(matches!(
        workbench.status(Stage::Learner).state,
        StageState::Wrong(_)
    ));
    workbench.apply(Action::Start);
    until(&mut workbench, "the start is refused", |w| {
        w.training().error().is_some()
    });
    assert!(workbench.training().run().is_none());
}

#[test]
fn a_saved_session_opens_with_the_same_settings_and_results() {
    let (_folder, path) = folder();
    let mut workbench = trained();
    assert!(workbench.is_unsaved());
    save_as(&mut workbench, &path);
    assert!(!workbench.is_unsaved());
    let again = reopened(&path);
    assert_eq!(again.draft(), workbench.draft());
    assert!(!again.is_unsaved());
    let (then, now) = (workbench.training().run(), again.training().run());
    let (then, now) = (then.expect("a run"), now.expect("the run was saved"));
    assert_eq!(then.confusion(), now.confusion());
    assert_eq!(now.status, Status::Complete);
    assert_eq!(
        now.summary.as_ref().map(|s| s.accuracy),
        then.summary.as_ref().map(|s| s.accuracy)
    );
    assert_eq!(again.stale(), None);
}

#[test]
fn a_half_trained_session_goes_on_after_it_was_opened_again() {
    let (_folder, path) = folder();
    let mut workbench = loaded();
    workbench.apply(Action::LimitSpeed(Some(20.0)));
    workbench.apply(Action::Start);
    until(&mut workbench, "rounds are done", |w| n_rounds(w) >= 3);
    // Saved while it runs.
    save_as(&mut workbench, &path);
    workbench.apply(Action::Stop);
    until(&mut workbench, "it stops", |w| {
        status(w) == Some(Status::Stopped)
    });
    let mut again = reopened(&path);
    assert!(again.can_resume(), "the saved run is not complete");
    let n_saved = n_rounds(&again);
    assert!(n_saved >= 3);
    again.apply(Action::Start);
    until(&mut again, "it is complete", |w| {
        status(w) == Some(Status::Complete)
    });
    let resumed = again.training().run().expect("a run").confusion();
    assert_eq!(
        resumed,
        trained().training().run().expect("a run").confusion()
    );
}

#[test]
fn missing_data_are_told_and_the_session_is_shown_all_the_same() {
    let (_folder, path) = folder();
    let mut workbench = trained();
    edit(&mut workbench, |experiment| {
        let table = TableSource {
            paths: vec![PathBuf::from("not-there.csv")],
            ..TableSource::default()
        };
        experiment.data = DataSettings::new(DataPlan::Table(table), None);
    });
    save_as(&mut workbench, &path);
    let again = reopened(&path);
    let error = again.data().error().expect("the table is not there");
    assert!(error.contains("not-there.csv"), "{error}");
    assert!(matches!(
        again.status(Stage::Records).state,
        StageState::Wrong(_)
    ));
    let run = again
        .training()
        .run()
        .expect("the run is shown without its data");
    assert_eq!(run.confusion().total(), 200);
    let told = again.notices().list().iter();
    assert!(
        told.into_iter()
            .any(|notice| notice.gravity == Gravity::Error)
    );
}

#[test]
fn unsaved_work_is_asked_about_before_it_is_lost() {
    let mut workbench = loaded();
    edit(&mut workbench, |experiment| experiment.seed = 9);
    workbench.apply(Action::Quit);
    assert!(!workbench.is_over());
    assert!(matches!(workbench.view().ask, Some(Ask::Unsaved(_))));
    workbench.apply(Action::CancelAsk);
    assert!(!workbench.is_over());
    workbench.apply(Action::Quit);
    workbench.apply(Action::DoNotSave);
    assert!(workbench.is_over());
}

#[test]
fn saving_first_asks_for_a_place_and_then_does_what_was_meant() {
    let (_folder, path) = folder();
    let mut workbench = loaded();
    edit(&mut workbench, |experiment| experiment.seed = 9);
    workbench.apply(Action::Quit);
    workbench.apply(Action::SaveFirst);
    assert!(matches!(workbench.view().ask, Some(Ask::SaveAs(Some(_)))));
    workbench.apply(Action::SaveAs(path.clone()));
    until(&mut workbench, "it is saved and over", Workbench::is_over);
    assert!(path.exists());
}

#[test]
fn a_sample_is_explained_by_the_model_that_tested_it() {
    let mut workbench = trained();
    workbench.apply(Action::Inspect(17));
    until(&mut workbench, "the decision is explained", |w| {
        w.inspection().is_some()
    });
    let inspection = workbench.inspection().expect("it is there");
    let run = workbench.training().run().expect("a run");
    let fold = run.test_folds[17].expect("every sample is tested");
    let part = run.part(Part::Fold(fold)).expect("the fold");
    let record = part.record.as_ref().expect("the fold is complete");
    let place = record.decisions.sample.iter().position(|s| *s == 17);
    let decided = record.decisions.class[place.expect("it was tested in its fold")];
    assert_eq!(inspection.decided, decided);
    assert_eq!(inspection.explanation.residual_shares.len(), 5);
    let n_used = inspection.atoms[decided].len();
    let most = workbench.draft().experiment.learner.sparsity;
    assert!(
        (1..=most).contains(&n_used),
        "{n_used} atoms in a code of at most {most}"
    );
    assert!(
        inspection.atoms[decided]
            .iter()
            .all(|used| !used.strongest.is_empty())
    );
}

#[test]
fn dictionaries_are_shown_for_every_class_fold_and_moment() {
    let mut workbench = trained();
    for class in 0..5 {
        workbench.apply(Action::ChooseClass(class));
        until(&mut workbench, "the class is shown", |w| {
            w.dictionary().is_some_and(|shown| shown.class == class)
        });
        let shown = workbench.dictionary().expect("it is there");
        assert_eq!(shown.atoms.len(), 12);
        assert!(shown.atoms.iter().all(|atom| atom.values.len() == 1206));
        assert!(
            shown
                .atoms
                .windows(2)
                .all(|pair| pair[0].use_share >= pair[1].use_share)
        );
    }
    workbench.apply(Action::ChooseFold(Some(0)));
    workbench.apply(Action::Replay(Some(0)));
    until(&mut workbench, "the first test is shown", |w| {
        w.dictionary()
            .is_some_and(|shown| shown.part == Part::Fold(0) && shown.batch == 0)
    });
}

#[test]
fn atoms_of_the_linear_kernel_are_the_combinations_themselves() {
    let mut workbench = loaded();
    edit(&mut workbench, |experiment| {
        experiment.learner.kernel = Kernel::Linear
    });
    workbench.apply(Action::Start);
    until(&mut workbench, "it is complete and drawn", |w| {
        status(w) == Some(Status::Complete) && w.dictionary().is_some() && !w.is_busy()
    });
    let shown = workbench.dictionary().expect("it is there");
    assert!(shown.is_exact);
    let run = workbench.training().run().expect("a run");
    let part = workbench.shown_part().expect("a fold");
    let snapshot = &part.tests.last().expect("tests").snapshot.classes[shown.class];
    let dataset = &workbench.data().loaded().expect("data").dataset;
    let atom = &shown.atoms[0];
    let feature = 300;
    let expected: f64 = snapshot
        .kept
        .iter()
        .zip(snapshot.coefficients_of(atom.index))
        .map(|(kept, u)| f64::from(u) * dataset.sample(*kept as usize)[feature])
        .sum();
    assert!((atom.values[feature] - expected).abs() < 1e-9);
    assert_eq!(run.facts.n_features(), atom.values.len());
}

#[test]
fn the_width_of_a_gaussian_is_suggested_by_the_data_and_can_be_undone() {
    let mut workbench = loaded();
    edit(&mut workbench, |experiment| {
        experiment.learner.kernel = Kernel::Gaussian { width: 1e-3 };
    });
    workbench.apply(Action::SuggestWidth);
    until(&mut workbench, "the width is there", |w| {
        w.draft().experiment.learner.kernel != (Kernel::Gaussian { width: 1e-3 })
    });
    let Kernel::Gaussian { width } = workbench.draft().experiment.learner.kernel else {
        panic!("the kernel stays a Gaussian")
    };
    assert!(width > 0.1 && width < 1000.0, "{width}");
    workbench.apply(Action::Undo);
    let kernel = workbench.draft().experiment.learner.kernel;
    assert_eq!(kernel, Kernel::Gaussian { width: 1e-3 });
}

#[test]
fn presets_theme_and_recent_sessions_are_remembered() {
    let (folder, path) = folder();
    let folders = UserFolders::within(&folder.path().join("user"));
    let mut workbench = empty(Some(folders.clone()));
    workbench.edit(small_draft(), false);
    workbench.apply(Action::SavePreset("mine".into()));
    workbench.apply(Action::SetTextSize(1.3));
    save_as(&mut workbench, &path);
    let begun = Instant::now();
    loop {
        workbench.update();
        let other = empty(Some(folders.clone()));
        let settings = other.settings();
        let is_known = settings.recent.contains(&path)
            && settings.text_size == 1.3
            && settings.presets.iter().any(|preset| preset.name == "mine");
        if is_known {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{settings:?}");
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_signal_is_looked_at() {
    let mut workbench = loaded();
    workbench.apply(Action::LookAtRecord(3));
    until(&mut workbench, "the signal is read", |w| {
        w.signal().is_some()
    });
    let look = workbench.signal().expect("it is there");
    assert_eq!((look.source, look.channels.len()), (3, 6));
    assert!(
        look.channels
            .iter()
            .all(|channel| channel.values.len() > 100)
    );
}

/// Recordings of three subjects of each class, a folder per class.
fn recordings() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let simulator = EegSimulator::new(EegSettings {
        subjects_per_class: 3,
        duration_s: 12.0,
        ..EegSettings::default()
    })
    .expect("the settings are sound");
    for (class, index) in simulator.subjects() {
        let inside = folder.path().join(class.name());
        std::fs::create_dir_all(&inside).expect("a folder per class");
        let path = inside.join(format!("{}-{index}.edf", class.name()));
        let record = simulator.record(class, index);
        write_file(&record, SampleWidth::Edf, &path).expect("the recording is written");
    }
    folder
}

#[test]
fn a_folder_of_recordings_opens_with_rules_a_preview_and_filtered_bands() {
    let folder = recordings();
    let mut workbench = empty(None);
    workbench.apply(Action::Open(folder.path().to_owned()));
    until(&mut workbench, "the recordings are loaded", |w| {
        w.data().loaded().is_some() && w.labels().is_some() && !w.is_busy()
    });
    assert_eq!(workbench.view().page, Stage::Records);
    let preview = workbench.labels().expect("the rules were tried");
    assert_eq!((preview.n_files, preview.classes.len()), (6, 2));
    assert!(matches!(
        workbench.draft().experiment.split,
        SplitPlan::GroupedKFold { .. }
    ));
    edit(&mut workbench, |experiment| {
        experiment.data.recipe = Some(FeatureRecipe::Eeg(Default::default()));
    });
    workbench.apply(Action::LookAtRecord(0));
    until(&mut workbench, "the signal is read", |w| {
        w.signal().is_some()
    });
    let look = workbench.signal().expect("it is there");
    assert_eq!(look.bands.len(), 4, "delta, theta, alpha, beta");
    let power = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
    let raw = power(&look.channels[0].values);
    assert!(look.bands.iter().all(|band| power(&band.values) < raw));
    // One recording put right by hand, another left out.
    let names: Vec<PathBuf> = workbench.data().loaded().expect("data").records[..2]
        .iter()
        .map(|row| PathBuf::from(&row.name))
        .collect();
    edit(&mut workbench, |experiment| {
        let DataPlan::Recordings(source) = &mut experiment.data.source else {
            panic!("a folder of recordings")
        };
        source.left_out.insert(names[0].clone());
        let by_hand = source.relabelled.entry(names[1].clone()).or_default();
        by_hand.class = Some("third".into());
    });
    assert!(matches!(
        workbench.status(Stage::Records).state,
        StageState::Stale(_)
    ));
    workbench.apply(Action::LoadData);
    until(&mut workbench, "they are loaded again", |w| {
        w.data()
            .loaded()
            .is_some_and(|loaded| loaded.records.len() == 5)
    });
    let dataset = &workbench.data().loaded().expect("data").dataset;
    assert!(dataset.class_names().contains(&"third".to_owned()));
}

#[test]
fn a_damaged_file_is_refused_with_its_reason_and_what_is_open_stays() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut workbench = loaded();
    let hostile: [(&str, &[u8]); 4] = [
        ("noise.edf", &[0xff; 4000]),
        ("empty.csv", b""),
        ("bomb.mat", b"MATLAB 5.0 MAT-file\0\0\0"),
        ("torn.ron", b"(format: 1, experiment: ("),
    ];
    for (name, bytes) in hostile {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("the file is written");
        workbench.apply(Action::Open(path));
        // The edited draft is unsaved.
        workbench.apply(Action::DoNotSave);
        until(&mut workbench, "it is refused", |w| {
            let told = w.notices().list().iter();
            told.into_iter()
                .any(|n| n.gravity == Gravity::Error && n.text.contains(name))
        });
        assert!(workbench.data().loaded().is_some(), "{name}");
    }
}

#[test]
fn what_is_frozen_stays_when_the_next_fold_begins_and_lives_again() {
    let mut workbench = loaded();
    workbench.apply(Action::LimitSpeed(Some(30.0)));
    workbench.apply(Action::Start);
    until(&mut workbench, "a test was made", |w| {
        w.shown_test().is_some()
    });
    workbench.apply(Action::Freeze);
    let frozen = (workbench.shown_fold(), workbench.view().replay);
    assert!(frozen.1.is_some());
    assert_eq!(workbench.view().chosen_fold(), None, "nobody chose a fold");
    workbench.apply(Action::LimitSpeed(None));
    until(&mut workbench, "it is complete", |w| {
        status(w) == Some(Status::Complete)
    });
    assert_eq!((workbench.shown_fold(), workbench.view().replay), frozen);
    let shown = workbench.shown_test().map(|test| test.batch);
    assert_eq!(shown, frozen.1, "training went on, the picture did not");
    workbench.apply(Action::Freeze);
    assert_eq!(
        workbench.view().fold,
        None,
        "the training is followed again"
    );
    assert_eq!(workbench.view().replay, None);
}

#[test]
fn a_threshold_tells_what_it_would_have_admitted() {
    let mut workbench = trained();
    workbench.apply(Action::Show(Stage::Learner));
    workbench.update();
    let learner = &workbench.draft().experiment.learner;
    let part = workbench.shown_part().expect("a fold");
    let (mut admitted, mut seen) = (0, 0);
    for class in part.rounds.iter().flat_map(|round| &round.classes) {
        admitted += class.admitted;
        seen += class.admitted + class.rejected;
    }
    let admissions = workbench.admissions().expect("the run measured");
    assert_eq!(admissions.n_samples(), seen as usize);
    let (_, threshold) = Criterion::of(learner).expect("a threshold");
    let share = f64::from(admitted) / f64::from(seen);
    assert_eq!(admissions.share_at(threshold), share, "as it was");
    assert_eq!(
        admissions.share_at(1.0),
        0.0,
        "nothing is more than wholly new"
    );
    let mut draft = workbench.draft().clone();
    draft.experiment.learner.kernel = Kernel::Gaussian { width: 3.0 };
    let mut other = draft.clone();
    other.experiment.learner = LearnerSettings::as_published();
    for draft in [draft, other] {
        workbench.edit(draft, false);
        workbench.update();
        let found = workbench.admissions();
        assert_eq!(
            found,
            Err(NotMeasured::OtherRun),
            "another criterion or kernel measures something else"
        );
    }
}

#[test]
fn panels_stand_where_they_stood_when_the_program_starts_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folders = UserFolders::within(folder.path());
    let mut workbench = empty(Some(folders.clone()));
    workbench.apply(Action::TogglePanel(Panel::Gram));
    let moved = Tiling::usual(false).moved(Panel::Confusion, PanelMove::Left, |_| true);
    workbench.apply(Action::ArrangePanels(moved.expect("there is a column")));
    let view = workbench.view();
    let arranged = (view.hidden.clone(), view.tiling.clone());
    workbench.apply(Action::Quit);
    until(&mut workbench, "it is written", Workbench::is_over);
    let again = empty(Some(folders));
    let view = again.view();
    let found = (view.hidden.clone(), view.tiling.clone());
    assert_eq!(found, arranged);
}

#[test]
fn the_features_page_shows_the_signal_of_its_sample_by_itself() {
    let mut workbench = loaded();
    assert!(workbench.signal().is_none());
    workbench.apply(Action::Show(Stage::Features));
    until(&mut workbench, "the signal is read", |w| {
        w.signal().is_some()
    });
    workbench.apply(Action::ChooseSample(7));
    let loaded = workbench.data().loaded().expect("data").clone();
    let source = loaded.dataset.origin(7).source;
    until(&mut workbench, "the other is read", |w| {
        w.signal().is_some_and(|look| look.source == source)
    });
}
