//! Runs are the same, bit for bit, however they are cut, paused, saved and threaded; the
//! worker loses nothing and stops at once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use atomscope_engine::dataset::{Dataset, DatasetParts, Origin, Place, Preparation, Scaling};
use atomscope_engine::experiment::{
    CheckedExperiment, Command, Experiment, Extent, Mail, News, Part, PartRecord, Run, RunParts,
    RunState, RunSummary, Status, Tests, Training, TrainingLength, Worker,
};
use atomscope_engine::learner::{
    Forgetting, Kernel, LearnerSettings, Start, Supply, resume_learner,
};
use atomscope_engine::math::{Normal, random_below, random_stream};
use atomscope_engine::split::SplitPlan;

const N_CLASSES: usize = 3;

/// Clouds around three directions: a task that is learned a little better with every batch.
fn dataset(n_per_class: usize, n_features: usize) -> Arc<Dataset> {
    let mut random = random_stream(7, "clouds", 0);
    let mut normal = Normal::default();
    let n = n_per_class * N_CLASSES;
    let mut values = Vec::with_capacity(n * n_features);
    let mut classes = Vec::with_capacity(n);
    for sample in 0..n {
        let class = sample % N_CLASSES;
        classes.push(class);
        for feature in 0..n_features {
            let centre = if feature % N_CLASSES == class {
                1.0
            } else {
                0.0
            };
            values.push(centre + 0.7 * normal.draw(&mut random));
        }
    }
    let parts = DatasetParts {
        values,
        feature_names: (0..n_features).map(|f| format!("f{f}")).collect(),
        class_names: (0..N_CLASSES).map(|c| format!("class {c}")).collect(),
        classes,
        group_names: (0..n / 6 + 1).map(|g| format!("subject {g}")).collect(),
        groups: Some((0..n).map(|sample| sample / 6).collect()),
        sources: vec!["clouds".into()],
        origins: (0..n)
            .map(|row| Origin {
                source: 0,
                place: Place::Row(row),
            })
            .collect(),
        ..DatasetParts::default()
    };
    Arc::new(Dataset::new(parts).expect("the parts fit together"))
}

fn learner(preset: LearnerSettings) -> LearnerSettings {
    LearnerSettings {
        kernel: Kernel::Gaussian { width: 3.0 },
        n_atoms: 6,
        sparsity: 2,
        batch_size: 4,
        budget: 24,
        start: Start::FarthestFirst { pool: 20 },
        ..preset
    }
}

fn experiment(preset: LearnerSettings) -> Experiment {
    Experiment {
        preparation: Preparation {
            scaling: Scaling::ZScore,
            ..Preparation::default()
        },
        split: SplitPlan::grouped(3, 5),
        learner: learner(preset),
        training: Training {
            length: TrainingLength::Batches(12),
            supply: Supply::Proportional,
        },
        tests: Tests {
            n_tests: 4,
            missing_shares: vec![0.0, 0.5],
            prequential: true,
            // Calibration by groups starts anew after a pause: runs that are interrupted all the time would not end.
            calibrate: false,
            ..Tests::default()
        },
        seed: 3,
        ..Experiment::default()
    }
}

fn presets() -> [LearnerSettings; 6] {
    [
        shrunk(LearnerSettings::paper_text()),
        LearnerSettings::evidence_preserving(),
        LearnerSettings::margin_aware(),
        LearnerSettings::kmod(),
        shrunk(LearnerSettings::okdlrs()),
        LearnerSettings::kernel_ridge(),
    ]
}

/// A headroom that a small budget has.
fn shrunk(mut settings: LearnerSettings) -> LearnerSettings {
    if let Some(headroom) = settings.algorithm.headroom_mut() {
        *headroom = 3;
    }
    settings
}

fn checked(experiment: Experiment) -> Arc<CheckedExperiment> {
    let checked = experiment.check(dataset(40, 8));
    Arc::new(checked.expect("nothing is wrong"))
}

fn new_run(checked: &Arc<CheckedExperiment>) -> Run {
    let parts = RunParts {
        folds: None,
        final_model: true,
    };
    Run::new(checked.clone(), &parts, Vec::new()).expect("the folds exist")
}

fn on_threads<R: Send>(n: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
    pool.expect("threads can be started").install(work)
}

