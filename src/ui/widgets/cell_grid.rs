//! A grid of cells as one tab stop: arrow keys move between cells, Enter chooses, and a screen
//! reader hears every cell.

use egui::{Id, Key, Rect, Response, Role, Sense, Ui, WidgetInfo};

use crate::ui::icons::focus_ring;

/// The keyboard and pointer of a grid while its cells are drawn.
pub(super) struct CellGrid {
    response: Response,
    active: usize,
    chosen: Option<usize>,
}

impl CellGrid {
    /// Begins a grid of `n_cells` in rows of `n_columns`, before its cells are drawn.
    pub(super) fn begin(
        ui: &mut Ui,
        rect: Rect,
        id: Id,
        label: &str,
        n_cells: usize,
        n_columns: usize,
    ) -> Self {
        let response = ui.interact(rect, id, Sense::focusable_noninteractive());
        let enabled = ui.is_enabled();
        response.widget_info(|| WidgetInfo::labeled(Role::Grid, enabled, label));
        let stored = ui.data(|data| data.get_temp::<usize>(id)).unwrap_or(0);
        let mut grid = Self {
            response,
            active: stored.min(n_cells.saturating_sub(1)),
            chosen: None,
        };
        if n_cells > 0 && grid.response.has_focus() {
            grid.keyboard(ui, n_cells, n_columns.max(1));
        }
        grid
    }

    fn keyboard(&mut self, ui: &Ui, n_cells: usize, n_columns: usize) {
        crate::ui::icons::hold_arrows(ui, self.response.id);
        let (row, column) = (self.active / n_columns, self.active % n_columns);
        ui.input(|input| {
            if input.key_pressed(Key::ArrowLeft) && column > 0 {
                self.active -= 1;
            }
            if input.key_pressed(Key::ArrowRight) && column + 1 < n_columns {
                self.active = (self.active + 1).min(n_cells - 1);
            }
            if input.key_pressed(Key::ArrowUp) && row > 0 {
                self.active -= n_columns;
            }
            if input.key_pressed(Key::ArrowDown) && self.active + n_columns < n_cells {
                self.active += n_columns;
            }
            if input.key_pressed(Key::Enter) || input.key_pressed(Key::Space) {
                self.chosen = Some(self.active);
            }
        });
    }

    /// One cell; `describe` is what a screen reader says.
    pub(super) fn cell(
        &mut self,
        ui: &mut Ui,
        place: usize,
        rect: Rect,
        describe: impl Fn() -> String,
    ) -> Response {
        let id = self.response.id.with(place);
        let response = ui.interact(rect, id, Sense::CLICK);
        let enabled = ui.is_enabled();
        response.widget_info(|| WidgetInfo::labeled(Role::Cell, enabled, describe()));
        if response.clicked() {
            self.chosen = Some(place);
            self.active = place;
            self.response.request_focus();
        }
        if self.is_active(place) {
            let said = describe();
            ui.ctx()
                .accesskit_node_builder(self.response.id, |node| node.set_value(said));
        }
        response
    }

    /// Whether the keyboard is at this cell.
    pub(super) fn is_active(&self, place: usize) -> bool {
        self.active == place && self.response.has_focus()
    }

    /// The cell the keyboard is at, if the grid has the focus.
    pub(super) fn active(&self) -> Option<usize> {
        self.response.has_focus().then_some(self.active)
    }

    /// Ends the grid: marks the active cell and tells which cell was clicked or chosen by key.
    pub(super) fn end(self, ui: &Ui, active_rect: Option<Rect>) -> Option<usize> {
        if let Some(rect) = active_rect.filter(|_| self.response.has_focus()) {
            focus_ring(ui, rect);
        }
        ui.data_mut(|data| data.insert_temp(self.response.id, self.active));
        self.chosen
    }
}
