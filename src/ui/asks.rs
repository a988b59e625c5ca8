//! Questions in front of the page: which file, what becomes of unsaved changes, which keys there are.

use std::path::{Path, PathBuf};

use egui::text_selection::CCursorRange;
use egui::{Context, Grid, Id, Key, Modal, RichText, ScrollArea, TextEdit, Ui};

use super::app::Typing;
use super::dialogs::Dialogs;
use super::elements::button;
use super::manual::manual_ui;
use super::shortcuts::KEYS;
use super::theme;
use crate::workbench::{Action, Ask, PathAsk, Workbench};

/// The question that waits, if one does.
pub(super) fn asks_ui(
    context: &Context,
    workbench: &Workbench,
    typing: &mut Typing,
    mut dialogs: Option<&mut Dialogs>,
    actions: &mut Vec<Action>,
) {
    let Some(ask) = &workbench.view().ask else {
        typing.path.clear();
        typing.has_proposed = false;
        typing.preset.clear();
        return;
    };
    let shown = Modal::new(Id::unique("question")).show(context, |ui| {
        ui.set_width(theme::body_font(ui).size * 38.0);
        match (ask, ask.path()) {
            (_, Some(what)) => path_ui(ui, what, workbench, typing, dialogs.take(), actions),
            (Ask::Unsaved(_), None) => unsaved_ui(ui, workbench, actions),
            (Ask::Replace { path, action, .. }, None) => replace_ui(ui, path, action, actions),
            (Ask::ChangedOnDisk(then), None) => changed_ui(ui, then.as_deref(), actions),
            (Ask::PresetName, None) => preset_ui(ui, typing, actions),
            (Ask::About, None) => about_ui(ui, actions),
            (Ask::Manual, None) => {
                manual_ui(ui, context.content_rect().height() - 140.0);
                ui.add_space(theme::GRID);
                cancel_ui(ui, "Close", actions);
            }
            (_, None) => keys_ui(ui, actions),
        }
    });
    if shown.backdrop_response.clicked() {
        actions.push(Action::CancelAsk);
    }
}

fn title(ui: &mut Ui, text: &str) {
    let color = theme::tones(ui).strong;
    ui.label(RichText::new(text).heading().color(color));
    ui.add_space(theme::GRID);
}

fn cancel_ui(ui: &mut Ui, text: &str, actions: &mut Vec<Action>) {
    let cancel = ui.button(text);
    if cancel
        .on_hover_text("Back to the page; nothing changes (Esc)")
        .clicked()
    {
        actions.push(Action::CancelAsk);
    }
}

/// A path: by the dialog of the system where there is one, always by typing.
fn path_ui(
    ui: &mut Ui,
    what: PathAsk,
    workbench: &Workbench,
    typing: &mut Typing,
    dialogs: Option<&mut Dialogs>,
    actions: &mut Vec<Action>,
) {
    let question = what.question();
    title(ui, question.title);
    ui.label(question.help);
    let label = ui.label("Path");
    let is_new = !std::mem::replace(&mut typing.has_proposed, true);
    if let Some(path) = workbench.proposed_path(what).filter(|_| is_new) {
        typing.path = path.display().to_string();
    }
    let field = TextEdit::singleline(&mut typing.path).desired_width(f32::INFINITY);
    let mut field = field.hint_text("/path/to/file").show(ui);
    if is_new {
        // What is typed replaces the proposal.
        let all = CCursorRange::select_all(&field.galley);
        field.state.cursor.set_char_range(Some(all));
        field.state.store(ui.ctx(), field.response.id);
    }
    let field = field
        .response
        .response
        .labelled_by(label.id)
        .on_hover_text(question.help);
    let enter = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if is_new || typing.path.is_empty() && ui.memory(|memory| memory.focused().is_none()) {
        field.request_focus();
    }
    if let PathAsk::ExportRecording { mut anonymises } = what
        && ui
            .checkbox(&mut anonymises, "Anonymise")
            .on_hover_text("Leaves out patient and recording; the date becomes 1 January 1985, the time of day stays. Texts of annotations are kept: look through them. Default off.")
            .changed()
    {
        actions.push(Action::Ask(Ask::Path(PathAsk::ExportRecording { anonymises })));
    }
    ui.add_space(theme::GRID);
    ui.horizontal(|ui| {
        let path = typing.path.trim();
        let go = ui.add_enabled(!path.is_empty(), egui::Button::new(question.verb));
        let go = go
            .on_hover_text("With the path above (Enter)")
            .on_disabled_hover_text("Type or choose a path first");
        if (go.clicked() || enter) && !path.is_empty() {
            let path = PathBuf::from(path);
            actions.push(what.answered(path));
        }
        if let Some(dialogs) = dialogs {
            let text = if dialogs.is_open() {
                "Choosing…"
            } else {
                "Browse…"
            };
            let browse = ui.add_enabled(!dialogs.is_open(), egui::Button::new(text));
            let help = "The file dialog of the system; if none appears, type the path above";
            if browse.on_hover_text(help).clicked() {
                dialogs.ask(what, ui.ctx());
            }
        }
        cancel_ui(ui, "Cancel", actions);
    });
    let recent = &workbench.settings().recent;
    if what == PathAsk::OpenFile && !recent.is_empty() {
        ui.add_space(theme::GRID);
        ui.label("Recent sessions");
        for path in recent.iter().take(8) {
            let text = path.display().to_string();
            let open = egui::Button::new(&text).frame(false).truncate();
            if ui.add(open).on_hover_text(&text).clicked() {
                actions.push(Action::Open(path.clone()));
            }
        }
    }
}

