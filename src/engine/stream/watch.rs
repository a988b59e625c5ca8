//! Changes noticed in a stream: detectors on the error where labels come, and on margin, fit and class without them.

use serde::{Deserialize, Serialize};

use crate::evaluation::{Adwin, DriftAlarm, DriftDetector, PageHinkley, PageHinkleySettings};

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
    /// What changed.
    pub watched: Watched,
    /// The detector.
    pub detector: String,
    /// Its statistics.
    pub alarm: DriftAlarm,
}

impl WatchedAlarm {
    /// The alarm in one sentence.
    pub fn sentence(&self, class_names: &[String]) -> String {
        let what = match self.watched {
            Watched::Error => "the error".to_owned(),
            Watched::Margin => "the margin".to_owned(),
            Watched::Fit => "the fit".to_owned(),
            Watched::ClassShare(class) => format!(
                "the share of class {}",
                class_names.get(class).map_or("?", String::as_str)
            ),
        };
        format!(
            "change: {what} went from {:.3} to {:.3} ({} at decision {})",
            self.alarm.mean_before, self.alarm.mean_after, self.detector, self.decision
        )
    }
}

/// The detectors of a stream.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
            direction: crate::evaluation::Direction::Up,
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

    /// A decision was made; the new alarms.
    pub fn decided(&mut self, class: usize, margin: f64, fit_p: Option<f64>) -> Vec<WatchedAlarm> {
        self.n_decisions += 1;
        self.feed(|watched| match watched {
            Watched::Error => None,
            Watched::Margin => Some(margin),
            Watched::Fit => fit_p,
            Watched::ClassShare(share_of) => Some(f64::from(u8::from(share_of == class))),
        })
    }

    /// The truth about a decision came; the new alarms.
    pub fn corrected(&mut self, is_wrong: bool) -> Vec<WatchedAlarm> {
        self.feed(|watched| (watched == Watched::Error).then_some(f64::from(u8::from(is_wrong))))
    }

    fn feed(&mut self, value: impl Fn(Watched) -> Option<f64>) -> Vec<WatchedAlarm> {
        let mut raised = Vec::new();
        for (watched, detector) in &mut self.detectors {
            let found = value(*watched).and_then(|value| detector.update(value));
            raised.extend(found.map(|alarm| WatchedAlarm {
                decision: self.n_decisions,
                watched: *watched,
                detector: detector.name().to_owned(),
                alarm,
            }));
        }
        let room = MOST_ALARMS.saturating_sub(self.alarms.len());
        self.alarms.extend(raised.iter().take(room).cloned());
        raised
    }
}
