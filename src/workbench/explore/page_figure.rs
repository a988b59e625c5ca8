//! A page of traces as a sheet to keep or to print: names, traces, time axis, annotations, scale bars and how it is seen.

use super::annotations::AnnotationRow;
use super::page::{PageTrace, TracePage};
use super::view::{EegView, common_unit};
use atomscope_engine::export::{Anchor, Figure, Ink, Shape, class_ink, mix_inks};
use atomscope_engine::features::measure::points_per_unit;
use atomscope_engine::features::signal_kind::{SignalKind, clean_label};
use atomscope_engine::records::StartTime;

/// A sheet across, in points.
const SIZE: [f32; 2] = [1120.0, 780.0];
const LEFT: f32 = 100.0;
const TOP: f32 = 86.0;
const BOTTOM: f32 = 716.0;
const RIGHT: f32 = 1100.0;
const BLACK: Ink = [20, 20, 20];
const GREY: Ink = [110, 110, 110];
const PALE: Ink = [222, 222, 222];
const WHITE: Ink = [255, 255, 255];
/// Lines above the traces in which texts of annotations stand beside each other.
const MARK_ROWS: usize = 3;
const MARK_SIZE: f32 = 9.0;
/// Mean width of a letter, in parts of its size.
const LETTER: f32 = 0.56;

/// What stands on the sheet besides the traces.
pub(super) struct SheetFacts<'a> {
    /// The recording.
    pub(super) title: &'a str,
    /// When it began.
    pub(super) start: Option<StartTime>,
    /// Annotations that reach into the page.
    pub(super) marks: &'a [AnnotationRow],
}

/// The page as it is shown.
pub(super) fn page_figure(page: &TracePage, view: &EegView, facts: &SheetFacts<'_>) -> Figure {
    let mut shapes = vec![text([LEFT, 22.0], 14.0, Anchor::Start, facts.title, BLACK)];
    let how = how_seen(page, view, facts.start);
    shapes.push(text([LEFT, 39.0], 10.0, Anchor::Start, &how, GREY));
    marks(page, facts.marks, &mut shapes);
    time_axis(page, view, facts.start, &mut shapes);
    let lane = (BOTTOM - TOP) / page.traces.len().max(1) as f32;
    // Traces fill the sheet as they fill the window.
    let shown_mm = view.height_mm.max(1.0) as f32;
    let scale = (BOTTOM - TOP) / (shown_mm * 96.0 / 25.4);
    for (place, trace) in page.traces.iter().enumerate() {
        let middle = TOP + (place as f32 + 0.5) * lane;
        let ink = match (trace.source.is_bad, trace.source.color()) {
            (true, _) => mix_inks(GREY, WHITE, 0.4),
            (false, Some(color)) => mix_inks(class_ink(color), BLACK, 0.2),
            (false, None) => BLACK,
        };
        let name = clean_label(&trace.source.name);
        let size = (lane * 0.9).clamp(5.0, 10.0);
        let at = [LEFT - 6.0, middle + size * 0.35];
        shapes.push(text(at, size, Anchor::End, name, ink));
        let per_unit = points_per_unit(view.sensitivity_of(&trace.source.name)) as f32 * scale;
        let is_clipped = view.clips_lanes || trace.source.kind != SignalKind::Eeg;
        let reach = match is_clipped {
            true => (middle - lane / 2.0, middle + lane / 2.0),
            false => (TOP, BOTTOM),
        };
        shapes.extend(trace_lines(trace, view, (middle, per_unit), reach, ink));
    }
    scale_bars(page, view, scale, &mut shapes);
    Figure { size: SIZE, shapes }
}

fn x_at(page: &TracePage, time_s: f64) -> f32 {
    let share = (time_s - page.request.start_s) / page.request.span_s;
    LEFT + (share as f32).clamp(0.0, 1.0) * (RIGHT - LEFT)
}

