//! What is shown of a stream: traces, decisions, scores, alarms and files, everything bounded.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use atomscope_engine::evaluation::{AlarmAnswer, WatchedAlarm};
use atomscope_engine::records::Channel;
use atomscope_engine::records::overview::MinMax;
use atomscope_engine::stream::{Arrival, Inbox, Outcome, StreamDecision, StreamRun};

/// Time that the traces show.
const SPAN_S: f64 = 10.0;
/// Columns of the traces.
const COLUMNS: usize = 800;
/// Channels whose traces are shown at most.
const MOST_TRACES: usize = 32;
/// Decisions that are shown.
const DECISIONS: usize = 600;
/// Points of the course of the scores; one in two is dropped when there are more.
const COURSE: usize = 1000;
/// Alarms that are listed.
const ALARMS: usize = 100;
/// Sentences that are kept.
const NOTES: usize = 50;
/// Arrival times of decisions that wait to be shown.
const FRESH: usize = 256;
/// Time over which the throughput is measured.
const PACE: Duration = Duration::from_secs(4);
/// How often the throughput is counted again while nothing comes.
const PACE_EVERY: Duration = Duration::from_millis(500);
/// The list of files is copied no more often.
const INBOX_EVERY: Duration = Duration::from_millis(300);

/// Traces as they come.
#[derive(Clone, Debug, Default)]
pub struct LiveTraces {
    /// Names of the channels shown.
    pub names: Vec<String>,
    /// Their unit where all have the same.
    pub unit: String,
    /// Channels of the stream, shown or not.
    pub n_channels: usize,
    /// Samples per second.
    pub rate_hz: f64,
    /// For each channel the columns so far, the newest last.
    pub columns: Vec<Vec<MinMax>>,
    /// Time of the first column and length of all.
    pub covered_s: (f64, f64),
    /// Time that the page shows.
    pub shown_s: (f64, f64),
    /// A number that differs when the columns do.
    pub revision: u64,
}

/// A decision as it is shown.
#[derive(Clone, Debug)]
pub struct ShownDecision {
    /// Its number in the stream, from 1.
    pub number: u64,
    /// Place of the class.
    pub class: usize,
    /// The decision.
    pub decision: StreamDecision,
}

/// Scores over the last decisions whose truth came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveScore {
    /// Decisions when it was taken.
    pub decision: u64,
    /// Decisions with a truth in the window.
    pub n_known: u64,
    /// Share of right ones.
    pub accuracy: f64,
    /// Mean of the shares of the classes.
    pub balanced: f64,
    /// Cohen's kappa.
    pub kappa: f64,
}

/// An alarm as it is listed.
#[derive(Clone, Debug)]
pub struct LiveAlarm {
    /// Its place among all alarms.
    pub place: usize,
    /// The alarm.
    pub alarm: WatchedAlarm,
    /// What it says.
    pub sentence: String,
    /// What can be done about it, where nobody has answered yet.
    pub proposal: Option<String>,
}

impl LiveAlarm {
    /// What was done about it.
    pub fn answer(&self) -> Option<String> {
        self.alarm.answer.map(|answer| match answer {
            AlarmAnswer::Applied(faster) => format!(
                "applied: λ {} for {} mini-batches",
                faster.factor, faster.n_batches
            ),
            AlarmAnswer::Dismissed => "dismissed".to_owned(),
        })
    }
}

