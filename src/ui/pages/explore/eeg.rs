//! The EEG browser: traces over a strip of the whole recording, tools above and beside them.

use egui::{Align, Align2, Key, Layout, Modifiers, Rect, RichText, Ui, vec2};

use super::annotations::annotations_ui;
use super::channels::channels_ui;
use super::header::header_ui;
use super::hypnogram::{hypnogram_height, hypnogram_ui};
use super::maps::maps_ui;
use super::marking::mark_keys;
use super::ribbon::{ShownTime, has_decisions, ribbon_height, ribbon_ui};
use super::scores::{score_keys, scores_ui};
use super::spectrum::spectrum_ui;
use super::toolbar::{given_ui, toolbar_ui};
use super::traces::{time_label, traces_ui};
use super::trends::{trends_height, trends_ui};
use super::{beside_segment, segment_ui};
use crate::ui::app::Typing;
use crate::ui::elements;
use crate::ui::numbers::{percent, short};
use crate::ui::palette::sequential;
use crate::ui::theme;
use crate::ui::widgets::{OverviewStrip, StripPicture, gutter_width};
use crate::workbench::explore::{
    EegBrowser, EegView, ExploreAction, OpenedRecording, SidePanel, Spectrogram, StripKind,
};
use crate::workbench::{Action, Ask, Draft, PathAsk, Workbench};
use atomscope_engine::features::measure::Measurement;
use atomscope_engine::features::signal_kind::clean_label;

/// Height of the strip of the whole recording; a low one under trends, which have the same axis of time.
const STRIP_HEIGHT: f32 = 56.0;
const LOW_STRIP_HEIGHT: f32 = 26.0;

/// The EEG browser.
pub(super) fn eeg_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    opened: &OpenedRecording,
    draft: &mut Draft,
    typing: &mut Typing,
    actions: &mut Vec<Action>,
) {
    let Some(browser) = workbench.explore().eeg() else {
        return;
    };
    let mut view = browser.view().clone();
    let fold_key = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::F9));
    view.is_folded ^= fold_key && workbench.view().ask.is_none();
    if view.is_folded {
        folded_ui(ui, workbench, &mut view, actions);
        if view != *browser.view() {
            actions.push(Action::Explore(ExploreAction::Look(Box::new(view))));
        }
        return;
    }
    given_ui(ui, opened, draft);
    toolbar_ui(ui, workbench, &mut view, typing, actions);
    if let Some(problem) = browser.problem() {
        elements::wrong(ui, problem);
    }
    let mut page = ui.available_rect_before_wrap();
    let is_explained = workbench.explore().ribbon().selected().is_some();
    let segment = is_explained.then(|| beside_segment(ui));
    if let Some((beside, _)) = segment {
        page = beside;
    }
    let side_width = side_width(&view, theme::body_font(ui).size, page.width());
    let mut left = page;
    left.max.x -= side_width;
    elements::column(ui, left, "traces", |ui| {
        let area = ui.available_rect_before_wrap();
        let shown = ShownTime {
            start_s: view.start_s,
            span_s: view.span_s,
            x: egui::Rangef::new(area.left() + gutter_width(ui), area.right()),
        };
        let ribbon = ribbon_height(ui, workbench);
        let hypnogram = hypnogram_height(workbench);
        let for_trends = page.height() - hypnogram;
        let trends = trends_height(workbench, &view, for_trends);
        let n_parts = [hypnogram, trends].into_iter().filter(|own| *own > 0.0);
        let gaps = (3 + n_parts.count()) as f32 * ui.spacing().item_spacing.y;
        let below = readout_height(ui) + ribbon + hypnogram + trends + strip_height(&view) + gaps;
        let height = (area.height() - below).max(120.0);
        let heard = traces_ui(ui, workbench, browser, &mut view, height);
        mark_keys(ui, workbench, &heard, &mut view, actions);
        score_keys(ui, workbench, &heard, &mut view, actions);
        readout_ui(ui, browser, &view, !has_decisions(workbench), actions);
        ribbon_ui(ui, workbench, opened, shown, actions);
        hypnogram_ui(ui, workbench, &mut view);
        trends_ui(ui, workbench, &mut view, for_trends);
        strip_ui(ui, browser, &mut view);
    });
    if side_width > 0.0 {
        let mut right = page;
        right.min.x = left.max.x + theme::GRID * 2.0;
        side_ui(ui, right, |ui| match view.side {
            SidePanel::Closed => {}
            SidePanel::Header => header_ui(ui, opened, actions),
            SidePanel::Channels => channels_ui(ui, browser, opened, &mut view, draft),
            SidePanel::Annotations => {
                annotations_ui(ui, workbench, opened, &mut view, draft, typing, actions);
            }
            SidePanel::Spectrum => {
                egui::ScrollArea::vertical()
                    .id_salt("spectrum")
                    .auto_shrink([false, false])
                    .show(ui, |ui| spectrum_ui(ui, browser, &mut view));
            }
            SidePanel::Scores => scores_ui(ui, workbench, &mut view, typing, actions),
            SidePanel::Maps => {
                maps_ui(ui, workbench, opened, &mut view, draft, actions);
            }
        });
    }
    if let Some((_, place)) = segment {
        segment_ui(ui, place, workbench, opened, actions);
    }
    if view != *browser.view() {
        actions.push(Action::Explore(ExploreAction::Look(Box::new(view))));
    }
}

