//! What is measured at the cursors of a fault record: values and RMS, digital states, phasors, sequences, harmonics, frequency.

use egui::{ComboBox, Grid, RichText, Ui};
use num_complex::Complex64;

use super::fault::{CURSORS, phase_name};
use crate::ui::elements::{help, section, wide_grid, wide_table};
use crate::ui::icons::color_dot;
use crate::ui::numbers::{cut, five_digits, percent, short};
use crate::ui::palette::{mix, phase_color};
use crate::ui::theme;
use crate::ui::widgets::{HarmonicBars, Phasor, PhasorDiagram};
use crate::workbench::explore::{
    CursorMeasures, DigitalSignal, FaultMeasures, FaultRecord, FaultView, SignalSet,
};
use atomscope_engine::records::Quantity;

/// Digital channels listed at most.
const MOST_DIGITAL: usize = 60;

/// All measures.
pub(super) fn measures_ui(
    ui: &mut Ui,
    record: &FaultRecord,
    measures: Option<&FaultMeasures>,
    look: &mut FaultView,
) {
    let Some(measures) = measures else {
        help(ui, "Measuring…");
        return;
    };
    cursors_ui(ui, record, measures, look);
    // Rows of numbers, not of controls.
    ui.spacing_mut().interact_size.y = theme::small_font(ui).size * 1.4;
    if !record.signals.is_empty() {
        values_ui(ui, record, measures, look);
        cycle_ui(ui, record, measures, look);
    }
    // Last, because a relay may have hundreds.
    digital_ui(ui, record, measures, look);
}

/// What is measured over the cycle that ends at the active cursor.
fn cycle_ui(ui: &mut Ui, record: &FaultRecord, measures: &FaultMeasures, look: &mut FaultView) {
    if look.nominal_hz(record).is_none() {
        help(
            ui,
            "The record does not state its frequency: choose f₀ above to see RMS, phasors and harmonics",
        );
        return;
    }
    let active = &measures.cursors[look.active.min(1)];
    phasors_ui(ui, record, active, look);
    sequences_ui(ui, record, active, look);
    harmonics_ui(ui, record, measures, look);
}

/// Where the cursors are, which one is active, and what lies between them.
fn cursors_ui(ui: &mut Ui, record: &FaultRecord, measures: &FaultMeasures, look: &mut FaultView) {
    ui.horizontal_wrapped(|ui| {
        section(ui, "Cursors");
        for (place, name) in CURSORS.iter().enumerate() {
            let text = format!("At {name}");
            let chip = ui.selectable_label(look.active == place, text);
            if chip
                .on_hover_text(format!("Phasors, sequences and harmonics are those of the cycle that ends at cursor {name}"))
                .clicked()
            {
                look.active = place;
            }
        }
    });
    let [a, b] = &measures.cursors;
    let delta_s = b.time_s - a.time_s;
    let mut text = format!(
        "A {:.5} s · B {:.5} s · Δt {} ms",
        a.time_s,
        b.time_s,
        short(delta_s * 1e3)
    );
    if let Some(hz) = look.nominal_hz(record) {
        text.push_str(&format!(" = {} cycles", short(delta_s * hz)));
    }
    if delta_s != 0.0 {
        text.push_str(&format!(" · 1/Δt {} Hz", short(1.0 / delta_s.abs())));
    }
    ui.label(text);
}

