//! Scores in the order of time: over a window of decisions that moves along.

use serde::Serialize;

use super::record::Decisions;
use crate::evaluation::Confusion;

/// Decisions of a window.
const WINDOW: usize = 500;
/// Places along the stream at which the window is looked at.
const PLACES: usize = 20;

/// The scores of a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PrequentialWindow {
    /// Decisions up to the end of the window.
    pub n_judged: usize,
    /// Share of right decisions.
    pub accuracy: f64,
    /// Mean over the classes in the window of the share of right decisions.
    pub balanced_accuracy: Option<f64>,
    /// Agreement beyond chance.
    pub kappa: Option<f64>,
}

impl Decisions {
    /// Scores over the last 500 decisions at twenty places, evenly; of decisions in the order of time.
    pub fn prequential_windows(
        &self,
        classes: &[usize],
        n_classes: usize,
    ) -> Vec<PrequentialWindow> {
        let n_decisions = self.sample.len();
        let mut ends: Vec<usize> = (1..=PLACES).map(|k| k * n_decisions / PLACES).collect();
        ends.dedup();
        let window = |end: usize| {
            let mut confusion = Confusion::new(n_classes);
            for place in end.saturating_sub(WINDOW)..end {
                confusion.add(*classes.get(self.sample[place])?, self.class[place]);
            }
            Some(PrequentialWindow {
                n_judged: end,
                accuracy: confusion.accuracy()?,
                balanced_accuracy: confusion.balanced_accuracy(),
                kappa: confusion.kappa(),
            })
        };
        ends.into_iter().filter_map(window).collect()
    }
}
