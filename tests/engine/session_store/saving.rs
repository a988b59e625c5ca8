//! Saving and reopening: bit for bit, in another place, against other windows, on a full disk.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use atomscope_engine::dataset::{DataPlan, DataSettings, TableSource};
use atomscope_engine::experiment::{Experiment, Run, RunParts, change_texts};
use atomscope_engine::learner::LearnerSettings;
use atomscope_engine::session::{Content, DataPlaces, Resolution, Session, SessionError};

use super::small_run::{
    advance, experiment, names_in, new_run, outcome, read_data, resumed, saved_session, write_table,
};

#[test]
fn a_run_saved_and_reopened_at_any_round_ends_as_one_never_interrupted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ron");
    write_table(&folder.path().join("points.csv"));
    let mut n_cuts = 0;
    for learner in [
        LearnerSettings::as_published(),
        LearnerSettings::evidence_preserving(),
        LearnerSettings::margin_aware(),
        LearnerSettings::kmod(),
        LearnerSettings::skdl(),
        LearnerSettings::svm(),
    ] {
        let experiment = experiment(learner);
        let built = read_data(&experiment, &path);
        let mut whole = new_run(&experiment, &built);
        while !whole.is_complete() {
            advance(&mut whole, 1);
        }
        let expected = outcome(&whole.state());
        for cut in 0.. {
            let mut run = new_run(&experiment, &built);
            advance(&mut run, cut);
            let mut session = Session::new(experiment.clone());
            session.take_run(&run, &built, &path);
            session.save_as(&path).expect("saved");
            let reopened = Session::load(&path).expect("whole");
            assert!(reopened.damage.is_none(), "{:?}", reopened.damage);
            let mut again = resumed(&reopened, &built);
            while !again.is_complete() {
                advance(&mut again, 1);
            }
            assert!(outcome(&again.state()) == expected, "cut at {cut}");
            n_cuts += 1;
            if run.is_complete() {
                break;
            }
        }
    }
    assert!(n_cuts >= 100, "only {n_cuts} cuts");
}

#[test]
fn a_run_changed_on_its_way_is_repeated_from_the_settings_it_began_with() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ron");
    write_table(&folder.path().join("points.csv"));
    let began = experiment(LearnerSettings::margin_aware());
    let built = read_data(&began, &path);
    let mut run = new_run(&began, &built);
    advance(&mut run, 6);
    let mut changed = run.learner_now().clone();
    changed.budget = 9;
    changed.forgetting.start_value = 0.9;
    run.change_learner(changed.clone()).expect("may change");
    // As the window saves it: the settings shown are those that the run was changed to.
    let shown = Experiment {
        learner: changed,
        ..began.clone()
    };
    let save = |run: &Run| {
        let mut session = Session::new(shown.clone());
        session.set_run(Arc::new(run.state()));
        session.set_settings(shown.clone());
        session.save_as(&path).expect("saved");
        Session::load(&path).expect("whole")
    };
    advance(&mut run, 1);
    let halfway = save(&run);
    assert_eq!(halfway.experiment.learner, began.learner);
    assert_eq!(halfway.settings_to_go_on().learner, shown.learner);
    while !run.is_complete() {
        advance(&mut run, 1);
    }
    let saved = save(&run);
    assert_eq!(saved.experiment.learner, began.learner);
    assert_eq!(saved.settings_to_go_on(), saved.experiment);
    let dataset = Arc::new(built.dataset.clone());
    let checked = saved.experiment.clone().check(dataset).expect("legal");
    let parts = RunParts {
        folds: None,
        final_model: true,
    };
    let mut again = Run::new(Arc::new(checked), &parts, saved.changes().to_vec()).expect("a run");
    while !again.is_complete() {
        advance(&mut again, 1);
    }
    assert!(outcome(&again.state()) == outcome(&run.state()));
    let state = saved.run.as_deref().expect("a run");
    let texts = change_texts(&state.experiment.learner, &state.changes);
    let expected = "L_max (16 → 9), λ₀ (";
    assert!(
        texts.len() == 1 && texts[0].0 == 6 && texts[0].1.starts_with(expected),
        "{texts:?}"
    );
    // Other settings begin another run, which has nothing to repeat.
    let mut other = saved;
    other.set_settings(Experiment { seed: 9, ..began });
    assert!(other.changes().is_empty());
}

#[test]
fn everything_is_there_after_reopening() {
    let (folder, path) = saved_session(12);
    let mut session = Session::load(&path).expect("whole");
    assert_eq!(session.notes, "as it was");
    session.title = "A title".into();
    session.layout = Some("(page: Train)".into());
    session.save().expect("saved");
    let again = Session::load(&path).expect("whole");
    let results = again.results.as_ref().expect("results");
    assert_eq!(results.class_names, ["x", "y", "z"]);
    assert_eq!(results.test_folds.len(), 180);
    let fold = &results.folds[0];
    assert_eq!(fold.n_rounds, (12, 16));
    assert_eq!(fold.tests.len(), 4);
    assert_eq!(again.title, "A title");
    assert_eq!(again.layout, session.layout);
    let state = |session: &Session| outcome(session.run.as_deref().expect("a run"));
    assert_eq!(state(&again), state(&session));
    assert_eq!(names_in(folder.path()).len(), 3);
}

