//! How an EEG is looked at: time, sensitivity, montage, filters, order of traces, cursors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::page::{PageTrace, TracePage};
use super::traces::TraceSource;
use atomscope_engine::features::display_filter::DisplayFilter;
use atomscope_engine::features::montage::Montage;
use atomscope_engine::features::signal_kind::SignalKind;

/// Seconds on a page to begin with.
const USUAL_SPAN_S: f64 = 10.0;
/// The shortest page.
const SHORTEST_SPAN_S: f64 = 0.05;
/// Sensitivities that keys and buttons step through, in units per millimetre.
pub const SENSITIVITIES: [f64; 29] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 70.0,
    100.0, 150.0, 200.0, 300.0, 500.0, 700.0, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6,
];
/// Lengths of a page that can be chosen.
pub const TIME_BASES_S: [f64; 9] = [1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 300.0, 3600.0];
/// Sensitivity before anything is known of the values.
const USUAL_SENSITIVITY: f64 = 10.0;
/// More lanes than this are low: their traces may overlap.
const TALL_LANES: usize = 8;
/// The lowest lane whose name can be read, in millimetres.
const LOWEST_LANE_MM: f64 = 3.2;

/// The panel beside the traces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SidePanel {
    /// None: the traces have the whole width.
    #[default]
    Closed,
    /// What the file says of patient, recording and channels.
    Header,
    /// Channels: shown, bad, their order and sensitivity.
    Channels,
    /// Annotations of the file and own ones.
    Annotations,
    /// The spectrum of the selection.
    Spectrum,
    /// Band power over the head.
    Maps,
    /// Scores of epochs and of events.
    Scores,
}

impl SidePanel {
    /// All that show something.
    pub const ALL: [Self; 6] = [
        Self::Header,
        Self::Channels,
        Self::Annotations,
        Self::Spectrum,
        Self::Maps,
        Self::Scores,
    ];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Closed => "Closed",
            Self::Header => "Header",
            Self::Channels => "Channels",
            Self::Annotations => "Annotations",
            Self::Spectrum => "Spectrum",
            Self::Maps => "Maps",
            Self::Scores => "Scores",
        }
    }
}

/// What plain letters and digits do on the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyUse {
    /// They turn to other pages, as everywhere.
    #[default]
    Pages,
    /// The digits 1 to 9 put marks.
    Marks,
    /// The keys of the states score epochs.
    Scores,
}

/// How many traces are shown at once; others are scrolled to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneChoice {
    /// At most 16.
    Sixteen,
    /// At most 32.
    #[default]
    ThirtyTwo,
    /// All of them.
    All,
}

impl LaneChoice {
    /// All choices.
    pub const ALL: [Self; 3] = [Self::Sixteen, Self::ThirtyTwo, Self::All];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sixteen => "16 channels",
            Self::ThirtyTwo => "32 channels",
            Self::All => "All channels",
        }
    }

    /// The most traces at once.
    pub fn most(self) -> usize {
        match self {
            Self::Sixteen => 16,
            Self::ThirtyTwo => 32,
            Self::All => usize::MAX,
        }
    }
}

/// What the strip of the whole recording shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StripKind {
    /// How far the traces swing.
    #[default]
    Activity,
    /// Power over frequency of the chosen trace.
    Spectrogram,
}

/// What the maps are compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum MapComparison {
    /// Another record of the data, by its place among the sources.
    Record(usize),
    /// The means of two classes of the data.
    Classes(usize, usize),
    /// Any other recording.
    File(PathBuf),
}

