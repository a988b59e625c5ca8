//! Intervals that quantities are drawn from, each with a stream of random numbers.

use serde::{Deserialize, Serialize};

use crate::math::{RandomStream, random_share};
use crate::settings::SettingProblems;

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
    pub(super) fn uniform(self, random: &mut RandomStream) -> f64 {
        self.low + (self.high - self.low) * random_share(random)
    }

    /// Draws so that the logarithm is uniform.
    pub(super) fn log_uniform(self, random: &mut RandomStream) -> f64 {
        let logarithms = Self::new(self.low.ln(), self.high.ln());
        // Rounding of exp(ln x) must not leave the interval.
        logarithms.uniform(random).exp().clamp(self.low, self.high)
    }

    /// Says so if the interval is empty or reaches outside `legal`.
    pub(super) fn check(self, field: &str, legal: Self, problems: &mut SettingProblems) {
        let inside = self.low >= legal.low && self.high <= legal.high && self.low <= self.high;
        let message = format!(
            "{field} must be an interval, low to high, within {} to {}, but is {} to {}",
            legal.low, legal.high, self.low, self.high
        );
        problems.require(inside, field, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::random_stream;

    #[test]
    fn log_uniform_halves_lie_either_side_of_the_geometric_mean() {
        let interval = Interval::new(0.01, 50.0);
        let middle = (0.01_f64 * 50.0).sqrt();
        let mut random = random_stream(1, "test", 0);
        let draws: Vec<f64> = (0..4000)
            .map(|_| interval.log_uniform(&mut random))
            .collect();
        let below = draws.iter().filter(|&&x| x < middle).count();
        assert!((1900..2100).contains(&below), "{below} of 4000 below");
        assert!(draws.iter().all(|x| (0.01..=50.0).contains(x)));
    }

    #[test]
    fn an_interval_outside_its_legal_range_or_upside_down_is_a_problem() {
        let legal = Interval::new(0.0, 1.0);
        for wrong in [
            Interval::new(0.5, 1.5),
            Interval::new(0.8, 0.2),
            Interval::new(f64::NAN, 1.0),
        ] {
            let mut problems = SettingProblems::default();
            wrong.check("level", legal, &mut problems);
            assert_eq!(problems.into_list().len(), 1, "{wrong:?}");
        }
    }
}
