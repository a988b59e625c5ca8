//! The points of a sweep as a table that can be put in order by any column.

use egui::{Align, Layout, RichText, ScrollArea, Ui};
use egui_extras::{Column, TableBuilder, TableRow};

use super::sweep::push;
use crate::ui::elements::{help, wrong};
use crate::ui::numbers::{percent, short};
use crate::ui::theme;
use crate::workbench::{Action, SweepAction, SweepColumn, SweepResults};
use atomscope_engine::experiment::SweepRow;
use atomscope_engine::export::remark_of;

const MOST_HEIGHT: f32 = 460.0;
/// Points that cannot be run whose reasons are listed.
const MOST_PROBLEMS: usize = 20;
const USE_HELP: &str = "Applies the settings of this point to the session; Ctrl+Z undoes it";

/// The points in their order, each with a button that takes its settings over.
pub(super) fn points_ui(ui: &mut Ui, look: &SweepResults, actions: &mut Vec<Action>) {
    ScrollArea::horizontal()
        .id_salt("columns of the points")
        .show(ui, |ui| table_ui(ui, look, actions));
    problems_ui(ui, look);
}

/// Why points cannot be run.
fn problems_ui(ui: &mut Ui, look: &SweepResults) {
    let rows = look.table.rows.iter();
    let mut problems: Vec<(usize, &str)> = rows
        .filter_map(|row| Some((row.result.point.number + 1, row.result.problem.as_deref()?)))
        .collect();
    problems.sort_unstable();
    for (number, problem) in problems.iter().take(MOST_PROBLEMS) {
        wrong(ui, &format!("point {number}: {problem}"));
    }
    if problems.len() > MOST_PROBLEMS {
        let n_more = problems.len() - MOST_PROBLEMS;
        help(ui, &format!("and {n_more} more that cannot be run"));
    }
}

fn table_ui(ui: &mut Ui, look: &SweepResults, actions: &mut Vec<Action>) {
    let columns = columns_of(look);
    let line = theme::body_font(ui).size * 1.8;
    let mut table = TableBuilder::new(ui)
        .id_salt("points of the sweep")
        .max_scroll_height(MOST_HEIGHT)
        .cell_layout(Layout::left_to_right(Align::Center))
        .column(Column::auto().at_least(46.0));
    for _ in &columns {
        table = table.column(Column::auto().at_least(62.0).clip(false));
    }
    table
        .header(line, |mut header| {
            header.col(|ui| help(ui, ""));
            for (column, name, help_text) in &columns {
                header.col(|ui| head_ui(ui, look, *column, name, help_text, actions));
            }
        })
        .body(|body| {
            body.rows(line, look.order.len(), |mut row| {
                let place = look.order[row.index()];
                row_ui(&mut row, look, &look.table.rows[place], &columns, actions);
            });
        });
}

type NamedColumn = (SweepColumn, String, String);

fn columns_of(look: &SweepResults) -> Vec<NamedColumn> {
    let column = |column, name: &str, text: &str| (column, name.to_owned(), text.to_owned());
    let mut columns = vec![column(SweepColumn::Point, "point", "Number of the point")];
    for (place, name) in look.names.iter().enumerate() {
        let last = name.rsplit('.').next().unwrap_or(name);
        columns.push(column(SweepColumn::Setting(place), last, name));
    }
    columns.extend([
        column(
            SweepColumn::Inner,
            "inner accuracy",
            "Mean over the inner folds of all folds; used for choosing, so the highest is optimistic",
        ),
        column(SweepColumn::Deviation, "± sd", "Standard deviation over the folds"),
        column(
            SweepColumn::Chosen,
            "chosen in",
            "Folds whose inner folds chose this point",
        ),
        column(
            SweepColumn::Time,
            "µs",
            "Time of learning, per mini-batch and dictionary, as measured while other points ran beside it",
        ),
    ]);
    columns
}

/// The head of a column: pressed, it orders the points.
fn head_ui(
    ui: &mut Ui,
    look: &SweepResults,
    column: SweepColumn,
    name: &str,
    help_text: &str,
    actions: &mut Vec<Action>,
) {
    let (present, is_falling) = look.sorting;
    let mark = match (present == column, is_falling) {
        (false, _) => "",
        (true, true) => " ▼",
        (true, false) => " ▲",
    };
    let text = RichText::new(format!("{name}{mark}")).small();
    let head = ui.add(egui::Button::new(text).frame(false));
    let says = format!("Sort by {name}");
    ui.ctx()
        .accesskit_node_builder(head.id, |node| node.set_label(says));
    if head
        .on_hover_text(format!(
            "{help_text}. Click to sort by it, again to reverse"
        ))
        .clicked()
    {
        push(actions, SweepAction::SortBy(column));
    }
}

fn row_ui(
    row: &mut TableRow<'_, '_>,
    look: &SweepResults,
    point: &SweepRow,
    columns: &[NamedColumn],
    actions: &mut Vec<Action>,
) {
    let number = point.result.point.number;
    row.col(|ui| {
        let button = ui.small_button("Use");
        let says = format!("Use point {}", number + 1);
        ui.ctx()
            .accesskit_node_builder(button.id, |node| node.set_label(says));
        if button.on_hover_text(USE_HELP).clicked() {
            push(actions, SweepAction::Use(number));
        }
    });
    for (column, _, _) in columns {
        row.col(|ui| {
            let text = cell(look, point, *column);
            let label = ui.add(egui::Label::new(&text).extend());
            let remark = remark_of(point);
            if *column == SweepColumn::Inner && !remark.is_empty() {
                label.on_hover_text(remark);
            }
        });
    }
}

fn cell(look: &SweepResults, point: &SweepRow, column: SweepColumn) -> String {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".into());
    match column {
        SweepColumn::Point => (point.result.point.number + 1).to_string(),
        SweepColumn::Setting(place) => {
            let value = point.result.point.values.get(place);
            or_dash(value.map(|(_, value)| value.clone()))
        }
        SweepColumn::Inner if point.result.problem.is_some() => "cannot be run".into(),
        SweepColumn::Inner if point.stopped.is_some() => "stopped early".into(),
        SweepColumn::Inner => or_dash(point.inner.map(|share| format!("{:.2} %", 100.0 * share))),
        SweepColumn::Deviation => or_dash(point.inner_sd.map(percent)),
        SweepColumn::Chosen => look.result().chosen_by(point),
        SweepColumn::Time => or_dash(point.result.train_us_per_batch.map(short)),
    }
}
