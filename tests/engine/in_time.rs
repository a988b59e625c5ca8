//! The order of time: plans, delays, runs that are resumed or repeated, and streams that learn as runs do.

use std::sync::Arc;
use std::time::Duration;

use atomscope_engine::dataset::{Built, DataPlan, DataSettings};
use atomscope_engine::evaluation::{AlarmAnswer, FasterForgetting};
use atomscope_engine::experiment::{Experiment, Extent, Part, Run, RunParts, RunSummary};
use atomscope_engine::learner::{Forgetting, Kernel, LearnerSettings};
use atomscope_engine::session::Session;
use atomscope_engine::simulate::concepts::{
    CONCEPT_CLASSES, Concept, ConceptSettings, ConceptStream,
};
use atomscope_engine::split::{ArrivalPlan, LabelDelay, SplitPlan, TimeOrder};
use atomscope_engine::stream::{
    Arrival, Feed, Learning, LiveJudge, Outcome, StreamDecision, StreamError, StreamRun,
    StreamSource,
};
use cpu_time::ProcessTime;

/// Samples of SEA with two abrupt changes that hurt.
fn sea(n_samples: usize) -> ConceptSettings {
    ConceptSettings {
        n_samples,
        noise: 0.02,
        ..ConceptSettings::default()
    }
}

fn experiment(concepts: ConceptSettings, delay: LabelDelay) -> Experiment {
    let data = DataSettings::new(DataPlan::Concepts(concepts), None);
    let order = TimeOrder {
        start_share: 0.1,
        delay,
    };
    let mut experiment = Experiment {
        data,
        split: SplitPlan::InTime(order),
        learner: LearnerSettings {
            kernel: Kernel::Gaussian { width: 4.0 },
            n_atoms: 6,
            sparsity: 2,
            budget: 30,
            forgetting: Forgetting::constant(1.0),
            ..LearnerSettings::default()
        },
        ..Experiment::default()
    };
    experiment.tests.n_tests = 4;
    experiment
}

fn load(experiment: &Experiment) -> Built {
    let data = &experiment.data;
    data.load(&|_| None, &mut |_| true).expect("built in")
}

fn begun(experiment: &Experiment, built: &Built) -> Run {
    let dataset = Arc::new(built.dataset.clone());
    let checked = experiment.clone().check(dataset).expect("legal settings");
    let parts = RunParts {
        folds: None,
        final_model: true,
    };
    Run::new(Arc::new(checked), &parts, Vec::new()).expect("a run")
}

fn finish(run: &mut Run, extent: Extent) {
    let mut news = Vec::new();
    while !run.is_complete() {
        run.advance(extent, &mut news).expect("it goes on");
        news.clear();
    }
}

/// Everything that was decided, bit for bit.
fn decided(run: &Run) -> Vec<(usize, usize, u64)> {
    let fold = run.complete_folds()[0];
    let decisions = &fold.decisions;
    let margins = decisions.margin.iter().map(|margin| margin.to_bits());
    let pairs = decisions.sample.iter().zip(&decisions.class).zip(margins);
    pairs.map(|((s, c), m)| (*s, *c, m)).collect()
}

#[test]
fn labels_are_learned_when_they_have_come_and_not_before() {
    let wanted = experiment(sea(400), LabelDelay::Samples(25));
    let built = load(&wanted);
    let order = TimeOrder {
        delay: LabelDelay::Samples(25),
        ..TimeOrder::default()
    };
    let plan = ArrivalPlan::new(&built.dataset, &order, |sample| sample >= 40, 10);
    assert_eq!(plan.order, (40..400).collect::<Vec<_>>());
    assert!(plan.rounds.len() > 20, "{}", plan.rounds.len());
    let mut n_learned = 0;
    for round in &plan.rounds {
        // The newest sample learned came at least 25 before the next one to be judged.
        let newest = round.learned.iter().max().expect("a mini-batch") - 40;
        assert!(newest + 25 < round.n_judged, "{newest} {}", round.n_judged);
        n_learned += round.learned.len();
        assert_eq!(round.n_labels, n_learned);
        let of_class = |class| {
            let classes = built.dataset.classes();
            let own = round.learned.iter().filter(|s| classes[**s] == class);
            own.count()
        };
        assert_eq!(of_class(0).max(of_class(1)), 10);
    }
    let seconds = TimeOrder {
        delay: LabelDelay::Seconds(3.0),
        ..TimeOrder::default()
    };
    let refused = SplitPlan::InTime(seconds).split(&built.dataset);
    let text = refused.expect_err("rows have no clock").to_string();
    assert!(text.contains("number of samples"), "{text}");
}

