//! `atomscope stream` as scripts call it: lines in, one JSON object out for each; signals, kills and a full disk.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use atomscope_engine::dataset::{DataPlan, DataSettings};
use atomscope_engine::experiment::Experiment;
use atomscope_engine::features::{EegRecipe, FeatureRecipe};
use atomscope_engine::session::Session;
use atomscope_engine::simulate::concepts::{CONCEPT_CLASSES, ConceptSettings};
use atomscope_engine::simulate::eeg::{EegSettings, EegSimulator, SubjectClass};
use atomscope_engine::split::SplitPlan;
use atomscope_engine::stream::{Arrival, ReplaySource, SavedStream, StreamDecision, StreamSource};

const PROGRAM: &str = env!("CARGO_BIN_EXE_atomscope");

/// A session with a final model on some data.
fn trained(folder: &Path, data: DataSettings) -> PathBuf {
    let mut experiment = Experiment {
        data,
        split: SplitPlan::KFold {
            n_folds: 2,
            seed: 1,
        },
        ..Experiment::default()
    };
    experiment.learner.n_atoms = 6;
    experiment.learner.sparsity = 2;
    experiment.learner.budget = 20;
    let plain = folder.join("plain.ron");
    let saved = Session::new(experiment).save_as(&plain);
    saved.expect("the folder is writable");
    let path = folder.join("trained.ron");
    let mut run = Command::new(PROGRAM);
    run.arg("run").arg(&plain).arg("--save").arg(&path);
    let ran = run.output().expect("the program starts");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    path
}

fn concepts() -> ConceptSettings {
    ConceptSettings {
        n_samples: 400,
        noise: 0.02,
        ..ConceptSettings::default()
    }
}

/// A stream of lines that is under way.
struct Stream {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Stream {
    fn begin(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.stderr(Stdio::piped()).spawn().expect("it starts");
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().expect("it is piped")),
            child,
        }
    }

    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{line}").expect("it is read");
    }

    fn decision(&mut self) -> String {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).expect("it is text");
        assert!(read > 0, "the stream has ended");
        line
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &id]).status();
        assert!(sent.expect("there is a kill").success());
    }

    /// Whether it ended well, and what it said.
    fn end(mut self) -> (bool, String) {
        self.input = None;
        let ended = self.child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        (ended.status.success(), said)
    }
}

/// Samples of a concept as lines with their class.
fn rows(n: usize) -> Vec<String> {
    let mut stream = ConceptSettings {
        seed: 9,
        ..concepts()
    }
    .stream();
    let mut features = Vec::new();
    let rows = (0..n).map(|_| {
        let class = stream.draw(&mut features);
        let cells = features.iter().map(f64::to_string);
        let cells: Vec<String> = cells.chain([CONCEPT_CLASSES[class].to_owned()]).collect();
        cells.join(",")
    });
    rows.collect()
}

/// The first line of such a stream.
fn head() -> String {
    let names = concepts().feature_names();
    format!("{},class", names.join(","))
}

fn learning(model: &Path, state: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg("stream").arg(model).arg("--state").arg(state);
    command.args(["--source", "-", "--json", "--learn"]);
    command
}

fn loaded(state: &Path) -> SavedStream {
    let saved = SavedStream::load(state).expect("the state is whole");
    saved.expect("it was saved")
}

#[test]
fn lines_become_json_at_once_and_a_signal_ends_the_stream_with_its_state_saved() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let data = DataSettings::new(DataPlan::Concepts(concepts()), None);
    let model = trained(folder.path(), data);
    for signal in ["-TERM", "-INT"] {
        let state = folder.path().join(format!("state{signal}"));
        let mut stream = Stream::begin(&mut learning(&model, &state));
        stream.send(&head());
        for row in rows(30) {
            stream.send(&row);
            let line = stream.decision();
            let mut from = 0;
            for key in [
                "time", "source", "path", "start_s", "class", "margin", "set", "fit_p",
            ] {
                let at = line[from..].find(&format!("\"{key}\":"));
                from += at.unwrap_or_else(|| panic!("{key} is missing or misplaced: {line}"));
            }
            let decision: serde_json::Value = serde_json::from_str(&line).expect("it is JSON");
            assert_eq!(decision.as_object().map(|keys| keys.len()), Some(8));
            let class = decision["class"].as_str().expect("a text");
            assert!(CONCEPT_CLASSES.contains(&class), "{line}");
        }
        stream.signal(signal);
        let (is_well, said) = stream.end();
        assert!(is_well, "{said}");
        assert!(said.contains("30 decisions, 0 samples lost"), "{said}");
        assert_eq!(loaded(&state).n_decisions, 30);
    }
}

