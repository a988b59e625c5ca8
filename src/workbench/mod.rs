//! The workbench: all application state, changed in one place; it knows nothing of the window that shows it.

mod action;
mod admission;
mod changes;
mod columns;
mod comparing;
mod data;
mod deeds;
mod dictionary;
mod draft;
pub mod explore;
mod exports;
mod files;
mod folds;
mod inspect;
mod labels;
mod look;
mod notices;
mod panels;
mod poll;
mod run_view;
mod sessions;
mod stages;
mod sweep_look;
mod sweeping;
mod training;
mod view;

pub use action::{Action, Demo};
pub use admission::{Admissions, Criterion, NotMeasured};
pub use changes::{algorithm_name, kernel_name, learner_summary, pruning_name, what_changed};
pub use columns::{ColumnPreview, TableColumn};
pub use comparing::{
    Column, CompareAction, ComparePath, CompareTab, ComparisonStage, Contender, MOST_SEEDS,
};
pub use data::{DataStage, LoadedData, RecordRow};
pub use dictionary::{AtomCard, DictionaryView};
pub use draft::Draft;
pub use exports::FigurePainter;
pub use files::SessionStage;
pub use folds::{GroupRow, MadeSplit, SplitStage};
pub use inspect::{AtomUse, Inspection, origin_text};
pub use labels::LabelPreview;
pub use look::{SignalChannel, SignalLook};
pub use notices::{Gravity, Notice, Notices};
pub use panels::{Arrangement, Direction, Panel, Spot};
pub use run_view::{EarlierRun, PartView, RunView};
pub use stages::{Stage, StageState, StageStatus, number_of, split_summary};
pub use sweep_look::{SweepColumn, SweepLook};
pub use sweeping::{AxisForm, MOST_INNER_FOLDS, SweepAction, SweepCheck, SweepForm, SweepStage};
pub use training::TrainingStage;
pub use view::{Ask, View};

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use admission::AdmissionStage;
use dictionary::DictionaryStage;
use draft::Edits;
use explore::ExploreStage;

use atomscope_engine::dataset::{MissingPolicy, RecordingSource};
use atomscope_engine::experiment::{Job, JobOutcome, JobProgress, Part, TestRecord};
use atomscope_engine::session::{
    FoundRecovery, SessionError, UserFolders, UserSettings, find_recovery,
};

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

/// How often the progress of what takes long is shown.
const PROGRESS_EVERY: Duration = Duration::from_millis(150);

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

impl AfterLoading {
    /// What is left to be done when the data did not come.
    fn at_another_try(self) -> Self {
        Self {
            chooses_split: self.chooses_split,
            ..Self::default()
        }
    }
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
    comparison: ComparisonStage,
    inspection: Asked<Inspection>,
    look: Asked<SignalLook>,
    /// The sample whose signal the Features page has asked for last.
    previewed: Option<usize>,
    labels: Asked<LabelPreview>,
    labels_asked: Option<RecordingSource>,
    columns: Asked<ColumnPreview>,
    columns_asked: Vec<PathBuf>,
    exporting: Asked<PathBuf>,
    painter: Option<FigurePainter>,
    width: Asked<f64>,
    admissions: AdmissionStage,
    explore: ExploreStage,
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
        let mut view = View::default();
        view.take_layout(&settings.panels);
        Self {
            edits: Edits::begin(&draft),
            files: SessionStage::new(&draft),
            draft,
            data: DataStage::default(),
            split: SplitStage::default(),
            training: TrainingStage::default(),
            dictionary: DictionaryStage::default(),
            comparison: ComparisonStage::default(),
            inspection: Asked::default(),
            look: Asked::default(),
            previewed: None,
            labels: Asked::default(),
            labels_asked: None,
            columns: Asked::default(),
            columns_asked: Vec::new(),
            exporting: Asked::default(),
            painter: None,
            width: Asked::default(),
            admissions: AdmissionStage::default(),
            explore: ExploreStage::default(),
            notices,
            view,
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

    /// The recording that is explored.
    pub fn explore(&self) -> &ExploreStage {
        &self.explore
    }

    /// What the rules for class and group give.
    pub fn labels(&self) -> Option<&LabelPreview> {
        self.labels.shown.as_ref()
    }

    /// What the table or file of arrays offers to choose from.
    pub fn columns(&self) -> Option<&ColumnPreview> {
        self.columns.shown.as_ref()
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
            || self.columns.job.is_some()
            || self.exporting.job.is_some()
            || self.width.job.is_some()
            || self.comparison.is_busy()
            || self.explore.is_busy()
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
        let notice = self.notices.next_change();
        let notice = notice.map(|moment| moment.saturating_duration_since(Instant::now()));
        let progress = self.comparison.is_under_way().then_some(PROGRESS_EVERY);
        notice.into_iter().chain(progress).min()
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

    /// Whether a run that is complete can be given a final model, learned from all samples.
    pub fn can_add_final_model(&self) -> bool {
        self.training.lacks_final_model() && self.stale().is_none()
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

    /// The last test of that fold at the moment looked at.
    pub fn shown_test(&self) -> Option<&Arc<TestRecord>> {
        self.shown_part()?.test_at(self.view.replay)
    }

    /// The class whose dictionary and profile are looked at.
    pub fn shown_class(&self) -> usize {
        let run = self.training.run();
        let n_classes = run.map_or(0, |run| run.facts.n_classes());
        self.view.class.min(n_classes.saturating_sub(1))
    }

    /// The name of that class.
    pub fn shown_class_name(&self) -> &str {
        let names = self.training.run().map(|run| &run.facts.class_names);
        let name = names.and_then(|names| names.get(self.shown_class()));
        name.map_or("", String::as_str)
    }

    /// Where a sample comes from, as far as the data are loaded.
    pub fn origin_of(&self, sample: usize) -> String {
        match self.data.loaded().map(|loaded| &loaded.dataset) {
            Some(dataset) if sample < dataset.n_samples() => origin_text(dataset, sample),
            _ => format!("sample {sample}"),
        }
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
}