#[test]
fn every_sample_is_decided_once_in_time_and_a_run_is_resumed_and_repeated_to_the_bit() {
    let mut wanted = experiment(sea(1200), LabelDelay::Samples(10));
    wanted.on_alarm = Some(FasterForgetting {
        factor: 0.9,
        n_batches: 5,
    });
    let built = load(&wanted);
    let mut whole = begun(&wanted, &built);
    finish(&mut whole, Extent::Slice);
    let found = decided(&whole);
    let order: Vec<usize> = found.iter().map(|(sample, ..)| *sample).collect();
    assert_eq!(order, (120..1200).collect::<Vec<_>>());
    let summary = RunSummary::of(whole.checked().facts(), &whole.complete_folds());
    assert_eq!(summary.confusion.total(), 1080);
    let last = summary.prequential.last().expect("windows");
    assert!(last.n_judged == 1080 && last.kappa.is_some());
    assert!(summary.accuracy.is_some_and(|found| found.mean > 0.75));

    // In pieces, saved and resumed in the middle.
    let mut first = begun(&wanted, &built);
    let mut news = Vec::new();
    for _ in 0..25 {
        first.advance(Extent::Round, &mut news).expect("it goes on");
    }
    let dataset = Arc::new(built.dataset.clone());
    let checked = Arc::new(wanted.clone().check(dataset).expect("legal"));
    let mut resumed = Run::resume(checked.clone(), first.state()).expect("it resumes");
    finish(&mut resumed, Extent::Round);
    assert_eq!(decided(&resumed), found);
    assert_eq!(resumed.changes(), whole.changes());

    // Repeated with the changes that the rule had made, which it does not make twice.
    let parts = RunParts {
        folds: None,
        final_model: true,
    };
    let changes = whole.changes().to_vec();
    let mut repeated = Run::new(checked, &parts, changes.clone()).expect("a run");
    finish(&mut repeated, Extent::Slice);
    assert_eq!(decided(&repeated), found);
    assert_eq!(repeated.changes(), changes);
}

#[test]
fn the_rule_answers_a_change_and_decisions_get_better_for_it() {
    // The plane of the first half is turned over in the second.
    let concepts = ConceptSettings {
        concept: Concept::Sea,
        noise: 0.0,
        ..sea(4000)
    };
    let mut constant = experiment(concepts, LabelDelay::Samples(0));
    constant.learner.kernel = Kernel::Gaussian { width: 3.0 };
    let built = load(&constant);
    let mut turned = built.dataset.classes().to_vec();
    for class in &mut turned[2000..] {
        *class = 1 - *class;
    }
    let parts = atomscope_engine::dataset::DatasetParts {
        values: built.dataset.values().expect("a small set").to_vec(),
        feature_names: built.dataset.feature_names().to_vec(),
        class_names: built.dataset.class_names().to_vec(),
        classes: turned,
        sources: built.dataset.sources().to_vec(),
        origins: (0..4000).map(|s| built.dataset.origin(s)).collect(),
        ..Default::default()
    };
    let dataset = atomscope_engine::dataset::Dataset::new(parts).expect("it fits");
    let built = Built { dataset, ..built };
    let mut ruled = constant.clone();
    ruled.on_alarm = Some(FasterForgetting::proposed(1.0));
    let accuracy = |experiment: &Experiment| {
        let mut run = begun(experiment, &built);
        finish(&mut run, Extent::Slice);
        let summary = RunSummary::of(run.checked().facts(), &run.complete_folds());
        (summary.accuracy.expect("tested").mean, run, summary)
    };
    let (kept, run, summary) = accuracy(&constant);
    assert!(run.changes().is_empty());
    assert!(summary.alarms.iter().any(|alarm| alarm.is_worse()));
    let (followed, run, _) = accuracy(&ruled);
    assert!(
        followed > kept + 0.02,
        "{followed} with the rule, {kept} without"
    );
    // Recorded as changes: faster, then as before, for either part by itself.
    let of_fold = run
        .changes()
        .iter()
        .filter(|change| !change.spared.contains(&Part::Fold(0)));
    let factors: Vec<f64> = of_fold
        .map(|change| change.learner.forgetting.start_value)
        .collect();
    assert!(factors.starts_with(&[0.95]), "{factors:?}");
    assert!(factors.contains(&1.0), "{factors:?}");
}

