//! The Train page: curves, confusion, dictionaries and profile of a run as it goes, at any moment of it.

use egui::{Rect, RichText, Slider, Ui};

use super::train_panels as panels;
use super::train_tiles::tiles_ui;
use super::tune::tune_ui;
use crate::ui::elements::{self, button};
use crate::ui::icons::{Icon, color_dot, icon_button};
use crate::ui::numbers::percent;
use crate::ui::palette::class_color;
use crate::ui::theme;
use crate::ui::widgets::{PanelAction, PanelHeader, empty_state};
use crate::workbench::{
    Action, Demo, Draft, Otherwise, Panel, PanelMove, RunView, Tiling, Workbench,
};
use atomscope_engine::experiment::Part;

/// Width of the replay slider: all controls fit one line of the smallest usual window.
const REPLAY_WIDTH: f32 = 116.0;

/// The Train page.
pub(in crate::ui) fn train_page_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    let Some(run) = workbench.training().run() else {
        nothing_ui(ui, workbench, actions);
        return;
    };
    controls_ui(ui, workbench, run, actions);
    ui.add_space(4.0);
    if let Some(panel) = workbench.view().enlarged {
        let rect = ui.available_rect_before_wrap();
        panel_ui(ui, rect, panel, None, workbench, draft, actions);
        return;
    }
    tiles_ui(ui, workbench, draft, actions);
}

fn nothing_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    if workbench.training().is_starting() {
        empty_state(ui, "Preparing the run", None);
        return;
    }
    if let Some(error) = workbench.training().error() {
        let text = format!("Training did not start: {error}");
        if empty_state(ui, &text, Some("Try again")) {
            actions.push(Action::Start);
        }
        return;
    }
    match (workbench.data().loaded(), workbench.obstacle()) {
        (None, _) if workbench.loading_share().is_some() => {
            if empty_state(ui, "Loading the data", Some("Cancel")) {
                actions.push(Action::CancelLoading);
            }
        }
        (None, _) => {
            let text = "Curves, confusion matrix and dictionaries appear here during training. Nothing is loaded yet.";
            if empty_state(ui, text, Some("Feeder demo")) {
                actions.push(Action::OpenDemo(Demo::FeederFaults));
            }
        }
        (Some(_), Some(obstacle)) => {
            empty_state(ui, &format!("Training cannot start: {obstacle}"), None);
        }
        (Some(_), None) => {
            let text = "Curves, confusion matrix and dictionaries appear here during training.";
            if empty_state(ui, text, Some("Start training")) {
                actions.push(Action::Start);
            }
        }
    }
}

/// Class, fold and moment that are shown.
fn controls_ui(ui: &mut Ui, workbench: &Workbench, run: &RunView, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        classes_ui(ui, workbench, run, actions);
        ui.add_space(theme::GRID);
        fold_ui(ui, workbench, run, actions);
        ui.add_space(theme::GRID);
        replay_ui(ui, workbench, actions);
        let shown = workbench.dictionary();
        if shown.is_some_and(|shown| shown.atoms.iter().any(|atom| atom.changed)) {
            let text = "Atoms whose strongest sample changed since you last looked are marked; this clears the marks";
            let seen = icon_button(ui, Icon::Check, "Mark atoms as seen");
            if seen.on_hover_text(text).clicked() {
                actions.push(Action::MarkAtomsSeen);
            }
        }
    });
}

fn classes_ui(ui: &mut Ui, workbench: &Workbench, run: &RunView, actions: &mut Vec<Action>) {
    let tones = theme::tones(ui);
    let label = ui.label(RichText::new("Class").color(tones.weak));
    let names = &run.facts.class_names;
    let shown = workbench.shown_class();
    if names.len() > 6 {
        egui::ComboBox::from_id_salt("class")
            .selected_text(names.get(shown).map_or("", String::as_str))
            .show_ui(ui, |ui| {
                for (class, name) in names.iter().enumerate() {
                    if ui.selectable_label(class == shown, name).clicked() {
                        actions.push(Action::ChooseClass(class));
                    }
                }
            })
            .response
            .labelled_by(label.id)
            .on_hover_text("Whose dictionary and profile are shown");
        return;
    }
    for (class, name) in names.iter().enumerate() {
        color_dot(ui, class_color(class));
        let chip = ui.selectable_label(class == shown, name);
        let text = format!("Show dictionary and profile of {name}");
        if chip.on_hover_text(text).clicked() {
            actions.push(Action::ChooseClass(class));
        }
    }
}

