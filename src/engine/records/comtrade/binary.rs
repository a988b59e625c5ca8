//! Binary COMTRADE data: rows of fixed length, read where they are when they are needed.

use crate::records::{ByteSource, FilePlace, Findings, ReadError, SampleSource};

use super::configuration::{Configuration, DataType};
use super::scale::{ChannelScale, is_unsigned};

/// Bytes of sample number and time stamp in front of each row.
const ROW_HEAD_BYTES: u64 = 8;
/// A time stamp of this value is missing.
const MISSING_STAMP: u32 = u32::MAX;
/// Bytes read at once.
const BLOCK_BYTES: u64 = 1 << 18;

/// Where the numbers lie in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowLayout {
    data_type: DataType,
    n_analog: u64,
    /// Sixteen digital channels share a word.
    n_words: u64,
    big_endian: bool,
}

impl RowLayout {
    fn declared(configuration: &Configuration, data_type: DataType) -> RowLayout {
        RowLayout {
            data_type,
            n_analog: configuration.analog.len() as u64,
            n_words: configuration.digital.len().div_ceil(16) as u64,
            big_endian: false,
        }
    }

    fn analog_bytes(self) -> u64 {
        match self.data_type {
            DataType::Binary => 2,
            // Text has no rows of fixed length: `BinarySamples::open` never asks.
            DataType::Ascii | DataType::Binary32 | DataType::Float32 => 4,
        }
    }

    fn row_bytes(self) -> u64 {
        ROW_HEAD_BYTES + self.n_analog * self.analog_bytes() + self.n_words * 2
    }

    fn describe(self) -> String {
        let order = if self.big_endian { " big-endian" } else { "" };
        format!(
            "{}{order} rows of {} bytes",
            self.data_type.name(),
            self.row_bytes()
        )
    }

    /// Other layouts that recorders wrote under this declaration: another
    /// type, words for digital channels omitted or added, the other byte order.
    fn alternatives(self) -> impl Iterator<Item = RowLayout> {
        const MOST_ADDED_WORDS: u64 = 4;
        let types = [DataType::Binary, DataType::Binary32, DataType::Float32];
        // The likelier first: rows of one length may have several layouts.
        let words = (self.n_words..=self.n_words + MOST_ADDED_WORDS).chain([0]);
        words.flat_map(move |n_words| {
            types.into_iter().flat_map(move |data_type| {
                [false, true].map(|big_endian| RowLayout {
                    data_type,
                    n_words,
                    big_endian,
                    ..self
                })
            })
        })
    }

    fn u32_at(self, bytes: &[u8], at: usize) -> u32 {
        let four = bytes.get(at..).and_then(|rest| rest.first_chunk());
        let four = four.copied().unwrap_or_default();
        if self.big_endian {
            u32::from_be_bytes(four)
        } else {
            u32::from_le_bytes(four)
        }
    }

    fn u16_at(self, bytes: &[u8], at: usize) -> u16 {
        let two = bytes.get(at..).and_then(|rest| rest.first_chunk());
        let two = two.copied().unwrap_or_default();
        if self.big_endian {
            u16::from_be_bytes(two)
        } else {
            u16::from_le_bytes(two)
        }
    }
}

/// Samples in a binary data file.
#[derive(Debug)]
pub(super) struct BinarySamples {
    source: ByteSource,
    start: u64,
    layout: RowLayout,
    n_rows: u64,
    scales: Vec<ChannelScale>,
    unsigned: Vec<bool>,
}

impl BinarySamples {
    /// Finds the rows in the bytes `start .. end` of `source`.
    pub(super) fn open(
        source: &ByteSource,
        (start, end): (u64, u64),
        configuration: &Configuration,
        data_type: DataType,
        findings: &mut Findings,
    ) -> Result<BinarySamples, ReadError> {
        let len = end.saturating_sub(start);
        let declared = RowLayout::declared(configuration, data_type);
        let layout = settle_layout(source, (start, end), declared, findings)?;
        let n_present = len / layout.row_bytes();
        if n_present == 0 {
            let found = format!("{len} bytes");
            let expected = format!("at least one of the {}", layout.describe());
            return Err(findings.refusal(FilePlace::Byte(start), "data length", found, expected));
        }
        let n_declared = configuration.n_declared.map_or(n_present, |n| n as u64);
        let n_rows = if n_declared == 0 {
            n_present
        } else {
            n_present.min(n_declared)
        };
        let samples = BinarySamples {
            source: source.clone(),
            start,
            layout,
            n_rows,
            scales: configuration
                .analog
                .iter()
                .map(|channel| ChannelScale::new(channel, layout.data_type, configuration.revision))
                .collect(),
            unsigned: configuration.analog.iter().map(is_unsigned).collect(),
        };
        samples.report_length(len, n_declared, findings)?;
        samples.report_unsigned(findings)?;
        samples.report_numbering(findings)?;
        Ok(samples)
    }

