//! What the user edits, and the steps back and forth between earlier versions of it.

use atomscope_engine::experiment::Experiment;
use atomscope_engine::session::RecordingNotes;

/// Most steps that can be taken back.
const MOST_STEPS: usize = 200;

/// Everything that can be edited and saved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Every setting.
    pub experiment: Experiment,
    /// What the session is called.
    pub title: String,
    /// What the user wrote down.
    pub notes: String,
    /// What the user has noted about recordings.
    pub recordings: Vec<RecordingNotes>,
}

impl Draft {
    /// The draft of an experiment without title and notes.
    pub fn of(experiment: Experiment) -> Self {
        Self {
            experiment,
            ..Self::default()
        }
    }
}

/// Earlier and later versions of a draft.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// The draft after the last finished edit.
    settled: Draft,
    back: Vec<Draft>,
    forth: Vec<Draft>,
}

impl Edits {
    /// No edits yet.
    pub(super) fn begin(draft: &Draft) -> Self {
        Self {
            settled: draft.clone(),
            ..Self::default()
        }
    }

    /// An edit is finished: what was before it can be had back.
    pub(super) fn settle(&mut self, draft: &Draft) {
        if self.settled == *draft {
            return;
        }
        let before = std::mem::replace(&mut self.settled, draft.clone());
        self.back.push(before);
        if self.back.len() > MOST_STEPS {
            self.back.remove(0);
        }
        self.forth.clear();
    }

    /// One edit back; an unfinished one is finished first.
    pub(super) fn undo(&mut self, draft: &mut Draft) {
        self.settle(draft);
        if let Some(before) = self.back.pop() {
            self.forth
                .push(std::mem::replace(&mut self.settled, before));
            draft.clone_from(&self.settled);
        }
    }

    /// One edit forth again.
    pub(super) fn redo(&mut self, draft: &mut Draft) {
        self.settle(draft);
        if let Some(after) = self.forth.pop() {
            self.back.push(std::mem::replace(&mut self.settled, after));
            draft.clone_from(&self.settled);
        }
    }

    /// Whether there is something to undo.
    pub(super) fn can_undo(&self, draft: &Draft) -> bool {
        !self.back.is_empty() || self.settled != *draft
    }

    /// Whether there is something to redo.
    pub(super) fn can_redo(&self, draft: &Draft) -> bool {
        !self.forth.is_empty() && self.settled == *draft
    }
}
