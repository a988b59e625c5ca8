//! Thin banners below the menu: that this is a demo, and what a crash has left.

use egui::{Align, Frame, Layout, Margin, Panel, RichText, Ui};

use super::icons::{Icon, icon_button};
use super::theme;
use crate::workbench::{Action, Ask, Demo, Workbench};

/// The banners that are due.
pub(super) fn banners_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    if workbench.files().offer().is_some() {
        banner(ui, "recovery", |ui| recovery_ui(ui, workbench, actions));
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
        ui.horizontal(contents);
    });
}

fn demo_ui(ui: &mut Ui, demo: Demo, workbench: &Workbench, actions: &mut Vec<Action>) {
    let tones = theme::tones(ui);
    let (what, other, action) = match demo {
        Demo::FeederFaults => (
            "Demo: short circuits on a simulated feeder. Watch the profile of SLG fill up and replace samples, and click a cell of the confusion matrix.",
            "EEG demo",
            Demo::Eeg,
        ),
        Demo::Eeg => (
            "Demo: EEG of simulated subjects. Compare the test score with the prequential one: new people are harder.",
            "Feeder demo",
            Demo::FeederFaults,
        ),
    };
    ui.label(RichText::new(what).color(tones.strong));
    let open = ui.button("Open your own data…");
    if open
        .on_hover_text("A session, a data file or a folder of recordings (Ctrl+O)")
        .clicked()
    {
        actions.push(Action::Ask(Ask::OpenFile));
    }
    if ui
        .button(other)
        .on_hover_text("The other built-in data")
        .clicked()
    {
        actions.push(Action::OpenDemo(action));
    }
    recent_ui(ui, workbench, actions);
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
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
    let menu = ui.add_enabled_ui(!recent.is_empty(), |ui| {
        ui.menu_button("Recent sessions", |ui| {
            for path in recent {
                let open = ui.button(path.display().to_string());
                if open.on_hover_text("Opens this session").clicked() {
                    actions.push(Action::Open(path.clone()));
                    ui.close();
                }
            }
        })
        .response
    });
    menu.inner
        .on_hover_text("Sessions that were saved or opened lately")
        .on_disabled_hover_text("Sessions are listed here once one was saved or opened");
}

fn recovery_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let tones = theme::tones(ui);
    let Some(offer) = workbench.files().offer() else {
        return;
    };
    let age = offer.written.and_then(|written| written.elapsed().ok());
    let when = match age {
        Some(age) => format!(", {} ago", super::numbers::clock(age.as_secs_f64())),
        None => String::new(),
    };
    let text = format!("Atomscope ended without saving. A copy was kept{when}.");
    ui.label(RichText::new(text).color(tones.strong));
    let recover = ui.button("Recover");
    if recover.on_hover_text("Restore the copy").clicked() {
        actions.push(Action::Recover);
    }
    let discard = ui.button("Discard the copy");
    if discard
        .on_hover_text("The copy is removed for good")
        .clicked()
    {
        actions.push(Action::DeclineRecovery);
    }
}
