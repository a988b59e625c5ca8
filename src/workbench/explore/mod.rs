//! The recording that is explored: opened in the background, shown as an EEG or as a fault record.

mod annotations;
mod band_maps;
mod browser;
mod correcting;
mod fault;
mod fault_list;
mod fault_measures;
mod fault_overlay;
mod fault_plane;
mod fault_record;
mod judging;
mod page;
mod page_figure;
mod ribbon;
mod scoring;
mod spectra;
mod traces;
mod view;

pub use annotations::{AnnotationList, AnnotationRow};
pub use band_maps::{BandMaps, ComparedMaps};
pub use browser::{EegBrowser, ShownTrends, Whole};
pub use fault::{Alignment, BesideChoice, FaultAction, FaultStage, FaultView};
pub use fault_list::{FaultList, ListColumn, ListView, ListedRecords};
pub use fault_measures::{
    CursorMeasures, FaultMeasures, HarmonicMeasures, MeasureQuestion, SetMeasures, SignalMeasures,
};
pub use fault_overlay::{OverlaidSignal, Overlay};
pub use fault_plane::{ImpedancePlane, LineData, LocusDecision};
pub use fault_record::{
    BLOCK_SAMPLES, DigitalSignal, FaultRecord, GivenFacts, GridSignal, ShownScale, SignalLane,
    SignalSet, ValueScale,
};
pub use judging::{Explained, Fate, Judgement, ModelChoice};
pub use page::{PageRequest, PageTrace, TracePage};
pub use ribbon::{RibbonAction, RibbonStage};
pub use scoring::{
    EventQuestion, EventSource, ModelEpochs, Rater, ScoringAction, ScoringStage, state_keys,
};
pub use spectra::{BANDS, Spectrogram, TraceSpectrum};
pub use traces::TraceSource;
pub use view::{
    EegView, KeyUse, LaneChoice, MapComparison, SENSITIVITIES, SidePanel, StripKind, TIME_BASES_S,
    common_unit,
};

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::background::{Answer, Background, Post};
use super::event::Event;
use super::notices::{Gravity, Topic};
use super::signal::{question_of, record_of};
use super::stages::Stage;
use super::{RecordRow, TaskError, Workbench};
use atomscope_engine::dataset::DataPlan;
use atomscope_engine::export::{write, write_annotations};
use atomscope_engine::features::phases::PhaseMap;
use atomscope_engine::records::electrode_positions::{self, PlacedElectrode};
use atomscope_engine::records::event_list::EventList;
use atomscope_engine::records::{
    Annotation, ArrayInfo, Channel, ChannelKind, Kind, Mode, ReadOptions, Record, TimeAxis, Unit,
    counted, event_list, open_with,
};
use atomscope_engine::session::{
    GivenChannels, NamedMontage, OwnAnnotation, RecordingNotes, change_notes, notes_on,
};

/// Columns of a table that may be the channels of a recording.
const MOST_COLUMNS: usize = 256;
/// The rate assumed for recordings whose file does not say it.
const USUAL_RATE_HZ: f64 = 250.0;

