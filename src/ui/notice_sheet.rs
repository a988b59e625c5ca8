//! Notices: the newest above the run bar, all of them in a sheet.

use egui::{Align2, Area, Frame, Margin, Order, Panel, RichText, ScrollArea, Ui, vec2};

use super::icons::{Icon, icon_button, icon_mark};
use super::theme::{self, Tones};
use crate::workbench::{Action, Gravity, Notice, Stage, Workbench};

/// The mark of a notice and its colour.
pub(super) fn look(gravity: Gravity, tones: &Tones) -> (Icon, egui::Color32) {
    match gravity {
        Gravity::Done => (Icon::Check, tones.ok),
        Gravity::Note => (Icon::Full, tones.accent),
        Gravity::Warning => (Icon::Warning, tones.warning),
        Gravity::Error => (Icon::Error, tones.error),
    }
}

/// All notices, the newest first.
pub(super) fn notices_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    ScrollArea::vertical().max_height(160.0).show(ui, |ui| {
        for notice in workbench.notices().list().iter().rev() {
            notice_ui(ui, notice, actions);
        }
    });
}

/// The newest notice below the page, while the sheet is closed: one that stays takes room of its own and
/// covers nothing, one that passes lies over the lower edge and moves nothing.
pub(super) fn newest_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let Some(newest) = workbench.notices().list().last() else {
        return;
    };
    if workbench.view().notices_open || stands_on_the_page(newest, workbench) {
        return;
    }
    if newest.gravity != Gravity::Done {
        let margin = Margin::symmetric(theme::PAGE_MARGIN, 6);
        let frame = Frame::side_top_panel(ui.style()).inner_margin(margin);
        Panel::bottom("newest notice")
            .frame(frame)
            .show(ui, |ui| notice_ui(ui, newest, actions));
        return;
    }
    let (aside, em) = (16.0, theme::body_font(ui).size);
    let corner = vec2(-aside, -em * 4.0);
    let room = ui.ctx().content_rect().width() - 4.0 * aside;
    Area::new(egui::Id::unique("newest notice"))
        .order(Order::Foreground)
        .anchor(Align2::RIGHT_BOTTOM, corner)
        .show(ui.ctx(), |ui| {
            Frame::popup(ui.style()).show(ui, |ui| {
                ui.set_max_width((em * 38.0).min(room));
                notice_ui(ui, newest, actions);
            });
        });
}

/// Whether the page shown says the same, at the place where it can be mended.
fn stands_on_the_page(notice: &Notice, workbench: &Workbench) -> bool {
    let is_shown = workbench.view().page == Stage::Records;
    is_shown && workbench.data().error() == Some(notice.text.as_str())
}

fn notice_ui(ui: &mut Ui, notice: &Notice, actions: &mut Vec<Action>) {
    let tones = theme::tones(ui);
    let (icon, color) = look(notice.gravity, tones);
    ui.horizontal(|ui| {
        icon_mark(ui, icon, color);
        if icon_button(ui, Icon::Close, "Dismiss notice")
            .on_hover_text("Dismiss this notice")
            .clicked()
        {
            actions.push(Action::DismissNotice(notice.id));
        }
        ui.add(egui::Label::new(RichText::new(&notice.text).color(tones.text)).wrap());
    });
}
