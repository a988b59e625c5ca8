//! The traces of a page with mouse and keys: scrolling, zooming, measuring.

use egui::{Key, Modifiers, PointerButton, Rect, Role, Sense, Ui, WidgetInfo};

use super::fault::CURSORS;
use crate::ui::icons::{focus_ring, hold_arrows};
use crate::ui::numbers::{short, tick};
use crate::ui::palette::class_color;
use crate::ui::theme;
use crate::ui::widgets::{
    ChartMark, ChartTrace, CursorMove, PlotCursor, TraceChart, cursor_letter, page_hears_keys,
    trace_area,
};
use crate::workbench::Workbench;
use crate::workbench::explore::{EegBrowser, EegView, KeyUse, PageTrace, TraceSource, common_unit};
use atomscope_engine::features::measure::{POINTS_PER_MM, points_per_unit};
use atomscope_engine::features::signal_kind::{SignalKind, clean_label};

/// Columns drawn of all traces together: more would make frames slow.
const MOST_COLUMNS: usize = 48_000;
/// Annotations drawn on a page.
const MOST_MARKS: usize = 200;

/// The traces, of the height given.
pub(super) fn traces_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    browser: &EegBrowser,
    view: &mut EegView,
    height: f32,
) -> HeardTraces {
    let size = egui::vec2(ui.available_width(), height);
    let (mut rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let n_lanes = view.n_lanes(browser.n_shown());
    if n_lanes < browser.n_shown() {
        let bar = Rect::from_min_max(egui::pos2(rect.right() - BAR_WIDTH, rect.top()), rect.max);
        rect.max.x -= BAR_WIDTH + 2.0;
        lane_bar_ui(ui, bar, (n_lanes, browser.n_shown()), view);
    }
    let id = ui.make_persistent_id("eeg traces");
    let response = ui.interact(rect, id, Sense::click_and_drag());
    let area = trace_area(ui, rect);
    view.n_columns = n_columns(ui, area, browser);
    view.height_mm = f64::from(area.height()) / POINTS_PER_MM;
    let lanes = lanes(browser, view);
    let mut marks = marks(ui, browser, view);
    marks.extend(epoch_mark(ui, workbench, view));
    let gaps = gaps(browser, view);
    let page = browser.page();
    let chart = TraceChart {
        traces: &lanes,
        lane_notes: &[],
        covered_s: page.map_or((0.0, 1.0), |page| {
            (page.request.start_s, page.request.span_s)
        }),
        shown_s: (view.start_s, view.span_s),
        gaps: &gaps,
        marks: &marks,
        cursors: view.cursors,
        revision: page.map_or(0, |page| std::sync::Arc::as_ptr(page) as u64),
    };
    let unit = page
        .map(|page| common_unit(&page.traces))
        .unwrap_or_default();
    chart.tell(ui, &response, "EEG traces", &unit);
    chart.paint(ui, rect, |time_s, step| {
        time_label(browser, view, time_s, step)
    });
    paint_scale(ui, browser, view, area);
    if response.has_focus() {
        hold_arrows(ui, id);
        focus_ring(ui, rect.shrink(2.0));
    }
    let is_called = workbench.view().ask.is_none()
        && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::F6));
    if response.clicked() || is_called {
        response.request_focus();
    }
    let lane = |y: f32| {
        chart
            .lane_at(area, y)
            .and_then(|lane| Some(page?.traces.get(lane)?.source.name.clone()))
    };
    let is_over_names = response
        .hover_pos()
        .is_some_and(|place| place.x < area.left());
    match is_over_names && n_lanes < browser.n_shown() {
        true => scroll_lanes(ui, view, area.height() / n_lanes.max(1) as f32),
        false => mouse(ui, &response, area, view, lane),
    }
    let hears = response.has_focus() || page_hears_keys(ui);
    let hears = hears && workbench.view().ask.is_none();
    // While scoring, letters are states.
    let is_free = hears && view.keys != KeyUse::Scores;
    let takes = if is_free { cursor_letter(ui) } else { None };
    if let Some(cursor) = takes {
        view.take_cursor(cursor);
    }
    cursors_ui(ui, browser, view, area, takes);
    if hears {
        keys(ui, browser, view);
    }
    let pointed = response.hover_pos().filter(|place| area.contains(*place));
    let share = |x: f32| f64::from((x - area.left()) / area.width());
    HeardTraces {
        hears,
        pointed_s: pointed.map(|place| view.start_s + share(place.x) * view.span_s),
    }
}

/// Whether letters are meant for the traces, and the time that is pointed at.
pub(super) struct HeardTraces {
    pub(super) hears: bool,
    pub(super) pointed_s: Option<f64>,
}

