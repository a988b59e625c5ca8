//! One point of a sweep after the other, each judged in all outer folds.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Sweep;
use super::halving::{Effort, Entrants, Halving, best_of_stage, shortened};
use super::points::SweepPoint;
use crate::dataset::{DataSettings, Dataset, DatasetError, SharedProducts};
use crate::experiment::assignment::{AssignmentError, with_settings};
use crate::experiment::checked::CheckedExperiment;
use crate::experiment::comparison::pairing_difference;
use crate::experiment::error::RunError;
use crate::experiment::fingerprint::Texts;
use crate::experiment::settings::{Experiment, Tests};
use crate::experiment::task_pool::TaskList;
use crate::experiment::trial::Trial;
use crate::experiment::trial_sequence::{PointProgress, TrialSequence, Watcher};
use crate::settings::SettingProblem;
use crate::split::{HoldOut, Split, SplitPlan};

/// Why a sweep cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The sweep itself is wrong.
    #[error("{0}")]
    Search(String),
    /// A point names a setting that does not exist, or gives it a value that it cannot have.
    #[error(transparent)]
    Setting(#[from] AssignmentError),
    /// No point can be run.
    #[error("no point of the sweep can be run; the first: {0}")]
    NoPoint(PointProblem),
    /// The base experiment does not fit its data.
    #[error("the session of the sweep does not fit its data: {0}")]
    Base(String),
    /// Data settings of a point give other samples.
    #[error("point {number} has other samples than the session of the sweep: {difference}")]
    OtherSamples {
        /// The point, from 1.
        number: usize,
        /// In what they differ.
        difference: String,
    },
    /// The samples of an outer fold cannot be taken out.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// Training failed.
    #[error("point {number}: {source}")]
    Run {
        /// The point, from 1.
        number: usize,
        /// Why.
        source: Box<RunError>,
    },
    /// A result could not be kept.
    #[error("{0}")]
    Store(String),
}

/// Why a point cannot be run.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PointProblem {
    /// Nobody has read the data that it names.
    #[error("its data were not read")]
    NoData,
    /// Its settings do not fit.
    #[error("{}: {}", .0.field, .0.message)]
    Setting(#[from] SettingProblem),
}

/// What a point came to in one outer fold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OuterResult {
    /// Accuracy on each inner fold: by these the settings are chosen. None where early stopping
    /// has left the point out.
    pub inner: Vec<f64>,
    /// Accuracy on the test samples of the outer fold after learning from all others: it
    /// counts only for the settings chosen by the inner folds. With early stopping it is not
    /// computed for others.
    pub outer: Option<f64>,
}

/// What a point came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointResult {
    /// The settings.
    pub point: SweepPoint,
    /// What of it was computed.
    #[serde(default, skip_serializing_if = "Effort::is_whole")]
    pub effort: Effort,
    /// Why these settings cannot be run, if so; then there are no results.
    pub problem: Option<String>,
    /// One entry per outer fold.
    pub outer: Vec<OuterResult>,
    /// Learning, per mini-batch and dictionary; measured, so it differs from run to run.
    pub train_us_per_batch: Option<f64>,
}

/// Points from which on inner products are kept for all of them: a few use too few pairs of samples.
const MANY_POINTS: usize = 8;

/// The data of one outer fold: its training samples as a set of their own.
struct Inner {
    dataset: Arc<Dataset>,
    plan: SplitPlan,
    split: Split,
    /// The experiment of the session, where it fits: others need not look through the samples again.
    base: Option<CheckedExperiment>,
}

/// A data set that points of the sweep use.
struct World {
    settings: DataSettings,
    outer: CheckedExperiment,
    inner: Vec<Inner>,
    /// Inner products for all points.
    products: Option<Arc<SharedProducts>>,
}

/// A sweep that is ready to be run.
pub struct SweepPlan {
    points: Vec<(SweepPoint, Result<Experiment, PointProblem>)>,
    worlds: Vec<World>,
    n_folds: usize,
    /// What is computed of the points, one phase after the other.
    efforts: Vec<Effort>,
    halving: Option<Halving>,
}

