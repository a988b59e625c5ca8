//! A page of traces as a figure for a file: names, traces, time axis, annotations and the scale.

use super::annotations::AnnotationRow;
use super::page::{PageTrace, TracePage};
use super::view::{EegView, common_unit};
use atomscope_engine::export::{Anchor, Figure, Ink, Shape, class_ink};
use atomscope_engine::features::measure::points_per_unit;
use atomscope_engine::features::signal_kind::clean_label;

/// A sheet across, in points.
const SIZE: [f32; 2] = [1120.0, 780.0];
const LEFT: f32 = 90.0;
const TOP: f32 = 40.0;
const BOTTOM: f32 = 730.0;
const RIGHT: f32 = 1100.0;
const BLACK: Ink = [20, 20, 20];
const GREY: Ink = [120, 120, 120];
const PALE: Ink = [220, 220, 220];

/// The page as it is shown; `title` says which recording it is.
pub(super) fn page_figure(
    page: &TracePage,
    view: &EegView,
    title: &str,
    marks: &[AnnotationRow],
) -> Figure {
    let mut shapes = vec![text([LEFT, 24.0], 13.0, Anchor::Start, title, BLACK)];
    let start_s = page.request.start_s;
    let x = |time_s: f64| LEFT + ((time_s - start_s) / page.request.span_s) as f32 * (RIGHT - LEFT);
    for tick in 0..=10 {
        let time_s = start_s + page.request.span_s * f64::from(tick) / 10.0;
        shapes.push(line(vec![[x(time_s), TOP], [x(time_s), BOTTOM]], 0.6, PALE));
        let label = format!("{time_s:.1} s");
        shapes.push(text(
            [x(time_s), BOTTOM + 16.0],
            10.0,
            Anchor::Middle,
            &label,
            GREY,
        ));
    }
    for mark in marks {
        let at = x(mark.onset_s).clamp(LEFT, RIGHT);
        shapes.push(line(vec![[at, TOP], [at, BOTTOM]], 0.8, class_ink(4)));
        shapes.push(text(
            [at + 3.0, TOP - 3.0],
            9.0,
            Anchor::Start,
            &mark.text,
            class_ink(4),
        ));
    }
    let lane = (BOTTOM - TOP) / page.traces.len().max(1) as f32;
    // Traces fill the sheet as they fill the window.
    let shown_mm = view.height_mm.max(1.0) as f32;
    let scale = (BOTTOM - TOP) / (shown_mm * 96.0 / 25.4);
    for (place, trace) in page.traces.iter().enumerate() {
        let middle = TOP + (place as f32 + 0.5) * lane;
        let ink = if trace.source.is_bad { GREY } else { BLACK };
        let name = clean_label(&trace.source.name);
        shapes.push(text(
            [LEFT - 6.0, middle + 3.0],
            10.0,
            Anchor::End,
            name,
            ink,
        ));
        let per_unit = points_per_unit(view.sensitivity_of(&trace.source.name)) as f32 * scale;
        shapes.extend(trace_lines(trace, view, (middle, per_unit), ink));
    }
    let unit = common_unit(&page.traces);
    let note = format!(
        "{:.4} {unit}/mm on the screen; montage {}; {}",
        view.sensitivity_of(""),
        view.montage.name(),
        filters(view)
    );
    shapes.push(text(
        [LEFT, BOTTOM + 36.0],
        10.0,
        Anchor::Start,
        &note,
        GREY,
    ));
    Figure { size: SIZE, shapes }
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

/// The lowest and highest value of every column, joined; a gap begins another line.
fn trace_lines(
    trace: &PageTrace,
    view: &EegView,
    (middle, per_unit): (f32, f32),
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
        y.clamp(TOP, BOTTOM)
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
