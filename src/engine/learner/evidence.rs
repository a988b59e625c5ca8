//! Evidence-preserving KRLS: a sample that leaves the profile takes nothing of what it
//! taught with it.
//!
//! Pruning as in the paper deletes a sample together with its evidence. Here the evidence
//! A = Σ λ^… w wᵀ is kept, and the dictionary is projected on the span of the samples that
//! remain. The state is X, P = K⁻¹, U, Ψ and A. All samples update the dictionary, also
//! those that lie so close to the span of the kept ones that they are not kept.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::math::{Cholesky, Matrix, Write, dot, product, vectorised};

use super::algorithm::Algorithm;
use super::contributions::add_outer_product;
use super::dictionary::{BlockView, Dictionary};
use super::krls::{note_use, relative_difference, scale_symmetric};
use super::pruning::{Pruning, Ranking, sort_by_age};
use super::recursion::Recursion;
use super::report::{Admission, ClassReport, Rejection, Removal, Repair, TimeSpent};
use super::ridge::{bound_inflation, factor_guarded, smallest_share};
use super::samples::Samples;
use super::seen::{SeenSamples, SeenWork};
use super::settings::{LearnerSettings, Normalisation};
use super::span::{ONE_PASS_FROM, ShrinkWork, Span, SpanBlock, SpotWork, WIDE_CHECK_INTERVAL};
use super::sparse_coding::{SparseCoder, SparseCodes};

/// Share of the mean evidence below which that of an atom may not fall.
const EVIDENCE_FLOOR: f64 = 1e-6;
/// If less than this share of the squared length of an atom survives a removal, Ψ is taken
/// from its definition.
const SMALLEST_REST: f64 = 0.7;
/// Ψ is taken from its definition after at most and at least this many mini-batches; how far
/// it had drifted shortens or lengthens the interval.
const LONGEST_INTERVAL: u64 = 256;
const SHORTEST_INTERVAL: u64 = 4;
/// A sample of which less than this share is new makes K so nearly singular that P is examined where
/// its errors are largest.
const RISKY_SHARE: f64 = 0.02;
/// Where less than this share of the evidence of an atom belongs to it beside the ones before it, A is
/// examined more closely.
const RISKY_PIVOT: f64 = 1e-3;
/// Drift of Ψ below which the interval doubles, above which it is halved.
const TOLERABLE_DRIFT: f64 = 1e-12;

/// The profile of one class: everything needed to resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceProfile {
    /// X, U, Ψ, P.
    pub dictionary: Dictionary,
    /// A.
    pub evidence: Matrix,
    /// η: how hard each kept sample was to classify when it came, forgotten like the evidence.
    pub errors: Vec<f64>,
    /// Order of entrance of the kept samples.
    pub entered: Vec<u64>,
    /// Codes of the kept samples, where the paper's pruning criteria need them.
    pub codes: Option<SparseCodes>,
    /// All samples seen, on the kept ones; absent from states of earlier versions.
    #[serde(default)]
    pub seen: Option<SeenSamples>,
    n_entered: u64,
    n_batches: u64,
    rebuild_interval: u64,
    next_rebuild: u64,
    drift: f64,
}

/// What is special about the samples of a mini-batch in the margin-aware learner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Emphasis<'a> {
    /// Ω: weight of every sample in the evidence.
    pub(super) weights: &'a [f64],
    /// η of every sample, should it be kept.
    pub(super) errors: &'a [f64],
    /// κ: weight of η in the pruning criterion.
    pub(super) memory_of_errors: f64,
}

/// The learner of one class.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    pub(super) profile: EvidenceProfile,
    /// The mini-batch seen through the dictionary.
    pub(super) view: BlockView,
    work: Work,
}

/// Scratch memory, so that a step allocates nothing.
#[derive(Clone, Debug, Default)]
struct Work {
    block_kernel: Matrix,
    span_block: SpanBlock,
    /// σ̂, the kernel matrix of the mini-batch projected on the span.
    projected_kernel: Matrix,
    recursion: Recursion,
    factor: Cholesky,
    /// A⁻¹, where A is nearly singular.
    inverse: Matrix,
    /// wᵀ as rows, dense.
    dense_codes: Matrix,
    /// (T_old − v)ᵀ, row per sample of the mini-batch.
    change: Matrix,
    shrink: ShrinkWork,
    seen: SeenWork,
    spot: SpotWork,
    ranking: Ranking,
    by_age: Vec<usize>,
    losses: Vec<f64>,
    /// Positions in the profile, the smallest losses first.
    by_loss: Vec<usize>,
    leaving: Vec<(usize, Removal)>,
    /// Rᵀ U, or what leaves U.
    wide: Matrix,
    leaving_coefficients: Matrix,
    scales: Vec<f64>,
    kernel_matrix: Matrix,
    recursive_gram: Matrix,
}

