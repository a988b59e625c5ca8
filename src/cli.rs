//! The program in the terminal: subcommands, their arguments and exit codes.

mod analyse;
mod classify;
mod cluster;
mod columns;
mod compare;
mod ending;
mod export_model;
mod fault_fields;
mod folder_preview;
mod info;
mod outputs;
mod progress;
mod report;
mod reproduce;
mod run;
mod score;
mod settings;
mod shell;
mod simulate;
mod stream;
mod sweep;
mod sweep_folder;
mod terminal;
mod trained;
mod window;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;

use atomscope_engine::dataset::KeptFeatures;
use atomscope_engine::session::UserFolders;

/// Online kernel dictionary learning on EEG recordings and power-grid fault records.
#[derive(Debug, Parser)]
#[command(
    name = "atomscope",
    version,
    long_version = shell::LONG_VERSION,
    about,
    args_conflicts_with_subcommands = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// A session, a data file or a folder of recordings to open
    path: Option<PathBuf>,
    #[command(flatten)]
    picture: window::PictureArguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Train a session and report how well it classifies
    Run(run::RunArguments),
    /// Compare sessions on identical folds and seeds
    Compare(compare::CompareArguments),
    /// Try many settings of a session, judged by nested validation
    Sweep(sweep::SweepArguments),
    /// Repeat the paper's comparison and write a report
    Reproduce(reproduce::ReproduceArguments),
    /// Apply a trained session to recordings
    Classify(classify::ClassifyArguments),
    /// Apply a trained session to what comes in: lines, a folder that fills, a file that grows, a live stream
    Stream(stream::StreamArguments),
    /// Write a trained model as a module for Python
    ExportModel(export_model::ExportModelArguments),
    /// Score events found (seizures, spikes, artefacts) against a reference
    Score(score::ScoreArguments),
    /// Say what fault records show in closed form: type, phases, times, distance
    Analyse(analyse::AnalyseArguments),
    /// Write simulated faults and other events as COMTRADE files
    Simulate(simulate::SimulateArguments),
    /// List every setting: name for --set, values, default and what it does
    Settings {
        /// Write a table in Markdown instead of text
        #[arg(long)]
        markdown: bool,
    },
    /// Write completions of the commands for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual page, or those of all commands
    Man(shell::ManArguments),
    /// Describe recordings, fault records, tables and arrays
    Info {
        /// Files of any format that can be read, or folders of them
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
        /// The sheet of a workbook; otherwise the first with rows and columns
        #[arg(long, value_name = "NAME")]
        sheet: Option<String>,
    },
}

/// What a developer wants to see goes to the standard error, as `ATOMSCOPE_LOG` says: a level
/// (`debug`) or levels of modules (`atomscope_engine::session=trace,info`).
fn log_to_stderr() {
    let Some(wanted) = std::env::var("ATOMSCOPE_LOG").ok() else {
        return;
    };
    match wanted.parse::<Targets>() {
        Ok(targets) => {
            let lines = tracing_subscriber::fmt::layer()
                .with_ansi(false)
                .with_writer(io::stderr);
            tracing_subscriber::registry()
                .with(lines.with_filter(targets))
                .init();
        }
        Err(error) => {
            let told = terminal::complain(format!("ATOMSCOPE_LOG: {error}"));
            drop(told);
        }
    }
}

/// The variable of the environment that names the folder of computed features; empty for none.
const FEATURES_VARIABLE: &str = "ATOMSCOPE_FEATURES";

/// Features of recordings are kept in the cache of the user, or where the environment says.
fn keep_features() {
    let folder = match std::env::var_os(FEATURES_VARIABLE) {
        Some(folder) if folder.is_empty() => None,
        Some(folder) => Some(PathBuf::from(folder)),
        None => UserFolders::find()
            .ok()
            .map(|folders| folders.cache.join("features")),
    };
    if let Some(folder) = folder {
        KeptFeatures::in_folder(&folder).use_always();
    }
}

/// Runs the program with the arguments of the process.
pub fn run() -> ExitCode {
    log_to_stderr();
    keep_features();
    // Wrong usage prints the usage and ends the process with code 2.
    let arguments =
        Arguments::try_parse().unwrap_or_else(|error| terminal::refuse_arguments(&error));
    let outcome = match arguments.command {
        None => window::open(arguments.path.as_deref(), &arguments.picture),
        Some(Command::Run(arguments)) => run::run(&arguments),
        Some(Command::Compare(arguments)) => compare::run(&arguments),
        Some(Command::Sweep(arguments)) => sweep::run(&arguments),
        Some(Command::Reproduce(arguments)) => reproduce::run(&arguments),
        Some(Command::Classify(arguments)) => classify::run(&arguments),
        Some(Command::Stream(arguments)) => stream::run(&arguments),
        Some(Command::ExportModel(arguments)) => export_model::run(&arguments),
        Some(Command::Score(arguments)) => score::run(&arguments),
        Some(Command::Analyse(arguments)) => analyse::run(&arguments),
        Some(Command::Simulate(arguments)) => simulate::run(&arguments),
        Some(Command::Settings { markdown }) => settings::run(markdown, &mut io::stdout().lock()),
        Some(Command::Completions { shell }) => shell::completions(shell, Arguments::command()),
        Some(Command::Man(arguments)) => shell::man(&arguments, Arguments::command()),
        Some(Command::Info {
            files,
            json,
            stats,
            strict,
            sheet,
        }) => info::run(
            &files,
            info::Choices {
                json,
                stats,
                strict,
                sheet,
            },
            &mut terminal::stdout(),
        ),
    };
    match outcome {
        Ok(code) => code,
        // A reader such as `head` that has seen enough is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to tell it to if this fails too.
            drop(terminal::complain(format!("cannot write: {error}")));
            ExitCode::FAILURE
        }
    }
}
