//! Samples to classes: every sample is coded by the dictionary of every class, and the
//! decision picks one.

use std::sync::Arc;

use crate::dataset::Columns;
use crate::learner::{
    BlockMemory, BlockScores, Circumstances, Decision, Dictionary, Distances, FEWEST_CLASSES, Gate,
    Head, LearnError, Learner, LearnerSettings, OnlineLogit, PairSolutions, Readout, Samples,
    SecondLook, SparseCoder, StopSignal, block_size,
};
use crate::math::{Matrix, View, Write, product};

/// Most samples that are classified together: large enough for the matrix product, whose widest
/// kernels take 48 rows, small enough that the kernel values of all classes stay in the cache.
const LARGEST_TILE: usize = 144;
/// Samples of a group whose results do not depend on each other: whole vectors of every kind of processor.
const GROUP: usize = 16;
/// The smallest unit of margins.
const SMALLEST_UNIT: f64 = 0.1;

/// The dictionaries of all classes and the decision between them.
#[derive(Clone)]
pub struct Classifier<'a> {
    settings: &'a LearnerSettings,
    dictionaries: Vec<&'a Dictionary>,
    decision: &'a Decision,
    learner: &'a dyn Learner,
    gate: Option<Gate>,
    stop: StopSignal<'a>,
}

/// Scratch memory of a classifier; valid as long as its dictionaries do not change.
#[derive(Clone, Debug)]
pub struct ClassifierWork {
    pub(super) scores: BlockScores,
    tile: Samples,
    /// S, while heads are compared.
    pub(super) layer: Matrix,
    /// What is known of the first tiles of the samples asked for next.
    memory: Vec<BlockMemory>,
    /// Whether `tile` is one of those.
    remembers: bool,
}

impl ClassifierWork {
    /// Remembers kernel values of the first tiles of the samples asked for next, in exchange for
    /// what it remembered before.
    pub(crate) fn remember(&mut self, memory: Vec<BlockMemory>) -> Vec<BlockMemory> {
        std::mem::replace(&mut self.memory, memory)
    }

    /// Exchanges what is known of pairs of classes.
    pub(crate) fn exchange_pairs(&mut self, pairs: &mut PairSolutions) {
        std::mem::swap(&mut self.scores.pairs, pairs);
    }

    /// Looks at tile `number` with what is known of it.
    pub(super) fn look(
        &mut self,
        number: usize,
        look: impl FnOnce(&mut Self) -> Result<(), LearnError>,
    ) -> Result<(), LearnError> {
        let Some(mut memory) = self.memory.get_mut(number).map(std::mem::take) else {
            return look(self);
        };
        memory.exchange(&mut self.scores, &mut self.tile);
        self.remembers = true;
        let seen = look(self);
        self.remembers = false;
        memory.exchange(&mut self.scores, &mut self.tile);
        self.memory[number] = memory;
        seen
    }
}

/// What one head makes of one sample.
#[derive(Clone, Copy, Debug)]
pub struct HeadScores<'a> {
    /// Place of the sample among those asked for.
    pub position: usize,
    /// Place of the head among those asked for.
    pub head: usize,
    /// The score of every class; the largest decides.
    pub scores: &'a [f64],
    /// z1 + z2 of the class decided for: how well the sample fits it.
    pub fit: f64,
}

impl HeadScores<'_> {
    /// The class decided for, the second best and the margin between them.
    pub fn verdict(&self) -> Verdict {
        verdict(self.scores)
    }

    /// How much better a class is than the best of the others.
    pub fn margin_of(&self, class: usize) -> f64 {
        let others = self.scores.iter().enumerate().filter(|(c, _)| *c != class);
        let best = others.map(|(_, score)| *score);
        self.scores[class] - best.fold(f64::NEG_INFINITY, f64::max)
    }
}

/// What was decided about one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The class decided for.
    pub class: usize,
    /// The second best class; the same if there is only one.
    pub runner_up: usize,
    /// How much better the best score is: difference of r²/σ for residual decisions, of
    /// log-odds for the online logit. 0 says that both are equal.
    pub margin: f64,
}

/// What a head adds to the scores of the decision, in this order.
#[derive(Clone, Debug)]
pub(crate) struct Deciding {
    /// The head's readout.
    pub(crate) readout: Option<(Head, Arc<Readout>)>,
    /// The second look at doubtful samples.
    pub(crate) second_look: Option<SecondLook>,
    /// The gate.
    pub(crate) gate: Option<Gate>,
}

