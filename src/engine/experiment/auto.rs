//! AUTO: kernel, width, scaling and head chosen on inner folds of training samples.
//!
//! The search sees the training samples of one part of a run alone, so that the score on the held-out
//! samples stays honest. It goes on candidate by candidate in short steps: stage 1 tries every kernel
//! on few samples, stage 2 the best six on more, and stage 3, where there are many samples, the best
//! three on a training nearly as long as the one to come: narrow kernels need many samples, and others
//! are ahead on few and lose what they have while the dictionaries fill.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::calibrating::has_groups;
use super::error::RunTrouble;
use super::settings::{Experiment, Training};
use super::width::training_median;
use crate::dataset::{Dataset, MissingPolicy, Preparation, Scaling};
use crate::evaluation::{Classifier, RankedDecisions, ranked};
use crate::learner::{
    Algorithm, Head, Kernel, LearnError, LearnerSettings, Progress, Radial, SampleStream,
    StepReport, StopSignal, Supply, start_learner,
};
use crate::math::{View, random_stream, shuffle};
use crate::split::{Fold, SplitPlan};

/// Samples of the stages.
const STAGE_SAMPLES: [usize; 3] = [600, 1500, 8000];
/// Training samples from which on there is a third stage.
const LONG_TRAINING: usize = 2500;
/// Fewest samples of a class, where it has so many.
const FEWEST_PER_CLASS: usize = 8;
/// Inner folds that each stage is cut into; the last one trains as long as it can.
const N_FOLDS: [usize; 3] = [3, 3, 5];
/// Inner folds that are trained in each stage …
const FOLDS_TRAINED: [usize; 3] = [3, 2, 1];
/// … but so many where groups, or fewer training samples than this, would leave too much to chance.
const MOST_TRAINED: usize = 3;
const FEW_SAMPLES: [usize; 3] = [700, 1000, 0];
/// Inner folds are dealt again until about so many samples were judged: on small tables one dealing
/// leaves the choice to chance.
const ENOUGH_JUDGED: usize = 2000;
/// Most dealings.
const MOST_DEALINGS: usize = 10;
/// Kernels that reach the stages after the first. Narrow kernels are behind on few samples and ahead on
/// many, so only the hopeless ones are dropped before the last stage.
const N_SURVIVORS: [usize; 2] = [6, 3];
/// Novelty of tables: 1e-3 refuses most samples of few features.
const NOVELTY: f64 = 1e-5;
/// Kept samples of all classes up to which heads with a readout over all samples are tried.
const MOST_JOINT: usize = 1200;

/// The heads that are tried; of equals the first wins.
const HEADS: [Head; 5] = [Head::S4E, Head::S, Head::E, Head::E1, Head::N];
/// The heads that are tried where too many samples are kept to solve for all of them.
const HEADS_OF_MANY: [Head; 2] = [Head::SecondLook, Head::N];

/// Where a class is so many times as large as another, the nearest mean N is not tried: it decides as
/// if classes were equally frequent, and noise in the mean of a small class, which is larger on inner
/// folds than in the training to come, makes up for that there.
const UNBALANCED: usize = 3;

/// The heads that are tried where classes have so many samples and keep at most `budget` of them.
fn heads_for(class_counts: &[usize], budget: usize) -> Vec<Head> {
    let counts = || class_counts.iter().copied().filter(|count| *count > 0);
    let (most, fewest) = (counts().max().unwrap_or(0), counts().min().unwrap_or(0));
    let n_kept: usize = counts().map(|count| count.min(budget)).sum();
    let heads = match n_kept <= MOST_JOINT {
        true => &HEADS[..],
        false => &HEADS_OF_MANY,
    };
    let is_tried = |head: &Head| *head != Head::N || most <= UNBALANCED * fewest;
    heads.iter().copied().filter(is_tried).collect()
}

/// A kernel on features of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The kernel.
    pub kernel: Kernel,
    /// How features are scaled.
    pub scaling: Scaling,
}

