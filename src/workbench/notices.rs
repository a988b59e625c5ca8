//! Things worth telling the user, until they are dismissed or no longer true.

use std::time::{Duration, Instant};

use super::{TaskError, Workbench};

/// Notices kept at most.
const MOST_NOTICES: usize = 20;
/// How long good news stays.
const GOOD_NEWS_STAYS: Duration = Duration::from_secs(6);

/// How serious a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gravity {
    /// Something was done; it goes away by itself.
    Done,
    /// Worth knowing.
    Note,
    /// Something may mislead.
    Warning,
    /// Something failed.
    Error,
}

/// What a notice is about: it goes when that is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    /// The data of the session.
    Data,
    /// The run.
    Training,
    /// The recording that is explored.
    Explore,
    /// Runs compared, and the sweep.
    Comparison,
    /// The stream that is followed.
    Live,
    /// The session on disk.
    Session,
    /// Files written beside it.
    Export,
    /// The program and its user, whatever session is open.
    Program,
}

/// Something worth telling.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Its number.
    pub id: u64,
    /// How serious it is.
    pub gravity: Gravity,
    /// The message.
    pub text: String,
    topic: Topic,
    posted: Instant,
}

impl Workbench {
    /// Tells something about the program and the system it runs on.
    pub fn tell(&mut self, text: String) {
        self.notices.post(Topic::Program, Gravity::Note, text);
    }
}

/// All notices, the newest last.
#[derive(Debug, Default)]
pub struct Notices {
    list: Vec<Notice>,
    next_id: u64,
}

impl Notices {
    /// Adds a notice; one with the same text is replaced.
    pub(super) fn post(&mut self, topic: Topic, gravity: Gravity, text: impl Into<String>) {
        let text = text.into();
        self.list.retain(|notice| notice.text != text);
        if self.list.len() == MOST_NOTICES {
            self.list.remove(0);
        }
        self.list.push(Notice {
            id: self.next_id,
            gravity,
            text,
            topic,
            posted: Instant::now(),
        });
        self.next_id += 1;
    }

    /// Tells why something failed.
    pub(super) fn fail(&mut self, topic: Topic, error: &TaskError) {
        self.post(topic, Gravity::Error, error.to_string());
    }

    /// Dismisses one.
    pub(super) fn dismiss(&mut self, id: u64) {
        self.list.retain(|notice| notice.id != id);
    }

    /// What was said about something no longer holds: it is tried again.
    pub(super) fn forget(&mut self, topic: Topic) {
        self.list.retain(|notice| notice.topic != topic);
    }

    /// Another session is opened: what was said about the one before is about nothing any more.
    pub(super) fn forget_session(&mut self) {
        self.list.retain(|notice| {
            let is_current = matches!(notice.topic, Topic::Program | Topic::Export);
            is_current || notice.gravity == Gravity::Done
        });
    }

    /// Dismisses good news that was there long enough.
    pub(super) fn tidy(&mut self, now: Instant) {
        self.list.retain(|notice| {
            notice.gravity != Gravity::Done
                || now.saturating_duration_since(notice.posted) < GOOD_NEWS_STAYS
        });
    }

    /// When the next one goes away by itself.
    pub fn next_change(&self) -> Option<Instant> {
        let passing = self.list.iter().filter(|n| n.gravity == Gravity::Done);
        passing.map(|notice| notice.posted + GOOD_NEWS_STAYS).min()
    }

    /// How serious the most serious one is.
    pub fn gravest(&self) -> Gravity {
        let all = self.list.iter().map(|notice| notice.gravity);
        all.max().unwrap_or(Gravity::Done)
    }

    /// All of them, the newest last.
    pub fn list(&self) -> &[Notice] {
        &self.list
    }
}
