//! The Live page: folders, recordings and streams followed in the window.

use std::fs;
use std::path::{Path, PathBuf};

use atomscope::workbench::{
    Action, LiveAction, LiveForm, SourceKind, Stage, StageState, Workbench,
};
use atomscope_engine::records::comtrade::{ComtradeStorage, write_files};
use atomscope_engine::records::{Mode, edf, open};
use atomscope_engine::simulate::eeg::{EegSettings, EegSimulator, SubjectClass};
use atomscope_engine::simulate::feeder::{FaultClass, FeederSettings, FeederSimulator};
use atomscope_engine::stream::{InboxColumn, InboxQuery, is_recorded_stream};
use egui::Theme;
use egui_kittest::kittest::Queryable;

use super::charts::{assert_tables, figures};
use super::driving::{
    Window, apply, bare_workbench, click, empty_window, says, show, small_eeg_draft, status, until,
    until_complete, window,
};
use crate::pictures::write_picture;
use crate::small_data::small_draft;

/// A window with a final model on some data.
fn with_final_model(draft: atomscope::workbench::Draft, theme: Theme) -> Window {
    let mut workbench = bare_workbench();
    workbench.edit(draft, false);
    workbench.apply(Action::TrainFinalModel(true));
    workbench.apply(Action::LoadData);
    let mut window = window(theme, workbench);
    until(&mut window, "data are loaded", |w| {
        w.data().loaded().is_some() && w.split().made().is_some()
    });
    apply(&mut window, Action::Start);
    until(&mut window, "it has begun", |w| status(w).is_some());
    until_complete(&mut window);
    show(&mut window, Stage::Live);
    window
}

fn live(window: &mut Window, action: LiveAction) {
    apply(window, Action::Live(action));
}

fn follow(window: &mut Window, kind: SourceKind, place: &Path, learns: bool) {
    let form = LiveForm {
        kind,
        place: place.display().to_string(),
        speed: 1000.0,
        learns,
        ..LiveForm::default()
    };
    live(window, LiveAction::Edit(form));
    click(window, "Follow the stream");
}

fn n_decisions(workbench: &Workbench) -> u64 {
    workbench.live().view().map_or(0, |view| view.n_decisions)
}

/// Writes fault record `index` of a class into a folder.
fn write_record(folder: &Path, class: FaultClass, index: u32) -> PathBuf {
    let simulator = FeederSimulator::new(FeederSettings {
        seed: 5,
        cycles_before: 3,
        cycles_after: 5,
        ..FeederSettings::default()
    })
    .expect("legal settings");
    let stem = folder.join(format!("{}-{index}", class.name().replace(' ', "-")));
    let record = simulator.record(class, index);
    write_files(&record, ComtradeStorage::Float32, &stem).expect("the disk has room");
    stem.with_extension("cfg")
}

#[test]
fn without_a_model_the_page_says_what_is_missing_and_without_liblsl_where_to_get_it() {
    let mut window = empty_window();
    show(&mut window, Stage::Live);
    assert!(says(&window, "Choose the source and the model"));
    live(
        &mut window,
        LiveAction::Edit(LiveForm {
            kind: SourceKind::Lsl,
            ..LiveForm::default()
        }),
    );
    click(&mut window, "Find streams");
    until(&mut window, "they were looked for", |w| {
        !w.live().is_finding()
    });
    let stage = window.harness.state().workbench().live();
    match stage.finding_problem() {
        Some(problem) => {
            assert!(
                problem.contains("https://github.com/sccn/liblsl"),
                "{problem}"
            );
            assert!(says(&window, "pip install pylsl"));
        }
        // Where the library is installed, streams are listed.
        None => assert!(stage.found().is_some()),
    }
    let obstacle = window.harness.state().workbench().live_obstacle();
    assert!(obstacle.is_some_and(|text| text.contains("no final model")));
}

#[test]
fn files_of_a_folder_are_an_inbox_that_is_acknowledged_labelled_learned_and_exported() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let watched = folder.path().join("relay");
    fs::create_dir(&watched).expect("it is new");
    let mut window = with_final_model(small_draft(), Theme::Light);
    follow(&mut window, SourceKind::Folder, &watched, true);
    until(&mut window, "the folder is watched", |w| {
        w.live().view().is_some()
    });
    assert!(says(&window, "Files appear here"));
    let paths: Vec<PathBuf> = [FaultClass::ALL[0], FaultClass::ALL[1], FaultClass::ALL[4]]
        .into_iter()
        .map(|class| write_record(&watched, class, 3))
        .collect();
    until(&mut window, "all were judged", |w| {
        w.live().view().is_some_and(|view| view.inbox.len() == 3)
    });
    let view = window.harness.state().workbench().live().view().cloned();
    let view = view.expect("it runs");
    assert_eq!((view.n_decisions, view.inbox.n_new()), (3, 3));
    assert!(view.now().is_some() && view.is_of_files());
    let name = paths[0].file_name().expect("a file").to_string_lossy();
    assert!(says(&window, &name), "{name}");

    window
        .harness
        .get_by_label(&format!("Acknowledge {name}"))
        .click();
    until(&mut window, "it is acknowledged", |w| {
        w.live().view().is_some_and(|view| view.inbox.n_new() == 2)
    });
    for (path, class) in paths.iter().zip([0, 1, 4]) {
        let class = FaultClass::ALL[class].name().to_owned();
        live(&mut window, LiveAction::Label(path.clone(), class));
    }
    until(&mut window, "labels are scored and learned", |w| {
        let view = w.live().view();
        view.is_some_and(|view| {
            view.course.last().is_some_and(|score| score.n_known == 3)
                && view.inbox.iter().all(|(_, file)| file.is_learned)
        })
    });
    assert!(says(&window, "kappa"));
    for _ in 0..4 {
        window.harness.step();
    }
    write_picture("live-inbox-light", &window.picture());

    live(
        &mut window,
        LiveAction::Query(InboxQuery {
            column: InboxColumn::File,
            is_descending: true,
            ..InboxQuery::default()
        }),
    );
    let table = folder.path().join("inbox.csv");
    live(&mut window, LiveAction::ExportInbox(table.clone()));
    until(&mut window, "it is written", |w| !w.is_busy());
    let text = fs::read_to_string(&table).expect("it was written");
    assert_eq!(text.lines().count(), 4, "{text}");
    let wanted = format!("{name},");
    assert!(text.lines().any(|line| line.contains(&wanted)), "{text}");

    click(&mut window, "End");
    until(&mut window, "it has ended", |w| !w.live().is_running());
    let workbench = window.harness.state().workbench();
    assert_eq!(workbench.status(Stage::Live).state, StageState::Ready);
}

