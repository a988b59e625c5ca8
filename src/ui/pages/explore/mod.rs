//! The Explore page: one recording shown by itself, as an EEG or as a fault record.

mod annotations;
mod channels;
mod decision;
mod eeg;
mod fault;
mod fault_beside;
mod fault_choices;
mod fault_impedance;
mod fault_list;
mod fault_panel;
mod fault_tools;
mod header;
mod hypnogram;
mod maps;
mod marking;
mod montages;
mod positions;
mod ribbon;
mod scores;
mod spectrum;
mod toolbar;
mod traces;
mod trends;

use std::path::Path;

use egui::{Rect, RichText, Ui};

use crate::ui::app::Typing;
use crate::ui::elements::{self, button, page_title};
use crate::ui::theme;
use crate::ui::widgets::empty_state;
use crate::workbench::explore::{ExploreAction, OpenedRecording, Viewer, last_part};
use crate::workbench::{Action, Ask, Draft, PathAsk, Workbench};
use atomscope_engine::records::{Record, counted};
use atomscope_engine::session::GivenChannels;

/// Less room than this many letters is no room for the facts of a recording.
const FACTS_EM: f32 = 12.0;
/// Arrays offered of a file that holds several.
const MOST_ARRAYS: usize = 12;
/// Recordings offered of those that the session has notes on.
const MOST_NOTED: usize = 12;

/// Whether something stands beside the recording.
pub(in crate::ui) fn explore_has_columns(workbench: &Workbench) -> bool {
    let explore = workbench.explore();
    let has_segment = explore.ribbon().selected().is_some();
    let mut opened = explore.opened().into_iter();
    !workbench.is_folded() && opened.any(|opened| opened.viewer == Viewer::Fault || has_segment)
}

/// The Explore page.
pub(in crate::ui) fn explore_page_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    draft: &mut Draft,
    typing: &mut Typing,
    actions: &mut Vec<Action>,
) {
    let explore = workbench.explore();
    if explore.fault().shows_list() {
        page_title(ui, "Explore", "fault records as a list");
        fault_list::fault_list_ui(ui, workbench, actions);
        return;
    }
    let Some(opened) = explore.opened() else {
        page_title(ui, "Explore", "recordings and fault records by themselves");
        nothing_open_ui(ui, workbench, actions);
        return;
    };
    if workbench.is_folded() {
        viewer_ui(ui, workbench, opened, draft, typing, actions);
        return;
    }
    head_ui(ui, workbench, opened, actions);
    // An EEG has its tools above both the traces and the explained segment.
    if explore.ribbon().selected().is_none() || opened.viewer == Viewer::Eeg {
        viewer_ui(ui, workbench, opened, draft, typing, actions);
        return;
    }
    let (left, right) = beside_segment(ui);
    elements::column(ui, left, "explored", |ui| {
        viewer_ui(ui, workbench, opened, draft, typing, actions);
    });
    segment_ui(ui, right, workbench, opened, actions);
}

/// Room for the recording, and at its right for the selected segment.
fn beside_segment(ui: &Ui) -> (Rect, Rect) {
    let width = ui.available_width();
    let panel = (theme::body_font(ui).size * 30.0).min(width * 0.45);
    elements::two_columns(ui, width - panel - theme::PANEL_GAP)
}

/// The selected segment is explained beside its recording.
fn segment_ui(
    ui: &mut Ui,
    place: Rect,
    workbench: &Workbench,
    opened: &OpenedRecording,
    actions: &mut Vec<Action>,
) {
    elements::scrolling_column(ui, place, "segment", |ui| {
        decision::decision_ui(ui, workbench, opened, actions);
    });
}

/// The recording in the viewer that fits it.
fn viewer_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    opened: &OpenedRecording,
    draft: &mut Draft,
    typing: &mut Typing,
    actions: &mut Vec<Action>,
) {
    let wants_measures = workbench.explore().ribbon().selected().is_none();
    match opened.viewer {
        Viewer::Eeg => eeg::eeg_ui(ui, workbench, opened, draft, typing, actions),
        Viewer::Fault => fault::fault_ui(ui, workbench, opened, wants_measures, draft, actions),
    }
}

