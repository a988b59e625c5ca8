//! Trends of a long EEG: a day of brain activity in one picture, column by column of 15 s.
//!
//! Amplitude-integrated EEG (asymmetric filter of 2–15 Hz rising by 12 dB a decade, rectified, mean over 0.5 s; the
//! least and largest of it in a column: Maynard 1969, Zhang & Ding 2013), spectral array and band powers (Welch, 2 s),
//! asymmetry (R − L)/(R + L) of band power over homologous pairs, suppression ratio (share of a minute in which
//! |voltage| stays below 5 µV for at least 0.5 s).

use std::f64::consts::PI;
use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::electrodes::{Scalp, is_ear};
use super::filter::{Filter, FilterDesign, FilterError, Passband, Prototype};
use super::signal_kind::{SignalKind, clean_label, kinds_of};
use super::spectrum::Welch;
use crate::records::{ReadError, Record};

/// Length of a column.
pub const COLUMN_S: f64 = 15.0;
/// Distance of the lines of the spectral array.
pub const LINE_HZ: f64 = 0.5;
/// Lines of the spectral array: 0.5 to 32 Hz.
pub const N_LINES: usize = 64;
/// Bands whose power is followed.
pub const BANDS: [(&str, f64, f64); 4] = [
    ("delta", 0.5, 4.0),
    ("theta", 4.0, 8.0),
    ("alpha", 8.0, 13.0),
    ("beta", 13.0, 30.0),
];
/// Voltages below this, for so long, are suppressed; the ratio is over so many columns.
const SUPPRESSED_UV: f64 = 5.0;
const SUPPRESSED_S: f64 = 0.5;
const COLUMNS_PER_MINUTE: usize = 4;
/// Slowest signal that counts for suppression: offsets and drift do not.
const DRIFT_HZ: f64 = 0.5;
/// Passband, rise and envelope of the amplitude-integrated EEG; its gain is 1 at 10 Hz.
const AEEG_HZ: (f64, f64) = (2.0, 15.0);
const AEEG_RISE: f64 = 0.6;
const AEEG_UNITY_HZ: f64 = 10.0;
const AEEG_TAPS_S: f64 = 2.0;
const ENVELOPE_S: f64 = 0.5;
/// Signal read before and after a block, so that filters are settled.
const MARGIN_S: f64 = 5.0;
/// Values held at once.
const MAX_VALUES: usize = 6_000_000;
/// Pairs whose difference the amplitude-integrated EEG is made of, left; the first that there is counts.
const AEEG_PAIRS: [(&str, &str); 7] = [
    ("C3", "P3"),
    ("F3", "P3"),
    ("F3", "C3"),
    ("T7", "P7"),
    ("FP1", "C3"),
    ("FP1", "O1"),
    ("PO3", "O1"),
];

/// Why a record has no trends.
#[derive(Debug, thiserror::Error)]
pub enum TrendError {
    /// No channel measures the brain, or those that do have no rate.
    #[error("the recording has no EEG channel with a known rate: give the kinds of the channels")]
    NoEeg,
    /// The rate is too low for the filters.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// Samples cannot be read, or the work was cancelled.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// What the user has said of the channels.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TrendChannels {
    /// Channels that are left out.
    pub bad: Vec<String>,
    /// Kinds that were corrected, by name: what is no EEG is no part of its trends.
    pub kinds: Vec<(String, SignalKind)>,
}

/// Trends of a recording; columns that are not computed, or lie in a gap, are NaN.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Trends {
    /// Number of columns.
    pub n_columns: usize,
    /// Mean density in µV²/Hz of left, right and all channels: `N_LINES` values a column.
    pub spectra: [Vec<f32>; 3],
    /// Mean power of each band in µV², a value a column.
    pub band_powers: [Vec<f32>; BANDS.len()],
    /// (R − L)/(R + L) of each band, a value a column; NaN without homologous pairs.
    pub asymmetry: [Vec<f32>; BANDS.len()],
    /// Least and largest envelope in µV, left and right.
    pub aeeg: [Vec<(f32, f32)>; 2],
    /// What the amplitude-integrated EEG is made of, left and right.
    pub aeeg_from: [Option<String>; 2],
    /// Suppression ratio, 0 to 1, mean over channels.
    pub suppression: Vec<f32>,
    /// Names of the pairs compared, and what was assumed.
    pub notes: Vec<String>,
}

