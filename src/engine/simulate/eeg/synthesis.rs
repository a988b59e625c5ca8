//! The recording of one subject: background, rhythms, blinks, muscle, mains and amplifier added up.

use std::f64::consts::{PI, TAU};

use super::super::Interval;
use super::montage::{EYES, N_CHANNELS, Position, RIGHT_JAW, angle_between, positions};
use super::noise::{Drift, NoiseFilter, OneOverF, Rhythm, White};
use super::subject::{RhythmTraits, SubjectTraits};
use crate::math::{Normal, RandomStream, random_below, random_share, random_stream};

/// Filters run this long before the recording starts, so that it starts in their steady state.
const WARM_UP_S: f64 = 4.0;

/// Neighbouring electrodes see the same sources; a source spreads this far.
const SPREAD_DEG: f64 = 35.0;

/// Logarithm of a rhythm's strength drifts by this much within a recording …
const VIGILANCE_SD: f64 = 0.35;
/// … and forgets itself after this time.
const VIGILANCE_MEMORY_S: f64 = 20.0;

/// Which part of the signal a stream of random numbers belongs to.
#[derive(Clone, Copy)]
pub(super) enum SignalPart {
    Traits,
    Background(usize),
    Coupling,
    Rhythm(usize),
    Vigilance(usize),
    Blinks,
    Muscle,
    Amplifier(usize),
    Mains,
}

impl SignalPart {
    /// What the stream is for, and for which channel or rhythm.
    fn purpose(self) -> (&'static str, usize) {
        match self {
            Self::Traits => ("EEG traits", 0),
            Self::Background(channel) => ("EEG background", channel),
            Self::Coupling => ("EEG coupling", 0),
            Self::Rhythm(rhythm) => ("EEG rhythm", rhythm),
            Self::Vigilance(rhythm) => ("EEG vigilance", rhythm),
            Self::Blinks => ("EEG blinks", 0),
            Self::Muscle => ("EEG muscle", 0),
            Self::Amplifier(channel) => ("EEG amplifier", channel),
            Self::Mains => ("EEG mains", 0),
        }
    }
}

/// The random streams of one subject: one per part, so that none depends on another's length.
#[derive(Clone, Copy)]
pub(super) struct Streams {
    pub(super) seed: u64,
    /// Number of the subject among all subjects of all classes.
    pub(super) subject: u64,
}

impl Streams {
    pub(super) fn of(self, part: SignalPart) -> RandomStream {
        let (purpose, member) = part.purpose();
        random_stream(self.seed, purpose, self.subject << 8 | member as u64)
    }
}

/// What the signals are sampled with.
#[derive(Clone, Copy)]
pub(super) struct Sampling {
    pub(super) rate_hz: f64,
    pub(super) n_samples: usize,
    pub(super) mains_hz: f64,
}

impl Sampling {
    fn n_warm_up(self) -> usize {
        (WARM_UP_S * self.rate_hz) as usize
    }

    /// Filtered white noise in its steady state.
    fn noise(self, mut filter: impl NoiseFilter, random: RandomStream) -> Vec<f64> {
        let mut white = White::new(random);
        for _ in 0..self.n_warm_up() {
            filter.step(white.next());
        }
        (0..self.n_samples)
            .map(|_| filter.step(white.next()))
            .collect()
    }

    fn duration_s(self) -> f64 {
        self.n_samples as f64 / self.rate_hz
    }
}

/// Time until the next of events that come independently of one another.
fn waiting_time_s(per_min: f64, random: &mut RandomStream) -> f64 {
    -(1.0 - random_share(random)).ln() * 60.0 / per_min
}

