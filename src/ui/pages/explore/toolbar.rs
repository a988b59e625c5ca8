//! The tools above the traces: montage, filters, sensitivity, time base, and the panels beside.

use egui::{ComboBox, TextEdit, Ui};

use super::montages::{montage_ui, own_montage_ui};
use super::trends::trend_rows_ui;
use crate::ui::app::Typing;
use crate::ui::elements::button;
use crate::ui::numbers::short;
use crate::ui::theme;
use crate::workbench::explore::{
    EegBrowser, EegView, ExploreAction, KeyUse, LaneChoice, OpenedRecording, SENSITIVITIES,
    SidePanel, StripKind, TIME_BASES_S, common_unit,
};
use crate::workbench::{Action, Draft, Workbench};
use atomscope_engine::session::{GivenChannels, change_notes, notes_on};

/// Edges offered for the high-pass.
const HIGH_PASS_HZ: [f64; 7] = [0.05, 0.1, 0.3, 0.5, 1.0, 1.6, 5.0];
/// Edges offered for the low-pass.
const LOW_PASS_HZ: [f64; 5] = [15.0, 30.0, 40.0, 70.0, 100.0];
/// Limits of a frequency that is typed: below, the lead-in of a page would be longer than 40 s.
const LOWEST_EDGE_HZ: f64 = 0.05;
const HIGHEST_EDGE_HZ: f64 = 1000.0;
/// Of an open list: all montages are seen without scrolling.
const MENU_HEIGHT: f32 = 400.0;
/// Frequencies of the mains.
const MAINS_HZ: [f64; 2] = [50.0, 60.0];

/// What the file does not say of its channels: rate, unit, names. The traces follow at once.
pub(super) fn given_ui(ui: &mut Ui, opened: &OpenedRecording, draft: &mut Draft) {
    if opened.assumed_rate_hz.is_none() && !opened.lacks_unit {
        return;
    }
    let notes = notes_on(&draft.recordings, &opened.name);
    let known = notes.map_or_else(GivenChannels::default, |notes| notes.given.clone());
    let mut given = known.clone();
    ui.horizontal_wrapped(|ui| {
        if let Some(mut rate_hz) = opened.assumed_rate_hz {
            let text = match known.rate_hz {
                Some(_) => "The file does not state its rate; given",
                None => "The file does not state its rate; assumed",
            };
            let label = ui.label(text);
            let field = egui::DragValue::new(&mut rate_hz).range(0.1..=1e6);
            let field = ui.add(field.suffix(" Hz")).labelled_by(label.id);
            let help = "Samples per second of all channels; 0.1 to 10⁶, default 250. Times and frequencies follow. Saved with the session.";
            if field.on_hover_text(help).changed() {
                given.rate_hz = Some(rate_hz);
            }
        }
        let label = ui.label("Unit");
        let field = TextEdit::singleline(&mut given.unit).desired_width(48.0);
        ui.add(field.hint_text("µV"))
            .labelled_by(label.id)
            .on_hover_text("Unit of all channels, such as µV, mV or V; default none. Saved with the session.");
        let label = ui.label("Channels");
        let width = ui.available_size_before_wrap().x.clamp(160.0, 480.0);
        let field = TextEdit::singleline(&mut given.names).desired_width(width - 8.0);
        ui.add(field.hint_text("Fp1, Fp2, F3, …"))
            .labelled_by(label.id)
            .on_hover_text("Names of the channels in their order, with commas between them; where one is left out, the file's stays. Saved with the session.");
    });
    if given != known {
        change_notes(&mut draft.recordings, &opened.name, |notes| {
            notes.given = given;
        });
    }
}

/// All tools.
pub(super) fn toolbar_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    view: &mut EegView,
    typing: &mut Typing,
    actions: &mut Vec<Action>,
) {
    let Some(browser) = workbench.explore().eeg() else {
        return;
    };
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        montage_ui(ui, workbench, browser, view, typing);
        let filter = &mut view.filter;
        filter_ui(
            ui,
            "High-pass",
            "Removes slow drifts",
            &HIGH_PASS_HZ,
            &mut filter.high_pass_hz,
        );
        filter_ui(
            ui,
            "Low-pass",
            "Removes muscle activity and noise",
            &LOW_PASS_HZ,
            &mut filter.low_pass_hz,
        );
        filter_ui(
            ui,
            "Notch",
            "Removes the mains frequency, 3 Hz wide",
            &MAINS_HZ,
            &mut filter.notch_hz,
        );
        sensitivity_ui(ui, browser, view, actions);
        time_base_ui(ui, browser, view);
        lanes_choice_ui(ui, view);
    });
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        display_ui(ui, browser, view);
        ui.toggle_value(&mut view.shows_trends, "Trends").on_hover_text(
            "Spectral array, amplitude-integrated EEG, band power, asymmetry and suppression of the whole recording, under the traces. Default off.",
        );
        strip_choice_ui(ui, view);
        let marks = ui.selectable_label(view.keys == KeyUse::Marks, "Mark");
        let what = "The keys 1 to 9 put marks with the names under Annotations: between the cursors, at the pointer, or in the middle of the page. M does the same as this button; Esc ends it. Default off: digits turn pages.";
        let marks = marks.on_hover_text(what);
        if marks.clicked() {
            view.toggle_marking();
            // The digits are for the traces now.
            marks.surrender_focus();
        }
        let fold = ui.button("Traces only");
        let what = "Hides everything except the traces; F9 or the button in their corner brings it back";
        view.is_folded |= fold.on_hover_text(what).clicked();
        ui.separator();
        for panel in SidePanel::ALL {
            let is_open = view.side == panel;
            let button = ui.selectable_label(is_open, panel.title());
            if button.on_hover_text(panel_help(panel)).clicked() {
                view.side = if is_open { SidePanel::Closed } else { panel };
            }
        }
    });
    own_montage_ui(ui, browser, view, typing, actions);
}

