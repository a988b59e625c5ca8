//! XDF, the format of LabRecorder: streams of numbers and of texts, each with time stamps of its own clock.
//!
//! The recording is one stream of numbers: the one asked for, or the first EEG, or the first with a rate. Streams of
//! texts are its annotations; the others are listed as arrays. <https://github.com/sccn/xdf/wiki/Specifications>

mod clock;
mod stream;

use std::sync::Arc;

use ndarray::{ArrayD, IxDyn};

use super::text::quoted;
use super::{
    Annotation, ArrayInfo, ByteSource, Channel, FilePlace, Findings, Format, Gap, Input, Kind,
    ReadError, ReadOptions, Record, SampleSource, Source, TimeAxis, Unit,
};
use stream::{Stream, StreamValues};

/// Added to the name of a stream for the array of its time stamps.
const STAMPS: &str = "/time_stamps";
/// Rates may differ from what the header says by this share; otherwise the measured one counts.
const RATE_TOLERANCE: f64 = 0.01;

/// Whether these bytes start an XDF file.
pub fn is_certain(head: &[u8]) -> bool {
    head.starts_with(b"XDF:")
}

/// Reads the streams of a file; samples when asked.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let mut findings = Findings::new(input.path(), options.mode);
    let start = input.bytes.read_start(4)?;
    if !is_certain(&start) {
        let found = format!("\"{}\"", start.escape_ascii());
        return Err(findings.refusal(FilePlace::Byte(0), "start of the file", found, "\"XDF:\""));
    }
    let mut streams = stream::read_all(&input.bytes, &mut findings)?;
    for stream in &mut streams {
        clock::synchronise(stream);
    }
    let main = choose(&streams, options, &findings)?;
    let mut record = match main {
        Some(place) => recording(input, &streams[place], &mut findings),
        None => markers_alone(input),
    };
    let origin_s = main.map_or_else(
        || first_stamp(&streams),
        |place| streams[place].stamps_s.first().copied().unwrap_or(0.0),
    );
    let axis = main.map(|place| RecordTime::of(&streams[place], &record));
    let time = |stamp_s: f64| match &axis {
        Some(axis) => axis.of_stamp(stamp_s),
        None => stamp_s - origin_s,
    };
    for stream in &streams {
        for (text, &stamp_s) in stream.texts().iter().zip(&stream.stamps_s) {
            let onset_s = time(stamp_s);
            if onset_s.is_finite() {
                record
                    .annotations
                    .push(Annotation::new(onset_s, None, text.as_str()));
            }
        }
    }
    record
        .annotations
        .sort_by(|a, b| a.onset_s.total_cmp(&b.onset_s));
    let unused = streams.iter().enumerate().filter(|(place, stream)| {
        Some(*place) != main && matches!(stream.values, StreamValues::Numbers { .. })
    });
    for (_, stream) in unused {
        let text = format!(
            "stream {} ({} channels) is not shown; it can be chosen by its name",
            quoted(&stream.name),
            stream.n_channels
        );
        findings.note(FilePlace::File, text);
    }
    record.arrays = streams.iter().flat_map(array_infos).collect();
    record.warnings = findings.into_warnings();
    let samples = XdfSamples {
        bytes: input.bytes.clone(),
        streams,
        main,
    };
    Ok(record.with_samples(Arc::new(samples)))
}

