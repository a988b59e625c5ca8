//! The report of one event, recorded at one end of a line or at both: facts, oscillograms, phasors, impedance, distance,
//! events, and what all of it was computed with.

use std::path::PathBuf;

use num_complex::Complex64;
use sha2::{Digest, Sha256};

use super::figure::{Anchor, Figure, Ink, Shape, class_ink};
use super::html::{Cell, Page};
use crate::features::phases::PHASE_NAMES;
use crate::features::phasor::sequence_components;
use crate::protection::analysis::FaultAnalysis;
use crate::protection::distance::Distance;
use crate::protection::events::{breaker_time_s, events};
use crate::protection::impedance::{LocusPoint, Loop, in_own_letters, locus};
use crate::protection::line::Line;
use crate::protection::uncertainty::{COVERED, N_SIMULATED, SEED};
use crate::protection::zones::{Zone, stays};
use crate::records::{Record, hexadecimal};

/// Most points of a wave in a figure: two per column of a wide page.
const MOST_POINTS: usize = 2400;

/// Most events in the table.
const MOST_LISTED: usize = 200;

const GREY: Ink = [0x86, 0x8e, 0x96];
const DARK: Ink = [0x21, 0x25, 0x29];

/// One end of the event.
pub struct ReportedRecord {
    /// The file.
    pub path: PathBuf,
    /// The record.
    pub record: Record,
    /// What it says.
    pub analysis: FaultAnalysis,
    /// The line, if it is known.
    pub line: Option<Line>,
}

/// What a model decided of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportedDecision {
    /// The class.
    pub class: String,
    /// Its margin.
    pub margin: f64,
    /// Whether its prediction set is not one class.
    pub is_uncertain: bool,
    /// How well the record fits the model.
    pub fit_p: Option<f64>,
    /// Hash of the model.
    pub model_sha256: String,
}

/// How the records of two ends are laid on one time axis; shifts tell how much later the second shows the same moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum EndAlignment {
    /// Inception on inception.
    #[default]
    Inceptions,
    /// By the clocks of the recorders.
    Clocks(f64),
    /// By a shift that was given.
    ByHand(f64),
}

/// The report of one or two ends.
pub struct FaultReport<'a> {
    records: &'a [ReportedRecord],
    alignment: EndAlignment,
    decision: Option<ReportedDecision>,
    zones: Vec<Zone>,
}

impl<'a> FaultReport<'a> {
    /// Of the records of one event, the near end first.
    pub fn new(records: &'a [ReportedRecord]) -> Self {
        Self {
            records,
            alignment: EndAlignment::default(),
            decision: None,
            zones: Vec::new(),
        }
    }

    /// With both ends aligned in another way than by their inceptions.
    pub fn with_alignment(mut self, alignment: EndAlignment) -> Self {
        self.alignment = alignment;
        self
    }

    /// With zones in the impedance plane.
    pub fn with_zones(mut self, zones: Vec<Zone>) -> Self {
        self.zones = zones;
        self
    }

    /// With what a model decided.
    pub fn with_decision(mut self, decision: ReportedDecision) -> Self {
        self.decision = Some(decision);
        self
    }

    fn title(&self) -> String {
        match self.records.first() {
            Some(first) => format!("Fault report: {}", first.path.display()),
            None => "Fault report".to_owned(),
        }
    }

    /// What was decided, in a few words.
    pub(super) fn summary(&self) -> String {
        let verdict = self.records.first().and_then(|end| end.analysis.verdict);
        let rule = verdict.map_or("no verdict".to_owned(), |verdict| verdict.to_string());
        match &self.decision {
            Some(decision) => format!("{} by the model, {rule} by the rule", decision.class),
            None => rule,
        }
    }

    /// The page.
    pub fn page(&self) -> String {
        self.contents().finish(&self.title())
    }

