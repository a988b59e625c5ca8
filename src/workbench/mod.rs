//! The workbench: all application state, changed in one place; it knows nothing of the window that shows it.

mod action;
mod admission;
mod background;
mod branch;
mod changes;
mod columns;
mod commands;
mod compare;
mod dictionary;
mod document;
mod draft;
mod error;
mod event;
mod examples;
pub mod explore;
mod export;
mod folds;
mod groupings;
mod inspect;
mod labels;
mod live;
mod notices;
mod open;
mod panels;
mod path_ask;
mod records;
mod recover;
mod remember;
mod run_view;
mod save;
mod selection;
mod signal;
mod stages;
mod sweep;
mod sweep_cluster;
mod sweep_results;
mod train;

pub use action::{Action, Demo};
pub use admission::{Admissions, Criterion, NotMeasured};
pub use background::Wake;
pub use branch::Otherwise;
pub use changes::{algorithm_name, kernel_name, learner_summary, pruning_name, what_changed};
pub use columns::{ColumnChoice, ColumnPreview};
pub use commands::CommandLine;
pub use compare::{
    CompareAction, CompareTab, ComparisonStage, Contender, MOST_SEEDS, ResultColumn,
};
pub use dictionary::{AtomCard, DictionaryView};
pub use draft::Draft;
pub use error::TaskError;
pub use examples::{EXAMPLES, Example};
pub use export::FigurePainter;
pub use folds::{FoldGroup, Folds, MadeSplit};
pub use groupings::Regrouped;
pub use inspect::{AtomUse, Inspection, origin_text};
pub use labels::LabelPreview;
pub use live::{
    LiveAction, LiveAlarm, LiveForm, LiveScore, LiveStage, LiveTraces, LiveView, ShownDecision,
    SourceKind,
};
pub use notices::{Gravity, Notice, Notices};
pub use panels::{Panel, PanelMove, PanelPart as TilingPart, Tiling};
pub use path_ask::{PathAsk, PathKind, PathQuestion};
pub use records::{Data, LoadedData, RecordRow};
pub use recover::OfferedCopy;
pub use run_view::{EarlierRun, PartView, RunView};
pub use selection::{Ask, Selection};
pub use signal::{Signal, SignalChannel};
pub use stages::{Stage, StageState, StageStatus, split_summary};
pub use sweep::{AxisForm, MOST_INNER_FOLDS, SweepAction, SweepCheck, SweepForm, SweepStage};
pub use sweep_cluster::{ClusterAction, ClusterStage, JobForm, MOST_WORKERS};
pub use sweep_results::{SweepColumn, SweepResults};
pub use train::{LearnerChange, TrainingState};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use admission::AdmissionStage;
use background::{Background, Post};
use branch::Branched;
use dictionary::Dictionaries;
use document::Document;
use event::Event;
use explore::Explore;
use labels::Labels;
use open::{Opened, Opening};
use recover::Copies;
use remember::User;
use save::Saving;
use signal::SignalQuestion;

use atomscope_engine::dataset::MissingPolicy;
use atomscope_engine::experiment::{Part, TestRecord};
use atomscope_engine::records::counted;
use atomscope_engine::session::{Session, UserFolders, UserSettings};

/// How often the progress of what takes long is shown.
const PROGRESS_EVERY: Duration = Duration::from_millis(150);

/// Everything that is made in the background beside the data and the run, and the inbox of all.
struct Tasks {
    post: Post,
    inbox: Receiver<Event>,
    opening: Background<Opening, Opened>,
    saving: Saving,
    copies: Copies,
    dictionary: Dictionaries,
    inspection: Background<usize, Inspection>,
    signal: Background<SignalQuestion, Signal>,
    /// The sample whose signal the Features page has asked for last.
    previewed: Option<usize>,
    labels: Labels,
    columns: Background<(Vec<PathBuf>, atomscope_engine::records::ReadOptions), ColumnPreview>,
    exporting: Background<(), PathBuf>,
    painter: Option<FigurePainter>,
    width: Background<(), f64>,
    groupings: Background<(), Regrouped>,
    branching: Background<(), Branched>,
    /// The branch that waits for the state of a run in progress: its mini-batch, and what it does otherwise.
    wanted_branch: Option<(usize, Otherwise)>,
    admissions: AdmissionStage,
    explore: Explore,
    comparison: ComparisonStage,
    live: LiveStage,
}

/// All application state.
pub struct Workbench {
    document: Document,
    selection: Selection,
    tasks: Tasks,
    notices: Notices,
    user: User,
    is_over: bool,
}

