//! The EEG browser: a recording, how it is looked at, and everything the background makes of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::annotations::AnnotationList;
use super::band_maps::{BandMaps, ComparedMaps, ComparedReader, ElectrodeNotes};
use super::page::{PageRequest, TracePage};
use super::spectra::{Spectrogram, TraceSpectrum, spectra, spectrogram};
use super::traces::TraceSource;
use super::view::{EegView, MapComparison, SidePanel, StripKind};
use super::{ExploreEvent, OpenedRecording};
use crate::workbench::background::{Answer, Background, Post};
use crate::workbench::event::Event;
use crate::workbench::{LoadedData, TaskError};
use atomscope_engine::experiment::JobProgress;
use atomscope_engine::features::bad_channels::{Suspicion, suspects};
use atomscope_engine::features::display_filter::DisplayFilter;
use atomscope_engine::features::montage::Montage;
use atomscope_engine::features::signal_kind::SignalKind;
use atomscope_engine::features::trends::{TrendChannels, TrendError, Trends};
use atomscope_engine::records::Record;
use atomscope_engine::records::electrode_positions::PlacedElectrode;
use atomscope_engine::records::overview::Overview;
use atomscope_engine::session::{KeptTrends, OwnAnnotation, RecordingNotes, TrendSource, notes_on};

/// Columns of the strip of the whole recording.
const STRIP_COLUMNS: usize = 1600;

/// How often unfinished trends are shown further.
const TRENDS_SHOWN_EVERY: Duration = Duration::from_millis(400);

/// Trends that are shown, wherever they come from.
#[derive(Clone, Debug)]
pub enum ShownTrends {
    /// Kept with the session.
    Kept(Arc<KeptTrends>),
    /// Computed, perhaps not to the end.
    Computed(Arc<Trends>),
}

impl std::ops::Deref for ShownTrends {
    type Target = Trends;

    fn deref(&self) -> &Trends {
        match self {
            Self::Kept(kept) => &kept.trends,
            Self::Computed(trends) => trends,
        }
    }
}

/// The whole recording at a glance.
#[derive(Debug)]
pub struct Whole {
    /// Smallest and largest values at every zoom.
    pub overview: Overview,
    /// How far the traces swing in each part of the recording, the mean over them; NaN in gaps.
    pub activity: Vec<f32>,
}

/// What traces are made for: nothing of it may change unnoticed.
#[derive(Clone, Debug, PartialEq)]
struct Derived {
    montage: Montage,
    bad_channels: Vec<String>,
    kinds: Vec<(String, SignalKind)>,
    positions: Vec<PlacedElectrode>,
    order: Vec<String>,
    hidden: std::collections::BTreeSet<String>,
}

/// Traces from one time to another.
type TracesBetween = (Arc<Vec<TraceSource>>, (f64, f64));
/// A comparison, under which montage, with which notes, of which data, at which assumed rate.
type Compared = (
    MapComparison,
    Montage,
    Vec<ElectrodeNotes>,
    Option<usize>,
    Option<f64>,
);

/// Something that the background has made of the recording.
pub(in crate::workbench) enum RecordingEvent {
    /// A page of traces.
    Page(Answer<TracePage>),
    /// The whole recording at a glance.
    Whole(Answer<Whole>),
    /// The spectrogram of the chosen trace.
    Spectrogram(Answer<Spectrogram>),
    /// Trends of the whole recording.
    Trends(Answer<Trends>),
    /// The spectra of the selection.
    Spectra(Answer<Vec<TraceSpectrum>>),
    /// Channels that look bad.
    Suspects(Answer<Vec<(usize, Suspicion)>>),
    /// What the maps are compared with.
    Compared(Answer<ComparedMaps>),
}

fn made(made: RecordingEvent) -> Event {
    Event::Explore(ExploreEvent::Eeg(made))
}

