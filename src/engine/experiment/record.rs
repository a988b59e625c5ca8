//! What a run leaves behind: curves, confusion matrices, the log of every profile, timing.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::auto::AutoReport;
use super::checked::Part;
use super::shared::Shared;
use super::snapshot::Snapshot;
use crate::evaluation::{
    Assurance, BaselineResult, ChangeWatch, Confusion, Verdict, prediction_set,
};
use crate::learner::{Admission, ClassReport, Forgetting, Rejection, Removal, StepReport};
use crate::math::packed;

/// What one round did to the dictionary of one class, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassMetric {
    /// Samples admitted to the profile.
    pub admitted: u32,
    /// Samples of the mini-batch that were not.
    pub rejected: u32,
    /// Samples that left.
    pub removed: u32,
    /// Size of the profile.
    pub n_kept: u32,
    /// Things that had to be corrected.
    pub repairs: u32,
    /// Mean of r²/σ over the mini-batch before the update.
    pub residual: f32,
    /// Drift of the recursion.
    pub drift: f32,
    /// Smallest relative pivot.
    pub smallest_pivot: f32,
    /// Condition estimate.
    pub condition: f32,
}

/// What one round did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundMetric {
    /// Rounds done, this one included.
    pub batch: usize,
    /// λ of the round.
    pub forgetting_factor: f64,
    /// Samples of the round classified rightly before they were learned, and all of them.
    pub prequential: Option<(usize, usize)>,
    /// One entry per class.
    pub classes: Vec<ClassMetric>,
}

impl RoundMetric {
    pub(super) fn of(batch: usize, report: &StepReport) -> Self {
        Self {
            batch,
            forgetting_factor: report.forgetting_factor,
            prequential: report.prequential,
            classes: report.classes.iter().map(ClassMetric::of).collect(),
        }
    }
}

impl ClassMetric {
    fn of(report: &ClassReport) -> Self {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self {
            admitted: count(report.admitted.len()),
            rejected: count(report.rejected.len()),
            removed: count(report.removed.len()),
            n_kept: count(report.n_kept),
            repairs: count(report.health.repairs.len()),
            residual: report.mean_residual as f32,
            drift: report.health.drift as f32,
            smallest_pivot: report.health.smallest_pivot as f32,
            condition: report.health.condition as f32,
        }
    }
}

/// What happened to a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProfileEvent {
    /// The dictionary started from it.
    Start,
    /// It was admitted to the profile, and so new it was.
    Admitted(Admission),
    /// It was not admitted.
    Rejected(Rejection),
    /// It left the profile.
    Removed(Removal),
}

/// Everything that happened to samples in one part of a run. Columns instead of a list of
/// entries: there are many, and each column is stored as one array.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "LogColumns", into = "LogColumns")]
pub struct ProfileLog {
    /// What happened to one class in one round stands together.
    stretches: Vec<LogStretch>,
    sample: Vec<u32>,
    event: Vec<u8>,
    value: Vec<f64>,
}

/// Entries of one class and round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LogStretch {
    batch: u32,
    class: u32,
    /// Place of the first of them.
    first: usize,
}

/// The log as it is saved.
#[derive(Serialize, Deserialize)]
#[serde(rename = "ProfileLog")]
struct LogColumns {
    #[serde(with = "packed")]
    batch: Vec<u32>,
    #[serde(with = "packed")]
    class: Vec<u32>,
    #[serde(with = "packed")]
    sample: Vec<u32>,
    #[serde(with = "packed")]
    event: Vec<u8>,
    #[serde(with = "packed")]
    value: Vec<f64>,
}

impl From<ProfileLog> for LogColumns {
    fn from(log: ProfileLog) -> Self {
        let of_each = |what: fn(&LogStretch) -> u32| {
            let stretches = log.stretches();
            let each = stretches.flat_map(|(stretch, places)| places.map(move |_| what(stretch)));
            each.collect::<Vec<u32>>()
        };
        Self {
            batch: of_each(|stretch| stretch.batch),
            class: of_each(|stretch| stretch.class),
            sample: log.sample,
            event: log.event,
            value: log.value,
        }
    }
}