/// Instantaneous values, their difference, and RMS of every signal that is shown.
fn values_ui(ui: &mut Ui, record: &FaultRecord, measures: &FaultMeasures, look: &FaultView) {
    let tones = theme::tones(ui);
    let shown = theme::theme_of(ui);
    let lanes = look.lanes.iter().filter_map(|lane| record.lanes.get(*lane));
    let places: Vec<usize> = lanes
        .flat_map(|lane| lane.signals.iter().copied())
        .collect();
    let [a, b] = &measures.cursors;
    wide_table(ui, "cursor values", |ui| {
        Grid::new("cursor values")
            .num_columns(7)
            .spacing([8.0, 2.0])
            .striped(true)
            .show(ui, |ui| {
                for title in ["", "A", "B", "B − A", "RMS A", "RMS B", ""] {
                    ui.label(RichText::new(title).small().color(tones.weak));
                }
                ui.end_row();
                for place in places {
                    let signal = &record.signals[place];
                    let scale = record.scale(signal, look.scale);
                    let color = match signal.phase {
                        Some(phase) => phase_color(phase, shown),
                        None => tones.weak,
                    };
                    ui.horizontal(|ui| {
                        color_dot(ui, color);
                        let name = RichText::new(cut(&signal.name, 10)).small();
                        ui.label(name).on_hover_text(&signal.name);
                    });
                    let at = |cursor: &CursorMeasures| cursor.signals.get(place).copied();
                    let (at_a, at_b) = (at(a).unwrap_or_default(), at(b).unwrap_or_default());
                    let difference = at_b.value.zip(at_a.value).map(|(b, a)| b - a);
                    let values = [at_a.value, at_b.value, difference];
                    let rms = [at_a.rms, at_b.rms];
                    let values = values.map(|value| value.map(|v| v * scale.factor));
                    let rms = rms.map(|value| value.map(|v| v * scale.rms_factor));
                    for value in values.into_iter().chain(rms) {
                        let text = value.map_or("–".to_owned(), five_digits);
                        ui.label(RichText::new(text).small());
                    }
                    ui.label(RichText::new(scale.unit).small().color(tones.weak));
                    ui.end_row();
                }
            });
    });
}

/// States at the cursors of the digital channels that are shown, and of those that change between them.
fn digital_ui(ui: &mut Ui, record: &FaultRecord, measures: &FaultMeasures, look: &FaultView) {
    if record.digital.is_empty() {
        return;
    }
    let tones = theme::tones(ui);
    let [a_s, b_s] = [0, 1].map(|cursor: usize| measures.cursors[cursor].time_s);
    let n_changes = |digital: &DigitalSignal| digital.changes_between(a_s, b_s);
    let all = record.digital.iter().enumerate();
    let listed: Vec<&DigitalSignal> = all
        .filter(|(place, digital)| look.digital.contains(place) || n_changes(digital) > 0)
        .map(|(_, digital)| digital)
        .collect();
    section(ui, "Digital channels");
    if !listed.is_empty() {
        Grid::new("digital states")
            .num_columns(4)
            .spacing([12.0, 2.0])
            .striped(true)
            .show(ui, |ui| {
                for title in ["", "A", "B", "changes between"] {
                    ui.label(RichText::new(title).small().color(tones.weak));
                }
                ui.end_row();
                for digital in listed.iter().take(MOST_DIGITAL) {
                    let changes = n_changes(digital);
                    let color = if changes > 0 {
                        tones.strong
                    } else {
                        tones.text
                    };
                    let name = cut(&digital.name, 22);
                    ui.label(RichText::new(name).small().color(color))
                        .on_hover_text(&digital.name);
                    for time_s in [a_s, b_s] {
                        let state = digital.state_at(time_s);
                        let text = state.map_or("–", |state| if state { "1" } else { "0" });
                        ui.label(RichText::new(text).small().color(color));
                    }
                    let text = match changes {
                        0 => "none".to_owned(),
                        n => n.to_string(),
                    };
                    ui.label(RichText::new(text).small().color(color));
                    ui.end_row();
                }
            });
    }
    let unlisted = listed.len().saturating_sub(MOST_DIGITAL);
    let others = record.digital.len() - listed.len();
    let text = match (unlisted, others) {
        (0, 0) => return,
        (0, 1) => "1 other does not change from A to B".to_owned(),
        (0, others) => format!("{others} others do not change from A to B"),
        (unlisted, others) => format!("{} others are not listed", unlisted + others),
    };
    help(ui, &text);
}

/// The sets that phasors are drawn of: the first of each quantity.
fn main_sets(record: &FaultRecord) -> Vec<(usize, &SignalSet)> {
    let sets = record.sets.iter().enumerate();
    let is_first = |(place, set): &(usize, &SignalSet)| {
        let earlier = &record.sets[..*place];
        earlier.iter().all(|other| other.quantity != set.quantity)
    };
    sets.filter(is_first).collect()
}

/// The signal that angles are measured against: the one chosen, else phase A of the voltages, else of the currents.
fn reference_signal(record: &FaultRecord, look: &FaultView) -> Option<usize> {
    let chosen = look.reference.filter(|place| *place < record.signals.len());
    let usual = || {
        let voltages = record.set_of(Quantity::Voltage);
        Some(voltages.or(record.sets.first())?.signals[0])
    };
    chosen.or_else(usual)
}

