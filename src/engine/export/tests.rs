//! What is exported can be read again, whatever the classes are called.

use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::dataset::{Dataset, DatasetParts, Origin, Place};
use crate::experiment::{CheckedExperiment, Extent, Run, RunParts, SettingChange, Tests};
use crate::learner::LearnerSettings;

const NAMES: [&str; 2] = ["a, \"quoted\"", "<b> & c"];

/// A small run whose class names are hostile to every format.
fn checked() -> Arc<CheckedExperiment> {
    let n = 60_i32;
    let values = (0..n).flat_map(|i| {
        let class = f64::from(i % 2);
        [class, 1.0 - class, f64::from(i * 7 % 11) / 11.0]
    });
    let parts = DatasetParts {
        values: values.collect(),
        feature_names: (0..3).map(|f| format!("f{f}")).collect(),
        class_names: NAMES.map(str::to_owned).to_vec(),
        classes: (0..n as usize).map(|i| i % 2).collect(),
        group_names: (0..6).map(|g| format!("subject {g}")).collect(),
        groups: Some((0..n as usize).map(|i| i / 10).collect()),
        sources: vec!["test".into()],
        origins: (0..n as usize)
            .map(|row| Origin {
                source: 0,
                place: Place::Row(row),
            })
            .collect(),
        ..DatasetParts::default()
    };
    let mut experiment = Experiment::default();
    experiment.learner.n_atoms = 3;
    experiment.learner.sparsity = 1;
    experiment.learner.batch_size = 2;
    experiment.learner.budget = 6;
    experiment.tests = Tests {
        n_tests: 2,
        missing_shares: vec![0.5],
        prequential: false,
        ..Tests::default()
    };
    let dataset = Arc::new(Dataset::new(parts).expect("the parts fit"));
    Arc::new(experiment.check(dataset).expect("nothing is wrong"))
}

fn with_result(look: impl FnOnce(&RunResult<'_>)) {
    let checked = checked();
    let mut run = Run::new(checked, &RunParts::default(), Vec::new()).expect("folds exist");
    let mut news = Vec::new();
    while !run.is_complete() {
        run.advance(Extent::Slice, &mut news).expect("it goes on");
    }
    let checked = run.checked();
    let folds = run.complete_folds();
    let summary = RunSummary::of(checked.facts(), &folds);
    let changes = [SettingChange {
        batch: 2,
        spared: Vec::new(),
        learner: LearnerSettings {
            budget: checked.experiment().learner.budget + 1,
            ..checked.experiment().learner.clone()
        },
    }];
    look(&RunResult {
        session: "test",
        experiment: checked.experiment(),
        changes: &changes,
        facts: checked.facts(),
        n_folds: checked.split().n_folds(),
        findings: &checked.audit().findings,
        summary: &summary,
        predictions: Predictions::of(checked.facts(), 0.05, folds.iter().copied()),
        wall_s: None,
    });
}

fn text_of(result: &RunResult<'_>, content: ExportContent, name: &str) -> String {
    match export(result, content, Path::new(name)).expect("it can be exported") {
        Exported::Bytes(bytes) => String::from_utf8(bytes).expect("text"),
        Exported::Picture(_) => panic!("{name} is no picture"),
    }
}

#[test]
fn tables_hold_the_counts_under_their_names() {
    with_result(|result| {
        let text = text_of(result, ExportContent::ConfusionTable, "c.csv");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let head = reader.headers().expect("a head").clone();
        assert_eq!((&head[1], &head[2]), (NAMES[0], NAMES[1]));
        let rows: Vec<csv::StringRecord> =
            reader.records().map(|row| row.expect("whole")).collect();
        assert_eq!(rows.len(), 2);
        let total: u64 = rows
            .iter()
            .flat_map(|row| [row[1].parse::<u64>(), row[2].parse()])
            .map(|count| count.expect("a count"))
            .sum();
        assert_eq!(total, 60);
        let votes = text_of(result, ExportContent::GroupTable, "v.csv");
        assert_eq!(votes.lines().count(), 1 + 6);
        let predictions = text_of(result, ExportContent::PredictionTable, "p.csv");
        let mut reader = csv::Reader::from_reader(predictions.as_bytes());
        let mut n_right = 0;
        let mut samples = std::collections::BTreeSet::new();
        for row in reader.records().map(|row| row.expect("whole")) {
            n_right += u64::from(row[3] == row[4]);
            samples.insert(row[1].to_owned());
            assert!(row[6].is_empty() || row[6].split('|').all(|class| NAMES.contains(&class)));
        }
        assert_eq!(samples.len(), 60);
        let confusion = &result.summary.confusion;
        assert_eq!(n_right, confusion.count(0, 0) + confusion.count(1, 1));
        let everything = text_of(result, ExportContent::Everything, "e.json");
        let everything: serde_json::Value = serde_json::from_str(&everything).expect("JSON");
        assert_eq!(everything["predictions"].as_array().map(Vec::len), Some(60));
        assert!(everything["predictions"][0]["fold"].as_u64() >= Some(1));
        assert_eq!(everything["settings"]["learner"]["budget"], 6);
        let curve = text_of(result, ExportContent::CurveTable, "k.csv");
        assert_eq!(curve.lines().count(), 1 + result.summary.curve.len());
    });
}

#[test]
fn json_holds_split_seed_and_scores() {
    with_result(|result| {
        let text = text_of(result, ExportContent::Everything, "all.json");
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["changes"][0]["batch"], 2);
        let changed = value["changes"][0]["text"].as_str().expect("text");
        assert!(changed.starts_with("L_max ("), "{changed}");
        assert_eq!(value["split"]["kind"], "k_fold");
        assert_eq!(value["seed"], 1);
        assert_eq!(value["classes"][1], NAMES[1]);
        assert_eq!(value["folds"].as_array().map(Vec::len), Some(5));
        assert_eq!(value["missing"][0]["share"], 0.5);
        assert!(value["timing"]["wall_s"].is_null());
    });
}

#[test]
fn figures_are_svg_with_escaped_names_or_pictures() {
    with_result(|result| {
        for content in [ExportContent::ConfusionFigure, ExportContent::CurveFigure] {
            let svg = text_of(result, content, "figure.svg");
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
            assert!(!svg.contains("NaN") && !svg.contains("<b>"), "{svg}");
            assert!(svg.contains("seed 1"));
            let picture = export(result, content, Path::new("figure.PNG")).expect("a picture");
            assert!(matches!(picture, Exported::Picture(_)));
        }
        let svg = text_of(result, ExportContent::ConfusionFigure, "figure.svg");
        assert!(svg.contains("&lt;b&gt; &amp; c"));
    });
}

#[test]
fn a_wrong_ending_and_a_place_that_cannot_be_written_are_named() {
    with_result(|result| {
        let refused = export(result, ExportContent::CurveFigure, Path::new("a.gif"));
        let message = refused.expect_err("no such figure").to_string();
        assert_eq!(message, "the file must end in .svg or .png, but is a.gif");
    });
    let nowhere = Path::new("no/such/folder/a.csv");
    let message = write(nowhere, b"x").expect_err("no folder").to_string();
    assert!(message.ends_with("no/such/folder/a.csv"), "{message}");
}
