//! `atomscope sweep`: settings tried one after the other, in shards or on a cluster if need be.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clap::Args;

use super::cluster::{ClusterArguments, from_cluster};
use super::ending::{Failure, INTERRUPTED, interruptible, n_threads, tell};
use super::outputs::write_folder;
use super::progress::ProgressLine;
use super::sweep_folder::{self, FolderCommand};
use super::terminal;
use atomscope_engine::cluster::{Order, Task, read_sweep_plan};
use atomscope_engine::experiment::SweepTable;
use atomscope_engine::export::{SweepResult, remark_of, sweep_provenance, write_all};
use atomscope_engine::session::{SweepFile, SweepNews, SweepStore, WorkIdentity, read_sweep};

/// Rows that the terminal lists.
const MOST_ROWS: usize = 30;

/// The arguments of `sweep`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct SweepArguments {
    #[command(subcommand)]
    folder: Option<FolderCommand>,
    /// What is swept: a session, settings with their values, inner folds
    #[arg(value_name = "SWEEP.ron", required = true)]
    sweep: Option<PathBuf>,
    #[command(flatten)]
    cluster: ClusterArguments,
    /// Only every n-th point, beginning with the i-th; shards write to the same folder or to
    /// folders that are put together afterwards
    #[arg(long, value_name = "i/n", value_parser = shard)]
    shard: Option<(usize, usize)>,
    /// Folder for finished points and the report; points finished there are not computed again. Without
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
struct EndedSweep {
    table: SweepTable,
    provenance: String,
    n_points: usize,
    folder: PathBuf,
    is_interrupted: bool,
    /// What could not be written.
    failure: Option<String>,
}

/// Runs a sweep, or resumes it.
pub(super) fn run(arguments: &SweepArguments) -> io::Result<ExitCode> {
    if let Some(command) = &arguments.folder {
        return sweep_folder::run(command);
    }
    // The parser sees to it that there is one.
    let path = arguments.sweep.clone().unwrap_or_default();
    if arguments.cluster.is_asked() {
        return arguments.submit(&path).map_or_else(tell, Ok);
    }
    match sweep(arguments, &path) {
        Ok(ended) => {
            ended.write(&mut terminal::stdout())?;
            if let Some(failure) = &ended.failure {
                terminal::complain(failure)?;
                return Ok(ExitCode::FAILURE);
            }
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

impl SweepArguments {
    fn order(&self, path: &Path) -> Result<Order, Failure> {
        let file = path.to_owned();
        Order::new(Task::Sweep { file }, &self.data).map_err(from_cluster)
    }

    fn folder(&self, path: &Path) -> PathBuf {
        self.out.clone().unwrap_or_else(|| usual_folder(path))
    }

    /// Submits the sweep to a cluster.
    fn submit(&self, path: &Path) -> Result<ExitCode, Failure> {
        if self.shard.is_some() {
            return Err(Failure::usage(
                "--shard is for sweeps without a scheduler: workers share points by themselves",
            ));
        }
        let folder = self.folder(path);
        let (order, threads) = (self.order(path)?, self.threads);
        self.cluster.submit(&order, &folder, threads, self.quiet)
    }
}

fn sweep(arguments: &SweepArguments, path: &Path) -> Result<EndedSweep, Failure> {
    let file = SweepFile::load(path).map_err(Failure::usage)?;
    if file.sweep.halving.is_some() && arguments.shard.is_some() {
        return Err(Failure::usage(
            "--shard is for sweeps without early stopping, whose stages compare all points: use workers on one folder (--slurm, or sweep worker FOLDER)",
        ));
    }
    let interrupted = interruptible()?;
    let mut reading = ProgressLine::new(arguments.quiet);
    let (plan, files) = read_sweep_plan(&file, &arguments.data, &mut |share| {
        reading.show(share, "reading data");
        !interrupted.load(Ordering::SeqCst)
    })
    .map_err(from_cluster)?;
    let folder = arguments.folder(path);
    let identity = WorkIdentity::new(plan.fingerprint(), &files, plan.audit());
    let store = SweepStore::open(&folder, &identity).map_err(Failure::failed)?;
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
                SweepNews::Phase(share, phase) => {
                    let text = match phase + 1 < plan.n_phases() {
                        true => format!("stage {} of {}", phase + 1, plan.n_phases() - 1),
                        false => "the chosen points".to_owned(),
                    };
                    progress.show(share, &text);
                }
                SweepNews::Finished(result) => results.push(result),
            }
            !interrupted.load(Ordering::SeqCst)
        },
    );
    progress.end();
    // Points that are finished are told even if a later one could not be kept.
    let (all, mut failure) = match all {
        Ok(all) => (all, None),
        Err(error) if results.is_empty() => return Err(Failure::failed(error)),
        Err(error) => (true, Some(error.to_string())),
    };
    let mut ended = EndedSweep {
        table: SweepTable::of(results),
        provenance: sweep_provenance(&file.session.experiment, &file.sweep),
        n_points: plan.n_points(),
        folder,
        is_interrupted: !all,
        failure: None,
    };
    // A shard leaves the report to whoever puts the shards together.
    if arguments.shard.is_none() {
        let files = ended.result().files();
        let written = write_folder(&ended.folder, |folder| write_all(folder, &files));
        failure = failure.or(written.err().map(|lost| lost.to_string()));
    }
    ended.failure = failure;
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

impl EndedSweep {
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
        if let Some(saving) = &self.table.saving {
            writeln!(out, "Stages  {}", saving.in_words())?;
        }
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
            let problem = match remark_of(row) {
                remark if remark.is_empty() => remark,
                remark => format!("  ({remark})"),
            };
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
