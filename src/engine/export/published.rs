//! The published results that ours are drawn beside: curves, missing-data curves and times.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::chart::{Series, Stroke};
use super::figure::Ink;

const TEXT: &str = include_str!("../../../assets/published.json");

/// Results as the paper reports them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Published {
    /// How they came about.
    pub note: String,
    /// Mini-batches done before each test.
    pub after_batches: Vec<usize>,
    /// By data set.
    pub data: BTreeMap<String, PublishedData>,
}

/// Results on one data set, by method.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedData {
    /// Milliseconds per mini-batch (per iteration of a batch method) and dictionary.
    pub ms: BTreeMap<String, f64>,
    /// Accuracy at every test.
    pub curve: BTreeMap<String, Vec<f64>>,
    /// Accuracy with 0, 10, … 90 % of the features set to zero.
    pub missing: BTreeMap<String, Vec<f64>>,
}

impl Published {
    /// The results that come with the program.
    ///
    /// # Panics
    /// Never: a test reads them.
    pub fn shipped() -> Self {
        serde_json::from_str(TEXT).expect("the shipped file was tested")
    }

    /// The curve of a method as a dashed line; the last accuracy as a level where only that
    /// is known, as of the batch method.
    pub fn curve(&self, data: &str, method: &str, ink: Ink) -> Option<Series> {
        let of_data = self.data.get(data)?;
        let points = match of_data.curve.get(method) {
            Some(curve) => {
                let after = self.after_batches.iter();
                after
                    .zip(curve)
                    .map(|(at, value)| [*at as f64, *value])
                    .collect()
            }
            None => vec![[0.0, of_data.last(method)?]],
        };
        Some(series(method, points, ink))
    }

    /// The missing-data curve of a method.
    pub fn missing(&self, data: &str, method: &str, ink: Ink) -> Option<Series> {
        let values = self.data.get(data)?.missing.get(method)?;
        let points = values.iter().enumerate();
        let points = points.map(|(tenth, value)| [tenth as f64 / 10.0, *value]);
        Some(series(method, points.collect(), ink))
    }
}

impl PublishedData {
    /// Accuracy of a method after all mini-batches.
    pub fn last(&self, method: &str) -> Option<f64> {
        match self.curve.get(method) {
            Some(curve) => curve.last().copied(),
            None => self.missing.get(method)?.first().copied(),
        }
    }

    /// Milliseconds per mini-batch and dictionary, growing and pruning together.
    pub fn total_ms(&self, method: &str) -> Option<f64> {
        let parts = [
            method.to_owned(),
            format!("{method} grow"),
            format!("{method} prune"),
        ];
        let found: Vec<f64> = parts
            .iter()
            .filter_map(|part| self.ms.get(part))
            .copied()
            .collect();
        (!found.is_empty()).then(|| found.iter().sum())
    }
}

fn series(method: &str, points: Vec<[f64; 2]>, ink: Ink) -> Series {
    Series {
        name: format!("{method}, published"),
        points,
        spread: Vec::new(),
        ink,
        stroke: Stroke::Dashed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_results_are_those_of_the_paper() {
        let published = Published::shipped();
        let usps = &published.data["USPS"];
        assert_eq!(usps.last("KRLS"), Some(0.95455));
        assert_eq!(usps.last("KMOD"), Some(0.97027));
        assert_eq!(usps.last("OKDLFB"), Some(0.70964));
        assert_eq!(usps.total_ms("KRLS"), Some(4.3));
        assert_eq!(usps.total_ms("OKDLRS"), Some(2856.6));
        assert_eq!(published.after_batches.len(), 21);
        for data in published.data.values() {
            let lengths = data.curve.values().map(Vec::len);
            assert!(lengths.into_iter().all(|n| n == 21));
        }
        let level = published
            .curve("USPS", "KMOD", [0, 0, 0])
            .expect("published");
        assert_eq!(level.points, [[0.0, 0.97027]]);
        assert!(published.curve("USPS", "no such", [0, 0, 0]).is_none());
    }
}
