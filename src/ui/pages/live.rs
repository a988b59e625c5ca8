//! The Live page: a source and a trained model, then traces or files as they come, with what is decided about them.

use std::ops::Range;

use egui::{Align2, Button, Rect, Response, RichText, Sense, TextEdit, Ui, pos2, vec2};

use super::live_inbox::inbox_ui;
use crate::ui::elements::{self, button, choice, fact, help, page_title, section, switch, wrong};
use crate::ui::numbers::{count, percent, short, tick};
use crate::ui::palette::{class_color, mix};
use crate::ui::theme;
use crate::ui::widgets::{
    ChartMark, ChartPlot, ChartTable, ChartTrace, Edit, NumberField, TraceChart, empty_state,
    extent, trace_area,
};
use crate::workbench::{
    Action, Ask, Draft, LiveAction, LiveAlarm, LiveForm, LiveStage, LiveTraces, LiveView, PathAsk,
    ShownDecision, SourceKind, Workbench,
};
use atomscope_engine::export::{Chart, Series, Stroke, series_ink};
use atomscope_engine::records::counted;

/// Height of the ribbon.
const RIBBON: f32 = 26.0;
/// Decisions of files or rows that the ribbon shows.
const RIBBON_CELLS: usize = 120;
/// Sentences of the stream that are listed.
const MOST_NOTES: usize = 6;
/// Alarms that are listed.
const MOST_ALARMS: usize = 20;

fn push(actions: &mut Vec<Action>, action: LiveAction) {
    actions.push(Action::Live(action));
}

fn ask(actions: &mut Vec<Action>, what: PathAsk) {
    actions.push(Action::Ask(Ask::Path(what)));
}

/// The Live page.
pub(in crate::ui) fn live_page_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    _draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    page_title(ui, "Live", "a trained model applied to a live stream");
    let live = workbench.live();
    let width = theme::body_font(ui).size * 24.0;
    let (left, right) = elements::two_columns(ui, width);
    elements::scrolling_column(ui, left, "stream", |ui| {
        buttons_ui(ui, workbench, actions);
        if let Some(problem) = live.problem() {
            wrong(ui, problem);
        }
        if !live.is_running() {
            source_ui(ui, live, actions);
            model_ui(ui, live, actions);
        }
        if let Some(view) = live.view() {
            facts_ui(ui, live, view, actions);
        }
    });
    elements::column(ui, right, "what comes", |ui| match live.view() {
        Some(view) => view_ui(ui, live, view, actions),
        None if live.is_running() => {
            empty_state(ui, "The stream is being opened", None);
        }
        None => {
            let text = "A watched folder, a growing file, a Lab Streaming Layer stream or a recording appears here as its data arrive, with the decisions of the model. Choose the source and the model at the left.";
            empty_state(ui, text, None);
        }
    });
}

fn buttons_ui(ui: &mut Ui, workbench: &Workbench, actions: &mut Vec<Action>) {
    let live = workbench.live();
    ui.horizontal_wrapped(|ui| {
        if !live.is_running() {
            let obstacle = workbench.live_obstacle();
            let start = ui.add_enabled(obstacle.is_none(), Button::new("Follow the stream"));
            let start = start
                .on_hover_text("Reads and judges incoming data until it is stopped")
                .on_disabled_hover_text(obstacle.unwrap_or_default());
            if start.clicked() {
                push(actions, LiveAction::Start);
            }
            return;
        }
        let text = "Ends the stream; its state is saved, and the same source can be resumed";
        if button(ui, "End", text) {
            push(actions, LiveAction::Stop);
        }
        let (name, text) = match live.is_held() {
            false => (
                "Hold",
                "Freezes the display; incoming data are still judged and recorded",
            ),
            true => ("Resume", "Shows the newest data and follows them"),
        };
        if button(ui, name, text) {
            push(actions, LiveAction::Hold);
        }
        let is_recording = live.view().is_some_and(|view| view.recording.is_some());
        if is_recording {
            if button(ui, "End recording", "What was recorded is complete") {
                push(actions, LiveAction::EndRecording);
            }
        } else {
            let text = "Keeps all incoming data from now on, without loss, in a new folder";
            if button(ui, "Record…", text) {
                ask(actions, PathAsk::RecordStream);
            }
        }
    });
}

