//! The ASCII header of EDF and BDF files, read with doubt.

use super::super::text::{decode_field, quoted};
use super::super::{ByteSource, FilePlace, Findings, Identity, ReadError, Sensor, StartTime, Unit};

/// Bytes of the fixed part, and of the part of each signal.
const BLOCK_BYTES: u64 = 256;

/// Widths of the fields of a signal, in the order of the header.
const SIGNAL_WIDTHS: [u64; 10] = [16, 80, 8, 8, 8, 8, 8, 80, 8, 32];

/// Whether data records follow each other without a break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Continuity {
    /// Plain EDF or BDF: no annotations, no onsets.
    Plain,
    /// EDF+C, BDF+C.
    Continuous,
    /// EDF+D, BDF+D.
    Discontinuous,
}

/// What the header says, after doubtful fields were settled.
#[derive(Debug)]
pub(super) struct EdfHeader {
    pub(super) is_bdf: bool,
    pub(super) continuity: Continuity,
    pub(super) data_offset: u64,
    pub(super) n_records: u64,
    pub(super) record_duration_s: f64,
    pub(super) signals: Vec<EdfSignal>,
    pub(super) identity: Identity,
    start: Option<StartTime>,
}

/// What the header says of one signal.
#[derive(Debug)]
pub(super) struct EdfSignal {
    pub(super) label: String,
    pub(super) unit: String,
    pub(super) sensor: Sensor,
    pub(super) physical: (f64, f64),
    pub(super) digital: (f64, f64),
    pub(super) samples_per_record: u64,
    /// Bytes from the start of a data record to the first sample of this signal.
    pub(super) offset_in_record: u64,
    pub(super) is_annotations: bool,
}

impl EdfHeader {
    pub(super) fn read(bytes: &ByteSource, findings: &mut Findings) -> Result<Self, ReadError> {
        if bytes.len() < BLOCK_BYTES {
            return Err(findings.refusal(
                FilePlace::File,
                "file length",
                format!("{} bytes", bytes.len()),
                "at least 256 bytes of EDF header",
            ));
        }
        let fixed = Fields {
            base: 0,
            bytes: bytes.read_range(0, BLOCK_BYTES)?,
        };
        let is_bdf = read_version(&fixed, findings)?;
        let n_signals = read_n_signals(&fixed, bytes.len(), findings)?;
        let continuity = read_continuity(&fixed);
        let start = read_start(&fixed, findings)?;
        let record_duration_s = read_record_duration(&fixed, findings)?;

        let signal_fields = Fields {
            base: BLOCK_BYTES,
            bytes: bytes.read_range(BLOCK_BYTES, n_signals * BLOCK_BYTES)?,
        };
        let mut header = Self {
            is_bdf,
            continuity,
            data_offset: BLOCK_BYTES * (n_signals + 1),
            n_records: 0,
            record_duration_s,
            signals: read_signals(&signal_fields, n_signals, is_bdf, findings)?,
            identity: Identity {
                patient: fixed.text(8, 80),
                recording: fixed.text(88, 80),
            },
            start,
        };
        header.settle_layout(&fixed, bytes.len(), findings)?;
        Ok(header)
    }

    /// Bytes of one stored sample.
    pub(super) fn sample_bytes(&self) -> u64 {
        if self.is_bdf { 3 } else { 2 }
    }

    /// Bytes of a data record.
    pub(super) fn record_bytes(&self) -> u64 {
        self.signals.last().map_or(0, |last| {
            last.offset_in_record + last.samples_per_record * self.sample_bytes()
        })
    }

    /// Signals that are channels, with their position in the header.
    pub(super) fn data_signals(&self) -> impl Iterator<Item = (usize, &EdfSignal)> {
        let all = self.signals.iter().enumerate();
        all.filter(|(_, signal)| !signal.is_annotations)
    }

    pub(super) fn rate_hz(&self, signal: &EdfSignal) -> Option<f64> {
        let rate_hz = signal.samples_per_record as f64 / self.record_duration_s;
        (rate_hz.is_finite() && rate_hz > 0.0).then_some(rate_hz)
    }

