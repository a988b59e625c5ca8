//! The Compare page: runs, sessions and sweeps side by side, and the paper in one click.

use egui::{DragValue, RichText, Ui};

use super::compare_table::{differences_ui, scores_ui, simple_classifiers_ui};
use super::sweep::sweep_ui;
use crate::ui::elements::{self, help, page_title, section};
use crate::ui::icons::{Icon, color_dot, icon_button};
use crate::ui::palette::class_color;
use crate::ui::theme;
use crate::ui::widgets::{ChartPlot, ConfusionMatrix};
use crate::workbench::{
    Action, Ask, CompareAction, CompareTab, ComparisonStage, Draft, MOST_SEEDS, PathAsk,
    ResultColumn, Workbench,
};
use atomscope_engine::experiment::{ComparedRun, CurvePoint};
use atomscope_engine::export::{Chart, Series};

const TICK_HELP: &str = "Include in the comparison; the first one included is the reference";
const TRAIN_HELP: &str =
    "Trains all ticked runs on the folds and seeds of the first, so that results can be paired";

/// The Compare page.
pub(in crate::ui) fn compare_page_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    _draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    page_title(ui, "Compare", "runs, sessions and sweeps side by side");
    let comparison = workbench.comparison();
    tabs_ui(ui, comparison.tab(), actions);
    if comparison.tab() == CompareTab::Sweep {
        sweep_ui(ui, workbench, actions);
        return;
    }
    let width = theme::body_font(ui).size * 23.0;
    let (left, right) = elements::two_columns(ui, width);
    elements::scrolling_column(ui, left, "contenders", |ui| {
        contenders_ui(ui, comparison, actions);
        training_ui(ui, comparison, actions);
        columns_ui(ui, comparison, actions);
        paper_ui(ui, comparison, actions);
    });
    elements::scrolling_column(ui, right, "compared", |ui| {
        results_ui(ui, comparison, actions);
        ui.add_space(theme::PANEL_GAP);
    });
}

fn tabs_ui(ui: &mut Ui, shown: CompareTab, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        for (tab, name, help_text) in [
            (
                CompareTab::Runs,
                "Runs",
                "Runs and sessions side by side, and the paper",
            ),
            (
                CompareTab::Sweep,
                "Sweep",
                "Many settings of this session, judged by nested validation",
            ),
        ] {
            let label = ui.selectable_label(tab == shown, name);
            if label.on_hover_text(help_text).clicked() {
                actions.push(Action::Compare(CompareAction::Show(tab)));
            }
        }
    });
}

pub(super) fn ask(actions: &mut Vec<Action>, what: PathAsk) {
    actions.push(Action::Ask(Ask::Path(what)));
}

/// Who takes part.
fn contenders_ui(ui: &mut Ui, comparison: &ComparisonStage, actions: &mut Vec<Action>) {
    section(ui, "Runs");
    if comparison.contenders().is_empty() {
        help(
            ui,
            "Runs appear here as soon as one of their folds is complete; earlier runs are kept. Sessions can be added.",
        );
    }
    let mut n_shown = 0;
    for (place, contender) in comparison.contenders().iter().enumerate() {
        ui.horizontal(|ui| {
            let is_drawn = contender.is_ticked && contender.run.is_some();
            if is_drawn {
                color_dot(ui, class_color(n_shown));
                n_shown += 1;
            }
            let mut is_ticked = contender.is_ticked;
            let tick = ui.checkbox(&mut is_ticked, &contender.name);
            if tick.on_hover_text(TICK_HELP).changed() {
                actions.push(Action::Compare(CompareAction::Tick(place)));
            }
            if contender.run.is_none() {
                ui.label(
                    RichText::new("not trained")
                        .small()
                        .color(theme::tones(ui).weak),
                );
            }
            let says = format!("Remove {}", contender.name);
            let remove = icon_button(ui, Icon::Close, &says).on_hover_text(says);
            if remove.clicked() {
                actions.push(Action::Compare(CompareAction::Remove(place)));
            }
        });
    }
    let add = ui.button("Add a session…");
    if add
        .on_hover_text("Open a session file to compare with; the open session stays as it is")
        .clicked()
    {
        ask(actions, PathAsk::CompareSession);
    }
}

/// Everything trained again on identical folds and seeds.
fn training_ui(ui: &mut Ui, comparison: &ComparisonStage, actions: &mut Vec<Action>) {
    section(ui, "On identical folds");
    if let Some(share) = comparison.training_share() {
        progress_ui(ui, "Training", share, CompareAction::Cancel, actions);
        return;
    }
    ui.horizontal(|ui| {
        let label = ui.label("Seeds");
        let mut n_seeds = comparison.n_seeds();
        let field = DragValue::new(&mut n_seeds).range(1..=MOST_SEEDS);
        let field = ui.add(field).labelled_by(label.id);
        let text = format!(
            "Number of repetitions, each with different folds and order of samples (default 1, 1 to {MOST_SEEDS})"
        );
        if field.on_hover_text(text).changed() {
            actions.push(Action::Compare(CompareAction::SetSeeds(n_seeds)));
        }
        let has_ticked = comparison.contenders().iter().any(|c| c.is_ticked);
        let train = ui.add_enabled(has_ticked, egui::Button::new("Train all ticked"));
        if train
            .on_hover_text(TRAIN_HELP)
            .on_disabled_hover_text("Tick or add a run first")
            .clicked()
        {
            actions.push(Action::Compare(CompareAction::Train));
        }
    });
    let has_results = !comparison.compared().is_empty();
    let save = ui.add_enabled(has_results, egui::Button::new("Save report…"));
    let save = save.on_hover_text("Figures, tables and differences as a page for the browser");
    if save
        .on_disabled_hover_text("There are no results yet")
        .clicked()
    {
        ask(actions, PathAsk::ComparisonReport);
    }
}