fn source_ui(ui: &mut Ui, live: &LiveStage, actions: &mut Vec<Action>) {
    section(ui, "Source");
    let mut form = live.form().clone();
    let names = SourceKind::ALL.map(SourceKind::name);
    let current = SourceKind::ALL.iter().position(|kind| *kind == form.kind);
    let explained = match form.kind {
        SourceKind::Folder => {
            "New recordings or fault records are judged, each once; half-written ones are waited for"
        }
        SourceKind::File => "An EDF or BDF file is followed while it is written",
        SourceKind::Lsl => {
            "A Lab Streaming Layer stream on this network, read through your own liblsl"
        }
        SourceKind::Replay => {
            "A recorded stream or an EDF or BDF recording, played back as it was received"
        }
    };
    if let Some(place) = choice(ui, "Kind", explained, current.unwrap_or(0), &names) {
        form.kind = SourceKind::ALL[place];
    }
    place_ui(ui, &mut form, actions);
    if form.kind == SourceKind::Lsl {
        streams_ui(ui, live, &mut form, actions);
    }
    if form.kind == SourceKind::Replay {
        // Not kept within its limits while it is typed: 0.5 begins with 0.
        let is_usable = (0.1..=1000.0).contains(&form.speed);
        let field = NumberField {
            label: "Speed",
            symbol: "",
            help: "Speed of the playback, in multiples of the original (default 1)",
            unit: "×",
            range: 1.0..=20.0,
            logarithmic: false,
            whole: false,
            default: 1.0,
            problem: (!is_usable)
                .then_some("The speed is 0.1 to 1000; the nearest of these is used"),
        };
        let _: Edit = field.show(ui, &mut form.speed);
    }
    if form != *live.form() {
        push(actions, LiveAction::Edit(form));
    }
}

fn place_ui(ui: &mut Ui, form: &mut LiveForm, actions: &mut Vec<Action>) {
    let (name, hint) = match form.kind {
        SourceKind::Folder => ("Folder", "/path/to/folder"),
        SourceKind::File => ("File", "/path/to/recording.edf"),
        SourceKind::Lsl => ("Stream", "name of the stream"),
        SourceKind::Replay => ("Recording", "/path/to/recording"),
    };
    let label = ui.label(name);
    let field = TextEdit::singleline(&mut form.place)
        .desired_width(f32::INFINITY)
        .hint_text(hint);
    let text = "Where the stream comes from";
    ui.add(field).labelled_by(label.id).on_hover_text(text);
    if form.kind == SourceKind::Lsl {
        return;
    }
    ui.horizontal(|ui| {
        let folder = matches!(form.kind, SourceKind::Folder | SourceKind::Replay);
        if folder && ui.button("Choose folder…").on_hover_text(text).clicked() {
            ask(actions, PathAsk::LiveFolder);
        }
        let file = matches!(form.kind, SourceKind::File | SourceKind::Replay);
        if file && ui.button("Choose file…").on_hover_text(text).clicked() {
            ask(actions, PathAsk::LiveFile);
        }
    });
}

fn streams_ui(ui: &mut Ui, live: &LiveStage, form: &mut LiveForm, actions: &mut Vec<Action>) {
    let name = match live.is_finding() {
        true => "Looking…",
        false => "Find streams",
    };
    let find = ui.add_enabled(!live.is_finding(), Button::new(name));
    if find
        .on_hover_text("Lists the streams that answer within two seconds")
        .clicked()
    {
        push(actions, LiveAction::FindStreams);
    }
    if let Some(problem) = live.finding_problem() {
        wrong(ui, problem);
        return;
    }
    match live.found() {
        Some([]) => help(ui, "No stream answered on this network"),
        Some(found) => {
            for stream in found {
                let (n, rate) = (stream.n_channels, short(stream.rate_hz));
                let text = format!("{} · {n} channels · {rate} Hz", stream.name);
                let is_chosen = form.place == stream.name;
                let row = ui.selectable_label(is_chosen, text);
                if row.on_hover_text(&stream.source_id).clicked() {
                    form.place = stream.name.clone();
                }
            }
        }
        None => {}
    }
}

