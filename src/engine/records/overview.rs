//! Min–max overview of a record: any stretch of time drawn from a few points per pixel.
//!
//! For each channel a pyramid of (smallest, largest) pairs: the lowest level has
//! one pair per bin of a few samples, each level above one pair per four
//! pairs of the level below. It is built in steps, so that the caller decides
//! where it runs, and may stop.

use std::ops::Range;

use super::{ReadError, Record};

/// Pairs summarised by one pair of the next level.
const FACTOR: usize = 4;
/// Fewest samples in a bin.
const SMALLEST_BIN: usize = 8;
/// Most memory for all pyramids; longer records get larger bins.
const MAX_BYTES: usize = 96 << 20;
/// Samples read at once, those of all channels together.
const MAX_READ: usize = 1 << 20;

/// Smallest and largest value of a stretch; missing values do not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MinMax {
    /// Smallest value; `+∞` if all are missing.
    pub min: f32,
    /// Largest value; `-∞` if all are missing.
    pub max: f32,
}

impl MinMax {
    /// The extent of nothing.
    pub const NOTHING: Self = Self {
        min: f32::INFINITY,
        max: f32::NEG_INFINITY,
    };

    /// Whether there is no value in the stretch.
    pub fn is_empty(self) -> bool {
        self.min > self.max
    }

    fn of(values: &[f64]) -> Self {
        values.iter().fold(Self::NOTHING, |all, &value| {
            // `min` and `max` pass over NaN.
            let value = value as f32;
            Self {
                min: all.min.min(value),
                max: all.max.max(value),
            }
        })
    }

    /// The extent with one more value.
    pub fn with(self, value: f32) -> Self {
        Self {
            min: self.min.min(value),
            max: self.max.max(value),
        }
    }

    /// The extent of both stretches.
    pub fn and(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

/// What to draw for one pixel column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// The samples it stands for.
    pub first_sample: usize,
    /// How many they are.
    pub n_samples: usize,
    /// Their extent; exact up to the rounding to whole bins at far zoom.
    pub extent: MinMax,
}

/// The pyramids of all channels.
#[derive(Debug, Clone)]
pub struct Overview {
    bin: usize,
    channels: Vec<Pyramid>,
}

/// Pairs of one channel, finest level first.
#[derive(Debug, Clone)]
struct Pyramid {
    bin: usize,
    n_samples: usize,
    levels: Vec<Vec<MinMax>>,
}

impl Overview {
    /// Reads all samples once. `go_on` receives the share done, 0 to 1, and stops the work
    /// by answering `false`; then the result is [`ReadError::Cancelled`].
    pub fn build(record: &Record, mut go_on: impl FnMut(f64) -> bool) -> Result<Self, ReadError> {
        let n_samples = |channel: usize| record.channels[channel].n_samples;
        let longest = (0..record.channels.len()).map(n_samples).max().unwrap_or(0);
        let n_channels = record.channels.len();
        let n_steps = longest.div_ceil(MAX_READ / n_channels.max(1) + 1);
        let bin = bin_for((0..n_channels).map(n_samples).sum());
        let mut overview = Self {
            bin,
            channels: (0..n_channels)
                .map(|channel| Pyramid::with_room_for(n_samples(channel), bin))
                .collect(),
        };
        let is_even = (0..n_channels).all(|channel| n_samples(channel) == longest);
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); n_channels];
        for step in 0..n_steps {
            if !go_on(step as f64 / n_steps as f64) {
                return Err(ReadError::Cancelled);
            }
            // All channels of one stretch of time: files keep them together.
            for (channel, values) in values.iter_mut().enumerate() {
                values.resize(share_of(n_samples(channel), step, n_steps).len(), 0.0);
            }
            if is_even {
                record.read_all_into(share_of(longest, step, n_steps).start, &mut values)?;
            } else {
                for (channel, values) in values.iter_mut().enumerate() {
                    let part = share_of(n_samples(channel), step, n_steps);
                    record.read_into(channel, part.start, values)?;
                }
            }
            for (pyramid, values) in overview.channels.iter_mut().zip(&values) {
                pyramid.add(values);
            }
        }
        overview.channels.iter_mut().for_each(Pyramid::finish);
        go_on(1.0);
        Ok(overview)
    }

    /// Samples summarised by one pair of the lowest level: the most that a column reads.
    pub fn bin(&self) -> usize {
        self.bin
    }

    /// Smallest and largest value of a whole channel.
    pub fn extent(&self, channel: usize) -> Option<MinMax> {
        let top = self.channels.get(channel)?.levels.last()?;
        top.iter().copied().reduce(MinMax::and)
    }

    /// At most `n_columns` columns for the samples of `range`.
    ///
    /// Far out the pyramid answers alone; close up, where a column is less than a
    /// bin, the samples themselves are read: fewer than [`Self::bin`] for each column.
    pub fn columns(
        &self,
        record: &Record,
        channel: usize,
        range: Range<usize>,
        n_columns: usize,
    ) -> Result<Vec<Column>, ReadError> {
        let Some(pyramid) = self.channels.get(channel) else {
            return Ok(Vec::new());
        };
        let end = range.end.min(pyramid.n_samples);
        let start = range.start.min(end);
        let n_columns = n_columns.min(end - start);
        if n_columns == 0 {
            return Ok(Vec::new());
        }
        let parts = (0..n_columns).map(|column| {
            let part = share_of(end - start, column, n_columns);
            start + part.start..start + part.end
        });
        if end - start < self.bin * n_columns {
            let values = record.read(channel, start..end)?;
            return Ok(parts
                .map(|part| {
                    column(
                        &part,
                        MinMax::of(&values[part.start - start..part.end - start]),
                    )
                })
                .collect());
        }
        Ok(parts
            .map(|part| column(&part, pyramid.extent(&part)))
            .collect())
    }
}

