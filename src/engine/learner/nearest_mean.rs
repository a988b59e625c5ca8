//! The nearest class mean in feature space: ‖φ(x) − m‖² = σ − 2 (1/n) Σ k(x, x_j) + ‖m‖².

use crate::math::Matrix;

use super::decision::Decision;
use super::dictionary::Dictionary;

/// The single atom of every class becomes the mean of its samples.
pub(super) fn fit(dictionaries: &mut [Dictionary]) -> Decision {
    for dictionary in dictionaries {
        let n = dictionary.n_kept();
        dictionary.coefficients = Matrix::from_fn(1, n, |_, _| 1.0 / n as f64);
    }
    Decision::NearestMean
}
