//! The sweep on the Compare page: what is tried, how far it has come, what came out.

use std::ops::RangeInclusive;

use egui::emath::Numeric;
use egui::{ComboBox, DragValue, ScrollArea, TextEdit, Ui};

use super::compare::{ask, progress_ui};
use super::sweep_cluster::{submit_ui, work_ui};
use super::sweep_table::points_ui;
use crate::ui::elements::{self, button, choice, fixed_label, help, section, wrong};
use crate::ui::icons::{Icon, icon_button};
use crate::ui::theme;
use crate::ui::widgets::{ChartPlot, HeatMapView, empty_state};
use crate::workbench::{
    Action, AxisForm, CompareAction, MOST_INNER_FOLDS, PathAsk, SweepAction, SweepForm,
    SweepResults, SweepStage, Workbench,
};
use atomscope_engine::experiment::Halving;
use atomscope_engine::records::counted;
use atomscope_engine::settings::Setting;

const KIND_HELP: &str = "Every combination of the values, or a number of random draws";
const INNER_HELP: &str =
    "Number of inner folds of the training samples, on which the settings are chosen (default 3)";
const HALVING_HELP: &str = "Successive halving: all points begin with a short training on inner folds, and only the best go on to longer ones; the nested score stays honest";
const STAGES_HELP: &str = "Number of stages; the last one trains to the end (default 3)";
const FACTOR_HELP: &str = "One point in so many proceeds to the next stage, whose training is so many times as long (default 3)";
const SETTING_HELP: &str = "A setting of the session that is open, by its name in the file";
const VALUES_HELP: &str = "Values with commas between: 10, 20, 40. A random search also takes ranges: 0.1 to 10, 0.001 to 1 log, 5 to 40 whole";
const NESTED_HELP: &str = "In every outer fold the settings are chosen by inner folds of its training samples and judged on its test samples, which had no part in the choice";
const MAP_HEIGHT: f32 = 260.0;
/// Draws that can be typed; more are refused when the sweep is checked.
const MOST_DRAWS: usize = 100_000;

/// The sweep: form at the left, results at the right.
pub(super) fn sweep_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let stage = workbench.comparison().sweep();
    let width = theme::body_font(ui).size * 27.0;
    let (left, right) = elements::two_columns(ui, width);
    elements::scrolling_column(ui, left, "sweep", |ui| {
        ui.add_enabled_ui(stage.share().is_none(), |ui| form_ui(ui, stage, actions));
        start_ui(ui, workbench, stage, actions);
        ui.add_space(theme::PANEL_GAP);
    });
    elements::scrolling_column(ui, right, "sweep results", |ui| {
        match stage.results() {
            Some(look) => results_ui(ui, stage, look, actions),
            None => {
                let text = "Choose settings and values at the left and start, or open the results of an earlier sweep";
                if empty_state(ui, text, Some("Open sweep results…")) {
                    ask(actions, PathAsk::OpenSweep);
                }
            }
        }
        ui.add_space(theme::PANEL_GAP);
    });
}

/// Asks something of the sweep.
pub(super) fn push(actions: &mut Vec<Action>, action: SweepAction) {
    actions.push(Action::Compare(CompareAction::Sweep(action)));
}

/// Settings to try.
fn form_ui(ui: &mut Ui, stage: &SweepStage, actions: &mut Vec<Action>) {
    let mut form = stage.form().clone();
    section(ui, "Settings to try");
    let kind = usize::from(form.is_random);
    if let Some(kind) = choice(ui, "Search", KIND_HELP, kind, &["grid", "random"]) {
        form.is_random = kind == 1;
    }
    if form.is_random {
        number_ui(
            ui,
            "Points",
            "How many are drawn (default 30)",
            &mut form.n_points,
            1..=MOST_DRAWS,
        );
        number_ui(
            ui,
            "Seed of the draws",
            "Another seed draws other points (default 1)",
            &mut form.seed,
            0..=u64::MAX,
        );
    }
    number_ui(
        ui,
        "Inner folds",
        INNER_HELP,
        &mut form.inner_folds,
        2..=MOST_INNER_FOLDS,
    );
    halving_ui(ui, &mut form.halving);
    section(ui, "Settings");
    if form.axes.is_empty() {
        help(ui, "No setting is tried yet: add one or more");
    }
    let mut removed = None;
    for (place, axis) in form.axes.iter_mut().enumerate() {
        if axis_ui(ui, stage, place, axis) {
            removed = Some(place);
        }
    }
    if let Some(place) = removed {
        form.axes.remove(place);
    }
    if button(
        ui,
        "Add a setting",
        "Another setting of the session to be tried",
    ) {
        form.axes.extend(unused_axis(stage, &form));
    }
    folder_ui(ui, &form, actions);
    if form != *stage.form() {
        push(actions, SweepAction::Edit(form));
    }
}

