//! Accuracies over the values of a setting: every point, and the best at each value.

use egui::{Role, Ui, WidgetInfo};
use egui_plot::{HoverPosition, Line, MarkerShape, PlotPoints, Points, uniform_grid_spacer};

use super::accuracy_plot::legend_line;
use super::still_plot::StillPlot;
use crate::export::{Chart, Series, Stroke};
use crate::ui::figures::percent;
use crate::ui::palette::class_color;
use crate::ui::theme;

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
        let tones = theme::tones(ui);
        let before = ui.cursor().top();
        ui.horizontal_wrapped(|ui| {
            for (place, series) in self.chart.series.iter().enumerate() {
                let is_dotted = series.stroke != Stroke::Solid;
                legend_line(ui, class_color(place), 2.0, is_dotted);
                ui.label(egui::RichText::new(&series.name).small().color(tones.weak));
                ui.add_space(theme::GRID);
            }
        });
        let ends = (self.chart.ticks.first(), self.chart.ticks.last());
        let (first, last) = (ends.0.map_or(0.0, |t| t.0), ends.1.map_or(1.0, |t| t.0));
        let margin = ((last - first) * 0.06).max(0.05);
        let values = self.chart.series.iter().flat_map(|series| &series.points);
        let (mut low, mut high) = (1.0_f64, 0.0_f64);
        for point in values {
            (low, high) = (low.min(point[1]), high.max(point[1]));
        }
        let room = ((high - low) * 0.1).max(0.005);
        let still = StillPlot {
            name: &self.chart.title,
            height: self.height - (ui.cursor().top() - before),
            x: (first - margin, last + margin),
            y: (low - room, high + room),
            x_label: &self.chart.x_label,
            x_format: |_| String::new(),
        };
        let ticks = self.chart.ticks.clone();
        let step = ticks.get(1).map_or(1.0, |tick| tick.0 - first).max(1e-9);
        let named = ticks.clone();
        let plot = still
            .plot_named(ui, move |value| {
                let near = named
                    .iter()
                    .find(|tick| (tick.0 - value).abs() < 0.01 * step);
                near.map_or(String::new(), |tick| tick.1.clone())
            })
            .x_grid_spacer(uniform_grid_spacer(move |_| [step, step, step]))
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
                let points = || PlotPoints::from(series.points.clone());
                if series.stroke == Stroke::Solid {
                    plot.line(Line::new(&series.name, points()).color(color).width(2.0));
                }
                plot.points(
                    Points::new(&series.name, points())
                        .color(color)
                        .radius(3.0)
                        .shape(MarkerShape::Circle),
                );
            }
        });
        let enabled = ui.is_enabled();
        shown.response.widget_info(|| {
            let best = self.chart.series.last().map_or(String::new(), in_words);
            let text = format!("{}: {best}", self.chart.title);
            WidgetInfo::labeled(Role::Figure, enabled, text)
        });
    }
}

/// "89.5 % to 95.3 %".
fn in_words(series: &Series) -> String {
    let heights = || series.points.iter().map(|point| point[1]);
    let (low, high) = (heights().fold(1.0, f64::min), heights().fold(0.0, f64::max));
    match series.points.is_empty() {
        true => "no point yet".into(),
        false => format!("{} to {}", percent(low), percent(high)),
    }
}
