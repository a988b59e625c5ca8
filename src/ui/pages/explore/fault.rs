//! The fault-record viewer: voltages and currents around a fault.

use egui::Ui;

use super::ribbon::{ShownTime, ribbon_ui};
use crate::ui::pages::signal::signal_ui;
use crate::workbench::explore::OpenedRecording;
use crate::workbench::{Action, Workbench};

/// The fault-record viewer.
pub(super) fn fault_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    opened: &OpenedRecording,
    actions: &mut Vec<Action>,
) {
    if let Some(signal) = &opened.signal {
        signal_ui(ui, signal, ui.available_height() * 0.85);
    }
    let shown = ShownTime {
        start_s: opened.signal.as_ref().map_or(0.0, |signal| signal.start_s),
        span_s: opened.record.duration_s().unwrap_or(1.0),
        x: ui.available_rect_before_wrap().x_range(),
    };
    ribbon_ui(ui, workbench, opened, shown, actions);
}
