//! What a protection engineer reads of a fault record: verdict, impedance plane, distance to fault, events.

use egui::{Color32, ComboBox, DragValue, RichText, Stroke, TextEdit, Ui, Vec2b};
use egui_plot::{Line, MarkerShape, Plot, PlotPoints, Points, Polygon};

use super::fault_list::push;
use crate::ui::elements::{help, section, wide_grid};
use crate::ui::icons::color_dot;
use crate::ui::numbers::{cut, short};
use crate::ui::palette::{class_color, legible, mix, phase_color};
use crate::ui::theme;
use crate::ui::widgets::{ChartTable, extent};
use crate::workbench::explore::{
    FaultAction, FaultRecord, FaultView, ImpedancePlane, LineData, LocusDecision,
};
use crate::workbench::{Action, Workbench};
use atomscope_engine::protection::FaultAnalysis;
use atomscope_engine::protection::distance::Distance;
use atomscope_engine::protection::events::{RecordEvent, breaker_time_s};
use atomscope_engine::protection::impedance::Loop;
use atomscope_engine::protection::line::Line as PowerLine;

/// Rows of events seen at once.
const EVENT_ROWS: f32 = 8.0;

/// Steps of the locus between two marks: half a cycle.
const STEPS_PER_MARK: usize = 8;

/// Verdict, plane, distances and events.
pub(super) fn impedance_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    record: &FaultRecord,
    look: &mut FaultView,
    actions: &mut Vec<Action>,
) {
    let plane = workbench.explore().fault().plane();
    let Some(analysis) = &record.analysis else {
        if let Some(reason) = &record.no_analysis {
            section(ui, "Fault");
            help(ui, reason);
        }
        return events_ui(ui, &record.events, record, look);
    };
    section(ui, "Fault");
    let verdict = analysis
        .verdict
        .map_or("no verdict".to_owned(), |v| v.to_string());
    let times = match (analysis.inception_s, analysis.clearing_s) {
        (Some(from_s), Some(to_s)) => format!(" · {from_s:.4} s → {to_s:.4} s"),
        (Some(from_s), None) => format!(" · from {from_s:.4} s"),
        _ => String::new(),
    };
    let duration = analysis
        .duration_s()
        .map_or(String::new(), |s| format!(" · {} ms", short(s * 1e3)));
    let text = format!("{verdict}{times}{duration}");
    ui.label(RichText::new(text).strong()).on_hover_text(
        "Type and phases by the rule of phasors and sequences, without a model; inception and clearing from the currents",
    );
    let used = format!(
        "Bay {} · {} · cycle before the inception against the one from an eighth of a cycle after it · {:.3} Hz",
        analysis.bay.name,
        analysis.signals.names.join(" "),
        analysis.frequency_hz
    );
    // Names of some files are padded.
    let words: Vec<&str> = used.split_whitespace().collect();
    help(ui, &words.join(" "));
    model_ui(ui, workbench, analysis);
    for warning in &analysis.warnings {
        help(ui, warning);
    }
    section(ui, "Impedance");
    line_table_ui(ui, &workbench.settings().lines, look, actions);
    line_ui(ui, &mut look.line);
    if look.line.is_example() {
        help(
            ui,
            "An example line: enter the data of yours. Until then distances mean nothing, and the report leaves them out.",
        );
    }
    match plane {
        Some(plane) => {
            plane_ui(ui, record, plane);
            distances_ui(ui, plane);
            stays_ui(ui, plane);
        }
        None => help(ui, "Computing…"),
    }
    events_ui(ui, &record.events, record, look);
}

