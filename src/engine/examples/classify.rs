//! Trains a final model on a table and classifies new rows, with prediction sets.

use std::sync::Arc;

use atomscope_engine::dataset::{Dataset, DatasetParts, Origin, Place, Preparation, Scaling};
use atomscope_engine::experiment::{Experiment, Extent, JudgeOptions, Run, RunParts};

/// Rows of two classes on two rings.
fn rings(n: usize, shift: f64) -> Result<Dataset, Box<dyn std::error::Error>> {
    let angle = |row: usize| row as f64 * 2.4 + shift;
    let radius = |row: usize| 1.0 + (row % 2) as f64;
    let parts = DatasetParts {
        values: (0..n)
            .flat_map(|row| {
                [
                    radius(row) * angle(row).cos(),
                    radius(row) * angle(row).sin(),
                ]
            })
            .collect(),
        feature_names: vec!["x".into(), "y".into()],
        class_names: vec!["inner".into(), "outer".into()],
        classes: (0..n).map(|row| row % 2).collect(),
        sources: vec!["rings".into()],
        origins: (0..n)
            .map(|row| Origin {
                source: 0,
                place: Place::Row(row),
            })
            .collect(),
        ..DatasetParts::default()
    };
    Ok(Dataset::new(parts)?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut experiment = Experiment {
        preparation: Preparation {
            scaling: Scaling::ZScore,
            ..Preparation::default()
        },
        ..Experiment::default()
    };
    experiment.learner.n_atoms = 8;
    experiment.learner.sparsity = 3;
    experiment.learner.budget = 30;
    let checked = experiment.check(Arc::new(rings(400, 0.0)?));
    let checked = Arc::new(checked.map_err(|problems| format!("{problems:?}"))?);
    let parts = RunParts {
        folds: Some(Vec::new()),
        final_model: true,
    };
    let mut run = Run::new(checked, &parts, Vec::new())?;
    let mut news = Vec::new();
    while !run.is_complete() {
        run.advance(Extent::Slice, &mut news)?;
        news.clear();
    }
    let state = run.state();
    let model = state.final_model().ok_or("no model was trained")?;

    let fresh = rings(50, 0.3)?;
    let judged = model.judge(&fresh, &JudgeOptions::default(), &mut |_| true)?;
    let right = judged
        .iter()
        .filter(|item| item.verdict.class == fresh.classes()[item.sample]);
    println!("{} of {} right", right.clone().count(), judged.len());
    for item in &judged[..3] {
        let set = item.assurance.as_ref().map(|assured| assured.set());
        println!(
            "class {}, margin {:.2}, set {set:?}",
            item.verdict.class, item.verdict.margin
        );
    }
    assert!(right.count() > 40);
    Ok(())
}
