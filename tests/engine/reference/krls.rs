//! The paper's KRLS, as its authors' code runs it.

use atomscope_engine::learner::{
    Algorithm, ContributionNorm, Conventions, Forgetting, ForgettingShape, Growing, Kernel,
    KrlsProfile, LearnerSettings, LearnerState, Progress, Pruning, SampleStream, Start, StepReport,
    Supply, resume_learner, start_learner,
};
use atomscope_engine::math::Matrix;

use super::archive::{Archive, assert_close, by_entrance, columns, rows_and_columns};

const POLY2: Kernel = Kernel::Polynomial {
    degree: 2,
    offset: 1.0,
};

/// What distinguishes one trajectory from another.
struct Trajectory {
    archive: Archive,
    samples: Matrix,
    kernel: Kernel,
    growing: Growing,
    batch_size: usize,
    regularisation: f64,
    n_atoms: usize,
    sparsity: usize,
    budget: usize,
    headroom: usize,
    start_value: f64,
    tolerance: f64,
    /// Names of the snapshots before and after the first pruning.
    around_pruning: [&'static str; 2],
    /// How the list of kept samples is called in a snapshot.
    index_name: &'static str,
}

impl Trajectory {
    fn settings(&self) -> LearnerSettings {
        LearnerSettings {
            kernel: self.kernel,
            n_atoms: self.n_atoms,
            sparsity: self.sparsity,
            batch_size: self.batch_size,
            budget: self.budget,
            start: Start::Given(vec![(0..self.n_atoms).collect()]),
            forgetting: Forgetting {
                shape: ForgettingShape::Linear,
                start_value: self.start_value,
                ramp_share: 0.8,
            },
            regularisation: self.regularisation,
            algorithm: Algorithm::Krls {
                growing: self.growing,
                pruning: Pruning::LeastContributionOlderHalf(ContributionNorm::L1),
                headroom: self.headroom,
                conventions: Conventions::Published,
            },
            ..LearnerSettings::as_published()
        }
    }

    /// Runs the whole trajectory and compares every step and every snapshot.
    fn compare(&self) {
        let settings = self.settings();
        let factors = self.archive.numbers("lambda_batch");
        let accepted = self.archive.array("accepted");
        let before = self.archive.numbers("L_before_grow");
        let after = self.archive.numbers("L_after_grow");
        let pruned = self.archive.array("pruned_samples");
        let first_prune = self.archive.numbers("first_prune_batch")[0] as usize;
        let order = (self.n_atoms..self.samples.cols()).collect();
        let mut stream = SampleStream::new(self.samples.view(), vec![order], Supply::Repeat);
        let (mut learner, remarks) =
            start_learner(&settings, &mut stream, 0).expect("the settings are sound");
        assert_eq!(remarks, [None]);
        self.compare_snapshot("init", &profile(learner.state()));
        let mut report = StepReport::default();
        for (b, &factor) in factors.iter().enumerate() {
            let progress = Progress {
                round: b,
                n_rounds: factors.len(),
            };
            if b + 1 == first_prune {
                let [pre, post] = self.around_pruning;
                self.compare_snapshot(pre, &profile(learner.state()));
                self.compare_snapshot(
                    post,
                    &self.pruned_only(learner.state(), &mut stream.clone(), progress),
                );
            }
            let n_before = learner.dictionary(0).n_kept();
            learner
                .step(progress, &mut stream, &mut report)
                .expect("the samples are sound");
            let class = &report.classes[0];
            assert!(
                (report.forgetting_factor - factor).abs() < 1e-14,
                "λ of batch {b}"
            );
            let first = self.n_atoms + b * self.batch_size;
            let expected: Vec<usize> = (0..self.batch_size)
                .filter(|&i| accepted[[b, i]] != 0.0)
                .map(|i| first + i)
                .collect();
            assert_eq!(class.admitted, expected, "admitted in batch {b}");
            let mut removed: Vec<usize> = class.removed.iter().map(|(index, _)| *index).collect();
            removed.sort_unstable();
            let mut expected: Vec<usize> = pruned
                .index_axis(ndarray::Axis(0), b)
                .iter()
                .filter(|&&n| n > 0.0)
                .map(|&n| n as usize - 1)
                .collect();
            expected.sort_unstable();
            assert_eq!(removed, expected, "removed in batch {b}");
            assert_eq!(n_before - removed.len(), before[b] as usize);
            assert_eq!(class.n_kept, after[b] as usize);
            for snapshot in [(1, "b1"), (5, "b5"), (factors.len(), "last")] {
                if b + 1 == snapshot.0 {
                    self.compare_snapshot(snapshot.1, &profile(learner.state()));
                }
            }
        }
    }

