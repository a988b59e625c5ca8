//! Accuracies as curves in one figure: means, their spread, results from elsewhere beside them.

use super::figure::{Anchor, Figure, Ink, Shape};
use super::matrix::label;
use crate::experiment::CurvePoint;

const SIZE: [f32; 2] = [720.0, 440.0];
/// Left, top, right and bottom edge of the plot.
const FRAME: [f32; 4] = [70.0, 48.0, 700.0, 390.0];
const GRID: Ink = [222, 226, 230];
const WEAK: Ink = [108, 117, 125];
const TEXT: Ink = [33, 37, 41];
/// Curves up to which their spread is drawn.
const MOST_BANDS: usize = 6;
/// Height of a line of the legend.
const LEGEND_LINE: f32 = 20.0;
/// Width of an entry of the legend; two stand side by side.
const LEGEND_ENTRY: f32 = 315.0;
/// Lengths of a dash and of the gap after it.
const DASH: [f32; 2] = [7.0, 5.0];

/// Size of a dot.
const DOT: f32 = 5.0;

/// Okabe and Ito's colours, dark ones first; distinguishable also by those who see few colours.
const INKS: [Ink; 8] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [86, 180, 233],
    [230, 159, 0],
    [0, 0, 0],
    [148, 103, 189],
];

/// The colour of a curve by its place; beyond eight the hues return darker, then lighter.
pub fn series_ink(place: usize) -> Ink {
    let ink = INKS[place % INKS.len()];
    match place / INKS.len() % 3 {
        0 => ink,
        1 => ink.map(|channel| (f64::from(channel) * 0.58) as u8),
        _ => ink.map(|channel| 255 - ((255 - channel) / 2)),
    }
}

/// One curve; a single point is drawn as a level over the whole width.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Places and accuracies (0 to 1).
    pub points: Vec<[f64; 2]>,
    /// Standard deviation at each point, drawn as a band.
    pub spread: Vec<f64>,
    /// Its colour.
    pub ink: Ink,
    /// How it is drawn.
    pub stroke: Stroke,
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// As a line.
    Solid,
    /// As a broken line, for results from elsewhere.
    Dashed,
    /// Point by point, where no order joins them.
    Dots,
}

/// Curves over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What lies along the axis.
    pub x_label: String,
    /// Marks along the axis, which reaches from the first to the last.
    pub ticks: Vec<(f64, String)>,
    /// The curves, the last on top.
    pub series: Vec<Series>,
}

impl Chart {
    /// Curves from the first to the last mini-batch.
    pub fn over_batches(title: &str, x_label: &str, series: Vec<Series>) -> Self {
        let last = last_place(&series);
        let marks = (0..=4).map(|step| (last * f64::from(step) / 4.0).round());
        Self {
            title: title.into(),
            x_label: x_label.into(),
            ticks: marks.map(|at| (at, at.to_string())).collect(),
            series,
        }
    }

    /// Curves over shares from 0 to 100 %.
    pub fn over_shares(title: &str, x_label: &str, series: Vec<Series>) -> Self {
        let marks = (0..=5).map(|step| f64::from(step) / 5.0);
        Self {
            title: title.into(),
            x_label: x_label.into(),
            ticks: marks
                .map(|at| (at, format!("{:.0} %", 100.0 * at)))
                .collect(),
            series,
        }
    }

    /// Whether the spread of curves is drawn: many bands would hide each other.
    pub fn shows_spread(&self) -> bool {
        self.series.len() <= MOST_BANDS
    }

    /// The chart as a figure, the legend below it.
    pub fn figure(&self) -> Figure {
        let scale = Scale::of(self);
        let mut shapes = vec![label([16.0, 24.0], Anchor::Start, self.title.clone(), TEXT)];
        if self.shows_spread() {
            for series in &self.series {
                series.draw_spread(&mut shapes, &scale);
            }
        }
        self.draw_axes(&mut shapes, &scale);
        for series in &self.series {
            series.draw_line(&mut shapes, &scale);
        }
        let n_lines = self.draw_legend(&mut shapes);
        let [width, height] = SIZE;
        Figure {
            size: [width, height + LEGEND_LINE * n_lines as f32],
            shapes,
        }
    }

