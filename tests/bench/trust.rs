//! What decisions that can be trusted cost: the memory of all samples, the readout over them, and the
//! choice of settings.

use std::sync::Arc;
use std::time::Instant;

use atomscope_engine::dataset::{Dataset, DatasetParts, Origin, Place};
use atomscope_engine::experiment::{Experiment, Extent, News, Run, RunParts};
use atomscope_engine::learner::{Head, LearnerSettings, StopSignal};

use crate::workload::{Running, Sizes, best_of, samples};

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
    table += &format!(
        "| choosing settings on 10,000 samples of 64 features, 2 threads, s | {:.1} |\n",
        choosing_time()
    );
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
    let times = best_of(
        60,
        5,
        &mut [&mut || plain.step(), &mut || remembering.step()],
    );
    [times[0], times[1]]
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
        let begin = Instant::now();
        let solved = running.learner.readout(Head::E, StopSignal::default());
        assert!(solved.is_ok_and(|readout| readout.is_some()));
        best = best.min(begin.elapsed().as_secs_f64());
    }
    best
}

/// Seconds until the settings of an outer fold with 10,000 training samples are chosen.
fn choosing_time() -> f64 {
    let sizes = Sizes {
        n_classes: 5,
        ..Sizes::paper(64)
    };
    let per_class = 2_500;
    let made = samples(&sizes, per_class);
    let n_samples = per_class * sizes.n_classes;
    let dataset = Dataset::new(DatasetParts {
        feature_names: (0..sizes.n_features).map(|f| format!("f{f}")).collect(),
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
    let experiment = Experiment {
        auto: true,
        ..Experiment::default()
    };
    let checked = experiment.check(Arc::new(dataset.expect("the parts fit")));
    let parts = RunParts {
        folds: Some(vec![0]),
        final_model: false,
    };
    let checked = Arc::new(checked.expect("nothing is wrong"));
    let mut run = Run::new(checked, &parts, Vec::new()).expect("a fold");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    let pool = pool.expect("two threads");
    let begin = Instant::now();
    let mut news = Vec::new();
    loop {
        news.clear();
        pool.install(|| run.advance(Extent::Slice, &mut news))
            .expect("it runs");
        let is_chosen =
            |news: &News| matches!(news, News::Choosing(_, report) if report.chosen.is_some());
        if news.iter().any(is_chosen) || run.is_complete() {
            return begin.elapsed().as_secs_f64();
        }
    }
}