/// What the model says beside the rule, and whether they differ.
fn model_ui(ui: &mut Ui, workbench: &Workbench, analysis: &FaultAnalysis) {
    let Some(judged) = workbench.explore().ribbon().judged() else {
        return;
    };
    let Some(segment) = judged.ribbon.segments.first() else {
        return;
    };
    let class = judged.ribbon.class_name(segment.verdict.class);
    let rule = analysis.verdict.map(|verdict| verdict.class.name());
    let mut text = format!("Model: {class}, margin {}", short(segment.verdict.margin));
    if let Some(assured) = &segment.assurance {
        text += &format!(", fit p {:.3}", assured.fit_p);
    }
    if judged.ribbon.is_uncertain(segment) || analysis.doubts(class) {
        text += ", uncertain";
    }
    match rule.filter(|rule| *rule != class) {
        Some(rule) => {
            let text = RichText::new(format!("{text}; the rule says {rule}"));
            drop(ui.label(text.small().color(theme::tones(ui).warning)));
        }
        None => help(ui, &text),
    }
}

/// The user's own lines: one is taken, kept under a name, or forgotten.
fn line_table_ui(
    ui: &mut Ui,
    lines: &[PowerLine],
    look: &mut FaultView,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_wrapped(|ui| {
        let is_kept = lines.iter().find(|line| line.name == look.line_name);
        let label = ui.label(RichText::new("line").small());
        let combo = ComboBox::from_id_salt("kept lines")
            .selected_text(is_kept.map_or("Own lines", |line| line.name.as_str()))
            .show_ui(ui, |ui| {
                if lines.is_empty() {
                    help(ui, "None yet: enter the data below, a name, and keep them");
                }
                for line in lines {
                    let is_it = line.name == look.line_name;
                    if ui.selectable_label(is_it, &line.name).clicked() {
                        look.line = look.line.with_line(line);
                        look.line_name.clone_from(&line.name);
                    }
                }
            });
        combo.response.labelled_by(label.id).on_hover_text(
            "Lines that you have kept; the one whose name is part of a record's station is chosen automatically",
        );
        let field = TextEdit::singleline(&mut look.line_name)
            .hint_text("name")
            .desired_width(theme::body_font(ui).size * 8.0);
        let field = ui.add(field);
        ui.ctx()
            .accesskit_node_builder(field.id, |node| node.set_label("Name of the line"));
        field.on_hover_text("Own name of the line, for example that of its station");
        let name = look.line_name.trim().to_owned();
        let line = look.line.named_line(&name);
        let is_new = !name.is_empty() && !lines.contains(&line);
        let keep = ui.add_enabled(is_new, egui::Button::new("Keep line").small());
        let keep = keep
            .on_hover_text("Kept with your settings for all sessions; one of the same name is replaced")
            .on_disabled_hover_text("Enter a name first, or change something");
        if keep.clicked() {
            push(actions, FaultAction::KeepLine(line));
        }
        let forget = ui.add_enabled(is_kept.is_some(), egui::Button::new("Forget line").small());
        let forget = forget
            .on_hover_text("Removes the line of this name from your settings; the fields stay")
            .on_disabled_hover_text("There is no line of this name");
        if forget.clicked() {
            push(actions, FaultAction::ForgetLine(name));
        }
    });
}

/// Fields of the line data.
fn line_ui(ui: &mut Ui, line: &mut LineData) {
    let (z1, z0) = (&mut line.z1, &mut line.z0);
    let fields = [
        (
            "r1",
            &mut z1.0,
            " Ω/km",
            0.0..=100.0,
            "Positive-sequence resistance, primary",
        ),
        (
            "x1",
            &mut z1.1,
            " Ω/km",
            1e-4..=100.0,
            "Positive-sequence reactance, primary",
        ),
        (
            "r0",
            &mut z0.0,
            " Ω/km",
            0.0..=100.0,
            "Zero-sequence resistance, primary",
        ),
        (
            "x0",
            &mut z0.1,
            " Ω/km",
            0.0..=100.0,
            "Zero-sequence reactance, primary",
        ),
        (
            "length",
            &mut line.length_km,
            " km",
            1e-3..=5000.0,
            "Length of the line",
        ),
        (
            "reach",
            &mut line.mho_share,
            " of the line",
            0.0..=5.0,
            "Reach of the zones along the line; 0 for none",
        ),
        (
            "R",
            &mut line.quadrilateral_ohm,
            " Ω",
            0.0..=1000.0,
            "Resistive reach of the quadrilateral; 0 for none",
        ),
    ];
    wide_grid(ui, "line data", [8.0, 4.0], |ui| {
        for (place, (name, value, unit, range, text)) in fields.into_iter().enumerate() {
            let label = ui.label(RichText::new(name).small());
            // What is typed counts when it is complete: a length of 0.5 km begins with 0, which is none.
            let drag = DragValue::new(value)
                .update_while_editing(false)
                .speed(0.001 * f64::min(*range.end(), 10.0))
                .range(range)
                .max_decimals(4)
                .suffix(unit);
            ui.add(drag).labelled_by(label.id).on_hover_text(text);
            if place % 2 == 1 {
                ui.end_row();
            }
        }
    });
}

