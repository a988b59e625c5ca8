//! The campaign: files, documents, sessions, streams, kills, threads and the window under attack for a given time.
//!
//!     ATOMSCOPE_CAMPAIGN_S=3600 cargo test --release --test slow campaign -- --ignored --nocapture
//!
//! It prints its table, and writes it with date and machine to the file ATOMSCOPE_CAMPAIGN_OUT if that is set. ATOMSCOPE_CAMPAIGN_SEED
//! begins at another place; the same seed damages in the same way.

mod kills;
mod program;
mod readers;
mod sessions;
#[path = "../../engine/session_store/small_run.rs"]
#[expect(dead_code, reason = "the tests of sessions use the rest")]
mod small_run;
mod streams;
mod threads;
mod window;
mod writers;

use std::fmt::Write;
use std::panic::{self, AssertUnwindSafe};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Time that each row gets, its random numbers, and what it has found.
pub(crate) struct Attack {
    ends: Instant,
    seed: u64,
    pub(crate) random: ChaCha8Rng,
    count: u64,
    failures: Vec<String>,
}

impl Attack {
    fn new(budget: Duration, seed: u64) -> Self {
        Self {
            ends: Instant::now() + budget,
            seed,
            random: ChaCha8Rng::seed_from_u64(seed),
            count: 0,
            failures: Vec::new(),
        }
    }

    /// Whether there is time for another one; at least one is always done.
    pub(crate) fn goes_on(&self) -> bool {
        self.count == 0 || (Instant::now() < self.ends && self.failures.len() < 20)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.random.random_range(0..end.max(1))
    }

    /// Does one and counts it; a panic or an error is a failure with the number that brings it about again.
    pub(crate) fn one(&mut self, what: &str, deed: impl FnOnce(&mut Self) -> Result<(), String>) {
        let number = self.count;
        self.count += 1;
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| deed(self)));
        let failure = match outcome {
            Ok(Ok(())) => return,
            Ok(Err(reason)) => reason,
            Err(payload) => {
                let text = payload.downcast_ref::<String>().cloned();
                let fixed = payload
                    .downcast_ref::<&str>()
                    .map(|text| (*text).to_owned());
                format!("panic: {}", text.or(fixed).unwrap_or_default())
            }
        };
        let seed = self.seed;
        self.failures
            .push(format!("{what}, seed {seed}, number {number}: {failure}"));
    }

    pub(crate) fn count_more(&mut self, more: u64) {
        self.count += more;
    }
}

/// A row of the table: what is attacked, in what unit it is counted, its share of the time, and how.
type Row = (&'static str, &'static str, f64, fn(&mut Attack));

const ROWS: [Row; 12] = [
    (
        "readers on damaged files, in process",
        "files",
        0.3,
        readers::files,
    ),
    (
        "sessions, sweeps, settings, tables and annotations as text",
        "texts",
        0.08,
        readers::texts,
    ),
    (
        "damaged files through the program: info, open, explore drawn",
        "files",
        0.12,
        program::run,
    ),
    (
        "SIGKILL while a session is saved",
        "kills",
        0.07,
        kills::sessions,
    ),
    (
        "SIGKILL while a recovery copy is written",
        "kills",
        0.07,
        kills::recovery_copies,
    ),
    (
        "SIGKILL while a sweep is run",
        "kills",
        0.06,
        kills::sweep_points,
    ),
    (
        "writers under a limit of file size, onto a folder, into one that goes away, beside a file replaced while read",
        "writes",
        0.04,
        writers::run,
    ),
    (
        "results and sessions written by a process whose files end after every byte",
        "limits",
        0.04,
        writers::at_every_byte,
    ),
    (
        "damaged sessions with their arrays: flips, cuts, NaN, and damage under a hash that fits",
        "sessions",
        0.08,
        sessions::run,
    ),
    (
        "learners on troubled streams of other seeds, error ≤ 1e-8",
        "mini-batches",
        0.1,
        streams::run,
    ),
    (
        "workers told to pause, go on, step, report and stop in any order",
        "schedules",
        0.08,
        threads::run,
    ),
    (
        "the window driven at random: clicks, keys, texts, files, sizes",
        "actions",
        0.1,
        window::run,
    ),
];

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().and_then(|text| text.parse().ok())
}

/// When and on what machine, as far as the system tells.
fn head(seconds: f64, seed: u64) -> String {
    let date = Command::new("date").arg("+%F").output();
    let date = date.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor
        .lines()
        .find(|line| line.starts_with("model name"));
    let processor = processor.and_then(|line| line.split(": ").nth(1));
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{}, {n_cores} cores ({}), {seconds} s, seed {seed}",
        date.unwrap_or_default(),
        processor.unwrap_or("unknown")
    )
}

#[test]
#[ignore = "takes as long as ATOMSCOPE_CAMPAIGN_S says, in seconds"]
fn campaign() {
    let total = number("ATOMSCOPE_CAMPAIGN_S").unwrap_or(60) as f64;
    let seed = number("ATOMSCOPE_CAMPAIGN_SEED").unwrap_or(1);
    let mut table = "| what | how many | in | failures |\n|---|---|---|---|\n".to_owned();
    let mut failures = Vec::new();
    let shares: f64 = ROWS.iter().map(|(_, _, share, _)| share).sum();
    for (what, unit, share, attack) in ROWS {
        let begun = Instant::now();
        let mut own = Attack::new(Duration::from_secs_f64(total * share / shares), seed);
        attack(&mut own);
        let took = begun.elapsed().as_secs_f64();
        let (count, n_failures) = (own.count, own.failures.len());
        writeln!(
            table,
            "| {what} | {count} {unit} | {took:.0} s | {n_failures} |"
        )
        .expect("a string takes all");
        println!("{what}: {count} {unit}, {took:.0} s, {n_failures} failures");
        failures.extend(own.failures);
    }
    println!("\n{table}");
    if let Some(path) = env::var_os("ATOMSCOPE_CAMPAIGN_OUT") {
        let text = format!("{}\n\n{table}", head(total, seed));
        fs::write(path, text).expect("the table can be written");
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
