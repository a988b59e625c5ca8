//! Readouts, what is seen and the gate against the numbers of a prototype (`trust.npz` beside the
//! data folder; skipped without it).
//!
//! In the prototype the kernel matrix of kept samples and that of a mini-batch carry 1e-9 on their
//! diagonals, cross kernels do not.

use std::path::Path;

use ndarray::ArrayD;

use super::gate::{Gate, quantile};
use super::readout::{ClassSamples, Readout};
use super::*;
use crate::math::Matrix;
use crate::records::{self, Mode, Record};

const KERNEL: Kernel = Kernel::NormalisedPolynomial {
    degree: 2,
    offset: 1.0,
};
/// What the prototype adds to diagonals.
const JITTER: f64 = 1e-9;

struct PrototypeNumbers(Record);

impl PrototypeNumbers {
    fn open() -> Option<Self> {
        let Some(data) = std::env::var_os("ATOMSCOPE_DATA") else {
            eprintln!("skipped: ATOMSCOPE_DATA is not set, so trust.npz is not compared");
            return None;
        };
        let path = Path::new(&data).join("../reference/trust.npz");
        if !path.exists() {
            eprintln!("skipped: there is no {}", path.display());
            return None;
        }
        Some(Self(
            records::open(&path, Mode::Tolerant).expect("the file opens"),
        ))
    }

    fn array(&self, name: &str) -> ArrayD<f64> {
        self.0.array(name).expect("numbers of that name")
    }

    fn list(&self, name: &str) -> Vec<f64> {
        self.array(name).iter().copied().collect()
    }

    fn matrix(&self, name: &str) -> Matrix {
        let array = self.array(name);
        let shape = array.shape().to_vec();
        Matrix::from_fn(shape[0], shape[1], |i, j| array[[i, j]])
    }

    /// Samples that are rows of the file.
    fn samples(&self, name: &str, rows: impl Iterator<Item = usize>) -> Samples {
        let array = self.array(name);
        let mut samples = Samples::new(array.shape()[1], 0);
        for row in rows {
            let x: Vec<f64> = (0..array.shape()[1]).map(|j| array[[row, j]]).collect();
            samples.push(&KERNEL, row, &x).expect("finite");
        }
        samples
    }

    /// The dictionaries of the three classes with what they have seen.
    fn classes(&self) -> Vec<(Dictionary, SeenSamples)> {
        let class: Vec<f64> = self.list("kept_class");
        let (sums, n_seen) = (self.list("kept_v"), self.list("n_seen"));
        (0..3)
            .map(|c| {
                let rows: Vec<usize> = (0..class.len())
                    .filter(|&i| class[i] as usize == c)
                    .collect();
                let dictionary = Dictionary {
                    kernel: KERNEL,
                    kept: self.samples("kept_X", rows.iter().copied()),
                    coefficients: self.matrix(&format!("kept_U_{c}")),
                    atom_gram: self.matrix(&format!("kept_Psi_{c}")),
                    span: None,
                };
                let seen = SeenSamples {
                    n_seen: n_seen[c] as u64,
                    sum: rows.iter().map(|&i| sums[i]).collect(),
                    second_moment: Some(self.matrix(&format!("kept_M_{c}"))),
                };
                (dictionary, seen)
            })
            .collect()
    }
}

fn assert_close(what: &str, found: &Matrix, expected: &Matrix, tolerance: f64) {
    assert_eq!(
        (found.rows(), found.cols()),
        (expected.rows(), expected.cols())
    );
    let scale = expected.max_abs();
    for j in 0..found.cols() {
        for i in 0..found.rows() {
            let error = (found[(i, j)] - expected[(i, j)]).abs() / scale;
            assert!(error <= tolerance, "{what} ({i}, {j}): {error:e}");
        }
    }
}

/// What a readout says of the test samples, a row per class.
fn read(
    readout: &Readout,
    numbers: &PrototypeNumbers,
    classes: &[(Dictionary, SeenSamples)],
) -> Matrix {
    let tests = numbers.samples("test_X", 0..40);
    let rows: Vec<Matrix> = classes
        .iter()
        .map(|(dictionary, _)| {
            let mut rows = Matrix::default();
            KERNEL.block(&tests, &dictionary.kept, &mut rows);
            rows
        })
        .collect();
    let mut sums = Matrix::default();
    readout.apply(tests.len(), |part| &rows[part], &mut sums);
    Matrix::from_fn(3, 40, |c, i| sums[(i, c)])
}

#[test]
fn readouts_are_those_of_the_prototype() {
    let Some(numbers) = PrototypeNumbers::open() else {
        return;
    };
    let classes = numbers.classes();
    let samples: Vec<ClassSamples<'_>> = classes
        .iter()
        .map(|(dictionary, seen)| ClassSamples {
            dictionary,
            seen: Some(seen),
        })
        .collect();
    let never = StopSignal::default();
    // K + 1e-9 I + ρσ̄ I with σ̄ = 1 + 1e-9.
    let joint = Readout::joint(&samples, 0.1 * (1.0 + JITTER) + JITTER, never).expect("solved");
    let expected = numbers.matrix("test_J");
    assert_close("J", &read(&joint, &numbers, &classes), &expected, 1e-9);
    for (head, name, tolerance) in [
        (Head::E, "test_E", 1e-6),
        (Head::E1, "test_E1", 1e-6),
        (Head::N, "test_N", 1e-9),
    ] {
        let readout = Readout::solve(head, &samples, never).expect("solved");
        let found = read(&readout, &numbers, &classes);
        assert_close(name, &found, &numbers.matrix(name), tolerance);
    }
}

