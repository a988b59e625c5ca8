//! Built-in data: simulated records as samples, several at a time.

use super::super::builder::{DatasetBuilder, Label};
use super::super::error::DatasetError;
use super::super::in_order::in_order;
use crate::features::FeatureRecipe;
use crate::simulate::eeg::{EegSettings, EegSimulator};
use crate::simulate::feeder::{FeederSettings, FeederSimulator};
use crate::simulate::network::{NetworkSettings, NetworkSimulator};

/// Adds the records of the feeder; every record is a group of its own.
pub(super) fn add_feeder_faults(
    builder: &mut DatasetBuilder,
    settings: &FeederSettings,
    recipe: &FeatureRecipe,
    keep_going: &mut dyn FnMut(f64) -> bool,
) -> Result<(), DatasetError> {
    let simulator = FeederSimulator::new(settings.clone())?;
    let records: Vec<_> = simulator.records().collect();
    in_order(
        records.len(),
        keep_going,
        |number, go_on| {
            let (class, index) = records[number];
            recipe.extract(&simulator.record(class, index), go_on)
        },
        |number, extracted| {
            let (class, index) = records[number];
            let name = simulator.record_name(class, index);
            let label = Label::Whole(class.name().to_owned());
            builder.add_extraction(name.as_ref(), extracted, &label, None)
        },
    )
}

/// Adds the records of many networks; every record is a group of its own. A record that the recipe gives no verdict on
/// is left out like one of a file.
pub(super) fn add_network_faults(
    builder: &mut DatasetBuilder,
    settings: &NetworkSettings,
    recipe: &FeatureRecipe,
    keep_going: &mut dyn FnMut(f64) -> bool,
) -> Result<(), DatasetError> {
    let simulator = NetworkSimulator::new(settings.clone())?;
    let records: Vec<_> = simulator.records().collect();
    in_order(
        records.len(),
        keep_going,
        |number, go_on| {
            let (class, index) = records[number];
            recipe.extract(&simulator.record(class, index), go_on)
        },
        |number, extracted| {
            let (class, index) = records[number];
            let name = simulator.record_name(class, index);
            let label = Label::Whole(class.name().to_owned());
            builder.add_extraction(name.as_ref(), extracted, &label, None)
        },
    )
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
    in_order(
        subjects.len(),
        keep_going,
        |number, go_on| {
            let (class, index) = subjects[number];
            recipe.extract(&simulator.record(class, index), go_on)
        },
        |number, extracted| {
            let (class, index) = subjects[number];
            let path = simulator.subject_name(class, index);
            let label = Label::Whole(class.name().to_owned());
            let subject = path.rsplit('/').next().unwrap_or(&path);
            builder.add_extraction(path.as_ref(), extracted, &label, Some(subject))
        },
    )
}
