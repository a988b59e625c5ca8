//! A test of held-out samples, block by block.

use rayon::prelude::*;

use super::record::Decisions;
use crate::dataset::Zeroing;
use crate::evaluation::{Classifier, ClassifierWork, Confusion, Verdict};
use crate::learner::{Dictionary, LearnError};
use crate::math::View;

/// Operations of a block: some milliseconds, so that a test can be stopped at any time.
const BLOCK_OPERATIONS: f64 = 2e8;
/// Blocks are multiples of this, and at least one of it.
const BLOCK_GRAIN: usize = 16;
const LARGEST_BLOCK: usize = 1024;

/// What is tested.
pub(super) struct TestSubject<'a> {
    pub(super) values: View<'a>,
    pub(super) samples: &'a [usize],
    /// The true class of every sample of the data set.
    pub(super) classes: &'a [usize],
    pub(super) damage: Option<Zeroing>,
}

/// A test that is under way.
pub(super) struct TestProgress {
    /// The share of features set to zero, by its number in the settings; none in a plain test.
    pub(super) zeroed: Option<usize>,
    pub(super) n_done: usize,
    pub(super) confusion: Confusion,
    pub(super) decisions: Decisions,
    /// Blocks do not depend on the number of threads, and so the result does not either.
    block: usize,
    tellers: Vec<Teller>,
}

/// What one thread needs to classify blocks.
struct Teller {
    work: ClassifierWork,
    verdicts: Vec<Verdict>,
    /// Samples with features set to zero.
    damaged: Vec<f64>,
    positions: Vec<usize>,
}

impl TestProgress {
    pub(super) fn begin(
        zeroed: Option<usize>,
        classifier: &Classifier<'_>,
        n_classes: usize,
        n_threads: usize,
    ) -> Self {
        let per_sample: f64 = classifier.dictionaries().map(sample_operations).sum();
        let fitting = (BLOCK_OPERATIONS / per_sample.max(1.0)) as usize;
        let block = fitting.clamp(BLOCK_GRAIN, LARGEST_BLOCK) / BLOCK_GRAIN * BLOCK_GRAIN;
        let teller = || Teller {
            work: classifier.work(),
            verdicts: Vec::with_capacity(block),
            damaged: Vec::new(),
            positions: Vec::new(),
        };
        Self {
            zeroed,
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
    ) -> Result<(), LearnError> {
        let left = &subject.samples[self.n_done..];
        let blocks: Vec<&[usize]> = left.chunks(self.block).take(self.tellers.len()).collect();
        let classify =
            |(teller, block): (&mut Teller, &&[usize])| teller.classify(classifier, subject, block);
        let tellers = &mut self.tellers[..blocks.len()];
        if let ([teller], [block]) = (&mut *tellers, &blocks[..]) {
            teller.classify(classifier, subject, block)?;
        } else {
            let tellers = tellers.par_iter_mut();
            tellers
                .zip(&blocks)
                .map(classify)
                .collect::<Result<(), _>>()?;
        }
        for (teller, block) in self.tellers.iter().zip(&blocks) {
            for (&sample, &verdict) in block.iter().zip(&teller.verdicts) {
                self.confusion.add(subject.classes[sample], verdict.class);
                self.decisions.add(sample, verdict);
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
        let Some(damage) = &subject.damage else {
            return classifier.classify(subject.values, block, &mut self.work, &mut self.verdicts);
        };
        let n_features = subject.values.rows();
        self.damaged.clear();
        for &sample in block {
            self.damaged.extend_from_slice(subject.values.col(sample));
            let start = self.damaged.len() - n_features;
            damage.apply(sample, &mut self.damaged[start..]);
        }
        self.positions.clear();
        self.positions.extend(0..block.len());
        let values = View::from_columns(&self.damaged, n_features);
        classifier.classify(values, &self.positions, &mut self.work, &mut self.verdicts)
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
