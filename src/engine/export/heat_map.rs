//! Accuracy over two settings as a map of shaded cells.

use super::figure::{Anchor, Figure, Ink, Shape};
use super::matrix::label;

const CELL: [f32; 2] = [74.0, 34.0];
const LEFT: f32 = 150.0;
const TOP: f32 = 60.0;
const TEXT: Ink = [33, 37, 41];
const WEAK: Ink = [108, 117, 125];
const EMPTY: Ink = [233, 236, 239];
/// From low to high: dark blue, teal, yellow, of steadily rising lightness, as in viridis.
const SHADES: [Ink; 5] = [
    [68, 1, 84],
    [59, 82, 139],
    [33, 145, 140],
    [94, 201, 98],
    [253, 231, 37],
];

/// Values over two settings.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// What it shows.
    pub title: String,
    /// The setting from left to right, and its values.
    pub across: (String, Vec<String>),
    /// The setting from top to bottom, and its values.
    pub down: (String, Vec<String>),
    /// Fractions, row after row; nothing where nothing was measured.
    pub values: Vec<Option<f64>>,
}

impl HeatMap {
    /// The value of a cell.
    pub fn value(&self, row: usize, column: usize) -> Option<f64> {
        self.values
            .get(row * self.across.1.len() + column)
            .copied()
            .flatten()
    }

    /// Smallest and largest value.
    pub fn range(&self) -> Option<(f64, f64)> {
        let values = self.values.iter().flatten().copied();
        values.fold(None, |range, value| match range {
            None => Some((value, value)),
            Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
        })
    }

    /// The colour of a value.
    pub fn shade(&self, value: f64) -> Ink {
        let (low, high) = self.range().unwrap_or((0.0, 1.0));
        let share = if high > low {
            (value - low) / (high - low)
        } else {
            0.5
        };
        let place = share.clamp(0.0, 1.0) * (SHADES.len() - 1) as f64;
        let at = (place as usize).min(SHADES.len() - 2);
        let part = place - at as f64;
        let mut ink = [0; 3];
        for (channel, mixed) in ink.iter_mut().enumerate() {
            let (from, to) = (
                f64::from(SHADES[at][channel]),
                f64::from(SHADES[at + 1][channel]),
            );
            *mixed = (from + (to - from) * part).round() as u8;
        }
        ink
    }

    /// The map as a figure.
    pub fn figure(&self) -> Figure {
        let (columns, rows) = (self.across.1.len(), self.down.1.len());
        let width = LEFT + CELL[0] * columns as f32 + 20.0;
        let mut shapes = vec![label([16.0, 22.0], Anchor::Start, self.title.clone(), TEXT)];
        for (column, text) in self.across.1.iter().enumerate() {
            let x = LEFT + CELL[0] * (column as f32 + 0.5);
            shapes.push(label([x, TOP - 8.0], Anchor::Middle, short(text), TEXT));
        }
        for row in 0..rows {
            let y = TOP + CELL[1] * row as f32;
            let text = short(&self.down.1[row]);
            shapes.push(label([LEFT - 10.0, y + 22.0], Anchor::End, text, TEXT));
            for column in 0..columns {
                let corner = [LEFT + CELL[0] * column as f32, y];
                self.draw_cell(&mut shapes, corner, self.value(row, column));
            }
        }
        let below = TOP + CELL[1] * rows as f32 + 20.0;
        let text = format!("across: {} · down: {}", self.across.0, self.down.0);
        shapes.push(label([16.0, below], Anchor::Start, text, WEAK));
        Figure {
            size: [width.max(520.0), below + 16.0],
            shapes,
        }
    }

    fn draw_cell(&self, shapes: &mut Vec<Shape>, corner: [f32; 2], value: Option<f64>) {
        let ink = value.map_or(EMPTY, |value| self.shade(value));
        shapes.push(Shape::Block {
            corner: [corner[0] + 1.0, corner[1] + 1.0],
            size: [CELL[0] - 2.0, CELL[1] - 2.0],
            ink,
        });
        let text = value.map_or("–".into(), |value| format!("{:.2} %", 100.0 * value));
        let is_dark = ink.iter().map(|channel| u32::from(*channel)).sum::<u32>() < 360;
        let color = if is_dark { [255, 255, 255] } else { TEXT };
        let place = [corner[0] + CELL[0] / 2.0, corner[1] + 22.0];
        shapes.push(label(place, Anchor::Middle, text, color));
    }
}

fn short(text: &str) -> String {
    text.chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_is_darkest_and_the_highest_lightest() {
        let map = HeatMap {
            title: "t".into(),
            across: ("a".into(), vec!["1".into(), "2".into()]),
            down: ("b".into(), vec!["x".into(), "y".into()]),
            values: vec![Some(0.5), Some(0.7), None, Some(0.9)],
        };
        assert_eq!(map.range(), Some((0.5, 0.9)));
        assert_eq!((map.shade(0.5), map.shade(0.9)), (SHADES[0], SHADES[4]));
        assert_eq!(map.shade(0.7), SHADES[2]);
        assert_eq!((map.value(0, 1), map.value(1, 0)), (Some(0.7), None));
        let svg = map.figure().to_svg();
        assert!(svg.contains("70.00 %") && svg.contains("across: a · down: b"));
    }
}
