//! The learners that the paper compares with: KMOD, sKDL, OKDLRS and OKDLFB on pages of USPS.

use atomscope_engine::learner::{
    Algorithm, Conventions, Draws, GradientProfile, GradientSpace, GradientStep, Kernel, Lasso,
    Learner, LearnerSettings, LearnerState, Progress, Pursuit, SampleStream, Samples, Start,
    StepReport, Supply, resume_learner, start_learner,
};
use atomscope_engine::math::{Cholesky, Matrix, add_scaled, dot, squared_norm};

use super::archive::{Archive, assert_close};

const POLY2: Kernel = Kernel::Polynomial {
    degree: 2,
    offset: 1.0,
};
const N_ATOMS: usize = 30;

/// The page of USPS that a reference file is about.
fn page_of(archive: &Archive) -> Option<Matrix> {
    let number = archive.numbers("page")[0] as usize;
    Archive::large("usps_pages.npz")?.usps_page(number)
}

/// One class that starts from the first 30 samples and takes ten at a time.
fn settings(algorithm: Algorithm) -> LearnerSettings {
    LearnerSettings {
        kernel: POLY2,
        n_atoms: N_ATOMS,
        start: Start::Given(vec![(0..N_ATOMS).collect()]),
        budget: 50,
        algorithm,
        ..LearnerSettings::as_published()
    }
}

/// `matrix` (one column per kept sample) with the columns in the order of the data set.
fn in_order(matrix: &Matrix, index: &[usize]) -> Matrix {
    let mut order: Vec<usize> = (0..index.len()).collect();
    order.sort_by_key(|&j| index[j]);
    Matrix::from_fn(matrix.rows(), matrix.cols(), |i, j| matrix[(i, order[j])])
}

fn transposed(matrix: &Matrix) -> Matrix {
    Matrix::from_fn(matrix.cols(), matrix.rows(), |i, j| matrix[(j, i)])
}

fn sorted(index: &[usize]) -> Vec<usize> {
    let mut sorted = index.to_vec();
    sorted.sort_unstable();
    sorted
}

/// Which samples of the page the columns of `kept` are.
fn places(page: &Matrix, kept: &Matrix) -> Vec<usize> {
    let place = |j: usize| {
        let same = |i: &usize| (0..256).all(|f| (page[(f, *i)] - kept[(f, j)]).abs() < 1e-9);
        (0..page.cols()).find(same).expect("a sample of the page")
    };
    (0..kept.cols()).map(place).collect()
}

fn step(learner: &mut dyn Learner, stream: &mut SampleStream<'_>, report: &mut StepReport) {
    let progress = Progress {
        round: 0,
        n_rounds: 1,
    };
    learner
        .step(progress, stream, report)
        .expect("sound samples");
}

#[test]
fn kmod() {
    let Some(archive) = Archive::large("kmod.npz") else {
        return;
    };
    let Some(page) = page_of(&archive) else {
        return;
    };
    let settings = LearnerSettings {
        pursuit: Pursuit::Omp,
        error_limit: 0.0,
        start: Start::Given(vec![archive.places("init_atoms")]),
        // 1e-7 on the diagonal of W Wᵀ, whose mean is about 1.5e4 here.
        ..settings(Algorithm::Kmod { ridge: 7e-12 })
    };
    let samples = archive.places("sample_index");
    let mut stream = SampleStream::new(page.view(), vec![samples], Supply::Repeat);
    let (mut learner, _) = start_learner(&settings, &mut stream, 0).expect("sound settings");
    let mut report = StepReport::default();
    for iteration in 1..=5 {
        step(learner.as_mut(), &mut stream, &mut report);
        if ![1, 2, 5].contains(&iteration) {
            continue;
        }
        let dictionary = learner.dictionary(0);
        assert_eq!(dictionary.n_kept(), 200);
        // The reference has atoms of length 1.
        let gram = &dictionary.atom_gram;
        let length = |q: usize| gram[(q, q)].sqrt();
        let cosines = Matrix::from_fn(N_ATOMS, N_ATOMS, |p, q| {
            gram[(p, q)] / (length(p) * length(q))
        });
        let name = format!("Psi_it{iteration}");
        assert_close(&name, &cosines, &archive.matrix(&name), 1e-9);
        let coefficients = in_order(&dictionary.coefficients, dictionary.kept.index());
        let scaled = Matrix::from_fn(N_ATOMS, 200, |q, j| coefficients[(q, j)] / length(q));
        let name = format!("A_it{iteration}");
        assert_close(&name, &transposed(&scaled), &archive.matrix(&name), 1e-9);
    }
}

