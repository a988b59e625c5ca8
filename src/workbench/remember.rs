//! What is remembered about the user: changed here at once, and on disk in the background.

use super::background::{Answer, BackgroundTask};
use super::event::Event;
use super::notices::{Notices, Topic};
use super::{Gravity, Workbench};
use atomscope_engine::session::{UserFolders, UserSettings};

/// A change of what is remembered.
type SettingsEdit = Box<dyn FnOnce(&mut UserSettings) + Send>;

/// What is remembered about the user, and where.
#[derive(Default)]
pub(super) struct User {
    pub(super) settings: UserSettings,
    /// Without folders nothing is remembered.
    pub(super) folders: Option<UserFolders>,
    writing: Option<BackgroundTask>,
    /// Changes that wait for the one being written: two at once would be refused.
    waiting: Vec<SettingsEdit>,
}

impl User {
    pub(super) fn load(folders: Option<UserFolders>, notices: &mut Notices) -> Self {
        let mut user = Self::default();
        if let Some(folders) = &folders {
            let (settings, damage) = UserSettings::load(folders);
            user.settings = settings;
            if let Some(damage) = damage {
                notices.post(Topic::Program, Gravity::Warning, damage.to_string());
            }
        }
        user.folders = folders;
        user
    }

    /// Whether everything is written.
    pub(super) fn is_written(&self) -> bool {
        self.writing.is_none() && self.waiting.is_empty()
    }
}

impl Workbench {
    /// Changes what is remembered about the user.
    pub(super) fn remember(
        &mut self,
        edit: impl FnOnce(&mut UserSettings) + Clone + Send + 'static,
    ) {
        edit.clone()(&mut self.user.settings);
        if self.user.folders.is_some() {
            self.user.waiting.push(Box::new(edit));
            self.write_remembered();
        }
    }

    fn write_remembered(&mut self) {
        let user = &mut self.user;
        let Some(folders) = user.folders.clone() else {
            return;
        };
        if user.writing.is_some() || user.waiting.is_empty() {
            return;
        }
        let edits = std::mem::take(&mut user.waiting);
        let post = &self.tasks.post;
        user.writing = Some(BackgroundTask::start(
            post,
            "settings",
            Event::Remembered,
            move |_| {
                Ok(UserSettings::change(&folders, |settings| {
                    edits.into_iter().for_each(|edit| edit(settings));
                })?)
            },
        ));
    }

    pub(super) fn take_remembered(&mut self, answer: Answer<UserSettings>) {
        self.user.writing = None;
        if let Err(error) = answer.result() {
            let text = error.to_string();
            self.notices.post(Topic::Program, Gravity::Warning, text);
        }
        self.write_remembered();
    }
}
