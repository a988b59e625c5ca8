//! Which samples of a mini-batch are worth keeping.

use serde::{Deserialize, Serialize};

use super::report::{Admission, Rejection};

/// The criterion of informativeness, with its threshold: a sample is kept if its measure is below.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Growing {
    /// Every sample is kept.
    Always,
    /// max_j |k_j| / √(σ K_jj), Eq. (eqCoh) of the paper.
    Coherence {
        /// 0 to 1.
        threshold: f64,
    },
    /// 1 − r²/σ: the share of the sample that the dictionary represents.
    Representation {
        /// 0 to 1.
        threshold: f64,
    },
    /// 1 − r²/√σ as in the authors' code; not free of scale, so that it admits nearly
    /// everything where σ is large.
    RepresentationAsPublished {
        /// Up to 1.
        threshold: f64,
    },
    /// kᵀK⁻¹k/σ: the share of the sample inside the span of the kept ones.
    Projection {
        /// 0 to 1.
        threshold: f64,
    },
}

impl Growing {
    /// What is wrong with the threshold, in words.
    pub fn problem(&self) -> Option<String> {
        match *self {
            Self::Always => None,
            Self::Coherence { threshold }
            | Self::Representation { threshold }
            | Self::RepresentationAsPublished { threshold }
            | Self::Projection { threshold } => {
                if (0.0..=1.0).contains(&threshold) {
                    None
                } else {
                    Some(format!(
                        "the growing threshold must be 0 to 1, but is {threshold}"
                    ))
                }
            }
        }
    }

    /// Whether the measure needs the inverse of the kernel matrix.
    pub(super) fn needs_span(&self) -> bool {
        matches!(self, Self::Projection { .. })
    }

    /// The verdict on a sample from its largest squared coherence max k_j²/(σ K_jj), its
    /// r²/σ and its δ/σ; those that the criterion does not need are ignored.
    pub(super) fn verdict(
        &self,
        self_kernel: f64,
        squared_coherence: f64,
        residual_share: f64,
        distance_share: f64,
    ) -> Result<Admission, Rejection> {
        type Kept = fn(f64) -> Admission;
        type Refused = fn(f64) -> Rejection;
        let (measure, threshold, kept, refused): (f64, f64, Kept, Refused) = match *self {
            Self::Always => return Ok(Admission::Unmeasured),
            Self::Coherence { threshold } => (
                squared_coherence.sqrt(),
                threshold,
                Admission::Coherent,
                Rejection::Coherent,
            ),
            Self::Representation { threshold } => (
                1.0 - residual_share,
                threshold,
                Admission::Represented,
                Rejection::Represented,
            ),
            Self::RepresentationAsPublished { threshold } => (
                1.0 - residual_share * self_kernel.sqrt(),
                threshold,
                Admission::Represented,
                Rejection::Represented,
            ),
            Self::Projection { threshold } => (
                1.0 - distance_share,
                threshold,
                Admission::Projected,
                Rejection::Projected,
            ),
        };
        if measure < threshold {
            Ok(kept(measure))
        } else {
            Err(refused(measure))
        }
    }
}
