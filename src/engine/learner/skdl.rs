//! Sparse kernel dictionary learning, online (O'Brien and Plumbley 2016).
//!
//! A sample x joins the profile if kᵀK⁻¹k/σ, the share of it in the span of the kept ones, is
//! below a threshold. Its code and then the atoms are found by iterative shrinkage:
//!
//! ```text
//! w ← prox(w + η_w (h − Ψ w), λ₁‖w‖)
//! u ← prox(u + η_u K (f − b u), λ₂‖u‖),   then u/√(uᵀKu)
//! ```
//!
//! until the relative change is at most 0.01. For atom q of a dictionary that fits all kept
//! samples (B = W Wᵀ), f = w_q − Σ_{j≠q} B_qj u_j and b = B_qq, once per mini-batch; for one that
//! fits the newest sample alone, f is its code w_q in its own place and b = w_q², after
//! every sample. Samples with the smallest ‖w‖ leave first.

use crate::math::{Matrix, Write, dot, product, squared_norm, vectorised};

use super::algorithm::{Algorithm, Conventions};
use super::gradient::{GradientProfile, Newcomers, column_norms, frobenius, soft};
use super::report::{Admission, ClassReport, Rejection, Repair};
use super::samples::Samples;
use super::settings::LearnerSettings;
use super::side_by_side::ClassLearner;

/// The relative change at which shrinkage ends, and the most steps.
const SMALLEST_CHANGE: f64 = 0.01;
const MOST_CODE_STEPS: usize = 200;
const MOST_ATOM_STEPS: usize = 201;
/// A sample with less than this share outside the span of the others adds nothing to the span.
const SMALLEST_PIVOT: f64 = 1e-12;

/// The learner of one class.
#[derive(Clone, Debug)]
pub(super) struct Skdl {
    profile: GradientProfile,
    newcomers: Newcomers,
    span: SpanFactor,
    fit: AtomFit,
    code: Vec<f64>,
    sizes: Vec<f64>,
}

/// The settings of this algorithm.
struct Rules {
    threshold: f64,
    target: usize,
    code_penalty: f64,
    atom_penalty: f64,
    code_rate: f64,
    atom_rate: f64,
    published: bool,
}

impl Rules {
    fn of(settings: &LearnerSettings) -> Self {
        let Algorithm::Skdl {
            threshold,
            headroom,
            code_penalty,
            atom_penalty,
            code_rate,
            atom_rate,
            conventions,
        } = settings.algorithm
        else {
            unreachable!("settings of another algorithm")
        };
        Self {
            threshold,
            target: settings.budget - headroom,
            code_penalty,
            atom_penalty,
            code_rate,
            atom_rate,
            published: conventions == Conventions::Published,
        }
    }
}

impl Skdl {
    /// A dictionary whose atoms are the start samples.
    pub(super) fn start(settings: &LearnerSettings, start: &Samples, seed: u64) -> Self {
        let normalised = !Rules::of(settings).published;
        let profile = GradientProfile::start(settings, start, normalised, seed);
        Self::resume(settings, profile)
    }

    /// Finds the code of the newcomer examined last; tells whether it is made of numbers.
    fn find_code(&mut self, rules: &Rules) -> bool {
        let gram = &self.profile.dictionary.atom_gram;
        self.code.clear();
        self.code.resize(gram.rows(), 0.0);
        let mut rate = rules.code_rate;
        if rules.published {
            self.profile.draws.fill(&mut self.code);
        } else {
            rate /= frobenius(gram).max(f64::MIN_POSITIVE);
        }
        let h = &self.newcomers.inner_products;
        shrink_code(&mut self.code, gram, h, rate, rules.code_penalty);
        self.code.iter().all(|value| value.is_finite())
    }

