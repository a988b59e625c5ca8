//! Every setting of a learner as plain data, its presets, and what can be wrong with it.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use super::error::LearnError;
use super::forgetting::Forgetting;
use super::growing::Growing;
use super::kernel::Kernel;
use super::pruning::{ContributionNorm, Pruning};
use super::sparse_coding::Pursuit;
use crate::settings::{SettingProblem, SettingProblems};

/// Which samples a dictionary starts from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Start {
    /// These samples of the data set, a list for every class. They stay in the stream.
    Given(Vec<Vec<usize>>),
    /// Samples drawn at random from all of the class. They stay in the stream, as in the paper.
    Random,
    /// Samples far from each other in normalised feature space, chosen one by one among
    /// the first `pool` of the stream; those passed over come next.
    FarthestFirst {
        /// How many samples are looked at.
        pool: usize,
    },
}

/// When the atoms are scaled to length 1. It changes no residual and no decision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Normalisation {
    /// Never.
    Never,
    /// After every step that removed samples.
    WhenPruned,
    /// After every n-th mini-batch.
    EveryBatches(u64),
    /// When a squared length leaves the range.
    WhenOutOfRange {
        /// The smallest Ψ_qq left alone.
        lowest: f64,
        /// The largest Ψ_qq left alone.
        highest: f64,
    },
}

/// Whose rules hold where the paper's text and its authors' code differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Conventions {
    /// The paper's text, with relative guards: grow, then prune; the budget is a promise.
    Text,
    /// The authors' code: prune, then grow; absolute guards; codes of a mini-batch must be
    /// linearly independent; the first profile is normalised; the profile may exceed its
    /// budget when no candidate can go.
    Published,
}

/// The algorithm and what only it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Algorithm {
    /// Kernel recursive least squares as the paper states it.
    Krls {
        /// Which samples are kept.
        growing: Growing,
        /// Which leave first.
        pruning: Pruning,
        /// How many samples below the budget pruning goes.
        headroom: usize,
        /// Text or authors' code.
        conventions: Conventions,
    },
    /// Evidence-preserving KRLS: a sample leaves, what it taught stays.
    Evidence {
        /// ν: a sample is kept if more than this share of it lies outside the span of the kept.
        novelty: f64,
        /// Which leave first.
        pruning: Pruning,
    },
    /// Margin-aware evidence-preserving KRLS over all classes.
    Margin {
        /// ν, as above.
        novelty: f64,
        /// Which leave first.
        pruning: Pruning,
        /// Whether the online decision layer is learned and decides; otherwise the smallest residual.
        decision_layer: bool,
        /// Whether samples that are hard to classify weigh more in the dictionary.
        error_weights: bool,
        /// κ: how strongly the memory prefers samples that were hard to classify; 0 turns it off.
        memory_of_errors: f64,
        /// Whether doubtful samples get a second look at the two best classes.
        second_look: bool,
    },
}

impl Algorithm {
    /// Which of the three it is.
    fn kind(&self) -> &'static str {
        match self {
            Self::Krls { .. } => "Krls",
            Self::Evidence { .. } => "Evidence",
            Self::Margin { .. } => "Margin",
        }
    }

    /// Which samples leave first.
    pub(super) fn pruning(&self) -> Pruning {
        match *self {
            Self::Krls { pruning, .. }
            | Self::Evidence { pruning, .. }
            | Self::Margin { pruning, .. } => pruning,
        }
    }

    /// Whether the codes of kept samples are part of the state, for the paper's algorithm
    /// or its pruning.
    pub(super) fn needs_kept_codes(&self) -> bool {
        self.pruning() != Pruning::LeastLoss
    }
}

/// Everything that determines what a learner does with a stream of samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnerSettings {
    /// The kernel.
    pub kernel: Kernel,
    /// Q, atoms per class.
    pub n_atoms: usize,
    /// s, atoms per code.
    pub sparsity: usize,
    /// How codes are found.
    pub pursuit: Pursuit,
    /// Codes stop at r² ≤ this share of k(x, x).
    pub error_limit: f64,
    /// M, samples per mini-batch and class.
    pub batch_size: usize,
    /// L_max, kept samples per class.
    pub budget: usize,
    /// Which samples a dictionary starts from.
    pub start: Start,
    /// λ.
    pub forgetting: Forgetting,
    /// γ.
    pub regularisation: f64,
    /// When atoms are scaled.
    pub normalisation: Normalisation,
    /// β of the calibrated residual (decide by r²/ρ^β, ρ the usual residual of the class); 0 turns it off.
    pub calibration: f64,
    /// The algorithm.
    pub algorithm: Algorithm,
}

