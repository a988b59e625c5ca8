//! Batch learners: every step goes over all training samples of every class.
//!
//! The first step takes all samples from the stream; from then on the dictionary D = Φ Uᵀ
//! lies on all of them, whatever the budget. A step codes every sample by the present
//! dictionary and then updates the dictionary for these codes: see `kmod` and `ksvd`. The
//! coder is free of the length of atoms, so they are not normalised: after every update
//! their lengths are near 1.

use std::collections::BTreeSet;
use std::time::Instant;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::math::{Matrix, Write, product};

use super::algorithm::Algorithm;
use super::decision::Decision;
use super::dictionary::{BlockView, Dictionary};
use super::error::LearnError;
use super::kmod::Kmod;
use super::krls::note_use;
use super::ksvd::Ksvd;
use super::report::{ClassReport, StepReport, TimeSpent};
use super::samples::Samples;
use super::settings::LearnerSettings;
use super::sparse_coding::{SparseCoder, SparseCodes};
use super::stream::{Progress, SampleStream};
use super::{Learner, LearnerState};

/// Most samples of a class: their kernel matrix then takes 3.2 GB.
const MOST_SAMPLES: usize = 20_000;

/// What is learned of one class.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchProfile {
    /// X, U, Ψ.
    pub dictionary: Dictionary,
    /// Whether all samples have been taken from the stream, or only the start samples.
    pub is_complete: bool,
}

/// The learner of one class: its profile, and what every step needs of it.
#[derive(Debug)]
pub(super) struct BatchClass {
    pub(super) profile: BatchProfile,
    /// K; empty until it is needed.
    pub(super) kept_gram: Matrix,
    /// H = U K, codes and residuals of all samples.
    pub(super) view: BlockView,
}

/// Scratch memory of the updates of a class.
#[derive(Debug, Default)]
struct Updates {
    kmod: Kmod,
    ksvd: Ksvd,
}

/// What a class was before a step that may be interrupted.
struct Before {
    n_kept: usize,
    coefficients: Matrix,
    atom_gram: Matrix,
    is_complete: bool,
}

/// The learner of all classes.
#[derive(Debug)]
pub(super) struct Batch {
    settings: LearnerSettings,
    classes: Vec<BatchClass>,
    decision: Decision,
    updates: Vec<Updates>,
}

impl Batch {
    /// A learner whose atoms are the start samples, scaled to length 1.
    pub(super) fn start(settings: LearnerSettings, starts: &[Samples]) -> Self {
        let profiles = starts
            .iter()
            .map(|start| BatchProfile {
                dictionary: start_dictionary(&settings, start),
                is_complete: false,
            })
            .collect();
        Self::resume(settings, profiles, Decision::SmallestResidual)
    }

    /// Goes on with saved profiles.
    pub(super) fn resume(
        settings: LearnerSettings,
        profiles: Vec<BatchProfile>,
        mut decision: Decision,
    ) -> Self {
        decision.calibrate(settings.calibration, profiles.len());
        let classes: Vec<BatchClass> = profiles
            .into_iter()
            .map(|profile| BatchClass::new(&settings, profile))
            .collect();
        Self {
            updates: classes.iter().map(|_| Updates::default()).collect(),
            settings,
            classes,
            decision,
        }
    }

    /// All samples of the classes that have not been taken yet.
    fn take_samples(
        &mut self,
        stream: &SampleStream<'_>,
        report: &mut StepReport,
    ) -> Result<(), LearnError> {
        let incomplete = |class: &BatchClass| !class.profile.is_complete;
        if !self.classes.iter().any(incomplete) {
            return Ok(());
        }
        // All are checked before any dictionary changes.
        let mut taken = Vec::with_capacity(self.classes.len());
        for (c, class) in self.classes.iter().enumerate() {
            let kept = &class.profile.dictionary.kept;
            let (samples, zeros) = other_samples(&self.settings, stream, c, kept)?;
            let found = kept.len() + samples.len();
            if found > MOST_SAMPLES {
                let most = MOST_SAMPLES;
                return Err(LearnError::TooManySamples {
                    class: c,
                    found,
                    most,
                });
            }
            report.classes[c].note_taken(&samples, &zeros);
            taken.push(samples);
        }
        for (class, samples) in self.classes.iter_mut().zip(&taken) {
            class.take(samples);
        }
        Ok(())
    }
}