    /// Fits every atom to the codes of all kept samples, or of the newest one alone.
    fn fit_atoms(&mut self, rules: &Rules, report: &mut ClassReport) {
        let before = self.profile.dictionary.coefficients.clone();
        self.fit.prepare(&self.profile, rules);
        for atom in 0..before.rows() {
            self.fit.fit(&mut self.profile, atom, rules);
        }
        self.newcomers.take_atom_gram(&mut self.profile);
        if !self.profile.is_finite() {
            self.profile.dictionary.coefficients = before;
            self.newcomers.take_atom_gram(&mut self.profile);
            report.health.repairs.push(Repair::StepRefused);
        }
    }
}

impl ClassLearner for Skdl {
    type Profile = GradientProfile;

    fn learn(
        &mut self,
        settings: &LearnerSettings,
        batch: &Samples,
        _factor: f64,
        report: &mut ClassReport,
    ) {
        let rules = Rules::of(settings);
        self.newcomers.see(&self.profile, batch, report);
        for i in 0..batch.len() {
            let index = batch.index()[i];
            if batch.is_zero(i) {
                report.rejected.push((index, Rejection::Zero));
                continue;
            }
            self.newcomers.look_at(&self.profile, i);
            self.span.follow(&self.profile.kept_gram);
            let own = batch.self_kernel()[i];
            let share = self.span.projection(&self.newcomers.kernel_column) / own;
            if share >= rules.threshold {
                report.rejected.push((index, Rejection::Projected(share)));
                continue;
            }
            if !self.find_code(&rules) {
                report.health.repairs.push(Repair::StepRefused);
                report.rejected.push((index, Rejection::NoCode));
                continue;
            }
            let kept = Admission::Projected(share);
            self.newcomers
                .append(&mut self.profile, batch, i, &self.code, kept, report);
            if rules.published {
                self.fit_atoms(&rules, report);
            }
        }
        if !rules.published && !report.admitted.is_empty() {
            self.fit_atoms(&rules, report);
        }
        column_norms(&self.profile.codes, &mut self.sizes);
        let pruned = self.newcomers.prune(
            &mut self.profile,
            settings.budget,
            rules.target,
            &self.sizes,
            report,
        );
        if pruned {
            self.span.clear();
        }
        report.n_kept = self.profile.dictionary.n_kept();
    }

    fn resume(settings: &LearnerSettings, profile: GradientProfile) -> Self {
        Self {
            profile,
            newcomers: Newcomers::new(settings),
            span: SpanFactor::default(),
            fit: AtomFit::default(),
            code: Vec::new(),
            sizes: Vec::new(),
        }
    }

    fn profile(&self) -> &GradientProfile {
        &self.profile
    }
}

/// w ← prox(w + η (h − Ψ w), λ‖w‖) until it hardly changes.
fn shrink_code(w: &mut [f64], gram: &Matrix, h: &[f64], rate: f64, penalty: f64) {
    let mut next = vec![0.0; w.len()];
    for _ in 0..MOST_CODE_STEPS {
        let length = squared_norm(w).sqrt();
        next.copy_from_slice(h);
        vectorised(
            #[inline(always)]
            || {
                for (q, value) in w.iter().enumerate() {
                    crate::math::add_scaled(&mut next, -value, gram.col(q));
                }
            },
        );
        let mut change = 0.0;
        for (next, w) in next.iter().zip(w.iter_mut()) {
            let value = soft(*w + rate * next, penalty * length);
            change += (value - *w) * (value - *w);
            *w = value;
        }
        let goes_on = length == 0.0 || change.sqrt() / length > SMALLEST_CHANGE;
        if !goes_on {
            break;
        }
    }
}

/// What the fit of an atom works on.
#[derive(Clone, Debug, Default)]
struct AtomFit {
    /// B = W Wᵀ, where all kept samples count.
    code_gram: Matrix,
    kernel_size: f64,
    /// u, f, f − b u and K (f − b u), as columns.
    atom: Matrix,
    base: Vec<f64>,
    rest: Matrix,
    gradient: Matrix,
}

