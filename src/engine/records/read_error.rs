//! Why a file could not be read: file, place, field, value found, value expected.

use std::io;
use std::path::{Path, PathBuf};

use super::FilePlace;

/// A refusal. Every message ends with the path.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system refused.
    #[error("cannot read: {source}: {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Neither content nor extension belongs to a format that is read here.
    #[error("unknown format: file starts with {found}, expected one of {expected}: {}", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// Its first bytes, readable.
        found: String,
        /// The formats known.
        expected: String,
    },
    /// A field holds what it cannot hold.
    #[error("{}", .0)]
    Malformed(Box<Malformed>),
    /// A file that must lie beside this one does not.
    #[error("{role} {name:?} is missing beside the file; put both in one folder: {}", path.display())]
    MissingCompanion {
        /// The file that names it.
        path: PathBuf,
        /// What it holds.
        role: &'static str,
        /// Its name.
        name: String,
    },
    /// Legal, but not read here.
    #[error("{what} is not supported; {remedy}: {}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: String,
        /// What the user can do.
        remedy: String,
    },
    /// A channel, sample or array was asked for that the record does not have.
    #[error("{what} is not in the record, which has {has}: {}", path.display())]
    NotThere {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        what: String,
        /// What there is.
        has: String,
    },
    /// The user stopped the work.
    #[error("stopped")]
    Cancelled,
}

/// The parts of a refusal.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{field}{place} is {found}, expected {expected}: {}", path.display())]
pub struct Malformed {
    /// The file.
    pub path: PathBuf,
    /// Where in it.
    pub place: FilePlace,
    /// Which field.
    pub field: String,
    /// The value found.
    pub found: String,
    /// The value expected, and the remedy where there is one.
    pub expected: String,
}

impl ReadError {
    /// The operating system refused to read `path`.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// The message without the path, for a message that ends with the path anyhow.
    pub fn reason(&self) -> String {
        match self {
            Self::Malformed(malformed) => format!(
                "{}{}: {}, expected {}",
                malformed.field, malformed.place, malformed.found, malformed.expected
            ),
            other => other.to_string(),
        }
    }

    /// A field holds what it cannot hold.
    pub fn malformed(
        path: &Path,
        place: FilePlace,
        field: impl Into<String>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self::Malformed(Box::new(Malformed {
            path: path.to_owned(),
            place,
            field: field.into(),
            found: found.into(),
            expected: expected.into(),
        }))
    }
}
