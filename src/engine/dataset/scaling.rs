//! Scaling of features, fitted on training samples and kept with the trained model.

use serde::{Deserialize, Serialize};

use super::Dataset;
use crate::math::squared_distance;

/// How features are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Scaling {
    /// Not at all.
    #[default]
    // RON reads and writes `None` for an option.
    #[serde(rename = "AsIs", alias = "None")]
    None,
    /// To mean 0 and standard deviation 1, feature by feature.
    ZScore,
    /// From the range of the training samples to 0…1, feature by feature.
    MinMax,
    /// Every sample to length 1.
    UnitNorm,
    /// To mean 0 and standard deviation 1, feature by feature, then every group of features divided by the median
    /// distance of the training samples in it: each group counts alike, whatever its size.
    Groups,
}

/// Scaling with the numbers of the training samples in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FittedScaling {
    /// Not at all.
    None,
    /// `(x − offset) · factor`, feature by feature.
    Affine {
        /// Subtracted first.
        offsets: Vec<f64>,
        /// Multiplied then; 0 for a feature that never changes in training.
        factors: Vec<f64>,
    },
    /// Every sample to length 1; a sample of length 0 stays.
    UnitNorm,
}

impl Scaling {
    /// Fits on the training samples; missing values are passed over.
    pub fn fit(self, dataset: &Dataset, training: &[usize]) -> FittedScaling {
        match self {
            Self::None => FittedScaling::None,
            Self::UnitNorm => FittedScaling::UnitNorm,
            Self::ZScore => affine(dataset, training, |moments| {
                (moments.mean, moments.standard_deviation())
            }),
            Self::Groups => {
                let mut scaling = Self::ZScore.fit(dataset, training);
                if let FittedScaling::Affine { offsets, factors } = &mut scaling {
                    even_groups(dataset, training, offsets, factors);
                }
                scaling
            }
            Self::MinMax => affine(dataset, training, |moments| {
                (moments.lowest, moments.highest - moments.lowest)
            }),
        }
    }
}

/// Training samples whose distances are compared at most.
const MOST_COMPARED: usize = 400;

/// Divides the factors of every group by the median distance of its scaled training samples.
fn even_groups(dataset: &Dataset, training: &[usize], offsets: &[f64], factors: &mut [f64]) {
    let stride = training.len().div_ceil(MOST_COMPARED).max(1);
    let compared: Vec<usize> = training.iter().copied().step_by(stride).collect();
    let sizes: Vec<usize> = match dataset.feature_groups() {
        [] => vec![dataset.n_features()],
        groups => groups.iter().map(|group| group.n_features).collect(),
    };
    let mut first = 0;
    for size in sizes {
        let place = first..first + size;
        first = place.end;
        let scaled = |sample: &usize| -> Vec<f64> {
            let values = dataset.sample(*sample)[place.clone()].iter();
            let scale = offsets[place.clone()].iter().zip(&factors[place.clone()]);
            let scaled = values.zip(scale).map(|(value, (offset, factor))| {
                // A constant feature and a missing value are no distance.
                let scaled = (value - offset) * factor;
                if scaled.is_finite() { scaled } else { 0.0 }
            });
            scaled.collect()
        };
        let samples: Vec<Vec<f64>> = compared.iter().map(scaled).collect();
        if let Some(median) = median_distance(&samples) {
            factors[place].iter_mut().for_each(|f| *f /= median);
        }
    }
}

/// The median Euclidean distance of samples; none where it is 0.
pub(super) fn median_distance(samples: &[Vec<f64>]) -> Option<f64> {
    let mut distances = Vec::with_capacity(samples.len() * samples.len().saturating_sub(1) / 2);
    for (place, a) in samples.iter().enumerate() {
        for b in &samples[..place] {
            distances.push(squared_distance(a, b));
        }
    }
    let n = distances.len();
    if n == 0 {
        return None;
    }
    let (_, middle, _) = distances.select_nth_unstable_by(n / 2, f64::total_cmp);
    let upper = middle.sqrt();
    let median = if n % 2 == 1 {
        upper
    } else {
        let below = distances[..n / 2].iter().copied().fold(0.0, f64::max);
        0.5 * (below.sqrt() + upper)
    };
    (median > 0.0 && median.is_finite()).then_some(median)
}

impl FittedScaling {
    /// Scales one sample in place.
    pub fn apply(&self, sample: &mut [f64]) {
        match self {
            Self::None => {}
            Self::Affine { offsets, factors } => {
                for ((value, offset), factor) in sample.iter_mut().zip(offsets).zip(factors) {
                    // Asked first: the difference may overflow, and infinity times 0 is no number.
                    *value = if *factor == 0.0 {
                        0.0
                    } else {
                        (*value - offset) * factor
                    };
                }
            }
            Self::UnitNorm => {
                // Divided by the largest first, so that squares neither overflow nor vanish.
                let largest = sample.iter().fold(0.0f64, |most, v| most.max(v.abs()));
                if largest > 0.0 {
                    let power = |v: &f64| (v / largest) * (v / largest);
                    let power: f64 = sample.iter().filter(|v| v.is_finite()).map(power).sum();
                    let length = power.sqrt();
                    sample.iter_mut().for_each(|v| *v = *v / largest / length);
                }
            }
        }
    }
}

/// Mean, spread and range of one feature.
#[derive(Clone)]
pub(super) struct Moments {
    n: f64,
    pub(super) mean: f64,
    squares: f64,
    lowest: f64,
    highest: f64,
}

impl Moments {
    fn none() -> Self {
        Self {
            n: 0.0,
            mean: 0.0,
            squares: 0.0,
            lowest: f64::INFINITY,
            highest: f64::NEG_INFINITY,
        }
    }

    /// Welford's update: no difference of large sums.
    fn add(&mut self, value: f64) {
        self.n += 1.0;
        let before = value - self.mean;
        self.mean += before / self.n;
        self.squares += before * (value - self.mean);
        self.lowest = self.lowest.min(value);
        self.highest = self.highest.max(value);
    }

    fn standard_deviation(&self) -> f64 {
        (self.squares / self.n.max(1.0)).sqrt()
    }
}

/// Moments of every feature over the samples given, missing values passed over.
pub(super) fn moments(dataset: &Dataset, samples: &[usize]) -> Vec<Moments> {
    let mut moments = vec![Moments::none(); dataset.n_features()];
    for sample in samples {
        let values = dataset.sample(*sample);
        for (moments, value) in moments.iter_mut().zip(values) {
            if value.is_finite() {
                moments.add(*value);
            }
        }
    }
    moments
}

fn affine(
    dataset: &Dataset,
    training: &[usize],
    offset_and_width: impl Fn(&Moments) -> (f64, f64),
) -> FittedScaling {
    let (offsets, factors) = moments(dataset, training)
        .iter()
        .map(|moments| {
            let (offset, width) = offset_and_width(moments);
            // A width that is only rounding would blow up noise.
            let scale = moments.lowest.abs().max(moments.highest.abs());
            if width.is_finite() && width > 1e-14 * scale && (1.0 / width).is_finite() {
                (offset, 1.0 / width)
            } else {
                (if offset.is_finite() { offset } else { 0.0 }, 0.0)
            }
        })
        .unzip();
    FittedScaling::Affine { offsets, factors }
}
