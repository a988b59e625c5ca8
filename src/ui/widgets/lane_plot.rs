//! Signals of a fault record on one time axis: lanes of analog traces, rows of digital channels, marks and two cursors.

use std::sync::Arc;

use egui::epaint::{Mesh, Shape};
use egui::{Color32, Galley, Id, Rangef, Rect, Response, Sense, Stroke, Ui, pos2, vec2};

use super::axes::Axes;
use super::cache::{cached, fingerprint};
use super::chart_table::{ChartTable, extent};
use super::plot_cursor::{CursorMove, PlotCursor};
use super::short_text::text_width;
use super::trace_chart::add_band;
use super::waveform::TimeMark;
use crate::ui::numbers::{short, tick};
use crate::ui::palette::legible;
use crate::ui::theme;
use atomscope_engine::features::sampled::SampleTimes;
use atomscope_engine::features::trace_columns::TraceColumns;
use atomscope_engine::records::RateSection;
use atomscope_engine::records::overview::MinMax;

/// Height of a digital row, in lines of small text.
const DIGITAL_ROW: f32 = 1.35;
/// Share of the height that digital rows take at most, beside lanes.
const DIGITAL_SHARE: f32 = 0.5;
/// Stretches of the time shown that a screen reader hears.
const N_TOLD: usize = 64;
/// Width of the names at the left, in sizes of small text.
const GUTTER: f32 = 8.5;

/// One signal of a lane.
pub struct LaneTrace<'a> {
    /// The channel.
    pub name: &'a str,
    /// When its samples were taken.
    pub times: &'a SampleTimes,
    /// Its samples as stored.
    pub values: &'a [f64],
    /// Extents of every so many samples from the first on; none where there are few.
    pub blocks: (usize, &'a [MinMax]),
    /// What turns them into what is shown.
    pub factor: f64,
    /// Its colour.
    pub color: Color32,
}

/// Signals that share a scale.
pub struct PlotLane<'a> {
    /// The signals.
    pub traces: Vec<LaneTrace<'a>>,
    /// Smallest and largest value that fits.
    pub range: (f64, f64),
    /// Their unit.
    pub unit: String,
}

/// A digital channel.
pub struct DigitalRow<'a> {
    /// Its name.
    pub name: &'a str,
    /// Time and state at the start and at every change.
    pub edges: &'a [(f64, bool)],
}

impl DigitalRow<'_> {
    /// "1", or "0, then 1" where it changes.
    fn states(&self, from_s: f64, to_s: f64) -> Option<String> {
        let before = self.edges.iter().rfind(|edge| edge.0 <= from_s);
        let inside = self.edges.iter();
        let inside = inside.filter(|edge| edge.0 > from_s && edge.0 < to_s);
        let states: Vec<&str> = before
            .into_iter()
            .chain(inside)
            .map(|edge| if edge.1 { "1" } else { "0" })
            .collect();
        (!states.is_empty()).then(|| states.join(", then "))
    }
}

/// One of the two cursors.
pub struct LaneCursor<'a> {
    /// Its letter.
    pub name: &'a str,
    /// Where it is, in the record's own time.
    pub time_s: f64,
    /// Whether it is the one that phasors are taken at.
    pub is_active: bool,
}

/// Signals on one time axis.
pub struct LanePlot<'a> {
    /// What is shown, as the accessible name.
    pub name: &'a str,
    /// The lanes from top to bottom.
    pub lanes: &'a [PlotLane<'a>],
    /// The rows below them.
    pub digital: &'a [DigitalRow<'a>],
    /// Time at the left edge and from edge to edge, in the record's own time.
    pub time: (f64, f64),
    /// The record's own time that the axis calls zero.
    pub zero_s: f64,
    /// Moments to mark.
    pub marks: &'a [TimeMark<'a>],
    /// The cursors.
    pub cursors: &'a [LaneCursor<'a>],
    /// A cursor that takes the focus now.
    pub takes: Option<usize>,
    /// The height to fill.
    pub height: f32,
}

/// What was done with the plot.
#[derive(Clone, Debug)]
pub struct LanePlotEvents {
    /// Zoomed by a factor around a time.
    pub zoom: Option<(f64, f64)>,
    /// Dragged or scrolled by a time, to later times if positive.
    pub pan_s: f64,
    /// A cursor was moved or taken hold of.
    pub cursor: Option<(usize, CursorMove)>,
    /// The whole record is wanted.
    pub shows_all: bool,
    /// The left and right edge of the time axis on the screen.
    pub x: Rangef,
}

