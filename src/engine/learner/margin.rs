//! Margin-aware evidence-preserving KRLS: an online decision layer, and a memory that
//! prefers samples which are hard to classify.
//!
//! Before anything is updated, every sample of a round is coded by every class. The
//! decision layer turns residuals and distances into probabilities; e = 1 − p_y tells how
//! hard the sample was. It weighs the sample in the dictionary of its class (½ + 2e), and
//! e² protects it in the profile. See `evidence` for the dictionaries themselves.

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

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
use super::scoring::{BlockScores, Circumstances, Distances, block_size};
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
    work: MarginScratch,
}

#[derive(Debug)]
struct MarginScratch {
    round: Vec<Vec<usize>>,
    /// Most samples of several classes that all classes look at together.
    block_size: usize,
    /// The samples of some classes, one class after the other.
    block: Samples,
    scores: BlockScores,
    logit_round: LogitRound,
    second_look_round: SecondLookRound,
    /// How well the samples of the round fit.
    fits: Vec<f64>,
    /// How long every class has looked at the round.
    time: Vec<Duration>,
    probabilities: Vec<f64>,
    /// e of every sample in the block.
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
        let work = MarginScratch {
            round: Vec::new(),
            block_size: block_size(n_classes),
            block: Samples::new(
                n_features,
                (n_classes * settings.batch_size).min(block_size(n_classes)),
            ),
            scores: BlockScores::new(&settings, n_classes),
            logit_round: LogitRound::default(),
            second_look_round: SecondLookRound::default(),
            fits: Vec::new(),
            time: Vec::new(),
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

    /// Every class looks at the whole round, some classes of samples at a time so that memory follows
    /// the number of classes and not its square. Dictionaries and decision stay as they are.
    fn see_round(
        &mut self,
        progress: Progress,
        stream: &SampleStream<'_>,
        report: &mut StepReport,
    ) -> Result<(), LearnError> {
        let n_classes = self.classes.len();
        let n_samples = self.work.round.iter().map(Vec::len).sum();
        self.work.logit_round.clear(n_classes, n_samples);
        self.work.second_look_round = SecondLookRound::default();
        self.work.fits.clear();
        self.work.time.clear();
        self.work.time.resize(n_classes, Duration::ZERO);
        let mut counts = (0, 0);
        let mut first = 0;
        while first < n_classes {
            let group = first..end_of_group(&self.work.round, first, self.work.block_size);
            self.see_group(group.clone(), stream)?;
            self.judge_group(group.clone(), &mut counts);
            self.look_again(group.clone(), stream.stop())?;
            self.measure_fits(progress);
            self.prepare_lessons(group.clone());
            first = group.end;
        }
        report.prequential = Some(counts);
        Ok(())
    }

    /// Every sample of some classes is coded by every class; own samples keep their codes.
    fn see_group(
        &mut self,
        group: Range<usize>,
        stream: &SampleStream<'_>,
    ) -> Result<(), LearnError> {
        let MarginScratch {
            round,
            block,
            scores,
            time,
            ..
        } = &mut self.work;
        block.clear();
        for &sample in round[group.clone()].iter().flatten() {
            block.push_column(&self.settings.kernel, stream.data(), sample)?;
        }
        let circumstances = Circumstances {
            distances: Distances::ToLearn,
            stop: stream.stop(),
            n_threads: stream.n_threads(),
        };
        let classes = &self.classes;
        let dictionary = |c: usize| &classes[c].profile.dictionary;
        scores.see(block, circumstances, dictionary, |c| {
            places_of(round, &group, c)
        })?;
        for (time, view) in time.iter_mut().zip(&scores.views) {
            *time += view.time.0;
        }
        Ok(())
    }

    /// Scores, probabilities and e of every sample in the block; the sums for learning the layer.
    fn judge_group(&mut self, group: Range<usize>, (right, judged): &mut (usize, usize)) {
        // The layer measures e even when the smallest residual decides.
        let logit = match (&self.decision, &self.idle_layer) {
            (Decision::OnlineLogit(logit), _) | (_, Some(logit)) => logit,
            _ => unreachable!("there is always a layer"),
        };
        let n_classes = self.classes.len();
        let work = &mut self.work;
        work.error.clear();
        for (i, class) in labels(&work.round, group).enumerate() {
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
            *judged += 1;
            let decided = if self.idle_layer.is_some() {
                smallest(scores.residual_shares.col(i))
            } else {
                best
            };
            *right += usize::from(decided == class);
        }
    }

    /// Sums of doubtful samples in the block, in rounds that learn from them.
    fn look_again(&mut self, group: Range<usize>, stop: StopSignal<'_>) -> Result<(), LearnError> {
        let Decision::OnlineLogit(OnlineLogit {
            second_look: Some(second_look),
            ..
        }) = &self.decision
        else {
            return Ok(());
        };
        if !(self.n_rounds + 1).is_multiple_of(LEARN_EVERY) {
            return Ok(());
        }
        let (work, classes) = (&mut self.work, &self.classes);
        for (i, class) in labels(&work.round, group).enumerate() {
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
                let sums = &mut work.second_look_round;
                sums.add((a, b), score, &work.probabilities, class);
            }
        }
        Ok(())
    }

