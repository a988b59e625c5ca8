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
    /// The same after rare extreme values were clipped at ten robust standard deviations.
    ClippedZScore,
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
    /// The same after clipping, feature by feature.
    Clipped {
        /// Smaller values become this.
        lowest: Vec<f64>,
        /// Larger values become this.
        highest: Vec<f64>,
        /// Subtracted then.
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
                (moments.mean(), moments.standard_deviation())
            }),
            Self::ClippedZScore => clipped(dataset, training, MOST_HELD),
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
            let values = dataset.sample(*sample);
            let values = values[place.clone()].iter();
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
            Self::Affine { offsets, factors } => scale(sample, offsets, factors),
            Self::Clipped {
                lowest,
                highest,
                offsets,
                factors,
            } => {
                for ((value, low), high) in sample.iter_mut().zip(lowest).zip(highest) {
                    *value = value.max(*low).min(*high);
                }
                scale(sample, offsets, factors);
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

/// (x − offset) · factor, feature by feature.
fn scale(sample: &mut [f64], offsets: &[f64], factors: &[f64]) {
    for ((value, offset), factor) in sample.iter_mut().zip(offsets).zip(factors) {
        // Asked first: the difference may overflow, and infinity times 0 is no number.
        *value = if *factor == 0.0 {
            0.0
        } else {
            (*value - offset) * factor
        };
    }
}

/// Values beyond median ± this many robust standard deviations (IQR/1.349) are clipped …
const CLIP_AT: f64 = 10.0;
/// … unless they are more than this share: then they are no accidents.
const MOST_CLIPPED: f64 = 0.005;

/// Values that are held at once to be sorted, of features on disk: every pass reads all samples.
const MOST_HELD: usize = 1 << 25;

/// Clipping and z-scores. Each feature is divided by its largest value first, so that squares of
/// extreme values neither overflow nor vanish.
fn clipped(dataset: &Dataset, training: &[usize], most_held: usize) -> FittedScaling {
    let n = dataset.n_features();
    let (mut lowest, mut highest) = (vec![f64::MIN; n], vec![f64::MAX; n]);
    let (mut offsets, mut factors) = (vec![0.0; n], vec![0.0; n]);
    let n_gathered = match dataset.values() {
        Some(_) => 1,
        None => (most_held / training.len().max(1)).clamp(1, n.max(1)),
    };
    let columns = (0..n_gathered).map(|_| Vec::with_capacity(training.len()));
    let mut columns: Vec<Vec<f64>> = columns.collect();
    for feature in 0..n {
        let place = feature % n_gathered;
        if place == 0 {
            let last = n.min(feature + n_gathered);
            columns.iter_mut().for_each(Vec::clear);
            dataset.visit(training, |sample| {
                for (column, value) in columns.iter_mut().zip(&sample[feature..last]) {
                    if value.is_finite() {
                        column.push(*value);
                    }
                }
            });
        }
        let values = &mut columns[place];
        let unit = values.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        if unit == 0.0 {
            continue;
        }
        values.iter_mut().for_each(|value| *value /= unit);
        values.sort_unstable_by(f64::total_cmp);
        if let Some((low, high)) = clip_limits(values) {
            lowest[feature] = low * unit;
            highest[feature] = high * unit;
            values
                .iter_mut()
                .for_each(|value| *value = value.clamp(low, high));
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let width = (squares / count).sqrt();
        offsets[feature] = mean * unit;
        if width > 1e-14 {
            // Below the smallest normal number the factor overflows: what is left of it tells values apart.
            factors[feature] = (1.0 / width / unit).min(f64::MAX);
        }
    }
    FittedScaling::Clipped {
        lowest,
        highest,
        offsets,
        factors,
    }
}

/// Where sorted values are clipped; nothing if they are not.
fn clip_limits(sorted: &[f64]) -> Option<(f64, f64)> {
    let quantile = |share: f64| {
        let place = share * (sorted.len() - 1) as f64;
        let below = place.floor() as usize;
        let above = (below + 1).min(sorted.len() - 1);
        sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
    };
    let (median, spread) = (quantile(0.5), quantile(0.75) - quantile(0.25));
    let reach = CLIP_AT * spread / 1.349;
    let (low, high) = (median - reach, median + reach);
    let n_hit = sorted.iter().filter(|v| **v < low || **v > high).count();
    let is_rare = n_hit as f64 <= MOST_CLIPPED * sorted.len() as f64;
    (spread > 0.0 && is_rare).then_some((low, high))
}

/// Mean, spread and range of one feature.
#[derive(Clone)]
pub(super) struct Moments {
    n: f64,
    /// What values are divided by before they are squared.
    unit: f64,
    mean: f64,
    squares: f64,
    lowest: f64,
    highest: f64,
}

impl Moments {
    fn none(unit: f64) -> Self {
        Self {
            n: 0.0,
            unit,
            mean: 0.0,
            squares: 0.0,
            lowest: f64::INFINITY,
            highest: f64::NEG_INFINITY,
        }
    }

    /// Welford's update: no difference of large sums.
    fn add(&mut self, value: f64) {
        self.n += 1.0;
        let scaled = value / self.unit;
        let before = scaled - self.mean;
        self.mean += before / self.n;
        self.squares += before * (scaled - self.mean);
        self.lowest = self.lowest.min(value);
        self.highest = self.highest.max(value);
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean * self.unit
    }

    fn standard_deviation(&self) -> f64 {
        (self.squares / self.n.max(1.0)).sqrt() * self.unit
    }

    /// A unit in which squares neither overflow nor vanish, where they do.
    fn better_unit(&self) -> f64 {
        let is_sound = self.squares.is_normal() && self.mean.is_finite();
        match self.lowest < self.highest && !is_sound {
            true => self.lowest.abs().max(self.highest.abs()),
            false => 1.0,
        }
    }
}

/// Moments of every feature over the samples given, missing values passed over.
pub(super) fn moments(dataset: &Dataset, samples: &[usize]) -> Vec<Moments> {
    let in_units = |mut moments: Vec<Moments>| {
        dataset.visit(samples, |values| {
            for (moments, value) in moments.iter_mut().zip(values) {
                if value.is_finite() {
                    moments.add(*value);
                }
            }
        });
        moments
    };
    let moments = in_units(vec![Moments::none(1.0); dataset.n_features()]);
    let units = moments.iter().map(Moments::better_unit);
    match units.clone().any(|unit| unit != 1.0) {
        true => in_units(units.map(Moments::none).collect()),
        false => moments,
    }
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
            if width.is_finite() && width > 1e-14 * scale {
                (offset, (1.0 / width).min(f64::MAX))
            } else {
                (if offset.is_finite() { offset } else { 0.0 }, 0.0)
            }
        })
        .unzip();
    FittedScaling::Affine { offsets, factors }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{DatasetParts, Origin, Place};

    #[test]
    fn scaling_of_features_on_disk_is_the_same_in_any_number_of_passes() {
        let (n_features, n_samples) = (7, 20_000);
        let origin = |row| Origin {
            source: 0,
            place: Place::Row(row),
        };
        let value = |i: usize| match i % 9_001 {
            0 => f64::NAN,
            1 => 1e6,
            _ => (i as f64 * 0.7).sin() + i as f64 * 1e-6,
        };
        let in_memory = Dataset::new(DatasetParts {
            values: (0..n_features * n_samples).map(value).collect(),
            feature_names: (0..n_features).map(|n| n.to_string()).collect(),
            class_names: vec!["only".into()],
            classes: vec![0; n_samples],
            sources: vec!["table.csv".into()],
            origins: (0..n_samples).map(origin).collect(),
            ..DatasetParts::default()
        });
        let in_memory = in_memory.expect("parts of one length");
        let on_disk = in_memory.on_disk().expect("room on disk");
        let most: Vec<usize> = (0..n_samples).filter(|sample| sample % 5 != 2).collect();
        let few: Vec<usize> = (0..n_samples).step_by(17).collect();
        for training in [most, few] {
            let expected = clipped(&in_memory, &training, MOST_HELD);
            for n_gathered in [0, 1, 2, 3, 7, 100] {
                let found = clipped(&on_disk, &training, n_gathered * training.len());
                assert_eq!(found, expected, "{n_gathered} features at once");
            }
            for scaling in [Scaling::ZScore, Scaling::MinMax, Scaling::Groups] {
                let found = scaling.fit(&on_disk, &training);
                assert_eq!(found, scaling.fit(&in_memory, &training));
            }
        }
    }
}