fn column(part: &Range<usize>, extent: MinMax) -> Column {
    Column {
        first_sample: part.start,
        n_samples: part.len(),
        extent,
    }
}

/// Part `k` of `n_parts` nearly equal parts of `len`.
fn share_of(len: usize, k: usize, n_parts: usize) -> Range<usize> {
    // In 128 bits, where the product cannot overflow.
    let bound = |k: usize| (len as u128 * k as u128 / n_parts as u128) as usize;
    bound(k)..bound(k + 1)
}

/// The smallest bin with which all pyramids fit into [`MAX_BYTES`].
fn bin_for(n_samples: usize) -> usize {
    let mut bin = SMALLEST_BIN;
    // The levels above add a third to the lowest: 1/4 + 1/16 + …
    while n_samples / bin / 3 * 4 * size_of::<MinMax>() > MAX_BYTES {
        bin *= 2;
    }
    bin
}

impl Pyramid {
    fn with_room_for(n_samples: usize, bin: usize) -> Self {
        Self {
            bin,
            n_samples: 0,
            levels: vec![Vec::with_capacity(n_samples.div_ceil(bin))],
        }
    }

    /// Takes the next samples; the last bin may still be open.
    fn add(&mut self, mut values: &[f64]) {
        while !values.is_empty() {
            let filled = self.n_samples % self.bin;
            let (part, rest) = values.split_at(values.len().min(self.bin - filled));
            let extent = MinMax::of(part);
            let bins = &mut self.levels[0];
            match bins.last_mut() {
                Some(open) if filled > 0 => *open = open.and(extent),
                _ => bins.push(extent),
            }
            self.n_samples += part.len();
            values = rest;
        }
    }

    /// Builds the levels above the lowest.
    fn finish(&mut self) {
        while let Some(below) = self.levels.last().filter(|level| level.len() > FACTOR) {
            let join = |pairs: &[MinMax]| pairs.iter().copied().fold(MinMax::NOTHING, MinMax::and);
            let level = below.chunks(FACTOR).map(join).collect();
            self.levels.push(level);
        }
    }

