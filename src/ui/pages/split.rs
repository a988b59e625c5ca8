//! The Split page: the plan, the folds drawn as groups, and what leaks between them.

use egui::{RichText, ScrollArea, Ui};

use super::fields::SettingField;
use crate::ui::elements::{self, choice, help, page_title, section};
use crate::ui::icons::{Icon, color_dot, icon_mark};
use crate::ui::palette::{class_color, fold_color};
use crate::ui::theme;
use crate::ui::widgets::{FoldStrip, GroupCell, empty_state};
use crate::workbench::{Action, Demo, Draft, MadeSplit, Workbench};
use atomscope_engine::dataset::Dataset;
use atomscope_engine::experiment::declared::{
    DELAY_S, DELAY_SAMPLES, N_FOLDS, SPLIT_SEED, START_SHARE, TEST_SHARE,
};
use atomscope_engine::records::counted;
use atomscope_engine::settings::SettingProblem;
use atomscope_engine::split::audit::{Finding, FindingKind, Severity};
use atomscope_engine::split::{HoldOut, LabelDelay, SplitPlan, TimeOrder};

/// Folds whose test samples are listed.
const MOST_LISTED: usize = 40;
/// Classes whose counts are listed.
const MOST_CLASSES: usize = 40;

/// The Split page.
pub(in crate::ui) fn split_page_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    page_title(
        ui,
        "Split",
        "which samples are used for training and which for testing",
    );
    let Some(loaded) = workbench.data().loaded() else {
        let text = "The assignment of samples to folds and the leakage audit appear here. Nothing is loaded yet.";
        if empty_state(ui, text, Some("Feeder demo")) {
            actions.push(Action::OpenDemo(Demo::FeederFaults));
        }
        return;
    };
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            let problems = draft.experiment.problems(None);
            let plan = &mut draft.experiment.split;
            plan_ui(ui, plan, &problems, &loaded.dataset, workbench);
            if let Some(error) = workbench.split().error() {
                elements::wrong(ui, error);
                return;
            }
            let Some(made) = workbench.split().made() else {
                help(ui, "Assigning the folds");
                return;
            };
            section(ui, "Audit");
            audit_ui(ui, made, &loaded.dataset, &mut draft.experiment.split);
            section(ui, "Folds");
            folds_ui(ui, made, workbench);
            ui.add_space(theme::PANEL_GAP);
        });
}

fn plan_ui(
    ui: &mut Ui,
    plan: &mut SplitPlan,
    problems: &[SettingProblem],
    dataset: &Dataset,
    workbench: &Workbench,
) {
    let current = match plan {
        SplitPlan::KFold { .. } => 0,
        SplitPlan::GroupedKFold { .. } => 1,
        SplitPlan::LeaveOneGroupOut => 2,
        SplitPlan::HoldOut(HoldOut::Share { .. }) => 3,
        SplitPlan::HoldOut(HoldOut::GroupShare { .. }) => 4,
        SplitPlan::HoldOut(HoldOut::Time { .. }) => 5,
        SplitPlan::HoldOut(HoldOut::Groups { .. }) => 6,
        SplitPlan::InTime(_) => 7,
    };
    let names = [
        "Folds of samples",
        "Folds of whole groups",
        "One fold per group",
        "Hold out a share of the samples",
        "Hold out whole groups",
        "Hold out the last part of each recording",
        "Hold out named groups",
        "In the order of time, tested then learned",
    ];
    let text = "Groups are subjects or records; a group on both sides makes a score too good. Default by group where groups are known.";
    let (n_folds, seed, test_share) = (5, 1, 0.3);
    if let Some(chosen) = choice(ui, "Plan", text, current, &names) {
        *plan = match chosen {
            0 => SplitPlan::KFold { n_folds, seed },
            1 => grouped(dataset, seed),
            2 => SplitPlan::LeaveOneGroupOut,
            3 => SplitPlan::HoldOut(HoldOut::Share { test_share, seed }),
            4 => SplitPlan::HoldOut(HoldOut::GroupShare { test_share, seed }),
            5 => SplitPlan::HoldOut(HoldOut::Time { test_share }),
            6 => SplitPlan::HoldOut(HoldOut::Groups {
                names: tested_groups(workbench),
            }),
            _ => SplitPlan::InTime(TimeOrder::default()),
        };
    }
    match plan {
        SplitPlan::KFold { n_folds, seed } | SplitPlan::GroupedKFold { n_folds, seed, .. } => {
            N_FOLDS.whole_ui(ui, n_folds, problems);
            seed_ui(ui, seed);
        }
        SplitPlan::HoldOut(
            HoldOut::Share { test_share, seed } | HoldOut::GroupShare { test_share, seed },
        ) => {
            TEST_SHARE.ui(ui, test_share, &[]);
            seed_ui(ui, seed);
        }
        SplitPlan::HoldOut(HoldOut::Time { test_share }) => {
            TEST_SHARE.ui(ui, test_share, &[]);
        }
        SplitPlan::LeaveOneGroupOut => {}
        SplitPlan::InTime(order) => time_order_ui(ui, order, dataset),
        SplitPlan::HoldOut(HoldOut::Groups { names }) => groups_ui(ui, names, dataset),
    }
}

