//! Work cut into points: what a worker computes, and how the points become one result.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::experiment::{
    ComparisonPlan, Entrants, Experiment, FoldFailure, FoldOutcome, PointProgress, PointResult,
    Sweep, SweepPlan, SweepTable, Watcher,
};
use crate::export::{
    PaperReport, SweepResult, comparison_csv, comparison_html, comparison_json, sweep_provenance,
    write_all,
};
use crate::paper::PlannedPart;
use crate::session::{PointStore, SessionError, WorkIdentity};

use super::error::{ClusterError, PointError};

/// Whether a point came to its end, or why it failed.
pub(super) type PointEnd = Result<bool, PointError>;

/// Work cut into points that can be computed in any order, anywhere.
pub trait Work: Sync {
    /// Number of points.
    fn n_points(&self) -> usize;

    /// Settings, samples and folds as a number.
    fn fingerprint(&self) -> String;

    /// What the audit of the split found.
    fn audit(&self) -> Vec<String>;

    /// Opens the store of its points in a folder.
    fn open<'a>(
        &'a self,
        folder: &'a Path,
        identity: &WorkIdentity,
    ) -> Result<Box<dyn Points + 'a>, ClusterError>;
}

/// The points of some work in their folder.
pub trait Points: Sync {
    /// A point can be computed once so many first points are finished.
    fn n_needed(&self, _number: usize) -> usize {
        0
    }

    /// Computes a point and keeps its result; false if it was stopped.
    fn compute(
        &self,
        number: usize,
        saved: Option<PointProgress>,
        watcher: &mut dyn Watcher,
    ) -> PointEnd;

    /// Puts the finished points together and writes the result. `failed` points say why.
    fn merge(&self, failed: &[(usize, String)]) -> Result<(), ClusterError>;
}

/// A sweep.
pub(super) struct SweepWork {
    pub(super) plan: SweepPlan,
    pub(super) experiment: Experiment,
    pub(super) sweep: Sweep,
}

struct SweepPoints<'a> {
    work: &'a SweepWork,
    folder: &'a Path,
    store: PointStore<PointResult>,
    /// The points that go on to a phase of early stopping, once that is known.
    entrants: Mutex<Option<(usize, Arc<Entrants>)>>,
}

impl SweepPoints<'_> {
    /// Who takes part in a phase; the phases before are finished, so it does not change.
    fn entrants(&self, phase: usize) -> Result<Arc<Entrants>, SessionError> {
        let mut known = self.entrants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, entrants)) = &*known
            && *of == phase
        {
            return Ok(entrants.clone());
        }
        let finished = match phase {
            0 => Vec::new(),
            _ => self.store.finished()?,
        };
        let finished: Vec<PointResult> = finished.into_iter().map(|(_, result)| result).collect();
        let entrants = Arc::new(self.work.plan.entrants(phase, &finished));
        *known = Some((phase, entrants.clone()));
        Ok(entrants)
    }
}

impl Work for SweepWork {
    fn n_points(&self) -> usize {
        self.plan.n_tasks()
    }

    fn fingerprint(&self) -> String {
        self.plan.fingerprint()
    }

    fn audit(&self) -> Vec<String> {
        self.plan.audit()
    }

    fn open<'a>(
        &'a self,
        folder: &'a Path,
        identity: &WorkIdentity,
    ) -> Result<Box<dyn Points + 'a>, ClusterError> {
        let store = PointStore::open(folder, identity)?;
        Ok(Box::new(SweepPoints {
            work: self,
            folder,
            store,
            entrants: Mutex::new(None),
        }))
    }
}

impl Points for SweepPoints<'_> {
    fn n_needed(&self, number: usize) -> usize {
        let plan = &self.work.plan;
        plan.tasks_of(plan.phase_of(number)).start
    }

    fn compute(
        &self,
        number: usize,
        saved: Option<PointProgress>,
        watcher: &mut dyn Watcher,
    ) -> PointEnd {
        let plan = &self.work.plan;
        let entrants = self.entrants(plan.phase_of(number))?;
        let result = plan.run_task(number, &entrants, saved, watcher)?;
        keep(&self.store, number, result)
    }

    fn merge(&self, _failed: &[(usize, String)]) -> Result<(), ClusterError> {
        let results = self.store.finished()?.into_iter().map(|(_, result)| result);
        let result = SweepResult {
            provenance: &sweep_provenance(&self.work.experiment, &self.work.sweep),
            table: &SweepTable::of(results.collect()),
            n_points: self.work.plan.n_points(),
        };
        Ok(write_all(self.folder, &result.files())?)
    }
}

