//! Time-stamped annotation lists of EDF+ and BDF+: onsets of data records, gaps, annotations.
//!
//! A list is `+onset[\x15duration]\x14text\x14text\x14\0`; the first list of a
//! data record has an empty first text and tells when the record starts.

use super::super::text::decode;
use super::super::{Annotation, ByteSource, FilePlace, Findings, Gap, ReadError};
use super::header::{Continuity, EdfHeader};

/// Between a text and the one channel it is about, as other programs write it too.
pub(super) const CHANNEL_MARK: &str = "@@";

/// When data records start, and what was noted.
#[derive(Debug, Default)]
pub(super) struct EdfTimeline {
    /// Onset of the first data record after the start in the header.
    pub(super) first_onset_s: f64,
    /// In order of time, counted from the first sample.
    pub(super) annotations: Vec<Annotation>,
    pub(super) gaps: Vec<Gap>,
}

/// Reads the annotation signals of all data records.
pub(super) fn read(
    bytes: &ByteSource,
    header: &EdfHeader,
    findings: &mut Findings,
) -> Result<EdfTimeline, ReadError> {
    let ranges: Vec<(u64, u64)> = header
        .signals
        .iter()
        .filter(|signal| signal.is_annotations && signal.samples_per_record > 0)
        .map(|signal| {
            let len = signal.samples_per_record * header.sample_bytes();
            (signal.offset_in_record, len)
        })
        .collect();
    if ranges.is_empty() {
        if header.continuity == Continuity::Discontinuous {
            findings.breach(
                FilePlace::Byte(192),
                "kind of file",
                "EDF+D without an annotation signal",
                "onsets of the data records",
                "gaps are unknown",
            )?;
        }
        return Ok(EdfTimeline::default());
    }
    let mut collector = Collector::new(bytes.len());
    visit_records(bytes, header, &ranges, |record, lists| {
        collector.take_record(record, lists, header, findings)
    })?;
    collector.finish(header, findings)
}

/// Hands the annotation bytes of each data record to `visit`.
///
/// Small records are read many at a time, of large ones only the annotations.
fn visit_records(
    bytes: &ByteSource,
    header: &EdfHeader,
    ranges: &[(u64, u64)],
    mut visit: impl FnMut(u64, &[&[u8]]) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    const BLOCK_BYTES: u64 = 1 << 20;
    // Copying more than this costs more than a call to the system.
    const SMALL_RECORD_BYTES: u64 = 1 << 12;
    let record_bytes = header.record_bytes();
    let offset_of = |record: u64| header.data_offset + record * record_bytes;
    if record_bytes > SMALL_RECORD_BYTES {
        for record in 0..header.n_records {
            let parts: Vec<Vec<u8>> = ranges
                .iter()
                .map(|&(start, len)| bytes.read_range(offset_of(record) + start, len))
                .collect::<Result<_, _>>()?;
            let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            visit(record, &parts)?;
        }
        return Ok(());
    }
    let per_block = BLOCK_BYTES / record_bytes;
    let mut first = 0;
    while first < header.n_records {
        let n = per_block.min(header.n_records - first);
        let block = bytes.read_range(offset_of(first), n * record_bytes)?;
        for (record, stored) in (first..).zip(block.chunks_exact(record_bytes as usize)) {
            let parts: Vec<&[u8]> = ranges
                .iter()
                .map(|&(start, len)| &stored[start as usize..(start + len) as usize])
                .collect();
            visit(record, &parts)?;
        }
        first += n;
    }
    Ok(())
}

/// Builds the timeline record by record.
struct Collector {
    timeline: EdfTimeline,
    previous_onset_s: Option<f64>,
    max_annotations: usize,
    n_seen: usize,
    n_dropped: usize,
}

impl Collector {
    fn new(file_bytes: u64) -> Self {
        Self {
            timeline: EdfTimeline::default(),
            previous_onset_s: None,
            max_annotations: Annotation::most_in(file_bytes),
            n_seen: 0,
            n_dropped: 0,
        }
    }

    fn take_record(
        &mut self,
        record: u64,
        signals: &[&[u8]],
        header: &EdfHeader,
        findings: &mut Findings,
    ) -> Result<(), ReadError> {
        let place = FilePlace::Byte(header.data_offset + record * header.record_bytes());
        let mut onset_s = None;
        for (position, signal) in signals.iter().enumerate() {
            let lists = signal
                .split(|&byte| byte == 0)
                .filter(|list| !list.is_empty());
            for (number, list) in lists.enumerate() {
                let Some(list) = List::parse(list) else {
                    let found = format!("\"{}\"", list[..list.len().min(24)].escape_ascii());
                    findings.breach(
                        place,
                        "annotation list",
                        found,
                        "+onset, texts, each ended by byte 20",
                        "skipped",
                    )?;
                    continue;
                };
                if position == 0 && number == 0 && list.is_onset() {
                    onset_s = Some(list.onset_s);
                }
                self.keep(&list);
            }
        }
        match onset_s {
            Some(onset_s) => self.advance(record, onset_s, header),
            None => {
                findings.breach(
                    place,
                    "onset of the data record",
                    "missing",
                    "a list with an empty text",
                    "taken to follow the record before",
                )?;
                let next = self.expected_onset_s(header).unwrap_or(0.0);
                self.advance(record, next, header);
            }
        }
        Ok(())
    }