/// Sides of the spectral array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are the sides")]
pub enum Side {
    Left,
    Right,
    All,
}

impl Trends {
    fn empty(n_columns: usize) -> Self {
        let nothing = || vec![f32::NAN; n_columns];
        Self {
            n_columns,
            spectra: std::array::from_fn(|_| vec![f32::NAN; n_columns * N_LINES]),
            band_powers: std::array::from_fn(|_| nothing()),
            asymmetry: std::array::from_fn(|_| nothing()),
            aeeg: std::array::from_fn(|_| vec![(f32::NAN, f32::NAN); n_columns]),
            aeeg_from: [None, None],
            suppression: nothing(),
            notes: Vec::new(),
        }
    }

    /// The density of a column, line by line from 0.5 Hz.
    pub fn spectrum(&self, side: Side, column: usize) -> &[f32] {
        let lines = column * N_LINES..(column + 1) * N_LINES;
        self.spectra[side as usize].get(lines).unwrap_or(&[])
    }

    /// Whether some channels are known to lie left or right; also as long as nothing is computed.
    pub fn has_sides(&self) -> bool {
        let [left, right, all] = &self.spectra;
        let is_there = |lines: &Vec<f32>| lines.iter().step_by(N_LINES).any(|l| l.is_finite());
        is_there(left) || is_there(right) || !is_there(all)
    }

    /// Time of the start of a column.
    pub fn onset_s(column: usize) -> f64 {
        column as f64 * COLUMN_S
    }

    /// Whether every row has a value for every column, as trends from a file may not.
    pub fn is_whole(&self) -> bool {
        let n = self.n_columns;
        let mut rows = self.band_powers.iter().chain(&self.asymmetry);
        rows.all(|row| row.len() == n)
            && self
                .spectra
                .iter()
                .all(|s| n.checked_mul(N_LINES) == Some(s.len()))
            && self.aeeg.iter().all(|row| row.len() == n)
            && self.suppression.len() == n
    }

    /// Computes the trends of a recording. `go_on` sees what is done and the share, and stops the work by answering
    /// false ([`ReadError::Cancelled`]).
    pub fn build(
        record: &Record,
        channels: &TrendChannels,
        mut go_on: impl FnMut(&Self, f64) -> bool,
    ) -> Result<Self, TrendError> {
        let plan = Plan::of(record, channels)?;
        let mut trends = Self::empty(plan.columns.len());
        trends.aeeg_from = plan.aeeg.clone().map(|pair| pair.map(|pair| pair.name));
        trends.notes.clone_from(&plan.notes);
        let mut suppressed = vec![f32::NAN; plan.columns.len()];
        let n_blocks = plan.columns.len().div_ceil(plan.columns_at_once);
        for block in 0..n_blocks {
            if !go_on(&trends, block as f64 / n_blocks as f64) {
                return Err(ReadError::Cancelled.into());
            }
            let first = block * plan.columns_at_once;
            let last = (first + plan.columns_at_once).min(plan.columns.len());
            plan.compute(record, first..last, &mut trends, &mut suppressed)?;
            for column in first..last {
                let from = (column + 1).saturating_sub(COLUMNS_PER_MINUTE);
                let minute = suppressed[from..=column].iter().filter(|s| s.is_finite());
                let (sum, n) = minute.fold((0.0, 0.0), |(sum, n), s| (sum + s, n + 1.0));
                trends.suppression[column] = sum / n;
            }
        }
        go_on(&trends, 1.0);
        Ok(trends)
    }
}

/// One channel minus another, or a channel alone.
#[derive(Debug, Clone)]
struct Pair {
    name: String,
    /// Places among the channels of the plan.
    minuend: usize,
    subtrahend: Option<usize>,
}

impl Pair {
    /// A channel as it was recorded.
    fn single(labels: &[&str], place: usize) -> Self {
        Self {
            name: clean_label(labels[place]).to_owned(),
            minuend: place,
            subtrahend: None,
        }
    }
}

/// Which channels and samples the trends are made of.
struct Plan {
    rate_hz: f64,
    /// Channels of the record, and the microvolts of one of their units.
    channels: Vec<(usize, f64)>,
    /// Side of each channel.
    sides: Vec<Option<Side>>,
    /// Homologous pairs by places in `channels`: left, right.
    pairs: Vec<(usize, usize)>,
    aeeg: [Option<Pair>; 2],
    /// Samples of each column, and of the stretch without a gap that it lies in.
    columns: Vec<(Range<usize>, Range<usize>)>,
    columns_at_once: usize,
    /// Whether all channels of the record can be read together.
    is_even: bool,
    drift: Filter,
    taps: Vec<f64>,
    notes: Vec<String>,
}

