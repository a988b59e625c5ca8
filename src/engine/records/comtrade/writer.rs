//! Writes a record as COMTRADE: .cfg and .dat in ASCII, BINARY, BINARY32 or FLOAT32, or all in one .cff.

use std::io;
use std::path::{Path, PathBuf};

use super::moment;
use crate::records::{Channel, ChannelKind, Record, StartTime, TimeAxis, TransformerSide};

/// How the samples are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComtradeStorage {
    /// Text; whole numbers of five digits. 1999 revision.
    Ascii,
    /// Two bytes per sample. 1999 revision.
    Binary,
    /// Four bytes per sample, whole numbers. 2013 revision.
    Binary32,
    /// Four bytes per sample: values of single precision are kept exactly. 2013 revision.
    Float32,
}

impl ComtradeStorage {
    /// As the configuration names it.
    fn name(self) -> &'static str {
        match self {
            Self::Ascii => "ASCII",
            Self::Binary => "BINARY",
            Self::Binary32 => "BINARY32",
            Self::Float32 => "FLOAT32",
        }
    }

    /// The first revision of the standard that has it.
    fn revision(self) -> u16 {
        match self {
            Self::Ascii | Self::Binary => 1999,
            Self::Binary32 | Self::Float32 => 2013,
        }
    }
}

/// The contents of the two files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFiles {
    /// Contents of the .cfg file.
    pub configuration: Vec<u8>,
    /// Contents of the .dat file.
    pub data: Vec<u8>,
}

/// Writes `record` to `path` with the extensions `cfg` and `dat`; see [`encode`].
///
/// Afterwards there is the old record or all of the new one. The configuration, which makes a record of the two files,
/// goes first and comes last: between them there is none.
pub fn write_files(record: &Record, storage: ComtradeStorage, path: &Path) -> io::Result<()> {
    let files = encode(record, storage)?;
    let data = StagedFile::write(path.with_extension("dat"), &files.data)?;
    let configuration = StagedFile::write(path.with_extension("cfg"), &files.configuration)?;
    match std::fs::remove_file(&configuration.target) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    data.commit()?;
    configuration.commit()
}

/// Writes `record` to `path` with the extension `cff`: configuration and data in one file of the 2013 revision.
pub fn write_combined(record: &Record, storage: ComtradeStorage, path: &Path) -> io::Result<()> {
    let bytes = encode_combined(record, storage)?;
    StagedFile::write(path.with_extension("cff"), &bytes)?.commit()
}

/// A file written whole beside the one it is for.
struct StagedFile {
    path: PathBuf,
    target: PathBuf,
}

impl StagedFile {
    fn write(target: PathBuf, content: &[u8]) -> io::Result<Self> {
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let path = target.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let staged = Self { path, target };
        std::fs::write(&staged.path, content)?;
        Ok(staged)
    }

    fn commit(self) -> io::Result<()> {
        std::fs::rename(&self.path, &self.target)
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        // After it was committed there is nothing to remove.
        std::fs::remove_file(&self.path).unwrap_or_default();
    }
}

/// The combined file of `record`, see [`encode`].
pub fn encode_combined(record: &Record, storage: ComtradeStorage) -> io::Result<Vec<u8>> {
    let files = encode_as(record, storage, 2013)?;
    let mut bytes = b"--- file type: CFG ---\r\n".to_vec();
    bytes.extend(files.configuration);
    bytes.extend(b"--- file type: INF ---\r\n--- file type: HDR ---\r\n");
    let kind = storage.name();
    let separator = match storage {
        ComtradeStorage::Ascii => format!("--- file type: DAT {kind} ---\r\n"),
        _ => format!("--- file type: DAT {kind}: {} ---\r\n", files.data.len()),
    };
    bytes.extend(separator.into_bytes());
    bytes.extend(files.data);
    Ok(bytes)
}

/// The files of `record`.
///
/// ASCII, BINARY and BINARY32 spread each channel over the whole range of stored numbers;
/// missing values are written as such. Separators in names become semicolons,
/// times are cut to microseconds. Refuses what the format cannot hold:
/// channels of different length, nominal channels, times that are unknown.
pub fn encode(record: &Record, storage: ComtradeStorage) -> io::Result<WrittenFiles> {
    encode_as(record, storage, storage.revision())
}

