//! Classifying 2200 samples against 10 dictionaries against the one big product.

use atomscope_engine::evaluation::Classifier;
use atomscope_engine::learner::{Kernel, LearnerSettings};
use atomscope_engine::math::{Matrix, Write, product};

use crate::workload::{Running, Sizes, best_of, samples};

/// The time of classifying, of the one product and their ratio for three decisions.
pub(crate) fn table() -> String {
    let mut table = String::from(
        "| decision | kernel | classify | one product | ratio |\n|---|---|---|---|---|\n",
    );
    let sizes = Sizes {
        n_classes: 10,
        ..Sizes::paper(256)
    };
    let samples = samples(&sizes, 400);
    let index: Vec<usize> = (0..2200).collect();
    let gaussian = Kernel::Gaussian { width: 6.0 };
    for (name, preset) in [
        ("smallest residual", LearnerSettings::evidence_preserving()),
        (
            "smallest residual",
            LearnerSettings {
                kernel: gaussian,
                ..LearnerSettings::evidence_preserving()
            },
        ),
        ("online logit, second look", LearnerSettings::margin_aware()),
    ] {
        let settings = sizes.settings(preset);
        let running = Running::settled(&settings, &sizes, &samples);
        let classifier = Classifier::of(running.learner.as_ref());
        let mut verdicts = Vec::with_capacity(index.len());
        let left = Matrix::from_fn(2200, 256, |i, j| ((i + j) % 7) as f64);
        let right = Matrix::from_fn(256, 2000, |i, j| ((i + j) % 5) as f64);
        let mut result = Matrix::zeros(2200, 2000);
        let times = best_of(
            10,
            1,
            &mut [
                &mut || {
                    // A new work area each time: pair solutions are not carried over.
                    verdicts.clear();
                    let mut work = classifier.work();
                    classifier
                        .classify(samples.view(), &index, &mut work, &mut verdicts)
                        .expect("sound samples");
                },
                &mut || product(result.view_mut(), Write::Replace, left.view(), right.view()),
            ],
        );
        table += &format!(
            "| {name} | {} | {:.0} | {:.0} | {:.2} |\n",
            kernel_name(&settings.kernel),
            1e3 * times[0],
            1e3 * times[1],
            times[0] / times[1]
        );
    }
    table
}

fn kernel_name(kernel: &Kernel) -> &'static str {
    match kernel {
        Kernel::Gaussian { .. } => "Gaussian",
        Kernel::NormalisedPolynomial { .. } => "normalised polynomial 2",
        _ => "polynomial 2",
    }
}