/// A stream at one moment.
#[derive(Clone, Debug)]
pub struct LiveView {
    /// The source as it is named.
    pub source: String,
    /// The classes.
    pub class_names: Arc<Vec<String>>,
    /// Traces, where samples come.
    pub traces: Option<LiveTraces>,
    /// Time from one decision to the next, where samples come.
    pub hop_s: Option<f64>,
    /// The last decisions, the newest last.
    pub decisions: Vec<ShownDecision>,
    /// All decisions.
    pub n_decisions: u64,
    /// Frames, rows and files that came in.
    pub n_came: u64,
    /// Of them in a second, lately.
    pub came_per_s: f64,
    /// Decisions in a second, lately.
    pub decided_per_s: f64,
    /// Frames and rows that a full queue could not take.
    pub n_lost: u64,
    /// Time that the source itself has lost.
    pub lost_s: f64,
    /// From a sample that came in to its decision: the middle, and what 99 of 100 do not exceed.
    pub delay_s: Option<(f64, f64)>,
    /// The course of the scores where labels come, the newest last.
    pub course: Vec<LiveScore>,
    /// λ of the next mini-batch and mini-batches learned, where it learns.
    pub learning: Option<(f64, usize)>,
    /// Alarms, the newest last.
    pub alarms: Vec<LiveAlarm>,
    /// What was said, the newest last.
    pub notes: Vec<String>,
    /// The files that came.
    pub inbox: Arc<Inbox>,
    /// The folder that is recorded into.
    pub recording: Option<PathBuf>,
    /// Whether nothing comes any more.
    pub is_over: bool,
    /// When the samples came whose decisions are shown for the first time.
    pub(super) fresh: Vec<Instant>,
}

impl LiveView {
    /// The newest decision.
    pub fn now(&self) -> Option<&ShownDecision> {
        self.decisions.last()
    }

    /// Whether the source delivers files or rows, not running samples.
    pub fn is_of_files(&self) -> bool {
        self.traces.is_none()
    }
}

/// What is gathered for the next picture.
pub(super) struct PictureMaker {
    source: String,
    class_names: Arc<Vec<String>>,
    traces: Option<TraceRing>,
    decisions: VecDeque<ShownDecision>,
    course: Vec<LiveScore>,
    /// Every so many decisions with a truth a point of the course is taken.
    course_step: u64,
    n_known: u64,
    notes: VecDeque<String>,
    fresh: Vec<Instant>,
    n_came: u64,
    lost_s: f64,
    /// When, and how much had come and been decided by then.
    pace: VecDeque<(Instant, u64, u64)>,
    inbox: Arc<Inbox>,
    inbox_at: Instant,
    inbox_is_old: bool,
    n_lost_shown: u64,
    is_news: bool,
    /// Whether the last picture says that something came in or was decided lately.
    shows_flow: bool,
}

impl PictureMaker {
    pub(super) fn new(source: &str, run: &StreamRun, notes: Vec<String>) -> Self {
        Self {
            source: source.to_owned(),
            class_names: Arc::new(run.judge.class_names().to_vec()),
            traces: None,
            decisions: VecDeque::new(),
            course: Vec::new(),
            course_step: 1,
            n_known: run.judge.state.scores.n_known,
            notes: notes.into(),
            fresh: Vec::new(),
            n_came: 0,
            lost_s: 0.0,
            pace: VecDeque::new(),
            inbox: Arc::new(run.judge.state.files.clone()),
            inbox_at: Instant::now(),
            inbox_is_old: false,
            n_lost_shown: 0,
            is_news: true,
            shows_flow: false,
        }
    }

    /// Looks at what came before it is judged.
    pub(super) fn came(&mut self, arrival: &Arrival) {
        self.is_news = true;
        match arrival {
            Arrival::Channels { channels, rate_hz } => {
                // Where channels come again, the time of the stream continues.
                let start_s = self.traces.as_ref().map_or(0.0, TraceRing::end_s);
                self.traces = Some(TraceRing::new(channels, *rate_hz, start_s));
            }
            Arrival::Frames(values) => {
                if let Some(traces) = &mut self.traces {
                    traces.push(values);
                    self.n_came += (values.len() / traces.n_channels.max(1)) as u64;
                }
            }
            Arrival::Gap { lost_s } => {
                self.lost_s += lost_s.max(0.0);
                if let Some(traces) = &mut self.traces {
                    traces.gap(*lost_s);
                }
            }
            Arrival::Row { .. } | Arrival::File { .. } => self.n_came += 1,
            Arrival::Label { .. } | Arrival::Note(_) | Arrival::Nothing | Arrival::End => {}
        }
    }