fn loop_color(ui: &Ui, place: usize) -> Color32 {
    let base = phase_color(place % 3, theme::theme_of(ui));
    match place / 3 {
        0 => base,
        _ => mix(base, theme::tones(ui).text, 0.35),
    }
}

/// The R–X plane: equal scales, zones filled, the faulted loop strong with marks every half cycle.
fn plane_ui(ui: &mut Ui, record: &FaultRecord, plane: &ImpedancePlane) {
    let tones = theme::tones(ui);
    let verdict = record
        .analysis
        .as_ref()
        .and_then(|analysis| analysis.verdict);
    let faulted = verdict.and_then(|verdict| Loop::of(&verdict));
    let z1 = plane.line.line().z1();
    let reach = z1.norm() * 1.5;
    let size = ui.available_width().min(420.0);
    let colors: Vec<Color32> = (0..6).map(|place| loop_color(ui, place)).collect();
    // Another line is shown as a whole again.
    let shown = Plot::new(("impedance plane", reach.to_bits()))
        .width(size)
        .height(size)
        .data_aspect(1.0)
        .auto_bounds(Vec2b::FALSE)
        .default_x_bounds(-0.4 * reach, reach)
        .default_y_bounds(-0.4 * reach, reach)
        .allow_scroll(false)
        .x_axis_label("R (Ω)")
        .y_axis_label("X (Ω)")
        .show(ui, |plot| {
            for zone in &plane.zones {
                let outline: Vec<[f64; 2]> = zone
                    .shape
                    .outline()
                    .into_iter()
                    .map(|(r, x)| [r, x])
                    .collect();
                let fill = tones.accent.gamma_multiply(0.12);
                let polygon = Polygon::new(zone.name.clone(), PlotPoints::from(outline));
                plot.polygon(
                    polygon
                        .fill_color(fill)
                        .stroke(Stroke::new(1.0, tones.accent)),
                );
            }
            let whole = PlotPoints::from(vec![[0.0, 0.0], [z1.re, z1.im]]);
            plot.line(Line::new("line", whole).color(tones.weak).width(3.0));
            for (place, of) in Loop::ALL.into_iter().enumerate() {
                let is_faulted = faulted == Some(of);
                let values = plane.points.iter().filter_map(|point| point.loops[place]);
                let values: Vec<[f64; 2]> = values.map(|z| [z.re, z.im]).collect();
                // Not dotted: without current a loop is millions of ohms away, and each dot of the way there would be
                // drawn.
                if is_faulted {
                    let marks: Vec<[f64; 2]> =
                        values.iter().copied().step_by(STEPS_PER_MARK).collect();
                    let marks = Points::new("half cycles", PlotPoints::from(marks));
                    plot.points(
                        marks
                            .shape(MarkerShape::Circle)
                            .radius(3.0)
                            .color(colors[place]),
                    );
                }
                let line = Line::new(of.name(), PlotPoints::from(values)).color(colors[place]);
                plot.line(line.width(0.8));
                if is_faulted {
                    for (decision, values) in runs(plane, place) {
                        let (color, width) = decision_look(decision, tones.page, tones.weak);
                        let line = Line::new(of.name(), PlotPoints::from(values));
                        plot.line(line.color(color).width(width));
                    }
                }
            }
        });
    let names = Loop::ALL.map(Loop::name);
    ChartTable {
        n_places: plane.points.len(),
        place: &|place| format!("{:.4} s", plane.points[place].time_s),
        series: &names,
        cell: &|column, places| {
            let points = plane.points[places].iter();
            let loops = points.filter_map(|point| point.loops[column]);
            let (r, x): (Vec<f64>, Vec<f64>) = loops.map(|z| (z.re, z.im)).unzip();
            let (r, x) = (extent(r.into_iter(), short)?, extent(x.into_iter(), short)?);
            Some(format!("R {r} Ω, X {x} Ω"))
        },
    }
    .tell(ui, &shown.response, "Impedance plane");
    ui.horizontal_wrapped(|ui| {
        for (place, of) in Loop::ALL.into_iter().enumerate() {
            let strong = faulted == Some(of);
            let color = legible(colors[place], tones.page, tones.text);
            let text = RichText::new(of.name()).small().color(color);
            ui.label(if strong { text.strong() } else { text });
        }
    });
    decided_ui(ui, plane);
    help(
        ui,
        "Each loop over the cycle that ends at its time, from a cycle before the inception on; marks every half cycle",
    );
}

