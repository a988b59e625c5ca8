//! What the file says of itself beside the traces: patient, recording, start, and the fields of every channel.

use egui::{Grid, RichText, ScrollArea, Ui};

use super::channels_text;
use crate::ui::elements::{button, help, section};
use crate::ui::numbers::{clock, short};
use crate::ui::theme;
use crate::workbench::explore::OpenedRecording;
use crate::workbench::{Action, Ask, PathAsk};
use atomscope_engine::features::signal_kind::kind_of;
use atomscope_engine::records::{Channel, Record, counted};

/// Names of the columns, with the width of each in letters.
const COLUMNS: [(&str, f32); 7] = [
    ("Channel", 14.0),
    ("Kind", 9.0),
    ("Rate", 8.0),
    ("Physical range", 22.0),
    ("Digital range", 18.0),
    ("Transducer", 20.0),
    ("Prefilter", 30.0),
];

/// The header of the recording.
pub(super) fn header_ui(ui: &mut Ui, opened: &OpenedRecording, actions: &mut Vec<Action>) {
    let record = &opened.record;
    ui.horizontal(|ui| {
        section(ui, "Header");
        let what = "The whole recording with these fields, the annotations of the file and your own; anonymised if you like";
        if button(ui, "Write as EDF+…", what) {
            actions.push(Action::Ask(Ask::Path(PathAsk::ExportRecording { anonymises: false })));
        }
    });
    let width = ui.available_width();
    Grid::new("fields of the recording")
        .num_columns(2)
        .spacing([12.0, 2.0])
        .min_row_height(theme::body_font(ui).size * 1.4)
        .max_col_width(width)
        .show(ui, |ui| {
            for (name, value) in fields(record) {
                help(ui, name);
                ui.add(egui::Label::new(&value).wrap());
                ui.end_row();
            }
        });
    ui.add_space(theme::GRID);
    channels_table_ui(ui, record);
}

fn fields(record: &Record) -> Vec<(&'static str, String)> {
    let given = |text: &str| match text {
        "" => "not given".to_owned(),
        text => text.to_owned(),
    };
    let start = record.start.map(|start| start.to_string());
    vec![
        ("Format", record.format.to_string()),
        ("Patient", given(&record.identity.patient)),
        ("Recording", given(&record.identity.recording)),
        ("Start", given(&start.unwrap_or_default())),
        (
            "Length",
            record.duration_s().map_or("unknown".to_owned(), clock),
        ),
        ("Channels", channels_text(record)),
        ("Annotations", record.annotations.len().to_string()),
        ("Gaps", counted(record.gaps.len(), "gap")),
    ]
}

fn channels_table_ui(ui: &mut Ui, record: &Record) {
    let line = theme::small_font(ui).size * 1.6;
    let em = theme::small_font(ui).size;
    ScrollArea::horizontal()
        .id_salt("fields of the channels")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            cells_ui(ui, &COLUMNS.map(|(name, _)| name.to_owned()), em, true);
            ScrollArea::vertical()
                .id_salt("rows of the channels")
                .auto_shrink([false, false])
                .show_rows(ui, line, record.channels.len(), |ui, range| {
                    for place in range {
                        let texts = cells(record, place, &record.channels[place]);
                        cells_ui(ui, &texts, em, false);
                    }
                });
        });
}

fn cells(record: &Record, place: usize, channel: &Channel) -> [String; COLUMNS.len()] {
    let (physical, digital) = match record.quantisation(place) {
        Some(q) => (
            format!(
                "{} to {} {}",
                short(q.physical_min),
                short(q.physical_max),
                channel.unit.symbol
            ),
            format!("{} to {}", q.digital_min, q.digital_max),
        ),
        None => (channel.unit.symbol.clone(), "–".to_owned()),
    };
    let rate = channel.rate_hz.map_or("–".to_owned(), |hz| {
        format!("{} Hz", (hz * 1e3).round() / 1e3)
    });
    [
        channel.name.clone(),
        kind_of(channel).name().to_owned(),
        rate,
        physical,
        digital,
        channel.sensor.transducer.clone(),
        channel.sensor.prefilter.clone(),
    ]
}

fn cells_ui(ui: &mut Ui, texts: &[String; COLUMNS.len()], em: f32, is_head: bool) {
    let tones = theme::tones(ui);
    let color = if is_head { tones.weak } else { tones.text };
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = em * 0.5;
        ui.spacing_mut().interact_size.y = em * 1.3;
        for (text, (_, letters)) in texts.iter().zip(COLUMNS) {
            let size = egui::vec2(letters * em * 0.62, em * 1.3);
            let label = egui::Label::new(RichText::new(text).small().color(color)).truncate();
            ui.allocate_ui_with_layout(
                size,
                egui::Layout::left_to_right(egui::Align::Center),
                |ui| {
                    ui.set_min_width(size.x);
                    ui.add(label);
                },
            );
        }
    });
}
