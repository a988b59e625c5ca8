//! The Train page: curves, confusion, dictionaries and profile of a run as it goes, at any moment of it.

use egui::{Rect, RichText, ScrollArea, Slider, Ui, UiBuilder, pos2, vec2};

use super::train_panels as panels;
use super::tune::tune_ui;
use crate::experiment::Part;
use crate::ui::icons::{Icon, color_dot, icon_button};
use crate::ui::palette::class_color;
use crate::ui::theme;
use crate::ui::widgets::{PanelAction, PanelHeader, empty_state};
use crate::workbench::{Action, Demo, Draft, Panel, RunView, Workbench};

/// Below this the page scrolls.
const LEAST_HEIGHT: f32 = 540.0;
/// From this width on there is a third column.
const THREE_COLUMNS: f32 = 1480.0;

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
    let height = ui.available_height();
    if height >= LEAST_HEIGHT {
        panels_ui(ui, height, workbench, draft, actions);
    } else {
        ScrollArea::vertical().show(ui, |ui| {
            panels_ui(ui, LEAST_HEIGHT, workbench, draft, actions);
        });
    }
}

fn nothing_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    if workbench.training().is_starting() {
        empty_state(ui, "The run is being prepared", None);
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
            if empty_state(ui, "The data are being loaded", Some("Cancel")) {
                actions.push(Action::CancelLoading);
            }
        }
        (None, _) => {
            let text = "Training is watched here: curves, confusion matrix and dictionaries. Nothing is loaded yet.";
            if empty_state(ui, text, Some("Feeder demo")) {
                actions.push(Action::OpenDemo(Demo::FeederFaults));
            }
        }
        (Some(_), Some(obstacle)) => {
            empty_state(ui, &format!("Training cannot begin: {obstacle}"), None);
        }
        (Some(_), None) => {
            let text = "Training is watched here: curves, confusion matrix and dictionaries.";
            if empty_state(ui, text, Some("Start training")) {
                actions.push(Action::Start);
            }
        }
    }
}

/// Class, fold and moment that are looked at.
fn controls_ui(ui: &mut Ui, workbench: &Workbench, run: &RunView, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        classes_ui(ui, workbench, run, actions);
        ui.add_space(theme::GRID);
        fold_ui(ui, workbench, run, actions);
        ui.add_space(theme::GRID);
        replay_ui(ui, workbench, actions);
        let shown = workbench.dictionary();
        if shown.is_some_and(|shown| shown.atoms.iter().any(|atom| atom.changed)) {
            let text = "Atoms whose strongest sample changed since you looked are marked; this takes the marks away";
            let seen = icon_button(ui, Icon::Check, "Mark atoms as seen");
            if seen.on_hover_text(text).clicked() {
                actions.push(Action::MarkAtomsSeen);
            }
        }
    });
}

