//! Features that do not fit into memory: written once, in chunks, into a file of their own, and read
//! sample by sample. A chunk is compared with its hash before the first of its samples is given out, and every sample
//! carries a sum that is compared whenever it is read: a run takes hours, and the file may be damaged meanwhile.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use crate::memory::free_bytes;
use crate::records::{ByteSource, ReadError, ScratchFile, ScratchWriter, scratch_folder};

/// Bytes of a chunk, roughly.
const CHUNK_BYTES: usize = 1 << 18;
/// Bytes that are turned into numbers at once.
const PIECE: usize = 4096;
/// Features stay in memory up to one part in so many of what is free.
const MEMORY_SHARE: u64 = 4;
/// So many bytes are there without asking, which takes longer than a small record.
const ALWAYS_FREE: u64 = 1 << 20;
/// Samples that are no farther apart are read together: what lies between them takes less time than another read.
const NEAR: usize = 4;

/// Features on disk. A file of temporary features is deleted with it.
#[derive(Debug)]
pub struct FeatureStore {
    bytes: ByteSource,
    chunks: Chunks,
    is_checked: Vec<AtomicBool>,
    failure: OnceLock<String>,
    /// Deletes the file.
    _scratch: Option<ScratchFile>,
}

/// How features lie in a file: sample after sample from its beginning, each with its sum behind it.
#[derive(Debug)]
pub(super) struct Chunks {
    pub(super) n_features: usize,
    pub(super) n_samples: usize,
    pub(super) n_missing: usize,
    pub(super) chunk_samples: usize,
    /// SHA-256 of each chunk.
    pub(super) hashes: Vec<[u8; 32]>,
}

/// Writes features in chunks.
#[derive(Debug)]
pub(super) struct ChunkWriter<W> {
    out: W,
    chunks: Chunks,
    /// The chunk under way.
    chunk: Vec<u8>,
}

/// Features on their way to the disk.
type FeatureWriter = ChunkWriter<ScratchWriter>;

/// Features of samples as they come: in memory, or on disk from the moment on when they take too much.
#[derive(Debug, Default)]
pub(super) struct FeatureList {
    values: Vec<f64>,
    writer: Option<FeatureWriter>,
    /// Bytes that may be in memory, even where more is free.
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

    /// From now on no more than so many bytes are in memory.
    pub(super) fn limit_memory(&mut self, most_bytes: u64) {
        self.most_bytes = Some(most_bytes);
    }

    /// Adds the features of one sample; all samples have as many.
    pub(super) fn push(&mut self, features: &[f64]) -> io::Result<()> {
        if let Some(writer) = &mut self.writer {
            return writer.push(features);
        }
        let n_values = self.values.len() + features.len();
        if n_values > self.values.capacity() && !self.fits(2 * n_values) {
            return self.move_to_disk(features.len())?.push(features);
        }
        self.values.extend_from_slice(features);
        Ok(())
    }

    fn move_to_disk(&mut self, n_features: usize) -> io::Result<&mut FeatureWriter> {
        let mut writer = to_scratch(n_features)?;
        let known = std::mem::take(&mut self.values);
        for sample in known.chunks(n_features.max(1)) {
            writer.push(sample)?;
        }
        Ok(self.writer.insert(writer))
    }

    /// Makes room for samples to come: on disk at once where they will not fit into memory, else exactly as much as a
    /// large addition needs. Small ones are left to the usual doubling, which moves what is there less often.
    pub(super) fn expect(&mut self, n_samples: usize, n_features: usize) -> io::Result<()> {
        let (n_known, n_values) = (self.values.len(), n_samples.saturating_mul(n_features));
        if self.writer.is_some() || n_values <= n_known {
            return Ok(());
        }
        // What is there is moved: for a moment it is in memory twice.
        if self.fits(2 * n_known + n_values) {
            self.values.reserve_exact(n_values);
        } else if !self.fits(n_known + n_values) {
            self.move_to_disk(n_features)?;
        }
        Ok(())
    }

