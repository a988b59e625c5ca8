//! The session on disk: opening, saving, recovery copies, all in the background.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::data::LoadedData;
use super::draft::Draft;
use super::{Wake, start_job};
use atomscope_engine::dataset::{DataSettings, DatasetError};
use atomscope_engine::experiment::{Experiment, Job, JobOutcome, RunState};
use atomscope_engine::records::ReadError;
use atomscope_engine::session::{
    DataPlaces, FoundRecovery, Recovery, RecoveryOffer, Session, SessionError, UserFolders,
    find_recovery,
};

/// What a path turned out to be.
pub(super) enum Opened {
    /// A session, and what a crash has left of it.
    Session(Box<Session>, FoundRecovery),
    /// Data with their likeliest settings.
    Data(Box<DataSettings>),
    /// One recording to look at, and why it cannot be learned from.
    Recording(PathBuf, &'static str),
    /// Nothing: it was cancelled.
    Cancelled,
}

/// Where a session is to be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SaveTo {
    /// Where it is.
    SamePlace,
    /// Somewhere else.
    Other(PathBuf),
    /// Where it is, whatever is there now.
    Over,
}

struct Saved {
    session: Session,
    recovery: Option<Recovery>,
    result: Result<(), SessionError>,
    draft: Draft,
}

/// What came of a save.
pub(super) enum SaveEnd {
    /// Saved, under these settings: names of data may be others than before.
    Done { path: PathBuf, before: Box<Draft> },
    /// Somebody else has changed the file.
    ChangedOnDisk,
    /// It failed.
    Failed(String),
}

type Copied = (Option<Recovery>, Result<(), SessionError>);

/// The session on disk.
pub struct SessionStage {
    session: Session,
    /// The draft as it was last saved or opened.
    saved: Draft,
    is_run_saved: bool,
    opening: Option<Job<Result<Opened, String>>>,
    saving: Option<Job<Saved>>,
    pub(super) save_to: Option<SaveTo>,
    recovery: Option<Recovery>,
    copying: Option<Job<Copied>>,
    last_copy: Instant,
    pub(super) wants_copy: bool,
    offer: Option<Box<RecoveryOffer>>,
}

/// Time of training before the first recovery copy; later ones come as the copy itself says.
const FIRST_COPY_S: u64 = 30;

impl SessionStage {
    /// A session that is nowhere yet.
    pub(super) fn new(draft: &Draft) -> Self {
        Self::of(Session::new(draft.experiment.clone()), draft)
    }

    pub(super) fn of(session: Session, draft: &Draft) -> Self {
        Self {
            session,
            saved: draft.clone(),
            is_run_saved: true,
            opening: None,
            saving: None,
            save_to: None,
            recovery: None,
            copying: None,
            last_copy: Instant::now(),
            wants_copy: false,
            offer: None,
        }
    }

    /// Where the session is.
    pub fn path(&self) -> Option<&Path> {
        self.session.path()
    }

    /// The session as it was last opened or saved.
    pub fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Whether the draft or the run differ from what is saved.
    pub(super) fn differs_from(&self, draft: &Draft) -> bool {
        self.saved != *draft || !self.is_run_saved
    }

    /// Whether the draft differs from what is saved.
    pub(super) fn is_edited(&self, draft: &Draft) -> bool {
        self.saved != *draft
    }

    pub(super) fn run_has_changed(&mut self) {
        self.is_run_saved = false;
    }

    /// The draft counts as the one that is saved.
    pub(super) fn settle(&mut self, draft: &Draft) {
        self.saved.clone_from(draft);
    }

    /// A copy of an unsaved session that a crash has left.
    pub fn offer(&self) -> Option<&RecoveryOffer> {
        self.offer.as_deref()
    }

    pub(super) fn set_offer(&mut self, offer: Option<Box<RecoveryOffer>>) {
        self.offer = offer;
    }

    pub(super) fn take_offer(&mut self) -> Option<Box<RecoveryOffer>> {
        self.offer.take()
    }