/// How a candidate did in a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tried {
    /// 1, 2 or 3.
    pub stage: usize,
    /// The candidate.
    pub candidate: Candidate,
    /// Accuracy of every head on the inner test samples.
    pub heads: Vec<(Head, f64)>,
    /// Inner test samples.
    pub n_tested: usize,
    /// Why it could not be trained, if it could not.
    pub trouble: Option<String>,
}

impl Tried {
    /// The best head with its accuracy; of equals the first.
    pub fn best(&self) -> Option<(Head, f64)> {
        let better = |best: Option<(Head, f64)>, next: &(Head, f64)| match best {
            Some(best) if best.1 >= next.1 => Some(best),
            _ => Some(*next),
        };
        self.heads.iter().fold(None, better)
    }
}

/// What was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoChoice {
    /// Kernel and scaling.
    pub candidate: Candidate,
    /// The head.
    pub head: Head,
    /// Its accuracy on the inner test samples.
    pub accuracy: f64,
    /// Why, in a sentence.
    pub reason: String,
    /// How samples are given to the learner; of choices saved without it, in proportion.
    #[serde(default)]
    pub supply: Supply,
}

/// What was tried so far, and what was chosen at the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoReport {
    /// Every candidate of every stage.
    pub tried: Vec<Tried>,
    /// The choice.
    pub chosen: Option<AutoChoice>,
}

impl AutoReport {
    /// The heads that were tried. What the first of them needs is learned, and with it what all need.
    pub(super) fn heads(&self) -> impl Iterator<Item = Head> + '_ {
        let mut heads = self.tried.iter().map(|tried| &tried.heads);
        let heads = heads.find(|heads| !heads.is_empty());
        heads.into_iter().flatten().map(|(head, _)| *head)
    }
}

impl AutoChoice {
    /// The choice as ordinary settings of a learner, beginning from `base`.
    pub fn learner(&self, base: &LearnerSettings) -> LearnerSettings {
        LearnerSettings {
            kernel: self.candidate.kernel,
            head: Some(self.head),
            gate: self.head.uses_decision_layer(),
            ..auto_base(base)
        }
    }

    /// The choice as ordinary settings of the training.
    pub fn training(&self, base: Training) -> Training {
        Training {
            supply: self.supply,
            ..base
        }
    }

    /// The choice as ordinary settings of the preparation.
    pub fn preparation(&self, base: Preparation) -> Preparation {
        Preparation {
            scaling: self.candidate.scaling,
            ..base
        }
    }
}

/// The settings that AUTO begins from: those of the experiment where they are of its kind.
fn auto_base(base: &LearnerSettings) -> LearnerSettings {
    let mut settings = match base.algorithm.has_decision_layer() {
        true => base.clone(),
        false => LearnerSettings::margin_aware(),
    };
    if let Algorithm::Margin { novelty, .. } = &mut settings.algorithm {
        *novelty = NOVELTY;
    }
    settings
}

/// The kernels that are tried.
fn candidates() -> Vec<Candidate> {
    let gaussian = |multiple: f64, scaling: Scaling| Candidate {
        kernel: Kernel::OfMedian {
            shape: Radial::Gaussian,
            multiple,
        },
        scaling,
    };
    let polynomial = |scaling: Scaling| Candidate {
        kernel: Kernel::NormalisedPolynomial {
            degree: 2,
            offset: 1.0,
        },
        scaling,
    };
    let mut all: Vec<Candidate> = [0.25, 0.5, 1.0, 2.0, 4.0]
        .map(|multiple| gaussian(multiple, Scaling::ClippedZScore))
        .to_vec();
    all.extend([0.4, 1.0].map(|multiple| gaussian(multiple, Scaling::None)));
    all.extend([Scaling::None, Scaling::ClippedZScore].map(polynomial));
    all
}

/// A search in progress.
pub(super) struct AutoSearch {
    dataset: Arc<Dataset>,
    /// The training samples: nothing else is looked at.
    training: Vec<usize>,
    base: LearnerSettings,
    missing: MissingPolicy,
    heads: Vec<Head>,
    /// How samples are given to the learner.
    schedule: Training,
    is_grouped: bool,
    seed: u64,
    stage: TrialStage,
    report: AutoReport,
}