impl Evidence {
    /// A dictionary whose atoms are the start samples, scaled to length 1/(1+γ).
    pub(super) fn start(settings: &LearnerSettings, start: &Samples) -> Self {
        let capacity = settings.budget.max(start.len()) + settings.batch_size;
        let keep_codes = settings.algorithm.needs_kept_codes();
        let profile = EvidenceProfile {
            dictionary: Dictionary {
                kernel: settings.kernel,
                kept: Samples::new(start.n_features(), capacity),
                coefficients: Matrix::with_capacity(start.len(), capacity),
                atom_gram: Matrix::zeros(start.len(), start.len()),
                span: Some(Span::with_capacity(capacity, 0.0)),
            },
            evidence: Matrix::zeros(start.len(), start.len()),
            errors: Vec::with_capacity(capacity),
            entered: Vec::with_capacity(capacity),
            codes: keep_codes.then(|| SparseCodes::new(settings.sparsity, capacity)),
            seen: Some(SeenSamples::new(capacity, settings.needs_second_moment())),
            n_entered: 0,
            n_batches: 0,
            rebuild_interval: SHORTEST_INTERVAL,
            next_rebuild: SHORTEST_INTERVAL,
            drift: 0.0,
        };
        let mut learner = Self::resume(settings, profile);
        learner.take_start(settings, start);
        learner
    }

    /// Goes on with a saved profile.
    pub(super) fn resume(settings: &LearnerSettings, mut profile: EvidenceProfile) -> Self {
        if !settings.algorithm.needs_kept_codes() {
            profile.codes = None;
        }
        if let Some(seen) = &mut profile.seen
            && !settings.needs_second_moment()
        {
            seen.second_moment = None;
        }
        let coder = SparseCoder::new(settings.pursuit, settings.sparsity, settings.error_limit);
        let codes = SparseCodes::new(settings.sparsity, settings.batch_size);
        Self {
            profile,
            view: BlockView::new(coder, codes),
            work: Work::default(),
        }
    }

    /// The start samples are admitted like any others, so that dependent ones (duplicates,
    /// a linear kernel with fewer features than atoms) find their place: an atom whose
    /// sample is refused takes its row of U from the samples that span it.
    fn take_start(&mut self, settings: &LearnerSettings, start: &Samples) {
        let n_atoms = start.len();
        let block = &mut self.work.span_block;
        settings.kernel.gram(start, &mut self.work.block_kernel);
        self.view.kernel_rows.reshape(n_atoms, 0);
        block.weights.reshape(n_atoms, 0);
        let profile = &mut self.profile;
        let span = profile.dictionary.span.get_or_insert_with(Span::default);
        span.admit(
            &self.view.kernel_rows,
            &self.work.block_kernel,
            novelty_of(settings),
            |_| true,
            block,
        );
        span.extend(block);
        let gamma = settings.regularisation;
        profile
            .dictionary
            .coefficients
            .resize(n_atoms, block.admitted.len());
        for (k, &i) in block.admitted.iter().enumerate() {
            profile.dictionary.kept.push_from(start, i);
            profile.errors.push(0.0);
            profile.entered.push(k as u64);
            if let Some(codes) = &mut profile.codes {
                codes.push(std::iter::once((i, start.self_kernel()[i].sqrt())));
            }
        }
        if let Some(seen) = &mut profile.seen {
            seen.begin(block, &distinct(start));
        }
        profile.n_entered = block.admitted.len() as u64;
        for q in 0..n_atoms {
            let length = start.self_kernel()[q].sqrt();
            for k in 0..block.admitted.len() {
                profile.dictionary.coefficients[(q, k)] =
                    block.mixing[(k, q)] / (length * (1.0 + gamma));
            }
            profile.evidence[(q, q)] = (1.0 + gamma) * length * length;
            for p in 0..n_atoms {
                let inside = self.work.block_kernel[(p, q)] - block.left_over[(p, q)];
                let lengths = length * start.self_kernel()[p].sqrt() * (1.0 + gamma).powi(2);
                profile.dictionary.atom_gram[(p, q)] = inside / lengths;
            }
        }
        profile.dictionary.atom_gram.symmetrise();
    }

