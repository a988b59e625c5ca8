//! Blocks of samples seen by the dictionaries of all classes, and what the decision makes of it.

use std::time::Instant;

use rayon::prelude::*;

use crate::math::Matrix;

use super::decision::{Decision, evidence_of, softmax};
use super::dictionary::{BlockView, Dictionary};
use super::error::LearnError;
use super::gate::Gate;
use super::head::{Head, READOUT_WEIGHT};
use super::readout::Readout;
use super::report::TimeSpent;
use super::samples::Samples;
use super::second_look::{PairSolutions, SecondLook, doubtful_pair};
use super::settings::LearnerSettings;
use super::sparse_coding::{SparseCoder, SparseCodes};
use super::stop::StopSignal;

/// Samples of a block times classes: with 200 kept samples each, what all classes see of a block then
/// takes some 200 MB.
const MOST_VIEWED: usize = 1 << 16;
/// Blocks are multiples of this.
const BLOCK_GRAIN: usize = 16;

/// Samples that so many classes look at together.
pub(crate) fn block_size(n_classes: usize) -> usize {
    let n_samples = MOST_VIEWED / n_classes.max(1) / BLOCK_GRAIN * BLOCK_GRAIN;
    n_samples.max(BLOCK_GRAIN)
}

/// Two classes, and how much speaks for the first of them.
type PairScore = ((usize, usize), f64);

/// What distances to the span of the kept samples are wanted for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Distances {
    /// For nothing.
    Unused,
    /// The block is learned: with what that needs of them.
    ToLearn,
    /// Only scores follow, in which rounding must not be seen: their logarithm counts this much.
    ToDecide(f64),
}

/// How a block is examined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances<'a> {
    /// What is wanted of distances to the span of the kept samples.
    pub(crate) distances: Distances,
    /// Raised when the block is no longer wanted.
    pub(crate) stop: StopSignal<'a>,
    /// Threads of the pool at hand that share the classes.
    pub(crate) n_threads: usize,
}

/// Every sample of a block coded by every class; row per class, column per sample.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockScores {
    /// Scratch of each class; kernel values stay for the second look.
    pub(super) views: Vec<BlockView>,
    /// r²/σ.
    pub(crate) residual_shares: Matrix,
    /// δ/σ, zero where the decision does not need it.
    pub(crate) distance_shares: Matrix,
    /// S, or S′ after the second look.
    pub(crate) scores: Matrix,
    pub(crate) pairs: PairSolutions,
    probabilities: Vec<f64>,
    /// What a readout says, row per sample, column per class.
    readout: Matrix,
    /// Samples that one class codes.
    pub(super) listed: Vec<usize>,
}

impl BlockScores {
    /// Scratch memory for `n_classes` dictionaries.
    pub(crate) fn new(settings: &LearnerSettings, n_classes: usize) -> Self {
        let coder = SparseCoder::new(settings.pursuit, settings.sparsity, settings.error_limit);
        let view = BlockView::new(coder, SparseCodes::new(settings.sparsity, 0));
        let mut pairs = PairSolutions::default();
        pairs.clear(n_classes);
        if settings.looks_twice(n_classes) {
            pairs.reserve(settings.budget);
        }
        Self {
            views: vec![view; n_classes],
            pairs,
            ..Self::default()
        }
    }

    /// Forgets what was cached about the dictionaries: they have changed.
    pub(super) fn dictionaries_changed(&mut self) {
        self.pairs.clear(self.views.len());
    }