/// Start and delay of labels; seconds where the files have clocks.
fn time_order_ui(ui: &mut Ui, order: &mut TimeOrder, dataset: &Dataset) {
    help(
        ui,
        "Each sample after the first ones is tested when it arrives, then learned when its label has arrived.",
    );
    START_SHARE.ui(ui, &mut order.start_share, &[]);
    let current = usize::from(matches!(order.delay, LabelDelay::Seconds(_)));
    let text = "How late labels arrive. Seconds need files that state their start.";
    let names = ["After some samples", "After some seconds"];
    if let Some(chosen) = choice(ui, "Labels", text, current, &names) {
        order.delay = match chosen {
            0 => LabelDelay::default(),
            _ => LabelDelay::Seconds(60.0),
        };
    }
    match &mut order.delay {
        LabelDelay::Samples(n_samples) => {
            DELAY_SAMPLES.whole_ui(ui, n_samples, &[]);
        }
        LabelDelay::Seconds(delay_s) => {
            let problem = dataset
                .times_s()
                .is_none()
                .then_some("the files state no start");
            DELAY_S.ui_with(ui, delay_s, problem);
        }
    }
}

/// The groups that the first fold tests now: where a choice by name begins.
fn tested_groups(workbench: &Workbench) -> Vec<String> {
    let groups = workbench
        .split()
        .made()
        .map_or(&[][..], |made| &made.groups);
    let tested = groups.iter().filter(|group| group.fold == Some(0));
    tested.map(|group| group.name.clone()).collect()
}

/// Every group, to be held out or not.
fn groups_ui(ui: &mut Ui, held_out: &mut Vec<String>, dataset: &Dataset) {
    let names = dataset.group_names();
    help(
        ui,
        &format!("{} of {} groups are held out", held_out.len(), names.len()),
    );
    let line = ui.spacing().interact_size.y;
    ScrollArea::vertical()
        .id_salt("held out groups")
        .max_height(8.0 * (line + ui.spacing().item_spacing.y))
        .show_rows(ui, line, names.len(), |ui, range| {
            for name in &names[range] {
                let mut is_out = held_out.contains(name);
                let group = ui.checkbox(&mut is_out, name);
                let text = "Its samples are used for testing only";
                if group.on_hover_text(text).changed() {
                    match is_out {
                        true => held_out.push(name.clone()),
                        false => held_out.retain(|own| own != name),
                    }
                }
            }
        });
}

fn seed_ui(ui: &mut Ui, seed: &mut u64) {
    let mut number = *seed as f64;
    if SPLIT_SEED.ui(ui, &mut number, &[]).changed {
        *seed = number.round().max(0.0) as u64;
    }
}

/// Folds of whole groups, as many as there can be up to five.
fn grouped(dataset: &Dataset, seed: u64) -> SplitPlan {
    match SplitPlan::default_for(dataset, seed) {
        plan @ SplitPlan::GroupedKFold { .. } => plan,
        _ => SplitPlan::grouped(5, seed),
    }
}

fn audit_ui(ui: &mut Ui, made: &MadeSplit, dataset: &Dataset, plan: &mut SplitPlan) {
    let tones = theme::tones(ui);
    if made.audit.findings.is_empty() {
        ui.horizontal(|ui| {
            icon_mark(ui, Icon::Check, tones.ok);
            ui.label("No leakage from training into test found");
        });
    }
    for finding in &made.audit.findings {
        finding_ui(ui, finding, dataset, plan);
    }
}

