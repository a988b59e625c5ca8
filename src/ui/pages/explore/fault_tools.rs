//! The line of tools above a fault record: scale, bases, lanes, frequency, zoom, another record beside.

use egui::{ScrollArea, Ui};

use super::fault_beside::alignment_ui;
use super::fault_choices::choices_ui;
use super::fault_list::list_buttons_ui;
use crate::ui::elements::{self, button};
use crate::ui::theme;
use crate::workbench::explore::{
    BesideChoice, ExploreAction, FaultAction, FaultRecord, FaultView, ValueScale,
};
use crate::workbench::{Action, Ask, Draft, PathAsk, Workbench};
use atomscope_engine::records::counted;
use atomscope_engine::session::{UnitBases, change_notes, notes_on};

/// Records listed to be put beside.
const MOST_LISTED: usize = 200;

/// The tools.
pub(super) fn tools_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    record: &FaultRecord,
    look: &mut FaultView,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_wrapped(|ui| {
        // All of them fit into one line of a window of 1280 points.
        ui.spacing_mut().item_spacing.x = 5.0;
        scale_ui(ui, record, look);
        bases_ui(ui, record, draft);
        lanes_ui(ui, record, look);
        frequency_ui(ui, record, look);
        zoom_ui(ui, record, look);
        choices_ui(ui, record, look, draft);
        beside_ui(ui, workbench, actions);
        alignment_ui(ui, workbench, record, look);
        outputs_ui(ui, workbench, actions);
    });
}

fn scale_ui(ui: &mut Ui, record: &FaultRecord, look: &mut FaultView) {
    for scale in ValueScale::ALL {
        let (can, help) = match scale {
            ValueScale::Primary => (true, "Values of the line. Default.".to_owned()),
            ValueScale::Secondary if record.has_ratios() => (
                true,
                "Values behind the instrument transformers, by the ratios of the record".into(),
            ),
            ValueScale::Secondary => (
                false,
                "The record does not state the ratio of its instrument transformers".into(),
            ),
            ValueScale::PerUnit => per_unit_help(record),
        };
        let chip = egui::Button::selectable(look.scale == scale, scale.name());
        let chip = ui.add_enabled(can, chip);
        let chip = chip.on_hover_text(&help).on_disabled_hover_text(help);
        if chip.clicked() {
            look.scale = scale;
        }
    }
}

fn per_unit_help(record: &FaultRecord) -> (bool, String) {
    let text = |base: Option<f64>, unit: &str| match base {
        Some(base) => format!("{base:.4} {unit}"),
        None => "unknown".to_owned(),
    };
    let help = format!(
        "Shares of the normal amplitude: 1 per unit is a peak of {} and {}; see Bases for their source",
        text(record.bases[0], "V"),
        text(record.bases[1], "A"),
    );
    (record.bases.iter().any(Option::is_some), help)
}

/// What counts as 1 per unit: of the record, or given here.
fn bases_ui(ui: &mut Ui, record: &FaultRecord, draft: &mut Draft) {
    let noted = notes_on(&draft.recordings, &record.name).map(|notes| notes.bases);
    let noted = noted.unwrap_or_default();
    let mut bases = noted;
    let menu = elements::lasting_menu(ui, "Bases", |ui| {
        let [volts, amperes] = record.bases;
        let volts = volts.map(|peak| peak / UnitBases::PEAK_PER_LINE_VOLT);
        let amperes = amperes.map(|peak| peak / UnitBases::PEAK_PER_AMPERE);
        let help = "Between two phases, RMS, of the line; above 0, by default that of the recipe or of the last cycle before the inception";
        base_ui(ui, ("Voltage", " V", help), volts, &mut bases.voltage_v);
        let help = "Of one phase, RMS, of the line; above 0, by default that of the recipe or of the last cycle before the inception";
        base_ui(ui, ("Current", " A", help), amperes, &mut bases.current_a);
        elements::help(
            ui,
            "Values that count as 1 per unit; saved with the session",
        );
    });
    menu.on_hover_text(
        "Voltage and current that count as 1 per unit: those of the record, or your own",
    );
    if bases != noted {
        change_notes(&mut draft.recordings, &record.name, |notes| {
            notes.bases = bases
        });
    }
}

