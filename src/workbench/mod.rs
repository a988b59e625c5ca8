//! The workbench: all application state, changed in one place; it knows nothing of the window that shows it.

mod action;
mod changes;
mod data;
mod dictionary;
mod draft;
mod files;
mod folds;
mod inspect;
mod look;
mod notices;
mod run_view;
mod stages;
mod training;
mod view;
mod width;

pub use action::{Action, Demo};
pub use changes::{algorithm_name, kernel_name, learner_summary, pruning_name, what_changed};
pub use data::{DataStage, LoadedData, RecordRow};
pub use dictionary::{AtomCard, DictionaryView};
pub use draft::Draft;
pub use files::SessionStage;
pub use folds::{GroupRow, MadeSplit, SplitStage};
pub use inspect::{AtomUse, Inspection, origin_text};
pub use look::{SignalChannel, SignalLook};
pub use notices::{Gravity, Notice, Notices};
pub use run_view::{EarlierRun, PartView, RunView};
pub use stages::{Stage, StageState, StageStatus, split_summary};
pub use training::TrainingStage;
pub use view::{Ask, Panel, View};

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use data::Loading;
use dictionary::{DictionaryStage, Moment};
use draft::Edits;
use files::{Opened, SaveEnd, SaveTo};

use crate::dataset::{DataSettings, MissingPolicy, Preparation, Scaling};
use crate::experiment::{Command, Experiment, Job, JobOutcome, JobProgress, Part, Status};
use crate::learner::Kernel;
use crate::session::{
    FoundRecovery, HistoryEntry, Preset, Session, SessionError, UserFolders, UserSettings,
    find_recovery,
};
use crate::simulate::eeg::EegSettings;
use crate::split::SplitPlan;

/// Called when there is something new to look at.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// A change of what is remembered about the user.
type SettingsEdit = Box<dyn FnOnce(&mut UserSettings) + Send>;

/// Starts work in the background that wakes the viewer at its end.
fn start_job<T: Send + 'static>(
    wake: &Wake,
    name: &str,
    work: impl FnOnce(&JobProgress) -> T + Send + 'static,
) -> Job<T> {
    let wake = wake.clone();
    Job::start(name, move || wake(), work)
}

/// Rounds a second of a demo.
const DEMO_ROUNDS_PER_S: f64 = 12.0;

/// What shall happen when data are loaded.
#[derive(Clone, Copy, Debug, Default)]
struct AfterLoading {
    /// The folds follow what is known of the data.
    chooses_split: bool,
    /// Training begins.
    trains: bool,
    /// It rests after one step.
    paused: bool,
}

/// A job whose result is shown until the next one.
struct Asked<T> {
    job: Option<Job<Result<T, String>>>,
    shown: Option<T>,
}

impl<T> Default for Asked<T> {
    fn default() -> Self {
        Self {
            job: None,
            shown: None,
        }
    }
}

impl<T: Send + 'static> Asked<T> {
    /// What failed, once.
    fn poll(&mut self) -> Option<String> {
        let outcome = self.job.as_ref()?.take()?;
        self.job = None;
        match outcome {
            JobOutcome::Done(Ok(value)) => {
                self.shown = Some(value);
                None
            }
            JobOutcome::Done(Err(message)) | JobOutcome::Failed(message) => Some(message),
        }
    }
}

/// All application state.
pub struct Workbench {
    draft: Draft,
    edits: Edits,
    data: DataStage,
    split: SplitStage,
    training: TrainingStage,
    dictionary: DictionaryStage,
    inspection: Asked<Inspection>,
    look: Asked<SignalLook>,
    width: Asked<f64>,
    files: SessionStage,
    notices: Notices,
    view: View,
    settings: UserSettings,
    settings_job: Option<Job<Result<UserSettings, SessionError>>>,
    /// Changes of the settings that wait for the job under way: two at once would be refused.
    settings_edits: Vec<SettingsEdit>,
    recovery_search: Option<Job<Result<FoundRecovery, SessionError>>>,
    folders: Option<UserFolders>,
    after_loading: AfterLoading,
    after_saving: Option<Action>,
    awaits_state: bool,
    demo: Option<Demo>,
    shows_banner: bool,
    is_over: bool,
    wake: Wake,
}