/// Why a sample was decided as it was: what every class makes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// r²/σ per class.
    pub residual_shares: Vec<f64>,
    /// The score that the decision gave each class.
    pub scores: Vec<f64>,
    /// Per class the atoms of the sparse code with their values, in the order of choice.
    pub codes: Vec<Vec<(usize, f64)>>,
}

impl<'a> Classifier<'a> {
    /// The classifier that a learner has arrived at.
    pub fn of(learner: &'a dyn Learner) -> Self {
        Self {
            settings: learner.settings(),
            dictionaries: (0..learner.n_classes())
                .map(|class| learner.dictionary(class))
                .collect(),
            decision: learner.decision(),
            learner,
            gate: learner.gate(),
            stop: StopSignal::default(),
        }
    }

    /// The same classifier; it ends with [`LearnError::Interrupted`] when `stop` is raised.
    pub fn until(self, stop: StopSignal<'a>) -> Self {
        Self { stop, ..self }
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.dictionaries.len()
    }

    /// Samples that are classified together.
    pub(crate) fn tile(&self) -> usize {
        block_size(self.n_classes()).min(LARGEST_TILE)
    }

    /// The dictionaries, class by class.
    pub fn dictionaries(&self) -> impl Iterator<Item = &'a Dictionary> + '_ {
        self.dictionaries.iter().copied()
    }

    /// Scratch memory for [`Classifier::classify`].
    pub fn work(&self) -> ClassifierWork {
        let n_features = self
            .dictionaries
            .first()
            .map_or(0, |dictionary| dictionary.kept.n_features());
        ClassifierWork {
            scores: BlockScores::new(self.settings, self.n_classes()),
            tile: Samples::new(n_features, self.tile()),
            layer: Matrix::default(),
            memory: Vec::new(),
            remembers: false,
        }
    }

