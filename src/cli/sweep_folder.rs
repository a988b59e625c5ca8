//! `atomscope sweep status` and its like: what is done with the folder of work for a cluster.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::Subcommand;

use super::cluster::from_cluster;
use super::ending::{Failure, tell};
use super::terminal;
use atomscope_engine::cluster::{
    Mark, Order, WorkFolder, WorkStatus, WorkerEnd, WorkerNews, cancel_jobs, requeue_this_job,
    work_through,
};

/// How often a folder is read that is watched.
const WATCH_EVERY: Duration = Duration::from_secs(2);

/// What is done with a folder.
#[derive(Debug, Subcommand)]
pub(super) enum FolderCommand {
    /// How far a sweep, comparison or reproduction on a cluster has come
    Status {
        /// The folder with its points
        folder: PathBuf,
        /// Write JSON; with --watch one line each time
        #[arg(long)]
        json: bool,
        /// Again every two seconds, until all points are finished
        #[arg(long)]
        watch: bool,
    },
    /// Take points from a folder and compute them until none is open
    Worker {
        /// The folder
        folder: PathBuf,
        /// Points that are computed at once
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
        threads: u16,
        /// Ask Slurm to start this job again if SIGUSR1 announces its time limit
        #[arg(long)]
        requeue: bool,
    },
    /// Cancel the jobs; workers save what they compute, and a later submission resumes it
    Cancel {
        /// The folder
        folder: PathBuf,
    },
    /// Let workers finish their points and take no others
    Pause {
        /// The folder
        folder: PathBuf,
    },
    /// Let workers take points again
    Resume {
        /// The folder
        folder: PathBuf,
    },
    /// Let points that failed three times be tried again
    Retry {
        /// The folder
        folder: PathBuf,
        /// Only this one, from 1
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        point: Option<u32>,
    },
}

