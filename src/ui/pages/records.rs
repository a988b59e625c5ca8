//! The Records page: what is loaded and from where, class and group of each record, a look at its signal.

use std::path::PathBuf;

use egui::{RichText, TextEdit, Ui};
use egui_extras::{Column, TableBuilder};

use super::columns::{arrays_ui, table_columns_ui};
use super::fields::SettingField;
use super::rules::rules_ui;
use super::signal::signal_ui;
use crate::ui::app::Typing;
use crate::ui::elements::{self, button, help, page_title, section};
use crate::ui::icons::{Icon, color_dot, icon_mark, named_dot};
use crate::ui::palette::class_color;
use crate::ui::theme;
use crate::ui::widgets::empty_state;
use crate::workbench::explore::{ExploreAction, FaultAction};
use crate::workbench::{Action, Ask, Demo, Draft, LoadedData, PathAsk, RecordRow, Workbench};
use atomscope_engine::dataset::{DataPlan, DataSettings, RecordingSource};
use atomscope_engine::experiment::declared::SEED;
use atomscope_engine::records::counted;
use atomscope_engine::settings::SettingProblem;
use atomscope_engine::simulate::declared::{
    DURATION_S, EFFECT, ELECTRODE_DRIFT, N_SAMPLES, NOISE, RECORDS_PER_CLASS, SUBJECTS_PER_CLASS,
};

/// Classes of a record that are named in its row.
const MOST_NAMED: usize = 2;

/// The Records page.
pub(in crate::ui) fn records_page_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
    typing: &mut Typing,
) {
    page_title(
        ui,
        "Records",
        "what is loaded, and which class each record has",
    );
    sources_ui(ui, workbench, draft, actions);
    let Some(loaded) = workbench.data().loaded() else {
        match (workbench.loading_share(), workbench.data().error()) {
            (Some(_), _) => {
                if empty_state(ui, "Loading the data", Some("Cancel")) {
                    actions.push(Action::CancelLoading);
                }
            }
            (None, Some(error)) => failed_ui(ui, workbench, error, draft, actions, typing),
            (None, None) => {
                let text = "Records with their classes are listed here. Open a file or folder, drop it on the window, or begin with a demo.";
                if empty_state(ui, text, Some("Feeder demo")) {
                    actions.push(Action::OpenDemo(Demo::FeederFaults));
                }
            }
        }
        return;
    };
    let width = ui.available_width();
    let left = (width * 0.56).min(width - theme::body_font(ui).size * 32.0);
    let (left, right) = elements::two_columns(ui, left);
    elements::column(ui, left, "record list", |ui| {
        table_ui(ui, workbench, loaded, typing, actions);
    });
    elements::scrolling_column(ui, right, "record", |ui| {
        record_ui(ui, workbench, loaded, draft, actions);
        settings_ui(ui, workbench, loaded, draft, typing);
    });
}