fn encode_as(record: &Record, storage: ComtradeStorage, revision: u16) -> io::Result<WrittenFiles> {
    let layout = ChannelLayout::new(record)?;
    let mut columns = Vec::with_capacity(layout.analog.len());
    for &channel in &layout.analog {
        let values = record.read_channel(channel).map_err(io::Error::other)?;
        columns.push(StoredColumn::new(&values, storage));
    }
    let mut states = Vec::with_capacity(layout.digital.len());
    for &channel in &layout.digital {
        states.push(record.read_channel(channel).map_err(io::Error::other)?);
    }
    let data = match storage {
        ComtradeStorage::Ascii => ascii_rows(&layout, &columns, &states),
        _ => binary_rows(&layout, &columns, &states, storage),
    };
    let configuration = configuration(record, &layout, &columns, storage, revision).into_bytes();
    Ok(WrittenFiles {
        configuration,
        data,
    })
}

fn refuse(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text.into())
}

/// What is common to all channels.
struct ChannelLayout {
    analog: Vec<usize>,
    digital: Vec<usize>,
    n_samples: usize,
    /// Rate and last sample (from 1) of each section; empty if stamps tell the time.
    sections: Vec<(f64, usize)>,
    /// Time stamps in units of `time_multiplier` microseconds.
    stamps: Vec<u32>,
    time_multiplier: f64,
}

impl ChannelLayout {
    fn new(record: &Record) -> io::Result<ChannelLayout> {
        let (mut analog, mut digital) = (Vec::new(), Vec::new());
        for (index, channel) in record.channels.iter().enumerate() {
            match channel.kind {
                ChannelKind::Analog => analog.push(index),
                ChannelKind::Digital { .. } => digital.push(index),
                ChannelKind::Nominal { .. } | ChannelKind::Time => {
                    return Err(refuse("a column of a table cannot be written as COMTRADE"));
                }
            }
        }
        let Some(first) = record.channels.first() else {
            return Err(refuse("a record without channels cannot be written"));
        };
        let (n_samples, rate_hz) = (first.n_samples, first.rate_hz);
        let alike = |c: &Channel| c.n_samples == n_samples && c.rate_hz == rate_hz;
        if !record.channels.iter().all(alike) {
            return Err(refuse("COMTRADE wants all channels of one length and rate"));
        }
        if n_samples == 0 || u32::try_from(n_samples).is_err() {
            let text = format!("{n_samples} samples; COMTRADE holds 1 to {}", u32::MAX);
            return Err(refuse(text));
        }
        let sections = match &record.time_axis {
            TimeAxis::Regular if record.gaps.is_empty() => rate_hz
                .map(|rate_hz| (rate_hz, n_samples))
                .into_iter()
                .collect(),
            TimeAxis::Sections(sections) => sections
                .iter()
                .map(|section| (section.rate_hz, section.first_sample + section.n_samples))
                .collect(),
            TimeAxis::Regular | TimeAxis::Stamps(_) => Vec::new(),
        };
        let times_us: Option<Vec<f64>> = (0..n_samples)
            .map(|sample| Some(record.time_s(0, sample)? * 1e6))
            .collect();
        let times_us = times_us.ok_or_else(|| refuse("a record without times or rate"))?;
        let longest_us = times_us.iter().copied().fold(0.0, f64::max);
        let time_multiplier = (longest_us / f64::from(u32::MAX - 1)).ceil().max(1.0);
        let stamp = |us: &f64| (us / time_multiplier).round() as u32;
        Ok(ChannelLayout {
            analog,
            digital,
            n_samples,
            sections,
            stamps: times_us.iter().map(stamp).collect(),
            time_multiplier,
        })
    }
}

/// The samples of a channel as stored: value = `multiplier` × number + `offset`.
struct StoredColumn {
    multiplier: f64,
    offset: f64,
    /// Range of the numbers.
    limit: f64,
    /// NaN if missing.
    numbers: Vec<f64>,
}

