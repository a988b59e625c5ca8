//! The Gram matrix of atoms as a heat map: which atoms resemble each other.

use egui::{
    Color32, ColorImage, Key, Pos2, Rect, Sense, Stroke, StrokeKind, TextureOptions, Theme, Ui,
    pos2, vec2,
};

use super::cache::{cached, fingerprint, round_up};
use super::chart_table::{ChartTable, extent};
use super::scalp_map::{map_color, paint_color_bar};
use crate::ui::numbers::short;
use crate::ui::{icons, theme};
use atomscope_engine::math::View;

/// What the rows and columns of a map are.
#[derive(Clone, Copy)]
pub enum MapLabels<'a> {
    /// Numbered things: "atom".
    Numbered(&'a str),
    /// Things with names, such as channels.
    Named {
        /// What the map shows.
        title: &'a str,
        /// Their names.
        names: &'a [String],
    },
}

/// Inner products of the atoms of a dictionary, or of channels.
pub struct GramMatrix<'a> {
    /// The matrix, square.
    pub gram: View<'a>,
    /// What its rows and columns are.
    pub labels: MapLabels<'a>,
    /// Side of the map.
    pub size: f32,
}

impl GramMatrix<'_> {
    /// Draws the map; gives the pair under the pointer or the keyboard.
    pub fn show(&self, ui: &mut Ui) -> Option<(usize, usize)> {
        let n = self.gram.rows().min(self.gram.cols());
        let font = theme::small_font(ui);
        let size = vec2(self.size + font.size * 5.0, self.size);
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let pointed = response
            .hover_pos()
            .and_then(|place| self.pair_at(rect, place, n));
        let active = self.keyboard(ui, &response, n);
        let pair = pointed.or(active);
        let label = match self.labels {
            MapLabels::Numbered(item) => format!("Gram matrix of {n} {item}s"),
            MapLabels::Named { title, .. } => format!("{title}, {n} × {n}"),
        };
        let names: Vec<String> = (0..n).map(|place| self.name(place)).collect();
        let series: Vec<&str> = names.iter().map(String::as_str).collect();
        ChartTable {
            n_places: n,
            place: &|row| names[row].clone(),
            series: &series,
            cell: &|column, rows| extent(rows.map(|row| self.gram.at(row, column)), short),
        }
        .tell(ui, &response, &label);
        if let Some(says) = pair.map(|pair| self.describe(pair)) {
            ui.ctx()
                .accesskit_node_builder(response.id, |node| node.set_value(says));
        }
        if n == 0 {
            return None;
        }
        let (scale, signed) = self.range(n);
        let square = Rect::from_min_size(rect.min, vec2(self.size, self.size));
        self.paint(ui, response.id, square, n, (scale, signed));
        let bar = Rect::from_min_max(
            pos2(square.right() + 12.0, square.top() + font.size),
            pos2(square.right() + 20.0, square.bottom() - font.size * 2.0),
        );
        paint_color_bar(ui, bar, scale, signed, "");
        if let Some((row, column)) = pair {
            let cell = self.size / n as f32;
            let corner = square.min + vec2(column as f32 * cell, row as f32 * cell);
            let frame = Rect::from_min_size(corner, vec2(cell, cell)).expand(1.0);
            let stroke = Stroke::new(1.5, theme::tones(ui).accent);
            ui.painter()
                .rect_stroke(frame, 0.0, stroke, StrokeKind::Outside);
        }
        if response.has_focus() {
            icons::focus_ring(ui, square);
        }
        if let Some(pair) = pointed {
            response.on_hover_text_at_pointer(self.describe(pair));
        }
        pair
    }

    fn describe(&self, (row, column): (usize, usize)) -> String {
        let value = short(self.gram.at(row, column));
        let other = match self.labels {
            MapLabels::Numbered(_) => (column + 1).to_string(),
            MapLabels::Named { .. } => self.name(column),
        };
        format!("{} with {other}: {value}", self.name(row))
    }

    fn name(&self, place: usize) -> String {
        match self.labels {
            MapLabels::Numbered(item) => format!("{item} {}", place + 1),
            MapLabels::Named { names, .. } => names.get(place).cloned().unwrap_or_default(),
        }
    }

    fn pair_at(&self, rect: Rect, place: Pos2, n: usize) -> Option<(usize, usize)> {
        let inside = (place - rect.min) / self.size * n as f32;
        let within = inside.min_elem() >= 0.0 && inside.max_elem() < n as f32;
        within.then_some((inside.y as usize, inside.x as usize))
    }

    fn keyboard(&self, ui: &Ui, response: &egui::Response, n: usize) -> Option<(usize, usize)> {
        if !response.has_focus() || n == 0 {
            return None;
        }
        icons::hold_arrows(ui, response.id);
        let id = response.id.with("pair");
        let kept = ui.data(|data| data.get_temp::<(usize, usize)>(id));
        let (mut row, mut column) = kept.unwrap_or_default();
        ui.input(|input| {
            row = (row + input.num_presses(Key::ArrowDown))
                .saturating_sub(input.num_presses(Key::ArrowUp));
            column = (column + input.num_presses(Key::ArrowRight))
                .saturating_sub(input.num_presses(Key::ArrowLeft));
        });
        let pair = (row.min(n - 1), column.min(n - 1));
        ui.data_mut(|data| data.insert_temp(id, pair));
        Some(pair)
    }

    /// A round scale, and whether there are values below zero worth showing.
    fn range(&self, n: usize) -> (f64, bool) {
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        for value in self.entries(n).filter(|value| value.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        let signed = low < -0.01 * high.max(-low);
        (round_up(high.max(-low)), signed)
    }

    /// Row by row.
    fn entries(&self, n: usize) -> impl Iterator<Item = f64> {
        (0..n * n).map(move |place| self.gram.at(place / n, place % n))
    }

    fn paint(&self, ui: &Ui, id: egui::Id, square: Rect, n: usize, (scale, signed): (f64, bool)) {
        let theme = theme::theme_of(ui);
        let look = [scale, f64::from(signed), f64::from(theme == Theme::Dark)];
        let key = fingerprint(self.entries(n).chain(look));
        let texture = cached(ui, id.with("picture"), key, || {
            let color = |value| map_color(value as f32, scale, signed, theme);
            let pixels = self.entries(n).map(color).collect();
            let image = ColorImage::new([n, n], pixels);
            ui.ctx()
                .load_texture("gram matrix", image, TextureOptions::NEAREST)
        });
        let whole = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
        ui.painter()
            .image(texture.id(), square, whole, Color32::WHITE);
    }
}
