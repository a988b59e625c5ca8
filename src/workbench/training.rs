//! The training stage: a run checked in the background, driven by a worker, shown as it goes.

use std::sync::Arc;

use super::changes::learner_summary;
use super::run_view::{EarlierRun, RunView};
use super::{Wake, start_job};
use atomscope_engine::dataset::Dataset;
use atomscope_engine::experiment::{
    Command, Experiment, Job, JobOutcome, Part, Run, RunParts, RunState, Status, Worker,
    available_threads,
};
use atomscope_engine::learner::LearnerSettings;

/// Earlier runs kept for comparison.
const MOST_EARLIER: usize = 6;

/// What the training stage has to tell after a look at its worker.
#[derive(Default)]
pub(super) struct TrainingNews {
    /// The run has got further.
    pub(super) has_moved: bool,
    /// The state of the run came in.
    pub(super) has_state: bool,
    /// Why something was refused or failed.
    pub(super) trouble: Option<String>,
    /// The run is complete since now.
    pub(super) is_complete: bool,
}

/// The training stage.
#[derive(Default)]
pub struct TrainingStage {
    starting: Option<Job<Result<Run, String>>>,
    starts_paused: bool,
    worker: Option<Worker>,
    run: Option<RunView>,
    state: Option<Arc<RunState>>,
    earlier: Vec<EarlierRun>,
    error: Option<String>,
    rounds_per_s: Option<f64>,
    /// Whether a final model on all samples is trained after the folds.
    pub(super) final_model: bool,
    /// Runs begun or shown so far, so that one is not taken for another.
    n_begun: usize,
}

impl TrainingStage {
    /// The run, as far as it has come.
    pub fn run(&self) -> Option<&RunView> {
        self.run.as_ref()
    }

    /// Curves of runs before this one.
    pub fn earlier(&self) -> &[EarlierRun] {
        &self.earlier
    }

    /// The number of the run, another one for every run.
    pub(super) fn run_number(&self) -> usize {
        self.n_begun
    }

    /// Why the last start failed.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Whether a run is being checked and made ready.
    pub fn is_starting(&self) -> bool {
        self.starting.is_some()
    }

    /// Whether a thread is at work or resting.
    pub fn is_alive(&self) -> bool {
        self.worker.is_some()
    }

    /// The newest state of the run that was reported.
    pub(super) fn state(&self) -> Option<&Arc<RunState>> {
        self.state.as_ref()
    }

    /// The limit of speed, for watching.
    pub fn rounds_per_s(&self) -> Option<f64> {
        self.rounds_per_s
    }

    /// Whether a stopped run can go on.
    pub(super) fn can_go_on(&self) -> bool {
        let is_partial = |state: &Arc<RunState>| !state.is_complete();
        !self.is_alive() && self.state.as_ref().is_some_and(is_partial)
    }

    /// Whether all folds are complete and no final model is planned.
    pub(super) fn lacks_final_model(&self) -> bool {
        let is_bare =
            |state: &Arc<RunState>| state.is_complete() && !state.planned.contains(&Part::Final);
        !self.is_alive() && !self.is_starting() && self.state.as_ref().is_some_and(is_bare)
    }

    /// A run that is complete has a final model to train, and can go on.
    pub(super) fn plan_final_model(&mut self) {
        if let Some(state) = &mut self.state {
            Arc::make_mut(state).planned.push(Part::Final);
        }
    }

    /// Checks the experiment and begins it.
    pub(super) fn start(
        &mut self,
        experiment: Experiment,
        dataset: Arc<Dataset>,
        paused: bool,
        wake: &Wake,
    ) {
        let parts = RunParts {
            folds: None,
            final_model: self.final_model,
        };
        // A run that begins as the one before makes the same changes on its way.
        let before = self.state.as_ref();
        let changes = before.map_or_else(Vec::new, |state| state.changes_for(&experiment));
        self.begin(paused, wake, move || {
            let checked = experiment.check(dataset).map_err(|problems| {
                let lines: Vec<String> = problems.into_iter().map(|p| p.message).collect();
                lines.join("; ")
            })?;
            Run::new(Arc::new(checked), &parts, changes).map_err(|error| error.to_string())
        });
    }

    /// Goes on with the run that was stopped or saved.
    pub(super) fn resume(&mut self, dataset: Arc<Dataset>, paused: bool, wake: &Wake) {
        let Some(state) = self.state.clone() else {
            return;
        };
        self.begin(paused, wake, move || {
            let state = RunState::clone(&state);
            let checked = state
                .experiment
                .clone()
                .check(dataset)
                .map_err(|problems| {
                    let lines: Vec<String> = problems.into_iter().map(|p| p.message).collect();
                    lines.join("; ")
                })?;
            Run::resume(Arc::new(checked), state).map_err(|error| error.to_string())
        });
    }

