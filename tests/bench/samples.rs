//! Time and memory of learning from many samples, in memory and on disk; each number of them in a process of its own.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use atomscope_engine::dataset::{Dataset, DatasetParts, Origin, Place};
use atomscope_engine::experiment::{Experiment, Extent, Run, RunParts};
use atomscope_engine::split::SplitPlan;
use cpu_time::ProcessTime;

use crate::classes::megabytes;

/// The argument that makes this program measure one number of samples and end.
const ALONE: &str = "--samples-alone";
const N_FEATURES: usize = 76;
const N_CLASSES: usize = 4;

/// The table, row by row from processes of their own.
pub(crate) fn table() -> String {
    let mut table = String::from(
        "| samples | from memory (s) | memory (MB) | from disk (s) | memory (MB) | speed from disk |\n|---|---|---|---|---|---|\n",
    );
    let program = std::env::current_exe().expect("this program has a file");
    for n_samples in [10_000, 100_000, 1_000_000] {
        let mut row = Command::new(&program);
        let row = row.args([ALONE, &n_samples.to_string()]).output();
        table += &String::from_utf8_lossy(&row.expect("it can be started").stdout);
    }
    table
}

/// Measures a row if the arguments ask for one.
pub(crate) fn is_measured(arguments: &[String]) -> bool {
    let place = arguments.iter().position(|argument| argument == ALONE);
    let Some(n_samples) = place.and_then(|place| arguments.get(place + 1)?.parse().ok()) else {
        return false;
    };
    println!("{}", row(n_samples));
    true
}

fn row(n_samples: usize) -> String {
    let in_memory = Arc::new(dataset(n_samples));
    let (memory_s, memory_mb) = learned(in_memory.clone());
    let on_disk = Arc::new(in_memory.on_disk().expect("room on disk"));
    drop(in_memory);
    let (disk_s, disk_mb) = learned(on_disk);
    format!(
        "| {n_samples} | {memory_s:.1} | {memory_mb:.0} | {disk_s:.1} | {disk_mb:.0} | {:.0} % |",
        100.0 * memory_s / disk_s
    )
}

/// Processor time of learning four fifths of the samples once, and the peak of memory meanwhile.
fn learned(dataset: Arc<Dataset>) -> (f64, f64) {
    // Linux begins the peak anew.
    drop(fs::write("/proc/self/clear_refs", "5"));
    let mut experiment = Experiment {
        split: SplitPlan::KFold {
            n_folds: 5,
            seed: 1,
        },
        ..Experiment::default()
    };
    (experiment.auto, experiment.tests.n_tests) = (false, 0);
    let checked = experiment.check(dataset).expect("it fits its data");
    let parts = RunParts {
        folds: Some(vec![0]),
        final_model: false,
    };
    let run = Run::new(Arc::new(checked), &parts, Vec::new());
    let mut run = run.expect("the fold exists").bare(false);
    let begin = ProcessTime::now();
    let mut news = Vec::new();
    while run.progress().n_done < run.progress().n_planned {
        run.advance(Extent::Slice, &mut news).expect("sound data");
        news.clear();
    }
    (begin.elapsed().as_secs_f64(), megabytes("VmHWM"))
}

fn dataset(n_samples: usize) -> Dataset {
    let value = |i: usize| {
        let (sample, feature) = (i / N_FEATURES, i % N_FEATURES);
        let noise = (i.wrapping_mul(7919) ^ sample.wrapping_mul(104_729)) % 10_007;
        ((sample % N_CLASSES * 31 + feature * 17) as f64).sin() + noise as f64 / 10_007.0
    };
    let origin = |row| Origin {
        source: 0,
        place: Place::Row(row),
    };
    let dataset = Dataset::new(DatasetParts {
        values: (0..n_samples * N_FEATURES).map(value).collect(),
        feature_names: (0..N_FEATURES).map(|k| k.to_string()).collect(),
        class_names: (0..N_CLASSES).map(|c| c.to_string()).collect(),
        classes: (0..n_samples).map(|sample| sample % N_CLASSES).collect(),
        sources: vec!["table.csv".into()],
        origins: (0..n_samples).map(origin).collect(),
        ..DatasetParts::default()
    });
    dataset.expect("parts of one length")
}
