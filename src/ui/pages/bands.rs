//! The frequency bands of an EEG recipe, each with its name and limits.

use egui::{DragValue, TextEdit, Ui};

use crate::ui::elements::{button, help, section};
use crate::ui::icons::{Icon, icon_button};
use crate::ui::theme;
use atomscope_engine::features::eeg::Band;

/// The bands that a recipe begins with, to return to.
pub(super) struct UsualBands {
    /// What they are called.
    pub(super) name: &'static str,
    /// What they are.
    pub(super) help: &'static str,
    /// They themselves.
    pub(super) bands: Vec<Band>,
}

/// The bands, one below the other; they can be renamed, moved, removed and added.
pub(super) fn bands_editor_ui(ui: &mut Ui, bands: &mut Vec<Band>, text: &str, usual: UsualBands) {
    section(ui, "Bands");
    help(ui, text);
    let mut dropped = None;
    let n_bands = bands.len();
    for (place, band) in bands.iter_mut().enumerate() {
        ui.horizontal(|ui| {
            band_ui(ui, place, band);
            let name = format!("Remove band {}", place + 1);
            let button = ui.add_enabled_ui(n_bands > 1, |ui| icon_button(ui, Icon::Close, &name));
            if button.inner.on_hover_text(&name).clicked() {
                dropped = Some(place);
            }
        });
    }
    if let Some(place) = dropped {
        bands.remove(place);
    }
    ui.horizontal(|ui| {
        if button(ui, "Add a band", "A band above the last one") {
            bands.push(next_band(bands));
        }
        let reset = ui.add_enabled(*bands != usual.bands, egui::Button::new(usual.name));
        if reset
            .on_hover_text(usual.help)
            .on_disabled_hover_text(usual.help)
            .clicked()
        {
            *bands = usual.bands;
        }
    });
}

fn band_ui(ui: &mut Ui, place: usize, band: &mut Band) {
    let number = place + 1;
    let width = theme::body_font(ui).size * 7.0;
    let name = ui.add(TextEdit::singleline(&mut band.name).desired_width(width));
    let label = format!("Name of band {number}");
    ui.ctx()
        .accesskit_node_builder(name.id, |node| node.set_label(label));
    name.on_hover_text("What the band is called; part of the names of its features");
    let limits = [
        ("Lower limit", "from ", &mut band.low_hz, 0.0),
        ("Upper limit", "to ", &mut band.high_hz, 0.5),
    ];
    for (what, word, value, least) in limits {
        let field = DragValue::new(value)
            .speed(0.25)
            .range(least..=10_000.0)
            .prefix(word)
            .suffix(" Hz");
        let response = ui.add(field);
        let label = format!("{what} of band {number}");
        ui.ctx()
            .accesskit_node_builder(response.id, |node| node.set_label(label));
        let text = format!("{what} of the band; sensible 0 to half the sampling rate");
        response.on_hover_text(text);
    }
}

/// A band that begins where the highest one ends.
fn next_band(bands: &[Band]) -> Band {
    let low_hz = bands.iter().map(|band| band.high_hz).fold(0.0, f64::max);
    Band {
        name: format!("band {}", bands.len() + 1),
        low_hz,
        high_hz: low_hz + 4.0,
    }
}
