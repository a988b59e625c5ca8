//! The confusion matrix and the scores that follow from it.

use serde::{Deserialize, Serialize};

/// How often samples of each true class (row) were taken for each class (column).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confusion {
    n_classes: usize,
    counts: Vec<u64>,
}

impl Confusion {
    /// No decisions yet.
    pub fn new(n_classes: usize) -> Self {
        Self {
            n_classes,
            counts: vec![0; n_classes * n_classes],
        }
    }

    /// Counts one decision.
    ///
    /// # Panics
    /// If a class is out of range.
    pub fn add(&mut self, truth: usize, decided: usize) {
        assert!(truth < self.n_classes && decided < self.n_classes);
        self.counts[truth * self.n_classes + decided] += 1;
    }

    /// Adds the counts of another matrix over the same classes.
    ///
    /// # Panics
    /// If the numbers of classes differ.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.n_classes, other.n_classes);
        for (total, part) in self.counts.iter_mut().zip(&other.counts) {
            *total += part;
        }
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Decisions for `decided` where `truth` was right.
    pub fn count(&self, truth: usize, decided: usize) -> u64 {
        self.counts[truth * self.n_classes + decided]
    }

    /// All decisions.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Samples whose true class this is.
    pub fn of_class(&self, truth: usize) -> u64 {
        (0..self.n_classes).map(|c| self.count(truth, c)).sum()
    }

    /// Samples that were taken for this class.
    pub fn decided_as(&self, class: usize) -> u64 {
        (0..self.n_classes).map(|c| self.count(c, class)).sum()
    }

    /// Right decisions.
    pub fn right(&self) -> u64 {
        (0..self.n_classes).map(|c| self.count(c, c)).sum()
    }

    /// Share of right decisions; none without decisions.
    pub fn accuracy(&self) -> Option<f64> {
        share(self.right(), self.total())
    }

    /// Share of a class that was found; none if the class did not occur.
    pub fn recall(&self, class: usize) -> Option<f64> {
        share(self.count(class, class), self.of_class(class))
    }

    /// Share of the decisions for a class that were right; none if there was no such decision.
    pub fn precision(&self, class: usize) -> Option<f64> {
        share(self.count(class, class), self.decided_as(class))
    }

    /// Mean recall over the classes that occurred.
    pub fn balanced_accuracy(&self) -> Option<f64> {
        let recalls: Vec<f64> = (0..self.n_classes).filter_map(|c| self.recall(c)).collect();
        (!recalls.is_empty()).then(|| recalls.iter().sum::<f64>() / recalls.len() as f64)
    }

    /// Cohen's κ: agreement beyond chance; none where chance alone explains everything.
    pub fn kappa(&self) -> Option<f64> {
        let n = self.total() as f64;
        let observed = self.accuracy()?;
        let by_chance: f64 = (0..self.n_classes)
            .map(|c| self.of_class(c) as f64 / n * (self.decided_as(c) as f64 / n))
            .sum();
        (by_chance < 1.0).then(|| (observed - by_chance) / (1.0 - by_chance))
    }

    /// Matthews' correlation for any number of classes (Gorodkin's R_K); none where one
    /// side is constant.
    pub fn matthews(&self) -> Option<f64> {
        let n = self.total() as f64;
        let sum = |term: &dyn Fn(usize) -> f64| (0..self.n_classes).map(term).sum::<f64>();
        let truth = |c: usize| self.of_class(c) as f64;
        let decided = |c: usize| self.decided_as(c) as f64;
        let covariance = self.right() as f64 * n - sum(&|c| truth(c) * decided(c));
        let of_truth = n * n - sum(&|c| truth(c) * truth(c));
        let of_decision = n * n - sum(&|c| decided(c) * decided(c));
        let product = of_truth * of_decision;
        (product > 0.0).then(|| covariance / product.sqrt())
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: &[&[u64]]) -> Confusion {
        let mut confusion = Confusion::new(rows.len());
        for (truth, row) in rows.iter().enumerate() {
            for (decided, &count) in row.iter().enumerate() {
                (0..count).for_each(|_| confusion.add(truth, decided));
            }
        }
        confusion
    }

    fn assert_near(found: Option<f64>, expected: f64) {
        let found = found.expect("defined");
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    #[test]
    fn two_classes_agree_with_the_textbook() {
        // 45 true positives, 5 misses, 15 false alarms, 35 true negatives.
        let confusion = matrix(&[&[35, 15], &[5, 45]]);
        assert_near(confusion.accuracy(), 0.8);
        assert_near(confusion.recall(0), 0.7);
        assert_near(confusion.precision(1), 0.75);
        assert_near(confusion.balanced_accuracy(), 0.8);
        assert_near(confusion.kappa(), 0.6);
        let mcc = (45.0 * 35.0 - 15.0 * 5.0) / f64::sqrt(60.0 * 50.0 * 50.0 * 40.0);
        assert_near(confusion.matthews(), mcc);
    }

    #[test]
    fn perfect_and_random_decisions_have_known_scores() {
        let perfect = matrix(&[&[3, 0, 0], &[0, 4, 0], &[0, 0, 5]]);
        assert_near(perfect.kappa(), 1.0);
        assert_near(perfect.matthews(), 1.0);
        let independent = matrix(&[&[4, 8], &[6, 12]]);
        assert_near(independent.kappa(), 0.0);
        assert_near(independent.matthews(), 0.0);
    }

    #[test]
    fn what_is_undefined_is_none() {
        let empty = Confusion::new(2);
        assert_eq!(empty.accuracy(), None);
        assert_eq!(empty.kappa(), None);
        assert_eq!(empty.matthews(), None);
        let constant = matrix(&[&[5, 0], &[0, 0]]);
        assert_eq!(constant.kappa(), None);
        assert_eq!(constant.matthews(), None);
        assert_eq!(constant.recall(1), None);
        assert_near(constant.balanced_accuracy(), 1.0);
    }
}
