//! The Evaluate page: scores with their spread, per class and group, and why each sample was decided so.

use std::sync::Arc;

use egui::{Id, RichText, Ui, vec2};

use super::certainty::{baselines_ui, choice_ui, coverage_ui, worth_ui};
use super::explain::{inspection_ui, sample_link_ui, samples_ui};
use super::train_panels::curves_ui;
use crate::ui::elements::{self, button, fact, help, page_title, section, wide_grid};
use crate::ui::icons::color_dot;
use crate::ui::numbers::{percent, short};
use crate::ui::palette::class_color;
use crate::ui::theme;
use crate::ui::widgets::{ChartPlot, ConfusionMatrix, empty_state, shortened, text_width};
use crate::workbench::explore::ExploreAction;
use crate::workbench::{Action, Ask, Draft, PathAsk, RunView, Workbench, split_summary};
use atomscope_engine::evaluation::{Confusion, Estimate, Scores, wilson_interval};
use atomscope_engine::experiment::{Part, RunSummary, mean_and_sd};
use atomscope_engine::export::{Chart, ExportContent, Series};
use atomscope_engine::records::counted;
use atomscope_engine::split::SplitPlan;

/// Votes of groups that are listed.
const MOST_GROUPS: usize = 60;
/// Classes whose shares are listed.
const MOST_SHARES: usize = 4;
/// From so many folds on they are chosen from a list.
const MANY_FOLDS: usize = 12;
/// Width of the class names and groups, in letters.
const NAME_WIDTH: f32 = 8.0;
/// Between the columns of the tables.
const COLUMN_GAP: f32 = 14.0;

/// The Evaluate page.
pub(in crate::ui) fn evaluate_page_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    _draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    page_title(
        ui,
        "Evaluate",
        "how well the held-out samples were classified",
    );
    let run = workbench.training().run();
    let is_tested = |run: &&RunView| run.folds().any(|(_, part)| !part.tests.is_empty());
    let Some(run) = run.filter(is_tested) else {
        let is_alive = workbench.training().is_alive();
        let text = match is_alive {
            true => "Scores appear here with the first test",
            false => "Scores appear here when a fold has been trained",
        };
        let can = !is_alive && workbench.obstacle().is_none();
        if empty_state(ui, text, can.then_some("Start training")) {
            actions.push(Action::Start);
        }
        return;
    };
    if let Some(reason) = workbench.stale() {
        let color = theme::tones(ui).stale;
        ui.label(RichText::new(format!("These scores are of the last run: {reason}")).color(color));
    }
    let width = ui.available_width();
    let left = width * 0.45;
    let (left, right) = elements::two_columns(ui, left);
    elements::scrolling_column(ui, left, "scores", |ui| {
        match &run.summary {
            Some(summary) => scores_ui(ui, workbench, run, summary, actions),
            None => help(ui, "Scores appear here when the first fold is complete"),
        }
        curve_ui(ui, workbench);
        if let Some(summary) = &run.summary {
            details_ui(ui, run, summary, actions);
        }
        ui.add_space(theme::PANEL_GAP);
    });
    elements::scrolling_column(ui, right, "decisions", |ui| {
        decisions_ui(ui, workbench, run, actions);
    });
}

/// Accuracy against mini-batches, with the runs before.
fn curve_ui(ui: &mut Ui, workbench: &Workbench) {
    section(ui, "Learning curve");
    // Replay belongs to the Train page: what is asked for here is not followed.
    let _: Option<usize> = curves_ui(ui, 220.0, workbench, None);
}

/// The accuracy, and what can be done with the result.
fn scores_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    run: &RunView,
    summary: &RunSummary,
    actions: &mut Vec<Action>,
) {
    let tones = theme::tones(ui);
    if let Some(accuracy) = summary.accuracy {
        let spread = accuracy
            .sd
            .map_or(String::new(), |sd| format!(" ± {}", percent(sd)));
        let text = format!("{}{spread}", percent(accuracy.mean));
        ui.label(RichText::new(text).heading().size(30.0).color(tones.strong));
        let text = format!(
            "mean accuracy and standard deviation over {} of {} folds",
            summary.folds.len(),
            run.n_folds()
        );
        help(ui, &text);
    }
    leaks_ui(ui, workbench);
    worth_ui(ui, summary);
    ui.horizontal_wrapped(|ui| {
        export_ui(ui, actions);
        final_model_ui(ui, workbench, run, actions);
    });
    let confusion = &summary.confusion;
    fact(ui, "Split", split_summary(&run.experiment.split));
    fact(ui, "Seed", run.experiment.seed.to_string());
    let shown = |value: Option<f64>| value.map_or("–".to_owned(), percent);
    fact(
        ui,
        "Balanced accuracy",
        shown(confusion.balanced_accuracy()),
    );
    let number = |value: Option<f64>| value.map_or("–".to_owned(), short);
    if let Some(scores) = scores_of(ui, run, summary) {
        people_ui(ui, run, summary, &scores);
    }
    groupings_ui(ui, workbench, run, actions);
    fact(ui, "Cohen's κ", number(confusion.kappa()));
    fact(ui, "Matthews", number(confusion.matthews()));
}