    pub(super) fn contents(&self) -> Page {
        let mut page = Page::default();
        page.title(&self.title());
        page.paragraph(super::DISCLAIMER);
        for end in self.records {
            self.end(&mut page, end);
        }
        if let [near, far] = self.records {
            two_ends(&mut page, near, far, self.alignment);
        }
        page.section("Settings and files");
        page.paragraph(&format!(
            "Phasors by a full cycle at the record's own frequency; distances are medians over 1.25 to 2.25 cycles after the inception, as shares of the line. Intervals hold {:.0} % of {N_SIMULATED} simulated faults on the user's line (seed {SEED}) of this type, with sources, load angle and fault resistance drawn at random. Atomscope {}.",
            100.0 * COVERED,
            super::VERSION
        ));
        let files = self.records.iter().flat_map(|end| {
            let source = &end.record.source;
            std::iter::once(source.path.clone()).chain(source.companions.iter().cloned())
        });
        let rows: Vec<Vec<Cell>> = files
            .map(|file| {
                let hash = std::fs::read(&file).map(|bytes| hexadecimal(&Sha256::digest(bytes)));
                let hash = hash.unwrap_or_else(|error| error.to_string());
                vec![Cell::text(file.display().to_string()), Cell::text(hash)]
            })
            .collect();
        page.table(&["File", "SHA-256"], &rows);
        if let Some(decision) = &self.decision {
            page.paragraph(&format!(
                "Class by the final model of the session, model SHA-256 {}",
                decision.model_sha256
            ));
        }
        page
    }

    fn end(&self, page: &mut Page, end: &ReportedRecord) {
        let analysis = &end.analysis;
        let grid = end.record.grid.clone().unwrap_or_default();
        page.section(&format!(
            "{} {}, bay {}",
            grid.station, grid.device, analysis.bay.name
        ));
        let events = events(&end.record, Some(analysis)).unwrap_or_default();
        page.facts(&self.facts(end, breaker_time_s(&events)));
        let (from_s, to_s) = shown_span(analysis);
        let signals = &analysis.signals;
        let caption = format!(
            "Voltages in kV and currents in kA, primary, from {from_s:.3} to {to_s:.3} s of a record from {:.3} to {:.3} s; the dashed marks are inception and clearing.",
            signals.start_s,
            signals.end_s()
        );
        page.figure(&oscillogram(analysis, (from_s, to_s)), &caption);
        if let Some(phasors) = &analysis.phasors {
            let own = in_own_letters(phasors);
            page.subsection("Phasors during the fault (RMS)");
            page.table(
                &["Quantity", "kV or kA", "Degrees"],
                &phasor_rows(own.voltages, own.currents),
            );
            let caption = "Voltages (long) and currents (short) as the cycle of the fault shows them, each to the largest of its kind.";
            page.figure(&phasor_figure(own.voltages, own.currents), caption);
        }
        self.impedance(page, end);
        page.subsection("Events");
        let rows: Vec<Vec<Cell>> = events
            .iter()
            .take(MOST_LISTED)
            .map(|event| {
                let time = Cell::Number(format!("{:.4}", event.time_s), event.time_s);
                vec![time, Cell::text(event.text.clone())]
            })
            .collect();
        page.columns(|page| page.table(&["Time (s)", "Event"], &rows));
        if events.len() > MOST_LISTED {
            page.paragraph(&format!("… and {} more.", events.len() - MOST_LISTED));
        }
        if !analysis.warnings.is_empty() {
            page.subsection("Notes");
            page.list(&analysis.warnings);
        }
    }

    fn facts(&self, end: &ReportedRecord, breaker_s: Option<f64>) -> Vec<(&'static str, String)> {
        let analysis = &end.analysis;
        let seconds = |value: Option<f64>| value.map_or("–".to_owned(), |s| format!("{s:.4} s"));
        let verdict = analysis.verdict.map_or("no verdict".to_owned(), |v| {
            format!("{v} ({})", v.class.name())
        });
        let channels: Vec<String> = PHASE_NAMES
            .iter()
            .zip(&analysis.signals.names)
            .map(|(phase, name)| format!("{phase} = {name}"))
            .collect();
        let start = end.record.start.map_or("–".to_owned(), |start| {
            start.to_string().replacen('T', " ", 1)
        });
        let mut rows = vec![
            ("Start", start),
            ("Type and phases (rule)", verdict),
            ("Inception", seconds(analysis.inception_s)),
            ("Clearing", seconds(analysis.clearing_s)),
            ("Duration", seconds(analysis.duration_s())),
            ("Breaker time after the trip", seconds(breaker_s)),
            (
                "Frequency before",
                format!("{:.3} Hz", analysis.frequency_hz),
            ),
            ("Sampling", format!("{:.3} Hz", analysis.signals.rate_hz)),
            (
                "Peak current",
                analysis
                    .peak_current_a()
                    .map_or("–".to_owned(), |a| format!("{} kA", five_digits(a / 1e3))),
            ),
            ("Channels", channels.join(", ")),
        ];
        rows.extend(end.line.as_ref().map(|line| ("Line", line_text(line))));
        if let Some(decision) = &self.decision {
            let fit = decision
                .fit_p
                .map_or(String::new(), |p| format!(", fit p {p:.3}"));
            let agrees = analysis
                .verdict
                .is_some_and(|v| v.class.name() == decision.class);
            let differs = if agrees {
                ""
            } else {
                "; the rule says otherwise"
            };
            let doubt = if decision.is_uncertain {
                ", uncertain"
            } else {
                ""
            };
            let text = format!(
                "{}{doubt} (margin {:.3}{fit}){differs}",
                decision.class, decision.margin
            );
            rows.push(("Type (model)", text));
        }
        rows
    }

