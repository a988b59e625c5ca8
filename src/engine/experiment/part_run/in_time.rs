//! The order of time: samples are judged as they come, and learned when their labels have come.

use std::sync::Arc;
use std::time::Instant;

use super::super::checked::{CheckedExperiment, Part};
use super::super::error::RunError;
use super::super::record::{TestRecord, TimeRecord};
use super::super::shared::Shared;
use super::super::state::SampleChange;
use super::super::testing::{Remedy, TestMemory, TestProgress, TestSubject};
use super::{Assessor, News, PartContext, PartRun, Phase, SLICE, round_operations};
use crate::evaluation::{ChangeWatch, Classifier, Confusion, WatchedAlarm};
use crate::learner::{Forgetting, LearnError, LearnerSettings, Progress, SampleStream, Supply};
use crate::split::ArrivalPlan;

/// Most samples that are judged in one step.
const JUDGED_AT_ONCE: usize = 2_000;

impl PartRun {
    /// Whether samples come in the order of time now: the start is learned, and not all is judged and learned.
    pub(super) fn is_in_time(&self, checked: &CheckedExperiment) -> bool {
        let Some(plan) = checked.arrivals() else {
            return false;
        };
        let is_under_way = self.next_round < self.record.n_rounds
            || (self.judges_arrivals(checked) && self.n_judged() < plan.order.len())
            || self.test_is_due();
        self.next_round >= checked.n_start_rounds(self.part) && is_under_way
    }

    /// Whether samples are judged when they come. The final model has no tests, but the rule about alarms needs
    /// decisions.
    fn judges_arrivals(&self, checked: &CheckedExperiment) -> bool {
        self.part != Part::Final || checked.experiment().on_alarm.is_some()
    }

    fn n_judged(&self) -> usize {
        self.record.decisions.sample.len()
    }

    /// Judges what comes before the next mini-batch, or learns it.
    pub(super) fn go_on_in_time(
        &mut self,
        around: PartContext<'_>,
        news: &mut Vec<News>,
    ) -> Result<f64, RunError> {
        let checked = around.checked;
        let Some(plan) = checked.arrivals().cloned() else {
            return Ok(0.0);
        };
        let number = self.next_round - checked.n_start_rounds(self.part);
        let next = plan.rounds.get(number);
        let until = next.map_or(plan.order.len(), |round| round.n_judged);
        if self.judges_arrivals(checked) && self.n_judged() < until {
            return self.judge_arrivals(around, &plan, until);
        }
        if self.test_is_due() {
            self.note_moment(checked, news);
            return Ok(0.0);
        }
        let Some(round) = next else {
            return Ok(0.0);
        };
        if self.watch_labels(around, &plan, round.n_labels)? {
            return Ok(0.0);
        }
        self.learn_arrivals(around, &plan, number, news)
    }

    fn judge_arrivals(
        &mut self,
        around: PartContext<'_>,
        plan: &ArrivalPlan,
        until: usize,
    ) -> Result<f64, RunError> {
        let begin = Instant::now();
        let checked = around.checked;
        let Some(learner) = self.learner.as_deref() else {
            return Ok(0.0);
        };
        if let (None, Some(calibration)) = (&self.assessor, &self.calibration) {
            let epsilon = checked.experiment().tests.epsilon;
            let assessor = Assessor::new(calibration.0.clone(), learner, epsilon);
            self.assessor = Some(Box::new(assessor));
        }
        let n_judged = self.n_judged();
        let coming = &plan.order[n_judged..until.min(n_judged + JUDGED_AT_ONCE)];
        let classifier = Classifier::of(learner).until(around.stop);
        let n_classes = checked.dataset().n_classes();
        let mut test = TestProgress::begin((None, 0), &classifier, n_classes, around.n_threads);
        let subject = TestSubject {
            values: self.values.columns(),
            samples: coming,
            classes: checked.dataset().classes(),
            damage: None,
            remedy: Remedy::None,
            dataset: checked.dataset(),
            assessor: self.assessor.as_deref(),
            head: learner.settings().head,
        };
        while test.n_done < coming.len() {
            match test.go_on(&classifier, &subject, &mut TestMemory::default()) {
                Ok(()) => {}
                Err(LearnError::Interrupted) => return Ok(0.0),
                Err(error) => return Err(self.error(error)),
            }
        }
        self.record.timing.testing += begin.elapsed();
        self.record.timing.n_tested += coming.len() as u64;
        Arc::make_mut(&mut self.record.decisions.0).append(test.decisions);
        Ok(SLICE / 10.0)
    }

