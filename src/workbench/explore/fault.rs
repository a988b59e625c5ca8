//! The fault-record viewer's state: the record in memory, one beside it, what is looked at and what is measured there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use num_complex::Complex64;

use super::fault_list::{FaultList, ListJudge, ListView, ListedRecords, list_records};
use super::fault_measures::{FaultMeasures, MeasureQuestion};
use super::fault_overlay::{Overlay, OverlayQuestion};
use super::fault_plane::{ImpedancePlane, LineData, LocusJudge, PlaneQuestion};
use super::fault_record::{FaultRecord, GivenFacts, ValueScale, follow_bases};
use super::{ExploreEvent, Viewer};
use crate::workbench::background::{Answer, Background, Post};
use crate::workbench::event::Event;
use crate::workbench::notices::{Gravity, Topic};
use crate::workbench::records::LoadedData;
use crate::workbench::signal::record_of;
use crate::workbench::{TaskError, Workbench};
use atomscope_engine::dataset::DataSettings;
use atomscope_engine::export::fault_report::{
    EndAlignment, FaultReport, ReportedDecision, ReportedRecord,
};
use atomscope_engine::export::write;
use atomscope_engine::features::FeatureRecipe;
use atomscope_engine::features::fault::{FaultForm, FaultRecipe, PerUnit};
use atomscope_engine::protection::inbox::to_csv;
use atomscope_engine::protection::rio::{self, RioFile};
use atomscope_engine::protection::zones::Zone;
use atomscope_engine::protection::{FaultAnalysis, Line};
use atomscope_engine::records::{Input, Mode, Record, counted, open};
use atomscope_engine::session::{
    FaultChoice, RecordingNotes, fault_choice, model_sha256, notes_on,
};

/// Lanes shown at first.
const FIRST_LANES: usize = 4;
/// Digital channels shown at first.
const FIRST_DIGITAL: usize = 10;
/// Shortest span that is shown.
const SHORTEST_SPAN_S: f64 = 1e-4;

/// How a fault record is looked at; nothing of it changes the data.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultView {
    /// Time at the left edge.
    pub start_s: f64,
    /// Time from the left to the right edge.
    pub span_s: f64,
    /// The two cursors.
    pub cursors_s: [f64; 2],
    /// The cursor whose phasors and harmonics are shown.
    pub active: usize,
    /// How many times higher than the lane the largest value is drawn.
    pub gain: f64,
    /// Primary, secondary or per unit.
    pub scale: ValueScale,
    /// Lanes that are shown.
    pub lanes: BTreeSet<usize>,
    /// Digital channels that are shown.
    pub digital: BTreeSet<usize>,
    /// The signal whose harmonics are shown.
    pub signal: usize,
    /// The highest harmonic shown.
    pub highest_order: usize,
    /// The nominal frequency, where the record's own is not to be used.
    pub given_hz: Option<f64>,
    /// The signal that angles are measured against; without one phase A of the voltages.
    pub reference: Option<usize>,
    /// The line that impedances and distances are of.
    pub line: LineData,
    /// What the line is called.
    pub line_name: String,
    /// Whether the record beside lies on the time axis of this one.
    pub is_overlaid: bool,
    /// How the record beside is laid along this one.
    pub alignment: Alignment,
}

/// How a second record is laid along the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Alignment {
    /// Inception on inception.
    #[default]
    Inception,
    /// By the clocks of the two recorders.
    Clock,
    /// By hand: the second shows the same moment so many seconds later on its own time axis.
    ByHand(f64),
}

impl Alignment {
    /// How much later the time axis of the second record shows the same moment; without clocks, by the inceptions.
    pub fn shift_s(self, near: &FaultRecord, far: &FaultRecord) -> f64 {
        let moment = |record: &FaultRecord| {
            let exact_s = record.analysis.as_ref().and_then(|a| a.inception_s);
            let inception_s = exact_s.or(record.facts.inception_s);
            inception_s.or(record.trigger_s).unwrap_or(0.0)
        };
        let by_inception = moment(far) - moment(near);
        match (self, near.start, far.start) {
            (Self::ByHand(shift_s), ..) => shift_s,
            (Self::Clock, Some(near), Some(far)) => near.seconds_since(far),
            _ => by_inception,
        }
    }

