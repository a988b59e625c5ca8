//! How long a mini-batch and a classification take, as a ratio to their bare matrix products in
//! the same run, and every other measurement of `RESULTS.md`.
//!
//! `cargo bench` prints the tables of steps and classification and runs criterion. `cargo bench --
//! results` measures everything and writes `RESULTS.md`; `cargo bench -- results steps growth` only
//! those sections.

mod classes;
mod classify;
mod compared;
mod experiment;
#[path = "../window/frame_time.rs"]
mod frame_time;
mod frames;
mod growth;
mod large;
mod methods;
mod results;
mod samples;
mod segments;
mod step;
mod trends;
mod trust;
mod workload;

use results::Section;

/// Every section of `RESULTS.md`, in the order of the file.
const SECTIONS: &[Section] = &[
    Section {
        name: "steps",
        title: "One mini-batch",
        text: "Grow and prune, L = 200, Q = 30, M = 10, s = 5, one thread, best of many, in µs; \
               margin-aware: one round of 10 classes.",
        measure: || Some(step::table()),
    },
    Section {
        name: "classify",
        title: "Classifying",
        text: "2200 samples against 10 dictionaries, N = 256, L = 200, one thread, in ms.",
        measure: || Some(classify::table()),
    },
    Section {
        name: "compared",
        title: "The methods of the comparison",
        text: "One iteration or mini-batch of one class, one thread.",
        measure: || Some(compared::tables()),
    },
    Section {
        name: "growth",
        title: "How a mini-batch grows with every size",
        text: "One thread, in µs.",
        measure: || Some(growth::table()),
    },
    Section {
        name: "classes",
        title: "Many classes",
        text: "19 features, one thread: 40 samples of each class, 4 mini-batches of the margin-aware learner, then 256 \
               samples classified. Processor time; memory is the peak of a process of its own beyond the samples.",
        measure: || Some(classes::table()),
    },
    Section {
        name: "samples",
        title: "Many samples",
        text: "76 features, 4 classes, the margin-aware learner of new experiments: four fifths of the samples once, one \
               thread for one fold. Processor time; memory is the peak of the process, of which the samples themselves \
               are a part where they are in memory.",
        measure: || Some(samples::table()),
    },
    Section {
        name: "experiment",
        title: "The whole USPS experiment",
        text: "5 folds, tests of 2200 samples at 21 moments, 2 threads, in seconds of processor time. Matrix products \
               are counted as if every test compared all samples anew.",
        measure: experiment::table,
    },
    Section {
        name: "frames",
        title: "A frame of the window",
        text: "The Train page while a run proceeds at full speed, 600 frames of 1920 × 1080, thread \
               CPU time of building and tessellating, in ms.",
        measure: || Some(frames::table()),
    },
    Section {
        name: "segments",
        title: "An EEG segment",
        text: "Features of one segment at 250 Hz, one thread, fastest of five, in µs.",
        measure: || Some(segments::table()),
    },
    Section {
        name: "trends",
        title: "Trends of a day",
        text: "64 channels at 256 Hz without the rows of a model, from stored 16-bit noise, wall time.",
        measure: || Some(trends::table()),
    },
    Section {
        name: "trust",
        title: "Decisions that can be trusted",
        text: "Margin-aware, Q = 30, L = 200, M = 10; one thread but for the choice, best of many, processor time.",
        measure: || Some(trust::table()),
    },
    Section {
        name: "large",
        title: "A recording of a gigabyte",
        text: "EDF+C, 19 channels at 250 Hz.",
        measure: || Some(large::table()),
    },
    Section {
        name: "methods",
        title: "Accuracy and time of all methods",
        text: "The comparison of the paper as `atomscope reproduce` repeats it, seed 1.",
        measure: methods::tables,
    },
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let is_asked = |name: &str| arguments.iter().any(|argument| argument == name);
    if classes::is_measured(&arguments) || samples::is_measured(&arguments) || is_asked("--test") {
        // `cargo test --benches` only wants to know that the benches run.
        return;
    }
    if is_asked("results") {
        let mut chosen: Vec<&Section> = SECTIONS.iter().filter(|s| is_asked(s.name)).collect();
        if chosen.is_empty() {
            chosen = SECTIONS.iter().collect();
        }
        results::write(&chosen);
        return;
    }
    for section in SECTIONS.iter().take(3) {
        println!("{}", section.markdown().unwrap_or_default());
    }
}
