//! A test of held-out samples, block by block.

use rayon::prelude::*;

use super::calibrating::Assessor;
use super::record::Decisions;
use crate::dataset::{Columns, Dataset, Zeroing};
use crate::evaluation::{Assurance, Classifier, ClassifierWork, Confusion, Imputation, Verdict};
use crate::learner::{BlockMemory, Dictionary, Head, LearnError, PairSolutions};
use crate::math::View;
use crate::memory::Reservation;

/// Operations of a block: some milliseconds, so that a test can be stopped at any time.
const BLOCK_OPERATIONS: f64 = 2e8;
/// Blocks are multiples of a tile, or of this where a tile takes too long: so many times as long.
const BLOCK_GRAIN: usize = 16;
const LONG_TILE: usize = 8;
const LARGEST_BLOCK: usize = 1024;
/// Kernel values and samples that a part keeps from test to test at most, however much memory is free; and nothing where
/// that would be less than one part in so many of all.
const MOST_KEPT_BYTES: u64 = 1 << 28;
const LEAST_KEPT: u64 = 4;

/// What is tested.
pub(super) struct TestSubject<'a> {
    pub(super) values: Columns<'a>,
    pub(super) samples: &'a [usize],
    /// The true class of every sample of the data set.
    pub(super) classes: &'a [usize],
    pub(super) damage: Option<Zeroing>,
    /// What is done about the damage.
    pub(super) remedy: Remedy<'a>,
    /// The samples before their preparation.
    pub(super) dataset: &'a Dataset,
    /// Tells what decisions are worth, in the last test of a calibrated learner.
    pub(super) assessor: Option<&'a Assessor>,
    pub(super) head: Option<Head>,
}

/// What is done about missing features.
#[derive(Clone, Copy)]
pub(super) enum Remedy<'a> {
    /// The decision, with its gate if it has one, has to do.
    None,
    /// Exact zeros that are no values are found and filled in.
    Repair {
        model: &'a Imputation,
        zero_share: &'a [f64],
    },
    /// The damaged features are known and filled in.
    Known(&'a Imputation),
}

/// A test that is under way.
pub(super) struct TestProgress {
    /// The share of features set to zero, by its number in the settings; none in a plain test.
    pub(super) zeroed: Option<usize>,
    /// 0 for the plain test, 1 after repair, 2 with known places.
    pub(super) remedy: usize,
    pub(super) n_done: usize,
    pub(super) confusion: Confusion,
    pub(super) decisions: Decisions,
    /// Blocks do not depend on the number of threads, and so the result does not either.
    block: usize,
    tellers: Vec<Teller>,
}

/// Kernel values of the held-out samples of a part with kept samples, tile by tile, from one test to
/// the next. Tiles that find no room are computed anew in every test, to the same bits.
#[derive(Default)]
pub(super) struct TestMemory {
    tiles: Vec<BlockMemory>,
    /// Kernel values between kept samples, of every thread.
    pairs: Vec<PairSolutions>,
    reservation: Reservation,
}

impl TestMemory {
    /// Before a test on so many threads: the dictionaries have changed.
    pub(super) fn begin(&mut self, n_threads: usize, n_classes: usize) {
        self.pairs
            .resize_with(n_threads.max(1), PairSolutions::default);
        self.pairs
            .iter_mut()
            .for_each(|pairs| pairs.clear(n_classes));
    }

    /// Before a test of so many samples: room for as many tiles as the memory allows.
    pub(super) fn make_room(&mut self, n_samples: usize, classifier: &Classifier<'_>) {
        let n_kept: usize = classifier.dictionaries().map(Dictionary::n_kept).sum();
        let tile = classifier.tile();
        let features = classifier.dictionaries().next();
        let n_features = features.map_or(0, |dictionary| dictionary.kept.n_features());
        let tile_bytes = (tile * (n_kept + 2 * n_features) * size_of::<f64>()).max(1) as u64;
        let wanted = n_samples.div_ceil(tile) as u64 * tile_bytes;
        let pays = wanted <= LEAST_KEPT * MOST_KEPT_BYTES;
        let asked = if pays { wanted.min(MOST_KEPT_BYTES) } else { 0 };
        let n_tiles = (self.reservation.ask(asked) / tile_bytes) as usize;
        self.tiles.resize_with(n_tiles, BlockMemory::default);
    }

    /// What is known of the first tiles.
    pub(super) fn tiles(&self) -> &[BlockMemory] {
        &self.tiles
    }

    fn lend(&mut self, first: usize, count: usize) -> Vec<BlockMemory> {
        let tiles = self.tiles.iter_mut().skip(first).take(count);
        tiles.map(std::mem::take).collect()
    }

    fn take_back(&mut self, first: usize, tiles: Vec<BlockMemory>) {
        for (place, tile) in self.tiles.iter_mut().skip(first).zip(tiles) {
            *place = tile;
        }
    }
}

