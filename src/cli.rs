//! The program in the terminal: subcommands, their arguments and exit codes.

mod demo;
mod info;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Online kernel dictionary learning on EEG recordings and power-grid fault records.
#[derive(Debug, Parser)]
#[command(name = "atomscope", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say what is in recordings, fault records, tables and arrays
    Info {
        /// Files of any format that can be read
        #[arg(required = true)]
        files: Vec<OsString>,
        /// Write JSON instead of text
        #[arg(long)]
        json: bool,
        /// Read all samples: first three values, minimum, maximum and mean of each channel
        #[arg(long)]
        stats: bool,
        /// Refuse files that break their standard
        #[arg(long)]
        strict: bool,
    },
}

/// Runs the program with the arguments of the process.
pub fn run() -> ExitCode {
    // Wrong usage prints the usage and ends the process with code 2.
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        None => run_demo(),
        Some(Command::Info {
            files,
            json,
            stats,
            strict,
        }) => info::run(
            &files,
            info::Choices {
                json,
                stats,
                strict,
            },
            &mut io::stdout().lock(),
        ),
    };
    match outcome {
        Ok(code) => code,
        // A reader such as `head` that has seen enough is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to tell it to if this fails too.
            let told = writeln!(io::stderr(), "atomscope: cannot write: {error}");
            drop(told);
            ExitCode::FAILURE
        }
    }
}

/// Without a command the built-in data are learned, so that a newcomer sees the learner at work.
fn run_demo() -> io::Result<ExitCode> {
    match demo::run(&mut io::stdout().lock(), &mut io::stderr().lock()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => match error.downcast::<io::Error>() {
            Ok(error) => Err(*error),
            Err(error) => {
                writeln!(io::stderr(), "atomscope: {error}")?;
                Ok(ExitCode::FAILURE)
            }
        },
    }
}
