//! The inbox of the Live page: files that came, filtered, sorted, opened, acknowledged, labelled, exported.

use std::path::Path;

use egui::{Button, ComboBox, RichText, TextEdit, Ui};
use egui_extras::{Column, TableBuilder};

use crate::ui::elements::{help, wide_table};
use crate::ui::numbers::short;
use crate::ui::theme;
use crate::workbench::explore::ExploreAction;
use crate::workbench::{Action, Ask, LiveAction, LiveStage, LiveView, PathAsk, Stage};
use atomscope_engine::records::counted;
use atomscope_engine::stream::{InboxColumn, InboxQuery, InboxShow, JudgedFile};

/// Width of each column in letters: seen, arrived, class, margin, fit, label. The name of the file, after the second,
/// has the rest.
const WIDTHS_EM: [f32; 6] = [3.0, 5.5, 6.5, 4.5, 4.5, 9.5];
const LEAST_FILE_EM: f32 = 7.0;

fn push(actions: &mut Vec<Action>, action: LiveAction) {
    actions.push(Action::Live(action));
}

/// The list with its tools.
pub(super) fn inbox_ui(ui: &mut Ui, live: &LiveStage, view: &LiveView, actions: &mut Vec<Action>) {
    let query = live.query();
    tools_ui(ui, query, view, actions);
    if view.inbox.is_empty() {
        help(
            ui,
            "Files appear here once they have been unchanged for a second",
        );
        return;
    }
    let rows = view.inbox.select(query);
    let em = theme::body_font(ui).size;
    let least = em * (WIDTHS_EM.iter().sum::<f32>() + LEAST_FILE_EM + 4.0);
    let width = ui.available_width().max(least);
    wide_table(ui, "inbox", |ui| {
        ui.set_max_width(width);
        table_ui(ui, em, &rows, live, view, actions);
    });
}

fn table_ui(
    ui: &mut Ui,
    em: f32,
    rows: &[(&Path, &JudgedFile)],
    live: &LiveStage,
    view: &LiveView,
    actions: &mut Vec<Action>,
) {
    let mut table = TableBuilder::new(ui)
        .id_salt("inbox")
        .cell_layout(egui::Layout::left_to_right(egui::Align::Center));
    for (number, width) in WIDTHS_EM.into_iter().enumerate() {
        if number == 2 {
            let file = Column::remainder().at_least(LEAST_FILE_EM * em);
            table = table.column(file.clip(true));
        }
        table = table.column(Column::exact(width * em).clip(true));
    }
    table
        .header(em * 1.8, |mut header| {
            header.col(|ui| {
                ui.label(RichText::new("Seen").small());
            });
            for column in InboxColumn::ALL {
                header.col(|ui| column_ui(ui, column, live.query(), actions));
            }
        })
        .body(|body| {
            body.rows(em * 1.8, rows.len(), |mut row| {
                let (path, file) = rows[row.index()];
                row.col(|ui| seen_ui(ui, path, file, actions));
                for column in InboxColumn::ALL {
                    row.col(|ui| cell_ui(ui, column, (path, file), view, actions));
                }
            });
        });
}

fn tools_ui(ui: &mut Ui, query: &InboxQuery, view: &LiveView, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        let mut wanted = query.clone();
        let label = ui.label("Search");
        let field = TextEdit::singleline(&mut wanted.text).desired_width(150.0);
        let text = "Only files whose path, class or label has this text";
        ui.add(field).labelled_by(label.id).on_hover_text(text);
        let combo = ComboBox::from_id_salt("files shown")
            .selected_text(wanted.show.name())
            .show_ui(ui, |ui| {
                for show in InboxShow::ALL {
                    ui.selectable_value(&mut wanted.show, show, show.name());
                }
            });
        combo.response.on_hover_text("Which files are shown");
        if wanted != *query {
            push(actions, LiveAction::Query(wanted));
        }
        let export = ui.add_enabled(!view.inbox.is_empty(), Button::new("Export list…"));
        if export
            .on_hover_text("The files as they are filtered and sorted, as a table (.csv)")
            .clicked()
        {
            actions.push(Action::Ask(Ask::Path(PathAsk::ExportInbox)));
        }
        let (all, new) = (view.inbox.len(), view.inbox.n_new());
        help(
            ui,
            &format!("{}, {new} not acknowledged", counted(all, "file")),
        );
    });
}