/// What can be done with recordings on the Explore page.
#[derive(Clone, Debug)]
pub enum ExploreAction {
    /// Opens a file; the data of the session stay as they are.
    OpenFile(PathBuf),
    /// Opens a record of the data by its place among the sources, at a stretch (start and length).
    OpenRecord {
        /// Place among the sources.
        source: usize,
        /// What to show of it; without one its beginning.
        stretch: Option<(f64, f64)>,
    },
    /// Opens the recording of a sample at its place.
    OpenSample(usize),
    /// Opens the file that was refused, with what is given of its arrays.
    OpenArray(PathBuf, GivenChannels),
    /// Stops opening.
    CancelOpening,
    /// Looks at the EEG in another way.
    Look(Box<EegView>),
    /// Compares the maps with those of a file.
    CompareMaps(PathBuf),
    /// Chooses sensitivities at which the traces fill their lanes.
    Fit,
    /// Stops reading a page that takes its time; the one before stays.
    StopPage,
    /// Stops reading the whole recording for the strip.
    StopOverview,
    /// Adds the annotations of a file (CSV, BIDS events.tsv, EDF+) to one's own.
    ImportAnnotations(PathBuf),
    /// Writes the annotations to a file: a table (`.csv`), or the recording with them (`.edf`).
    ExportAnnotations(PathBuf),
    /// Writes the recording with all fields of its header and its annotations as EDF+ or BDF+.
    ExportRecording {
        /// The file.
        path: PathBuf,
        /// Whether patient, recording and date are left out.
        anonymises: bool,
    },
    /// Adds an annotation of one's own.
    Mark(OwnAnnotation),
    /// Does something with scores.
    Scoring(ScoringAction),
    /// Writes the page that is shown as a picture (`.png` or `.svg`).
    ExportPage(PathBuf),
    /// Takes the places of electrodes from a file.
    ImportPositions(PathBuf),
    /// Keeps a montage under a name with the user.
    SaveMontage(NamedMontage),
    /// Forgets a montage.
    RemoveMontage(String),
    /// Names what the digits mark.
    NameMarks(Vec<String>),
    /// Does something with a fault record.
    Fault(FaultAction),
    /// Does something with the decisions on the recording.
    Ribbon(RibbonAction),
}

/// How a recording is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// Channels over pages of time.
    Eeg,
    /// Voltages and currents of a grid around a fault.
    Fault,
}

impl Viewer {
    /// The viewer that fits a record: one with phases or without a constant rate is a fault record.
    fn for_record(record: &Record) -> Self {
        let is_regular = record.time_axis == TimeAxis::Regular;
        let has_phases = PhaseMap::guess(&record.channels).complete().is_some();
        match record.kind {
            Kind::FaultRecord => Self::Fault,
            _ if record.grid.is_some() || !is_regular || has_phases => Self::Fault,
            _ => Self::Eeg,
        }
    }
}

/// A recording that is open.
#[derive(Clone, Debug)]
pub struct OpenedRecording {
    /// What it is called: its path, or its name among the records of the session.
    pub name: String,
    /// Its place among the sources of the session, if it is one of them.
    pub source: Option<usize>,
    /// Headers, and the way to its samples.
    pub record: Arc<Record>,
    /// Samples per second that are assumed, or given, because the file does not say them.
    pub assumed_rate_hz: Option<f64>,
    /// Whether the file leaves the unit of its channels open.
    pub lacks_unit: bool,
    /// What the user says of the channels, and the record as it was read.
    given: GivenChannels,
    as_read: Arc<Record>,
    /// How it is looked at.
    pub viewer: Viewer,
    /// Start and length of the stretch that was asked for.
    pub stretch: Option<(f64, f64)>,
}

impl OpenedRecording {
    fn new(
        name: String,
        source: Option<usize>,
        record: Record,
        window: Option<(f64, f64)>,
        given: GivenChannels,
    ) -> Result<Self, TaskError> {
        if !can_be_shown(&record) {
            let reason = match (record.kind, record.channels.is_empty()) {
                (Kind::Arrays, _) => "holds several arrays: choose the one that is the recording",
                (_, true) => "contains annotations only, no signals",
                (_, false) => "has no time axis; open tables and arrays as data (Ctrl+O)",
            };
            return Err(TaskError::Refused(format!("{name} {reason}")));
        }
        let as_read = Arc::new(record);
        let mut opened = Self {
            name,
            source,
            viewer: Viewer::Eeg,
            record: as_read.clone(),
            assumed_rate_hz: None,
            lacks_unit: false,
            given: GivenChannels::default(),
            as_read,
            stretch: window,
        };
        opened.give(given);
        opened.viewer = Viewer::for_record(&opened.record);
        Ok(opened)
    }

