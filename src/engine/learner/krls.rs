//! Kernel recursive least squares dictionary learning as the paper states it.
//!
//! The profile of a class holds kept samples X with their kernel matrix K, codes W,
//! weights Λ, C = (W Λ Wᵀ + Ξ)⁻¹, U = C W Λ and Ψ = U K Uᵀ. Equation labels are the
//! paper's. C and Ψ follow the recursions of the paper; U is always taken from its
//! definition, which by the sparsity of W costs less than its recursion. Because the
//! recursions drift (1e-4 after 10,000 mini-batches), C and Ψ are rebuilt from their
//! definitions at intervals; how far they had drifted is reported.

mod acceptance;
mod rank_changes;
mod rebuild;
mod removal;

use serde::{Deserialize, Serialize};

use crate::math::{Cholesky, Lanes, Matrix, Vectors, WithVectors, Write, update, with_vectors};

use super::algorithm::{Algorithm, Conventions};
use super::contributions::add_outer_product;
use super::dictionary::{BlockView, Dictionary};
use super::growing::Growing;
use super::pruning::{Ranking, sort_by_age};
use super::recursion::{Recursion, set_combinations};
use super::report::{Admission, ClassReport, Rejection, Removal, Repair};
use super::samples::Samples;
use super::settings::{LearnerSettings, Normalisation};
use super::span::{ShrinkWork, Span, SpanBlock, SpotWork};
use super::sparse_coding::{SparseCoder, SparseCodes};
use acceptance::{drop_dependent_codes, measure_coherence};
use rank_changes::RankChanges;

/// A weight below this no longer counts; it would only become a denormal number.
const SMALLEST_WEIGHT: f64 = 1e-200;
/// Diagonal lift of the inverse kernel matrix for growing by projection.
const PROJECTION_LIFT: f64 = 1e-10;

/// The profile of one class: everything needed to resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KrlsProfile {
    /// X, U, Ψ.
    pub dictionary: Dictionary,
    /// K.
    pub kept_gram: Matrix,
    /// W.
    pub codes: SparseCodes,
    /// W Wᵀ.
    pub code_gram: Matrix,
    /// Σ_j |w_qj| of every atom q; empty in states of earlier versions.
    #[serde(default)]
    pub code_sizes: Vec<f64>,
    /// λ_j.
    pub sample_weights: Vec<f64>,
    /// Order of entrance of the kept samples.
    pub entered: Vec<u64>,
    /// C.
    pub code_precision: Matrix,
    /// Ξ, a diagonal.
    pub ridge: Vec<f64>,
    n_entered: u64,
    n_batches: u64,
    rebuild_interval: u64,
    next_rebuild: u64,
    drift: f64,
    condition: f64,
}

/// The learner of one class.
#[derive(Clone, Debug)]
pub(super) struct Krls {
    pub(super) profile: KrlsProfile,
    work: KrlsScratch,
}

/// Scratch memory, so that a step allocates nothing.
#[derive(Clone, Debug, Default)]
struct KrlsScratch {
    view: BlockView,
    block_kernel: Matrix,
    /// Largest squared coherence of each sample of the mini-batch with a kept one.
    coherences: Vec<f64>,
    /// Positions in the mini-batch that are admitted.
    accepted: Vec<usize>,
    /// How new each sample of the mini-batch is, as far as it passed the criterion.
    admissions: Vec<Admission>,
    /// Codes, inner products and kernel matrix of the accepted samples.
    codes: SparseCodes,
    inner_products: Matrix,
    kernel: Matrix,
    recursion: Recursion,
    /// Positions in the profile in the order of their entrance.
    by_age: Vec<usize>,
    ranking: Ranking,
    /// Positions in the profile that leave, and why.
    leaving: Vec<(usize, Removal)>,
    /// Their codes, kernel matrix and (W Λ K(:, m))ᵀ.
    leaving_codes: SparseCodes,
    leaving_kernel: Matrix,
    combined_rows: Matrix,
    /// Rows of K of some of them, and these combined.
    leaving_rows: Vec<Lanes>,
    combined: Vec<Lanes>,
    /// Which sample of those before the step and its new ones now has which place.
    occupants: Vec<usize>,
    /// Which place each of them has now.
    places: Vec<usize>,
    /// Samples that were there before, from place to place, and new ones, from mini-batch to place.
    moved: Vec<(usize, usize)>,
    entered: Vec<(usize, usize)>,
    is_leaving: Vec<bool>,
    row_sums: Vec<f64>,
    /// C without the samples that leave.
    precision: Matrix,
    /// What enters C or leaves it.
    changes: RankChanges,
    /// Largest wᵀCw of a sample that entered.
    largest_energy: f64,
    evidence: Matrix,
    factor: Cholesky,
    vector: Vec<f64>,
    scales: Vec<f64>,
    /// U K.
    wide: Matrix,
    directions: Matrix,
    span_block: SpanBlock,
    shrink: ShrinkWork,
    spot: SpotWork,
}

