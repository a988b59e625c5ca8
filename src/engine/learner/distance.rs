//! The squared distance of a sample to the span of the kept ones, as decisions need it: by its logarithm.
//!
//! σ − kᵀPk is the difference of nearly equal numbers, and the larger P the less of it remains. With P = TᵀT it is
//! σ − ‖Tk‖², whose rounding grows with the root of P only. Where even that could be seen in a score, the kernel
//! values and Tk are computed anew, rounded once: exported models then say the same to nine digits.

use std::sync::{Arc, OnceLock};

use crate::math::{Cholesky, Halves, Matrix, Write, precise_inner_products, product};

use super::decision::SMALLEST_DISTANCE;
use super::dictionary::Dictionary;
use super::samples::Samples;
use super::span::Span;

/// Share of a distance that rounding may be.
const LARGEST_NOISE: f64 = 1e-10;
/// Rounding of a kernel value or of an element of Tk, in units of ε of its terms.
const ROUNDING: f64 = 4.0;

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
    /// (Tk)ᵀ, row per sample.
    lengths: Matrix,
    doubtful: Option<Samples>,
    places: Vec<usize>,
    kernel_rows: Matrix,
    columns: Matrix,
    distances: Vec<f64>,
    halves: Halves,
}

impl SpanRoot {
    /// The factor from the last row up, so that T is a lower triangle.
    fn of(inverse: &Matrix, own: &[f64]) -> Option<Self> {
        let n = inverse.rows();
        let turned = Matrix::from_fn(n, n, |i, j| inverse[(n - 1 - i, n - 1 - j)]);
        let mut factor = Cholesky::default();
        factor.factor(turned.view()).ok()?;
        let lower = factor.lower();
        let rows = Matrix::from_fn(n, n, |i, j| match i <= j {
            true => lower.at(n - 1 - i, n - 1 - j),
            false => 0.0,
        });
        let reach = |j: usize| {
            let pairs = rows.col(j).iter().zip(own);
            pairs.map(|(value, own)| value.abs() * own.sqrt()).sum()
        };
        let reach = (0..n).map(reach).collect();
        Some(Self { rows, reach })
    }

    /// A row per row of T.
    pub(crate) fn rows(&self) -> &Matrix {
        &self.rows
    }

    /// What rounding may have made of a distance.
    fn noise(&self, lengths: &Matrix, i: usize, own: f64) -> f64 {
        let reach = self.reach.iter().enumerate();
        let weight: f64 = reach.map(|(j, reach)| lengths[(i, j)].abs() * reach).sum();
        ROUNDING * f64::EPSILON * own.sqrt() * weight
    }
}

impl Dictionary {
    /// Squared distances of a block to the span from its kernel values.
    pub(super) fn settle_distances(
        &self,
        block: &Samples,
        kernel_rows: &Matrix,
        span: &Span,
        root: &SpanRoot,
        work: &mut DistanceWork,
        distances: &mut Vec<f64>,
    ) {
        let own = block.self_kernel();
        work.lengths.reshape(block.len(), span.len());
        product(
            work.lengths.view_mut(),
            Write::Replace,
            kernel_rows.view(),
            root.rows.view(),
        );
        Span::distances(&work.lengths, &work.lengths, own, distances);
        work.places.clear();
        for (i, (&distance, &own)) in distances.iter().zip(own).enumerate() {
            let noise = root.noise(&work.lengths, i, own);
            let floor = SMALLEST_DISTANCE * own;
            let counts = distance + noise > floor && !block.is_zero(i);
            if counts && noise > LARGEST_NOISE * distance.max(floor) {
                work.places.push(i);
            }
        }
        if !work.places.is_empty() {
            self.settle_doubtful(block, root, work, distances);
        }
    }

    /// The same for the samples at `work.places`, with everything rounded once.
    fn settle_doubtful(
        &self,
        block: &Samples,
        root: &SpanRoot,
        work: &mut DistanceWork,
        distances: &mut [f64],
    ) {
        let doubtful = work
            .doubtful
            .get_or_insert_with(|| Samples::new(block.n_features(), work.places.len()));
        doubtful.clear();
        for &i in &work.places {
            doubtful.push_from(block, i);
        }
        let (rows, halves) = (&mut work.kernel_rows, &mut work.halves);
        self.kernel
            .block_precisely(&self.kept, doubtful, rows, halves);
        precise_inner_products(&mut work.columns, rows, &root.rows, halves);
        work.distances.clear();
        let (lengths, own) = (&work.columns, doubtful.self_kernel());
        Span::distances(lengths, lengths, own, &mut work.distances);
        for (&i, &distance) in work.places.iter().zip(&work.distances) {
            distances[i] = distance;
        }
    }
}
