//! Work that must not get lost: closing, crashing, stepping, replacing files, undoing, moved data.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use atomscope::ui::app::App;
use atomscope::workbench::explore::ExploreAction;
use atomscope::workbench::{Action, Ask, Demo, Gravity, LearnerChange, Notice, Stage, Workbench};
use atomscope_engine::dataset::{DataPlan, DataSettings, Scaling};
use atomscope_engine::experiment::{Experiment, Status};
use atomscope_engine::export::ExportContent;
use atomscope_engine::records::Annotation;
use atomscope_engine::records::edf::{SampleWidth, write_file};
use atomscope_engine::session::{
    OwnAnnotation, RecordingNotes, Recovery, Session, UserFolders, change_notes, find_copies,
    notes_on,
};
use atomscope_engine::simulate::eeg::{EegSettings, EegSimulator};
use egui::{Context, RawInput, ViewportCommand, ViewportEvent, ViewportId, ViewportInfo};

use crate::small_data::small_draft;
use crate::workbench::{edit, empty, loaded, n_rounds, reopened, save_as, status, trained, until};

/// A look at a window that is minimised: no page is shown, only the logic runs.
fn minimised(app: &mut App, events: Vec<ViewportEvent>) -> Vec<ViewportCommand> {
    let context = Context::default();
    let info = ViewportInfo {
        minimized: Some(true),
        events,
        ..ViewportInfo::default()
    };
    let mut input = RawInput::default();
    input.viewports.insert(ViewportId::ROOT, info);
    let output = context.run_logic(&input, |context| app.attend(context));
    let mut commands = output.viewport_commands;
    commands.remove(&ViewportId::ROOT).unwrap_or_default()
}

#[test]
fn closing_a_minimised_window_asks_and_brings_it_back() {
    let mut app = App::new(trained(), false);
    let commands = minimised(&mut app, vec![ViewportEvent::Close]);
    assert!(
        commands.contains(&ViewportCommand::CancelClose),
        "{commands:?}"
    );
    assert!(commands.contains(&ViewportCommand::Minimized(false)));
    assert!(matches!(app.workbench().view().ask, Some(Ask::Unsaved(_))));
    assert!(!app.workbench().is_over());
    app.workbench_mut().apply(Action::DoNotSave);
    let commands = minimised(&mut app, Vec::new());
    assert!(commands.contains(&ViewportCommand::Close));
}

/// What a window of a size asks of a screen when it appears, and a frame later.
fn new_window(window: egui::Vec2, screen: egui::Vec2) -> [Vec<ViewportCommand>; 2] {
    let mut app = App::new(empty(None), false);
    let context = Context::default();
    [(); 2].map(|()| {
        let info = ViewportInfo {
            inner_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, window)),
            monitor_size: Some(screen),
            ..ViewportInfo::default()
        };
        let mut input = RawInput::default();
        input.viewports.insert(ViewportId::ROOT, info);
        let output = context.run_logic(&input, |context| app.attend(context));
        let mut commands = output.viewport_commands;
        commands.remove(&ViewportId::ROOT).unwrap_or_default()
    })
}

#[test]
fn a_new_window_hides_no_run_bar_below_the_screen() {
    let maximise = ViewportCommand::Maximized(true);
    let small = egui::vec2(1440.0, 900.0);
    let [first, second] = new_window(small, small);
    assert!(first.contains(&maximise), "{first:?}");
    assert!(!second.contains(&maximise), "a person may make it smaller");
    let large = egui::vec2(1920.0, 1080.0);
    let [first, _] = new_window(egui::vec2(1600.0, 1000.0), large);
    assert!(!first.contains(&maximise), "{first:?}");
}