/// One base: the value in force, and whether it was given by hand.
fn base_ui(
    ui: &mut Ui,
    (name, unit, help): (&str, &str, &str),
    in_force: Option<f64>,
    given: &mut Option<f64>,
) {
    ui.horizontal(|ui| {
        let label = elements::fixed_label(ui, name);
        let mut value = given.or(in_force).unwrap_or(0.0);
        let speed = (value * 0.01).max(0.01);
        // What is typed counts when it is complete: 0.4 begins with 0, which is none.
        let field = egui::DragValue::new(&mut value)
            .update_while_editing(false)
            .range(0.0..=1e9)
            .speed(speed)
            .max_decimals(3)
            .suffix(unit);
        let field = ui.add(field).labelled_by(label.id).on_hover_text(help);
        if field.changed() {
            *given = (value > 0.0).then_some(value);
        }
        let own = ui.add_enabled(given.is_some(), egui::Button::new("Of the record"));
        let own = own
            .on_hover_text(format!(
                "Resets {name} to that of the recipe or of the last normal cycle"
            ))
            .on_disabled_hover_text(match in_force {
                Some(_) => "This is that of the recipe or of the last normal cycle",
                None => "The record contains no normal cycle of three phases: enter a value",
            });
        if own.clicked() {
            *given = None;
        }
    });
}

/// Which lanes and digital channels are shown.
fn lanes_ui(ui: &mut Ui, record: &FaultRecord, look: &mut FaultView) {
    let title = format!("Channels {} of {}", look.lanes.len(), record.lanes.len());
    let menu = elements::lasting_menu(ui, title, |ui| {
        ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
            ui.set_min_width(theme::body_font(ui).size * 18.0);
            for (place, lane) in record.lanes.iter().enumerate() {
                check(ui, &lane.title, place, &mut look.lanes);
            }
        });
    });
    menu.on_hover_text("Which analog channels are shown; phases of a bay share a lane");
    if record.digital.is_empty() {
        return;
    }
    let title = format!("Digital {} of {}", look.digital.len(), record.digital.len());
    let menu = elements::lasting_menu(ui, title, |ui| {
        ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
            ui.set_min_width(theme::body_font(ui).size * 14.0);
            let rows = record.digital.iter().enumerate();
            let mut rows: Vec<_> = rows.collect();
            rows.sort_by_key(|(_, digital)| !digital.changes());
            for (place, digital) in rows {
                let name = match digital.changes() {
                    true => {
                        let changes = counted(digital.edges.len() - 1, "change");
                        format!("{} · {changes}", digital.name)
                    }
                    false => digital.name.clone(),
                };
                check(ui, &name, place, &mut look.digital);
            }
        });
    });
    menu.on_hover_text("Which digital channels are shown; those that change come first");
}

fn check(ui: &mut Ui, name: &str, place: usize, shown: &mut std::collections::BTreeSet<usize>) {
    let mut is_shown = shown.contains(&place);
    if ui.checkbox(&mut is_shown, name).changed() {
        match is_shown {
            true => drop(shown.insert(place)),
            false => drop(shown.remove(&place)),
        }
    }
}