    /// Takes over what was judged.
    pub(super) fn take(&mut self, run: &StreamRun, outcome: Outcome, since: Instant) {
        self.is_news = true;
        self.inbox_is_old |= !run.judge.state.files.is_empty();
        outcome.notes.into_iter().for_each(|note| self.note(note));
        if !outcome.decisions.is_empty() && self.fresh.len() < FRESH {
            self.fresh.push(since);
        }
        let n_before = run.judge.state.n_decisions - outcome.decisions.len() as u64;
        for (number, decision) in (n_before + 1..).zip(outcome.decisions) {
            let mut names = self.class_names.iter();
            let class = names.position(|name| *name == decision.class);
            self.decisions.push_back(ShownDecision {
                number,
                class: class.unwrap_or(0),
                decision,
            });
            if self.decisions.len() > DECISIONS {
                self.decisions.pop_front();
            }
        }
        let scores = &run.judge.state.scores;
        if scores.n_known >= self.n_known + self.course_step {
            self.n_known = scores.n_known;
            self.add_score(run);
        }
    }

    fn add_score(&mut self, run: &StreamRun) {
        let confusion = run
            .judge
            .state
            .scores
            .confusion(run.judge.class_names().len());
        let Some(accuracy) = confusion.accuracy() else {
            return;
        };
        self.course.push(LiveScore {
            decision: run.judge.state.n_decisions,
            n_known: confusion.total(),
            accuracy,
            balanced: confusion.balanced_accuracy().unwrap_or(accuracy),
            kappa: confusion.kappa().unwrap_or(f64::NAN),
        });
        if self.course.len() > COURSE {
            let mut place = 0;
            self.course.retain(|_| {
                place += 1;
                place % 2 == 0
            });
            self.course_step *= 2;
        }
    }

    pub(super) fn note(&mut self, note: String) {
        self.is_news = true;
        self.notes.push_back(note);
        if self.notes.len() > NOTES {
            self.notes.pop_front();
        }
    }

    /// Something was asked of the stream that shows.
    pub(super) fn has_changed(&mut self) {
        (self.is_news, self.inbox_is_old) = (true, true);
    }

    pub(super) fn is_news(&self, n_lost: u64) -> bool {
        self.is_news || n_lost != self.n_lost_shown || self.has_slowed()
    }

    /// Whether the throughput that is shown is old: it falls to 0 while a sender is silent.
    fn has_slowed(&self) -> bool {
        let last = self.pace.back();
        self.shows_flow && last.is_some_and(|(at, ..)| at.elapsed() >= PACE_EVERY)
    }

    /// The stream as it is now.
    pub(super) fn view(&mut self, run: &StreamRun, n_lost: u64, is_over: bool) -> LiveView {
        (self.is_news, self.n_lost_shown) = (false, n_lost);
        let judge = &run.judge;
        if self.inbox_is_old && (is_over || self.inbox_at.elapsed() >= INBOX_EVERY) {
            self.inbox = Arc::new(judge.state.files.clone());
            (self.inbox_at, self.inbox_is_old) = (Instant::now(), false);
        }
        // A list that waits to be copied is news for the next picture.
        self.is_news = self.inbox_is_old;
        let (came_per_s, decided_per_s) = self.throughput(judge.state.n_decisions);
        self.shows_flow = came_per_s > 0.0 || decided_per_s > 0.0;
        let delay = |share| run.delays.at(share);
        LiveView {
            source: self.source.clone(),
            class_names: self.class_names.clone(),
            traces: self.traces.as_ref().map(TraceRing::traces),
            hop_s: judge.hop_s(),
            decisions: self.decisions.iter().cloned().collect(),
            n_decisions: judge.state.n_decisions,
            n_came: self.n_came,
            came_per_s,
            decided_per_s,
            n_lost,
            lost_s: self.lost_s,
            delay_s: delay(0.5).zip(delay(0.99)),
            course: self.course.clone(),
            learning: judge
                .is_learning()
                .then(|| (judge.factor_now(), judge.n_batches())),
            alarms: alarms(run),
            notes: self.notes.iter().cloned().collect(),
            inbox: self.inbox.clone(),
            recording: run.recorded_into().map(ToOwned::to_owned),
            is_over,
            fresh: std::mem::take(&mut self.fresh),
        }
    }