    fn draw_axes(&self, shapes: &mut Vec<Shape>, scale: &Scale) {
        let [left, _, right, floor] = FRAME;
        for step in 0..=5 {
            let share = scale.bottom + (1.0 - scale.bottom) * f64::from(step) / 5.0;
            let height = scale.y(share);
            shapes.push(line(vec![[left, height], [right, height]], 0.5, GRID));
            let text = format!("{:.0} %", 100.0 * share);
            shapes.push(label([left - 8.0, height + 4.0], Anchor::End, text, WEAK));
        }
        for (at, text) in &self.ticks {
            let place = [scale.x(*at), floor + 20.0];
            shapes.push(label(place, Anchor::Middle, text.clone(), WEAK));
        }
        let middle = [(left + right) / 2.0, floor + 40.0];
        let text = self.x_label.clone();
        shapes.push(label(middle, Anchor::Middle, text, WEAK));
    }

    /// Names with a piece of their line; how many lines it takes. One curve needs no legend.
    fn draw_legend(&self, shapes: &mut Vec<Shape>) -> usize {
        if self.series.len() < 2 {
            return 0;
        }
        for (number, series) in self.series.iter().enumerate() {
            let x = FRAME[0] + LEGEND_ENTRY * (number % 2) as f32;
            let y = SIZE[1] + LEGEND_LINE * (0.5 + (number / 2) as f32);
            series.draw(shapes, vec![[x, y - 4.0], [x + 26.0, y - 4.0]]);
            let text = series.name.clone();
            shapes.push(label([x + 34.0, y], Anchor::Start, text, TEXT));
        }
        self.series.len().div_ceil(2) + 1
    }
}

/// The last place of all curves that have more than one point.
fn last_place(series: &[Series]) -> f64 {
    let joined = series.iter().filter(|series| series.points.len() > 1);
    let last = joined
        .flat_map(|series| &series.points)
        .map(|point| point[0]);
    last.fold(1.0, f64::max)
}

/// Where values lie in the figure.
struct Scale {
    bottom: f64,
    first: f64,
    last: f64,
}

impl Scale {
    fn of(chart: &Chart) -> Self {
        let mut lowest: f64 = 1.0;
        for series in &chart.series {
            for (number, [_, value]) in series.points.iter().enumerate() {
                let sd = series.spread.get(number).copied().unwrap_or(0.0);
                lowest = lowest.min(value - sd);
            }
        }
        let first = chart.ticks.first().map_or(0.0, |tick| tick.0);
        let last = chart.ticks.last().map_or(1.0, |tick| tick.0);
        Self {
            bottom: ((lowest * 10.0).floor() / 10.0).clamp(0.0, 0.9),
            first,
            last: if last > first { last } else { first + 1.0 },
        }
    }

    fn x(&self, at: f64) -> f32 {
        let [left, _, right, _] = FRAME;
        left + (right - left) * ((at - self.first) / (self.last - self.first)) as f32
    }

    fn y(&self, share: f64) -> f32 {
        let [_, top, _, floor] = FRAME;
        floor - (floor - top) * ((share - self.bottom) / (1.0 - self.bottom)) as f32
    }
}

impl Series {
    /// A curve of means with its spread, in the colour of its place.
    pub fn of_curve(name: &str, curve: &[CurvePoint], place: usize) -> Self {
        Self {
            name: name.to_owned(),
            points: curve.iter().map(|point| [point.at, point.mean]).collect(),
            spread: curve.iter().filter_map(|point| point.sd).collect(),
            ink: series_ink(place),
            stroke: Stroke::Solid,
        }
    }

    fn draw_line(&self, shapes: &mut Vec<Shape>, scale: &Scale) {
        let points = match &self.points[..] {
            [[_, value]] if self.stroke != Stroke::Dots => {
                vec![[scale.first, *value], [scale.last, *value]]
            }
            points => points.to_vec(),
        };
        let places = points
            .iter()
            .map(|[at, value]| [scale.x(*at), scale.y(*value)]);
        self.draw(shapes, places.collect());
    }

