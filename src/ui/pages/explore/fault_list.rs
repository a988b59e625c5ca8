//! The list of a folder's fault records: sorted by any column, searched, exported, each row leads to its record.

use egui::{RichText, TextEdit, Ui};
use egui_extras::{Column, TableBuilder};

use crate::ui::elements::{self, button};
use crate::ui::theme;
use crate::ui::widgets::empty_state;
use crate::workbench::explore::{
    ExploreAction, FaultAction, FaultList, FaultStage, ListColumn, ListView,
};
use crate::workbench::{Action, Ask, PathAsk, Workbench};
use atomscope_engine::protection::inbox::InboxRow;
use atomscope_engine::records::counted;

/// Width of each column in letters, in their order: all of them fit into a window of 1280 points.
const WIDTHS_EM: [f32; 12] = [3.6, 8.5, 8.5, 12.4, 4.9, 3.6, 4.6, 4.4, 5.6, 4.6, 3.6, 3.2];

/// Points between columns.
const COLUMN_GAP: f32 = 4.0;

/// Files that could not be read, listed at most.
const MOST_UNREAD: usize = 5;

pub(super) fn push(actions: &mut Vec<Action>, action: FaultAction) {
    actions.push(Action::Explore(ExploreAction::Fault(action)));
}

/// The list with its tools.
pub(super) fn fault_list_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let fault = workbench.explore().fault();
    head_ui(ui, workbench, fault, actions);
    if let Some(error) = fault.list_error() {
        elements::wrong(ui, error);
    }
    let Some(list) = fault.list() else {
        if fault.listing_share().is_some() && empty_state(ui, "Reading the records", Some("Cancel"))
        {
            push(actions, FaultAction::CancelList);
        }
        return;
    };
    let shown = list.shown(fault.list_view());
    let events = list.rows.iter().map(|row| row.event).max().unwrap_or(0);
    let text = format!(
        "{} of {} in {}: {}",
        shown.len(),
        counted(list.rows.len(), "record"),
        counted(events, "event"),
        list.from.name()
    );
    elements::help(ui, &text);
    for reason in list.unread.iter().take(MOST_UNREAD) {
        elements::help(ui, &format!("Not read: {reason}"));
    }
    if list.unread.len() > MOST_UNREAD {
        let others = list.unread.len() - MOST_UNREAD;
        elements::help(
            ui,
            &format!("{} more could not be read", counted(others, "file")),
        );
    }
    egui::ScrollArea::horizontal()
        .id_salt("columns of fault records")
        .show(ui, |ui| {
            table_ui(ui, list, &shown, fault.list_view(), actions)
        });
}

fn head_ui(ui: &mut Ui, workbench: &Workbench, fault: &FaultStage, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        let is_open = workbench.explore().opened().is_some();
        let back = ui.add_enabled(is_open, egui::Button::new("Back to the record"));
        let back = back
            .on_hover_text("Shows the open record again")
            .on_disabled_hover_text("No record is open: click one in the list");
        if back.clicked() {
            push(actions, FaultAction::ShowList(false));
        }
        list_buttons_ui(ui, workbench, actions);
        let export = ui.add_enabled(fault.list().is_some(), egui::Button::new("Export list…"));
        let export = export
            .on_hover_text("All records of the list as a table (.csv)")
            .on_disabled_hover_text("There is no list yet");
        if export.clicked() {
            actions.push(Action::Ask(Ask::Path(PathAsk::FaultTable)));
        }
        if let (Some(share), true) = (fault.listing_share(), fault.list().is_some()) {
            ui.label(format!("{:.0} %", 100.0 * share));
            if button(ui, "Cancel", "The previous list is kept") {
                push(actions, FaultAction::CancelList);
            }
        }
        let label = ui.label("Search");
        let mut view = fault.list_view().clone();
        let field = TextEdit::singleline(&mut view.search).desired_width(160.0);
        let field = ui.add(field).labelled_by(label.id);
        if field
            .on_hover_text("Only records that contain this text in any column")
            .changed()
        {
            push(actions, FaultAction::ViewList(view));
        }
    });
}

/// The ways to a list.
pub(super) fn list_buttons_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let folder = ui.button("List a folder…");
    let help = "All fault records of a folder: type, phases, duration, distance, peak current, the model's class, grouped by event";
    if folder.on_hover_text(help).clicked() {
        actions.push(Action::Ask(Ask::Path(PathAsk::FaultFolder)));
    }
    let can = workbench.n_explorable() > 0;
    let own = ui.add_enabled(can, egui::Button::new("List the session"));
    let own = own
        .on_hover_text("The fault records of the session as a list")
        .on_disabled_hover_text("The session has no records");
    if own.clicked() {
        push(actions, FaultAction::List(None));
    }
}

