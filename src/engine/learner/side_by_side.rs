//! Learners that learn each class alone, run side by side.

use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::decision::Decision;
use super::dictionary::Dictionary;
use super::error::LearnError;
use super::evidence::{Evidence, EvidenceProfile};
use super::head::Head;
use super::krls::{Krls, KrlsProfile};
use super::readout::{ClassSamples, Readout, ReadoutCache};
use super::report::{ClassReport, Repair, StepReport, TimeSpent};
use super::samples::Samples;
use super::seen::SeenSamples;
use super::settings::LearnerSettings;
use super::stop::StopSignal;
use super::stream::{Progress, SampleStream};
use super::{Learner, LearnerState};

/// What is kept of one class: everything needed to resume.
pub(super) trait Profile: Clone {
    /// The dictionary.
    fn dictionary(&self) -> &Dictionary;

    /// All samples seen, where they are remembered.
    fn seen(&self) -> Option<&SeenSamples> {
        None
    }

    /// The state of all classes together.
    fn state(profiles: Vec<Self>, decision: Decision) -> LearnerState;
}

/// A learner of one class.
pub(super) trait ClassLearner: Send + Sync + Sized {
    /// What it keeps.
    type Profile: Profile;

    /// Learns one mini-batch with forgetting factor λ.
    fn learn(
        &mut self,
        settings: &LearnerSettings,
        batch: &Samples,
        factor: f64,
        report: &mut ClassReport,
    );

    /// Goes on with a profile.
    fn resume(settings: &LearnerSettings, profile: Self::Profile) -> Self;

    /// What it has learned so far.
    fn profile(&self) -> &Self::Profile;

    /// The dictionary of that.
    fn dictionary(&self) -> &Dictionary {
        self.profile().dictionary()
    }
}

/// One learner per class and the decision between them.
#[derive(Debug)]
pub(super) struct SideBySide<L> {
    settings: LearnerSettings,
    learners: Vec<L>,
    decision: Decision,
    readouts: ReadoutCache,
    round: Vec<Vec<usize>>,
    /// What each class learns in turn.
    turns: Vec<Vec<Turn>>,
}

/// A mini-batch of one class, and what it comes to.
#[derive(Debug)]
struct Turn {
    batch: Samples,
    factor: f64,
    report: ClassReport,
}

/// Rounds that a class may learn in turn before the next class.
const ROUNDS_AT_ONCE: usize = 8;

impl<L: ClassLearner> SideBySide<L> {
    /// `decision` is calibrated as the settings say.
    pub(super) fn new(settings: LearnerSettings, learners: Vec<L>, mut decision: Decision) -> Self {
        decision.calibrate(settings.calibration, learners.len());
        let turns = learners.iter().map(|_| Vec::new()).collect();
        Self {
            settings,
            learners,
            decision,
            readouts: ReadoutCache::default(),
            round: Vec::new(),
            turns,
        }
    }
}

impl<L: ClassLearner> SideBySide<L> {
    /// Takes a round from the stream: a turn of each class.
    fn prepare(
        &mut self,
        number: usize,
        progress: Progress,
        stream: &mut SampleStream<'_>,
        report: &mut StepReport,
    ) -> Result<(), LearnError> {
        let settings = &self.settings;
        let Progress { round, n_rounds } = progress;
        let factor = settings.forgetting.factor(round, n_rounds);
        let most_moving = settings.most_moving();
        report.clear(factor, self.learners.len(), settings.n_atoms, most_moving);
        stream.take_round(progress, settings.batch_size, &mut self.round);
        for (class, samples) in self.round.iter().enumerate() {
            let turns = &mut self.turns[class];
            if turns.len() == number {
                let n_features = self.learners[class].dictionary().kept.n_features();
                turns.push(Turn {
                    batch: Samples::new(n_features, settings.batch_size),
                    factor,
                    report: ClassReport::default(),
                });
            }
            let turn = &mut turns[number];
            turn.batch.load(&settings.kernel, stream.data(), samples)?;
            turn.factor = factor;
            std::mem::swap(&mut turn.report, &mut report.classes[class]);
        }
        Ok(())
    }
}

impl Turn {
    fn learn<L: ClassLearner>(&mut self, settings: &LearnerSettings, learner: &mut L) {
        let Self {
            batch,
            factor,
            report,
        } = self;
        let begin = Instant::now();
        report.n_kept = learner.dictionary().n_kept();
        if !batch.is_empty() {
            learner.learn(settings, batch, *factor, report);
        } else if report.n_kept > settings.budget {
            // The budget was made smaller; nothing is learned, so nothing is forgotten.
            learner.learn(settings, batch, 1.0, report);
        }
        report.class_time = TimeSpent(begin.elapsed());
    }
}

impl<L: ClassLearner> Learner for SideBySide<L> {
    fn step(
        &mut self,
        progress: Progress,
        stream: &mut SampleStream<'_>,
        report: &mut StepReport,
    ) -> Result<(), LearnError> {
        self.steps(progress, stream, std::slice::from_mut(report))
    }

    fn rounds_at_once(&self) -> usize {
        ROUNDS_AT_ONCE
    }

