//! Rebuilding C, U, Ψ and P from their definitions, before the drift of the recursions counts.

use crate::math::{Write, product};

use super::super::algorithm::Conventions;
use super::super::contributions::add_outer_product;
use super::super::report::{ClassReport, Repair};
use super::super::ridge::factor_guarded;
use super::super::settings::LearnerSettings;
use super::{Dictionary, Krls, conventions, relative_difference};

/// C and Ψ are rebuilt from their definitions after at most this many mini-batches, or one
/// per [`KEPT_PER_BATCH`] kept samples: Ψ costs L², its share of a mini-batch must not.
const LONGEST_INTERVAL: u64 = 32;
const KEPT_PER_BATCH: u64 = 16;
/// Drift per unit of the condition (C_qq A_qq) below which the interval to the next rebuilding
/// doubles, above which it is halved: a few units of rounding are there right after it.
const TOLERABLE_DRIFT: f64 = 32.0 * f64::EPSILON;
/// Drift that no condition excuses.
const LARGEST_DRIFT: f64 = 1e-11;
/// A removal with less slack than this multiplies errors so much that C and Ψ are rebuilt at once.
const RISKY_SLACK: f64 = 0.5;
/// With fewer samples than this per atom, C hangs on every one of them: it is rebuilt every time.
const AMPLE_PER_ATOM: usize = 2;
/// Share of the mean evidence below which the ridge of an atom is raised.
const EVIDENCE_FLOOR: f64 = 1e-6;
/// Share of its evidence that must belong to an atom beside the ones before it, or its ridge is
/// raised: C would otherwise be known to few digits only.
const SMALLEST_PIVOT: f64 = 1e-5;
/// C_qq A_qq is at most this: the reciprocal share of its evidence that belongs to an atom alone.
const LARGEST_INFLATION: f64 = 1e6;

impl Krls {
    /// Rebuilds C, U and Ψ from their definitions when it is time. How far the recursion had
    /// drifted sets the time of the next rebuilding. Returns whether it was time.
    pub(super) fn rebuild_if_due(
        &mut self,
        settings: &LearnerSettings,
        report: &mut ClassReport,
    ) -> bool {
        let (n_kept, n_atoms) = (self.n_kept(), self.profile.dictionary.n_atoms());
        let risky = report.health.smallest_pivot < RISKY_SLACK || n_kept < AMPLE_PER_ATOM * n_atoms;
        if self.profile.n_batches < self.profile.next_rebuild && !risky {
            return false;
        }
        let text = conventions(settings) == Conventions::Text;
        self.rebuild_precision(text, report);
        self.take_coefficients();
        let recursive = &self.profile.dictionary.atom_gram;
        self.work.evidence.copy_from(recursive.view());
        self.rebuild_atom_gram();
        let profile = &mut self.profile;
        let drift = relative_difference(&self.work.evidence, &profile.dictionary.atom_gram);
        profile.drift = profile.drift.max(drift);
        let tolerable = (TOLERABLE_DRIFT * profile.condition.max(100.0)).min(LARGEST_DRIFT);
        let longest = LONGEST_INTERVAL.max(profile.entered.len() as u64 / KEPT_PER_BATCH);
        profile.rebuild_interval = if profile.drift < tolerable {
            (2 * profile.rebuild_interval).min(longest)
        } else {
            (profile.rebuild_interval / 2).max(1)
        };
        profile.next_rebuild = profile.n_batches + profile.rebuild_interval;
        self.check_span(report);
        true
    }

    /// Compares P, where it is kept, with the kernel, and computes it anew if it has drifted.
    pub(super) fn check_span(&mut self, report: &mut ClassReport) {
        let Some(mut span) = self.profile.dictionary.span.take() else {
            return;
        };
        let Dictionary { kernel, kept, .. } = &self.profile.dictionary;
        let drift = span.spot_check(kernel, kept, &mut self.work.spot);
        if span.needs_rebuilding(drift) {
            self.rebuild_span(&mut span);
            report.health.repairs.push(Repair::InverseRebuilt { drift });
        }
        self.profile.dictionary.span = Some(span);
    }