/// The EEG browser.
pub struct EegBrowser {
    record: Arc<Record>,
    /// The rate that was assumed because the file does not say it.
    assumed_rate_hz: Option<f64>,
    duration_s: f64,
    view: EegView,
    derived: Option<Derived>,
    montage_problem: Option<String>,
    ordered: Arc<Vec<TraceSource>>,
    shown: Arc<Vec<TraceSource>>,
    /// Those of the lanes that are scrolled to, and from which to which they are.
    in_lanes: Arc<Vec<TraceSource>>,
    lane_range: std::ops::Range<usize>,
    suspects: Background<(), Vec<(usize, Suspicion)>>,
    page: Background<PageRequest, TracePage>,
    whole: Background<(), Whole>,
    spectrogram: Background<TraceSource, Spectrogram>,
    spectra: Background<TracesBetween, Vec<TraceSpectrum>>,
    compared: Background<Compared, ComparedMaps>,
    trends: Background<TrendChannels, Trends>,
    /// Trends that the session has kept.
    kept_trends: Option<Arc<KeptTrends>>,
    /// Trends as far as they are computed.
    unfinished_trends: Arc<Mutex<Option<Arc<Trends>>>>,
    own_annotations: Vec<OwnAnnotation>,
    annotations: Arc<AnnotationList>,
}

impl EegBrowser {
    /// Opens a recording; how the one before was looked at is kept where that makes sense.
    pub(super) fn new(
        opened: &OpenedRecording,
        stretch: Option<(f64, f64)>,
        before: Option<&EegView>,
    ) -> Self {
        let record = opened.record.clone();
        let duration_s = record.duration_s().unwrap_or(0.0);
        let mut view = before.map_or_else(EegView::default, kept_of);
        if let Some((start_s, length_s)) = stretch {
            view.span_s = view.span_s.max(length_s * 1.2);
            view.start_s = start_s + length_s / 2.0 - view.span_s / 2.0;
            view.cursors = Some((start_s, start_s + length_s));
        }
        view.stay_within(duration_s);
        Self {
            annotations: Arc::new(AnnotationList::of(&record.annotations, &[])),
            record,
            assumed_rate_hz: opened.assumed_rate_hz,
            duration_s,
            view,
            derived: None,
            montage_problem: None,
            ordered: Arc::default(),
            shown: Arc::default(),
            in_lanes: Arc::default(),
            lane_range: 0..0,
            suspects: Background::default(),
            page: Background::default(),
            whole: Background::default(),
            spectrogram: Background::default(),
            spectra: Background::default(),
            compared: Background::default(),
            trends: Background::default(),
            kept_trends: None,
            unfinished_trends: Arc::default(),
            own_annotations: Vec::new(),
        }
    }

    /// The recording.
    pub fn record(&self) -> &Arc<Record> {
        &self.record
    }

    /// How long it is, gaps included.
    pub fn duration_s(&self) -> f64 {
        self.duration_s
    }

    /// How it is looked at.
    pub fn view(&self) -> &EegView {
        &self.view
    }

    /// All traces of the montage in their order, hidden ones too.
    pub fn traces(&self) -> &[TraceSource] {
        &self.ordered
    }

    /// How many traces are not hidden, also those that are not scrolled to.
    pub fn n_shown(&self) -> usize {
        self.shown.len()
    }

    /// Channels that look bad, by name with the reason; nothing until they were looked for.
    pub fn suspects(&self) -> Option<Vec<(&str, &Suspicion)>> {
        let found = self.suspects.shown()?;
        let named = found.iter().filter_map(|(place, suspicion)| {
            let channel = self.record.channels.get(*place)?;
            Some((channel.name.as_str(), suspicion))
        });
        Some(named.collect())
    }

    /// Why the own montage cannot be used.
    pub fn montage_problem(&self) -> Option<&str> {
        self.montage_problem.as_deref()
    }

    /// The newest page, perhaps not the one wanted yet.
    pub fn page(&self) -> Option<&Arc<TracePage>> {
        self.page.shown()
    }

    /// The share read of a page that takes its time.
    pub fn page_share(&self) -> Option<f64> {
        self.page.long_share()
    }

    /// The whole recording at a glance, when it has been read.
    pub fn whole(&self) -> Option<&Arc<Whole>> {
        self.whole.shown()
    }

    /// The share read of the whole recording.
    pub fn whole_share(&self) -> Option<f64> {
        self.whole.long_share()
    }

