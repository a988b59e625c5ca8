//! The models that can judge a recording, and the recording judged in the background.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::workbench::TaskError;
use crate::workbench::inspect::{Inspection, inspect};
use crate::workbench::records::LoadedData;
use crate::workbench::run_view::RunView;
use atomscope_engine::dataset::{Built, DataSettings, Dataset, LeftOut};
use atomscope_engine::experiment::{
    DataFacts, FileWarning, JobProgress, JudgeOptions, Judged, LogEntry, Part, PartRecord, Ribbon,
    TrainedModel, change_texts, uncertain_margin,
};
use atomscope_engine::records::Record;
use atomscope_engine::session::Session;

/// Which model judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    /// Every segment by the fold that held it out: what the model says of recordings it has not learned from.
    HeldOut,
    /// The final model of the session.
    Final,
    /// The model of one fold.
    Fold(usize),
    /// The final model of another session.
    Other,
}

impl ModelChoice {
    /// What it is called.
    pub fn name(self) -> String {
        match self {
            Self::HeldOut => "held-out folds".into(),
            Self::Final => "final model".into(),
            Self::Fold(fold) => format!("fold {}", fold + 1),
            Self::Other => "another session".into(),
        }
    }
}

/// What a run can judge with.
#[derive(Clone)]
pub(super) struct Judges {
    pub(super) facts: Arc<DataFacts>,
    pub(super) data: DataSettings,
    /// ε of prediction sets.
    pub(super) epsilon: f64,
    pub(super) parts: Vec<(Part, Arc<TrainedModel>)>,
    pub(super) records: Vec<Arc<PartRecord>>,
    pub(super) test_folds: Vec<Option<usize>>,
    /// Settings changed while the run went on.
    pub(super) changes: Vec<(usize, String)>,
    /// How well the folds did on what they had not learned.
    pub(super) tested: Option<String>,
}

impl Judges {
    /// The complete parts of a run; `None` if there is none yet.
    pub(super) fn of_run(run: &RunView) -> Option<Self> {
        let with_record = |(part, model): (Part, &Arc<TrainedModel>)| {
            let record = run.part(part)?.record.clone()?;
            Some((part, model.clone(), record))
        };
        let found: Vec<_> = run.models().filter_map(with_record).collect();
        (!found.is_empty()).then(|| Self {
            facts: run.facts.clone(),
            data: run.experiment.data.clone(),
            epsilon: run.experiment.tests.epsilon,
            records: found.iter().map(|(_, _, record)| record.clone()).collect(),
            parts: found
                .into_iter()
                .map(|(part, model, _)| (part, model))
                .collect(),
            test_folds: run.test_folds.clone(),
            changes: change_texts(&run.experiment.learner, &run.changes),
            tested: run.summary.as_ref().and_then(|summary| summary.in_words()),
        })
    }

    /// The final model of a session in a file.
    pub(super) fn of_session(session: &Session) -> Result<Self, TaskError> {
        if let Some(damage) = &session.damage {
            return Err(TaskError::Refused(damage.to_string()));
        }
        let none = || {
            let path = session.path().unwrap_or(Path::new("")).display();
            TaskError::Refused(format!(
                "the session holds no final model: train one (Run menu) and save it: {path}"
            ))
        };
        let run = session.run.as_ref().ok_or_else(none)?;
        let model = run.final_model().ok_or_else(none)?;
        let records = run.parts.iter().filter(|part| part.model.is_some());
        Ok(Self {
            facts: run.facts.0.clone(),
            data: session.experiment.data.clone(),
            epsilon: session.experiment.tests.epsilon,
            parts: vec![(Part::Final, model.0.clone())],
            records: records.map(|part| part.record.0.clone()).collect(),
            test_folds: Vec::new(),
            changes: change_texts(&run.experiment.learner, &run.changes),
            tested: run.tested_in_words(),
        })
    }

    pub(super) fn options(&self) -> JudgeOptions {
        JudgeOptions {
            epsilon: self.epsilon,
            ..JudgeOptions::default()
        }
    }

    pub(super) fn model(&self, part: Part) -> Option<&Arc<TrainedModel>> {
        let found = self.parts.iter().find(|(known, _)| *known == part);
        found.map(|(_, model)| model)
    }

    /// The choices there are; `is_held_out` says whether all folds that tested the recording are complete.
    pub(super) fn choices(&self, is_held_out: bool) -> Vec<ModelChoice> {
        let parts = self.parts.iter().map(|(part, _)| match part {
            Part::Fold(fold) => ModelChoice::Fold(*fold),
            Part::Final => ModelChoice::Final,
        });
        let mut choices: Vec<ModelChoice> = parts.collect();
        choices.sort_by_key(|choice| *choice != ModelChoice::Final);
        if is_held_out {
            choices.insert(0, ModelChoice::HeldOut);
        }
        choices
    }

    /// Whether every sample of a source was held out by a fold that is complete.
    pub(super) fn has_held_out(&self, dataset: &Dataset, source: usize) -> bool {
        let mut samples = samples_of(dataset, source).peekable();
        samples.peek().is_some()
            && samples.all(|sample| {
                let fold = self.test_folds.get(sample).copied().flatten();
                fold.is_some_and(|fold| self.model(Part::Fold(fold)).is_some())
            })
    }

