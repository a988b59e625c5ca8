//! ASCII COMTRADE data: one line per sample time, kept as columns of small whole numbers where possible.

use std::io::{BufRead, BufReader};

use crate::records::number_column::{NumberColumn, parse_whole};
use crate::records::source_reader::SourceReader;
use crate::records::text::quoted;
use crate::records::{ByteSource, FilePlace, Findings, ReadError, SampleSource};

use super::configuration::{Configuration, DataType};
use super::scale::ChannelScale;

/// Bytes read at once.
const BLOCK_BYTES: usize = 1 << 18;
/// A state that is blank or unreadable.
const MISSING_STATE: u8 = u8::MAX;

/// The stored numbers of one channel.
#[derive(Debug)]
enum AsciiColumn {
    /// Of an analog channel.
    Numbers(NumberColumn),
    /// Of a digital channel.
    States(Vec<u8>),
}

/// A field that is neither blank nor a number.
struct Unreadable;

impl AsciiColumn {
    /// Adds a field; one that is blank or cannot be read counts as missing.
    fn push(&mut self, field: &[u8]) -> Result<(), Unreadable> {
        match self {
            AsciiColumn::States(states) => {
                let state = match field {
                    b"0" => Some(0),
                    b"1" => Some(1),
                    _ => None,
                };
                states.push(state.unwrap_or(MISSING_STATE));
                readable(state.is_some(), field)
            }
            AsciiColumn::Numbers(numbers) => {
                if let Some(whole) = parse_whole(field) {
                    numbers.push_whole(whole);
                    return Ok(());
                }
                let number = real_number(field);
                numbers.push(number.unwrap_or(f64::NAN));
                readable(number.is_some(), field)
            }
        }
    }

    fn stored(&self, row: usize) -> f64 {
        match self {
            AsciiColumn::Numbers(numbers) => numbers.get(row),
            AsciiColumn::States(states) => match states.get(row) {
                Some(&MISSING_STATE) | None => f64::NAN,
                Some(&state) => f64::from(state),
            },
        }
    }
}

fn readable(has_value: bool, field: &[u8]) -> Result<(), Unreadable> {
    if has_value || field.is_empty() {
        Ok(())
    } else {
        Err(Unreadable)
    }
}

fn real_number(field: &[u8]) -> Option<f64> {
    super::lines::parse_number(std::str::from_utf8(field).ok()?)
}

/// Samples of a text data file, in memory.
#[derive(Debug)]
pub(super) struct AsciiSamples {
    columns: Vec<AsciiColumn>,
    scales: Vec<ChannelScale>,
    stamps: Vec<f64>,
}

impl AsciiSamples {
    /// Reads the rows in the bytes `start .. end` of `source`.
    pub(super) fn open(
        source: &ByteSource,
        (start, end): (u64, u64),
        configuration: &Configuration,
        findings: &mut Findings,
    ) -> Result<AsciiSamples, ReadError> {
        let mut reader =
            BufReader::with_capacity(BLOCK_BYTES, SourceReader::new(source, start, end));
        let mut rows = RowCollector::new(configuration);
        let mut line = Vec::new();
        loop {
            line.clear();
            let cannot = |error| ReadError::io(source.path(), error);
            if reader.read_until(b'\n', &mut line).map_err(cannot)? == 0 {
                break;
            }
            // Old recorders end lines with a carriage return alone.
            for part in line.trim_ascii_end().split(|b| *b == b'\r') {
                rows.take_line(part, findings)?;
            }
        }
        rows.finish(configuration, findings)
    }

    /// Number of sample times.
    pub(super) fn n_rows(&self) -> usize {
        self.stamps.len()
    }

    /// The time stamps as stored, NaN where blank.
    pub(super) fn stamps(&self) -> &[f64] {
        &self.stamps
    }
}

impl SampleSource for AsciiSamples {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let scale = self.scales.get(channel);
        let column = self.columns.get(channel);
        for (offset, value) in out.iter_mut().enumerate() {
            let stored = column.map_or(f64::NAN, |column| column.stored(first + offset));
            *value = scale.map_or(stored, |scale| scale.value(stored));
        }
        Ok(())
    }
}