    /// Number of kept samples.
    pub(super) fn n_kept(&self) -> usize {
        self.profile.dictionary.n_kept()
    }

    /// Learns one mini-batch with forgetting factor λ.
    pub(super) fn learn(
        &mut self,
        settings: &LearnerSettings,
        batch: &Samples,
        factor: f64,
        report: &mut ClassReport,
    ) {
        let everything = 0..batch.len();
        self.profile
            .dictionary
            .code(batch, everything, &mut self.view);
        self.profile
            .dictionary
            .measure_distances(batch, &mut self.view);
        self.learn_coded(settings, batch, factor, None, report);
    }

    /// The same for a mini-batch whose kernel values, codes and weights stand in `view`.
    pub(super) fn learn_coded(
        &mut self,
        settings: &LearnerSettings,
        batch: &Samples,
        factor: f64,
        emphasis: Option<Emphasis<'_>>,
        report: &mut ClassReport,
    ) {
        note_use(&self.view, batch, report);
        self.admit(settings, batch, report);
        self.add_evidence(factor, emphasis, report);
        self.update_dictionary(batch);
        self.append(settings, batch, factor, emphasis, report);
        if self.profile.dictionary.n_kept() > settings.budget {
            let kappa = emphasis.map_or(0.0, |emphasis| emphasis.memory_of_errors);
            self.prune(settings, kappa, report);
        }
        self.normalise_if_due(settings, report);
        self.profile.n_batches += 1;
        self.check_span(report);
        self.rebuild_atom_gram_if_due();
        report.n_kept = self.profile.dictionary.n_kept();
        report.health.drift = self.profile.drift;
        report.health.condition = self.work.factor.condition_estimate();
    }

    /// Step 2: which samples extend the span.
    fn admit(&mut self, settings: &LearnerSettings, batch: &Samples, report: &mut ClassReport) {
        let work = &mut self.work;
        let dictionary = &self.profile.dictionary;
        dictionary.kernel.gram(batch, &mut work.block_kernel);
        std::mem::swap(&mut work.span_block.weights, &mut self.view.weights);
        let novelty = novelty_of(settings);
        if let Some(span) = &dictionary.span {
            span.admit(
                &self.view.kernel_rows,
                &work.block_kernel,
                novelty,
                |i| !batch.is_zero(i),
                &mut work.span_block,
            );
        }
        let block = &work.span_block;
        for i in 0..batch.len() {
            if batch.is_zero(i) {
                report.rejected.push((batch.index()[i], Rejection::Zero));
            } else if !block.is_admitted[i] {
                let refused = Rejection::InSpan(block.shares[i]);
                report.rejected.push((batch.index()[i], refused));
            }
        }
        report.health.smallest_pivot = block.smallest_share.min(1.0);
        // σ̂ = σ − what is left outside the span of kept and admitted samples.
        work.projected_kernel.reshape(batch.len(), batch.len());
        for j in 0..batch.len() {
            for i in 0..batch.len() {
                work.projected_kernel[(i, j)] = work.block_kernel[(i, j)] - block.left_over[(i, j)];
            }
        }
    }

