//! Samples and atoms as pictures: what all pages need to draw them.

use atomscope_engine::dataset::{Dataset, FeatureGroup};
use atomscope_engine::experiment::DataFacts;
use atomscope_engine::features::Layout;
use atomscope_engine::features::electrodes;
use atomscope_engine::features::readable::{Readable, readable, readable_layout};

/// Where the channels of channel × band features lie, and the names of the bands.
#[derive(Default)]
pub(super) struct BandPlaces {
    /// The place of each channel on the head.
    pub(super) electrodes: Vec<Option<(f64, f64)>>,
    /// The names of the bands.
    pub(super) band_names: Vec<String>,
}

impl BandPlaces {
    /// Read from the names of the features: "Fp1 alpha".
    pub(super) fn of(layout: Layout, feature_names: &[String]) -> Self {
        let Layout::ChannelBand { n_bands, .. } = layout else {
            return Self::default();
        };
        let n_bands = n_bands.max(1);
        let split = |name: &String| {
            let (channel, band) = name.rsplit_once(' ').unwrap_or((name, ""));
            (channel.to_owned(), band.to_owned())
        };
        let first_of_channel = feature_names.iter().step_by(n_bands);
        Self {
            electrodes: first_of_channel
                .map(|name| electrodes::position(&split(name).0))
                .collect(),
            band_names: feature_names
                .iter()
                .take(n_bands)
                .map(|name| split(name).1)
                .collect(),
        }
    }
}

/// How samples are drawn: covariances as what a clinician reads, everything else as it is.
pub(super) struct SampleDrawing {
    /// How the drawn values lie side by side.
    pub(super) layout: Layout,
    /// Where channels lie on the head.
    pub(super) places: BandPlaces,
    /// Names of the channels on the head.
    pub(super) names: Vec<String>,
}

impl SampleDrawing {
    fn of(layout: Layout, groups: &[FeatureGroup], feature_names: &[String]) -> Self {
        let readable = readable_layout(groups);
        let (layout, names) = readable.unwrap_or_else(|| (layout, feature_names.to_vec()));
        Self {
            layout,
            places: BandPlaces::of(layout, &names),
            names,
        }
    }

    /// For values that are read already.
    pub(super) fn of_readable(read: &Readable) -> Self {
        let names = read.names();
        Self {
            layout: read.layout,
            places: BandPlaces::of(read.layout, &names),
            names,
        }
    }

    /// For the samples of a data set.
    pub(super) fn of_dataset(dataset: &Dataset) -> Self {
        Self::of(
            dataset.layout(),
            dataset.feature_groups(),
            dataset.feature_names(),
        )
    }

    /// For what a run knows of its data.
    pub(super) fn of_facts(facts: &DataFacts) -> Self {
        Self::of(facts.layout, &facts.feature_groups, &facts.feature_names)
    }
}

/// The values of a sample as they are drawn.
pub(super) fn drawn_values(dataset: &Dataset, sample: usize) -> Vec<f64> {
    let values = dataset.sample(sample);
    let read = readable(dataset.feature_groups(), &values);
    read.map_or_else(|| values.to_vec(), |read| read.values)
}
