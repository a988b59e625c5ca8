//! A recording of a gigabyte: how long it takes to open, to page and to overview, and how much memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use atomscope_engine::records::overview::Overview;
use atomscope_engine::records::{self, Mode};

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

/// Makes the file, opens it, reads its end, builds its overview: seconds and peak memory of each.
pub(crate) fn table() -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("large.edf");
    let n_records = (1 << 30) / (2 * N_CHANNELS * RATE_HZ + 60);
    write_edf(&path, n_records).expect("the disk has room");
    let mut table = String::from("| step | seconds | peak MB |\n|---|---|---|\n");

    let record = timed(&mut table, "open", || {
        records::open(&path, Mode::Tolerant).expect("the file is sound")
    });
    let n_samples = record.channels[0].n_samples;
    assert_eq!(n_samples, n_records * RATE_HZ);
    assert_eq!(record.annotations.len(), n_records.div_ceil(60));
    let page = timed(&mut table, "read 10 s at the end", || {
        let last = n_samples - 10 * RATE_HZ..n_samples;
        record.read(18, last).expect("the end is readable")
    });
    assert_eq!(page.len(), 10 * RATE_HZ);
    let overview = timed(&mut table, "build the overview", || {
        Overview::build(&record, |_| true).expect("the file is readable")
    });
    let columns = timed(&mut table, "1500 columns of all", || {
        let columns = overview.columns(&record, 0, 0..n_samples, 1500);
        columns.expect("the file is readable")
    });
    assert_eq!(columns.len(), 1500);
    table
}

/// Does the work once and notes how long it took and the most memory held so far.
fn timed<T>(table: &mut String, name: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let made = work();
    let seconds = start.elapsed().as_secs_f64();
    let peak = peak_kb().map_or("unknown".to_owned(), |kb| format!("{:.1}", kb as f64 / 1e3));
    *table += &format!("| {name} | {seconds:.4} | {peak} |\n");
    made
}
