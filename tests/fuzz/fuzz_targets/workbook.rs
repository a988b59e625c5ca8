//! The entry `workbook` with arbitrary bytes.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| atomscope_fuzz::run("workbook", bytes));