fn panel_help(panel: SidePanel) -> &'static str {
    match panel {
        SidePanel::Closed => "",
        SidePanel::Header => {
            "What the file says: patient, recording, start, and of each channel rate, range, transducer and filters. Click again to close."
        }
        SidePanel::Channels => {
            "Which traces are shown, in which order, which are bad. Click again to close."
        }
        SidePanel::Annotations => {
            "Notes of the file and your own: search, jump, add. Click again to close."
        }
        SidePanel::Spectrum => "Welch spectrum of the selection or the page. Click again to close.",
        SidePanel::Scores => {
            "Scores epochs (sleep stages, own states) by keys, compares them with the model and a second rater, and scores events. Click again to close."
        }
        SidePanel::Maps => {
            "Band power over the head, compared with another recording or class. Click again to close."
        }
    }
}

/// A choice whose first line says what is chosen; gives the place of the newly chosen one.
pub(super) fn combo(
    ui: &mut Ui,
    (name, help): (&str, &str),
    current: &str,
    width_em: f32,
    choices: &[String],
) -> Option<usize> {
    let mut chosen = None;
    let width = theme::body_font(ui).size * width_em;
    let shown = ComboBox::from_id_salt(name)
        .selected_text(current)
        .width(width)
        .height(MENU_HEIGHT)
        .show_ui(ui, |ui| {
            for (place, choice) in choices.iter().enumerate() {
                if ui.selectable_label(choice == current, choice).clicked() {
                    chosen = Some(place);
                }
            }
        });
    ui.ctx()
        .accesskit_node_builder(shown.response.id, |node| node.set_label(name));
    shown.response.on_hover_text(format!("{name}. {help}"));
    chosen
}

fn filter_ui(ui: &mut Ui, name: &str, what: &str, edges_hz: &[f64], value: &mut Option<f64>) {
    let text = |hz: f64| format!("{name} {hz} Hz");
    let off = format!("{name} off");
    let mut choices = vec![off.clone()];
    choices.extend(edges_hz.iter().map(|hz| text(*hz)));
    let help = format!(
        "{what}, in the picture only: data and spectra stay as they are. Runs forwards and backwards, so that nothing is shifted; 6 dB down at the edge. Default off."
    );
    let current = value.map_or(off, text);
    let width = theme::body_font(ui).size * 7.6;
    let shown = ComboBox::from_id_salt(name)
        .selected_text(&current)
        .width(width)
        .height(MENU_HEIGHT)
        .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
        .show_ui(ui, |ui| {
            for (place, choice) in choices.iter().enumerate() {
                if ui.selectable_label(*choice == current, choice).clicked() {
                    *value = place.checked_sub(1).map(|place| edges_hz[place]);
                    ui.close();
                }
            }
            let label = ui.label("Other frequency");
            let mut own_hz = value.unwrap_or(edges_hz[0]);
            let field = egui::DragValue::new(&mut own_hz)
                .range(LOWEST_EDGE_HZ..=HIGHEST_EDGE_HZ)
                .speed(0.05)
                .max_decimals(3)
                .suffix(" Hz");
            let field = ui.add(field).labelled_by(label.id);
            let what = "Any frequency from 0.05 to 1000 Hz: click and type, or drag. At or above half the rate it does nothing";
            if field.on_hover_text(what).changed() {
                *value = Some(own_hz);
            }
        });
    ui.ctx()
        .accesskit_node_builder(shown.response.id, |node| node.set_label(name));
    shown.response.on_hover_text(format!("{name}. {help}"));
}

