//! Damaged files through the whole program: opened as data, looked at on the Explore page, drawn.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use atomscope::ui::screenshot::picture_of;
use atomscope::workbench::explore::ExploreAction;
use atomscope::workbench::{Action, Stage, Workbench};
use atomscope_engine::dataset::DataSettings;
use atomscope_engine::records::{Mode, PART_SEPARATOR, open, visit};
use rand::RngExt;

use super::super::hostile::{Mutator, Seed, seeds};
use super::Attack;

/// One file in so many is drawn.
const DRAWN: usize = 40;
/// Longest that a small file may take in the background.
const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn run(attack: &mut Attack) {
    let folder = tempfile::tempdir().expect("a folder");
    let data = std::env::var_os("ATOMSCOPE_DATA");
    let seeds = seeds(data.as_deref().map(Path::new));
    while attack.goes_on() {
        let seed = &seeds[attack.below(seeds.len())];
        let damage: u64 = attack.random.random();
        let is_drawn = attack.below(DRAWN) == 0;
        attack.one(seed.entry, |_| {
            let path = written(folder.path(), seed, damage).map_err(|e| e.to_string())?;
            if let Ok(record) = open(&path, Mode::Tolerant) {
                drop(visit(&record));
            }
            if let Ok(settings) = DataSettings::for_path(&path, &mut |_| true) {
                drop(settings.load(&|named| Some(named.to_owned()), &mut |_| true));
            }
            if is_drawn { draw(path) } else { Ok(()) }
        });
    }
}

/// The files of a seed, the first of them damaged; the one to open.
fn written(folder: &Path, seed: &Seed, damage: u64) -> std::io::Result<PathBuf> {
    let names: &[&str] = match seed.entry {
        "edf" => &["a.edf"],
        "brainvision" => &["a.vhdr", "a.eeg", "a.vmrk"],
        "mat" => &["a.mat"],
        "eeglab" => &["a.set", "a.fdt"],
        "comtrade" => &["a.cfg", "a.dat"],
        "comtrade_combined" => &["a.cff"],
        "arff" => &["a.arff"],
        "npy" => &["a.npy"],
        "npz" => &["a.npz"],
        "table" => &["a.csv"],
        "workbook" => &["a.xlsx"],
        _ => &["a.bin"],
    };
    let bytes = Mutator::new(damage).mutated(&seed.bytes, &seed.bytes);
    let mut rest = bytes.as_slice();
    for name in names {
        let end = rest
            .windows(PART_SEPARATOR.len())
            .position(|w| w == PART_SEPARATOR);
        let (part, after) = match end {
            Some(end) => (&rest[..end], &rest[end + PART_SEPARATOR.len()..]),
            None => (rest, [].as_slice()),
        };
        fs::write(folder.join(name), part)?;
        rest = after;
    }
    Ok(folder.join(names[0]))
}

fn draw(path: PathBuf) -> Result<(), String> {
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    workbench.apply(Action::Explore(ExploreAction::OpenFile(path)));
    workbench.apply(Action::Show(Stage::Explore));
    let begun = Instant::now();
    while workbench.is_busy() {
        workbench.update();
        if begun.elapsed() > PATIENCE {
            return Err("still busy".to_owned());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let picture = picture_of(workbench, [640.0, 400.0], 1.0, true, || {
        std::thread::sleep(Duration::from_millis(1));
    });
    (picture.width == 640)
        .then_some(())
        .ok_or("no picture".to_owned())
}
