//! Why a segment was decided as it was: residuals, code, atoms, kept samples, its fate in training; and putting it right.

use egui::{ComboBox, RichText, Ui};

use super::ribbon::correct_buttons;
use crate::ui::elements::{button, help, section};
use crate::ui::icons::{Icon, color_dot, icon_button};
use crate::ui::numbers::short;
use crate::ui::pages::events::event_text;
use crate::ui::pages::explain::{best_two, code_ui, residuals_ui};
use crate::ui::pages::signal::signal_ui;
use crate::ui::palette::class_color;
use crate::ui::theme;
use crate::workbench::explore::{
    Explained, ExploreAction, Fate, Judgement, ModelChoice, OpenedRecording, RibbonAction,
};
use crate::workbench::{Action, Workbench};
use atomscope_engine::dataset::{Dataset, StretchCorrection};
use atomscope_engine::experiment::Part;
use atomscope_engine::records::counted;

fn ask(action: RibbonAction) -> Action {
    Action::Explore(ExploreAction::Ribbon(action))
}

/// The panel of the selected segment.
pub(super) fn decision_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    opened: &OpenedRecording,
    actions: &mut Vec<Action>,
) {
    let stage = workbench.explore().ribbon();
    let Some((judgement, selected)) = stage.judged().zip(stage.selected()) else {
        return;
    };
    head_ui(ui, workbench, judgement, selected, actions);
    correct_ui(ui, workbench, judgement, selected, actions);
    by_hand_ui(ui, workbench, opened, judgement, actions);
    let Some(explained) = stage.explained() else {
        help(ui, "Explaining…");
        return;
    };
    residuals_ui(ui, &explained.inspection, &judgement.ribbon.class_names);
    let learned = stage.learned_from().map(|loaded| &loaded.dataset);
    let learned = learned.filter(|_| judgement.choice != ModelChoice::Other);
    codes_ui(
        ui,
        judgement,
        explained,
        learned.map(AsRef::as_ref),
        actions,
    );
    kept_ui(ui, workbench, actions);
    fates_ui(ui, judgement, &explained.fates);
    ui.add_space(theme::PANEL_GAP);
}

fn head_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    judgement: &Judgement,
    selected: usize,
    actions: &mut Vec<Action>,
) {
    let ribbon = &judgement.ribbon;
    let Some(segment) = ribbon.segments.get(selected) else {
        return;
    };
    ui.horizontal(|ui| {
        let end_s = segment.start_s + segment.duration_s;
        section(
            ui,
            &format!("Segment {:.3} to {end_s:.3} s", segment.start_s),
        );
        if icon_button(ui, Icon::Close, "Close the segment")
            .on_hover_text("Close the segment")
            .clicked()
        {
            actions.push(ask(RibbonAction::Select(None)));
        }
    });
    let verdict = &segment.verdict;
    ui.horizontal_wrapped(|ui| {
        color_dot(ui, class_color(verdict.class));
        let doubt = match ribbon.is_uncertain(segment) {
            true => ", uncertain",
            false => "",
        };
        let strange = match judgement.is_strange(selected) {
            true => ", unlike anything learned: do not rely on it",
            false => "",
        };
        ui.label(format!(
            "{} by {}, margin {} before {}{doubt}{strange}",
            ribbon.class_name(verdict.class),
            judgement.choice.name(),
            short(verdict.margin),
            ribbon.class_name(verdict.runner_up)
        ));
    });
    let is_tested = judgement.choice == ModelChoice::HeldOut && workbench.stale().is_none();
    let text = "Its cell of the confusion matrix, with the other samples of the cell";
    if is_tested && button(ui, "Show in Evaluate", text) {
        actions.push(ask(RibbonAction::ShowInEvaluate));
    }
}

/// Another class that the model learns at once, and the log of all corrections.
fn correct_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    judgement: &Judgement,
    segment: usize,
    actions: &mut Vec<Action>,
) {
    section(ui, "Correct the model");
    ui.horizontal_wrapped(|ui| correct_buttons(ui, &judgement.ribbon, segment, actions));
    let corrections = workbench.corrections();
    let n_learned = judgement.n_corrections();
    if n_learned > 0 {
        let seen = counted(n_learned, "correction");
        help(
            ui,
            &format!("The model has learned from {seen}; its scores by subject are of before them"),
        );
    }
    for correction in corrections.iter().rev().take(8) {
        let end_s = correction.start_s + correction.duration_s;
        let after = correction.after.as_deref().unwrap_or("artefact");
        let text = format!(
            "{:.3} to {end_s:.3} s: {} → {after}",
            correction.start_s, correction.before
        );
        ui.label(RichText::new(text).small());
    }
}

