//! The squared distance of a sample to the span of the kept ones, as decisions need it: by its logarithm.
//!
//! σ − kᵀPk is the difference of nearly equal numbers, and the larger P the less of it remains. With P = TᵀT it is
//! σ − ‖Tk‖², whose rounding grows with the root of P only. Where even that could be seen in a score, the kernel
//! values and Tk are computed anew, rounded once: exported models then say the same to nine digits.

use std::sync::{Arc, OnceLock};

use crate::math::{
    Cholesky, Halves, Matrix, Write, columns_stand_alone, product, subtract_precise_lengths,
    vectorised,
};

use super::decision::SMALLEST_DISTANCE;
use super::dictionary::{BlockView, Dictionary};
use super::samples::Samples;
use super::span::Span;

/// What rounding of a distance may make of a score.
const LARGEST_NOISE: f64 = 1e-10;
/// Rounding of a kernel value or of an element of Tk, in units of ε of its terms.
const ROUNDING: f64 = 4.0;

/// T is found for blocks of at least one sample for so many kept ones.
const FEWEST_FOR_ROOT: usize = 2;
/// Rows of the triangle T that are multiplied together.
const TRIANGLE_PANEL: usize = 24;
/// Up to so many terms a product adds up one after the other.
const LONGEST_CHAIN: usize = 512;

/// T of P = TᵀT.
#[derive(Clone, Debug)]
pub(crate) struct SpanRoot {
    /// Column j is row j of T.
    rows: Matrix,
    /// Sum of each row's absolute elements, kept samples counted as of length 1.
    reach: Vec<f64>,
}

/// T, once it was asked for after the span changed last; none where P has no root.
#[derive(Clone, Debug, Default)]
pub(super) struct RootCache(OnceLock<Option<Arc<SpanRoot>>>);

/// Follows from the span, so it tells no two apart.
impl PartialEq for RootCache {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl RootCache {
    /// T of `inverse`; `own` is k(x, x) of the kept samples.
    pub(super) fn get(&self, inverse: &Matrix, own: &[f64]) -> Option<&SpanRoot> {
        let root = self
            .0
            .get_or_init(|| SpanRoot::of(inverse, own).map(Arc::new));
        root.as_deref()
    }
}

/// Scratch memory.
#[derive(Clone, Debug, Default)]
pub(super) struct DistanceWork {
    /// How much the logarithm of a distance counts in a score.
    weight: f64,
    /// Samples of the block whose distances are not known well enough.
    doubtful: Vec<usize>,
    /// What tells how far rounding may reach, of every sample.
    weights: Vec<f64>,
    /// (Tk)ᵀ, row per sample.
    lengths: Matrix,
    /// k, column per sample.
    kernel_columns: Matrix,
    distances: Vec<f64>,
    halves: Halves,
}

impl SpanRoot {
    /// The factor from the last row up, so that T is a lower triangle.
    fn of(inverse: &Matrix, own: &[f64]) -> Option<Self> {
        let n = inverse.rows();
        let mut turned = Matrix::zeros(n, n);
        for j in 0..n {
            let values = inverse.col(n - 1 - j).iter().rev();
            let pairs = turned.col_mut(j).iter_mut().zip(values);
            pairs.for_each(|(target, value)| *target = *value);
        }
        let mut factor = Cholesky::default();
        factor.factor(turned.view()).ok()?;
        let lower = factor.lower();
        let roots: Vec<f64> = own.iter().map(|own| own.sqrt()).collect();
        let (mut rows, mut reach) = (turned, Vec::with_capacity(n));
        for j in 0..n {
            let (row, rest) = rows.col_mut(j).split_at_mut(j + 1);
            let values = lower.col(n - 1 - j)[n - 1 - j..].iter().rev();
            row.iter_mut()
                .zip(values)
                .for_each(|(t, value)| *t = *value);
            rest.fill(0.0);
            let pairs = row.iter().zip(&roots);
            reach.push(pairs.map(|(value, root)| value.abs() * root).sum());
        }
        Some(Self { rows, reach })
    }

    /// A row per row of T.
    pub(crate) fn rows(&self) -> &Matrix {
        &self.rows
    }

    /// `lengths` ← (Tk)ᵀ for kernel values kᵀ, a row per sample. Zeros past the end of the rows of T are left out, which
    /// changes no bit where every panel is a product of the same kind as the whole.
    fn lengths(&self, kernel_rows: &Matrix, lengths: &mut Matrix) {
        let (n_samples, n_kept) = (kernel_rows.rows(), self.rows.cols());
        lengths.reshape(n_samples, n_kept);
        let panels = |width: usize| {
            let firsts = (0..n_kept).step_by(width);
            firsts.map(move |first| (first, width.min(n_kept - first)))
        };
        let stands_alone =
            |(first, count): (usize, usize)| columns_stand_alone(n_samples, first + count, count);
        let is_whole = n_kept > LONGEST_CHAIN || !panels(TRIANGLE_PANEL).all(stands_alone);
        let width = if is_whole {
            n_kept.max(1)
        } else {
            TRIANGLE_PANEL
        };
        for (first, count) in panels(width) {
            let inner = first + count;
            product(
                lengths.block_mut(0, n_samples, first, count),
                Write::Replace,
                kernel_rows.block(0, n_samples, 0, inner),
                self.rows.block(0, inner, first, count),
            );
        }
    }