fn classes_ui(ui: &mut Ui, workbench: &Workbench, run: &RunView, actions: &mut Vec<Action>) {
    let tones = theme::tones(ui);
    ui.label(RichText::new("Class").color(tones.weak));
    let names = &run.facts.class_names;
    let shown = workbench.view().class.min(names.len().saturating_sub(1));
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
    ui.label(RichText::new("Fold").color(tones.weak));
    let chosen = workbench.view().fold;
    let text = match (chosen, workbench.shown_fold()) {
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
    ui.label(RichText::new("Replay").color(tones.weak));
    let replay = workbench.view().replay;
    let place_of = |batch: usize| part.tests.partition_point(|test| test.batch <= batch);
    let mut place = replay.map_or(n_tests, place_of).max(1);
    let slider = Slider::new(&mut place, 1..=n_tests).show_value(false);
    let response = theme::with_slider_look(ui, |ui| ui.add(slider));
    ui.ctx()
        .accesskit_node_builder(response.id, |node| node.set_label("Replay"));
    if response.changed() {
        let test = &part.tests[place.clamp(1, n_tests) - 1];
        let batch = (place < n_tests).then_some(test.batch);
        actions.push(Action::Replay(batch));
    }
    response.on_hover_text(
        "Dictionaries, confusion and profile at an earlier test; training goes on meanwhile",
    );
    let batch = part.tests[place.clamp(1, n_tests) - 1].batch;
    ui.label(format!("batch {batch}"));
    let newest = ui.selectable_label(replay.is_none(), "newest");
    if newest
        .on_hover_text("Go back to the newest and follow it")
        .clicked()
    {
        actions.push(Action::Replay(None));
    }
}

/// A part of the page with a user interface of its own.
fn place<R>(ui: &mut Ui, rect: Rect, panel: Panel, contents: impl FnOnce(&mut Ui) -> R) -> R {
    let builder = UiBuilder::new().id_salt(panel.title()).max_rect(rect);
    let mut child = ui.new_child(builder);
    child.set_clip_rect(rect.expand(6.0).intersect(ui.clip_rect()));
    contents(&mut child)
}

fn panels_ui(
    ui: &mut Ui,
    height: f32,
    workbench: &Workbench,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    let width = ui.available_width();
    let (rect, _) = ui.allocate_exact_size(vec2(width, height), egui::Sense::hover());
    let view = workbench.view();
    if let Some(panel) = view.enlarged {
        panel_ui(ui, rect, panel, workbench, draft, actions);
        return;
    }
    for (panel, rect) in arrangement(rect, |panel| !view.hidden.contains(&panel)) {
        panel_ui(ui, rect, panel, workbench, draft, actions);
    }
}

/// Panels in columns; those of a column share its height by their weights.
fn arrangement(page: Rect, is_shown: impl Fn(Panel) -> bool) -> Vec<(Panel, Rect)> {
    let left = [
        (Panel::Accuracy, 0.36),
        (Panel::Profile, 0.28),
        (Panel::Tune, 0.36),
    ];
    let middle = [(Panel::Confusion, 0.42), (Panel::Dictionary, 0.58)];
    let right = [(Panel::Gram, 0.5), (Panel::Log, 0.5)];
    let columns: Vec<(&[(Panel, f32)], f32)> = if page.width() >= THREE_COLUMNS {
        vec![(&left, 0.35), (&middle, 0.43), (&right, 0.22)]
    } else {
        vec![(&left, 0.45), (&middle, 0.55)]
    };
    let columns: Vec<(Vec<(Panel, f32)>, f32)> = columns
        .into_iter()
        .map(|(panels, share)| {
            let shown = panels.iter().copied().filter(|(panel, _)| is_shown(*panel));
            (shown.collect::<Vec<_>>(), share)
        })
        .filter(|(panels, _)| !panels.is_empty())
        .collect();
    let total: f32 = columns.iter().map(|(_, share)| share).sum();
    let gaps = theme::PANEL_GAP * columns.len().saturating_sub(1) as f32;
    let mut placed = Vec::new();
    let mut x = page.left();
    for (panels, share) in columns {
        let width = (page.width() - gaps) * share / total;
        let weights: f32 = panels.iter().map(|(_, weight)| weight).sum();
        let free = page.height() - 16.0 * panels.len().saturating_sub(1) as f32;
        let mut y = page.top();
        for (panel, weight) in panels {
            let height = free * weight / weights;
            placed.push((panel, Rect::from_min_size(pos2(x, y), vec2(width, height))));
            y += height + 16.0;
        }
        x += width + theme::PANEL_GAP;
    }
    placed
}

fn panel_ui(
    ui: &mut Ui,
    rect: Rect,
    panel: Panel,
    workbench: &Workbench,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    let is_enlarged = workbench.view().enlarged == Some(panel);
    let detail = detail(workbench, panel);
    place(ui, rect, panel, |ui| {
        let header = PanelHeader {
            title: panel.title(),
            detail: &detail,
            enlarged: is_enlarged,
        };
        match header.show(ui) {
            Some(PanelAction::ToggleSize) => {
                actions.push(Action::Enlarge((!is_enlarged).then_some(panel)));
            }
            Some(PanelAction::Hide) if is_enlarged => actions.push(Action::Enlarge(None)),
            Some(PanelAction::Hide) => actions.push(Action::TogglePanel(panel)),
            None => {}
        }
        let height = rect.bottom() - ui.cursor().top();
        match panel {
            Panel::Accuracy => panels::accuracy_ui(ui, height, workbench, actions),
            Panel::Confusion => panels::confusion_ui(ui, height, workbench, actions),
            Panel::Dictionary => panels::dictionary_ui(ui, height, workbench, actions),
            Panel::Profile => panels::profile_ui(ui, height, workbench),
            Panel::Tune => tune_ui(ui, height, workbench, draft, actions),
            Panel::Gram => panels::gram_ui(ui, height, workbench),
            Panel::Log => panels::log_ui(ui, workbench),
        }
    });
}

/// What the head of a panel says besides its title.
fn detail(workbench: &Workbench, panel: Panel) -> String {
    let Some(run) = workbench.training().run() else {
        return String::new();
    };
    let names = &run.facts.class_names;
    let class = workbench.view().class.min(names.len().saturating_sub(1));
    let class_name = names.get(class).map_or("", String::as_str);
    match panel {
        Panel::Accuracy => "of the samples held out".into(),
        Panel::Confusion => {
            let test = workbench
                .shown_part()
                .and_then(|part| part.test_at(workbench.view().replay));
            match (workbench.shown_fold(), test) {
                (Some(fold), Some(test)) => format!(
                    "fold {}, batch {} · {} test samples",
                    fold + 1,
                    test.batch,
                    test.confusion.total()
                ),
                _ => "no test yet".into(),
            }
        }
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
            true => "takes effect with the next round".into(),
            false => "for the next run".into(),
        },
    }
}
