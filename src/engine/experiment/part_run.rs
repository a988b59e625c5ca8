//! The training of one part of a run (a fold, or the final model) as a sequence of short
//! steps: prepare, start, then rounds and tests in turn.

mod calibration;
mod choosing;
mod in_time;
mod test;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::auto::{AutoReport, AutoSearch};
use super::calibrating::{Assessor, CalibrationRecord, HeldOut};
use super::checked::{CheckedExperiment, Part};
use super::error::{RunError, RunTrouble};
use super::model::TrainedModel;
use super::record::{Decisions, PartRecord, ProfileEvent, ProfileLog, RoundMetric, TestRecord};
use super::shared::Shared;
use super::snapshot::Snapshot;
use super::state::{Halfway, SampleChange, SettingChange};
use super::testing::{TestMemory, TestProgress, sample_operations};
use super::width::{blindness, training_median};
use crate::dataset::{Columns, Dataset, FittedPreparation, InnerProducts, Scaling};
use crate::evaluation::{Calibration, Classifier, Imputation, Verdict, readout_without_own_group};
use crate::learner::{
    Algorithm, Dictionary, Head, Kernel, LearnError, Learner, LearnerSettings, Progress, Repair,
    SampleStream, StepReport, StopSignal, StreamState, resume_learner, start_learner,
};
use crate::math::{random_stream, shuffle};
use crate::records::counted;
use crate::split::Fold;

/// Floating-point operations after which a part looks up: a few milliseconds.
const SLICE: f64 = 1e8;

/// Classes that are named one by one in remarks.
const MOST_NAMED: usize = 3;

/// How far a part goes before it looks up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One round and the test that follows it, if one is due.
    Round,
    /// Some milliseconds of work.
    Slice,
}

/// Something that happened and is worth showing.
#[derive(Clone, Debug)]
pub enum News {
    /// A round was learned; with what happened to samples since the round before.
    Round(Part, RoundMetric, ProfileLog),
    /// The held-out samples were tested; with what was decided about each.
    Test(Part, Arc<TestRecord>, Arc<Decisions>),
    /// Settings are being chosen: what was tried so far.
    Choosing(Part, Arc<AutoReport>),
    /// A part is complete.
    Complete(Part, Arc<PartRecord>, Arc<TrainedModel>),
}

/// What a run does beside learning and testing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extras {
    pub(super) calibration: bool,
    pub(super) baselines: bool,
}

impl Extras {
    pub(super) const ALL: Self = Self {
        calibration: true,
        baselines: true,
    };
}

/// What all parts of a run have in common.
#[derive(Clone, Copy)]
pub(super) struct PartContext<'a> {
    pub(super) checked: &'a CheckedExperiment,
    pub(super) changes: &'a [SettingChange],
    pub(super) samples: &'a [SampleChange],
    /// Threads that a part may use.
    pub(super) n_threads: usize,
    /// What is wanted beside the score.
    pub(super) extras: Extras,
    /// Raised when the run is to end as soon as it can.
    pub(super) stop: StopSignal<'a>,
}

/// One part in training.
pub(super) struct PartRun {
    pub(super) part: Part,
    fold: Fold,
    values: FeatureValues,
    preparation: Option<FittedPreparation>,
    /// The kernel with its width in numbers.
    kernel: Kernel,
    /// The head, where it is not changed on the way.
    head: Option<Head>,
    learner: Option<Box<dyn Learner>>,
    stream: Option<StreamState>,
    moments: Vec<usize>,
    next_round: usize,
    phase: Phase,
    /// Of the rounds learned last.
    reports: Vec<StepReport>,
    /// For every sample of the data set the round in which it was admitted last.
    entered: Vec<u32>,
    pub(super) record: PartRecord,
    upcoming: Vec<usize>,
    /// Where the stream stood before the round at hand.
    places: Vec<usize>,
    /// Entries of the log that were told.
    n_told: usize,
    /// Samples judged for the calibration so far.
    judged: Option<CalibrationRecord>,
    /// Whether the calibration is over, with or without a result.
    is_calibrated: bool,
    calibration: Option<Shared<Calibration>>,
    assessor: Option<Box<Assessor>>,
    /// Fills in missing features, once they were asked for.
    imputation: Option<Box<(Imputation, Vec<f64>)>>,
    /// Whether missing values of held-out samples were filled in by what was learned.
    is_filled: bool,
    /// Kernel values that tests have in common; not saved, for they can be computed again.
    test_memory: TestMemory,
    /// Changes of settings that the rule about alarms asks for, from the next round on.
    pub(super) wanted_changes: Vec<LearnerSettings>,
}

