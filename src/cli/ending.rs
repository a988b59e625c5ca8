//! How commands end: exit codes, Ctrl-C, files that a result is written to.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use atomscope_engine::dataset::{Built, DataSettings, DatasetError};
use atomscope_engine::evaluation::FasterForgetting;
use atomscope_engine::experiment::{available_threads, declared as settings};
use atomscope_engine::records::ReadError;
use atomscope_engine::session::DataPlaces;

use super::outputs::Output;
use super::progress::ProgressLine;
use super::terminal::{self, complain};

/// Ended by Ctrl-C, as shells count it.
pub(super) const INTERRUPTED: u8 = 130;
/// Wrong arguments, or a session that cannot be used.
const BAD_USAGE: u8 = 2;

/// Why a command ended without a result.
#[derive(Debug)]
pub(super) enum Failure {
    /// Exit code 2.
    Usage(String),
    /// Exit code 1.
    Failed(String),
    /// Exit code 130.
    Interrupted,
}

impl Failure {
    /// Something in the settings or arguments.
    pub(super) fn usage(error: impl ToString) -> Self {
        Self::Usage(error.to_string())
    }

    /// Something that went wrong on the way.
    pub(super) fn failed(error: impl ToString) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Any error of the engine, on its way to the user.
pub(super) type Refusal = Box<dyn std::error::Error>;

/// Says why there is no result.
pub(super) fn tell(failure: Failure) -> io::Result<ExitCode> {
    let (message, code) = match failure {
        Failure::Usage(message) => (message, BAD_USAGE),
        Failure::Failed(message) => (message, 1),
        Failure::Interrupted => ("interrupted before a fold was complete".into(), INTERRUPTED),
    };
    complain(message)?;
    Ok(ExitCode::from(code))
}

/// The threads asked for, or as many as the machine runs at once.
pub(super) fn n_threads(asked: Option<u16>) -> usize {
    asked.map_or_else(available_threads, usize::from)
}

/// Becomes true with Ctrl-C.
pub(super) fn interruptible() -> Result<Arc<AtomicBool>, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = interrupted.clone();
    let handler = move || {
        // Who presses twice does not want to wait.
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    };
    ctrlc::set_handler(handler).map_err(Failure::failed)?;
    Ok(interrupted)
}

/// Reads data, showing how far it is.
pub(super) fn load_data(
    data: &DataSettings,
    places: &DataPlaces,
    interrupted: &AtomicBool,
    progress: &mut ProgressLine,
) -> Result<Built, Failure> {
    let mut keep_going = |share: f64| {
        progress.show(share, "reading data");
        !interrupted.load(Ordering::SeqCst)
    };
    let built = data.load(&|named| places.locate(named), &mut keep_going);
    built.map_err(|error| match error {
        DatasetError::Read(ReadError::Cancelled) => Failure::Interrupted,
        error => Failure::failed(error),
    })
}

/// ε of prediction sets as it is given in an argument.
pub(super) fn epsilon(text: &str) -> Result<f64, String> {
    let (least, most) = settings::EPSILON.legal();
    let value: f64 = text.parse().map_err(|error| format!("{error}"))?;
    match (least..=most).contains(&value) {
        true => Ok(value),
        false => Err(format!("must be from {least} to {most}")),
    }
}

/// Whether a result shall go to the standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes a result to a reserved file, or to the standard output; says where it was kept if that fails, and whether
/// it is where it should be.
pub(super) fn write_result(output: &Output, text: &str) -> io::Result<bool> {
    if output.is_stdout() {
        terminal::results().write_all(text.as_bytes())?;
        return Ok(true);
    }
    match output.write(text.as_bytes()) {
        Ok(()) => Ok(true),
        Err(lost) => {
            complain(lost)?;
            Ok(false)
        }
    }
}

/// λ and a number of mini-batches, such as 0.95:40.
pub(super) fn faster_forgetting(text: &str) -> Result<FasterForgetting, String> {
    let bad = || "must be λ and a number of mini-batches, such as 0.95:40".to_owned();
    let parsed = text.split_once(':').and_then(|(factor, n_batches)| {
        Some(FasterForgetting {
            factor: factor.parse().ok()?,
            n_batches: n_batches.parse().ok()?,
        })
    });
    let faster = parsed.ok_or_else(bad)?;
    match faster.problem() {
        None => Ok(faster),
        Some(problem) => Err(problem),
    }
}
