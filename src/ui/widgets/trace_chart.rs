//! Traces in lanes on one time axis, drawn from what each column of pixels holds.

use std::sync::Arc;

use egui::epaint::{Mesh, Shape};
use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{Align2, Color32, FontId, Painter, Rangef, Rect, Response, Stroke, Ui, pos2};

use super::cache::{cached, fingerprint};
use super::chart_table::{ChartTable, extent};
use super::short_text::{shortened, text_width};
use crate::ui::numbers::{short, tick, time_step};
use crate::ui::palette::legible;
use crate::ui::theme;
use atomscope_engine::records::overview::MinMax;

/// One trace.
pub struct ChartTrace<'a> {
    /// What it is called.
    pub name: &'a str,
    /// For every column of pixels the lowest and highest value.
    pub columns: &'a [MinMax],
    /// The lane it is drawn in, from the top.
    pub lane: usize,
    /// The value drawn in the middle of its lane.
    pub level: f32,
    /// Points per unit, negative where negative values point up.
    pub gain: f32,
    /// Its colour; none: that of text.
    pub color: Option<Color32>,
    /// Whether it ends at the edges of its lane instead of reaching into others.
    pub is_clipped: bool,
    /// Whether it is marked as bad.
    pub is_bad: bool,
    /// Whether it is under attention.
    pub is_chosen: bool,
}

/// A stretch of time with a text at its beginning.
pub struct ChartMark<'a> {
    /// When it begins.
    pub onset_s: f64,
    /// How long it lasts.
    pub duration_s: f64,
    /// Text of the annotation.
    pub text: &'a str,
    /// Its colour.
    pub color: Color32,
}

/// Traces on a time axis.
pub struct TraceChart<'a> {
    /// The traces from the top.
    pub traces: &'a [ChartTrace<'a>],
    /// What stands below the names of each lane; nothing: no lane has a note or a zero line.
    pub lane_notes: &'a [String],
    /// Start and length of the time that the columns cover.
    pub covered_s: (f64, f64),
    /// Start and length of the time that is shown.
    pub shown_s: (f64, f64),
    /// Gaps of the recording: onset and duration.
    pub gaps: &'a [(f64, f64)],
    /// Annotations.
    pub marks: &'a [ChartMark<'a>],
    /// Selection or measured stretch.
    pub cursors: Option<(f64, f64)>,
    /// A number that differs when the columns do.
    pub revision: u64,
}

/// Size of the smallest letters in which a name can be read.
pub const SMALLEST_NAME: f32 = 8.5;

/// Width of the names at the left.
pub fn gutter_width(ui: &Ui) -> f32 {
    theme::small_font(ui).size * 6.0
}

/// Height of the time axis.
fn axis_height(ui: &Ui) -> f32 {
    theme::small_font(ui).size * 1.6
}

/// The area of the traces within that of the chart.
pub fn trace_area(ui: &Ui, rect: Rect) -> Rect {
    Rect::from_min_max(
        pos2(rect.left() + gutter_width(ui), rect.top()),
        pos2(rect.right(), rect.bottom() - axis_height(ui)),
    )
}