#[test]
fn the_background_is_heard_while_the_window_is_minimised() {
    let mut workbench = loaded();
    workbench.apply(Action::Start);
    let mut app = App::new(workbench, false);
    let begun = Instant::now();
    while status(app.workbench()) != Some(Status::Complete) {
        minimised(&mut app, Vec::new());
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "nothing is heard"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_a_demo_has_trained_counts_as_work() {
    let mut workbench = empty(None);
    workbench.apply(Action::OpenDemo(Demo::FeederFaults));
    assert!(!workbench.is_unsaved(), "nothing is trained yet");
    workbench.apply(Action::LimitSpeed(None));
    until(&mut workbench, "a fold is complete", |w| {
        let run = w.training().run();
        run.is_some_and(|run| run.summary.is_some())
    });
    assert!(workbench.is_unsaved());
    workbench.apply(Action::Quit);
    assert!(!workbench.is_over());
}

#[test]
fn a_demo_that_nobody_touched_gives_way_to_a_file_without_a_question() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("table.csv");
    let rows = (0..40).map(|row| format!("{row}.5,{}\n", ["a", "b"][row % 2]));
    std::fs::write(&path, format!("x,class\n{}", rows.collect::<String>())).expect("written");
    for is_edited in [false, true] {
        let mut workbench = empty(None);
        workbench.apply(Action::OpenDemo(Demo::FeederFaults));
        workbench.apply(Action::LimitSpeed(None));
        until(&mut workbench, "a fold is complete", |w| {
            let run = w.training().run();
            run.is_some_and(|run| run.summary.is_some())
        });
        if is_edited {
            let mut draft = workbench.draft().clone();
            draft.notes = "mine".into();
            workbench.edit(draft, false);
        }
        workbench.apply(Action::Open(path.clone()));
        let asks = matches!(workbench.view().ask, Some(Ask::Unsaved(_)));
        assert_eq!(asks, is_edited);
    }
}

#[test]
fn what_was_noted_while_viewing_a_recording_is_saved_without_the_demo() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recording = folder.path().join("r.edf");
    let simulator = EegSimulator::new(EegSettings::default()).expect("sound settings");
    let (class, index) = simulator.subjects().next().expect("a subject");
    let record = simulator.record(class, index);
    write_file(&record, SampleWidth::Edf, &recording).expect("written");
    let path = folder.path().join("mine.ron");
    let mut workbench = empty(None);
    workbench.apply(Action::OpenDemo(Demo::FeederFaults));
    workbench.apply(Action::Open(recording.clone()));
    until(&mut workbench, "it is shown", |w| {
        w.explore().opened().is_some()
    });
    assert_eq!(workbench.banner(), None, "only the recording is left");
    let mut draft = workbench.draft().clone();
    draft.recordings.push(RecordingNotes {
        recording: recording.display().to_string(),
        bad_channels: vec!["Cz".into()],
        ..RecordingNotes::default()
    });
    workbench.edit(draft, false);
    save_as(&mut workbench, &path);
    let mut again = empty(None);
    again.apply(Action::Open(path));
    until(&mut again, "the session is open", |w| w.path().is_some());
    for _ in 0..20 {
        again.update();
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(again.draft().recordings.len(), 1);
    assert!(
        again.data().loaded().is_none(),
        "nobody chose the simulated faults"
    );
    assert_eq!(again.loading_share(), None);
}

#[test]
fn a_recording_too_short_to_be_trained_on_is_shown_without_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("short.edf");
    let settings = EegSettings {
        duration_s: 3.0,
        ..EegSettings::default()
    };
    let simulator = EegSimulator::new(settings).expect("sound settings");
    let (class, index) = simulator.subjects().next().expect("a subject");
    let mut record = simulator.record(class, index);
    for (onset_s, text) in [(0.0, "T1"), (0.4, "T2"), (0.8, "T1"), (1.2, "T2")] {
        let annotation = Annotation::new(onset_s, Some(0.3), text);
        record.annotations.push(annotation);
    }
    write_file(&record, SampleWidth::Edf, &path).expect("written");
    let mut workbench = empty(None);
    workbench.apply(Action::Open(path));
    until(&mut workbench, "it is shown and looked through", |w| {
        let is_loaded = w.data().loaded().is_some() || w.data().error().is_some();
        w.explore().opened().is_some() && is_loaded
    });
    assert!(workbench.data().error().is_some(), "nothing to train on");
    let list = workbench.notices().list();
    let errors = list
        .iter()
        .filter(|notice| notice.gravity == Gravity::Error);
    assert_eq!(errors.count(), 0, "{list:?}");
    assert!(
        list.iter().any(|n| n.text.contains("for viewing only")),
        "{list:?}"
    );
}

