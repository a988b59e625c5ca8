//! Accuracies of several runs against mini-batches: means as lines, their spread as bands.

use egui::{Role, Ui, WidgetInfo};
use egui_plot::{FilledArea, HoverPosition, Line, PlotPoints};

use super::accuracy_plot::legend_line;
use super::still_plot::StillPlot;
use crate::ui::numbers::percent;
use crate::ui::palette::class_color;
use crate::ui::theme;

/// The curve of one run; its place gives its colour. A single point is drawn as a level.
pub struct BandCurve<'a> {
    /// Its name.
    pub name: &'a str,
    /// Mini-batches, mean and standard deviation (0 to 1).
    pub points: Vec<[f64; 3]>,
}

/// Curves of several runs.
pub struct CurvesPlot<'a> {
    /// The curves.
    pub curves: &'a [BandCurve<'a>],
    /// Height with legend and axis.
    pub height: f32,
}

impl CurvesPlot<'_> {
    /// Draws the curves.
    pub fn show(&self, ui: &mut Ui) {
        let tones = theme::tones(ui);
        let before = ui.cursor().top();
        ui.horizontal_wrapped(|ui| {
            for (place, curve) in self.curves.iter().enumerate() {
                legend_line(ui, class_color(place), 2.0, false);
                ui.label(egui::RichText::new(curve.name).small().color(tones.weak));
                ui.add_space(theme::GRID);
            }
        });
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let joined = self.curves.iter().filter(|curve| curve.points.len() > 1);
        let last = joined.flat_map(|curve| &curve.points).map(|point| point[0]);
        let last = last.fold(1.0, f64::max);
        let lowest = points()
            .map(|point| point[1] - point[2])
            .fold(1.0, f64::min);
        let still = StillPlot {
            name: "compared accuracies",
            height: self.height - (ui.cursor().top() - before),
            x: (0.0, last * 1.01),
            y: (((lowest * 10.0).floor() / 10.0).clamp(0.0, 0.95), 1.01),
            x_label: "mini-batches (a batch learner is a level)",
            x_format: |batch| format!("{batch:.0}"),
        };
        let plot = still.plot(ui).label_formatter(|place| match place {
            HoverPosition::NearDataPoint {
                plot_name,
                position,
                ..
            } => Some(format!(
                "{plot_name}: {} after {:.0}",
                percent(position.y),
                position.x
            )),
            HoverPosition::Elsewhere { .. } => None,
        });
        let shown = plot.show(ui, |plot| {
            for (place, curve) in self.curves.iter().enumerate() {
                let color = class_color(place);
                let column = |pick: fn(&[f64; 3]) -> f64| -> Vec<f64> {
                    curve.points.iter().map(pick).collect()
                };
                if curve.points.len() > 1 {
                    let low = column(|point| point[1] - point[2]);
                    let high = column(|point| (point[1] + point[2]).min(1.0));
                    let band = FilledArea::new("spread", &column(|point| point[0]), &low, &high);
                    plot.add(band.fill_color(color.gamma_multiply(0.12)));
                }
                let means: Vec<[f64; 2]> = match &curve.points[..] {
                    [[_, level, _]] => vec![[0.0, *level], [last, *level]],
                    points => points.iter().map(|p| [p[0], p[1]]).collect(),
                };
                plot.line(
                    Line::new(curve.name, PlotPoints::from(means))
                        .color(color)
                        .width(2.0),
                );
            }
        });
        let enabled = ui.is_enabled();
        shown.response.widget_info(|| {
            let last = |curve: &BandCurve<'_>| {
                let last = curve
                    .points
                    .last()
                    .map_or("–".into(), |point| percent(point[1]));
                format!("{} {last}", curve.name)
            };
            let all: Vec<String> = self.curves.iter().map(last).collect();
            let text = format!("Accuracy of the compared runs: {}", all.join(", "));
            WidgetInfo::labeled(Role::Figure, enabled, text)
        });
    }
}