    /// What the user says of its channels, for what the file leaves open.
    fn give(&mut self, given: GivenChannels) {
        let mut record = Record::clone(&self.as_read);
        let channels = &mut record.channels;
        let knows_no_rate = channels.iter().all(|channel| channel.rate_hz.is_none());
        let lacks_rate = knows_no_rate && record.time_axis == TimeAxis::Regular;
        let is_usable = |rate_hz: &f64| rate_hz.is_finite() && *rate_hz > 0.0;
        let rate_hz = given.rate_hz.filter(is_usable).unwrap_or(USUAL_RATE_HZ);
        self.assumed_rate_hz = lacks_rate.then_some(rate_hz);
        self.lacks_unit = channels
            .iter()
            .all(|channel| channel.unit.symbol.is_empty());
        for channel in channels.iter_mut() {
            if lacks_rate {
                channel.rate_hz = Some(rate_hz);
            }
            if self.lacks_unit && !given.unit.trim().is_empty() {
                channel.unit = Unit::parse(given.unit.trim());
            }
        }
        for (place, name) in given.names().filter(|_| lacks_rate || self.lacks_unit) {
            if let Some(channel) = channels.get_mut(place) {
                name.clone_into(&mut channel.name);
            }
        }
        self.record = Arc::new(record);
        self.given = given;
    }

    /// The last part of its name.
    pub fn short_name(&self) -> &str {
        last_part(&self.name)
    }
}

/// Whether there are signals to draw. Columns of numbers alone may be signals; columns of names, or
/// more of them than a recording has channels, are a table of samples.
fn can_be_shown(record: &Record) -> bool {
    let channels = &record.channels;
    match record.kind {
        Kind::Recording | Kind::FaultRecord => !channels.is_empty(),
        Kind::Table => {
            let is_number = |channel: &Channel| channel.kind == ChannelKind::Analog;
            (1..=MOST_COLUMNS).contains(&channels.len()) && channels.iter().all(is_number)
        }
        Kind::Arrays => false,
    }
}

/// The last part of a path.
pub fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// A file of several arrays, none of which stands out as the recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedArrays {
    /// The file.
    pub path: PathBuf,
    /// Arrays with two axes.
    pub arrays: Vec<ArrayInfo>,
}

/// Opens a file as what the user says it is.
fn open_given(path: &Path, given: &GivenChannels) -> Result<Record, TaskError> {
    let options = ReadOptions {
        array: given.array.clone(),
        rows_are_channels: given.rows_are_channels,
        ..ReadOptions::default()
    };
    Ok(open_with(path, &options)?)
}

/// The recording that is explored, and everything the background makes of it.
#[derive(Default)]
pub struct Explore {
    opening: Background<(), OpenedRecording>,
    opened: Option<OpenedRecording>,
    /// The arrays of the file that could not be opened last, as the job found them.
    refused: Arc<Mutex<Option<RefusedArrays>>>,
    eeg: Option<EegBrowser>,
    fault: FaultStage,
    ribbon: RibbonStage,
    scoring: ScoringStage,
}

/// What the background tells about the recording.
pub(super) enum ExploreEvent {
    /// A recording is open.
    Opened(Answer<OpenedRecording>),
    /// Something of an EEG.
    Eeg(browser::RecordingEvent),
    /// Something of a fault record.
    Fault(fault::FaultEvent),
    /// Something of the decisions.
    Ribbon(ribbon::RibbonEvent),
    /// Something of scores.
    Rater(Answer<scoring::Rater>),
    /// A model has learned a correction.
    Corrected(Answer<correcting::Reviewed>),
}

impl Explore {
    /// The fault-record viewer.
    pub fn fault(&self) -> &FaultStage {
        &self.fault
    }

    /// The decisions on the recording.
    pub fn ribbon(&self) -> &RibbonStage {
        &self.ribbon
    }

    /// What scores are compared with.
    pub fn scoring(&self) -> &ScoringStage {
        &self.scoring
    }

    /// The recording that is open.
    pub fn opened(&self) -> Option<&OpenedRecording> {
        self.opened.as_ref()
    }

    /// The EEG browser, when an EEG is open.
    pub fn eeg(&self) -> Option<&EegBrowser> {
        self.eeg.as_ref()
    }

    /// The arrays of the file that could not be opened last.
    pub fn refused(&self) -> Option<RefusedArrays> {
        self.error()?;
        let refused = self.refused.lock();
        refused.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why the last recording could not be opened.
    pub fn error(&self) -> Option<&str> {
        self.opening.failure()
    }

    /// The share done of opening a recording.
    pub fn opening_share(&self) -> Option<f64> {
        self.opening.share()
    }

    /// Whether work is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.opening.is_busy()
            || self.eeg.as_ref().is_some_and(EegBrowser::is_busy)
            || self.fault.is_busy()
            || self.ribbon.is_busy()
            || self.scoring.is_busy()
    }