impl StoredColumn {
    fn new(values: &[f64], storage: ComtradeStorage) -> StoredColumn {
        let limit = match storage {
            ComtradeStorage::Ascii => 99_998.0,
            ComtradeStorage::Binary => f64::from(i16::MAX),
            ComtradeStorage::Binary32 => f64::from(i32::MAX),
            ComtradeStorage::Float32 => f64::from(f32::MAX),
        };
        let (multiplier, offset) = match storage {
            ComtradeStorage::Float32 => (1.0, 0.0),
            ComtradeStorage::Ascii | ComtradeStorage::Binary | ComtradeStorage::Binary32 => {
                spread(values, limit)
            }
        };
        let number = |value: &f64| match storage {
            ComtradeStorage::Float32 => *value,
            _ if value.is_finite() => ((value - offset) / multiplier).round().clamp(-limit, limit),
            _ => f64::NAN,
        };
        StoredColumn {
            multiplier,
            offset,
            limit,
            numbers: values.iter().map(number).collect(),
        }
    }
}

/// Multiplier and offset that spread finite values over −`limit` to `limit`.
fn spread(values: &[f64], limit: f64) -> (f64, f64) {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let least = finite().fold(f64::INFINITY, f64::min);
    let greatest = finite().fold(f64::NEG_INFINITY, f64::max);
    if least > greatest {
        return (1.0, 0.0);
    }
    let multiplier = (greatest / 2.0 - least / 2.0) / limit;
    let offset = greatest / 2.0 + least / 2.0;
    if multiplier > 0.0 && multiplier.is_normal() {
        (multiplier, offset)
    } else {
        (1.0, least)
    }
}

fn ascii_rows(layout: &ChannelLayout, columns: &[StoredColumn], states: &[Vec<f64>]) -> Vec<u8> {
    let mut text = String::new();
    let put = |text: &mut String, value: String| {
        text.push(',');
        text.push_str(&value);
    };
    for (row, stamp) in layout.stamps.iter().enumerate() {
        text.push_str(&(row + 1).to_string());
        put(&mut text, stamp.to_string());
        for column in columns {
            let number = column.numbers.get(row).copied().unwrap_or(f64::NAN);
            // 99999 is the code for a missing value.
            let whole = if number.is_nan() {
                99_999
            } else {
                number as i64
            };
            put(&mut text, whole.to_string());
        }
        for state in states {
            put(&mut text, u8::from(is_on(state, row)).to_string());
        }
        text.push_str("\r\n");
    }
    text.into_bytes()
}

fn is_on(state: &[f64], row: usize) -> bool {
    state.get(row).is_some_and(|value| *value > 0.5)
}

fn binary_rows(
    layout: &ChannelLayout,
    columns: &[StoredColumn],
    states: &[Vec<f64>],
    storage: ComtradeStorage,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (row, stamp) in layout.stamps.iter().enumerate() {
        bytes.extend_from_slice(&(row as u32 + 1).to_le_bytes());
        bytes.extend_from_slice(&stamp.to_le_bytes());
        for column in columns {
            let number = column.numbers.get(row).copied().unwrap_or(f64::NAN);
            // The least number of each kind is the code for a missing value.
            match storage {
                ComtradeStorage::Binary => {
                    let whole = if number.is_nan() {
                        i16::MIN
                    } else {
                        number as i16
                    };
                    bytes.extend_from_slice(&whole.to_le_bytes());
                }
                ComtradeStorage::Binary32 => {
                    let whole = if number.is_nan() {
                        i32::MIN
                    } else {
                        number as i32
                    };
                    bytes.extend_from_slice(&whole.to_le_bytes());
                }
                ComtradeStorage::Float32 | ComtradeStorage::Ascii => {
                    let single = if number.is_nan() {
                        f32::MIN
                    } else {
                        number as f32
                    };
                    bytes.extend_from_slice(&single.to_le_bytes());
                }
            }
        }
        for word in states.chunks(16) {
            let bits = word.iter().enumerate();
            let word = bits.fold(0_u16, |word, (bit, state)| {
                word | (u16::from(is_on(state, row)) << bit)
            });
            bytes.extend_from_slice(&word.to_le_bytes());
        }
    }
    bytes
}

