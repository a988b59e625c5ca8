//! A run as it is shown: everything its worker has told so far, part by part.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use atomscope_engine::evaluation::Confusion;
use atomscope_engine::experiment::{
    AutoReport, DataFacts, Decisions, Experiment, Mail, News, Part, PartRecord, ProfileLog,
    RoundMetric, Run, RunProgress, RunState, RunSummary, SettingChange, Snapshot, Status,
    TestRecord, TrainedModel,
};
use atomscope_engine::learner::LearnerSettings;

/// One part of a run: a fold, or the final model.
#[derive(Clone, Debug, Default)]
pub struct PartView {
    /// Every round so far.
    pub rounds: Vec<RoundMetric>,
    /// Every test so far, with the dictionaries at that moment.
    pub tests: Vec<Arc<TestRecord>>,
    /// Mini-batch and accuracy of every test.
    pub curve: Vec<[f64; 2]>,
    /// What was tried and chosen, where it chooses its settings.
    pub choice: Option<Arc<AutoReport>>,
    /// Everything known of it, when it is complete.
    pub record: Option<Arc<PartRecord>>,
    /// What it has learned, when it is complete.
    pub model: Option<Arc<TrainedModel>>,
    /// Until it is complete: what happened to samples, and what the last test decided.
    log: ProfileLog,
    decisions: Option<Arc<Decisions>>,
}

impl PartView {
    /// What happened to every sample so far.
    pub fn log(&self) -> &ProfileLog {
        self.record.as_ref().map_or(&self.log, |record| &record.log)
    }

    /// What the last test decided about each held-out sample.
    pub fn decisions(&self) -> Option<&Decisions> {
        match &self.record {
            Some(record) => Some(&record.decisions),
            None => self.decisions.as_deref(),
        }
    }

    fn add_test(&mut self, test: Arc<TestRecord>) {
        let accuracy = test.confusion.accuracy().unwrap_or(f64::NAN);
        self.curve.push([test.batch as f64, accuracy]);
        self.tests.push(test);
    }

    fn of_record(record: &Arc<PartRecord>, model: Option<Arc<TrainedModel>>) -> Self {
        let mut view = Self {
            choice: record.auto.clone().map(Arc::new),
            rounds: record.rounds.clone(),
            ..Self::default()
        };
        match model {
            Some(model) => {
                view.record = Some(record.clone());
                view.model = Some(model);
            }
            None => {
                view.log = record.log.clone();
                view.decisions = Some(record.decisions.0.clone());
            }
        }
        for test in &record.tests {
            view.add_test(test.0.clone());
        }
        view
    }

    /// The last test at or before `batch`; the last of all without one.
    pub fn test_at(&self, batch: Option<usize>) -> Option<&Arc<TestRecord>> {
        match batch {
            None => self.tests.last(),
            Some(batch) => self.tests.iter().rev().find(|test| test.batch <= batch),
        }
    }

    /// The rounds up to `batch`; all without one.
    pub fn rounds_until(&self, batch: Option<usize>) -> &[RoundMetric] {
        match batch {
            None => &self.rounds,
            Some(batch) => {
                let end = self.rounds.partition_point(|round| round.batch <= batch);
                &self.rounds[..end]
            }
        }
    }
}

/// The curve of a run that came before, to compare with.
#[derive(Clone, Debug)]
pub struct EarlierRun {
    /// What it was.
    pub name: String,
    /// Mini-batch and mean accuracy over the folds.
    pub curve: Vec<[f64; 2]>,
}

/// A run as it is shown.
#[derive(Clone, Debug)]
pub struct RunView {
    /// The settings it began with.
    pub experiment: Experiment,
    /// What is known of its data.
    pub facts: Arc<DataFacts>,
    /// In which fold each sample is tested.
    pub test_folds: Vec<Option<usize>>,
    /// Rounds of the longest fold.
    pub n_rounds: usize,
    /// What it is doing.
    pub status: Status,
    /// How far it is.
    pub progress: RunProgress,
    /// Parts in training with the rounds each has done.
    pub active: Vec<(Part, usize)>,
    /// Time spent working since it was started or resumed.
    pub worked: Duration,
    /// The newest look at the dictionaries of the first part in training.
    pub live: Option<Arc<Snapshot>>,
    /// Settings changed on the way.
    pub changes: Vec<SettingChange>,
    /// The result over all complete folds.
    pub summary: Option<Arc<RunSummary>>,
    parts: BTreeMap<Part, PartView>,
    planned: Vec<Part>,
    /// Rounds of each part, as far as they are known.
    rounds: BTreeMap<Part, usize>,
    done_before: usize,
    n_samples_seen: u64,
}

impl RunView {
    /// What was tried and chosen in the first part that chooses its settings.
    pub fn choice(&self) -> Option<&AutoReport> {
        self.parts.values().find_map(|part| part.choice.as_deref())
    }