enum Phase {
    Choose(Box<AutoSearch>),
    Calibrate(Box<HeldOut>),
    Prepare,
    Start,
    Train,
    Test(Box<TestProgress>),
    Complete,
}

/// The features of all samples as the learner sees them, addressed as in the data set.
struct FeatureValues {
    dataset: Arc<Dataset>,
    /// None where it changes nothing.
    preparation: Option<FittedPreparation>,
    /// Samples whose missing values were filled in by what was learned.
    filled: BTreeMap<usize, Vec<f64>>,
    /// Inner products that are shared with other trainings.
    products: Option<Arc<InnerProducts>>,
}

impl FeatureValues {
    fn columns(&self) -> Columns<'_> {
        let columns = match &self.preparation {
            Some(preparation) => Columns::prepared(&self.dataset, preparation, &self.filled),
            None => Columns::of(&self.dataset),
        };
        // What was filled in is known to this training alone.
        let products = self.products.as_ref();
        columns.with_products(products.filter(|_| self.filled.is_empty()))
    }
}

impl PartRun {
    pub(super) fn new(checked: &CheckedExperiment, part: Part) -> Self {
        let n_rounds = checked.n_rounds(part);
        let fold = checked.samples_of(part);
        let tests = &checked.experiment().tests;
        let moments = match part {
            Part::Fold(_) if checked.arrivals().is_some() => {
                let n_start = checked.n_start_rounds(part);
                let mut moments = tests.moments(n_rounds - n_start);
                // Before the first sample came there is nothing to tell.
                moments.retain(|moment| *moment > 0 || n_rounds == n_start);
                moments.into_iter().map(|m| n_start + m).collect()
            }
            Part::Fold(_) => tests.moments(n_rounds),
            Part::Final => Vec::new(),
        };
        Self {
            part,
            fold,
            values: FeatureValues {
                dataset: checked.dataset().clone(),
                preparation: None,
                filled: BTreeMap::new(),
                products: None,
            },
            preparation: None,
            kernel: checked.experiment().learner.kernel,
            head: checked.head(part),
            learner: None,
            stream: None,
            moments,
            next_round: 0,
            phase: Phase::Prepare,
            reports: Vec::new(),
            entered: vec![0; checked.dataset().n_samples()],
            record: PartRecord::new(part, n_rounds),
            upcoming: Vec::new(),
            places: Vec::new(),
            n_told: 0,
            judged: None,
            is_calibrated: false,
            calibration: None,
            assessor: None,
            imputation: None,
            is_filled: false,
            test_memory: TestMemory::default(),
            wanted_changes: Vec::new(),
        }
    }

    /// Goes on where a saved part stopped.
    pub(super) fn resume(
        checked: &CheckedExperiment,
        changes: &[SettingChange],
        record: PartRecord,
        halfway: Option<Halfway>,
    ) -> Result<Self, RunError> {
        let mut run = Self::new(checked, record.part);
        run.n_told = record.log.len();
        run.record = record;
        let Some(halfway) = halfway else {
            return Ok(run);
        };
        run.next_round = halfway.n_rounds_done;
        let n_classes = checked.dataset().n_classes();
        run.judged = halfway
            .calibration
            .filter(|judged| judged.is_whole(n_classes));
        run.calibration = halfway.model.calibration;
        run.is_calibrated = run.calibration.is_some();
        run.kernel = halfway.model.learner.kernel;
        let learned_with = halfway.model.learner.head;
        if learned_with == checked.experiment().learner.head {
            run.head = learned_with;
        }
        let settings = match checked.experiment().auto {
            true => halfway.model.learner.clone(),
            false => run.settings_in_force(checked, changes, run.next_round),
        };
        run.preparation = Some(halfway.model.preparation);
        run.apply_preparation(checked)?;
        let learner = resume_learner(&settings, halfway.model.state);
        run.learner = Some(learner.map_err(|error| run.error(error))?);
        run.stream = Some(halfway.stream);
        for entry in run.record.log.entries() {
            if matches!(entry.event, ProfileEvent::Admitted(_))
                && let Some(entered) = run.entered.get_mut(entry.sample)
            {
                *entered = u32::try_from(entry.batch).unwrap_or(u32::MAX);
            }
        }
        run.phase = Phase::Train;
        Ok(run)
    }

