//! Support vector machines for every pair of classes, by sequential minimal optimisation.
//!
//! For a pair with labels y = ±1 the dual problem is
//!
//! ```text
//! min ½ Σ α_i α_j y_i y_j K_ij − Σ α_i    with 0 ≤ α_i ≤ C and Σ y_i α_i = 0
//! ```
//!
//! Two multipliers at a time are moved to their optimum: the one that violates the optimality
//! conditions most, and the partner that promises the largest gain to second order (Fan, Chen
//! and Lin 2005). The end is a violation below the tolerance.

use rayon::prelude::*;

use crate::math::Matrix;

use super::decision::Decision;
use super::dictionary::Dictionary;
use super::error::LearnError;
use super::samples::Samples;
use super::stop::StopSignal;

/// Steps per sample after which a machine is taken as it is.
const MOST_STEPS_PER_SAMPLE: usize = 1000;
/// Steps after which is looked whether the machine is still wanted.
const STEPS_BETWEEN_LOOKS: usize = 1000;
/// Curvature below which a direction counts as flat.
const FLAT: f64 = 1e-12;

/// Atom b of dictionary a becomes the part of the machine of a against b on the samples of a.
/// `cost` is C in units of 1/mean k(x, x).
pub(super) fn fit(
    dictionaries: &mut [Dictionary],
    cost: f64,
    tolerance: f64,
    stop: StopSignal<'_>,
    n_threads: usize,
) -> Result<Decision, LearnError> {
    let n_classes = dictionaries.len();
    let pairs: Vec<(usize, usize)> = (0..n_classes)
        .flat_map(|a| (a + 1..n_classes).map(move |b| (a, b)))
        .collect();
    let train = |&(a, b): &(usize, usize)| {
        stop.check()?;
        let gram = joint_gram(&dictionaries[a], &dictionaries[b]);
        let n_first = dictionaries[a].n_kept();
        Machine::train(&gram, n_first, cost, tolerance, stop)
    };
    let machines: Vec<Machine> = match n_threads > 1 {
        true => pairs.par_iter().map(train).collect::<Result<_, _>>()?,
        false => pairs.iter().map(train).collect::<Result<_, _>>()?,
    };
    let mut bias = Matrix::zeros(n_classes, n_classes);
    for dictionary in dictionaries.iter_mut() {
        dictionary.coefficients = Matrix::zeros(n_classes, dictionary.n_kept());
    }
    for (&(a, b), machine) in pairs.iter().zip(&machines) {
        let n_first = dictionaries[a].n_kept();
        let (first, second) = machine.multipliers.split_at(n_first);
        for (own, other, part) in [(a, b, first), (b, a, second)] {
            for (j, alpha) in part.iter().enumerate() {
                dictionaries[own].coefficients[(other, j)] = *alpha;
            }
        }
        bias[(a, b)] = machine.bias;
        bias[(b, a)] = -machine.bias;
    }
    Ok(Decision::Duels { bias })
}

/// The kernel matrix of the samples of two classes.
fn joint_gram(first: &Dictionary, second: &Dictionary) -> Matrix {
    let mut both = Samples::new(first.kept.n_features(), first.n_kept() + second.n_kept());
    for dictionary in [first, second] {
        (0..dictionary.n_kept()).for_each(|j| both.push_from(&dictionary.kept, j));
    }
    let mut gram = Matrix::default();
    first.kernel.gram(&both, &mut gram);
    gram
}

/// One machine: f(x) = Σ y_i α_i k(x_i, x) + bias.
struct Machine {
    multipliers: Vec<f64>,
    bias: f64,
}

/// The state of an optimisation.
struct Optimisation<'a> {
    gram: &'a Matrix,
    labels: Vec<f64>,
    multipliers: Vec<f64>,
    /// Σ_j y_i y_j K_ij α_j − 1.
    slopes: Vec<f64>,
    /// C.
    most: f64,
}

impl Machine {
    /// The machine whose first `n_first` samples have label 1 and the others −1.
    fn train(
        gram: &Matrix,
        n_first: usize,
        cost: f64,
        tolerance: f64,
        stop: StopSignal<'_>,
    ) -> Result<Self, LearnError> {
        let n = gram.rows();
        let mean = (0..n).map(|j| gram[(j, j)]).sum::<f64>() / n.max(1) as f64;
        let mut optimisation = Optimisation {
            gram,
            labels: (0..n)
                .map(|j| if j < n_first { 1.0 } else { -1.0 })
                .collect(),
            multipliers: vec![0.0; n],
            slopes: vec![-1.0; n],
            most: cost / mean,
        };
        for step in 0..MOST_STEPS_PER_SAMPLE * n {
            if step.is_multiple_of(STEPS_BETWEEN_LOOKS) {
                stop.check()?;
            }
            let Some((i, j)) = optimisation.most_violating(tolerance) else {
                break;
            };
            optimisation.move_pair(i, j);
        }
        let bias = optimisation.bias();
        Ok(Self {
            multipliers: optimisation.multipliers,
            bias,
        })
    }
}

