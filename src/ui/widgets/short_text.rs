//! Text that must fit a width.

use egui::{Color32, FontId, Ui};

/// The width of one line of text.
pub(in crate::ui) fn text_width(ui: &Ui, text: &str, font: &FontId) -> f32 {
    let text = text.to_owned();
    let galley = ui
        .painter()
        .layout_no_wrap(text, font.clone(), Color32::PLACEHOLDER);
    galley.size().x
}

/// The text, cut to a width with an ellipsis.
pub(in crate::ui) fn shortened(ui: &Ui, text: &str, font: &FontId, width: f32) -> String {
    if text_width(ui, text, font) <= width {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while kept.pop().is_some() {
        let short: String = kept.iter().chain(&['…']).collect();
        if text_width(ui, &short, font) <= width {
            return short;
        }
    }
    String::new()
}