    fn impedance(&self, page: &mut Page, end: &ReportedRecord) {
        let analysis = &end.analysis;
        let Some(line) = &end.line else {
            return page.paragraph(
                "No line data: impedance plane and distance need z1 per kilometre and the length.",
            );
        };
        let Some(inception_s) = analysis.inception_s else {
            return page.paragraph("No inception was found: there is no distance.");
        };
        page.subsection("Distance to fault");
        page.table(
            &["Method", "Share of the line", "Low", "High", "km"],
            &distance_rows(&analysis.distances(line), line),
        );
        let cycle_s = 1.0 / analysis.frequency_hz;
        let last_s = analysis.clearing_s.unwrap_or(analysis.signals.end_s());
        let to_s = last_s.min(inception_s + 6.0 * cycle_s);
        let points = locus(
            &analysis.signals,
            analysis.frequency_hz,
            line.k0(),
            (inception_s, to_s),
            cycle_s / 16.0,
            400,
        );
        let faulted = analysis.verdict.and_then(|verdict| Loop::of(&verdict));
        let caption = "Six loops from the inception on, the faulted one strong, marks every half cycle; the grey line is the protected line.";
        page.figure(&plane(&points, faulted, line.z1(), &self.zones), caption);
        let rows: Vec<Vec<Cell>> = stays(&self.zones, &points)
            .iter()
            .map(|stay| {
                let time = |at_s: f64| format!("{at_s:.4}");
                vec![
                    Cell::text(self.zones[stay.zone].name.clone()),
                    Cell::text(stay.of.name()),
                    Cell::of(Some(stay.enters_s), time),
                    Cell::of(stay.leaves_s, time),
                ]
            })
            .collect();
        if !rows.is_empty() {
            page.table(&["Zone", "Loop", "Enters (s)", "Leaves (s)"], &rows);
        }
    }
}

/// `North: 50 km, z1 0.1+0.4j Ω/km, z0 0.3+1.2j Ω/km`
fn line_text(line: &Line) -> String {
    let ohm = |(r, x): (f64, f64)| format!("{r}{x:+}j Ω/km");
    let z0 = line
        .z0_ohm_per_km
        .map_or("three times z1, since none is given".to_owned(), ohm);
    let z1 = ohm(line.z1_ohm_per_km);
    let name = match line.name.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    format!("{name}{} km, z1 {z1}, z0 {z0}", line.length_km)
}

fn two_ends(page: &mut Page, near: &ReportedRecord, far: &ReportedRecord, alignment: EndAlignment) {
    let (Some(line), Some(inception_s)) = (near.line.as_ref(), near.analysis.inception_s) else {
        return;
    };
    page.section("Both ends");
    let (far_s, text) = match alignment {
        EndAlignment::Inceptions => (
            far.analysis.inception_s,
            "Ends aligned by their inceptions; the synchronised method is right only if that is one moment.".to_owned(),
        ),
        EndAlignment::Clocks(shift_s) => (
            Some(inception_s + shift_s),
            format!("Ends aligned by the clocks of the recorders: the second shows the same moment {:.4} ms later on its own time axis.", shift_s * 1e3),
        ),
        EndAlignment::ByHand(shift_s) => (
            Some(inception_s + shift_s),
            format!("Ends aligned by hand: the second shows the same moment {:.4} ms later on its own time axis.", shift_s * 1e3),
        ),
    };
    let found = far_s.map_or(Vec::new(), |far_s| {
        let far = (&far.analysis, far_s);
        let methods = [true, false];
        let found = methods.map(|is_sync| near.analysis.two_ended_at(far, line, is_sync));
        found.into_iter().flatten().collect()
    });
    page.paragraph(&text);
    page.table(
        &["Method", "Share of the line", "Low", "High", "km"],
        &distance_rows(&found, line),
    );
}

