//! The menu bar, with the name of the session and the theme at its end.

use egui::{Align, Button, Layout, MenuBar, RichText, Ui};

use super::icons::{Icon, icon_button};
use super::theme::{self, TEXT_SCALES};
use crate::workbench::{
    Action, Ask, CommandLine, Demo, EXAMPLES, Panel, PathAsk, Stage, Workbench,
};
use atomscope_engine::session::Theme;

/// The menu bar.
pub(super) fn menu_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    MenuBar::new().ui(ui, |ui| {
        ui.menu_button("File", |ui| file_menu(ui, workbench, actions));
        ui.menu_button("Edit", |ui| edit_menu(ui, workbench, actions));
        ui.menu_button("View", |ui| view_menu(ui, workbench, actions));
        ui.menu_button("Run", |ui| run_menu(ui, workbench, actions));
        ui.menu_button("Help", |ui| help_menu(ui, actions));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            end_ui(ui, workbench, actions);
        });
    });
}

/// A line of a menu: its text, its keys, and what it does when pointed at.
fn item(
    ui: &mut Ui,
    (text, keys, help): (&str, &str, &str),
    enabled: bool,
    action: Action,
    actions: &mut Vec<Action>,
) {
    // Without keys nothing follows the name, also for a screen reader.
    let button = match keys {
        "" => Button::new(text),
        keys => Button::new(text).shortcut_text(keys),
    };
    let response = ui.add_enabled(enabled, button).on_hover_text(help);
    if response.on_disabled_hover_text(help).clicked() {
        actions.push(action);
        ui.close();
    }
}

fn file_menu(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    ui.set_min_width(260.0);
    item(
        ui,
        (
            "New session",
            "",
            "An empty session; asks about unsaved changes",
        ),
        true,
        Action::NewSession,
        actions,
    );
    item(
        ui,
        ("Open…", "Ctrl+O", "A session, or one file of data"),
        true,
        Action::Ask(Ask::Path(PathAsk::OpenFile)),
        actions,
    );
    item(
        ui,
        (
            "Open folder…",
            "Ctrl+Shift+O",
            "A folder with the recordings or fault records of all classes",
        ),
        true,
        Action::Ask(Ask::Path(PathAsk::OpenFolder)),
        actions,
    );
    let recent = &workbench.settings().recent;
    ui.add_enabled_ui(!recent.is_empty(), |ui| {
        ui.menu_button("Recent sessions", |ui| {
            for path in recent {
                let name = path.display().to_string();
                let help = "Opens this session; asks about unsaved changes";
                let open = Action::Open(path.clone());
                item(ui, (&name, "", help), true, open, actions);
            }
        });
    });
    ui.menu_button("Examples", |ui| {
        for example in EXAMPLES {
            let help =
                "Opens this shipped session; one that names data files asks for their folder";
            let open = Action::OpenExample(example);
            item(ui, (example.name, "", help), true, open, actions);
        }
    });
    ui.separator();
    let feeder = Action::OpenDemo(Demo::FeederFaults);
    item(
        ui,
        (
            "Feeder demo",
            "",
            "Simulated faults of a distribution feeder",
        ),
        true,
        feeder,
        actions,
    );
    item(
        ui,
        ("EEG demo", "", "Simulated EEG of two classes of subjects"),
        true,
        Action::OpenDemo(Demo::Eeg),
        actions,
    );
    ui.separator();
    item(
        ui,
        (
            "Save",
            "Ctrl+S",
            "Settings, training, notes and where the data are; the data themselves stay where they are",
        ),
        true,
        Action::Save,
        actions,
    );
    item(
        ui,
        ("Save as…", "Ctrl+Shift+S", "The session under another name"),
        true,
        Action::Ask(Ask::SaveAs(None)),
        actions,
    );
    let is_judged = workbench.explore().ribbon().judged().is_some();
    item(
        ui,
        (
            "Report of the recording…",
            "",
            "The decisions of the model on the recording of the Explore page; classify it there first",
        ),
        is_judged,
        Action::Ask(Ask::Path(PathAsk::Report)),
        actions,
    );
    ui.separator();
    item(
        ui,
        (
            "Quit",
            "Ctrl+Q",
            "Closes the window; asks about unsaved changes",
        ),
        true,
        Action::Quit,
        actions,
    );
}

