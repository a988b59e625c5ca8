//! The learners that the paper compares with: KMOD, sKDL, OKDLRS and OKDLFB on pages of USPS.

use atomscope::learner::{
    Algorithm, Conventions, Draws, GradientProfile, GradientSpace, GradientStep, Kernel, Lasso,
    Learner, LearnerSettings, LearnerState, Progress, Pursuit, SampleStream, Samples, Start,
    StepReport, Supply, resume_learner, start_learner,
};
use atomscope::math::Matrix;

use crate::archive::{Archive, assert_close};

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
    let dictionary = &profile.dictionary;
    let index = dictionary.kept.index();
    let expected = places(page, &archive.matrix(&format!("X_b{batch}")));
    assert_eq!(sorted(index), expected, "kept after batch {batch}");
    let name = format!("{part}_b{batch}");
    let coefficients = transposed(&in_order(&dictionary.coefficients, index));
    assert_close(&name, &coefficients, &archive.matrix(&name), 1e-9);
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

/// The stored codes are replayed: the ℓ1 solver of the reference stops early. In the third
/// mini-batch samples came and left again at once; their codes are not stored, so it ends after two.
#[test]
fn okdlfb_with_the_stored_codes() {
    let settings = settings(Algorithm::Okdlfb {
        threshold: 0.9,
        headroom: 5,
        code_penalty: 0.05,
        decay: 0.1,
        rate: 0.005,
        space: GradientSpace::Feature,
        conventions: Conventions::Published,
    });
    let descent = GradientStep {
        decay: 0.1,
        rate: 0.005,
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
        let LearnerState::Gradient { mut profiles, .. } = learner.state() else {
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
    }
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
