//! Typing into the fields of the window.

use atomscope::ui::app::App;
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

/// Replaces what stands in a field.
pub(crate) fn type_into(harness: &mut Harness<'_, App>, role: Role, label: &str, text: &str) {
    harness.get_by_role_and_label(role, label).focus();
    harness.step();
    harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
    harness.step();
    harness.get_by_role_and_label(role, label).type_text(text);
    harness.step();
    harness.key_press(Key::Enter);
    for _ in 0..4 {
        harness.step();
    }
}
