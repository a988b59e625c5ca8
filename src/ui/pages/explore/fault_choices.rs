//! What the user chooses for a fault record: channels of the bay, inception, frequency, calculated channels; kept with the
//! session, for the record alone or for all records of its station.

use egui::{ScrollArea, TextEdit, Ui};

use crate::ui::elements;
use crate::ui::theme;
use crate::workbench::Draft;
use crate::workbench::explore::{FaultRecord, FaultView};
use atomscope_engine::features::fault::Inception;
use atomscope_engine::features::phases::PHASE_NAMES;
use atomscope_engine::records::{Channel, ChannelKind};
use atomscope_engine::session::{FaultChoice, change_notes, fault_choice, notes_on, station_notes};

/// What is chosen for a record.
pub(super) fn choice_of(draft: &Draft, record: &FaultRecord) -> FaultChoice {
    fault_choice(&draft.recordings, &record.name, &record.station)
}

/// Keeps a choice for a record. One that leaves all to the record is kept too where the station has a choice, which
/// would apply again without it.
pub(super) fn keep_choice(draft: &mut Draft, record: &FaultRecord, choice: FaultChoice) {
    let of_station = notes_on(&draft.recordings, &station_notes(&record.station));
    let has_station = of_station.is_some_and(|notes| !notes.fault.is_empty());
    let replaces_station = has_station && choice.says_nothing();
    change_notes(&mut draft.recordings, &record.name, |notes| {
        notes.fault = FaultChoice {
            replaces_station,
            ..choice
        };
    });
}

/// Menus for the choices.
pub(super) fn choices_ui(ui: &mut Ui, record: &FaultRecord, look: &FaultView, draft: &mut Draft) {
    let before = choice_of(draft, record);
    let mut choice = before.clone();
    let mut for_station = false;
    let menu = elements::lasting_menu(ui, "Bay", |ui| {
        bay_ui(ui, record, &mut choice);
        inception_ui(ui, look, &mut choice);
        nominal_ui(ui, &mut choice);
        for_station = station_ui(ui, record, draft, &mut choice);
    });
    menu.on_hover_text(
        "Channels of VA … IC, polarity, inception and nominal frequency of this record; saved with the session",
    );
    calculated_ui(ui, record, &mut choice);
    if for_station {
        change_notes(
            &mut draft.recordings,
            &station_notes(&record.station),
            |notes| notes.fault = choice.for_station(),
        );
    }
    if choice != before {
        keep_choice(draft, record, choice);
    }
}

fn bay_ui(ui: &mut Ui, record: &FaultRecord, choice: &mut FaultChoice) {
    let names = |channels: [usize; 6]| {
        channels.map(|channel| {
            let channel = record.source.channels.get(channel);
            channel.map(|channel| channel.name.clone())
        })
    };
    let used = record.analysis.as_ref().map(|analysis| &analysis.bay);
    let shown = used.map_or("–", |bay| bay.name.as_str());
    let help = "Bays of the record by the names of their channels";
    list_ui(ui, ("Bay", help), shown, |ui| {
        for bay in &record.bays {
            let is_it = used.is_some_and(|used| used.channels == bay.channels);
            if ui.selectable_label(is_it, &bay.name).clicked() {
                choice.phases.channels = names(bay.channels);
            }
        }
    });
    let analog = |channel: &&Channel| channel.kind == ChannelKind::Analog;
    for (place, phase) in PHASE_NAMES.iter().enumerate() {
        let in_use = used.and_then(|bay| record.source.channels.get(bay.channels[place]));
        let chosen = choice.phases.channels[place].clone();
        let shown = chosen.or(in_use.map(|channel| channel.name.clone()));
        let help = format!("The channel that is taken as {phase}");
        let name = shown.as_deref().unwrap_or("–");
        list_ui(ui, (phase, &help), name, |ui| {
            for channel in record.source.channels.iter().filter(analog) {
                let is_it = shown.as_deref() == Some(&channel.name);
                if ui.selectable_label(is_it, &channel.name).clicked() {
                    choice.phases.channels[place] = Some(channel.name.clone());
                }
            }
        });
    }
    let help = "Reverses the sign of the currents; by default they count positive into the line";
    ui.checkbox(
        &mut choice.phases.is_reversed,
        "Currents count out of the line",
    )
    .on_hover_text(help);
}

/// A labelled list that opens beside the menu it stands in: the list of a combo box would close the menu, since only one
/// of both can be open.
fn list_ui(ui: &mut Ui, (name, help): (&str, &str), shown: &str, contents: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        let label = elements::fixed_label(ui, name);
        let list = ui.menu_button(shown, |ui| {
            ScrollArea::vertical().max_height(420.0).show(ui, contents)
        });
        list.response.labelled_by(label.id).on_hover_text(help);
    });
}

fn inception_ui(ui: &mut Ui, look: &FaultView, choice: &mut FaultChoice) {
    elements::section(ui, "Inception");
    let at_s = look.cursors_s[look.active.min(1)];
    let is_at = matches!(choice.inception, Some(Inception::At { .. }));
    let choices = [
        (
            choice.inception.is_none(),
            None,
            "By the first change".to_owned(),
            "The first lasting change against the cycle before. Default.",
        ),
        (
            choice.inception == Some(Inception::Trigger),
            Some(Inception::Trigger),
            "At the trigger".to_owned(),
            "Where the record says that it was triggered",
        ),
        (
            is_at,
            Some(Inception::At { time_s: at_s }),
            match choice.inception {
                Some(Inception::At { time_s }) => format!("At {time_s:.5} s"),
                _ => format!("At the active cursor, {at_s:.5} s"),
            },
            "Where the active cursor stands now",
        ),
    ];
    for (is_it, wanted, text, help) in choices {
        if ui.radio(is_it, text).on_hover_text(help).clicked() {
            choice.inception = wanted;
        }
    }
}

