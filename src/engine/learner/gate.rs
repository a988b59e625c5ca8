//! The gate: where a sample fits no dictionary as well as training samples do, the offsets of the
//! decision layer must not decide. They were learned on whole samples; damage lowers z and leaves
//! them as they are.

use serde::{Deserialize, Serialize};

/// Share of the training samples that fit worse than a whole sample should.
const QUANTILE: f64 = 0.05;
/// Fewer training samples than this tell nothing of that share.
const FEWEST: usize = 20;
/// Most that are remembered: 800 kB.
const MOST: usize = 100_000;
/// The least weight of z once the gate is shut.
const LEAST_WEIGHT: f64 = 0.1;

/// How well the samples of the second half of the training fitted before they were learned:
/// max_c z1_c of each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsualFit {
    fits: Vec<f64>,
    n_noted: u64,
}

impl UsualFit {
    /// Notes a sample; of more than can be remembered the oldest is forgotten.
    pub(super) fn note(&mut self, fit: f64) {
        if self.fits.len() < MOST {
            self.fits.push(fit);
        } else {
            self.fits[(self.n_noted % MOST as u64) as usize] = fit;
        }
        self.n_noted += 1;
    }

    /// q05: the fit that one in twenty samples stays below; none before enough were seen.
    pub(super) fn threshold(&self) -> Option<f64> {
        if self.fits.len() < FEWEST {
            return None;
        }
        let mut sorted = self.fits.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(quantile(&sorted, QUANTILE)).filter(|q05| *q05 > 0.0)
    }
}

/// The quantile of sorted numbers, interpolated linearly.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = share * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

/// The gate of a learner at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate {
    /// q05.
    pub threshold: f64,
    /// θ of the decision layer.
    pub theta: [f64; 2],
}

impl Gate {
    /// F′ = τF + (1 − τ)·max(θ₁ + θ₂, .1)·(z1 + z2/2), τ = min(1, max(0, max_c z1_c)/q05)².
    pub(crate) fn apply(&self, evidence: impl Fn(usize) -> [f64; 2], scores: &mut [f64]) {
        let best = (0..scores.len()).map(|c| evidence(c)[0]);
        let best = best.fold(0.0_f64, f64::max);
        let openness = (best / self.threshold).min(1.0).powi(2);
        if openness >= 1.0 {
            return;
        }
        let weight = (self.theta[0] + self.theta[1]).max(LEAST_WEIGHT);
        for (c, score) in scores.iter_mut().enumerate() {
            let [z1, z2] = evidence(c);
            *score = openness * *score + (1.0 - openness) * weight * (z1 + 0.5 * z2);
        }
    }
}