#[test]
fn a_session_saved_elsewhere_finds_its_data_and_goes_on() {
    let (folder, path) = saved_session(5);
    let elsewhere = folder.path().join("deep/er");
    fs::create_dir_all(&elsewhere).expect("a folder");
    let there = elsewhere.join("b.ron");
    let mut session = Session::load(&path).expect("whole");
    session.save_as(&there).expect("saved");
    let session = Session::load(&there).expect("whole");
    assert_eq!(session.references[0].path, "../../points.csv");
    let built = read_data(&session.experiment, &there);
    let mut run = resumed(&session, &built);
    advance(&mut run, 1);
    assert!(
        Session::load(&path).expect("whole").run.is_some(),
        "the first one stays as it is"
    );
}

#[test]
fn what_the_data_was_is_noted_and_compared() {
    let (folder, path) = saved_session(1);
    let session = Session::load(&path).expect("whole");
    let reference = &session.references[0];
    assert!(matches!(reference.content, Some(Content::File { .. })));
    let table = folder.path().join("points.csv");
    let copy = folder.path().join("copy.csv");
    fs::copy(&table, &copy).expect("copied");
    assert!(session.has_learned_from(&copy), "the name does not matter");
    fs::write(&copy, "a,class\n1,x\n").expect("written");
    assert!(!session.has_learned_from(&copy));
    let places = DataPlaces::new(Some(&path), &[]);
    let resolve = || reference.resolve(&places, &mut |_| true).expect("readable");
    assert!(matches!(resolve(), Resolution::Found(_)));
    fs::write(&table, "a,class\n1,x\n").expect("written");
    assert!(matches!(resolve(), Resolution::Changed { .. }));
    fs::remove_file(&table).expect("removed");
    assert_eq!(resolve(), Resolution::Missing);
    assert!(Session::load(&path).expect("whole").results.is_some());
}

#[test]
fn saving_notes_the_data_that_was_read_and_reads_none() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.ron");
    let table = folder.path().join("points.csv");
    write_table(&table);
    let experiment = experiment(LearnerSettings::margin_aware());
    let built = read_data(&experiment, &path);
    let run = new_run(&experiment, &built);
    let saved_content = || {
        let mut session = Session::new(experiment.clone());
        session.take_run(&run, &built, &path);
        session.save_as(&path).expect("saved");
        let session = Session::load(&path).expect("whole");
        session.references[0].content.clone().expect("noted")
    };
    let read = saved_content();
    fs::write(&table, "a,class\n1,x\n").expect("written");
    assert_eq!(saved_content(), read, "what was trained on counts");
    fs::remove_file(&table).expect("removed");
    assert_eq!(saved_content(), read, "a file that is gone cannot be read");
}

#[cfg(unix)]
#[test]
fn paths_that_are_no_unicode_are_opened_trained_saved_and_reopened() {
    use std::os::unix::ffi::OsStrExt;
    let name = |bytes: &'static [u8]| Path::new(std::ffi::OsStr::from_bytes(bytes));
    let outer = tempfile::tempdir().expect("a temporary folder");
    let folder = outer.path().join(name(b"study\xff"));
    fs::create_dir(&folder).expect("a folder");
    let path = folder.join("a.ron");
    // Both would be shown as the same name.
    let tables = [name(b"points\xfe.csv"), name(b"points\xfd.csv")].map(Path::to_owned);
    for table in &tables {
        write_table(&folder.join(table));
    }
    let mut began = experiment(LearnerSettings::margin_aware());
    began.data = DataSettings::new(
        DataPlan::Table(TableSource {
            paths: tables.to_vec(),
            ..TableSource::default()
        }),
        None,
    );
    let built = read_data(&began, &path);
    assert_eq!(
        built.dataset.sources().len(),
        2,
        "two files are two sources"
    );
    let mut run = new_run(&began, &built);
    advance(&mut run, 3);
    let mut session = Session::new(began.clone());
    session.take_run(&run, &built, &path);
    session.save_as(&path).expect("saved");
    let elsewhere = outer.path().join("b.ron");
    session.save_as(&elsewhere).expect("saved elsewhere");
    for place in [&path, &elsewhere] {
        let reopened = Session::load(place).expect("whole");
        assert!(reopened.damage.is_none(), "{:?}", reopened.damage);
        let built = read_data(&reopened.experiment, place);
        let mut again = resumed(&reopened, &built);
        advance(&mut again, 1);
        assert_eq!(reopened.references.len(), 2);
        let places = DataPlaces::new(Some(place), &[]);
        for reference in &reopened.references {
            let found = reference.resolve(&places, &mut |_| true).expect("readable");
            assert!(matches!(found, Resolution::Found(_)), "{found:?}");
        }
    }
}

