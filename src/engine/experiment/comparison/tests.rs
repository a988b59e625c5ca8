//! Entrants learn from the same samples and are judged on the same; what cannot be paired is refused.

use std::sync::Arc;

use super::*;
use crate::dataset::{DatasetParts, Origin, Place};
use crate::experiment::{Tests, Training, TrainingLength};
use crate::learner::LearnerSettings;

fn dataset(flip: usize) -> Arc<Dataset> {
    let n: usize = 90;
    let values = (0..n).flat_map(|i| {
        let class = (i % 3) as f64;
        let noise = |k: usize| ((i * k) % 17) as f64 / 12.0;
        [class + noise(7), 2.0 - class + noise(5), noise(3), 1.0]
    });
    let mut classes: Vec<usize> = (0..n).map(|i| i % 3).collect();
    classes[0] = (classes[0] + flip) % 3;
    let parts = DatasetParts {
        values: values.collect(),
        feature_names: (0..4).map(|f| format!("f{f}")).collect(),
        class_names: ["a", "b", "c"].map(str::to_owned).to_vec(),
        classes,
        sources: vec!["test".into()],
        origins: (0..n)
            .map(|row| Origin {
                source: 0,
                place: Place::Row(row),
            })
            .collect(),
        ..DatasetParts::default()
    };
    Arc::new(Dataset::new(parts).expect("the parts fit"))
}

fn entrant(name: &str, learner: LearnerSettings, dataset: &Arc<Dataset>) -> Entrant {
    Entrant {
        name: name.into(),
        experiment: Experiment {
            learner: LearnerSettings {
                n_atoms: 4,
                sparsity: 2,
                batch_size: 2,
                budget: 20,
                ..learner
            },
            training: Training {
                length: TrainingLength::Batches(8),
                ..Training::default()
            },
            tests: Tests {
                n_tests: 4,
                missing_shares: vec![0.0, 0.5],
                prequential: false,
                ..Tests::default()
            },
            ..Experiment::default()
        },
        dataset: dataset.clone(),
    }
}

fn pair(dataset: &Arc<Dataset>) -> Vec<Entrant> {
    vec![
        entrant("paper", LearnerSettings::as_published(), dataset),
        entrant("evidence", LearnerSettings::evidence_preserving(), dataset),
    ]
}

fn run(plan: &ComparisonPlan, n_threads: usize) -> Comparison {
    plan.run(n_threads, &mut |_| true)
}

/// Outcomes without what depends on the clock: `Timing` compares only what was counted.
fn outcomes(comparison: &Comparison) -> Vec<Vec<FoldOutcome>> {
    comparison
        .rows
        .iter()
        .map(|row| row.outcomes.clone())
        .collect()
}

#[test]
fn folds_and_seeds_are_the_same_for_all_and_threads_change_nothing() {
    let dataset = dataset(0);
    let plan = ComparisonPlan::new(pair(&dataset), &[3, 4]).expect("they fit");
    assert_eq!(plan.n_trials(), 2 * 2 * 5);
    for number in 0..2 {
        let folds = |at: usize| plan.checked[at].split();
        assert_eq!(folds(number), folds(number + 2));
    }
    assert_ne!(plan.checked[0].split(), plan.checked[1].split());
    let one = run(&plan, 1);
    let two = run(&plan, 3);
    assert!(one.is_complete && one.failures.is_empty());
    assert_eq!(outcomes(&one), outcomes(&two));
    let of = |row: &ComparedRun| -> Vec<(u64, usize)> {
        row.outcomes.iter().map(|o| (o.seed, o.fold)).collect()
    };
    assert_eq!(of(&one.rows[0]), of(&one.rows[1]));
    assert_eq!(one.rows[0].outcomes.len(), 10);
}

#[test]
fn a_fold_scores_what_it_scores_in_a_run_of_its_own() {
    let dataset = dataset(0);
    let plan = ComparisonPlan::new(pair(&dataset), &[1]).expect("they fit");
    let compared = run(&plan, 2);
    for (row, entrant) in compared.rows.iter().zip(pair(&dataset)) {
        let checked = entrant.experiment.check(dataset.clone()).expect("sound");
        let mut run = super::super::Run::new(Arc::new(checked), &Default::default(), Vec::new())
            .expect("folds exist");
        let mut news = Vec::new();
        while !run.is_complete() {
            run.advance(super::super::Extent::Slice, &mut news)
                .expect("it goes on");
        }
        let summary = super::super::RunSummary::of(run.checked().facts(), &run.complete_folds());
        assert_eq!(row.summary.last, summary.accuracy);
        assert_eq!(row.summary.curve, summary.curve);
        assert_eq!(row.summary.missing, summary.missing);
        assert_eq!(row.summary.confusion, summary.confusion);
    }
}

#[test]
fn differences_are_those_of_the_folds() {
    let dataset = dataset(0);
    let plan = ComparisonPlan::new(pair(&dataset), &[1]).expect("they fit");
    let compared = run(&plan, 2);
    let [(first, second, difference)] = compared.differences()[..] else {
        panic!("two entrants have one difference")
    };
    assert_eq!((first, second, difference.n_pairs), (1, 0, 5));
    let accuracy = |row: usize| compared.rows[row].summary.last.expect("tested").mean;
    assert!((difference.mean - (accuracy(1) - accuracy(0))).abs() < 1e-12);
    // Five folds of 90 samples: 18 tested for 72 learned from.
    let pairs = compared.rows[1].pairs(&compared.rows[0]);
    assert_eq!(PairedDifference::of(&pairs, 0.25), Some(difference));
}

#[test]
fn what_differs_is_refused_or_said() {
    let (mine, other) = (dataset(0), dataset(1));
    let mut entrants = pair(&mine);
    entrants[1].dataset = other;
    let error = ComparisonPlan::new(entrants, &[1]).expect_err("other classes");
    assert_eq!(
        error.to_string(),
        "evidence cannot be paired with paper: samples belong to other classes or groups"
    );
    let mut entrants = pair(&mine);
    entrants[1].experiment.split = SplitPlan::KFold {
        n_folds: 3,
        seed: 1,
    };
    let plan = ComparisonPlan::new(entrants, &[1]).expect("it takes part");
    assert_eq!(
        plan.remarks,
        ["evidence has another split of its own; here it has that of paper"]
    );
    assert_eq!(plan.n_trials(), 10);
    assert!(ComparisonPlan::new(Vec::new(), &[1]).is_err());
    assert!(ComparisonPlan::new(pair(&mine), &[]).is_err());
}

#[test]
fn a_stopped_comparison_keeps_what_is_complete() {
    let dataset = dataset(0);
    let plan = ComparisonPlan::new(pair(&dataset), &[1]).expect("they fit");
    let stopped = plan.run(1, &mut |_| false);
    assert!(!stopped.is_complete);
    let n_complete: usize = stopped.rows.iter().map(|row| row.outcomes.len()).sum();
    assert!(n_complete < 10);
}
