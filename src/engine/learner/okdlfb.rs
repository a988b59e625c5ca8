//! Online kernel dictionary learning on a fixed budget (Lee and Kim 2016).
//!
//! A sample x joins the profile if its coherence with every kept sample is below a threshold. It
//! is coded by min ½‖φ(x) − D w‖² + λ₁‖w‖₁, and the dictionary takes one step down the gradient of
//! ½‖φ(x) − D w‖² + ½μ‖D‖², either with respect to D (feature space) or to U (parameter space):
//!
//! ```text
//! U ← [U − ρ(w wᵀU + μU), ρ w]                              (w wᵀU + μU over the old samples)
//! U ← U + ρ[w (k̂ − K Uᵀw)ᵀ − μ U K],  k̂ = [k; σ], U with a column of zeros appended
//! ```
//!
//! Samples with the smallest ‖w‖ leave first.

use crate::math::{Matrix, Write, add_scaled, product, squared_norm, vectorised};

use super::algorithm::{Algorithm, Conventions, GradientSpace};
use super::gradient::{GradientProfile, Newcomers, column_norms, frobenius};
use super::lasso::Lasso;
use super::report::{Admission, ClassReport, Rejection, Repair};
use super::samples::Samples;
use super::settings::LearnerSettings;
use super::side_by_side::ClassLearner;

/// The learner of one class.
#[derive(Clone, Debug)]
pub(super) struct Okdlfb {
    profile: GradientProfile,
    newcomers: Newcomers,
    lasso: Lasso,
    code: Vec<f64>,
    sizes: Vec<f64>,
}

impl Okdlfb {
    /// A dictionary whose atoms are the start samples.
    pub(super) fn start(settings: &LearnerSettings, start: &Samples, seed: u64) -> Self {
        let normalised = GradientStep::of(settings).is_relative;
        let profile = GradientProfile::start(settings, start, normalised, seed);
        Self::resume(settings, profile)
    }
}

/// One step of OKDLFB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradientStep {
    /// μ.
    pub decay: f64,
    /// ρ.
    pub rate: f64,
    /// Whether ρ is a share of the longest sure step.
    pub is_relative: bool,
    /// Where the gradient is taken.
    pub space: GradientSpace,
}

impl GradientStep {
    fn of(settings: &LearnerSettings) -> Self {
        match settings.algorithm {
            Algorithm::Okdlfb {
                decay,
                rate,
                space,
                conventions,
                ..
            } => Self {
                decay,
                rate,
                is_relative: conventions == Conventions::Text,
                space,
            },
            _ => unreachable!("settings of another algorithm"),
        }
    }

    /// Steps down the gradient for the newest kept sample, whose code stands in the profile;
    /// Ψ follows U.
    pub fn take(&self, profile: &mut GradientProfile) {
        let n = profile.dictionary.n_kept();
        let code = profile.codes.col(n - 1).to_vec();
        let mut curvature = squared_norm(&code) + self.decay;
        if self.space == GradientSpace::Parameter {
            curvature *= frobenius(&profile.kept_gram);
        }
        let rate = match self.is_relative {
            true => self.rate / curvature.max(f64::MIN_POSITIVE),
            false => self.rate,
        };
        match self.space {
            GradientSpace::Feature => self.take_in_feature_space(profile, &code, rate),
            GradientSpace::Parameter => self.take_in_parameter_space(profile, &code, rate),
        }
        profile.take_atom_gram(&mut Matrix::default());
    }

    /// D ← D + ρ[(φ − D w) wᵀ − μ D].
    fn take_in_feature_space(&self, profile: &mut GradientProfile, code: &[f64], rate: f64) {
        let coefficients = &mut profile.dictionary.coefficients;
        let n = coefficients.cols();
        vectorised(
            #[inline(always)]
            || {
                for j in 0..n {
                    let own = f64::from(u8::from(j == n - 1));
                    let column = coefficients.col_mut(j);
                    let along = own - crate::math::dot(code, column);
                    column
                        .iter_mut()
                        .for_each(|u| *u *= 1.0 - self.decay * rate);
                    add_scaled(column, rate * along, code);
                }
            },
        );
    }