    /// The spectrogram of the chosen trace.
    pub fn spectrogram(&self) -> Option<&Arc<Spectrogram>> {
        self.spectrogram.shown()
    }

    /// The share done of the spectrogram.
    pub fn spectrogram_share(&self) -> Option<f64> {
        self.spectrogram.long_share()
    }

    /// Trends of the whole recording: those kept, those computed, or as far as they are.
    pub fn trends(&self) -> Option<ShownTrends> {
        if let Some(kept) = &self.kept_trends {
            return Some(ShownTrends::Kept(kept.clone()));
        }
        let unfinished = || {
            let slot = self.unfinished_trends.lock();
            slot.unwrap_or_else(PoisonError::into_inner).clone()
        };
        let finished = self.trends.shown().filter(|_| !self.trends.is_busy());
        let computed = finished.cloned().or_else(unfinished);
        computed.map(ShownTrends::Computed)
    }

    /// The share done of the trends.
    pub fn trends_share(&self) -> Option<f64> {
        self.trends.share()
    }

    /// Why there are no trends.
    pub fn trends_problem(&self) -> Option<&str> {
        self.trends.failure()
    }

    /// The spectra of the selection.
    pub fn spectra(&self) -> Option<&Arc<Vec<TraceSpectrum>>> {
        self.spectra.shown()
    }

    /// The share done of the spectra.
    pub fn spectra_share(&self) -> Option<f64> {
        self.spectra.long_share()
    }

    /// The maps of the selection.
    pub fn maps(&self) -> Option<BandMaps> {
        let spectra = self.spectra.shown()?;
        Some(BandMaps::of(spectra, "selection"))
    }

    /// What the maps are compared with, once it has been read.
    pub fn compared(&self) -> Option<&Arc<ComparedMaps>> {
        self.view.comparison.as_ref()?;
        let is_there = !self.compared.is_busy() && self.compared.failure().is_none();
        self.compared.shown().filter(|_| is_there)
    }

    /// The share read of what the maps are compared with.
    pub fn compared_share(&self) -> Option<f64> {
        self.compared.long_share()
    }

    /// Why something in the background failed.
    pub fn problem(&self) -> Option<&str> {
        let problems = [
            self.page.failure(),
            self.whole.failure(),
            self.spectrogram.failure(),
            self.spectra.failure(),
            self.suspects.failure(),
            self.compared.failure(),
        ];
        problems.into_iter().flatten().next()
    }

    /// All annotations.
    pub fn annotations(&self) -> &Arc<AnnotationList> {
        &self.annotations
    }

    /// The chosen trace, or the first.
    pub fn chosen(&self) -> Option<&TraceSource> {
        let is_chosen = |trace: &&TraceSource| Some(&trace.name) == self.view.chosen.as_ref();
        let chosen = self.shown.iter().find(is_chosen);
        chosen.or_else(|| self.shown.first())
    }

