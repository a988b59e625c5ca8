//! A chart of accuracies: over mini-batches, missing features or the values of a setting.

use egui::{Response, Ui};
use egui_plot::{FilledArea, GridMark, HoverPosition, Line, MarkerShape, PlotPoints, Points};

use super::accuracy_plot::legend_line;
use super::chart_table::CurveTable;
use super::still_plot::StillPlot;
use crate::ui::elements::help;
use crate::ui::numbers::{percent, short};
use crate::ui::palette::class_color;
use crate::ui::theme;
use atomscope_engine::export::{Chart, Series, Stroke};

/// Marks along the axis; of more only every second, third and so on is named.
const MOST_MARKS: usize = 16;
/// Points of a line up to which each has a dot.
const MOST_DOTS: usize = 24;

/// A chart whose marks along the axis have names.
pub struct ChartPlot<'a> {
    /// The chart.
    pub chart: &'a Chart,
    /// Height with legend and axis.
    pub height: f32,
}

impl ChartPlot<'_> {
    /// Draws the chart.
    pub fn show(&self, ui: &mut Ui) {
        let Some((x, y)) = bounds(self.chart) else {
            help(ui, "There is no result to draw yet");
            return;
        };
        let before = ui.cursor().top();
        self.legend_ui(ui);
        let still = StillPlot {
            name: &self.chart.title,
            height: self.height - (ui.cursor().top() - before),
            x,
            y,
            x_label: &self.chart.x_label,
            x_format: |_| String::new(),
        };
        let named = named_marks(self.chart);
        let marks: Vec<GridMark> = named.iter().map(|(mark, _)| *mark).collect();
        let plot = still
            .plot_named(ui, move |value| {
                let is_near = |mark: &GridMark| (mark.value - value).abs() < 0.01 * mark.step_size;
                let near = named.iter().find(|(mark, _)| is_near(mark));
                near.map_or(String::new(), |(_, name)| name.clone())
            })
            .x_grid_spacer(move |_| marks.clone())
            .label_formatter(move |place| match place {
                HoverPosition::NearDataPoint {
                    plot_name,
                    position,
                    ..
                } => Some(format!("{plot_name}: {}", percent(position.y))),
                HoverPosition::Elsewhere { .. } => None,
            });
        let shown = plot.show(ui, |plot| {
            for (place, series) in self.chart.series.iter().enumerate() {
                let color = class_color(place);
                if let ([[_, level]], Stroke::Solid) = (&series.points[..], series.stroke) {
                    let line = PlotPoints::from(vec![[x.0, *level], [x.1, *level]]);
                    plot.line(Line::new(&series.name, line).color(color).width(2.0));
                    continue;
                }
                if self.chart.shows_spread()
                    && let Some((along, low, high)) = band(series)
                {
                    let band = FilledArea::new("spread", &along, &low, &high);
                    plot.add(band.fill_color(color.gamma_multiply(0.12)));
                }
                let points = || PlotPoints::from(series.points.clone());
                if series.stroke == Stroke::Solid {
                    plot.line(Line::new(&series.name, points()).color(color).width(2.0));
                }
                if series.points.len() > MOST_DOTS {
                    continue;
                }
                plot.points(
                    Points::new(&series.name, points())
                        .color(color)
                        .radius(3.0)
                        .shape(MarkerShape::Circle),
                );
            }
        });
        self.tell(ui, &shown.response);
    }

    fn tell(&self, ui: &Ui, figure: &Response) {
        let all: Vec<String> = self.chart.series.iter().map(in_words).collect();
        let says = format!("{}: {}", self.chart.title, all.join(", "));
        let curves = self.chart.series.iter();
        let curves: Vec<_> = curves
            .map(|series| (series.name.as_str(), series.points.as_slice()))
            .collect();
        let tick = |place: f64| {
            let ticks = &mut self.chart.ticks.iter();
            let named = ticks.find(|(at, _)| (at - place).abs() < 1e-9);
            named.map_or_else(|| short(place), |(_, name)| name.clone())
        };
        CurveTable {
            curves: &curves,
            place: &|place| format!("{} {}", self.chart.x_label, tick(place)),
            value: &percent,
        }
        .tell(ui, figure, &says);
    }

    fn legend_ui(&self, ui: &mut Ui) {
        let tones = theme::tones(ui);
        ui.horizontal_wrapped(|ui| {
            for (place, series) in self.chart.series.iter().enumerate() {
                let is_dotted = series.stroke != Stroke::Solid;
                legend_line(ui, class_color(place), 2.0, is_dotted);
                ui.label(egui::RichText::new(&series.name).small().color(tones.weak));
                ui.add_space(theme::GRID);
            }
        });
    }
}

