//! Everything with consequences that a page or a key can ask for, and the one place where it happens.

use std::path::{Path, PathBuf};

use super::Workbench;
use super::branch::Otherwise;
use super::compare::CompareAction;
use super::draft::Draft;
use super::examples::Example;
use super::explore::{ExploreAction, FaultAction, RibbonAction, ScoringAction};
use super::live::LiveAction;
use super::panels::{Panel, Tiling};
use super::records::Then;
use super::save::SaveTo;
use super::selection::Ask;
use super::stages::Stage;
use super::train::{Beginning, LearnerChange};
use atomscope_engine::experiment::Command;
use atomscope_engine::export::ExportContent;
use atomscope_engine::session::{Theme, UserPreset};

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
    /// Searches for missing data in this folder too.
    LocateData(PathBuf),
    /// Opens built-in data and trains.
    OpenDemo(Demo),
    /// Opens a shipped session.
    OpenExample(Example),
    /// Puts the banner of the demo away.
    HideBanner,
    /// Saves where the session is, or asks for a place.
    Save,
    /// Saves in another place.
    SaveAs(PathBuf),
    /// Saves over what somebody else has written.
    Overwrite,
    /// Restores a copy that a crash has left, by its place in the list.
    Recover(usize),
    /// Discards such a copy.
    DiscardCopy(usize),
    /// Ends the program, unless something is unsaved.
    Quit,
    /// Ends the waiting question: saves first, then does what it was about.
    SaveFirst,
    /// Ends the waiting question: does what it was about without saving.
    DoNotSave,
    /// Does something although it replaces a file: the user has agreed.
    Replace(Box<Action>),
    /// Puts a question.
    Ask(Ask),
    /// Takes the question back.
    CancelAsk,
    /// Loads the data of the draft.
    LoadData,
    /// Stops loading or opening.
    CancelLoading,
    /// Begins or resumes training.
    Start,
    /// Rests.
    Pause,
    /// Begins, resumes or pauses, whichever applies.
    StartOrPause,
    /// One round, then rests.
    Step,
    /// Ends training; what was trained is kept.
    Stop,
    /// Trains from the beginning even where a run could go on.
    StartAnew,
    /// Changes settings of the learner while it learns.
    TuneRun(LearnerChange),
    /// At most so many rounds a second.
    LimitSpeed(Option<f64>),
    /// Whether a final model on all samples is trained after the folds.
    TrainFinalModel(bool),
    /// Trains a final model on all samples after a run that is complete.
    AddFinalModel,
    /// Trains the run that is shown again with its groups dealt to folds by other seeds.
    RepeatGroupings,
    /// Ends that.
    CancelGroupings,
    /// The run continues in another way from the mini-batch that is looked at.
    Branch(Otherwise),
    /// Ends that.
    CancelBranch,
    /// One edit back; also a run that was replaced comes back.
    Undo,
    /// One edit forth.
    Redo,
    /// Looks at another class.
    ChooseClass(usize),
    /// Looks at a fold; without one at the fold in training.
    ChooseFold(Option<usize>),
    /// Looks at an earlier mini-batch; without one at the newest.
    Replay(Option<usize>),
    /// Freezes what is shown while training continues, or follows it again.
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
    /// Something on the Live page.
    Live(LiveAction),
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

impl Action {
    /// Whether it puts another session in place of the one that is open, or ends the program.
    fn leaves_session(&self) -> bool {
        matches!(
            self,
            Self::NewSession
                | Self::Open(_)
                | Self::OpenDemo(_)
                | Self::OpenExample(_)
                | Self::Recover(_)
                | Self::Quit
        )
    }

