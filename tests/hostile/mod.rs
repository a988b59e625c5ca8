//! Hostile input, shared by the mutation tests and the fuzz targets: one entry
//! per reader, small valid files to start from, and ways to damage them.

mod matlab;
mod mutate;
mod seeds;

use atomscope::records::{Input, Mode, READERS, ReadOptions, Reader, Record};

pub(crate) use mutate::Mutator;
pub(crate) use seeds::{Seed, seeds};

/// Stands between the files of one input: the file itself, then those beside it.
pub(crate) const FILE_BREAK: &[u8] = b"\n==beside==\n";

/// Samples read from each end of a channel.
const END_SAMPLES: usize = 512;
/// Channels and arrays looked at.
const LOOKED_AT: usize = 64;

/// The reader of that name.
pub(crate) fn reader(name: &str) -> &'static Reader {
    let known = READERS.iter().find(|reader| reader.name == name);
    known.unwrap_or_else(|| panic!("{name} is no reader"))
}

/// The entry over bytes: hands them to `reader` and looks at all that it gives.
///
/// `names` are those of the files in `bytes`, in order. Tells whether there was a record.
pub(crate) fn read_everything(reader: &Reader, names: &[&str], bytes: &[u8]) -> bool {
    let mut parts = split_files(bytes).into_iter();
    let mut names = names.iter();
    let main = parts.next().unwrap_or_default();
    let mut input = Input::from_bytes(names.next().unwrap_or(&"input"), main);
    for (name, part) in names.zip(parts) {
        input = input.with_companion(name, part);
    }
    let strict = (reader.read)(&input, &ReadOptions::from(Mode::Strict));
    let tolerant = (reader.read)(&input, &ReadOptions::default());
    if let Err(error) = &tolerant {
        assert!(!error.to_string().is_empty());
    }
    // What breaks no standard is not refused for being odd.
    assert!(
        strict.is_err() || tolerant.is_ok(),
        "strict reads, tolerant refuses"
    );
    tolerant.is_ok_and(|record| {
        look_at(&record);
        true
    })
}

fn split_files(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(FILE_BREAK.len()).position(|w| w == FILE_BREAK) {
        files.push(rest[..at].to_vec());
        rest = &rest[at + FILE_BREAK.len()..];
    }
    files.push(rest.to_vec());
    files
}

/// Everything that later stages ask of a record.
fn look_at(record: &Record) {
    for (index, channel) in record.channels.iter().enumerate().take(LOOKED_AT) {
        let n = channel.n_samples;
        let last = n.saturating_sub(END_SAMPLES);
        // Reading may fail (a damaged block), but never panic.
        drop(record.read(index, 0..n.min(END_SAMPLES)));
        drop(record.read(index, last..n));
        assert!(record.read(index, 0..n + 1).is_err());
        record.segments(index);
        record.time_s(index, last);
    }
    record.duration_s();
    for array in record.arrays.iter().take(LOOKED_AT) {
        // Of several arrays of one name the first is meant.
        let first = record.arrays.iter().find(|first| first.name == array.name);
        if let (Ok(stored), Some(first)) = (record.array(&array.name), first) {
            assert_eq!(stored.shape(), first.shape);
        }
    }
    for warning in &record.warnings {
        assert!(!warning.to_string().is_empty());
    }
}
