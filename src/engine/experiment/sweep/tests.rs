//! Points, nested choice, and that cutting a sweep into pieces changes nothing.

use std::sync::Arc;

use super::*;
use crate::dataset::{DataPlan, DataSettings, Dataset, TableSource};
use crate::experiment::{Experiment, Extent, News, Run, RunParts, Training, TrainingLength};
use crate::learner::LearnerSettings;
use crate::simulate::feeder::FeederSettings;
use crate::split::SplitPlan;

fn axis(setting: &str, values: &[f64]) -> Axis {
    let values = values.iter().map(|value| SettingText::Number(*value));
    Axis {
        setting: setting.into(),
        values: Values::List(values.collect()),
    }
}

fn grid() -> Sweep {
    Sweep {
        search: Search::Grid(vec![
            axis("learner.n_atoms", &[3.0, 6.0]),
            axis("learner.forgetting.start_value", &[0.9, 0.98]),
        ]),
        inner_folds: 2,
        halving: None,
    }
}

fn base() -> (Experiment, Arc<Dataset>) {
    let mut experiment = Experiment {
        data: DataSettings::feeder_faults(FeederSettings {
            records_per_class: 8,
            ..FeederSettings::default()
        }),
        split: SplitPlan::KFold {
            n_folds: 2,
            seed: 1,
        },
        training: Training {
            length: TrainingLength::Batches(2),
            ..Training::default()
        },
        ..Experiment::default()
    };
    experiment.learner.n_atoms = 3;
    experiment.learner.sparsity = 2;
    experiment.learner.batch_size = 1;
    experiment.learner.budget = 6;
    let built = experiment.data.load(&|_| None, &mut |_| true);
    (experiment, Arc::new(built.expect("built in").dataset))
}

fn plan(sweep: &Sweep) -> Result<SweepPlan, SweepError> {
    let (experiment, dataset) = base();
    let data = vec![(experiment.data.clone(), dataset)];
    SweepPlan::new(&experiment, sweep, data)
}

fn run(plan: &SweepPlan, numbers: &[usize], n_threads: usize) -> Vec<PointResult> {
    let mut results = Vec::new();
    let all = plan.run(numbers, &[], n_threads, &mut |_| true, &mut |mut result| {
        assert!(result.problem.is_some() || result.train_us_per_batch.is_some());
        result.train_us_per_batch = None;
        results.push(result);
        Ok(())
    });
    assert!(all.expect("it goes on"));
    results
}

#[test]
fn a_grid_holds_every_combination_and_draws_repeat() {
    let points = grid().search.points().expect("sound");
    let texts: Vec<String> = points.iter().map(|p| p.assignments().join(" ")).collect();
    assert_eq!(
        texts,
        [
            "learner.n_atoms=3 learner.forgetting.start_value=0.9",
            "learner.n_atoms=3 learner.forgetting.start_value=0.98",
            "learner.n_atoms=6 learner.forgetting.start_value=0.9",
            "learner.n_atoms=6 learner.forgetting.start_value=0.98",
        ]
    );
    let random = |seed| Search::Random {
        n_points: 50,
        seed,
        axes: vec![
            Axis {
                setting: "a".into(),
                values: Values::LogBetween(0.01, 100.0),
            },
            Axis {
                setting: "b".into(),
                values: Values::Whole(3, 5),
            },
        ],
    };
    let drawn = random(1).points().expect("sound");
    assert_eq!(drawn, random(1).points().expect("sound"));
    assert_ne!(drawn, random(2).points().expect("sound"));
    for point in &drawn {
        let number = |at: usize| point.values[at].1.parse::<f64>().expect("a number");
        assert!((0.01..100.0).contains(&number(0)) && (3.0..=5.0).contains(&number(1)));
    }
    let small = drawn
        .iter()
        .filter(|p| p.values[0].1.parse::<f64>().expect("a number") < 1.0);
    assert!(
        (10..40).contains(&small.count()),
        "magnitudes are drawn evenly"
    );
}

#[test]
fn values_are_read_as_they_are_written() {
    for text in [
        "10, 20, 40",
        "0.001",
        "true, false",
        "Ormp, Omp",
        r#"{"Polynomial":{"degree":2,"offset":1}}, {"Gaussian":{"width":2}}"#,
        "0.5 to 2",
        "0.001 to 1 log",
        "5 to 40 whole",
    ] {
        let values: Values = text.parse().expect(text);
        assert_eq!(values.to_string(), text);
    }
    let refused = |text: &str| text.parse::<Values>().expect_err("refused").to_string();
    assert!(refused("").contains("a value is missing"));
    assert!(refused("1, , 2").contains("a value is missing"));
    assert!(refused("1 to many").contains("many"));
    assert!(refused("1 to 2 lin").contains("log or whole"));
    assert!(refused("[1, 2").contains("not closed"));
    assert!(refused("0.5 to 3 whole").contains("0.5"));
}

