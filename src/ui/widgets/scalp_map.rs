//! Scalp maps: values at electrodes, interpolated over the head, nose up.

use std::sync::Arc;

use egui::{
    Align2, Color32, ColorImage, Painter, Pos2, Rect, Response, Sense, Shape, Stroke,
    TextureHandle, TextureOptions, Theme, Ui, pos2, vec2,
};

use super::cache::{cached, fingerprint};
use super::chart_table::{ChartTable, extent};
use super::short_text::text_width;
use crate::ui::numbers::short;
use crate::ui::palette::{self, mix};
use crate::ui::theme;
use atomscope_engine::math::{Cholesky, Matrix};

/// How far the picture reaches, in radii of the head.
const REACH: f64 = 1.12;
/// Within which correlation falls off, in radii of the head.
const CORRELATION_LENGTH: f64 = 0.7;

/// Interpolation weights from electrodes to the pixels of a head.
///
/// Places are in radii of the head: x to the right ear, y to the nose. The surface is the kriging
/// predictor with a Matérn 3/2 covariance: exact at the electrodes, smooth between them, and
/// falling back to their mean far from all of them.
pub struct ScalpInterpolator {
    n_pixels: usize,
    n_electrodes: usize,
    weights: Vec<f32>,
}

impl ScalpInterpolator {
    /// Weights for a square picture of `n_pixels` by `n_pixels`; none without electrodes.
    pub fn new(positions: &[(f64, f64)], n_pixels: usize) -> Option<Self> {
        let n_electrodes = positions.len();
        if n_electrodes == 0 || n_pixels == 0 {
            return None;
        }
        // The small addition keeps two electrodes at one place from being contradictory.
        let gram = Matrix::from_fn(n_electrodes, n_electrodes, |i, j| {
            covariance(positions[i], positions[j]) + if i == j { 1e-9 } else { 0.0 }
        });
        let mut factor = Cholesky::default();
        factor.factor(gram.view()).ok()?;
        let mut weights = Vec::with_capacity(n_pixels * n_pixels * n_electrodes);
        let mut column = vec![0.0; n_electrodes];
        for row in 0..n_pixels {
            for pixel in 0..n_pixels {
                let place = pixel_place(row, pixel, n_pixels);
                for (value, electrode) in column.iter_mut().zip(positions) {
                    *value = covariance(place, *electrode);
                }
                factor.solve(&mut column);
                weights.extend(column.iter().map(|weight| *weight as f32));
            }
        }
        Some(Self {
            n_pixels,
            n_electrodes,
            weights,
        })
    }

    /// The value at every pixel, row by row from the nose down.
    pub fn surface(&self, values: &[f64]) -> Vec<f32> {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let deviations: Vec<f32> = values.iter().map(|value| (value - mean) as f32).collect();
        self.weights
            .chunks_exact(self.n_electrodes)
            .map(|weights| {
                let sum: f32 = weights.iter().zip(&deviations).map(|(w, d)| w * d).sum();
                mean as f32 + sum
            })
            .collect()
    }

    /// The map as a picture, transparent outside the head.
    pub(super) fn image(
        &self,
        values: &[f64],
        scale: f64,
        signed: bool,
        theme: Theme,
    ) -> ColorImage {
        let n = self.n_pixels;
        let pixels = self
            .surface(values)
            .into_iter()
            .enumerate()
            .map(|(place, value)| {
                let (x, y) = pixel_place(place / n, place % n, n);
                let beyond = (x.hypot(y) - 1.0) * n as f64 / (2.0 * REACH);
                let coverage = (0.5 - beyond).clamp(0.0, 1.0) as f32;
                map_color(value, scale, signed, theme).gamma_multiply(coverage)
            })
            .collect();
        ColorImage::new([n, n], pixels)
    }
}

/// The colour of a value on a scale that is symmetric about zero or starts there.
pub(super) fn map_color(value: f32, scale: f64, signed: bool, theme: Theme) -> Color32 {
    let share = value / scale as f32;
    if signed {
        palette::signed(share, theme)
    } else {
        palette::sequential(share)
    }
}

fn pixel_place(row: usize, column: usize, n_pixels: usize) -> (f64, f64) {
    let along = |place: usize| ((place as f64 + 0.5) / n_pixels as f64 * 2.0 - 1.0) * REACH;
    (along(column), -along(row))
}

fn covariance(a: (f64, f64), b: (f64, f64)) -> f64 {
    let distance = 3_f64.sqrt() * (a.0 - b.0).hypot(a.1 - b.1) / CORRELATION_LENGTH;
    (1.0 + distance) * (-distance).exp()
}

