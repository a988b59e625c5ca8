//! Damaged files and texts through the readers, in process.

use std::path::Path;
use std::time::{Duration, Instant};

use atomscope_engine::experiment::{Experiment, with_settings};
use atomscope_engine::records::{FUZZ_ENTRIES, Input, Mode, read, table::DecimalSign};
use atomscope_engine::session::{Session, SweepFile};
use rand::RngExt;

use super::super::hostile::{Mutator, seeds};
use super::Attack;

/// Longest that one small file may take.
const LONGEST: Duration = Duration::from_secs(5);

/// Every entry in turn, with its own seeds, and the entry that recognises formats by itself.
pub(super) fn files(attack: &mut Attack) {
    let folder = std::env::var_os("ATOMSCOPE_DATA");
    let seeds = seeds(folder.as_deref().map(Path::new));
    while attack.goes_on() {
        let seed = &seeds[attack.below(seeds.len())];
        let other = &seeds[attack.below(seeds.len())];
        let damage: u64 = attack.random.random();
        let is_any = damage.is_multiple_of(8);
        attack.one(seed.entry, |_| {
            let bytes = Mutator::new(damage).mutated(&seed.bytes, &other.bytes);
            let name = if is_any { "any" } else { seed.entry };
            let entry = FUZZ_ENTRIES.iter().find(|entry| entry.name == name);
            let begun = Instant::now();
            let outcome = (entry.ok_or("no such entry")?.run)(&bytes);
            if outcome.is_err_and(|error| error.to_string().is_empty()) {
                return Err("a refusal without a reason".to_owned());
            }
            within(begun)
        });
    }
}

fn within(begun: Instant) -> Result<(), String> {
    let took = begun.elapsed();
    (took < LONGEST)
        .then_some(())
        .ok_or(format!("took {took:?}"))
}

/// A table of everything that the dialect looks at.
pub(crate) const TABLE: &str = "sep=;\n# remark\nwhen;U [kV];share;trip;1.234,5;class\n(s);(V);;;;\n\
    2024-01-31 12:00;1 000,5;12 %;yes;#DIV/0!;a\n31.01.2024;1.234,5;5;no;#N/A;\"b\nc\"\n\
    12:30:15,5;1'234.5;0,5 %;true;-;a\n";

/// Sessions, sweeps, settings by hand, tables and notes of recordings as text.
pub(super) fn texts(attack: &mut Attack) {
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(Experiment::default());
    let text = session.to_text(Path::new("a.ron")).expect("text");
    let sweep_path = folder.path().join("sweep.ron");
    let sweep = "(session: \"a.ron\", search: Grid([(setting: \"learner.n_atoms\", \
        values: List([5, 10]))]), inner_folds: 2)";
    let setting = "learner.kernel={\"Gaussian\":{\"width\":1.5}}";
    while attack.goes_on() {
        let damage: u64 = attack.random.random();
        let kind = attack.below(10);
        attack.one("text", |_| {
            let mut mutator = Mutator::new(damage);
            let mut damaged = |text: &str| {
                let bytes = mutator.mutated(text.as_bytes(), TABLE.as_bytes());
                String::from_utf8_lossy(&bytes).into_owned()
            };
            let begun = Instant::now();
            match kind {
                0..=3 => {
                    // What is read can be written, and is the same when it is read again.
                    if let Ok(found) = Session::from_text(&damaged(&text), Path::new("a.ron")) {
                        let again = found
                            .to_text(Path::new("a.ron"))
                            .map_err(|e| e.to_string())?;
                        let back = Session::from_text(&again, Path::new("a.ron"));
                        let back = back.map_err(|error| format!("not read again: {error}"))?;
                        let is_same =
                            format!("{:?}", back.experiment) == format!("{:?}", found.experiment);
                        is_same
                            .then_some(())
                            .ok_or("another experiment when read again")?;
                    }
                }
                4 => {
                    std::fs::write(&sweep_path, damaged(sweep)).map_err(|e| e.to_string())?;
                    drop(SweepFile::load(&sweep_path));
                }
                5 => drop(with_settings(Experiment::default(), &[damaged(setting)])),
                _ => {
                    let bytes = damaged(TABLE).into_bytes();
                    let mut options = Mode::Tolerant.into();
                    for decimal in [None, Some(DecimalSign::Point), Some(DecimalSign::Comma)] {
                        options = atomscope_engine::records::ReadOptions { decimal, ..options };
                        drop(read(&Input::from_bytes("a.csv", bytes.clone()), &options));
                    }
                }
            }
            within(begun)
        });
    }
}