fn edit_menu(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    ui.set_min_width(200.0);
    item(
        ui,
        ("Undo", "Ctrl+Z", "Undoes the last change of a setting"),
        workbench.can_undo(),
        Action::Undo,
        actions,
    );
    item(
        ui,
        ("Redo", "Ctrl+Shift+Z", "Repeats the change that was undone"),
        workbench.can_redo(),
        Action::Redo,
        actions,
    );
}

fn view_menu(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    ui.set_min_width(220.0);
    for (place, stage) in Stage::ALL.into_iter().enumerate() {
        let key = (place + 1).to_string();
        item(
            ui,
            (stage.name(), &key, stage.purpose()),
            true,
            Action::Show(stage),
            actions,
        );
    }
    ui.separator();
    ui.menu_button("Panels of the Train page", |ui| {
        for panel in Panel::ALL {
            let mut is_shown = !workbench.view().hidden.contains(&panel);
            let shown = ui.checkbox(&mut is_shown, panel.title());
            let help = "Whether this panel of the Train page is shown. Default on.";
            if shown.on_hover_text(help).clicked() {
                actions.push(Action::TogglePanel(panel));
            }
        }
    });
    ui.menu_button("Enlarge a panel", |ui| {
        for panel in Panel::ALL {
            let enlarge = ui.button(panel.title());
            let help =
                "Shows this panel alone on the Train page; its own button brings the others back";
            if enlarge.on_hover_text(help).clicked() {
                actions.push(Action::Show(Stage::Train));
                actions.push(Action::Enlarge(Some(panel)));
                ui.close();
            }
        }
    });
    let reset = Action::ResetLayout;
    item(
        ui,
        (
            "Reset layout",
            "",
            "Restores the default panels of the Train page",
        ),
        true,
        reset,
        actions,
    );
    ui.menu_button("Theme", |ui| {
        let themes = [
            (Theme::System, "As the system"),
            (Theme::Light, "Light"),
            (Theme::Dark, "Dark"),
        ];
        for (theme, name) in themes {
            let is_chosen = workbench.settings().theme == theme;
            let help = "Colours of the window. Default: those of the system.";
            if ui.radio(is_chosen, name).on_hover_text(help).clicked() {
                actions.push(Action::SetTheme(theme));
                ui.close();
            }
        }
    });
    ui.menu_button("Text size", |ui| {
        for scale in TEXT_SCALES {
            let is_chosen = workbench.settings().text_size == scale;
            if ui
                .radio(is_chosen, format!("{:.0} %", scale * 100.0))
                .on_hover_text("Size of all text; panels and controls follow. Default 100 %.")
                .clicked()
            {
                actions.push(Action::SetTextSize(scale));
                ui.close();
            }
        }
    });
    ui.separator();
    item(
        ui,
        ("Notices", "", "All messages so far, the newest first"),
        true,
        Action::ToggleNotices,
        actions,
    );
}

/// Lines of the terminal that repeat what is shown.
fn command_menu(ui: &mut Ui, workbench: &Workbench) {
    ui.menu_button("Copy as command", |ui| {
        for CommandLine { name, line } in workbench.command_lines() {
            let help = match &line {
                Ok(line) => line.clone(),
                Err(reason) => (*reason).to_owned(),
            };
            let copy = ui.add_enabled(line.is_ok(), Button::new(name));
            let copy = copy.on_hover_text(&help).on_disabled_hover_text(&help);
            if let (true, Ok(line)) = (copy.clicked(), line) {
                ui.ctx().copy_text(line);
                ui.close();
            }
        }
    });
}