/// Runs three mini-batches of ten with the stored random numbers; compares U (called `part` in
/// the file) and K after each.
fn replay(file: &str, part: &str, settings: &LearnerSettings) {
    let Some(archive) = Archive::large(file) else {
        return;
    };
    let Some(page) = page_of(&archive) else {
        return;
    };
    let order = (N_ATOMS..page.cols()).collect();
    let mut stream = SampleStream::new(page.view(), vec![order], Supply::Repeat);
    let (learner, _) = start_learner(settings, &mut stream, 0).expect("sound settings");
    let mut state = learner.state();
    if let LearnerState::Gradient { profiles, .. } = &mut state {
        profiles[0].draws = Draws::Listed {
            numbers: archive.numbers("randn_pool"),
            n_used: 0,
        };
    }
    let mut learner = resume_learner(settings, state).expect("the state fits");
    let mut report = StepReport::default();
    for batch in 1..=3 {
        step(learner.as_mut(), &mut stream, &mut report);
        let LearnerState::Gradient { profiles, .. } = learner.state() else {
            panic!("not the state of a gradient learner");
        };
        compare_profile(&archive, &page, &profiles[0], part, batch);
        let Draws::Listed { n_used, .. } = profiles[0].draws else {
            panic!("the draws were replaced");
        };
        let expected = archive.numbers(&format!("randn_used_b{batch}"))[0];
        assert_eq!(n_used, expected as usize, "{file}: random numbers used");
    }
}

fn compare_profile(
    archive: &Archive,
    page: &Matrix,
    profile: &GradientProfile,
    part: &str,
    batch: usize,
) {
    compare_kept(archive, page, profile, batch);
    let dictionary = &profile.dictionary;
    let name = format!("{part}_b{batch}");
    let index = dictionary.kept.index();
    let coefficients = transposed(&in_order(&dictionary.coefficients, index));
    assert_close(&name, &coefficients, &archive.matrix(&name), 1e-9);
}

/// Which samples are kept, and K.
fn compare_kept(archive: &Archive, page: &Matrix, profile: &GradientProfile, batch: usize) {
    let index = profile.dictionary.kept.index();
    let expected = places(page, &archive.matrix(&format!("X_b{batch}")));
    assert_eq!(sorted(index), expected, "kept after batch {batch}");
    let name = format!("K_b{batch}");
    let rows = in_order(&profile.kept_gram, index);
    let gram = in_order(&transposed(&rows), index);
    assert_close(&name, &gram, &archive.matrix(&name), 1e-12);
}

#[test]
fn skdl() {
    let settings = settings(Algorithm::Skdl {
        threshold: 0.9,
        headroom: 15,
        code_penalty: 0.0063,
        atom_penalty: 0.0011,
        code_rate: 1e-5,
        atom_rate: 1e-5,
        conventions: Conventions::Published,
    });
    for page in [0, 3] {
        replay(&format!("skdl_p{page}_v3.npz"), "C", &settings);
    }
}

#[test]
fn okdlrs() {
    let settings = settings(Algorithm::Okdlrs {
        headroom: 5,
        caution: 1.1,
        least_curvature: 0.2,
        alternations: 200,
        conventions: Conventions::Published,
    });
    for page in [0, 3] {
        replay(&format!("okdlrs_p{page}.npz"), "A", &settings);
    }
}

/// μ and ρ of the reference.
const DECAY: f64 = 0.1;
const RATE: f64 = 0.005;
/// Samples that stay when the reference prunes, in its third mini-batch.
const STAY: usize = 35;

fn okdlfb_settings(budget: usize, headroom: usize) -> LearnerSettings {
    LearnerSettings {
        budget,
        ..settings(Algorithm::Okdlfb {
            threshold: 0.9,
            headroom,
            code_penalty: 0.05,
            decay: DECAY,
            rate: RATE,
            space: GradientSpace::Feature,
            conventions: Conventions::Published,
        })
    }
}

