//! Readouts over the kept samples of all classes: linear functions of the kernel values, solved
//! when first asked for and valid until a dictionary changes.
//!
//! J = Yᵀ (K + ρσ̄I)⁻¹ k weighs the kept samples alike. E and N speak for all samples ever seen,
//! by the sums v and second moments M of [`SeenSamples`]: E solves
//! (G + ρσ̄K + 1e-8·(tr G/n)·I) α = Σ_c K_:c v_c y_cᵀ with G = Σ_c K_:c M_c K_c:, and N is the
//! nearest mean μᵀk − ½ μᵀKμ, μ = v/n_seen. Without pruning E equals J and N is exact.

use std::sync::{Arc, Mutex, PoisonError};

use crate::math::{Cholesky, Matrix, Write, product};

use super::dictionary::Dictionary;
use super::error::LearnError;
use super::head::Head;
use super::samples::Samples;
use super::seen::SeenSamples;
use super::stop::StopSignal;

/// ρ of J and E, and of E1.
const RIDGE: f64 = 0.1;
const STRONG_RIDGE: f64 = 1.0;
/// Weight of the readout of few samples where every class has so many that they span something.
const WEIGHT_OF_FEW: f64 = 4.0;
const SPANNING: f64 = 4.0;
/// Raises the diagonal of the system of E, as a share of the mean of that of G.
const LIFT: f64 = 1e-8;
/// How often the diagonal is raised tenfold should a system not factor.
const MOST_LIFTS: usize = 8;
/// Most kept samples of all classes: the system takes 1.2 GB.
const MOST_KEPT: usize = 9_000;
/// Rows of a symmetric product that are computed together.
const PANEL: usize = 192;

/// A linear function of the kernel values per class: f_c(x) = Σ_p A_pᵀ k_p(x) + a_c.
#[derive(Clone, Debug)]
pub struct Readout {
    /// Per dictionary the weights of its kept samples (row each); a column per class, or a single
    /// one that belongs to the class of the dictionary.
    parts: Vec<Matrix>,
    offsets: Vec<f64>,
}

/// What a readout is solved from.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClassSamples<'a> {
    pub(super) dictionary: &'a Dictionary,
    pub(super) seen: Option<&'a SeenSamples>,
}

/// Readouts that were solved since the dictionaries changed last.
#[derive(Debug, Default)]
pub(super) struct ReadoutCache(Mutex<Vec<(Head, Arc<Readout>)>>);

impl ReadoutCache {
    /// Forgets everything: the dictionaries have changed.
    pub(super) fn clear(&mut self) {
        let solved = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        solved.clear();
    }

    /// The readout of a head, solved if it is not known. Whoever asks meanwhile waits.
    pub(super) fn get(
        &self,
        head: Head,
        solve: impl FnOnce() -> Result<Readout, LearnError>,
    ) -> Result<Arc<Readout>, LearnError> {
        let mut solved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, readout)) = solved.iter().find(|(known, _)| *known == head) {
            return Ok(readout.clone());
        }
        let readout = Arc::new(solve()?);
        solved.push((head, readout.clone()));
        Ok(readout)
    }
}

