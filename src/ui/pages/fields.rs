//! The numbers of the window: each is shown as the table of settings declares it.

use egui::Ui;

use crate::ui::widgets::{Edit, NumberField};
use atomscope_engine::settings::{Setting, SettingProblem, ValueKind};

/// A number of the table of settings as a field with a slider.
pub(super) trait SettingField {
    /// The field, with what is wrong with it among the problems of its stage.
    fn ui(&self, ui: &mut Ui, value: &mut f64, problems: &[SettingProblem]) -> Edit;

    /// The field for a whole number.
    fn whole_ui(&self, ui: &mut Ui, value: &mut usize, problems: &[SettingProblem]) -> Edit;

    /// The field with a problem that the page knows of.
    fn ui_with(&self, ui: &mut Ui, value: &mut f64, problem: Option<&str>) -> Edit;
}

impl SettingField for Setting {
    fn ui(&self, ui: &mut Ui, value: &mut f64, problems: &[SettingProblem]) -> Edit {
        let is_own = |problem: &&SettingProblem| self.has_problem(&problem.field);
        let problem = problems.iter().find(is_own);
        self.ui_with(ui, value, problem.map(|problem| problem.message.as_str()))
    }

    fn whole_ui(&self, ui: &mut Ui, value: &mut usize, problems: &[SettingProblem]) -> Edit {
        let mut number = *value as f64;
        let edit = self.ui(ui, &mut number, problems);
        if edit.changed {
            *value = number.round().max(0.0) as usize;
        }
        edit
    }

    fn ui_with(&self, ui: &mut Ui, value: &mut f64, problem: Option<&str>) -> Edit {
        let ValueKind::Number {
            usual,
            default,
            whole,
            logarithmic,
            ..
        } = self.kind
        else {
            return Edit::default();
        };
        let field = NumberField {
            label: self.label,
            symbol: self.symbol,
            help: self.help,
            unit: self.unit,
            range: usual.0..=usual.1,
            logarithmic,
            whole,
            default,
            problem,
        };
        field.show(ui, value)
    }
}