/// One head with its colour bar.
pub struct ScalpMap<'a> {
    /// What is shown: "alpha, closed eyes".
    pub title: &'a str,
    /// Places of the electrodes in radii of the head: x to the right ear, y to the nose.
    pub positions: &'a [(f64, f64)],
    /// Their names.
    pub names: &'a [String],
    /// Their values.
    pub values: &'a [f64],
    /// The value at the end of the colour scale, shared by all maps of a page.
    pub scale: f64,
    /// Colours from −scale to scale with neutral zero; otherwise from 0 to scale.
    pub signed: bool,
    /// The unit beside the colour bar.
    pub unit: &'a str,
    /// Side of the head's square.
    pub size: f32,
}

impl ScalpMap<'_> {
    /// Draws head, electrodes, title and colour bar.
    pub fn show(&self, ui: &mut Ui) -> Response {
        let font = theme::small_font(ui);
        let bar_width = font.size * 4.5;
        // A long title is whole, and does not reach into the map beside it.
        let title_width = text_width(ui, self.title, &font);
        let width = (self.size + bar_width).max(title_width);
        let size = vec2(width, self.size + font.size * 1.8);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        ChartTable {
            n_places: self.names.len().min(self.values.len()),
            place: &|place| self.names[place].clone(),
            series: &[self.title],
            cell: &|_, places| {
                let values = self.values[places].iter().copied();
                Some(format!("{} {}", extent(values, short)?, self.unit))
            },
        }
        .tell(ui, &response, &format!("Scalp map {}", self.title));
        let head = Rect::from_min_size(
            rect.min + vec2(0.0, font.size * 1.8),
            egui::Vec2::splat(self.size),
        );
        let tones = theme::tones(ui);
        let middle = head.center().x.max(rect.left() + title_width / 2.0);
        let title = pos2(middle, rect.top() + font.size * 0.6);
        ui.painter()
            .text(title, Align2::CENTER_CENTER, self.title, font, tones.text);
        if let Some(texture) = self.texture(ui, response.id) {
            paint_head(ui.painter(), head, &texture, tones.weak);
            paint_electrodes(ui.painter(), head, self.positions, tones.strong);
        }
        let bar = Rect::from_min_max(
            pos2(head.right() + 12.0, head.top() + self.size * 0.2),
            pos2(head.right() + 20.0, head.bottom() - self.size * 0.2),
        );
        paint_color_bar(ui, bar, self.scale, self.signed, self.unit);
        match response
            .hover_pos()
            .and_then(|place| self.nearest(head, place))
        {
            Some(text) => response.on_hover_text_at_pointer(text),
            None => response,
        }
    }

    fn texture(&self, ui: &Ui, id: egui::Id) -> Option<TextureHandle> {
        let n_pixels = ((self.size / 2.0) as usize).clamp(32, 128);
        let places = self.positions.iter().flat_map(|&(x, y)| [x, y]);
        let key = fingerprint(places.chain([n_pixels as f64]));
        let interpolator = cached(ui, id.with("weights"), key, || {
            ScalpInterpolator::new(self.positions, n_pixels).map(Arc::new)
        })?;
        if self.values.len() != self.positions.len() {
            return None;
        }
        let theme = theme::theme_of(ui);
        let look = [
            self.scale,
            f64::from(self.signed),
            f64::from(u8::from(theme == Theme::Dark)),
        ];
        let key = fingerprint(self.values.iter().copied().chain(look)) ^ key;
        Some(cached(ui, id.with("picture"), key, || {
            let image = interpolator.image(self.values, self.scale, self.signed, theme);
            ui.ctx()
                .load_texture("scalp map", image, TextureOptions::LINEAR)
        }))
    }

    fn nearest(&self, head: Rect, pointer: Pos2) -> Option<String> {
        let distance = |place: &(f64, f64)| head_place(head, *place).distance(pointer);
        let (nearest, place) = self
            .positions
            .iter()
            .enumerate()
            .min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))?;
        let close = distance(place) < 14.0;
        let (name, value) = (self.names.get(nearest)?, self.values.get(nearest)?);
        close.then(|| format!("{name}: {} {}", short(*value), self.unit))
    }
}

/// Where a place of the head lies on the screen.
fn head_place(square: Rect, (x, y): (f64, f64)) -> Pos2 {
    let radius = f64::from(square.width()) / 2.0 / REACH;
    square.center() + vec2((x * radius) as f32, (-y * radius) as f32)
}