fn table_ui(
    ui: &mut Ui,
    list: &FaultList,
    shown: &[usize],
    view: &ListView,
    actions: &mut Vec<Action>,
) {
    let em = theme::body_font(ui).size;
    ui.spacing_mut().item_spacing.x = COLUMN_GAP;
    // What the window has beyond these widths is shared out, in steps, so that widths set by hand stay.
    let needed = WIDTHS_EM.iter().sum::<f32>() * em + COLUMN_GAP * 12.0;
    let quarters = (4.0 * ui.available_width() / needed)
        .floor()
        .clamp(4.0, 8.0);
    let em_wide = em * quarters / 4.0;
    let mut table = TableBuilder::new(ui)
        .id_salt(("fault records", quarters as u32))
        .striped(true)
        .sense(egui::Sense::click())
        .cell_layout(egui::Layout::left_to_right(egui::Align::Center));
    for width in WIDTHS_EM {
        table = table.column(
            Column::initial(width * em_wide)
                .at_least(30.0)
                .resizable(true)
                .clip(true),
        );
    }
    table
        .header(em * 1.8, |mut header| {
            for (column, name) in ListColumn::ALL {
                header.col(|ui| column_ui(ui, (column, name), view, actions));
            }
        })
        .body(|body| {
            body.rows(em * 1.8, shown.len(), |mut row| {
                let found = &list.rows[shown[row.index()]];
                for (column, _) in ListColumn::ALL {
                    row.col(|ui| cell_ui(ui, column, found));
                }
                if row.response().on_hover_text("Shows this record").clicked() {
                    open(list, found, actions);
                }
            });
        });
}

fn column_ui(
    ui: &mut Ui,
    (column, name): (ListColumn, &str),
    view: &ListView,
    actions: &mut Vec<Action>,
) {
    let is_it = view.by == column;
    let text = match (is_it, view.is_falling) {
        (true, true) => format!("{name} ▼"),
        (true, false) => format!("{name} ▲"),
        (false, _) => name.to_owned(),
    };
    let button = ui.add(egui::Button::new(RichText::new(text).small()).frame(false));
    if button
        .on_hover_text("Puts the list in this order; again for the reverse")
        .clicked()
    {
        let view = ListView {
            by: column,
            is_falling: is_it && !view.is_falling,
            ..view.clone()
        };
        push(actions, FaultAction::ViewList(view));
    }
}

fn cell_ui(ui: &mut Ui, column: ListColumn, row: &InboxRow) {
    let text = column.text(row);
    let model = row.model.as_ref().map(|model| model.class.as_str());
    let differs = model.is_some()
        && row
            .summary
            .type_rule
            .is_some_and(|rule| model != Some(rule));
    let shown = match column {
        ListColumn::Class if differs => RichText::new(&text).color(theme::tones(ui).warning),
        ListColumn::Record | ListColumn::Station | ListColumn::Time => RichText::new(&text).small(),
        _ => RichText::new(&text),
    };
    let label = ui.add(egui::Label::new(shown).truncate());
    let distance = row.distance().zip(Some(column == ListColumn::Distance));
    let help = match (column, distance) {
        (ListColumn::Class, _) if differs => "The rule and the model differ".to_owned(),
        (ListColumn::Record, _) => row.path.display().to_string(),
        (ListColumn::Type, _) if !row.summary.warnings.is_empty() => {
            row.summary.warnings.join("\n")
        }
        (_, Some((found, true))) => {
            let bound = |value: Option<f64>| value.map_or("–".to_owned(), |v| format!("{v:.3}"));
            let (low, high) = (bound(found.low), bound(found.high));
            format!("{}: {low} to {high} of the line", found.method)
        }
        _ => text,
    };
    if !help.is_empty() {
        label.on_hover_text(help);
    }
}

fn open(list: &FaultList, row: &InboxRow, actions: &mut Vec<Action>) {
    let action = match list.source_of(row) {
        Some(source) => ExploreAction::OpenRecord {
            source,
            stretch: None,
        },
        None => ExploreAction::OpenFile(row.path.clone()),
    };
    push(actions, FaultAction::ShowList(false));
    actions.push(Action::Explore(action));
}
