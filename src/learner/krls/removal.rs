//! Pruning: which samples leave a profile, under which conditions, and what becomes of C and Ψ.

use std::time::Instant;

use crate::math::{Matrix, Write, product, vectorised};

use super::super::algorithm::{Algorithm, Conventions};
use super::super::contributions::{CodedProfile, add_outer_product};
use super::super::pruning::Pruning;
use super::super::report::{ClassReport, Removal, Repair, TimeSpent};
use super::super::settings::LearnerSettings;
use super::super::sparse_coding::SparseCodes;
use super::{Krls, KrlsProfile, Work, conventions};

/// A sample may leave only if 1 − λ wᵀCw stays above this.
const SMALLEST_SLACK: f64 = 1e-3;
/// A sample may leave only if every atom keeps codes of at least this total size:
/// relative to the most used atom, or absolute with the published conventions.
const SMALLEST_ROW_SUM: f64 = 1e-4;

/// The rows of K of the leaving samples are combined in pieces of this many, the last filled up.
pub(super) const PIECE: usize = 8;

impl Krls {
    /// Removes samples until `target` are left, as far as the conditions allow.
    pub(super) fn prune(
        &mut self,
        settings: &LearnerSettings,
        target: usize,
        report: &mut ClassReport,
    ) {
        let begin = Instant::now();
        let wanted = self.n_kept() - target;
        self.select_leaving(settings, wanted, report);
        let found = self.work.leaving.len();
        if found < wanted {
            let ran_out = Repair::CandidatesRanOut { wanted, found };
            report.health.repairs.push(ran_out);
        }
        self.remove_leaving();
        self.drop_leaving(report);
        let published = conventions(settings) == Conventions::Published;
        if !published && self.n_kept() > settings.budget {
            self.force_out(self.n_kept() - settings.budget, report);
        }
        report.pruning_time = TimeSpent(begin.elapsed());
    }

    /// Chooses up to `wanted` samples by rank that satisfy both conditions of removal;
    /// `work.precision` becomes C without them.
    fn select_leaving(
        &mut self,
        settings: &LearnerSettings,
        wanted: usize,
        report: &mut ClassReport,
    ) {
        let Algorithm::Krls { pruning, .. } = settings.algorithm else {
            unreachable!("settings of another algorithm")
        };
        self.begin_selection();
        self.rank(pruning);
        self.select_ranked(settings, pruning, wanted, report);
        let still_over = self.n_kept() - self.work.leaving.len() > settings.budget;
        if let Pruning::LeastContributionOlderHalf(norm) = pruning
            && conventions(settings) == Conventions::Text
            && still_over
        {
            let all = Pruning::LeastContribution(norm);
            self.rank(all);
            self.select_ranked(settings, all, wanted, report);
        }
    }

    fn begin_selection(&mut self) {
        let (profile, work) = (&self.profile, &mut self.work);
        let n_kept = profile.entered.len();
        work.leaving.clear();
        work.is_leaving.clear();
        work.is_leaving.resize(n_kept, false);
        work.precision.copy_from(profile.code_precision.view());
        work.changes
            .begin(profile.code_precision.rows(), Write::Add);
        work.row_sums.clear();
        work.row_sums.resize(profile.code_precision.rows(), 0.0);
        profile.codes.add_sizes(&mut work.row_sums);
    }

    fn rank(&mut self, pruning: Pruning) {
        let profile = &self.profile;
        let coded = CodedProfile {
            precision: &profile.code_precision,
            code_gram: &profile.code_gram,
            codes: &profile.codes,
            weights: &profile.sample_weights,
        };
        self.work
            .ranking
            .rank(pruning, &profile.entered, |found, norm, candidates| {
                found.measure_coded(norm, candidates, coded);
            });
    }

