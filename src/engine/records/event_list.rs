//! Annotations in files of their own: tables (CSV, BIDS events.tsv) and EDF+; read and written.
//!
//! A table has a row for each event; the columns are found by the names that BIDS, SzCORE,
//! clinical corpora and this program use. Without a header they are onset, duration, label.

use std::path::Path;

use super::text::quoted;
use super::{
    Annotation, FilePlace, Findings, Input, Mode, ReadError, StartTime, Warning, edf, readers,
    text_encoding,
};

/// Columns that tell when an event starts.
const ONSETS: &[&str] = &["onset", "start", "starttime", "begin", "time"];
const DURATIONS: &[&str] = &["duration", "length"];
const ENDS: &[&str] = &["end", "stop", "endtime", "stoptime"];
/// The first of these that there is tells what happened.
const LABELS: &[&str] = &[
    "label",
    "eventtype",
    "trialtype",
    "type",
    "text",
    "description",
    "annotation",
    "class",
    "stage",
    "event",
    "value",
];
/// More columns than this are no table of events.
const MOST_COLUMNS: usize = 1000;
const CHANNELS: &[&str] = &["channels", "channel"];
const RECORDING_DURATIONS: &[&str] = &["recordingduration"];

/// What an annotation file says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EventList {
    /// The events in order of time.
    pub annotations: Vec<Annotation>,
    /// Length of the recording, where the file tells it.
    pub duration_s: Option<f64>,
    /// What was odd, and what was assumed.
    pub warnings: Vec<Warning>,
}

impl EventList {
    /// When the last of the events and of the recording ends.
    pub fn end_s(&self) -> f64 {
        let ends = self.annotations.iter();
        let ends = ends.map(|event| event.onset_s + event.duration_s.unwrap_or(0.0));
        ends.chain(self.duration_s).fold(0.0, f64::max)
    }
}

/// Reads a table of events, or the annotations of a recording or of an annotation file.
pub fn open(path: &Path, mode: Mode) -> Result<EventList, ReadError> {
    read(&Input::open(path)?, mode)
}

/// Reads events from a file or from bytes.
pub fn read(input: &Input, mode: Mode) -> Result<EventList, ReadError> {
    if !["csv", "tsv", "txt", "tab"].contains(&input.extension().as_str()) {
        let record = readers::read(input, &mode.into())?;
        return Ok(EventList {
            duration_s: record.duration_s().filter(|s| *s > 0.0),
            annotations: record.annotations,
            warnings: record.warnings,
        });
    }
    let mut findings = Findings::new(input.path(), mode);
    let bytes = input.bytes.read_all()?;
    let decoded = text_encoding::decode(&bytes);
    decoded.report(&mut findings)?;
    let mut list = read_table(&decoded.text, bytes.len() as u64, &mut findings)?;
    list.annotations
        .sort_by(|a, b| a.onset_s.total_cmp(&b.onset_s));
    list.warnings = findings.into_warnings();
    Ok(list)
}

/// Where the columns are.
#[derive(Debug, Clone, Copy)]
struct EventColumns {
    onset: usize,
    duration: Option<usize>,
    end: Option<usize>,
    label: Option<usize>,
    channels: Option<usize>,
    recording: Option<usize>,
}

impl EventColumns {
    /// From the names of a header.
    fn named(header: &csv::StringRecord) -> Option<Self> {
        // `Start_Time`, `onset (s)` and `onset_s` are the names of the list with other letters.
        let plain = |name: &str| -> String {
            let name = name.trim_start_matches('\u{feff}').to_lowercase();
            let name = name.trim().trim_end_matches("(s)").trim_end();
            let name = name.trim_end_matches("_s").trim_end_matches("[s]");
            name.chars().filter(|c| c.is_alphanumeric()).collect()
        };
        let names: Vec<String> = header.iter().map(plain).collect();
        let place = |known: &[&str]| {
            let mut known = known.iter();
            known.find_map(|wanted| names.iter().position(|name| name == wanted))
        };
        Some(Self {
            onset: place(ONSETS)?,
            duration: place(DURATIONS),
            end: place(ENDS),
            label: place(LABELS),
            channels: place(CHANNELS),
            recording: place(RECORDING_DURATIONS),
        })
    }

    /// Onset, duration, label, as tables without a header have them.
    fn in_order() -> Self {
        Self {
            onset: 0,
            duration: Some(1),
            end: None,
            label: Some(2),
            channels: Some(3),
            recording: None,
        }
    }
}

