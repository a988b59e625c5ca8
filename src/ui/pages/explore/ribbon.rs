//! The place under the traces for what the model decides about each segment.

use egui::{Rangef, Ui};

use crate::workbench::explore::OpenedRecording;
use crate::workbench::{Action, Workbench};

/// The stretch of time that is shown, and where it lies on the screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownTime {
    /// Time at the left edge.
    pub(super) start_s: f64,
    /// Time from the left to the right edge.
    pub(super) span_s: f64,
    /// The edges.
    pub(super) x: Rangef,
}

impl ShownTime {
    /// Where a time lies on the screen.
    pub(super) fn x_of(&self, time_s: f64) -> f32 {
        let share = (time_s - self.start_s) / self.span_s;
        self.x.min + share.clamp(-1e3, 1e3) as f32 * self.x.span()
    }

    /// The time at a place of the screen.
    pub(super) fn time_at(&self, x: f32) -> f64 {
        self.start_s + f64::from((x - self.x.min) / self.x.span()) * self.span_s
    }
}

/// What is decided about the segments that are shown; nothing without a model.
pub(super) fn ribbon_ui(
    _ui: &mut Ui,
    _workbench: &Workbench,
    _opened: &OpenedRecording,
    _shown: ShownTime,
    _actions: &mut Vec<Action>,
) {
}