/// Another class or none at all, as settings of the data.
fn by_hand_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    opened: &OpenedRecording,
    judgement: &Judgement,
    actions: &mut Vec<Action>,
) {
    if opened.source.is_none() {
        help(
            ui,
            "The recording is not part of the data of the session, so its segments cannot be relabelled here",
        );
        return;
    }
    section(ui, "By hand");
    let correction = workbench.selected_correction();
    let shown = match correction {
        Some(StretchCorrection::Relabel(class)) => class.as_str(),
        Some(StretchCorrection::Exclude) => "excluded",
        None => "by the rules",
    };
    ui.horizontal_wrapped(|ui| {
        let label = ui.label("Class by hand");
        let combo = ComboBox::from_id_salt("class by hand")
            .selected_text(shown)
            .show_ui(ui, |ui| {
                for name in &judgement.ribbon.class_names {
                    if ui.selectable_label(shown == name, name).clicked() {
                        let correction = StretchCorrection::Relabel(name.clone());
                        actions.push(ask(RibbonAction::Put(correction)));
                    }
                }
            });
        combo.response.labelled_by(label.id).on_hover_text(
            "Gives this section of the recording another class. Default: by the rules. The data are loaded again, folds and audit are updated, and training becomes stale; Ctrl+Z undoes it.",
        );
        let exclude = ui.add_enabled(
            correction != Some(&StretchCorrection::Exclude),
            egui::Button::new("Exclude it"),
        );
        let help = "Excludes this section from the data, for example an artefact. Training becomes stale; Ctrl+Z undoes it.";
        if exclude.on_hover_text(help).clicked() {
            actions.push(ask(RibbonAction::Put(StretchCorrection::Exclude)));
        }
        if correction.is_some()
            && button(ui, "By the rules", "Removes the manual label of this section")
        {
            actions.push(ask(RibbonAction::Forget));
        }
    });
    if let Some(reason) = workbench.stale() {
        let color = theme::tones(ui).stale;
        let text = format!("These decisions are of the last run: {reason}");
        ui.label(RichText::new(text).small().color(color));
    }
}

/// The codes of the two best classes with the kept samples behind their atoms.
fn codes_ui(
    ui: &mut Ui,
    judgement: &Judgement,
    explained: &Explained,
    learned: Option<&Dataset>,
    actions: &mut Vec<Action>,
) {
    let Some(dataset) = learned else {
        help(
            ui,
            "The kept samples of this model are not loaded, so their signals cannot be shown",
        );
        return;
    };
    let inspection = &explained.inspection;
    let best = match judgement.is_of_data {
        true => best_two(inspection),
        false => vec![inspection.decided],
    };
    for class in best {
        ui.add_space(theme::GRID);
        ui.horizontal(|ui| {
            color_dot(ui, class_color(class));
            let name = judgement.ribbon.class_name(class);
            ui.label(format!("Sparse code by the dictionary of {name}"));
        });
        if let Some(atoms) = inspection.atoms.get(class)
            && let Some(sample) = code_ui(ui, dataset, atoms, class)
        {
            actions.push(ask(RibbonAction::ShowKept(sample)));
        }
    }
}

/// The signal of a kept sample, at its place in its own recording.
fn kept_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let Some(kept) = workbench.explore().ribbon().kept() else {
        help(ui, "Click a kept sample to show its signal here");
        return;
    };
    ui.horizontal_wrapped(|ui| {
        section(ui, "A kept sample");
        if icon_button(ui, Icon::Close, "Close the kept sample")
            .on_hover_text("Close the kept sample")
            .clicked()
        {
            actions.push(ask(RibbonAction::HideKept));
        }
        if button(
            ui,
            "Open its recording",
            "Explores the recording that the kept sample comes from, at its time",
        ) {
            let records = workbench.data().loaded().map(|loaded| &loaded.records);
            let place = records.and_then(|rows| rows.iter().position(|row| row.name == kept.name));
            if let Some(source) = place {
                actions.push(Action::Explore(ExploreAction::OpenRecord {
                    source,
                    stretch: kept.window,
                }));
            }
        }
    });
    ui.add(egui::Label::new(RichText::new(&kept.name).small()).truncate())
        .on_hover_text(&kept.name);
    signal_ui(ui, kept, 220.0);
}

/// Why it was admitted and why it left, part by part.
fn fates_ui(ui: &mut Ui, judgement: &Judgement, fates: &[Fate]) {
    if !judgement.is_of_data {
        return;
    }
    section(ui, "In training");
    if fates.is_empty() {
        help(ui, "This segment was not used for training");
    }
    for fate in fates {
        let part = match fate.part {
            Part::Fold(fold) => format!("Fold {}", fold + 1),
            Part::Final => "Final model".into(),
        };
        for entry in &fate.entries {
            let class = judgement.ribbon.class_name(entry.class);
            let when = match entry.batch {
                0 => "at the start".to_owned(),
                batch => format!("mini-batch {batch}"),
            };
            let text = format!("{part}, {when}, {class}: {}", event_text(entry.event));
            ui.label(RichText::new(text).small());
        }
    }
}
