//! One point of a sweep after the other, each judged in all outer folds.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Sweep;
use super::points::SweepPoint;
use crate::dataset::{DataSettings, Dataset, DatasetError};
use crate::experiment::assignment::with_settings;
use crate::experiment::checked::CheckedExperiment;
use crate::experiment::comparison::pairing_difference;
use crate::experiment::error::RunError;
use crate::experiment::fingerprint::Texts;
use crate::experiment::settings::{Experiment, Tests};
use crate::experiment::task_pool::Tasks;
use crate::experiment::trial::Trial;
use crate::experiment::trial_sequence::{PointProgress, TrialSequence, Watcher};
use crate::split::{HoldOut, Split, SplitPlan};

/// Why a sweep cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The sweep itself is wrong.
    #[error("{0}")]
    Search(String),
    /// No point can be run.
    #[error("no point of the sweep can be run; the first: {0}")]
    NoPoint(String),
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

/// What a point came to in one outer fold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OuterResult {
    /// Accuracy on each inner fold: by these the settings are chosen.
    pub inner: Vec<f64>,
    /// Accuracy on the test samples of the outer fold after learning from all others: it
    /// counts only for the settings chosen by the inner folds.
    pub outer: f64,
}

/// What a point came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointResult {
    /// The settings.
    pub point: SweepPoint,
    /// Why these settings cannot be run, if so; then there are no results.
    pub problem: Option<String>,
    /// One entry per outer fold.
    pub outer: Vec<OuterResult>,
    /// Learning, per mini-batch and dictionary; measured, so it differs from run to run.
    pub train_us_per_batch: Option<f64>,
}

/// The data of one outer fold: its training samples as a set of their own.
struct Inner {
    dataset: Arc<Dataset>,
    plan: SplitPlan,
    split: Split,
}

/// A data set that points of the sweep use.
struct World {
    settings: DataSettings,
    outer: CheckedExperiment,
    inner: Vec<Inner>,
}

/// A sweep that is ready to be run.
pub struct SweepPlan {
    points: Vec<(SweepPoint, Result<Experiment, String>)>,
    worlds: Vec<World>,
    n_folds: usize,
}

/// Every run of a sweep is tested once, at its end.
fn tested_once() -> Tests {
    Tests {
        n_tests: 1,
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
        for point in sweep.search.points().map_err(SweepError::Search)? {
            let experiment =
                with_settings(base.clone(), &point.assignments()).map_err(SweepError::Search)?;
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
        for (settings, dataset) in data {
            worlds.push(World::new(&base, sweep.inner_folds, settings, dataset)?);
        }
        let points = sweep.search.points().map_err(SweepError::Search)?;
        let mut plan = Self {
            points: Vec::with_capacity(points.len()),
            n_folds: worlds.first().map_or(0, |world| world.inner.len()),
            worlds,
        };
        for point in points {
            let experiment = with_settings(base.clone(), &point.assignments());
            let experiment = experiment.map_err(SweepError::Search)?;
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
    ) -> Result<Result<Experiment, String>, SweepError> {
        let (Some(world), Some(first)) = (self.world(&experiment), self.worlds.first()) else {
            return Ok(Err("its data were not read".into()));
        };
        let difference = pairing_difference(
            (first.outer.facts(), first.outer.split().test_folds()),
            (world.outer.facts(), world.outer.split().test_folds()),
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
            Some(problem) => Err(format!("{}: {}", problem.field, problem.message)),
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
                texts.add(&format!("{:?}", inner.split.test_folds()));
            }
        }
        self.add_points(&mut texts);
        texts.in_digits()
    }

    fn add_points(&self, texts: &mut Texts) {
        for (point, _) in &self.points {
            texts.add(&point.assignments().join("\n"));
        }
    }

    /// Runs those points whose numbers are given, as many at once as there are threads, and
    /// hands over each result as soon as it is there. Whether all came to their end.
    pub fn run(
        &self,
        numbers: &[usize],
        n_threads: usize,
        keep_going: &mut dyn FnMut(f64) -> bool,
        finished: &mut dyn FnMut(PointResult) -> Result<(), SweepError>,
    ) -> Result<bool, SweepError> {
        let tasks = Tasks {
            n_tasks: numbers.len(),
            n_units: numbers.iter().map(|number| self.n_units(*number)).sum(),
            work: &|task, mut watch| self.run_point(numbers[task], None, &mut watch),
        };
        tasks.work_through(n_threads, keep_going, &mut |_, result| finished(result))
    }

    /// Rounds of a point, roughly: inner folds have a little less.
    fn n_units(&self, number: usize) -> u64 {
        let (_, experiment) = &self.points[number];
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
        let n_inner: usize = world.inner.iter().map(|inner| inner.split.n_folds()).sum();
        ((n_inner + self.n_folds) * rounds) as u64
    }

    /// Computes one point, from its beginning or from where it was saved; nothing if it was stopped.
    pub fn run_point(
        &self,
        number: usize,
        saved: Option<PointProgress>,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<PointResult>, SweepError> {
        let (point, experiment) = &self.points[number];
        let mut result = PointResult {
            point: point.clone(),
            problem: None,
            outer: Vec::with_capacity(self.n_folds),
            train_us_per_batch: None,
        };
        let experiment = match experiment {
            Ok(experiment) => experiment,
            Err(problem) => {
                result.problem = Some(problem.clone());
                return Ok(Some(result));
            }
        };
        let Some(world) = self.world(experiment) else {
            return Ok(None);
        };
        let mut trials = TrialSequence::new(saved, watcher);
        for fold in 0..self.n_folds {
            let Some(found) = world.judge(experiment, fold, &mut trials) else {
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
                    let number = number + 1;
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
        let outer = experiment.check(dataset).map_err(|problems| {
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
            inner.push(Inner {
                dataset,
                plan,
                split,
            });
        }
        Ok(Self {
            settings,
            outer,
            inner,
        })
    }

    /// Inner folds, then the outer one; nothing if cancelled.
    fn judge(
        &self,
        experiment: &Experiment,
        fold: usize,
        trials: &mut TrialSequence<'_>,
    ) -> Option<Result<OuterResult, Trouble>> {
        let world = &self.inner[fold];
        let within = Experiment {
            split: world.plan.clone(),
            ..experiment.clone()
        };
        let inner = match within.check(world.dataset.clone()) {
            Ok(checked) => Arc::new(checked),
            Err(problems) => return Some(Err(unfit(&problems))),
        };
        let outer = match self.outer.with_experiment(experiment.clone()) {
            Ok(checked) => Arc::new(checked),
            Err(problems) => return Some(Err(unfit(&problems))),
        };
        let inner_trials = (0..inner.split().n_folds()).map(|fold| Trial {
            checked: inner.clone(),
            fold,
            with_baselines: false,
        });
        let last = Trial {
            checked: outer,
            fold,
            with_baselines: false,
        };
        let mut accuracies = Vec::new();
        for trial in inner_trials.chain([last]) {
            match trials.run(&trial) {
                Ok(None) => return None,
                Ok(Some(outcome)) => accuracies.push(outcome.accuracy()),
                Err(error) => return Some(Err(Trouble::Run(Box::new(error)))),
            }
        }
        let outer = accuracies.pop().unwrap_or(0.0);
        Some(Ok(OuterResult {
            inner: accuracies,
            outer,
        }))
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