    fn fits(&self, n_values: usize) -> bool {
        let n_bytes = (n_values * size_of::<f64>()) as u64;
        let is_free = || n_bytes <= ALWAYS_FREE || n_bytes <= free_bytes() / MEMORY_SHARE;
        self.most_bytes.is_none_or(|most| n_bytes <= most) && is_free()
    }

    /// The features in memory, or on disk.
    pub(super) fn finish(self) -> io::Result<(Vec<f64>, Option<Arc<FeatureStore>>)> {
        let stored = self.writer.map(scratch_store).transpose()?;
        Ok((self.values, stored.map(Arc::new)))
    }
}

/// A writer to a file of temporary features.
fn to_scratch(n_features: usize) -> io::Result<FeatureWriter> {
    let file = ScratchWriter::new(&scratch_folder())?;
    Ok(ChunkWriter::new(file, n_features))
}

/// What was written to such a file.
fn scratch_store(writer: FeatureWriter) -> io::Result<FeatureStore> {
    let (file, chunks) = writer.close()?;
    let scratch = file.finish()?;
    Ok(FeatureStore {
        bytes: scratch.bytes().clone(),
        is_checked: chunks.none_checked(),
        chunks,
        failure: OnceLock::new(),
        _scratch: Some(scratch),
    })
}

/// Bytes of a sample with its sum.
fn sample_bytes(n_features: usize) -> usize {
    n_features
        .saturating_add(1)
        .saturating_mul(size_of::<u64>())
}

/// A sum over the features of a sample, made word by word. Every step is reversible, so that no change of one value
/// goes unseen; and it begins with the number of the sample, so that none is taken for another.
struct SampleSum(u64);

impl SampleSum {
    fn of_sample(sample: usize) -> Self {
        let mut sum = Self(0x9e37_79b9_7f4a_7c15);
        sum.add(sample as u64);
        sum
    }

    fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.0 ^= self.0 >> 32;
    }
}

impl<W: Write> ChunkWriter<W> {
    pub(super) fn new(out: W, n_features: usize) -> Self {
        let sample_bytes = sample_bytes(n_features);
        Self {
            out,
            chunks: Chunks {
                n_features,
                n_samples: 0,
                n_missing: 0,
                chunk_samples: (CHUNK_BYTES / sample_bytes).max(1),
                hashes: Vec::new(),
            },
            chunk: Vec::with_capacity(CHUNK_BYTES + sample_bytes),
        }
    }

    /// Infinite values become missing ones, as in memory.
    pub(super) fn push(&mut self, features: &[f64]) -> io::Result<()> {
        let mut sum = SampleSum::of_sample(self.chunks.n_samples);
        for value in features {
            let stored = if value.is_finite() { *value } else { f64::NAN };
            self.chunks.n_missing += usize::from(stored.is_nan());
            sum.add(stored.to_bits());
            self.chunk.extend_from_slice(&stored.to_le_bytes());
        }
        self.chunk.extend_from_slice(&sum.0.to_le_bytes());
        self.chunks.n_samples += 1;
        let chunk_samples = self.chunks.chunk_samples;
        if self.chunks.n_samples.is_multiple_of(chunk_samples) {
            self.write_chunk()?;
        }
        Ok(())
    }

    fn write_chunk(&mut self) -> io::Result<()> {
        self.out.write_all(&self.chunk)?;
        let hash = Sha256::digest(&self.chunk).into();
        self.chunks.hashes.push(hash);
        self.chunk.clear();
        Ok(())
    }

    fn close(mut self) -> io::Result<(W, Chunks)> {
        if !self.chunk.is_empty() {
            self.write_chunk()?;
        }
        Ok((self.out, self.chunks))
    }

    /// How the features lie in what was written.
    pub(super) fn finish(self) -> io::Result<Chunks> {
        self.close().map(|(_, chunks)| chunks)
    }
}

impl Chunks {
    pub(super) fn n_values(&self) -> usize {
        self.n_samples * self.n_features
    }

    /// Bytes of all samples.
    pub(super) fn n_bytes(&self) -> u64 {
        self.offset(self.n_samples)
    }

    /// Where a sample begins.
    fn offset(&self, sample: usize) -> u64 {
        sample as u64 * sample_bytes(self.n_features) as u64
    }

