//! The fault-record viewer: lanes of voltages, currents and digital channels with two cursors, another record beside.

use egui::{Key, Modifiers, Ui};

use super::fault_beside::beside_ui;
use super::fault_choices::{choice_of, keep_choice};
use super::fault_impedance::impedance_ui;
use super::fault_panel::measures_ui;
use super::fault_tools::tools_ui;
use super::ribbon::{ShownTime, ribbon_height, ribbon_ui};
use crate::ui::elements;
use crate::ui::numbers::short;
use crate::ui::palette::{mix, phase_color};
use crate::ui::theme;
use crate::ui::widgets::{
    CursorMove, DigitalRow, LaneCursor, LanePlot, LanePlotEvents, LaneTrace, PlotLane, TimeMark,
    cursor_letter, empty_state, page_hears_keys,
};
use crate::workbench::explore::{
    BLOCK_SAMPLES, ExploreAction, FaultAction, FaultRecord, FaultView, GridSignal, OpenedRecording,
    OverlaidSignal, Overlay,
};
use crate::workbench::{Action, Draft, Workbench};
use atomscope_engine::features::phases::PHASE_NAMES;
use atomscope_engine::records::Quantity;

/// The letters of the cursors.
pub(super) const CURSORS: [&str; 2] = ["A", "B"];

/// The fault-record viewer; `wants_measures` says whether there is room for the panel of measures.
pub(super) fn fault_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    opened: &OpenedRecording,
    wants_measures: bool,
    draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    let fault = workbench.explore().fault();
    if let Some(error) = fault.error() {
        elements::wrong(ui, error);
        return;
    }
    let (Some(record), Some(look)) = (fault.record(), fault.view()) else {
        empty_state(ui, "Reading the record", None);
        return;
    };
    let mut wanted = look.clone();
    let hears = workbench.view().ask.is_none() && page_hears_keys(ui);
    let takes = if hears { cursor_letter(ui) } else { None };
    if let Some(cursor) = takes {
        wanted.active = cursor;
    }
    tools_ui(ui, workbench, record, &mut wanted, draft, actions);
    let width = ui.available_width();
    let panel = match wants_measures {
        true => (theme::body_font(ui).size * 29.0).min(width * 0.42),
        false => 0.0,
    };
    let (left, right) = elements::two_columns(ui, width - panel - theme::PANEL_GAP);
    elements::column(ui, left, "fault record", |ui| {
        let x = plots_ui(ui, workbench, record, &mut wanted, takes);
        let shown = ShownTime {
            start_s: wanted.start_s,
            span_s: wanted.span_s,
            x,
        };
        ribbon_ui(ui, workbench, opened, shown, actions);
    });
    if wants_measures {
        // Another record begins at the top.
        elements::scrolling_column(ui, right, &format!("measures of {}", record.name), |ui| {
            impedance_ui(ui, workbench, record, &mut wanted, actions);
            if let Some(beside) = fault.beside() {
                beside_ui(ui, record, beside, &wanted);
            }
            measures_ui(ui, record, fault.measures(), &mut wanted);
        });
    }
    page_keys(ui, workbench, record, &mut wanted);
    if wanted.line != look.line {
        let mut choice = choice_of(draft, record);
        choice.line = Some(wanted.named_line(&record.station));
        keep_choice(draft, record, choice);
    }
    if wanted != *look {
        let action = FaultAction::View(Box::new(wanted));
        actions.push(Action::Explore(ExploreAction::Fault(action)));
    }
}

