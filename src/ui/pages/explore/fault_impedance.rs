//! What a protection engineer reads of a fault record: verdict, impedance plane, distance to fault, events.

use egui::{Color32, DragValue, Grid, RichText, Stroke, Ui, Vec2b};
use egui_plot::{Line, LineStyle, MarkerShape, Plot, PlotPoints, Points, Polygon};

use crate::ui::elements::{help, section};

use crate::ui::numbers::{cut, short};
use crate::ui::palette::{legible, mix, phase_color};
use crate::ui::theme;
use crate::ui::widgets::{ChartTable, extent};
use crate::workbench::explore::{FaultRecord, FaultView, ImpedancePlane, LineData};
use atomscope_engine::protection::distance::Distance;
use atomscope_engine::protection::events::RecordEvent;
use atomscope_engine::protection::impedance::Loop;

/// Events listed at most.
const MOST_EVENTS: usize = 60;

/// Steps of the locus between two marks: half a cycle.
const STEPS_PER_MARK: usize = 8;

/// Verdict, plane, distances and events.
pub(super) fn impedance_ui(
    ui: &mut Ui,
    record: &FaultRecord,
    plane: Option<&ImpedancePlane>,
    look: &mut FaultView,
) {
    let Some(analysis) = &record.analysis else {
        if let Some(reason) = &record.no_analysis {
            section(ui, "Fault");
            help(ui, reason);
        }
        return;
    };
    section(ui, "Fault");
    let verdict = analysis
        .verdict
        .map_or("no verdict".to_owned(), |v| v.to_string());
    let seconds = |time: Option<f64>| time.map_or("–".to_owned(), |s| format!("{s:.4} s"));
    let duration = analysis
        .duration_s()
        .map_or(String::new(), |s| format!(" · {} ms", short(s * 1e3)));
    let text = format!(
        "{verdict} · {} → {}{duration}",
        seconds(analysis.inception_s),
        seconds(analysis.clearing_s)
    );
    ui.label(RichText::new(text).strong()).on_hover_text(
        "Type and phases by the rule of phasors and sequences, without a model; inception and clearing from the currents",
    );
    let used = format!(
        "Bay {} · {} · cycle before the inception against the one from an eighth of a cycle after it · {:.3} Hz",
        analysis.bay.name,
        analysis.signals.names.join(" "),
        analysis.frequency_hz
    );
    help(ui, &used);
    for warning in &analysis.warnings {
        help(ui, warning);
    }
    section(ui, "Impedance");
    line_ui(ui, &mut look.line);
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

/// Fields of the line data.
fn line_ui(ui: &mut Ui, line: &mut LineData) {
    let field = |ui: &mut Ui, name: &str, value: &mut f64, unit: &str, most: f64, text: &str| {
        let label = ui.label(RichText::new(name).small());
        let drag = DragValue::new(value)
            .range(0.0..=most)
            .speed(0.001 * most.min(10.0))
            .suffix(unit);
        ui.add(drag).labelled_by(label.id).on_hover_text(text);
    };
    ui.horizontal_wrapped(|ui| {
        field(
            ui,
            "r1",
            &mut line.z1.0,
            " Ω/km",
            100.0,
            "Positive-sequence resistance, primary",
        );
        field(
            ui,
            "x1",
            &mut line.z1.1,
            " Ω/km",
            100.0,
            "Positive-sequence reactance, primary",
        );
        field(
            ui,
            "r0",
            &mut line.z0.0,
            " Ω/km",
            100.0,
            "Zero-sequence resistance, primary",
        );
        field(
            ui,
            "x0",
            &mut line.z0.1,
            " Ω/km",
            100.0,
            "Zero-sequence reactance, primary",
        );
        field(
            ui,
            "length",
            &mut line.length_km,
            " km",
            5000.0,
            "Length of the line",
        );
        field(
            ui,
            "reach",
            &mut line.mho_share,
            " of the line",
            5.0,
            "Reach of the zones along the line; 0 for none",
        );
        field(
            ui,
            "R",
            &mut line.quadrilateral_ohm,
            " Ω",
            1000.0,
            "Resistive reach of the quadrilateral; 0 for none",
        );
    });
    line.z1.1 = line.z1.1.max(1e-6);
    line.length_km = line.length_km.max(1e-3);
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
    let shown = Plot::new("impedance plane")
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
                let line = match is_faulted {
                    true => line.width(2.5),
                    false => line.width(0.8).style(LineStyle::dotted_loose()),
                };
                plot.line(line);
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
    help(
        ui,
        "Each loop over the cycle that ends at its time, from a cycle before the inception on; marks every half cycle",
    );
}

/// Distances as bars on the length of the line, with their intervals.
fn distances_ui(ui: &mut Ui, plane: &ImpedancePlane) {
    if plane.distances.is_empty() && plane.two_ended.is_empty() {
        return;
    }
    section(ui, "Distance to fault");
    let km = plane.line.length_km;
    Grid::new("distances")
        .num_columns(3)
        .spacing([10.0, 3.0])
        .show(ui, |ui| {
            for distance in plane.distances.iter().chain(&plane.two_ended) {
                ui.label(RichText::new(distance.method.name()).small());
                let interval = distance.interval.map_or(String::new(), |(low, high)| {
                    format!(" ({} to {})", short(low * km), short(high * km))
                });
                let text = format!(
                    "{:.3} = {} km{interval}",
                    distance.value,
                    short(distance.value * km)
                );
                ui.label(RichText::new(text.replace('-', "−")).small());
                bar_ui(ui, distance);
                ui.end_row();
            }
        });
    help(
        ui,
        "Shares of the line; intervals hold 90 % of 1000 simulated faults of this type on this line, with sources, load and fault resistance drawn at random (seed 1)",
    );
}

fn bar_ui(ui: &mut Ui, distance: &Distance) {
    let tones = theme::tones(ui);
    let size = egui::vec2(110.0, 12.0);
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
    for event in events.iter().take(MOST_EVENTS) {
        let text = format!("{:.4} s  {}", event.time_s, cut(&event.text, 40));
        let row = ui.selectable_label(false, RichText::new(text).small());
        if row.on_hover_text("Moves the active cursor there").clicked() {
            let cursor = look.active.min(1);
            look.cursors_s[cursor] = event.time_s;
            look.keep_inside(record);
            look.follow_cursor(cursor);
        }
    }
    if events.len() > MOST_EVENTS {
        help(ui, &format!("{} more", events.len() - MOST_EVENTS));
    }
}
