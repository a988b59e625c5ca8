//! The split stage: folds and their audit, made anew whenever plan or data change.

use std::sync::Arc;

use super::{Wake, start_job};
use atomscope_engine::dataset::Dataset;
use atomscope_engine::experiment::{Job, JobOutcome};
use atomscope_engine::split::audit::{Audit, audit};
use atomscope_engine::split::{Split, SplitPlan};

/// A group of the data set as the split treats it.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRow {
    /// Its name.
    pub name: String,
    /// The fold that tests it; none where it only trains or is divided.
    pub fold: Option<usize>,
    /// Whether several folds test parts of it.
    pub is_divided: bool,
    /// Its samples.
    pub n_samples: usize,
}

/// Folds that belong to a plan and a data set.
#[derive(Clone, Debug)]
pub struct MadeSplit {
    /// The plan.
    pub plan: SplitPlan,
    /// The folds.
    pub split: Split,
    /// What leaks between them.
    pub audit: Audit,
    /// Every group.
    pub groups: Vec<GroupRow>,
    /// Test samples of each class, fold by fold.
    pub class_counts: Vec<Vec<usize>>,
    dataset: Arc<Dataset>,
}

/// The split stage.
#[derive(Default)]
pub struct SplitStage {
    made: Option<MadeSplit>,
    asked: Option<(SplitPlan, Arc<Dataset>)>,
    job: Option<Job<Result<MadeSplit, String>>>,
    error: Option<String>,
}

impl SplitStage {
    /// The folds, if they belong to the plan asked for last.
    pub fn made(&self) -> Option<&MadeSplit> {
        self.made.as_ref().filter(|_| self.job.is_none())
    }

    /// Why the plan does not fit the data.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Makes the folds of a plan in the background, unless they are there or under way.
    pub(super) fn ask(&mut self, plan: &SplitPlan, dataset: &Arc<Dataset>, wake: &Wake) {
        let is_same =
            |(known, data): &(SplitPlan, Arc<Dataset>)| known == plan && Arc::ptr_eq(data, dataset);
        if self.asked.as_ref().is_some_and(is_same) {
            return;
        }
        self.error = None;
        self.asked = Some((plan.clone(), dataset.clone()));
        let (plan, dataset) = (plan.clone(), dataset.clone());
        self.job = Some(start_job(wake, "splitting", move |_| make(plan, dataset)));
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn poll(&mut self) {
        let Some(outcome) = self.job.as_ref().and_then(Job::take) else {
            return;
        };
        self.job = None;
        self.made = None;
        match outcome {
            JobOutcome::Done(Ok(made)) => self.made = Some(made),
            JobOutcome::Done(Err(message)) | JobOutcome::Failed(message) => {
                self.error = Some(message);
            }
        }
    }
}

fn make(plan: SplitPlan, dataset: Arc<Dataset>) -> Result<MadeSplit, String> {
    let split = plan.split(&dataset).map_err(|error| error.to_string())?;
    let mut class_counts = vec![vec![0; dataset.n_classes()]; split.n_folds()];
    for (fold, class) in split.test_folds().iter().zip(dataset.classes()) {
        if let Some(fold) = fold {
            class_counts[*fold][*class] += 1;
        }
    }
    Ok(MadeSplit {
        audit: audit(&dataset, &split),
        groups: group_rows(&dataset, &split),
        class_counts,
        plan,
        split,
        dataset,
    })
}

fn group_rows(dataset: &Dataset, split: &Split) -> Vec<GroupRow> {
    let Some(groups) = dataset.groups() else {
        return Vec::new();
    };
    let mut rows: Vec<GroupRow> = dataset
        .group_names()
        .iter()
        .map(|name| GroupRow {
            name: name.clone(),
            fold: None,
            is_divided: false,
            n_samples: 0,
        })
        .collect();
    for (group, fold) in groups.iter().zip(split.test_folds()) {
        let row = &mut rows[*group];
        if row.n_samples == 0 {
            row.fold = *fold;
        } else if row.fold != *fold {
            row.is_divided = true;
        }
        row.n_samples += 1;
    }
    rows.retain(|row| row.n_samples > 0);
    for row in &mut rows {
        row.fold = row.fold.filter(|_| !row.is_divided);
    }
    rows
}

impl MadeSplit {
    /// The data it was made for.
    pub fn dataset(&self) -> &Arc<Dataset> {
        &self.dataset
    }
}
