//! Accuracy against the share of features that are missing.

use egui::{Role, Ui, WidgetInfo};
use egui_plot::{HoverPosition, Line, MarkerShape, PlotPoints, Points};

use super::accuracy_plot::{Curve, legend_line};
use super::still_plot::StillPlot;
use crate::ui::numbers::percent;
use crate::ui::palette::class_color;
use crate::ui::theme;

/// One curve per method or run: share of missing features and accuracy, both 0 to 1.
pub struct MissingCurve<'a> {
    /// The curves.
    pub curves: &'a [Curve<'a>],
    /// Height with legend and axes.
    pub height: f32,
}

impl MissingCurve<'_> {
    /// The largest share of missing features.
    fn widest(&self) -> f64 {
        let points = self.curves.iter().flat_map(|curve| curve.points);
        points.map(|point| point[0]).fold(0.1, f64::max)
    }

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
        let height = self.height - (ui.cursor().top() - before);
        let accuracies = self.curves.iter().flat_map(|curve| curve.points);
        let lowest = accuracies.map(|point| point[1]).fold(1.0, f64::min);
        let floor = (lowest * 10.0).floor() / 10.0;
        let still = StillPlot {
            name: "missing features",
            height,
            x: (-0.02, self.widest() + 0.02),
            y: (floor.max(0.0), 1.02),
            x_label: "features missing",
            x_format: percent,
        };
        let plot = still.plot(ui).label_formatter(|place| match place {
            HoverPosition::NearDataPoint {
                plot_name,
                position,
                ..
            } => Some(format!(
                "{plot_name}: {} with {} missing",
                percent(position.y),
                percent(position.x)
            )),
            HoverPosition::Elsewhere { .. } => None,
        });
        let shown = plot.show(ui, |plot| {
            for (place, curve) in self.curves.iter().enumerate() {
                let color = class_color(place);
                let points = || PlotPoints::from(curve.points.to_vec());
                plot.line(Line::new(curve.name, points()).color(color).width(2.0));
                plot.points(
                    Points::new(curve.name, points())
                        .color(color)
                        .radius(3.0)
                        .shape(MarkerShape::Circle),
                );
            }
        });
        let enabled = ui.is_enabled();
        shown.response.widget_info(|| {
            let names: Vec<&str> = self.curves.iter().map(|curve| curve.name).collect();
            let text = format!("Accuracy against missing features: {}", names.join(", "));
            WidgetInfo::labeled(Role::Figure, enabled, text)
        });
    }
}