fn read_table(
    text: &str,
    file_bytes: u64,
    findings: &mut Findings,
) -> Result<EventList, ReadError> {
    let separator = separator(text);
    // A row is held in memory with the place of each of its fields.
    let is_wide =
        |line: &str| line.bytes().filter(|byte| *byte == separator).count() >= MOST_COLUMNS;
    if let Some(wide) = text.lines().position(is_wide) {
        let place = FilePlace::Line(wide + 1);
        let expected = format!("at most {MOST_COLUMNS}, as in a table of events");
        return Err(findings.refusal(place, "number of columns", "more", expected));
    }
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .comment(Some(b'#'))
        .flexible(true)
        .has_headers(false)
        .from_reader(text.as_bytes());
    let mut row = csv::StringRecord::new();
    let mut columns = None;
    let mut list = EventList::default();
    let most = Annotation::most_in(file_bytes);
    loop {
        let line = usize::try_from(reader.position().line()).unwrap_or(usize::MAX);
        match reader.read_record(&mut row) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                return Err(findings.refusal(FilePlace::Line(line), "row", error, "a row of text"));
            }
        }
        if row.iter().all(|field| field.trim().is_empty()) {
            continue;
        }
        let Some(columns) = columns else {
            let first = row.get(0).unwrap_or("");
            columns = Some(if seconds(first).is_some() {
                read_row(&row, EventColumns::in_order(), line, &mut list, findings)?;
                EventColumns::in_order()
            } else {
                let expected = "names of columns, among them onset (duration, label)";
                let found = quoted(&row.iter().collect::<Vec<_>>().join(" "));
                EventColumns::named(&row).ok_or_else(|| {
                    findings.refusal(FilePlace::Line(line), "first row", found, expected)
                })?
            });
            continue;
        };
        if list.annotations.len() < most {
            read_row(&row, columns, line, &mut list, findings)?;
        }
    }
    Ok(list)
}

/// Tabs before semicolons before commas: a text may hold the latter.
fn separator(text: &str) -> u8 {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let first = lines.find(|line| !line.trim().is_empty()).unwrap_or("");
    let has = |separator: &u8| first.as_bytes().contains(separator);
    *[b'\t', b';'].iter().find(|s| has(s)).unwrap_or(&b',')
}

fn read_row(
    row: &csv::StringRecord,
    columns: EventColumns,
    line: usize,
    list: &mut EventList,
    findings: &mut Findings,
) -> Result<(), ReadError> {
    let field = |place: Option<usize>| place.and_then(|place| row.get(place)).map_or("", str::trim);
    let number = |place: Option<usize>| seconds(field(place));
    if let Some(whole_s) = number(columns.recording) {
        list.duration_s = Some(list.duration_s.map_or(whole_s, |s| s.max(whole_s)));
    }
    let Some(onset_s) = number(Some(columns.onset)) else {
        let found = quoted(field(Some(columns.onset)));
        let place = FilePlace::Line(line);
        return findings.breach(place, "onset", found, "seconds", "the row is left out");
    };
    let duration_s = number(columns.duration).or_else(|| Some(number(columns.end)? - onset_s));
    if let Some(duration_s) = duration_s.filter(|s| *s < 0.0) {
        let place = FilePlace::Line(line);
        let expected = "0 or more seconds";
        return findings.breach(
            place,
            "duration",
            duration_s,
            expected,
            "the row is left out",
        );
    }
    let channels = field(columns.channels).split([',', ';']);
    let named = |name: &&str| !name.is_empty() && !is_missing(name);
    list.annotations.push(Annotation {
        channels: channels
            .map(str::trim)
            .filter(named)
            .map(str::to_owned)
            .collect(),
        ..Annotation::new(onset_s, duration_s, field(columns.label))
    });
    Ok(())
}

fn is_missing(field: &str) -> bool {
    ["", "n/a", "na", "nan"].contains(&field.to_lowercase().as_str())
}

/// A time as a number of seconds, decimal point or comma; nothing where it is missing.
fn seconds(field: &str) -> Option<f64> {
    let field = field.trim();
    let number: f64 = match field.parse() {
        Ok(number) => number,
        Err(_) => field.replace(',', ".").parse().ok()?,
    };
    number.is_finite().then_some(number)
}

/// Events as `onset,duration,label,channels`; a moment has no duration.
pub fn to_csv(annotations: &[Annotation]) -> String {
    let quote = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let row = |event: &Annotation| {
        let duration = event.duration_s.map_or(String::new(), |s| s.to_string());
        let (label, channels) = (quote(&event.text), quote(&event.channels.join(",")));
        format!("{},{duration},{label},{channels}\n", event.onset_s)
    };
    let rows: String = annotations.iter().map(row).collect();
    format!("onset,duration,label,channels\n{rows}")
}

