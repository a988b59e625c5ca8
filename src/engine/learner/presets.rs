//! Settings to begin with: one preset per method, with the numbers that serve it best.

use super::algorithm::{Algorithm, Conventions, GradientSpace};
use super::forgetting::Forgetting;
use super::growing::Growing;
use super::kernel::Kernel;
use super::pruning::{ContributionNorm, Pruning};
use super::settings::{LearnerSettings, Normalisation, Start};
use super::sparse_coding::Pursuit;

/// A built-in preset.
#[derive(Clone, Debug)]
pub struct Preset {
    /// Its name in the window.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub text: &'static str,
    /// The settings.
    pub settings: LearnerSettings,
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
            head: None,
            gate: false,
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

    /// *RLS-DLA*: KRLS with the linear kernel.
    pub fn rls_dla() -> Self {
        Self {
            kernel: Kernel::Linear,
            ..Self::paper_text()
        }
    }

    /// *KMOD*.
    pub fn kmod() -> Self {
        Self::common(Algorithm::Kmod { ridge: 1e-10 })
    }

    /// *Kernel K-SVD*.
    pub fn ksvd() -> Self {
        Self::common(Algorithm::Ksvd)
    }

    /// *MOD*: KMOD with the linear kernel.
    pub fn linear_mod() -> Self {
        Self {
            kernel: Kernel::Linear,
            ..Self::kmod()
        }
    }

    /// *K-SVD*: kernel K-SVD with the linear kernel.
    pub fn linear_ksvd() -> Self {
        Self {
            kernel: Kernel::Linear,
            ..Self::ksvd()
        }
    }

    /// *sKDL*.
    pub fn skdl() -> Self {
        Self::common(Algorithm::Skdl {
            threshold: 0.999,
            headroom: 10,
            code_penalty: 0.03,
            atom_penalty: 1e-4,
            code_rate: 1.0,
            atom_rate: 1.0,
            conventions: Conventions::Text,
        })
    }

    /// *OKDLRS*.
    pub fn okdlrs() -> Self {
        Self::common(Algorithm::Okdlrs {
            headroom: 10,
            caution: 1.1,
            least_curvature: 0.0,
            alternations: 50,
            conventions: Conventions::Text,
        })
    }

    /// *OKDLFB*, gradient in feature space.
    pub fn okdlfb() -> Self {
        Self::common(Algorithm::Okdlfb {
            threshold: 0.999,
            headroom: 10,
            code_penalty: 0.05,
            decay: 1e-3,
            rate: 0.1,
            space: GradientSpace::Feature,
            conventions: Conventions::Text,
        })
    }

    /// *OKDLFB*, gradient in parameter space.
    pub fn okdlfb_parameter() -> Self {
        Self::common(Algorithm::Okdlfb {
            threshold: 0.999,
            headroom: 10,
            code_penalty: 0.2,
            decay: 1e-3,
            rate: 1.0,
            space: GradientSpace::Parameter,
            conventions: Conventions::Text,
        })
    }

    /// *Nearest mean*.
    pub fn nearest_mean() -> Self {
        Self::common(Algorithm::NearestMean)
    }

    /// *Kernel ridge*.
    pub fn kernel_ridge() -> Self {
        Self {
            kernel: Kernel::NormalisedPolynomial {
                degree: 2,
                offset: 1.0,
            },
            ..Self::common(Algorithm::KernelRidge { ridge: 0.01 })
        }
    }

    /// *SVM*.
    pub fn svm() -> Self {
        Self {
            kernel: Kernel::Gaussian { width: 4.0 },
            ..Self::common(Algorithm::Svm {
                cost: 10.0,
                tolerance: 1e-3,
            })
        }
    }

    /// All built-in presets: those of KRLS, then the methods it is compared with, then baselines.
    pub fn presets() -> Vec<Preset> {
        let preset = |name, text, settings| Preset {
            name,
            text,
            settings,
        };
        vec![
            preset(
                "As published",
                "As the authors' code runs it",
                Self::as_published(),
            ),
            preset(
                "The paper's text",
                "KRLS as the text of the paper states it",
                Self::paper_text(),
            ),
            preset(
                "Evidence-preserving",
                "A removed sample keeps its influence",
                Self::evidence_preserving(),
            ),
            preset(
                "Margin-aware",
                "Evidence-preserving, and hard samples count more; the default",
                Self::margin_aware(),
            ),
            preset(
                "RLS-DLA",
                "KRLS with the linear kernel: recursive least squares in signal space",
                Self::rls_dla(),
            ),
            preset(
                "KMOD",
                "Batch: the optimal dictionary for the codes of all samples, iterated",
                Self::kmod(),
            ),
            preset(
                "Kernel K-SVD",
                "Batch: atom by atom, together with the codes that use it",
                Self::ksvd(),
            ),
            preset(
                "sKDL",
                "Online: sparse coefficients by iterative shrinkage",
                Self::skdl(),
            ),
            preset(
                "OKDLRS",
                "Online: row sparsity by proximal alternating minimisation",
                Self::okdlrs(),
            ),
            preset(
                "OKDLFB",
                "Online: fixed budget, gradient steps in feature space",
                Self::okdlfb(),
            ),
            preset(
                "OKDLFB, parameters",
                "Online: fixed budget, gradient steps in parameter space",
                Self::okdlfb_parameter(),
            ),
            preset("MOD", "KMOD with the linear kernel", Self::linear_mod()),
            preset(
                "K-SVD",
                "Kernel K-SVD with the linear kernel",
                Self::linear_ksvd(),
            ),
            preset(
                "Nearest mean",
                "Baseline: the nearest class mean in feature space",
                Self::nearest_mean(),
            ),
            preset(
                "Kernel ridge",
                "Baseline: ridge regression on the kept samples of all classes",
                Self::kernel_ridge(),
            ),
            preset(
                "SVM",
                "Baseline: support vector machines, one for every pair of classes",
                Self::svm(),
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_sound_and_differ() {
        let presets = LearnerSettings::presets();
        for (k, preset) in presets.iter().enumerate() {
            assert_eq!(preset.settings.problems(), [], "{}", preset.name);
            for other in &presets[..k] {
                assert_ne!(preset.settings, other.settings, "{}", preset.name);
                assert_ne!(preset.name, other.name);
            }
        }
    }
}
