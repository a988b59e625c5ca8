//! Settings that change while a learner goes on: what may change takes effect with the next
//! step, what may not is refused by name.

use atomscope_engine::learner::{
    Algorithm, ContributionNorm, Decision, Kernel, LearnError, Learner, LearnerSettings, Progress,
    Pruning, SampleStream, StepReport, Supply, resume_learner, start_learner,
};
use atomscope_engine::math::{Matrix, random_share, random_stream};

const N_ROUNDS: usize = 40;

/// Three classes of noisy sines; the first two have 400 samples, the last has 40.
fn samples() -> Matrix {
    let mut random = random_stream(1, "noisy sines", 0);
    Matrix::from_fn(24, 840, |i, j| {
        let (class, t) = (j / 400, i as f64 / 24.0);
        ((class + 1) as f64 * (t + 0.01 * j as f64)).sin() + 3.0 * random_share(&mut random)
    })
}

fn stream(samples: &Matrix) -> SampleStream<'_> {
    let orders = vec![
        (0..400).collect(),
        (400..800).collect(),
        (800..840).collect(),
    ];
    SampleStream::new(samples.view(), orders, Supply::Proportional)
}

fn presets() -> [LearnerSettings; 4] {
    [
        LearnerSettings::as_published(),
        LearnerSettings::paper_text(),
        LearnerSettings::evidence_preserving(),
        LearnerSettings::margin_aware(),
    ]
    .map(shrunk)
}

/// The online learners that must keep their budget, those of the comparison included.
fn promising_presets() -> Vec<LearnerSettings> {
    let compared = [
        LearnerSettings::skdl(),
        LearnerSettings::okdlrs(),
        LearnerSettings::okdlfb(),
        LearnerSettings::okdlfb_parameter(),
    ];
    let own = presets().into_iter().skip(1);
    own.chain(compared.map(shrunk)).collect()
}

fn shrunk(preset: LearnerSettings) -> LearnerSettings {
    LearnerSettings {
        n_atoms: 10,
        sparsity: 3,
        budget: 80,
        ..preset
    }
}

/// A learner after `n` rounds, with its stream.
fn after_rounds<'a>(
    settings: &LearnerSettings,
    samples: &'a Matrix,
    n: usize,
) -> (Box<dyn Learner>, SampleStream<'a>) {
    let mut stream = stream(samples);
    let (mut learner, _) = start_learner(settings, &mut stream, 1).expect("sound settings");
    for round in 0..n {
        step(learner.as_mut(), &mut stream, round);
    }
    (learner, stream)
}

fn step(learner: &mut dyn Learner, stream: &mut SampleStream<'_>, round: usize) -> StepReport {
    let mut report = StepReport::default();
    let progress = Progress {
        round,
        n_rounds: N_ROUNDS,
    };
    learner
        .step(progress, stream, &mut report)
        .expect("sound samples");
    report
}

fn with_pruning(mut settings: LearnerSettings, wanted: Pruning) -> LearnerSettings {
    if let Some(pruning) = settings.algorithm.pruning_mut() {
        *pruning = wanted;
    }
    settings
}

#[test]
fn the_next_step_keeps_a_smaller_budget_and_uses_a_larger_one() {
    let samples = samples();
    // The published conventions may exceed the budget; the others must not.
    for settings in &promising_presets() {
        let (mut learner, mut stream) = after_rounds(settings, &samples, 20);
        let full = learner.dictionary(0).n_kept();
        assert!(full > 60, "{full} are kept");
        let mut changed = settings.clone();
        changed.budget = 25;
        learner
            .change_settings(changed.clone())
            .expect("a budget may change");
        let report = step(learner.as_mut(), &mut stream, 20);
        for (class, report) in report.classes.iter().enumerate() {
            assert!(learner.dictionary(class).n_kept() <= 25);
            assert_eq!(report.n_kept, learner.dictionary(class).n_kept());
        }
        assert!(report.classes[0].removed.len() >= full - 25);
        changed.budget = 150;
        learner
            .change_settings(changed)
            .expect("a budget may change");
        for round in 21..N_ROUNDS {
            step(learner.as_mut(), &mut stream, round);
        }
        assert!(learner.dictionary(0).n_kept() > 90);
    }
}

#[test]
fn a_class_without_new_samples_keeps_a_smaller_budget_too() {
    let samples = samples();
    for settings in &promising_presets() {
        let (mut learner, mut stream) = after_rounds(settings, &samples, 38);
        assert!(learner.dictionary(2).n_kept() > 12);
        let mut changed = settings.clone();
        changed.budget = 12;
        if let Some(headroom) = changed.algorithm.headroom_mut() {
            *headroom = 0;
        }
        // One sample per round of the large classes, none of the small one.
        changed.batch_size = 1;
        learner.change_settings(changed).expect("both may change");
        let report = step(learner.as_mut(), &mut stream, 38);
        let small = &report.classes[2];
        assert!(small.admitted.is_empty() && small.rejected.is_empty());
        assert!(!small.removed.is_empty());
        assert!(learner.dictionary(2).n_kept() <= 12);
    }
}

