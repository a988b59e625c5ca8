//! `atomscope completions` and `atomscope man`: what shells and the manual viewer know of the commands,
//! and the version.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use super::ending::tell;
use super::outputs::reserve_folder;

/// What `--version` says after the name.
pub(super) const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit: ",
    env!("ATOMSCOPE_BUILD_COMMIT"),
    "\nfeatures: window (x11, wayland, opengl), screen reader (accesskit), file dialogs (xdg-portal)",
    "\nlicence: ",
    env!("CARGO_PKG_LICENSE"),
);

/// The arguments of `man`.
#[derive(Debug, Args)]
pub(super) struct ManArguments {
    /// Write one page per command into this folder instead of the first page to the standard output
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Writes the completions of a shell.
pub(super) fn completions(shell: Shell, mut command: Command) -> io::Result<ExitCode> {
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut text);
    io::stdout().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the manual pages.
pub(super) fn man(arguments: &ManArguments, command: Command) -> io::Result<ExitCode> {
    match &arguments.out {
        None => Man::new(command).render(&mut io::stdout().lock())?,
        Some(folder) => {
            if let Err(failure) = reserve_folder(folder) {
                return tell(failure);
            }
            clap_mangen::generate_to(command, folder)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
