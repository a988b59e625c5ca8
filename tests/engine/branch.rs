//! Branches of a run: the same up to their mini-batch, bit for bit, from any kept state; then their own future.

use std::sync::{Arc, Mutex};

use atomscope_engine::dataset::{DataPlan, DataSettings};
use atomscope_engine::evaluation::FasterForgetting;
use atomscope_engine::experiment::{
    Branch, CheckedExperiment, Experiment, Extent, KeptBranch, PairedDecisions, Part, PartRecord,
    Run, RunParts, SettingChange, Timeline,
};
use atomscope_engine::learner::{Forgetting, Kernel, LearnerSettings};
use atomscope_engine::session::Session;
use atomscope_engine::simulate::concepts::ConceptSettings;
use atomscope_engine::split::{SplitPlan, TimeOrder};

fn experiment(split: SplitPlan) -> Experiment {
    let concepts = ConceptSettings {
        n_samples: 1500,
        noise: 0.02,
        ..ConceptSettings::default()
    };
    let mut experiment = Experiment {
        data: DataSettings::new(DataPlan::Concepts(concepts), None),
        split,
        learner: LearnerSettings {
            kernel: Kernel::Gaussian { width: 4.0 },
            n_atoms: 6,
            sparsity: 2,
            budget: 30,
            forgetting: Forgetting::constant(0.99),
            ..LearnerSettings::default()
        },
        ..Experiment::default()
    };
    experiment.tests.n_tests = 6;
    experiment
}

fn checked(experiment: &Experiment) -> Arc<CheckedExperiment> {
    let data = &experiment.data;
    let built = data.load(&|_| None, &mut |_| true).expect("built in");
    let checked = experiment.clone().check(Arc::new(built.dataset));
    Arc::new(checked.expect("legal settings"))
}

fn finish(run: &mut Run) {
    let mut news = Vec::new();
    while !run.is_complete() {
        run.advance(Extent::Round, &mut news).expect("it goes on");
        news.clear();
    }
}

/// A complete run with the states it has kept; λ is changed on the way.
fn origin(checked: &Arc<CheckedExperiment>, timeline: &Arc<Mutex<Timeline>>) -> Run {
    let parts = RunParts::default();
    let mut run = Run::new(checked.clone(), &parts, Vec::new()).expect("a run");
    run.keep_states(timeline.clone());
    let mut news = Vec::new();
    for _ in 0..12 {
        run.advance(Extent::Round, &mut news).expect("it goes on");
    }
    let now = run.learner_now().clone();
    run.change_learner(LearnerSettings {
        forgetting: Forgetting::constant(0.97),
        ..now
    })
    .expect("λ may change");
    finish(&mut run);
    run
}

/// Everything that was learned and decided up to a round, bit for bit.
fn trace(record: &PartRecord, until: usize) -> Vec<String> {
    let rounds = record.rounds.iter().filter(|round| round.batch <= until);
    let mut found: Vec<String> = rounds.map(|round| format!("{round:?}")).collect();
    let entries = record.log.entries().filter(|entry| entry.batch <= until);
    found.extend(entries.map(|entry| format!("{entry:?}")));
    let tests = record.tests.iter().filter(|test| test.batch <= until);
    found.extend(tests.map(|test| format!("{} {:?}", test.batch, test.confusion)));
    found
}

fn decided(record: &PartRecord) -> Vec<(usize, usize, u64)> {
    let decisions = &record.decisions;
    let margins = decisions.margin.iter().map(|margin| margin.to_bits());
    let pairs = decisions.sample.iter().zip(&decisions.class).zip(margins);
    pairs.map(|((s, c), m)| (*s, *c, m)).collect()
}

fn branches() -> [SplitPlan; 2] {
    [
        SplitPlan::KFold {
            n_folds: 2,
            seed: 1,
        },
        SplitPlan::InTime(TimeOrder::default()),
    ]
}

