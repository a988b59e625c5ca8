//! The methods that are compared, one row each.

use super::panels::Panel;
use crate::experiment::{Experiment, Tests, Training, TrainingLength};
use crate::learner::{Kernel, LearnerSettings, Supply};

/// Mini-batches of the paper.
const PAPER_BATCHES: usize = 60;
/// Iterations of batch learners: enough for the error to settle.
const ITERATIONS: usize = 20;
/// The kernel of all published results.
const PAPER_KERNEL: Kernel = Kernel::Polynomial {
    degree: 2,
    offset: 1.0,
};

/// Which kernel a method gets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum KernelChoice {
    /// The paper's.
    Paper,
    /// The one that suits our methods on the data set.
    OfPanel,
    /// Gaussian, as wide as the usual distance between samples.
    Median,
    /// That of its own settings.
    Own,
}

/// A method of the comparison.
pub(super) struct Method {
    /// What it is called.
    pub(super) name: &'static str,
    /// What it is called in the published results.
    pub(super) published: Option<&'static str>,
    settings: LearnerSettings,
    kernel: KernelChoice,
}

impl Method {
    fn new(name: &'static str, kernel: KernelChoice, settings: LearnerSettings) -> Self {
        Self {
            name,
            published: None,
            settings,
            kernel,
        }
    }

    fn published_as(self, name: &'static str) -> Self {
        Self {
            published: Some(name),
            ..self
        }
    }

    /// The method on a data set with the paper's protocol; `median` is the usual distance
    /// between its samples.
    pub(super) fn on(&self, base: &Experiment, panel: &Panel, median: f64) -> Experiment {
        let kernel = match self.kernel {
            KernelChoice::Paper => PAPER_KERNEL,
            KernelChoice::OfPanel => panel.own_kernel,
            KernelChoice::Median => Kernel::Gaussian { width: median },
            KernelChoice::Own => self.settings.kernel,
        };
        let algorithm = &self.settings.algorithm;
        let n_rounds = match (algorithm.is_baseline(), algorithm.is_batch()) {
            (true, _) => 1,
            (_, true) => ITERATIONS,
            _ => PAPER_BATCHES,
        };
        Experiment {
            learner: LearnerSettings {
                kernel,
                ..self.settings.clone()
            },
            training: Training {
                length: TrainingLength::Batches(n_rounds),
                supply: Supply::Repeat,
            },
            tests: Tests {
                // Of a batch learner only the end counts.
                n_tests: if algorithm.is_batch() {
                    1
                } else {
                    base.tests.n_tests
                },
                ..base.tests.clone()
            },
            ..base.clone()
        }
    }
}

/// All methods, in the order of the report: the paper's, ours, baselines.
pub(super) fn methods() -> Vec<Method> {
    use KernelChoice::{Median, OfPanel, Own, Paper};
    type S = LearnerSettings;
    vec![
        Method::new("KRLS as published", Paper, S::as_published()).published_as("KRLS"),
        Method::new("OKDLRS", Paper, S::okdlrs()).published_as("OKDLRS"),
        Method::new("OKDLFB, feature space", Paper, S::okdlfb()).published_as("OKDLFB"),
        Method::new("OKDLFB, parameter space", Paper, S::okdlfb_parameter()),
        Method::new("sKDL", Paper, S::skdl()).published_as("sKDL"),
        Method::new("KMOD", Paper, S::kmod()).published_as("KMOD"),
        Method::new("kernel K-SVD", Paper, S::ksvd()),
        Method::new("KRLS as in the text", Paper, S::paper_text()),
        Method::new("RLS-DLA, linear", Own, S::rls_dla()),
        Method::new("evidence-preserving KRLS", Paper, S::evidence_preserving()),
        Method::new("margin-aware KRLS", OfPanel, S::margin_aware()),
        Method::new("nearest mean", Paper, S::nearest_mean()),
        Method::new("kernel ridge", OfPanel, S::kernel_ridge()),
        Method::new("RBF SVM", Median, S::svm()),
    ]
}