/// Steps of the strength of a margin that are told apart.
const STRENGTHS: f64 = 6.0;

/// Stretches of a loop over which class and margin stay the same, each with the first point of the next.
fn runs(plane: &ImpedancePlane, place: usize) -> Vec<(Option<LocusDecision>, Vec<[f64; 2]>)> {
    let key = |decision: &Option<LocusDecision>| {
        let step = |d: &LocusDecision| (d.strength * STRENGTHS).round() as usize;
        decision
            .as_ref()
            .map(|d| (d.class, step(d), d.is_uncertain))
    };
    let mut runs: Vec<(Option<LocusDecision>, Vec<[f64; 2]>)> = Vec::new();
    for (point, decision) in plane.points.iter().zip(&plane.decisions) {
        let Some(z) = point.loops[place] else {
            continue;
        };
        let value = [z.re, z.im];
        if let Some((before, values)) = runs.last_mut() {
            values.push(value);
            if key(before) == key(decision) {
                continue;
            }
        }
        runs.push((*decision, vec![value]));
    }
    runs
}

/// Colour of the class, paler and thinner the smaller the margin; weak where nothing is decided yet.
fn decision_look(decision: Option<LocusDecision>, page: Color32, weak: Color32) -> (Color32, f32) {
    match decision {
        Some(found) => {
            let strength = (found.strength * STRENGTHS).round() / STRENGTHS;
            let width = if found.is_uncertain { 1.5 } else { 3.0 };
            let color = mix(
                page,
                class_color(found.class),
                0.35 + 0.65 * strength as f32,
            );
            (color, width)
        }
        None => (weak, 1.5),
    }
}

/// What the colours of the faulted loop mean.
fn decided_ui(ui: &mut Ui, plane: &ImpedancePlane) {
    let decided = plane.decisions.iter().flatten();
    let classes: std::collections::BTreeSet<usize> = decided.map(|found| found.class).collect();
    if classes.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        for class in classes {
            color_dot(ui, class_color(class));
            let name = plane.class_names.get(class).map_or("", String::as_str);
            ui.label(RichText::new(name).small());
        }
    });
    help(
        ui,
        match plane.is_by_model {
            true => {
                "Colour of the faulted loop: class by the model of the cycle that ends there; the paler, the smaller the margin; thin where it is uncertain or no whole cycle of the fault is over"
            }
            false => {
                "Colour of the faulted loop: type by the rule of the cycle that ends there; a model adds its margin. Thin before a whole cycle of the fault is over"
            }
        },
    );
}