/// A stage in progress.
struct TrialStage {
    number: usize,
    samples: Dataset,
    folds: Vec<Fold>,
    waiting: Vec<Candidate>,
    /// Folds done of the candidate that waits first.
    n_folds_done: usize,
    /// What every head decided: of the candidates done, and of the one that waits first.
    judged: Vec<(Candidate, Head, RankedDecisions)>,
    judging: Vec<RankedDecisions>,
}

impl AutoSearch {
    /// A search on the samples `training` of a data set.
    pub(super) fn new(
        dataset: &Arc<Dataset>,
        training: &[usize],
        experiment: &Experiment,
        schedule: Training,
    ) -> Result<Self, RunTrouble> {
        let base = auto_base(&experiment.learner);
        let seed = experiment.seed;
        let mut class_counts = vec![0; dataset.n_classes()];
        for sample in training {
            class_counts[dataset.classes()[*sample]] += 1;
        }
        let heads = heads_for(&class_counts, base.budget);
        let is_grouped = has_groups(dataset, training);
        let subject = (&**dataset, training);
        let stage = TrialStage::new(subject, 0, candidates(), is_grouped, seed, heads.len())?;
        Ok(Self {
            dataset: dataset.clone(),
            training: training.to_vec(),
            base,
            // Missing values of training samples become the mean of the feature.
            missing: match experiment.preparation.missing {
                MissingPolicy::Refuse => MissingPolicy::TrainingMean,
                other => other,
            },
            heads,
            // One pass, however long the training to come is.
            schedule: Training {
                length: Training::default().length,
                ..schedule
            },
            is_grouped,
            seed,
            stage,
            report: AutoReport::default(),
        })
    }

    /// What was tried so far.
    pub(super) fn report(&self) -> &AutoReport {
        &self.report
    }

    /// Tries the next candidate on the next inner fold. Interrupted, nothing has changed.
    pub(super) fn step(
        &mut self,
        stop: StopSignal<'_>,
        n_threads: usize,
    ) -> Result<(), RunTrouble> {
        let Some(&candidate) = self.stage.waiting.first() else {
            return self.end_stage();
        };
        let fold = &self.stage.folds[self.stage.n_folds_done];
        match self.try_fold(candidate, fold, stop, n_threads) {
            Ok(judged) => {
                let all = self.stage.judging.iter_mut().zip(judged);
                all.for_each(|(all, judged)| all.append(judged));
                self.stage.n_folds_done += 1;
                if self.stage.n_folds_done == self.stage.folds.len() {
                    let tried = self.stage.tried(candidate, &self.heads, None);
                    self.report.tried.push(tried);
                }
            }
            Err(RunTrouble::Learn(LearnError::Interrupted)) => {
                return Err(LearnError::Interrupted.into());
            }
            // A kernel that cannot hold the data is told and passed over.
            Err(trouble) => {
                let tried = self
                    .stage
                    .tried(candidate, &self.heads, Some(trouble.to_string()));
                self.report.tried.push(tried);
            }
        }
        Ok(())
    }

    /// The best go on to the next stage, or are the choice.
    fn end_stage(&mut self) -> Result<(), RunTrouble> {
        let number = self.stage.number + 1;
        let judged = std::mem::take(&mut self.stage.judged);
        let (ways, judged): (Vec<(Candidate, Head)>, Vec<RankedDecisions>) = judged
            .into_iter()
            .map(|(candidate, head, judged)| ((candidate, head), judged))
            .unzip();
        let order = ranked(&judged, self.stage.samples.n_samples());
        let Some(&best) = order.first() else {
            let reasons = self.report.tried.iter().filter_map(|t| t.trouble.clone());
            let first = reasons.into_iter().next().unwrap_or_default();
            return Err(RunTrouble::NothingChosen(first));
        };
        let is_long = self.training.len() >= LONG_TRAINING;
        let n_stages = STAGE_SAMPLES.len() - usize::from(!is_long);
        if number == n_stages {
            let most = judged
                .iter()
                .map(RankedDecisions::accuracy)
                .fold(0.0, f64::max);
            self.choose(ways[best], &judged[best], most);
            return Ok(());
        }
        let mut best: Vec<Candidate> = Vec::new();
        for (candidate, _) in order.into_iter().map(|place| ways[place]) {
            if best.len() < N_SURVIVORS[number - 1] && !best.contains(&candidate) {
                best.push(candidate);
            }
        }
        self.stage = TrialStage::new(
            (&self.dataset, &self.training),
            number,
            best,
            self.is_grouped,
            self.seed,
            self.heads.len(),
        )?;
        Ok(())
    }