fn configuration(
    record: &Record,
    layout: &ChannelLayout,
    columns: &[StoredColumn],
    storage: ComtradeStorage,
    revision: u16,
) -> String {
    let grid = record.grid.clone().unwrap_or_default();
    let mut lines = vec![
        format!(
            "{},{},{revision}",
            plain(&grid.station),
            plain(&grid.device)
        ),
        format!(
            "{},{}A,{}D",
            layout.analog.len() + layout.digital.len(),
            layout.analog.len(),
            layout.digital.len()
        ),
    ];
    let channel_at = |index: usize| record.channels.get(index);
    let analog = layout.analog.iter().filter_map(|index| channel_at(*index));
    for (number, (channel, column)) in analog.zip(columns).enumerate() {
        lines.push(analog_line(number + 1, channel, column));
    }
    let digital = layout.digital.iter().filter_map(|index| channel_at(*index));
    for (number, channel) in digital.enumerate() {
        lines.push(digital_line(number + 1, channel));
    }
    lines.push(grid.line_frequency_hz.unwrap_or(0.0).to_string());
    lines.push(layout.sections.len().to_string());
    if layout.sections.is_empty() {
        lines.push(format!("0,{}", layout.n_samples));
    }
    for (rate_hz, last_sample) in &layout.sections {
        lines.push(format!("{rate_hz},{last_sample}"));
    }
    let trigger_s = grid.trigger_s.unwrap_or(0.0);
    let trigger = record.start.and_then(|start| start.plus_seconds(trigger_s));
    lines.push(moment_line(record.start));
    lines.push(moment_line(trigger));
    lines.push(storage.name().to_owned());
    lines.push(layout.time_multiplier.to_string());
    if revision == 2013 {
        let offset = record.start.and_then(|start| start.utc_offset_min);
        let code = offset.map_or("x".to_owned(), moment::time_code);
        lines.push(format!("{code},{code}"));
        lines.push("F,3".to_owned());
    }
    lines.join("\r\n") + "\r\n"
}

/// Text that separates no fields and ends no line.
fn plain(text: &str) -> String {
    let plain = text.chars().map(|c| match c {
        ',' => ';',
        c if c.is_control() => ' ',
        c => c,
    });
    plain.collect()
}

fn analog_line(number: usize, channel: &Channel, column: &StoredColumn) -> String {
    let grid = channel.grid.as_ref();
    let text = |value: Option<&String>| value.map(|text| plain(text)).unwrap_or_default();
    let (phase, circuit) = (grid.map(|grid| &grid.phase), grid.map(|grid| &grid.circuit));
    let unit = plain(&channel.unit.symbol);
    let skew_us = grid.map_or(0.0, |grid| grid.skew_s * 1e6);
    let (primary, secondary) = grid.map_or((1.0, 1.0), |grid| (grid.primary, grid.secondary));
    let scaling = match grid.and_then(|grid| grid.scaling) {
        Some(TransformerSide::Secondary) => 'S',
        Some(TransformerSide::Primary) | None => 'P',
    };
    let (multiplier, offset, limit) = (column.multiplier, column.offset, column.limit);
    let head = format!(
        "{number},{},{},{},{unit}",
        plain(&channel.name),
        text(phase),
        text(circuit)
    );
    let least = -limit;
    format!(
        "{head},{multiplier},{offset},{skew_us},{least},{limit},{primary},{secondary},{scaling}"
    )
}

fn digital_line(number: usize, channel: &Channel) -> String {
    let normal = match channel.kind {
        ChannelKind::Digital { normal: Some(true) } => 1,
        _ => 0,
    };
    let grid = channel.grid.as_ref();
    let phase = grid.map(|grid| plain(&grid.phase)).unwrap_or_default();
    let circuit = grid.map(|grid| plain(&grid.circuit)).unwrap_or_default();
    format!(
        "{number},{},{phase},{circuit},{normal}",
        plain(&channel.name)
    )
}

/// `dd/mm/yyyy,hh:mm:ss.ssssss`, or blank fields.
fn moment_line(moment: Option<StartTime>) -> String {
    match moment {
        None => ",".to_owned(),
        Some(t) => format!(
            "{:02}/{:02}/{:04},{:02}:{:02}:{:02}.{:06}",
            t.day,
            t.month,
            t.year,
            t.hour,
            t.minute,
            t.second,
            t.nanosecond / 1000
        ),
    }
}
