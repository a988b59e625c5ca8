//! `atomscope compare`: sessions compared on identical folds and seeds.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clap::Args;

use super::cluster::{ClusterArguments, from_cluster};
use super::ending::{Failure, INTERRUPTED, interruptible, n_threads, tell, write_result};
use super::outputs::{Output, refuse_inputs};
use super::progress::ProgressLine;
use super::terminal;
use atomscope_engine::cluster::{Order, Task, read_entrants};
use atomscope_engine::experiment::{ComparedRun, Comparison, ComparisonPlan, CurvePoint};
use atomscope_engine::export::{
    BASELINE_NOTE, DIFFERENCE_NOTE, comparison_html, comparison_json, provenance,
};
use atomscope_engine::records::counted;

/// The arguments of `compare`.
#[derive(Debug, Args)]
pub(super) struct CompareArguments {
    /// The sessions; all get the folds of the first
    #[arg(required = true, value_name = "SESSION.ron")]
    sessions: Vec<PathBuf>,
    /// How many seeds, counted up from that of the first session; each deals the folds again
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    seeds: u16,
    /// Folder with the data that the sessions name
    #[arg(long, value_name = "DIR")]
    data: Vec<PathBuf>,
    /// Threads; the result does not depend on it, measured times do
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Write everything as JSON; - for the standard output instead of the table
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// Write a report with figures
    #[arg(long, value_name = "OUT")]
    html: Option<PathBuf>,
    /// Try LDA, logistic regression, nearest neighbours and SVM too, on the same features and folds
    #[arg(long)]
    baselines: bool,
    #[command(flatten)]
    cluster: ClusterArguments,
    /// Folder for the folds and the report of a comparison on a cluster; without it NAME.compare
    /// beside the first session
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// No progress
    #[arg(long)]
    quiet: bool,
}

impl CompareArguments {
    /// Submits the comparison to a cluster.
    fn submit(&self) -> Result<ExitCode, Failure> {
        if self.json.is_some() || self.html.is_some() {
            return Err(Failure::usage(
                "a comparison on a cluster writes comparison.json and comparison.html to its folder (--out)",
            ));
        }
        let task = Task::Compare {
            sessions: self.sessions.clone(),
            n_seeds: self.seeds,
            with_baselines: self.baselines,
        };
        let order = Order::new(task, &self.data).map_err(from_cluster)?;
        let first = self
            .sessions
            .first()
            .map_or(Path::new(""), PathBuf::as_path);
        let folder = self.out.clone();
        let folder = folder.unwrap_or_else(|| first.with_extension("compare"));
        self.cluster
            .submit(&order, &folder, self.threads, self.quiet)
    }
}

/// Compares sessions.
pub(super) fn run(arguments: &CompareArguments) -> io::Result<ExitCode> {
    if arguments.cluster.is_asked() {
        return arguments.submit().map_or_else(tell, Ok);
    }
    if arguments.out.is_some() {
        return tell(Failure::usage(
            "--out is the folder of a comparison on a cluster (--slurm or --print); here --json and --html name the results",
        ));
    }
    match compare(arguments) {
        Ok((comparison, [json, html])) => {
            if !json.as_ref().is_some_and(Output::is_stdout) {
                write_table(&comparison, &mut terminal::stdout())?;
            }
            let mut is_written = true;
            if let Some(json) = &json {
                is_written &= write_result(json, &format!("{:#}\n", comparison_json(&comparison)))?;
            }
            if let Some(html) = &html {
                is_written &= write_result(html, &comparison_html(&comparison, "Comparison"))?;
            }
            let is_whole = comparison.failures.is_empty() && is_written;
            let code = match (comparison.is_complete, is_whole) {
                (false, _) => INTERRUPTED,
                (true, false) => 1,
                (true, true) => 0,
            };
            Ok(ExitCode::from(code))
        }
        Err(failure) => tell(failure),
    }
}

