//! The cluster on the Sweep tab: what is submitted, and workers and points live from the folder.

use egui::{Button, Grid, ScrollArea, TextEdit, Ui};

use super::sweep::{number_ui, push};
use crate::ui::elements::{fixed_label, help, section, wrong};
use crate::workbench::{Action, ClusterAction, MOST_WORKERS, SweepAction, SweepStage};
use atomscope_engine::cluster::WorkStatus;
use atomscope_engine::records::counted;

/// Failed points that are listed.
const MOST_FAILED: usize = 50;
/// Workers that are listed.
const MOST_LISTED: usize = 500;
/// Rows of workers, or of failed points, that are seen at once: the results below must not leave the page.
const ROWS_SEEN: f32 = 6.0;

fn ask_cluster(actions: &mut Vec<Action>, action: ClusterAction) {
    push(actions, SweepAction::Cluster(action));
}

/// What is asked of the scheduler, and the button that submits.
pub(super) fn submit_ui(
    ui: &mut Ui,
    stage: &SweepStage,
    obstacle: Option<&str>,
    actions: &mut Vec<Action>,
) {
    section(ui, "Cluster");
    let mut form = stage.cluster.form().clone();
    number_ui(
        ui,
        "Workers",
        "Jobs that take points from the folder (default 40)",
        &mut form.n_workers,
        1..=MOST_WORKERS,
    );
    for (name, help_text, text) in [
        (
            "Time limit",
            "Time limit of each worker, such as 2:00:00; another worker resumes what is not finished by then",
            &mut form.time,
        ),
        (
            "Partition",
            "Partition of the cluster; empty for its default",
            &mut form.partition,
        ),
        (
            "Options of sbatch",
            "Further options, such as --mem=4G --account=lab",
            &mut form.sbatch,
        ),
    ] {
        ui.horizontal(|ui| {
            let label = fixed_label(ui, name).on_hover_text(help_text);
            let field = TextEdit::singleline(text).desired_width(f32::INFINITY);
            ui.add(field).labelled_by(label.id).on_hover_text(help_text);
        });
    }
    if form != *stage.cluster.form() {
        ask_cluster(actions, ClusterAction::Edit(form));
    }
    let is_busy = stage.cluster.is_submitting();
    let name = if is_busy {
        "Submitting…"
    } else {
        "Submit to Slurm"
    };
    let button = ui.add_enabled(obstacle.is_none() && !is_busy, Button::new(name));
    if button
        .on_hover_text(
            "Writes the sweep and its job script into the folder and submits the workers",
        )
        .on_disabled_hover_text(obstacle.unwrap_or("The sweep is being submitted"))
        .clicked()
    {
        ask_cluster(actions, ClusterAction::Submit);
    }
}

/// Workers and points as the folder shows them now.
pub(super) fn work_ui(ui: &mut Ui, status: &WorkStatus, actions: &mut Vec<Action>) {
    let n_workers = status.workers.len();
    section(
        ui,
        &match n_workers {
            0 => "Workers".to_owned(),
            _ => counted(n_workers, "worker"),
        },
    );
    let points = status.points;
    ui.label(format!(
        "{} done, {} running, {} failed, {} open{}",
        points.done,
        points.running,
        points.failed,
        points.open,
        left_in_words(status)
    ));
    ui.horizontal(|ui| buttons_ui(ui, status, actions));
    if status.workers.is_empty() {
        match (status.is_complete(), status.is_cancelled) {
            (true, _) => {}
            (false, true) => help(ui, "Submit again to continue with the open points"),
            (false, false) => help(
                ui,
                "No worker has begun: submitted ones wait until the cluster has room. Others begin by `atomscope sweep worker` with the folder",
            ),
        }
    } else {
        workers_ui(ui, status);
    }
    if !status.failed.is_empty() {
        failed_ui(ui, status, actions);
    }
}

/// A list that scrolls where it is long.
fn list_ui(ui: &mut Ui, name: &str, contents: impl FnOnce(&mut Ui)) {
    let row = ui.spacing().interact_size.y + ui.spacing().item_spacing.y;
    ScrollArea::vertical()
        .id_salt(name)
        .max_height(ROWS_SEEN * row)
        .show(ui, contents);
}

fn failed_ui(ui: &mut Ui, status: &WorkStatus, actions: &mut Vec<Action>) {
    list_ui(ui, "failed points", |ui| {
        for failed in status.failed.iter().take(MOST_FAILED) {
            let number = failed.number + 1;
            ui.horizontal_wrapped(|ui| {
                let retry = ui.button(format!("Retry point {number}"));
                if retry
                    .on_hover_text("The point failed three times; it is tried again")
                    .clicked()
                {
                    ask_cluster(actions, ClusterAction::Retry(Some(failed.number)));
                }
                wrong(ui, &format!("point {number}: {}", failed.error));
            });
        }
        more_ui(ui, status.failed.len(), MOST_FAILED);
    });
}

/// How many are not listed.
fn more_ui(ui: &mut Ui, n_all: usize, n_listed: usize) {
    if n_all > n_listed {
        help(ui, &format!("… {} more", n_all - n_listed));
    }
}

fn left_in_words(status: &WorkStatus) -> String {
    let state = match (status.is_cancelled, status.is_paused) {
        (true, _) => " · cancelled",
        (false, true) => " · paused",
        (false, false) => "",
    };
    let left = match status.left_s() {
        Some(seconds) if seconds > 0.0 && !status.is_paused => {
            format!(" · {} left", in_words(seconds))
        }
        _ => String::new(),
    };
    format!("{left}{state}")
}

fn in_words(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{s:.0} s"),
        s if s < 3600.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

fn buttons_ui(ui: &mut Ui, status: &WorkStatus, actions: &mut Vec<Action>) {
    let is_over = status.is_complete() || status.is_cancelled;
    let (name, text, action) = match status.is_paused {
        false => (
            "Pause workers",
            "Workers finish their points and take no others",
            ClusterAction::Pause,
        ),
        true => (
            "Resume workers",
            "Workers take points again",
            ClusterAction::Resume,
        ),
    };
    let pause = ui.add_enabled(!is_over, Button::new(name));
    if pause.on_hover_text(text).clicked() {
        ask_cluster(actions, action);
    }
    let cancel = ui.add_enabled(!is_over, Button::new("Cancel workers"));
    let text = "Workers save the state of their points and end; submitting again resumes";
    if cancel.on_hover_text(text).clicked() {
        ask_cluster(actions, ClusterAction::Cancel);
    }
    let retry = ui.add_enabled(
        !status.failed.is_empty(),
        Button::new("Retry failed points"),
    );
    if retry
        .on_hover_text("Points that failed three times are tried again")
        .clicked()
    {
        ask_cluster(actions, ClusterAction::Retry(None));
    }
}

fn workers_ui(ui: &mut Ui, status: &WorkStatus) {
    list_ui(ui, "list of workers", |ui| {
        Grid::new("workers").striped(true).show(ui, |ui| {
            for head in ["host", "point", "since", "per hour"] {
                ui.strong(head);
            }
            ui.end_row();
            for row in status.workers.iter().take(MOST_LISTED) {
                ui.label(&row.host);
                ui.label(row.point.map_or("–".into(), |point| point.to_string()));
                ui.label(in_words(row.since_s));
                ui.label(row.per_hour.map_or("–".into(), |rate| format!("{rate:.1}")));
                ui.end_row();
            }
        });
        more_ui(ui, status.workers.len(), MOST_LISTED);
    });
}