/// Nothing but the traces, what the cursors measure, and the way back.
fn folded_ui(ui: &mut Ui, workbench: &Workbench, view: &mut EegView, actions: &mut Vec<Action>) {
    let Some(browser) = workbench.explore().eeg() else {
        return;
    };
    let height = ui.available_height() - readout_height(ui) - ui.spacing().item_spacing.y;
    let heard = traces_ui(ui, workbench, browser, view, height);
    mark_keys(ui, workbench, &heard, view, actions);
    score_keys(ui, workbench, &heard, view, actions);
    ui.horizontal(|ui| {
        let back = ui.small_button("Show panels");
        if back.on_hover_text("Brings all panels back (F9)").clicked() {
            view.is_folded = false;
        }
        readout_ui(ui, browser, view, false, actions);
    });
}

fn side_width(view: &EegView, em: f32, page_width: f32) -> f32 {
    match view.side {
        SidePanel::Closed => 0.0,
        SidePanel::Maps if view.comparison.is_some() => em * 34.0,
        SidePanel::Header => em * 34.0,
        _ => em * 20.0,
    }
    .min(page_width * 0.5)
}

fn side_ui(ui: &mut Ui, rect: Rect, contents: impl FnOnce(&mut Ui)) {
    let line = egui::Stroke::new(1.0, theme::tones(ui).hairline);
    ui.painter()
        .vline(rect.left() - theme::GRID, rect.y_range(), line);
    elements::column(ui, rect, "beside the traces", contents);
}

fn strip_height(view: &EegView) -> f32 {
    match (view.strip, view.shows_trends) {
        (StripKind::Activity, true) => LOW_STRIP_HEIGHT,
        _ => STRIP_HEIGHT,
    }
}

/// The whole recording, with what it shows at its left.
fn strip_ui(ui: &mut Ui, browser: &EegBrowser, view: &mut EegView) {
    let waiting = |what: &str, share: Option<f64>| match share {
        Some(share) => format!("{what}, {}", percent((share * 100.0).round() / 100.0)),
        None => what.to_owned(),
    };
    let text = match view.strip {
        StripKind::Activity => waiting("reading the whole recording", browser.whole_share()),
        StripKind::Spectrogram => waiting("computing spectra", browser.spectrogram_share()),
    };
    let whole = browser.whole();
    let spectrogram = browser.spectrogram();
    let (picture, revision) = match view.strip {
        StripKind::Activity => match whole {
            Some(whole) => {
                let revision = std::sync::Arc::as_ptr(whole) as u64;
                (StripPicture::Activity(&whole.activity), revision)
            }
            None => (StripPicture::Nothing(&text), 0),
        },
        StripKind::Spectrogram => match spectrogram {
            Some(found) => (
                StripPicture::Spectrogram {
                    n_lines: found.n_lines,
                    decibels: &found.decibels,
                    range_db: found.range_db,
                    highest_hz: found.highest_hz,
                },
                std::sync::Arc::as_ptr(found) as u64,
            ),
            None => (StripPicture::Nothing(&text), 0),
        },
    };
    let rows = browser.annotations().rows();
    // More onsets than a strip has pixels cannot be distinguished.
    let every = rows.len().div_ceil(2000).max(1);
    let onsets_s: Vec<f64> = rows.iter().step_by(every).map(|row| row.onset_s).collect();
    let label = |time_s: f64, step_s: f64| time_label(browser, view, time_s, step_s);
    let strip = OverviewStrip {
        label: &label,
        picture,
        revision,
        duration_s: browser.duration_s(),
        page_s: (view.start_s, view.span_s),
        onsets_s: &onsets_s,
        indent: gutter_width(ui),
        height: strip_height(view),
    };
    let (response, time_s) = strip.show(ui);
    if let (StripKind::Spectrogram, Some(found)) = (view.strip, spectrogram) {
        spectrogram_legend(ui, response.rect, found);
    }
    if let Some(time_s) = time_s {
        view.start_s = time_s - view.span_s / 2.0;
    }
    let help = match view.strip {
        StripKind::Activity => {
            "Activity over the whole recording; the frame is the page. Click or drag to go there; with the focus, ← and → turn the page."
                .to_owned()
        }
        StripKind::Spectrogram => {
            let trace = spectrogram.map_or("", |found| found.trace.as_str());
            format!(
                "Power of {trace} over frequency and time: each column is the spectrum of four seconds in its middle. Click or drag to go there."
            )
        }
    };
    response.on_hover_text(help);
}

