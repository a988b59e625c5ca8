//! Random draws: one seed, and for every record or subject a stream of its own.

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

use super::SettingProblem;

/// The independent stream number `stream` of `seed`.
///
/// ChaCha's stream number is part of its key schedule: streams do not overlap,
/// so a record is the same however many others are made, in whatever order and
/// on however many threads.
pub(super) fn stream(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// A closed interval that a quantity is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// Smallest value.
    pub low: f64,
    /// Largest value.
    pub high: f64,
}

impl Interval {
    /// The interval from `low` to `high`.
    pub const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// Draws uniformly.
    pub(super) fn uniform(self, rng: &mut ChaCha8Rng) -> f64 {
        let share: f64 = rng.random();
        self.low + (self.high - self.low) * share
    }

    /// Draws so that the logarithm is uniform.
    pub(super) fn log_uniform(self, rng: &mut ChaCha8Rng) -> f64 {
        let logarithms = Self::new(self.low.ln(), self.high.ln());
        // Rounding of exp(ln x) must not leave the interval.
        logarithms.uniform(rng).exp().clamp(self.low, self.high)
    }

    /// Says so if the interval is empty or reaches outside `legal`.
    pub(super) fn check(self, setting: &str, legal: Self, problems: &mut Vec<SettingProblem>) {
        let inside = self.low >= legal.low && self.high <= legal.high && self.low <= self.high;
        if !inside {
            problems.push(SettingProblem::new(
                setting,
                format!(
                    "an interval, low to high, within {} to {}",
                    legal.low, legal.high
                ),
                format!("{} to {}", self.low, self.high),
            ));
        }
    }
}

/// Says so if `value` is not within `low` to `high` (a NaN never is).
pub(super) fn check_value<T: PartialOrd + std::fmt::Display>(
    setting: &str,
    value: T,
    low: T,
    high: T,
    problems: &mut Vec<SettingProblem>,
) {
    if !(value >= low && value <= high) {
        problems.push(SettingProblem::new(
            setting,
            format!("{low} to {high}"),
            value.to_string(),
        ));
    }
}

/// Draws from the standard normal distribution.
pub(super) struct Normal {
    spare: Option<f64>,
}

impl Normal {
    pub(super) fn new() -> Self {
        Self { spare: None }
    }

    /// One draw; Box and Muller's transform gives two at a time.
    pub(super) fn draw(&mut self, rng: &mut ChaCha8Rng) -> f64 {
        if let Some(value) = self.spare.take() {
            return value;
        }
        // 1 − u is in (0, 1], so that the logarithm is finite.
        let share: f64 = rng.random();
        let radius = (-2.0 * (1.0 - share).ln()).sqrt();
        let turn: f64 = rng.random();
        let (sine, cosine) = (TAU * turn).sin_cos();
        self.spare = Some(radius * sine);
        radius * cosine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let draw = |number| {
            let mut rng = stream(7, number);
            (0..4).map(|_| rng.random()).collect::<Vec<u64>>()
        };
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }

    #[test]
    fn log_uniform_halves_lie_either_side_of_the_geometric_mean() {
        let interval = Interval::new(0.01, 50.0);
        let middle = (0.01_f64 * 50.0).sqrt();
        let mut rng = stream(1, 0);
        let draws: Vec<f64> = (0..4000).map(|_| interval.log_uniform(&mut rng)).collect();
        let below = draws.iter().filter(|&&x| x < middle).count();
        assert!((1900..2100).contains(&below), "{below} of 4000 below");
        assert!(draws.iter().all(|x| (0.01..=50.0).contains(x)));
    }

    #[test]
    fn normal_draws_have_zero_mean_unit_variance_and_normal_tails() {
        let mut rng = stream(2, 0);
        let mut normal = Normal::new();
        let n = 40_000;
        let draws: Vec<f64> = (0..n).map(|_| normal.draw(&mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        let within = draws.iter().filter(|x| x.abs() < 1.96).count() as f64 / n as f64;
        assert!(mean.abs() < 0.02, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.03, "variance {variance}");
        assert!((within - 0.95).abs() < 0.005, "{within} within 1.96");
    }

    #[test]
    fn an_interval_outside_its_legal_range_or_upside_down_is_a_problem() {
        let legal = Interval::new(0.0, 1.0);
        for wrong in [
            Interval::new(0.5, 1.5),
            Interval::new(0.8, 0.2),
            Interval::new(f64::NAN, 1.0),
        ] {
            let mut problems = Vec::new();
            wrong.check("level", legal, &mut problems);
            assert_eq!(problems.len(), 1, "{wrong:?}");
        }
    }
}