/// Every run of a sweep is tested once, at its end.
fn tested_once() -> Tests {
    Tests {
        n_tests: 0,
        missing_shares: Vec::new(),
        prequential: false,
        calibrate: false,
        ..Tests::default()
    }
}

impl Sweep {
    /// The settings on which the results of a sweep depend beside its samples. What data and
    /// held-out groups are called changes with the place of the session, their samples do not.
    pub fn beside_data(experiment: &Experiment) -> Experiment {
        let mut split = experiment.split.clone();
        if let SplitPlan::HoldOut(HoldOut::Groups { names }) = &mut split {
            names.clear();
        }
        Experiment {
            data: DataSettings::default(),
            split,
            tests: tested_once(),
            ..experiment.clone()
        }
    }
}

impl SweepPlan {
    /// The data settings that the points of a sweep use; the caller reads each.
    pub fn data_settings(
        base: &Experiment,
        sweep: &Sweep,
    ) -> Result<Vec<DataSettings>, SweepError> {
        let mut all = vec![base.data.clone()];
        for point in sweep.search.points()? {
            let experiment = with_settings(base.clone(), &point.assignments())?;
            if !all.contains(&experiment.data) {
                all.push(experiment.data);
            }
        }
        Ok(all)
    }

    /// All points of the sweep on these data.
    pub fn new(
        base: &Experiment,
        sweep: &Sweep,
        data: Vec<(DataSettings, Arc<Dataset>)>,
    ) -> Result<Self, SweepError> {
        let base = Experiment {
            tests: tested_once(),
            ..base.clone()
        };
        let mut worlds: Vec<World> = Vec::with_capacity(data.len());
        let points = sweep.search.points()?;
        for (settings, dataset) in data {
            let mut world = World::new(&base, sweep.inner_folds, settings, dataset)?;
            world.products = (points.len() >= MANY_POINTS).then(Arc::default);
            worlds.push(world);
        }
        if let Some(problem) = sweep.halving.and_then(|halving| halving.problem()) {
            return Err(SweepError::Search(problem));
        }
        let mut plan = Self {
            efforts: sweep.efforts(),
            halving: sweep.halving,
            points: Vec::with_capacity(points.len()),
            n_folds: worlds.first().map_or(0, |world| world.inner.len()),
            worlds,
        };
        for point in points {
            let experiment = with_settings(base.clone(), &point.assignments())?;
            let checked = plan.check(&point, experiment)?;
            plan.points.push((point, checked));
        }
        let first = plan
            .points
            .first()
            .and_then(|(_, checked)| checked.as_ref().err());
        match first {
            Some(problem) if plan.points.iter().all(|(_, checked)| checked.is_err()) => {
                Err(SweepError::NoPoint(problem.clone()))
            }
            _ => Ok(plan),
        }
    }

    /// The experiment, or why it cannot be run; samples that are not the base's are an error.
    fn check(
        &self,
        point: &SweepPoint,
        experiment: Experiment,
    ) -> Result<Result<Experiment, PointProblem>, SweepError> {
        let (Some(world), Some(first)) = (self.world(&experiment), self.worlds.first()) else {
            return Ok(Err(PointProblem::NoData));
        };
        let difference = pairing_difference(
            (
                first.outer.facts(),
                &first.outer.split().test_folds().collect::<Vec<_>>(),
            ),
            (
                world.outer.facts(),
                &world.outer.split().test_folds().collect::<Vec<_>>(),
            ),
        );
        if let Some(difference) = difference {
            return Err(SweepError::OtherSamples {
                number: point.number + 1,
                difference,
            });
        }
        let problems = experiment.problems(Some(world.outer.dataset()));
        Ok(match problems.into_iter().next() {
            None => Ok(experiment),
            Some(problem) => Err(problem.into()),
        })
    }

    fn world(&self, experiment: &Experiment) -> Option<&World> {
        self.worlds
            .iter()
            .find(|world| world.settings == experiment.data)
    }

    /// Number of points.
    pub fn n_points(&self) -> usize {
        self.points.len()
    }

    /// Number of outer folds.
    pub fn n_folds(&self) -> usize {
        self.n_folds
    }