fn frequency_ui(ui: &mut Ui, record: &FaultRecord, look: &mut FaultView) {
    // Three decimals at most: 50/3 Hz has no end.
    let in_words = |hz: f64| format!("{} Hz", (hz * 1e3).round() / 1e3);
    let own = match record.facts.nominal_hz {
        Some(hz) => in_words(hz),
        None => "unknown".to_owned(),
    };
    let shown = match look.given_hz {
        Some(hz) => in_words(hz),
        None => own.clone(),
    };
    let menu = ui.menu_button(format!("f₀ {shown}"), |ui| {
        let choices = [
            (None, format!("As the record says: {own}")),
            (Some(50.0), "50 Hz".into()),
            (Some(60.0), "60 Hz".into()),
            (Some(50.0 / 3.0), "16.7 Hz".into()),
        ];
        for (hz, name) in choices {
            if ui.radio(look.given_hz == hz, name).clicked() {
                look.given_hz = hz;
                ui.close();
            }
        }
    });
    let mut help = "Nominal frequency f₀: one cycle of RMS, phasors and harmonics lasts 1/f₀. Default: that of the record.".to_owned();
    for note in &record.facts.notes {
        help.push('\n');
        help.push_str(note);
    }
    menu.response.on_hover_text(help);
}

fn zoom_ui(ui: &mut Ui, record: &FaultRecord, look: &mut FaultView) {
    let all = ui.button("Whole record");
    let help = "Shows all of it; a double click does the same. The wheel zooms, dragging moves, ← → and Page Up, Page Down turn pages, + − change the height.";
    if all.on_hover_text(help).clicked() {
        look.show_all(record);
        look.gain = 1.0;
    }
    let moment = record.facts.inception_s.or(record.trigger_s);
    let button = ui.add_enabled(moment.is_some(), egui::Button::new("Inception"));
    let button = button
        .on_hover_text("Shows 16 cycles around the inception, or the trigger without one")
        .on_disabled_hover_text("No change found in this record, and it states no trigger");
    if button.clicked()
        && let Some(at_s) = moment
    {
        let cycle_s = 1.0 / look.nominal_hz(record).unwrap_or(50.0);
        (look.start_s, look.span_s) = (at_s - 4.0 * cycle_s, 16.0 * cycle_s);
        look.keep_inside(record);
    }
}

/// Another record, aligned on the inception.
fn beside_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let fault = workbench.explore().fault();
    let mut ask = |choice: BesideChoice| {
        let action = FaultAction::Beside(choice);
        actions.push(Action::Explore(ExploreAction::Fault(action)));
    };
    if fault.beside().is_some() {
        if button(ui, "Close second record", "Shows the first record alone") {
            ask(BesideChoice::Nothing);
        }
        return;
    }
    let mut asks_file = false;
    let menu = ui.menu_button("Second record…", |ui| {
        if ui.button("Open a file…").clicked() {
            asks_file = true;
            ui.close();
        }
        let records = workbench.data().loaded().map(|loaded| &loaded.records);
        if records.is_some_and(|records| records.len() > 1) {
            ui.separator();
        }
        ScrollArea::vertical().max_height(360.0).show(ui, |ui| {
            let current = workbench
                .explore()
                .opened()
                .and_then(|opened| opened.source);
            for (place, row) in records.into_iter().flatten().enumerate().take(MOST_LISTED) {
                if Some(place) != current && ui.button(&row.name).clicked() {
                    ask(BesideChoice::Source(place));
                    ui.close();
                }
            }
        });
    });
    menu.response
        .on_hover_text("Another record below this one, both aligned on their inceptions");
    if asks_file {
        actions.push(Action::Ask(Ask::Path(PathAsk::OpenBeside)));
    }
}

/// Zones of a file, the report of the event, and the list of records.
fn outputs_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let asks = [
        (
            "Zones…",
            "Distance zones of a relay from a RIO file; shown in the impedance plane with entry and leaving times",
            PathAsk::Zones,
        ),
        (
            "Event report…",
            "A page with everything about the event; of both ends while a second record is shown",
            PathAsk::FaultReport,
        ),
    ];
    for (name, help, path) in asks {
        if button(ui, name, help) {
            actions.push(Action::Ask(Ask::Path(path)));
        }
    }
    let has_list = workbench.explore().fault().list().is_some();
    if !has_list {
        return list_buttons_ui(ui, workbench, actions);
    }
    if button(ui, "Show list", "The list of records again") {
        let action = FaultAction::ShowList(true);
        actions.push(Action::Explore(ExploreAction::Fault(action)));
    }
}