/// The stored codes are replayed, because the ℓ1 solver of the reference stops early.
#[test]
fn okdlfb_with_the_stored_codes() {
    let settings = okdlfb_settings(50, 5);
    let descent = GradientStep {
        decay: DECAY,
        rate: RATE,
        is_relative: false,
        space: GradientSpace::Feature,
    };
    for number in [0, 3] {
        let Some(archive) = Archive::large(&format!("okdlfb_p{number}.npz")) else {
            return;
        };
        let Some(page) = page_of(&archive) else {
            return;
        };
        let all: Vec<usize> = (0..page.cols()).collect();
        let mut samples = Samples::new(256, page.cols());
        samples
            .load(&POLY2, page.view(), &all)
            .expect("sound samples");
        let mut stream = SampleStream::new(page.view(), vec![all], Supply::Repeat);
        let (learner, _) = start_learner(&settings, &mut stream, 0).expect("sound settings");
        let mut state = learner.state();
        let LearnerState::Gradient { profiles, .. } = &mut state else {
            panic!("not the state of a gradient learner");
        };
        let profile = &mut profiles[0];
        for batch in [1, 2] {
            let kept = places(&page, &archive.matrix(&format!("X_b{batch}")));
            let codes = archive.matrix(&format!("W_b{batch}"));
            let n_before = profile.dictionary.n_kept();
            for (j, &sample) in kept.iter().enumerate().skip(n_before) {
                profile.append_coded(&samples, sample, codes.col(j));
                descent.take(profile);
            }
            compare_profile(&archive, &page, profile, "U", batch);
            let name = format!("Psi_b{batch}");
            let gram = &profile.dictionary.atom_gram;
            assert_close(&name, gram, &archive.matrix(&name), 1e-9);
        }
        compare_third_batch(&archive, &page, &samples, state);
    }
}

/// In the third mini-batch of the reference m samples come (5 of page 0, 10 of page 3), and 4 of
/// the 5 and all of the 10 leave again before anything is stored: their codes are in no file, and
/// an exact ℓ1 code does not stand for one of a solver that stops early (with it another sample
/// would leave). So U cannot be replayed step by step; what it must be can still be met,
/// whatever those codes are:
///
/// - who is admitted is the learner's own decision, and so is who leaves if those whose codes are
///   not known leave first: then X and K are met, K to 1e-12;
/// - every row of U (L × Q here) is multiplied by one and the same
///   P = Π ((1 − μρ) I − ρ w wᵀ): the rows of the samples that stay besides the start samples
///   follow from the start samples that were kept, to 1e-9;
/// - P = (1 − μρ)^m (I − a matrix of rank m), so U − (1 − μρ)^m times the U before has rank m;
/// - the row of a sample that comes last is ρ w with its stored code.
///
/// Ψ is stale there in the code behind the reference.
fn compare_third_batch(archive: &Archive, page: &Matrix, samples: &Samples, state: LearnerState) {
    let before = archive.matrix("U_b2");
    let (last, codes) = (archive.matrix("U_b3"), archive.matrix("W_b3"));
    let kept = places(page, &archive.matrix("X_b3"));
    let kept_before = places(page, &archive.matrix("X_b2"));

    let admitted = third_step(page, &okdlfb_settings(50, 5), state.clone(), 50).1;
    let m = admitted.len();
    let mut state = state;
    let LearnerState::Gradient { profiles, .. } = &mut state else {
        panic!("not the state of a gradient learner");
    };
    for sample in admitted {
        let stored = kept.iter().position(|known| *known == sample);
        let code = stored.map_or(vec![0.0; N_ATOMS], |j| codes.col(j).to_vec());
        profiles[0].append_coded(samples, sample, &code);
    }
    // The first ten samples are kept already: none is admitted, but the budget is exceeded by one.
    let budget = kept_before.len() + m - 1;
    let settings = okdlfb_settings(budget, budget - STAY);
    let profile = third_step(page, &settings, state, 0).0;
    compare_kept(archive, page, &profile, 3);

    let shrunk = (1.0 - DECAY * RATE).powi(m as i32);
    let change = Matrix::from_fn(N_ATOMS, N_ATOMS, |j, q| {
        last[(j, q)] - shrunk * before[(j, q)]
    });
    assert_eq!(rank(change), m, "P differs from a multiple of I by rank m");

    for (j, sample) in kept.iter().enumerate().skip(N_ATOMS) {
        let Some(place) = kept_before.iter().position(|known| known == sample) else {
            assert_eq!(j + 1, kept.len(), "only a sample that comes last stays");
            for q in 0..N_ATOMS {
                assert!((last[(j, q)] - RATE * codes[(q, j)]).abs() < 1e-12);
            }
            continue;
        };
        let weights = weights_of(&before, place);
        for q in 0..N_ATOMS {
            let expected: f64 = (0..N_ATOMS).map(|i| weights[i] * last[(i, q)]).sum();
            let error = (last[(j, q)] - expected).abs();
            assert!(error < 1e-9, "sample {sample}, atom {q}: {error:e}");
        }
    }
}

