//! What a frame costs while training.

use atomscope::workbench::{Action, Demo};

use super::driving::bare_workbench;
use crate::frame_time::while_training;

/// Far above what is wanted (8 ms), so that a busy machine or a profile without optimisation
/// does not fail it; the figure is printed, and the bench measures it on the largest data.
#[test]
fn frames_of_the_train_page_stay_cheap_while_training() {
    let mut workbench = bare_workbench();
    workbench.apply(Action::OpenDemo(Demo::FeederFaults));
    let time = while_training(workbench);
    println!(
        "frame of the Train page: median {:.1} ms, 99th percentile {:.1} ms",
        time.median_ms, time.p99_ms
    );
    assert!(time.p99_ms < 40.0, "99th percentile {} ms", time.p99_ms);
}
