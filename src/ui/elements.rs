//! Small parts that all pages share: titles, choices, empty states, facts.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{
    Align, Grid, Layout, PopupCloseBehavior, Rect, Response, RichText, ScrollArea, Sense, Ui,
    UiBuilder, pos2, vec2,
};

use super::icons::{Icon, icon_mark};
use super::theme;

/// Width of the names of settings, as in number fields.
pub(super) fn label_width(ui: &Ui) -> f32 {
    theme::body_font(ui).size * 12.0
}

/// The least width and height of a page where text has its usual size.
pub(super) const LEAST_WIDTH: f32 = 730.0;
const LEAST_HEIGHT: f32 = 420.0;
/// Less than this share of the least width shows too little of two columns beside each other.
pub(super) const LEAST_SHARE: f32 = 2.0 / 3.0;

/// How a page uses a window that is narrower than [`LEAST_WIDTH`] at this text size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Narrow {
    /// Its two columns stand one above the other.
    Stacked,
    /// All of it wraps.
    Wrapped,
    /// It scrolls sideways.
    Scrolled,
    /// Its two columns scroll sideways where most of them is seen, and else stand one above the other.
    Beside,
    /// It scrolls sideways where most of it is seen; else it arranges itself in one column.
    Arranged,
}

impl Narrow {
    /// What a page does whose width is this share of the least one.
    fn at(self, share: f32) -> Self {
        match self {
            Self::Beside if share < LEAST_SHARE => Self::Stacked,
            Self::Arranged if share < LEAST_SHARE => Self::Wrapped,
            Self::Beside | Self::Arranged => Self::Scrolled,
            Self::Stacked | Self::Wrapped | Self::Scrolled => self,
        }
    }
}

fn is_narrow(ui: &Ui) -> bool {
    ui.available_width() < LEAST_WIDTH * theme::text_scale(ui) - 1.0
}

/// A page that scrolls where the window is too small for it at this text size.
pub(super) fn roomy_page(ui: &mut Ui, narrow: Narrow, contents: impl FnOnce(&mut Ui)) {
    let room = ui.available_size();
    let mut least = vec2(LEAST_WIDTH, LEAST_HEIGHT) * theme::text_scale(ui);
    let narrow = narrow.at(room.x / least.x);
    if narrow != Narrow::Scrolled {
        least.y *= f32::from(1 + u8::from(is_narrow(ui) && narrow == Narrow::Stacked));
        least.x = 0.0;
    }
    if room.x >= least.x && room.y >= least.y {
        contents(ui);
        return;
    }
    ScrollArea::both()
        .id_salt("small page")
        .auto_shrink(false)
        .show(ui, |ui| {
            let rect = Rect::from_min_size(ui.cursor().min, room.max(least));
            ui.allocate_rect(rect, Sense::hover());
            contents(&mut ui.new_child(UiBuilder::new().max_rect(rect)));
        });
}

/// The title of a page with one line on what it is for.
pub(super) fn page_title(ui: &mut Ui, title: &str, what: &str) {
    let tones = theme::tones(ui);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(title).heading().color(tones.strong));
        ui.add_space(theme::GRID);
        ui.label(RichText::new(what).color(tones.weak));
    });
    ui.add_space(theme::GRID);
}

/// A table that scrolls sideways by itself where its column is narrower.
pub(super) fn wide_table(ui: &mut Ui, name: &'static str, table: impl FnOnce(&mut Ui)) {
    ScrollArea::horizontal().id_salt(name).show(ui, table);
}

/// The same of a plain grid.
pub(super) fn wide_grid(
    ui: &mut Ui,
    name: &'static str,
    spacing: [f32; 2],
    rows: impl FnOnce(&mut Ui),
) {
    wide_table(ui, name, |ui| {
        Grid::new(name).spacing(spacing).show(ui, rows);
    });
}

/// In a row that wraps: begins a new one where less than so many sizes of text are left.
pub(super) fn wrap_before(ui: &mut Ui, sizes: f32) {
    if ui.available_size_before_wrap().x < sizes * theme::body_font(ui).size {
        ui.end_row();
    }
}

/// The title of a part of a page.
pub(super) fn section(ui: &mut Ui, title: &str) {
    ui.add_space(theme::GRID);
    let text = RichText::new(title).text_style(theme::panel_title());
    ui.label(text.color(theme::tones(ui).strong));
}

/// Small text that explains.
pub(super) fn help(ui: &mut Ui, text: &str) {
    let color = theme::tones(ui).weak;
    ui.label(RichText::new(text).small().color(color));
}

