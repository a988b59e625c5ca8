//! Recovery copies: written within seconds of every edit, found and offered after a crash.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::background::{Answer, BackgroundTask, Post};
use super::document::{Version, name_of_new};
use super::event::Event;
use super::notices::Topic;
use super::{Gravity, TaskError, Workbench};
use atomscope_engine::experiment::Command;
use atomscope_engine::records::counted;
use atomscope_engine::session::{
    FoundCopies, Recovery, RecoveryOffer, SessionError, UserFolders, find_copies,
};

/// Time from an edit to its copy: several edits in a row are copied together.
const COPY_AFTER: Duration = Duration::from_secs(4);
/// Time of training between two copies: the state of a large run takes its time to be written.
const COPY_RUN_EVERY: Duration = Duration::from_secs(30);

/// How copying stands.
#[derive(Default)]
enum Copying {
    #[default]
    Idle,
    /// The worker is asked for the state of the run.
    AwaitingState,
    Writing {
        task: BackgroundTask,
        /// What is written; nothing if the session was closed meanwhile, and the copy with it.
        version: Option<Box<Version>>,
    },
}

/// The copy of the open session, and those that a crash has left.
#[derive(Default)]
pub(super) struct Copies {
    copying: Copying,
    /// The place of the copy.
    held: Option<Recovery>,
    /// What the newest copy holds.
    copied: Option<Version>,
    /// Since when there is something that it does not hold.
    dirty_since: Option<Instant>,
    /// When a run in training was copied last.
    run_copied: Option<Instant>,
    /// Searches at the start and after opening a session may overlap; all answers count.
    searching: Vec<BackgroundTask>,
    offers: Vec<RecoveryOffer>,
}

/// What came of writing a copy.
pub(super) type Copied = (Option<Recovery>, Result<(), SessionError>);

impl Copies {
    pub(super) fn is_writing(&self) -> bool {
        matches!(self.copying, Copying::Writing { .. })
    }

    /// The place of the copy, for a save that removes it.
    pub(super) fn take_held(&mut self) -> Option<Recovery> {
        self.held.take()
    }

    /// Gives the place back.
    pub(super) fn hold(&mut self, recovery: Option<Recovery>) {
        self.held = recovery;
    }

    /// Removes a copy that is not needed any more.
    pub(super) fn close(&mut self, recovery: Option<Recovery>) {
        (self.copied, self.dirty_since) = (None, None);
        close(recovery);
    }

    /// The session is closed, saved or discarded by the user: no copy stays, also none that is
    /// being written.
    pub(super) fn close_session(&mut self) {
        let held = self.held.take();
        self.close(held);
        self.run_copied = None;
        match &mut self.copying {
            Copying::Idle => {}
            Copying::AwaitingState => self.copying = Copying::Idle,
            Copying::Writing { version, .. } => *version = None,
        }
    }
}

/// Removes a copy.
pub(super) fn close(copy: Option<Recovery>) {
    if let Some(copy) = copy {
        // A copy that stays is offered once too often; nothing is lost.
        copy.close().unwrap_or_default();
    }
}

/// When the next copy is due, if there is something to copy.
fn due_at(since: Instant, run_copied: Option<Instant>, only_trains: bool) -> Instant {
    match run_copied {
        Some(last) if only_trains => (last + COPY_RUN_EVERY).max(since),
        _ if only_trains => since + COPY_RUN_EVERY,
        _ => since + COPY_AFTER,
    }
}

/// A copy that a crash has left, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedCopy {
    /// The session it belongs to.
    pub name: String,
    /// How long ago it was written.
    pub age: Option<Duration>,
    /// What is in it.
    pub contents: String,
}

