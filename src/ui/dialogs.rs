//! The file dialogs of the system, asked in the background; the window offers a path field besides.

use std::path::PathBuf;

use crate::workbench::explore::{
    BesideChoice, ExploreAction, FaultAction, FaultPath, RibbonAction, ScoringAction,
};
use crate::workbench::{Action, Ask, ComparePath, LivePath};
use atomscope_engine::experiment::{Job, JobOutcome};
use atomscope_engine::export::ExportContent;

/// What a dialog is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DialogKind {
    OpenFile,
    OpenFolder,
    OpenRecording,
    ImportAnnotations,
    ImportPositions,
    ExportAnnotations,
    ExportRecording { anonymises: bool },
    ExportPage,
    OpenRater,
    ExportScores,
    Compare(ComparePath),
    OpenBeside,
    Fault(FaultPath),
    Live(LivePath),
    CompareMaps,
    OpenModel,
    Report,
    SaveAs,
    Export(ExportContent),
    LocateData,
}

impl DialogKind {
    /// The dialog of a question; none where it is not about a path.
    pub(super) fn of(ask: &Ask) -> Option<Self> {
        Some(match ask {
            Ask::OpenFile => Self::OpenFile,
            Ask::OpenFolder => Self::OpenFolder,
            Ask::OpenRecording => Self::OpenRecording,
            Ask::ImportAnnotations => Self::ImportAnnotations,
            Ask::ImportPositions => Self::ImportPositions,
            Ask::ExportAnnotations => Self::ExportAnnotations,
            Ask::ExportRecording { anonymises } => Self::ExportRecording {
                anonymises: *anonymises,
            },
            Ask::ExportPage => Self::ExportPage,
            Ask::OpenRater => Self::OpenRater,
            Ask::ExportScores => Self::ExportScores,
            Ask::Compare(what) => Self::Compare(*what),
            Ask::OpenBeside => Self::OpenBeside,
            Ask::Fault(what) => Self::Fault(*what),
            Ask::Live(what) => Self::Live(*what),
            Ask::CompareMaps => Self::CompareMaps,
            Ask::OpenModel => Self::OpenModel,
            Ask::Report => Self::Report,
            Ask::SaveAs(_) => Self::SaveAs,
            Ask::Export(content) => Self::Export(*content),
            Ask::LocateData => Self::LocateData,
            Ask::Unsaved(_)
            | Ask::Replace { .. }
            | Ask::ChangedOnDisk(_)
            | Ask::PresetName
            | Ask::Keys
            | Ask::Manual
            | Ask::About => return None,
        })
    }

    /// What is done with the path that was chosen.
    pub(super) fn answered(self, path: PathBuf) -> Action {
        match self {
            Self::OpenFile | Self::OpenFolder => Action::Open(path),
            Self::Compare(what) => Action::Compare(what.action(path)),
            Self::OpenRecording => Action::Explore(ExploreAction::OpenFile(path)),
            Self::OpenBeside => {
                let choice = BesideChoice::File(path);
                Action::Explore(ExploreAction::Fault(FaultAction::Beside(choice)))
            }
            Self::Fault(what) => Action::Explore(ExploreAction::Fault(what.action(path))),
            Self::Live(what) => Action::Live(what.action(path)),
            Self::CompareMaps => Action::Explore(ExploreAction::CompareMaps(path)),
            Self::OpenModel => {
                Action::Explore(ExploreAction::Ribbon(RibbonAction::ChooseFile(path)))
            }
            Self::Report => Action::Explore(ExploreAction::Ribbon(RibbonAction::Report(path))),
            Self::ImportAnnotations => Action::Explore(ExploreAction::ImportAnnotations(path)),
            Self::ImportPositions => Action::Explore(ExploreAction::ImportPositions(path)),
            Self::ExportAnnotations => Action::Explore(ExploreAction::ExportAnnotations(path)),
            Self::ExportRecording { anonymises } => {
                Action::Explore(ExploreAction::ExportRecording { path, anonymises })
            }
            Self::ExportPage => Action::Explore(ExploreAction::ExportPage(path)),
            Self::OpenRater => {
                Action::Explore(ExploreAction::Scoring(ScoringAction::OpenRater(path)))
            }
            Self::ExportScores => {
                Action::Explore(ExploreAction::Scoring(ScoringAction::Export(path)))
            }
            Self::SaveAs => Action::SaveAs(path),
            Self::Export(content) => Action::Export(content, path),
            Self::LocateData => Action::LocateData(path),
        }
    }
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
                DialogKind::ImportAnnotations => dialog.set_title("Add annotations").pick_file(),
                DialogKind::ImportPositions => dialog.set_title("Places of electrodes").pick_file(),
                DialogKind::ExportAnnotations => dialog
                    .set_title("Write the annotations")
                    .set_file_name("annotations.csv")
                    .save_file(),
                DialogKind::ExportRecording { .. } => dialog
                    .set_title("Write the recording")
                    .set_file_name("recording.edf")
                    .save_file(),
                DialogKind::ExportPage => dialog
                    .set_title("Save the page as a picture")
                    .set_file_name("page.png")
                    .save_file(),
                DialogKind::OpenRater => dialog.set_title("Open other scores").pick_file(),
                DialogKind::ExportScores => dialog
                    .set_title("Write the scores")
                    .set_file_name("scores.csv")
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
                DialogKind::Fault(what) => {
                    let dialog = dialog.set_title(what.question().0);
                    match (what, what.proposed()) {
                        (_, Some(name)) => dialog.set_file_name(name).save_file(),
                        (FaultPath::List, None) => dialog.pick_folder(),
                        (_, None) => dialog.pick_file(),
                    }
                }
                DialogKind::Live(what) => {
                    let dialog = dialog.set_title(what.question().0);
                    match (what, what.proposed()) {
                        (_, Some(name)) => dialog.set_file_name(name).save_file(),
                        (LivePath::Folder | LivePath::Record, None) => dialog.pick_folder(),
                        (_, None) => dialog.pick_file(),
                    }
                }
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
                DialogKind::LocateData => dialog.set_title("Locate the data").pick_folder(),
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
        let action = kind.answered(path);
        // The dialog of the system has asked already whether a file shall be replaced.
        let has_asked = matches!(
            kind,
            DialogKind::SaveAs
                | DialogKind::Export(_)
                | DialogKind::Report
                | DialogKind::ExportAnnotations
                | DialogKind::ExportRecording { .. }
                | DialogKind::ExportScores
                | DialogKind::ExportPage
                | DialogKind::Compare(ComparePath::Report)
                | DialogKind::Fault(FaultPath::ExportList | FaultPath::Report)
                | DialogKind::Live(LivePath::ExportInbox | LivePath::ExportRecorded)
        );
        Some(match has_asked {
            true => Action::Replace(Box::new(action)),
            false => action,
        })
    }
}