/// The record, and below it the one beside, aligned on the inception; gives the edges of the time axis.
fn plots_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    record: &FaultRecord,
    look: &mut FaultView,
    takes: Option<usize>,
) -> egui::Rangef {
    let height = ui.available_height() - ribbon_height(ui, workbench) - ui.spacing().item_spacing.y;
    let fault = workbench.explore().fault();
    let overlay = fault.overlay();
    let Some(beside) = fault.beside().filter(|_| overlay.is_none()) else {
        let role = PlotRole::Main { takes, overlay };
        let events = plot_ui(ui, record, look, (0.0, 0.0), role, height);
        let x = events.x;
        follow(record, look, &events);
        return x;
    };
    let zero_s = record.facts.inception_s.or(record.trigger_s).unwrap_or(0.0);
    let shift_s = look.alignment.shift_s(record, beside);
    let other_s = zero_s + shift_s;
    let line = theme::body_font(ui).size * 1.7;
    let half = (height - 2.0 * line) / 2.0;
    elements::help(ui, &format!("{} · time from its inception", record.name));
    let role = PlotRole::Main {
        takes,
        overlay: None,
    };
    let events = plot_ui(ui, record, look, (zero_s, 0.0), role, half);
    let x = events.x;
    elements::help(ui, &format!("{} · the same moments", beside.name));
    let other = plot_ui(ui, beside, look, (other_s, shift_s), PlotRole::Beside, half);
    follow(record, look, &events);
    // What is done to the one beside is done to both.
    let other = LanePlotEvents {
        zoom: other.zoom.map(|(factor, at_s)| (factor, at_s - shift_s)),
        cursor: None,
        ..other
    };
    follow(record, look, &other);
    x
}

/// Which of two records a plot shows.
#[derive(Clone, Copy)]
enum PlotRole<'a> {
    /// The one with the cursors; one of them may take the focus, and another record may lie on it.
    Main {
        takes: Option<usize>,
        overlay: Option<&'a Overlay>,
    },
    /// The one beside.
    Beside,
}

/// One record: its own time `zero_s` is zero on the axis; `shift_s` is added to the time shown.
fn plot_ui(
    ui: &mut Ui,
    record: &FaultRecord,
    look: &FaultView,
    (zero_s, shift_s): (f64, f64),
    role: PlotRole<'_>,
    height: f32,
) -> LanePlotEvents {
    let (takes, overlay, is_main) = match role {
        PlotRole::Main { takes, overlay } => (takes, overlay, true),
        PlotRole::Beside => (None, None, false),
    };
    let mut lanes: Vec<PlotLane<'_>> = look
        .lanes
        .iter()
        .filter_map(|place| lane(ui, record, look, (*place, overlay)))
        .collect();
    lanes.extend(overlay.and_then(|overlay| differential_lane(ui, record, look, overlay)));
    // Those chosen are of the first record; of the one beside those that change.
    let shown = record
        .digital
        .iter()
        .enumerate()
        .filter(|(place, digital)| {
            if is_main {
                look.digital.contains(place)
            } else {
                digital.changes()
            }
        });
    let mut digital: Vec<DigitalRow<'_>> = shown
        .map(|(_, digital)| digital)
        .map(|digital| DigitalRow {
            name: &digital.name,
            edges: &digital.edges,
        })
        .collect();
    let of_other = overlay.into_iter().flat_map(|overlay| &overlay.digital);
    digital.extend(of_other.map(|(name, edges)| DigitalRow { name, edges }));
    let mut texts = marks(record);
    let other_s = overlay.and_then(|overlay| overlay.inception_s);
    texts.extend(other_s.map(|at_s| (at_s, "inception ′".to_owned())));
    texts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let marks: Vec<TimeMark<'_>> = texts
        .iter()
        .map(|(time_s, text)| TimeMark {
            time_s: *time_s,
            text,
        })
        .collect();
    let cursors: Vec<LaneCursor<'_>> = CURSORS
        .iter()
        .zip(look.cursors_s)
        .enumerate()
        .filter(|_| is_main)
        .map(|(place, (name, time_s))| LaneCursor {
            name,
            time_s,
            is_active: place == look.active,
        })
        .collect();
    let name = match is_main {
        true => format!("Signals of {}", record.name),
        false => format!("Signals beside: {}", record.name),
    };
    LanePlot {
        name: &name,
        lanes: &lanes,
        digital: &digital,
        time: (look.start_s + shift_s, look.span_s),
        zero_s,
        marks: &marks,
        cursors: &cursors,
        takes,
        height,
    }
    .show(ui)
}