fn distance_rows(distances: &[Distance], line: &Line) -> Vec<Vec<Cell>> {
    let number = |value: f64| format!("{value:.4}");
    let row = |distance: &Distance| {
        vec![
            Cell::text(distance.method.name()),
            Cell::Number(number(distance.value), distance.value),
            Cell::of(distance.interval.map(|i| i.0), number),
            Cell::of(distance.interval.map(|i| i.1), number),
            Cell::of(Some(distance.value * line.length_km), |km| {
                format!("{km:.3}")
            }),
        ]
    };
    distances.iter().map(row).collect()
}

fn phasor_rows(voltages: [Complex64; 3], currents: [Complex64; 3]) -> Vec<Vec<Cell>> {
    let names = ["A", "B", "C"].map(str::to_owned);
    let sequences = ["0", "1", "2"].map(str::to_owned);
    let mut rows = Vec::new();
    for (letter, three) in [("V", voltages), ("I", currents)] {
        let parts = names.iter().zip(three);
        let parts = parts.chain(sequences.iter().zip(sequence_components(three)));
        for (name, phasor) in parts {
            let rms = phasor.norm() / 2.0_f64.sqrt() / 1e3;
            let degrees = phasor.arg().to_degrees();
            rows.push(vec![
                Cell::text(format!("{letter}{name}")),
                Cell::Number(five_digits(rms), rms),
                Cell::Number(format!("{degrees:.2}"), degrees),
            ]);
        }
    }
    rows
}

/// From three cycles before the inception to four after the clearing, or ten after the inception; else the whole record.
fn shown_span(analysis: &FaultAnalysis) -> (f64, f64) {
    let (start_s, end_s) = (analysis.signals.start_s, analysis.signals.end_s());
    let cycle_s = 1.0 / analysis.frequency_hz;
    let Some(inception_s) = analysis.inception_s else {
        return (start_s, end_s);
    };
    let last_s = match analysis.clearing_s {
        Some(clearing_s) => clearing_s + 4.0 * cycle_s,
        None => inception_s + 10.0 * cycle_s,
    };
    let from_s = inception_s - 3.0 * cycle_s;
    (from_s.max(start_s), last_s.min(end_s))
}

/// Round values within a range, at most nine.
fn round_ticks(low: f64, high: f64) -> Vec<f64> {
    let raw = ((high - low) / 8.0).max(1e-9);
    let order = 10.0_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * order);
    let step = step.into_iter().find(|step| *step >= raw).unwrap_or(raw);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(|k| k as f64 * step).collect()
}