fn finish(mut run: Run, extent: Extent) -> Run {
    let mut news = Vec::new();
    while !run.is_complete() {
        run.advance(extent, &mut news).expect("the run goes on");
    }
    run
}

/// All that a run has found out and learned, as text: two runs are equal bit for bit if this is.
fn fingerprint(state: &RunState) -> String {
    let mut records: Vec<&PartRecord> = state.parts.iter().map(|part| &*part.record).collect();
    records.sort_by_key(|record| record.part);
    let without_times = |record: &PartRecord| {
        let mut record = record.clone();
        record.timing = Default::default();
        ron::to_string(&record).expect("plain data")
    };
    let mut models: Vec<_> = state
        .parts
        .iter()
        .filter_map(|p| p.model.as_ref())
        .collect();
    models.sort_by_key(|model| model.part);
    let records: Vec<String> = records.into_iter().map(without_times).collect();
    let models: Vec<String> = models
        .into_iter()
        .map(|model| ron::to_string(&**model).expect("plain data"))
        .collect();
    records.join("\n") + &models.join("\n")
}

#[test]
fn one_and_several_threads_and_any_slices_give_the_same_bits() {
    for preset in presets() {
        let checked = checked(experiment(preset));
        let one = on_threads(1, || finish(new_run(&checked), Extent::Slice).state());
        for n_threads in [2, 3, 7] {
            for extent in [Extent::Slice, Extent::Round] {
                let run = on_threads(n_threads, || finish(new_run(&checked), extent).state());
                assert!(
                    fingerprint(&one) == fingerprint(&run),
                    "{n_threads} threads"
                );
            }
        }
    }
}

#[test]
fn a_run_cut_and_saved_at_a_hundred_random_places_gives_the_same_bits() {
    let mut random = random_stream(1, "cuts", 0);
    for preset in presets() {
        let checked = checked(experiment(preset));
        let whole = on_threads(2, || finish(new_run(&checked), Extent::Round));
        let whole = fingerprint(&whole.state());
        for _ in 0..34 {
            let mut run = new_run(&checked);
            let mut news = Vec::new();
            let mut cut = random_below(&mut random, 12);
            on_threads(1 + random_below(&mut random, 2), || {
                while !run.is_complete() {
                    run.advance(Extent::Round, &mut news).expect("it goes on");
                    if cut == 0 {
                        // Through text, as a session would keep it.
                        let text = ron::to_string(&run.state()).expect("plain data");
                        let state: RunState = ron::from_str(&text).expect("its own text");
                        run = Run::resume(checked.clone(), state).expect("same data");
                    }
                    cut = cut.wrapping_sub(1);
                }
            });
            assert!(fingerprint(&run.state()) == whole);
        }
    }
}

#[test]
fn a_data_set_on_disk_gives_the_same_bits() {
    let presets = [
        LearnerSettings::evidence_preserving(),
        LearnerSettings::margin_aware(),
        LearnerSettings::kmod(),
    ];
    for (preset, scaling) in
        presets
            .into_iter()
            .zip([Scaling::None, Scaling::ZScore, Scaling::ClippedZScore])
    {
        let mut experiment = experiment(preset);
        experiment.preparation.scaling = scaling;
        let in_memory = dataset(40, 8);
        let on_disk = Arc::new(in_memory.on_disk().expect("room on disk"));
        assert!(in_memory.values().is_some() && on_disk.values().is_none());
        let learned = |data: Arc<Dataset>| {
            let checked = Arc::new(experiment.clone().check(data).expect("nothing is wrong"));
            let run = on_threads(2, || finish(new_run(&checked), Extent::Slice));
            fingerprint(&run.state())
        };
        assert_eq!(learned(on_disk), learned(in_memory));
    }
}

#[test]
fn a_single_fold_shares_its_classes_among_threads_and_gives_the_same_bits() {
    for preset in presets() {
        let checked = checked(experiment(preset));
        let parts = RunParts {
            folds: Some(vec![1]),
            final_model: false,
        };
        let alone = |n_threads: usize| {
            let run = Run::new(checked.clone(), &parts, Vec::new()).expect("the fold exists");
            on_threads(n_threads, || finish(run, Extent::Slice)).state()
        };
        let expected = fingerprint(&alone(1));
        for n_threads in [2, 3, 7] {
            assert!(
                fingerprint(&alone(n_threads)) == expected,
                "{n_threads} threads"
            );
        }
    }
}