    /// Extent of samples, widened to whole bins: large blocks from high levels.
    fn extent(&self, samples: &Range<usize>) -> MinMax {
        let n_bins = self.levels[0].len();
        let mut first = samples.start / self.bin;
        let end = samples.end.div_ceil(self.bin).min(n_bins);
        let mut extent = MinMax::NOTHING;
        while first < end {
            let mut level = 0;
            let mut size = 1;
            while level + 1 < self.levels.len()
                && first.is_multiple_of(size * FACTOR)
                && first + size * FACTOR <= end
            {
                level += 1;
                size *= FACTOR;
            }
            extent = extent.and(self.levels[level][first / size]);
            first += size;
        }
        extent
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Channel, Format, Kind, Unit};
    use super::*;

    fn record(lengths: &[usize]) -> Record {
        let data = lengths
            .iter()
            .enumerate()
            .map(|(channel, &len)| {
                let values = (0..len)
                    .map(|k| ((k * 7919 + channel * 31) % 10_007) as f64 - 5000.0)
                    .collect();
                let channel =
                    Channel::analog(format!("c{channel}"), Unit::parse("µV"), Some(100.0), 0);
                (channel, values)
            })
            .collect();
        Record::in_memory(Format::Simulated, Kind::Recording, "test", data)
    }

    #[test]
    fn every_zoom_shows_the_extremes_of_its_samples() {
        let record = record(&[300_000, 1_000, 1]);
        let overview = Overview::build(&record, |_| true).expect("memory is readable");
        let bin = overview.bin();
        for channel in 0..3 {
            let values = record.read_channel(channel).expect("memory is readable");
            for (range, n_columns) in [
                (0..300_000, 700),
                (123..90_001, 300),
                (5..260, 100),
                (0..1, 9),
            ] {
                let columns = overview
                    .columns(&record, channel, range.clone(), n_columns)
                    .expect("memory is readable");
                assert!(columns.len() <= n_columns);
                for column in &columns {
                    let end = column.first_sample + column.n_samples;
                    let exact = MinMax::of(&values[column.first_sample..end]);
                    assert!(column.extent.min <= exact.min && column.extent.max >= exact.max);
                    // No further out than the neighbouring bins.
                    let wide =
                        column.first_sample.saturating_sub(bin)..(end + bin).min(values.len());
                    let wide = MinMax::of(&values[wide]);
                    assert!(column.extent.min >= wide.min && column.extent.max <= wide.max);
                }
                let covered: usize = columns.iter().map(|column| column.n_samples).sum();
                assert_eq!(
                    covered,
                    range.end.min(values.len()) - range.start.min(values.len())
                );
            }
            let all = MinMax::of(&values);
            assert_eq!(overview.extent(channel), Some(all));
        }
    }

    #[test]
    fn long_records_get_larger_bins_and_not_more_memory() {
        assert_eq!(bin_for(0), 8);
        assert_eq!(bin_for(8_500_000), 8);
        for n_samples in [100_000_000, 537_000_000, 20_000_000_000] {
            let bytes = n_samples / bin_for(n_samples) * size_of::<MinMax>() / 3 * 4;
            assert!(
                bytes <= MAX_BYTES && bytes > MAX_BYTES / 3,
                "{n_samples}: {bytes}"
            );
        }
    }

    #[test]
    fn building_tells_its_progress_and_stops_when_told() {
        let record = record(&[3_000_000, 3_000_000]);
        let mut shares = Vec::new();
        Overview::build(&record, |share| {
            shares.push(share);
            true
        })
        .expect("memory is readable");
        assert!(shares.len() > 5 && shares.is_sorted(), "{shares:?}");
        assert_eq!((shares[0], shares[shares.len() - 1]), (0.0, 1.0));

        let mut n_calls = 0;
        let stopped = Overview::build(&record, |_| {
            n_calls += 1;
            n_calls < 3
        });
        assert!(matches!(stopped, Err(ReadError::Cancelled)));
        assert_eq!(n_calls, 3);
    }

    #[test]
    fn missing_values_leave_no_trace() {
        let values = vec![f64::NAN, 2.0, f64::NAN, -1.0];
        assert_eq!(
            MinMax::of(&values),
            MinMax {
                min: -1.0,
                max: 2.0
            }
        );
        assert!(MinMax::of(&[f64::NAN]).is_empty());
    }
}