    /// The choice, and the accuracy of the most accurate.
    fn choose(
        &mut self,
        (candidate, head): (Candidate, Head),
        judged: &RankedDecisions,
        most: f64,
    ) {
        let n_kernels = candidates().len();
        let by = if self.is_grouped {
            "inner folds by group"
        } else {
            "inner folds"
        };
        let surer = match judged.accuracy() < most {
            true => format!(
                "; {:.1} % were right with another, no more than chance explains, and less surely",
                100.0 * most
            ),
            false => String::new(),
        };
        let only = match self.heads.contains(&HEADS[0]) {
            true => "",
            false => "; too many samples are kept for heads that solve for all of them",
        };
        self.report.chosen = Some(AutoChoice {
            candidate,
            head,
            accuracy: judged.accuracy(),
            supply: self.schedule.supply,
            reason: format!(
                "the best of {n_kernels} kernels on {by} of the training samples: {:.1} % of {} decisions right{surer}{only}",
                100.0 * judged.accuracy(),
                judged.len()
            ),
        });
    }

    /// What every head decides about the test samples of an inner fold.
    fn try_fold(
        &self,
        candidate: Candidate,
        fold: &Fold,
        stop: StopSignal<'_>,
        n_threads: usize,
    ) -> Result<Vec<RankedDecisions>, RunTrouble> {
        let samples = &self.stage.samples;
        let preparation = Preparation {
            missing: self.missing,
            scaling: candidate.scaling,
        };
        let fitted = preparation.fit(samples, &fold.train)?;
        let train = fitted.prepare(samples, &fold.train)?;
        let test = fitted.prepare(samples, &fold.test)?;
        let n_features = samples.n_features();
        let view = View::from_columns(&train.values, n_features);
        let all: Vec<usize> = (0..train.samples.len()).collect();
        // Classes without a training sample are never decided for: their samples count as wrong.
        let mut numbers = vec![None; samples.n_classes()];
        let mut orders: Vec<Vec<usize>> = Vec::new();
        let mut order = all.clone();
        shuffle(&mut order, &mut random_stream(self.seed, "inner order", 0));
        for position in order {
            let class = samples.classes()[train.samples[position]];
            let number = *numbers[class].get_or_insert_with(|| {
                orders.push(Vec::new());
                orders.len() - 1
            });
            orders[number].push(position);
        }
        let largest = orders.iter().map(Vec::len).max().unwrap_or(0);
        let mut settings = LearnerSettings {
            head: Some(self.heads[0]),
            gate: true,
            kernel: candidate.kernel,
            ..self.base.clone()
        };
        if settings.kernel.radial().is_some() {
            let median = training_median(view.into(), &all, Radial::Gaussian, self.seed);
            settings.kernel = settings
                .kernel
                .with_median(median.ok_or(RunTrouble::AllAlike)?);
        }
        let mut stream = SampleStream::new(view, orders, self.schedule.supply)
            .until(stop)
            .on_threads(n_threads);
        let (mut learner, _) = start_learner(&settings, &mut stream, self.seed)?;
        let n_rounds = self.schedule.n_rounds(&settings, largest);
        let mut report = StepReport::default();
        for round in 0..n_rounds {
            let progress = Progress { round, n_rounds };
            learner.step(progress, &mut stream, &mut report)?;
        }
        let classifier = Classifier::of(learner.as_ref()).until(stop);
        let heads: Vec<Option<Head>> = self.heads.iter().copied().map(Some).collect();
        let mut judged = vec![RankedDecisions::default(); heads.len()];
        let positions: Vec<usize> = (0..test.samples.len()).collect();
        let truth = |position: usize| numbers[samples.classes()[test.samples[position]]];
        classifier.compare_heads(
            View::from_columns(&test.values, n_features),
            &positions,
            &heads,
            &mut classifier.work(),
            |found| {
                let class = truth(found.position);
                judged[found.head].push(class, found.verdict().class, found.scores);
            },
        )?;
        Ok(judged)
    }
}

