//! Which algorithm learns, what only it needs, and what can be wrong with that.

use serde::{Deserialize, Serialize};

use super::declared;
use super::growing::Growing;
use super::pruning::Pruning;
use crate::settings::{Setting, SettingProblems};

/// Whose rules hold where a publication and the code behind the published figures differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Conventions {
    /// The publication, with guards and steps relative to the size of the data. For KRLS: grow,
    /// then prune; the budget is never exceeded.
    Text,
    /// The code behind the published figures. For KRLS: prune, then grow; absolute guards; codes
    /// of a mini-batch must be linearly independent; the first profile is normalised; the profile
    /// may exceed its budget when no candidate can go. What it means for the other learners
    /// stands with them.
    Published,
}

/// Where OKDLFB takes its gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GradientSpace {
    /// With respect to the dictionary D itself.
    Feature,
    /// With respect to the coefficients U of D = Φ Uᵀ.
    Parameter,
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
    /// Kernel method of optimal directions: batch, keeps all samples.
    Kmod {
        /// Added to the diagonal of W Wᵀ, as a share of its mean.
        ridge: f64,
    },
    /// Kernel K-SVD: batch, keeps all samples.
    Ksvd,
    /// Sparse kernel dictionary learning, online.
    Skdl {
        /// A sample is kept if less than this share of it lies in the span of the kept ones.
        threshold: f64,
        /// How many samples below the budget pruning goes.
        headroom: usize,
        /// λ₁: how sparse codes are.
        code_penalty: f64,
        /// λ₂: how sparse the coefficients of an atom are.
        atom_penalty: f64,
        /// η_w: length of the steps towards a code.
        code_rate: f64,
        /// η_u: length of the steps towards an atom.
        atom_rate: f64,
        /// Text: rates are shares of the longest sure step, codes begin at zero, atoms fit all
        /// kept samples. Published: rates as they are, codes begin at random, atoms fit the
        /// newest sample.
        conventions: Conventions,
    },
    /// Online kernel dictionary learning with row sparsity.
    Okdlrs {
        /// How many samples below the budget pruning goes.
        headroom: usize,
        /// ρ: steps are shorter than the sure ones by this factor.
        caution: f64,
        /// μ_m: the least reciprocal of a step.
        least_curvature: f64,
        /// Most alternations per mini-batch.
        alternations: usize,
        /// Text: what a mini-batch adds begins from what is learned. Published: at random.
        conventions: Conventions,
    },
    /// Online kernel dictionary learning on a fixed budget.
    Okdlfb {
        /// A sample is kept if its coherence with every kept one stays below.
        threshold: f64,
        /// How many samples below the budget pruning goes.
        headroom: usize,
        /// λ₁ of the ℓ1 penalty of codes.
        code_penalty: f64,
        /// μ: how strongly atoms are drawn towards zero.
        decay: f64,
        /// ρ: length of the gradient steps.
        rate: f64,
        /// Where the gradient is taken.
        space: GradientSpace,
        /// Text: λ₁ relative to the length of the sample, ρ to the longest sure step, atoms
        /// begin with length 1. Published: all as they are.
        conventions: Conventions,
    },
    /// A baseline: the class whose mean in feature space is nearest. Keeps all samples.
    NearestMean,
    /// A baseline: kernel ridge regression of class indicators on the kept samples of all classes.
    KernelRidge {
        /// Added to the diagonal of K, as a share of its mean.
        ridge: f64,
    },
    /// A baseline: support vector machines, one for every pair of classes. Keeps all samples.
    Svm {
        /// C: what a sample on the wrong side of its margin costs.
        cost: f64,
        /// By how much the optimality conditions may be violated.
        tolerance: f64,
    },
}