#[test]
fn the_gate_is_that_of_the_prototype() {
    let Some(numbers) = PrototypeNumbers::open() else {
        return;
    };
    let mut fits = numbers.list("prequential_best_z1");
    fits.sort_unstable_by(f64::total_cmp);
    let threshold = quantile(&fits, 0.05);
    let expected = numbers.list("gate_q05")[0];
    assert!((threshold / expected - 1.0).abs() < 1e-9);
    let theta = numbers.list("theta_b");
    let gate = Gate {
        threshold,
        theta: [theta[0], theta[1]],
    };
    let z = numbers.array("test_z");
    let (s, e) = (numbers.matrix("test_S"), numbers.matrix("test_E"));
    let expected = numbers.matrix("gate_F");
    let mut found = Matrix::from_fn(3, 40, |c, i| s[(c, i)] + 4.0 * e[(c, i)]);
    for i in 0..40 {
        gate.apply(|c| [z[[0, c, i]], z[[1, c, i]]], found.col_mut(i));
    }
    assert_close("F", &found, &expected, 1e-9);
}

#[test]
fn a_step_is_that_of_the_prototype() {
    let Some(numbers) = PrototypeNumbers::open() else {
        return;
    };
    let settings = LearnerSettings {
        kernel: KERNEL,
        n_atoms: 8,
        sparsity: numbers.list("step_s")[0] as usize,
        batch_size: 6,
        budget: 40,
        normalisation: Normalisation::Never,
        head: Some(Head::E),
        algorithm: Algorithm::Evidence {
            novelty: numbers.list("step_nu")[0],
            pruning: Pruning::LeastLoss,
        },
        ..LearnerSettings::margin_aware()
    };
    let mut learner = Evidence::start(&settings, &numbers.samples("step_before_X", 0..8));
    let before = |name: &str| numbers.matrix(&format!("step_before_{name}"));
    let profile = &mut learner.profile;
    profile.dictionary.kept = numbers.samples("step_before_X", 0..40);
    profile.dictionary.coefficients = before("U");
    profile.dictionary.atom_gram = before("Psi");
    profile.dictionary.span = Some(Span::of_parts(before("P"), JITTER));
    profile.evidence = before("A");
    profile.errors = numbers.list("step_before_eta");
    profile.entered = (0..40).collect();
    profile.seen = Some(SeenSamples {
        n_seen: 0,
        sum: numbers.list("step_before_v"),
        second_moment: Some(before("Mm")),
    });
    let errors: Vec<f64> = numbers.list("step_e").iter().map(|e| e * e).collect();
    let weights = numbers.list("step_weights");
    let emphasis = evidence::Emphasis {
        weights: &weights,
        errors: &errors,
        memory_of_errors: numbers.list("step_kappa")[0],
    };
    let batch = numbers.samples("step_batch_X", 0..6);
    let factor = numbers.list("step_lambda")[0];
    let mut report = StepReport::default();
    report.clear(factor, 1, 8, 12);
    let dictionary = &learner.profile.dictionary;
    dictionary.code(&batch, 0..6, &mut learner.view);
    dictionary.measure_distances(&batch, &mut learner.view);
    learner.learn_coded(
        &settings,
        &batch,
        factor,
        Some(emphasis),
        &mut report.classes[0],
    );

    let profile = &learner.profile;
    let kept = &profile.dictionary.kept;
    let expected_x = numbers.matrix("step_after_X");
    // The samples stand in another order.
    let place = |row: usize| {
        let same = |i: &usize| {
            let pairs = kept.features(*i).iter().enumerate();
            pairs.fold(true, |same, (j, x)| same && *x == expected_x[(row, j)])
        };
        (0..kept.len()).find(same).expect("the same samples stay")
    };
    let places: Vec<usize> = (0..40).map(place).collect();
    let square = |matrix: &Matrix| Matrix::from_fn(40, 40, |i, j| matrix[(places[i], places[j])]);
    let column = |list: &[f64]| Matrix::from_fn(40, 1, |i, _| list[i]);
    let after = |name: &str| numbers.matrix(&format!("step_after_{name}"));
    let seen = profile.seen.as_ref().expect("seen");
    let sum: Vec<f64> = places.iter().map(|&i| seen.sum[i]).collect();
    let expected = column(&numbers.list("step_after_v"));
    assert_close("v", &column(&sum), &expected, 1e-9);
    let moment = seen.second_moment.as_ref().expect("M");
    assert_close("M", &square(moment), &after("Mm"), 1e-9);
    let span = profile.dictionary.span.as_ref().expect("P");
    assert_close("P", &square(span.inverse()), &after("P"), 1e-9);
    let u = &profile.dictionary.coefficients;
    let u = Matrix::from_fn(8, 40, |q, j| u[(q, places[j])]);
    assert_close("U", &u, &after("U"), 1e-9);
    let errors: Vec<f64> = places.iter().map(|&i| profile.errors[i]).collect();
    let expected = column(&numbers.list("step_after_eta"));
    assert_close("eta", &column(&errors), &expected, 1e-9);
    assert_eq!(seen.n_seen, 6);
}
