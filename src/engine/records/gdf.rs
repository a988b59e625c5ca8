//! General Data Format for biosignals, versions 1 and 2: the data records of EDF with binary headers, a number type
//! for each channel, and a table of events behind the data. <https://arxiv.org/abs/cs/0608052>

use std::sync::Arc;

use super::data_records::{DataRecords, StoredSignal};
use super::text::{decode_field, quoted};
use super::{
    Annotation, ByteSource, Channel, FilePlace, Findings, Format, Identity, Input, Kind, Number,
    ReadError, ReadOptions, Record, Sensor, Source, StartTime, Unit,
};

/// Bytes of the fixed part, and of the part of each channel.
const BLOCK_BYTES: u64 = 256;
/// First version of the second layout.
const SECOND_LAYOUT: f64 = 1.9;
/// First version whose event table counts before it tells its rate.
const SECOND_TABLE: f64 = 1.94;

/// Whether these bytes start a GDF file.
pub fn is_certain(head: &[u8]) -> bool {
    head.starts_with(b"GDF ") && head.get(4).is_some_and(u8::is_ascii_digit)
}

/// Reads the header and the events; samples when asked.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let bytes = &input.bytes;
    let mut findings = Findings::new(input.path(), options.mode);
    let header = GdfHeader::read(bytes, &mut findings)?;
    let channels: Vec<Channel> = header
        .signals
        .iter()
        .map(|signal| {
            findings.note_unit(FilePlace::Byte(BLOCK_BYTES), &signal.unit, &signal.name);
            let per_record = signal.stored.samples_per_record;
            let rate_hz = per_record as f64 / header.record_s;
            let rate_hz = (rate_hz.is_finite() && rate_hz > 0.0).then_some(rate_hz);
            let n_samples = per_record.saturating_mul(header.n_records as usize);
            let unit = signal.unit.clone();
            Channel {
                sensor: signal.sensor.clone(),
                ..Channel::analog(signal.name.as_str(), unit, rate_hz, n_samples)
            }
        })
        .collect();
    let fastest_hz = channels
        .iter()
        .filter_map(|c| c.rate_hz)
        .fold(0.0, f64::max);
    let names: Vec<String> = channels.iter().map(|c| c.name.clone()).collect();
    let annotations = events(bytes, &header, fastest_hz, &names, &mut findings)?;
    let format = match header.version < SECOND_LAYOUT {
        true => Format::Gdf1,
        false => Format::Gdf2,
    };
    let (start, identity) = (header.start, header.identity);
    let samples = DataRecords {
        bytes: bytes.clone(),
        data_offset: header.data_offset,
        record_bytes: header.record_bytes,
        signals: header
            .signals
            .into_iter()
            .map(|signal| signal.stored)
            .collect(),
    };
    let source = Source::new(input.path(), bytes.len());
    let mut record = Record::new(format, Kind::Recording, source, channels, Arc::new(samples));
    record.start = start;
    record.identity = identity;
    record.annotations = annotations;
    record.warnings = findings.into_warnings();
    Ok(record)
}

struct GdfHeader {
    version: f64,
    start: Option<StartTime>,
    identity: Identity,
    data_offset: u64,
    n_records: u64,
    record_s: f64,
    record_bytes: u64,
    signals: Vec<GdfSignal>,
}

struct GdfSignal {
    name: String,
    unit: Unit,
    sensor: Sensor,
    stored: StoredSignal,
}

/// Little-endian fields by their place; what is not there is zero.
struct GdfFields<'a>(&'a [u8]);

impl GdfFields<'_> {
    fn raw(&self, at: usize, width: usize) -> &[u8] {
        self.0.get(at..at + width).unwrap_or(&[])
    }

    fn number(&self, number: Number, at: usize) -> f64 {
        number.decode(self.raw(at, number.bytes()), false)
    }

    fn text(&self, at: usize, width: usize) -> String {
        decode_field(self.raw(at, width))
    }
}

