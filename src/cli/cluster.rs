//! `--slurm`: the options of the commands whose work can go to a cluster.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clap::Args;

use super::ending::{Failure, interruptible};
use super::progress::ProgressLine;
use super::terminal;
use atomscope_engine::cluster::{ClusterError, JobRequest, Order, WorkFolder, submit};
use atomscope_engine::records::counted;

/// Workers where no number is given.
const USUAL_WORKERS: u16 = 40;

/// The options of work for a cluster.
#[derive(Debug, Args)]
pub(super) struct ClusterArguments {
    /// Submit workers to Slurm and return the id of the job
    #[arg(long)]
    slurm: bool,
    /// Workers; at most as many as there are points (default 40)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    workers: Option<u16>,
    /// Time limit of a worker, as in 2:00:00; what is not finished by then is resumed by another
    #[arg(long, value_name = "TIME")]
    time: Option<String>,
    /// Partition of the cluster
    #[arg(long, value_name = "P")]
    partition: Option<String>,
    /// Further options of sbatch, as in "--mem=4G --account=lab"
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    sbatch: Option<String>,
    /// A worker that meets its time limit asks to be started again
    #[arg(long)]
    requeue: bool,
    /// Write the script for Slurm or another scheduler to the standard output, and submit nothing
    #[arg(long)]
    print: bool,
}

/// Why work for a cluster could not be prepared.
pub(super) fn from_cluster(error: ClusterError) -> Failure {
    match error {
        error if error.is_cancelled() => Failure::Interrupted,
        error if error.is_usage() => Failure::usage(error),
        error => Failure::failed(error),
    }
}

impl ClusterArguments {
    /// Whether the work shall go to a cluster.
    pub(super) fn is_asked(&self) -> bool {
        self.slurm
            || self.print
            || self.requeue
            || self.workers.is_some()
            || [&self.time, &self.partition, &self.sbatch]
                .iter()
                .any(|text| text.is_some())
    }

    /// Checks the work, places it in the folder, and submits it or shows the script.
    pub(super) fn submit(
        &self,
        order: &Order,
        folder: &Path,
        threads: Option<u16>,
        is_quiet: bool,
    ) -> Result<ExitCode, Failure> {
        if !self.slurm && !self.print {
            return Err(Failure::usage(
                "--workers, --time, --partition, --sbatch and --requeue need --slurm or --print",
            ));
        }
        let folder = WorkFolder::new(folder);
        let mut request = JobRequest {
            n_workers: usize::from(self.workers.unwrap_or(USUAL_WORKERS)),
            n_threads: usize::from(threads.unwrap_or(1)),
            time: self.time.clone(),
            partition: self.partition.clone(),
            sbatch: self.sbatch.clone(),
            is_requeued: self.requeue,
            ..JobRequest::of_this_program(folder.path()).map_err(from_cluster)?
        };
        // A wrong time limit is told before data are read and the folder is made.
        request.script(folder.path()).map_err(from_cluster)?;
        let interrupted = interruptible()?;
        let mut progress = ProgressLine::new(is_quiet);
        let prepared = order.prepare(&mut |share| {
            progress.show(share, "reading data");
            !interrupted.load(Ordering::SeqCst)
        });
        let prepared = prepared.map_err(from_cluster)?;
        progress.end();
        let n_open = order.place(&folder, &prepared).map_err(from_cluster)?;
        request.n_workers = request.n_workers.min(n_open.max(1));
        if self.print {
            request.write_script(&folder).map_err(from_cluster)?;
            show(&request.script(folder.path()).map_err(from_cluster)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let id = submit(&folder, &request).map_err(from_cluster)?;
        show(&format!("{id}\n"))?;
        let said = format!(
            "{} for {} in {}; atomscope sweep status shows how far they are",
            counted(request.n_workers, "worker"),
            counted(n_open, "open point"),
            folder.path().display()
        );
        terminal::complain(said).map_err(Failure::failed)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes the script, or the id of the job, to the standard output.
fn show(text: &str) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        // Who reads no further has what was wanted.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
