//! The program in the terminal, as its users call it: `run`, `classify` and their exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use atomscope_engine::experiment::{Experiment, Tests, Training, TrainingLength};
use atomscope_engine::records::comtrade::{ComtradeStorage, write_files};
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
        result["accuracy"].as_f64().expect("a number") >= 0.99,
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
        write_files(&record, ComtradeStorage::Ascii, &path).expect("written");
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
    assert!(
        head.starts_with("file,start_s,duration_s,row,class,margin,runner_up,set,fit_p,residual ")
    );
    assert_eq!(lines.count(), classes.len());
    let said = text(&told.stderr);
    let votes = said.lines().filter(|line| line.contains(" segments: "));
    assert_eq!(votes.count(), classes.len(), "one vote per record");

    let page = folder.path().join("report.html");
    let mut classify = program();
    classify
        .arg("classify")
        .arg(&trained)
        .arg("--report")
        .arg(&page);
    let several = output(classify.args(&files));
    assert!(several.status.success(), "{}", text(&several.stderr));
    let html = std::fs::read_to_string(&page).expect("one page for all");
    assert_eq!(html.matches("<article").count(), files.len());
    for number in 1..=files.len() {
        assert!(html.contains(&format!("href=\"#recording-{number}\"")));
    }
    let segments = folder.path().join("report.csv");
    let mut classify = program();
    classify
        .arg("classify")
        .arg(&trained)
        .arg("--report")
        .arg(&segments);
    let several = output(classify.args(&files));
    assert!(several.status.success(), "{}", text(&several.stderr));
    let table = std::fs::read_to_string(&segments).expect("one table for all");
    assert_eq!(table.lines().count(), 1 + files.len(), "one head:\n{table}");
    let mut classify = program();
    classify
        .arg("classify")
        .arg(&trained)
        .args(["--report", "report.pdf"]);
    let refused = output(classify.args(&files));
    assert_eq!(
        refused.status.code(),
        Some(2),
        "before anything is computed"
    );
    let pages = folder.path().join("pages");
    let mut classify = program();
    classify
        .arg("classify")
        .arg(&trained)
        .arg("--report")
        .arg(&pages);
    let several = output(classify.args(&files));
    assert!(several.status.success(), "{}", text(&several.stderr));
    let written = std::fs::read_dir(&pages).expect("the folder was made");
    assert_eq!(written.count(), files.len());
    let mut classify = program();
    classify
        .arg("classify")
        .arg(&trained)
        .arg("--report")
        .arg(&page);
    let reported = output(classify.arg(&files[0]));
    assert!(reported.status.success(), "{}", text(&reported.stderr));
    let html = std::fs::read_to_string(&page).expect("the report was written");
    for part in ["no medical device", "final model", "model SHA-256", "<svg"] {
        assert!(html.contains(part), "{part}");
    }

    let no_model = output(program().arg("classify").arg(&session).arg("x.cfg"));
    assert_eq!(no_model.status.code(), Some(2));
    assert!(text(&no_model.stderr).contains("--save"));
    let no_file = output(program().arg("classify").arg(&trained).arg("no-such.cfg"));
    assert_eq!(no_file.status.code(), Some(1));
}

/// Settings that suit a table of forty rows.
const SMALL: [&str; 12] = [
    "--set",
    "learner.n_atoms=3",
    "--set",
    "learner.sparsity=2",
    "--set",
    "learner.budget=6",
    "--set",
    "learner.batch_size=2",
    "--set",
    "tests.n_tests=2",
    "--set",
    r#"training.length={"Batches":4}"#,
];

fn small_table(folder: &Path) -> PathBuf {
    let path = folder.join("points.csv");
    let mut rows = "who,a,b,c,kind\n".to_owned();
    for row in 0..40 {
        let (kind, turn) = (row % 2, f64::from(row));
        rows += &format!(
            "{},{},{},{},{kind}\n",
            row / 4,
            turn.sin() + 3.0 * f64::from(kind),
            turn.cos(),
            turn / 40.0
        );
    }
    std::fs::write(&path, rows).expect("written");
    path
}