fn model_ui(ui: &mut Ui, live: &LiveStage, actions: &mut Vec<Action>) {
    section(ui, "Model");
    let mut form = live.form().clone();
    ui.horizontal_wrapped(|ui| {
        let open = ui.selectable_label(form.model.is_none(), "Open session");
        let text = "The final model of the session that is open (Run menu)";
        if open.on_hover_text(text).clicked() {
            push(actions, LiveAction::ChooseModel(None));
        }
        let file = ui.selectable_label(form.model.is_some(), "Another session…");
        if file
            .on_hover_text("The final model of a session in a file")
            .clicked()
        {
            ask(actions, PathAsk::LiveModel);
        }
    });
    if let Some(path) = &form.model {
        help(ui, &path.display().to_string());
    }
    let text = "From labels.csv, sub-folders named as classes, annotations, or by hand";
    switch(ui, "Learn when labels arrive", text, &mut form.learns);
    if form.learns {
        let is_usable = (0.5..=1.0).contains(&form.forgetting);
        let field = NumberField {
            label: "Forgetting",
            symbol: "λ",
            help: "Weight of what was learned at every mini-batch (default .98)",
            unit: "",
            range: 0.9..=1.0,
            logarithmic: false,
            whole: false,
            default: 0.98,
            problem: (!is_usable).then_some("The weight is 0.5 to 1; the nearest of these is used"),
        };
        let _: Edit = field.show(ui, &mut form.forgetting);
        let text =
            "The proposed answer to an alarm is applied at once when decisions have become worse";
        switch(ui, "Answer alarms by rule", text, &mut form.follows_rule);
    }
    if form != *live.form() {
        push(actions, LiveAction::Edit(form));
    }
}

/// Rate, delay, losses, scores, recording and what was said.
fn facts_ui(ui: &mut Ui, live: &LiveStage, view: &LiveView, actions: &mut Vec<Action>) {
    section(ui, "Stream");
    fact(ui, "Source", view.source.clone());
    if let Some(traces) = &view.traces {
        let (n, rate) = (traces.n_channels, short(traces.rate_hz));
        fact(ui, "Channels", format!("{n} at {rate} Hz"));
    }
    let unit = match view.is_of_files() {
        true => "files or rows",
        false => "samples",
    };
    let (came, per_s) = (count(view.n_came as f64), count(view.came_per_s));
    fact(ui, "Came in", format!("{came} {unit}, {per_s}/s"));
    let (decided, per_s) = (count(view.n_decisions as f64), short(view.decided_per_s));
    fact(ui, "Decisions", format!("{decided}, {per_s}/s"));
    if let Some((p50, p99)) = view.delay_s {
        fact(ui, "Delay to decision", delay_text(p50, p99));
    }
    if let (Some(p50), Some(p99)) = (live.shown_delay_s(0.5), live.shown_delay_s(0.99)) {
        fact(ui, "Delay to screen", delay_text(p50, p99));
    }
    let lost = match (view.n_lost, view.lost_s > 0.0) {
        (0, false) => "none".to_owned(),
        (n, false) => format!("{}: the queue was full", counted(n as usize, "sample")),
        (0, true) => format!("{} s before they were received", short(view.lost_s)),
        (n, true) => format!(
            "{} here, {} s before",
            counted(n as usize, "sample"),
            short(view.lost_s)
        ),
    };
    let lost_tone = match view.n_lost > 0 || view.lost_s > 0.0 {
        true => theme::tones(ui).warning,
        false => ui.visuals().text_color(),
    };
    fact_in(ui, "Lost", &lost, lost_tone);
    if let Some((factor, n_batches)) = view.learning {
        fact(
            ui,
            "Learning",
            format!("λ {factor}, {}", counted(n_batches, "mini-batch")),
        );
    }
    if let Some(folder) = &view.recording {
        fact(ui, "Recording into", folder.display().to_string());
    }
    if live.recorded().is_some() {
        let export = ui.add_enabled(view.recording.is_none(), Button::new("Export as EDF+…"));
        let export = export
            .on_hover_text("The last recording with decisions and alarms as annotations")
            .on_disabled_hover_text("End the recording first");
        if export.clicked() {
            ask(actions, PathAsk::ExportStream);
        }
    }
    notes_ui(ui, view);
}