/// Says beside the score that it counts samples, or parts of them, that were learned.
fn leaks_ui(ui: &mut Ui, workbench: &Workbench) {
    let made = workbench.split().made();
    let Some(made) = made.filter(|made| made.audit.leaks() && workbench.stale().is_none()) else {
        return;
    };
    // The worst comes first.
    if let Some(finding) = made.audit.findings.first() {
        let text = format!("The folds leak (see Split). {}", finding.text);
        elements::wrong(ui, &text);
    }
}

/// All scores with their intervals over groups, drawn once for every result.
fn scores_of(ui: &Ui, run: &RunView, summary: &RunSummary) -> Option<Arc<Scores>> {
    let id = Id::unique("scores over groups");
    let batch = summary.accuracy.map_or(0, |point| point.at as u64);
    let confusion = &summary.confusion;
    let key = (
        batch,
        confusion.right(),
        confusion.total(),
        run.facts.fingerprint,
    );
    type Kept = ((u64, u64, u64, u64), Option<Arc<Scores>>);
    if let Some((kept, scores)) = ui.data(|data| data.get_temp::<Kept>(id))
        && kept == key
    {
        return scores;
    }
    let scores = summary
        .scores(&run.facts, run.experiment.seed)
        .map(Arc::new);
    ui.data_mut(|data| data.insert_temp(id, (key, scores.clone())));
    scores
}

/// What is honest to say of new people: chance, sensitivity and specificity, intervals over groups.
fn people_ui(ui: &mut Ui, run: &RunView, summary: &RunSummary, scores: &Scores) {
    let names = &run.facts.class_names;
    let shares = names.iter().zip(&scores.class_shares);
    let mut shares: Vec<String> = shares
        .take(MOST_SHARES)
        .map(|(name, share)| format!("{name} {}", percent(*share)))
        .collect();
    if names.len() > MOST_SHARES {
        shares.push("…".to_owned());
    }
    fact(
        ui,
        "Chance",
        format!("{} ({})", percent(scores.chance), shares.join(", ")),
    );
    if scores.accuracy.interval.is_some() {
        fact(ui, "95 % over groups", estimate(&scores.accuracy));
    }
    if let (Some(found), Some(spared)) = (scores.sensitivity(), scores.specificity()) {
        fact(ui, "Sensitivity", estimate(&found));
        fact(ui, "Specificity", estimate(&spared));
    }
    if let Some(auc) = &scores.auc {
        fact(ui, "AUC", estimate(auc));
    }
    if let Some(share) = summary.readout_logo {
        let text = "The joint readout of the kept samples, each decided without those of its own group. Somewhat pessimistic, because hard samples are kept.";
        fact(
            ui,
            "Own group left out",
            format!("{} of the kept samples", percent(share)),
        )
        .on_hover_text(text);
        if let Some(share) = summary.prequential_accuracy {
            let text = "Prequential: samples decided just before they were learned. Others of their group had been learned by then, so it says nothing about new groups.";
            fact(
                ui,
                "While learning",
                format!("{}, groups known", percent(share)),
            )
            .on_hover_text(text);
        }
    }
}