    /// Opens a recording in the background; the one that is open stays until then.
    fn open(
        &mut self,
        post: &Post,
        open: impl FnOnce() -> Result<OpenedRecording, TaskError> + Send + 'static,
    ) {
        let wrap = |answer| Event::Explore(ExploreEvent::Opened(answer));
        self.opening
            .start((), (post, "opening", wrap), move |_| open());
    }

    /// Looks at the recording as what the user says it is.
    fn follow_given(&mut self, notes: &[RecordingNotes]) {
        let (Some(opened), Some(browser)) = (&mut self.opened, &self.eeg) else {
            return;
        };
        let given = notes_on(notes, &opened.name).map(|notes| notes.given.clone());
        let given = given.unwrap_or_default();
        if given == opened.given {
            return;
        }
        let view = browser.view().clone();
        opened.give(given);
        let mut browser = EegBrowser::new(opened, None, Some(&view));
        let start_s = view.start_s;
        browser.look(EegView {
            start_s,
            ..browser.view().clone()
        });
        self.eeg = Some(browser);
    }

    fn show(&mut self, opened: &OpenedRecording) {
        self.scoring = ScoringStage::default();
        let before = self.eeg.as_ref().map(|browser| {
            let mut view = browser.view().clone();
            // A page that was all of a short recording says nothing of the next.
            if view.span_s >= browser.duration_s() {
                view.span_s = EegView::default().span_s;
            }
            view
        });
        self.eeg = (opened.viewer == Viewer::Eeg)
            .then(|| EegBrowser::new(opened, opened.stretch, before.as_ref()));
        self.opened = Some(opened.clone());
    }
}

impl Workbench {
    /// Whether the page shows the traces of an EEG and nothing else.
    pub fn is_folded(&self) -> bool {
        let eeg = self.tasks.explore.eeg.as_ref();
        self.selection.page == Stage::Explore && eeg.is_some_and(|eeg| eeg.view().is_folded)
    }

    /// What plain letters and digits do on the page that is shown.
    pub fn key_use(&self) -> KeyUse {
        let eeg = self.tasks.explore.eeg.as_ref();
        match self.selection.page {
            Stage::Explore => eeg.map_or(KeyUse::Pages, |eeg| eeg.view().keys),
            _ => KeyUse::Pages,
        }
    }

    /// Records of the data that have a signal to look at.
    pub fn n_explorable(&self) -> usize {
        let Some(loaded) = self.document.data.loaded() else {
            return 0;
        };
        match loaded.settings.source {
            DataPlan::Table(_) | DataPlan::Arrays(_) => 0,
            _ => loaded.records.len(),
        }
    }

    /// Asks for everything that the recording is shown with.
    pub(super) fn follow_explore(&mut self) {
        let explore = &mut self.tasks.explore;
        explore.follow_given(&self.document.draft.recordings);
        if let (Some(browser), Some(opened)) = (&mut explore.eeg, &explore.opened)
            && self.selection.page == Stage::Explore
        {
            let notes = &self.document.draft.recordings;
            let loaded = self.document.data.loaded();
            let (kept, post) = (&self.document.trends, &self.tasks.post);
            browser.follow(&opened.name, notes, loaded, kept, post);
        }
        self.follow_source();
        self.follow_fault();
        self.follow_corrections();
        self.follow_ribbon();
        self.follow_by_hand();
        self.follow_scoring();
    }

    pub(super) fn handle_explore(&mut self, event: ExploreEvent) {
        match event {
            ExploreEvent::Opened(answer) => {
                let taken = self.tasks.explore.opening.take(answer);
                if let Some(opened) = self.tell_failure(Topic::Explore, taken) {
                    self.tasks.explore.show(&opened);
                    if opened.source.is_none() {
                        let path = opened.record.source.path.clone();
                        self.remember(move |settings| settings.note_recording(&path));
                    }
                }
            }
            ExploreEvent::Eeg(made) => {
                let browser = self.tasks.explore.eeg.as_mut();
                if let Some(kept) = browser.and_then(|browser| browser.take(made)) {
                    self.document.keep_trends(kept);
                }
            }
            ExploreEvent::Fault(made) => self.take_fault(made),
            ExploreEvent::Ribbon(made) => self.take_ribbon(made),
            ExploreEvent::Corrected(answer) => self.take_corrected(answer),
            ExploreEvent::Rater(answer) => self.take_rater(answer),
        }
    }

