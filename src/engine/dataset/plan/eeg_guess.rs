//! The recipe that suits EEG recordings: by what the class belongs to, the channels that they share and their rate.

use std::cmp::Reverse;

use super::{DataPlan, DataSettings};
use crate::features::covariance::triangle_length;
use crate::features::eeg::{Band, ChannelChoice};
use crate::features::eeg_groups::EegGroup;
use crate::features::signal_kind::{SignalKind, kind_of, place_of_channel};
use crate::features::{EegGroupsRecipe, FeatureRecipe};
use crate::records::catalog::Rule;
use crate::records::{Channel, ChannelKind, Record};

/// The longest labelled stretch that is one trial; longer ones (sleep stages, seizures) are cut into segments.
const LONGEST_TRIAL_S: f64 = 10.0;

/// The recipe for EEG by what the class belongs to: a single channel, stretches of a recording, or the recording. The
/// first of some recordings of the set tells rate and trials, all of them the channels.
pub(super) fn eeg_recipe(rules: &[Rule], records: &[Record]) -> EegGroupsRecipe {
    let Some(first) = records.first() else {
        return EegGroupsRecipe::default();
    };
    let names = shared_channels(first, records);
    let n_channels = names.len();
    let by_stretches = rules.iter().find_map(|rule| match rule {
        Rule::Annotations(rule) => Some(rule),
        _ => None,
    });
    let recipe = match by_stretches {
        _ if n_channels < 2 => EegGroupsRecipe::for_single_channel(),
        Some(rule) => {
            let shortest_s = rule
                .spans_of(first)
                .iter()
                .map(|span| span.duration_s)
                .fold(f64::INFINITY, f64::min);
            let is_trial = (0.5..=LONGEST_TRIAL_S).contains(&shortest_s);
            let segment_s = match is_trial {
                true => shortest_s,
                false => EegGroupsRecipe::for_traits().segment_s,
            };
            let is_used = |channel: &&Channel| names.contains(&channel.name);
            let rates = signals(first).filter(is_used).filter_map(|c| c.rate_hz);
            let nyquist_hz = rates.fold(f64::INFINITY, f64::min) / 2.0;
            let bands = state_bands(nyquist_hz, n_channels, is_trial);
            EegGroupsRecipe::for_states(bands, segment_s, 0.0)
        }
        None => EegGroupsRecipe::for_traits(),
    };
    let is_all = |record: &Record| signals(record).map(|channel| &channel.name).eq(&names);
    let channels = match records.iter().all(is_all) {
        true => ChannelChoice::All,
        false => ChannelChoice::Named(names),
    };
    EegGroupsRecipe {
        channels,
        segment_s: within_all(recipe.segment_s, records),
        ..recipe
    }
}

/// A segment that fits into recordings which are all shorter than it: the shortest of them.
fn within_all(segment_s: f64, records: &[Record]) -> f64 {
    /// In less there is no rhythm to be found.
    const SHORTEST_S: f64 = 0.5;
    let durations = records
        .iter()
        .map(|record| record.duration_s().unwrap_or(segment_s));
    let (shortest_s, longest_s) = durations.fold((f64::INFINITY, 0.0_f64), |(low, high), s| {
        (low.min(s), high.max(s))
    });
    match longest_s < segment_s && shortest_s >= SHORTEST_S {
        true => shortest_s,
        false => segment_s,
    }
}

/// Most features that a guess makes of a sample: with more channels it takes fewer bands.
const MAX_GUESSED_FEATURES: usize = 50_000;

