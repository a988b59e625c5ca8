//! The decisions on a recording along its time, and the signal of one segment, as figures.

use super::figure::{Anchor, Figure, Ink, Shape, class_ink, hatch_lines};
use super::matrix::label;
use crate::experiment::{Ribbon, RibbonSegment};

const WIDTH: f32 = 860.0;
const LEFT: f32 = 150.0;
const RIGHT: f32 = 825.0;
const TEXT: Ink = [33, 37, 41];
const WEAK: Ink = [108, 117, 125];
const GRID: Ink = [222, 226, 230];
const WHITE: Ink = [255, 255, 255];
const BAND: f32 = 34.0;
const LANE: f32 = 26.0;

/// Every segment in the colour of its class, uncertain ones hatched, and above it its margin as a bar.
pub(super) fn ribbon(ribbon: &Ribbon, duration_s: f64) -> Figure {
    let end = |segment: &RibbonSegment| segment.start_s + segment.duration_s;
    let last_s = ribbon.segments.iter().map(end).fold(duration_s, f64::max);
    let x = |time_s: f64| LEFT + (RIGHT - LEFT) * (time_s / last_s.max(1e-9)) as f32;
    let margins = ribbon.segments.iter().map(|s| s.verdict.margin);
    let largest = margins.fold(1e-300, f64::max);
    let (top, floor) = (10.0, 60.0);
    let mut shapes = vec![
        line(vec![[LEFT, floor], [RIGHT, floor]], 0.5, GRID),
        label([LEFT - 8.0, 40.0], Anchor::End, "margin".into(), WEAK),
        label(
            [LEFT - 8.0, floor + 22.0],
            Anchor::End,
            "class".into(),
            WEAK,
        ),
    ];
    for segment in &ribbon.segments {
        let ink = class_ink(segment.verdict.class);
        let left = x(segment.start_s);
        let width = (x(end(segment)) - left).max(0.8);
        let height = (floor - top) * (segment.verdict.margin / largest).clamp(0.0, 1.0) as f32;
        shapes.push(Shape::Block {
            corner: [left, floor - height],
            size: [(width - 0.4).max(0.4), height],
            ink,
        });
        let (corner, size) = ([left, floor + 2.0], [width, BAND]);
        shapes.push(Shape::Block { corner, size, ink });
        if ribbon.is_uncertain(segment) {
            let lines = hatch_lines(corner, size, 5.0).into_iter();
            shapes.extend(lines.map(|ends| line(ends.to_vec(), 1.4, WHITE)));
        }
    }
    let below = floor + BAND + 18.0;
    for step in 0..=8 {
        let time_s = last_s * f64::from(step) / 8.0;
        let text = format!("{} s", figures(time_s, last_s));
        shapes.push(label([x(time_s), below], Anchor::Middle, text, WEAK));
    }
    legend(&mut shapes, ribbon, below + 24.0);
    Figure {
        size: [WIDTH, below + 38.0],
        shapes,
    }
}

fn legend(shapes: &mut Vec<Shape>, ribbon: &Ribbon, y: f32) {
    let mut x = LEFT;
    for (class, name) in ribbon.class_names.iter().enumerate() {
        shapes.push(Shape::Block {
            corner: [x, y - 10.0],
            size: [12.0, 12.0],
            ink: class_ink(class),
        });
        shapes.push(label([x + 18.0, y], Anchor::Start, name.clone(), TEXT));
        x += 40.0 + 7.0 * name.chars().count() as f32;
    }
    let hatched = [x, y - 10.0];
    shapes.push(Shape::Block {
        corner: hatched,
        size: [12.0, 12.0],
        ink: WEAK,
    });
    let lines = hatch_lines(hatched, [12.0, 12.0], 5.0).into_iter();
    shapes.extend(lines.map(|ends| line(ends.to_vec(), 1.4, WHITE)));
    shapes.push(label(
        [x + 18.0, y],
        Anchor::Start,
        "uncertain".into(),
        TEXT,
    ));
}

/// One channel of a stretch: name with unit, times and values.
pub(super) struct Lane {
    /// Name and unit.
    pub(super) name: String,
    /// Time and value of each sample.
    pub(super) points: Vec<(f64, f64)>,
}

/// Channels one below the other, each on a scale of its own whose span stands beside it.
pub(super) fn signal(lanes: &[Lane], (start_s, duration_s): (f64, f64)) -> Figure {
    let x = |time_s: f64| LEFT + (RIGHT - LEFT) * ((time_s - start_s) / duration_s) as f32;
    let mut shapes = Vec::new();
    for (place, lane) in lanes.iter().enumerate() {
        let middle = LANE * (place as f32 + 0.5) + 6.0;
        let finite = || lane.points.iter().map(|p| p.1).filter(|v| v.is_finite());
        let (low, high) = (
            finite().fold(f64::INFINITY, f64::min),
            finite().fold(f64::NEG_INFINITY, f64::max),
        );
        shapes.push(label(
            [LEFT - 8.0, middle + 4.0],
            Anchor::End,
            lane.name.clone(),
            TEXT,
        ));
        if low > high {
            continue;
        }
        let gain = f64::from(LANE * 0.85) / (high - low).max(1e-300);
        let centre = (low + high) / 2.0;
        // A missing value ends the line.
        for part in lane.points.split(|(_, value)| !value.is_finite()) {
            let to_place = |(time_s, value): &(f64, f64)| {
                [x(*time_s), middle - ((value - centre) * gain) as f32]
            };
            if part.len() > 1 {
                shapes.push(line(part.iter().map(to_place).collect(), 1.0, TEXT));
            }
        }
    }
    let below = LANE * lanes.len() as f32 + 24.0;
    for step in 0..=4 {
        let time_s = start_s + duration_s * f64::from(step) / 4.0;
        let text = format!("{} s", figures(time_s, duration_s));
        shapes.push(label([x(time_s), below], Anchor::Middle, text, WEAK));
    }
    Figure {
        size: [WIDTH, below + 8.0],
        shapes,
    }
}

/// A time with the digits that a span of that length needs.
fn figures(time_s: f64, span_s: f64) -> String {
    let digits = (2.0 - span_s.max(1e-9).log10()).ceil().clamp(0.0, 6.0) as usize;
    format!("{time_s:.digits$}")
}

fn line(points: Vec<[f32; 2]>, width: f32, ink: Ink) -> Shape {
    Shape::Line { points, width, ink }
}
