//! The whole USPS experiment (5 folds, 60 mini-batches, tests of the held-out samples) against its bare matrix products.

use std::path::PathBuf;
use std::sync::Arc;

use atomscope_engine::dataset::Dataset;
use atomscope_engine::experiment::{Extent, Run, RunParts, RunSummary};
use atomscope_engine::learner::Algorithm;
use atomscope_engine::math::{Matrix, Write, product};
use atomscope_engine::session::{DataPlaces, Session};
use cpu_time::ProcessTime;
use rayon::prelude::*;

use crate::step::Floor;
use crate::workload::{Running, Sizes, samples};

const N_THREADS: usize = 2;
const REPEATS: usize = 3;

/// Accuracy and time of three sessions, then of their mini-batches; nothing without the data.
pub(crate) fn table() -> Option<String> {
    let mut table = String::from(
        "| session | accuracy | experiment | without calibration and baselines | matrix products | ratio | ratio without |\n\
         |---|---|---|---|---|---|---|\n",
    );
    let mut batches = String::from(
        "| session | a mini-batch in the run (µs) | alone (µs) | ratio |\n|---|---|---|---|\n",
    );
    for name in ["usps-paper", "usps-evidence", "usps-margin"] {
        let (session, dataset) = loaded(name)?;
        let pool = threads(N_THREADS);
        let mut accuracy = 0.0;
        let [whole, bare, floor] = fastest([
            &mut || accuracy = pool.install(|| experiment(&session, &dataset, Extras::All)),
            &mut || {
                pool.install(|| experiment(&session, &dataset, Extras::None));
            },
            &mut || pool.install(|| bare_products(&session)),
        ]);
        table += &format!(
            "| {name} | {:.2} % | {whole:.2} | {bare:.2} | {floor:.2} | {:.2} | {:.2} |\n",
            100.0 * accuracy,
            whole / floor,
            bare / floor
        );
        let (in_run, alone) = batch_times(session, &dataset);
        batches += &format!(
            "| {name} | {:.0} | {:.0} | {:.2} |\n",
            1e6 * in_run,
            1e6 * alone,
            in_run / alone
        );
    }
    Some(format!(
        "{table}\nA mini-batch of one class in a fold without tests, on one thread, everything but reading the \
         data included; and that of the same learner alone, over and over, as in the first table.\n\n{batches}"
    ))
}

fn loaded(name: &str) -> Option<(Session, Arc<Dataset>)> {
    let data = std::env::var_os("ATOMSCOPE_DATA")?;
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("sessions/{name}.ron"));
    let session = Session::load(&path).expect("it is shipped");
    let places = DataPlaces::new(None, &[PathBuf::from(&data)]);
    let locate = |named: &std::path::Path| places.locate(named);
    let built = session.experiment.data.load(&locate, &mut |_| true);
    let dataset = Arc::new(built.expect("the data load").dataset);
    Some((session, dataset))
}

fn threads(n_threads: usize) -> rayon::ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(n_threads)
        .build();
    pool.expect("threads can be started")
}

/// Seconds of processor time, each the best of some that take turns.
fn fastest<const N: usize>(mut work: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut fastest = [f64::INFINITY; N];
    for _ in 0..REPEATS {
        for (fastest, work) in fastest.iter_mut().zip(&mut work) {
            let begin = ProcessTime::now();
            work();
            *fastest = fastest.min(begin.elapsed().as_secs_f64());
        }
    }
    fastest
}

/// A mini-batch of one class in a run, and alone, in seconds.
fn batch_times(mut session: Session, dataset: &Arc<Dataset>) -> (f64, f64) {
    session.experiment.tests.n_tests = 0;
    let learner = session.experiment.learner.clone();
    let n_classes = match learner.algorithm {
        Algorithm::Margin { .. } => 10,
        _ => 1,
    };
    let sizes = Sizes {
        n_classes,
        ..Sizes::paper(256)
    };
    let samples = samples(&sizes, 700);
    let mut alone = Running::settled(&sizes.settings(learner.clone()), &sizes, &samples);
    let pool = threads(1);
    let n_steps = 300 / n_classes;
    let [in_run, alone] = fastest([
        &mut || {
            pool.install(|| experiment(&session, dataset, Extras::NoTest));
        },
        &mut || (0..n_steps).for_each(|_| alone.step()),
    ]);
    let n_rounds = session.experiment.training.n_rounds(&learner, 880);
    let n_batches = (10 * n_rounds) as f64;
    (in_run / n_batches, alone / (n_steps * n_classes) as f64)
}

