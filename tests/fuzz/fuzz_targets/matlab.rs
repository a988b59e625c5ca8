//! MATLAB and EEGLAB, with a data file beside it from arbitrary bytes.

#![no_main]

#[path = "../../hostile/mod.rs"]
#[expect(dead_code, reason = "seeds and mutations are for the stable loop")]
mod hostile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    hostile::read_everything(hostile::reader("MATLAB and EEGLAB"), &["a.set", "a.fdt"], bytes);
});