    /// In the second half of the training: how well the samples in the block fitted before they are
    /// learned.
    fn measure_fits(&mut self, progress: Progress) {
        if self.usual_fit.is_none() || 2 * progress.round < progress.n_rounds {
            return;
        }
        let MarginScratch {
            block,
            scores,
            fits,
            ..
        } = &mut self.work;
        for i in (0..block.len()).filter(|&i| !block.is_zero(i)) {
            let of_classes = (0..self.classes.len()).map(|c| scores.evidence(c, i)[0]);
            fits.push(of_classes.fold(f64::NEG_INFINITY, f64::max));
        }
    }

    /// Classes keep what they see of their own samples in the block, with their weights.
    fn prepare_lessons(&mut self, group: Range<usize>) {
        let Algorithm::Margin { error_weights, .. } = self.settings.algorithm else {
            unreachable!("settings of another algorithm")
        };
        let MarginScratch {
            round,
            block,
            scores,
            error,
            lessons,
            ..
        } = &mut self.work;
        for c in group.clone() {
            let places = places_of(round, &group, c);
            lessons[c].fill(block, places.clone(), error, error_weights);
            let view = &mut self.classes[c].view;
            view.take_rows(&scores.views[c], places.start, places.len());
        }
    }

    /// The decision layer learns; the dictionaries have not changed yet.
    fn learn_decision(&mut self) {
        if let Decision::OnlineLogit(logit) = &mut self.decision {
            if let Some(second_look) = &mut logit.second_look
                && (self.n_rounds + 1).is_multiple_of(LEARN_EVERY)
            {
                second_look.learn(self.work.second_look_round);
            }
            if !self.settings.head.is_some_and(Head::leaves_layer) {
                logit.learn(&mut self.work.logit_round);
            }
        }
        if let (Some(usual_fit), false) = (&mut self.usual_fit, self.work.fits.is_empty()) {
            self.work.fits.iter().for_each(|fit| usual_fit.note(*fit));
            self.usual_threshold = OnceLock::new();
        }
    }

