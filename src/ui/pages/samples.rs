//! Samples and atoms as pictures: what all pages need to draw them.

use atomscope_engine::experiment::DataFacts;
use atomscope_engine::features::Layout;
use atomscope_engine::features::electrodes;

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

    /// Read from what a run knows of its data.
    pub(super) fn of_facts(facts: &DataFacts) -> Self {
        Self::of(facts.layout, &facts.feature_names)
    }
}
