//! Kernel ridge regression of class indicators on the kept samples of all classes:
//! V = (K + ρ σ̄ I)⁻¹ Y, S = Vᵀ k, the largest S_c wins.

use crate::math::{Cholesky, Matrix, vectorised};

use super::decision::Decision;
use super::dictionary::Dictionary;
use super::error::LearnError;
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
    let mut gram = Matrix::default();
    stop.check()?;
    first.kernel.block(&all, &all, &mut gram);
    let mut solutions = Matrix::zeros(n, n_classes);
    let mut row = 0;
    for (class, size) in sizes.iter().enumerate() {
        solutions.col_mut(class)[row..row + size].fill(1.0);
        row += size;
    }
    solve(&mut gram, ridge, &mut solutions, stop)?;
    let mut row = 0;
    for (dictionary, size) in dictionaries.iter_mut().zip(sizes) {
        let value = |class: usize, j: usize| solutions[(row + j, class)];
        dictionary.coefficients = Matrix::from_fn(n_classes, size, value);
        row += size;
    }
    Ok(Decision::LargestSum)
}

/// `solutions` ← (K + ρ σ̄ I)⁻¹ · `solutions`; zero where no ridge helps.
fn solve(
    gram: &mut Matrix,
    ridge: f64,
    solutions: &mut Matrix,
    stop: StopSignal<'_>,
) -> Result<(), LearnError> {
    let n = gram.rows();
    let trace: f64 = (0..n).map(|j| gram[(j, j)]).sum();
    let mut lift = ridge * trace / n.max(1) as f64;
    let targets = solutions.clone();
    let mut factor = Cholesky::default();
    for _ in 0..MOST_LIFTS {
        (0..n).for_each(|j| gram[(j, j)] += lift);
        let outcome = factor.factor_while(gram.view(), || !stop.is_raised());
        stop.check()?;
        if matches!(outcome, Ok(true)) {
            solutions.copy_from(targets.view());
            vectorised(
                #[inline(always)]
                || {
                    for class in 0..solutions.cols() {
                        factor.solve(solutions.col_mut(class));
                    }
                },
            );
            if solutions.is_finite() {
                return Ok(());
            }
        }
        lift *= 10.0;
    }
    solutions.fill(0.0);
    Ok(())
}
