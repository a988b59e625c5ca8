//! Results written where writing fails: the old file or the whole new one, never a part, and the failure is told.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use atomscope_engine::export;
use rand::RngExt;

use super::Attack;

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