impl Batch {
    /// One iteration of every class; interrupted, some have changed and others have not.
    fn iterate(
        &mut self,
        stream: &SampleStream<'_>,
        report: &mut StepReport,
    ) -> Result<(), LearnError> {
        let (settings, stop) = (&self.settings, stream.stop());
        let iterate = |((class, updates), report): ((&mut BatchClass, &mut Updates), _)| {
            stop.check()?;
            class.iterate(settings, updates, report);
            Ok(())
        };
        let reports = &mut report.classes;
        if stream.n_threads() > 1 {
            let classes = self.classes.par_iter_mut().zip(&mut self.updates);
            classes.zip(reports).map(iterate).collect()
        } else {
            let classes = self.classes.iter_mut().zip(&mut self.updates);
            classes.zip(reports).try_for_each(iterate)
        }
    }
}

impl Learner for Batch {
    fn step(
        &mut self,
        _progress: Progress,
        stream: &mut SampleStream<'_>,
        report: &mut StepReport,
    ) -> Result<(), LearnError> {
        // Nothing is forgotten.
        report.clear(1.0, self.classes.len(), self.settings.n_atoms, 0);
        let before: Vec<Before> = self.classes.iter().map(BatchClass::before).collect();
        self.take_samples(stream, report)?;
        if let Err(error) = self.iterate(stream, report) {
            for (class, before) in self.classes.iter_mut().zip(before) {
                class.go_back(before);
            }
            return Err(error);
        }
        for (class, report) in report.classes.iter().enumerate() {
            let mean = report.mean_residual;
            self.decision.note_usual_residual(class, mean);
        }
        Ok(())
    }

    fn n_classes(&self) -> usize {
        self.classes.len()
    }

    fn dictionary(&self, class: usize) -> &Dictionary {
        &self.classes[class].profile.dictionary
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }

    fn settings(&self) -> &LearnerSettings {
        &self.settings
    }

    fn change_settings(&mut self, settings: LearnerSettings) -> Result<(), LearnError> {
        self.settings.check_change(&settings)?;
        let classes = std::mem::take(&mut self.classes).into_iter();
        let profiles = classes.map(|class| class.profile).collect();
        *self = Self::resume(settings, profiles, self.decision.clone());
        Ok(())
    }

    fn state(&self) -> LearnerState {
        LearnerState::Batch {
            profiles: self.classes.iter().map(|c| c.profile.clone()).collect(),
            decision: self.decision.clone(),
        }
    }
}

impl BatchClass {
    pub(super) fn new(settings: &LearnerSettings, profile: BatchProfile) -> Self {
        let coder = SparseCoder::new(settings.pursuit, settings.sparsity, settings.error_limit);
        let codes = SparseCodes::new(settings.sparsity, profile.dictionary.n_kept());
        Self {
            profile,
            kept_gram: Matrix::default(),
            view: BlockView::new(coder, codes),
        }
    }

    fn before(&self) -> Before {
        let dictionary = &self.profile.dictionary;
        Before {
            n_kept: dictionary.n_kept(),
            coefficients: dictionary.coefficients.clone(),
            atom_gram: dictionary.atom_gram.clone(),
            is_complete: self.profile.is_complete,
        }
    }

    fn go_back(&mut self, before: Before) {
        let dictionary = &mut self.profile.dictionary;
        dictionary.kept.truncate(before.n_kept);
        dictionary.coefficients = before.coefficients;
        dictionary.atom_gram = before.atom_gram;
        self.profile.is_complete = before.is_complete;
        self.kept_gram = Matrix::default();
    }

    /// Adds samples on which no atom lies yet.
    fn take(&mut self, samples: &Samples) {
        let dictionary = &mut self.profile.dictionary;
        for i in 0..samples.len() {
            dictionary.kept.push_from(samples, i);
        }
        let (n_atoms, n_kept) = (dictionary.n_atoms(), dictionary.n_kept());
        dictionary.coefficients.resize(n_atoms, n_kept);
        self.profile.is_complete = true;
        self.kept_gram = Matrix::default();
    }