    /// How the ends of a report are aligned.
    fn reported(self, near: &FaultRecord, far: &FaultRecord) -> EndAlignment {
        let shift_s = self.shift_s(near, far);
        match (self, near.start, far.start) {
            (Self::ByHand(_), ..) => EndAlignment::ByHand(shift_s),
            (Self::Clock, Some(_), Some(_)) => EndAlignment::Clocks(shift_s),
            _ => EndAlignment::Inceptions,
        }
    }
}

impl FaultView {
    /// The first look at a record: a stretch that was asked for, else around the inception, else all of it. The
    /// cursors stand at the end of the last normal cycle and two cycles into the fault.
    fn first(record: &FaultRecord, stretch: Option<(f64, f64)>) -> Self {
        let cycle_s = 1.0 / record.facts.nominal_hz.unwrap_or(50.0);
        let (begin_s, end_s) = record.span_s;
        let inception_s = record.facts.inception_s.or(record.trigger_s);
        let centre_s = match (stretch, inception_s) {
            (Some((start_s, _)), _) => start_s,
            (None, Some(inception_s)) => inception_s,
            (None, None) => begin_s + 2.0 * cycle_s,
        };
        let changes = record.digital.iter().enumerate();
        let changes = changes.filter(|(_, digital)| digital.changes());
        let mut view = Self {
            start_s: centre_s - 4.0 * cycle_s,
            span_s: 16.0 * cycle_s,
            cursors_s: [centre_s, centre_s + 2.0 * cycle_s],
            active: 1,
            gain: 1.0,
            scale: ValueScale::default(),
            lanes: (0..record.lanes.len().min(FIRST_LANES)).collect(),
            digital: changes
                .map(|(place, _)| place)
                .take(FIRST_DIGITAL)
                .collect(),
            signal: record.sets.first().map_or(0, |set| set.signals[0]),
            highest_order: 15,
            given_hz: None,
            reference: None,
            line: LineData::default(),
            line_name: String::new(),
            is_overlaid: false,
            alignment: Alignment::default(),
        };
        // The last sample before the inception still belongs to the normal state.
        let times = &record.clock;
        if let Some(before) = times.nearest(centre_s).and_then(|s| s.checked_sub(1))
            && let Some(time_s) = times.time_s(before)
        {
            view.cursors_s[0] = time_s;
        }
        // A record that ends before the first look reaches: its middle and its end.
        if centre_s >= end_s {
            view.cursors_s = [(begin_s + end_s) / 2.0, end_s];
        }
        // Short records fit as a whole.
        if end_s - begin_s < view.span_s * 2.0 {
            view.show_all(record);
        }
        view.keep_inside(record);
        view
    }

    /// Shows the whole record.
    pub fn show_all(&mut self, record: &FaultRecord) {
        (self.start_s, self.span_s) = (record.span_s.0, record.span_s.1 - record.span_s.0);
    }

    /// Moves and zooms: the time at `anchor_s` stays where it is.
    pub fn zoom(&mut self, factor: f64, anchor_s: f64) {
        let span_s = (self.span_s / factor).max(SHORTEST_SPAN_S);
        let share = (anchor_s - self.start_s) / self.span_s;
        self.start_s = anchor_s - share * span_s;
        self.span_s = span_s;
    }

    /// The frequency that is measured with.
    pub fn nominal_hz(&self, record: &FaultRecord) -> Option<f64> {
        self.given_hz.or(record.facts.nominal_hz)
    }

    /// Keeps time and cursors within the record, the cursors on samples.
    pub fn keep_inside(&mut self, record: &FaultRecord) {
        let (begin_s, end_s) = record.span_s;
        let whole_s = (end_s - begin_s).max(SHORTEST_SPAN_S);
        self.span_s = self.span_s.clamp(SHORTEST_SPAN_S, whole_s);
        self.start_s = self.start_s.clamp(begin_s, begin_s + whole_s - self.span_s);
        self.gain = self.gain.clamp(0.1, 1000.0);
        for cursor_s in &mut self.cursors_s {
            *cursor_s = cursor_s.clamp(begin_s, end_s);
            let nearest = record.clock.nearest(*cursor_s);
            let on_sample = nearest.and_then(|sample| record.clock.time_s(sample));
            *cursor_s = on_sample.unwrap_or(*cursor_s);
        }
    }

