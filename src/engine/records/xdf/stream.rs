//! Streams of an XDF file: their headers, where their samples are, and their time stamps.

use std::ops::Range;

use super::super::text::decode;
use super::super::{ByteSource, FilePlace, Findings, Number, ReadError};

/// Most channels of a stream.
const MAX_CHANNELS: usize = 1 << 16;
/// Most streams of a file; every chunk looks for its own among them.
const MAX_STREAMS: usize = 4096;

/// A stream, its samples read when asked.
pub(super) struct Stream {
    id: u32,
    pub(super) name: String,
    /// What it carries, such as `EEG` or `Markers`.
    pub(super) kind: String,
    pub(super) n_channels: usize,
    /// The nominal rate; 0 for irregular streams.
    pub(super) rate_hz: f64,
    pub(super) channels: Vec<AboutChannel>,
    /// Whether samples may be missing, so that stamps must not be put on a line.
    pub(super) can_drop_samples: bool,
    pub(super) stamps_s: Vec<f64>,
    /// When the clock was compared, and its offset.
    pub(super) clock: Vec<(f64, f64)>,
    /// Stretches of samples without a break, known once stamps are corrected.
    pub(super) segments: Vec<Range<usize>>,
    pub(super) values: StreamValues,
    last_stamp_s: f64,
}

/// What the header says of a channel.
#[derive(Default)]
pub(super) struct AboutChannel {
    pub(super) label: String,
    pub(super) unit: String,
}

/// What a stream carries.
pub(super) enum StreamValues {
    Numbers {
        number: Number,
        chunks: Vec<XdfChunk>,
    },
    Texts(Vec<String>),
}

/// Samples written together.
pub(super) struct XdfChunk {
    /// Where the first of them starts.
    offset: u64,
    len: u64,
    first_sample: usize,
    n_samples: usize,
}

/// All streams of a file; what comes behind damage is left out with a warning.
pub(super) fn read_all(
    bytes: &ByteSource,
    findings: &mut Findings,
) -> Result<Vec<Stream>, ReadError> {
    let mut streams: Vec<Stream> = Vec::new();
    let mut at = 4;
    while at < bytes.len() {
        let chunk = match FileChunk::at(bytes, at) {
            Some(chunk) => chunk,
            None => {
                let expected = "a whole chunk";
                let found = "damaged or cut short";
                let assumed = "the rest of the file is left out";
                findings.breach(FilePlace::Byte(at), "chunk", found, expected, assumed)?;
                break;
            }
        };
        let content = ChunkBytes {
            bytes: bytes.read_range(chunk.offset, chunk.len)?,
            at: 0,
        };
        take_chunk(&chunk, content, &mut streams, findings)?;
        at = chunk.offset + chunk.len;
    }
    name_apart(&mut streams);
    Ok(streams)
}

/// Streams of one name get their numbers too.
fn name_apart(streams: &mut [Stream]) {
    for k in 1..streams.len() {
        let is_taken = streams[..k]
            .iter()
            .any(|other| other.name == streams[k].name);
        if is_taken {
            streams[k].name = format!("{} {}", streams[k].name, streams[k].id);
        }
    }
}

/// Where the content of a chunk lies, and what it is.
struct FileChunk {
    tag: u16,
    offset: u64,
    len: u64,
}

impl FileChunk {
    fn at(bytes: &ByteSource, at: u64) -> Option<Self> {
        let head = bytes.read_range(at, 11.min(bytes.len() - at)).ok()?;
        let mut head = ChunkBytes { bytes: head, at: 0 };
        let len = head.length()?;
        let tag = u16::from_le_bytes(head.array()?);
        let offset = at + head.at as u64;
        let len = len.checked_sub(2)?;
        let end = offset.checked_add(len)?;
        (end <= bytes.len()).then_some(Self { tag, offset, len })
    }
}

/// Bytes read one after the other.
struct ChunkBytes {
    bytes: Vec<u8>,
    at: usize,
}

