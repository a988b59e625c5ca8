//! What all fuzz targets share: the way to an entry of a reader.

use atomscope_engine::records::FUZZ_ENTRIES;

/// Hands `bytes` to the entry called `name`; a refusal is as good as a record.
pub fn run(name: &str, bytes: &[u8]) {
    let entry = FUZZ_ENTRIES.iter().find(|entry| entry.name == name);
    let entry = entry.expect("targets are named after entries");
    if let Err(error) = (entry.run)(bytes) {
        assert!(!error.to_string().is_empty());
    }
}