    /// One iteration: all samples are coded, then the dictionary is fitted to the codes.
    fn iterate(
        &mut self,
        settings: &LearnerSettings,
        updates: &mut Updates,
        report: &mut ClassReport,
    ) {
        let begin = Instant::now();
        self.code();
        note_use(&self.view, &self.profile.dictionary.kept, report);
        match settings.algorithm {
            Algorithm::Kmod { ridge } => updates.kmod.update(self, ridge, report),
            Algorithm::Ksvd => updates.ksvd.update(self),
            _ => unreachable!("settings of another algorithm"),
        }
        self.take_products();
        report.n_kept = self.profile.dictionary.n_kept();
        report.health.smallest_pivot = 1.0;
        report.class_time = TimeSpent(begin.elapsed());
    }

    /// Codes of all kept samples by the present dictionary.
    pub(super) fn code(&mut self) {
        let dictionary = &self.profile.dictionary;
        if self.kept_gram.cols() != dictionary.n_kept() {
            dictionary
                .kernel
                .gram(&dictionary.kept, &mut self.kept_gram);
            self.take_products();
        }
        let view = &mut self.view;
        view.coder.prepare(self.profile.dictionary.atom_gram.view());
        view.codes.clear();
        view.residuals.clear();
        let own = self.profile.dictionary.kept.self_kernel();
        view.coder.code_block(
            &view.inner_products,
            own,
            0..own.len(),
            &mut view.codes,
            &mut view.residuals,
        );
    }

    /// H = U K and Ψ = H Uᵀ.
    pub(super) fn take_products(&mut self) {
        let Dictionary {
            coefficients,
            atom_gram,
            ..
        } = &mut self.profile.dictionary;
        let inner_products = &mut self.view.inner_products;
        inner_products.reshape(coefficients.rows(), coefficients.cols());
        product(
            inner_products.view_mut(),
            Write::Replace,
            coefficients.view(),
            self.kept_gram.view(),
        );
        product(
            atom_gram.view_mut(),
            Write::Replace,
            inner_products.view(),
            coefficients.view().t(),
        );
        atom_gram.symmetrise();
    }

    /// An atom that no code uses becomes the sample that is represented worst; that sample
    /// then counts as represented.
    pub(super) fn redraw(&mut self, atom: usize) {
        let Dictionary {
            kept, coefficients, ..
        } = &mut self.profile.dictionary;
        let residuals = &mut self.view.residuals;
        let share = |j: usize| residuals[j] / kept.self_kernel()[j];
        let worse = |a: &usize, b: &usize| share(*a).total_cmp(&share(*b)).then(b.cmp(a));
        let Some(worst) = (0..kept.len()).max_by(worse) else {
            return;
        };
        for j in 0..coefficients.cols() {
            coefficients[(atom, j)] = 0.0;
        }
        coefficients[(atom, worst)] = 1.0 / kept.self_kernel()[worst].sqrt();
        residuals[worst] = 0.0;
    }

    /// Σ ‖φ(x) − D w‖² over all samples with the present codes, from H and Ψ.
    #[cfg(test)]
    pub(super) fn error(&self) -> f64 {
        let Dictionary {
            kept, atom_gram, ..
        } = &self.profile.dictionary;
        let mut sum = 0.0;
        for (j, sigma) in kept.self_kernel().iter().enumerate() {
            sum += sigma;
            for (p, x) in self.view.codes.pairs(j) {
                sum -= 2.0 * x * self.view.inner_products[(p, j)];
                for (q, y) in self.view.codes.pairs(j) {
                    sum += x * y * atom_gram[(p, q)];
                }
            }
        }
        sum
    }
}