/// What one thread needs to classify blocks.
struct Teller {
    work: ClassifierWork,
    verdicts: Vec<Verdict>,
    assured: Vec<Assurance>,
    /// Samples with features set to zero.
    damaged: Vec<f64>,
    positions: Vec<usize>,
}

impl TestProgress {
    pub(super) fn begin(
        (zeroed, remedy): (Option<usize>, usize),
        classifier: &Classifier<'_>,
        n_classes: usize,
        n_threads: usize,
    ) -> Self {
        let per_sample: f64 = classifier.dictionaries().map(sample_operations).sum();
        let fitting = (BLOCK_OPERATIONS / per_sample.max(1.0)) as usize;
        let tile = classifier.tile();
        // Kernel values are kept of whole tiles.
        let grain = match fitting < tile / LONG_TILE {
            true => BLOCK_GRAIN,
            false => tile,
        };
        let block = fitting.clamp(grain, LARGEST_BLOCK) / grain * grain;
        let teller = || Teller {
            work: classifier.work(),
            verdicts: Vec::with_capacity(block),
            assured: Vec::new(),
            damaged: Vec::new(),
            positions: Vec::new(),
        };
        Self {
            zeroed,
            remedy,
            n_done: 0,
            confusion: Confusion::new(n_classes),
            decisions: Decisions::default(),
            block,
            tellers: (0..n_threads.max(1)).map(|_| teller()).collect(),
        }
    }

    /// Classifies the next block on every thread.
    pub(super) fn go_on(
        &mut self,
        classifier: &Classifier<'_>,
        subject: &TestSubject<'_>,
        memory: &mut TestMemory,
    ) -> Result<(), LearnError> {
        let left = &subject.samples[self.n_done..];
        let blocks: Vec<&[usize]> = left.chunks(self.block).take(self.tellers.len()).collect();
        let classify =
            |(teller, block): (&mut Teller, &&[usize])| teller.classify(classifier, subject, block);
        let tellers = &mut self.tellers[..blocks.len()];
        let tile = classifier.tile();
        let remembers = subject.damage.is_none() && self.block.is_multiple_of(tile);
        let first_tile = |number: usize| (self.n_done + number * self.block) / tile;
        for (number, teller) in tellers.iter_mut().enumerate().filter(|_| remembers) {
            let lent = memory.lend(first_tile(number), self.block / tile);
            teller.work.remember(lent);
        }
        let exchange_pairs = |tellers: &mut [Teller], memory: &mut TestMemory| {
            let pairs = tellers.iter_mut().zip(&mut memory.pairs);
            pairs.for_each(|(teller, pairs)| teller.work.exchange_pairs(pairs));
        };
        exchange_pairs(tellers, memory);
        let outcome = if let ([teller], [block]) = (&mut *tellers, &blocks[..]) {
            teller.classify(classifier, subject, block)
        } else {
            let tellers = tellers.par_iter_mut();
            tellers.zip(&blocks).map(classify).collect()
        };
        for (number, teller) in tellers.iter_mut().enumerate().filter(|_| remembers) {
            memory.take_back(first_tile(number), teller.work.remember(Vec::new()));
        }
        exchange_pairs(tellers, memory);
        outcome?;
        for (teller, block) in self.tellers.iter().zip(&blocks) {
            for (i, (&sample, &verdict)) in block.iter().zip(&teller.verdicts).enumerate() {
                self.confusion.add(subject.classes[sample], verdict.class);
                match teller.assured.get(i) {
                    Some(assured) => self.decisions.add_assured(sample, verdict, assured),
                    None => self.decisions.add(sample, verdict),
                }
            }
            self.n_done += block.len();
        }
        Ok(())
    }
}

impl Teller {
    fn classify(
        &mut self,
        classifier: &Classifier<'_>,
        subject: &TestSubject<'_>,
        block: &[usize],
    ) -> Result<(), LearnError> {
        self.verdicts.clear();
        self.assured.clear();
        let Some(damage) = &subject.damage else {
            if let Some(assessor) = subject.assessor {
                return self.assess(classifier, subject, assessor, block);
            }
            return classifier.classify(subject.values, block, &mut self.work, &mut self.verdicts);
        };
        let n_features = subject.values.n_features();
        self.damaged.clear();
        for &sample in block {
            let start = self.damaged.len();
            self.damaged.resize(start + n_features, 0.0);
            let damaged = &mut self.damaged[start..];
            subject.values.read(sample, damaged);
            damage.apply(sample, damaged);
            if let Remedy::Known(model) = subject.remedy {
                let missing = damage.places(sample, n_features);
                model.fill(damaged, &missing);
            }
        }
        self.positions.clear();
        self.positions.extend(0..block.len());
        if let Remedy::Repair { model, zero_share } = subject.remedy {
            self.repair(classifier, model, zero_share, n_features)?;
        }
        let values = View::from_columns(&self.damaged, n_features);
        classifier.classify(values, &self.positions, &mut self.work, &mut self.verdicts)
    }