/// Width of the bar that scrolls the channels.
const BAR_WIDTH: f32 = 10.0;

/// The wheel over the names goes through the channels.
fn scroll_lanes(ui: &Ui, view: &mut EegView, lane_height: f32) {
    let id = ui.scope_id().with("scrolled lanes");
    let points = ui.input(|input| input.smooth_scroll_delta().y);
    let left: f32 = ui.data(|data| data.get_temp(id).unwrap_or(0.0));
    let lanes = (left - points) / lane_height.max(1.0);
    let whole = lanes.trunc();
    view.first_lane = view.first_lane.saturating_add_signed(whole as isize);
    ui.data_mut(|data| data.insert_temp(id, (lanes - whole) * lane_height.max(1.0)));
}

/// Which of the channels are in the lanes; drag to show others.
fn lane_bar_ui(ui: &Ui, bar: Rect, (n_lanes, n_all): (usize, usize), view: &mut EegView) {
    let tones = theme::tones(ui);
    let id = ui.scope_id().with("channels shown");
    let response = ui.interact(bar, id, Sense::click_and_drag());
    let enabled = ui.is_enabled();
    response.widget_info(|| WidgetInfo::labeled(Role::ScrollBar, enabled, "Channels shown"));
    let per_lane = bar.height() / n_all.max(1) as f32;
    if let Some(place) = response.interact_pointer_pos() {
        let lane = ((place.y - bar.top()) / per_lane) as usize;
        view.first_lane = lane.saturating_sub(n_lanes / 2).min(n_all - n_lanes);
    }
    ui.painter().rect_filled(bar, 3.0, tones.faint);
    let top = bar.top() + view.first_lane as f32 * per_lane;
    let size = egui::vec2(bar.width(), n_lanes as f32 * per_lane);
    let handle = Rect::from_min_size(egui::pos2(bar.left(), top), size);
    let color = match response.hovered() || response.dragged() {
        true => tones.accent,
        false => tones.weak,
    };
    ui.painter().rect_filled(handle, 3.0, color);
    let last = (view.first_lane + n_lanes).min(n_all);
    let first = view.first_lane + 1;
    response.on_hover_text(format!("Channels {first} to {last} of {n_all}. Drag, wheel over the names, or Ctrl+Page Up and Down."));
}

/// A column for every pixel; with many traces, whose lanes are low, for every second or third.
fn n_columns(ui: &Ui, area: Rect, browser: &EegBrowser) -> usize {
    let pixels = (area.width() * ui.pixels_per_point()).round().max(1.0) as usize;
    pixels.min((MOST_COLUMNS / browser.traces().len().max(1)).max(500))
}

fn lanes<'a>(browser: &'a EegBrowser, view: &EegView) -> Vec<ChartTrace<'a>> {
    let direction = if view.is_negative_up { -1.0 } else { 1.0 };
    let chosen = browser.chosen().map(|trace| trace.name.as_str());
    let traces = browser.page().map_or(&[][..], |page| &page.traces);
    let lane = |(lane, trace): (usize, &'a PageTrace)| {
        let sensitivity = view.sensitivity_of(&trace.source.name);
        ChartTrace {
            name: clean_label(&trace.source.name),
            columns: &trace.columns,
            lane,
            level: if view.corrects_baseline {
                trace.level
            } else {
                0.0
            },
            gain: (direction * points_per_unit(sensitivity)) as f32,
            color: trace.source.color().map(class_color),
            // Heart, eyes and breathing never draw over EEG.
            is_clipped: view.clips_lanes || trace.source.kind != SignalKind::Eeg,
            is_bad: trace.source.is_bad,
            is_chosen: chosen == Some(trace.source.name.as_str()) && view.chosen.is_some(),
        }
    };
    traces.iter().enumerate().map(lane).collect()
}

fn marks<'a>(ui: &Ui, browser: &'a EegBrowser, view: &EegView) -> Vec<ChartMark<'a>> {
    let tones = theme::tones(ui);
    let near = browser.annotations().near(view.start_s, view.end_s());
    let reaches = near
        .iter()
        .filter(|row| row.onset_s + row.duration_s >= view.start_s);
    reaches
        .take(MOST_MARKS)
        .map(|row| ChartMark {
            onset_s: row.onset_s,
            duration_s: row.duration_s,
            text: &row.text,
            color: if row.own.is_some() {
                tones.ok
            } else {
                tones.stale
            },
        })
        .collect()
}