impl Default for LearnerSettings {
    fn default() -> Self {
        Self::margin_aware()
    }
}

impl LearnerSettings {
    const POLYNOMIAL: Kernel = Kernel::Polynomial {
        degree: 2,
        offset: 1.0,
    };

    fn common(algorithm: Algorithm) -> Self {
        Self {
            kernel: Self::POLYNOMIAL,
            n_atoms: 30,
            sparsity: 5,
            pursuit: Pursuit::Ormp,
            error_limit: 1e-6,
            batch_size: 10,
            budget: 200,
            start: Start::FarthestFirst { pool: 100 },
            forgetting: Forgetting::PAPER,
            regularisation: 0.0,
            normalisation: Normalisation::WhenOutOfRange {
                lowest: 1e-4,
                highest: 1e4,
            },
            calibration: 0.0,
            algorithm,
        }
    }

    /// *As published*: the authors' code in every respect.
    pub fn as_published() -> Self {
        Self {
            start: Start::Random,
            ..Self::common(Algorithm::Krls {
                growing: Growing::RepresentationAsPublished { threshold: 0.93 },
                pruning: Pruning::LeastContributionOlderHalf(ContributionNorm::L1),
                headroom: 10,
                conventions: Conventions::Published,
            })
        }
    }

    /// *The paper's text*.
    pub fn paper_text() -> Self {
        Self {
            start: Start::Random,
            regularisation: 0.1,
            normalisation: Normalisation::WhenPruned,
            ..Self::common(Algorithm::Krls {
                growing: Growing::Coherence { threshold: 0.95 },
                pruning: Pruning::LeastContributionOlderHalf(ContributionNorm::L2),
                headroom: 10,
                conventions: Conventions::Text,
            })
        }
    }

    /// *Evidence-preserving*.
    pub fn evidence_preserving() -> Self {
        Self::common(Algorithm::Evidence {
            novelty: 1e-3,
            pruning: Pruning::LeastLoss,
        })
    }

    /// *Margin-aware*, the default.
    pub fn margin_aware() -> Self {
        Self {
            kernel: Kernel::NormalisedPolynomial {
                degree: 2,
                offset: 1.0,
            },
            forgetting: Forgetting {
                start_value: 0.95,
                ..Forgetting::PAPER
            },
            ..Self::common(Algorithm::Margin {
                novelty: 1e-3,
                pruning: Pruning::LeastLoss,
                decision_layer: true,
                error_weights: true,
                memory_of_errors: 300.0,
                second_look: true,
            })
        }
    }

    /// Refuses `wanted` for a learner that goes on with these settings, if it is out of range
    /// or would change what shapes the state: kernel, atoms, sparsity, kind of algorithm.
    pub fn check_change(&self, wanted: &Self) -> Result<(), LearnError> {
        wanted.check()?;
        stays("kernel", &self.kernel, &wanted.kernel)?;
        stays("n_atoms", &self.n_atoms, &wanted.n_atoms)?;
        stays("sparsity", &self.sparsity, &wanted.sparsity)?;
        let kinds = (self.algorithm.kind(), wanted.algorithm.kind());
        stays("algorithm", &kinds.0, &kinds.1)?;
        let keeps_codes = self.algorithm.needs_kept_codes();
        if wanted.algorithm.needs_kept_codes() && !keeps_codes {
            // The codes of the kept samples were not kept.
            let (present, wanted) = (self.algorithm.pruning(), wanted.algorithm.pruning());
            stays("algorithm.pruning", &present, &wanted)?;
        }
        Ok(())
    }

    /// The most samples of a class that can come or go in one step.
    pub(super) fn most_moving(&self) -> usize {
        let headroom = match self.algorithm {
            Algorithm::Krls { headroom, .. } => headroom,
            _ => 0,
        };
        self.batch_size + headroom
    }