    /// U ← U + ρ[w (k̂ − K Uᵀw)ᵀ − μ U K]: the same, each column mixed by K.
    fn take_in_parameter_space(&self, profile: &mut GradientProfile, code: &[f64], rate: f64) {
        let coefficients = &mut profile.dictionary.coefficients;
        let (n_atoms, n) = (coefficients.rows(), coefficients.cols());
        // w (e_n − Uᵀw)ᵀ − μ U, then times K.
        let mut slope = Matrix::zeros(n_atoms, n);
        for j in 0..n {
            let column = coefficients.col(j);
            let inner: f64 = code.iter().zip(column).map(|(w, u)| w * u).sum();
            let along = f64::from(u8::from(j == n - 1)) - inner;
            let terms = slope.col_mut(j).iter_mut().zip(code.iter().zip(column));
            terms.for_each(|(slope, (w, u))| *slope = rate * (w * along - self.decay * u));
        }
        product(
            coefficients.view_mut(),
            Write::Add,
            slope.view(),
            profile.kept_gram.view(),
        );
    }
}

impl GradientProfile {
    /// Appends a sample whose code is known: for replaying a trajectory.
    pub fn append_coded(&mut self, samples: &Samples, i: usize, code: &[f64]) {
        let mut alone = Samples::new(samples.n_features(), 1);
        alone.push_from(samples, i);
        let mut row = Matrix::default();
        self.dictionary
            .kernel
            .block(&alone, &self.dictionary.kept, &mut row);
        let column: Vec<f64> = (0..row.cols()).map(|j| row[(0, j)]).collect();
        self.append(samples, i, &column, code);
    }
}

impl ClassLearner for Okdlfb {
    type Profile = GradientProfile;

    fn learn(
        &mut self,
        settings: &LearnerSettings,
        batch: &Samples,
        _factor: f64,
        report: &mut ClassReport,
    ) {
        let Algorithm::Okdlfb {
            threshold,
            headroom,
            code_penalty,
            ..
        } = settings.algorithm
        else {
            unreachable!("settings of another algorithm")
        };
        let step = GradientStep::of(settings);
        self.newcomers.see(&self.profile, batch, report);
        for i in 0..batch.len() {
            let (index, own) = (batch.index()[i], batch.self_kernel()[i]);
            if batch.is_zero(i) {
                report.rejected.push((index, Rejection::Zero));
                continue;
            }
            self.newcomers.look_at(&self.profile, i);
            let kept = self.profile.dictionary.kept.self_kernel();
            let coherence = largest_coherence(&self.newcomers.kernel_column, kept, own);
            if coherence >= threshold {
                report
                    .rejected
                    .push((index, Rejection::Coherent(coherence)));
                continue;
            }
            let penalty = match step.is_relative {
                true => code_penalty * own.sqrt(),
                false => code_penalty,
            };
            let gram = &self.profile.dictionary.atom_gram;
            let h = &self.newcomers.inner_products;
            self.lasso.code(gram, h, penalty, &mut self.code);
            let before = self.profile.dictionary.coefficients.clone();
            let kept = Admission::Coherent(coherence);
            self.newcomers
                .append(&mut self.profile, batch, i, &self.code, kept, report);
            step.take(&mut self.profile);
            if !self.profile.is_finite() {
                let (n_atoms, n) = (before.rows(), before.cols() + 1);
                self.profile.dictionary.coefficients = before;
                self.profile.dictionary.coefficients.resize(n_atoms, n);
                self.newcomers.take_atom_gram(&mut self.profile);
                report.health.repairs.push(Repair::StepRefused);
            }
        }
        column_norms(&self.profile.codes, &mut self.sizes);
        let target = settings.budget - headroom;
        let (profile, sizes) = (&mut self.profile, &self.sizes);
        self.newcomers
            .prune(profile, settings.budget, target, sizes, report);
        report.n_kept = self.profile.dictionary.n_kept();
    }

    fn resume(settings: &LearnerSettings, profile: GradientProfile) -> Self {
        Self {
            profile,
            newcomers: Newcomers::new(settings),
            lasso: Lasso::default(),
            code: Vec::new(),
            sizes: Vec::new(),
        }
    }

    fn profile(&self) -> &GradientProfile {
        &self.profile
    }
}

/// max_j |k_j| / √(σ K_jj).
fn largest_coherence(kernel_column: &[f64], kept: &[f64], own: f64) -> f64 {
    let shares = kernel_column.iter().zip(kept);
    let coherence = |(k, kept): (&f64, &f64)| k.abs() / (own * kept).sqrt();
    shares.map(coherence).fold(0.0, f64::max)
}