fn column_ui(ui: &mut Ui, column: InboxColumn, query: &InboxQuery, actions: &mut Vec<Action>) {
    let is_it = query.column == column;
    let text = match (is_it, query.is_descending) {
        (true, true) => format!("{} ▼", column.name()),
        (true, false) => format!("{} ▲", column.name()),
        (false, _) => column.name().to_owned(),
    };
    let button = ui.add(Button::new(RichText::new(text).small()).frame(false));
    let text = "Puts the list in this order; again for the reverse";
    if button.on_hover_text(text).clicked() {
        push(
            actions,
            LiveAction::Query(InboxQuery {
                column,
                is_descending: is_it && !query.is_descending,
                ..query.clone()
            }),
        );
    }
}

fn seen_ui(ui: &mut Ui, path: &Path, file: &JudgedFile, actions: &mut Vec<Action>) {
    let mut is_seen = file.is_acknowledged;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let seen = ui.checkbox(&mut is_seen, "");
    let enabled = ui.is_enabled();
    seen.widget_info(|| {
        let text = format!("Acknowledge {name}");
        egui::WidgetInfo::selected(egui::Role::CheckBox, enabled, is_seen, text)
    });
    if seen.on_hover_text("Marks this file as seen").changed() {
        push(actions, LiveAction::Acknowledge(path.to_owned(), is_seen));
    }
}

fn cell_ui(
    ui: &mut Ui,
    column: InboxColumn,
    (path, file): (&Path, &JudgedFile),
    view: &LiveView,
    actions: &mut Vec<Action>,
) {
    let number = |value: Option<f64>| value.map_or("–".to_owned(), short);
    let tones = theme::tones(ui);
    match column {
        InboxColumn::Arrived => {
            // The time of day; the date is in the tip.
            let time = file.arrived.get(11..19).unwrap_or(&file.arrived);
            ui.label(time).on_hover_text(&file.arrived);
        }
        InboxColumn::File => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let open = ui.add(Button::new(name.as_ref()).frame(false).truncate());
            let text = format!("Shows it on the Explore page: {}", path.display());
            if open.on_hover_text(text).clicked() {
                actions.push(Action::Explore(ExploreAction::OpenFile(path.to_owned())));
                actions.push(Action::Show(Stage::Explore));
            }
        }
        InboxColumn::Class => match (&file.class, &file.problem) {
            (Some(class), _) => {
                let color = match file.is_wrong() {
                    true => tones.error,
                    false => tones.text,
                };
                ui.label(RichText::new(class).color(color));
            }
            (None, Some(problem)) => {
                let text = RichText::new("not readable").color(tones.warning);
                ui.label(text).on_hover_text(problem);
            }
            (None, None) => {
                ui.label("–");
            }
        },
        InboxColumn::Margin => {
            ui.label(number(file.margin));
        }
        InboxColumn::Fit => {
            ui.label(number(file.fit_p));
        }
        InboxColumn::Label => label_ui(ui, path, file, view, actions),
    }
}

/// What the file is, chosen by hand.
fn label_ui(
    ui: &mut Ui,
    path: &Path,
    file: &JudgedFile,
    view: &LiveView,
    actions: &mut Vec<Action>,
) {
    let shown = match (&file.label, file.is_learned) {
        (Some(label), true) => format!("{label}, learned"),
        (Some(label), false) => label.clone(),
        (None, _) => "–".to_owned(),
    };
    let combo = ComboBox::from_id_salt(("label", path))
        .selected_text(shown)
        .width(ui.available_width() - theme::GRID)
        .show_ui(ui, |ui| {
            for class in view.class_names.iter() {
                let is_it = file.label.as_ref() == Some(class);
                if ui.selectable_label(is_it, class).clicked() && !is_it {
                    push(actions, LiveAction::Label(path.to_owned(), class.clone()));
                }
            }
        });
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    combo
        .response
        .on_hover_text(format!("The class that {name} has"));
}