/// What belongs here, and the ways to get it.
fn nothing_open_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    if workbench.explore().opening_share().is_some() {
        if empty_state(ui, "Opening the recording", Some("Cancel")) {
            actions.push(Action::Explore(ExploreAction::CancelOpening));
        }
        return;
    }
    if let Some(error) = workbench.explore().error() {
        elements::wrong(ui, error);
    }
    refused_ui(ui, workbench, actions);
    ui.horizontal(|ui| fault_list::list_buttons_ui(ui, workbench, actions));
    let text = "EEG recordings and fault records are shown here. Choose one on the Records page, or open a file; the data of the session do not change.";
    if empty_state(ui, text, Some("Open a recording…")) {
        actions.push(Action::Ask(Ask::Path(PathAsk::OpenRecording)));
    }
    noted_ui(ui, workbench, actions);
    recent_ui(ui, workbench, actions);
}

/// Files that the session keeps annotations, scores or settings of; they are not among its data.
fn noted_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let noted = workbench.draft().recordings.iter();
    let paths = noted.map(|notes| Path::new(&notes.recording));
    let mut files = paths.filter(|path| path.is_absolute()).peekable();
    if files.peek().is_none() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.label("Noted in this session");
        for path in files.take(MOST_NOTED) {
            let name = path.display().to_string();
            if button(ui, last_part(&name), &name) {
                let open = ExploreAction::OpenFile(path.to_path_buf());
                actions.push(Action::Explore(open));
            }
        }
    });
}

/// Which recording it is, another one of the data, and a file.
fn head_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    opened: &OpenedRecording,
    actions: &mut Vec<Action>,
) {
    let tones = theme::tones(ui);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Explore").heading().color(tones.strong));
        ui.add_space(theme::GRID);
        records_ui(ui, workbench, opened, actions);
        let open = ui.button("Open a recording…");
        if open
            .on_hover_text("Another file to show; the data of the session do not change")
            .clicked()
        {
            actions.push(Action::Ask(Ask::Path(PathAsk::OpenRecording)));
        }
        recent_ui(ui, workbench, actions);
        if opened.viewer == Viewer::Eeg {
            let what = "Saves the traces of the page as PNG, SVG, or a sheet to print (HTML, PDF)";
            if button(ui, "Picture…", what) {
                actions.push(Action::Ask(Ask::Path(PathAsk::ExportPage)));
            }
        }
        if workbench.explore().opening_share().is_some() {
            ui.spinner();
            if button(ui, "Cancel", "The open record is kept") {
                actions.push(Action::Explore(ExploreAction::CancelOpening));
            }
        }
        if ui.available_size_before_wrap().x < theme::body_font(ui).size * FACTS_EM {
            ui.end_row();
        }
        let facts = RichText::new(facts(opened)).color(tones.weak);
        ui.add(egui::Label::new(facts).truncate());
    });
    if let Some(error) = workbench.explore().error() {
        elements::wrong(ui, error);
    }
    refused_ui(ui, workbench, actions);
}

/// The arrays of a file that holds several: the one chosen is opened at once.
fn refused_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let Some(refused) = workbench.explore().refused() else {
        return;
    };
    ui.horizontal_wrapped(|ui| {
        ui.label("The recording is");
        for array in refused.arrays.iter().take(MOST_ARRAYS) {
            let [rows, columns] = array.shape[..] else {
                continue;
            };
            let button = ui.button(format!("{} ({rows} × {columns})", array.name));
            let what = "Opens it with the shorter side as channels; rate, unit and names can be given then";
            if button.on_hover_text(what).clicked() {
                let given = GivenChannels {
                    array: Some(array.name.clone()),
                    ..GivenChannels::default()
                };
                let open = ExploreAction::OpenArray(refused.path.clone(), given);
                actions.push(Action::Explore(open));
            }
        }
        let n_more = refused.arrays.len().saturating_sub(MOST_ARRAYS);
        if n_more > 0 {
            ui.label(format!("and {n_more} more, which atomscope info lists"));
        }
    });
}

/// Recordings explored last.
fn recent_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let recent = &workbench.settings().recent_recordings;
    if recent.is_empty() {
        return;
    }
    let menu = ui.menu_button("Recent", |ui| {
        for path in recent {
            let name = path.display().to_string();
            if button(ui, last_part(&name), &name) {
                actions.push(Action::Explore(ExploreAction::OpenFile(path.clone())));
                ui.close();
            }
        }
    });
    menu.response.on_hover_text("Recordings explored last");
}