    /// What is needed to resume later. A test that is under way is done again from its beginning.
    pub(super) fn halfway(&self) -> Option<Halfway> {
        Some(Halfway {
            n_rounds_done: self.next_round,
            model: self.model()?,
            stream: self.stream.clone()?,
            calibration: self.judged.clone(),
        })
    }

    pub(super) fn model(&self) -> Option<TrainedModel> {
        let learner = self.learner.as_ref()?;
        Some(TrainedModel {
            part: self.part,
            n_batches: self.next_round,
            preparation: self.preparation.clone()?,
            learner: learner.settings().clone(),
            state: learner.state(),
            n_corrections: 0,
            calibration: self.calibration.clone(),
        })
    }

    pub(super) fn is_complete(&self) -> bool {
        matches!(self.phase, Phase::Complete)
    }

    pub(super) fn n_rounds_done(&self) -> usize {
        self.next_round
    }

    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        let learner = self.learner.as_deref()?;
        Some(Snapshot::of(
            self.part,
            self.next_round,
            learner,
            &self.entered,
            &self.record.atom_use,
        ))
    }

    /// Works for one extent, or until it is cancelled.
    pub(super) fn advance(
        &mut self,
        around: PartContext<'_>,
        extent: Extent,
        news: &mut Vec<News>,
    ) -> Result<(), RunError> {
        let begin = Instant::now();
        let first_round = self.next_round;
        let mut operations = 0.0;
        while !self.is_complete() && !around.stop.is_raised() {
            let most_rounds = match extent {
                Extent::Round => 1,
                Extent::Slice => usize::MAX,
            };
            let stepped = self.step(around, most_rounds, news);
            // Features that could not be read count as missing: what a step says of them is not the cause.
            if let Some(failure) = around.checked.dataset().failure() {
                return Err(self.error(RunTrouble::FeaturesLost(failure.to_owned())));
            }
            operations += stepped?;
            let looks_up = match extent {
                Extent::Slice => operations >= SLICE,
                Extent::Round => {
                    let at_rest = matches!(self.phase, Phase::Train) && !self.test_is_due();
                    self.next_round > first_round && at_rest
                }
            };
            // What an alarm changes holds from the next round on.
            if looks_up || !self.wanted_changes.is_empty() {
                break;
            }
        }
        self.record.timing.total += begin.elapsed();
        if self.is_complete() {
            self.complete(news);
        }
        Ok(())
    }

    /// The next step, of at most so many rounds; the operations it took, roughly.
    fn step(
        &mut self,
        around: PartContext<'_>,
        most_rounds: usize,
        news: &mut Vec<News>,
    ) -> Result<f64, RunError> {
        let checked = around.checked;
        match &self.phase {
            Phase::Prepare if self.has_to_choose(checked) => {
                self.check_classes(checked)?;
                let experiment = checked.experiment();
                let search = AutoSearch::new(
                    checked.dataset(),
                    &self.fold.train,
                    experiment,
                    checked.training(self.part),
                );
                self.phase = Phase::Choose(Box::new(search.map_err(|error| self.error(error))?));
                Ok(SLICE)
            }
            Phase::Choose(_) => self.choose(around, news),
            Phase::Calibrate(_) => self.calibrate_by_models(around),
            Phase::Prepare => {
                self.prepare(checked)?;
                self.phase = Phase::Start;
                Ok(SLICE)
            }
            Phase::Start => {
                self.start(checked)?;
                self.phase = Phase::Train;
                Ok(SLICE)
            }
            Phase::Train if self.checkpoint_is_due(around) => self.judge_upcoming(around),
            Phase::Train
                if self.next_round == checked.n_start_rounds(self.part) && !self.is_calibrated =>
            {
                self.finish_calibration(around)
            }
            Phase::Train if self.is_in_time(checked) => self.go_on_in_time(around, news),
            Phase::Train if self.test_is_due() => {
                self.begin_test((None, 0), around);
                Ok(0.0)
            }
            Phase::Train if self.next_round < self.record.n_rounds => {
                self.learn_rounds(around, most_rounds, news)
            }
            Phase::Train => {
                let tests = &checked.experiment().tests;
                let n_missing = tests.missing_shares.len();
                let is_fold = self.part != Part::Final;
                if let Some(baseline) = self.next_baseline(around) {
                    return self.try_baseline(baseline, around);
                }
                if let (true, Some(last)) = (tests.repair, self.record.missing.last()) {
                    let number = self.record.missing.len() - 1;
                    let remedy = match (&last.repaired, &last.known) {
                        (None, _) => 1,
                        (_, None) => 2,
                        _ => 0,
                    };
                    if remedy > 0 {
                        self.know_features(checked);
                        self.begin_test((Some(number), remedy), around);
                        return Ok(0.0);
                    }
                }
                if is_fold && self.record.missing.len() < n_missing {
                    self.begin_test((Some(self.record.missing.len()), 0), around);
                } else {
                    if around.extras.calibration {
                        self.judge_readout(checked);
                    }
                    self.phase = Phase::Complete;
                }
                Ok(0.0)
            }
            Phase::Test(_) => self.go_on_testing(around, news),
            Phase::Complete => Ok(0.0),
        }
    }

    /// On grouped data what is judged before it is learned reads too well: the group is known by then.
    fn judge_readout(&mut self, checked: &CheckedExperiment) {
        if let (Some(groups), Some(learner)) = (checked.dataset().groups(), &self.learner) {
            let classes = 0..learner.n_classes();
            self.record.readout_logo = readout_without_own_group(
                classes.map(|class| learner.dictionary(class)),
                |sample| groups.get(sample).copied(),
            );
        }
    }

    fn complete(&mut self, news: &mut Vec<News>) {
        if let Some(model) = self.model() {
            // A complete part is given up: what is known of many samples is not copied.
            let left = PartRecord::new(self.part, self.record.n_rounds);
            let record = Arc::new(std::mem::replace(&mut self.record, left));
            news.push(News::Complete(self.part, record, Arc::new(model)));
        }
    }

    fn error(&self, source: impl Into<RunTrouble>) -> RunError {
        RunError::new(self.part, self.next_round, source.into())
    }

    /// Refuses a part whose training samples lack a class.
    fn check_classes(&self, checked: &CheckedExperiment) -> Result<(), RunError> {
        let dataset = checked.dataset();
        let mut counts = vec![0_usize; dataset.n_classes()];
        for sample in &self.fold.train {
            counts[dataset.classes()[*sample]] += 1;
        }
        let missing = counts.iter().position(|count| *count == 0);
        missing.map_or(Ok(()), |class| {
            Err(self.error(RunTrouble::ClassMissing {
                class: dataset.class_names()[class].clone(),
                remedy: remedy_for_class(dataset, class),
            }))
        })
    }

    /// Missing values and scale, fitted on the training samples.
    fn prepare(&mut self, checked: &CheckedExperiment) -> Result<(), RunError> {
        let preparation = self.own_preparation(checked);
        let fitted = preparation
            .fit(checked.dataset(), &self.fold.train)
            .map_err(|error| self.error(error))?;
        self.preparation = Some(fitted);
        self.apply_preparation(checked)
    }

    fn apply_preparation(&mut self, checked: &CheckedExperiment) -> Result<(), RunError> {
        let dataset = checked.dataset();
        let preparation = self.own_preparation(checked);
        if preparation.scaling == Scaling::None && dataset.n_missing() == 0 {
            self.record.n_samples = (self.fold.train.len(), self.fold.test.len());
            self.values.products = checked.products(None);
            return Ok(());
        }
        let Some(fitted) = &self.preparation else {
            return Ok(());
        };
        let mut dropped = vec![false; dataset.n_samples()];
        for &sample in self.fold.train.iter().chain(&self.fold.test) {
            let mut features = dataset.sample(sample).to_vec();
            let outcome = fitted.apply(&mut features);
            dropped[sample] = outcome.map_err(|error| self.error(error))?.is_none();
            if dataset.n_missing() == 0 {
                // The others fit as this one does.
                break;
            }
        }
        self.fold.train.retain(|sample| !dropped[*sample]);
        self.fold.test.retain(|sample| !dropped[*sample]);
        self.values.preparation = self.preparation.clone();
        self.values.products = checked.products(self.preparation.as_ref());
        self.record.n_samples = (self.fold.train.len(), self.fold.test.len());
        if dataset.n_missing() == 0 {
            return Ok(());
        }
        let n_dropped = dropped.iter().filter(|dropped| **dropped).count();
        let remark = format!(
            "excluded: {} with missing values",
            counted(n_dropped, "sample")
        );
        if n_dropped > 0 && !self.record.remarks.contains(&remark) {
            self.record.remarks.push(remark);
        }
        let lacking = self.fold.train.iter().map(|sample| {
            let values = dataset.sample(*sample);
            values.iter().filter(|value| value.is_nan()).count()
        });
        let lacking: Vec<usize> = lacking.filter(|count| *count > 0).collect();
        let remark = format!(
            "{} of {} became the mean of the feature",
            counted(lacking.iter().sum(), "missing value"),
            counted(lacking.len(), "training sample")
        );
        if !lacking.is_empty() && !self.record.remarks.contains(&remark) {
            self.record.remarks.push(remark);
        }
        Ok(())
    }

    /// The samples in random order, and dictionaries that start from some of them.
    fn start(&mut self, checked: &CheckedExperiment) -> Result<(), RunError> {
        let dataset = checked.dataset();
        let experiment = checked.experiment();
        let number = match self.part {
            Part::Fold(fold) => fold as u64,
            Part::Final => checked.split().n_folds() as u64,
        };
        let mut training = self.fold.train.clone();
        let mut random = random_stream(experiment.seed, "order", number);
        shuffle(&mut training, &mut random);
        let mut orders = vec![Vec::new(); dataset.n_classes()];
        for sample in training {
            orders[dataset.classes()[sample]].push(sample);
        }
        let view = self.values.columns();
        let mut stream = SampleStream::new(view, orders, checked.training(self.part).supply);
        let seed = experiment.seed.wrapping_add(number);
        let mut settings = self.own_learner(checked);
        if let (Kernel::OfMedian { .. }, Some(shape)) = (settings.kernel, settings.kernel.radial())
        {
            let median = training_median(view, &self.fold.train, shape, experiment.seed);
            let median = median.ok_or_else(|| self.error(RunTrouble::AllAlike))?;
            settings.kernel = settings.kernel.with_median(median);
        }
        self.kernel = settings.kernel;
        let started = start_learner(&settings, &mut stream, seed);
        let state = stream.into_state();
        if started.is_err() {
            self.check_classes(checked)?;
        }
        let (learner, remarks) = started.map_err(|error| self.error(error))?;
        if let Some(reason) = blindness(&self.kernel, view, &self.fold.train) {
            return Err(self.error(RunTrouble::Blind(reason)));
        }
        self.remark_on_starts(&remarks, dataset.class_names());
        if self.head != experiment.learner.head {
            self.record.remarks.push(format!(
                "{} are few: the decision layer stays as it begins, and classes count alike (head {})",
                counted(self.fold.train.len(), "training sample"),
                Head::FewSamples.name()
            ));
        }
        for class in 0..learner.n_classes() {
            for &sample in learner.dictionary(class).kept.index() {
                self.record.log.push(0, class, sample, ProfileEvent::Start);
            }
        }
        self.learner = Some(learner);
        self.stream = Some(state);
        Ok(())
    }

    /// Tells of classes with few samples, one by one where they are few.
    fn remark_on_starts(&mut self, remarks: &[Option<Repair>], names: &[String]) {
        let shared = |remark: &Option<Repair>| match remark {
            Some(Repair::SharedStart { atoms }) => Some(*atoms),
            _ => None,
        };
        let starts = remarks.iter().zip(names);
        let starts: Vec<(usize, &str)> = starts
            .filter_map(|(remark, name)| Some((shared(remark)?, name.as_str())))
            .collect();
        if starts.len() <= MOST_NAMED {
            self.record.remarks.extend(starts.iter().map(|(atoms, name)| {
                format!(
                    "class {name} has few samples for its atoms: {atoms} atoms start from the same sample as another"
                )
            }));
            return;
        }
        let named: Vec<&str> = starts[..MOST_NAMED].iter().map(|(_, name)| *name).collect();
        let most = starts.iter().map(|(atoms, _)| *atoms).max().unwrap_or(0);
        self.record.remarks.push(format!(
            "{} classes have few samples for their atoms ({} and {} more): up to {most} atoms of a class start from the same sample as another",
            starts.len(),
            named.join(", "),
            starts.len() - MOST_NAMED
        ));
    }

    /// Rounds that can be learned in one go: nothing else is due before the last of them is over, and they take no
    /// longer than a slice.
    fn rounds_at_once(&self, around: PartContext<'_>, most: usize) -> usize {
        let Some(learner) = self.learner.as_deref() else {
            return 1;
        };
        if around.checked.experiment().tests.prequential {
            return 1;
        }
        let fitting = (SLICE / round_operations(learner).max(1.0)) as usize;
        let most = most.min(learner.rounds_at_once()).min(fitting);
        let mut count = 1;
        while count < most && !self.something_is_due(around, self.next_round + count) {
            count += 1;
        }
        count
    }

    /// Whether something else than learning comes before a round.
    fn something_is_due(&self, around: PartContext<'_>, round: usize) -> bool {
        let PartContext {
            checked,
            changes,
            samples,
            ..
        } = around;
        round >= self.record.n_rounds
            || round == checked.n_start_rounds(self.part)
            || self.test_is_due_at(round)
            || self.checkpoint_is_due_at(round, around)
            || changes.iter().any(|change| change.batch == round)
            || samples.iter().any(|change| change.batch == round)
    }

    fn learn_rounds(
        &mut self,
        around: PartContext<'_>,
        most_rounds: usize,
        news: &mut Vec<News>,
    ) -> Result<f64, RunError> {
        let n_rounds = self.rounds_at_once(around, most_rounds);
        let PartContext {
            checked, changes, ..
        } = around;
        let settings = self.settings_in_force(checked, changes, self.next_round + 1);
        let (Some(learner), Some(mut state)) = (self.learner.as_deref_mut(), self.stream.take())
        else {
            return Ok(0.0);
        };
        for change in around.samples {
            // A round that was interrupted makes it again, which changes nothing.
            if change.batch == self.next_round {
                match change.class {
                    Some(class) => state.put_into(change.sample, class),
                    None => state.leave_out(change.sample),
                }
            }
        }
        let mut stream = SampleStream::resume(self.values.columns(), state)
            .until(around.stop)
            .on_threads(around.n_threads);
        stream.places(&mut self.places);
        let progress = Progress {
            round: self.next_round,
            n_rounds: self.record.n_rounds,
        };
        let prequential = if checked.experiment().tests.prequential {
            classify_upcoming(around, learner, &stream, progress, &mut self.upcoming)
        } else {
            Ok(None)
        };
        let begin = Instant::now();
        let outcome = prequential.and_then(|prequential| {
            if *learner.settings() != settings {
                learner.change_settings(settings)?;
            }
            self.reports.resize_with(n_rounds, StepReport::default);
            learner.steps(progress, &mut stream, &mut self.reports)?;
            for report in &mut self.reports {
                report.prequential = report.prequential.or(prequential);
            }
            Ok(())
        });
        let spent = begin.elapsed().div_f64(n_rounds as f64);
        let operations = n_rounds as f64 * round_operations(learner);
        if outcome == Err(LearnError::Interrupted) {
            // The round is learned another time, as if it had never begun.
            stream.go_back_to(&self.places);
            self.stream = Some(stream.into_state());
            return Ok(0.0);
        }
        self.stream = Some(stream.into_state());
        outcome.map_err(|error| self.error(error))?;
        let reports = std::mem::take(&mut self.reports);
        for report in &reports {
            self.note_round(spent, report, news);
        }
        self.reports = reports;
        Ok(operations)
    }

    fn note_round(&mut self, spent: Duration, report: &StepReport, news: &mut Vec<News>) {
        self.next_round += 1;
        let number = u32::try_from(self.next_round).unwrap_or(u32::MAX);
        let (mut pruning, mut on_classes) = (Duration::ZERO, Duration::ZERO);
        for class in &report.classes {
            on_classes += class.class_time.0;
            pruning += class.pruning_time.0;
            for &sample in &class.admitted {
                self.entered[sample] = number;
            }
        }
        // Classes learned at the same time count each for itself: the figures are costs, and
        // the same for any number of threads.
        let spent = spent.max(on_classes);
        self.record.timing.pruning += pruning;
        self.record.timing.growing += spent.saturating_sub(pruning);
        self.record.log.note(self.next_round, report);
        self.record.note_use(report);
        let metric = RoundMetric::of(self.next_round, report);
        let happened = self.record.log.since(self.n_told);
        self.n_told = self.record.log.len();
        news.push(News::Round(self.part, metric.clone(), happened));
        self.record.rounds.push(metric);
    }
}

