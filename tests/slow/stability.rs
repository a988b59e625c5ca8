//! Endless streams: nothing drifts, nothing grows, and hostile numbers get an answer or an error.

use std::time::Instant;

use atomscope_engine::evaluation::Classifier;
use atomscope_engine::learner::{
    Algorithm, ContributionNorm, Conventions, Forgetting, Growing, Kernel, LearnError, Learner,
    LearnerSettings, LearnerState, Normalisation, Progress, Pruning, Removal, Repair, SampleStream,
    Start, StepReport, Supply, start_learner,
};
use atomscope_engine::math::{Matrix, View, Write, product, random_stream};
use rand::Rng;

const N_BATCHES: usize = 20_000;

/// Uniform numbers in [0, 1).
fn uniform(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Samples like scanned digits (0 … `scale`, most of them dark), with every kind of
/// trouble: exact duplicates, zero vectors, multiples of other samples, constants.
pub(crate) fn troubled_samples(n_features: usize, n: usize, scale: f64, seed: u64) -> Matrix {
    let mut random = random_stream(seed, "troubled samples", 0);
    let strokes = Matrix::from_fn(n_features, 12, |_, _| {
        (uniform(&mut random) * 2.0 - 1.0).max(0.0)
    });
    let mut samples = Matrix::zeros(n_features, n);
    for j in 0..n {
        let (a, b) = (j % 12, (5 * j + j / 12) % 12);
        let mix = uniform(&mut random);
        for i in 0..n_features {
            let clean = mix * strokes[(i, a)] + (1.0 - mix) * strokes[(i, b)];
            let noise = 0.15 * uniform(&mut random);
            samples[(i, j)] = scale * (clean + noise).min(1.0);
        }
        match j % 50 {
            17 => samples.copy_col(j - 1, j),
            23 => samples.col_mut(j).fill(0.0),
            31 => {
                samples.copy_col(j - 7, j);
                samples
                    .col_mut(j)
                    .iter_mut()
                    .for_each(|value| *value *= 0.5);
            }
            37 => samples.col_mut(j).fill(scale),
            _ => {}
        }
    }
    samples
}

fn multiply(left: View<'_>, right: View<'_>) -> Matrix {
    let mut result = Matrix::zeros(left.rows(), right.cols());
    product(result.view_mut(), Write::Replace, left, right);
    result
}

/// Relative error of U = C W Λ and Ψ = U K Uᵀ, or of P K = I and Ψ = U K Uᵀ, over all classes.
pub(crate) fn error_against_definition(learner: &dyn Learner) -> f64 {
    let state = learner.state();
    let mut worst = 0.0_f64;
    for class in 0..learner.n_classes() {
        let dictionary = learner.dictionary(class);
        let mut gram = Matrix::default();
        dictionary
            .kernel
            .block(&dictionary.kept, &dictionary.kept, &mut gram);
        let u = &dictionary.coefficients;
        let atom_gram = multiply(multiply(u.view(), gram.view()).view(), u.view().t());
        worst = worst.max(relative_error(&dictionary.atom_gram, &atom_gram));
        if let LearnerState::Krls { profiles, .. } = &state {
            let profile = &profiles[class];
            let mut codes = Matrix::default();
            profile.codes.write_dense(dictionary.n_atoms(), &mut codes);
            let weighted = Matrix::from_fn(codes.rows(), codes.cols(), |i, j| {
                codes[(i, j)] * profile.sample_weights[j]
            });
            let mut evidence = multiply(weighted.view(), codes.view().t());
            for (q, ridge) in profile.ridge.iter().enumerate() {
                evidence[(q, q)] += ridge;
            }
            // C (W Λ Wᵀ + Ξ) = I in units in which every atom has the same evidence.
            let identity = multiply(profile.code_precision.view(), evidence.view());
            worst = worst.max(scaled_identity_error(&identity, |q| {
                evidence[(q, q)].sqrt()
            }));
        } else if let Some(span) = &dictionary.span {
            let identity = multiply(span.inverse().view(), gram.view());
            worst = worst.max(scaled_identity_error(&identity, |j| gram[(j, j)].sqrt()));
        }
    }
    worst
}

fn scaled_identity_error(matrix: &Matrix, length: impl Fn(usize) -> f64) -> f64 {
    let mut worst = 0.0_f64;
    for j in 0..matrix.cols() {
        for i in 0..matrix.rows() {
            let expected = f64::from(u8::from(i == j));
            let error = (matrix[(i, j)] - expected) * length(i) / length(j);
            worst = worst.max(error.abs());
        }
    }
    worst
}

fn relative_error(found: &Matrix, expected: &Matrix) -> f64 {
    assert!(found.is_finite());
    let mut worst = 0.0_f64;
    for j in 0..found.cols() {
        for (a, b) in found.col(j).iter().zip(expected.col(j)) {
            worst = worst.max((a - b).abs());
        }
    }
    worst / expected.max_abs()
}

/// Runs 20,000 mini-batches and checks error, budget and time on the way.
fn run_for_ever(name: &str, settings: &LearnerSettings, samples: &Matrix) {
    let n = samples.cols();
    let orders = vec![(0..n / 2).collect(), (n / 2..n).collect()];
    let mut stream = SampleStream::new(samples.view(), orders, Supply::Repeat);
    let (mut learner, _) = start_learner(settings, &mut stream, 1).expect("sound settings");
    let mut report = StepReport::default();
    let (mut worst, mut early, mut late) = (0.0_f64, f64::INFINITY, f64::INFINITY);
    for round in 0..N_BATCHES / 2 {
        let progress = Progress {
            round,
            n_rounds: N_BATCHES / 2,
        };
        let begin = Instant::now();
        learner
            .step(progress, &mut stream, &mut report)
            .expect("finite samples");
        let elapsed = begin.elapsed().as_secs_f64();
        if (100..2600).contains(&round) {
            early = early.min(elapsed);
        } else if round >= N_BATCHES / 2 - 2500 {
            late = late.min(elapsed);
        }
        for class in &report.classes {
            assert!(
                class.n_kept <= settings.budget,
                "{name}: budget exceeded in round {round}"
            );
            assert!(
                class.health.drift.is_finite(),
                "{name}: drift in round {round}"
            );
        }
        if round % 5 == 4 {
            let error = error_against_definition(learner.as_ref());
            assert!(error < 1e-8, "{name}: error {error:e} in round {round}");
            worst = worst.max(error);
        }
    }
    // Best of 2500 steps each: far from noise, far from a growth that matters.
    assert!(
        late < 3.0 * early,
        "{name}: a step took {early:e} s, later {late:e} s"
    );
    println!(
        "{name}: largest error {worst:.1e}, best step {:.0} µs early, {:.0} µs late",
        1e6 * early,
        1e6 * late
    );
}

/// The learners that are made for endless streams.
pub(crate) fn recursive_variants() -> [(&'static str, Algorithm); 3] {
    let LearnerSettings {
        algorithm: paper, ..
    } = LearnerSettings::paper_text();
    let LearnerSettings {
        algorithm: evidence,
        ..
    } = LearnerSettings::evidence_preserving();
    let LearnerSettings {
        algorithm: margin, ..
    } = LearnerSettings::margin_aware();
    [("paper", paper), ("evidence", evidence), ("margin", margin)]
}

pub(crate) fn schedules() -> [(&'static str, Forgetting); 4] {
    [
        (".9", Forgetting::constant(0.9)),
        (".99", Forgetting::constant(0.99)),
        ("1", Forgetting::constant(1.0)),
        ("schedule", Forgetting::PAPER),
    ]
}

fn endless(kernel_name: &str, kernel: Kernel, samples: &Matrix) {
    for (variant, algorithm) in recursive_variants() {
        for (schedule, forgetting) in schedules() {
            let settings = LearnerSettings {
                kernel,
                n_atoms: 8,
                sparsity: 3,
                batch_size: 4,
                budget: 40,
                forgetting,
                regularisation: 0.0,
                algorithm: with_headroom(algorithm.clone(), 4),
                ..LearnerSettings::margin_aware()
            };
            let name = format!("{variant}, λ {schedule}, {kernel_name}");
            run_for_ever(&name, &settings, samples);
        }
    }
}

pub(crate) fn with_headroom(mut algorithm: Algorithm, samples: usize) -> Algorithm {
    if let Some(headroom) = algorithm.headroom_mut() {
        *headroom = samples;
    }
    algorithm
}

/// The algorithms of all presets, and as published where that is a switch; the published KRLS
/// alone makes no promise about its budget.
fn all_algorithms() -> Vec<Algorithm> {
    let mut all = Vec::new();
    for preset in LearnerSettings::presets() {
        let mut algorithm = preset.settings.algorithm;
        if algorithm == LearnerSettings::as_published().algorithm {
            continue;
        }
        all.push(algorithm.clone());
        if let Algorithm::Skdl { conventions, .. }
        | Algorithm::Okdlrs { conventions, .. }
        | Algorithm::Okdlfb { conventions, .. } = &mut algorithm
        {
            *conventions = Conventions::Published;
            all.push(algorithm);
        }
    }
    all
}

/// Streams on which codes once determined the atoms so badly that the error grew to 2e-8, 1e-6 or 1.
const SEEDS: [u64; 4] = [4, 5, 11, 45];

#[test]
fn endless_streams_with_a_polynomial_kernel_on_unscaled_data() {
    SEEDS.into_iter().for_each(endless_polynomial);
}

#[test]
fn endless_streams_with_a_gaussian_kernel() {
    SEEDS.into_iter().for_each(endless_gaussian);
}

#[test]
#[ignore = "takes minutes; twenty streams of each kernel"]
fn endless_streams_of_many_seeds() {
    for seed in 1..=20 {
        endless_polynomial(seed);
        endless_gaussian(seed);
    }
}

fn endless_polynomial(seed: u64) {
    let kernel = Kernel::Polynomial {
        degree: 2,
        offset: 1.0,
    };
    let samples = troubled_samples(24, 1000, 255.0, seed);
    endless("polynomial, data × 255", kernel, &samples);
}

fn endless_gaussian(seed: u64) {
    let kernel = Kernel::Gaussian { width: 1.5 };
    let samples = troubled_samples(24, 1000, 1.0, seed);
    endless("Gaussian", kernel, &samples);
}

/// Learns a few rounds of two classes and classifies everything; every number must be finite.
fn learn_and_classify(settings: &LearnerSettings, samples: &Matrix) -> Result<(), LearnError> {
    let n = samples.cols();
    let orders = vec![(0..n / 2).collect(), (n / 2..n).collect()];
    let mut stream = SampleStream::new(samples.view(), orders, Supply::Proportional);
    let (mut learner, _) = start_learner(settings, &mut stream, 1)?;
    let mut report = StepReport::default();
    for round in 0..12 {
        let progress = Progress {
            round,
            n_rounds: 12,
        };
        learner.step(progress, &mut stream, &mut report)?;
        for class in 0..2 {
            let dictionary = learner.dictionary(class);
            assert!(dictionary.atom_gram.is_finite() && dictionary.coefficients.is_finite());
            let keeps_all = settings.algorithm.keeps_all();
            assert!(keeps_all || dictionary.n_kept() <= settings.budget);
        }
    }
    let classifier = Classifier::of(learner.as_ref());
    let all: Vec<usize> = (0..n).collect();
    let mut verdicts = Vec::new();
    classifier.classify(samples.view(), &all, &mut classifier.work(), &mut verdicts)?;
    assert!(verdicts.iter().all(|verdict| verdict.margin.is_finite()));
    Ok(())
}

fn every_variant(kernel: Kernel) -> impl Iterator<Item = LearnerSettings> {
    all_algorithms().into_iter().flat_map(move |algorithm| {
        [Start::Random, Start::FarthestFirst { pool: 20 }].map(|start| LearnerSettings {
            kernel,
            n_atoms: 5,
            sparsity: 2,
            batch_size: 3,
            budget: 16,
            start,
            algorithm: with_headroom(algorithm.clone(), 2),
            ..LearnerSettings::margin_aware()
        })
    })
}

fn every_kernel() -> [Kernel; 5] {
    [
        Kernel::Linear,
        Kernel::Polynomial {
            degree: 3,
            offset: 1.0,
        },
        Kernel::NormalisedPolynomial {
            degree: 2,
            offset: 0.0,
        },
        Kernel::Gaussian { width: 1.0 },
        Kernel::Laplacian { width: 1.0 },
    ]
}

/// Forty samples; `value` gives feature i of sample j from a random number.
fn samples_of(n_features: usize, value: impl Fn(usize, usize, f64) -> f64) -> Matrix {
    let mut random = random_stream(3, "hostile samples", 0);
    Matrix::from_fn(n_features, 40, |i, j| {
        value(i, j, uniform(&mut random) - 0.5)
    })
}

#[test]
fn hostile_but_finite_numbers_are_learned_or_refused_with_a_reason() {
    let cases: [(&str, Matrix); 9] = [
        ("huge", samples_of(4, |_, _, r| 1e150 * r)),
        (
            "one huge",
            samples_of(4, |_, j, r| if j == 25 { 1e160 } else { r }),
        ),
        ("large", samples_of(4, |_, _, r| 1e40 * r)),
        ("tiny", samples_of(4, |_, _, r| 1e-60 * r)),
        ("denormal", samples_of(4, |_, _, r| 1e-310 * r)),
        (
            "wide range",
            samples_of(4, |_, j, r| r * 10.0_f64.powi(j as i32 - 20)),
        ),
        ("constant", samples_of(4, |_, _, _| 3.0)),
        (
            "constant feature",
            samples_of(4, |i, _, r| if i == 2 { 1e6 } else { r }),
        ),
        ("one feature", samples_of(1, |_, _, r| r)),
    ];
    for (name, samples) in &cases {
        for kernel in every_kernel() {
            for settings in every_variant(kernel) {
                match learn_and_classify(&settings, samples) {
                    Ok(()) => {}
                    Err(LearnError::KernelOverflow { .. }) => {
                        assert!(
                            name.contains("huge") || *name == "large",
                            "{name}, {kernel:?}"
                        );
                    }
                    Err(LearnError::NothingToStartFrom { .. }) => {
                        assert!(["tiny", "denormal"].contains(name), "{name}, {kernel:?}");
                    }
                    Err(other) => panic!("{name}, {kernel:?}: {other}"),
                }
            }
        }
    }
}

#[test]
fn zero_vectors_alone_cannot_start_a_dictionary() {
    let samples = samples_of(4, |_, j, r| if j < 20 { 0.0 } else { r });
    for settings in every_variant(Kernel::Linear) {
        let refusal = learn_and_classify(&settings, &samples).expect_err("nothing to learn");
        assert_eq!(refusal, LearnError::NothingToStartFrom { class: 0 });
        assert!(refusal.to_string().contains("class 0"));
    }
}

#[test]
fn numbers_that_are_none_are_named() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let samples = samples_of(4, |i, j, r| if (i, j) == (2, 12) { value } else { r });
        for settings in every_variant(Kernel::Gaussian { width: 1.0 }) {
            let refusal = learn_and_classify(&settings, &samples).expect_err("not a number");
            let text = refusal.to_string();
            assert!(text.starts_with("feature 2 of sample 12 is "), "{text}");
        }
    }
}

#[test]
fn a_refused_round_leaves_the_dictionaries_as_they_were() {
    let samples = samples_of(4, |i, j, r| if (i, j) == (0, 39) { f64::NAN } else { r });
    for settings in every_variant(Kernel::Gaussian { width: 1.0 }) {
        let orders = vec![(0..19).collect(), (20..40).collect()];
        let mut stream = SampleStream::new(samples.view(), orders, Supply::Repeat);
        let settings = LearnerSettings {
            start: Start::Given(vec![(0..5).collect(), (20..25).collect()]),
            ..settings
        };
        let (mut learner, _) = start_learner(&settings, &mut stream, 0).expect("sound start");
        let mut report = StepReport::default();
        let mut refused = 0;
        for round in 0..8 {
            let before = ron::to_string(&learner.state()).expect("writable");
            let progress = Progress { round, n_rounds: 8 };
            if learner.step(progress, &mut stream, &mut report).is_err() {
                refused += 1;
                assert_eq!(before, ron::to_string(&learner.state()).expect("writable"));
            }
        }
        // A batch learner asks for all samples again and again.
        assert_eq!(refused, if settings.algorithm.is_batch() { 8 } else { 1 });
    }
}

#[test]
fn unusual_sizes_work_or_are_refused_with_a_reason() {
    let samples = samples_of(4, |_, _, r| r);
    for base in every_variant(Kernel::Gaussian { width: 1.0 }) {
        // One atom; as many pairs per code as atoms; mini-batches larger than the dictionary.
        for (n_atoms, sparsity, batch_size) in [(1, 1, 3), (5, 5, 3), (2, 1, 9), (5, 2, 1)] {
            let settings = LearnerSettings {
                n_atoms,
                sparsity,
                batch_size,
                ..base.clone()
            };
            learn_and_classify(&settings, &samples).expect("learns");
        }
        // More atoms than samples: some atoms start from the same sample.
        let many = LearnerSettings {
            n_atoms: 30,
            budget: 40,
            ..base.clone()
        };
        learn_and_classify(&many, &samples).expect("learns");
        // The budget leaves no room for more than the atoms.
        let narrow = LearnerSettings {
            budget: 5,
            algorithm: with_headroom(base.algorithm.clone(), 0),
            ..base.clone()
        };
        learn_and_classify(&narrow, &samples).expect("learns");
        let wrong = LearnerSettings {
            sparsity: 6,
            ..base.clone()
        };
        let refusal = learn_and_classify(&wrong, &samples).expect_err("more pairs than atoms");
        assert_eq!(refusal.to_string(), "sparsity must be 1 to 5, but is 6");
    }
}

#[test]
fn unbalanced_classes_and_classes_that_never_err_work() {
    // Class 0 has ten times the samples of class 1; class 2 has three, far from all others.
    let samples = samples_of(4, |_, j, r| match j {
        0..30 => r,
        30..37 => r + 1.0,
        _ => r + 50.0,
    });
    let orders = || vec![(0..30).collect(), (30..37).collect(), (37..40).collect()];
    for supply in [Supply::Repeat, Supply::Proportional] {
        for settings in every_variant(Kernel::Gaussian { width: 1.0 }) {
            let mut stream = SampleStream::new(samples.view(), orders(), supply);
            let (mut learner, remarks) = start_learner(&settings, &mut stream, 1).expect("sound");
            assert!(remarks[2].is_some(), "three samples serve five atoms");
            let mut report = StepReport::default();
            for round in 0..20 {
                let progress = Progress {
                    round,
                    n_rounds: 20,
                };
                learner
                    .step(progress, &mut stream, &mut report)
                    .expect("sound samples");
            }
            let classifier = Classifier::of(learner.as_ref());
            let mut verdicts = Vec::new();
            let index: Vec<usize> = (37..40).collect();
            classifier
                .classify(
                    samples.view(),
                    &index,
                    &mut classifier.work(),
                    &mut verdicts,
                )
                .expect("sound samples");
            assert!(verdicts.iter().all(|verdict| verdict.class == 2));
        }
    }
}

#[test]
fn a_budget_that_the_conditions_forbid_is_kept_by_force_and_reported() {
    // Atoms e0 … e3; then a million times e0, and e1 … e3 again. Beside the million every
    // other atom is hardly used, so that no sample of theirs may leave.
    let samples = Matrix::from_fn(4, 8, |i, j| match (i, j) {
        (0, 4) => 1e6,
        _ => f64::from(u8::from(i == j % 4)),
    });
    let settings = LearnerSettings {
        kernel: Kernel::Linear,
        n_atoms: 4,
        sparsity: 1,
        batch_size: 4,
        budget: 4,
        start: Start::Given(vec![(0..4).collect()]),
        regularisation: 0.0,
        normalisation: Normalisation::Never,
        algorithm: Algorithm::Krls {
            growing: Growing::Always,
            pruning: Pruning::LeastContribution(ContributionNorm::L2),
            headroom: 0,
            conventions: Conventions::Text,
        },
        ..LearnerSettings::paper_text()
    };
    let mut stream = SampleStream::new(samples.view(), vec![(4..8).collect()], Supply::Repeat);
    let (mut learner, _) = start_learner(&settings, &mut stream, 0).expect("sound");
    let mut report = StepReport::default();
    let progress = Progress {
        round: 0,
        n_rounds: 1,
    };
    learner
        .step(progress, &mut stream, &mut report)
        .expect("sound samples");
    let class = &report.classes[0];
    assert_eq!(class.n_kept, 4);
    let forced = |removed: &&(usize, Removal)| removed.1 == Removal::Forced;
    assert_eq!(class.removed.iter().filter(forced).count(), 3);
    let ran_out = Repair::CandidatesRanOut {
        wanted: 4,
        found: 1,
    };
    assert!(class.health.repairs.contains(&ran_out));
    assert!(learner.dictionary(0).atom_gram.is_finite());
    assert!(error_against_definition(learner.as_ref()) < 1e-8);
}
