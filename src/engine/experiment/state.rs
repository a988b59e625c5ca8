//! A run as it can be saved: finished parts, parts in training, and what was changed on the way.

use serde::{Deserialize, Serialize};

use super::assignment::setting_differences;
use super::calibrating::CalibrationRecord;
use super::checked::{DataFacts, Part};
use super::model::TrainedModel;
use super::record::PartRecord;
use super::settings::Experiment;
use super::shared::Shared;
use super::summary::RunSummary;
use crate::learner::{LearnerSettings, StreamState};

/// Settings of the learner that were changed while it learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingChange {
    /// Rounds that a part had done when the change took effect in it; the same for all parts.
    pub batch: usize,
    /// Parts that were complete by then and stayed as they were.
    pub spared: Vec<Part>,
    /// All settings of the learner from then on.
    pub learner: LearnerSettings,
}

/// A sample that is learned otherwise from a round on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleChange {
    /// Rounds that a part had done when the change took effect in it.
    pub batch: usize,
    /// Place in the data set.
    pub sample: usize,
    /// The class it is learned as; none: it is not learned any more.
    pub class: Option<usize>,
}

impl SampleChange {
    /// The class that a sample is learned as in a round (from 0); none: it is not learned.
    pub(super) fn class_of(
        changes: &[Self],
        sample: usize,
        own: usize,
        round: usize,
    ) -> Option<usize> {
        let holds = |change: &&Self| change.sample == sample && change.batch <= round;
        let last = changes.iter().rev().find(holds);
        last.map_or(Some(own), |change| change.class)
    }
}

/// Each change of a run that began with the settings `start`: its mini-batch, and what was
/// changed in words ("L_max (200 → 150), λ₀ (0.98 → 0.9)").
pub fn change_texts(start: &LearnerSettings, changes: &[SettingChange]) -> Vec<(usize, String)> {
    let mut before = start;
    changes
        .iter()
        .map(|change| {
            let text = setting_differences("learner", before, &change.learner).join(", ");
            before = &change.learner;
            (change.batch, text)
        })
        .collect()
}

/// What a part needs to resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Halfway {
    /// Rounds done.
    pub n_rounds_done: usize,
    /// What was learned so far.
    pub model: TrainedModel,
    /// Where the samples stand.
    pub stream: StreamState,
    /// Samples judged for the calibration so far.
    #[serde(default)]
    pub calibration: Option<CalibrationRecord>,
}

/// A part of a saved run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartState {
    /// What is known of it so far.
    pub record: Shared<PartRecord>,
    /// What it has learned, if it is complete.
    pub model: Option<Shared<TrainedModel>>,
    /// What it needs to resume, if it is not.
    pub halfway: Option<Box<Halfway>>,
}

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunState {
    /// The settings it began with.
    pub experiment: Experiment,
    /// The data it learns from.
    pub facts: Shared<DataFacts>,
    /// In which fold each sample is tested.
    pub test_folds: Vec<Option<usize>>,
    /// The parts to be trained.
    pub planned: Vec<Part>,
    /// Those that have begun.
    pub parts: Vec<PartState>,
    /// What was changed on the way.
    pub changes: Vec<SettingChange>,
    /// Samples that were learned otherwise from some round on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<SampleChange>,
}

impl RunState {
    /// The settings that hold from the next round on: those of the start with the last change.
    pub fn settings_now(&self) -> Experiment {
        let learner = match self.changes.last() {
            Some(change) => &change.learner,
            None => &self.experiment.learner,
        };
        Experiment {
            learner: learner.clone(),
            ..self.experiment.clone()
        }
    }

    /// The changes that a run of `experiment` makes again: all if it begins as this run began,
    /// none if anything is different.
    pub fn changes_for(&self, experiment: &Experiment) -> Vec<SettingChange> {
        match self.experiment == *experiment {
            true => self.changes.clone(),
            false => Vec::new(),
        }
    }

    /// Whether all parts are complete.
    pub fn is_complete(&self) -> bool {
        let complete = self.parts.iter().filter(|part| part.model.is_some());
        complete.count() == self.planned.len()
    }

    /// The settings it began with, every group in the fold in which it was tested: also where the run was saved
    /// before folds were dealt by name.
    pub fn experiment_with_folds(&self) -> Experiment {
        let mut experiment = self.experiment.clone();
        if let Some(groups) = &self.facts.groups {
            experiment
                .split
                .keep_test_folds(&self.facts.group_names, groups, &self.test_folds);
        }
        experiment
    }

    /// How well the folds did on what they had not learned, in words: what stands beside every decision on something
    /// new. Nothing before a fold is complete.
    pub fn tested_in_words(&self) -> Option<String> {
        let complete = self.parts.iter().filter(|part| part.model.is_some());
        let records: Vec<&PartRecord> = complete.map(|part| &*part.record).collect();
        RunSummary::of(&self.facts, &records).in_words()
    }

    /// The model for new recordings.
    pub fn final_model(&self) -> Option<&Shared<TrainedModel>> {
        let part = |part: &&PartState| part.record.part == Part::Final;
        self.parts.iter().find(part)?.model.as_ref()
    }
}