impl AtomFit {
    fn prepare(&mut self, profile: &GradientProfile, rules: &Rules) {
        if rules.published {
            return;
        }
        let codes = &profile.codes;
        self.code_gram.reshape(codes.rows(), codes.rows());
        product(
            self.code_gram.view_mut(),
            Write::Replace,
            codes.view(),
            codes.view().t(),
        );
        self.kernel_size = frobenius(&profile.kept_gram);
    }

    /// f, b and the length of a step.
    fn set_target(&mut self, profile: &GradientProfile, atom: usize, rules: &Rules) -> (f64, f64) {
        let (codes, coefficients) = (&profile.codes, &profile.dictionary.coefficients);
        let n = codes.cols();
        self.base.clear();
        self.base.resize(n, 0.0);
        if rules.published {
            let code = codes[(atom, n - 1)];
            self.base[n - 1] = code;
            return (code * code, rules.atom_rate / n as f64);
        }
        let own = self.code_gram[(atom, atom)];
        let shared = self.code_gram.col(atom);
        vectorised(
            #[inline(always)]
            || {
                for (j, base) in self.base.iter_mut().enumerate() {
                    let column = coefficients.col(j);
                    *base = codes[(atom, j)] - dot(shared, column) + own * column[atom];
                }
            },
        );
        let curvature = (own * self.kernel_size).max(f64::MIN_POSITIVE);
        (own, rules.atom_rate / curvature)
    }

    /// Fits one atom and scales it to length 1.
    fn fit(&mut self, profile: &mut GradientProfile, atom: usize, rules: &Rules) {
        let (curvature, step) = self.set_target(profile, atom, rules);
        let n = self.base.len();
        self.atom.reshape(n, 1);
        self.rest.reshape(n, 1);
        self.gradient.reshape(n, 1);
        for (j, value) in self.atom.col_mut(0).iter_mut().enumerate() {
            *value = profile.dictionary.coefficients[(atom, j)];
        }
        for _ in 0..MOST_ATOM_STEPS {
            let length = squared_norm(self.atom.col(0)).sqrt();
            if curvature == 0.0 {
                self.gradient.fill(0.0);
            } else {
                self.take_gradient(&profile.kept_gram, curvature);
            }
            let mut change = 0.0;
            let threshold = rules.atom_penalty * length;
            let gradient = self.gradient.col(0).iter();
            for (value, slope) in self.atom.col_mut(0).iter_mut().zip(gradient) {
                let next = soft(*value + step * slope, threshold);
                change += (next - *value) * (next - *value);
                *value = next;
            }
            let goes_on = change.sqrt() / length > SMALLEST_CHANGE;
            if !goes_on {
                break;
            }
        }
        self.write(profile, atom, rules);
    }

    /// K (f − b u).
    fn take_gradient(&mut self, kept_gram: &Matrix, curvature: f64) {
        let terms = self.base.iter().zip(self.atom.col(0));
        for (rest, (base, value)) in self.rest.col_mut(0).iter_mut().zip(terms) {
            *rest = base - curvature * value;
        }
        product(
            self.gradient.view_mut(),
            Write::Replace,
            kept_gram.view(),
            self.rest.view(),
        );
    }

    /// u/√(uᵀKu) becomes the atom; one that has vanished becomes the newest sample.
    fn write(&mut self, profile: &mut GradientProfile, atom: usize, rules: &Rules) {
        product(
            self.gradient.view_mut(),
            Write::Replace,
            profile.kept_gram.view(),
            self.atom.view(),
        );
        let squared = vectorised(
            #[inline(always)]
            || dot(self.gradient.col(0), self.atom.col(0)),
        );
        let n = self.base.len();
        let own = profile.kept_gram[(n - 1, n - 1)];
        let scale = if rules.published {
            1.0 / (squared + f64::EPSILON).sqrt()
        } else if squared > f64::EPSILON * f64::EPSILON {
            1.0 / squared.sqrt()
        } else {
            self.atom.fill(0.0);
            self.atom[(n - 1, 0)] = 1.0;
            1.0 / own.sqrt()
        };
        for (j, value) in self.atom.col(0).iter().enumerate() {
            profile.dictionary.coefficients[(atom, j)] = scale * value;
        }
    }
}