/// At the left of the spectrogram its channel, its highest frequency and the colour bar with its ends.
fn spectrogram_legend(ui: &Ui, strip: Rect, found: &Spectrogram) {
    let (font, tones) = (theme::small_font(ui), theme::tones(ui));
    let right = strip.left() + gutter_width(ui) - 6.0;
    let bar = Rect::from_x_y_ranges(right - 6.0..=right, strip.y_range());
    const N_STEPS: usize = 24;
    let step = bar.height() / N_STEPS as f32;
    for k in 0..N_STEPS {
        let top = bar.bottom() - (k + 1) as f32 * step;
        let part = Rect::from_x_y_ranges(bar.x_range(), top..=top + step);
        let color = sequential(k as f32 / (N_STEPS - 1) as f32);
        ui.painter().rect_filled(part, 0.0, color);
    }
    let (low, high) = found.range_db;
    let name = clean_label(&found.trace);
    let texts = [
        (bar.top(), Align2::RIGHT_TOP, format!("{high:.0} dB")),
        (bar.center().y, Align2::RIGHT_CENTER, name.to_owned()),
        (bar.bottom(), Align2::RIGHT_BOTTOM, format!("{low:.0} dB")),
    ];
    for (y, anchor, text) in texts {
        let place = egui::pos2(bar.left() - 4.0, y);
        ui.painter()
            .text(place, anchor, text, font.clone(), tones.weak);
    }
}

fn readout_height(ui: &Ui) -> f32 {
    theme::small_font(ui).size * 1.8
}

/// What the cursors measure on the chosen trace, or how to set them; at the right the way to a model, if wanted.
fn readout_ui(
    ui: &mut Ui,
    browser: &EegBrowser,
    view: &EegView,
    offers_model: bool,
    actions: &mut Vec<Action>,
) {
    let tones = theme::tones(ui);
    let size = vec2(ui.available_width(), readout_height(ui));
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_size(size);
        ui.add_space(gutter_width(ui));
        if let Some(share) = browser.page_share() {
            let text = format!("Reading the page, {:.0} %", share * 100.0);
            ui.label(RichText::new(text).small().color(tones.accent));
            let stop = ui.small_button("Stop reading");
            let stop = stop.on_hover_text("The page keeps what is shown");
            if stop.clicked() {
                actions.push(Action::Explore(ExploreAction::StopPage));
            }
        } else if browser.whole_share().is_some() {
            let stop = ui.small_button("Stop reading");
            let stop = stop.on_hover_text(
                "Reading the whole recording for the strip below; the traces do not need it",
            );
            if stop.clicked() {
                actions.push(Action::Explore(ExploreAction::StopOverview));
            }
        }
        let text = match view.cursors {
            Some(cursors) => measured(browser, cursors),
            None => {
                "Drag over the traces or press A and B to measure; wheel scrolls, Ctrl+wheel zooms, right drag pans"
                    .to_owned()
            }
        };
        let color = if view.cursors.is_some() {
            tones.strong
        } else {
            tones.weak
        };
        let text = egui::Label::new(RichText::new(text).small().color(color)).truncate();
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if offers_model {
                let open = ui.small_button("Decisions by a model…");
                let what = "Opens a trained session: its final model classifies the segments of the recording. To correct a model, open its session first (File › Open), then the recording";
                if open.on_hover_text(what).clicked() {
                    actions.push(Action::Ask(Ask::Path(PathAsk::OpenModel)));
                }
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| ui.add(text));
        });
    });
}

fn measured(browser: &EegBrowser, (a_s, b_s): (f64, f64)) -> String {
    let page = browser.page();
    let chosen = browser.chosen();
    let trace = page.zip(chosen).and_then(|(page, chosen)| {
        page.traces
            .iter()
            .find(|trace| trace.source.name == chosen.name)
    });
    let value = |time_s: f64| trace.and_then(|trace| trace.value_at(time_s));
    let found = Measurement::between((a_s, b_s), (value(a_s), value(b_s)));
    let mut parts = vec![
        format!("A {a_s:.3} s, B {b_s:.3} s"),
        format!("Δt {:.3} s", found.delta_s).replace('-', "−"),
    ];
    parts.extend(
        found
            .frequency_hz
            .map(|hz| format!("1/Δt {} Hz", short(hz))),
    );
    if let (Some(trace), Some((a, b)), Some(delta)) = (trace, found.values, found.delta()) {
        let unit = &trace.source.unit;
        parts.push(format!(
            "{}: {} to {} {unit}, Δ {} {unit}",
            trace.source.name,
            short(a),
            short(b),
            short(delta)
        ));
    }
    parts.join(" · ")
}
