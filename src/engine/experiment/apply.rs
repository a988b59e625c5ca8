//! A trained model applied to samples it has not learned from: class, margin and residuals of each.

use std::borrow::Cow;

use super::calibrating::{Assessor, kept_samples};
use super::correction::CorrectionError;
use super::error::{RunError, RunTrouble};
use super::model::TrainedModel;
use super::settings::USUAL_EPSILON;
use crate::dataset::{Dataset, Place};
use crate::evaluation::{
    Assurance, Classifier, ClassifierWork, GroupVote, Imputation, Strangeness, Verdict, group_votes,
};
use crate::learner::{
    LearnError, Learner, LearnerSettings, Progress, SampleStream, StepReport, Supply,
};
use crate::math::View;

/// Samples that are classified between two looks at whether to continue.
const BLOCK: usize = 128;

/// How samples are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgeOptions {
    /// ε: the share of samples whose prediction set may miss their class.
    pub epsilon: f64,
    /// Whether exact zeros that are no values are found and filled in, in samples that fit worse
    /// than training samples do.
    pub repair: bool,
}

impl Default for JudgeOptions {
    fn default() -> Self {
        Self {
            epsilon: USUAL_EPSILON,
            repair: false,
        }
    }
}

/// What was decided about one sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Place in the data set.
    pub sample: usize,
    /// Number of its file among the sources of the data set.
    pub source: usize,
    /// Where in the file.
    pub place: Place,
    /// Class, runner-up and margin.
    pub verdict: Verdict,
    /// r²/σ per class.
    pub residual_shares: Vec<f64>,
    /// Features that were missing and filled in.
    pub n_missing: usize,
    /// What the decision is worth; none of a model that cannot tell.
    pub assurance: Option<Assurance>,
}

/// What is to be said of the samples of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileWarning {
    /// Number of the file among the sources of the data set.
    pub source: usize,
    /// What about it is strange.
    pub reason: Strangeness,
}

impl FileWarning {
    /// The warning in one sentence with the remedy.
    pub fn sentence(&self) -> &'static str {
        match self.reason {
            Strangeness::Fit => {
                "This recording is unlike anything the model has learned: its samples fit no class; do not rely on the decisions, and train with recordings of this kind"
            }
            Strangeness::Scale => {
                "This recording is unlike anything the model has learned: its values are much larger or smaller than in training; check units, gain and reference"
            }
            Strangeness::Shape => {
                "This recording is unlike anything the model has learned: its features go together in another way than in training; check channels, sampling rate and filters"
            }
        }
    }
}

/// What a model says of one sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// Class, runner-up and margin.
    pub verdict: Verdict,
    /// r²/σ per class.
    pub residual_shares: Vec<f64>,
    /// Features that were missing and filled in.
    pub n_missing: usize,
    /// What the decision is worth; none of a model that cannot tell.
    pub assurance: Option<Assurance>,
}

/// Samples as the classifier takes them.
struct PreparedSamples {
    /// Prepared features, one sample after the other.
    values: Vec<f64>,
    /// Which samples they are, and how many features of each were missing.
    kept: Vec<(usize, usize)>,
}

/// Errors of a model, named by its part and mini-batch.
fn trouble_of(model: &TrainedModel) -> impl Fn(RunTrouble) -> RunError + use<> {
    let (part, n_batches) = (model.part, model.n_batches);
    move |error| RunError::new(part, n_batches, error)
}

/// A model that judges one block of samples after the other, and learns online where labels come.
pub struct Judge {
    model: TrainedModel,
    learner: Box<dyn Learner>,
    work: ClassifierWork,
    assessor: Option<Assessor>,
    /// Whether exact zeros that are no values are filled in.
    repairs: bool,
    /// Made when the first sample misses something.
    imputation: Option<Imputation>,
}

impl Judge {
    /// A judge that decides as the model does.
    pub fn new(model: &TrainedModel, options: &JudgeOptions) -> Result<Self, RunError> {
        let learner = model
            .revive()
            .map_err(|error| RunError::new(model.part, model.n_batches, error.into()))?;
        let assessor = model.calibration.as_ref().map(|calibration| {
            Assessor::new(calibration.0.clone(), learner.as_ref(), options.epsilon)
        });
        Ok(Self {
            work: Classifier::of(learner.as_ref()).work(),
            model: model.clone(),
            learner,
            assessor,
            repairs: options.repair,
            imputation: None,
        })
    }

    /// The learner as it is now.
    pub fn learner(&self) -> &dyn Learner {
        self.learner.as_ref()
    }

    /// Mini-batches learned.
    pub fn n_batches(&self) -> usize {
        self.model.n_batches
    }