fn lanes_choice_ui(ui: &mut Ui, view: &mut EegView) {
    let names = LaneChoice::ALL.map(|choice| choice.name().to_owned());
    let help = "The most traces at once, as far as their names have room; others are scrolled to by the bar at the right, by the wheel over the names, or by Ctrl+Page Up and Down. Default 32";
    if let Some(place) = combo(ui, ("Lanes", help), view.lanes.name(), 7.0, &names) {
        view.lanes = LaneChoice::ALL[place];
    }
}

fn sensitivity_ui(
    ui: &mut Ui,
    browser: &EegBrowser,
    view: &mut EegView,
    actions: &mut Vec<Action>,
) {
    let unit = browser
        .page()
        .map_or("µV".to_owned(), |page| common_unit(&page.traces));
    let text = |value: f64| format!("{} {unit}/mm", short(value));
    let current = view.sensitivity_of("");
    // The steps that can be of use here; all of them would be a long list.
    let is_near = |step: &f64| (current / 40.0..=current * 40.0).contains(step);
    let steps: Vec<f64> = SENSITIVITIES.into_iter().filter(is_near).collect();
    let choices: Vec<String> = steps.iter().map(|step| text(*step)).collect();
    let help = "What one millimetre of the screen stands for, at 96 points to the inch; 0.01 to 10⁶, at first so that traces fill their lanes. Keys + and −; a trace can have its own under Channels";
    if let Some(place) = combo(ui, ("Sensitivity", help), &text(current), 6.6, &choices) {
        let factor = steps[place] / current;
        view.sensitivity = Some(steps[place]);
        view.own_sensitivity
            .values_mut()
            .for_each(|own| *own *= factor);
    }
    if button(
        ui,
        "Fit",
        "Sensitivities at which the traces of this page fill their lanes",
    ) {
        actions.push(Action::Explore(ExploreAction::Fit));
    }
}

fn time_base_ui(ui: &mut Ui, browser: &EegBrowser, view: &mut EegView) {
    let text = |span_s: f64| match span_s {
        long if long >= 3600.0 => format!("{} h", short(long / 3600.0)),
        long if long >= 120.0 => format!("{} min", short(long / 60.0)),
        brief => format!("{} s", short(brief)),
    };
    let is_there = |span_s: &&f64| **span_s < browser.duration_s();
    let mut spans: Vec<f64> = TIME_BASES_S.iter().filter(is_there).copied().collect();
    spans.push(browser.duration_s());
    let mut choices: Vec<String> = spans.iter().map(|span_s| text(*span_s)).collect();
    if let Some(last) = choices.last_mut() {
        *last = "Everything".to_owned();
    }
    let current = text(view.span_s);
    let help = "Time from edge to edge of the page. Default 10 s; Ctrl+wheel zooms freely";
    if let Some(place) = combo(ui, ("Time base", help), &current, 5.0, &choices) {
        view.span_s = spans[place];
    }
}

/// How traces are drawn, and which rows of the trends are shown.
fn display_ui(ui: &mut Ui, browser: &EegBrowser, view: &mut EegView) {
    let stays = egui::containers::menu::MenuConfig::new()
        .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside);
    let menu = egui::containers::menu::MenuButton::new("Display ▼").config(stays);
    let (response, _) = menu.ui(ui, |ui| {
        switches_ui(ui, browser, view);
        ui.separator();
        ui.label("Rows of the trends");
        trend_rows_ui(ui, view);
    });
    response.on_hover_text("Baseline, clipping, polarity, clock, and the rows of the trends");
}

fn switches_ui(ui: &mut Ui, browser: &EegBrowser, view: &mut EegView) {
    ui.checkbox(&mut view.corrects_baseline, "Baseline")
        .on_hover_text("Shows each trace about its mean on the page. Default on.");
    ui.checkbox(&mut view.clips_lanes, "Clip")
        .on_hover_text("EEG ends at the edges of its lane instead of reaching into others; other signals always do. Default off.");
    ui.checkbox(&mut view.is_negative_up, "Negative up")
        .on_hover_text("Negative values point up, as clinical EEG is often drawn. Default off.");
    let has_clock = browser.record().start.is_some();
    let clock = ui.add_enabled(
        has_clock,
        egui::Checkbox::new(&mut view.shows_clock, "Clock"),
    );
    clock
        .on_hover_text(
            "Times on the clock of the recording instead of seconds from its start. Default off.",
        )
        .on_disabled_hover_text("The file does not state when the recording began");
}

fn strip_choice_ui(ui: &mut Ui, view: &mut EegView) {
    let mut is_spectrogram = view.strip == StripKind::Spectrogram;
    let strip = ui.toggle_value(&mut is_spectrogram, "Spectrogram");
    if strip
        .on_hover_text("The strip below shows power over frequency of the chosen trace instead of activity. Default off.")
        .changed()
    {
        view.strip = match is_spectrogram {
            true => StripKind::Spectrogram,
            false => StripKind::Activity,
        };
    }
}
