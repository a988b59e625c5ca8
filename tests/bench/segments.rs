//! What one EEG segment costs, recipe by recipe, on one core.

use std::time::Instant;

use atomscope_engine::features::eeg::Band;
use atomscope_engine::features::{EegGroupsRecipe, EegRecipe, FeatureRecipe};
use atomscope_engine::math::{Normal, random_stream};
use atomscope_engine::records::{Channel, Format, Kind, Record, Unit};

/// Repeats of each measurement; the fastest counts.
const N_REPEATS: usize = 5;

pub(crate) fn table() -> String {
    let mut text = String::from("| channels | recipe | per segment |\n|---|---|---|\n");
    let bands = vec![Band::new("alpha", 8.0, 13.0), Band::new("beta", 13.0, 30.0)];
    let state = EegGroupsRecipe::for_states(bands, 2.0, 0.0);
    let recipes = [
        (
            "band amplitudes, 1 s",
            FeatureRecipe::Eeg(EegRecipe::default()),
        ),
        (
            "covariance 1–45 Hz, 2 s",
            FeatureRecipe::EegGroups(EegGroupsRecipe::for_traits()),
        ),
        (
            "two bands, re-centred, 2 s",
            FeatureRecipe::EegGroups(state),
        ),
        (
            "fine bands, shape, delays, 4 s",
            FeatureRecipe::EegGroups(EegGroupsRecipe::for_single_channel()),
        ),
    ];
    for n_channels in [1, 19, 64] {
        let record = recording(n_channels, 250 * 120);
        for (name, recipe) in &recipes {
            let cost = cost_us(recipe, &record);
            text.push_str(&format!("| {n_channels} | {name} | {cost:.0} |\n"));
        }
    }
    text
}

fn cost_us(recipe: &FeatureRecipe, record: &Record) -> f64 {
    let times = (0..N_REPEATS).map(|_| {
        let begin = Instant::now();
        let made = recipe.extract(record, &mut |_| true).expect("it fits");
        1e6 * begin.elapsed().as_secs_f64() / made.samples.len() as f64
    });
    times.fold(f64::INFINITY, f64::min)
}

fn recording(n_channels: usize, n_samples: usize) -> Record {
    let mut random = random_stream(1, "bench", 0);
    let mut normal = Normal::default();
    let channels = (0..n_channels).map(|number| {
        let name = format!("C{number}");
        let channel = Channel::analog(&name, Unit::parse("uV"), Some(250.0), 0);
        let values = (0..n_samples).map(|_| normal.draw(&mut random)).collect();
        (channel, values)
    });
    Record::in_memory(
        Format::Simulated,
        Kind::Recording,
        "bench",
        channels.collect(),
    )
}