impl Optimisation<'_> {
    /// −y_i ∇_i: how much the multiplier wants to move in the direction of its label.
    fn pull(&self, i: usize) -> f64 {
        -self.labels[i] * self.slopes[i]
    }

    /// Whether y_i α_i may still grow.
    fn may_rise(&self, i: usize) -> bool {
        match self.labels[i] > 0.0 {
            true => self.multipliers[i] < self.most,
            false => self.multipliers[i] > 0.0,
        }
    }

    /// Whether y_i α_i may still fall.
    fn may_fall(&self, i: usize) -> bool {
        match self.labels[i] > 0.0 {
            true => self.multipliers[i] > 0.0,
            false => self.multipliers[i] < self.most,
        }
    }

    /// K_ii + K_jj − 2 K_ij.
    fn curvature(&self, i: usize, j: usize) -> f64 {
        let own = self.gram[(i, i)] + self.gram[(j, j)];
        (own - 2.0 * self.gram[(i, j)]).max(FLAT * own)
    }

    /// The pair to move next; none when the conditions hold to the tolerance.
    fn most_violating(&self, tolerance: f64) -> Option<(usize, usize)> {
        let n = self.multipliers.len();
        let rising = (0..n).filter(|&i| self.may_rise(i));
        let i = rising.max_by(|&a, &b| self.pull(a).total_cmp(&self.pull(b)).then(b.cmp(&a)))?;
        let highest = self.pull(i);
        let (mut best, mut lowest) = (None, f64::INFINITY);
        for j in (0..n).filter(|&j| self.may_fall(j)) {
            let pull = self.pull(j);
            lowest = lowest.min(pull);
            let violation = highest - pull;
            if violation > 0.0 {
                let gain = violation * violation / self.curvature(i, j);
                if best.is_none_or(|(_, most)| gain > most) {
                    best = Some((j, gain));
                }
            }
        }
        let (j, _) = best?;
        (highest - lowest > tolerance).then_some((i, j))
    }

    /// Moves y_i α_i up and y_j α_j down by the same amount, as far as it pays and is allowed.
    fn move_pair(&mut self, i: usize, j: usize) {
        let room = |index: usize, label: f64| match label > 0.0 {
            true => self.most - self.multipliers[index],
            false => self.multipliers[index],
        };
        let wanted = (self.pull(i) - self.pull(j)) / self.curvature(i, j);
        let (up, down) = (room(i, self.labels[i]), room(j, -self.labels[j]));
        let step = wanted.min(up).min(down);
        for (index, direction, limit) in [(i, 1.0, up), (j, -1.0, down)] {
            let label = self.labels[index];
            let moved = self.multipliers[index] + direction * label * step;
            // At a bound exactly, so that it is known to be there.
            self.multipliers[index] = match step == limit {
                true if direction * label > 0.0 => self.most,
                true => 0.0,
                false => moved.clamp(0.0, self.most),
            };
        }
        let (first, second) = (self.gram.col(i), self.gram.col(j));
        let columns = first.iter().zip(second);
        let slopes = self.slopes.iter_mut().zip(&self.labels);
        for ((slope, label), (a, b)) in slopes.zip(columns) {
            *slope += label * step * (a - b);
        }
    }

    /// From the samples on the margin; without any, from the middle between the bounds.
    fn bias(&self) -> f64 {
        let n = self.multipliers.len();
        let (mut sum, mut count) = (0.0, 0);
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        for i in 0..n {
            let pull = self.pull(i);
            let (rise, fall) = (self.may_rise(i), self.may_fall(i));
            if rise && fall {
                sum += pull;
                count += 1;
            }
            if rise {
                highest = highest.max(pull);
            }
            if fall {
                lowest = lowest.min(pull);
            }
        }
        if count > 0 {
            sum / f64::from(count)
        } else if highest.is_finite() && lowest.is_finite() {
            0.5 * (highest + lowest)
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::kernel::Kernel;
    use crate::math::{Normal, random_stream};

    /// Two overlapping clouds of 30 samples each.
    fn gram() -> Matrix {
        let kernel = Kernel::Gaussian { width: 1.0 };
        let mut random = random_stream(2, "clouds", 0);
        let mut normal = Normal::default();
        let mut samples = Samples::new(2, 60);
        for i in 0..60 {
            let shift = if i < 30 { 0.7 } else { -0.7 };
            let x = [normal.draw(&mut random) + shift, normal.draw(&mut random)];
            samples.push(&kernel, i, &x).expect("finite");
        }
        let mut gram = Matrix::default();
        kernel.gram(&samples, &mut gram);
        gram
    }

    #[test]
    fn the_optimality_conditions_hold() {
        let gram = gram();
        for cost in [0.1, 1.0, 10.0] {
            let machine = Machine::train(&gram, 30, cost, 1e-6, StopSignal::default());
            let machine = machine.expect("nothing interrupts it");
            let label = |i: usize| if i < 30 { 1.0 } else { -1.0 };
            let balance: f64 = (0..60).map(|i| label(i) * machine.multipliers[i]).sum();
            assert!(balance.abs() < 1e-10);
            let mut bounded = 0;
            for i in 0..60 {
                let terms = (0..60).map(|j| label(j) * machine.multipliers[j] * gram[(i, j)]);
                let margin = label(i) * (terms.sum::<f64>() + machine.bias);
                let alpha = machine.multipliers[i];
                assert!((0.0..=cost).contains(&alpha));
                if alpha == 0.0 {
                    assert!(margin > 1.0 - 1e-5);
                } else if alpha == cost {
                    assert!(margin < 1.0 + 1e-5);
                    bounded += 1;
                } else {
                    assert!((margin - 1.0).abs() < 1e-5);
                }
            }
            assert!(bounded > 0, "the clouds overlap");
        }
    }
}
