//! A recording of a gigabyte opens at once and takes little memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use atomscope::records::overview::Overview;
use atomscope::records::{self, Mode};

/// A file that is removed with the test.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).expect("the file was made by this test");
    }
}

const N_CHANNELS: usize = 19;
const RATE_HZ: usize = 250;

/// EDF+C of 19 channels at 250 Hz, one annotation every minute.
fn write_edf(path: &Path, n_records: usize) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let n_signals = N_CHANNELS + 1;
    write!(
        out,
        "{:<8}{:<80}{:<80}",
        "0", "X X X X", "Startdate 01-JAN-2024 X X X"
    )?;
    write!(
        out,
        "01.01.2400.00.00{:<8}{:<44}",
        256 * (n_signals + 1),
        "EDF+C"
    )?;
    write!(out, "{n_records:<8}{:<8}{n_signals:<4}", 1)?;
    let mut column = |width: usize, channel: &str, annotations: &str| -> std::io::Result<()> {
        for _ in 0..N_CHANNELS {
            write!(out, "{channel:<width$}")?;
        }
        write!(out, "{annotations:<width$}")
    };
    column(16, "EEG", "EDF Annotations")?;
    column(80, "", "")?;
    column(8, "uV", "")?;
    column(8, "-3276.8", "-1")?;
    column(8, "3276.7", "1")?;
    column(8, "-32768", "-32768")?;
    column(8, "32767", "32767")?;
    column(80, "", "")?;
    column(8, &RATE_HZ.to_string(), "30")?;
    column(32, "", "")?;
    let samples: Vec<u8> = (0..N_CHANNELS * RATE_HZ)
        .flat_map(|k| ((k * 37 % 2000) as i16 - 1000).to_le_bytes())
        .collect();
    for record in 0..n_records {
        let mut lists = format!("+{record}\x14\x14\0").into_bytes();
        if record % 60 == 0 {
            lists.extend(format!("+{record}\x14minute\x14\0").into_bytes());
        }
        lists.resize(60, 0);
        out.write_all(&samples)?;
        out.write_all(&lists)?;
    }
    out.flush()
}

/// Largest memory this process has held, in kilobytes.
fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[test]
#[ignore = "writes a file of 1 GB"]
fn a_gigabyte_opens_in_a_second_within_150_mb() {
    let path = std::env::temp_dir().join(format!("atomscope-large-{}.edf", std::process::id()));
    let scratch = Scratch(path);
    let n_records = (1 << 30) / (2 * N_CHANNELS * RATE_HZ + 60);
    write_edf(&scratch.0, n_records).expect("the disk has room");

    let start = Instant::now();
    let record = records::open(&scratch.0, Mode::Tolerant).expect("the file is sound");
    let opened_s = start.elapsed().as_secs_f64();
    let opened_kb = peak_kb();
    assert_eq!(record.channels[0].n_samples, n_records * RATE_HZ);
    assert_eq!(record.annotations.len(), n_records.div_ceil(60));

    let start = Instant::now();
    let last = record.read(
        18,
        record.channels[18].n_samples - 2500..record.channels[18].n_samples,
    );
    let page_s = start.elapsed().as_secs_f64();
    assert_eq!(last.expect("the end is readable").len(), 2500);

    let start = Instant::now();
    let overview = Overview::build(&record, |_| true).expect("the file is readable");
    let overview_s = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let n_samples = record.channels[0].n_samples;
    let columns = overview
        .columns(&record, 0, 0..n_samples, 1500)
        .expect("the file is readable");
    let columns_s = start.elapsed().as_secs_f64();
    assert_eq!(columns.len(), 1500);

    println!(
        "open {opened_s:.3} s, peak {opened_kb:?} kB; 10 s page {page_s:.5} s; \
         overview {overview_s:.2} s, peak {:?} kB; 1500 columns {columns_s:.6} s",
        peak_kb()
    );
    assert!(opened_s < 1.0, "{opened_s} s");
    assert!(
        peak_kb().is_none_or(|peak_kb| peak_kb < 150_000),
        "{:?} kB",
        peak_kb()
    );
}