    /// Number of sample times.
    pub(super) fn n_rows(&self) -> usize {
        usize::try_from(self.n_rows).unwrap_or(usize::MAX)
    }

    /// The stored time stamps of the first and the last row.
    pub(super) fn outer_stamps(&self) -> Result<Option<(f64, f64)>, ReadError> {
        let first = self.row_head(0)?.1;
        let last = self.row_head(self.n_rows.saturating_sub(1))?.1;
        let known = first != MISSING_STAMP && last != MISSING_STAMP;
        Ok(known.then_some((f64::from(first), f64::from(last))))
    }

    /// All stored time stamps, NaN where missing.
    pub(super) fn stamps(&self) -> Result<Vec<f64>, ReadError> {
        let mut stamps = Vec::with_capacity(self.n_rows());
        self.for_each_row(0, self.n_rows, |row| {
            let stamp = self.layout.u32_at(row, 4);
            stamps.push(match stamp {
                MISSING_STAMP => f64::NAN,
                known => f64::from(known),
            });
        })?;
        Ok(stamps)
    }

    /// Sample number and time stamp of a row.
    fn row_head(&self, row: u64) -> Result<(u32, u32), ReadError> {
        let at = self.start + row * self.layout.row_bytes();
        let mut head = [0; ROW_HEAD_BYTES as usize];
        self.source.read_exact_at(at, &mut head)?;
        Ok((self.layout.u32_at(&head, 0), self.layout.u32_at(&head, 4)))
    }

    /// Reads rows in blocks and hands them over one by one.
    fn for_each_row(
        &self,
        first: u64,
        n_rows: u64,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), ReadError> {
        let row_bytes = self.layout.row_bytes();
        let rows_at_once = (BLOCK_BYTES / row_bytes).max(1);
        let mut row = first;
        let end = first + n_rows;
        while row < end {
            let n = rows_at_once.min(end - row);
            let at = self.start + row * row_bytes;
            let block = self.source.read_range(at, n * row_bytes)?;
            for bytes in block.chunks_exact(row_bytes as usize) {
                take(bytes);
            }
            row += n;
        }
        Ok(())
    }

    fn analog(&self, channel: usize, row: &[u8]) -> f64 {
        let width = self.layout.analog_bytes() as usize;
        let at = ROW_HEAD_BYTES as usize + channel * width;
        let stored = match self.layout.data_type {
            DataType::Binary => {
                let bits = self.layout.u16_at(row, at);
                if self.unsigned.get(channel) == Some(&true) {
                    f64::from(bits)
                } else {
                    f64::from(bits.cast_signed())
                }
            }
            DataType::Binary32 => f64::from(self.layout.u32_at(row, at).cast_signed()),
            DataType::Float32 | DataType::Ascii => {
                f64::from(f32::from_bits(self.layout.u32_at(row, at)))
            }
        };
        self.scales
            .get(channel)
            .map_or(f64::NAN, |scale| scale.value(stored))
    }

    fn digital(&self, channel: usize, row: &[u8]) -> f64 {
        let (word, bit) = (channel / 16, channel % 16);
        if word as u64 >= self.layout.n_words {
            return f64::NAN;
        }
        let analog_bytes = self.layout.n_analog * self.layout.analog_bytes();
        let at = (ROW_HEAD_BYTES + analog_bytes) as usize + word * 2;
        f64::from((self.layout.u16_at(row, at) >> bit) & 1)
    }

    fn report_length(
        &self,
        len: u64,
        n_declared: u64,
        findings: &mut Findings,
    ) -> Result<(), ReadError> {
        let n_present = len / self.layout.row_bytes();
        if n_declared > n_present {
            let found = format!("{n_present} samples");
            let expected = format!("{n_declared} as declared");
            let assumed = "the samples present are read";
            findings.breach(FilePlace::File, "data length", found, expected, assumed)?;
        } else if len != self.n_rows * self.layout.row_bytes() {
            let surplus = len - self.n_rows * self.layout.row_bytes();
            let found = format!("{surplus} bytes more than {} samples", self.n_rows);
            let place = FilePlace::Byte(self.start + self.n_rows * self.layout.row_bytes());
            let assumed = "the surplus was skipped";
            findings.breach(place, "data length", found, "none", assumed)?;
        }
        Ok(())
    }

