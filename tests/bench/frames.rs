//! Frames of the Train page while the largest data set at hand is learned at full speed.

use std::path::Path;
use std::sync::Arc;

use atomscope::workbench::{Action, Demo, Draft, Workbench};
use atomscope_engine::session::Session;

use crate::frame_time::while_training;

pub(crate) fn print_table() {
    println!("\nframes of the Train page, 1920 × 1080, 600 frames (thread CPU time, ms)");
    println!("| data | median | 99th percentile |\n|---|---|---|");
    let mut demo = Workbench::new(None, Arc::new(|| {}));
    demo.apply(Action::OpenDemo(Demo::FeederFaults));
    print_row("feeder demo", demo);
    match std::env::var_os("ATOMSCOPE_DATA") {
        Some(data) => print_row("ISOLET", isolet(Path::new(&data))),
        None => println!("ATOMSCOPE_DATA is not set: ISOLET is not measured"),
    }
}

fn print_row(name: &str, workbench: Workbench) {
    let time = while_training(workbench);
    println!("| {name} | {:.1} | {:.1} |", time.median_ms, time.p99_ms);
}

/// The shipped session on the data of a folder, started.
fn isolet(data: &Path) -> Workbench {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/isolet-margin.ron");
    let mut experiment = Session::load(&path).expect("it is shipped").experiment;
    experiment.data.rename_files(&|named| data.join(named));
    let mut workbench = Workbench::new(None, Arc::new(|| {}));
    let draft = Draft {
        experiment,
        ..Draft::default()
    };
    workbench.edit(draft, false);
    workbench.apply(Action::Start);
    workbench
}
