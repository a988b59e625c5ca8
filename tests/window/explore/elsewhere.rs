//! Records of a session whose data lie under the folder that `ATOMSCOPE_DATA` names.

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use atomscope::workbench::explore::ExploreAction;
use atomscope::workbench::{Action, Workbench};
use atomscope_engine::dataset::{DataPlan, DataSettings, RecordingSource};
use atomscope_engine::experiment::Experiment;
use atomscope_engine::features::{EegRecipe, FeatureRecipe};
use atomscope_engine::records::catalog::{Pattern, Rule};
use atomscope_engine::session::Session;

use super::{Window, until, window_of, write_recording};

/// Names the session to the process that was started with a folder of data.
const SESSION: &str = "ATOMSCOPE_TEST_SESSION";

#[test]
fn a_record_under_the_folder_of_data_is_opened_from_a_session_that_lies_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    std::fs::create_dir_all(data.join("study")).expect("a folder");
    for name in ["rest-1.edf", "rest-2.edf", "task-1.edf", "task-2.edf"] {
        write_recording(&data.join("study").join(name));
    }
    let rules = vec![Rule::FileName(
        Pattern::new("{class}-{*}.edf").expect("a pattern"),
    )];
    let source = RecordingSource {
        paths: vec!["study".into()],
        rules,
        ..RecordingSource::default()
    };
    let recipe = FeatureRecipe::Eeg(EegRecipe::default());
    let mut session = Session::new(Experiment {
        data: DataSettings::new(DataPlan::Recordings(source), Some(recipe)),
        ..Experiment::default()
    });
    std::fs::create_dir(folder.path().join("sessions")).expect("a folder");
    let path = folder.path().join("sessions").join("study.ron");
    session.save_as(&path).expect("saved");
    // Variables of a process are set where it is started.
    let output = Command::new(env::current_exe().expect("this test"))
        .args([
            "explore::elsewhere::opening_a_record_when_told_to",
            "--exact",
            "--nocapture",
        ])
        .env(SESSION, &path)
        .env("ATOMSCOPE_DATA", &data)
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    assert!(text.contains("explored study/task-1.edf"), "{text}");
}

#[test]
fn opening_a_record_when_told_to() {
    let Some(session) = env::var_os(SESSION).map(PathBuf::from) else {
        return;
    };
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    workbench.apply(Action::Open(session));
    let mut window = window_of(workbench);
    until(&mut window, "the session is open", |w| w.path().is_some());
    let workbench = window.harness.state_mut().workbench_mut();
    workbench.apply(Action::LoadData);
    until(&mut window, "data are loaded", |w| {
        w.data().loaded().is_some() && !w.is_busy()
    });
    explore(&mut window, "study/task-1.edf");
}

fn explore(window: &mut Window, name: &str) {
    let workbench = window.harness.state_mut().workbench_mut();
    let records = &workbench.data().loaded().expect("loaded").records;
    let found = records.iter().position(|row| row.name.ends_with(name));
    let names: Vec<&String> = records.iter().map(|row| &row.name).collect();
    let source = found.unwrap_or_else(|| panic!("{name} is none of {names:?}"));
    workbench.apply(Action::Explore(ExploreAction::OpenRecord {
        source,
        stretch: None,
    }));
    until(window, "the record is shown", |w| {
        assert_eq!(w.explore().error(), None);
        w.explore().eeg().is_some_and(|eeg| eeg.page().is_some())
    });
    println!("explored {name}");
}
