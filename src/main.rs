//! The command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    atomscope::cli::run()
}
