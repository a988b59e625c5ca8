//! Raw recordings in FIF, the format of Neuromag and MNE: tags of kind, type and length, nested in blocks.
//!
//! Channels are described in the block of measurement information; samples lie in buffers of the raw data, all
//! channels of each time together, big-endian. MNE adds annotations in a block of their own.

use std::sync::Arc;

use super::block_samples::{Block, BlockSamples};
use super::text::{decode, decode_field};
use super::{
    Annotation, ByteSource, Channel, FilePlace, Findings, Format, Gap, Input, Kind, Number,
    ReadError, ReadOptions, Record, Source, StartTime, Unit,
};

const TAG_BYTES: u64 = 16;
/// Bytes that describe a channel.
const CHANNEL_BYTES: usize = 96;

/// Kinds of tags.
mod kind {
    pub(super) const FILE_ID: i32 = 100;
    pub(super) const REFERENCE_ROLE: i32 = 115;
    pub(super) const REFERENCE_NAME: i32 = 118;
    pub(super) const BLOCK_START: i32 = 104;
    pub(super) const BLOCK_END: i32 = 105;
    pub(super) const N_CHANNELS: i32 = 200;
    pub(super) const RATE: i32 = 201;
    pub(super) const CHANNEL: i32 = 203;
    pub(super) const DATE: i32 = 204;
    pub(super) const COMMENT: i32 = 206;
    pub(super) const FIRST_SAMPLE: i32 = 208;
    pub(super) const DATA_BUFFER: i32 = 300;
    pub(super) const DATA_SKIP: i32 = 301;
    pub(super) const SPAN_START: i32 = 3568;
    pub(super) const SPAN_END: i32 = 3569;
    pub(super) const SPAN_CHANNELS: i32 = 3801;
}

/// Kinds of blocks.
mod block {
    pub(super) const MEASUREMENT: i32 = 101;
    pub(super) const RAW: [i32; 3] = [102, 112, 119];
    pub(super) const REFERENCE: i32 = 118;
    pub(super) const ANNOTATIONS: i32 = 3810;
}

/// The role of a file that holds what follows.
const NEXT_FILE: f64 = 2.0;

/// Whether these bytes start a FIF file.
pub fn is_certain(head: &[u8]) -> bool {
    // The file id comes first: kind 100, type 31 (id), 20 bytes.
    head.starts_with(&[0, 0, 0, 100, 0, 0, 0, 31, 0, 0, 0, 20])
}

/// Reads the description of a raw recording; samples when asked.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let mut findings = Findings::new(input.path(), options.mode);
    let mut file = RawFile::default();
    file.walk(&input.bytes, &findings)?;
    file.into_record(input, &mut findings)
}

/// A tag: what, how stored, where, how long.
struct Tag {
    kind: i32,
    number: i32,
    at: u64,
    size: u64,
}

impl Tag {
    /// The tag at `at`, and where the next one is, if there is one.
    fn read(
        bytes: &ByteSource,
        at: u64,
        findings: &Findings,
    ) -> Result<(Self, Option<u64>), ReadError> {
        let head = bytes.read_range(at, TAG_BYTES)?;
        let field = |k: usize| {
            let field = head.get(4 * k..4 * k + 4).and_then(|b| b.try_into().ok());
            i32::from_be_bytes(field.unwrap_or_default())
        };
        let refuse = |name: &str, found: i32, expected: &str| {
            findings.refusal(FilePlace::Byte(at), name, found, expected)
        };
        let size = u64::try_from(field(2)).ok();
        let inside = size.filter(|size| at + TAG_BYTES + size <= bytes.len());
        let size =
            inside.ok_or_else(|| refuse("length of a tag", field(2), "bytes that the file has"))?;
        let tag = Self {
            kind: field(0),
            number: field(1),
            at: at + TAG_BYTES,
            size,
        };
        let following = at + TAG_BYTES + size;
        let next = match field(3) {
            0 => Some(following).filter(|next| next + TAG_BYTES <= bytes.len()),
            // Only forward, so that no file has a walk without end.
            next if next > 0 && next as u64 >= following => Some(next as u64),
            -1 => None,
            next => return Err(refuse("place of the next tag", next, "one behind this tag")),
        };
        Ok((tag, next))
    }