impl From<LogColumns> for ProfileLog {
    /// A damaged file may have columns of different lengths: the shortest counts.
    fn from(columns: LogColumns) -> Self {
        let mut log = Self::default();
        let own = columns.batch.into_iter().zip(columns.class);
        let samples = columns.sample.into_iter();
        let events = columns.event.into_iter().zip(columns.value);
        for ((place, sample), event) in own.zip(samples).zip(events) {
            log.push_entry(place, sample, event);
        }
        log
    }
}

/// One line of the log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogEntry {
    /// Rounds done when it happened, that round included; 0 at the start.
    pub batch: usize,
    /// The class.
    pub class: usize,
    /// The sample, by its place in the data set.
    pub sample: usize,
    /// What happened.
    pub event: ProfileEvent,
}

impl ProfileLog {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.sample.len()
    }

    /// Whether nothing has happened.
    pub fn is_empty(&self) -> bool {
        self.sample.is_empty()
    }

    /// All entries in order.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = LogEntry> + '_ {
        self.stretches().flat_map(move |(stretch, places)| {
            places.filter_map(move |i| {
                Some(LogEntry {
                    batch: stretch.batch as usize,
                    class: stretch.class as usize,
                    sample: self.sample[i] as usize,
                    event: decode(self.event[i], self.value[i])?,
                })
            })
        })
    }

    /// The stretches with the places of their entries.
    fn stretches(&self) -> impl DoubleEndedIterator<Item = (&LogStretch, Range<usize>)> + '_ {
        self.stretches
            .iter()
            .enumerate()
            .map(move |(number, stretch)| {
                let next = self.stretches.get(number + 1);
                (
                    stretch,
                    stretch.first..next.map_or(self.len(), |next| next.first),
                )
            })
    }

    /// The entries from number `first` on.
    pub(super) fn since(&self, first: usize) -> Self {
        let first = first.min(self.len());
        let known = self
            .stretches
            .partition_point(|stretch| stretch.first <= first);
        let stretches = self.stretches[known.saturating_sub(1)..].iter();
        let moved = stretches.map(|stretch| LogStretch {
            first: stretch.first.saturating_sub(first),
            ..*stretch
        });
        Self {
            stretches: match first < self.len() {
                true => moved.collect(),
                false => Vec::new(),
            },
            sample: self.sample[first..].to_vec(),
            event: self.event[first..].to_vec(),
            value: self.value[first..].to_vec(),
        }
    }

    /// Goes on with entries that came later.
    pub fn append(&mut self, mut later: Self) {
        for LogStretch {
            batch,
            class,
            first,
        } in later.stretches
        {
            self.stretch((batch, class), self.len() + first);
        }
        self.sample.append(&mut later.sample);
        self.event.append(&mut later.event);
        self.value.append(&mut later.value);
    }

    pub(super) fn push(&mut self, batch: usize, class: usize, sample: usize, event: ProfileEvent) {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        self.push_entry(
            (number(batch), number(class)),
            number(sample),
            encode(event),
        );
    }

    fn push_entry(&mut self, place: (u32, u32), sample: u32, (code, value): (u8, f64)) {
        self.stretch(place, self.len());
        self.sample.push(sample);
        self.event.push(code);
        self.value.push(value);
    }

    /// From entry `first` on entries are of this round and class.
    fn stretch(&mut self, (batch, class): (u32, u32), first: usize) {
        let last = self.stretches.last();
        if last.is_none_or(|last| (last.batch, last.class) != (batch, class)) {
            self.stretches.push(LogStretch {
                batch,
                class,
                first,
            });
        }
    }

    pub(super) fn note(&mut self, batch: usize, report: &StepReport) {
        for (class, report) in report.classes.iter().enumerate() {
            for (sample, how) in report.admissions() {
                self.push(batch, class, sample, ProfileEvent::Admitted(how));
            }
            for &(sample, why) in &report.rejected {
                self.push(batch, class, sample, ProfileEvent::Rejected(why));
            }
            for &(sample, why) in &report.removed {
                self.push(batch, class, sample, ProfileEvent::Removed(why));
            }
        }
    }
}