    /// What rounding may have made of σ − ‖Tk‖², where ‖Tk‖ has this weight.
    fn noise(weight: f64, own: f64) -> f64 {
        ROUNDING * f64::EPSILON * own.sqrt() * weight
    }
}

/// What rounding may have made of σ − kᵀPk, where k has this weight by √P_jj: |P_jl| ≤ √(P_jj P_ll), and errors of so
/// many terms hardly all add up.
fn noise_of_product(weight: f64, n: usize) -> f64 {
    f64::EPSILON * weight * weight / (n as f64).sqrt().max(1.0)
}

/// `sums` ← the sizes of each row's elements, weighed by their columns.
fn weigh(rows: &Matrix, weight: impl Fn(usize) -> f64, sums: &mut Vec<f64>) {
    sums.clear();
    sums.resize(rows.rows(), 0.0);
    vectorised(
        #[inline(always)]
        || {
            for j in 0..rows.cols() {
                let weight = weight(j);
                let values = sums.iter_mut().zip(rows.col(j));
                values.for_each(|(sum, value)| *sum += value.abs() * weight);
            }
        },
    );
}

impl DistanceWork {
    /// Retains those doubtful samples in whose score this noise of their distances could be seen.
    fn retain(&mut self, distances: &[f64], own: &[f64], noise: impl Fn(f64, f64) -> f64) {
        let (weights, largest) = (&self.weights, LARGEST_NOISE / self.weight.abs().max(1.0));
        self.doubtful.retain(|&i| {
            let (noise, floor) = (noise(weights[i], own[i]), SMALLEST_DISTANCE * own[i]);
            distances[i] + noise > floor && noise > largest * distances[i].max(floor)
        });
    }

    /// The doubtful samples take their new distances.
    fn take(&self, distances: &mut [f64]) {
        for &i in &self.doubtful {
            distances[i] = self.distances[i];
        }
    }
}

impl Dictionary {
    /// Squared distances of a block to the span to the digits that decisions need in which their logarithm counts
    /// `weight`. What is said of a sample does not depend on those beside it: where one is doubtful, the block is
    /// computed anew as a whole.
    pub(super) fn settle_distances(&self, block: &Samples, weight: f64, view: &mut BlockView) {
        let work = &mut view.distance;
        work.weight = weight;
        work.doubtful.clear();
        let signals = (0..block.len()).filter(|&i| !block.is_zero(i));
        work.doubtful.extend(signals);
        let Some(span) = &self.span else {
            view.distances.clear();
            return;
        };
        // T is half of P, but has to be found first; of a large one the zeros are multiplied too.
        let is_short = FEWEST_FOR_ROOT * block.len() < span.len() || span.len() > LONGEST_CHAIN;
        if is_short && self.product_settles(span, block, view) {
            return;
        }
        let Some(root) = span.root(self.kept.self_kernel()) else {
            if !is_short {
                self.measure_distances(block, view);
            }
            return;
        };
        let BlockView {
            kernel_rows,
            distances,
            distance: work,
            ..
        } = view;
        let own = block.self_kernel();
        root.lengths(kernel_rows, &mut work.lengths);
        work.distances.clear();
        Span::distances(&work.lengths, &work.lengths, own, &mut work.distances);
        if is_short {
            work.take(distances);
        } else {
            std::mem::swap(distances, &mut work.distances);
        }
        weigh(&work.lengths, |j| root.reach[j], &mut work.weights);
        work.retain(distances, own, SpanRoot::noise);
        if work.doubtful.is_empty() {
            return;
        }
        let (columns, halves) = (&mut work.kernel_columns, &mut work.halves);
        self.kernel
            .block_precisely(&self.kept, block, columns, halves);
        work.distances.clear();
        work.distances.extend_from_slice(own);
        subtract_precise_lengths(
            &mut work.distances,
            columns,
            &root.rows,
            &mut work.lengths,
            halves,
        );
        work.take(distances);
    }

