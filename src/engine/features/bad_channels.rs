//! Channels that look bad: flat, noisy, unlike all others, full of mains hum. They are offered, never left out unasked.
//!
//! The criteria are those of the PREP pipeline (Bigdely-Shamlo et al. 2015), on stretches spread over the recording.

use super::signal_kind::{SignalKind, kinds_of};
use super::spectrum::{Welch, band_power};
use crate::records::{ReadError, Record};

/// Stretches looked at, and their length.
const N_STRETCHES: usize = 40;
const STRETCH_S: f64 = 2.0;
/// A flat channel varies by less than this.
const FLAT_UV: f64 = 0.1;
/// Robust deviations from the amplitudes of the other channels.
const UNUSUAL: f64 = 5.0;
/// Best correlation with another channel, in the median over stretches.
const ALONE: f64 = 0.4;
/// Share of the power above 1 Hz that lies at the mains frequency.
const HUM: f64 = 0.5;
/// Fewest channels among which one can be unlike the others.
const FEWEST: usize = 4;

/// Why a channel looks bad.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Suspicion {
    /// Hardly anything is recorded.
    Flat,
    /// The amplitude is so many times that of the typical channel.
    Noisy {
        /// Amplitude over the median of all channels.
        times: f64,
    },
    /// It hardly resembles any other channel.
    Alone {
        /// Best correlation with another channel, median over stretches.
        correlation: f64,
    },
    /// Most of its power is hum.
    Hum {
        /// Mains frequency.
        mains_hz: f64,
        /// Its share of the power above 1 Hz.
        share: f64,
    },
}

impl std::fmt::Display for Suspicion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flat => f.write_str("flat"),
            Self::Noisy { times } => write!(f, "{times:.1} times the typical amplitude"),
            Self::Alone { correlation } => {
                write!(
                    f,
                    "correlates by {correlation:.2} at most with any other channel"
                )
            }
            Self::Hum { mains_hz, share } => {
                write!(
                    f,
                    "{:.0} % of its power is {mains_hz:.0} Hz hum",
                    100.0 * share
                )
            }
        }
    }
}

/// EEG channels that look bad, by their place in the record, each with the first reason that fits.
pub fn suspects(record: &Record) -> Result<Vec<(usize, Suspicion)>, ReadError> {
    let kinds = kinds_of(record);
    let rate_of = |place: usize| record.channels[place].rate_hz;
    let eeg: Vec<usize> = (0..record.channels.len())
        .filter(|&place| kinds[place] == SignalKind::Eeg && rate_of(place).is_some())
        .collect();
    let Some(rate_hz) = eeg.first().and_then(|&place| rate_of(place)) else {
        return Ok(Vec::new());
    };
    let n_samples = record.channels[eeg[0]].n_samples;
    let alike = |place: &usize| {
        rate_of(*place) == Some(rate_hz) && record.channels[*place].n_samples == n_samples
    };
    let eeg: Vec<usize> = eeg.into_iter().filter(alike).collect();
    let length = (STRETCH_S * rate_hz) as usize;
    if length < 8 || n_samples < length {
        return Ok(Vec::new());
    }
    let mut looks = vec![ChannelSummary::default(); eeg.len()];
    let n_stretches = N_STRETCHES.min(n_samples / length);
    let mut welch = Welch::new(length, length, rate_hz);
    for stretch in 0..n_stretches {
        let first = stretch * (n_samples - length) / n_stretches.max(1);
        let signals = eeg
            .iter()
            .map(|&place| {
                let microvolts = record.channels[place].unit.volts().map_or(1.0, |v| v * 1e6);
                let mut signal = record.read(place, first..first + length)?;
                let mean = signal.iter().sum::<f64>() / length as f64;
                signal
                    .iter_mut()
                    .for_each(|v| *v = (*v - mean) * microvolts);
                Ok(signal)
            })
            .collect::<Result<Vec<Vec<f64>>, ReadError>>()?;
        add_stretch(&signals, &mut welch, &mut looks);
    }
    Ok(judge(&eeg, looks))
}

/// What is seen of a channel, a value a stretch.
#[derive(Debug, Clone, Default)]
struct ChannelSummary {
    amplitudes: Vec<f64>,
    correlations: Vec<f64>,
    /// Share of hum at 50 and at 60 Hz.
    hum: [Vec<f64>; 2],
}

const MAINS_HZ: [f64; 2] = [50.0, 60.0];