    /// What the audit of the split found.
    pub fn audit(&self) -> Vec<String> {
        let audits = self.worlds.iter().map(|world| world.outer.audit());
        let mut texts: Vec<String> = Vec::new();
        for finding in audits.flat_map(|audit| &audit.findings) {
            if !texts.contains(&finding.text) {
                texts.push(finding.text.clone());
            }
        }
        texts
    }

    /// A number that changes with the settings, the samples and the folds of the sweep, so that
    /// results of another sweep are not taken for its own. Where the data lie is nothing to it.
    pub fn fingerprint(&self) -> String {
        let mut texts = Texts::default();
        for world in &self.worlds {
            texts.add_samples(&world.outer);
            let settings = Sweep::beside_data(world.outer.experiment());
            texts.add(&format!("{settings:?}"));
            for inner in &world.inner {
                texts.add(&format!("{:?}", inner.plan));
                texts.add(&format!(
                    "{:?}",
                    inner.split.test_folds().collect::<Vec<_>>()
                ));
            }
        }
        self.add_points(&mut texts);
        if let Some(halving) = &self.halving {
            texts.add(&format!("{halving:?}"));
        }
        texts.in_digits()
    }

    fn add_points(&self, texts: &mut Texts) {
        for (point, _) in &self.points {
            texts.add(&point.assignments().join("\n"));
        }
    }

    /// How points are stopped early, if they are.
    pub fn halving(&self) -> Option<Halving> {
        self.halving
    }

    /// Number of phases. A phase can begin once all tasks of the phases before are finished;
    /// without early stopping there is one.
    pub fn n_phases(&self) -> usize {
        self.efforts.len()
    }

    /// Number of tasks: every point in every phase.
    pub fn n_tasks(&self) -> usize {
        self.efforts.len() * self.points.len()
    }

    /// The tasks of a phase.
    pub fn tasks_of(&self, phase: usize) -> Range<usize> {
        phase * self.points.len()..(phase + 1) * self.points.len()
    }

    /// The phase of a task.
    pub fn phase_of(&self, task: usize) -> usize {
        task / self.points.len()
    }

    /// The task that a result is of.
    pub fn task_of(&self, result: &PointResult) -> usize {
        let phase = self.efforts.iter().position(|own| *own == result.effort);
        phase.unwrap_or(0) * self.points.len() + result.point.number
    }

    /// The points that are computed in a phase, as the results of the phase before say.
    pub fn entrants(&self, phase: usize, finished: &[PointResult]) -> Entrants {
        let before = phase.checked_sub(1).map(|before| self.efforts[before]);
        let (Some(before), Some(halving)) = (before, self.halving) else {
            let all: Vec<usize> = (0..self.points.len()).collect();
            return Entrants(vec![all; self.n_folds]);
        };
        let n_kept = |n_points| match self.efforts[phase] {
            Effort::Choice => 1,
            _ => halving.n_kept(n_points),
        };
        best_of_stage(before, finished, self.n_folds, n_kept)
    }

    /// Runs tasks of one phase, as many at once as there are threads, and hands over each result
    /// as soon as it is there. `known` are the results of the phases before. Whether all came to
    /// their end.
    pub fn run(
        &self,
        tasks: &[usize],
        known: &[PointResult],
        n_threads: usize,
        keep_going: &mut dyn FnMut(f64) -> bool,
        finished: &mut dyn FnMut(PointResult) -> Result<(), SweepError>,
    ) -> Result<bool, SweepError> {
        let Some(first) = tasks.first() else {
            return Ok(true);
        };
        let entrants = self.entrants(self.phase_of(*first), known);
        let all = TaskList {
            n_tasks: tasks.len(),
            n_units: tasks
                .iter()
                .map(|task| self.n_units(*task, &entrants))
                .sum(),
            work: &|task, mut watch| self.run_task(tasks[task], &entrants, None, &mut watch),
        };
        all.work_through(n_threads, keep_going, &mut |_, result| finished(result))
    }