impl GdfHeader {
    fn read(bytes: &ByteSource, findings: &mut Findings) -> Result<Self, ReadError> {
        let fixed = bytes.read_range(0, BLOCK_BYTES)?;
        let fixed = GdfFields(&fixed);
        let version_text = fixed.text(4, 4);
        let version: Option<f64> = version_text.parse().ok();
        let Some(version) = version.filter(|v| (1.0..3.0).contains(v)) else {
            let found = quoted(&version_text);
            return Err(findings.refusal(FilePlace::Byte(4), "version", found, "1 or 2"));
        };
        let is_first = version < SECOND_LAYOUT;
        let count = match is_first {
            true => Number::Uint32,
            false => Number::Uint16,
        };
        let n_signals = fixed.number(count, 252) as u64;
        let most = (bytes.len() / BLOCK_BYTES - 1).min(1 << 16);
        if !(1..=most).contains(&n_signals) {
            let expected = format!("1 to {most}, as many as the file has room for");
            let place = FilePlace::Byte(252);
            return Err(findings.refusal(place, "number of channels", n_signals, expected));
        }
        let (numerator, denominator) = (
            fixed.number(Number::Uint32, 244),
            fixed.number(Number::Uint32, 248),
        );
        let mut record_s = numerator / denominator;
        if !(record_s.is_finite() && record_s > 0.0) {
            let found = format!("{numerator}/{denominator} s");
            let place = FilePlace::Byte(244);
            let expected = "a positive duration";
            findings.breach(place, "data record", found, expected, "taken to be 1 s")?;
            record_s = 1.0;
        }
        let declared_offset = match is_first {
            true => fixed.number(Number::Int64, 184),
            false => fixed.number(Number::Uint16, 184) * BLOCK_BYTES as f64,
        };
        let shortest = BLOCK_BYTES * (n_signals + 1);
        let data_offset = declared_offset.max(0.0) as u64;
        if data_offset < shortest || data_offset > bytes.len() {
            let expected = format!("{shortest} or more for {n_signals} channels");
            let place = FilePlace::Byte(184);
            return Err(findings.refusal(place, "header size", declared_offset, expected));
        }
        let listed = bytes.read_range(BLOCK_BYTES, n_signals * BLOCK_BYTES)?;
        let signals = signals(&GdfFields(&listed), n_signals as usize, is_first, findings)?;
        let widths = signals
            .iter()
            .map(|signal| (signal.stored.samples_per_record * signal.stored.number.bytes()) as u64);
        let record_bytes: u64 = widths.sum();
        let mut header = Self {
            version,
            start: start(&fixed, is_first),
            identity: Identity {
                patient: fixed.text(8, if is_first { 80 } else { 66 }),
                recording: fixed.text(88, if is_first { 80 } else { 64 }),
            },
            data_offset,
            n_records: 0,
            record_s,
            record_bytes,
            signals,
        };
        header.n_records = header.count_records(&fixed, bytes.len(), findings)?;
        Ok(header)
    }

    /// As many data records as the header says and the file holds.
    fn count_records(
        &self,
        fixed: &GdfFields<'_>,
        file_bytes: u64,
        findings: &mut Findings,
    ) -> Result<u64, ReadError> {
        let place = FilePlace::Byte(236);
        if self.record_bytes == 0 {
            let expected = "at least one channel with samples";
            return Err(findings.refusal(place, "data record", "empty", expected));
        }
        let stored = (file_bytes - self.data_offset) / self.record_bytes;
        let declared = fixed.number(Number::Int64, 236);
        if declared < 0.0 || declared > stored as f64 {
            let assumed = format!("read {stored}");
            let expected = format!("at most {stored}, as many as the file holds");
            findings.breach(place, "number of data records", declared, expected, assumed)?;
            return Ok(stored);
        }
        Ok(declared as u64)
    }
}