fn add_stretch(signals: &[Vec<f64>], welch: &mut Welch, looks: &mut [ChannelSummary]) {
    let norms: Vec<f64> = signals.iter().map(|s| dot(s, s).sqrt()).collect();
    for (k, signal) in signals.iter().enumerate() {
        let look = &mut looks[k];
        look.amplitudes
            .push(norms[k] / (signal.len() as f64).sqrt());
        let others = (0..signals.len()).filter(|other| *other != k);
        let best = others
            .map(|other| (dot(signal, &signals[other]) / (norms[k] * norms[other])).abs())
            .filter(|correlation| correlation.is_finite())
            .fold(0.0, f64::max);
        look.correlations.push(best);
        let Some(density) = welch.density(signal) else {
            continue;
        };
        let line_hz = welch.resolution_hz();
        let whole = band_power(&density, line_hz, 1.0, f64::INFINITY);
        for (shares, mains_hz) in look.hum.iter_mut().zip(MAINS_HZ) {
            let at_mains = band_power(&density, line_hz, mains_hz - 1.0, mains_hz + 1.5);
            shares.push(at_mains / whole);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn judge(eeg: &[usize], looks: Vec<ChannelSummary>) -> Vec<(usize, Suspicion)> {
    let amplitudes: Vec<f64> = looks.iter().map(|look| median(&look.amplitudes)).collect();
    let typical = median(&amplitudes);
    let distances: Vec<f64> = amplitudes.iter().map(|a| (a - typical).abs()).collect();
    // 1.4826 makes the median deviation that of a normal distribution.
    let spread = 1.4826 * median(&distances);
    let judged = eeg.iter().zip(looks).zip(&amplitudes);
    judged
        .filter_map(|((&place, look), &amplitude)| {
            let correlation = median(&look.correlations);
            let hum = MAINS_HZ
                .iter()
                .zip(&look.hum)
                .map(|(hz, shares)| (*hz, median(shares)));
            let (mains_hz, share) = hum.fold(
                (0.0, 0.0),
                |best, own| if own.1 > best.1 { own } else { best },
            );
            let can_compare = eeg.len() >= FEWEST;
            let is_unusual = amplitude - typical > UNUSUAL * spread.max(0.1 * typical);
            let suspicion = match () {
                () if amplitude < FLAT_UV => Suspicion::Flat,
                () if share > HUM => Suspicion::Hum { mains_hz, share },
                () if can_compare && is_unusual => Suspicion::Noisy {
                    times: amplitude / typical,
                },
                () if can_compare && correlation < ALONE => Suspicion::Alone { correlation },
                () => return None,
            };
            Some((place, suspicion))
        })
        .collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::records::{Channel, Format, Kind, Unit};

    #[test]
    fn each_kind_of_bad_channel_is_found_and_good_ones_are_not() {
        let rate_hz = 200.0;
        // A common rhythm with a little noise of its own in each channel.
        let noise = |seed: u64, k: usize| {
            let z = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let z = z.wrapping_add((k as u64).wrapping_mul(0xBF58_476D_1CE4_E5B9));
            let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 11) as f64 / 2f64.powi(52) - 1.0
        };
        let rhythm = |k: f64| 20.0 * (2.0 * PI * 9.3 * k / rate_hz).sin();
        let names = ["Fp1", "Fp2", "C3", "C4", "Pz", "O1", "O2", "F3", "F4"];
        let data = names.iter().enumerate().map(|(channel, name)| {
            let value = |k: usize| {
                let t = k as f64;
                match *name {
                    "O1" => 0.0,
                    "O2" => 400.0 * noise(7, k) + rhythm(t),
                    "F3" => 30.0 * noise(8, k),
                    "F4" => rhythm(t) + 60.0 * (2.0 * PI * 50.0 * t / rate_hz).sin(),
                    _ => rhythm(t) + 4.0 * noise(channel as u64, k),
                }
            };
            let own = Channel::analog(*name, Unit::parse("uV"), Some(rate_hz), 0);
            (own, (0..12_000).map(value).collect())
        });
        let record = Record::in_memory(Format::Simulated, Kind::Recording, "made", data.collect());
        let found = suspects(&record).expect("readable");
        let found: Vec<(&str, String)> = found
            .iter()
            .map(|(place, why)| (names[*place], why.to_string()))
            .collect();
        let channels: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
        assert_eq!(channels, ["O1", "O2", "F3", "F4"], "{found:?}");
        assert_eq!(found[0].1, "flat");
        assert!(
            found[1].1.ends_with("times the typical amplitude"),
            "{found:?}"
        );
        assert!(found[2].1.starts_with("correlates by 0."), "{found:?}");
        assert!(
            found[3].1.ends_with("% of its power is 50 Hz hum"),
            "{found:?}"
        );
    }
}