fn finding_ui(ui: &mut Ui, finding: &Finding, dataset: &Dataset, plan: &mut SplitPlan) {
    let tones = theme::tones(ui);
    let (icon, color) = match finding.severity {
        Severity::Note => (Icon::Full, tones.accent),
        Severity::Warning => (Icon::Warning, tones.warning),
        Severity::Error => (Icon::Error, tones.error),
    };
    ui.horizontal_top(|ui| {
        icon_mark(ui, icon, color);
        ui.vertical(|ui| {
            ui.add(egui::Label::new(RichText::new(&finding.text).color(tones.text)).wrap());
            if !finding.examples.is_empty() {
                help(ui, &format!("For example {}", finding.examples.join(", ")));
            }
            if let Some((text, remedy)) = remedy(finding.kind, dataset, plan)
                && ui
                    .button(text)
                    .on_hover_text("Changes the plan above; Undo brings it back")
                    .clicked()
            {
                *plan = remedy;
            }
        });
    });
    ui.add_space(theme::GRID);
}

/// What helps against a finding, where one click can.
fn remedy(
    kind: FindingKind,
    dataset: &Dataset,
    plan: &SplitPlan,
) -> Option<(&'static str, SplitPlan)> {
    let by_group = grouped(dataset, 1);
    let can_group = by_group.split(dataset).is_ok() && *plan != by_group;
    match kind {
        FindingKind::GroupOnBothSides
        | FindingKind::OverlappingWindows
        | FindingKind::NeighbouringWindows
            if can_group =>
        {
            Some(("Use folds of whole groups", by_group))
        }
        FindingKind::TooFewGroups
            if dataset.groups().is_some()
                && dataset.group_names().len() > 1
                && *plan != SplitPlan::LeaveOneGroupOut =>
        {
            Some(("Use one fold per group", SplitPlan::LeaveOneGroupOut))
        }
        _ => None,
    }
}

fn folds_ui(ui: &mut Ui, made: &MadeSplit, workbench: &Workbench) {
    let is_divided = made.groups.iter().any(|group| group.is_divided);
    let n_folds = made.split.n_folds();
    if !made.groups.is_empty() && !is_divided {
        let cells: Vec<GroupCell<'_>> = made
            .groups
            .iter()
            .map(|group| GroupCell {
                name: &group.name,
                fold: group.fold,
                n_samples: group.n_samples,
            })
            .collect();
        let text = match cells.len() {
            n if n > 1 => format!(
                "{}, coloured by the fold that tests them",
                counted(n, "group")
            ),
            _ => String::new(),
        };
        help(ui, &text);
        ScrollArea::vertical()
            .id_salt("groups")
            .max_height(320.0)
            .show(ui, |ui| {
                FoldStrip {
                    groups: &cells,
                    n_folds,
                    current_fold: None,
                }
                .show(ui);
            });
    }
    counts_ui(ui, made, workbench);
}

/// Test samples of every class in every fold.
fn counts_ui(ui: &mut Ui, made: &MadeSplit, workbench: &Workbench) {
    let Some(loaded) = workbench.data().loaded() else {
        return;
    };
    let tones = theme::tones(ui);
    let names = loaded.dataset.class_names();
    ui.add_space(theme::GRID);
    help(ui, "Test samples of each class");
    ScrollArea::horizontal().id_salt("counts").show(ui, |ui| {
        egui::Grid::new("class counts")
            .spacing([20.0, 4.0])
            .show(ui, |ui| {
                ui.label("");
                ui.label(RichText::new("all").small().color(tones.weak));
                for (class, name) in names.iter().enumerate().take(MOST_CLASSES) {
                    ui.horizontal(|ui| {
                        color_dot(ui, class_color(class));
                        ui.label(RichText::new(name).small());
                    });
                }
                ui.end_row();
                for (fold, counts) in made.class_counts.iter().enumerate().take(MOST_LISTED) {
                    ui.horizontal(|ui| {
                        color_dot(ui, fold_color(fold, made.split.n_folds()));
                        ui.label(format!("fold {}", fold + 1));
                    });
                    ui.label(counts.iter().sum::<usize>().to_string());
                    for count in counts.iter().take(MOST_CLASSES) {
                        ui.label(count.to_string());
                    }
                    ui.end_row();
                }
            });
    });
    let n_more = made.class_counts.len().saturating_sub(MOST_LISTED);
    if n_more > 0 {
        help(ui, &format!("and {}", counted(n_more, "more fold")));
    }
    let n_more = names.len().saturating_sub(MOST_CLASSES);
    if n_more > 0 {
        help(ui, &format!("and {}", counted(n_more, "more class")));
    }
}