#[test]
fn a_table_is_trained_by_the_columns_that_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = small_table(folder.path());
    let mut run = program();
    run.args(["run", "--quiet"]).arg(&table).args(SMALL);
    run.args([
        "--class",
        "kind",
        "--group",
        "1",
        "--features",
        "2-3",
        "--json",
        "-",
    ]);
    let ran = output(&mut run);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let json: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert!(json.to_string().contains("\"kind\""), "{json}");
    let wrong = output(program().arg("run").arg(&table).args(["--class", "sort"]));
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        text(&wrong.stderr).contains("who, a, b"),
        "{}",
        text(&wrong.stderr)
    );
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_the_work_begins() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = small_table(folder.path());
    for option in ["--json", "--save"] {
        let nowhere = folder.path().join("nowhere/out.ron");
        let begun = std::time::Instant::now();
        let mut run = program();
        run.args(["run", "--class", "kind"]).arg(&table).arg(option);
        let refused = output(run.arg(&nowhere));
        assert_eq!(refused.status.code(), Some(2), "{option}");
        assert!(
            text(&refused.stderr).contains("nowhere"),
            "{}",
            text(&refused.stderr)
        );
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}

#[cfg(unix)]
#[test]
fn a_result_that_cannot_be_written_at_the_end_is_printed_and_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = small_table(folder.path());
    let mut run = program();
    run.args(["run", "--quiet", "--class", "kind"])
        .arg(&table)
        .args(SMALL);
    run.env("XDG_STATE_HOME", folder.path())
        .env("HOME", folder.path());
    // Every write to this device fails, as on a full disk.
    let ran = output(run.args(["--json", "/dev/full"]));
    assert_eq!(ran.status.code(), Some(1), "{}", text(&ran.stderr));
    assert!(
        text(&ran.stdout).contains("Accuracy"),
        "the report is printed"
    );
    let told = text(&ran.stderr);
    let kept = told.lines().find_map(|line| line.split("kept in ").nth(1));
    let kept = std::fs::read_to_string(kept.expect("its place is told")).expect("it is there");
    assert!(serde_json::from_str::<Value>(&kept).is_ok());
}

#[cfg(unix)]
#[test]
fn control_characters_of_files_do_not_reach_the_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a\u{1b}[2J\u{9b}31m.csv");
    std::fs::write(&path, "x\u{1b}]0;t\u{7},class\n1,a\u{1b}c\n2,b\n").expect("written");
    for arguments in [vec!["info"], vec!["info", "--json"], vec!["run"]] {
        let told = output(program().args(&arguments).arg(&path));
        for bytes in [told.stdout, told.stderr] {
            let text = text(&bytes);
            let is_raw = |c: char| c.is_control() && c != '\n' && c != '\t';
            assert!(!text.contains(is_raw), "{arguments:?}: {text:?}");
        }
    }
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

#[test]
fn score_compares_tables_and_annotation_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let reference = folder.path().join("reference.tsv");
    let hypothesis = folder.path().join("hypothesis.csv");
    let out = folder.path().join("scores.json");
    let table = "onset\tduration\ttrial_type\n100\t20\tsz\n1000\t700\tsz_foc\n0\t5\tblink\n";
    std::fs::write(&reference, table).expect("writable");
    let table = "onset,duration,label\n110,10,SZ\n500,10,sz\n1100,60,sz\n";
    std::fs::write(&hypothesis, table).expect("writable");
    let told = output(
        program()
            .arg("score")
            .args([&reference, &hypothesis])
            .args(["--duration", "3600", "--label", "sz", "--json"])
            .arg(&out),
    );
    assert!(told.status.success(), "{}", text(&told.stderr));
    // 720 samples, 70 found, 10 false; the long event is three, of which one is found.
    let scores = json_of(&out);
    let near = |value: &Value, expected: f64| {
        let value = value.as_f64().expect("a number");
        assert!((value - expected).abs() < 1e-12, "{value}, not {expected}");
    };
    near(&scores["sample"]["sensitivity"], 70.0 / 720.0);
    near(&scores["sample"]["precision"], 70.0 / 80.0);
    near(&scores["sample"]["f1"], 140.0 / 800.0);
    near(&scores["event"]["sensitivity"], 0.5);
    near(&scores["event"]["precision"], 2.0 / 3.0);
    near(&scores["event"]["f1"], 4.0 / 7.0);
    near(&scores["event"]["false_alarms_per_day"], 24.0);
    let told = text(&told.stdout);
    assert!(told.contains("False         500.0 to 510.0 s"), "{told}");
    // Without a length the last end counts: the blink is scored too.
    let told = output(program().arg("score").args([&reference, &hypothesis]));
    assert!(text(&told.stdout).contains("Recording     1700 s"));
    let missing = output(program().arg("score").arg("none.csv").arg(&hypothesis));
    assert_eq!(missing.status.code(), Some(1));
    let told = output(
        program()
            .arg("score")
            .args([&reference, &hypothesis])
            .args(["--overlap", "2"]),
    );
    assert_eq!(told.status.code(), Some(2));
    assert!(text(&told.stderr).contains("min_overlap must be 0 to 1"));
}