/// A dictionary whose atoms are the start samples, scaled to length 1. A sample that serves
/// several atoms is kept once.
pub(super) fn start_dictionary(settings: &LearnerSettings, start: &Samples) -> Dictionary {
    let mut kept = Samples::new(start.n_features(), start.len());
    let mut places = Vec::with_capacity(start.len());
    for q in 0..start.len() {
        let known = kept.index().iter().position(|i| *i == start.index()[q]);
        places.push(known.unwrap_or(kept.len()));
        if known.is_none() {
            kept.push_from(start, q);
        }
    }
    let mut coefficients = Matrix::zeros(start.len(), kept.len());
    for (q, &place) in places.iter().enumerate() {
        coefficients[(q, place)] = 1.0 / kept.self_kernel()[place].sqrt();
    }
    let mut gram = Matrix::default();
    settings.kernel.gram(&kept, &mut gram);
    let atom_gram = Matrix::from_fn(start.len(), start.len(), |p, q| {
        let (a, b) = (places[p], places[q]);
        gram[(a, b)] * coefficients[(p, a)] * coefficients[(q, b)]
    });
    Dictionary {
        kernel: settings.kernel,
        kept,
        coefficients,
        atom_gram,
        span: None,
    }
}

/// The samples of a class that are not in `kept` yet, in the order of the stream; and the
/// places of those omitted because they are zero in feature space.
pub(super) fn other_samples(
    settings: &LearnerSettings,
    stream: &SampleStream<'_>,
    class: usize,
    kept: &Samples,
) -> Result<(Samples, Vec<usize>), LearnError> {
    let known: BTreeSet<usize> = kept.index().iter().copied().collect();
    let order = stream.order(class).iter().copied();
    let rest: Vec<usize> = order.filter(|sample| !known.contains(sample)).collect();
    let mut all = Samples::new(kept.n_features(), rest.len());
    all.load(&settings.kernel, stream.data(), &rest)?;
    let mut usable = Samples::new(kept.n_features(), rest.len());
    let mut zeros = Vec::new();
    for i in 0..all.len() {
        if all.is_zero(i) {
            zeros.push(all.index()[i]);
        } else {
            usable.push_from(&all, i);
        }
    }
    Ok((usable, zeros))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::learner::kernel::Kernel;
    use crate::math::{random_share, random_stream};

    /// A class of random samples that has been coded once.
    pub(in crate::learner) fn coded_class(kernel: Kernel, algorithm: Algorithm) -> BatchClass {
        let settings = LearnerSettings {
            kernel,
            n_atoms: 6,
            sparsity: 2,
            algorithm,
            ..LearnerSettings::kmod()
        };
        let mut random = random_stream(4, "samples of a batch", 0);
        let mut samples = Samples::new(5, 40);
        for i in 0..40 {
            let x: Vec<f64> = (0..5).map(|_| random_share(&mut random) - 0.4).collect();
            samples.push(&kernel, i, &x).expect("finite samples");
        }
        let mut start = samples.clone();
        start.truncate(6);
        let mut rest = Samples::new(5, 34);
        (6..40).for_each(|i| rest.push_from(&samples, i));
        let profile = BatchProfile {
            dictionary: start_dictionary(&settings, &start),
            is_complete: false,
        };
        let mut class = BatchClass::new(&settings, profile);
        class.take(&rest);
        class.code();
        class
    }

    #[test]
    fn the_error_is_the_sum_of_the_residuals() {
        let kernel = Kernel::Gaussian { width: 1.0 };
        let class = coded_class(kernel, Algorithm::Ksvd);
        let residuals: f64 = class.view.residuals.iter().sum();
        assert!((class.error() - residuals).abs() < 1e-12 * residuals);
    }

    #[test]
    fn a_redrawn_atom_is_the_sample_represented_worst() {
        let kernel = Kernel::Gaussian { width: 1.0 };
        let mut class = coded_class(kernel, Algorithm::Ksvd);
        let worst = class.view.residuals.iter().copied().fold(0.0, f64::max);
        class.redraw(3);
        class.take_products();
        class.code();
        let place = (0..40).find(|&j| class.profile.dictionary.coefficients[(3, j)] != 0.0);
        let place = place.expect("the atom lies on one sample");
        assert!(worst > 0.0 && class.view.residuals[place] < 1e-12);
    }
}