    fn throughput(&mut self, n_decided: u64) -> (f64, f64) {
        let now = Instant::now();
        self.pace.push_back((now, self.n_came, n_decided));
        let is_old = |(at, ..): &mut (Instant, u64, u64)| now.duration_since(*at) > PACE;
        while self.pace.len() > 2 && self.pace.pop_front_if(is_old).is_some() {}
        let Some((first, came, decided)) = self.pace.front() else {
            return (0.0, 0.0);
        };
        let elapsed_s = now.duration_since(*first).as_secs_f64().max(1e-3);
        let per_s = |n: u64| n as f64 / elapsed_s;
        (
            per_s(self.n_came - came),
            per_s(n_decided.saturating_sub(*decided)),
        )
    }
}

/// The last alarms with what can be done about them.
fn alarms(run: &StreamRun) -> Vec<LiveAlarm> {
    let judge = &run.judge;
    let all = judge.state.watch.as_ref().map(|watch| &watch.alarms[..]);
    let all = all.unwrap_or_default();
    let first = all.len().saturating_sub(ALARMS);
    let factor = judge.factor_now();
    let listed = (first..).zip(&all[first..]);
    listed
        .map(|(place, alarm)| LiveAlarm {
            place,
            alarm: alarm.clone(),
            sentence: alarm.sentence(judge.class_names()),
            proposal: judge.proposal(place).map(|faster| faster.sentence(factor)),
        })
        .collect()
}

/// The last seconds of every channel, column by column.
struct TraceRing {
    names: Vec<String>,
    unit: String,
    n_channels: usize,
    rate_hz: f64,
    per_column: usize,
    columns: Vec<VecDeque<MinMax>>,
    /// Frames in the newest column.
    n_in_last: usize,
    /// When the newest column starts.
    last_s: f64,
    revision: u64,
}

impl TraceRing {
    fn new(channels: &[Channel], rate_hz: f64, start_s: f64) -> Self {
        let shown = &channels[..channels.len().min(MOST_TRACES)];
        let unit = shown.first().map(|channel| channel.unit.symbol.clone());
        let same = shown
            .iter()
            .all(|channel| Some(&channel.unit.symbol) == unit.as_ref());
        Self {
            names: shown.iter().map(|channel| channel.name.clone()).collect(),
            unit: unit.filter(|_| same).unwrap_or_default(),
            n_channels: channels.len(),
            rate_hz,
            per_column: ((SPAN_S * rate_hz / COLUMNS as f64).round() as usize).max(1),
            columns: vec![VecDeque::new(); shown.len()],
            n_in_last: 0,
            last_s: start_s,
            revision: 0,
        }
    }

    fn column_s(&self) -> f64 {
        self.per_column as f64 / self.rate_hz
    }

    /// When the newest frame ended.
    fn end_s(&self) -> f64 {
        self.last_s + self.n_in_last as f64 / self.rate_hz
    }

    /// Begins a column at a time.
    fn begin_column(&mut self, start_s: f64) {
        for columns in &mut self.columns {
            columns.push_back(MinMax::NOTHING);
            if columns.len() > COLUMNS {
                columns.pop_front();
            }
        }
        (self.n_in_last, self.last_s) = (0, start_s);
    }