    /// Rounds of a task, roughly: inner folds have a little less.
    fn n_units(&self, task: usize, entrants: &Entrants) -> u64 {
        let (point, experiment) = &self.points[task % self.points.len()];
        let Ok(experiment) = experiment else {
            return 0;
        };
        let Some(world) = self.world(experiment) else {
            return 0;
        };
        let rounds = world.outer.with_experiment(experiment.clone());
        let rounds = rounds.map_or(0, |checked| {
            checked.n_rounds(crate::experiment::Part::Fold(0))
        });
        let folds = (0..self.n_folds).filter(|fold| entrants.has(*fold, point.number));
        let n_inner = |fold: usize| world.inner[fold].split.n_folds();
        let of_fold = |fold: usize| match self.efforts[self.phase_of(task)] {
            Effort::Whole => (n_inner(fold) + 1) * rounds,
            Effort::Stage { part, .. } => n_inner(fold) * rounds / part,
            Effort::Choice => rounds,
        };
        folds.map(of_fold).sum::<usize>() as u64
    }

    /// Computes one task, from its beginning or from where it was saved; nothing if it was stopped.
    pub fn run_task(
        &self,
        task: usize,
        entrants: &Entrants,
        saved: Option<PointProgress>,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<PointResult>, SweepError> {
        let effort = self.efforts[self.phase_of(task)];
        let (point, experiment) = &self.points[task % self.points.len()];
        let mut result = PointResult {
            point: point.clone(),
            effort,
            problem: None,
            outer: Vec::with_capacity(self.n_folds),
            train_us_per_batch: None,
        };
        let is_in = |fold: usize| entrants.has(fold, point.number);
        let experiment = match experiment {
            Ok(experiment) => experiment,
            Err(problem) => {
                result.problem = (0..self.n_folds).any(is_in).then(|| problem.to_string());
                return Ok(Some(result));
            }
        };
        let Some(world) = self.world(experiment) else {
            return Ok(None);
        };
        let mut trials = TrialSequence::new(saved, watcher);
        for fold in 0..self.n_folds {
            if !is_in(fold) {
                result.outer.push(OuterResult::default());
                continue;
            }
            let Some(found) = world.judge(experiment, fold, effort, &mut trials) else {
                return Ok(None);
            };
            match found {
                Ok(found) => result.outer.push(found),
                // Settings that fit all samples may not fit the few of an inner fold.
                Err(Trouble::Unfit(problem)) => {
                    result.outer.clear();
                    result.problem = Some(problem);
                    return Ok(Some(result));
                }
                Err(Trouble::Run(source)) => {
                    let number = point.number + 1;
                    return Err(SweepError::Run { number, source });
                }
            }
        }
        let outcomes = trials.outcomes().iter();
        let n_batches: usize = outcomes
            .clone()
            .map(|o| o.n_rounds * o.confusion.n_classes())
            .sum();
        let spent = outcomes.map(|o| (o.timing.growing + o.timing.pruning).as_secs_f64());
        let spent: f64 = spent.sum();
        result.train_us_per_batch = (n_batches > 0).then(|| 1e6 * spent / n_batches as f64);
        Ok(Some(result))
    }
}

/// Why a point has no result.
enum Trouble {
    Unfit(String),
    Run(Box<RunError>),
}

impl World {
    fn new(
        base: &Experiment,
        inner_folds: usize,
        settings: DataSettings,
        dataset: Arc<Dataset>,
    ) -> Result<Self, SweepError> {
        let experiment = Experiment {
            data: settings.clone(),
            ..base.clone()
        };
        let outer = experiment.clone().check(dataset).map_err(|problems| {
            let lines = problems
                .iter()
                .map(|p| format!("{}: {}", p.field, p.message));
            SweepError::Base(lines.collect::<Vec<_>>().join("; "))
        })?;
        let mut inner = Vec::with_capacity(outer.split().n_folds());
        for fold in outer.split().folds() {
            let dataset = Arc::new(outer.dataset().subset(&fold.train)?);
            let plan = inner_plan(&base.split, inner_folds, base.seed);
            let split = plan
                .split(&dataset)
                .map_err(|error| SweepError::Base(format!("inner folds: {error}")))?;
            let within = Experiment {
                split: plan.clone(),
                ..experiment.clone()
            };
            inner.push(Inner {
                base: within.check(dataset.clone()).ok(),
                dataset,
                plan,
                split,
            });
        }
        Ok(Self {
            settings,
            outer,
            inner,
            products: None,
        })
    }