#[test]
fn a_save_during_a_save_comes_after_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("mine.ron");
    let mut workbench = trained();
    save_as(&mut workbench, &path);
    for number in 0..20 {
        let mut draft = workbench.draft().clone();
        draft.notes = format!("note {number}");
        workbench.edit(draft, false);
        workbench.apply(Action::Save);
    }
    until(&mut workbench, "all is saved", |w| !w.is_saving());
    assert!(!workbench.is_unsaved());
    assert_eq!(Session::load(&path).expect("whole").notes, "note 19");
    let is_failure = |notice: &Notice| notice.gravity == Gravity::Error;
    assert!(!workbench.notices().list().iter().any(is_failure));
}

#[test]
fn an_edit_while_data_are_loaded_stays_unsaved() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("table.csv");
    let rows: String = (0..40).map(|k| format!("{k},c{}\n", k % 2)).collect();
    std::fs::write(&path, format!("a,class\n{rows}")).expect("written");
    let mut workbench = empty(None);
    workbench.apply(Action::Open(path));
    until(&mut workbench, "it is looked at", |w| !w.is_opening());
    let mut draft = workbench.draft().clone();
    draft.notes = "written meanwhile".into();
    workbench.edit(draft, false);
    until(&mut workbench, "data are loaded", |w| {
        w.data().loaded().is_some()
    });
    assert_eq!(workbench.draft().notes, "written meanwhile");
    assert!(workbench.is_unsaved());
}

#[test]
fn an_edit_while_something_is_opened_is_asked_about() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("mine.ron");
    let mut workbench = trained();
    save_as(&mut workbench, &path);
    workbench.apply(Action::Open(path));
    let mut draft = workbench.draft().clone();
    draft.notes = "written meanwhile".into();
    workbench.edit(draft, false);
    until(&mut workbench, "it is looked at", |w| !w.is_opening());
    assert!(matches!(workbench.view().ask, Some(Ask::Unsaved(_))));
    assert_eq!(workbench.draft().notes, "written meanwhile");
    workbench.apply(Action::DoNotSave);
    until(&mut workbench, "it is open", |w| w.draft().notes.is_empty());
}

struct Home {
    _folder: tempfile::TempDir,
    folders: UserFolders,
    path: PathBuf,
}

fn home() -> Home {
    let folder = tempfile::tempdir().expect("a temporary folder");
    Home {
        folders: UserFolders::within(&folder.path().join("user")),
        path: folder.path().join("mine.ron"),
        _folder: folder,
    }
}

impl Home {
    fn copies(&self, path: Option<&Path>) -> Vec<Session> {
        let found = find_copies(path, &self.folders).expect("searched");
        let mut offers = found.offers;
        offers.drain(..).map(|offer| offer.session).collect()
    }
}