    /// The place of the open record among the data, which may be another after they were loaded anew. A file that was
    /// opened by itself and is one of the data is their record.
    fn follow_source(&mut self) {
        if self.n_explorable() == 0 {
            return;
        }
        let (Some(opened), Some(loaded)) =
            (&mut self.tasks.explore.opened, self.document.data.loaded())
        else {
            return;
        };
        let is_it = |row: &RecordRow| row.name == opened.name;
        let known = opened.source.and_then(|source| loaded.records.get(source));
        if !known.is_some_and(is_it) {
            let place = loaded.records.iter().position(is_it);
            opened.source = place.or(opened.source);
        }
    }

    /// Opens the record that was looked at last, or the first, unless one is open already.
    pub(super) fn explore_something(&mut self) {
        let is_idle = self.tasks.explore.opened.is_none() && !self.tasks.explore.opening.is_busy();
        if is_idle && self.n_explorable() > 0 {
            let source = self.tasks.signal.shown().map_or(0, |signal| signal.source);
            self.explore_record(source, None);
        }
    }

    /// Does something with a recording.
    pub(super) fn apply_explore(&mut self, action: ExploreAction) {
        match action {
            ExploreAction::OpenFile(path) => {
                self.selection.ask = None;
                self.selection.page = Stage::Explore;
                self.open_recording(path);
            }
            ExploreAction::OpenRecord { source, stretch } => {
                self.selection.page = Stage::Explore;
                self.explore_record(source, stretch);
            }
            ExploreAction::OpenSample(sample) => self.explore_sample(sample),
            ExploreAction::OpenArray(path, given) => self.open_array(path, given),
            ExploreAction::CancelOpening => self.tasks.explore.opening.stop(),
            ExploreAction::ImportAnnotations(path) => self.import_annotations(&path),
            ExploreAction::ExportAnnotations(path) => self.export_annotations(path, false),
            ExploreAction::ExportRecording { path, anonymises } => {
                self.export_annotations(path, anonymises);
            }
            ExploreAction::Look(view) => {
                if let Some(browser) = &mut self.tasks.explore.eeg {
                    browser.look(*view);
                }
            }
            ExploreAction::CompareMaps(path) => {
                self.selection.ask = None;
                if let Some(browser) = &mut self.tasks.explore.eeg {
                    let comparison = Some(MapComparison::File(path));
                    browser.look(EegView {
                        comparison,
                        side: SidePanel::Maps,
                        ..browser.view().clone()
                    });
                }
            }
            ExploreAction::Fit => {
                if let Some(browser) = &mut self.tasks.explore.eeg {
                    browser.fit();
                }
            }
            ExploreAction::StopPage => {
                if let Some(browser) = &mut self.tasks.explore.eeg {
                    browser.stop_page();
                }
            }
            ExploreAction::StopOverview => {
                if let Some(browser) = &mut self.tasks.explore.eeg {
                    browser.stop_whole();
                }
            }
            ExploreAction::Mark(annotation) => self.mark(annotation),
            ExploreAction::Scoring(action) => self.apply_scoring(action),
            ExploreAction::ExportPage(path) => self.export_page(path),
            ExploreAction::ImportPositions(path) => self.import_positions(&path),
            ExploreAction::SaveMontage(montage) => self.remember(move |settings| {
                settings.montages.retain(|known| known.name != montage.name);
                settings.montages.push(montage);
            }),
            ExploreAction::RemoveMontage(name) => {
                self.remember(move |settings| settings.montages.retain(|m| m.name != name));
            }
            ExploreAction::NameMarks(marks) => {
                self.remember(move |settings| settings.marks = marks);
            }
            ExploreAction::Fault(action) => self.apply_fault(action),
            ExploreAction::Ribbon(action) => self.apply_ribbon(action),
        }
    }

