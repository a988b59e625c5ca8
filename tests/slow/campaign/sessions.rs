//! Sessions damaged on disk, text and arrays: refused, told, or the same run; the text may be edited by hand, so a
//! changed setting in it is legal, but never a changed run.

use std::fs;
use std::path::{Path, PathBuf};

use atomscope_engine::records::ContentHash;
use atomscope_engine::session::Session;
use rand::RngExt;

use super::super::hostile::Mutator;
use super::Attack;
use super::small_run::saved_session;

/// The file of arrays beside a session.
fn arrays_in(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let mut paths = entries.map(|entry| entry.path());
    paths.find(|path| {
        path.extension()
            .is_some_and(|ending| ending == "safetensors")
    })
}

/// The arrays of a small run that was saved.
pub(crate) fn arrays_of_a_run() -> Vec<u8> {
    let (folder, _) = saved_session(2);
    let path = arrays_in(folder.path()).expect("a run has arrays");
    fs::read(path).expect("saved")
}

pub(super) fn run(attack: &mut Attack) {
    let (folder, path) = saved_session(6);
    let arrays = arrays_in(folder.path()).expect("a run has arrays");
    let (text, bytes) = (
        fs::read(&path).expect("saved"),
        fs::read(&arrays).expect("saved"),
    );
    let name = arrays
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let scene = tempfile::tempdir().expect("a folder");
    let (session, beside) = (scene.path().join("a.ron"), scene.path().join(&name));
    while attack.goes_on() {
        let damage: u64 = attack.random.random();
        let in_text = attack.below(2) == 0;
        let puts_nan = attack.below(8) == 0;
        let is_rehashed = attack.below(4) == 0;
        attack.one("session", |_| {
            let (mut text, mut bytes) = (text.clone(), bytes.clone());
            if puts_nan {
                let at = (damage as usize % bytes.len()) & !7;
                for (to, from) in bytes.iter_mut().skip(at).zip(f64::NAN.to_le_bytes()) {
                    *to = from;
                }
            } else if in_text {
                text = Mutator::new(damage).mutated(&text, &bytes);
            } else {
                bytes = Mutator::new(damage).mutated(&bytes, &text);
            }
            if is_rehashed {
                return rehashed(&session, &String::from_utf8_lossy(&text), &bytes, &name);
            }
            fs::write(&session, text).map_err(|e| e.to_string())?;
            fs::write(&beside, &bytes).map_err(|e| e.to_string())?;
            judge(&session, scene.path(), &name)
        });
    }
}

/// Damage under a hash that fits it: nobody can tell that these are other numbers, but a session that is read all the
/// same can be saved, and what is read then is the same again.
fn rehashed(session: &Path, text: &str, bytes: &[u8], name: &str) -> Result<(), String> {
    let fail = |error: std::io::Error| error.to_string();
    let folder = session.parent().ok_or("no folder")?.join("rehashed");
    fs::create_dir_all(&folder).map_err(fail)?;
    let staged = folder.join("staged");
    fs::write(&staged, bytes).map_err(fail)?;
    let new = ContentHash::of_file(&staged, &mut |_| true)
        .map_err(fail)?
        .sha256;
    let short = name.split('.').nth(1).ok_or("no hash in the name")?;
    let old = text
        .split('"')
        .find(|part| part.len() == 64 && part.starts_with(short));
    let text = match old {
        Some(old) => text.replace(old, &new),
        None => text.to_owned(),
    };
    fs::rename(
        &staged,
        folder.join(name.replace(short, &new[..short.len()])),
    )
    .map_err(fail)?;
    let path = folder.join("a.ron");
    fs::write(&path, text).map_err(fail)?;
    let outcome = saved_again(&path);
    fs::remove_dir_all(&folder).map_err(fail)?;
    outcome
}

/// What is read without a word of damage is the same after it is saved.
fn saved_again(path: &Path) -> Result<(), String> {
    let Ok(mut found) = Session::load(path) else {
        return Ok(());
    };
    if found.damage.is_some() {
        return Ok(());
    }
    let had_run = found.run.is_some();
    let copy = path.with_file_name("b.ron");
    found.save_as(&copy).map_err(|e| e.to_string())?;
    let back = Session::load(&copy).map_err(|e| format!("not read again: {e}"))?;
    (back.damage.is_none() && back.run.is_some() == had_run)
        .then_some(())
        .ok_or("damaged when it is read again".to_owned())
}

/// A session that is read without a word of damage holds the run that was saved, or none.
fn judge(session: &Path, folder: &Path, name: &str) -> Result<(), String> {
    let Ok(mut found) = Session::load(session) else {
        return Ok(());
    };
    if found.damage.is_some() || found.run.is_none() {
        return Ok(());
    }
    let copy = folder.join("copy");
    fs::create_dir_all(&copy).map_err(|e| e.to_string())?;
    let saved = found
        .save_as(&copy.join("a.ron"))
        .map_err(|e| e.to_string());
    let hash = |name: &str| name.split('.').nth(1).map(str::to_owned);
    let again = arrays_in(&copy);
    let again = again.and_then(|path| hash(&path.file_name()?.to_string_lossy()));
    fs::remove_dir_all(&copy).map_err(|e| e.to_string())?;
    saved?;
    (again == hash(name))
        .then_some(())
        .ok_or(format!("another run: {again:?} for {name}"))
}
