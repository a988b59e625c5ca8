//! An experiment that fits its data: the only thing a run accepts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::settings::{Experiment, Training};
use super::shared::Shared;
use crate::dataset::{
    Dataset, FeatureGroup, FittedPreparation, InnerProducts, Layout, MissingPolicy, SharedProducts,
};
use crate::learner::Head;
use crate::settings::SettingProblem;
use crate::split::audit::{Audit, audit};
use crate::split::{ArrivalPlan, Fold, Split, SplitPlan};

/// What results need to know of the data, so that they can be read without them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataFacts {
    /// Number of samples.
    pub n_samples: usize,
    /// Names of the features.
    pub feature_names: Vec<String>,
    /// How the features lie side by side.
    pub layout: Layout,
    /// The groups of features, in their order; none where all features are one group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feature_groups: Vec<FeatureGroup>,
    /// Names of the classes.
    pub class_names: Vec<String>,
    /// Class of each sample.
    pub classes: Shared<Vec<usize>>,
    /// Names of the groups.
    pub group_names: Vec<String>,
    /// Group of each sample, where groups are known.
    pub groups: Option<Vec<usize>>,
    /// A number that changes with any value of any sample.
    pub fingerprint: u64,
}

impl DataFacts {
    /// The facts of a data set.
    pub fn of(dataset: &Dataset) -> Self {
        Self {
            n_samples: dataset.n_samples(),
            feature_names: dataset.feature_names().to_vec(),
            layout: dataset.layout(),
            feature_groups: dataset.feature_groups().to_vec(),
            class_names: dataset.class_names().to_vec(),
            classes: Shared(dataset.shared_classes()),
            group_names: dataset.group_names().to_vec(),
            groups: dataset.groups().map(<[usize]>::to_vec),
            fingerprint: dataset.fingerprint(),
        }
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.class_names.len()
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.feature_names.len()
    }

    /// In what a data set differs from these facts; nothing if a run can be resumed with it.
    pub fn difference(&self, dataset: &Dataset) -> Option<String> {
        let other = Self::of(dataset);
        let numbers = [
            ("samples", self.n_samples, other.n_samples),
            ("features", self.n_features(), other.n_features()),
            ("classes", self.n_classes(), other.n_classes()),
        ];
        for (what, then, now) in numbers {
            if then != now {
                return Some(format!("there were {then} {what}, but now there are {now}"));
            }
        }
        (other != *self).then(|| "samples have other values, classes or groups than then".into())
    }
}

/// Settings without a problem, their data, the folds and what the audit says of them.
#[derive(Clone, Debug)]
pub struct CheckedExperiment {
    experiment: Experiment,
    dataset: Arc<Dataset>,
    facts: Arc<DataFacts>,
    split: Split,
    audit: Arc<Audit>,
    fold_rounds: usize,
    fold_training: Training,
    final_training: Training,
    final_rounds: usize,
    /// What is judged and learned when, in the order of time.
    arrivals: Option<Arc<ArrivalPlan>>,
    /// Inner products that it shares with other experiments on the same samples.
    products: Option<Arc<SharedProducts>>,
}

impl Experiment {
    /// The experiment with its data, if nothing is wrong with it.
    pub fn check(
        mut self,
        dataset: Arc<Dataset>,
    ) -> Result<CheckedExperiment, Vec<SettingProblem>> {
        let problems = self.problems(Some(&dataset));
        if !problems.is_empty() {
            return Err(problems);
        }
        self.split.keep_folds(&dataset);
        let split = self.split.split(&dataset).map_err(|error| {
            vec![SettingProblem {
                field: "split".into(),
                message: error.to_string(),
            }]
        })?;
        let audit = Arc::new(audit(&dataset, &split));
        let (in_folds, in_all) = largest_classes(&dataset, &split);
        let (in_fold, in_final) = trainings(&self, &dataset, &split);
        let arrivals = self.arrivals(&dataset, &split).map(Arc::new);
        Ok(CheckedExperiment {
            fold_rounds: in_fold.n_rounds(&self.learner, in_folds),
            final_rounds: in_final.n_rounds(&self.learner, in_all),
            fold_training: in_fold,
            final_training: in_final,
            arrivals,
            experiment: self,
            facts: Arc::new(DataFacts::of(&dataset)),
            dataset,
            split,
            audit,
            products: None,
        })
    }
}

impl Experiment {
    fn arrivals(&self, dataset: &Dataset, split: &Split) -> Option<ArrivalPlan> {
        let SplitPlan::InTime(order) = &self.split else {
            return None;
        };
        let drops = self.preparation.missing == MissingPolicy::DropSample;
        let is_whole = |sample: usize| dataset.sample(sample).iter().all(|x| x.is_finite());
        let comes =
            |sample: usize| split.test_fold(sample).is_some() && (!drops || is_whole(sample));
        let batch_size = self.learner.batch_size;
        Some(ArrivalPlan::new(dataset, order, comes, batch_size))
    }
}

impl CheckedExperiment {
    /// The settings.
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// The data.
    pub fn dataset(&self) -> &Arc<Dataset> {
        &self.dataset
    }

