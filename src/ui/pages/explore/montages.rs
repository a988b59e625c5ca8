//! The choice of a montage, and the user's own ones: named, kept with the user, edited in a table.

use egui::{ScrollArea, TextEdit, Ui};

use super::toolbar::combo;
use crate::ui::app::Typing;
use crate::ui::elements;
use crate::ui::icons::{Icon, icon_button};
use crate::workbench::explore::{EegBrowser, EegView, ExploreAction, TraceSource};
use crate::workbench::{Action, Workbench};
use atomscope_engine::features::montage::Montage;
use atomscope_engine::session::NamedMontage;

/// The choice of a montage.
pub(super) fn montage_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    browser: &EegBrowser,
    view: &mut EegView,
    typing: &mut Typing,
) {
    let built_in = [
        Montage::AsRecorded,
        Montage::AverageReference,
        Montage::LongitudinalBipolar,
        Montage::TransverseBipolar,
        Montage::Vertex,
        Montage::LinkedEars,
        Montage::LinkedMastoids,
        Montage::Laplacian,
    ];
    let own = &workbench.settings().montages;
    let mut names: Vec<String> = built_in.iter().map(|m| m.name().to_owned()).collect();
    names.extend(own.iter().map(|montage| montage.name.clone()));
    names.push("New own montage".to_owned());
    let current = match &view.montage {
        Montage::Own(lines) => own.iter().find(|montage| montage.lines == *lines),
        _ => None,
    };
    let current = current.map_or(view.montage.name(), |montage| montage.name.as_str());
    let help = "How traces are made of channels: as recorded (default), against the mean of all good electrodes, against the next electrode behind or to the right, against Cz, both ears or both mastoids, against the mean of the four nearest neighbours, or by your own lines";
    let Some(place) = combo(ui, ("Montage", help), current, 9.5, &names) else {
        return;
    };
    let saved = place
        .checked_sub(built_in.len())
        .and_then(|place| own.get(place));
    view.montage = match (built_in.get(place), saved) {
        (Some(montage), _) => montage.clone(),
        (None, Some(saved)) => {
            typing.montage_name.clone_from(&saved.name);
            Montage::Own(saved.lines.clone())
        }
        (None, None) => {
            typing.montage_name.clear();
            // Lines that are not saved stay; else it begins with what is shown.
            let is_shown = matches!(view.montage, Montage::Own(_));
            let is_saved = own.iter().any(|saved| saved.lines == view.own_montage);
            if !is_shown && (is_saved || view.own_montage.trim().is_empty()) {
                view.own_montage = lines_of(browser);
            }
            Montage::Own(view.own_montage.clone())
        }
    };
    if let Montage::Own(lines) = &view.montage {
        view.own_montage.clone_from(lines);
        typing.montage.clone_from(lines);
    }
}

/// The traces of an own montage as a table, with what is wrong with them, and its name.
pub(super) fn own_montage_ui(
    ui: &mut Ui,
    browser: &EegBrowser,
    view: &mut EegView,
    typing: &mut Typing,
    actions: &mut Vec<Action>,
) {
    if matches!(view.montage, Montage::Own(_)) {
        edit_ui(ui, view, typing, actions);
    } else {
        typing.montage.clone_from(&view.own_montage);
    }
    // Below the fields: above them it would take the focus from what is typed.
    if let Some(problem) = browser.montage_problem() {
        let text = format!("{problem}; the traces stay as they were");
        elements::wrong(ui, &text);
    }
}

/// The name of an own montage and its table.
fn edit_ui(ui: &mut Ui, view: &mut EegView, typing: &mut Typing, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let label = ui.label("Own montage");
        let field = TextEdit::singleline(&mut typing.montage_name).desired_width(140.0);
        ui.add(field.hint_text("its name"))
            .labelled_by(label.id)
            .on_hover_text("The name under which it is offered for all recordings");
        let name = typing.montage_name.trim().to_owned();
        let can_save = !name.is_empty() && !typing.montage.trim().is_empty();
        let save = ui.add_enabled(can_save, egui::Button::new("Save montage"));
        let save = save
            .on_hover_text("Kept with your settings; one of the same name is replaced")
            .on_disabled_hover_text("Enter a name and at least one trace first");
        if save.clicked() {
            let lines = typing.montage.clone();
            let montage = NamedMontage {
                name: name.clone(),
                lines,
            };
            actions.push(Action::Explore(ExploreAction::SaveMontage(montage)));
        }
        let remove = ui.add_enabled(!name.is_empty(), egui::Button::new("Remove montage"));
        let remove = remove
            .on_hover_text("Deletes the montage of this name; its traces stay in the table")
            .on_disabled_hover_text("It has no name");
        if remove.clicked() {
            actions.push(Action::Explore(ExploreAction::RemoveMontage(name)));
        }
    });
    if table_ui(ui, &mut typing.montage) {
        view.own_montage.clone_from(&typing.montage);
        view.montage = Montage::Own(typing.montage.clone());
    }
}

