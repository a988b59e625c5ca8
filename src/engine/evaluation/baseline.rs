//! Simple classifiers that stand beside every score: a learner that does not beat them is not worth
//! its trouble.

use serde::{Deserialize, Serialize};

use crate::dataset::Columns;
use crate::learner::{
    Algorithm, BlockMemory, Kernel, LearnError, Learner, LearnerSettings, Progress, Readout,
    SampleStream, Samples, StepReport, StopSignal, Supply, start_learner,
};
use crate::math::{Cholesky, Matrix, View, Write, dot, product, squared_distance, vectorised};

use super::classifier::Classifier;

/// Neighbours that vote.
const N_NEIGHBOURS: usize = 5;
/// Strength of the ridge of logistic regression beside the sum of losses.
const LOGISTIC_RIDGE: f64 = 1.0;
/// Most steps of its minimisation, and the gradient at which it ends.
const LOGISTIC_STEPS: usize = 200;
const LOGISTIC_GRADIENT: f64 = 1e-4;
/// Updates that its quasi-Newton step remembers.
const REMEMBERED: usize = 10;
/// Most features of a covariance matrix: it takes 130 MB.
const MOST_FEATURES: usize = 4_000;
/// Most training samples of the methods that compare all of them with each other.
const MOST_COMPARED: usize = 20_000;
/// Most kept samples for the ridge classifier.
const MOST_KEPT: usize = 4_000;
/// Samples that are decided together.
const TILE: usize = 128;

/// A simple classifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Baseline {
    /// Always the largest class.
    Chance,
    /// The nearest class mean.
    NearestMean,
    /// Kernel ridge regression on the samples that the learner keeps.
    RidgeOnKept,
    /// A vote of the five nearest training samples.
    NearestNeighbours,
    /// Linear discriminants with the shrinkage of Ledoit and Wolf.
    Lda,
    /// Multinomial logistic regression.
    LogisticRegression,
    /// Support vector machines with a Gaussian kernel of the median width, C = 10.
    Svm,
}

impl Baseline {
    /// Those that come with every run: cheap, in closed form.
    pub const ALWAYS: [Self; 3] = [Self::Chance, Self::NearestMean, Self::RidgeOnKept];
    /// Those that come on request.
    pub const ON_REQUEST: [Self; 4] = [
        Self::NearestNeighbours,
        Self::Lda,
        Self::LogisticRegression,
        Self::Svm,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chance => "chance",
            Self::NearestMean => "nearest mean",
            Self::RidgeOnKept => "ridge on kept samples",
            Self::NearestNeighbours => "nearest neighbours",
            Self::Lda => "LDA",
            Self::LogisticRegression => "logistic regression",
            Self::Svm => "SVM",
        }
    }
}

/// Samples with their classes, features z-scored on the training samples.
#[derive(Clone, Debug)]
pub struct BaselineData {
    train: Matrix,
    train_classes: Vec<usize>,
    test: Matrix,
    n_classes: usize,
}

/// How a simple classifier did on the held-out samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineResult {
    /// Which one.
    pub baseline: Baseline,
    /// Right decisions.
    pub right: u64,
    /// All decisions.
    pub total: u64,
}

impl BaselineResult {
    /// Share of right decisions.
    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.total.max(1) as f64
    }
}

/// What features are z-scored by.
struct ZScores {
    mean: Vec<f64>,
    /// 1/standard deviation, 0 of a feature without one.
    scale: Vec<f64>,
}

impl ZScores {
    /// Of some columns of `values`.
    fn of(values: Columns<'_>, samples: &[usize]) -> Self {
        let n = samples.len().max(1) as f64;
        let mut mean = vec![0.0; values.n_features()];
        for &sample in samples {
            let column = values.column(sample);
            let pairs = mean.iter_mut().zip(&*column);
            pairs.for_each(|(mean, x)| *mean += x / n);
        }
        let mut scale = vec![0.0; values.n_features()];
        for &sample in samples {
            let column = values.column(sample);
            for ((square, x), mean) in scale.iter_mut().zip(&*column).zip(&mean) {
                *square += (x - mean) * (x - mean) / n;
            }
        }
        for scale in &mut scale {
            let width = scale.sqrt();
            let varies = width.is_finite() && width > 1e-12;
            *scale = if varies { 1.0 / width } else { 0.0 };
        }
        Self { mean, scale }
    }

