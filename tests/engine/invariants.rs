//! What must hold after every step, for random sizes, kernels, schedules and samples.

use std::sync::atomic::AtomicBool;

use atomscope_engine::learner::{
    Algorithm, ClassReport, ContributionNorm, Conventions, Dictionary, EvidenceProfile, Forgetting,
    ForgettingShape, GradientSpace, Growing, Kernel, KrlsProfile, Learner, LearnerSettings,
    LearnerState, Normalisation, Progress, Pruning, Pursuit, Repair, SampleStream, Samples,
    SparseCoder, Start, StepReport, StopSignal, Supply, resume_learner, start_learner,
};
use atomscope_engine::math::{Cholesky, Matrix, View, Write, product, random_stream};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand::Rng;

/// A normal random number from two uniform ones.
fn normal(random: &mut impl Rng) -> f64 {
    let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let (a, b) = (uniform().max(1e-300), uniform());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// `n` samples of `n_features` around three directions, so that codes have something to find.
fn random_samples(seed: u64, n_features: usize, n: usize) -> Matrix {
    let mut random = random_stream(seed, "samples", 0);
    let centres = Matrix::from_fn(n_features, 3, |_, _| normal(&mut random));
    Matrix::from_fn(n_features, n, |i, j| {
        centres[(i, j % 3)] + 0.7 * normal(&mut random)
    })
}

fn multiply(left: View<'_>, right: View<'_>) -> Matrix {
    let mut result = Matrix::zeros(left.rows(), right.cols());
    product(result.view_mut(), Write::Replace, left, right);
    result
}

/// Largest difference relative to the largest element of the second.
fn relative_error(found: &Matrix, expected: &Matrix) -> f64 {
    assert_eq!(
        (found.rows(), found.cols()),
        (expected.rows(), expected.cols())
    );
    let mut worst = 0.0_f64;
    for j in 0..found.cols() {
        for (a, b) in found.col(j).iter().zip(expected.col(j)) {
            worst = worst.max((a - b).abs());
        }
    }
    assert!(found.is_finite());
    worst / expected.max_abs().max(f64::MIN_POSITIVE)
}

fn inverse(matrix: &Matrix) -> Matrix {
    let mut factor = Cholesky::default();
    factor.factor(matrix.view()).expect("positive definite");
    let mut inverse = Matrix::default();
    factor.inverse_into(&mut inverse);
    inverse
}

fn kernel_matrix(kernel: &Kernel, kept: &Samples) -> Matrix {
    let mut gram = Matrix::default();
    kernel.block(kept, kept, &mut gram);
    gram
}

/// C⁻¹ = W Λ Wᵀ + Ξ, U = C W Λ, Ψ = U K Uᵀ.
fn krls_error(profile: &KrlsProfile) -> f64 {
    let dictionary = &profile.dictionary;
    let n_atoms = dictionary.n_atoms();
    let mut w = Matrix::default();
    profile.codes.write_dense(n_atoms, &mut w);
    let weighted = Matrix::from_fn(n_atoms, w.cols(), |i, j| {
        w[(i, j)] * profile.sample_weights[j]
    });
    let mut evidence = multiply(weighted.view(), w.view().t());
    for (q, ridge) in profile.ridge.iter().enumerate() {
        assert!(*ridge >= 0.0);
        evidence[(q, q)] += ridge;
    }
    let precision = inverse(&evidence);
    let coefficients = multiply(precision.view(), weighted.view());
    let gram = kernel_matrix(&dictionary.kernel, &dictionary.kept);
    let atom_gram = multiply(
        multiply(coefficients.view(), gram.view()).view(),
        coefficients.view().t(),
    );
    // The published conventions bound no condition; C is then known to fewer digits.
    let inflation = |q: usize| evidence[(q, q)] * precision[(q, q)];
    let condition = (0..n_atoms).map(inflation).fold(1.0, f64::max);
    let largest = [
        relative_error(&profile.code_precision, &precision),
        relative_error(&dictionary.coefficients, &coefficients),
        relative_error(&dictionary.atom_gram, &atom_gram),
        relative_error(&profile.kept_gram, &gram),
    ]
    .into_iter()
    .fold(0.0, f64::max);
    largest / (condition / 1e5).max(1.0)
}

/// P K = I and Ψ = U K Uᵀ.
fn evidence_error(profile: &EvidenceProfile) -> f64 {
    let dictionary = &profile.dictionary;
    let gram = kernel_matrix(&dictionary.kernel, &dictionary.kept);
    let span = dictionary.span.as_ref().expect("it keeps P");
    // In units in which every kept sample has length 1.
    let length = |j: usize| gram[(j, j)].sqrt();
    let raw = multiply(span.inverse().view(), gram.view());
    let identity = Matrix::from_fn(gram.rows(), gram.rows(), |i, j| {
        raw[(i, j)] * length(i) / length(j)
    });
    let atom_gram = multiply(
        multiply(dictionary.coefficients.view(), gram.view()).view(),
        dictionary.coefficients.view().t(),
    );
    // An inverse cannot be better than the condition of what it inverts: smooth kernels of
    // few features make K nearly singular. Beyond a condition of 1e6 the error counts by it.
    let largest = |j: usize| gram[(j, j)] * span.inverse()[(j, j)];
    let condition = gram.rows() as f64 * (0..gram.rows()).map(largest).fold(1.0, f64::max);
    let span_error = relative_error(&identity, &Matrix::identity(gram.rows()));
    (span_error / (condition / 1e6).max(1.0)).max(relative_error(&dictionary.atom_gram, &atom_gram))
}

/// The largest error of any class against the definitions.
fn error_of(learner: &dyn Learner) -> f64 {
    match learner.state() {
        LearnerState::Krls { profiles, .. } => profiles.iter().map(krls_error).fold(0.0, f64::max),
        LearnerState::Evidence { profiles, .. } => {
            profiles.iter().map(evidence_error).fold(0.0, f64::max)
        }
        LearnerState::Margin(state) => state
            .profiles
            .iter()
            .map(evidence_error)
            .fold(0.0, f64::max),
        LearnerState::Gradient { profiles, .. } => profiles
            .iter()
            .map(|profile| {
                let dictionary = &profile.dictionary;
                let gram = kernel_matrix(&dictionary.kernel, &dictionary.kept);
                relative_error(&profile.kept_gram, &gram).max(dictionary_error(dictionary))
            })
            .fold(0.0, f64::max),
        LearnerState::Batch { .. } | LearnerState::Baseline(_) => (0..learner.n_classes())
            .map(|class| dictionary_error(learner.dictionary(class)))
            .fold(0.0, f64::max),
    }
}

/// Ψ = U K Uᵀ.
fn dictionary_error(dictionary: &Dictionary) -> f64 {
    let gram = kernel_matrix(&dictionary.kernel, &dictionary.kept);
    let wide = multiply(dictionary.coefficients.view(), gram.view());
    let atom_gram = multiply(wide.view(), dictionary.coefficients.view().t());
    relative_error(&dictionary.atom_gram, &atom_gram)
}

fn kernels() -> impl Strategy<Value = Kernel> {
    prop_oneof![
        Just(Kernel::Linear),
        (2_u32..4, 0.0..2.0).prop_map(|(degree, offset)| Kernel::Polynomial { degree, offset }),
        (2_u32..4, 0.5..2.0)
            .prop_map(|(degree, offset)| Kernel::NormalisedPolynomial { degree, offset }),
        (1.0..8.0).prop_map(|width| Kernel::Gaussian { width }),
        (2.0..20.0).prop_map(|width| Kernel::Laplacian { width }),
    ]
}

fn schedules() -> impl Strategy<Value = Forgetting> {
    use ForgettingShape::{Constant, Cubic, Exponential, Linear, Quadratic, Step};
    let shapes = prop::sample::select(vec![Constant, Step, Linear, Quadratic, Cubic, Exponential]);
    (shapes, 0.85..1.0, 0.2..1.0).prop_map(|(shape, start_value, ramp_share)| Forgetting {
        shape,
        start_value,
        ramp_share,
    })
}

fn growings() -> impl Strategy<Value = Growing> {
    prop_oneof![
        Just(Growing::Always),
        (0.8..1.0).prop_map(|threshold| Growing::Coherence { threshold }),
        (0.8..1.0).prop_map(|threshold| Growing::Representation { threshold }),
        (0.8..1.0).prop_map(|threshold| Growing::RepresentationAsPublished { threshold }),
        (0.8..0.99).prop_map(|threshold| Growing::Projection { threshold }),
    ]
}

fn paper_prunings() -> impl Strategy<Value = Pruning> {
    let norms = prop::sample::select(vec![ContributionNorm::L1, ContributionNorm::L2]);
    (norms, 0..3).prop_map(|(norm, which)| match which {
        0 => Pruning::Oldest,
        1 => Pruning::LeastContribution(norm),
        _ => Pruning::LeastContributionOlderHalf(norm),
    })
}

fn normalisations() -> impl Strategy<Value = Normalisation> {
    prop_oneof![
        Just(Normalisation::Never),
        Just(Normalisation::WhenPruned),
        (1_u64..5).prop_map(Normalisation::EveryBatches),
        Just(Normalisation::WhenOutOfRange {
            lowest: 0.5,
            highest: 2.0
        }),
    ]
}

fn algorithms() -> impl Strategy<Value = Algorithm> {
    let all_prunings = || prop_oneof![paper_prunings(), Just(Pruning::LeastLoss)];
    let conventions = prop::sample::select(vec![Conventions::Text, Conventions::Published]);
    prop_oneof![
        (growings(), paper_prunings(), 0_usize..4, conventions).prop_map(
            |(growing, pruning, headroom, conventions)| Algorithm::Krls {
                growing,
                pruning,
                headroom,
                conventions
            }
        ),
        all_prunings().prop_map(|pruning| Algorithm::Evidence {
            novelty: 1e-3,
            pruning
        }),
        (
            all_prunings(),
            any::<[bool; 3]>(),
            prop::sample::select(vec![0.0, 300.0])
        )
            .prop_map(|(pruning, switches, memory_of_errors)| Algorithm::Margin {
                novelty: 1e-3,
                pruning,
                decision_layer: switches[0],
                error_weights: switches[1],
                memory_of_errors,
                second_look: switches[2],
            }),
        batch_learners(),
        gradient_learners(),
    ]
}

fn batch_learners() -> impl Strategy<Value = Algorithm> {
    prop_oneof![
        Just(Algorithm::Kmod { ridge: 1e-10 }),
        Just(Algorithm::Ksvd),
        Just(Algorithm::NearestMean),
        Just(Algorithm::KernelRidge { ridge: 0.01 }),
        Just(Algorithm::Svm {
            cost: 1.0,
            tolerance: 1e-3
        }),
    ]
}

fn gradient_learners() -> impl Strategy<Value = Algorithm> {
    let conventions = prop::sample::select(vec![Conventions::Text, Conventions::Published]);
    (conventions, 0_usize..4, 0.8..1.0, 0_usize..4).prop_map(
        |(conventions, headroom, threshold, which)| match which {
            0 => Algorithm::Skdl {
                threshold,
                headroom,
                code_penalty: 0.01,
                atom_penalty: 1e-4,
                code_rate: 1.0,
                atom_rate: 1.0,
                conventions,
            },
            1 => Algorithm::Okdlrs {
                headroom,
                caution: 1.1,
                least_curvature: 0.0,
                alternations: 20,
                conventions,
            },
            _ => Algorithm::Okdlfb {
                threshold,
                headroom,
                code_penalty: 0.05,
                decay: 0.01,
                rate: 0.1,
                space: [GradientSpace::Feature, GradientSpace::Parameter][which - 2],
                conventions,
            },
        },
    )
}

prop_compose! {
    /// Settings of any learner, small enough to be quick.
    fn any_settings()(
        n_atoms in 2_usize..9,
        sparsity_share in 0.1_f64..1.0,
        batch_size in 1_usize..7,
        room in 5_usize..25,
        kernel in kernels(),
        forgetting in schedules(),
        regularisation in prop::sample::select(vec![0.0, 0.1, 1.0]),
        normalisation in normalisations(),
        start in prop::sample::select(vec![Start::Random, Start::FarthestFirst { pool: 30 }]),
        pursuit in prop::sample::select(vec![Pursuit::Ormp, Pursuit::Omp]),
        calibration in prop::sample::select(vec![0.0, 0.25]),
        algorithm in algorithms(),
    ) -> LearnerSettings {
        LearnerSettings {
            kernel,
            n_atoms,
            sparsity: 1 + (sparsity_share * (n_atoms - 1) as f64) as usize,
            pursuit,
            error_limit: 1e-6,
            batch_size,
            budget: n_atoms + room,
            start,
            forgetting,
            regularisation,
            normalisation,
            calibration,
            head: None,
            gate: false,
            algorithm,
        }
    }
}

fn told(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}

/// The same cases in every run: a failure can be repeated, and none comes by chance. ATOMSCOPE_PROPERTY_SEED begins
/// elsewhere, and ATOMSCOPE_PROPERTY_CASES tells how many.
fn config() -> ProptestConfig {
    let seed = told("ATOMSCOPE_PROPERTY_SEED").unwrap_or(20_260);
    let n_cases = told("ATOMSCOPE_PROPERTY_CASES").unwrap_or(2000);
    ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed.into()),
        ..ProptestConfig::with_cases(n_cases)
    }
}

