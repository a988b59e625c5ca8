//! Time and memory of learning and classifying many classes, each number of them in a process of its own.

use std::fs;
use std::process::Command;

use atomscope_engine::evaluation::Classifier;
use atomscope_engine::learner::{
    LearnerSettings, Progress, SampleStream, StepReport, Supply, start_learner,
};
use atomscope_engine::math::Matrix;
use cpu_time::ProcessTime;

/// The argument that makes this program measure one number of classes and end.
const ALONE: &str = "--classes-alone";
const N_FEATURES: usize = 19;
const PER_CLASS: usize = 40;
const N_ROUNDS: usize = 4;
const N_CLASSIFIED: usize = 256;

/// The table, row by row from processes of their own.
pub(crate) fn table() -> String {
    let mut table = String::from(
        "| classes | kept samples | a round (ms) | classify a sample (µs) | memory (MB) |\n|---|---|---|---|---|\n",
    );
    let program = std::env::current_exe().expect("this program has a file");
    for n_classes in [2, 10, 100, 500, 1000] {
        let mut row = Command::new(&program);
        let row = row.args([ALONE, &n_classes.to_string()]).output();
        table += &String::from_utf8_lossy(&row.expect("it can be started").stdout);
    }
    table
}

/// Measures a row if the arguments ask for one.
pub(crate) fn is_measured(arguments: &[String]) -> bool {
    let place = arguments.iter().position(|argument| argument == ALONE);
    let Some(n_classes) = place.and_then(|place| arguments.get(place + 1)?.parse().ok()) else {
        return false;
    };
    println!("{}", row(n_classes));
    true
}

fn row(n_classes: usize) -> String {
    let samples = Matrix::from_fn(N_FEATURES, n_classes * PER_CLASS, |i, j| {
        let noise = (i.wrapping_mul(7919) ^ j.wrapping_mul(104_729)) % 10_007;
        ((j % n_classes * 31 + i * 17) as f64).sin() + 0.5 * (noise as f64 / 10_007.0)
    });
    let before = megabytes("VmRSS");
    let of_class = |class: usize| (0..PER_CLASS).map(|k| class + k * n_classes).collect();
    let orders = (0..n_classes).map(of_class).collect();
    let mut stream = SampleStream::new(samples.view(), orders, Supply::Repeat);
    let settings = LearnerSettings::margin_aware();
    let (mut learner, _) = start_learner(&settings, &mut stream, 1).expect("sound samples");
    let mut report = StepReport::default();
    let begin = ProcessTime::now();
    for round in 0..N_ROUNDS {
        let progress = Progress {
            round,
            n_rounds: N_ROUNDS,
        };
        let learned = learner.step(progress, &mut stream, &mut report);
        learned.expect("sound samples");
    }
    let round_ms = 1e3 * begin.elapsed().as_secs_f64() / N_ROUNDS as f64;
    let index: Vec<usize> = (0..N_CLASSIFIED.min(samples.cols())).collect();
    let classifier = Classifier::of(learner.as_ref());
    let mut verdicts = Vec::with_capacity(index.len());
    let begin = ProcessTime::now();
    let classified = classifier.classify(
        samples.view(),
        &index,
        &mut classifier.work(),
        &mut verdicts,
    );
    classified.expect("sound samples");
    let sample_us = 1e6 * begin.elapsed().as_secs_f64() / index.len() as f64;
    let kept = (0..n_classes).map(|class| learner.dictionary(class).n_kept());
    format!(
        "| {n_classes} | {} | {round_ms:.1} | {sample_us:.0} | {:.0} |",
        kept.sum::<usize>(),
        megabytes("VmHWM") - before
    )
}

/// A line of Linux's list about this process; 0 elsewhere.
pub(crate) fn megabytes(key: &str) -> f64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(key));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}