/// Waits for what a copy takes at most, and the crash of a program that was not closed.
fn until_copied(workbench: &mut Workbench, copy: &Path, edit: &str) {
    let begun = Instant::now();
    // A copy of what was trained may be there before the edit.
    let holds_edit = || std::fs::read_to_string(copy).is_ok_and(|text| text.contains(edit));
    while !holds_edit() {
        workbench.update();
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "no copy in ten seconds"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    until(workbench, "the copy is written", |w| !w.is_busy());
}

#[test]
fn every_edit_has_a_copy_in_ten_seconds_although_nothing_trains() {
    let home = home();
    let mut workbench = empty(Some(home.folders.clone()));
    workbench.edit(small_draft(), false);
    workbench.apply(Action::LoadData);
    until(&mut workbench, "data are loaded", |w| {
        w.split().made().is_some()
    });
    workbench.apply(Action::Start);
    until(&mut workbench, "the run is complete", |w| {
        status(w) == Some(Status::Complete)
    });
    save_as(&mut workbench, &home.path);
    let mut draft = workbench.draft().clone();
    draft.notes = "remember this".into();
    draft.recordings.push(RecordingNotes {
        recording: "a.edf".into(),
        annotations: vec![OwnAnnotation {
            onset_s: 1.0,
            duration_s: 2.0,
            text: "spike".into(),
            channels: Vec::new(),
        }],
        ..RecordingNotes::default()
    });
    workbench.edit(draft.clone(), false);
    until_copied(
        &mut workbench,
        &home.path.with_file_name("mine.recovery.ron"),
        "remember this",
    );
    drop(workbench);
    let mut again = empty(Some(home.folders.clone()));
    again.look_for_recovery();
    until(&mut again, "the copy is found", |w| {
        !w.offered_copies().is_empty()
    });
    let offered = &again.offered_copies()[0];
    assert!(offered.name.ends_with("mine.ron"), "{offered:?}");
    assert_eq!(
        offered.contents,
        "complete run, 1 annotation, notes, settings"
    );
    again.apply(Action::Recover(0));
    assert_eq!(*again.draft(), draft);
    assert!(again.training().run().is_some() && again.is_unsaved());
    again.apply(Action::Quit);
    again.apply(Action::DoNotSave);
    until(&mut again, "it is over", Workbench::is_over);
    assert!(
        home.copies(Some(&home.path)).is_empty(),
        "not saved leaves no copy"
    );
}

#[test]
fn a_copy_of_a_demo_has_its_name_and_the_demo_that_began_meanwhile_is_not_asked_about() {
    let home = home();
    let train = |workbench: &mut Workbench| {
        workbench.apply(Action::OpenDemo(Demo::FeederFaults));
        workbench.apply(Action::LimitSpeed(None));
        until(workbench, "the demo is complete", |w| {
            status(w) == Some(Status::Complete)
        });
    };
    let mut workbench = empty(Some(home.folders.clone()));
    train(&mut workbench);
    let mut draft = workbench.draft().clone();
    draft.notes = "remember this".into();
    workbench.edit(draft, false);
    until_copied(
        &mut workbench,
        &home.folders.state.join("untitled.recovery.ron"),
        "remember this",
    );
    drop(workbench);
    let mut again = empty(Some(home.folders.clone()));
    again.look_for_recovery();
    train(&mut again);
    until(&mut again, "the copy is found", |w| {
        !w.offered_copies().is_empty()
    });
    assert_eq!(again.offered_copies()[0].name, "feeder demo");
    again.apply(Action::Recover(0));
    assert!(again.view().ask.is_none(), "the demo can be had again");
    assert_eq!(again.draft().notes, "remember this");
    assert_eq!(again.name(), "feeder demo");
    // An edit cannot be had again.
    let mut edited = empty(Some(home.folders.clone()));
    edited.apply(Action::OpenDemo(Demo::FeederFaults));
    let mut draft = edited.draft().clone();
    draft.notes = "another".into();
    edited.edit(draft, false);
    edited.apply(Action::Recover(0));
    assert!(matches!(edited.view().ask, Some(Ask::Unsaved(_))));
}

#[test]
fn all_copies_are_listed_also_when_the_program_starts_with_a_session() {
    let home = home();
    let mut saved = Session::new(Experiment::default());
    saved.save_as(&home.path).expect("saved");
    for path in [None, Some(home.path.as_path())] {
        let mut copy = Recovery::claim(path, &home.folders).expect("a place");
        let mut session = saved.clone();
        session.notes = "not saved".into();
        copy.write(&session).expect("written");
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut workbench = empty(Some(home.folders.clone()));
    workbench.look_for_recovery();
    workbench.apply(Action::Open(home.path.clone()));
    until(&mut workbench, "both copies are listed", |w| {
        w.offered_copies().len() == 2
    });
    let names: Vec<String> = workbench
        .offered_copies()
        .into_iter()
        .map(|c| c.name)
        .collect();
    assert!(
        names[0].ends_with("mine.ron"),
        "the newest first: {names:?}"
    );
    assert_eq!(names[1], "untitled");
}

#[test]
fn not_saving_removes_a_copy_that_is_just_being_written() {
    let home = home();
    let mut workbench = empty(Some(home.folders.clone()));
    edit(&mut workbench, |experiment| experiment.seed = 9);
    until_copied(
        &mut workbench,
        &home.folders.state.join("untitled.recovery.ron"),
        "seed: 9",
    );
    edit(&mut workbench, |experiment| experiment.seed = 10);
    let begun = Instant::now();
    while !workbench.is_busy() && begun.elapsed() < Duration::from_secs(10) {
        workbench.update();
    }
    workbench.apply(Action::Quit);
    workbench.apply(Action::DoNotSave);
    until(&mut workbench, "it is over", Workbench::is_over);
    drop(workbench);
    assert!(home.copies(None).is_empty());
}

#[test]
fn a_step_keeps_a_complete_run_and_undo_brings_back_one_that_was_replaced() {
    let mut workbench = trained();
    let before = workbench.training().run().expect("a run").confusion();
    workbench.apply(Action::Step);
    workbench.update();
    assert_eq!(status(&workbench), Some(Status::Complete));
    let told = workbench.notices().list().last().map(|n| n.text.clone());
    assert!(told.is_some_and(|text| text.contains("complete")));
    edit(&mut workbench, |experiment| experiment.learner.n_atoms = 7);
    workbench.apply(Action::Step);
    until(&mut workbench, "another run has begun", |w| {
        n_rounds(w) > 0 && status(w) == Some(Status::Paused)
    });
    workbench.apply(Action::Undo);
    let back = workbench.training().run().expect("it is back");
    assert_eq!(
        (&back.status, back.confusion()),
        (&Status::Complete, before)
    );
    assert!(!workbench.training().is_alive());
    assert!(
        workbench.training().earlier().is_empty(),
        "it is not earlier than itself"
    );
    until(&mut workbench, "it is measured", |w| !w.is_busy());
    let names: Vec<&str> = workbench
        .comparison()
        .contenders()
        .iter()
        .map(|contender| contender.name.as_str())
        .collect();
    assert!(
        matches!(names[..], [one] if one.starts_with("run 1:")),
        "{names:?}"
    );
    workbench.apply(Action::Undo);
    assert_eq!(workbench.stale(), None, "the settings are back too");
}

#[test]
fn a_complete_run_is_work_until_the_next_one_has_results() {
    let home = home();
    let mut workbench = empty(Some(home.folders.clone()));
    workbench.apply(Action::OpenDemo(Demo::FeederFaults));
    workbench.apply(Action::LimitSpeed(None));
    until(&mut workbench, "the demo is complete", |w| {
        status(w) == Some(Status::Complete)
    });
    workbench.apply(Action::LimitSpeed(Some(0.5)));
    workbench.apply(Action::StartAnew);
    until(&mut workbench, "another run has begun", |w| {
        w.training().is_alive()
    });
    assert!(workbench.is_unsaved(), "the complete run would be lost");
    let mut draft = workbench.draft().clone();
    draft.notes = "remember this".into();
    workbench.edit(draft, false);
    let copy = home.folders.state.join("untitled.recovery.ron");
    until_copied(&mut workbench, &copy, "remember this");
    drop(workbench);
    let copies = home.copies(None);
    let kept = copies[0].run.as_ref().expect("the run is in the copy");
    assert!(kept.is_complete());
}

#[test]
fn a_save_while_a_complete_run_is_trained_again_holds_both() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("mine.ron");
    let mut workbench = trained();
    let results = |w: &Workbench| w.training().run().expect("a run").confusion();
    let before = results(&workbench);
    workbench.apply(Action::LimitSpeed(Some(2.0)));
    workbench.apply(Action::StartAnew);
    until(&mut workbench, "another run has begun", |w| {
        w.training().is_alive() && n_rounds(w) > 0
    });
    save_as(&mut workbench, &path);
    let saved = Session::load(&path).expect("whole");
    assert!(saved.run.is_some_and(|run| run.is_complete()));
    assert!(saved.younger.is_some_and(|run| !run.is_complete()));

    let mut again = reopened(&path);
    assert!(!again.is_unsaved());
    assert_eq!(status(&again), Some(Status::Stopped));
    assert_eq!(
        again.comparison().compared().len(),
        1,
        "the complete run takes part"
    );
    again.apply(Action::Undo);
    assert_eq!(
        (status(&again), results(&again)),
        (Some(Status::Complete), before)
    );
    again.apply(Action::Redo);
    again.apply(Action::Save);
    until(&mut again, "it is saved", |w| !w.is_saving());
    let saved = Session::load(&path).expect("whole");
    assert!(saved.run.is_some_and(|run| run.is_complete()) && saved.younger.is_some());

    again.apply(Action::LimitSpeed(None));
    again.apply(Action::Start);
    until(&mut again, "the younger run is complete", |w| {
        status(w) == Some(Status::Complete)
    });
    again.apply(Action::Save);
    until(&mut again, "it is saved", |w| !w.is_saving());
    let saved = Session::load(&path).expect("whole");
    assert!(saved.run.is_some_and(|run| run.is_complete()) && saved.younger.is_none());
    let files = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(files, 2, "no arrays are left over");
}

#[test]
fn exports_ask_before_they_replace_a_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("curve.csv");
    std::fs::write(&path, "precious").expect("written");
    let mut workbench = trained();
    let export = Action::Export(ExportContent::ALL[0], path.clone());
    workbench.apply(export.clone());
    assert!(matches!(workbench.view().ask, Some(Ask::Replace { .. })));
    workbench.apply(Action::CancelAsk);
    until(&mut workbench, "nothing is under way", |w| !w.is_busy());
    let kept = std::fs::read_to_string(&path).expect("readable");
    assert_eq!(kept, "precious");
    workbench.apply(export.clone());
    workbench.apply(Action::Replace(Box::new(export)));
    assert!(workbench.view().ask.is_none());
    until(&mut workbench, "it is written", |w| !w.is_busy());
    assert_ne!(
        std::fs::read_to_string(&path).expect("readable"),
        "precious"
    );
    workbench.apply(Action::Explore(ExploreAction::ExportAnnotations(
        path.clone(),
    )));
    assert!(matches!(workbench.view().ask, Some(Ask::Replace { .. })));
    workbench.apply(Action::CancelAsk);
    workbench.apply(Action::SaveAs(path));
    assert!(matches!(workbench.view().ask, Some(Ask::Replace { .. })));
}

