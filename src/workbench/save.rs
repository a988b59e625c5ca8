//! Saving: the state of the run is asked for, then the session is written in the background.

use std::path::{Path, PathBuf};

use super::action::Action;
use super::background::{Answer, BackgroundTask};
use super::document::Version;
use super::draft::{Draft, Edits};
use super::event::Event;
use super::notices::Topic;
use super::recover::close;
use super::selection::Ask;
use super::{Gravity, Workbench};
use atomscope_engine::experiment::{Command, Experiment};
use atomscope_engine::session::{Recovery, Session, SessionError};

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

/// A save that was asked for, and what shall be done after it.
pub(super) struct SaveOrder {
    to: SaveTo,
    then: Option<Box<Action>>,
}

impl SaveOrder {
    /// Becomes one with a later order.
    fn take_in(&mut self, later: Self) {
        if later.to != SaveTo::SamePlace {
            self.to = later.to;
        }
        self.then = later.then.or(self.then.take());
    }
}

/// How saving stands.
#[derive(Default)]
pub(super) enum Saving {
    #[default]
    Idle,
    /// The worker is asked for the state of the run.
    AwaitingState(SaveOrder),
    /// A recovery copy is written: the two must not meet.
    AwaitingCopy(SaveOrder),
    Writing {
        task: BackgroundTask,
        then: Option<Box<Action>>,
        /// Asked for meanwhile: two at once would meet each other's lock, and one of them would be lost.
        next: Option<SaveOrder>,
    },
}

/// What came of writing a session.
pub(super) struct SavedSession {
    session: Box<Session>,
    recovery: Option<Recovery>,
    result: Result<(), SessionError>,
    version: Version,
}

impl Workbench {
    /// Whether the session is being saved.
    pub fn is_saving(&self) -> bool {
        !matches!(self.tasks.saving, Saving::Idle)
    }

    /// Saves; what shall follow is taken from the question that is answered by it.
    pub(super) fn save(&mut self, to: SaveTo) {
        let then = match self.selection.ask.take() {
            Some(Ask::SaveAs(then) | Ask::ChangedOnDisk(then)) => then,
            Some(Ask::Unsaved(action)) => Some(action),
            _ => None,
        };
        self.document.edits.settle(&self.document.draft);
        let to = match to {
            SaveTo::SamePlace if self.document.path().is_none() => {
                self.selection.ask = Some(Ask::SaveAs(then));
                return;
            }
            SaveTo::Other(path) if path.extension().is_none() => {
                SaveTo::Other(path.with_extension("ron"))
            }
            to => to,
        };
        let order = SaveOrder { to, then };
        match &mut self.tasks.saving {
            Saving::Idle => self.begin_saving(order),
            Saving::AwaitingState(waiting) | Saving::AwaitingCopy(waiting) => {
                waiting.take_in(order);
            }
            Saving::Writing { next, .. } => match next {
                Some(next) => next.take_in(order),
                None => *next = Some(order),
            },
        }
    }

    fn begin_saving(&mut self, order: SaveOrder) {
        if self.document.training.is_alive() {
            self.document.training.command(Command::ReportState);
            self.tasks.saving = Saving::AwaitingState(order);
        } else {
            self.write(order);
        }
    }

    /// The state of the run has come, or there is none to wait for: writes what waited for it.
    pub(super) fn write_with_state(&mut self) {
        match std::mem::take(&mut self.tasks.saving) {
            Saving::AwaitingState(order) => self.write(order),
            other => self.tasks.saving = other,
        }
        self.copy_with_state();
    }

    /// No copy is being written any more.
    pub(super) fn write_after_copy(&mut self) {
        match std::mem::take(&mut self.tasks.saving) {
            Saving::AwaitingCopy(order) => self.write(order),
            other => self.tasks.saving = other,
        }
    }

