//! Codes with an ℓ1 penalty: min ½‖φ(x) − D w‖² + λ‖w‖₁ from Ψ = DᵀD and h = Dᵀφ(x).
//!
//! Coordinate descent finds which atoms take part and with which sign; steps towards the least
//! squares solution on these end it (Lee, Battle, Raina and Ng 2006 search signs in this way).

use crate::math::{Cholesky, Matrix, add_scaled, vectorised};

use super::gradient::soft;

/// Rounds of descent and solution at most.
const MOST_ROUNDS: usize = 200;
/// Sweeps over all atoms before the next solution.
const SWEEPS: usize = 10;
/// Share by which the diagonal is lifted, for atoms that depend on each other.
const LIFT: f64 = 1e-13;
/// By how much of max |h| the optimality conditions may be violated.
const TOLERANCE: f64 = 1e-10;

/// Finds codes; holds its scratch memory.
#[derive(Clone, Debug, Default)]
pub struct Lasso {
    /// h − Ψ w.
    correlations: Vec<f64>,
    active: Vec<usize>,
    part: Matrix,
    factor: Cholesky,
    solution: Vec<f64>,
}

impl Lasso {
    /// `w` ← the minimiser for the penalty λ.
    pub fn code(&mut self, gram: &Matrix, h: &[f64], penalty: f64, w: &mut Vec<f64>) {
        w.clear();
        w.resize(h.len(), 0.0);
        let largest = h.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        if largest <= penalty || !largest.is_finite() {
            return;
        }
        self.take_correlations(gram, h, w);
        for _ in 0..MOST_ROUNDS {
            for _ in 0..SWEEPS {
                self.sweep(gram, penalty, w);
            }
            self.take_correlations(gram, h, w);
            self.solve_active(gram, h, penalty, w);
            self.take_correlations(gram, h, w);
            if self.violation(penalty, w) <= TOLERANCE * largest {
                break;
            }
        }
    }

    /// h − Ψ w, again.
    fn take_correlations(&mut self, gram: &Matrix, h: &[f64], w: &[f64]) {
        self.correlations.clear();
        self.correlations.extend_from_slice(h);
        let correlations = &mut self.correlations;
        vectorised(
            #[inline(always)]
            || {
                for (q, value) in w.iter().enumerate() {
                    if *value != 0.0 {
                        add_scaled(correlations, -value, gram.col(q));
                    }
                }
            },
        );
    }

    /// Every atom in turn is set to its best value while the others stay.
    fn sweep(&mut self, gram: &Matrix, penalty: f64, w: &mut [f64]) {
        let correlations = &mut self.correlations;
        vectorised(
            #[inline(always)]
            || {
                for q in 0..w.len() {
                    let own = gram[(q, q)];
                    if !(own > 0.0 && own.is_normal()) {
                        continue;
                    }
                    let best = soft(correlations[q] + own * w[q], penalty) / own;
                    if best != w[q] {
                        add_scaled(correlations, w[q] - best, gram.col(q));
                        w[q] = best;
                    }
                }
            },
        );
    }

    /// Goes towards the least squares solution on the atoms that take part, up to the first atom
    /// whose sign would change, which then takes no part any more. Within the signs the objective
    /// is quadratic, so that this lowers it.
    fn solve_active(&mut self, gram: &Matrix, h: &[f64], penalty: f64, w: &mut [f64]) {
        self.active.clear();
        self.active.extend((0..w.len()).filter(|&q| w[q] != 0.0));
        let n = self.active.len();
        self.part.reshape(n, n);
        self.solution.clear();
        for (k, &q) in self.active.iter().enumerate() {
            self.solution.push(h[q] - penalty * w[q].signum());
            for (l, &p) in self.active.iter().enumerate() {
                self.part[(l, k)] = gram[(p, q)];
            }
            self.part[(k, k)] *= 1.0 + LIFT;
        }
        if n == 0 || self.factor.factor(self.part.view()).is_err() {
            return;
        }
        let (factor, solution) = (&self.factor, &mut self.solution);
        vectorised(
            #[inline(always)]
            || factor.solve(solution),
        );
        if self.solution.iter().any(|value| !value.is_finite()) {
            return;
        }
        let (mut share, mut first) = (1.0, None);
        for (&q, goal) in self.active.iter().zip(&self.solution) {
            let until_zero = w[q] / (w[q] - goal);
            if goal * w[q].signum() <= 0.0 && until_zero < share {
                share = until_zero;
                first = Some(q);
            }
        }
        for (&q, goal) in self.active.iter().zip(&self.solution) {
            w[q] += share * (goal - w[q]);
        }
        if let Some(q) = first {
            w[q] = 0.0;
        }
    }

    /// How far the optimality conditions are from being met: |h − Ψw| = λ on the atoms that
    /// take part and at most λ on the others.
    fn violation(&self, penalty: f64, w: &[f64]) -> f64 {
        let terms = self.correlations.iter().zip(w);
        let violation = |(c, w): (&f64, &f64)| {
            if *w == 0.0 {
                (c.abs() - penalty).max(0.0)
            } else {
                (c - penalty * w.signum()).abs()
            }
        };
        terms.map(violation).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Normal, Write, product, random_stream};

    #[test]
    fn the_optimality_conditions_hold() {
        let mut random = random_stream(6, "lasso", 0);
        let mut normal = Normal::default();
        let mut lasso = Lasso::default();
        for n_features in [3, 12, 40] {
            let atoms = Matrix::from_fn(n_features, 12, |_, _| normal.draw(&mut random));
            let x = Matrix::from_fn(n_features, 1, |_, _| normal.draw(&mut random));
            let (mut gram, mut h) = (Matrix::zeros(12, 12), Matrix::zeros(12, 1));
            let transposed = atoms.view().t();
            product(gram.view_mut(), Write::Replace, transposed, atoms.view());
            product(h.view_mut(), Write::Replace, transposed, x.view());
            for penalty in [0.01, 0.5, 2.0, 1e3] {
                let mut w = Vec::new();
                lasso.code(&gram, h.col(0), penalty, &mut w);
                lasso.take_correlations(&gram, h.col(0), &w);
                assert!(lasso.violation(penalty, &w) < 1e-8);
            }
        }
    }
}
