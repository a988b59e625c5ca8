//! Which settings a part is trained with: those of the experiment, those changed on the way, or
//! those chosen on inner folds of its training samples.

use std::sync::Arc;

use super::super::auto::AutoChoice;
use super::super::checked::CheckedExperiment;
use super::super::error::{RunError, RunTrouble};
use super::super::state::SettingChange;
use super::{News, PartContext, PartRun, Phase, SLICE};
use crate::dataset::{MissingPolicy, Preparation};
use crate::learner::{LearnError, LearnerSettings};

impl PartRun {
    /// The settings for round number `round` (from 1): those of the experiment, or what they
    /// were changed to before it, with the width of the kernel in numbers.
    pub(super) fn settings_in_force(
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
        } else {
            if learner.kernel == experiment.learner.kernel {
                learner.kernel = self.kernel;
            }
            if learner.head == experiment.learner.head {
                learner.head = self.head;
            }
        }
        learner
    }

    /// What was chosen on inner folds, if settings were to be chosen and the search is over.
    pub(super) fn chosen(&self) -> Option<&AutoChoice> {
        self.record.auto.as_ref()?.chosen.as_ref()
    }

    pub(super) fn has_to_choose(&self, checked: &CheckedExperiment) -> bool {
        let chosen = self.chosen();
        checked.experiment().auto && chosen.is_none()
    }

    /// The settings of the learner: those chosen, or those of the experiment with the head in force.
    pub(super) fn own_learner(&self, checked: &CheckedExperiment) -> LearnerSettings {
        let chosen = self.chosen();
        let base = &checked.experiment().learner;
        let mut own = match chosen {
            Some(chosen) => chosen.learner(base),
            None => LearnerSettings {
                head: self.head,
                ..base.clone()
            },
        };
        let tried = self.record.auto.as_ref().filter(|_| chosen.is_some());
        if let Some(first) = tried.and_then(|tried| tried.heads().next()) {
            // What every head needs is learned; which of them decides is settled at the end.
            (own.head, own.gate) = (Some(first), true);
        }
        own
    }

    /// The settings of the preparation, likewise.
    pub(super) fn own_preparation(&self, checked: &CheckedExperiment) -> Preparation {
        let chosen = self.chosen();
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
    pub(super) fn choose(
        &mut self,
        around: PartContext<'_>,
        news: &mut Vec<News>,
    ) -> Result<f64, RunError> {
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
}
