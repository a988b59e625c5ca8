//! The confusion matrix as a figure.

use super::RunResult;
use super::figure::{Anchor, Figure, Ink, Shape};
use crate::evaluation::Confusion;

const CELL: f32 = 56.0;
const NAMES: f32 = 130.0;
const HEAD: f32 = 84.0;
const RECALL: f32 = 70.0;
const TEXT: Ink = [33, 37, 41];
const WEAK: Ink = [108, 117, 125];
/// Right and wrong decisions at full share; white at none.
const RIGHT: Ink = [31, 90, 150];
const WRONG: Ink = [200, 100, 40];

/// The confusion matrix of a run.
pub(super) fn figure(result: &RunResult<'_>) -> Figure {
    let names = &result.facts.class_names;
    matrix(title(result), names, &result.summary.confusion)
}

/// Share of the row as shade, count and percent as text.
pub(super) fn matrix(title: String, names: &[String], confusion: &Confusion) -> Figure {
    let n = names.len() as f32;
    let mut shapes = vec![label([16.0, 24.0], Anchor::Start, title, TEXT)];
    for (truth, name) in names.iter().enumerate() {
        let y = HEAD + CELL * truth as f32;
        let x = NAMES + CELL * truth as f32;
        shapes.push(label(
            [NAMES - 10.0, y + 33.0],
            Anchor::End,
            short(name),
            TEXT,
        ));
        shapes.push(label(
            [x + CELL / 2.0, HEAD - 10.0],
            Anchor::Middle,
            short(name),
            TEXT,
        ));
        let total = confusion.of_class(truth).max(1) as f64;
        for decided in 0..names.len() {
            let count = confusion.count(truth, decided);
            let corner = [NAMES + CELL * decided as f32, y];
            cell(
                &mut shapes,
                corner,
                count,
                count as f64 / total,
                truth == decided,
            );
        }
        let recall = confusion.recall(truth);
        let text = recall.map_or("–".into(), |recall| format!("{:.1} %", 100.0 * recall));
        let place = [NAMES + CELL * n + 10.0, y + 33.0];
        shapes.push(label(place, Anchor::Start, text, TEXT));
    }
    let place = [NAMES + CELL * n + 10.0, HEAD - 10.0];
    shapes.push(label(place, Anchor::Start, "recall".into(), WEAK));
    Figure {
        size: [
            (NAMES + CELL * n + RECALL + 20.0).max(520.0),
            HEAD + CELL * n + 20.0,
        ],
        shapes,
    }
}

/// What it is the result of.
pub(super) fn title(result: &RunResult<'_>) -> String {
    let accuracy = result.summary.accuracy;
    let score = accuracy.map_or("no score".to_owned(), |point| {
        let sd = point
            .sd
            .map_or(String::new(), |sd| format!(" ± {:.2}", 100.0 * sd));
        format!("{:.2} %{sd}", 100.0 * point.mean)
    });
    format!(
        "{}: {score}, {} of {} folds ({}), seed {}",
        result.session,
        result.summary.folds.len(),
        result.n_folds,
        super::split_kind(&result.experiment.split),
        result.experiment.seed
    )
}

fn cell(shapes: &mut Vec<Shape>, corner: [f32; 2], count: u64, share: f64, is_right: bool) {
    let full = if is_right { RIGHT } else { WRONG };
    let depth = if count == 0 { 0.0 } else { 0.15 + 0.85 * share };
    shapes.push(Shape::Block {
        corner: [corner[0] + 1.0, corner[1] + 1.0],
        size: [CELL - 2.0, CELL - 2.0],
        ink: mixed(full, depth),
    });
    let ink = if depth > 0.5 { [255, 255, 255] } else { TEXT };
    let middle = corner[0] + CELL / 2.0;
    let place = [middle, corner[1] + 27.0];
    shapes.push(label(place, Anchor::Middle, count.to_string(), ink));
    if count > 0 {
        shapes.push(Shape::Text {
            place: [middle, corner[1] + 43.0],
            size: 10.0,
            anchor: Anchor::Middle,
            text: format!("{:.1} %", 100.0 * share),
            ink,
        });
    }
}

/// From white to the colour.
fn mixed(full: Ink, depth: f64) -> Ink {
    let one = |channel: u8| (255.0 + (f64::from(channel) - 255.0) * depth).round() as u8;
    full.map(one)
}

pub(super) fn label(place: [f32; 2], anchor: Anchor, text: String, ink: Ink) -> Shape {
    Shape::Text {
        place,
        size: 13.0,
        anchor,
        text,
        ink,
    }
}

fn short(name: &str) -> String {
    name.chars().take(16).collect()
}
