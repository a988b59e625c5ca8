//! The median heuristic: the usual distance between samples as the width of a kernel.

use std::borrow::Cow;

use crate::dataset::{Columns, Dataset, DatasetError, Preparation};
use crate::learner::{Kernel, Radial};
use crate::math::{manhattan_distance, random_below, random_stream, squared_distance};

/// Samples that are compared with each other.
const MOST_COMPARED: usize = 200;

/// Why data give no width for a kernel.
#[derive(Debug, thiserror::Error)]
pub enum WidthError {
    /// The features cannot be prepared.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// No two samples differ.
    #[error("all samples are equal, so there is no distance to derive the width from")]
    AllEqual,
}

/// The median distance of prepared samples, Euclidean or (for the Laplacian) Manhattan.
pub fn median_distance(
    dataset: &Dataset,
    preparation: Preparation,
    kernel: Kernel,
) -> Result<f64, WidthError> {
    let n_samples = dataset.n_samples();
    let stride = n_samples.div_ceil(MOST_COMPARED).max(1);
    let all: Vec<usize> = (0..n_samples).collect();
    let fitted = preparation.fit(dataset, &all)?;
    let mut samples = Vec::new();
    for sample in (0..n_samples).step_by(stride) {
        let mut features = dataset.sample(sample).to_vec();
        if fitted.apply(&mut features)?.is_some() {
            samples.push(features);
        }
    }
    let is_manhattan = kernel.radial() == Some(Radial::Laplacian);
    let mut distances = Vec::new();
    for (place, a) in samples.iter().enumerate() {
        for b in &samples[..place] {
            let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
            distances.push(match is_manhattan {
                true => differences.sum::<f64>(),
                false => differences.map(|d| d * d).sum::<f64>().sqrt(),
            });
        }
    }
    distances.sort_by(f64::total_cmp);
    let median = distances.get(distances.len() / 2).copied().unwrap_or(0.0);
    if median > 0.0 {
        // Four digits are plenty for a heuristic and read better.
        let digits = 10_f64.powf(3.0 - median.log10().floor());
        Ok((median * digits).round() / digits)
    } else {
        Err(WidthError::AllEqual)
    }
}

/// Training samples that are compared with each other for a width that is a multiple of the median.
const MOST_DRAWN: usize = 400;

/// The median distance between prepared training samples, of which at most 400 are drawn; none
/// where they are all alike.
pub(super) fn training_median(
    values: Columns<'_>,
    training: &[usize],
    shape: Radial,
    seed: u64,
) -> Option<f64> {
    let mut drawn = training.to_vec();
    let mut random = random_stream(seed, "median", 0);
    for place in 0..drawn.len().min(MOST_DRAWN) {
        let other = place + random_below(&mut random, drawn.len() - place);
        drawn.swap(place, other);
    }
    drawn.truncate(MOST_DRAWN);
    let drawn: Vec<Cow<'_, [f64]>> = drawn.iter().map(|s| values.column(*s)).collect();
    let mut distances = Vec::with_capacity(drawn.len() * drawn.len() / 2);
    for (place, a) in drawn.iter().enumerate() {
        for b in &drawn[..place] {
            distances.push(match shape {
                Radial::Gaussian => squared_distance(a, b).sqrt(),
                Radial::Laplacian => manhattan_distance(a, b),
            });
        }
    }
    if distances.is_empty() {
        return None;
    }
    let (middle, is_odd) = (distances.len() / 2, distances.len() % 2 == 1);
    let (below, &mut upper, _) = distances.select_nth_unstable_by(middle, f64::total_cmp);
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let median = if is_odd { upper } else { 0.5 * (lower + upper) };
    (median > 0.0 && median.is_finite()).then_some(median)
}

/// Training samples that are compared with all others to see whether a kernel tells them apart.
const MOST_TOLD_APART: usize = 200;

/// Why a kernel does not tell training samples apart that differ, in words; some of them are compared with
/// all. One pair that is neither equal nor unlike is enough: samples in tight groups are similar to few.
pub(super) fn blindness(
    kernel: &Kernel,
    values: Columns<'_>,
    training: &[usize],
) -> Option<&'static str> {
    let stride = training.len().div_ceil(MOST_TOLD_APART).max(1);
    let (mut all_alike, mut all_apart) = (true, kernel.radial().is_some());
    let mut differ = false;
    for (place, &sample) in training.iter().enumerate().step_by(stride) {
        let a = values.column(sample);
        let own = kernel.value(&a, &a);
        for &other in &training[place + 1..] {
            let b = values.column(other);
            if a == b {
                continue;
            }
            let value = kernel.value(&a, &b);
            differ = true;
            all_alike &= value == own && value == kernel.value(&b, &b);
            all_apart &= value == 0.0;
            if !all_alike && !all_apart {
                return None;
            }
        }
    }
    match differ {
        false => None,
        true if all_alike => Some(
            "the features are so small, or differ so little, that the kernel takes all samples for equal",
        ),
        true => Some(
            "the features are so large, or the width so small, that the kernel takes no two samples for similar",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::View;

    #[test]
    fn a_kernel_that_takes_all_samples_for_equal_or_none_for_similar_is_told() {
        let told = |scale: f64| {
            let values: Vec<f64> = (0..10).map(|value| f64::from(value) * scale).collect();
            let all: Vec<usize> = (0..10).collect();
            let columns = Columns::from(View::from_columns(&values, 1));
            blindness(&Kernel::Gaussian { width: 1.0 }, columns, &all)
        };
        assert!(told(1e-200).is_some_and(|why| why.contains("so small, or")));
        assert!(told(1e100).is_some_and(|why| why.contains("so large")));
        assert_eq!(told(1.0), None);
        assert_eq!(told(0.0), None, "equal samples cannot be told apart");
    }

    #[test]
    fn samples_that_are_similar_to_a_few_others_are_no_reason() {
        // A thousand groups far from each other, of two samples each.
        let values: Vec<f64> = (0..2000)
            .map(|place| 1e4 * f64::from(place % 1000) + f64::from(place / 1000))
            .collect();
        let all: Vec<usize> = (0..2000).collect();
        let columns = Columns::from(View::from_columns(&values, 1));
        assert_eq!(
            blindness(&Kernel::Gaussian { width: 1.0 }, columns, &all),
            None
        );
    }
}
