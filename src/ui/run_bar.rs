//! The run bar: start, pause, step, stop, and how far the run is.

use egui::{Align, Layout, ProgressBar, RichText, Ui};

use super::figures::{clock, count, percent};
use super::icons::{Icon, icon_button};
use super::theme;
use crate::experiment::{Part, Status};
use crate::workbench::{Action, Gravity, RunView, Workbench};

/// The run bar.
pub(super) fn run_bar_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        buttons_ui(ui, workbench, actions);
        ui.add_space(theme::GRID);
        if let Some(share) = workbench.loading_share() {
            loading_ui(ui, share, actions);
        } else {
            progress_ui(ui, workbench);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            notices_button_ui(ui, workbench, actions);
        });
    });
}

fn buttons_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let training = workbench.training();
    let status = training.run().map(|run| &run.status);
    let is_alive = training.is_alive();
    let is_running = is_alive && status == Some(&Status::Running);
    let obstacle = workbench.obstacle().filter(|_| !is_alive);
    let is_starting = training.is_starting();
    let start = if is_alive {
        ("Start", "Go on training (Space)")
    } else if workbench.goes_on() {
        (
            "Start",
            "Go on with the run that was stopped (Space). Run → Train from the beginning starts anew.",
        )
    } else {
        ("Start", "Train with the settings as they are (Space)")
    };
    let step = "One round of every fold in training, and its test, then rest (S)";
    let stop = "End training; what was trained is kept (Esc)";
    let buttons = [
        (
            Icon::Play,
            start.0,
            start.1,
            !is_running && !is_starting,
            true,
            Action::Start,
        ),
        (
            Icon::Pause,
            "Pause",
            "Rest after the step at hand (Space)",
            is_running,
            false,
            Action::Pause,
        ),
        (Icon::Step, "Step", step, !is_starting, true, Action::Step),
        (Icon::Stop, "Stop", stop, is_alive, false, Action::Stop),
    ];
    for (icon, name, text, enabled, needs_data, action) in buttons {
        let blocked = obstacle.as_deref().filter(|_| needs_data);
        let enabled = enabled && blocked.is_none();
        let response = ui
            .add_enabled_ui(enabled, |ui| icon_button(ui, icon, name))
            .inner;
        let response = response.on_hover_text(text);
        let response = match blocked {
            Some(reason) => response.on_disabled_hover_text(format!("{text}\nNot now: {reason}")),
            None => response.on_disabled_hover_text(text),
        };
        if response.clicked() {
            actions.push(action);
        }
    }
}

fn loading_ui(ui: &mut Ui, share: f64, actions: &mut Vec<Action>) {
    ui.add(
        ProgressBar::new(share as f32)
            .desired_width(220.0)
            .desired_height(8.0),
    );
    ui.label(format!(
        "loading data, {}",
        percent((share * 100.0).round() / 100.0)
    ));
    if ui.button("Cancel").on_hover_text("Stop loading").clicked() {
        actions.push(Action::CancelLoading);
    }
}

fn progress_ui(ui: &mut Ui, workbench: &Workbench) {
    let tones = theme::tones(ui);
    let Some(run) = workbench.training().run() else {
        let text = match workbench.obstacle() {
            Some(reason) => reason,
            None => "ready to train".into(),
        };
        ui.add(egui::Label::new(RichText::new(text).color(tones.weak)).truncate());
        return;
    };
    let share = run.progress.share();
    let bar = ProgressBar::new(share as f32)
        .desired_width(220.0)
        .desired_height(8.0);
    ui.add(bar.fill(tones.accent));
    let text = progress_text(run, workbench.stale());
    ui.add(egui::Label::new(RichText::new(text).color(tones.text)).truncate());
}

/// `62 % · fold 2/5 · batch 31/60 · 98.4 % right · 41 k samples/s · 0:12 left`
fn progress_text(run: &RunView, stale: Option<String>) -> String {
    let mut parts = vec![percent((run.progress.share() * 100.0).round() / 100.0)];
    match (&run.status, run.active.first()) {
        (Status::Running | Status::Paused, Some((Part::Fold(_), batch))) => {
            let folds: Vec<String> = run
                .active
                .iter()
                .filter_map(|(part, _)| match part {
                    Part::Fold(fold) => Some((fold + 1).to_string()),
                    Part::Final => None,
                })
                .collect();
            parts.push(format!("fold {} of {}", folds.join(" + "), run.n_folds()));
            parts.push(format!("batch {batch}/{}", run.n_rounds));
        }
        (Status::Running | Status::Paused, Some((Part::Final, batch))) => {
            parts.push(format!("final model, batch {batch}"));
        }
        (Status::Complete, _) => parts.push("complete".into()),
        (Status::Stopped, _) => parts.push("stopped".into()),
        (Status::Failed(_), _) => parts.push("failed".into()),
        _ => {}
    }
    if let Some(accuracy) = run.accuracy() {
        parts.push(format!("{} right", percent(accuracy)));
    }
    if let Some(rate) = run.samples_per_s() {
        parts.push(format!("{} samples/s", count(rate)));
    }
    if run.status == Status::Paused {
        parts.push("paused".into());
    } else if run.is_alive()
        && let Some(left) = run.seconds_left()
    {
        parts.push(format!("{} left", clock(left)));
    }
    if let Some(reason) = stale.filter(|_| !run.is_alive()) {
        parts.push(reason);
    }
    parts.join(" · ")
}

fn notices_button_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let tones = theme::tones(ui);
    let list = workbench.notices().list();
    let serious = list
        .iter()
        .filter(|notice| notice.gravity >= Gravity::Warning);
    let n_serious = serious.count();
    if list.is_empty() {
        return;
    }
    let color = if n_serious > 0 {
        tones.warning
    } else {
        tones.weak
    };
    let text = match list.len() {
        1 => "1 notice".to_owned(),
        n => format!("{n} notices"),
    };
    let button = egui::Button::new(RichText::new(text).color(color)).frame(false);
    if ui
        .add(button)
        .on_hover_text("Show or hide the notices")
        .clicked()
    {
        actions.push(Action::ToggleNotices);
    }
}