impl Plan {
    fn of(record: &Record, channels: &TrendChannels) -> Result<Self, TrendError> {
        let kinds = kinds_of(record);
        let is_eeg = |place: &usize| {
            let channel = &record.channels[*place];
            let corrected = channels
                .kinds
                .iter()
                .find(|(name, _)| *name == channel.name);
            let kind = corrected.map_or(kinds[*place], |(_, kind)| *kind);
            kind == SignalKind::Eeg
                && channel.rate_hz.is_some()
                && !channels.bad.contains(&channel.name)
        };
        let eeg: Vec<usize> = (0..record.channels.len()).filter(is_eeg).collect();
        let first = *eeg.first().ok_or(TrendError::NoEeg)?;
        let rate_hz = record.channels[first].rate_hz.ok_or(TrendError::NoEeg)?;
        let n_samples = record.channels[first].n_samples;
        let mut notes = Vec::new();
        let alike = |place: &usize| {
            let channel = &record.channels[*place];
            channel.rate_hz == Some(rate_hz) && channel.n_samples == n_samples
        };
        let n_eeg = eeg.len();
        let eeg: Vec<usize> = eeg.into_iter().filter(alike).collect();
        if eeg.len() < n_eeg {
            notes.push(format!(
                "{} EEG channels of another rate are left out",
                n_eeg - eeg.len()
            ));
        }
        let labels: Vec<&str> = eeg
            .iter()
            .map(|&k| record.channels[k].name.as_str())
            .collect();
        let (names, assumed) = derivations(&labels);
        notes.extend(assumed);
        if eeg
            .iter()
            .any(|&place| record.channels[place].unit.volts().is_none())
        {
            notes.push("channels without a unit are taken to be in µV".to_owned());
        }
        let column_samples = (COLUMN_S * rate_hz) as usize;
        let butterworth = FilterDesign {
            prototype: Prototype::Butterworth,
            passband: Passband::High { edge_hz: DRIFT_HZ },
            order: 2,
        };
        let names: Vec<Option<&str>> = names.iter().map(Option::as_deref).collect();
        let sides: Vec<Option<Side>> = names.iter().map(|name| name.and_then(side_of)).collect();
        let aeeg = match sides.iter().all(Option::is_none) {
            // Without left and right the first channel stands for all.
            true => [Some(Pair::single(&labels, 0)), None],
            false => [false, true].map(|is_right| aeeg_pair(&names, &labels, is_right)),
        };
        Ok(Self {
            rate_hz,
            sides,
            pairs: homologous(&names),
            aeeg,
            columns: columns_of(record, first, rate_hz),
            columns_at_once: (MAX_VALUES / (eeg.len() * column_samples).max(1)).clamp(1, 240),
            is_even: record.channels.iter().all(|c| c.n_samples == n_samples),
            drift: butterworth.at_rate(rate_hz)?,
            taps: aeeg_taps(rate_hz),
            channels: eeg
                .iter()
                .map(|&place| {
                    let volts = record.channels[place].unit.volts();
                    (place, volts.map_or(1.0, |volts| volts * 1e6))
                })
                .collect(),
            notes,
        })
    }

    /// Fills a run of columns.
    fn compute(
        &self,
        record: &Record,
        columns: Range<usize>,
        trends: &mut Trends,
        suppressed: &mut [f32],
    ) -> Result<(), TrendError> {
        // Columns of one stretch are read together; a gap begins another reading.
        let mut first = columns.start;
        while first < columns.end {
            let stretch = self.columns[first].1.clone();
            let is_same = |column: &usize| self.columns[*column].1 == stretch;
            let n = (first..columns.end).take_while(is_same).count();
            let run = first..first + n;
            let margin = (MARGIN_S * self.rate_hz) as usize;
            let from = self.columns[first]
                .0
                .start
                .saturating_sub(margin)
                .max(stretch.start);
            let until = (self.columns[run.end - 1].0.end + margin).min(stretch.end);
            if from < until {
                let signals = self.read(record, from..until)?;
                self.fill(&signals, from, run.clone(), trends, suppressed);
            }
            first = run.end;
        }
        Ok(())
    }