impl KrlsScratch {
    /// Scratch memory with room for the largest step, so that no later one allocates.
    fn new(settings: &LearnerSettings, n_atoms: usize) -> Self {
        let most = settings.most_moving();
        let coder = SparseCoder::new(settings.pursuit, settings.sparsity, settings.error_limit);
        let codes = SparseCodes::new(settings.sparsity, settings.batch_size);
        let mut work = Self {
            view: BlockView::new(coder, codes),
            codes: SparseCodes::new(settings.sparsity, settings.batch_size),
            leaving_codes: SparseCodes::new(settings.sparsity, most),
            occupants: Vec::with_capacity(settings.budget + most),
            places: Vec::with_capacity(settings.budget + most),
            by_age: Vec::with_capacity(settings.budget + most),
            accepted: Vec::with_capacity(settings.batch_size),
            admissions: Vec::with_capacity(settings.batch_size),
            ..Self::default()
        };
        work.kernel
            .reshape(settings.batch_size, settings.batch_size);
        work.changes.begin(n_atoms, Write::Add);
        work.reserve(n_atoms, most, settings.budget + most);
        work
    }

    /// Room for `most` of `n_kept` samples to leave at once.
    fn reserve(&mut self, n_atoms: usize, most: usize, n_kept: usize) {
        self.leaving_rows.resize(n_kept, Lanes::default());
        self.combined.resize(n_atoms, Lanes::default());
        self.combined_rows.reshape(most, n_atoms);
        self.leaving_kernel.reshape(most, most);
        self.inner_products.reshape(n_atoms, most);
        self.recursion.reserve(n_atoms, most);
        self.leaving_codes.clear();
        self.leaving_codes.reserve(most);
        self.leaving.clear();
        self.leaving.reserve(most);
        for moves in [&mut self.moved, &mut self.entered] {
            moves.clear();
            moves.reserve(n_kept);
        }
    }
}

impl KrlsScratch {
    /// Rows and columns of K for the samples that entered, by `entered` from mini-batch to place;
    /// `old` samples were there before.
    fn write_entered(&self, old: usize, kept_gram: &mut Matrix) {
        let kernel_rows = &self.view.kernel_rows;
        for (j, &occupant) in self.occupants.iter().enumerate() {
            if occupant < old {
                let values = kernel_rows.col(occupant);
                let column = kept_gram.col_mut(j);
                for &(row, place) in &self.entered {
                    column[place] = values[row];
                }
            }
        }
        for &(row, place) in &self.entered {
            let own = self.kernel.col(self.occupants[place] - old);
            let column = kept_gram.col_mut(place);
            for (value, k) in column.iter_mut().zip(kernel_rows.row(row)) {
                *value = *k;
            }
            for &(occupant, place) in &self.moved {
                column[place] = kernel_rows[(row, occupant)];
            }
            for &(_, place) in &self.entered {
                column[place] = own[self.occupants[place] - old];
            }
        }
    }
}

