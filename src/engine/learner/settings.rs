//! Every setting of a learner as plain data, and what can be wrong with it.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use super::algorithm::Algorithm;
use super::declared;
use super::error::LearnError;
use super::forgetting::Forgetting;
use super::head::{Head, JOINT_UP_TO};
use super::kernel::Kernel;
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
        /// How many samples are examined.
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
    /// Which score decides, for evidence-preserving and margin-aware learners; without a choice the
    /// smallest residual, or the decision layer with or without the second look of the algorithm.
    #[serde(default)]
    pub head: Option<Head>,
    /// Whether the offsets of the decision layer count less for samples that fit no dictionary.
    #[serde(default)]
    pub gate: bool,
    /// The algorithm.
    pub algorithm: Algorithm,
}

impl LearnerSettings {
    /// Refuses `wanted` for a learner that resumes these settings, if it is out of range
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
        if wanted.needs_second_moment() && !self.needs_second_moment() {
            // What was seen so far was not remembered.
            stays("head", &self.head, &wanted.head)?;
        }
        Ok(())
    }

    /// Whether M is part of the state.
    pub(super) fn needs_second_moment(&self) -> bool {
        self.head.is_some_and(Head::needs_second_moment)
    }

    /// Whether doubtful samples of `n_classes` may get a second look.
    pub(super) fn looks_twice(&self, n_classes: usize) -> bool {
        match (self.head, &self.algorithm) {
            (None, Algorithm::Margin { second_look, .. }) => *second_look,
            (Some(Head::SecondLook), _) => true,
            (Some(head), _) if head.adds_readout() => {
                n_classes.saturating_mul(self.budget) > JOINT_UP_TO
            }
            _ => false,
        }
    }

    /// Samples of a class of `size` that leave the stream to begin with: one per atom, and at most half
    /// of the class, since a decision can only be learned from samples that are new to the dictionaries.
    pub fn n_start(&self, size: usize) -> usize {
        match self.start {
            Start::FarthestFirst { .. } => self.n_atoms.min((size / 2).max(1)),
            Start::Random | Start::Given(_) => 0,
        }
    }

    /// Takes another algorithm; a head or gate that it does not know gives way to its own decision.
    pub fn take_algorithm(&mut self, algorithm: &Algorithm) {
        self.algorithm.clone_from(algorithm);
        if self.head_problem().is_some() {
            self.head = None;
        }
        if self.gate_problem().is_some() {
            self.gate = false;
        }
    }

    fn head_problem(&self) -> Option<String> {
        let head = self.head?;
        let has_layer = self.algorithm.has_decision_layer();
        if head.uses_decision_layer() && !has_layer {
            Some(format!(
                "the head {head:?} needs a margin-aware learner with its decision layer"
            ))
        } else if !self.algorithm.remembers_all() {
            Some(format!(
                "the head {head:?} needs an evidence-preserving or margin-aware learner"
            ))
        } else {
            None
        }
    }

    fn gate_problem(&self) -> Option<String> {
        let is_layer = self.head.is_none_or(Head::uses_decision_layer);
        let gates = self.algorithm.has_decision_layer() && is_layer;
        (self.gate && !gates).then(|| {
            "the gate needs a margin-aware learner whose decision layer decides: choose a head with S".into()
        })
    }

    /// The most samples of a class that can come or go in one step.
    pub(super) fn most_moving(&self) -> usize {
        self.batch_size + self.algorithm.headroom().unwrap_or(0)
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
        note("head", self.head_problem());
        note("gate", self.gate_problem());
        let atoms = self.n_atoms.max(1);
        let most_kept = declared::BUDGET.legal().1 as usize;
        problems.require_legal(&declared::N_ATOMS, self.n_atoms as f64);
        problems.require_within(declared::SPARSITY.name, self.sparsity, 1, atoms);
        problems.require_legal(&declared::BATCH_SIZE, self.batch_size as f64);
        problems.require_within(declared::BUDGET.name, self.budget, atoms, most_kept);
        problems.require_legal(&declared::ERROR_LIMIT, self.error_limit);
        problems.require_legal(&declared::REGULARISATION, self.regularisation);
        problems.require_legal(&declared::CALIBRATION, self.calibration);
        self.algorithm
            .note_problems(self.n_atoms, self.budget, &mut problems);
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
