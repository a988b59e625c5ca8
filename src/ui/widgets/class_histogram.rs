//! How one feature is distributed in each class.

use egui::{Pos2, Sense, Shape, Stroke, Ui, pos2, vec2};

use super::axes::Axes;
use super::chart_table::{ChartTable, extent, tell_figure};
use crate::ui::icons::named_dot;
use crate::ui::numbers::{percent, short, tick};
use crate::ui::palette::class_color;
use crate::ui::theme;

/// One feature, class by class.
pub struct ClassHistogram<'a> {
    /// The feature.
    pub feature_name: &'a str,
    /// Names of the classes.
    pub class_names: &'a [String],
    /// The values of each class.
    pub values: &'a [Vec<f64>],
    /// Height with legend and axis.
    pub height: f32,
}

impl ClassHistogram<'_> {
    /// Draws an outline per class: the share of its samples in each bin.
    pub fn show(&self, ui: &mut Ui) {
        let before = ui.cursor().top();
        self.legend_ui(ui);
        let height = (self.height - (ui.cursor().top() - before)).max(60.0);
        let size = vec2(ui.available_width(), height);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let says = format!("Distribution of {} by class", self.feature_name);
        let Some(range) = usual_range(self.values) else {
            tell_figure(ui, &response, &says);
            return;
        };
        let n_bins = ((rect.width() / 12.0) as usize).clamp(8, 60);
        let shares: Vec<Vec<f64>> = self
            .values
            .iter()
            .map(|values| bin_shares(values, range, n_bins))
            .collect();
        let most = shares
            .iter()
            .flatten()
            .copied()
            .fold(0.0, f64::max)
            .max(1e-9);
        let names: Vec<&str> = self.class_names.iter().map(String::as_str).collect();
        let edge = |bin: usize| range.0 + (range.1 - range.0) * bin as f64 / n_bins as f64;
        ChartTable {
            n_places: n_bins,
            place: &|bin| format!("{} to {}", short(edge(bin)), short(edge(bin + 1))),
            series: &names,
            cell: &|class, bins| extent(shares.get(class)?[bins].iter().copied(), percent),
        }
        .tell(ui, &response, &says);
        let axes = Axes::within(ui, rect, range, (0.0, most * 1.05));
        axes.paint_y(ui, |value, _| percent(value));
        axes.paint_x(ui, tick);
        for (class, shares) in shares.iter().enumerate() {
            paint_outline(ui, &axes, shares, class);
        }
    }

    fn legend_ui(&self, ui: &mut Ui) {
        let tones = theme::tones(ui);
        ui.horizontal_wrapped(|ui| {
            for (class, name) in self.class_names.iter().enumerate() {
                let name = egui::RichText::new(name).small().color(tones.weak);
                named_dot(ui, class_color(class), name);
                ui.add_space(theme::GRID / 2.0);
            }
        });
    }
}

fn paint_outline(ui: &Ui, axes: &Axes, shares: &[f64], class: usize) {
    let color = class_color(class);
    let n_bins = shares.len() as f64;
    let edge = |bin: usize| axes.x.0 + (axes.x.1 - axes.x.0) * bin as f64 / n_bins;
    let mut points: Vec<Pos2> = Vec::with_capacity(2 * shares.len() + 2);
    points.push(axes.at(edge(0), 0.0));
    for (bin, &share) in shares.iter().enumerate() {
        points.push(axes.at(edge(bin), share));
        points.push(axes.at(edge(bin + 1), share));
        let base = axes.screen_y(0.0);
        let bar = egui::Rect::from_min_max(
            axes.at(edge(bin), share),
            pos2(axes.screen_x(edge(bin + 1)), base),
        );
        ui.painter()
            .rect_filled(bar, 0.0, color.gamma_multiply(0.10));
    }
    points.push(axes.at(edge(shares.len()), 0.0));
    ui.painter()
        .add(Shape::line(points, Stroke::new(1.5, color)));
}

/// From the half percent below to the half percent above, over all classes: outliers would
/// squeeze everything else together.
fn usual_range(classes: &[Vec<f64>]) -> Option<(f64, f64)> {
    let mut values: Vec<f64> = classes
        .iter()
        .flatten()
        .copied()
        .filter(|value| value.is_finite())
        .collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let aside = last / 200;
    let (low, high) = (values[aside], values[last - aside]);
    if high > low {
        Some((low, high))
    } else {
        Some((low - 0.5, low + 0.5))
    }
}

/// Share of the values in each bin; what lies outside counts to the outer bins.
fn bin_shares(values: &[f64], (low, high): (f64, f64), n_bins: usize) -> Vec<f64> {
    let mut shares = vec![0.0; n_bins];
    let n_finite = values.iter().filter(|value| value.is_finite()).count();
    for value in values.iter().filter(|value| value.is_finite()) {
        let bin = ((value - low) / (high - low) * n_bins as f64).max(0.0) as usize;
        shares[bin.min(n_bins - 1)] += 1.0 / n_finite as f64;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_do_not_set_the_range_and_every_value_counts() {
        let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
        values[0] = -1e9;
        let range = usual_range(&[values.clone()]).expect("values");
        assert!(range.0 >= 0.0 && range.1 <= 1000.0);
        let shares = bin_shares(&values, range, 10);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert_eq!(usual_range(&[vec![f64::NAN]]), None);
        assert_eq!(usual_range(&[vec![2.0; 5]]), Some((1.5, 2.5)));
    }
}