    /// Moves a cursor by samples.
    pub fn step_cursor(&mut self, record: &FaultRecord, cursor: usize, n_samples: isize) {
        let times = &record.clock;
        let last = times.n_samples().saturating_sub(1);
        let moved = times.nearest(self.cursors_s[cursor]).and_then(|sample| {
            let sample = sample.saturating_add_signed(n_samples).min(last);
            times.time_s(sample)
        });
        self.cursors_s[cursor] = moved.unwrap_or(self.cursors_s[cursor]);
    }

    /// Shifts the view so that a cursor is in it.
    pub fn follow_cursor(&mut self, cursor: usize) {
        let at_s = self.cursors_s[cursor];
        if at_s < self.start_s || at_s > self.start_s + self.span_s {
            self.start_s = at_s - self.span_s / 2.0;
        }
    }

    /// The line by its own name, else by that of the station.
    pub fn named_line(&self, station: &str) -> Line {
        let name = match self.line_name.trim() {
            "" => station,
            name => name,
        };
        self.line.named_line(name)
    }

    /// The line that a report is about; none while nobody has entered one.
    pub fn reported_line(&self, station: &str) -> Option<Line> {
        (!self.line.is_example()).then(|| self.named_line(station))
    }

    fn question(&self, record: &FaultRecord) -> MeasureQuestion {
        MeasureQuestion {
            cursors_s: self.cursors_s,
            active: self.active,
            signal: self.signal,
            highest_order: self.highest_order,
            nominal_hz: self.nominal_hz(record),
        }
    }
}

/// A record to be put beside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BesideChoice {
    /// A record of the session, by its place among the sources.
    Source(usize),
    /// A file.
    File(PathBuf),
    /// None.
    Nothing,
}

/// Something to be done with a fault record.
#[derive(Clone, Debug)]
pub enum FaultAction {
    /// Looks at it in another way.
    View(Box<FaultView>),
    /// Puts another record beside it, aligned on the inception.
    Beside(BesideChoice),
    /// Lists the records of a folder, or of the session without one.
    List(Option<PathBuf>),
    /// Stops listing.
    CancelList,
    /// Shows the list, or the record again.
    ShowList(bool),
    /// Puts the list in another order, or searches in it.
    ViewList(ListView),
    /// Writes the list as a table.
    ExportList(PathBuf),
    /// Keeps the data of a line with the user.
    KeepLine(Line),
    /// Forgets the line of this name.
    ForgetLine(String),
    /// Takes zones from a file.
    Zones(PathBuf),
    /// Writes the report of the event, with both ends while a second record is shown.
    Report(PathBuf),
}

/// The viewer's state.
#[derive(Default)]
pub struct FaultStage {
    /// The record that is or will be in memory.
    of: Option<Arc<Record>>,
    reading: Background<(), FaultRecord>,
    shown: Option<Arc<FaultRecord>>,
    view: Option<FaultView>,
    stretch: Option<(f64, f64)>,
    beside: Option<Arc<FaultRecord>>,
    beside_reading: Background<(), FaultRecord>,
    measuring: Background<MeasureQuestion, FaultMeasures>,
    plane: Background<PlaneQuestion, ImpedancePlane>,
    overlay: Background<OverlayQuestion, Overlay>,
    /// What the record is read with.
    given: GivenFacts,
    /// Zones of a file.
    zones: Vec<Zone>,
    listing: Background<(), FaultList>,
    list_view: ListView,
    shows_list: bool,
}

/// Something that the background has made of the record.
pub(in crate::workbench) enum FaultEvent {
    /// It is in memory.
    Record(Answer<FaultRecord>),
    /// The second one is.
    Beside(Answer<FaultRecord>),
    /// Something is measured at the cursors.
    Measures(Answer<FaultMeasures>),
    /// The impedance plane of the line is computed.
    Plane(Answer<ImpedancePlane>),
    /// The second record lies on the first.
    Overlay(Answer<Overlay>),
    /// The records of a folder are listed.
    List(Answer<FaultList>),
}