/// Rounds, pair systems and tests are broken off at random moments, also halfway through.
#[test]
fn a_run_interrupted_at_any_moment_goes_on_with_the_same_bits() {
    let mut random = random_stream(1, "interruptions", 0);
    let mut longer = experiment(LearnerSettings::margin_aware());
    longer.learner.budget = 150;
    longer.training.length = TrainingLength::Batches(60);
    longer.learner.batch_size = 6;
    let checked = Arc::new(longer.check(dataset(300, 8)).expect("nothing is wrong"));
    let whole = on_threads(2, || finish(new_run(&checked), Extent::Slice));
    let whole = fingerprint(&whole.state());
    let mut run = new_run(&checked);
    let mut n_interruptions = 0;
    while !run.is_complete() {
        // Short at first, so that even a fast machine is interrupted; then long enough for a busy one to end.
        let most_us = if n_interruptions < 8 { 6_000 } else { 60_000 };
        let patience = Duration::from_micros(500 + random_below(&mut random, most_us) as u64);
        let stop = run.stop_flag();
        let run_on = &mut run;
        std::thread::scope(|scope| {
            let told = stop.clone();
            scope.spawn(move || {
                std::thread::sleep(patience);
                told.store(true, Ordering::Relaxed);
            });
            let n_threads = 1 + random_below(&mut random, 3);
            on_threads(n_threads, || {
                let mut news = Vec::new();
                while !run_on.is_complete() && !stop.load(Ordering::Relaxed) {
                    run_on
                        .advance(Extent::Slice, &mut news)
                        .expect("it goes on");
                }
            });
        });
        n_interruptions += usize::from(!run.is_complete());
        run = Run::resume(checked.clone(), run.state()).expect("same data");
    }
    println!("interrupted {n_interruptions} times");
    assert!(n_interruptions > 3);
    assert!(fingerprint(&run.state()) == whole);
}

#[test]
fn a_saved_run_refuses_other_data_and_other_settings() {
    let before = checked(experiment(LearnerSettings::margin_aware()));
    let state = on_threads(1, || finish(new_run(&before), Extent::Slice).state());
    let other_data = experiment(LearnerSettings::margin_aware())
        .check(dataset(41, 8))
        .expect("nothing is wrong");
    let refused = Run::resume(Arc::new(other_data), state.clone()).err();
    let message = refused.expect("other data").to_string();
    assert!(message.contains("120 samples"), "{message}");
    let mut other = experiment(LearnerSettings::margin_aware());
    other.learner.budget += 1;
    assert!(Run::resume(checked(other), state).is_err());
}

#[test]
fn settings_changed_on_the_way_are_recorded_and_replayed() {
    for preset in presets() {
        let checked = checked(experiment(preset));
        let mut run = new_run(&checked);
        let mut news = Vec::new();
        on_threads(2, || {
            for _ in 0..5 {
                run.advance(Extent::Round, &mut news).expect("it goes on");
            }
            let mut settings = run.learner_now().clone();
            settings.budget = 12;
            settings.forgetting = Forgetting {
                start_value: 0.9,
                ..settings.forgetting
            };
            run.change_learner(settings).expect("may change");
            for _ in 0..20 {
                run.advance(Extent::Round, &mut news).expect("it goes on");
            }
            let mut settings = run.learner_now().clone();
            settings.budget = 16;
            run.change_learner(settings).expect("may change");
        });
        let run = on_threads(2, || finish(run, Extent::Round));
        let changes = run.changes().to_vec();
        assert_eq!(changes.len(), 2);
        let kept = &run.records()[0].rounds;
        let keeps_all = checked.experiment().learner.algorithm.keeps_all();
        assert!(keeps_all || kept[11].classes.iter().all(|class| class.n_kept <= 12));
        let parts = RunParts {
            folds: None,
            final_model: true,
        };
        let again = Run::new(checked.clone(), &parts, changes).expect("the folds exist");
        let again = on_threads(1, || finish(again, Extent::Slice));
        assert!(fingerprint(&again.state()) == fingerprint(&run.state()));
        let mut run = new_run(&checked);
        let mut settings = run.learner_now().clone();
        settings.n_atoms += 1;
        let refusal = run
            .change_learner(settings)
            .expect_err("atoms cannot change");
        assert!(refusal.to_string().contains("n_atoms"), "{refusal}");
    }
}