/// The bands of states, as far as the rate of the channels carries them: the filter bank for trials, the usual bands
/// from delta on for longer stretches (sleep, seizures).
fn state_bands(nyquist_hz: f64, n_channels: usize, is_trial: bool) -> Vec<Band> {
    let usual = vec![
        Band::new("delta", 1.0, 4.0),
        Band::new("theta", 4.0, 8.0),
        Band::new("alpha", 8.0, 13.0),
        Band::new("beta", 13.0, 30.0),
        Band::new("gamma", 30.0, 45.0),
    ];
    let fits = |bands: &Vec<Band>| {
        !bands.is_empty() && bands.len() * triangle_length(n_channels) <= MAX_GUESSED_FEATURES
    };
    let carried = |bands: Vec<Band>| -> Vec<Band> {
        let bands = bands.into_iter();
        bands.filter(|band| band.high_hz <= nyquist_hz).collect()
    };
    let bank = is_trial.then(EegGroupsRecipe::trial_bands);
    let mut choices = bank.into_iter().chain([usual]).map(carried);
    choices
        .find(fits)
        .unwrap_or_else(EegGroupsRecipe::trait_bands)
}

impl DataSettings {
    /// Which recipe EEG is made into samples by, and why it suits the labels; nothing for other recipes.
    pub fn recipe_reason(&self) -> Option<String> {
        let Some(FeatureRecipe::EegGroups(recipe)) = &self.recipe else {
            return None;
        };
        let by_stretches = match &self.source {
            DataPlan::Recordings(recordings) => recordings
                .rules
                .iter()
                .any(|rule| matches!(rule, Rule::Annotations(_))),
            _ => false,
        };
        let is_single = matches!(
            &recipe.groups[..],
            [EegGroup::LogBands { .. }, EegGroup::Shape, ..]
        );
        let reason = match (is_single, by_stretches) {
            (true, _) => {
                "there is one channel, which has no covariance with others: fine bands, shape and covariance with its own past"
            }
            (false, true) => {
                "the class changes within recordings: each segment is seen relative to its recording, so that what a person is does not hide what a person does"
            }
            (false, false) => {
                "the class belongs to the whole recording: re-centring on the recording would take it away"
            }
        };
        Some(format!("{}, because {reason}", recipe.in_words()))
    }
}

/// The channels that hold signals.
fn signals(record: &Record) -> impl Iterator<Item = &Channel> + Clone {
    let channels = record.channels.iter();
    channels.filter(|channel| channel.kind == ChannelKind::Analog)
}