    /// Whether work is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.page.is_busy()
            || self.whole.is_busy()
            || self.spectrogram.is_busy()
            || self.spectra.is_busy()
            || self.compared.is_busy()
            || self.trends.is_busy()
            || self.suspects.is_busy()
    }

    /// Looks at the recording in another way.
    pub(super) fn look(&mut self, view: EegView) {
        self.view = view;
        self.view.stay_within(self.duration_s);
    }

    /// Sensitivities at which the traces of the page fill their lanes.
    pub(super) fn fit(&mut self) {
        if let Some(page) = self.page.shown() {
            self.view.fit(page);
        }
    }

    /// Ends reading a page; the one before stays until another one is wanted.
    pub(super) fn stop_page(&mut self) {
        self.page.stop();
    }

    /// Ends reading the whole recording; the strip stays empty.
    pub(super) fn stop_whole(&mut self) {
        self.whole.stop();
    }

    /// Takes over what the background has made of the recording; gives trends that can be kept with the session.
    pub(super) fn take(&mut self, made: RecordingEvent) -> Option<Arc<KeptTrends>> {
        // What has failed is said beside the traces.
        match made {
            RecordingEvent::Page(answer) => {
                let is_new = matches!(self.page.take(answer), Some(Ok(_)));
                if is_new && self.view.sensitivity.is_none() {
                    self.fit();
                }
            }
            RecordingEvent::Whole(answer) => drop(self.whole.take(answer)),
            RecordingEvent::Spectrogram(answer) => drop(self.spectrogram.take(answer)),
            RecordingEvent::Trends(answer) => return self.take_trends(answer),
            RecordingEvent::Spectra(answer) => drop(self.spectra.take(answer)),
            RecordingEvent::Suspects(answer) => drop(self.suspects.take(answer)),
            RecordingEvent::Compared(answer) => drop(self.compared.take(answer)),
        }
        None
    }

    fn take_trends(&mut self, answer: Answer<Trends>) -> Option<Arc<KeptTrends>> {
        let trends = self.trends.take(answer)?.ok()?;
        let of = TrendSource::of(&self.record, self.trends.wanted()?)?;
        let kept = Arc::new(KeptTrends {
            of,
            trends: Trends::clone(&trends),
        });
        self.kept_trends = Some(kept.clone());
        Some(kept)
    }

    /// Asks for what is wanted now; called while the recording is on the screen.
    pub(super) fn follow(
        &mut self,
        name: &str,
        all_notes: &[RecordingNotes],
        loaded: Option<&Arc<LoadedData>>,
        kept_trends: &[Arc<KeptTrends>],
        post: &Post,
    ) {
        let notes = notes_on(all_notes, name);
        self.follow_notes(notes);
        self.derive(notes);
        self.scroll_lanes();
        self.ask(post);
        // The first page before anything else.
        if self.view.shows_trends && self.page.shown().is_some() {
            let chosen = notes.map_or_else(TrendChannels::default, |notes| TrendChannels {
                bad: notes.bad_channels.clone(),
                kinds: notes.kinds.clone(),
            });
            self.ask_trends(chosen, kept_trends, post);
        }
        if self.view.seeks_bad {
            self.ask_suspects(post);
        }
        if self.view.side == SidePanel::Maps {
            self.ask_comparison(all_notes, loaded, post);
        }
    }

    fn follow_notes(&mut self, notes: Option<&RecordingNotes>) {
        let own = notes.map_or(&[][..], |notes| &notes.annotations);
        if own != self.own_annotations {
            self.own_annotations = own.to_vec();
            self.annotations = Arc::new(AnnotationList::of(&self.record.annotations, own));
        }
    }

    /// Makes the traces anew when something they depend on has changed.
    fn derive(&mut self, notes: Option<&RecordingNotes>) {
        let bad_channels = notes.map_or(&[][..], |notes| &notes.bad_channels);
        let kinds = notes.map_or(&[][..], |notes| &notes.kinds);
        let positions = notes.map_or(&[][..], |notes| &notes.positions);
        let is_same = self.derived.as_ref().is_some_and(|derived| {
            derived.montage == self.view.montage
                && derived.bad_channels == bad_channels
                && derived.kinds == kinds
                && derived.positions == positions
                && derived.order == self.view.order
                && derived.hidden == self.view.hidden
        });
        if is_same {
            return;
        }
        let montage = &self.view.montage;
        match TraceSource::all_of(&self.record, montage, bad_channels, positions) {
            Ok(mut traces) => {
                for (name, kind) in kinds {
                    let own = traces.iter_mut().filter(|trace| trace.name == *name);
                    own.for_each(|trace| trace.kind = *kind);
                }
                let ordered = self.view.in_order(&traces);
                let is_shown = |trace: &&TraceSource| !self.view.hidden.contains(&trace.name);
                self.shown = Arc::new(ordered.iter().filter(is_shown).cloned().collect());
                self.ordered = Arc::new(ordered);
                self.montage_problem = None;
            }
            Err(problem) => self.montage_problem = Some(problem.to_string()),
        }
        self.lane_range = 0..0;
        self.derived = Some(Derived {
            montage: self.view.montage.clone(),
            bad_channels: bad_channels.to_vec(),
            kinds: kinds.to_vec(),
            positions: positions.to_vec(),
            order: self.view.order.clone(),
            hidden: self.view.hidden.clone(),
        });
    }

    /// The traces of the lanes that are scrolled to.
    fn scroll_lanes(&mut self) {
        let n_lanes = self.view.n_lanes(self.shown.len());
        let last = self.shown.len() - n_lanes;
        self.view.first_lane = self.view.first_lane.min(last);
        let range = self.view.first_lane..self.view.first_lane + n_lanes;
        if range == self.lane_range {
            return;
        }
        self.in_lanes = match n_lanes == self.shown.len() {
            true => self.shown.clone(),
            false => Arc::new(self.shown[range.clone()].to_vec()),
        };
        self.lane_range = range;
    }

    fn ask_suspects(&mut self, post: &Post) {
        let record = self.record.clone();
        let wrap = |answer| made(RecordingEvent::Suspects(answer));
        self.suspects.follow((), (post, "bad channels", wrap), || {
            move |_: &JobProgress| Ok(suspects(&record)?)
        });
    }

    fn ask(&mut self, post: &Post) {
        if self.view.n_columns == 0 {
            return;
        }
        let request = PageRequest {
            start_s: self.view.start_s,
            span_s: self.view.span_s,
            n_columns: self.view.n_columns,
            traces: self.in_lanes.clone(),
            filter: self.view.filter,
        };
        let (record, whole) = (self.record.clone(), self.whole.shown().cloned());
        let wrap = |answer| made(RecordingEvent::Page(answer));
        self.page.follow(request.clone(), (post, "page", wrap), || {
            move |progress: &JobProgress| {
                let overview = whole.as_ref().map(|whole| &whole.overview);
                TracePage::read(&record, request, overview, |share| progress.go_on(share))
            }
        });
        // The first picture before anything else.
        if self.page.shown().is_none() {
            return;
        }
        let (record, duration_s) = (self.record.clone(), self.duration_s);
        let wrap = |answer| made(RecordingEvent::Whole(answer));
        self.whole.follow((), (post, "overview", wrap), || {
            move |progress: &JobProgress| {
                Whole::read(&record, duration_s, |share| progress.go_on(share))
            }
        });
        if self.view.strip == StripKind::Spectrogram
            && let Some(trace) = self.chosen().cloned()
        {
            let record = self.record.clone();
            let wrap = |answer| made(RecordingEvent::Spectrogram(answer));
            let on = (post, "spectrogram", wrap as _);
            self.spectrogram.follow(trace.clone(), on, || {
                move |progress: &JobProgress| spectrogram(&record, &trace, duration_s, progress)
            });
        }
        if matches!(self.view.side, SidePanel::Spectrum | SidePanel::Maps) {
            let (record, traces) = (self.record.clone(), self.shown.clone());
            let stretch = self.view.selection();
            let wrap = |answer| made(RecordingEvent::Spectra(answer));
            let on = (post, "spectra", wrap as _);
            self.spectra.follow((traces.clone(), stretch), on, || {
                move |progress: &JobProgress| spectra(&record, &traces, stretch, progress)
            });
        }
    }

    fn ask_trends(&mut self, chosen: TrendChannels, kept: &[Arc<KeptTrends>], post: &Post) {
        let is_of = |kept: &Arc<KeptTrends>| kept.of.chosen == chosen;
        if self.kept_trends.as_ref().is_some_and(is_of) || self.trends.is_wanted(&chosen) {
            return;
        }
        let source = TrendSource::of(&self.record, &chosen);
        let known = kept.iter().find(|kept| Some(&kept.of) == source.as_ref());
        self.kept_trends = known.cloned();
        if self.kept_trends.is_some() {
            return;
        }
        let record = self.record.clone();
        let slot = Arc::new(Mutex::new(None));
        self.unfinished_trends = slot.clone();
        let wrap = |answer| made(RecordingEvent::Trends(answer));
        let on = (post, "trends", wrap as _);
        self.trends.follow(chosen.clone(), on, || {
            move |progress: &JobProgress| {
                let mut shown = Instant::now();
                let trends = Trends::build(&record, &chosen, |trends, share| {
                    if share > 0.0 && shown.elapsed() > TRENDS_SHOWN_EVERY {
                        shown = Instant::now();
                        let copy = Some(Arc::new(trends.clone()));
                        *slot.lock().unwrap_or_else(PoisonError::into_inner) = copy;
                    }
                    progress.go_on(share)
                });
                trends.map_err(|error| match error {
                    TrendError::Read(error) => error.into(),
                    error => TaskError::Refused(error.to_string()),
                })
            }
        });
    }

    fn ask_comparison(
        &mut self,
        all_notes: &[RecordingNotes],
        loaded: Option<&Arc<LoadedData>>,
        post: &Post,
    ) {
        let Some(comparison) = self.view.comparison.clone() else {
            self.compared = Background::default();
            return;
        };
        let needs_data = !matches!(comparison, MapComparison::File(_));
        let loaded = loaded.filter(|_| needs_data).cloned();
        if needs_data && loaded.is_none() {
            return;
        }
        let (montage, rate_hz) = (self.view.montage.clone(), self.assumed_rate_hz);
        let notes = ElectrodeNotes::all(all_notes);
        let data = loaded.as_ref().map(|loaded| Arc::as_ptr(loaded) as usize);
        let key = (
            comparison.clone(),
            montage.clone(),
            notes.clone(),
            data,
            rate_hz,
        );
        let wrap = |answer| made(RecordingEvent::Compared(answer));
        self.compared.follow(key, (post, "comparison", wrap), || {
            move |progress: &JobProgress| {
                let reader = ComparedReader {
                    loaded: loaded.as_deref(),
                    montage: &montage,
                    notes: &notes,
                    assumed_rate_hz: rate_hz,
                    progress,
                };
                reader.read(&comparison)
            }
        });
    }
}

