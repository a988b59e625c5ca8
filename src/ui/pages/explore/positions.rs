//! Where the electrodes lie: by the 10–20 system where the labels are of it, else by a file or by hand.

use egui::{CollapsingHeader, DragValue, Grid, ScrollArea, Ui};

use crate::ui::elements::{button, help};
use crate::ui::icons::{Icon, icon_button};
use crate::ui::widgets::cached;
use crate::workbench::explore::{EegBrowser, OpenedRecording};
use crate::workbench::{Action, Ask, Draft, PathAsk};
use atomscope_engine::features::electrodes::Scalp;
use atomscope_engine::features::signal_kind::{SignalKind, clean_label, kinds_of};
use atomscope_engine::records::electrode_positions::PlacedElectrode;
use atomscope_engine::session::{change_notes, notes_on};

/// Farthest from the middle of the head that an electrode is placed: the rim is at 1.
const FARTHEST: f64 = 1.5;

/// Channels of brain activity with their places by the 10–20 system, and what was assumed.
#[derive(Clone)]
struct ByLabel {
    channels: Vec<(String, Option<(f64, f64)>)>,
    notes: Vec<String>,
}

impl ByLabel {
    fn of(opened: &OpenedRecording) -> Self {
        let record = &opened.record;
        let kinds = kinds_of(record);
        let channels = record.channels.iter().zip(kinds);
        let names: Vec<&str> = channels
            .filter(|(_, kind)| matches!(kind, SignalKind::Eeg | SignalKind::Other))
            .map(|(channel, _)| channel.name.as_str())
            .collect();
        let scalp = Scalp::of(&names);
        let place = |(k, name): (usize, &&str)| ((*name).to_owned(), scalp.position(k));
        Self {
            channels: names.iter().enumerate().map(place).collect(),
            notes: scalp.notes.clone(),
        }
    }
}

/// The table of names and places, folded away unless maps cannot be drawn without it.
pub(super) fn positions_ui(
    ui: &mut Ui,
    browser: &EegBrowser,
    opened: &OpenedRecording,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    let n_placed = browser.traces().iter().filter(|t| t.position.is_some());
    let is_needed = n_placed.count() < 3;
    CollapsingHeader::new("Positions of electrodes")
        .id_salt("positions of electrodes")
        .default_open(is_needed)
        .show(ui, |ui| {
            let key = std::sync::Arc::as_ptr(&opened.record) as u64;
            let id = ui.scope_id().with("places by label");
            let by_label = cached(ui, id, key, || ByLabel::of(opened));
            let notes = notes_on(&draft.recordings, &opened.name);
            let own = notes.map_or_else(Vec::new, |notes| notes.positions.clone());
            let mut changed = own.clone();
            said_ui(ui, &by_label, &own);
            ui.horizontal(|ui| {
                let what = "Places of .sfp, .elc, .elp, .loc, .locs or BIDS electrodes.tsv, by the names of the channels";
                if button(ui, "From a file…", what) {
                    actions.push(Action::Ask(Ask::Path(PathAsk::ImportPositions)));
                }
                let clear = ui.add_enabled(!own.is_empty(), egui::Button::new("Remove own"));
                let clear = clear
                    .on_hover_text("Uses the positions of the labels alone again; Ctrl+Z undoes it")
                    .on_disabled_hover_text("No position was entered");
                if clear.clicked() {
                    changed.clear();
                }
            });
            table_ui(ui, &by_label, &mut changed);
            if changed != own {
                change_notes(&mut draft.recordings, &opened.name, |notes| {
                    notes.positions = changed;
                });
            }
        });
}

/// How many have a place, from where, and what was assumed.
fn said_ui(ui: &mut Ui, by_label: &ByLabel, own: &[PlacedElectrode]) {
    let is_own = |name: &str| place_of(own, name).is_some();
    let channels = by_label.channels.iter();
    let n_own = channels.clone().filter(|(name, _)| is_own(name)).count();
    let n_known = channels
        .filter(|(name, place)| place.is_some() && !is_own(name))
        .count();
    let n_all = by_label.channels.len();
    help(
        ui,
        &format!(
            "Of {n_all} channels {n_known} lie where the 10–20 system puts their labels, {n_own} where you put them."
        ),
    );
    for note in &by_label.notes {
        help(ui, note);
    }
}

fn place_of(own: &[PlacedElectrode], name: &str) -> Option<(f64, f64)> {
    let place = |name: &str| PlacedElectrode::place_of(own, name);
    place(name).or_else(|| place(clean_label(name)))
}

/// A row for each channel: to the right and to the front of the middle, in radii of the head.
fn table_ui(ui: &mut Ui, by_label: &ByLabel, own: &mut Vec<PlacedElectrode>) {
    let line = ui.spacing().interact_size.y + ui.spacing().item_spacing.y;
    ScrollArea::vertical()
        .id_salt("places of electrodes")
        .max_height(line * 8.0)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            Grid::new("places of electrodes")
                .num_columns(4)
                .striped(true)
                .show(ui, |ui| {
                    for head in ["Channel", "right", "front", ""] {
                        help(ui, head);
                    }
                    ui.end_row();
                    for (name, known) in &by_label.channels {
                        row_ui(ui, name, *known, own);
                        ui.end_row();
                    }
                });
        });
}

fn row_ui(ui: &mut Ui, name: &str, known: Option<(f64, f64)>, own: &mut Vec<PlacedElectrode>) {
    let short = clean_label(name);
    let is_it = |placed: &PlacedElectrode| {
        placed.name.eq_ignore_ascii_case(name) || placed.name.eq_ignore_ascii_case(short)
    };
    ui.label(short).on_hover_text(name);
    let given = place_of(own, name);
    let Some((mut x, mut y)) = given.or(known) else {
        let place = ui.button(format!("Place {short}"));
        let what = "Gives it a place, at first in the middle of the head";
        if place.on_hover_text(what).clicked() {
            own.push(PlacedElectrode {
                name: name.to_owned(),
                x: 0.0,
                y: 0.0,
            });
        }
        return;
    };
    let mut has_changed = false;
    for (value, what) in [(&mut x, "to the right"), (&mut y, "to the front")] {
        let field = DragValue::new(value)
            .range(-FARTHEST..=FARTHEST)
            .speed(0.01)
            .fixed_decimals(2);
        let field = ui.add(field);
        let label = format!("{short} {what}");
        ui.ctx()
            .accesskit_node_builder(field.id, |node| node.set_label(label.as_str()));
        let what = format!(
            "How far {what} of the middle, seen from above: 1 is the rim of the head, negative the other way"
        );
        has_changed |= field.on_hover_text(what).changed();
    }
    if given.is_some() {
        let remove = format!("Remove the place of {short}");
        let button = icon_button(ui, Icon::Close, &remove);
        if button.on_hover_text(&remove).clicked() {
            own.retain(|placed| !is_it(placed));
            return;
        }
    }
    if has_changed {
        own.retain(|placed| !is_it(placed));
        own.push(PlacedElectrode {
            name: name.to_owned(),
            x,
            y,
        });
    }
}
