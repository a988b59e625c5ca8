//! Opening: what lies at a path is found out in the background, then shown and its data loaded.

use std::path::{Path, PathBuf};

use super::action::{Action, Demo};
use super::background::Answer;
use super::document::Document;
use super::draft::Draft;
use super::event::Event;
use super::explore::{Explore, ExploreAction, FaultAction};
use super::notices::Topic;
use super::records::{LoadedData, Then};
use super::save::Saving;
use super::selection::{Ask, Selection};
use super::train::Beginning;
use super::{Gravity, Stage, TaskError, Workbench};
use atomscope_engine::dataset::{DataSettings, DatasetError, LeftOut};
use atomscope_engine::experiment::{Experiment, JobProgress};
use atomscope_engine::learner::Algorithm;
use atomscope_engine::session::Session;
use atomscope_engine::simulate::eeg::EegSettings;
use atomscope_engine::split::SplitPlan;

/// Rounds a second of a demo: slow enough to be watched.
const DEMO_ROUNDS_PER_S: f64 = 12.0;

/// What a path turned out to be.
pub(super) enum Opened {
    /// A session.
    Session(Box<Session>),
    /// Data with their likeliest settings.
    Data(Box<DataSettings>),
    /// One recording to look at, and why it cannot be learned from.
    Recording(PathBuf, &'static str),
}

/// A path that is looked at, and the draft that will give way to what lies there.
#[derive(Clone, PartialEq)]
pub(super) struct Opening {
    path: PathBuf,
    draft: Draft,
}

impl Workbench {
    /// Finds out what lies at a path.
    pub(super) fn open(&mut self, path: PathBuf) {
        self.selection.ask = None;
        let path = std::path::absolute(&path).unwrap_or(path);
        let opening = Opening {
            path: path.clone(),
            draft: self.document.draft.clone(),
        };
        let on = (&self.tasks.post, "opening", Event::Opened as _);
        self.tasks
            .opening
            .start(opening, on, move |progress| look_at(path, progress));
    }

    pub(super) fn take_opened(&mut self, answer: Answer<Opened>) {
        let opening = self.tasks.opening.wanted().cloned();
        let opened = self.tasks.opening.take_once(answer);
        let leaves = matches!(opened, Some(Ok(Opened::Data(_) | Opened::Session(_))));
        if let Some(opening) = opening.filter(|_| leaves && self.is_unsaved())
            && opening.draft != self.document.draft
        {
            // Edited while it was opened: nobody has agreed to lose that.
            let again = Action::Open(opening.path);
            self.selection.ask = Some(Ask::Unsaved(Box::new(again)));
            return;
        }
        match opened {
            None => {}
            Some(Err(error)) => {
                self.notices.fail(Topic::Session, &error);
            }
            Some(Ok(Opened::Recording(path, reason))) => {
                if self.document.is_untouched_demo() {
                    // What is noted about the recording belongs to no demo.
                    self.begin_session(Draft::default());
                }
                self.apply_explore(ExploreAction::OpenFile(path));
                let text = format!("Opened for viewing only: {reason}");
                self.notices.post(Topic::Explore, Gravity::Note, text);
            }
            Some(Ok(Opened::Data(data))) => {
                let alone = data.single_recording().map(Path::to_owned);
                let listed = data.unlabelled_faults().map(Path::to_owned);
                // Nothing is inherited from the session before: learner and folds follow the data.
                self.begin_session(Draft::of(Experiment::on(*data)));
                self.selection.page = Stage::Records;
                self.load_data(Then {
                    chooses_split: true,
                    trains: None,
                });
                if let Some(path) = alone {
                    self.document.is_shown_alone = true;
                    // Its traces are there at once, long before all of its samples.
                    self.apply_explore(ExploreAction::OpenFile(path));
                }
                if let Some(folder) = listed {
                    // An inbox of records: what they show needs no classes.
                    self.selection.page = Stage::Explore;
                    let list = FaultAction::List(Some(folder));
                    self.apply_explore(ExploreAction::Fault(list));
                }
            }
            Some(Ok(Opened::Session(session))) => {
                let path = session.path().map(Path::to_owned);
                self.show_session(*session);
                self.search_copies(vec![path]);
            }
        }
    }

    /// Everything anew, with a draft.
    pub(super) fn begin_session(&mut self, draft: Draft) {
        let session = Session::new(draft.experiment.clone());
        self.take_session(session);
        self.document.draft = draft;
        self.document.settle();
    }

    /// Shows a session with its run, and loads its data.
    pub(super) fn show_session(&mut self, session: Session) {
        let (run, younger) = (session.run.clone(), session.younger.clone());
        let layout = session.layout.clone();
        let damage = session.damage.as_ref().map(ToString::to_string);
        let path = session.path().map(Path::to_owned);
        self.take_session(session);
        if let Some(path) = path {
            self.remember(move |settings| settings.remember_session(&path));
        }
        if let Some(damage) = damage {
            self.notices.post(Topic::Session, Gravity::Warning, damage);
        }
        if let Some(layout) = layout {
            self.selection.take_layout(&layout);
        }
        self.document.training.show_saved(run);
        if let Some(younger) = younger
            && let Some(replaced) = self.document.training.show_younger(younger)
        {
            let places = self.document.places();
            self.tasks.comparison.add_earlier(&replaced, places);
            self.document.edits.keep_run(replaced);
            let text = "Saved while the run was trained again; Undo brings back the earlier one.";
            self.notices.post(Topic::Training, Gravity::Note, text);
        }
        // Notes on a recording that was looked at say nothing about data to train on.
        let document = &self.document;
        let names_no_data = document.draft.experiment.data == DataSettings::default()
            && document.training.run().is_none()
            && !document.draft.recordings.is_empty();
        if !names_no_data {
            self.load_data(Then::default());
        }
    }