    fn bytes(&self, bytes: &ByteSource) -> Result<Vec<u8>, ReadError> {
        bytes.read_range(self.at, self.size)
    }

    /// The numbers stored in it; none if they are of another type.
    fn numbers(&self, bytes: &ByteSource) -> Result<Vec<f64>, ReadError> {
        let Some(number) = number_of(self.number) else {
            return Ok(Vec::new());
        };
        let stored = self.bytes(bytes)?;
        let each = stored.chunks_exact(number.bytes());
        Ok(each.map(|stored| number.decode(stored, true)).collect())
    }
}

fn number_of(code: i32) -> Option<Number> {
    Some(match code {
        2 | 16 => Number::Int16,
        3 => Number::Int32,
        4 => Number::Float32,
        5 => Number::Float64,
        _ => return None,
    })
}

/// A channel as described in the file.
struct FifChannel {
    name: String,
    unit: Unit,
    /// What the stored 1 stands for.
    step: f64,
}

/// What is found on the walk through the tags.
#[derive(Default)]
struct RawFile {
    n_channels: Option<f64>,
    rate_hz: f64,
    date: Vec<f64>,
    channels: Vec<FifChannel>,
    first_sample: f64,
    /// Buffers (with their number type), and breaks of so many buffers.
    parts: Vec<Part>,
    onsets_s: Vec<f64>,
    ends_s: Vec<f64>,
    texts: Vec<String>,
    about: Vec<Vec<String>>,
    /// Whether the file last named holds what follows, and the name of the one that does.
    goes_on: bool,
    next_file: Option<String>,
}

enum Part {
    Buffer { at: u64, size: u64, number: Number },
    Skip { n_buffers: f64 },
}

impl RawFile {
    fn walk(&mut self, bytes: &ByteSource, findings: &Findings) -> Result<(), ReadError> {
        let mut blocks: Vec<i32> = Vec::new();
        let mut at = Some(0);
        while let Some(place) = at {
            let (tag, next) = Tag::read(bytes, place, findings)?;
            at = next;
            match tag.kind {
                kind::BLOCK_START if blocks.len() < 64 => {
                    let block = tag.numbers(bytes)?;
                    blocks.push(block.first().map_or(0, |&block| block as i32));
                }
                kind::BLOCK_END => drop(blocks.pop()),
                kind::FILE_ID => {}
                _ => self.take(&tag, blocks.last().copied(), bytes, findings)?,
            }
        }
        Ok(())
    }