/// The interpolated picture with the outline of the head: nose and ears.
pub(super) fn paint_head(painter: &Painter, square: Rect, texture: &TextureHandle, color: Color32) {
    let whole = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
    painter.image(texture.id(), square, whole, Color32::WHITE);
    let radius = square.width() / 2.0 / REACH as f32;
    let stroke = Stroke::new((radius * 0.03).clamp(1.0, 1.5), color);
    painter.circle_stroke(square.center(), radius, stroke);
    let at = |x: f64, y: f64| head_place(square, (x, y));
    painter.add(Shape::line(
        vec![at(-0.11, 0.995), at(0.0, 1.11), at(0.11, 0.995)],
        stroke,
    ));
    for side in [-1.0, 1.0] {
        let ear = [(1.0, 0.16), (1.07, 0.12), (1.08, -0.1), (1.0, -0.16)];
        let points = ear.iter().map(|&(x, y)| at(side * x, y)).collect();
        painter.add(Shape::line(points, stroke));
    }
}

fn paint_electrodes(painter: &Painter, square: Rect, positions: &[(f64, f64)], color: Color32) {
    let radius = (square.width() * 0.011).clamp(1.0, 2.5);
    for place in positions {
        painter.circle_filled(head_place(square, *place), radius, color);
    }
}

/// A vertical colour bar with its ends and zero.
pub(super) fn paint_color_bar(ui: &Ui, rect: Rect, scale: f64, signed: bool, unit: &str) {
    let tones = theme::tones(ui);
    let theme = theme::theme_of(ui);
    let font = theme::small_font(ui);
    let n_steps = 64;
    for step in 0..n_steps {
        let share = (step as f32 + 0.5) / n_steps as f32;
        let value = if signed { share * 2.0 - 1.0 } else { share } * scale as f32;
        let low = rect.bottom() - rect.height() * step as f32 / n_steps as f32;
        let high = rect.bottom() - rect.height() * (step + 1) as f32 / n_steps as f32;
        let piece = Rect::from_min_max(pos2(rect.left(), high), pos2(rect.right(), low));
        ui.painter()
            .rect_filled(piece, 0.0, map_color(value, scale, signed, theme));
    }
    let low = if signed { -scale } else { 0.0 };
    let label = |y: f32, text: String| {
        let place = pos2(rect.right() + 5.0, y);
        let color = mix(tones.text, tones.weak, 0.5);
        ui.painter()
            .text(place, Align2::LEFT_CENTER, text, font.clone(), color);
    };
    label(rect.top(), short(scale));
    label(rect.bottom(), short(low));
    if signed {
        label(rect.center().y, "0".to_owned());
    }
    let place = pos2(rect.left(), rect.bottom() + font.size * 1.2);
    ui.painter()
        .text(place, Align2::LEFT_CENTER, unit, font.clone(), tones.weak);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(n: usize) -> Vec<(f64, f64)> {
        (0..n)
            .map(|place| {
                let angle = place as f64 / n as f64 * std::f64::consts::TAU;
                (0.8 * angle.cos(), 0.8 * angle.sin())
            })
            .collect()
    }

    #[test]
    fn the_surface_is_exact_at_electrodes_that_lie_on_pixels() {
        let n_pixels = 41;
        let places = [(20, 20), (10, 20), (30, 25), (20, 5), (28, 33)];
        let positions: Vec<(f64, f64)> = places
            .iter()
            .map(|&(row, column)| pixel_place(row, column, n_pixels))
            .collect();
        let values = [3.0, -1.0, 4.0, -1.5, 9.0];
        let interpolator = ScalpInterpolator::new(&positions, n_pixels).expect("electrodes");
        let surface = interpolator.surface(&values);
        for (&(row, column), value) in places.iter().zip(values) {
            let found = f64::from(surface[row * n_pixels + column]);
            assert!((found - value).abs() < 1e-4, "{found}, not {value}");
        }
    }

    #[test]
    fn a_constant_stays_constant_and_doubled_electrodes_do_not_fail() {
        let mut positions = ring(8);
        positions.push(positions[0]);
        let interpolator = ScalpInterpolator::new(&positions, 16).expect("electrodes");
        let surface = interpolator.surface(&[2.5; 9]);
        assert!(surface.iter().all(|value| (value - 2.5).abs() < 1e-5));
        assert!(ScalpInterpolator::new(&[], 16).is_none());
    }

    #[test]
    fn the_first_row_of_the_picture_is_at_the_nose() {
        let (x, y) = pixel_place(0, 0, 32);
        assert!(x < 0.0 && y > 0.0);
    }
}
