//! The six signals of a fault record on one uniform time axis, in primary volts and amperes.

use super::FeatureError;
use crate::records::{Channel, Record, TimeAxis};

/// How much longer than the record the uniform axis may be, where the record changes its rate.
const MAX_GROWTH: usize = 4;

/// Three voltages and three currents, uniformly sampled.
pub(super) struct PhaseSignals {
    /// Samples per second of all six.
    pub(super) rate_hz: f64,
    /// Time of the first sample.
    pub(super) start_s: f64,
    /// The nominal frequency.
    pub(super) nominal_hz: f64,
    /// VA VB VC in volts, IA IB IC in amperes.
    pub(super) values: [Vec<f64>; 6],
    /// How much later than its time stamp each channel was sampled.
    pub(super) skews_s: [f64; 6],
    /// The names of the channels in the record.
    pub(super) names: [String; 6],
    /// What had to be assumed.
    pub(super) notes: Vec<String>,
}

impl PhaseSignals {
    /// Reads the six channels of a record.
    pub(super) fn read(
        record: &Record,
        channels: [usize; 6],
        nominal_hz: f64,
    ) -> Result<Self, FeatureError> {
        let known: Vec<&Channel> = channels
            .iter()
            .filter_map(|channel| record.channels.get(*channel))
            .collect();
        let mut signals = Self {
            rate_hz: 0.0,
            start_s: 0.0,
            nominal_hz,
            values: Default::default(),
            skews_s: [0.0; 6],
            names: Default::default(),
            notes: Vec::new(),
        };
        for (place, channel) in known.iter().enumerate() {
            signals.names[place].clone_from(&channel.name);
            let skew_s = channel.grid.as_ref().map_or(0.0, |grid| grid.skew_s);
            // A skew of more than a cycle is a mistake of the file.
            signals.skews_s[place] = if skew_s.abs() <= 1.0 / nominal_hz {
                skew_s
            } else {
                0.0
            };
        }
        match &record.time_axis {
            TimeAxis::Sections(sections) if sections.len() == 1 => {
                signals.rate_hz = sections[0].rate_hz;
                signals.start_s = sections[0].onset_s;
                signals.read_stretch(record, channels, 0, shortest(&known))?;
            }
            TimeAxis::Regular => signals.read_regular(record, channels, &known)?,
            TimeAxis::Sections(_) | TimeAxis::Stamps(_) => {
                signals.read_uneven(record, channels, shortest(&known))?;
            }
        }
        if !(signals.rate_hz.is_finite() && signals.rate_hz > 0.0) {
            return Err(FeatureError::Rate {
                rate_hz: signals.rate_hz,
            });
        }
        for (values, channel) in signals.values.iter_mut().zip(&known) {
            let to_primary = channel.grid.as_ref().map_or(1.0, |grid| grid.to_primary());
            let factor = channel.unit.in_base * to_primary;
            values.iter_mut().for_each(|value| *value *= factor);
        }
        Ok(signals)
    }

    /// Time of a sample.
    pub(super) fn time_s(&self, sample: usize) -> f64 {
        self.start_s + sample as f64 / self.rate_hz
    }

    /// Where in a channel's samples a time lies.
    pub(super) fn position(&self, channel: usize, time_s: f64) -> f64 {
        (time_s - self.start_s - self.skews_s[channel]) * self.rate_hz
    }

    /// Time of the last sample.
    pub(super) fn end_s(&self) -> f64 {
        let shortest = self.values.iter().map(Vec::len).min().unwrap_or(0);
        self.time_s(shortest.saturating_sub(1))
    }

    fn read_stretch(
        &mut self,
        record: &Record,
        channels: [usize; 6],
        first: usize,
        n_samples: usize,
    ) -> Result<(), FeatureError> {
        for (values, channel) in self.values.iter_mut().zip(channels) {
            *values = record.read(channel, first..first + n_samples)?;
        }
        Ok(())
    }