    pub(super) fn hold(&mut self, recovery: Recovery) {
        self.recovery = Some(recovery);
        self.is_run_saved = false;
    }

    /// Whether something is being opened.
    pub fn is_opening(&self) -> bool {
        self.opening.is_some()
    }

    /// Whether something is being saved.
    pub fn is_saving(&self) -> bool {
        self.saving.is_some() || self.save_to.is_some()
    }

    /// The share of opening that is done.
    pub(super) fn opening_share(&self) -> Option<f64> {
        self.opening.as_ref().map(Job::share)
    }

    pub(super) fn cancel_opening(&mut self) {
        if let Some(job) = &self.opening {
            job.cancel();
        }
    }

    /// Where the data of the session are looked for.
    pub(super) fn places(&self) -> DataPlaces {
        let here = [PathBuf::from(".")];
        DataPlaces::new(self.path(), &here).knowing(&self.session.references)
    }

    /// Looks at a path in the background.
    pub(super) fn open(&mut self, path: PathBuf, folders: Option<UserFolders>, wake: &Wake) {
        let path = std::path::absolute(&path).unwrap_or(path);
        self.opening = Some(start_job(wake, "opening", move |progress| {
            let is_session = path.extension().is_some_and(|ending| ending == "ron");
            if is_session {
                return open_session(&path, folders.as_ref());
            }
            let mut go_on = |share: f64| progress.go_on(share);
            match DataSettings::for_path(&path, &mut go_on) {
                Ok(settings) => Ok(Opened::Data(Box::new(settings))),
                Err(DatasetError::Read(ReadError::Cancelled)) => Ok(Opened::Cancelled),
                Err(DatasetError::SingleRecording { reason, .. }) => {
                    Ok(Opened::Recording(path, reason))
                }
                Err(error) => Err(error.to_string()),
            }
        }));
    }

    pub(super) fn poll_opening(&mut self) -> Option<Result<Opened, String>> {
        let outcome = self.opening.as_ref()?.take()?;
        self.opening = None;
        Some(match outcome {
            JobOutcome::Done(result) => result,
            JobOutcome::Failed(message) => Err(message),
        })
    }

    /// The session with a draft and a run, as it would be saved.
    fn with(&self, draft: &Draft, run: Option<&Arc<RunState>>, layout: String) -> Session {
        let mut session = self.session.clone();
        session.title.clone_from(&draft.title);
        session.notes.clone_from(&draft.notes);
        session.recordings.clone_from(&draft.recordings);
        session.layout = Some(layout);
        match run {
            Some(run) => {
                let is_known = session
                    .run
                    .as_ref()
                    .is_some_and(|own| Arc::ptr_eq(own, run));
                if !is_known {
                    session.set_run(run.clone());
                }
            }
            // A run that could not be read stays as it is on disk.
            None if session.damage.is_none() => session.clear_run(),
            None => {}
        }
        session.set_settings(draft.experiment.clone());
        session
    }

    /// Saves in the background, if that was asked for and nothing is in the way.
    pub(super) fn save_when_asked(
        &mut self,
        draft: &Draft,
        run: Option<&Arc<RunState>>,
        layout: String,
        loaded: Option<&Arc<LoadedData>>,
        wake: &Wake,
    ) {
        if self.saving.is_some() || self.copying.is_some() {
            return;
        }
        let Some(to) = self.save_to.take() else {
            return;
        };
        let mut session = self.with(draft, run, layout);
        let mut recovery = self.recovery.take();
        let loaded = loaded
            .filter(|l| l.settings == draft.experiment.data)
            .cloned();
        let draft = draft.clone();
        self.saving = Some(start_job(wake, "saving", move |_| {
            if let Some(loaded) = loaded {
                session.note_data(&loaded.files);
            }
            let result = match &mut recovery {
                Some(recovery) => recovery.around_save(|| save(&mut session, &to)),
                None => save(&mut session, &to),
            };
            Saved {
                session,
                recovery,
                result,
                draft,
            }
        }));
    }