    /// Judges samples by their features before preparation; nothing of those with missing values that the model's
    /// preparation drops. What is said of a sample is the same to the bit, whichever samples are judged with it.
    pub fn judge(&mut self, samples: &[&[f64]]) -> Result<Vec<Option<Opinion>>, RunError> {
        let trouble = trouble_of(&self.model);
        let Some(n_features) = samples.first().map(|sample| sample.len()) else {
            return Ok(Vec::new());
        };
        let mut opinions = vec![None; samples.len()];
        let mut prepared = self.prepare(samples)?;
        if self.repairs {
            self.repair(samples, &mut prepared)?;
        }
        let PreparedSamples { values, kept } = prepared;
        let classifier = Classifier::of(self.learner.as_ref());
        let view = View::from_columns(&values, n_features);
        let positions: Vec<usize> = (0..kept.len()).collect();
        let assessor = self.assessor.as_ref();
        classifier
            .classify_each(
                view,
                &positions,
                &mut self.work,
                |found, residual_shares| {
                    let place = found.position;
                    let (sample, n_missing) = kept[place];
                    let assess = |assessor: &Assessor| {
                        assessor.assess(samples[sample], view.col(place), found)
                    };
                    opinions[sample] = Some(Opinion {
                        verdict: found.verdict(),
                        residual_shares: residual_shares.to_vec(),
                        n_missing,
                        assurance: assessor.map(assess),
                    });
                },
            )
            .map_err(|error| trouble(error.into()))?;
        Ok(opinions)
    }

    /// Prepares samples, and fills in missing features from the kept samples where the model does.
    fn prepare(&mut self, samples: &[&[f64]]) -> Result<PreparedSamples, RunError> {
        let trouble = trouble_of(&self.model);
        let fills = fills_missing(&self.model.learner);
        let (mut values, mut kept) = (Vec::new(), Vec::new());
        for (position, sample) in samples.iter().enumerate() {
            let mut features = sample.to_vec();
            let missing: Vec<bool> = features.iter().map(|value| value.is_nan()).collect();
            let outcome = self.model.preparation.apply(&mut features);
            if outcome.map_err(|error| trouble(error.into()))?.is_none() {
                continue;
            }
            let n_missing = missing.iter().filter(|missing| **missing).count();
            if n_missing > 0 && fills {
                self.imputation().fill(&mut features, &missing);
            }
            values.extend(features);
            kept.push((position, n_missing));
        }
        Ok(PreparedSamples { values, kept })
    }

    /// Fills in exact zeros that are no values, in samples that fit worse than training samples do.
    fn repair(
        &mut self,
        samples: &[&[f64]],
        prepared: &mut PreparedSamples,
    ) -> Result<(), RunError> {
        let (Some(calibration), Some(first)) = (self.model.calibration.clone(), samples.first())
        else {
            return Ok(());
        };
        let trouble = trouble_of(&self.model);
        let zero_share = &calibration.0.features.zero_share;
        let n_features = first.len();
        let positions: Vec<usize> = (0..prepared.kept.len()).collect();
        let is_whole = Classifier::of(self.learner.as_ref())
            .fits_usually(
                View::from_columns(&prepared.values, n_features),
                &positions,
                &mut self.work,
            )
            .map_err(|error| trouble(error.into()))?;
        let rows = prepared.values.chunks_mut(n_features.max(1));
        for ((features, (position, n_missing)), is_whole) in
            rows.zip(&mut prepared.kept).zip(is_whole)
        {
            let zeros: Vec<bool> = samples[*position]
                .iter()
                .map(|value| *value == 0.0)
                .collect();
            if !is_whole && zeros.contains(&true) {
                let imputation = self.imputation();
                let missing = imputation.suspects(features, &zeros, zero_share);
                imputation.fill(features, &missing);
                *n_missing += missing.iter().filter(|missing| **missing).count();
            }
        }
        Ok(())
    }

    /// The model of missing features: a probabilistic PCA of the kept samples.
    fn imputation(&mut self) -> &Imputation {
        let learner = self.learner.as_ref();
        self.imputation
            .get_or_insert_with(|| Imputation::of(&kept_samples(learner)))
    }

    /// Learns a mini-batch of samples (features before preparation, class); those with missing values that the
    /// preparation drops are left out. After an error the model is as it was.
    ///
    /// The largest class must have as many samples as the settings name for a mini-batch: then every class gives all
    /// it has. Schedules of forgetting that end stand at their end.
    pub fn learn(&mut self, samples: &[(Vec<f64>, usize)]) -> Result<StepReport, CorrectionError> {
        let algorithm = &self.model.learner.algorithm;
        if algorithm.is_batch() || algorithm.is_baseline() {
            return Err(CorrectionError::NotOnline);
        }
        let n_classes = self.learner.n_classes();
        let mut orders = vec![Vec::new(); n_classes];
        let mut values = Vec::new();
        let mut n_kept = 0;
        let mut n_features = 0;
        for (features, class) in samples {
            let order = orders
                .get_mut(*class)
                .ok_or(CorrectionError::UnknownClass {
                    class: *class,
                    n_classes,
                })?;
            let mut features = features.clone();
            if self.model.preparation.apply(&mut features)?.is_some() {
                n_features = features.len();
                values.extend(features);
                order.push(n_kept);
                n_kept += 1;
            }
        }
        let mut report = StepReport::default();
        if n_kept == 0 {
            return Ok(report);
        }
        let view = View::from_columns(&values, n_features);
        let mut stream = SampleStream::new(view, orders, Supply::Proportional);
        let progress = Progress {
            round: self.model.n_batches,
            n_rounds: self.model.n_batches + 1,
        };
        self.learner.step(progress, &mut stream, &mut report)?;
        self.model.n_batches += 1;
        self.renew();
        Ok(report)
    }