/// How far the score depends on which groups share a fold.
fn groupings_ui(ui: &mut Ui, workbench: &Workbench, run: &RunView, actions: &mut Vec<Action>) {
    let is_grouped = matches!(run.experiment.split, SplitPlan::GroupedKFold { .. });
    if !is_grouped || workbench.training().is_alive() || workbench.stale().is_some() {
        return;
    }
    if let Some(found) = workbench.groupings() {
        let accuracies = || found.groupings.iter().filter_map(|g| g.accuracy);
        if let Some((mean, sd)) = mean_and_sd(accuracies()) {
            let spread = sd.map_or(String::new(), |sd| format!(" ± {}", percent(sd)));
            let low = accuracies().fold(f64::INFINITY, f64::min);
            let high = accuracies().fold(0.0, f64::max);
            let text = format!(
                "{}{spread} ({} to {})",
                percent(mean),
                percent(low),
                percent(high)
            );
            fact(
                ui,
                &format!("Over {}", counted(found.groupings.len(), "grouping")),
                text,
            );
        }
        let votes = found.groupings.iter().filter_map(|g| g.group_accuracy);
        if let Some((mean, _)) = mean_and_sd(votes) {
            fact(ui, "Their votes of groups", percent(mean));
        }
        return;
    }
    match workbench.groupings_share() {
        Some(share) => {
            ui.horizontal(|ui| {
                ui.label(format!("Repeating the grouping: {}", percent(share)));
                if button(ui, "Cancel the groupings", "The run itself stays") {
                    actions.push(Action::CancelGroupings);
                }
            });
        }
        None => {
            let text = "Trains five times more with the groups dealt to folds anew: how far the score depends on the grouping";
            if button(ui, "Repeat with 5 groupings", text) {
                actions.push(Action::RepeatGroupings);
            }
        }
    }
}

/// A figure with its interval.
fn estimate(estimate: &Estimate) -> String {
    let value = percent(estimate.value);
    match estimate.interval {
        Some((low, high)) => format!("{value} ({} to {})", percent(low), percent(high)),
        None => value,
    }
}

/// Scores per class and group, curves and times.
fn details_ui(ui: &mut Ui, run: &RunView, summary: &RunSummary, actions: &mut Vec<Action>) {
    let scores = scores_of(ui, run, summary);
    baselines_ui(ui, summary);
    coverage_ui(ui, &run.facts.class_names, summary);
    if let Some(report) = run.choice() {
        section(ui, "Settings chosen on inner folds");
        choice_ui(ui, report);
    }
    section(ui, "Per class");
    classes_ui(
        ui,
        &run.facts.class_names,
        &summary.confusion,
        scores.as_deref(),
    );
    groups_ui(ui, run, summary, scores.as_deref(), actions);
    if !summary.missing.is_empty() {
        section(ui, "With features missing");
        let series = [
            ("this run", &summary.missing),
            ("zeros repaired", &summary.repaired),
            ("known and filled in", &summary.known),
        ]
        .into_iter()
        .filter(|(_, points)| !points.is_empty())
        .enumerate()
        .map(|(place, (name, points))| Series::of_curve(name, points, place))
        .collect();
        ChartPlot {
            chart: &Chart::over_shares(
                "Accuracy with features missing",
                "features missing",
                series,
            ),
            height: 220.0,
        }
        .show(ui);
    }
    section(ui, "Time");
    timing_ui(ui, summary);
}

/// A model of all samples, to classify new recordings with.
fn final_model_ui(ui: &mut Ui, workbench: &Workbench, run: &RunView, actions: &mut Vec<Action>) {
    let part = run.part(Part::Final);
    if part.is_some_and(|part| part.model.is_some()) {
        let text = "Trained on all samples and saved with the session; `atomscope classify` applies it to new recordings";
        ui.label("Final model trained").on_hover_text(text);
    } else if workbench.can_add_final_model() {
        let text = "One more model, trained on all samples and not tested, for classifying new recordings. It is saved with the session.";
        if button(ui, "Train a final model", text) {
            actions.push(Action::AddFinalModel);
        }
    }
}

/// Tables, figures, everything in files.
fn export_ui(ui: &mut Ui, actions: &mut Vec<Action>) {
    let menu = ui.menu_button("Export…", |ui| {
        for content in ExportContent::ALL {
            if ui.button(content.name()).clicked() {
                actions.push(Action::Ask(Ask::Path(PathAsk::Export(content))));
                ui.close();
            }
        }
    });
    menu.response
        .on_hover_text("Write tables, figures or everything for other programs");
}