/// Events as BIDS writes them: `onset`, `duration`, `trial_type`, `channel`, with `n/a` for what is missing.
pub fn to_bids(annotations: &[Annotation]) -> String {
    let plain = |text: &str| match text.replace(['\t', '\n', '\r', '"'], " ").trim() {
        "" => "n/a".to_owned(),
        text => text.to_owned(),
    };
    let row = |event: &Annotation| {
        let duration = event.duration_s.map_or("n/a".to_owned(), |s| s.to_string());
        let (label, channels) = (plain(&event.text), plain(&event.channels.join(",")));
        format!("{}\t{duration}\t{label}\t{channels}\n", event.onset_s)
    };
    let rows: String = annotations.iter().map(row).collect();
    format!("onset\tduration\ttrial_type\tchannel\n{rows}")
}

/// Events without a signal as EDF+, the way hypnograms are exchanged.
pub fn to_edf(annotations: &[Annotation], start: Option<StartTime>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    edf::write_annotations(annotations, start, &mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, text: &str) -> EventList {
        read(&Input::from_bytes(name, text), Mode::Tolerant).expect("readable")
    }

    fn events() -> Vec<Annotation> {
        vec![
            Annotation::new(1.5, None, "spike, left"),
            Annotation {
                channels: vec!["Fp1".to_owned(), "F7".to_owned()],
                ..Annotation::new(4.25, Some(2.5), "he said \"stop\"")
            },
            Annotation::new(30.0, Some(30.0), "Sleep stage W"),
        ]
    }

    #[test]
    fn what_is_written_is_read_again() {
        assert_eq!(table("e.csv", &to_csv(&events())).annotations, events());
        let mut plain = events();
        plain[1].text = "he said  stop".to_owned();
        assert_eq!(table("e.tsv", &to_bids(&plain)).annotations, plain);
        let start = StartTime::new((2024, 2, 29), (22, 30, 0), 500_000_000);
        let edf = to_edf(&events(), start).expect("memory takes all");
        let list = read(&Input::from_bytes("e.edf", edf), Mode::Strict).expect("readable");
        assert_eq!(list.annotations, events());
        let many: Vec<Annotation> = (0..20_000)
            .map(|k| Annotation::new(f64::from(k) * 30.0, Some(30.0), "Sleep stage 2"))
            .collect();
        let edf = to_edf(&many, None).expect("memory takes all");
        let list = read(&Input::from_bytes("e.edf", edf), Mode::Strict).expect("readable");
        assert_eq!(list.annotations, many);
    }

    #[test]
    fn columns_are_found_by_the_names_that_are_in_use() {
        let bids = "onset\tduration\teventType\tconfidence\tchannels\tdateTime\trecordingDuration\n\
                    10.00\t20.00\tsz\tn/a\tFp1,F7\t2016-11-06 13:43:04\t3600.00\n";
        let list = table("a_events.tsv", bids);
        assert_eq!(list.duration_s, Some(3600.0));
        assert_eq!(list.annotations[0].text, "sz");
        assert_eq!(list.annotations[0].channels, ["Fp1", "F7"]);
        let corpus = "# version = csv_v1.0.0\nchannel,start_time,stop_time,label,confidence\n\
                      TERM,36.8868,183.3055,seiz,1.0000\n";
        let list = table("a.csv", corpus);
        let [event] = &list.annotations[..] else {
            panic!("one event, not {list:?}");
        };
        assert!((event.duration_s.expect("known") - 146.4187).abs() < 1e-9);
        assert_eq!(list.end_s(), 183.3055);
        let bare = table("a.csv", "3;1,5;x\n1;2;y\n");
        assert_eq!(bare.annotations[1], Annotation::new(3.0, Some(1.5), "x"));
        assert_eq!(bare.annotations[0].text, "y", "in order of time");
    }

    #[test]
    fn odd_rows_are_named_and_left_out() {
        let text = "onset,duration,label\nx,1,a\n5,-1,b\n7,n/a,c\nNaN,1,d\n";
        let list = table("a.csv", text);
        assert_eq!(list.annotations, [Annotation::new(7.0, None, "c")]);
        assert_eq!(list.warnings.len(), 3);
        let strict = read(&Input::from_bytes("a.csv", text), Mode::Strict);
        let text = strict.expect_err("strict").to_string();
        assert_eq!(text, "onset at line 2 is \"x\", expected seconds: a.csv");
        let none = read(
            &Input::from_bytes("a.csv", "name,value\nq,1\n"),
            Mode::Tolerant,
        );
        let text = none.expect_err("no onset").to_string();
        assert!(text.contains("among them onset"), "{text}");
    }
}
