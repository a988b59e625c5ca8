//! What a recipe made of a record, on its way into a data set: taken from the recipe sample by sample, in memory up to
//! a limit and on disk beyond it. A record becomes part of the set only once all of it could be read, so its samples
//! wait here; a day of 64 channels must not wait in memory.

use std::io;
use std::sync::Arc;

use super::feature_store::{FeatureList, FeatureStore};
use super::in_order::n_at_once;
use crate::features::{Extraction, FeatureError, FeatureRecipe, Sample, Stretch};
use crate::records::{ReadError, Record};

/// Bytes of features that wait in memory, of all records together that are sampled at once.
const MOST_BYTES: u64 = 1 << 29;

/// Why there are no samples of a record.
#[derive(Debug)]
pub(super) enum MakingError {
    /// The recipe makes none.
    Recipe(FeatureError),
    /// Features could not be written to disk.
    Storage(io::Error),
}

/// The samples of one record.
#[derive(Debug)]
pub(super) struct MadeSamples {
    /// All that the recipe says besides the samples.
    pub(super) extraction: Extraction,
    /// Start and length of every sample.
    windows: Vec<(f64, f64)>,
    values: Vec<f64>,
    stored: Option<Arc<FeatureStore>>,
}

impl MadeSamples {
    /// Makes the samples of a record, those of `stretches` where the recipe places them so. `keep_going` receives the
    /// share done and cancels by returning false.
    pub(super) fn of(
        recipe: &FeatureRecipe,
        record: &Record,
        stretches: Option<&[Stretch]>,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Self, MakingError> {
        let most_bytes = MOST_BYTES / n_at_once() as u64;
        let features = FeatureList::in_memory_up_to(most_bytes);
        Self::within(features, recipe, record, stretches, keep_going)
    }

    fn within(
        mut features: FeatureList,
        recipe: &FeatureRecipe,
        record: &Record,
        stretches: Option<&[Stretch]>,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Self, MakingError> {
        let mut windows = Vec::new();
        let mut kept = Ok(());
        let mut take = |sample: Sample| {
            windows.push((sample.start_s, sample.duration_s));
            if kept.is_ok() {
                kept = features.push(&sample.values);
            }
        };
        let made = recipe.extract_each(record, stretches, &mut take, keep_going);
        kept.map_err(MakingError::Storage)?;
        let extraction = made.map_err(MakingError::Recipe)?;
        let (values, stored) = features.finish().map_err(MakingError::Storage)?;
        Ok(Self {
            extraction,
            windows,
            values,
            stored,
        })
    }

    /// Samples that lie in a file.
    pub(super) fn stored(
        extraction: Extraction,
        windows: Vec<(f64, f64)>,
        stored: Arc<FeatureStore>,
    ) -> Self {
        Self {
            extraction,
            windows,
            values: Vec::new(),
            stored: Some(stored),
        }
    }

    /// Samples that lie in memory.
    #[cfg(test)]
    pub(super) fn in_memory(
        extraction: Extraction,
        windows: Vec<(f64, f64)>,
        values: Vec<f64>,
    ) -> Self {
        Self {
            extraction,
            windows,
            values,
            stored: None,
        }
    }

    /// Number of samples.
    pub(super) fn n_samples(&self) -> usize {
        self.windows.len()
    }

    /// `sample` ← the sample of that number.
    pub(super) fn read(&self, number: usize, sample: &mut Sample) -> Result<(), ReadError> {
        let n_features = self.extraction.feature_names.len();
        (sample.start_s, sample.duration_s) = self.windows[number];
        sample.values.resize(n_features, 0.0);
        match &self.stored {
            Some(stored) => stored.try_read(number, &mut sample.values)?,
            None => {
                let values = &self.values[number * n_features..][..n_features];
                sample.values.copy_from_slice(values);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::eeg::Band;
    use crate::features::{EegGroupsRecipe, EegRecipe};
    use crate::records::{Channel, Format, Kind, Unit};

    fn recording() -> Record {
        let channels = ["Fp1", "Cz", "O1"]
            .iter()
            .enumerate()
            .map(|(number, name)| {
                let value = |t: usize| ((t * t + 31 * number) as f64 * 0.013).sin() * 20.0;
                let values = (0..40 * 250).map(value).collect();
                let channel = Channel::analog(*name, Unit::parse("uV"), Some(250.0), 0);
                (channel, values)
            });
        let (format, kind) = (Format::Simulated, Kind::Recording);
        Record::in_memory(format, kind, "made.edf", channels.collect())
    }

    fn recipes() -> [FeatureRecipe; 4] {
        let bands = vec![Band::new("alpha", 8.0, 13.0), Band::new("beta", 13.0, 30.0)];
        [
            FeatureRecipe::Eeg(EegRecipe::default()),
            FeatureRecipe::EegGroups(EegGroupsRecipe::for_traits()),
            FeatureRecipe::EegGroups(EegGroupsRecipe::for_states(bands, 3.0, 2.0)),
            FeatureRecipe::EegGroups(EegGroupsRecipe::for_single_channel()),
        ]
    }

    #[test]
    fn samples_that_waited_are_those_of_the_recipe_bit_for_bit() {
        let record = recording();
        let stretches = [(0.0, 6.0), (7.5, 20.0), (25.0, 39.0)];
        let stretches = stretches.map(|(start_s, end_s)| Stretch { start_s, end_s });
        for recipe in recipes() {
            let whole = recipe
                .extract_within(&record, Some(&stretches), &mut |_| true)
                .expect("it fits");
            assert!(whole.samples.len() > 5);
            for most_bytes in [0, 200, u64::MAX] {
                let list = FeatureList::in_memory_up_to(most_bytes);
                let made =
                    MadeSamples::within(list, &recipe, &record, Some(&stretches), &mut |_| true)
                        .expect("it fits");
                assert_eq!(made.stored.is_none(), most_bytes == u64::MAX);
                assert_eq!(made.n_samples(), whole.samples.len());
                assert_eq!(made.extraction.notes, whole.notes);
                let mut sample = Sample::default();
                for (number, expected) in whole.samples.iter().enumerate() {
                    made.read(number, &mut sample).expect("it was written");
                    assert_eq!(
                        (sample.start_s, sample.duration_s),
                        (expected.start_s, expected.duration_s)
                    );
                    let bits = |values: &[f64]| -> Vec<u64> {
                        values.iter().map(|value| value.to_bits()).collect()
                    };
                    assert_eq!(bits(&sample.values), bits(&expected.values));
                }
            }
        }
    }

    #[test]
    fn a_long_recording_can_be_cancelled() {
        for recipe in recipes() {
            let made = MadeSamples::of(&recipe, &recording(), None, &mut |_| false);
            assert!(matches!(
                made,
                Err(MakingError::Recipe(FeatureError::Read(
                    ReadError::Cancelled
                )))
            ));
        }
    }
}
