//! The campaign: files, documents, sessions, streams, kills, threads and the window under attack for a given time.
//!
//!     ATOMSCOPE_CAMPAIGN_S=3600 cargo test --release --test slow campaign -- --ignored --nocapture
//!
//! Each row goes on until it has done what an hour shall cover or its time is over, and leaves the rest to those after
//! it. With ATOMSCOPE_CAMPAIGN_OUT the table, with date and machine, takes the place of the section "Campaign" of that
//! file, which is tests/bench/RESULTS.md. ATOMSCOPE_CAMPAIGN_SEED begins at another place; the same seed damages in the
//! same way. ATOMSCOPE_CAMPAIGN_ROW does only the rows whose name contains it.

mod kills;
mod program;
mod properties;
mod readers;
mod sessions;
#[path = "../../engine/session_store/small_run.rs"]
#[expect(dead_code, reason = "the tests of sessions use the rest")]
mod small_run;
mod streams;
mod threads;
mod window;
mod writers;

pub(crate) use readers::TABLE;
pub(crate) use sessions::arrays_of_a_run;

use std::fmt::Write;
use std::panic::{self, AssertUnwindSafe};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

use atomscope::workbench::Stage;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Time that each row gets, its random numbers, and what it has found.
pub(crate) struct Attack {
    ends: Instant,
    wanted: u64,
    seed: u64,
    pub(crate) random: ChaCha8Rng,
    count: u64,
    failures: Vec<String>,
}

impl Attack {
    fn new(budget: Duration, wanted: u64, seed: u64) -> Self {
        Self {
            ends: Instant::now() + budget,
            wanted,
            seed,
            random: ChaCha8Rng::seed_from_u64(seed),
            count: 0,
            failures: Vec::new(),
        }
    }

