//! Inner products of the samples of a data set with each other, as a preparation makes them: columns of the Gram
//! matrix that are computed when they are first needed, for all trainings on the same samples. Most kernels follow from
//! them, so points of a sweep that differ in anything else than data and preparation multiply no features twice.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Columns, Dataset, FittedPreparation};
use crate::math::{Matrix, Write, columns_stand_alone, product};
use crate::memory::Reservation;

/// Samples that are compared with all others at a time.
const TILE: usize = 128;

/// Inner products of the samples of one data set after one preparation.
pub struct InnerProducts {
    dataset: Arc<Dataset>,
    preparation: Option<FittedPreparation>,
    /// Of every TILE samples, a column each, with all samples. Both halves are held: whoever asks gathers from columns.
    panels: Vec<OnceLock<Matrix>>,
    /// The memory that all panels together take.
    _room: Reservation,
}

impl fmt::Debug for InnerProducts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InnerProducts").finish_non_exhaustive()
    }
}

impl InnerProducts {
    /// Those of a data set, if they have the same bits wherever they are computed and all of them may be in memory.
    pub fn of(dataset: &Arc<Dataset>, preparation: Option<&FittedPreparation>) -> Option<Self> {
        dataset.values()?;
        if !columns_stand_alone(TILE, dataset.n_features(), TILE) {
            return None;
        }
        let n_panels = dataset.n_samples().div_ceil(TILE);
        let bytes = ((n_panels * TILE).pow(2) * size_of::<f64>()) as u64;
        let mut room = Reservation::default();
        (room.ask(bytes) == bytes).then(|| Self {
            dataset: dataset.clone(),
            preparation: preparation.cloned(),
            panels: (0..n_panels).map(|_| OnceLock::new()).collect(),
            _room: room,
        })
    }

    /// `values` ← the inner products of samples, one row per entry of `rows`; to the bits of the product of their
    /// features, where its columns stand alone.
    pub(crate) fn fill(&self, rows: &[usize], columns: &[usize], values: &mut Matrix) {
        for (j, &column) in columns.iter().enumerate() {
            let panel = self.panels[column / TILE].get_or_init(|| self.compute(column / TILE));
            let known = panel.col(column % TILE);
            for (value, &row) in values.col_mut(j).iter_mut().zip(rows) {
                *value = known[row];
            }
        }
    }

    fn compute(&self, panel: usize) -> Matrix {
        let right = self.features(panel);
        let mut values = Matrix::zeros(self.panels.len() * TILE, TILE);
        for row in 0..self.panels.len() {
            let left = self.features(row);
            product(
                values.block_mut(row * TILE, TILE, 0, TILE),
                Write::Replace,
                left.view().t(),
                right.view(),
            );
        }
        values
    }

    /// The samples of a panel as columns. The last samples of the set fill up its last panel: smaller products would be
    /// computed in another way.
    fn features(&self, panel: usize) -> Matrix {
        let replaced = BTreeMap::new();
        let samples = match &self.preparation {
            Some(preparation) => Columns::prepared(&self.dataset, preparation, &replaced),
            None => Columns::of(&self.dataset),
        };
        let mut features = Matrix::zeros(samples.n_features(), TILE);
        for k in 0..TILE {
            let sample = (panel * TILE + k).min(samples.n_samples() - 1);
            samples.read(sample, features.col_mut(k));
        }
        features
    }
}

/// Inner products that trainings share, one store for each data set and preparation, as far as the memory allows.
#[derive(Debug, Default)]
pub struct SharedProducts {
    known: Mutex<Vec<Arc<InnerProducts>>>,
}

impl SharedProducts {
    /// Those of a data set after a preparation, if there is room for them.
    pub fn of(
        &self,
        dataset: &Arc<Dataset>,
        preparation: Option<&FittedPreparation>,
    ) -> Option<Arc<InnerProducts>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |products: &&Arc<InnerProducts>| {
            Arc::ptr_eq(&products.dataset, dataset) && products.preparation.as_ref() == preparation
        };
        if let Some(found) = known.iter().find(is_same) {
            return Some(found.clone());
        }
        let products = Arc::new(InnerProducts::of(dataset, preparation)?);
        known.push(products.clone());
        Some(products)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{DatasetParts, MissingPolicy, Origin, Place, Preparation, Scaling};
    use crate::math::{random_below, random_stream};