fn classes_ui(ui: &mut Ui, names: &[String], confusion: &Confusion, scores: Option<&Scores>) {
    let tones = theme::tones(ui);
    wide_grid(ui, "per class", [COLUMN_GAP, 5.0], |ui| {
        for title in ["", "found", "95 % interval", "precision", "samples"] {
            ui.label(RichText::new(title).small().color(tones.weak));
        }
        ui.end_row();
        for (class, name) in names.iter().enumerate() {
            ui.horizontal(|ui| {
                color_dot(ui, class_color(class));
                short_name_ui(ui, name);
            });
            let total = confusion.of_class(class);
            // Segments of one group hang together: their interval is that over groups.
            let over_groups =
                scores.and_then(|s| s.recalls.get(class).copied().flatten()?.interval);
            let (low, high) = over_groups
                .unwrap_or_else(|| wilson_interval(confusion.count(class, class), total));
            ui.label(confusion.recall(class).map_or("–".into(), percent));
            ui.label(format!("{} to {}", percent(low), percent(high)));
            ui.label(confusion.precision(class).map_or("–".into(), percent));
            ui.label(total.to_string());
            ui.end_row();
        }
    });
}

/// How often every group is right, and its vote where it holds one class; where groups hold several samples.
fn groups_ui(
    ui: &mut Ui,
    run: &RunView,
    summary: &RunSummary,
    scores: Option<&Scores>,
    actions: &mut Vec<Action>,
) {
    let Some(scores) = scores.filter(|scores| !scores.groups.is_empty()) else {
        return;
    };
    if scores.groups.len() as u64 >= summary.confusion.total() {
        return;
    }
    section(ui, "Per group");
    let vote = summary.group_score();
    match &vote {
        Some(score) => {
            let (low, high) = score.interval;
            ui.label(format!(
                "{} of {} groups classified correctly by the vote of their samples; exact 95 % interval {} to {}. Those most often wrong first:",
                score.right,
                score.total,
                percent(low),
                percent(high)
            ));
        }
        None => {
            ui.label("Those most often wrong first:");
        }
    }
    let tones = theme::tones(ui);
    let class_name = |class: usize| run.facts.class_names.get(class).map_or("", String::as_str);
    // A grid would cut names to the width of an empty column.
    let font = theme::small_font(ui);
    let rows = scores.groups.iter().take(MOST_GROUPS);
    let names = rows.filter_map(|row| run.facts.group_names.get(row.group));
    let widest = names
        .map(|name| text_width(ui, name, &font))
        .fold(0.0, f32::max);
    let width = (widest + 2.0).min(theme::body_font(ui).size * NAME_WIDTH);
    wide_grid(ui, "per group", [COLUMN_GAP, 4.0], |ui| {
        let decided = if vote.is_some() { "decided" } else { "" };
        for title in ["", "right", "samples", decided] {
            ui.label(RichText::new(title).small().color(tones.weak));
        }
        ui.end_row();
        for row in scores.groups.iter().take(MOST_GROUPS) {
            let name = run.facts.group_names.get(row.group);
            let groups = run.facts.groups.iter().flatten();
            let first = groups.into_iter().position(|group| *group == row.group);
            let name = name.map_or("", String::as_str);
            let cell = vec2(width, ui.spacing().interact_size.y);
            let is_link = ui.allocate_ui(cell, |ui| {
                ui.set_width(width);
                sample_link_ui(ui, name)
            });
            let is_link = is_link.inner;
            if let (true, Some(sample)) = (is_link, first) {
                actions.push(Action::Explore(ExploreAction::OpenSample(sample)));
            }
            ui.label(percent(row.right as f64 / row.total.max(1) as f64));
            ui.label(row.total.to_string());
            if vote.is_some() {
                let is_right = row.decided == row.truth;
                let color = if is_right { tones.ok } else { tones.error };
                let decided = RichText::new(class_name(row.decided)).color(color);
                ui.label(decided).on_hover_text(match is_right {
                    true => "The vote of its samples is right".to_owned(),
                    false => format!(
                        "The vote of its samples is wrong: it is {}",
                        class_name(row.truth)
                    ),
                });
            }
            ui.end_row();
        }
    });
    let n_more = scores.groups.len().saturating_sub(MOST_GROUPS);
    if n_more > 0 {
        help(
            ui,
            &format!(
                "and {}, listed in the table under Export…",
                counted(n_more, "more group")
            ),
        );
    }
}

/// A name cut to a column's width; pointed at it is told in full.
fn short_name_ui(ui: &mut Ui, name: &str) {
    let width = theme::body_font(ui).size * NAME_WIDTH;
    let font = theme::body_font(ui);
    let shown = shortened(ui, name, &font, width);
    let label = ui.label(&shown);
    if shown != name {
        label.on_hover_text(name);
    }
}

