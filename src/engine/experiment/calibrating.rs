//! Calibration of a part of a run: samples judged before they are learned, or groups judged by models
//! that never learned from them; and the assessor that tells from it what a decision is worth.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::settings::{SMALL_SET, Training};
use crate::dataset::{Columns, Dataset};
use crate::evaluation::{
    Assurance, Calibration, CalibrationSample, CalibrationSource, Classifier, FeatureFacts,
    GatheredScores, HeadScores, Principal, RankedDecisions, log_residual, ranked, shape_directions,
};
use crate::learner::{
    Head, LearnError, Learner, LearnerSettings, Progress, SampleStream, StepReport, StopSignal,
    StreamState, start_learner,
};
use crate::math::{Matrix, random_stream, shuffle};
use crate::split::{Fold, SplitPlan};

/// Parts that the second half of the training is cut into; each is judged by what was learned when
/// it begins.
pub(super) const N_CHECKPOINTS: usize = 5;
/// Models that are trained to judge groups they have not learned from.
const N_HELD_OUT: usize = 4;
/// Sets of up to so many samples are judged so too, if fewer than so many come to one that a dictionary
/// begins with.
const MOST_OF_CLASSES: usize = 4000;
const FEW_STARTS: usize = 10;
/// Values of a small set that is judged so although it has no groups, at most.
const MOST_VALUES_OF_SMALL: usize = 200_000;
/// Where fewer than one of so many training samples was judged before it was learned, and fewer than are
/// enough, models are trained to judge them, however many they are.
const FEWEST_JUDGED: usize = 10;
const ENOUGH_JUDGED: usize = 1000;
/// Rounds of such a model that are learned in one step.
const ROUNDS_PER_STEP: usize = 20;
/// Samples that are judged in one step.
const JUDGED_PER_STEP: usize = 2_000;
/// Fewest prequential samples that choose a head.
const FEWEST_TO_CHOOSE: usize = 300;
/// Smallest share of a class among them, relative to its share of the training samples.
const LEAST_SHARE: f64 = 0.5;

/// Parts of the kept samples that the directions of the others are found for.
const N_SHAPES: usize = 5;
const NO_PART: u8 = u8::MAX;

/// Numbers that are kept of calibration samples at most: 32 MB. Of more samples some are left out.
const MOST_NUMBERS: usize = 4_000_000;

/// Samples judged for the calibration, by every head that may decide in the end. What is kept of them
/// is weighed by the decision layer at the end of the training, which decides from then on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationRecord {
    /// The heads.
    pub heads: Vec<Option<Head>>,
    /// Checkpoints done.
    pub n_checkpoints: usize,
    samples: Vec<usize>,
    /// Absent in states of earlier versions, which kept scores of the moment.
    #[serde(default)]
    gathered: GatheredScores,
}

/// The first round of checkpoint `number` of a training of `n_rounds`; the end for number 5.
pub(super) fn checkpoint(number: usize, n_rounds: usize) -> usize {
    let half = n_rounds.div_ceil(2);
    half + number * (n_rounds - half) / N_CHECKPOINTS
}

impl CalibrationRecord {
    pub(super) fn new(heads: Vec<Option<Head>>) -> Self {
        Self {
            gathered: GatheredScores::new(heads.len()),
            heads,
            n_checkpoints: 0,
            samples: Vec::new(),
        }
    }

    /// Samples judged.
    pub(super) fn n_samples(&self) -> usize {
        self.samples.len()
    }

    /// Whether it is whole, and not of an earlier version.
    pub(super) fn is_whole(&self, n_classes: usize) -> bool {
        let n_samples = self.samples.len();
        self.gathered.is_of(n_samples, n_classes, self.heads.len())
    }

    /// Every so many of `n_samples` samples are judged.
    pub(super) fn stride(&self, n_samples: usize, n_classes: usize) -> usize {
        let each = GatheredScores::numbers_per_sample(n_classes, self.heads.len());
        n_samples.saturating_mul(each).div_ceil(MOST_NUMBERS).max(1)
    }

    /// Judges samples by all heads. Interrupted, nothing has changed.
    pub(super) fn judge(
        &mut self,
        classifier: &Classifier<'_>,
        values: Columns<'_>,
        samples: &[usize],
    ) -> Result<(), LearnError> {
        let work = &mut classifier.work();
        let found = classifier.gather(values, samples, &self.heads, work)?;
        self.gathered.append(found);
        self.samples.extend_from_slice(samples);
        Ok(())
    }