#[test]
fn a_stream_that_is_killed_goes_on_from_a_state_that_is_not_old() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let data = DataSettings::new(DataPlan::Concepts(concepts()), None);
    let model = trained(folder.path(), data);
    let state = folder.path().join("state");
    let mut stream = Stream::begin(&mut learning(&model, &state));
    stream.send(&head());
    let begun = Instant::now();
    // Decisions by their times: what was decided ten seconds before the kill is not lost.
    let mut decided = Vec::new();
    for row in rows(600) {
        stream.send(&row);
        stream.decision();
        decided.push(begun.elapsed());
        std::thread::sleep(Duration::from_millis(20));
    }
    stream.child.kill().expect("it runs");
    let killed = begun.elapsed();
    stream.child.wait().expect("it was killed");
    let is_old = |at: &&Duration| **at + Duration::from_secs(10) <= killed;
    let n_old = decided.iter().filter(is_old).count() as u64;
    let saved = loaded(&state);
    assert!(n_old > 20, "{n_old} of 600 are older than ten seconds");
    assert!(saved.n_decisions >= n_old, "{} {n_old}", saved.n_decisions);
    assert!(saved.learned.is_some(), "what was learned is saved");

    let before = saved.n_decisions;
    let mut again = Stream::begin(&mut learning(&model, &state));
    again.send(&head());
    for row in rows(5) {
        again.send(&row);
        again.decision();
    }
    let (is_well, said) = again.end();
    assert!(is_well, "{said}");
    assert_eq!(loaded(&state).n_decisions, before + 5);
}

/// Files of this stream end at 64 kB, as on a disk that is full.
#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_recording_but_not_the_stream_and_what_was_recorded_stays() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let settings = EegSettings {
        subjects_per_class: 3,
        duration_s: 20.0,
        ..EegSettings::default()
    };
    let mut data = DataSettings::simulated_eeg(settings.clone());
    data.recipe = Some(FeatureRecipe::Eeg(EegRecipe::default()));
    let model = trained(folder.path(), data);
    let recorded = folder.path().join("recorded");
    let mut command = Command::new("sh");
    let limited = "ulimit -f 128; trap '' XFSZ; exec \"$0\" \"$@\"";
    command.arg("-c").arg(limited).arg(PROGRAM);
    command.arg("stream").arg(&model).arg("--state");
    command.arg(folder.path().join("state"));
    command.args(["--source", "-", "--rate", "250", "--json", "--record"]);
    command.arg(&recorded);
    let mut stream = Stream::begin(&mut command);

    let record = EegSimulator::new(settings)
        .expect("legal settings")
        .record(SubjectClass::Case, 1);
    let names: Vec<&str> = record.channels.iter().map(|c| c.name.as_str()).collect();
    stream.send(&names.join(","));
    let n = record.channels[0].n_samples;
    let columns = (0..record.channels.len()).map(|at| record.read(at, 0..n).expect("in memory"));
    let columns: Vec<Vec<f64>> = columns.collect();
    let moment = |t: usize| {
        let cells = columns.iter().map(|column| column[t].to_string());
        cells.collect::<Vec<_>>().join(",")
    };
    // A little, which is a chunk after two seconds; then far more than a file may hold; then the rest.
    for stretch in [0..200, 200..n - 1000, n - 1000..n] {
        for t in stretch {
            stream.send(&moment(t));
        }
        std::thread::sleep(Duration::from_millis(2500));
    }
    stream.input = None;
    let mut last = String::new();
    let mut line = String::new();
    while stream.output.read_line(&mut line).expect("it is text") > 0 {
        last = std::mem::take(&mut line);
    }
    let (is_well, said) = stream.end();
    assert!(is_well, "{said}");
    assert!(
        said.contains("recording ends, the stream continues"),
        "{said}"
    );
    let last: StreamDecision = serde_json::from_str(&last).expect("it is JSON");

    let mut replay = ReplaySource::open(&recorded).expect("what was recorded is whole");
    let mut values = Vec::new();
    loop {
        match replay.next().expect("the chunks can be read") {
            Arrival::End => break,
            Arrival::Frames(frames) => values.extend(frames),
            _ => {}
        }
    }
    let n_kept = values.len() / columns.len();
    assert!((200..n).contains(&n_kept), "{n_kept} of {n}");
    let last_s = last.start_s.expect("a segment");
    assert!(
        last_s > 15.0 && last_s > n_kept as f64 / 250.0,
        "{last_s} s"
    );
    for (t, frame) in values.chunks_exact(columns.len()).enumerate() {
        let sent = columns.iter().map(|column| column[t]);
        assert!(frame.iter().copied().eq(sent), "frame {t}");
    }
    let parts = fs::read_dir(&recorded).expect("it is there").flatten();
    let is_part = |name: &str| name.starts_with("samples-") && !name.ends_with(".npy");
    let n_parts = parts.filter(|part| is_part(&part.file_name().to_string_lossy()));
    assert_eq!(n_parts.count(), 0, "no half of a chunk is left");
}
