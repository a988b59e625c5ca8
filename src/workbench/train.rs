//! Training: a run is checked in the background, driven by a worker, shown as it goes, and kept until another one replaces it.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use super::background::{Answer, BackgroundTask, Post};
use super::changes::learner_summary;
use super::draft::ReplacedRun;
use super::event::Event;
use super::notices::Topic;
use super::records::Then;
use super::run_view::{EarlierRun, RunView};
use super::{Gravity, TaskError, Workbench};
use atomscope_engine::dataset::Dataset;
use atomscope_engine::experiment::{
    Command, Experiment, Part, Run, RunParts, RunState, Shared, Status, Timeline, TrainedModel,
    Worker, available_threads,
};
use atomscope_engine::learner::{Algorithm, Forgetting, LearnerSettings};
use atomscope_engine::records::counted;
use atomscope_engine::session::{HistoryEntry, Session};

/// Earlier runs kept for comparison.
const MOST_EARLIER: usize = 6;

/// How a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// It runs until it is complete.
    Running,
    /// It pauses after one round.
    OneStep,
}

/// A change of the learner's settings while it learns.
#[derive(Clone, Debug, PartialEq)]
pub enum LearnerChange {
    /// λ and its schedule.
    Forgetting(Forgetting),
    /// L_max.
    Budget(usize),
    /// The settings of the algorithm: thresholds, pruning.
    Algorithm(Algorithm),
    /// Everything that may change during a run.
    All(Box<LearnerSettings>),
}

impl LearnerChange {
    /// What leads from one learner to another, as far as it can be changed on the way.
    fn between(then: &LearnerSettings, now: &LearnerSettings) -> Vec<Self> {
        let forgetting = (then.forgetting != now.forgetting).then_some(now.forgetting);
        let budget = (then.budget != now.budget).then_some(now.budget);
        let algorithm = (then.algorithm != now.algorithm).then(|| now.algorithm.clone());
        let changes = [
            forgetting.map(Self::Forgetting),
            budget.map(Self::Budget),
            algorithm.map(Self::Algorithm),
        ];
        changes.into_iter().flatten().collect()
    }

    /// The learner with this change; what shapes the state of a run stays.
    fn applied_to(self, learner: &LearnerSettings) -> LearnerSettings {
        let mut changed = learner.clone();
        match self {
            Self::Forgetting(forgetting) => changed.forgetting = forgetting,
            Self::Budget(budget) => changed.budget = budget,
            Self::Algorithm(algorithm) => changed.algorithm = algorithm,
            Self::All(wanted) => {
                changed = LearnerSettings {
                    kernel: learner.kernel,
                    n_atoms: learner.n_atoms,
                    sparsity: learner.sparsity,
                    ..*wanted
                }
            }
        }
        changed
    }
}

/// How training stands.
#[derive(Default)]
enum Driving {
    /// Nothing runs.
    #[default]
    Idle,
    /// A run is checked and made ready.
    Checking {
        task: BackgroundTask,
        beginning: Beginning,
    },
    /// A thread is at work or pauses.
    Working {
        worker: Worker,
        /// Settings that were sent and not confirmed yet.
        sent: Option<Box<LearnerSettings>>,
    },
    /// The last start was refused.
    Refused(String),
}

/// The run and what drives it.
#[derive(Default)]
pub struct TrainingState {
    driving: Driving,
    run: Option<RunView>,
    state: Option<Arc<RunState>>,
    /// The run that this one has replaced, until this one has got as far.
    superseded: Option<Arc<RunState>>,
    earlier: Vec<EarlierRun>,
    rounds_per_s: Option<f64>,
    /// Whether a final model on all samples is trained after the folds.
    final_model: bool,
    /// Runs begun or shown so far, so that one is not taken for another.
    n_begun: usize,
    /// The number of the run.
    number: usize,
    /// States of the run on its way, to go back to.
    timeline: Arc<Mutex<Timeline>>,
}

/// What the worker's mail has changed.
#[derive(Default)]
struct Moved {
    has_moved: bool,
    has_state: bool,
    trouble: Option<String>,
    is_complete: bool,
}

impl TrainingState {
    /// The run, as far as it has come.
    pub fn run(&self) -> Option<&RunView> {
        self.run.as_ref()
    }