    /// The head that judged the samples best, with its accuracy; none where
    /// there is no choice, too few were judged, or a class is missing among them: a rare class whose
    /// samples were used up by the start would make heads look best that never decide for it.
    pub(super) fn best_head(
        &self,
        classifier: &Classifier<'_>,
        dataset: &Dataset,
        training: &[usize],
    ) -> Option<(Head, f64)> {
        let classes = dataset.classes();
        if self.samples.len() < FEWEST_TO_CHOOSE || self.heads.len() < 2 {
            return None;
        }
        let shares = |samples: &[usize]| {
            let mut shares = vec![0.0; dataset.n_classes()];
            for sample in samples {
                shares[classes[*sample]] += 1.0 / samples.len() as f64;
            }
            shares
        };
        let (learned, judged) = (shares(training), shares(&self.samples));
        let mut pairs = learned.iter().zip(&judged);
        if pairs.any(|(learned, judged)| *judged < LEAST_SHARE * learned) {
            return None;
        }
        let judge = |head: usize| {
            let mut judged = RankedDecisions::default();
            classifier.weigh(&self.gathered, head, self.heads[head], |found| {
                let class = classes[self.samples[found.position]];
                judged.push(Some(class), found.verdict().class, found.scores);
            });
            judged.finish();
            judged
        };
        let judged: Vec<RankedDecisions> = (0..self.heads.len()).map(judge).collect();
        let best = *ranked(&judged, self.samples.len()).first()?;
        Some((self.heads[best]?, judged[best].accuracy()))
    }

    /// What the samples judged by `head` say of decisions of `learner`; none from too few.
    pub(super) fn calibration(
        &self,
        head: Option<Head>,
        source: CalibrationSource,
        learner: &dyn Learner,
        values: Columns<'_>,
        dataset: &Dataset,
        training: &[usize],
    ) -> Option<Calibration> {
        let place = self.heads.iter().position(|other| *other == head)?;
        let features = FeatureFacts::of(
            training.iter().map(|sample| dataset.sample(*sample)),
            dataset.n_features(),
        );
        let shapes = Shapes::of(learner, source, dataset, training);
        let classifier = Classifier::of(learner);
        let unit = classifier.margin_unit(head);
        let mut samples: Vec<CalibrationSample> = Vec::with_capacity(self.samples.len());
        classifier.weigh(&self.gathered, place, head, |found| {
            let sample = self.samples[found.position];
            let class = dataset.classes()[sample];
            samples.push(CalibrationSample {
                class,
                margin: found.margin_of(class) / unit,
                fit: found.fit,
                decided: found.verdict().class,
                log_norm: features.log_norm(&dataset.sample(sample)),
                log_residual: log_residual(shapes.without(sample), &values.column(sample)),
                recording: Some(dataset.origin(sample).source),
                group: dataset.groups().map(|groups| groups[sample]),
            });
        });
        Calibration::of(source, dataset.n_classes(), &samples, features)
    }
}

/// Principal directions that calibration samples are measured against as samples to come will be: by
/// directions that do not come from themselves. Directions turn towards the samples they come from, so
/// that a kept sample leaves less of itself than a new one; and to leave out kept samples would leave
/// out the unusual ones.
struct Shapes {
    /// Of all kept samples.
    whole: Principal,
    /// Of the kept samples without one part of them each.
    parts: Vec<Principal>,
    /// The part of every kept sample, or of every sample of the groups of a part, by its number in the data set;
    /// [`NO_PART`] of the others.
    part_of: Vec<u8>,
}

impl Shapes {
    fn of(
        learner: &dyn Learner,
        source: CalibrationSource,
        dataset: &Dataset,
        training: &[usize],
    ) -> Self {
        let kept = kept_samples(learner);
        let classes = 0..learner.n_classes();
        let index = classes.flat_map(|class| learner.dictionary(class).kept.index().to_vec());
        let index: Vec<usize> = index.collect();
        let mut part_of = vec![NO_PART; dataset.n_samples()];
        let groups = dataset.groups();
        match groups.filter(|_| source == CalibrationSource::HeldOutGroups) {
            // Samples of a group resemble each other: those of a new one had no part in any direction.
            Some(groups) => {
                let known: BTreeSet<usize> = training.iter().map(|s| groups[*s]).collect();
                let known: Vec<usize> = known.into_iter().collect();
                for &sample in training {
                    if let Ok(place) = known.binary_search(&groups[sample]) {
                        part_of[sample] = (place % N_SHAPES) as u8;
                    }
                }
            }
            None if index.len() >= 2 * N_SHAPES => {
                for (column, &sample) in index.iter().enumerate() {
                    part_of[sample] = (column % N_SHAPES) as u8;
                }
            }
            None => {}
        }
        let whole = shape_directions(&kept);
        let parts = part_of.iter().filter(|part| **part != NO_PART);
        let n_parts = parts.max().map_or(0, |part| part + 1);
        let parts = (0..n_parts).map(|part| {
            let others = (0..index.len()).filter(|column| part_of[index[*column]] != part);
            let others: Vec<usize> = others.collect();
            match others.is_empty() {
                true => whole.clone(),
                false => shape_directions(&Matrix::from_fn(kept.rows(), others.len(), |i, j| {
                    kept[(i, others[j])]
                })),
            }
        });
        let parts = parts.collect();
        Self {
            whole,
            parts,
            part_of,
        }
    }

