//! Margin-aware evidence-preserving KRLS: an online decision layer, and a memory that
//! prefers samples which are hard to classify.
//!
//! Before anything is updated, every sample of a round is coded by every class. The
//! decision layer turns residuals and distances into probabilities; e = 1 − p_y tells how
//! hard the sample was. It weighs the sample in the dictionary of its class (½ + 2e), and
//! e² protects it in the profile. See `evidence` for the dictionaries themselves.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::algorithm::Algorithm;
use super::decision::{Decision, LogitRound, OnlineLogit, softmax};
use super::dictionary::Dictionary;
use super::error::LearnError;
use super::evidence::{Emphasis, Evidence, EvidenceProfile};
use super::gate::{Gate, UsualFit};
use super::head::{Head, JOINT_UP_TO};
use super::readout::{ClassSamples, Readout, ReadoutCache};
use super::report::{ClassReport, StepReport, TimeSpent};
use super::samples::Samples;
use super::scoring::{BlockScores, Circumstances};
use super::second_look::{LEARN_EVERY, SecondLookRound};
use super::settings::LearnerSettings;
use super::stop::StopSignal;
use super::stream::{Progress, SampleStream};
use super::{Learner, LearnerState};

/// Everything needed to resume.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarginState {
    /// The dictionaries.
    pub profiles: Vec<EvidenceProfile>,
    /// The decision layer; learned or, if switched off, as at the start.
    pub logit: OnlineLogit,
    n_rounds: u64,
    /// How well samples usually fit, where the gate is switched on.
    #[serde(default)]
    pub usual_fit: Option<UsualFit>,
}

/// The learner of all classes.
#[derive(Debug)]
pub(super) struct Margin {
    settings: LearnerSettings,
    classes: Vec<Evidence>,
    /// What decides: the layer itself, or the smallest residual.
    decision: Decision,
    /// The layer that measures e when it does not decide.
    idle_layer: Option<OnlineLogit>,
    n_rounds: u64,
    usual_fit: Option<UsualFit>,
    /// q05 of that, once it was asked for.
    usual_threshold: OnceLock<Option<f64>>,
    readouts: ReadoutCache,
    work: Work,
}

#[derive(Debug)]
struct Work {
    round: Vec<Vec<usize>>,
    /// All samples of the round, class after class.
    block: Samples,
    scores: BlockScores,
    logit_round: LogitRound,
    probabilities: Vec<f64>,
    /// e of every sample.
    error: Vec<f64>,
    /// What each class is given to learn.
    lessons: Vec<Lesson>,
}

/// The samples of a round that belong to one class.
#[derive(Debug)]
struct Lesson {
    batch: Samples,
    /// ½ + 2e.
    weights: Vec<f64>,
    /// e².
    errors: Vec<f64>,
}

impl Lesson {
    fn new(n_features: usize, batch_size: usize) -> Self {
        Self {
            batch: Samples::new(n_features, batch_size),
            weights: Vec::with_capacity(batch_size),
            errors: Vec::with_capacity(batch_size),
        }
    }

    /// Takes the samples of `block` at `places`, each with how hard it was.
    fn fill(
        &mut self,
        block: &Samples,
        places: std::ops::Range<usize>,
        error: &[f64],
        error_weights: bool,
    ) {
        self.batch.clear();
        self.weights.clear();
        self.errors.clear();
        for i in places {
            self.batch.push_from(block, i);
            let weight = if error_weights {
                0.5 + 2.0 * error[i]
            } else {
                1.0
            };
            self.weights.push(weight);
            self.errors.push(error[i] * error[i]);
        }
    }
}

impl Margin {
    /// A learner of freshly started classes.
    pub(super) fn new(settings: LearnerSettings, classes: Vec<Evidence>) -> Self {
        let logit = OnlineLogit::new(classes.len());
        Self::assemble(settings, classes, logit, 0, None)
    }

    /// Goes on with a saved state.
    pub(super) fn resume(settings: LearnerSettings, state: MarginState) -> Self {
        let classes = state
            .profiles
            .into_iter()
            .map(|profile| Evidence::resume(&settings, profile))
            .collect();
        Self::assemble(
            settings,
            classes,
            state.logit,
            state.n_rounds,
            state.usual_fit,
        )
    }

    fn assemble(
        settings: LearnerSettings,
        classes: Vec<Evidence>,
        mut logit: OnlineLogit,
        n_rounds: u64,
        usual_fit: Option<UsualFit>,
    ) -> Self {
        let Algorithm::Margin { decision_layer, .. } = settings.algorithm else {
            unreachable!("settings of another algorithm")
        };
        logit.switch_second_look(settings.looks_twice(classes.len()));
        let usual_fit = settings.gate.then(|| usual_fit.unwrap_or_default());
        let n_features = classes
            .first()
            .map_or(0, |class| class.profile.dictionary.kept.n_features());
        let n_classes = classes.len();
        let work = Work {
            round: Vec::new(),
            block: Samples::new(n_features, n_classes * settings.batch_size),
            scores: BlockScores::new(&settings, n_classes),
            logit_round: LogitRound::default(),
            probabilities: vec![0.0; n_classes],
            error: Vec::new(),
            lessons: (0..n_classes)
                .map(|_| Lesson::new(n_features, settings.batch_size))
                .collect(),
        };
        let (decision, idle_layer) = if decision_layer {
            (Decision::OnlineLogit(logit), None)
        } else {
            (Decision::SmallestResidual, Some(logit))
        };
        Self {
            settings,
            classes,
            decision,
            idle_layer,
            n_rounds,
            usual_threshold: OnceLock::new(),
            usual_fit,
            readouts: ReadoutCache::default(),
            work,
        }
    }

