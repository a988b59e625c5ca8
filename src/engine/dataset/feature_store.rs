//! Features that do not fit into memory: written once, in chunks, into a file of their own, and read
//! sample by sample. A chunk is compared with its hash before the first of its samples is given out.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use crate::memory::free_bytes;
use crate::records::{ReadError, ScratchFile, ScratchWriter};

/// Bytes of a chunk, roughly.
const CHUNK_BYTES: usize = 1 << 18;
/// Bytes that are turned into numbers at once.
const PIECE: usize = 4096;
/// Features stay in memory up to one part in so many of what is free.
const MEMORY_SHARE: u64 = 4;

/// Features on disk. The file is deleted with it.
#[derive(Debug)]
pub struct FeatureStore {
    file: ScratchFile,
    n_features: usize,
    n_samples: usize,
    n_missing: usize,
    chunk_samples: usize,
    hashes: Vec<[u8; 32]>,
    is_checked: Vec<AtomicBool>,
    failure: OnceLock<String>,
}

/// Features on their way to the disk.
#[derive(Debug)]
struct FeatureWriter {
    file: ScratchWriter,
    n_features: usize,
    n_samples: usize,
    n_missing: usize,
    chunk_samples: usize,
    /// The chunk under way.
    chunk: Vec<u8>,
    hashes: Vec<[u8; 32]>,
}

/// Features of samples as they come: in memory, or on disk from the moment on when they take too much.
#[derive(Debug, Default)]
pub(super) struct FeatureList {
    values: Vec<f64>,
    writer: Option<FeatureWriter>,
    /// Bytes that may be in memory, where that does not follow from what is free.
    most_bytes: Option<u64>,
}

impl FeatureList {
    /// The same list; on disk from so many bytes on.
    pub(super) fn in_memory_up_to(most_bytes: u64) -> Self {
        Self {
            most_bytes: Some(most_bytes),
            ..Self::default()
        }
    }

    /// Adds the features of one sample; all samples have as many.
    pub(super) fn push(&mut self, features: &[f64]) -> io::Result<()> {
        if let Some(writer) = &mut self.writer {
            return writer.push(features);
        }
        let n_values = self.values.len() + features.len();
        if n_values > self.values.capacity() && !self.fits(2 * n_values) {
            let mut writer = FeatureWriter::new(features.len())?;
            let known = std::mem::take(&mut self.values);
            for sample in known.chunks(features.len().max(1)) {
                writer.push(sample)?;
            }
            writer.push(features)?;
            self.writer = Some(writer);
            return Ok(());
        }
        self.values.extend_from_slice(features);
        Ok(())
    }

    fn fits(&self, n_values: usize) -> bool {
        let most = self
            .most_bytes
            .unwrap_or_else(|| free_bytes() / MEMORY_SHARE);
        (n_values * size_of::<f64>()) as u64 <= most
    }

    /// The features in memory, or on disk.
    pub(super) fn finish(self) -> io::Result<(Vec<f64>, Option<Arc<FeatureStore>>)> {
        let stored = self.writer.map(FeatureWriter::finish).transpose()?;
        Ok((self.values, stored.map(Arc::new)))
    }
}

impl FeatureWriter {
    fn new(n_features: usize) -> io::Result<Self> {
        let sample_bytes = (n_features * size_of::<f64>()).max(1);
        Ok(Self {
            file: ScratchWriter::new(&std::env::temp_dir())?,
            n_features,
            n_samples: 0,
            n_missing: 0,
            chunk_samples: (CHUNK_BYTES / sample_bytes).max(1),
            chunk: Vec::with_capacity(CHUNK_BYTES + sample_bytes),
            hashes: Vec::new(),
        })
    }

    /// Infinite values become missing ones, as in memory.
    fn push(&mut self, features: &[f64]) -> io::Result<()> {
        for value in features {
            let stored = if value.is_finite() { *value } else { f64::NAN };
            self.n_missing += usize::from(stored.is_nan());
            self.chunk.extend_from_slice(&stored.to_le_bytes());
        }
        self.n_samples += 1;
        if self.n_samples.is_multiple_of(self.chunk_samples) {
            self.write_chunk()?;
        }
        Ok(())
    }

    fn write_chunk(&mut self) -> io::Result<()> {
        self.file.append(&self.chunk)?;
        self.hashes.push(Sha256::digest(&self.chunk).into());
        self.chunk.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<FeatureStore> {
        if !self.chunk.is_empty() {
            self.write_chunk()?;
        }
        let is_checked = self.hashes.iter().map(|_| AtomicBool::new(false));
        Ok(FeatureStore {
            is_checked: is_checked.collect(),
            file: self.file.finish()?,
            n_features: self.n_features,
            n_samples: self.n_samples,
            n_missing: self.n_missing,
            chunk_samples: self.chunk_samples,
            hashes: self.hashes,
            failure: OnceLock::new(),
        })
    }
}

impl FeatureStore {
    /// Number of values.
    pub(super) fn n_values(&self) -> usize {
        self.n_samples * self.n_features
    }