/// A session with a final model on the first samples of a stream, and what comes after them.
fn trained() -> (Session, Vec<(Vec<f64>, usize)>) {
    let concepts = sea(500);
    let mut wanted = experiment(concepts, LabelDelay::Samples(0));
    wanted.split = SplitPlan::KFold {
        n_folds: 2,
        seed: 1,
    };
    let built = load(&wanted);
    let mut run = begun(&wanted, &built);
    finish(&mut run, Extent::Slice);
    let mut session = Session::new(wanted);
    session.take_run(&run, &built, std::path::Path::new("unsaved.ron"));
    let mut stream = ConceptSettings {
        seed: 7,
        ..sea(3000)
    }
    .stream();
    let mut features = Vec::new();
    let later = (0..3000).map(|number| {
        let class = stream.draw(&mut features);
        let turned = if number < 1000 { class } else { 1 - class };
        (features.clone(), turned)
    });
    (session, later.collect())
}

/// The decisions of a stream without their times.
fn follow(
    judge: &mut LiveJudge,
    samples: &[(Vec<f64>, usize)],
    apply: bool,
) -> Vec<StreamDecision> {
    let mut decisions = Vec::new();
    for (features, class) in samples {
        let arrival = Arrival::Row {
            features: features.clone(),
            label: Some(CONCEPT_CLASSES[*class].to_owned()),
        };
        let mut outcome = Outcome::default();
        judge.take(arrival, &mut outcome).expect("it is judged");
        for (place, alarm) in &outcome.alarms {
            if apply && alarm.is_worse() {
                judge.apply_proposal(*place).expect("λ can change");
            }
        }
        decisions.extend(outcome.decisions);
    }
    for decision in &mut decisions {
        decision.time.clear();
    }
    decisions
}

#[test]
fn a_proposal_that_is_applied_is_recorded_and_repeated_to_the_bit() {
    let (session, later) = trained();
    let learning = Learning {
        forgetting: Some(0.98),
        on_alarm: None,
    };
    let judge = || {
        let made = LiveJudge::new(&session, "-", None, Some(learning)).expect("it begins");
        made.expect("there is a final model").0
    };
    let mut by_hand = judge();
    let decisions = follow(&mut by_hand, &later, true);
    assert_eq!(decisions.len(), 3000);
    let changes = by_hand.state.changes.clone();
    let factors = changes.iter().map(|c| c.learner.forgetting.start_value);
    let factors: Vec<f64> = factors.collect();
    assert!(factors.len() >= 2 && factors[0] == 0.95, "{factors:?}");
    let watch = by_hand.state.watch.as_ref().expect("it is watched");
    let applied = FasterForgetting {
        factor: 0.95,
        n_batches: 40,
    };
    let is_applied = |alarm: &&_| alarm == &&Some(AlarmAnswer::Applied(applied));
    let answers: Vec<_> = watch.alarms.iter().map(|alarm| alarm.answer).collect();
    assert!(
        answers.iter().any(|answer| is_applied(&answer)),
        "{answers:?}"
    );

    // The same samples with the recorded changes: the same decisions, without anybody applying anything.
    let mut repeated = judge();
    repeated.repeat_changes(changes.clone());
    assert_eq!(follow(&mut repeated, &later, false), decisions);
    assert_eq!(repeated.state.changes, changes);

    // Without them what is learned after the change is another.
    let mut without = judge();
    assert_ne!(follow(&mut without, &later, false), decisions);

    // The rule does what the hand does.
    let ruled = Learning {
        on_alarm: Some(applied),
        ..learning
    };
    let made = LiveJudge::new(&session, "-", None, Some(ruled)).expect("it begins");
    let mut ruled = made.expect("there is a final model").0;
    follow(&mut ruled, &later, false);
    assert_eq!(ruled.state.changes.first(), changes.first());
}