    /// The signals in µV.
    fn read(&self, record: &Record, samples: Range<usize>) -> Result<Vec<Vec<f64>>, ReadError> {
        let mut signals = if self.is_even {
            let mut all = vec![vec![0.0; samples.len()]; record.channels.len()];
            record.read_all_into(samples.start, &mut all)?;
            let take = |&(place, _): &(usize, f64)| std::mem::take(&mut all[place]);
            self.channels.iter().map(take).collect::<Vec<_>>()
        } else {
            let own = |&(place, _): &(usize, f64)| record.read(place, samples.clone());
            self.channels
                .iter()
                .map(own)
                .collect::<Result<Vec<_>, _>>()?
        };
        for (signal, (_, microvolts)) in signals.iter_mut().zip(&self.channels) {
            signal.iter_mut().for_each(|value| *value *= microvolts);
        }
        Ok(signals)
    }

    fn fill(
        &self,
        signals: &[Vec<f64>],
        from: usize,
        run: Range<usize>,
        trends: &mut Trends,
        suppressed: &mut [f32],
    ) {
        let inside = |column: usize| {
            let samples = &self.columns[column].0;
            samples.start - from..samples.end - from
        };
        let of_channels: Vec<Vec<ChannelColumn>> = signals
            .par_iter()
            .map(|signal| self.channel_columns(signal, run.clone().map(inside).collect()))
            .collect();
        for (k, column) in run.clone().enumerate() {
            let own: Vec<&ChannelColumn> = of_channels.iter().map(|channel| &channel[k]).collect();
            self.gather(&own, column, trends);
            let shares = own.iter().map(|column| column.suppressed);
            suppressed[column] = shares.sum::<f32>() / own.len() as f32;
        }
        let envelopes: Vec<Option<Vec<(f32, f32)>>> = self
            .aeeg
            .par_iter()
            .map(|pair| {
                let pair = pair.as_ref()?;
                let envelope = self.envelope(pair, signals);
                Some(
                    run.clone()
                        .map(|column| extent(&envelope[inside(column)]))
                        .collect(),
                )
            })
            .collect();
        for (side, values) in envelopes.into_iter().enumerate() {
            if let Some(values) = values {
                trends.aeeg[side][run.clone()].copy_from_slice(&values);
            }
        }
    }

    /// Spectrum and suppression of one channel in each column.
    fn channel_columns(&self, signal: &[f64], columns: Vec<Range<usize>>) -> Vec<ChannelColumn> {
        let segment = (self.rate_hz / LINE_HZ).round() as usize;
        let mut welch = Welch::new(segment, segment / 2, self.rate_hz);
        let mut filtered = Vec::new();
        let start = signal
            .iter()
            .copied()
            .find(|value| value.is_finite())
            .unwrap_or(0.0);
        let level: Vec<f64> = signal.iter().map(|value| value - start).collect();
        self.drift.run(&level, &mut filtered);
        let is_quiet = quiet(&filtered, (SUPPRESSED_S * self.rate_hz).ceil() as usize);
        let column = |samples: Range<usize>| {
            let density = welch.density(&signal[samples.clone()]);
            let n_quiet = is_quiet[samples.clone()]
                .iter()
                .filter(|quiet| **quiet)
                .count();
            let density = density.unwrap_or_default();
            let line = |k: usize| density.get(k + 1).map_or(f32::NAN, |value| *value as f32);
            ChannelColumn {
                lines: std::array::from_fn(line),
                suppressed: n_quiet as f32 / samples.len() as f32,
            }
        };
        columns.into_iter().map(column).collect()
    }

    /// Means over channels of one column.
    fn gather(&self, channels: &[&ChannelColumn], column: usize, trends: &mut Trends) {
        for side in [Side::Left, Side::Right, Side::All] {
            let of_side = channels
                .iter()
                .zip(&self.sides)
                .filter(|(_, own)| side == Side::All || **own == Some(side))
                .map(|(channel, _)| channel);
            let (mut sums, mut n) = ([0.0_f32; N_LINES], 0.0);
            for channel in of_side {
                for (sum, line) in sums.iter_mut().zip(&channel.lines) {
                    *sum += line;
                }
                n += 1.0;
            }
            let lines =
                &mut trends.spectra[side as usize][column * N_LINES..(column + 1) * N_LINES];
            for (line, sum) in lines.iter_mut().zip(sums) {
                *line = sum / n;
            }
        }
        let all = trends.spectrum(Side::All, column).to_vec();
        for (band, (_, low_hz, high_hz)) in BANDS.iter().enumerate() {
            trends.band_powers[band][column] = power(&all, *low_hz, *high_hz);
            let of = |place: usize| power(&channels[place].lines, *low_hz, *high_hz);
            let left: f32 = self.pairs.iter().map(|pair| of(pair.0)).sum();
            let right: f32 = self.pairs.iter().map(|pair| of(pair.1)).sum();
            trends.asymmetry[band][column] = (right - left) / (right + left);
        }
    }