    /// What results need to know of the data.
    pub fn facts(&self) -> &Arc<DataFacts> {
        &self.facts
    }

    /// The folds.
    pub fn split(&self) -> &Split {
        &self.split
    }

    /// What the audit says of the folds.
    pub fn audit(&self) -> &Arc<Audit> {
        &self.audit
    }

    /// Another experiment on the same samples; what is known of them and of folds that stay
    /// the same is shared.
    pub fn with_experiment(&self, experiment: Experiment) -> Result<Self, Vec<SettingProblem>> {
        if experiment.split != self.experiment.split {
            return experiment.check(self.dataset.clone());
        }
        let problems = experiment.problems(Some(&self.dataset));
        if !problems.is_empty() {
            return Err(problems);
        }
        let (in_folds, in_all) = largest_classes(&self.dataset, &self.split);
        let (in_fold, in_final) = trainings(&experiment, &self.dataset, &self.split);
        Ok(Self {
            fold_rounds: in_fold.n_rounds(&experiment.learner, in_folds),
            final_rounds: in_final.n_rounds(&experiment.learner, in_all),
            fold_training: in_fold,
            final_training: in_final,
            arrivals: experiment
                .arrivals(&self.dataset, &self.split)
                .map(Arc::new),
            experiment,
            ..self.clone()
        })
    }

    /// The same, with inner products that are shared with other experiments.
    pub(super) fn sharing(self, products: Option<Arc<SharedProducts>>) -> Self {
        Self { products, ..self }
    }

    /// The inner products of its samples after a preparation, where they are shared.
    pub(super) fn products(
        &self,
        preparation: Option<&FittedPreparation>,
    ) -> Option<Arc<InnerProducts>> {
        self.products.as_ref()?.of(&self.dataset, preparation)
    }

    /// The samples to learn from and to be judged on.
    pub(super) fn samples_of(&self, part: Part) -> Fold {
        match part {
            Part::Fold(fold) => self.split.fold(fold),
            // In the order of time the final model learns what the fold learns.
            Part::Final if self.arrivals.is_some() => self.split.fold(0),
            Part::Final => Fold {
                train: (0..self.dataset.n_samples()).collect(),
                test: Vec::new(),
            },
        }
    }

    /// Rounds of a part; the same for all folds, so that their curves can be averaged.
    pub fn n_rounds(&self, part: Part) -> usize {
        let n_arrivals = self.arrivals.as_ref().map_or(0, |plan| plan.rounds.len());
        self.n_start_rounds(part) + n_arrivals
    }

    /// Rounds before the first sample comes in the order of time; else all.
    pub(super) fn n_start_rounds(&self, part: Part) -> usize {
        match part {
            Part::Final if self.arrivals.is_none() => self.final_rounds,
            Part::Fold(_) | Part::Final => self.fold_rounds,
        }
    }

    /// How samples are given to the learner of a part.
    pub(super) fn training(&self, part: Part) -> Training {
        match part {
            Part::Final => self.final_training,
            Part::Fold(_) => self.fold_training,
        }
    }

    /// The head of a part.
    pub(super) fn head(&self, part: Part) -> Option<Head> {
        let n_samples = match part {
            Part::Final => self.dataset.n_samples(),
            Part::Fold(_) => n_in_fold(&self.split),
        };
        self.experiment
            .head_in_force(n_samples, self.dataset.n_classes())
    }

    /// What is judged and learned when, in the order of time.
    pub fn arrivals(&self) -> Option<&Arc<ArrivalPlan>> {
        self.arrivals.as_ref()
    }
}

/// How samples are given to the learner of a fold, and of the final model.
fn trainings(experiment: &Experiment, dataset: &Dataset, split: &Split) -> (Training, Training) {
    let in_force = |n_samples| experiment.training_in_force(n_samples, dataset.n_classes());
    (in_force(n_in_fold(split)), in_force(dataset.n_samples()))
}

/// Training samples of a fold: of the first, so that all folds are trained alike.
fn n_in_fold(split: &Split) -> usize {
    match split.n_folds() {
        0 => 0,
        _ => split.fold(0).train.len(),
    }
}

/// Training samples of the largest class: in the fold where it has fewest, and in the whole set.
fn largest_classes(dataset: &Dataset, split: &Split) -> (usize, usize) {
    let counts = dataset.class_counts();
    let mut tested = vec![vec![0; counts.len()]; split.n_folds()];
    for (fold, class) in split.test_folds().zip(dataset.classes()) {
        if let Some(fold) = fold {
            tested[fold][*class] += 1;
        }
    }
    let largest = |tested: &Vec<usize>| {
        let trained = counts.iter().zip(tested).map(|(all, tested)| all - tested);
        trained.max().unwrap_or(0)
    };
    let in_folds = tested.iter().map(largest).min().unwrap_or(0);
    (in_folds, counts.iter().copied().max().unwrap_or(0))
}

/// What is trained: a fold, or the model for new recordings on all samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Part {
    /// A fold, counted from 0.
    Fold(usize),
    /// The final model: trained on all samples, tested on none.
    Final,
}