/// All channels of a subject in µV.
pub(super) fn synthesise(
    traits: &SubjectTraits,
    sampling: Sampling,
    streams: Streams,
) -> Vec<Vec<f64>> {
    let mut channels = background(traits, sampling, streams);
    for (number, rhythm) in traits.rhythms.iter().enumerate() {
        add_rhythm(&mut channels, rhythm, number, sampling, streams);
    }
    add_blinks(
        &mut channels,
        traits,
        sampling,
        streams.of(SignalPart::Blinks),
    );
    add_muscle(
        &mut channels,
        traits,
        sampling,
        streams.of(SignalPart::Muscle),
    );
    add_mains(
        &mut channels,
        traits,
        sampling,
        streams.of(SignalPart::Mains),
    );
    for (number, channel) in channels.iter_mut().enumerate() {
        let mut white = White::new(streams.of(SignalPart::Amplifier(number)));
        for value in channel {
            *value = digitise(*value + traits.amplifier_rms_uv * white.next());
        }
    }
    channels
}

/// Steps of the converter, a power of two so that every value is exact in binary and in files.
pub(super) const STEP_UV: f64 = 0.0625;
/// What the converter can hold in 16 bits with limits of whole µV.
pub(super) const LIMITS_UV: (f64, f64) = (-2048.0, 2047.0);

/// The amplifier's converter.
pub(super) fn digitise(value_uv: f64) -> f64 {
    let (low, high) = LIMITS_UV;
    ((value_uv / STEP_UV).round() * STEP_UV).clamp(low, high)
}

/// Adds `gain` times `signal`.
fn add(channel: &mut [f64], signal: &[f64], gain: f64) {
    for (value, s) in channel.iter_mut().zip(signal) {
        *value += gain * s;
    }
}

/// 1/f noise of one source under each electrode, spread over its neighbours, and of one source that front and back
/// see with opposite signs; together they have the power of the electrode.
fn background(traits: &SubjectTraits, sampling: Sampling, streams: Streams) -> Vec<Vec<f64>> {
    let filter = OneOverF::new(traits.exponent, sampling.rate_hz);
    let places = positions();
    let spread = SPREAD_DEG.to_radians();
    let share = |p: Position, q: Position| (-0.5 * (angle_between(p, q) / spread).powi(2)).exp();
    let mut channels = vec![vec![0.0; sampling.n_samples]; N_CHANNELS];
    for (number, &source) in places.iter().enumerate() {
        let signal = sampling.noise(filter.clone(), streams.of(SignalPart::Background(number)));
        for (c, channel) in channels.iter_mut().enumerate() {
            let energy: f64 = places.iter().map(|&q| share(places[c], q).powi(2)).sum();
            let weight = share(places[c], source) / energy.sqrt();
            let own = (1.0 - coupled(traits, places[c]).powi(2)).sqrt();
            add(channel, &signal, traits.background_rms_uv[c] * weight * own);
        }
    }
    let signal = sampling.noise(filter, streams.of(SignalPart::Coupling));
    for (c, channel) in channels.iter_mut().enumerate() {
        let gain = traits.background_rms_uv[c] * coupled(traits, places[c]);
        add(channel, &signal, gain);
    }
    channels
}

/// Amplitude of the common source at a place, relative to the background: κ at the front, −κ at the back.
fn coupled(traits: &SubjectTraits, [_, ahead, _]: Position) -> f64 {
    traits.coupling * ahead
}

/// A rhythm whose strength drifts with vigilance.
fn add_rhythm(
    channels: &mut [Vec<f64>],
    rhythm: &RhythmTraits,
    number: usize,
    sampling: Sampling,
    streams: Streams,
) {
    let filter = Rhythm::new(rhythm.centre_hz, rhythm.bandwidth_hz, sampling.rate_hz);
    let mut signal = sampling.noise(filter, streams.of(SignalPart::Rhythm(number)));
    let mut white = White::new(streams.of(SignalPart::Vigilance(number)));
    let mut drift = Drift::new(VIGILANCE_MEMORY_S, sampling.rate_hz, white.next());
    for value in &mut signal {
        *value *= (VIGILANCE_SD * drift.step(white.next())).exp();
    }
    for (channel, share) in channels.iter_mut().zip(rhythm.topography) {
        add(channel, &signal, rhythm.rms_uv * share);
    }
}