    /// The file that it replaces, if there is one already.
    fn replaced_file(&self) -> Option<PathBuf> {
        let path = match self {
            Self::SaveAs(path) if path.extension().is_none() => path.with_extension("ron"),
            Self::SaveAs(path)
            | Self::Export(_, path)
            | Self::Explore(
                ExploreAction::ExportAnnotations(path)
                | ExploreAction::ExportRecording { path, .. }
                | ExploreAction::ExportPage(path)
                | ExploreAction::Scoring(ScoringAction::Export(path))
                | ExploreAction::Ribbon(RibbonAction::Report(path))
                | ExploreAction::Fault(FaultAction::ExportList(path) | FaultAction::Report(path)),
            )
            | Self::Live(LiveAction::ExportInbox(path) | LiveAction::ExportRecorded(path))
            | Self::Compare(CompareAction::SaveReport(path)) => path.clone(),
            Self::Compare(CompareAction::Reproduce(folder)) => folder.join("report.html"),
            _ => return None,
        };
        path.exists().then_some(path)
    }
}

impl Workbench {
    /// Does what was asked for; what would lose unsaved work or replace a file is asked about first.
    pub fn apply(&mut self, action: Action) {
        // The demo begins by itself, and can be had again; whoever quits may not know that.
        let is_unsaved = match action {
            Action::Quit => self.is_unsaved(),
            _ => self.is_unsaved() && !self.document.is_untouched_demo(),
        };
        if action.leaves_session() && is_unsaved {
            self.selection.ask = Some(Ask::Unsaved(Box::new(action)));
        } else if let Some(path) = self.replaced_by(&action) {
            let then = match self.selection.ask.take() {
                Some(Ask::SaveAs(then)) => then,
                _ => None,
            };
            self.selection.ask = Some(Ask::Replace {
                path,
                action: Box::new(action),
                then,
            });
        } else {
            self.perform(action);
        }
    }

    /// The file that an action replaces. A session that is saved where it is replaces itself.
    fn replaced_by(&self, action: &Action) -> Option<PathBuf> {
        let own = self.document.path().map(Path::to_owned);
        action
            .replaced_file()
            .filter(|path| Some(path) != own.as_ref())
    }