fn notes_ui(ui: &mut Ui, view: &LiveView) {
    if view.notes.is_empty() {
        return;
    }
    section(ui, "Said");
    for note in view.notes.iter().rev().take(MOST_NOTES) {
        help(ui, note);
    }
}

fn fact_in(ui: &mut Ui, name: &str, value: &str, color: egui::Color32) {
    let tones = theme::tones(ui);
    ui.horizontal(|ui| {
        elements::fixed_label(ui, RichText::new(name).color(tones.weak));
        ui.add(egui::Label::new(RichText::new(value).color(color)).wrap());
    });
}

fn delay_text(p50_s: f64, p99_s: f64) -> String {
    format!("{:.0} ms, p99 {:.0} ms", 1e3 * p50_s, 1e3 * p99_s)
}

/// What comes: the decision now, traces or files, the ribbon, scores and alarms.
fn view_ui(ui: &mut Ui, live: &LiveStage, view: &LiveView, actions: &mut Vec<Action>) {
    now_ui(ui, live, view);
    let em = theme::body_font(ui).size;
    let below = em * 14.0;
    let room = (ui.available_height() - below - RIBBON - em * 2.0).max(em * 10.0);
    match &view.traces {
        Some(traces) => traces_ui(ui, view, traces, room),
        None => {
            ui.allocate_ui(vec2(ui.available_width(), room), |ui| {
                ui.set_min_height(room);
                inbox_ui(ui, live, view, actions);
            });
        }
    }
    ribbon_ui(ui, view);
    ui.add_space(theme::GRID);
    let rect = ui.available_rect_before_wrap();
    let middle = rect.left() + rect.width() * 0.55;
    let left = Rect::from_min_max(rect.min, pos2(middle - theme::GRID, rect.max.y));
    let right = Rect::from_min_max(pos2(middle + theme::GRID, rect.min.y), rect.max);
    elements::column(ui, left, "scores", |ui| {
        scores_ui(ui, view, left.height() - em * 2.5)
    });
    elements::scrolling_column(ui, right, "alarms", |ui| alarms_ui(ui, view, actions));
}

/// The newest decision in one line.
fn now_ui(ui: &mut Ui, live: &LiveStage, view: &LiveView) {
    let tones = theme::tones(ui);
    ui.horizontal(|ui| {
        let Some(now) = view.now() else {
            ui.label(RichText::new("No decision yet").color(tones.weak));
            return;
        };
        let size = theme::body_font(ui).size;
        let (rect, _) = ui.allocate_exact_size(vec2(size, size), Sense::hover());
        ui.painter()
            .circle_filled(rect.center(), size * 0.42, class_color(now.class));
        ui.label(
            RichText::new(&now.decision.class)
                .heading()
                .color(tones.strong),
        );
        ui.label(in_words(now));
        let state = match (live.is_held(), view.is_over) {
            (true, _) => "paused, still judged",
            (false, true) => "ended",
            (false, false) => "live",
        };
        ui.label(RichText::new(state).color(tones.accent));
    });
}

