//! What all fuzz targets share: the way to an entry of a reader, or to a text that a user may edit.

use std::path::Path;

use atomscope_engine::experiment::{Experiment, with_settings};
use atomscope_engine::records::FUZZ_ENTRIES;
use atomscope_engine::session::{Session, SweepFile};

/// Hands `bytes` to the entry called `name`; a refusal is as good as a record.
pub fn run(name: &str, bytes: &[u8]) {
    let entry = FUZZ_ENTRIES.iter().find(|entry| entry.name == name);
    let entry = entry.expect("targets are named after entries");
    if let Err(error) = (entry.run)(bytes) {
        assert!(!error.to_string().is_empty());
    }
}

/// Texts beside the readers.
const N_TEXTS: usize = 3;

/// How many subjects `run_all` chooses from.
pub fn n_subjects() -> usize {
    FUZZ_ENTRIES.len() + N_TEXTS
}

/// Hands all but the first byte to the subject that this byte numbers: a reader, a session, a sweep or a setting.
pub fn run_all(bytes: &[u8]) {
    let Some((subject, rest)) = bytes.split_first() else {
        return;
    };
    let subject = usize::from(*subject) % n_subjects();
    if let Some(entry) = FUZZ_ENTRIES.get(subject) {
        return run(entry.name, rest);
    }
    let text = String::from_utf8_lossy(rest);
    let path = Path::new("a.ron");
    match subject - FUZZ_ENTRIES.len() {
        0 => {
            // What is read can be written, and is the same when it is read again.
            if let Ok(found) = Session::from_text(&text, path) {
                let again = found.to_text(path).expect("what was read can be written");
                let back = Session::from_text(&again, path).expect("what was written can be read");
                assert_eq!(format!("{:?}", back.experiment), format!("{:?}", found.experiment));
            }
        }
        1 => drop(SweepFile::from_text(&text, path)),
        _ => drop(with_settings(Experiment::default(), &[text.into_owned()])),
    }
}
