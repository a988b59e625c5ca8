//! Changes noticed in a stream: detectors on the error where labels come, and on margin, fit and class without them.

use serde::{Deserialize, Serialize};

use super::{Adwin, Direction, DriftAlarm, DriftDetector, PageHinkley, PageHinkleySettings};

/// What a detector watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Watched {
    /// Whether a decision was wrong.
    Error,
    /// The margin of decisions.
    Margin,
    /// How well samples fit what was learned.
    Fit,
    /// The share of a class.
    ClassShare(usize),
}

/// An alarm of one detector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchedAlarm {
    /// Number of the decision, from 1.
    pub decision: u64,
    /// Start of the segment that raised it, in the time of the stream or file.
    #[serde(default)]
    pub start_s: Option<f64>,
    /// What changed.
    pub watched: Watched,
    /// The detector.
    pub detector: String,
    /// Its statistics.
    pub alarm: DriftAlarm,
    /// What was done about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AlarmAnswer>,
}

/// What was done about an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum AlarmAnswer {
    /// The past is forgotten faster for a while.
    Applied(FasterForgetting),
    /// Nothing.
    Dismissed,
}

/// A smaller λ for some mini-batches, so that the learner follows a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FasterForgetting {
    /// λ.
    pub factor: f64,
    /// Mini-batches that it holds for.
    pub n_batches: usize,
}

/// λ that is proposed first: with it digits that were turned were right again soonest.
const FIRST_FACTOR: f64 = 0.95;
/// What came before an alarm weighs as little when λ goes back.
const LEFT_OF_THE_PAST: f64 = 0.13;

impl FasterForgetting {
    /// What is proposed where λ is `now`: .95, or twice as much forgetting where that is in force; until what came
    /// before weighs an eighth.
    pub fn proposed(now: f64) -> Self {
        let factor = match now > FIRST_FACTOR + 1e-12 {
            true => FIRST_FACTOR,
            false => (1.0 - 2.0 * (1.0 - now)).max(0.5),
        };
        // .9 rather than .8999999999999999.
        let factor = (factor * 1e9).round() / 1e9;
        Self {
            factor,
            n_batches: (LEFT_OF_THE_PAST.ln() / factor.ln()).round() as usize,
        }
    }

    /// What is wrong with it, in words.
    pub fn problem(&self) -> Option<String> {
        let Self { factor, n_batches } = self;
        match (*factor > 0.0 && *factor <= 1.0, *n_batches) {
            (false, _) => Some(format!("λ must be above 0 and at most 1, but is {factor}")),
            (true, 0) => Some("the number of mini-batches must be at least 1".into()),
            (true, _) => None,
        }
    }

    /// In words, where λ is `now`.
    pub fn sentence(&self, now: f64) -> String {
        let (factor, n_batches) = (self.factor, self.n_batches);
        format!("forget faster: λ {now} → {factor} for {n_batches} mini-batches")
    }
}

impl Watched {
    /// In words.
    pub fn in_words(self, class_names: &[String]) -> String {
        match self {
            Self::Error => "the error".to_owned(),
            Self::Margin => "the margin".to_owned(),
            Self::Fit => "the fit".to_owned(),
            Self::ClassShare(class) => format!(
                "the share of class {}",
                class_names.get(class).map_or("?", String::as_str)
            ),
        }
    }
}

impl WatchedAlarm {
    /// Whether what was learned has become worse: more errors, smaller margins, a worse fit.
    pub fn is_worse(&self) -> bool {
        let (before, after) = (self.alarm.mean_before, self.alarm.mean_after);
        match self.watched {
            Watched::Error => after > before,
            Watched::Margin | Watched::Fit => after < before,
            Watched::ClassShare(_) => false,
        }
    }

    /// The alarm in one sentence.
    pub fn sentence(&self, class_names: &[String]) -> String {
        let what = self.watched.in_words(class_names);
        format!(
            "change: {what} went from {:.3} to {:.3} ({} at decision {})",
            self.alarm.mean_before, self.alarm.mean_after, self.detector, self.decision
        )
    }
}

/// The detectors of a stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeWatch {
    n_decisions: u64,
    detectors: Vec<(Watched, DriftDetector)>,
    /// Alarms so far, the oldest first.
    pub alarms: Vec<WatchedAlarm>,
}

/// Most alarms that are remembered.
const MOST_ALARMS: usize = 10_000;

impl ChangeWatch {
    /// ADWIN on every quantity; Page–Hinkley beside it on the error, where it is quickest.
    pub fn new(n_classes: usize) -> Self {
        let adwin = || DriftDetector::Adwin(Adwin::default());
        let page_hinkley = PageHinkley::new(PageHinkleySettings {
            direction: Direction::Up,
            ..PageHinkleySettings::default()
        });
        let mut detectors = vec![
            (Watched::Error, adwin()),
            (Watched::Error, DriftDetector::PageHinkley(page_hinkley)),
            (Watched::Margin, adwin()),
            (Watched::Fit, adwin()),
        ];
        detectors.extend((0..n_classes).map(|class| (Watched::ClassShare(class), adwin())));
        Self {
            n_decisions: 0,
            detectors,
            alarms: Vec::new(),
        }
    }

    /// Decisions so far.
    pub fn n_decisions(&self) -> u64 {
        self.n_decisions
    }

    /// A decision was made; the new alarms with their places.
    pub fn decided(
        &mut self,
        class: usize,
        margin: f64,
        fit_p: Option<f64>,
        start_s: Option<f64>,
    ) -> Vec<(usize, WatchedAlarm)> {
        self.n_decisions += 1;
        self.feed(start_s, |watched| match watched {
            Watched::Error => None,
            Watched::Margin => Some(margin),
            Watched::Fit => fit_p,
            Watched::ClassShare(share_of) => Some(f64::from(u8::from(share_of == class))),
        })
    }

    /// The truth about a decision came; the new alarms with their places.
    pub fn corrected(
        &mut self,
        is_wrong: bool,
        start_s: Option<f64>,
    ) -> Vec<(usize, WatchedAlarm)> {
        let error = f64::from(u8::from(is_wrong));
        self.feed(start_s, |watched| {
            (watched == Watched::Error).then_some(error)
        })
    }

    fn feed(
        &mut self,
        start_s: Option<f64>,
        value: impl Fn(Watched) -> Option<f64>,
    ) -> Vec<(usize, WatchedAlarm)> {
        let mut raised = Vec::new();
        for (watched, detector) in &mut self.detectors {
            let found = value(*watched).and_then(|value| detector.update(value));
            raised.extend(found.map(|alarm| WatchedAlarm {
                decision: self.n_decisions,
                start_s,
                watched: *watched,
                detector: detector.name().to_owned(),
                alarm,
                answer: None,
            }));
        }
        let first = self.alarms.len();
        let room = MOST_ALARMS.saturating_sub(first);
        self.alarms.extend(raised.iter().take(room).cloned());
        (first..).zip(raised).collect()
    }
}
