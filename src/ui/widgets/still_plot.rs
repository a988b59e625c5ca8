//! A plot that stands still: no zoom, no drag, small quiet axes.

use egui::{Rangef, Ui, Vec2b};
use egui_plot::{AxisHints, Plot};

use crate::ui::numbers::percent;
use crate::ui::theme;

/// Labels along x that stand nearer than this, in sizes of small text, are omitted. There is nothing between: a
/// label in half tone cannot be read.
const LABEL_SPACING: f32 = 4.0;
/// The same for labels above each other.
const LINE_SPACING: f32 = 1.8;
/// Horizontal lines nearer than the first are omitted, farther apart than the second in full tone.
const GRID_SPACING: Rangef = Rangef {
    min: 14.0,
    max: 28.0,
};

/// What a still plot shows.
pub(super) struct StillPlot<'a> {
    pub(super) name: &'a str,
    pub(super) height: f32,
    pub(super) x: (f64, f64),
    pub(super) y: (f64, f64),
    pub(super) x_label: &'a str,
    pub(super) x_format: fn(f64) -> String,
}

impl StillPlot<'_> {
    /// The plot with shares (percent) along y.
    pub(super) fn plot<'b>(&self, ui: &Ui) -> Plot<'b> {
        self.plot_named(ui, self.x_format)
    }

    /// The same with names along x that `x_format` alone does not know.
    pub(super) fn plot_named<'b>(
        &self,
        ui: &Ui,
        x_format: impl Fn(f64) -> String + 'b,
    ) -> Plot<'b> {
        let tones = theme::tones(ui);
        let font = theme::small_font(ui);
        let x_axis = AxisHints::new_x()
            .label(egui::RichText::new(self.x_label).small().color(tones.weak))
            .formatter(move |mark, _| x_format(mark.value))
            .label_spacing(at_least(font.size * LABEL_SPACING))
            .tick_label_color(tones.weak)
            .tick_label_font(font.clone());
        let y_axis = AxisHints::new_y()
            .formatter(|mark, _| percent(mark.value))
            .min_thickness(font.size * 4.0)
            .label_spacing(at_least(font.size * LINE_SPACING))
            .tick_label_color(tones.weak)
            .tick_label_font(font);
        Plot::new(self.name)
            .height(self.height.max(80.0))
            .show_background(false)
            .allow_zoom(false)
            .allow_drag(false)
            .allow_scroll(false)
            .allow_boxed_zoom(false)
            .allow_axis_zoom_drag(false)
            .allow_double_click_reset(false)
            .auto_bounds(Vec2b::FALSE)
            .default_x_bounds(self.x.0, self.x.1)
            .default_y_bounds(self.y.0, self.y.1)
            .reset()
            .grid_color(tones.hairline)
            .grid_spacing(GRID_SPACING)
            .show_grid([false, true])
            .show_crosshair(false)
            .custom_x_axes(vec![x_axis])
            .custom_y_axes(vec![y_axis])
    }
}

/// Nothing below a distance, all from there on.
fn at_least(distance: f32) -> Rangef {
    Rangef::new(distance, distance + 0.01)
}
