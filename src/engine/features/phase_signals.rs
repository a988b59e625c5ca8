//! The six signals of a fault record on one uniform time axis, in primary volts and amperes.

use super::resample::resample;
use super::{FeatureError, is_positive};
use crate::records::{Channel, Gap, Record, TimeAxis};

/// How much longer than the record the uniform axis may be, where the record changes its rate.
const MAX_GROWTH: usize = 4;

/// The longest time between the channels of one sample that is believed.
const MAX_SKEW_S: f64 = 0.02;

/// The frequencies of the world's grids, the slower first.
const USUAL_HZ: [f64; 2] = [50.0, 60.0];

/// One frequency fits clearly better than the other if its error is smaller by this factor,
const CLEARLY: f64 = 0.1;

/// and the error of the other is visible at all.
const VISIBLE_ERROR: f64 = 0.01;

/// Three voltages and three currents, uniformly sampled.
#[derive(Debug, Clone)]
pub struct PhaseSignals {
    /// Samples per second of all six.
    pub rate_hz: f64,
    /// Time of the first sample.
    pub start_s: f64,
    /// The nominal frequency.
    pub nominal_hz: f64,
    /// VA VB VC in volts, IA IB IC in amperes.
    pub values: [Vec<f64>; 6],
    /// How much later than its time stamp each channel was sampled.
    pub skews_s: [f64; 6],
    /// The names of the channels in the record.
    pub names: [String; 6],
    /// What had to be assumed.
    pub notes: Vec<String>,
}

impl PhaseSignals {
    /// Reads the six channels of a record.
    pub fn read(
        record: &Record,
        channels: [usize; 6],
        given_hz: Option<f64>,
    ) -> Result<Self, FeatureError> {
        let known: Vec<&Channel> = channels
            .iter()
            .filter_map(|channel| record.channels.get(*channel))
            .collect();
        let mut signals = Self {
            rate_hz: 0.0,
            start_s: 0.0,
            nominal_hz: 0.0,
            values: Default::default(),
            skews_s: [0.0; 6],
            names: Default::default(),
            notes: Vec::new(),
        };
        for (place, channel) in known.iter().enumerate() {
            signals.names[place].clone_from(&channel.name);
            let skew_s = channel.grid.as_ref().map_or(0.0, |grid| grid.skew_s);
            // A longer skew is a mistake of the file.
            let is_likely = skew_s.abs() <= MAX_SKEW_S;
            signals.skews_s[place] = if is_likely { skew_s } else { 0.0 };
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
        let stated_hz = record.grid.as_ref().and_then(|grid| grid.line_frequency_hz);
        signals.settle_frequency(given_hz, stated_hz)?;
        Ok(signals)
    }

    /// Largest difference of a current from its value a cycle before.
    pub(super) fn largest_current_change(&self) -> f64 {
        let lag = (self.rate_hz / self.nominal_hz).round() as usize;
        let changes = self.values[3..].iter().flat_map(|current| {
            let later = current.iter().skip(lag);
            later.zip(current).map(|(now, before)| (now - before).abs())
        });
        changes.fold(0.0, f64::max)
    }

    /// The nominal frequency: the one given; else the one stated, unless the voltages clearly repeat at the other of
    /// 50 and 60 Hz (files do state it wrongly); without either the one at which they repeat.
    fn settle_frequency(
        &mut self,
        given_hz: Option<f64>,
        stated_hz: Option<f64>,
    ) -> Result<(), FeatureError> {
        if let Some(given_hz) = given_hz {
            self.nominal_hz = given_hz;
            return Ok(());
        }
        let stated_hz = stated_hz.filter(|hz| is_positive(*hz));
        let errors = USUAL_HZ.map(|hz| self.repeat_error(hz));
        let clear = |found: Option<f64>, other: Option<f64>| {
            found
                .zip(other)
                .is_some_and(|(f, o)| f < CLEARLY * o && o > VISIBLE_ERROR)
        };
        let measured_hz = match errors {
            [fifty, sixty] if clear(fifty, sixty) => Some(USUAL_HZ[0]),
            [fifty, sixty] if clear(sixty, fifty) => Some(USUAL_HZ[1]),
            _ => None,
        };
        match (stated_hz, measured_hz) {
            (Some(stated), Some(measured)) if USUAL_HZ.contains(&stated) && stated != measured => {
                self.notes.push(format!(
                    "the record states {stated} Hz, but its voltages repeat at {measured} Hz, which was used: give the frequency if that is wrong"
                ));
                self.nominal_hz = measured;
            }
            (Some(stated), _) => self.nominal_hz = stated,
            (None, Some(measured)) => {
                self.notes.push(format!(
                    "the record states no frequency; its voltages repeat at {measured} Hz, which was used"
                ));
                self.nominal_hz = measured;
            }
            (None, None) => return Err(FeatureError::NoFrequency),
        }
        Ok(())
    }

    /// How much the second cycle of the voltages differs from the first at a frequency: mean square, relative.
    fn repeat_error(&self, nominal_hz: f64) -> Option<f64> {
        let longest = (self.rate_hz / USUAL_HZ[0]).ceil();
        let n_compared = longest as usize;
        let cycle = self.rate_hz / nominal_hz;
        let (mut error, mut power) = (0.0, 0.0);
        for values in &self.values[..3] {
            let now = values.get(n_compared..n_compared.checked_mul(2)?)?;
            let before = resample(values, longest - cycle, 1.0, n_compared)?;
            error += now
                .iter()
                .zip(before)
                .map(|(x, y)| (x - y) * (x - y))
                .sum::<f64>();
            power += now.iter().map(|x| x * x).sum::<f64>();
        }
        let relative = error / power;
        relative.is_finite().then_some(relative)
    }

    /// Time of a sample.
    pub fn time_s(&self, sample: usize) -> f64 {
        self.start_s + sample as f64 / self.rate_hz
    }

    /// Where in a channel's samples a time lies.
    pub fn position(&self, channel: usize, time_s: f64) -> f64 {
        (time_s - self.start_s - self.skews_s[channel]) * self.rate_hz
    }

    /// Time of the last sample.
    pub fn end_s(&self) -> f64 {
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
                "the record has gaps ({}): only the longest section, from {:.4} s, was used",
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
        let (first, last) = self.longest_stretch(record, &times);
        let times = &times[first..last];
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
            let values = record.read(channel, first..last)?;
            self.values[place] = on_uniform_axis(times, &values, *first_s, self.rate_hz);
        }
        Ok(())
    }
}

impl PhaseSignals {
    /// The samples of the longest stretch between the gaps of a record: nothing is interpolated across a gap.
    fn longest_stretch(&mut self, record: &Record, times: &[f64]) -> (usize, usize) {
        let place = |gap: &Gap| times.partition_point(|t| *t < gap.onset_s + gap.duration_s / 2.0);
        let mut cuts: Vec<usize> = record.gaps.iter().map(place).collect();
        cuts.push(0);
        cuts.push(times.len());
        cuts.sort_unstable();
        let pairs = cuts.windows(2).map(|pair| (pair[0], pair[1]));
        let (first, last) = pairs.max_by_key(|(a, b)| b - a).unwrap_or((0, times.len()));
        if let (Some(from_s), false) = (times.get(first), record.gaps.is_empty()) {
            self.notes.push(format!(
                "the record has gaps ({}): only the longest stretch, from {from_s} s, was used",
                record.gaps.len()
            ));
        }
        (first, last)
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
