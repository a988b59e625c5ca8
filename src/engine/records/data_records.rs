//! Samples in data records of equal length, each signal's part of a record together: EDF, BDF, GDF.

use super::{ByteSource, Number, Quantisation, ReadError, SampleSource};

/// Where each signal lies in a data record and how its numbers are scaled.
pub(super) struct DataRecords {
    pub(super) bytes: ByteSource,
    pub(super) data_offset: u64,
    pub(super) record_bytes: u64,
    pub(super) signals: Vec<StoredSignal>,
}

/// One signal of the data records.
pub(super) struct StoredSignal {
    /// Bytes from the start of a data record to the first sample of this signal.
    pub(super) offset_in_record: u64,
    pub(super) samples_per_record: usize,
    pub(super) number: Number,
    /// Range of the stored numbers, and what it stands for.
    pub(super) digital: (f64, f64),
    pub(super) physical: (f64, f64),
}

impl StoredSignal {
    /// Value of the number 0, and of one step: the straight line through both ends of the ranges.
    fn line(&self) -> (f64, f64) {
        let (digital_min, digital_max) = self.digital;
        let (physical_min, physical_max) = self.physical;
        let step = (physical_max - physical_min) / (digital_max - digital_min);
        (physical_min - digital_min * step, step)
    }

    /// Little-endian numbers, scaled.
    fn decode(&self, stored: &[u8], out: &mut [f64]) {
        let (zero, step) = self.line();
        let width = self.number.bytes();
        let values = out.iter_mut().zip(stored.chunks_exact(width));
        match self.number {
            Number::Int16 => values.for_each(|(value, bytes)| {
                let digital = i16::from_le_bytes([bytes[0], bytes[1]]);
                *value = zero + f64::from(digital) * step;
            }),
            number => values.for_each(|(value, bytes)| {
                *value = zero + number.decode(bytes, false) * step;
            }),
        }
    }
}

/// Bytes read at once where a signal fills a good part of its data records.
const BLOCK_BYTES: u64 = 1 << 18;

impl DataRecords {
    /// Data records to read at once: one if the signal is a small part of large records.
    fn records_at_once(&self, signal: &StoredSignal) -> u64 {
        let own_bytes = (signal.samples_per_record * signal.number.bytes()) as u64;
        let worth_reading_all = self.record_bytes <= 4096 || own_bytes * 4 >= self.record_bytes;
        if worth_reading_all {
            (BLOCK_BYTES / self.record_bytes).max(1)
        } else {
            1
        }
    }

    /// Signals of one rate: reads every byte once.
    fn read_records(
        &self,
        per_record: usize,
        first: usize,
        out: &mut [Vec<f64>],
    ) -> Result<(), ReadError> {
        let n_samples = out.first().map_or(0, Vec::len);
        let mut block = Vec::new();
        let mut done = 0;
        while done < n_samples {
            let (record, inside) = ((first + done) / per_record, (first + done) % per_record);
            block.resize(self.record_bytes as usize, 0);
            let at = self.data_offset + record as u64 * self.record_bytes;
            self.bytes.read_exact_at(at, &mut block)?;
            let n = (per_record - inside).min(n_samples - done);
            for (signal, values) in self.signals.iter().zip(out.iter_mut()) {
                let from = signal.offset_in_record as usize + inside * signal.number.bytes();
                signal.decode(&block[from..], &mut values[done..done + n]);
            }
            done += n;
        }
        Ok(())
    }
}

impl SampleSource for DataRecords {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let signal = &self.signals[channel];
        let (per_record, width) = (signal.samples_per_record, signal.number.bytes());
        let at_once = self.records_at_once(signal);
        let mut block = Vec::new();
        let mut done = 0;
        while done < out.len() {
            let sample = first + done;
            let (record, inside) = ((sample / per_record) as u64, sample % per_record);
            // From the wanted sample to the end of the last wanted record's part of this signal.
            let n_records = at_once.min(((inside + out.len() - done).div_ceil(per_record)) as u64);
            let in_last = if n_records == 1 {
                (inside + out.len() - done).min(per_record)
            } else {
                per_record
            };
            let skipped = (inside * width) as u64;
            let start = record * self.record_bytes + signal.offset_in_record + skipped;
            let end = (record + n_records - 1) * self.record_bytes
                + signal.offset_in_record
                + (in_last * width) as u64;
            block.resize((end - start) as usize, 0);
            self.bytes
                .read_exact_at(self.data_offset + start, &mut block)?;
            for part in 0..n_records as usize {
                let from = if part == 0 { inside } else { 0 };
                let at = part * self.record_bytes as usize + (from * width) - skipped as usize;
                let n = (per_record - from).min(out.len() - done);
                signal.decode(&block[at..at + n * width], &mut out[done..done + n]);
                done += n;
            }
        }
        Ok(())
    }

    fn read_all(&self, first: usize, out: &mut [Vec<f64>]) -> Result<(), ReadError> {
        // A record larger than this is not worth holding for a few samples.
        const LARGEST_RECORD: u64 = 1 << 22;
        let per_record = self.signals.first().map_or(0, |s| s.samples_per_record);
        let n_samples = out.first().map_or(0, Vec::len);
        let is_even = out.len() == self.signals.len()
            && out.iter().all(|values| values.len() == n_samples)
            && self
                .signals
                .iter()
                .all(|s| s.samples_per_record == per_record);
        if is_even && per_record > 0 && self.record_bytes <= LARGEST_RECORD {
            return self.read_records(per_record, first, out);
        }
        for (channel, values) in out.iter_mut().enumerate() {
            self.read(channel, first, values)?;
        }
        Ok(())
    }

    fn quantisation(&self, channel: usize) -> Option<Quantisation> {
        let signal = self.signals.get(channel)?;
        let whole = |value: f64| {
            (value.fract() == 0.0 && value.abs() < f64::from(1 << 30)).then_some(value as i32)
        };
        Some(Quantisation {
            digital_min: whole(signal.digital.0)?,
            digital_max: whole(signal.digital.1)?,
            physical_min: signal.physical.0,
            physical_max: signal.physical.1,
        })
    }
}