/// Why nothing could be loaded, and the settings that may correct it.
fn failed_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    error: &str,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
    typing: &mut Typing,
) {
    let lacks_classes = workbench.data().lacks_classes();
    match lacks_classes {
        true => {
            let text = "These fault records have no classes. Their list is on the Explore page; classes are needed only for training: give them below.";
            ui.label(text);
        }
        false => elements::wrong(ui, error),
    }
    ui.add_space(theme::GRID);
    ui.horizontal(|ui| {
        let listed = draft.experiment.data.unlabelled_faults();
        if let Some(folder) = listed.filter(|_| lacks_classes) {
            let text =
                "Type, phases, times and peak current of each record, on the Explore page (7)";
            if ui.button("Show list").on_hover_text(text).clicked() {
                let list = FaultAction::List(Some(folder.to_owned()));
                actions.push(Action::Explore(ExploreAction::Fault(list)));
            }
        }
        let text = "Choose the folder that holds the data now";
        if workbench.data().is_missing() && ui.button("Locate…").on_hover_text(text).clicked() {
            actions.push(Action::Ask(Ask::Path(PathAsk::LocateData)));
        }
        let again = ui.button("Try again");
        let text = "Loads the data again with the current settings";
        if again.on_hover_text(text).clicked() {
            actions.push(Action::LoadData);
        }
        let paths: &[PathBuf] = match &draft.experiment.data.source {
            DataPlan::Table(table) => &table.paths,
            DataPlan::Arrays(arrays) => &arrays.paths,
            _ => &[],
        };
        // What has no extension is a folder.
        if let [path] = paths
            && path.extension().is_some()
        {
            let what = "Shows its columns as signals on the Explore page, where rate, unit and names can be given";
            if button(ui, "View as a recording", what) {
                actions.push(Action::Explore(ExploreAction::OpenFile(path.clone())));
            }
        }
    });
    elements::scrolling_column(ui, ui.available_rect_before_wrap(), "settings", |ui| {
        let problems = draft.experiment.data.problems();
        let before = draft.experiment.data.source.clone();
        source_ui(
            ui,
            workbench,
            &mut draft.experiment.data.source,
            &problems,
            typing,
        );
        // Who has chosen the column that was missing wants the table.
        let data = &draft.experiment.data;
        let is_table = matches!(data.source, DataPlan::Table(_));
        if is_table && data.source != before && data.problems().is_empty() {
            actions.push(Action::LoadData);
        }
    });
}

/// Where the data come from, and buttons for others.
fn sources_ui(ui: &mut Ui, workbench: &Workbench, draft: &Draft, actions: &mut Vec<Action>) {
    let tones = theme::tones(ui);
    ui.horizontal_wrapped(|ui| {
        let source = match &draft.experiment.data.source {
            DataPlan::FeederFaults(_) => "Built-in feeder faults".to_owned(),
            DataPlan::NetworkFaults(_) => "Built-in faults on many networks".to_owned(),
            DataPlan::SimulatedEeg(_) => "Built-in EEG of simulated subjects".to_owned(),
            DataPlan::Concepts(_) => "Built-in stream of changing concepts".to_owned(),
            _ => {
                let files = draft.experiment.data.files();
                let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
                names.join(", ")
            }
        };
        if workbench.data().loaded().is_some() {
            ui.label(RichText::new(source).color(tones.strong));
        }
        let buttons = [
            (
                "Open file…",
                "A recording, a table, arrays or a session (Ctrl+O)",
                Ask::Path(PathAsk::OpenFile),
            ),
            (
                "Open folder…",
                "A folder of recordings or fault records (Ctrl+Shift+O)",
                Ask::Path(PathAsk::OpenFolder),
            ),
        ];
        for (text, help, ask) in buttons {
            if button(ui, text, help) {
                actions.push(Action::Ask(ask));
            }
        }
        let stale = workbench
            .data()
            .loaded()
            .is_some_and(|loaded| loaded.settings != draft.experiment.data);
        let help_text = "The settings have changed since the data were loaded";
        if workbench.loading_share().is_some() && workbench.data().loaded().is_some() {
            if button(ui, "Cancel loading", "The data loaded earlier are kept") {
                actions.push(Action::CancelLoading);
            }
        } else if stale && button(ui, "Load again", help_text) {
            actions.push(Action::LoadData);
        }
        if let Some(error) = workbench
            .data()
            .error()
            .filter(|_| workbench.data().loaded().is_some())
        {
            elements::wrong(ui, error);
        }
    });
    ui.add_space(theme::GRID);
}

