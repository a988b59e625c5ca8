//! Results written where writing fails: the old file or the whole new one, never a part, and the failure is told.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use atomscope_engine::export;
use atomscope_engine::session::Session;
use rand::RngExt;

use super::Attack;
use super::kills::deed_command;
use super::small_run::{names_in, saved_session};

pub(super) fn run(attack: &mut Attack) {
    let folder = tempfile::tempdir().expect("a folder");
    while attack.goes_on() {
        let kind = attack.below(4);
        let length = attack.below(100_000);
        let fill: u8 = attack.random.random();
        attack.one("writer", |_| {
            let new = vec![fill; length];
            match kind {
                0 => replaced(&folder.path().join("whole.json"), &new),
                1 => gone(&folder.path().join("gone"), &new),
                2 => on_a_folder(folder.path(), &new),
                _ => limited(folder.path(), length as u64 / 1024),
            }
        });
    }
}

/// Bytes of the result whose writing is broken off after every one of them.
const N_BYTES: u64 = 600;

/// Results and a session written by a process whose files may not grow beyond a limit, one byte more each time: what
/// is told to be written is there, and otherwise the old one, whole.
pub(super) fn at_every_byte(attack: &mut Attack) {
    let (folder, path) = saved_session(1);
    let new = "n".repeat(N_BYTES as usize);
    fs::write(folder.path().join("content"), &new).expect("written");
    let (text, files) = (fs::read(&path).expect("saved"), names_in(folder.path()));
    let mut limit = 0;
    // Beyond the result come the bytes of the session, in larger steps.
    let longest = text.len() as u64 + 200;
    while attack.goes_on() {
        attack.one("limit", |_| {
            fs::write(&path, &text).map_err(|e| e.to_string())?;
            fs::write(folder.path().join("export.json"), "old").map_err(|e| e.to_string())?;
            let told = written_under(limit, &path)?;
            let found = fs::read_to_string(folder.path().join("export.json"));
            let found = found.map_err(|e| e.to_string())?;
            let session = Session::load(&path).map_err(|e| format!("{limit} bytes: {e}"))?;
            let is_right = |name: &str, is_new: bool, is_old: bool| match told.contains(name) {
                true => is_new,
                false => is_old,
            };
            let is_whole = is_right("writer export true", found == new, found == "old")
                && is_right(
                    "writer session true",
                    session.notes == "new",
                    session.notes == "as it was",
                )
                && session.damage.is_none();
            let leftover = names_in(folder.path())
                .into_iter()
                .find(|name| name.ends_with(".tmp"));
            match (is_whole, leftover) {
                (true, None) => Ok(()),
                (true, Some(name)) => Err(format!("{limit} bytes leave {name}")),
                (false, _) => Err(format!(
                    "{limit} bytes: {told}, {:?} of {files:?}",
                    found.len()
                )),
            }
        });
        limit = (limit + if limit < N_BYTES { 1 } else { 37 }) % longest;
    }
}

/// What a process says that may write so many bytes into a file.
fn written_under(limit: u64, path: &Path) -> Result<String, String> {
    let deed = deed_command("write", path)?;
    let script = format!("trap '' XFSZ; exec prlimit --fsize={limit} \"$0\" \"$@\"");
    let mut limited = Command::new("sh");
    limited
        .args(["-c", &script])
        .arg(deed.get_program())
        .args(deed.get_args());
    for (name, value) in deed.get_envs() {
        limited.env(name, value.unwrap_or_default());
    }
    let output = limited.output().map_err(|e| e.to_string())?;
    let told = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = told
        .lines()
        .filter(|line| line.contains("writer "))
        .collect();
    match lines.len() {
        2 => Ok(lines.join("; ")),
        _ => Err(format!("{limit} bytes: {told}")),
    }
}