    /// Puts a corrected model in place of the one that a part has learned, also in what is saved.
    pub(super) fn replace_model(&mut self, part: Part, model: &Arc<TrainedModel>) {
        if let Some(run) = &mut self.run {
            run.replace_model(part, model);
        }
        if let Some(state) = &mut self.state {
            let parts = &mut Arc::make_mut(state).parts;
            let own = parts.iter_mut().find(|own| own.record.part == part);
            if let Some(own) = own.filter(|own| own.model.is_some()) {
                own.model = Some(Shared(model.clone()));
            }
        }
    }

    /// Curves of runs before this one.
    pub fn earlier(&self) -> &[EarlierRun] {
        &self.earlier
    }

    /// The number of the run, another one for every run.
    pub(super) fn run_number(&self) -> usize {
        self.number
    }

    /// Why the last start failed.
    pub fn error(&self) -> Option<&str> {
        match &self.driving {
            Driving::Refused(reason) => Some(reason),
            Driving::Idle | Driving::Checking { .. } | Driving::Working { .. } => None,
        }
    }

    /// Whether a run is being checked and made ready.
    pub fn is_starting(&self) -> bool {
        matches!(self.driving, Driving::Checking { .. })
    }

    /// Whether a thread is at work or pauses.
    pub fn is_alive(&self) -> bool {
        matches!(self.driving, Driving::Working { .. })
    }

    /// The newest state of the run that was reported.
    pub(super) fn state(&self) -> Option<&Arc<RunState>> {
        self.state.as_ref()
    }

    /// The run that is saved, and a younger one that has not got as far.
    pub(super) fn kept_runs(&self) -> (Option<&Arc<RunState>>, Option<&Arc<RunState>>) {
        match &self.superseded {
            Some(superseded) => (Some(superseded), self.state.as_ref()),
            None => (self.state.as_ref(), None),
        }
    }

    /// Whether there are results that a copy keeps.
    pub(super) fn has_results(&self) -> bool {
        let has_own = |run: &RunView| run.summary.is_some();
        self.superseded.is_some() || self.run.as_ref().is_some_and(has_own)
    }

    /// States of the run on its way.
    pub(super) fn timeline(&self) -> &Arc<Mutex<Timeline>> {
        &self.timeline
    }

    /// The limit of speed, for watching.
    pub fn rounds_per_s(&self) -> Option<f64> {
        self.rounds_per_s
    }

    /// Whether a final model on all samples is trained after the folds.
    pub(super) fn trains_final_model(&self) -> bool {
        self.final_model
    }

    /// Whether a stopped run can be resumed.
    pub(super) fn can_resume(&self) -> bool {
        let is_partial = |state: &Arc<RunState>| !state.is_complete();
        !self.is_alive() && self.state.as_ref().is_some_and(is_partial)
    }

    /// Whether all folds are complete and no final model is planned.
    pub(super) fn lacks_final_model(&self) -> bool {
        let is_bare =
            |state: &Arc<RunState>| state.is_complete() && !state.planned.contains(&Part::Final);
        !self.is_alive() && !self.is_starting() && self.state.as_ref().is_some_and(is_bare)
    }

    /// Checks the experiment and begins it.
    fn start(
        &mut self,
        experiment: Experiment,
        dataset: Arc<Dataset>,
        beginning: Beginning,
        post: &Post,
    ) {
        let parts = RunParts {
            folds: None,
            final_model: self.final_model,
        };
        // A run that begins as the one before makes the same changes on its way.
        let before = self.state.as_ref();
        let changes = before.map_or_else(Vec::new, |state| state.changes_for(&experiment));
        self.check(beginning, post, move || {
            let checked = experiment.check(dataset).map_err(TaskError::Settings)?;
            Ok(Run::new(Arc::new(checked), &parts, changes)?)
        });
    }

    /// Resumes the run that was stopped or saved.
    fn resume(&mut self, dataset: Arc<Dataset>, beginning: Beginning, post: &Post) {
        let Some(state) = self.state.clone() else {
            return;
        };
        self.check(beginning, post, move || {
            let experiment = state.experiment_with_folds();
            let checked = experiment.check(dataset).map_err(TaskError::Settings)?;
            Ok(Run::resume(Arc::new(checked), RunState::clone(&state))?)
        });
    }