    /// Number of missing values.
    pub(super) fn n_missing(&self) -> usize {
        self.n_missing
    }

    /// Why features could not be read back, if so: those are missing values since.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// `features` ← those of a sample. Where they cannot be read they are missing, and the failure is kept.
    pub(super) fn read(&self, sample: usize, features: &mut [f64]) {
        if let Err(error) = self.try_read(sample, features) {
            features.fill(f64::NAN);
            self.failure.get_or_init(|| {
                format!("features on disk cannot be read back, load the data again: {error}")
            });
        }
    }

    fn try_read(&self, sample: usize, features: &mut [f64]) -> Result<(), ReadError> {
        self.check(sample / self.chunk_samples)?;
        let sample_bytes = self.n_features * size_of::<f64>();
        let mut offset = (sample * sample_bytes) as u64;
        let mut piece = [0; PIECE];
        for part in features.chunks_mut(PIECE / size_of::<f64>()) {
            let piece = &mut piece[..size_of_val(part)];
            self.file.bytes().read_exact_at(offset, piece)?;
            for (value, bytes) in part.iter_mut().zip(piece.chunks_exact(size_of::<f64>())) {
                let bytes: [u8; 8] = bytes.try_into().unwrap_or_default();
                *value = f64::from_le_bytes(bytes);
            }
            offset += piece.len() as u64;
        }
        Ok(())
    }

    /// Compares a chunk with its hash, once.
    fn check(&self, chunk: usize) -> Result<(), ReadError> {
        if self.is_checked[chunk].load(Ordering::Relaxed) {
            return Ok(());
        }
        let sample_bytes = self.n_features * size_of::<f64>();
        let first = chunk * self.chunk_samples;
        let count = self.chunk_samples.min(self.n_samples - first);
        let offset = (first * sample_bytes) as u64;
        let source = self.file.bytes();
        let bytes = source.read_range(offset, (count * sample_bytes) as u64)?;
        if Sha256::digest(&bytes).as_slice() != self.hashes[chunk] {
            let text = format!("bytes {offset} and after are not what was written");
            let damaged = io::Error::new(io::ErrorKind::InvalidData, text);
            return Err(ReadError::io(source.path(), damaged));
        }
        self.is_checked[chunk].store(true, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(number: usize, n_features: usize) -> Vec<f64> {
        let value = |k: usize| ((number * n_features + k) as f64).sin();
        let mut values: Vec<f64> = (0..n_features).map(value).collect();
        if number == 3 {
            values[1] = f64::INFINITY;
        }
        values
    }

    fn stored(n_samples: usize, n_features: usize) -> Arc<FeatureStore> {
        let mut list = FeatureList::in_memory_up_to(10_000);
        for number in 0..n_samples {
            list.push(&sample(number, n_features))
                .expect("room on disk");
        }
        let (values, store) = list.finish().expect("room on disk");
        assert!(values.is_empty());
        store.expect("more than may be in memory")
    }

    #[test]
    fn what_is_written_is_read_back_bit_for_bit() {
        for (n_samples, n_features) in [(900, 76), (40, 5000), (2000, 3)] {
            let store = stored(n_samples, n_features);
            assert_eq!(store.n_values(), n_samples * n_features);
            assert_eq!(store.n_missing(), 1);
            let mut features = vec![0.0; n_features];
            for number in (0..n_samples).rev() {
                store.read(number, &mut features);
                let expected = sample(number, n_features);
                let same = features.iter().zip(&expected).all(|(found, expected)| {
                    found.to_bits() == expected.to_bits()
                        || found.is_nan() && expected.is_infinite()
                });
                assert!(same, "sample {number}");
            }
            assert_eq!(store.failure(), None);
        }
    }

    #[test]
    fn few_features_stay_in_memory() {
        let mut list = FeatureList::default();
        list.push(&[1.0, 2.0]).expect("room");
        list.push(&[3.0, 4.0]).expect("room");
        let (values, store) = list.finish().expect("room");
        assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
        assert!(store.is_none());
    }

    #[test]
    fn a_damaged_chunk_is_told() {
        let mut writer = FeatureWriter::new(100).expect("room");
        for number in 0..1000 {
            writer.push(&sample(number, 100)).expect("room");
        }
        let mut store = writer.finish().expect("room");
        let mut features = vec![0.0; 100];
        store.read(0, &mut features);
        assert_eq!((features[0], store.failure()), (0.0, None));
        store.hashes[1][7] ^= 1;
        for number in 0..1000 {
            store.read(number, &mut features);
        }
        let failure = store.failure().expect("one chunk is not what was written");
        assert!(failure.contains("not what was written"), "{failure}");
        store.read(400, &mut features);
        assert!(
            features[0].is_nan(),
            "nothing of a damaged chunk is given out"
        );
    }
}
