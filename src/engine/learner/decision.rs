//! From residuals to a class: smallest residual, calibrated residual, or an online logit.

use serde::{Deserialize, Serialize};

use crate::math::{Cholesky, Matrix, Write, product};

use super::second_look::SecondLook;

/// How the class of a sample is decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Decision {
    /// The smallest r² wins.
    SmallestResidual,
    /// The smallest r²/ρ^β wins, ρ being what is usual for the class.
    CalibratedResidual {
        /// β.
        exponent: f64,
        /// ρ of every class.
        usual: Vec<f64>,
    },
    /// The largest score of an online multinomial logit wins.
    OnlineLogit(OnlineLogit),
    /// The nearest mean in feature space wins: the single atom of a class is its mean.
    NearestMean,
    /// The largest discriminant function wins. Atom c of every dictionary is the part of that of
    /// class c that lies on the dictionary's samples; the parts add up.
    LargestSum,
    /// The class that wins most of its duels. Atom b of dictionary a is the part of the duel of
    /// a against b that lies on the samples of a: a wins if ⟨a's part⟩ − ⟨b's part⟩ + bias_ab > 0.
    Duels {
        /// bias_ab, the negative of bias_ba.
        bias: Matrix,
    },
}

/// Memory of the usual residual: ρ ← .95 ρ + .05 · mean(r²/σ).
const USUAL_RESIDUAL_MEMORY: f64 = 0.95;
/// The smallest r²/σ that counts.
const SMALLEST_RESIDUAL: f64 = 1e-9;
/// The smallest δ/σ that counts.
pub(super) const SMALLEST_DISTANCE: f64 = 1e-6;
/// Forgetting of the curvature H from round to round.
const CURVATURE_MEMORY: f64 = 0.98;
/// Added to the diagonal of H in every round.
const CURVATURE_RIDGE: f64 = 1e-3;
/// Numbers that are kept of the evidence of a round at most: 2 MB. Of more samples only some are kept.
const MOST_EVIDENCE: usize = 1 << 18;
/// Newton steps of a fit to a round at most, and halvings of each.
const FIT_STEPS: usize = 20;
const HALVINGS: i32 = 20;
/// A fit ends when a step lowers the loss by less than this share.
const FIT_ENOUGH: f64 = 1e-6;

impl Decision {
    /// Whether the distance to the span of the kept samples is part of the score.
    pub fn needs_distance(&self) -> bool {
        matches!(self, Self::OnlineLogit(_))
    }

    /// The score of `class` from r² and δ relative to σ, for decisions that see each class alone;
    /// the largest score wins.
    pub fn score(&self, class: usize, residual_share: f64, distance_share: f64) -> f64 {
        match self {
            Self::SmallestResidual | Self::NearestMean | Self::LargestSum | Self::Duels { .. } => {
                -residual_share
            }
            Self::CalibratedResidual { exponent, usual } => {
                -residual_share / usual[class].max(SMALLEST_RESIDUAL).powf(*exponent)
            }
            Self::OnlineLogit(logit) => {
                logit.score(class, evidence_of(residual_share, distance_share))
            }
        }
    }

    /// Calibrates the residuals of `n_classes` with exponent β, or no longer if β = 0.
    pub(super) fn calibrate(&mut self, exponent: f64, n_classes: usize) {
        let usual = match std::mem::replace(self, Self::SmallestResidual) {
            Self::CalibratedResidual { usual, .. } => usual,
            _ => vec![1.0; n_classes],
        };
        if exponent > 0.0 {
            *self = Self::CalibratedResidual { exponent, usual };
        }
    }

    /// Takes the mean r²/σ of a class before its update into account, if calibrated.
    pub(super) fn note_usual_residual(&mut self, class: usize, mean_residual: f64) {
        if let Self::CalibratedResidual { usual, .. } = self {
            let rho = &mut usual[class];
            *rho = USUAL_RESIDUAL_MEMORY * *rho + (1.0 - USUAL_RESIDUAL_MEMORY) * mean_residual;
        }
    }
}

/// z = [−ln r²/σ, −ln δ/σ], bounded.
pub(super) fn evidence_of(residual_share: f64, distance_share: f64) -> [f64; 2] {
    [
        -residual_share.max(SMALLEST_RESIDUAL).ln(),
        -distance_share.max(SMALLEST_DISTANCE).ln(),
    ]
}

