//! The inputs that coverage fuzzing found worth keeping, run as a normal test; and how they come and go:
//! `tests/fuzz/run` begins with the seeds written here, and its minimised corpus is packed here.
//!
//! A corpus is one file per subject: gzip of its inputs, each after its length in four bytes.

#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "it is the library of the fuzz target too")]
mod fuzz;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use atomscope_engine::experiment::Experiment;
use atomscope_engine::session::Session;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::campaign::{TABLE, arrays_of_a_run};
use super::hostile::seeds;

/// Most bytes of the inputs of a subject, so that all together are a few megabytes when they are packed.
const MOST_BYTES: usize = 600_000;
/// Longest that one small input may take.
const LONGEST: Duration = Duration::from_secs(5);

fn packed(subject: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/corpus");
    folder.join(format!("{subject}.gz"))
}

fn told_folder() -> PathBuf {
    let folder = std::env::var_os("ATOMSCOPE_CORPUS").map(PathBuf::from);
    folder.expect("ATOMSCOPE_CORPUS names a folder")
}

#[test]
fn every_subject_stands_its_corpus() {
    for subject in fuzz::subjects() {
        let file = File::open(packed(subject)).expect(subject);
        let mut bytes = Vec::new();
        GzDecoder::new(file).read_to_end(&mut bytes).expect(subject);
        let (mut rest, mut n_inputs) = (bytes.as_slice(), 0);
        while let Some((length, after)) = rest.split_first_chunk() {
            let (input, after) = after.split_at(u32::from_le_bytes(*length) as usize);
            let begun = Instant::now();
            fuzz::run(subject, input);
            let took = begun.elapsed();
            assert!(took < LONGEST, "{subject}, input {n_inputs}: {took:?}");
            (rest, n_inputs) = (after, n_inputs + 1);
        }
        assert!(n_inputs > 0, "{subject} has no inputs");
    }
}

#[test]
#[ignore = "writes the seeds of every subject into the folder ATOMSCOPE_CORPUS"]
fn seeds_for_fuzzing() {
    let folder = told_folder();
    let session = Session::new(Experiment::default());
    let text = session.to_text(Path::new("a.ron")).expect("text");
    let sweep = "(session: \"a.ron\", search: Grid([(setting: \"learner.n_atoms\", \
        values: List([5, 10]))]), inner_folds: 2)";
    let settings = "learner.kernel={\"Gaussian\":{\"width\":1.5}}\nlearner.n_atoms=5";
    let zones = "BEGIN DISTANCE\nBEGIN ZONE\nINDEX 1\nLABEL Z1\nBEGIN SHAPE\nLINE 0, 0, 90, LEFT\n\
        MHOCH 3, 80\nEND SHAPE\nEND ZONE\nEND DISTANCE\n";
    let others: [(&str, &[u8]); 6] = [
        ("session", text.as_bytes()),
        ("arrays", &arrays_of_a_run()),
        ("sweep", sweep.as_bytes()),
        ("settings", settings.as_bytes()),
        ("zones", zones.as_bytes()),
        ("calculation", b"I0 = (IA + IB + 2.5*'I C') / 3"),
    ];
    let of_readers = seeds(None);
    let of_readers = of_readers
        .iter()
        .map(|seed| (seed.entry, seed.bytes.as_slice()));
    let tables = [("table", TABLE.as_bytes()), ("any", TABLE.as_bytes())];
    for (number, (subject, bytes)) in others
        .into_iter()
        .chain(of_readers)
        .chain(tables)
        .enumerate()
    {
        let folder = folder.join(subject);
        fs::create_dir_all(&folder).expect("the folder can be made");
        fs::write(folder.join(format!("seed{number}")), bytes).expect("written");
    }
}

#[test]
#[ignore = "packs the minimised corpus of the folder ATOMSCOPE_CORPUS for the test above"]
fn pack_the_corpus() {
    for subject in fuzz::subjects() {
        let entries = fs::read_dir(told_folder().join(subject)).expect(subject);
        let inputs = entries.map(|entry| fs::read(entry.expect("listed").path()));
        let mut inputs: Vec<Vec<u8>> = inputs.map(|input| input.expect("an input")).collect();
        // The smallest first: the largest are left out where there are too many.
        inputs.sort_by_key(|input| (input.len(), input.clone()));
        let mut out = GzEncoder::new(Vec::new(), Compression::best());
        let mut n_bytes = 0;
        for input in inputs {
            n_bytes += input.len();
            if n_bytes > MOST_BYTES {
                break;
            }
            let length = (input.len() as u32).to_le_bytes();
            out.write_all(&length).expect("memory takes all");
            out.write_all(&input).expect("memory takes all");
        }
        let bytes = out.finish().expect("memory takes all");
        fs::write(packed(subject), bytes).expect("written");
    }
}