    fn report_unsigned(&self, findings: &mut Findings) -> Result<(), ReadError> {
        let n_unsigned = self.unsigned.iter().filter(|unsigned| **unsigned).count();
        if self.layout.data_type != DataType::Binary || n_unsigned == 0 {
            return Ok(());
        }
        let expected = "-32767 to 32767";
        let assumed = format!("{n_unsigned} channels are read without sign");
        findings.breach(FilePlace::File, "range", "beyond 32767", expected, assumed)
    }

    /// Lost or repeated rows show in the numbers of the first and last row.
    fn report_numbering(&self, findings: &mut Findings) -> Result<(), ReadError> {
        let last_row = self.n_rows.saturating_sub(1);
        let (first, last) = (self.row_head(0)?.0, self.row_head(last_row)?.0);
        let counted = u64::from(last.wrapping_sub(first));
        if counted == last_row || (first, last) == (0, 0) {
            return Ok(());
        }
        let place = FilePlace::Byte(self.start + last_row * self.layout.row_bytes());
        let expected = u64::from(first).saturating_add(last_row);
        let assumed = "rows are taken in the order of the file";
        findings.breach(place, "sample number", last, expected, assumed)
    }
}

impl SampleSource for BinarySamples {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let n_analog = self.scales.len();
        let mut values = out.iter_mut();
        let n_rows = values.len() as u64;
        self.for_each_row(first as u64, n_rows, |row| {
            if let Some(value) = values.next() {
                *value = match channel.checked_sub(n_analog) {
                    None => self.analog(channel, row),
                    Some(digital) => self.digital(digital, row),
                };
            }
        })
    }
}

/// The declared layout if its sample numbers count, otherwise one whose numbers do.
fn settle_layout(
    source: &ByteSource,
    range: (u64, u64),
    declared: RowLayout,
    findings: &mut Findings,
) -> Result<RowLayout, ReadError> {
    let rows_of = |layout: RowLayout| range.1.saturating_sub(range.0) / layout.row_bytes();
    if numbers_count(source, range, declared)? || rows_of(declared) == 1 {
        return Ok(declared);
    }
    for layout in declared.alternatives() {
        if rows_of(layout) >= 3 && numbers_count(source, range, layout)? {
            let layout = with_type_of_content(source, range.0, layout)?;
            let found = declared.describe();
            let assumed = "they were read so";
            findings.breach(FilePlace::File, "layout", found, layout.describe(), assumed)?;
            return Ok(layout);
        }
    }
    Ok(declared)
}

/// Tells four-byte whole numbers from floating point ones, which no length shows.
///
/// The first byte of a whole number of usual size only extends its sign.
fn with_type_of_content(
    source: &ByteSource,
    start: u64,
    layout: RowLayout,
) -> Result<RowLayout, ReadError> {
    if layout.data_type == DataType::Binary {
        return Ok(layout);
    }
    let values = source.read_range(start + ROW_HEAD_BYTES, layout.n_analog * 4)?;
    let high_byte = if layout.big_endian { 0 } else { 3 };
    let is_whole = |value: &&[u8]| matches!(value.get(high_byte), Some(0x00 | 0xff));
    let n_whole = values.chunks_exact(4).filter(is_whole).count();
    let data_type = if n_whole * 2 >= values.len() / 4 {
        DataType::Binary32
    } else {
        DataType::Float32
    };
    Ok(RowLayout {
        data_type,
        ..layout
    })
}

/// Whether the first rows are numbered one after the other.
fn numbers_count(
    source: &ByteSource,
    (start, end): (u64, u64),
    layout: RowLayout,
) -> Result<bool, ReadError> {
    const LOOKED_AT: u64 = 4;
    let row_bytes = layout.row_bytes();
    let n_rows = (end.saturating_sub(start) / row_bytes).min(LOOKED_AT);
    let mut numbers = Vec::new();
    for row in 0..n_rows {
        let mut number = [0; 4];
        source.read_exact_at(start + row * row_bytes, &mut number)?;
        numbers.push(layout.u32_at(&number, 0));
    }
    let counting = |pair: &[u32]| matches!(pair, [a, b] if a.checked_add(1) == Some(*b));
    Ok(numbers.len() > 1 && numbers.windows(2).all(counting))
}
