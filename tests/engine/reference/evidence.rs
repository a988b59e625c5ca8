//! The evidence-preserving variant.

use atomscope_engine::learner::{
    Algorithm, EvidenceProfile, Forgetting, ForgettingShape, Kernel, LearnerSettings, LearnerState,
    Normalisation, Progress, Pruning, SampleStream, Start, StepReport, Supply, start_learner,
};

use super::archive::{Archive, assert_close, by_entrance, columns, rows_and_columns};

pub(crate) fn settings(
    kernel: Kernel,
    batch_size: usize,
    algorithm: Algorithm,
    n_classes: usize,
) -> LearnerSettings {
    LearnerSettings {
        kernel,
        n_atoms: 8,
        sparsity: 3,
        batch_size,
        budget: 40,
        start: Start::Given(vec![(0..8).collect(); n_classes]),
        forgetting: Forgetting {
            shape: ForgettingShape::Linear,
            start_value: 0.95,
            ramp_share: 0.8,
        },
        normalisation: Normalisation::Never,
        algorithm,
        ..LearnerSettings::evidence_preserving()
    }
}

/// Compares U, A, P, Ψ and the kept samples with a snapshot.
pub(crate) fn compare_profile(
    archive: &Archive,
    prefix: &str,
    profile: &EvidenceProfile,
    first: usize,
    tolerance: f64,
) {
    let name = |part: &str| format!("{prefix}_{part}");
    let order = by_entrance(&profile.entered);
    if archive.try_array(&name("index")).is_some() {
        let kept: Vec<usize> = order
            .iter()
            .map(|&j| profile.dictionary.kept.index()[j] - first)
            .collect();
        assert_eq!(kept, archive.places(&name("index")), "{}", name("index"));
    }
    let dictionary = &profile.dictionary;
    let span = dictionary.span.as_ref().expect("it keeps P");
    for (part, found) in [
        ("U", columns(&dictionary.coefficients, &order)),
        ("A", profile.evidence.clone()),
        ("P", rows_and_columns(span.inverse(), &order)),
        ("Psi", dictionary.atom_gram.clone()),
    ] {
        assert_close(&name(part), &found, &archive.matrix(&name(part)), tolerance);
    }
}

fn compare(name: &str, kernel: Kernel, batch_size: usize, tolerance: f64) {
    let archive = Archive::small(name);
    let samples = archive.matrix("X");
    let algorithm = Algorithm::Evidence {
        novelty: 1e-3,
        pruning: Pruning::LeastLoss,
    };
    let settings = settings(kernel, batch_size, algorithm, 1);
    let order = (8..samples.cols()).collect();
    let mut stream = SampleStream::new(samples.view(), vec![order], Supply::Repeat);
    let (mut learner, _) = start_learner(&settings, &mut stream, 0).expect("sound settings");
    let profile = |state| match state {
        LearnerState::Evidence { mut profiles, .. } => profiles.remove(0),
        other => panic!("not the state of the evidence-preserving learner: {other:?}"),
    };
    compare_profile(&archive, "init", &profile(learner.state()), 0, tolerance);
    let admitted = archive.array("admitted");
    let removed = archive.array("removed");
    let sizes = archive.numbers("L_after");
    let mut report = StepReport::default();
    for (b, &size) in sizes.iter().enumerate() {
        let progress = Progress {
            round: b,
            n_rounds: sizes.len(),
        };
        learner
            .step(progress, &mut stream, &mut report)
            .expect("sound samples");
        let class = &report.classes[0];
        let first = 8 + b * batch_size;
        let expected: Vec<usize> = (0..batch_size)
            .filter(|&i| admitted[[b, i]] != 0.0)
            .map(|i| first + i)
            .collect();
        assert_eq!(class.admitted, expected, "admitted in batch {b}");
        let mut gone: Vec<usize> = class.removed.iter().map(|(index, _)| index + 1).collect();
        gone.sort_unstable();
        let mut expected: Vec<usize> = removed
            .index_axis(ndarray::Axis(0), b)
            .iter()
            .filter(|&&n| n > 0.0)
            .map(|&n| n as usize)
            .collect();
        expected.sort_unstable();
        assert_eq!(gone, expected, "removed in batch {b}");
        assert_eq!(class.n_kept, size as usize);
        if b == 0 {
            compare_profile(&archive, "b1", &profile(learner.state()), 0, tolerance);
        }
    }
    compare_profile(&archive, "last", &profile(learner.state()), 0, tolerance);
}

#[test]
fn small_polynomial() {
    let kernel = Kernel::Polynomial {
        degree: 2,
        offset: 1.0,
    };
    compare("evidence_a_poly2_m4.npz", kernel, 4, 1e-7);
}

#[test]
fn small_gaussian() {
    let kernel = Kernel::Gaussian { width: 1.5 };
    compare("evidence_b_gauss1p5_m4.npz", kernel, 4, 1e-9);
    compare("evidence_c_gauss1p5_m1.npz", kernel, 1, 1e-9);
}

#[test]
fn small_normalised_polynomial() {
    let kernel = Kernel::NormalisedPolynomial {
        degree: 2,
        offset: 1.0,
    };
    compare("evidence_c_npoly2_m1.npz", kernel, 1, 1e-7);
}