/// Text of digits in the first layout, days since the year 0 in 2⁻³² in the second.
fn start(fixed: &GdfFields<'_>, is_first: bool) -> Option<StartTime> {
    if !is_first {
        const SECONDS_PER_DAY: f64 = 86_400.0;
        // Day 1 is the first of January of the year 0.
        const DAYS_TO_2000: f64 = 730_486.0;
        let days = fixed.number(Number::Uint64, 168) / 2f64.powi(32);
        let year_2000 = StartTime::new((2000, 1, 1), (0, 0, 0), 0)?;
        let seconds = (days - DAYS_TO_2000) * SECONDS_PER_DAY;
        // The fraction of a day holds some ten microseconds of noise.
        let seconds = (seconds * 1e4).round() / 1e4;
        return year_2000.plus_seconds(seconds).filter(|_| days > 1.0);
    }
    let text = fixed.text(168, 16);
    let part = |from: usize, to: usize| text.get(from..to)?.parse::<u16>().ok();
    let small = |from: usize| u8::try_from(part(from, from + 2)?).ok();
    let hundredths = part(14, 16).unwrap_or(0);
    let date = (part(0, 4)?, small(4)?, small(6)?);
    let time = (small(8)?, small(10)?, small(12)?);
    StartTime::new(date, time, u32::from(hundredths) * 10_000_000)
}

fn signals(
    fields: &GdfFields<'_>,
    n_signals: usize,
    is_first: bool,
    findings: &mut Findings,
) -> Result<Vec<GdfSignal>, ReadError> {
    // Each field of all channels, then the next field.
    let at = |before: usize, width: usize, signal: usize| before * n_signals + width * signal;
    let digital = match is_first {
        true => Number::Int64,
        false => Number::Float64,
    };
    let mut offset_in_record: u64 = 0;
    let mut signals = Vec::with_capacity(n_signals);
    for k in 0..n_signals {
        let name = fields.text(at(0, 16, k), 16);
        let unit = match is_first {
            true => Unit::parse(&fields.text(at(96, 8, k), 8)),
            false => coded_unit(fields.number(Number::Uint16, at(102, 2, k)) as u16),
        };
        let double = |before: usize| fields.number(Number::Float64, at(before, 8, k));
        let limit = |before: usize| fields.number(digital, at(before, 8, k));
        let mut scale = ((limit(120), limit(128)), (double(104), double(112)));
        let ((low, high), (bottom, top)) = scale;
        let is_scaled =
            [low, high, bottom, top].iter().all(|v| v.is_finite()) && low != high && bottom != top;
        let place = FilePlace::Byte(BLOCK_BYTES + at(104, 8, k) as u64);
        if !is_scaled {
            let found = format!("{bottom}, {top}, {low}, {high}");
            let expected = "four numbers, each range not empty";
            let assumed = format!("channel {} is not scaled", quoted(&name));
            findings.breach(
                place,
                "physical and digital range",
                found,
                expected,
                assumed,
            )?;
            scale = ((0.0, 1.0), (0.0, 1.0));
        }
        let samples_per_record = fields.number(Number::Uint32, at(216, 4, k)) as usize;
        let code = fields.number(Number::Uint32, at(220, 4, k)) as u32;
        let Some(number) = number_of(code) else {
            let place = FilePlace::Byte(BLOCK_BYTES + at(220, 4, k) as u64);
            let expected = "a type of whole or floating numbers up to 64 bits";
            return Err(findings.refusal(place, "number type", code, expected));
        };
        let (digital, physical) = scale;
        let prefilter = match is_first {
            true => fields.text(at(136, 80, k), 80),
            false => {
                let edge_hz = |before: usize| fields.number(Number::Float32, at(before, 4, k));
                filter_text(edge_hz(208), edge_hz(204), edge_hz(212))
            }
        };
        signals.push(GdfSignal {
            name,
            unit,
            sensor: Sensor {
                transducer: fields.text(at(16, 80, k), 80),
                prefilter,
            },
            stored: StoredSignal {
                offset_in_record,
                samples_per_record,
                number,
                digital,
                physical,
            },
        });
        offset_in_record += samples_per_record as u64 * number.bytes() as u64;
    }
    Ok(signals)
}

/// Filters as EDF writes them; what is unknown or off is not a positive number.
fn filter_text(high_pass_hz: f64, low_pass_hz: f64, notch_hz: f64) -> String {
    let edges = [("HP", high_pass_hz), ("LP", low_pass_hz), ("N", notch_hz)];
    let known = edges.iter().filter(|(_, hz)| hz.is_finite() && *hz > 0.0);
    let texts: Vec<String> = known.map(|(name, hz)| format!("{name}:{hz}Hz")).collect();
    texts.join(" ")
}