#[test]
fn what_cannot_be_swept_is_named() {
    let refused = |search: Search| search.points().expect_err("refused").to_string();
    assert!(refused(Search::Grid(Vec::new())).contains("no setting"));
    assert!(refused(Search::Grid(vec![axis("split.n_folds", &[2.0])])).contains("cannot be swept"));
    assert!(refused(Search::Grid(vec![axis("learner.n_atoms", &[])])).contains("empty"));
    let twice = vec![
        axis("learner.n_atoms", &[2.0]),
        axis("learner.n_atoms", &[3.0]),
    ];
    assert!(refused(Search::Grid(twice)).contains("named twice"));
    let inside = Values::Between(10.0, 20.0).samples();
    assert!(
        inside.iter().any(|value| value.parse::<usize>().is_err()),
        "a range of atoms that is not of whole numbers is found out by {inside:?}"
    );
    let range = Axis {
        setting: "learner.n_atoms".into(),
        values: Values::Whole(3, 5),
    };
    let words = "a range needs a random search: choose Search random (Random in a sweep file)";
    assert!(refused(Search::Grid(vec![range])).contains(words));
    let drawn = |values| {
        refused(Search::Random {
            n_points: 3,
            seed: 1,
            axes: vec![Axis {
                setting: "learner.n_atoms".into(),
                values,
            }],
        })
    };
    let words = "a range with log (LogBetween in a sweep file) needs two rising numbers above 0";
    assert!(drawn(Values::LogBetween(0.0, 1.0)).contains(words));
    assert!(drawn(Values::Between(2.0, 1.0)).contains("needs two rising numbers"));
    assert!(drawn(Values::Whole(2, 1)).contains("a range of whole numbers"));
    let wrong = Sweep {
        search: Search::Grid(vec![axis("learner.n_atom", &[3.0])]),
        inner_folds: 2,
        halving: None,
    };
    let error = plan(&wrong).err().expect("no such setting").to_string();
    assert!(error.contains("did you mean n_atoms?"), "{error}");
}

#[test]
fn settings_that_do_not_fit_are_points_without_results() {
    let sweep = Sweep {
        search: Search::Grid(vec![axis("learner.sparsity", &[2.0, 50.0])]),
        inner_folds: 2,
        halving: None,
    };
    let plan = plan(&sweep).expect("one point is sound");
    let table = SweepTable::of(run(&plan, &[0, 1], 2));
    assert_eq!(table.best().expect("one ran").result.point.number, 0);
    let bad = table.row(1).expect("it is listed");
    let problem = bad.result.problem.as_deref().unwrap_or("");
    assert!(
        problem.contains("sparsity must be 1 to 3, but is 50"),
        "{problem}"
    );
}

#[test]
fn shards_and_threads_change_nothing() {
    let plan = plan(&grid()).expect("sound");
    assert_eq!((plan.n_points(), plan.n_folds()), (4, 2));
    let whole = SweepTable::of(run(&plan, &[0, 1, 2, 3], 1));
    let mut pieces = run(&plan, &[1, 3], 2);
    pieces.extend(run(&plan, &[0, 2], 1));
    assert_eq!(whole, SweepTable::of(pieces));
}

#[test]
fn the_choice_is_made_inside_and_scored_outside() {
    let result = |number, folds: [(&[f64], f64); 2]| PointResult {
        point: SweepPoint {
            number,
            values: vec![("a".into(), number.to_string())],
        },
        effort: Effort::Whole,
        problem: None,
        outer: folds
            .iter()
            .map(|(inner, outer)| OuterResult {
                inner: inner.to_vec(),
                outer: Some(*outer),
            })
            .collect(),
        train_us_per_batch: None,
    };
    // Point 1 wins inside fold 0, point 0 inside fold 1; outside both happen to do worse than the other.
    let table = SweepTable::of(vec![
        result(1, [(&[0.9, 0.9], 0.5), (&[0.6, 0.6], 0.99)]),
        result(0, [(&[0.8, 0.8], 0.95), (&[0.7, 0.9], 0.6)]),
    ]);
    let chosen: Vec<(usize, usize, f64)> = table
        .chosen
        .iter()
        .map(|c| (c.fold, c.point, c.outer))
        .collect();
    assert_eq!(chosen, [(0, 1, 0.5), (1, 0, 0.6)]);
    let (mean, sd) = table.nested.expect("two folds");
    assert!((mean - 0.55).abs() < 1e-12 && sd.is_some());
    assert_eq!(table.best().expect("points ran").result.point.number, 0);
}