    fn logit(&self) -> &OnlineLogit {
        match (&self.decision, &self.idle_layer) {
            (Decision::OnlineLogit(logit), _) | (_, Some(logit)) => logit,
            _ => unreachable!("there is always a layer"),
        }
    }

    /// Every sample of the round is coded by every class; own samples keep their codes.
    fn see_round(&mut self, stop: StopSignal<'_>, n_threads: usize) -> Result<(), LearnError> {
        let Work {
            round,
            block,
            scores,
            ..
        } = &mut self.work;
        let circumstances = Circumstances {
            with_distance: true,
            stop,
            n_threads,
        };
        let classes = &self.classes;
        let dictionary = |c: usize| &classes[c].profile.dictionary;
        scores.see(block, circumstances, dictionary, |c| places_of(round, c))
    }

    /// Scores, probabilities and e of every sample; the sums for learning the layer.
    fn judge_round(&mut self, report: &mut StepReport) {
        // The layer measures e even when the smallest residual decides.
        let logit = match (&self.decision, &self.idle_layer) {
            (Decision::OnlineLogit(logit), _) | (_, Some(logit)) => logit,
            _ => unreachable!("there is always a layer"),
        };
        let n_classes = self.classes.len();
        let work = &mut self.work;
        work.error.clear();
        work.logit_round.clear(n_classes);
        let (mut right, mut judged) = (0, 0);
        for (i, class) in labels(&work.round).enumerate() {
            for c in 0..n_classes {
                work.scores.scores[(c, i)] = logit.score(c, work.scores.evidence(c, i));
            }
            if work.block.is_zero(i) {
                work.error.push(0.0);
                continue;
            }
            work.probabilities
                .copy_from_slice(work.scores.scores.col(i));
            let best = softmax(&mut work.probabilities);
            work.error.push(1.0 - work.probabilities[class]);
            let scores = &work.scores;
            work.logit_round
                .add(|c| scores.evidence(c, i), &work.probabilities, class);
            judged += 1;
            let decided = if self.idle_layer.is_some() {
                smallest(scores.residual_shares.col(i))
            } else {
                best
            };
            right += usize::from(decided == class);
        }
        report.prequential = Some((right, judged));
    }

    /// The decision layer learns; the dictionaries have not changed yet. Interrupted, nothing has.
    fn learn_decision(&mut self, stop: StopSignal<'_>) -> Result<(), LearnError> {
        let Decision::OnlineLogit(logit) = &mut self.decision else {
            return Ok(());
        };
        let work = &mut self.work;
        if let Some(second_look) = &mut logit.second_look
            && (self.n_rounds + 1).is_multiple_of(LEARN_EVERY)
        {
            let mut sums = SecondLookRound::default();
            let classes = &self.classes;
            for (i, class) in labels(&work.round).enumerate() {
                if work.block.is_zero(i) {
                    continue;
                }
                let dictionary = |c: usize| &classes[c].profile.dictionary;
                if let Some(((a, b), score)) = work.scores.look_again(i, stop, dictionary)? {
                    work.probabilities
                        .copy_from_slice(work.scores.scores.col(i));
                    work.probabilities[a] += second_look.weight * score;
                    work.probabilities[b] -= second_look.weight * score;
                    softmax(&mut work.probabilities);
                    sums.add((a, b), score, &work.probabilities, class);
                }
            }
            second_look.learn(sums);
        }
        logit.learn(&mut work.logit_round);
        Ok(())
    }

    /// In the second half of the training: how well the samples of the round fitted before they
    /// are learned.
    fn note_fits(&mut self, progress: Progress) {
        let Some(usual_fit) = &mut self.usual_fit else {
            return;
        };
        if 2 * progress.round < progress.n_rounds {
            return;
        }
        let Work { block, scores, .. } = &self.work;
        for i in (0..block.len()).filter(|&i| !block.is_zero(i)) {
            let fits = (0..self.classes.len()).map(|c| scores.evidence(c, i)[0]);
            usual_fit.note(fits.fold(f64::NEG_INFINITY, f64::max));
        }
        self.usual_threshold = OnceLock::new();
    }

