//! The report of one recording: what it is, how good it is, what was decided about it and by which model.

use std::path::Path;

use super::ExportError;
use super::html::{Cell, Page};
use super::report_file::ReportFile;
use super::ribbon_figure::{self, Lane};
use crate::experiment::{Ribbon, RibbonSegment};
use crate::features::phases::PhaseMap;
use crate::features::sampled::SampleTimes;
use crate::records::{ChannelKind, Record};

/// Channels of a typical segment that are drawn.
const MOST_CHANNELS: usize = 24;
/// Points of a channel that are drawn.
const MOST_POINTS: usize = 1500;
/// Reasons listed one by one.
const MOST_REASONS: usize = 20;

/// What the reader must know before the decision is used for anything.
pub const DISCLAIMER: &str = "Atomscope is research software. It is no medical device and no protection relay: its decisions must not be used to diagnose or treat anybody, nor to operate a grid.";

/// The model behind the decisions.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedModel {
    /// Which part of the run it is, and whether it has learned from the recording.
    pub what: String,
    /// The learner in one line.
    pub learner: String,
    /// Settings changed while it learned: rounds done before, and what was changed.
    pub changes: Vec<(usize, String)>,
    /// The session it belongs to.
    pub session: String,
    /// SHA-256 of the session's file, if it is saved.
    pub session_sha256: Option<String>,
    /// SHA-256 of everything the model has learned.
    pub model_sha256: String,
    /// How well it did on what it had not learned.
    pub tested: Option<String>,
}

/// Everything that is told of one recording.
#[derive(Clone, Copy, Debug)]
pub struct RecordingReport<'a> {
    /// What it is called.
    pub name: &'a str,
    /// The recording.
    pub record: &'a Record,
    /// What was assumed when it was read and sampled.
    pub notes: &'a [String],
    /// Stretches without a decision, with the reason.
    pub left_out: &'a [String],
    /// The decisions.
    pub ribbon: &'a Ribbon,
    /// The model.
    pub model: &'a ReportedModel,
}

impl RecordingReport<'_> {
    /// The report for a file: a page that ends in .html, the table of segments that ends in .csv.
    pub fn for_file(&self, path: &Path) -> Result<Vec<u8>, ExportError> {
        let mut file = ReportFile::for_path(path)?;
        file.add_recording(self);
        Ok(file.finish())
    }

    /// The report as a page, figures included.
    pub(super) fn page(&self) -> Page {
        let mut page = Page::default();
        page.title(self.name);
        page.paragraph(&format!(
            "Report of one recording, written by Atomscope {}.",
            super::VERSION
        ));
        page.mind(DISCLAIMER);
        page.section("Recording");
        page.facts(&self.facts());
        page.section("Quality");
        self.quality(&mut page);
        page.section("Decision");
        self.decision(&mut page);
        page.section("Typical segments");
        for place in self.ribbon.typical() {
            self.segment(&mut page, &self.ribbon.segments[place]);
        }
        page.section("All segments");
        let title = "Start, length, class, margin and runner-up of every segment";
        page.folded(title, false, |page| self.segments(page));
        page.section("Model");
        page.facts(&self.model_facts());
        page
    }

    fn model_facts(&self) -> Vec<(&'static str, String)> {
        let model = self.model;
        let mut facts = vec![
            ("Model", model.what.clone()),
            ("Learner", model.learner.clone()),
            (
                "Tested",
                model.tested.clone().unwrap_or_else(|| "not yet".to_owned()),
            ),
            ("Classes", self.ribbon.class_names.join(", ")),
            ("Model SHA-256", model.model_sha256.clone()),
            ("Session", model.session.clone()),
        ];
        let changed = model.changes.iter();
        let changed = changed.map(|(batch, text)| format!("after mini-batch {batch}: {text}"));
        facts.extend(changed.map(|text| ("Settings changed", text)));
        let unsaved = || "not saved".to_owned();
        let hash = model.session_sha256.clone().unwrap_or_else(unsaved);
        facts.push(("Session SHA-256", hash));
        facts
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let record = self.record;
        let mut facts = vec![
            ("Format", format!("{}, {}", record.format, record.kind)),
            ("Channels", channel_text(record)),
        ];
        if let Some(duration_s) = record.duration_s() {
            facts.push(("Length", format!("{duration_s:.3} s")));
        }
        if let Some(start) = &record.start {
            facts.push(("Start", start.to_string()));
        }
        if let Some(grid) = &record.grid {
            facts.push(("Station", format!("{} {}", grid.station, grid.device)));
            if let Some(hz) = grid.line_frequency_hz {
                facts.push(("Line frequency", format!("{hz} Hz")));
            }
            if let Some(trigger_s) = grid.trigger_s {
                facts.push((
                    "Trigger",
                    format!("{trigger_s:.6} s after the first sample"),
                ));
            }
        }
        if !record.gaps.is_empty() {
            facts.push(("Gaps", record.gaps.len().to_string()));
        }
        facts
    }

    fn quality(&self, page: &mut Page) {
        let warnings = self.record.warnings.iter().map(ToString::to_string);
        let mut reasons: Vec<String> = warnings
            .chain(self.notes.iter().cloned())
            .chain(self.left_out.iter().cloned())
            .collect();
        if reasons.is_empty() {
            page.paragraph("No irregularities found.");
            return;
        }
        let n_more = reasons.len().saturating_sub(MOST_REASONS);
        reasons.truncate(MOST_REASONS);
        if n_more > 0 {
            reasons.push(format!("and {n_more} more"));
        }
        page.list(&reasons);
    }

    fn decision(&self, page: &mut Page) {
        page.paragraph(&vote_text(self.ribbon));
        let duration_s = self.record.duration_s().unwrap_or(0.0);
        let caption = "The class of every segment; uncertain ones are hatched.";
        page.figure(&ribbon_figure::ribbon(self.ribbon, duration_s), caption);
        let votes = self.ribbon.vote.votes.iter().enumerate();
        let rows: Vec<Vec<Cell>> = votes
            .map(|(class, votes)| {
                let name = Cell::text(self.ribbon.class_name(class));
                vec![name, Cell::Number(votes.to_string(), *votes as f64)]
            })
            .collect();
        page.table(&["class", "segments"], &rows);
    }

    fn segment(&self, page: &mut Page, segment: &RibbonSegment) {
        let class = self.ribbon.class_name(segment.verdict.class);
        let span = (segment.start_s, segment.duration_s);
        let (start_s, end_s) = (span.0, span.0 + span.1);
        let margin = segment.verdict.margin;
        page.subsection(&format!(
            "{class}: {start_s:.3} to {end_s:.3} s, margin {margin:.3}"
        ));
        match lanes(self.record, span) {
            lanes if lanes.is_empty() => page.paragraph("Its signal cannot be read."),
            lanes => page.figure(
                &ribbon_figure::signal(&lanes, span),
                "The signal of this segment.",
            ),
        }
    }

    fn segments(&self, page: &mut Page) {
        let number =
            |value: f64, n_digits: usize| Cell::Number(format!("{value:.n_digits$}"), value);
        let row = |segment: &RibbonSegment| {
            let verdict = &segment.verdict;
            let remark = match self.ribbon.is_uncertain(segment) {
                true => "uncertain",
                false => "",
            };
            vec![
                number(segment.start_s, 3),
                number(segment.duration_s, 3),
                Cell::text(self.ribbon.class_name(verdict.class)),
                number(verdict.margin, 4),
                Cell::text(self.ribbon.class_name(verdict.runner_up)),
                Cell::text(remark),
            ]
        };
        let rows: Vec<Vec<Cell>> = self.ribbon.segments.iter().map(row).collect();
        let head = [
            "start s",
            "length s",
            "class",
            "margin",
            "runner-up",
            "remark",
        ];
        page.table(&head, &rows);
    }
}