fn fold_ui(ui: &mut Ui, workbench: &Workbench, run: &RunView, actions: &mut Vec<Action>) {
    let tones = theme::tones(ui);
    elements::wrap_before(ui, 11.0);
    let label = ui.label(RichText::new("Fold").color(tones.weak));
    let chosen = workbench.view().fold;
    let text = match (chosen, workbench.shown_fold()) {
        (Some(fold), _) if workbench.view().holds_fold => format!("frozen ({})", fold + 1),
        (Some(fold), _) => format!("{}", fold + 1),
        (None, Some(fold)) => format!("newest ({})", fold + 1),
        (None, None) => "newest".into(),
    };
    egui::ComboBox::from_id_salt("fold")
        .selected_text(text)
        .width(96.0)
        .show_ui(ui, |ui| {
            let newest = ui.selectable_label(chosen.is_none(), "newest");
            if newest.on_hover_text("The fold in training").clicked() {
                actions.push(Action::ChooseFold(None));
            }
            for (fold, _) in run.folds() {
                let name = format!("fold {}", fold + 1);
                if ui.selectable_label(chosen == Some(fold), name).clicked() {
                    actions.push(Action::ChooseFold(Some(fold)));
                }
            }
        })
        .response
        .labelled_by(label.id)
        .on_hover_text("Which fold is shown; the newest follows the training");
}

/// A slider over the tests so far; at its end it follows the training.
fn replay_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let tones = theme::tones(ui);
    let Some(part) = workbench.shown_part() else {
        return;
    };
    let n_tests = part.tests.len();
    if n_tests == 0 {
        return;
    }
    // Its slider and what stands after it stay together.
    elements::wrap_before(ui, 22.0);
    ui.label(RichText::new("Replay").color(tones.weak));
    let replay = workbench.view().replay;
    let place_of = |batch: usize| part.tests.partition_point(|test| test.batch <= batch);
    let mut place = replay.map_or(n_tests, place_of).max(1);
    let slider = Slider::new(&mut place, 1..=n_tests).show_value(false);
    let response = theme::with_slider_look(ui, |ui| {
        ui.spacing_mut().slider_width = REPLAY_WIDTH;
        ui.add(slider)
    });
    ui.ctx()
        .accesskit_node_builder(response.id, |node| node.set_label("Replay"));
    if response.changed() {
        let test = &part.tests[place.clamp(1, n_tests) - 1];
        let batch = (place < n_tests).then_some(test.batch);
        actions.push(Action::Replay(batch));
    }
    response.on_hover_text(
        "Dictionaries, confusion and profile at an earlier test; training continues meanwhile",
    );
    let batch = part.tests[place.clamp(1, n_tests) - 1].batch;
    ui.label(format!("batch {batch}"));
    let live = ui.selectable_label(replay.is_none(), "live");
    let text = match replay {
        None => "The page follows the training. Click to freeze it; training continues (F)",
        Some(_) => "The page is frozen while training continues. Click to follow again (F)",
    };
    if live.on_hover_text(text).clicked() {
        actions.push(Action::Freeze);
    }
    branch_ui(ui, workbench, actions);
}

/// The run taken up again at the mini-batch that is looked at, with the settings as they are now.
fn branch_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    if let Some(share) = workbench.branching_share() {
        ui.label(percent(share));
        if button(ui, "Cancel the branch", "The run stays as it is") {
            actions.push(Action::CancelBranch);
        }
        return;
    }
    let Some(batch) = workbench.view().replay else {
        return;
    };
    let obstacle = workbench.branch_obstacle();
    let button = ui.add_enabled(obstacle.is_none(), egui::Button::new("Branch here"));
    let text = format!(
        "Continues from mini-batch {batch} with the settings as they are now (Tune, Learner); both futures appear side by side on the Compare page"
    );
    let button = button
        .on_hover_text(text)
        .on_disabled_hover_text(obstacle.unwrap_or_default());
    if button.clicked() {
        actions.push(Action::Branch(Otherwise::Settings));
    }
}