/// Trigger, inception, the cycles that decide, clearing and changes of the rate.
fn marks(record: &FaultRecord) -> Vec<(f64, String)> {
    let trigger = record.trigger_s.map(|at_s| (at_s, "trigger".to_owned()));
    let inception = record.facts.inception_s;
    let inception = inception.map(|at_s| (at_s, "inception".to_owned()));
    let judged = record.analysis.iter().flat_map(|analysis| {
        let cycle_s = 1.0 / analysis.frequency_hz;
        let at_s = analysis.judged_s;
        let clearing = analysis
            .clearing_s
            .map(|at_s| (at_s, "clearing".to_owned()));
        let cycles = [
            (
                at_s - (1.0 + 2.0 / 64.0) * cycle_s,
                "cycle before".to_owned(),
            ),
            (at_s + cycle_s / 8.0, "cycle judged".to_owned()),
        ];
        cycles.into_iter().chain(clearing)
    });
    let rates = record.rate_changes.iter();
    let rates = rates.map(|(at_s, hz)| (*at_s, format!("{} Hz", short(*hz))));
    let all = trigger.into_iter().chain(inception).chain(judged);
    all.chain(rates).collect()
}

/// A lane as it is drawn: around zero where values have both signs.
fn lane<'a>(
    ui: &Ui,
    record: &'a FaultRecord,
    look: &FaultView,
    (place, overlay): (usize, Option<&'a Overlay>),
) -> Option<PlotLane<'a>> {
    let lane = record.lanes.get(place)?;
    let tones = theme::tones(ui);
    let shown = theme::theme_of(ui);
    let mut range = (f64::INFINITY, f64::NEG_INFINITY);
    let mut unit = String::new();
    let traces = lane.signals.iter().map(|place| {
        let signal = &record.signals[*place];
        let scale = record.scale(signal, look.scale);
        let (low, high) = signal.extent;
        range = (
            range.0.min(low * scale.factor),
            range.1.max(high * scale.factor),
        );
        unit.clone_from(&scale.unit);
        LaneTrace {
            name: &signal.name,
            times: &signal.times,
            values: &signal.values,
            blocks: (BLOCK_SAMPLES, &signal.blocks),
            factor: scale.factor,
            color: match signal.phase {
                Some(phase) => phase_color(phase, shown),
                None => mix(tones.accent, tones.text, 0.3),
            },
        }
    });
    let mut traces: Vec<LaneTrace<'a>> = traces.collect();
    let first = &record.signals[*lane.signals.first()?];
    let is_main_set = first
        .quantity
        .and_then(|quantity| record.set_of(quantity))
        .is_some_and(|set| lane.signals == set.signals);
    let others = overlay.into_iter().flat_map(|overlay| &overlay.signals);
    for other in others.filter(|other| is_main_set && first.quantity == Some(other.quantity)) {
        let trace = overlaid_trace(ui, record, look, first, other);
        range = (
            range.0.min(other.extent.0 * trace.factor),
            range.1.max(other.extent.1 * trace.factor),
        );
        traces.push(trace);
    }
    let (low, high) = range;
    let range = match low < 0.0 && high > 0.0 {
        true => (-high.max(-low), high.max(-low)),
        false if low == high => (low - 1.0, high + 1.0),
        false => (low, high),
    };
    Some(PlotLane {
        traces,
        range: (range.0 / look.gain, range.1 / look.gain),
        unit,
    })
}

/// Share of the ground in the colours of the second record.
const SECOND_PALER: f32 = 0.5;

