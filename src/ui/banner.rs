//! Thin banners below the menu: that this is a demo, and what a crash has left.

use egui::{Align, Button, Frame, Layout, Margin, Panel, RichText, Ui, vec2};

use super::elements::button;
use super::icons::{Icon, icon_button};
use super::theme;
use crate::workbench::{Action, Ask, Demo, OfferedCopy, PathAsk, Workbench};

/// The banners that are due.
pub(super) fn banners_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let copies = workbench.offered_copies();
    if let Some(newest) = copies.first() {
        banner(ui, "recovery", |ui| {
            recovery_ui(ui, newest, &copies[1..], actions);
        });
    }
    if let Some(demo) = workbench.banner() {
        banner(ui, "demo", |ui| demo_ui(ui, demo, workbench, actions));
    }
}

fn banner(ui: &mut Ui, name: &'static str, contents: impl FnOnce(&mut Ui)) {
    let frame = Frame::new()
        .fill(theme::tones(ui).accent_wash)
        .inner_margin(Margin::symmetric(16, 4));
    Panel::top(name).frame(frame).show(ui, |ui| {
        ui.horizontal_wrapped(contents);
    });
}

fn demo_ui(ui: &mut Ui, demo: Demo, workbench: &Workbench, actions: &mut Vec<Action>) {
    let tones = theme::tones(ui);
    let (what, other, action) = match demo {
        Demo::FeederFaults => (
            "Demo: simulated short circuits. Watch the profile of SLG fill up and replace samples.",
            "EEG demo",
            Demo::Eeg,
        ),
        Demo::Eeg => (
            "Demo: EEG of simulated subjects. Every subject is tested by a model that has never seen it.",
            "Feeder demo",
            Demo::FeederFaults,
        ),
    };
    ui.label(RichText::new(what).color(tones.strong));
    if button(
        ui,
        "Open your own data…",
        "A session, a data file or a folder of recordings (Ctrl+O)",
    ) {
        actions.push(Action::Ask(Ask::Path(PathAsk::OpenFile)));
    }
    if button(ui, other, "The other built-in data") {
        actions.push(Action::OpenDemo(action));
    }
    recent_ui(ui, workbench, actions);
    let side = ui.spacing().interact_size.y;
    if ui.available_size_before_wrap().x < side {
        ui.end_row();
    }
    let rest = vec2(ui.available_size_before_wrap().x, side);
    ui.allocate_ui_with_layout(rest, Layout::right_to_left(Align::Center), |ui| {
        if icon_button(ui, Icon::Close, "Hide the banner")
            .on_hover_text("Hide the banner")
            .clicked()
        {
            actions.push(Action::HideBanner);
        }
    });
}

fn recent_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let recent = &workbench.settings().recent;
    if recent.is_empty() {
        ui.add_enabled(false, Button::new("Recent sessions"))
            .on_disabled_hover_text("Sessions are listed here once one has been saved or opened");
        return;
    }
    let list = ui.menu_button("Recent sessions", |ui| {
        for path in recent {
            if button(ui, path.display().to_string(), "Opens this session") {
                actions.push(Action::Open(path.clone()));
                ui.close();
            }
        }
    });
    list.response
        .on_hover_text("Sessions that were recently saved or opened");
}

/// The newest copy, and a list of the others.
fn recovery_ui(
    ui: &mut Ui,
    newest: &OfferedCopy,
    others: &[OfferedCopy],
    actions: &mut Vec<Action>,
) {
    let tones = theme::tones(ui);
    let text = format!("Atomscope ended without saving {}.", described(newest));
    ui.label(RichText::new(text).color(tones.strong));
    if button(ui, "Restore", "Opens the copy") {
        actions.push(Action::Recover(0));
    }
    let help = "The copy is removed for good";
    if button(ui, "Discard the copy", help) {
        actions.push(Action::DiscardCopy(0));
    }
    if others.is_empty() {
        return;
    }
    let list = ui.menu_button(format!("Older copies ({})", others.len()), |ui| {
        for (place, copy) in others.iter().enumerate() {
            ui.horizontal(|ui| {
                if button(ui, "Restore", "Opens the copy") {
                    actions.push(Action::Recover(place + 1));
                    ui.close();
                }
                if button(ui, "Discard", help) {
                    actions.push(Action::DiscardCopy(place + 1));
                    ui.close();
                }
                ui.label(described(copy));
            });
        }
    });
    list.response
        .on_hover_text("Copies of other sessions, or earlier ones");
}

/// "noise.ron (complete run, settings; 0:03:10 ago)".
fn described(copy: &OfferedCopy) -> String {
    let age = copy.age.map_or(String::new(), |age| {
        format!("; {} ago", super::numbers::clock(age.as_secs_f64()))
    });
    format!("{} ({}{age})", copy.name, copy.contents)
}