    /// Rectified and averaged; where the filter has too little signal at the ends, it takes it to be still.
    fn envelope(&self, pair: &Pair, signals: &[Vec<f64>]) -> Vec<f64> {
        let minuend = &signals[pair.minuend];
        let signal: Vec<f64> = match pair.subtrahend {
            Some(place) => minuend
                .iter()
                .zip(&signals[place])
                .map(|(a, b)| a - b)
                .collect(),
            None => minuend.clone(),
        };
        let half = self.taps.len() / 2;
        let rectified: Vec<f64> = (0..signal.len())
            .map(|k| {
                let first = (k + half + 1).saturating_sub(self.taps.len());
                let taps = &self.taps[first + half - k..];
                let values = signal[first..].iter().zip(taps);
                values.map(|(value, tap)| value * tap).sum::<f64>().abs()
            })
            .collect();
        moving_mean(&rectified, (ENVELOPE_S * self.rate_hz).round() as usize)
    }
}

/// What one channel gives to a column.
struct ChannelColumn {
    lines: [f32; N_LINES],
    suppressed: f32,
}

/// The electrode of each channel, or both (`FP1-F7`) where their difference was recorded; and what was assumed.
fn derivations(labels: &[&str]) -> (Vec<Option<String>>, Vec<String>) {
    let scalp = Scalp::of(labels);
    let of_pairs: Vec<[&str; 2]> = labels.iter().filter_map(|label| halves(label)).collect();
    let mut judged = Scalp::of(of_pairs.as_flattened()).electrodes.into_iter();
    let derived = labels
        .iter()
        .zip(scalp.electrodes)
        .map(|(label, electrode)| {
            let pair = halves(label).and_then(|_| {
                let (first, second) = (judged.next()?, judged.next()?);
                Some(format!("{}-{}", first?, second?))
            });
            electrode.or(pair)
        });
    (derived.collect(), scalp.notes)
}

/// The two electrodes of a difference that was recorded.
fn halves(label: &str) -> Option<[&str; 2]> {
    let (first, second) = clean_label(label).split_once('-')?;
    Some([first, second])
}

/// Left electrodes have odd numbers, right ones even; ears and the midline are neither. Of a pair both must be of a side.
fn side_of(electrode: &str) -> Option<Side> {
    if let Some((first, second)) = electrode.split_once('-') {
        return side_of(first).filter(|side| side_of(second) == Some(*side));
    }
    let digits = electrode.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u32 = digits.parse().ok()?;
    match (is_ear(electrode), number % 2) {
        (true, _) => None,
        (false, 1) => Some(Side::Left),
        (false, _) => Some(Side::Right),
    }
}

/// The electrode, or pair, at the same place on the right.
fn mirrored(electrode: &str) -> Option<String> {
    if let Some((first, second)) = electrode.split_once('-') {
        return Some(format!("{}-{}", mirrored(first)?, mirrored(second)?));
    }
    let letters = electrode.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let number: u32 = electrode[letters.len()..].parse().ok()?;
    Some(format!("{letters}{}", number + 1))
}

fn homologous(names: &[Option<&str>]) -> Vec<(usize, usize)> {
    let left = names.iter().enumerate().filter_map(|(place, name)| {
        let name = name.filter(|name| side_of(name) == Some(Side::Left))?;
        let other = mirrored(name)?;
        let right = names
            .iter()
            .position(|name| *name == Some(other.as_str()))?;
        Some((place, right))
    });
    left.collect()
}

