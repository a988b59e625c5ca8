//! Every setting of an experiment as plain data, and what can be wrong with it.

use serde::{Deserialize, Serialize};

use super::declared;
use crate::dataset::{DataPlan, DataSettings, Dataset, Preparation, Scaling};
use crate::evaluation::{Baseline, FasterForgetting};
use crate::features::FeatureRecipe;
use crate::learner::{Head, Kernel, LearnerSettings, Radial, Start, Supply};
use crate::settings::{SettingProblem, SettingProblems};
use crate::split::{HoldOut, SplitPlan};

/// Most mini-batches of a run.
const MOST_BATCHES: usize = declared::BATCHES.legal().1 as usize;

/// Training samples of a small set, at most.
pub(super) const SMALL_SET: usize = 1000;
/// Training samples of a class, on the mean, up to which a decision layer learns nothing that is worth
/// its noise.
const FEW_OF_CLASS: usize = 15;

/// How long a dictionary is trained.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum TrainingLength {
    /// This many mini-batches, or iterations of a batch learner; a class that runs out of
    /// samples begins again.
    Batches(usize),
    /// So often through the training samples of the largest class.
    Passes(f64),
}

/// How the training samples are given to the learner.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// How long.
    pub length: TrainingLength,
    /// How many samples each class gives to a round.
    pub supply: Supply,
}

/// How the learner is judged while it learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tests {
    /// Tests of the held-out samples, evenly over the training, after the one at the start.
    pub n_tests: usize,
    /// Shares of the features that are set to zero in tests of the trained dictionaries.
    pub missing_shares: Vec<f64>,
    /// Whether every mini-batch is classified before it is learned from. The margin-aware
    /// learner does so anyway; for the others it costs time.
    pub prequential: bool,
    /// Whether calibration samples tell what decisions are worth: sets of classes with a promised
    /// coverage, and a flag for what is unlike anything learned. With groups it trains four more
    /// models per fold; so it does for sets of few samples.
    #[serde(default = "switched_on")]
    pub calibrate: bool,
    /// ε: the share of samples whose prediction set may miss their class.
    #[serde(default = "usual_epsilon")]
    pub epsilon: f64,
    /// Simple classifiers beside those that come with every run.
    #[serde(default)]
    pub baselines: Vec<Baseline>,
    /// Whether tests with missing features are repeated with features filled in.
    #[serde(default)]
    pub repair: bool,
}

fn switched_on() -> bool {
    true
}

/// ε of prediction sets that nobody chose a level for.
pub(super) const USUAL_EPSILON: f64 = 0.05;

fn usual_epsilon() -> f64 {
    USUAL_EPSILON
}

/// Everything that determines the result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Where the samples come from and how they are made.
    pub data: DataSettings,
    /// What is done to the features: missing values and scale, fitted on training samples.
    pub preparation: Preparation,
    /// Which samples are learned from and which are held out.
    pub split: SplitPlan,
    /// The learner.
    pub learner: LearnerSettings,
    /// Whether kernel, width, scaling and head are chosen on inner folds of the training samples,
    /// in every fold anew.
    #[serde(default)]
    pub auto: bool,
    /// How long it learns.
    pub training: Training,
    /// How it is judged.
    pub tests: Tests,
    /// In the order of time: what is done about every alarm that says that decisions have become worse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_alarm: Option<FasterForgetting>,
    /// Seed of everything random but the folds: order of the samples, start, zeroed features.
    pub seed: u64,
}

impl Default for Training {
    fn default() -> Self {
        Self {
            length: TrainingLength::Passes(1.0),
            supply: Supply::Proportional,
        }
    }
}

impl Default for Tests {
    fn default() -> Self {
        Self {
            n_tests: 20,
            missing_shares: Vec::new(),
            prequential: true,
            calibrate: true,
            epsilon: usual_epsilon(),
            baselines: Vec::new(),
            repair: false,
        }
    }
}

impl Default for Experiment {
    fn default() -> Self {
        Self {
            data: DataSettings::default(),
            preparation: Preparation::default(),
            split: SplitPlan::KFold {
                n_folds: 5,
                seed: 1,
            },
            learner: LearnerSettings {
                head: Some(Head::S4E),
                gate: true,
                ..LearnerSettings::default()
            },
            auto: false,
            training: Training::default(),
            tests: Tests::default(),
            on_alarm: None,
            seed: 1,
        }
    }
}

impl Experiment {
    /// The default learner on these data.
    pub fn on(data: DataSettings) -> Self {
        Self::default().with_data(data)
    }

