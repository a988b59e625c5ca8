//! Writes the valid files of the mutation tests as corpora: `write_seeds FOLDER`.

#[path = "../hostile/mod.rs"]
#[expect(dead_code, reason = "only the seeds are wanted")]
mod hostile;

use std::path::PathBuf;

/// Which target takes a seed.
fn target(seed: &hostile::Seed) -> &'static str {
    match (seed.reader, seed.names.first()) {
        ("EDF/BDF", _) => "edf",
        ("BrainVision", _) => "brainvision",
        ("MATLAB and EEGLAB", _) => "matlab",
        ("COMTRADE", Some(&"a.cff")) => "comtrade_combined",
        ("COMTRADE", _) => "comtrade",
        ("ARFF", _) => "arff",
        ("NPY", _) => "npy",
        ("NPZ", _) => "npz",
        _ => "table",
    }
}

fn main() -> std::io::Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).unwrap_or("corpus".into()).into();
    let shared = std::env::var_os("ATOMSCOPE_DATA").map(PathBuf::from);
    for (number, seed) in hostile::seeds(shared.as_deref()).iter().enumerate() {
        let corpus = folder.join(target(seed));
        std::fs::create_dir_all(&corpus)?;
        std::fs::write(corpus.join(format!("seed{number}")), &seed.bytes)?;
    }
    Ok(())
}