/// The names of the channels that samples are made of: those of the commonest rate that are named as EEG, or, where that
/// is not most, that are not named as something else (heart, eyes, breathing …); as far as all recordings have them,
/// whatever their order there.
fn shared_channels(first: &Record, records: &[Record]) -> Vec<String> {
    let of = |kinds: &[SignalKind]| -> Vec<&Channel> {
        signals(first)
            .filter(|channel| kinds.contains(&kind_of(channel)))
            .collect()
    };
    let (eeg, unknown) = (
        of(&[SignalKind::Eeg]),
        of(&[SignalKind::Eeg, SignalKind::Other]),
    );
    let mut own = match (eeg.len() * 2 > unknown.len(), unknown.is_empty()) {
        (true, _) => eeg,
        (false, false) => unknown,
        (false, true) => signals(first).collect(),
    };
    let n_with = |rate_hz: Option<f64>| own.iter().filter(|c| c.rate_hz == rate_hz).count();
    let commonest = own.iter().map(|channel| channel.rate_hz);
    let commonest = commonest.min_by_key(|rate_hz| Reverse(n_with(*rate_hz)));
    own.retain(|channel| Some(channel.rate_hz) == commonest);
    let is_shared = |channel: &&&Channel| {
        let has_it = |record: &Record| {
            let labels = signals(record).map(|other| other.name.as_str());
            place_of_channel(labels, &channel.name).is_some()
        };
        records.iter().all(has_it)
    };
    let shared: Vec<&Channel> = own.iter().filter(is_shared).copied().collect();
    // Recordings that share hardly anything do not belong together: they are left out with the reason.
    let kept = if shared.len() * 2 > own.len() {
        shared
    } else {
        own
    };
    kept.into_iter()
        .map(|channel| channel.name.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::catalog::AnnotationRule;
    use crate::records::{Format, Kind, Unit};

    #[test]
    fn bands_of_states_follow_trials_rate_and_channels() {
        let n_bands = |rate_hz: f64, n_channels, is_trial| {
            state_bands(rate_hz / 2.0, n_channels, is_trial).len()
        };
        assert_eq!(n_bands(256.0, 8, true), 9);
        assert_eq!(n_bands(40.0, 8, true), 4);
        assert_eq!(n_bands(256.0, 8, false), 5);
        assert_eq!(n_bands(256.0, 128, true), 5);
        assert_eq!(n_bands(256.0, 300, true), 1);
        assert_eq!(n_bands(6.0, 8, true), 1);
        let delta = &state_bands(128.0, 8, false)[0];
        assert_eq!((delta.low_hz, delta.high_hz), (1.0, 4.0));
        // A slow channel beside the EEG takes no band away.
        let channel = |name: &str, rate_hz, n_samples| {
            let channel = Channel::analog(name, Unit::parse("uV"), Some(rate_hz), 0);
            (channel, vec![0.0; n_samples])
        };
        let data = vec![
            channel("C3", 100.0, 6000),
            channel("C4", 100.0, 6000),
            channel("SpO2", 1.0, 60),
        ];
        let night = Record::in_memory(Format::Simulated, Kind::Recording, "night.edf", data);
        let stages = Rule::Annotations(AnnotationRule::seizures());
        let recipe = eeg_recipe(&[stages], &[night]);
        let [EegGroup::Covariance(group)] = &recipe.groups[..] else {
            panic!("one group of covariances: {recipe:?}");
        };
        assert_eq!(group.bands.len(), 5);
    }

    #[test]
    fn samples_are_made_of_the_eeg_channels_that_all_recordings_have() {
        let record = |names: &[&str]| {
            let channel = |name: &&str| {
                let rate_hz = if *name == "SpO2" { 1.0 } else { 250.0 };
                let channel = Channel::analog(*name, Unit::parse("uV"), Some(rate_hz), 0);
                (channel, vec![0.0; 10])
            };
            let data = names.iter().map(channel).collect();
            Record::in_memory(Format::Simulated, Kind::Recording, "made.edf", data)
        };
        let chosen = |records: &[Record]| eeg_recipe(&[], records).channels;
        let named = |names: &[&str]| {
            ChannelChoice::Named(names.iter().map(|name| (*name).to_owned()).collect())
        };
        let plain = record(&["Fp1", "Cz", "O1"]);
        assert_eq!(chosen(&[plain.clone(), plain.clone()]), ChannelChoice::All);
        let other = record(&["O1", "Fp1", "Cz", "ECG", "SpO2"]);
        let all = named(&["Fp1", "Cz", "O1"]);
        assert_eq!(chosen(&[plain.clone(), other.clone()]), all);
        assert_eq!(chosen(&[other, plain.clone()]), named(&["O1", "Fp1", "Cz"]));
        let spelled = record(&["EEG FP1-REF", "EEG CZ-REF", "EEG O1-REF"]);
        assert_eq!(chosen(&[plain.clone(), spelled]), all);
        // Inputs without a known name are taken only where most are such.
        let spare = record(&["Fp1", "Cz", "O1", "VNS", "--0"]);
        assert_eq!(chosen(&[spare]), all);
        let unnamed = record(&["left", "right", "Cz"]);
        assert_eq!(chosen(&[unnamed]), ChannelChoice::All);
        let fewer = record(&["Fp1", "O1"]);
        assert_eq!(chosen(&[plain.clone(), fewer]), named(&["Fp1", "O1"]));
        // What shares nothing is no reason to take fewer.
        assert_eq!(chosen(&[plain, record(&["A", "B"])]), all);
        assert_eq!(chosen(&[record(&["ECG"])]), ChannelChoice::All);
    }
}
