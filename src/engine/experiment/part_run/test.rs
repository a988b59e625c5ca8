//! The tests of a part: held-out samples, clean or with missing features, and the simple
//! classifiers on the same fold.

use std::sync::Arc;
use std::time::Instant;

use super::super::apply::fills_missing;
use super::super::calibrating::{Assessor, kept_samples};
use super::super::checked::{CheckedExperiment, Part};
use super::super::error::RunError;
use super::super::record::{MissingRecord, TestRecord};
use super::super::shared::Shared;
use super::super::testing::{Remedy, TestMemory, TestProgress, TestSubject};
use super::{News, PartContext, PartRun, Phase, SLICE};
use crate::dataset::Zeroing;
use crate::evaluation::{
    Baseline, BaselineData, BaselineResult, Classifier, FeatureFacts, Imputation, chance,
    nearest_mean, ridge_on_kept,
};
use crate::learner::{LearnError, Learner};
use crate::records::counted;
use crate::split::Fold;

/// Most values of a fold that simple classifiers are given: they hold a scaled copy of them, 1 GB.
const MOST_BASELINE_VALUES: usize = 1 << 27;

impl PartRun {
    /// The simple classifier that is still to be tried on this fold.
    pub(super) fn next_baseline(&self, around: PartContext<'_>) -> Option<Baseline> {
        if !around.extras.baselines || self.part == Part::Final || self.fold.test.is_empty() {
            return None;
        }
        let asked = &around.checked.experiment().tests.baselines;
        let in_time = around.checked.arrivals().is_some();
        // In the order of time the kept samples are among those that were tested.
        let is_fair = |baseline: &&Baseline| !in_time || **baseline != Baseline::RidgeOnKept;
        let asked = Baseline::ALWAYS.iter().chain(asked).filter(is_fair);
        let is_open = |baseline: &&Baseline| {
            let done = self.record.baselines.iter();
            !done.clone().any(|result| result.baseline == **baseline)
        };
        asked.copied().find(|baseline| is_open(&baseline))
    }

    pub(super) fn try_baseline(
        &mut self,
        baseline: Baseline,
        around: PartContext<'_>,
    ) -> Result<f64, RunError> {
        let dataset = around.checked.dataset();
        let view = self.values.columns();
        let Fold { train, test } = &self.fold;
        let decided = match (baseline, self.learner.as_deref()) {
            (Baseline::RidgeOnKept, Some(learner)) => {
                ridge_on_kept(learner, view, test, self.test_memory.tiles(), around.stop)
            }
            (Baseline::Chance, _) => {
                let (classes, n_classes) = (dataset.classes(), dataset.n_classes());
                Ok(Some(chance(train, classes, n_classes, test.len())))
            }
            _ if (train.len() + test.len()).saturating_mul(dataset.n_features())
                > MOST_BASELINE_VALUES =>
            {
                Ok(None)
            }
            (Baseline::NearestMean, _) => {
                let (classes, n_classes) = (dataset.classes(), dataset.n_classes());
                nearest_mean(view, train, test, classes, n_classes, around.stop).map(Some)
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
    pub(super) fn know_features(&mut self, checked: &CheckedExperiment) {
        if self.imputation.is_some() {
            return;
        }
        let (Some(learner), dataset) = (self.learner.as_deref(), checked.dataset()) else {
            return;
        };
        let model = Imputation::of(&kept_samples(learner));
        let samples = self.fold.train.iter().map(|sample| dataset.sample(*sample));
        let facts = FeatureFacts::of(samples, dataset.n_features());
        self.imputation = Some(Box::new((model, facts.zero_share)));
    }

    pub(super) fn test_is_due(&self) -> bool {
        self.test_is_due_at(self.next_round)
    }

    pub(super) fn test_is_due_at(&self, round: usize) -> bool {
        let next = self.moments.get(self.record.tests.len());
        next.is_some_and(|moment| round >= *moment)
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
        self.test_memory = TestMemory::default();
        self.know_features(checked);
        let Some(known) = &self.imputation else {
            return;
        };
        let (mut n_values, mut n_samples) = (0, 0);
        for &sample in self.fold.test.iter().filter(|sample| lacks(sample)) {
            let raw = dataset.sample(sample);
            let missing: Vec<bool> = raw.iter().map(|value| value.is_nan()).collect();
            let mut features = self.values.columns().column(sample).into_owned();
            known.0.fill(&mut features, &missing);
            self.values.filled.insert(sample, features);
            n_values += missing.iter().filter(|missing| **missing).count();
            n_samples += 1;
        }
        let remark = format!(
            "filled in from the kept samples: {} of {}",
            counted(n_values, "missing value"),
            counted(n_samples, "held-out sample")
        );
        if !self.record.remarks.contains(&remark) {
            self.record.remarks.push(remark);
        }
    }

    pub(super) fn begin_test(&mut self, zeroed: (Option<usize>, usize), around: PartContext<'_>) {
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
            // A last test leaves nothing to the next one.
            if self.record.tests.len() + 1 < self.moments.len() {
                let n_samples = self.fold.test.len();
                self.test_memory.make_room(n_samples, &classifier);
            }
            self.test_memory.begin(around.n_threads, n_classes);
            let test = TestProgress::begin(zeroed, &classifier, n_classes, around.n_threads);
            self.phase = Phase::Test(Box::new(test));
        }
    }

    pub(super) fn go_on_testing(
        &mut self,
        around: PartContext<'_>,
        news: &mut Vec<News>,
    ) -> Result<f64, RunError> {
        let begin = Instant::now();
        let checked = around.checked;
        let (Phase::Test(test), Some(learner)) = (&mut self.phase, self.learner.as_deref()) else {
            return Ok(0.0);
        };
        let view = self.values.columns();
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
        let classifier = Classifier::of(learner).until(around.stop);
        let outcome = test.go_on(&classifier, &subject, &mut self.test_memory);
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

    pub(super) fn note_test(&mut self, checked: &CheckedExperiment, news: &mut Vec<News>) {
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
        let decisions = Arc::new(test.decisions);
        self.record.decisions = Shared(decisions.clone());
        let record = Arc::new(TestRecord {
            batch: self.next_round,
            confusion: test.confusion,
            snapshot,
        });
        news.push(News::Test(self.part, record.clone(), decisions));
        self.record.tests.push(Shared(record));
    }
}