    fn begin(
        &mut self,
        paused: bool,
        wake: &Wake,
        make: impl FnOnce() -> Result<Run, String> + Send + 'static,
    ) {
        self.error = None;
        self.starts_paused = paused;
        self.starting = Some(start_job(wake, "checking", move |_| make()));
    }

    /// Shows a saved run.
    pub(super) fn show_saved(&mut self, state: Option<Arc<RunState>>) {
        self.forget();
        self.n_begun += 1;
        self.run = state.as_deref().map(RunView::of_state);
        self.state = state;
    }

    /// Ends and forgets everything but the earlier runs and the user's choices.
    pub(super) fn forget(&mut self) {
        *self = Self {
            earlier: std::mem::take(&mut self.earlier),
            rounds_per_s: self.rounds_per_s,
            final_model: self.final_model,
            n_begun: self.n_begun,
            ..Self::default()
        };
    }

    /// Names of data as they are after a save in another place.
    pub(super) fn take_renamed(&mut self, state: &Arc<RunState>) {
        if let Some(run) = &mut self.run {
            run.experiment.data = state.experiment.data.clone();
        }
        self.state = Some(state.clone());
    }

    pub(super) fn command(&mut self, command: Command) {
        if let Some(worker) = &self.worker {
            worker.command(command);
        }
    }

    pub(super) fn tune(&mut self, wanted: &LearnerSettings) {
        if let Some(run) = &self.run {
            let wanted = tuned(run.learner_now(), wanted);
            if wanted != *run.learner_now() {
                self.command(Command::ChangeLearner(Box::new(wanted)));
            }
        }
    }

    pub(super) fn limit_speed(&mut self, rounds_per_s: Option<f64>) {
        self.rounds_per_s = rounds_per_s;
        self.command(Command::LimitSpeed(rounds_per_s));
    }

    pub(super) fn poll(&mut self, wake: &Wake) -> TrainingNews {
        let mut news = TrainingNews::default();
        if let Some(outcome) = self.starting.as_ref().and_then(Job::take) {
            self.starting = None;
            match outcome {
                JobOutcome::Done(Ok(run)) => self.drive(run, wake),
                JobOutcome::Done(Err(message)) | JobOutcome::Failed(message) => {
                    self.error = Some(message.clone());
                    news.trouble = Some(message);
                }
            }
        }
        self.take_mail(&mut news);
        news
    }

    /// Hands a run to a worker and shows it.
    fn drive(&mut self, run: Run, wake: &Wake) {
        let state = run.state();
        let view = match state.parts.is_empty() {
            true => {
                self.keep_for_comparison();
                self.n_begun += 1;
                self.state = None;
                RunView::begin(&run)
            }
            false => RunView::of_state(&state),
        };
        self.run = Some(view);
        let wake = wake.clone();
        let worker = Worker::start(run, available_threads(), self.starts_paused, move || wake());
        worker.command(Command::LimitSpeed(self.rounds_per_s));
        if self.starts_paused {
            worker.command(Command::StepOnce);
        }
        self.worker = Some(worker);
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

    fn take_mail(&mut self, news: &mut TrainingNews) {
        let (Some(worker), Some(run)) = (&self.worker, &mut self.run) else {
            return;
        };
        let mut mail = worker.take_mail();
        let before = (run.progress, run.status.clone());
        let has_news = !mail.news.is_empty();
        run.take(&mut mail);
        news.has_moved = has_news || before != (run.progress, run.status.clone());
        news.trouble = mail.refusal.take().or(news.trouble.take());
        if let Some(state) = mail.state.take() {
            self.state = Some(Arc::from(state));
            news.has_state = true;
        }
        if run.status.is_over() {
            if let Status::Failed(message) = &run.status {
                news.trouble = Some(format!("training stopped: {message}"));
            }
            news.is_complete = run.status == Status::Complete;
            self.worker = None;
        }
    }
}

/// The settings wanted, as far as they may change while a run goes on.
fn tuned(now: &LearnerSettings, wanted: &LearnerSettings) -> LearnerSettings {
    LearnerSettings {
        kernel: now.kernel,
        n_atoms: now.n_atoms,
        sparsity: now.sparsity,
        ..wanted.clone()
    }
}
