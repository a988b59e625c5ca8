//! A second look at doubtful samples: the two best classes are compared directly by a
//! kernel ridge classifier on their kept samples.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::math::{Cholesky, Matrix, vectorised};

use super::block_memory::{KeptGram, Renewal};
use super::dictionary::Dictionary;
use super::error::LearnError;
use super::stop::StopSignal;

/// A sample is doubtful if no class is more probable than this.
const DOUBTFUL_BELOW: f64 = 0.9;
/// ρ, the ridge relative to the mean of k(x, x).
const RIDGE: f64 = 0.01;
/// Bound of the pair score f.
const LARGEST_PAIR_SCORE: f64 = 1.5;
/// Forgetting of the curvature h.
const CURVATURE_MEMORY: f64 = 0.98;
/// How often β is learned, in rounds.
pub(super) const LEARN_EVERY: u64 = 5;
/// Pull of β towards 1 per round.
const PULL: f64 = 0.02;
/// How often the ridge is raised tenfold should a system not factor: only rounding can make it indefinite.
const MOST_LIFTS: usize = 8;
/// Largest β.
const LARGEST_WEIGHT: f64 = 10.0;

/// Up to so many numbers memory for every pair of classes is set aside, and beyond so many what is
/// known of pairs or classes is forgotten before more is learned: 32 MB each.
const MOST_NUMBERS: usize = 4_000_000;

/// How much the second look counts: S′ = S + β g.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondLook {
    /// β.
    pub weight: f64,
    /// h.
    pub curvature: f64,
}

impl Default for SecondLook {
    fn default() -> Self {
        Self {
            weight: 1.0,
            curvature: 0.0,
        }
    }
}

/// Sums over the doubtful samples of a round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SecondLookRound {
    gradient: f64,
    curvature: f64,
}

/// The two best classes of a doubtful sample, lower number first; none if it is not doubtful.
pub(super) fn doubtful_pair(probabilities: &[f64]) -> Option<(usize, usize)> {
    let best = place_of_largest(probabilities, None)?;
    if probabilities[best] >= DOUBTFUL_BELOW {
        return None;
    }
    let second = place_of_largest(probabilities, Some(best))?;
    Some((best.min(second), best.max(second)))
}

/// The place of the largest value beside one that is left out, the first of equals.
pub(super) fn place_of_largest(values: &[f64], except: Option<usize>) -> Option<usize> {
    let mut best = None;
    for (place, value) in values.iter().enumerate() {
        let better = best.is_none_or(|other: usize| *value > values[other]);
        if Some(place) != except && better {
            best = Some(place);
        }
    }
    best
}

impl SecondLook {
    /// Takes the sums of a round:
    /// h ← .98 h + Σ curvature; β ← clip(β + [Σ gradient − .02·5 (β − 1)]/(h + 5), 0, 10).
    pub(super) fn learn(&mut self, round: SecondLookRound) {
        self.curvature = CURVATURE_MEMORY * self.curvature + round.curvature;
        let pull = PULL * LEARN_EVERY as f64 * (self.weight - 1.0);
        let step = (round.gradient - pull) / (self.curvature + LEARN_EVERY as f64);
        self.weight = (self.weight + step).clamp(0.0, LARGEST_WEIGHT);
    }
}

impl SecondLookRound {
    /// Adds a doubtful sample of `class` with pair (a, b), pair score f and p′ = softmax(S′):
    /// g_a = f, g_b = −f, all others 0.
    pub(super) fn add(
        &mut self,
        (a, b): (usize, usize),
        pair_score: f64,
        probabilities: &[f64],
        class: usize,
    ) {
        let mean = pair_score * (probabilities[a] - probabilities[b]);
        let mean_square = pair_score * pair_score * (probabilities[a] + probabilities[b]);
        let own = if class == a {
            pair_score
        } else if class == b {
            -pair_score
        } else {
            0.0
        };
        self.gradient += own - mean;
        self.curvature += mean_square - mean * mean;
    }
}

/// Solutions v_ab = (K_ab + ρσ̄ I)⁻¹ [1; −1] of class pairs, computed when first asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairSolutions {
    n_classes: usize,
    /// Pairs a < b that were asked for; empty where the dictionaries have changed since.
    solutions: HashMap<(usize, usize), Vec<f64>>,
    /// Kernel values of the second class of each pair that was asked for with the first, and of each
    /// class with itself; of what changed since they were asked for last they are computed again.
    grams: HashMap<(usize, usize), KeptGram>,
    renewal: Renewal,
    factor: Cholesky,
}

impl PairSolutions {
    /// The dictionaries have changed: solutions are forgotten.
    pub(crate) fn clear(&mut self, n_classes: usize) {
        self.n_classes = n_classes;
        self.solutions.values_mut().for_each(Vec::clear);
        self.grams.values_mut().for_each(KeptGram::outdate);
    }