#[test]
fn a_run_tests_at_the_planned_moments_and_learns_something() {
    let checked = checked(experiment(LearnerSettings::margin_aware()));
    let run = on_threads(2, || finish(new_run(&checked), Extent::Slice));
    let folds = run.complete_folds();
    assert_eq!(folds.len(), 3);
    for record in &folds {
        let moments: Vec<usize> = record.tests.iter().map(|test| test.batch).collect();
        assert_eq!(moments, [0, 3, 6, 9, 12]);
        assert_eq!(record.rounds.len(), 12);
        assert!(
            record
                .rounds
                .iter()
                .all(|round| round.prequential.is_some())
        );
        // A test with nothing zeroed is the last test over again.
        assert_eq!(record.missing[0].confusion, record.tests[4].confusion);
        assert_ne!(record.missing[1].confusion, record.tests[4].confusion);
        assert_eq!(record.decisions.sample.len(), record.n_samples.1);
    }
    let summary = RunSummary::of(checked.facts(), &folds);
    assert_eq!(summary.curve.len(), 5);
    assert_eq!(summary.confusion.total(), 120);
    let last = summary.accuracy.expect("folds were tested");
    assert!(last.mean > 0.8, "{last:?}");
    assert_eq!(summary.votes.len(), 20);
}

#[test]
fn every_learner_scores_mini_batches_before_it_learns_them() {
    let online = |preset: &LearnerSettings| !preset.algorithm.is_batch();
    for preset in presets().into_iter().filter(online) {
        let checked = checked(experiment(preset));
        let run = on_threads(1, || finish(new_run(&checked), Extent::Slice));
        for record in run.complete_folds() {
            let (right, all) = record
                .rounds
                .iter()
                .filter_map(|round| round.prequential)
                .fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
            assert!(all >= 12 * N_CLASSES && right * 2 > all, "{right} of {all}");
        }
    }
}

/// A worker with a channel that says when it woke its viewer.
fn worker(run: Run, paused: bool) -> (Worker, Receiver<()>) {
    let (sender, woken) = channel();
    let wake = move || sender.send(()).unwrap_or_default();
    (Worker::start(run, 2, paused, wake), woken)
}

/// Collects mail until `is_enough`.
fn mail_until(
    worker: &Worker,
    woken: &Receiver<()>,
    all: &mut Vec<News>,
    is_enough: impl Fn(&Mail) -> bool,
) -> Mail {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let mut mail = worker.take_mail();
        all.append(&mut mail.news);
        if is_enough(&mail) {
            return mail;
        }
        assert!(
            Instant::now() < deadline,
            "the worker says nothing: {mail:?}"
        );
        // A wake-up may have come before the mail was taken; then the time-out looks again.
        woken
            .recv_timeout(Duration::from_millis(50))
            .unwrap_or_default();
    }
}

#[test]
fn a_worker_with_random_pauses_and_steps_gives_the_same_bits() {
    let checked = checked(experiment(LearnerSettings::margin_aware()));
    let undisturbed = on_threads(1, || finish(new_run(&checked), Extent::Slice).state());
    let mut random = random_stream(2, "pauses", 0);
    for _ in 0..5 {
        let (worker, woken) = worker(new_run(&checked), true);
        let mut news = Vec::new();
        for _ in 0..8 {
            worker.command(Command::Resume);
            std::thread::sleep(Duration::from_micros(random_below(&mut random, 800) as u64));
            worker.command(Command::Pause);
            worker.command(Command::StepOnce);
            worker.command(Command::StepOnce);
        }
        worker.command(Command::Resume);
        let mail = mail_until(&worker, &woken, &mut news, |mail| mail.status.is_over());
        assert_eq!(mail.status, Status::Complete);
        let state = mail.state.expect("the last mail holds the state");
        assert!(fingerprint(&state) == fingerprint(&undisturbed));
    }
}