    /// `scored` ← a column.
    fn read(&self, values: Columns<'_>, sample: usize, scored: &mut [f64]) {
        values.read(sample, scored);
        for ((x, mean), scale) in scored.iter_mut().zip(&self.mean).zip(&self.scale) {
            let z = (*x - mean) * scale;
            *x = if z.is_finite() { z } else { 0.0 };
        }
    }
}

/// The class whose mean is nearest to every test sample, features z-scored on the training samples; their columns are
/// read three times, and not held.
pub(crate) fn nearest_mean(
    values: Columns<'_>,
    train: &[usize],
    test: &[usize],
    classes: &[usize],
    n_classes: usize,
    stop: StopSignal<'_>,
) -> Result<Vec<usize>, LearnError> {
    let scores = ZScores::of(values, train);
    stop.check()?;
    let mut counts = vec![0.0; n_classes];
    train.iter().for_each(|s| counts[classes[*s]] += 1.0);
    let mut means = Matrix::zeros(values.n_features(), n_classes);
    let mut z = vec![0.0; values.n_features()];
    for &sample in train {
        scores.read(values, sample, &mut z);
        let class = classes[sample];
        let pairs = means.col_mut(class).iter_mut().zip(&z);
        pairs.for_each(|(mean, x)| *mean += x / counts[class]);
    }
    let mut decided = Vec::with_capacity(test.len());
    for &sample in test {
        stop.check()?;
        scores.read(values, sample, &mut z);
        let score = |class: usize| match counts[class] > 0.0 {
            true => -squared_distance(&z, means.col(class)),
            false => f64::NEG_INFINITY,
        };
        decided.push(largest_place(
            &(0..n_classes).map(score).collect::<Vec<f64>>(),
        ));
    }
    Ok(decided)
}

