//! COMTRADE fault records (IEEE C37.111-1991, -1999, -2013): .cfg with .dat, or .cff.

mod ascii;
mod binary;
mod combined;
mod configuration;
mod lines;
mod moment;
mod scale;
mod timeline;
mod writer;

use std::sync::Arc;

use super::text_encoding;
use super::{
    ByteSource, Channel, ChannelKind, FilePlace, Findings, Format, GridChannel, GridFacts, Input,
    Kind, Quantity, ReadError, ReadOptions, Record, SampleSource, Source, TransformerSide, Unit,
};
use ascii::AsciiSamples;
use binary::BinarySamples;
use configuration::{AnalogChannel, Configuration, DataType, Revision};
use timeline::RecordTimeline;
pub use writer::{
    ComtradeStorage, WrittenFiles, encode, encode_combined, write_combined, write_files,
};

/// Longest configuration that is taken for one: some 15 000 channels, the largest seen has 40 kB.
const MAX_CONFIGURATION_BYTES: u64 = 1 << 20;

/// Where the parts of a record are.
struct RecordFiles {
    configuration: (ByteSource, u64, u64),
    data: (ByteSource, u64, u64),
    data_type: Option<DataType>,
}

/// Whether the first bytes are those of a combined file.
pub(super) fn is_certain(head: &[u8]) -> bool {
    combined::is_combined(head)
}

/// Reads a fault record from any of its files.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let mut findings = Findings::new(input.path(), options.mode);
    let head = input.bytes.read_start(256)?;
    let files = if combined::is_combined(&head) || input.extension() == "cff" {
        combined_files(input, &mut findings)?
    } else {
        separate_files(input, &mut findings)?
    };
    let configuration = read_configuration(&files, &mut findings)?;
    let opened = open_samples(&files, &configuration, &mut findings)?;
    let (n_samples, rate_hz) = (opened.n_samples, opened.timeline.rate_hz);
    let channels = channels(&configuration, n_samples, rate_hz, &mut findings);
    let format = match configuration.revision {
        Revision::R1991 => Format::Comtrade1991,
        Revision::R1999 => Format::Comtrade1999,
        Revision::R2013 => Format::Comtrade2013,
    };
    let source = source_of(input, &files);
    let mut record = Record::new(format, Kind::FaultRecord, source, channels, opened.samples);
    record.start = configuration.start.map(|moment| moment.time);
    record.time_axis = opened.timeline.axis;
    record.gaps = opened.timeline.gaps;
    record.grid = Some(grid_facts(
        &configuration,
        record.duration_s(),
        &mut findings,
    ));
    record.warnings = findings.into_warnings();
    Ok(record)
}

fn read_configuration(
    files: &RecordFiles,
    findings: &mut Findings,
) -> Result<Configuration, ReadError> {
    let (bytes, start, end) = &files.configuration;
    let n_bytes = end.saturating_sub(*start);
    if n_bytes > MAX_CONFIGURATION_BYTES {
        let expected = format!("at most {MAX_CONFIGURATION_BYTES} bytes");
        let place = FilePlace::Byte(*start);
        return Err(findings.refusal(place, "length of the configuration", n_bytes, expected));
    }
    let text = bytes.read_range(*start, n_bytes)?;
    let decoded = text_encoding::decode(&text);
    decoded.report(findings)?;
    Configuration::parse(&decoded.text, findings)
}

/// Samples ready to be read, and when they were taken.
struct OpenedSamples {
    samples: Arc<dyn SampleSource>,
    n_samples: usize,
    timeline: RecordTimeline,
}

fn open_samples(
    files: &RecordFiles,
    configuration: &Configuration,
    findings: &mut Findings,
) -> Result<OpenedSamples, ReadError> {
    let (data, start, end) = &files.data;
    let range = (*start, *end);
    let data_type = settle_data_type(files, configuration, findings)?;
    if data_type == DataType::Ascii {
        let rows = AsciiSamples::open(data, range, configuration, findings)?;
        Ok(OpenedSamples {
            n_samples: rows.n_rows(),
            timeline: ascii_timeline(&rows, configuration, findings)?,
            samples: Arc::new(rows),
        })
    } else {
        let rows = BinarySamples::open(data, range, configuration, data_type, findings)?;
        Ok(OpenedSamples {
            n_samples: rows.n_rows(),
            timeline: binary_timeline(&rows, configuration, findings)?,
            samples: Arc::new(rows),
        })
    }
}

/// The sections of a combined file.
fn combined_files(input: &Input, findings: &mut Findings) -> Result<RecordFiles, ReadError> {
    let parts = combined::find_parts(&input.bytes, findings)?;
    let (start, end) = parts.configuration;
    Ok(RecordFiles {
        configuration: (input.bytes.clone(), start, end),
        data: (input.bytes.clone(), parts.data.0, parts.data.1),
        data_type: parts.data_type,
    })
}

