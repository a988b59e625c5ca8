//! The span of the kept samples in feature space: P = K⁻¹, grown and shrunk block by block.

use serde::{Deserialize, Serialize};

use crate::math::{Cholesky, Matrix, Write, product, solve_lower_transposed_right, vectorised};

use super::distance::{RootCache, SpanRoot};
use super::kernel::Kernel;
use super::samples::Samples;

/// Drift ‖P K e_j − e_j‖ above which P is computed again.
const DRIFT_LIMIT: f64 = 1e-10;
/// Up to so many samples the limit is that; above, it grows with the square of their number:
/// rounding adds up over more of them, and computing P again costs L³.
const STRICT_UP_TO: f64 = 1000.0;

/// From this many kept samples on P is larger than the caches, and passing over it is what
/// a step costs. It then takes in what enters and what leaves in one pass instead of two,
/// and is checked against the kernel in every [`WIDE_CHECK_INTERVAL`]th mini-batch only.
pub const ONE_PASS_FROM: usize = 1500;

/// Mini-batches from one spot check of a P of [`ONE_PASS_FROM`] samples or more to the next.
pub const WIDE_CHECK_INTERVAL: u64 = 8;

/// The inverse kernel matrix of the kept samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    inverse: Matrix,
    /// K is taken with its diagonal raised by this share, so that dependent samples can
    /// belong to the span too. 0 where only independent samples are kept.
    diagonal_lift: f64,
    /// The drift that the last rebuilding left: asking for less would rebuild for ever.
    attainable_drift: f64,
    /// The kept sample that is checked next.
    next_check: usize,
    #[serde(skip)]
    root: RootCache,
}

/// How a block of new samples lies to the span, with the scratch memory to find out.
#[derive(Clone, Debug, Default)]
pub(super) struct SpanBlock {
    /// aᵀ = (P k)ᵀ: row per new sample, column per kept one.
    pub(super) weights: Matrix,
    /// What is left of the new samples' kernel matrix outside the span of the kept
    /// *and* the admitted samples; zero in rows and columns of admitted ones.
    pub(super) left_over: Matrix,
    /// Positions in the block of the admitted samples.
    pub(super) admitted: Vec<usize>,
    /// Whether a position is admitted.
    pub(super) is_admitted: Vec<bool>,
    /// The share of each position outside the span of the kept samples and those admitted before it.
    pub(super) shares: Vec<f64>,
    /// c = δ_SS⁻¹ δ_S: of every position, one column each.
    pub(super) mixing: Matrix,
    /// The smallest share of a sample outside the span that was admitted.
    pub(super) smallest_share: f64,
    /// δ_SS.
    outside: Matrix,
    /// δ of the block before anything was admitted.
    distances: Matrix,
    factor: Cholesky,
    /// a_S δ_SS^(−T/2), column per admitted sample.
    half: Matrix,
    small: Matrix,
}

/// Scratch memory for the spot check.
#[derive(Clone, Debug, Default)]
pub(super) struct SpotWork {
    sample: Option<Samples>,
    kernel_row: Matrix,
    weights: Matrix,
}

/// Scratch memory for shrinking.
#[derive(Clone, Debug, Default)]
pub(super) struct ShrinkWork {
    /// P_mm^(−1/2) P_mk, transposed: row per staying sample, column per leaving one.
    pub(super) half: Matrix,
    /// What P still lacks of the samples that entered, b a_Sᵀ as a square: a row per sample.
    pending: Matrix,
    /// Both updates side by side, the second with its sign.
    left: Matrix,
    right: Matrix,
    /// The Cholesky factor of P_mm.
    pub(super) factor: Cholesky,
}

impl Span {
    /// The span of nothing, with room for `capacity` samples.
    pub(super) fn with_capacity(capacity: usize, diagonal_lift: f64) -> Self {
        Self {
            inverse: Matrix::with_capacity(capacity, capacity),
            diagonal_lift,
            ..Self::default()
        }
    }

    /// A span with given P.
    #[cfg(test)]
    pub(super) fn of_parts(inverse: Matrix, diagonal_lift: f64) -> Self {
        Self {
            inverse,
            diagonal_lift,
            ..Self::default()
        }
    }