/// How a recording is looked at; nothing of it changes data or results.
#[derive(Clone, Debug, PartialEq)]
pub struct EegView {
    /// Time at the left edge.
    pub start_s: f64,
    /// Time from edge to edge.
    pub span_s: f64,
    /// µV (or the common unit) per millimetre; nothing until the first page has been seen.
    pub sensitivity: Option<f64>,
    /// Rows of the trends that are not shown, by their names.
    pub hidden_trends: BTreeSet<&'static str>,
    /// Traces with a sensitivity of their own.
    pub own_sensitivity: BTreeMap<String, f64>,
    /// How traces are made of channels.
    pub montage: Montage,
    /// Lines of the own montage, kept while another one is chosen.
    pub own_montage: String,
    /// Filters of the copy that is shown.
    pub filter: DisplayFilter,
    /// Whether each trace is shown about its mean.
    pub corrects_baseline: bool,
    /// Whether negative values point up.
    pub is_negative_up: bool,
    /// Whether the axis shows the clock of the recording.
    pub shows_clock: bool,
    /// How many traces are shown at once.
    pub lanes: LaneChoice,
    /// The first of them, counted among those that are not hidden.
    pub first_lane: usize,
    /// Whether EEG ends at the edges of its lane too; other signals always do.
    pub clips_lanes: bool,
    /// Whether everything but the traces is folded away.
    pub is_folded: bool,
    /// What letters and digits do.
    pub keys: KeyUse,
    /// Whether spectra are shown in decibels instead of power.
    pub spectrum_in_db: bool,
    /// Whether channels that look bad are looked for.
    pub seeks_bad: bool,
    /// Traces that are not shown.
    pub hidden: BTreeSet<String>,
    /// Traces in the order wanted; others follow in theirs.
    pub order: Vec<String>,
    /// The trace under attention.
    pub chosen: Option<String>,
    /// Two cursors; what lies between them is the selection.
    pub cursors: Option<(f64, f64)>,
    /// The panel beside the traces.
    pub side: SidePanel,
    /// What the strip shows.
    pub strip: StripKind,
    /// Whether trends of the whole recording are shown under the traces.
    pub shows_trends: bool,
    /// What the maps are compared with.
    pub comparison: Option<MapComparison>,
    /// Columns of pixels of the traces; 0 until they were drawn once.
    pub n_columns: usize,
    /// Height of the traces in millimetres.
    pub height_mm: f64,
    /// The annotation under attention.
    pub annotation: Option<usize>,
    /// The cursor that was moved last, 0 or 1.
    pub active_cursor: usize,
}

impl Default for EegView {
    fn default() -> Self {
        Self {
            start_s: 0.0,
            span_s: USUAL_SPAN_S,
            sensitivity: None,
            own_sensitivity: BTreeMap::new(),
            hidden_trends: BTreeSet::new(),
            montage: Montage::AsRecorded,
            own_montage: String::new(),
            filter: DisplayFilter::default(),
            corrects_baseline: true,
            is_negative_up: false,
            shows_clock: false,
            lanes: LaneChoice::default(),
            first_lane: 0,
            clips_lanes: false,
            is_folded: false,
            keys: KeyUse::default(),
            spectrum_in_db: true,
            seeks_bad: false,
            hidden: BTreeSet::new(),
            order: Vec::new(),
            chosen: None,
            cursors: None,
            side: SidePanel::default(),
            strip: StripKind::default(),
            shows_trends: false,
            comparison: None,
            n_columns: 0,
            height_mm: 0.0,
            annotation: None,
            active_cursor: 0,
        }
    }
}

impl EegView {
    /// Keeps page and cursors within the recording.
    pub fn stay_within(&mut self, duration_s: f64) {
        let longest = duration_s.max(SHORTEST_SPAN_S);
        self.span_s = self.span_s.clamp(SHORTEST_SPAN_S, longest);
        self.start_s = self.start_s.clamp(0.0, longest - self.span_s);
        let inside = |time_s: f64| time_s.clamp(0.0, longest);
        self.cursors = self.cursors.map(|(a_s, b_s)| (inside(a_s), inside(b_s)));
    }

    /// How many of the traces are shown at once: as many as wanted, but (unless all are wanted) no more than their
    /// names have room for.
    pub fn n_lanes(&self, n_shown: usize) -> usize {
        let room = match self.lanes {
            LaneChoice::All => usize::MAX,
            _ if self.height_mm > 0.0 => (self.height_mm / LOWEST_LANE_MM).max(1.0) as usize,
            _ => usize::MAX,
        };
        self.lanes.most().min(room).min(n_shown)
    }

    /// Time at the right edge.
    pub fn end_s(&self) -> f64 {
        self.start_s + self.span_s
    }

    /// Makes the page `factor` times as long; the time `around_s` stays where it is.
    pub fn zoom(&mut self, factor: f64, around_s: f64) {
        let before = self.span_s;
        self.span_s = (self.span_s * factor).max(SHORTEST_SPAN_S);
        self.start_s = around_s - (around_s - self.start_s) * self.span_s / before;
    }

    /// Lets the digits put marks, or turn pages again.
    pub fn toggle_marking(&mut self) {
        self.keys = match self.keys {
            KeyUse::Marks => KeyUse::Pages,
            _ => KeyUse::Marks,
        };
    }

    /// Shows a time: the page stays if it is on it already, away from the edges.
    pub fn show_time(&mut self, time_s: f64) {
        let inside = (time_s - self.start_s) / self.span_s;
        if !(0.02..=0.98).contains(&inside) {
            self.start_s = time_s - 0.3 * self.span_s;
        }
    }

    /// The sensitivity of a trace, in its unit per millimetre.
    pub fn sensitivity_of(&self, trace: &str) -> f64 {
        let own = self.own_sensitivity.get(trace).copied();
        own.or(self.sensitivity).unwrap_or(USUAL_SENSITIVITY)
    }