    /// Makes room for the solutions of all pairs of classes that keep `budget` samples each, where
    /// that is little: a pair may be asked for the first time long after everything has settled.
    pub(super) fn reserve(&mut self, budget: usize) {
        let n_pairs = self.n_classes * self.n_classes.saturating_sub(1) / 2;
        if n_pairs.saturating_mul(2 * budget) > MOST_NUMBERS {
            return;
        }
        self.solutions.reserve(n_pairs);
        let n_grams = n_pairs + self.n_classes;
        let has_room = n_grams.saturating_mul(budget * budget) <= MOST_NUMBERS;
        if has_room {
            self.renewal.reserve(budget);
        }
        for a in 0..self.n_classes {
            for b in a..self.n_classes {
                if has_room {
                    self.grams.insert((a, b), KeptGram::with_capacity(budget));
                }
                if a < b {
                    let solution = Vec::with_capacity(2 * budget);
                    self.solutions.insert((a, b), solution);
                }
            }
        }
    }

    /// Solves for a pair that was not asked for before.
    pub(super) fn know(
        &mut self,
        pair: (usize, usize),
        (first, second): (&Dictionary, &Dictionary),
        stop: StopSignal<'_>,
    ) -> Result<(), LearnError> {
        if self.solutions.get(&pair).is_none_or(Vec::is_empty) {
            let length = first.n_kept() + second.n_kept();
            if self.solutions.len().saturating_mul(length) > MOST_NUMBERS {
                self.solutions.clear();
            }
            let mut solution = std::mem::take(self.solutions.entry(pair).or_default());
            let solved = self.solve(pair, (first, second), &mut solution, stop);
            if solved.is_err() {
                solution.clear();
            }
            self.solutions.insert(pair, solution);
            solved?;
        }
        Ok(())
    }

    /// f = clip(v_abᵀ [k_a; k_b], ±1.5) for row `row` of the kernel values of both classes,
    /// whose pair is known.
    pub(super) fn pair_score(
        &self,
        pair: (usize, usize),
        (first, _): (&Dictionary, &Dictionary),
        (first_rows, second_rows): (&Matrix, &Matrix),
        row: usize,
    ) -> f64 {
        let Some(solution) = self.solutions.get(&pair) else {
            return 0.0;
        };
        let (head, tail) = solution.split_at(first.n_kept());
        let along = |weights: &[f64], rows: &Matrix| -> f64 {
            let pairs = weights.iter().enumerate();
            pairs.map(|(j, weight)| weight * rows[(row, j)]).sum()
        };
        let score = along(head, first_rows) + along(tail, second_rows);
        if score.is_finite() {
            score.clamp(-LARGEST_PAIR_SCORE, LARGEST_PAIR_SCORE)
        } else {
            0.0
        }
    }

    /// Forgets all kernel values where those of one more pair, of so many kept samples each, would be too
    /// many.
    fn forget_grams(&mut self, n_kept: usize) {
        if (self.grams.len() * n_kept).saturating_mul(n_kept) > MOST_NUMBERS {
            self.grams.clear();
        }
    }

    /// The signal is examined between the pieces: profiles of a thousand samples make
    /// systems that take a tenth of a second.
    fn solve(
        &mut self,
        (a, b): (usize, usize),
        (first, second): (&Dictionary, &Dictionary),
        solution: &mut Vec<f64>,
        stop: StopSignal<'_>,
    ) -> Result<(), LearnError> {
        self.forget_grams(first.n_kept().max(second.n_kept()));
        for (pair, rows, columns) in [
            ((a, a), first, first),
            ((b, b), second, second),
            ((a, b), second, first),
        ] {
            stop.check()?;
            let gram = self.grams.entry(pair).or_default();
            let (rows, columns) = (&rows.kept, &columns.kept);
            gram.renew(&first.kernel, rows, columns, &mut self.renewal);
        }
        let (n_first, n_second) = (first.n_kept(), second.n_kept());
        let n = n_first + n_second;
        let Self { grams, factor, .. } = self;
        let gram = |pair: (usize, usize)| grams[&pair].values();
        let (own, other, cross) = (gram((a, a)), gram((b, b)), gram((a, b)));
        let write = |joint: &mut Matrix| {
            joint.reshape(n, n);
            // Only the lower half is read by the factorisation.
            for j in 0..n_first {
                let column = joint.col_mut(j);
                column[j..n_first].copy_from_slice(&own.col(j)[j..]);
                column[n_first..].copy_from_slice(cross.col(j));
            }
            for j in 0..n_second {
                let column = joint.col_mut(n_first + j);
                column[n_first + j..].copy_from_slice(&other.col(j)[j..]);
            }
            let trace: f64 = (0..n).map(|j| joint[(j, j)]).sum();
            RIDGE * trace / n as f64
        };
        match factor.factor_raised(MOST_LIFTS, write, || !stop.is_raised()) {
            Ok(true) => {
                solution.resize(n_first, 1.0);
                solution.resize(n, -1.0);
                vectorised(
                    #[inline(always)]
                    || factor.solve(solution),
                );
            }
            Ok(false) => return Err(LearnError::Interrupted),
            Err(_) => solution.resize(n, 0.0),
        }
        Ok(())
    }
}