#[test]
fn what_shapes_the_state_is_refused_by_name() {
    let samples = samples();
    for preset in LearnerSettings::presets() {
        let settings = shrunk(preset.settings);
        let (mut learner, _) = after_rounds(&settings, &samples, 3);
        let other_algorithm = if matches!(settings.algorithm, Algorithm::Evidence { .. }) {
            LearnerSettings::paper_text().algorithm
        } else {
            LearnerSettings::evidence_preserving().algorithm
        };
        let wanted: [(&str, LearnerSettings); 4] = [
            (
                "kernel",
                LearnerSettings {
                    kernel: Kernel::Laplacian { width: 1.0 },
                    ..settings.clone()
                },
            ),
            (
                "n_atoms",
                LearnerSettings {
                    n_atoms: 11,
                    ..settings.clone()
                },
            ),
            (
                "sparsity",
                LearnerSettings {
                    sparsity: 2,
                    ..settings.clone()
                },
            ),
            (
                "algorithm",
                LearnerSettings {
                    algorithm: other_algorithm,
                    ..settings.clone()
                },
            ),
        ];
        for (expected, wanted) in wanted {
            match learner.change_settings(wanted) {
                Err(LearnError::FixedSetting { field, .. }) => assert_eq!(field, expected),
                other => panic!("{expected} was not refused: {other:?}"),
            }
            assert_eq!(learner.settings(), &settings);
        }
        let refused = learner.change_settings(LearnerSettings {
            budget: 9,
            ..settings.clone()
        });
        let message = refused.expect_err("fewer samples than atoms").to_string();
        assert!(message.starts_with("budget must be 10 to"), "{message}");
    }
}

#[test]
fn a_budget_that_leaves_no_headroom_is_refused() {
    let samples = samples();
    let settings = &presets()[1];
    let (mut learner, _) = after_rounds(settings, &samples, 3);
    let refused = learner.change_settings(LearnerSettings {
        budget: 15,
        ..settings.clone()
    });
    assert_eq!(
        refused.expect_err("headroom is 10").to_string(),
        "algorithm.headroom must be 0 to 5, but is 10"
    );
}

#[test]
fn pruning_that_needs_codes_is_refused_where_none_were_kept() {
    let samples = samples();
    let contribution = Pruning::LeastContribution(ContributionNorm::L2);
    for settings in &presets()[2..] {
        let (mut learner, _) = after_rounds(settings, &samples, 3);
        let wanted = with_pruning(settings.clone(), contribution);
        match learner.change_settings(wanted.clone()) {
            Err(LearnError::FixedSetting { field, .. }) => assert_eq!(field, "algorithm.pruning"),
            other => panic!("not refused: {other:?}"),
        }
        assert!(resume_learner(&wanted, learner.state()).is_err());
        // The other way the codes are no longer needed.
        let (mut learner, mut stream) = after_rounds(&wanted, &samples, 12);
        learner
            .change_settings(settings.clone())
            .expect("codes are there");
        step(learner.as_mut(), &mut stream, 12);
    }
}

#[test]
fn switches_of_the_decision_take_effect() {
    let samples = samples();
    let [_, _, evidence, margin] = presets();
    let (mut learner, _) = after_rounds(&evidence, &samples, 3);
    let calibrated = LearnerSettings {
        calibration: 0.25,
        ..evidence
    };
    learner.change_settings(calibrated).expect("a switch");
    let exponent = match learner.decision() {
        Decision::CalibratedResidual { exponent, .. } => *exponent,
        _ => 0.0,
    };
    assert_eq!(exponent, 0.25);

    let (mut learner, mut stream) = after_rounds(&margin, &samples, 3);
    let mut changed = margin.clone();
    if let Algorithm::Margin { second_look, .. } = &mut changed.algorithm {
        *second_look = false;
    }
    learner.change_settings(changed.clone()).expect("a switch");
    assert!(
        matches!(learner.decision(), Decision::OnlineLogit(logit) if logit.second_look.is_none())
    );
    if let Algorithm::Margin { decision_layer, .. } = &mut changed.algorithm {
        *decision_layer = false;
    }
    learner.change_settings(changed).expect("a switch");
    assert_eq!(learner.decision(), &Decision::SmallestResidual);
    step(learner.as_mut(), &mut stream, 3);
}