/// The stream that is the recording; none if there are only texts.
fn choose(
    streams: &[Stream],
    options: &ReadOptions,
    findings: &Findings,
) -> Result<Option<usize>, ReadError> {
    let is_numeric = |stream: &&Stream| matches!(stream.values, StreamValues::Numbers { .. });
    if let Some(wanted) = &options.array {
        let found = streams.iter().position(|stream| stream.name == *wanted);
        return match found.filter(|place| is_numeric(&&streams[*place])) {
            Some(place) => Ok(Some(place)),
            None => {
                let names: Vec<&str> = streams
                    .iter()
                    .filter(is_numeric)
                    .map(|s| s.name.as_str())
                    .collect();
                let expected = format!("one of {}", names.join(", "));
                Err(findings.refusal(FilePlace::File, "stream", quoted(wanted), expected))
            }
        };
    }
    let usable = |stream: &Stream| is_numeric(&stream) && !stream.stamps_s.is_empty();
    let is_eeg = |stream: &Stream| stream.kind.eq_ignore_ascii_case("eeg") && usable(stream);
    let has_rate = |stream: &Stream| stream.rate_hz > 0.0 && usable(stream);
    Ok(streams
        .iter()
        .position(is_eeg)
        .or_else(|| streams.iter().position(has_rate))
        .or_else(|| streams.iter().position(usable)))
}

fn first_stamp(streams: &[Stream]) -> f64 {
    let firsts = streams.iter().filter_map(|stream| stream.stamps_s.first());
    firsts.copied().reduce(f64::min).unwrap_or(0.0)
}

fn markers_alone(input: &Input) -> Record {
    let source = Source::new(input.path(), input.bytes.len());
    let nothing = Arc::new(super::MemorySamples::default());
    Record::new(Format::Xdf, Kind::Recording, source, Vec::new(), nothing)
}

fn recording(input: &Input, stream: &Stream, findings: &mut Findings) -> Record {
    let mut record = markers_alone(input);
    let n_samples = stream.stamps_s.len();
    let rate_hz = rate_of(stream, findings);
    record.channels = (0..stream.n_channels)
        .map(|k| {
            let about = stream.channels.get(k);
            let name = about.map_or("", |about| about.label.as_str());
            let name = match name {
                "" => format!("channel {}", k + 1),
                name => name.to_owned(),
            };
            let unit = Unit::parse(about.map_or("", |about| about.unit.as_str()));
            Channel::analog(name, unit, rate_hz, n_samples)
        })
        .collect();
    let first_s = stream.stamps_s.first().copied().unwrap_or(0.0);
    match rate_hz {
        Some(rate_hz) => record.gaps = gaps(stream, rate_hz),
        None => {
            let stamps = stream.stamps_s.iter().map(|stamp_s| stamp_s - first_s);
            record.time_axis = TimeAxis::Stamps(stamps.collect());
        }
    }
    record
}

/// The rate of the header if the time stamps agree, otherwise the measured one; none for irregular streams.
fn rate_of(stream: &Stream, findings: &mut Findings) -> Option<f64> {
    let nominal_hz = (stream.rate_hz > 0.0).then_some(stream.rate_hz)?;
    let (mut n_steps, mut length_s) = (0, 0.0);
    for segment in &stream.segments {
        n_steps += segment.len() - 1;
        length_s += stream.stamps_s[segment.end - 1] - stream.stamps_s[segment.start];
    }
    let measured_hz = n_steps as f64 / length_s;
    let differs = (measured_hz / nominal_hz - 1.0).abs() > RATE_TOLERANCE;
    if n_steps > 0 && measured_hz.is_finite() && measured_hz > 0.0 && differs {
        let text = format!(
            "stream {} says {nominal_hz} Hz, its time stamps {measured_hz:.4} Hz; the latter is used",
            quoted(&stream.name)
        );
        findings.note(FilePlace::File, text);
        return Some(measured_hz);
    }
    Some(nominal_hz)
}

/// Breaks between the segments of a stream.
fn gaps(stream: &Stream, rate_hz: f64) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut lost_s = 0.0;
    for pair in stream.segments.windows(2) {
        let (last, next) = (pair[0].end - 1, pair[1].start);
        let duration_s = stream.stamps_s[next] - stream.stamps_s[last] - 1.0 / rate_hz;
        gaps.push(Gap {
            onset_s: next as f64 / rate_hz + lost_s,
            duration_s,
        });
        lost_s += duration_s;
    }
    gaps
}