    fn check(
        &mut self,
        beginning: Beginning,
        post: &Post,
        make: impl FnOnce() -> Result<Run, TaskError> + Send + 'static,
    ) {
        let task = BackgroundTask::start(post, "checking", Event::RunReady, move |_| make());
        self.driving = Driving::Checking { task, beginning };
    }

    /// Shows a saved run, or none; one in progress ends.
    pub(super) fn show_saved(&mut self, state: Option<Arc<RunState>>) {
        self.driving = Driving::Idle;
        self.timeline = Arc::default();
        if state.is_some() {
            self.count_run();
        }
        self.run = state.as_deref().map(RunView::of_state);
        self.superseded = None;
        self.state = state;
    }

    fn count_run(&mut self) {
        self.n_begun += 1;
        self.number = self.n_begun;
    }

    /// Shows a younger run in place of the saved one. Gives back that one.
    pub(super) fn show_younger(&mut self, younger: Arc<RunState>) -> Option<ReplacedRun> {
        self.keep_for_comparison();
        let (replaced, superseded) = (self.replaced(), self.state.take());
        self.show_saved(Some(younger));
        self.superseded = superseded;
        replaced
    }

    /// The run as another one replaces it.
    fn replaced(&self) -> Option<ReplacedRun> {
        let number = self.number;
        let state = self.state.clone();
        state.map(|state| ReplacedRun { state, number })
    }

    /// The run that has got furthest, of this one and that which it has replaced.
    fn furthest(&self) -> Option<Arc<RunState>> {
        let runs = [&self.superseded, &self.state].into_iter().flatten();
        // Of equals the last.
        let furthest = runs.max_by_key(|state| (state.is_complete(), n_complete(state)));
        furthest.filter(|state| n_complete(state) > 0).cloned()
    }

    /// Brings back a run that another one has replaced.
    fn bring_back(&mut self, ReplacedRun { state, number }: ReplacedRun) {
        let (n_own, is_complete) = (n_complete(&state), state.is_complete());
        let furthest = self.furthest();
        let superseded = furthest.filter(|other| !gets_as_far(n_own, is_complete, other));
        self.show_saved(Some(state));
        self.number = number;
        self.superseded = superseded;
        let curve = self
            .run
            .as_ref()
            .and_then(|run| run.as_earlier(String::new()));
        if let Some(back) = curve {
            self.earlier.retain(|earlier| earlier.curve != back.curve);
        }
    }

    /// Names of data as they are after a save in another place.
    pub(super) fn take_renamed(&mut self, session: &Session) {
        let Some(saved) = &session.run else {
            return;
        };
        if let Some(run) = &mut self.run {
            run.experiment.data = saved.experiment.data.clone();
        }
        let younger = session.younger.clone();
        self.superseded = younger.is_some().then(|| saved.clone());
        self.state = Some(younger.unwrap_or_else(|| saved.clone()));
    }

    /// Tells the worker what to do, if there is one.
    pub(super) fn command(&self, command: Command) {
        if let Driving::Working { worker, .. } = &self.driving {
            worker.command(command);
        }
    }

    /// Changes settings of the run in progress.
    fn tune(&mut self, change: LearnerChange) {
        if let (Driving::Working { worker, sent }, Some(run)) = (&mut self.driving, &self.run) {
            // What was sent a moment ago is not undone by what is sent now.
            let now = sent.as_deref().unwrap_or(run.learner_now());
            let wanted = change.applied_to(now);
            if wanted != *now {
                worker.command(Command::ChangeLearner(Box::new(wanted.clone())));
                *sent = Some(Box::new(wanted));
            }
        }
    }

    pub(super) fn limit_speed(&mut self, rounds_per_s: Option<f64>) {
        self.rounds_per_s = rounds_per_s;
        self.command(Command::LimitSpeed(rounds_per_s));
    }