/// A simulated subject as an EDF file.
fn write_eeg(path: &Path, duration_s: f64) {
    let settings = EegSettings {
        subjects_per_class: 4,
        duration_s,
        seed: 9,
        ..EegSettings::default()
    };
    let simulator = EegSimulator::new(settings).expect("legal settings");
    let record = simulator.record(SubjectClass::Case, 0);
    edf::write_file(&record, edf::SampleWidth::Edf, path).expect("the disk has room");
}

#[test]
fn a_recording_is_replayed_paused_recorded_and_exported() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("case.edf");
    write_eeg(&path, 60.0);
    let mut window = with_final_model(small_eeg_draft(), Theme::Dark);
    let form = LiveForm {
        kind: SourceKind::Replay,
        place: path.display().to_string(),
        speed: 12.0,
        ..LiveForm::default()
    };
    live(&mut window, LiveAction::Edit(form));
    click(&mut window, "Follow the stream");
    until(&mut window, "decisions come", |w| n_decisions(w) >= 3);
    let place = folder.path().join("recorded");
    live(&mut window, LiveAction::Record(place.clone()));
    until(&mut window, "it is recorded", |w| {
        w.live().view().is_some_and(|view| view.recording.is_some())
    });
    // Pausing holds what is shown; the stream goes on behind it.
    click(&mut window, "Hold");
    let held = n_decisions(window.harness.state().workbench());
    until(&mut window, "the stream has ended", |w| {
        !w.live().is_running()
    });
    assert_eq!(n_decisions(window.harness.state().workbench()), held);
    live(&mut window, LiveAction::Hold);
    let view = window.harness.state().workbench().live().view().cloned();
    let view = view.expect("what came meanwhile");
    assert!(
        view.is_over && view.n_decisions > held,
        "{}",
        view.n_decisions
    );
    assert_eq!((view.n_lost, view.lost_s), (0, 0.0));
    let traces = view.traces.as_ref().expect("samples came");
    assert!((traces.covered_s.0 + traces.covered_s.1 - 60.0).abs() < 0.1);
    let stage = window.harness.state().workbench().live();
    let (p50, p99) = (stage.shown_delay_s(0.5), stage.shown_delay_s(0.99));
    assert!(p50.is_some() && p50 <= p99);
    assert!(is_recorded_stream(&place));
    for _ in 0..4 {
        window.harness.step();
    }
    write_picture("live-traces-dark", &window.picture());
    assert!(says(&window, "margin"), "the decision is said");
    let told = figures(&window);
    assert_tables(&told, "Live");
    let cells = |name: &str| {
        let found = told.iter().find(|figure| figure.name.starts_with(name));
        let rows = &found.expect("it is drawn").rows;
        rows.iter().map(|(_, cells)| cells.clone()).collect()
    };
    let traces_told: Vec<Vec<String>> = cells("Traces of");
    assert_eq!(traces_told[0].len(), traces.names.len());
    let decisions: Vec<Vec<String>> = cells("Decisions");
    let newest = decisions.last().expect("decisions");
    assert!(newest[0].ends_with(&view.now().expect("one").decision.class));
    assert!(newest[1].contains("margin"), "{newest:?}");

    let out = folder.path().join("stream.edf");
    live(&mut window, LiveAction::ExportRecorded(out.clone()));
    until(&mut window, "it is written", |w| !w.is_busy());
    let record = open(&out, Mode::Strict).expect("it is EDF+");
    assert!(
        record
            .annotations
            .iter()
            .any(|a| a.text.starts_with("decided: "))
    );
    assert_eq!(record.channels.len(), traces.n_channels);
}

#[test]
fn a_source_that_is_not_there_is_said_and_nothing_runs() {
    let mut window = with_final_model(small_draft(), Theme::Light);
    let nowhere = Path::new("/nowhere/at/all");
    follow(&mut window, SourceKind::Folder, nowhere, false);
    until(&mut window, "it has ended", |w| !w.live().is_running());
    assert!(says(&window, "there is no such source"));
    let workbench = window.harness.state().workbench();
    let state = workbench.status(Stage::Live).state;
    assert!(matches!(state, StageState::Wrong(_)), "{state:?}");
}
