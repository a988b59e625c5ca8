//! Why a data set cannot be made or prepared.

use std::path::PathBuf;

use thiserror::Error;

use crate::records::catalog::CatalogError;
use crate::records::{ReadError, scratch_folder};
use crate::settings::SettingProblem;
use crate::simulate::SimulateError;

/// Why features cannot join those of the files before.
#[derive(Debug, Error)]
pub enum FeatureMismatch {
    /// There are more or fewer of them.
    #[error("has {found} features, but those before have {expected}: choose channels by name")]
    Count {
        /// Features of the file.
        found: usize,
        /// Features of those before.
        expected: usize,
    },
    /// One has another name.
    #[error("has feature {found:?} where those before have {expected:?}: choose channels by name")]
    Name {
        /// The first that differs.
        found: String,
        /// The one in its place before.
        expected: String,
    },
}

/// Why a data set cannot be made or prepared.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// No sample is left.
    #[error("there are no samples: every record or row was excluded, or none was given")]
    NoSamples,
    /// Everything that could have been a sample was excluded.
    #[error("no samples: all {n_left_out} files or segments were excluded; the usual reason: {reason}: {}", path.display())]
    AllExcluded {
        /// How many files, segments or rows.
        n_left_out: usize,
        /// Why most of them were excluded.
        reason: String,
        /// The first of those.
        path: PathBuf,
    },
    /// No file says how fast it was sampled.
    #[error("These files do not state a sampling rate. Enter it to continue (in the terminal: --rate HZ): {}", path.display())]
    NoRate {
        /// The first of the files.
        path: PathBuf,
    },
    /// Features that do not fit into memory cannot be written either.
    #[error("the features do not fit into memory and cannot be written to disk: {source}; make room there, or name another folder in TMPDIR: {}", folder.display())]
    NotStored {
        /// Why.
        source: std::io::Error,
        /// The folder of temporary files.
        folder: PathBuf,
    },
    /// A file was written while its features were computed.
    #[error("the file was changed while its features were computed: load the data again once it is complete; what was computed of other files is used again: {}", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A file or folder that the settings name is nowhere.
    #[error("not found: name the folder that holds it (--data DIR or ATOMSCOPE_DATA) or put it beside the session: {}", path.display())]
    NotFound {
        /// The path as the settings name it.
        path: PathBuf,
    },
    /// A file or folder does not tell what its samples and classes are.
    #[error("{reason}: {}", path.display())]
    Unclear {
        /// What is missing and what to do.
        reason: String,
        /// The file or folder.
        path: PathBuf,
    },
    /// One recording alone: nothing to learn from, but something to look at.
    #[error("{reason}: {}", path.display())]
    SingleRecording {
        /// Why it is not enough, and what to open instead.
        reason: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// Samples without features.
    #[error("there is no feature: choose at least one column or channel")]
    NoFeatures,
    /// Two parts of a set have different lengths.
    #[error("{what} must have {expected} entries, but has {found}")]
    Length {
        /// The part.
        what: &'static str,
        /// Entries found.
        found: usize,
        /// Entries needed.
        expected: usize,
    },
    /// A sample names a class, group or file that is not listed.
    #[error("a sample names a class, group or file that is not in the lists of the set")]
    Reference,
    /// A sample was asked for that does not exist.
    #[error("sample {sample} was asked for, but there are {n_samples}")]
    NoSuchSample {
        /// The position asked for.
        sample: usize,
        /// Number of samples.
        n_samples: usize,
    },
    /// A setting is wrong.
    #[error("{0}")]
    Setting(SettingProblem),
    /// A column named in the choice does not exist.
    #[error("column {name:?} is not in the table, which has {columns}: {}", path.display())]
    NoColumn {
        /// The name in the choice.
        name: String,
        /// The first columns.
        columns: String,
        /// The file.
        path: PathBuf,
    },
    /// A text column was chosen as a feature.
    #[error("column {name:?} contains text and cannot be a feature: exclude it or make it the class: {}", path.display())]
    TextColumn {
        /// The column.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// Numbers that can be read in two ways.
    #[error("the numbers of column {name:?}, such as 1,234 or 1.234, can be read in two ways: say which sign is the decimal sign and which groups thousands (--decimal comma or --decimal point, or Decimal sign on the Records page): {}", path.display())]
    Undecided {
        /// The column.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// A table and the file of its labels do not fit together.
    #[error("{} has {n_labels} rows, but the table has {n_rows}: one label for every row is needed: {}", labels.display(), path.display())]
    LabelRows {
        /// The file of labels.
        labels: PathBuf,
        /// Its rows.
        n_labels: usize,
        /// The rows of the table.
        n_rows: usize,
        /// The table.
        path: PathBuf,
    },
    /// A column with more values than a class column can have.
    #[error(
        "{name} has more than {most} different values and cannot be the class: choose another column"
    )]
    TooManyClasses {
        /// The column or array.
        name: String,
        /// The most classes allowed.
        most: usize,
    },
    /// An array does not have the shape the choice needs.
    #[error("array {name:?} has shape {shape:?}, expected {expected}: {}", path.display())]
    Shape {
        /// The array.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The shape needed.
        expected: String,
        /// The file.
        path: PathBuf,
    },
    /// A file whose features cannot join those of the files before.
    #[error("the file {reason}: {}", path.display())]
    OtherFeatures {
        /// What differs.
        reason: FeatureMismatch,
        /// The file.
        path: PathBuf,
    },
    /// Missing values, and the policy refuses them.
    #[error(
        "sample {sample} has no value for {feature:?} ({n_missing} values are missing in all): choose what to do with missing values: {}", path.display()
    )]
    Missing {
        /// The first sample with a missing value.
        sample: usize,
        /// The first feature it misses.
        feature: String,
        /// All missing values.
        n_missing: usize,
        /// The file of the sample.
        path: PathBuf,
    },
    /// A sample with another number of features than the preparation was fitted on.
    #[error("a sample has {found} features, but the model was fitted on {expected}")]
    OtherWidth {
        /// Number found.
        found: usize,
        /// Number the preparation was fitted on.
        expected: usize,
    },
    /// There is nothing to fit on.
    #[error("there are no training samples to fit scaling and missing values on")]
    NothingToFitOn,
    /// A folder or its labels cannot be used.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// Nothing can be simulated.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// The samples could not be read, or the work was cancelled.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl DatasetError {
    /// Features could not be written into the folder of temporary files.
    pub(super) fn not_stored(source: std::io::Error) -> Self {
        Self::NotStored {
            source,
            folder: scratch_folder(),
        }
    }
}