/// Margin, prediction set and fit.
fn in_words(shown: &ShownDecision) -> String {
    let decision = &shown.decision;
    let mut text = format!("margin {}", short(decision.margin));
    match decision.set.as_deref() {
        Some([]) => text.push_str(" · no class is likely enough"),
        Some(set) => text.push_str(&format!(" · {{{}}}", set.join(", "))),
        None => {}
    }
    if let Some(p) = decision.fit_p {
        text.push_str(&format!(" · fit p {p:.2}"));
    }
    if let Some(start_s) = decision.start_s {
        text.push_str(&format!(" · from {start_s:.1} s"));
    }
    text
}

fn traces_ui(ui: &mut Ui, view: &LiveView, traces: &LiveTraces, height: f32) {
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let area = trace_area(ui, rect);
    let n_lanes = traces.names.len().max(1);
    let scale = lane_scale(traces);
    let gain = area.height() / n_lanes as f32 / scale;
    let charted: Vec<ChartTrace<'_>> = traces
        .names
        .iter()
        .zip(&traces.columns)
        .enumerate()
        .map(|(lane, (name, columns))| ChartTrace {
            name,
            columns,
            lane,
            level: middle_of(columns),
            gain,
            color: None,
            is_clipped: true,
            is_bad: false,
            is_chosen: false,
        })
        .collect();
    let color = theme::tones(ui).warning;
    let marks: Vec<ChartMark<'_>> = alarm_times(view)
        .map(|(alarm, onset_s)| ChartMark {
            onset_s,
            duration_s: 0.0,
            text: &alarm.sentence,
            color,
        })
        .collect();
    let chart = TraceChart {
        traces: &charted,
        lane_notes: &[],
        covered_s: traces.covered_s,
        shown_s: traces.shown_s,
        gaps: &[],
        marks: &marks,
        cursors: None,
        revision: traces.revision,
    };
    chart.paint(ui, rect, tick);
    let unit = &traces.unit;
    let shown = match traces.names.len() < traces.n_channels {
        true => format!(
            " · {} of {} channels",
            traces.names.len(),
            traces.n_channels
        ),
        false => String::new(),
    };
    let text = format!("a lane is {} {unit}{shown}", short(f64::from(scale)));
    let place = pos2(area.right() - 4.0, area.bottom() - 2.0);
    let font = theme::small_font(ui);
    let weak = theme::tones(ui).weak;
    let galley = ui.painter().layout_no_wrap(text.clone(), font, weak);
    let ground = Align2::RIGHT_BOTTOM.anchor_size(place, galley.size());
    let surface = theme::tones(ui).surface;
    ui.painter().rect_filled(ground.expand(3.0), 2.0, surface);
    ui.painter().galley(ground.min, galley, weak);
    let said = format!("Traces of {} channels, {text}", traces.n_channels);
    chart.tell(ui, &response, &said, unit);
}

/// Alarms with a time, and when.
fn alarm_times(view: &LiveView) -> impl Iterator<Item = (&LiveAlarm, f64)> {
    let timed = |alarm: &'_ LiveAlarm| alarm.alarm.start_s;
    view.alarms
        .iter()
        .filter_map(move |alarm| Some((alarm, timed(alarm)?)))
}

/// The value in the middle of a trace.
fn middle_of(columns: &[atomscope_engine::records::overview::MinMax]) -> f32 {
    let all = columns.iter().filter(|column| !column.is_empty());
    let (low, high) = all.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), column| {
        (low.min(column.min), high.max(column.max))
    });
    match low <= high {
        true => (low + high) / 2.0,
        false => 0.0,
    }
}

/// Height of a lane in the traces' unit: the range of the median channel as 1, 2 or 5 and zeros, so that it rarely changes.
fn lane_scale(traces: &LiveTraces) -> f32 {
    let range = |columns: &Vec<atomscope_engine::records::overview::MinMax>| {
        let all = columns.iter().filter(|column| !column.is_empty());
        let (low, high) = all.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), column| {
            (low.min(column.min), high.max(column.max))
        });
        (high - low).max(0.0)
    };
    let mut ranges: Vec<f32> = traces.columns.iter().map(range).collect();
    ranges.sort_by(f32::total_cmp);
    let median = ranges.get(ranges.len() / 2).copied().unwrap_or(0.0);
    if median <= 0.0 || !median.is_finite() {
        return 1.0;
    }
    let power = 10f32.powf(median.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps
        .into_iter()
        .find(|step| *step >= median)
        .unwrap_or(median)
}