    /// One rate for all; of a record with gaps the longest stretch.
    fn read_regular(
        &mut self,
        record: &Record,
        channels: [usize; 6],
        known: &[&Channel],
    ) -> Result<(), FeatureError> {
        let rates: Vec<Option<f64>> = known.iter().map(|channel| channel.rate_hz).collect();
        self.rate_hz = rates[0].unwrap_or(0.0);
        if let Some(other) = rates.iter().position(|rate| *rate != rates[0]) {
            return Err(FeatureError::UnequalRates {
                first: known[0].name.clone(),
                first_hz: self.rate_hz,
                second: known[other].name.clone(),
                second_hz: rates[other].unwrap_or(0.0),
            });
        }
        let segments = record.segments(channels[0]);
        let Some(longest) = segments.iter().max_by_key(|segment| segment.n_samples) else {
            return Err(FeatureError::NoValues);
        };
        if segments.len() > 1 {
            self.notes.push(format!(
                "the record has {} gaps: only the longest stretch, from {} s, was used",
                segments.len() - 1,
                longest.onset_s
            ));
        }
        self.start_s = longest.onset_s;
        let available = shortest(known).saturating_sub(longest.first_sample);
        let n_samples = longest.n_samples.min(available);
        self.read_stretch(record, channels, longest.first_sample, n_samples)
    }

    /// Several rates or given times: linear interpolation to one rate.
    fn read_uneven(
        &mut self,
        record: &Record,
        channels: [usize; 6],
        n_samples: usize,
    ) -> Result<(), FeatureError> {
        let times: Vec<f64> = (0..n_samples)
            .map_while(|sample| record.time_s(channels[0], sample))
            .collect();
        let rises = |pair: &[f64]| pair[1] > pair[0];
        if let Some(at) = times.windows(2).position(|pair| !rises(pair)) {
            return Err(FeatureError::TimesDoNotRise {
                sample: at + 1,
                before_s: times[at],
                found_s: times[at + 1],
            });
        }
        let (Some(first_s), Some(last_s)) = (times.first(), times.last()) else {
            return Err(FeatureError::NoValues);
        };
        let duration_s = last_s - first_s;
        let smallest_s = times
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .fold(f64::INFINITY, f64::min);
        let most = (MAX_GROWTH * times.len()) as f64;
        let n_points = (duration_s / smallest_s).min(most);
        if n_points.is_nan() || n_points < 1.0 || !duration_s.is_finite() {
            return Err(FeatureError::NoValues);
        }
        self.rate_hz = n_points / duration_s;
        self.start_s = *first_s;
        self.notes.push(format!(
            "samples are not equally spaced: interpolated to {:.3} Hz",
            self.rate_hz
        ));
        for (place, channel) in channels.into_iter().enumerate() {
            let values = record.read(channel, 0..times.len())?;
            self.values[place] = on_uniform_axis(&times, &values, *first_s, self.rate_hz);
        }
        Ok(())
    }
}

fn shortest(channels: &[&Channel]) -> usize {
    let lengths = channels.iter().map(|channel| channel.n_samples);
    lengths.min().unwrap_or(0)
}

/// Linear interpolation of values at rising times.
fn on_uniform_axis(times: &[f64], values: &[f64], start_s: f64, rate_hz: f64) -> Vec<f64> {
    let last_s = times.last().copied().unwrap_or(start_s);
    let n_points = ((last_s - start_s) * rate_hz).round() as usize + 1;
    let mut left = 0;
    (0..n_points)
        .map(|point| {
            let time_s = start_s + point as f64 / rate_hz;
            while left + 2 < times.len() && times[left + 1] <= time_s {
                left += 1;
            }
            let (from, to) = (times[left], times[(left + 1).min(times.len() - 1)]);
            let share = if to > from {
                ((time_s - from) / (to - from)).clamp(0.0, 1.0)
            } else {
                0.0
            };
            let next = values[(left + 1).min(values.len() - 1)];
            // A point on a sample must not take in a missing neighbour.
            match share {
                0.0 => values[left],
                1.0 => next,
                _ => values[left] * (1.0 - share) + next * share,
            }
        })
        .collect()
}