#[test]
fn a_stream_that_was_killed_continues_from_its_saved_state_with_the_same_decisions() {
    let (session, later) = trained();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("state");
    let learning = Some(Learning {
        forgetting: Some(0.98),
        on_alarm: Some(FasterForgetting::proposed(0.98)),
    });
    let begin = |saved| {
        let made = LiveJudge::new(&session, "-", saved, learning).expect("it begins");
        made.expect("there is a final model").0
    };
    let mut whole = begin(None);
    let decisions = follow(&mut whole, &later, false);
    let mut first = begin(None);
    let mut found = follow(&mut first, &later[..1300], false);
    first.saved().save(&path).expect("the disk has room");
    drop(first);
    let saved = atomscope_engine::stream::SavedStream::load(&path).expect("it is whole");
    let mut second = begin(saved);
    found.extend(follow(&mut second, &later[1300..], false));
    assert_eq!(found, decisions);
    assert_eq!(second.state.changes, whole.state.changes);
}

/// However many rows are taken at a time, decisions and what is learned are the same to the bit.
#[test]
fn rows_that_come_together_are_decided_as_if_they_came_one_by_one() {
    let (session, later) = trained();
    let learning = Some(Learning {
        forgetting: Some(0.98),
        on_alarm: Some(FasterForgetting::proposed(0.98)),
    });
    for learning in [learning, None] {
        let begin = || {
            let made = LiveJudge::new(&session, "-", None, learning).expect("it begins");
            made.expect("there is a final model").0
        };
        let mut single = begin();
        let decisions = follow(&mut single, &later, false);
        for together in [2, 7, 128] {
            let mut judge = begin();
            let mut outcome = Outcome::default();
            for rows in later.chunks(together) {
                let row = |(features, class): &(Vec<f64>, usize)| {
                    (features.clone(), Some(CONCEPT_CLASSES[*class].to_owned()))
                };
                let rows = rows.iter().map(row).collect();
                judge.take_rows(rows, &mut outcome).expect("it is judged");
            }
            for decision in &mut outcome.decisions {
                decision.time.clear();
            }
            assert_eq!(outcome.decisions, decisions, "{together} together");
            assert_eq!(judge.state.changes, single.state.changes);
            assert_eq!(judge.state.watch, single.state.watch);
        }
    }
}

/// Memory of this process in kB.
fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.and_then(|n| n.parse().ok()).expect("a number")
}

/// So many samples of a stream with their labels.
struct Generated {
    stream: ConceptStream,
    n_left: u64,
}

impl StreamSource for Generated {
    fn next(&mut self) -> Result<Arrival, StreamError> {
        let Some(left) = self.n_left.checked_sub(1) else {
            return Ok(Arrival::End);
        };
        self.n_left = left;
        let mut features = Vec::new();
        let class = self.stream.draw(&mut features);
        let label = Some(CONCEPT_CLASSES[class].to_owned());
        Ok(Arrival::Row { features, label })
    }
}

/// Samples a file of the generator gives in a second of processor time: tested, then learned.
fn file_per_s(n_samples: usize) -> f64 {
    let wanted = experiment(sea(n_samples), LabelDelay::Samples(0));
    let built = load(&wanted);
    let checked = wanted.clone().check(Arc::new(built.dataset.clone()));
    let checked = Arc::new(checked.expect("legal settings"));
    let mut run = Run::new(checked, &RunParts::default(), Vec::new()).expect("a run");
    let begun_at = ProcessTime::now();
    finish(&mut run, Extent::Slice);
    n_samples as f64 / begun_at.elapsed().as_secs_f64()
}

