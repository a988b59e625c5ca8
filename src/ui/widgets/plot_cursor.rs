//! A cursor over signals: a line with a letter that is dragged, or moved by keys while it has the focus.

use egui::{
    Align2, Id, Key, Modifiers, Rangef, Rect, Response, Role, Sense, Stroke, Ui, WidgetInfo, pos2,
    vec2,
};

use crate::ui::icons::{focus_ring, hold_arrows};
use crate::ui::{palette, theme};

/// How near to a cursor the pointer takes hold of it.
const GRIP: f32 = 6.0;

/// Height and width of the letter's flag, in sizes of small text.
const FLAG: f32 = 1.3;

/// How a cursor was moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CursorMove {
    /// To a time.
    To(f64),
    /// By samples.
    Samples(isize),
    /// By the larger step of the keys Page Up and Page Down.
    Pages(isize),
}

/// A cursor that can be moved.
pub struct PlotCursor<'a> {
    /// Its letter.
    pub name: &'a str,
    /// The time it stands at, as it is told.
    pub shown_s: f64,
    /// Where that is on the screen.
    pub x: f32,
    /// The time of a place on the screen.
    pub time_at: &'a dyn Fn(f32) -> f64,
    /// The signals it goes over.
    pub over: Rect,
    /// The middle of its letter.
    pub flag_y: f32,
    /// Whether it is the one that is shown.
    pub is_active: bool,
    /// What Page Up and Page Down move it by.
    pub page: &'a str,
}

impl PlotCursor<'_> {
    /// Draws the cursor and tells how it was moved; a click that only takes hold of it moves it by no sample.
    pub fn show(&self, ui: &mut Ui, id: Id) -> Option<CursorMove> {
        let tones = theme::tones(ui);
        let is_inside = self.over.x_range().contains(self.x);
        // Outside the page it waits at the edge, so that keys still reach it.
        let x = self.x.clamp(self.over.left(), self.over.right());
        let side = theme::small_font(ui).size * FLAG;
        let flag = Rect::from_center_size(pos2(x, self.flag_y), vec2(side, side));
        let line = Rect::from_x_y_ranges(Rangef::point(x).expand(GRIP), self.over.y_range());
        let response = ui.interact(line.union(flag), id, Sense::click_and_drag());
        let enabled = ui.is_enabled();
        let name = format!("Cursor {}", self.name);
        response.widget_info(|| WidgetInfo {
            value: Some(self.shown_s),
            ..WidgetInfo::labeled(Role::Slider, enabled, &name)
        });
        let color = match self.is_active {
            true => tones.accent,
            false => palette::mix(tones.accent, tones.text, 0.5),
        };
        if is_inside {
            let is_held = response.hovered() || response.dragged();
            let stroke = Stroke::new(if is_held { 2.0 } else { 1.2 }, color);
            ui.painter().vline(x, self.over.y_range(), stroke);
        }
        ui.painter().rect_filled(flag, 3.0, color);
        ui.painter().text(
            flag.center(),
            Align2::CENTER_CENTER,
            self.name,
            theme::small_font(ui),
            palette::text_on(color),
        );
        if response.has_focus() {
            focus_ring(ui, flag);
            ui.data_mut(|data| data.insert_temp(focused_cursor(), response.id));
        }
        let moved = cursor_keys(ui, &response);
        let dragged = response.dragged().then(|| response.interact_pointer_pos());
        let dragged = dragged
            .flatten()
            .map(|at| CursorMove::To((self.time_at)(at.x)));
        let taken = response.clicked().then_some(CursorMove::Samples(0));
        if response.clicked() {
            response.request_focus();
        }
        response.on_hover_text(format!(
            "Cursor {} at {:.6} s\nDrag it; with the focus (key {0}) ← → move it by a sample, Page Up and Page Down by {}",
            self.name, self.shown_s, self.page
        ));
        moved.or(dragged).or(taken)
    }
}

/// Moves by keys while a cursor has the focus.
fn cursor_keys(ui: &Ui, response: &Response) -> Option<CursorMove> {
    if !response.has_focus() {
        return None;
    }
    // Those up and down are for the page behind.
    hold_arrows(ui, response.id);
    let presses = |key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
    let steps = |more, less| presses(more) as isize - presses(less) as isize;
    let samples = steps(Key::ArrowRight, Key::ArrowLeft);
    let pages = steps(Key::PageDown, Key::PageUp);
    match (samples, pages) {
        (0, 0) => None,
        (0, pages) => Some(CursorMove::Pages(pages)),
        (samples, _) => Some(CursorMove::Samples(samples)),
    }
}

/// Where the cursor is remembered that had the focus last.
fn focused_cursor() -> Id {
    Id::unique("focused cursor")
}

/// Whether the keys that no cursor takes are those of the page: nothing has the focus, or a cursor.
pub fn page_hears_keys(ui: &Ui) -> bool {
    let cursor = ui.data(|data| data.get_temp::<Id>(focused_cursor()));
    let focused = ui.memory(|memory| memory.focused());
    let is_free = focused.is_none() || focused == cursor;
    is_free && !egui::Popup::is_any_open(ui.ctx())
}

/// The cursor whose letter was pressed, where the page hears keys: A is the first, B the second.
pub fn cursor_letter(ui: &Ui) -> Option<usize> {
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    [Key::A, Key::B].into_iter().position(pressed)
}