    /// Distances from kᵀPk, and whether rounding of none of them could be seen.
    fn product_settles(&self, span: &Span, block: &Samples, view: &mut BlockView) -> bool {
        self.measure_distances(block, view);
        let (inverse, work) = (span.inverse(), &mut view.distance);
        let weight = |j: usize| inverse[(j, j)].sqrt();
        weigh(&view.kernel_rows, weight, &mut work.weights);
        let noise = |weight: f64, _| noise_of_product(weight, inverse.rows());
        work.retain(&view.distances, block.self_kernel(), noise);
        work.doubtful.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::{Kernel, LearnerSettings, Pursuit, SparseCoder, SparseCodes};
    use crate::math::{Normal, random_stream};

    /// A quadratic kernel of three features has ten dimensions: of eight samples close together, K is nearly singular.
    #[test]
    fn distances_of_nearly_dependent_samples_keep_nine_digits() {
        let kernel = Kernel::Polynomial {
            degree: 2,
            offset: 1.0,
        };
        let mut random = random_stream(5, "distance", 0);
        let mut normal = Normal::default();
        let mut draw = |spread: f64, n: usize| {
            let mut samples = Samples::new(3, n);
            for i in 0..n {
                let x: Vec<f64> = (0..3)
                    .map(|f| 1.0 + f as f64 + spread * normal.draw(&mut random))
                    .collect();
                samples.push(&kernel, i, &x).expect("three features");
            }
            samples
        };
        let (kept, block) = (draw(0.3, 8), draw(0.3, 16));
        let mut gram = Matrix::default();
        kernel.gram(&kept, &mut gram);
        let mut factor = Cholesky::default();
        factor.factor(gram.view()).expect("independent");
        let mut inverse = Matrix::default();
        factor.inverse_into(&mut inverse);
        let dictionary = Dictionary {
            kernel,
            coefficients: Matrix::zeros(1, 8),
            atom_gram: Matrix::identity(1),
            span: Some(Span::of_parts(inverse, 0.0)),
            kept,
        };
        let settings = LearnerSettings::default();
        let coder = SparseCoder::new(Pursuit::Ormp, 1, settings.error_limit);
        let distances = |block: &Samples| {
            let mut view = BlockView::new(coder.clone(), SparseCodes::new(1, 0));
            dictionary.inner_products(block, &mut view);
            dictionary.settle_distances(block, 1.0, &mut view);
            view.distances.clone()
        };
        let whole = distances(&block);
        assert!(whole.iter().any(|d| *d > SMALLEST_DISTANCE), "{whole:?}");
        let span = dictionary.span.as_ref().expect("there is one");
        let root = span
            .root(dictionary.kept.self_kernel())
            .expect("it has one");
        for (i, &found) in whole.iter().enumerate() {
            let own = block.self_kernel()[i];
            let expected = exact_distance(&dictionary, root, block.features(i), own);
            let floor = SMALLEST_DISTANCE * own;
            let error = (found.max(floor) / expected.max(floor)).ln().abs();
            assert!(error < 1e-9, "{i}: {found:e} for {expected:e}");
        }
    }

    #[test]
    fn products_with_the_triangle_have_the_bits_of_the_whole_product() {
        for (n_samples, n_kept) in [
            (1, 200),
            (2, 203),
            (24, 60),
            (128, 200),
            (128, 203),
            (16, 600),
        ] {
            let rows = Matrix::from_fn(n_kept, n_kept, |i, j| match i <= j {
                true => 1e3 * ((i * 37 + j * 101) as f64).sin(),
                false => 0.0,
            });
            let kernel_rows =
                Matrix::from_fn(n_samples, n_kept, |i, j| ((i * 71 + j) as f64).cos());
            let mut whole = Matrix::zeros(n_samples, n_kept);
            let (left, right) = (kernel_rows.view(), rows.view());
            product(whole.view_mut(), Write::Replace, left, right);
            let (reach, mut lengths) = (Vec::new(), Matrix::default());
            SpanRoot { rows, reach }.lengths(&kernel_rows, &mut lengths);
            for j in 0..n_kept {
                assert_eq!(lengths.col(j), whole.col(j), "{n_samples} × {n_kept}");
            }
        }
    }

    /// σ − ‖Tk‖² with sums of products that keep their rounding errors.
    fn exact_distance(dictionary: &Dictionary, root: &SpanRoot, x: &[f64], own: f64) -> f64 {
        let kept = &dictionary.kept;
        let square = |y: &[f64]| {
            let inner = 1.0 + summed(x.iter().copied().zip(y.iter().copied()));
            inner * inner
        };
        let k: Vec<f64> = (0..kept.len()).map(|j| square(kept.features(j))).collect();
        let mut squares = vec![(own, 1.0)];
        for j in 0..kept.len() {
            let row = root.rows.col(j).iter().copied();
            let length = summed(row.zip(k.iter().copied()));
            squares.push((-length, length));
        }
        summed(squares.into_iter())
    }

    fn summed(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
        let (mut sum, mut error) = (0.0_f64, 0.0);
        for (a, b) in pairs {
            let product = a * b;
            error += a.mul_add(b, -product);
            let next = sum + product;
            let part = next - sum;
            error += (sum - (next - part)) + (product - part);
            sum = next;
        }
        sum + error
    }
}
