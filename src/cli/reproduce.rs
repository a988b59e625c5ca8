//! `atomscope reproduce`: the paper's comparison in one go, as a report.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clap::Args;

use super::cluster::{ClusterArguments, from_cluster};
use super::compare::write_table;
use super::ending::{Failure, INTERRUPTED, interruptible, n_threads, tell};
use super::outputs::{Lost, reserve_folder, write_folder};
use super::progress::ProgressLine;
use super::terminal;
use atomscope_engine::cluster::{Order, Task};
use atomscope_engine::export::{PaperReport, PartResult, Published};
use atomscope_engine::paper::Reproduction;

/// The arguments of `reproduce`.
#[derive(Debug, Args)]
pub(super) struct ReproduceArguments {
    /// Folder with usps.mat, isolet and schizophrenia-eeg; missing ones are skipped
    #[arg(long, value_name = "DIR")]
    data: Vec<PathBuf>,
    /// Folder for the report, its figures and tables
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Fewer folds and tests, for a quick look
    #[arg(long)]
    quick: bool,
    /// Threads; the result does not depend on it, measured times do
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    cluster: ClusterArguments,
    /// No progress
    #[arg(long)]
    quiet: bool,
}

impl ReproduceArguments {
    /// Submits the comparison to a cluster.
    fn submit(&self) -> Result<ExitCode, Failure> {
        let is_quick = self.quick;
        let order = Order::new(Task::Reproduce { is_quick }, &self.data).map_err(from_cluster)?;
        self.cluster
            .submit(&order, &self.out, self.threads, self.quiet)
    }
}

/// Repeats the paper's comparison.
pub(super) fn run(arguments: &ReproduceArguments) -> io::Result<ExitCode> {
    if arguments.cluster.is_asked() {
        return arguments.submit().map_or_else(tell, Ok);
    }
    match reproduce(arguments) {
        Ok((report, lost)) => {
            write_report(&report, &mut terminal::stdout())?;
            if let Some(lost) = lost {
                terminal::complain(lost)?;
                return Ok(ExitCode::FAILURE);
            }
            let path = arguments.out.join("report.html");
            writeln!(terminal::stdout(), "\nReport  {}", path.display())?;
            let code = if report.is_complete { 0 } else { INTERRUPTED };
            Ok(ExitCode::from(code))
        }
        Err(failure) => tell(failure),
    }
}

/// The report, and what could not be written of it.
fn reproduce(arguments: &ReproduceArguments) -> Result<(PaperReport, Option<Lost>), Failure> {
    reserve_folder(&arguments.out)?;
    let interrupted = interruptible()?;
    let reproduction = Reproduction {
        data: arguments.data.clone(),
        is_quick: arguments.quick,
        n_threads: n_threads(arguments.threads),
    };
    let mut progress = ProgressLine::new(arguments.quiet);
    let report = reproduction.run(&mut |share, part| {
        progress.show(share, part);
        !interrupted.load(Ordering::SeqCst)
    });
    let report = report.map_err(Failure::failed)?;
    progress.end();
    let written = write_folder(&arguments.out, |folder| {
        Reproduction::write(&report, folder)
    });
    Ok((report, written.err()))
}

fn write_report(report: &PaperReport, out: &mut impl Write) -> io::Result<()> {
    let published = Published::shipped();
    for part in &report.parts {
        writeln!(out, "\n== {} ==", part.title)?;
        match &part.result {
            PartResult::LeftOut(reason) => writeln!(out, "Skipped: {reason}")?,
            PartResult::Compared(comparison) => {
                write_table(comparison, out)?;
                for note in part.order_notes(&published) {
                    writeln!(out, "Order   {note}")?;
                }
            }
        }
    }
    Ok(())
}