    /// Every class learns its own samples with their weights.
    fn learn_dictionaries(&mut self, factor: f64, n_threads: usize, report: &mut StepReport) {
        let Algorithm::Margin {
            memory_of_errors, ..
        } = self.settings.algorithm
        else {
            unreachable!("settings of another algorithm")
        };
        let settings = &self.settings;
        let MarginScratch {
            scores,
            lessons,
            time,
            ..
        } = &mut self.work;
        let learn = |((class, lesson), (time, report)): (
            (&mut Evidence, &mut Lesson),
            (&Duration, &mut ClassReport),
        )| {
            let begin = Instant::now();
            report.n_kept = class.profile.dictionary.n_kept();
            if lesson.batch.is_empty() && report.n_kept <= settings.budget {
                return;
            }
            // Without samples only a budget made smaller is kept; nothing is forgotten.
            let factor = if lesson.batch.is_empty() { 1.0 } else { factor };
            let emphasis = Emphasis {
                weights: &lesson.weights,
                errors: &lesson.errors,
                memory_of_errors,
            };
            class.learn_coded(settings, &lesson.batch, factor, Some(emphasis), report);
            report.class_time = TimeSpent(*time + begin.elapsed());
        };
        if n_threads > 1 {
            let classes = self.classes.par_iter_mut().zip(lessons);
            let times = time.par_iter().zip(&mut report.classes);
            classes.zip(times).for_each(learn);
        } else {
            let classes = self.classes.iter_mut().zip(lessons);
            let times = time.iter().zip(&mut report.classes);
            classes.zip(times).for_each(learn);
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
        stream.take_round(progress, self.settings.batch_size, &mut self.work.round);
        self.see_round(progress, stream, report)?;
        self.learn_decision();
        self.readouts.clear();
        self.learn_dictionaries(factor, stream.n_threads(), report);
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

/// The class after the last one whose samples fit into one block with those of `first`.
fn end_of_group(round: &[Vec<usize>], first: usize, block_size: usize) -> usize {
    let mut n_samples = 0;
    let fits = |samples: &&Vec<usize>| {
        n_samples += samples.len();
        n_samples <= block_size
    };
    let n_fitting = round[first..].iter().take_while(fits).count();
    first + n_fitting.max(1)
}

/// Where the samples of class `c` stand in the block of a group of classes.
fn places_of(round: &[Vec<usize>], group: &Range<usize>, c: usize) -> Range<usize> {
    if !group.contains(&c) {
        return 0..0;
    }
    let first = round[group.start..c].iter().map(Vec::len).sum();
    first..first + round[c].len()
}

/// The class of every sample of a group of classes, in order.
fn labels(round: &[Vec<usize>], group: Range<usize>) -> impl Iterator<Item = usize> + '_ {
    group.flat_map(|class| std::iter::repeat_n(class, round[class].len()))
}

fn smallest(values: &[f64]) -> usize {
    let by_value = |&a: &usize, &b: &usize| values[a].total_cmp(&values[b]);
    (0..values.len()).min_by(by_value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::{Supply, start_samples};
    use crate::math::{Matrix, random_stream};

    const N_CLASSES: usize = 6;

    #[test]
    fn what_is_learned_does_not_depend_on_how_many_classes_are_seen_together() {
        let data = Matrix::from_fn(40, 100 * N_CLASSES, |i, j| {
            let class = (j % N_CLASSES) as f64;
            ((i * 7 + j * 13) as f64).sin() + (class * i as f64).cos()
        });
        let mut settings = LearnerSettings::margin_aware();
        settings.budget = 60;
        settings.gate = true;
        let learned = |block_size: usize| {
            let of_class = |class: usize| (class..data.cols()).step_by(N_CLASSES).collect();
            let orders = (0..N_CLASSES).map(of_class).collect();
            let mut stream = SampleStream::new(data.view(), orders, Supply::Repeat);
            let mut random = random_stream(1, "start samples", 0);
            let mut start = |class: usize| {
                let start = start_samples(&settings, &mut stream, class, &mut random);
                Evidence::start(&settings, &start.expect("sound samples"))
            };
            let classes = (0..N_CLASSES).map(&mut start).collect();
            let mut learner = Margin::new(settings.clone(), classes);
            learner.work.block_size = block_size;
            let mut report = StepReport::default();
            for round in 0..14 {
                let progress = Progress {
                    round,
                    n_rounds: 14,
                };
                let learned = learner.step(progress, &mut stream, &mut report);
                learned.expect("sound samples");
            }
            let state = ron::to_string(&learner.state()).expect("plain data");
            (state, report.prequential)
        };
        let together = learned(1000);
        assert_eq!(learned(16), together);
        assert_eq!(learned(35), together);
    }

    #[test]
    fn groups_hold_whole_classes() {
        let round = vec![vec![0; 5], vec![0; 3], vec![0; 9], vec![], vec![0; 2]];
        let ends: Vec<usize> = (0..5).map(|first| end_of_group(&round, first, 8)).collect();
        assert_eq!(ends, [2, 2, 3, 5, 5]);
        assert_eq!(places_of(&round, &(0..2), 1), 5..8);
        assert_eq!(places_of(&round, &(0..2), 2), 0..0);
    }
}
