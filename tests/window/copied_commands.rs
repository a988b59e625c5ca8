//! Lines copied from the window do in the terminal what the window did.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use atomscope::workbench::{Action, Workbench};
use atomscope_engine::experiment::Status;
use atomscope_engine::export::ExportContent;

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
        session.exists() && !w.is_busy() && !w.command_lines().is_empty()
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
        run(&found.expect("a line for every export").line, folder);
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
    let saved = line("Run, final model saved").expect("a run");
    run(&saved.line, folder);
    assert!(folder.join("trained.ron").exists());
}