/// Time of the page, montage and filters in one line.
fn how_seen(page: &TracePage, view: &EegView, start: Option<StartTime>) -> String {
    let (from_s, to_s) = (
        page.request.start_s,
        page.request.start_s + page.request.span_s,
    );
    let mut parts = vec![format!("{from_s:.3} to {to_s:.3} s")];
    if let Some(clock) = start.and_then(|start| start.plus_seconds(from_s)) {
        parts.push(format!("from {clock}"));
    }
    parts.push(format!("montage: {}", view.montage.name().to_lowercase()));
    parts.push(filters(view));
    if view.is_negative_up {
        parts.push("negative up".to_owned());
    }
    parts.join(" · ")
}

fn filters(view: &EegView) -> String {
    let edges = [
        ("high-pass", view.filter.high_pass_hz),
        ("low-pass", view.filter.low_pass_hz),
        ("notch", view.filter.notch_hz),
    ];
    let on = edges
        .iter()
        .filter_map(|(name, hz)| Some(format!("{name} {} Hz", (*hz)?)));
    let on: Vec<String> = on.collect();
    match on[..] {
        [] => "no filters".to_owned(),
        _ => on.join(", "),
    }
}

/// Lines at round times, on the clock where the window shows it.
fn time_axis(page: &TracePage, view: &EegView, start: Option<StartTime>, shapes: &mut Vec<Shape>) {
    let (start_s, span_s) = (page.request.start_s, page.request.span_s);
    let step_s = round_below(span_s / 6.0);
    let digits = (-step_s.log10().floor()).clamp(0.0, 6.0) as usize;
    let first = (start_s / step_s).ceil() as i64;
    let last = ((start_s + span_s) / step_s).floor() as i64;
    for number in first..=last {
        let time_s = number as f64 * step_s;
        let x = x_at(page, time_s);
        shapes.push(line(vec![[x, TOP], [x, BOTTOM]], 0.6, PALE));
        let clock = start.filter(|_| view.shows_clock);
        let label = match clock.and_then(|start| start.plus_seconds(time_s)) {
            Some(clock) => format!("{:02}:{:02}:{:02}", clock.hour, clock.minute, clock.second),
            None => format!("{time_s:.digits$} s"),
        };
        shapes.push(text([x, BOTTOM + 14.0], 10.0, Anchor::Middle, &label, GREY));
    }
}

/// Annotations: a line and a text where they begin, a pale ground as long as they last.
fn marks(page: &TracePage, marks: &[AnnotationRow], shapes: &mut Vec<Shape>) {
    let end_s = page.request.start_s + page.request.span_s;
    let is_on_page = |mark: &&AnnotationRow| {
        mark.onset_s <= end_s && mark.onset_s + mark.duration_s >= page.request.start_s
    };
    let ink = class_ink(4);
    let mut ends = [LEFT; MARK_ROWS];
    for mark in marks.iter().filter(is_on_page) {
        let (from, to) = (
            x_at(page, mark.onset_s),
            x_at(page, mark.onset_s + mark.duration_s),
        );
        if to > from {
            shapes.push(Shape::Block {
                corner: [from, TOP],
                size: [to - from, BOTTOM - TOP],
                ink: mix_inks(ink, WHITE, 0.85),
            });
        }
        shapes.push(line(vec![[from, TOP - 4.0], [from, BOTTOM]], 0.8, ink));
        let mut words = mark.text.clone();
        if !mark.channels.is_empty() {
            let channels = mark.channels.iter().map(|name| clean_label(name));
            words.push_str(&format!(" ({})", channels.collect::<Vec<_>>().join(", ")));
        }
        let width = words.chars().count() as f32 * MARK_SIZE * LETTER;
        let mut at = from.min(RIGHT - width).max(LEFT);
        // A text without room stands behind the one that ends first: nothing is left out.
        let free = ends.iter().position(|end| *end <= at);
        let shortest = (0..MARK_ROWS).min_by(|a, b| ends[*a].total_cmp(&ends[*b]));
        let row = free.or(shortest).unwrap_or_default();
        at = at.max(ends[row]);
        ends[row] = at + width + 6.0;
        let y = TOP - 8.0 - row as f32 * (MARK_SIZE + 2.0);
        let dark = mix_inks(ink, BLACK, 0.5);
        shapes.push(text([at + 2.0, y], MARK_SIZE, Anchor::Start, &words, dark));
    }
}

