//! The folds and their audit, made anew whenever plan or data change.

use std::sync::Arc;

use super::background::{Answer, Background};
use super::document::Document;
use super::event::Event;
use super::{TaskError, Workbench};
use atomscope_engine::dataset::Dataset;
use atomscope_engine::split::audit::{Audit, audit};
use atomscope_engine::split::{Split, SplitPlan};

/// A group of the data set as the split treats it.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldGroup {
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
    pub groups: Vec<FoldGroup>,
    /// Test samples of each class, fold by fold.
    pub class_counts: Vec<Vec<usize>>,
    dataset: Arc<Dataset>,
}

/// What folds are made for: a plan and the data it deals.
struct WantedFolds {
    plan: SplitPlan,
    dataset: Arc<Dataset>,
}

impl PartialEq for WantedFolds {
    fn eq(&self, other: &Self) -> bool {
        self.plan == other.plan && Arc::ptr_eq(&self.dataset, &other.dataset)
    }
}

/// The folds of the session and their audit.
#[derive(Default)]
pub struct Folds {
    made: Background<WantedFolds, MadeSplit>,
}

impl Folds {
    /// The folds, if they belong to the plan asked for last.
    pub fn made(&self) -> Option<&MadeSplit> {
        let is_current = !self.made.is_busy() && self.made.failure().is_none();
        let made = self.made.shown().filter(|_| is_current);
        made.map(Arc::as_ref)
    }

    /// Why the plan does not fit the data.
    pub fn error(&self) -> Option<&str> {
        self.made.failure()
    }

    pub(super) fn is_busy(&self) -> bool {
        self.made.is_busy()
    }

    pub(super) fn take(&mut self, answer: Answer<MadeSplit>) {
        // What does not fit is said beside the plan.
        drop(self.made.take(answer));
    }
}

impl Workbench {
    /// Makes the folds of the draft, unless they are there or under way.
    pub(super) fn follow_split(&mut self) {
        let Document {
            draft, data, split, ..
        } = &mut self.document;
        let Some(loaded) = data.loaded() else {
            return;
        };
        let wanted = WantedFolds {
            plan: draft.experiment.split.clone(),
            dataset: loaded.dataset.clone(),
        };
        if !split.made.is_wanted(&wanted) {
            let (plan, dataset) = (wanted.plan.clone(), wanted.dataset.clone());
            let on = (&self.tasks.post, "splitting", Event::Split as _);
            split.made.start(wanted, on, move |_| make(plan, dataset));
        }
    }
}

fn make(plan: SplitPlan, dataset: Arc<Dataset>) -> Result<MadeSplit, TaskError> {
    let split = plan.split(&dataset)?;
    let mut class_counts = vec![vec![0; dataset.n_classes()]; split.n_folds()];
    for (fold, class) in split.test_folds().zip(dataset.classes()) {
        if let Some(fold) = fold {
            class_counts[fold][*class] += 1;
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

fn group_rows(dataset: &Dataset, split: &Split) -> Vec<FoldGroup> {
    let Some(groups) = dataset.groups() else {
        return Vec::new();
    };
    let mut rows: Vec<FoldGroup> = dataset
        .group_names()
        .iter()
        .map(|name| FoldGroup {
            name: name.clone(),
            fold: None,
            is_divided: false,
            n_samples: 0,
        })
        .collect();
    for (group, fold) in groups.iter().zip(split.test_folds()) {
        let row = &mut rows[*group];
        if row.n_samples == 0 {
            row.fold = fold;
        } else if row.fold != fold {
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