impl ChunkBytes {
    fn take(&mut self, n: usize) -> Option<&[u8]> {
        let part = self.bytes.get(self.at..self.at.checked_add(n)?)?;
        self.at += n;
        Some(part)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    /// A number of 1, 4 or 8 bytes, as the first byte says.
    fn length(&mut self) -> Option<u64> {
        match self.array()? {
            [1] => self.array().map(|[byte]| u64::from(byte)),
            [4] => self
                .array()
                .map(|bytes| u64::from(u32::from_le_bytes(bytes))),
            [8] => self.array().map(u64::from_le_bytes),
            _ => None,
        }
    }

    /// A time stamp, if the sample has one of its own.
    fn stamp(&mut self) -> Option<Option<f64>> {
        match self.array()? {
            [0] => Some(None),
            [8] => self.array().map(f64::from_le_bytes).map(Some),
            _ => None,
        }
    }
}

/// Tags of chunks.
mod tag {
    pub(super) const HEADER: u16 = 2;
    pub(super) const SAMPLES: u16 = 3;
    pub(super) const CLOCK: u16 = 4;
}

fn take_chunk(
    chunk: &FileChunk,
    mut content: ChunkBytes,
    streams: &mut Vec<Stream>,
    findings: &mut Findings,
) -> Result<(), ReadError> {
    if ![tag::HEADER, tag::SAMPLES, tag::CLOCK].contains(&chunk.tag) {
        return Ok(());
    }
    let taken = content.array().map(u32::from_le_bytes).and_then(|id| {
        let place = streams.iter().position(|stream| stream.id == id);
        match (chunk.tag, place) {
            (tag::HEADER, None) if streams.len() < MAX_STREAMS => {
                let xml = decode(&content.bytes[content.at..]);
                streams.push(Stream::from_header(id, &xml)?);
                Some(())
            }
            (tag::SAMPLES, Some(place)) => streams[place].take_samples(chunk, &mut content),
            (tag::CLOCK, Some(place)) => {
                let time_s = f64::from_le_bytes(content.array()?);
                let offset_s = f64::from_le_bytes(content.array()?);
                let is_usable = time_s.is_finite() && offset_s.is_finite();
                is_usable.then(|| streams[place].clock.push((time_s, offset_s)))
            }
            _ => None,
        }
    });
    if taken.is_none() {
        let found = format!("unreadable (kind {})", chunk.tag);
        let expected = "a header, then samples and clock offsets of its stream";
        findings.breach(
            FilePlace::Byte(chunk.offset),
            "chunk",
            found,
            expected,
            "left out",
        )?;
    }
    Ok(())
}

impl Stream {
    fn from_header(id: u32, xml: &str) -> Option<Self> {
        let description = xml.find("<desc>").unwrap_or(xml.len());
        let field = |name: &str| element(&xml[..description], name).or_else(|| element(xml, name));
        let n_channels = field("channel_count")?.trim().parse().ok()?;
        let rate_hz: f64 = field("nominal_srate")?.trim().parse().ok()?;
        let values = match field("channel_format")?.trim() {
            "string" => StreamValues::Texts(Vec::new()),
            name => StreamValues::Numbers {
                number: number_of(name)?,
                chunks: Vec::new(),
            },
        };
        let about = elements(&xml[description..], "channel").take(MAX_CHANNELS);
        let is_usable = (1..=MAX_CHANNELS).contains(&n_channels) && rate_hz.is_finite();
        is_usable.then(|| Self {
            id,
            name: field("name").unwrap_or_default(),
            kind: field("type").unwrap_or_default(),
            n_channels,
            rate_hz: rate_hz.max(0.0),
            channels: about.map(about_channel).collect(),
            can_drop_samples: element(xml, "can_drop_samples").is_some_and(|s| s == "true"),
            stamps_s: Vec::new(),
            clock: Vec::new(),
            segments: Vec::new(),
            values,
            last_stamp_s: 0.0,
        })
    }

    /// The texts of a stream of texts.
    pub(super) fn texts(&self) -> &[String] {
        match &self.values {
            StreamValues::Texts(texts) => texts,
            StreamValues::Numbers { .. } => &[],
        }
    }

    fn next_stamp(&mut self, stamp: Option<f64>) -> f64 {
        let step_s = if self.rate_hz > 0.0 {
            1.0 / self.rate_hz
        } else {
            0.0
        };
        let own = stamp.filter(|stamp_s| stamp_s.is_finite());
        self.last_stamp_s = own.unwrap_or(self.last_stamp_s + step_s);
        self.last_stamp_s
    }