#[test]
fn a_live_change_is_sent_alone_and_undo_takes_it_back_in_the_run() {
    let mut workbench = loaded();
    workbench.apply(Action::LimitSpeed(Some(20.0)));
    workbench.apply(Action::Start);
    until(&mut workbench, "rounds are done", |w| n_rounds(w) >= 2);
    // A setting that is edited and not meant for the run yet.
    edit(&mut workbench, |experiment| experiment.learner.budget = 33);
    let mut forgetting = workbench.draft().experiment.learner.forgetting;
    let before = forgetting;
    forgetting.start_value = 0.9;
    edit(&mut workbench, |experiment| {
        experiment.learner.forgetting = forgetting
    });
    workbench.apply(Action::TuneRun(LearnerChange::Forgetting(forgetting)));
    let now = |w: &Workbench| w.training().run().expect("a run").learner_now().clone();
    until(&mut workbench, "the change is in force", |w| {
        now(w).forgetting == forgetting
    });
    assert_eq!(now(&workbench).budget, 20, "λ alone was sent");
    workbench.apply(Action::Undo);
    until(&mut workbench, "the change is taken back", |w| {
        now(w).forgetting == before
    });
    workbench.apply(Action::Redo);
    until(&mut workbench, "it is made again", |w| {
        now(w).forgetting == forgetting
    });
}