/// Configuration and data file, whichever of them (or .hdr, .inf) was opened.
fn separate_files(input: &Input, findings: &mut Findings) -> Result<RecordFiles, ReadError> {
    let extension = input.extension();
    let find = |ending: &'static str, role: &'static str, findings: &mut Findings| {
        if extension == ending {
            return Ok(input.bytes.clone());
        }
        match input.companion_with_extension(ending)? {
            Some(found) => Ok(found),
            None => match namesake(input, ending)? {
                Some(found) => {
                    let name = found.path().display().to_string();
                    let assumed = "the file of the most similar name was taken";
                    findings.breach(FilePlace::File, role, name, "the same name", assumed)?;
                    Ok(found)
                }
                None => Err(ReadError::MissingCompanion {
                    path: input.path().to_owned(),
                    role,
                    name: input.sibling_name(ending),
                }),
            },
        }
    };
    let configuration = match extension.as_str() {
        "dat" | "hdr" | "inf" => find("cfg", "configuration file", findings)?,
        _ => input.bytes.clone(),
    };
    let data = find("dat", "data file", findings)?;
    let (configuration_end, data_end) = (configuration.len(), data.len());
    Ok(RecordFiles {
        configuration: (configuration, 0, configuration_end),
        data: (data, 0, data_end),
        data_type: None,
    })
}

/// A file whose name is the beginning of this one's (`fault.cfg` for `fault_2.dat`).
fn namesake(input: &Input, ending: &str) -> Result<Option<ByteSource>, ReadError> {
    let stem = input.path().file_stem().unwrap_or_default();
    let stem = stem.to_string_lossy().to_lowercase();
    let mut names = input.names_beside();
    names.retain(|name| {
        let lower = name.to_lowercase();
        lower
            .strip_suffix(&format!(".{ending}"))
            .is_some_and(|other| other.len() >= 4 && stem.starts_with(other))
    });
    match names.iter().max_by_key(|name| (name.len(), name.as_str())) {
        Some(name) => input.companion(name),
        None => Ok(None),
    }
}

/// The declared type, unless the data is plainly of another.
fn settle_data_type(
    files: &RecordFiles,
    configuration: &Configuration,
    findings: &mut Findings,
) -> Result<DataType, ReadError> {
    let (data, start, end) = &files.data;
    let n_looked_at = end.saturating_sub(*start).min(4096);
    let first = data.read_range(*start, n_looked_at)?;
    let is_text = looks_like_rows(&first);
    let declared = files.data_type.or(configuration.data_type);
    let settled = match declared {
        Some(DataType::Ascii) if !is_text => DataType::Binary,
        Some(DataType::Ascii) => DataType::Ascii,
        Some(_) if is_text => DataType::Ascii,
        Some(other) => other,
        None if is_text => DataType::Ascii,
        None => DataType::Binary,
    };
    match declared {
        Some(declared) if declared != settled => {
            let (found, expected) = (declared.name(), settled.name());
            let assumed = "the data was read by its content";
            findings.breach(FilePlace::File, "file type", found, expected, assumed)?;
        }
        _ => {}
    }
    Ok(settled)
}

/// Whether bytes are digits and separators as in a text data file.
fn looks_like_rows(bytes: &[u8]) -> bool {
    let is_text = |b: &u8| matches!(b, b'\t' | b'\n' | b'\r' | 0x1a | 0x20..=0x7e | 0x80..);
    let is_digit_or_separator = |b: &&u8| {
        matches!(
            **b,
            b'0'..=b'9' | b'+' | b'-' | b'.' | b',' | b';' | b' ' | b'\t' | b'\n' | b'\r'
        )
    };
    let n_plain = bytes.iter().filter(is_digit_or_separator).count();
    bytes.iter().all(is_text) && n_plain * 4 >= bytes.len() * 3
}

fn ascii_timeline(
    rows: &AsciiSamples,
    configuration: &Configuration,
    findings: &mut Findings,
) -> Result<RecordTimeline, ReadError> {
    if configuration.rates.is_empty() {
        return RecordTimeline::from_stamps(rows.stamps(), configuration.stamp_unit_s(), findings);
    }
    let n_samples = rows.n_rows();
    let mut timeline = RecordTimeline::from_rates(&configuration.rates, n_samples, findings);
    timeline.split_at_gaps(rows.stamps(), configuration.stamp_unit_s(), findings);
    if !timeline.gaps.is_empty() {
        return Ok(timeline);
    }
    let outer = rows
        .stamps()
        .first()
        .copied()
        .zip(rows.stamps().last().copied());
    timeline::compare_with_stamps(configuration, timeline.rate_hz, outer, n_samples, findings);
    Ok(timeline)
}