/// The angle that all others are measured against.
fn reference(record: &FaultRecord, cursor: &CursorMeasures, look: &FaultView) -> f64 {
    let place = reference_signal(record, look);
    let phasor = place.and_then(|place| cursor.signals.get(place)?.phasor);
    phasor.map_or(0.0, |phasor| phasor.arg())
}

/// The choice of the signal that angles are measured against.
fn reference_ui(ui: &mut Ui, record: &FaultRecord, look: &mut FaultView) {
    let shown = reference_signal(record, look).map_or("", |place| &record.signals[place].name);
    ui.horizontal(|ui| {
        let label = ui.label(RichText::new("Angles against").small());
        let combo = ComboBox::from_id_salt("angles against")
            .selected_text(shown)
            .show_ui(ui, |ui| {
                if ui
                    .selectable_label(look.reference.is_none(), "Phase A of the voltages")
                    .clicked()
                {
                    look.reference = None;
                }
                for (place, signal) in record.signals.iter().enumerate() {
                    let is_it = look.reference == Some(place);
                    if ui.selectable_label(is_it, &signal.name).clicked() {
                        look.reference = Some(place);
                    }
                }
            });
        combo.response.labelled_by(label.id).on_hover_text(
            "The channel whose angle counts as zero, for phasors and symmetrical components. Default: phase A of the voltages, else of the currents.",
        );
    });
}

/// An angle in degrees from −180 to 180, in tenths.
fn degrees(phasor: Complex64, reference: f64) -> f64 {
    let degrees = (phasor * Complex64::cis(-reference)).arg().to_degrees();
    // Plus zero: no minus before nothing.
    (degrees * 10.0).round() / 10.0 + 0.0
}

fn phasors_ui(ui: &mut Ui, record: &FaultRecord, cursor: &CursorMeasures, look: &mut FaultView) {
    section(ui, &format!("Phasors at {}", CURSORS[look.active.min(1)]));
    reference_ui(ui, record, look);
    let sets = main_sets(record);
    let reference = reference(record, cursor, look);
    let phasor = |place: usize| cursor.signals.get(place).and_then(|s| s.phasor);
    let mut drawn = Vec::new();
    let shown = theme::theme_of(ui);
    for (_, set) in &sets {
        let lengths = set.signals.iter().filter_map(|place| phasor(*place));
        let largest = lengths.map(|x| x.norm()).fold(0.0, f64::max);
        for (phase, place) in set.signals.iter().enumerate() {
            if let Some(found) = phasor(*place).filter(|_| largest > 0.0) {
                drawn.push(Phasor {
                    name: phase_name(set.quantity, phase),
                    length: found.norm() / largest,
                    angle: found.arg() - reference,
                    color: phase_color(phase, shown),
                    is_thin: set.quantity == Quantity::Current,
                });
            }
        }
    }
    if drawn.is_empty() {
        help(
            ui,
            "No whole cycle of three phases ends at this cursor: move it to the right",
        );
        return;
    }
    ui.horizontal(|ui| {
        let size = (ui.available_width() * 0.5).clamp(120.0, 220.0);
        PhasorDiagram {
            name: "Phasor diagram",
            phasors: &drawn,
            size,
        }
        .show(ui);
        phasor_table_ui(ui, record, cursor, look);
    });
    help(
        ui,
        "Fundamental of the cycle that ends at the cursor (DFT), RMS; voltages thick, currents thin, each on its own scale",
    );
}

fn phasor_table_ui(ui: &mut Ui, record: &FaultRecord, cursor: &CursorMeasures, look: &FaultView) {
    let reference = reference(record, cursor, look);
    let tones = theme::tones(ui);
    Grid::new("phasors").spacing([10.0, 3.0]).show(ui, |ui| {
        for (_, set) in main_sets(record) {
            for (phase, place) in set.signals.iter().enumerate() {
                let scale = record.scale(&record.signals[*place], look.scale);
                ui.label(RichText::new(phase_name(set.quantity, phase)).small());
                match cursor.signals.get(*place).and_then(|s| s.phasor) {
                    Some(phasor) => {
                        let rms = phasor.norm() / 2.0_f64.sqrt() * scale.rms_factor;
                        let text = format!("{} {}", five_digits(rms), scale.unit);
                        ui.label(RichText::new(text).small());
                        let angle = format!("{:.1}°", degrees(phasor, reference));
                        ui.label(RichText::new(angle.replace('-', "−")).small());
                    }
                    None => drop(ui.label(RichText::new("–").small().color(tones.weak))),
                }
                ui.end_row();
            }
        }
    });
}