#[test]
fn another_sweep_or_other_data_have_another_fingerprint() {
    let one = plan(&grid()).expect("sound").fingerprint();
    assert_eq!(one, plan(&grid()).expect("sound").fingerprint());
    let other = Sweep {
        inner_folds: 3,
        ..grid()
    };
    assert_ne!(one, plan(&other).expect("sound").fingerprint());
}

#[test]
fn where_the_data_lie_is_nothing_to_the_fingerprint() {
    let plan_on = |named: &str| {
        let (mut experiment, dataset) = base();
        let table = TableSource {
            paths: vec![named.into()],
            ..TableSource::default()
        };
        experiment.data = DataSettings::new(DataPlan::Table(table), None);
        let data = vec![(experiment.data.clone(), dataset)];
        SweepPlan::new(&experiment, &grid(), data).expect("sound")
    };
    let (here, there) = (plan_on("a.csv"), plan_on("../data/a.csv"));
    assert_eq!(here.fingerprint(), there.fingerprint());
}

/// Eight points, of which early stopping leaves four, then two, then one in each outer fold.
fn halved() -> Sweep {
    let mut sweep = grid();
    sweep.search = Search::Grid(vec![
        axis("learner.n_atoms", &[3.0, 4.0, 5.0, 6.0]),
        axis("learner.forgetting.start_value", &[0.9, 0.98]),
    ]);
    sweep.halving = Some(Halving {
        stages: 3,
        factor: 2,
    });
    sweep
}

/// All phases, each on so many threads.
fn run_phases(plan: &SweepPlan, n_threads: usize) -> Vec<PointResult> {
    let mut all = Vec::new();
    for phase in 0..plan.n_phases() {
        let tasks: Vec<usize> = plan.tasks_of(phase).collect();
        let known = all.clone();
        let done = plan.run(
            &tasks,
            &known,
            n_threads,
            &mut |_| true,
            &mut |mut result| {
                result.train_us_per_batch = None;
                all.push(result);
                Ok(())
            },
        );
        assert!(done.expect("it goes on"));
    }
    all.sort_by_key(|result| plan.task_of(result));
    all
}

fn longer_base(sweep: &Sweep) -> SweepPlan {
    let (mut experiment, dataset) = base();
    experiment.training.length = TrainingLength::Batches(8);
    let data = vec![(experiment.data.clone(), dataset)];
    SweepPlan::new(&experiment, sweep, data).expect("sound")
}

#[test]
fn points_are_stopped_in_every_outer_fold_by_its_own_inner_folds() {
    let plan = longer_base(&halved());
    assert_eq!((plan.n_phases(), plan.n_tasks()), (4, 32));
    let results = run_phases(&plan, 1);
    assert_eq!(results, run_phases(&plan, 3), "for any number of threads");
    let trained = |effort, fold: usize| {
        let of = results.iter().filter(|result| result.effort == effort);
        let of = of.filter(|result| result.outer[fold] != OuterResult::default());
        of.map(|result| result.point.number).collect::<Vec<usize>>()
    };
    let stage = |number, part| Effort::Stage { number, part };
    for fold in 0..2 {
        assert_eq!(trained(stage(0, 4), fold).len(), 8);
        assert_eq!(trained(stage(1, 2), fold).len(), 4);
        assert_eq!(trained(stage(2, 1), fold).len(), 2);
        assert_eq!(trained(Effort::Choice, fold).len(), 1);
    }
    let table = SweepTable::of(results);
    let saving = table.saving.as_ref().expect("points were stopped");
    // Each fold: 8 points of 2 inner folds by a quarter, 4 by a half, 2 whole, 1 outer; else 8 × 3.
    assert_eq!((saving.spent, saving.whole), (26.0, 48.0));
    let words = "8 points with 1/4 of the training, ";
    assert!(
        saving.in_words().starts_with(words),
        "{}",
        saving.in_words()
    );
    assert!(
        saving
            .in_words()
            .ends_with("26.0 trainings instead of 48, 46 % saved")
    );
    assert_eq!((table.rows.len(), table.chosen.len()), (8, 2));
    let again = SweepTable::of(table.clone().into_results());
    assert_eq!(again, table);
    let n_stopped = table
        .rows
        .iter()
        .filter(|row| row.stopped.is_some())
        .count();
    assert!((4..=6).contains(&n_stopped), "{n_stopped}");
}

