//! Tables of the Compare page: scores and costs, paired differences.

use std::sync::Arc;

use egui::{Grid, RichText, ScrollArea, Ui};

use crate::ui::elements::help;
use crate::ui::icons::color_dot;
use crate::ui::numbers::{percent, short};
use crate::ui::palette::class_color;
use crate::ui::theme;
use crate::workbench::{ComparisonStage, ResultColumn, number_of};
use atomscope_engine::evaluation::Superiority;
use atomscope_engine::experiment::ComparedRun;
use atomscope_engine::export::BASELINE_NOTE;

/// Scores and costs of every run, in the columns that are ticked.
pub(super) fn scores_ui(ui: &mut Ui, comparison: &ComparisonStage, runs: &[&Arc<ComparedRun>]) {
    let tones = theme::tones(ui);
    let columns: Vec<ResultColumn> = ResultColumn::ALL
        .into_iter()
        .filter(|column| comparison.shows(*column))
        .collect();
    let grid = Grid::new("compared scores")
        .num_columns(columns.len() + 2)
        .spacing([20.0, 5.0]);
    ScrollArea::horizontal().id_salt("scores").show(ui, |ui| {
        grid.show(ui, |ui| {
            ui.label("");
            for column in &columns {
                let title = RichText::new(column.name()).small().color(tones.weak);
                ui.label(title).on_hover_text(column.help());
            }
            ui.label(RichText::new("folds × seeds").small().color(tones.weak));
            ui.end_row();
            for (place, run) in runs.iter().enumerate() {
                ui.horizontal(|ui| {
                    color_dot(ui, class_color(place));
                    ui.label(&run.name);
                });
                for column in &columns {
                    ui.label(cell(run, *column));
                }
                ui.label(run.outcomes.len().to_string());
                ui.end_row();
            }
        });
    });
}

fn cell(run: &ComparedRun, column: ResultColumn) -> String {
    let summary = &run.summary;
    let micro = |value: Option<f64>| value.map_or("–".into(), |us| format!("{} µs", short(us)));
    match column {
        ResultColumn::Last => summary.last.map_or("–".into(), |point| match point.sd {
            Some(sd) => format!("{} ± {}", percent(point.mean), percent(sd)),
            None => percent(point.mean),
        }),
        ResultColumn::Best => summary.best.map_or("–".into(), |point| {
            format!("{} after {:.0}", percent(point.mean), point.at)
        }),
        ResultColumn::Growing => micro(summary.timing.grow_us_per_batch),
        ResultColumn::Pruning => micro(summary.timing.prune_us_per_batch),
        ResultColumn::Round => micro(summary.round_us),
        ResultColumn::Classifying => micro(summary.timing.classify_us_per_sample),
        ResultColumn::Memory => summary.model_bytes.map_or("–".into(), |bytes| {
            format!("{} KiB", short(bytes / 1024.0))
        }),
    }
}

/// Every run against the first, paired over folds and seeds.
pub(super) fn differences_ui(ui: &mut Ui, runs: &[&Arc<ComparedRun>]) {
    let Some((first, others)) = runs.split_first() else {
        return;
    };
    if others.is_empty() {
        help(ui, "Tick or add another run to see whether the two differ");
        return;
    }
    let tones = theme::tones(ui);
    for run in others {
        ui.horizontal_wrapped(|ui| {
            if let Some(difference) = first.pairing_difference(run) {
                let text = format!(
                    "{} cannot be paired with {}: {difference}",
                    run.name, first.name
                );
                ui.label(RichText::new(text).color(tones.stale));
                return;
            }
            let Some(difference) = run.difference(first) else {
                ui.label(format!(
                    "{} and {} share no fold and seed",
                    run.name, first.name
                ));
                return;
            };
            let interval = difference.interval.map_or(String::new(), |(low, high)| {
                format!(" ({:+.2} to {:+.2})", 100.0 * low, 100.0 * high)
            });
            ui.label(format!(
                "{} − {}: {:+.2} points{interval}, {}:",
                run.name,
                first.name,
                100.0 * difference.mean,
                number_of(difference.n_pairs, "pair", "pairs")
            ));
            let color = match difference.superiority() {
                Superiority::Better | Superiority::Worse => tones.strong,
                Superiority::NotShown | Superiority::TooFewPairs => tones.weak,
            };
            let words = difference.in_words(&run.name, &first.name);
            ui.label(RichText::new(words).color(color));
        });
    }
    help(
        ui,
        "Last accuracy, paired over folds and seeds; corrected resampled t interval, 95 % (Nadeau and Bengio 2003)",
    );
}

/// Simple classifiers on the same features and folds as every run.
pub(super) fn simple_classifiers_ui(ui: &mut Ui, runs: &[&Arc<ComparedRun>]) {
    if runs.iter().all(|run| run.summary.baselines.is_empty()) {
        return;
    }
    let tones = theme::tones(ui);
    let grid = Grid::new("compared simple classifiers")
        .num_columns(4)
        .spacing([20.0, 4.0]);
    ScrollArea::horizontal()
        .id_salt("simple classifiers")
        .show(ui, |ui| {
            grid.show(ui, |ui| {
                for title in [
                    "",
                    "simple classifier",
                    "its accuracy",
                    "run minus classifier",
                ] {
                    ui.label(RichText::new(title).small().color(tones.weak));
                }
                ui.end_row();
                let all = runs.iter().enumerate();
                for (place, run, found) in all.flat_map(|(place, run)| {
                    run.summary.baselines.iter().map(move |b| (place, run, b))
                }) {
                    ui.horizontal(|ui| {
                        color_dot(ui, class_color(place));
                        ui.label(&run.name);
                    });
                    ui.label(found.baseline.name());
                    ui.label(percent(found.accuracy));
                    let interval = found.difference.interval;
                    let interval = interval.map_or(String::new(), |(low, high)| {
                        format!(" ({:+.2} to {:+.2})", 100.0 * low, 100.0 * high)
                    });
                    ui.label(format!("{:+.2}{interval}", 100.0 * found.difference.mean));
                    ui.end_row();
                }
            });
        });
    help(ui, BASELINE_NOTE);
}