impl Workbench {
    /// A workbench with nothing loaded. Without folders nothing about the user is remembered.
    pub fn new(folders: Option<UserFolders>, wake: Wake) -> Self {
        let draft = Draft::default();
        let mut notices = Notices::default();
        let settings = match &folders {
            Some(folders) => {
                let (settings, damage) = UserSettings::load(folders);
                if let Some(damage) = damage {
                    notices.post(Gravity::Warning, damage.to_string());
                }
                settings
            }
            None => UserSettings::default(),
        };
        Self {
            edits: Edits::begin(&draft),
            files: SessionStage::new(&draft),
            draft,
            data: DataStage::default(),
            split: SplitStage::default(),
            training: TrainingStage::default(),
            dictionary: DictionaryStage::default(),
            inspection: Asked::default(),
            look: Asked::default(),
            width: Asked::default(),
            notices,
            view: View::default(),
            settings,
            settings_job: None,
            settings_edits: Vec::new(),
            recovery_search: None,
            folders,
            after_loading: AfterLoading::default(),
            after_saving: None,
            awaits_state: false,
            demo: None,
            shows_banner: false,
            is_over: false,
            wake,
        }
    }

    /// Looks for what a crash has left of a session without a name.
    pub fn look_for_recovery(&mut self) {
        if let Some(folders) = self.folders.clone() {
            let job = start_job(&self.wake, "recovery", move |_| {
                find_recovery(None, &folders)
            });
            self.recovery_search = Some(job);
        }
    }

    /// What the user edits.
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// The data stage.
    pub fn data(&self) -> &DataStage {
        &self.data
    }

    /// The split stage.
    pub fn split(&self) -> &SplitStage {
        &self.split
    }

    /// The training stage.
    pub fn training(&self) -> &TrainingStage {
        &self.training
    }

    /// The session on disk.
    pub fn files(&self) -> &SessionStage {
        &self.files
    }

    /// Things worth telling.
    pub fn notices(&self) -> &Notices {
        &self.notices
    }

    /// What is looked at.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// What is remembered about the user.
    pub fn settings(&self) -> &UserSettings {
        &self.settings
    }

    /// The dictionary of the chosen class, fold and moment.
    pub fn dictionary(&self) -> Option<&Arc<DictionaryView>> {
        self.dictionary.shown()
    }

    /// The explanation of the decision on a sample.
    pub fn inspection(&self) -> Option<&Inspection> {
        self.inspection.shown.as_ref()
    }

    /// The signal of a record.
    pub fn signal(&self) -> Option<&SignalLook> {
        self.look.shown.as_ref()
    }

    /// The demo that is open, as long as its banner is shown.
    pub fn banner(&self) -> Option<Demo> {
        self.demo.filter(|_| self.shows_banner)
    }

    /// Whether the program shall end: the user wants it, and nothing is left to be written.
    pub fn is_over(&self) -> bool {
        self.is_over && self.settings_job.is_none() && self.settings_edits.is_empty()
    }

    /// Whether there is something to undo.
    pub fn can_undo(&self) -> bool {
        self.edits.can_undo(&self.draft)
    }

    /// Whether there is something to redo.
    pub fn can_redo(&self) -> bool {
        self.edits.can_redo(&self.draft)
    }

    /// Whether a final model on all samples is trained after the folds.
    pub fn trains_final_model(&self) -> bool {
        self.training.final_model
    }

    /// Whether something would be lost now. What a demo does by itself is no loss.
    pub fn is_unsaved(&self) -> bool {
        match self.demo {
            Some(_) => self.files.is_edited(&self.draft),
            None => self.files.differs_from(&self.draft),
        }
    }