impl TrialStage {
    /// Of samples of a data set.
    fn new(
        (dataset, training): (&Dataset, &[usize]),
        number: usize,
        waiting: Vec<Candidate>,
        is_grouped: bool,
        seed: u64,
        n_heads: usize,
    ) -> Result<Self, RunTrouble> {
        let chosen = stratified((dataset, training), STAGE_SAMPLES[number], seed);
        let samples = dataset.subset(&chosen)?;
        let n_folds = N_FOLDS[number].min(samples.n_samples());
        let plan = |seed: u64| match is_grouped {
            true => SplitPlan::GroupedKFold {
                n_folds: n_folds.min(n_groups(&samples)),
                seed,
                kept: Default::default(),
            },
            false => SplitPlan::KFold { n_folds, seed },
        };
        let all = is_grouped || training.len() < FEW_SAMPLES[number];
        let trained = if all {
            MOST_TRAINED
        } else {
            FOLDS_TRAINED[number]
        };
        let n_dealings = match training.len() < FEW_SAMPLES[number] {
            true => ENOUGH_JUDGED.div_ceil(samples.n_samples().max(1)),
            false => 1,
        };
        let mut folds = Vec::new();
        for dealing in 0..n_dealings.min(MOST_DEALINGS) as u64 {
            // Dealt anew in every stage: the best of one stage was partly lucky with its folds.
            let number = (MOST_DEALINGS * number) as u64 + dealing;
            let split = plan(seed.wrapping_add(number)).split(&samples);
            let split = split.map_err(RunTrouble::InnerSplit)?;
            folds.extend(split.folds().take(trained));
        }
        Ok(Self {
            number,
            folds,
            samples,
            waiting,
            n_folds_done: 0,
            judged: Vec::new(),
            judging: vec![RankedDecisions::default(); n_heads],
        })
    }

    /// What the candidate that waits first came to; the next one is begun.
    fn tried(&mut self, candidate: Candidate, heads: &[Head], trouble: Option<String>) -> Tried {
        let n_tested = self.judging.first().map_or(0, RankedDecisions::len);
        let judged: Vec<RankedDecisions> = self.judging.iter_mut().map(std::mem::take).collect();
        let mut accuracies = Vec::new();
        if trouble.is_none() {
            for (&head, mut judged) in heads.iter().zip(judged) {
                judged.finish();
                accuracies.push((head, judged.accuracy()));
                self.judged.push((candidate, head, judged));
            }
        }
        self.n_folds_done = 0;
        self.waiting.remove(0);
        Tried {
            stage: self.number + 1,
            candidate,
            heads: accuracies,
            n_tested,
            trouble,
        }
    }
}

fn n_groups(dataset: &Dataset) -> usize {
    let groups = dataset.groups().unwrap_or_default();
    let distinct: std::collections::BTreeSet<usize> = groups.iter().copied().collect();
    distinct.len()
}

/// About `count` of the training samples, of every class its share and at least eight, in their order.
fn stratified((dataset, training): (&Dataset, &[usize]), count: usize, seed: u64) -> Vec<usize> {
    let n = training.len();
    let mut by_class = vec![Vec::new(); dataset.n_classes()];
    for (place, sample) in training.iter().enumerate() {
        by_class[dataset.classes()[*sample]].push(place);
    }
    let mut chosen = Vec::with_capacity(count);
    for (class, mut samples) in by_class.into_iter().enumerate() {
        let share = (count as f64 * samples.len() as f64 / n as f64).round() as usize;
        let quota = if n <= count {
            samples.len()
        } else {
            share.max(FEWEST_PER_CLASS).min(samples.len())
        };
        let mut random = random_stream(seed, "inner samples", class as u64);
        shuffle(&mut samples, &mut random);
        chosen.extend_from_slice(&samples[..quota]);
    }
    chosen.sort_unstable();
    chosen
        .iter_mut()
        .for_each(|place| *place = training[*place]);
    chosen
}
