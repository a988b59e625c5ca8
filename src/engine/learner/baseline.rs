//! Baselines: classifiers that a user would pick instead of a dictionary. Each learns in
//! one step from all training samples; further steps find nothing to do.
//!
//! What they learn is written as one dictionary per class, whose atoms are not for sparse
//! codes but for the decision: see [`Decision`].

use serde::{Deserialize, Serialize};

use crate::math::{Matrix, Write, product};

use super::algorithm::Algorithm;
use super::batch::{other_samples, start_dictionary};
use super::decision::Decision;
use super::dictionary::Dictionary;
use super::error::LearnError;
use super::report::{Removal, StepReport};
use super::samples::Samples;
use super::settings::LearnerSettings;
use super::stop::StopSignal;
use super::stream::{Progress, SampleStream};
use super::{Learner, LearnerState, kernel_ridge, nearest_mean, svm};

/// Most samples of two classes, or of all for kernel ridge: their kernel matrix takes 3.2 GB.
const MOST_SAMPLES: usize = 20_000;

/// Everything needed to resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineState {
    /// One per class.
    pub dictionaries: Vec<Dictionary>,
    /// How classes are decided.
    pub decision: Decision,
    /// Whether all samples have been taken from the stream, or only the start samples.
    pub is_complete: bool,
}

/// The learner of all classes.
#[derive(Debug)]
pub(super) struct BaselineLearner {
    settings: LearnerSettings,
    state: BaselineState,
}

impl BaselineLearner {
    /// Learned from the start samples.
    pub(super) fn start(settings: LearnerSettings, starts: &[Samples]) -> Self {
        let dictionaries = starts.iter().map(|s| start_dictionary(&settings, s));
        let state = BaselineState {
            dictionaries: dictionaries.collect(),
            decision: Decision::SmallestResidual,
            is_complete: false,
        };
        let mut learner = Self::resume(settings, state);
        // Without a signal nothing interrupts it.
        let fitted = learner.fitted(learner.state.dictionaries.clone(), StopSignal::default(), 1);
        if let Ok(state) = fitted {
            learner.state = state;
        }
        learner
    }

    /// Goes on with a saved state.
    pub(super) fn resume(settings: LearnerSettings, state: BaselineState) -> Self {
        Self { settings, state }
    }

    /// Most samples that a class keeps.
    fn most_kept(&self) -> usize {
        match self.settings.algorithm.keeps_all() {
            true => usize::MAX,
            false => self.settings.budget,
        }
    }

    /// The samples that every class is to keep from now on.
    fn samples_to_keep(
        &self,
        stream: &SampleStream<'_>,
        report: &mut StepReport,
    ) -> Result<Vec<Samples>, LearnError> {
        let mut all = Vec::with_capacity(self.state.dictionaries.len());
        let most = self.most_kept();
        for (class, dictionary) in self.state.dictionaries.iter().enumerate() {
            let report = &mut report.classes[class];
            let mut kept = dictionary.kept.clone();
            for &sample in &kept.index()[kept.len().min(most)..] {
                report.removed.push((sample, Removal::Forced));
            }
            kept.truncate(kept.len().min(most));
            let (mut others, zeros) = other_samples(&self.settings, stream, class, &kept)?;
            others.truncate(others.len().min(most - kept.len()));
            report.note_taken(&others, &zeros);
            (0..others.len()).for_each(|i| kept.push_from(&others, i));
            all.push(kept);
        }
        self.check_sizes(&all)?;
        Ok(all)
    }

    /// Refuses what would not fit in memory.
    fn check_sizes(&self, kept: &[Samples]) -> Result<(), LearnError> {
        let mut sizes: Vec<(usize, usize)> = kept.iter().map(Samples::len).enumerate().collect();
        sizes.sort_by_key(|&(class, size)| (std::cmp::Reverse(size), class));
        let at_once = match self.settings.algorithm {
            Algorithm::NearestMean => 0,
            Algorithm::KernelRidge { .. } => sizes.len(),
            _ => 2,
        };
        let found: usize = sizes.iter().take(at_once).map(|(_, size)| size).sum();
        match sizes.first() {
            Some(&(class, size)) if found > MOST_SAMPLES => Err(LearnError::TooManySamples {
                class,
                found: size,
                most: MOST_SAMPLES / at_once,
            }),
            _ => Ok(()),
        }
    }