    pub(super) fn n_samples(&self, signal: &EdfSignal) -> usize {
        let n_samples = signal.samples_per_record.saturating_mul(self.n_records);
        usize::try_from(n_samples).unwrap_or(usize::MAX)
    }

    /// Where the label of a signal stands.
    pub(super) fn label_offset(&self, signal: usize) -> u64 {
        BLOCK_BYTES + signal as u64 * SIGNAL_WIDTHS[0]
    }

    /// The start of the first data record, whose onset may hold parts of a second.
    pub(super) fn start_after(&self, onset_s: f64) -> Option<StartTime> {
        self.start?.plus_seconds(onset_s)
    }

    /// A file sent as text: each byte above 127 became the three bytes EF BF BD.
    pub(super) fn check_damage(
        &self,
        bytes: &ByteSource,
        findings: &mut Findings,
    ) -> Result<(), ReadError> {
        const SAMPLE_BYTES: u64 = 1 << 16;
        let len = SAMPLE_BYTES.min(bytes.len() - self.data_offset.min(bytes.len()));
        let start = bytes.read_range(self.data_offset.min(bytes.len()), len)?;
        let marks = start.windows(3).filter(|w| *w == b"\xef\xbf\xbd").count();
        // In undamaged samples the mark is as rare as any three bytes.
        if marks * 3 * 20 <= start.len() || marks < 20 {
            return Ok(());
        }
        findings.breach(
            FilePlace::Byte(self.data_offset),
            "data records",
            format!("{marks} times EF BF BD in the first {len} bytes"),
            "binary samples",
            "the file was transferred as text, its samples are lost; transfer it again in binary mode",
        )
    }

    /// Where the data records start and how many there are, from header and file length.
    fn settle_layout(
        &mut self,
        fixed: &Fields,
        file_bytes: u64,
        findings: &mut Findings,
    ) -> Result<(), ReadError> {
        let record_bytes = self.record_bytes();
        if record_bytes == 0 {
            return Err(findings.refusal(
                FilePlace::Byte(BLOCK_BYTES),
                "samples per data record",
                "0 in every signal",
                "at least one signal with samples",
            ));
        }
        let declared_records = fixed.integer(236, 8).filter(|&n| n >= 0);
        self.settle_data_offset(fixed, file_bytes, declared_records, findings)?;

        let data_bytes = file_bytes - self.data_offset;
        let whole_records = data_bytes / record_bytes;
        let surplus = data_bytes % record_bytes;
        let place = FilePlace::Byte(236);
        let found = quoted(&fixed.text(236, 8));
        self.n_records = match declared_records {
            None => {
                findings.breach(
                    place,
                    "number of data records",
                    found,
                    "a count",
                    format!("took the {whole_records} that the file holds"),
                )?;
                whole_records
            }
            Some(declared) if declared as u64 > whole_records => {
                findings.breach(
                    place,
                    "number of data records",
                    found,
                    format!("{whole_records}, as many as the file holds"),
                    format!("the file is cut short; read {whole_records}"),
                )?;
                whole_records
            }
            Some(declared) if (declared as u64) < whole_records || surplus > 0 => {
                findings.breach(
                    place,
                    "number of data records",
                    found,
                    format!(
                        "{}, as many as the file holds",
                        data_bytes as f64 / record_bytes as f64
                    ),
                    format!("read {declared}, the bytes after them are ignored"),
                )?;
                declared as u64
            }
            Some(declared) => declared as u64,
        };
        Ok(())
    }