impl Workbench {
    /// A workbench with nothing loaded. Without folders nothing about the user is remembered.
    pub fn new(folders: Option<UserFolders>, wake: Wake) -> Self {
        let mut notices = Notices::default();
        let user = User::load(folders, &mut notices);
        let mut selection = Selection::default();
        selection.take_layout(&user.settings.panels);
        let (post, inbox) = Post::new(wake);
        let tasks = Tasks {
            post,
            inbox,
            opening: Background::default(),
            saving: Saving::default(),
            copies: Copies::default(),
            dictionary: Dictionaries::default(),
            inspection: Background::default(),
            signal: Background::default(),
            previewed: None,
            labels: Labels::default(),
            columns: Background::default(),
            exporting: Background::default(),
            painter: None,
            width: Background::default(),
            groupings: Background::default(),
            branching: Background::default(),
            wanted_branch: None,
            admissions: AdmissionStage::default(),
            explore: Explore::default(),
            comparison: ComparisonStage::default(),
            live: LiveStage::default(),
        };
        Self {
            document: Document::of(Session::new(Draft::default().experiment)),
            selection,
            tasks,
            notices,
            user,
            is_over: false,
        }
    }

    /// What the user edits.
    pub fn draft(&self) -> &Draft {
        &self.document.draft
    }

    /// The data stage.
    pub fn data(&self) -> &Data {
        &self.document.data
    }

    /// The split stage.
    pub fn split(&self) -> &Folds {
        &self.document.split
    }

    /// The training stage.
    pub fn training(&self) -> &TrainingState {
        &self.document.training
    }

    /// The session as it was last opened or saved.
    pub fn session(&self) -> &Session {
        &self.document.session
    }

    /// Where the session is saved.
    pub fn path(&self) -> Option<&Path> {
        self.document.path()
    }

    /// Whether something is being opened.
    pub fn is_opening(&self) -> bool {
        self.tasks.opening.is_busy()
    }

    /// Things worth telling.
    pub fn notices(&self) -> &Notices {
        &self.notices
    }

    /// What is looked at.
    pub fn view(&self) -> &Selection {
        &self.selection
    }

    /// What is remembered about the user.
    pub fn settings(&self) -> &UserSettings {
        &self.user.settings
    }

    /// The dictionary of the chosen class, fold and moment.
    pub fn dictionary(&self) -> Option<&Arc<DictionaryView>> {
        self.tasks.dictionary.shown()
    }

    /// The explanation of the decision on a sample.
    pub fn inspection(&self) -> Option<&Inspection> {
        self.tasks.inspection.shown().map(Arc::as_ref)
    }

    /// The signal of a record.
    pub fn signal(&self) -> Option<&Signal> {
        self.tasks.signal.shown().map(Arc::as_ref)
    }

    /// The recording that is explored.
    pub fn explore(&self) -> &Explore {
        &self.tasks.explore
    }

    /// What the rules for class and group give.
    pub fn labels(&self) -> Option<&LabelPreview> {
        self.tasks.labels.shown()
    }

    /// What the table or file of arrays offers to choose from.
    pub fn columns(&self) -> Option<&ColumnPreview> {
        self.tasks.columns.shown().map(Arc::as_ref)
    }

    /// Whether that file could not be read.
    pub fn has_no_columns(&self) -> bool {
        self.tasks.columns.failure().is_some()
    }

    /// The demo that is open, as long as its banner is shown.
    pub fn banner(&self) -> Option<Demo> {
        self.document.demo.filter(|_| self.document.shows_banner)
    }

    /// Whether the program shall end: the user wants it, and nothing is left to be written.
    pub fn is_over(&self) -> bool {
        let is_written = self.user.is_written() && !self.is_saving();
        let is_at_rest = !self.tasks.copies.is_writing() && !self.tasks.live.is_running();
        self.is_over && is_written && is_at_rest
    }

    /// Whether there is something to undo.
    pub fn can_undo(&self) -> bool {
        self.document.edits.can_undo(&self.document.draft)
    }

    /// Whether there is something to redo.
    pub fn can_redo(&self) -> bool {
        self.document.edits.can_redo(&self.document.draft)
    }

    /// Whether a final model on all samples is trained after the folds.
    pub fn trains_final_model(&self) -> bool {
        self.document.training.trains_final_model()
    }

    /// Whether something would be lost now.
    pub fn is_unsaved(&self) -> bool {
        self.document.is_unsaved()
    }

    /// What the session is called in the title.
    pub fn name(&self) -> String {
        self.document.name()
    }

    /// Whether work is under way in the background, training apart.
    pub fn is_busy(&self) -> bool {
        let (document, tasks) = (&self.document, &self.tasks);
        self.loading_share().is_some()
            || document.training.is_starting()
            || document.split.is_busy()
            || self.is_saving()
            || tasks.copies.is_writing()
            || tasks.dictionary.is_busy()
            || tasks.inspection.is_busy()
            || tasks.signal.is_busy()
            || tasks.columns.is_busy()
            || tasks.exporting.is_busy()
            || tasks.width.is_busy()
            || tasks.groupings.is_busy()
            || tasks.branching.is_busy()
            || tasks.comparison.is_busy()
            || tasks.explore.is_busy()
            || (document.data.loaded().is_some()
                && document.split.made().is_none()
                && document.split.error().is_none())
    }

