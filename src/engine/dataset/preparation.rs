//! What happens to samples before a model sees them: missing values, then scaling, both fitted on training samples only.

use serde::{Deserialize, Serialize};

use super::scaling::moments;
use super::{Dataset, DatasetError, FittedScaling, Scaling};

/// What to do with missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum MissingPolicy {
    /// Refuse to train or test while there are any.
    #[default]
    Refuse,
    /// Leave out samples that miss a value.
    DropSample,
    /// Put in the mean of the feature over the training samples.
    TrainingMean,
    /// Put in 0, before scaling.
    Zero,
}

/// The settings of the preparation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// What to do with missing values.
    pub missing: MissingPolicy,
    /// How features are scaled afterwards.
    pub scaling: Scaling,
}

/// The preparation with the numbers of the training samples in it; it belongs to the trained model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FittedPreparation {
    n_features: usize,
    missing: MissingPolicy,
    /// What a missing value becomes, feature by feature; empty where nothing is filled in.
    fill: Vec<f64>,
    scaling: FittedScaling,
}

/// Samples ready for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// Features, sample after sample.
    pub values: Vec<f64>,
    /// Positions in the data set of the samples that are left.
    pub samples: Vec<usize>,
    /// Number of samples omitted for missing values.
    pub n_dropped: usize,
    /// Number of values filled in.
    pub n_filled: usize,
}

impl Preparation {
    /// Fits on the training samples; the rest of the data set is not examined.
    pub fn fit(
        &self,
        dataset: &Dataset,
        training: &[usize],
    ) -> Result<FittedPreparation, DatasetError> {
        if training.is_empty() {
            return Err(DatasetError::NothingToFitOn);
        }
        if let Some(&beyond) = training.iter().find(|s| **s >= dataset.n_samples()) {
            return Err(DatasetError::NoSuchSample {
                sample: beyond,
                n_samples: dataset.n_samples(),
            });
        }
        let is_complete = |s: &usize| dataset.sample(*s).iter().all(|v| !v.is_nan());
        let used: Vec<usize> = match self.missing {
            MissingPolicy::Refuse => {
                refuse_missing(dataset, training)?;
                training.to_vec()
            }
            MissingPolicy::DropSample => training.iter().copied().filter(is_complete).collect(),
            MissingPolicy::TrainingMean | MissingPolicy::Zero => training.to_vec(),
        };
        if used.is_empty() {
            return Err(DatasetError::NothingToFitOn);
        }
        let fill = match self.missing {
            MissingPolicy::Refuse | MissingPolicy::DropSample => Vec::new(),
            MissingPolicy::Zero => vec![0.0; dataset.n_features()],
            // A feature that training never saw has mean 0 in `moments`; so has one whose mean overflows.
            MissingPolicy::TrainingMean => moments(dataset, &used)
                .iter()
                .map(|m| if m.mean().is_finite() { m.mean() } else { 0.0 })
                .collect(),
        };
        Ok(FittedPreparation {
            n_features: dataset.n_features(),
            missing: self.missing,
            fill,
            scaling: self.scaling.fit(dataset, &used),
        })
    }
}

impl FittedPreparation {
    /// Number of features of the samples it was fitted on.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Prepares one sample in place and says how many values were filled in; `None` if the sample must be omitted.
    pub fn apply(&self, sample: &mut [f64]) -> Result<Option<usize>, DatasetError> {
        if sample.len() != self.n_features {
            return Err(DatasetError::OtherWidth {
                found: sample.len(),
                expected: self.n_features,
            });
        }
        Ok(self.apply_fitting(sample))
    }

    /// The same for a sample that is known to have as many features.
    pub(super) fn apply_fitting(&self, sample: &mut [f64]) -> Option<usize> {
        let n_missing = sample.iter().filter(|value| !value.is_finite()).count();
        if n_missing > 0 {
            if self.fill.is_empty() {
                return None;
            }
            for (value, fill) in sample.iter_mut().zip(&self.fill) {
                if !value.is_finite() {
                    *value = *fill;
                }
            }
        }
        self.scaling.apply(sample);
        Some(n_missing)
    }

    /// Prepares samples of a data set, in the order given.
    pub fn prepare(&self, dataset: &Dataset, samples: &[usize]) -> Result<Prepared, DatasetError> {
        if self.missing == MissingPolicy::Refuse {
            refuse_missing(dataset, samples)?;
        }
        let mut prepared = Prepared {
            values: Vec::with_capacity(samples.len() * dataset.n_features()),
            samples: Vec::with_capacity(samples.len()),
            n_dropped: 0,
            n_filled: 0,
        };
        for &sample in samples {
            let mut values = dataset.sample(sample).to_vec();
            match self.apply(&mut values)? {
                Some(n_filled) => {
                    prepared.n_filled += n_filled;
                    prepared.values.append(&mut values);
                    prepared.samples.push(sample);
                }
                None => prepared.n_dropped += 1,
            }
        }
        Ok(prepared)
    }
}