    /// Whether a part still chooses its settings and has learned nothing.
    pub fn is_choosing(&self, part: Part) -> bool {
        let found = self.parts.get(&part);
        found.is_some_and(|part| {
            let choice = part.choice.as_deref();
            part.rounds.is_empty() && choice.is_some_and(|choice| choice.chosen.is_none())
        })
    }

    /// The records of all complete parts.
    pub fn records(&self) -> impl Iterator<Item = &PartRecord> {
        self.parts
            .values()
            .filter_map(|part| part.record.as_deref())
    }

    /// A run of these parts that begins now.
    pub(super) fn begin(run: &Run, planned: &[Part]) -> Self {
        let checked = run.checked();
        let split = checked.split();
        let rounds: BTreeMap<Part, usize> = planned
            .iter()
            .map(|part| (*part, checked.n_rounds(*part)))
            .collect();
        Self {
            experiment: checked.experiment().clone(),
            facts: checked.facts().clone(),
            test_folds: split.test_folds().collect(),
            n_rounds: most_rounds(&rounds),
            rounds,
            status: Status::Running,
            progress: RunProgress::default(),
            active: Vec::new(),
            worked: Duration::ZERO,
            live: None,
            changes: run.changes().to_vec(),
            summary: None,
            parts: BTreeMap::new(),
            planned: planned.to_vec(),
            done_before: 0,
            n_samples_seen: 0,
        }
    }

    /// A run as it was saved.
    pub fn of_state(state: &RunState) -> Self {
        let parts: BTreeMap<Part, PartView> = state
            .parts
            .iter()
            .map(|part| {
                let model = part.model.as_ref().map(|model| model.0.clone());
                let view = PartView::of_record(&part.record.0, model);
                (part.record.part, view)
            })
            .collect();
        let begun = state.parts.iter().map(|part| &part.record);
        let rounds: BTreeMap<Part, usize> =
            begun.map(|record| (record.part, record.n_rounds)).collect();
        let n_rounds = most_rounds(&rounds);
        let n_done: usize = state
            .parts
            .iter()
            .map(|part| match &part.halfway {
                Some(halfway) => halfway.n_rounds_done,
                None if part.model.is_some() => part.record.n_rounds,
                None => part.record.rounds.len(),
            })
            .sum();
        let planned = state.planned.iter();
        let n_planned = planned
            .map(|part| rounds.get(part).copied().unwrap_or(n_rounds))
            .sum();
        let status = match state.is_complete() {
            true => Status::Complete,
            false => Status::Stopped,
        };
        let mut view = Self {
            experiment: state.experiment.clone(),
            facts: state.facts.0.clone(),
            test_folds: state.test_folds.clone(),
            n_rounds,
            status,
            progress: RunProgress { n_done, n_planned },
            active: Vec::new(),
            worked: Duration::ZERO,
            live: None,
            changes: state.changes.clone(),
            summary: None,
            parts,
            planned: state.planned.clone(),
            rounds,
            done_before: n_done,
            n_samples_seen: 0,
        };
        view.summarise();
        view
    }

    /// Goes on with what a worker tells.
    pub(super) fn take(&mut self, mail: &mut Mail) {
        self.status = mail.status.clone();
        self.progress = mail.progress;
        self.worked = mail.worked;
        self.active = std::mem::take(&mut mail.active);
        if let Some(snapshot) = mail.snapshot.take() {
            self.live = Some(snapshot);
        }
        if let Some(changes) = mail.changes.take() {
            self.changes = changes;
        }
        let mut has_completed = false;
        for news in std::mem::take(&mut mail.news) {
            match news {
                News::Round(part, metric, happened) => {
                    let seen = metric.classes.iter().map(|c| c.admitted + c.rejected);
                    self.n_samples_seen += u64::from(seen.sum::<u32>());
                    let part = self.parts.entry(part).or_default();
                    part.rounds.push(metric);
                    part.log.append(happened);
                }
                News::Test(part, test, decisions) => {
                    let part = self.parts.entry(part).or_default();
                    part.add_test(test);
                    part.decisions = Some(decisions);
                }
                News::Choosing(part, report) => {
                    self.parts.entry(part).or_default().choice = Some(report);
                }
                News::Complete(part, record, model) => {
                    *self.parts.entry(part).or_default() =
                        PartView::of_record(&record, Some(model));
                    has_completed = true;
                }
            }
        }
        if has_completed {
            self.summarise();
        }
        if self.status.is_over() {
            self.live = None;
        }
    }

    fn summarise(&mut self) {
        let records = self.parts.values().filter_map(|part| part.record.as_ref());
        let records: Vec<&PartRecord> = records
            .map(Arc::as_ref)
            .filter(|record| record.part != Part::Final)
            .collect();
        self.summary =
            (!records.is_empty()).then(|| Arc::new(RunSummary::of(&self.facts, &records)));
    }