impl OfferedCopy {
    fn of(offer: &RecoveryOffer) -> Self {
        let session = &offer.session;
        let name = match offer.belongs_to() {
            Some(path) => path.display().to_string(),
            None => name_of_new(&session.title, &session.experiment),
        };
        let mut contents = Vec::new();
        if let Some(run) = &session.run {
            let n_complete = run.parts.iter().filter(|part| part.model.is_some()).count();
            contents.push(match run.is_complete() {
                true => "complete run".to_owned(),
                false => format!("run, {n_complete} of {} parts", run.planned.len()),
            });
        }
        let notes = session.recordings.iter();
        let n_annotations: usize = notes.map(|notes| notes.annotations.len()).sum();
        if n_annotations > 0 {
            contents.push(counted(n_annotations, "annotation"));
        }
        if !session.notes.is_empty() {
            contents.push("notes".to_owned());
        }
        contents.push("settings".to_owned());
        Self {
            name,
            age: offer.written.and_then(|written| written.elapsed().ok()),
            contents: contents.join(", "),
        }
    }
}

impl Workbench {
    /// The copies that a crash has left, the newest first.
    pub fn offered_copies(&self) -> Vec<OfferedCopy> {
        self.tasks
            .copies
            .offers
            .iter()
            .map(OfferedCopy::of)
            .collect()
    }

    /// Searches for what a crash has left of sessions without a name and of recent ones.
    pub fn look_for_recovery(&mut self) {
        let recent = self.user.settings.recent.iter().cloned().map(Some);
        let sessions = std::iter::once(None).chain(recent).collect();
        self.search_copies(sessions);
    }

    /// Searches for copies of sessions, in the background.
    pub(super) fn search_copies(&mut self, sessions: Vec<Option<PathBuf>>) {
        if let Some(folders) = self.user.folders.clone() {
            let task = BackgroundTask::start(
                &self.tasks.post,
                "recovery",
                Event::CopiesFound,
                move |_| search(&sessions, &folders),
            );
            self.tasks.copies.searching.push(task);
        }
    }

    pub(super) fn take_found_copies(&mut self, answer: Answer<FoundCopies>) {
        let copies = &mut self.tasks.copies;
        copies
            .searching
            .retain(|task| !task.is_answered_by(&answer));
        let problems = match answer.result() {
            Ok(mut found) => {
                found.offers.append(&mut copies.offers);
                found.sort();
                copies.offers = found.offers;
                found.broken.iter().map(ToString::to_string).collect()
            }
            Err(error) => vec![error.to_string()],
        };
        for problem in problems {
            self.notices.post(Topic::Program, Gravity::Warning, problem);
        }
    }

    /// Restores a copy, by its place in the list.
    pub(super) fn recover(&mut self, place: usize) {
        if place < self.tasks.copies.offers.len() {
            let offer = self.tasks.copies.offers.remove(place);
            let (session, recovery) = offer.accept();
            self.show_session(session);
            self.document.run_has_changed();
            let copied = self.document.version();
            let copies = &mut self.tasks.copies;
            (copies.held, copies.copied) = (Some(recovery), Some(copied));
        }
    }

    /// Discards a copy for good.
    pub(super) fn discard_copy(&mut self, place: usize) {
        if place < self.tasks.copies.offers.len()
            && let Err(error) = self.tasks.copies.offers.remove(place).decline()
        {
            let text = error.to_string();
            self.notices.post(Topic::Program, Gravity::Warning, text);
        }
    }

    /// When the next copy is due; nothing where all is saved or copied.
    pub(super) fn next_copy(&self) -> Option<Instant> {
        let copies = &self.tasks.copies;
        let is_idle = matches!(copies.copying, Copying::Idle) && !self.is_saving();
        let since = copies.dirty_since.filter(|_| is_idle)?;
        let known = copies.copied.as_ref().unwrap_or(&self.document.saved);
        let only_trains = known.draft == self.document.draft && self.document.training.is_alive();
        Some(due_at(since, copies.run_copied, only_trains))
    }