    /// What the session is called in the title.
    pub fn name(&self) -> String {
        match (self.files.path(), self.demo) {
            (Some(path), _) => path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            (None, Some(Demo::FeederFaults)) => "feeder demo".into(),
            (None, Some(Demo::Eeg)) => "EEG demo".into(),
            (None, None) => "untitled".into(),
        }
    }

    /// Whether work is under way in the background, training apart.
    pub fn is_busy(&self) -> bool {
        self.loading_share().is_some()
            || self.training.is_starting()
            || self.dictionary.is_busy()
            || self.files.is_busy()
            || self.inspection.job.is_some()
            || self.look.job.is_some()
            || self.width.job.is_some()
            || (self.data.loaded().is_some()
                && self.split.made().is_none()
                && self.split.error().is_none())
    }

    /// The share done of opening or loading.
    pub fn loading_share(&self) -> Option<f64> {
        self.data.loading_share().or(self.files.opening_share())
    }

    /// When something changes although nothing happens.
    pub fn next_change(&self) -> Option<Duration> {
        let moment = self.notices.next_change()?;
        Some(moment.saturating_duration_since(Instant::now()))
    }

    /// Values are missing and the draft does not say what to do about it.
    fn missing_values_problem(&self) -> Option<String> {
        let n_missing = self.data.loaded()?.dataset.n_missing();
        let refuses = self.draft.experiment.preparation.missing == MissingPolicy::Refuse;
        (n_missing > 0 && refuses).then(|| {
            format!(
                "{n_missing} values are missing: choose on the Features page what becomes of them"
            )
        })
    }

    /// Why training cannot begin; nothing if it can.
    pub fn obstacle(&self) -> Option<String> {
        let problems = self.draft.experiment.problems(None);
        if let Some(problem) = problems.into_iter().next() {
            return Some(problem.message);
        }
        if self.loading_share().is_some() {
            return Some("the data are being loaded".into());
        }
        if self.data.loaded().is_none() {
            return Some(match self.data.error() {
                Some(error) => error.to_owned(),
                None => "nothing is loaded yet: open data or a demo".into(),
            });
        }
        if let Some(error) = self.split.error() {
            return Some(error.to_owned());
        }
        self.missing_values_problem()
    }

    /// Whether Start would go on with a run that was stopped.
    pub fn goes_on(&self) -> bool {
        self.training.can_go_on() && self.stale().is_none()
    }

    /// The fold that is looked at.
    pub fn shown_fold(&self) -> Option<usize> {
        let run = self.training.run()?;
        let chosen = self
            .view
            .fold
            .filter(|fold| run.part(Part::Fold(*fold)).is_some());
        chosen.or_else(|| run.current_fold())
    }

    /// The fold that is looked at, with everything known of it.
    pub fn shown_part(&self) -> Option<&PartView> {
        let fold = self.shown_fold()?;
        self.training.run()?.part(Part::Fold(fold))
    }

    /// Takes over an edited draft. While something is held (a slider, a field being typed
    /// in) the edit is not finished and will be one step of undo.
    pub fn edit(&mut self, draft: Draft, is_held: bool) {
        self.draft = draft;
        if !is_held {
            self.edits.settle(&self.draft);
        }
    }

    /// Changes the draft as one edit.
    fn change(&mut self, edit: impl FnOnce(&mut Draft)) {
        self.edits.settle(&self.draft);
        edit(&mut self.draft);
        self.edits.settle(&self.draft);
    }