    /// Inner folds, then the outer one, or those of them that are asked for; nothing if cancelled.
    fn judge(
        &self,
        experiment: &Experiment,
        fold: usize,
        effort: Effort,
        trials: &mut TrialSequence<'_>,
    ) -> Option<Result<OuterResult, Trouble>> {
        let (inner, outer) = match self.trials(experiment, fold, effort) {
            Ok(found) => found,
            Err(trouble) => return Some(Err(trouble)),
        };
        let mut found = OuterResult::default();
        for (trial, is_outer) in inner
            .iter()
            .map(|trial| (trial, false))
            .chain(outer.iter().map(|trial| (trial, true)))
        {
            match trials.run(trial) {
                Ok(None) => return None,
                Ok(Some(outcome)) if is_outer => found.outer = Some(outcome.accuracy()),
                Ok(Some(outcome)) => found.inner.push(outcome.accuracy()),
                Err(error) => return Some(Err(Trouble::Run(Box::new(error)))),
            }
        }
        Some(Ok(found))
    }

    /// What is trained on inner folds and on the outer one.
    fn trials(
        &self,
        experiment: &Experiment,
        fold: usize,
        effort: Effort,
    ) -> Result<(Vec<Trial>, Option<Trial>), Trouble> {
        let part = match effort {
            Effort::Whole => Some(1),
            Effort::Stage { part, .. } => Some(part),
            Effort::Choice => None,
        };
        let trial = |checked: &Arc<CheckedExperiment>, fold| Trial {
            checked: checked.clone(),
            fold,
            with_baselines: false,
        };
        let inner = match part {
            None => Vec::new(),
            Some(part) => {
                let world = &self.inner[fold];
                let within = Experiment {
                    split: world.plan.clone(),
                    training: shortened(experiment.training, part),
                    ..experiment.clone()
                };
                let checked = match &world.base {
                    Some(base) => base.with_experiment(within),
                    None => within.check(world.dataset.clone()),
                };
                let checked = checked.map_err(|problems| unfit(&problems))?;
                let inner = Arc::new(checked.sharing(self.products.clone()));
                let folds = 0..inner.split().n_folds();
                folds.map(|fold| trial(&inner, fold)).collect()
            }
        };
        if matches!(effort, Effort::Stage { .. }) {
            return Ok((inner, None));
        }
        let checked = self.outer.with_experiment(experiment.clone());
        let checked = checked.map_err(|problems| unfit(&problems))?;
        let outer = Arc::new(checked.sharing(self.products.clone()));
        Ok((inner, Some(trial(&outer, fold))))
    }
}

fn unfit(problems: &[crate::settings::SettingProblem]) -> Trouble {
    let lines = problems
        .iter()
        .map(|p| format!("{}: {}", p.field, p.message));
    Trouble::Unfit(lines.collect::<Vec<_>>().join("; "))
}

/// Inner folds of the same kind as the outer ones: what is never divided outside is not divided inside.
fn inner_plan(outer: &SplitPlan, n_folds: usize, seed: u64) -> SplitPlan {
    match outer {
        SplitPlan::KFold { .. } | SplitPlan::HoldOut(HoldOut::Share { .. }) => {
            SplitPlan::KFold { n_folds, seed }
        }
        SplitPlan::GroupedKFold { .. }
        | SplitPlan::LeaveOneGroupOut
        | SplitPlan::HoldOut(HoldOut::GroupShare { .. } | HoldOut::Groups { .. }) => {
            SplitPlan::grouped(n_folds, seed)
        }
        SplitPlan::InTime(order) => SplitPlan::InTime(*order),
        SplitPlan::HoldOut(HoldOut::Time { test_share }) => SplitPlan::HoldOut(HoldOut::Time {
            test_share: *test_share,
        }),
    }
}
