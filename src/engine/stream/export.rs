//! A recorded stream as EDF+, the decisions as annotations.
//!
//! Data records of one second lie on a grid from the start of the stream. Those in which nothing was received are left
//! out; what is missing inside the others is written as 0 and annotated, as are values that are no numbers. Memory is
//! bounded by one chunk of the recording.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::StreamError;
use super::recorder::StreamFacts;
use super::replay::{chunks_of, gaps_of, read_chunk, read_facts};
use crate::records::edf::{SampleWidth, covering, write};
use crate::records::{
    Annotation, Channel, Format, Gap, Kind, Quantisation, ReadError, Record, SampleSource, Source,
    StartTime,
};

/// Writes the recorded stream in a folder as EDF+, or as BDF+ where the path ends in `.bdf`.
pub fn export_recorded(folder: &Path, path: &Path) -> Result<(), StreamError> {
    let width = match path.extension() {
        Some(ending) if ending.eq_ignore_ascii_case("bdf") => SampleWidth::Bdf,
        _ => SampleWidth::Edf,
    };
    let facts = read_facts(folder)?;
    let mut annotations = decisions(folder)?;
    annotations.extend(alarms(folder));
    let record = Recorded::survey(folder, &facts, width)?.record(&facts, annotations);
    let part = path.with_extension("part");
    let written = File::create(&part).and_then(|file| {
        let mut out = BufWriter::new(file);
        write(&record, width, &mut out)?;
        out.flush()?;
        fs::rename(&part, path)
    });
    written.map_err(|source| {
        drop(fs::remove_file(&part));
        StreamError::io("write the recorded stream", path, source)
    })
}

/// A chunk: its file and its first frame.
#[derive(Clone, Debug)]
struct FrameChunk {
    path: PathBuf,
    first: u64,
}

/// A stretch without a gap: its place on the grid of samples, its first frame, its frames.
#[derive(Clone, Copy, Debug)]
struct GaplessRun {
    place: u64,
    first: u64,
    n_frames: u64,
}

/// The chunks of a recorded stream, read one at a time.
struct Recorded {
    chunks: Vec<FrameChunk>,
    stretches: Vec<GaplessRun>,
    /// Data records that are written, by their second on the grid.
    seconds: Vec<u64>,
    per_record: u64,
    n_channels: usize,
    scales: Vec<Quantisation>,
    gaps: Vec<(u64, f64)>,
    /// Frames in which some value is no number, and how many follow.
    without_number: Vec<(u64, u64)>,
    at_hand: Mutex<Option<(usize, Vec<f64>)>>,
}

impl Recorded {
    /// One pass over the chunks: their lengths, the range of every channel, values that are none.
    fn survey(folder: &Path, facts: &StreamFacts, width: SampleWidth) -> Result<Self, StreamError> {
        let n_channels = facts.names.len().max(1);
        let mut largest = vec![0.0_f64; n_channels];
        let mut without_number: Vec<(u64, u64)> = Vec::new();
        let mut chunks = Vec::new();
        let mut n_total = 0u64;
        for path in chunks_of(folder)? {
            let values = read_chunk(&path)?;
            for (number, frame) in (n_total..).zip(values.chunks_exact(n_channels)) {
                for (largest, value) in largest.iter_mut().zip(frame) {
                    *largest = largest.max(if value.is_finite() { value.abs() } else { 0.0 });
                }
                if frame.iter().any(|value| !value.is_finite()) {
                    match without_number.last_mut() {
                        Some((first, n_frames)) if *first + *n_frames == number => *n_frames += 1,
                        _ => without_number.push((number, 1)),
                    }
                }
            }
            chunks.push(FrameChunk {
                path,
                first: n_total,
            });
            n_total += (values.len() / n_channels) as u64;
        }
        let gaps: Vec<(u64, f64)> = gaps_of(folder).into();
        let stretches = stretches(n_total, &gaps, facts.rate_hz);
        let per_record = facts.rate_hz.round().max(1.0) as u64;
        let seconds = stretches.iter().flat_map(|stretch| {
            let end = stretch.place + stretch.n_frames;
            stretch.place / per_record..end.div_ceil(per_record)
        });
        let mut seconds: Vec<u64> = seconds.collect();
        seconds.dedup();
        Ok(Self {
            chunks,
            stretches,
            seconds,
            per_record,
            n_channels,
            scales: largest.iter().map(|most| covering(*most, width)).collect(),
            gaps,
            without_number,
            at_hand: Mutex::new(None),
        })
    }