    fn keep(&mut self, list: &List<'_>) {
        for text in list.texts() {
            let text = decode(text);
            let (text, channel) = match text.rsplit_once(CHANNEL_MARK) {
                Some((before, channel)) => (before.to_owned(), Some(channel.to_owned())),
                None => (text, None),
            };
            self.n_seen += 1;
            if self.n_seen > self.max_annotations {
                self.n_dropped += 1;
                continue;
            }
            if let (Some(channel), Some(last)) = (&channel, self.timeline.annotations.last_mut())
                && last.text == text
                && (last.onset_s, last.duration_s) == (list.onset_s, list.duration_s)
            {
                last.channels.push(channel.clone());
                continue;
            }
            self.timeline.annotations.push(Annotation {
                channels: Vec::from_iter(channel),
                ..Annotation::new(list.onset_s, list.duration_s, text)
            });
        }
    }

    fn expected_onset_s(&self, header: &EdfHeader) -> Option<f64> {
        self.previous_onset_s
            .map(|onset_s| onset_s + header.record_duration_s)
    }

    /// Notes a gap if the record does not start where the one before ended.
    fn advance(&mut self, record: u64, onset_s: f64, header: &EdfHeader) {
        if record == 0 {
            self.timeline.first_onset_s = onset_s;
        }
        if let Some(expected_s) = self.expected_onset_s(header)
            && header.record_duration_s > 0.0
            && (onset_s - expected_s).abs() > tolerance_s(header)
        {
            self.timeline.gaps.push(Gap {
                onset_s: to_nanosecond(expected_s - self.timeline.first_onset_s),
                duration_s: to_nanosecond(onset_s - expected_s),
            });
        }
        self.previous_onset_s = Some(onset_s);
    }

    fn finish(
        mut self,
        header: &EdfHeader,
        findings: &mut Findings,
    ) -> Result<EdfTimeline, ReadError> {
        if self.n_dropped > 0 {
            let dropped = format!(
                "{} more annotations than any recording has, skipped",
                self.n_dropped
            );
            findings.note(FilePlace::Byte(header.data_offset), dropped);
        }
        self.report_gaps(header, findings)?;
        let first_onset_s = self.timeline.first_onset_s;
        for annotation in &mut self.timeline.annotations {
            annotation.onset_s = to_nanosecond(annotation.onset_s - first_onset_s);
        }
        let by_onset = |a: &Annotation, b: &Annotation| a.onset_s.total_cmp(&b.onset_s);
        self.timeline.annotations.sort_by(by_onset);
        Ok(self.timeline)
    }

    fn report_gaps(&self, header: &EdfHeader, findings: &mut Findings) -> Result<(), ReadError> {
        let gaps = &self.timeline.gaps;
        let Some(first) = gaps.first() else {
            return Ok(());
        };
        let backward = gaps.iter().filter(|gap| gap.duration_s < 0.0).count();
        let place = FilePlace::Byte(header.data_offset);
        if header.continuity != Continuity::Discontinuous {
            findings.breach(
                place,
                "onsets of the data records",
                format!("{} breaks, the first at {:.3} s", gaps.len(), first.onset_s),
                "none in a continuous file",
                "kept as gaps",
            )?;
        }
        if backward > 0 {
            findings.breach(
                place,
                "onsets of the data records",
                format!("{backward} earlier than the end of the record before"),
                "in order of time",
                "kept as gaps of negative duration",
            )?;
        }
        Ok(())
    }
}

/// Differences of decimal numbers, without the noise of binary ones.
fn to_nanosecond(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
}

/// Onsets are often rounded to the millisecond.
fn tolerance_s(header: &EdfHeader) -> f64 {
    let fastest_hz = header
        .data_signals()
        .filter_map(|(_, signal)| header.rate_hz(signal))
        .fold(0.0, f64::max);
    let sample_s = if fastest_hz > 0.0 {
        1.0 / fastest_hz
    } else {
        0.0
    };
    sample_s.max(1e-3)
}

/// One list: texts noted at the same time.
struct List<'a> {
    onset_s: f64,
    duration_s: Option<f64>,
    /// The texts, each ended by byte 20.
    texts: &'a [u8],
}

impl<'a> List<'a> {
    fn parse(list: &'a [u8]) -> Option<Self> {
        let end_of_times = list.iter().position(|&byte| byte == 0x14)?;
        let mut times = list[..end_of_times].split(|&byte| byte == 0x15);
        let onset_s = parse_seconds(times.next()?)?;
        let duration_s = match times.next() {
            Some(text) if !text.is_empty() => Some(parse_seconds(text)?),
            _ => None,
        };
        Some(Self {
            onset_s,
            duration_s,
            texts: &list[end_of_times + 1..],
        })
    }

    /// Whether it tells the onset of its data record: the first text is empty.
    fn is_onset(&self) -> bool {
        matches!(self.texts.first(), None | Some(0x14))
    }

    fn texts(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let texts = self.texts.split(|&byte| byte == 0x14);
        texts.filter(|text| !text.is_empty())
    }
}

fn parse_seconds(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let seconds: f64 = text.parse().ok()?;
    seconds.is_finite().then_some(seconds)
}