    fn push(&mut self, values: &[f64]) {
        self.revision += 1;
        for frame in values.chunks_exact(self.n_channels.max(1)) {
            if self.columns.first().is_some_and(VecDeque::is_empty) {
                self.begin_column(self.last_s);
            } else if self.n_in_last == self.per_column {
                self.begin_column(self.last_s + self.column_s());
            }
            for (columns, value) in self.columns.iter_mut().zip(frame) {
                if let Some(last) = columns.back_mut()
                    && value.is_finite()
                {
                    *last = last.with(*value as f32);
                }
            }
            self.n_in_last += 1;
        }
    }

    /// Empty columns as long as the gap; the next frame begins a column.
    fn gap(&mut self, lost_s: f64) {
        self.revision += 1;
        let end_s = self.end_s() + lost_s.max(0.0);
        let n_empty = (lost_s.max(0.0) / self.column_s()).min(COLUMNS as f64) as usize;
        for _ in 0..=n_empty {
            self.begin_column(end_s);
        }
    }

    fn traces(&self) -> LiveTraces {
        let n_columns = self.columns.first().map_or(0, VecDeque::len);
        let (column_s, length_s) = (self.column_s(), self.column_s() * COLUMNS as f64);
        let start_s = self.last_s - column_s * (n_columns as f64 - 1.0);
        let end_s = self.last_s + column_s;
        LiveTraces {
            names: self.names.clone(),
            unit: self.unit.clone(),
            n_channels: self.n_channels,
            rate_hz: self.rate_hz,
            columns: self
                .columns
                .iter()
                .map(|columns| columns.iter().copied().collect())
                .collect(),
            covered_s: (start_s, column_s * n_columns as f64),
            shown_s: ((end_s - length_s).max(0.0), length_s),
            revision: self.revision,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atomscope_engine::records::Unit;

    fn ring(n_channels: usize, rate_hz: f64) -> TraceRing {
        let channel = |at: usize| Channel::analog(format!("c{at}"), Unit::parse("uV"), None, 0);
        let channels: Vec<Channel> = (0..n_channels).map(channel).collect();
        TraceRing::new(&channels, rate_hz, 0.0)
    }

    #[test]
    fn traces_are_bounded_whatever_comes_and_end_now() {
        let mut ring = ring(64, 1000.0);
        for second in 0..30 {
            let value = |at: usize| (second * 1000 + at / 64) as f64;
            let values: Vec<f64> = (0..64_000).map(value).collect();
            ring.push(&values);
        }
        let traces = ring.traces();
        assert_eq!(
            (traces.names.len(), traces.n_channels),
            (MOST_TRACES, 64),
            "more channels than lanes"
        );
        assert!(traces.columns.iter().all(|c| c.len() == COLUMNS));
        let last = traces.columns[0].last().expect("columns");
        assert_eq!(last.max, 29_999.0);
        let end_s = traces.covered_s.0 + traces.covered_s.1;
        assert!((end_s - 30.0).abs() < 0.05, "{end_s}");
    }

    #[test]
    fn a_gap_is_empty_and_as_long_as_it_was() {
        let mut ring = ring(1, 100.0);
        ring.push(&[1.0; 200]);
        ring.gap(3.0);
        ring.push(&[2.0; 100]);
        let traces = ring.traces();
        let empty = traces.columns[0].iter().filter(|c| c.is_empty()).count();
        let column_s = traces.covered_s.1 / traces.columns[0].len() as f64;
        assert!((empty as f64 * column_s - 3.0).abs() < 0.05, "{empty}");
        let end_s = traces.covered_s.0 + traces.covered_s.1;
        assert!((end_s - 6.0).abs() < 0.05, "{end_s}");
        // A clock that jumps back loses nothing that is known, and joins nothing.
        ring.gap(-5.0);
        ring.push(&[3.0, f64::NAN]);
        let end_s = ring.traces().covered_s.0 + ring.traces().covered_s.1;
        assert!((end_s - 6.0).abs() < 0.1, "{end_s}");
    }
}