    fn given(&self, name: &str) -> GivenChannels {
        let notes = notes_on(&self.document.draft.recordings, name);
        notes.map_or_else(GivenChannels::default, |notes| notes.given.clone())
    }

    fn open_recording(&mut self, path: PathBuf) {
        self.notices.forget(Topic::Explore);
        let name = path.display().to_string();
        let given = self.given(&name);
        let refused = self.tasks.explore.refused.clone();
        self.tasks.explore.open(&self.tasks.post, move || {
            let record = open_given(&path, &given)?;
            let arrays = record.arrays.iter().filter(|array| array.shape.len() == 2);
            let found = (record.kind == Kind::Arrays).then(|| RefusedArrays {
                path,
                arrays: arrays.cloned().collect(),
            });
            *refused.lock().unwrap_or_else(PoisonError::into_inner) = found;
            OpenedRecording::new(name, None, record, None, given)
        });
    }

    /// Opens the file again with what is given; that is kept with the session.
    fn open_array(&mut self, path: PathBuf, given: GivenChannels) {
        let name = path.display().to_string();
        self.change(|draft| {
            change_notes(&mut draft.recordings, &name, |notes| notes.given = given);
        });
        self.open_recording(path);
    }

    /// Takes the places of electrodes from a file; those that were given before under other names stay.
    fn import_positions(&mut self, path: &Path) {
        self.selection.ask = None;
        let Some(name) = self.tasks.explore.opened.as_ref().map(|o| o.name.clone()) else {
            return;
        };
        match electrode_positions::open(path) {
            Ok(placed) => self.change(|draft| {
                change_notes(&mut draft.recordings, &name, |notes| {
                    notes
                        .positions
                        .retain(|own| PlacedElectrode::place_of(&placed, &own.name).is_none());
                    notes.positions.extend(placed);
                });
            }),
            Err(error) => self.notices.fail(Topic::Explore, &error.into()),
        }
    }

    fn explore_record(&mut self, source: usize, window: Option<(f64, f64)>) {
        let Some(loaded) = self.document.data.loaded().cloned() else {
            return;
        };
        self.notices.forget(Topic::Explore);
        let name = loaded.records.get(source).map(|row| row.name.clone());
        let given = self.given(&name.unwrap_or_default());
        self.tasks.explore.open(&self.tasks.post, move || {
            let (name, record) = record_of(&loaded, source)?;
            OpenedRecording::new(name, Some(source), record, window, given)
        });
    }

    /// Adds the annotations of a file to the user's own.
    fn import_annotations(&mut self, path: &Path) {
        self.selection.ask = None;
        let Some(name) = self.tasks.explore.opened.as_ref().map(|o| o.name.clone()) else {
            return;
        };
        match event_list::open(path, Mode::Tolerant) {
            Ok(list) => {
                let (gravity, told) = self.told_of_import(&list);
                let mut draft = self.document.draft.clone();
                change_notes(&mut draft.recordings, &name, |notes| {
                    for annotation in list.annotations {
                        notes.add(annotation.into());
                    }
                });
                self.edit(draft, false);
                // The chosen one is known by its place in the list, which is another one now.
                if let Some(browser) = &mut self.tasks.explore.eeg {
                    browser.look(EegView {
                        annotation: None,
                        ..browser.view().clone()
                    });
                }
                self.notices.post(Topic::Explore, gravity, told);
            }
            Err(error) => self.notices.fail(Topic::Explore, &error.into()),
        }
    }

    /// How many annotations a file added, how many of them lie after the end, and what was odd in it.
    fn told_of_import(&self, list: &EventList) -> (Gravity, String) {
        let n_added = list.annotations.len();
        let mut told = vec![format!("{} added", counted(n_added, "annotation"))];
        let end_s = self.tasks.explore.eeg.as_ref().map(EegBrowser::duration_s);
        let is_after = |event: &&Annotation| end_s.is_some_and(|end_s| event.onset_s >= end_s);
        let n_after = list.annotations.iter().filter(is_after).count();
        if n_after > 0 {
            told.push(format!("{n_after} of them after the end of the recording"));
        }
        told.extend(list.warnings.iter().take(3).map(ToString::to_string));
        let n_more = list.warnings.len().saturating_sub(3);
        if n_more > 0 {
            told.push(format!("{n_more} more warnings"));
        }
        let gravity = match (told.len(), n_added) {
            (1, 1..) => Gravity::Done,
            _ => Gravity::Warning,
        };
        (gravity, told.join("; "))
    }

