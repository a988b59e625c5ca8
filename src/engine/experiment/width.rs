//! The median heuristic: the usual distance between samples as the width of a kernel.

use crate::dataset::{Dataset, Preparation};
use crate::learner::Kernel;

/// Samples that are compared with each other.
const MOST_COMPARED: usize = 200;

/// The median distance of prepared samples, Euclidean or (for the Laplacian) Manhattan.
pub fn median_distance(
    dataset: &Dataset,
    preparation: Preparation,
    kernel: Kernel,
) -> Result<f64, String> {
    let n_samples = dataset.n_samples();
    let stride = n_samples.div_ceil(MOST_COMPARED).max(1);
    let all: Vec<usize> = (0..n_samples).collect();
    let fitted = preparation
        .fit(dataset, &all)
        .map_err(|error| error.to_string())?;
    let mut samples = Vec::new();
    for sample in (0..n_samples).step_by(stride) {
        let mut features = dataset.sample(sample).to_vec();
        let kept = fitted.apply(&mut features);
        if kept.map_err(|error| error.to_string())?.is_some() {
            samples.push(features);
        }
    }
    let is_manhattan = matches!(kernel, Kernel::Laplacian { .. });
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
        Err("all samples are equal, so there is no distance to derive the width from".into())
    }
}
