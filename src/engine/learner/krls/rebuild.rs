//! Rebuilding C, U, Ψ and P from their definitions, before the drift of the recursions counts.

use crate::math::{Write, product, small_product};

use super::super::algorithm::Conventions;
use super::super::report::{ClassReport, Repair};
use super::super::ridge::{bound_inflation, factor_guarded};
use super::super::settings::LearnerSettings;
use super::{Dictionary, Krls, conventions, relative_difference};

/// C and Ψ are rebuilt from their definitions after at most this many mini-batches, or one
/// per [`KEPT_PER_BATCH`] kept samples: Ψ costs L², its share of a mini-batch must not.
const LONGEST_INTERVAL: u64 = 32;
const KEPT_PER_BATCH: u64 = 16;
/// Drift below which the interval to the next rebuilding doubles, above which it is halved.
const TOLERABLE_DRIFT: f64 = 1e-11;
/// A removal with less slack than this multiplies errors so much that C and Ψ are rebuilt at once.
const RISKY_SLACK: f64 = 0.5;
/// A sample that enters with more than this wᵀCw leaves so little of C in its direction that what is
/// left is rounding.
const RISKY_ENERGY: f64 = 1e3;
/// With fewer samples than this per atom, C hangs on every one of them: it is rebuilt every time.
const AMPLE_PER_ATOM: usize = 2;
/// Share of the mean evidence below which the ridge of an atom is raised.
const EVIDENCE_FLOOR: f64 = 1e-6;
/// Share of its evidence that must belong to an atom beside the ones before it, or its ridge is
/// raised: C would otherwise be known to few digits only.
const SMALLEST_PIVOT: f64 = 1e-5;

impl Krls {
    /// Rebuilds C, U and Ψ from their definitions when it is time. How far the recursion had
    /// drifted sets the time of the next rebuilding. Returns whether it was time.
    pub(super) fn rebuild_if_due(
        &mut self,
        settings: &LearnerSettings,
        report: &mut ClassReport,
    ) -> bool {
        let (n_kept, n_atoms) = (self.n_kept(), self.profile.dictionary.n_atoms());
        let risky = report.health.smallest_pivot < RISKY_SLACK
            || self.work.largest_energy > RISKY_ENERGY
            || n_kept < AMPLE_PER_ATOM * n_atoms;
        if self.profile.n_batches < self.profile.next_rebuild && !risky {
            return false;
        }
        let text = conventions(settings) == Conventions::Text;
        let precision_drift = self.rebuild_precision(text, report);
        self.take_coefficients();
        let recursive = &self.profile.dictionary.atom_gram;
        self.work.evidence.copy_from(recursive.view());
        self.rebuild_atom_gram();
        let profile = &mut self.profile;
        // What a risky step did is corrected and tells nothing of the others.
        if !risky {
            let drift = relative_difference(&self.work.evidence, &profile.dictionary.atom_gram);
            profile.drift = drift.max(precision_drift);
            let longest = LONGEST_INTERVAL.max(profile.entered.len() as u64 / KEPT_PER_BATCH);
            profile.rebuild_interval = if profile.drift < TOLERABLE_DRIFT {
                (2 * profile.rebuild_interval).min(longest)
            } else {
                (profile.rebuild_interval / 2).max(1)
            };
        }
        profile.next_rebuild = profile.n_batches + profile.rebuild_interval;
        self.check_span(report);
        true
    }

    /// Compares P, where it is kept, with the kernel, and computes it again if it has drifted.
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

    /// C = (W Λ Wᵀ + Ξ)⁻¹ from the codes. With `guarded`, atoms that lack evidence get a ridge. Returns
    /// how far C had drifted.
    pub(super) fn rebuild_precision(&mut self, guarded: bool, report: &mut ClassReport) -> f64 {
        self.take_evidence();
        let drift = self.precision_drift();
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
            bound_inflation(
                &mut work.factor,
                &mut work.evidence,
                &mut work.precision,
                |atom, lift| {
                    profile.ridge[atom] += lift;
                    report.health.repairs.push(Repair::Ridge { atom });
                },
            );
        }
        profile.condition = (0..work.precision.rows())
            .map(|q| work.evidence[(q, q)] * work.precision[(q, q)])
            .fold(1.0, f64::max);
        std::mem::swap(&mut profile.code_precision, &mut work.precision);
        drift
    }

    /// The error of C A = I, in units in which every atom has the same evidence.
    fn precision_drift(&mut self) -> f64 {
        let (profile, work) = (&self.profile, &mut self.work);
        let n_atoms = work.evidence.rows();
        work.precision.reshape(n_atoms, n_atoms);
        small_product(
            &mut work.precision,
            Write::Replace,
            profile.code_precision.view(),
            work.evidence.view(),
        );
        work.scales.clear();
        let lengths = (0..n_atoms).map(|q| work.evidence[(q, q)].sqrt());
        work.scales.extend(lengths);
        let mut largest = 0.0_f64;
        for q in 0..n_atoms {
            work.precision[(q, q)] -= 1.0;
            for (error, length) in work.precision.col(q).iter().zip(&work.scales) {
                largest = largest.max(error.abs() * length / work.scales[q]);
            }
        }
        largest
    }

    /// `work.evidence` ← W Λ Wᵀ + Ξ; W Wᵀ and the sizes of its rows likewise from the codes.
    fn take_evidence(&mut self) {
        self.profile.take_code_sizes();
        let (profile, work) = (&mut self.profile, &mut self.work);
        let n_atoms = profile.code_precision.rows();
        work.evidence.reshape(n_atoms, n_atoms);
        work.evidence.fill(0.0);
        profile.code_gram.fill(0.0);
        // Of every pair of atoms one element is summed, below or above the diagonal.
        for (j, &weight) in profile.sample_weights.iter().enumerate() {
            let (atoms, values) = profile.codes.code(j);
            for (k, (&p, x)) in atoms.iter().zip(values).enumerate() {
                for (&q, y) in atoms[..=k].iter().zip(values) {
                    let place = (p.min(q) as usize, p.max(q) as usize);
                    profile.code_gram[place] += x * y;
                    work.evidence[place] += weight * (x * y);
                }
            }
        }
        for matrix in [&mut profile.code_gram, &mut work.evidence] {
            matrix.mirror_upper();
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