    /// Notes the stamps of a chunk, its texts, or where its numbers are; nothing of a chunk that ends early.
    fn take_samples(&mut self, chunk: &FileChunk, content: &mut ChunkBytes) -> Option<()> {
        let n_samples = usize::try_from(content.length()?).ok()?;
        let (start, before) = (content.at, self.stamps_s.len());
        let is_whole = (0..n_samples).all(|_| self.take_sample(content).is_some());
        if !is_whole {
            self.stamps_s.truncate(before);
            if let StreamValues::Texts(texts) = &mut self.values {
                texts.truncate(before);
            }
            return None;
        }
        if let StreamValues::Numbers { chunks, .. } = &mut self.values
            && n_samples > 0
        {
            chunks.push(XdfChunk {
                offset: chunk.offset + start as u64,
                len: (content.at - start) as u64,
                first_sample: before,
                n_samples,
            });
        }
        Some(())
    }

    fn take_sample(&mut self, content: &mut ChunkBytes) -> Option<()> {
        let stamp = content.stamp()?;
        match &mut self.values {
            StreamValues::Numbers { number, .. } => {
                content.take(self.n_channels * number.bytes())?;
            }
            StreamValues::Texts(texts) => {
                let mut joined = String::new();
                for channel in 0..self.n_channels {
                    let len = usize::try_from(content.length()?).ok()?;
                    let text = decode(content.take(len)?);
                    joined += if channel == 0 || text.is_empty() {
                        ""
                    } else {
                        ", "
                    };
                    joined += &text;
                }
                texts.push(joined);
            }
        }
        let stamp_s = self.next_stamp(stamp);
        self.stamps_s.push(stamp_s);
        Some(())
    }

    /// Fills `out` with samples of a channel.
    pub(super) fn read(
        &self,
        bytes: &ByteSource,
        channel: usize,
        first: usize,
        out: &mut [f64],
    ) -> Result<(), ReadError> {
        let StreamValues::Numbers { number, chunks } = &self.values else {
            return Ok(());
        };
        let wanted = first..first + out.len();
        let start = chunks.partition_point(|c| c.first_sample + c.n_samples <= first);
        for chunk in &chunks[start..] {
            if chunk.first_sample >= wanted.end {
                break;
            }
            let mut content = ChunkBytes {
                bytes: bytes.read_range(chunk.offset, chunk.len)?,
                at: 0,
            };
            for sample in chunk.first_sample..chunk.first_sample + chunk.n_samples {
                let values = content
                    .stamp()
                    .and_then(|_| content.take(self.n_channels * number.bytes()));
                // Chunks were walked before they were noted.
                let Some(values) = values else { break };
                if wanted.contains(&sample) {
                    let own = &values[channel * number.bytes()..];
                    out[sample - first] = number.decode(own, false);
                }
            }
        }
        Ok(())
    }
}

fn number_of(name: &str) -> Option<Number> {
    Some(match name {
        "int8" => Number::Int8,
        "int16" => Number::Int16,
        "int32" => Number::Int32,
        "int64" => Number::Int64,
        "float32" => Number::Float32,
        "double64" | "float64" => Number::Float64,
        _ => return None,
    })
}

fn about_channel(xml: &str) -> AboutChannel {
    AboutChannel {
        label: element(xml, "label").unwrap_or_default(),
        unit: element(xml, "unit").unwrap_or_default(),
    }
}

/// The text of the first element of a name; headers have no attributes that matter here.
fn element(xml: &str, name: &str) -> Option<String> {
    elements(xml, name).next().map(unescaped)
}

/// What stands between the tags of a name, one after the other.
fn elements<'a>(xml: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = xml;
    std::iter::from_fn(move || {
        let start = rest.find(&open)? + open.len();
        let end = start + rest[start..].find(&close)?;
        let inside = &rest[start..end];
        rest = &rest[end..];
        Some(inside)
    })
}

fn unescaped(text: &str) -> String {
    let text = text.trim();
    if !text.contains('&') {
        return text.to_owned();
    }
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}