    /// Codes a block by every class. `coded` tells the positions whose codes a class wants.
    pub(crate) fn see<'d>(
        &mut self,
        block: &Samples,
        circumstances: Circumstances<'_>,
        dictionary: impl Fn(usize) -> &'d Dictionary + Sync,
        coded: impl Fn(usize) -> std::ops::Range<usize> + Sync,
    ) -> Result<(), LearnError> {
        let Circumstances {
            distances,
            stop,
            n_threads,
        } = circumstances;
        let see = |(class, view): (usize, &mut BlockView)| {
            stop.check()?;
            let begin = Instant::now();
            dictionary(class).code(block, coded(class), view);
            match distances {
                Distances::Unused => {}
                Distances::ToLearn => dictionary(class).measure_distances(block, view),
                Distances::ToDecide(weight) => {
                    dictionary(class).settle_distances(block, weight, view);
                }
            }
            view.time = TimeSpent(begin.elapsed());
            Ok(())
        };
        if n_threads > 1 {
            let views = self.views.par_iter_mut().enumerate();
            views.map(see).collect::<Result<(), LearnError>>()?;
        } else {
            let mut views = self.views.iter_mut().enumerate();
            views.try_for_each(see)?;
        }
        self.gather(block);
        Ok(())
    }

    /// Residuals and distances of all classes relative to σ.
    pub(super) fn gather(&mut self, block: &Samples) {
        let n_classes = self.views.len();
        self.residual_shares.reshape(n_classes, block.len());
        self.distance_shares.reshape(n_classes, block.len());
        self.scores.reshape(n_classes, block.len());
        for (class, view) in self.views.iter().enumerate() {
            for (i, &sigma) in block.self_kernel().iter().enumerate() {
                let share = |value: f64| if block.is_zero(i) { 0.0 } else { value / sigma };
                self.residual_shares[(class, i)] = share(view.residuals[i]);
                let distance = view.distances.get(i).copied().unwrap_or(0.0);
                self.distance_shares[(class, i)] = share(distance);
            }
        }
    }

    /// S of every class and sample by `decision`; `block` is what was seen.
    pub(crate) fn decide<'d>(
        &mut self,
        decision: &Decision,
        block: &Samples,
        dictionary: impl Fn(usize) -> &'d Dictionary,
    ) {
        for i in 0..self.scores.cols() {
            for c in 0..self.scores.rows() {
                let h = |class: usize, atom: usize| self.views[class].inner_products[(atom, i)];
                self.scores[(c, i)] = match decision {
                    // ‖φ(x) − mean‖²/σ, but for its sign.
                    Decision::NearestMean if !block.is_zero(i) => {
                        let own = dictionary(c).atom_gram[(0, 0)];
                        (2.0 * h(c, 0) - own) / block.self_kernel()[i] - 1.0
                    }
                    Decision::LargestSum => (0..self.views.len()).map(|part| h(part, c)).sum(),
                    Decision::Duels { bias } => {
                        let others = (0..self.views.len()).filter(|&other| other != c);
                        let duels = others.map(|b| h(c, b) - h(b, c) + bias[(c, b)]);
                        points(duels, self.views.len())
                    }
                    _ => decision.score(
                        c,
                        self.residual_shares[(c, i)],
                        self.distance_shares[(c, i)],
                    ),
                };
            }
        }
    }

    /// z of class `c` and sample `i`.
    pub(crate) fn evidence(&self, c: usize, i: usize) -> [f64; 2] {
        evidence_of(self.residual_shares[(c, i)], self.distance_shares[(c, i)])
    }

    /// The pair of classes of sample `i` that deserves a second look, with its pair score.
    pub(super) fn look_again<'d>(
        &mut self,
        i: usize,
        stop: StopSignal<'_>,
        dictionary: impl Fn(usize) -> &'d Dictionary,
    ) -> Result<Option<PairScore>, LearnError> {
        self.probabilities.clear();
        self.probabilities.extend_from_slice(self.scores.col(i));
        softmax(&mut self.probabilities);
        let Some((a, b)) = doubtful_pair(&self.probabilities) else {
            return Ok(None);
        };
        let pair = (dictionary(a), dictionary(b));
        self.pairs.know((a, b), pair, stop)?;
        let rows = (&self.views[a].kernel_rows, &self.views[b].kernel_rows);
        let score = self.pairs.pair_score((a, b), pair, rows, i);
        Ok(Some(((a, b), score)))
    }

    /// S′ = S + β g for doubtful samples.
    pub(crate) fn take_second_look<'d>(
        &mut self,
        second_look: SecondLook,
        stop: StopSignal<'_>,
        dictionary: impl Fn(usize) -> &'d Dictionary,
    ) -> Result<(), LearnError> {
        for i in 0..self.scores.cols() {
            if let Some(((a, b), score)) = self.look_again(i, stop, &dictionary)? {
                self.scores[(a, i)] += second_look.weight * score;
                self.scores[(b, i)] -= second_look.weight * score;
            }
        }
        Ok(())
    }
}

impl BlockScores {
    /// The scores of a head with its readout: S + 4 f, or f alone.
    pub(crate) fn read_out(&mut self, head: Head, readout: &Readout) {
        let views = &self.views;
        let kernel_rows = |part: usize| &views[part].kernel_rows;
        readout.apply(self.scores.cols(), kernel_rows, &mut self.readout);
        for i in 0..self.scores.cols() {
            let values = self.scores.col_mut(i).iter_mut().enumerate();
            for (c, score) in values {
                let read = self.readout[(i, c)];
                *score = if head.uses_decision_layer() {
                    *score + READOUT_WEIGHT * read
                } else {
                    read
                };
            }
        }
    }

    /// F′ of every sample behind the gate.
    pub(crate) fn pass_gate(&mut self, gate: &Gate, block: &Samples) {
        let Self {
            scores,
            residual_shares,
            distance_shares,
            ..
        } = self;
        for i in (0..scores.cols()).filter(|&i| !block.is_zero(i)) {
            let evidence = |c: usize| evidence_of(residual_shares[(c, i)], distance_shares[(c, i)]);
            gate.apply(evidence, scores.col_mut(i));
        }
    }
}

/// One point for every duel that is won; how clearly breaks ties.
fn points(duels: impl Iterator<Item = f64>, n_classes: usize) -> f64 {
    let point = |duel: f64| {
        let clearly = duel / (1.0 + duel.abs()) / (2 * n_classes) as f64;
        f64::from(u8::from(duel > 0.0)) + clearly
    };
    duels.map(point).sum()
}
