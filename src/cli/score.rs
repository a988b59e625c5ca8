//! `atomscope score`: events found against events of a reference.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::ending::{self, Failure};
use super::outputs::{Output, refuse_inputs};
use super::terminal;
use atomscope_engine::evaluation::{DetectionCounts, EventScore, EventScoring, TimeSpan};
use atomscope_engine::records::event_list::{self, EventList};
use atomscope_engine::records::{Annotation, Mode, counted};

/// Labels of stretches without an event, as annotation files write them.
const BACKGROUND: [&str; 3] = ["bckg", "background", "n/a"];
/// Events listed of each kind.
const MOST_LISTED: usize = 20;

/// What `score` is told.
#[derive(Debug, Args)]
pub(super) struct ScoreArguments {
    /// Events that happened: CSV or TSV (onset, duration, label), or a file with annotations (EDF+)
    reference: PathBuf,
    /// Events that were found, in one of the same formats
    hypothesis: PathBuf,
    /// Length of the recording in seconds; by default the last end in the two files
    #[arg(long, value_name = "S")]
    duration: Option<f64>,
    /// Score only events of this label (`sz` has `sz_foc` too); by default all but background
    #[arg(long, value_name = "L")]
    label: Option<String>,
    /// Write the scores as JSON, to the standard output for `-`
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// An event may be found this many seconds before it starts
    #[arg(long, value_name = "S", default_value_t = EventScoring::default().tolerance_before_s)]
    before: f64,
    /// An event may be found this many seconds after it ends
    #[arg(long, value_name = "S", default_value_t = EventScoring::default().tolerance_after_s)]
    after: f64,
    /// Share of an event and its tolerances that must be met; any for 0
    #[arg(long, value_name = "SHARE", default_value_t = EventScoring::default().min_overlap)]
    overlap: f64,
    /// Events closer than this many seconds are one
    #[arg(long, value_name = "S", default_value_t = EventScoring::default().merge_closer_than_s)]
    merge: f64,
    /// Events longer than this many seconds are split
    #[arg(long, value_name = "S", default_value_t = EventScoring::default().split_longer_than_s)]
    split: f64,
    /// Samples a second on which the files are compared; raise it for events shorter than a second
    #[arg(long, value_name = "HZ", default_value_t = EventScoring::default().sample_hz)]
    rate: f64,
}

/// Scores a file of events against another.
pub(super) fn run(arguments: &ScoreArguments) -> io::Result<ExitCode> {
    let (score, output, remarks) = match score(arguments) {
        Ok(scored) => scored,
        Err(failure) => return ending::tell(failure),
    };
    for remark in remarks {
        terminal::complain(remark)?;
    }
    let mut is_written = true;
    if let Some(output) = &output {
        let text = format!("{:#}\n", score.to_json());
        is_written = ending::write_result(output, &text)?;
    }
    if !output.is_some_and(|output| output.is_stdout()) {
        tell(&score, &mut terminal::stdout())?;
    }
    Ok(match is_written {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// The score, where it goes, and what to know beside it.
type Scored = (EventScore, Option<Output>, Vec<String>);

fn score(arguments: &ScoreArguments) -> Result<Scored, Failure> {
    let inputs = [&arguments.reference, &arguments.hypothesis];
    refuse_inputs(&[arguments.json.as_deref()], &inputs)?;
    let output = Output::reserve_named(arguments.json.as_deref())?;
    let mut remarks = Vec::new();
    let reference = open(&arguments.reference, &mut remarks)?;
    let hypothesis = open(&arguments.hypothesis, &mut remarks)?;
    let duration_s = arguments
        .duration
        .unwrap_or_else(|| reference.end_s().max(hypothesis.end_s()));
    let scoring = EventScoring {
        sample_hz: arguments.rate,
        tolerance_before_s: arguments.before,
        tolerance_after_s: arguments.after,
        min_overlap: arguments.overlap,
        merge_closer_than_s: arguments.merge,
        split_longer_than_s: arguments.split,
    };
    let label = arguments.label.as_deref();
    let lists = [&reference, &hypothesis];
    remarks.extend(label.and_then(|label| missing_label(label, lists)));
    let (reference, hypothesis) = (spans(&reference, label), spans(&hypothesis, label));
    let score = scoring
        .score(&reference, &hypothesis, duration_s)
        .map_err(Failure::usage)?;
    if score.n_off_grid > 0 {
        remarks.push(format!(
            "left out, since shorter than a sample or outside the recording: {}; --rate takes shorter ones",
            counted(score.n_off_grid, "event")
        ));
    }
    Ok((score, output, remarks))
}

fn open(path: &Path, remarks: &mut Vec<String>) -> Result<EventList, Failure> {
    let list = event_list::open(path, Mode::Tolerant).map_err(Failure::failed)?;
    let warnings = list.warnings.iter();
    remarks.extend(warnings.map(|warning| format!("{warning}: {}", path.display())));
    Ok(list)
}

/// The stretches that are scored.
fn spans(list: &EventList, label: Option<&str>) -> Vec<TimeSpan> {
    let counts = |event: &&Annotation| is_of(&event.text.to_lowercase(), label);
    let span = |event: &Annotation| TimeSpan {
        start_s: event.onset_s,
        end_s: event.onset_s + event.duration_s.unwrap_or(0.0),
    };
    list.annotations.iter().filter(counts).map(span).collect()
}

/// That no event has a label, with those there are.
fn missing_label(label: &str, lists: [&EventList; 2]) -> Option<String> {
    let texts = || {
        lists
            .iter()
            .flat_map(|list| &list.annotations)
            .map(|event| &event.text)
    };
    let found: BTreeSet<&String> = texts().take(MOST_LISTED).collect();
    let is_missing =
        !found.is_empty() && !texts().any(|text| is_of(&text.to_lowercase(), Some(label)));
    is_missing.then(|| format!("no event has the label {label:?}; there are {found:?}"))
}

fn is_of(text: &str, label: Option<&str>) -> bool {
    let Some(label) = label else {
        return !BACKGROUND.contains(&text);
    };
    let rest = text.strip_prefix(&label.to_lowercase());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

fn tell(score: &EventScore, out: &mut impl Write) -> io::Result<()> {
    let share = |value: Option<f64>| match value {
        Some(value) => format!("{value:.4}"),
        None => "–".to_owned(),
    };
    let hours = score.duration_s / 3600.0;
    writeln!(
        out,
        "Recording     {:.0} s ({hours:.2} h)",
        score.duration_s
    )?;
    let rows: [(&str, &str, &DetectionCounts); 2] = [
        ("By sample", "samples", &score.by_sample),
        ("By event", "events", &score.by_event),
    ];
    for (name, unit, counts) in rows {
        writeln!(
            out,
            "{name:<13} sensitivity {}  precision {}  F1 {}  ({} of {} {unit} found, {} false)",
            share(counts.sensitivity()),
            share(counts.precision()),
            share(counts.f1()),
            counts.n_found,
            counts.n_reference,
            counts.n_false
        )?;
    }
    let per_day = share(score.false_alarms_per_day());
    writeln!(out, "False alarms  {per_day} per day")?;
    for (name, events) in [("Missed", &score.misses), ("False", &score.false_alarms)] {
        for event in events.iter().take(MOST_LISTED) {
            writeln!(
                out,
                "{name:<13} {:.1} to {:.1} s",
                event.start_s, event.end_s
            )?;
        }
        if events.len() > MOST_LISTED {
            writeln!(out, "{name:<13} and {} more", events.len() - MOST_LISTED)?;
        }
    }
    Ok(())
}