/// The vote of a recording in a sentence: "SLG by 41 of 48 segments (85.4 %); uncertain: 3".
pub fn vote_text(ribbon: &Ribbon) -> String {
    let (most, total) = ribbon.counts();
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    format!(
        "{} by {most} of {total} segments ({}); uncertain: {}",
        ribbon.class_name(ribbon.vote.decided),
        percent(most as f64 / total.max(1) as f64),
        ribbon.n_uncertain(),
    )
}

fn channel_text(record: &Record) -> String {
    let n_digital = record
        .channels
        .iter()
        .filter(|channel| matches!(channel.kind, ChannelKind::Digital { .. }))
        .count();
    let n_analog = record.channels.len() - n_digital;
    let rates: Vec<f64> = record.channels.iter().filter_map(|c| c.rate_hz).collect();
    let rate = match rates.first() {
        Some(first) if rates.iter().all(|rate| rate == first) => format!(" at {first} Hz"),
        _ => String::new(),
    };
    format!("{n_analog} analog, {n_digital} digital{rate}")
}

/// The signals of a stretch: the six phases of a grid where they are known, else the first analog channels.
fn lanes(record: &Record, (start_s, duration_s): (f64, f64)) -> Vec<Lane> {
    let is_analog = |place: &usize| record.channels[*place].kind == ChannelKind::Analog;
    let places: Vec<usize> = match PhaseMap::guess(&record.channels).complete() {
        Some(phases) => phases.to_vec(),
        None => (0..record.channels.len())
            .filter(is_analog)
            .take(MOST_CHANNELS)
            .collect(),
    };
    let lane = |place: usize| {
        let times = SampleTimes::of(record, place)?;
        let first = times.at_or_before(start_s).unwrap_or(0);
        let last = times.at_or_before(start_s + duration_s)?;
        let values = record.read(place, first..last + 1).ok()?;
        let stride = values.len().div_ceil(MOST_POINTS);
        let samples = values.iter().enumerate().step_by(stride.max(1));
        let points = samples.filter_map(|(k, value)| Some((times.time_s(first + k)?, *value)));
        let channel = &record.channels[place];
        Some(Lane {
            name: format!("{} {}", channel.name, channel.unit.symbol),
            points: points.collect(),
        })
    };
    places.into_iter().filter_map(lane).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Place;
    use crate::evaluation::Verdict;
    use crate::experiment::Judged;
    use crate::records::{Channel, Format, Kind, Unit};

    fn record() -> Record {
        let channel = |name: &str| Channel::analog(name, Unit::parse("µV"), Some(10.0), 0);
        let mut values: Vec<f64> = (0..100).map(|k| f64::from(k % 7)).collect();
        values[15] = f64::NAN;
        let data = vec![(channel("Cz<1>"), values.clone()), (channel("Pz"), values)];
        Record::in_memory(Format::Edf, Kind::Recording, "night & day.edf", data)
    }

    fn ribbon() -> Ribbon {
        let judged = (0..5).map(|k| Judged {
            n_missing: 0,
            assurance: None,
            sample: k,
            source: 0,
            place: Place::Window {
                start_s: 2.0 * k as f64,
                duration_s: 2.0,
            },
            verdict: Verdict {
                class: usize::from(k == 4),
                runner_up: usize::from(k != 4),
                margin: 0.1 * (k + 1) as f64,
            },
            residual_shares: vec![0.25, 0.5],
        });
        let names = ["calm".to_owned(), "a < b".to_owned()];
        Ribbon::of(&names, judged.collect(), 0.15).expect("windows")
    }

    fn model() -> ReportedModel {
        ReportedModel {
            what: "final model".into(),
            learner: "margin KRLS, Q 30, L 200".into(),
            changes: vec![(12, "budget (200 → 150)".into())],
            session: "night.ron".into(),
            session_sha256: None,
            model_sha256: "abc123".into(),
            tested: Some("81.0 % of the held-out samples were right".into()),
        }
    }

    fn report_of(path: &str) -> Result<String, ExportError> {
        let (record, ribbon, model) = (record(), ribbon(), model());
        let left_out = ["10 to 12 s: too loud".to_owned()];
        let report = RecordingReport {
            name: "night & day.edf",
            record: &record,
            notes: &[],
            left_out: &left_out,
            ribbon: &ribbon,
            model: &model,
        };
        let bytes = report.for_file(Path::new(path))?;
        Ok(String::from_utf8(bytes).expect("text"))
    }

    #[test]
    fn the_page_tells_recording_quality_decision_and_model() {
        let html = report_of("out.html").expect("a page");
        for part in [
            "night &amp; day.edf",
            "no medical device",
            "10 to 12 s: too loud",
            "calm by 4 of 5 segments (80.0 %); uncertain: 1",
            "Cz&lt;1&gt; µV",
            "a &lt; b",
            "abc123",
            "<td class=\"text\">Settings changed</td><td class=\"text\">after mini-batch 12: budget (200 → 150)</td>",
            "not saved",
        ] {
            assert!(html.contains(part), "{part:?} is missing");
        }
        // The ribbon and one typical segment of each class.
        assert_eq!(html.matches("<svg").count(), 3);
        assert!(!html.contains("a < b") && !html.contains("Cz<1>"));
        let hatched = html.matches("#ffffff\" stroke-width=\"1.4\"").count();
        assert!(hatched > 0, "the uncertain segment is hatched");
    }

    #[test]
    fn the_table_has_a_row_for_each_segment_and_other_endings_are_refused() {
        let csv = report_of("out.csv").expect("a table");
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 6);
        assert_eq!(
            lines[0],
            "file,start_s,duration_s,row,class,margin,runner_up,set,fit_p,residual calm,residual a < b"
        );
        assert_eq!(lines[1], "night & day.edf,0,2,,calm,0.1,a < b,,,0.25,0.5");
        let error = report_of("out.pdf").expect_err("no such format");
        assert!(error.to_string().contains(".html or .csv"));
    }

    #[test]
    fn several_recordings_share_a_page_and_a_table() {
        let (record, ribbon, model) = (record(), ribbon(), model());
        let report = |name| RecordingReport {
            name,
            record: &record,
            notes: &[],
            left_out: &[],
            ribbon: &ribbon,
            model: &model,
        };
        let written = |path: &str| {
            let mut file = ReportFile::for_path(Path::new(path)).expect("a known ending");
            file.add_recording(&report("a.edf"));
            file.add_failure("b.edf", "it is <cut>");
            file.add_recording(&report("c.edf"));
            String::from_utf8(file.finish()).expect("text")
        };
        let html = written("all.html");
        assert_eq!(html.matches("<article id=").count(), 3);
        assert_eq!(
            html.matches("calm by 4 of 5 segments").count(),
            4,
            "in the list and in the parts"
        );
        for part in [
            "Report of 3 recordings",
            "href=\"#recording-2\"",
            "it is &lt;cut&gt;",
        ] {
            assert!(html.contains(part), "{part:?} is missing");
        }
        let table = written("all.csv");
        assert_eq!(table.lines().count(), 11);
        assert_eq!(table.matches("start_s").count(), 1);
    }
}