#[test]
fn simulated_records_of_every_format_are_listed_and_analysed() {
    let folder = tempfile::tempdir().expect("a folder");
    for (format, ending) in [
        ("ascii", "cfg"),
        ("binary", "cfg"),
        ("binary32", "cfg"),
        ("float32", "cfg"),
        ("cff", "cff"),
    ] {
        let out = folder.path().join(format);
        let arguments = [
            "simulate", "--preset", "networks", "--count", "10", "--seed", "3",
        ];
        let mut command = program();
        command
            .args(arguments)
            .args(["--format", format, "--out"])
            .arg(&out);
        let done = output(&mut command);
        assert!(done.status.success(), "{}", text(&done.stderr));
        let labels = std::fs::read_to_string(out.join("labels.csv")).expect("a list");
        assert_eq!(labels.lines().next(), Some("file,class,phases,parameters"));
        assert_eq!(labels.lines().count(), 11);
        let first = labels.lines().nth(2).expect("a fault");
        assert!(
            first.starts_with(&format!("0002-SLG.{ending},SLG,")),
            "{first}"
        );
        let (json, csv) = (out.join("all.json"), out.join("all.csv"));
        let mut command = program();
        command
            .arg("analyse")
            .arg(&out)
            .arg("--json")
            .arg(&json)
            .arg("--csv")
            .arg(&csv);
        let done = output(&mut command);
        assert!(done.status.success(), "{}", text(&done.stderr));
        let records = json_of(&json)["records"]
            .as_array()
            .cloned()
            .expect("a list");
        assert_eq!(records.len(), 10);
        let right = records.iter().filter(|record| {
            let path = record["path"].as_str().expect("a path");
            let class = record["type_rule"].as_str().unwrap_or("").replace(' ', "-");
            path.ends_with(&format!("-{class}.{ending}"))
        });
        assert!(right.count() >= 8, "{records:#?}");
        let list = std::fs::read_to_string(&csv).expect("a list");
        assert_eq!(list.lines().count(), 11);
    }
}

