//! Features that were computed before: in a folder, a file for each recording and recipe, so that work on thousands of
//! recordings that was interrupted resumes, and what has not changed is not computed again.
//!
//! The name of a file is a hash of everything that its features follow from: the bytes of the recording and of the files
//! that belong to it, the recipe, how it is read, labelled stretches, and the build of the program. It holds the
//! features in chunks, then the rest, then a foot of fixed length with the lengths and a hash of the rest. What is damaged
//! is computed again.

use std::fmt::Debug;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::feature_store::{ChunkWriter, Chunks, FeatureStore};
use super::made_samples::MadeSamples;
use crate::features::{Extraction, FeatureGroup, Layout, RejectedStretch, Sample};
use crate::records::{ByteSource, ContentHash, FileCache, hexadecimal, program_build};

/// Smaller recordings are sampled as fast as their features are read.
const FEWEST_BYTES: u64 = 1 << 17;
/// Bytes of all files together; beyond it those that were not used for longest are deleted.
const MOST_BYTES: u64 = 16 << 30;
const ENDING: &str = "features";
const MAGIC: [u8; 8] = *b"ATOMFEA2";
const FOOT_BYTES: u64 = 64;

/// A folder of features that were computed before.
#[derive(Debug)]
pub struct KeptFeatures {
    files: FileCache,
    fewest_bytes: u64,
}

/// What a recipe said of a record beside the samples.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    feature_names: Vec<String>,
    layout: Layout,
    feature_groups: Vec<FeatureGroup>,
    label_slack_s: f64,
    rejected: Vec<RejectedStretch>,
    notes: Vec<String>,
    n_missing: usize,
    chunk_samples: usize,
}

static OF_PROGRAM: OnceLock<KeptFeatures> = OnceLock::new();

impl KeptFeatures {
    /// Those in a folder, which is made when there is something to keep.
    pub fn in_folder(folder: &Path) -> Self {
        Self {
            files: FileCache::new(folder, ENDING, MOST_BYTES),
            fewest_bytes: FEWEST_BYTES,
        }
    }

    /// The same; all files together take no more than so many bytes.
    pub fn within(self, most_bytes: u64) -> Self {
        Self {
            files: self.files.within(most_bytes),
            ..self
        }
    }

    /// Makes these the ones that data sets of this program are loaded with, where nothing else is said.
    pub fn use_always(self) {
        // Whoever was first stays.
        drop(OF_PROGRAM.set(self));
    }

    pub(super) fn of_program() -> Option<&'static Self> {
        OF_PROGRAM.get()
    }

    /// Where the features of a recording are kept that follow from these contents and `settings`; nothing for one that
    /// is too small.
    pub(super) fn path_of(
        &self,
        contents: &[(PathBuf, ContentHash)],
        settings: &dyn Debug,
    ) -> Option<PathBuf> {
        let size: u64 = contents.iter().map(|(_, content)| content.size).sum();
        if size < self.fewest_bytes {
            return None;
        }
        let mut hasher = Sha256::new();
        hasher.update(format!("{}\n{settings:?}\n", build()?));
        for (path, content) in contents {
            // The ending of its name may decide how a file is read.
            hasher.update(format!("{:?} {}\n", path.extension(), content.sha256));
        }
        let name = hexadecimal(hasher.finalize().as_slice());
        Some(self.files.path(&name))
    }

    /// The samples in a file; nothing if it is missing or damaged.
    pub(super) fn find(&self, path: &Path) -> Option<MadeSamples> {
        if !path.exists() {
            return None;
        }
        let found = read(path);
        if found.is_none() {
            tracing::warn!(path = %path.display(), "kept features are damaged and computed again");
        }
        self.files.touch(path);
        found
    }

    /// Keeps samples, whole or not at all.
    pub(super) fn keep(&self, path: &Path, made: &MadeSamples) -> io::Result<()> {
        self.files.keep(path, |out| write(out, made))
    }
}

/// Which program computes: another build may compute otherwise.
fn build() -> Option<&'static str> {
    static BUILD: OnceLock<Option<String>> = OnceLock::new();
    let found = || {
        let (length, time) = program_build()?;
        let time = time.duration_since(UNIX_EPOCH).ok()?;
        let version = env!("CARGO_PKG_VERSION");
        Some(format!("{version} {length} {}", time.as_nanos()))
    };
    BUILD.get_or_init(found).as_deref()
}

/// Writes samples; how many bytes they are.
fn write(out: &mut impl Write, made: &MadeSamples) -> io::Result<u64> {
    let extraction = &made.extraction;
    let mut writer = ChunkWriter::new(&mut *out, extraction.feature_names.len());
    let mut rest = Vec::new();
    let mut sample = Sample::default();
    for number in 0..made.n_samples() {
        made.read(number, &mut sample).map_err(io::Error::other)?;
        writer.push(&sample.values)?;
        rest.extend_from_slice(&sample.start_s.to_le_bytes());
        rest.extend_from_slice(&sample.duration_s.to_le_bytes());
    }
    let chunks = writer.finish()?;
    for hash in &chunks.hashes {
        rest.extend_from_slice(hash);
    }
    let facts = Facts {
        feature_names: extraction.feature_names.clone(),
        layout: extraction.layout,
        feature_groups: extraction.feature_groups.clone(),
        label_slack_s: extraction.label_slack_s,
        rejected: extraction.rejected.clone(),
        notes: extraction.notes.clone(),
        n_missing: chunks.n_missing,
        chunk_samples: chunks.chunk_samples,
    };
    rest.extend(ron::to_string(&facts).map_err(io::Error::other)?.bytes());
    out.write_all(&rest)?;
    let mut foot = Vec::from(MAGIC);
    for length in [rest.len(), chunks.n_samples, chunks.hashes.len()] {
        foot.extend_from_slice(&(length as u64).to_le_bytes());
    }
    foot.extend_from_slice(&Sha256::digest(&rest));
    out.write_all(&foot)?;
    Ok(chunks.n_bytes() + rest.len() as u64 + FOOT_BYTES)
}