/// What is seen along x and y, with room around the points; nothing where none can be drawn.
fn bounds(chart: &Chart) -> Option<((f64, f64), (f64, f64))> {
    let points = chart.series.iter().flat_map(|series| &series.points);
    let (low, high) = extent(points.map(|point| point[1]))?;
    let bands = || chart.series.iter().filter_map(band);
    let low = bands().flat_map(|band| band.1).fold(low, f64::min);
    let high = bands().flat_map(|band| band.2).fold(high, f64::max);
    let (first, last) = extent(chart.ticks.iter().map(|tick| tick.0))?;
    let margin = if last > first {
        (last - first) * 0.06
    } else {
        0.5
    };
    let room = ((high - low) * 0.1).max(0.005);
    let is_sound = margin.is_finite() && room.is_finite();
    is_sound.then_some(((first - margin, last + margin), (low - room, high + room)))
}

/// The lowest and the highest of those that are finite.
fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.filter(|value| value.is_finite());
    finite.fold(None, |known, value| match known {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    })
}

/// The marks that get a name, at the places where the chart has them.
fn named_marks(chart: &Chart) -> Vec<(GridMark, String)> {
    let every = chart.ticks.len().div_ceil(MOST_MARKS).max(1);
    let gap = match &chart.ticks[..] {
        [first, second, ..] if second.0 > first.0 => second.0 - first.0,
        _ => 1.0,
    };
    let step_size = gap * every as f64;
    let ticks = chart.ticks.iter().step_by(every);
    ticks
        .map(|(value, name)| {
            let value = *value;
            (GridMark { value, step_size }, name.clone())
        })
        .collect()
}

/// "margin-aware 89.5 % to 95.3 %".
fn in_words(series: &Series) -> String {
    let range = match extent(series.points.iter().map(|point| point[1])) {
        None => "no point yet".into(),
        Some((low, high)) => format!("{} to {}", percent(low), percent(high)),
    };
    format!("{} {range}", series.name)
}

/// Places, lower and upper edge of the spread around a curve.
fn band(series: &Series) -> Option<(Vec<f64>, Vec<f64>, Vec<f64>)> {
    if series.points.len() < 2 || series.spread.len() != series.points.len() {
        return None;
    }
    let both = || series.points.iter().zip(&series.spread);
    Some((
        series.points.iter().map(|point| point[0]).collect(),
        both().map(|(point, sd)| (point[1] - sd).max(0.0)).collect(),
        both().map(|(point, sd)| (point[1] + sd).min(1.0)).collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(ticks: &[f64], heights: &[f64]) -> Chart {
        let points = heights.iter().map(|height| [0.0, *height]);
        Chart {
            title: String::new(),
            x_label: String::new(),
            ticks: ticks.iter().map(|at| (*at, at.to_string())).collect(),
            series: vec![Series {
                name: String::new(),
                points: points.collect(),
                spread: Vec::new(),
                ink: [0; 3],
                stroke: Stroke::Dots,
            }],
        }
    }

    #[test]
    fn marks_lie_where_the_chart_has_them_and_are_not_too_many() {
        let marks = named_marks(&chart(&[5.0, 13.75, 22.5], &[]));
        let places: Vec<f64> = marks.iter().map(|(mark, _)| mark.value).collect();
        assert_eq!(places, [5.0, 13.75, 22.5]);
        let many: Vec<f64> = (0..1000).map(f64::from).collect();
        assert!(named_marks(&chart(&many, &[])).len() <= MOST_MARKS);
    }

    #[test]
    fn without_a_result_nothing_is_drawn_and_infinity_sets_no_bound() {
        assert_eq!(bounds(&chart(&[0.0, 1.0], &[])), None);
        assert_eq!(bounds(&chart(&[0.0, 1.0], &[f64::INFINITY])), None);
        let found = bounds(&chart(&[0.0, 1.0], &[0.5, f64::INFINITY, 0.9]));
        let (_, (low, high)) = found.expect("two can be drawn");
        assert!(low > 0.4 && high < 1.0);
    }
}