    /// The time of a frame on the grid.
    fn time_s(&self, frame: u64, rate_hz: f64) -> f64 {
        let holds = |stretch: &&GaplessRun| stretch.first <= frame;
        let stretch = self.stretches.iter().rev().find(holds);
        stretch.map_or(0.0, |stretch| {
            (stretch.place + frame - stretch.first) as f64 / rate_hz
        })
    }

    fn record(self, facts: &StreamFacts, mut annotations: Vec<Annotation>) -> Record {
        let rate_hz = facts.rate_hz;
        // The stream may have run for a while before the first recorded frame came.
        let first_s = self.time_s(0, rate_hz);
        for (frame, lost_s) in self.gaps.iter().filter(|(frame, _)| *frame > 0) {
            let onset_s = (self.time_s(*frame, rate_hz) - lost_s).max(0.0);
            let text = match *lost_s > 0.0 {
                true => "samples lost",
                false => "samples lost, it is not known how many",
            };
            annotations.push(Annotation::new(onset_s, Some(*lost_s), text));
        }
        for (frame, n_frames) in &self.without_number {
            let (onset_s, text) = (self.time_s(*frame, rate_hz), "values that are no numbers");
            let duration_s = *n_frames as f64 / rate_hz;
            annotations.push(Annotation::new(onset_s, Some(duration_s), text));
        }
        annotations.sort_by(|a, b| a.onset_s.total_cmp(&b.onset_s));
        let first_second = self.seconds.first().copied().unwrap_or(0);
        let record_s = self.per_record as f64 / rate_hz;
        let begin_s = first_second as f64 * record_s;
        for annotation in &mut annotations {
            annotation.onset_s = (annotation.onset_s - begin_s).max(0.0);
        }
        let mut gaps = Vec::new();
        for pair in self.seconds.windows(2).filter(|pair| pair[1] > pair[0] + 1) {
            gaps.push(Gap {
                onset_s: (pair[0] + 1 - first_second) as f64 * record_s,
                duration_s: (pair[1] - pair[0] - 1) as f64 * record_s,
            });
        }
        let n_samples = self.seconds.len() * self.per_record as usize;
        let channels = facts.channels().into_iter();
        let channels: Vec<Channel> = channels
            .map(|channel| Channel {
                n_samples,
                ..channel
            })
            .collect();
        let source = Source::new(Path::new("stream"), 0);
        let mut record = Record::new(
            Format::EdfPlusC,
            Kind::Recording,
            source,
            channels,
            Arc::new(self),
        );
        record.start = facts
            .begun
            .as_deref()
            .and_then(start_time)
            .and_then(|begun| begun.plus_seconds(begin_s - first_s));
        (record.gaps, record.annotations) = (gaps, annotations);
        record
    }

    /// The frame at a place of the grid.
    fn frame_at(&self, place: u64) -> Option<u64> {
        let after = self.stretches.partition_point(|s| s.place <= place);
        let stretch = self.stretches.get(after.checked_sub(1)?)?;
        let inside = place - stretch.place;
        (inside < stretch.n_frames).then_some(stretch.first + inside)
    }