impl BaselineData {
    /// Of columns of `values` by their places; `classes` holds the class of every column.
    pub fn new<'d>(
        values: impl Into<Columns<'d>>,
        train: &[usize],
        test: &[usize],
        classes: &[usize],
        n_classes: usize,
    ) -> Self {
        let values = values.into();
        let scores = ZScores::of(values, train);
        let scored = |samples: &[usize]| {
            let mut scored = Matrix::zeros(values.n_features(), samples.len());
            for (j, sample) in samples.iter().enumerate() {
                scores.read(values, *sample, scored.col_mut(j));
            }
            scored
        };
        Self {
            train: scored(train),
            train_classes: train.iter().map(|sample| classes[*sample]).collect(),
            test: scored(test),
            n_classes,
        }
    }

    /// The class that one of [`Baseline::ON_REQUEST`] gives every test sample; none of the others, and where there are
    /// more samples or features than it can take.
    pub fn decide(
        &self,
        baseline: Baseline,
        stop: StopSignal<'_>,
    ) -> Result<Option<Vec<usize>>, LearnError> {
        let n = self.train.cols();
        Ok(match baseline {
            Baseline::NearestNeighbours if n <= MOST_COMPARED => {
                Some(self.nearest_neighbours(stop)?)
            }
            Baseline::Lda if self.train.rows() <= MOST_FEATURES => self.lda(),
            Baseline::LogisticRegression => Some(self.logistic_regression(stop)?),
            Baseline::Svm if n <= MOST_COMPARED => Some(self.svm(stop)?),
            _ => None,
        })
    }

    fn counts(&self) -> Vec<f64> {
        let mut counts = vec![0.0; self.n_classes];
        self.train_classes.iter().for_each(|c| counts[*c] += 1.0);
        counts
    }

    /// Class means, a column each; zero for a class without samples.
    fn means(&self) -> Matrix {
        let counts = self.counts();
        let mut means = Matrix::zeros(self.train.rows(), self.n_classes);
        for (j, &class) in self.train_classes.iter().enumerate() {
            let pairs = means.col_mut(class).iter_mut().zip(self.train.col(j));
            pairs.for_each(|(mean, x)| *mean += x / counts[class]);
        }
        means
    }

    fn nearest_neighbours(&self, stop: StopSignal<'_>) -> Result<Vec<usize>, LearnError> {
        let norms = |matrix: &Matrix| -> Vec<f64> {
            (0..matrix.cols())
                .map(|j| squared_distance(matrix.col(j), &vec![0.0; matrix.rows()]))
                .collect()
        };
        let (own, others) = (norms(&self.test), norms(&self.train));
        let mut decided = Vec::with_capacity(self.test.cols());
        let mut inner = Matrix::default();
        for first in (0..self.test.cols()).step_by(TILE) {
            stop.check()?;
            let count = TILE.min(self.test.cols() - first);
            inner.reshape(self.train.cols(), count);
            product(
                inner.view_mut(),
                Write::Replace,
                self.train.view().t(),
                self.test.cols_view(first, count),
            );
            for j in 0..count {
                let distance = |i: usize| own[first + j] + others[i] - 2.0 * inner[(i, j)];
                let mut near: Vec<(f64, usize)> =
                    (0..self.train.cols()).map(|i| (distance(i), i)).collect();
                let k = N_NEIGHBOURS.min(near.len());
                if k < near.len() {
                    near.select_nth_unstable_by(k - 1, |a, b| {
                        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
                    });
                }
                let mut votes = vec![0.0; self.n_classes];
                // Of equal votes the class of the nearer neighbours wins.
                for (distance, i) in &near[..k] {
                    votes[self.train_classes[*i]] += 1.0 - 1e-6 * distance / (1.0 + distance);
                }
                decided.push(largest_place(&votes));
            }
        }
        Ok(decided)
    }

    /// Linear discriminants: the pooled covariance within classes, shrunk towards a multiple of the
    /// identity as Ledoit and Wolf, J. Multivariate Analysis 88 (2004), say; classes by their shares.
    fn lda(&self) -> Option<Vec<usize>> {
        let (means, counts) = (self.means(), self.counts());
        let (p, n) = (self.train.rows(), self.train.cols());
        let centred = Matrix::from_fn(p, n, |i, j| {
            self.train[(i, j)] - means[(i, self.train_classes[j])]
        });
        let mut covariance = Matrix::zeros(p, p);
        product(
            covariance.view_mut(),
            Write::Replace,
            centred.view(),
            centred.view().t(),
        );
        covariance.scale(1.0 / n as f64);
        let trace: f64 = (0..p).map(|i| covariance[(i, i)]).sum();
        let level = trace / p as f64;
        let square: f64 = (0..p)
            .map(|j| dot(covariance.col(j), covariance.col(j)))
            .sum();
        let spread = square - level * trace;
        let fourth: f64 = (0..n)
            .map(|j| dot(centred.col(j), centred.col(j)).powi(2))
            .sum();
        let noise = (fourth / n as f64 - square) / n as f64;
        let shrinkage = if spread > 0.0 {
            (noise / spread).clamp(0.0, 1.0)
        } else {
            1.0
        };
        covariance.scale(1.0 - shrinkage);
        for i in 0..p {
            covariance[(i, i)] += shrinkage * level + 1e-10 * level.max(f64::MIN_POSITIVE);
        }
        let mut factor = Cholesky::default();
        factor.factor(covariance.view()).ok()?;
        let mut weights = means.clone();
        let mut offsets = Vec::with_capacity(self.n_classes);
        for (class, count) in counts.iter().enumerate() {
            factor.solve(weights.col_mut(class));
            let own = dot(weights.col(class), means.col(class));
            offsets.push((count / n as f64).ln() - 0.5 * own);
        }
        Some(self.decide_linearly(&weights, &offsets))
    }

    fn decide_linearly(&self, weights: &Matrix, offsets: &[f64]) -> Vec<usize> {
        let mut scores = Matrix::zeros(self.n_classes, self.test.cols());
        product(
            scores.view_mut(),
            Write::Replace,
            weights.view().t(),
            self.test.view(),
        );
        let decide = |j: usize| {
            let sums = scores.col(j).iter().zip(offsets).map(|(s, o)| s + o);
            largest_place(&sums.collect::<Vec<f64>>())
        };
        (0..self.test.cols()).map(decide).collect()
    }

    /// Multinomial logistic regression with a ridge on the weights, by limited-memory BFGS.
    fn logistic_regression(&self, stop: StopSignal<'_>) -> Result<Vec<usize>, LearnError> {
        let (p, c) = (self.train.rows(), self.n_classes);
        let mut point = vec![0.0; (p + 1) * c];
        let mut gradient = vec![0.0; point.len()];
        let mut loss = self.logistic_loss(&point, &mut gradient);
        let mut pairs: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        for _ in 0..LOGISTIC_STEPS {
            stop.check()?;
            let steepest = gradient.iter().fold(0.0_f64, |most, g| most.max(g.abs()));
            if steepest < LOGISTIC_GRADIENT * self.train.cols() as f64 {
                break;
            }
            let direction = quasi_newton(&gradient, &pairs);
            let slope: f64 = direction.iter().zip(&gradient).map(|(d, g)| d * g).sum();
            let first = if pairs.is_empty() {
                1.0 / steepest.max(1.0)
            } else {
                1.0
            };
            let mut step = first;
            let mut next = point.clone();
            let mut next_gradient = vec![0.0; point.len()];
            let mut next_loss = loss;
            for _ in 0..30 {
                for ((value, old), d) in next.iter_mut().zip(&point).zip(&direction) {
                    *value = old - step * d;
                }
                next_loss = self.logistic_loss(&next, &mut next_gradient);
                if next_loss <= loss - 1e-4 * step * slope {
                    break;
                }
                step *= 0.5;
            }
            if next_loss >= loss || next_loss.is_nan() {
                break;
            }
            let moved = next.iter().zip(&point).map(|(a, b)| a - b).collect();
            let turned = next_gradient
                .iter()
                .zip(&gradient)
                .map(|(a, b)| a - b)
                .collect();
            pairs.push((moved, turned));
            if pairs.len() > REMEMBERED {
                pairs.remove(0);
            }
            (point, gradient, loss) = (next, next_gradient, next_loss);
        }
        let weights = Matrix::from_fn(p, c, |i, class| point[class * (p + 1) + i]);
        let offsets: Vec<f64> = (0..c).map(|class| point[class * (p + 1) + p]).collect();
        Ok(self.decide_linearly(&weights, &offsets))
    }

    /// −ln likelihood plus half the squared weights; `gradient` receives its gradient.
    fn logistic_loss(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let (p, c) = (self.train.rows(), self.n_classes);
        let weights = View::from_columns(point, p + 1);
        let mut loss = 0.0;
        for class in 0..c {
            let (own, target) = (weights.col(class), &mut gradient[class * (p + 1)..]);
            for i in 0..p {
                target[i] = LOGISTIC_RIDGE * own[i];
                loss += 0.5 * LOGISTIC_RIDGE * own[i] * own[i];
            }
            target[p] = 0.0;
        }
        let slopes = Matrix::from_fn(p, c, |i, class| point[class * (p + 1) + i]);
        let mut scores = Matrix::zeros(c, self.train.cols());
        product(
            scores.view_mut(),
            Write::Replace,
            slopes.view().t(),
            self.train.view(),
        );
        for (j, &truth) in self.train_classes.iter().enumerate() {
            let column = scores.col_mut(j);
            for (class, score) in column.iter_mut().enumerate() {
                *score += point[class * (p + 1) + p];
            }
            let largest = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let own = column[truth] - largest;
            let mut sum = 0.0;
            for score in column.iter_mut() {
                *score = (*score - largest).exp();
                sum += *score;
            }
            loss += sum.ln() - own;
            for score in column.iter_mut() {
                *score /= sum;
            }
            column[truth] -= 1.0;
        }
        let mut sums = Matrix::zeros(p, c);
        product(
            sums.view_mut(),
            Write::Replace,
            self.train.view(),
            scores.view().t(),
        );
        for class in 0..c {
            let target = &mut gradient[class * (p + 1)..(class + 1) * (p + 1)];
            let pairs = target.iter_mut().zip(sums.col(class));
            pairs.for_each(|(g, s)| *g += s);
            target[p] += scores.row(class).sum::<f64>();
        }
        loss
    }

    fn svm(&self, stop: StopSignal<'_>) -> Result<Vec<usize>, LearnError> {
        let values = self.train.view();
        let width = median_of_columns(&self.train);
        let settings = LearnerSettings {
            kernel: Kernel::Gaussian { width },
            algorithm: Algorithm::Svm {
                cost: 10.0,
                tolerance: 1e-3,
            },
            ..LearnerSettings::svm()
        };
        // Classes without samples cannot be decided for.
        let present: Vec<usize> = (0..self.n_classes)
            .filter(|class| self.train_classes.contains(class))
            .collect();
        let order = |class: &usize| {
            let own = self.train_classes.iter().enumerate();
            own.filter(|(_, c)| *c == class).map(|(j, _)| j).collect()
        };
        let orders: Vec<Vec<usize>> = present.iter().map(order).collect();
        let mut stream = SampleStream::new(values, orders, Supply::Proportional).until(stop);
        let (mut learner, _) = start_learner(&settings, &mut stream, 1)?;
        let progress = Progress {
            round: 0,
            n_rounds: 1,
        };
        learner.step(progress, &mut stream, &mut StepReport::default())?;
        let classifier = Classifier::of(learner.as_ref()).until(stop);
        let index: Vec<usize> = (0..self.test.cols()).collect();
        let mut verdicts = Vec::with_capacity(index.len());
        classifier.classify(
            self.test.view(),
            &index,
            &mut classifier.work(),
            &mut verdicts,
        )?;
        Ok(verdicts
            .iter()
            .map(|verdict| present[verdict.class])
            .collect())
    }
}