    /// P.
    pub fn inverse(&self) -> &Matrix {
        &self.inverse
    }

    /// T of P = TᵀT, where P has one; `own` is k(x, x) of the kept samples.
    pub(crate) fn root(&self, own: &[f64]) -> Option<&SpanRoot> {
        self.root.get(&self.inverse, own)
    }

    /// Number of samples that span it.
    pub fn len(&self) -> usize {
        self.inverse.rows()
    }

    /// Whether nothing spans it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `weights` ← kᵀ P for kernel values kᵀ (row per new sample).
    pub(super) fn weigh(&self, kernel_rows: &Matrix, weights: &mut Matrix) {
        weights.reshape(kernel_rows.rows(), self.len());
        let inverse = self.inverse.view();
        // P is symmetric; the transpose serves a single row, which is computed as a column.
        let inverse = if kernel_rows.rows() == 1 {
            inverse.t()
        } else {
            inverse
        };
        product(
            weights.view_mut(),
            Write::Replace,
            kernel_rows.view(),
            inverse,
        );
    }

    /// Squared distance of every new sample to the span, σ − kᵀPk, given kᵀ and kᵀP; added to `distances`.
    pub(super) fn distances(
        kernel_rows: &Matrix,
        weights: &Matrix,
        self_kernel: &[f64],
        distances: &mut Vec<f64>,
    ) {
        let start = distances.len();
        distances.extend_from_slice(self_kernel);
        let distances = &mut distances[start..];
        vectorised(
            #[inline(always)]
            || {
                for j in 0..kernel_rows.cols() {
                    let pairs = kernel_rows.col(j).iter().zip(weights.col(j));
                    for (distance, (k, a)) in distances.iter_mut().zip(pairs) {
                        *distance -= k * a;
                    }
                }
            },
        );
    }

    /// Decides which samples of a block extend the span by more than the share `novelty`
    /// of themselves. `block.weights` must hold kᵀP; `block_kernel` is the kernel matrix
    /// of the block itself.
    pub(super) fn admit(
        &self,
        kernel_rows: &Matrix,
        block_kernel: &Matrix,
        novelty: f64,
        may_admit: impl Fn(usize) -> bool,
        block: &mut SpanBlock,
    ) {
        let m = block_kernel.rows();
        let distances = &mut block.distances;
        distances.copy_from(block_kernel.view());
        for j in 0..m {
            distances[(j, j)] *= 1.0 + self.diagonal_lift;
        }
        product(
            distances.view_mut(),
            Write::Subtract,
            kernel_rows.view(),
            block.weights.view().t(),
        );
        // Without this the asymmetry of rounding grows to 5e-5 over a long stream.
        distances.symmetrise();
        block.left_over.copy_from(block.distances.view());
        block.admitted.clear();
        block.is_admitted.clear();
        block.is_admitted.resize(m, false);
        block.shares.clear();
        block.smallest_share = f64::INFINITY;
        for j in 0..m {
            let share = block.left_over[(j, j)] / block_kernel[(j, j)];
            block.shares.push(share);
            if share > novelty && may_admit(j) {
                deflate(&mut block.left_over, j);
                block.admitted.push(j);
                block.is_admitted[j] = true;
                block.smallest_share = block.smallest_share.min(share);
            }
        }
        block.solve_mixing();
    }

    /// Extends P by the admitted samples of a block.
    pub(super) fn extend(&mut self, block: &mut SpanBlock) {
        let old = self.len();
        self.extend_borders(block);
        if block.admitted.is_empty() {
            return;
        }
        product(
            self.inverse.block_mut(0, old, 0, old),
            Write::Add,
            block.half.view(),
            block.half.view().t(),
        );
    }

    /// The same with the product over all of P omitted, which `work` keeps for
    /// [`Span::shrink`]; until then only [`Span::diagonal`] and swaps are allowed.
    pub(super) fn extend_later(&mut self, block: &mut SpanBlock, work: &mut ShrinkWork) {
        let (old, new) = (self.len(), block.admitted.len());
        self.extend_borders(block);
        work.pending.reshape(old + new, new);
        for k in 0..new {
            let (before, since) = work.pending.col_mut(k).split_at_mut(old);
            before.copy_from_slice(block.half.col(k));
            since.fill(0.0);
        }
    }

