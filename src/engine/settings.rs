//! What is known of every setting, and what can be wrong with one, said in the same way by every stage.

mod near_names;
mod table;

use std::fmt::Display;

pub use near_names::near_names;
pub use table::{Setting, SettingGroup, ValueKind};

/// One thing that is wrong with a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SettingProblem {
    /// The setting, by the way to its field: `duration_s`, `sections[2].length_km`.
    pub field: String,
    /// What is allowed and what was found.
    pub message: String,
}

/// Problems collected while settings are looked through.
#[derive(Debug, Default)]
pub(crate) struct SettingProblems(Vec<SettingProblem>);

impl SettingProblems {
    /// Notes `message` unless the setting `holds`.
    pub(crate) fn require(&mut self, holds: bool, field: &str, message: String) {
        if !holds {
            self.0.push(SettingProblem {
                field: field.to_owned(),
                message,
            });
        }
    }

    /// Says so if `value` is not `low` to `high` (a NaN never is).
    pub(crate) fn require_within<T: PartialOrd + Display>(
        &mut self,
        field: &str,
        value: T,
        low: T,
        high: T,
    ) {
        let within = value >= low && value <= high;
        let message = format!("{field} must be {low} to {high}, but is {value}");
        self.require(within, field, message);
    }

    /// Says so if `value` is not within the legal range of `setting`.
    pub(crate) fn require_legal(&mut self, setting: &Setting, value: f64) {
        let (low, high) = setting.legal();
        self.require_within(setting.name, value, low, high);
    }

    /// All of them, in the order found.
    pub(crate) fn into_list(self) -> Vec<SettingProblem> {
        self.0
    }
}