    /// Everything that is wrong, field by field.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        let mut note = |field: &str, message: Option<String>| {
            problems.require(message.is_none(), field, message.unwrap_or_default());
        };
        note("kernel", self.kernel.check().err().map(|e| e.to_string()));
        note("start", self.start_problem());
        note("forgetting", self.forgetting.problem());
        note("normalisation", self.normalisation_problem());
        let atoms = self.n_atoms.max(1);
        for (field, value, lowest, highest) in [
            ("n_atoms", self.n_atoms, 1, 100_000),
            ("sparsity", self.sparsity, 1, atoms),
            ("batch_size", self.batch_size, 1, 1_000_000),
            ("budget", self.budget, atoms, 10_000_000),
        ] {
            problems.require_within(field, value, lowest, highest);
        }
        for (field, value, highest) in [
            ("error_limit", self.error_limit, 1.0),
            ("regularisation", self.regularisation, 1e6),
            ("calibration", self.calibration, 2.0),
        ] {
            problems.require_within(field, value, 0.0, highest);
        }
        self.algorithm_problems(&mut problems);
        problems.into_list()
    }

    fn start_problem(&self) -> Option<String> {
        match &self.start {
            Start::FarthestFirst { pool } if *pool == 0 => {
                Some("the pool of start samples must be at least 1, but is 0".into())
            }
            Start::Given(lists) => lists
                .iter()
                .position(Vec::is_empty)
                .map(|class| format!("class {class} has no given start sample")),
            _ => None,
        }
    }

    fn normalisation_problem(&self) -> Option<String> {
        match self.normalisation {
            Normalisation::EveryBatches(0) => {
                Some("normalisation must come every 1 or more mini-batches, but is 0".into())
            }
            Normalisation::WhenOutOfRange { lowest, highest }
                if !(lowest > 0.0 && lowest <= 1.0 && highest >= 1.0 && highest.is_finite()) =>
            {
                Some(format!(
                    "the range of squared atom lengths must enclose 1, but is {lowest} to {highest}"
                ))
            }
            _ => None,
        }
    }

    fn algorithm_problems(&self, problems: &mut SettingProblems) {
        match &self.algorithm {
            Algorithm::Krls {
                growing,
                pruning,
                headroom,
                ..
            } => {
                let message = growing.problem();
                problems.require(
                    message.is_none(),
                    "algorithm.growing",
                    message.unwrap_or_default(),
                );
                problems.require(
                    *pruning != Pruning::LeastLoss,
                    "algorithm.pruning",
                    "pruning by least loss needs an evidence-preserving learner".into(),
                );
                let most = self.budget.saturating_sub(self.n_atoms);
                problems.require_within("algorithm.headroom", *headroom, 0, most);
            }
            Algorithm::Evidence { novelty, .. } => {
                problems.require_within("algorithm.novelty", *novelty, 1e-12, 1.0);
            }
            Algorithm::Margin {
                novelty,
                memory_of_errors,
                ..
            } => {
                problems.require_within("algorithm.novelty", *novelty, 1e-12, 1.0);
                problems.require_within("algorithm.memory_of_errors", *memory_of_errors, 0.0, 1e9);
            }
        }
    }

    /// The first problem as an error.
    pub fn check(&self) -> Result<(), LearnError> {
        match self.problems().into_iter().next() {
            None => Ok(()),
            Some(problem) => Err(LearnError::Setting(problem.message)),
        }
    }
}

/// Refuses a change of what must stay.
fn stays<T: PartialEq + Debug>(
    field: &'static str,
    present: &T,
    wanted: &T,
) -> Result<(), LearnError> {
    if present == wanted {
        return Ok(());
    }
    Err(LearnError::FixedSetting {
        field,
        present: format!("{present:?}"),
        wanted: format!("{wanted:?}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_sound() {
        for settings in [
            LearnerSettings::as_published(),
            LearnerSettings::paper_text(),
            LearnerSettings::evidence_preserving(),
            LearnerSettings::margin_aware(),
        ] {
            assert_eq!(settings.problems(), []);
        }
    }

    #[test]
    fn a_wrong_value_is_named_with_its_range() {
        let settings = LearnerSettings {
            sparsity: 45,
            ..LearnerSettings::default()
        };
        let problems = settings.problems();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].field, "sparsity");
        assert_eq!(problems[0].message, "sparsity must be 1 to 30, but is 45");
        let settings = LearnerSettings {
            budget: 20,
            regularisation: f64::NAN,
            ..LearnerSettings::paper_text()
        };
        let problems = settings.problems();
        let fields: Vec<&str> = problems.iter().map(|p| p.field.as_str()).collect();
        assert_eq!(fields, ["budget", "regularisation", "algorithm.headroom"]);
    }
}