    pub(super) fn perform(&mut self, action: Action) {
        match action {
            Action::Show(stage) => self.show(stage),
            Action::NewSession => self.begin_session(Draft::default()),
            Action::Open(path) => self.open(path),
            Action::LocateData(path) => self.locate_data(path),
            Action::OpenDemo(demo) => self.open_demo(demo),
            Action::OpenExample(example) => self.open_example(example),
            Action::HideBanner => self.document.shows_banner = false,
            Action::Save => self.save(SaveTo::SamePlace),
            Action::SaveAs(path) => self.save(SaveTo::Other(path)),
            Action::Overwrite => self.save(SaveTo::Over),
            Action::Recover(place) => self.recover(place),
            Action::DiscardCopy(place) => self.discard_copy(place),
            Action::Quit => {
                self.tasks.copies.close_session();
                self.tasks.live.stop();
                self.is_over = true;
            }
            Action::SaveFirst => self.save(SaveTo::SamePlace),
            Action::DoNotSave => {
                if let Some(Ask::Unsaved(action)) = self.selection.ask.take() {
                    self.perform(*action);
                }
            }
            Action::Replace(action) => {
                let then = match self.selection.ask.take() {
                    Some(Ask::Replace { then, .. } | Ask::SaveAs(then)) => then,
                    _ => None,
                };
                self.selection.ask = then.map(|then| Ask::SaveAs(Some(then)));
                self.perform(*action);
            }
            Action::Ask(ask) => self.selection.ask = Some(ask),
            Action::CancelAsk => self.selection.ask = None,
            Action::LoadData => self.load_data(Then::default()),
            Action::CancelLoading => {
                self.document.data.cancel();
                self.tasks.opening.cancel();
            }
            Action::Start if self.is_paused() => self.document.training.command(Command::Resume),
            Action::Start => self.start(Beginning::Running, false),
            Action::Pause => self.document.training.command(Command::Pause),
            Action::StartOrPause => self.start_or_pause(),
            Action::Step => self.step(),
            Action::Stop => self.stop(),
            Action::StartAnew => self.start(Beginning::Running, true),
            Action::TuneRun(change) => self.tune_run(change),
            Action::LimitSpeed(rounds_per_s) => self.document.training.limit_speed(rounds_per_s),
            Action::TrainFinalModel(wanted) => self.train_final_model(wanted),
            Action::AddFinalModel => self.add_final_model(),
            Action::RepeatGroupings => self.repeat_groupings(),
            Action::CancelGroupings => self.cancel_groupings(),
            Action::Branch(otherwise) => self.branch(otherwise),
            Action::CancelBranch => self.tasks.branching.cancel(),
            Action::Export(content, path) => self.export(content, path),
            Action::Undo => self.undo(),
            Action::Redo => self.redo(),
            Action::ChooseClass(class) => {
                self.selection.class = class;
                self.selection.atom = None;
            }
            Action::ChooseFold(fold) => {
                self.selection.fold = fold;
                self.selection.holds_fold = false;
                self.selection.cell = None;
            }
            Action::Replay(batch) => self.replay(batch),
            Action::Freeze => {
                let shown = self.shown_test().map(|test| test.batch);
                let is_frozen = self.selection.replay.is_some();
                self.replay(shown.filter(|_| !is_frozen));
            }
            Action::ChooseAtom(atom) => self.selection.atom = atom,
            Action::MarkAtomsSeen => self.tasks.dictionary.mark_seen(),
            Action::ChooseCell(cell) => self.selection.cell = cell,
            Action::ChooseFeature(feature) => self.selection.feature = feature,
            Action::ChooseSample(sample) => self.selection.sample = sample,
            Action::Inspect(sample) => self.inspect(sample),
            Action::CloseInspection => self.tasks.inspection = Default::default(),
            Action::LookAtRecord(source) => self.look_at_record(source, None),
            Action::LookAtSample(sample) => self.look_at_sample(sample),
            Action::Explore(action) => self.apply_explore(action),
            Action::Compare(action) => self.apply_compare(action),
            Action::Live(action) => self.apply_live(action),
            Action::SuggestWidth => self.suggest_width(),
            Action::Enlarge(panel) => self.selection.enlarged = panel,
            Action::TogglePanel(panel) => {
                self.selection.toggle(panel);
                self.remember_panels();
            }
            Action::ArrangePanels(tiling) => {
                self.selection.tiling = Some(tiling);
                self.remember_panels();
            }
            Action::ResetLayout => {
                self.selection.reset_layout();
                self.remember_panels();
            }
            Action::ToggleNotices => self.selection.notices_open = !self.selection.notices_open,
            Action::DismissNotice(id) => self.notices.dismiss(id),
            Action::SetTheme(theme) => self.remember(move |settings| settings.theme = theme),
            Action::SetTextSize(size) => self.remember(move |settings| settings.text_size = size),
            Action::SavePreset(name) => {
                let learner = self.document.draft.experiment.learner.clone();
                self.remember(move |settings| {
                    settings.presets.retain(|preset| preset.name != name);
                    settings.presets.push(UserPreset { name, learner });
                });
            }
            Action::RemovePreset(name) => {
                self.remember(move |settings| settings.presets.retain(|p| p.name != name));
            }
        }
    }

    /// Turns to a page; the Explore page takes up the record that was looked at last.
    fn show(&mut self, stage: Stage) {
        self.selection.page = stage;
        self.tasks.previewed = None;
        if stage == Stage::Explore {
            self.explore_something();
        }
    }

    /// The next session and the next start of the program have the panels where they are now.
    fn remember_panels(&mut self) {
        let panels = self.selection.panels();
        self.remember(move |settings| settings.panels = panels);
    }

    /// Looks at an earlier mini-batch of the fold that is shown now, also when the next fold
    /// begins; without a mini-batch the training is followed again.
    pub(super) fn replay(&mut self, batch: Option<usize>) {
        if batch.is_some() && self.selection.fold.is_none() {
            self.selection.fold = self.shown_fold();
            self.selection.holds_fold = true;
        } else if batch.is_none() && self.selection.holds_fold {
            self.selection.fold = None;
            self.selection.holds_fold = false;
        }
        self.selection.replay = batch;
    }
}
