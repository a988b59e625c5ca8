//! The header of a BrainVision recording, old and new layouts.

use std::path::Path;

use super::super::ini::{Entry, Ini, fields};
use super::super::text::{decode, quoted};
use super::super::{ByteSource, FilePlace, Findings, Number, ReadError};
use super::text_data::TextLayout;

/// The order of samples in the data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Orientation {
    /// All channels of the first time, then of the second, …
    Multiplexed,
    /// All times of the first channel, then of the second, …
    Vectorised,
}

/// How samples are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SampleStorage {
    Binary { number: Number, is_big_endian: bool },
    Text(TextLayout),
}

/// What the header says of one channel.
#[derive(Debug)]
pub(super) struct ChannelEntry {
    pub(super) name: String,
    pub(super) resolution: f64,
    pub(super) unit: String,
    pub(super) place: FilePlace,
}

/// What the header says.
#[derive(Debug)]
pub(super) struct BrainVisionHeader {
    pub(super) data_file: String,
    pub(super) marker_file: Option<String>,
    pub(super) orientation: Orientation,
    pub(super) storage: SampleStorage,
    pub(super) rate_hz: f64,
    pub(super) n_samples: Option<u64>,
    pub(super) channels: Vec<ChannelEntry>,
    /// Values of a moment in the data file: of the channels, and of the V-Amp (.ahdr) one more, which no header lists.
    pub(super) n_stored: usize,
}

/// Most channels; each takes memory.
const MAX_CHANNELS: usize = 65_536;
/// Most bytes of a header that are read; real ones have some kilobytes.
const MAX_BYTES: u64 = 4 << 20;

impl BrainVisionHeader {
    pub(super) fn read(bytes: &ByteSource, findings: &mut Findings) -> Result<Self, ReadError> {
        let text = decode(&bytes.read_start(MAX_BYTES)?);
        let ini = Ini::new(&text);
        let common = |key: &str| ini.get("common infos", key);
        refuse_other_kinds(&ini, bytes.path())?;
        let Some(data_file) = common("datafile") else {
            return Err(findings.refusal(
                FilePlace::File,
                "DataFile in [Common Infos]",
                "missing",
                "the name of the data file",
            ));
        };
        let channels = read_channels(&ini, findings)?;
        let ending = bytes.path().extension();
        let is_v_amp = ending.is_some_and(|ending| ending.eq_ignore_ascii_case("ahdr"));
        Ok(Self {
            data_file: data_file.value.to_owned(),
            marker_file: common("markerfile").map(|entry| entry.value.to_owned()),
            orientation: read_orientation(common("dataorientation"), findings)?,
            storage: read_storage(&ini, findings)?,
            rate_hz: read_rate(common("samplinginterval"), findings)?,
            n_samples: common("datapoints").and_then(|entry| entry.value.parse().ok()),
            n_stored: channels.len() + usize::from(is_v_amp),
            channels,
        })
    }

    /// The file that an entry names; `$b` stands for the header's own stem.
    pub(super) fn file_name(&self, name: &str, header: &Path) -> String {
        let stem = header.file_stem().unwrap_or_default().to_string_lossy();
        name.replace("$b", &stem)
    }
}

fn refuse_other_kinds(ini: &Ini<'_>, path: &Path) -> Result<(), ReadError> {
    if is_value(ini, "datatype", "frequencydomain") {
        return Err(ReadError::Unsupported {
            path: path.to_owned(),
            what: "BrainVision data of the frequency domain".to_owned(),
            remedy: "export it as TIMEDOMAIN".to_owned(),
        });
    }
    Ok(())
}

fn is_value(ini: &Ini<'_>, key: &str, value: &str) -> bool {
    let entry = ini.get("common infos", key);
    entry.is_some_and(|entry| entry.value.eq_ignore_ascii_case(value))
}

fn read_storage(ini: &Ini<'_>, findings: &Findings) -> Result<SampleStorage, ReadError> {
    if is_value(ini, "dataformat", "ascii") {
        return Ok(SampleStorage::Text(TextLayout::read(ini)));
    }
    let order = ini.get("binary infos", "usebigendianorder");
    Ok(SampleStorage::Binary {
        number: read_number(ini.get("binary infos", "binaryformat"), findings)?,
        is_big_endian: order.is_some_and(|entry| entry.value.eq_ignore_ascii_case("yes")),
    })
}

fn read_orientation(
    entry: Option<Entry<'_>>,
    findings: &mut Findings,
) -> Result<Orientation, ReadError> {
    let (found, place) = found_at(entry);
    match found.to_lowercase().as_str() {
        "multiplexed" => Ok(Orientation::Multiplexed),
        "vectorized" | "vectorised" => Ok(Orientation::Vectorised),
        _ => {
            findings.breach(
                place,
                "DataOrientation",
                quoted(&found),
                "MULTIPLEXED or VECTORIZED",
                "read as MULTIPLEXED",
            )?;
            Ok(Orientation::Multiplexed)
        }
    }
}