    /// Does what was asked for; what would lose unsaved work is asked about first.
    pub fn apply(&mut self, action: Action) {
        let loses = matches!(
            action,
            Action::NewSession
                | Action::Open(_)
                | Action::OpenDemo(_)
                | Action::Recover
                | Action::Quit
        );
        if loses && self.is_unsaved() {
            self.view.ask = Some(Ask::Unsaved(Box::new(action)));
            return;
        }
        self.perform(action);
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Show(stage) => self.view.page = stage,
            Action::NewSession => self.begin_session(Draft::default()),
            Action::Open(path) => self.open(path),
            Action::OpenDemo(demo) => self.open_demo(demo),
            Action::HideBanner => self.shows_banner = false,
            Action::Save => self.save(SaveTo::SamePlace),
            Action::SaveAs(path) => self.save(SaveTo::Other(path)),
            Action::Overwrite => self.save(SaveTo::Over),
            Action::Recover => self.recover(),
            Action::DeclineRecovery => self.decline_recovery(),
            Action::Quit => {
                self.files.close();
                self.is_over = true;
            }
            Action::SaveFirst => {
                if let Some(Ask::Unsaved(action)) = self.view.ask.take() {
                    self.after_saving = Some(*action);
                    self.save(SaveTo::SamePlace);
                }
            }
            Action::DoNotSave => {
                if let Some(Ask::Unsaved(action)) = self.view.ask.take() {
                    self.perform(*action);
                }
            }
            Action::Ask(ask) => self.view.ask = Some(ask),
            Action::CancelAsk => {
                self.view.ask = None;
                self.after_saving = None;
            }
            Action::LoadData => self.load_data(AfterLoading::default()),
            Action::CancelLoading => {
                self.data.cancel();
                self.files.cancel_opening();
            }
            Action::Start
            | Action::Pause
            | Action::StartOrPause
            | Action::Step
            | Action::Stop
            | Action::StartAnew
            | Action::TuneRun
            | Action::LimitSpeed(_)
            | Action::TrainFinalModel(_) => self.train(action),
            Action::Undo => self.edits.undo(&mut self.draft),
            Action::Redo => self.edits.redo(&mut self.draft),
            Action::SetTheme(theme) => self.remember(move |settings| settings.theme = theme),
            Action::SetTextSize(size) => {
                self.remember(move |settings| settings.text_size = size);
            }
            Action::SavePreset(name) => {
                let learner = self.draft.experiment.learner.clone();
                self.remember(move |settings| {
                    settings.presets.retain(|preset| preset.name != name);
                    settings.presets.push(Preset { name, learner });
                });
            }
            Action::RemovePreset(name) => {
                self.remember(move |settings| settings.presets.retain(|p| p.name != name));
            }
            look => self.look_at(look),
        }
    }

    /// Changes what is looked at.
    fn look_at(&mut self, action: Action) {
        let view = &mut self.view;
        match action {
            Action::ChooseClass(class) => {
                view.class = class;
                view.atom = None;
            }
            Action::ChooseFold(fold) => {
                view.fold = fold;
                view.cell = None;
            }
            Action::Replay(batch) => view.replay = batch,
            Action::ChooseAtom(atom) => view.atom = atom,
            Action::MarkAtomsSeen => self.dictionary.mark_seen(),
            Action::ChooseCell(cell) => view.cell = cell,
            Action::ChooseFeature(feature) => view.feature = feature,
            Action::ChooseSample(sample) => view.sample = sample,
            Action::Enlarge(panel) => view.enlarged = panel,
            Action::TogglePanel(panel) => {
                if !view.hidden.remove(&panel) {
                    view.hidden.insert(panel);
                }
            }
            Action::ToggleNotices => view.notices_open = !view.notices_open,
            Action::DismissNotice(id) => self.notices.dismiss(id),
            Action::Inspect(sample) => self.inspect(sample),
            Action::CloseInspection => self.inspection = Asked::default(),
            Action::LookAtRecord(source) => self.look_at_record(source),
            Action::SuggestWidth => self.suggest_width(),
            _ => {}
        }
    }

    fn train(&mut self, action: Action) {
        let status = self.training.run().map(|run| run.status.clone());
        let is_paused = self.training.is_alive() && status == Some(Status::Paused);
        let is_running = self.training.is_alive() && !is_paused;
        match action {
            Action::Start | Action::StartOrPause if is_paused => {
                self.training.command(Command::Resume);
            }
            Action::Pause | Action::StartOrPause if is_running => {
                self.training.command(Command::Pause);
            }
            Action::Start | Action::StartOrPause if !is_running => self.start(false, false),
            Action::StartAnew if !self.training.is_alive() => self.start(false, true),
            Action::Step if self.training.is_alive() => self.training.command(Command::StepOnce),
            Action::Step => self.start(true, false),
            Action::Stop => {
                self.training.command(Command::Stop);
                self.after_loading.trains = false;
            }
            Action::TuneRun => self.training.tune(&self.draft.experiment.learner),
            Action::LimitSpeed(rounds_per_s) => self.training.limit_speed(rounds_per_s),
            Action::TrainFinalModel(wanted) => self.training.final_model = wanted,
            _ => {}
        }
    }

    /// Begins training, or goes on with a run that was stopped.
    fn start(&mut self, paused: bool, anew: bool) {
        if self.training.is_starting() {
            return;
        }
        let wanted = &self.draft.experiment.data;
        let loaded = self
            .data
            .loaded()
            .filter(|l| l.settings == *wanted)
            .cloned();
        let Some(loaded) = loaded else {
            if self.loading_share().is_none() {
                self.load_data(AfterLoading::default());
            }
            self.after_loading.trains = true;
            self.after_loading.paused = paused;
            return;
        };
        self.view.replay = None;
        if self.goes_on() && !anew {
            self.training
                .resume(loaded.dataset.clone(), paused, &self.wake);
        } else {
            let experiment = self.draft.experiment.clone();
            self.training
                .start(experiment, loaded.dataset.clone(), paused, &self.wake);
        }
    }

    fn load_data(&mut self, after: AfterLoading) {
        self.after_loading = after;
        let settings = self.draft.experiment.data.clone();
        self.data.load(settings, self.files.places(), &self.wake);
    }

    /// Everything anew, with a draft.
    fn begin_session(&mut self, draft: Draft) {
        let session = Session::new(draft.experiment.clone());
        self.take_session(session, draft);
    }

    fn take_session(&mut self, session: Session, draft: Draft) {
        self.files.close();
        self.files = SessionStage::of(session, &draft);
        self.edits = Edits::begin(&draft);
        self.draft = draft;
        self.data.clear();
        self.split.clear();
        self.training.forget();
        if self.demo.is_some() {
            self.training.limit_speed(None);
        }
        self.dictionary.clear();
        self.inspection = Asked::default();
        self.look = Asked::default();
        self.demo = None;
        self.after_loading = AfterLoading::default();
        self.view = View {
            page: self.view.page,
            hidden: std::mem::take(&mut self.view.hidden),
            ..View::default()
        };
    }

    fn open_demo(&mut self, demo: Demo) {
        let experiment = match demo {
            Demo::FeederFaults => Experiment::default(),
            Demo::Eeg => Experiment {
                data: DataSettings::simulated_eeg(EegSettings {
                    effect: 1.2,
                    ..EegSettings::default()
                }),
                preparation: Preparation {
                    scaling: Scaling::ZScore,
                    ..Preparation::default()
                },
                ..Experiment::default()
            },
        };
        self.begin_session(Draft::of(experiment));
        // Slow enough to be watched.
        self.training.limit_speed(Some(DEMO_ROUNDS_PER_S));
        self.demo = Some(demo);
        self.shows_banner = true;
        self.load_data(AfterLoading {
            chooses_split: demo == Demo::Eeg,
            trains: true,
            paused: false,
        });
    }

    fn open(&mut self, path: PathBuf) {
        self.view.ask = None;
        self.files.open(path, self.folders.clone(), &self.wake);
    }

    fn take_opened(&mut self, opened: Opened) {
        match opened {
            Opened::Cancelled => {}
            Opened::Data(data) => {
                let experiment = Experiment {
                    data: *data,
                    ..self.draft.experiment.clone()
                };
                self.begin_session(Draft::of(experiment));
                self.view.page = Stage::Records;
                self.load_data(AfterLoading {
                    chooses_split: true,
                    ..AfterLoading::default()
                });
            }
            Opened::Session(session, found) => {
                self.show_session(*session);
                match found {
                    FoundRecovery::Nothing => {}
                    FoundRecovery::Offer(offer) => self.files.set_offer(Some(offer)),
                    FoundRecovery::Broken(error) => {
                        self.notices.post(Gravity::Warning, error.to_string());
                    }
                }
            }
        }
    }

    /// Shows a session with its run, and loads its data.
    fn show_session(&mut self, session: Session) {
        let draft = Draft {
            experiment: session.experiment.clone(),
            title: session.title.clone(),
            notes: session.notes.clone(),
        };
        if let Some(damage) = &session.damage {
            self.notices.post(Gravity::Warning, damage.to_string());
        }
        let (run, layout) = (session.run.clone(), session.layout.clone());
        if let Some(path) = session.path() {
            let path = path.to_owned();
            self.remember(move |settings| settings.remember_session(&path));
        }
        self.take_session(session, draft);
        if let Some(layout) = layout {
            self.view.take_layout(&layout);
        }
        self.training.show_saved(run);
        self.load_data(AfterLoading::default());
    }

    fn recover(&mut self) {
        if let Some(offer) = self.files.take_offer() {
            let (session, recovery) = offer.accept();
            self.show_session(session);
            self.files.hold(recovery);
        }
    }

    fn decline_recovery(&mut self) {
        if let Some(offer) = self.files.take_offer()
            && let Err(error) = offer.decline()
        {
            self.notices.post(Gravity::Warning, error.to_string());
        }
    }

    /// Saves, when the state of the run has been reported.
    fn save(&mut self, to: SaveTo) {
        self.view.ask = None;
        self.edits.settle(&self.draft);
        if to == SaveTo::SamePlace && self.files.path().is_none() {
            self.view.ask = Some(Ask::SaveAs);
            return;
        }
        let to = match to {
            SaveTo::Other(path) if path.extension().is_none() => {
                SaveTo::Other(path.with_extension("ron"))
            }
            to => to,
        };
        self.files.save_to = Some(to);
        self.ask_for_state();
    }

    fn ask_for_state(&mut self) {
        if self.training.is_alive() {
            self.awaits_state = true;
            self.training.command(Command::ReportState);
        }
    }

    /// Changes what is remembered about the user, here at once and on disk in the background.
    fn remember(&mut self, edit: impl FnOnce(&mut UserSettings) + Clone + Send + 'static) {
        edit.clone()(&mut self.settings);
        if self.folders.is_some() {
            self.settings_edits.push(Box::new(edit));
        }
    }

    fn inspect(&mut self, sample: usize) {
        let Some(run) = self.training.run() else {
            return;
        };
        let fold = run.test_folds.get(sample).copied().flatten();
        let part = fold.and_then(|fold| run.part(Part::Fold(fold)));
        let model = part.and_then(|part| part.model.clone());
        match (model, self.data.loaded()) {
            (Some(model), Some(loaded)) if sample < loaded.dataset.n_samples() => {
                let dataset = loaded.dataset.clone();
                self.inspection.job = Some(start_job(&self.wake, "explaining", move |_| {
                    inspect::inspect(&model, &dataset, sample)
                }));
            }
            _ => self.notices.post(
                Gravity::Note,
                "a decision can be explained when its fold is complete and the data are loaded",
            ),
        }
    }

    fn look_at_record(&mut self, source: usize) {
        if let Some(loaded) = self.data.loaded().cloned() {
            self.look.job = Some(start_job(&self.wake, "reading", move |_| {
                look::look(&loaded, source)
            }));
        }
    }

    fn suggest_width(&mut self) {
        if let Some(loaded) = self.data.loaded() {
            let dataset = loaded.dataset.clone();
            let preparation = self.draft.experiment.preparation;
            let kernel = self.draft.experiment.learner.kernel;
            self.width.job = Some(start_job(&self.wake, "median", move |_| {
                width::median_distance(&dataset, preparation, kernel)
            }));
        }
    }

    /// Takes over what the background has done since the last call; called once per frame.
    pub fn poll(&mut self) {
        let now = Instant::now();
        self.notices.tidy(now);
        self.poll_opening();
        self.poll_data();
        self.split.poll();
        if let Some(loaded) = self.data.loaded() {
            let plan = &self.draft.experiment.split;
            self.split.ask(plan, &loaded.dataset, &self.wake);
        }
        self.poll_training();
        self.poll_saving();
        self.poll_copies(now);
        self.poll_dictionary();
        self.poll_asked();
        self.poll_settings();
    }

    fn poll_opening(&mut self) {
        match self.files.poll_opening() {
            None => {}
            Some(Ok(opened)) => self.take_opened(opened),
            Some(Err(message)) => self.notices.post(Gravity::Error, message),
        }
        if let Some(outcome) = self.recovery_search.as_ref().and_then(Job::take) {
            self.recovery_search = None;
            match outcome {
                JobOutcome::Done(Ok(FoundRecovery::Offer(offer))) => {
                    self.files.set_offer(Some(offer));
                }
                JobOutcome::Done(Ok(FoundRecovery::Broken(error)) | Err(error)) => {
                    self.notices.post(Gravity::Warning, error.to_string());
                }
                JobOutcome::Done(Ok(FoundRecovery::Nothing)) | JobOutcome::Failed(_) => {}
            }
        }
    }

    fn poll_data(&mut self) {
        match self.data.poll() {
            None => {}
            Some(Loading::Cancelled) => self.after_loading = AfterLoading::default(),
            Some(Loading::Failed(message)) => {
                self.after_loading = AfterLoading::default();
                self.notices.post(Gravity::Error, message);
            }
            Some(Loading::Done(loaded)) => {
                for remark in &loaded.remarks {
                    self.notices.post(Gravity::Warning, remark.clone());
                }
                if let Some(first) = loaded.left_out.first() {
                    let text = format!(
                        "{} recordings or segments were left out, e.g. {}: {}",
                        loaded.left_out.len(),
                        first.source.display(),
                        first.reason
                    );
                    self.notices.post(Gravity::Warning, text);
                }
                let after = std::mem::take(&mut self.after_loading);
                if after.chooses_split {
                    let seed = self.draft.experiment.seed;
                    self.draft.experiment.split = SplitPlan::default_for(&loaded.dataset, seed);
                    self.edits = Edits::begin(&self.draft);
                    self.files.settle(&self.draft);
                }
                if after.trains {
                    self.start(after.paused, false);
                }
            }
        }
    }

    fn poll_training(&mut self) {
        let news = self.training.poll(&self.wake);
        if news.has_moved {
            self.files.run_has_changed();
        }
        if let Some(trouble) = news.trouble {
            self.notices.post(Gravity::Error, trouble);
        }
        if news.has_state {
            self.awaits_state = false;
        }
        if !self.training.is_alive() {
            self.awaits_state = false;
        }
        if news.is_complete {
            self.note_completion();
        }
    }

    fn note_completion(&mut self) {
        let Some(run) = self.training.run() else {
            return;
        };
        let Some(accuracy) = run.summary.as_ref().and_then(|summary| summary.accuracy) else {
            return;
        };
        let what = format!(
            "trained {}: {:.1} % over {} folds",
            learner_summary(run.learner_now()),
            100.0 * accuracy.mean,
            run.n_folds()
        );
        self.notices
            .post(Gravity::Done, format!("Training is complete: {what}"));
        let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let time_s = since_1970.map_or(0, |time| time.as_secs());
        let entry = HistoryEntry { time_s, what };
        self.files.session_mut().history.push(entry);
    }

    fn poll_saving(&mut self) {
        if !self.awaits_state {
            self.files.save_when_asked(
                &self.draft,
                self.training.state(),
                self.view.layout(),
                self.data.loaded(),
                &self.wake,
            );
        }
        match self.files.poll_saving() {
            None => {}
            Some(SaveEnd::Failed(message)) => {
                self.after_saving = None;
                self.notices.post(Gravity::Error, message);
            }
            Some(SaveEnd::ChangedOnDisk) => self.view.ask = Some(Ask::ChangedOnDisk),
            Some(SaveEnd::Done { path, before }) => {
                self.take_new_names(&before);
                self.demo = None;
                let text = format!("Saved: {}", path.display());
                self.notices.post(Gravity::Done, text);
                self.remember(move |settings| settings.remember_session(&path));
                if let Some(action) = self.after_saving.take() {
                    self.perform(action);
                }
            }
        }
    }

    /// Data may be called otherwise after a save in another place; everything here follows.
    fn take_new_names(&mut self, before: &Draft) {
        let session = self.files.session();
        let renamed = &session.experiment.data;
        if *renamed != before.experiment.data
            && self.draft.experiment.data == before.experiment.data
        {
            self.draft.experiment.data = renamed.clone();
            self.data.rename(renamed);
            if let Some(run) = &session.run {
                self.training.take_renamed(run);
            }
            self.edits = Edits::begin(&self.draft);
        }
    }

    fn poll_copies(&mut self, now: Instant) {
        if let Some(message) = self.files.poll_copy() {
            self.notices.post(Gravity::Warning, message);
        }
        let Some(folders) = self.folders.clone() else {
            return;
        };
        let is_worth_it = self.training.is_alive() && self.demo.is_none();
        if is_worth_it && !self.files.wants_copy && self.files.copy_is_due(now) {
            self.files.wants_copy = true;
            self.ask_for_state();
        }
        if self.files.wants_copy && !self.awaits_state {
            self.files.wants_copy = false;
            let run = self.training.state();
            self.files
                .copy(&self.draft, run, self.view.layout(), folders, &self.wake);
        }
    }

    fn poll_dictionary(&mut self) {
        self.dictionary.poll();
        let Some((moment, kernel, n_classes)) = self.moment() else {
            return;
        };
        let class = self.view.class.min(n_classes.saturating_sub(1));
        let loaded = self.data.loaded().map(|loaded| &loaded.dataset);
        self.dictionary
            .ask(&moment, class, kernel, loaded, &self.wake);
    }

    /// The dictionaries that are looked at.
    fn moment(&self) -> Option<(Moment, Kernel, usize)> {
        let run = self.training.run()?;
        let part = Part::Fold(self.shown_fold()?);
        let live = run.live.as_ref().filter(|live| live.part == part);
        let moment = match (self.view.replay, live) {
            (None, Some(live)) => Moment::Live(live.clone()),
            (replay, _) => Moment::Test(run.part(part)?.test_at(replay)?.clone()),
        };
        Some((moment, run.experiment.learner.kernel, run.facts.n_classes()))
    }

    fn poll_asked(&mut self) {
        let failures = [self.inspection.poll(), self.look.poll(), self.width.poll()];
        for message in failures.into_iter().flatten() {
            self.notices.post(Gravity::Error, message);
        }
        if let Some(width) = self.width.shown.take() {
            self.change(|draft| match &mut draft.experiment.learner.kernel {
                Kernel::Gaussian { width: own } | Kernel::Laplacian { width: own } => *own = width,
                _ => {}
            });
        }
    }

    fn poll_settings(&mut self) {
        match self.settings_job.as_ref().and_then(Job::take) {
            None => {}
            Some(JobOutcome::Done(Ok(_))) => self.settings_job = None,
            Some(JobOutcome::Done(Err(error))) => {
                self.settings_job = None;
                self.notices.post(Gravity::Warning, error.to_string());
            }
            Some(JobOutcome::Failed(message)) => {
                self.settings_job = None;
                self.notices.post(Gravity::Warning, message);
            }
        }
        let Some(folders) = self.folders.clone() else {
            return;
        };
        if self.settings_job.is_none() && !self.settings_edits.is_empty() {
            let edits = std::mem::take(&mut self.settings_edits);
            let job = start_job(&self.wake, "settings", move |_| {
                UserSettings::change(&folders, |settings| {
                    edits.into_iter().for_each(|edit| edit(settings));
                })
            });
            self.settings_job = Some(job);
        }
    }
}