    /// The directions that a sample had no part in.
    fn without(&self, sample: usize) -> &Principal {
        let part = usize::from(self.part_of[sample]);
        self.parts.get(part).unwrap_or(&self.whole)
    }
}

/// All samples that a learner keeps, a column each.
pub(super) fn kept_samples(learner: &dyn Learner) -> Matrix {
    let dictionaries: Vec<_> = (0..learner.n_classes())
        .map(|c| learner.dictionary(c))
        .collect();
    let n_features = dictionaries.first().map_or(0, |d| d.kept.n_features());
    let n_kept = dictionaries.iter().map(|d| d.n_kept()).sum();
    let mut kept = Matrix::zeros(n_features, n_kept);
    let mut column = 0;
    for dictionary in dictionaries {
        for j in 0..dictionary.n_kept() {
            kept.col_mut(column)
                .copy_from_slice(dictionary.kept.features(j));
            column += 1;
        }
    }
    kept
}

/// Tells what the decisions of a learner are worth.
#[derive(Clone, Debug)]
pub(super) struct Assessor {
    pub(super) calibration: Arc<Calibration>,
    directions: Principal,
    /// The unit of margins.
    unit: f64,
    /// ε that decides which classes have samples enough of their own.
    epsilon: f64,
}

impl Assessor {
    pub(super) fn new(calibration: Arc<Calibration>, learner: &dyn Learner, epsilon: f64) -> Self {
        Self {
            calibration,
            directions: shape_directions(&kept_samples(learner)),
            unit: Classifier::of(learner).margin_unit(learner.settings().head),
            epsilon,
        }
    }

    /// Follows a learner that has learned.
    pub(super) fn renew(&mut self, learner: &dyn Learner) {
        self.directions = shape_directions(&kept_samples(learner));
        self.unit = Classifier::of(learner).margin_unit(learner.settings().head);
    }

    /// Of a sample before and after its preparation.
    pub(super) fn assess(&self, raw: &[f64], prepared: &[f64], found: HeadScores<'_>) -> Assurance {
        let statistics = [
            found.fit,
            self.calibration.features.log_norm(raw),
            log_residual(&self.directions, prepared),
        ];
        let decided = found.verdict().class;
        let scores: Vec<f64> = found.scores.iter().map(|score| score / self.unit).collect();
        self.calibration
            .assure(&scores, decided, statistics, self.epsilon)
    }
}

/// Models that each learn from all but some of the groups, or of the samples of a small set, and judge
/// those.
pub(super) struct HeldOut {
    folds: Vec<Fold>,
    pub(super) source: CalibrationSource,
    settings: LearnerSettings,
    seed: u64,
    /// The model in training, with the rounds it has learned.
    model: Option<(Box<dyn Learner>, StreamState, usize, usize)>,
    n_judged: usize,
    /// Samples of all groups.
    n_samples: usize,
    pub(super) record: CalibrationRecord,
}

/// Whether samples without groups are so few that models may be trained only to judge them. Judged before
/// they are learned, few are left, and not those that differ most: a dictionary begins with these.
fn is_small(dataset: &Dataset, training: &[usize], learner: &LearnerSettings) -> bool {
    let n_samples = training.len();
    let n_start = dataset.n_classes().saturating_mul(learner.n_atoms);
    let begins_with_many = n_samples <= MOST_OF_CLASSES && n_samples <= FEW_STARTS * n_start;
    let n_values = n_samples.saturating_mul(dataset.n_features());
    (n_samples <= SMALL_SET || begins_with_many) && n_values <= MOST_VALUES_OF_SMALL
}

/// Whether the groups of some samples are groups, and not one per sample.
pub(super) fn has_groups(dataset: &Dataset, samples: &[usize]) -> bool {
    let Some(groups) = dataset.groups() else {
        return false;
    };
    let distinct: BTreeSet<usize> = samples.iter().map(|sample| groups[*sample]).collect();
    distinct.len() >= 2 && 2 * distinct.len() <= samples.len()
}