    /// The detectors see decisions and the labels that have come; whether settings are to be changed first.
    fn watch_labels(
        &mut self,
        around: PartContext<'_>,
        plan: &ArrivalPlan,
        n_labels: usize,
    ) -> Result<bool, RunError> {
        let checked = around.checked;
        let n_classes = checked.dataset().n_classes();
        let mut time = self.record.in_time.take().unwrap_or_else(|| TimeRecord {
            watch: ChangeWatch::new(n_classes),
            ..TimeRecord::default()
        });
        let decisions = &self.record.decisions;
        let mut raised: Vec<WatchedAlarm> = Vec::new();
        let n_seen = usize::try_from(time.watch.n_decisions()).unwrap_or(usize::MAX);
        for place in n_seen..decisions.sample.len() {
            let fit_p = decisions.fit_p.get(place).copied();
            let (class, margin) = (decisions.class[place], decisions.margin[place]);
            let alarms = time.watch.decided(class, margin, fit_p, None);
            raised.extend(alarms.into_iter().map(|(_, alarm)| alarm));
        }
        let n_judged = decisions.sample.len();
        for place in time.n_labels..n_labels.min(n_judged) {
            let sample = plan.order[place];
            let own = checked.dataset().classes()[sample];
            let label = SampleChange::class_of(around.samples, sample, own, self.next_round);
            let Some(truth) = label else {
                continue;
            };
            let alarms = time.watch.corrected(decisions.class[place] != truth, None);
            raised.extend(alarms.into_iter().map(|(_, alarm)| alarm));
        }
        time.n_labels = n_labels.min(n_judged).max(time.n_labels);
        let rule = checked.experiment().on_alarm;
        if let Some(now) = self.learner.as_deref().map(|l| l.settings().forgetting) {
            let mut wanted = None;
            if let Some(faster) = rule.filter(|_| raised.iter().any(WatchedAlarm::is_worse)) {
                let usual = time.forgets_faster.map_or(now, |(_, usual)| usual);
                time.forgets_faster = Some((self.next_round + faster.n_batches, usual));
                wanted = Some(Forgetting::constant(faster.factor));
            } else if let Some((_, usual)) = time
                .forgets_faster
                .take_if(|(until, _)| self.next_round >= *until)
            {
                wanted = Some(usual);
            }
            if let Some(forgetting) = wanted.filter(|wanted| *wanted != now) {
                // All else stays as it was set; what was chosen by itself is no change.
                let mut others = around.changes.iter().rev();
                let other = others.find(|change| {
                    change.batch <= self.next_round && !change.spared.contains(&self.part)
                });
                let before = other.map_or(&checked.experiment().learner, |other| &other.learner);
                self.wanted_changes.push(LearnerSettings {
                    forgetting,
                    ..before.clone()
                });
            }
        }
        self.record.in_time = Some(time);
        Ok(!self.wanted_changes.is_empty())
    }

    fn learn_arrivals(
        &mut self,
        around: PartContext<'_>,
        plan: &ArrivalPlan,
        number: usize,
        news: &mut Vec<News>,
    ) -> Result<f64, RunError> {
        let checked = around.checked;
        let dataset = checked.dataset();
        let mut settings = self.settings_in_force(checked, around.changes, self.next_round + 1);
        // The plan of mini-batches follows from their size at the start.
        settings.batch_size = checked.experiment().learner.batch_size;
        let Some(learner) = self.learner.as_deref_mut() else {
            return Ok(0.0);
        };
        let mut orders = vec![Vec::new(); dataset.n_classes()];
        for &sample in &plan.rounds[number].learned {
            let own = dataset.classes()[sample];
            let round = self.next_round;
            if let Some(class) = SampleChange::class_of(around.samples, sample, own, round) {
                orders[class].push(sample);
            }
        }
        let view = self.values.columns();
        let mut stream = SampleStream::new(view, orders, Supply::Proportional)
            .until(around.stop)
            .on_threads(around.n_threads);
        let progress = Progress {
            round: self.next_round,
            n_rounds: self.record.n_rounds,
        };
        let begin = Instant::now();
        let mut learned = Ok(());
        if *learner.settings() != settings {
            learned = learner.change_settings(settings);
        }
        let mut report = self.reports.pop().unwrap_or_default();
        let learned = learned.and_then(|()| learner.step(progress, &mut stream, &mut report));
        let spent = begin.elapsed();
        let operations = round_operations(learner);
        match learned {
            Ok(()) => {}
            // The round is learned another time, as if it had never begun.
            Err(LearnError::Interrupted) => return Ok(0.0),
            Err(error) => return Err(self.error(error)),
        }
        if let Some(assessor) = &mut self.assessor
            && let Some(learner) = self.learner.as_deref()
        {
            assessor.renew(learner);
        }
        let first = number
            .checked_sub(1)
            .map_or(0, |before| plan.rounds[before].n_judged);
        report.prequential = self.right_of(checked, first..plan.rounds[number].n_judged);
        self.note_round(spent, &report, news);
        self.reports.push(report);
        Ok(operations)
    }

    /// Right ones and all of some decisions.
    fn right_of(
        &self,
        checked: &CheckedExperiment,
        places: std::ops::Range<usize>,
    ) -> Option<(usize, usize)> {
        let decisions = &self.record.decisions;
        let (samples, decided) = (
            decisions.sample.get(places.clone())?,
            decisions.class.get(places)?,
        );
        let classes = checked.dataset().classes();
        let pairs = samples.iter().zip(decided);
        let right = pairs.filter(|(sample, class)| classes[**sample] == **class);
        (!samples.is_empty()).then(|| (right.count(), samples.len()))
    }

    /// A test: everything that was decided so far.
    fn note_moment(&mut self, checked: &CheckedExperiment, news: &mut Vec<News>) {
        let Some(snapshot) = self.snapshot() else {
            return;
        };
        let mut confusion = Confusion::new(checked.dataset().n_classes());
        let decisions = &self.record.decisions;
        for (sample, class) in decisions.sample.iter().zip(&decisions.class) {
            confusion.add(checked.dataset().classes()[*sample], *class);
        }
        let record = Arc::new(TestRecord {
            batch: self.next_round,
            confusion,
            snapshot,
        });
        let decisions = decisions.0.clone();
        news.push(News::Test(self.part, record.clone(), decisions));
        self.record.tests.push(Shared(record));
        self.phase = Phase::Train;
    }
}