    /// Puts other settings of the learner in force from the next mini-batch on.
    pub fn change_learner(&mut self, settings: LearnerSettings) -> Result<(), LearnError> {
        self.learner.change_settings(settings.clone())?;
        self.model.learner = settings;
        self.renew();
        Ok(())
    }

    /// What depends on the dictionaries.
    fn renew(&mut self) {
        self.work = Classifier::of(self.learner.as_ref()).work();
        self.imputation = None;
        if let Some(assessor) = &mut self.assessor {
            assessor.renew(self.learner.as_ref());
        }
    }

    /// The settings of the learner in force.
    pub fn settings(&self) -> &LearnerSettings {
        &self.model.learner
    }

    /// The model as it is now.
    pub fn model(&self) -> TrainedModel {
        TrainedModel {
            state: self.learner.state(),
            ..self.model.clone()
        }
    }
}

impl TrainedModel {
    /// Judges all samples of a data set; those with missing values that the model's
    /// preparation drops are omitted. `keep_going` receives the share done and stops the work
    /// by saying false: what was judged by then is the result.
    pub fn judge(
        &self,
        dataset: &Dataset,
        options: &JudgeOptions,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Vec<Judged>, RunError> {
        Judge::new(self, options)?.judge_all(dataset, keep_going)
    }
}

impl Judge {
    /// Judges all samples of a data set, as [`TrainedModel::judge`] does.
    pub fn judge_all(
        &mut self,
        dataset: &Dataset,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Vec<Judged>, RunError> {
        let n_samples = dataset.n_samples();
        let mut judged = Vec::with_capacity(n_samples);
        for first in (0..n_samples).step_by(BLOCK) {
            if !keep_going(first as f64 / n_samples as f64) {
                break;
            }
            let block = first..(first + BLOCK).min(n_samples);
            let samples = block.clone().map(|sample| dataset.sample(sample));
            let samples: Vec<Cow<'_, [f64]>> = samples.collect();
            let samples: Vec<&[f64]> = samples.iter().map(|sample| &**sample).collect();
            for (sample, opinion) in block.zip(self.judge(&samples)?) {
                let Some(opinion) = opinion else { continue };
                let origin = dataset.origin(sample);
                judged.push(Judged {
                    sample,
                    source: origin.source,
                    place: origin.place,
                    verdict: opinion.verdict,
                    residual_shares: opinion.residual_shares,
                    n_missing: opinion.n_missing,
                    assurance: opinion.assurance,
                });
            }
        }
        Ok(judged)
    }
}

impl TrainedModel {
    /// The files among judged samples that are unlike anything learned; none of a model that cannot
    /// tell.
    pub fn strange_files(&self, judged: &[Judged]) -> Vec<FileWarning> {
        let Some(calibration) = &self.calibration else {
            return Vec::new();
        };
        let mut by_source: std::collections::BTreeMap<usize, Vec<&Judged>> =
            std::collections::BTreeMap::new();
        for item in judged {
            by_source.entry(item.source).or_default().push(item);
        }
        let warn = |(source, items): (usize, Vec<&Judged>)| {
            let is_recording = matches!(items.first()?.place, Place::Window { .. });
            let assured: Vec<&Assurance> = items
                .iter()
                .filter_map(|item| item.assurance.as_ref())
                .collect();
            let reason = calibration.strange_file(&assured, is_recording)?;
            Some(FileWarning { source, reason })
        };
        by_source.into_iter().filter_map(warn).collect()
    }

    /// Whether a sample is unlike anything learned; none of a model that cannot tell.
    pub fn is_strange(&self, judged: &Judged) -> Option<bool> {
        let (calibration, assured) = (self.calibration.as_ref()?, judged.assurance.as_ref()?);
        Some(calibration.is_strange(assured.fit_p))
    }
}

/// Whether missing features of samples to be judged are filled in from the kept samples: all learners
/// whose head was chosen do; those of earlier versions keep the training mean.
pub(super) fn fills_missing(learner: &LearnerSettings) -> bool {
    learner.head.is_some() && learner.algorithm.remembers_all()
}

/// The vote of every file over its samples, in the order of the sources. The truth is not
/// known and stands as the decision.
pub fn votes_by_source(n_classes: usize, judged: &[Judged]) -> Vec<GroupVote> {
    let decisions = judged.iter().map(|judged| {
        let Verdict { class, margin, .. } = judged.verdict;
        (judged.source, class, class, margin)
    });
    group_votes(n_classes, decisions)
}