/// What is kept of a view when another recording is opened: the way of looking, not the place.
fn kept_of(before: &EegView) -> EegView {
    EegView {
        span_s: before.span_s,
        montage: before.montage.clone(),
        own_montage: before.own_montage.clone(),
        filter: before.filter,
        corrects_baseline: before.corrects_baseline,
        is_negative_up: before.is_negative_up,
        shows_clock: before.shows_clock,
        side: before.side,
        strip: before.strip,
        shows_trends: before.shows_trends,
        hidden_trends: before.hidden_trends.clone(),
        lanes: before.lanes,
        clips_lanes: before.clips_lanes,
        is_folded: before.is_folded,
        comparison: before.comparison.clone(),
        n_columns: before.n_columns,
        height_mm: before.height_mm,
        ..EegView::default()
    }
}

impl Whole {
    /// Reads everything once.
    fn read(
        record: &Record,
        duration_s: f64,
        go_on: impl Fn(f64) -> bool,
    ) -> Result<Self, TaskError> {
        let overview = Overview::build(record, |share| go_on(share * 0.95))?;
        let traces = TraceSource::all_of(record, &Montage::AsRecorded, &[], &[])?;
        let on_head = traces.iter().any(|trace| trace.position.is_some());
        let counts = |trace: &TraceSource| trace.position.is_some() || !on_head;
        let request = PageRequest {
            start_s: 0.0,
            span_s: duration_s,
            n_columns: STRIP_COLUMNS,
            traces: Arc::new(traces.into_iter().filter(counts).collect()),
            filter: DisplayFilter::default(),
        };
        let page = TracePage::read(record, request, Some(&overview), &go_on)?;
        Ok(Self {
            activity: activity(&page),
            overview,
        })
    }
}

/// The mean swing of all traces in each column.
fn activity(page: &TracePage) -> Vec<f32> {
    let column = |k: usize| {
        let extents = page.traces.iter().filter_map(|trace| trace.columns.get(k));
        let filled = extents.filter(|extent| !extent.is_empty());
        let (sum, count) = filled.fold((0.0, 0), |(sum, count), extent| {
            (sum + (extent.max - extent.min), count + 1)
        });
        match count {
            0 => f32::NAN,
            count => sum / count as f32,
        }
    };
    (0..STRIP_COLUMNS).map(column).collect()
}