    fn write(&mut self, order: SaveOrder) {
        if self.tasks.copies.is_writing() {
            self.tasks.saving = Saving::AwaitingCopy(order);
            return;
        }
        let SaveOrder { to, then } = order;
        let document = &self.document;
        let version = document.version();
        let mut session = document.to_session(self.selection.layout());
        let loaded = document.data.loaded();
        let loaded = loaded.filter(|l| l.settings == version.draft.experiment.data);
        let loaded = loaded.cloned();
        let mut recovery = self.tasks.copies.take_held();
        let task = BackgroundTask::start(&self.tasks.post, "saving", Event::Saved, move |_| {
            if let Some(loaded) = loaded {
                session.note_data(&loaded.files);
            }
            let result = match &mut recovery {
                Some(recovery) => recovery.around_save(|| write_to(&mut session, &to)),
                None => write_to(&mut session, &to),
            };
            Ok(SavedSession {
                session: Box::new(session),
                recovery,
                result,
                version,
            })
        });
        self.tasks.saving = Saving::Writing {
            task,
            then,
            next: None,
        };
    }

    pub(super) fn take_saved(&mut self, answer: Answer<SavedSession>) {
        let (then, next) = match std::mem::take(&mut self.tasks.saving) {
            Saving::Writing { task, then, next } if task.is_answered_by(&answer) => (then, next),
            other => {
                self.tasks.saving = other;
                // Another session was opened meanwhile.
                if let Ok(saved) = answer.result() {
                    close(saved.recovery);
                }
                return;
            }
        };
        let saved = match answer.result() {
            Ok(saved) => saved,
            Err(error) => {
                self.notices.fail(Topic::Session, &error);
                if let Some(next) = next {
                    self.begin_saving(next);
                }
                return;
            }
        };
        match saved.result {
            Ok(()) => {
                // The next copy belongs to the place where the session is now.
                self.tasks.copies.close(saved.recovery);
                self.take_saved_session(*saved.session, saved.version);
                match (next, then) {
                    (Some(mut next), then) => {
                        next.then = next.then.or(then);
                        self.begin_saving(next);
                    }
                    (None, Some(action)) => self.perform(*action),
                    (None, None) => {}
                }
            }
            Err(error) => {
                self.tasks.copies.hold(saved.recovery);
                match error {
                    SessionError::ChangedOnDisk { .. } => {
                        let then = next.and_then(|next| next.then).or(then);
                        self.selection.ask = Some(Ask::ChangedOnDisk(then));
                    }
                    error => {
                        self.notices.fail(Topic::Session, &error.into());
                        if let Some(next) = next {
                            self.begin_saving(next);
                        }
                    }
                }
            }
        }
    }

    fn take_saved_session(&mut self, session: Session, version: Version) {
        let path = session.path().map(Path::to_owned).unwrap_or_default();
        self.document.saved = Version {
            draft: Draft {
                experiment: Experiment {
                    // The session keeps the one that the run began with.
                    learner: version.draft.experiment.learner.clone(),
                    ..session.experiment.clone()
                },
                ..version.draft.clone()
            },
            run: version.run,
        };
        self.document.session = session;
        self.document.demo = None;
        self.take_new_names(&version.draft);
        self.notices.forget(Topic::Session);
        let text = format!("Saved: {}", path.display());
        self.notices.post(Topic::Session, Gravity::Done, text);
        self.remember(move |settings| settings.remember_session(&path));
    }

    /// Data may be called otherwise after a save in another place; everything here follows.
    fn take_new_names(&mut self, before: &Draft) {
        let document = &mut self.document;
        let session = &document.session;
        let renamed = &session.experiment.data;
        if *renamed != before.experiment.data
            && document.draft.experiment.data == before.experiment.data
        {
            document.draft.experiment.data = renamed.clone();
            document.data.rename(renamed);
            document.training.take_renamed(session);
            document.edits = Edits::begin(&document.draft);
        }
    }
}

fn write_to(session: &mut Session, to: &SaveTo) -> Result<(), SessionError> {
    match to {
        SaveTo::SamePlace => session.save(),
        SaveTo::Other(path) => session.save_as(path),
        SaveTo::Over => session.overwrite(),
    }
}
