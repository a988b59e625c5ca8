//! What a frame of the Train page costs while a run goes on at full speed.

use std::thread::sleep;
use std::time::{Duration, Instant};

use atomscope::ui::app::App;
use atomscope::ui::offscreen::Offscreen;
use atomscope::workbench::{Action, Stage, Workbench};
use cpu_time::ThreadTime;
use egui::{Theme, vec2};

const N_FRAMES: usize = 600;
/// Frames a second, as a display shows them.
const FRAME: Duration = Duration::from_micros(16_667);
const PATIENCE: Duration = Duration::from_secs(300);

/// Thread CPU time of building the interface and tessellating it, in milliseconds.
pub(crate) struct FrameTime {
    pub(crate) median_ms: f64,
    pub(crate) p99_ms: f64,
}

/// Frames of 1920 × 1080 while the workbench trains; a run that ends is begun again.
pub(crate) fn while_training(mut workbench: Workbench) -> FrameTime {
    workbench.apply(Action::LimitSpeed(None));
    workbench.apply(Action::Show(Stage::Train));
    let begun = Instant::now();
    while workbench.shown_test().is_none() {
        workbench.update();
        assert!(begun.elapsed() < PATIENCE, "the run does not start");
        sleep(Duration::from_millis(2));
    }
    let mut app = App::new(workbench, false);
    let mut window = Offscreen::new(vec2(1920.0, 1080.0), 1.0, Theme::Dark);
    let mut milliseconds: Vec<f64> = (0..N_FRAMES)
        .map(|_| {
            let next = Instant::now() + FRAME;
            let before = ThreadTime::now();
            window.frame(|ui| app.frame(ui));
            let primitives = window.context.tessellate(window.shapes(), 1.0);
            let spent = before.elapsed().as_secs_f64() * 1e3;
            assert!(!primitives.is_empty());
            let workbench = app.workbench_mut();
            if !workbench.training().is_alive() && !workbench.training().is_starting() {
                workbench.apply(Action::StartAnew);
            }
            sleep(next.saturating_duration_since(Instant::now()));
            spent
        })
        .collect();
    milliseconds.sort_by(f64::total_cmp);
    FrameTime {
        median_ms: milliseconds[N_FRAMES / 2],
        p99_ms: milliseconds[N_FRAMES * 99 / 100],
    }
}
