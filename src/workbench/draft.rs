//! What the user edits, and the steps back and forth between earlier versions of it.

use std::sync::Arc;

use atomscope_engine::experiment::{Experiment, RunState};
use atomscope_engine::session::RecordingNotes;

/// Most steps that can be undone.
const MOST_STEPS: usize = 200;
/// Most runs among them: their states are large.
const MOST_RUNS: usize = 3;

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

/// A run that another one has replaced.
#[derive(Clone, Debug)]
pub(super) struct ReplacedRun {
    pub(super) state: Arc<RunState>,
    /// Its number among the runs.
    pub(super) number: usize,
}

/// Something that can be undone.
#[derive(Debug)]
enum Step {
    /// The draft before an edit.
    Draft(Box<Draft>),
    /// The run that another one has replaced.
    Run(ReplacedRun),
}

/// A step back or forth: gives the run to be shown, if that is what the step is about.
pub(super) type StepOf = fn(&mut Edits, &mut Draft, Option<ReplacedRun>) -> Option<ReplacedRun>;

/// Earlier and later versions of a draft, and the runs that were replaced.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// The draft after the last finished edit.
    settled: Draft,
    back: Vec<Step>,
    forth: Vec<Step>,
}

impl Edits {
    /// No edits yet.
    pub(super) fn begin(draft: &Draft) -> Self {
        Self {
            settled: draft.clone(),
            ..Self::default()
        }
    }

    /// Changes every draft that can be restored.
    pub(super) fn change_all(&mut self, change: &dyn Fn(&mut Draft)) {
        change(&mut self.settled);
        for step in self.back.iter_mut().chain(&mut self.forth) {
            if let Step::Draft(draft) = step {
                change(draft);
            }
        }
    }

    /// An edit is finished: what was before it can be restored.
    pub(super) fn settle(&mut self, draft: &Draft) {
        if self.settled != *draft {
            let before = std::mem::replace(&mut self.settled, draft.clone());
            self.push(Step::Draft(Box::new(before)));
        }
    }

    /// A run was replaced by another one: it can be restored.
    pub(super) fn keep_run(&mut self, run: ReplacedRun) {
        self.push(Step::Run(run));
        let is_run = |step: &Step| matches!(step, Step::Run(_));
        while self.back.iter().filter(|step| is_run(step)).count() > MOST_RUNS {
            if let Some(oldest) = self.back.iter().position(is_run) {
                self.back.remove(oldest);
            }
        }
    }

    fn push(&mut self, step: Step) {
        self.back.push(step);
        if self.back.len() > MOST_STEPS {
            self.back.remove(0);
        }
        self.forth.clear();
    }

    /// One step back; an unfinished edit is finished first.
    pub(super) fn undo(
        &mut self,
        draft: &mut Draft,
        run: Option<ReplacedRun>,
    ) -> Option<ReplacedRun> {
        self.settle(draft);
        let step = self.back.pop()?;
        let (inverse, shown) = self.exchange(step, draft, run);
        self.forth.extend(inverse);
        shown
    }

    /// One step forth again.
    pub(super) fn redo(
        &mut self,
        draft: &mut Draft,
        run: Option<ReplacedRun>,
    ) -> Option<ReplacedRun> {
        self.settle(draft);
        let step = self.forth.pop()?;
        let (inverse, shown) = self.exchange(step, draft, run);
        self.back.extend(inverse);
        shown
    }

    /// Takes a step: the step that takes it back, and the run to be shown.
    fn exchange(
        &mut self,
        step: Step,
        draft: &mut Draft,
        run: Option<ReplacedRun>,
    ) -> (Option<Step>, Option<ReplacedRun>) {
        match step {
            Step::Draft(other) => {
                let present = std::mem::replace(&mut self.settled, *other);
                draft.clone_from(&self.settled);
                (Some(Step::Draft(Box::new(present))), None)
            }
            Step::Run(other) => (run.map(Step::Run), Some(other)),
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
