//! Annotations beside the traces: searched, jumped to, added, edited and exported.

use std::collections::BTreeMap;

use egui::{RichText, ScrollArea, TextEdit, Ui};

use super::marking::{mark_names_ui, new_annotation};
use super::traces::time_label;
use crate::ui::app::Typing;
use crate::ui::elements::{button, help, section};
use crate::ui::numbers::cut;
use crate::ui::theme;
use crate::workbench::explore::{AnnotationRow, EegBrowser, EegView, OpenedRecording};
use crate::workbench::{Action, Ask, Draft, PathAsk, Workbench};
use atomscope_engine::features::signal_kind::clean_label;
use atomscope_engine::session::{OwnAnnotation, change_notes, notes_on};

/// Types of annotations that are listed.
const MOST_TYPES: usize = 200;

/// The list, what can be added, and the chosen own annotation.
pub(super) fn annotations_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    opened: &OpenedRecording,
    view: &mut EegView,
    draft: &mut Draft,
    typing: &mut Typing,
    actions: &mut Vec<Action>,
) {
    let Some(browser) = workbench.explore().eeg() else {
        return;
    };
    section(ui, "Annotations");
    ui.horizontal(|ui| {
        if button(ui, "Import…", "Adds annotations of a table (CSV, BIDS events.tsv) or of an EDF+ file") {
            actions.push(Action::Ask(Ask::Path(PathAsk::ImportAnnotations)));
        }
        let is_any = !browser.annotations().rows().is_empty();
        let export = ui.add_enabled(is_any, egui::Button::new("Export…"));
        if export
            .on_hover_text("All annotations as a table (CSV, or TSV in the form of BIDS), or the recording with them as EDF+")
            .on_disabled_hover_text("There is no annotation to write")
            .clicked()
        {
            actions.push(Action::Ask(Ask::Path(PathAsk::ExportAnnotations)));
        }
    });
    search_ui(ui, browser, typing);
    let line = ui.spacing().interact_size.y;
    // An own annotation is edited below the list.
    let lines_below = if view.annotation.is_some() { 12.0 } else { 9.0 };
    let room = ui.available_height();
    let height = (room - line * lines_below).max(room * 0.45);
    list_ui(ui, browser, view, typing, height);
    ui.separator();
    // The names of the marks are higher than a small window leaves.
    ScrollArea::vertical()
        .id_salt("below the annotations")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            add_ui(ui, browser, opened, view, draft, typing);
            if let Some(own) = view.annotation {
                edit_ui(ui, opened, view, draft, own);
            }
            mark_names_ui(ui, workbench, actions);
        });
}

/// Text to search for, and the types that there are with how often.
fn search_ui(ui: &mut Ui, browser: &EegBrowser, typing: &mut Typing) {
    ui.horizontal(|ui| {
        let label = ui.label("Search");
        let width = (ui.available_width() - theme::body_font(ui).size * 6.0).max(60.0);
        let field = TextEdit::singleline(&mut typing.annotation_search).desired_width(width);
        ui.add(field)
            .labelled_by(label.id)
            .on_hover_text("Search text and channels, ignoring case");
        let menu = ui.menu_button("Types", |ui| {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for row in browser.annotations().rows() {
                *counts.entry(row.text.as_str()).or_default() += 1;
            }
            if button(ui, "All types", "Shows all annotations") {
                typing.annotation_search.clear();
                ui.close();
            }
            ScrollArea::vertical().max_height(300.0).show(ui, |ui| {
                for (text, count) in counts.into_iter().take(MOST_TYPES) {
                    let choose = ui.button(format!("{} ({count})", cut(text, 40)));
                    if choose.on_hover_text("Shows those of this type").clicked() {
                        text.clone_into(&mut typing.annotation_search);
                        ui.close();
                    }
                }
            });
        });
        menu.response.on_hover_text(
            "The types of annotations that there are; choosing one shows those alone",
        );
    });
}

fn list_ui(ui: &mut Ui, browser: &EegBrowser, view: &mut EegView, typing: &Typing, height: f32) {
    let list = browser.annotations();
    let shown = list.containing(typing.annotation_search.trim());
    help(ui, &format!("{} of {}", shown.len(), list.rows().len()));
    if list.rows().is_empty() {
        help(
            ui,
            "The file has none; add your own below, they are saved with the session",
        );
    }
    let line = ui.spacing().interact_size.y;
    ScrollArea::vertical()
        .id_salt("annotations")
        .max_height(height)
        .auto_shrink([false, true])
        .show_rows(ui, line, shown.len(), |ui, range| {
            for place in &shown[range] {
                row_ui(ui, browser, &list.rows()[*place], view);
            }
        });
}

