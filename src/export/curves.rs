//! Accuracy against mini-batches as a figure.

use super::RunResult;
use super::figure::{Anchor, Figure, Ink, Shape};
use super::matrix::{label, title};

const SIZE: [f32; 2] = [720.0, 440.0];
/// Left, top, right and bottom edge of the plot.
const FRAME: [f32; 4] = [70.0, 48.0, 700.0, 390.0];
const LINE: Ink = [0, 114, 178];
const SPREAD: Ink = [214, 230, 242];
const GRID: Ink = [222, 226, 230];
const WEAK: Ink = [108, 117, 125];

/// Mean over the folds as a line, one standard deviation around it as a band.
pub(super) fn figure(result: &RunResult<'_>) -> Figure {
    let curve = &result.summary.curve;
    let last = curve.last().map_or(1.0, |point| point.at.max(1.0));
    let lowest = curve
        .iter()
        .map(|point| point.mean - point.sd.unwrap_or(0.0))
        .fold(1.0, f64::min);
    let bottom = ((lowest * 10.0).floor() / 10.0).clamp(0.0, 0.9);
    let [left, top, right, floor] = FRAME;
    let x = |batch: f64| left + (right - left) * (batch / last) as f32;
    let y = |share: f64| floor - (floor - top) * ((share - bottom) / (1.0 - bottom)) as f32;
    let mut shapes = vec![title(result)];
    spread(&mut shapes, result, &x, &y);
    for step in 0..=5 {
        let share = bottom + (1.0 - bottom) * f64::from(step) / 5.0;
        let height = y(share);
        shapes.push(line(vec![[left, height], [right, height]], 0.5, GRID));
        let text = format!("{:.0} %", 100.0 * share);
        shapes.push(label([left - 8.0, height + 4.0], Anchor::End, text, WEAK));
    }
    for step in 0..=4 {
        let batch = (last * f64::from(step) / 4.0).round();
        let text = batch.to_string();
        shapes.push(label([x(batch), floor + 20.0], Anchor::Middle, text, WEAK));
    }
    let middle = [(left + right) / 2.0, floor + 40.0];
    shapes.push(label(middle, Anchor::Middle, "mini-batches".into(), WEAK));
    let points = curve.iter().map(|point| [x(point.at), y(point.mean)]);
    shapes.push(line(points.collect(), 2.0, LINE));
    Figure { size: SIZE, shapes }
}

/// The band in slices from point to point, so that every viewer can draw it.
fn spread(
    shapes: &mut Vec<Shape>,
    result: &RunResult<'_>,
    x: &dyn Fn(f64) -> f32,
    y: &dyn Fn(f64) -> f32,
) {
    const SLICES: usize = 24;
    for pair in result.summary.curve.windows(2) {
        let (Some(first_sd), Some(second_sd)) = (pair[0].sd, pair[1].sd) else {
            continue;
        };
        for slice in 0..SLICES {
            let share = (slice as f64 + 0.5) / SLICES as f64;
            let mean = pair[0].mean + (pair[1].mean - pair[0].mean) * share;
            let sd = first_sd + (second_sd - first_sd) * share;
            let width = (x(pair[1].at) - x(pair[0].at)) / SLICES as f32;
            let upper = y((mean + sd).min(1.0));
            shapes.push(Shape::Block {
                corner: [x(pair[0].at) + width * slice as f32, upper],
                size: [width + 0.3, y(mean - sd) - upper],
                ink: SPREAD,
            });
        }
    }
}

fn line(points: Vec<[f32; 2]>, width: f32, ink: Ink) -> Shape {
    Shape::Line { points, width, ink }
}