    /// Classifies whole samples and tells what each decision is worth.
    fn assess(
        &mut self,
        classifier: &Classifier<'_>,
        subject: &TestSubject<'_>,
        assessor: &Assessor,
        block: &[usize],
    ) -> Result<(), LearnError> {
        let Self {
            work,
            verdicts,
            assured,
            ..
        } = self;
        classifier.compare_heads(subject.values, block, &[subject.head], work, |found| {
            let sample = block[found.position];
            let raw = subject.dataset.sample(sample);
            verdicts.push(found.verdict());
            let prepared = subject.values.column(sample);
            assured.push(assessor.assess(&raw, &prepared, found));
        })
    }

    /// Fills in zeros that are no values, in samples that fit worse than training samples do.
    fn repair(
        &mut self,
        classifier: &Classifier<'_>,
        model: &Imputation,
        zero_share: &[f64],
        n_features: usize,
    ) -> Result<(), LearnError> {
        let values = View::from_columns(&self.damaged, n_features);
        let is_whole = classifier.fits_usually(values, &self.positions, &mut self.work)?;
        for (sample, is_whole) in self.damaged.chunks_mut(n_features).zip(is_whole) {
            let zeros: Vec<bool> = sample.iter().map(|value| *value == 0.0).collect();
            if !is_whole && zeros.contains(&true) {
                let missing = model.suspects(sample, &zeros, zero_share);
                model.fill(sample, &missing);
            }
        }
        Ok(())
    }
}

/// Operations to see one sample through a dictionary, roughly.
pub(super) fn sample_operations(dictionary: &Dictionary) -> f64 {
    let n_kept = dictionary.n_kept() as f64;
    let span = if dictionary.span.is_some() {
        n_kept
    } else {
        0.0
    };
    let rows = dictionary.kept.n_features() + dictionary.n_atoms();
    2.0 * n_kept * (rows as f64 + span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{DatasetParts, Origin, Place};
    use crate::learner::{
        Learner, LearnerSettings, Progress, SampleStream, StepReport, Supply, start_learner,
    };
    use crate::math::Matrix;

    const N_SAMPLES: usize = 600;

    fn tested(
        learner: &dyn Learner,
        values: &Matrix,
        dataset: &Dataset,
        memory: &mut TestMemory,
    ) -> Vec<(usize, u64)> {
        let held_out: Vec<usize> = (300..N_SAMPLES).collect();
        let subject = TestSubject {
            values: values.view().into(),
            samples: &held_out,
            classes: dataset.classes(),
            damage: None,
            remedy: Remedy::None,
            dataset,
            assessor: None,
            head: None,
        };
        let classifier = Classifier::of(learner);
        let mut test = TestProgress::begin((None, 0), &classifier, 2, 1);
        while test.n_done < held_out.len() {
            let outcome = test.go_on(&classifier, &subject, memory);
            outcome.expect("sound samples");
        }
        let decided = test.decisions.class.iter().zip(&test.decisions.margin);
        decided.map(|(c, m)| (*c, m.to_bits())).collect()
    }

    #[test]
    fn decisions_do_not_depend_on_what_was_kept_of_the_tests_before() {
        let values = Matrix::from_fn(40, N_SAMPLES, |i, j| {
            ((i * 7 + j * 13) as f64).sin() + 0.4 * ((j % 2 * 40 + i) as f64).cos()
        });
        let row = |row| Origin {
            source: 0,
            place: Place::Row(row),
        };
        let table = Dataset::new(DatasetParts {
            values: vec![0.0; N_SAMPLES],
            feature_names: vec!["f".into()],
            class_names: vec!["a".into(), "b".into()],
            classes: (0..N_SAMPLES).map(|sample| sample % 2).collect(),
            sources: vec!["table.csv".into()],
            origins: (0..N_SAMPLES).map(row).collect(),
            ..DatasetParts::default()
        });
        let table = table.expect("parts of one length");
        let mut settings = LearnerSettings::margin_aware();
        settings.budget = 60;
        let orders = vec![
            (0..300).step_by(2).collect::<Vec<usize>>(),
            (1..300).step_by(2).collect(),
        ];
        let mut stream = SampleStream::new(values.view(), orders, Supply::Repeat);
        let (mut learner, _) = start_learner(&settings, &mut stream, 1).expect("sound settings");
        let mut report = StepReport::default();
        let mut memory = TestMemory::default();
        for round in 0..12 {
            let progress = Progress {
                round,
                n_rounds: 12,
            };
            let learned = learner.step(progress, &mut stream, &mut report);
            learned.expect("sound samples");
            let classifier = Classifier::of(learner.as_ref());
            memory.make_room(300, &classifier);
            assert_eq!(memory.tiles.len(), 3);
            let kept = tested(learner.as_ref(), &values, &table, &mut memory);
            let anew = tested(
                learner.as_ref(),
                &values,
                &table,
                &mut TestMemory::default(),
            );
            assert_eq!(kept, anew, "after round {round}");
        }
    }
}