    /// P_jj, what is pending included.
    pub(super) fn diagonal(&self, j: usize, work: &ShrinkWork) -> f64 {
        let pending = (0..work.pending.cols()).map(|k| work.pending[(j, k)]);
        self.inverse[(j, j)] + pending.map(|value| value * value).sum::<f64>()
    }

    /// Rows and columns of P for the admitted samples; `block.half` squared is what the others
    /// gain.
    fn extend_borders(&mut self, block: &mut SpanBlock) {
        let (old, new) = (self.len(), block.admitted.len());
        block.half.reshape(old, new);
        if new == 0 {
            return;
        }
        self.root = RootCache::default();
        self.inverse.resize(old + new, old + new);
        for (k, &j) in block.admitted.iter().enumerate() {
            for l in 0..old {
                block.half[(l, k)] = block.weights[(j, l)];
            }
        }
        solve_lower_transposed_right(&mut block.half, &block.factor);
        // −b = −a_S δ_SS⁻¹ and δ_SS⁻¹.
        block.factor.inverse_into(&mut block.outside);
        for k in 0..new {
            self.inverse.col_mut(old + k)[old..].copy_from_slice(block.outside.col(k));
        }
        block.small.reshape(new, new);
        block.small.fill(0.0);
        for k in 0..new {
            block.small[(k, k)] = 1.0;
            block.factor.solve_lower(block.small.col_mut(k));
        }
        product(
            self.inverse.block_mut(0, old, old, new),
            Write::Subtract,
            block.half.view(),
            block.small.view(),
        );
        for k in 0..new {
            for l in 0..old {
                self.inverse[(old + k, l)] = self.inverse[(l, old + k)];
            }
        }
    }

    /// Exchanges the places of two samples.
    pub(super) fn swap(&mut self, a: usize, b: usize) {
        self.root = RootCache::default();
        self.inverse.swap_symmetric(a, b);
    }

    /// The same while `work` holds what is pending.
    pub(super) fn swap_pending(&mut self, a: usize, b: usize, work: &mut ShrinkWork) {
        self.swap(a, b);
        for k in 0..work.pending.cols() {
            work.pending.col_mut(k).swap(a, b);
        }
    }

    /// Takes the last `count` samples out of the span:
    /// P ← P_kk − P_km P_mm⁻¹ P_mk. P_mm is positive definite: there is no singular case
    /// but by rounding, which is told by `false` (then P must be rebuilt).
    #[must_use]
    pub(super) fn shrink(&mut self, count: usize, work: &mut ShrinkWork) -> bool {
        self.root = RootCache::default();
        let (n, new) = (self.len(), work.pending.cols());
        let keep = n - count;
        if new > 0 {
            product(
                self.inverse.block_mut(0, n, keep, count),
                Write::Add,
                work.pending.view(),
                work.pending.block(keep, count, 0, new).t(),
            );
        }
        let corner = self.inverse.block(keep, count, keep, count);
        let sound = work.factor.factor(corner).is_ok();
        if sound {
            work.half
                .copy_from(self.inverse.block(0, keep, keep, count));
            solve_lower_transposed_right(&mut work.half, &work.factor);
            work.put_side_by_side(keep);
            product(
                self.inverse.block_mut(0, keep, 0, keep),
                Write::Add,
                work.left.view(),
                work.right.view().t(),
            );
        }
        work.pending.reshape(0, 0);
        self.inverse.resize(keep, keep);
        sound
    }

    /// ‖P K e_j − e_j‖∞ for one kept sample, another one each time; samples count as of length 1.
    pub(super) fn spot_check(
        &mut self,
        kernel: &Kernel,
        kept: &Samples,
        work: &mut SpotWork,
    ) -> f64 {
        let n = self.len();
        if n == 0 {
            return 0.0;
        }
        // What could not be better once may be better now: other samples are kept.
        self.attainable_drift *= 0.9;
        // Strided, because neighbours of one mini-batch tell little new.
        self.next_check = (self.next_check + 7) % n;
        self.error_at(self.next_check, kernel, kept, work)
    }

