//! `atomscope sweep`: settings tried one after the other, in shards if need be.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;

use super::ending::{Failure, INTERRUPTED, interruptible, load_data, n_threads, tell};
use super::progress::ProgressLine;
use super::terminal;
use atomscope_engine::dataset::{DataSettings, Dataset};
use atomscope_engine::experiment::{SweepPlan, SweepTable};
use atomscope_engine::export::{SweepResult, sweep_provenance, write_all};
use atomscope_engine::session::{DataPlaces, SweepFile, SweepNews, SweepStore, read_sweep};

/// Rows that the terminal lists.
const MOST_ROWS: usize = 30;

/// The arguments of `sweep`.
#[derive(Debug, Args)]
pub(super) struct SweepArguments {
    /// What is swept: a session, settings with their values, inner folds
    #[arg(value_name = "SWEEP.ron")]
    sweep: PathBuf,
    /// Only every n-th point, beginning with the i-th; shards write to the same folder or to
    /// folders that are put together afterwards
    #[arg(long, value_name = "i/n", value_parser = shard)]
    shard: Option<(usize, usize)>,
    /// Folder for finished points and the report; what is finished there is not done again. Without
    /// it the folder of a sweep that was begun in the window, or else NAME.sweep beside NAME.ron
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Folder with the data that the session names
    #[arg(long, value_name = "DIR")]
    data: Vec<PathBuf>,
    /// Threads; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// No progress
    #[arg(long)]
    quiet: bool,
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let wrong = || format!("write i/n with i from 1 to n, as in 2/8, not {text:?}");
    let (i, n) = text.split_once('/').ok_or_else(wrong)?;
    let (i, n): (usize, usize) = match (i.trim().parse(), n.trim().parse()) {
        (Ok(i), Ok(n)) => (i, n),
        _ => return Err(wrong()),
    };
    if (1..=n).contains(&i) {
        Ok((i, n))
    } else {
        Err(wrong())
    }
}

/// A sweep that has ended.
struct Ended {
    table: SweepTable,
    provenance: String,
    n_points: usize,
    folder: PathBuf,
    is_interrupted: bool,
}

/// Runs a sweep, or resumes it.
pub(super) fn run(arguments: &SweepArguments) -> io::Result<ExitCode> {
    match sweep(arguments) {
        Ok(ended) => {
            ended.write(&mut terminal::stdout())?;
            let code = if ended.is_interrupted { INTERRUPTED } else { 0 };
            Ok(ExitCode::from(code))
        }
        Err(Failure::Interrupted) => {
            terminal::complain("interrupted while reading data")?;
            Ok(ExitCode::from(INTERRUPTED))
        }
        Err(failure) => tell(failure),
    }
}

fn sweep(arguments: &SweepArguments) -> Result<Ended, Failure> {
    let file = SweepFile::load(&arguments.sweep).map_err(Failure::usage)?;
    let interrupted = interruptible()?;
    let plan = plan(&file, arguments, &interrupted)?;
    let folder = arguments
        .out
        .clone()
        .unwrap_or_else(|| usual_folder(&arguments.sweep));
    let store = SweepStore::open(&folder, plan.fingerprint()).map_err(Failure::failed)?;
    let mut progress = ProgressLine::new(arguments.quiet);
    let mut results = Vec::new();
    let all = store.finish(
        &plan,
        arguments.shard,
        n_threads(arguments.threads),
        &mut |news| {
            match news {
                SweepNews::Share(share, n_due) => {
                    progress.show(share, &format!("{n_due} of {} points", plan.n_points()));
                }
                SweepNews::Finished(result) => results.push(result),
            }
            !interrupted.load(Ordering::SeqCst)
        },
    );
    let all = all.map_err(Failure::failed)?;
    progress.end();
    let ended = Ended {
        table: SweepTable::of(results),
        provenance: sweep_provenance(&file.session.experiment, file.sweep.inner_folds),
        n_points: plan.n_points(),
        folder,
        is_interrupted: !all,
    };
    // A shard leaves the report to whoever puts the shards together.
    if arguments.shard.is_none() {
        write_all(&ended.folder, &ended.result().files()).map_err(Failure::failed)?;
    }
    Ok(ended)
}

/// Where the sweep was begun in the window, or else `name.sweep` beside `name.ron`.
fn usual_folder(sweep: &Path) -> PathBuf {
    let folder = match sweep.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let is_of_window = sweep.file_name().is_some_and(|name| name == "sweep.ron");
    if is_of_window && read_sweep(folder).is_ok() {
        folder.to_owned()
    } else {
        sweep.with_extension("sweep")
    }
}

/// The sweep with all data that its points use.
fn plan(
    file: &SweepFile,
    arguments: &SweepArguments,
    interrupted: &AtomicBool,
) -> Result<SweepPlan, Failure> {
    let experiment = &file.session.experiment;
    let all = SweepPlan::data_settings(experiment, &file.sweep).map_err(Failure::usage)?;
    let places = DataPlaces::new(Some(&file.session_path), &arguments.data)
        .knowing(&file.session.references);
    let mut progress = ProgressLine::new(arguments.quiet);
    let mut data: Vec<(DataSettings, Arc<Dataset>)> = Vec::with_capacity(all.len());
    for settings in all {
        let built = load_data(&settings, &places, interrupted, &mut progress)?;
        data.push((settings, Arc::new(built.dataset)));
    }
    SweepPlan::new(experiment, &file.sweep, data).map_err(Failure::usage)
}

impl Ended {
    fn result(&self) -> SweepResult<'_> {
        SweepResult {
            provenance: &self.provenance,
            table: &self.table,
            n_points: self.n_points,
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let result = self.result();
        writeln!(out, "{}", self.provenance)?;
        writeln!(
            out,
            "Points  {} of {} finished in {}",
            self.table.rows.len(),
            self.n_points,
            self.folder.display()
        )?;
        writeln!(out, "Nested  {}", result.nested_words())?;
        for chosen in &self.table.chosen {
            let settings = self
                .table
                .row(chosen.point)
                .map_or_else(String::new, |row| row.result.point.assignments().join(" "));
            writeln!(
                out,
                "Fold {:<2} chose point {} ({settings}): inner {:.2} %, its test samples {:.2} %",
                chosen.fold + 1,
                chosen.point + 1,
                100.0 * chosen.inner,
                100.0 * chosen.outer
            )?;
        }
        writeln!(
            out,
            "\n{:>6}  {:>15}  {:>8}  settings",
            "point", "inner %", "µs"
        )?;
        for row in self.table.rows.iter().take(MOST_ROWS) {
            let inner = match (row.inner, row.inner_sd) {
                (Some(mean), Some(sd)) => format!("{:.2} ± {:.2}", 100.0 * mean, 100.0 * sd),
                (Some(mean), None) => format!("{:.2}", 100.0 * mean),
                (None, _) => "–".into(),
            };
            let us = row
                .result
                .train_us_per_batch
                .map_or("–".into(), |us| format!("{us:.0}"));
            let problem = row
                .result
                .problem
                .as_ref()
                .map_or_else(String::new, |problem| format!("  ({problem})"));
            writeln!(
                out,
                "{:>6}  {inner:>15}  {us:>8}  {}{problem}",
                row.result.point.number + 1,
                row.result.point.assignments().join(" ")
            )?;
        }
        if self.table.rows.len() > MOST_ROWS {
            writeln!(out, "        … {} more", self.table.rows.len() - MOST_ROWS)?;
        }
        Ok(())
    }
}
