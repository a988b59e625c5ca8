//! Labels of a stream: scores, learning, alarms and what is done about them.
//!
//! The settings of the learner at any mini-batch are those of the start with the last change before it, as in runs: a
//! change takes effect when the next mini-batch is learned. A stream that begins with the changes of another one makes
//! them again at the same mini-batches.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{LiveJudge, Outcome, StreamError};
use crate::evaluation::{AlarmAnswer, Confusion, FasterForgetting, WatchedAlarm};
use crate::experiment::{Judge, SettingChange, change_texts};
use crate::learner::{Forgetting, LearnerSettings};

/// Decisions with a known truth that the scores are made of.
const WINDOW: usize = 500;

/// Scores over the last decisions whose truth came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LiveScores {
    /// Truth and decision, the newest last.
    window: VecDeque<(usize, usize)>,
    /// All decisions with a truth.
    pub n_known: u64,
    /// Those that were right.
    pub n_right: u64,
}

impl LiveScores {
    /// Counts a decision.
    pub fn add(&mut self, truth: usize, decided: usize) {
        self.n_known += 1;
        self.n_right += u64::from(truth == decided);
        self.window.push_back((truth, decided));
        if self.window.len() > WINDOW {
            self.window.pop_front();
        }
    }

    /// The window as a confusion matrix: accuracy, kappa and balanced accuracy.
    pub fn confusion(&self, n_classes: usize) -> Confusion {
        let mut confusion = Confusion::new(n_classes);
        for (truth, decided) in &self.window {
            if *truth < n_classes && *decided < n_classes {
                confusion.add(*truth, *decided);
            }
        }
        confusion
    }
}

/// How a stream learns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Learning {
    /// λ of every mini-batch; 1 without it.
    pub forgetting: Option<f64>,
    /// The rule: what is done about every alarm that says that decisions have become worse.
    pub on_alarm: Option<FasterForgetting>,
}

impl Learning {
    /// Puts the usual λ in force.
    pub(super) fn begin(&self, judge: &mut Judge) -> Result<(), StreamError> {
        let settings = LearnerSettings {
            forgetting: Forgetting::constant(self.forgetting.unwrap_or(1.0)),
            ..judge.settings().clone()
        };
        judge
            .change_learner(settings)
            .map_err(|error| StreamError::Learn(error.into()))
    }
}

impl LiveJudge {
    /// The settings of the learner that hold from the next mini-batch on.
    pub fn settings_now(&self) -> &LearnerSettings {
        match self.state.changes.last() {
            Some(change) => &change.learner,
            None => self.judge.settings(),
        }
    }

    /// λ of the next mini-batch.
    pub fn factor_now(&self) -> f64 {
        let n_batches = self.judge.n_batches();
        self.settings_now()
            .forgetting
            .factor(n_batches, n_batches + 1)
    }

    /// Whether labels are learned.
    pub fn is_learning(&self) -> bool {
        self.learning.is_some()
    }

    /// How far the recursion has been from its definition at most, since the stream began.
    pub fn largest_drift(&self) -> f64 {
        self.largest_drift
    }

    /// Mini-batches learned, those of the training included.
    pub fn n_batches(&self) -> usize {
        self.judge.n_batches()
    }

    /// Every change so far: its mini-batch and what was changed in words.
    pub fn change_texts(&self, start: &LearnerSettings) -> Vec<(usize, String)> {
        change_texts(start, &self.state.changes)
    }

    /// Puts other settings of the learner in force, from the next mini-batch on, as a hand or a rule does.
    pub fn change_learner(&mut self, learner: LearnerSettings) -> Result<(), StreamError> {
        let now = self.settings_now();
        now.check_change(&learner)
            .map_err(|error| StreamError::Learn(error.into()))?;
        if *now == learner {
            return Ok(());
        }
        let batch = self.judge.n_batches();
        // A change that no mini-batch has seen is replaced.
        drop(self.state.changes.pop_if(|last| last.batch == batch));
        self.state.changes.push(SettingChange {
            batch,
            spared: Vec::new(),
            learner,
        });
        Ok(())
    }

    /// The changes of a stream that is to be repeated; its rule has made them already and makes none.
    pub fn repeat_changes(&mut self, changes: Vec<SettingChange>) {
        self.state.changes = changes;
        if let Some(learning) = &mut self.learning {
            learning.on_alarm = None;
        }
    }

    /// What can be done about an alarm that nobody has answered: nothing where nothing is learned.
    pub fn proposal(&self, alarm: usize) -> Option<FasterForgetting> {
        let open = self.state.watch.as_ref()?.alarms.get(alarm)?;
        let may_follow = self.learning.is_some() && open.answer.is_none();
        may_follow.then(|| FasterForgetting::proposed(self.factor_now()))
    }

    /// Does what is proposed about an alarm; in words what was done.
    pub fn apply_proposal(&mut self, alarm: usize) -> Result<Option<String>, StreamError> {
        match self.proposal(alarm) {
            Some(faster) => self.forget_faster(alarm, faster).map(Some),
            None => Ok(None),
        }
    }

    /// Nothing is done about an alarm.
    pub fn dismiss_alarm(&mut self, alarm: usize) {
        self.note_answer(alarm, AlarmAnswer::Dismissed);
    }