    fn dataset(n_features: usize, n_samples: usize) -> Arc<Dataset> {
        let origin = |row| Origin {
            source: 0,
            place: Place::Row(row),
        };
        let dataset = Dataset::new(DatasetParts {
            values: (0..n_features * n_samples)
                .map(|i| (i as f64 * 0.7).sin())
                .collect(),
            feature_names: (0..n_features).map(|n| n.to_string()).collect(),
            class_names: vec!["only".into()],
            classes: vec![0; n_samples],
            sources: vec!["table.csv".into()],
            origins: (0..n_samples).map(origin).collect(),
            ..DatasetParts::default()
        });
        Arc::new(dataset.expect("parts of one length"))
    }

    #[test]
    fn products_have_the_bits_of_those_computed_at_once() {
        for (n_features, n_samples) in [(3, 130), (76, 301), (1206, 200)] {
            let dataset = dataset(n_features, n_samples);
            let scaling = Scaling::ZScore;
            let missing = MissingPolicy::TrainingMean;
            let fitted = Preparation { missing, scaling };
            let training: Vec<usize> = (0..100).collect();
            let fitted = fitted.fit(&dataset, &training).expect("samples");
            let Some(products) = InnerProducts::of(&dataset, Some(&fitted)) else {
                assert!(
                    !columns_stand_alone(TILE, n_features, TILE),
                    "there is room"
                );
                continue;
            };
            let replaced = BTreeMap::new();
            let columns = Columns::prepared(&dataset, &fitted, &replaced);
            let mut random = random_stream(1, "products", n_features as u64);
            for (n_rows, n_columns) in [(190, 10), (128, 17), (37, 37), (2, 1000), (700, 3)] {
                let mut drawn = |n: usize| -> Vec<usize> {
                    (0..n)
                        .map(|_| random_below(&mut random, n_samples))
                        .collect()
                };
                let (rows, cols) = (drawn(n_rows), drawn(n_columns));
                if !columns_stand_alone(n_rows, n_features, n_columns) {
                    continue;
                }
                let gathered = |samples: &[usize]| {
                    let mut features = Matrix::zeros(n_features, samples.len());
                    for (k, sample) in samples.iter().enumerate() {
                        columns.read(*sample, features.col_mut(k));
                    }
                    features
                };
                let (left, right) = (gathered(&rows), gathered(&cols));
                let mut expected = Matrix::zeros(n_rows, n_columns);
                product(
                    expected.view_mut(),
                    Write::Replace,
                    left.view().t(),
                    right.view(),
                );
                let mut found = Matrix::zeros(n_rows, n_columns);
                products.fill(&rows, &cols, &mut found);
                assert_eq!(found, expected, "{n_rows} × {n_features} × {n_columns}");
            }
        }
    }

    #[test]
    fn each_preparation_of_each_set_has_its_own_products() {
        let (one, other) = (dataset(40, 20), dataset(40, 20));
        let shared = SharedProducts::default();
        let Some(first) = shared.of(&one, None) else {
            return assert!(!columns_stand_alone(TILE, 40, TILE), "there is room");
        };
        let again = shared.of(&one, None).expect("it is known");
        assert!(Arc::ptr_eq(&first, &again));
        let of_other = shared.of(&other, None).expect("there is room");
        assert!(!Arc::ptr_eq(&first, &of_other));
        let missing = MissingPolicy::TrainingMean;
        let scaled = |scaling| {
            let fitted = Preparation { missing, scaling }.fit(&one, &[1, 2, 3]);
            let fitted = fitted.expect("samples");
            shared.of(&one, Some(&fitted)).expect("there is room")
        };
        let (z, unit) = (scaled(Scaling::ZScore), scaled(Scaling::UnitNorm));
        assert!(!Arc::ptr_eq(&z, &unit) && !Arc::ptr_eq(&z, &first));
        assert!(Arc::ptr_eq(&z, &scaled(Scaling::ZScore)));
    }
}