/// Recordings of two classes, a folder each; the first file ends too early.
fn recordings(folder: &Path) {
    let settings = EegSettings {
        subjects_per_class: 3,
        duration_s: 12.0,
        ..EegSettings::default()
    };
    let simulator = EegSimulator::new(settings).expect("the settings are sound");
    for (class, index) in simulator.subjects() {
        let inside = folder.join(class.name());
        std::fs::create_dir_all(&inside).expect("a folder per class");
        let path = inside.join(format!("{}-{index}.edf", class.name()));
        let record = simulator.record(class, index);
        write_file(&record, SampleWidth::Edf, &path).expect("the recording is written");
        if index == 0 {
            let bytes = std::fs::read(&path).expect("readable");
            std::fs::write(&path, &bytes[..bytes.len() - 3000]).expect("cut");
        }
    }
}

fn opened_folder(folder: &Path) -> Workbench {
    let mut workbench = empty(None);
    workbench.apply(Action::Open(folder.to_owned()));
    until(&mut workbench, "the recordings are loaded", |w| {
        w.data().loaded().is_some()
    });
    workbench
}

#[test]
fn a_folder_opens_with_the_settings_of_the_terminal() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    recordings(folder.path());
    let workbench = opened_folder(folder.path());
    let data = DataSettings::for_path(folder.path(), &mut |_| true).expect("data");
    let terminal = Experiment::on(data);
    let opened = &workbench.draft().experiment;
    assert_eq!(opened.preparation, terminal.preparation);
    assert_ne!(opened.preparation.scaling, Scaling::None);
    assert_eq!(opened.learner, terminal.learner);
}

