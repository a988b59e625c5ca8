//! What can go wrong while learning for reasons outside the code.

use super::kernel::KernelError;

/// A sample or a setting that learning cannot work with.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LearnError {
    /// A setting is out of range.
    #[error("{0}")]
    Setting(String),
    /// A setting that shapes what was learned was to change on the way.
    #[error(
        "{field} must stay {present} while a learner runs, but {wanted} was requested: start a new run for it"
    )]
    FixedSetting {
        /// The setting, by the way to its field.
        field: &'static str,
        /// What it is.
        present: String,
        /// What it was to become.
        wanted: String,
    },
    /// A kernel parameter is out of range.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A sample holds NaN or infinity.
    #[error(
        "feature {feature} of sample {sample} is {value}: fill in or drop missing values before learning"
    )]
    NotFinite {
        /// Place in the data set.
        sample: usize,
        /// Which feature.
        feature: usize,
        /// What was found.
        value: f64,
    },
    /// A sample is so large that its kernel value overflows.
    #[error(
        "k(x, x) of sample {sample} is {value:e}, above 1e150: scale the features (preparation.scaling), or let the settings be chosen (--auto)"
    )]
    KernelOverflow {
        /// Place in the data set.
        sample: usize,
        /// What was found.
        value: f64,
    },
    /// A sample has another number of features than the others.
    #[error("sample {sample} has {found} features, but {expected} are expected")]
    FeatureCount {
        /// Place in the data set.
        sample: usize,
        /// Features of this sample.
        found: usize,
        /// Features of all others.
        expected: usize,
    },
    /// An index points outside the data set.
    #[error("sample {sample} was asked for, but the data set has {n_samples} samples")]
    NoSuchSample {
        /// The index asked for.
        sample: usize,
        /// Size of the data set.
        n_samples: usize,
    },
    /// A class has nothing to start from.
    #[error(
        "class {class} has no sample that differs from zero in feature space to start from: its features are all zero, or so small that the kernel takes them for zero; scale the features (preparation.scaling)"
    )]
    NothingToStartFrom {
        /// Number of the class, from 0.
        class: usize,
    },
    /// A class has more samples than a learner that keeps all of them can hold.
    #[error(
        "class {class} has {found} samples, but this learner holds the kernel matrix of all of them and takes at most {most}: thin the samples out or choose an online learner"
    )]
    TooManySamples {
        /// Number of the class, from 0.
        class: usize,
        /// Its samples.
        found: usize,
        /// Most samples.
        most: usize,
    },
    /// More samples are kept than one system of equations can hold.
    #[error(
        "{found} samples are kept in all classes together, but the readout of this head takes at most {most}: lower the budget or choose the head SecondLook"
    )]
    TooManyKept {
        /// Kept samples of all classes.
        found: usize,
        /// Most of them.
        most: usize,
    },
    /// The computation was no longer wanted; nothing has changed.
    #[error("it was cancelled")]
    Interrupted,
    /// A saved state does not fit together.
    #[error("the saved state is inconsistent: {0}")]
    BadState(String),
}
