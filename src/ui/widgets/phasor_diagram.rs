//! Phasors of a grid on a circle: voltages and currents each on a scale of their own.

use egui::{Align2, Color32, Pos2, Sense, Stroke, Ui, pos2, vec2};

use super::chart_table::ChartTable;
use crate::ui::numbers::percent;
use crate::ui::{palette, theme};

/// One phasor.
pub struct Phasor<'a> {
    /// Its name.
    pub name: &'a str,
    /// Length as a share of the circle's radius.
    pub length: f64,
    /// Angle against the reference, in radians, counter-clockwise.
    pub angle: f64,
    /// Its colour.
    pub color: Color32,
    /// Drawn thin and with an open head: currents beside voltages.
    pub is_thin: bool,
}

/// Phasors on a circle.
pub struct PhasorDiagram<'a> {
    /// What is shown, as the accessible name.
    pub name: &'a str,
    /// The phasors.
    pub phasors: &'a [Phasor<'a>],
    /// Width and height.
    pub size: f32,
}

impl PhasorDiagram<'_> {
    /// Draws the phasors.
    pub fn show(&self, ui: &mut Ui) {
        let (rect, response) = ui.allocate_exact_size(vec2(self.size, self.size), Sense::hover());
        ChartTable {
            n_places: self.phasors.len(),
            place: &|place| self.phasors[place].name.to_owned(),
            series: &["length", "angle"],
            cell: &|column, places| {
                let phasor = &self.phasors[places.start];
                Some(match column {
                    0 => format!("{} of the circle", percent(phasor.length)),
                    _ => format!("{:.1}°", phasor.angle.to_degrees()).replace('-', "−"),
                })
            },
        }
        .tell(ui, &response, self.name);
        if !ui.is_rect_visible(rect) {
            return;
        }
        let tones = theme::tones(ui);
        let font = theme::small_font(ui);
        let centre = rect.center();
        let radius = self.size / 2.0 - font.size * 1.4;
        let painter = ui.painter();
        let hairline = Stroke::new(1.0, tones.hairline);
        painter.circle_stroke(centre, radius, hairline);
        painter.circle_stroke(centre, radius / 2.0, Stroke::new(1.0, tones.faint));
        painter.hline(rect.left()..=rect.right(), centre.y, hairline);
        painter.vline(centre.x, rect.top()..=rect.bottom(), hairline);
        for phasor in self.phasors {
            let (sin, cos) = phasor.angle.sin_cos();
            // Upwards on the screen is a positive angle.
            let direction = vec2(cos as f32, -sin as f32);
            let length = radius * phasor.length.clamp(0.0, 1.2) as f32;
            let tip = centre + direction * length;
            if length < 1.0 {
                continue;
            }
            let width = if phasor.is_thin { 1.5 } else { 2.5 };
            painter.line_segment([centre, tip], Stroke::new(width, phasor.color));
            self.paint_head(ui, tip, direction, phasor);
            let place = centre + direction * (length + font.size * 0.9);
            let color = palette::legible(phasor.color, tones.page, tones.text);
            let name = phasor.name;
            painter.text(place, Align2::CENTER_CENTER, name, font.clone(), color);
        }
    }

    fn paint_head(&self, ui: &Ui, tip: Pos2, direction: egui::Vec2, phasor: &Phasor<'_>) {
        let across = vec2(-direction.y, direction.x) * 4.0;
        let foot = tip - direction * 9.0;
        let corners = vec![tip, foot + across, foot - across];
        let shape = match phasor.is_thin {
            true => egui::Shape::closed_line(corners, Stroke::new(1.2, phasor.color)),
            false => egui::Shape::convex_polygon(corners, phasor.color, Stroke::NONE),
        };
        ui.painter().add(shape);
    }
}

/// Bars of harmonics, each as a share of the fundamental.
pub struct HarmonicBars<'a> {
    /// What is shown, as the accessible name.
    pub name: &'a str,
    /// Share of each harmonic, the constant part first, then 1, 2, …
    pub shares: &'a [f64],
    /// The colour of the bars.
    pub color: Color32,
    /// The height to fill.
    pub height: f32,
}

impl HarmonicBars<'_> {
    /// Draws the bars; those without the fundamental set the scale, so that it may leave at the top.
    pub fn show(&self, ui: &mut Ui) {
        let size = vec2(ui.available_width(), self.height);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        ChartTable {
            n_places: self.shares.len(),
            place: &|order| format!("harmonic {}", order_name(order)),
            series: &["share of the fundamental"],
            cell: &|_, orders| Some(percent(self.shares[orders.start])),
        }
        .tell(ui, &response, self.name);
        if !ui.is_rect_visible(rect) || self.shares.is_empty() {
            return;
        }
        let tones = theme::tones(ui);
        let font = theme::small_font(ui);
        let others = self
            .shares
            .iter()
            .enumerate()
            .filter(|(order, _)| *order != 1);
        let largest = others.map(|(_, share)| share.abs()).fold(0.02, f64::max);
        let scale = (largest * 1.15).min(1.0);
        let floor = rect.bottom() - font.size * 1.4;
        let top = rect.top() + font.size * 1.2;
        let step = rect.width() / self.shares.len() as f32;
        let painter = ui.painter();
        for line in [0.0, 0.5, 1.0] {
            let y = floor - (floor - top) * line;
            painter.hline(rect.x_range(), y, Stroke::new(1.0, tones.faint));
        }
        for (order, share) in self.shares.iter().enumerate() {
            let left = rect.left() + step * order as f32;
            let is_cut = share.abs() > scale;
            let height = (floor - top) * (share.abs() / scale).min(1.0) as f32;
            let bar = egui::Rect::from_min_max(
                pos2(left + step * 0.18, floor - height),
                pos2(left + step * 0.82, floor),
            );
            painter.rect_filled(bar, 1.5, self.color);
            let middle = left + step / 2.0;
            if is_cut || share.abs() >= 0.01 {
                let text = percent(share.abs()).replace(" %", "");
                let place = pos2(middle, bar.top() - 1.0);
                painter.text(place, Align2::CENTER_BOTTOM, text, font.clone(), tones.text);
            }
            let label = order_name(order);
            let place = pos2(middle, floor + font.size * 0.2);
            painter.text(place, Align2::CENTER_TOP, label, font.clone(), tones.weak);
        }
    }
}

fn order_name(order: usize) -> String {
    match order {
        0 => "DC".to_owned(),
        order => order.to_string(),
    }
}