    /// What is learned from the kept samples of `dictionaries`.
    fn fitted(
        &self,
        mut dictionaries: Vec<Dictionary>,
        stop: StopSignal<'_>,
        n_threads: usize,
    ) -> Result<BaselineState, LearnError> {
        let all = &mut dictionaries;
        let decision = match self.settings.algorithm {
            Algorithm::NearestMean => nearest_mean::fit(all),
            Algorithm::KernelRidge { ridge } => kernel_ridge::fit(all, ridge, stop)?,
            Algorithm::Svm { cost, tolerance } => svm::fit(all, cost, tolerance, stop, n_threads)?,
            _ => unreachable!("settings of another algorithm"),
        };
        let mut gram = Matrix::default();
        for dictionary in all {
            stop.check()?;
            take_atom_gram(dictionary, &mut gram);
        }
        Ok(BaselineState {
            dictionaries,
            decision,
            is_complete: self.state.is_complete,
        })
    }
}

/// Ψ = U K Uᵀ in blocks of columns, so that K is never whole in memory.
fn take_atom_gram(dictionary: &mut Dictionary, gram: &mut Matrix) {
    const BLOCK: usize = 256;
    let (n_atoms, n_kept) = (dictionary.n_atoms(), dictionary.n_kept());
    let mut wide = Matrix::zeros(n_atoms, BLOCK);
    dictionary.atom_gram = Matrix::zeros(n_atoms, n_atoms);
    let mut part = Samples::new(dictionary.kept.n_features(), BLOCK);
    for first in (0..n_kept).step_by(BLOCK) {
        let count = BLOCK.min(n_kept - first);
        part.clear();
        (first..first + count).for_each(|j| part.push_from(&dictionary.kept, j));
        dictionary.kernel.block(&dictionary.kept, &part, gram);
        wide.reshape(n_atoms, count);
        let coefficients = &dictionary.coefficients;
        product(
            wide.view_mut(),
            Write::Replace,
            coefficients.view(),
            gram.view(),
        );
        product(
            dictionary.atom_gram.view_mut(),
            Write::Add,
            wide.view(),
            coefficients.cols_view(first, count).t(),
        );
    }
    dictionary.atom_gram.symmetrise();
}

impl Learner for BaselineLearner {
    fn step(
        &mut self,
        _progress: Progress,
        stream: &mut SampleStream<'_>,
        report: &mut StepReport,
    ) -> Result<(), LearnError> {
        let n_classes = self.state.dictionaries.len();
        report.clear(1.0, n_classes, self.settings.n_atoms, 0);
        if !self.state.is_complete {
            let kept = self.samples_to_keep(stream, report)?;
            let mut dictionaries = self.state.dictionaries.clone();
            for (dictionary, kept) in dictionaries.iter_mut().zip(kept) {
                dictionary.kept = kept;
            }
            self.state = self.fitted(dictionaries, stream.stop(), stream.n_threads())?;
            self.state.is_complete = true;
        }
        for (report, dictionary) in report.classes.iter_mut().zip(&self.state.dictionaries) {
            report.n_kept = dictionary.n_kept();
            report.health.smallest_pivot = 1.0;
        }
        Ok(())
    }

    fn n_classes(&self) -> usize {
        self.state.dictionaries.len()
    }

    fn dictionary(&self, class: usize) -> &Dictionary {
        &self.state.dictionaries[class]
    }

    fn decision(&self) -> &Decision {
        &self.state.decision
    }

    fn settings(&self) -> &LearnerSettings {
        &self.settings
    }

    fn change_settings(&mut self, settings: LearnerSettings) -> Result<(), LearnError> {
        self.settings.check_change(&settings)?;
        self.settings = settings;
        // The next step learns again.
        self.state.is_complete = false;
        Ok(())
    }

    fn state(&self) -> LearnerState {
        LearnerState::Baseline(self.state.clone())
    }
}
