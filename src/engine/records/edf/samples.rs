//! Samples of EDF and BDF files, read from the data records when asked.

use super::super::{ByteSource, Quantisation, ReadError, Samples};
use super::header::{Header, Signal};

/// Where each channel lies in a data record and how its numbers are scaled.
pub(super) struct EdfSamples {
    bytes: ByteSource,
    data_offset: u64,
    record_bytes: u64,
    sample_bytes: usize,
    channels: Vec<StoredChannel>,
}

struct StoredChannel {
    offset_in_record: u64,
    samples_per_record: usize,
    digital: (f64, f64),
    physical: (f64, f64),
}

impl StoredChannel {
    fn new(signal: &Signal) -> Self {
        Self {
            offset_in_record: signal.offset_in_record,
            samples_per_record: signal.samples_per_record as usize,
            digital: signal.digital,
            physical: signal.physical,
        }
    }

    /// Value of the number 0, and of one step: the straight line through both ends of the ranges.
    fn line(&self) -> (f64, f64) {
        let (digital_min, digital_max) = self.digital;
        let (physical_min, physical_max) = self.physical;
        let step = (physical_max - physical_min) / (digital_max - digital_min);
        (physical_min - digital_min * step, step)
    }
}

/// Bytes read at once where a channel fills a good part of its data records.
const BLOCK_BYTES: u64 = 1 << 18;

impl EdfSamples {
    pub(super) fn new(bytes: ByteSource, header: &Header) -> Self {
        Self {
            bytes,
            data_offset: header.data_offset,
            record_bytes: header.record_bytes(),
            sample_bytes: header.sample_bytes() as usize,
            channels: header
                .data_signals()
                .map(|(_, signal)| StoredChannel::new(signal))
                .collect(),
        }
    }

    /// Data records to read at once: one if the channel is a small part of large records.
    fn records_at_once(&self, channel: &StoredChannel) -> u64 {
        let own_bytes = (channel.samples_per_record * self.sample_bytes) as u64;
        let worth_reading_all = self.record_bytes <= 4096 || own_bytes * 4 >= self.record_bytes;
        if worth_reading_all {
            (BLOCK_BYTES / self.record_bytes).max(1)
        } else {
            1
        }
    }
}

impl Samples for EdfSamples {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let channel = &self.channels[channel];
        let per_record = channel.samples_per_record;
        let at_once = self.records_at_once(channel);
        let mut block = Vec::new();
        let mut done = 0;
        while done < out.len() {
            let sample = first + done;
            let (record, inside) = ((sample / per_record) as u64, sample % per_record);
            // From the wanted sample to the end of the last wanted record's part of this channel.
            let n_records = at_once.min(((inside + out.len() - done).div_ceil(per_record)) as u64);
            let in_last = if n_records == 1 {
                (inside + out.len() - done).min(per_record)
            } else {
                per_record
            };
            let skipped = (inside * self.sample_bytes) as u64;
            let start = record * self.record_bytes + channel.offset_in_record + skipped;
            let end = (record + n_records - 1) * self.record_bytes
                + channel.offset_in_record
                + (in_last * self.sample_bytes) as u64;
            block.resize((end - start) as usize, 0);
            self.bytes
                .read_exact_at(self.data_offset + start, &mut block)?;
            for part in 0..n_records as usize {
                let from = if part == 0 { inside } else { 0 };
                let at = part * self.record_bytes as usize + (from * self.sample_bytes)
                    - skipped as usize;
                let n = (per_record - from).min(out.len() - done);
                let stored = &block[at..at + n * self.sample_bytes];
                decode(stored, self.sample_bytes, channel, &mut out[done..done + n]);
                done += n;
            }
        }
        Ok(())
    }

    fn quantisation(&self, channel: usize) -> Option<Quantisation> {
        let channel = self.channels.get(channel)?;
        let whole = |value: f64| {
            (value.fract() == 0.0 && value.abs() < f64::from(1 << 30)).then_some(value as i32)
        };
        Some(Quantisation {
            digital_min: whole(channel.digital.0)?,
            digital_max: whole(channel.digital.1)?,
            physical_min: channel.physical.0,
            physical_max: channel.physical.1,
        })
    }
}

/// Little-endian two's complement numbers of two or three bytes, scaled.
fn decode(stored: &[u8], sample_bytes: usize, channel: &StoredChannel, out: &mut [f64]) {
    let (zero, step) = channel.line();
    for (value, bytes) in out.iter_mut().zip(stored.chunks_exact(sample_bytes)) {
        let digital = match *bytes {
            [low, high] => i32::from(i16::from_le_bytes([low, high])),
            [low, middle, high] => i32::from_le_bytes([0, low, middle, high]) >> 8,
            _ => 0,
        };
        *value = zero + f64::from(digital) * step;
    }
}