/// K = RᵀR of the kept samples, column by column: a new sample adds a column.
#[derive(Clone, Debug, Default)]
struct SpanFactor {
    /// R; the diagonal is infinite where a sample adds nothing to the span.
    upper: Matrix,
    /// R⁻ᵀk of the sample examined last.
    column: Vec<f64>,
}

impl SpanFactor {
    fn clear(&mut self) {
        self.upper.resize(0, 0);
    }

    /// Takes in the samples that came since the last time.
    fn follow(&mut self, kept_gram: &Matrix) {
        let capacity = kept_gram.cols().next_power_of_two();
        if self.upper.cols() == 0 && capacity > 0 {
            self.upper = Matrix::with_capacity(capacity, capacity);
        }
        for j in self.upper.cols()..kept_gram.cols() {
            let own = kept_gram[(j, j)];
            let inside = self.projection(&kept_gram.col(j)[..j]);
            let pivot = own - inside;
            self.upper.resize(j + 1, j + 1);
            self.upper.col_mut(j)[..j].copy_from_slice(&self.column);
            self.upper[(j, j)] = if pivot > SMALLEST_PIVOT * own {
                pivot.sqrt()
            } else {
                f64::INFINITY
            };
        }
    }

    /// kᵀK⁻¹k of a sample with kernel values `kernel_column`.
    fn projection(&mut self, kernel_column: &[f64]) -> f64 {
        let (upper, column) = (&self.upper, &mut self.column);
        column.clear();
        vectorised(
            #[inline(always)]
            || {
                for (j, k) in kernel_column.iter().enumerate() {
                    let above = &upper.col(j)[..=j];
                    let value = (k - dot(&above[..j], column)) / above[j];
                    column.push(value);
                }
                dot(column, column)
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::kernel::Kernel;
    use crate::math::{Cholesky, random_share, random_stream};

    #[test]
    fn the_share_in_the_span_is_that_of_the_definition() {
        let kernel = Kernel::Gaussian { width: 1.0 };
        let mut random = random_stream(8, "samples", 0);
        let mut samples = Samples::new(4, 12);
        for i in 0..12 {
            let x: Vec<f64> = (0..4).map(|_| random_share(&mut random)).collect();
            samples.push(&kernel, i, &x).expect("finite");
        }
        let mut gram = Matrix::default();
        kernel.block(&samples, &samples, &mut gram);
        let kept = Matrix::from_fn(11, 11, |i, j| gram[(i, j)]);
        let mut span = SpanFactor::default();
        span.follow(&kept);
        let share = span.projection(&gram.col(11)[..11]);
        let mut factor = Cholesky::default();
        factor.factor(kept.view()).expect("positive definite");
        let mut solved = gram.col(11)[..11].to_vec();
        factor.solve(&mut solved);
        let expected: f64 = solved.iter().zip(gram.col(11)).map(|(a, b)| a * b).sum();
        assert!((share - expected).abs() < 1e-10);
        // A sample that is kept already lies in the span.
        let again = span.projection(&gram.col(5)[..11]);
        assert!((again - gram[(5, 5)]).abs() < 1e-10);
    }

    #[test]
    fn codes_shrink_to_the_least_squares_solution_without_penalty() {
        let gram = Matrix::from_fn(3, 3, |i, j| if i == j { 1.0 } else { 0.2 });
        let h = [0.9, -0.3, 0.5];
        let mut w = [0.0; 3];
        shrink_code(&mut w, &gram, &h, 0.7, 0.0);
        for q in 0..3 {
            let error: f64 = h[q] - (0..3).map(|p| gram[(q, p)] * w[p]).sum::<f64>();
            assert!(error.abs() < 0.05, "{error}");
        }
    }
}