/// What a run does beside learning.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extras {
    All,
    None,
    /// One fold, and not even the test at its end.
    NoTest,
}

/// Runs the folds; the accuracy at the last test.
fn experiment(session: &Session, dataset: &Arc<Dataset>, extras: Extras) -> f64 {
    let checked = session.experiment.clone().check(dataset.clone());
    let checked = Arc::new(checked.expect("it fits its data"));
    let parts = RunParts {
        folds: (extras == Extras::NoTest).then(|| vec![0]),
        final_model: false,
    };
    let run = Run::new(checked, &parts, Vec::new());
    let mut run = run.expect("the folds exist");
    if extras != Extras::All {
        run = run.bare(false);
    }
    let mut news = Vec::new();
    while !run.is_complete() {
        let progress = run.progress();
        if extras == Extras::NoTest && progress.n_done == progress.n_planned {
            break;
        }
        run.advance(Extent::Slice, &mut news).expect("sound data");
        news.clear();
    }
    let summary = RunSummary::of(run.checked().facts(), &run.complete_folds());
    summary.accuracy.map_or(0.0, |point| point.mean)
}

/// The matrix products of the same experiment, fold by fold on the same threads.
fn bare_products(session: &Session) {
    let learner = &session.experiment.learner;
    let n_rounds = session.experiment.training.n_rounds(learner, 880);
    let n_tests = session.experiment.tests.moments(n_rounds).len();
    let with_inverse = !matches!(learner.algorithm, Algorithm::Krls { .. });
    let sees_all = matches!(learner.algorithm, Algorithm::Margin { .. });
    (0..5).into_par_iter().for_each(|_| {
        let sizes = Sizes {
            n_classes: 10,
            ..Sizes::paper(256)
        };
        let n_coded = if sees_all { 100 } else { 10 };
        let mut step = Floor::new(sizes, n_coded, with_inverse);
        let mut test = TestFloor::new(sees_all);
        for _ in 0..n_rounds {
            step.run();
        }
        for _ in 0..n_tests {
            test.run();
        }
    });
}

/// The products of one test: every sample against the kept samples of all classes, U k and,
/// where the decision looks at distances, P k; in blocks that stay in the cache.
struct TestFloor {
    block: Matrix,
    kept: Matrix,
    kernel_rows: Matrix,
    coefficients: Matrix,
    inner_products: Matrix,
    inverse: Option<(Matrix, Matrix)>,
}

impl TestFloor {
    const BLOCK: usize = 128;

    fn new(with_distances: bool) -> Self {
        let filled =
            |rows, cols| Matrix::from_fn(rows, cols, |i, j| 1e-3 * ((i + 3 * j) % 7) as f64);
        Self {
            block: filled(256, Self::BLOCK),
            kept: filled(256, 200),
            kernel_rows: filled(Self::BLOCK, 200),
            coefficients: filled(30, 200),
            inner_products: filled(30, Self::BLOCK),
            inverse: with_distances.then(|| (filled(200, 200), filled(Self::BLOCK, 200))),
        }
    }

    fn run(&mut self) {
        for _ in 0..2200usize.div_ceil(Self::BLOCK) * 10 {
            let rows = self.kernel_rows.view_mut();
            product(
                rows,
                Write::Replace,
                self.block.view().t(),
                self.kept.view(),
            );
            product(
                self.inner_products.view_mut(),
                Write::Replace,
                self.coefficients.view(),
                self.kernel_rows.view().t(),
            );
            if let Some((inverse, weights)) = &mut self.inverse {
                let rows = self.kernel_rows.view();
                product(weights.view_mut(), Write::Replace, rows, inverse.view());
            }
        }
    }
}
