//! A quick look at the signal of one record.

use std::path::PathBuf;

use super::data::LoadedData;
use crate::dataset::DataPlan;
use crate::features::FeatureRecipe;
use crate::records::{ChannelKind, Record, open_with};
use crate::simulate::eeg::EegSimulator;
use crate::simulate::feeder::FeederSimulator;

/// Seconds shown at most.
const MOST_SECONDS: f64 = 10.0;
/// Values of a channel read at most.
const MOST_VALUES: usize = 100_000;
/// Channels shown at most.
const MOST_CHANNELS: usize = 24;

/// One channel of a record.
#[derive(Clone, Debug)]
pub struct SignalChannel {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Its values.
    pub values: Vec<f64>,
}

/// The beginning of a record.
#[derive(Clone, Debug)]
pub struct SignalLook {
    /// The record, by its place among the sources.
    pub source: usize,
    /// Its name.
    pub name: String,
    /// Samples per second.
    pub rate_hz: f64,
    /// How long the whole record is.
    pub duration_s: Option<f64>,
    /// The first channels.
    pub channels: Vec<SignalChannel>,
    /// Channels in all.
    pub n_channels: usize,
    /// Annotations with their times.
    pub marks: Vec<(f64, String)>,
    /// The first channel as it passes through the filter of each band.
    pub bands: Vec<SignalChannel>,
    /// The recipe that the bands are of.
    pub recipe: Option<FeatureRecipe>,
}

/// Reads or simulates the beginning of a record.
pub(super) fn look(
    loaded: &LoadedData,
    source: usize,
    recipe: Option<FeatureRecipe>,
) -> Result<SignalLook, String> {
    let name = match loaded.records.get(source) {
        Some(row) => row.name.clone(),
        None => return Err("there is no such record".into()),
    };
    let record = match &loaded.settings.source {
        DataPlan::FeederFaults(settings) => {
            let simulator =
                FeederSimulator::new(*settings.clone()).map_err(|error| error.to_string())?;
            let found = simulator
                .records()
                .find(|(class, index)| simulator.record_name(*class, *index) == name);
            found.map(|(class, index)| simulator.record(class, index))
        }
        DataPlan::SimulatedEeg(settings) => {
            let simulator =
                EegSimulator::new(settings.clone()).map_err(|error| error.to_string())?;
            let found = simulator
                .subjects()
                .find(|(class, index)| simulator.subject_name(*class, *index) == name);
            found.map(|(class, index)| simulator.record(class, index))
        }
        DataPlan::Recordings(recordings) => {
            let is_it = |named: &PathBuf| named.to_string_lossy().replace('\\', "/") == name;
            let file = loaded.files.iter().find(|file| is_it(&file.named));
            match file {
                Some(file) => Some(
                    open_with(&file.source.path, &recordings.options)
                        .map_err(|error| error.to_string())?,
                ),
                None => None,
            }
        }
        DataPlan::Table(_) | DataPlan::Arrays(_) => {
            return Err(
                "rows of a table have no signal: their features are on the next page".into(),
            );
        }
    };
    let record = record.ok_or_else(|| format!("the record is not there any more: {name}"))?;
    let mut look = beginning(&record, source, name)?;
    look.bands = bands(&look, recipe.as_ref());
    look.recipe = recipe;
    Ok(look)
}

/// The first channel in every band of an EEG recipe that filters.
fn bands(look: &SignalLook, recipe: Option<&FeatureRecipe>) -> Vec<SignalChannel> {
    let (Some(FeatureRecipe::Eeg(recipe)), Some(first)) = (recipe, look.channels.first()) else {
        return Vec::new();
    };
    let filtered = recipe.bands.iter().filter_map(|band| {
        let filter = recipe.filter_design(band)?.at_rate(look.rate_hz).ok()?;
        let mut values = Vec::new();
        filter.run(&first.values, &mut values);
        Some(SignalChannel {
            name: band.name.clone(),
            unit: first.unit.clone(),
            values,
        })
    });
    filtered.collect()
}

fn beginning(record: &Record, source: usize, name: String) -> Result<SignalLook, String> {
    let analog: Vec<usize> = (0..record.channels.len())
        .filter(|place| record.channels[*place].kind == ChannelKind::Analog)
        .collect();
    let first = analog.first().map(|place| &record.channels[*place]);
    let rate_hz = first.and_then(|channel| channel.rate_hz).unwrap_or(1.0);
    let n_values = ((MOST_SECONDS * rate_hz) as usize).min(MOST_VALUES);
    let mut channels = Vec::new();
    for &place in analog.iter().take(MOST_CHANNELS) {
        let channel = &record.channels[place];
        if channel.rate_hz.unwrap_or(1.0) != rate_hz {
            continue;
        }
        let values = record
            .read(place, 0..n_values.min(channel.n_samples))
            .map_err(|error| error.to_string())?;
        channels.push(SignalChannel {
            name: channel.name.clone(),
            unit: channel.unit.symbol.clone(),
            values,
        });
    }
    let shown_s = n_values as f64 / rate_hz;
    let marks = record
        .annotations
        .iter()
        .filter(|note| note.onset_s <= shown_s);
    Ok(SignalLook {
        source,
        name,
        rate_hz,
        duration_s: record.duration_s(),
        n_channels: analog.len(),
        channels,
        marks: marks
            .map(|note| (note.onset_s, note.text.clone()))
            .collect(),
        bands: Vec::new(),
        recipe: None,
    })
}