impl Krls {
    /// A dictionary whose atoms are the start samples: W = I, Λ = I, Ξ = γ I.
    pub(super) fn start(settings: &LearnerSettings, start: &Samples) -> Self {
        let n_atoms = start.len();
        let capacity = settings.budget.max(n_atoms) + settings.batch_size;
        let mut kept = Samples::new(start.n_features(), capacity);
        let mut codes = SparseCodes::new(settings.sparsity, capacity);
        for q in 0..n_atoms {
            kept.push_from(start, q);
            codes.push(std::iter::once((q, 1.0)));
        }
        let mut kernel_matrix = Matrix::default();
        settings.kernel.gram(&kept, &mut kernel_matrix);
        let mut kept_gram = Matrix::with_capacity(capacity, capacity);
        kept_gram.resize(n_atoms, n_atoms);
        for j in 0..n_atoms {
            kept_gram.col_mut(j).copy_from_slice(kernel_matrix.col(j));
        }
        let gamma = settings.regularisation;
        let mut code_precision = Matrix::identity(n_atoms);
        code_precision.scale(1.0 / (1.0 + gamma));
        let mut coefficients = Matrix::with_capacity(n_atoms, capacity);
        coefficients.resize(n_atoms, n_atoms);
        let mut sample_weights = Vec::with_capacity(capacity);
        sample_weights.resize(n_atoms, 1.0);
        let mut entered = Vec::with_capacity(capacity);
        entered.extend(0..n_atoms as u64);
        let profile = KrlsProfile {
            dictionary: Dictionary {
                kernel: settings.kernel,
                kept,
                coefficients,
                atom_gram: Matrix::zeros(n_atoms, n_atoms),
                span: None,
            },
            kept_gram,
            codes,
            code_gram: Matrix::identity(n_atoms),
            code_sizes: Vec::new(),
            sample_weights,
            entered,
            code_precision,
            ridge: vec![gamma; n_atoms],
            n_entered: n_atoms as u64,
            n_batches: 0,
            rebuild_interval: 1,
            next_rebuild: 1,
            drift: 0.0,
            condition: 1.0,
        };
        let mut learner = Self::resume(settings, profile);
        learner.take_coefficients();
        learner.rebuild_atom_gram();
        learner.prepare_span(settings);
        if conventions(settings) == Conventions::Published {
            learner.normalise(true);
            learner.take_coefficients();
        }
        learner
    }

    /// Goes on with a saved profile.
    pub(super) fn resume(settings: &LearnerSettings, mut profile: KrlsProfile) -> Self {
        if !growing(settings).needs_span() {
            profile.dictionary.span = None;
        }
        if profile.code_sizes.is_empty() {
            profile.take_code_sizes();
        }
        let mut work = KrlsScratch::new(settings, profile.dictionary.n_atoms());
        sort_by_age(&profile.entered, &mut work.by_age);
        Self { profile, work }
    }

    /// Growing by projection needs P = K⁻¹.
    fn prepare_span(&mut self, settings: &LearnerSettings) {
        if !growing(settings).needs_span() || self.profile.dictionary.span.is_some() {
            return;
        }
        let capacity = settings.budget + settings.batch_size;
        let mut span = Span::with_capacity(capacity, PROJECTION_LIFT);
        self.rebuild_span(&mut span);
        self.profile.dictionary.span = Some(span);
    }

    fn rebuild_span(&mut self, span: &mut Span) {
        let Dictionary { kernel, kept, .. } = &self.profile.dictionary;
        let rebuilt = span.rebuild(kernel, kept, &mut self.work.wide, &mut self.work.spot);
        // With its diagonal lifted K is positive definite beyond rounding.
        debug_assert!(rebuilt, "the lifted kernel matrix factors");
    }

    /// Learns one mini-batch with forgetting factor λ.
    pub(super) fn learn(
        &mut self,
        settings: &LearnerSettings,
        batch: &Samples,
        factor: f64,
        report: &mut ClassReport,
    ) {
        let Algorithm::Krls { headroom, .. } = settings.algorithm else {
            unreachable!("settings of another algorithm")
        };
        self.prepare_span(settings);
        report.health.smallest_pivot = 1.0;
        self.work.largest_energy = 0.0;
        let target = settings.budget - headroom;
        if conventions(settings) == Conventions::Published {
            if self.n_kept() + batch.len() > settings.budget && self.n_kept() > target {
                self.prune(settings, target, report);
                self.take_coefficients();
            }
            self.grow(settings, batch, factor, report);
            self.arrange_gram();
            if self.n_kept() > settings.budget {
                let (n_kept, n_atoms) = (self.n_kept(), self.profile.dictionary.n_atoms());
                let by = n_kept - settings.budget;
                report.health.repairs.push(Repair::OverBudget { by });
                // A later step takes all that is too much back at once.
                let most = n_kept - target;
                self.work.reserve(n_atoms, most, n_kept);
                report.removed.reserve(most);
            }
        } else {
            self.grow(settings, batch, factor, report);
            if self.n_kept() > settings.budget {
                self.prune(settings, target, report);
            } else {
                self.arrange_gram();
            }
        }
        self.normalise_if_due(settings, report);
        self.profile.n_batches += 1;
        if !self.rebuild_if_due(settings, report) {
            self.take_coefficients();
        }
        report.n_kept = self.n_kept();
        report.health.drift = self.profile.drift;
        report.health.condition = self.profile.condition;
    }