fn encode(event: ProfileEvent) -> (u8, f64) {
    match event {
        ProfileEvent::Start => (0, 0.0),
        ProfileEvent::Admitted(Admission::Unmeasured) => (1, 0.0),
        ProfileEvent::Rejected(Rejection::Coherent(value)) => (2, value),
        ProfileEvent::Rejected(Rejection::Represented(value)) => (3, value),
        ProfileEvent::Rejected(Rejection::Projected(value)) => (4, value),
        ProfileEvent::Rejected(Rejection::InSpan(value)) => (5, value),
        ProfileEvent::Rejected(Rejection::DependentCode) => (6, 0.0),
        ProfileEvent::Rejected(Rejection::Zero) => (7, 0.0),
        ProfileEvent::Removed(Removal::Oldest) => (8, 0.0),
        ProfileEvent::Removed(Removal::LeastContribution(value)) => (9, value),
        ProfileEvent::Removed(Removal::LeastLoss(value)) => (10, value),
        ProfileEvent::Removed(Removal::Forced) => (11, 0.0),
        ProfileEvent::Rejected(Rejection::NoCode) => (12, 0.0),
        ProfileEvent::Removed(Removal::Smallest(value)) => (13, value),
        ProfileEvent::Admitted(Admission::Coherent(value)) => (14, value),
        ProfileEvent::Admitted(Admission::Represented(value)) => (15, value),
        ProfileEvent::Admitted(Admission::Projected(value)) => (16, value),
        ProfileEvent::Admitted(Admission::Outside(value)) => (17, value),
    }
}

fn decode(code: u8, value: f64) -> Option<ProfileEvent> {
    Some(match code {
        0 => ProfileEvent::Start,
        1 => ProfileEvent::Admitted(Admission::Unmeasured),
        2 => ProfileEvent::Rejected(Rejection::Coherent(value)),
        3 => ProfileEvent::Rejected(Rejection::Represented(value)),
        4 => ProfileEvent::Rejected(Rejection::Projected(value)),
        5 => ProfileEvent::Rejected(Rejection::InSpan(value)),
        6 => ProfileEvent::Rejected(Rejection::DependentCode),
        7 => ProfileEvent::Rejected(Rejection::Zero),
        8 => ProfileEvent::Removed(Removal::Oldest),
        9 => ProfileEvent::Removed(Removal::LeastContribution(value)),
        10 => ProfileEvent::Removed(Removal::LeastLoss(value)),
        11 => ProfileEvent::Removed(Removal::Forced),
        12 => ProfileEvent::Rejected(Rejection::NoCode),
        13 => ProfileEvent::Removed(Removal::Smallest(value)),
        14 => ProfileEvent::Admitted(Admission::Coherent(value)),
        15 => ProfileEvent::Admitted(Admission::Represented(value)),
        16 => ProfileEvent::Admitted(Admission::Projected(value)),
        17 => ProfileEvent::Admitted(Admission::Outside(value)),
        _ => return None,
    })
}

/// The result of one test of the held-out samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestRecord {
    /// Rounds done before the test.
    pub batch: usize,
    /// What was decided.
    pub confusion: Confusion,
    /// What the dictionaries looked like.
    pub snapshot: Snapshot,
}

/// The result of a test with a share of the features set to zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MissingRecord {
    /// The share.
    pub share: f64,
    /// What was decided.
    pub confusion: Confusion,
    /// The same after suspicious zeros were filled in, where that was asked for.
    #[serde(default)]
    pub repaired: Option<Confusion>,
    /// The same with the missing features known and filled in.
    #[serde(default)]
    pub known: Option<Confusion>,
}

/// What was decided about each held-out sample at the last test. Columns, as in the log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decisions {
    /// Place in the data set.
    #[serde(with = "packed")]
    pub sample: Vec<usize>,
    /// Class decided for.
    #[serde(with = "packed")]
    pub class: Vec<usize>,
    /// The second best.
    #[serde(with = "packed")]
    pub runner_up: Vec<usize>,
    /// How much better the best is.
    #[serde(with = "packed")]
    pub margin: Vec<f64>,
    /// p of every class, sample after sample, where the model is calibrated: the prediction set at
    /// level ε holds the classes with p > ε.
    #[serde(default)]
    pub p_values: Vec<f64>,
    /// How probable so strange a sample is, where the model is calibrated.
    #[serde(default)]
    pub fit_p: Vec<f64>,
    /// ε of the run, where the model is calibrated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
}