/// What kernel ridge regression on the kept samples of a learner decides about columns of `values`;
/// none where it keeps too many. `known` holds kernel values of the first tiles of a [`Classifier`].
pub(crate) fn ridge_on_kept(
    learner: &dyn Learner,
    values: Columns<'_>,
    test: &[usize],
    known: &[BlockMemory],
    stop: StopSignal<'_>,
) -> Result<Option<Vec<usize>>, LearnError> {
    let classifier = Classifier::of(learner);
    let dictionaries: Vec<_> = classifier.dictionaries().collect();
    let n_kept: usize = dictionaries.iter().map(|d| d.n_kept()).sum();
    let (Some(first), true) = (dictionaries.first(), n_kept <= MOST_KEPT) else {
        return Ok(None);
    };
    let readout = Readout::of_kept(&dictionaries, stop)?;
    let size = classifier.tile();
    let mut tile = Samples::new(values.n_features(), size);
    let mut rows = vec![Matrix::default(); dictionaries.len()];
    let mut sums = Matrix::default();
    let mut decided = Vec::with_capacity(test.len());
    for (number, part) in test.chunks(size).enumerate() {
        stop.check()?;
        let of_class = |class: usize| {
            let known = known.get(number)?;
            known.rows(class, &dictionaries[class].kept, part.len())
        };
        if (0..dictionaries.len()).any(|class| of_class(class).is_none()) {
            tile.load(&first.kernel, values, part)?;
            for (rows, dictionary) in rows.iter_mut().zip(&dictionaries) {
                first.kernel.block(&tile, &dictionary.kept, rows);
            }
        }
        let rows_of = |class: usize| of_class(class).unwrap_or(&rows[class]);
        readout.apply(part.len(), rows_of, &mut sums);
        let scores = |i: usize| sums.row(i).copied().collect::<Vec<f64>>();
        decided.extend((0..part.len()).map(|i| largest_place(&scores(i))));
    }
    Ok(Some(decided))
}

