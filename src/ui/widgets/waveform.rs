//! A quick look at signals: lanes of traces over time, reduced to what a pixel can show.

use egui::epaint::{Mesh, Shape};
use egui::text::{LayoutJob, TextFormat};
use egui::{
    Color32, Painter, Rect, Response, Role, Sense, Stroke, Ui, Vec2, WidgetInfo, pos2, vec2,
};

use super::axes::Axes;
use crate::ui::numbers::{short, tick};
use crate::ui::reduce::min_max;
use crate::ui::theme;

/// One signal.
pub struct Trace<'a> {
    /// The channel.
    pub name: &'a str,
    /// Its values; what is not finite is a gap.
    pub values: &'a [f64],
    /// Its colour.
    pub color: Color32,
    /// The lane it is drawn in, from the top; traces of one lane share its scale.
    pub lane: usize,
}

/// A moment worth a line: a trigger, an annotation.
pub struct Mark<'a> {
    /// When.
    pub time_s: f64,
    /// What.
    pub text: &'a str,
}

/// Signals of one rate on one time axis.
pub struct Waveform<'a> {
    /// What is shown, as the accessible name.
    pub name: &'a str,
    /// The signals.
    pub traces: &'a [Trace<'a>],
    /// Samples per second.
    pub rate_hz: f64,
    /// Time of the first sample.
    pub start_s: f64,
    /// Unit of each lane.
    pub lane_units: &'a [&'a str],
    /// Moments to mark.
    pub marks: &'a [Mark<'a>],
    /// The height to fill.
    pub height: f32,
}

impl Waveform<'_> {
    /// Draws the signals; the response tells of clicks and hovering.
    pub fn show(&self, ui: &mut Ui) -> Response {
        let size = vec2(ui.available_width(), self.height);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let enabled = ui.is_enabled();
        response.widget_info(|| WidgetInfo::labeled(Role::Figure, enabled, self.name));
        let longest = self.traces.iter().map(|trace| trace.values.len()).max();
        let n_samples = longest.unwrap_or(0);
        if n_samples == 0 || !ui.is_rect_visible(rect) || self.rate_hz <= 0.0 {
            return response;
        }
        let time = (self.start_s, self.start_s + n_samples as f64 / self.rate_hz);
        let mut axes = Axes::within(ui, rect, time, (0.0, 1.0));
        axes.rect.min.x = rect.left() + theme::small_font(ui).size * 6.0;
        axes.paint_x(ui, |value, step| format!("{} s", tick(value, step)));
        let n_lanes = self
            .traces
            .iter()
            .map(|trace| trace.lane + 1)
            .max()
            .unwrap_or(1);
        for lane in 0..n_lanes {
            self.lane_ui(ui, &axes, lane, n_lanes, n_samples);
        }
        self.paint_marks(ui, &axes);
        if response.has_focus() {
            crate::ui::icons::focus_ring(ui, rect);
        }
        response
    }

    fn lane_ui(&self, ui: &Ui, axes: &Axes, lane: usize, n_lanes: usize, n_samples: usize) {
        let tones = theme::tones(ui);
        let height = axes.rect.height() / n_lanes as f32;
        let top = axes.rect.top() + height * lane as f32;
        let area = Rect::from_x_y_ranges(axes.rect.x_range(), top..=top + height);
        let traces = || self.traces.iter().filter(|trace| trace.lane == lane);
        let Some((low, high)) = range(traces().flat_map(|trace| trace.values.iter().copied()))
        else {
            return;
        };
        let middle = (low + high) / 2.0;
        let gain = f64::from(height) * 0.86 / (high - low);
        let zero = area.center().y + ((middle - 0.0) * gain) as f32;
        if area.y_range().contains(zero) {
            ui.painter()
                .hline(area.x_range(), zero, Stroke::new(1.0, tones.faint));
        }
        for trace in traces() {
            let share = trace.values.len() as f32 / n_samples as f32;
            let n_columns = (area.width() * share).max(1.0) as usize;
            let columns = min_max(trace.values, n_columns.min(trace.values.len()));
            let width = area.width() * share / columns.len().max(1) as f32;
            let y = |value: f64| area.center().y - ((value - middle) * gain) as f32;
            paint_columns(ui.painter(), area.left(), width, &columns, y, trace.color);
        }
        let unit = self.lane_units.get(lane).copied().unwrap_or("");
        let span = format!("{} {unit}", short(high - low));
        paint_gutter(ui, area, traces(), span);
    }

    fn paint_marks(&self, ui: &Ui, axes: &Axes) {
        let tones = theme::tones(ui);
        let mut taken: Vec<Rect> = Vec::new();
        for mark in self.marks {
            if mark.time_s < axes.x.0 || mark.time_s > axes.x.1 {
                continue;
            }
            let x = axes.screen_x(mark.time_s);
            ui.painter()
                .vline(x, axes.rect.y_range(), Stroke::new(1.0, tones.stale));
            let text = mark.text.to_owned();
            let text = ui
                .painter()
                .layout_no_wrap(text, theme::small_font(ui), tones.stale);
            let place = place_of_mark(axes.rect, x, text.size(), &taken);
            taken.push(place);
            ui.painter().galley(place.min, text, tones.stale);
        }
    }
}