/// A panel with its head; gives what the head was asked for and the panel alone cannot do. It can
/// be moved within `tiling`, if it is one of several.
pub(super) fn panel_ui(
    ui: &mut Ui,
    rect: Rect,
    panel: Panel,
    tiling: Option<&Tiling>,
    workbench: &Workbench,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) -> Option<PanelAction> {
    let view = workbench.view();
    let is_enlarged = view.enlarged == Some(panel);
    let is_shown = |panel| !view.hidden.contains(&panel);
    let moved = |direction| tiling?.moved(panel, direction, is_shown);
    let can_move = |direction: &PanelMove| moved(*direction).is_some();
    let moves: Vec<PanelMove> = PanelMove::ALL.into_iter().filter(can_move).collect();
    let detail = detail(workbench, panel);
    let mut asked = None;
    elements::column(ui, rect, panel.title(), |ui| {
        let header = PanelHeader {
            title: panel.title(),
            detail: &detail,
            enlarged: is_enlarged,
            moves: &moves,
        };
        match header.show(ui) {
            Some(PanelAction::ToggleSize) => {
                actions.push(Action::Enlarge((!is_enlarged).then_some(panel)));
            }
            Some(PanelAction::Hide) if is_enlarged => actions.push(Action::Enlarge(None)),
            Some(PanelAction::Hide) => actions.push(Action::TogglePanel(panel)),
            Some(PanelAction::Move(direction)) => {
                actions.extend(moved(direction).map(Action::ArrangePanels));
            }
            other => asked = other,
        }
        let height = rect.bottom() - ui.cursor().top();
        match panel {
            Panel::Accuracy => panels::accuracy_ui(ui, height, workbench, actions),
            Panel::Confusion => panels::confusion_ui(ui, height, workbench, actions),
            Panel::Dictionary => panels::dictionary_ui(ui, height, workbench, actions),
            Panel::Profile => panels::profile_ui(ui, height, workbench),
            Panel::Tune => tune_ui(ui, height, workbench, draft, actions),
            Panel::Gram => panels::gram_ui(ui, height, workbench),
            Panel::Log => panels::log_ui(ui, workbench, actions),
        }
    });
    asked
}

/// What the head of a panel says besides its title.
fn detail(workbench: &Workbench, panel: Panel) -> String {
    let Some(run) = workbench.training().run() else {
        return String::new();
    };
    let names = &run.facts.class_names;
    let class_name = workbench.shown_class_name();
    match panel {
        Panel::Accuracy => "of the held-out samples".into(),
        Panel::Confusion => match (workbench.shown_fold(), workbench.shown_test()) {
            (Some(fold), Some(test)) => format!(
                "fold {}, batch {} · {} test samples",
                fold + 1,
                test.batch,
                test.confusion.total()
            ),
            _ => "no test yet".into(),
        },
        Panel::Gram | Panel::Log => class_name.to_owned(),
        Panel::Dictionary => match workbench.dictionary() {
            Some(shown) => {
                let part = match shown.part {
                    Part::Fold(fold) => format!("fold {}", fold + 1),
                    Part::Final => "final model".into(),
                };
                let name = names.get(shown.class).map_or("", String::as_str);
                let n_atoms = shown.atoms.len();
                format!(
                    "{name} · {n_atoms} atoms by use · {part}, batch {}",
                    shown.batch
                )
            }
            None => class_name.to_owned(),
        },
        Panel::Profile => format!("{class_name} · which samples are kept"),
        Panel::Tune => match workbench.training().is_alive() {
            true => "applies from the next round on".into(),
            false => "for the next run".into(),
        },
    }
}
