//! `compare`, `sweep` and `reproduce` as their users call them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use atomscope_engine::dataset::DataSettings;
use atomscope_engine::experiment::{Experiment, Tests, Training, TrainingLength};
use atomscope_engine::learner::LearnerSettings;
use atomscope_engine::session::Session;
use atomscope_engine::simulate::feeder::FeederSettings;
use atomscope_engine::split::SplitPlan;
use serde_json::Value;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atomscope"));
    command.env_remove("ATOMSCOPE_DATA").env_remove("DISPLAY");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn output(command: &mut Command) -> Output {
    command.output().expect("the program starts")
}

fn succeeds(command: &mut Command) -> String {
    let ran = output(command);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    text(&ran.stdout)
}

fn json_of(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("the result was written");
    serde_json::from_str(&text).expect("it is JSON")
}

/// A session on few simulated records.
fn session(folder: &Path, name: &str, learner: LearnerSettings, seed: u64) -> PathBuf {
    let experiment = Experiment {
        data: DataSettings::feeder_faults(FeederSettings {
            records_per_class: 12,
            seed,
            ..FeederSettings::default()
        }),
        split: SplitPlan::KFold {
            n_folds: 3,
            seed: 1,
        },
        learner: LearnerSettings {
            n_atoms: 4,
            sparsity: 2,
            batch_size: 2,
            budget: 20,
            ..learner
        },
        training: Training {
            length: TrainingLength::Batches(4),
            ..Training::default()
        },
        tests: Tests {
            n_tests: 2,
            missing_shares: vec![0.0, 0.5],
            prequential: false,
            ..Tests::default()
        },
        seed: 1,
        ..Experiment::default()
    };
    let path = folder.join(format!("{name}.ron"));
    let mut session = Session::new(experiment);
    session.save_as(&path).expect("the folder is writable");
    path
}

fn pair(folder: &Path) -> [PathBuf; 2] {
    [
        session(folder, "paper", LearnerSettings::as_published(), 1),
        session(
            folder,
            "evidence",
            LearnerSettings::evidence_preserving(),
            1,
        ),
    ]
}

/// The JSON without measured times.
fn timeless(mut value: Value) -> Value {
    for run in value["runs"].as_array_mut().expect("a list") {
        run["timing"] = Value::Null;
    }
    value
}

#[test]
fn sessions_are_compared_on_the_same_folds_and_seeds() {
    let folder = tempfile::tempdir().expect("a folder");
    let sessions = pair(folder.path());
    let (json, html) = (folder.path().join("c.json"), folder.path().join("c.html"));
    let told = succeeds(
        program()
            .args(["compare", "--quiet", "--seeds", "2", "--threads", "2"])
            .args(&sessions)
            .arg("--json")
            .arg(&json)
            .arg("--html")
            .arg(&html),
    );
    for part in [
        "paper",
        "evidence",
        "seeds 1, 2",
        "3 folds",
        "last %",
        "evidence − paper",
    ] {
        assert!(told.contains(part), "{part} is missing:\n{told}");
    }
    let result = json_of(&json);
    let runs = result["runs"].as_array().expect("a list");
    let folds = |run: &Value| -> Vec<(u64, u64)> {
        let folds = run["folds"].as_array().expect("a list").iter();
        let number = |value: &Value| value.as_u64().expect("a number");
        folds
            .map(|fold| (number(&fold["seed"]), number(&fold["fold"])))
            .collect()
    };
    assert_eq!(
        folds(&runs[0]),
        [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]
    );
    assert_eq!(folds(&runs[0]), folds(&runs[1]));
    assert_eq!(result["differences"][0]["n_pairs"], 6);
    // Again on one thread: the same but for the times.
    let again = folder.path().join("again.json");
    succeeds(
        program()
            .args(["compare", "--quiet", "--seeds", "2", "--threads", "1"])
            .args(&sessions)
            .arg("--json")
            .arg(&again),
    );
    assert_eq!(timeless(json_of(&again)), timeless(result));
}

/// Checks that scores, times and differences of a comparison stand in the tables of a page.
fn assert_shows(page: &str, comparison: &serde_json::Value) {
    let values = page.split("data-value=\"").skip(1);
    let shown: Vec<f64> = values
        .map(|rest| {
            let value = rest.split('"').next().expect("an end");
            value.parse().expect("a number")
        })
        .collect();
    let mut numbers = Vec::new();
    for run in comparison["runs"].as_array().expect("a list") {
        let (last, timing) = (&run["last"], &run["timing"]);
        numbers.extend([&last["mean"], &last["sd"], &run["best"]["mean"]]);
        numbers.extend([&timing["grow_us_per_batch"], &timing["prune_us_per_batch"]]);
        numbers.extend([&timing["round_us"], &timing["classify_us_per_sample"]]);
        numbers.push(&run["model_bytes"]);
        let folds = run["folds"].as_array().expect("a list").iter();
        numbers.extend(folds.map(|fold| &fold["accuracy"]));
    }
    for difference in comparison["differences"].as_array().expect("a list") {
        numbers.push(&difference["mean"]);
        // Two pairs have no interval.
        let ends = [&difference["low"], &difference["high"]];
        numbers.extend(ends.into_iter().filter(|end| !end.is_null()));
    }
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let numbers: Vec<f64> = numbers.into_iter().map(number).collect();
    assert!(numbers.len() > 15);
    for number in numbers {
        let is_same = |value: &f64| (value - number).abs() <= 1e-12 * number.abs();
        assert!(shown.iter().any(is_same), "{number} is not in the report");
    }
}

