//! What the online gradient learners sKDL, OKDLRS and OKDLFB share: a profile of kept samples
//! with their kernel matrix, U, Ψ and codes, to which samples are appended one by one and
//! from which they are removed.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::math::{
    Matrix, Normal, Write, add_scaled, dot, product, random_stream, squared_norm, vectorised,
};

use super::LearnerState;
use super::decision::Decision;
use super::dictionary::{BlockView, Dictionary};
use super::krls::note_use;
use super::report::{Admission, ClassReport, Removal, TimeSpent};
use super::samples::Samples;
use super::settings::LearnerSettings;
use super::side_by_side::Profile;
use super::sparse_coding::{SparseCoder, SparseCodes};

/// The profile of one class: everything needed to resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GradientProfile {
    /// X, U, Ψ.
    pub dictionary: Dictionary,
    /// K.
    pub kept_gram: Matrix,
    /// W, one column per kept sample.
    pub codes: Matrix,
    /// Where random numbers come from.
    pub draws: Draws,
}

/// A source of standard normal numbers that can be saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Draws {
    /// From a seed, block after block.
    Seeded {
        /// The seed of the learner.
        seed: u64,
        /// Which source of this seed.
        source: u64,
        /// Blocks drawn so far.
        n_blocks: u64,
    },
    /// From a list, for the comparison with numbers drawn elsewhere; zeros when it is used up.
    Listed {
        /// The numbers.
        numbers: Vec<f64>,
        /// How many are used up.
        n_used: usize,
    },
}

impl Draws {
    /// Fills `block` with the next numbers.
    pub(super) fn fill(&mut self, block: &mut [f64]) {
        match self {
            Self::Seeded {
                seed,
                source,
                n_blocks,
            } => {
                let index = (*source << 32) ^ *n_blocks;
                let mut random = random_stream(*seed, "normal draws", index);
                let mut normal = Normal::default();
                for value in block {
                    *value = normal.draw(&mut random);
                }
                *n_blocks += 1;
            }
            Self::Listed { numbers, n_used } => {
                for value in block {
                    *value = numbers.get(*n_used).copied().unwrap_or(0.0);
                    *n_used += 1;
                }
            }
        }
    }
}

/// A mini-batch on its way into a profile, with scratch memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Newcomers {
    view: BlockView,
    block_kernel: Matrix,
    /// Samples kept before the mini-batch came.
    n_before: usize,
    /// Positions in the mini-batch of those appended since.
    appended: Vec<usize>,
    /// k of the newcomer examined last with all kept samples.
    pub(super) kernel_column: Vec<f64>,
    /// h = U k of the same.
    pub(super) inner_products: Vec<f64>,
    wide: Matrix,
    leaving: Vec<usize>,
}

impl GradientProfile {
    /// A dictionary whose atoms are the start samples, of length 1 if they are `normalised`;
    /// every start sample is its own code.
    pub(super) fn start(
        settings: &LearnerSettings,
        start: &Samples,
        normalised: bool,
        seed: u64,
    ) -> Self {
        let n_atoms = start.len();
        let capacity = settings.budget.max(n_atoms) + settings.batch_size;
        let mut kept = Samples::new(start.n_features(), capacity);
        (0..n_atoms).for_each(|q| kept.push_from(start, q));
        let mut gram = Matrix::default();
        settings.kernel.gram(&kept, &mut gram);
        let mut kept_gram = Matrix::with_capacity(capacity, capacity);
        kept_gram.resize(n_atoms, n_atoms);
        let mut coefficients = Matrix::with_capacity(n_atoms, capacity);
        coefficients.resize(n_atoms, n_atoms);
        let mut codes = Matrix::with_capacity(n_atoms, capacity);
        codes.resize(n_atoms, n_atoms);
        let mut atom_gram = Matrix::zeros(n_atoms, n_atoms);
        let length = |q: usize| match normalised {
            true => start.self_kernel()[q].sqrt(),
            false => 1.0,
        };
        for q in 0..n_atoms {
            kept_gram.col_mut(q).copy_from_slice(gram.col(q));
            coefficients[(q, q)] = 1.0 / length(q);
            codes[(q, q)] = length(q);
            for p in 0..n_atoms {
                atom_gram[(p, q)] = gram[(p, q)] / (length(p) * length(q));
            }
        }
        Self {
            dictionary: Dictionary {
                kernel: settings.kernel,
                kept,
                coefficients,
                atom_gram,
                span: None,
            },
            kept_gram,
            codes,
            draws: Draws::Seeded {
                seed,
                // By the first start sample, so that the order of the classes is of no importance.
                source: start.index().first().map_or(0, |&first| first as u64),
                n_blocks: 0,
            },
        }
    }