    /// The declared header size counts only if the data fit behind it and not behind the computed one.
    fn settle_data_offset(
        &mut self,
        fixed: &Fields,
        file_bytes: u64,
        declared_records: Option<i64>,
        findings: &mut Findings,
    ) -> Result<(), ReadError> {
        let computed = self.data_offset;
        let declared = fixed.integer(184, 8).and_then(|n| u64::try_from(n).ok());
        if declared == Some(computed) {
            return Ok(());
        }
        let fits = |offset: u64| {
            let data_bytes = declared_records
                .and_then(|n| (n as u64).checked_mul(self.record_bytes()))
                .and_then(|data| data.checked_add(offset));
            data_bytes == Some(file_bytes)
        };
        let believed =
            declared.filter(|&offset| offset > computed && fits(offset) && !fits(computed));
        let assumed = believed.unwrap_or(computed);
        findings.breach(
            FilePlace::Byte(184),
            "header size",
            quoted(&fixed.text(184, 8)),
            format!("{computed} for {} signals", self.signals.len()),
            format!("read the data from byte {assumed}"),
        )?;
        self.data_offset = assumed;
        Ok(())
    }
}

/// A stretch of fixed-width ASCII fields, and where in the file it starts.
struct Fields {
    base: u64,
    bytes: Vec<u8>,
}

impl Fields {
    fn raw(&self, at: u64, width: u64) -> &[u8] {
        let start = at.saturating_sub(self.base) as usize;
        self.bytes.get(start..start + width as usize).unwrap_or(&[])
    }

    fn text(&self, at: u64, width: u64) -> String {
        decode_field(self.raw(at, width))
    }

    fn integer(&self, at: u64, width: u64) -> Option<i64> {
        let value = parse_number(&self.text(at, width))?;
        (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64)
    }

    /// Text that should be ASCII.
    fn checked_text(
        &self,
        at: u64,
        width: u64,
        field: &str,
        findings: &mut Findings,
    ) -> Result<String, ReadError> {
        let raw = self.raw(at, width);
        let text = decode_field(raw);
        if raw
            .iter()
            .any(|&byte| byte > 126 || (byte < 32 && byte != 0))
        {
            findings.breach(
                FilePlace::Byte(at),
                field,
                quoted(&text),
                "printable ASCII",
                "read as UTF-8 or Latin-1",
            )?;
        }
        Ok(text)
    }
}

/// A number as headers write it; a decimal comma is understood.
fn parse_number(text: &str) -> Option<f64> {
    let value: f64 = match text.parse() {
        Ok(value) => value,
        Err(_) => text.replace(',', ".").parse().ok()?,
    };
    value.is_finite().then_some(value)
}

/// `true` for BDF.
fn read_version(fixed: &Fields, findings: &mut Findings) -> Result<bool, ReadError> {
    match fixed.raw(0, 8) {
        b"0       " => Ok(false),
        b"\xffBIOSEMI" => Ok(true),
        other => {
            let found = format!("\"{}\"", other.escape_ascii());
            let expected = "\"0\" (EDF) or \"\\xffBIOSEMI\" (BDF)";
            if fixed.text(0, 8) != "0" {
                return Err(findings.refusal(FilePlace::Byte(0), "version", found, expected));
            }
            findings.breach(
                FilePlace::Byte(0),
                "version",
                found,
                expected,
                "read as EDF",
            )?;
            Ok(false)
        }
    }
}

fn read_n_signals(
    fixed: &Fields,
    file_bytes: u64,
    findings: &mut Findings,
) -> Result<u64, ReadError> {
    let place = FilePlace::Byte(252);
    // The field has four digits; "9e9" has no more characters.
    let most = (file_bytes / BLOCK_BYTES - 1).min(9999);
    let found = quoted(&fixed.text(252, 4));
    let expected = format!("1 to {most}, as many as the file has room for");
    let inside = |n: &i64| *n >= 1 && (*n as u64) <= most;
    if let Some(n_signals) = fixed.integer(252, 4).filter(inside) {
        return Ok(n_signals as u64);
    }
    let from_size = fixed
        .integer(184, 8)
        .filter(|size| fixed.integer(252, 4).is_none() && size % BLOCK_BYTES as i64 == 0)
        .map(|size| size / BLOCK_BYTES as i64 - 1)
        .filter(inside);
    let Some(n_signals) = from_size else {
        return Err(findings.refusal(place, "number of signals", found, expected));
    };
    let assumed = format!("took {n_signals} from the header size");
    findings.breach(place, "number of signals", found, expected, assumed)?;
    Ok(n_signals as u64)
}