fn read_number(entry: Option<Entry<'_>>, findings: &Findings) -> Result<Number, ReadError> {
    let (found, place) = found_at(entry);
    Ok(match found.to_uppercase().as_str() {
        "INT_16" => Number::Int16,
        "UINT_16" => Number::Uint16,
        "INT_32" => Number::Int32,
        "IEEE_FLOAT_32" => Number::Float32,
        "IEEE_FLOAT_64" => Number::Float64,
        _ => {
            let expected = "INT_16, UINT_16, INT_32, IEEE_FLOAT_32 or IEEE_FLOAT_64";
            return Err(findings.refusal(place, "BinaryFormat", quoted(&found), expected));
        }
    })
}

/// The interval is in microseconds.
fn read_rate(entry: Option<Entry<'_>>, findings: &Findings) -> Result<f64, ReadError> {
    let (found, place) = found_at(entry);
    let interval_us: Option<f64> = found.replace(',', ".").parse().ok();
    match interval_us.map(|interval_us| 1e6 / interval_us) {
        Some(rate_hz) if rate_hz.is_finite() && rate_hz > 0.0 => Ok(rate_hz),
        _ => {
            let expected = "microseconds, more than 0";
            Err(findings.refusal(place, "SamplingInterval", quoted(&found), expected))
        }
    }
}

fn found_at(entry: Option<Entry<'_>>) -> (String, FilePlace) {
    match entry {
        Some(entry) => (entry.value.to_owned(), FilePlace::Line(entry.line)),
        None => ("missing".to_owned(), FilePlace::File),
    }
}

/// Channels in the order of their numbers; what is missing is filled in and reported.
fn read_channels(ini: &Ini<'_>, findings: &mut Findings) -> Result<Vec<ChannelEntry>, ReadError> {
    let listed = || {
        let entries = ini.section("channel infos");
        entries.filter_map(|entry| {
            let number = entry.number_after("ch").filter(|&number| number >= 1)?;
            Some((number, entry))
        })
    };
    let n_listed = listed().count();
    let declared = ini.get("common infos", "numberofchannels");
    let (found, place) = found_at(declared);
    let n_declared = found.parse::<usize>().ok().filter(|&n| n >= 1);
    let n_channels = n_declared.unwrap_or(n_listed);
    // A few unnamed channels are tolerable, a count without any list is not.
    if n_channels == 0 || n_channels > n_listed.saturating_add(256).min(MAX_CHANNELS) {
        let expected = format!("{n_listed}, as many as [Channel Infos] lists");
        return Err(findings.refusal(place, "NumberOfChannels", quoted(&found), expected));
    }
    if n_channels != n_listed || n_declared.is_none() {
        findings.breach(
            place,
            "NumberOfChannels",
            quoted(&found),
            format!("{n_listed}, as many as [Channel Infos] lists"),
            format!("read {n_channels} channels"),
        )?;
    }
    let mut entries: Vec<Option<Entry<'_>>> = vec![None; n_channels];
    for (number, entry) in listed() {
        match entries.get_mut(number - 1) {
            Some(slot) if slot.is_none() => *slot = Some(entry),
            _ => {
                let expected = format!("each number from 1 to {n_channels} once");
                let place = FilePlace::Line(entry.line);
                findings.breach(place, "channel number", number, expected, "skipped")?;
            }
        }
    }
    entries
        .into_iter()
        .enumerate()
        .map(|(position, entry)| match entry {
            Some(entry) => read_channel(entry, position + 1, findings),
            None => Ok(ChannelEntry {
                name: format!("Ch{}", position + 1),
                resolution: 1.0,
                unit: String::new(),
                place,
            }),
        })
        .collect()
}

/// `name,reference,resolution,unit`; the unit is microvolt where it is omitted.
fn read_channel(
    entry: Entry<'_>,
    number: usize,
    findings: &mut Findings,
) -> Result<ChannelEntry, ReadError> {
    let place = FilePlace::Line(entry.line);
    let fields = fields(entry.value);
    let field = |position: usize| fields.get(position).map_or("", String::as_str);
    let name = match field(0) {
        "" => format!("Ch{number}"),
        name => name.to_owned(),
    };
    let resolution = match field(2) {
        "" => 1.0,
        text => match text.parse::<f64>() {
            Ok(value) if value.is_finite() && value != 0.0 => value,
            _ => {
                let expected = "a number other than 0";
                findings.breach(place, "resolution", quoted(text), expected, "read as 1")?;
                1.0
            }
        },
    };
    let unit = match field(3) {
        "" => "µV",
        unit => unit,
    };
    Ok(ChannelEntry {
        name,
        resolution,
        unit: unit.to_owned(),
        place,
    })
}