/// The largest of the classes of `train`, for every test sample.
pub(crate) fn chance(
    train: &[usize],
    classes: &[usize],
    n_classes: usize,
    n_test: usize,
) -> Vec<usize> {
    let mut counts = vec![0.0; n_classes];
    train
        .iter()
        .for_each(|&sample| counts[classes[sample]] += 1.0);
    vec![largest_place(&counts); n_test]
}

/// The place of the largest number, the first of equals.
fn largest_place(values: &[f64]) -> usize {
    let better = |best: usize, place: usize| {
        if values[place] > values[best] {
            place
        } else {
            best
        }
    };
    (0..values.len()).fold(0, better)
}

/// The inverse Hessian of the remembered pairs times the gradient: Nocedal and Wright, algorithm 7.4.
fn quasi_newton(gradient: &[f64], pairs: &[(Vec<f64>, Vec<f64>)]) -> Vec<f64> {
    vectorised(
        #[inline(always)]
        || {
            let mut direction = gradient.to_vec();
            let mut shares = Vec::with_capacity(pairs.len());
            for (moved, turned) in pairs.iter().rev() {
                let share = dot(moved, &direction) / dot(moved, turned).max(f64::MIN_POSITIVE);
                shares.push(share);
                let values = direction.iter_mut().zip(turned);
                values.for_each(|(value, t)| *value -= share * t);
            }
            if let Some((moved, turned)) = pairs.last() {
                let scale = dot(moved, turned) / dot(turned, turned).max(f64::MIN_POSITIVE);
                direction.iter_mut().for_each(|value| *value *= scale);
            }
            for ((moved, turned), share) in pairs.iter().zip(shares.iter().rev()) {
                let back = dot(turned, &direction) / dot(moved, turned).max(f64::MIN_POSITIVE);
                let values = direction.iter_mut().zip(moved);
                values.for_each(|(value, m)| *value += (share - back) * m);
            }
            direction
        },
    )
}