    fn n_kept(&self) -> usize {
        self.profile.dictionary.n_kept()
    }

    fn grow(
        &mut self,
        settings: &LearnerSettings,
        batch: &Samples,
        factor: f64,
        report: &mut ClassReport,
    ) {
        self.profile
            .dictionary
            .code(batch, 0..batch.len(), &mut self.work.view);
        note_use(&self.work.view, batch, report);
        self.select_accepted(settings, batch, report);
        if self.work.accepted.is_empty() {
            return;
        }
        settings.kernel.gram(batch, &mut self.work.block_kernel);
        self.extend_span();
        self.gather_accepted();
        self.forget(factor);
        self.add_evidence();
        let work = &mut self.work;
        let profile = &mut self.profile;
        // G = u α = C_{i+1} w, Eq. (eqUi1).
        work.recursion
            .gains_by_product(&profile.code_precision, &work.codes, |_| 1.0);
        work.recursion.measure(
            &work.inner_products,
            &profile.dictionary.atom_gram,
            &work.codes,
            &work.kernel,
        );
        work.recursion
            .update(&mut profile.dictionary.atom_gram, true);
        self.append(batch, report);
        self.complete_span();
    }

    /// Which samples of the mini-batch pass the growing criterion.
    fn select_accepted(
        &mut self,
        settings: &LearnerSettings,
        batch: &Samples,
        report: &mut ClassReport,
    ) {
        let growing = growing(settings);
        let Dictionary { kept, span, .. } = &self.profile.dictionary;
        let work = &mut self.work;
        work.accepted.clear();
        work.admissions.clear();
        work.admissions.resize(batch.len(), Admission::Unmeasured);
        work.view.distances.clear();
        if growing.needs_span() && span.is_some() {
            self.profile
                .dictionary
                .measure_distances(batch, &mut work.view);
        }
        if matches!(growing, Growing::Coherence { .. }) {
            measure_coherence(
                &work.view.kernel_rows,
                kept,
                batch,
                &mut work.scales,
                &mut work.coherences,
            );
        }
        for i in 0..batch.len() {
            if batch.is_zero(i) {
                report.rejected.push((batch.index()[i], Rejection::Zero));
                continue;
            }
            let self_kernel = batch.self_kernel()[i];
            let verdict = growing.verdict(
                self_kernel,
                work.coherences.get(i).copied().unwrap_or(0.0),
                work.view.residuals[i] / self_kernel,
                work.view.distances.get(i).copied().unwrap_or(0.0) / self_kernel,
            );
            match verdict {
                Ok(admission) => {
                    work.accepted.push(i);
                    work.admissions[i] = admission;
                }
                Err(reason) => report.rejected.push((batch.index()[i], reason)),
            }
        }
        if conventions(settings) == Conventions::Published {
            drop_dependent_codes(work, self.profile.dictionary.n_atoms(), batch, report);
        }
    }

    /// Extends P by the accepted samples.
    fn extend_span(&mut self) {
        let Some(mut span) = self.profile.dictionary.span.take() else {
            return;
        };
        let work = &mut self.work;
        span.weigh(&work.view.kernel_rows, &mut work.span_block.weights);
        let accepted = &work.accepted;
        span.admit(
            &work.view.kernel_rows,
            &work.block_kernel,
            0.0,
            |i| accepted.contains(&i),
            &mut work.span_block,
        );
        if work.span_block.admitted == work.accepted {
            span.extend(&mut work.span_block);
        }
        self.profile.dictionary.span = Some(span);
    }

    /// Should rounding have hidden an accepted sample from P, it is computed again.
    fn complete_span(&mut self) {
        let n_kept = self.n_kept();
        if let Some(mut span) = self.profile.dictionary.span.take_if(|s| s.len() != n_kept) {
            self.rebuild_span(&mut span);
            self.profile.dictionary.span = Some(span);
        }
    }

    /// Codes, inner products and kernel matrix of the accepted samples alone.
    fn gather_accepted(&mut self) {
        let work = &mut self.work;
        let n = work.accepted.len();
        work.codes.clear();
        work.inner_products
            .reshape(self.profile.dictionary.n_atoms(), n);
        work.kernel.reshape(n, n);
        for (k, &i) in work.accepted.iter().enumerate() {
            work.codes.push_from(&work.view.codes, i);
            let source = work.view.inner_products.col(i);
            work.inner_products.col_mut(k).copy_from_slice(source);
            for (l, &j) in work.accepted.iter().enumerate() {
                work.kernel[(l, k)] = work.block_kernel[(j, i)];
            }
        }
    }