/// The comparison, and the files that it goes to.
fn compare(arguments: &CompareArguments) -> Result<(Comparison, [Option<Output>; 2]), Failure> {
    let results = [arguments.json.as_deref(), arguments.html.as_deref()];
    refuse_inputs(&results, &arguments.sessions)?;
    let outputs = [
        Output::reserve_named(arguments.json.as_deref())?,
        Output::reserve_named(arguments.html.as_deref())?,
    ];
    let interrupted = interruptible()?;
    let mut reading = ProgressLine::new(arguments.quiet);
    let read = read_entrants(
        &arguments.sessions,
        arguments.baselines,
        &arguments.data,
        &mut |share| {
            reading.show(share, "reading data");
            !interrupted.load(Ordering::SeqCst)
        },
    );
    let (entrants, _) = read.map_err(from_cluster)?;
    let first = entrants
        .first()
        .map_or(1, |entrant| entrant.experiment.seed);
    let seeds: Vec<u64> = (0..u64::from(arguments.seeds))
        .map(|number| first.wrapping_add(number))
        .collect();
    let plan = ComparisonPlan::new(entrants, &seeds).map_err(Failure::usage)?;
    let mut progress = ProgressLine::new(arguments.quiet);
    let text = format!("training {}", counted(plan.n_trials(), "fold"));
    let comparison = plan.run(n_threads(arguments.threads), &mut |share| {
        progress.show(share, &text);
        !interrupted.load(Ordering::SeqCst)
    });
    progress.end();
    if comparison.rows.iter().all(|row| row.outcomes.is_empty()) {
        return Err(match comparison.failures.first() {
            Some(failure) => Failure::failed(failure),
            None => Failure::Interrupted,
        });
    }
    Ok((comparison, outputs))
}

/// The comparison as text: what was compared first, then scores and costs, then differences.
pub(super) fn write_table(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", provenance(comparison))?;
    for failure in &comparison.failures {
        writeln!(out, "Failed  {failure}")?;
    }
    for remark in &comparison.remarks {
        writeln!(out, "Remark  {remark}")?;
    }
    if !comparison.is_complete {
        writeln!(out, "Remark  interrupted: only complete folds count")?;
    }
    let names = comparison.rows.iter().map(|row| row.name.chars().count());
    let wide = names.max().unwrap_or(0).max(6);
    writeln!(
        out,
        "\n{:wide$}  {:>15}  {:>15}  {:>9}  {:>9}  {:>10}  {:>11}  {:>9}",
        "method",
        "last %",
        "best % (after)",
        "grow µs",
        "prune µs",
        "round µs",
        "classify µs",
        "KiB"
    )?;
    for row in &comparison.rows {
        write_row(row, wide, out)?;
    }
    write_differences(comparison, wide, out)?;
    write_baselines(comparison, wide, out)
}

fn write_row(row: &ComparedRun, wide: usize, out: &mut impl Write) -> io::Result<()> {
    let summary = &row.summary;
    let number = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.1}"));
    let last = |point: CurvePoint| match point.sd {
        Some(sd) => format!("{:.2} ± {:.2}", 100.0 * point.mean, 100.0 * sd),
        None => format!("{:.2}", 100.0 * point.mean),
    };
    let best = |point: CurvePoint| format!("{:.2} ({})", 100.0 * point.mean, point.at);
    writeln!(
        out,
        "{:wide$}  {:>15}  {:>15}  {:>9}  {:>9}  {:>10}  {:>11}  {:>9}",
        row.name,
        summary.last.map_or("–".into(), last),
        summary.best.map_or("–".into(), best),
        number(summary.timing.grow_us_per_batch),
        number(summary.timing.prune_us_per_batch),
        number(summary.round_us),
        number(summary.timing.classify_us_per_sample),
        number(summary.model_bytes.map(|bytes| bytes / 1024.0)),
    )
}

/// Simple classifiers beside every session.
fn write_baselines(comparison: &Comparison, wide: usize, out: &mut impl Write) -> io::Result<()> {
    let rows = comparison.rows.iter();
    let found = rows.flat_map(|row| row.summary.baselines.iter().map(move |b| (row, b)));
    for (number, (row, found)) in found.enumerate() {
        if number == 0 {
            writeln!(out, "\n{BASELINE_NOTE}\n")?;
        }
        let interval = found
            .difference
            .interval
            .map_or(String::new(), |(low, high)| {
                format!("({:+.2} to {:+.2})", 100.0 * low, 100.0 * high)
            });
        writeln!(
            out,
            "{:>wide$} − {:21}  {:>6.2} %  {:>+7.2} {interval}",
            row.name,
            found.baseline.name(),
            100.0 * found.accuracy,
            100.0 * found.difference.mean,
        )?;
    }
    Ok(())
}

fn write_differences(comparison: &Comparison, wide: usize, out: &mut impl Write) -> io::Result<()> {
    let differences = comparison.differences();
    if differences.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{DIFFERENCE_NOTE}\n")?;
    for (first, second, difference) in differences {
        let (first, second) = (&comparison.rows[first].name, &comparison.rows[second].name);
        let interval = difference.interval.map_or(String::new(), |(low, high)| {
            format!("({:+.2} to {:+.2})", 100.0 * low, 100.0 * high)
        });
        writeln!(
            out,
            "{first:>wide$} − {second:wide$}  {:>+7.2} {interval:20}  {}",
            100.0 * difference.mean,
            difference.in_words(first, second)
        )?;
    }
    Ok(())
}
