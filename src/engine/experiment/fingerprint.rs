//! A number that changes with settings, samples and folds: results of other work are known by it.

use super::checked::CheckedExperiment;
use crate::math::fnv;

/// Texts one after the other, to be distinguished from others by a number.
#[derive(Default)]
pub(super) struct Texts(String);

impl Texts {
    pub(super) fn add(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\0');
    }

    /// Values, classes, groups and folds of all samples.
    pub(super) fn add_samples(&mut self, checked: &CheckedExperiment) {
        let facts = checked.facts();
        self.add(&format!("{:016x}", facts.fingerprint));
        self.add(&format!("{:?}", facts.class_names));
        self.add(&format!("{:?}", facts.classes.0));
        self.add(&format!("{:?}", facts.groups));
        self.add(&format!(
            "{:?}",
            checked.split().test_folds().collect::<Vec<_>>()
        ));
    }

    pub(super) fn in_digits(&self) -> String {
        format!("{:016x}", fnv(self.0.as_bytes()))
    }
}
