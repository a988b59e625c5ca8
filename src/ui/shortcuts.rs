//! The keys of the window.

use egui::{Context, Key, KeyboardShortcut, Modifiers, ViewportCommand};

use crate::workbench::explore::KeyUse;
use crate::workbench::{Action, Ask, PathAsk, Stage, Workbench};

const CTRL: Modifiers = Modifiers::COMMAND;
const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

/// Every key with what it does, for the list that `?` shows.
pub(super) const KEYS: [(&str, &str); 25] = [
    ("Ctrl+O", "Open a session or data file"),
    ("Ctrl+Shift+O", "Open a folder of data"),
    ("Ctrl+S", "Save"),
    ("Ctrl+Shift+S", "Save as"),
    ("Ctrl+Z", "Undo a setting"),
    ("Ctrl+Shift+Z", "Redo a setting"),
    ("Space", "Start or pause training"),
    ("S", "One step"),
    (
        "F",
        "Freeze what the Train page shows, or follow the training again",
    ),
    ("Esc", "Stop training; close a question"),
    (
        "1 – 9",
        "Records, Features, Split, Learner, Train, Evaluate, Explore, Compare, Live",
    ),
    (
        "Left, Right",
        "Earlier or later test, with the accuracy plot in focus",
    ),
    (
        "Left, Right, PgUp, PgDn",
        "Explore: back or forward by a second or a page",
    ),
    ("Home, End", "Explore: the beginning or the end"),
    ("+, −", "Explore: larger or smaller traces"),
    (
        "Up, Down",
        "Explore: the trace above or below; of a fault record the height",
    ),
    (
        "A, B",
        "Explore: place or select a cursor; then ← → by samples, Page Up and Down by pages or cycles",
    ),
    (
        "Ctrl+PgUp, Ctrl+PgDn",
        "Explore: other channels, where not all are shown at once",
    ),
    (
        "M, then 1 – 9",
        "Explore: switches Mark on or off; marks with names of your own",
    ),
    (
        "F6",
        "Explore: to the traces; Tab and Shift+Tab go on from there",
    ),
    ("F9", "Explore: nothing but the traces, or all panels"),
    ("Ctrl+Plus, Ctrl+Minus", "Larger or smaller window content"),
    ("F1", "Manual"),
    ("F11", "Full screen"),
    ("?", "This list"),
];

/// Turns pressed keys into actions.
pub(super) fn shortcuts(context: &Context, workbench: &Workbench, actions: &mut Vec<Action>) {
    let with_modifiers = [
        (
            CTRL_SHIFT,
            Key::O,
            Action::Ask(Ask::Path(PathAsk::OpenFolder)),
        ),
        (CTRL, Key::O, Action::Ask(Ask::Path(PathAsk::OpenFile))),
        (CTRL_SHIFT, Key::S, Action::Ask(Ask::SaveAs(None))),
        (CTRL, Key::S, Action::Save),
        (CTRL_SHIFT, Key::Z, Action::Redo),
        (CTRL, Key::Y, Action::Redo),
        (CTRL, Key::Z, Action::Undo),
        (CTRL, Key::Q, Action::Quit),
        (Modifiers::NONE, Key::F1, Action::Ask(Ask::Manual)),
    ];
    for (modifiers, key, action) in with_modifiers {
        let shortcut = KeyboardShortcut::new(modifiers, key);
        if context.input_mut(|input| input.consume_shortcut(&shortcut)) {
            actions.push(action);
        }
    }
    if context.input_mut(|input| input.consume_key(Modifiers::NONE, Key::F11)) {
        let is_full = context.input(|input| input.viewport().fullscreen.unwrap_or(false));
        context.send_viewport_cmd(ViewportCommand::Fullscreen(!is_full));
    }
    if workbench.view().ask.is_some() {
        if context.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape)) {
            actions.push(Action::CancelAsk);
        }
        return;
    }
    // What has the focus receives the plain keys itself: a field is typed in, a button pressed.
    // Digits and letters mark or score while that is switched on.
    let is_free = workbench.key_use() == KeyUse::Pages;
    if !context.egui_wants_keyboard_input() && is_free {
        plain_keys(context, actions);
    }
}

fn plain_keys(context: &Context, actions: &mut Vec<Action>) {
    let keys = [
        (Key::Space, Action::StartOrPause),
        (Key::S, Action::Step),
        (Key::F, Action::Freeze),
        (Key::Escape, Action::Stop),
        (Key::Num1, Action::Show(Stage::Records)),
        (Key::Num2, Action::Show(Stage::Features)),
        (Key::Num3, Action::Show(Stage::Split)),
        (Key::Num4, Action::Show(Stage::Learner)),
        (Key::Num5, Action::Show(Stage::Train)),
        (Key::Num6, Action::Show(Stage::Evaluate)),
        (Key::Num7, Action::Show(Stage::Explore)),
        (Key::Num8, Action::Show(Stage::Compare)),
        (Key::Num9, Action::Show(Stage::Live)),
    ];
    // An open list or menu receives the keys itself, whether or not it was opened by them.
    if egui::Popup::is_any_open(context) {
        return;
    }
    // Escape gives up a drag before it stops the training.
    let is_dragging = context.input(|input| input.pointer.any_down());
    for (key, action) in keys {
        let is_for_others = key == Key::Escape && is_dragging;
        if !is_for_others && context.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
            actions.push(action);
        }
    }
    let asks_for_keys = context.input(|input| {
        let is_question = |event: &egui::Event| matches!(event, egui::Event::Text(t) if t == "?");
        input.events.iter().any(is_question)
    });
    if asks_for_keys {
        actions.push(Action::Ask(Ask::Keys));
    }
}
