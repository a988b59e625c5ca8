//! The paper's robustness test: a share of the features of every test sample set to zero.

use serde::{Deserialize, Serialize};

use crate::math::{random_below, random_stream};
use crate::settings::{SettingProblem, SettingProblems};

/// How much of each test sample is set to zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zeroing {
    /// Share of the features, 0 to 1.
    pub share: f64,
    /// Seed of the choice.
    pub seed: u64,
}

impl Zeroing {
    /// What is wrong with the settings.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        problems.require_within("share", self.share, 0.0, 1.0);
        problems.into_list()
    }

    /// Zeroes the share of a prepared sample. The features hit depend on the seed and on the sample's number in the
    /// data set alone, so that every method and every order of testing meets the same damage.
    pub fn apply(&self, sample_number: usize, values: &mut [f64]) {
        let hit = self.places(sample_number, values.len());
        for (value, _) in values.iter_mut().zip(hit).filter(|(_, hit)| *hit) {
            *value = 0.0;
        }
    }

    /// Which of `n_features` are hit.
    pub fn places(&self, sample_number: usize, n_features: usize) -> Vec<bool> {
        // Rounded to the nearest count; NaN and negative shares take nothing.
        let n_hit = (self.share * n_features as f64).round() as usize;
        let mut random = random_stream(self.seed, "zeroed features", sample_number as u64);
        let mut places: Vec<usize> = (0..n_features).collect();
        let mut hit = vec![false; n_features];
        for chosen in 0..n_hit.min(n_features) {
            let other = chosen + random_below(&mut random, places.len() - chosen);
            places.swap(chosen, other);
            hit[places[chosen]] = true;
        }
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_share_is_zeroed_and_the_seed_decides_where() {
        let zeroed = |share, seed, sample| {
            let mut values = vec![1.0; 256];
            Zeroing { share, seed }.apply(sample, &mut values);
            values
        };
        for tenth in 0..=10 {
            let share = f64::from(tenth) / 10.0;
            let n_zero = zeroed(share, 3, 0).iter().filter(|v| **v == 0.0).count();
            assert_eq!(n_zero, (share * 256.0).round() as usize);
        }
        assert_eq!(zeroed(0.5, 3, 8), zeroed(0.5, 3, 8));
        assert_ne!(zeroed(0.5, 3, 8), zeroed(0.5, 3, 9));
        assert_ne!(zeroed(0.5, 3, 8), zeroed(0.5, 4, 8));
    }

    #[test]
    fn odd_shares_are_named_and_harmless() {
        for share in [-1.0, 1.5, f64::NAN, f64::INFINITY] {
            let zeroing = Zeroing { share, seed: 0 };
            assert_eq!(zeroing.problems().len(), 1);
            zeroing.apply(0, &mut [1.0; 4]);
            zeroing.apply(0, &mut []);
        }
    }
}
