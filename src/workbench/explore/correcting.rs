//! Corrections by a reviewer: the open model learns another class for a segment at once; undo takes it back exactly.

use std::sync::Arc;

use super::ExploreEvent;
use super::judging::ModelChoice;
use crate::workbench::background::Answer;
use crate::workbench::event::Event;
use crate::workbench::notices::Topic;
use crate::workbench::{Gravity, TaskError, Workbench};
use atomscope_engine::experiment::{Correction, Part, TrainedModel};
use atomscope_engine::session::{change_notes, notes_on};

/// A correction with the models before and after it; both are kept, so that undo and redo are exact.
#[derive(Clone, Debug)]
pub(in crate::workbench) struct Reviewed {
    recording: String,
    correction: Correction,
    /// Its place among the corrections noted of the recording.
    number: usize,
    part: Part,
    before: Arc<TrainedModel>,
    after: Arc<TrainedModel>,
}

/// Corrections done, and those undone.
#[derive(Default)]
pub(super) struct Review {
    pub(super) learning: super::Background<usize, Reviewed>,
    done: Vec<Reviewed>,
    undone: Vec<Reviewed>,
}

impl Workbench {
    /// What a reviewer has said of the open recording.
    pub fn corrections(&self) -> &[Correction] {
        let name = self.tasks.explore.opened().map(|opened| &opened.name);
        let notes = name.and_then(|name| notes_on(&self.document.draft.recordings, name));
        notes.map_or(&[][..], |notes| &notes.corrections)
    }

    /// Gives a segment another class, or calls it an artefact; the model of the segment learns it in one online step.
    pub(super) fn correct(&mut self, segment: usize, class: Option<usize>) {
        let Some(opened) = self.tasks.explore.opened() else {
            return;
        };
        let recording = opened.name.clone();
        let Some(judged) = self.tasks.explore.ribbon.judged_shared().cloned() else {
            return;
        };
        let (Some(found), Some(before)) = (
            judged.ribbon.segments.get(segment),
            judged.models.get(segment).cloned(),
        ) else {
            return;
        };
        if judged.choice == ModelChoice::Other || self.document.training.is_alive() {
            let text = match judged.choice {
                ModelChoice::Other => {
                    "open the session of this model to correct it: it belongs to another session"
                }
                _ => "a model is corrected when its training has ended",
            };
            self.notices.post(Topic::Explore, Gravity::Warning, text);
            return;
        }
        let names = &judged.ribbon.class_names;
        let correction = Correction {
            start_s: found.start_s,
            duration_s: found.duration_s,
            before: judged.ribbon.class_name(found.verdict.class).to_owned(),
            after: class.and_then(|class| names.get(class).cloned()),
        };
        let number = self.corrections().len();
        let wrap = |answer| Event::Explore(ExploreEvent::Corrected(answer));
        let on = (&self.tasks.post, "correcting", wrap as _);
        let learning = &mut self.tasks.explore.ribbon.review.learning;
        learning.start(segment, on, move |_| {
            let features = judged
                .features(segment)
                .ok_or_else(|| TaskError::refused("there is no such segment"))?;
            let after = match class {
                Some(class) => before
                    .corrected(&features, class)
                    .map_err(|error| TaskError::Refused(error.to_string()))?,
                None => TrainedModel::clone(&before),
            };
            Ok(Reviewed {
                recording,
                correction,
                number,
                part: before.part,
                before,
                after: Arc::new(after),
            })
        });
    }

    /// The corrected model takes the place of the one before it, and the change stands in the notes of the recording.
    pub(super) fn take_corrected(&mut self, answer: Answer<Reviewed>) {
        let taken = self.tasks.explore.ribbon.review.learning.take(answer);
        let Some(reviewed) = self.tell_failure(Topic::Explore, taken) else {
            return;
        };
        let reviewed = Reviewed::clone(&reviewed);
        let is_current = self.replace_model(reviewed.part, &reviewed.before, &reviewed.after);
        if !is_current {
            let text = "the model has changed meanwhile: correct the segment again";
            self.notices.post(Topic::Explore, Gravity::Warning, text);
            return;
        }
        let (name, correction) = (reviewed.recording.clone(), reviewed.correction.clone());
        self.change(|draft| {
            change_notes(&mut draft.recordings, &name, |notes| {
                notes.corrections.push(correction);
            });
        });
        let review = &mut self.tasks.explore.ribbon.review;
        review.undone.clear();
        review.done.push(reviewed);
    }

    /// Undo and redo of the notes change the model with them.
    pub(super) fn follow_corrections(&mut self) {
        let is_noted = |workbench: &Self, reviewed: &Reviewed| {
            let notes = notes_on(&workbench.document.draft.recordings, &reviewed.recording);
            let noted = notes.and_then(|notes| notes.corrections.get(reviewed.number));
            noted == Some(&reviewed.correction)
        };
        while let Some(last) = self.tasks.explore.ribbon.review.done.last().cloned() {
            if is_noted(self, &last) {
                break;
            }
            self.replace_model(last.part, &last.after, &last.before);
            let review = &mut self.tasks.explore.ribbon.review;
            review.done.pop();
            review.undone.push(last);
        }
        while let Some(next) = self.tasks.explore.ribbon.review.undone.last().cloned() {
            if !is_noted(self, &next) {
                break;
            }
            self.replace_model(next.part, &next.before, &next.after);
            let review = &mut self.tasks.explore.ribbon.review;
            review.undone.pop();
            review.done.push(next);
        }
    }

    /// Puts a model in place of another and judges the open recording anew; false where the other is not in force.
    fn replace_model(
        &mut self,
        part: Part,
        before: &Arc<TrainedModel>,
        after: &Arc<TrainedModel>,
    ) -> bool {
        let training = &mut self.document.training;
        let current = training.run().and_then(|run| run.part(part)?.model.clone());
        if !current.is_some_and(|current| Arc::ptr_eq(&current, before)) {
            return false;
        }
        training.replace_model(part, after);
        // Records of the data are judged anew without being asked.
        let is_judged = self.tasks.explore.ribbon.judged().is_some();
        if is_judged && self.known_source().is_none() {
            self.find_models();
            self.judge_opened();
        }
        true
    }
}