fn made(made: FaultEvent) -> Event {
    Event::Explore(ExploreEvent::Fault(made))
}

impl FaultStage {
    /// The record in memory.
    pub fn record(&self) -> Option<&Arc<FaultRecord>> {
        self.shown.as_ref()
    }

    /// How it is looked at.
    pub fn view(&self) -> Option<&FaultView> {
        self.view.as_ref()
    }

    /// The record beside it.
    pub fn beside(&self) -> Option<&Arc<FaultRecord>> {
        self.beside.as_ref()
    }

    /// What is measured at the cursors; while they move, what was measured last.
    pub fn measures(&self) -> Option<&FaultMeasures> {
        self.measuring.shown().map(Arc::as_ref)
    }

    /// The impedance plane; while the line data change, that of the last ones.
    pub fn plane(&self) -> Option<&ImpedancePlane> {
        self.plane.shown().map(Arc::as_ref)
    }

    /// The second record on the time axis of the first; while it is shifted, as it lay before.
    pub fn overlay(&self) -> Option<&Overlay> {
        let is_wanted = self.view.as_ref().is_some_and(|view| view.is_overlaid);
        let shown = self.overlay.shown().filter(|_| is_wanted);
        shown.filter(|_| self.beside.is_some()).map(Arc::as_ref)
    }

    /// The list of records.
    pub fn list(&self) -> Option<&FaultList> {
        self.listing.shown().map(Arc::as_ref)
    }

    /// How the list is looked at.
    pub fn list_view(&self) -> &ListView {
        &self.list_view
    }

    /// Whether the list is shown instead of a record.
    pub fn shows_list(&self) -> bool {
        self.shows_list
    }

    /// The share listed, while listing.
    pub fn listing_share(&self) -> Option<f64> {
        self.listing.share()
    }

    /// Why there is no list.
    pub fn list_error(&self) -> Option<&str> {
        self.listing.failure()
    }

    /// Zones that were taken from a file.
    pub fn zones(&self) -> &[Zone] {
        &self.zones
    }

    /// Zones of a report: those by hand, and those of the file.
    pub fn reported_zones(&self) -> Vec<Zone> {
        let by_hand = self.view.as_ref().map(|view| view.line.zones());
        let mut zones = by_hand.unwrap_or_default();
        zones.extend(self.zones.iter().cloned());
        zones
    }

    /// Why the record cannot be shown.
    pub fn error(&self) -> Option<&str> {
        self.reading.failure()
    }

    pub(super) fn is_busy(&self) -> bool {
        self.reading.is_busy()
            || self.beside_reading.is_busy()
            || self.measuring.is_busy()
            || self.plane.is_busy()
            || self.overlay.is_busy()
            || self.listing.is_busy()
    }