/// A stream of `n_classes` classes over random samples, class c taking every n-th.
fn orders(n_classes: usize, n: usize) -> Vec<Vec<usize>> {
    (0..n_classes)
        .map(|c| (c..n).step_by(n_classes).collect())
        .collect()
}

fn ran_over_budget(class: &ClassReport) -> bool {
    let over = |repair: &Repair| matches!(repair, Repair::OverBudget { .. });
    class.health.repairs.iter().any(over)
}

/// A state without the sums of code sizes, as earlier versions wrote it.
fn without_code_sizes(state: &LearnerState) -> LearnerState {
    let mut text = ron::to_string(state).expect("the state can be written");
    while let Some(begin) = text.find("code_sizes:[") {
        let length = text[begin..].find("],").expect("a list ends") + 2;
        text.replace_range(begin..begin + length, "");
    }
    ron::from_str(&text).expect("and read")
}

#[test]
fn a_state_of_an_earlier_version_goes_on() {
    let settings = LearnerSettings {
        n_atoms: 5,
        sparsity: 2,
        batch_size: 4,
        budget: 20,
        ..LearnerSettings::paper_text()
    };
    let samples = random_samples(5, 8, 150);
    let mut stream = SampleStream::new(samples.view(), orders(3, 150), Supply::Repeat);
    let (mut learner, _) = start_learner(&settings, &mut stream, 1).expect("sound");
    let mut report = StepReport::default();
    let progress = |round| Progress {
        round,
        n_rounds: 30,
    };
    for round in 0..15 {
        let step = learner.step(progress(round), &mut stream, &mut report);
        step.expect("sound samples");
    }
    let older = without_code_sizes(&learner.state());
    let LearnerState::Krls { profiles, .. } = &older else {
        panic!("a state of KRLS");
    };
    assert!(profiles.iter().all(|profile| profile.code_sizes.is_empty()));
    let mut other = resume_learner(&settings, older).expect("the state fits");
    let mut other_stream = SampleStream::resume(samples.view(), stream.state());
    let mut other_report = StepReport::default();
    for round in 15..30 {
        let step = learner.step(progress(round), &mut stream, &mut report);
        step.expect("sound samples");
        let step = other.step(progress(round), &mut other_stream, &mut other_report);
        step.expect("sound samples");
        assert_eq!(report, other_report);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn definitions_hold_after_every_step(
        settings in any_settings(),
        n_features in 1_usize..12,
        seed in any::<u64>(),
    ) {
        let mut settings = settings;
        let samples = random_samples(seed, n_features, 120);
        let mut stream = SampleStream::new(samples.view(), orders(3, 120), Supply::Repeat);
        let (mut learner, _) = start_learner(&settings, &mut stream, seed).expect("sound");
        let mut report = StepReport::default();
        let published = matches!(settings.algorithm, Algorithm::Krls { conventions: Conventions::Published, .. });
        // As their authors wrote them, methods bound no condition: of any seeds, some come too near to a singular matrix.
        let is_authors_own = published
            || matches!(settings.algorithm, Algorithm::Okdlrs { conventions: Conventions::Published, .. });
        prop_assume!(!is_authors_own || told("ATOMSCOPE_PROPERTY_SEED").is_none());
        for round in 0..24 {
            if round == 16 {
                let room = (seed % 25) as usize;
                settings.budget = settings.n_atoms + room;
                if let Some(headroom) = settings.algorithm.headroom_mut() {
                    *headroom = room.min(*headroom);
                }
                learner.change_settings(settings.clone()).expect("a budget may change");
            }
            let progress = Progress { round, n_rounds: 24 };
            learner.step(progress, &mut stream, &mut report).expect("sound samples");
            let error = error_of(learner.as_ref());
            prop_assert!(error < 1e-8, "round {round}: error {error:e}");
            for (c, class) in report.classes.iter().enumerate() {
                let n_kept = learner.dictionary(c).n_kept();
                prop_assert_eq!(class.n_kept, n_kept);
                let keeps_all = settings.algorithm.keeps_all();
                prop_assert!(n_kept <= settings.budget || keeps_all || (published && ran_over_budget(class)));
            }
        }
    }

    #[test]
    fn going_on_from_a_saved_state_is_bit_identical(
        settings in any_settings(),
        seed in any::<u64>(),
        cut in 1_usize..15,
    ) {
        let samples = random_samples(seed, 6, 150);
        let mut stream = SampleStream::new(samples.view(), orders(3, 150), Supply::Proportional);
        let (mut learner, _) = start_learner(&settings, &mut stream, seed).expect("sound");
        let mut report = StepReport::default();
        let progress = |round| Progress { round, n_rounds: 16 };
        for round in 0..cut {
            learner.step(progress(round), &mut stream, &mut report).expect("sound samples");
        }
        let saved = ron::to_string(&(learner.state(), stream.state())).expect("the state can be written");
        let (state, position): (LearnerState, _) = ron::from_str(&saved).expect("and read");
        let mut other_stream = SampleStream::resume(samples.view(), position);
        let mut other = resume_learner(&settings, state).expect("the state fits");
        let mut other_report = StepReport::default();
        for round in cut..16 {
            learner.step(progress(round), &mut stream, &mut report).expect("sound samples");
            other.step(progress(round), &mut other_stream, &mut other_report).expect("sound samples");
            prop_assert_eq!(&report, &other_report);
        }
        let write = |learner: &dyn Learner| ron::to_string(&learner.state()).expect("writable");
        prop_assert_eq!(write(learner.as_ref()), write(other.as_ref()));
    }

    #[test]
    fn permuting_the_classes_changes_nothing(settings in any_settings(), seed in any::<u64>()) {
        let samples = random_samples(seed, 8, 150);
        let mut settings = settings;
        let all = orders(3, 150);
        let n_atoms = settings.n_atoms;
        let starts: Vec<Vec<usize>> = all.iter().map(|o| o[..n_atoms].to_vec()).collect();
        let run = |settings: &LearnerSettings, order: [usize; 3]| {
            let settings = LearnerSettings {
                start: Start::Given(order.iter().map(|&c| starts[c].clone()).collect()),
                ..settings.clone()
            };
            let queues = order.iter().map(|&c| all[c][n_atoms..].to_vec()).collect();
            let mut stream = SampleStream::new(samples.view(), queues, Supply::Repeat);
            let (mut learner, _) = start_learner(&settings, &mut stream, seed).expect("sound");
            let mut report = StepReport::default();
            for round in 0..8 {
                let progress = Progress { round, n_rounds: 8 };
                learner.step(progress, &mut stream, &mut report).expect("sound samples");
            }
            order.iter().enumerate().map(|(place, &class)| {
                (class, learner.dictionary(place).clone())
            }).collect::<std::collections::BTreeMap<_, _>>()
        };
        // Rounding in the decision layer depends on the order of its sums.
        settings.sparsity = settings.sparsity.min(2);
        let (one, other) = (run(&settings, [0, 1, 2]), run(&settings, [2, 0, 1]));
        for (class, dictionary) in &one {
            let same = &other[class];
            prop_assert_eq!(dictionary.kept.index(), same.kept.index());
            // The atoms of a baseline are numbered by class.
            if !settings.algorithm.is_baseline() {
                prop_assert!(relative_error(&dictionary.atom_gram, &same.atom_gram) < 1e-7);
            }
        }
    }

    #[test]
    fn the_recursion_without_forgetting_is_the_batch_solution(
        kernel in kernels(),
        gamma in prop::sample::select(vec![0.0, 0.1]),
        batch_size in 1_usize..6,
        seed in any::<u64>(),
    ) {
        let samples = random_samples(seed, 7, 60);
        let settings = LearnerSettings {
            kernel,
            n_atoms: 5,
            sparsity: 2,
            batch_size,
            budget: 60,
            start: Start::Given(vec![(0..5).collect()]),
            forgetting: Forgetting::constant(1.0),
            regularisation: gamma,
            normalisation: Normalisation::Never,
            algorithm: Algorithm::Krls {
                growing: Growing::Always,
                pruning: Pruning::Oldest,
                headroom: 0,
                conventions: Conventions::Text,
            },
            ..LearnerSettings::paper_text()
        };
        let mut stream = SampleStream::new(samples.view(), vec![(5..60).collect()], Supply::Repeat);
        let (mut learner, _) = start_learner(&settings, &mut stream, 0).expect("sound");
        let mut report = StepReport::default();
        for round in 0..50 / batch_size {
            let progress = Progress { round, n_rounds: 50 };
            learner.step(progress, &mut stream, &mut report).expect("sound samples");
        }
        let LearnerState::Krls { profiles, .. } = learner.state() else { panic!("not KRLS") };
        let profile = &profiles[0];
        prop_assert!(profile.sample_weights.iter().all(|&weight| weight == 1.0));
        prop_assert!(profile.ridge.iter().all(|&ridge| ridge == gamma));
        // D = Φ Wᵀ (W Wᵀ + γI)⁻¹, Eq. (eqLSsol1).
        prop_assert!(krls_error(profile) < 1e-9);
    }
}

/// A damaged state is refused with a reason or learned from; it never panics.
#[test]
fn a_damaged_state_is_refused_with_a_reason() {
    let samples = random_samples(5, 6, 90);
    for preset in LearnerSettings::presets() {
        let mut settings = LearnerSettings {
            n_atoms: 4,
            sparsity: 2,
            batch_size: 3,
            budget: 12,
            ..preset.settings
        };
        if let Some(headroom) = settings.algorithm.headroom_mut() {
            *headroom = 2;
        }
        let mut stream = SampleStream::new(samples.view(), orders(2, 90), Supply::Repeat);
        let (mut learner, _) = start_learner(&settings, &mut stream, 1).expect("sound");
        let mut report = StepReport::default();
        let progress = Progress {
            round: 3,
            n_rounds: 9,
        };
        for _ in 0..6 {
            learner
                .step(progress, &mut stream, &mut report)
                .expect("sound samples");
        }
        let saved = ron::to_string(&learner.state()).expect("writable");
        let mut refused = 0;
        for (from, to) in [
            ("rows:4", "rows:2"),
            ("rows:12,cols:12", "rows:6,cols:24"),
            ("entered:[", "entered:[7,"),
            ("errors:[", "errors:[0.5,"),
            ("index:[", "index:[1,"),
            ("bias:[", "bias:[0.0,"),
            ("sparsity:2", "sparsity:0"),
            ("atoms:[", "atoms:[9,"),
            ("Gaussian", "Laplacian"),
            ("degree:2", "degree:3"),
            ("Linear", "Constant"),
            ("is_complete:true", "is_complete:7"),
            ("self_kernel:[", "self_kernel:[1.0,"),
            ("auxiliary:[", "auxiliary:[1.0,"),
        ] {
            let damaged = saved.replacen(from, to, 1);
            if damaged == saved {
                continue;
            }
            let Ok(state) = ron::from_str::<LearnerState>(&damaged) else {
                refused += 1;
                continue;
            };
            let refusal = resume_learner(&settings, state).err().expect("damaged");
            assert!(!refusal.to_string().is_empty());
            refused += 1;
        }
        let name = preset.name;
        assert!(
            refused >= 4,
            "{name}: only {refused} kinds of damage applied"
        );
    }
}

/// A step that is told to end leaves everything as it was and is done again later, on any
/// number of threads, with the same bits.
#[test]
fn an_interrupted_step_counts_as_not_begun() {
    let samples = random_samples(6, 6, 90);
    for preset in LearnerSettings::presets() {
        let mut settings = LearnerSettings {
            n_atoms: 4,
            sparsity: 2,
            budget: 20,
            ..preset.settings
        };
        if let Some(headroom) = settings.algorithm.headroom_mut() {
            *headroom = 2;
        }
        let mut stream = SampleStream::new(samples.view(), orders(3, 90), Supply::Repeat);
        let (mut learner, _) = start_learner(&settings, &mut stream, 1).expect("sound");
        let mut twin = resume_learner(&settings, learner.state()).expect("the state fits");
        let write = |learner: &dyn Learner| ron::to_string(&learner.state()).expect("writable");
        let (mut report, mut twin_report) = (StepReport::default(), StepReport::default());
        for round in 0..3 {
            let progress = Progress { round, n_rounds: 3 };
            let before = write(learner.as_ref());
            let raised = AtomicBool::new(true);
            let position = stream.state();
            let mut stopped = SampleStream::resume(samples.view(), position.clone())
                .until(StopSignal::new(&raised));
            // A baseline that has learned all there is has nothing to interrupt.
            let idle = settings.algorithm.is_baseline() && round > 0;
            let outcome = learner.step(progress, &mut stopped, &mut report);
            assert_eq!(outcome.is_err(), !idle, "{}", preset.name);
            assert_eq!(before, write(learner.as_ref()), "{}", preset.name);
            learner
                .step(progress, &mut stream, &mut report)
                .expect("sound samples");
            let mut threaded = SampleStream::resume(samples.view(), position).on_threads(2);
            twin.step(progress, &mut threaded, &mut twin_report)
                .expect("sound samples");
            assert_eq!(report, twin_report, "{}", preset.name);
        }
        assert_eq!(write(learner.as_ref()), write(twin.as_ref()));
    }
}

#[test]
fn pruning_equals_recomputation_without_the_samples() {
    let samples = random_samples(3, 6, 80);
    let settings = LearnerSettings {
        kernel: Kernel::Gaussian { width: 3.0 },
        n_atoms: 6,
        sparsity: 2,
        batch_size: 5,
        budget: 30,
        start: Start::Given(vec![(0..6).collect()]),
        normalisation: Normalisation::Never,
        ..LearnerSettings::paper_text()
    };
    let mut stream = SampleStream::new(samples.view(), vec![(6..80).collect()], Supply::Repeat);
    let (mut learner, _) = start_learner(&settings, &mut stream, 0).expect("sound");
    let mut report = StepReport::default();
    let mut n_removed = 0;
    for round in 0..14 {
        let progress = Progress {
            round,
            n_rounds: 14,
        };
        learner
            .step(progress, &mut stream, &mut report)
            .expect("sound samples");
        n_removed += report.classes[0].removed.len();
        // The definition over the samples that are left is the recomputation.
        assert!(error_of(learner.as_ref()) < 1e-10);
    }
    assert!(n_removed > 20, "only {n_removed} samples left");
}

/// RLS-DLA in signal space (Skretting and Engan): D and C updated sample by sample, the
/// atoms never normalised.
struct ExplicitRls {
    dictionary: Matrix,
    precision: Matrix,
}

impl ExplicitRls {
    fn learn(&mut self, x: &[f64], w: &[f64], factor: f64) {
        let q = w.len();
        for j in 0..q {
            for i in 0..q {
                self.precision[(i, j)] /= factor;
            }
        }
        let u: Vec<f64> = (0..q)
            .map(|i| (0..q).map(|j| self.precision[(i, j)] * w[j]).sum())
            .collect();
        let alpha = 1.0 / (1.0 + w.iter().zip(&u).map(|(a, b)| a * b).sum::<f64>());
        let residual: Vec<f64> = (0..x.len())
            .map(|i| x[i] - (0..q).map(|j| self.dictionary[(i, j)] * w[j]).sum::<f64>())
            .collect();
        for j in 0..q {
            for (i, r) in residual.iter().enumerate() {
                self.dictionary[(i, j)] += alpha * r * u[j];
            }
            for i in 0..q {
                self.precision[(i, j)] -= alpha * u[i] * u[j];
            }
        }
    }
}

#[test]
fn the_linear_kernel_is_rls_dla() {
    let samples = random_samples(9, 10, 90);
    let n_atoms = 6;
    let settings = LearnerSettings {
        kernel: Kernel::Linear,
        n_atoms,
        sparsity: 3,
        batch_size: 1,
        budget: 90,
        start: Start::Given(vec![(0..n_atoms).collect()]),
        forgetting: Forgetting::constant(0.97),
        regularisation: 0.0,
        normalisation: Normalisation::Never,
        algorithm: Algorithm::Krls {
            growing: Growing::Always,
            pruning: Pruning::Oldest,
            headroom: 0,
            conventions: Conventions::Text,
        },
        ..LearnerSettings::paper_text()
    };
    let mut stream = SampleStream::new(
        samples.view(),
        vec![(n_atoms..90).collect()],
        Supply::Repeat,
    );
    let (mut learner, _) = start_learner(&settings, &mut stream, 0).expect("sound");
    let mut explicit = ExplicitRls {
        dictionary: Matrix::from_fn(10, n_atoms, |i, j| samples[(i, j)]),
        precision: Matrix::identity(n_atoms),
    };
    let mut report = StepReport::default();
    for round in 0..84 {
        let x = samples.col(n_atoms + round);
        let gram = multiply(explicit.dictionary.view().t(), explicit.dictionary.view());
        let h = multiply(
            explicit.dictionary.view().t(),
            View::from_columns(x, x.len()),
        );
        let mut coder = SparseCoder::new(Pursuit::Ormp, 3, 1e-6);
        coder.prepare(gram.view());
        let (code, _) = coder.code(h.col(0), x.iter().map(|v| v * v).sum());
        let mut w = vec![0.0; n_atoms];
        code.into_iter().for_each(|(atom, value)| w[atom] = value);
        explicit.learn(x, &w, 0.97);
        let progress = Progress {
            round,
            n_rounds: 84,
        };
        learner
            .step(progress, &mut stream, &mut report)
            .expect("sound samples");
    }
    let found = learner.dictionary(0);
    let atoms = multiply(found.kept.matrix().view(), found.coefficients.view().t());
    assert!(relative_error(&atoms, &explicit.dictionary) < 1e-9);
}

/// ORMP by brute force: every step tries every atom and solves least squares anew. Like the coder it takes no atom of whose
/// squared length the atoms before it leave less than 1e-10.
fn brute_force_ormp(gram: &Matrix, h: &[f64], sigma: f64, sparsity: usize) -> (Vec<usize>, f64) {
    let length = |q: usize| gram[(q, q)].sqrt();
    let residual_with = |atoms: &[usize]| {
        let cosine = |p: usize, q: usize| gram[(p, q)] / (length(p) * length(q));
        let part = Matrix::from_fn(atoms.len(), atoms.len(), |i, j| cosine(atoms[i], atoms[j]));
        let mut factor = Cholesky::default();
        factor.factor(part.view()).ok()?;
        if factor.smallest_pivot() <= 1e-10 {
            return None;
        }
        let along: Vec<f64> = atoms.iter().map(|&q| h[q] / length(q)).collect();
        let mut w = along.clone();
        factor.solve(&mut w);
        let explained: f64 = along.iter().zip(&w).map(|(h, w)| h * w).sum();
        Some(sigma - explained)
    };
    let (mut chosen, mut residual) = (Vec::new(), sigma);
    while chosen.len() < sparsity && residual > 1e-6 * sigma {
        let mut best = None;
        for q in 0..h.len() {
            if chosen.contains(&q) {
                continue;
            }
            let mut tried = chosen.clone();
            tried.push(q);
            if let Some(left) = residual_with(&tried)
                && best.is_none_or(|(_, least)| left < least)
            {
                best = Some((q, left));
            }
        }
        let Some((q, left)) = best else { break };
        chosen.push(q);
        residual = left;
    }
    (chosen, residual)
}

/// How well rounding lets the squared residual of a code be known: factors of Ψ are exact for a Ψ + δΨ, whose entries are
/// off by some ε of the atoms' lengths, and r² = σ − 2 wᵀh + wᵀΨw is stationary in w, so that it changes by wᵀ δΨ w.
fn rounding_of_residual(gram: &Matrix, sigma: f64, code: &[(usize, f64)]) -> f64 {
    let lengths = code.iter().map(|&(q, w)| w.abs() * gram[(q, q)].sqrt());
    let size = sigma.sqrt() + lengths.sum::<f64>();
    64.0 * f64::EPSILON * size * size
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn ormp_equals_brute_force(
        n_features in 2_usize..6,
        n_atoms in 1_usize..6,
        sparsity in 1_usize..6,
        seed in any::<u64>(),
    ) {
        let mut random = random_stream(seed, "dictionary", 0);
        let atoms = Matrix::from_fn(n_features, n_atoms, |_, _| normal(&mut random));
        let x = Matrix::from_fn(n_features, 1, |_, _| normal(&mut random));
        let gram = multiply(atoms.view().t(), atoms.view());
        let h = multiply(atoms.view().t(), x.view());
        let sigma = multiply(x.view().t(), x.view())[(0, 0)];
        let mut coder = SparseCoder::new(Pursuit::Ormp, sparsity, 1e-6);
        coder.prepare(gram.view());
        let (code, residual) = coder.code(h.col(0), sigma);
        let (_, expected) = brute_force_ormp(&gram, h.col(0), sigma, sparsity);
        let bound = rounding_of_residual(&gram, sigma, &code);
        prop_assert!((residual - expected.max(0.0)).abs() <= bound);
        // The code reproduces the residual it claims.
        let mut left = x.clone();
        for (atom, value) in code {
            for i in 0..n_features {
                left[(i, 0)] -= value * atoms[(i, atom)];
            }
        }
        let norm = multiply(left.view().t(), left.view())[(0, 0)];
        prop_assert!((norm - residual).abs() <= bound);
    }
}