    fn select_ranked(
        &mut self,
        settings: &LearnerSettings,
        pruning: Pruning,
        wanted: usize,
        report: &mut ClassReport,
    ) {
        let published = conventions(settings) == Conventions::Published;
        let (profile, work) = (&self.profile, &mut self.work);
        let most_used = work.row_sums.iter().fold(0.0_f64, |a, &b| a.max(b));
        let smallest_sum = if published {
            SMALLEST_ROW_SUM
        } else {
            SMALLEST_ROW_SUM * most_used
        };
        while work.leaving.len() < wanted
            && let Some(j) = work.ranking.next()
        {
            if work.is_leaving[j] {
                continue;
            }
            let weight = profile.sample_weights[j];
            let energy = work.changes.measure(&work.precision, &profile.codes, j);
            let slack = 1.0 - weight * energy;
            let rows_stay = profile.codes.pairs(j).all(|(atom, value)| {
                value == 0.0 || work.row_sums[atom] - value.abs() >= smallest_sum
            });
            if slack.is_nan() || slack <= SMALLEST_SLACK || !rows_stay {
                continue;
            }
            // Eq. (eqChat) for one sample: C ← C + u uᵀ λ/(1 − λ wᵀu).
            let scale = (weight / slack).sqrt();
            work.changes.keep(&mut work.precision, scale);
            for (atom, value) in profile.codes.pairs(j) {
                work.row_sums[atom] -= value.abs();
            }
            work.is_leaving[j] = true;
            work.leaving.push((j, work.ranking.reason(pruning, j)));
            report.health.smallest_pivot = report.health.smallest_pivot.min(slack);
        }
        work.changes.finish(&mut work.precision);
    }

    /// Takes the effect of the leaving samples out of C and Ψ, Eq. (eqPhi_h).
    fn remove_leaving(&mut self) {
        let (profile, work) = (&mut self.profile, &mut self.work);
        let n = work.leaving.len();
        if n == 0 {
            return;
        }
        work.gather_leaving(profile);
        work.combine_leaving_rows(profile);
        // h_m = U K(:, m) = C (W Λ K(:, m)): W is sparse, so that costs less than U alone.
        let precision = profile.code_precision.view();
        let combined = work.combined_rows.block(0, n, 0, precision.rows());
        work.inner_products.reshape(precision.rows(), n);
        product(
            work.inner_products.view_mut(),
            Write::Replace,
            precision,
            combined.t(),
        );
        // a = u_m α_m = Ĉ w_m λ_m.
        let (leaving, weights) = (&work.leaving, &profile.sample_weights);
        work.recursion
            .gains_by_product(&work.precision, &work.leaving_codes, |k| {
                weights[leaving[k].0]
            });
        work.recursion.measure(
            &work.inner_products,
            &profile.dictionary.atom_gram,
            &work.leaving_codes,
            &work.leaving_kernel,
        );
        work.recursion
            .update(&mut profile.dictionary.atom_gram, false);
        std::mem::swap(&mut profile.code_precision, &mut work.precision);
    }

    /// Forgets the leaving samples; the last ones take their places.
    fn drop_leaving(&mut self, report: &mut ClassReport) {
        let (profile, work) = (&mut self.profile, &mut self.work);
        work.leaving
            .sort_unstable_by_key(|&(j, _)| std::cmp::Reverse(j));
        let mut last = profile.entered.len();
        work.occupants.clear();
        work.occupants.extend(0..last);
        for &(j, reason) in &work.leaving {
            let index = profile.dictionary.kept.index()[j];
            report.removed.push((index, reason));
            add_outer_product(&mut profile.code_gram, &profile.codes, j, -1.0);
            last -= 1;
            profile.move_to(last, j);
            work.occupants[j] = work.occupants[last];
        }
        profile.truncate(last);
        self.arrange_gram();
        let Some(mut span) = self.profile.dictionary.span.take() else {
            return;
        };
        if !span.shrink(self.work.leaving.len(), &mut self.work.shrink) {
            self.rebuild_span(&mut span);
        }
        self.profile.dictionary.span = Some(span);
    }