impl Decisions {
    pub(super) fn add(&mut self, sample: usize, verdict: Verdict) {
        self.sample.push(sample);
        self.class.push(verdict.class);
        self.runner_up.push(verdict.runner_up);
        self.margin.push(verdict.margin);
    }

    pub(super) fn add_assured(&mut self, sample: usize, verdict: Verdict, assured: &Assurance) {
        self.add(sample, verdict);
        self.p_values.extend_from_slice(&assured.p_values);
        self.fit_p.push(assured.fit_p);
        self.epsilon = Some(assured.epsilon);
    }

    /// Adds later decisions.
    pub(super) fn append(&mut self, mut later: Self) {
        self.sample.append(&mut later.sample);
        self.class.append(&mut later.class);
        self.runner_up.append(&mut later.runner_up);
        self.margin.append(&mut later.margin);
        self.p_values.append(&mut later.p_values);
        self.fit_p.append(&mut later.fit_p);
        self.epsilon = self.epsilon.or(later.epsilon);
    }

    /// Whether prediction sets are known.
    pub fn is_assured(&self) -> bool {
        !self.sample.is_empty() && self.fit_p.len() == self.sample.len()
    }

    /// The prediction set of the decision at a place, at level ε.
    pub fn set(&self, place: usize, epsilon: f64) -> Option<Vec<usize>> {
        let n_classes = self.p_values.len() / self.sample.len().max(1);
        let own = self
            .p_values
            .get(place * n_classes..(place + 1) * n_classes)?;
        self.is_assured().then(|| prediction_set(own, epsilon))
    }
}

/// Measured times of one part; what is computed does not depend on them.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Rounds without their pruning.
    pub growing: Duration,
    /// Pruning.
    pub pruning: Duration,
    /// Tests.
    pub testing: Duration,
    /// Samples tested.
    pub n_tested: u64,
    /// Everything, waiting not counted.
    pub total: Duration,
}

impl Timing {
    /// Adds the times of another part.
    pub(super) fn add(&mut self, other: &Self) {
        self.growing += other.growing;
        self.pruning += other.pruning;
        self.testing += other.testing;
        self.n_tested += other.n_tested;
        self.total += other.total;
    }
}

/// Two runs with equal results are equal, whatever time they took.
impl PartialEq for Timing {
    fn eq(&self, other: &Self) -> bool {
        self.n_tested == other.n_tested
    }
}

/// Everything known of one part of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartRecord {
    /// Which part.
    pub part: Part,
    /// Rounds planned.
    pub n_rounds: usize,
    /// Samples learned from, and held out, after those with missing values were dropped.
    pub n_samples: (usize, usize),
    /// Every round.
    #[serde(with = "super::round_columns")]
    pub rounds: Vec<RoundMetric>,
    /// Every test.
    pub tests: Vec<Shared<TestRecord>>,
    /// Tests with missing features.
    pub missing: Vec<MissingRecord>,
    /// The last test, sample by sample.
    pub decisions: Shared<Decisions>,
    /// What happened to every sample.
    pub log: ProfileLog,
    /// Kept samples that the joint readout decides rightly without their group, and all of them; where groups are known.
    #[serde(default)]
    pub readout_logo: Option<(usize, usize)>,
    /// How often each atom of each class was used so far.
    pub atom_use: Vec<Vec<u64>>,
    /// Measured times.
    pub timing: Timing,
    /// Worth telling the user.
    pub remarks: Vec<String>,
    /// What was tried and chosen, where settings are chosen.
    #[serde(default)]
    pub auto: Option<AutoReport>,
    /// Simple classifiers on the same samples.
    #[serde(default)]
    pub baselines: Vec<BaselineResult>,
    /// In the order of time: what the detectors have seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_time: Option<TimeRecord>,
}

