//! Arbitrary bytes for the subject that the variable ATOMSCOPE_FUZZ_SUBJECT names.

#![no_main]

use std::sync::LazyLock;

static SUBJECT: LazyLock<String> = LazyLock::new(|| {
    let named = std::env::var("ATOMSCOPE_FUZZ_SUBJECT");
    named.expect("ATOMSCOPE_FUZZ_SUBJECT names a subject")
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| atomscope_fuzz::run(&SUBJECT, bytes));