/// Where the text of a mark stands: beside its line at the lower edge, left of it where there is no room
/// at the right, above the texts that are there already.
fn place_of_mark(area: Rect, x: f32, size: Vec2, taken: &[Rect]) -> Rect {
    let fits = x + 4.0 + size.x <= area.right();
    let left = match fits {
        true => x + 4.0,
        false => (x - 4.0 - size.x).max(area.left() + 4.0),
    };
    let mut place = Rect::from_min_size(pos2(left, area.bottom() - 2.0 - size.y), size);
    while taken.iter().any(|other| other.intersects(place)) && place.top() > area.top() {
        place = place.translate(vec2(0.0, -size.y));
    }
    place
}

/// The names of a lane's traces in their colours, and below them how much the lane spans.
fn paint_gutter<'a>(
    ui: &Ui,
    area: Rect,
    traces: impl Iterator<Item = &'a Trace<'a>>,
    span: String,
) {
    let tones = theme::tones(ui);
    let font = theme::small_font(ui);
    let mut names = LayoutJob::default();
    for (place, trace) in traces.enumerate() {
        let space = if place > 0 { 5.0 } else { 0.0 };
        let format = TextFormat::simple(font.clone(), trace.color);
        names.append(trace.name, space, format);
    }
    let right = area.left() - 8.0;
    let names = ui.painter().layout_job(names);
    let span = ui.painter().layout_no_wrap(span, font, tones.weak);
    let both = names.size().y + span.size().y <= area.height();
    let middle = area.center().y;
    let names_top = if both {
        middle - names.size().y
    } else {
        middle - names.size().y / 2.0
    };
    let place = pos2(right - names.size().x, names_top);
    ui.painter().galley(place, names, tones.text);
    if both {
        let place = pos2(right - span.size().x, middle);
        ui.painter().galley(place, span, tones.weak);
    }
}

/// The lowest and highest finite value, never the same.
fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    if low > high {
        None
    } else if low == high {
        Some((low - 1.0, high + 1.0))
    } else {
        Some((low, high))
    }
}

/// A band from lowest to highest value, at least a line thick, with feathered edges.
pub(super) fn paint_columns(
    painter: &Painter,
    left: f32,
    width: f32,
    columns: &[Option<(f64, f64)>],
    y: impl Fn(f64) -> f32,
    color: Color32,
) {
    let mut mesh = Mesh::default();
    let mut connected = false;
    for (place, range) in columns.iter().enumerate() {
        let Some((low, high)) = *range else {
            connected = false;
            continue;
        };
        let x = left + (place as f32 + 0.5) * width;
        let (mut upper, mut lower) = (y(high), y(low));
        if lower - upper < 1.2 {
            let middle = (upper + lower) / 2.0;
            (upper, lower) = (middle - 0.6, middle + 0.6);
        }
        let first = mesh.vertices.len() as u32;
        mesh.colored_vertex(pos2(x, upper - 0.8), Color32::TRANSPARENT);
        mesh.colored_vertex(pos2(x, upper), color);
        mesh.colored_vertex(pos2(x, lower), color);
        mesh.colored_vertex(pos2(x, lower + 0.8), Color32::TRANSPARENT);
        if connected {
            for strip in 0..3 {
                let (a, b) = (first - 4 + strip, first - 3 + strip);
                mesh.add_triangle(a, b, a + 4);
                mesh.add_triangle(a + 4, b, b + 4);
            }
        }
        connected = true;
    }
    painter.add(Shape::mesh(mesh));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_leave_out_gaps_and_are_never_empty() {
        assert_eq!(range([f64::NAN, 1.0, -2.0].into_iter()), Some((-2.0, 1.0)));
        assert_eq!(range([3.0].into_iter()), Some((2.0, 4.0)));
        assert_eq!(range([f64::INFINITY].into_iter()), None);
    }
}
