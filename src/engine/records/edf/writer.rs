//! Writes a record as EDF+ or BDF+, with its annotations and its gaps.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use super::super::{
    Annotation, Format, Kind, MemorySamples, Quantisation, Record, Segment, Source, StartTime,
};
use super::annotations::CHANNEL_MARK;

/// Bytes of a stored sample: EDF or BDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleWidth {
    /// Two bytes: EDF.
    Edf,
    /// Three bytes: BDF.
    Bdf,
}

impl SampleWidth {
    fn digital_limits(self) -> (i32, i32) {
        match self {
            Self::Edf => (-32_768, 32_767),
            Self::Bdf => (-8_388_608, 8_388_607),
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Edf => 2,
            Self::Bdf => 3,
        }
    }
}

/// Writes `record` to a file; see [`write()`].
pub fn write_file(record: &Record, width: SampleWidth, path: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    write(record, width, &mut out)?;
    out.flush()
}

/// Writes `record` as EDF+ or BDF+: continuous without gaps, discontinuous with gaps.
///
/// A channel read from EDF or BDF keeps its scale, so that nothing is lost;
/// another is spread over the whole range of stored numbers. Letters outside
/// ASCII become `?` in names and units (`µV` becomes `uV`). Patient, recording, transducers and filters are kept. Refuses what the
/// format cannot hold: channels of different duration or without rate, NaN.
pub fn write(record: &Record, width: SampleWidth, out: &mut dyn Write) -> io::Result<()> {
    let layout = DataRecordLayout::new(record)?;
    let scales: Vec<Quantisation> = (0..record.channels.len())
        .map(|channel| scale_of(record, channel, width))
        .collect::<io::Result<_>>()?;
    let lists = annotation_lists(record, &layout)?;
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let annotation_samples = longest.div_ceil(width.bytes()).max(8);

    write_header(record, width, &layout, &scales, annotation_samples, out)?;
    for (number, mut list) in lists.into_iter().enumerate() {
        for (channel, scale) in scales.iter().enumerate() {
            let n = layout.samples_per_record[channel];
            let values = record
                .read(channel, number * n..(number + 1) * n)
                .map_err(io::Error::other)?;
            write_samples(&values, scale, width, out)?;
        }
        list.resize(annotation_samples * width.bytes(), 0);
        out.write_all(&list)?;
    }
    Ok(())
}

/// Bytes of a data record that the standard asks not to exceed.
const MAX_RECORD_BYTES: usize = 61_440;

/// Writes annotations without a signal as EDF+, as hypnograms are exchanged; times count from `start`.
pub fn write_annotations(
    annotations: &[Annotation],
    start: Option<StartTime>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let first_s = start.map_or(0.0, |start| f64::from(start.nanosecond) * 1e-9);
    let onset = format!("{}\x14\x14\0", signed_seconds(first_s)).into_bytes();
    let mut records = vec![onset.clone()];
    for list in annotations.iter().map(|each| list_of(each, first_s)) {
        match records.last_mut() {
            Some(last) if last.len() + list.len() <= MAX_RECORD_BYTES => last.extend(list),
            _ => records.push([onset.clone(), list].concat()),
        }
    }
    let longest = records.iter().map(Vec::len).max().unwrap_or(0);
    let annotation_samples = longest.div_ceil(SampleWidth::Edf.bytes()).max(8);
    let layout = DataRecordLayout {
        duration_text: "0".to_owned(),
        samples_per_record: Vec::new(),
        onsets_s: vec![0.0; records.len()],
    };
    let source = Source::new(Path::new(""), 0);
    let samples = Arc::new(MemorySamples::default());
    let mut nothing = Record::new(
        Format::EdfPlusC,
        Kind::Recording,
        source,
        Vec::new(),
        samples,
    );
    nothing.start = start;
    write_header(
        &nothing,
        SampleWidth::Edf,
        &layout,
        &[],
        annotation_samples,
        out,
    )?;
    for mut list in records {
        list.resize(annotation_samples * SampleWidth::Edf.bytes(), 0);
        out.write_all(&list)?;
    }
    Ok(())
}

