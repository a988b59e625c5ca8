//! In what two classes differ: the difference of their means, feature by feature, in units of their common spread.

use super::Dataset;

/// Mean of class `second` minus mean of class `first`, each feature divided by its standard deviation within the
/// classes (0 where it never changes). Missing values are passed over.
pub fn class_difference(dataset: &Dataset, first: usize, second: usize) -> Vec<f64> {
    let n_features = dataset.n_features();
    let mut sums = [(); 2].map(|()| vec![(0.0, 0.0, 0.0); n_features]);
    for (sample, class) in dataset.classes().iter().enumerate() {
        let side = match *class {
            class if class == first => 0,
            class if class == second => 1,
            _ => continue,
        };
        for (sum, value) in sums[side].iter_mut().zip(dataset.sample(sample).iter()) {
            if value.is_finite() {
                // Welford: count, mean, squares.
                sum.0 += 1.0;
                let before = value - sum.1;
                sum.1 += before / sum.0;
                sum.2 += before * (value - sum.1);
            }
        }
    }
    let [a, b] = sums;
    a.iter()
        .zip(&b)
        .map(|(a, b)| {
            let spread = ((a.2 + b.2) / (a.0 + b.0).max(1.0)).sqrt();
            let difference = b.1 - a.1;
            if spread > 0.0 {
                difference / spread
            } else {
                0.0
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{DatasetParts, Origin, Place};

    #[test]
    fn the_difference_is_in_units_of_the_spread_within_classes() {
        // Feature 0: means 1 and 4, deviation 1 within each; feature 1 never changes; one value is missing.
        let values = vec![0.0, 7.0, 2.0, 7.0, 3.0, 7.0, 5.0, f64::NAN];
        let data = Dataset::new(DatasetParts {
            values,
            feature_names: vec!["x".into(), "y".into()],
            class_names: vec!["a".into(), "b".into()],
            classes: vec![0, 0, 1, 1],
            sources: vec!["t.csv".into()],
            origins: (0..4)
                .map(|row| Origin {
                    source: 0,
                    place: Place::Row(row),
                })
                .collect(),
            ..DatasetParts::default()
        })
        .expect("the parts fit");
        assert_eq!(class_difference(&data, 0, 1), [3.0, 0.0]);
        assert_eq!(class_difference(&data, 1, 0), [-3.0, 0.0]);
    }
}