/// p = softmax(S) in place; returns the place of the largest, the first of equals.
pub(super) fn softmax(scores: &mut [f64]) -> usize {
    let mut best = 0;
    for (class, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = class;
        }
    }
    let largest = scores[best];
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - largest).exp();
        sum += *score;
    }
    for score in scores.iter_mut() {
        *score /= sum;
    }
    best
}

/// S_c = θᵀz_c + b_c, learned round by round with a Newton step on forgotten curvature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnlineLogit {
    /// θ, shared by all classes.
    pub theta: [f64; 2],
    /// b, one per class.
    pub bias: Vec<f64>,
    /// H over (θ, b).
    pub curvature: Matrix,
    /// The second look at doubtful samples, where it is switched on.
    pub second_look: Option<SecondLook>,
}

/// Means of so many samples wait for one product of matrices.
const WAITING: usize = 64;

/// Sums over the samples of a round, with scratch memory.
#[derive(Clone, Debug, Default)]
pub(super) struct LogitRound {
    /// z of every class, sample after sample, and the classes of the samples: of every `stride`-th one.
    evidence: Vec<[f64; 2]>,
    classes: Vec<usize>,
    stride: usize,
    n_added: usize,
    gradient: Vec<f64>,
    curvature: Matrix,
    /// Σ p_c and Σ p_c z_c, a column per class.
    weighted: Matrix,
    /// B̄ of the latest samples, a column each; `n_waiting` are not yet in the curvature.
    means: Matrix,
    n_waiting: usize,
    factor: Cholesky,
}

impl OnlineLogit {
    /// The layer before it has seen anything.
    pub(super) fn new(n_classes: usize) -> Self {
        Self {
            theta: [2.0, 2.0],
            bias: vec![0.0; n_classes],
            curvature: Matrix::identity(2 + n_classes),
            second_look: None,
        }
    }

    /// Switches the second look on or off; one that is on stays as it is.
    pub(super) fn switch_second_look(&mut self, on: bool) {
        // Of two classes the decision layer already sees all there is.
        let on = on && self.bias.len() > 2;
        self.second_look = on.then(|| self.second_look.unwrap_or_default());
    }

    /// S_c.
    pub fn score(&self, class: usize, evidence: [f64; 2]) -> f64 {
        self.theta[0] * evidence[0] + self.theta[1] * evidence[1] + self.bias[class]
    }

    /// Takes the sums of a round: H ← .98 H + Σ curvature + .001 I; (θ, b) += H⁻¹ Σ gradient.
    ///
    /// Wrong decisions that were sure have a gradient and hardly any curvature, so that while H is young
    /// the step may be far too long and turn θ round, as if the class that fits worst were the likeliest.
    /// Such a step is replaced by the fit that it was the first step of.
    pub(super) fn learn(&mut self, round: &mut LogitRound) {
        let n = round.gradient.len();
        round.finish();
        self.curvature.scale(CURVATURE_MEMORY);
        for j in 0..n {
            for (total, part) in self
                .curvature
                .col_mut(j)
                .iter_mut()
                .zip(round.curvature.col(j))
            {
                *total += part;
            }
            self.curvature[(j, j)] += CURVATURE_RIDGE;
        }
        // H is a sum of covariances and a positive diagonal; without a factor the step is omitted.
        if round.factor.factor(self.curvature.view()).is_err() {
            return;
        }
        round.factor.solve(&mut round.gradient);
        let sum = self.theta[0] + self.theta[1];
        if sum > 0.0 && sum + round.gradient[0] + round.gradient[1] <= 0.0 {
            self.fit(round);
        } else {
            self.move_by(&round.gradient);
        }
    }

    fn move_by(&mut self, step: &[f64]) {
        let own = self.theta.iter_mut().chain(&mut self.bias);
        own.zip(step).for_each(|(own, step)| *own += step);
    }

