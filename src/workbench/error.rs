//! Why work in the background came to nothing.

use std::path::PathBuf;

use atomscope_engine::cluster::ClusterError;
use atomscope_engine::dataset::DatasetError;
use atomscope_engine::experiment::{ComparisonError, RunError, SweepError, WidthError};
use atomscope_engine::export::ExportError;
use atomscope_engine::features::filter::FilterError;
use atomscope_engine::features::montage::MontageError;
use atomscope_engine::learner::{KernelError, LearnError};
use atomscope_engine::paper::ReproductionError;
use atomscope_engine::records::ReadError;
use atomscope_engine::records::catalog::CatalogError;
use atomscope_engine::session::SessionError;
use atomscope_engine::settings::SettingProblem;
use atomscope_engine::simulate::SimulateError;
use atomscope_engine::split::SplitError;
use atomscope_engine::stream::StreamError;

/// What ended work in the background.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// It was asked to end.
    #[error("cancelled")]
    Cancelled,
    /// Data could not be loaded.
    #[error(transparent)]
    Dataset(DatasetError),
    /// Data are not where the session says.
    #[error("not found: locate the data on the Records page, or put them beside the session: {}", path.display())]
    NotFound {
        /// The path as the settings name it.
        path: PathBuf,
    },
    /// A record could not be read.
    #[error(transparent)]
    Read(ReadError),
    /// A folder could not be searched.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A record could not be simulated.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// A session could not be read or written.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Work for a cluster could not be submitted or asked.
    #[error(transparent)]
    Cluster(ClusterError),
    /// The plan of the split does not fit the data.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// The data give no width for the kernel.
    #[error(transparent)]
    Width(#[from] WidthError),
    /// A run could not begin or resume.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A model could not be used.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// A kernel could not be evaluated.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A filter does not suit the rate.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// A montage does not fit the recording.
    #[error(transparent)]
    Montage(#[from] MontageError),
    /// A figure could not be drawn.
    #[error("cannot draw the figure: {0}")]
    Picture(#[from] png::EncodingError),
    /// A result could not be written.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// Runs could not be compared.
    #[error(transparent)]
    Comparison(#[from] ComparisonError),
    /// A stream could not be followed.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// A sweep could not run.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// The paper could not be repeated.
    #[error(transparent)]
    Reproduction(#[from] ReproductionError),
    /// Settings do not fit each other or the data.
    #[error("{}", in_one_line(.0))]
    Settings(Vec<SettingProblem>),
    /// Something that is asked for is not there, or cannot be done with what is there.
    #[error("{0}")]
    Refused(String),
    /// What went wrong with one of several.
    #[error("{name}: {reason}")]
    Of {
        /// Which one.
        name: String,
        /// Why.
        reason: Box<TaskError>,
    },
    /// A fault in the program.
    #[error("{0}")]
    Panicked(String),
}

impl TaskError {
    /// A reason in words.
    pub(super) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused(reason.into())
    }

    /// The same of one of several.
    pub(super) fn of(self, name: &str) -> Self {
        Self::Of {
            name: name.to_owned(),
            reason: Box::new(self),
        }
    }
}

impl From<ReadError> for TaskError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Cancelled => Self::Cancelled,
            error => Self::Read(error),
        }
    }
}

impl From<DatasetError> for TaskError {
    fn from(error: DatasetError) -> Self {
        match error {
            DatasetError::Read(ReadError::Cancelled) => Self::Cancelled,
            DatasetError::NotFound { path } => Self::NotFound { path },
            error => Self::Dataset(error),
        }
    }
}

fn in_one_line(problems: &[SettingProblem]) -> String {
    let lines: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
    lines.join("; ")
}

impl From<ClusterError> for TaskError {
    fn from(error: ClusterError) -> Self {
        match error.is_cancelled() {
            true => Self::Cancelled,
            false => Self::Cluster(error),
        }
    }
}