/// How far something has come, and a button that stops it.
pub(super) fn progress_ui(
    ui: &mut Ui,
    what: &str,
    share: f64,
    stop_it: CompareAction,
    actions: &mut Vec<Action>,
) {
    let bar = egui::ProgressBar::new(share as f32).text(format!("{what}, {:.0} %", 100.0 * share));
    ui.add(bar);
    let stop = ui
        .button(format!("Stop {}", what.to_lowercase()))
        .on_hover_text("Results complete so far are kept");
    if stop.clicked() {
        actions.push(Action::Compare(stop_it));
    }
}

fn columns_ui(ui: &mut Ui, comparison: &ComparisonStage, actions: &mut Vec<Action>) {
    section(ui, "Columns");
    for column in ResultColumn::ALL {
        let mut is_shown = comparison.shows(column);
        let tick = ui.checkbox(&mut is_shown, column.name());
        if tick.on_hover_text(column.help()).changed() {
            actions.push(Action::Compare(CompareAction::ToggleColumn(column)));
        }
    }
}

fn paper_ui(ui: &mut Ui, comparison: &ComparisonStage, actions: &mut Vec<Action>) {
    section(ui, "The paper");
    if let Some(share) = comparison.reproducing_share() {
        progress_ui(ui, "Reproducing", share, CompareAction::Cancel, actions);
        return;
    }
    let paper = ui.button("Reproduce the paper…");
    let text = "Runs the paper's comparison on all of its data sets that are found and writes a report with the published curves beside ours";
    if paper.on_hover_text(text).clicked() {
        ask(actions, PathAsk::Reproduction);
    }
    ui.add_space(theme::PANEL_GAP);
}

/// Curves, table, differences and confusion matrices of what is ticked.
fn results_ui(ui: &mut Ui, comparison: &ComparisonStage, actions: &mut Vec<Action>) {
    let runs = comparison.compared();
    if runs.is_empty() {
        let text = "Curves, costs and differences appear here when a run has results";
        if crate::ui::widgets::empty_state(ui, text, Some("Add a session…")) {
            ask(actions, PathAsk::CompareSession);
        }
        return;
    }
    let of_runs = |curve: fn(&ComparedRun) -> &[CurvePoint]| -> Vec<Series> {
        let series = runs.iter().enumerate();
        let series = series.map(|(place, run)| Series::of_curve(&run.name, curve(run), place));
        series.filter(|series| !series.points.is_empty()).collect()
    };
    section(ui, "Accuracy");
    let x_label = "mini-batches (a batch learner is a level)";
    ChartPlot {
        chart: &Chart::over_batches(
            "Accuracy of the compared runs",
            x_label,
            of_runs(shown_curve),
        ),
        height: 300.0,
    }
    .show(ui);
    section(ui, "Scores and costs");
    scores_ui(ui, comparison, &runs);
    section(ui, "Differences");
    differences_ui(ui, &runs);
    simple_classifiers_ui(ui, &runs);
    let missing = of_runs(|run| &run.summary.missing);
    if !missing.is_empty() {
        section(ui, "With features missing");
        ChartPlot {
            chart: &Chart::over_shares(
                "Accuracy with features missing",
                "features missing",
                missing,
            ),
            height: 240.0,
        }
        .show(ui);
    }
    section(ui, "Confusion");
    ui.horizontal_wrapped(|ui| {
        let width = (ui.available_width() / 2.0 - theme::PANEL_GAP).max(260.0);
        for run in &runs {
            ui.push_id(&run.name, |ui| {
                ui.vertical(|ui| {
                    ui.set_max_width(width);
                    ui.label(&run.name);
                    ConfusionMatrix {
                        several_and_none: None,
                        class_names: &run.facts.class_names,
                        confusion: &run.summary.confusion,
                        selected: None,
                        height: (run.facts.n_classes() as f32 * 34.0 + 60.0).clamp(160.0, 420.0),
                    }
                    .show(ui);
                });
            });
        }
    });
}

/// The curve of a run; of a batch learner, whose iterations are no mini-batches, its end.
fn shown_curve(run: &ComparedRun) -> &[CurvePoint] {
    let curve = &run.summary.curve;
    match run.experiment.learner.algorithm.is_batch() {
        true => &curve[curve.len().saturating_sub(1)..],
        false => curve,
    }
}