/// A bar of a round value and one of a round time below the traces, with the sensitivity of the window.
fn scale_bars(page: &TracePage, view: &EegView, scale: f32, shapes: &mut Vec<Shape>) {
    let unit = common_unit(&page.traces);
    let sensitivity = view.sensitivity_of("");
    let per_unit = points_per_unit(sensitivity) as f32 * scale;
    let value = round_below(f64::from(26.0 / per_unit.max(f32::MIN_POSITIVE)));
    let height = value as f32 * per_unit;
    let foot = SIZE[1] - 12.0;
    let bar = vec![[LEFT, foot - height], [LEFT, foot]];
    shapes.push(line(bar, 2.0, BLACK));
    let label = format!("{value} {unit}");
    let label_at = [LEFT + 6.0, foot - height / 2.0 + 3.0];
    shapes.push(text(label_at, 10.0, Anchor::Start, &label, BLACK));
    let time_s = round_below(page.request.span_s / 8.0);
    let width = (time_s / page.request.span_s) as f32 * (RIGHT - LEFT);
    let left = LEFT + 110.0;
    shapes.push(line(vec![[left, foot], [left + width, foot]], 2.0, BLACK));
    let label = format!("{time_s} s");
    let label_at = [left + width / 2.0, foot - 5.0];
    shapes.push(text(label_at, 10.0, Anchor::Middle, &label, BLACK));
    let mut note = format!("{sensitivity} {unit}/mm on the screen");
    let has_others = page.traces.iter().any(|trace| trace.source.unit != unit);
    if has_others || !view.own_sensitivity.is_empty() {
        note.push_str("; signals of other units or sensitivities on scales of their own");
    }
    let note_at = [RIGHT, foot];
    shapes.push(text(note_at, 9.0, Anchor::End, &note, GREY));
}

/// 1, 2 or 5 times a power of ten, at most the value.
fn round_below(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return 1.0;
    }
    // Through text, so that 0.2 is 0.2.
    let power = value.log10().floor() as i32;
    let factor = [5, 2, 1]
        .into_iter()
        .find(|factor| f64::from(*factor) * 10_f64.powi(power) <= value * 1.001);
    format!("{}e{power}", factor.unwrap_or(1))
        .parse()
        .unwrap_or(value)
}

/// The lowest and highest value of every column, joined; a gap begins another line.
fn trace_lines(
    trace: &PageTrace,
    view: &EegView,
    (middle, per_unit): (f32, f32),
    (top, bottom): (f32, f32),
    ink: Ink,
) -> Vec<Shape> {
    let level = if view.corrects_baseline {
        trace.level
    } else {
        0.0
    };
    let sign = if view.is_negative_up { -1.0 } else { 1.0 };
    let y = |value: f32| {
        let y = middle - (value - level) * per_unit * sign;
        y.clamp(top, bottom)
    };
    let step = (RIGHT - LEFT) / trace.columns.len().max(1) as f32;
    let mut lines = Vec::new();
    let mut points: Vec<[f32; 2]> = Vec::new();
    for (place, column) in trace.columns.iter().enumerate() {
        if column.is_empty() {
            lines.extend((points.len() > 1).then(|| line(std::mem::take(&mut points), 0.7, ink)));
            points.clear();
            continue;
        }
        let x = LEFT + (place as f32 + 0.5) * step;
        points.push([x, y(column.min)]);
        points.push([x, y(column.max)]);
    }
    lines.extend((points.len() > 1).then(|| line(points, 0.7, ink)));
    lines
}

fn line(points: Vec<[f32; 2]>, width: f32, ink: Ink) -> Shape {
    Shape::Line { points, width, ink }
}

fn text(place: [f32; 2], size: f32, anchor: Anchor, text: &str, ink: Ink) -> Shape {
    Shape::Text {
        place,
        size,
        anchor,
        text: text.to_owned(),
        ink,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_round_lengths() {
        for (value, round) in [(0.31, 0.2), (1.0, 1.0), (7.9, 5.0), (26.0, 20.0)] {
            assert_eq!(round_below(value), round);
        }
        assert_eq!(round_below(f64::NAN), 1.0);
        assert_eq!(round_below(f64::INFINITY), 1.0);
    }
}
