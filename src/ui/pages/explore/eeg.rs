//! The EEG browser: pages of time with all channels.

use egui::Ui;

use super::ribbon::{ShownTime, ribbon_ui};
use crate::ui::pages::signal::signal_ui;
use crate::workbench::explore::OpenedRecording;
use crate::workbench::{Action, Draft, Workbench};

/// The EEG browser.
pub(super) fn eeg_ui(
    ui: &mut Ui,
    workbench: &Workbench,
    opened: &OpenedRecording,
    _draft: &mut Draft,
    actions: &mut Vec<Action>,
) {
    if let Some(signal) = &opened.signal {
        signal_ui(ui, signal, ui.available_height() * 0.9);
    }
    let shown = ShownTime {
        start_s: 0.0,
        span_s: 10.0,
        x: ui.available_rect_before_wrap().x_range(),
    };
    ribbon_ui(ui, workbench, opened, shown, actions);
}