    fn value(
        &self,
        at_hand: &mut Option<(usize, Vec<f64>)>,
        frame: u64,
        channel: usize,
    ) -> Result<f64, ReadError> {
        let after = self.chunks.partition_point(|chunk| chunk.first <= frame);
        let number = after.saturating_sub(1);
        if at_hand.as_ref().map(|(known, _)| *known) != Some(number) {
            let values = read_chunk(&self.chunks[number].path)?;
            *at_hand = Some((number, values));
        }
        let inside = (frame - self.chunks[number].first) as usize;
        let values = at_hand.as_ref().map(|(_, values)| values.as_slice());
        let value = values.and_then(|values| values.get(inside * self.n_channels + channel));
        Ok(value.copied().filter(|v| v.is_finite()).unwrap_or(0.0))
    }
}

impl SampleSource for Recorded {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let mut at_hand = self.at_hand.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, value) in (first as u64..).zip(out.iter_mut()) {
            let second = self.seconds.get((number / self.per_record) as usize);
            let place = second.map(|second| second * self.per_record + number % self.per_record);
            *value = match place.and_then(|place| self.frame_at(place)) {
                Some(frame) => self.value(&mut at_hand, frame, channel)?,
                None => 0.0,
            };
        }
        Ok(())
    }

    fn quantisation(&self, channel: usize) -> Option<Quantisation> {
        self.scales.get(channel).copied()
    }
}

/// Where the frames between gaps lie on the grid of samples.
fn stretches(n_frames: u64, gaps: &[(u64, f64)], rate_hz: f64) -> Vec<GaplessRun> {
    let mut stretches = Vec::new();
    let (mut place, mut first) = (0, 0);
    let ends = gaps.iter().map(|(frame, lost_s)| (*frame, *lost_s));
    for (end, lost_s) in ends.chain([(n_frames, 0.0)]) {
        let end = end.clamp(first, n_frames);
        if end > first {
            stretches.push(GaplessRun {
                place,
                first,
                n_frames: end - first,
            });
        }
        place += end - first + (lost_s.max(0.0) * rate_hz).round() as u64;
        first = end;
    }
    stretches
}

/// The decisions of the recording as annotations as long as the time from one to the next.
fn decisions(folder: &Path) -> Result<Vec<Annotation>, StreamError> {
    let path = folder.join("decisions.csv");
    let cannot = |error: csv::Error| {
        StreamError::io("read the decisions", &path, std::io::Error::other(error))
    };
    let mut reader = csv::ReaderBuilder::new();
    let mut rows = reader.flexible(true).from_path(&path).map_err(cannot)?;
    let n_cells = rows.headers().map_err(cannot)?.len();
    let mut decided: Vec<(f64, String)> = Vec::new();
    for row in rows.records() {
        let row = row.map_err(cannot)?;
        // A full disk may have cut the last row off.
        if row.len() < n_cells {
            continue;
        }
        let field = |at: usize| row.get(at).unwrap_or_default();
        let margin: f64 = field(5).parse().unwrap_or(f64::NAN);
        if let Ok(start_s) = field(3).parse() {
            let text = format!("decided: {} (margin {margin:.3})", field(4));
            decided.push((start_s, text));
        }
    }
    let steps = decided.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let hop_s = steps
        .filter(|step| *step > 0.0)
        .min_by(f64::total_cmp)
        .filter(|step| step.is_finite());
    let annotation = |(start_s, text)| Annotation::new(start_s, hop_s, text);
    Ok(decided.into_iter().map(annotation).collect())
}

/// The changes that were noticed.
fn alarms(folder: &Path) -> Vec<Annotation> {
    let text = fs::read_to_string(folder.join("alarms.csv")).unwrap_or_default();
    let alarm = |line: &str| {
        let (start_s, sentence) = line.split_once(',')?;
        Some(Annotation::new(start_s.parse().ok()?, None, sentence))
    };
    text.lines().filter_map(alarm).collect()
}

/// `2026-01-31T12:00:00.000Z`.
fn start_time(text: &str) -> Option<StartTime> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u16>().ok();
    let small = |range| u8::try_from(number(range)?).ok();
    let date = (number(0..4)?, small(5..7)?, small(8..10)?);
    let time = (small(11..13)?, small(14..16)?, small(17..19)?);
    StartTime::new(date, time, u32::from(number(20..23)?) * 1_000_000)
}