    /// The margin below which a decision is uncertain, learned from the folds.
    fn uncertain_below(&self) -> f64 {
        let folds = self.records.iter().filter(|r| r.part != Part::Final);
        uncertain_margin(&self.facts, folds.map(Arc::as_ref))
    }

    /// What happened to a sample while each part learned.
    fn fates(&self, sample: usize) -> Vec<Fate> {
        let of_part = |record: &Arc<PartRecord>| {
            let entries = record.log.entries().filter(|e| e.sample == sample);
            Fate {
                part: record.part,
                entries: entries.collect(),
            }
        };
        let fates = self.records.iter().map(of_part);
        fates.filter(|fate| !fate.entries.is_empty()).collect()
    }
}

fn samples_of(dataset: &Dataset, source: usize) -> impl Iterator<Item = usize> + '_ {
    (0..dataset.n_samples()).filter(move |sample| dataset.origin(*sample).source == source)
}

/// What happened to a sample while one part learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Fate {
    /// The part.
    pub part: Part,
    /// Comings and goings, in order.
    pub entries: Vec<LogEntry>,
}

/// The decisions on a recording with everything that is needed to explain them.
#[derive(Clone)]
pub struct Judgement {
    /// The decisions.
    pub ribbon: Ribbon,
    /// Who has judged.
    pub choice: ModelChoice,
    /// What was assumed.
    pub notes: Vec<String>,
    /// Stretches without a decision, with the reason.
    pub left_out: Vec<String>,
    /// Whether the samples are those of the data that were learned from.
    pub is_of_data: bool,
    /// Whether the model has learned from the recording.
    pub has_learned: bool,
    /// What about the recording is unlike anything the model has learned.
    pub warning: Option<FileWarning>,
    /// The samples that were judged.
    pub(super) dataset: Arc<Dataset>,
    /// The model of each segment.
    pub(super) models: Vec<Arc<TrainedModel>>,
    pub(super) judges: Judges,
}

/// A recording that is to be judged.
pub(super) struct JudgeQuestion {
    pub(super) judges: Judges,
    pub(super) choice: ModelChoice,
    pub(super) record: Arc<Record>,
    /// The data that were learned from and the recording's place among them.
    pub(super) of_data: Option<(Arc<LoadedData>, usize)>,
}

impl JudgeQuestion {
    /// Makes the samples where they are not known, and judges them.
    pub(super) fn answer(self, progress: &JobProgress) -> Result<Judgement, TaskError> {
        match self.of_data.clone() {
            Some((loaded, source)) => self.judge_known(&loaded, source, progress),
            None => self.judge_new(progress),
        }
    }

    fn judge_known(
        self,
        loaded: &LoadedData,
        source: usize,
        progress: &JobProgress,
    ) -> Result<Judgement, TaskError> {
        let dataset = &loaded.dataset;
        let judges = &self.judges;
        let part_of = |sample: usize| match self.choice {
            ModelChoice::HeldOut => judges.test_folds.get(sample)?.map(Part::Fold),
            ModelChoice::Fold(fold) => Some(Part::Fold(fold)),
            ModelChoice::Final | ModelChoice::Other => Some(Part::Final),
        };
        let options = judges.options();
        let (mut judged, mut models) = (Vec::new(), BTreeMap::new());
        for (part, model) in &judges.parts {
            let samples: Vec<usize> = samples_of(dataset, source)
                .filter(|sample| part_of(*sample) == Some(*part))
                .collect();
            if samples.is_empty() {
                continue;
            }
            let own = dataset.subset(&samples)?;
            for mut one in model.judge(&own, &options, &mut |share| progress.go_on(share))? {
                one.sample = samples[one.sample];
                models.insert(one.sample, model.clone());
                judged.push(one);
            }
        }
        let path = dataset.sources().get(source);
        let of_file = |out: &&LeftOut| Some(&out.source) == path;
        let left_out: Vec<String> = loaded
            .left_out
            .iter()
            .filter(of_file)
            .map(ToString::to_string)
            .collect();
        let learns = |sample: usize| {
            let fold = judges.test_folds.get(sample).copied().flatten();
            part_of(sample) != fold.map(Part::Fold)
        };
        let has_learned = samples_of(dataset, source).any(learns);
        let dataset = dataset.clone();
        self.finish(JudgedSamples {
            judged,
            models,
            dataset,
            notes: Vec::new(),
            left_out,
            is_of_data: true,
            has_learned,
        })
    }