impl Algorithm {
    /// Its name in a session.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Krls { .. } => "Krls",
            Self::Evidence { .. } => "Evidence",
            Self::Margin { .. } => "Margin",
            Self::Kmod { .. } => "Kmod",
            Self::Ksvd => "Ksvd",
            Self::Skdl { .. } => "Skdl",
            Self::Okdlrs { .. } => "Okdlrs",
            Self::Okdlfb { .. } => "Okdlfb",
            Self::NearestMean => "NearestMean",
            Self::KernelRidge { .. } => "KernelRidge",
            Self::Svm { .. } => "Svm",
        }
    }

    /// Which samples leave first, where that can be chosen.
    pub fn pruning(&self) -> Option<Pruning> {
        match *self {
            Self::Krls { pruning, .. }
            | Self::Evidence { pruning, .. }
            | Self::Margin { pruning, .. } => Some(pruning),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn pruning_mut(&mut self) -> Option<&mut Pruning> {
        match self {
            Self::Krls { pruning, .. }
            | Self::Evidence { pruning, .. }
            | Self::Margin { pruning, .. } => Some(pruning),
            _ => None,
        }
    }

    /// How many samples below the budget pruning goes, where there is such a number.
    pub fn headroom(&self) -> Option<usize> {
        match *self {
            Self::Krls { headroom, .. }
            | Self::Skdl { headroom, .. }
            | Self::Okdlrs { headroom, .. }
            | Self::Okdlfb { headroom, .. } => Some(headroom),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn headroom_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Krls { headroom, .. }
            | Self::Skdl { headroom, .. }
            | Self::Okdlrs { headroom, .. }
            | Self::Okdlfb { headroom, .. } => Some(headroom),
            _ => None,
        }
    }

    /// Whether the codes of kept samples are part of the state, for the paper's algorithm
    /// or its pruning.
    pub(super) fn needs_kept_codes(&self) -> bool {
        self.pruning().is_some_and(|p| p != Pruning::LeastLoss)
    }

    /// Whether a step goes over all training samples instead of the next mini-batch.
    pub fn is_batch(&self) -> bool {
        self.is_baseline() || matches!(self, Self::Kmod { .. } | Self::Ksvd)
    }

    /// Whether one step learns everything there is to learn.
    pub fn is_baseline(&self) -> bool {
        matches!(
            self,
            Self::NearestMean | Self::KernelRidge { .. } | Self::Svm { .. }
        )
    }

    /// Whether every class keeps all of its samples, whatever the budget.
    pub fn keeps_all(&self) -> bool {
        self.is_batch() && !matches!(self, Self::KernelRidge { .. })
    }

    /// Whether an online decision layer decides.
    pub fn has_decision_layer(&self) -> bool {
        matches!(
            self,
            Self::Margin {
                decision_layer: true,
                ..
            }
        )
    }

    /// Whether what was seen is remembered when samples leave.
    pub fn remembers_all(&self) -> bool {
        matches!(self, Self::Evidence { .. } | Self::Margin { .. })
    }

    /// Whether forgetting, γ and the scaling of atoms play a part.
    pub fn is_recursive(&self) -> bool {
        matches!(
            self,
            Self::Krls { .. } | Self::Evidence { .. } | Self::Margin { .. }
        )
    }

    /// Notes what is wrong; `n_atoms` and `budget` are those of the settings.
    pub(super) fn note_problems(
        &self,
        n_atoms: usize,
        budget: usize,
        problems: &mut SettingProblems,
    ) {
        if let Some(headroom) = self.headroom() {
            let most = budget.saturating_sub(n_atoms);
            problems.require_within(declared::HEADROOM.name, headroom, 0, most);
        }
        if let Self::Krls {
            growing, pruning, ..
        } = self
        {
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
        }
        for (setting, value) in self.numbers() {
            problems.require_legal(setting, value);
        }
    }

    /// Every number with what is known of it.
    fn numbers(&self) -> Vec<(&'static Setting, f64)> {
        match *self {
            Self::Evidence { novelty, .. } => vec![(&declared::NOVELTY, novelty)],
            Self::Margin {
                novelty,
                memory_of_errors,
                ..
            } => vec![
                (&declared::NOVELTY, novelty),
                (&declared::MEMORY_OF_ERRORS, memory_of_errors),
            ],
            Self::Kmod { ridge } => vec![(&declared::KMOD_RIDGE, ridge)],
            Self::Skdl {
                threshold,
                code_penalty,
                atom_penalty,
                code_rate,
                atom_rate,
                ..
            } => vec![
                (&declared::METHOD_THRESHOLD, threshold),
                (&declared::SKDL_CODE_PENALTY, code_penalty),
                (&declared::ATOM_PENALTY, atom_penalty),
                (&declared::CODE_RATE, code_rate),
                (&declared::ATOM_RATE, atom_rate),
            ],
            Self::Okdlrs {
                caution,
                least_curvature,
                alternations,
                ..
            } => vec![
                (&declared::ALTERNATIONS, alternations as f64),
                (&declared::CAUTION, caution),
                (&declared::LEAST_CURVATURE, least_curvature),
            ],
            Self::Okdlfb {
                threshold,
                code_penalty,
                decay,
                rate,
                ..
            } => vec![
                (&declared::METHOD_THRESHOLD, threshold),
                (&declared::OKDLFB_CODE_PENALTY, code_penalty),
                (&declared::DECAY, decay),
                (&declared::STEP_RATE, rate),
            ],
            Self::KernelRidge { ridge } => vec![(&declared::KERNEL_RIDGE, ridge)],
            Self::Svm { cost, tolerance } => {
                vec![(&declared::COST, cost), (&declared::TOLERANCE, tolerance)]
            }
            Self::Krls { .. } | Self::Ksvd | Self::NearestMean => Vec::new(),
        }
    }
}