#[test]
fn a_step_is_one_round_and_a_paused_worker_rests() {
    let checked = checked(experiment(LearnerSettings::margin_aware()));
    let (worker, woken) = worker(new_run(&checked), true);
    let mut news = Vec::new();
    let is_paused = |mail: &Mail| mail.status == Status::Paused;
    mail_until(&worker, &woken, &mut news, is_paused);
    assert!(news.is_empty());
    worker.command(Command::StepOnce);
    mail_until(&worker, &woken, &mut news, |mail| {
        mail.active.iter().any(|(_, batch)| *batch == 1)
    });
    std::thread::sleep(Duration::from_millis(100));
    mail_until(&worker, &woken, &mut news, is_paused);
    // Two folds are in training on two threads: one round and the first test of each.
    let rounds = news.iter().filter(|n| matches!(n, News::Round(..))).count();
    let tests = news.iter().filter(|n| matches!(n, News::Test(..))).count();
    assert_eq!((rounds, tests), (2, 2));
    worker.command(Command::Stop);
    let mail = mail_until(&worker, &woken, &mut news, |mail| mail.status.is_over());
    assert_eq!(mail.status, Status::Stopped);
    assert!(!mail.state.expect("kept").is_complete());
}

#[test]
fn no_metric_is_lost_over_a_hundred_thousand_steps_that_nobody_looks_at() {
    let mut long = experiment(LearnerSettings::evidence_preserving());
    long.learner.n_atoms = 2;
    long.learner.sparsity = 1;
    long.learner.batch_size = 1;
    long.learner.budget = 4;
    long.training.length = TrainingLength::Batches(50_000);
    long.tests.prequential = false;
    long.split = SplitPlan::KFold {
        n_folds: 2,
        seed: 1,
    };
    let checked = Arc::new(long.check(dataset(20, 2)).expect("nothing is wrong"));
    let run = Run::new(checked, &RunParts::default(), Vec::new()).expect("the folds exist");
    let (worker, woken) = worker(run, false);
    // Nobody takes the mail until the worker is done.
    let deadline = Instant::now() + Duration::from_secs(300);
    let mut idle = 0;
    while idle < 5 {
        assert!(Instant::now() < deadline, "the worker does not end");
        match woken.recv_timeout(Duration::from_millis(500)) {
            Ok(()) => idle = 0,
            Err(_) => idle += 1,
        }
    }
    let mail = worker.take_mail();
    assert_eq!(mail.status, Status::Complete);
    let mut seen = BTreeSet::new();
    let mut n_tests = 0;
    for item in &mail.news {
        match item {
            News::Round(part, metric, _) => assert!(seen.insert((*part, metric.batch))),
            News::Test(..) => n_tests += 1,
            News::Choosing(..) | News::Complete(..) => {}
        }
    }
    assert_eq!(seen.len(), 100_000);
    assert_eq!(n_tests, 2 * 5);
    assert!(seen.contains(&(Part::Fold(1), 50_000)));
}

#[test]
fn stop_answers_within_a_tenth_of_a_second_at_a_budget_of_a_thousand() {
    let mut large = experiment(LearnerSettings::margin_aware());
    large.learner.n_atoms = 30;
    large.learner.sparsity = 5;
    large.learner.batch_size = 10;
    large.learner.budget = 1000;
    large.training.length = TrainingLength::Batches(100_000);
    large.tests.n_tests = 1000;
    let checked = Arc::new(large.check(dataset(2000, 64)).expect("nothing is wrong"));
    // A busy machine may keep the thread waiting; the median of a few answers is its own.
    let mut answers: Vec<Duration> = (0..5).map(|k| time_to_stop(&checked, k)).collect();
    println!("stop answered after {answers:?}");
    answers.sort();
    assert!(answers[2] < Duration::from_millis(100), "{answers:?}");
}

/// How long a worker takes to end once its profiles are full, `later` rounds after that.
fn time_to_stop(checked: &Arc<CheckedExperiment>, later: usize) -> Duration {
    let run = Run::new(checked.clone(), &RunParts::default(), Vec::new());
    let (worker, woken) = worker(run.expect("the folds exist"), false);
    let mut news = Vec::new();
    mail_until(&worker, &woken, &mut news, |mail| {
        mail.active.iter().any(|(_, batch)| *batch >= 120 + later)
    });
    worker.command(Command::Stop);
    let told = Instant::now();
    mail_until(&worker, &woken, &mut news, |mail| {
        mail.status == Status::Ending || mail.status.is_over()
    });
    told.elapsed()
}