    /// Step 4: A ← λA + w Ω wᵀ, its factor, and the gains G = A⁻¹ w Ω.
    fn add_evidence(
        &mut self,
        factor: f64,
        emphasis: Option<Emphasis<'_>>,
        report: &mut ClassReport,
    ) {
        let codes = &self.view.codes;
        let weight = |j: usize| emphasis.map_or(1.0, |emphasis| emphasis.weights[j]);
        let evidence = &mut self.profile.evidence;
        evidence.scale(factor);
        for j in 0..codes.len() {
            add_outer_product(evidence, codes, j, weight(j));
        }
        raise_to_floor(evidence, report);
        let work = &mut self.work;
        let repairs = &mut report.health.repairs;
        factor_guarded(&mut work.factor, evidence, 0.0, |atom, _| {
            repairs.push(Repair::Ridge { atom });
        });
        if smallest_share(&work.factor, evidence) < RISKY_PIVOT {
            work.factor.inverse_into(&mut work.inverse);
            bound_inflation(&mut work.factor, evidence, &mut work.inverse, |atom, _| {
                repairs.push(Repair::Ridge { atom })
            });
        }
        codes.write_dense(evidence.rows(), &mut work.recursion.gains);
        let (gains, factor) = (&mut work.recursion.gains, &work.factor);
        vectorised(
            #[inline(always)]
            || {
                for j in 0..codes.len() {
                    let column = gains.col_mut(j);
                    column.iter_mut().for_each(|value| *value *= weight(j));
                    factor.solve(column);
                }
            },
        );
    }

    /// Step 5: U ← [U + G (T_old − v)ᵀ, G T_newᵀ] and Ψ.
    fn update_dictionary(&mut self, batch: &Samples) {
        let work = &mut self.work;
        let dictionary = &mut self.profile.dictionary;
        let (n_atoms, old) = (dictionary.n_atoms(), dictionary.n_kept());
        let (m, new) = (batch.len(), work.span_block.admitted.len());
        work.recursion.measure(
            &self.view.inner_products,
            &dictionary.atom_gram,
            &self.view.codes,
            &work.projected_kernel,
        );
        self.view.codes.write_dense(n_atoms, &mut work.dense_codes);
        // −vᵀ = −wᵀU; then rows of refused samples get T_oldᵀ = aᵀ − cᵀ a_Sᵀ.
        work.change.reshape(m, old);
        work.change.fill(0.0);
        product(
            work.change.view_mut(),
            Write::Subtract,
            work.dense_codes.view().t(),
            dictionary.coefficients.view(),
        );
        add_old_weights(&mut work.change, &work.span_block);
        dictionary.coefficients.resize(n_atoms, old + new);
        product(
            dictionary.coefficients.block_mut(0, n_atoms, 0, old),
            Write::Add,
            work.recursion.gains.view(),
            work.change.view(),
        );
        product(
            dictionary.coefficients.block_mut(0, n_atoms, old, new),
            Write::Replace,
            work.recursion.gains.view(),
            work.span_block.mixing.view().t(),
        );
        work.recursion.update(&mut dictionary.atom_gram, true);
    }

    /// Step 6: P and X take in the admitted samples.
    fn append(
        &mut self,
        settings: &LearnerSettings,
        batch: &Samples,
        factor: f64,
        emphasis: Option<Emphasis<'_>>,
        report: &mut ClassReport,
    ) {
        let (profile, block) = (&mut self.profile, &mut self.work.span_block);
        if let Some(seen) = &mut profile.seen {
            let n_counted = (0..batch.len()).filter(|&i| !batch.is_zero(i)).count();
            seen.add(block, n_counted, &mut self.work.seen);
        }
        if let Some(span) = &mut profile.dictionary.span {
            let n_kept = span.len() + block.admitted.len();
            report.health.one_pass = n_kept > settings.budget && n_kept > ONE_PASS_FROM;
            if report.health.one_pass {
                span.extend_later(block, &mut self.work.shrink);
            } else {
                span.extend(block);
            }
        }
        profile.errors.iter_mut().for_each(|error| *error *= factor);
        for &i in &block.admitted {
            profile.dictionary.kept.push_from(batch, i);
            let error = emphasis.map_or(0.0, |emphasis| emphasis.errors[i]);
            profile.errors.push(error);
            profile.entered.push(profile.n_entered);
            profile.n_entered += 1;
            if let Some(codes) = &mut profile.codes {
                codes.push_from(&self.view.codes, i);
            }
            report.admitted.push(batch.index()[i]);
            report.admissions.push(Admission::Outside(block.shares[i]));
        }
    }

