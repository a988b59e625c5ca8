//! Processes killed while they save, write recovery copies or run a sweep: nothing that was finished is lost.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, fs};

use atomscope_engine::dataset::Dataset;
use atomscope_engine::export;
use atomscope_engine::session::{Recovery, Session, UserFolders, find_copies};

use super::Attack;
use super::small_run::{names_in, read_data, saved_session};

/// What the process to be killed does, and with which session.
const DEED: &str = "ATOMSCOPE_CAMPAIGN_DEED";
const PATH: &str = "ATOMSCOPE_CAMPAIGN_PATH";
const PATIENCE: Duration = Duration::from_secs(60);

/// The process to be killed: this test, started by the campaign.
#[test]
fn a_deed_done_again_and_again_when_told_to() {
    let (Some(deed), Some(path)) = (env::var_os(DEED), env::var_os(PATH)) else {
        return;
    };
    let path = PathBuf::from(path);
    let folder = path.parent().expect("a folder").to_owned();
    if deed == "write" {
        return write_once(&path);
    }
    let mut session = Session::load(&path).expect("whole");
    let mut number: u64 = session.notes.parse().expect("a number");
    let on_disk = (deed == "features").then(|| read_data(&session.experiment, &path).dataset);
    let folders = UserFolders::within(&folder.join("user"));
    let recovery = (deed == "copy").then(|| Recovery::claim(Some(&path), &folders));
    let mut recovery = recovery.map(|claimed| claimed.expect("a place"));
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        number += 1;
        session.notes = number.to_string();
        if let Some(dataset) = &on_disk {
            put_on_disk(dataset);
        }
        match &mut recovery {
            Some(recovery) => recovery.write(&session).expect("written"),
            None => session.save().expect("saved"),
        }
        // Only what is finished is promised.
        fs::write(folder.join("done"), number.to_string()).expect("written");
    }
}

/// Writes the features of many samples to disk, a dozen chunks, and reads every one of them again.
fn put_on_disk(dataset: &Dataset) {
    let samples: Vec<usize> = (0..80_000).map(|k| k % dataset.n_samples()).collect();
    let many = dataset.subset(&samples).expect("room in memory");
    let stored = many.on_disk().expect("room on disk");
    let bits = |set: &Dataset, sample: usize| -> Vec<u64> {
        set.sample(sample).iter().map(|v| v.to_bits()).collect()
    };
    for sample in 0..samples.len() {
        assert_eq!(bits(&stored, sample), bits(&many, sample));
    }
}

/// Every writer once, under the limit of file size that this process has; which of them succeeded goes to the
/// standard output, whose length nothing limits.
fn write_once(path: &Path) {
    let folder = path.parent().expect("a folder");
    let told = |writer: &str, succeeded: bool| println!("writer {writer} {succeeded}");
    let text = fs::read(folder.join("content")).expect("what to write");
    told(
        "export",
        export::write(&folder.join("export.json"), &text).is_ok(),
    );
    let mut session = Session::load(path).expect("whole");
    session.notes = "new".into();
    told("session", session.save().is_ok());
    // What is there now, for whoever cannot look by himself.
    let export = fs::read(folder.join("export.json")).unwrap_or_default();
    let export = match export {
        found if found == text => "new",
        found if found == b"old" => "old",
        _ => "broken",
    };
    let session = Session::load(path)
        .ok()
        .filter(|found| found.damage.is_none());
    let session = session.map_or("broken".to_owned(), |found| found.notes);
    println!("found export {export}, session {session}");
}

/// A command that runs a deed of this test.
pub(super) fn deed_command(deed: &str, path: &Path) -> Result<Command, String> {
    let name = "campaign::kills::a_deed_done_again_and_again_when_told_to";
    let mut command = Command::new(env::current_exe().map_err(|e| e.to_string())?);
    command
        .args([name, "--exact", "--nocapture"])
        .env(DEED, deed)
        .env(PATH, path);
    Ok(command)
}

fn start(deed: &str, path: &Path) -> Result<Child, String> {
    deed_command(deed, path)?
        .env("TMPDIR", scratch_folder(path))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())
}

/// Where the process writes what does not fit into memory.
fn scratch_folder(path: &Path) -> PathBuf {
    path.with_file_name("scratch")
}

/// The number of the last deed that was finished, if it is written down whole.
fn done(folder: &Path) -> u64 {
    let text = fs::read_to_string(folder.join("done")).unwrap_or_default();
    text.parse().unwrap_or(0)
}

/// Starts the deed, waits until it is done more often than before, and kills at a random moment.
fn kill_one(attack: &mut Attack, deed: &str, path: &Path) -> Result<u64, String> {
    let folder = path.parent().ok_or("no folder")?;
    let before = done(folder);
    let mut child = start(deed, path)?;
    let begun = Instant::now();
    // The number that ended the wait: by a second look the next one may be half written.
    let mut finished = before;
    while finished <= before && begun.elapsed() < PATIENCE {
        sleep(Duration::from_micros(200));
        finished = done(folder);
    }
    sleep(Duration::from_micros(attack.below(20_000) as u64));
    child.kill().map_err(|e| e.to_string())?;
    child.wait().map_err(|e| e.to_string())?;
    (finished > before)
        .then_some(finished)
        .ok_or("nothing was done".to_owned())
}

