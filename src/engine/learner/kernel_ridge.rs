//! Kernel ridge regression of class indicators on the kept samples of all classes:
//! V = (K + ρ σ̄ I)⁻¹ Y, S = Vᵀ k, the largest S_c wins.

use crate::math::Matrix;

use super::decision::Decision;
use super::dictionary::Dictionary;
use super::error::LearnError;
use super::readout::{mean_diagonal, solve_raised};
use super::samples::Samples;
use super::stop::StopSignal;

/// How often the ridge is made ten times as large should K not factor: only rounding can
/// make it indefinite.
const MOST_LIFTS: usize = 12;

/// The rows of V that belong to the samples of a class become its coefficients.
pub(super) fn fit(
    dictionaries: &mut [Dictionary],
    ridge: f64,
    stop: StopSignal<'_>,
) -> Result<Decision, LearnError> {
    let sizes: Vec<usize> = dictionaries.iter().map(Dictionary::n_kept).collect();
    let n: usize = sizes.iter().sum();
    let (Some(first), n_classes) = (dictionaries.first(), dictionaries.len()) else {
        return Ok(Decision::LargestSum);
    };
    let mut all = Samples::new(first.kept.n_features(), n);
    for dictionary in dictionaries.iter() {
        (0..dictionary.n_kept()).for_each(|j| all.push_from(&dictionary.kept, j));
    }
    let mut solutions = Matrix::zeros(n, n_classes);
    let mut row = 0;
    for (class, size) in sizes.iter().enumerate() {
        solutions.col_mut(class)[row..row + size].fill(1.0);
        row += size;
    }
    let write = |system: &mut Matrix| {
        first.kernel.block(&all, &all, system);
        ridge * mean_diagonal(system)
    };
    solve_raised(MOST_LIFTS, write, &mut solutions, stop)?;
    let mut row = 0;
    for (dictionary, size) in dictionaries.iter_mut().zip(sizes) {
        let value = |class: usize, j: usize| solutions[(row + j, class)];
        dictionary.coefficients = Matrix::from_fn(n_classes, size, value);
        row += size;
    }
    Ok(Decision::LargestSum)
}