fn unsaved_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    title(ui, "Save the changes?");
    let state = match workbench.path() {
        Some(_) => format!("{} has unsaved changes.", workbench.name()),
        None => "This session has never been saved.".to_owned(),
    };
    ui.label(format!(
        "{state} Without saving, settings, notes and training are lost."
    ));
    ui.add_space(theme::GRID);
    ui.horizontal(|ui| {
        let help = "Saves, then continues with what was asked for";
        if button(ui, "Save", help) {
            actions.push(Action::SaveFirst);
        }
        if button(ui, "Do not save", "The changes are lost") {
            actions.push(Action::DoNotSave);
        }
        cancel_ui(ui, "Cancel", actions);
    });
}

/// A file is there already.
fn replace_ui(ui: &mut Ui, path: &Path, action: &Action, actions: &mut Vec<Action>) {
    title(ui, "Replace the file?");
    ui.label(format!("This file already exists: {}", path.display()));
    ui.add_space(theme::GRID);
    ui.horizontal(|ui| {
        if button(ui, "Replace", "The existing file is overwritten") {
            actions.push(Action::Replace(Box::new(action.clone())));
        }
        cancel_ui(ui, "Cancel", actions);
    });
}

fn changed_ui(ui: &mut Ui, then: Option<&Action>, actions: &mut Vec<Action>) {
    title(ui, "The file has changed");
    ui.label("Another window or program has written the session since it was opened here.");
    ui.add_space(theme::GRID);
    ui.horizontal(|ui| {
        if button(ui, "Save under another name…", "Both versions stay") {
            let then = then.cloned().map(Box::new);
            actions.push(Action::Ask(Ask::SaveAs(then)));
        }
        let help = "The version on disk is overwritten";
        if button(ui, "Overwrite it", help) {
            actions.push(Action::Overwrite);
        }
        cancel_ui(ui, "Cancel", actions);
    });
}

fn preset_ui(ui: &mut Ui, typing: &mut Typing, actions: &mut Vec<Action>) {
    title(ui, "Keep as a preset");
    let label = ui.label("Name");
    let field = TextEdit::singleline(&mut typing.preset).desired_width(f32::INFINITY);
    let help = "Under this name the settings of the learner are offered with the other presets";
    let field = ui.add(field).labelled_by(label.id).on_hover_text(help);
    let enter = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if typing.preset.is_empty() && ui.memory(|memory| memory.focused().is_none()) {
        field.request_focus();
    }
    ui.add_space(theme::GRID);
    ui.horizontal(|ui| {
        let name = typing.preset.trim().to_owned();
        let keep = ui.add_enabled(!name.is_empty(), egui::Button::new("Keep"));
        let keep = keep
            .on_hover_text("A preset of the same name is replaced (Enter)")
            .on_disabled_hover_text("Enter a name first");
        if (keep.clicked() || enter) && !name.is_empty() {
            actions.push(Action::SavePreset(name));
            actions.push(Action::CancelAsk);
        }
        cancel_ui(ui, "Cancel", actions);
    });
}

fn keys_ui(ui: &mut Ui, actions: &mut Vec<Action>) {
    let tones = theme::tones(ui);
    title(ui, "Keys");
    // Title and button stay in the window, however low it is.
    let height = ui.ctx().content_rect().height() - 140.0;
    ScrollArea::vertical()
        .max_height(height)
        // A modal offers the height that it had before: without this the list would stay as low as it began.
        .min_scrolled_height(height)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            // Rows as high as their text: those of buttons would not fit in 800 points.
            Grid::new("keys")
                .num_columns(2)
                .min_row_height(0.0)
                .spacing([24.0, 6.0])
                .show(ui, |ui| {
                    for (key, what) in KEYS {
                        ui.label(RichText::new(key).color(tones.strong));
                        ui.label(what);
                        ui.end_row();
                    }
                });
        });
    ui.add_space(theme::GRID);
    cancel_ui(ui, "Close", actions);
}

fn about_ui(ui: &mut Ui, actions: &mut Vec<Action>) {
    title(ui, "Atomscope");
    ui.label(format!("Version {}", env!("CARGO_PKG_VERSION")));
    ui.label(env!("CARGO_PKG_DESCRIPTION"));
    ui.label("Research software: it is no medical device and no protection relay, and its results must not be the basis of a diagnosis, a treatment or a switching operation.");
    ui.add_space(theme::GRID);
    cancel_ui(ui, "Close", actions);
}