#[test]
fn the_report_shows_the_numbers_of_the_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let (json, html) = (folder.path().join("c.json"), folder.path().join("c.html"));
    succeeds(
        program()
            .args(["compare", "--quiet"])
            .args(pair(folder.path()))
            .arg("--json")
            .arg(&json)
            .arg("--html")
            .arg(&html),
    );
    let result = json_of(&json);
    let page = std::fs::read_to_string(&html).expect("written");
    assert!(
        result["differences"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    );
    assert_shows(&page, &result);
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg"));
    assert!(
        !page.contains("http://")
            || page.matches("http://www.w3.org/2000/svg").count()
                == page.matches("http://").count()
    );
    let balance = |tag: &str| {
        (
            page.matches(&format!("<{tag}")).count(),
            page.matches(&format!("</{tag}>")).count(),
        )
    };
    for tag in ["table", "tr>", "figure", "svg", "td"] {
        let (open, close) = balance(tag.trim_end_matches('>'));
        assert!(open >= close && close > 0, "{tag}: {open} {close}");
    }
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let [paper, _] = pair(folder.path());
    let mut other = Session::load(&paper).expect("saved");
    if let atomscope_engine::dataset::DataPlan::FeederFaults(settings) =
        &mut other.experiment.data.source
    {
        settings.records_per_class = 13;
    }
    let path = folder.path().join("other.ron");
    other.save_as(&path).expect("writable");
    let ran = output(program().args(["compare", "--quiet"]).args([&paper, &path]));
    assert_eq!(ran.status.code(), Some(2));
    let said = text(&ran.stderr);
    assert!(
        said.contains("other cannot be paired with paper") && said.contains("65 samples, not 60"),
        "{said}"
    );
    let missing = output(program().args(["compare", "no-such.ron"]));
    assert_eq!(missing.status.code(), Some(2));
    assert!(output(program().arg("compare")).status.code() == Some(2));
}

fn sweep_file(folder: &Path) -> PathBuf {
    session(folder, "base", LearnerSettings::evidence_preserving(), 1);
    let path = folder.join("sweep.ron");
    let text = r#"(
    session: "base.ron",
    search: Grid([
        (setting: "learner.n_atoms", values: List([3, 4, 5])),
        (setting: "learner.forgetting.start_value", values: List([0.9, 0.98])),
    ]),
    inner_folds: 2,
)"#;
    std::fs::write(&path, text).expect("writable");
    path
}

fn swept(out: &Path) -> Value {
    let mut result = json_of(&out.join("sweep.json"));
    for point in result["points"].as_array_mut().expect("a list") {
        point["timing"] = Value::Null;
    }
    result
}

#[test]
fn shards_put_together_are_one_sweep() {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = sweep_file(folder.path());
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    let told = succeeds(
        program()
            .args(["sweep", "--quiet"])
            .arg(&sweep)
            .arg("--out")
            .arg(&whole),
    );
    assert!(
        told.contains("6 of 6 finished") && told.contains("Nested"),
        "{told}"
    );
    for shard in ["2/3", "1/3", "3/3"] {
        succeeds(
            program()
                .args(["sweep", "--quiet", "--shard", shard])
                .arg(&sweep)
                .arg("--out")
                .arg(&parts),
        );
        assert!(
            !parts.join("sweep.json").exists(),
            "a shard writes no report"
        );
    }
    let begun = std::fs::metadata(parts.join("point-000001.ron")).and_then(|m| m.modified());
    succeeds(
        program()
            .args(["sweep", "--quiet"])
            .arg(&sweep)
            .arg("--out")
            .arg(&parts),
    );
    let ended = std::fs::metadata(parts.join("point-000001.ron")).and_then(|m| m.modified());
    assert_eq!(
        begun.expect("there"),
        ended.expect("there"),
        "nothing is done twice"
    );
    assert_eq!(swept(&whole), swept(&parts));
    let page = std::fs::read_to_string(whole.join("sweep.html")).expect("written");
    assert!(page.contains("across: learner.forgetting.start_value"));
    let rows = std::fs::read_to_string(whole.join("sweep.csv")).expect("written");
    assert_eq!(rows.lines().count(), 7);
    for wrong in ["0/3", "4/3", "x"] {
        let ran = output(program().args(["sweep", "--shard", wrong]).arg(&sweep));
        assert_eq!(ran.status.code(), Some(2), "{wrong}");
    }
}