/// What happened in the order of time beside decisions and rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeRecord {
    /// Detectors and alarms.
    pub watch: ChangeWatch,
    /// Labels that the detectors have seen.
    pub n_labels: usize,
    /// While the past is forgotten faster: the round from which on λ is as before, and how it was.
    pub forgets_faster: Option<(usize, Forgetting)>,
}

impl PartRecord {
    pub(super) fn new(part: Part, n_rounds: usize) -> Self {
        Self {
            part,
            n_rounds,
            n_samples: (0, 0),
            rounds: Vec::new(),
            tests: Vec::new(),
            missing: Vec::new(),
            decisions: Shared(Arc::default()),
            log: ProfileLog::default(),
            readout_logo: None,
            atom_use: Vec::new(),
            timing: Timing::default(),
            remarks: Vec::new(),
            auto: None,
            baselines: Vec::new(),
            in_time: None,
        }
    }

    /// Accuracy at the last test.
    pub fn accuracy(&self) -> Option<f64> {
        self.tests.last()?.confusion.accuracy()
    }

    pub(super) fn note_use(&mut self, report: &StepReport) {
        self.atom_use.resize_with(report.classes.len(), Vec::new);
        for (total, class) in self.atom_use.iter_mut().zip(&report.classes) {
            total.resize(class.atom_use.len(), 0);
            for (total, now) in total.iter_mut().zip(&class.atom_use) {
                *total += u64::from(*now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_gives_back_every_event() {
        let events = [
            ProfileEvent::Start,
            ProfileEvent::Admitted(Admission::Unmeasured),
            ProfileEvent::Rejected(Rejection::Coherent(0.1)),
            ProfileEvent::Rejected(Rejection::Represented(0.2)),
            ProfileEvent::Rejected(Rejection::Projected(0.3)),
            ProfileEvent::Rejected(Rejection::InSpan(0.4)),
            ProfileEvent::Rejected(Rejection::DependentCode),
            ProfileEvent::Rejected(Rejection::Zero),
            ProfileEvent::Removed(Removal::Oldest),
            ProfileEvent::Removed(Removal::LeastContribution(0.5)),
            ProfileEvent::Removed(Removal::LeastLoss(0.6)),
            ProfileEvent::Removed(Removal::Forced),
            ProfileEvent::Rejected(Rejection::NoCode),
            ProfileEvent::Removed(Removal::Smallest(0.7)),
            ProfileEvent::Admitted(Admission::Coherent(0.8)),
            ProfileEvent::Admitted(Admission::Represented(0.9)),
            ProfileEvent::Admitted(Admission::Projected(0.11)),
            ProfileEvent::Admitted(Admission::Outside(0.12)),
        ];
        let mut log = ProfileLog::default();
        for (number, event) in events.into_iter().enumerate() {
            log.push(number, 1, 10 * number, event);
        }
        let read: Vec<ProfileEvent> = log.entries().map(|entry| entry.event).collect();
        assert_eq!(read, events);
        let last = log.entries().next_back().expect("there are entries");
        assert_eq!((last.batch, last.class, last.sample), (17, 1, 170));
    }

    #[test]
    fn parts_of_the_log_joined_and_the_log_saved_and_read_are_the_log() {
        let mut log = ProfileLog::default();
        for number in 0..40 {
            let event = ProfileEvent::Rejected(Rejection::InSpan(number as f64));
            log.push(number / 7, number / 3 % 2, number, event);
        }
        for cut in 0..=41 {
            let mut joined = log.since(0);
            assert_eq!(joined, log);
            joined = ProfileLog::default();
            for entry in log.entries().take(cut) {
                joined.push(entry.batch, entry.class, entry.sample, entry.event);
            }
            joined.append(log.since(cut));
            assert_eq!(joined, log, "cut at {cut}");
        }
        let text = ron::to_string(&log).expect("plain numbers");
        assert!(text.contains("batch:[0,0,0,0,0,0,0,1"), "{text}");
        assert_eq!(ron::from_str(&text), Ok(log));
    }
}
