//! Questions for a path: what is asked, which kind of path answers, and what is done with it.

use std::path::PathBuf;

use super::Workbench;
use super::action::Action;
use super::compare::CompareAction;
use super::explore::{BesideChoice, ExploreAction, FaultAction, RibbonAction, ScoringAction};
use super::live::LiveAction;
use super::sweep::SweepAction;
use atomscope_engine::export::ExportContent;

/// What a path is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathAsk {
    /// A session or data to open.
    OpenFile,
    /// A folder of data to open.
    OpenFolder,
    /// The place of the session.
    SaveAs,
    /// The folder in which missing data lie.
    LocateData,
    /// The place of a result.
    Export(ExportContent),
    /// A recording to explore.
    OpenRecording,
    /// Annotations to be added to those of the recording.
    ImportAnnotations,
    /// A file that tells where the electrodes lie.
    ImportPositions,
    /// The place of the annotations of the recording.
    ExportAnnotations,
    /// The place of the recording as EDF+.
    ExportRecording {
        /// Whether patient, recording and date are left out.
        anonymises: bool,
    },
    /// The place of the page that is shown, as a picture.
    ExportPage,
    /// The scores of a second rater.
    OpenRater,
    /// The place of the scores of epochs.
    ExportScores,
    /// A recording that the maps are compared with.
    CompareMaps,
    /// A trained session that shall judge the recording.
    OpenModel,
    /// The place of the report of the recording.
    Report,
    /// A second fault record.
    OpenBeside,
    /// A folder whose fault records are listed.
    FaultFolder,
    /// The place of the list of fault records.
    FaultTable,
    /// A file of zones.
    Zones,
    /// The place of the report of the event.
    FaultReport,
    /// A session to compare with.
    CompareSession,
    /// The place of the report of the comparison.
    ComparisonReport,
    /// A folder for the repetition of the paper.
    Reproduction,
    /// The folder of a sweep, to look at its results.
    OpenSweep,
    /// The folder for the points of a sweep.
    SweepFolder,
    /// A trained session that shall judge a stream.
    LiveModel,
    /// A folder to watch, or that of a recorded stream.
    LiveFolder,
    /// A file to follow or to replay.
    LiveFile,
    /// A new folder for everything that comes in.
    RecordStream,
    /// The place of the table of files that came.
    ExportInbox,
    /// The place of the recorded stream as EDF+.
    ExportStream,
}

/// Which kind of path answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A file that exists.
    File,
    /// A folder.
    Folder,
    /// A file to be written, with the name that is proposed.
    NewFile(&'static str),
}

/// A question for a path.
#[derive(Clone, Copy, Debug)]
pub struct PathQuestion {
    /// What is asked for.
    pub title: &'static str,
    /// Which paths will do.
    pub help: &'static str,
    /// What the button says.
    pub verb: &'static str,
    /// What is to be chosen.
    pub kind: PathKind,
}

