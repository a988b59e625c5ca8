//! The entry `sel_event` with arbitrary bytes.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| atomscope_fuzz::run("sel_event", bytes));
