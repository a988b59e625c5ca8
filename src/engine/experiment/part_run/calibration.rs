//! What the decisions of a part are worth: samples judged before they are learned, or by models
//! that have not learned from their group.

use std::sync::Arc;

use super::super::auto::AutoReport;
use super::super::calibrating::{
    CalibrationRecord, HeldOut, N_CHECKPOINTS, checkpoint, has_groups,
};
use super::super::checked::CheckedExperiment;
use super::super::error::{RunError, RunTrouble};
use super::super::shared::Shared;
use super::{PartContext, PartRun, Phase, SLICE};
use crate::evaluation::{CalibrationSource, Classifier, FEWEST_CALIBRATION_SAMPLES};
use crate::learner::{Head, LearnError, LearnerSettings, SampleStream};

impl PartRun {
    /// Whether decisions of this part are to be calibrated.
    pub(super) fn calibrates(&self, around: PartContext<'_>) -> bool {
        let tests = &around.checked.experiment().tests;
        let algorithm = &self.own_learner(around.checked).algorithm;
        tests.calibrate && around.extras.calibration && algorithm.remembers_all()
    }

    /// Whether samples are judged before they are learned: for the calibration, or to choose a head.
    pub(super) fn checkpoint_is_due(&self, around: PartContext<'_>) -> bool {
        self.checkpoint_is_due_at(self.next_round, around)
    }

    pub(super) fn checkpoint_is_due_at(&self, round: usize, around: PartContext<'_>) -> bool {
        let n_done = self
            .judged
            .as_ref()
            .map_or(0, |judged| judged.n_checkpoints);
        let n_rounds = around.checked.n_start_rounds(self.part);
        let is_there =
            n_done < N_CHECKPOINTS && round < n_rounds && round >= checkpoint(n_done, n_rounds);
        is_there
            && (self.calibrates(around) || around.checked.experiment().auto)
            && !has_groups(around.checked.dataset(), &self.fold.train)
    }

    /// Judges the samples up to the next checkpoint by what is learned now; those that were learned
    /// before tell nothing and are left out.
    pub(super) fn judge_upcoming(&mut self, around: PartContext<'_>) -> Result<f64, RunError> {
        let checked = around.checked;
        let dataset = checked.dataset();
        let own = self.own_learner(checked);
        let mut judged = self.judged.take().unwrap_or_else(|| {
            let tried = self.record.auto.iter().flat_map(AutoReport::heads);
            let heads: Vec<Option<Head>> = tried.map(Some).collect();
            CalibrationRecord::new(match heads.is_empty() {
                true => vec![own.head],
                false => heads,
            })
        });
        // Short trainings pass several checkpoints at once.
        let n_rounds = checked.n_start_rounds(self.part);
        let mut number = judged.n_checkpoints + 1;
        while number < N_CHECKPOINTS && checkpoint(number, n_rounds) <= self.next_round {
            number += 1;
        }
        let rounds = self.next_round..checkpoint(number, n_rounds);
        let view = self.values.columns();
        let mut upcoming = Vec::new();
        if let Some(stream) = self.stream.take() {
            let mut stream = SampleStream::resume(view, stream);
            stream.next_rounds(rounds, n_rounds, own.batch_size, &mut upcoming);
            self.stream = Some(stream.into_state());
        }
        let mut is_known = vec![false; dataset.n_samples()];
        for entry in self.record.log.entries() {
            if let Some(known) = is_known.get_mut(entry.sample) {
                *known = true;
            }
        }
        upcoming.retain(|sample| !std::mem::replace(&mut is_known[*sample], true));
        // Half of the training is judged.
        let stride = judged.stride(self.fold.train.len() / 2, dataset.n_classes());
        let mut place = 0..;
        upcoming.retain(|_| {
            place
                .next()
                .is_some_and(|place: usize| place.is_multiple_of(stride))
        });
        let outcome = match self.learner.as_deref() {
            Some(learner) => {
                judged.judge(&Classifier::of(learner).until(around.stop), view, &upcoming)
            }
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
    /// samples judged tell what decisions are worth. Grouped data and small sets need models of their
    /// own for that.
    pub(super) fn finish_calibration(&mut self, around: PartContext<'_>) -> Result<f64, RunError> {
        let checked = around.checked;
        self.is_calibrated = true;
        let judged = self.judged.take();
        let best = judged.as_ref().zip(self.learner.as_deref());
        let best = best.and_then(|(judged, learner)| {
            let classifier = Classifier::of(learner);
            judged.best_head(&classifier, checked.dataset(), &self.fold.train)
        });
        self.settle_head(best)?;
        if !self.calibrates(around) {
            return Ok(SLICE);
        }
        let held_out = self.learner.as_deref().and_then(|learner| {
            HeldOut::new(
                checked.dataset(),
                &self.fold.train,
                judged.as_ref().map_or(0, CalibrationRecord::n_samples),
                learner.settings().clone(),
                checked.experiment().seed,
            )
        });
        if let Some(held_out) = held_out {
            self.phase = Phase::Calibrate(Box::new(held_out));
        } else if let Some(judged) = judged {
            self.take_calibration(&judged, CalibrationSource::Prequential, checked);
        } else {
            self.remark_on_no_calibration();
        }
        Ok(SLICE)
    }

    /// Where settings are chosen: the head that was best before samples were learned, or that of the
    /// inner folds, decides from now on.
    pub(super) fn settle_head(&mut self, best: Option<(Head, f64)>) -> Result<(), RunError> {
        let chosen = self.record.auto.as_ref();
        let chosen = chosen.and_then(|auto| auto.chosen.as_ref());
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

    pub(super) fn take_calibration(
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
            self.values.columns(),
            dataset,
            &self.fold.train,
        );
        if calibration.is_none() {
            self.remark_on_no_calibration();
        }
        self.calibration = calibration.map(|calibration| Shared(Arc::new(calibration)));
    }

    /// Says that nobody can tell what decisions are worth.
    fn remark_on_no_calibration(&mut self) {
        self.record.remarks.push(format!(
            "nobody can tell what a decision is worth, or whether a sample is unlike all that were learned: fewer than {FEWEST_CALIBRATION_SAMPLES} training samples could be judged by what had not learned them; add samples"
        ));
    }

    /// Models that have not learned from some of the groups or samples judge them.
    pub(super) fn calibrate_by_models(&mut self, around: PartContext<'_>) -> Result<f64, RunError> {
        let checked = around.checked;
        let dataset = checked.dataset();
        let Phase::Calibrate(held_out) = &mut self.phase else {
            return Ok(0.0);
        };
        let view = self.values.columns();
        let training = checked.training(self.part);
        let outcome = held_out.step(dataset, view, &training, around.stop);
        match outcome {
            Ok(()) => {}
            Err(LearnError::Interrupted) => return Ok(0.0),
            Err(error) => return Err(self.error(error)),
        }
        if held_out.is_complete() {
            let judged = std::mem::take(&mut held_out.record);
            let source = held_out.source;
            self.take_calibration(&judged, source, checked);
            self.phase = Phase::Train;
        }
        Ok(SLICE)
    }
}