    /// Whether a record is the one in memory, or will be.
    fn is_about(&self, record: &Arc<Record>) -> bool {
        self.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, record))
    }

    /// Reads another record; the one beside stays.
    fn read(
        &mut self,
        record: Arc<Record>,
        name: String,
        stretch: Option<(f64, f64)>,
        given: GivenFacts,
        post: &Post,
    ) {
        let is_same = self.is_about(&record);
        *self = Self {
            of: Some(record.clone()),
            stretch,
            beside: self.beside.take(),
            given: given.clone(),
            zones: std::mem::take(&mut self.zones),
            listing: std::mem::take(&mut self.listing),
            list_view: std::mem::take(&mut self.list_view),
            shows_list: self.shows_list,
            // The same record with other choices is looked at as before.
            shown: self.shown.take().filter(|_| is_same),
            view: self.view.take().filter(|_| is_same),
            ..Self::default()
        };
        let wrap = |answer| made(FaultEvent::Record(answer));
        let on = (post, "fault record", wrap as _);
        self.reading.start((), on, move |progress| {
            FaultRecord::read(&record, name, &given, &mut |share| progress.go_on(share))
        });
    }

    /// Takes over the bases of per unit that are noted about the records shown.
    fn follow_notes(&mut self, notes: &[RecordingNotes]) {
        for record in [&mut self.shown, &mut self.beside].into_iter().flatten() {
            let noted = notes_on(notes, &record.name).map(|notes| notes.bases.peaks());
            follow_bases(record, noted.unwrap_or_default());
        }
    }

    /// Measures at the cursors when they have moved, after what is under way.
    fn measure(&mut self, post: &Post) {
        let (Some(record), Some(view)) = (&self.shown, &self.view) else {
            return;
        };
        let question = view.question(record);
        if self.measuring.is_busy() || self.measuring.is_wanted(&question) {
            return;
        }
        let (record, asked) = (record.clone(), question);
        let wrap = |answer| made(FaultEvent::Measures(answer));
        self.measuring
            .start(question, (post, "measuring", wrap), move |_| {
                Ok(FaultMeasures::of(&record, asked))
            });
    }

    /// Computes the impedance plane when the line data have changed, after what is under way.
    fn follow_line(&mut self, judge: Option<LocusJudge>, post: &Post) {
        let (Some(record), Some(view)) = (&self.shown, &self.view) else {
            return;
        };
        let far = self.beside.as_ref().and_then(|beside| {
            let shift_s = view.alignment.shift_s(record, beside);
            Some((beside.analysis.clone()?, shift_s))
        });
        let question = PlaneQuestion {
            line: view.line,
            zones: self.zones.clone(),
            far,
            judge,
        };
        if self.plane.is_busy() || self.plane.is_wanted(&question) {
            return;
        }
        if let Some(analysis) = record.analysis.clone() {
            let wrap = |answer| made(FaultEvent::Plane(answer));
            let asked = question.clone();
            self.plane
                .start(question, (post, "impedance plane", wrap), move |_| {
                    Ok(ImpedancePlane::of(&analysis, asked))
                });
        }
    }

    /// Lays the second record on the first when either or the shift has changed, after what is under way.
    fn follow_overlay(&mut self, post: &Post) {
        let (Some(near), Some(far), Some(view)) = (&self.shown, &self.beside, &self.view) else {
            return;
        };
        if !view.is_overlaid || self.overlay.is_busy() {
            return;
        }
        let question = OverlayQuestion {
            near: near.clone(),
            far: far.clone(),
            shift_s: view.alignment.shift_s(near, far),
        };
        if self.overlay.is_wanted(&question) {
            return;
        }
        let wrap = |answer| made(FaultEvent::Overlay(answer));
        let asked = question.clone();
        self.overlay
            .start(question, (post, "second record", wrap), move |_| {
                Ok(Overlay::of(&asked))
            });
    }

    /// Shows a record that was read; one that was shown before with other choices keeps its view.
    fn show(&mut self, record: Arc<FaultRecord>, line: Option<&Line>) {
        let n_before = self.shown.as_ref().map_or(0, |before| before.lanes.len());
        let mut view = match self.view.take() {
            Some(mut view) => {
                view.lanes.extend(n_before..record.lanes.len());
                view.lanes.retain(|lane| *lane < record.lanes.len());
                view.signal = view.signal.min(record.signals.len().saturating_sub(1));
                view.keep_inside(&record);
                view
            }
            None => FaultView::first(&record, self.stretch),
        };
        if let Some(line) = line {
            view.line = view.line.with_line(line);
            view.line_name.clone_from(&line.name);
        }
        (self.shown, self.view) = (Some(record), Some(view));
    }

    pub(super) fn set_view(&mut self, mut view: FaultView) {
        if let Some(record) = &self.shown {
            view.keep_inside(record);
            self.view = Some(view);
        }
    }

    pub(super) fn put_beside(
        &mut self,
        choice: BesideChoice,
        loaded: Option<Arc<LoadedData>>,
        notes: Vec<RecordingNotes>,
        post: &Post,
    ) {
        self.beside_reading.stop();
        if choice == BesideChoice::Nothing {
            self.beside = None;
            return;
        }
        let wrap = |answer| made(FaultEvent::Beside(answer));
        let on = (post, "record beside", wrap as _);
        self.beside_reading.start((), on, move |progress| {
            let (name, record, data) = match (choice, &loaded) {
                (BesideChoice::Source(source), Some(loaded)) => {
                    let (name, record) = record_of(loaded, source)?;
                    (name, record, Some(&loaded.settings))
                }
                (BesideChoice::File(path), _) => {
                    let record = open(&path, Mode::default())?;
                    (path.display().to_string(), record, None)
                }
                (BesideChoice::Source(_), None) | (BesideChoice::Nothing, _) => {
                    return Err(TaskError::refused("the record no longer exists"));
                }
            };
            let station = record.grid.as_ref().map_or("", |grid| &grid.station);
            let given = given_facts(data, &fault_choice(&notes, &name, station));
            FaultRecord::read(&record, name, &given, &mut |share| progress.go_on(share))
        });
    }
}