/// A signal of the second record in the unit of one of the first.
fn overlaid_trace<'a>(
    ui: &Ui,
    record: &'a FaultRecord,
    look: &FaultView,
    like: &GridSignal,
    other: &'a OverlaidSignal,
) -> LaneTrace<'a> {
    let tones = theme::tones(ui);
    let color = phase_color(other.phase, theme::theme_of(ui));
    LaneTrace {
        name: &other.name,
        times: &record.clock,
        values: &other.values,
        blocks: (BLOCK_SAMPLES, &other.blocks),
        factor: record.scale(like, look.scale).factor / like.in_line_units(),
        color: mix(color, tones.page, SECOND_PALER),
    }
}

/// The sums of the currents of both ends.
fn differential_lane<'a>(
    ui: &Ui,
    record: &'a FaultRecord,
    look: &FaultView,
    overlay: &'a Overlay,
) -> Option<PlotLane<'a>> {
    let set = record.set_of(Quantity::Current)?;
    let like = &record.signals[set.signals[0]];
    let scale = record.scale(like, look.scale);
    let shown = theme::theme_of(ui);
    let traces: Vec<LaneTrace<'a>> = overlay
        .differential
        .iter()
        .map(|sum| LaneTrace {
            color: phase_color(sum.phase, shown),
            ..overlaid_trace(ui, record, look, like, sum)
        })
        .collect();
    let factor = traces.first()?.factor;
    let sums = overlay.differential.iter();
    let most = sums.fold(0.0_f64, |most, sum| {
        most.max(sum.extent.1).max(-sum.extent.0)
    });
    let most = if most > 0.0 { most * factor } else { 1.0 } / look.gain;
    Some(PlotLane {
        traces,
        range: (-most, most),
        unit: scale.unit,
    })
}

/// Does to the look what was done with the plot.
fn follow(record: &FaultRecord, look: &mut FaultView, events: &LanePlotEvents) {
    if let Some((factor, at_s)) = events.zoom {
        look.zoom(factor, at_s);
    }
    look.start_s += events.pan_s;
    if events.shows_all {
        look.show_all(record);
    }
    if let Some((cursor, moved)) = events.cursor {
        look.active = cursor;
        move_cursor(record, look, cursor, moved);
    }
    look.keep_inside(record);
}

fn move_cursor(record: &FaultRecord, look: &mut FaultView, cursor: usize, moved: CursorMove) {
    match moved {
        CursorMove::To(time_s) => look.cursors_s[cursor] = time_s,
        CursorMove::Samples(n) => {
            look.step_cursor(record, cursor, n);
            if n != 0 {
                look.follow_cursor(cursor);
            }
        }
        CursorMove::Pages(n) => {
            let cycle_s = 1.0 / look.nominal_hz(record).unwrap_or(50.0);
            look.cursors_s[cursor] += n as f64 * cycle_s;
            look.follow_cursor(cursor);
        }
    }
}

/// The keys of the page, while nothing has the focus but a cursor, which has taken its own by now.
fn page_keys(ui: &Ui, workbench: &Workbench, record: &FaultRecord, look: &mut FaultView) {
    if workbench.view().ask.is_some() || !page_hears_keys(ui) {
        return;
    }
    let presses =
        |key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key)) as f64;
    look.start_s += look.span_s * 0.1 * (presses(Key::ArrowRight) - presses(Key::ArrowLeft));
    look.start_s += look.span_s * (presses(Key::PageDown) - presses(Key::PageUp));
    if presses(Key::Home) > 0.0 {
        look.start_s = record.span_s.0;
    }
    if presses(Key::End) > 0.0 {
        look.start_s = record.span_s.1 - look.span_s;
    }
    let larger = presses(Key::Plus) + presses(Key::Equals) + presses(Key::ArrowUp);
    let smaller = presses(Key::Minus) + presses(Key::ArrowDown);
    look.gain *= 1.25_f64.powf(larger - smaller);
    look.keep_inside(record);
}

/// What a signal of a set is called: VA, VB, …; its own name elsewhere.
pub(super) fn phase_name(quantity: Quantity, phase: usize) -> &'static str {
    let offset = if quantity == Quantity::Current { 3 } else { 0 };
    PHASE_NAMES[offset + phase.min(2)]
}
