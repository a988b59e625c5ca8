//! Experiments compared on identical folds, seeds and streams of samples.
//!
//! Folds depend on the classes and groups of the samples and on the seed, the order of the
//! samples on the seed and the fold; neither knows the learner. So with one split, one list of
//! seeds and the same samples every entrant learns from the same stream and is judged on the
//! same held-out samples, and results can be paired fold by fold.

use std::sync::Arc;

use super::checked::{CheckedExperiment, DataFacts};
use super::error::RunError;
use super::fingerprint::Texts;
use super::model::TrainedModel;
use super::record::{PartRecord, Timing};
use super::settings::Experiment;
use super::state::RunState;
use super::summary::{BaselineSummary, CurvePoint, FoldBaselines, TimingSummary, mean_and_sd};
use super::trial::{FoldOutcome, Trial, run_trials};
use super::trial_sequence::{PointProgress, TrialSequence, Watcher};
use crate::dataset::{DataSettings, Dataset};
use crate::evaluation::{Confusion, PairedDifference};
use crate::settings::SettingProblem;
use crate::split::SplitPlan;

/// Somebody who takes part in a comparison.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// What it is called.
    pub name: String,
    /// Its settings.
    pub experiment: Experiment,
    /// Its data.
    pub dataset: Arc<Dataset>,
}

/// Why entrants cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// Nothing to compare.
    #[error("there is nothing to compare: name at least one session")]
    NoEntrants,
    /// No seed was given.
    #[error("at least one seed is needed")]
    NoSeeds,
    /// Settings that do not fit.
    #[error("{name}: {}", in_lines(problems))]
    Settings {
        /// The entrant.
        name: String,
        /// What is wrong.
        problems: Vec<SettingProblem>,
    },
    /// Results of these two could not be paired.
    #[error("{second} cannot be paired with {first}: {difference}")]
    NoPairs {
        /// The first entrant.
        first: String,
        /// The other.
        second: String,
        /// In what they differ.
        difference: String,
    },
}

/// Why a fold has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum FoldFailure {
    /// It could not be trained.
    #[error(transparent)]
    Run(#[from] RunError),
    /// As the worker of a cluster has noted it in its folder.
    #[error("{0}")]
    Noted(String),
}

fn in_lines(problems: &[SettingProblem]) -> String {
    let lines = problems
        .iter()
        .map(|p| format!("{}: {}", p.field, p.message));
    lines.collect::<Vec<_>>().join("; ")
}

/// A comparison that is ready to be run.
#[derive(Debug)]
pub struct ComparisonPlan {
    names: Vec<String>,
    /// Entrant after entrant, seed after seed within each.
    checked: Vec<Arc<CheckedExperiment>>,
    seeds: Vec<u64>,
    remarks: Vec<String>,
}

impl ComparisonPlan {
    /// All entrants on the split of the first, with each of the seeds. Where the own split or
    /// the features of an entrant differ, a remark says so; samples that differ are refused.
    pub fn new(entrants: Vec<Entrant>, seeds: &[u64]) -> Result<Self, ComparisonError> {
        let first = entrants.first().ok_or(ComparisonError::NoEntrants)?;
        if seeds.is_empty() {
            return Err(ComparisonError::NoSeeds);
        }
        let split = first.experiment.split.clone();
        let mut plan = Self {
            names: Vec::with_capacity(entrants.len()),
            checked: Vec::with_capacity(entrants.len() * seeds.len()),
            seeds: seeds.to_vec(),
            remarks: Vec::new(),
        };
        for entrant in entrants {
            plan.admit(entrant, &split)?;
        }
        Ok(plan)
    }

