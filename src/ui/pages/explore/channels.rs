//! The channels beside the traces: shown or hidden, bad or good, their order and own sensitivity.

use egui::{RichText, ScrollArea, Ui};

use crate::ui::elements::{help, section};
use crate::ui::icons::{Icon, icon_mark};
use crate::ui::theme;
use crate::workbench::Draft;
use crate::workbench::explore::{EegBrowser, EegView, OpenedRecording, TraceSource};
use atomscope_engine::features::signal_kind::{SignalKind, clean_label, kind_of};
use atomscope_engine::records::counted;
use atomscope_engine::session::{change_notes, notes_on};

/// All traces of the montage, and the chosen one in detail.
pub(super) fn channels_ui(
    ui: &mut Ui,
    browser: &EegBrowser,
    opened: &OpenedRecording,
    view: &mut EegView,
    draft: &mut Draft,
) {
    section(ui, "Channels");
    let traces = browser.traces();
    let n_hidden = traces
        .iter()
        .filter(|trace| view.hidden.contains(&trace.name))
        .count();
    ui.horizontal_wrapped(|ui| {
        help(
            ui,
            &format!("{} of {} shown", traces.len() - n_hidden, traces.len()),
        );
        let all = ui.add_enabled(n_hidden > 0, egui::Button::new("Show all").small());
        let all = all
            .on_hover_text("Shows hidden traces again")
            .on_disabled_hover_text("No trace is hidden");
        if all.clicked() {
            view.hidden.clear();
        }
        let others: Vec<&TraceSource> = traces
            .iter()
            .filter(|trace| trace.kind != SignalKind::Eeg)
            .collect();
        let can_hide = !others.is_empty() && others.len() < traces.len();
        let only = ui.add_enabled(can_hide, egui::Button::new("EEG only").small());
        let only = only
            .on_hover_text("Hides channels other than EEG: heart, eyes, breathing, triggers")
            .on_disabled_hover_text("All traces are of one kind");
        if only.clicked() {
            view.hidden = others.iter().map(|trace| trace.name.clone()).collect();
        }
        let order = ui.add_enabled(
            !view.order.is_empty(),
            egui::Button::new("File order").small(),
        );
        if order
            .on_hover_text("Restores the order of the montage")
            .on_disabled_hover_text("Traces are in the order of the montage")
            .clicked()
        {
            view.order.clear();
        }
    });
    suspects_ui(ui, browser, opened, view, draft);
    let line = ui.spacing().interact_size.y;
    // Close rows: a hospital's file has dozens of channels.
    let gap = std::mem::replace(&mut ui.spacing_mut().item_spacing.y, 0.0);
    let height = (ui.available_height() - line * 8.0).max(line * 4.0);
    ScrollArea::vertical()
        .id_salt("channels")
        .max_height(height)
        .auto_shrink([false, true])
        .show_rows(ui, line, traces.len(), |ui, range| {
            for trace in &traces[range] {
                row_ui(ui, trace, view);
            }
        });
    ui.spacing_mut().item_spacing.y = gap;
    ui.separator();
    if let Some(trace) = browser.chosen() {
        chosen_ui(ui, browser, trace, opened, view, draft);
    }
}

/// Channels that look bad, with the reason; nothing is marked unasked.
fn suspects_ui(
    ui: &mut Ui,
    browser: &EegBrowser,
    opened: &OpenedRecording,
    view: &mut EegView,
    draft: &mut Draft,
) {
    if !view.seeks_bad {
        let find = ui.add(egui::Button::new("Look for bad channels").small());
        let what = "Flat, noisy, unlike all others, or full of mains hum, in 40 sections of 2 s; nothing is marked until you choose it";
        view.seeks_bad = find.on_hover_text(what).clicked();
        return;
    }
    let Some(found) = browser.suspects() else {
        help(ui, "Looking for bad channels…");
        return;
    };
    let notes = notes_on(&draft.recordings, &opened.name);
    let is_open =
        |name: &str| !notes.is_some_and(|notes| notes.bad_channels.iter().any(|bad| bad == name));
    let open: Vec<(String, String)> = found
        .iter()
        .filter(|(name, _)| is_open(name))
        .map(|(name, suspicion)| ((*name).to_owned(), suspicion.to_string()))
        .collect();
    let text = match (found.len(), open.len()) {
        (0, _) => "No channel looks bad".to_owned(),
        (_, 0) => "All that look bad are marked".to_owned(),
        (_, n) => format!("Looks bad: {}", counted(n, "channel")),
    };
    let mut marked: Vec<String> = Vec::new();
    ui.horizontal_wrapped(|ui| {
        help(ui, &text);
        let all = ui.add_enabled(!open.is_empty(), egui::Button::new("Mark all").small());
        let all = all
            .on_hover_text("Marks all of them as bad; Ctrl+Z undoes it")
            .on_disabled_hover_text("There is no channel to mark");
        if all.clicked() {
            marked.extend(open.iter().map(|(name, _)| name.clone()));
        }
        let close = ui.small_button("Close");
        if close.on_hover_text("Closes this list").clicked() {
            view.seeks_bad = false;
        }
    });
    ScrollArea::vertical()
        .id_salt("channels that look bad")
        .max_height(ui.spacing().interact_size.y * 5.0)
        .show(ui, |ui| {
            for (name, reason) in &open {
                ui.horizontal(|ui| {
                    let mark = ui.small_button(format!("Mark {}", clean_label(name)));
                    if mark
                        .on_hover_text("Marks it as bad; Ctrl+Z undoes it")
                        .clicked()
                    {
                        marked.push(name.clone());
                    }
                    let show = ui.add(egui::Button::new(reason).frame(false).truncate());
                    if show
                        .on_hover_text(format!("{name}: {reason}. Click to select it."))
                        .clicked()
                    {
                        view.chosen = Some(name.clone());
                    }
                });
            }
        });
    for name in marked {
        change_notes(&mut draft.recordings, &opened.name, |notes| {
            notes.toggle_bad(&name);
        });
    }
}

