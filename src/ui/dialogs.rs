//! The file dialogs of the system, asked in the background; the window offers a path field besides.

use std::path::PathBuf;

use crate::workbench::explore::{BesideChoice, ExploreAction, FaultAction, RibbonAction};
use crate::workbench::{Action, ComparePath};
use atomscope_engine::experiment::{Job, JobOutcome};
use atomscope_engine::export::ExportContent;

/// What a dialog is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DialogKind {
    OpenFile,
    OpenFolder,
    OpenRecording,
    ExportAnnotations,
    Compare(ComparePath),
    OpenBeside,
    CompareMaps,
    OpenModel,
    Report,
    SaveAs,
    Export(ExportContent),
}

/// A dialog that may be open.
#[derive(Debug, Default)]
pub(super) struct Dialogs {
    open: Option<(DialogKind, Job<Option<PathBuf>>)>,
}

impl Dialogs {
    /// Opens a dialog, unless one is open.
    pub(super) fn ask(&mut self, kind: DialogKind, context: &egui::Context) {
        if self.open.is_some() {
            return;
        }
        let context = context.clone();
        let wake = move || context.request_repaint();
        let job = Job::start("file dialog", wake, move |_| {
            let dialog = rfd::FileDialog::new();
            match kind {
                DialogKind::OpenFile => dialog.set_title("Open a session or data").pick_file(),
                DialogKind::OpenFolder => dialog.set_title("Open a folder of data").pick_folder(),
                DialogKind::OpenRecording | DialogKind::CompareMaps => {
                    dialog.set_title("Open a recording").pick_file()
                }
                DialogKind::ExportAnnotations => dialog
                    .set_title("Write the annotations")
                    .set_file_name("annotations.csv")
                    .save_file(),
                DialogKind::Compare(what) => {
                    let dialog = dialog.set_title(what.question().0);
                    match what {
                        ComparePath::Session => dialog.pick_file(),
                        ComparePath::Sweep
                        | ComparePath::SweepFolder
                        | ComparePath::Reproduction => dialog.pick_folder(),
                        ComparePath::Report => dialog.set_file_name("comparison.html").save_file(),
                    }
                }
                DialogKind::OpenBeside => dialog.set_title("Open a fault record").pick_file(),
                DialogKind::OpenModel => dialog
                    .set_title("Open a trained session")
                    .add_filter("Session", &["ron"])
                    .pick_file(),
                DialogKind::Report => dialog
                    .set_title("Report of the recording")
                    .set_file_name("report.html")
                    .save_file(),
                DialogKind::SaveAs => dialog
                    .set_title("Save the session")
                    .add_filter("Session", &["ron"])
                    .set_file_name("session.ron")
                    .save_file(),
                DialogKind::Export(content) => dialog
                    .set_title(content.name())
                    .set_file_name(content.file_name())
                    .save_file(),
            }
        });
        self.open = Some((kind, job));
    }

    /// Whether a dialog is open.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// What the user has chosen, once.
    pub(super) fn answer(&mut self) -> Option<Action> {
        let (kind, job) = self.open.as_ref()?;
        let (kind, outcome) = (*kind, job.take()?);
        self.open = None;
        let JobOutcome::Done(Some(path)) = outcome else {
            return None;
        };
        Some(match kind {
            DialogKind::OpenFile | DialogKind::OpenFolder => Action::Open(path),
            DialogKind::Compare(what) => Action::Compare(what.action(path)),
            DialogKind::OpenRecording
            | DialogKind::OpenBeside
            | DialogKind::CompareMaps
            | DialogKind::OpenModel
            | DialogKind::Report
            | DialogKind::ExportAnnotations => explore_answer(kind, path),
            DialogKind::SaveAs => Action::SaveAs(path),
            DialogKind::Export(content) => Action::Export(content, path),
        })
    }
}

/// What becomes of a path that the Explore page has asked for.
pub(super) fn explore_answer(kind: DialogKind, path: PathBuf) -> Action {
    Action::Explore(match kind {
        DialogKind::OpenBeside => {
            ExploreAction::Fault(FaultAction::Beside(BesideChoice::File(path)))
        }
        DialogKind::CompareMaps => ExploreAction::CompareMaps(path),
        DialogKind::OpenModel => ExploreAction::Ribbon(RibbonAction::ChooseFile(path)),
        DialogKind::Report => ExploreAction::Ribbon(RibbonAction::Report(path)),
        DialogKind::ExportAnnotations => ExploreAction::ExportAnnotations(path),
        _ => ExploreAction::OpenFile(path),
    })
}