/// `ATOMSCOPE_SAMPLES=10000000 cargo test --release --test engine -- --ignored long_stream --nocapture`
#[test]
#[ignore = "takes minutes to an hour"]
fn a_long_stream_needs_no_more_memory_keeps_its_definitions_and_is_as_fast_as_a_file() {
    let n_samples: u64 = std::env::var("ATOMSCOPE_SAMPLES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_000_000);
    // Before and after: other programs slow both down.
    let mut file = vec![file_per_s(60_000)];
    let (session, _) = trained();
    let learning = Learning {
        forgetting: Some(1.0),
        on_alarm: None,
    };
    let made = LiveJudge::new(&session, "-", None, Some(learning)).expect("it begins");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let state_path = folder.path().join("state");
    let mut run = StreamRun::new(made.expect("there is a final model").0, Some(state_path));
    let concepts = ConceptSettings {
        seed: 3,
        ..sea(1000)
    };
    let source = Generated {
        stream: concepts.stream(),
        n_left: n_samples,
    };
    let feed = Feed::start(Box::new(source), 4096);
    let begun_at = ProcessTime::now();
    let (mut early_kb, mut n_decided, mut goes_on) = (0, 0, true);
    while goes_on {
        let mut outcome = Outcome::default();
        let arrived = feed.next(Duration::from_secs(5));
        goes_on = run.take_all(arrived, &mut outcome).expect("it is judged");
        assert_eq!(run.save_when_due(), None);
        n_decided += outcome.decisions.len() as u64;
        if early_kb == 0 && n_decided >= n_samples / 10 {
            early_kb = resident_kb();
        }
    }
    let stream_per_s = n_samples as f64 / begun_at.elapsed().as_secs_f64();
    let grown_kb = resident_kb().saturating_sub(early_kb);
    file.push(file_per_s(60_000));
    let file_per_s = (file[0] * file[1]).sqrt();
    let drift = run.judge.largest_drift();
    println!(
        "{n_samples} samples: {stream_per_s:.0} in a second of processor time, of a file {file:.0?}; memory {early_kb} kB, grown by {grown_kb} kB; drift {drift:.1e}"
    );
    assert_eq!((n_decided, feed.n_lost()), (n_samples, 0));
    assert!(grown_kb < 4096, "{grown_kb} kB more");
    assert!(drift <= 1e-8, "{drift}");
    assert!(
        stream_per_s >= 0.8 * file_per_s,
        "{stream_per_s} {file_per_s}"
    );
}

/// The shipped sessions on a feeder that nobody has looked at when they were made.
#[test]
fn forgetting_is_worth_points_on_the_drifting_feeder_and_alarms_find_the_change() {
    let accuracy = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sessions");
        let session = Session::load(&path.join(name)).expect("a shipped session loads");
        let mut wanted = session.experiment;
        let DataPlan::FeederFaults(settings) = &mut wanted.data.source else {
            panic!("{name} is no feeder");
        };
        settings.seed = 77;
        settings.records_per_class = 500;
        let built = load(&wanted);
        let mut run = begun(&wanted, &built);
        finish(&mut run, Extent::Slice);
        let summary = RunSummary::of(run.checked().facts(), &run.complete_folds());
        let n_changes = run.changes().len();
        (summary.accuracy.expect("it was tested").mean, n_changes)
    };
    let (constant, _) = accuracy("drifting-feeder-constant.ron");
    let (forgetting, _) = accuracy("drifting-feeder-forgetting.ron");
    let (ruled, n_changes) = accuracy("drifting-feeder.ron");
    assert!(n_changes > 0, "no alarm was raised");
    assert!(forgetting > constant + 0.01, "{constant} {forgetting}");
    assert!(ruled > constant + 0.01, "{constant} {ruled}");
}

#[test]
fn a_proposal_is_told_in_round_numbers() {
    let told = FasterForgetting::proposed(0.95).sentence(0.95);
    assert_eq!(told, "forget faster: λ 0.95 → 0.9 for 19 mini-batches");
}