impl TraceChart<'_> {
    /// Draws everything into a rectangle; `label` writes a time at a tick of the given step.
    pub fn paint(&self, ui: &Ui, rect: Rect, label: impl Fn(f64, f64) -> String) {
        let area = trace_area(ui, rect);
        let tones = theme::tones(ui);
        let painter = ui.painter_at(rect);
        painter.rect_filled(area, 0.0, tones.surface);
        self.paint_axis(ui, &painter, area, label);
        for &(onset_s, duration_s) in self.gaps {
            self.paint_gap(ui, &painter, area, onset_s, duration_s);
        }
        let inside = painter.with_clip_rect(area.intersect(painter.clip_rect()));
        self.paint_spans(&inside, area);
        self.paint_zeros(ui, &inside, area);
        let mesh = self.mesh(ui, area);
        inside.add(Shape::Mesh(mesh));
        self.paint_marks(ui, &inside, area);
        self.paint_selection(ui, &inside, area);
        self.paint_names(ui, &painter, rect, area);
    }

    /// Names the chart and tells every trace as a column of a table.
    pub(in crate::ui) fn tell(&self, ui: &Ui, figure: &Response, name: &str, unit: &str) {
        let names: Vec<&str> = self.traces.iter().map(|trace| trace.name).collect();
        let n_columns = self.traces.iter().map(|trace| trace.columns.len()).max();
        let n_columns = n_columns.unwrap_or(0);
        let (start_s, span_s) = self.covered_s;
        let time_s = |column: usize| start_s + span_s * column as f64 / n_columns as f64;
        let cell = |trace: usize, columns: std::ops::Range<usize>| {
            let held = self.traces[trace].columns.get(columns)?.iter();
            let values = held.flat_map(|column| [column.min, column.max].map(f64::from));
            Some(format!("{} {unit}", extent(values, short)?))
        };
        ChartTable {
            n_places: n_columns,
            place: &|column| format!("{} s", tick(time_s(column), 1e-3)),
            series: &names,
            cell: &cell,
        }
        .tell(ui, figure, name);
    }

    /// The lane at a height of the screen.
    pub fn lane_at(&self, area: Rect, y: f32) -> Option<usize> {
        let share = (y - area.top()) / area.height();
        let lane = (share * self.n_lanes() as f32).floor();
        (lane >= 0.0 && (lane as usize) < self.n_lanes()).then_some(lane as usize)
    }

    /// Where a time is on the screen.
    fn x_of(&self, area: Rect, time_s: f64) -> f32 {
        let share = (time_s - self.shown_s.0) / self.shown_s.1;
        area.left() + share.clamp(-10.0, 11.0) as f32 * area.width()
    }

    fn n_lanes(&self) -> usize {
        let lanes = self.traces.iter().map(|trace| trace.lane + 1);
        lanes.max().unwrap_or(0)
    }

    fn lane_centre(&self, area: Rect, lane: usize) -> f32 {
        area.top() + area.height() * (lane as f32 + 0.5) / self.n_lanes().max(1) as f32
    }

    fn paint_axis(
        &self,
        ui: &Ui,
        painter: &Painter,
        area: Rect,
        label: impl Fn(f64, f64) -> String,
    ) {
        let tones = theme::tones(ui);
        let font = theme::small_font(ui);
        let (start_s, span_s) = self.shown_s;
        let step = time_step(span_s, f64::from(area.width()) / 110.0);
        let fine = step / 5.0;
        let first = (start_s / fine).ceil() as i64;
        let n_lines = (span_s / fine) as i64 + 1;
        for line in first..=first + n_lines.min(400) {
            let time_s = line as f64 * fine;
            let x = self.x_of(area, time_s);
            if x > area.right() + 0.5 {
                break;
            }
            let is_tick = line.rem_euclid(5) == 0;
            let color = if is_tick { tones.hairline } else { tones.faint };
            painter.vline(x, area.y_range(), Stroke::new(1.0, color));
            if is_tick {
                let text = label(time_s, step);
                let place = pos2(x, area.bottom() + font.size * 0.3);
                // Texts at the edges stay inside.
                let anchor = match x - area.left() {
                    near if near < 20.0 => Align2::LEFT_TOP,
                    far if far > area.width() - 30.0 => Align2::RIGHT_TOP,
                    _ => Align2::CENTER_TOP,
                };
                painter.text(place, anchor, text, font.clone(), tones.weak);
            }
        }
    }

    fn paint_gap(&self, ui: &Ui, painter: &Painter, area: Rect, onset_s: f64, duration_s: f64) {
        let tones = theme::tones(ui);
        let left = self.x_of(area, onset_s).max(area.left());
        let right = self.x_of(area, onset_s + duration_s).min(area.right());
        if right < area.left() || left > area.right() {
            return;
        }
        let gap = Rect::from_x_y_ranges(Rangef::new(left, right.max(left + 1.5)), area.y_range());
        painter.rect_filled(gap, 0.0, tones.faint);
        if gap.width() > 30.0 {
            let font = theme::small_font(ui);
            let text = format!("gap {duration_s:.1} s");
            painter.text(gap.center(), Align2::CENTER_CENTER, text, font, tones.weak);
        }
    }

    /// Annotations that last, and what lies between the cursors, behind the traces.
    fn paint_spans(&self, painter: &Painter, area: Rect) {
        for mark in self.marks.iter().filter(|mark| mark.duration_s > 0.0) {
            let left = self.x_of(area, mark.onset_s);
            let right = self.x_of(area, mark.onset_s + mark.duration_s);
            let span = Rect::from_x_y_ranges(Rangef::new(left, right), area.y_range());
            painter.rect_filled(span, 0.0, mark.color.gamma_multiply(0.10));
        }
    }

    fn paint_marks(&self, ui: &Ui, painter: &Painter, area: Rect) {
        let font = theme::small_font(ui);
        let row_height = font.size * 1.35;
        // Texts that would lie over each other take another row; where all rows are full the
        // line alone is drawn.
        let mut row_ends = [f32::NEG_INFINITY; 3];
        for mark in self.marks {
            let x = self.x_of(area, mark.onset_s);
            if x < area.left() - 1.0 || x > area.right() {
                continue;
            }
            painter.vline(x, area.y_range(), Stroke::new(1.0, mark.color));
            let Some(row) = row_ends.iter().position(|end| *end < x) else {
                continue;
            };
            let text = shortened(ui, mark.text, &font, 160.0);
            let place = pos2(x + 3.0, area.top() + 2.0 + row as f32 * row_height);
            let galley = painter.layout_no_wrap(text, font.clone(), mark.color);
            let ground = Rect::from_min_size(place, galley.size()).expand2(egui::vec2(2.0, 0.0));
            painter.rect_filled(ground, 2.0, theme::tones(ui).surface.gamma_multiply(0.85));
            row_ends[row] = ground.right() + 4.0;
            painter.galley(place, galley, mark.color);
        }
    }

    /// What lies between the cursors; they themselves are drawn by those who move them.
    fn paint_selection(&self, ui: &Ui, painter: &Painter, area: Rect) {
        let Some((a_s, b_s)) = self.cursors else {
            return;
        };
        let (a, b) = (self.x_of(area, a_s), self.x_of(area, b_s));
        let span = Rect::from_x_y_ranges(Rangef::new(a.min(b), a.max(b)), area.y_range());
        let color = theme::tones(ui).accent.gamma_multiply(0.12);
        painter.rect_filled(span, 0.0, color);
    }

    /// Names of the traces, smaller in low lanes; where even these are higher than a lane, of every second or third.
    fn paint_names(&self, ui: &Ui, painter: &Painter, rect: Rect, area: Rect) {
        let tones = theme::tones(ui);
        let mut font = theme::small_font(ui);
        let lane = area.height() / self.n_lanes().max(1) as f32;
        if !self.lane_notes.is_empty() {
            self.paint_notes(ui, painter, area, lane);
            return;
        }
        font.size = font.size.min((lane / 1.05).max(SMALLEST_NAME));
        let every = (font.size * 1.05 / lane).ceil().max(1.0) as usize;
        let width = area.left() - rect.left() - 6.0;
        for (place, trace) in self.traces.iter().enumerate() {
            if !(place.is_multiple_of(every) || trace.is_chosen) {
                continue;
            }
            let color = match (trace.is_bad, trace.is_chosen) {
                (true, _) => tones.error,
                (_, true) => tones.accent,
                _ => tones.text,
            };
            // A long name is written smaller before it is cut.
            let share = (width / text_width(ui, trace.name, &font)).min(1.0);
            let size = (font.size * share).max(SMALLEST_NAME);
            let font = FontId {
                size,
                ..font.clone()
            };
            let text = shortened(ui, trace.name, &font, width);
            let at = pos2(area.left() - 6.0, self.lane_centre(area, place));
            painter.text(at, Align2::RIGHT_CENTER, text, font, color);
        }
    }

    /// The names of each lane's traces in their colours, the note below them, and the zero line.
    fn paint_notes(&self, ui: &Ui, painter: &Painter, area: Rect, height: f32) {
        let tones = theme::tones(ui);
        let font = theme::small_font(ui);
        let width = gutter_width(ui) - 6.0;
        // Of low lanes only some are named.
        let every = (font.size * 1.1 / height).ceil().max(1.0) as usize;
        for (lane, note) in self.lane_notes.iter().enumerate().step_by(every) {
            let lay_out = |size: f32| {
                let font = FontId {
                    size,
                    ..font.clone()
                };
                let mut names = LayoutJob {
                    wrap: TextWrapping::truncate_at_width(width),
                    ..LayoutJob::default()
                };
                for trace in self.traces.iter().filter(|trace| trace.lane == lane) {
                    let space = if names.is_empty() { 0.0 } else { 5.0 };
                    let color = legible(trace.color.unwrap_or(tones.text), tones.page, tones.text);
                    names.append(trace.name, space, TextFormat::simple(font.clone(), color));
                }
                painter.layout_job(names)
            };
            // Long names are written smaller before they are cut.
            let whole = lay_out(font.size);
            let names = match whole.elided {
                true => lay_out(SMALLEST_NAME),
                false => whole,
            };
            let note = painter.layout_no_wrap(note.clone(), font.clone(), tones.weak);
            let middle = self.lane_centre(area, lane);
            let right = area.left() - 6.0;
            let both = names.size().y + note.size().y <= height;
            let share = if both { 1.0 } else { 0.5 };
            let place = pos2(right - names.size().x, middle - names.size().y * share);
            painter.galley(place, names, tones.text);
            if both {
                painter.galley(pos2(right - note.size().x, middle), note, tones.weak);
            }
        }
    }

    /// The zero of every lane with a note, behind the traces.
    fn paint_zeros(&self, ui: &Ui, painter: &Painter, area: Rect) {
        let half = area.height() / self.n_lanes().max(1) as f32 / 2.0;
        let line = Stroke::new(1.0, theme::tones(ui).faint);
        for trace in self.traces {
            let below = trace.level * trace.gain;
            if trace.lane < self.lane_notes.len() && below.abs() < half {
                let zero = self.lane_centre(area, trace.lane) + below;
                painter.hline(area.x_range(), zero, line);
            }
        }
    }

    /// All traces as one mesh, kept until something of it changes.
    fn mesh(&self, ui: &Ui, area: Rect) -> Arc<Mesh> {
        let edges = [area.left(), area.top(), area.right(), area.bottom()].map(f64::from);
        let looks = self.traces.iter().flat_map(|trace| {
            let bits = [trace.is_bad, trace.is_chosen, trace.is_clipped].map(u8::from);
            let mark = f64::from(bits[0] | bits[1] << 1 | bits[2] << 2);
            let color = trace.color.unwrap_or_default().to_array();
            let color = f64::from(u32::from_le_bytes(color));
            [f64::from(trace.gain), f64::from(trace.level), mark, color]
        });
        let times = [
            self.covered_s.0,
            self.covered_s.1,
            self.shown_s.0,
            self.shown_s.1,
        ];
        let is_dark = f64::from(u8::from(ui.visuals().dark_mode));
        let key = fingerprint(edges.into_iter().chain(times).chain([is_dark]).chain(looks));
        let key = key ^ self.revision;
        cached(ui, ui.scope_id().with("trace mesh"), key, || {
            Arc::new(self.make_mesh(ui, area))
        })
    }

    fn make_mesh(&self, ui: &Ui, area: Rect) -> Mesh {
        let tones = theme::tones(ui);
        let n_columns: usize = self.traces.iter().map(|trace| trace.columns.len()).sum();
        let mut mesh = Mesh::default();
        mesh.reserve_vertices(n_columns * 4);
        mesh.reserve_triangles(n_columns * 6);
        for trace in self.traces {
            let color = match (trace.is_bad, trace.is_chosen) {
                (true, _) => tones.weak.gamma_multiply(0.55),
                (_, true) => tones.accent,
                _ => trace.color.unwrap_or(tones.text),
            };
            let middle = self.lane_centre(area, trace.lane);
            self.add_trace(&mut mesh, area, middle, trace, color);
        }
        mesh
    }

    fn add_trace(
        &self,
        mesh: &mut Mesh,
        area: Rect,
        middle: f32,
        trace: &ChartTrace<'_>,
        color: Color32,
    ) {
        let (covered_s, length_s) = self.covered_s;
        let left = self.x_of(area, covered_s);
        let width = area.width() * (length_s / self.shown_s.1) as f32;
        let step = width / trace.columns.len().max(1) as f32;
        // What lies far outside is drawn at the edge of the lanes, not at infinity.
        let half = area.height() / self.n_lanes().max(1) as f32 / 2.0;
        let (top, bottom) = match trace.is_clipped {
            true => (middle - half, middle + half),
            false => (area.top() - 20.0, area.bottom() + 20.0),
        };
        let y = |value: f32| (middle - (value - trace.level) * trace.gain).clamp(top, bottom);
        let columns = trace.columns.iter().enumerate().map(|(place, column)| {
            let x = left + (place as f32 + 0.5) * step;
            let is_outside = x < area.left() - step || x > area.right() + step;
            let (one, other) = (y(column.min), y(column.max));
            (!column.is_empty() && !is_outside).then_some((x, one.min(other), one.max(other)))
        });
        add_band(mesh, columns, color);
    }
}

/// A band from the highest to the lowest point of every column (x, upper, lower), at least a line
/// thick, with feathered edges; a column without points is a gap.
pub(super) fn add_band(
    mesh: &mut Mesh,
    columns: impl Iterator<Item = Option<(f32, f32, f32)>>,
    color: Color32,
) {
    let mut connected = false;
    for column in columns {
        let Some((x, mut upper, mut lower)) = column else {
            connected = false;
            continue;
        };
        if lower - upper < 1.1 {
            let centre = (upper + lower) / 2.0;
            (upper, lower) = (centre - 0.55, centre + 0.55);
        }
        let first = mesh.vertices.len() as u32;
        mesh.colored_vertex(pos2(x, upper - 0.7), Color32::TRANSPARENT);
        mesh.colored_vertex(pos2(x, upper), color);
        mesh.colored_vertex(pos2(x, lower), color);
        mesh.colored_vertex(pos2(x, lower + 0.7), Color32::TRANSPARENT);
        if connected {
            for strip in 0..3 {
                let (a, b) = (first - 4 + strip, first - 3 + strip);
                mesh.add_triangle(a, b, a + 4);
                mesh.add_triangle(a + 4, b, b + 4);
            }
        }
        connected = true;
    }
}