/// Reads what `write` has written, if every byte is what it was.
fn read(path: &Path) -> Option<MadeSamples> {
    let source = ByteSource::open(path).ok()?;
    let foot_at = source.len().checked_sub(FOOT_BYTES)?;
    let foot = source.read_range(foot_at, FOOT_BYTES).ok()?;
    let length = |place: usize| {
        let bytes: [u8; 8] = foot[8 * place..8 * place + 8].try_into().ok()?;
        usize::try_from(u64::from_le_bytes(bytes)).ok()
    };
    let (n_rest, n_samples, n_chunks) = (length(1)?, length(2)?, length(3)?);
    let rest_at = foot_at.checked_sub(n_rest as u64)?;
    let rest = source.read_range(rest_at, n_rest as u64).ok()?;
    if foot[..8] != MAGIC || Sha256::digest(&rest).as_slice() != &foot[32..] {
        return None;
    }
    let (windows, rest) = rest.split_at_checked(n_samples.checked_mul(16)?)?;
    let (hashes, facts) = rest.split_at_checked(n_chunks.checked_mul(32)?)?;
    let facts: Facts = ron::de::from_bytes(facts).ok()?;
    let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap_or_default());
    let windows = windows.chunks_exact(16);
    let windows = windows.map(|both| (number(&both[..8]), number(&both[8..])));
    let hashes = hashes.chunks_exact(32);
    let chunks = Chunks {
        n_features: facts.feature_names.len(),
        n_samples,
        n_missing: facts.n_missing,
        chunk_samples: facts.chunk_samples,
        hashes: hashes
            .map(|hash| hash.try_into().unwrap_or_default())
            .collect(),
    };
    let store = FeatureStore::of_file(source, chunks)?;
    store.check_all().ok()?;
    let extraction = Extraction {
        feature_names: facts.feature_names,
        layout: facts.layout,
        feature_groups: facts.feature_groups,
        label_slack_s: facts.label_slack_s,
        samples: Vec::new(),
        rejected: facts.rejected,
        notes: facts.notes,
    };
    Some(MadeSamples::stored(
        extraction,
        windows.collect(),
        Arc::new(store),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(folder: &Path) -> KeptFeatures {
        KeptFeatures {
            fewest_bytes: 0,
            ..KeptFeatures::in_folder(folder)
        }
    }

    /// Samples with a hole, an infinity and everything else that a recipe may say.
    fn samples(n_samples: usize, n_features: usize) -> MadeSamples {
        let extraction = Extraction {
            feature_names: (0..n_features)
                .map(|n| format!("feature \"{n}\""))
                .collect(),
            layout: Layout::Plain,
            feature_groups: Vec::new(),
            label_slack_s: 0.1 + 0.2,
            samples: Vec::new(),
            rejected: vec![RejectedStretch {
                start_s: 1.0 / 3.0,
                duration_s: f64::INFINITY,
                reason: crate::features::RejectReason::Silent,
            }],
            notes: vec!["a note\nof two lines".to_owned()],
        };
        let values = (0..n_samples * n_features).map(|k| match k {
            5 => f64::NAN,
            _ => (k as f64).sin(),
        });
        let windows = (0..n_samples).map(|n| (n as f64 / 3.0, 0.7));
        MadeSamples::in_memory(extraction, windows.collect(), values.collect())
    }

    fn bits(made: &MadeSamples) -> Vec<u64> {
        let mut sample = Sample::default();
        let mut all = Vec::new();
        for number in 0..made.n_samples() {
            made.read(number, &mut sample).expect("readable");
            all.extend([sample.start_s.to_bits(), sample.duration_s.to_bits()]);
            all.extend(sample.values.iter().map(|value| value.to_bits()));
        }
        all
    }

    #[test]
    fn what_is_kept_is_found_bit_for_bit() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = kept(folder.path());
        for (n_samples, n_features) in [(700, 76), (3, 50_000), (0, 4)] {
            let made = samples(n_samples, n_features);
            let path = kept.path_of(&[], &n_features).expect("large enough");
            assert!(kept.find(&path).is_none());
            kept.keep(&path, &made).expect("room");
            let found = kept.find(&path).expect("it was kept");
            assert_eq!(bits(&found), bits(&made));
            assert_eq!(found.extraction, made.extraction);
        }
        assert_eq!(kept.path_of(&[], &1), kept.path_of(&[], &1));
        assert_ne!(kept.path_of(&[], &1), kept.path_of(&[], &2));
    }

    #[test]
    fn a_file_with_any_wrong_byte_or_without_its_end_is_not_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = kept(folder.path());
        let path = kept.path_of(&[], &0).expect("large enough");
        kept.keep(&path, &samples(40, 3)).expect("room");
        let whole = ByteSource::open(&path).and_then(|file| file.read_all());
        let whole = whole.expect("written").to_vec();
        let replace = |bytes: &[u8]| {
            let written = kept.files.keep(&path, |out| {
                out.write_all(bytes)?;
                Ok(bytes.len() as u64)
            });
            written.expect("writable");
        };
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1 << (place % 8);
            replace(&damaged);
            assert!(kept.find(&path).is_none(), "byte {place}");
        }
        for length in [0, 1, 63, 64, 100, whole.len() - 1] {
            replace(&whole[..length]);
            assert!(kept.find(&path).is_none(), "{length} bytes");
        }
        replace(&whole);
        assert!(kept.find(&path).is_some());
    }
}