fn nominal_ui(ui: &mut Ui, choice: &mut FaultChoice) {
    elements::section(ui, "Nominal frequency");
    ui.horizontal(|ui| {
        let choices = [
            (None, "Of the record"),
            (Some(50.0), "50 Hz"),
            (Some(60.0), "60 Hz"),
            (Some(50.0 / 3.0), "16.7 Hz"),
        ];
        for (hz, name) in choices {
            let help = "Frequency that type, phases and times are computed with";
            if ui
                .radio(choice.nominal_hz == hz, name)
                .on_hover_text(help)
                .clicked()
            {
                choice.nominal_hz = hz;
            }
        }
    });
}

/// Whether the choice is to hold for the whole station; resets it too.
fn station_ui(ui: &mut Ui, record: &FaultRecord, draft: &Draft, choice: &mut FaultChoice) -> bool {
    ui.separator();
    let station = record.station.trim();
    let of_station = notes_on(&draft.recordings, &station_notes(&record.station));
    let has_it = of_station.is_some_and(|notes| notes.fault == choice.for_station());
    let can = !station.is_empty() && !has_it;
    let button = ui.add_enabled(can, egui::Button::new("Use for the whole station"));
    let button = button
        .on_hover_text(format!(
            "All records of {station} that have no choice of their own, line data and calculated channels included; an inception at a time is that of one record and stays with it"
        ))
        .on_disabled_hover_text(match has_it {
            true => format!("These choices hold for all records of {station}"),
            false => "The record names no station".to_owned(),
        });
    let reset = ui.add_enabled(!choice.says_nothing(), egui::Button::new("Reset"));
    let reset = reset
        .on_hover_text("Discards these choices for this record; what the record says applies again")
        .on_disabled_hover_text("Nothing is chosen");
    if reset.clicked() {
        *choice = FaultChoice::default();
    }
    button.clicked()
}

/// Lines that are offered, with what they are called.
const OFFERED: [(&str, &str, &str); 8] = [
    (
        "RMS of currents",
        "rms(IA)\nrms(IB)\nrms(IC)",
        "RMS of each phase current over a cycle",
    ),
    (
        "RMS of voltages",
        "rms(VA)\nrms(VB)\nrms(VC)",
        "RMS of each phase voltage over a cycle",
    ),
    ("3I0", "3I0 = IA + IB + IC", "Residual current"),
    (
        "Sequences of I",
        "I1 = seq1(IA, IB, IC)\nI2 = seq2(IA, IB, IC)\nI0 = seq0(IA, IB, IC)",
        "Magnitudes of the symmetrical components of the currents",
    ),
    (
        "Sequences of V",
        "V1 = seq1(VA, VB, VC)\nV2 = seq2(VA, VB, VC)\nV0 = seq0(VA, VB, VC)",
        "Magnitudes of the symmetrical components of the voltages",
    ),
    (
        "Phasors of I",
        "mag(IA)\nmag(IB)\nmag(IC)\nang(IA, VA)\nang(IB, VA)\nang(IC, VA)",
        "Magnitude and angle against VA of the phase currents",
    ),
    (
        "P and Q",
        "P = P(VA, IA) + P(VB, IB) + P(VC, IC)\nQ = Q(VA, IA) + Q(VB, IB) + Q(VC, IC)",
        "Power of the three phases",
    ),
    (
        "Frequency",
        "f = f(VA)",
        "Frequency of the voltage of phase A",
    ),
];

/// Calculated channels: a text of lines that counts when it is applied.
fn calculated_ui(ui: &mut Ui, record: &FaultRecord, choice: &mut FaultChoice) {
    let id = ui.scope_id().with(("calculated channels", &record.name));
    let kept = choice.calculated.join("\n");
    let title = match choice.calculated.len() {
        0 => "Calculated".to_owned(),
        n => format!("Calculated {n}"),
    };
    let menu = elements::lasting_menu(ui, title, |ui| {
        let mut text = ui
            .data_mut(|data| data.get_temp::<String>(id))
            .unwrap_or(kept.clone());
        ui.set_min_width(theme::body_font(ui).size * 26.0);
        let label = ui.label("One line for each channel");
        let field = TextEdit::multiline(&mut text)
            .desired_rows(6)
            .hint_text("3I0 = IA + IB + IC")
            .desired_width(f32::INFINITY);
        ui.add(field).labelled_by(label.id).on_hover_text(
            "IA - IB, 3I0 = IA+IB+IC, rms(VA), dft(IA,5), diff, int, lowpass(x, hz), P Q S(v, i), f, thd, i2t, unbalance; names with other signs in square brackets; VA … IC are those of the bay, in primary volts and amperes",
        );
        ui.horizontal_wrapped(|ui| {
            for (name, lines, help) in OFFERED {
                if ui.small_button(name).on_hover_text(help).clicked() {
                    if !text.is_empty() && !text.ends_with('\n') {
                        text.push('\n');
                    }
                    text.push_str(lines);
                }
            }
        });
        let can = text != kept;
        let apply = ui.add_enabled(can, egui::Button::new("Compute"));
        let apply = apply
            .on_hover_text("Adds the channels below the others; saved with the session")
            .on_disabled_hover_text("Nothing has changed");
        for wrong in &record.uncalculated {
            elements::wrong(ui, wrong);
        }
        if apply.clicked() {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            choice.calculated = lines.map(str::to_owned).collect();
            ui.data_mut(|data| data.remove::<String>(id));
        } else {
            ui.data_mut(|data| data.insert_temp(id, text));
        }
    });
    menu.on_hover_text(
        "Channels calculated from others, phasors and symmetrical components over time",
    );
}
