//! The training of one part of a run (a fold, or the final model) as a sequence of short
//! steps: prepare, start, then rounds and tests in turn.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::apply::fills_missing;
use super::auto::{AutoReport, AutoSearch, HEADS};
use super::calibrating::{
    Assessor, CalibrationRecord, HeldOutGroups, N_CHECKPOINTS, checkpoint, has_groups,
};
use super::checked::{CheckedExperiment, Part};
use super::error::{RunError, RunTrouble};
use super::model::TrainedModel;
use super::record::{
    Decisions, MissingRecord, PartRecord, ProfileEvent, ProfileLog, RoundMetric, TestRecord,
};
use super::shared::Shared;
use super::snapshot::Snapshot;
use super::state::{Halfway, SettingChange};
use super::testing::{Remedy, TestProgress, TestSubject, sample_operations};
use super::width::training_median;
use crate::dataset::{Dataset, FittedPreparation, MissingPolicy, Preparation, Scaling, Zeroing};
use crate::evaluation::{
    Baseline, BaselineData, BaselineResult, Calibration, CalibrationSource, Classifier,
    FeatureFacts, Imputation, Verdict, readout_without_own_group, ridge_on_kept,
};
use crate::learner::{
    Algorithm, Dictionary, Head, Kernel, LearnError, Learner, LearnerSettings, Progress, Repair,
    SampleStream, StepReport, StopSignal, StreamState, resume_learner, start_learner,
};
use crate::math::{View, random_stream, shuffle};
use crate::split::Fold;

/// Floating-point operations after which a part looks up: a few milliseconds.
const SLICE: f64 = 1e8;

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

/// What all parts of a run have in common.
#[derive(Clone, Copy)]
pub(super) struct PartContext<'a> {
    pub(super) checked: &'a CheckedExperiment,
    pub(super) changes: &'a [SettingChange],
    /// Threads that a part may use.
    pub(super) n_threads: usize,
    /// Whether nothing but the score is wanted.
    pub(super) is_bare: bool,
    /// Raised when the run is to end as soon as it can.
    pub(super) stop: StopSignal<'a>,
}

/// One part in training.
pub(super) struct PartRun {
    pub(super) part: Part,
    fold: Fold,
    values: Values,
    preparation: Option<FittedPreparation>,
    /// The kernel with its width in numbers.
    kernel: Kernel,
    learner: Option<Box<dyn Learner>>,
    stream: Option<StreamState>,
    moments: Vec<usize>,
    next_round: usize,
    phase: Phase,
    report: StepReport,
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
}

enum Phase {
    Choose(Box<AutoSearch>),
    Calibrate(Box<HeldOutGroups>),
    Prepare,
    Start,
    Train,
    Test(Box<TestProgress>),
    Complete,
}

/// The prepared features of all samples, addressed as in the data set.
enum Values {
    /// Nothing had to be changed.
    Shared(Arc<Dataset>),
    Own(Vec<f64>),
}

impl Values {
    fn view(&self, n_features: usize) -> View<'_> {
        match self {
            Self::Shared(dataset) => View::from_columns(dataset.values(), n_features),
            Self::Own(values) => View::from_columns(values, n_features),
        }
    }
}

impl PartRun {
    pub(super) fn new(checked: &CheckedExperiment, part: Part) -> Self {
        let n_rounds = checked.n_rounds(part);
        let fold = checked.samples_of(part);
        let moments = match part {
            Part::Fold(_) => checked.experiment().tests.moments(n_rounds),
            Part::Final => Vec::new(),
        };
        Self {
            part,
            fold,
            values: Values::Shared(checked.dataset().clone()),
            preparation: None,
            kernel: checked.experiment().learner.kernel,
            learner: None,
            stream: None,
            moments,
            next_round: 0,
            phase: Phase::Prepare,
            report: StepReport::default(),
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
        run.judged = halfway.calibration;
        run.calibration = halfway.model.calibration;
        run.is_calibrated = run.calibration.is_some();
        run.kernel = halfway.model.learner.kernel;
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
            operations += self.step(around, news)?;
            let looks_up = match extent {
                Extent::Slice => operations >= SLICE,
                Extent::Round => {
                    let at_rest = matches!(self.phase, Phase::Train) && !self.test_is_due();
                    self.next_round > first_round && at_rest
                }
            };
            if looks_up {
                break;
            }
        }
        self.record.timing.total += begin.elapsed();
        if self.is_complete() {
            self.complete(news);
        }
        Ok(())
    }