    /// The budget is a promise: the samples that entered first go although the conditions
    /// forbid it, and what their codes said of each atom becomes its ridge, so that C
    /// stays defined.
    fn force_out(&mut self, excess: usize, report: &mut ClassReport) {
        self.rank(Pruning::Oldest);
        let (profile, work) = (&mut self.profile, &mut self.work);
        work.leaving.clear();
        while work.leaving.len() < excess
            && let Some(j) = work.ranking.next()
        {
            for (atom, value) in profile.codes.pairs(j) {
                profile.ridge[atom] += SMALLEST_SLACK * profile.sample_weights[j] * value * value;
            }
            work.leaving.push((j, Removal::Forced));
        }
        self.drop_leaving(report);
        self.rebuild_precision(true, report);
        self.take_coefficients();
        self.rebuild_atom_gram();
    }
}

impl Work {
    /// Codes of the leaving samples, their rows of K (of which the new samples of this
    /// step are not in K yet) and their kernel matrix.
    fn gather_leaving(&mut self, profile: &KrlsProfile) {
        let (old, n) = (profile.kept_gram.cols(), self.leaving.len());
        let n_rows = n.next_multiple_of(PIECE);
        self.leaving_codes.clear();
        self.leaving_rows.reshape(n_rows, profile.entered.len());
        self.leaving_kernel.reshape(n, n);
        for (k, &(j, _)) in self.leaving.iter().enumerate() {
            self.leaving_codes.push_from(&profile.codes, j);
            let mut row = self.leaving_rows.row_mut(k);
            if let Some(new) = j.checked_sub(old) {
                copy(self.view.kernel_rows.row(self.accepted[new]), &mut row);
                copy(self.kernel.col(new), &mut row);
            } else {
                copy(profile.kept_gram.col(j), &mut row);
                if profile.entered.len() > old {
                    let entered = self.view.kernel_rows.col(j);
                    copy(self.accepted.iter().map(|&i| &entered[i]), &mut row);
                }
            }
        }
        for (k, &(j, _)) in self.leaving.iter().enumerate() {
            let values = &self.leaving_rows.col(j)[..n];
            self.leaving_kernel.col_mut(k).copy_from_slice(values);
        }
    }

    /// `combined_rows` ← (W Λ K(:, m))ᵀ, one column per atom.
    fn combine_leaving_rows(&mut self, profile: &KrlsProfile) {
        let (rows, combined) = (&self.leaving_rows, &mut self.combined_rows);
        combined.reshape(rows.rows(), profile.code_precision.rows());
        combined.fill(0.0);
        let weights = &profile.sample_weights;
        vectorised(
            #[inline(always)]
            || {
                let mut row = 0;
                while row + 2 * PIECE <= rows.rows() {
                    combine_rows::<{ 2 * PIECE }>(combined, rows, row, &profile.codes, weights);
                    row += 2 * PIECE;
                }
                if row < rows.rows() {
                    combine_rows::<PIECE>(combined, rows, row, &profile.codes, weights);
                }
            },
        );
    }
}

/// Overwrites the next targets with the values.
fn copy<'v, 't>(
    values: impl IntoIterator<Item = &'v f64>,
    targets: &mut impl Iterator<Item = &'t mut f64>,
) {
    let pairs = values.into_iter().zip(targets);
    pairs.for_each(|(value, target)| *target = *value);
}

/// `N` rows from `row` on: for every sample j and atom q, column q of `combined` += λ_j w_qj times
/// column j of `rows`.
#[inline(always)]
fn combine_rows<const N: usize>(
    combined: &mut Matrix,
    rows: &Matrix,
    row: usize,
    codes: &SparseCodes,
    weights: &[f64],
) {
    for (j, &weight) in weights.iter().enumerate() {
        let mut values = [0.0; N];
        for (value, k) in values.iter_mut().zip(&rows.col(j)[row..row + N]) {
            *value = weight * k;
        }
        for (atom, factor) in codes.pairs(j) {
            let sums = &mut combined.col_mut(atom)[row..row + N];
            for (sum, value) in sums.iter_mut().zip(&values) {
                *sum += factor * value;
            }
        }
    }
}