fn row_ui(ui: &mut Ui, browser: &EegBrowser, row: &AnnotationRow, view: &mut EegView) {
    let tones = theme::tones(ui);
    let time = time_label(browser, view, row.onset_s, 0.001);
    let color = if row.own.is_some() {
        tones.ok
    } else {
        tones.text
    };
    let mut text = format!("{time}  {}", row.text);
    if let Some(channel) = row.channels.first() {
        text.push_str(&format!(" · {}", clean_label(channel)));
    }
    let text = RichText::new(text).color(color);
    let is_chosen = row.own.is_some() && row.own == view.annotation;
    let label = ui.add(egui::Button::selectable(is_chosen, text).truncate());
    let whose = if row.own.is_some() {
        "your own"
    } else {
        "of the file"
    };
    let about = match row.channels[..] {
        [] => String::new(),
        _ => format!(", on {}", row.channels.join(", ")),
    };
    let lasts = match row.duration_s > 0.0 {
        true => format!(", {:.3} s long", row.duration_s),
        false => String::new(),
    };
    let what = format!("{} ({whose}{lasts}{about}). Click to go there.", row.text);
    if label.on_hover_text(what).clicked() {
        view.show_time(row.onset_s);
        view.annotation = row.own;
        view.cursors =
            (row.duration_s > 0.0).then_some((row.onset_s, row.onset_s + row.duration_s));
    }
}

/// A new annotation of the selection, or of the middle of the page.
fn add_ui(
    ui: &mut Ui,
    browser: &EegBrowser,
    opened: &OpenedRecording,
    view: &mut EegView,
    draft: &mut Draft,
    typing: &mut Typing,
) {
    let mut enter = false;
    ui.horizontal(|ui| {
        let label = ui.label("New");
        let field = TextEdit::singleline(&mut typing.annotation).desired_width(f32::INFINITY);
        let field = ui
            .add(field.hint_text("spike, eyes closed, …"))
            .labelled_by(label.id)
            .on_hover_text("Text of the annotation");
        enter = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    });
    let text = typing.annotation.trim().to_owned();
    let add = ui.add_enabled(!text.is_empty(), egui::Button::new("Add annotation"));
    let add = add.on_hover_text("Between the cursors, or without them at the middle of the page");
    if (add.clicked() || enter) && !text.is_empty() {
        let annotation = new_annotation(browser, view, None, &text);
        let place = change_notes(&mut draft.recordings, &opened.name, |notes| {
            notes.add(annotation)
        });
        view.annotation = Some(place);
        typing.annotation.clear();
    }
    let wanted = new_annotation(browser, view, None, "");
    let (onset_s, duration_s) = (wanted.onset_s, wanted.duration_s);
    let about = match wanted.channels.first() {
        Some(channel) => format!(", on {}", clean_label(channel)),
        None => String::new(),
    };
    let place = match duration_s > 0.0 {
        true => format!("from {onset_s:.3} s, {duration_s:.3} s long{about}"),
        false => format!("at {onset_s:.3} s{about}; drag over the traces to select a section"),
    };
    help(ui, &place);
}

/// Text, time and removal of an own annotation.
fn edit_ui(
    ui: &mut Ui,
    opened: &OpenedRecording,
    view: &mut EegView,
    draft: &mut Draft,
    place: usize,
) {
    let notes = notes_on(&draft.recordings, &opened.name);
    let Some(known) = notes.and_then(|notes| notes.annotations.get(place)) else {
        view.annotation = None;
        return;
    };
    let mut edited = known.clone();
    let mut removes = false;
    ui.separator();
    ui.horizontal(|ui| {
        let label = ui.label("Text");
        let width = (ui.available_width() - theme::body_font(ui).size * 6.0).max(60.0);
        let field = TextEdit::singleline(&mut edited.text).desired_width(width);
        ui.add(field).labelled_by(label.id).on_hover_text(
            "Text of the selected annotation: its type, by which it is searched and scored",
        );
        let remove = ui.button("Remove");
        removes = remove
            .on_hover_text("Deletes the annotation; Ctrl+Z restores it")
            .clicked();
    });
    ui.horizontal(|ui| {
        for (name, value) in [
            ("Onset", &mut edited.onset_s),
            ("Length", &mut edited.duration_s),
        ] {
            let label = ui.label(name);
            let field = egui::DragValue::new(value).range(0.0..=1e7).speed(0.01);
            ui.add(field.suffix(" s").max_decimals(3))
                .labelled_by(label.id)
                .on_hover_text(format!("{name} in seconds, 0 or more"));
        }
    });
    channels_field_ui(ui, opened, &mut edited);
    if edited == *known && !removes {
        return;
    }
    let moved = change_notes(&mut draft.recordings, &opened.name, |notes| {
        notes.annotations.remove(place);
        (!removes).then(|| notes.add(edited))
    });
    view.annotation = moved;
}

/// The channels an annotation is about: all of them, or those that are ticked.
fn channels_field_ui(ui: &mut Ui, opened: &OpenedRecording, edited: &mut OwnAnnotation) {
    ui.horizontal(|ui| {
        let label = ui.label("Channels");
        let shown = match edited.channels[..] {
            [] => "all".to_owned(),
            _ => edited.channels.join(", "),
        };
        let combo = egui::ComboBox::from_id_salt("channels of the annotation")
            .selected_text(shown)
            .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
            .show_ui(ui, |ui| {
                for channel in &opened.record.channels {
                    let mut is_in = edited.channels.contains(&channel.name);
                    if ui.checkbox(&mut is_in, &channel.name).changed() {
                        match is_in {
                            true => edited.channels.push(channel.name.clone()),
                            false => edited.channels.retain(|name| *name != channel.name),
                        }
                    }
                }
            });
        combo.response.labelled_by(label.id).on_hover_text(
            "The channels that the annotation is about. Default: the selected one, or all.",
        );
    });
}