/// Voltages above, currents below, with scales.
fn oscillogram(analysis: &FaultAnalysis, (start_s, end_s): (f64, f64)) -> Figure {
    let size = [1040.0_f32, 460.0];
    let (left, right, lane) = (80.0_f32, 1005.0_f32, 195.0_f32);
    let signals = &analysis.signals;
    let sample = |time_s: f64| ((time_s - signals.start_s) * signals.rate_hz).round() as usize;
    let (first, last) = (sample(start_s), sample(end_s));
    let shown = |values: &'_ Vec<f64>| first.min(values.len())..values.len().min(last + 1);
    let x = |time_s: f64| {
        left + (right - left) * ((time_s - start_s) / (end_s - start_s).max(1e-12)) as f32
    };
    let mut shapes = Vec::new();
    for (place, (unit, three)) in [("kV", &signals.values[..3]), ("kA", &signals.values[3..])]
        .into_iter()
        .enumerate()
    {
        let middle = 15.0 + lane / 2.0 + place as f32 * (lane + 20.0);
        let finite = three.iter().flat_map(|values| &values[shown(values)]);
        let finite = finite.filter(|v| v.is_finite());
        let most = finite.fold(1e-12_f64, |most, v| most.max(v.abs()));
        let y = |value: f64| middle - (value / most) as f32 * lane / 2.0;
        shapes.push(line_shape(vec![[left, middle], [right, middle]], 0.5, GREY));
        for (sign, level) in [(1.0, most), (-1.0, -most)] {
            shapes.push(text(
                five_digits(level / 1e3),
                [left - 4.0, middle - sign * lane / 2.0 + 4.0],
                Anchor::End,
            ));
        }
        shapes.push(text(
            unit.to_owned(),
            [left - 4.0, middle + 4.0],
            Anchor::End,
        ));
        for (phase, values) in three.iter().enumerate() {
            let points = thinned(&values[shown(values)])
                .into_iter()
                .map(|(k, v)| [x(signals.time_s(first + k)), y(v)]);
            shapes.push(line_shape(points.collect(), 1.0, class_ink(phase)));
        }
    }
    for time_s in [analysis.inception_s, analysis.clearing_s]
        .into_iter()
        .flatten()
    {
        for dash in 0..54 {
            let y = 15.0 + dash as f32 * 8.0;
            shapes.push(line_shape(
                vec![[x(time_s), y], [x(time_s), y + 4.0]],
                1.0,
                DARK,
            ));
        }
    }
    for time_s in round_ticks(start_s, end_s) {
        shapes.push(text(
            format!("{time_s:.3} s"),
            [x(time_s), 455.0],
            Anchor::Middle,
        ));
    }
    for (phase, name) in ["A", "B", "C"].into_iter().enumerate() {
        let mut label = text(
            name.to_owned(),
            [left + 10.0 + 16.0 * phase as f32, 12.0],
            Anchor::Start,
        );
        if let Shape::Text { ink, .. } = &mut label {
            *ink = class_ink(phase);
        }
        shapes.push(label);
    }
    // The figure is as wide as the page: small on paper.
    for shape in &mut shapes {
        if let Shape::Text { size, .. } = shape {
            *size = 15.0;
        }
    }
    Figure { size, shapes }
}

/// Five digits, whatever the size.
fn five_digits(value: f64) -> String {
    let order = value.abs().max(1e-9).log10().floor() as i32;
    let decimals = (4 - order).clamp(0, 9) as usize;
    format!("{value:.decimals$}")
}

/// Lowest and highest value of as many stretches as can be seen, in order.
fn thinned(values: &[f64]) -> Vec<(usize, f64)> {
    let stretch = values.len().div_ceil(MOST_POINTS / 2).max(1);
    let mut points = Vec::new();
    for (number, some) in values.chunks(stretch).enumerate() {
        let finite = || some.iter().enumerate().filter(|(_, v)| v.is_finite());
        let least = finite().min_by(|a, b| a.1.total_cmp(b.1));
        let most = finite().max_by(|a, b| a.1.total_cmp(b.1));
        let (Some(least), Some(most)) = (least, most) else {
            continue;
        };
        let mut pair = [least, most];
        pair.sort_by_key(|(at, _)| *at);
        points.extend(pair.map(|(at, v)| (number * stretch + at, *v)));
    }
    points.dedup_by_key(|(at, _)| *at);
    points
}

fn phasor_figure(voltages: [Complex64; 3], currents: [Complex64; 3]) -> Figure {
    let (centre, radius) = ([170.0_f32, 160.0_f32], 140.0_f32);
    let mut shapes = Vec::new();
    let circle = |share: f32| {
        let at = |k: usize| {
            let turn = std::f32::consts::TAU * k as f32 / 72.0;
            [
                centre[0] + radius * share * turn.cos(),
                centre[1] + radius * share * turn.sin(),
            ]
        };
        line_shape((0..=72).map(at).collect(), 0.5, GREY)
    };
    shapes.push(circle(1.0));
    shapes.push(circle(0.6));
    for (letter, three, share, width) in [("V", voltages, 1.0, 2.0), ("I", currents, 0.6, 4.0)] {
        let most = three.iter().map(|x| x.norm()).fold(1e-12, f64::max);
        for (phase, x) in three.iter().enumerate() {
            let tip = x / most * f64::from(radius * share);
            let end = [centre[0] + tip.re as f32, centre[1] - tip.im as f32];
            shapes.push(line_shape(vec![centre, end], width, class_ink(phase)));
            let name = ["A", "B", "C"][phase];
            shapes.push(text(
                format!("{letter}{name}"),
                [end[0] + 3.0, end[1] - 3.0],
                Anchor::Start,
            ));
        }
    }
    Figure {
        size: [340.0, 320.0],
        shapes,
    }
}