    /// Copies what is not saved when it is time.
    pub(super) fn copy_when_due(&mut self, now: Instant) {
        if self.user.folders.is_none() || self.is_over {
            return;
        }
        let copies = &self.tasks.copies;
        let known = copies.copied.as_ref().unwrap_or(&self.document.saved);
        let is_dirty = self.document.is_unsaved() && !self.document.is(known);
        let copies = &mut self.tasks.copies;
        copies.dirty_since = match copies.dirty_since {
            _ if !is_dirty => None,
            None => Some(now),
            since => since,
        };
        if self.next_copy().is_none_or(|due| now < due) {
            return;
        }
        let copies = &self.tasks.copies;
        let known = copies.copied.as_ref().unwrap_or(&self.document.saved);
        if self.document.training.is_alive() && self.document.has_trained_since(known) {
            self.tasks.copies.copying = Copying::AwaitingState;
            self.document.training.command(Command::ReportState);
        } else {
            self.copy(now);
        }
    }

    /// The state of the run has come: writes the copy that waited for it.
    pub(super) fn copy_with_state(&mut self) {
        if matches!(self.tasks.copies.copying, Copying::AwaitingState) {
            self.tasks.copies.copying = Copying::Idle;
            self.copy(Instant::now());
        }
    }

    fn copy(&mut self, now: Instant) {
        let Some(folders) = self.user.folders.clone() else {
            return;
        };
        if self.is_saving() {
            return;
        }
        let session = self.document.to_session(self.selection.layout());
        let version = self.document.version();
        let copies = &mut self.tasks.copies;
        if self.document.training.is_alive() {
            copies.run_copied = Some(now);
        }
        let held = copies.held.take();
        let post: &Post = &self.tasks.post;
        let task = BackgroundTask::start(post, "recovery copy", Event::Copied, move |_| {
            let claimed = match held {
                Some(recovery) => Ok(recovery),
                None => Recovery::claim(session.path(), &folders),
            };
            Ok(match claimed {
                Ok(mut recovery) => {
                    let result = recovery.write(&session);
                    (Some(recovery), result)
                }
                Err(error) => (None, Err(error)),
            })
        });
        let version = Some(Box::new(version));
        copies.copying = Copying::Writing { task, version };
    }

    pub(super) fn take_copied(&mut self, answer: Answer<Copied>) {
        let copies = &mut self.tasks.copies;
        let version = match std::mem::take(&mut copies.copying) {
            Copying::Writing { task, version } if task.is_answered_by(&answer) => version,
            other => {
                copies.copying = other;
                return;
            }
        };
        let (recovery, result) = match answer.result() {
            Ok((recovery, result)) => (recovery, result.map_err(TaskError::from)),
            Err(error) => (None, Err(error)),
        };
        match version {
            Some(version) => {
                copies.hold(recovery);
                // Also after a failure the next one comes in its time, not at once.
                (copies.copied, copies.dirty_since) = (Some(*version), None);
                if let Err(error) = result {
                    let text = error.to_string();
                    self.notices.post(Topic::Program, Gravity::Warning, text);
                }
            }
            None => close(recovery),
        }
        self.write_after_copy();
    }
}

fn search(sessions: &[Option<PathBuf>], folders: &UserFolders) -> Result<FoundCopies, TaskError> {
    let mut found = FoundCopies::default();
    for session in sessions {
        // The folder of a recent session may be gone; the others are searched all the same.
        match find_copies(session.as_deref(), folders) {
            Ok(mut more) => {
                found.offers.append(&mut more.offers);
                found.broken.append(&mut more.broken);
            }
            Err(error) if session.is_none() => return Err(error.into()),
            Err(_) => {}
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_copied_within_ten_seconds_and_a_run_every_thirty() {
        let since = Instant::now();
        assert!(due_at(since, None, false) <= since + Duration::from_secs(8));
        assert_eq!(due_at(since, Some(since), false), since + COPY_AFTER);
        assert_eq!(due_at(since, None, true), since + COPY_RUN_EVERY);
        let earlier = since.checked_sub(Duration::from_secs(60)).unwrap_or(since);
        assert!(due_at(since, Some(earlier), true) <= since + COPY_RUN_EVERY);
    }
}