    /// A step of sensitivity: positive makes traces larger (fewer µV per millimetre).
    pub fn step_sensitivity(&mut self, larger: bool) {
        let now = self.sensitivity.unwrap_or(USUAL_SENSITIVITY);
        let next = match larger {
            true => SENSITIVITIES.into_iter().rev().find(|s| *s < now * 0.999),
            false => SENSITIVITIES.into_iter().find(|s| *s > now * 1.001),
        };
        if let Some(next) = next {
            let factor = next / now;
            self.sensitivity = Some(next);
            self.own_sensitivity
                .values_mut()
                .for_each(|own| *own *= factor);
        }
    }

    /// Hides a trace, or shows it again.
    pub fn toggle_hidden(&mut self, trace: &str) {
        if !self.hidden.remove(trace) {
            self.hidden.insert(trace.to_owned());
        }
    }

    /// Moves a trace by some places among the names given in the order shown now.
    pub fn move_trace(&mut self, names: &[String], trace: &str, by: isize) {
        let Some(from) = names.iter().position(|name| name == trace) else {
            return;
        };
        let to = from.saturating_add_signed(by).min(names.len() - 1);
        let mut order = names.to_vec();
        let moved = order.remove(from);
        order.insert(to, moved);
        self.order = order;
    }

    /// The traces in their order, hidden ones too.
    pub fn in_order(&self, traces: &[TraceSource]) -> Vec<TraceSource> {
        let place = |trace: &TraceSource| self.order.iter().position(|name| *name == trace.name);
        let mut ordered = traces.to_vec();
        // Stable: what the order does not name keeps its place behind the others.
        ordered.sort_by_key(|trace| place(trace).unwrap_or(usize::MAX));
        ordered
    }

    /// Chooses sensitivities at which the traces of a page fill their lanes: one for all traces of
    /// the common unit, own ones for others.
    pub fn fit(&mut self, page: &TracePage) {
        let lane_mm = self.height_mm / page.traces.len().max(1) as f64;
        if lane_mm.is_nan() || lane_mm <= 0.0 {
            return;
        }
        let unit = common_unit(&page.traces);
        let is_eeg = |trace: &PageTrace| trace.source.kind == SignalKind::Eeg;
        let has_eeg = page.traces.iter().any(is_eeg);
        let good = page.traces.iter().filter(|trace| !trace.source.is_bad);
        let common = good.filter(|trace| trace.source.unit == unit && (is_eeg(trace) || !has_eeg));
        // Neighbours of EEG may overlap a little where lanes are low, as they do on paper; other signals end at the edges
        // of their lanes.
        let (swing, n_lanes): (fn(&PageTrace) -> Option<f64>, f64) = match has_eeg {
            true if page.traces.len() > TALL_LANES => (PageTrace::swing, 1.6),
            true => (PageTrace::swing, 0.8),
            false => (PageTrace::whole_swing, 1.0),
        };
        let mut swings: Vec<f64> = common.filter_map(swing).filter(|s| *s > 0.0).collect();
        swings.sort_by(f64::total_cmp);
        if let Some(median) = swings.get(swings.len() / 2) {
            self.sensitivity = Some(step_above(median / (n_lanes * lane_mm)));
        }
        self.own_sensitivity.clear();
        // Signals of another kind have a scale of their own, or they would draw over the EEG.
        let is_other =
            |trace: &&PageTrace| trace.source.unit != unit || (has_eeg && !is_eeg(trace));
        for trace in page.traces.iter().filter(is_other) {
            if let Some(swing) = trace.whole_swing().filter(|swing| *swing > 0.0) {
                let own = step_above(swing / lane_mm);
                self.own_sensitivity.insert(trace.source.name.clone(), own);
            }
        }
    }

    /// Where the cursors stand; before they were placed, where they would: at a third and two thirds of the page.
    fn cursor_places(&self) -> [f64; 2] {
        match self.cursors {
            Some((a_s, b_s)) => [a_s, b_s],
            None => [1.0, 2.0].map(|third| self.start_s + self.span_s * third / 3.0),
        }
    }

    /// Takes hold of a cursor; both are placed if they were not.
    pub fn take_cursor(&mut self, cursor: usize) {
        let [a_s, b_s] = self.cursor_places();
        self.cursors = Some((a_s, b_s));
        self.active_cursor = cursor.min(1);
        self.show_time([a_s, b_s][self.active_cursor]);
    }

    /// Puts a cursor to a time.
    pub fn put_cursor(&mut self, cursor: usize, time_s: f64) {
        let mut places = self.cursor_places();
        self.active_cursor = cursor.min(1);
        places[self.active_cursor] = time_s;
        self.cursors = Some((places[0], places[1]));
    }