    /// Appends sample `i` of `batch` with kernel values `kernel_column` and its code; no atom
    /// lies on it yet.
    pub(super) fn append(
        &mut self,
        batch: &Samples,
        i: usize,
        kernel_column: &[f64],
        code: &[f64],
    ) {
        let n = self.dictionary.n_kept();
        self.dictionary.kept.push_from(batch, i);
        self.kept_gram.resize(n + 1, n + 1);
        self.kept_gram.col_mut(n)[..n].copy_from_slice(kernel_column);
        for (j, value) in kernel_column.iter().enumerate() {
            self.kept_gram[(n, j)] = *value;
        }
        self.kept_gram[(n, n)] = batch.self_kernel()[i];
        let n_atoms = self.dictionary.n_atoms();
        self.dictionary.coefficients.resize(n_atoms, n + 1);
        self.codes.resize(n_atoms, n + 1);
        self.codes.col_mut(n).copy_from_slice(code);
    }

    /// Removes the samples at `leaving`, which lists positions in falling order.
    pub(super) fn remove(&mut self, leaving: &[usize]) {
        let mut n = self.dictionary.n_kept();
        for &position in leaving {
            n -= 1;
            self.dictionary.kept.swap(position, n);
            self.dictionary.coefficients.swap_cols(position, n);
            self.codes.swap_cols(position, n);
            self.kept_gram.swap_symmetric(position, n);
        }
        let n_atoms = self.dictionary.n_atoms();
        self.dictionary.kept.truncate(n);
        self.dictionary.coefficients.resize(n_atoms, n);
        self.codes.resize(n_atoms, n);
        self.kept_gram.resize(n, n);
    }

    /// Ψ = U K Uᵀ; `wide` receives H = U K.
    pub(super) fn take_atom_gram(&mut self, wide: &mut Matrix) {
        self.take_inner_products(wide);
        self.take_atom_gram_from(wide);
    }

    /// H = U K.
    pub(super) fn take_inner_products(&self, wide: &mut Matrix) {
        let coefficients = &self.dictionary.coefficients;
        wide.reshape(coefficients.rows(), coefficients.cols());
        product(
            wide.view_mut(),
            Write::Replace,
            coefficients.view(),
            self.kept_gram.view(),
        );
    }

    /// Ψ = H Uᵀ.
    pub(super) fn take_atom_gram_from(&mut self, wide: &Matrix) {
        let Dictionary {
            coefficients,
            atom_gram,
            ..
        } = &mut self.dictionary;
        product(
            atom_gram.view_mut(),
            Write::Replace,
            wide.view(),
            coefficients.view().t(),
        );
        atom_gram.symmetrise();
    }

    /// Whether every number of U and Ψ is one.
    pub(super) fn is_finite(&self) -> bool {
        self.dictionary.coefficients.is_finite() && self.dictionary.atom_gram.is_finite()
    }
}

impl Profile for GradientProfile {
    fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    fn state(profiles: Vec<Self>, decision: Decision) -> LearnerState {
        LearnerState::Gradient { profiles, decision }
    }
}

impl Newcomers {
    pub(super) fn new(settings: &LearnerSettings) -> Self {
        let coder = SparseCoder::new(settings.pursuit, settings.sparsity, settings.error_limit);
        let codes = SparseCodes::new(settings.sparsity, settings.batch_size);
        Self {
            view: BlockView::new(coder, codes),
            ..Self::default()
        }
    }

    /// Looks at a mini-batch before anything is learned from it: how well it is represented.
    pub(super) fn see(
        &mut self,
        profile: &GradientProfile,
        batch: &Samples,
        report: &mut ClassReport,
    ) {
        let dictionary = &profile.dictionary;
        dictionary.code(batch, 0..batch.len(), &mut self.view);
        note_use(&self.view, batch, report);
        dictionary.kernel.gram(batch, &mut self.block_kernel);
        self.n_before = dictionary.n_kept();
        self.appended.clear();
        report.health.smallest_pivot = 1.0;
    }

    /// The sparse code of sample `i` by the dictionary before the mini-batch.
    pub(super) fn code_of(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.view.codes.pairs(i).filter(|(_, value)| *value != 0.0)
    }