/// Whether and how points are stopped early.
fn halving_ui(ui: &mut Ui, halving: &mut Option<Halving>) {
    let kind = usize::from(halving.is_some());
    let kinds = ["none", "successive halving"];
    if let Some(kind) = choice(ui, "Early stopping", HALVING_HELP, kind, &kinds) {
        *halving = (kind == 1).then(Halving::default);
    }
    if let Some(halving) = halving {
        let (fewest, most) = Halving::STAGES;
        number_ui(
            ui,
            "Stages",
            STAGES_HELP,
            &mut halving.stages,
            fewest..=most,
        );
        let (least, most) = Halving::FACTOR;
        number_ui(ui, "Factor", FACTOR_HELP, &mut halving.factor, least..=most);
    }
}

/// A whole number with its name. Only what is typed or dragged is kept to the range: looking at
/// a form must not change it.
pub(super) fn number_ui<N: Numeric>(
    ui: &mut Ui,
    name: &str,
    help_text: &str,
    value: &mut N,
    range: RangeInclusive<N>,
) {
    let before = *value;
    ui.horizontal(|ui| {
        let label = fixed_label(ui, name).on_hover_text(help_text);
        let field = DragValue::new(value)
            .range(range)
            .clamp_existing_to_range(false);
        ui.add(field).labelled_by(label.id).on_hover_text(help_text);
    });
    // The field knows only numbers with 53 bits; a longer one that is left alone stays as it is.
    if value.to_f64() == before.to_f64() {
        *value = before;
    }
}

/// One setting with its values; whether it shall go.
fn axis_ui(ui: &mut Ui, stage: &SweepStage, place: usize, axis: &mut AxisForm) -> bool {
    let mut is_removed = false;
    ui.push_id(("axis", place), |ui| {
        ui.horizontal(|ui| {
            let label = ui.label(format!("Setting {}", place + 1));
            let width = ui.available_width() - ui.spacing().interact_size.y * 1.6;
            let combo = ComboBox::from_id_salt("setting")
                .selected_text(&axis.setting)
                .width(width)
                .truncate()
                .show_ui(ui, |ui| {
                    for setting in stage.settings() {
                        let is_chosen = setting.name == axis.setting;
                        let entry = ui.selectable_label(is_chosen, &setting.name);
                        let about = |about: &Setting| format!("{}: {}", about.label, about.help);
                        let entry = match setting.about.map(about) {
                            Some(text) => entry.on_hover_text(text),
                            None => entry,
                        };
                        if entry.clicked() && !is_chosen {
                            axis.setting.clone_from(&setting.name);
                            axis.values.clone_from(&setting.value);
                        }
                    }
                });
            let present = stage
                .settings()
                .iter()
                .find(|known| known.name == axis.setting);
            let present = present.map_or(String::new(), |known| {
                let range = known
                    .about
                    .map_or(String::new(), |about| format!(" ({})", about.kind));
                format!(". It is {} in the session{range}", known.value)
            });
            let text = format!("{SETTING_HELP}{present}");
            combo.response.labelled_by(label.id).on_hover_text(text);
            let says = format!("Remove setting {}", place + 1);
            is_removed = icon_button(ui, Icon::Close, &says)
                .on_hover_text("Removes it from the sweep")
                .clicked();
        });
        ui.horizontal(|ui| {
            let label = ui.label(format!("Values {}", place + 1));
            let field = TextEdit::singleline(&mut axis.values).desired_width(f32::INFINITY);
            ui.add(field.hint_text("10, 20, 40"))
                .labelled_by(label.id)
                .on_hover_text(VALUES_HELP);
        });
        if let Some(Some(problem)) = stage.check().axes.get(place) {
            wrong(ui, problem);
        }
    });
    is_removed
}

/// What is usually tried, in the order in which a new setting is offered.
const USUAL_SETTINGS: [&str; 4] = [
    "learner.budget",
    "learner.n_atoms",
    "learner.regularisation",
    "learner.sparsity",
];

/// The next setting to try, with its present value: a usual one, or the first that is not tried yet.
fn unused_axis(stage: &SweepStage, form: &SweepForm) -> Option<AxisForm> {
    let is_unused = |name: &str| form.axes.iter().all(|axis| axis.setting != name);
    let mut unused: Vec<_> = stage.settings().iter().collect();
    unused.retain(|setting| is_unused(&setting.name));
    // Numbers and words before whole variants, which are long.
    unused.sort_by_key(|setting| {
        let usual = USUAL_SETTINGS.iter().position(|name| *name == setting.name);
        (
            usual.unwrap_or(USUAL_SETTINGS.len()),
            setting.value.starts_with('{'),
        )
    });
    unused.first().map(|setting| AxisForm {
        setting: setting.name.clone(),
        values: setting.value.clone(),
    })
}

fn folder_ui(ui: &mut Ui, form: &SweepForm, actions: &mut Vec<Action>) {
    section(ui, "Folder");
    match &form.folder {
        Some(folder) => drop(ui.label(folder.display().to_string())),
        None => help(
            ui,
            "Every finished point is saved there, so that a sweep can be resumed",
        ),
    }
    if button(
        ui,
        "Choose a folder…",
        "Where finished points and the report are written",
    ) {
        ask(actions, PathAsk::SweepFolder);
    }
}

