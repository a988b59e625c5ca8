//! Marks with one key: the digits 1 to 9 put annotations with the user's own names.

use egui::{Grid, Key, Modifiers, TextEdit, Ui};

use super::traces::HeardTraces;
use crate::ui::elements::help;
use crate::workbench::explore::{EegBrowser, EegView, ExploreAction, KeyUse};
use crate::workbench::{Action, Workbench};
use atomscope_engine::session::OwnAnnotation;

/// The keys 1 to 9.
pub(super) const DIGITS: [Key; 9] = [
    Key::Num1,
    Key::Num2,
    Key::Num3,
    Key::Num4,
    Key::Num5,
    Key::Num6,
    Key::Num7,
    Key::Num8,
    Key::Num9,
];

/// M switches marking on or off; while it is on, a digit puts its mark.
pub(super) fn mark_keys(
    ui: &Ui,
    workbench: &Workbench,
    heard: &HeardTraces,
    view: &mut EegView,
    actions: &mut Vec<Action>,
) {
    let Some(browser) = workbench.explore().eeg() else {
        return;
    };
    // While scoring, letters are states.
    if view.keys == KeyUse::Scores || !heard.hears {
        return;
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    if pressed(Key::M) {
        view.toggle_marking();
    }
    if view.keys != KeyUse::Marks {
        return;
    }
    if pressed(Key::Escape) {
        view.keys = KeyUse::Pages;
    }
    let names = &workbench.settings().marks;
    for (name, key) in names.iter().zip(DIGITS) {
        if !name.is_empty() && pressed(key) {
            let mark = new_annotation(browser, view, heard.pointed_s, name);
            actions.push(Action::Explore(ExploreAction::Mark(mark)));
        }
    }
}

/// An annotation between the cursors, at a time, or in the middle of the page; on the selected channel if one is
/// selected. Times are those of samples.
pub(super) fn new_annotation(
    browser: &EegBrowser,
    view: &EegView,
    pointed_s: Option<f64>,
    text: &str,
) -> OwnAnnotation {
    let rate_hz = browser.chosen().map_or(1000.0, |trace| trace.rate_hz);
    let snapped = |time_s: f64| (time_s * rate_hz).round() / rate_hz;
    let (from_s, to_s) = match view.cursors {
        Some((a_s, b_s)) => (a_s.min(b_s), a_s.max(b_s)),
        None => {
            let at_s = pointed_s.unwrap_or(view.start_s + view.span_s / 2.0);
            (at_s, at_s)
        }
    };
    let is_channel = |name: &&String| browser.record().channel_index(name).is_some();
    OwnAnnotation {
        onset_s: snapped(from_s),
        duration_s: snapped(to_s) - snapped(from_s),
        text: text.to_owned(),
        channels: view.chosen.iter().filter(is_channel).cloned().collect(),
    }
}

/// The names of the nine marks.
pub(super) fn mark_names_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    egui::CollapsingHeader::new("Keys 1 to 9")
        .id_salt("names of the marks")
        .show(ui, |ui| {
            help(
                ui,
                "What the digits mark while Mark is on; remembered for all recordings",
            );
            let mut marks = workbench.settings().marks.clone();
            marks.resize(DIGITS.len(), String::new());
            let mut has_changed = false;
            Grid::new("names of the marks")
                .num_columns(2)
                .show(ui, |ui| {
                    for (place, name) in marks.iter_mut().enumerate() {
                        let label = ui.label((place + 1).to_string());
                        let field = TextEdit::singleline(name).desired_width(140.0);
                        let field = ui.add(field).labelled_by(label.id);
                        let what = "The text of the mark; empty: the key does nothing";
                        has_changed |= field.on_hover_text(what).changed();
                        ui.end_row();
                    }
                });
            if has_changed {
                actions.push(Action::Explore(ExploreAction::NameMarks(marks)));
            }
        });
}
