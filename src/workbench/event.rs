//! Answers of the background: everything that a job or the worker can tell, and what follows from it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::background::Answer;
use super::branch::Branched;
use super::columns::ColumnPreview;
use super::compare::CompareEvent;
use super::dictionary::DictionaryView;
use super::explore::ExploreEvent;
use super::folds::MadeSplit;
use super::groupings::Regrouped;
use super::inspect::Inspection;
use super::labels::LabelPreview;
use super::live::LiveEvent;
use super::notices::Topic;
use super::open::Opened;
use super::records::LoadedData;
use super::recover::Copied;
use super::save::SavedSession;
use super::signal::Signal;
use super::{Gravity, TaskError, Workbench};
use atomscope_engine::experiment::Run;
use atomscope_engine::learner::Kernel;
use atomscope_engine::session::{FoundCopies, UserSettings};

/// Something that the background has to tell.
pub(super) enum Event {
    /// It is known what lies at a path.
    Opened(Answer<Opened>),
    /// Data are loaded.
    Loaded(Answer<LoadedData>),
    /// Folds are made and audited.
    Split(Answer<MadeSplit>),
    /// Rules for class and group were tried.
    Labels(Answer<LabelPreview>),
    /// A table or file of arrays was looked into.
    Columns(Answer<ColumnPreview>),
    /// A run is checked and ready to go.
    RunReady(Answer<Run>),
    /// The worker has mail.
    Mail,
    /// A session was written.
    Saved(Answer<SavedSession>),
    /// A recovery copy was written.
    Copied(Answer<Copied>),
    /// Recovery copies were searched for.
    CopiesFound(Answer<FoundCopies>),
    /// The user's settings were written.
    Remembered(Answer<UserSettings>),
    /// A dictionary is ready to be drawn.
    Dictionary(Answer<DictionaryView>),
    /// A decision is explained.
    Inspected(Answer<Inspection>),
    /// The signal of a record is read.
    Signal(Answer<Signal>),
    /// The grouping was repeated.
    Groupings(Answer<Regrouped>),
    /// Another future of the run was taken.
    Branched(Answer<Branched>),
    /// The width of the kernel is measured.
    Width(Answer<f64>),
    /// A result is written.
    Exported(Answer<PathBuf>),
    /// Something about the recording that is explored.
    Explore(ExploreEvent),
    /// Something about the comparison.
    Compare(CompareEvent),
    /// Something about the stream.
    Live(LiveEvent),
}

impl Workbench {
    /// Takes over what the background has done since the last call, and asks it for what is wanted
    /// now. Called often, also while nothing is shown.
    pub fn update(&mut self) {
        let now = Instant::now();
        while let Ok(event) = self.tasks.inbox.try_recv() {
            self.handle(event);
        }
        self.notices.tidy(now);
        self.follow_split();
        self.follow_dictionary();
        self.follow_signal();
        self.follow_labels();
        self.follow_columns();
        self.follow_explore();
        self.follow_comparison();
        self.follow_admissions();
        self.copy_when_due(now);
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Opened(answer) => self.take_opened(answer),
            Event::Loaded(answer) => self.take_loaded(answer),
            Event::Split(answer) => self.document.split.take(answer),
            Event::Labels(answer) => self.tasks.labels.take(answer),
            // A file that cannot be read is reported when it is loaded.
            Event::Columns(answer) => drop(self.tasks.columns.take(answer)),
            Event::RunReady(answer) => self.take_run(answer),
            Event::Mail => self.take_mail(),
            Event::Saved(answer) => self.take_saved(answer),
            Event::Copied(answer) => self.take_copied(answer),
            Event::CopiesFound(answer) => self.take_found_copies(answer),
            Event::Remembered(answer) => self.take_remembered(answer),
            Event::Dictionary(answer) => self.tasks.dictionary.take(answer),
            Event::Inspected(answer) => {
                let taken = self.tasks.inspection.take(answer);
                self.tell_failure(Topic::Training, taken);
            }
            Event::Signal(answer) => {
                let taken = self.tasks.signal.take(answer);
                self.tell_failure(Topic::Data, taken);
            }
            Event::Groupings(answer) => {
                let taken = self.tasks.groupings.take(answer);
                self.tell_failure(Topic::Training, taken);
            }
            Event::Branched(answer) => self.take_branched(answer),
            Event::Width(answer) => self.take_width(answer),
            Event::Exported(answer) => {
                let taken = self.tasks.exporting.take(answer);
                self.tell_written(taken);
            }
            Event::Explore(event) => self.handle_explore(event),
            Event::Compare(event) => self.handle_compare(event),
            Event::Live(event) => self.handle_live(event),
        }
    }

    fn take_width(&mut self, answer: Answer<f64>) {
        match self.tasks.width.take(answer) {
            Some(Ok(width)) => self.change(|draft| match &mut draft.experiment.learner.kernel {
                Kernel::Gaussian { width: own } | Kernel::Laplacian { width: own } => *own = *width,
                Kernel::Linear
                | Kernel::Polynomial { .. }
                | Kernel::NormalisedPolynomial { .. }
                | Kernel::OfMedian { .. } => {}
            }),
            failed => {
                self.tell_failure(Topic::Training, failed);
            }
        }
    }

    /// Tells why work has failed; gives back what it made.
    pub(super) fn tell_failure<T>(
        &mut self,
        topic: Topic,
        taken: Option<Result<Arc<T>, TaskError>>,
    ) -> Option<Arc<T>> {
        match taken? {
            Ok(value) => Some(value),
            Err(error) => {
                self.notices.fail(topic, &error);
                None
            }
        }
    }

    /// Tells which file was written, or why it could not be.
    pub(super) fn tell_written(&mut self, taken: Option<Result<Arc<PathBuf>, TaskError>>) {
        if let Some(path) = self.tell_failure(Topic::Export, taken) {
            let text = format!("Written: {}", path.display());
            self.notices.post(Topic::Export, Gravity::Done, text);
        }
    }
}
