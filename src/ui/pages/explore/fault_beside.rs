//! Two records of one event: how the second is laid along the first, its values at the cursors, differential currents.

use egui::{DragValue, Grid, RichText, Ui};

use super::fault::CURSORS;
use crate::ui::elements::{help, section};
use crate::ui::numbers::{cut, five_digits};
use crate::workbench::Workbench;
use crate::workbench::explore::{Alignment, FaultRecord, FaultView};

/// How the record beside is laid along this one.
pub(super) fn alignment_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    record: &FaultRecord,
    look: &mut FaultView,
) {
    let Some(beside) = workbench.explore().fault().beside() else {
        return;
    };
    let axis = ui.selectable_label(look.is_overlaid, "One axis");
    let text = "Lays the phases of the second record on those of the first, resampled at its samples, with the sums of the currents of both ends; else it stands below";
    if axis.on_hover_text(text).clicked() {
        look.is_overlaid = !look.is_overlaid;
    }
    let shift_s = look.alignment.shift_s(record, beside);
    let has_clocks = record.start.is_some() && beside.start.is_some();
    let choices = [
        (
            Alignment::Inception,
            "Inceptions",
            "Inception on inception. Default.",
            true,
        ),
        (
            Alignment::Clock,
            "Clocks",
            "By the start times of the two recorders; both must state one",
            has_clocks,
        ),
        (
            Alignment::ByHand(shift_s),
            "By hand",
            "By the shift that you enter",
            true,
        ),
    ];
    for (alignment, name, text, can) in choices {
        let is_it = std::mem::discriminant(&alignment) == std::mem::discriminant(&look.alignment);
        let chip = ui.add_enabled(can, egui::Button::selectable(is_it, name));
        let chip = chip.on_hover_text(text).on_disabled_hover_text(text);
        if chip.clicked() {
            look.alignment = alignment;
        }
    }
    let mut shift_ms = shift_s * 1e3;
    let label = ui.label("shift");
    // What is typed counts when it is complete: kept in seconds, it may come back rounded, which ends the typing.
    let field = DragValue::new(&mut shift_ms)
        .update_while_editing(false)
        .speed(0.1)
        .max_decimals(4)
        .suffix(" ms");
    let field = ui.add(field).labelled_by(label.id);
    let text = "How much later the second record shows the same moment on its own time axis; changing it aligns by hand";
    if field.on_hover_text(text).changed() {
        look.alignment = Alignment::ByHand(shift_ms / 1e3);
    }
}

/// Values of the second record at the cursors, and what flows between both ends.
pub(super) fn beside_ui(ui: &mut Ui, record: &FaultRecord, beside: &FaultRecord, look: &FaultView) {
    let shift_s = look.alignment.shift_s(record, beside);
    section(ui, "Second record at the cursors");
    Grid::new("values beside")
        .num_columns(4)
        .spacing([10.0, 2.0])
        .show(ui, |ui| {
            for title in ["", CURSORS[0], CURSORS[1], ""] {
                ui.label(RichText::new(title).small());
            }
            ui.end_row();
            for signal in beside.sets.iter().take(2).flat_map(|set| set.signals) {
                let signal = &beside.signals[signal];
                let scale = beside.scale(signal, look.scale);
                ui.label(RichText::new(cut(&signal.name, 12)).small())
                    .on_hover_text(&signal.name);
                for cursor_s in look.cursors_s {
                    let value = signal.sampled().points(cursor_s + shift_s, 0.0, 1);
                    let value = value.and_then(|one| one.first().copied());
                    let text = value
                        .filter(|value| value.is_finite())
                        .map_or("–".to_owned(), |value| five_digits(value * scale.factor));
                    ui.label(RichText::new(text).small());
                }
                ui.label(RichText::new(scale.unit).small());
                ui.end_row();
            }
        });
    differential_ui(ui, record, beside, look, shift_s);
}

/// |I near + I far| and (|I near| + |I far|)/2 of each phase over the cycle that ends at the active cursor.
fn differential_ui(
    ui: &mut Ui,
    record: &FaultRecord,
    beside: &FaultRecord,
    look: &FaultView,
    shift_s: f64,
) {
    let (Some(near), Some(far)) = (&record.analysis, &beside.analysis) else {
        return;
    };
    let at_s = look.cursors_s[look.active.min(1)];
    let ends = near
        .signals
        .phasors_at(at_s, near.frequency_hz)
        .zip(far.signals.phasors_at(at_s + shift_s, near.frequency_hz));
    section(
        ui,
        &format!("Differential currents at {}", CURSORS[look.active.min(1)]),
    );
    let Some((near, far)) = ends else {
        help(ui, "No whole cycle of both records ends at this cursor");
        return;
    };
    Grid::new("differential")
        .num_columns(3)
        .spacing([12.0, 2.0])
        .show(ui, |ui| {
            for title in ["", "differential", "restraint"] {
                ui.label(RichText::new(title).small());
            }
            ui.end_row();
            for (phase, letter) in ["A", "B", "C"].into_iter().enumerate() {
                let (a, b) = (near[3 + phase], far[3 + phase]);
                let rms = 1.0 / 2.0_f64.sqrt();
                ui.label(RichText::new(letter).small());
                for ampere in [(a + b).norm() * rms, (a.norm() + b.norm()) / 2.0 * rms] {
                    ui.label(RichText::new(format!("{} A", five_digits(ampere))).small());
                }
                ui.end_row();
            }
        });
    help(
        ui,
        "RMS of the sum of both ends and mean of their sizes, currents positive into the line at each end, over the cycle that ends at the cursor",
    );
}