    fn steps(
        &mut self,
        progress: Progress,
        stream: &mut SampleStream<'_>,
        reports: &mut [StepReport],
    ) -> Result<(), LearnError> {
        // All mini-batches are checked before any dictionary changes.
        for (number, report) in reports.iter_mut().enumerate() {
            let round = progress.round + number;
            self.prepare(number, Progress { round, ..progress }, stream, report)?;
        }
        stream.stop().check()?;
        self.readouts.clear();
        let (settings, n_turns) = (&self.settings, reports.len());
        let learn = |(learner, turns): (&mut L, &mut Vec<Turn>)| {
            for turn in &mut turns[..n_turns] {
                turn.learn(settings, learner);
            }
        };
        if stream.n_threads() > 1 {
            let learners = self.learners.par_iter_mut();
            learners.zip(&mut self.turns).for_each(learn);
        } else {
            let learners = self.learners.iter_mut();
            learners.zip(&mut self.turns).for_each(learn);
        }
        for (number, report) in reports.iter_mut().enumerate() {
            for (class, (turns, report)) in
                self.turns.iter_mut().zip(&mut report.classes).enumerate()
            {
                let turn = &mut turns[number];
                std::mem::swap(report, &mut turn.report);
                if !turn.batch.is_empty() {
                    self.decision
                        .note_usual_residual(class, report.mean_residual);
                }
            }
        }
        Ok(())
    }

    fn n_classes(&self) -> usize {
        self.learners.len()
    }

    fn dictionary(&self, class: usize) -> &Dictionary {
        self.learners[class].dictionary()
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }

    fn settings(&self) -> &LearnerSettings {
        &self.settings
    }

    fn readout(
        &self,
        head: Head,
        stop: StopSignal<'_>,
    ) -> Result<Option<Arc<Readout>>, LearnError> {
        if !head.has_readout() || !self.settings.algorithm.remembers_all() {
            return Ok(None);
        }
        let solve = || {
            let classes = self.learners.iter().map(|learner| ClassSamples {
                dictionary: learner.dictionary(),
                seen: learner.profile().seen(),
            });
            Readout::solve(head, &classes.collect::<Vec<_>>(), stop)
        };
        self.readouts.get(head, solve).map(Some)
    }

    fn change_settings(&mut self, settings: LearnerSettings) -> Result<(), LearnError> {
        self.settings.check_change(&settings)?;
        let learners = std::mem::take(&mut self.learners)
            .into_iter()
            .map(|learner| L::resume(&settings, learner.profile().clone()))
            .collect();
        *self = Self::new(settings, learners, self.decision.clone());
        Ok(())
    }

    fn state(&self) -> LearnerState {
        let profiles = self.learners.iter().map(|l| l.profile().clone());
        L::Profile::state(profiles.collect(), self.decision.clone())
    }
}

impl ClassLearner for Krls {
    type Profile = KrlsProfile;

    fn learn(
        &mut self,
        settings: &LearnerSettings,
        batch: &Samples,
        factor: f64,
        report: &mut ClassReport,
    ) {
        Krls::learn(self, settings, batch, factor, report);
    }

    fn resume(settings: &LearnerSettings, profile: KrlsProfile) -> Self {
        Krls::resume(settings, profile)
    }

    fn profile(&self) -> &KrlsProfile {
        &self.profile
    }
}

impl Profile for KrlsProfile {
    fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    fn state(profiles: Vec<Self>, decision: Decision) -> LearnerState {
        LearnerState::Krls { profiles, decision }
    }
}

impl ClassLearner for Evidence {
    type Profile = EvidenceProfile;

    fn learn(
        &mut self,
        settings: &LearnerSettings,
        batch: &Samples,
        factor: f64,
        report: &mut ClassReport,
    ) {
        Evidence::learn(self, settings, batch, factor, report);
    }

    fn resume(settings: &LearnerSettings, profile: EvidenceProfile) -> Self {
        Evidence::resume(settings, profile)
    }

    fn profile(&self) -> &EvidenceProfile {
        &self.profile
    }
}

impl Profile for EvidenceProfile {
    fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    fn seen(&self) -> Option<&SeenSamples> {
        self.seen.as_ref()
    }

    fn state(profiles: Vec<Self>, decision: Decision) -> LearnerState {
        LearnerState::Evidence { profiles, decision }
    }
}

/// What to report when start samples had to serve several atoms.
pub(super) fn shared_start(start: &Samples) -> Option<Repair> {
    let distinct: std::collections::BTreeSet<usize> = start.index().iter().copied().collect();
    let atoms = start.len() - distinct.len();
    (atoms > 0).then_some(Repair::SharedStart { atoms })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::{Supply, start_learner};
    use crate::math::Matrix;

    #[test]
    fn rounds_in_one_go_are_rounds_one_by_one() {
        let data = Matrix::from_fn(40, 300, |i, j| {
            ((i * 7 + j * 13) as f64).sin() + ((j % 3 * i) as f64).cos()
        });
        let orders = || -> Vec<Vec<usize>> {
            let of_class = |class: usize| (class..300).step_by(3).collect();
            (0..3).map(of_class).collect()
        };
        for preset in [
            LearnerSettings::paper_text(),
            LearnerSettings::evidence_preserving(),
        ] {
            let settings = LearnerSettings {
                budget: 40,
                calibration: 0.25,
                ..preset
            };
            let learned = |sizes: &[usize]| {
                let mut stream = SampleStream::new(data.view(), orders(), Supply::Repeat);
                let started = start_learner(&settings, &mut stream, 1);
                let (mut learner, _) = started.expect("sound samples");
                let (mut round, mut told) = (0, Vec::new());
                for &size in sizes {
                    let mut reports = vec![StepReport::default(); size];
                    let n_rounds = 12;
                    let progress = Progress { round, n_rounds };
                    let learned = learner.steps(progress, &mut stream, &mut reports);
                    learned.expect("sound samples");
                    round += size;
                    let classes = reports.iter().flat_map(|report| &report.classes);
                    told.extend(classes.map(|class| (class.admitted.clone(), class.n_kept)));
                }
                (ron::to_string(&learner.state()).expect("plain data"), told)
            };
            assert_eq!(learned(&[4, 1, 5, 2]), learned(&[1; 12]));
        }
    }
}