    /// The same for that one of some samples which lies nearest to the span of all others: rounding
    /// errors are largest there.
    pub(super) fn check_nearest(
        &self,
        counts: impl Fn(usize) -> bool,
        kernel: &Kernel,
        kept: &Samples,
        work: &mut SpotWork,
    ) -> f64 {
        let nearness = |j: &usize| self.inverse[(*j, *j)] * kept.self_kernel()[*j];
        let some = (0..self.len()).filter(|j| counts(*j));
        let nearest = some.max_by(|a, b| nearness(a).total_cmp(&nearness(b)));
        nearest.map_or(0.0, |j| self.error_at(j, kernel, kept, work))
    }

    fn error_at(&self, j: usize, kernel: &Kernel, kept: &Samples, work: &mut SpotWork) -> f64 {
        let sample = work
            .sample
            .get_or_insert_with(|| Samples::new(kept.n_features(), 1));
        sample.clear();
        sample.push_from(kept, j);
        kernel.block(sample, kept, &mut work.kernel_row);
        work.kernel_row[(0, j)] = (1.0 + self.diagonal_lift) * kept.self_kernel()[j];
        self.weigh(&work.kernel_row, &mut work.weights);
        work.weights[(0, j)] -= 1.0;
        // In units in which every kept sample has length 1: the same for every scale of the data.
        let own = kept.self_kernel();
        (0..self.len()).fold(0.0_f64, |largest, i| {
            let error = work.weights[(0, i)] * (own[i] / own[j]).sqrt();
            if error.is_nan() {
                f64::NAN
            } else {
                largest.max(error.abs())
            }
        })
    }

    /// Whether a drift calls for rebuilding.
    pub(super) fn needs_rebuilding(&self, drift: f64) -> bool {
        let size = (self.len() as f64 / STRICT_UP_TO).max(1.0);
        let limit = DRIFT_LIMIT * size * size;
        drift.is_nan() || drift > limit.max(2.0 * self.attainable_drift)
    }

    /// Computes P again from the kept samples; `kernel_matrix` receives K. Returns whether
    /// K could be factored.
    #[must_use]
    pub(super) fn rebuild(
        &mut self,
        kernel: &Kernel,
        kept: &Samples,
        kernel_matrix: &mut Matrix,
        work: &mut SpotWork,
    ) -> bool {
        self.root = RootCache::default();
        kernel.gram(kept, kernel_matrix);
        for (j, own) in kept.self_kernel().iter().enumerate() {
            kernel_matrix[(j, j)] = (1.0 + self.diagonal_lift) * own;
        }
        let mut factor = Cholesky::default();
        if factor.factor(kernel_matrix.view()).is_err() {
            return false;
        }
        factor.inverse_into(&mut self.inverse);
        self.attainable_drift = self.spot_check(kernel, kept, work);
        true
    }
}

impl ShrinkWork {
    /// The factors of b a_Sᵀ − P_km P_mm⁻¹ P_mk over the first `keep` samples.
    fn put_side_by_side(&mut self, keep: usize) {
        let (new, count) = (self.pending.cols(), self.half.cols());
        for side in [&mut self.left, &mut self.right] {
            side.reshape(keep, new + count);
            for k in 0..new {
                side.col_mut(k)
                    .copy_from_slice(&self.pending.col(k)[..keep]);
            }
        }
        for k in 0..count {
            let half = self.half.col(k);
            self.left.col_mut(new + k).copy_from_slice(half);
            let signed = self.right.col_mut(new + k).iter_mut().zip(half);
            signed.for_each(|(target, value)| *target = -value);
        }
    }
}