/// The last decisions as a band: on the time of the traces, or one cell after the other.
fn ribbon_ui(ui: &mut Ui, view: &LiveView) {
    let size = vec2(ui.available_width(), RIBBON);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let tones = theme::tones(ui);
    let area = match view.traces {
        Some(_) => Rect::from_x_y_ranges(trace_area(ui, rect).x_range(), rect.y_range()),
        None => rect,
    };
    let painter = ui.painter_at(area);
    painter.rect_filled(area, 2.0, tones.surface);
    let cells = cells(view, area);
    for (shown, cell) in &cells {
        let is_sure = shown.decision.set.as_ref().is_none_or(|set| set.len() == 1);
        let color = match is_sure {
            true => class_color(shown.class),
            false => mix(class_color(shown.class), tones.page, 0.55),
        };
        painter.rect_filled(cell.shrink2(vec2(0.5, 0.0)), 1.0, color);
    }
    for x in alarm_places(view, &cells, area) {
        let stroke = egui::Stroke::new(2.0, tones.warning);
        painter.vline(x, area.y_range(), stroke);
    }
    tell_decisions(ui, &response, view, &cells);
    let pointer = response.hover_pos();
    let under = pointer.and_then(|at| cells.iter().find(|(_, cell)| cell.contains(at)));
    if let Some((shown, _)) = under {
        let text = format!("{}: {}", shown.decision.class, in_words(shown));
        response.on_hover_text_at_pointer(text);
    }
}

/// The band as a table: class, margin, prediction set and fit of every decision, the lowest and the highest margin of
/// joined ones.
fn tell_decisions(ui: &Ui, figure: &Response, view: &LiveView, cells: &[(&ShownDecision, Rect)]) {
    let name = match view.now() {
        Some(now) => format!("Decisions, the newest {}", now.decision.class),
        None => "Decisions, none yet".to_owned(),
    };
    let cell = |column: usize, places: Range<usize>| match (column, &cells[places]) {
        (0, shown) => {
            let mut classes: Vec<&str> = shown.iter().map(|(s, _)| &*s.decision.class).collect();
            classes.dedup();
            Some(classes.join(", then "))
        }
        (_, [(shown, _)]) => Some(in_words(shown)),
        (_, shown) => {
            let margins = extent(shown.iter().map(|(s, _)| s.decision.margin), short);
            margins.map(|margins| format!("margin {margins}"))
        }
    };
    ChartTable {
        n_places: cells.len(),
        place: &|place| format!("decision {}", cells[place].0.number),
        series: &["class", "details"],
        cell: &cell,
    }
    .tell(ui, figure, &name);
}

/// Where each decision lies in the band.
fn cells(view: &LiveView, area: Rect) -> Vec<(&ShownDecision, Rect)> {
    if let (Some(traces), Some(hop_s)) = (&view.traces, view.hop_s) {
        let (start_s, span_s) = traces.shown_s;
        let x = |time_s: f64| {
            area.left() + ((time_s - start_s) / span_s).clamp(-1.0, 2.0) as f32 * area.width()
        };
        let timed = view.decisions.iter().filter_map(|shown| {
            let from_s = shown.decision.start_s?;
            let (from, until) = (x(from_s), x(from_s + hop_s));
            let cell = Rect::from_min_max(
                pos2(from, area.top() + 3.0),
                pos2(until, area.bottom() - 3.0),
            );
            (until > area.left() && from < area.right()).then_some((shown, cell))
        });
        return timed.collect();
    }
    let width = area.width() / RIBBON_CELLS as f32;
    let first = view.decisions.len().saturating_sub(RIBBON_CELLS);
    let last = view.decisions[first..].iter().enumerate();
    last.map(|(place, shown)| {
        let left = area.left() + place as f32 * width;
        let min = pos2(left, area.top() + 3.0);
        (
            shown,
            Rect::from_min_size(min, vec2(width, area.height() - 6.0)),
        )
    })
    .collect()
}