impl Readout {
    /// The readout of a head that has one; an error where the state lacks what it needs.
    pub(super) fn solve(
        head: Head,
        classes: &[ClassSamples<'_>],
        stop: StopSignal<'_>,
    ) -> Result<Self, LearnError> {
        let alike = vec![1.0; classes.len()];
        match head {
            Head::S4J => Self::joint(classes, RIDGE, stop),
            Head::S4E | Head::E => Self::over_all(classes, &alike, RIDGE, LIFT, stop),
            Head::E1 => Self::over_all(classes, &alike, STRONG_RIDGE, LIFT, stop),
            Head::FewSamples => {
                let readout = Self::over_all(classes, &class_weights(classes), RIDGE, LIFT, stop)?;
                Ok(readout.scaled(weight_of_few(classes)))
            }
            Head::N => Self::nearest_mean(classes),
            Head::SecondLook | Head::S => Ok(Self {
                parts: Vec::new(),
                offsets: Vec::new(),
            }),
        }
    }

    /// J of the kept samples of any dictionaries.
    pub(crate) fn of_kept(
        dictionaries: &[&Dictionary],
        stop: StopSignal<'_>,
    ) -> Result<Self, LearnError> {
        let classes = dictionaries.iter().map(|dictionary| ClassSamples {
            dictionary,
            seen: None,
        });
        Self::joint(&classes.collect::<Vec<_>>(), RIDGE, stop)
    }

    fn scaled(mut self, factor: f64) -> Self {
        self.parts.iter_mut().for_each(|part| part.scale(factor));
        self.offsets.iter_mut().for_each(|offset| *offset *= factor);
        self
    }

    /// Per dictionary the weights of its kept samples (row each); a column per class, or a single
    /// one that belongs to the class of the dictionary.
    pub(crate) fn parts(&self) -> &[Matrix] {
        &self.parts
    }

    /// a_c of every class.
    pub(crate) fn offsets(&self) -> &[f64] {
        &self.offsets
    }

    /// `sums` ← f of every sample (row) and class (column) from the kernel values kᵀ of every
    /// dictionary, a row per sample.
    pub fn apply<'m>(
        &self,
        n_samples: usize,
        kernel_rows: impl Fn(usize) -> &'m Matrix,
        sums: &mut Matrix,
    ) {
        let n_classes = self.offsets.len();
        sums.reshape(n_samples, n_classes);
        for (class, offset) in self.offsets.iter().enumerate() {
            sums.col_mut(class).fill(*offset);
        }
        for (part, weights) in self.parts.iter().enumerate() {
            let (first, count) = match weights.cols() == n_classes {
                true => (0, n_classes),
                false => (part, 1),
            };
            product(
                sums.block_mut(0, n_samples, first, count),
                Write::Add,
                kernel_rows(part).view(),
                weights.view(),
            );
        }
    }

