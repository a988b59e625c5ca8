//! The groups of a data set as cells, coloured by the fold that tests them.

use egui::{Align2, Rect, Sense, Stroke, StrokeKind, Ui, pos2, vec2};

use super::cell_grid::CellGrid;
use super::short_text::text_width;
use crate::ui::palette::{fold_color, mix, text_on};
use crate::ui::theme;
use atomscope_engine::records::counted;

const CELL_HEIGHT: f32 = 26.0;
const GAP: f32 = 2.0;
/// More rows than this are drawn small, without names.
const MOST_NAMED_ROWS: f32 = 6.0;

/// One group: a subject, a record.
pub struct GroupCell<'a> {
    /// Its name.
    pub name: &'a str,
    /// The fold in which it is tested; none where it only trains.
    pub fold: Option<usize>,
    /// Its samples.
    pub n_samples: usize,
}

/// All groups in their order.
pub struct FoldStrip<'a> {
    /// The groups.
    pub groups: &'a [GroupCell<'a>],
    /// Number of folds.
    pub n_folds: usize,
    /// The fold to emphasise; all of them otherwise.
    pub current_fold: Option<usize>,
}

impl FoldStrip<'_> {
    /// Draws legend and cells; gives the group that was chosen.
    pub fn show(&self, ui: &mut Ui) -> Option<usize> {
        self.legend_ui(ui);
        let n_groups = self.groups.len();
        let width = ui.available_width();
        let wanted = self.cell_width(ui, width);
        let n_columns = ((width / wanted) as usize).clamp(1, n_groups.max(1));
        let cell_width = (width / n_columns as f32).min(wanted * 1.5);
        let n_rows = n_groups.div_ceil(n_columns);
        let size = vec2(width, n_rows as f32 * (CELL_HEIGHT + GAP));
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let place_of = |place: usize| {
            let corner = vec2(
                (place % n_columns) as f32 * cell_width,
                (place / n_columns) as f32 * (CELL_HEIGHT + GAP),
            );
            Rect::from_min_size(rect.min + corner, vec2(cell_width - GAP, CELL_HEIGHT))
        };
        let id = response.id.with("groups");
        let mut grid = CellGrid::begin(ui, rect, id, "Groups by fold", n_groups, n_columns);
        for (place, group) in self.groups.iter().enumerate() {
            let cell = place_of(place);
            if ui.is_rect_visible(cell) {
                self.cell_ui(ui, &mut grid, place, group, cell);
            }
        }
        let active = grid.active().map(place_of);
        grid.end(ui, active)
    }

    /// Wide enough for the names, unless that would take too many rows.
    fn cell_width(&self, ui: &Ui, width: f32) -> f32 {
        let font = theme::small_font(ui);
        let name_width = |group: &GroupCell<'_>| text_width(ui, group.name, &font);
        // The names of thousands of groups are not measured: they would not fit anyway.
        let n_groups = self.groups.len();
        let widest = self
            .groups
            .iter()
            .take(300)
            .map(name_width)
            .fold(12.0, f32::max)
            + 14.0;
        let n_rows = (n_groups as f32 * widest / width).ceil();
        if n_rows <= MOST_NAMED_ROWS {
            widest
        } else {
            14.0
        }
    }

    fn cell_ui(
        &self,
        ui: &mut Ui,
        grid: &mut CellGrid,
        place: usize,
        group: &GroupCell<'_>,
        cell: Rect,
    ) {
        let tones = theme::tones(ui);
        let fold = match group.fold {
            Some(fold) => format!("tested in fold {}", fold + 1),
            None => "always for training".to_owned(),
        };
        let describe = || {
            format!(
                "{}: {fold}, {}",
                group.name,
                counted(group.n_samples, "sample")
            )
        };
        let response = grid.cell(ui, place, cell, describe);
        let own = group
            .fold
            .map_or(tones.faint, |fold| fold_color(fold, self.n_folds));
        let others = self.current_fold.is_some() && group.fold != self.current_fold;
        let color = if others {
            mix(own, tones.page, 0.78)
        } else {
            own
        };
        ui.painter().rect_filled(cell, 3.0, color);
        let font = theme::small_font(ui);
        let ink = if others { tones.weak } else { text_on(color) };
        let galley = ui
            .painter()
            .layout_no_wrap(group.name.to_owned(), font, ink);
        if galley.size().x + 6.0 < cell.width() {
            let corner = Align2::CENTER_CENTER.anchor_size(cell.center(), galley.size());
            ui.painter().galley(corner.min, galley, ink);
        }
        if response.hovered() {
            let stroke = Stroke::new(1.5, tones.accent);
            ui.painter()
                .rect_stroke(cell, 3.0, stroke, StrokeKind::Outside);
        }
        response.on_hover_text(describe());
    }

    fn legend_ui(&self, ui: &mut Ui) {
        let tones = theme::tones(ui);
        let font = theme::small_font(ui);
        ui.horizontal_wrapped(|ui| {
            for fold in 0..self.n_folds.min(12) {
                let (rect, _) = ui.allocate_exact_size(vec2(12.0, font.size), Sense::hover());
                let square = Rect::from_center_size(
                    pos2(rect.center().x, rect.center().y),
                    vec2(10.0, 10.0),
                );
                ui.painter()
                    .rect_filled(square, 2.0, fold_color(fold, self.n_folds));
                let text = egui::RichText::new(format!("fold {}", fold + 1));
                ui.label(text.small().color(tones.weak));
            }
            if self.n_folds > 12 {
                let text = egui::RichText::new(format!("… {} folds", self.n_folds));
                ui.label(text.small().color(tones.weak));
            }
        });
    }
}
