//! Workers on one folder: random kills, a real Slurm, and the table of one machine as the measure.

mod kills;
mod slurm;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use atomscope_engine::dataset::DataSettings;
use atomscope_engine::experiment::{Experiment, Training, TrainingLength};
use atomscope_engine::session::Session;
use atomscope_engine::simulate::feeder::FeederSettings;
use atomscope_engine::split::SplitPlan;
use serde_json::Value;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atomscope"));
    command
        .env_remove("ATOMSCOPE_DATA")
        .env_remove("DISPLAY")
        .stdin(Stdio::null());
    command
}

fn succeeds(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("the program starts");
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    String::from_utf8_lossy(&stdout).into_owned()
}

/// A sweep of so many points on simulated faults; the more passes, the longer a point takes.
fn sweep_file(folder: &Path, n_points: usize, passes: f64) -> PathBuf {
    let experiment = Experiment {
        data: DataSettings::feeder_faults(FeederSettings {
            records_per_class: 60,
            ..FeederSettings::default()
        }),
        split: SplitPlan::KFold {
            n_folds: 3,
            seed: 1,
        },
        training: Training {
            length: TrainingLength::Passes(passes),
            ..Training::default()
        },
        ..Experiment::default()
    };
    let mut session = Session::new(experiment);
    session.save_as(&folder.join("base.ron")).expect("saved");
    let path = folder.join("many.ron");
    let text = format!(
        r#"(
    session: "base.ron",
    search: Random(n_points: {n_points}, seed: 3, axes: [
        (setting: "learner.n_atoms", values: Whole(4, 12)),
        (setting: "learner.forgetting.start_value", values: Between(0.9, 0.99)),
    ]),
    inner_folds: 2,
)"#
    );
    fs::write(&path, text).expect("writable");
    path
}

/// The sweep on one machine; its table.
fn table_of_one_machine(folder: &Path, sweep: &Path) -> Vec<u8> {
    let out = folder.join("one machine");
    let mut command = program();
    command.args(["sweep", "--quiet"]).arg(sweep);
    succeeds(command.arg("--out").arg(&out));
    fs::read(out.join("sweep.csv")).expect("written")
}

/// Places the sweep in a folder for workers.
fn place(sweep: &Path, out: &Path) {
    let mut command = program();
    command.args(["sweep", "--quiet", "--print"]).arg(sweep);
    let script = succeeds(command.arg("--out").arg(out));
    assert!(script.starts_with("#!/bin/bash\n#SBATCH"), "{script}");
}

fn status(out: &Path) -> Value {
    let mut command = program();
    let text = succeeds(command.args(["sweep", "status", "--json"]).arg(out));
    serde_json::from_str(&text).expect("it is JSON")
}

/// Whether everything is done, nothing is torn and no claim is left.
fn assert_whole(out: &Path, n_points: usize, table: &[u8]) {
    let found = status(out);
    assert_eq!(found["points"]["done"], n_points, "{found}");
    assert_eq!(found["points"]["failed"], 0, "{found}");
    assert_eq!(found["left_s"], 0.0, "{found}");
    assert!(fs::read(out.join("sweep.csv")).expect("written") == table);
    for entry in fs::read_dir(out.join("cluster")).expect("readable") {
        let name = entry.expect("readable").file_name();
        let name = name.to_string_lossy();
        let is_left = ["claim-", "state-", "worker-", "."].iter();
        assert!(
            !is_left.clone().any(|start| name.starts_with(start)),
            "{name}"
        );
    }
}

/// How often each point was begun without a state, by what the workers said.
fn begun_anew(texts: &[String]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for text in texts {
        for line in text.lines() {
            if let Some((point, "begun" | "resumed where it was saved")) = line
                .split_once(": ")
                .map(|(point, said)| (point, said.split(", attempt").next().unwrap_or(said)))
            {
                let is_resumed = line.ends_with("saved");
                let count = counts.entry(point.to_owned()).or_insert(0_usize);
                *count = if is_resumed { *count - 1 } else { *count + 1 };
            }
        }
    }
    counts
}