    /// The same learner on other data. Features of different nature are brought to one scale;
    /// waveforms and pictures have one already. Groups of EEG features bring kernel and width with them.
    pub fn with_data(mut self, data: DataSettings) -> Self {
        let is_mixed = matches!(data.source, DataPlan::Table(_))
            || matches!(data.recipe, Some(FeatureRecipe::Eeg(_)));
        // Recordings bring the settings of their recipe, tables and arrays have them chosen.
        self.auto = matches!(data.source, DataPlan::Table(_) | DataPlan::Arrays(_));
        let multiple = match &data.recipe {
            Some(FeatureRecipe::EegGroups(recipe)) => Some(recipe.width_of_median()),
            _ => None,
        };
        self.preparation = Preparation {
            scaling: match (multiple, is_mixed) {
                (Some(_), _) => Scaling::Groups,
                (None, true) => Scaling::ZScore,
                (None, false) => Scaling::None,
            },
            ..Preparation::default()
        };
        if let Some(multiple) = multiple {
            self.learner.kernel = Kernel::OfMedian {
                shape: Radial::Gaussian,
                multiple,
            };
            if self.learner.algorithm.has_decision_layer() {
                (self.learner.head, self.learner.gate) = (Some(Head::S4J), false);
            }
        }
        // Given samples are those of other data.
        if matches!(self.learner.start, Start::Given(_)) {
            self.learner.start = LearnerSettings::default().start;
        }
        self.data = data;
        self
    }

    /// The training as it goes with so many samples of so many classes: where settings are chosen for few, or the head is that
    /// of few, one pass gives every sample exactly once. In proportion to the sizes some samples of small
    /// classes are never given, and those that a dictionary began with come again.
    pub(super) fn training_in_force(&self, n_samples: usize, n_classes: usize) -> Training {
        let is_small = match self.auto {
            true => n_samples <= SMALL_SET,
            false => self.head_in_force(n_samples, n_classes) == Some(Head::FewSamples),
        };
        match self.is_one_pass() && is_small {
            true => Training {
                supply: Supply::Once,
                ..self.training
            },
            false => self.training,
        }
    }

    /// The head as it is with so many training samples of so many classes: where nothing else was asked for, that of few
    /// stands in for S + 4 E, as the second look does where many are kept.
    pub(super) fn head_in_force(&self, n_samples: usize, n_classes: usize) -> Option<Head> {
        let LearnerSettings { head, gate, .. } = self.learner;
        let is_usual = head == Some(Head::S4E) && gate && !self.auto && self.is_one_pass();
        match is_usual && n_samples <= FEW_OF_CLASS.saturating_mul(n_classes) {
            true => Some(Head::FewSamples),
            false => head,
        }
    }

    /// Whether the training is the usual pass, in an order of its own.
    fn is_one_pass(&self) -> bool {
        self.training == Training::default() && !matches!(self.split, SplitPlan::InTime(_))
    }

    /// Everything that is wrong, field by field; with the data set also what does not fit it.
    pub fn problems(&self, dataset: Option<&Dataset>) -> Vec<SettingProblem> {
        let mut problems = within("data", self.data.problems());
        problems.extend(within("learner", self.learner.problems()));
        problems.extend(self.training.problems());
        problems.extend(self.tests.problems());
        problems.extend(self.split_problem(dataset));
        problems.extend(self.time_problems());
        problems.extend(dataset.and_then(|dataset| self.start_problem(dataset)));
        problems.extend(dataset.and_then(class_problem));
        problems
    }

    /// What does not go with the order of time.
    fn time_problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        let in_time = matches!(self.split, SplitPlan::InTime(_));
        if let Some(text) = self.on_alarm.and_then(|faster| faster.problem()) {
            problems.require(false, "on_alarm", text);
        }
        let text = "alarms are answered in the order of time only: choose the split InTime";
        problems.require(self.on_alarm.is_none() || in_time, "on_alarm", text.into());
        if in_time {
            let algorithm = &self.learner.algorithm;
            let is_online = !algorithm.is_batch() && !algorithm.is_baseline();
            let text = "this learner takes all samples at once: choose an online one for the order of time";
            problems.require(is_online, "learner.algorithm", text.into());
            let text = "samples tested in the order of time are learned from: leave out tests with missing features";
            let is_empty = self.tests.missing_shares.is_empty();
            problems.require(is_empty, "tests.missing_shares", text.into());
        }
        problems.into_list()
    }

    /// The plan tried on the data set: it knows best what it needs.
    fn split_problem(&self, dataset: Option<&Dataset>) -> Option<SettingProblem> {
        let message = match dataset {
            Some(dataset) => self.split.split(dataset).err()?.to_string(),
            None => match self.split {
                SplitPlan::KFold { n_folds, .. } | SplitPlan::GroupedKFold { n_folds, .. }
                    if n_folds < 2 =>
                {
                    format!("number of folds must be at least 2, but is {n_folds}")
                }
                _ => return None,
            },
        };
        Some(SettingProblem {
            field: "split".into(),
            message,
        })
    }

    fn start_problem(&self, dataset: &Dataset) -> Option<SettingProblem> {
        let Start::Given(lists) = &self.learner.start else {
            return None;
        };
        let n_classes = dataset.n_classes();
        let beyond = lists.iter().flatten().find(|s| **s >= dataset.n_samples());
        let message = match beyond {
            _ if lists.len() != n_classes => format!(
                "start samples are given for {} classes, but there are {n_classes}",
                lists.len()
            ),
            Some(sample) => format!(
                "start sample {sample} does not exist: there are {} samples",
                dataset.n_samples()
            ),
            None => return None,
        };
        Some(SettingProblem {
            field: "learner.start".into(),
            message,
        })
    }

    /// The same experiment with another seed, for the folds too.
    pub fn with_seed(mut self, new_seed: u64) -> Self {
        self.seed = new_seed;
        match &mut self.split {
            SplitPlan::KFold { seed, .. }
            | SplitPlan::GroupedKFold { seed, .. }
            | SplitPlan::HoldOut(HoldOut::Share { seed, .. } | HoldOut::GroupShare { seed, .. }) => {
                *seed = new_seed
            }
            SplitPlan::LeaveOneGroupOut
            | SplitPlan::InTime(_)
            | SplitPlan::HoldOut(HoldOut::Groups { .. } | HoldOut::Time { .. }) => {}
        }
        self
    }
}