fn table_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    loaded: &LoadedData,
    typing: &mut Typing,
    actions: &mut Vec<Action>,
) {
    let dataset = &loaded.dataset;
    ui.horizontal_wrapped(|ui| {
        for (class, count) in dataset.class_counts().iter().enumerate().take(26) {
            let name = format!("{}: {count}", dataset.class_names()[class]);
            named_dot(ui, class_color(class), name);
            ui.add_space(4.0);
        }
    });
    ui.horizontal(|ui| {
        let label = ui.label("Search");
        let field = TextEdit::singleline(&mut typing.search).desired_width(200.0);
        ui.add(field)
            .labelled_by(label.id)
            .on_hover_text("Search in name, class and group");
        if dataset.n_missing() > 0 {
            help(ui, &counted(dataset.n_missing(), "missing value"));
        }
    });
    let shown = matching(loaded, typing.search.trim());
    let selected = workbench.signal().map(|look| look.source);
    let em = theme::body_font(ui).size;
    let line = em * 1.8;
    // In a narrow table long names are cut with an ellipsis rather than columns at its edge.
    let room = ui.available_width();
    let wide = |sizes: f32, share: f32| (em * sizes).min(room * share);
    TableBuilder::new(ui)
        .id_salt("records")
        .striped(true)
        .sense(egui::Sense::click())
        .cell_layout(egui::Layout::left_to_right(egui::Align::Center))
        .column(Column::remainder().clip(true))
        .column(Column::exact(wide(9.5, 0.24)).clip(true))
        .column(Column::exact(wide(8.0, 0.2)).clip(true))
        .column(Column::exact(wide(5.0, 0.16)).clip(true))
        .column(Column::exact(wide(5.5, 0.16)).clip(true))
        .header(line, |mut header| {
            for name in ["Record", "Class", "Group", "Samples", "Warnings"] {
                header.col(|ui| {
                    let name = RichText::new(name).small().color(theme::tones(ui).weak);
                    ui.add(egui::Label::new(name).truncate());
                });
            }
        })
        .body(|body| {
            body.rows(line, shown.len(), |mut row| {
                let place = shown[row.index()];
                row.set_selected(selected == Some(place));
                row_ui(&mut row, loaded, &loaded.records[place]);
                let response = row.response();
                if response.on_hover_text("Show its signal").clicked() {
                    actions.push(Action::LookAtRecord(place));
                }
            });
        });
}

/// Places of the records whose name, class or group contains the text.
fn matching(loaded: &LoadedData, text: &str) -> Vec<usize> {
    let text = text.to_lowercase();
    let dataset = &loaded.dataset;
    let is_match = |row: &RecordRow| {
        let classes = row
            .classes
            .iter()
            .map(|class| &dataset.class_names()[*class]);
        let group = row.group.map(|group| &dataset.group_names()[group]);
        let mut names = classes.chain(group).chain([&row.name]);
        text.is_empty() || names.any(|name| name.to_lowercase().contains(&text))
    };
    let rows = loaded.records.iter().enumerate();
    rows.filter(|(_, row)| is_match(row))
        .map(|(place, _)| place)
        .collect()
}

fn row_ui(row: &mut egui_extras::TableRow<'_, '_>, loaded: &LoadedData, record: &RecordRow) {
    let dataset = &loaded.dataset;
    row.col(|ui| {
        let name = egui::Label::new(end_of(&record.name)).truncate();
        ui.add(name).on_hover_text(&record.name);
    });
    row.col(|ui| {
        ui.horizontal(|ui| {
            for class in record.classes.iter().take(MOST_NAMED) {
                color_dot(ui, class_color(*class));
                let name = egui::Label::new(&dataset.class_names()[*class]);
                ui.add(name.truncate());
            }
            if record.classes.len() > MOST_NAMED {
                let more = format!("and {} more", record.classes.len() - MOST_NAMED);
                ui.add(egui::Label::new(RichText::new(more).small()).truncate());
            }
        });
    });
    row.col(|ui| {
        let group = record
            .group
            .map(|group| dataset.group_names()[group].as_str());
        let group = group.unwrap_or("–");
        ui.add(egui::Label::new(end_of(group)).truncate())
            .on_hover_text(group);
    });
    row.col(|ui| drop(ui.label(record.n_samples.to_string())));
    row.col(|ui| {
        if !record.warnings.is_empty() {
            let tones = theme::tones(ui);
            icon_mark(ui, Icon::Warning, tones.warning).on_hover_text(record.warnings.join("\n"));
            ui.label(record.warnings.len().to_string());
        }
    });
}