    /// k and h of sample `i` of the mini-batch with the profile as it is now.
    pub(super) fn look_at(&mut self, profile: &GradientProfile, i: usize) {
        let column = &mut self.kernel_column;
        column.clear();
        column.extend((0..self.n_before).map(|j| self.view.kernel_rows[(i, j)]));
        column.extend(self.appended.iter().map(|&j| self.block_kernel[(i, j)]));
        let coefficients = &profile.dictionary.coefficients;
        self.inner_products.clear();
        self.inner_products.resize(coefficients.rows(), 0.0);
        let sums = &mut self.inner_products;
        vectorised(
            #[inline(always)]
            || {
                for (j, k) in column.iter().enumerate() {
                    add_scaled(sums, *k, coefficients.col(j));
                }
            },
        );
    }

    /// Appends the sample examined last.
    pub(super) fn append(
        &mut self,
        profile: &mut GradientProfile,
        batch: &Samples,
        i: usize,
        code: &[f64],
        admission: Admission,
        report: &mut ClassReport,
    ) {
        profile.append(batch, i, &self.kernel_column, code);
        self.appended.push(i);
        report.admitted.push(batch.index()[i]);
        report.admissions.push(admission);
    }

    /// If the budget is exceeded, the samples of smallest `size` leave until `target` are left;
    /// of equals the older position goes first. Ψ follows. Tells whether any left.
    pub(super) fn prune(
        &mut self,
        profile: &mut GradientProfile,
        budget: usize,
        target: usize,
        sizes: &[f64],
        report: &mut ClassReport,
    ) -> bool {
        let n = profile.dictionary.n_kept();
        if n <= budget {
            return false;
        }
        let begin = Instant::now();
        let leaving = &mut self.leaving;
        leaving.clear();
        leaving.extend(0..n);
        leaving.sort_by(|&a, &b| sizes[a].total_cmp(&sizes[b]).then(a.cmp(&b)));
        leaving.truncate(n - target);
        leaving.sort_unstable_by_key(|&j| std::cmp::Reverse(j));
        for &j in leaving.iter() {
            let sample = profile.dictionary.kept.index()[j];
            report.removed.push((sample, Removal::Smallest(sizes[j])));
        }
        profile.remove(leaving);
        self.take_atom_gram(profile);
        report.pruning_time = TimeSpent(begin.elapsed());
        true
    }

    /// Ψ from its definition.
    pub(super) fn take_atom_gram(&mut self, profile: &mut GradientProfile) {
        profile.take_atom_gram(&mut self.wide);
    }
}

/// ‖w‖ of every column.
pub(super) fn column_norms(matrix: &Matrix, norms: &mut Vec<f64>) {
    norms.clear();
    vectorised(
        #[inline(always)]
        || {
            for j in 0..matrix.cols() {
                let column = matrix.col(j);
                norms.push(dot(column, column).sqrt());
            }
        },
    );
}

/// ‖M‖_F.
pub(super) fn frobenius(matrix: &Matrix) -> f64 {
    let squares = (0..matrix.cols()).map(|j| squared_norm(matrix.col(j)));
    squares.sum::<f64>().sqrt()
}

/// prox of t‖·‖₁: sign(x) max(|x| − t, 0).
#[inline(always)]
pub(super) fn soft(x: f64, threshold: f64) -> f64 {
    if x > threshold {
        x - threshold
    } else if x < -threshold {
        x + threshold
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_go_on_where_they_were_saved() {
        let mut draws = Draws::Seeded {
            seed: 3,
            source: 7,
            n_blocks: 0,
        };
        let (mut first, mut second) = ([0.0; 5], [0.0; 5]);
        draws.fill(&mut first);
        let mut saved = draws.clone();
        draws.fill(&mut second);
        assert_ne!(first, second);
        saved.fill(&mut first);
        assert_eq!(first, second);
        let mut listed = Draws::Listed {
            numbers: vec![1.0, 2.0],
            n_used: 0,
        };
        listed.fill(&mut first[..3]);
        assert_eq!(first[..3], [1.0, 2.0, 0.0]);
    }

    #[test]
    fn soft_thresholds_draw_towards_zero() {
        assert_eq!(soft(3.0, 1.0), 2.0);
        assert_eq!(soft(-3.0, 1.0), -2.0);
        assert_eq!(soft(0.5, 1.0), 0.0);
    }
}