impl SpanBlock {
    /// Factors δ_SS and solves c = δ_SS⁻¹ δ_S:.
    fn solve_mixing(&mut self) {
        let (n, m) = (self.admitted.len(), self.distances.cols());
        self.outside.reshape(n, n);
        for (k, &j) in self.admitted.iter().enumerate() {
            for (l, &i) in self.admitted.iter().enumerate() {
                self.outside[(l, k)] = self.distances[(i, j)];
            }
        }
        self.mixing.reshape(n, m);
        if n == 0 {
            return;
        }
        // The deflation above found every pivot positive, so this cannot fail but by rounding.
        if self.factor.factor(self.outside.view()).is_err() {
            self.admitted.clear();
            self.is_admitted.fill(false);
            self.left_over.copy_from(self.distances.view());
            self.mixing.reshape(0, m);
            return;
        }
        for j in 0..m {
            let column = self.mixing.col_mut(j);
            if self.is_admitted[j] {
                let units = column.iter_mut().zip(&self.admitted);
                units.for_each(|(value, &i)| *value = f64::from(u8::from(i == j)));
            } else {
                let values = column.iter_mut().zip(&self.admitted);
                values.for_each(|(value, &i)| *value = self.distances[(i, j)]);
                self.factor.solve(column);
            }
        }
    }
}

/// δ ← δ − δ_:j δ_j: / δ_jj.
fn deflate(matrix: &mut Matrix, j: usize) {
    let n = matrix.cols();
    let pivot = matrix[(j, j)];
    for k in 0..n {
        if k != j {
            let factor = matrix[(j, k)] / pivot;
            for i in 0..n {
                let value = matrix[(i, j)];
                matrix[(i, k)] -= factor * value;
            }
        }
    }
    matrix.col_mut(j).fill(0.0);
    for k in 0..n {
        matrix[(j, k)] = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{random_share, random_stream};

    fn samples(kernel: &Kernel, seed: u64, n: usize) -> Samples {
        let mut random = random_stream(seed, "samples of a span", 0);
        let mut samples = Samples::new(6, n);
        for i in 0..n {
            let x: Vec<f64> = (0..6).map(|_| random_share(&mut random)).collect();
            samples.push(kernel, i, &x).expect("finite samples");
        }
        samples
    }

    /// P of 40 samples to which 5 are admitted, and the block that admitted them.
    fn grown(kernel: &Kernel) -> (Span, SpanBlock) {
        let (kept, new) = (samples(kernel, 1, 40), samples(kernel, 2, 5));
        let (mut span, mut block) = (Span::with_capacity(45, 0.0), SpanBlock::default());
        let mut matrix = Matrix::default();
        let mut work = SpotWork::default();
        assert!(span.rebuild(kernel, &kept, &mut matrix, &mut work));
        let (mut rows, mut own) = (Matrix::default(), Matrix::default());
        kernel.block(&new, &kept, &mut rows);
        kernel.block(&new, &new, &mut own);
        span.weigh(&rows, &mut block.weights);
        span.admit(&rows, &own, 1e-3, |_| true, &mut block);
        assert_eq!(block.admitted.len(), 5);
        (span, block)
    }

    #[test]
    fn one_pass_equals_two() {
        let kernel = Kernel::Gaussian { width: 0.5 };
        let (mut together, mut block) = grown(&kernel);
        let mut work = ShrinkWork::default();
        together.extend_later(&mut block, &mut work);
        let (mut apart, mut other_block) = grown(&kernel);
        let mut other_work = ShrinkWork::default();
        apart.extend(&mut other_block);
        for (k, place) in [44, 17, 9, 3].into_iter().enumerate() {
            together.swap_pending(place, 44 - k, &mut work);
            apart.swap(place, 44 - k);
        }
        for j in 0..45 {
            let ratio = together.diagonal(j, &work) / apart.diagonal(j, &other_work);
            assert!((ratio - 1.0).abs() < 1e-13);
        }
        assert!(together.shrink(4, &mut work) && apart.shrink(4, &mut other_work));
        let largest = apart.inverse().max_abs();
        for j in 0..41 {
            for i in 0..41 {
                let (one, two) = (together.inverse()[(i, j)], apart.inverse()[(i, j)]);
                assert!((one - two).abs() < 1e-13 * largest);
                assert_eq!(one.to_bits(), together.inverse()[(j, i)].to_bits());
            }
        }
    }
}
