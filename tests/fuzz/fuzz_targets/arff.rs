//! The entry `arff` with arbitrary bytes.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| atomscope_fuzz::run("arff", bytes));
