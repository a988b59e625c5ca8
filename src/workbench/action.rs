//! Everything with consequences that a page or a key can ask for.

use std::path::PathBuf;

use super::comparing::CompareAction;
use super::explore::ExploreAction;
use super::panels::{Panel, Tiling};
use super::stages::Stage;
use super::view::Ask;
use atomscope_engine::export::ExportContent;
use atomscope_engine::session::Theme;

/// Built-in data to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demo {
    /// Short circuits on a feeder.
    FeederFaults,
    /// EEG of simulated subjects.
    Eeg,
}

/// Something to be done, applied in one place.
#[derive(Clone, Debug)]
pub enum Action {
    /// Shows a page.
    Show(Stage),
    /// Begins with an empty session.
    NewSession,
    /// Opens a session, a data file or a folder.
    Open(PathBuf),
    /// Opens built-in data and trains.
    OpenDemo(Demo),
    /// Puts the banner of the demo away.
    HideBanner,
    /// Saves where the session is, or asks for a place.
    Save,
    /// Saves in another place.
    SaveAs(PathBuf),
    /// Saves over what somebody else has written.
    Overwrite,
    /// Goes on with the copy that a crash has left.
    Recover,
    /// Gives that copy up.
    DeclineRecovery,
    /// Ends the program, unless something is unsaved.
    Quit,
    /// Ends the waiting question: saves first, then does what it was about.
    SaveFirst,
    /// Ends the waiting question: does what it was about without saving.
    DoNotSave,
    /// Puts a question.
    Ask(Ask),
    /// Takes the question back.
    CancelAsk,
    /// Loads the data of the draft.
    LoadData,
    /// Stops loading or opening.
    CancelLoading,
    /// Begins or goes on training.
    Start,
    /// Rests.
    Pause,
    /// Begins, goes on or rests, whichever is the other.
    StartOrPause,
    /// One round, then rests.
    Step,
    /// Ends training; what was trained is kept.
    Stop,
    /// Trains from the beginning even where a run could go on.
    StartAnew,
    /// Puts the learner's settings of the draft in force while training.
    TuneRun,
    /// At most so many rounds a second.
    LimitSpeed(Option<f64>),
    /// Whether a final model on all samples is trained after the folds.
    TrainFinalModel(bool),
    /// Trains a final model on all samples after a run that is complete.
    AddFinalModel,
    /// One edit back.
    Undo,
    /// One edit forth.
    Redo,
    /// Looks at another class.
    ChooseClass(usize),
    /// Looks at a fold; without one at the fold in training.
    ChooseFold(Option<usize>),
    /// Looks at an earlier mini-batch; without one at the newest.
    Replay(Option<usize>),
    /// Holds what is shown while training goes on, or follows it again.
    Freeze,
    /// Looks at an atom.
    ChooseAtom(Option<usize>),
    /// All atoms count as looked at.
    MarkAtomsSeen,
    /// Looks at the samples of a confusion cell.
    ChooseCell(Option<(usize, usize)>),
    /// Looks at a feature.
    ChooseFeature(usize),
    /// Looks at a sample among the features.
    ChooseSample(usize),
    /// Explains the decision on a sample.
    Inspect(usize),
    /// Puts the explanation away.
    CloseInspection,
    /// Shows the signal of a record, by its place among the sources.
    LookAtRecord(usize),
    /// Looks at the signal around a sample.
    LookAtSample(usize),
    /// Opens a recording to explore, or does something with the one that is open.
    Explore(ExploreAction),
    /// Something on the Compare page.
    Compare(CompareAction),
    /// Proposes the width of the kernel from the data.
    SuggestWidth,
    /// Shows a panel alone, or all again.
    Enlarge(Option<Panel>),
    /// Hides a panel or shows it again.
    TogglePanel(Panel),
    /// Divides the Train page in another way.
    ArrangePanels(Tiling),
    /// Shows all panels where they were at first.
    ResetLayout,
    /// Opens or closes the sheet of notices.
    ToggleNotices,
    /// Writes a result to a file.
    Export(ExportContent, PathBuf),
    /// Puts a notice away.
    DismissNotice(u64),
    /// Light, dark or as the system says.
    SetTheme(Theme),
    /// The size of text.
    SetTextSize(f32),
    /// Keeps the learner of the draft under a name.
    SavePreset(String),
    /// Forgets a preset.
    RemovePreset(String),
}
