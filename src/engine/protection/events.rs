//! The sequence of events of a fault record: changes of its digital channels, and what its currents tell.

use crate::records::{ChannelKind, ReadError, Record};

use super::analysis::FaultAnalysis;

/// Most events that are listed: a channel that chatters must not fill the memory.
const MOST_EVENTS: usize = 20_000;

/// Current returns sooner than this after a pole opened: the arc restrikes; later: the breaker recloses.
const RESTRIKE_CYCLES: f64 = 5.0;

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordEventKind {
    /// A digital channel changes.
    Digital,
    /// The fault begins.
    Inception,
    /// The type of the fault changes.
    Evolution,
    /// The current of a phase exceeds twice the load.
    Pickup,
    /// The current of a phase is interrupted.
    PoleOpen,
    /// The last current is interrupted.
    Clearing,
    /// The current of a phase returns at once.
    Restrike,
    /// The current of a phase returns after a pause.
    Reclose,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordEvent {
    /// When.
    pub time_s: f64,
    /// What.
    pub kind: RecordEventKind,
    /// In words: `TRIP on`, `pole B opens`.
    pub text: String,
}

/// All events of a record in order of time.
pub fn events(
    record: &Record,
    analysis: Option<&FaultAnalysis>,
) -> Result<Vec<RecordEvent>, ReadError> {
    let mut all = digital_events(record)?;
    if let Some(analysis) = analysis {
        all.extend(calculated_events(analysis));
    }
    all.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
    all.truncate(MOST_EVENTS);
    Ok(all)
}

/// The changes of the digital channels.
pub fn digital_events(record: &Record) -> Result<Vec<RecordEvent>, ReadError> {
    let mut all = Vec::new();
    for (index, channel) in record.channels.iter().enumerate() {
        // Relays call elements that are not used `*`.
        let is_named = channel.name.chars().any(char::is_alphanumeric);
        if !matches!(channel.kind, ChannelKind::Digital { .. }) || !is_named {
            continue;
        }
        let states = record.read_channel(index)?;
        for (sample, pair) in states.windows(2).enumerate() {
            let is_change = pair[0].is_finite() && pair[1].is_finite() && pair[0] != pair[1];
            let Some(time_s) = record.time_s(index, sample + 1).filter(|_| is_change) else {
                continue;
            };
            let state = if pair[1] > 0.5 { "on" } else { "off" };
            all.push(RecordEvent {
                time_s,
                kind: RecordEventKind::Digital,
                text: format!("{} {state}", channel.name),
            });
            if all.len() >= MOST_EVENTS {
                return Ok(all);
            }
        }
    }
    Ok(all)
}

fn calculated_events(analysis: &FaultAnalysis) -> Vec<RecordEvent> {
    let Some(inception_s) = analysis.inception_s else {
        return Vec::new();
    };
    let verdict = analysis
        .verdict
        .map_or("change".to_owned(), |v| v.to_string());
    let mut all = vec![RecordEvent {
        time_s: inception_s,
        kind: RecordEventKind::Inception,
        text: format!("{verdict} begins"),
    }];
    all.extend(analysis.stages.iter().skip(1).map(|stage| RecordEvent {
        time_s: stage.start_s,
        kind: RecordEventKind::Evolution,
        text: format!("becomes {}", stage.verdict),
    }));
    all.extend(analysis.clearing_s.map(|time_s| RecordEvent {
        time_s,
        kind: RecordEventKind::Clearing,
        text: "current is interrupted".to_owned(),
    }));
    for (phase, letter) in ["A", "B", "C"].into_iter().enumerate() {
        all.extend(phase_events(analysis, phase, letter, inception_s));
    }
    all
}

/// Pickup, opening and return of one phase: its largest |i| over half a cycle against twice the load before, and against
/// the larger of 15 % of the fault's current and 1.3 times that load.
fn phase_events(
    analysis: &FaultAnalysis,
    phase: usize,
    letter: &str,
    inception_s: f64,
) -> Vec<RecordEvent> {
    let signals = &analysis.signals;
    let cycle = signals.rate_hz / analysis.frequency_hz;
    let half = ((cycle / 2.0).round() as usize).max(1);
    let current = &signals.values[3 + phase];
    let inception = ((inception_s - signals.start_s) * signals.rate_hz).max(0.0) as usize;
    let size = |span: &[f64]| span.iter().fold(0.0_f64, |most, i| most.max(i.abs()));
    let before = inception.saturating_sub(cycle.round() as usize)..inception.min(current.len());
    let load = current.get(before).map_or(0.0, size);
    let during = current
        .get(inception..current.len().min(inception + (2.0 * cycle) as usize))
        .map_or(0.0, size);
    if during <= 2.0 * load || during == 0.0 {
        return Vec::new();
    }
    let limit = (0.15 * during).max(1.3 * load);
    let event = |sample: usize, kind: RecordEventKind, text: &str| RecordEvent {
        time_s: signals.time_s(sample),
        kind,
        text: format!("phase {letter} {text}"),
    };
    let mut all = Vec::new();
    let first_above = (inception..current.len()).find(|k| current[*k].abs() > 2.0 * load);
    all.extend(first_above.map(|k| event(k, RecordEventKind::Pickup, "picks up")));
    let (mut opened, mut quiet) = (None::<usize>, 0_usize);
    for (k, value) in current
        .iter()
        .enumerate()
        .skip(first_above.unwrap_or(inception))
    {
        if value.abs() < limit {
            quiet += 1;
            if quiet == half + half / 2 && opened.is_none() {
                opened = Some(k + 1 - quiet);
                all.push(event(
                    k + 1 - quiet,
                    RecordEventKind::PoleOpen,
                    "is interrupted",
                ));
            }
        } else {
            quiet = 0;
            if let Some(at) = opened.take() {
                let is_soon = ((k - at) as f64) < RESTRIKE_CYCLES * cycle;
                all.push(match is_soon {
                    true => event(k, RecordEventKind::Restrike, "restrikes"),
                    false => event(k, RecordEventKind::Reclose, "returns"),
                });
            }
        }
    }
    all
}

/// Time from the first trip signal to the clearing.
pub fn breaker_time_s(events: &[RecordEvent]) -> Option<f64> {
    let is_trip = |event: &&RecordEvent| {
        let text = event.text.to_lowercase();
        let is_named = ["trip", "trp", "откл", "auslös", "跳闸"]
            .iter()
            .any(|word| text.contains(word));
        event.kind == RecordEventKind::Digital && is_named && text.ends_with(" on")
    };
    let trip_s = events.iter().find(is_trip)?.time_s;
    let clearing = events
        .iter()
        .find(|event| event.kind == RecordEventKind::Clearing)?;
    (clearing.time_s > trip_s).then_some(clearing.time_s - trip_s)
}