/// What can be done about a class whose samples are all tested.
fn remedy_for_class(dataset: &Dataset, class: usize) -> &'static str {
    let of_class =
        || (0..dataset.n_samples()).filter(move |sample| dataset.classes()[*sample] == class);
    let is_one_group = dataset.groups().is_some_and(|groups| {
        let mut groups = of_class().map(|sample| groups[sample]);
        let first = groups.next();
        groups.all(|group| Some(group) == first)
    });
    if of_class().nth(1).is_none() {
        "it has a single sample, which is tested; leave the class out of the data, join it with another one, or add samples of it"
    } else if is_one_group {
        "all its samples are of one group, which is tested; leave the class out of the data, join it with another one, add groups with it, or do without groups"
    } else {
        "choose fewer folds or other groups, or add samples"
    }
}

/// The next round classified before it is learned: right ones, and all. The margin-aware
/// learner does that itself; a batch learner has seen all samples after its first step.
fn classify_upcoming(
    around: PartContext<'_>,
    learner: &dyn Learner,
    stream: &SampleStream<'_>,
    progress: Progress,
    upcoming: &mut Vec<usize>,
) -> Result<Option<(usize, usize)>, LearnError> {
    let algorithm = &learner.settings().algorithm;
    if algorithm.is_batch() || matches!(algorithm, Algorithm::Margin { .. }) {
        return Ok(None);
    }
    stream.next_round(progress, learner.settings().batch_size, upcoming);
    let classifier = Classifier::of(learner).until(around.stop);
    let mut verdicts = Vec::with_capacity(upcoming.len());
    classifier.classify(
        stream.data(),
        upcoming,
        &mut classifier.work(),
        &mut verdicts,
    )?;
    let classes = around.checked.dataset().classes();
    let is_right = |(sample, verdict): &(&usize, &Verdict)| classes[**sample] == verdict.class;
    let right = upcoming.iter().zip(&verdicts).filter(is_right).count();
    Ok(Some((right, upcoming.len())))
}

/// Operations of a round, roughly: every sample against the kept samples of its class, or
/// of all classes, and the update of what is kept; for a batch learner one product with K.
fn round_operations(learner: &dyn Learner) -> f64 {
    let settings = learner.settings();
    if settings.algorithm.is_batch() {
        let classes = (0..learner.n_classes()).map(|class| learner.dictionary(class));
        let product = |d: &Dictionary| 2.0 * (d.n_atoms() * d.n_kept() * d.n_kept()) as f64;
        return classes.map(product).sum();
    }
    let sees_all = matches!(settings.algorithm, Algorithm::Margin { .. });
    let per_sample: f64 = (0..learner.n_classes())
        .map(|class| sample_operations(learner.dictionary(class)))
        .sum();
    let repeats = if sees_all { learner.n_classes() } else { 1 };
    2.0 * per_sample * (settings.batch_size * repeats) as f64
}