#[test]
fn a_failure_is_reported_with_its_place_and_keeps_the_records() {
    let mut broken = experiment(LearnerSettings::margin_aware());
    broken.learner.kernel = Kernel::Polynomial {
        degree: 9,
        offset: 1e60,
    };
    // 1e60 to the ninth overflows in the first sample that is looked at.
    let run = new_run(&checked(broken));
    let (worker, woken) = worker(run, false);
    let mut news = Vec::new();
    let mail = mail_until(&worker, &woken, &mut news, |mail| mail.status.is_over());
    let Status::Failed(message) = &mail.status else {
        panic!("{:?}", mail.status)
    };
    assert!(message.starts_with("fold "), "{message}");
    assert!(mail.state.is_some());
}

#[test]
fn wrong_settings_are_named_field_by_field() {
    let mut wrong = experiment(LearnerSettings::margin_aware());
    wrong.learner.sparsity = 45;
    wrong.tests.n_tests = 10_001;
    wrong.training.length = TrainingLength::Passes(f64::NAN);
    wrong.split = SplitPlan::grouped(500, 1);
    let problems = wrong
        .check(dataset(40, 8))
        .expect_err("four things are wrong");
    let fields: Vec<&str> = problems.iter().map(|p| p.field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "learner.sparsity",
            "training.length",
            "tests.n_tests",
            "split"
        ]
    );
    assert!(problems[3].message.contains("500"), "{}", problems[3]);
}

/// A reviewer's correction is one online step; the model before it stays as it was, so that undo is exact.
#[test]
fn corrections_are_learned_in_one_step_and_leave_the_model_before_them_alone() {
    for preset in presets() {
        let checked = checked(experiment(preset));
        let state = finish(new_run(&checked), Extent::Round).state();
        review(&state, checked.dataset());
    }
}

fn review(state: &RunState, dataset: &Dataset) {
    let model = state.final_model().expect("a final model");
    let sample = dataset.sample(0);
    let algorithm = &model.learner.algorithm;
    if algorithm.is_batch() || algorithm.is_baseline() {
        let refused = model.corrected(&sample, 1);
        let refused = refused.expect_err("it learns all at once").to_string();
        assert!(refused.contains("train it again"), "{refused}");
        return;
    }
    let text = |model: &atomscope_engine::experiment::TrainedModel| {
        ron::to_string(model).expect("plain values")
    };
    let before = text(model);
    assert!(
        !before.contains("n_corrections"),
        "left out while there is none"
    );
    let corrected = model.corrected(&sample, 1).expect("an online learner");
    assert_eq!(corrected.n_corrections, 1);
    assert_ne!(text(&corrected), before);
    assert_eq!(text(model), before);
    let unknown = model.corrected(&sample, 99).expect_err("no such class");
    assert!(unknown.to_string().starts_with("class 99 is not among"));
}

/// The step itself, in processor time of this thread: a busy machine does not count.
#[test]
fn a_correction_takes_less_than_a_tenth_of_a_second_at_a_budget_of_a_thousand() {
    let mut large = experiment(LearnerSettings::margin_aware());
    large.learner.n_atoms = 30;
    large.learner.sparsity = 5;
    large.learner.batch_size = 100;
    large.learner.budget = 1000;
    large.training.length = TrainingLength::Batches(12);
    large.tests.n_tests = 1;
    let checked = Arc::new(large.check(dataset(1500, 190)).expect("nothing is wrong"));
    let parts = RunParts {
        folds: Some(vec![0]),
        final_model: true,
    };
    let run = Run::new(checked.clone(), &parts, Vec::new()).expect("the fold exists");
    let state = finish(run, Extent::Round).state();
    let model = state.final_model().expect("a final model");
    let learner = resume_learner(&model.learner, model.state.clone()).expect("its own state");
    assert_eq!(learner.dictionary(1).n_kept(), 1000, "the budget is full");
    // Products may be shared among threads: of one thread alone, the time is all of it.
    let time = |sample: usize| {
        let begun = cpu_time::ThreadTime::now();
        let corrected = model.corrected(&checked.dataset().sample(sample), 1);
        let spent_ms = begun.elapsed().as_secs_f64() * 1e3;
        assert_eq!(corrected.expect("an online learner").n_corrections, 1);
        spent_ms
    };
    let mut milliseconds: Vec<f64> = on_threads(1, || (0..5).map(time).collect());
    milliseconds.sort_by(f64::total_cmp);
    println!("a correction at L_max = 1000, N = 190: {milliseconds:.1?} ms");
    assert!(milliseconds[2] < 100.0, "{milliseconds:?} ms");
}
