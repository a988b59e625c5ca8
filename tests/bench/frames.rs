//! Frames of the Train page while the largest data set at hand is learned at full speed.

use std::path::Path;
use std::sync::Arc;

use atomscope::workbench::{Action, Demo, Draft, Workbench};
use atomscope_engine::session::Session;

use crate::frame_time::while_training;

/// Median and 99th percentile on the demo and, where its data are, on ISOLET.
pub(crate) fn table() -> String {
    let mut table = String::from("| data | median | 99th percentile |\n|---|---|---|\n");
    let mut demo = Workbench::new(None, Arc::new(|| {}));
    demo.apply(Action::OpenDemo(Demo::FeederFaults));
    table += &row("feeder demo", demo);
    if let Some(data) = std::env::var_os("ATOMSCOPE_DATA") {
        table += &row("ISOLET", isolet(Path::new(&data)));
    }
    table
}

fn row(name: &str, workbench: Workbench) -> String {
    let time = while_training(workbench);
    format!("| {name} | {:.1} | {:.1} |\n", time.median_ms, time.p99_ms)
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