fn number_of(code: u32) -> Option<Number> {
    Some(match code {
        1 => Number::Int8,
        2 => Number::Uint8,
        3 => Number::Int16,
        4 => Number::Uint16,
        5 => Number::Int32,
        6 => Number::Uint32,
        7 => Number::Int64,
        8 => Number::Uint64,
        16 => Number::Float32,
        17 => Number::Float64,
        279 => Number::Int24,
        535 => Number::Uint24,
        _ => return None,
    })
}

/// Units of ISO 11073-10101: the lower five bits are the prefix.
fn coded_unit(code: u16) -> Unit {
    let prefix = match code & 31 {
        0 => "",
        3 => "k",
        4 => "M",
        18 => "m",
        19 => "µ",
        20 => "n",
        21 => "p",
        _ => "?",
    };
    let base = match code & !31 {
        0 => return Unit::none(),
        512 => return Unit::parse("1"),
        544 => "%",
        3872 => "mmHg",
        4160 => "A",
        4256 => "V",
        4288 => "Ω",
        6048 => "°C",
        _ => return Unit::parse(&format!("unit {code}")),
    };
    Unit::parse(&format!("{prefix}{base}"))
}

/// The events behind the data records.
fn events(
    bytes: &ByteSource,
    header: &GdfHeader,
    fastest_hz: f64,
    names: &[String],
    findings: &mut Findings,
) -> Result<Vec<Annotation>, ReadError> {
    const TABLE_BYTES: u64 = 8;
    let at = header.data_offset + header.n_records * header.record_bytes;
    if at + TABLE_BYTES > bytes.len() {
        return Ok(Vec::new());
    }
    let table = bytes.read_range(at, TABLE_BYTES)?;
    let table = GdfFields(&table);
    let (declared, rate_hz) = match header.version < SECOND_TABLE {
        true => (
            table.number(Number::Uint32, 4),
            table.number(Number::Uint24, 1),
        ),
        false => (
            table.number(Number::Uint24, 1),
            table.number(Number::Float32, 4),
        ),
    };
    let is_long = match table.0[0] {
        1 => false,
        3 => true,
        _ => return Ok(Vec::new()),
    };
    let rate_hz = if rate_hz > 0.0 { rate_hz } else { fastest_hz };
    let event_bytes = if is_long { 12 } else { 6 };
    let stored = (bytes.len() - at - TABLE_BYTES) / event_bytes;
    if declared > stored as f64 {
        let expected = format!("{stored}, as many as the file holds");
        let assumed = "the table is cut short and left out";
        findings.breach(
            FilePlace::Byte(at),
            "number of events",
            declared,
            expected,
            assumed,
        )?;
        return Ok(Vec::new());
    }
    let n = declared as usize;
    let listed = bytes.read_range(at + TABLE_BYTES, n as u64 * event_bytes)?;
    let listed = GdfFields(&listed);
    let event = |k: usize| {
        // Positions count from 1; then types, channels, durations, each of all events.
        let position = (listed.number(Number::Uint32, 4 * k) - 1.0).max(0.0);
        let code = listed.number(Number::Uint16, 4 * n + 2 * k) as u16;
        let (channel, length) = match is_long {
            true => (
                listed.number(Number::Uint16, 6 * n + 2 * k) as usize,
                listed.number(Number::Uint32, 8 * n + 4 * k),
            ),
            false => (0, 0.0),
        };
        // One sample is the way to write a moment.
        let duration_s = (length > 1.0).then_some(length / rate_hz);
        let channel = channel.checked_sub(1).and_then(|k| names.get(k));
        Annotation {
            channels: Vec::from_iter(channel.cloned()),
            ..Annotation::new(position / rate_hz, duration_s, code.to_string())
        }
    };
    let mut annotations: Vec<Annotation> = (0..n).map(event).collect();
    annotations.retain(|event| event.onset_s.is_finite());
    annotations.sort_by(|a, b| a.onset_s.total_cmp(&b.onset_s));
    Ok(annotations)
}