    fn admit(&mut self, entrant: Entrant, split: &SplitPlan) -> Result<(), ComparisonError> {
        let Entrant {
            name,
            mut experiment,
            dataset,
        } = entrant;
        let own_split = experiment.clone().with_seed(0).split;
        experiment.split = split.clone();
        if own_split != experiment.clone().with_seed(0).split {
            self.remarks.push(format!(
                "{name} has another split of its own; here it has that of {}",
                self.names.first().map_or("", String::as_str)
            ));
        }
        for number in 0..self.seeds.len() {
            let wanted = experiment.clone().with_seed(self.seeds[number]);
            let known = self.checked.iter().find(|known| {
                known.experiment().split == wanted.split && Arc::ptr_eq(known.dataset(), &dataset)
            });
            let checked = match known {
                Some(known) => known.with_experiment(wanted),
                None => wanted.check(dataset.clone()),
            };
            let checked = checked.map_err(|problems| ComparisonError::Settings {
                name: name.clone(),
                problems,
            })?;
            if let Some(first) = self.checked.get(number) {
                let difference = pairing_difference(
                    (
                        first.facts(),
                        &first.split().test_folds().collect::<Vec<_>>(),
                    ),
                    (
                        checked.facts(),
                        &checked.split().test_folds().collect::<Vec<_>>(),
                    ),
                );
                if let Some(difference) = difference {
                    return Err(ComparisonError::NoPairs {
                        first: self.names[0].clone(),
                        second: name,
                        difference,
                    });
                }
                if number == 0 && first.facts().fingerprint != checked.facts().fingerprint {
                    self.remarks.push(format!(
                        "{name} sees other features of the same samples than {}",
                        self.names[0]
                    ));
                }
            }
            self.checked.push(Arc::new(checked));
        }
        self.names.push(name);
        Ok(())
    }

    /// Folds that are trained in all.
    pub fn n_trials(&self) -> usize {
        self.trials().len()
    }

    /// A number that changes with the settings, the samples, the folds and the seeds.
    pub fn fingerprint(&self) -> String {
        let mut texts = Texts::default();
        for checked in &self.checked {
            texts.add_samples(checked);
            let mut settings = checked.experiment().clone();
            settings.data = DataSettings::default();
            texts.add(&format!("{settings:?}"));
        }
        texts.in_digits()
    }

    /// What the audit of the split found.
    pub fn audit(&self) -> Vec<String> {
        let findings = self.checked[0].audit().findings.iter();
        findings.map(|finding| finding.text.clone()).collect()
    }