fn read_continuity(fixed: &Fields) -> Continuity {
    let reserved = fixed.text(192, 44).to_uppercase();
    let plus = reserved
        .strip_prefix("EDF+")
        .or_else(|| reserved.strip_prefix("BDF+"));
    match plus {
        Some(rest) if rest.starts_with('D') => Continuity::Discontinuous,
        Some(_) => Continuity::Continuous,
        None => Continuity::Plain,
    }
}

fn read_record_duration(fixed: &Fields, findings: &mut Findings) -> Result<f64, ReadError> {
    let text = fixed.text(244, 8);
    match parse_number(&text) {
        Some(duration_s) if duration_s >= 0.0 => Ok(duration_s),
        _ => {
            findings.breach(
                FilePlace::Byte(244),
                "duration of a data record",
                quoted(&text),
                "seconds, 0 or more",
                "rates are unknown",
            )?;
            Ok(0.0)
        }
    }
}

/// Two digits of a date or time, whatever separates them.
fn two_digits(text: &str) -> Option<[u8; 3]> {
    let mut parts = text.split(|c: char| !c.is_ascii_digit());
    let mut next = || parts.next()?.parse().ok();
    Some([next()?, next()?, next()?])
}

fn read_start(fixed: &Fields, findings: &mut Findings) -> Result<Option<StartTime>, ReadError> {
    let date = fixed.text(168, 8);
    let time = fixed.text(176, 8);
    let long_date = long_date(&fixed.text(88, 80));
    let clock = two_digits(&time).map(|[h, m, s]| (h, m, s));
    let day = two_digits(&date).map(|[d, m, y]| {
        // 1985 is the year from which the standard counts two digits.
        let century = if y >= 85 { 1900 } else { 2000 };
        (century + u16::from(y), m, d)
    });
    // Only the long date of EDF+ knows years beyond 2084.
    let start = long_date
        .or(day)
        .zip(clock)
        .and_then(|(day, clock)| StartTime::new(day, clock, 0));
    let as_specified = |text: &str| {
        text.len() == 8
            && text.bytes().enumerate().all(|(i, b)| match i {
                2 | 5 => b == b'.',
                _ => b.is_ascii_digit(),
            })
    };
    if start.is_none() || !as_specified(&date) || !as_specified(&time) {
        let assumed = match start {
            Some(start) => format!("read as {start}"),
            None => "the start is unknown".to_owned(),
        };
        findings.breach(
            FilePlace::Byte(168),
            "start date and time",
            quoted(&format!("{date} {time}")),
            "dd.mm.yy hh.mm.ss",
            assumed,
        )?;
    }
    Ok(start)
}

/// The date in `Startdate 02-MAR-2002 …` of EDF+.
fn long_date(recording: &str) -> Option<(u16, u8, u8)> {
    const MONTHS: [&str; 12] = [
        "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
    ];
    let mut words = recording.split_ascii_whitespace();
    if !words.next()?.eq_ignore_ascii_case("Startdate") {
        return None;
    }
    let mut parts = words.next()?.split('-');
    let day = parts.next()?.parse().ok()?;
    let name = parts.next()?.to_uppercase();
    let month = MONTHS.iter().position(|month| *month == name)? as u8 + 1;
    let year = parts.next()?.parse().ok()?;
    StartTime::new((year, month, day), (0, 0, 0), 0).map(|_| (year, month, day))
}

