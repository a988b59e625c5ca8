//! Numerical health in one line, with what it means in plain words.

use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, Ui};

use crate::ui::icons::{Icon, icon_mark};
use crate::ui::numbers::short;
use crate::ui::theme::{self, Tones};

/// The numerical condition of a dictionary, as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Health {
    /// Relative error of the recursion against the definition, where checked last.
    pub drift: f64,
    /// Smallest pivot of the last step relative to its diagonal element.
    pub smallest_pivot: f64,
    /// Estimated condition number.
    pub condition: f64,
    /// Atoms that no code used lately.
    pub unused_atoms: usize,
    /// Atoms in all.
    pub n_atoms: usize,
    /// Numerical corrections so far.
    pub repairs: usize,
    /// Mini-batches so far.
    pub n_batches: usize,
}

/// How serious a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grade {
    Well,
    Watch,
    Bad,
}

/// A line of numbers with marks.
pub struct HealthStrip {
    /// What is shown.
    pub health: Health,
}

struct Entry {
    name: &'static str,
    value: String,
    grade: Grade,
    meaning: &'static str,
}

impl HealthStrip {
    /// Draws the line; each number explains itself on hovering.
    pub fn show(&self, ui: &mut Ui) {
        let tones = theme::tones(ui);
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = theme::GRID * 0.75;
            for (place, entry) in self.entries().into_iter().enumerate() {
                let text = entry_text(ui, tones, &entry);
                let galley = ui.painter().layout_job(text.clone());
                let room = galley.size().x + theme::body_font(ui).size * 1.5 + 3.0 * theme::GRID;
                match place > 0 && ui.available_size_before_wrap().x < room {
                    true => ui.end_row(),
                    false if place > 0 => {
                        ui.add_space(theme::GRID);
                        ui.separator();
                        ui.add_space(theme::GRID);
                    }
                    false => {}
                }
                entry_ui(ui, tones, &entry, text);
            }
        });
    }

    fn entries(&self) -> [Entry; 5] {
        let health = &self.health;
        [
            Entry {
                name: "drift",
                value: short(health.drift),
                grade: grade(health.drift, 1e-8, 1e-4),
                meaning: "How far the recursion has moved from what a full computation gives. \
                          Below 1e−8 it is rounding; above 1e−4 the dictionary is recomputed.",
            },
            Entry {
                name: "smallest pivot",
                value: short(health.smallest_pivot),
                grade: grade(1.0 / health.smallest_pivot, 1e8, 1e12),
                meaning: "The least independent direction met in the last update, relative to its \
                          size. Near zero, two atoms or kept samples are almost the same.",
            },
            Entry {
                name: "condition",
                value: short(health.condition),
                grade: grade(health.condition, 1e8, 1e12),
                meaning: "By how much errors of the data may grow in the solution. Raise γ if it \
                          stays above 1e8.",
            },
            Entry {
                name: "unused atoms",
                value: format!("{} of {}", health.unused_atoms, health.n_atoms),
                grade: grade(
                    health.unused_atoms as f64 / health.n_atoms.max(1) as f64,
                    0.2,
                    0.5,
                ),
                meaning: "Atoms that no code used lately. Many of them: Q is larger than the class \
                          needs, or λ forgets too fast.",
            },
            Entry {
                name: "repairs",
                value: health.repairs.to_string(),
                grade: grade(self.correction_rate(), 0.5, 1.0),
                meaning: "Number of numerical corrections so far: a floor of evidence, a ridge, \
                          a recomputed inverse. With λ below 1 some are normal; a warning means \
                          that most atoms need one in every mini-batch. The log lists each.",
            },
        ]
    }

    /// Corrections for each atom and mini-batch. Forgetting takes the evidence of an atom that is
    /// not used, and a floor then replaces it: that is no trouble as long as it is the exception.
    fn correction_rate(&self) -> f64 {
        let Health {
            n_batches, n_atoms, ..
        } = self.health;
        self.health.repairs as f64 / (n_batches * n_atoms).max(1) as f64
    }
}

/// A NaN is bad: it compares with nothing.
fn grade(value: f64, watch: f64, bad: f64) -> Grade {
    if value <= watch {
        Grade::Well
    } else if value <= bad {
        Grade::Watch
    } else {
        Grade::Bad
    }
}

fn looks(grade: &Grade, tones: &Tones) -> (Option<Icon>, Color32) {
    match grade {
        Grade::Well => (None, tones.text),
        Grade::Watch => (Some(Icon::Warning), tones.warning),
        Grade::Bad => (Some(Icon::Error), tones.error),
    }
}

fn entry_text(ui: &Ui, tones: &Tones, entry: &Entry) -> LayoutJob {
    let color = looks(&entry.grade, tones).1;
    let font = theme::body_font(ui);
    let mut text = LayoutJob::default();
    let gap = theme::GRID * 0.75;
    text.append(
        entry.name,
        0.0,
        TextFormat::simple(font.clone(), tones.weak),
    );
    text.append(&entry.value, gap, TextFormat::simple(font, color));
    text
}

fn entry_ui(ui: &mut Ui, tones: &Tones, entry: &Entry, text: LayoutJob) {
    if let (Some(icon), color) = looks(&entry.grade, tones) {
        icon_mark(ui, icon, color);
    }
    // Name and number stay on one line.
    let label = ui.add(egui::Label::new(text).extend());
    let enabled = ui.is_enabled();
    // Between the two stands no space that could be read.
    label.widget_info(|| {
        let said = format!("{} {}", entry.name, entry.value);
        egui::WidgetInfo::labeled(egui::Role::Label, enabled, said)
    });
    label.on_hover_text(entry.meaning);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_no_numbers_count_as_bad() {
        assert_eq!(grade(f64::NAN, 1.0, 2.0), Grade::Bad);
        assert_eq!(grade(0.5, 1.0, 2.0), Grade::Well);
        assert_eq!(grade(1.5, 1.0, 2.0), Grade::Watch);
        let strip = HealthStrip {
            health: Health {
                smallest_pivot: 0.0,
                ..Health::default()
            },
        };
        assert_eq!(strip.entries()[1].grade, Grade::Bad);
    }
}