/// Where alarms lie in the band.
fn alarm_places(view: &LiveView, cells: &[(&ShownDecision, Rect)], area: Rect) -> Vec<f32> {
    let numbers = view.alarms.iter().filter_map(|alarm| {
        let of = |(shown, _): &&(&ShownDecision, Rect)| shown.number == alarm.alarm.decision;
        cells.iter().find(of).map(|(_, cell)| cell.left())
    });
    numbers.filter(|x| area.x_range().contains(*x)).collect()
}

/// Windowed scores over the decisions, with alarms as marks.
fn scores_ui(ui: &mut Ui, view: &LiveView, height: f32) {
    section(ui, "Scores of the last 500 with a label");
    let Some(last) = view.course.last() else {
        help(
            ui,
            "Scores appear where labels come: labels.csv, sub-folders, annotations, or by hand",
        );
        return;
    };
    // Of one class alone there is no kappa.
    let kappa = match last.kappa.is_finite() {
        true => format!("{:.2}", last.kappa),
        false => "–".to_owned(),
    };
    let text = format!(
        "{} right, balanced {}, kappa {kappa} of {}",
        percent(last.accuracy),
        percent(last.balanced),
        last.n_known
    );
    ui.label(text);
    let series = |name: &str, place: usize, value: fn(&crate::workbench::LiveScore) -> f64| {
        let points = view.course.iter();
        let points = points.map(|score| [score.decision as f64, value(score)]);
        Series {
            name: name.to_owned(),
            points: points.filter(|point| point[1].is_finite()).collect(),
            spread: Vec::new(),
            ink: series_ink(place),
            stroke: Stroke::Solid,
        }
    };
    let mut all = vec![
        series("accuracy", 0, |score| score.accuracy),
        series("balanced", 1, |score| score.balanced),
        series("kappa", 2, |score| score.kappa),
    ];
    let alarms = view.alarms.iter();
    let alarms: Vec<[f64; 2]> = alarms
        .map(|alarm| [alarm.alarm.decision as f64, 1.0])
        .collect();
    if !alarms.is_empty() {
        all.push(Series {
            name: "alarms".to_owned(),
            points: alarms,
            spread: Vec::new(),
            ink: series_ink(3),
            stroke: Stroke::Dots,
        });
    }
    let chart = Chart::over_batches("Scores", "decisions", all);
    let height = (height - theme::body_font(ui).size * 1.6).max(80.0);
    ChartPlot {
        chart: &chart,
        height,
    }
    .show(ui);
}

/// Alarms with their statistics, and what can be done about them.
fn alarms_ui(ui: &mut Ui, view: &LiveView, actions: &mut Vec<Action>) {
    section(ui, "Changes noticed");
    if view.alarms.is_empty() {
        help(
            ui,
            "ADWIN and Page–Hinkley watch the error when labels arrive, and margin, fit and shares of classes without them",
        );
        return;
    }
    for alarm in view.alarms.iter().rev().take(MOST_ALARMS) {
        ui.label(&alarm.sentence);
        if let Some(answer) = alarm.answer() {
            help(ui, &answer);
        } else if let Some(proposal) = &alarm.proposal {
            ui.horizontal_wrapped(|ui| {
                let text = "Holds from the next mini-batch on, and is recorded as a change by hand";
                if button(ui, proposal.as_str(), text) {
                    push(actions, LiveAction::ApplyProposal(alarm.place));
                }
                if button(ui, "Dismiss", "The alarm has no consequences") {
                    push(actions, LiveAction::DismissAlarm(alarm.place));
                }
            });
        } else {
            help(ui, "Nothing is proposed: the stream does not learn");
        }
        ui.add_space(theme::GRID / 2.0);
    }
}