/// The records of the session with steps to the one before and after.
fn records_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    opened: &OpenedRecording,
    actions: &mut Vec<Action>,
) {
    let records = workbench.data().loaded().map(|loaded| &loaded.records);
    let (Some(source), Some(records)) = (opened.source, records) else {
        let name = RichText::new(opened.short_name()).color(theme::tones(ui).strong);
        ui.label(name).on_hover_text(&opened.name);
        return;
    };
    let open = |source: usize| {
        Action::Explore(ExploreAction::OpenRecord {
            source,
            stretch: None,
        })
    };
    let shown = egui::ComboBox::from_id_salt("explored record")
        .selected_text(opened.short_name())
        .width(theme::body_font(ui).size * 16.0)
        .show_ui(ui, |ui| {
            // All names of a large data set would be laid out in every frame.
            let first = source.saturating_sub(100);
            for (place, row) in records.iter().enumerate().skip(first).take(200) {
                let is_it = place == source;
                if ui.selectable_label(is_it, &row.name).clicked() && !is_it {
                    actions.push(open(place));
                }
            }
        });
    ui.ctx()
        .accesskit_node_builder(shown.response.id, |node| node.set_label("Record"));
    shown.response.on_hover_text(&opened.name);
    let steps = [
        ("Previous record", source.checked_sub(1)),
        (
            "Next record",
            Some(source + 1).filter(|next| *next < records.len()),
        ),
    ];
    for (name, target) in steps {
        let button = ui
            .add_enabled(target.is_some(), egui::Button::new(name))
            .on_hover_text("In the order of the Records page")
            .on_disabled_hover_text("There is no further record on the Records page");
        if let Some(target) = target
            && button.clicked()
        {
            actions.push(open(target));
        }
    }
}

/// Format, channels, length and start in one line.
fn facts(opened: &OpenedRecording) -> String {
    let record = &opened.record;
    let mut facts = vec![record.format.to_string(), channels_text(record)];
    if let Some(duration_s) = record.duration_s() {
        facts.push(match duration_s {
            short if short < 10.0 => format!("{short:.3} s"),
            long => crate::ui::numbers::clock(long),
        });
    }
    facts.extend(record.start.map(|start| {
        let (hour, minute, second) = (start.hour, start.minute, start.second);
        let date = format!("{:04}-{:02}-{:02}", start.year, start.month, start.day);
        format!("{date} {hour:02}:{minute:02}:{second:02}")
    }));
    facts.join(" · ")
}

/// How many channels of which rate: "139 channels, 126 at 512 Hz, 13 at 1 Hz".
fn channels_text(record: &Record) -> String {
    let channels = counted(record.channels.len(), "channel");
    // Six digits tell any rate; a rate that was worked out has more.
    let rates = record.channels.iter().filter_map(|channel| channel.rate_hz);
    let mut counts: Vec<(f64, usize)> = Vec::new();
    for rate_hz in rates.map(|rate_hz| (rate_hz * 1e3).round() / 1e3) {
        match counts.iter_mut().find(|(known, _)| *known == rate_hz) {
            Some((_, count)) => *count += 1,
            None => counts.push((rate_hz, 1)),
        }
    }
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(b.0.total_cmp(&a.0)));
    match counts[..] {
        [] => channels,
        [(rate_hz, count)] if count == record.channels.len() => {
            format!("{channels} at {rate_hz} Hz")
        }
        _ => {
            let parts = counts
                .iter()
                .map(|(hz, count)| format!("{count} at {hz} Hz"));
            let parts: Vec<String> = parts.collect();
            format!("{channels}, {}", parts.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atomscope_engine::records::{Channel, Format, Kind, Unit};

    #[test]
    fn channels_are_counted_by_their_rates() {
        let of = |counts: &[(usize, f64)]| {
            let data = counts.iter().flat_map(|&(count, hz)| {
                let channel = Channel::analog("x", Unit::parse("µV"), Some(hz), 0);
                std::iter::repeat_n((channel, Vec::new()), count)
            });
            let data = data.collect();
            channels_text(&Record::in_memory(Format::Edf, Kind::Recording, "r", data))
        };
        assert_eq!(
            of(&[(13, 1.0), (126, 512.0)]),
            "139 channels, 126 at 512 Hz, 13 at 1 Hz"
        );
        assert_eq!(of(&[(1, 250.0)]), "1 channel at 250 Hz");
        assert_eq!(of(&[]), "0 channels");
    }
}