/// The R–X plane with equal scales.
fn plane(points: &[LocusPoint], faulted: Option<Loop>, z1: Complex64, zones: &[Zone]) -> Figure {
    let size = [520.0_f32, 520.0];
    let reach = z1.norm() * 1.6;
    let (low, high) = (-0.6 * reach, 1.4 * reach);
    let place = |z: Complex64| {
        let share = |v: f64| ((v - low) / (high - low)) as f32;
        [size[0] * share(z.re), size[1] * (1.0 - share(z.im))]
    };
    let origin = place(Complex64::default());
    let mut shapes = vec![
        line_shape(vec![[0.0, origin[1]], [size[0], origin[1]]], 0.5, GREY),
        line_shape(vec![[origin[0], 0.0], [origin[0], size[1]]], 0.5, GREY),
        line_shape(vec![origin, place(z1)], 3.0, GREY),
        text(
            "R (Ω)".to_owned(),
            [size[0] - 4.0, origin[1] - 4.0],
            Anchor::End,
        ),
        text("X (Ω)".to_owned(), [origin[0] + 4.0, 12.0], Anchor::Start),
        text(
            format!("{:.3}+{:.3}j", z1.re, z1.im),
            place(z1),
            Anchor::Start,
        ),
    ];
    for ohm in round_ticks(low, high).into_iter().filter(|ohm| *ohm != 0.0) {
        let label = |place, anchor| text(format!("{}", ohm as f32), place, anchor);
        let [across, up] = place(Complex64::new(ohm, ohm));
        shapes.push(line_shape(
            vec![[across, origin[1] - 3.0], [across, origin[1] + 3.0]],
            0.5,
            GREY,
        ));
        shapes.push(label([across, origin[1] + 14.0], Anchor::Middle));
        shapes.push(line_shape(
            vec![[origin[0] - 3.0, up], [origin[0] + 3.0, up]],
            0.5,
            GREY,
        ));
        shapes.push(label([origin[0] - 5.0, up + 4.0], Anchor::End));
    }
    for zone in zones {
        let corners = zone.shape.outline();
        let corners = corners.iter().chain(corners.first());
        let drawn =
            |(r, x): &(f64, f64)| place(Complex64::new(r.clamp(low, high), x.clamp(low, high)));
        shapes.push(line_shape(corners.map(drawn).collect(), 1.0, GREY));
    }
    for (number, of) in Loop::ALL.into_iter().enumerate() {
        let is_faulted = faulted == Some(of);
        let width = if is_faulted { 2.5 } else { 0.8 };
        let inside = |z: &Complex64| (low..high).contains(&z.re) && (low..high).contains(&z.im);
        let mut run: Vec<[f32; 2]> = Vec::new();
        for (k, point) in points.iter().enumerate() {
            match point.loops[number].filter(inside) {
                Some(z) => {
                    run.push(place(z));
                    if is_faulted && k % 8 == 0 {
                        let [x, y] = place(z);
                        shapes.push(Shape::Block {
                            corner: [x - 2.0, y - 2.0],
                            size: [4.0, 4.0],
                            ink: DARK,
                        });
                    }
                }
                None if run.len() > 1 => {
                    shapes.push(line_shape(
                        std::mem::take(&mut run),
                        width,
                        class_ink(number),
                    ));
                }
                None => run.clear(),
            }
        }
        if run.len() > 1 {
            shapes.push(line_shape(run, width, class_ink(number)));
        }
        let mut label = text(
            of.name().to_owned(),
            [8.0 + 28.0 * number as f32, 510.0],
            Anchor::Start,
        );
        if let Shape::Text { ink, .. } = &mut label {
            *ink = class_ink(number);
        }
        shapes.push(label);
    }
    Figure { size, shapes }
}

fn line_shape(points: Vec<[f32; 2]>, width: f32, ink: Ink) -> Shape {
    Shape::Line { points, width, ink }
}

fn text(text: String, place: [f32; 2], anchor: Anchor) -> Shape {
    Shape::Text {
        place,
        size: 11.0,
        anchor,
        text,
        ink: DARK,
    }
}