    /// Whether its thread is at work or resting.
    pub fn is_alive(&self) -> bool {
        !self.status.is_over()
    }

    /// Rounds of a part: folds of different size have different numbers of them.
    pub fn rounds_of(&self, part: Part) -> usize {
        self.rounds.get(&part).copied().unwrap_or(self.n_rounds)
    }

    /// A part, if it has begun.
    pub fn part(&self, part: Part) -> Option<&PartView> {
        self.parts.get(&part)
    }

    /// Puts another model in place of the one that a part has learned.
    pub(super) fn replace_model(&mut self, part: Part, model: &Arc<TrainedModel>) {
        if let Some(view) = self.parts.get_mut(&part) {
            view.model = Some(model.clone());
        }
    }

    /// What the complete parts have learned.
    pub fn models(&self) -> impl Iterator<Item = (Part, &Arc<TrainedModel>)> {
        let parts = self.parts.iter();
        parts.filter_map(|(part, view)| Some((*part, view.model.as_ref()?)))
    }

    /// Folds that have begun, with their numbers.
    pub fn folds(&self) -> impl Iterator<Item = (usize, &PartView)> {
        self.parts.iter().filter_map(|(part, view)| match part {
            Part::Fold(fold) => Some((*fold, view)),
            Part::Final => None,
        })
    }

    /// Number of folds planned.
    pub fn n_folds(&self) -> usize {
        let is_fold = |part: &&Part| matches!(part, Part::Fold(_));
        self.planned.iter().filter(is_fold).count()
    }

    /// The fold to look at where none is chosen: the first in training, or else the last that was.
    pub fn current_fold(&self) -> Option<usize> {
        let active = self.active.iter().find_map(|(part, _)| match part {
            Part::Fold(fold) => Some(*fold),
            Part::Final => None,
        });
        active.or_else(|| self.folds().last().map(|(fold, _)| fold))
    }

    /// Mean accuracy over the folds at their last tests.
    pub fn accuracy(&self) -> Option<f64> {
        let tested = self.folds().filter_map(|(_, part)| part.tests.last());
        let values: Vec<f64> = tested
            .filter_map(|test| test.confusion.accuracy())
            .collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The last tests of all folds together.
    pub fn confusion(&self) -> Confusion {
        let mut all = Confusion::new(self.facts.n_classes());
        for (_, part) in self.folds() {
            if let Some(test) = part.tests.last() {
                all.merge(&test.confusion);
            }
        }
        all
    }

    /// Samples learned per second of work.
    pub fn samples_per_s(&self) -> Option<f64> {
        let seconds = self.worked.as_secs_f64();
        (seconds > 0.0 && self.n_samples_seen > 0).then(|| self.n_samples_seen as f64 / seconds)
    }

    /// Seconds of work that are left at the speed so far.
    pub fn seconds_left(&self) -> Option<f64> {
        let done = self.progress.n_done.checked_sub(self.done_before)?;
        let left = self.progress.n_planned.checked_sub(self.progress.n_done)?;
        (done > 0).then(|| self.worked.as_secs_f64() * left as f64 / done as f64)
    }

    /// The settings of the learner that hold now.
    pub fn learner_now(&self) -> &LearnerSettings {
        let last = self.changes.last().map(|change| &change.learner);
        last.unwrap_or(&self.experiment.learner)
    }

    /// Whether `experiment` is what this run was begun with and changed to, or would repeat it.
    pub fn is_of(&self, experiment: &Experiment) -> bool {
        let repeats = !self.is_alive() && *experiment == self.experiment;
        repeats || *experiment == self.experiment_now()
    }

    /// The experiment with the settings that hold now.
    pub fn experiment_now(&self) -> Experiment {
        Experiment {
            learner: self.learner_now().clone(),
            ..self.experiment.clone()
        }
    }

    /// The mean curve, to be kept for comparison; none before the first test.
    pub(super) fn as_earlier(&self, name: String) -> Option<EarlierRun> {
        let mut sums: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
        for (_, part) in self.folds() {
            for test in &part.tests {
                if let Some(accuracy) = test.confusion.accuracy() {
                    let sum = sums.entry(test.batch).or_default();
                    *sum = (sum.0 + accuracy, sum.1 + 1);
                }
            }
        }
        let mean = |(batch, (sum, n)): (usize, (f64, usize))| [batch as f64, sum / n as f64];
        let curve: Vec<[f64; 2]> = sums.into_iter().map(mean).collect();
        (!curve.is_empty()).then_some(EarlierRun { name, curve })
    }
}

/// Rounds of the longest fold; of the final model where there is no fold.
fn most_rounds(rounds: &BTreeMap<Part, usize>) -> usize {
    let folds = rounds.iter().filter(|(part, _)| **part != Part::Final);
    let longest = folds.map(|(_, n_rounds)| *n_rounds).max();
    longest.or(rounds.values().copied().max()).unwrap_or(0)
}
