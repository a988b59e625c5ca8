//! Why a session, its recovery copy or the user's settings cannot be read or written.

use std::io;
use std::path::{Path, PathBuf};

/// A refusal. Every message ends with the path.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The operating system refused.
    #[error("cannot {doing}: {source}: {}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
        /// The file or folder.
        path: PathBuf,
    },
    /// The path does not name a session.
    #[error("the name of a session ends in .ron, as in `name.ron`: {}", path.display())]
    Name {
        /// The path.
        path: PathBuf,
    },
    /// A session without a place cannot be saved there.
    #[error("the session has no name yet: save it under one first")]
    Untitled,
    /// The file is larger than any session.
    #[error("the file has {found} bytes, which is more than the {most} a session can have: {}", path.display())]
    TooLarge {
        /// Its size.
        found: u64,
        /// The largest size read.
        most: u64,
        /// The file.
        path: PathBuf,
    },
    /// The file is no text.
    #[error("the file is not text (byte {byte} is not UTF-8), expected a session: {}", path.display())]
    NotText {
        /// Offset of the first byte that is no text.
        byte: usize,
        /// The file.
        path: PathBuf,
    },
    /// The text is not what a session may hold.
    #[error("line {line}, column {column}: {reason}: {}", path.display())]
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What was found and what is legal.
        reason: String,
        /// The file.
        path: PathBuf,
    },
    /// The file does not begin with its format.
    #[error("there is no field `format`; a session starts with `(format: {newest}, …)`: {}", path.display())]
    NoFormat {
        /// The newest format known.
        newest: u32,
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a newer Atomscope.
    #[error("the file has format {found}, but this Atomscope knows formats up to {newest}: open it with a newer Atomscope: {}", path.display())]
    NewerFormat {
        /// The format of the file.
        found: u32,
        /// The newest format known.
        newest: u32,
        /// The file.
        path: PathBuf,
    },
    /// A format that was never released.
    #[error("the file has format {found}, which does not exist (formats are 1 to {newest}): {}", path.display())]
    NoSuchFormat {
        /// The format of the file.
        found: u32,
        /// The newest format known.
        newest: u32,
        /// The file.
        path: PathBuf,
    },
    /// Another window or program wrote the file since it was opened here.
    #[error("the session was changed on disk since it was opened here, by another window or program: save under another name, or overwrite it explicitly: {}", path.display())]
    ChangedOnDisk {
        /// The session.
        path: PathBuf,
    },
    /// A new session would replace a file.
    #[error("a file of this name exists already: choose another name, or overwrite it explicitly: {}", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file may only be read.
    #[error("the file is read-only: save under another name: {}", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Another window is writing the same file.
    #[error("another window is saving the file just now: save again in a moment: {}", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Something cannot be written.
    #[error("cannot write the value: {reason}: {}", path.display())]
    Unwritable {
        /// Why.
        reason: String,
        /// The file.
        path: PathBuf,
    },
    /// The arrays of the session are not there.
    #[error("the trained state is missing; settings and results are intact, but training must start again; expected the arrays in {}", path.display())]
    ArraysMissing {
        /// Where they should be.
        path: PathBuf,
    },
    /// The arrays of the session are not those that were saved.
    #[error("the trained state is damaged ({reason}); settings and results are intact, but training must start again: {}", path.display())]
    ArraysDamaged {
        /// What is wrong.
        reason: String,
        /// The arrays.
        path: PathBuf,
    },
    /// The recovery copy cannot be used.
    #[error("the recovery copy is damaged, so the last save is used; the copy was renamed ({reason}): {}", path.display())]
    BrokenRecovery {
        /// What is wrong with it.
        reason: String,
        /// The copy.
        path: PathBuf,
    },
    /// There are too many recovery copies that nobody asked for.
    #[error("there are {n_copies} recovery copies already: remove those that are not needed: {}", folder.display())]
    NoRecoverySlot {
        /// How many.
        n_copies: usize,
        /// Where they are.
        folder: PathBuf,
    },
    /// A finished point belongs to another sweep.
    #[error("the file belongs to another sweep, to other data or to an older form of this sweep: choose another folder (--out in the terminal), or remove it: {}", path.display())]
    OtherSweep {
        /// The point.
        path: PathBuf,
    },
    /// Points of another version, other data or another audit.
    #[error("{reason}: such results are not mixed; choose another folder (--out in the terminal), or remove it: {}", path.display())]
    Mixed {
        /// What differs.
        reason: String,
        /// The file that says so.
        path: PathBuf,
    },
    /// A file of finished points cannot be understood.
    #[error(
        "{kind} is damaged or of another Atomscope: choose another folder (--out in the terminal), or remove the file, and {remedy}: {reason}"
    )]
    DamagedWork {
        /// What the file holds.
        kind: &'static str,
        /// What happens where it is missing.
        remedy: &'static str,
        /// What is wrong with it, with its path.
        reason: Box<SessionError>,
    },
    /// There is no finished point.
    #[error("no finished point of a sweep (point-….ron) is in the folder: {}", path.display())]
    NoSweep {
        /// The folder.
        path: PathBuf,
    },
    /// The system names no folder for the user's settings.
    #[error("the system names no folder for settings of the user: set ATOMSCOPE_CONFIG_DIR")]
    NoUserFolder,
    /// The caller stopped the work.
    #[error("cancelled")]
    Cancelled,
}

impl SessionError {
    /// A refusal of the system while `doing` something with `path`.
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            doing,
            source,
            path: path.to_owned(),
        }
    }
}