fn binary_timeline(
    rows: &BinarySamples,
    configuration: &Configuration,
    findings: &mut Findings,
) -> Result<RecordTimeline, ReadError> {
    if configuration.rates.is_empty() {
        return RecordTimeline::from_stamps(
            &rows.stamps()?,
            configuration.stamp_unit_s(),
            findings,
        );
    }
    let n_samples = rows.n_rows();
    let mut timeline = RecordTimeline::from_rates(&configuration.rates, n_samples, findings);
    let outer = rows.outer_stamps()?;
    // All stamps are read only where the outer ones do not say what the rates say.
    if timeline.contradicts(outer, configuration.stamp_unit_s(), n_samples) {
        timeline.split_at_gaps(&rows.stamps()?, configuration.stamp_unit_s(), findings);
        if !timeline.gaps.is_empty() {
            return Ok(timeline);
        }
    }
    timeline::compare_with_stamps(configuration, timeline.rate_hz, outer, n_samples, findings);
    Ok(timeline)
}

/// The unit of the samples, and what the primary side of the ratio is multiplied by. Some relays write `V/kV`: the
/// ratio is that of kilovolts to volts, and the samples are on the side that they say.
fn unit_of(analog: &AnalogChannel) -> (Unit, f64) {
    let whole = Unit::parse(&analog.unit);
    let sides = analog.unit.split_once('/').filter(|_| !whole.is_known());
    let Some((secondary, primary)) = sides else {
        return (whole, 1.0);
    };
    let [secondary, primary] = [secondary, primary].map(Unit::parse);
    let is_pair = matches!(
        secondary.quantity,
        Some(Quantity::Voltage | Quantity::Current)
    ) && secondary.quantity == primary.quantity;
    if !is_pair {
        return (whole, 1.0);
    }
    let factor = primary.in_base / secondary.in_base;
    let own = match analog.scaling {
        Some(TransformerSide::Primary) => primary,
        _ => secondary,
    };
    let raw = analog.unit.clone();
    (Unit { raw, ..own }, factor)
}

/// Analog channels, then digital ones.
fn channels(
    configuration: &Configuration,
    n_samples: usize,
    rate_hz: Option<f64>,
    findings: &mut Findings,
) -> Vec<Channel> {
    let mut unknown_units: Vec<&str> = Vec::new();
    let mut channels = Vec::with_capacity(configuration.analog.len() + configuration.digital.len());
    for analog in &configuration.analog {
        let (unit, primary_factor) = unit_of(analog);
        if !unit.is_known() && !unit.symbol.is_empty() {
            unknown_units.push(&analog.unit);
        }
        let mut channel = Channel::analog(analog.name.clone(), unit, rate_hz, n_samples);
        channel.grid = Some(GridChannel {
            phase: analog.phase.clone(),
            circuit: analog.circuit.clone(),
            primary: analog.primary * primary_factor,
            secondary: analog.secondary,
            scaling: analog.scaling,
            skew_s: analog.skew_us * 1e-6,
        });
        channels.push(channel);
    }
    unknown_units.sort_unstable();
    unknown_units.dedup();
    if !unknown_units.is_empty() {
        let list = unknown_units.join(", ");
        findings.note(
            FilePlace::File,
            format!("unknown units kept as written: {list}"),
        );
    }
    for digital in &configuration.digital {
        let mut channel = Channel::analog(digital.name.clone(), Unit::none(), rate_hz, n_samples);
        channel.kind = ChannelKind::Digital {
            normal: digital.normal,
        };
        channel.grid = Some(GridChannel {
            phase: digital.phase.clone(),
            circuit: digital.circuit.clone(),
            primary: 1.0,
            secondary: 1.0,
            scaling: None,
            skew_s: 0.0,
        });
        channels.push(channel);
    }
    channels
}

/// Station, frequency and trigger; a trigger far outside the record is a clock that was not set.
fn grid_facts(
    configuration: &Configuration,
    duration_s: Option<f64>,
    findings: &mut Findings,
) -> GridFacts {
    let moments = configuration.start.zip(configuration.trigger);
    let offset_s = moments.map(|(start, trigger)| trigger.time.seconds_since(start.time));
    let plausible = |seconds: &f64| {
        let span_s = duration_s.unwrap_or(f64::INFINITY);
        (-1e-6..=span_s + 1e-3).contains(seconds)
    };
    let trigger_s = offset_s.filter(plausible);
    if let (Some(seconds), None) = (offset_s, trigger_s) {
        findings.note(
            FilePlace::File,
            format!(
                "trigger is {seconds} s after the first sample, outside the record; it is ignored"
            ),
        );
    }
    GridFacts {
        station: configuration.station.clone(),
        device: configuration.device.clone(),
        line_frequency_hz: configuration.line_frequency_hz,
        trigger_s,
    }
}

/// The file that was opened, and its companions.
fn source_of(input: &Input, files: &RecordFiles) -> Source {
    let mut source = Source::new(input.path(), input.bytes.len());
    for part in [&files.configuration.0, &files.data.0] {
        if part.path() != input.path() {
            source.add_companion(part.path(), part.len());
        }
    }
    source
}
