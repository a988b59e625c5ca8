//! Samples of a file whose class is not known, made as the settings make samples with a class.

use std::path::Path;

use super::tables::add_long;
use super::{ArraySource, DataPlan, DataSettings, no_arrays};
use crate::dataset::builder::{DatasetBuilder, Label};
use crate::dataset::made_samples::MadeSamples;
use crate::dataset::{ArrayChoice, Built, DatasetError, TableChoice, TableClasses};
use crate::features::eeg::ChannelChoice;
use crate::features::signal_kind::place_of_channel;
use crate::features::{FeatureRecipe, Stretch};
use crate::records::catalog::Rule;
use crate::records::{ChannelKind, Mode, ReadOptions, Record, open, open_with};

/// The class that stands for not knowing it.
const UNKNOWN: &str = "unknown";

impl DataSettings {
    /// The samples of one file. Their features must be those of `feature_names`.
    pub fn load_unlabelled(
        &self,
        path: &Path,
        feature_names: &[String],
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Built, DatasetError> {
        let mut builder = DatasetBuilder::new();
        match &self.source {
            DataPlan::Table(table) => {
                let choice = TableChoice {
                    classes: TableClasses::Whole(UNKNOWN.into()),
                    group_column: None,
                    feature_columns: Some(feature_names.to_vec()),
                };
                let record = open_with(path, &table.read_options())?;
                match (&table.recordings, &self.recipe) {
                    (Some(long), Some(recipe)) => {
                        let choice = TableChoice {
                            feature_columns: None,
                            ..choice
                        };
                        add_long(&mut builder, &record, long, &choice, recipe)?;
                    }
                    _ => builder.add_table(&record, &choice)?,
                }
            }
            DataPlan::Concepts(_) => {
                let choice = TableChoice {
                    classes: TableClasses::Whole(UNKNOWN.into()),
                    group_column: None,
                    feature_columns: Some(feature_names.to_vec()),
                };
                builder.add_table(&open(path, Mode::Tolerant)?, &choice)?;
            }
            DataPlan::Arrays(arrays) => {
                let record = open(path, arrays.mode)?;
                let choice = match &arrays.choice {
                    Some(choice) => choice.clone(),
                    None => ArrayChoice::guess(&record).ok_or_else(|| no_arrays(&record))?,
                };
                builder.add_arrays(&record, &choice)?;
            }
            DataPlan::Recordings(_)
            | DataPlan::FeederFaults(_)
            | DataPlan::NetworkFaults(_)
            | DataPlan::SimulatedEeg(_) => {
                let record = open_with(path, &self.read_options())?;
                self.add_record(&mut builder, &record, feature_names, keep_going)?;
            }
        }
        finished(builder, path, feature_names)
    }

    /// The samples of a recording that is open already. Their features must be those of `feature_names`.
    pub fn sample_unlabelled(
        &self,
        record: &Record,
        feature_names: &[String],
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Built, DatasetError> {
        let mut builder = DatasetBuilder::new();
        self.add_record(&mut builder, record, feature_names, keep_going)?;
        finished(builder, &record.source.path, feature_names)
    }

    /// How a recording is read that is to become such samples.
    pub fn read_options(&self) -> ReadOptions {
        match &self.source {
            DataPlan::Recordings(recordings) => recordings.options.clone(),
            DataPlan::Table(table) => table.read_options(),
            DataPlan::Arrays(ArraySource { mode, .. }) => (*mode).into(),
            DataPlan::FeederFaults(_)
            | DataPlan::NetworkFaults(_)
            | DataPlan::SimulatedEeg(_)
            | DataPlan::Concepts(_) => Mode::Tolerant.into(),
        }
    }

    /// Where the annotations of a recording mark trials, whatever they say of their class.
    fn marked_stretches(&self, record: &Record) -> Option<Vec<Stretch>> {
        let DataPlan::Recordings(recordings) = &self.source else {
            return None;
        };
        let rule = recordings.rules.iter().find_map(|rule| match rule {
            Rule::Annotations(rule) => Some(rule),
            _ => None,
        })?;
        let spans = rule.spans_of(record);
        (!spans.is_empty()).then(|| Label::Spans(spans).stretches())?
    }

    fn add_record(
        &self,
        builder: &mut DatasetBuilder,
        record: &Record,
        feature_names: &[String],
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<(), DatasetError> {
        let Some(recipe) = &self.recipe else {
            return Err(DatasetError::NoFeatures);
        };
        let mut recipe = recipe.clone();
        match &mut recipe {
            FeatureRecipe::Eeg(recipe) => take_learned(&mut recipe.channels, record, feature_names),
            FeatureRecipe::EegGroups(recipe) => {
                take_learned(&mut recipe.channels, record, feature_names);
            }
            FeatureRecipe::Fault(_) => {}
        }
        let label = Label::Whole(UNKNOWN.into());
        let stretches = self.marked_stretches(record);
        let made = MadeSamples::of(&recipe, record, stretches.as_deref(), keep_going);
        builder.add_made(&record.source.path, made, &label, None, 1)
    }
}

/// Where all channels were learned from, those of a recording are taken by the names that the features have, whatever
/// their order and what else was recorded.
fn take_learned(channels: &mut ChannelChoice, record: &Record, feature_names: &[String]) {
    if *channels != ChannelChoice::All {
        return;
    }
    let signals = record.channels.iter();
    let signals = signals.filter(|channel| channel.kind == ChannelKind::Analog);
    let labels = signals.map(|channel| channel.name.as_str());
    // Features are called "1–45 Hz Fp1" or "Fp1 alpha"; pairs of channels have a × between.
    let channel_of = |feature: &String| {
        let spaces = feature
            .match_indices(' ')
            .filter(|_| !feature.contains('×'));
        let behind = spaces.clone().map(|(at, _)| &feature[at + 1..]);
        let before = spaces.rev().map(|(at, _)| &feature[..at]);
        let mut names = behind.chain(before);
        names
            .find(|name| place_of_channel(labels.clone(), name).is_some())
            .map(str::to_owned)
    };
    let mut names: Vec<String> = Vec::new();
    for name in feature_names.iter().filter_map(channel_of) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if !names.is_empty() && !labels.eq(names.iter().map(String::as_str)) {
        *channels = ChannelChoice::Named(names);
    }
}

/// The samples, if their features are those that were learned.
fn finished(
    builder: DatasetBuilder,
    path: &Path,
    feature_names: &[String],
) -> Result<Built, DatasetError> {
    let built = builder.finish()?;
    match difference(built.dataset.feature_names(), feature_names) {
        None => Ok(built),
        Some(reason) => Err(DatasetError::Unclear {
            reason,
            path: path.to_owned(),
        }),
    }
}

/// In what the features differ from those that were learned.
fn difference(found: &[String], learned: &[String]) -> Option<String> {
    if found.len() != learned.len() {
        return Some(format!(
            "it gives {} features, but the model was trained on {}",
            found.len(),
            learned.len()
        ));
    }
    let mut pairs = found.iter().zip(learned);
    let (found, learned) = pairs.find(|(found, learned)| found != learned)?;
    Some(format!(
        "it gives feature {found:?} where the model was trained on {learned:?}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::EegGroupsRecipe;
    use crate::records::{Channel, Format, Kind, Unit};

    #[test]
    fn channels_of_a_new_recording_are_taken_by_name() {
        let recording = |names: &[&str]| {
            let data = names.iter().enumerate().map(|(number, name)| {
                let channel = Channel::analog(*name, Unit::parse("uV"), Some(100.0), 0);
                let wave = |t: usize| ((number + 3) as f64 * 0.1 * t as f64).sin();
                (channel, (0..400).map(wave).collect())
            });
            Record::in_memory(
                Format::Simulated,
                Kind::Recording,
                "new.edf",
                data.collect(),
            )
        };
        let recipe = FeatureRecipe::EegGroups(EegGroupsRecipe::for_traits());
        let settings = DataSettings::new(DataPlan::Recordings(Default::default()), Some(recipe));
        let learned = ["Fp1", "Cz", "O1"];
        let sample = |names: &[&str], feature_names: &[String]| {
            settings.sample_unlabelled(&recording(names), feature_names, &mut |_| true)
        };
        let recipe = settings.recipe.as_ref().expect("one is set");
        let own = recipe.extract(&recording(&learned), &mut |_| true);
        let names = own.expect("it fits").feature_names;
        let built = sample(&["ECG", "O1", "Fp1", "Cz"], &names).expect("all are there");
        assert_eq!(built.dataset.feature_names(), names);
        assert!(sample(&learned, &names).is_ok());
        let error = sample(&["Fp1", "Cz"], &names).expect_err("O1 is missing");
        assert!(error.to_string().contains("gives 3 features"), "{error}");
    }
}
