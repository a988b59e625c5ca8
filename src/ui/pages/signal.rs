//! A stretch of a record as waveforms: three-phase sets share a lane, other channels have their own.

use egui::Ui;

use crate::ui::palette::{mix, phase_color};
use crate::ui::theme;
use crate::ui::widgets::{TimeMark, Trace, Waveform};
use crate::workbench::Signal;
use atomscope_engine::features::signal_kind::clean_label;

/// The signal of a record.
pub(super) fn signal_ui(ui: &mut Ui, look: &Signal, height: f32) {
    let tones = theme::tones(ui);
    let shown = theme::theme_of(ui);
    // Voltages, then currents, both perhaps per unit; six channels of EEG have one unit.
    let unit = |place: usize| look.channels[place].unit.as_str();
    let is_phases = look.channels.len() == 6 && (unit(0) != unit(3) || unit(0).is_empty());
    let traces: Vec<Trace<'_>> = look
        .channels
        .iter()
        .enumerate()
        .map(|(place, channel)| Trace {
            name: clean_label(&channel.name),
            values: &channel.values,
            color: match is_phases {
                true => phase_color(place % 3, shown),
                false => mix(tones.accent, tones.text, 0.3),
            },
            lane: if is_phases { place / 3 } else { place },
        })
        .collect();
    let n_lanes = if is_phases { 2 } else { look.channels.len() };
    let units: Vec<&str> = (0..n_lanes)
        .map(|lane| {
            let place = if is_phases { lane * 3 } else { lane };
            look.channels.get(place).map_or("", |c| c.unit.as_str())
        })
        .collect();
    let marks: Vec<TimeMark<'_>> = look
        .marks
        .iter()
        .take(20)
        .map(|(time_s, text)| TimeMark {
            time_s: *time_s,
            text,
        })
        .collect();
    Waveform {
        name: &look.name,
        traces: &traces,
        rate_hz: look.rate_hz,
        start_s: look.start_s,
        lane_units: &units,
        marks: &marks,
        height: height.max(n_lanes as f32 * 14.0),
    }
    .show(ui);
}

/// The first channel and, below it, what each band of the recipe lets through.
pub(super) fn bands_ui(ui: &mut Ui, look: &Signal, height: f32) {
    let Some(first) = look.channels.first() else {
        return;
    };
    let channels: Vec<_> = std::iter::once(first).chain(&look.bands).cloned().collect();
    let bands = Signal {
        name: format!("{} and its bands", first.name),
        n_channels: channels.len(),
        channels,
        marks: sample_marks(look),
        bands: Vec::new(),
        ..look.clone()
    };
    signal_ui(ui, &bands, height);
}

/// The marks at the ends of the sample that is shown, without the annotations.
fn sample_marks(look: &Signal) -> Vec<(f64, String)> {
    let is_end = |time_s: f64| {
        look.window.is_some_and(|(start_s, duration_s)| {
            time_s == start_s || time_s == start_s + duration_s
        })
    };
    let marks = look.marks.iter().filter(|(time_s, _)| is_end(*time_s));
    marks.cloned().collect()
}