impl PathAsk {
    /// The question.
    pub fn question(self) -> PathQuestion {
        use PathKind::{File, Folder, NewFile};
        let (title, help, verb, kind) = match self {
            Self::OpenFile => (
                "Open a session or data",
                "A session (.ron), a recording, a fault record, a table or arrays. Dropping it on the window does the same.",
                "Open",
                File,
            ),
            Self::OpenFolder => (
                "Open a folder",
                "A folder with the recordings or fault records of all classes.",
                "Open",
                Folder,
            ),
            Self::SaveAs => (
                "Save as",
                "The name of the session; it ends in .ron.",
                "Save",
                NewFile("session.ron"),
            ),
            Self::LocateData => (
                "Locate the data",
                "The folder that holds the data now, or one of its files. They are searched for there too.",
                "Locate",
                Folder,
            ),
            Self::Export(content) => (
                content.name(),
                "The file to write; its extension chooses the format.",
                "Export",
                NewFile(content.file_name()),
            ),
            Self::OpenRecording => (
                "Open a recording",
                "An EEG recording or a fault record to look at; the data of the session stay as they are.",
                "Open",
                File,
            ),
            Self::ImportAnnotations => (
                "Add annotations",
                "A table (.csv, .tsv, BIDS events.tsv: onset, duration, label) or the annotations of an EDF+ file, such as a hypnogram.",
                "Add",
                File,
            ),
            Self::ImportPositions => (
                "Places of electrodes",
                "A file of positions: .sfp, .elc, .elp, .loc, .locs or BIDS electrodes.tsv. They count for channels of the same names.",
                "Open",
                File,
            ),
            Self::ExportAnnotations => (
                "Write the annotations",
                "A table (.csv, or .tsv in the form of BIDS), or the recording with its annotations as EDF+ (.edf) or BDF+ (.bdf).",
                "Export",
                NewFile("annotations.csv"),
            ),
            Self::ExportRecording { .. } => (
                "Write the recording",
                "The whole recording with the header's fields and all annotations as EDF+ (.edf) or BDF+ (.bdf).",
                "Write",
                NewFile("recording.edf"),
            ),
            Self::ExportPage => (
                "Save the page as a picture",
                "The traces of the page on an A4 sheet, landscape: a picture (.png, .svg), or a sheet to print (.pdf, .html).",
                "Save",
                NewFile("page.png"),
            ),
            Self::OpenRater => (
                "Compare with other scores",
                "The scores or events of a second rater: a table (.csv, .tsv: onset, duration, label) or an EDF+ file, such as a hypnogram.",
                "Compare",
                File,
            ),
            Self::ExportScores => (
                "Write the scores",
                "One row for each run of equal states: a table (.csv, or .tsv in the form of BIDS) or EDF+ annotations (.edf).",
                "Export",
                NewFile("scores.csv"),
            ),
            Self::CompareMaps => (
                "Compare with a recording",
                "An EEG recording whose band power over the head is shown beside that of the selection; what is open stays.",
                "Compare",
                File,
            ),
            Self::OpenModel | Self::LiveModel => (
                "Judge with a trained session",
                "A session (.ron) with a final model, as the Run menu trains it; the session that is open stays as it is.",
                "Open",
                File,
            ),
            Self::Report => (
                "Report of the recording",
                "A page with its figures (.html) or the table of segments (.csv).",
                "Write",
                NewFile("report.html"),
            ),
            Self::OpenBeside => (
                "Open a second fault record",
                "It is shown below the open one, both aligned on their inceptions.",
                "Open",
                File,
            ),
            Self::FaultFolder => (
                "List a folder of fault records",
                "A folder of COMTRADE records (.cfg, .cff) and event reports (.cev); the data of the session do not change.",
                "List",
                Folder,
            ),
            Self::FaultTable => (
                "Export the list",
                "The records of the list with all columns, as a table (.csv).",
                "Export",
                NewFile("fault-records.csv"),
            ),
            Self::Zones => (
                "Zones of a relay",
                "A RIO file with distance zones; secondary impedances are multiplied by the ratios of the record.",
                "Open",
                File,
            ),
            Self::FaultReport => (
                "Report of the event",
                "A page (.html) with facts, oscillograms, phasors, impedance, distances, events and hashes; of both ends while a second record is shown.",
                "Write",
                NewFile("fault-report.html"),
            ),
            Self::CompareSession => (
                "Compare with a session",
                "A session (.ron), trained or not; the open session does not change.",
                "Add",
                File,
            ),
            Self::ComparisonReport => (
                "Save the comparison",
                "The report with figures and tables, as a page (.html).",
                "Save",
                NewFile("comparison.html"),
            ),
            Self::Reproduction => (
                "Reproduce the paper",
                "A folder for the report. Data are searched beside the session and in the folder ATOMSCOPE_DATA; data that are not found are skipped. It takes some minutes and can be stopped.",
                "Reproduce",
                Folder,
            ),
            Self::OpenSweep => (
                "Open sweep results",
                "The folder to which a sweep has written its points, here or by `atomscope sweep`.",
                "Open",
                Folder,
            ),
            Self::SweepFolder => (
                "Folder of the sweep",
                "Every finished point is written there at once, and the report at the end. Points of the same sweep that are already there are not run again.",
                "Choose",
                Folder,
            ),
            Self::LiveFolder => (
                "Folder of the stream",
                "A folder that receives recordings or fault records, or the folder of a recorded stream.",
                "Choose",
                Folder,
            ),
            Self::LiveFile => (
                "File of the stream",
                "An EDF or BDF file that is being written or is complete, or any file that the model can judge.",
                "Choose",
                File,
            ),
            Self::RecordStream => (
                "Record the stream",
                "A new or empty folder: all incoming data are kept there without loss, with the decisions.",
                "Record",
                Folder,
            ),
            Self::ExportInbox => (
                "Write the list of files",
                "The files as they are filtered and sorted, as a table (.csv).",
                "Write",
                NewFile("inbox.csv"),
            ),
            Self::ExportStream => (
                "Write the recorded stream",
                "The last recording as EDF+ (.edf) or BDF+ (.bdf), the decisions and alarms as annotations.",
                "Write",
                NewFile("stream.edf"),
            ),
        };
        PathQuestion {
            title,
            help,
            verb,
            kind,
        }
    }