/// What the settings of the data and the choices of the user say of a fault record.
pub(super) fn given_facts(data: Option<&DataSettings>, choice: &FaultChoice) -> GivenFacts {
    let recipe = match data.and_then(|data| data.recipe.as_ref()) {
        Some(FeatureRecipe::Fault(recipe)) => Some(recipe),
        _ => None,
    };
    let usual = FaultRecipe::default();
    let applied = choice.applied_to(recipe.unwrap_or(&usual));
    GivenFacts {
        phases: applied.phases,
        nominal_hz: applied.nominal_hz,
        inception: choice.inception,
        calculated: choice.calculated.clone(),
        bases: match recipe.map(|recipe| recipe.per_unit) {
            Some(PerUnit::Base {
                voltage_v,
                current_a,
            }) => Some([voltage_v, current_a]),
            Some(PerUnit::Off | PerUnit::BeforeInception) | None => None,
        },
    }
}

impl Workbench {
    /// What settings and choices say of a record; the settings say nothing of a file that is none of the data.
    fn facts_given(&self, name: &str, station: &str, is_of_data: bool) -> GivenFacts {
        let loaded = self.document.data.loaded().filter(|_| is_of_data);
        let choice = fault_choice(&self.document.draft.recordings, name, station);
        given_facts(loaded.map(|loaded| &loaded.settings), &choice)
    }

    /// Reads the fault record that is open, also when something else is chosen for it, and measures where its cursors are.
    pub(super) fn follow_fault(&mut self) {
        let opened = self.tasks.explore.opened();
        if let Some(opened) = opened.filter(|opened| opened.viewer == Viewer::Fault) {
            let station = opened.record.grid.as_ref().map(|grid| grid.station.clone());
            let station = station.unwrap_or_default();
            let given = self.facts_given(&opened.name, &station, opened.source.is_some());
            let fault = &self.tasks.explore.fault;
            if !fault.is_about(&opened.record) || fault.given != given {
                let (record, name) = (opened.record.clone(), opened.name.clone());
                let stretch = opened.stretch;
                let fault = &mut self.tasks.explore.fault;
                fault.read(record, name, stretch, given, &self.tasks.post);
            }
        }
        let judge = self.locus_judge();
        let fault = &mut self.tasks.explore.fault;
        fault.measure(&self.tasks.post);
        fault.follow_line(judge, &self.tasks.post);
        fault.follow_overlay(&self.tasks.post);
        fault.follow_notes(&self.document.draft.recordings);
    }

    /// The model that has judged the record, if it takes the magnitudes that are known all along the locus.
    fn locus_judge(&self) -> Option<LocusJudge> {
        let judged = self.tasks.explore.ribbon.judged()?;
        match &judged.judges.data.recipe {
            Some(FeatureRecipe::Fault(recipe)) if recipe.form == FaultForm::Magnitudes => {}
            _ => return None,
        }
        Some(LocusJudge {
            model: judged.models.first()?.clone(),
            facts: judged.judges.facts.clone(),
            epsilon: judged.judges.epsilon,
        })
    }