/// What the chosen channel measures, if the guess from its label, unit and rate is wrong.
fn kind_ui(ui: &mut Ui, trace: &TraceSource, opened: &OpenedRecording, draft: &mut Draft) {
    let record = &opened.record;
    let channel = record.channel_index(&trace.name);
    let Some(channel) = channel.and_then(|place| record.channels.get(place)) else {
        return;
    };
    let guessed = kind_of(channel);
    ui.horizontal(|ui| {
        let label = ui.label("Kind");
        let combo = egui::ComboBox::from_id_salt("kind of the channel")
            .selected_text(trace.kind.name())
            .show_ui(ui, |ui| {
                for kind in SignalKind::ALL {
                    if ui
                        .selectable_label(kind == trace.kind, kind.name())
                        .clicked()
                    {
                        change_notes(&mut draft.recordings, &opened.name, |notes| {
                            notes.kinds.retain(|(name, _)| *name != trace.name);
                            if kind != guessed {
                                notes.kinds.push((trace.name.clone(), kind));
                            }
                        });
                    }
                }
            });
        let what = format!(
            "What the channel measures: its colour, its sensitivity and whether it counts as EEG follow. Default: {}, from label, unit and rate. Saved with the session.",
            guessed.name()
        );
        combo.response.labelled_by(label.id).on_hover_text(what);
    });
}

fn row_ui(ui: &mut Ui, trace: &TraceSource, view: &mut EegView) {
    let tones = theme::tones(ui);
    ui.horizontal(|ui| {
        ui.spacing_mut().interact_size.x = 0.0;
        let mut is_shown = !view.hidden.contains(&trace.name);
        let shown = ui.checkbox(&mut is_shown, "");
        let name = format!("Show {}", trace.name);
        ui.ctx()
            .accesskit_node_builder(shown.id, |node| node.set_label(name.as_str()));
        if shown.on_hover_text(&name).changed() {
            view.toggle_hidden(&trace.name);
        }
        let color = if trace.is_bad {
            tones.error
        } else {
            tones.text
        };
        let text = RichText::new(clean_label(&trace.name)).color(color);
        let is_chosen = view.chosen.as_ref() == Some(&trace.name);
        let label = ui.selectable_label(is_chosen, text);
        let unit = if trace.unit.is_empty() {
            "no unit"
        } else {
            &trace.unit
        };
        let (name, kind) = (&trace.name, trace.kind.name());
        let what = format!(
            "{name}: {kind}, {unit}, {} Hz. Click to select it.",
            trace.rate_hz
        );
        if label.on_hover_text(what).clicked() {
            view.chosen = (!is_chosen).then(|| trace.name.clone());
        }
        if trace.is_bad {
            icon_mark(ui, Icon::Warning, tones.error).on_hover_text("Marked as bad");
        }
    });
}

/// Bad or good, place, sensitivity.
fn chosen_ui(
    ui: &mut Ui,
    browser: &EegBrowser,
    trace: &TraceSource,
    opened: &OpenedRecording,
    view: &mut EegView,
    draft: &mut Draft,
) {
    ui.label(RichText::new(&trace.name).color(theme::tones(ui).strong));
    kind_ui(ui, trace, opened, draft);
    let names: Vec<String> = browser.traces().iter().map(|t| t.name.clone()).collect();
    ui.horizontal(|ui| {
        for (text, by, what) in [("Up", -1, "one place up"), ("Down", 1, "one place down")] {
            let button = ui.button(text);
            if button.on_hover_text(format!("Moves the trace {what}")).clicked() {
                view.move_trace(&names, &trace.name, by);
                view.chosen = Some(trace.name.clone());
            }
        }
        let notes = notes_on(&draft.recordings, &opened.name);
        let is_channel = browser.record().channel_index(&trace.name).is_some();
        let mut is_bad = notes.is_some_and(|notes| notes.bad_channels.contains(&trace.name));
        let bad = ui.add_enabled(is_channel, egui::Checkbox::new(&mut is_bad, "Bad channel"));
        let bad = bad
            .on_hover_text("Drawn faintly, excluded from average reference, Laplacian and maps; saved with the session. Default: good.")
            .on_disabled_hover_text("A trace made of several channels: mark them in the montage As recorded");
        if bad.changed() {
            change_notes(&mut draft.recordings, &opened.name, |notes| {
                notes.toggle_bad(&trace.name);
            });
        }
    });
    ui.horizontal(|ui| {
        let label = ui.label("Sensitivity");
        let mut own = view.sensitivity_of(&trace.name);
        let speed = own * 0.02;
        let field = egui::DragValue::new(&mut own)
            .range(0.001..=1e7)
            .speed(speed)
            .suffix(format!(" {}/mm", trace.unit));
        let field = ui.add(field).labelled_by(label.id);
        let what =
            "Of this trace alone, in its unit per millimetre; 0.001 to 10⁷, by default that of all";
        if field.on_hover_text(what).changed() {
            view.own_sensitivity.insert(trace.name.clone(), own);
        }
        let has_own = view.own_sensitivity.contains_key(&trace.name);
        let same = ui.add_enabled(has_own, egui::Button::new("As all").small());
        if same
            .on_hover_text("Resets it to the sensitivity of all traces")
            .on_disabled_hover_text("This trace has the sensitivity of all")
            .clicked()
        {
            view.own_sensitivity.remove(&trace.name);
        }
    });
}