#[test]
fn two_windows_do_not_overwrite_each_other_unseen() {
    let (_folder, path) = saved_session(1);
    let mut mine = Session::load(&path).expect("whole");
    let mut theirs = Session::load(&path).expect("whole");
    theirs.notes = "theirs".into();
    theirs.save().expect("they are first");
    mine.notes = "mine".into();
    let refused = mine.save().expect_err("changed meanwhile");
    assert!(matches!(refused, SessionError::ChangedOnDisk { .. }));
    assert_eq!(Session::load(&path).expect("whole").notes, "theirs");
    mine.overwrite().expect("explicitly");
    assert_eq!(Session::load(&path).expect("whole").notes, "mine");
    mine.save().expect("now it is ours");
}

#[test]
fn without_its_arrays_a_session_still_shows_its_results_and_saving_keeps_the_reference() {
    let (folder, path) = saved_session(3);
    let names = names_in(folder.path());
    let arrays = names.iter().find(|name| name.ends_with(".safetensors"));
    let arrays = folder.path().join(arrays.expect("there are arrays"));
    let hidden = folder.path().join("hidden");
    fs::rename(&arrays, &hidden).expect("hidden");
    let mut session = Session::load(&path).expect("the rest is there");
    let damage = session.damage.as_ref().expect("it is told").to_string();
    assert!(damage.contains("results are intact"), "{damage}");
    assert!(session.run.is_none() && session.results.is_some());
    session.notes = "new".into();
    session.save().expect("saved");
    fs::rename(&hidden, &arrays).expect("back again");
    let session = Session::load(&path).expect("whole");
    assert!(session.damage.is_none() && session.run.is_some());
    assert_eq!(session.notes, "new");
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_and_nothing_is_lost() {
    let (folder, path) = saved_session(1);
    let mut permissions = fs::metadata(folder.path()).expect("there").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(folder.path(), permissions.clone()).expect("set");
    if fs::write(folder.path().join("probe"), "").is_ok() {
        eprintln!("skipped: this user may write into read-only folders");
        return;
    }
    let mut session = Session::load(&path).expect("readable");
    session.notes = "new".into();
    let refused = session.save().expect_err("read-only");
    assert!(matches!(refused, SessionError::Io { .. }), "{refused}");
    assert_eq!(Session::load(&path).expect("whole").notes, "as it was");
}

/// A file system of its own, small enough to be filled.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(folder: &'a Path) -> Option<Self> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"])
            .arg(folder)
            .output();
        mounted.ok()?.status.success().then_some(Self(folder))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()));
    }
}

#[test]
fn a_full_disk_is_an_error_and_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(disk) = SmallDisk::mount(folder.path()) else {
        eprintln!("skipped: this user may not mount a small disk");
        return;
    };
    let (_origin, origin) = saved_session(2);
    let path = disk.0.join("a.ron");
    let mut session = Session::load(&origin).expect("whole");
    session.save_as(&path).expect("there is room");
    let filler = disk.0.join("filler");
    fs::write(&filler, vec![0; 4 << 20]).expect_err("the disk is full");
    session.notes = "new".into();
    let refused = session.save().expect_err("no space");
    assert!(matches!(refused, SessionError::Io { .. }), "{refused}");
    let found = Session::load(&path).expect("whole");
    assert!(found.damage.is_none());
    assert_eq!(found.notes, "as it was");
    fs::remove_file(filler).expect("room again");
    session.save().expect("saved");
    assert_eq!(names_in(disk.0).len(), 2);
}

#[cfg(unix)]
#[test]
fn a_session_whose_name_is_not_utf8_is_saved_reopened_and_cleared_of_old_arrays() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().expect("a temporary folder");
    write_table(&folder.path().join("points.csv"));
    let path = folder.path().join(OsStr::from_bytes(b"a\xff.ron"));
    let other = folder.path().join(OsStr::from_bytes(b"a\xfe.ron"));
    let experiment = experiment(LearnerSettings::margin_aware());
    let built = read_data(&experiment, &path);
    let mut run = new_run(&experiment, &built);
    for round in 1..=3 {
        advance(&mut run, round);
        for path in [&path, &other] {
            let mut session = Session::new(experiment.clone());
            session.take_run(&run, &built, path);
            session.save_as(path).expect("saved");
        }
    }
    for path in [&path, &other] {
        let reopened = Session::load(path).expect("whole");
        assert!(reopened.damage.is_none(), "{:?}", reopened.damage);
        let again = resumed(&reopened, &built);
        assert!(outcome(&again.state()) == outcome(&run.state()));
    }
    let arrays = names_in(folder.path());
    let arrays = arrays.iter().filter(|name| name.ends_with(".safetensors"));
    assert_eq!(arrays.count(), 2);
}