/// The median distance between up to 400 columns, evenly chosen.
fn median_of_columns(samples: &Matrix) -> f64 {
    let stride = samples.cols().div_ceil(400).max(1);
    let chosen: Vec<usize> = (0..samples.cols()).step_by(stride).collect();
    let mut distances = Vec::with_capacity(chosen.len() * chosen.len() / 2);
    for (place, &a) in chosen.iter().enumerate() {
        for &b in &chosen[..place] {
            distances.push(squared_distance(samples.col(a), samples.col(b)).sqrt());
        }
    }
    distances.sort_unstable_by(f64::total_cmp);
    let median = distances.get(distances.len() / 2).copied().unwrap_or(1.0);
    if median > 0.0 { median } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mean_is_found_in_units_of_standard_deviations() {
        // The first feature is large and says nothing, the second is small and tells the classes; the third is constant.
        let values = Matrix::from_fn(3, 40, |i, j| match i {
            0 => 1e6 * (((j * 7) % 10) as f64),
            1 => (j % 2) as f64 + 0.1 * ((j * 3) % 4) as f64,
            _ => 5.0,
        });
        let classes: Vec<usize> = (0..40).map(|j| j % 2).collect();
        let (train, test): (Vec<usize>, Vec<usize>) = (0..40).partition(|j| j % 4 < 2);
        let view = values.view().into();
        // A third class has no samples.
        let found = nearest_mean(view, &train, &test, &classes, 3, StopSignal::default());
        let expected: Vec<usize> = test.iter().map(|j| j % 2).collect();
        assert_eq!(found.expect("sound samples"), expected);
    }
}