    fn draw(&self, shapes: &mut Vec<Shape>, places: Vec<[f32; 2]>) {
        match self.stroke {
            Stroke::Solid => shapes.push(line(places, 2.0, self.ink)),
            Stroke::Dashed => {
                let pieces = dashes(&places).into_iter();
                shapes.extend(pieces.map(|piece| line(piece, 1.5, self.ink)));
            }
            Stroke::Dots => shapes.extend(places.iter().map(|[x, y]| Shape::Block {
                corner: [x - DOT / 2.0, y - DOT / 2.0],
                size: [DOT, DOT],
                ink: self.ink,
            })),
        }
    }

    /// The band in slices from point to point, so that every viewer can draw it.
    fn draw_spread(&self, shapes: &mut Vec<Shape>, scale: &Scale) {
        const SLICES: usize = 24;
        let ink = self.ink.map(|channel| 255 - (255 - channel) / 6);
        for (pair, sd) in self.points.windows(2).zip(self.spread.windows(2)) {
            let width = (scale.x(pair[1][0]) - scale.x(pair[0][0])) / SLICES as f32;
            for slice in 0..SLICES {
                let share = (slice as f64 + 0.5) / SLICES as f64;
                let between = |ends: [f64; 2]| ends[0] + (ends[1] - ends[0]) * share;
                let mean = between([pair[0][1], pair[1][1]]);
                let sd = between([sd[0], sd[1]]);
                let upper = scale.y((mean + sd).min(1.0));
                shapes.push(Shape::Block {
                    corner: [scale.x(pair[0][0]) + width * slice as f32, upper],
                    size: [width + 0.3, scale.y(mean - sd) - upper],
                    ink,
                });
            }
        }
    }
}

/// The pieces of a line that are drawn when it is dashed.
fn dashes(places: &[[f32; 2]]) -> Vec<Vec<[f32; 2]>> {
    let mut pieces = Vec::new();
    // How much of the present dash or gap is left, and which of the two it is.
    let (mut left, mut is_dash) = (DASH[0], true);
    for pair in places.windows(2) {
        let step = [pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]];
        let length = step[0].hypot(step[1]);
        let at = |done: f32| {
            let share = done / length.max(f32::MIN_POSITIVE);
            [pair[0][0] + step[0] * share, pair[0][1] + step[1] * share]
        };
        let mut done = 0.0;
        while done < length {
            let end = (done + left).min(length);
            if is_dash {
                pieces.push(vec![at(done), at(end)]);
            }
            left -= end - done;
            done = end;
            if left <= 1e-4 {
                is_dash = !is_dash;
                left = DASH[usize::from(!is_dash)];
            }
        }
    }
    pieces
}

fn line(points: Vec<[f32; 2]>, width: f32, ink: Ink) -> Shape {
    Shape::Line { points, width, ink }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_leave_gaps_and_go_on_round_corners() {
        let pieces = dashes(&[[0.0, 0.0], [10.0, 0.0], [10.0, 8.0]]);
        // Dash 0–7, gap to 12 (2 after the corner), dash from there to the end.
        assert_eq!(pieces[0], [[0.0, 0.0], [7.0, 0.0]]);
        assert_eq!(pieces[1], [[10.0, 2.0], [10.0, 8.0]]);
        assert_eq!(pieces.len(), 2);
        assert!(dashes(&[[1.0, 1.0]]).is_empty());
    }

    #[test]
    fn a_single_point_is_a_level_and_sets_no_end_of_the_axis() {
        let series = |points| Series {
            name: "a".into(),
            points,
            spread: Vec::new(),
            ink: series_ink(0),
            stroke: Stroke::Solid,
        };
        let series = vec![
            series(vec![[0.0, 0.5], [60.0, 0.9]]),
            series(vec![[500.0, 0.97]]),
        ];
        assert_eq!(last_place(&series), 60.0);
        let chart = Chart::over_batches("t", "x", series);
        let figure = chart.figure();
        let is_level = |shape: &Shape| {
            matches!(shape, Shape::Line { points, width: 2.0, .. }
                if points.len() == 2 && points[0][1] == points[1][1] && points[1][0] == FRAME[2])
        };
        assert!(figure.shapes.iter().any(is_level));
    }
}