    fn note_answer(&mut self, alarm: usize, answer: AlarmAnswer) {
        let alarms = self.state.watch.as_mut().map(|watch| &mut watch.alarms);
        if let Some(alarm) = alarms.and_then(|alarms| alarms.get_mut(alarm)) {
            alarm.answer.get_or_insert(answer);
        }
    }

    fn forget_faster(
        &mut self,
        alarm: usize,
        faster: FasterForgetting,
    ) -> Result<String, StreamError> {
        let (before, settings) = (self.factor_now(), self.settings_now().clone());
        let usual = match self.state.forgets_faster {
            Some((_, usual)) => usual,
            None => settings.forgetting,
        };
        self.change_learner(LearnerSettings {
            forgetting: Forgetting::constant(faster.factor),
            ..settings
        })?;
        let until = self.judge.n_batches() + faster.n_batches;
        self.state.forgets_faster = Some((until, usual));
        self.note_answer(alarm, AlarmAnswer::Applied(faster));
        Ok(faster.sentence(before))
    }

    /// Tells of alarms, and answers them where there is a rule.
    pub(super) fn notice(&mut self, alarms: Vec<(usize, WatchedAlarm)>, outcome: &mut Outcome) {
        for (place, alarm) in alarms {
            outcome.notes.push(alarm.sentence(&self.class_names));
            let rule = self.learning.and_then(|learning| learning.on_alarm);
            match rule.filter(|_| alarm.is_worse()) {
                Some(faster) => match self.forget_faster(place, faster) {
                    Ok(sentence) => outcome.notes.push(sentence),
                    Err(error) => outcome.notes.push(error.to_string()),
                },
                None => {
                    let proposal = self.proposal(place);
                    let sentence = proposal.map(|faster| faster.sentence(self.factor_now()));
                    let proposed = sentence.map(|sentence| format!("proposed: {sentence}"));
                    outcome.notes.extend(proposed);
                }
            }
            outcome.alarms.push((place, alarm));
        }
    }

    /// The truth about a decision came.
    pub(super) fn score(
        &mut self,
        truth: usize,
        decided: usize,
        start_s: Option<f64>,
        outcome: &mut Outcome,
    ) {
        self.state.scores.add(truth, decided);
        if let Some(watch) = &mut self.state.watch {
            let alarms = watch.corrected(truth != decided, start_s);
            self.notice(alarms, outcome);
        }
    }

    /// Samples from one with this label on that are judged before the next mini-batch is learned.
    pub(super) fn n_until_batch(
        &self,
        first: Option<&str>,
        others: &VecDeque<(Vec<f64>, Option<String>)>,
    ) -> usize {
        if self.learning.is_none() {
            return 1 + others.len();
        }
        let batch_size = self.batch_size_due();
        let mut n_waiting = vec![0; self.class_names.len()];
        for (_, class) in &self.state.pending {
            n_waiting[*class] += 1;
        }
        let labels = others.iter().map(|(_, label)| label.as_deref());
        let mut n_judged = 0;
        for label in std::iter::once(first).chain(labels) {
            n_judged += 1;
            let class = self
                .class_names
                .iter()
                .position(|name| Some(name.as_str()) == label);
            if let Some(class) = class {
                n_waiting[class] += 1;
                if n_waiting[class] >= batch_size {
                    break;
                }
            }
        }
        n_judged
    }

    /// The settings that the next mini-batch is learned with, where they were changed.
    fn settings_due(&self) -> Option<&LearnerSettings> {
        let n_batches = self.judge.n_batches();
        let mut changes = self.state.changes.iter().rev();
        let due = changes.find(|change| change.batch <= n_batches);
        due.map(|change| &change.learner)
    }

    fn batch_size_due(&self) -> usize {
        let due = self.settings_due().unwrap_or(self.judge.settings());
        due.batch_size
    }

    /// Learns a sample when its mini-batch is complete: when one class has as many samples as the settings name.
    pub(super) fn learn(
        &mut self,
        features: Vec<f64>,
        class: usize,
        outcome: &mut Outcome,
    ) -> Result<(), StreamError> {
        if self.learning.is_none() {
            return Ok(());
        }
        self.state.pending.push((features, class));
        let of_class = |(_, other): &&(Vec<f64>, usize)| *other == class;
        let n_waiting = self.state.pending.iter().filter(of_class).count();
        if n_waiting < self.batch_size_due() {
            return Ok(());
        }
        let due = self.settings_due();
        if let Some(due) = due.filter(|due| *due != self.judge.settings()).cloned() {
            self.judge
                .change_learner(due)
                .map_err(|error| StreamError::Learn(error.into()))?;
        }
        let batch = std::mem::take(&mut self.state.pending);
        let report = self.judge.learn(&batch)?;
        let drifts = report.classes.iter().map(|class| class.health.drift);
        self.largest_drift = drifts.fold(self.largest_drift, f64::max);
        self.end_faster_forgetting(outcome)
    }

    fn end_faster_forgetting(&mut self, outcome: &mut Outcome) -> Result<(), StreamError> {
        let is_over = |(until, _): &mut (usize, Forgetting)| self.judge.n_batches() >= *until;
        if let Some((_, usual)) = self.state.forgets_faster.take_if(is_over) {
            self.change_learner(LearnerSettings {
                forgetting: usual,
                ..self.settings_now().clone()
            })?;
            let factor = self.factor_now();
            outcome.notes.push(format!("λ is {factor} again"));
        }
        Ok(())
    }
}