    /// Step 7: the samples whose removal costs least leave, and the dictionary is projected
    /// on the span of the others.
    fn prune(&mut self, settings: &LearnerSettings, kappa: f64, report: &mut ClassReport) {
        let begin = Instant::now();
        let count = self.profile.dictionary.n_kept() - settings.budget;
        let pruning = settings.algorithm.pruning().unwrap_or(Pruning::LeastLoss);
        self.select_leaving(pruning, kappa, count);
        let mut last = self.profile.dictionary.n_kept();
        for k in 0..count {
            last -= 1;
            let (position, reason) = self.work.leaving[k];
            let index = self.profile.dictionary.kept.index()[position];
            report.removed.push((index, reason));
            self.profile.swap(position, last, &mut self.work.shrink);
        }
        self.project_out(count, report);
        report.pruning_time = TimeSpent(begin.elapsed());
    }

    /// `work.leaving` ← the `count` samples to go, highest position first.
    fn select_leaving(&mut self, pruning: Pruning, kappa: f64, count: usize) {
        let (profile, work) = (&self.profile, &mut self.work);
        match (&profile.codes, pruning) {
            (Some(codes), pruning) if pruning != Pruning::LeastLoss => {
                let coefficients = &profile.dictionary.coefficients;
                work.leaving.clear();
                sort_by_age(&profile.entered, &mut work.by_age);
                // Half of a small profile may be fewer than must go: the next oldest follow.
                for pruning in [pruning, Pruning::Oldest] {
                    if work.leaving.len() == count {
                        break;
                    }
                    work.ranking
                        .rank(pruning, &work.by_age, |found, norm, candidates| {
                            found.measure(norm, candidates, coefficients, codes);
                        });
                    while work.leaving.len() < count
                        && let Some(j) = work.ranking.next()
                    {
                        if !work.leaving.iter().any(|&(k, _)| k == j) {
                            work.leaving.push((j, work.ranking.reason(pruning, j)));
                        }
                    }
                }
            }
            _ => self.select_least_loss(kappa, count),
        }
        self.work
            .leaving
            .sort_unstable_by_key(|&(j, _)| std::cmp::Reverse(j));
    }

    /// J_j = (‖Rᵀu_j‖² + κ η_j) / P_jj is exactly the loss added by removing j (κ = 0).
    fn select_least_loss(&mut self, kappa: f64, count: usize) {
        let (profile, work) = (&self.profile, &mut self.work);
        let Some(span) = &profile.dictionary.span else {
            return;
        };
        let coefficients = &profile.dictionary.coefficients;
        work.wide.reshape(coefficients.rows(), coefficients.cols());
        product(
            work.wide.view_mut(),
            Write::Replace,
            work.factor.lower().t(),
            coefficients.view(),
        );
        work.losses.clear();
        let (wide, losses) = (&work.wide, &mut work.losses);
        vectorised(
            #[inline(always)]
            || {
                for j in 0..wide.cols() {
                    let column = wide.col(j);
                    let loss = dot(column, column) + kappa * profile.errors[j];
                    losses.push(loss / span.diagonal(j, &work.shrink));
                }
            },
        );
        let order = &mut work.by_loss;
        order.clear();
        order.extend(0..losses.len());
        let by_loss = |a: &usize, b: &usize| {
            let by_loss = losses[*a].total_cmp(&losses[*b]);
            by_loss.then(profile.entered[*a].cmp(&profile.entered[*b]))
        };
        if count < order.len() {
            order.select_nth_unstable_by(count, by_loss);
        }
        work.leaving.clear();
        let chosen = order.iter().take(count);
        work.leaving
            .extend(chosen.map(|&j| (j, Removal::LeastLoss(losses[j]))));
    }

