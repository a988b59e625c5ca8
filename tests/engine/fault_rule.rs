//! The rule and the scale-free magnitudes on real records: type and phases of all open views, and what may not change them.

use std::path::PathBuf;

use atomscope_engine::features::fault::FaultRecipe;
use atomscope_engine::features::phases::PhaseChoice;
use atomscope_engine::protection::FaultAnalysis;
use atomscope_engine::records::{self, Mode, Record};

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