/// Small text that says what is wrong.
pub(super) fn wrong(ui: &mut Ui, text: &str) {
    let tones = theme::tones(ui);
    ui.horizontal_wrapped(|ui| {
        icon_mark(ui, Icon::Error, tones.error);
        ui.label(RichText::new(text).color(tones.error));
    });
}

/// A button with its explanation; tells whether it was pressed.
pub(super) fn button(
    ui: &mut Ui,
    text: impl Into<egui::WidgetText>,
    help_text: impl Into<egui::WidgetText>,
) -> bool {
    let response = ui.button(text.into());
    response.on_hover_text(help_text).clicked()
}

/// So high is a list before it scrolls.
const LIST_HEIGHT: f32 = 420.0;

/// A setting that is one of a few; gives the place of a newly chosen one.
pub(super) fn choice(
    ui: &mut Ui,
    label: &str,
    help_text: &str,
    current: usize,
    names: &[&str],
) -> Option<usize> {
    let mut chosen = None;
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.horizontal(|ui| {
            let name = fixed_label(ui, label).on_hover_text(help_text);
            let shown = names.get(current).copied().unwrap_or("");
            let size = theme::body_font(ui).size;
            let width = (ui.available_width() - theme::GRID).min(size * 18.0);
            let combo = egui::ComboBox::from_id_salt(label)
                .selected_text(shown)
                .width(width)
                .truncate()
                .height(LIST_HEIGHT)
                .show_ui(ui, |ui| {
                    for (place, name) in names.iter().enumerate() {
                        if ui.selectable_label(place == current, *name).clicked() {
                            chosen = Some(place);
                        }
                    }
                });
            combo.response.labelled_by(name.id).on_hover_text(help_text);
        });
        help(ui, help_text);
    });
    chosen.filter(|place| *place != current)
}

/// A name of the width that all settings share.
pub(super) fn fixed_label(ui: &mut Ui, label: impl Into<egui::WidgetText>) -> Response {
    let size = vec2(label_width(ui), ui.spacing().interact_size.y);
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_width(size.x);
        ui.label(label)
    })
    .inner
}

/// A menu that stays open while things in it are changed.
pub(super) fn lasting_menu(
    ui: &mut Ui,
    title: impl Into<egui::WidgetText>,
    contents: impl FnOnce(&mut Ui),
) -> egui::Response {
    let button = egui::Button::new(title.into());
    let stays = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (response, _) = MenuButton::from_button(button)
        .config(stays)
        .ui(ui, contents);
    response
}

/// A switch with its explanation.
pub(super) fn switch(ui: &mut Ui, label: &str, help_text: &str, value: &mut bool) -> bool {
    let mut changed = false;
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        changed = ui.checkbox(value, label).on_hover_text(help_text).changed();
        help(ui, help_text);
    });
    changed
}

/// A row "name  value" in small weak and ordinary text.
pub(super) fn fact(ui: &mut Ui, name: &str, value: impl Into<String>) -> Response {
    let tones = theme::tones(ui);
    let row = ui.horizontal(|ui| {
        fixed_label(ui, RichText::new(name).color(tones.weak));
        ui.add(egui::Label::new(value.into()).wrap());
    });
    row.response
}

/// The rest of the page in two columns, the left one of the given width; the right one below it where both have no room.
pub(super) fn two_columns(ui: &Ui, left_width: f32) -> (Rect, Rect) {
    let page = ui.available_rect_before_wrap();
    if is_narrow(ui) {
        let (above, below) = page.split_top_bottom_at_fraction(0.5);
        return (above, below.with_min_y(below.top() + theme::PANEL_GAP));
    }
    let edge = page.left() + left_width;
    let left = Rect::from_min_max(page.min, pos2(edge, page.bottom()));
    let right = Rect::from_min_max(pos2(edge + theme::PANEL_GAP, page.top()), page.max);
    (left, right)
}

/// A column of its own layout.
pub(super) fn column(ui: &mut Ui, rect: Rect, name: &str, contents: impl FnOnce(&mut Ui)) {
    let layout = Layout::top_down(Align::Min);
    let builder = UiBuilder::new().id_salt(name).max_rect(rect).layout(layout);
    let mut child = ui.new_child(builder);
    child.set_clip_rect(rect.expand(4.0).intersect(ui.clip_rect()));
    contents(&mut child);
}

/// A column that scrolls when its contents are higher.
pub(super) fn scrolling_column(
    ui: &mut Ui,
    rect: Rect,
    name: &str,
    contents: impl FnOnce(&mut Ui),
) {
    column(ui, rect, name, |ui| {
        ScrollArea::vertical()
            .id_salt(name)
            .auto_shrink([false, false])
            .show(ui, |ui| {
                // Room for the scroll bar.
                ui.set_max_width(rect.width() - 12.0);
                contents(ui);
            });
    });
}