    /// J with ridge ρ.
    pub(super) fn joint(
        classes: &[ClassSamples<'_>],
        ridge: f64,
        stop: StopSignal<'_>,
    ) -> Result<Self, LearnError> {
        let sizes = sizes_of(classes)?;
        let n = sizes.iter().sum();
        Self::joint_of(&sizes, ridge, |gram| joint_gram(classes, n, gram), stop)
    }

    /// J of kept samples whose kernel matrix is known: `sizes` of each class, one class after the other.
    pub fn joint_of_gram(gram: Matrix, sizes: &[usize]) -> Result<Self, LearnError> {
        let write = |system: &mut Matrix| system.copy_from(gram.view());
        Self::joint_of(sizes, RIDGE, write, StopSignal::default())
    }

    fn joint_of(
        sizes: &[usize],
        ridge: f64,
        mut write_gram: impl FnMut(&mut Matrix),
        stop: StopSignal<'_>,
    ) -> Result<Self, LearnError> {
        let mut targets = Matrix::zeros(sizes.iter().sum(), sizes.len());
        targets.fill(-1.0);
        let mut row = 0;
        for (class, size) in sizes.iter().enumerate() {
            targets.col_mut(class)[row..row + size].fill(1.0);
            row += size;
        }
        let write = |system: &mut Matrix| {
            write_gram(system);
            ridge * mean_diagonal(system)
        };
        solve_raised(MOST_LIFTS, write, &mut targets, stop)?;
        Ok(Self::cut(&targets, sizes))
    }

    /// E with ridge ρ and so much weight for every sample of each class.
    fn over_all(
        classes: &[ClassSamples<'_>],
        weights: &[f64],
        ridge: f64,
        lift: f64,
        stop: StopSignal<'_>,
    ) -> Result<Self, LearnError> {
        let sizes = sizes_of(classes)?;
        let n: usize = sizes.iter().sum();
        stop.check()?;
        let mut gram = Matrix::default();
        joint_gram(classes, n, &mut gram);
        let own = mean_diagonal(&gram);
        // K M, class after class, and the right-hand sides 2 K_:c v_c − Σ K_:d v_d.
        let mut weighted = Matrix::zeros(n, n);
        let mut targets = Matrix::zeros(n, sizes.len());
        let mut first = 0;
        for (class, (samples, &size)) in classes.iter().zip(&sizes).enumerate() {
            let seen = samples.seen.ok_or_else(unseen)?;
            let moment = seen.second_moment.as_ref().ok_or_else(unseen)?;
            let columns = gram.cols_view(first, size);
            product(
                weighted.block_mut(0, n, first, size),
                Write::Replace,
                columns,
                moment.view(),
            );
            let weight = weights[class];
            (first..first + size).for_each(|j| {
                weighted.col_mut(j).iter_mut().for_each(|x| *x *= weight);
            });
            for (j, v) in seen.sum.iter().enumerate() {
                let column = gram.col(first + j);
                let sums = targets.col_mut(class).iter_mut().zip(column);
                sums.for_each(|(sum, k)| *sum += 2.0 * weight * v * k);
            }
            first += size;
            stop.check()?;
        }
        for row in 0..n {
            let all: f64 = 0.5 * targets.row(row).sum::<f64>();
            (0..sizes.len()).for_each(|class| targets[(row, class)] -= all);
        }
        let write = |system: &mut Matrix| {
            system.reshape(n, n);
            for row in (0..n).step_by(PANEL) {
                if stop.is_raised() {
                    break;
                }
                let height = PANEL.min(n - row);
                // Only the lower half is read by the factorisation.
                product(
                    system.block_mut(row, height, 0, row + height),
                    Write::Replace,
                    weighted.block(row, height, 0, n),
                    gram.cols_view(0, row + height),
                );
            }
            let trace: f64 = (0..n).map(|j| system[(j, j)]).sum();
            for j in 0..n {
                let pairs = system.col_mut(j)[j..].iter_mut().zip(&gram.col(j)[j..]);
                pairs.for_each(|(value, k)| *value += ridge * own * k);
            }
            lift * trace / n.max(1) as f64
        };
        solve_raised(MOST_LIFTS, write, &mut targets, stop)?;
        Ok(Self::cut(&targets, &sizes))
    }

    /// N.
    fn nearest_mean(classes: &[ClassSamples<'_>]) -> Result<Self, LearnError> {
        let mut parts = Vec::with_capacity(classes.len());
        let mut offsets = Vec::with_capacity(classes.len());
        let mut gram = Matrix::default();
        for samples in classes {
            let seen = samples.seen.ok_or_else(unseen)?;
            let scale = 1.0 / seen.n_seen.max(1) as f64;
            let mean = Matrix::from_fn(seen.sum.len(), 1, |j, _| scale * seen.sum[j]);
            let Dictionary { kernel, kept, .. } = samples.dictionary;
            kernel.gram(kept, &mut gram);
            let mut projected = Matrix::zeros(kept.len(), 1);
            product(
                projected.view_mut(),
                Write::Replace,
                gram.view(),
                mean.view(),
            );
            let pairs = projected.col(0).iter().zip(mean.col(0));
            offsets.push(-0.5 * pairs.map(|(k, m)| k * m).sum::<f64>());
            parts.push(mean);
        }
        Ok(Self { parts, offsets })
    }

    /// The rows of a solution for all kept samples, class by class.
    fn cut(solution: &Matrix, sizes: &[usize]) -> Self {
        let mut first = 0;
        let parts = sizes.iter().map(|&size| {
            first += size;
            let row = first - size;
            Matrix::from_fn(size, sizes.len(), |i, c| solution[(row + i, c)])
        });
        Self {
            parts: parts.collect(),
            offsets: vec![0.0; sizes.len()],
        }
    }
}

/// Samples that a class has seen, at least one.
fn counts(classes: &[ClassSamples<'_>]) -> impl Iterator<Item = f64> {
    let seen = classes.iter().map(|class| class.seen);
    seen.map(|seen| seen.map_or(0, |seen| seen.n_seen).max(1) as f64)
}

/// Weights with which classes count alike: of few samples one more or less would decide between them.
fn class_weights(classes: &[ClassSamples<'_>]) -> Vec<f64> {
    let mean = counts(classes).sum::<f64>() / classes.len().max(1) as f64;
    counts(classes).map(|count| mean / count).collect()
}

/// How much more the readout of few samples counts than another beside the decision layer. What the span
/// of one or two samples leaves of another says above all how many they are.
fn weight_of_few(classes: &[ClassSamples<'_>]) -> f64 {
    let fewest = counts(classes).fold(SPANNING, f64::min);
    WEIGHT_OF_FEW * (SPANNING / fewest).powi(2)
}

fn unseen() -> LearnError {
    LearnError::BadState(
        "it does not remember the samples that were seen, which its head needs: train it anew"
            .into(),
    )
}

/// How many samples each class keeps, if the system of all is not too large.
fn sizes_of(classes: &[ClassSamples<'_>]) -> Result<Vec<usize>, LearnError> {
    let sizes: Vec<usize> = classes.iter().map(|c| c.dictionary.n_kept()).collect();
    let found = sizes.iter().sum();
    if found > MOST_KEPT {
        let most = MOST_KEPT;
        return Err(LearnError::TooManyKept { found, most });
    }
    Ok(sizes)
}

/// `gram` ← K of the kept samples of all classes, `n` in all.
fn joint_gram(classes: &[ClassSamples<'_>], n: usize, gram: &mut Matrix) {
    gram.reshape(n, n);
    if let Some(first) = classes.first() {
        let mut all = Samples::new(first.dictionary.kept.n_features(), n);
        for samples in classes {
            let kept = &samples.dictionary.kept;
            (0..kept.len()).for_each(|j| all.push_from(kept, j));
        }
        first.dictionary.kernel.gram(&all, gram);
    }
}

/// The mean of the diagonal.
pub(super) fn mean_diagonal(matrix: &Matrix) -> f64 {
    let n = matrix.rows();
    (0..n).map(|j| matrix[(j, j)]).sum::<f64>() / n.max(1) as f64
}

/// `solutions` ← (system + lift·I)⁻¹ · `solutions`, where `write` makes the system and returns the lift; only
/// rounding can make it indefinite, and a larger lift then mends it. Zero where none does.
pub(super) fn solve_raised(
    n_tries: usize,
    write: impl FnMut(&mut Matrix) -> f64,
    solutions: &mut Matrix,
    stop: StopSignal<'_>,
) -> Result<(), LearnError> {
    let mut factor = Cholesky::default();
    stop.check()?;
    let outcome = factor.factor_raised(n_tries, write, || !stop.is_raised());
    stop.check()?;
    if matches!(outcome, Ok(true)) {
        factor.solve_columns(solutions);
    }
    if !matches!(outcome, Ok(true)) || !solutions.is_finite() {
        solutions.fill(0.0);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::evidence::Evidence;
    use crate::learner::report::{ClassReport, StepReport};
    use crate::learner::{Algorithm, Kernel, LearnerSettings, Pruning};

    const KERNEL: Kernel = Kernel::Gaussian { width: 1.5 };

    fn settings(budget: usize) -> LearnerSettings {
        LearnerSettings {
            kernel: KERNEL,
            n_atoms: 6,
            sparsity: 2,
            budget,
            head: Some(Head::E),
            algorithm: Algorithm::Evidence {
                novelty: 1e-7,
                pruning: Pruning::LeastLoss,
            },
            ..LearnerSettings::margin_aware()
        }
    }

    fn samples(first: usize, count: usize, shift: f64) -> Samples {
        let mut block = Samples::new(5, count);
        for i in first..first + count {
            let x: Vec<f64> = (0..5)
                .map(|k| ((i * 5 + k).pow(2) as f64 * 0.7).sin() + shift)
                .collect();
            block.push(&KERNEL, i, &x).expect("finite sample");
        }
        block
    }

    /// A class that has learned 44 samples; two of the four that it began with serve two atoms each.
    fn learned(budget: usize, shift: f64) -> Evidence {
        let settings = settings(budget);
        let mut start = samples(0, 4, shift);
        for twice in 0..2 {
            start.push_from(&samples(twice, 1, shift), 0);
        }
        let mut class = Evidence::start(&settings, &start);
        for batch in 0..4 {
            let batch = samples(4 + 10 * batch, 10, shift);
            class.learn(&settings, &batch, 1.0, &mut empty_report());
        }
        class
    }

    fn empty_report() -> ClassReport {
        let mut report = StepReport::default();
        report.clear(1.0, 1, 6, 20);
        report.classes.remove(0)
    }

    fn kernel_block(rows: &Samples, columns: &Samples) -> Matrix {
        let mut values = Matrix::default();
        KERNEL.block(rows, columns, &mut values);
        values
    }

    fn read(readout: &Readout, classes: &[Evidence], x: &Samples) -> Matrix {
        let rows: Vec<Matrix> = classes
            .iter()
            .map(|class| kernel_block(x, &class.profile.dictionary.kept))
            .collect();
        let mut sums = Matrix::default();
        readout.apply(x.len(), |part| &rows[part], &mut sums);
        sums
    }

    fn parts(classes: &[Evidence]) -> Vec<ClassSamples<'_>> {
        let classes = classes.iter();
        classes
            .map(|class| ClassSamples {
                dictionary: &class.profile.dictionary,
                seen: class.profile.seen.as_ref(),
            })
            .collect()
    }

    fn solved(head: Head, classes: &[Evidence]) -> Readout {
        Readout::solve(head, &parts(classes), StopSignal::default()).expect("solved")
    }

    #[test]
    fn unpruned_n_is_the_kernel_mean_and_e_is_j() {
        let classes = [learned(100, 0.0), learned(100, 0.4)];
        assert_eq!(classes[0].n_kept(), 44);
        let x = samples(60, 7, 0.2);
        let n = read(&solved(Head::N, &classes), &classes, &x);
        for (c, shift) in [0.0, 0.4].into_iter().enumerate() {
            let all = samples(0, 44, shift);
            let (cross, own) = (kernel_block(&x, &all), kernel_block(&all, &all));
            let square: f64 = (0..44).map(|j| own.col(j).iter().sum::<f64>()).sum();
            for i in 0..x.len() {
                let exact = cross.row(i).sum::<f64>() / 44.0 - 0.5 * square / 44.0 / 44.0;
                assert!((n[(i, c)] - exact).abs() < 1e-10);
            }
        }
        let j = read(&solved(Head::S4J, &classes), &classes, &x);
        // What is between them is the lift of E alone, 1e-8 of its trace on the diagonal: without
        // it they are equal.
        for (lift, bound) in [(LIFT, 1e-3), (1e-13, 1e-6)] {
            let e = Readout::over_all(
                &parts(&classes),
                &[1.0; 2],
                RIDGE,
                lift,
                StopSignal::default(),
            );
            let e = read(&e.expect("solved"), &classes, &x);
            for i in 0..x.len() {
                for c in 0..2 {
                    let (e, j) = (e[(i, c)], j[(i, c)]);
                    assert!(
                        (e - j).abs() < bound * j.abs().max(0.1),
                        "{lift:e}: {e} {j}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_was_seen_is_projected_when_samples_leave() {
        let before = learned(100, 0.0);
        let smaller = settings(30);
        let mut after = Evidence::resume(&smaller, before.profile.clone());
        let nothing = samples(0, 0, 0.0);
        after.learn(&smaller, &nothing, 1.0, &mut empty_report());
        assert_eq!(after.n_kept(), 30);
        let (old, new) = (&before.profile, &after.profile);
        let cross = kernel_block(&new.dictionary.kept, &old.dictionary.kept);
        let inverse = new.dictionary.span.as_ref().expect("P").inverse();
        let mut projection = Matrix::zeros(30, 44);
        product(
            projection.view_mut(),
            Write::Replace,
            inverse.view(),
            cross.view(),
        );
        let (old, new) = (old.seen.as_ref(), new.seen.as_ref());
        let (old, new) = (old.expect("seen"), new.expect("seen"));
        assert_eq!((old.n_seen, new.n_seen), (44, 44));
        for i in 0..30 {
            let pairs = projection.row(i).zip(&old.sum);
            let sum: f64 = pairs.map(|(p, v)| p * v).sum();
            assert!((sum - new.sum[i]).abs() < 1e-8, "{sum} {}", new.sum[i]);
        }
        let (mut wide, mut exact) = (Matrix::zeros(30, 44), Matrix::zeros(30, 30));
        let moment = |seen: &SeenSamples| seen.second_moment.clone().expect("M");
        let moved = moment(old);
        product(
            wide.view_mut(),
            Write::Replace,
            projection.view(),
            moved.view(),
        );
        product(
            exact.view_mut(),
            Write::Replace,
            wide.view(),
            projection.view().t(),
        );
        let found = moment(new);
        for j in 0..30 {
            for i in 0..30 {
                assert!((found[(i, j)] - exact[(i, j)]).abs() < 1e-8 * exact.max_abs());
            }
        }
    }
}
