//! Online kernel dictionary learning with row sparsity (Liu and Sun 2016).
//!
//! A mini-batch is appended; then min ‖Φ − Φ Uᵀ W‖² over codes W with at most s non-zeros per
//! column and, once the budget is exceeded, U with few non-zero columns, is sought by proximal
//! alternating linearised minimisation:
//!
//! ```text
//! W ← the s largest of each column of W − ∇_W/μ_W    ∇_W = 2 (Ψ W − U K)     μ_W = max(ρ‖Ψ‖_F, μ_m)
//! U ← U − ∇_U/μ_U, columns of largest norm kept      ∇_U = 2 (W Wᵀ U − W) K   μ_U = max(2ρ‖K‖_F ‖W Wᵀ‖_F, μ_m)
//! ```
//!
//! with atoms scaled to length 1 after every step, until both change by at most 1e-4. Samples
//! whose column of U is zero then leave. What is new begins at random in the code behind the
//! published figures, which throws away most of what was learned; otherwise new samples begin
//! with their codes by the present dictionary and no atom on them.

use crate::math::{Matrix, Write, product};

use super::algorithm::{Algorithm, Conventions};
use super::gradient::{GradientProfile, Newcomers, column_norms, frobenius};
use super::report::{Admission, ClassReport, Rejection, Repair};
use super::samples::Samples;
use super::settings::LearnerSettings;
use super::side_by_side::ClassLearner;

/// The relative change of W and U at which the alternation ends.
const SMALLEST_CHANGE: f64 = 1e-4;
/// Largest size of a code beside the longest sample.
const LARGEST_CODE: f64 = 1e4;

/// The learner of one class.
#[derive(Clone, Debug)]
pub(super) struct Okdlrs {
    profile: GradientProfile,
    newcomers: Newcomers,
    work: OkdlrsScratch,
}

/// Scratch memory of the alternation.
#[derive(Clone, Debug, Default)]
struct OkdlrsScratch {
    /// U K.
    wide: Matrix,
    /// W and U after a step.
    next: Matrix,
    /// W Wᵀ U − W.
    misfit: Matrix,
    code_gram: Matrix,
    sizes: Vec<f64>,
    order: Vec<usize>,
    is_kept: Vec<bool>,
}

impl Okdlrs {
    /// A dictionary whose atoms are the start samples.
    pub(super) fn start(settings: &LearnerSettings, start: &Samples, seed: u64) -> Self {
        let normalised = conventions(settings) == Conventions::Text;
        let profile = GradientProfile::start(settings, start, normalised, seed);
        Self::resume(settings, profile)
    }

    /// Appends all samples of the mini-batch that are not zero.
    fn append_all(&mut self, batch: &Samples, report: &mut ClassReport) {
        let n_atoms = self.profile.dictionary.n_atoms();
        let mut code = vec![0.0; n_atoms];
        for i in 0..batch.len() {
            if batch.is_zero(i) {
                let index = batch.index()[i];
                report.rejected.push((index, Rejection::Zero));
                continue;
            }
            self.newcomers.look_at(&self.profile, i);
            code.fill(0.0);
            for (atom, value) in self.newcomers.code_of(i) {
                code[atom] = value;
            }
            let kept = Admission::Unmeasured;
            self.newcomers
                .append(&mut self.profile, batch, i, &code, kept, report);
        }
    }

    /// The last `new` columns of U and W at random; U draws atom by atom, W sample by sample.
    fn draw_new(&mut self, new: usize) {
        let GradientProfile {
            dictionary,
            codes,
            draws,
            ..
        } = &mut self.profile;
        let (n_atoms, n) = (codes.rows(), codes.cols());
        let mut numbers = vec![0.0; new * n_atoms];
        draws.fill(&mut numbers);
        for q in 0..n_atoms {
            for i in 0..new {
                dictionary.coefficients[(q, n - new + i)] = numbers[q * new + i];
            }
        }
        draws.fill(&mut numbers);
        for i in 0..new {
            let column = &numbers[i * n_atoms..(i + 1) * n_atoms];
            codes.col_mut(n - new + i).copy_from_slice(column);
        }
        self.newcomers.take_atom_gram(&mut self.profile);
        let GradientProfile { dictionary, .. } = &mut self.profile;
        scale_atoms(&mut dictionary.coefficients, &dictionary.atom_gram);
    }