    /// Every class learns its own samples with their weights.
    fn learn_dictionaries(&mut self, factor: f64, n_threads: usize, report: &mut StepReport) {
        let Algorithm::Margin {
            error_weights,
            memory_of_errors,
            ..
        } = self.settings.algorithm
        else {
            unreachable!("settings of another algorithm")
        };
        let settings = &self.settings;
        let Work {
            round,
            block,
            scores,
            error,
            lessons,
            ..
        } = &mut self.work;
        let views = &scores.views;
        let learn =
            |c: usize, class: &mut Evidence, lesson: &mut Lesson, report: &mut ClassReport| {
                let begin = Instant::now();
                let places = places_of(round, c);
                report.n_kept = class.profile.dictionary.n_kept();
                if places.is_empty() && report.n_kept <= settings.budget {
                    return;
                }
                // Without samples only a budget made smaller is kept; nothing is forgotten.
                let factor = if places.is_empty() { 1.0 } else { factor };
                lesson.fill(block, places.clone(), error, error_weights);
                class.view.take_rows(&views[c], places.start, places.len());
                let emphasis = Emphasis {
                    weights: &lesson.weights,
                    errors: &lesson.errors,
                    memory_of_errors,
                };
                class.learn_coded(settings, &lesson.batch, factor, Some(emphasis), report);
                report.class_time = TimeSpent(views[c].time.0 + begin.elapsed());
            };
        if n_threads > 1 {
            let classes = self.classes.par_iter_mut().zip(lessons).enumerate();
            classes
                .zip(&mut report.classes)
                .for_each(|((c, (class, lesson)), report)| learn(c, class, lesson, report));
        } else {
            let classes = self.classes.iter_mut().zip(lessons).enumerate();
            classes
                .zip(&mut report.classes)
                .for_each(|((c, (class, lesson)), report)| learn(c, class, lesson, report));
        }
        scores.dictionaries_changed();
    }
}

impl Learner for Margin {
    fn step(
        &mut self,
        progress: Progress,
        stream: &mut SampleStream<'_>,
        report: &mut StepReport,
    ) -> Result<(), LearnError> {
        let factor = self
            .settings
            .forgetting
            .factor(progress.round, progress.n_rounds);
        report.clear(
            factor,
            self.classes.len(),
            self.settings.n_atoms,
            self.settings.most_moving(),
        );
        let work = &mut self.work;
        stream.take_round(progress, self.settings.batch_size, &mut work.round);
        work.block.clear();
        for samples in &work.round {
            for &sample in samples {
                let x = stream.data().col(sample);
                work.block.push(&self.settings.kernel, sample, x)?;
            }
        }
        let (stop, n_threads) = (stream.stop(), stream.n_threads());
        self.see_round(stop, n_threads)?;
        self.judge_round(report);
        self.learn_decision(stop)?;
        self.note_fits(progress);
        self.readouts.clear();
        self.learn_dictionaries(factor, n_threads, report);
        self.n_rounds += 1;
        Ok(())
    }

    fn n_classes(&self) -> usize {
        self.classes.len()
    }

    fn dictionary(&self, class: usize) -> &Dictionary {
        &self.classes[class].profile.dictionary
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
        let n_kept: usize = self.classes.iter().map(Evidence::n_kept).sum();
        if !head.has_readout() || head.adds_readout() && n_kept > JOINT_UP_TO {
            return Ok(None);
        }
        let solve = || {
            let classes = self.classes.iter().map(|class| ClassSamples {
                dictionary: &class.profile.dictionary,
                seen: class.profile.seen.as_ref(),
            });
            Readout::solve(head, &classes.collect::<Vec<_>>(), stop)
        };
        self.readouts.get(head, solve).map(Some)
    }

    fn gate(&self) -> Option<Gate> {
        let usual_fit = self.usual_fit.as_ref()?;
        let threshold = self.usual_threshold.get_or_init(|| usual_fit.threshold());
        Some(Gate {
            threshold: (*threshold)?,
            theta: self.logit().theta,
        })
    }

    fn change_settings(&mut self, settings: LearnerSettings) -> Result<(), LearnError> {
        self.settings.check_change(&settings)?;
        let logit = self.logit().clone();
        let classes = std::mem::take(&mut self.classes)
            .into_iter()
            .map(|class| Evidence::resume(&settings, class.profile))
            .collect();
        let usual_fit = self.usual_fit.take();
        *self = Self::assemble(settings, classes, logit, self.n_rounds, usual_fit);
        Ok(())
    }

    fn state(&self) -> LearnerState {
        LearnerState::Margin(MarginState {
            profiles: self.classes.iter().map(|c| c.profile.clone()).collect(),
            logit: self.logit().clone(),
            n_rounds: self.n_rounds,
            usual_fit: self.usual_fit.clone(),
        })
    }
}

/// Where the samples of class `c` stand in the round.
fn places_of(round: &[Vec<usize>], c: usize) -> std::ops::Range<usize> {
    let first = round[..c].iter().map(Vec::len).sum();
    first..first + round[c].len()
}

/// The class of every sample of a round, in order.
fn labels(round: &[Vec<usize>]) -> impl Iterator<Item = usize> + '_ {
    round
        .iter()
        .enumerate()
        .flat_map(|(class, samples)| std::iter::repeat_n(class, samples.len()))
}

fn smallest(values: &[f64]) -> usize {
    let by_value = |&a: &usize, &b: &usize| values[a].total_cmp(&values[b]);
    (0..values.len()).min_by(by_value).unwrap_or(0)
}
