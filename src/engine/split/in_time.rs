//! The order of time: every sample is judged when it comes and learned when its label comes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::plan::{SplitError, check_share};
use crate::dataset::Dataset;

/// When the label of a sample comes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum LabelDelay {
    /// So many samples later; 0 for before the next sample.
    Samples(usize),
    /// So many seconds later, by the clocks of the recordings.
    Seconds(f64),
}

impl Default for LabelDelay {
    fn default() -> Self {
        Self::Samples(0)
    }
}

impl fmt::Display for LabelDelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Samples(1) => write!(f, "1 sample later"),
            Self::Samples(n) => write!(f, "{n} samples later"),
            Self::Seconds(s) => write!(f, "{s} s later"),
        }
    }
}

/// A text that is no delay.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no delay: name a number of samples (50) or of seconds (30s)")]
pub struct BadDelay(String);

/// A number of samples (`50`) or of seconds (`30s`).
impl FromStr for LabelDelay {
    type Err = BadDelay;

    fn from_str(text: &str) -> Result<Self, BadDelay> {
        let seconds = text.strip_suffix('s').map(str::trim);
        let delay = match seconds {
            Some(seconds) => seconds.parse().ok().map(Self::Seconds),
            None => text.parse().ok().map(Self::Samples),
        };
        let is_legal =
            |delay: &Self| !matches!(delay, Self::Seconds(s) if !(*s >= 0.0 && s.is_finite()));
        delay
            .filter(is_legal)
            .ok_or_else(|| BadDelay(text.to_owned()))
    }
}

/// Samples in the order in which they came: the first are learned from, every later one is tested, then learned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TimeOrder {
    /// Share of the samples that the learner begins with, between 0 and 1.
    pub start_share: f64,
    /// When labels come.
    pub delay: LabelDelay,
}

impl Default for TimeOrder {
    fn default() -> Self {
        Self {
            start_share: 0.1,
            delay: LabelDelay::default(),
        }
    }
}

impl TimeOrder {
    /// Which samples are tested: all but the first. Every class must be among the first.
    pub(super) fn test_samples(&self, dataset: &Dataset) -> Result<Vec<bool>, SplitError> {
        let share = check_share(self.start_share)?;
        if let LabelDelay::Seconds(delay_s) = self.delay {
            if !(delay_s >= 0.0 && delay_s.is_finite()) {
                return Err(SplitError::Delay { delay_s });
            }
            dataset.times_s().ok_or(SplitError::NoTimes)?;
        }
        let order = dataset.in_time();
        let n_start = (order.len() as f64 * share).round() as usize;
        let n_start = n_start.clamp(1, order.len().saturating_sub(1));
        let classes = dataset.classes();
        for class in 0..dataset.n_classes() {
            let is_class = |sample: &usize| classes[*sample] == class;
            let first = order.iter().position(is_class);
            if let Some(first) = first.filter(|first| *first >= n_start) {
                return Err(SplitError::LateClass {
                    name: dataset.class_names()[class].clone(),
                    first: first + 1,
                    n_start,
                });
            }
        }
        let mut tested = vec![false; order.len()];
        for sample in &order[n_start..] {
            tested[*sample] = true;
        }
        Ok(tested)
    }
}

/// A mini-batch of samples whose labels have come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrivalRound {
    /// Samples that are judged before it is learned, from the first.
    pub n_judged: usize,
    /// Labels that have come by then.
    pub n_labels: usize,
    /// The samples that are learned.
    pub learned: Vec<usize>,
}

/// What is judged and learned when, in the order of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrivalPlan {
    /// The samples as they come.
    pub order: Vec<usize>,
    /// The mini-batches; samples behind the last one are judged and not learned.
    pub rounds: Vec<ArrivalRound>,
}

impl ArrivalPlan {
    /// The plan for samples that are tested. A mini-batch is complete when one class has `batch_size` labels, as in a
    /// stream; samples that `is_dropped` says are left out never come.
    pub fn new(
        dataset: &Dataset,
        order: &TimeOrder,
        is_tested: impl Fn(usize) -> bool,
        batch_size: usize,
    ) -> Self {
        let mut coming = dataset.in_time();
        coming.retain(|sample| is_tested(*sample));
        let times_s = match order.delay {
            LabelDelay::Seconds(_) => dataset.times_s(),
            LabelDelay::Samples(_) => None,
        };
        let has_come = |label: usize, now: usize| match (order.delay, &times_s) {
            (LabelDelay::Samples(n), _) => label + n < now,
            (LabelDelay::Seconds(s), Some(times)) => {
                label < now && times[coming[label]] + s <= times[coming[now]]
            }
            (LabelDelay::Seconds(_), None) => false,
        };
        let mut rounds = Vec::new();
        let (mut waiting, mut n_labels) = (Vec::new(), 0);
        let mut counts = vec![0; dataset.n_classes()];
        for now in 0..coming.len() {
            while n_labels < now && has_come(n_labels, now) {
                let sample = coming[n_labels];
                n_labels += 1;
                waiting.push(sample);
                counts[dataset.classes()[sample]] += 1;
                if counts[dataset.classes()[sample]] >= batch_size {
                    counts.fill(0);
                    rounds.push(ArrivalRound {
                        n_judged: now,
                        n_labels,
                        learned: std::mem::take(&mut waiting),
                    });
                }
            }
        }
        Self {
            order: coming,
            rounds,
        }
    }
}