    /// Puts a session in place of the one that is open; what is remembered of runs stays for
    /// comparison.
    fn take_session(&mut self, session: Session) {
        self.tasks.copies.close_session();
        self.tasks.saving = Saving::Idle;
        let was_demo = self.document.demo.is_some();
        let mut training = std::mem::take(&mut self.document.training);
        training.show_saved(None);
        if was_demo {
            training.limit_speed(None);
        }
        self.document = Document::of(session);
        self.document
            .located
            .clone_from(&self.user.settings.data_folders);
        self.document.training = training;
        self.tasks.wanted_branch = None;
        let places = self.document.places();
        let branches = &self.document.branches;
        self.tasks.comparison.show_branches(branches, &places);
        self.notices.forget_session();
        self.tasks.dictionary = Default::default();
        self.tasks.inspection = Default::default();
        self.tasks.signal = Default::default();
        self.tasks.labels = Default::default();
        self.tasks.columns = Default::default();
        self.tasks.explore = Explore::default();
        self.selection = Selection {
            page: self.selection.page,
            hidden: std::mem::take(&mut self.selection.hidden),
            tiling: std::mem::take(&mut self.selection.tiling),
            ..Selection::default()
        };
    }

    pub(super) fn open_demo(&mut self, demo: Demo) {
        let (title, experiment) = match demo {
            Demo::FeederFaults => ("feeder demo", feeder_demo()),
            Demo::Eeg => (
                "EEG demo",
                Experiment::on(DataSettings::simulated_eeg(EegSettings::default())),
            ),
        };
        let mut draft = Draft::of(experiment);
        // Copies that a crash leaves are listed under the title.
        draft.title = title.into();
        self.begin_session(draft);
        self.document.training.limit_speed(Some(DEMO_ROUNDS_PER_S));
        // The first class of the faults is normal operation, whose memory never fills.
        self.selection.class = usize::from(demo == Demo::FeederFaults);
        self.document.demo = Some(demo);
        self.document.shows_banner = true;
        self.load_data(Then {
            chooses_split: demo == Demo::Eeg,
            trains: Some(Beginning::Running),
        });
    }

    /// Loads the data of the draft.
    pub(super) fn load_data(&mut self, mut then: Then) {
        // Whoever loads the data at the second try still wants folds that follow them.
        then.chooses_split |= self.document.awaits_split;
        self.document.awaits_split = then.chooses_split;
        self.notices.forget(Topic::Data);
        let settings = self.document.draft.experiment.data.clone();
        let places = self.document.places();
        let post = &self.tasks.post;
        self.document.data.load(settings, places, then, post);
    }

    /// Searches for the data in another folder too, and loads them.
    pub(super) fn locate_data(&mut self, path: PathBuf) {
        self.selection.ask = None;
        let folder = match path.is_dir() {
            true => path,
            false => path.parent().map(Path::to_owned).unwrap_or(path),
        };
        // Data that are a folder themselves are found from the folder around it.
        let folders = [folder.parent().map(Path::to_owned), Some(folder)];
        self.remember(move |settings| {
            for folder in folders.iter().flatten() {
                settings.remember_data_folder(folder);
            }
        });
        let located = &mut self.document.located;
        located.clone_from(&self.user.settings.data_folders);
        // What was not found before is looked into again.
        self.tasks.labels = Default::default();
        self.tasks.columns = Default::default();
        self.load_data(Then::default());
    }

    pub(super) fn take_loaded(&mut self, answer: Answer<LoadedData>) {
        let (loaded, then) = match self.document.data.take(answer) {
            None => return,
            Some(Err(error)) => {
                // Records without classes are no failure: the Records page says what is missing.
                if self.document.is_shown_alone {
                    let text = format!("Opened for viewing only: {error}");
                    self.notices.post(Topic::Data, Gravity::Note, text);
                } else if !self.document.data.lacks_classes() {
                    self.notices.fail(Topic::Data, &error);
                }
                return;
            }
            Some(Ok(loaded)) => loaded,
        };
        self.tasks.previewed = None;
        self.document.find_noted_recordings();
        for remark in &loaded.remarks {
            let text = remark.clone();
            self.notices.post(Topic::Data, Gravity::Warning, text);
        }
        if let Some(text) = LeftOut::in_words(&loaded.left_out) {
            self.notices.post(Topic::Data, Gravity::Warning, text);
        }
        self.document.awaits_split = false;
        if then.chooses_split {
            let seed = self.document.draft.experiment.seed;
            let mut split = SplitPlan::default_for(&loaded.dataset, seed);
            split.keep_folds(&loaded.dataset);
            self.document.take_split(split);
        }
        let experiment = &mut self.document.draft.experiment;
        experiment.split.keep_folds(&loaded.dataset);
        if let Some(beginning) = then.trains {
            self.start(beginning, false);
        }
    }
}

fn look_at(path: PathBuf, progress: &JobProgress) -> Result<Opened, TaskError> {
    if path.extension().is_some_and(|ending| ending == "ron") {
        return Ok(Opened::Session(Box::new(Session::load(&path)?)));
    }
    match DataSettings::for_path(&path, &mut |share| progress.go_on(share)) {
        Err(DatasetError::SingleRecording { reason, .. }) => Ok(Opened::Recording(path, reason)),
        settings => Ok(Opened::Data(Box::new(settings?))),
    }
}

/// The built-in faults with a memory that fills within the first fold: afterwards every sample
/// that is admitted replaces another.
fn feeder_demo() -> Experiment {
    let mut experiment = Experiment::default();
    experiment.learner.budget = 60;
    if let Algorithm::Margin { novelty, .. } = &mut experiment.learner.algorithm {
        *novelty = 1e-4;
    }
    experiment
}
