//! What speaks against keeping samples of a mini-batch: coherence with kept ones, and codes
//! that depend on each other.

use crate::math::{Matrix, add_scaled, dot, vectorised};

use super::super::report::{ClassReport, Rejection};
use super::super::samples::Samples;
use super::KrlsScratch;

/// max_j k_j²/(σ K_jj) of every sample of a mini-batch, Eq. (eqCoh) squared.
pub(super) fn measure_coherence(
    kernel_rows: &Matrix,
    kept: &Samples,
    batch: &Samples,
    reciprocals: &mut Vec<f64>,
    coherences: &mut Vec<f64>,
) {
    reciprocals.clear();
    reciprocals.extend_from_slice(kept.self_kernel());
    coherences.clear();
    coherences.resize(batch.len(), 0.0);
    vectorised(
        #[inline(always)]
        || {
            for own in reciprocals.iter_mut() {
                *own = if *own > 0.0 { 1.0 / *own } else { 0.0 };
            }
            let mut row = largest_squares::<8>(coherences, 0, kernel_rows, reciprocals);
            row = largest_squares::<2>(coherences, row, kernel_rows, reciprocals);
            largest_squares::<1>(coherences, row, kernel_rows, reciprocals);
        },
    );
    for (coherence, own) in coherences.iter_mut().zip(batch.self_kernel()) {
        *coherence /= own;
    }
}

/// max_j scale_j k_j² in pieces of `N` rows from `row` on; returns the first row left.
#[inline(always)]
fn largest_squares<const N: usize>(
    largest: &mut [f64],
    mut row: usize,
    kernel_rows: &Matrix,
    scales: &[f64],
) -> usize {
    for piece in largest[row..].chunks_exact_mut(N) {
        let mut found = [0.0; N];
        for (j, scale) in scales.iter().enumerate() {
            let values = &kernel_rows.col(j)[row..row + N];
            for (found, k) in found.iter_mut().zip(values) {
                let value = k * k * scale;
                *found = if value > *found { value } else { *found };
            }
        }
        piece.copy_from_slice(&found);
        row += N;
    }
    row
}

/// Published: accepted codes must be linearly independent; later dependent ones are dropped.
pub(super) fn drop_dependent_codes(
    work: &mut KrlsScratch,
    n_atoms: usize,
    batch: &Samples,
    report: &mut ClassReport,
) {
    work.directions.reshape(n_atoms, n_atoms);
    let mut rank = 0;
    let (codes, directions, vector) = (&work.view.codes, &mut work.directions, &mut work.vector);
    vector.resize(n_atoms, 0.0);
    work.accepted.retain(|&i| {
        vector.fill(0.0);
        for (atom, value) in codes.pairs(i) {
            vector[atom] += value;
        }
        let before = dot(vector, vector);
        for k in 0..rank {
            let direction = directions.col(k);
            let along = dot(direction, vector);
            add_scaled(vector, -along, direction);
        }
        let after = dot(vector, vector);
        let independent = after > 1e-20 * before && after > 0.0 && rank < n_atoms;
        if independent {
            let scale = 1.0 / after.sqrt();
            let column = directions.col_mut(rank).iter_mut();
            column
                .zip(vector.iter())
                .for_each(|(target, value)| *target = value * scale);
            rank += 1;
        } else {
            let reason = Rejection::DependentCode;
            report.rejected.push((batch.index()[i], reason));
        }
        independent
    });
}