/// Results and a session on a disk of their own, which is nearly full, or read-only: each is the new one if that is
/// told, else the old one.
pub(super) fn bad_disks(attack: &mut Attack) {
    let (folder, path) = saved_session(1);
    fs::write(folder.path().join("export.json"), "old").expect("written");
    let disk = tempfile::tempdir().expect("a folder");
    if !can_mount(disk.path()) {
        println!("skipped: no disk can be mounted here, so none was full or read-only");
        return;
    }
    while attack.goes_on() {
        attack.one("disk", |attack| {
            let content = "n".repeat(attack.below(30_000));
            fs::write(folder.path().join("content"), &content).map_err(|e| e.to_string())?;
            let is_read_only = attack.below(4) == 0;
            let used = names_in(folder.path()).into_iter().map(|name| {
                let size = folder.path().join(name).metadata().map_or(0, |m| m.len());
                size.div_ceil(4096) * 4
            });
            // From no room at all to room for everything.
            let n_kilobytes = used.sum::<u64>() + 4 * attack.below(24) as u64;
            let told = written_on_disk(
                folder.path(),
                disk.path(),
                &path,
                (n_kilobytes, is_read_only),
            )?;
            let is_right = |writer: &str| {
                let is_new = told.contains(&format!("writer {writer} true"));
                let was = if writer == "session" {
                    "as it was"
                } else {
                    "old"
                };
                let expected = if is_new { "new" } else { was };
                !(is_new && is_read_only) && told.contains(&format!("{writer} {expected}"))
            };
            (is_right("export") && is_right("session"))
                .then_some(())
                .ok_or(format!(
                    "{n_kilobytes} kB, read-only {is_read_only}: {told}"
                ))
        });
    }
}

/// Whether a disk in memory can be mounted by this user, in a space of his own.
fn can_mount(disk: &Path) -> bool {
    let mut command = Command::new("unshare");
    let tried = command
        .args(["-rm", "mount", "-t", "tmpfs", "none"])
        .arg(disk)
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// What a process says that writes on such a disk, onto which the files of a folder are copied first.
fn written_on_disk(
    from: &Path,
    disk: &Path,
    session: &Path,
    (n_kilobytes, is_read_only): (u64, bool),
) -> Result<String, String> {
    let name = session.file_name().ok_or("no name")?;
    let deed = deed_command("write", &disk.join(name))?;
    let remount = if is_read_only {
        "mount -o remount,ro \"$2\";"
    } else {
        ""
    };
    let script = format!(
        "mount -t tmpfs -o size={n_kilobytes}k none \"$2\" && cp -r \"$1\"/. \"$2\" && {{ {remount} shift 2; exec \"$@\"; }}"
    );
    let mut limited = Command::new("unshare");
    limited
        .args(["-rm", "sh", "-c", &script, "sh"])
        .args([from, disk]);
    limited.arg(deed.get_program()).args(deed.get_args());
    for (name, value) in deed.get_envs() {
        limited.env(name, value.unwrap_or_default());
    }
    let output = limited.output().map_err(|e| e.to_string())?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    match told.contains("found export") {
        true => Ok(told),
        false => Err(format!("{told}{}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn replaced(path: &Path, new: &[u8]) -> Result<(), String> {
    export::write(path, new).map_err(|error| error.to_string())?;
    let found = fs::read(path).map_err(|e| e.to_string())?;
    (found == new)
        .then_some(())
        .ok_or("another content".to_owned())
}

fn gone(folder: &Path, new: &[u8]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    fs::remove_dir_all(folder).map_err(|e| e.to_string())?;
    match export::write(&folder.join("a.json"), new) {
        Ok(()) => Err("written into a folder that is gone".to_owned()),
        Err(error) if error.to_string().contains("a.json") => Ok(()),
        Err(error) => Err(format!("the file is not named: {error}")),
    }
}

fn on_a_folder(folder: &Path, new: &[u8]) -> Result<(), String> {
    match export::write(folder, new) {
        Ok(()) => Err("written over a folder".to_owned()),
        Err(_) => Ok(()),
    }
}

/// `info --json` into a file under a limit of its size, as a quota sets it, ends with an error or the whole file; and
/// a table that is replaced while it is read is refused or read.
fn limited(folder: &Path, kilobytes: u64) -> Result<(), String> {
    let table = folder.join("t.csv");
    fs::write(&table, "a,class\n1,x\n2,y\n").map_err(|e| e.to_string())?;
    let Some(program) = option_env!("CARGO_BIN_EXE_atomscope") else {
        return Ok(());
    };
    let script = format!(
        "trap '' XFSZ; ulimit -f {}; exec \"$0\" info --json \"$1\" > \"$2\"",
        kilobytes % 3
    );
    let out = folder.join("limited.json");
    let child = Command::new("sh")
        .args(["-c", &script, program])
        .arg(&table)
        .arg(&out)
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.map_err(|e| e.to_string())?;
    fs::write(&table, "a,class\n1,x\n2,y\n3,z\n").map_err(|e| e.to_string())?;
    let status = child.wait().map_err(|e| e.to_string())?;
    let text = fs::read_to_string(&out).map_err(|e| e.to_string())?;
    let is_whole = text.trim_end().ends_with('}') && text.contains("\"files\"");
    match (status.success(), is_whole) {
        (true, false) => Err("a part of the result without an error".to_owned()),
        _ => Ok(()),
    }
}