#[test]
fn a_branch_is_the_run_up_to_its_mini_batch_from_any_kept_state_and_none() {
    for split in branches() {
        let mut wanted = experiment(split);
        if let SplitPlan::InTime(_) = wanted.split {
            wanted.on_alarm = Some(FasterForgetting {
                factor: 0.9,
                n_batches: 5,
            });
        }
        let checked = checked(&wanted);
        let timeline = Arc::new(Mutex::new(Timeline::default()));
        let run = origin(&checked, &timeline);
        let timeline = timeline.lock().expect("nobody has panicked");
        let n_parts = run.complete_folds().len();
        assert!(timeline.len() >= n_parts && timeline.len() <= 8 * n_parts);
        let n_rounds = run.complete_folds()[0].n_rounds;
        for batch in [0, 5, 12, n_rounds / 2, n_rounds - 2] {
            let learner = LearnerSettings {
                forgetting: Forgetting::constant(0.9),
                budget: 20,
                ..wanted.learner.clone()
            };
            let branch = Branch {
                batch,
                learner,
                samples: Vec::new(),
            };
            let mut far = branch
                .begin(checked.clone(), run.changes(), &Timeline::default())
                .expect("it may change");
            let mut near = branch
                .begin(checked.clone(), run.changes(), &timeline)
                .expect("it may change");
            assert!(near.progress().n_done >= far.progress().n_done);
            finish(&mut far);
            finish(&mut near);
            for ((own, far), near) in run
                .complete_folds()
                .into_iter()
                .zip(far.complete_folds())
                .zip(near.complete_folds())
            {
                assert_eq!(trace(far, batch), trace(own, batch), "batch {batch}");
                assert_eq!(trace(near, usize::MAX), trace(far, usize::MAX));
                assert_eq!(decided(near), decided(far));
                assert_ne!(decided(far), decided(own), "batch {batch} changes nothing");
            }
        }
        // Nothing changed: the other future is the run.
        let now = run.changes().iter().rfind(|change| change.batch < 20);
        let same = Branch {
            batch: 20,
            learner: now.map_or(&wanted.learner, |c| &c.learner).clone(),
            samples: Vec::new(),
        };
        let mut same = same
            .begin(checked.clone(), run.changes(), &timeline)
            .expect("nothing is changed");
        finish(&mut same);
        if run.changes().iter().all(|change| change.batch < 20) {
            let pairs = run.complete_folds().into_iter().zip(same.complete_folds());
            for (own, same) in pairs {
                assert_eq!(decided(same), decided(own));
            }
        }
    }
}

/// A run on its way, which goes on and is branched from meanwhile; the branch is kept with the session.
#[test]
fn a_run_that_goes_on_can_be_branched_from_and_its_branch_is_saved() {
    let wanted = experiment(branches()[0].clone());
    let data = &wanted.data;
    let built = data.load(&|_| None, &mut |_| true).expect("built in");
    let checked = checked(&wanted);
    let timeline = Arc::new(Mutex::new(Timeline::default()));
    let mut run =
        Run::new(checked.clone(), &RunParts::default(), Vec::new()).expect("legal settings");
    run.keep_states(timeline.clone());
    let mut news = Vec::new();
    for _ in 0..25 {
        run.advance(Extent::Round, &mut news).expect("it goes on");
    }
    assert!(!run.is_complete());
    let state = run.state();
    let branch = Branch {
        batch: 14,
        learner: LearnerSettings {
            forgetting: Forgetting::constant(0.9),
            ..wanted.learner.clone()
        },
        samples: vec![(3, None)],
    };
    let taken = |changes: &[SettingChange], timeline: &Timeline| {
        let begun = branch.begin(checked.clone(), changes, timeline);
        let mut run = begun.expect("λ may change");
        finish(&mut run);
        run
    };
    let meanwhile = {
        let timeline = timeline.lock().expect("nobody has panicked");
        taken(&state.changes, &timeline)
    };
    finish(&mut run);
    let afterwards = taken(run.changes(), &Timeline::default());
    let pairs = meanwhile.complete_folds().into_iter();
    for (a, b) in pairs.zip(afterwards.complete_folds()) {
        assert_eq!(trace(a, usize::MAX), trace(b, usize::MAX));
        assert_eq!(decided(a), decided(b));
    }

    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("kept.ron");
    let mut session = Session::new(wanted.clone());
    session.take_run(&run, &built, &path);
    session.branches = vec![Arc::new(KeptBranch {
        name: "branch at 14".into(),
        state: meanwhile.state(),
    })];
    session.save_as(&path).expect("the disk has room");
    let moved = folder.path().join("moved");
    std::fs::create_dir(&moved).expect("it is new");
    let mut again = Session::load(&path).expect("it is whole");
    again.save_as(&moved.join("kept.ron")).expect("it has room");
    for place in [&path, &moved.join("kept.ron")] {
        let found = Session::load(place).expect("it is whole");
        assert!(found.damage.is_none() && found.run.is_some());
        let [kept] = &found.branches[..] else {
            panic!("{} branches", found.branches.len());
        };
        assert_eq!(kept.name, "branch at 14");
        assert_eq!(kept.state.changes, meanwhile.changes());
        assert_eq!(kept.state.samples.len(), 1);
        let records = kept.state.parts.iter().map(|part| &*part.record);
        for (kept, own) in records.zip(meanwhile.complete_folds()) {
            assert_eq!(decided(kept), decided(own));
        }
    }
    // Nothing of a branch stays when it is given up.
    let mut without = Session::load(&path).expect("it is whole");
    without.branches.clear();
    without.save().expect("the disk has room");
    let entries = std::fs::read_dir(folder.path()).expect("it is there");
    let names = entries.flatten().map(|entry| entry.file_name());
    let is_array = |name: &std::ffi::OsString| name.to_string_lossy().ends_with(".safetensors");
    assert_eq!(names.filter(is_array).count(), 1);
}

