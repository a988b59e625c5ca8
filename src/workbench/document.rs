//! The document: the draft with its undo, the data, the run, and the session they are saved as.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::action::Demo;
use super::draft::{Draft, Edits};
use super::folds::Folds;
use super::records::Data;
use super::train::TrainingState;
use atomscope_engine::experiment::{Experiment, KeptBranch, RunState};
use atomscope_engine::records::SourceId;
use atomscope_engine::session::{DataPlaces, KeptTrends, Session};
use atomscope_engine::split::SplitPlan;

/// Everything that belongs to one session.
pub(super) struct Document {
    pub(super) draft: Draft,
    pub(super) edits: Edits,
    pub(super) data: Data,
    pub(super) split: Folds,
    pub(super) training: TrainingState,
    /// The session as it was last opened or saved.
    pub(super) session: Session,
    /// The draft and the version of the run that are saved.
    pub(super) saved: Version,
    /// Counts whenever the run gets further.
    run_version: u64,
    /// The built-in data it began with, if it did.
    pub(super) demo: Option<Demo>,
    pub(super) shows_banner: bool,
    /// Whether the data are one recording, which is shown whatever training makes of it.
    pub(super) is_shown_alone: bool,
    /// Whether folds are chosen by the data as soon as they are loaded.
    pub(super) awaits_split: bool,
    /// Folders in which the user has located data.
    pub(super) located: Vec<PathBuf>,
    /// Trends of recordings that were looked at.
    pub(super) trends: Vec<Arc<KeptTrends>>,
    /// Other futures of the run.
    pub(super) branches: Vec<Arc<KeptBranch>>,
}

/// What a session without a file is called: by its title, or by its data.
pub(super) fn name_of_new(title: &str, experiment: &Experiment) -> String {
    let files = experiment.data.files();
    match files.first().and_then(|path| path.file_name()) {
        _ if !title.is_empty() => title.to_owned(),
        Some(name) => format!("untitled ({})", name.to_string_lossy()),
        None => "untitled".to_owned(),
    }
}

/// Recordings whose trends are kept; those of a day take 5 MB.
const MOST_TRENDS: usize = 12;
/// Branches that are kept; each is as large as the run.
const MOST_BRANCHES: usize = 6;

/// A draft and a run at one moment.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) draft: Draft,
    pub(super) run: u64,
}

impl Document {
    /// A session with its draft and run; the data are not loaded yet.
    pub(super) fn of(session: Session) -> Self {
        let draft = Draft {
            experiment: session.settings_to_go_on(),
            title: session.title.clone(),
            notes: session.notes.clone(),
            recordings: session.recordings.clone(),
        };
        Self {
            edits: Edits::begin(&draft),
            saved: Version {
                draft: draft.clone(),
                run: 0,
            },
            draft,
            trends: session.trends.clone(),
            branches: session.branches.clone(),
            data: Data::default(),
            split: Folds::default(),
            training: TrainingState::default(),
            session,
            run_version: 0,
            demo: None,
            shows_banner: false,
            is_shown_alone: false,
            awaits_split: false,
            located: Vec::new(),
        }
    }

    /// Notes on recordings go by where these were found; the session calls them as the settings do, relative to itself.
    pub(super) fn find_noted_recordings(&mut self) {
        let Some(loaded) = self.data.loaded().cloned() else {
            return;
        };
        let found = |draft: &mut Draft| {
            for notes in &mut draft.recordings {
                if let Some(file) = loaded.file_named(&notes.recording) {
                    notes.recording = file.source.path.to_string_lossy().into_owned();
                }
            }
        };
        found(&mut self.draft);
        found(&mut self.saved.draft);
        self.edits.change_all(&found);
    }

    /// The draft and the run as they are now.
    pub(super) fn version(&self) -> Version {
        Version {
            draft: self.draft.clone(),
            run: self.run_version,
        }
    }

    /// Whether draft and run are those of a version.
    pub(super) fn is(&self, version: &Version) -> bool {
        self.run_version == version.run && self.draft == version.draft
    }

    /// Keeps trends of a recording instead of earlier ones of it.
    pub(super) fn keep_trends(&mut self, kept: Arc<KeptTrends>) {
        self.trends
            .retain(|known| !known.of.is_of_same_files(&kept.of));
        self.trends.push(kept);
        let n_over = self.trends.len().saturating_sub(MOST_TRENDS);
        self.trends.drain(..n_over);
    }