/// Takes the lines of a data file one by one.
struct RowCollector {
    columns: Vec<AsciiColumn>,
    n_analog: usize,
    stamps: Vec<f64>,
    n_declared: usize,
    separator: Option<AsciiSeparator>,
    /// Columns in the file, known after the first row.
    n_columns: usize,
    line_number: usize,
    last_number: Option<f64>,
    oddities: Oddities,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AsciiSeparator {
    Byte(u8),
    Spaces,
}

/// What was odd: where first, and how often.
#[derive(Default)]
struct Oddities {
    blank_lines: Oddity,
    skipped_lines: Oddity,
    short_rows: Oddity,
    long_rows: Oddity,
    unreadable: Oddity,
    surplus_rows: Oddity,
    numbering: Oddity,
    padding: Oddity,
}

#[derive(Default)]
struct Oddity {
    first_line: usize,
    count: usize,
    example: String,
}

impl Oddity {
    fn note(&mut self, line: usize, example: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first_line = line;
            self.example = example();
        }
        self.count += 1;
    }

    fn report(
        &self,
        findings: &mut Findings,
        field: &str,
        expected: &str,
        assumed: &str,
    ) -> Result<(), ReadError> {
        if self.count == 0 {
            return Ok(());
        }
        let assumed = format!("{assumed} ({} times)", self.count);
        let place = FilePlace::Line(self.first_line);
        findings.breach(place, field, &self.example, expected, assumed)
    }
}

impl RowCollector {
    fn new(configuration: &Configuration) -> RowCollector {
        let analog = configuration
            .analog
            .iter()
            .map(|_| AsciiColumn::Numbers(NumberColumn::new()));
        let digital = configuration
            .digital
            .iter()
            .map(|_| AsciiColumn::States(Vec::new()));
        let n_declared = configuration.n_declared.filter(|n| *n > 0);
        RowCollector {
            columns: analog.chain(digital).collect(),
            n_analog: configuration.analog.len(),
            stamps: Vec::new(),
            n_declared: n_declared.unwrap_or(usize::MAX),
            separator: None,
            n_columns: 0,
            line_number: 0,
            last_number: None,
            oddities: Oddities::default(),
        }
    }

    fn take_line(&mut self, line: &[u8], findings: &mut Findings) -> Result<(), ReadError> {
        self.line_number += 1;
        let is_padding = |b: &u8| matches!(b, 0x1a | 0);
        let line = if line.iter().any(is_padding) {
            self.oddities
                .padding
                .note(self.line_number, || "SUB or NUL".to_owned());
            let end = line.iter().position(is_padding).unwrap_or(line.len());
            line.get(..end).unwrap_or(line)
        } else {
            line
        };
        let line = line.trim_ascii();
        if line.is_empty() {
            self.oddities
                .blank_lines
                .note(self.line_number, || "blank".to_owned());
            return Ok(());
        }
        if self.stamps.len() >= self.n_declared {
            self.oddities
                .surplus_rows
                .note(self.line_number, || "a row more".to_owned());
            return Ok(());
        }
        let separator = match self.separator {
            Some(separator) => separator,
            None => self.settle_columns(line, findings)?,
        };
        match separator {
            AsciiSeparator::Byte(byte) => self.take_fields(line, line.split(|b| *b == byte)),
            AsciiSeparator::Spaces => {
                let fields = line.split(u8::is_ascii_whitespace);
                self.take_fields(line, fields.filter(|field| !field.is_empty()));
            }
        }
        Ok(())
    }

    /// Separator and number of columns, from the first row.
    fn settle_columns(
        &mut self,
        line: &[u8],
        findings: &mut Findings,
    ) -> Result<AsciiSeparator, ReadError> {
        let has = |byte: &u8| line.contains(byte);
        let byte = [b',', b';', b'\t'].into_iter().find(has);
        let separator = byte.map_or(AsciiSeparator::Spaces, AsciiSeparator::Byte);
        let n_fields = match separator {
            AsciiSeparator::Byte(byte) => line.split(|b| *b == byte).count(),
            AsciiSeparator::Spaces => line
                .split(u8::is_ascii_whitespace)
                .filter(|f| !f.is_empty())
                .count(),
        };
        let place = FilePlace::Line(self.line_number);
        if separator != AsciiSeparator::Byte(b',') {
            let found = match separator {
                AsciiSeparator::Byte(b';') => "a semicolon",
                _ => "white space",
            };
            findings.breach(place, "separator", found, "a comma", "it was taken for it")?;
        }
        let n_expected = self.columns.len() + 2;
        self.n_columns = n_expected;
        if n_fields == self.n_analog + 2 && n_fields < n_expected {
            self.n_columns = n_fields;
            let assumed = "the digital channels are missing";
            findings.breach(place, "fields of a row", n_fields, n_expected, assumed)?;
        }
        self.separator = Some(separator);
        Ok(separator)
    }