    pub(super) fn take_fault(&mut self, made: FaultEvent) {
        let fault = &mut self.tasks.explore.fault;
        match made {
            // Why it cannot be read is said in its place.
            FaultEvent::Record(answer) => {
                if let Some(Ok(record)) = fault.reading.take(answer) {
                    let notes = &self.document.draft.recordings;
                    let chosen = fault_choice(notes, &record.name, &record.station).line;
                    let kept = Line::of_station(&self.user.settings.lines, &record.station);
                    fault.show(record, chosen.as_ref().or(kept));
                }
            }
            FaultEvent::Beside(answer) => {
                let taken = fault.beside_reading.take(answer);
                let beside = self.tell_failure(Topic::Explore, taken);
                let fault = &mut self.tasks.explore.fault;
                fault.beside = beside.or(fault.beside.take());
            }
            FaultEvent::Measures(answer) => drop(fault.measuring.take(answer)),
            FaultEvent::Plane(answer) => drop(fault.plane.take(answer)),
            FaultEvent::Overlay(answer) => drop(fault.overlay.take(answer)),
            // Why there is no list is said in its place.
            FaultEvent::List(answer) => drop(fault.listing.take(answer)),
        }
    }

    /// Does something with a fault record.
    pub(super) fn apply_fault(&mut self, action: FaultAction) {
        let fault = &mut self.tasks.explore.fault;
        match action {
            FaultAction::View(view) => fault.set_view(*view),
            FaultAction::Beside(choice) => self.put_beside(choice),
            FaultAction::List(folder) => self.list_faults(folder),
            FaultAction::CancelList => fault.listing.stop(),
            FaultAction::ShowList(shows) => fault.shows_list = shows,
            FaultAction::ViewList(view) => fault.list_view = view,
            FaultAction::ExportList(path) => self.export_list(path),
            FaultAction::KeepLine(line) => self.remember(move |user| user.keep_line(line)),
            FaultAction::ForgetLine(name) => {
                self.remember(move |user| user.lines.retain(|line| line.name != name));
            }
            FaultAction::Zones(path) => self.open_zones(&path),
            FaultAction::Report(path) => self.report_fault(path),
        }
    }

    fn put_beside(&mut self, choice: BesideChoice) {
        self.selection.ask = None;
        let loaded = self.document.data.loaded().cloned();
        let notes = self.document.draft.recordings.clone();
        let fault = &mut self.tasks.explore.fault;
        fault.put_beside(choice, loaded, notes, &self.tasks.post);
    }

    /// Lists the records of a folder, or of the session, in the background.
    fn list_faults(&mut self, folder: Option<PathBuf>) {
        self.selection.ask = None;
        let from = match (folder, self.document.data.loaded()) {
            (Some(folder), _) => ListedRecords::Folder(folder),
            (None, Some(loaded)) => ListedRecords::Data(loaded.clone()),
            (None, None) => return,
        };
        let judge = self.judges().and_then(ListJudge::of);
        let notes = self.document.draft.recordings.clone();
        let lines = self.user.settings.lines.clone();
        let wrap = |answer| made(FaultEvent::List(answer));
        let on = (&self.tasks.post, "list of fault records", wrap as _);
        let fault = &mut self.tasks.explore.fault;
        fault.shows_list = true;
        fault.listing.start((), on, move |progress| {
            list_records(from, (&notes, &lines), judge.as_ref(), progress)
        });
    }

    fn export_list(&mut self, path: PathBuf) {
        self.selection.ask = None;
        let Some(list) = self.tasks.explore.fault.listing.shown().cloned() else {
            return;
        };
        let on = (
            &self.tasks.post,
            "list of fault records",
            Event::Exported as _,
        );
        self.tasks.exporting.start((), on, move |_| {
            let table =
                to_csv(&list.rows).map_err(|error| TaskError::Refused(error.to_string()))?;
            write(&path, &table)?;
            Ok(path)
        });
    }

    fn open_zones(&mut self, path: &Path) {
        self.selection.ask = None;
        match read_zones(path) {
            Ok(file) => self.take_zones(&file),
            Err(error) => self.notices.fail(Topic::Explore, &error),
        }
    }