#[test]
fn what_is_trained_to_the_end_comes_to_the_same_as_without_early_stopping() {
    let halved = SweepTable::of(run_phases(&longer_base(&halved()), 2));
    let mut whole = self::halved();
    whole.halving = None;
    let plan = longer_base(&whole);
    let all: Vec<usize> = plan.tasks_of(0).collect();
    let whole = SweepTable::of(run(&plan, &all, 2));
    assert!(whole.saving.is_none());
    let same = |row: &SweepRow, fold: usize| {
        let other = whole.row(row.result.point.number).expect("all were tried");
        let (own, other) = (&row.result.outer[fold], &other.result.outer[fold]);
        assert!(own.inner.is_empty() || own.inner == other.inner);
        assert!(own.outer.is_none() || own.outer == other.outer);
        !own.inner.is_empty()
    };
    let n_compared = halved
        .rows
        .iter()
        .flat_map(|row| [same(row, 0), same(row, 1)]);
    assert_eq!(n_compared.filter(|is_whole| *is_whole).count(), 4);
}

#[test]
fn test_samples_of_an_outer_fold_have_no_part_in_its_choice() {
    let stage = Effort::Stage { number: 0, part: 2 };
    let result = |number: usize, inner: [f64; 2]| PointResult {
        point: SweepPoint {
            number,
            values: vec![("a".into(), number.to_string())],
        },
        effort: stage,
        problem: None,
        outer: inner
            .map(|accuracy| OuterResult {
                inner: vec![accuracy],
                outer: None,
            })
            .to_vec(),
        train_us_per_batch: None,
    };
    let best = |results: &[PointResult]| halving::best_of_stage(stage, results, 2, |_| 1).0;
    let mut results = vec![
        result(0, [0.9, 0.1]),
        result(1, [0.8, 0.7]),
        result(2, [0.9, 0.7]),
    ];
    assert_eq!(best(&results), [[0], [1]], "of equals the first");
    // Whatever happens in the other fold changes nothing.
    results[2].outer[1].inner[0] = 1.0;
    assert_eq!(best(&results), [[0], [2]]);
}

#[test]
fn halving_that_cannot_be_is_named() {
    let mut sweep = halved();
    sweep.halving = Some(Halving {
        stages: 1,
        factor: 3,
    });
    let error = plan(&sweep).err().expect("one stage stops nothing");
    assert_eq!(
        error.to_string(),
        "halving: stages must be 2 to 6, but is 1"
    );
    let fingerprint = |sweep: &Sweep| plan(sweep).expect("sound").fingerprint();
    let mut other = halved();
    other.halving = Some(Halving::default());
    assert_ne!(fingerprint(&halved()), fingerprint(&other));
}

#[test]
fn shared_inner_products_change_no_bit_of_a_training() {
    let (mut experiment, dataset) = base();
    experiment.data = DataSettings::default();
    experiment.training.length = TrainingLength::Batches(12);
    experiment.learner.batch_size = 4;
    experiment.learner.budget = 20;
    let shared = Arc::new(crate::dataset::SharedProducts::default());
    let trained = |learner: LearnerSettings, is_shared: bool| {
        let experiment = Experiment {
            learner,
            ..experiment.clone()
        };
        let checked = experiment.check(dataset.clone()).expect("sound");
        let checked = checked.sharing(is_shared.then(|| shared.clone()));
        let parts = RunParts {
            folds: Some(vec![1]),
            final_model: false,
        };
        let run = Run::new(Arc::new(checked), &parts, Vec::new());
        let mut run = run.expect("sound").bare(false);
        let mut news = Vec::new();
        while !run.is_complete() {
            run.advance(Extent::Slice, &mut news).expect("it goes on");
        }
        let complete = news.iter().find_map(|item| match item {
            News::Complete(_, record, model) => Some((record.tests.clone(), model.clone())),
            _ => None,
        });
        let (tests, model) = complete.expect("it is complete");
        let margins = news.iter().filter_map(|item| match item {
            News::Test(_, _, decisions) => Some(decisions.margin.clone()),
            _ => None,
        });
        let margins: Vec<Vec<f64>> = margins.collect();
        (
            tests.len(),
            format!("{margins:?}"),
            ron::to_string(&*model).expect("a text"),
        )
    };
    let mut learners = vec![
        LearnerSettings::margin_aware(),
        LearnerSettings::evidence_preserving(),
        LearnerSettings::kmod(),
    ];
    for learner in &mut learners {
        let own = &experiment.learner;
        (learner.n_atoms, learner.sparsity) = (own.n_atoms, own.sparsity);
        (learner.batch_size, learner.budget) = (own.batch_size, own.budget);
        let alone = trained(learner.clone(), false);
        assert_eq!(trained(learner.clone(), true), alone);
        assert_eq!(
            trained(learner.clone(), true),
            alone,
            "with tiles of the first"
        );
    }
}
