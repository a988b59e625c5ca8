//! Sessions damaged on disk, text and arrays: refused, told, or the same run; the text may be edited by hand, so a
//! changed setting in it is legal, but never a changed run.

use std::fs;
use std::path::{Path, PathBuf};

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
            fs::write(&session, text).map_err(|e| e.to_string())?;
            fs::write(&beside, &bytes).map_err(|e| e.to_string())?;
            judge(&session, scene.path(), &name)
        });
    }
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