#[test]
fn a_sample_can_be_left_out_or_relabelled_from_a_mini_batch_on() {
    for split in branches() {
        let wanted = experiment(split);
        let checked = checked(&wanted);
        let timeline = Arc::new(Mutex::new(Timeline::default()));
        let run = origin(&checked, &timeline);
        let timeline = timeline.lock().expect("nobody has panicked");
        let batch = 20;
        let learner = {
            let change = run.changes().iter().rfind(|change| change.batch < batch);
            change.map_or(&wanted.learner, |c| &c.learner).clone()
        };
        let own = run.complete_folds()[0];
        // A sample that is admitted some time after the branch.
        let later = own
            .log
            .entries()
            .find(|e| e.batch > batch + 3 && format!("{:?}", e.event).contains("Admitted"))
            .expect("samples are admitted");
        let begin = |samples: Vec<(usize, Option<usize>)>| {
            let branch = Branch {
                batch,
                learner: learner.clone(),
                samples,
            };
            let mut run = branch
                .begin(checked.clone(), run.changes(), &timeline)
                .expect("it may change");
            finish(&mut run);
            run
        };
        let without = begin(vec![(later.sample, None)]);
        let other = 1 - later.class;
        let relabelled = begin(vec![(later.sample, Some(other))]);
        let mut changed = 0;
        for (branch, expected) in [(&without, None), (&relabelled, Some(other))] {
            let record = branch.complete_folds()[0];
            assert_eq!(trace(record, batch), trace(own, batch));
            let entries = record.log.entries();
            let mut after = entries.filter(|e| e.sample == later.sample && e.batch > batch);
            match expected {
                None => assert!(after.next().is_none(), "it is not learned any more"),
                Some(class) => assert!(after.all(|entry| entry.class == class)),
            }
            changed += usize::from(trace(record, usize::MAX) != trace(own, usize::MAX));
        }
        assert_eq!(changed, 2, "one sample less or another is another future");
        // Held-out samples stay held out whatever they are called.
        let held_out = own.decisions.sample[0];
        if own.part == Part::Fold(0) && checked.arrivals().is_none() {
            let leaked = begin(vec![(held_out, Some(0))]);
            assert_eq!(decided(leaked.complete_folds()[0]), decided(own));
        }
        let classes = checked.dataset().classes();
        let paired = PairedDecisions::of(&run.complete_folds(), &without.complete_folds(), classes);
        let n_decided: usize = run
            .complete_folds()
            .iter()
            .map(|record| record.decisions.sample.len())
            .sum();
        assert_eq!(paired.n_both, n_decided);
        assert!(paired.p() <= 1.0 && paired.sentence().contains("decisions"));
    }
}

#[test]
fn uneven_futures_are_told_apart_by_the_sign_test() {
    let paired = |only_branch, only_origin| PairedDecisions {
        n_both: 100,
        only_branch,
        only_origin,
    };
    // 2 (1 + 10) / 2¹⁰.
    assert!((paired(9, 1).p() - 22.0 / 1024.0).abs() < 1e-12);
    assert_eq!(paired(3, 3).p(), 1.0);
    assert_eq!(paired(0, 0).p(), 1.0);
}