#[test]
fn file_warnings_survive_reopening_and_moved_data_are_located() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (here, there) = (folder.path().join("here"), folder.path().join("there"));
    recordings(&here.join("data"));
    let mut workbench = opened_folder(&here.join("data"));
    let warned = |w: &Workbench| {
        let rows = &w.data().loaded().expect("data").records;
        rows.iter().filter(|row| !row.warnings.is_empty()).count()
    };
    let n_warned = warned(&workbench);
    assert!(n_warned > 0, "cut files are warned about");
    let path = here.join("session.ron");
    save_as(&mut workbench, &path);
    let DataPlan::Recordings(source) = &workbench.draft().experiment.data.source else {
        panic!("recordings")
    };
    assert!(
        source.paths.iter().all(|path| path.is_relative()),
        "{source:?}"
    );
    assert_eq!(warned(&reopened(&path)), n_warned);

    std::fs::rename(here.join("data"), &there).expect("moved");
    let mut again = reopened(&path);
    assert!(again.data().is_missing(), "{:?}", again.data().error());
    assert_eq!(again.status(Stage::Records).summary, "cannot be loaded");
    let is_error = |w: &Workbench| {
        w.notices()
            .list()
            .iter()
            .any(|n| n.gravity == Gravity::Error)
    };
    assert!(is_error(&again));
    // The folder was renamed: it is known by its files.
    let mut renamed = reopened(&path);
    renamed.apply(Action::LocateData(there.clone()));
    until(&mut renamed, "the data are found", |w| {
        w.data().loaded().is_some()
    });
    // It was moved: the folder around it is searched for it.
    std::fs::create_dir(folder.path().join("elsewhere")).expect("a folder");
    std::fs::rename(&there, folder.path().join("elsewhere/data")).expect("moved");
    again.apply(Action::LocateData(folder.path().join("elsewhere")));
    until(&mut again, "the data are found", |w| {
        w.data().loaded().is_some()
    });
    assert!(
        !is_error(&again),
        "what was said about missing data is over"
    );
    again.apply(Action::Open(path));
    until(&mut again, "they are found again", |w| {
        !w.is_opening() && w.data().loaded().is_some() && !w.is_busy()
    });
    assert!(!again.data().is_missing());
}

