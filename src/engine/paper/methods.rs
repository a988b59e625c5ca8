//! The methods that are compared, one row each.

use super::panels::PaperPanel;
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
pub(super) struct PaperMethod {
    /// What it is called.
    pub(super) name: &'static str,
    /// What it is called in the published results.
    pub(super) published: Option<&'static str>,
    settings: LearnerSettings,
    kernel: KernelChoice,
}

impl PaperMethod {
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
    pub(super) fn on(&self, base: &Experiment, panel: &PaperPanel, median: f64) -> Experiment {
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
pub(super) fn methods() -> Vec<PaperMethod> {
    use KernelChoice::{Median, OfPanel, Own, Paper};
    type S = LearnerSettings;
    vec![
        PaperMethod::new("KRLS as published", Paper, S::as_published()).published_as("KRLS"),
        PaperMethod::new("OKDLRS", Paper, S::okdlrs()).published_as("OKDLRS"),
        PaperMethod::new("OKDLFB, feature space", Paper, S::okdlfb()).published_as("OKDLFB"),
        PaperMethod::new("OKDLFB, parameter space", Paper, S::okdlfb_parameter()),
        PaperMethod::new("sKDL", Paper, S::skdl()).published_as("sKDL"),
        PaperMethod::new("KMOD", Paper, S::kmod()).published_as("KMOD"),
        PaperMethod::new("kernel K-SVD", Paper, S::ksvd()),
        PaperMethod::new("KRLS as in the text", Paper, S::paper_text()),
        PaperMethod::new("RLS-DLA, linear", Own, S::rls_dla()),
        PaperMethod::new("evidence-preserving KRLS", Paper, S::evidence_preserving()),
        PaperMethod::new("margin-aware KRLS", OfPanel, S::margin_aware()),
        PaperMethod::new("nearest mean", Paper, S::nearest_mean()),
        PaperMethod::new("kernel ridge", OfPanel, S::kernel_ridge()),
        PaperMethod::new("RBF SVM", Median, S::svm()),
    ]
}