    /// Whether another one is wanted and there is time for it; at least one is always done.
    pub(crate) fn goes_on(&self) -> bool {
        let is_open = self.count < self.wanted && self.failures.len() < 20;
        self.count == 0 || (is_open && Instant::now() < self.ends)
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

/// A row of the table.
struct Row {
    /// What is attacked.
    what: &'static str,
    unit: &'static str,
    /// How many an hour shall cover.
    wanted: u64,
    /// Share of the time.
    share: f64,
    run: fn(&mut Attack),
}

const fn row(
    what: &'static str,
    (wanted, unit): (u64, &'static str),
    share: f64,
    run: fn(&mut Attack),
) -> Row {
    Row {
        what,
        unit,
        wanted,
        share,
        run,
    }
}

const ROWS: [Row; 16] = [
    row(
        "readers on damaged files, in process",
        (1_000_000, "files"),
        0.1,
        readers::files,
    ),
    row(
        "sessions, sweeps, settings, tables and annotations as text",
        (100_000, "texts"),
        0.05,
        readers::texts,
    ),
    row(
        "damaged files through the program: info, open; one in forty drawn on Explore",
        (20_000, "files"),
        0.15,
        program::run,
    ),
    row(
        "SIGKILL while a session is saved",
        (200, "kills"),
        0.04,
        kills::sessions,
    ),
    row(
        "SIGKILL while a recovery copy is written",
        (200, "kills"),
        0.04,
        kills::recovery_copies,
    ),
    row(
        "SIGKILL while a sweep is run",
        (200, "kills"),
        0.04,
        kills::sweep_points,
    ),
    row(
        "SIGKILL while features are written to disk",
        (200, "kills"),
        0.02,
        kills::feature_stores,
    ),
    row(
        "writers under a limit of file size, onto a folder, into one that goes away, beside a file replaced while read",
        (1_000, "writes"),
        0.03,
        writers::run,
    ),
    row(
        "results and sessions written by a process whose files end after every byte",
        (1_000, "limits"),
        0.05,
        writers::at_every_byte,
    ),
    row(
        "results and sessions written to a disk that is full, and into a folder that is read-only",
        (200, "disks"),
        0.02,
        writers::bad_disks,
    ),
    row(
        "damaged sessions with their arrays: flips, cuts, NaN, and damage under a hash that fits",
        (10_000, "sessions"),
        0.07,
        sessions::run,
    ),
    row(
        "learners on troubled streams of other seeds, error ≤ 1e-8",
        (1_000_000, "mini-batches"),
        0.12,
        streams::run,
    ),
    row(
        "workers told to pause, go on, step, report and stop in any order",
        (10_000, "schedules"),
        0.06,
        threads::workers,
    ),
    row(
        "a workbench told to train, save, open, begin anew and quit in any order",
        (1_000, "schedules"),
        0.04,
        threads::workbenches,
    ),
    row(
        "the window driven at random: clicks, keys, texts, dropped files, sizes, minimised",
        (10_000 * Stage::ALL.len() as u64, "actions"),
        0.2,
        window::run,
    ),
    row(
        "property tests with other seeds, 200 cases each, without methods as their authors wrote them",
        (200, "seeds"),
        0.07,
        properties::run,
    ),
];

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().and_then(|text| text.parse().ok())
}

/// What was run, when and on what machine, as far as the system tells.
fn about(seconds: f64, seed: u64) -> String {
    let date = Command::new("date").arg("+%F").output();
    let date = date.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor
        .lines()
        .find(|line| line.starts_with("model name"));
    let processor = processor.and_then(|line| line.split(": ").nth(1));
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{}, {n_cores} cores of {}, version {}, seed {seed}: \
         `ATOMSCOPE_CAMPAIGN_S={seconds} cargo test --release --test slow campaign -- --ignored --nocapture`",
        date.unwrap_or_default(),
        processor.unwrap_or("an unknown processor"),
        env!("CARGO_PKG_VERSION")
    )
}

#[test]
#[ignore = "takes as long as ATOMSCOPE_CAMPAIGN_S says, in seconds"]
fn campaign() {
    let total_s = number("ATOMSCOPE_CAMPAIGN_S").unwrap_or(60) as f64;
    let seed = number("ATOMSCOPE_CAMPAIGN_SEED").unwrap_or(1);
    let only = env::var("ATOMSCOPE_CAMPAIGN_ROW").unwrap_or_default();
    let rows: Vec<&Row> = ROWS.iter().filter(|row| row.what.contains(&only)).collect();
    let head = "| what | how many | wanted in an hour | in | failures |\n|---|---|---|---|---|\n";
    let mut table = head.to_owned();
    let mut failures = Vec::new();
    let begun = Instant::now();
    let mut shares_left: f64 = rows.iter().map(|row| row.share).sum();
    for row in rows {
        let row_begun = Instant::now();
        let left_s = (total_s - begun.elapsed().as_secs_f64()).max(0.0);
        let budget = Duration::from_secs_f64(left_s * row.share / shares_left);
        shares_left -= row.share;
        let wanted = row.wanted * (total_s / 3600.0).ceil().max(1.0) as u64;
        let mut own = Attack::new(budget, wanted, seed);
        (row.run)(&mut own);
        let took = row_begun.elapsed().as_secs_f64();
        let Row { what, unit, .. } = row;
        let (count, n_failures) = (own.count, own.failures.len());
        writeln!(
            table,
            "| {what} | {count} {unit} | {wanted} | {took:.0} s | {n_failures} |"
        )
        .expect("a string takes all");
        println!("{what}: {count} {unit}, {took:.0} s, {n_failures} failures");
        failures.extend(own.failures);
    }
    println!("\n{table}");
    if let Some(path) = env::var_os("ATOMSCOPE_CAMPAIGN_OUT") {
        let old = fs::read_to_string(&path).unwrap_or_default();
        let section = format!("{SECTION}\n{}\n\n{table}", about(total_s, seed));
        fs::write(path, with_section(&old, &section)).expect("the table can be written");
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The heading of the table, which finds it in the file.
const SECTION: &str = "## Campaign\n";

/// The file with this section in place of the old one, or at the end.
fn with_section(old: &str, section: &str) -> String {
    let (before, rest) = match old.find(SECTION) {
        Some(at) => old.split_at(at),
        None => (old, ""),
    };
    let after = rest.find("\n## ").map_or("", |at| &rest[at + 1..]);
    format!("{}\n\n{}\n\n{after}", before.trim_end(), section.trim_end())
        .trim()
        .to_owned()
        + "\n"
}

#[test]
fn the_table_takes_the_place_of_the_old_one() {
    let new = "## Campaign\n\nnew\n";
    assert_eq!(with_section("# A\n", new), "# A\n\n## Campaign\n\nnew\n");
    let old = "# A\n\n## Campaign\n\nold\n\n## B\n\nb\n";
    assert_eq!(
        with_section(old, new),
        "# A\n\n## Campaign\n\nnew\n\n## B\n\nb\n"
    );
}