    /// The share done of opening or loading.
    pub fn loading_share(&self) -> Option<f64> {
        self.document
            .data
            .loading_share()
            .or(self.tasks.opening.share())
    }

    /// When something changes although nothing happens.
    pub fn next_change(&self) -> Option<Duration> {
        let moments = [self.notices.next_change(), self.next_copy()];
        let waits = moments
            .into_iter()
            .flatten()
            .map(|moment| moment.saturating_duration_since(Instant::now()));
        let is_long = self.tasks.comparison.is_under_way();
        waits.chain(is_long.then_some(PROGRESS_EVERY)).min()
    }

    /// Values are missing and the draft does not say what to do about it. Where settings are chosen, the mean of the
    /// feature is one of them.
    fn missing_values_problem(&self) -> Option<String> {
        let n_missing = self.document.data.loaded()?.dataset.n_missing();
        let draft = &self.document.draft.experiment;
        let refuses = draft.preparation.missing == MissingPolicy::Refuse && !draft.auto;
        (n_missing > 0 && refuses).then(|| {
            format!(
                "{}: choose on the Features page how to handle them",
                counted(n_missing, "missing value")
            )
        })
    }

    /// Why training cannot begin; nothing if it can.
    pub fn obstacle(&self) -> Option<String> {
        let problems = self.document.draft.experiment.problems(None);
        if let Some(problem) = problems.into_iter().next() {
            return Some(problem.message);
        }
        if self.loading_share().is_some() {
            return Some("the data are being loaded".into());
        }
        if self.document.data.loaded().is_none() {
            return Some(match self.document.data.error() {
                Some(error) => error.to_owned(),
                None => "nothing is loaded yet: open data or a demo".into(),
            });
        }
        if let Some(error) = self.document.split.error() {
            return Some(error.to_owned());
        }
        self.missing_values_problem()
    }

    /// Whether Start would resume a run that was stopped.
    pub fn can_resume(&self) -> bool {
        self.document.training.can_resume() && self.stale().is_none()
    }

    /// Whether a run that is complete can be given a final model, learned from all samples.
    pub fn can_add_final_model(&self) -> bool {
        self.document.training.lacks_final_model() && self.stale().is_none()
    }

    /// The fold that is looked at.
    pub fn shown_fold(&self) -> Option<usize> {
        let run = self.document.training.run()?;
        let chosen = self
            .selection
            .fold
            .filter(|fold| run.part(Part::Fold(*fold)).is_some());
        chosen.or_else(|| run.current_fold())
    }

    /// The fold that is looked at, with everything known of it.
    pub fn shown_part(&self) -> Option<&PartView> {
        let fold = self.shown_fold()?;
        self.document.training.run()?.part(Part::Fold(fold))
    }

    /// The last test of that fold at the moment looked at.
    pub fn shown_test(&self) -> Option<&Arc<TestRecord>> {
        self.shown_part()?.test_at(self.selection.replay)
    }

    /// The class whose dictionary and profile are looked at.
    pub fn shown_class(&self) -> usize {
        let run = self.document.training.run();
        let n_classes = run.map_or(0, |run| run.facts.n_classes());
        self.selection.class.min(n_classes.saturating_sub(1))
    }

    /// The name of that class.
    pub fn shown_class_name(&self) -> &str {
        let names = self
            .document
            .training
            .run()
            .map(|run| &run.facts.class_names);
        let name = names.and_then(|names| names.get(self.shown_class()));
        name.map_or("", String::as_str)
    }

    /// Where a sample comes from, as far as the data are loaded.
    pub fn origin_of(&self, sample: usize) -> String {
        match self.document.data.loaded().map(|loaded| &loaded.dataset) {
            Some(dataset) if sample < dataset.n_samples() => origin_text(dataset, sample),
            _ => format!("sample {sample}"),
        }
    }

    /// Takes over an edited draft. While something is held (a slider, a field being typed
    /// in) the edit is not finished and will be one step of undo.
    pub fn edit(&mut self, draft: Draft, is_held: bool) {
        self.document.draft = draft;
        if !is_held {
            self.document.edits.settle(&self.document.draft);
        }
    }

    /// Changes the draft as one edit.
    fn change(&mut self, edit: impl FnOnce(&mut Draft)) {
        let document = &mut self.document;
        document.edits.settle(&document.draft);
        edit(&mut document.draft);
        document.edits.settle(&document.draft);
    }
}