    /// Writes the annotations of the file and the user's own in the background, in an EDF+ file with the recording.
    fn export_annotations(&mut self, path: PathBuf, anonymises: bool) {
        self.selection.ask = None;
        let Some(opened) = &self.tasks.explore.opened else {
            return;
        };
        let notes = notes_on(&self.document.draft.recordings, &opened.name);
        let own = notes.map_or(&[][..], |notes| &notes.annotations);
        let own = own.iter().map(OwnAnnotation::to_annotation);
        let mut annotations = opened.record.annotations.clone();
        annotations.extend(own);
        annotations.sort_by(|a, b| a.onset_s.total_cmp(&b.onset_s));
        let record = match anonymises {
            true => Arc::new(opened.record.anonymised()),
            false => opened.record.clone(),
        };
        let on = (&self.tasks.post, "exporting", Event::Exported as _);
        self.tasks.exporting.start((), on, move |_| {
            write_annotations(&record, annotations, &path)?;
            Ok(path)
        });
    }

    /// Writes the page that is shown as a picture or a sheet to print, in the background.
    fn export_page(&mut self, path: PathBuf) {
        self.selection.ask = None;
        let (Some(opened), Some(browser)) = (&self.tasks.explore.opened, &self.tasks.explore.eeg)
        else {
            return;
        };
        let (Some(page), view) = (browser.page().cloned(), browser.view().clone()) else {
            return;
        };
        let (title, start) = (opened.short_name().to_owned(), opened.record.start);
        let near = browser.annotations().near(view.start_s, view.end_s());
        let marks = near.to_vec();
        let painter = self.tasks.painter;
        let on = (&self.tasks.post, "exporting", Event::Exported as _);
        self.tasks.exporting.start((), on, move |_| {
            let facts = page_figure::SheetFacts {
                title: &title,
                start,
                marks: &marks,
            };
            let figure = page_figure::page_figure(&page, &view, &facts);
            let ending = path.extension().and_then(|ending| ending.to_str());
            let bytes = match (ending.unwrap_or("").to_lowercase().as_str(), painter) {
                ("svg", _) => figure.to_svg().into_bytes(),
                ("html" | "htm", _) => figure.to_printed_page(&title).into_bytes(),
                ("pdf", _) => figure.to_pdf().map_err(|letter| {
                    let text = format!("the fonts of a PDF have no character {letter:?}: save the page as .html and print that");
                    TaskError::Refused(text)
                })?,
                ("png", Some(paint)) => paint(&figure)?,
                ("png", None) => {
                    return Err(TaskError::refused("only the window draws PNG: use SVG"));
                }
                _ => {
                    let text = "the file must end in .png, .svg, .pdf or .html";
                    return Err(TaskError::refused(text));
                }
            };
            write(&path, &bytes)?;
            Ok(path)
        });
    }

    /// Adds an annotation as one edit, so that one undo takes it back.
    fn mark(&mut self, annotation: OwnAnnotation) {
        let Some(name) = self.tasks.explore.opened.as_ref().map(|o| o.name.clone()) else {
            return;
        };
        let mut place = 0;
        self.change(|draft| {
            place = change_notes(&mut draft.recordings, &name, |notes| notes.add(annotation));
        });
        if let Some(browser) = &mut self.tasks.explore.eeg {
            browser.look(EegView {
                annotation: Some(place),
                ..browser.view().clone()
            });
        }
    }

    fn explore_sample(&mut self, sample: usize) {
        let loaded = self.document.data.loaded();
        let question = loaded.and_then(|loaded| question_of(&loaded.dataset, sample));
        if let Some((source, window)) = question {
            self.selection.page = Stage::Explore;
            self.explore_record(source, window);
        }
    }
}
