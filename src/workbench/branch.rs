//! Branch here: the run continues from an earlier mini-batch in another way, and stands beside itself on the Compare page.

use std::sync::{Arc, Mutex, PoisonError};

use super::background::Answer;
use super::event::Event;
use super::notices::Topic;
use super::{Gravity, Stage, TaskError, Workbench};
use atomscope_engine::dataset::Dataset;
use atomscope_engine::experiment::{
    Branch, Command, ComparedRun, Extent, JobProgress, KeptBranch, PairedDecisions, PartRecord,
    PartState, RunState, Timeline, change_texts,
};

/// What is done otherwise from the mini-batch on that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// The settings of the draft hold.
    Settings,
    /// The settings of the draft hold, and a sample is not learned any more.
    Without(usize),
    /// The settings of the draft hold, and a sample is learned as another class.
    As(usize, usize),
}

/// The other future of a run.
pub(super) struct Branched {
    run: ComparedRun,
    kept: KeptBranch,
    sentence: String,
}

impl Workbench {
    /// The mini-batch from which a branch would go: that which is replayed, or the last one.
    pub fn branch_batch(&self) -> Option<usize> {
        let part = self.shown_part()?;
        let last = part.rounds.last().map(|round| round.batch);
        self.selection.replay.or(last)
    }

    /// Why no branch can be taken; nothing if one can.
    pub fn branch_obstacle(&self) -> Option<String> {
        let experiment = &self.document.draft.experiment;
        let training = &self.document.training;
        let has_trained = training.is_alive() || training.state().is_some();
        if !has_trained || self.branch_batch().is_none() {
            return Some("nothing was trained yet".into());
        }
        if self.document.data.loaded().is_none() {
            return Some("the data are not loaded".into());
        }
        let problems = experiment.learner.problems();
        problems.into_iter().next().map(|problem| problem.message)
    }

    /// The share done of a branch.
    pub fn branching_share(&self) -> Option<f64> {
        self.tasks.branching.share()
    }

    /// Takes a branch of the run at the mini-batch that is looked at. A run in progress reports its state first.
    pub(super) fn branch(&mut self, otherwise: Otherwise) {
        let (Some(batch), None) = (self.branch_batch(), self.branch_obstacle()) else {
            return;
        };
        self.tasks.wanted_branch = Some((batch, otherwise));
        match self.document.training.is_alive() {
            true => self.document.training.command(Command::ReportState),
            false => self.branch_with_state(),
        }
    }

    /// The state of the run has come: takes the branch that waited for it.
    pub(super) fn branch_with_state(&mut self) {
        let Some((batch, otherwise)) = self.tasks.wanted_branch.take() else {
            return;
        };
        let state = self.document.training.state().cloned();
        let loaded = self.document.data.loaded().cloned();
        let (Some(state), Some(loaded)) = (state, loaded) else {
            return;
        };
        let samples = match otherwise {
            Otherwise::Settings => Vec::new(),
            Otherwise::Without(sample) => vec![(sample, None)],
            Otherwise::As(sample, class) => vec![(sample, Some(class))],
        };
        let what = match otherwise {
            Otherwise::Settings => None,
            Otherwise::Without(sample) => Some(format!("without {}", self.origin_of(sample))),
            Otherwise::As(sample, class) => {
                let name = state.facts.class_names.get(class).cloned();
                let origin = self.origin_of(sample);
                Some(format!("{origin} as {}", name.unwrap_or_default()))
            }
        };
        let branch = Branch {
            batch,
            learner: self.document.draft.experiment.learner.clone(),
            samples,
        };
        let timeline = self.document.training.timeline().clone();
        let (dataset, wrap) = (loaded.dataset.clone(), Event::Branched as _);
        let on = (&self.tasks.post, "branching", wrap);
        self.tasks.branching.start((), on, move |job| {
            other_future(&branch, what, &state, &timeline, dataset, job)
        });
    }

    /// Both futures stand side by side.
    pub(super) fn take_branched(&mut self, answer: Answer<Branched>) {
        match self.tasks.branching.take_once(answer) {
            Some(Ok(Branched {
                run,
                kept,
                sentence,
            })) => {
                let text = format!("{}: {sentence}", run.name);
                self.notices.post(Topic::Comparison, Gravity::Note, text);
                let places = self.document.places();
                self.tasks.comparison.add_branch(run, places);
                self.tasks.comparison.show_runs();
                self.document.keep_branch(Arc::new(kept));
                self.selection.page = Stage::Compare;
            }
            Some(Err(error)) => self.notices.fail(Topic::Training, &error),
            None => {}
        }
    }
}

fn other_future(
    branch: &Branch,
    what: Option<String>,
    state: &RunState,
    timeline: &Mutex<Timeline>,
    dataset: Arc<Dataset>,
    job: &JobProgress,
) -> Result<Branched, TaskError> {
    let experiment = state.experiment_with_folds();
    let checked = experiment.check(dataset).map_err(TaskError::Settings)?;
    let checked = Arc::new(checked);
    let mut run = {
        let timeline = timeline.lock().unwrap_or_else(PoisonError::into_inner);
        branch.begin(checked.clone(), &state.changes, &timeline)?
    };
    let own = run.changes().iter().filter(|c| c.batch == branch.batch);
    let settings = match own.count() {
        0 => None,
        _ => change_texts(&state.experiment.learner, run.changes())
            .pop()
            .map(|(_, text)| text),
    };
    let texts: Vec<String> = settings.into_iter().chain(what).collect();
    if texts.is_empty() {
        let text =
            "nothing is different: change λ, the budget or pruning first, or leave out a sample";
        return Err(TaskError::refused(text));
    }
    let mut news = Vec::new();
    while !run.is_complete() {
        if !job.go_on(run.progress().share()) {
            return Err(TaskError::Cancelled);
        }
        run.advance(Extent::Slice, &mut news)?;
        news.clear();
    }
    // In the order of time decisions count as they are made.
    let is_decided = |part: &&PartState| part.model.is_some() || part.record.in_time.is_some();
    let decided = state.parts.iter().filter(is_decided);
    let origin: Vec<&PartRecord> = decided.map(|part| part.record.0.as_ref()).collect();
    let classes = checked.dataset().classes();
    let paired = PairedDecisions::of(&origin, &run.complete_folds(), classes);
    let kept = KeptBranch {
        name: format!("branch at {}: {}", branch.batch, texts.join(", ")),
        state: run.state(),
    };
    let settings = kept.state.settings_now();
    Ok(Branched {
        run: ComparedRun::of_state(kept.name.clone(), &settings, &kept.state),
        kept,
        sentence: paired.sentence(),
    })
}