    /// Alternates until W and U hardly change; `target` samples stay if there is such a number.
    fn alternate(&mut self, settings: &LearnerSettings, target: Option<usize>) {
        let Algorithm::Okdlrs {
            caution,
            least_curvature,
            alternations,
            ..
        } = settings.algorithm
        else {
            unreachable!("settings of another algorithm")
        };
        let kernel_size = frobenius(&self.profile.kept_gram);
        let own = self.profile.dictionary.kept.self_kernel();
        let longest = own.iter().fold(0.0_f64, |a, &b| a.max(b)).sqrt();
        self.profile.take_inner_products(&mut self.work.wide);
        for _ in 0..alternations {
            self.profile.take_atom_gram_from(&self.work.wide);
            let curvature = caution * frobenius(&self.profile.dictionary.atom_gram);
            let step = 1.0 / curvature.max(least_curvature);
            let code_change = self.work.step_codes(
                &mut self.profile,
                step,
                settings.sparsity,
                LARGEST_CODE * longest,
            );
            self.work.take_code_gram(&self.profile.codes);
            let size = frobenius(&self.work.code_gram);
            let curvature = 2.0 * caution * kernel_size * size;
            let step = 1.0 / curvature.max(least_curvature);
            let atom_change = self.work.step_atoms(&mut self.profile, step, target);
            let goes_on = code_change > SMALLEST_CHANGE || atom_change > SMALLEST_CHANGE;
            if !goes_on {
                break;
            }
        }
    }
}

impl OkdlrsScratch {
    /// One step of W; its relative change.
    fn step_codes(
        &mut self,
        profile: &mut GradientProfile,
        step: f64,
        sparsity: usize,
        largest: f64,
    ) -> f64 {
        let gram = &profile.dictionary.atom_gram;
        self.next.copy_from(self.wide.view());
        product(
            self.next.view_mut(),
            Write::Subtract,
            gram.view(),
            profile.codes.view(),
        );
        let (mut changed, mut whole) = (0.0, 0.0);
        for j in 0..profile.codes.cols() {
            let (code, slope) = (profile.codes.col_mut(j), self.next.col_mut(j));
            for (slope, value) in slope.iter_mut().zip(&*code) {
                *slope = value + 2.0 * step * *slope;
            }
            keep_largest(slope, sparsity, &mut self.order);
            for (value, next) in code.iter_mut().zip(slope) {
                let next = next.clamp(-largest, largest);
                changed += (next - *value) * (next - *value);
                whole += *value * *value;
                *value = next;
            }
        }
        changed.sqrt() / (whole.sqrt() + f64::EPSILON)
    }

    /// W Wᵀ.
    fn take_code_gram(&mut self, codes: &Matrix) {
        self.code_gram.reshape(codes.rows(), codes.rows());
        product(
            self.code_gram.view_mut(),
            Write::Replace,
            codes.view(),
            codes.view().t(),
        );
    }

    /// One step of U; its relative change.
    fn step_atoms(
        &mut self,
        profile: &mut GradientProfile,
        step: f64,
        target: Option<usize>,
    ) -> f64 {
        let codes = &profile.codes;
        let coefficients = &mut profile.dictionary.coefficients;
        self.misfit.copy_from(codes.view());
        product(
            self.misfit.view_mut(),
            Write::Subtract,
            self.code_gram.view(),
            coefficients.view(),
        );
        self.next.reshape(codes.rows(), codes.cols());
        product(
            self.next.view_mut(),
            Write::Replace,
            self.misfit.view(),
            profile.kept_gram.view(),
        );
        self.next.scale(2.0 * step);
        for j in 0..codes.cols() {
            let next = self.next.col_mut(j).iter_mut();
            next.zip(coefficients.col(j)).for_each(|(n, u)| *n += u);
        }
        self.choose_columns(target);
        for (j, is_kept) in self.is_kept.iter().enumerate() {
            if !is_kept {
                self.next.col_mut(j).fill(0.0);
            }
        }
        self.normalise_next(&profile.kept_gram);
        let (mut changed, mut whole) = (0.0, 0.0);
        for j in 0..codes.cols() {
            for (value, next) in coefficients.col_mut(j).iter_mut().zip(self.next.col(j)) {
                changed += (next - *value) * (next - *value);
                whole += *value * *value;
                *value = *next;
            }
        }
        changed.sqrt() / (whole.sqrt() + f64::EPSILON)
    }

    /// The columns of the new U of largest norm, `target` of them; all without a target.
    fn choose_columns(&mut self, target: Option<usize>) {
        column_norms(&self.next, &mut self.sizes);
        let n = self.sizes.len();
        self.is_kept.clear();
        self.is_kept.resize(n, target.is_none());
        if let Some(target) = target {
            self.order.clear();
            self.order.extend(0..n);
            let sizes = &self.sizes;
            let by_size = |a: &usize, b: &usize| sizes[*b].total_cmp(&sizes[*a]).then(a.cmp(b));
            self.order.sort_by(by_size);
            for &j in self.order.iter().take(target) {
                self.is_kept[j] = true;
            }
        }
    }