    /// The next step; the operations it took, roughly.
    fn step(&mut self, around: PartContext<'_>, news: &mut Vec<News>) -> Result<f64, RunError> {
        let checked = around.checked;
        match &self.phase {
            Phase::Prepare if self.has_to_choose(checked) => {
                let experiment = checked.experiment();
                let search = AutoSearch::new(
                    checked.dataset(),
                    &self.fold.train,
                    &experiment.learner,
                    experiment.preparation.missing,
                    experiment.seed,
                );
                self.phase = Phase::Choose(Box::new(search.map_err(|error| self.error(error))?));
                Ok(SLICE)
            }
            Phase::Choose(_) => self.choose(around, news),
            Phase::Calibrate(_) => self.calibrate_by_groups(around),
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
            Phase::Train if self.next_round == self.record.n_rounds && !self.is_calibrated => {
                self.finish_calibration(around)
            }
            Phase::Train if self.test_is_due() => {
                self.begin_test((None, 0), around);
                Ok(0.0)
            }
            Phase::Train if self.next_round < self.record.n_rounds => {
                self.learn_round(around, news)
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
                    self.judge_readout(checked);
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
            let record = Arc::new(self.record.clone());
            news.push(News::Complete(self.part, record, Arc::new(model)));
        }
    }

    fn error(&self, source: impl Into<RunTrouble>) -> RunError {
        RunError::new(self.part, self.next_round, source.into())
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
            return Ok(());
        }
        let Some(fitted) = &self.preparation else {
            return Ok(());
        };
        let n_features = dataset.n_features();
        let mut values = vec![0.0; n_features * dataset.n_samples()];
        let mut dropped = vec![false; dataset.n_samples()];
        for &sample in self.fold.train.iter().chain(&self.fold.test) {
            let column = &mut values[sample * n_features..(sample + 1) * n_features];
            column.copy_from_slice(dataset.sample(sample));
            let outcome = fitted.apply(column).map_err(|error| self.error(error))?;
            dropped[sample] = outcome.is_none();
        }
        self.fold.train.retain(|sample| !dropped[*sample]);
        self.fold.test.retain(|sample| !dropped[*sample]);
        self.values = Values::Own(values);
        self.record.n_samples = (self.fold.train.len(), self.fold.test.len());
        let n_dropped = dropped.iter().filter(|dropped| **dropped).count();
        let remark = format!("{n_dropped} samples with missing values are excluded");
        if n_dropped > 0 && !self.record.remarks.contains(&remark) {
            self.record.remarks.push(remark);
        }
        let lacking = self.fold.train.iter().map(|sample| {
            let values = dataset.sample(*sample).iter();
            values.filter(|value| value.is_nan()).count()
        });
        let lacking: Vec<usize> = lacking.filter(|count| *count > 0).collect();
        let remark = format!(
            "{} missing values of {} training samples became the mean of their feature",
            lacking.iter().sum::<usize>(),
            lacking.len()
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
        let view = self.values.view(dataset.n_features());
        let mut stream = SampleStream::new(view, orders, experiment.training.supply);
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
        let (learner, remarks) = started.map_err(|error| self.error(error))?;
        for (class, remark) in remarks.iter().enumerate() {
            if let Some(Repair::SharedStart { atoms }) = remark {
                let name = &dataset.class_names()[class];
                self.record.remarks.push(format!(
                    "class {name} has fewer samples than atoms: {atoms} atoms start from the same sample as another"
                ));
            }
            for &sample in learner.dictionary(class).kept.index() {
                self.record.log.push(0, class, sample, ProfileEvent::Start);
            }
        }
        self.learner = Some(learner);
        self.stream = Some(state);
        Ok(())
    }

    /// The settings for round number `round` (from 1): those of the experiment, or what they
    /// were changed to before it, with the width of the kernel in numbers.
    fn settings_in_force(
        &self,
        checked: &CheckedExperiment,
        changes: &[SettingChange],
        round: usize,
    ) -> LearnerSettings {
        let mut in_force = changes
            .iter()
            .rev()
            .filter(|change| change.batch < round && !change.spared.contains(&self.part));
        let experiment = checked.experiment();
        let own = self.own_learner(checked);
        let mut learner = match in_force.next() {
            Some(change) => change.learner.clone(),
            None => own.clone(),
        };
        if experiment.auto {
            // What was chosen stays; anything else may be changed on the way.
            (learner.head, learner.gate) = (own.head, own.gate);
            learner.algorithm = own.algorithm;
            learner.kernel = self.kernel;
        } else if learner.kernel == experiment.learner.kernel {
            learner.kernel = self.kernel;
        }
        learner
    }

    fn has_to_choose(&self, checked: &CheckedExperiment) -> bool {
        let chosen = self
            .record
            .auto
            .as_ref()
            .and_then(|auto| auto.chosen.as_ref());
        checked.experiment().auto && chosen.is_none()
    }

    /// The settings of the learner: those chosen, or those of the experiment.
    fn own_learner(&self, checked: &CheckedExperiment) -> LearnerSettings {
        let chosen = self
            .record
            .auto
            .as_ref()
            .and_then(|auto| auto.chosen.as_ref());
        let base = &checked.experiment().learner;
        let mut own = chosen.map_or_else(|| base.clone(), |chosen| chosen.learner(base));
        if chosen.is_some_and(|chosen| HEADS.contains(&chosen.head)) {
            // What every head needs is learned; which of them decides is settled at the end.
            (own.head, own.gate) = (Some(HEADS[0]), true);
        }
        own
    }

    /// The settings of the preparation, likewise.
    fn own_preparation(&self, checked: &CheckedExperiment) -> Preparation {
        let chosen = self
            .record
            .auto
            .as_ref()
            .and_then(|auto| auto.chosen.as_ref());
        let base = checked.experiment().preparation;
        match chosen {
            None => base,
            Some(chosen) => {
                let fills = base.missing == MissingPolicy::Refuse;
                Preparation {
                    missing: if fills {
                        MissingPolicy::TrainingMean
                    } else {
                        base.missing
                    },
                    ..chosen.preparation(base)
                }
            }
        }
    }

    /// Tries the next candidate.
    fn choose(&mut self, around: PartContext<'_>, news: &mut Vec<News>) -> Result<f64, RunError> {
        let Phase::Choose(search) = &mut self.phase else {
            return Ok(0.0);
        };
        let outcome = search.step(around.stop, around.n_threads);
        let report = search.report().clone();
        match outcome {
            Err(RunTrouble::Learn(LearnError::Interrupted)) => return Ok(0.0),
            outcome => outcome.map_err(|error| self.error(error))?,
        }
        let is_chosen = report.chosen.is_some();
        let is_news = self.record.auto.as_ref() != Some(&report);
        if is_news {
            news.push(News::Choosing(self.part, Arc::new(report.clone())));
            self.record.auto = Some(report);
        }
        if is_chosen {
            self.phase = Phase::Prepare;
        }
        Ok(SLICE)
    }

    /// Whether decisions of this part are to be calibrated.
    fn calibrates(&self, around: PartContext<'_>) -> bool {
        let tests = &around.checked.experiment().tests;
        let algorithm = &self.own_learner(around.checked).algorithm;
        tests.calibrate && !around.is_bare && algorithm.remembers_all()
    }

    /// Whether samples are judged before they are learned: for the calibration, or to choose a head.
    fn checkpoint_is_due(&self, around: PartContext<'_>) -> bool {
        let n_done = self
            .judged
            .as_ref()
            .map_or(0, |judged| judged.n_checkpoints);
        let is_there = n_done < N_CHECKPOINTS
            && self.next_round < self.record.n_rounds
            && self.next_round >= checkpoint(n_done, self.record.n_rounds);
        is_there
            && (self.calibrates(around) || around.checked.experiment().auto)
            && !has_groups(around.checked.dataset(), &self.fold.train)
    }

    /// Judges the samples up to the next checkpoint by what is learned now; those that were learned
    /// before tell nothing and are left out.
    fn judge_upcoming(&mut self, around: PartContext<'_>) -> Result<f64, RunError> {
        let checked = around.checked;
        let dataset = checked.dataset();
        let own = self.own_learner(checked);
        let is_open = checked.experiment().auto && own.head.is_some_and(|h| HEADS.contains(&h));
        let mut judged = self.judged.take().unwrap_or_else(|| {
            let heads = match is_open {
                true => HEADS.iter().copied().map(Some).collect(),
                false => vec![own.head],
            };
            CalibrationRecord::new(heads)
        });
        // Short trainings pass several checkpoints at once.
        let n_rounds = self.record.n_rounds;
        let mut number = judged.n_checkpoints + 1;
        while number < N_CHECKPOINTS && checkpoint(number, n_rounds) <= self.next_round {
            number += 1;
        }
        let rounds = self.next_round..checkpoint(number, n_rounds);
        let view = self.values.view(dataset.n_features());
        let mut upcoming = Vec::new();
        if let Some(stream) = &self.stream {
            let stream = SampleStream::resume(view, stream.clone());
            stream.next_rounds(rounds, n_rounds, own.batch_size, &mut upcoming);
        }
        let mut is_known = vec![false; dataset.n_samples()];
        for entry in self.record.log.entries() {
            if let Some(known) = is_known.get_mut(entry.sample) {
                *known = true;
            }
        }
        upcoming.retain(|sample| !std::mem::replace(&mut is_known[*sample], true));
        let outcome = match self.learner.as_deref() {
            Some(learner) => judged.judge(
                &Classifier::of(learner).until(around.stop),
                view,
                &upcoming,
                dataset.classes(),
            ),
            None => Ok(()),
        };
        if outcome.is_ok() {
            judged.n_checkpoints = number;
        }
        self.judged = Some(judged);
        match outcome {
            Ok(()) => Ok(SLICE),
            Err(LearnError::Interrupted) => Ok(0.0),
            Err(error) => Err(self.error(error)),
        }
    }

    /// At the end of the training: the head is chosen again by what it would have decided, and the
    /// samples judged tell what decisions are worth. Grouped data need models of their own for that.
    fn finish_calibration(&mut self, around: PartContext<'_>) -> Result<f64, RunError> {
        let checked = around.checked;
        self.is_calibrated = true;
        let judged = self.judged.take();
        let best = judged
            .as_ref()
            .and_then(|judged| judged.best_head(checked.dataset(), &self.fold.train));
        self.settle_head(best)?;
        if has_groups(checked.dataset(), &self.fold.train) {
            if self.calibrates(around)
                && let Some(learner) = &self.learner
            {
                let held_out = HeldOutGroups::new(
                    checked.dataset(),
                    &self.fold.train,
                    learner.settings().clone(),
                    checked.experiment().seed,
                );
                if let Some(held_out) = held_out {
                    self.phase = Phase::Calibrate(Box::new(held_out));
                }
            }
            return Ok(0.0);
        }
        if let Some(judged) = judged.filter(|_| self.calibrates(around)) {
            self.take_calibration(&judged, CalibrationSource::Prequential, checked);
        }
        Ok(SLICE)
    }

    /// Where settings are chosen: the head that was best before samples were learned, or that of the
    /// inner folds, decides from now on.
    fn settle_head(&mut self, best: Option<(Head, f64)>) -> Result<(), RunError> {
        let chosen = self
            .record
            .auto
            .as_ref()
            .and_then(|auto| auto.chosen.as_ref());
        let (Some(chosen), Some(learner)) = (chosen, self.learner.as_deref_mut()) else {
            return Ok(());
        };
        let (head, accuracy) = best.unwrap_or((chosen.head, chosen.accuracy));
        let settings = LearnerSettings {
            head: Some(head),
            gate: head.uses_decision_layer(),
            ..learner.settings().clone()
        };
        learner
            .change_settings(settings)
            .map_err(|error| RunError::new(self.part, self.next_round, RunTrouble::Learn(error)))?;
        let chosen = self
            .record
            .auto
            .as_mut()
            .and_then(|auto| auto.chosen.as_mut());
        if let Some(chosen) = chosen
            && chosen.head != head
        {
            chosen.reason = format!(
                "{}; the head {} decided most of the second half of the training rightly before it was learned: {:.1} %",
                chosen.reason,
                head.name(),
                100.0 * accuracy
            );
            chosen.head = head;
        }
        Ok(())
    }

    fn take_calibration(
        &mut self,
        judged: &CalibrationRecord,
        source: CalibrationSource,
        checked: &CheckedExperiment,
    ) {
        let Some(learner) = self.learner.as_deref() else {
            return;
        };
        let dataset = checked.dataset();
        let calibration = judged.calibration(
            learner.settings().head,
            source,
            learner,
            self.values.view(dataset.n_features()),
            dataset,
            &self.fold.train,
        );
        self.calibration = calibration.map(|calibration| Shared(Arc::new(calibration)));
    }

    /// Models that have not learned from some of the groups judge them.
    fn calibrate_by_groups(&mut self, around: PartContext<'_>) -> Result<f64, RunError> {
        let checked = around.checked;
        let dataset = checked.dataset();
        let Phase::Calibrate(held_out) = &mut self.phase else {
            return Ok(0.0);
        };
        let view = self.values.view(dataset.n_features());
        let outcome = held_out.step(dataset, view, &checked.experiment().training, around.stop);
        match outcome {
            Ok(()) => {}
            Err(LearnError::Interrupted) => return Ok(0.0),
            Err(error) => return Err(self.error(error)),
        }
        if held_out.is_complete() {
            let judged = std::mem::take(&mut held_out.record);
            self.take_calibration(&judged, CalibrationSource::HeldOutGroups, checked);
            self.phase = Phase::Train;
        }
        Ok(SLICE)
    }

    /// The simple classifier that is still to be tried on this fold.
    fn next_baseline(&self, around: PartContext<'_>) -> Option<Baseline> {
        if around.is_bare || self.part == Part::Final || self.fold.test.is_empty() {
            return None;
        }
        let asked = &around.checked.experiment().tests.baselines;
        let asked = Baseline::ALWAYS.iter().chain(asked);
        let is_open = |baseline: &&Baseline| {
            let done = self.record.baselines.iter();
            !done.clone().any(|result| result.baseline == **baseline)
        };
        asked.copied().find(|baseline| is_open(&baseline))
    }

    fn try_baseline(
        &mut self,
        baseline: Baseline,
        around: PartContext<'_>,
    ) -> Result<f64, RunError> {
        let dataset = around.checked.dataset();
        let view = self.values.view(dataset.n_features());
        let Fold { train, test } = &self.fold;
        let decided = match (baseline, self.learner.as_deref()) {
            (Baseline::RidgeOnKept, Some(learner)) => {
                ridge_on_kept(learner, view, test, around.stop)
            }
            _ => BaselineData::new(view, train, test, dataset.classes(), dataset.n_classes())
                .decide(baseline, around.stop),
        };
        let decided = match decided {
            Ok(decided) => decided,
            Err(LearnError::Interrupted) => return Ok(0.0),
            // A baseline that cannot be trained is left out; the learner was.
            Err(_) => None,
        };
        let classes = dataset.classes();
        let total = decided.as_ref().map_or(0, Vec::len) as u64;
        let right = decided.iter().flatten().zip(test);
        let right = right
            .filter(|(class, sample)| **class == classes[**sample])
            .count();
        self.record.baselines.push(BaselineResult {
            baseline,
            right: right as u64,
            total,
        });
        Ok(SLICE)
    }

    /// Makes the model of missing features, and counts the zeros of training samples.
    fn know_features(&mut self, checked: &CheckedExperiment) {
        if self.imputation.is_some() {
            return;
        }
        let (Some(learner), dataset) = (self.learner.as_deref(), checked.dataset()) else {
            return;
        };
        let model = Imputation::of(&super::calibrating::kept_samples(learner));
        let samples = self.fold.train.iter().map(|sample| dataset.sample(*sample));
        let facts = FeatureFacts::of(samples, dataset.n_features());
        self.imputation = Some(Box::new((model, facts.zero_share)));
    }

    fn test_is_due(&self) -> bool {
        let n_tested = self.record.tests.len();
        self.moments
            .get(n_tested)
            .is_some_and(|moment| self.next_round >= *moment)
    }

    fn learn_round(
        &mut self,
        around: PartContext<'_>,
        news: &mut Vec<News>,
    ) -> Result<f64, RunError> {
        let PartContext {
            checked, changes, ..
        } = around;
        let settings = self.settings_in_force(checked, changes, self.next_round + 1);
        let n_features = checked.dataset().n_features();
        let (Some(learner), Some(state)) = (self.learner.as_deref_mut(), self.stream.take()) else {
            return Ok(0.0);
        };
        let mut stream = SampleStream::resume(self.values.view(n_features), state)
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
            learner.step(progress, &mut stream, &mut self.report)?;
            self.report.prequential = self.report.prequential.or(prequential);
            Ok(())
        });
        let spent = begin.elapsed();
        let operations = round_operations(learner);
        if outcome == Err(LearnError::Interrupted) {
            // The round is learned another time, as if it had never begun.
            stream.go_back_to(&self.places);
            self.stream = Some(stream.into_state());
            return Ok(0.0);
        }
        self.stream = Some(stream.into_state());
        outcome.map_err(|error| self.error(error))?;
        self.note_round(spent, news);
        Ok(operations)
    }

    fn note_round(&mut self, spent: Duration, news: &mut Vec<News>) {
        self.next_round += 1;
        let number = u32::try_from(self.next_round).unwrap_or(u32::MAX);
        let (mut pruning, mut on_classes) = (Duration::ZERO, Duration::ZERO);
        for class in &self.report.classes {
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
        self.record.log.note(self.next_round, &self.report);
        self.record.note_use(&self.report);
        let metric = RoundMetric::of(self.next_round, &self.report);
        let happened = self.record.log.since(self.n_told);
        self.n_told = self.record.log.len();
        news.push(News::Round(self.part, metric.clone(), happened));
        self.record.rounds.push(metric);
    }

    /// Before the trained dictionaries are tested: values that held-out samples lack are filled in
    /// from the kept samples. Until then, and in training samples, they are the training mean.
    fn fill_missing(&mut self, checked: &CheckedExperiment) {
        let dataset = checked.dataset();
        let is_due = self.next_round == self.record.n_rounds && !self.is_filled;
        let fills = |learner: &dyn Learner| fills_missing(learner.settings());
        let lacks = |sample: &usize| dataset.sample(*sample).iter().any(|value| value.is_nan());
        if !is_due
            || dataset.n_missing() == 0
            || !self.learner.as_deref().is_some_and(fills)
            || !self.fold.test.iter().any(lacks)
        {
            return;
        }
        self.is_filled = true;
        self.know_features(checked);
        let n_features = dataset.n_features();
        let (Values::Own(values), Some(known)) = (&mut self.values, &self.imputation) else {
            return;
        };
        let (mut n_values, mut n_samples) = (0, 0);
        for &sample in self.fold.test.iter().filter(|sample| lacks(sample)) {
            let raw = dataset.sample(sample).iter();
            let missing: Vec<bool> = raw.map(|value| value.is_nan()).collect();
            let place = sample * n_features;
            known
                .0
                .fill(&mut values[place..place + n_features], &missing);
            n_values += missing.iter().filter(|missing| **missing).count();
            n_samples += 1;
        }
        let remark = format!(
            "{n_values} missing values of {n_samples} held-out samples are filled in from the kept samples"
        );
        if !self.record.remarks.contains(&remark) {
            self.record.remarks.push(remark);
        }
    }

    fn begin_test(&mut self, zeroed: (Option<usize>, usize), around: PartContext<'_>) {
        self.fill_missing(around.checked);
        if let Some(learner) = self.learner.as_deref() {
            let is_last = self.next_round == self.record.n_rounds && zeroed.0.is_none();
            if let (true, None, Some(calibration)) = (is_last, &self.assessor, &self.calibration) {
                let epsilon = around.checked.experiment().tests.epsilon;
                let assessor = Assessor::new(calibration.0.clone(), learner, epsilon);
                self.assessor = Some(Box::new(assessor));
            }
            let n_classes = around.checked.dataset().n_classes();
            let classifier = Classifier::of(learner);
            let test = TestProgress::begin(zeroed, &classifier, n_classes, around.n_threads);
            self.phase = Phase::Test(Box::new(test));
        }
    }

    fn go_on_testing(
        &mut self,
        around: PartContext<'_>,
        news: &mut Vec<News>,
    ) -> Result<f64, RunError> {
        let begin = Instant::now();
        let checked = around.checked;
        let (Phase::Test(test), Some(learner)) = (&mut self.phase, self.learner.as_deref()) else {
            return Ok(0.0);
        };
        let view = self.values.view(checked.dataset().n_features());
        let damage = test.zeroed.map(|number| Zeroing {
            share: checked.experiment().tests.missing_shares[number],
            seed: checked.experiment().seed,
        });
        let subject = TestSubject {
            values: view,
            samples: &self.fold.test,
            classes: checked.dataset().classes(),
            damage,
            remedy: match (test.remedy, &self.imputation) {
                (1, Some(known)) => Remedy::Repair {
                    model: &known.0,
                    zero_share: &known.1,
                },
                (2, Some(known)) => Remedy::Known(&known.0),
                _ => Remedy::None,
            },
            dataset: checked.dataset(),
            assessor: self.assessor.as_deref(),
            head: learner.settings().head,
        };
        let outcome = test.go_on(&Classifier::of(learner).until(around.stop), &subject);
        let is_complete = test.n_done == self.fold.test.len();
        if outcome == Err(LearnError::Interrupted) {
            return Ok(0.0);
        }
        outcome.map_err(|error| self.error(error))?;
        self.record.timing.testing += begin.elapsed();
        if is_complete {
            self.note_test(checked, news);
        }
        Ok(SLICE)
    }

    fn note_test(&mut self, checked: &CheckedExperiment, news: &mut Vec<News>) {
        let snapshot = self.snapshot();
        let phase = std::mem::replace(&mut self.phase, Phase::Train);
        let (Phase::Test(test), Some(snapshot)) = (phase, snapshot) else {
            return;
        };
        self.record.timing.n_tested += self.fold.test.len() as u64;
        if let Some(number) = test.zeroed {
            match (test.remedy, self.record.missing.get_mut(number)) {
                (1, Some(record)) => record.repaired = Some(test.confusion),
                (2, Some(record)) => record.known = Some(test.confusion),
                _ => self.record.missing.push(MissingRecord {
                    share: checked.experiment().tests.missing_shares[number],
                    confusion: test.confusion,
                    repaired: None,
                    known: None,
                }),
            }
            return;
        }
        self.record.decisions = test.decisions;
        let record = Arc::new(TestRecord {
            batch: self.next_round,
            confusion: test.confusion,
            snapshot,
        });
        let decisions = Arc::new(self.record.decisions.clone());
        news.push(News::Test(self.part, record.clone(), decisions));
        self.record.tests.push(Shared(record));
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