    fn none_checked(&self) -> Vec<AtomicBool> {
        let chunks = self.hashes.iter();
        chunks.map(|_| AtomicBool::new(false)).collect()
    }
}

impl FeatureStore {
    /// Features in a file that stays; nothing where they do not fit together.
    pub(super) fn of_file(bytes: ByteSource, chunks: Chunks) -> Option<Self> {
        let n_bytes = chunks
            .n_samples
            .checked_mul(sample_bytes(chunks.n_features))? as u64;
        let n_chunks = chunks.n_samples.checked_div(chunks.chunk_samples)?
            + usize::from(!chunks.n_samples.is_multiple_of(chunks.chunk_samples));
        (n_bytes <= bytes.len() && n_chunks == chunks.hashes.len()).then(|| Self {
            bytes,
            is_checked: chunks.none_checked(),
            chunks,
            failure: OnceLock::new(),
            _scratch: None,
        })
    }

    /// Compares every chunk with its hash.
    pub(super) fn check_all(&self) -> Result<(), ReadError> {
        (0..self.is_checked.len()).try_for_each(|chunk| self.check(chunk))
    }

    /// Number of values.
    pub(super) fn n_values(&self) -> usize {
        self.chunks.n_values()
    }

    /// Number of missing values.
    pub(super) fn n_missing(&self) -> usize {
        self.chunks.n_missing
    }

    /// Why features could not be read back, if so: those are missing values since.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Whether a sample follows another so closely, in its chunk, that both are better read at once.
    pub(super) fn are_near(&self, sample: usize, next: usize) -> bool {
        let chunk = |sample: usize| sample / self.chunks.chunk_samples;
        (sample..=sample.saturating_add(NEAR)).contains(&next) && chunk(sample) == chunk(next)
    }

    /// `features` ← those of a sample, and of those after it in its chunk where there is room for more than one. Where
    /// they cannot be read they are missing, and the failure is kept.
    pub(super) fn read(&self, sample: usize, features: &mut [f64]) {
        if let Err(error) = self.try_read(sample, features) {
            features.fill(f64::NAN);
            self.failure.get_or_init(|| {
                format!("features on disk cannot be read back, load the data again: {error}")
            });
        }
    }

    /// The same; what cannot be read is an error.
    pub(super) fn try_read(&self, sample: usize, features: &mut [f64]) -> Result<(), ReadError> {
        self.check(sample / self.chunks.chunk_samples)?;
        let n_features = self.chunks.n_features;
        let mut left = features.len() / n_features.max(1) * sample_bytes(n_features);
        let mut offset = self.chunks.offset(sample);
        let mut values = features.iter_mut();
        let (mut number, mut place) = (sample, 0);
        let mut sum = SampleSum::of_sample(number);
        let mut piece = [0; PIECE];
        while left > 0 {
            let piece = &mut piece[..left.min(PIECE)];
            self.bytes.read_exact_at(offset, piece)?;
            for bytes in piece.chunks_exact(size_of::<u64>()) {
                let bytes: [u8; 8] = bytes.try_into().unwrap_or_default();
                let word = u64::from_le_bytes(bytes);
                if place < n_features {
                    place += 1;
                    sum.add(word);
                    if let Some(value) = values.next() {
                        *value = f64::from_bits(word);
                    }
                    continue;
                }
                if word != sum.0 {
                    return Err(self.damaged(self.chunks.offset(number)));
                }
                (number, place) = (number + 1, 0);
                sum = SampleSum::of_sample(number);
            }
            offset += piece.len() as u64;
            left -= piece.len();
        }
        Ok(())
    }

    fn damaged(&self, offset: u64) -> ReadError {
        let text = format!("bytes {offset} and after are not what was written");
        let damaged = io::Error::new(io::ErrorKind::InvalidData, text);
        ReadError::io(self.bytes.path(), damaged)
    }