    /// Zones in primary ohms, and the residual compensation of the relay as that of the line.
    fn take_zones(&mut self, file: &RioFile) {
        let fault = &mut self.tasks.explore.fault;
        let ratio = fault.shown.as_ref().and_then(|end| end.impedance_ratio());
        fault.zones = file.primary_zones(ratio.unwrap_or(1.0));
        let mut said = vec![counted(fault.zones.len(), "zone")];
        match ratio {
            _ if file.is_primary => {}
            Some(ratio) => said.push(format!("secondary ohms, multiplied by {ratio:.4}")),
            None => {
                said.push("secondary ohms, left as they are: the record tells no ratios".into())
            }
        }
        if let (Some(k0), Some(view)) = (file.k0, fault.view.as_mut()) {
            let z1 = Complex64::new(view.line.z1.0, view.line.z1.1);
            let z0 = z1 * (1.0 + 3.0 * k0);
            view.line.z0 = (z0.re, z0.im);
            said.push(format!("r0 and x0 by its k0 {:.3}{:+.3}j", k0.re, k0.im));
        }
        self.notices
            .post(Topic::Explore, Gravity::Done, said.join("; "));
    }

    /// Writes the report of the record that is open, and of the one beside, in the background.
    fn report_fault(&mut self, path: PathBuf) {
        self.selection.ask = None;
        let fault = &self.tasks.explore.fault;
        let Some(view) = fault.view.clone() else {
            return;
        };
        let ends: Vec<Arc<FaultRecord>> =
            fault.shown.iter().chain(&fault.beside).cloned().collect();
        let alignment = match ends.as_slice() {
            [near, far] => view.alignment.reported(near, far),
            _ => EndAlignment::Inceptions,
        };
        let decision = self.reported_decision();
        let zones = fault.reported_zones();
        let on = (&self.tasks.post, "fault report", Event::Exported as _);
        self.tasks.exporting.start((), on, move |_| {
            let reported: Vec<ReportedRecord> = ends
                .iter()
                .filter_map(|end| {
                    Some(ReportedRecord {
                        path: PathBuf::from(&end.name),
                        record: Record::clone(&end.source),
                        analysis: FaultAnalysis::clone(end.analysis.as_ref()?),
                        line: view.reported_line(&end.station),
                    })
                })
                .collect();
            let none = || TaskError::refused("the record has no three phases to report about");
            reported.first().ok_or_else(none)?;
            let report = FaultReport::new(&reported);
            let report = report.with_zones(zones).with_alignment(alignment);
            let page = match decision.transpose()? {
                Some(mut decision) => {
                    decision.is_uncertain |= reported[0].analysis.doubts(&decision.class);
                    report.with_decision(decision).page()
                }
                None => report.page(),
            };
            write(&path, page.as_bytes())?;
            Ok(path)
        });
    }

    /// What the model that judges has decided of the record that is open.
    fn reported_decision(&self) -> Option<Result<ReportedDecision, TaskError>> {
        let judged = self.tasks.explore.ribbon.judged()?;
        let segment = judged.ribbon.segments.first()?;
        let model = judged.models.first()?;
        let class = judged.judges.facts.class_names.get(segment.verdict.class)?;
        Some(
            model_sha256(model)
                .map_err(TaskError::from)
                .map(|model_sha256| ReportedDecision {
                    class: class.clone(),
                    margin: segment.verdict.margin,
                    is_uncertain: judged.ribbon.is_uncertain(segment),
                    fit_p: segment.assurance.as_ref().map(|assured| assured.fit_p),
                    model_sha256,
                }),
        )
    }
}

/// The zones of a RIO file.
fn read_zones(path: &Path) -> Result<RioFile, TaskError> {
    let input = Input::open(path)?;
    let n_bytes = input.bytes.len();
    if n_bytes > rio::MOST_BYTES as u64 {
        let most = rio::MOST_BYTES;
        return Err(TaskError::Refused(format!(
            "a zone file has at most {most} bytes, but this has {n_bytes}: {}",
            path.display()
        )));
    }
    let bytes = input.bytes.read_range(0, n_bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    rio::parse(&text).map_err(|error| TaskError::Refused(format!("{error}: {}", path.display())))
}
