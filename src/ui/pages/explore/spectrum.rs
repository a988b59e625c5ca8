//! The spectrum of the selection beside the traces.

use std::collections::HashSet;

use egui::{Grid, Ui};

use crate::ui::elements::{help, section};
use crate::ui::numbers::short;
use crate::ui::widgets::{SpectrumLine, SpectrumPlot};
use crate::workbench::explore::{BANDS, EegBrowser, EegView, TraceSource};

/// A band needs this many periods of its lower edge in the selection.
const LEAST_PERIODS: f64 = 2.0;

/// Spectra of the traces of the chosen one's kind, and its bands.
pub(super) fn spectrum_ui(ui: &mut Ui, browser: &EegBrowser, view: &mut EegView) {
    ui.horizontal(|ui| {
        section(ui, "Spectrum");
        ui.checkbox(&mut view.spectrum_in_db, "Logarithmic")
            .on_hover_text("Density in decibels; off: density itself, from zero. Default on.");
    });
    let (start_s, end_s) = view.selection();
    let what = if view.cursors.is_some() {
        "selection"
    } else {
        "page"
    };
    help(
        ui,
        &format!(
            "of the {what}, {start_s:.1} to {end_s:.1} s; Welch, Hann segments of at most 2 s; montage as shown, without display filters"
        ),
    );
    if let Some(share) = browser.spectra_share() {
        help(ui, &format!("being computed, {:.0} %", share * 100.0));
    }
    let Some(spectra) = browser.spectra() else {
        return;
    };
    let chosen = browser.chosen().map(|trace| trace.name.as_str());
    // Signals of other kinds and units have other heights.
    let is_alike = |trace: &&TraceSource| {
        let chosen = browser.chosen();
        chosen.is_none_or(|own| own.kind == trace.kind && own.unit == trace.unit)
    };
    let alike: HashSet<&str> = browser
        .traces()
        .iter()
        .filter(is_alike)
        .map(|trace| trace.name.as_str())
        .collect();
    let lines: Vec<SpectrumLine<'_>> = spectra
        .iter()
        .filter(|own| !own.density.is_empty() && alike.contains(own.name.as_str()))
        .map(|own| SpectrumLine {
            name: &own.name,
            density: &own.density,
            resolution_hz: own.resolution_hz,
            is_chosen: chosen == Some(own.name.as_str()),
        })
        .collect();
    let reach_hz = |line: &SpectrumLine<'_>| line.density.len() as f64 * line.resolution_hz;
    // Up to half the rate of the fastest trace.
    let highest_hz = lines.iter().map(reach_hz).fold(0.0, f64::max);
    let mut edges_hz: Vec<f64> = BANDS.iter().map(|(_, low_hz, _)| *low_hz).collect();
    edges_hz.push(BANDS[BANDS.len() - 1].2);
    SpectrumPlot {
        lines: &lines,
        highest_hz: highest_hz.max(1.0),
        edges_hz: &edges_hz,
        is_in_db: view.spectrum_in_db,
        height: 210.0,
    }
    .show(ui);
    let Some(own) = spectra.iter().find(|own| chosen == Some(own.name.as_str())) else {
        return;
    };
    let scale = if view.spectrum_in_db { "dB of " } else { "" };
    let unit = match own.unit.as_str() {
        "" => "unit",
        unit => unit,
    };
    let text =
        format!("{scale}{unit}²/Hz up to half the rate; hairlines are the edges of the bands");
    help(ui, &text);
    section(ui, &own.name);
    let peak = own
        .peak_hz()
        .map_or("–".to_owned(), |hz| format!("{hz:.1} Hz"));
    ui.label(format!("highest at {peak}"));
    let powers = own.band_powers();
    let all: f64 = powers.iter().sum();
    Grid::new("bands of the chosen trace")
        .num_columns(4)
        .striped(true)
        .show(ui, |ui| {
            for ((name, low_hz, high_hz), power) in BANDS.into_iter().zip(powers) {
                ui.label(name);
                help(ui, &format!("{low_hz}–{high_hz} Hz"));
                let nyquist_hz = own.density.len() as f64 * own.resolution_hz;
                let needed_s = LEAST_PERIODS / low_hz;
                if end_s - start_s < needed_s * 0.999 {
                    help(
                        ui,
                        &format!("selection too short: needs {} s", short(needed_s)),
                    );
                } else if low_hz >= nyquist_hz {
                    help(ui, "above half the rate");
                } else {
                    ui.label(format!("{} {unit}²", short(power)));
                    ui.label(crate::ui::numbers::percent(
                        power / all.max(f64::MIN_POSITIVE),
                    ));
                }
                ui.end_row();
            }
        });
    help(ui, "Choose another trace by clicking it");
}