    /// Hands a run to a worker and shows it. Gives back the run that it replaces.
    fn drive(&mut self, mut run: Run, beginning: Beginning, post: &Post) -> Option<ReplacedRun> {
        let state = run.state();
        let mut replaced = None;
        self.run = Some(match state.parts.is_empty() {
            true => {
                self.keep_for_comparison();
                replaced = self.replaced();
                self.superseded = self.furthest();
                self.state = None;
                self.count_run();
                self.timeline = Arc::default();
                RunView::begin(&run, &state.planned)
            }
            false => RunView::of_state(&state),
        });
        run.keep_states(self.timeline.clone());
        let post = post.clone();
        let pauses = beginning == Beginning::OneStep;
        let wake = move || post.send(Event::Mail);
        let worker = Worker::start(run, available_threads(), pauses, wake);
        worker.command(Command::LimitSpeed(self.rounds_per_s));
        if pauses {
            worker.command(Command::StepOnce);
        }
        self.driving = Driving::Working { worker, sent: None };
        replaced
    }

    fn keep_for_comparison(&mut self) {
        let Some(run) = self.run.take() else {
            return;
        };
        let name = learner_summary(run.learner_now());
        self.earlier.extend(run.as_earlier(name));
        if self.earlier.len() > MOST_EARLIER {
            self.earlier.remove(0);
        }
    }

    fn take_mail(&mut self) -> Moved {
        let mut moved = Moved::default();
        let (Driving::Working { worker, sent }, Some(run)) = (&mut self.driving, &mut self.run)
        else {
            return moved;
        };
        let mut mail = worker.take_mail();
        let before = (run.progress, run.status.clone());
        let has_news = !mail.news.is_empty();
        run.take(&mut mail);
        moved.has_moved = has_news || before != (run.progress, run.status.clone());
        moved.trouble = mail.refusal.take();
        if moved.trouble.is_some() || sent.as_deref() == Some(run.learner_now()) {
            *sent = None;
        }
        if let Some(state) = mail.state.take() {
            self.state = Some(Arc::from(state));
            moved.has_state = true;
        }
        let (n_own, is_complete) = (run.records().count(), run.status == Status::Complete);
        self.superseded
            .take_if(|other| gets_as_far(n_own, is_complete, other));
        if run.status.is_over() {
            if let Status::Failed(message) = &run.status {
                moved.trouble = Some(format!("training stopped: {message}"));
            }
            moved.is_complete = run.status == Status::Complete;
            self.driving = Driving::Idle;
        }
        moved
    }
}

/// Complete parts of a run.
fn n_complete(state: &RunState) -> usize {
    let models = state.parts.iter().filter_map(|part| part.model.as_ref());
    models.count()
}

/// Whether a run of so many complete parts holds as much as another one.
fn gets_as_far(n_complete_parts: usize, is_complete: bool, other: &RunState) -> bool {
    is_complete || (!other.is_complete() && n_complete_parts >= n_complete(other))
}

impl Workbench {
    /// Begins training, or resumes a run that was stopped.
    pub(super) fn start(&mut self, beginning: Beginning, anew: bool) {
        if self.document.training.is_starting() || self.document.training.is_alive() {
            return;
        }
        let wanted = &self.document.draft.experiment.data;
        let loaded = self.document.data.loaded();
        let Some(loaded) = loaded.filter(|l| l.settings == *wanted).cloned() else {
            match self.document.data.then_mut() {
                Some(then) => then.trains = Some(beginning),
                None => self.load_data(Then {
                    trains: Some(beginning),
                    ..Then::default()
                }),
            }
            return;
        };
        self.replay(None);
        self.notices.forget(Topic::Training);
        let (dataset, post) = (loaded.dataset.clone(), &self.tasks.post);
        if self.can_resume() && !anew {
            self.document.training.resume(dataset, beginning, post);
        } else {
            let experiment = self.document.draft.experiment.clone();
            let training = &mut self.document.training;
            training.start(experiment, dataset, beginning, post);
        }
    }

    /// Begins, resumes or pauses, whichever is the other.
    pub(super) fn start_or_pause(&mut self) {
        match self.is_paused() {
            true => self.document.training.command(Command::Resume),
            false if self.document.training.is_alive() => {
                self.document.training.command(Command::Pause);
            }
            false => self.start(Beginning::Running, false),
        }
    }

    /// One round. A complete run has none left: it stays until the user starts another one.
    pub(super) fn step(&mut self) {
        let training = &self.document.training;
        if training.is_alive() {
            training.command(Command::StepOnce);
            return;
        }
        let is_complete = training.state().is_some_and(|state| state.is_complete());
        if is_complete && self.stale().is_none() {
            let text = "The run is complete. Start trains it again from the beginning.";
            self.notices.post(Topic::Training, Gravity::Note, text);
        } else {
            self.start(Beginning::OneStep, false);
        }
    }

