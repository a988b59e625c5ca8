//! Built-in data: simulated records as samples, several at a time.

use super::super::builder::{DatasetBuilder, Label};
use super::super::error::DatasetError;
use super::super::in_order::in_order;
use super::super::made_samples::MadeSamples;
use super::super::{Layout, Place};
use crate::features::FeatureRecipe;
use crate::records::{ReadError, Record};
use crate::simulate::concepts::{CONCEPT_CLASSES, ConceptSettings};
use crate::simulate::eeg::{EegSettings, EegSimulator};
use crate::simulate::feeder::{FeederSettings, FeederSimulator};
use crate::simulate::network::{NetworkSettings, NetworkSimulator};

/// What is known of a simulated record without making it.
struct Known {
    name: String,
    class: String,
    /// Records of one group stay together; without one each is a group of its own.
    group: Option<String>,
}

/// Adds `n_records` records. One that the recipe gives no verdict on is left out like one of a file.
fn add_records(
    builder: &mut DatasetBuilder,
    recipe: &FeatureRecipe,
    keep_going: &mut dyn FnMut(f64) -> bool,
    n_records: usize,
    make: impl Fn(usize) -> Record + Sync,
    known: impl Fn(usize) -> Known,
) -> Result<(), DatasetError> {
    in_order(
        n_records,
        keep_going,
        |number, go_on| {
            let record = make(number);
            (record.start, MadeSamples::of(recipe, &record, None, go_on))
        },
        |number, (start, made)| {
            let known = known(number);
            let label = Label::Whole(known.class);
            let group = known.group.as_deref();
            builder.note_start(known.name.as_ref(), start);
            builder.add_made(known.name.as_ref(), made, &label, group, 1)
        },
    )
}

/// Adds the records of the feeder; every record is a group of its own.
pub(super) fn add_feeder_faults(
    builder: &mut DatasetBuilder,
    settings: &FeederSettings,
    recipe: &FeatureRecipe,
    keep_going: &mut dyn FnMut(f64) -> bool,
) -> Result<(), DatasetError> {
    let simulator = FeederSimulator::new(settings.clone())?;
    let records: Vec<_> = simulator.records().collect();
    let make = |number: usize| simulator.record(records[number].0, records[number].1);
    let known = |number: usize| {
        let (class, index) = records[number];
        Known {
            name: simulator.record_name(class, index),
            class: class.name().to_owned(),
            group: None,
        }
    };
    add_records(builder, recipe, keep_going, records.len(), make, known)
}

/// Adds the records of many networks; every record is a group of its own.
pub(super) fn add_network_faults(
    builder: &mut DatasetBuilder,
    settings: &NetworkSettings,
    recipe: &FeatureRecipe,
    keep_going: &mut dyn FnMut(f64) -> bool,
) -> Result<(), DatasetError> {
    let simulator = NetworkSimulator::new(settings.clone())?;
    let records: Vec<_> = simulator.records().collect();
    let make = |number: usize| simulator.record(records[number].0, records[number].1);
    let known = |number: usize| {
        let (class, index) = records[number];
        Known {
            name: simulator.record_name(class, index),
            class: class.name().to_owned(),
            group: None,
        }
    };
    add_records(builder, recipe, keep_going, records.len(), make, known)
}

/// Adds the samples of a stream whose classes change.
pub(super) fn add_concepts(
    builder: &mut DatasetBuilder,
    settings: &ConceptSettings,
    keep_going: &mut dyn FnMut(f64) -> bool,
) -> Result<(), DatasetError> {
    let name = format!("simulated/concepts-seed-{}", settings.seed);
    let names = settings.feature_names();
    if let Err(reason) = builder.join_features(&names, Layout::Plain) {
        builder.leave_out(name.as_ref(), None, reason.to_string());
        return Ok(());
    }
    let mut stream = settings.stream();
    let mut features = Vec::new();
    for number in 0..settings.n_samples {
        if number % 4096 == 0 && !keep_going(number as f64 / settings.n_samples as f64) {
            return Err(ReadError::Cancelled.into());
        }
        let class = CONCEPT_CLASSES[stream.draw(&mut features)];
        builder.push(name.as_ref(), Place::Row(number), &features, class, None)?;
    }
    Ok(())
}

/// Adds the recordings of the simulated subjects; every subject is a group.
pub(super) fn add_eeg(
    builder: &mut DatasetBuilder,
    settings: &EegSettings,
    recipe: &FeatureRecipe,
    keep_going: &mut dyn FnMut(f64) -> bool,
) -> Result<(), DatasetError> {
    let simulator = EegSimulator::new(settings.clone())?;
    let subjects: Vec<_> = simulator.subjects().collect();
    let make = |number: usize| simulator.record(subjects[number].0, subjects[number].1);
    let known = |number: usize| {
        let (class, index) = subjects[number];
        let name = simulator.subject_name(class, index);
        Known {
            group: name.rsplit('/').next().map(str::to_owned),
            class: class.name().to_owned(),
            name,
        }
    };
    add_records(builder, recipe, keep_going, subjects.len(), make, known)
}