fn run_menu(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    ui.set_min_width(280.0);
    let is_alive = workbench.training().is_alive();
    let can_start = workbench.obstacle().is_none();
    item(
        ui,
        (
            "Start or pause",
            "Space",
            "Trains, or pauses after the current mini-batch",
        ),
        is_alive || can_start,
        Action::StartOrPause,
        actions,
    );
    item(
        ui,
        (
            "Step",
            "S",
            "Trains one mini-batch of every class, then pauses",
        ),
        is_alive || can_start,
        Action::Step,
        actions,
    );
    item(
        ui,
        ("Stop", "Esc", "Stops training; what was learned is kept"),
        is_alive,
        Action::Stop,
        actions,
    );
    item(
        ui,
        (
            "Train from the beginning",
            "",
            "Starts again; Undo brings the run so far back",
        ),
        !is_alive && can_start,
        Action::StartAnew,
        actions,
    );
    ui.separator();
    command_menu(ui, workbench);
    ui.menu_button("Speed", |ui| {
        let speeds = [
            (None, "Full speed"),
            (Some(20.0), "20 rounds a second"),
            (Some(5.0), "5 rounds a second"),
            (Some(1.0), "1 round a second"),
        ];
        for (speed, name) in speeds {
            if ui
                .radio(workbench.training().rounds_per_s() == speed, name)
                .on_hover_text(
                    "Slows training down so that it can be watched. Default: full speed.",
                )
                .clicked()
            {
                actions.push(Action::LimitSpeed(speed));
                ui.close();
            }
        }
    });
    let mut wants_final = workbench.trains_final_model();
    let text = "Train a final model after the folds";
    if ui
        .checkbox(&mut wants_final, text)
        .on_hover_text(
            "A model trained on all samples, for classifying new recordings. Default: off.",
        )
        .clicked()
    {
        actions.push(Action::TrainFinalModel(wants_final));
    }
}

fn help_menu(ui: &mut Ui, actions: &mut Vec<Action>) {
    ui.set_min_width(200.0);
    item(
        ui,
        (
            "Manual",
            "F1",
            "What atoms, profiles, λ, margins and scores are",
        ),
        true,
        Action::Ask(Ask::Manual),
        actions,
    );
    item(
        ui,
        ("Keys", "?", "All keys of the window"),
        true,
        Action::Ask(Ask::Keys),
        actions,
    );
    item(
        ui,
        ("About Atomscope", "", "Version and purpose"),
        true,
        Action::Ask(Ask::About),
        actions,
    );
}

/// Right to left: the theme, redo, undo, whether something is unsaved, the name.
fn end_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let tones = theme::tones(ui);
    let is_dark = ui.visuals().dark_mode;
    let (icon, name, wanted) = match is_dark {
        true => (Icon::Sun, "Light theme", Theme::Light),
        false => (Icon::Moon, "Dark theme", Theme::Dark),
    };
    if icon_button(ui, icon, name).on_hover_text(name).clicked() {
        actions.push(Action::SetTheme(wanted));
    }
    let steps = [
        (Icon::Redo, "Redo", workbench.can_redo(), Action::Redo),
        (Icon::Undo, "Undo", workbench.can_undo(), Action::Undo),
    ];
    for (icon, name, enabled, action) in steps {
        let response = ui
            .add_enabled_ui(enabled, |ui| icon_button(ui, icon, name))
            .inner;
        let text = format!("{name} the last change of a setting");
        let response = response.on_hover_text(&text).on_disabled_hover_text(&text);
        if response.clicked() {
            actions.push(action);
        }
    }
    ui.add_space(theme::GRID);
    if workbench.is_unsaved() {
        ui.label(RichText::new("unsaved").small().color(tones.warning))
            .on_hover_text("The session has unsaved changes. Ctrl+S saves it.");
    }
    if workbench.is_saving() {
        ui.label(RichText::new("saving…").small().color(tones.weak));
    }
    ui.label(RichText::new(workbench.name()).color(tones.strong));
}