    pub(super) fn stop(&mut self) {
        self.document.training.command(Command::Stop);
        if let Some(then) = self.document.data.then_mut() {
            then.trains = None;
        }
    }

    pub(super) fn is_paused(&self) -> bool {
        let run = self.document.training.run();
        self.document.training.is_alive() && run.is_some_and(|run| run.status == Status::Paused)
    }

    pub(super) fn add_final_model(&mut self) {
        if !self.can_add_final_model() {
            return;
        }
        if let Some(state) = &mut self.document.training.state {
            Arc::make_mut(state).planned.push(Part::Final);
        }
        self.start(Beginning::Running, false);
    }

    pub(super) fn tune_run(&mut self, change: LearnerChange) {
        self.document.training.tune(change);
    }

    pub(super) fn train_final_model(&mut self, wanted: bool) {
        self.document.training.final_model = wanted;
    }

    /// One edit back; the run in progress follows.
    pub(super) fn undo(&mut self) {
        self.go_through_edits(|edits, draft, run| edits.undo(draft, run));
    }

    /// One edit forth; the run in progress follows.
    pub(super) fn redo(&mut self) {
        self.go_through_edits(|edits, draft, run| edits.redo(draft, run));
    }

    fn go_through_edits(&mut self, step: super::draft::StepOf) {
        let scores = self.epoch_scores().cloned();
        let document = &mut self.document;
        let before = document.draft.experiment.learner.clone();
        let number = document.training.run_number();
        let present = document.training.state().cloned();
        let present = present.map(|state| ReplacedRun { state, number });
        if let Some(run) = step(&mut document.edits, &mut document.draft, present) {
            document.training.bring_back(run);
            document.run_has_changed();
            self.replay(None);
        }
        if let Some(before) = scores {
            self.show_rescored(&before);
        }
        let now = &self.document.draft.experiment.learner;
        for change in LearnerChange::between(&before, now) {
            // What the run never had is not undone in it.
            let is_possible = self.document.training.run().is_some_and(|run| {
                let changed = change.clone().applied_to(run.learner_now());
                run.learner_now().check_change(&changed).is_ok()
            });
            if is_possible {
                self.document.training.tune(change);
            }
        }
    }

    pub(super) fn take_run(&mut self, answer: Answer<Run>) {
        let training = &mut self.document.training;
        let beginning = match &training.driving {
            Driving::Checking { task, beginning } if task.is_answered_by(&answer) => *beginning,
            _ => return,
        };
        match answer.result() {
            Ok(run) => {
                let replaced = training.drive(run, beginning, &self.tasks.post);
                if let Some(replaced) = replaced {
                    self.document.edits.keep_run(replaced);
                }
            }
            Err(error) => {
                training.driving = Driving::Refused(error.to_string());
                self.notices.fail(Topic::Training, &error);
            }
        }
    }

    pub(super) fn take_mail(&mut self) {
        let moved = self.document.training.take_mail();
        if moved.has_moved {
            self.document.run_has_changed();
        }
        if let Some(trouble) = moved.trouble {
            self.notices.post(Topic::Training, Gravity::Error, trouble);
        }
        if moved.has_state || !self.document.training.is_alive() {
            self.write_with_state();
            self.branch_with_state();
        }
        if moved.is_complete {
            self.note_completion();
        }
    }

    fn note_completion(&mut self) {
        let Some(run) = self.document.training.run() else {
            return;
        };
        let Some(accuracy) = run.summary.as_ref().and_then(|summary| summary.accuracy) else {
            return;
        };
        let what = format!(
            "trained {}: {:.1} % over {}",
            learner_summary(run.learner_now()),
            100.0 * accuracy.mean,
            counted(run.n_folds(), "fold")
        );
        let text = format!("Training is complete: {what}");
        self.notices.post(Topic::Training, Gravity::Done, text);
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let time_s = since_1970.map_or(0, |time| time.as_secs());
        let entry = HistoryEntry { time_s, what };
        self.document.session.history.push(entry);
    }
}