    /// Rows of the new U to length √(uᵀKu) = 1; U K follows.
    fn normalise_next(&mut self, kept_gram: &Matrix) {
        product(
            self.wide.view_mut(),
            Write::Replace,
            self.next.view(),
            kept_gram.view(),
        );
        let n_atoms = self.next.rows();
        self.sizes.clear();
        self.sizes.resize(n_atoms, 0.0);
        for j in 0..self.next.cols() {
            let terms = self.next.col(j).iter().zip(self.wide.col(j));
            for (sum, (u, h)) in self.sizes.iter_mut().zip(terms) {
                *sum += u * h;
            }
        }
        for size in &mut self.sizes {
            *size = 1.0 / (size.max(0.0).sqrt() + f64::EPSILON);
        }
        scale_rows(&mut self.next, &self.sizes);
        scale_rows(&mut self.wide, &self.sizes);
    }
}

impl ClassLearner for Okdlrs {
    type Profile = GradientProfile;

    fn learn(
        &mut self,
        settings: &LearnerSettings,
        batch: &Samples,
        _factor: f64,
        report: &mut ClassReport,
    ) {
        let before = self.profile.clone();
        self.newcomers.see(&self.profile, batch, report);
        self.append_all(batch, report);
        let new = report.admitted.len();
        if conventions(settings) == Conventions::Published && new > 0 {
            self.draw_new(new);
        }
        let headroom = settings.algorithm.headroom().unwrap_or(0);
        let over = self.profile.dictionary.n_kept() > settings.budget;
        let target = over.then_some(settings.budget - headroom);
        self.alternate(settings, target);
        column_norms(&self.profile.dictionary.coefficients, &mut self.work.sizes);
        let (profile, sizes) = (&mut self.profile, &self.work.sizes);
        let (budget, target) = (settings.budget, settings.budget - headroom);
        let is_pruned = self.newcomers.prune(profile, budget, target, sizes, report);
        if !is_pruned {
            self.newcomers.take_atom_gram(profile);
        }
        if !self.profile.is_finite() {
            self.profile = before;
            report.health.repairs.push(Repair::StepRefused);
            report.removed.clear();
            report.admissions.clear();
            for sample in report.admitted.drain(..) {
                report.rejected.push((sample, Rejection::NoCode));
            }
        }
        report.n_kept = self.profile.dictionary.n_kept();
    }

    fn resume(settings: &LearnerSettings, profile: GradientProfile) -> Self {
        Self {
            profile,
            newcomers: Newcomers::new(settings),
            work: OkdlrsScratch::default(),
        }
    }

    fn profile(&self) -> &GradientProfile {
        &self.profile
    }
}

fn conventions(settings: &LearnerSettings) -> Conventions {
    match settings.algorithm {
        Algorithm::Okdlrs { conventions, .. } => conventions,
        _ => unreachable!("settings of another algorithm"),
    }
}

/// Rows of U scaled to length 1 by the diagonal of Ψ.
fn scale_atoms(coefficients: &mut Matrix, atom_gram: &Matrix) {
    let length = |q: usize| atom_gram[(q, q)].max(0.0).sqrt() + f64::EPSILON;
    let scales: Vec<f64> = (0..atom_gram.rows()).map(|q| 1.0 / length(q)).collect();
    scale_rows(coefficients, &scales);
}

fn scale_rows(matrix: &mut Matrix, scales: &[f64]) {
    for j in 0..matrix.cols() {
        let column = matrix.col_mut(j).iter_mut();
        column
            .zip(scales)
            .for_each(|(value, scale)| *value *= scale);
    }
}

/// Sets all but the `count` values of largest size to zero; of equals the first stay.
fn keep_largest(values: &mut [f64], count: usize, order: &mut Vec<usize>) {
    order.clear();
    order.extend(0..values.len());
    let by_size = |a: &usize, b: &usize| {
        let sizes = (values[*a].abs(), values[*b].abs());
        sizes.1.total_cmp(&sizes.0).then(a.cmp(b))
    };
    if count < order.len() {
        order.select_nth_unstable_by(count, by_size);
        for &j in &order[count..] {
            values[j] = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_values_stay() {
        let mut values = [0.1, -3.0, 2.0, 2.0, 0.0];
        keep_largest(&mut values, 2, &mut Vec::new());
        assert_eq!(values, [0.0, -3.0, 2.0, 0.0, 0.0]);
        keep_largest(&mut values, 9, &mut Vec::new());
        assert_eq!(values[1], -3.0);
    }
}