/// Does it.
pub(super) fn run(command: &FolderCommand) -> io::Result<ExitCode> {
    let done = match command {
        FolderCommand::Status {
            folder,
            json,
            watch,
        } => return status(folder, *json, *watch),
        FolderCommand::Worker {
            folder,
            threads,
            requeue,
        } => work(folder, *threads, *requeue),
        FolderCommand::Cancel { folder } => cancel(folder),
        FolderCommand::Pause { folder } => set_pause(folder, true),
        FolderCommand::Resume { folder } => set_pause(folder, false),
        FolderCommand::Retry { folder, point } => retry(folder, *point),
    };
    match done {
        Ok(said) => {
            writeln!(terminal::stdout(), "{said}")?;
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => tell(failure),
    }
}

/// The folder, if there is work in it.
fn opened(folder: &Path) -> Result<WorkFolder, Failure> {
    let folder = WorkFolder::new(folder);
    Order::load(&folder).map_err(from_cluster)?;
    Ok(folder)
}

fn status(folder: &Path, is_json: bool, is_watched: bool) -> io::Result<ExitCode> {
    let folder = WorkFolder::new(folder);
    loop {
        let status = match WorkStatus::read(&folder) {
            Ok(status) => status,
            Err(error) => return tell(from_cluster(error)),
        };
        let mut out = terminal::stdout();
        match is_json {
            true => writeln!(out, "{}", status.to_json())?,
            false => write_status(&status, &mut out)?,
        }
        out.flush()?;
        drop(out);
        let is_over = status.is_complete() || (status.is_cancelled && status.workers.is_empty());
        if !is_watched || is_over {
            return Ok(ExitCode::SUCCESS);
        }
        thread::sleep(WATCH_EVERY);
    }
}

fn write_status(status: &WorkStatus, out: &mut impl Write) -> io::Result<()> {
    let points = status.points;
    writeln!(
        out,
        "Points   {} done, {} running, {} failed, {} open",
        points.done, points.running, points.failed, points.open
    )?;
    let left = match status.left_s() {
        Some(0.0) => "nothing".to_owned(),
        Some(seconds) => duration(seconds),
        None => "unknown".to_owned(),
    };
    writeln!(out, "Left     {left}")?;
    if status.is_cancelled {
        writeln!(out, "State    cancelled")?;
    } else if status.is_paused {
        writeln!(out, "State    paused")?;
    }
    if !status.workers.is_empty() {
        writeln!(
            out,
            "\n{:>7}  {:>10}  {:>9}  host",
            "point", "since", "per hour"
        )?;
    }
    for row in &status.workers {
        let point = row.point.map_or("–".to_owned(), |point| point.to_string());
        let rate = row
            .per_hour
            .map_or("–".to_owned(), |rate| format!("{rate:.1}"));
        writeln!(
            out,
            "{point:>7}  {:>10}  {rate:>9}  {}",
            duration(row.since_s),
            row.host
        )?;
    }
    for failed in &status.failed {
        writeln!(
            out,
            "Failed   point {}: {}",
            failed.number + 1,
            failed.error
        )?;
    }
    Ok(())
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{s:.0} s"),
        s if s < 3600.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

fn cancel(folder: &Path) -> Result<String, Failure> {
    let folder = opened(folder)?;
    folder.set(Mark::Cancelled, true).map_err(from_cluster)?;
    let n_jobs = cancel_jobs(&folder).map_err(from_cluster)?;
    Ok(format!(
        "cancelled; {n_jobs} {} of Slurm told, finished points and saved states are kept",
        if n_jobs == 1 { "job" } else { "jobs" }
    ))
}

fn set_pause(folder: &Path, is_paused: bool) -> Result<String, Failure> {
    let folder = opened(folder)?;
    folder.set(Mark::Paused, is_paused).map_err(from_cluster)?;
    Ok(match is_paused {
        true => "paused: workers finish their points and take no others".into(),
        false => "resumed".into(),
    })
}

fn retry(folder: &Path, point: Option<u32>) -> Result<String, Failure> {
    let folder = opened(folder)?;
    let only = point.map(|point| point as usize - 1);
    let n_points = folder.retry(only).map_err(from_cluster)?;
    let plural = if n_points == 1 { "" } else { "s" };
    Ok(format!("{n_points} failed point{plural} open again"))
}

/// What the signals of the system ask of a worker.
struct Signals {
    /// Any of them: save and end.
    stop: Arc<AtomicBool>,
    /// The time limit is near.
    is_limit: Arc<AtomicBool>,
}

#[cfg(unix)]
fn signals() -> Result<Signals, Failure> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
    let signals = Signals {
        stop: Arc::default(),
        is_limit: Arc::default(),
    };
    for signal in [SIGHUP, SIGINT, SIGTERM, SIGUSR1] {
        signal_hook::flag::register(signal, signals.stop.clone()).map_err(Failure::failed)?;
    }
    signal_hook::flag::register(SIGUSR1, signals.is_limit.clone()).map_err(Failure::failed)?;
    Ok(signals)
}

#[cfg(not(unix))]
fn signals() -> Result<Signals, Failure> {
    Ok(Signals {
        stop: super::ending::interruptible()?,
        is_limit: Arc::default(),
    })
}

fn tell_news(news: WorkerNews) {
    let said = match news {
        WorkerNews::Began(number, 1) => format!("point {}: begun", number + 1),
        WorkerNews::Began(number, attempt) => {
            format!("point {}: begun, attempt {attempt}", number + 1)
        }
        WorkerNews::Resumed(number) => format!("point {}: resumed where it was saved", number + 1),
        WorkerNews::Finished(number) => format!("point {}: finished", number + 1),
        WorkerNews::Left(number) => format!("point {}: saved for another worker", number + 1),
        WorkerNews::Failed(number, error) => format!("point {}: failed: {error}", number + 1),
        WorkerNews::Warning(text) => format!("warning: {text}"),
    };
    // Whether anybody reads it changes nothing for the work.
    drop(writeln!(terminal::stdout(), "{said}"));
}

fn work(folder: &Path, n_threads: u16, is_requeued: bool) -> Result<String, Failure> {
    let folder = opened(folder)?;
    let signals = signals()?;
    let order = Order::load(&folder).map_err(from_cluster)?;
    let prepared = order.prepare(&mut |_| !signals.stop.load(Ordering::SeqCst));
    let prepared = prepared.map_err(from_cluster)?;
    let ends: Vec<_> = thread::scope(|scope| {
        let (folder, prepared, stop) = (&folder, &prepared, &signals.stop);
        let work = || work_through(folder, prepared, stop, &tell_news);
        let workers: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join()).collect()
    });
    let mut last = WorkerEnd::Complete;
    for end in ends {
        let Ok(end) = end else {
            return Err(Failure::failed("internal error: a worker panicked"));
        };
        last = match end.map_err(from_cluster)? {
            WorkerEnd::Complete => last,
            end => end,
        };
    }
    if is_requeued && last == WorkerEnd::Stopped && signals.is_limit.load(Ordering::SeqCst) {
        requeue_this_job().map_err(from_cluster)?;
    }
    Ok(match last {
        WorkerEnd::Complete => "all points are finished or set aside".into(),
        WorkerEnd::Stopped => "stopped; the next worker resumes".into(),
        WorkerEnd::Cancelled => "the work was cancelled".into(),
    })
}