    pub(super) fn poll_saving(&mut self) -> Option<SaveEnd> {
        let outcome = self.saving.as_ref()?.take()?;
        self.saving = None;
        let saved = match outcome {
            JobOutcome::Done(saved) => saved,
            JobOutcome::Failed(message) => return Some(SaveEnd::Failed(message)),
        };
        self.recovery = saved.recovery;
        Some(match saved.result {
            Ok(()) => {
                self.session = saved.session;
                self.saved = Draft {
                    experiment: Experiment {
                        // The session keeps the one that the run began with.
                        learner: saved.draft.experiment.learner.clone(),
                        ..self.session.experiment.clone()
                    },
                    recordings: self.session.recordings.clone(),
                    ..saved.draft.clone()
                };
                self.is_run_saved = true;
                SaveEnd::Done {
                    path: self.session.path().map(Path::to_owned).unwrap_or_default(),
                    before: Box::new(saved.draft),
                }
            }
            Err(SessionError::ChangedOnDisk { .. }) => SaveEnd::ChangedOnDisk,
            Err(error) => SaveEnd::Failed(error.to_string()),
        })
    }

    /// Whether a recovery copy is due.
    pub(super) fn copy_is_due(&self, now: Instant) -> bool {
        let waited = now.saturating_duration_since(self.last_copy).as_secs() >= FIRST_COPY_S;
        let is_due = match &self.recovery {
            Some(recovery) => recovery.is_due(now),
            None => waited,
        };
        is_due && self.copying.is_none() && self.saving.is_none() && self.opening.is_none()
    }

    /// Writes a recovery copy in the background.
    pub(super) fn copy(
        &mut self,
        draft: &Draft,
        run: Option<&Arc<RunState>>,
        layout: String,
        folders: UserFolders,
        wake: &Wake,
    ) {
        self.last_copy = Instant::now();
        let session = self.with(draft, run, layout);
        let held = self.recovery.take();
        self.copying = Some(start_job(wake, "recovery copy", move |_| {
            let claimed = match held {
                Some(recovery) => Ok(recovery),
                None => Recovery::claim(session.path(), &folders),
            };
            match claimed {
                Ok(mut recovery) => {
                    let result = recovery.write(&session, Instant::now());
                    (Some(recovery), result)
                }
                Err(error) => (None, Err(error)),
            }
        }));
    }

    /// Why the last recovery copy failed, once.
    pub(super) fn poll_copy(&mut self) -> Option<String> {
        let outcome = self.copying.as_ref()?.take()?;
        self.copying = None;
        match outcome {
            JobOutcome::Done((recovery, result)) => {
                self.recovery = recovery;
                result.err().map(|error| error.to_string())
            }
            JobOutcome::Failed(message) => Some(message),
        }
    }

    /// Whether work is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.opening.is_some() || self.is_saving() || self.copying.is_some()
    }

    /// Ends without a trace: saved, or given up by the user.
    pub(super) fn close(&mut self) {
        if let Some(recovery) = self.recovery.take() {
            // A copy that stays is offered once too often; nothing is lost.
            recovery.close().unwrap_or_default();
        }
    }
}

fn open_session(path: &Path, folders: Option<&UserFolders>) -> Result<Opened, String> {
    let session = Session::load(path).map_err(|error| error.to_string())?;
    let found = match folders {
        Some(folders) => find_recovery(Some(path), folders).unwrap_or_else(FoundRecovery::Broken),
        None => FoundRecovery::Nothing,
    };
    Ok(Opened::Session(Box::new(session), found))
}

fn save(session: &mut Session, to: &SaveTo) -> Result<(), SessionError> {
    match to {
        SaveTo::SamePlace => session.save(),
        SaveTo::Other(path) => session.save_as(path),
        SaveTo::Over => session.overwrite(),
    }
}