fn sequences_ui(ui: &mut Ui, record: &FaultRecord, cursor: &CursorMeasures, look: &FaultView) {
    let sets = main_sets(record);
    if sets.is_empty() {
        return;
    }
    section(ui, "Symmetrical components");
    let reference = reference(record, cursor, look);
    let tones = theme::tones(ui);
    wide_grid(ui, "sequences", [12.0, 3.0], |ui| {
        for title in ["", "positive", "negative", "zero", "frequency"] {
            ui.label(RichText::new(title).small().color(tones.weak));
        }
        ui.end_row();
        for (place, set) in sets {
            let measures = cursor.sets.get(place).copied().unwrap_or_default();
            let scale = record.scale(&record.signals[set.signals[0]], look.scale);
            let name = match set.quantity {
                Quantity::Current => "I",
                _ => "V",
            };
            let name = format!("{name} {}", scale.unit);
            ui.label(RichText::new(name).small());
            let Some([zero, positive, negative]) = measures.sequences else {
                ui.label("–");
                ui.end_row();
                continue;
            };
            for part in [positive, negative, zero] {
                let rms = part.norm() / 2.0_f64.sqrt() * scale.rms_factor;
                let angle = degrees(part, reference);
                let text = format!("{}, {angle:.1}°", five_digits(rms)).replace('-', "−");
                let share = percent(part.norm() / positive.norm());
                ui.label(RichText::new(text).small())
                    .on_hover_text(format!("{share} of the positive sequence"));
            }
            let hz = measures.frequency_hz;
            let text = hz.map_or("–".to_owned(), |hz| format!("{hz:.3} Hz"));
            ui.label(RichText::new(text).small()).on_hover_text(
                    "Rotation of the positive sequence over the two cycles before the cursor; – if there is no sine",
                );
            ui.end_row();
        }
    });
}

fn harmonics_ui(ui: &mut Ui, record: &FaultRecord, measures: &FaultMeasures, look: &mut FaultView) {
    let tones = theme::tones(ui);
    let shown = theme::theme_of(ui);
    section(ui, "Harmonics");
    let chosen = record.signals.get(look.signal);
    ui.horizontal(|ui| {
        let label = ui.label("of");
        let combo = ComboBox::from_id_salt("harmonics of")
            .selected_text(chosen.map_or("", |signal| signal.name.as_str()))
            .show_ui(ui, |ui| {
                for (place, signal) in record.signals.iter().enumerate() {
                    let is_it = place == look.signal;
                    if ui.selectable_label(is_it, &signal.name).clicked() {
                        look.signal = place;
                    }
                }
            });
        combo
            .response
            .labelled_by(label.id)
            .on_hover_text("The channel whose harmonics are shown");
        let label = ui.label("up to");
        let mut order = look.highest_order;
        let drag = egui::DragValue::new(&mut order).range(2..=50).speed(0.1);
        if ui
            .add(drag)
            .labelled_by(label.id)
            .on_hover_text("Highest harmonic h, also that of the distortion: default 15, 2 to 50")
            .changed()
        {
            look.highest_order = order;
        }
    });
    let (Some(found), Some(signal)) = (&measures.harmonics, chosen) else {
        help(ui, "No whole cycle ends at this cursor");
        return;
    };
    let first = found.amplitudes.first().copied().unwrap_or(0.0);
    if first <= 0.0 {
        help(ui, "There is no fundamental to compare with");
        return;
    }
    let constant = found.mean.abs() / first;
    let shares: Vec<f64> = std::iter::once(constant)
        .chain(found.amplitudes.iter().map(|amplitude| amplitude / first))
        .collect();
    HarmonicBars {
        name: "Harmonics",
        shares: &shares,
        color: match signal.phase {
            Some(phase) => phase_color(phase, shown),
            None => mix(tones.accent, tones.text, 0.3),
        },
        height: 130.0,
    }
    .show(ui);
    let distortion = found.distortion.map_or("–".to_owned(), percent);
    help(
        ui,
        &format!(
            "Percent of the fundamental; distortion THD {distortion} up to harmonic {} (the sampling rate allows {})",
            found.amplitudes.len(),
            found.highest_order
        ),
    );
}
