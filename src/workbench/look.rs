//! A quick look at the signal of one record.

use std::path::PathBuf;

use super::data::LoadedData;
use atomscope_engine::dataset::DataPlan;
use atomscope_engine::features::FeatureRecipe;
use atomscope_engine::records::{ChannelKind, Record, open_with};
use atomscope_engine::simulate::eeg::EegSimulator;
use atomscope_engine::simulate::feeder::FeederSimulator;
use atomscope_engine::simulate::network::NetworkSimulator;

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

/// A stretch of a record.
#[derive(Clone, Debug)]
pub struct SignalLook {
    /// The record, by its place among the sources.
    pub source: usize,
    /// Its name.
    pub name: String,
    /// Samples per second.
    pub rate_hz: f64,
    /// Time of the first value shown.
    pub start_s: f64,
    /// Start and length of the sample that is looked at, if it is one.
    pub window: Option<(f64, f64)>,
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

/// Reads or simulates the beginning of a record, or what lies around a window (start and length).
pub(super) fn look(
    loaded: &LoadedData,
    source: usize,
    window: Option<(f64, f64)>,
    recipe: Option<FeatureRecipe>,
) -> Result<SignalLook, String> {
    let (name, record) = record_of(loaded, source)?;
    let mut look = stretch(&record, source, name, window)?;
    look.bands = bands(&look, recipe.as_ref());
    look.recipe = recipe;
    Ok(look)
}

/// Opens or simulates a record by its place among the sources; gives its name too.
pub(super) fn record_of(loaded: &LoadedData, source: usize) -> Result<(String, Record), String> {
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
        DataPlan::NetworkFaults(settings) => {
            let simulator =
                NetworkSimulator::new(*settings.clone()).map_err(|error| error.to_string())?;
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
            // A record is called by its path: as the settings name it, or where it was found.
            let is_it = |path: &PathBuf| path.to_string_lossy().replace('\\', "/") == name;
            let mut files = loaded.files.iter();
            let file = files.find(|file| is_it(&file.named) || is_it(&file.source.path));
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
    match record {
        Some(record) => Ok((name, record)),
        None => Err(format!("the record is not there any more: {name}")),
    }
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

fn stretch(
    record: &Record,
    source: usize,
    name: String,
    window: Option<(f64, f64)>,
) -> Result<SignalLook, String> {
    let analog: Vec<usize> = (0..record.channels.len())
        .filter(|place| record.channels[*place].kind == ChannelKind::Analog)
        .collect();
    let first = analog.first().map(|place| &record.channels[*place]);
    let rate_hz = first.and_then(|channel| channel.rate_hz).unwrap_or(1.0);
    let n_values = ((MOST_SECONDS * rate_hz) as usize).min(MOST_VALUES);
    // The window in the middle, as far as the record reaches.
    let longest = first.map_or(0, |channel| channel.n_samples);
    let before_s = |(start_s, duration_s): (f64, f64)| start_s - (MOST_SECONDS - duration_s) / 2.0;
    let first_value = window.map_or(0.0, |window| before_s(window).max(0.0) * rate_hz) as usize;
    let first_value = first_value.min(longest.saturating_sub(n_values));
    let mut channels = Vec::new();
    for &place in analog.iter().take(MOST_CHANNELS) {
        let channel = &record.channels[place];
        if channel.rate_hz.unwrap_or(1.0) != rate_hz {
            continue;
        }
        let values = record
            .read(
                place,
                first_value..(first_value + n_values).min(channel.n_samples),
            )
            .map_err(|error| error.to_string())?;
        channels.push(SignalChannel {
            name: channel.name.clone(),
            unit: channel.unit.symbol.clone(),
            values,
        });
    }
    let start_s = first_value as f64 / rate_hz;
    let shown = start_s..=start_s + n_values as f64 / rate_hz;
    let notes = record.annotations.iter();
    let notes = notes.map(|note| (note.onset_s, note.text.clone()));
    let ends = window.map(|(start_s, duration_s)| {
        let end = (start_s + duration_s, "end".to_owned());
        [(start_s, "this sample".to_owned()), end]
    });
    let marks = notes.chain(ends.into_iter().flatten());
    Ok(SignalLook {
        source,
        name,
        rate_hz,
        duration_s: record.duration_s(),
        n_channels: analog.len(),
        channels,
        start_s,
        window,
        marks: marks.filter(|(time_s, _)| shown.contains(time_s)).collect(),
        bands: Vec::new(),
        recipe: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use atomscope_engine::records::{Channel, Format, Kind, Unit};

    #[test]
    fn a_sample_is_shown_where_it_lies_with_its_ends_marked() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let channel = Channel::analog("c", Unit::parse("µV"), Some(10.0), 0);
        let data = vec![(channel, values)];
        let record = Record::in_memory(Format::Simulated, Kind::Recording, "test", data);
        let look = |window| stretch(&record, 0, "test".into(), window).expect("it is readable");
        let middle = look(Some((50.0, 2.0)));
        assert_eq!(
            (middle.start_s, middle.channels[0].values[0]),
            (46.0, 460.0)
        );
        assert_eq!(middle.channels[0].values.len(), 100);
        let times: Vec<f64> = middle.marks.iter().map(|(time_s, _)| *time_s).collect();
        assert_eq!(times, [50.0, 52.0]);
        // At the ends the stretch stays inside the record.
        assert_eq!(look(Some((0.5, 1.0))).start_s, 0.0);
        let last = look(Some((99.0, 1.0)));
        assert_eq!((last.start_s, last.channels[0].values.len()), (90.0, 100));
        assert_eq!(look(None).marks, []);
    }
}