    fn take_fields<'a>(&mut self, line: &[u8], fields: impl Iterator<Item = &'a [u8]> + Clone) {
        let shown = || quoted(&String::from_utf8_lossy(line.get(..60).unwrap_or(line)));
        let n_fields = fields.clone().count();
        let mut fields = fields.map(<[u8]>::trim_ascii);
        let number = fields.next().unwrap_or(b"");
        // Too short a row is no row: filling it up would take memory that the file does not have.
        let is_row = n_fields * 4 >= self.n_columns * 3;
        let number_value = real_number(number);
        if !is_row || (number_value.is_none() && !number.is_empty()) {
            self.oddities.skipped_lines.note(self.line_number, shown);
            return;
        }
        let counts = match (self.last_number, number_value) {
            (Some(last), Some(this)) => this == last + 1.0,
            _ => true,
        };
        if !counts {
            let example = || String::from_utf8_lossy(number).into_owned();
            self.oddities.numbering.note(self.line_number, example);
        }
        self.last_number = number_value;
        if n_fields < self.n_columns {
            self.oddities
                .short_rows
                .note(self.line_number, || n_fields.to_string());
        }
        let stamp = fields.next().unwrap_or(b"");
        self.stamps.push(real_number(stamp).unwrap_or(f64::NAN));
        let n_kept = self.n_columns.saturating_sub(2);
        for column in self.columns.iter_mut().take(n_kept) {
            let field = fields.next().unwrap_or(b"");
            if column.push(field).is_err() {
                let example = || quoted(&String::from_utf8_lossy(field));
                self.oddities.unreadable.note(self.line_number, example);
            }
        }
        if fields.any(|field| !field.is_empty()) {
            self.oddities
                .long_rows
                .note(self.line_number, || n_fields.to_string());
        }
    }

    fn finish(
        self,
        configuration: &Configuration,
        findings: &mut Findings,
    ) -> Result<AsciiSamples, ReadError> {
        let n_rows = self.stamps.len();
        if n_rows == 0 {
            let found = format!("{} lines without a row of samples", self.line_number);
            let expected = format!(
                "rows of {} fields: number, time, {} analog, {} digital",
                self.columns.len() + 2,
                configuration.analog.len(),
                configuration.digital.len()
            );
            return Err(findings.refusal(FilePlace::Line(1), "data", found, expected));
        }
        if self.n_declared != usize::MAX && n_rows < self.n_declared {
            let found = format!("{n_rows} samples");
            let expected = format!("{} as declared", self.n_declared);
            let assumed = "the samples present are read";
            findings.breach(FilePlace::File, "data length", found, expected, assumed)?;
        }
        self.oddities.report(self.line_number, findings)?;
        let scale = |channel| ChannelScale::new(channel, DataType::Ascii, configuration.revision);
        Ok(AsciiSamples {
            columns: self.columns,
            scales: configuration.analog.iter().map(scale).collect(),
            stamps: self.stamps,
        })
    }
}

impl Oddities {
    fn report(&self, last_line: usize, findings: &mut Findings) -> Result<(), ReadError> {
        // A blank or padded last line is how many editors and DOS end a file.
        if self.blank_lines.count > 1 || self.blank_lines.first_line < last_line {
            let expected = "a row";
            self.blank_lines
                .report(findings, "line", expected, "skipped")?;
        }
        if self.padding.count > 1 || self.padding.first_line < last_line {
            self.padding
                .report(findings, "padding", "none", "skipped")?;
        }
        let rows = "a row of samples";
        self.skipped_lines
            .report(findings, "line", rows, "skipped")?;
        let all = "all channels";
        let missing = "missing values assumed";
        self.short_rows
            .report(findings, "fields of a row", all, missing)?;
        self.long_rows
            .report(findings, "fields of a row", all, "the surplus skipped")?;
        self.unreadable
            .report(findings, "value", "a number", missing)?;
        let none = "the declared number of rows";
        self.surplus_rows
            .report(findings, "data length", none, "skipped")?;
        let order = "one more than the row before";
        self.numbering.report(
            findings,
            "sample number",
            order,
            "rows taken in the order of the file",
        )
    }
}
