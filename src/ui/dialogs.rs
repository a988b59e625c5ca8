//! The file dialogs of the system, asked in the background; the window offers a path field besides.

use std::path::PathBuf;

use crate::workbench::{Action, PathAsk, PathKind};
use atomscope_engine::experiment::{Job, JobOutcome};

/// A dialog that may be open.
#[derive(Debug, Default)]
pub(super) struct Dialogs {
    open: Option<(PathAsk, Job<Option<PathBuf>>)>,
}

impl Dialogs {
    /// Opens a dialog, unless one is open.
    pub(super) fn ask(&mut self, what: PathAsk, context: &egui::Context) {
        if self.open.is_some() {
            return;
        }
        let context = context.clone();
        let wake = move || context.request_repaint();
        let job = Job::start("file dialog", wake, move |_| {
            let question = what.question();
            let mut dialog = rfd::FileDialog::new().set_title(question.title);
            if matches!(what, PathAsk::SaveAs | PathAsk::OpenModel) {
                dialog = dialog.add_filter("Session", &["ron"]);
            }
            match question.kind {
                PathKind::File => dialog.pick_file(),
                PathKind::Folder => dialog.pick_folder(),
                PathKind::NewFile(name) => dialog.set_file_name(name).save_file(),
            }
        });
        self.open = Some((what, job));
    }

    /// Whether a dialog is open.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// What the user has chosen, once.
    pub(super) fn answer(&mut self) -> Option<Action> {
        let (what, job) = self.open.as_ref()?;
        let (what, outcome) = (*what, job.take()?);
        self.open = None;
        let JobOutcome::Done(Some(path)) = outcome else {
            return None;
        };
        let action = what.answered(path);
        // The dialog of the system has asked already whether a file shall be replaced.
        Some(match what.question().kind {
            PathKind::NewFile(_) => Action::Replace(Box::new(action)),
            PathKind::File | PathKind::Folder => action,
        })
    }
}