impl HeldOut {
    /// Of the training samples of a part, of which `n_judged` were judged before they were learned; none
    /// where groups cannot be dealt, or samples without groups are many, or lack a class in a fold.
    pub(super) fn new(
        dataset: &Dataset,
        training: &[usize],
        n_judged: usize,
        settings: LearnerSettings,
        seed: u64,
    ) -> Option<Self> {
        let by_group = has_groups(dataset, training);
        // A training of several passes meets nothing new in its second half.
        let is_repeated = n_judged < ENOUGH_JUDGED.min(training.len() / FEWEST_JUDGED);
        if !by_group && !is_repeated && !is_small(dataset, training, &settings) {
            return None;
        }
        let own = dataset.labels_of(training).ok()?;
        let plan = match own.groups().filter(|_| by_group) {
            Some(groups) => SplitPlan::GroupedKFold {
                n_folds: N_HELD_OUT.min(groups.iter().copied().collect::<BTreeSet<usize>>().len()),
                seed,
                kept: Default::default(),
            },
            None => SplitPlan::KFold {
                n_folds: N_HELD_OUT,
                seed,
            },
        };
        let there = |places: Vec<usize>| places.into_iter().map(|place| training[place]);
        let split = plan.split(&own).ok()?;
        let folds = split.folds().map(|fold| Fold {
            train: there(fold.train).collect(),
            test: there(fold.test).collect(),
        });
        let folds: Vec<Fold> = folds.collect();
        let has_all = |fold: &Fold| {
            let classes = fold.train.iter().map(|sample| dataset.classes()[*sample]);
            classes.collect::<BTreeSet<usize>>().len() == dataset.n_classes()
        };
        if !by_group && !folds.iter().all(has_all) {
            return None;
        }
        Some(Self {
            source: match by_group {
                true => CalibrationSource::HeldOutGroups,
                false => CalibrationSource::HeldOutSamples,
            },
            folds,
            record: CalibrationRecord::new(vec![settings.head]),
            settings,
            seed,
            model: None,
            n_judged: 0,
            n_samples: training.len(),
        })
    }

    /// Whether all groups were judged.
    pub(super) fn is_complete(&self) -> bool {
        self.folds.is_empty()
    }

    /// Some rounds of the model at hand, or some samples judged by it. A model that cannot be
    /// trained, because its samples lack a class, judges nothing.
    pub(super) fn step(
        &mut self,
        dataset: &Dataset,
        values: Columns<'_>,
        training: &Training,
        stop: StopSignal<'_>,
    ) -> Result<(), LearnError> {
        let Some(fold) = self.folds.first() else {
            return Ok(());
        };
        let Some((mut learner, state, first, n_rounds)) = self.model.take() else {
            return match self.begin(dataset, values, training) {
                Ok(model) => {
                    self.model = Some(model);
                    Ok(())
                }
                Err(_) => {
                    self.folds.remove(0);
                    Ok(())
                }
            };
        };
        let mut stream = SampleStream::resume(values, state).until(stop);
        if first < n_rounds {
            let mut report = StepReport::default();
            let mut round = first;
            let mut places = Vec::new();
            while round < n_rounds && round < first + ROUNDS_PER_STEP {
                let progress = Progress { round, n_rounds };
                stream.places(&mut places);
                match learner.step(progress, &mut stream, &mut report) {
                    Ok(()) => round += 1,
                    Err(LearnError::Interrupted) => {
                        stream.go_back_to(&places);
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
            self.model = Some((learner, stream.into_state(), round, n_rounds));
            return Ok(());
        }
        let until = (self.n_judged + JUDGED_PER_STEP).min(fold.test.len());
        let stride = self.record.stride(self.n_samples, dataset.n_classes());
        let samples = fold.test[self.n_judged..until].iter().step_by(stride);
        let samples: Vec<usize> = samples.copied().collect();
        let classifier = Classifier::of(learner.as_ref()).until(stop);
        let judged = self.record.judge(&classifier, values, &samples);
        let is_last = until == fold.test.len();
        if judged.is_ok() {
            self.n_judged = until;
        }
        if judged.is_ok() && is_last {
            self.n_judged = 0;
            self.folds.remove(0);
        } else {
            self.model = Some((learner, stream.into_state(), first, n_rounds));
        }
        judged
    }

    fn begin(
        &self,
        dataset: &Dataset,
        values: Columns<'_>,
        training: &Training,
    ) -> Result<(Box<dyn Learner>, StreamState, usize, usize), LearnError> {
        let mut samples = self.folds[0].train.clone();
        let number = self.folds.len() as u64;
        shuffle(
            &mut samples,
            &mut random_stream(self.seed, "calibration order", number),
        );
        let mut orders = vec![Vec::new(); dataset.n_classes()];
        for sample in samples {
            orders[dataset.classes()[sample]].push(sample);
        }
        let largest = orders.iter().map(Vec::len).max().unwrap_or(0);
        let mut stream = SampleStream::new(values, orders, training.supply);
        let (learner, _) = start_learner(&self.settings, &mut stream, self.seed)?;
        let n_rounds = training.n_rounds(&self.settings, largest);
        Ok((learner, stream.into_state(), 0, n_rounds))
    }
}
