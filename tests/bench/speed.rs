//! How long a mini-batch and a classification take, as a ratio to their bare matrix
//! products in the same run. `cargo bench` prints the tables of the README; with
//! `cargo bench -- growth` also how the cost grows with every size, with `cargo bench -- large`
//! how a recording of a gigabyte is opened, with `cargo bench -- experiment` the whole USPS experiment,
//! with `cargo bench -- frames` what a frame of the window costs while training, with
//! `cargo bench -- segments` what an EEG segment costs.

mod classify;
mod compared;
mod experiment;
#[path = "../window/frame_time.rs"]
mod frame_time;
mod frames;
mod growth;
mod large;
mod segments;
mod step;
mod workload;

use criterion::Criterion;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--test") {
        // `cargo test --benches` only wants to know that the benches run.
        return;
    }
    if arguments.iter().any(|argument| argument == "growth") {
        growth::print_tables();
        return;
    }
    if arguments.iter().any(|argument| argument == "large") {
        large::print_table();
        return;
    }
    if arguments.iter().any(|argument| argument == "experiment") {
        experiment::print_table();
        return;
    }
    if arguments.iter().any(|argument| argument == "frames") {
        frames::print_table();
        return;
    }
    if arguments.iter().any(|argument| argument == "segments") {
        segments::print_table();
        return;
    }
    step::print_table();
    classify::print_table();
    compared::print_tables();
    let mut criterion = Criterion::default().configure_from_args();
    step::bench(&mut criterion);
    criterion.final_summary();
}
