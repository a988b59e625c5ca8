//! Blocks of samples seen by the dictionaries of all classes, and what the decision makes of it.

use crate::math::Matrix;

use super::decision::{Decision, evidence_of, softmax};
use super::dictionary::{BlockView, Dictionary};
use super::samples::Samples;
use super::second_look::{PairSolutions, doubtful_pair};
use super::settings::LearnerSettings;
use super::sparse_coding::{SparseCoder, SparseCodes};

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
    pairs: PairSolutions,
    probabilities: Vec<f64>,
}

impl BlockScores {
    /// Scratch memory for `n_classes` dictionaries.
    pub(crate) fn new(settings: &LearnerSettings, n_classes: usize) -> Self {
        let coder = SparseCoder::new(settings.pursuit, settings.sparsity, settings.error_limit);
        let view = BlockView::new(coder, SparseCodes::new(settings.sparsity, 0));
        let mut pairs = PairSolutions::default();
        pairs.clear(n_classes);
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

    /// Codes a block by one class. `coded` are the positions whose codes are wanted.
    pub(crate) fn see(
        &mut self,
        class: usize,
        dictionary: &Dictionary,
        block: &Samples,
        coded: std::ops::Range<usize>,
        with_distance: bool,
    ) {
        let n_classes = self.views.len();
        if class == 0 {
            self.residual_shares.reshape(n_classes, block.len());
            self.distance_shares.reshape(n_classes, block.len());
            self.scores.reshape(n_classes, block.len());
        }
        let view = &mut self.views[class];
        dictionary.code(block, coded, view);
        if with_distance {
            dictionary.measure_distances(block, view);
        }
        for (i, &sigma) in block.self_kernel().iter().enumerate() {
            let share = |value: f64| if block.is_zero(i) { 0.0 } else { value / sigma };
            self.residual_shares[(class, i)] = share(view.residuals[i]);
            let distance = view.distances.get(i).copied().unwrap_or(0.0);
            self.distance_shares[(class, i)] = share(distance);
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
    pub(super) fn evidence(&self, c: usize, i: usize) -> [f64; 2] {
        evidence_of(self.residual_shares[(c, i)], self.distance_shares[(c, i)])
    }

    /// The pair of classes of sample `i` that deserves a second look, with its pair score.
    pub(super) fn look_again<'d>(
        &mut self,
        i: usize,
        dictionary: impl Fn(usize) -> &'d Dictionary,
    ) -> Option<((usize, usize), f64)> {
        self.probabilities.clear();
        self.probabilities.extend_from_slice(self.scores.col(i));
        softmax(&mut self.probabilities);
        let (a, b) = doubtful_pair(&self.probabilities)?;
        let rows = (&self.views[a].kernel_rows, &self.views[b].kernel_rows);
        let score = self
            .pairs
            .pair_score((a, b), (dictionary(a), dictionary(b)), rows, i);
        Some(((a, b), score))
    }

    /// S′ = S + β g for doubtful samples, if the decision takes a second look.
    pub(crate) fn take_second_look<'d>(
        &mut self,
        decision: &Decision,
        dictionary: impl Fn(usize) -> &'d Dictionary,
    ) {
        let Decision::OnlineLogit(logit) = decision else {
            return;
        };
        let Some(second_look) = logit.second_look else {
            return;
        };
        for i in 0..self.scores.cols() {
            if let Some(((a, b), score)) = self.look_again(i, &dictionary) {
                self.scores[(a, i)] += second_look.weight * score;
                self.scores[(b, i)] -= second_look.weight * score;
            }
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
