//! The rule and the scale-free magnitudes on real records: type and phases of all open views, and what may not change them.

use std::f64::consts::TAU;
use std::path::PathBuf;

use atomscope_engine::features::fault::FaultRecipe;
use atomscope_engine::features::phases::PhaseChoice;
use atomscope_engine::protection::FaultAnalysis;
use atomscope_engine::records::{self, Channel, Format, GridFacts, Kind, Mode, Record, Unit};

/// One view of `fault-types.csv`.
struct View {
    file: String,
    recipe: FaultRecipe,
    inception_s: f64,
    clearing_s: Option<f64>,
    class: String,
    phases: String,
}

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("ATOMSCOPE_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: ATOMSCOPE_DATA does not name a folder of real files");
    }
    folder.map(|folder| folder.join("comtrade"))
}

fn views(folder: &std::path::Path) -> Vec<View> {
    let mut reader =
        csv::Reader::from_path(folder.join("fault-types.csv")).expect("a list of views");
    let rows = reader.records().map(|row| row.expect("a row"));
    rows.map(|row| {
        let names = row[1].split('|').chain(row[2].split('|'));
        let mut channels: [Option<String>; 6] = Default::default();
        for (place, name) in channels.iter_mut().zip(names) {
            *place = Some(name.to_owned());
        }
        View {
            file: row[0].to_owned(),
            recipe: FaultRecipe {
                phases: PhaseChoice {
                    channels,
                    ..PhaseChoice::default()
                },
                ..FaultRecipe::default()
            },
            inception_s: row[4].parse().expect("a time"),
            clearing_s: row[5].parse().ok(),
            class: row[6].to_owned(),
            phases: row[7].to_owned(),
        }
    })
    .collect()
}

fn open(folder: &std::path::Path, name: &str) -> Record {
    records::open(&folder.join(name), Mode::Tolerant).expect("a readable record")
}

#[test]
fn the_rule_is_right_on_every_open_view() {
    let Some(folder) = folder() else { return };
    let views = views(&folder);
    assert_eq!(views.len(), 24);
    let mut wrong = Vec::new();
    for view in views {
        let record = open(&folder, &view.file);
        let found = FaultAnalysis::of(&record, &view.recipe).expect("six channels");
        let verdict = found.verdict.expect("a verdict");
        let cycle_s = 1.0 / found.frequency_hz;
        let text = format!(
            "{} {}: {} {} at {:?} to {:?} ({:.3} Hz) {:?}; expected {} {} at {} to {:?}",
            view.file,
            found.bay.name,
            verdict.class.name(),
            verdict.phase_letters(),
            found.inception_s,
            found.clearing_s,
            found.frequency_hz,
            found.warnings,
            view.class,
            view.phases,
            view.inception_s,
            view.clearing_s
        );
        println!("{text}");
        let is_right = verdict.class.name() == view.class && verdict.phase_letters() == view.phases;
        let is_fault = view.class != "no fault";
        let inception = found
            .inception_s
            .is_some_and(|t| (t - view.inception_s).abs() < 0.1 * cycle_s);
        let clearing = match (found.clearing_s, view.clearing_s) {
            (Some(t), Some(fact)) => (t - fact).abs() < 0.15 * cycle_s,
            (None, None) => true,
            _ => false,
        };
        if !is_right || is_fault && !(inception && clearing) {
            wrong.push(text);
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Sizes of VA VB VC IA IB IC from each time on, at 50 Hz and 16 samples a cycle for 0.4 s.
fn of_stages(stages: &[(f64, [f64; 6])]) -> Record {
    const RATE_HZ: f64 = 800.0;
    let names = ["VA", "VB", "VC", "IA", "IB", "IC"];
    let data = names.iter().enumerate().map(|(place, name)| {
        let value = |sample: usize| {
            let time_s = sample as f64 / RATE_HZ;
            let now = stages.iter().rev().find(|(from_s, _)| *from_s <= time_s);
            let lag = if place < 3 { 0.0 } else { 1.2 };
            let turn = TAU * (50.0 * time_s - (place % 3) as f64 / 3.0) - lag;
            now.map_or(0.0, |(_, sizes)| sizes[place]) * turn.cos()
        };
        let unit = Unit::parse(if place < 3 { "V" } else { "A" });
        let channel = Channel::analog(*name, unit, Some(RATE_HZ), 0);
        (channel, (0..320).map(value).collect())
    });
    let kind = Kind::FaultRecord;
    let mut record = Record::in_memory(Format::Comtrade1999, kind, "relay", data.collect());
    record.grid = Some(GridFacts {
        line_frequency_hz: Some(50.0),
        ..GridFacts::default()
    });
    record
}

const LOAD: [f64; 6] = [100.0, 100.0, 100.0, 1.0, 1.0, 1.0];

#[test]
fn a_fault_that_grows_is_no_inrush_and_its_later_type_is_told() {
    let earth = [105.0, 40.0, 105.0, 1.0, 5.0, 1.0];
    let all = [20.0, 20.0, 20.0, 40.0, 40.0, 40.0];
    let record = of_stages(&[(0.0, LOAD), (0.1, earth), (0.172, all)]);
    let found = FaultAnalysis::of(&record, &FaultRecipe::default()).expect("six channels");
    let verdict = found.verdict.expect("a verdict");
    assert_eq!(verdict.to_string(), "B-G", "{:?}", found.warnings);
    let inception_s = found.inception_s.expect("a change");
    assert!((inception_s - 0.1).abs() < 0.001, "{inception_s}");
    let last = found.stages.last().expect("the fault itself");
    assert_eq!(last.verdict.to_string(), "ABC");
}

#[test]
fn a_record_that_begins_within_a_balanced_fault_gets_no_verdict() {
    let within = [92.0, 92.0, 92.0, 20.0, 20.0, 20.0];
    let over = [100.0, 100.0, 100.0, 0.05, 0.05, 0.05];
    let record = of_stages(&[(0.0, within), (0.2, over)]);
    let found = FaultAnalysis::of(&record, &FaultRecipe::default()).expect("six channels");
    assert_eq!(found.verdict, None, "{:?}", found.warnings);
    // A load that is switched off is none.
    let load = [99.0, 99.0, 99.0, 20.0, 20.0, 20.0];
    let record = of_stages(&[(0.0, load), (0.2, over)]);
    let found = FaultAnalysis::of(&record, &FaultRecipe::default()).expect("six channels");
    let verdict = found.verdict.expect("a verdict");
    assert_eq!(verdict.to_string(), "no fault");
}