    /// U_k ← U_k − U_m P_mm⁻¹ P_mk, Ψ ← Ψ − U_m P_mm⁻¹ U_mᵀ, and P, for the last `count` samples.
    fn project_out(&mut self, count: usize, report: &mut ClassReport) {
        let (profile, work) = (&mut self.profile, &mut self.work);
        let Dictionary {
            kernel,
            kept,
            coefficients,
            atom_gram,
            span,
        } = &mut profile.dictionary;
        let Some(span) = span else { return };
        let keep = kept.len() - count;
        let n_atoms = coefficients.rows();
        work.scales.clear();
        work.scales.extend((0..n_atoms).map(|q| atom_gram[(q, q)]));
        let sound = span.shrink(count, &mut work.shrink);
        if let Some(seen) = &mut profile.seen {
            seen.remove_last(count, sound, &work.shrink, &mut work.seen);
        }
        if sound {
            work.leaving_coefficients
                .copy_from(coefficients.cols_view(keep, count));
            crate::math::solve_lower_transposed_right(
                &mut work.leaving_coefficients,
                &work.shrink.factor,
            );
            product(
                coefficients.block_mut(0, n_atoms, 0, keep),
                Write::Subtract,
                work.leaving_coefficients.view(),
                work.shrink.half.view().t(),
            );
            product(
                atom_gram.view_mut(),
                Write::Subtract,
                work.leaving_coefficients.view(),
                work.leaving_coefficients.view().t(),
            );
        }
        // Atoms that lived on the samples that leave: little is left of Ψ, and that is rounding.
        let mut lengths = (0..n_atoms).zip(&work.scales);
        let cancelled = lengths.any(|(q, before)| atom_gram[(q, q)] < SMALLEST_REST * before);
        coefficients.resize(n_atoms, keep);
        kept.truncate(keep);
        profile.errors.truncate(keep);
        profile.entered.truncate(keep);
        if let Some(codes) = &mut profile.codes {
            codes.truncate(keep);
        }
        if !sound {
            let drift = f64::INFINITY;
            if span.rebuild(kernel, kept, &mut work.kernel_matrix, &mut work.spot) {
                report.health.repairs.push(Repair::InverseRebuilt { drift });
            }
        }
        if !sound || cancelled {
            self.rebuild_atom_gram();
        }
    }

    /// Step 8: the optional gauge S = √diag Ψ: U ← S⁻¹U, Ψ ← S⁻¹ΨS⁻¹, A ← SAS.
    fn normalise_if_due(&mut self, settings: &LearnerSettings, report: &mut ClassReport) {
        let (profile, work) = (&mut self.profile, &mut self.work);
        let gram = &mut profile.dictionary.atom_gram;
        let due = match settings.normalisation {
            Normalisation::Never => false,
            Normalisation::WhenPruned => !report.removed.is_empty(),
            Normalisation::EveryBatches(n) => (profile.n_batches + 1).is_multiple_of(n),
            Normalisation::WhenOutOfRange { lowest, highest } => {
                (0..gram.rows()).any(|q| !(lowest..=highest).contains(&gram[(q, q)]))
            }
        };
        if !due {
            return;
        }
        report.normalised = true;
        work.scales.clear();
        work.scales.extend((0..gram.rows()).map(|q| {
            let squared = gram[(q, q)];
            if squared > 1e-200 {
                squared.sqrt()
            } else {
                1.0
            }
        }));
        scale_symmetric(&mut profile.evidence, &work.scales);
        if let Some(codes) = &mut profile.codes {
            codes.scale_atoms(&work.scales);
        }
        for scale in &mut work.scales {
            *scale = 1.0 / *scale;
        }
        scale_symmetric(gram, &work.scales);
        let coefficients = &mut profile.dictionary.coefficients;
        for j in 0..coefficients.cols() {
            for (value, scale) in coefficients.col_mut(j).iter_mut().zip(&work.scales) {
                *value *= scale;
            }
        }
    }

    /// Compares P with the kernel at one kept sample and computes it again where it has drifted.
    fn check_span(&mut self, report: &mut ClassReport) {
        let (profile, work) = (&mut self.profile, &mut self.work);
        let Dictionary {
            kernel, kept, span, ..
        } = &mut profile.dictionary;
        let Some(span) = span else { return };
        let is_wide = span.len() >= ONE_PASS_FROM;
        if is_wide && !profile.n_batches.is_multiple_of(WIDE_CHECK_INTERVAL) {
            return;
        }
        let mut drift = span.spot_check(kernel, kept, &mut work.spot);
        if report.health.smallest_pivot < RISKY_SHARE {
            let first_new = profile.n_entered - report.admitted.len() as u64;
            let entered = &profile.entered;
            for is_new in [true, false] {
                let counts = |j: usize| (entered[j] >= first_new) == is_new;
                let there = span.check_nearest(counts, kernel, kept, &mut work.spot);
                // What is no number stays so.
                let is_less = drift.is_nan() || there <= drift;
                drift = if is_less { drift } else { there };
            }
        }
        profile.drift = drift;
        if span.needs_rebuilding(drift)
            && span.rebuild(kernel, kept, &mut work.kernel_matrix, &mut work.spot)
        {
            report.health.repairs.push(Repair::InverseRebuilt { drift });
            self.rebuild_atom_gram();
        }
    }

