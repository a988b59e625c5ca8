//! The program in the terminal, as its users call it: `run`, `classify` and their exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use atomscope_engine::experiment::{Experiment, Tests, Training, TrainingLength};
use atomscope_engine::records::comtrade::{Storage, write_files};
use atomscope_engine::session::Session;
use atomscope_engine::simulate::feeder::{FaultClass, FeederSettings, FeederSimulator};
use serde_json::Value;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atomscope"));
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command
}

fn shipped(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions");
    folder.join(format!("{name}.ron"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn output(command: &mut Command) -> Output {
    command.output().expect("the program starts")
}

/// A session on few simulated records: its run takes a moment.
fn small_session(folder: &Path) -> PathBuf {
    let mut experiment = Experiment {
        training: Training {
            length: TrainingLength::Batches(6),
            ..Training::default()
        },
        tests: Tests {
            n_tests: 3,
            missing_shares: vec![0.0, 0.5],
            prequential: true,
            ..Tests::default()
        },
        ..Experiment::default()
    };
    experiment.data = atomscope_engine::dataset::DataSettings::feeder_faults(FeederSettings {
        records_per_class: 20,
        ..FeederSettings::default()
    });
    experiment.learner.n_atoms = 5;
    experiment.learner.sparsity = 2;
    experiment.learner.batch_size = 2;
    experiment.learner.budget = 12;
    let path = folder.join("small.ron");
    let mut session = Session::new(experiment);
    session.save_as(&path).expect("the folder is writable");
    path
}

fn json_of(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("the result was written");
    serde_json::from_str(&text).expect("it is JSON")
}

#[test]
fn the_shipped_feeder_session_scores_what_it_promises() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("result.json");
    let session = shipped("feeder-faults");
    let before = std::fs::read(&session).expect("it is shipped");
    let ran = output(program().arg("run").arg(&session).arg("--json").arg(&json));
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let report = text(&ran.stdout);
    for part in [
        "Data ",
        "Split ",
        "Seed ",
        "Accuracy ",
        "Missing ",
        "recall",
        "Timing ",
    ] {
        assert!(report.contains(part), "{part} is missing:\n{report}");
    }
    let result = json_of(&json);
    assert!(
        result["accuracy"].as_f64().expect("a number") >= 0.97,
        "{report}"
    );
    assert_eq!(result["n_samples"], 2000);
    assert_eq!(result["n_features"], 1206);
    assert_eq!(result["classes"].as_array().map(Vec::len), Some(5));
    assert_eq!(result["split"]["folds"], 5);
    assert_eq!(result["curve"].as_array().map(Vec::len), Some(21));
    assert_eq!(result["folds"].as_array().map(Vec::len), Some(5));
    assert_eq!(result["missing"].as_array().map(Vec::len), Some(10));
    assert!(
        result["timing"]["grow_us_per_batch"]
            .as_f64()
            .is_some_and(|us| us > 0.0)
    );
    assert!(result["audit"].as_array().is_some_and(|findings| {
        findings
            .iter()
            .all(|finding| finding["severity"] != "error")
    }));
    let after = std::fs::read(&session).expect("still there");
    assert_eq!(before, after, "`run` never writes into its session");
}

#[test]
fn threads_and_repetition_change_nothing_but_the_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = small_session(folder.path());
    let mut results = Vec::new();
    for threads in ["1", "2", "2"] {
        let json = folder.path().join("result.json");
        let ran = output(
            program()
                .args(["run", "--quiet", "--threads", threads, "--json"])
                .arg(&json)
                .arg(&session),
        );
        assert!(ran.status.success(), "{}", text(&ran.stderr));
        assert!(ran.stderr.is_empty(), "quiet: {}", text(&ran.stderr));
        let mut result = json_of(&json);
        result["timing"] = Value::Null;
        results.push(result);
    }
    assert_eq!(results[0], results[1]);
    assert_eq!(results[1], results[2]);
    let json = folder.path().join("result.json");
    output(
        program()
            .args(["run", "--quiet", "--seed", "9", "--json"])
            .arg(&json)
            .arg(&session),
    );
    let mut other = json_of(&json);
    other["timing"] = Value::Null;
    assert_eq!(other["seed"], 9);
    assert_ne!(other["folds"], results[0]["folds"]);
}

#[test]
fn folds_and_settings_can_be_chosen_and_wrong_ones_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = small_session(folder.path());
    let json = folder.path().join("result.json");
    let ran = output(
        program()
            .args([
                "run",
                "--quiet",
                "--folds",
                "1,3",
                "--set",
                "learner.n_atoms=7",
                "--json",
            ])
            .arg(&json)
            .arg(&session),
    );
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let result = json_of(&json);
    let folds: Vec<_> = result["folds"].as_array().expect("a list").iter().collect();
    assert_eq!(folds.len(), 2);
    assert_eq!(
        (&folds[0]["fold"], &folds[1]["fold"]),
        (&1.into(), &3.into())
    );
    for (arguments, said) in [
        (vec!["--set", "learner.n_atom=7"], "did you mean n_atoms"),
        (
            vec!["--set", "learner.sparsity=50"],
            "sparsity must be 1 to 5, but is 50",
        ),
        (vec!["--folds", "9"], "there is no fold 9"),
        (vec!["--folds", "0"], "counts from 1"),
        (vec!["--threads", "0"], "threads"),
        (vec!["--sed", "1"], "--seed"),
    ] {
        let ran = output(program().arg("run").arg(&session).args(&arguments));
        assert_eq!(
            ran.status.code(),
            Some(2),
            "{arguments:?}: {}",
            text(&ran.stderr)
        );
        assert!(text(&ran.stderr).contains(said), "{}", text(&ran.stderr));
        assert!(ran.stdout.is_empty());
    }
    let missing = output(program().args(["run", "no-such.ron"]));
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("no-such.ron"));
}