    /// What is done with the path that was chosen.
    pub fn answered(self, path: PathBuf) -> Action {
        let fault = |action| Action::Explore(ExploreAction::Fault(action));
        let ribbon = |action| Action::Explore(ExploreAction::Ribbon(action));
        let scoring = |action| Action::Explore(ExploreAction::Scoring(action));
        let sweep = |action| Action::Compare(CompareAction::Sweep(action));
        match self {
            Self::OpenFile | Self::OpenFolder => Action::Open(path),
            Self::SaveAs => Action::SaveAs(path),
            Self::LocateData => Action::LocateData(path),
            Self::Export(content) => Action::Export(content, path),
            Self::OpenRecording => Action::Explore(ExploreAction::OpenFile(path)),
            Self::ImportAnnotations => Action::Explore(ExploreAction::ImportAnnotations(path)),
            Self::ImportPositions => Action::Explore(ExploreAction::ImportPositions(path)),
            Self::ExportAnnotations => Action::Explore(ExploreAction::ExportAnnotations(path)),
            Self::ExportRecording { anonymises } => {
                Action::Explore(ExploreAction::ExportRecording { path, anonymises })
            }
            Self::ExportPage => Action::Explore(ExploreAction::ExportPage(path)),
            Self::OpenRater => scoring(ScoringAction::OpenRater(path)),
            Self::ExportScores => scoring(ScoringAction::Export(path)),
            Self::CompareMaps => Action::Explore(ExploreAction::CompareMaps(path)),
            Self::OpenModel => ribbon(RibbonAction::ChooseFile(path)),
            Self::Report => ribbon(RibbonAction::Report(path)),
            Self::OpenBeside => fault(FaultAction::Beside(BesideChoice::File(path))),
            Self::FaultFolder => fault(FaultAction::List(Some(path))),
            Self::FaultTable => fault(FaultAction::ExportList(path)),
            Self::Zones => fault(FaultAction::Zones(path)),
            Self::FaultReport => fault(FaultAction::Report(path)),
            Self::CompareSession => Action::Compare(CompareAction::Add(path)),
            Self::ComparisonReport => Action::Compare(CompareAction::SaveReport(path)),
            Self::Reproduction => Action::Compare(CompareAction::Reproduce(path)),
            Self::OpenSweep => sweep(SweepAction::Open(path)),
            Self::SweepFolder => sweep(SweepAction::ChooseFolder(path)),
            Self::LiveModel => Action::Live(LiveAction::ChooseModel(Some(path))),
            Self::LiveFolder | Self::LiveFile => Action::Live(LiveAction::ChoosePlace(path)),
            Self::RecordStream => Action::Live(LiveAction::Record(path)),
            Self::ExportInbox => Action::Live(LiveAction::ExportInbox(path)),
            Self::ExportStream => Action::Live(LiveAction::ExportRecorded(path)),
        }
    }
}

impl Workbench {
    /// A path for a file to be written: beside the session, or beside its data.
    pub fn proposed_path(&self, ask: PathAsk) -> Option<PathBuf> {
        let PathKind::NewFile(name) = ask.question().kind else {
            return None;
        };
        let data = self.draft().experiment.data.files();
        let beside = self.path().or(data.first().map(PathBuf::as_path))?;
        if ask == PathAsk::SaveAs {
            return Some(beside.with_extension("ron"));
        }
        Some(beside.with_file_name(name))
    }
}