    fn take(
        &mut self,
        tag: &Tag,
        within: Option<i32>,
        bytes: &ByteSource,
        findings: &Findings,
    ) -> Result<(), ReadError> {
        let first = |tag: &Tag| -> Result<f64, ReadError> {
            Ok(tag.numbers(bytes)?.first().copied().unwrap_or(0.0))
        };
        match (within, tag.kind) {
            (Some(block::MEASUREMENT), kind::N_CHANNELS) => self.n_channels = Some(first(tag)?),
            (Some(block::MEASUREMENT), kind::RATE) => self.rate_hz = first(tag)?,
            (Some(block::MEASUREMENT), kind::DATE) => self.date = tag.numbers(bytes)?,
            (Some(block::MEASUREMENT), kind::CHANNEL) => {
                let stored = tag.bytes(bytes)?;
                self.channels.push(channel(&stored, tag, findings)?);
            }
            (Some(within), kind) if block::RAW.contains(&within) => match kind {
                kind::FIRST_SAMPLE => self.first_sample = first(tag)?,
                kind::DATA_SKIP => {
                    let n_buffers = first(tag)?;
                    self.parts.push(Part::Skip { n_buffers });
                }
                kind::DATA_BUFFER => {
                    let number = number_of(tag.number).ok_or_else(|| {
                        let place = FilePlace::Byte(tag.at);
                        let expected = "16- or 32-bit integers or floating numbers";
                        findings.refusal(place, "type of a data buffer", tag.number, expected)
                    })?;
                    self.parts.push(Part::Buffer {
                        at: tag.at,
                        size: tag.size,
                        number,
                    });
                }
                _ => {}
            },
            (Some(block::REFERENCE), kind::REFERENCE_ROLE) => {
                self.goes_on = first(tag)? == NEXT_FILE;
            }
            (Some(block::REFERENCE), kind::REFERENCE_NAME) if self.goes_on => {
                self.next_file = Some(decode(&tag.bytes(bytes)?));
            }
            (Some(block::ANNOTATIONS), kind::SPAN_START) => self.onsets_s = tag.numbers(bytes)?,
            (Some(block::ANNOTATIONS), kind::SPAN_END) => self.ends_s = tag.numbers(bytes)?,
            (Some(block::ANNOTATIONS), kind::COMMENT) => {
                // Texts are joined by colons; one of their own is spelt out.
                let joined = decode(&tag.bytes(bytes)?);
                let most = Annotation::most_in(tag.size);
                let each = joined.split(':').take(most);
                self.texts = each.map(|text| text.replace("{COLON}", ":")).collect();
            }
            (Some(block::ANNOTATIONS), kind::SPAN_CHANNELS) => {
                self.about = serde_json::from_slice(&tag.bytes(bytes)?).unwrap_or_default();
            }
            _ => {}
        }
        Ok(())
    }

    fn into_record(self, input: &Input, findings: &mut Findings) -> Result<Record, ReadError> {
        let n_channels = self.channels.len();
        if n_channels == 0 || self.n_channels != Some(n_channels as f64) {
            let found = format!(
                "{n_channels} of {} described",
                self.n_channels.unwrap_or(0.0)
            );
            let expected = "all channels described, at least one";
            return Err(findings.refusal(FilePlace::File, "channels", found, expected));
        }
        if !(self.rate_hz.is_finite() && self.rate_hz > 0.0) {
            let expected = "a positive number";
            return Err(findings.refusal(FilePlace::File, "sampling rate", self.rate_hz, expected));
        }
        if let Some(next) = &self.next_file {
            let text = format!(
                "the recording goes on in {next}, which is not read with it: this is the first part; for the whole, save it in MNE as one file of up to 2 GB, or as EDF"
            );
            findings.note(FilePlace::File, text);
        }
        let (blocks, gaps, n_before) = self.layout(findings);
        if blocks.is_empty() {
            return Err(ReadError::Unsupported {
                path: input.path().to_owned(),
                what: "FIF without raw data (epochs, averages, solutions)".to_owned(),
                remedy: "save the raw recording, in MNE with raw.save(…_raw.fif)".to_owned(),
            });
        }
        let n_samples = blocks
            .last()
            .map_or(0, |last| last.first_sample + last.n_samples);
        let first_s = (self.first_sample + n_before) / self.rate_hz;
        let channels = self.channels.iter().map(|channel| {
            let unit = channel.unit.clone();
            Channel::analog(channel.name.as_str(), unit, Some(self.rate_hz), n_samples)
        });
        let samples = BlockSamples {
            bytes: input.bytes.clone(),
            is_big_endian: true,
            blocks,
            frame_len: n_channels,
            lines: self
                .channels
                .iter()
                .map(|channel| (0.0, channel.step))
                .collect(),
        };
        let source = Source::new(input.path(), input.bytes.len());
        let mut record = Record::new(
            Format::Fif,
            Kind::Recording,
            source,
            channels.collect(),
            Arc::new(samples),
        );
        record.start = self.start(first_s);
        record.gaps = gaps;
        record.annotations = self.annotations(first_s);
        record.warnings = std::mem::replace(findings, Findings::new(input.path(), findings.mode()))
            .into_warnings();
        Ok(record)
    }