    /// Trains one fold by its number, from its beginning or from where it was saved; nothing if it
    /// was stopped.
    pub fn run_trial(
        &self,
        number: usize,
        saved: Option<PointProgress>,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<FoldOutcome>, RunError> {
        match self.trials().get(number) {
            Some(trial) => TrialSequence::new(saved, watcher).run(trial),
            None => Ok(None),
        }
    }

    fn trials(&self) -> Vec<Trial> {
        let folds = |checked: &Arc<CheckedExperiment>| {
            let checked = checked.clone();
            (0..checked.split().n_folds()).map(move |fold| Trial {
                checked: checked.clone(),
                fold,
                with_baselines: true,
            })
        };
        self.checked.iter().flat_map(folds).collect()
    }

    /// Trains everything. `keep_going` receives the share done and cancels by returning
    /// false: the comparison then holds what was complete by then. A fold that fails is left
    /// out and named.
    pub fn run(&self, n_threads: usize, keep_going: &mut dyn FnMut(f64) -> bool) -> Comparison {
        let outcomes = run_trials(&self.trials(), n_threads, keep_going).into_iter();
        let typed = |outcome: Result<FoldOutcome, RunError>| outcome.map_err(FoldFailure::from);
        self.assemble(outcomes.map(|outcome| outcome.map(typed)).collect())
    }

    /// The comparison of outcomes by the numbers of their folds; those that are missing are not
    /// complete, and those that failed say why.
    pub fn assemble(&self, outcomes: Vec<Option<Result<FoldOutcome, FoldFailure>>>) -> Comparison {
        let per_entrant = outcomes.len() / self.names.len();
        let mut outcomes = outcomes.into_iter();
        let first = &self.checked[0];
        let mut comparison = Comparison {
            n_folds: first.split().n_folds(),
            seeds: self.seeds.clone(),
            rows: Vec::with_capacity(self.names.len()),
            remarks: self.remarks.clone(),
            failures: Vec::new(),
            is_complete: true,
        };
        for (number, name) in self.names.iter().enumerate() {
            let mut complete = Vec::with_capacity(per_entrant);
            for outcome in outcomes.by_ref().take(per_entrant) {
                match outcome {
                    Some(Ok(outcome)) => complete.push(outcome),
                    Some(Err(error)) => comparison.failures.push(format!("{name}: {error}")),
                    None => comparison.is_complete = false,
                }
            }
            note_remarks(&mut comparison.remarks, name, &complete);
            let checked = &self.checked[number * self.seeds.len()];
            comparison.rows.push(ComparedRun::new(
                name.clone(),
                checked.experiment().clone(),
                checked.facts().clone(),
                checked.split().test_folds().collect(),
                complete,
            ));
        }
        comparison.remarks.extend(self.audit());
        comparison
    }
}

fn note_remarks(remarks: &mut Vec<String>, name: &str, outcomes: &[FoldOutcome]) {
    for remark in outcomes.iter().flat_map(|outcome| &outcome.remarks) {
        let remark = format!("{name}: {remark}");
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
}

/// In what the samples or folds of two results differ; nothing if they can be paired.
pub fn pairing_difference(
    first: (&DataFacts, &[Option<usize>]),
    second: (&DataFacts, &[Option<usize>]),
) -> Option<String> {
    let (a, b) = (first.0, second.0);
    if a.class_names != b.class_names {
        return Some(format!(
            "the classes are {}, not {}",
            b.class_names.join(", "),
            a.class_names.join(", ")
        ));
    }
    if a.n_samples != b.n_samples {
        return Some(format!(
            "there are {} samples, not {}",
            b.n_samples, a.n_samples
        ));
    }
    if a.classes != b.classes || a.groups != b.groups {
        return Some("samples belong to other classes or groups".into());
    }
    (first.1 != second.1).then(|| "samples are tested in other folds".into())
}

/// One entrant with what it has come to.
#[derive(Clone, Debug)]
pub struct ComparedRun {
    /// What it is called.
    pub name: String,
    /// Its settings, with the first seed.
    pub experiment: Experiment,
    /// Its data.
    pub facts: Arc<DataFacts>,
    /// In which fold each sample is tested, with the first seed.
    pub test_folds: Arc<[Option<usize>]>,
    /// Every fold of every seed that is complete.
    pub outcomes: Vec<FoldOutcome>,
    /// Means over them.
    pub summary: ComparedSummary,
}

/// Means over folds and seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedSummary {
    /// Accuracy against rounds.
    pub curve: Vec<CurvePoint>,
    /// Accuracy at the last test.
    pub last: Option<CurvePoint>,
    /// The highest point of the mean curve. It was chosen by looking at the test, so it
    /// flatters: `last` is the result.
    pub best: Option<CurvePoint>,
    /// Accuracy against the share of features set to zero.
    pub missing: Vec<CurvePoint>,
    /// Measured times.
    pub timing: TimingSummary,
    /// One round (a mini-batch of every class, or one iteration of a batch learner).
    pub round_us: Option<f64>,
    /// Memory of what classifies, in bytes, mean over folds.
    pub model_bytes: Option<f64>,
    /// All folds and seeds together.
    pub confusion: Confusion,
    /// Simple classifiers on the same features and folds, paired with this entrant over folds and seeds.
    pub baselines: Vec<BaselineSummary>,
}

impl ComparedRun {
    /// An entrant with its outcomes.
    pub fn new(
        name: String,
        experiment: Experiment,
        facts: Arc<DataFacts>,
        test_folds: Arc<[Option<usize>]>,
        outcomes: Vec<FoldOutcome>,
    ) -> Self {
        let summary = ComparedSummary::of(facts.n_classes(), &outcomes);
        Self {
            name,
            experiment,
            facts,
            test_folds,
            outcomes,
            summary,
        }
    }

    /// The complete folds of a run that was trained by itself.
    pub fn of_parts<'a>(
        name: String,
        experiment: &Experiment,
        facts: &Arc<DataFacts>,
        test_folds: &[Option<usize>],
        parts: impl Iterator<Item = (&'a PartRecord, &'a TrainedModel)>,
    ) -> Self {
        let seed = experiment.seed;
        let outcomes = parts.filter_map(|(record, model)| FoldOutcome::of(seed, record, model));
        let outcomes = outcomes.collect();
        let experiment = experiment.clone();
        Self::new(name, experiment, facts.clone(), test_folds.into(), outcomes)
    }

    /// The complete folds of a run as it is saved, with the settings that it is shown by.
    pub fn of_state(name: String, experiment: &Experiment, state: &RunState) -> Self {
        let parts = state.parts.iter().filter_map(|part| {
            let model = part.model.as_ref()?;
            Some((part.record.0.as_ref(), model.0.as_ref()))
        });
        Self::of_parts(name, experiment, &state.facts.0, &state.test_folds, parts)
    }

    /// In what samples or folds differ from those of another run; nothing if the two can be paired.
    pub fn pairing_difference(&self, other: &Self) -> Option<String> {
        pairing_difference(
            (&self.facts, &self.test_folds),
            (&other.facts, &other.test_folds),
        )
    }