/// One mini-batch of ten from `first` on: the profile after it, and who was admitted.
fn third_step(
    page: &Matrix,
    settings: &LearnerSettings,
    state: LearnerState,
    first: usize,
) -> (GradientProfile, Vec<usize>) {
    let order = (first..first + 10).collect();
    let mut stream = SampleStream::new(page.view(), vec![order], Supply::Repeat);
    let mut learner = resume_learner(settings, state).expect("the state fits");
    let mut report = StepReport::default();
    step(learner.as_mut(), &mut stream, &mut report);
    let LearnerState::Gradient { mut profiles, .. } = learner.state() else {
        panic!("not the state of a gradient learner");
    };
    (profiles.remove(0), report.classes[0].admitted.clone())
}

/// Row `place` of U as a combination of the rows of the start samples.
fn weights_of(rows: &Matrix, place: usize) -> Vec<f64> {
    let inner = |i: usize, j: usize| -> f64 {
        let terms = (0..N_ATOMS).map(|q| rows[(i, q)] * rows[(j, q)]);
        terms.sum()
    };
    let gram = Matrix::from_fn(N_ATOMS, N_ATOMS, inner);
    let mut factor = Cholesky::default();
    factor.factor(gram.view()).expect("near the identity");
    let mut weights: Vec<f64> = (0..N_ATOMS).map(|i| inner(i, place)).collect();
    factor.solve(&mut weights);
    weights
}

/// Columns that remain when each is freed of those before it, the longest first.
fn rank(mut matrix: Matrix) -> usize {
    let length = |matrix: &Matrix, j: usize| squared_norm(matrix.col(j)).sqrt();
    let longest = |matrix: &Matrix| {
        let columns = (0..matrix.cols()).map(|j| (length(matrix, j), j));
        columns.fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a })
    };
    let first = longest(&matrix).0;
    for rank in 0..matrix.cols() {
        let (size, place) = longest(&matrix);
        if size <= 1e-11 * first {
            return rank;
        }
        let direction: Vec<f64> = matrix.col(place).iter().map(|value| value / size).collect();
        for j in 0..matrix.cols() {
            let along = dot(&direction, matrix.col(j));
            add_scaled(matrix.col_mut(j), -along, &direction);
        }
    }
    matrix.cols()
}

#[test]
fn l1_codes_are_no_worse_than_the_stored_ones() {
    for number in [0, 3] {
        let Some(archive) = Archive::large(&format!("okdlfb_p{number}.npz")) else {
            return;
        };
        let gram = archive.matrix("l1_Psi");
        let h = archive.matrix("l1_h");
        let penalty = archive.numbers("lambda")[0];
        let objective = |w: &[f64]| {
            let fit: f64 = (0..w.len())
                .map(|q| {
                    let image: f64 = (0..w.len()).map(|p| gram[(q, p)] * w[p]).sum();
                    w[q] * (0.5 * image - h[(q, 0)])
                })
                .sum();
            fit + penalty * w.iter().map(|value| value.abs()).sum::<f64>()
        };
        let mut code = Vec::new();
        Lasso::default().code(&gram, h.col(0), penalty, &mut code);
        let (found, stored) = (objective(&code), objective(archive.matrix("l1_w").col(0)));
        assert!(
            found <= stored + 1e-9 * stored.abs(),
            "{found} against {stored}"
        );
    }
}