/// From time stamps to times of the record, so that an annotation stays at its sample.
struct RecordTime {
    /// First and last stamp of each segment, and the times of the record at both.
    segments: Vec<[(f64, f64); 2]>,
}

impl RecordTime {
    fn of(stream: &Stream, record: &Record) -> Self {
        let rate_hz = record.channels.first().and_then(|channel| channel.rate_hz);
        let first_s = stream.stamps_s.first().copied().unwrap_or(0.0);
        let lost = record.gaps.iter().scan(0.0, |lost_s, gap| {
            *lost_s += gap.duration_s;
            Some(*lost_s)
        });
        let lost = std::iter::once(0.0).chain(lost);
        let ends = |(segment, lost_s): (&std::ops::Range<usize>, f64)| {
            [segment.start, segment.end - 1].map(|sample| {
                let stamp_s = stream.stamps_s[sample];
                let regular = rate_hz.map(|rate_hz| sample as f64 / rate_hz + lost_s);
                (stamp_s, regular.unwrap_or(stamp_s - first_s))
            })
        };
        Self {
            segments: stream.segments.iter().zip(lost).map(ends).collect(),
        }
    }

    fn of_stamp(&self, stamp_s: f64) -> f64 {
        let after = self.segments.partition_point(|ends| ends[0].0 <= stamp_s);
        let Some(ends) = self.segments.get(after.saturating_sub(1)) else {
            return stamp_s;
        };
        let [(stamp_0, time_0), (stamp_1, time_1)] = *ends;
        let slope = (time_1 - time_0) / (stamp_1 - stamp_0);
        let is_inside = stamp_s > stamp_0 && stamp_s < stamp_1 && slope.is_finite();
        match is_inside {
            true => time_0 + slope * (stamp_s - stamp_0),
            false if stamp_s >= stamp_1 => time_1 + (stamp_s - stamp_1),
            false => time_0 + (stamp_s - stamp_0),
        }
    }
}

fn array_infos(stream: &Stream) -> Vec<ArrayInfo> {
    let n_samples = stream.stamps_s.len();
    let info = |name: String, shape: Vec<usize>| ArrayInfo { name, shape };
    let stamps = info(format!("{}{STAMPS}", stream.name), vec![n_samples]);
    match stream.values {
        StreamValues::Texts(_) => vec![stamps],
        StreamValues::Numbers { .. } => vec![
            info(stream.name.clone(), vec![n_samples, stream.n_channels]),
            stamps,
        ],
    }
}

/// Samples of the chosen stream; the others as arrays.
struct XdfSamples {
    bytes: ByteSource,
    streams: Vec<Stream>,
    main: Option<usize>,
}

impl SampleSource for XdfSamples {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        match self.main {
            Some(main) => self.streams[main].read(&self.bytes, channel, first, out),
            None => Ok(()),
        }
    }

    fn array(&self, name: &str) -> Result<Option<ArrayD<f64>>, ReadError> {
        let named = |name: &str| self.streams.iter().find(|stream| stream.name == name);
        let shaped =
            |shape: &[usize], values: Vec<f64>| ArrayD::from_shape_vec(IxDyn(shape), values).ok();
        if let Some(stream) = name.strip_suffix(STAMPS).and_then(named) {
            let stamps = stream.stamps_s.clone();
            return Ok(shaped(&[stamps.len()], stamps));
        }
        let Some(stream) = named(name).filter(|s| matches!(s.values, StreamValues::Numbers { .. }))
        else {
            return Ok(None);
        };
        let (n_samples, n_channels) = (stream.stamps_s.len(), stream.n_channels);
        let mut values = Vec::with_capacity(n_samples * n_channels);
        let mut column = vec![0.0; n_samples];
        for channel in 0..n_channels {
            stream.read(&self.bytes, channel, 0, &mut column)?;
            values.extend_from_slice(&column);
        }
        let by_channel = shaped(&[n_channels, n_samples], values);
        Ok(by_channel.map(|array| array.reversed_axes().as_standard_layout().into_owned()))
    }
}