    /// Compares a chunk with its hash, once.
    fn check(&self, chunk: usize) -> Result<(), ReadError> {
        if self.is_checked[chunk].load(Ordering::Relaxed) {
            return Ok(());
        }
        let first = chunk * self.chunks.chunk_samples;
        let last = self.chunks.n_samples.min(first + self.chunks.chunk_samples);
        let (offset, end) = (self.chunks.offset(first), self.chunks.offset(last));
        let bytes = self.bytes.read_range(offset, end - offset)?;
        if Sha256::digest(&bytes).as_slice() != self.chunks.hashes[chunk] {
            return Err(self.damaged(offset));
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
    fn what_will_not_fit_goes_to_disk_at_once() {
        let mut list = FeatureList::in_memory_up_to(10_000);
        list.push(&[1.0, 2.0]).expect("room");
        list.expect(600, 2).expect("room");
        list.push(&[3.0, 4.0]).expect("room");
        assert!(list.writer.is_none());
        list.expect(700, 2).expect("room on disk");
        assert!(list.writer.is_some() && list.values.is_empty());
        list.push(&[5.0, 6.0]).expect("room on disk");
        let (_, store) = list.finish().expect("room on disk");
        let (store, mut last) = (store.expect("on disk"), [0.0; 2]);
        store.read(2, &mut last);
        assert_eq!((store.n_values(), last), (6, [5.0, 6.0]));
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
        let mut writer = to_scratch(100).expect("room");
        for number in 0..1000 {
            writer.push(&sample(number, 100)).expect("room");
        }
        let mut store = scratch_store(writer).expect("room");
        let mut features = vec![0.0; 100];
        store.read(0, &mut features);
        assert_eq!((features[0], store.failure()), (0.0, None));
        store.chunks.hashes[1][7] ^= 1;
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

    #[test]
    fn what_is_damaged_after_it_was_compared_is_told_by_the_sample() {
        use std::io::Seek;
        let mut file = tempfile::NamedTempFile::new().expect("writable");
        let (n_samples, n_features) = (700, 100);
        let mut writer = ChunkWriter::new(Vec::new(), n_features);
        for number in 0..n_samples {
            writer.push(&sample(number, n_features)).expect("room");
        }
        let (bytes, chunks) = writer.close().expect("room");
        file.write_all(&bytes).expect("writable");
        let source = ByteSource::open(file.path()).expect("there");
        let store = FeatureStore::of_file(source, chunks).expect("they fit together");
        store.check_all().expect("sound");
        // One bit of a value, of a sum, and a sample in the place of another.
        let sample_bytes = sample_bytes(n_features);
        let mut damaged = bytes.clone();
        damaged[5 * sample_bytes + 17] ^= 1;
        damaged[9 * sample_bytes - 1] ^= 128;
        damaged.copy_within(20 * sample_bytes..21 * sample_bytes, 30 * sample_bytes);
        file.rewind().expect("writable");
        file.write_all(&damaged).expect("writable");
        let mut features = vec![0.0; n_features];
        for number in 0..n_samples {
            let read = store.try_read(number, &mut features);
            assert_eq!(read.is_err(), [5, 8, 30].contains(&number), "{number}");
        }
        let mut several = vec![0.0; 4 * n_features];
        assert!(store.try_read(0, &mut several).is_ok());
        assert!(store.try_read(2, &mut several).is_err());
        store.read(2, &mut several);
        assert!(several.iter().all(|value| value.is_nan()));
        let place = format!("bytes {} and after", 5 * sample_bytes);
        let failure = store.failure().expect("it was damaged");
        assert!(failure.contains(&place), "{failure}");
    }

    #[test]
    fn a_full_disk_is_an_error_of_the_sample_that_does_not_fit() {
        /// A disk with room for so many bytes.
        struct Small(usize);
        impl Write for Small {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                let n = bytes.len().min(self.0);
                self.0 -= n;
                match n {
                    0 => Err(io::ErrorKind::StorageFull.into()),
                    n => Ok(n),
                }
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut writer = ChunkWriter::new(Small(CHUNK_BYTES * 3 / 2), 1000);
        let pushed = (0..1000).try_for_each(|number| writer.push(&sample(number, 1000)));
        let error = pushed.expect_err("there is room for one chunk and a half");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(writer.chunks.hashes.len(), 1);
    }
}
