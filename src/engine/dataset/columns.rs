//! Samples as models see them: prepared while they are gathered, so that no fold holds a prepared
//! copy of the whole data set.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Dataset, FittedPreparation, InnerProducts};
use crate::math::View;

/// Features of samples, by the place of each.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    source: ColumnSource<'a>,
    products: Option<&'a Arc<InnerProducts>>,
}

/// A preparation, and samples that are known otherwise, already prepared.
type Replacing<'a> = (&'a FittedPreparation, &'a BTreeMap<usize, Vec<f64>>);

#[derive(Clone, Copy, Debug)]
enum ColumnSource<'a> {
    /// As they stand.
    Plain(View<'a>),
    /// What a preparation makes of a data set, if there is one.
    Dataset {
        dataset: &'a Dataset,
        preparation: Option<Replacing<'a>>,
    },
}

impl<'a> From<View<'a>> for Columns<'a> {
    fn from(values: View<'a>) -> Self {
        Self {
            source: ColumnSource::Plain(values),
            products: None,
        }
    }
}

impl<'a> Columns<'a> {
    /// The samples of a data set as they stand.
    pub fn of(dataset: &'a Dataset) -> Self {
        let source = match dataset.values() {
            Some(values) => ColumnSource::Plain(View::from_columns(values, dataset.n_features())),
            None => ColumnSource::Dataset {
                dataset,
                preparation: None,
            },
        };
        Self {
            source,
            products: None,
        }
    }

    /// The samples of a data set after their preparation, but for those in `replaced`. Only samples
    /// that the preparation does not omit may be asked for.
    pub fn prepared(
        dataset: &'a Dataset,
        preparation: &'a FittedPreparation,
        replaced: &'a BTreeMap<usize, Vec<f64>>,
    ) -> Self {
        let source = ColumnSource::Dataset {
            dataset,
            preparation: Some((preparation, replaced)),
        };
        Self {
            source,
            products: None,
        }
    }

    /// The same; the inner products of these samples are looked up where they are needed.
    pub fn with_products(self, products: Option<&'a Arc<InnerProducts>>) -> Self {
        Self { products, ..self }
    }

    /// Where the inner products of these samples are looked up, if anywhere.
    pub(crate) fn products(&self) -> Option<&'a Arc<InnerProducts>> {
        self.products
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        match self.source {
            ColumnSource::Plain(values) => values.rows(),
            ColumnSource::Dataset { dataset, .. } => dataset.n_features(),
        }
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        match self.source {
            ColumnSource::Plain(values) => values.cols(),
            ColumnSource::Dataset { dataset, .. } => dataset.n_samples(),
        }
    }

    /// `features` ← those of a sample.
    pub fn read(&self, sample: usize, features: &mut [f64]) {
        let (dataset, preparation) = match self.source {
            ColumnSource::Plain(values) => return features.copy_from_slice(values.col(sample)),
            ColumnSource::Dataset {
                dataset,
                preparation,
            } => (dataset, preparation),
        };
        let replaced = preparation.and_then(|(_, replaced)| replaced.get(&sample));
        if let Some(known) = replaced {
            features.copy_from_slice(known);
            return;
        }
        dataset.read_sample(sample, features);
        if let Some((preparation, _)) = preparation {
            preparation.apply_fitting(features);
        }
    }

    /// The features of a sample; a copy where they are not held as they are.
    pub fn column(&self, sample: usize) -> Cow<'a, [f64]> {
        match self.source {
            ColumnSource::Plain(values) => Cow::Borrowed(values.col(sample)),
            ColumnSource::Dataset { .. } => {
                let mut features = vec![0.0; self.n_features()];
                self.read(sample, &mut features);
                Cow::Owned(features)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{DatasetParts, MissingPolicy, Origin, Place, Preparation, Scaling};

    #[test]
    fn columns_are_what_a_preparation_makes_of_samples() {
        let rows = 40;
        let origin = |row| Origin {
            source: 0,
            place: Place::Row(row),
        };
        let dataset = Dataset::new(DatasetParts {
            values: (0..3 * rows)
                .map(|i| if i == 7 { f64::NAN } else { (i as f64).sin() })
                .collect(),
            feature_names: vec!["a".into(), "b".into(), "c".into()],
            class_names: vec!["only".into()],
            classes: vec![0; rows],
            sources: vec!["table.csv".into()],
            origins: (0..rows).map(origin).collect(),
            ..DatasetParts::default()
        });
        let dataset = dataset.expect("parts of one length");
        let training: Vec<usize> = (0..30).collect();
        for scaling in [Scaling::None, Scaling::ZScore, Scaling::UnitNorm] {
            let preparation = Preparation {
                missing: MissingPolicy::TrainingMean,
                scaling,
            };
            let fitted = preparation.fit(&dataset, &training).expect("samples");
            let all: Vec<usize> = (0..rows).collect();
            let expected = fitted.prepare(&dataset, &all).expect("same features");
            let replaced = BTreeMap::from([(3, vec![1.0, 2.0, 3.0])]);
            let columns = Columns::prepared(&dataset, &fitted, &replaced);
            assert_eq!((columns.n_features(), columns.n_samples()), (3, rows));
            for sample in all {
                let expected = match sample {
                    3 => &[1.0, 2.0, 3.0],
                    _ => &expected.values[3 * sample..3 * sample + 3],
                };
                assert_eq!(&*columns.column(sample), expected);
            }
        }
    }
}
