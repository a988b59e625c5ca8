//! Factoring evidence that may not determine every atom.

use crate::math::{Cholesky, Matrix};

/// Share of its evidence by which an atom is lifted when it is not determined.
const LIFT: f64 = 1e-5;
/// C_qq A_qq is at most this: the reciprocal share of its evidence that belongs to an atom alone. What
/// is computed with C loses as many digits.
const LARGEST_INFLATION: f64 = 1e5;
/// After this many lifts per atom the atoms are taken as independent.
const MOST_LIFTS_PER_ATOM: usize = 4;

/// Factors symmetric evidence with a positive diagonal. Where codes cannot tell some atoms
/// apart, the factorisation fails at one of them or leaves it a pivot below
/// `smallest_pivot` of its evidence; that atom gets a ridge, told to `lifted`
/// with its size, until the factorisation succeeds. Every lift is ten times the one before;
/// should that not be enough (numbers of absurdly different size), what the atoms share is
/// given up and the diagonal alone remains.
pub(super) fn factor_guarded(
    factor: &mut Cholesky,
    evidence: &mut Matrix,
    smallest_pivot: f64,
    mut lifted: impl FnMut(usize, f64),
) {
    let n_atoms = evidence.rows();
    let mut share = LIFT;
    for _ in 0..MOST_LIFTS_PER_ATOM * n_atoms {
        let undetermined = match factor.factor(evidence.view()) {
            Err(failure) => Some(failure.row),
            Ok(()) => (0..n_atoms).find(|&q| own_share(factor, evidence, q) < smallest_pivot),
        };
        let Some(atom) = undetermined else { return };
        let lift = share * evidence[(atom, atom)];
        evidence[(atom, atom)] += lift;
        lifted(atom, lift);
        share = (10.0 * share).min(1.0);
    }
    for j in 0..n_atoms {
        for i in 0..n_atoms {
            if i != j {
                evidence[(i, j)] = 0.0;
            }
        }
        lifted(j, 0.0);
    }
    let outcome = factor.factor(evidence.view());
    debug_assert!(outcome.is_ok(), "a positive diagonal factors");
}

/// The share of the evidence of atom `q` that belongs to it beside the atoms before it.
fn own_share(factor: &Cholesky, evidence: &Matrix, q: usize) -> f64 {
    factor.lower().at(q, q).powi(2) / evidence[(q, q)]
}

/// The smallest such share of all atoms.
pub(super) fn smallest_share(factor: &Cholesky, evidence: &Matrix) -> f64 {
    let shares = (0..evidence.rows()).map(|q| own_share(factor, evidence, q));
    shares.fold(1.0, f64::min)
}

/// Gives a ridge to atoms of whose evidence A hardly anything is their own, told to `lifted` with its
/// size. `factor` is that of A and `inverse` C = A⁻¹; both follow.
pub(super) fn bound_inflation(
    factor: &mut Cholesky,
    evidence: &mut Matrix,
    inverse: &mut Matrix,
    mut lifted: impl FnMut(usize, f64),
) {
    let mut is_raised = false;
    for q in 0..evidence.rows() {
        let own = evidence[(q, q)];
        if own * inverse[(q, q)] > LARGEST_INFLATION {
            let lift = 2.0 * own / LARGEST_INFLATION;
            evidence[(q, q)] += lift;
            lifted(q, lift);
            is_raised = true;
        }
    }
    // With more on its diagonal it factors as before.
    if is_raised && factor.factor(evidence.view()).is_ok() {
        factor.inverse_into(inverse);
    }
}