    /// Moves a cursor by samples of a trace, onto the nearest of them; the page follows it.
    pub fn step_cursor(&mut self, cursor: usize, n_samples: isize, rate_hz: f64) {
        let at_s = self.cursor_places()[cursor.min(1)];
        let sample = (at_s * rate_hz).round() + n_samples as f64;
        self.put_cursor(cursor, sample / rate_hz);
        self.show_time(sample / rate_hz);
    }

    /// Moves a cursor and the page with it by whole pages.
    pub fn page_cursor(&mut self, cursor: usize, n_pages: isize) {
        let step_s = n_pages as f64 * self.span_s;
        let at_s = self.cursor_places()[cursor.min(1)];
        self.put_cursor(cursor, at_s + step_s);
        self.start_s += step_s;
        self.show_time(at_s + step_s);
    }

    /// From the earlier to the later cursor; the page without cursors that are apart.
    pub fn selection(&self) -> (f64, f64) {
        match self.cursors {
            Some((a, b)) if a != b => (a.min(b), a.max(b)),
            _ => (self.start_s, self.end_s()),
        }
    }
}

/// The unit of most traces.
pub fn common_unit(traces: &[PageTrace]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for trace in traces {
        *counts.entry(&trace.source.unit).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or("µV".to_owned(), |(unit, _)| unit.to_owned())
}

fn step_above(sensitivity: f64) -> f64 {
    let step = SENSITIVITIES.into_iter().find(|step| *step >= sensitivity);
    step.unwrap_or(SENSITIVITIES[SENSITIVITIES.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zooming_keeps_a_time_in_place_and_pages_stay_inside() {
        let mut view = EegView {
            start_s: 20.0,
            ..EegView::default()
        };
        view.zoom(0.5, 24.0);
        assert_eq!((view.start_s, view.span_s), (22.0, 5.0));
        view.start_s = 1e6;
        view.stay_within(60.0);
        assert_eq!((view.start_s, view.span_s), (55.0, 5.0));
        view.span_s = 1e9;
        view.stay_within(60.0);
        assert_eq!((view.start_s, view.span_s), (0.0, 60.0));
    }

    #[test]
    fn sensitivity_steps_and_own_ones_keep_their_ratio() {
        let mut view = EegView::default();
        view.own_sensitivity.insert("Resp".into(), 4.0);
        view.step_sensitivity(true);
        assert_eq!(view.sensitivity, Some(7.0));
        assert!((view.sensitivity_of("Resp") - 2.8).abs() < 1e-12);
        view.step_sensitivity(false);
        assert_eq!(view.sensitivity_of("Cz"), 10.0);
        assert!((view.sensitivity_of("Resp") - 4.0).abs() < 1e-12);
    }

    #[test]
    fn traces_move_among_their_names() {
        let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        let mut view = EegView::default();
        view.move_trace(&names, "c", -1);
        assert_eq!(view.order, ["a", "c", "b"]);
        view.move_trace(&names, "a", -5);
        assert_eq!(view.order, ["a", "b", "c"]);
    }

    #[test]
    fn cursors_are_placed_and_moved_by_samples_and_pages() {
        let mut view = EegView {
            start_s: 30.0,
            span_s: 9.0,
            ..EegView::default()
        };
        view.take_cursor(1);
        assert_eq!(view.cursors, Some((33.0, 36.0)));
        assert_eq!(view.active_cursor, 1);
        view.step_cursor(1, 3, 256.0);
        assert_eq!(view.cursors, Some((33.0, 36.0 + 3.0 / 256.0)));
        // Between two samples a step goes to a sample.
        view.put_cursor(0, 33.001);
        view.step_cursor(0, -1, 100.0);
        assert_eq!(view.cursors.map(|(a_s, _)| a_s), Some(32.99));
        view.page_cursor(0, 2);
        assert_eq!(view.cursors.map(|(a_s, _)| a_s), Some(50.99));
        assert_eq!(view.start_s, 48.0, "the page goes with it");
        view.page_cursor(0, 9);
        view.stay_within(60.0);
        assert_eq!(view.cursors.map(|(a_s, _)| a_s), Some(60.0));
        assert_eq!(view.start_s, 51.0);
    }

    #[test]
    fn the_selection_lies_between_the_cursors_or_is_the_page() {
        let mut view = EegView::default();
        assert_eq!(view.selection(), (0.0, 10.0));
        view.cursors = Some((7.0, 3.0));
        assert_eq!(view.selection(), (3.0, 7.0));
        view.cursors = Some((7.0, 7.0));
        assert_eq!(view.selection(), (0.0, 10.0));
    }
}
