//! What a score and a decision are worth: simple classifiers beside the learner, prediction sets
//! beside their promise, and the settings that were tried and chosen.

use egui::{RichText, Ui};

use crate::ui::elements::{help, section, wide_grid};
use crate::ui::numbers::percent;
use crate::ui::theme;
use crate::workbench::kernel_name;
use atomscope_engine::dataset::Scaling;
use atomscope_engine::experiment::{AutoReport, Coverage, RunSummary};

/// Between the columns of the tables.
const COLUMN_GAP: f32 = 14.0;

/// In two sentences: whether simpler methods would do, and whether decisions keep their promise.
pub(super) fn worth_ui(ui: &mut Ui, summary: &RunSummary) {
    let tones = theme::tones(ui);
    if let Some(sentence) = summary.baseline_sentence() {
        let mut letters = sentence.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        let sentence: String = first.chain(letters).collect();
        match summary.unbeaten() {
            Some(_) => ui.label(RichText::new(sentence).color(tones.error)),
            None => ui.label(sentence),
        };
    }
    if let Some(own) = summary.own_coverage() {
        ui.label(own.sentence());
    }
}

/// Simple classifiers on the same folds.
pub(super) fn baselines_ui(ui: &mut Ui, summary: &RunSummary) {
    if summary.baselines.is_empty() {
        return;
    }
    section(ui, "Compared with simple classifiers");
    let tones = theme::tones(ui);
    wide_grid(ui, "baselines", [COLUMN_GAP, 4.0], |ui| {
        for title in ["", "accuracy", "this run is better by"] {
            ui.label(RichText::new(title).small().color(tones.weak));
        }
        ui.end_row();
        for found in &summary.baselines {
            ui.label(found.baseline.name());
            ui.label(percent(found.accuracy));
            let interval = found
                .difference
                .interval
                .map_or(String::new(), |(low, high)| {
                    format!("  ({:+.1} to {:+.1})", 100.0 * low, 100.0 * high)
                });
            ui.label(format!(
                "{:+.1} points{interval}",
                100.0 * found.difference.mean
            ));
            ui.end_row();
        }
    });
}

/// Prediction sets: what they promise, and what they kept on the held-out samples.
pub(super) fn coverage_ui(ui: &mut Ui, class_names: &[String], summary: &RunSummary) {
    if summary.coverage.is_empty() {
        return;
    }
    section(ui, "One class, several, or none");
    help(
        ui,
        "Where the model is not sure it names several classes, or none. The promise is the share of samples whose true class is among those named; beside it what held-out samples show.",
    );
    let tones = theme::tones(ui);
    wide_grid(ui, "coverage", [COLUMN_GAP, 4.0], |ui| {
        for title in ["promised", "measured", "one class", "several", "none"] {
            ui.label(RichText::new(title).small().color(tones.weak));
        }
        ui.end_row();
        for found in &summary.coverage {
            ui.label(percent(found.promised()));
            ui.label(percent(found.measured));
            ui.label(percent(found.single));
            ui.label(percent((1.0 - found.single - found.none).max(0.0)));
            ui.label(percent(found.none));
            ui.end_row();
        }
    });
    if let Some(own) = summary.own_coverage() {
        sets_by_class_ui(ui, class_names, own);
    }
}

/// By class, at the level that was asked for: how many samples got several classes or none, and how
/// often the true class was among those named.
fn sets_by_class_ui(ui: &mut Ui, class_names: &[String], own: &Coverage) {
    let tones = theme::tones(ui);
    ui.add_space(theme::PANEL_GAP / 2.0);
    help(
        ui,
        &format!("By class, at {} promised:", percent(own.promised())),
    );
    wide_grid(ui, "sets by class", [COLUMN_GAP, 4.0], |ui| {
        for title in ["", "several", "none", "true class named"] {
            ui.label(RichText::new(title).small().color(tones.weak));
        }
        ui.end_row();
        for (class, name) in class_names.iter().enumerate() {
            let Some((several, none)) = own.several_and_none.get(class) else {
                continue;
            };
            ui.label(name);
            ui.label(several.to_string());
            ui.label(none.to_string());
            let covered = own.by_class.get(class).copied().flatten();
            ui.label(covered.map_or("–".into(), percent));
            ui.end_row();
        }
    });
}

/// How features are scaled, after the word features.
fn scaling_name(scaling: Scaling) -> &'static str {
    match scaling {
        Scaling::None => "as they are",
        _ => "z-scored",
    }
}

/// What was tried so far, the chosen row marked.
pub(super) fn choice_ui(ui: &mut Ui, report: &AutoReport) {
    let tones = theme::tones(ui);
    let chosen = report.chosen.as_ref();
    let last = report.tried.last().map_or(0, |tried| tried.stage);
    wide_grid(ui, "tried", [theme::GRID, 4.0], |ui| {
        for title in ["stage", "correct", "head", "features", "kernel"] {
            ui.label(RichText::new(title).small().color(tones.weak));
        }
        ui.end_row();
        for tried in &report.tried {
            let is_chosen = tried.stage == last
                && chosen.is_some_and(|chosen| chosen.candidate == tried.candidate);
            let text = |text: String| match is_chosen {
                true => RichText::new(text).color(tones.strong).strong(),
                false => RichText::new(text),
            };
            ui.label(text(if is_chosen {
                "●".into()
            } else {
                tried.stage.to_string()
            }));
            // Not always the most accurate one was chosen.
            let mut heads = tried.heads.iter().copied();
            let own = chosen.filter(|_| is_chosen);
            let own = own.and_then(|own| heads.find(|(head, _)| *head == own.head));
            match (own.or(tried.best()), &tried.trouble) {
                (Some((head, accuracy)), _) => {
                    ui.label(text(percent(accuracy)));
                    ui.label(text(head.name().into()));
                }
                (None, trouble) => {
                    let trouble = trouble.as_deref().unwrap_or("nothing was tested");
                    ui.label("–");
                    ui.label(RichText::new("not possible").color(tones.weak))
                        .on_hover_text(trouble);
                }
            }
            ui.label(text(scaling_name(tried.candidate.scaling).into()));
            // The median is always one of distances: the table is too narrow to say it in each row.
            let kernel = kernel_name(&tried.candidate.kernel);
            ui.label(text(kernel.trim_end_matches(" distance").into()));
            ui.end_row();
        }
    });
    match chosen {
        Some(chosen) => {
            let kernel = kernel_name(&chosen.candidate.kernel);
            let scaling = scaling_name(chosen.candidate.scaling);
            let (head, reason) = (chosen.head.name(), &chosen.reason);
            let text = format!("Chosen: {kernel}, features {scaling}, head {head}: {reason}");
            help(ui, &text);
        }
        None => help(ui, "Trying…"),
    };
}
