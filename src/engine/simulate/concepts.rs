//! Streams of samples whose classes change their meaning: SEA and the rotating hyperplane.
//!
//! - **SEA** (Street and Kim 2001): three features, uniform from 0 to 10; the class is whether the sum of the first two
//!   reaches θ; θ is 8, 9, 7 and 9.5 in the four quarters. The third feature means nothing.
//! - **Rotating hyperplane** (Hulten, Spencer and Domingos 2001): features uniform from 0 to 1; the class is whether
//!   Σ wᵢ xᵢ reaches ½ Σ wᵢ; some of the weights move by a little with every sample and turn back now and then.
//!
//! A share of the labels is wrong in either. A sample depends on seed and number alone in SEA, on all before it in the
//! hyperplane; a longer stream begins with the same samples except for the quarters of SEA.

use serde::{Deserialize, Serialize};

use crate::math::{RandomStream, random_share, random_stream};
use crate::settings::{SettingProblem, SettingProblems};
use crate::simulate::declared;

/// Which stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Concept {
    /// Four abrupt changes of a threshold.
    Sea,
    /// A plane that turns.
    Hyperplane {
        /// Number of features.
        n_features: usize,
        /// Features whose weights move.
        n_moving: usize,
        /// Change of a weight with every sample.
        speed: f64,
    },
}

/// Everything that decides which samples are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConceptSettings {
    /// Seed of all random draws.
    pub seed: u64,
    /// Which stream.
    pub concept: Concept,
    /// Number of samples.
    pub n_samples: usize,
    /// Share of the labels that are wrong.
    pub noise: f64,
}

impl Default for ConceptSettings {
    fn default() -> Self {
        Self {
            seed: 1,
            concept: Concept::Sea,
            n_samples: 10_000,
            noise: 0.1,
        }
    }
}

/// θ of the four quarters of SEA.
const SEA_THRESHOLDS: [f64; 4] = [8.0, 9.0, 7.0, 9.5];
/// A moving weight turns back with this probability at every sample.
const TURNS_BACK: f64 = 0.01;

impl ConceptSettings {
    /// Everything that is out of range, for the text beside each field.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        problems.require_legal(&declared::N_SAMPLES, self.n_samples as f64);
        problems.require_legal(&declared::NOISE, self.noise);
        if let Concept::Hyperplane {
            n_features,
            n_moving,
            speed,
        } = self.concept
        {
            problems.require_within("concept.n_features", n_features, 2, 1000);
            problems.require_within("concept.n_moving", n_moving, 0, n_features.min(1000));
            problems.require_within("concept.speed", speed, 0.0, 1.0);
        }
        problems.into_list()
    }

    /// Names of the features.
    pub fn feature_names(&self) -> Vec<String> {
        let n_features = match self.concept {
            Concept::Sea => 3,
            Concept::Hyperplane { n_features, .. } => n_features,
        };
        (1..=n_features)
            .map(|number| format!("x{number}"))
            .collect()
    }

    /// The samples one after the other, without end: SEA repeats its quarters after `n_samples`.
    pub fn stream(&self) -> ConceptStream {
        let mut random = random_stream(self.seed, "concepts", 0);
        let weights = match self.concept {
            Concept::Sea => Vec::new(),
            Concept::Hyperplane { n_features, .. } => {
                (0..n_features).map(|_| random_share(&mut random)).collect()
            }
        };
        ConceptStream {
            directions: vec![1.0; weights.len()],
            weights,
            random,
            n_drawn: 0,
            settings: self.clone(),
        }
    }
}

/// The classes: below, and at or above the threshold.
pub const CONCEPT_CLASSES: [&str; 2] = ["below", "above"];

/// Samples being drawn.
#[derive(Clone, Debug)]
pub struct ConceptStream {
    settings: ConceptSettings,
    random: RandomStream,
    weights: Vec<f64>,
    directions: Vec<f64>,
    n_drawn: usize,
}

impl ConceptStream {
    /// Draws the next sample: its features, and its class as a place in [`CONCEPT_CLASSES`].
    pub fn draw(&mut self, features: &mut Vec<f64>) -> usize {
        features.clear();
        let is_above = match self.settings.concept {
            Concept::Sea => {
                features.extend((0..3).map(|_| 10.0 * random_share(&mut self.random)));
                let quarter = self.settings.n_samples.div_ceil(4).max(1);
                let threshold = SEA_THRESHOLDS[self.n_drawn / quarter % 4];
                features[0] + features[1] >= threshold
            }
            Concept::Hyperplane {
                n_features,
                n_moving,
                speed,
            } => {
                features.extend((0..n_features).map(|_| random_share(&mut self.random)));
                let sum: f64 = features.iter().zip(&self.weights).map(|(x, w)| x * w).sum();
                let half = 0.5 * self.weights.iter().sum::<f64>();
                for moving in 0..n_moving {
                    self.weights[moving] += self.directions[moving] * speed;
                    if random_share(&mut self.random) < TURNS_BACK {
                        self.directions[moving] *= -1.0;
                    }
                }
                sum >= half
            }
        };
        self.n_drawn += 1;
        let is_wrong = random_share(&mut self.random) < self.settings.noise;
        usize::from(is_above != is_wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(settings: &ConceptSettings, n: usize) -> Vec<(Vec<f64>, usize)> {
        let mut stream = settings.stream();
        let mut features = Vec::new();
        (0..n)
            .map(|_| {
                let class = stream.draw(&mut features);
                (features.clone(), class)
            })
            .collect()
    }

    #[test]
    fn classes_of_sea_follow_the_threshold_of_their_quarter() {
        let settings = ConceptSettings {
            noise: 0.0,
            n_samples: 4000,
            ..ConceptSettings::default()
        };
        for (number, (x, class)) in drawn(&settings, 4000).into_iter().enumerate() {
            let threshold = [8.0, 9.0, 7.0, 9.5][number / 1000];
            assert_eq!(class == 1, x[0] + x[1] >= threshold, "sample {number}");
        }
    }

    #[test]
    fn a_share_of_the_labels_is_wrong_and_the_seed_decides_which() {
        let noisy = ConceptSettings {
            noise: 0.2,
            ..ConceptSettings::default()
        };
        let wrong = drawn(&noisy, 2000)
            .iter()
            .filter(|(x, class)| (x[0] + x[1] >= 8.0) != (*class == 1))
            .count();
        assert!((340..460).contains(&wrong), "{wrong} of 2000");
        assert_eq!(drawn(&noisy, 50), drawn(&noisy, 50));
        let other = ConceptSettings { seed: 2, ..noisy };
        assert_ne!(drawn(&other, 50), drawn(&ConceptSettings::default(), 50));
    }

    #[test]
    fn the_plane_turns_and_both_classes_stay() {
        let settings = ConceptSettings {
            concept: Concept::Hyperplane {
                n_features: 10,
                n_moving: 5,
                speed: 0.005,
            },
            noise: 0.0,
            ..ConceptSettings::default()
        };
        let mut stream = settings.stream();
        let first = stream.weights.clone();
        let mut features = Vec::new();
        let above: usize = (0..5000).map(|_| stream.draw(&mut features)).sum();
        assert!((1500..3500).contains(&above), "{above} of 5000");
        let moved = first.iter().zip(&stream.weights);
        let moved: Vec<bool> = moved.map(|(a, b)| (a - b).abs() > 1e-6).collect();
        assert_eq!(moved.iter().filter(|moved| **moved).count(), 5);
        assert!(moved[..5].iter().all(|moved| *moved));
    }
}
