//! Which share of the last run's samples a growing criterion would have admitted at another threshold.

use super::{PartView, Stage, Workbench};
use atomscope_engine::experiment::{ProfileEvent, ProfileLog};
use atomscope_engine::learner::{Admission, Algorithm, Growing, LearnerSettings, Rejection};

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

/// Why it is not known what another threshold would have admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotMeasured {
    /// The run had another criterion, kernel or other samples, or was saved without the measures.
    OtherRun,
    /// The run has seen no sample yet.
    Nothing,
}

/// What was measured: number of the run, fold and criterion.
type Measured = (usize, usize, Criterion);

/// The measures found last, and of what.
#[derive(Debug, Default)]
pub(super) struct AdmissionStage {
    of: Option<Measured>,
    n_logged: usize,
    found: Option<Admissions>,
}

impl AdmissionStage {
    /// Whether what was found is out of date. A running log grows all the time; a sixteenth more
    /// of it changes no share by much.
    fn is_stale(&self, of: Measured, n_logged: usize, is_alive: bool) -> bool {
        let slack = if is_alive { self.n_logged / 16 } else { 0 };
        self.of != Some(of) || n_logged < self.n_logged || n_logged > self.n_logged + slack
    }
}

impl Workbench {
    /// What the criterion of the learner measured in the fold looked at.
    pub fn admissions(&self) -> Result<&Admissions, NotMeasured> {
        let learner = &self.document.draft.experiment.learner;
        let run = self.document.training.run().ok_or(NotMeasured::Nothing)?;
        let experiment = &self.document.draft.experiment;
        let criterion = |learner| Criterion::of(learner).map(|(criterion, _)| criterion);
        let is_same = criterion(run.learner_now()) == criterion(learner)
            && run.learner_now().kernel == learner.kernel
            && run.experiment.data == experiment.data
            && run.experiment.preparation == experiment.preparation;
        if !is_same {
            return Err(NotMeasured::OtherRun);
        }
        let found = self.tasks.admissions.found.as_ref();
        found.ok_or(match self.tasks.admissions.n_logged {
            0 => NotMeasured::Nothing,
            _ => NotMeasured::OtherRun,
        })
    }

    /// Takes the measures of the fold looked at from its log, where it has grown.
    pub(super) fn follow_admissions(&mut self) {
        if self.selection.page != Stage::Learner {
            return;
        }
        let run = self.document.training.run();
        let criterion = run.and_then(|run| Criterion::of(run.learner_now()));
        let (Some(fold), Some((criterion, _))) = (self.shown_fold(), criterion) else {
            return;
        };
        let is_alive = self.document.training.is_alive();
        let Some(log) = self.shown_part().map(PartView::log) else {
            return;
        };
        let of = (self.document.training.run_number(), fold, criterion);
        let n_logged = log.len();
        if !self.tasks.admissions.is_stale(of, n_logged, is_alive) {
            return;
        }
        let found = measures(log, criterion);
        self.tasks.admissions = AdmissionStage {
            of: Some(of),
            n_logged,
            found: found.and_then(|measures| Admissions::new(criterion, measures)),
        };
    }
}

/// What was measured of the newest samples; nothing where some were admitted without a measure.
fn measures(log: &ProfileLog, criterion: Criterion) -> Option<Vec<f64>> {
    let mut measures = Vec::new();
    for entry in log.entries().rev() {
        match entry.event {
            ProfileEvent::Admitted(Admission::Unmeasured) => return None,
            event => measures.extend(measure(event, criterion)),
        }
        if measures.len() == MOST_SAMPLES {
            break;
        }
    }
    Some(measures)
}

/// What this criterion measured of a sample when it came.
fn measure(event: ProfileEvent, criterion: Criterion) -> Option<f64> {
    let (measured_by, measure) = match event {
        ProfileEvent::Admitted(Admission::Coherent(value))
        | ProfileEvent::Rejected(Rejection::Coherent(value)) => (Criterion::Coherence, value),
        ProfileEvent::Admitted(Admission::Represented(value))
        | ProfileEvent::Rejected(Rejection::Represented(value)) => match criterion {
            Criterion::RepresentationAsPublished => (criterion, value),
            _ => (Criterion::Representation, value),
        },
        ProfileEvent::Admitted(Admission::Projected(value))
        | ProfileEvent::Rejected(Rejection::Projected(value)) => (Criterion::Projection, value),
        ProfileEvent::Admitted(Admission::Outside(value))
        | ProfileEvent::Rejected(Rejection::InSpan(value)) => (Criterion::Novelty, value),
        _ => return None,
    };
    (measured_by == criterion && measure.is_finite()).then_some(measure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_those_of_the_run_and_of_nearly_all_its_log() {
        let of = (2, 0, Criterion::Novelty);
        let stage = AdmissionStage {
            of: Some(of),
            n_logged: 1600,
            found: None,
        };
        assert!(!stage.is_stale(of, 1600, false));
        assert!(stage.is_stale(of, 1601, false), "it has ended");
        assert!(!stage.is_stale(of, 1700, true) && stage.is_stale(of, 1701, true));
        let another_run = (3, 0, Criterion::Novelty);
        assert!(stage.is_stale(another_run, 1600, false));
    }

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