#[cfg(unix)]
#[test]
fn a_killed_sweep_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = sweep_file(folder.path());
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    succeeds(
        program()
            .args(["sweep", "--quiet"])
            .arg(&sweep)
            .arg("--out")
            .arg(&whole),
    );
    let mut child = program()
        .args(["sweep", "--quiet", "--threads", "1"])
        .arg(&sweep)
        .arg("--out")
        .arg(&killed)
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let begun = Instant::now();
    while !killed.join("point-000001.ron").exists() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    succeeds(
        program()
            .args(["sweep", "--quiet"])
            .arg(&sweep)
            .arg("--out")
            .arg(&killed),
    );
    assert_eq!(swept(&whole), swept(&killed));
    // Points of another sweep are not taken for its own.
    let text = std::fs::read_to_string(&sweep)
        .expect("there")
        .replace("inner_folds: 2", "inner_folds: 3");
    std::fs::write(&sweep, text).expect("writable");
    let ran = output(
        program()
            .args(["sweep", "--quiet"])
            .arg(&sweep)
            .arg("--out")
            .arg(&killed),
    );
    assert_eq!(ran.status.code(), Some(1));
    assert!(text_of(&ran).contains("another sweep"), "{}", text_of(&ran));
}

#[test]
fn early_stopping_saves_trainings_and_is_taken_up_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = sweep_file(folder.path());
    let text = std::fs::read_to_string(&sweep).expect("there");
    let text = text.replace(
        "    inner_folds",
        "    halving: (stages: 2, factor: 3),\n    inner_folds",
    );
    std::fs::write(&sweep, text).expect("writable");
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    let run = |out: &Path, threads: &str| {
        let mut command = program();
        command.args(["sweep", "--quiet", "--threads", threads]);
        succeeds(command.arg(&sweep).arg("--out").arg(out))
    };
    let told = run(&whole, "2");
    let words = "Stages  6 points with 1/3 of the training, ";
    assert!(told.contains(words) && told.contains("% saved"), "{told}");
    assert!(
        told.contains("successive halving in 2 stages by 3"),
        "{told}"
    );
    let stopping = &swept(&whole)["early_stopping"];
    let number = |name: &str| stopping[name].as_f64().expect("a number");
    assert!(
        number("trainings") < 0.6 * number("trainings_without"),
        "{stopping}"
    );
    // What is missing is computed again, and nothing else.
    run(&parts, "1");
    let files = || {
        let listed = std::fs::read_dir(&parts).expect("there");
        let paths = listed.map(|entry| entry.expect("readable").path());
        let points = paths.filter(|path| path.to_string_lossy().contains("point-"));
        points.collect::<std::collections::BTreeSet<PathBuf>>()
    };
    let before = files();
    assert_eq!(before.len(), 18);
    for task in [3, 9, 16] {
        let path = parts.join(format!("point-{task:06}.ron"));
        std::fs::remove_file(path).expect("there");
    }
    run(&parts, "2");
    assert_eq!((files(), swept(&parts)), (before, swept(&whole)));
    let page = std::fs::read_to_string(parts.join("sweep.html")).expect("written");
    assert!(page.contains("Early stopping:") && page.contains("% saved"));
    let ran = output(program().args(["sweep", "--shard", "1/3"]).arg(&sweep));
    assert_eq!(ran.status.code(), Some(2));
}

fn text_of(ran: &Output) -> String {
    text(&ran.stderr)
}

#[test]
fn without_data_the_paper_is_repeated_on_feeder_faults_and_says_what_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("report");
    let told = succeeds(
        program()
            .args(["reproduce", "--quick", "--quiet", "--data"])
            .arg(folder.path())
            .arg("--out")
            .arg(&out),
    );
    assert!(told.contains("usps.mat not found"), "{told}");
    let report = json_of(&out.join("report.json"));
    let parts = report["parts"].as_array().expect("a list");
    let left_out = parts
        .iter()
        .filter(|part| !part["left_out"].is_null())
        .count();
    assert_eq!(left_out, parts.len() - 1);
    let feeder = parts.last().expect("parts").clone();
    assert_eq!(feeder["key"], "feeder");
    let page = std::fs::read_to_string(out.join("report.html")).expect("written");
    assert_shows(&page, &feeder["comparison"]);
    for published in feeder["published"].as_array().expect("a list") {
        for number in [&published["last"], &published["ms"]] {
            let shown = format!("data-value=\"{}\"", number.as_f64().unwrap_or(f64::NAN));
            assert!(number.is_null() || page.contains(&shown), "{shown}");
        }
    }
    assert!(page.contains("KRLS, published") && page.contains("Skipped: usps.mat"));
    for file in [
        "feeder-accuracy.svg",
        "feeder-missing.svg",
        "feeder-curves.csv",
        "feeder-methods.csv",
    ] {
        assert!(out.join(file).exists(), "{file}");
    }
}