    /// Eq. (eqlam_i1): Λ ← λΛ, and with it Ξ ← λΞ and C ← C/λ.
    fn forget(&mut self, factor: f64) {
        let profile = &mut self.profile;
        for weight in &mut profile.sample_weights {
            *weight *= factor;
            if *weight < SMALLEST_WEIGHT {
                *weight = 0.0;
            }
        }
        for ridge in &mut profile.ridge {
            *ridge *= factor;
        }
        profile.code_precision.scale(1.0 / factor);
    }

    /// C⁻¹ ← C⁻¹ + w wᵀ, Eq. (eqC_i1), sample by sample.
    fn add_evidence(&mut self) {
        let (work, precision) = (&mut self.work, &mut self.profile.code_precision);
        work.changes.begin(precision.rows(), Write::Subtract);
        for j in 0..work.codes.len() {
            let energy = work.changes.measure(precision, &work.codes, j);
            work.largest_energy = work.largest_energy.max(energy);
            work.changes.keep(precision, 1.0 / (1.0 + energy).sqrt());
        }
        work.changes.finish(precision);
    }

    /// Appends the accepted samples to X, W, Λ. K follows in [`Krls::arrange_gram`], when it is
    /// known who leaves: the new ones then take those places at once.
    fn append(&mut self, batch: &Samples, report: &mut ClassReport) {
        let (profile, work) = (&mut self.profile, &mut self.work);
        let n_kept = profile.entered.len();
        work.by_age.extend(n_kept..n_kept + work.accepted.len());
        for (k, &i) in work.accepted.iter().enumerate() {
            add_outer_product(&mut profile.code_gram, &work.codes, k, 1.0);
            profile.dictionary.kept.push_from(batch, i);
            profile.codes.push_from(&work.codes, k);
            for (atom, value) in work.codes.pairs(k) {
                profile.code_sizes[atom] += value.abs();
            }
            profile.sample_weights.push(1.0);
            profile.entered.push(profile.n_entered);
            profile.n_entered += 1;
            report.admitted.push(batch.index()[i]);
            report.admissions.push(work.admissions[i]);
        }
    }

    /// Brings K in line with the places that the samples have now.
    fn arrange_gram(&mut self) {
        let (profile, work) = (&mut self.profile, &mut self.work);
        let (old, n_kept) = (profile.kept_gram.cols(), profile.entered.len());
        work.occupants.extend(work.occupants.len()..n_kept);
        work.occupants.truncate(n_kept);
        work.moved.clear();
        work.entered.clear();
        for (place, &occupant) in work.occupants.iter().enumerate() {
            if let Some(new) = occupant.checked_sub(old) {
                work.entered.push((work.accepted[new], place));
            } else if occupant != place {
                work.moved.push((occupant, place));
            }
        }
        if !work.moved.is_empty() {
            profile.kept_gram.copy_symmetric(&work.moved);
        }
        profile.kept_gram.resize(n_kept, n_kept);
        if !work.entered.is_empty() {
            work.write_entered(old, &mut profile.kept_gram);
        }
        work.occupants.clear();
    }

    /// U = C W Λ, Eq. (eqU).
    fn take_coefficients(&mut self) {
        let profile = &mut self.profile;
        let n_atoms = profile.code_precision.rows();
        let coefficients = &mut profile.dictionary.coefficients;
        coefficients.resize(n_atoms, profile.codes.len());
        let weights = &profile.sample_weights;
        set_combinations(coefficients, &profile.code_precision, &profile.codes, |j| {
            (j, weights[j])
        });
    }

    fn normalise_if_due(&mut self, settings: &LearnerSettings, report: &mut ClassReport) {
        let due = match settings.normalisation {
            Normalisation::Never => false,
            Normalisation::WhenPruned => !report.removed.is_empty(),
            Normalisation::EveryBatches(n) => (self.profile.n_batches + 1).is_multiple_of(n),
            Normalisation::WhenOutOfRange { lowest, highest } => {
                let gram = &self.profile.dictionary.atom_gram;
                (0..gram.rows()).any(|q| !(lowest..=highest).contains(&gram[(q, q)]))
            }
        };
        if due {
            self.normalise(conventions(settings) == Conventions::Published);
            report.normalised = true;
        }
    }

