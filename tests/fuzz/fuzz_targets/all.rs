//! Every reader, sessions, sweeps and settings by turns: the first byte chooses.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| atomscope_fuzz::run_all(bytes));