    /// Accuracies of this and another run in the folds and seeds that both have.
    pub fn pairs(&self, other: &Self) -> Vec<(f64, f64)> {
        let same = |outcome: &FoldOutcome| {
            let is_same = |o: &&FoldOutcome| (o.seed, o.fold) == (outcome.seed, outcome.fold);
            let other = other.outcomes.iter().find(is_same)?;
            Some((outcome.accuracy(), other.accuracy()))
        };
        self.outcomes.iter().filter_map(same).collect()
    }

    /// This run minus another, paired over folds and seeds.
    pub fn difference(&self, other: &Self) -> Option<PairedDifference> {
        let ratios = self.outcomes.iter().map(|outcome| {
            let (trained, tested) = outcome.n_samples;
            tested as f64 / trained.max(1) as f64
        });
        let (ratio, _) = mean_and_sd(ratios)?;
        PairedDifference::of(&self.pairs(other), ratio)
    }
}

impl ComparedSummary {
    fn of(n_classes: usize, outcomes: &[FoldOutcome]) -> Self {
        let curve = mean_curve(outcomes, |outcome| {
            let points = outcome.curve.iter();
            points
                .map(|(batch, accuracy)| (*batch as f64, *accuracy))
                .collect()
        });
        let last = mean_and_sd(outcomes.iter().map(FoldOutcome::accuracy));
        let at = curve.last().map_or(0.0, |point| point.at);
        let best = curve.iter().copied();
        let mut confusion = Confusion::new(n_classes);
        let mut timing = Timing::default();
        let mut n_rounds = 0;
        for outcome in outcomes {
            confusion.merge(&outcome.confusion);
            timing.add(&outcome.timing);
            n_rounds += outcome.n_rounds;
        }
        let timing = TimingSummary::of(&timing, n_rounds, n_classes);
        Self {
            last: last.map(|(mean, sd)| CurvePoint { at, mean, sd }),
            // Of equals the first.
            best: best.reduce(|best, point| if point.mean > best.mean { point } else { best }),
            curve,
            missing: mean_curve(outcomes, |outcome| outcome.missing.clone()),
            round_us: (n_rounds > 0).then(|| 1e6 * timing.train_s / n_rounds as f64),
            timing,
            model_bytes: mean_and_sd(outcomes.iter().map(|o| o.model_bytes as f64)).map(|(m, _)| m),
            confusion,
            baselines: baselines(outcomes),
        }
    }
}

fn baselines(outcomes: &[FoldOutcome]) -> Vec<BaselineSummary> {
    let folds = outcomes.iter().map(|outcome| FoldBaselines {
        accuracy: Some(outcome.accuracy()),
        n_samples: outcome.n_samples,
        results: &outcome.baselines,
    });
    BaselineSummary::of_folds(&folds.collect::<Vec<_>>())
}

/// The mean of the curves, test by test.
fn mean_curve(
    outcomes: &[FoldOutcome],
    curve: impl Fn(&FoldOutcome) -> Vec<(f64, f64)>,
) -> Vec<CurvePoint> {
    let curves: Vec<Vec<(f64, f64)>> = outcomes.iter().map(curve).collect();
    let longest = curves.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .filter_map(|number| {
            let points = || curves.iter().filter_map(|curve| curve.get(number));
            let (mean, sd) = mean_and_sd(points().map(|point| point.1))?;
            let at = points().map(|point| point.0).fold(0.0, f64::max);
            Some(CurvePoint { at, mean, sd })
        })
        .collect()
}

/// Entrants compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Folds of each seed.
    pub n_folds: usize,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The entrants, in the order given.
    pub rows: Vec<ComparedRun>,
    /// Worth telling the user.
    pub remarks: Vec<String>,
    /// Folds that could not be trained, and why.
    pub failures: Vec<String>,
    /// Whether all folds of all entrants were reached.
    pub is_complete: bool,
}

impl Comparison {
    /// Every pair of entrants by their places, the later one first, with the difference.
    pub fn differences(&self) -> Vec<(usize, usize, PairedDifference)> {
        let pairs = (0..self.rows.len())
            .flat_map(|second| (second + 1..self.rows.len()).map(move |first| (first, second)));
        pairs
            .filter_map(|(first, second)| {
                let difference = self.rows[first].difference(&self.rows[second])?;
                Some((first, second, difference))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