    /// Keeps a branch instead of an earlier one of its name.
    pub(super) fn keep_branch(&mut self, branch: Arc<KeptBranch>) {
        self.branches.retain(|known| known.name != branch.name);
        self.branches.push(branch);
        let n_over = self.branches.len().saturating_sub(MOST_BRANCHES);
        self.branches.drain(..n_over);
        self.run_has_changed();
    }

    /// Forgets a branch.
    pub(super) fn drop_branch(&mut self, name: &str) {
        self.branches.retain(|known| known.name != name);
        self.run_has_changed();
    }

    pub(super) fn run_has_changed(&mut self) {
        self.run_version += 1;
    }

    /// Whether the run has got further than in a version.
    pub(super) fn has_trained_since(&self, version: &Version) -> bool {
        self.run_version != version.run
    }

    /// The draft counts as saved: the program has made it, not the user.
    pub(super) fn settle(&mut self) {
        self.edits = Edits::begin(&self.draft);
        self.saved.draft.clone_from(&self.draft);
    }

    /// Takes the split that the program has chosen. What the user has edited meanwhile stays, and stays unsaved.
    pub(super) fn take_split(&mut self, split: SplitPlan) {
        if self.draft == self.saved.draft {
            self.draft.experiment.split = split;
            self.settle();
            return;
        }
        if self.draft.experiment.split == self.saved.draft.experiment.split {
            self.draft.experiment.split = split.clone();
        }
        self.saved.draft.experiment.split = split;
    }

    /// Whether something would be lost now. What a demo has trained by itself counts as soon as a
    /// fold is complete.
    pub(super) fn is_unsaved(&self) -> bool {
        let counts = self.demo.is_none() || self.training.has_results();
        self.is_edited() || (self.has_trained_since(&self.saved) && counts)
    }

    /// Whether this is a demo as the program began it: nothing was edited, branched or annotated in it.
    pub(super) fn is_untouched_demo(&self) -> bool {
        let has_more = !self.branches.is_empty() || !self.trends.is_empty();
        self.demo.is_some() && !self.is_edited() && !has_more
    }

    /// Whether settings, notes or annotations differ from what is saved.
    pub(super) fn is_edited(&self) -> bool {
        self.draft != self.saved.draft
    }

    /// Where the session is.
    pub(super) fn path(&self) -> Option<&Path> {
        self.session.path()
    }

    /// What the session is called in the title.
    pub(super) fn name(&self) -> String {
        match self.path() {
            Some(path) => path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            None => name_of_new(&self.draft.title, &self.draft.experiment),
        }
    }

    /// Where the data of the session are searched for.
    pub(super) fn places(&self) -> DataPlaces {
        let mut folders = self.located.clone();
        folders.push(PathBuf::from("."));
        DataPlaces::new(self.path(), &folders).knowing(&self.session.references)
    }

    /// The session with the current draft and run, as it would be saved.
    pub(super) fn to_session(&self, layout: String) -> Session {
        let (run, younger) = self.training.kept_runs();
        let mut session = self.session.clone();
        session.title.clone_from(&self.draft.title);
        session.notes.clone_from(&self.draft.notes);
        session.recordings.clone_from(&self.draft.recordings);
        if let Some(loaded) = self.data.loaded() {
            for notes in &mut session.recordings {
                if let Some(file) = loaded.file_found(&notes.recording) {
                    notes.recording = SourceId::of(&file.named).into();
                }
            }
        }
        session.layout = Some(layout);
        session.trends.clone_from(&self.trends);
        session.branches.clone_from(&self.branches);
        let is_known = |run: &Arc<RunState>| {
            let own = session.run.as_ref();
            own.is_some_and(|own| Arc::ptr_eq(own, run))
        };
        match run {
            Some(run) if is_known(run) => {}
            Some(run) => session.set_run(run.clone()),
            // A run that could not be read stays as it is on disk.
            None if session.damage.is_none() => session.clear_run(),
            None => {}
        }
        session.younger = younger.cloned();
        session.set_settings(self.draft.experiment.clone());
        session
    }
}