/// What each electrode sees of a source outside the brain, relative to the nearest one.
fn falling_off(place: Position, reach_deg: f64) -> [f64; N_CHANNELS] {
    let distances = positions().map(|electrode| angle_between(electrode, place));
    let nearest = distances.into_iter().fold(f64::INFINITY, f64::min);
    distances.map(|distance| ((nearest - distance) / reach_deg.to_radians()).exp())
}

/// Blinks: a hump of about 0.4 s, largest at the frontal pole.
fn add_blinks(
    channels: &mut [Vec<f64>],
    traits: &SubjectTraits,
    sampling: Sampling,
    mut random: RandomStream,
) {
    let seen = falling_off(EYES, 32.0);
    let mut onset_s = waiting_time_s(traits.blinks_per_min, &mut random);
    while onset_s < sampling.duration_s() {
        let peak_uv = traits.blink_peak_uv * Interval::new(0.7, 1.3).uniform(&mut random);
        let duration_s = Interval::new(0.3, 0.5).uniform(&mut random);
        let n = (duration_s * sampling.rate_hz) as usize;
        let hump: Vec<f64> = (0..n)
            .map(|k| peak_uv * (PI * k as f64 / n as f64).sin().powi(2))
            .collect();
        add_event(channels, &seen, sampling, onset_s, &hump);
        onset_s += duration_s + waiting_time_s(traits.blinks_per_min, &mut random);
    }
}

/// Bursts of one jaw muscle: broad noise around 40 Hz that swells and dies.
fn add_muscle(
    channels: &mut [Vec<f64>],
    traits: &SubjectTraits,
    sampling: Sampling,
    mut random: RandomStream,
) {
    let [x, y, z] = RIGHT_JAW;
    let seen = [falling_off(RIGHT_JAW, 35.0), falling_off([-x, y, z], 35.0)];
    let mut normal = Normal::default();
    let mut onset_s = waiting_time_s(traits.muscle_bursts_per_min, &mut random);
    while onset_s < sampling.duration_s() {
        let side = random_below(&mut random, 2);
        let duration_s = Interval::new(0.4, 2.0).uniform(&mut random);
        let n = (duration_s * sampling.rate_hz) as usize;
        let mut filter = Rhythm::new(40.0, 30.0, sampling.rate_hz);
        let burst: Vec<f64> = (0..n)
            .map(|k| {
                let swell = (PI * k as f64 / n as f64).sin();
                traits.muscle_rms_uv * swell * filter.step(normal.draw(&mut random))
            })
            .collect();
        add_event(channels, &seen[side], sampling, onset_s, &burst);
        onset_s += duration_s + waiting_time_s(traits.muscle_bursts_per_min, &mut random);
    }
}

/// Adds what each channel sees of an event; the end of the recording cuts it.
fn add_event(
    channels: &mut [Vec<f64>],
    seen: &[f64; N_CHANNELS],
    sampling: Sampling,
    onset_s: f64,
    event: &[f64],
) {
    let first = (onset_s * sampling.rate_hz) as usize;
    for (channel, &share) in channels.iter_mut().zip(seen) {
        if let Some(rest) = channel.get_mut(first..) {
            add(rest, event, share);
        }
    }
}

/// The mains: the same sine everywhere, its strength and phase depending on the electrode.
fn add_mains(
    channels: &mut [Vec<f64>],
    traits: &SubjectTraits,
    sampling: Sampling,
    mut random: RandomStream,
) {
    let per_sample = TAU * sampling.mains_hz / sampling.rate_hz;
    for (channel, amplitude_uv) in channels.iter_mut().zip(traits.mains_uv) {
        let phase = TAU * random_share(&mut random);
        for (k, value) in channel.iter_mut().enumerate() {
            *value += amplitude_uv * (per_sample * k as f64 + phase).sin();
        }
    }
}