fn refuse(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

/// How the samples are cut into data records of equal duration.
struct DataRecordLayout {
    duration_text: String,
    samples_per_record: Vec<usize>,
    onsets_s: Vec<f64>,
}

impl DataRecordLayout {
    fn new(record: &Record) -> io::Result<Self> {
        let first = record.channels.first();
        let rate_hz = first
            .and_then(|channel| channel.rate_hz)
            .ok_or_else(|| refuse("EDF needs a first channel with a rate".to_owned()))?;
        let segments: Vec<Vec<Segment>> = (0..record.channels.len())
            .map(|channel| record.segments(channel))
            .collect();
        let per_record = samples_per_record(record, &segments, rate_hz)?;
        let samples = per_record[0];
        let onsets_s = segments[0]
            .iter()
            .flat_map(|segment| {
                let n_records = segment.n_samples / samples;
                (0..n_records).map(move |k| segment.onset_s + (k * samples) as f64 / rate_hz)
            })
            .collect();
        Ok(Self {
            duration_text: number_field(samples as f64 / rate_hz)?,
            samples_per_record: per_record,
            onsets_s,
        })
    }
}

/// Samples of each channel in a data record of about a second that divides every segment.
fn samples_per_record(
    record: &Record,
    segments: &[Vec<Segment>],
    rate_hz: f64,
) -> io::Result<Vec<usize>> {
    let stretches = segments.first().map_or(&[][..], Vec::as_slice);
    let common = stretches.iter().fold(0, |g, s| gcd(g, s.n_samples));
    let mut candidates: Vec<usize> = (1..)
        .take_while(|k| k * k <= common)
        .filter(|k| common % k == 0)
        .flat_map(|k| [k, common / k])
        .collect();
    let distance = |&k: &usize| (k as f64 / rate_hz).ln().abs();
    candidates.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    candidates
        .into_iter()
        .find_map(|samples| fitting(record, segments, samples as f64 / rate_hz))
        .ok_or_else(|| refuse("no duration of data records fits all channels and gaps".to_owned()))
}

/// The samples of each channel in `duration_s`, if they are whole and fill every segment.
fn fitting(record: &Record, segments: &[Vec<Segment>], duration_s: f64) -> Option<Vec<usize>> {
    let written_s: f64 = number_field(duration_s).ok()?.parse().ok()?;
    // The written duration must give back every rate.
    if (written_s / duration_s - 1.0).abs() > 1e-12 {
        return None;
    }
    let n_records = |segments: &[Segment], samples: usize| -> Option<Vec<usize>> {
        let whole = |s: &Segment| {
            s.n_samples
                .is_multiple_of(samples)
                .then_some(s.n_samples / samples)
        };
        segments.iter().map(whole).collect()
    };
    let mut counts = None;
    let mut per_record = Vec::new();
    for (channel, segments) in record.channels.iter().zip(segments) {
        let exact = channel.rate_hz? * duration_s;
        let samples = exact.round();
        if samples < 1.0 || (exact - samples).abs() > 1e-6 {
            return None;
        }
        let own = n_records(segments, samples as usize)?;
        if *counts.get_or_insert_with(|| own.clone()) != own {
            return None;
        }
        per_record.push(samples as usize);
    }
    Some(per_record)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The channel's own scale if its numbers fit the width, or one that covers its values.
fn scale_of(record: &Record, channel: usize, width: SampleWidth) -> io::Result<Quantisation> {
    let (low, high) = width.digital_limits();
    if let Some(own) = record.quantisation(channel)
        && own.digital_min.min(own.digital_max) >= low
        && own.digital_min.max(own.digital_max) <= high
        && number_field(own.physical_min).is_ok_and(|text| text.parse() == Ok(own.physical_min))
        && number_field(own.physical_max).is_ok_and(|text| text.parse() == Ok(own.physical_max))
    {
        return Ok(own);
    }
    let values = record.read_channel(channel).map_err(io::Error::other)?;
    let mut largest: f64 = 0.0;
    for value in values {
        if !value.is_finite() {
            let name = &record.channels[channel].name;
            return Err(refuse(format!(
                "channel {name:?} holds {value}, which EDF cannot store"
            )));
        }
        largest = largest.max(value.abs());
    }
    Ok(covering(largest, width))
}

/// A scale that covers values up to `largest`, with 0 in the middle.
pub fn covering(largest: f64, width: SampleWidth) -> Quantisation {
    let (low, high) = width.digital_limits();
    let bound = round_up(largest);
    Quantisation {
        digital_min: low + 1,
        digital_max: high,
        physical_min: -bound,
        physical_max: bound,
    }
}

/// The next number of four digits, so that it fits its field with a sign; 1 for nothing but zeros.
fn round_up(largest: f64) -> f64 {
    if largest == 0.0 {
        return 1.0;
    }
    let exponent = largest.log10().floor() as i32 - 3;
    let step = 10f64.powi(exponent);
    let digits = (largest / step).ceil() as i64;
    // Through text, so that the number is the one that will be read.
    format!("{digits}e{exponent}").parse().unwrap_or(largest)
}

/// A number in eight characters.
fn number_field(value: f64) -> io::Result<String> {
    let plain = format!("{value}");
    if plain.len() <= 8 {
        return Ok(plain);
    }
    let fits = (0..=7)
        .rev()
        .flat_map(|decimals| {
            [
                format!("{value:.decimals$}"),
                format!("{value:.decimals$e}"),
            ]
        })
        .filter(|text| text.len() <= 8);
    let closest = |text: &String| {
        let written = text.parse::<f64>();
        written.map_or(f64::INFINITY, |written| (written - value).abs())
    };
    fits.min_by(|a, b| closest(a).total_cmp(&closest(b)))
        .ok_or_else(|| refuse(format!("{value} does not fit into eight characters")))
}

/// The annotation bytes of each data record: its onset, then what was noted in it.
fn annotation_lists(record: &Record, layout: &DataRecordLayout) -> io::Result<Vec<Vec<u8>>> {
    let first_s = record
        .start
        .map_or(0.0, |start| f64::from(start.nanosecond) * 1e-9);
    let mut lists: Vec<Vec<u8>> = layout
        .onsets_s
        .iter()
        .map(|onset_s| format!("{}\x14\x14\0", signed_seconds(first_s + onset_s)).into_bytes())
        .collect();
    if lists.is_empty() {
        return Err(refuse("EDF needs at least one sample".to_owned()));
    }
    for annotation in &record.annotations {
        let after = layout
            .onsets_s
            .partition_point(|&onset_s| onset_s <= annotation.onset_s);
        lists[after.saturating_sub(1)].extend(list_of(annotation, first_s));
    }
    Ok(lists)
}

fn list_of(annotation: &Annotation, first_s: f64) -> Vec<u8> {
    let mut times = signed_seconds(first_s + annotation.onset_s);
    if let Some(duration_s) = annotation.duration_s {
        times += &format!("\x15{}", trimmed_decimals(duration_s));
    }
    // The three bytes that shape a list cannot be part of a text.
    let plain = |text: &str| text.replace(['\0', '\x14', '\x15'], " ");
    let text = plain(&annotation.text);
    if annotation.channels.is_empty() {
        return format!("{times}\x14{text}\x14\0").into_bytes();
    }
    let about = annotation.channels.iter().map(|channel| {
        let channel = plain(channel);
        format!("{times}\x14{text}{CHANNEL_MARK}{channel}\x14\0")
    });
    about.collect::<String>().into_bytes()
}

fn signed_seconds(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "" } else { "+" };
    format!("{sign}{}", trimmed_decimals(seconds))
}

/// Decimal notation to the nanosecond.
fn trimmed_decimals(seconds: f64) -> String {
    let text = format!("{seconds:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn write_header(
    record: &Record,
    width: SampleWidth,
    layout: &DataRecordLayout,
    scales: &[Quantisation],
    annotation_samples: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let n_signals = scales.len() + 1;
    let (family, version): (&str, &[u8]) = match width {
        SampleWidth::Edf => ("EDF", b"0       "),
        SampleWidth::Bdf => ("BDF", b"\xffBIOSEMI"),
    };
    let continuity = if record.gaps.is_empty() { "C" } else { "D" };
    let (date, time, long_date) = start_fields(record.start);
    out.write_all(version)?;
    let fixed: [(&str, usize); 9] = [
        (&patient_field(&record.identity.patient), 80),
        (&recording_field(&record.identity.recording, &long_date), 80),
        (&date, 8),
        (&time, 8),
        (&(256 * (n_signals + 1)).to_string(), 8),
        (&format!("{family}+{continuity}"), 44),
        (&layout.onsets_s.len().to_string(), 8),
        (&layout.duration_text, 8),
        (&n_signals.to_string(), 4),
    ];
    for (text, field_width) in fixed {
        write_field(text, field_width, out)?;
    }

    let (low, high) = width.digital_limits();
    let units: Vec<String> = record
        .channels
        .iter()
        .map(|c| ascii(&c.unit.symbol))
        .collect();
    let mut columns: [Vec<String>; 7] = Default::default();
    for (channel, scale) in record.channels.iter().zip(scales) {
        columns[0].push(ascii(&channel.name));
        columns[1].push(number_field(scale.physical_min)?);
        columns[2].push(number_field(scale.physical_max)?);
        columns[3].push(scale.digital_min.to_string());
        columns[4].push(scale.digital_max.to_string());
    }
    columns[5] = units;
    columns[6] = layout
        .samples_per_record
        .iter()
        .map(usize::to_string)
        .collect();
    let annotations = [
        format!("{family} Annotations"),
        "-1".to_owned(),
        "1".to_owned(),
        low.to_string(),
        high.to_string(),
        String::new(),
        annotation_samples.to_string(),
    ];
    for (column, last) in columns.iter_mut().zip(annotations) {
        column.push(last);
    }
    // The signal of annotations has neither.
    let sensors = record.channels.iter().map(|channel| &channel.sensor);
    let last = || std::iter::once(String::new());
    let transducers = sensors.clone().map(|sensor| ascii(&sensor.transducer));
    let transducers: Vec<String> = transducers.chain(last()).collect();
    let prefilters = sensors.map(|sensor| ascii(&sensor.prefilter));
    let prefilters: Vec<String> = prefilters.chain(last()).collect();
    let blank = vec![String::new(); n_signals];
    let [
        labels,
        physical_min,
        physical_max,
        digital_min,
        digital_max,
        units,
        samples,
    ] = &columns;
    let order = [
        (labels, 16),
        (&transducers, 80),
        (units, 8),
        (physical_min, 8),
        (physical_max, 8),
        (digital_min, 8),
        (digital_max, 8),
        (&prefilters, 80),
        (samples, 8),
        (&blank, 32),
    ];
    for (column, field_width) in order {
        for text in column {
            write_field(text, field_width, out)?;
        }
    }
    Ok(())
}

/// The patient as EDF+ wants it: code, sex, birth date, name, then anything else.
fn patient_field(patient: &str) -> String {
    let words: Vec<&str> = patient.split_ascii_whitespace().collect();
    let is_date = |word: &str| word == "X" || word.split('-').count() == 3;
    match words[..] {
        [] => "X X X X".to_owned(),
        [_, "M" | "F" | "X", birth, _, ..] if is_date(birth) => ascii(patient),
        _ => with_prefix("X X X X", patient),
    }
}

/// The recording as EDF+ wants it: date, hospital, technician, equipment, then anything else.
fn recording_field(recording: &str, long_date: &str) -> String {
    let words: Vec<&str> = recording.split_ascii_whitespace().collect();
    match words[..] {
        [] => format!("Startdate {long_date} X X Atomscope"),
        // The date is that of the samples: an anonymised start changes it here too.
        ["Startdate", _, ref rest @ ..] if rest.len() >= 3 => {
            ascii(&format!("Startdate {long_date} {}", rest.join(" ")))
        }
        _ => with_prefix(&format!("Startdate {long_date} X X X"), recording),
    }
}

/// A text of plain EDF behind the fields of EDF+; without them where both are too long for the field.
fn with_prefix(prefix: &str, text: &str) -> String {
    let whole = format!("{prefix} {text}");
    ascii(if whole.chars().count() <= 80 {
        &whole
    } else {
        text
    })
}

/// Date, time and long date of the header.
fn start_fields(start: Option<StartTime>) -> (String, String, String) {
    const MONTHS: [&str; 12] = [
        "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
    ];
    let Some(start) = start else {
        // The standard's way to say that the date is unknown.
        return ("01.01.85".to_owned(), "00.00.00".to_owned(), "X".to_owned());
    };
    let month = MONTHS
        .get(usize::from(start.month).saturating_sub(1))
        .unwrap_or(&"JAN");
    (
        format!(
            "{:02}.{:02}.{:02}",
            start.day,
            start.month,
            start.year % 100
        ),
        format!("{:02}.{:02}.{:02}", start.hour, start.minute, start.second),
        format!("{:02}-{month}-{:04}", start.day, start.year),
    )
}

/// Headers are ASCII: the micro sign has its usual stand-in, other letters a question mark.
fn ascii(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            'µ' | 'μ' => 'u',
            c if c.is_ascii() && !c.is_ascii_control() => c,
            _ => '?',
        })
        .collect()
}

fn write_field(text: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let cut: String = text.chars().take(width).collect();
    write!(out, "{cut:<width$}")
}

fn write_samples(
    values: &[f64],
    scale: &Quantisation,
    width: SampleWidth,
    out: &mut dyn Write,
) -> io::Result<()> {
    let steps = f64::from(scale.digital_max) - f64::from(scale.digital_min);
    let per_step = (scale.physical_max - scale.physical_min) / steps;
    let (low, high) = width.digital_limits();
    let mut stored = Vec::with_capacity(values.len() * width.bytes());
    for value in values {
        let digital = (value - scale.physical_min) / per_step + f64::from(scale.digital_min);
        let digital = digital.round().clamp(f64::from(low), f64::from(high)) as i32;
        stored.extend_from_slice(&digital.to_le_bytes()[..width.bytes()]);
    }
    out.write_all(&stored)
}