    /// S = √diag Ψ: (W, C, U, Ψ, Ξ) ← (SW, S⁻¹CS⁻¹, S⁻¹U, S⁻¹ΨS⁻¹, SΞS), Eq. (eqScale).
    /// The published code leaves atoms alone whose length is outside [1e-4, 1e4].
    fn normalise(&mut self, published: bool) {
        let (profile, work) = (&mut self.profile, &mut self.work);
        let gram = &mut profile.dictionary.atom_gram;
        work.scales.clear();
        work.scales.extend((0..gram.rows()).map(|q| {
            let length = gram[(q, q)].max(0.0).sqrt();
            let scaled = if published {
                (1e-4..=1e4).contains(&length)
            } else {
                length > 1e-100
            };
            if scaled { length } else { 1.0 }
        }));
        profile.codes.scale_atoms(&work.scales);
        for (size, scale) in profile.code_sizes.iter_mut().zip(&work.scales) {
            *size *= scale;
        }
        scale_symmetric(&mut profile.code_gram, &work.scales);
        for (ridge, scale) in profile.ridge.iter_mut().zip(&work.scales) {
            *ridge *= scale * scale;
        }
        for scale in &mut work.scales {
            *scale = 1.0 / *scale;
        }
        scale_symmetric(gram, &work.scales);
        scale_symmetric(&mut profile.code_precision, &work.scales);
    }
}

impl KrlsProfile {
    /// Σ_j |w_qj| from the codes.
    fn take_code_sizes(&mut self) {
        self.code_sizes.clear();
        self.code_sizes.resize(self.code_precision.rows(), 0.0);
        self.codes.add_sizes(&mut self.code_sizes);
    }

    /// Puts the sample at the end, `last`, in the place of the one at `to`, which is forgotten;
    /// K follows later. (P needs the forgotten one for a moment longer: there they change places.)
    fn move_to(&mut self, last: usize, to: usize) {
        self.dictionary.kept.move_to(last, to);
        self.codes.swap(last, to);
        self.sample_weights.swap(last, to);
        self.entered.swap(last, to);
        if let Some(span) = &mut self.dictionary.span {
            span.swap(last, to);
        }
    }

    fn truncate(&mut self, n: usize) {
        self.dictionary.kept.truncate(n);
        self.codes.truncate(n);
        self.sample_weights.truncate(n);
        self.entered.truncate(n);
    }
}

/// The growing criterion of KRLS settings.
fn growing(settings: &LearnerSettings) -> Growing {
    match settings.algorithm {
        Algorithm::Krls { growing, .. } => growing,
        _ => Growing::Always,
    }
}

/// The conventions of KRLS settings.
fn conventions(settings: &LearnerSettings) -> Conventions {
    match settings.algorithm {
        Algorithm::Krls { conventions, .. } => conventions,
        _ => Conventions::Text,
    }
}

/// Counts which atoms the codes of a mini-batch use, and how well they represent it.
pub(super) fn note_use(view: &BlockView, batch: &Samples, report: &mut ClassReport) {
    let mut sum = 0.0;
    let mut counted = 0;
    for i in 0..batch.len() {
        for (atom, value) in view.codes.pairs(i) {
            if value != 0.0 {
                report.atom_use[atom] += 1;
            }
        }
        if !batch.is_zero(i) {
            sum += view.residuals[i] / batch.self_kernel()[i];
            counted += 1;
        }
    }
    report.mean_residual = if counted > 0 {
        sum / f64::from(counted)
    } else {
        0.0
    };
}

/// S M S for a diagonal S.
pub(super) fn scale_symmetric(matrix: &mut Matrix, scales: &[f64]) {
    struct RowScaling<'a>(&'a mut Matrix, &'a [f64]);
    impl WithVectors for RowScaling<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Vectors>(self, simd: S) {
            let Self(matrix, scales) = self;
            for (j, own) in scales.iter().enumerate() {
                let own = simd.splat_f64s(*own);
                update(simd, matrix.col_mut(j), [scales], |value, [scale]| {
                    simd.mul_f64s(value, simd.mul_f64s(scale, own))
                });
            }
        }
    }
    with_vectors(RowScaling(matrix, scales));
}

/// Largest difference of two matrices relative to the largest element.
pub(super) fn relative_difference(a: &Matrix, b: &Matrix) -> f64 {
    let mut largest = 0.0_f64;
    for j in 0..a.cols() {
        for (x, y) in a.col(j).iter().zip(b.col(j)) {
            largest = largest.max((x - y).abs());
        }
    }
    largest / b.max_abs().max(f64::MIN_POSITIVE)
}