/// Distances as bars on the length of the line, with their intervals.
fn distances_ui(ui: &mut Ui, plane: &ImpedancePlane) {
    if plane.distances.is_empty() && plane.two_ended.is_empty() {
        return;
    }
    section(ui, "Distance to fault");
    let km = plane.line.length_km;
    for distance in plane.distances.iter().chain(&plane.two_ended) {
        let interval = distance.interval.map_or(String::new(), |(low, high)| {
            format!(" ({} to {})", short(low * km), short(high * km))
        });
        let text = format!(
            "{:.3} = {} km{interval}",
            distance.value,
            short(distance.value * km)
        );
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(distance.method.name()).small());
            ui.label(RichText::new(text.replace('-', "−")).small());
        });
        bar_ui(ui, distance);
    }
    if plane.distances.iter().any(|distance| distance.value < 0.0) {
        help(
            ui,
            "Less than 0: the fault lies behind this end, or the currents count out of the line, which can be told at Bay",
        );
    }
    help(
        ui,
        "Shares of the line; intervals hold 90 % of 1000 simulated faults of this type on this line, with sources, load and fault resistance drawn at random (seed 1)",
    );
}

/// The line from here to its far end, with the place of the fault and its interval.
fn bar_ui(ui: &mut Ui, distance: &Distance) {
    let tones = theme::tones(ui);
    // As long as the impedance plane is wide, below its text, which is long.
    let size = egui::vec2(ui.available_width().min(420.0), 12.0);
    let (rect, _) = ui.allocate_exact_size(size, egui::Sense::hover());
    let x = |share: f64| rect.left() + rect.width() * share.clamp(0.0, 1.0) as f32;
    let painter = ui.painter();
    painter.hline(
        rect.x_range(),
        rect.center().y,
        Stroke::new(1.0, tones.weak),
    );
    if let Some((low, high)) = distance.interval {
        let span = egui::Rangef::new(x(low), x(high));
        painter.hline(
            span,
            rect.center().y,
            Stroke::new(4.0, tones.accent.gamma_multiply(0.5)),
        );
    }
    painter.circle_filled(
        egui::pos2(x(distance.value), rect.center().y),
        3.5,
        tones.accent,
    );
}

fn stays_ui(ui: &mut Ui, plane: &ImpedancePlane) {
    for stay in plane.stays.iter().take(12) {
        let name = plane
            .zones
            .get(stay.zone)
            .map_or("", |zone| zone.name.as_str());
        let leaves = stay
            .leaves_s
            .map_or("stays".to_owned(), |s| format!("leaves at {s:.4} s"));
        help(
            ui,
            &format!(
                "{} enters {name} at {:.4} s, {leaves}",
                stay.of.name(),
                stay.enters_s
            ),
        );
    }
}

/// The sequence of events; a click leads to its place.
fn events_ui(ui: &mut Ui, events: &[RecordEvent], record: &FaultRecord, look: &mut FaultView) {
    if events.is_empty() {
        return;
    }
    section(ui, "Events");
    if let Some(breaker_s) = breaker_time_s(events) {
        let ms = short(breaker_s * 1e3);
        help(
            ui,
            &format!("Breaker time, from the first trip signal to the clearing: {ms} ms"),
        );
    }
    let row = ui.spacing().interact_size.y;
    egui::ScrollArea::vertical()
        .id_salt("events of the record")
        .max_height(EVENT_ROWS * row)
        // Without it a list below the fold of the panel shows little more than one row.
        .min_scrolled_height(EVENT_ROWS * row)
        .auto_shrink([false, true])
        .show_rows(ui, row, events.len(), |ui, shown| {
            for event in &events[shown] {
                let text = format!("{:.4} s  {}", event.time_s, cut(&event.text, 40));
                let row = ui.selectable_label(false, RichText::new(text).small());
                if row.on_hover_text("Moves the active cursor there").clicked() {
                    let cursor = look.active.min(1);
                    look.cursors_s[cursor] = event.time_s;
                    look.keep_inside(record);
                    look.follow_cursor(cursor);
                }
            }
        });
}
