//! A number with symbol, slider, help and the reason why it is wrong.

use std::ops::RangeInclusive;

use egui::{DragValue, Response, RichText, Slider, SliderClamping, Stroke, Ui};

use crate::ui::theme;

/// Shorter a slider would not be of use.
const SHORTEST_SLIDER: f32 = 40.0;

/// What happened to a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// The value differs from the last frame's.
    pub changed: bool,
    /// The user has let go of it: the moment to remember for undo, if the value differs by then.
    pub finished: bool,
}

impl Edit {
    /// Both edits together.
    pub fn and(self, other: Self) -> Self {
        Self {
            changed: self.changed || other.changed,
            finished: self.finished || other.finished,
        }
    }

    fn of(response: &Response) -> Self {
        let held = response.is_pointer_button_down_on() || response.has_focus();
        let stepped = response.changed() && !held;
        Self {
            changed: response.changed(),
            finished: response.drag_stopped() || response.lost_focus() || stepped,
        }
    }
}

/// A setting that is a number.
pub struct NumberField<'a> {
    /// Its name, which is also its accessible name.
    pub label: &'a str,
    /// Its symbol in the paper; may be empty.
    pub symbol: &'a str,
    /// One line on what it does.
    pub help: &'a str,
    /// The unit after the number; may be empty.
    pub unit: &'a str,
    /// The range of the slider: what is sensible. Other values can be typed.
    pub range: RangeInclusive<f64>,
    /// Whether the slider is logarithmic.
    pub logarithmic: bool,
    /// Whether only whole numbers make sense.
    pub whole: bool,
    /// The value it has at first.
    pub default: f64,
    /// What is wrong with the value, in words.
    pub problem: Option<&'a str>,
}

impl NumberField<'_> {
    /// Draws label, number and slider, help below, and the problem if there is one.
    pub fn show(&self, ui: &mut Ui, value: &mut f64) -> Edit {
        let tones = theme::tones(ui);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            let edit = ui
                .horizontal(|ui| {
                    let label = self.label_ui(ui);
                    let typed = self.typed_ui(ui, value).labelled_by(label.id);
                    let slid = self.slider_ui(ui, value);
                    Edit::of(&typed).and(Edit::of(&slid))
                })
                .inner;
            match self.problem {
                Some(problem) => {
                    ui.label(RichText::new(problem).small().color(tones.error));
                }
                None => {
                    ui.label(RichText::new(self.help).small().color(tones.weak));
                }
            }
            edit
        })
        .inner
    }

    fn label_ui(&self, ui: &mut Ui) -> Response {
        let tones = theme::tones(ui);
        let size = theme::body_font(ui).size;
        let width = size * 12.0;
        let height = ui.spacing().interact_size.y;
        ui.allocate_ui_with_layout(
            egui::vec2(width, height),
            egui::Layout::left_to_right(egui::Align::Center),
            |ui| {
                ui.set_min_width(width);
                let response = ui.label(self.label);
                if !self.symbol.is_empty() {
                    ui.label(RichText::new(self.symbol).color(tones.weak));
                }
                self.explain(response)
            },
        )
        .inner
    }

    fn typed_ui(&self, ui: &mut Ui, value: &mut f64) -> Response {
        let tones = theme::tones(ui);
        let wrong = self.problem.is_some();
        let span = self.range.end() - self.range.start();
        let speed = if self.whole {
            (span / 400.0).max(0.1)
        } else if self.logarithmic {
            value.abs().max(self.range.start().abs()) * 0.01
        } else {
            span / 400.0
        };
        let whole = self.whole;
        let mut field = DragValue::new(value)
            .speed(speed)
            .custom_formatter(move |number, _| write_number(number, whole));
        if !self.unit.is_empty() {
            field = field.suffix(format!(" {}", self.unit));
        }
        let response = ui
            .scope(|ui| {
                let widgets = &mut ui.visuals_mut().widgets;
                for look in [
                    &mut widgets.inactive,
                    &mut widgets.hovered,
                    &mut widgets.active,
                ] {
                    look.weak_bg_fill = tones.surface;
                    if wrong {
                        look.bg_stroke = Stroke::new(1.5, tones.error);
                    } else if look.bg_stroke.color == egui::Color32::TRANSPARENT {
                        look.bg_stroke = Stroke::new(1.0, tones.hairline);
                    }
                }
                let width = theme::body_font(ui).size * 6.0;
                ui.add_sized([width, ui.spacing().interact_size.y], field)
            })
            .inner;
        self.explain(response)
    }

    fn slider_ui(&self, ui: &mut Ui, value: &mut f64) -> Response {
        let mut slider = Slider::new(value, self.range.clone())
            .show_value(false)
            .logarithmic(self.logarithmic)
            .clamping(SliderClamping::Never);
        if self.whole {
            slider = slider.integer();
        }
        let response = theme::with_slider_look(ui, |ui| {
            // In a narrow column with large text the slider gives way.
            let room = ui.available_width() - theme::GRID;
            let width = ui.spacing().slider_width;
            ui.spacing_mut().slider_width = width.min(room.max(SHORTEST_SLIDER));
            ui.add(slider)
        });
        let name = format!("{} slider", self.label);
        ui.ctx()
            .accesskit_node_builder(response.id, |node| node.set_label(name));
        self.explain(response)
    }

    /// The tooltip: what it does, symbol, default, sensible range.
    fn explain(&self, response: Response) -> Response {
        response.on_hover_ui(|ui| {
            let tones = theme::tones(ui);
            ui.set_max_width(theme::body_font(ui).size * 24.0);
            ui.label(self.help);
            let symbol = if self.symbol.is_empty() {
                String::new()
            } else {
                format!("{} in the paper · ", self.symbol)
            };
            let unit = if self.unit.is_empty() {
                String::new()
            } else {
                format!(" {}", self.unit)
            };
            let text = format!(
                "{symbol}default {}{unit} · sensible {} to {}{unit}",
                write_number(self.default, self.whole),
                write_number(*self.range.start(), self.whole),
                write_number(*self.range.end(), self.whole),
            );
            ui.label(RichText::new(text).small().color(tones.weak));
        })
    }
}

/// As many digits as the number has, up to five; small numbers as powers of ten.
fn write_number(number: f64, whole: bool) -> String {
    if whole {
        return format!("{number:.0}");
    }
    if number != 0.0 && number.is_finite() && !(1e-3..1e6).contains(&number.abs()) {
        return format!("{number:e}");
    }
    let text = format!("{number:.5}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_the_digits_they_have() {
        assert_eq!(write_number(0.98, false), "0.98");
        assert_eq!(write_number(200.0, true), "200");
        assert_eq!(write_number(200.0, false), "200");
        assert_eq!(write_number(1e-6, false), "1e-6");
        assert_eq!(write_number(0.0, false), "0");
    }
}
