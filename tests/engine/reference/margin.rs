//! The margin-aware variant on three classes together.

use atomscope_engine::evaluation::Classifier;
use atomscope_engine::learner::{
    Algorithm, Kernel, LearnerState, MarginState, Progress, Pruning, SampleStream, Start,
    StepReport, Supply, start_learner,
};
use atomscope_engine::math::Matrix;

use super::archive::{Archive, assert_close, by_entrance};
use super::evidence::{compare_profile, settings};

fn state_of(state: LearnerState) -> MarginState {
    match state {
        LearnerState::Margin(state) => state,
        other => panic!("not the state of the margin-aware learner: {other:?}"),
    }
}

fn compare_snapshot(archive: &Archive, snapshot: &str, state: &MarginState, tolerance: f64) {
    for (c, class) in ["a", "b", "c"].iter().enumerate() {
        let prefix = format!("{snapshot}_{class}");
        let profile = &state.profiles[c];
        compare_profile(archive, &prefix, profile, 160 * c, tolerance);
        let order = by_entrance(&profile.entered);
        let found = Matrix::from_fn(order.len(), 1, |i, _| profile.errors[order[i]]);
        let expected = archive.numbers(&format!("{prefix}_eta"));
        let expected = Matrix::from_fn(expected.len(), 1, |i, _| expected[i]);
        // η may be exactly zero for all kept samples.
        if expected.max_abs() > 0.0 {
            assert_close(&format!("{prefix}_eta"), &found, &expected, tolerance);
        } else {
            assert_eq!(found.max_abs(), 0.0);
        }
    }
    let mut layer = state.logit.theta.to_vec();
    layer.extend_from_slice(&state.logit.bias);
    let expected = archive.numbers(&format!("{snapshot}_theta_b"));
    let as_column = |values: &[f64]| Matrix::from_fn(values.len(), 1, |i, _| values[i]);
    assert_close(
        "theta_b",
        &as_column(&layer),
        &as_column(&expected),
        tolerance,
    );
    let curvature = archive.matrix(&format!("{snapshot}_H"));
    assert_close("H", &state.logit.curvature, &curvature, tolerance);
}

fn compare(name: &str, kernel: Kernel, tolerance: f64) {
    let archive = Archive::small(name);
    let parts: Vec<Matrix> = ["X_a", "X_b", "X_c"]
        .iter()
        .map(|part| archive.matrix(part))
        .collect();
    let samples = Matrix::from_fn(12, 480, |i, j| parts[j / 160][(i, j % 160)]);
    let algorithm = Algorithm::Margin {
        novelty: 1e-3,
        pruning: Pruning::LeastLoss,
        decision_layer: true,
        error_weights: true,
        memory_of_errors: 300.0,
        second_look: false,
    };
    let mut settings = settings(kernel, 4, algorithm, 3);
    settings.start = Start::Given((0..3).map(|c| (160 * c..160 * c + 8).collect()).collect());
    let orders = (0..3)
        .map(|c| (160 * c + 8..160 * (c + 1)).collect())
        .collect();
    let mut stream = SampleStream::new(samples.view(), orders, Supply::Repeat);
    let (mut learner, _) = start_learner(&settings, &mut stream, 0).expect("sound settings");
    let removed = archive.array("removed");
    let mut report = StepReport::default();
    for b in 0..38 {
        let progress = Progress {
            round: b,
            n_rounds: 38,
        };
        learner
            .step(progress, &mut stream, &mut report)
            .expect("sound samples");
        for c in 0..3 {
            let mut gone: Vec<usize> = report.classes[c]
                .removed
                .iter()
                .map(|(index, _)| index + 1 - 160 * c)
                .collect();
            gone.sort_unstable();
            let mut expected: Vec<usize> = (0..removed.shape()[2])
                .map(|i| removed[[c, b, i]] as usize)
                .filter(|&n| n > 0)
                .collect();
            expected.sort_unstable();
            assert_eq!(gone, expected, "removed from class {c} in round {b}");
        }
        if b == 0 {
            compare_snapshot(&archive, "b1", &state_of(learner.state()), tolerance);
        }
    }
    compare_snapshot(&archive, "last", &state_of(learner.state()), tolerance);
    let classifier = Classifier::of(learner.as_ref());
    let tests = archive.matrix("T");
    let mut scores = Matrix::zeros(3, tests.cols());
    for j in 0..tests.cols() {
        let explanation = classifier.explain(tests.col(j)).expect("sound samples");
        scores.col_mut(j).copy_from_slice(&explanation.scores);
    }
    let expected = archive.matrix("test_scores");
    assert_close("test_scores", &scores, &expected, tolerance);
}

#[test]
fn small_gaussian() {
    compare(
        "margin_abc_gauss1p5_m4.npz",
        Kernel::Gaussian { width: 1.5 },
        1e-9,
    );
}

#[test]
fn small_normalised_polynomial() {
    let kernel = Kernel::NormalisedPolynomial {
        degree: 2,
        offset: 1.0,
    };
    compare("margin_abc_npoly2_m4.npz", kernel, 1e-7);
}
