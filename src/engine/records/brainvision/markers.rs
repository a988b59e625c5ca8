//! Markers of a BrainVision recording: annotations, the start, and breaks between segments.

use super::super::ini::{Entry, Ini, fields};
use super::super::text::{decode, quoted};
use super::super::{Annotation, ByteSource, FilePlace, Findings, Gap, Mode, ReadError, StartTime};

/// What the marker file says.
#[derive(Debug, Default)]
pub(super) struct MarkedTimeline {
    pub(super) start: Option<StartTime>,
    pub(super) annotations: Vec<Annotation>,
    pub(super) gaps: Vec<Gap>,
}

/// One `Mk…=type,description,position,size,channel,date` line.
struct Marker {
    kind: String,
    description: String,
    /// From 0; the file counts from 1.
    position: u64,
    size: u64,
    date: Option<StartTime>,
    line: usize,
}

pub(super) fn read(
    bytes: &ByteSource,
    rate_hz: f64,
    n_samples: usize,
    mode: Mode,
    header_findings: &mut Findings,
) -> Result<MarkedTimeline, ReadError> {
    let mut findings = Findings::new(bytes.path(), mode);
    let mut timeline = MarkedTimeline::default();
    let mut segment: Option<Marker> = None;
    let text = decode(&bytes.read_all()?);
    let most = Annotation::most_in(bytes.len());
    let entries = Ini::new(&text).section("marker infos");
    for entry in entries.filter(|entry| entry.number_after("mk").is_some()) {
        let Some(marker) = read_marker(&entry, &mut findings)? else {
            continue;
        };
        if marker.position >= n_samples as u64 {
            findings.breach(
                FilePlace::Line(entry.line),
                "marker position",
                marker.position + 1,
                format!("at most {n_samples}, the last sample"),
                "skipped",
            )?;
            continue;
        }
        let is_segment = marker.kind.eq_ignore_ascii_case("New Segment");
        // The first segment is the recording itself: it tells when it starts.
        let is_start = is_segment && segment.is_none() && marker.position == 0;
        if !is_start && timeline.annotations.len() < most {
            timeline.annotations.push(annotation(&marker, rate_hz));
        }
        if is_start {
            timeline.start = marker.date;
        } else if is_segment {
            add_gap(
                &mut timeline,
                segment.as_ref(),
                &marker,
                rate_hz,
                &mut findings,
            );
        }
        if is_segment {
            segment = Some(marker);
        }
    }
    Gap::add_lost_time(&mut timeline.gaps, &mut timeline.annotations);
    for warning in findings.into_warnings() {
        let text = format!("marker file: {}", warning.text);
        header_findings.note(warning.place, text);
    }
    Ok(timeline)
}

fn annotation(marker: &Marker, rate_hz: f64) -> Annotation {
    let text = match (marker.kind.as_str(), marker.description.as_str()) {
        ("", description) => description.to_owned(),
        (kind, "") => kind.to_owned(),
        (kind, description) => format!("{kind}/{description}"),
    };
    // One sample is the way to write a moment.
    let duration_s = (marker.size > 1).then_some(marker.size as f64 / rate_hz);
    Annotation::new(marker.position as f64 / rate_hz, duration_s, text)
}

/// Time lost between two segments, from their dates.
fn add_gap(
    timeline: &mut MarkedTimeline,
    before: Option<&Marker>,
    marker: &Marker,
    rate_hz: f64,
    findings: &mut Findings,
) {
    let onset_s = marker.position as f64 / rate_hz;
    let known = before.and_then(|before| {
        let elapsed_s = marker.date?.seconds_since(before.date?);
        let recorded_s = marker.position.checked_sub(before.position)? as f64 / rate_hz;
        Some(elapsed_s - recorded_s)
    });
    match known {
        Some(lost_s) if lost_s > 1.5 / rate_hz => timeline.gaps.push(Gap {
            onset_s,
            duration_s: lost_s,
        }),
        Some(_) => {}
        None => {
            let text = format!(
                "a new segment starts at {onset_s:.3} s, it is unknown how long after the one before"
            );
            findings.note(FilePlace::Line(marker.line), text);
            timeline.gaps.push(Gap {
                onset_s,
                duration_s: 0.0,
            });
        }
    }
}

fn read_marker(entry: &Entry<'_>, findings: &mut Findings) -> Result<Option<Marker>, ReadError> {
    let fields = fields(entry.value);
    let field = |position: usize| fields.get(position).map_or("", String::as_str);
    let position: Option<u64> = field(2).parse().ok();
    let Some(position) = position else {
        findings.breach(
            FilePlace::Line(entry.line),
            "marker position",
            quoted(field(2)),
            "a sample number from 1",
            "skipped",
        )?;
        return Ok(None);
    };
    if position == 0 {
        let assumed = "the first sample is meant";
        let place = FilePlace::Line(entry.line);
        findings.breach(
            place,
            "marker position",
            "0",
            "a sample number from 1",
            assumed,
        )?;
    }
    Ok(Some(Marker {
        kind: field(0).to_owned(),
        description: field(1).to_owned(),
        position: position.saturating_sub(1),
        size: field(3).parse().unwrap_or(1),
        date: parse_date(field(5)),
        line: entry.line,
    }))
}

/// `YYYYMMDDhhmmssuuuuuu`; all zeros where the recorder did not know.
fn parse_date(text: &str) -> Option<StartTime> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u32>().ok();
    let microsecond = number(14, 20).unwrap_or(0);
    let date = (
        number(0, 4)? as u16,
        number(4, 6)? as u8,
        number(6, 8)? as u8,
    );
    let time = (
        number(8, 10)? as u8,
        number(10, 12)? as u8,
        number(12, 14)? as u8,
    );
    StartTime::new(date, time, microsecond * 1000)
}