/// The epoch that is scored by the next key.
fn epoch_mark<'a>(ui: &Ui, workbench: &'a Workbench, view: &EegView) -> Option<ChartMark<'a>> {
    let scores = workbench
        .epoch_scores()
        .filter(|_| view.keys == KeyUse::Scores)?;
    let middle_s = view.start_s + view.span_s / 2.0;
    let epoch = (middle_s / scores.epoch_s).max(0.0).floor();
    let state = scores.epochs.get(epoch as usize).copied().flatten();
    let state = state.and_then(|state| scores.states.get(usize::from(state)));
    Some(ChartMark {
        onset_s: epoch * scores.epoch_s,
        duration_s: scores.epoch_s,
        text: state.map_or("not scored", String::as_str),
        color: theme::tones(ui).accent,
    })
}

fn gaps(browser: &EegBrowser, view: &EegView) -> Vec<(f64, f64)> {
    let gaps = browser.record().gaps.iter();
    let gaps = gaps.map(|gap| (gap.onset_s, gap.duration_s.max(0.0)));
    gaps.filter(|(onset_s, duration_s)| {
        *onset_s <= view.end_s() && onset_s + duration_s >= view.start_s
    })
    .collect()
}

/// A time as seconds, or on the clock of the recording.
pub(super) fn time_label(browser: &EegBrowser, view: &EegView, time_s: f64, step: f64) -> String {
    let start = browser.record().start.filter(|_| view.shows_clock);
    let clock = start.and_then(|start| start.plus_seconds(time_s));
    match clock {
        Some(clock) => {
            let whole = format!("{:02}:{:02}:{:02}", clock.hour, clock.minute, clock.second);
            match step {
                fine if fine < 0.01 => format!("{whole}.{:03}", clock.nanosecond / 1_000_000),
                brief if brief < 1.0 => format!("{whole}.{:02}", clock.nanosecond / 10_000_000),
                _ => whole,
            }
        }
        None if step >= 60.0 => crate::ui::numbers::clock(time_s),
        None => format!("{} s", tick(time_s, step)),
    }
}

/// A bar of a round value and the sensitivity beside it.
fn paint_scale(ui: &Ui, browser: &EegBrowser, view: &EegView, area: Rect) {
    let Some(page) = browser.page() else {
        return;
    };
    let tones = theme::tones(ui);
    let font = theme::small_font(ui);
    let sensitivity = view.sensitivity_of("");
    let unit = common_unit(&page.traces);
    // About eight millimetres, in a round number of units.
    let value = crate::ui::numbers::tick_step(sensitivity * 8.0, 1.0);
    let height = (value * points_per_unit(sensitivity)) as f32;
    let foot = area.right_bottom() + egui::vec2(-10.0, -10.0);
    let bar = Rect::from_min_max(foot - egui::vec2(2.0, height), foot);
    let text = format!("{} {unit}", short(value));
    let galley = ui.painter().layout_no_wrap(text, font, tones.strong);
    let place = bar.left_center() - egui::vec2(galley.size().x + 5.0, galley.size().y / 2.0);
    let ground = Rect::from_min_size(place, galley.size())
        .union(bar)
        .expand(3.0);
    ui.painter()
        .rect_filled(ground, 3.0, tones.surface.gamma_multiply(0.85));
    ui.painter().rect_filled(bar, 0.0, tones.strong);
    ui.painter().galley(place, galley, tones.strong);
}

/// Wheel, drags and clicks.
fn mouse(
    ui: &Ui,
    response: &egui::Response,
    area: Rect,
    view: &mut EegView,
    lane: impl Fn(f32) -> Option<String>,
) {
    let (start_s, span_s) = (view.start_s, view.span_s);
    let time_at = |x: f32| start_s + f64::from((x - area.left()) / area.width()) * span_s;
    if let Some(pointer) = response.hover_pos() {
        let (zoom, scroll) = ui.input(|input| (input.zoom_delta(), input.smooth_scroll_delta()));
        if zoom != 1.0 {
            view.zoom(1.0 / f64::from(zoom), time_at(pointer.x));
        } else if scroll != egui::Vec2::ZERO {
            let points = f64::from(scroll.x + scroll.y);
            view.start_s -= points / f64::from(area.width()) * span_s;
        }
    }
    let pans =
        response.dragged_by(PointerButton::Secondary) || response.dragged_by(PointerButton::Middle);
    if pans {
        view.start_s -= f64::from(response.drag_delta().x / area.width()) * span_s;
    }
    let Some(pointer) = response.interact_pointer_pos() else {
        return;
    };
    let time_s = time_at(pointer.x.clamp(area.left(), area.right()));
    let pressed = ui.input(|input| input.pointer.press_origin());
    if response.drag_started_by(PointerButton::Primary) {
        let origin = pressed.unwrap_or(pointer);
        let from_s = time_at(origin.x.clamp(area.left(), area.right()));
        view.cursors = Some((from_s, time_s));
        view.chosen = lane(origin.y).or(view.chosen.take());
    } else if response.dragged_by(PointerButton::Primary) {
        if let Some((_, b_s)) = &mut view.cursors {
            *b_s = time_s;
        }
    } else if response.double_clicked() {
        view.cursors = None;
    } else if response.clicked() {
        view.chosen = lane(pointer.y).or(view.chosen.take());
    }
}