impl Training {
    fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        match self.length {
            TrainingLength::Batches(n) => {
                problems.require_within("training.length", n, 1, MOST_BATCHES);
            }
            TrainingLength::Passes(passes) => {
                let (fewest, most) = declared::PASSES.legal();
                problems.require_within("training.length", passes, fewest, most);
            }
        }
        problems.into_list()
    }

    /// Rounds of a training whose largest class has `largest` samples. Samples that the
    /// start has used up are not given again in the first pass. Every step of a batch learner
    /// is a pass.
    pub fn n_rounds(&self, learner: &LearnerSettings, largest: usize) -> usize {
        match self.length {
            TrainingLength::Batches(n) => n,
            TrainingLength::Passes(passes) if learner.algorithm.is_batch() => {
                (passes.ceil() as usize).clamp(1, MOST_BATCHES)
            }
            TrainingLength::Passes(passes) => {
                let given = (passes * largest as f64) as usize;
                let rounds = match self.supply {
                    Supply::Once => {
                        let taken = learner.n_start(largest);
                        given.saturating_sub(taken).div_ceil(learner.batch_size)
                    }
                    _ => {
                        let taken = match learner.start {
                            Start::FarthestFirst { .. } => learner.n_atoms,
                            _ => 0,
                        };
                        given.saturating_sub(taken) / learner.batch_size
                    }
                };
                rounds.clamp(1, MOST_BATCHES)
            }
        }
    }
}

/// There must be something to tell apart.
fn class_problem(dataset: &Dataset) -> Option<SettingProblem> {
    let [only] = dataset.class_names() else {
        return None;
    };
    Some(SettingProblem {
        field: "data".into(),
        message: format!(
            "all samples are of one class, {only}: add samples of another class, or choose another class column or rule"
        ),
    })
}

impl Tests {
    fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        problems.require_legal(&declared::N_TESTS, self.n_tests as f64);
        problems.require_legal(&declared::EPSILON, self.epsilon);
        for share in &self.missing_shares {
            problems.require_within("tests.missing_shares", *share, 0.0, 1.0);
        }
        problems.into_list()
    }

    /// The rounds after which is tested: none at first, all at last, evenly between; 0 tests are one at the end alone.
    pub fn moments(&self, n_rounds: usize) -> Vec<usize> {
        if self.n_tests == 0 {
            return vec![n_rounds];
        }
        let n_tests = self.n_tests as u128;
        let mut moments: Vec<usize> = (0..=n_tests)
            .map(|test| ((test * n_rounds as u128 + n_tests / 2) / n_tests) as usize)
            .collect();
        moments.dedup();
        moments
    }
}

/// Problems of a part under its name in the whole.
pub(super) fn within(part: &str, problems: Vec<SettingProblem>) -> Vec<SettingProblem> {
    problems
        .into_iter()
        .map(|problem| SettingProblem {
            field: format!("{part}.{}", problem.field),
            message: problem.message,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_come_evenly_and_never_twice() {
        let mut tests = Tests::default();
        let moments = tests.moments(60);
        assert_eq!(moments.len(), 21);
        assert_eq!((moments[0], moments[1], moments[20]), (0, 3, 60));
        assert_eq!(tests.moments(7), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(tests.moments(1), [0, 1]);
        tests.n_tests = 0;
        assert_eq!(tests.moments(60), [60]);
    }

    #[test]
    fn rounds_suffice_for_every_sample_once() {
        let learner = LearnerSettings::margin_aware();
        let once = Training {
            supply: Supply::Once,
            ..Training::default()
        };
        // 30 of 331 begin, and half of 33.
        assert_eq!(once.n_rounds(&learner, 331), 31);
        assert_eq!(once.n_rounds(&learner, 33), 2);
    }

    #[test]
    fn a_pass_gives_every_sample_once() {
        let learner = LearnerSettings::margin_aware();
        let training = Training::default();
        assert_eq!(training.n_rounds(&learner, 330), 30);
        assert_eq!(training.n_rounds(&learner, 3), 1);
        let twice = Training {
            length: TrainingLength::Passes(2.0),
            ..training
        };
        assert_eq!(twice.n_rounds(&learner, 330), 63);
        assert_eq!(twice.n_rounds(&LearnerSettings::kmod(), 330), 2);
    }
}
