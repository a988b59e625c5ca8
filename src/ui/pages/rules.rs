//! The rules that give recordings their class and group, with a preview of what they say.

use egui::{Grid, RichText, TextEdit, Ui};

use super::fields::SettingField;
use crate::ui::app::Typing;
use crate::ui::elements::{help, section, switch, wrong};
use crate::ui::icons::{Icon, icon_button, icon_mark};
use crate::ui::theme;
use crate::workbench::{LabelPreview, Workbench};
use atomscope_engine::dataset::RecordingSource;
use atomscope_engine::dataset::declared::RATE_HZ;
use atomscope_engine::records::catalog::{Pattern, Rule};
use atomscope_engine::records::counted;

/// The rate that is proposed first: usual for EEG.
const USUAL_RATE_HZ: f64 = 250.0;

/// The rules of a source and what they give.
pub(super) fn rules_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    source: &mut RecordingSource,
    typing: &mut Typing,
) {
    section(ui, "Recordings");
    let mut is_given = source.options.rate_hz.is_some();
    let text = "For files that do not state a sampling rate";
    if switch(ui, "Enter the sampling rate", text, &mut is_given) {
        source.options.rate_hz = is_given.then_some(USUAL_RATE_HZ);
    }
    if let Some(rate_hz) = &mut source.options.rate_hz {
        let problem = (*rate_hz <= 0.0).then_some("the sampling rate must be more than 0 Hz");
        RATE_HZ.ui_with(ui, rate_hz, problem);
    }
    section(ui, "Rules for class and group");
    help(ui, "The first rule that gives a class or a group applies");
    let mut dropped = None;
    let n_rules = source.rules.len();
    for (place, rule) in source.rules.iter().enumerate() {
        ui.horizontal(|ui| {
            ui.label(format!("{}. {}", place + 1, rule.in_words()));
            let name = format!("Remove rule {}", place + 1);
            let button = ui.add_enabled_ui(n_rules > 1, |ui| icon_button(ui, Icon::Close, &name));
            if button.inner.on_hover_text(&name).clicked() {
                dropped = Some(place);
            }
        });
    }
    if let Some(place) = dropped {
        source.rules.remove(place);
    }
    new_rule_ui(ui, source, typing);
    if let Some(preview) = workbench.labels() {
        preview_ui(ui, preview, workbench.data().error());
    }
}

fn new_rule_ui(ui: &mut Ui, source: &mut RecordingSource, typing: &mut Typing) {
    ui.horizontal_wrapped(|ui| {
        let label = ui.label("File name pattern");
        let field = TextEdit::singleline(&mut typing.pattern)
            .hint_text("{class:1}{*}.mat")
            .desired_width(160.0);
        let text = "{class} and {group} stand for at least one character, {class:3} for exactly three, {*} for anything";
        ui.add(field).labelled_by(label.id).on_hover_text(text);
        let pattern = Pattern::new(typing.pattern.trim());
        let add = ui.add_enabled(pattern.is_ok(), egui::Button::new("Add"));
        if let Ok(pattern) = pattern
            && add.on_hover_text("Put the pattern before the other rules").clicked()
        {
            source.rules.insert(0, Rule::FileName(pattern));
            typing.pattern.clear();
        }
        let has_folder = source.rules.contains(&Rule::ParentFolder);
        let folder = ui.add_enabled(!has_folder, egui::Button::new("Class is the folder"));
        if folder.on_hover_text("The class of a file is the name of its folder").clicked() {
            source.rules.insert(0, Rule::ParentFolder);
        }
    });
    let typed = typing.pattern.trim();
    if let (false, Err(error)) = (typed.is_empty(), Pattern::new(typed)) {
        wrong(ui, &error.to_string());
    }
}

/// What the rules give; a problem that the page names already is not repeated.
fn preview_ui(ui: &mut Ui, preview: &LabelPreview, named: Option<&str>) {
    let tones = theme::tones(ui);
    let files = |n: usize| counted(n, "file");
    help(ui, &format!("Preview: {}", files(preview.n_files)));
    for class in &preview.classes {
        let groups = counted(class.n_groups, "group");
        let files = files(class.n_files);
        ui.label(format!("{}: {files} of {groups}", class.class));
    }
    let problems = preview.problems.iter();
    for problem in problems.filter(|problem| Some(problem.as_str()) != named) {
        ui.horizontal_wrapped(|ui| {
            icon_mark(ui, Icon::Warning, tones.warning);
            ui.label(RichText::new(problem).small());
        });
    }
    Grid::new("rule preview")
        .num_columns(3)
        .spacing([16.0, 2.0])
        .show(ui, |ui| {
            for (file, class, group) in &preview.examples {
                for text in [file, class, group] {
                    ui.label(RichText::new(text).small().color(tones.weak));
                }
                ui.end_row();
            }
        });
}
