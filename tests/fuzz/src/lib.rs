//! What is fuzzed: every entry of the readers, and the texts and arrays that a user may edit or send.

use std::path::Path;

use atomscope_engine::experiment::{Experiment, with_settings};
use atomscope_engine::protection::calculated::Calculation;
use atomscope_engine::protection::rio;
use atomscope_engine::records::FUZZ_ENTRIES;
use atomscope_engine::session::{Session, SweepFile};

/// What is no record: its name, and how it is read.
type Subject = (&'static str, fn(&[u8]));

const OTHERS: [Subject; 6] = [
    ("session", session),
    ("arrays", |bytes| drop(Session::run_from_arrays(bytes))),
    ("sweep", |bytes| {
        drop(SweepFile::from_text(&text(bytes), Path::new("a.ron")))
    }),
    ("settings", |bytes| {
        let lines = text(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
        drop(with_settings(Experiment::default(), &lines));
    }),
    ("zones", |bytes| drop(rio::parse(&text(bytes)))),
    ("calculation", |bytes| {
        drop(Calculation::parse(&text(bytes)))
    }),
];

/// The names of all subjects.
pub fn subjects() -> impl Iterator<Item = &'static str> {
    let entries = FUZZ_ENTRIES.iter().map(|entry| entry.name);
    entries.chain(OTHERS.iter().map(|(name, _)| *name))
}

/// Hands `bytes` to a subject; a refusal with a reason is as good as a record.
///
/// # Panics
///
/// If there is no such subject, or something is wrong with it.
pub fn run(name: &str, bytes: &[u8]) {
    if let Some(entry) = FUZZ_ENTRIES.iter().find(|entry| entry.name == name) {
        if let Err(error) = (entry.run)(bytes) {
            assert!(!error.to_string().is_empty());
        }
        return;
    }
    let other = OTHERS.iter().find(|(other, _)| *other == name);
    let (_, read) = other.unwrap_or_else(|| panic!("there is no subject {name}"));
    read(bytes);
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What is read can be written, and is the same when it is read again.
fn session(bytes: &[u8]) {
    let path = Path::new("a.ron");
    if let Ok(found) = Session::from_text(&text(bytes), path) {
        let again = found.to_text(path).expect("what was read can be written");
        let back = Session::from_text(&again, path).expect("what was written can be read");
        assert_eq!(
            format!("{:?}", back.experiment),
            format!("{:?}", found.experiment)
        );
    }
}