/// The last part of a path, which tells records apart.
fn end_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The chosen record: signal, warnings, class and group by hand.
fn record_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    loaded: &LoadedData,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    if let DataPlan::Table(_) | DataPlan::Arrays(_) = loaded.settings.source {
        help(
            ui,
            "A table or array has no signal: its samples are shown on the Features page",
        );
        return;
    }
    let Some(look) = workbench.signal() else {
        section(ui, "Signal");
        help(ui, "Choose a record at the left to show its signal");
        let text = "Reads the beginning of the first record";
        if !loaded.records.is_empty()
            && ui
                .button("Show the first record")
                .on_hover_text(text)
                .clicked()
        {
            actions.push(Action::LookAtRecord(0));
        }
        return;
    };
    section(ui, &look.name);
    let duration = look
        .duration_s
        .map_or(String::new(), |s| format!(", {s:.2} s in all"));
    help(
        ui,
        &format!(
            "{} at {} Hz{duration}",
            counted(look.n_channels, "channel"),
            look.rate_hz
        ),
    );
    signal_ui(ui, look, 280.0);
    let explore = ui.button("Explore");
    let explore = explore.on_hover_text("The whole record with its tools, on the Explore page (7)");
    if explore.clicked() {
        actions.push(Action::Explore(ExploreAction::OpenRecord {
            source: look.source,
            stretch: look.window,
        }));
    }
    let Some(row) = loaded.records.get(look.source) else {
        return;
    };
    for warning in &row.warnings {
        ui.horizontal_wrapped(|ui| {
            let tones = theme::tones(ui);
            icon_mark(ui, Icon::Warning, tones.warning);
            ui.label(RichText::new(warning).small());
        });
    }
    if let DataPlan::Recordings(source) = &mut draft.experiment.data.source {
        by_hand_ui(ui, source, &row.name);
    }
}

/// Class, group and part of one recording, corrected by hand.
fn by_hand_ui(ui: &mut Ui, source: &mut RecordingSource, name: &str) {
    let path = PathBuf::from(name);
    let known = source.relabelled.get(&path).cloned().unwrap_or_default();
    let mut wanted = known.clone();
    let fields = [
        ("Class by hand", &mut wanted.class),
        ("Group by hand", &mut wanted.group),
    ];
    for (label, value) in fields {
        ui.horizontal(|ui| {
            let label = elements::fixed_label(ui, label);
            let mut text = value.clone().unwrap_or_default();
            let field = TextEdit::singleline(&mut text).hint_text("by the rules");
            let response = ui.add(field).labelled_by(label.id);
            if response
                .on_hover_text("Overrides the rules; leave empty to use the rules")
                .changed()
            {
                *value = (!text.trim().is_empty()).then(|| text.trim().to_owned());
            }
        });
    }
    if wanted != known {
        if wanted == atomscope_engine::dataset::Relabel::default() {
            source.relabelled.remove(&path);
        } else {
            source.relabelled.insert(path.clone(), wanted);
        }
    }
    let mut is_out = source.left_out.contains(&path);
    let text = "Excludes all its samples; applies when the data are loaded again";
    if ui
        .checkbox(&mut is_out, "Exclude this record")
        .on_hover_text(text)
        .changed()
    {
        match is_out {
            true => drop(source.left_out.insert(path)),
            false => drop(source.left_out.remove(&path)),
        }
    }
}

