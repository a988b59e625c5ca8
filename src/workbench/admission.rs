//! Which share of the last run's samples a growing criterion would have admitted at another threshold.

use super::Workbench;
use crate::experiment::{LogEntry, ProfileEvent};
use crate::learner::{Admission, Algorithm, Growing, LearnerSettings, Rejection};

/// So many samples are looked at, the newest: enough for a share, and soon counted.
const MOST_SAMPLES: usize = 20_000;

/// What a threshold is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// Largest coherence with a kept sample.
    Coherence,
    /// Share that the dictionary represents.
    Representation,
    /// The same as the published code measures it.
    RepresentationAsPublished,
    /// Share inside the span of the kept samples.
    Projection,
    /// Share outside that span: a sample is kept if its measure is *above* the threshold.
    Novelty,
}

impl Criterion {
    /// The criterion of a learner with its threshold; nothing where every sample is kept.
    pub fn of(learner: &LearnerSettings) -> Option<(Self, f64)> {
        match learner.algorithm {
            Algorithm::Krls { growing, .. } => match growing {
                Growing::Always => None,
                Growing::Coherence { threshold } => Some((Self::Coherence, threshold)),
                Growing::Representation { threshold } => Some((Self::Representation, threshold)),
                Growing::RepresentationAsPublished { threshold } => {
                    Some((Self::RepresentationAsPublished, threshold))
                }
                Growing::Projection { threshold } => Some((Self::Projection, threshold)),
            },
            Algorithm::Evidence { novelty, .. } | Algorithm::Margin { novelty, .. } => {
                Some((Self::Novelty, novelty))
            }
            Algorithm::Skdl { threshold, .. } => Some((Self::Projection, threshold)),
            Algorithm::Okdlfb { threshold, .. } => Some((Self::Coherence, threshold)),
            _ => None,
        }
    }
}

/// What a criterion measured of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Admissions {
    criterion: Criterion,
    /// Ascending.
    measures: Vec<f64>,
}

impl Admissions {
    fn new(criterion: Criterion, mut measures: Vec<f64>) -> Option<Self> {
        measures.sort_unstable_by(f64::total_cmp);
        (!measures.is_empty()).then_some(Self {
            criterion,
            measures,
        })
    }

    /// The criterion that measured.
    pub fn criterion(&self) -> Criterion {
        self.criterion
    }

    /// How many samples were measured.
    pub fn n_samples(&self) -> usize {
        self.measures.len()
    }

    /// The share of the samples that this threshold admits, their measures being as they were.
    pub fn share_at(&self, threshold: f64) -> f64 {
        let n_admitted = match self.criterion {
            Criterion::Novelty => {
                let n_below = self.measures.partition_point(|m| *m <= threshold);
                self.measures.len() - n_below
            }
            _ => self.measures.partition_point(|m| *m < threshold),
        };
        n_admitted as f64 / self.measures.len() as f64
    }
}

impl Workbench {
    /// What the criterion of a learner measured in the fold looked at; nothing if the run had
    /// another criterion.
    pub fn admissions(&self, learner: &LearnerSettings) -> Option<Admissions> {
        let run = self.training().run()?;
        let (criterion, _) = Criterion::of(learner)?;
        if Criterion::of(run.learner_now())?.0 != criterion {
            return None;
        }
        let entries = self.shown_part()?.log().entries().rev();
        let measures = entries.filter_map(measure).take(MOST_SAMPLES).collect();
        Admissions::new(criterion, measures)
    }
}

/// What was measured of a sample when it came.
fn measure(entry: LogEntry) -> Option<f64> {
    let measure = match entry.event {
        ProfileEvent::Admitted(
            Admission::Coherent(value)
            | Admission::Represented(value)
            | Admission::Projected(value)
            | Admission::Outside(value),
        )
        | ProfileEvent::Rejected(
            Rejection::Coherent(value)
            | Rejection::Represented(value)
            | Rejection::Projected(value)
            | Rejection::InSpan(value),
        ) => value,
        _ => return None,
    };
    measure.is_finite().then_some(measure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_admits_what_is_below_or_for_novelty_above_it() {
        let measures = vec![0.4, 0.1, 0.3, 0.2];
        let coherence = Admissions::new(Criterion::Coherence, measures.clone());
        let coherence = coherence.expect("something was measured");
        assert_eq!(coherence.share_at(0.3), 0.5);
        assert_eq!(coherence.share_at(1.0), 1.0);
        let novelty = Admissions::new(Criterion::Novelty, measures);
        let novelty = novelty.expect("something was measured");
        assert_eq!(novelty.share_at(0.3), 0.25);
        assert_eq!(novelty.share_at(0.0), 1.0);
        assert_eq!(Admissions::new(Criterion::Novelty, Vec::new()), None);
    }
}
