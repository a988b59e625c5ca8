//! Accuracy over two settings as a grid of shaded cells.

use egui::{Align2, Color32, Rect, Sense, Ui, pos2, vec2};

use super::cell_grid::CellGrid;
use super::short_text::shortened;
use crate::ui::numbers::percent;
use crate::ui::palette::text_on;
use crate::ui::theme;
use atomscope_engine::export::HeatMap;

/// Width of a cell, and height in lines of text.
const CELL_WIDTH: f32 = 74.0;
const CELL_LINES: f32 = 2.2;

/// A map that is shown.
pub struct HeatMapView<'a> {
    /// The map.
    pub map: &'a HeatMap,
}

impl HeatMapView<'_> {
    /// Draws the map.
    pub fn show(&self, ui: &mut Ui) {
        let tones = theme::tones(ui);
        let font = theme::small_font(ui);
        let (columns, rows) = (self.map.across.1.len(), self.map.down.1.len());
        let (names, head) = (font.size * 9.0, font.size * 1.8);
        let height = font.size * CELL_LINES;
        let size = vec2(
            names + CELL_WIDTH * columns as f32,
            head + height * rows as f32,
        );
        let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
        let corner = rect.min + vec2(names, head);
        let cell = |row: usize, column: usize| {
            let at = corner + vec2(CELL_WIDTH * column as f32, height * row as f32);
            Rect::from_min_size(at, vec2(CELL_WIDTH, height)).shrink(1.0)
        };
        for (column, text) in self.map.across.1.iter().enumerate() {
            let at = pos2(cell(0, column).center().x, corner.y - 4.0);
            let text = shortened(ui, text, &font, CELL_WIDTH - 6.0);
            ui.painter()
                .text(at, Align2::CENTER_BOTTOM, text, font.clone(), tones.text);
        }
        let id = ui.scope_id().with("heat map");
        let mut grid = CellGrid::begin(ui, rect, id, &self.map.title, rows * columns, columns);
        for row in 0..rows {
            let at = pos2(corner.x - 8.0, cell(row, 0).center().y);
            let text = shortened(ui, &self.map.down.1[row], &font, names - 12.0);
            ui.painter()
                .text(at, Align2::RIGHT_CENTER, text, font.clone(), tones.text);
            for column in 0..columns {
                self.cell_ui(ui, &mut grid, (row, column), cell(row, column));
            }
        }
        let active = grid
            .active()
            .map(|place| cell(place / columns.max(1), place % columns.max(1)));
        grid.end(ui, active);
    }

    fn cell_ui(&self, ui: &mut Ui, grid: &mut CellGrid, (row, column): (usize, usize), rect: Rect) {
        let value = self.map.value(row, column);
        let shown = value.map_or("–".to_owned(), percent);
        let describe = || {
            let (down, across) = (&self.map.down, &self.map.across);
            format!(
                "{} {}, {} {}: {shown}",
                down.0, down.1[row], across.0, across.1[column]
            )
        };
        let response = grid.cell(ui, row * self.map.across.1.len() + column, rect, describe);
        let ground = match value {
            Some(value) => {
                let [red, green, blue] = self.map.shade(value);
                Color32::from_rgb(red, green, blue)
            }
            None => theme::tones(ui).faint,
        };
        ui.painter().rect_filled(rect, 2.0, ground);
        let font = theme::small_font(ui);
        ui.painter().text(
            rect.center(),
            Align2::CENTER_CENTER,
            &shown,
            font,
            text_on(ground),
        );
        response.on_hover_text(describe());
    }
}