    /// Takes Ψ from its definition when it is time; its drift sets the time of the next.
    fn rebuild_atom_gram_if_due(&mut self) {
        if self.profile.n_batches < self.profile.next_rebuild {
            return;
        }
        let recursive = &self.profile.dictionary.atom_gram;
        self.work.recursive_gram.copy_from(recursive.view());
        self.rebuild_atom_gram();
        let profile = &mut self.profile;
        let rebuilt = &profile.dictionary.atom_gram;
        let drift = relative_difference(&self.work.recursive_gram, rebuilt);
        profile.rebuild_interval = if drift < TOLERABLE_DRIFT {
            (2 * profile.rebuild_interval).min(LONGEST_INTERVAL)
        } else {
            (profile.rebuild_interval / 2).max(SHORTEST_INTERVAL)
        };
        profile.next_rebuild = profile.n_batches + profile.rebuild_interval;
        profile.drift = profile.drift.max(drift);
    }

    /// Ψ = U K Uᵀ.
    fn rebuild_atom_gram(&mut self) {
        let work = &mut self.work;
        let Dictionary {
            kernel,
            kept,
            coefficients,
            atom_gram,
            ..
        } = &mut self.profile.dictionary;
        kernel.block(kept, kept, &mut work.kernel_matrix);
        work.wide.reshape(coefficients.rows(), coefficients.cols());
        product(
            work.wide.view_mut(),
            Write::Replace,
            coefficients.view(),
            work.kernel_matrix.view(),
        );
        product(
            atom_gram.view_mut(),
            Write::Replace,
            work.wide.view(),
            coefficients.view().t(),
        );
        atom_gram.symmetrise();
    }
}

impl EvidenceProfile {
    /// Exchanges the places of two kept samples.
    fn swap(&mut self, a: usize, b: usize, work: &mut ShrinkWork) {
        self.dictionary.kept.swap(a, b);
        self.dictionary.coefficients.swap_cols(a, b);
        self.errors.swap(a, b);
        self.entered.swap(a, b);
        if let Some(codes) = &mut self.codes {
            codes.swap(a, b);
        }
        if let Some(seen) = &mut self.seen {
            seen.swap(a, b);
        }
        if let Some(span) = &mut self.dictionary.span {
            span.swap_pending(a, b, work);
        }
    }
}

/// A_qq ← max(A_qq, floor): an atom that is never used stays solvable.
fn raise_to_floor(evidence: &mut Matrix, report: &mut ClassReport) {
    let n_atoms = evidence.rows();
    let trace: f64 = (0..n_atoms).map(|q| evidence[(q, q)]).sum();
    let floor = (EVIDENCE_FLOOR * trace / n_atoms as f64).max(f64::MIN_POSITIVE);
    for q in 0..n_atoms {
        if evidence[(q, q)] < floor {
            evidence[(q, q)] = floor;
            report
                .health
                .repairs
                .push(Repair::EvidenceFloor { atom: q });
        }
    }
}

/// Adds T_oldᵀ = aᵀ − cᵀ a_Sᵀ to the rows of refused samples; for admitted ones it is zero.
fn add_old_weights(change: &mut Matrix, block: &SpanBlock) {
    if block.is_admitted.iter().all(|&admitted| admitted) {
        return;
    }
    for l in 0..change.cols() {
        let weights = block.weights.col(l);
        for (i, value) in change.col_mut(l).iter_mut().enumerate() {
            if !block.is_admitted[i] {
                let mixed: f64 = block
                    .admitted
                    .iter()
                    .zip(block.mixing.col(i))
                    .map(|(&j, c)| weights[j] * c)
                    .sum();
                *value += weights[i] - mixed;
            }
        }
    }
}

/// The first place of every start sample: some may serve several atoms.
fn distinct(start: &Samples) -> Vec<usize> {
    let index = start.index();
    let is_first = |place: &usize| !index[..*place].contains(&index[*place]);
    (0..index.len()).filter(is_first).collect()
}

fn novelty_of(settings: &LearnerSettings) -> f64 {
    match settings.algorithm {
        Algorithm::Evidence { novelty, .. } | Algorithm::Margin { novelty, .. } => novelty,
        _ => 0.0,
    }
}
