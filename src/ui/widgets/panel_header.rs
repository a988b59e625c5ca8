//! The head of a panel: title, detail, and buttons to enlarge or hide it.

use egui::{Align, Layout, RichText, Ui};

use crate::ui::icons::{Icon, icon_button};
use crate::ui::theme;

/// What was asked of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelAction {
    /// To fill the page, or to return to its place.
    ToggleSize,
    /// To disappear until it is called back.
    Hide,
}

/// Title and detail of a panel.
pub struct PanelHeader<'a> {
    /// What the panel shows: "Confusion".
    pub title: &'a str,
    /// Which one: "fold 2, batch 30 · 400 test records".
    pub detail: &'a str,
    /// Whether the panel fills the page.
    pub enlarged: bool,
}

impl PanelHeader<'_> {
    /// Draws the head with a hairline below; tells what was asked for.
    pub fn show(&self, ui: &mut Ui) -> Option<PanelAction> {
        let tones = theme::tones(ui);
        let mut action = None;
        ui.horizontal(|ui| {
            let title = RichText::new(self.title).text_style(theme::panel_title());
            ui.label(title.color(tones.strong));
            ui.add(egui::Label::new(RichText::new(self.detail).color(tones.weak)).truncate());
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
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
            });
        });
        let line = ui.max_rect().x_range();
        let stroke = egui::Stroke::new(1.0, tones.hairline);
        ui.painter().hline(line, ui.cursor().top() - 3.0, stroke);
        ui.add_space(4.0);
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
        button.is_some_and(|button| ui.button(button).clicked())
    })
    .inner
}