    /// The state after the pruning of a step alone: growing is closed by its threshold.
    fn pruned_only(
        &self,
        state: LearnerState,
        stream: &mut SampleStream<'_>,
        progress: Progress,
    ) -> KrlsProfile {
        let mut settings = self.settings();
        if let Algorithm::Krls { growing, .. } = &mut settings.algorithm {
            *growing = Growing::Coherence { threshold: 0.0 };
        }
        let mut learner = resume_learner(&settings, state).expect("the state fits");
        let mut report = StepReport::default();
        learner
            .step(progress, stream, &mut report)
            .expect("the samples are sound");
        assert!(report.classes[0].admitted.is_empty());
        profile(learner.state())
    }

    fn compare_snapshot(&self, snapshot: &str, profile: &KrlsProfile) {
        let name = |part: &str| format!("{snapshot}_{part}");
        if self.archive.try_array(&name("C")).is_none() {
            return;
        }
        let order = by_entrance(&profile.entered);
        let index_name = name(self.index_name);
        if self.archive.try_array(&index_name).is_some() {
            let kept: Vec<usize> = order
                .iter()
                .map(|&j| profile.dictionary.kept.index()[j])
                .collect();
            assert_eq!(kept, self.archive.places(&index_name), "{index_name}");
        }
        let mut codes = Matrix::default();
        profile.codes.write_dense(self.n_atoms, &mut codes);
        let close = |part: &str, found: &Matrix| {
            let what = name(part);
            assert_close(&what, found, &self.archive.matrix(&what), self.tolerance);
        };
        close("W", &columns(&codes, &order));
        close("C", &profile.code_precision);
        close("U", &columns(&profile.dictionary.coefficients, &order));
        close("Psi", &profile.dictionary.atom_gram);
        if self.archive.try_array(&name("K")).is_some() {
            close("K", &rows_and_columns(&profile.kept_gram, &order));
        }
        if self.archive.try_array(&name("lambda")).is_some() {
            let weights = Matrix::from_fn(order.len(), 1, |i, _| profile.sample_weights[order[i]]);
            let expected = self.archive.numbers(&name("lambda"));
            let expected = Matrix::from_fn(order.len(), 1, |i, _| expected[i]);
            assert_close(&name("lambda"), &weights, &expected, self.tolerance);
        }
    }
}

fn profile(state: LearnerState) -> KrlsProfile {
    match state {
        LearnerState::Krls { mut profiles, .. } => profiles.remove(0),
        other => panic!("not the state of the paper's KRLS: {other:?}"),
    }
}

fn compare_small(name: &str, kernel: Kernel, growing: Growing, batch_size: usize, gamma: f64) {
    let archive = Archive::small(name);
    Trajectory {
        samples: archive.matrix("X"),
        archive,
        kernel,
        growing,
        batch_size,
        regularisation: gamma,
        n_atoms: 8,
        sparsity: 3,
        budget: 40,
        headroom: 4,
        start_value: 0.95,
        tolerance: 1e-9,
        around_pruning: ["pre", "post"],
        index_name: "index",
    }
    .compare();
}

#[test]
fn small_polynomial_with_coherence_and_regularisation() {
    compare_small(
        "krls_a_poly2_coherency_m4_g01.npz",
        POLY2,
        Growing::Coherence { threshold: 0.9 },
        4,
        0.1,
    );
}

#[test]
fn small_polynomial_with_representation() {
    compare_small(
        "krls_a_poly2_representation_m4_g0.npz",
        POLY2,
        Growing::RepresentationAsPublished { threshold: 0.93 },
        4,
        0.0,
    );
}

#[test]
fn small_gaussian_sample_by_sample() {
    compare_small(
        "krls_b_gauss1p5_coherency_m1_g01.npz",
        Kernel::Gaussian { width: 1.5 },
        Growing::Coherence { threshold: 0.95 },
        1,
        0.1,
    );
}

#[test]
fn small_gaussian_with_projection() {
    compare_small(
        "krls_b_gauss1p5_projection_m4_g01.npz",
        Kernel::Gaussian { width: 1.5 },
        Growing::Projection { threshold: 0.95 },
        4,
        0.1,
    );
}

#[test]
fn small_linear() {
    compare_small(
        "krls_c_lin1_coherency_m4_g01.npz",
        Kernel::Linear,
        Growing::Coherence { threshold: 0.98 },
        4,
        0.1,
    );
}

#[test]
fn small_cubic_sample_by_sample() {
    compare_small(
        "krls_c_poly3_coherency_m1_g0.npz",
        Kernel::Polynomial {
            degree: 3,
            offset: 1.0,
        },
        Growing::Coherence { threshold: 0.95 },
        1,
        0.0,
    );
}

/// A USPS page (scaled to 0 … 1) as samples.
fn usps_page(page: usize) -> Option<Matrix> {
    let pages = Archive::large("usps_pages.npz")?;
    pages.usps_page(page)
}

fn compare_large(name: &str, samples: Matrix, kernel: Kernel, growing: Growing, tolerance: f64) {
    let Some(archive) = Archive::large(name) else {
        return;
    };
    let batch_size = archive.numbers("M")[0] as usize;
    let regularisation = archive.numbers("Gamma")[0];
    Trajectory {
        archive,
        samples,
        kernel,
        growing,
        batch_size,
        regularisation,
        n_atoms: 30,
        sparsity: 5,
        budget: 200,
        headroom: 10,
        start_value: 0.98,
        tolerance,
        around_pruning: ["preprune1", "postprune1"],
        index_name: "x_index",
    }
    .compare();
}

fn growing_named(name: &str) -> Growing {
    match name {
        "rep093" => Growing::RepresentationAsPublished { threshold: 0.93 },
        "coh095" => Growing::Coherence { threshold: 0.95 },
        "proj095" => Growing::Projection { threshold: 0.95 },
        other => panic!("no criterion {other}"),
    }
}

#[test]
fn usps_trajectories() {
    let runs = [
        (0, "gauss4", "coh095", "M10_g0"),
        (0, "gauss4", "proj095", "M10_g0"),
        (0, "gauss4", "rep093", "M10_g0"),
        (0, "poly2", "coh095", "M10_g0"),
        (0, "poly2", "proj095", "M10_g0"),
        (0, "poly2", "rep093", "M10_g0"),
        (0, "poly2", "rep093", "M10_g01"),
        (0, "poly2", "rep093", "M1_g0"),
        (0, "poly2", "rep093", "M1_g01"),
        (3, "poly2", "coh095", "M10_g0"),
        (3, "poly2", "proj095", "M10_g0"),
        (3, "poly2", "rep093", "M10_g0"),
        (3, "poly2", "rep093", "M10_g01"),
        (9, "poly2", "rep093", "M10_g0"),
    ];
    for (page, kernel_name, criterion, rest) in runs {
        let Some(samples) = usps_page(page) else {
            return;
        };
        let kernel = if kernel_name == "poly2" {
            POLY2
        } else {
            Kernel::Gaussian { width: 4.0 }
        };
        let name = format!("krls_traj_p{page}_{kernel_name}_{criterion}_{rest}.npz");
        eprintln!("{name}");
        compare_large(&name, samples, kernel, growing_named(criterion), 1e-9);
    }
}

#[test]
fn usps_with_duplicates_and_eeg_trajectories() {
    for (name, tolerance) in [
        ("krls_traj_usps_dup.npz", 1e-9),
        ("krls_traj_eeg_s311.npz", 1e-9),
        ("krls_traj_eeg_h509.npz", 1e-6),
    ] {
        let Some(archive) = Archive::large(name) else {
            return;
        };
        eprintln!("{name}");
        let samples = archive.matrix("X");
        compare_large(name, samples, POLY2, growing_named("rep093"), tolerance);
    }
}