    /// (θ, b) ← the smallest of loss(round) + ½ dᵀP d, with d the way from here and P what H was before
    /// the round, by Newton steps that are halved until they lower it; H ← P + the curvature found there.
    fn fit(&mut self, round: &mut LogitRound) {
        let n = round.gradient.len();
        let begin = self.clone();
        let prior = Matrix::from_fn(n, n, |i, j| {
            self.curvature[(i, j)] - round.curvature[(i, j)]
        });
        let mut moved = vec![0.0; n];
        let mut loss = round.see_again(self);
        for _ in 0..FIT_STEPS {
            let total = |i, j| prior[(i, j)] + round.curvature[(i, j)];
            self.curvature = Matrix::from_fn(n, n, total);
            if round.factor.factor(self.curvature.view()).is_err() {
                return;
            }
            let pull = |i: usize| round.gradient[i] - dot(prior.col(i), &moved);
            let mut step: Vec<f64> = (0..n).map(pull).collect();
            round.factor.solve(&mut step);
            let mut lowered = None;
            for halving in 0..HALVINGS {
                let share = 0.5_f64.powi(halving);
                let pairs = moved.iter().zip(&step);
                let next: Vec<f64> = pairs.map(|(moved, step)| moved + share * step).collect();
                (self.theta, self.bias) = (begin.theta, begin.bias.clone());
                self.move_by(&next);
                let squared: f64 = (0..n).map(|i| next[i] * dot(prior.col(i), &next)).sum();
                let found = round.see_again(self) + 0.5 * squared;
                if found < loss {
                    lowered = Some((next, found));
                    break;
                }
            }
            let Some((next, found)) = lowered else {
                (self.theta, self.bias) = (begin.theta, begin.bias);
                self.move_by(&moved);
                return;
            };
            let is_enough = loss - found <= FIT_ENOUGH * loss;
            (moved, loss) = (next, found);
            if is_enough {
                return;
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl LogitRound {
    /// Begins a round of so many samples.
    pub(super) fn clear(&mut self, n_classes: usize, n_samples: usize) {
        self.evidence.clear();
        self.classes.clear();
        self.n_added = 0;
        let n_numbers = n_samples.saturating_mul(2 * n_classes);
        self.stride = n_numbers.div_ceil(MOST_EVIDENCE).max(1);
        self.clear_sums(n_classes);
    }

    fn clear_sums(&mut self, n_classes: usize) {
        let n = 2 + n_classes;
        self.gradient.clear();
        self.gradient.resize(n, 0.0);
        self.curvature.reshape(n, n);
        self.curvature.fill(0.0);
        self.weighted.reshape(3, n_classes);
        self.weighted.fill(0.0);
        self.means.reshape(n, WAITING);
        self.n_waiting = 0;
    }

    /// Adds one sample.
    pub(super) fn add(
        &mut self,
        evidence: impl Fn(usize) -> [f64; 2],
        probabilities: &[f64],
        class: usize,
    ) {
        if self.n_added.is_multiple_of(self.stride) {
            self.evidence
                .extend((0..probabilities.len()).map(&evidence));
            self.classes.push(class);
        }
        self.n_added += 1;
        self.add_sums(evidence, probabilities, class);
    }

    /// The sums of the round as `layer` sees its samples, and their loss −Σ ln p_y.
    fn see_again(&mut self, layer: &OnlineLogit) -> f64 {
        let n_classes = layer.bias.len();
        let (evidence, classes) = (
            std::mem::take(&mut self.evidence),
            std::mem::take(&mut self.classes),
        );
        self.clear_sums(n_classes);
        let mut shares = vec![0.0; n_classes];
        let mut loss = 0.0;
        for (&class, z) in classes.iter().zip(evidence.chunks(n_classes)) {
            let scores = shares.iter_mut().zip(z).enumerate();
            scores.for_each(|(c, (score, z))| *score = layer.score(c, *z));
            let own = shares[class];
            let largest = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let best = softmax(&mut shares);
            // p_y itself may be too small for a number.
            loss += largest - own - shares[best].ln();
            self.add_sums(|c| z[c], &shares, class);
        }
        self.finish();
        let weight = self.stride as f64;
        self.gradient.iter_mut().for_each(|value| *value *= weight);
        self.curvature.scale(weight);
        (self.evidence, self.classes) = (evidence, classes);
        weight * loss
    }

    /// Adds one sample to the sums: B_c = [z_c; unit vector of c], gradient B_y − B̄, curvature
    /// Σ p_c B_c B_cᵀ − B̄ B̄ᵀ. All of B_c B_cᵀ but its first two rows and columns is diagonal.
    fn add_sums(
        &mut self,
        evidence: impl Fn(usize) -> [f64; 2],
        probabilities: &[f64],
        class: usize,
    ) {
        let (mean, shares) = self.means.col_mut(self.n_waiting).split_at_mut(2);
        mean.fill(0.0);
        shares.copy_from_slice(probabilities);
        for (c, &p) in probabilities.iter().enumerate() {
            let z = evidence(c);
            let sums = self.weighted.col_mut(c);
            sums[0] += p;
            for i in 0..2 {
                mean[i] += p * z[i];
                sums[1 + i] += p * z[i];
                for j in 0..2 {
                    self.curvature[(i, j)] += p * (z[i] * z[j]);
                }
            }
        }
        let z = evidence(class);
        self.gradient[0] += z[0];
        self.gradient[1] += z[1];
        self.gradient[2 + class] += 1.0;
        let means = self.means.col(self.n_waiting);
        let gradient = self.gradient.iter_mut().zip(means);
        gradient.for_each(|(total, mean)| *total -= mean);
        self.n_waiting += 1;
        if self.n_waiting == WAITING {
            self.take_means();
        }
    }

    /// Subtracts B̄ B̄ᵀ of the samples that wait. How many there are does not depend on the blocks
    /// in which a round is seen, and so the sums do not either.
    fn take_means(&mut self) {
        let means = self.means.cols_view(0, self.n_waiting);
        product(self.curvature.view_mut(), Write::Subtract, means, means.t());
        self.n_waiting = 0;
    }

    /// Completes the curvature.
    fn finish(&mut self) {
        self.take_means();
        for c in 0..self.weighted.cols() {
            let sums = self.weighted.col(c);
            self.curvature[(2 + c, 2 + c)] += sums[0];
            for i in 0..2 {
                self.curvature[(i, 2 + c)] += sums[1 + i];
                self.curvature[(2 + c, i)] += sums[1 + i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curvature_of_many_samples_is_the_sum_of_theirs() {
        const N_CLASSES: usize = 5;
        let mut round = LogitRound::default();
        round.clear(N_CLASSES, WAITING + 7);
        let mut expected = Matrix::zeros(2 + N_CLASSES, 2 + N_CLASSES);
        // Some more than wait for one product.
        for sample in 0..WAITING + 7 {
            let wave = |k: usize| ((sample * 31 + k * 7) as f64).sin();
            let evidence = |c: usize| [3.0 + wave(c), 2.0 * wave(c + 9)];
            let mut shares: Vec<f64> = (0..N_CLASSES).map(|c| 2.0 * wave(c + 20)).collect();
            softmax(&mut shares);
            round.add(evidence, &shares, sample % N_CLASSES);
            let vector = |c: usize| {
                let mut vector = [0.0; 2 + N_CLASSES];
                vector[..2].copy_from_slice(&evidence(c));
                vector[2 + c] = 1.0;
                vector
            };
            for i in 0..2 + N_CLASSES {
                for j in 0..2 + N_CLASSES {
                    let sum = |f: &dyn Fn([f64; 2 + N_CLASSES]) -> f64| -> f64 {
                        (0..N_CLASSES).map(|c| shares[c] * f(vector(c))).sum()
                    };
                    let (first, second) = (sum(&|b| b[i]), sum(&|b| b[j]));
                    expected[(i, j)] += sum(&|b| b[i] * b[j]) - first * second;
                }
            }
        }
        round.finish();
        for j in 0..2 + N_CLASSES {
            for (found, expected) in round.curvature.col(j).iter().zip(expected.col(j)) {
                assert!((found - expected).abs() < 1e-10, "{found} {expected}");
            }
        }
    }

    /// Two of five decisions are wrong and sure: the first step is long enough to turn θ round.
    #[test]
    fn sure_and_wrong_decisions_do_not_turn_the_layer_round() {
        const N_CLASSES: usize = 3;
        let mut layer = OnlineLogit::new(N_CLASSES);
        let mut round = LogitRound::default();
        round.clear(N_CLASSES, 30);
        for sample in 0..30 {
            let class = sample % N_CLASSES;
            let fitting = if sample % 5 < 3 {
                class
            } else {
                (class + 1) % N_CLASSES
            };
            let evidence = |c: usize| if c == fitting { [4.0, 4.5] } else { [2.0, 2.5] };
            let mut shares: Vec<f64> = (0..N_CLASSES)
                .map(|c| layer.score(c, evidence(c)))
                .collect();
            softmax(&mut shares);
            round.add(evidence, &shares, class);
        }
        let before = round.clone().see_again(&layer);
        layer.learn(&mut round);
        let after = round.see_again(&layer);
        assert!(layer.theta[0] + layer.theta[1] > 0.0, "{:?}", layer.theta);
        // Of three classes one is right in three of five: −ln .6 or −ln .2, and a little for the way.
        let least = 30.0 * -(0.6 * 0.6_f64.ln() + 0.4 * 0.2_f64.ln());
        assert!(
            before > 60.0 && after < least + 2.0,
            "{before} {after} {least}"
        );
    }
}