#[test]
fn notes_on_recordings_are_found_after_saving_reopening_and_moving() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = folder.path().join("here");
    recordings(&here.join("data"));
    let mut workbench = opened_folder(&here.join("data"));
    let of_first = |w: &Workbench| {
        let first = w.data().loaded().expect("data").records[0].name.clone();
        let notes = notes_on(&w.draft().recordings, &first);
        notes.map_or(0, |notes| notes.bad_channels.len())
    };
    let note = |w: &mut Workbench, channel: &str| {
        let first = w.data().loaded().expect("data").records[0].name.clone();
        let mut draft = w.draft().clone();
        change_notes(&mut draft.recordings, &first, |notes| {
            notes.bad_channels.push(channel.to_owned());
        });
        w.edit(draft, false);
    };
    note(&mut workbench, "Fp1");
    let path = here.join("session.ron");
    save_as(&mut workbench, &path);
    assert_eq!((of_first(&workbench), workbench.is_unsaved()), (1, false));
    // Once more in the same place, when the data have their new names.
    note(&mut workbench, "Fp2");
    save_as(&mut workbench, &path);
    let again = reopened(&path);
    assert_eq!((of_first(&again), again.is_unsaved()), (2, false));

    let there = folder.path().join("there");
    std::fs::rename(&here, &there).expect("moved");
    let path = there.join("session.ron");
    let mut moved = reopened(&path);
    assert_eq!(of_first(&moved), 2);
    note(&mut moved, "Cz");
    save_as(&mut moved, &path);
    assert_eq!(of_first(&reopened(&path)), 3);
    let text = std::fs::read_to_string(&path).expect("readable");
    assert!(text.contains("recording: \"data/"), "{text}");
    assert_eq!(text.matches("recording: ").count(), 1);
}

#[test]
fn progress_fits_the_run_also_after_reopening() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("uneven.ron");
    let mut workbench = loaded();
    edit(&mut workbench, |experiment| {
        // Folds of different size: three of 200 samples.
        experiment.split = atomscope_engine::split::SplitPlan::KFold {
            n_folds: 3,
            seed: 1,
        };
    });
    workbench.apply(Action::Start);
    until(&mut workbench, "the run is complete", |w| {
        let run = w.training().run();
        for (part, batch) in run.map_or(&[][..], |run| &run.active) {
            let n_rounds = run.map_or(0, |run| run.rounds_of(*part));
            assert!(*batch <= n_rounds, "batch {batch} of {n_rounds}");
        }
        status(w) == Some(Status::Complete)
    });
    save_as(&mut workbench, &path);
    let mut again = reopened(&path);
    let run = again.training().run().expect("the run");
    assert_eq!(run.progress.share(), 1.0);
    until(&mut again, "the run can be compared", |w| {
        !w.comparison().contenders().is_empty()
    });
    let name = &again.comparison().contenders()[0].name;
    assert!(name.starts_with("run 1:"), "{name}");
}

#[test]
fn what_was_said_about_another_session_goes_with_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = folder.path().join("empty.csv");
    std::fs::write(&table, "").expect("written");
    let mut workbench = empty(Some(UserFolders::within(folder.path())));
    workbench.apply(Action::Open(table));
    until(&mut workbench, "it is refused", |w| {
        !w.notices().list().is_empty()
    });
    workbench.apply(Action::OpenDemo(Demo::FeederFaults));
    workbench.update();
    let told = workbench.notices().list();
    assert!(
        told.iter().all(|n| n.gravity < Gravity::Warning),
        "{told:?}"
    );
}

#[test]
fn the_columns_of_a_table_that_was_located_are_shown() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (table, there) = (folder.path().join("table.csv"), folder.path().join("there"));
    let rows: String = (0..40).map(|k| format!("{k},c{}\n", k % 2)).collect();
    std::fs::write(&table, format!("a,class\n{rows}")).expect("written");
    let mut workbench = empty(None);
    workbench.apply(Action::Open(table.clone()));
    until(&mut workbench, "data are loaded", |w| {
        w.data().loaded().is_some()
    });
    let path = folder.path().join("mine.ron");
    save_as(&mut workbench, &path);
    std::fs::create_dir(&there).expect("a folder");
    std::fs::rename(&table, there.join("renamed.csv")).expect("moved");
    let mut again = reopened(&path);
    again.apply(Action::Show(Stage::Records));
    until(&mut again, "it is looked for", Workbench::has_no_columns);
    again.apply(Action::LocateData(there));
    until(&mut again, "its columns are shown", |w| {
        w.columns().is_some()
    });
}