#[test]
fn data_that_are_nowhere_are_named_with_the_remedy() {
    let ran = output(
        program()
            .env_remove("ATOMSCOPE_DATA")
            .args(["run", "--quiet"])
            .arg(shipped("usps-margin")),
    );
    assert_eq!(ran.status.code(), Some(1), "{}", text(&ran.stderr));
    let said = text(&ran.stderr);
    assert!(
        said.contains("usps.mat") && said.contains("--data"),
        "{said}"
    );
}

#[test]
fn a_saved_session_classifies_new_records_and_says_which_it_knows() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = small_session(folder.path());
    let trained = folder.path().join("trained.ron");
    let ran = output(
        program()
            .args(["run", "--quiet", "--save"])
            .arg(&trained)
            .arg(&session),
    );
    assert!(ran.status.success(), "{}", text(&ran.stderr));

    let simulator = FeederSimulator::new(FeederSettings {
        seed: 77,
        ..FeederSettings::default()
    })
    .expect("sound settings");
    let classes = FaultClass::ALL;
    for class in classes {
        let record = simulator.record(class, 3);
        let path = folder.path().join(class.name()).with_extension("cfg");
        write_files(&record, Storage::Ascii, &path).expect("written");
    }
    let file = |class: FaultClass| folder.path().join(class.name()).with_extension("cfg");
    let files = classes.map(file);
    let csv = folder.path().join("rows.csv");
    let mut command = program();
    command
        .args(["classify", "--quiet"])
        .arg(&trained)
        .args(&files);
    let told = output(command.arg("--csv").arg(&csv));
    assert!(told.status.success(), "{}", text(&told.stderr));
    let rows = std::fs::read_to_string(&csv).expect("written");
    let mut lines = rows.lines();
    let head = lines.next().expect("a head");
    assert!(head.starts_with("file,start_s,duration_s,row,class,margin,runner_up,residual "));
    assert_eq!(lines.count(), classes.len());
    assert_eq!(
        text(&told.stderr).lines().count(),
        classes.len(),
        "one vote per record"
    );

    let page = folder.path().join("report.html");
    let mut classify = program();
    classify
        .arg("classify")
        .arg(&trained)
        .arg("--report")
        .arg(&page);
    let several = output(classify.args(&files));
    assert_eq!(
        several.status.code(),
        Some(2),
        "a report is of one recording"
    );
    let mut classify = program();
    classify
        .arg("classify")
        .arg(&trained)
        .arg("--report")
        .arg(&page);
    let reported = output(classify.arg(&files[0]));
    assert!(reported.status.success(), "{}", text(&reported.stderr));
    let html = std::fs::read_to_string(&page).expect("the report was written");
    for part in [
        "no medical device",
        "final model",
        "Session SHA-256",
        "<svg",
    ] {
        assert!(html.contains(part), "{part}");
    }

    let no_model = output(program().arg("classify").arg(&session).arg("x.cfg"));
    assert_eq!(no_model.status.code(), Some(2));
    assert!(text(&no_model.stderr).contains("--save"));
    let no_file = output(program().arg("classify").arg(&trained).arg("no-such.cfg"));
    assert_eq!(no_file.status.code(), Some(1));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_cleanly() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = small_session(folder.path());
    let child = program()
        .args(["run", "--set", r#"training.length={"Batches":1000000}"#])
        .arg(&session)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    std::thread::sleep(Duration::from_secs(2));
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill can be run");
    assert!(killed.success());
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    assert!(
        text(&ended.stderr).contains("interrupted"),
        "{}",
        text(&ended.stderr)
    );
}

#[test]
fn without_a_display_the_demonstration_is_trained_in_the_terminal() {
    let ran = output(&mut program());
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    assert!(
        text(&ran.stdout).contains("feeder faults"),
        "{}",
        text(&ran.stdout)
    );
    assert!(text(&ran.stdout).contains("Accuracy"));
}