#[test]
fn one_event_becomes_a_page_with_distances_and_wrong_line_data_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let simulate = ["simulate", "--count", "3", "--out"];
    assert!(
        output(program().args(simulate).arg(folder.path()))
            .status
            .success()
    );
    let line = folder.path().join("line.ron");
    let record = folder.path().join("0003-LL.cfg");
    let page = folder.path().join("page.html");
    let analyse = |line: &Path| {
        let mut command = program();
        command
            .arg("analyse")
            .arg(&record)
            .arg("--line")
            .arg(line)
            .arg("--report")
            .arg(&page);
        output(&mut command)
    };
    let text_of = "(name: \"L\", length_km: 10.0, z1_ohm_per_km: (0.1, 0.4))";
    std::fs::write(&line, text_of).expect("written");
    let done = analyse(&line);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(
        text(&done.stdout).contains("Takagi"),
        "{}",
        text(&done.stdout)
    );
    let html = std::fs::read_to_string(&page).expect("a page");
    for part in ["<svg", "Distance to fault", "SHA-256", "Events"] {
        assert!(html.contains(part), "{part}");
    }
    std::fs::write(&line, text_of.replace("10.0", "-1.0")).expect("written");
    let done = analyse(&line);
    assert_eq!(done.status.code(), Some(2));
    assert!(
        text(&done.stderr).contains("length_km must be"),
        "{}",
        text(&done.stderr)
    );
}

#[test]
fn a_table_in_a_folder_is_run_and_its_session_finds_it_again() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("sub")).expect("made");
    let rows: String = (0..40)
        .map(|i| format!("{},{},{}\n", i, i % 7, if i < 20 { "a" } else { "b" }))
        .collect();
    let table = format!("x,y,class\n{rows}");
    std::fs::write(folder.path().join("sub/t.csv"), table).expect("written");
    for what in ["sub/t.csv", "saved.ron"] {
        let run = output(
            program()
                .current_dir(folder.path())
                .args(["run", what, "--quiet", "--folds", "1"])
                .args([
                    "--save",
                    if what == "saved.ron" {
                        "again.ron"
                    } else {
                        "saved.ron"
                    },
                ]),
        );
        assert!(run.status.success(), "{what}: {}", text(&run.stderr));
        assert!(text(&run.stdout).contains("40 samples"), "{what}");
    }
}

/// A sweep of two points of the small session.
fn small_sweep(folder: &Path) -> PathBuf {
    small_session(folder);
    let path = folder.join("two.ron");
    let axis = r#"(setting: "learner.n_atoms", values: List([4, 5]))"#;
    let text = format!(r#"(session: "small.ron", search: Grid([{axis}]), inner_folds: 2)"#);
    std::fs::write(&path, text).expect("writable");
    path
}

#[test]
fn work_for_a_cluster_that_cannot_be_asked_for_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = small_sweep(folder.path());
    let out = folder.path().join("out");
    let mut command = program();
    command.arg("sweep").arg(&sweep).arg("--out").arg(&out);
    let asked = output(command.args(["--quiet", "--print", "--time", "2h"]));
    assert_eq!(asked.status.code(), Some(2));
    assert!(text(&asked.stderr).contains("as in 2:00:00, not \"2h\""));
    assert!(!out.exists());

    // A folder is for workers alone: here nothing would be written there.
    let session = folder.path().join("small.ron");
    let mut command = program();
    command.arg("compare").arg(&session).arg(&session);
    let asked = output(command.arg("--out").arg(&out));
    assert_eq!(asked.status.code(), Some(2));
    assert!(text(&asked.stderr).contains("--json and --html name the results"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_job_script_that_cannot_be_shown_is_an_error_and_stays_in_its_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = small_sweep(folder.path());
    let out = folder.path().join("out");
    let mut command = program();
    command.arg("sweep").arg(&sweep).arg("--out").arg(&out);
    let full = std::fs::File::options().write(true).open("/dev/full");
    command.stdout(full.expect("every write to it fails"));
    let asked = output(command.args(["--quiet", "--print"]));
    assert_eq!(asked.status.code(), Some(1), "{}", text(&asked.stderr));
    assert!(text(&asked.stderr).contains("cannot write: No space left"));
    assert!(out.join("job.sh").exists());
}
