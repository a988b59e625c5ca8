//! What can go wrong with a stream.

use std::io;
use std::path::{Path, PathBuf};

use crate::dataset::DatasetError;
use crate::experiment::{CorrectionError, RunError};
use crate::features::FeatureError;
use crate::records::ReadError;
use crate::records::catalog::CatalogError;
use crate::session::SessionError;

/// Why a stream cannot be read, judged or kept.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// A file cannot be read or written.
    #[error("cannot {doing}: {source}: {}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
        /// The file or folder.
        path: PathBuf,
    },
    /// The standard input cannot be read.
    #[error("cannot read the standard input: {0}")]
    Input(io::Error),
    /// Nothing has that name.
    #[error("there is no such source; name -, a folder, a file or lsl:NAME: {name}")]
    NoSource {
        /// The name.
        name: String,
    },
    /// The samples have no rate.
    #[error(
        "the sampling rate is not known: name it with --rate, or send a column `time` in seconds"
    )]
    NoRate,
    /// The channels have no names.
    #[error("the channels have no names: send a first line with them ({expected})")]
    NoNames {
        /// What the model expects.
        expected: String,
    },
    /// A column that the model needs is missing.
    #[error("the first line names no column {name:?}; its columns are {found}")]
    NoColumn {
        /// The column.
        name: String,
        /// The columns there are.
        found: String,
    },
    /// The features are not those that were learned.
    #[error(
        "the stream gives {found} features ({first:?} first), but the model was trained on {expected} ({learned:?} first)"
    )]
    OtherFeatures {
        /// Features found.
        found: usize,
        /// The first that differs.
        first: String,
        /// Features learned.
        expected: usize,
        /// The one learned in its place.
        learned: String,
    },
    /// The model judges records as a whole.
    #[error(
        "the model judges whole fault records, not running samples: name a folder or a record as the source, or send rows of its {n_features} features"
    )]
    WholeRecords {
        /// Features of the model.
        n_features: usize,
    },
    /// The library of the Lab Streaming Layer is not there.
    #[error(
        "the library of the Lab Streaming Layer was not found ({tried}): install liblsl (https://github.com/sccn/liblsl/releases, or `pip install pylsl`, which brings it) and, if it is in no usual place, name the file in the variable PYLSL_LIB"
    )]
    NoLsl {
        /// Where it was looked for, and what the system said.
        tried: String,
    },
    /// No such stream.
    #[error(
        "no Lab Streaming Layer stream named {name:?} was found within {waited_s} s; there are {found}"
    )]
    NoLslStream {
        /// The name asked for.
        name: String,
        /// How long was waited.
        waited_s: f64,
        /// Names of the streams there are.
        found: String,
    },
    /// The library reports an error.
    #[error("the Lab Streaming Layer reports error {code} while {doing}")]
    Lsl {
        /// Its number.
        code: i32,
        /// What was being done.
        doing: &'static str,
    },
    /// What came in cannot be kept.
    #[error(transparent)]
    Keep(#[from] SessionError),
    /// The saved state is damaged.
    #[error("the saved state of the stream cannot be used ({reason}): remove it to begin anew: {}", path.display())]
    BadState {
        /// Why.
        reason: String,
        /// The file.
        path: PathBuf,
    },
    /// A record cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A folder cannot be listed, or its labels cannot be read.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A file gives no samples.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// The channels give no features.
    #[error(transparent)]
    Features(#[from] FeatureError),
    /// A sample cannot be classified.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A sample cannot be learned.
    #[error(transparent)]
    Learn(#[from] CorrectionError),
}

impl StreamError {
    pub(super) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            doing,
            source,
            path: path.to_owned(),
        }
    }
}