fn read_signals(
    fields: &Fields,
    n_signals: u64,
    is_bdf: bool,
    findings: &mut Findings,
) -> Result<Vec<EdfSignal>, ReadError> {
    let mut signals = Vec::with_capacity(n_signals as usize);
    let sample_bytes = if is_bdf { 3 } else { 2 };
    let mut offset_in_record: u64 = 0;
    for signal in 0..n_signals {
        let at = |field: usize| {
            let before: u64 = SIGNAL_WIDTHS[..field].iter().sum();
            BLOCK_BYTES + n_signals * before + signal * SIGNAL_WIDTHS[field]
        };
        let label = fields.checked_text(at(0), 16, "label", findings)?;
        let is_annotations = label == "EDF Annotations" || label == "BDF Annotations";
        let samples_per_record = read_samples_per_record(fields, at(8), &label, findings)?;
        let (digital, physical) = if is_annotations {
            ((0.0, 1.0), (0.0, 1.0))
        } else {
            read_scale(fields, [at(3), at(4), at(5), at(6)], &label, findings)?
        };
        let unit = decode_field(fields.raw(at(2), 8));
        note_range(&unit, physical, &label, at(3), findings);
        signals.push(EdfSignal {
            sensor: Sensor {
                transducer: fields.text(at(1), 80),
                prefilter: fields.text(at(7), 80),
            },
            unit,
            label,
            physical,
            digital,
            samples_per_record,
            offset_in_record,
            is_annotations,
        });
        offset_in_record += samples_per_record * sample_bytes;
    }
    Ok(signals)
}

fn read_samples_per_record(
    fields: &Fields,
    at: u64,
    label: &str,
    findings: &mut Findings,
) -> Result<u64, ReadError> {
    // Eight digits at most, so that no sum over signals overflows ("9e14" is eight characters too).
    match fields.integer(at, 8) {
        Some(n) if (1..=99_999_999).contains(&n) => Ok(n as u64),
        Some(0) => {
            let assumed = format!("channel {} is empty", quoted(label));
            findings.breach(
                FilePlace::Byte(at),
                "samples per data record",
                0,
                "at least 1",
                assumed,
            )?;
            Ok(0)
        }
        _ => Err(findings.refusal(
            FilePlace::Byte(at),
            "samples per data record",
            quoted(&fields.text(at, 8)),
            "1 to 99999999",
        )),
    }
}

/// A range of values: of the stored numbers, then of what they stand for.
type EdfScale = ((f64, f64), (f64, f64));

/// Says that a physical range cannot be true: no amplifier measures a thousand volts, and no signal has 10¹² of anything.
fn note_range(unit: &str, physical: (f64, f64), label: &str, at: u64, findings: &mut Findings) {
    const MOST_VOLTS: f64 = 1000.0;
    const MOST: f64 = 1e12;
    let largest = physical.0.abs().max(physical.1.abs());
    let volts = Unit::parse(unit).volts().map(|volts| volts * largest);
    if largest > MOST || volts.is_some_and(|volts| volts > MOST_VOLTS) {
        let (from, to) = physical;
        let (label, unit) = (quoted(label), quoted(unit));
        let text = format!(
            "physical range of channel {label} is {from} to {to} {unit}, which is impossible; the values are as the header says, but range or unit in it must be wrong"
        );
        findings.note(FilePlace::Byte(at), text);
    }
}

/// Digital and physical range; where they make no sense, the stored numbers are the values.
fn read_scale(
    fields: &Fields,
    at: [u64; 4],
    label: &str,
    findings: &mut Findings,
) -> Result<EdfScale, ReadError> {
    let numbers = at.map(|at| parse_number(&fields.text(at, 8)));
    if let [
        Some(physical_min),
        Some(physical_max),
        Some(digital_min),
        Some(digital_max),
    ] = numbers
        && physical_min != physical_max
        && digital_min != digital_max
    {
        return Ok(((digital_min, digital_max), (physical_min, physical_max)));
    }
    let found = at.map(|at| fields.text(at, 8)).join(", ");
    findings.breach(
        FilePlace::Byte(at[0]),
        "physical and digital range",
        quoted(&found),
        "four numbers, each range not empty",
        format!("channel {} is not scaled", quoted(label)),
    )?;
    Ok(((0.0, 1.0), (0.0, 1.0)))
}