fn scene() -> (tempfile::TempDir, PathBuf) {
    let (folder, path) = saved_session(2);
    let mut session = Session::load(&path).expect("whole");
    session.notes = "0".into();
    session.save().expect("saved");
    fs::create_dir(scratch_folder(&path)).expect("made");
    (folder, path)
}

pub(super) fn sessions(attack: &mut Attack) {
    let (_folder, path) = scene();
    while attack.goes_on() {
        attack.one("save", |attack| {
            let finished = kill_one(attack, "save", &path)?;
            is_saved(&path, finished)
        });
    }
}

/// Features that are written to disk leave nothing behind, and what was saved between them is there.
pub(super) fn feature_stores(attack: &mut Attack) {
    let (_folder, path) = scene();
    while attack.goes_on() {
        attack.one("features", |attack| {
            let finished = kill_one(attack, "features", &path)?;
            is_saved(&path, finished)?;
            let scratch = scratch_folder(&path);
            let n_bytes = |name: &String| scratch.join(name).metadata().map_or(0, |m| m.len());
            let left: u64 = names_in(&scratch).iter().map(n_bytes).sum();
            (left == 0)
                .then_some(())
                .ok_or(format!("{left} bytes of features are left"))
        });
    }
}

/// Whether the session is whole and not older than what was finished.
fn is_saved(path: &Path, finished: u64) -> Result<(), String> {
    let found = Session::load(path).map_err(|error| error.to_string())?;
    let number: u64 = found
        .notes
        .parse()
        .map_err(|error| format!("no number: {error}"))?;
    let is_whole = found.damage.is_none() && number >= finished;
    is_whole
        .then_some(())
        .ok_or(format!("{number} after {finished}"))
}

pub(super) fn recovery_copies(attack: &mut Attack) {
    let (folder, path) = scene();
    let folders = UserFolders::within(&folder.path().join("user"));
    while attack.goes_on() {
        attack.one("recovery", |attack| {
            let finished = kill_one(attack, "copy", &path)?;
            let found = find_copies(Some(&path), &folders).map_err(|error| error.to_string())?;
            if let Some(error) = found.broken.first() {
                return Err(format!("a copy is broken: {error}"));
            }
            let Some(offer) = found.offers.into_iter().next() else {
                return Err(format!("copy {finished} is not offered"));
            };
            let (session, recovery) = offer.accept();
            recovery.close().map_err(|error| error.to_string())?;
            let number: u64 = session
                .notes
                .parse()
                .map_err(|error| format!("no number: {error}"))?;
            fs::write(folder.path().join("done"), "0").map_err(|e| e.to_string())?;
            (number >= finished)
                .then_some(())
                .ok_or(format!("{number} after {finished}"))
        });
    }
}

/// Files that hold finished points of a sweep, with their content.
fn points(folder: &Path) -> Vec<(OsString, Vec<u8>)> {
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let files = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("point") && !name.ends_with(".tmp")
    });
    let mut all: Vec<_> = files
        .map(|entry| {
            (
                entry.file_name(),
                fs::read(entry.path()).unwrap_or_default(),
            )
        })
        .collect();
    all.sort();
    all
}

/// The program itself runs a sweep of six points, is killed and started again until it ends.
pub(super) fn sweep_points(attack: &mut Attack) {
    let (folder, path) = saved_session(0);
    let sweep = folder.path().join("s.ron");
    let axis = |setting: &str, values: &str| {
        format!("(setting: \"learner.{setting}\", values: List([{values}]))")
    };
    let axes = [axis("n_atoms", "3, 4, 5"), axis("budget", "12, 16")].join(", ");
    let text = format!("(session: \"a.ron\", search: Grid([{axes}]), inner_folds: 2)");
    fs::write(&sweep, text).expect("written");
    let Some(program) = option_env!("CARGO_BIN_EXE_atomscope") else {
        return;
    };
    drop(path);
    let out = folder.path().join("s.sweep");
    while attack.goes_on() {
        attack.one("sweep", |attack| {
            let before = points(&out);
            let mut child = Command::new(program)
                .args(["sweep", "--quiet"])
                .arg(&sweep)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .map_err(|e| e.to_string())?;
            sleep(Duration::from_micros(20_000 + attack.below(300_000) as u64));
            let has_ended = child.try_wait().map_err(|e| e.to_string())?.is_some();
            child.kill().unwrap_or_default();
            child.wait().map_err(|e| e.to_string())?;
            let after = points(&out);
            let is_kept = before.iter().all(|point| after.contains(point));
            if has_ended && after.len() < 6 {
                return Err(format!("it ended with {} of 6 points", after.len()));
            }
            if has_ended {
                fs::remove_dir_all(&out).map_err(|e| e.to_string())?;
            }
            is_kept
                .then_some(())
                .ok_or("a finished point is gone or changed".to_owned())
        });
    }
}