/// What the data are made of: settings of the simulation, rules or columns.
fn source_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    source: &mut DataPlan,
    problems: &[SettingProblem],
    typing: &mut Typing,
) {
    match source {
        DataPlan::FeederFaults(feeder) => {
            section(ui, "Simulation");
            let mut n = feeder.records_per_class as usize;
            if RECORDS_PER_CLASS.whole_ui(ui, &mut n, problems).changed {
                feeder.records_per_class = u32::try_from(n).unwrap_or(u32::MAX);
            }
            seed_ui(ui, &mut feeder.seed);
        }
        DataPlan::NetworkFaults(networks) => {
            section(ui, "Simulation");
            let mut n = networks.records_per_class as usize;
            if RECORDS_PER_CLASS.whole_ui(ui, &mut n, problems).changed {
                networks.records_per_class = u32::try_from(n).unwrap_or(u32::MAX);
            }
            seed_ui(ui, &mut networks.seed);
        }
        DataPlan::SimulatedEeg(eeg) => {
            section(ui, "Simulation");
            let mut n = eeg.subjects_per_class as usize;
            if SUBJECTS_PER_CLASS.whole_ui(ui, &mut n, problems).changed {
                eeg.subjects_per_class = u32::try_from(n).unwrap_or(u32::MAX);
            }
            DURATION_S.ui(ui, &mut eeg.duration_s, problems);
            EFFECT.ui(ui, &mut eeg.effect, problems);
            ELECTRODE_DRIFT.ui(ui, &mut eeg.electrode_drift, problems);
            seed_ui(ui, &mut eeg.seed);
        }
        DataPlan::Concepts(concepts) => {
            section(ui, "Simulation");
            N_SAMPLES.whole_ui(ui, &mut concepts.n_samples, problems);
            NOISE.ui(ui, &mut concepts.noise, problems);
            seed_ui(ui, &mut concepts.seed);
        }
        DataPlan::Recordings(source) => {
            rules_ui(ui, workbench, source, typing);
        }
        DataPlan::Table(source) => table_columns_ui(ui, workbench, source, problems, typing),
        DataPlan::Arrays(source) => arrays_ui(ui, workbench, source, problems),
    }
}

/// Settings of the source, class names, what was omitted, notes.
fn settings_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    loaded: &LoadedData,
    draft: &mut Draft,
    typing: &mut Typing,
) {
    let problems = draft.experiment.data.problems();
    let data = &mut draft.experiment.data;
    source_ui(ui, workbench, &mut data.source, &problems, typing);
    section(ui, "Names of the classes");
    help(ui, "Classes with the same name are merged");
    class_names_ui(ui, loaded, data);
    if !loaded.left_out.is_empty() {
        section(ui, "Excluded");
        for out in loaded.left_out.iter().take(20) {
            help(ui, &format!("{}: {}", out.source.display(), out.reason));
        }
    }
    for note in &loaded.notes {
        help(ui, note);
    }
    notes_ui(ui, draft);
}

/// What the user calls the session and writes down about it.
fn notes_ui(ui: &mut Ui, draft: &mut Draft) {
    section(ui, "Session");
    let label = ui.label("Title");
    ui.add(TextEdit::singleline(&mut draft.title).desired_width(f32::INFINITY))
        .labelled_by(label.id)
        .on_hover_text("What the session is called; saved with it");
    let label = ui.label("Notes");
    let field = TextEdit::multiline(&mut draft.notes).desired_rows(3);
    ui.add(field.desired_width(f32::INFINITY))
        .labelled_by(label.id)
        .on_hover_text("Your notes; saved with the session");
    ui.add_space(theme::PANEL_GAP);
}

fn seed_ui(ui: &mut Ui, seed: &mut u64) {
    let mut number = *seed as f64;
    if SEED.ui(ui, &mut number, &[]).changed {
        *seed = number.round().max(0.0) as u64;
    }
}

/// A field per class as it was loaded; an edit gives it another name at the next load.
fn class_names_ui(ui: &mut Ui, loaded: &LoadedData, data: &mut DataSettings) {
    for (class, name) in loaded.dataset.class_names().iter().enumerate().take(26) {
        let original = loaded
            .settings
            .class_names
            .iter()
            .find(|(_, new)| *new == name);
        let original = original.map_or(name, |(old, _)| old).clone();
        let mut text = data.class_names.get(&original).unwrap_or(&original).clone();
        ui.horizontal(|ui| {
            color_dot(ui, class_color(class));
            let field = ui.add(TextEdit::singleline(&mut text).desired_width(180.0));
            ui.ctx()
                .accesskit_node_builder(field.id, |node| node.set_label(format!("Name of {name}")));
            if field.on_hover_text("Another name for this class").changed() {
                match text.trim() == original || text.trim().is_empty() {
                    true => drop(data.class_names.remove(&original)),
                    false => drop(
                        data.class_names
                            .insert(original.clone(), text.trim().to_owned()),
                    ),
                }
            }
        });
    }
}