    /// Classifies the columns of `data` that `index` names; one verdict each is added to `verdicts`.
    pub fn classify<'d>(
        &self,
        data: impl Into<Columns<'d>>,
        index: &[usize],
        work: &mut ClassifierWork,
        verdicts: &mut Vec<Verdict>,
    ) -> Result<(), LearnError> {
        let data = data.into();
        let wants_best = self.wants_best_alone();
        for (number, part) in index.chunks(self.tile()).enumerate() {
            work.look(number, |work| match wants_best {
                true => self.see_best(data, part, work),
                false => self.score(data, part, work),
            })?;
            verdicts.extend((0..part.len()).map(|i| verdict(work.scores.scores.col(i))));
        }
        Ok(())
    }

    /// What the head in force makes of each sample, with r²/σ of every class. Samples are looked at in groups of one
    /// size, the last filled up, so that the last bits of what is said of one do not depend on those beside it: streams
    /// come in other pieces when they are replayed.
    pub fn classify_each<'d>(
        &self,
        data: impl Into<Columns<'d>>,
        index: &[usize],
        work: &mut ClassifierWork,
        mut found: impl FnMut(HeadScores<'_>, &[f64]),
    ) -> Result<(), LearnError> {
        let data = data.into();
        for (number, part) in index.chunks(GROUP).enumerate() {
            let mut group = [part[part.len() - 1]; GROUP];
            group[..part.len()].copy_from_slice(part);
            self.score(data, &group, work)?;
            for i in 0..part.len() {
                let scores = work.scores.scores.col(i);
                let [z1, z2] = work.scores.evidence(verdict(scores).class, i);
                let scores = HeadScores {
                    position: number * GROUP + i,
                    head: 0,
                    scores,
                    fit: z1 + z2,
                };
                found(scores, work.scores.residual_shares.col(i));
            }
        }
        Ok(())
    }

    /// Whether samples fit some dictionary as well as 19 of 20 training samples did; all do where
    /// that is not known.
    pub fn fits_usually<'d>(
        &self,
        data: impl Into<Columns<'d>>,
        index: &[usize],
        work: &mut ClassifierWork,
    ) -> Result<Vec<bool>, LearnError> {
        let data = data.into();
        let Some(gate) = self.gate else {
            return Ok(vec![true; index.len()]);
        };
        let mut usual = Vec::with_capacity(index.len());
        for part in index.chunks(self.tile()) {
            self.see(data, part, work)?;
            for i in 0..part.len() {
                let fits = (0..self.n_classes()).map(|c| work.scores.evidence(c, i)[0]);
                usual.push(fits.fold(f64::NEG_INFINITY, f64::max) >= gate.threshold);
            }
        }
        Ok(usual)
    }

    /// The unit that margins of a head are compared in between moments of a training: θ of the
    /// decision layer grows without bound while hardly any sample is decided wrongly, and shrinks
    /// by as much with the next one that is.
    pub fn margin_unit(&self, head: Option<Head>) -> f64 {
        self.layer_of(head).map_or(1.0, |layer| {
            let [first, second] = layer.theta;
            (first.abs() + second.abs()).max(SMALLEST_UNIT)
        })
    }

    /// What each of several heads makes of the columns of `data` that `index` names, in order.
    pub fn compare_heads<'d>(
        &self,
        data: impl Into<Columns<'d>>,
        index: &[usize],
        heads: &[Option<Head>],
        work: &mut ClassifierWork,
        mut found: impl FnMut(HeadScores<'_>),
    ) -> Result<(), LearnError> {
        let data = data.into();
        for (number, part) in index.chunks(self.tile()).enumerate() {
            work.look(number, |work| {
                self.see(data, part, work)?;
                work.layer.copy_from(work.scores.scores.view());
                for (head, &kind) in heads.iter().enumerate() {
                    work.scores.scores.copy_from(work.layer.view());
                    self.apply_head(kind, work)?;
                    for i in 0..part.len() {
                        let scores = work.scores.scores.col(i);
                        let decided = verdict(scores).class;
                        let [z1, z2] = work.scores.evidence(decided, i);
                        found(HeadScores {
                            position: number * self.tile() + i,
                            head,
                            scores,
                            fit: z1 + z2,
                        });
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Lets every class and the decision look at a tile.
    fn score(
        &self,
        data: Columns<'_>,
        part: &[usize],
        work: &mut ClassifierWork,
    ) -> Result<(), LearnError> {
        self.see(data, part, work)?;
        self.apply_head(self.settings.head, work)
    }

    /// Whether nothing but the two best classes of the decision is part of a verdict.
    fn wants_best_alone(&self) -> bool {
        self.decision.is_by_residual()
            && self.settings.head.is_none()
            && self.gate.is_none()
            && self.n_classes() >= FEWEST_CLASSES
    }

    /// Scores of a tile that are true for the two best classes of each sample.
    fn see_best(
        &self,
        data: Columns<'_>,
        part: &[usize],
        work: &mut ClassifierWork,
    ) -> Result<(), LearnError> {
        self.load(data, part, work)?;
        let dictionary = |class: usize| self.dictionaries[class];
        let ClassifierWork { scores, tile, .. } = work;
        scores.see_best(tile, self.decision, self.stop, dictionary)
    }

    fn load(
        &self,
        data: Columns<'_>,
        part: &[usize],
        work: &mut ClassifierWork,
    ) -> Result<(), LearnError> {
        if !work.remembers || work.tile.index() != part {
            work.tile.load(&self.settings.kernel, data, part)?;
            if work.remembers {
                work.tile.turn();
            }
        }
        Ok(())
    }

    /// Loads a tile; every class looks at it, and the decision scores what they see.
    pub(super) fn see(
        &self,
        data: Columns<'_>,
        part: &[usize],
        work: &mut ClassifierWork,
    ) -> Result<(), LearnError> {
        self.load(data, part, work)?;
        let circumstances = Circumstances {
            distances: match self.decision {
                Decision::OnlineLogit(logit) => Distances::ToDecide(logit.theta[1]),
                _ => Distances::Unused,
            },
            stop: self.stop,
            n_threads: 1,
        };
        let dictionary = |class: usize| self.dictionaries[class];
        let scores = &mut work.scores;
        scores.see(&work.tile, circumstances, dictionary, |_| 0..0)?;
        scores.decide(self.decision, &work.tile, dictionary);
        Ok(())
    }

    /// From the scores of the decision to those of a head, behind the gate.
    fn apply_head(&self, head: Option<Head>, work: &mut ClassifierWork) -> Result<(), LearnError> {
        self.add_head(head, work)?;
        if let Some(gate) = self.gate_of(head) {
            work.scores.pass_gate(&gate, &work.tile);
        }
        Ok(())
    }

    /// The same before the gate.
    pub(super) fn add_head(
        &self,
        head: Option<Head>,
        work: &mut ClassifierWork,
    ) -> Result<(), LearnError> {
        let deciding = self.deciding(head)?;
        let dictionary = |class: usize| self.dictionaries[class];
        let scores = &mut work.scores;
        if let Some((head, readout)) = &deciding.readout {
            scores.read_out(*head, readout);
        }
        if let Some(second_look) = deciding.second_look {
            scores.take_second_look(second_look, self.stop, dictionary)?;
        }
        Ok(())
    }

    /// The gate of a head that the decision layer is part of.
    pub(super) fn gate_of(&self, head: Option<Head>) -> Option<Gate> {
        let is_layer = head.is_none_or(Head::uses_decision_layer);
        self.gate.filter(|_| is_layer)
    }

    /// The decision layer, where it is part of a head.
    pub(super) fn layer_of(&self, head: Option<Head>) -> Option<&OnlineLogit> {
        match self.decision {
            Decision::OnlineLogit(logit) if head.is_none_or(Head::uses_decision_layer) => {
                Some(logit)
            }
            _ => None,
        }
    }

    /// What stands between the scores of the decision and those of a head.
    pub(crate) fn deciding(&self, head: Option<Head>) -> Result<Deciding, LearnError> {
        let readout = head.map(|head| self.learner.readout(head, self.stop));
        let readout = head.zip(readout.transpose()?.flatten());
        let second_look = match self.decision {
            // S alone has no second look to take, whatever was learned.
            Decision::OnlineLogit(logit) if readout.is_none() && head != Some(Head::S) => {
                logit.second_look
            }
            _ => None,
        };
        Ok(Deciding {
            readout,
            second_look,
            gate: self.gate_of(head),
        })
    }

    /// What every class makes of one sample.
    pub fn explain(&self, x: &[f64]) -> Result<Explanation, LearnError> {
        let mut work = self.work();
        let x = View::from_columns(x, x.len());
        self.score(x.into(), &[0], &mut work)?;
        let sigma = work.tile.self_kernel()[0];
        let codes = self
            .dictionaries
            .iter()
            .map(|dictionary| self.code(dictionary, &work.tile, sigma))
            .collect();
        Ok(Explanation {
            residual_shares: work.scores.residual_shares.col(0).to_vec(),
            scores: work.scores.scores.col(0).to_vec(),
            codes,
        })
    }

    fn code(&self, dictionary: &Dictionary, sample: &Samples, sigma: f64) -> Vec<(usize, f64)> {
        let mut kernel_rows = Matrix::default();
        dictionary
            .kernel
            .block(sample, &dictionary.kept, &mut kernel_rows);
        let mut h = Matrix::zeros(dictionary.n_atoms(), 1);
        product(
            h.view_mut(),
            Write::Replace,
            dictionary.coefficients.view(),
            kernel_rows.view().t(),
        );
        let LearnerSettings {
            pursuit,
            sparsity,
            error_limit,
            ..
        } = *self.settings;
        let mut coder = SparseCoder::new(pursuit, sparsity, error_limit);
        coder.prepare(dictionary.atom_gram.view());
        coder.code(h.col(0), sigma).0
    }
}

/// The best and the second best of the scores; of equals the first.
pub(super) fn verdict(scores: &[f64]) -> Verdict {
    let mut class = 0;
    for (c, score) in scores.iter().enumerate() {
        if *score > scores[class] {
            class = c;
        }
    }
    let mut runner_up = class;
    for (c, score) in scores.iter().enumerate() {
        if c != class && (runner_up == class || *score > scores[runner_up]) {
            runner_up = c;
        }
    }
    Verdict {
        class,
        runner_up,
        margin: scores[class] - scores[runner_up],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::{Kernel, Progress, SampleStream, StepReport, Supply, start_learner};

    /// Scores and residuals of the samples asked for, bit for bit.
    fn each(classifier: &Classifier<'_>, data: View<'_>, index: &[usize]) -> Vec<Vec<u64>> {
        let mut all = Vec::new();
        let told =
            classifier.classify_each(data, index, &mut classifier.work(), |found, shares| {
                let numbers = found.scores.iter().chain(shares).chain([&found.fit]);
                all.push(numbers.map(|number| number.to_bits()).collect());
            });
        told.expect("sound samples");
        all
    }

    #[test]
    fn what_is_said_of_a_sample_does_not_depend_on_those_beside_it() {
        for (n_features, budget, n_classes) in [(2, 12, 2), (3, 30, 2), (40, 60, 3), (76, 200, 2)] {
            let samples = Matrix::from_fn(n_features, 300 * n_classes, |i, j| {
                let class = j % n_classes;
                ((i * 7 + j * 13) as f64).sin() + 0.6 * ((class * 40 + i) as f64).cos()
            });
            let orders = (0..n_classes).map(|class| {
                let of_class = (class..samples.cols()).step_by(n_classes);
                of_class.collect::<Vec<usize>>()
            });
            let mut stream =
                SampleStream::new(samples.view(), orders.collect(), Supply::Proportional);
            let settings = LearnerSettings {
                budget,
                n_atoms: 8,
                sparsity: 3,
                ..LearnerSettings::margin_aware()
            };
            let (mut learner, _) =
                start_learner(&settings, &mut stream, 1).expect("sound settings");
            let mut report = StepReport::default();
            for round in 0..25 {
                let progress = Progress {
                    round,
                    n_rounds: 25,
                };
                let learned = learner.step(progress, &mut stream, &mut report);
                learned.expect("sound samples");
            }
            let classifier = Classifier::of(learner.as_ref());
            let index: Vec<usize> = (0..53).map(|k| k * 11 % samples.cols()).collect();
            let together = each(&classifier, samples.view(), &index);
            assert_eq!(together.len(), index.len());
            for at in [1, 5, 16, 17] {
                let apart: Vec<Vec<u64>> = index
                    .chunks(at)
                    .flat_map(|part| each(&classifier, samples.view(), part))
                    .collect();
                assert_eq!(apart, together, "{n_features} features, {at} at a time");
            }
        }
    }

    #[test]
    fn verdicts_by_residual_are_those_of_all_classes() {
        let n_classes = 6;
        // One sample is nothing but zeros.
        let samples = Matrix::from_fn(40, 240, |i, j| match j {
            30 => 0.0,
            _ => ((i * 7 + j * 13) as f64).sin() + 0.5 * ((j % n_classes * 40 + i) as f64).cos(),
        });
        let orders = (0..n_classes).map(|class| (class..240).step_by(n_classes).collect());
        let orders: Vec<Vec<usize>> = orders.collect();
        let index: Vec<usize> = (0..240).collect();
        for (calibration, n_atoms) in [(0.0, 8), (0.3, 8), (0.0, 1), (0.0, 30)] {
            let settings = LearnerSettings {
                kernel: Kernel::Polynomial {
                    degree: 2,
                    offset: 1.0,
                },
                budget: 34,
                n_atoms,
                sparsity: 3.min(n_atoms),
                calibration,
                ..LearnerSettings::evidence_preserving()
            };
            let supply = Supply::Proportional;
            let mut stream = SampleStream::new(samples.view(), orders.clone(), supply);
            let started = start_learner(&settings, &mut stream, 1);
            let (mut learner, _) = started.expect("sound settings");
            for round in 0..8 {
                let classifier = Classifier::of(learner.as_ref());
                assert!(classifier.wants_best_alone());
                let (mut work, mut verdicts) = (classifier.work(), Vec::new());
                let seen = classifier.classify(samples.view(), &index, &mut work, &mut verdicts);
                seen.expect("sound samples");
                let mut expected = Vec::new();
                let told = |found: HeadScores<'_>| expected.push(found.verdict());
                let seen =
                    classifier.compare_heads(samples.view(), &index, &[None], &mut work, told);
                seen.expect("sound samples");
                assert_eq!(verdicts, expected, "round {round}");
                let progress = Progress { round, n_rounds: 8 };
                let learned = learner.step(progress, &mut stream, &mut StepReport::default());
                learned.expect("sound samples");
            }
        }
    }

    #[test]
    fn the_verdict_names_the_two_best() {
        let found = verdict(&[0.1, 0.7, 0.4]);
        assert_eq!((found.class, found.runner_up), (1, 2));
        assert!((found.margin - 0.3).abs() < 1e-15);
        let equal = verdict(&[0.5, 0.5]);
        assert_eq!((equal.class, equal.runner_up, equal.margin), (0, 1, 0.0));
        let alone = verdict(&[0.5]);
        assert_eq!((alone.class, alone.runner_up, alone.margin), (0, 0, 0.0));
    }
}