fn timing_ui(ui: &mut Ui, summary: &RunSummary) {
    let timing = &summary.timing;
    let micro = |value: Option<f64>| value.map_or("–".into(), |us| format!("{} µs", short(us)));
    fact(ui, "Growing, per batch", micro(timing.grow_us_per_batch));
    fact(ui, "Pruning, per batch", micro(timing.prune_us_per_batch));
    fact(
        ui,
        "Classifying, per sample",
        micro(timing.classify_us_per_sample),
    );
    fact(
        ui,
        "Training in all",
        format!("{} s", short(timing.train_s)),
    );
    fact(ui, "Testing in all", format!("{} s", short(timing.test_s)));
}

/// A few folds beside each other; gives one that was chosen.
fn fold_chips_ui(ui: &mut Ui, run: &RunView, fold: Option<usize>) -> Option<usize> {
    let mut chosen = None;
    for (number, _) in run.folds() {
        let chip = ui.selectable_label(fold == Some(number), format!("{}", number + 1));
        let text = format!("Fold {} alone", number + 1);
        if chip.on_hover_text(text).clicked() {
            chosen = Some(number);
        }
    }
    chosen
}

/// Many folds as a list; gives one that was chosen.
fn fold_list_ui(ui: &mut Ui, run: &RunView, fold: Option<usize>) -> Option<usize> {
    let mut chosen = None;
    let shown = fold.map_or("one fold".to_owned(), |fold| format!("fold {}", fold + 1));
    let list = egui::ComboBox::from_id_salt("confusion of a fold")
        .selected_text(shown)
        .show_ui(ui, |ui| {
            for (number, _) in run.folds() {
                let name = format!("fold {}", number + 1);
                if ui.selectable_label(fold == Some(number), name).clicked() {
                    chosen = Some(number);
                }
            }
        });
    ui.ctx()
        .accesskit_node_builder(list.response.id, |node| node.set_label("One fold"));
    list.response
        .on_hover_text("The last test of one fold alone");
    chosen
}

/// Confusion per fold or summed, the samples of a cell, and one sample explained.
fn decisions_ui(ui: &mut Ui, workbench: &Workbench, run: &RunView, actions: &mut Vec<Action>) {
    let last_test = |fold: usize| run.part(Part::Fold(fold))?.tests.last();
    let fold = workbench.view().chosen_fold();
    let fold = fold.filter(|fold| last_test(*fold).is_some());
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Confusion").text_style(theme::panel_title()));
        let all = ui.selectable_label(fold.is_none(), "all folds");
        if all
            .on_hover_text("The last tests of all folds together")
            .clicked()
        {
            actions.push(Action::ChooseFold(None));
        }
        let chosen = match run.folds().count() {
            0..MANY_FOLDS => fold_chips_ui(ui, run, fold),
            _ => fold_list_ui(ui, run, fold),
        };
        actions.extend(chosen.map(|number| Action::ChooseFold(Some(number))));
    });
    let confusion = match fold.and_then(last_test) {
        Some(test) => &test.confusion,
        None => &run.confusion(),
    };
    // Sets are counted over all folds.
    let summary = run.summary.as_ref().filter(|_| fold.is_none());
    let sets = summary.and_then(|summary| summary.own_coverage());
    let n_classes = run.facts.n_classes() as f32;
    let cell = workbench.view().cell;
    let matrix = ConfusionMatrix {
        class_names: &run.facts.class_names,
        confusion,
        several_and_none: sets.map(|own| &own.several_and_none[..]),
        selected: cell,
        height: (n_classes * 44.0 + 60.0).clamp(160.0, 420.0),
    };
    if let Some(chosen) = matrix.show(ui) {
        actions.push(Action::ChooseCell((cell != Some(chosen)).then_some(chosen)));
    }
    if let Some(own) = sets {
        let text = format!(
            "several, none: samples for which the model names more than one class, or none, to be right in {}",
            percent(own.promised())
        );
        help(ui, &text);
    }
    match cell {
        Some(cell) => samples_ui(ui, workbench, run, fold, cell, actions),
        None => help(ui, "Choose a cell to see its samples"),
    }
    inspection_ui(ui, workbench, run, actions);
    ui.add_space(theme::PANEL_GAP);
}