/// The traces that are shown as lines of an own montage, to begin with; of sums of many channels the first.
fn lines_of(browser: &EegBrowser) -> String {
    let name = |place: usize| browser.record().channels[place].name.as_str();
    let line = |trace: &TraceSource| match trace.terms[..] {
        [(first, _), (second, weight)] if weight < 0.0 => Some(format!(
            "{}: {} - {}",
            trace.name,
            name(first),
            name(second)
        )),
        _ => trace
            .terms
            .first()
            .map(|(first, _)| name(*first).to_owned()),
    };
    let lines: Vec<String> = browser.traces().iter().filter_map(line).collect();
    lines.join("\n")
}

/// A row for each trace: its name and what it is made of. Tells whether something has changed.
fn table_ui(ui: &mut Ui, text: &mut String) -> bool {
    let mut rows: Vec<(String, String)> = text.lines().map(parts_of).collect();
    rows.push(Default::default());
    let last = rows.len() - 1;
    let mut removed = None;
    let mut has_changed = false;
    let line = ui.spacing().interact_size.y + ui.spacing().item_spacing.y;
    ScrollArea::vertical()
        .id_salt("traces of the own montage")
        .max_height(line * 4.0)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            for (place, (name, terms)) in rows.iter_mut().enumerate() {
                let number = place + 1;
                ui.horizontal(|ui| {
                    let what = "Name of the trace; empty: what it is made of";
                    let field = TextEdit::singleline(name).desired_width(90.0);
                    let field = ui.add(field.hint_text("name"));
                    has_changed |= labelled(ui, field, &format!("Name of trace {number}"), what);
                    let what = "Channels or electrodes with + and −, factors before them: Fp1 - F3, C3 - 0.5 A1 - 0.5 A2";
                    let field = TextEdit::singleline(terms).desired_width(240.0);
                    let field = ui.add(field.hint_text("C3 - 0.5 A1 - 0.5 A2"));
                    has_changed |= labelled(ui, field, &format!("Channels of trace {number}"), what);
                    if place < last {
                        let remove = format!("Remove trace {number}");
                        let button = icon_button(ui, Icon::Close, &remove);
                        if button.on_hover_text(&remove).clicked() {
                            removed = Some(place);
                        }
                    }
                });
            }
        });
    if let Some(place) = removed {
        rows.remove(place);
        has_changed = true;
    }
    if has_changed {
        *text = text_of(&rows);
    }
    has_changed
}

fn labelled(ui: &Ui, field: egui::Response, name: &str, what: &str) -> bool {
    ui.ctx()
        .accesskit_node_builder(field.id, |node| node.set_label(name));
    field.on_hover_text(what).changed()
}

fn parts_of(line: &str) -> (String, String) {
    match line.split_once(':') {
        Some((name, terms)) => (name.trim().to_owned(), terms.trim_start().to_owned()),
        None => (String::new(), line.to_owned()),
    }
}

/// The rows as lines; empty ones at the end are none.
fn text_of(rows: &[(String, String)]) -> String {
    let line = |(name, terms): &(String, String)| match name.trim() {
        "" => terms.clone(),
        name => format!("{name}: {terms}"),
    };
    let lines: Vec<String> = rows.iter().map(line).collect();
    let last = lines.iter().rposition(|line| !line.trim().is_empty());
    lines[..last.map_or(0, |last| last + 1)].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_its_lines() {
        let text = "left: T3 - C3\nFp1 - F3\n\nC3 - 0.5 A1 - 0.5 A2";
        let mut rows: Vec<(String, String)> = text.lines().map(parts_of).collect();
        assert_eq!(rows[0], ("left".to_owned(), "T3 - C3".to_owned()));
        rows.push(Default::default());
        assert_eq!(text_of(&rows), text);
        assert_eq!(text_of(&[Default::default()]), "");
    }
}
