//! Which classes may be among the two best of a sample: where the smallest residual decides, a class whose atoms all
//! together leave more of the sample than a few atoms of two other classes do needs no pursuit.
//!
//! What all atoms leave is σ − ‖L⁻¹h‖² with Ψ = LLᵀ; no choice of them leaves less. On USPS some three of ten classes
//! remain.

use crate::math::{Cholesky, Matrix, View, Write, product, vectorised};

use super::decision::Decision;
use super::dictionary::Dictionary;
use super::error::LearnError;
use super::samples::Samples;
use super::scoring::BlockScores;
use super::second_look::place_of_largest;
use super::stop::StopSignal;

/// Pivots of Ψ with unit diagonal below which rounding says more than the atoms.
const SMALLEST_PIVOT: f64 = 1e-6;
/// What rounding may have added to a bound, as a share of σ.
const ROUNDING: f64 = 1e-8;
/// Of so few classes two are always looked at.
pub(crate) const FEWEST_CLASSES: usize = 3;

/// The least that any code over a dictionary can leave of samples.
#[derive(Clone, Debug, Default)]
pub(super) struct ResidualFloor {
    /// Ψ as it was when L was found.
    atom_gram: Matrix,
    /// L⁻¹, unless Ψ is nearly singular.
    root: Matrix,
    has_root: bool,
    factor: Cholesky,
    /// 1/√Ψ_qq.
    scales: Vec<f64>,
    /// L⁻¹h, column per sample.
    lengths: Matrix,
}

impl ResidualFloor {
    /// Takes over a dictionary given by Ψ.
    fn prepare(&mut self, atom_gram: &Matrix) {
        if self.atom_gram.view() == atom_gram.view() {
            return;
        }
        self.atom_gram.copy_from(atom_gram.view());
        let n = atom_gram.rows();
        let Self {
            root,
            factor,
            scales,
            ..
        } = self;
        scales.clear();
        scales.extend((0..n).map(|q| 1.0 / atom_gram[(q, q)].sqrt()));
        root.copy_from(atom_gram.view());
        for q in 0..n {
            let pairs = root.col_mut(q).iter_mut().zip(&*scales);
            pairs.for_each(|(value, scale)| *value *= scale * scales[q]);
        }
        self.has_root =
            factor.factor(root.view()).is_ok() && factor.smallest_pivot() > SMALLEST_PIVOT;
        if !self.has_root {
            return;
        }
        root.fill(0.0);
        vectorised(
            #[inline(always)]
            || {
                for (q, scale) in scales.iter().enumerate() {
                    root[(q, q)] = *scale;
                    factor.solve_lower(root.col_mut(q));
                }
            },
        );
    }

    /// `floors` ← the bound of every sample, given h and σ.
    fn bound(&mut self, inner_products: View<'_>, self_kernel: &[f64], floors: &mut Vec<f64>) {
        floors.clear();
        if !self.has_root {
            floors.resize(self_kernel.len(), 0.0);
            return;
        }
        let root = self.root.view();
        self.lengths.reshape(root.rows(), inner_products.cols());
        let lengths = self.lengths.view_mut();
        product(lengths, Write::Replace, root, inner_products);
        floors.reserve(self_kernel.len());
        vectorised(
            #[inline(always)]
            || {
                for (i, own) in self_kernel.iter().enumerate() {
                    let held: f64 = self.lengths.col(i).iter().map(|x| x * x).sum();
                    floors.push((own - held - ROUNDING * own).max(0.0));
                }
            },
        );
    }
}

impl Decision {
    /// Whether a class is decided for by its residual alone, the smaller the likelier.
    pub(crate) fn is_by_residual(&self) -> bool {
        matches!(
            self,
            Self::SmallestResidual | Self::CalibratedResidual { .. }
        )
    }
}

impl BlockScores {
    /// The scores of the two best classes of every sample; of the others an upper bound, which is below them.
    pub(crate) fn see_best<'d>(
        &mut self,
        block: &Samples,
        decision: &Decision,
        stop: StopSignal<'_>,
        dictionary: impl Fn(usize) -> &'d Dictionary,
    ) -> Result<(), LearnError> {
        for (class, view) in self.views.iter_mut().enumerate() {
            stop.check()?;
            let dictionary = dictionary(class);
            dictionary.inner_products(block, view);
            view.floor.prepare(&dictionary.atom_gram);
            let h = view.inner_products.view();
            view.floor
                .bound(h, block.self_kernel(), &mut view.residuals);
            view.distances.clear();
            view.coder.prepare(dictionary.atom_gram.view());
            view.is_coded.clear();
            view.is_coded.resize(block.len(), false);
        }
        self.gather(block);
        self.decide(decision, block, &dictionary);
        let signals = || (0..block.len()).filter(|&i| !block.is_zero(i));
        for i in signals() {
            let [best, second] = two_largest(self.scores.col(i));
            self.views[best].is_coded[i] = true;
            self.views[second].is_coded[i] = true;
        }
        self.code_marked(block, decision);
        for i in signals() {
            let scores = self.scores.col(i);
            let is_coded = |class: usize| self.views[class].is_coded[i];
            let coded = (0..scores.len()).filter(|class| is_coded(*class));
            let least = coded.fold(f64::INFINITY, |least, class| least.min(scores[class]));
            for (view, score) in self.views.iter_mut().zip(scores) {
                // Those coded before are coded no more.
                view.is_coded[i] = !view.is_coded[i] && *score >= least;
            }
        }
        self.code_marked(block, decision);
        Ok(())
    }

    /// Pursues the samples that are marked, class by class, and scores them.
    fn code_marked(&mut self, block: &Samples, decision: &Decision) {
        let listed = &mut self.listed;
        for (class, view) in self.views.iter_mut().enumerate() {
            listed.clear();
            listed.extend((0..block.len()).filter(|i| view.is_coded[*i]));
            let own = block.self_kernel();
            let (h, residuals) = (&view.inner_products, &mut view.residuals);
            view.coder.find_residuals(h, own, listed, residuals);
            for &i in listed.iter() {
                let share = view.residuals[i] / own[i];
                self.residual_shares[(class, i)] = share;
                self.scores[(class, i)] = decision.score(class, share, 0.0);
            }
        }
    }
}

/// The places of the two largest scores; the same twice if there is only one.
fn two_largest(scores: &[f64]) -> [usize; 2] {
    let best = place_of_largest(scores, None).unwrap_or(0);
    [best, place_of_largest(scores, Some(best)).unwrap_or(best)]
}
