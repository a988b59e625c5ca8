//! A sweep on a real Slurm: two workers are killed, one meets its time limit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::{
    assert_whole, begun_anew, program, status, succeeds, sweep_file, table_of_one_machine,
};

const N_POINTS: usize = 60;
/// A sweep that is tried first, to know how fast the machine is: of so many points that they share inner products, and
/// long enough for what is done once not to count.
const N_TRIED: usize = 12;
const TRIED_PASSES: f64 = 60.0;
/// What the whole sweep shall take on one machine that does nothing else.
const ONE_MACHINE_S: f64 = 136.0;

/// A Slurm that ends with the test.
struct Slurm {
    helper: PathBuf,
    folder: tempfile::TempDir,
}

impl Slurm {
    /// Nothing, and the reason said, where there is none.
    fn start() -> Option<Self> {
        let slurm = Self {
            helper: Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/one-node-slurm"),
            folder: tempfile::tempdir().expect("a folder"),
        };
        let mut command = Command::new("timeout");
        command.arg("120").arg(&slurm.helper).arg("start");
        let answer = command.arg(slurm.folder.path()).output();
        match answer {
            Ok(answer) if answer.status.success() => Some(slurm),
            Ok(answer) => {
                eprintln!("skipped: {}", String::from_utf8_lossy(&answer.stderr));
                None
            }
            Err(error) => {
                eprintln!("skipped: {error}");
                None
            }
        }
    }

    fn call(&self, name: &str, arguments: &[&str]) -> String {
        let mut command = Command::new("timeout");
        command.arg("20").arg(name).args(arguments);
        command.env("SLURM_CONF", self.folder.path().join("slurm.conf"));
        let answer = command.output().expect("it starts");
        String::from_utf8_lossy(&answer.stdout).into_owned()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let mut command = Command::new(&self.helper);
        drop(command.arg("stop").arg(self.folder.path()).status());
    }
}

/// Waits until something holds, for a while.
fn wait_until(what: &str, limit_s: u64, holds: &dyn Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        let is_late = began.elapsed() > Duration::from_secs(limit_s);
        assert!(!is_late, "{what}: not after {limit_s} s");
        thread::sleep(Duration::from_millis(200));
    }
}

/// Processes of the workers, from their heartbeats.
fn processes(out: &Path) -> Vec<String> {
    let beats = fs::read_dir(out.join("cluster")).expect("readable");
    let mut processes = Vec::new();
    for entry in beats.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with("worker-") {
            continue;
        }
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let id = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("id: "));
        processes.extend(id.map(|id| id.trim_end_matches(',').to_owned()));
    }
    processes
}

/// The number of the worker among those of its job.
fn task_of(process: &str) -> String {
    let variables = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let variables = String::from_utf8_lossy(&variables).into_owned();
    let task = variables
        .split('\0')
        .find_map(|variable| variable.strip_prefix("SLURM_ARRAY_TASK_ID="));
    task.unwrap_or_default().to_owned()
}

/// Passes with which the sweep outlasts a time limit of a minute, however fast the machine is. Time of processors counts:
/// a machine that is busy now may do nothing else later.
fn long_passes(folder: &Path) -> f64 {
    let few = folder.join("few");
    fs::create_dir(&few).expect("writable");
    let sweep = sweep_file(&few, N_TRIED, TRIED_PASSES);
    let mut command = Command::new("bash");
    command.env("LC_ALL", "C");
    command.args(["-c", "\"$0\" sweep --quiet \"$@\" && times"]);
    command.arg(env!("CARGO_BIN_EXE_atomscope")).arg(&sweep);
    let said = succeeds(command.arg("--out").arg(few.join("one machine")));
    // The last line is of what the shell has run: minutes and seconds of the program, then of the system for it.
    let times = said.lines().last().unwrap_or_default().split_whitespace();
    let seconds = times.map(|time| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m').expect("a time");
        let number = |text: &str| text.parse::<f64>().expect("a number");
        60.0 * number(minutes) + number(seconds)
    });
    let n_processors = thread::available_parallelism().expect("it is known").get();
    let per_point_s = seconds.sum::<f64>() / (n_processors * N_TRIED) as f64;
    (TRIED_PASSES * ONE_MACHINE_S / (per_point_s * N_POINTS as f64)).ceil()
}

#[test]
#[ignore = "needs a Slurm; .ci/run starts it"]
fn a_sweep_on_slurm_survives_kills_and_a_time_limit() {
    let Some(slurm) = Slurm::start() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = sweep_file(folder.path(), N_POINTS, long_passes(folder.path()));
    let table = table_of_one_machine(folder.path(), &sweep);
    let out = folder.path().join("on slurm");
    let mut command = program();
    command
        .env("SLURM_CONF", slurm.folder.path().join("slurm.conf"))
        .args([
            "sweep",
            "--quiet",
            "--slurm",
            "--workers",
            "4",
            "--time",
            "8",
        ]);
    let id = succeeds(command.arg(&sweep).arg("--out").arg(&out));
    let id = id.trim();
    assert!(id.chars().all(|c| c.is_ascii_digit()), "{id}");
    let is_at_work = || status(&out)["points"]["running"].as_u64() == Some(4);
    wait_until("four workers", 60, &is_at_work);
    // The third task meets its limit; two of the others are killed.
    slurm.call(
        "scontrol",
        &["update", &format!("JobId={id}_3"), "TimeLimit=00:01:00"],
    );
    let limited = slurm.call("squeue", &["-h", "-r", "-o", "%i %T %l", "-j", id]);
    assert!(
        limited.contains(&format!("{id}_3 RUNNING 1:00")),
        "{limited}"
    );
    let victims = processes(&out);
    let victims = victims
        .iter()
        .filter(|id| ["1", "2"].contains(&task_of(id).as_str()));
    for victim in victims {
        succeeds(Command::new("kill").args(["-KILL", victim]));
    }
    let is_over = || slurm.call("squeue", &["-h", "-j", id]).trim().is_empty();
    wait_until("the end of the job", 400, &is_over);
    assert_whole(&out, N_POINTS, &table);
    let logs = fs::read_dir(out.join("cluster/log")).expect("readable");
    let logs: Vec<String> = logs
        .flatten()
        .map(|entry| fs::read_to_string(entry.path()).expect("text"))
        .collect();
    assert_eq!(logs.len(), 4);
    let counts = begun_anew(&logs);
    assert_eq!(counts.len(), N_POINTS);
    assert!(counts.values().all(|count| *count <= 2), "{counts:?}");
    let n_twice = counts.values().filter(|count| **count == 2).count();
    assert!(
        n_twice <= 2,
        "only the points of the killed ones: {counts:?}"
    );
    let is_stopped = |log: &&String| log.contains("stopped; the next worker resumes");
    assert_eq!(logs.iter().filter(is_stopped).count(), 1, "{logs:?}");
}