impl LanePlot<'_> {
    /// Draws the signals.
    pub fn show(&self, ui: &mut Ui) -> LanePlotEvents {
        let size = vec2(ui.available_width(), self.height);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        self.tell(ui, &response);
        let (start_s, span_s) = self.time;
        let mut axes = Axes::within(ui, rect, (start_s, start_s + span_s), (0.0, 1.0));
        let font = theme::small_font(ui);
        axes.rect.min.x = rect.left() + font.size * GUTTER;
        // Room for half of the last label.
        axes.rect.max.x = rect.right() - font.size * 1.6;
        let mut events = LanePlotEvents {
            zoom: None,
            pan_s: 0.0,
            cursor: None,
            shows_all: false,
            x: axes.rect.x_range(),
        };
        if !ui.is_rect_visible(rect) || span_s.is_nan() || span_s <= 0.0 {
            return events;
        }
        // Room for the letters of the cursors.
        axes.rect.min.y = rect.top() + font.size * 1.5;
        self.paint_time(ui, &axes);
        let row = font.size * DIGITAL_ROW;
        let n_rows = self.rows_that_fit(axes.rect.height(), row);
        let n_hidden = self.digital.len() - n_rows;
        let n_lines = n_rows + usize::from(n_hidden > 0);
        let floor = axes.rect.bottom() - row * n_lines as f32;
        let lane_height = (floor - axes.rect.top()) / self.lanes.len().max(1) as f32;
        for (place, lane) in self.lanes.iter().enumerate() {
            let top = axes.rect.top() + lane_height * place as f32;
            let area = Rect::from_x_y_ranges(axes.rect.x_range(), top..=top + lane_height);
            self.lane_ui(ui, area, lane, response.id.with(("lane", place)));
        }
        let line = |place: usize| {
            let top = floor + row * place as f32;
            Rect::from_x_y_ranges(axes.rect.x_range(), top..=top + row)
        };
        for (place, digital) in self.digital.iter().take(n_rows).enumerate() {
            self.digital_ui(ui, &axes, line(place), digital);
        }
        if n_hidden > 0 {
            let text = format!("and {n_hidden} more");
            paint_gutter(ui, line(n_rows), &[(&text, theme::tones(ui).weak)]);
        }
        self.paint_marks(ui, &axes);
        self.pointer(ui, &axes, &response, &mut events);
        for (place, cursor) in self.cursors.iter().enumerate() {
            let id = response.id.with(("cursor", place));
            if self.takes == Some(place) {
                ui.memory_mut(|memory| memory.request_focus(id));
            }
            if let Some(moved) = self.cursor_ui(ui, &axes, cursor, id) {
                events.cursor = Some((place, moved));
            }
        }
        events
    }

    /// Digital rows that leave the lanes their share of the height; one line tells how many there are besides.
    fn rows_that_fit(&self, height: f32, row: f32) -> usize {
        let share = if self.lanes.is_empty() {
            1.0
        } else {
            DIGITAL_SHARE
        };
        let fits = (height * share / row).max(1.0) as usize;
        match self.digital.len() {
            n if n <= fits => n,
            _ => fits - 1,
        }
    }

    /// Every signal in stretches of the time that is shown: lowest and highest value, states, marks.
    fn tell(&self, ui: &Ui, figure: &Response) {
        let lanes = self.lanes.iter();
        let traces: Vec<(&LaneTrace<'_>, &str)> = lanes
            .flat_map(|lane| lane.traces.iter().map(|trace| (trace, lane.unit.as_str())))
            .collect();
        let names = traces.iter().map(|(trace, _)| trace.name);
        let digital = self.digital.iter().map(|row| row.name);
        let names: Vec<&str> = names.chain(digital).chain(["marks"]).collect();
        let (start_s, span_s) = self.time;
        let time_s = |place: usize| start_s + span_s * place as f64 / N_TOLD as f64;
        let cell = |column: usize, places: std::ops::Range<usize>| {
            let (from_s, to_s) = (time_s(places.start), time_s(places.end));
            if let Some((trace, unit)) = traces.get(column) {
                let last = trace.times.at_or_before(to_s)?;
                let first = trace.times.at_or_before(from_s).unwrap_or(0);
                let samples = trace.values.get(first..=last)?.iter();
                let told = extent(samples.map(|value| value * trace.factor), short)?;
                return Some(format!("{told} {unit}"));
            }
            match self.digital.get(column - traces.len()) {
                Some(row) => row.states(from_s, to_s),
                None => {
                    let marks = self.marks.iter();
                    let here = marks.filter(|mark| (from_s..to_s).contains(&mark.time_s));
                    let texts: Vec<&str> = here.map(|mark| mark.text).collect();
                    (!texts.is_empty()).then(|| texts.join(", "))
                }
            }
        };
        ChartTable {
            n_places: if span_s > 0.0 { N_TOLD } else { 0 },
            place: &|place| format!("{} s", tick(time_s(place) - self.zero_s, 1e-4)),
            series: &names,
            cell: &cell,
        }
        .tell(ui, figure, self.name);
    }

    /// Ticks of the axis, counted from its zero.
    fn paint_time(&self, ui: &Ui, axes: &Axes) {
        let relative = Axes {
            x: (axes.x.0 - self.zero_s, axes.x.1 - self.zero_s),
            ..*axes
        };
        // Milliseconds of a record that begins late would be long numbers.
        let is_near = relative.x.0.abs().max(relative.x.1.abs()) < 10.0;
        relative.paint_x(ui, |value, step| match is_near && step < 0.1 {
            true => format!("{} ms", tick(value * 1e3, step * 1e3)),
            false => format!("{} s", tick(value, step)),
        });
    }

    fn lane_ui(&self, ui: &Ui, area: Rect, lane: &PlotLane<'_>, id: Id) {
        let tones = theme::tones(ui);
        let (low, high) = lane.range;
        let height = f64::from(area.height()) * 0.9;
        let gain = height / (high - low).max(f64::MIN_POSITIVE);
        let middle = (low + high) / 2.0;
        let y = |value: f64| area.center().y - ((value - middle) * gain).clamp(-1e5, 1e5) as f32;
        let line = Stroke::new(1.0, tones.hairline);
        ui.painter().hline(area.x_range(), area.bottom(), line);
        if low <= 0.0 && high >= 0.0 {
            let zero = Stroke::new(1.0, tones.faint);
            ui.painter().hline(area.x_range(), y(0.0), zero);
        }
        let clip = ui.clip_rect().intersect(area.expand(1.0));
        let painter = ui.painter().with_clip_rect(clip);
        for (place, trace) in lane.traces.iter().enumerate() {
            let columns = self.columns(ui, area, trace, id.with(place));
            let columns = columns.columns();
            let width = area.width() / columns.len().max(1) as f32;
            let points = columns.iter().enumerate().map(|(place, column)| {
                let x = area.left() + (place as f32 + 0.5) * width;
                let a = y(f64::from(column.min) * trace.factor);
                let b = y(f64::from(column.max) * trace.factor);
                (!column.is_empty()).then(|| (x, a.min(b), a.max(b)))
            });
            let mut mesh = Mesh::default();
            add_band(&mut mesh, points, trace.color);
            painter.add(Shape::mesh(mesh));
        }
        let span = match low == -high {
            true => format!("±{} {}", short(high), lane.unit),
            false => format!("{}…{} {}", short(low), short(high), lane.unit),
        };
        let names: Vec<&str> = lane.traces.iter().map(|trace| trace.name).collect();
        let names = told_apart(&names, |name| fits_gutter(ui, name));
        let colors = lane.traces.iter().map(|trace| trace.color);
        let names = names.iter().map(String::as_str).zip(colors);
        let lines: Vec<(&str, Color32)> = names.chain([(span.as_str(), tones.weak)]).collect();
        paint_gutter(ui, area, &lines);
    }

    /// The trace as columns of pixels, made again when time or width have changed.
    fn columns(
        &self,
        ui: &Ui,
        area: Rect,
        trace: &LaneTrace<'_>,
        id: Id,
    ) -> std::sync::Arc<TraceColumns> {
        let n_columns = area.width().max(1.0) as usize;
        let (start_s, span_s) = self.time;
        // Values do not change in place: where they lie tells them apart.
        let place = trace.values.as_ptr() as usize;
        let key = fingerprint([start_s, span_s, n_columns as f64, place as f64]);
        cached(ui, id, key, || {
            let mut columns = TraceColumns::new(start_s, span_s, n_columns);
            add_samples(&mut columns, trace, (start_s, start_s + span_s));
            std::sync::Arc::new(columns)
        })
    }

    fn digital_ui(&self, ui: &Ui, axes: &Axes, area: Rect, digital: &DigitalRow<'_>) {
        let tones = theme::tones(ui);
        let clip = ui.clip_rect().intersect(area);
        let painter = ui.painter().with_clip_rect(clip);
        let middle = area.center().y;
        painter.hline(area.x_range(), middle, Stroke::new(1.0, tones.hairline));
        for (place, (from_s, state)) in digital.edges.iter().enumerate() {
            if !state {
                continue;
            }
            let until_s = digital.edges.get(place + 1).map_or(f64::MAX, |edge| edge.0);
            let (left, right) = (axes.screen_x(*from_s), axes.screen_x(until_s));
            let bar = Rect::from_x_y_ranges(left..=right, middle - 3.5..=middle + 3.5);
            painter.rect_filled(bar, 1.0, tones.accent);
        }
        paint_gutter(ui, area, &[(digital.name, tones.text)]);
    }

    fn paint_marks(&self, ui: &Ui, axes: &Axes) {
        let tones = theme::tones(ui);
        let font = theme::small_font(ui);
        let mut last_right = f32::NEG_INFINITY;
        let mut line = 0.0;
        for mark in self.marks {
            if mark.time_s < axes.x.0 || mark.time_s > axes.x.1 {
                continue;
            }
            let x = axes.screen_x(mark.time_s);
            let stroke = Stroke::new(1.0, tones.stale);
            ui.painter().vline(x, axes.rect.y_range(), stroke);
            let text = ui
                .painter()
                .layout_no_wrap(mark.text.to_owned(), font.clone(), tones.stale);
            // Names that would lie on each other go one line lower.
            line = if x + 4.0 < last_right {
                line + 1.0
            } else {
                0.0
            };
            last_right = x + 8.0 + text.size().x;
            let fits = last_right < axes.rect.right();
            let left = if fits {
                x + 4.0
            } else {
                x - 4.0 - text.size().x
            };
            let place = pos2(left, axes.rect.top() + line * font.size * 1.2);
            let ground = Rect::from_min_size(place, text.size());
            ui.painter()
                .rect_filled(ground, 2.0, tones.page.gamma_multiply(0.9));
            ui.painter().galley(place, text, tones.stale);
        }
    }

    /// Wheel zooms, drag pans, a click puts the active cursor (with shift the other one), a double click shows all.
    fn pointer(&self, ui: &Ui, axes: &Axes, response: &Response, events: &mut LanePlotEvents) {
        let per_point = self.time.1 / f64::from(axes.rect.width().max(1.0));
        if let Some(pointer) = response.hover_pos() {
            let (scroll, pinch) =
                ui.input(|input| (input.smooth_scroll_delta(), input.zoom_delta()));
            let wheel = f64::from(scroll.y) / 200.0;
            let factor = wheel.exp() * f64::from(pinch);
            if (factor - 1.0).abs() > 1e-6 {
                events.zoom = Some((factor, axes.x_at(pointer.x)));
            }
            events.pan_s -= f64::from(scroll.x) * per_point;
        }
        if response.dragged() {
            events.pan_s -= f64::from(response.drag_delta().x) * per_point;
        }
        events.shows_all = response.double_clicked();
        if response.clicked()
            && !response.double_clicked()
            && !self.cursors.is_empty()
            && let Some(pointer) = response.interact_pointer_pos()
            && axes.rect.x_range().contains(pointer.x)
        {
            let active = self.cursors.iter().position(|c| c.is_active).unwrap_or(0);
            let takes_other = ui.input(|input| input.modifiers.shift);
            let cursor = if takes_other {
                1 - active.min(1)
            } else {
                active
            };
            events.cursor = Some((cursor, CursorMove::To(axes.x_at(pointer.x))));
        }
    }

    fn cursor_ui(
        &self,
        ui: &mut Ui,
        axes: &Axes,
        cursor: &LaneCursor<'_>,
        id: Id,
    ) -> Option<CursorMove> {
        let font = theme::small_font(ui);
        let cursor = PlotCursor {
            name: cursor.name,
            shown_s: cursor.time_s - self.zero_s,
            x: axes.screen_x(cursor.time_s),
            time_at: &|x| axes.x_at(x),
            over: axes.rect,
            // Above the lanes, where room was left for it.
            flag_y: axes.rect.top() - font.size * 0.8,
            is_active: cursor.is_active,
            page: "a cycle",
        };
        cursor.show(ui, id)
    }
}

