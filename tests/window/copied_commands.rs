//! Lines copied from the window do in the terminal what the window did.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use atomscope::workbench::explore::{ExploreAction, FaultAction};
use atomscope::workbench::{Action, Workbench};
use atomscope_engine::experiment::Status;
use atomscope_engine::export::ExportContent;
use atomscope_engine::records::comtrade::{ComtradeStorage, write_files};
use atomscope_engine::simulate::feeder::{FeederSettings, FeederSimulator};

use crate::small_data::small_draft;

fn until(workbench: &mut Workbench, what: &str, done: impl Fn(&Workbench) -> bool) {
    let begun = Instant::now();
    while !done(workbench) {
        workbench.update();
        assert!(
            begun.elapsed().as_secs() < 120,
            "waited in vain until {what}"
        );
        sleep(Duration::from_millis(2));
    }
}

/// A session that is trained and saved.
fn trained(session: &Path) -> Workbench {
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    workbench.edit(small_draft(), false);
    workbench.apply(Action::LoadData);
    until(&mut workbench, "data are loaded", |w| {
        w.data().loaded().is_some() && w.split().made().is_some()
    });
    workbench.apply(Action::Start);
    until(&mut workbench, "the run is complete", |w| {
        let status = w.training().run().map(|run| run.status.clone());
        status == Some(Status::Complete) && !w.is_busy()
    });
    workbench.apply(Action::SaveAs(session.to_owned()));
    until(&mut workbench, "the session is saved", |w| {
        session.exists() && !w.is_busy() && w.command_lines()[0].line.is_ok()
    });
    workbench
}

/// Runs a line as a shell would, where the program is on the path.
fn run(line: &str, folder: &Path) {
    let program = Path::new(env!("CARGO_BIN_EXE_atomscope"));
    let line = line.replacen("atomscope", &program.display().to_string(), 1);
    let ran = Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder)
        .env_remove("DISPLAY")
        .output()
        .expect("a shell is there");
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{line}\n{errors}");
}

#[test]
fn every_export_of_the_window_has_a_line_that_writes_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mut workbench = trained(&folder.join("my session.ron"));
    for content in ExportContent::ALL {
        let lines = workbench.command_lines();
        let found = lines.iter().find(|line| line.name == content.name());
        let found = found.expect("a line for every export").line.as_ref();
        run(found.expect("the session is saved"), folder);
        let of_window = folder.join(format!("window-{}", content.file_name()));
        workbench.apply(Action::Export(content, of_window.clone()));
        until(&mut workbench, "it is exported", |w| {
            of_window.exists() && !w.is_busy()
        });
        let read = |path: &Path| std::fs::read_to_string(path).expect("it was written");
        let (one, other) = (read(&of_window), read(&folder.join(content.file_name())));
        if content == ExportContent::Everything {
            // Times differ, and the terminal knows how long the whole run took.
            let value = |text: &str| -> serde_json::Value {
                serde_json::from_str(text).expect("it is JSON")
            };
            assert_eq!(value(&one)["accuracy"], value(&other)["accuracy"]);
            assert_eq!(value(&one)["predictions"], value(&other)["predictions"]);
        } else {
            assert_eq!(one, other, "{}", content.name());
        }
    }
    let lines = workbench.command_lines();
    let line = |name: &str| lines.iter().find(|line| line.name == name);
    let saved = line("Run, final model saved").expect("a run").line.as_ref();
    run(saved.expect("the session is saved"), folder);
    assert!(folder.join("trained.ron").exists());
}

/// The line of this name, or why there is none.
fn line(workbench: &Workbench, name: &str) -> Option<Result<String, &'static str>> {
    let lines = workbench.command_lines();
    let found = lines.into_iter().find(|line| line.name == name);
    found.map(|found| found.line)
}

#[test]
fn the_report_of_an_event_is_repeated_with_its_line_and_zones() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let settings = FeederSettings {
        cycles_before: 3,
        cycles_after: 5,
        ..FeederSettings::default()
    };
    let simulator = FeederSimulator::new(settings).expect("legal settings");
    let (class, index) = simulator.records().nth(700).expect("there are 2000");
    let path = folder.join("a fault.cfg");
    let record = simulator.record(class, index);
    write_files(&record, ComtradeStorage::Float32, &path).expect("written");
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    workbench.apply(Action::Explore(ExploreAction::OpenFile(path)));
    until(&mut workbench, "the record is shown", |w| {
        w.explore().fault().view().is_some() && !w.is_busy()
    });
    let mut view = workbench.explore().fault().view().expect("shown").clone();
    view.line.length_km = 30.0;
    view.line.quadrilateral_ohm = 7.5;
    view.line_name = "the line's own name".into();
    let view = FaultAction::View(Box::new(view));
    workbench.apply(Action::Explore(ExploreAction::Fault(view)));
    let report = folder.join("of-window.html");
    let write = FaultAction::Report(report.clone());
    workbench.apply(Action::Explore(ExploreAction::Fault(write)));
    until(&mut workbench, "it is written", |w| {
        report.exists() && !w.is_busy()
    });
    let repeated = line(&workbench, "Report of the event").expect("a record is open");
    run(&repeated.expect("a line"), folder);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("written");
    let (one, other) = (read("of-window.html"), read("fault-report.html"));
    assert!(one.contains("Enters (s)"), "zones are part of it");
    assert_eq!(one, other);
}

#[test]
fn a_line_that_is_not_there_says_why() {
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    workbench.edit(small_draft(), false);
    let run = line(&workbench, "Run").expect("it is named");
    assert!(run.expect_err("nothing is saved").contains("Save"));
    let folder = tempfile::tempdir().expect("a folder");
    let mut workbench = trained(&folder.path().join("session.ron"));
    assert_eq!(line(&workbench, "Comparison, with its report"), None);
    until(&mut workbench, "the run is measured", |w| {
        !w.comparison().contenders().is_empty()
    });
    // The run becomes an earlier one beside the next.
    workbench.apply(Action::StartAnew);
    until(&mut workbench, "there are two runs", |w| {
        w.comparison().contenders().len() == 2 && !w.is_busy()
    });
    let session = folder.path().join("again.ron");
    workbench.apply(Action::SaveAs(session.clone()));
    until(&mut workbench, "the session is saved", |w| {
        session.exists() && !w.is_busy() && w.command_lines()[0].line.is_ok()
    });
    let compare = line(&workbench, "Comparison, with its report").expect("it is named");
    assert!(compare.expect_err("no file").contains("earlier run"));
}