    /// Buffers as blocks, skips as gaps, and the samples left out before the first buffer.
    fn layout(&self, findings: &mut Findings) -> (Vec<Block>, Vec<Gap>, f64) {
        let frame_len = self.channels.len() as u64;
        let (mut blocks, mut gaps): (Vec<Block>, Vec<Gap>) = (Vec::new(), Vec::new());
        let (mut first_sample, mut lost_s, mut n_before) = (0, 0.0, 0.0);
        let mut skipped = 0.0;
        for part in &self.parts {
            let (at, size, number) = match part {
                Part::Skip { n_buffers } => {
                    skipped += n_buffers.max(0.0);
                    continue;
                }
                Part::Buffer { at, size, number } => (*at, *size, *number),
            };
            let n_samples = (size / (frame_len * number.bytes() as u64)) as usize;
            // Skips count in buffers of the size that follows.
            let n_skipped = skipped * n_samples as f64;
            if n_skipped > 0.0 && blocks.is_empty() {
                n_before = n_skipped;
            } else if n_skipped > 0.0 {
                let duration_s = n_skipped / self.rate_hz;
                gaps.push(Gap {
                    onset_s: first_sample as f64 / self.rate_hz + lost_s,
                    duration_s,
                });
                lost_s += duration_s;
            }
            skipped = 0.0;
            if n_samples > 0 {
                blocks.push(Block {
                    offset: at,
                    first_sample,
                    n_samples,
                    number,
                });
                first_sample += n_samples;
            }
        }
        if !gaps.is_empty() {
            findings.note(
                FilePlace::File,
                format!("the recording was paused {} times", gaps.len()),
            );
        }
        (blocks, gaps, n_before)
    }

    /// Seconds and microseconds since 1970, and what the first sample comes after.
    fn start(&self, first_s: f64) -> Option<StartTime> {
        let [seconds, microseconds] = self.date[..] else {
            return None;
        };
        let epoch = StartTime::new((1970, 1, 1), (0, 0, 0), 0)?;
        let start = epoch
            .plus_seconds(seconds)?
            .plus_seconds(microseconds / 1e6)?;
        start.plus_seconds(first_s)
    }

    fn annotations(&self, first_s: f64) -> Vec<Annotation> {
        let spans = self.onsets_s.iter().zip(&self.ends_s).zip(&self.texts);
        let annotation = |(k, ((onset_s, end_s), text)): (usize, ((&f64, &f64), &String))| {
            let lasts = Some(end_s - onset_s).filter(|duration_s| *duration_s > 0.0);
            Annotation {
                channels: self.about.get(k).cloned().unwrap_or_default(),
                ..Annotation::new(onset_s - first_s, lasts, text.as_str())
            }
        };
        let mut annotations: Vec<Annotation> = spans.enumerate().map(annotation).collect();
        annotations.retain(|annotation| annotation.onset_s.is_finite());
        annotations.sort_by(|a, b| a.onset_s.total_cmp(&b.onset_s));
        annotations
    }
}

/// Range, calibration, unit and name among the 96 bytes of a channel.
fn channel(stored: &[u8], tag: &Tag, findings: &Findings) -> Result<FifChannel, ReadError> {
    if stored.len() < CHANNEL_BYTES {
        let found = format!("{} bytes", stored.len());
        let expected = format!("{CHANNEL_BYTES} bytes");
        return Err(findings.refusal(FilePlace::Byte(tag.at), "channel", found, expected));
    }
    let number = |number: Number, at: usize| number.decode(&stored[at..], true);
    let step = number(Number::Float32, 12) * number(Number::Float32, 16);
    let multiplier = number(Number::Int32, 76).clamp(-24.0, 24.0) as i32;
    let unit = match number(Number::Int32, 72) as i32 {
        107 => "V",
        112 => "T",
        201 => "T/m",
        _ => "",
    };
    let name = &stored[80..CHANNEL_BYTES];
    let end = name
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(name.len());
    Ok(FifChannel {
        name: decode_field(&name[..end]),
        unit: Unit::parse(unit),
        step: step * 10f64.powi(multiplier),
    })
}
