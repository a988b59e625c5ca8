//! The head of a panel: title, detail, and what moves, enlarges or hides it.

use egui::{
    Align, CursorIcon, Key, Layout, Popup, Response, RichText, Role, Sense, Ui, WidgetInfo,
};

use crate::ui::icons::{Icon, focus_ring, hold_arrows, icon_button};
use crate::ui::theme;
use crate::workbench::PanelMove;

/// What was asked of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelAction {
    /// To fill the page, or to return to its place.
    ToggleSize,
    /// To disappear until it is called back.
    Hide,
    /// To move by one place.
    Move(PanelMove),
    /// To follow the pointer, which has taken hold of it.
    Drag,
}

/// Title and detail of a panel.
pub struct PanelHeader<'a> {
    /// What the panel shows: "Confusion".
    pub title: &'a str,
    /// Which one: "fold 2, batch 30 · 400 test records".
    pub detail: &'a str,
    /// Whether the panel fills the page.
    pub enlarged: bool,
    /// Where it can be moved by a step; nowhere: its place is fixed.
    pub moves: &'a [PanelMove],
}

impl PanelHeader<'_> {
    /// Draws the head with a hairline below; tells what was asked for.
    pub fn show(&self, ui: &mut Ui) -> Option<PanelAction> {
        let tones = theme::tones(ui);
        let mut action = None;
        ui.horizontal(|ui| {
            let title = RichText::new(self.title).text_style(theme::panel_title());
            let title = ui.label(title.color(tones.strong));
            if !self.moves.is_empty() {
                action = self.handle_ui(ui, &title);
            }
            // What the buttons at the right leave.
            let buttons =
                ui.spacing().interact_size.y * if self.moves.is_empty() { 2.0 } else { 3.0 };
            let room = ui.available_width() - buttons - theme::GRID;
            ui.scope(|ui| {
                ui.set_max_width(room.max(0.0));
                ui.add(egui::Label::new(RichText::new(self.detail).color(tones.weak)).truncate());
            });
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
                action = self.buttons_ui(ui).or(action);
            });
        });
        let line = ui.max_rect().x_range();
        let stroke = egui::Stroke::new(1.0, tones.hairline);
        ui.painter().hline(line, ui.cursor().top() - 3.0, stroke);
        ui.add_space(4.0);
        action
    }

    /// The title as a handle: dragged by the pointer, moved by the arrow keys.
    fn handle_ui(&self, ui: &Ui, title: &Response) -> Option<PanelAction> {
        // The same wherever the panel stands: it keeps the focus when it moves.
        let id = egui::Id::unique(("panel handle", self.title));
        let handle = ui.interact(title.rect, id, Sense::click_and_drag());
        let name = format!("Move {}", self.title);
        handle.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
        let handle = handle
            .on_hover_cursor(CursorIcon::Grab)
            .on_hover_text("Drag it to another position, or move it with the arrow keys");
        if handle.has_focus() {
            focus_ring(ui, handle.rect.expand(2.0));
            hold_arrows(ui, id);
        }
        match handle.drag_started() {
            true => Some(PanelAction::Drag),
            false if handle.has_focus() => self.arrow(ui).map(PanelAction::Move),
            false => None,
        }
    }

    fn arrow(&self, ui: &Ui) -> Option<PanelMove> {
        let key = |direction: &PanelMove| match direction {
            PanelMove::Left => Key::ArrowLeft,
            PanelMove::Right => Key::ArrowRight,
            PanelMove::Up => Key::ArrowUp,
            PanelMove::Down => Key::ArrowDown,
        };
        let is_pressed =
            |direction: &PanelMove| ui.input(|input| input.key_pressed(key(direction)));
        self.moves.iter().copied().find(is_pressed)
    }

    /// Right to left: hide, enlarge, arrange.
    fn buttons_ui(&self, ui: &mut Ui) -> Option<PanelAction> {
        let mut action = None;
        let hide = format!("Hide {}", self.title);
        if icon_button(ui, Icon::Close, &hide)
            .on_hover_text(&hide)
            .clicked()
        {
            action = Some(PanelAction::Hide);
        }
        let (icon, verb) = if self.enlarged {
            (Icon::Shrink, "Shrink")
        } else {
            (Icon::Enlarge, "Enlarge")
        };
        let size = format!("{verb} {}", self.title);
        if icon_button(ui, icon, &size).on_hover_text(&size).clicked() {
            action = Some(PanelAction::ToggleSize);
        }
        if !self.moves.is_empty() {
            let arrange = format!("Arrange {}", self.title);
            let button = icon_button(ui, Icon::More, &arrange);
            Popup::menu(&button).show(|ui| action = self.moves_ui(ui).or(action));
            button.on_hover_text("Move the panel to another place");
        }
        action
    }

    fn moves_ui(&self, ui: &mut Ui) -> Option<PanelAction> {
        let mut action = None;
        for direction in PanelMove::ALL {
            let name = match direction {
                PanelMove::Left => "Move left",
                PanelMove::Right => "Move right",
                PanelMove::Up => "Move up",
                PanelMove::Down => "Move down",
            };
            let can = self.moves.contains(&direction);
            let button = ui.add_enabled(can, egui::Button::new(name));
            let button = button
                .on_hover_text("The panel changes its place on the Train page")
                .on_disabled_hover_text("It cannot move further in that direction");
            if button.clicked() {
                action = Some(PanelAction::Move(direction));
            }
        }
        action
    }
}

/// What a place without contents says: what belongs there, and a button to get it.
pub fn empty_state(ui: &mut Ui, text: &str, button: Option<&str>) -> bool {
    let tones = theme::tones(ui);
    ui.vertical_centered(|ui| {
        ui.add_space((ui.available_height() * 0.3).min(160.0));
        ui.label(RichText::new(text).color(tones.weak));
        ui.add_space(theme::GRID);
        button.is_some_and(|button| ui.button(button).on_hover_text(text).clicked())
    })
    .inner
}