/// Begins or continues; while it runs, how far it has come.
fn start_ui(ui: &mut Ui, workbench: &Workbench, stage: &SweepStage, actions: &mut Vec<Action>) {
    section(ui, "Run");
    if let Some(share) = stage.share() {
        let stop = CompareAction::Sweep(SweepAction::Stop);
        progress_ui(ui, "Sweeping", share, stop, actions);
        return;
    }
    let form = stage.form();
    if let Some(n_points) = stage.check().n_points {
        let folds = workbench.split().made().map(|made| made.split.n_folds());
        let each = folds.map_or(String::new(), |folds| match form.halving {
            Some(_) => format!(
                ", each trained at most {folds} × {} times",
                form.inner_folds
            ),
            None => format!(", each trained {folds} × ({} + 1) times", form.inner_folds),
        });
        help(
            ui,
            &format!("{}{each}, on all cores", counted(n_points, "point")),
        );
    }
    let obstacle = match (stage.check().obstacle(), &form.folder) {
        (Some(problem), _) => Some(problem.to_owned()),
        (None, None) => Some("Choose a folder first".into()),
        (None, Some(_)) => workbench.obstacle(),
    };
    if let Some(problem) = stage.check().obstacle().filter(|_| !form.axes.is_empty()) {
        wrong(ui, problem);
    }
    ui.horizontal(|ui| {
        let start = ui.add_enabled(obstacle.is_none(), egui::Button::new("Start sweep"));
        let start = start
            .on_hover_text("Runs all points not yet in the folder; it can be stopped and resumed");
        if start
            .on_disabled_hover_text(obstacle.as_deref().unwrap_or_default())
            .clicked()
        {
            push(actions, SweepAction::Start);
        }
        let text = "A folder written by a sweep, here or by `atomscope sweep`";
        if button(ui, "Open sweep results…", text) {
            ask(actions, PathAsk::OpenSweep);
        }
    });
    submit_ui(ui, stage, obstacle.as_deref(), actions);
}

/// Nested score, map, curve and points.
fn results_ui(ui: &mut Ui, stage: &SweepStage, look: &SweepResults, actions: &mut Vec<Action>) {
    section(ui, &format!("Sweep in {}", look.folder.display()));
    let status = stage.cluster.status();
    ui.horizontal_wrapped(|ui| {
        let counted = match status {
            Some(status) if look.table.saving.is_none() => {
                format!("{} of {} points", look.table.rows.len(), status.n_points())
            }
            Some(status) => format!(
                "{} of {} stages of points",
                status.points.done,
                status.n_points()
            ),
            None => look.counted(),
        };
        ui.label(format!("{counted} · nested score: {}", look.nested));
        let is_running = stage.share().is_some();
        let close = ui.add_enabled(!is_running, egui::Button::new("Close sweep"));
        if close
            .on_hover_text("Closes the results; the files are kept")
            .on_disabled_hover_text("Stop the sweep first")
            .clicked()
        {
            push(actions, SweepAction::Close);
        }
    });
    help(ui, NESTED_HELP);
    if let Some(saving) = &look.table.saving {
        help(ui, &format!("Early stopping: {}", saving.in_words()));
    }
    if let Some(status) = status {
        work_ui(ui, status, actions);
    }
    map_ui(ui, look, actions);
    curve_ui(ui, look, actions);
    if !look.table.rows.is_empty() {
        section(ui, "Points");
        points_ui(ui, look, actions);
    }
}

fn map_ui(ui: &mut Ui, look: &SweepResults, actions: &mut Vec<Action>) {
    let Some((map, down, across)) = &look.map else {
        return;
    };
    section(ui, &map.title);
    if look.mappable.len() > 2 {
        let names: Vec<&str> = look
            .mappable
            .iter()
            .map(|axis| look.names[*axis].as_str())
            .collect();
        let place = |axis: usize| {
            look.mappable
                .iter()
                .position(|known| *known == axis)
                .unwrap_or(0)
        };
        let text = "The setting along the vertical axis of the map";
        if let Some(chosen) = choice(ui, "Down", text, place(*down), &names) {
            push(
                actions,
                SweepAction::MapOver(look.mappable[chosen], *across),
            );
        }
        let text = "The setting along the horizontal axis of the map";
        if let Some(chosen) = choice(ui, "Across", text, place(*across), &names) {
            push(actions, SweepAction::MapOver(*down, look.mappable[chosen]));
        }
    }
    help(
        ui,
        &format!("across: {} · down: {}", map.across.0, map.down.0),
    );
    ScrollArea::horizontal()
        .id_salt("columns of the map")
        .show(ui, |ui| HeatMapView { map }.show(ui));
}

fn curve_ui(ui: &mut Ui, look: &SweepResults, actions: &mut Vec<Action>) {
    let Some((chart, axis)) = &look.curve else {
        return;
    };
    section(ui, "Over one setting");
    if look.names.len() > 1 {
        let names: Vec<&str> = look.names.iter().map(String::as_str).collect();
        let text = "The setting along the axis of the curve";
        if let Some(chosen) = choice(ui, "Along", text, *axis, &names) {
            push(actions, SweepAction::CurveOver(chosen));
        }
    }
    ChartPlot {
        chart,
        height: MAP_HEIGHT,
    }
    .show(ui);
}
