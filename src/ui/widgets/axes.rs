//! Plain axes for small plots: hairline grid, round ticks, values to pixels and back.

use egui::{Align2, Pos2, Rect, Stroke, Ui, pos2};

use crate::ui::{numbers, theme};

/// A plot area and the values at its edges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes {
    /// Where values are drawn.
    pub(super) rect: Rect,
    /// The values at the left and the right edge.
    pub(super) x: (f64, f64),
    /// The values at the lower and the upper edge.
    pub(super) y: (f64, f64),
}

impl Axes {
    /// Leaves room for tick labels on the left of and below the plot area.
    pub(super) fn within(ui: &Ui, outer: Rect, x: (f64, f64), y: (f64, f64)) -> Self {
        let line = theme::small_font(ui).size;
        let rect = Rect::from_min_max(
            pos2(outer.left() + line * 3.4, outer.top() + line * 0.5),
            pos2(outer.right() - line * 0.5, outer.bottom() - line * 1.6),
        );
        Self { rect, x, y }
    }

    pub(super) fn screen_x(&self, x: f64) -> f32 {
        let share = (x - self.x.0) / (self.x.1 - self.x.0);
        self.rect.left() + share.clamp(-1e3, 1e3) as f32 * self.rect.width()
    }

    pub(super) fn screen_y(&self, y: f64) -> f32 {
        let share = (y - self.y.0) / (self.y.1 - self.y.0);
        self.rect.bottom() - share.clamp(-1e3, 1e3) as f32 * self.rect.height()
    }

    pub(super) fn at(&self, x: f64, y: f64) -> Pos2 {
        pos2(self.screen_x(x), self.screen_y(y))
    }

    pub(super) fn x_at(&self, screen_x: f32) -> f64 {
        let share = f64::from((screen_x - self.rect.left()) / self.rect.width());
        self.x.0 + share * (self.x.1 - self.x.0)
    }

    pub(super) fn y_at(&self, screen_y: f32) -> f64 {
        let share = f64::from((self.rect.bottom() - screen_y) / self.rect.height());
        self.y.0 + share * (self.y.1 - self.y.0)
    }

    /// Ticks along x with labels below, and the base line.
    pub(super) fn paint_x(&self, ui: &Ui, label: impl Fn(f64, f64) -> String) {
        let tones = theme::tones(ui);
        let font = theme::small_font(ui);
        let step = numbers::tick_step(self.x.1 - self.x.0, f64::from(self.rect.width()) / 90.0);
        ui.painter().hline(
            self.rect.x_range(),
            self.rect.bottom(),
            Stroke::new(1.0, tones.hairline),
        );
        for value in ticks(self.x, step) {
            let text = ui
                .painter()
                .layout_no_wrap(label(value, step), font.clone(), tones.weak);
            // The last label stays within the plot.
            let half = text.size().x / 2.0;
            let x = self
                .screen_x(value)
                .min(self.rect.right() + font.size * 0.5 - half);
            let place = pos2(x - half, self.rect.bottom() + font.size * 0.35);
            ui.painter().galley(place, text, tones.weak);
        }
    }

    /// Ticks along y with labels on the left and hairlines across.
    pub(super) fn paint_y(&self, ui: &Ui, label: impl Fn(f64, f64) -> String) {
        let tones = theme::tones(ui);
        let font = theme::small_font(ui);
        let step = numbers::tick_step(self.y.1 - self.y.0, f64::from(self.rect.height()) / 40.0);
        for value in ticks(self.y, step) {
            let y = self.screen_y(value);
            ui.painter()
                .hline(self.rect.x_range(), y, Stroke::new(1.0, tones.faint));
            let place = pos2(self.rect.left() - font.size * 0.5, y);
            ui.painter().text(
                place,
                Align2::RIGHT_CENTER,
                label(value, step),
                font.clone(),
                tones.weak,
            );
        }
    }
}

/// Multiples of `step` from the lower to the upper end.
fn ticks((low, high): (f64, f64), step: f64) -> impl Iterator<Item = f64> {
    let first = (low / step - 1e-6).ceil();
    let last = (high / step + 1e-6).floor();
    let n_ticks = (last - first + 1.0).clamp(0.0, 200.0) as usize;
    (0..n_ticks).map(move |n| (first + n as f64) * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_cover_the_range_and_places_convert_back() {
        assert_eq!(ticks((0.0, 1.0), 0.25).count(), 5);
        let axes = Axes {
            rect: Rect::from_min_max(pos2(10.0, 20.0), pos2(110.0, 70.0)),
            x: (0.0, 60.0),
            y: (0.9, 1.0),
        };
        let place = axes.at(30.0, 0.95);
        assert_eq!(place, pos2(60.0, 45.0));
        assert!((axes.x_at(place.x) - 30.0).abs() < 1e-5);
        assert!((axes.y_at(place.y) - 0.95).abs() < 1e-6);
    }
}