fn refuse_missing(dataset: &Dataset, samples: &[usize]) -> Result<(), DatasetError> {
    if dataset.n_missing() == 0 {
        return Ok(());
    }
    for &sample in samples {
        if let Some(feature) = dataset.sample(sample).iter().position(|v| v.is_nan()) {
            return Err(DatasetError::Missing {
                sample,
                feature: dataset.feature_names()[feature].clone(),
                n_missing: dataset.n_missing(),
                path: dataset.source(sample).to_owned(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{DatasetParts, Origin, Place};
    use proptest::prelude::*;

    fn dataset(rows: &[Vec<f64>]) -> Dataset {
        let n_features = rows[0].len();
        Dataset::new(DatasetParts {
            values: rows.concat(),
            feature_names: (0..n_features).map(|f| format!("f{f}")).collect(),
            class_names: vec!["only".into()],
            classes: vec![0; rows.len()],
            sources: vec!["table.csv".into()],
            origins: (0..rows.len())
                .map(|row| Origin {
                    source: 0,
                    place: Place::Row(row),
                })
                .collect(),
            ..DatasetParts::default()
        })
        .expect("the rows have one length")
    }

    const NAN: f64 = f64::NAN;

    fn rows() -> impl Strategy<Value = Vec<Vec<f64>>> {
        prop::collection::vec(prop::collection::vec(-1e3f64..1e3, 3), 4..30)
    }

    proptest! {
        #[test]
        fn scaling_is_fitted_on_training_samples_only(mut rows in rows(), noise in 1.0f64..1e6) {
            let training: Vec<usize> = (0..rows.len() / 2).collect();
            for scaling in [Scaling::ZScore, Scaling::MinMax, Scaling::UnitNorm, Scaling::None] {
                let preparation = Preparation { missing: MissingPolicy::TrainingMean, scaling };
                let before = preparation.fit(&dataset(&rows), &training).expect("enough samples");
                for row in rows.iter_mut().skip(training.len()) {
                    row.iter_mut().for_each(|value| *value += noise);
                }
                let after = preparation.fit(&dataset(&rows), &training).expect("enough samples");
                prop_assert_eq!(before, after);
            }
        }

        #[test]
        fn training_samples_come_out_as_promised(rows in rows()) {
            let data = dataset(&rows);
            let all: Vec<usize> = (0..rows.len()).collect();
            let prepared = |scaling| {
                let preparation = Preparation { missing: MissingPolicy::Refuse, scaling };
                preparation.fit(&data, &all).and_then(|fitted| fitted.prepare(&data, &all)).expect("complete").values
            };
            let n = rows.len() as f64;
            let scored = prepared(Scaling::ZScore);
            let ranged = prepared(Scaling::MinMax);
            for feature in 0..3 {
                let column: Vec<f64> = scored.iter().skip(feature).step_by(3).copied().collect();
                let mean = column.iter().sum::<f64>() / n;
                let power = column.iter().map(|v| v * v).sum::<f64>() / n;
                prop_assert!(mean.abs() < 1e-9 && (power - 1.0).abs() < 1e-9);
                let column: Vec<f64> = ranged.iter().skip(feature).step_by(3).copied().collect();
                prop_assert!(column.iter().all(|v| (0.0..=1.0 + 1e-12).contains(v)));
                prop_assert!(column.contains(&0.0));
            }
            for sample in prepared(Scaling::UnitNorm).chunks(3) {
                let length: f64 = sample.iter().map(|v| v * v).sum();
                prop_assert!((length - 1.0).abs() < 1e-12 || sample.iter().all(|v| *v == 0.0));
            }
        }

        #[test]
        fn hostile_values_never_become_nan(rows in prop::collection::vec(prop::collection::vec(any::<f64>(), 3), 1..12)) {
            let data = dataset(&rows);
            let all: Vec<usize> = (0..rows.len()).collect();
            for scaling in [Scaling::ZScore, Scaling::MinMax, Scaling::UnitNorm] {
                let preparation = Preparation { missing: MissingPolicy::TrainingMean, scaling };
                let fitted = preparation.fit(&data, &all).expect("there are samples");
                let prepared = fitted.prepare(&data, &all).expect("nothing is refused");
                prop_assert!(prepared.values.iter().all(|v| !v.is_nan()));
            }
        }
    }

    #[test]
    fn each_policy_treats_missing_values_as_it_says() {
        let data = dataset(&[
            vec![1.0, 10.0],
            vec![3.0, NAN],
            vec![NAN, f64::INFINITY],
            vec![5.0, 20.0],
        ]);
        assert_eq!(data.n_missing(), 3);
        let all = [0, 1, 2, 3];
        let run = |missing| {
            let preparation = Preparation {
                missing,
                scaling: Scaling::None,
            };
            preparation
                .fit(&data, &[0, 1, 3])
                .and_then(|fitted| fitted.prepare(&data, &all))
        };
        let refusal = run(MissingPolicy::Refuse)
            .expect_err("there are missing values")
            .to_string();
        assert!(
            refusal.starts_with("sample 1 has no value for \"f1\" (3 values are missing in all)"),
            "{refusal}"
        );
        assert!(refusal.ends_with("table.csv"));
        let dropped = run(MissingPolicy::DropSample).expect("dropped");
        assert_eq!((dropped.samples, dropped.n_dropped), (vec![0, 3], 2));
        let mean = run(MissingPolicy::TrainingMean).expect("filled");
        assert_eq!(mean.values, [1.0, 10.0, 3.0, 15.0, 3.0, 15.0, 5.0, 20.0]);
        assert_eq!(mean.n_filled, 3);
        let zero = run(MissingPolicy::Zero).expect("filled");
        assert_eq!(zero.values, [1.0, 10.0, 3.0, 0.0, 0.0, 0.0, 5.0, 20.0]);
    }

    #[test]
    fn a_feature_that_never_changes_becomes_zero_instead_of_noise() {
        let data = dataset(&[vec![0.1 + 0.2, 1.0], vec![0.3, 2.0]]);
        for scaling in [Scaling::ZScore, Scaling::MinMax] {
            let preparation = Preparation {
                scaling,
                ..Preparation::default()
            };
            let fitted = preparation.fit(&data, &[0, 1]).expect("complete");
            let prepared = fitted.prepare(&data, &[0, 1]).expect("complete");
            assert_eq!(prepared.values[0], 0.0);
        }
    }

    #[test]
    fn squares_of_extreme_values_neither_overflow_nor_vanish() {
        let rows = [[1.0, 3.0], [2.0, 5.0], [4.0, 4.0]];
        let scored = |factor: f64| {
            let data = dataset(&rows.map(|row| vec![row[0] * factor, row[1]]));
            let preparation = Preparation {
                missing: MissingPolicy::Refuse,
                scaling: Scaling::ZScore,
            };
            let fitted = preparation.fit(&data, &[0, 1, 2]).expect("complete");
            let prepared = fitted.prepare(&data, &[0, 1, 2]);
            prepared.expect("complete").values
        };
        let usual = scored(1.0);
        for factor in [1e200, 1e-200, 1e-300] {
            let pairs = scored(factor).into_iter().zip(&usual);
            pairs.for_each(|(found, usual)| assert!((found - usual).abs() < 1e-9, "{factor:e}"));
        }
        // A factor that would overflow stays a number, and keeps the order.
        let tiny = scored(1e-310);
        assert!(tiny[0] < tiny[2] && tiny[2] < tiny[4]);
    }

    #[test]
    fn a_fitted_preparation_survives_saving_bit_for_bit() {
        let data = dataset(&[vec![0.1, 7.0], vec![0.7, -3.3], vec![1.0 / 3.0, 9.1]]);
        let preparation = Preparation {
            missing: MissingPolicy::TrainingMean,
            scaling: Scaling::ZScore,
        };
        let fitted = preparation.fit(&data, &[0, 1, 2]).expect("complete");
        let text = ron::to_string(&fitted).expect("plain data");
        let read: FittedPreparation = ron::from_str(&text).expect("its own text");
        assert_eq!(read, fitted);
    }

    #[test]
    fn samples_of_another_width_and_empty_training_are_refused() {
        let data = dataset(&[vec![1.0, 2.0]]);
        let fitted = Preparation::default().fit(&data, &[0]).expect("complete");
        assert!(matches!(
            fitted.apply(&mut [1.0]),
            Err(DatasetError::OtherWidth {
                found: 1,
                expected: 2
            })
        ));
        assert!(matches!(
            Preparation::default().fit(&data, &[]),
            Err(DatasetError::NothingToFitOn)
        ));
        assert!(matches!(
            Preparation::default().fit(&data, &[4]),
            Err(DatasetError::NoSuchSample { .. })
        ));
    }
}