fn keep<R: serde::Serialize + serde::de::DeserializeOwned>(
    store: &PointStore<R>,
    number: usize,
    result: Option<R>,
) -> PointEnd {
    match result {
        Some(result) => {
            store.keep(number, &result)?;
            Ok(true)
        }
        None => Ok(false),
    }
}

/// A comparison, or all those of the paper.
pub(super) enum FoldsWork {
    Comparison(ComparisonPlan),
    Paper {
        parts: Vec<PlannedPart>,
        is_quick: bool,
    },
}

struct FoldPoints<'a> {
    work: &'a FoldsWork,
    folder: &'a Path,
    store: PointStore<FoldOutcome>,
}

impl FoldsWork {
    /// The comparisons, one after the other.
    fn plans(&self) -> Vec<&ComparisonPlan> {
        match self {
            Self::Comparison(plan) => vec![plan],
            Self::Paper { parts, .. } => {
                let plans = parts.iter().map(|part| part.plan.as_ref());
                plans.filter_map(Result::ok).collect()
            }
        }
    }
}

impl Work for FoldsWork {
    fn n_points(&self) -> usize {
        self.plans().iter().map(|plan| plan.n_trials()).sum()
    }

    fn fingerprint(&self) -> String {
        let plans = self.plans().into_iter();
        let all: Vec<String> = plans.map(ComparisonPlan::fingerprint).collect();
        all.join("-")
    }

    fn audit(&self) -> Vec<String> {
        let plans = self.plans().into_iter();
        plans.flat_map(ComparisonPlan::audit).collect()
    }

    fn open<'a>(
        &'a self,
        folder: &'a Path,
        identity: &WorkIdentity,
    ) -> Result<Box<dyn Points + 'a>, ClusterError> {
        let store = PointStore::open(folder, identity)?;
        Ok(Box::new(FoldPoints {
            work: self,
            folder,
            store,
        }))
    }
}

impl Points for FoldPoints<'_> {
    fn compute(
        &self,
        number: usize,
        saved: Option<PointProgress>,
        watcher: &mut dyn Watcher,
    ) -> PointEnd {
        let mut within = number;
        for plan in self.work.plans() {
            if within < plan.n_trials() {
                let outcome = plan.run_trial(within, saved, watcher)?;
                return keep(&self.store, number, outcome);
            }
            within -= plan.n_trials();
        }
        Err(PointError::NoPoint(number + 1))
    }

    fn merge(&self, failed: &[(usize, String)]) -> Result<(), ClusterError> {
        let mut outcomes: Vec<Option<Result<FoldOutcome, FoldFailure>>> = Vec::new();
        outcomes.resize_with(self.work.n_points(), || None);
        for (number, error) in failed {
            if let Some(outcome) = outcomes.get_mut(*number) {
                *outcome = Some(Err(FoldFailure::Noted(error.clone())));
            }
        }
        for (number, found) in self.store.finished()? {
            if let Some(outcome) = outcomes.get_mut(number) {
                *outcome = Some(Ok(found));
            }
        }
        let mut outcomes = outcomes.into_iter();
        let mut assemble = |plan: &ComparisonPlan| {
            let n_trials = plan.n_trials();
            plan.assemble(outcomes.by_ref().take(n_trials).collect())
        };
        let files = match self.work {
            FoldsWork::Comparison(plan) => {
                let comparison = assemble(plan);
                vec![
                    (
                        "comparison.json".into(),
                        format!("{:#}\n", comparison_json(&comparison)),
                    ),
                    (
                        "comparison.html".into(),
                        comparison_html(&comparison, "Comparison"),
                    ),
                    ("comparison.csv".into(), comparison_csv(&comparison)),
                ]
            }
            FoldsWork::Paper { parts, is_quick } => {
                let parts = parts.iter().map(|part| part.to_part(&mut assemble));
                let report = PaperReport {
                    parts: parts.collect(),
                    is_quick: *is_quick,
                    is_complete: true,
                };
                report.files()
            }
        };
        Ok(write_all(self.folder, &files)?)
    }
}