/// The first pair of one side that the recording has; a single electrode of that side if it has none.
fn aeeg_pair(names: &[Option<&str>], labels: &[&str], is_right: bool) -> Option<Pair> {
    let place = |electrode: &str| {
        let own = if is_right {
            mirrored(electrode)?
        } else {
            electrode.to_owned()
        };
        names.iter().position(|name| *name == Some(own.as_str()))
    };
    let of_pair = |(first, second): &(&str, &str)| {
        let recorded = place(&format!("{first}-{second}")).map(|pair| (pair, None));
        recorded.or_else(|| Some((place(first)?, Some(place(second)?))))
    };
    let side = if is_right { Side::Right } else { Side::Left };
    let alone = || {
        let is_own = |name: &Option<&str>| name.and_then(side_of) == Some(side);
        Some((names.iter().position(is_own)?, None))
    };
    let (minuend, subtrahend) = AEEG_PAIRS.iter().find_map(of_pair).or_else(alone)?;
    Some(match subtrahend {
        Some(subtrahend) => Pair {
            name: format!(
                "{}-{}",
                clean_label(labels[minuend]),
                clean_label(labels[subtrahend])
            ),
            minuend,
            subtrahend: Some(subtrahend),
        },
        None => Pair::single(labels, minuend),
    })
}

/// Samples of each column and of its stretch; of a column with a gap, the longer part.
fn columns_of(record: &Record, channel: usize, rate_hz: f64) -> Vec<(Range<usize>, Range<usize>)> {
    let segments = record.segments(channel);
    let end_s = segments
        .last()
        .map_or(0.0, |s| s.onset_s + s.n_samples as f64 / rate_hz);
    // More columns than a year has are the work of a broken clock.
    let n_columns = ((end_s / COLUMN_S).ceil().max(0.0) as usize).min(3_000_000);
    let mut columns = vec![(0..0, 0..0); n_columns];
    for segment in &segments {
        let stretch = segment.first_sample..segment.first_sample + segment.n_samples;
        let segment_end_s = segment.onset_s + segment.n_samples as f64 / rate_hz;
        let first = (segment.onset_s / COLUMN_S).floor().max(0.0) as usize;
        let last = ((segment_end_s / COLUMN_S).ceil().max(0.0) as usize).min(n_columns);
        for (column, known) in columns.iter_mut().enumerate().take(last).skip(first) {
            let sample = |time_s: f64| {
                let inside = ((time_s - segment.onset_s) * rate_hz).round().max(0.0) as usize;
                (stretch.start + inside).min(stretch.end)
            };
            let own = sample(Trends::onset_s(column))..sample(Trends::onset_s(column + 1));
            if own.len() > known.0.len() {
                *known = (own, stretch.clone());
            }
        }
    }
    columns
}

/// Impulse response of the filter of amplitude-integrated EEG: its frequency response, zero outside the passband and
/// rising inside, transformed back and cut by a Hamming window.
fn aeeg_taps(rate_hz: f64) -> Vec<f64> {
    const STEPS: usize = 520;
    let half = (AEEG_TAPS_S * rate_hz / 2.0).round() as usize;
    let (low_hz, high_hz) = AEEG_HZ;
    let high_hz = high_hz.min(0.95 * rate_hz / 2.0);
    let step_hz = (high_hz - low_hz) / STEPS as f64;
    let tap = |k: usize| {
        let at = (k as f64 - half as f64) / rate_hz;
        let response = (0..STEPS).map(|step| {
            let hz = low_hz + (step as f64 + 0.5) * step_hz;
            (hz / AEEG_UNITY_HZ).powf(AEEG_RISE) * (2.0 * PI * hz * at).cos()
        });
        let window = 0.54 + 0.46 * (PI * (k as f64 - half as f64) / half as f64).cos();
        2.0 * response.sum::<f64>() * step_hz / rate_hz * window
    };
    (0..=2 * half).map(tap).collect()
}

/// Samples of runs below the limit that are long enough; missing values end a run.
fn quiet(signal: &[f64], shortest: usize) -> Vec<bool> {
    let mut is_quiet = vec![false; signal.len()];
    let mut start = 0;
    for k in 0..=signal.len() {
        let goes_on = signal
            .get(k)
            .is_some_and(|value| value.abs() < SUPPRESSED_UV);
        if !goes_on {
            if k - start >= shortest {
                is_quiet[start..k].fill(true);
            }
            start = k + 1;
        }
    }
    is_quiet
}

