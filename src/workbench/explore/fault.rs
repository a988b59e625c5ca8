//! The fault-record viewer's state: the record in memory, one beside it, what is looked at and what is measured there.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::fault_measures::{FaultMeasures, MeasureQuestion};
use super::fault_plane::{ImpedancePlane, LineData};
use super::fault_record::{FaultRecord, GivenFacts, ValueScale, follow_bases};
use super::{ExploreEvent, Viewer};
use crate::workbench::background::{Answer, Background, Post};
use crate::workbench::event::Event;
use crate::workbench::notices::Topic;
use crate::workbench::records::LoadedData;
use crate::workbench::signal::record_of;
use crate::workbench::{TaskError, Workbench};
use atomscope_engine::dataset::DataSettings;
use atomscope_engine::features::FeatureRecipe;
use atomscope_engine::features::fault::PerUnit;
use atomscope_engine::records::{Mode, Record, open};
use atomscope_engine::session::{RecordingNotes, notes_on};

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
    /// The line that impedances and distances are of.
    pub line: LineData,
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
            line: LineData::default(),
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
    plane: Background<LineData, ImpedancePlane>,
}

/// Something that the background has made of the record.
pub(in crate::workbench) enum Made {
    /// It is in memory.
    Record(Answer<FaultRecord>),
    /// The second one is.
    Beside(Answer<FaultRecord>),
    /// Something is measured at the cursors.
    Measures(Answer<FaultMeasures>),
    /// The impedance plane of the line is computed.
    Plane(Answer<ImpedancePlane>),
}

fn made(made: Made) -> Event {
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

    /// Why the record cannot be shown.
    pub fn error(&self) -> Option<&str> {
        self.reading.failure()
    }

    /// The share read.
    pub fn reading_share(&self) -> Option<f64> {
        self.reading.share()
    }

    pub(super) fn is_busy(&self) -> bool {
        self.reading.is_busy()
            || self.beside_reading.is_busy()
            || self.measuring.is_busy()
            || self.plane.is_busy()
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
        *self = Self {
            of: Some(record.clone()),
            stretch,
            beside: self.beside.take(),
            ..Self::default()
        };
        let wrap = |answer| made(Made::Record(answer));
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
        let wrap = |answer| made(Made::Measures(answer));
        self.measuring
            .start(question, (post, "measuring", wrap), move |_| {
                Ok(FaultMeasures::of(&record, asked))
            });
    }

    /// Computes the impedance plane when the line data have changed, after what is under way.
    fn follow_line(&mut self, post: &Post) {
        let (Some(record), Some(view)) = (&self.shown, &self.view) else {
            return;
        };
        let line = view.line;
        if self.plane.is_busy() || self.plane.is_wanted(&line) {
            return;
        }
        if let Some(analysis) = record.analysis.clone() {
            let wrap = |answer| made(Made::Plane(answer));
            self.plane
                .start(line, (post, "impedance plane", wrap), move |_| {
                    Ok(ImpedancePlane::of(&analysis, line))
                });
        }
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
        given: GivenFacts,
        post: &Post,
    ) {
        self.beside_reading.stop();
        if choice == BesideChoice::Nothing {
            self.beside = None;
            return;
        }
        let wrap = |answer| made(Made::Beside(answer));
        let on = (post, "record beside", wrap as _);
        self.beside_reading.start((), on, move |progress| {
            let (name, record) = match (choice, loaded) {
                (BesideChoice::Source(source), Some(loaded)) => record_of(&loaded, source)?,
                (BesideChoice::File(path), _) => {
                    let record = open(&path, Mode::default())?;
                    (path.display().to_string(), record)
                }
                (BesideChoice::Source(_), None) | (BesideChoice::Nothing, _) => {
                    return Err(TaskError::refused("the record no longer exists"));
                }
            };
            FaultRecord::read(&record, name, &given, &mut |share| progress.go_on(share))
        });
    }
}

/// What the settings of the data say of fault records.
pub(super) fn given_facts(data: &DataSettings) -> GivenFacts {
    let Some(FeatureRecipe::Fault(recipe)) = &data.recipe else {
        return GivenFacts::default();
    };
    GivenFacts {
        phases: recipe.phases.clone(),
        nominal_hz: recipe.nominal_hz,
        bases: match recipe.per_unit {
            PerUnit::Base {
                voltage_v,
                current_a,
            } => Some([voltage_v, current_a]),
            PerUnit::Off | PerUnit::BeforeInception => None,
        },
    }
}

impl Workbench {
    /// What the settings say of the record that is open; of a file that is none of the data they say nothing.
    fn facts_given(&self, is_of_data: bool) -> GivenFacts {
        match self.document.data.loaded().filter(|_| is_of_data) {
            Some(loaded) => given_facts(&loaded.settings),
            None => GivenFacts::default(),
        }
    }

    /// Reads the fault record that is open, and measures where its cursors are.
    pub(super) fn follow_fault(&mut self) {
        let opened = self.tasks.explore.opened();
        let new = opened.filter(|opened| {
            opened.viewer == Viewer::Fault && !self.tasks.explore.fault.is_about(&opened.record)
        });
        if let Some(opened) = new {
            let (record, name) = (opened.record.clone(), opened.name.clone());
            let (stretch, is_of_data) = (opened.stretch, opened.source.is_some());
            let given = self.facts_given(is_of_data);
            let fault = &mut self.tasks.explore.fault;
            fault.read(record, name, stretch, given, &self.tasks.post);
        }
        let fault = &mut self.tasks.explore.fault;
        fault.measure(&self.tasks.post);
        fault.follow_line(&self.tasks.post);
        fault.follow_notes(&self.document.draft.recordings);
    }

    pub(super) fn take_fault(&mut self, made: Made) {
        let fault = &mut self.tasks.explore.fault;
        match made {
            // Why it cannot be read is said in its place.
            Made::Record(answer) => {
                if let Some(Ok(record)) = fault.reading.take(answer) {
                    fault.view = Some(FaultView::first(&record, fault.stretch));
                    fault.shown = Some(record);
                }
            }
            Made::Beside(answer) => {
                let taken = fault.beside_reading.take(answer);
                let beside = self.tell_failure(Topic::Explore, taken);
                let fault = &mut self.tasks.explore.fault;
                fault.beside = beside.or(fault.beside.take());
            }
            Made::Measures(answer) => drop(fault.measuring.take(answer)),
            Made::Plane(answer) => drop(fault.plane.take(answer)),
        }
    }

    /// Does something with a fault record.
    pub(super) fn apply_fault(&mut self, action: FaultAction) {
        match action {
            FaultAction::View(view) => self.tasks.explore.fault.set_view(*view),
            FaultAction::Beside(choice) => {
                self.selection.ask = None;
                let given = self.facts_given(matches!(choice, BesideChoice::Source(_)));
                let loaded = self.document.data.loaded().cloned();
                let fault = &mut self.tasks.explore.fault;
                fault.put_beside(choice, loaded, given, &self.tasks.post);
            }
        }
    }
}
