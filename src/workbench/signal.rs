//! The signal of one record around a sample, read in the background.

use std::path::PathBuf;

use super::event::Event;
use super::records::LoadedData;
use super::{Stage, TaskError, Workbench};
use atomscope_engine::dataset::{DataPlan, Dataset, Place};
use atomscope_engine::features::FeatureRecipe;
use atomscope_engine::features::eeg_segments::{CovarianceSteps, covariance_steps};
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
pub struct Signal {
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
    /// Their names.
    pub channel_names: Vec<String>,
    /// Annotations with their times.
    pub marks: Vec<(f64, String)>,
    /// The first channel as it passes through the filter of each band.
    pub bands: Vec<SignalChannel>,
    /// What the steps of a covariance recipe make of the sample.
    pub steps: Vec<CovarianceSteps>,
    /// The recipe that the bands are of.
    pub recipe: Option<FeatureRecipe>,
}

/// Reads or simulates the beginning of a record, or what lies around a window (start and length).
pub(super) fn signal_of(
    loaded: &LoadedData,
    source: usize,
    window: Option<(f64, f64)>,
    recipe: Option<FeatureRecipe>,
) -> Result<Signal, TaskError> {
    let (name, record) = record_of(loaded, source)?;
    let mut signal = stretch(&record, source, name, window)?;
    signal.bands = bands(&signal, recipe.as_ref());
    if let (Some(FeatureRecipe::EegGroups(recipe)), Some((start_s, _))) = (&recipe, window) {
        // A segment that the recipe cannot be used on has no steps; loading says why.
        signal.steps = covariance_steps(recipe, &record, start_s).unwrap_or_default();
    }
    signal.recipe = recipe;
    Ok(signal)
}

/// Which record, and start and length of a sample in it.
pub(super) type SignalQuestion = (usize, Option<(f64, f64)>);

/// Where a sample was made of: its record, and start and length in it.
pub(super) fn question_of(dataset: &Dataset, sample: usize) -> Option<SignalQuestion> {
    let origin = (sample < dataset.n_samples()).then(|| dataset.origin(sample))?;
    let window = match origin.place {
        Place::Window {
            start_s,
            duration_s,
        } => Some((start_s, duration_s)),
        Place::Row(_) => None,
    };
    Some((origin.source, window))
}

impl Workbench {
    /// The signal of a record with the recipe of the draft.
    pub(super) fn look_at_record(&mut self, source: usize, window: Option<(f64, f64)>) {
        if let Some(loaded) = self.document.data.loaded().cloned() {
            let recipe = self.document.draft.experiment.data.recipe.clone();
            let on = (&self.tasks.post, "reading", Event::Signal as _);
            let signal = &mut self.tasks.signal;
            signal.start((source, window), on, move |_| {
                signal_of(&loaded, source, window, recipe)
            });
        }
    }

    /// The signal that a sample was made of, with some of what comes before and after.
    pub(super) fn look_at_sample(&mut self, sample: usize) {
        let loaded = self.document.data.loaded();
        let question = loaded.and_then(|loaded| question_of(&loaded.dataset, sample));
        if let Some((source, window)) = question {
            self.look_at_record(source, window);
        }
    }

    /// The signal follows the recipe of the draft as soon as that makes sense; the Features page
    /// shows that of its sample by itself. What cannot be read is asked for once.
    pub(super) fn follow_signal(&mut self) {
        if self.tasks.signal.is_busy() {
            return;
        }
        let recipe = &self.document.draft.experiment.data.recipe;
        let is_sound = recipe
            .as_ref()
            .is_none_or(|recipe| recipe.problems().is_empty());
        let shown = self.tasks.signal.shown();
        let is_other = shown.filter(|shown| shown.recipe != *recipe && is_sound);
        let sample = self.selection.sample;
        if let Some((source, window)) = is_other.map(|shown| (shown.source, shown.window)) {
            self.look_at_record(source, window);
        } else if self.selection.page == Stage::Features
            && recipe.is_some()
            && self.document.data.loaded().is_some()
            && self.tasks.previewed != Some(sample)
        {
            self.tasks.previewed = Some(sample);
            self.look_at_sample(sample);
        }
    }
}

/// Opens or simulates a record by its place among the sources; gives its name too.
pub(super) fn record_of(loaded: &LoadedData, source: usize) -> Result<(String, Record), TaskError> {
    let name = match loaded.records.get(source) {
        Some(row) => row.name.clone(),
        None => return Err(TaskError::refused("this record does not exist")),
    };
    let record = match &loaded.settings.source {
        DataPlan::FeederFaults(settings) => {
            let simulator = FeederSimulator::new(*settings.clone())?;
            let found = simulator
                .records()
                .find(|(class, index)| simulator.record_name(*class, *index) == name);
            found.map(|(class, index)| simulator.record(class, index))
        }
        DataPlan::NetworkFaults(settings) => {
            let simulator = NetworkSimulator::new(*settings.clone())?;
            let found = simulator
                .records()
                .find(|(class, index)| simulator.record_name(*class, *index) == name);
            found.map(|(class, index)| simulator.record(class, index))
        }
        DataPlan::SimulatedEeg(settings) => {
            let simulator = EegSimulator::new(settings.clone())?;
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
                Some(file) => Some(open_with(&file.source.path, &recordings.options)?),
                None => None,
            }
        }
        DataPlan::Table(_) | DataPlan::Arrays(_) | DataPlan::Concepts(_) => {
            let reason = "rows of a table have no signal: their features are on the Features page";
            return Err(TaskError::refused(reason));
        }
    };
    match record {
        Some(record) => Ok((name, record)),
        None => {
            let reason = format!("the record no longer exists: {name}");
            Err(TaskError::Refused(reason))
        }
    }
}

/// The first channel in every band of an EEG recipe that filters.
fn bands(signal: &Signal, recipe: Option<&FeatureRecipe>) -> Vec<SignalChannel> {
    let (Some(FeatureRecipe::Eeg(recipe)), Some(first)) = (recipe, signal.channels.first()) else {
        return Vec::new();
    };
    let filtered = recipe.bands.iter().filter_map(|band| {
        let filter = recipe.filter_design(band)?.at_rate(signal.rate_hz).ok()?;
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
) -> Result<Signal, TaskError> {
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
        let end = (first_value + n_values).min(channel.n_samples);
        let values = record.read(place, first_value..end)?;
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
    Ok(Signal {
        source,
        name,
        rate_hz,
        duration_s: record.duration_s(),
        n_channels: analog.len(),
        channel_names: analog
            .iter()
            .map(|place| record.channels[*place].name.clone())
            .collect(),
        channels,
        start_s,
        window,
        marks: marks.filter(|(time_s, _)| shown.contains(time_s)).collect(),
        bands: Vec::new(),
        steps: Vec::new(),
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
