//! Band power over the head beside the traces, compared with another recording or between classes.

use egui::{ComboBox, ScrollArea, Ui};

use super::positions::positions_ui;
use crate::ui::elements::{button, help, section};
use crate::ui::numbers::cut;
use crate::ui::theme;
use crate::ui::widgets::ScalpMap;
use crate::workbench::explore::{
    BANDS, BandMaps, EegBrowser, EegView, MapComparison, OpenedRecording, last_part,
};
use crate::workbench::{Action, Ask, Draft, PathAsk, RecordRow, Workbench};
use atomscope_engine::records::counted;

/// Classes and records that are listed to compare with.
const MOST_CLASSES: usize = 16;
const MOST_RECORDS: usize = 200;

/// Maps of all bands; with a comparison, both sides on one scale and their difference.
pub(super) fn maps_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    opened: &OpenedRecording,
    view: &mut EegView,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    let Some(browser) = workbench.explore().eeg() else {
        return;
    };
    section(ui, "Band power over the head");
    positions_ui(ui, browser, opened, draft, actions);
    comparison_ui(ui, workbench, browser, view, actions);
    let shares_id = ui.scope_id().with("maps show shares");
    let mut shows_shares = ui.data(|data| data.get_temp(shares_id).unwrap_or(false));
    let shares = ui.checkbox(&mut shows_shares, "Share of 1–45 Hz");
    if shares
        .on_hover_text("Relative power: the part of each band in all bands together, instead of µV². Default off.")
        .changed()
    {
        ui.data_mut(|data| data.insert_temp(shares_id, shows_shares));
    }
    let shared = |maps: BandMaps| if shows_shares { maps.as_shares() } else { maps };
    let Some(selection) = browser.maps() else {
        help(ui, "being computed");
        return;
    };
    let mut sides = vec![selection];
    if let Some(compared) = browser.compared() {
        if let Some(first) = &compared.first {
            sides[0] = first.clone();
        }
        sides.push(compared.second.clone());
    }
    let sides: Vec<BandMaps> = sides.into_iter().map(shared).collect();
    if sides.iter().any(|side| side.names.len() < 3) {
        help(
            ui,
            "Maps need at least three electrodes with a place: by labels of the 10–20 or 10–10 system such as Fp1 or Cz, by a file, or by hand above",
        );
        return;
    }
    for side in &sides {
        let n = side.n_recordings;
        let of = if n > 1 {
            format!(", mean of {n} recordings")
        } else {
            String::new()
        };
        help(
            ui,
            &format!(
                "{}: {}{of}",
                side.title,
                counted(side.names.len(), "electrode")
            ),
        );
    }
    ScrollArea::vertical()
        .id_salt("maps")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            for (band, (name, low_hz, high_hz)) in BANDS.into_iter().enumerate() {
                ui.label(format!("{name}, {low_hz}–{high_hz} Hz"));
                band_ui(ui, &sides, band);
            }
        });
}

/// One band: each side on a common scale, then the first minus the second.
fn band_ui(ui: &mut Ui, sides: &[BandMaps], band: usize) {
    let n_maps = if sides.len() > 1 { 3 } else { 1 };
    let bar = theme::small_font(ui).size * 4.5;
    let room = (ui.available_width() - 16.0) / n_maps as f32 - bar - 8.0;
    let size = room.clamp(60.0, 150.0);
    let scale = sides
        .iter()
        .map(|side| side.largest(band))
        .fold(0.0, f64::max);
    ui.horizontal(|ui| {
        for side in sides {
            map_ui(ui, side, band, scale, false, size);
        }
        if let [first, second] = sides {
            let difference = first.minus(second);
            let scale = difference.largest(band);
            map_ui(ui, &difference, band, scale, true, size);
        }
    });
}

fn map_ui(ui: &mut Ui, maps: &BandMaps, band: usize, scale: f64, signed: bool, size: f32) {
    let values: Vec<f64> = maps.powers.iter().map(|powers| powers[band]).collect();
    let unit = match maps.unit.as_str() {
        "share" | "" => maps.unit.clone(),
        unit => format!("{unit}²"),
    };
    let title = cut(&maps.title, 18);
    ScalpMap {
        title: &title,
        positions: &maps.positions,
        names: &maps.names,
        values: &values,
        scale: scale.max(f64::MIN_POSITIVE),
        signed,
        unit: &unit,
        size,
    }
    .show(ui);
}

/// What stands beside the selection.
fn comparison_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    browser: &EegBrowser,
    view: &mut EegView,
    actions: &mut Vec<Action>,
) {
    let loaded = workbench.data().loaded();
    let is_of_signals = workbench.n_explorable() > 0;
    let loaded = loaded.filter(|_| is_of_signals);
    let classes = loaded.map_or(&[][..], |loaded| loaded.dataset.class_names());
    let records = loaded.map_or(&[][..], |loaded| &loaded.records);
    let current = match &view.comparison {
        None => "nothing".to_owned(),
        Some(MapComparison::Record(source)) => record_name(records, *source),
        Some(MapComparison::Classes(a, b)) => class_pair(classes, *a, *b),
        Some(MapComparison::File(path)) => last_part(&path.to_string_lossy()).to_owned(),
    };
    ui.horizontal_wrapped(|ui| {
        let label = ui.label("Compare with");
        let shown = ComboBox::from_id_salt("compared with")
            .selected_text(cut(&current, 20))
            .width(theme::body_font(ui).size * 9.0)
            .show_ui(ui, |ui| {
                let mut choose = |ui: &mut Ui, text: &str, wanted: Option<MapComparison>| {
                    let is_it = view.comparison == wanted;
                    if ui.selectable_label(is_it, text).clicked() {
                        view.comparison = wanted;
                    }
                };
                choose(ui, "nothing", None);
                let n_classes = classes.len().min(MOST_CLASSES);
                for a in 0..n_classes {
                    for b in a + 1..n_classes {
                        let pair = Some(MapComparison::Classes(a, b));
                        choose(ui, &class_pair(classes, a, b), pair);
                    }
                }
                for source in 0..records.len().min(MOST_RECORDS) {
                    let record = Some(MapComparison::Record(source));
                    choose(ui, &record_name(records, source), record);
                }
                if records.len() > MOST_RECORDS {
                    let n_more = records.len() - MOST_RECORDS;
                    help(ui, &format!("and {n_more} more: open them by A file…"));
                }
            });
        shown.response.labelled_by(label.id).on_hover_text(
            "Another record of the data (its first two minutes), or the means of two classes (up to 12 recordings each); one colour scale for both. Default: none.",
        );
        let text = "Any other recording, its first two minutes; the data of the session stay as they are";
        if button(ui, "A file…", text) {
            actions.push(Action::Ask(Ask::Path(PathAsk::CompareMaps)));
        }
    });
    let needs_data = !matches!(view.comparison, Some(MapComparison::File(_)));
    if view.comparison.is_some() && browser.compared().is_none() {
        let text = match browser.compared_share() {
            Some(share) => format!("reading the other side, {:.0} %", share * 100.0),
            None if browser.problem().is_some() => return,
            None if needs_data && loaded.is_none() => "the data are not loaded".to_owned(),
            None => "reading the other side".to_owned(),
        };
        help(ui, &text);
    }
}

fn record_name(records: &[RecordRow], source: usize) -> String {
    let name = records.get(source).map_or("", |row| row.name.as_str());
    last_part(name).to_owned()
}

fn class_pair(classes: &[String], a: usize, b: usize) -> String {
    let name = |class: usize| classes.get(class).map_or("", String::as_str);
    format!("class {} and {}", name(a), name(b))
}