    /// C = (W Λ Wᵀ + Ξ)⁻¹ from the codes. With `guarded`, atoms that lack evidence get a ridge.
    pub(super) fn rebuild_precision(&mut self, guarded: bool, report: &mut ClassReport) {
        self.take_evidence();
        if guarded {
            self.raise_ridge_to_floor(report);
        }
        let (profile, work) = (&mut self.profile, &mut self.work);
        let smallest_pivot = if guarded { SMALLEST_PIVOT } else { 0.0 };
        factor_guarded(
            &mut work.factor,
            &mut work.evidence,
            smallest_pivot,
            |atom, lift| {
                profile.ridge[atom] += lift;
                report.health.repairs.push(Repair::Ridge { atom });
            },
        );
        work.factor.inverse_into(&mut work.precision);
        if guarded {
            self.bound_inflation(report);
        }
        let (profile, work) = (&mut self.profile, &mut self.work);
        profile.drift = relative_difference(&profile.code_precision, &work.precision);
        profile.condition = (0..work.precision.rows())
            .map(|q| work.evidence[(q, q)] * work.precision[(q, q)])
            .fold(1.0, f64::max);
        std::mem::swap(&mut profile.code_precision, &mut work.precision);
    }

    /// Raises the ridge of atoms of whose evidence hardly anything is their own: C_qq A_qq ≤ κ.
    fn bound_inflation(&mut self, report: &mut ClassReport) {
        let (profile, work) = (&mut self.profile, &mut self.work);
        let mut is_raised = false;
        for q in 0..work.evidence.rows() {
            let evidence = work.evidence[(q, q)];
            if evidence * work.precision[(q, q)] > LARGEST_INFLATION {
                let lift = 2.0 * evidence / LARGEST_INFLATION;
                work.evidence[(q, q)] += lift;
                profile.ridge[q] += lift;
                report.health.repairs.push(Repair::Ridge { atom: q });
                is_raised = true;
            }
        }
        // With more on its diagonal it factors as before.
        if is_raised && work.factor.factor(work.evidence.view()).is_ok() {
            work.factor.inverse_into(&mut work.precision);
        }
    }

    /// `work.evidence` ← W Λ Wᵀ + Ξ; W Wᵀ likewise from the codes.
    fn take_evidence(&mut self) {
        let (profile, work) = (&mut self.profile, &mut self.work);
        let n_atoms = profile.code_precision.rows();
        work.evidence.reshape(n_atoms, n_atoms);
        work.evidence.fill(0.0);
        profile.code_gram.fill(0.0);
        for (j, &weight) in profile.sample_weights.iter().enumerate() {
            add_outer_product(&mut work.evidence, &profile.codes, j, weight);
            add_outer_product(&mut profile.code_gram, &profile.codes, j, 1.0);
        }
        for (q, ridge) in profile.ridge.iter().enumerate() {
            work.evidence[(q, q)] += ridge;
        }
    }

    fn raise_ridge_to_floor(&mut self, report: &mut ClassReport) {
        let (profile, work) = (&mut self.profile, &mut self.work);
        let n_atoms = work.evidence.rows();
        let trace: f64 = (0..n_atoms).map(|q| work.evidence[(q, q)]).sum();
        let floor = (EVIDENCE_FLOOR * trace / n_atoms as f64).max(f64::MIN_POSITIVE);
        for q in 0..n_atoms {
            let missing = floor - work.evidence[(q, q)];
            if missing > 0.0 {
                work.evidence[(q, q)] += missing;
                profile.ridge[q] += missing;
                report
                    .health
                    .repairs
                    .push(Repair::EvidenceFloor { atom: q });
            }
        }
    }

    /// Ψ = U K Uᵀ, Eq. (eqPsi1).
    pub(super) fn rebuild_atom_gram(&mut self) {
        let (profile, work) = (&mut self.profile, &mut self.work);
        let coefficients = &profile.dictionary.coefficients;
        work.wide.reshape(coefficients.rows(), coefficients.cols());
        product(
            work.wide.view_mut(),
            Write::Replace,
            coefficients.view(),
            profile.kept_gram.view(),
        );
        product(
            profile.dictionary.atom_gram.view_mut(),
            Write::Replace,
            work.wide.view(),
            coefficients.view().t(),
        );
        profile.dictionary.atom_gram.symmetrise();
    }
}