/// Means over windows around each sample, shorter at the ends.
fn moving_mean(values: &[f64], window: usize) -> Vec<f64> {
    let mut sums = Vec::with_capacity(values.len() + 1);
    sums.push(0.0);
    for value in values {
        sums.push(sums[sums.len() - 1] + value);
    }
    let half = window / 2;
    let mean = |k: usize| {
        let (from, until) = (k.saturating_sub(half), (k + half + 1).min(values.len()));
        (sums[until] - sums[from]) / (until - from) as f64
    };
    (0..values.len()).map(mean).collect()
}

fn extent(values: &[f64]) -> (f32, f32) {
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return (f32::NAN, f32::NAN);
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    (low as f32, high as f32)
}

/// Power of the lines with low ≤ f < high.
fn power(lines: &[f32], low_hz: f64, high_hz: f64) -> f32 {
    let inside = lines.iter().enumerate().filter(|(k, _)| {
        let hz = (*k + 1) as f64 * LINE_HZ;
        hz >= low_hz && hz < high_hz
    });
    inside.map(|(_, line)| line).sum::<f32>() * LINE_HZ as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Channel, Format, Gap, Kind, Unit};

    const RATE_HZ: f64 = 128.0;

    /// A recording of these channels in µV, each a function of time.
    fn recording(channels: &[(&str, &dyn Fn(f64) -> f64)], length_s: f64) -> Record {
        let n_samples = (length_s * RATE_HZ) as usize;
        let data = channels.iter().map(|(name, value)| {
            let channel = Channel::analog(*name, Unit::parse("uV"), Some(RATE_HZ), 0);
            let values = (0..n_samples).map(|k| value(k as f64 / RATE_HZ)).collect();
            (channel, values)
        });
        Record::in_memory(Format::Simulated, Kind::Recording, "made", data.collect())
    }

    fn sine(amplitude: f64, hz: f64) -> impl Fn(f64) -> f64 {
        move |t| amplitude * (2.0 * PI * hz * t).sin()
    }

    fn trends(record: &Record) -> Trends {
        Trends::build(record, &TrendChannels::default(), |_, _| true).expect("an EEG")
    }

    #[track_caller]
    fn assert_close(found: f32, expected: f64, share: f64) {
        let is_close = (f64::from(found) - expected).abs() <= share * expected.abs();
        assert!(is_close, "{found}, not {expected}");
    }

    #[test]
    fn powers_and_asymmetry_are_those_of_the_sines_put_in() {
        let (left, right, ear) = (sine(10.0, 10.0), sine(20.0, 10.0), sine(500.0, 10.0));
        let (slow, flat) = (sine(30.0, 2.0), |_: f64| 0.0);
        let channels: [(&str, &dyn Fn(f64) -> f64); 5] = [
            ("EEG O1-Ref", &left),
            ("EEG O2-Ref", &right),
            ("EEG Cz-Ref", &slow),
            ("EEG Pz-Ref", &flat),
            ("ECG", &ear),
        ];
        let trends = trends(&recording(&channels, 120.0));
        assert_eq!(trends.n_columns, 8);
        for column in 0..8 {
            // A sine has half its squared amplitude; means are over four EEG channels.
            assert_close(trends.band_powers[2][column], (50.0 + 200.0) / 4.0, 0.01);
            assert_close(trends.band_powers[0][column], 450.0 / 4.0, 0.02);
            assert_close(trends.asymmetry[2][column], 0.6, 0.01);
            let peak = trends.spectrum(Side::Right, column);
            let highest = (0..N_LINES).max_by(|a, b| peak[*a].total_cmp(&peak[*b]));
            assert_eq!(highest, Some(19), "the line of 10 Hz");
            // One of four channels is flat.
            assert_close(trends.suppression[column], 0.25, 0.02);
        }
    }

    #[test]
    fn the_envelope_is_the_mean_of_the_rectified_and_weighted_sine() {
        for (hz, amplitude) in [(4.0, 20.0), (6.0, 50.0), (10.0, 20.0), (13.0, 8.0)] {
            let wave = sine(amplitude, hz);
            let still = |_: f64| 3000.0;
            let channels: [(&str, &dyn Fn(f64) -> f64); 4] =
                [("C3", &wave), ("P3", &still), ("C4", &still), ("P4", &wave)];
            let trends = trends(&recording(&channels, 60.0));
            assert_eq!(trends.aeeg_from[1].as_deref(), Some("C4-P4"));
            // 12 dB a decade, and 2/π for the rectified mean; the offset is filtered out.
            let gain = 10f64.powf(12.0 / 20.0 * (hz / 10.0).log10());
            let mean = amplitude * gain * 2.0 / PI;
            for side in trends.aeeg {
                let (low, high) = side[1];
                // Half a second holds no whole number of half waves: the mean swings a little.
                assert!(f64::from(low) <= mean * 1.02 && f64::from(high) >= mean * 0.98);
                assert_close(low, mean, 0.2);
                assert_close(high, mean, 0.2);
            }
        }
        let fast = sine(100.0, 40.0);
        let none = trends(&recording(&[("C3", &fast), ("C4", &fast)], 60.0));
        assert!(none.aeeg[0][1].1 < 1.0, "40 Hz lie outside the passband");
    }

    #[test]
    fn suppression_is_a_share_of_a_minute_and_needs_half_a_second() {
        // Bursts of 40 µV at 9 Hz in every first half of 10 s; quiet of 1 µV otherwise.
        let bursts = |t: f64| sine(if t % 10.0 < 5.0 { 40.0 } else { 1.0 }, 9.0)(t);
        let trends = trends(&recording(&[("C3", &bursts)], 180.0));
        for column in 4..12 {
            assert_close(trends.suppression[column], 0.5, 0.03);
        }
        // Crossings of zero are not suppression.
        let slow = sine(40.0, 0.6);
        let trends = self::trends(&recording(&[("C3", &slow)], 60.0));
        assert!(trends.suppression[3] < 0.01);
    }

    #[test]
    fn gaps_stay_empty_and_work_can_be_stopped() {
        let wave = sine(10.0, 10.0);
        let mut record = recording(&[("O1", &wave), ("O2", &wave)], 60.0);
        record.gaps = vec![Gap {
            onset_s: 30.0,
            duration_s: 60.0,
        }];
        let trends = trends(&record);
        assert_eq!(trends.n_columns, 8);
        assert!(trends.band_powers[2][3].is_nan() && trends.band_powers[2][6].is_finite());
        let stopped = Trends::build(&record, &TrendChannels::default(), |_, share| share > 2.0);
        assert!(matches!(
            stopped,
            Err(TrendError::Read(ReadError::Cancelled))
        ));
        let no_eeg = recording(&[("ECG", &wave)], 60.0);
        assert!(matches!(
            Trends::build(&no_eeg, &TrendChannels::default(), |_, _| true),
            Err(TrendError::NoEeg)
        ));
        let without = TrendChannels {
            bad: vec!["O2".to_owned()],
            ..TrendChannels::default()
        };
        let bad = Trends::build(&record, &without, |_, _| true).expect("one is left");
        assert!(bad.asymmetry[2][0].is_nan() && bad.is_whole());
        let as_eeg = TrendChannels {
            kinds: vec![("ECG".to_owned(), SignalKind::Eeg)],
            ..TrendChannels::default()
        };
        let corrected = Trends::build(&no_eeg, &as_eeg, |_, _| true);
        assert!(corrected.is_ok(), "the user says that it is EEG");
        let short = Trends {
            n_columns: 9,
            ..bad
        };
        assert!(!short.is_whole());
    }

    #[test]
    fn pairs_have_sides_and_recordings_without_sides_have_trends() {
        let (left, right) = (sine(10.0, 10.0), sine(20.0, 10.0));
        let channels: [(&str, &dyn Fn(f64) -> f64); 3] =
            [("F3-C3", &left), ("F4-C4", &right), ("FZ-CZ", &left)];
        let bipolar = trends(&recording(&channels, 60.0));
        assert_close(bipolar.asymmetry[2][1], 0.6, 0.01);
        assert_eq!(
            bipolar.aeeg_from,
            ["F3-C3", "F4-C4"].map(|name| Some(name.to_owned()))
        );
        assert!(bipolar.has_sides());
        let channels: [(&str, &dyn Fn(f64) -> f64); 2] =
            [("EEG Fpz-Cz", &left), ("EEG Pz-Oz", &right)];
        let middle = trends(&recording(&channels, 60.0));
        assert_eq!(middle.aeeg_from, [Some("Fpz-Cz".to_owned()), None]);
        assert!(!middle.has_sides() && middle.aeeg[0][1].1 > 5.0);
        assert!(middle.spectrum(Side::All, 1)[19] > 1.0);
    }
}