/// The measure cursors: dragged, or moved by keys once their letter was pressed.
fn cursors_ui(
    ui: &mut Ui,
    browser: &EegBrowser,
    view: &mut EegView,
    area: Rect,
    takes: Option<usize>,
) {
    let Some((a_s, b_s)) = view.cursors else {
        return;
    };
    let (start_s, span_s) = (view.start_s, view.span_s);
    let width = f64::from(area.width());
    let time_at = |x: f32| start_s + f64::from(x - area.left()) / width * span_s;
    let x_at = |time_s: f64| area.left() + ((time_s - start_s) / span_s * width) as f32;
    for (place, (name, time_s)) in CURSORS.into_iter().zip([a_s, b_s]).enumerate() {
        let id = ui.make_persistent_id(("measure cursor", place));
        if takes == Some(place) {
            ui.memory_mut(|memory| memory.request_focus(id));
        }
        let cursor = PlotCursor {
            name,
            shown_s: time_s,
            x: x_at(time_s),
            time_at: &time_at,
            over: area,
            flag_y: area.bottom() - theme::small_font(ui).size,
            is_active: place == view.active_cursor,
            page: "a page",
        };
        let rate_hz = browser.chosen().map_or(1.0, |trace| trace.rate_hz);
        match cursor.show(ui, id) {
            Some(CursorMove::To(to_s)) => view.put_cursor(place, to_s),
            Some(CursorMove::Samples(0)) => view.active_cursor = place,
            Some(CursorMove::Samples(n)) => view.step_cursor(place, n, rate_hz),
            Some(CursorMove::Pages(n)) => view.page_cursor(place, n),
            None => {}
        }
    }
}

/// The keys the field knows.
fn keys(ui: &Ui, browser: &EegBrowser, view: &mut EegView) {
    let pressed =
        |key: Key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
    let second_s = 1.0_f64.min(view.span_s / 10.0);
    view.start_s += second_s * (pressed(Key::ArrowRight) as f64 - pressed(Key::ArrowLeft) as f64);
    view.start_s += view.span_s * (pressed(Key::PageDown) as f64 - pressed(Key::PageUp) as f64);
    if pressed(Key::Home) > 0 {
        view.start_s = 0.0;
    }
    if pressed(Key::End) > 0 {
        view.start_s = browser.duration_s() - view.span_s;
    }
    let n_lanes = view.n_lanes(browser.n_shown()) as isize;
    let with_ctrl =
        |key: Key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::COMMAND, key));
    let pages_on = with_ctrl(Key::PageDown) as isize - with_ctrl(Key::PageUp) as isize;
    view.first_lane = view.first_lane.saturating_add_signed(pages_on * n_lanes);
    let lanes_on = pressed(Key::ArrowDown) as isize - pressed(Key::ArrowUp) as isize;
    if lanes_on != 0 {
        choose_lane(browser, view, lanes_on);
    }
    for _ in 0..pressed(Key::Plus) + pressed(Key::Equals) {
        view.step_sensitivity(true);
    }
    for _ in 0..pressed(Key::Minus) {
        view.step_sensitivity(false);
    }
}

/// Chooses the trace some lanes below the chosen one.
fn choose_lane(browser: &EegBrowser, view: &mut EegView, lanes_on: isize) {
    let is_shown = |trace: &&TraceSource| !view.hidden.contains(&trace.name);
    let traces: Vec<&TraceSource> = browser.traces().iter().filter(is_shown).collect();
    let is_chosen = |trace: &&TraceSource| Some(&trace.name) == view.chosen.as_ref();
    let place = match traces.iter().position(is_chosen) {
        Some(place) => place.saturating_add_signed(lanes_on),
        None => view.first_lane,
    };
    let place = place.min(traces.len().saturating_sub(1));
    view.chosen = traces.get(place).map(|trace| trace.name.clone());
    // The lanes follow it.
    let n_lanes = view.n_lanes(traces.len());
    let lowest = (place + 1).saturating_sub(n_lanes).min(place);
    view.first_lane = view.first_lane.clamp(lowest, place);
}
