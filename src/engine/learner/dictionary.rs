//! The dictionary of one class: D = Φ Uᵀ over its kept samples, and blocks of samples
//! seen through it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::math::{Matrix, streamed_product};

use super::block_memory::Renewal;
use super::distance::DistanceWork;
use super::kernel::Kernel;
use super::report::TimeSpent;
use super::samples::Samples;
use super::shortlist::ResidualFloor;
use super::span::Span;
use super::sparse_coding::{SparseCoder, SparseCodes};

/// What is needed to represent samples: kept samples X, coefficients U and Ψ = U K Uᵀ.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dictionary {
    /// The kernel.
    pub kernel: Kernel,
    /// X, the samples of the profile, in no particular order.
    pub kept: Samples,
    /// U, one column per kept sample.
    pub coefficients: Matrix,
    /// Ψ.
    pub atom_gram: Matrix,
    /// P = K⁻¹, where the learner keeps it.
    pub span: Option<Span>,
}

/// A block of samples seen through one dictionary; row or column per sample as noted.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockView {
    /// kᵀ, row per sample, column per kept sample.
    pub(super) kernel_rows: Matrix,
    /// The kept samples whose columns `kernel_rows` holds from the last look at the same block; none
    /// where every look is the first.
    pub(super) known: Option<Vec<usize>>,
    renewal: Renewal,
    /// h = U k, column per sample.
    pub(super) inner_products: Matrix,
    /// Scratch for h.
    sums: Matrix,
    /// r² of each.
    pub(super) residuals: Vec<f64>,
    /// Squared distance of each to the span of the kept samples.
    pub(super) distances: Vec<f64>,
    /// kᵀP, row per sample.
    pub(super) weights: Matrix,
    pub(super) distance: DistanceWork,
    /// The sparse codes.
    pub(super) codes: SparseCodes,
    pub(super) coder: SparseCoder,
    /// What the codes leave at least, and which samples are to be coded, where only the best classes matter.
    pub(super) floor: ResidualFloor,
    pub(super) is_coded: Vec<bool>,
    /// Time spent looking.
    pub(super) time: TimeSpent,
}

impl Dictionary {
    /// Number of atoms Q.
    pub fn n_atoms(&self) -> usize {
        self.coefficients.rows()
    }

    /// Number of kept samples L.
    pub fn n_kept(&self) -> usize {
        self.kept.len()
    }

    /// kᵀ and h of a block.
    pub(super) fn inner_products(&self, block: &Samples, view: &mut BlockView) {
        match &mut view.known {
            None => self.kernel.block(block, &self.kept, &mut view.kernel_rows),
            Some(known) => {
                let rows = &mut view.kernel_rows;
                view.renewal
                    .renew(&self.kernel, block, &self.kept, rows, known);
            }
        }
        streamed_product(
            &mut view.inner_products,
            self.coefficients.view(),
            view.kernel_rows.view(),
            &mut view.sums,
        );
    }

    /// kᵀ, h, r² of a block, and the codes of those samples whose positions are in `coded`.
    pub(super) fn code(&self, block: &Samples, coded: Range<usize>, view: &mut BlockView) {
        self.inner_products(block, view);
        view.residuals.clear();
        view.codes.clear();
        view.coder.prepare(self.atom_gram.view());
        view.coder.code_block(
            &view.inner_products,
            block.self_kernel(),
            coded,
            &mut view.codes,
            &mut view.residuals,
        );
    }

    /// kᵀP and the squared distance of a block to the span, after [`Dictionary::inner_products`].
    pub(super) fn measure_distances(&self, block: &Samples, view: &mut BlockView) {
        view.distances.clear();
        if let Some(span) = &self.span {
            span.weigh(&view.kernel_rows, &mut view.weights);
            Span::distances(
                &view.kernel_rows,
                &view.weights,
                block.self_kernel(),
                &mut view.distances,
            );
        }
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let span = self.span.as_ref().map_or(0, |s| s.inverse().memory_bytes());
        self.kept.memory_bytes()
            + self.coefficients.memory_bytes()
            + self.atom_gram.memory_bytes()
            + span
    }
}

impl BlockView {
    /// Scratch memory for a coder of this kind.
    pub(super) fn new(coder: SparseCoder, codes: SparseCodes) -> Self {
        Self {
            coder,
            codes,
            ..Self::default()
        }
    }

    /// Takes over samples `first`.. of a larger block; the codes are those of these samples already.
    pub(super) fn take_rows(&mut self, block: &Self, first: usize, count: usize) {
        let rows = first..first + count;
        for (target, source) in [
            (&mut self.kernel_rows, &block.kernel_rows),
            (&mut self.weights, &block.weights),
        ] {
            target.reshape(count, source.cols());
            for j in 0..source.cols() {
                target
                    .col_mut(j)
                    .copy_from_slice(&source.col(j)[rows.clone()]);
            }
        }
        self.inner_products
            .reshape(block.inner_products.rows(), count);
        for (k, i) in rows.clone().enumerate() {
            let source = block.inner_products.col(i);
            self.inner_products.col_mut(k).copy_from_slice(source);
        }
        self.residuals.clear();
        self.residuals.extend_from_slice(&block.residuals[rows]);
        self.codes.copy_from(&block.codes);
    }
}
