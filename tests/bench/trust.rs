//! What decisions that can be trusted cost: the memory of all samples, the readout over them, and the
//! choice of settings.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use atomscope_engine::dataset::{DataSettings, Dataset, DatasetParts, Origin, Place};
use atomscope_engine::experiment::{Experiment, Extent, News, Run, RunParts};
use atomscope_engine::learner::{Head, LearnerSettings, StopSignal};

use cpu_time::{ProcessTime, ThreadTime};

use crate::workload::{Running, Sizes, samples};

/// All costs.
pub(crate) fn table() -> String {
    let mut table = String::from("| what | measured |\n|---|---|\n");
    let [plain, remembering] = round_times();
    table += &format!(
        "| a round of 10 classes without and with v and M, µs | {:.0}, {:.0} ({:+.0} %) |\n",
        1e6 * plain,
        1e6 * remembering,
        100.0 * (remembering / plain - 1.0)
    );
    table += &format!(
        "| one solve of E, 1000 kept samples of 256 features, ms | {:.0} |\n",
        1e3 * solve_time()
    );
    let mut note = |what: &str, [elapsed, processor]: [f64; 2]| {
        table += &format!(
            "| choosing settings on {what}, 2 threads, s: elapsed, of processors | {elapsed:.1}, {processor:.1} |\n"
        );
    };
    note(
        "10,000 samples of 64 features",
        choosing_time(made_samples(10_000, 64)),
    );
    if let Some(usps) = std::env::var_os("ATOMSCOPE_DATA").and_then(|folder| usps(&folder)) {
        note("8800 samples of USPS", choosing_time(usps));
    }
    table
}

fn settings(sizes: &Sizes, head: Head) -> LearnerSettings {
    LearnerSettings {
        head: Some(head),
        ..sizes.settings(LearnerSettings::margin_aware())
    }
}

/// Seconds of a margin-aware round with the heads S and E.
fn round_times() -> [f64; 2] {
    let sizes = Sizes {
        n_classes: 10,
        ..Sizes::paper(256)
    };
    let samples = samples(&sizes, 700);
    let mut plain = Running::settled(&settings(&sizes, Head::S), &sizes, &samples);
    let mut remembering = Running::settled(&settings(&sizes, Head::E), &sizes, &samples);
    let mut best = [f64::INFINITY; 2];
    for _ in 0..100 {
        for (best, running) in best.iter_mut().zip([&mut plain, &mut remembering]) {
            let begin = ThreadTime::now();
            running.step();
            *best = best.min(begin.elapsed().as_secs_f64());
        }
    }
    best
}

/// Seconds of the readout over all samples seen; a round forgets the one solved before.
fn solve_time() -> f64 {
    let sizes = Sizes {
        n_classes: 5,
        ..Sizes::paper(256)
    };
    let samples = samples(&sizes, 700);
    let mut running = Running::settled(&settings(&sizes, Head::E), &sizes, &samples);
    let mut best = f64::INFINITY;
    for _ in 0..15 {
        running.step();
        let begin = ThreadTime::now();
        let solved = running.learner.readout(Head::E, StopSignal::default());
        assert!(solved.is_ok_and(|readout| readout.is_some()));
        best = best.min(begin.elapsed().as_secs_f64());
    }
    best
}

/// Five classes of which an outer fold learns `n_training` samples.
fn made_samples(n_training: usize, n_features: usize) -> Dataset {
    let sizes = Sizes {
        n_classes: 5,
        ..Sizes::paper(n_features)
    };
    let per_class = n_training / 4;
    let made = samples(&sizes, per_class);
    let n_samples = per_class * sizes.n_classes;
    let dataset = Dataset::new(DatasetParts {
        feature_names: (0..n_features).map(|f| format!("f{f}")).collect(),
        class_names: (0..sizes.n_classes).map(|c| format!("class {c}")).collect(),
        sources: vec!["made".into()],
        origins: (0..n_samples)
            .map(|row| Origin {
                source: 0,
                place: Place::Row(row),
            })
            .collect(),
        values: (0..n_samples).flat_map(|j| made.col(j).to_vec()).collect(),
        classes: (0..n_samples).map(|j| j / per_class).collect(),
        ..DatasetParts::default()
    });
    dataset.expect("the parts fit")
}

fn usps(folder: &std::ffi::OsStr) -> Option<Dataset> {
    let path = Path::new(folder).join("usps.mat");
    let data = DataSettings::for_path(&path, &mut |_| true).ok()?;
    let built = data.load(&|named| Some(named.to_owned()), &mut |_| true);
    built.ok().map(|built| built.dataset)
}

/// Seconds until the settings of the first of five outer folds are chosen, elapsed and of processors.
fn choosing_time(dataset: Dataset) -> [f64; 2] {
    let experiment = Experiment {
        auto: true,
        ..Experiment::default()
    };
    let checked = experiment.check(Arc::new(dataset));
    let parts = RunParts {
        folds: Some(vec![0]),
        final_model: false,
    };
    let checked = Arc::new(checked.expect("nothing is wrong"));
    let mut run = Run::new(checked, &parts, Vec::new()).expect("a fold");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    let pool = pool.expect("two threads");
    let (begin, processor) = (Instant::now(), ProcessTime::now());
    let mut news = Vec::new();
    loop {
        news.clear();
        pool.install(|| run.advance(Extent::Slice, &mut news))
            .expect("it runs");
        let is_chosen =
            |news: &News| matches!(news, News::Choosing(_, report) if report.chosen.is_some());
        if news.iter().any(is_chosen) || run.is_complete() {
            let times = [begin.elapsed(), processor.elapsed()];
            return times.map(|time| time.as_secs_f64());
        }
    }
}