    fn judge_new(self, progress: &JobProgress) -> Result<Judgement, TaskError> {
        let part = match self.choice {
            ModelChoice::Fold(fold) => Part::Fold(fold),
            _ => Part::Final,
        };
        let model = self
            .judges
            .model(part)
            .ok_or_else(|| TaskError::refused("there is no such model"))?
            .clone();
        let names = &self.judges.facts.feature_names;
        let path = &self.record.source.path;
        // Making the samples is most of the work.
        let mut half = |share: f64| progress.go_on(share * 0.7);
        let built = match path.is_file() {
            true => self.judges.data.load_unlabelled(path, names, &mut half),
            false => self
                .judges
                .data
                .sample_unlabelled(&self.record, names, &mut half),
        };
        let Built {
            dataset,
            left_out,
            notes,
            ..
        } = built?;
        let options = self.judges.options();
        let judged = model.judge(&dataset, &options, &mut |share| {
            progress.go_on(0.7 + share * 0.3)
        })?;
        if !progress.go_on(1.0) {
            return Err(TaskError::Cancelled);
        }
        let models = judged.iter().map(|j| (j.sample, model.clone())).collect();
        self.finish(JudgedSamples {
            judged,
            models,
            dataset: Arc::new(dataset),
            notes,
            left_out: left_out.iter().map(ToString::to_string).collect(),
            is_of_data: false,
            has_learned: false,
        })
    }

    /// Whether the recording as a whole is unlike anything learned; never of one that was learned.
    fn warning(&self, samples: &JudgedSamples) -> Option<FileWarning> {
        let model = samples.models.values().next()?;
        let is_new = !samples.has_learned;
        is_new
            .then(|| model.strange_files(&samples.judged).into_iter().next())
            .flatten()
    }

    fn finish(self, samples: JudgedSamples) -> Result<Judgement, TaskError> {
        let below = self.judges.uncertain_below();
        let warning = self.warning(&samples);
        let none =
            || TaskError::refused("no segment of the recording can be classified by this model");
        let ribbon =
            Ribbon::of(&self.judges.facts.class_names, samples.judged, below).ok_or_else(none)?;
        let in_order = ribbon.segments.iter();
        let models = in_order.filter_map(|segment| samples.models.get(&segment.sample).cloned());
        Ok(Judgement {
            models: models.collect(),
            ribbon,
            choice: self.choice,
            notes: samples.notes,
            left_out: samples.left_out,
            is_of_data: samples.is_of_data,
            has_learned: samples.has_learned,
            warning,
            dataset: samples.dataset,
            judges: self.judges,
        })
    }
}

/// Samples as they were judged, before they lie in order of time.
struct JudgedSamples {
    judged: Vec<Judged>,
    /// The model of each sample.
    models: BTreeMap<usize, Arc<TrainedModel>>,
    dataset: Arc<Dataset>,
    notes: Vec<String>,
    left_out: Vec<String>,
    is_of_data: bool,
    has_learned: bool,
}

/// One segment explained.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The segment, by its place in the ribbon.
    pub segment: usize,
    /// Residuals, codes, atoms and kept samples.
    pub inspection: Inspection,
    /// What happened to it in training, if it was learned from.
    pub fates: Vec<Fate>,
}

impl Judgement {
    /// Explains a segment.
    pub(super) fn explain(&self, segment: usize) -> Result<Explained, TaskError> {
        let found = self.ribbon.segments.get(segment);
        let model = self.models.get(segment);
        let (Some(found), Some(model)) = (found, model) else {
            return Err(TaskError::refused("there is no such segment"));
        };
        Ok(Explained {
            segment,
            inspection: inspect(model, &self.dataset, found.sample)?,
            fates: match self.is_of_data {
                true => self.judges.fates(found.sample),
                false => Vec::new(),
            },
        })
    }

    /// Whether a segment is unlike anything learned; never of a recording that was learned.
    pub fn is_strange(&self, segment: usize) -> bool {
        let assured = self.ribbon.segments.get(segment);
        let assured = assured.and_then(|segment| segment.assurance.as_ref());
        let model = self.models.get(segment);
        let calibration = model.and_then(|model| model.calibration.as_ref());
        let judged = assured.zip(calibration);
        !self.has_learned && judged.is_some_and(|(a, calibration)| calibration.is_strange(a.fit_p))
    }

    /// Segments that are unlike anything learned.
    pub fn n_strange(&self) -> usize {
        let segments = 0..self.ribbon.segments.len();
        segments.filter(|segment| self.is_strange(*segment)).count()
    }

    /// How well the folds of the model did on what they had not learned.
    pub fn tested(&self) -> Option<&str> {
        self.judges.tested.as_deref()
    }

    /// Corrections that the models have learned, the most of any of them.
    pub fn n_corrections(&self) -> usize {
        let counts = self.models.iter().map(|model| model.n_corrections);
        counts.max().unwrap_or(0)
    }

    /// The features of a segment.
    pub fn features(&self, segment: usize) -> Option<Cow<'_, [f64]>> {
        let sample = self.ribbon.segments.get(segment)?.sample;
        Some(self.dataset.sample(sample))
    }
}

/// A trained session in a file, whose final model may judge.
#[derive(Clone)]
pub(in crate::workbench) struct OtherSession {
    pub(super) path: PathBuf,
    pub(super) sha256: Option<String>,
    pub(super) judges: Judges,
}

impl OtherSession {
    pub(super) fn load(path: PathBuf) -> Result<Self, TaskError> {
        let session = Session::load(&path)?;
        Ok(Self {
            judges: Judges::of_session(&session)?,
            sha256: session.sha256().map(str::to_owned),
            path,
        })
    }
}
