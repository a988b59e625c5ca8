//! Forgetting schedules: how much of the past every mini-batch keeps.

use serde::{Deserialize, Serialize};

/// How λ goes from its start value to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ForgettingShape {
    /// λ₀ for ever.
    Constant,
    /// λ₀ during the ramp, then 1.
    Step,
    /// 1 − (1 − λ₀)(1 − t)
    Linear,
    /// 1 − (1 − λ₀)(1 − t)²
    Quadratic,
    /// 1 − (1 − λ₀)(1 − t)³
    Cubic,
    /// 1 − (1 − λ₀) 2^(−8t)
    Exponential,
}

/// A forgetting schedule; t runs from 0 to 1 over the ramp, afterwards λ = 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forgetting {
    /// The shape of the ramp.
    pub shape: ForgettingShape,
    /// λ₀, above 0 and at most 1.
    pub start_value: f64,
    /// The share of all mini-batches that the ramp takes, 0 to 1.
    pub ramp_share: f64,
}

impl Forgetting {
    /// The paper's schedule: linear from .98 to 1 over 80 % of the mini-batches.
    pub const PAPER: Self = Self {
        shape: ForgettingShape::Linear,
        start_value: 0.98,
        ramp_share: 0.8,
    };

    /// The same λ for every mini-batch.
    pub fn constant(value: f64) -> Self {
        Self {
            shape: ForgettingShape::Constant,
            start_value: value,
            ramp_share: 1.0,
        }
    }

    /// What is wrong with the settings, in words.
    pub fn problem(&self) -> Option<String> {
        if !(self.start_value > 0.0 && self.start_value <= 1.0) {
            return Some(format!(
                "the forgetting factor must be above 0 and at most 1, but is {}",
                self.start_value
            ));
        }
        if !(0.0..=1.0).contains(&self.ramp_share) {
            return Some(format!(
                "the ramp share must be 0 to 1, but is {}",
                self.ramp_share
            ));
        }
        None
    }

    /// λ of round `round` (from 0) out of `n_rounds`.
    pub fn factor(&self, round: usize, n_rounds: usize) -> f64 {
        if self.shape == ForgettingShape::Constant {
            return self.start_value;
        }
        let ramp = (self.ramp_share * n_rounds as f64).round() as usize;
        if round >= ramp {
            return 1.0;
        }
        let t = if ramp > 1 {
            round as f64 / (ramp - 1) as f64
        } else {
            0.0
        };
        let below_one = 1.0 - self.start_value;
        match self.shape {
            ForgettingShape::Constant | ForgettingShape::Step => self.start_value,
            ForgettingShape::Linear => self.start_value + below_one * t,
            ForgettingShape::Quadratic => 1.0 - below_one * (1.0 - t).powi(2),
            ForgettingShape::Cubic => 1.0 - below_one * (1.0 - t).powi(3),
            ForgettingShape::Exponential => 1.0 - below_one * (-8.0 * t).exp2(),
        }
    }

    /// How many mini-batches of evidence a constant λ keeps: 1/(1 − λ).
    pub fn effective_memory(factor: f64) -> f64 {
        1.0 / (1.0 - factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_schedule_ends_its_ramp_at_one() {
        let factors: Vec<f64> = (0..60).map(|b| Forgetting::PAPER.factor(b, 60)).collect();
        assert_eq!(factors[0], 0.98);
        assert!((factors[1] - (0.98 + 0.02 / 47.0)).abs() < 1e-15);
        assert!((factors[47] - 1.0).abs() < 1e-15);
        assert!(factors[48..].iter().all(|&f| f == 1.0));
    }

    #[test]
    fn every_shape_rises_from_its_start_value_to_one() {
        use ForgettingShape::*;
        for shape in [Step, Linear, Quadratic, Cubic, Exponential] {
            let schedule = Forgetting {
                shape,
                start_value: 0.9,
                ramp_share: 0.5,
            };
            let factors: Vec<f64> = (0..40).map(|b| schedule.factor(b, 40)).collect();
            assert_eq!(factors[0], 0.9, "{shape:?}");
            assert!(factors.windows(2).all(|w| w[0] <= w[1]), "{shape:?}");
            assert!(factors[20..].iter().all(|&f| f == 1.0), "{shape:?}");
        }
        assert_eq!(Forgetting::constant(0.95).factor(39, 40), 0.95);
    }

    #[test]
    fn degenerate_lengths_give_a_factor_all_the_same() {
        for n_rounds in 0..4 {
            for round in 0..6 {
                let factor = Forgetting::PAPER.factor(round, n_rounds);
                assert!((0.98..=1.0).contains(&factor));
            }
        }
    }

    #[test]
    fn wrong_values_are_named() {
        for (start_value, ramp_share) in [(0.0, 0.5), (1.1, 0.5), (f64::NAN, 0.5), (0.9, -0.1)] {
            let schedule = Forgetting {
                shape: ForgettingShape::Linear,
                start_value,
                ramp_share,
            };
            assert!(schedule.problem().is_some());
        }
    }
}