fn gutter_width(ui: &Ui) -> f32 {
    theme::small_font(ui).size * (GUTTER - 1.0)
}

fn fits_gutter(ui: &Ui, text: &str) -> bool {
    text_width(ui, text, &theme::small_font(ui)) <= gutter_width(ui)
}

/// Names of one lane with single spaces; where one does not fit, without the ending that all of them share, so that the
/// letters in which they differ stay: `SBUS A…` instead of the same `SBUS …V-node` for each phase.
fn told_apart(names: &[&str], fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut names: Vec<String> = names
        .iter()
        .map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let [first, others @ ..] = names.as_slice() else {
        return names;
    };
    let shared = |other: &String| {
        let pairs = first.chars().rev().zip(other.chars().rev());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let ending = others.iter().map(shared).min().unwrap_or(0);
    if ending > 1 && !names.iter().all(|name| fits(name)) {
        for name in &mut names {
            let n_kept = name.chars().count().saturating_sub(ending);
            *name = name.chars().take(n_kept).chain(['…']).collect();
        }
    }
    names
}

/// Lines of text at the left of a lane, those that fit, each cut to the width there is.
fn paint_gutter(ui: &Ui, area: Rect, lines: &[(&str, Color32)]) {
    let font = theme::small_font(ui);
    let width = gutter_width(ui);
    let line = font.size * 1.2;
    let n_lines = lines.len().min((area.height() / line).max(1.0) as usize);
    let top = area.center().y - line * n_lines as f32 / 2.0;
    for (place, (text, color)) in lines.iter().take(n_lines).enumerate() {
        let tones = theme::tones(ui);
        let color = &legible(*color, tones.page, tones.text);
        let galley = within(text, width, |text| {
            ui.painter().layout_no_wrap(text, font.clone(), *color)
        });
        let left = area.left() - font.size * 0.6 - galley.size().x;
        let at = pos2(left, top + line * place as f32);
        ui.painter().galley(at, galley, *color);
    }
}

/// A name that fits a width: letters are left out of its middle, because names of channels differ at their ends.
fn within(text: &str, width: f32, lay_out: impl Fn(String) -> Arc<Galley>) -> Arc<Galley> {
    let whole = lay_out(text.to_owned());
    if whole.size().x <= width {
        return whole;
    }
    let letters: Vec<char> = text.chars().collect();
    let fitting = letters.len() as f32 * width / whole.size().x;
    for kept in (2..=fitting as usize).rev() {
        let head = letters[..kept / 2].iter();
        let tail = letters[letters.len() - kept.div_ceil(2)..].iter();
        let shortened: String = head.chain(&['…']).chain(tail).collect();
        let galley = lay_out(shortened);
        if galley.size().x <= width {
            return galley;
        }
    }
    lay_out("…".to_owned())
}

/// The samples of a span and one on either side, stretch by stretch with the line from one to the next.
fn add_samples(columns: &mut TraceColumns, trace: &LaneTrace<'_>, (from_s, to_s): (f64, f64)) {
    let first = trace.times.at_or_before(from_s).unwrap_or(0);
    let Some(last) = trace.times.at_or_before(to_s) else {
        return;
    };
    let last = (last + 1).min(trace.values.len().saturating_sub(1));
    match trace.times {
        SampleTimes::Stretches(stretches) => {
            let mut before: Option<(f64, f64, f64)> = None;
            for stretch in stretches {
                let begin = first.max(stretch.first_sample);
                let end = (last + 1).min(stretch.first_sample + stretch.n_samples);
                if begin >= end {
                    continue;
                }
                let inside = (begin - stretch.first_sample) as f64;
                let onset_s = stretch.onset_s + inside / stretch.rate_hz;
                let samples = &trace.values[begin..end];
                if let Some((time_s, value, step_s)) = before
                    && onset_s > time_s
                    && onset_s - time_s < 1.5 * step_s
                {
                    columns.add(time_s, 1.0 / (onset_s - time_s), &[value, samples[0]]);
                }
                add_stretch(columns, trace, stretch, (begin, end), to_s - from_s);
                let last_s = onset_s + (samples.len() - 1) as f64 / stretch.rate_hz;
                before = Some((last_s, samples[samples.len() - 1], 1.0 / stretch.rate_hz));
            }
        }
        SampleTimes::Stamps(stamps) => {
            for sample in first..last {
                let pair = stamps.get(sample).zip(stamps.get(sample + 1));
                if let Some((a, b)) = pair.filter(|(a, b)| b > a) {
                    columns.add(*a, 1.0 / (b - a), &trace.values[sample..sample + 2]);
                }
            }
        }
    }
}

/// Samples of a stretch; where a column of pixels holds several blocks, their extents instead.
fn add_stretch(
    columns: &mut TraceColumns,
    trace: &LaneTrace<'_>,
    stretch: &RateSection,
    (begin, end): (usize, usize),
    page_s: f64,
) {
    let (size, extents) = trace.blocks;
    let rate_hz = stretch.rate_hz;
    let time_s = |sample: usize| stretch.onset_s + (sample - stretch.first_sample) as f64 / rate_hz;
    let per_column = rate_hz * page_s / columns.columns().len().max(1) as f64;
    let size = size.max(1);
    let (first, last) = (begin.div_ceil(size), end / size);
    let are_known = first < last && last <= extents.len();
    if !are_known || per_column < 2.0 * size as f64 {
        return columns.add(time_s(begin), rate_hz, &trace.values[begin..end]);
    }
    let (from, to) = (first * size, last * size);
    columns.add(time_s(begin), rate_hz, &trace.values[begin..=from]);
    let duration_s = (to - from) as f64 / rate_hz;
    columns.add_extents(time_s(from), duration_s, &extents[first..last]);
    columns.add(time_s(to - 1), rate_hz, &trace.values[to - 1..end]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_goes_on_where_the_rate_changes_and_stops_at_a_gap() {
        let section = |rate_hz, onset_s, first_sample| RateSection {
            rate_hz,
            onset_s,
            first_sample,
            n_samples: 10,
        };
        let values: Vec<f64> = (0..30).map(f64::from).collect();
        let times = SampleTimes::Stretches(vec![
            section(10.0, 0.0, 0),
            section(20.0, 1.0, 10),
            section(10.0, 3.0, 20),
        ]);
        let trace = LaneTrace {
            name: "x",
            times: &times,
            values: &values,
            blocks: (64, &[]),
            factor: 1.0,
            color: Color32::RED,
        };
        let mut columns = TraceColumns::new(0.0, 4.0, 80);
        add_samples(&mut columns, &trace, (0.0, 4.0));
        let is_empty: Vec<bool> = columns.columns().iter().map(|c| c.is_empty()).collect();
        // Columns of 50 ms: 0 to 1.45 s and 3 to 3.9 s are drawn, the second between is not.
        assert!(is_empty[..29].iter().all(|empty| !empty), "{is_empty:?}");
        assert!(is_empty[31..60].iter().all(|empty| *empty));
        assert!(is_empty[60..78].iter().all(|empty| !empty));
        let at = |column: usize| columns.columns()[column];
        assert!(at(25).min >= 14.9 && at(25).max <= 16.1, "{:?}", at(25));
    }

    #[test]
    fn names_of_a_lane_keep_the_letters_that_tell_them_apart() {
        let fits = |text: &str| text.chars().count() <= 13;
        let nodes = ["SBUS A          V-node", "SBUS B          V-node"];
        assert_eq!(told_apart(&nodes, fits), ["SBUS A V-node", "SBUS B V-node"]);
        let branches = ["SBUS A 25   A I-branch", "SBUS B 25   B I-branch"];
        assert_eq!(
            told_apart(&branches, fits),
            ["SBUS A 25 A…", "SBUS B 25 B…"]
        );
        let alone = ["a name without another one"];
        assert_eq!(told_apart(&alone, fits), alone);
    }
}
