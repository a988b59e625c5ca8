//! Pruning: which samples leave a profile, under which conditions, and what becomes of C and Ψ.

use std::time::Instant;

use crate::math::{Lanes, TOGETHER, Vectors, WithVectors, Write, small_product, with_vectors};

use super::super::algorithm::{Algorithm, Conventions};
use super::super::contributions::{CodedProfile, add_outer_product};
use super::super::pruning::Pruning;
use super::super::report::{ClassReport, Removal, Repair, TimeSpent};
use super::super::settings::LearnerSettings;
use super::super::sparse_coding::SparseCodes;
use super::{Krls, KrlsProfile, KrlsScratch, conventions};

/// A sample may leave only if 1 − λ wᵀCw stays above this.
const SMALLEST_SLACK: f64 = 1e-3;
/// A sample may leave only if every atom keeps codes of at least this total size:
/// relative to the most used atom, or absolute with the published conventions.
const SMALLEST_ROW_SUM: f64 = 1e-4;

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
        work.row_sums.clone_from(&profile.code_sizes);
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
            .rank(pruning, &self.work.by_age, |found, norm, candidates| {
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
        // h_m = U K(:, m) = C (W Λ K(:, m)): W is sparse, so that costs less than U alone.
        let precision = profile.code_precision.view();
        let combined = work.combined_rows.view();
        work.inner_products.reshape(precision.rows(), n);
        small_product(
            &mut work.inner_products,
            Write::Replace,
            precision,
            combined,
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
            for (atom, value) in profile.codes.pairs(j) {
                profile.code_sizes[atom] -= value.abs();
            }
            last -= 1;
            profile.move_to(last, j);
            work.occupants[j] = work.occupants[last];
        }
        profile.truncate(last);
        work.follow_moves(last);
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

impl KrlsScratch {
    /// `by_age` after samples left and others took their places, of which `n_kept` are left.
    fn follow_moves(&mut self, n_kept: usize) {
        const GONE: usize = usize::MAX;
        let places = &mut self.places;
        places.clear();
        places.resize(self.occupants.len(), GONE);
        for (place, &occupant) in self.occupants[..n_kept].iter().enumerate() {
            places[occupant] = place;
        }
        let mut n_left = 0;
        for k in 0..self.by_age.len() {
            let place = places[self.by_age[k]];
            self.by_age[n_left] = place;
            n_left += usize::from(place != GONE);
        }
        self.by_age.truncate(n_left);
    }

    /// Codes of the leaving samples, their kernel matrix, and (W Λ K(:, m))ᵀ with a row for each.
    fn gather_leaving(&mut self, profile: &KrlsProfile) {
        let (n_atoms, n) = (profile.code_precision.rows(), self.leaving.len());
        self.leaving_codes.clear();
        for &(m, _) in &self.leaving {
            self.leaving_codes.push_from(&profile.codes, m);
        }
        self.leaving_kernel.reshape(n, n);
        self.combined_rows.reshape(n, n_atoms);
        for first in (0..n).step_by(TOGETHER) {
            let count = TOGETHER.min(n - first);
            self.gather_rows(profile, first, count);
            for (l, &(m, _)) in self.leaving.iter().enumerate() {
                let values = &self.leaving_rows[m].0[..count];
                self.leaving_kernel.col_mut(l)[first..first + count].copy_from_slice(values);
            }
            self.combined.clear();
            self.combined.resize(n_atoms, Lanes::default());
            with_vectors(RowCombination {
                sums: &mut self.combined,
                rows: &self.leaving_rows,
                codes: &profile.codes,
                weights: &profile.sample_weights,
            });
            for (q, sums) in self.combined.iter().enumerate() {
                let values = &sums.0[..count];
                self.combined_rows.col_mut(q)[first..first + count].copy_from_slice(values);
            }
        }
    }

    /// `leaving_rows` ← the rows of K of `count` leaving samples from `first` on, of which the new
    /// samples of this step are not in K yet.
    fn gather_rows(&mut self, profile: &KrlsProfile, first: usize, count: usize) {
        let (old, n_kept) = (profile.kept_gram.cols(), profile.entered.len());
        self.leaving_rows.resize(n_kept, Lanes::default());
        let leaving = &self.leaving[first..first + count];
        for (k, &(m, _)) in leaving.iter().enumerate() {
            let mut row = self.leaving_rows.iter_mut().map(|values| &mut values.0[k]);
            if let Some(new) = m.checked_sub(old) {
                copy(self.view.kernel_rows.row(self.accepted[new]), &mut row);
                copy(self.kernel.col(new), &mut row);
            } else {
                copy(profile.kept_gram.col(m), &mut row);
                if n_kept > old {
                    let entered = self.view.kernel_rows.col(m);
                    copy(self.accepted.iter().map(|&i| &entered[i]), &mut row);
                }
            }
        }
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

/// Column q of `sums` ← Σ_j λ_j w_qj · row j.
struct RowCombination<'a> {
    sums: &'a mut [Lanes],
    rows: &'a [Lanes],
    codes: &'a SparseCodes,
    weights: &'a [f64],
}

impl WithVectors for RowCombination<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Vectors>(self, simd: S) {
        for (j, (row, weight)) in self.rows.iter().zip(self.weights).enumerate() {
            let (row, _) = S::as_simd_f64s(&row.0);
            for (atom, value) in self.codes.pairs(j) {
                let factor = simd.splat_f64s(weight * value);
                let (sums, _) = S::as_mut_simd_f64s(&mut self.sums[atom].0);
                for (sum, k) in sums.iter_mut().zip(row) {
                    *sum = simd.mul_add_f64s(factor, *k, *sum);
                }
            }
        }
    }
}
