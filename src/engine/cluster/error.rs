//! Why work in a folder cannot be done.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::dataset::DatasetError;
use crate::experiment::{ComparisonError, RunError, SweepError};
use crate::export::ExportError;
use crate::paper::ReproductionError;
use crate::records::ReadError;
use crate::session::SessionError;

/// Why work in a folder cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// A file of the work cannot be read or written.
    #[error(transparent)]
    File(#[from] SessionError),
    /// The data cannot be read.
    #[error(transparent)]
    Data(#[from] DatasetError),
    /// The sweep is wrong.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// The comparison is wrong.
    #[error(transparent)]
    Comparison(#[from] ComparisonError),
    /// The paper's comparison cannot be repeated.
    #[error(transparent)]
    Reproduction(#[from] ReproductionError),
    /// The report cannot be written.
    #[error(transparent)]
    Report(#[from] ExportError),
    /// The folder holds no work.
    #[error("no work for a cluster is in the folder: submit it first (atomscope sweep SWEEP.ron --slurm): {}", path.display())]
    NoWork {
        /// The folder.
        path: PathBuf,
    },
    /// What is worked on cannot be understood.
    #[error("the order of the work is damaged: submit it again, finished points are kept: {0}")]
    DamagedOrder(String),
    /// The file system cannot do what claims need.
    #[error("the file system has no hard links, by which workers claim points: choose a folder on another disk: {}", path.display())]
    NoLinks {
        /// The claim.
        path: PathBuf,
    },
    /// The scheduler refused.
    #[error("{command} failed: {reason}")]
    Scheduler {
        /// What was called.
        command: &'static str,
        /// What it said, and what to do.
        reason: String,
    },
    /// A request that makes no sense.
    #[error("{0}")]
    Refused(String),
}

/// Why a point has no result.
#[derive(Debug, thiserror::Error)]
pub enum PointError {
    /// A file of the work cannot be read or written.
    #[error(transparent)]
    File(#[from] SessionError),
    /// The point of a sweep cannot be run.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// A fold cannot be trained.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The work has no such point.
    #[error("there is no point {0}")]
    NoPoint(usize),
    /// The computation broke off.
    #[error("{0}")]
    Panic(String),
}

impl ClusterError {
    pub(super) fn io(doing: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::File(SessionError::io(doing, path, source))
    }

    /// Whether the caller stopped it.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Data(DatasetError::Read(ReadError::Cancelled)))
    }

    /// Whether settings, arguments or sessions are wrong, not something on the way.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Sweep(_)
            | Self::Comparison(_)
            | Self::NoWork { .. }
            | Self::DamagedOrder(_)
            | Self::Refused(_) => true,
            // A file that was named and is not there is a mistake in the call, not of the disk.
            Self::File(SessionError::Io { source, .. }) => source.kind() == ErrorKind::NotFound,
            Self::File(_) => true,
            Self::Data(_)
            | Self::Reproduction(_)
            | Self::Report(_)
            | Self::NoLinks { .. }
            | Self::Scheduler { .. } => false,
        }
    }
}
