//! Kernel values of a block of samples that is looked at again and again while dictionaries change:
//! only samples that were kept since the last look are compared with it.

use std::collections::HashMap;

use crate::math::Matrix;

use super::kernel::Kernel;
use super::samples::Samples;
use super::scoring::BlockScores;

/// Kernel values of one block with the kept samples of every class, as they were at the last look.
/// Valid for the same samples and kernel; kept samples are known by their place in the data set.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockMemory {
    classes: Vec<(Matrix, Option<Vec<usize>>)>,
}

impl BlockMemory {
    /// Exchanges what is known of the block with what `scores` holds: before it looks, and after.
    pub(crate) fn exchange(&mut self, scores: &mut BlockScores) {
        let unknown = || (Matrix::default(), Some(Vec::new()));
        self.classes.resize_with(scores.views.len(), unknown);
        for ((rows, known), view) in self.classes.iter_mut().zip(&mut scores.views) {
            std::mem::swap(rows, &mut view.kernel_rows);
            std::mem::swap(known, &mut view.known);
        }
    }

    /// The kernel values of the block, of so many samples, with the `kept` ones of a class, if those were kept at the
    /// last look.
    pub(crate) fn rows(&self, class: usize, kept: &Samples, n_samples: usize) -> Option<&Matrix> {
        let (rows, known) = self.classes.get(class)?;
        let is_known = known.as_deref() == Some(kept.index()) && rows.rows() == n_samples;
        is_known.then_some(rows)
    }
}

/// Brings kernel values of a block up to date; scratch memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Renewal {
    /// Columns that cannot stay where they are, by their sample.
    displaced: HashMap<usize, usize>,
    /// Where columns come from and where they go.
    moved: Vec<(usize, usize)>,
    /// Places of samples that were not known.
    joined: Vec<usize>,
    samples: Option<Samples>,
    columns: Matrix,
}

impl Renewal {
    /// `rows` ← k(block, kept) to the bits of [`Kernel::block`], where its columns belong to the
    /// `known` samples; they are those of `kept` afterwards.
    pub(super) fn renew(
        &mut self,
        kernel: &Kernel,
        block: &Samples,
        kept: &Samples,
        rows: &mut Matrix,
        known: &mut Vec<usize>,
    ) {
        let n_features = kept.n_features();
        let stand_alone = |count| kernel.columns_stand_alone(block.len(), n_features, count);
        if !stand_alone(kept.len()) || (rows.rows(), rows.cols()) != (block.len(), known.len()) {
            kernel.block(block, kept, rows);
            known.clear();
            if stand_alone(kept.len()) {
                known.extend_from_slice(kept.index());
            }
            return;
        }
        self.compare(known, kept.index());
        self.columns.reshape(block.len(), self.moved.len());
        for (k, (from, _)) in self.moved.iter().enumerate() {
            self.columns.col_mut(k).copy_from_slice(rows.col(*from));
        }
        rows.resize(block.len(), kept.len());
        for (k, (_, to)) in self.moved.iter().enumerate() {
            rows.col_mut(*to).copy_from_slice(self.columns.col(k));
        }
        if !self.joined.is_empty() {
            let new_samples = || Samples::new(n_features, kept.len());
            let samples = self.samples.get_or_insert_with(new_samples);
            samples.clear();
            let joined = self.joined.iter();
            joined.for_each(|place| samples.push_from(kept, *place));
            // Too few would be computed in another way.
            while !stand_alone(samples.len()) {
                samples.push_from(kept, 0);
            }
            kernel.block(block, samples, &mut self.columns);
            for (k, place) in self.joined.iter().enumerate() {
                rows.col_mut(*place).copy_from_slice(self.columns.col(k));
            }
        }
        known.clear();
        known.extend_from_slice(kept.index());
    }

    /// Finds out which columns move and which samples joined.
    fn compare(&mut self, known: &[usize], kept: &[usize]) {
        self.displaced.clear();
        for (place, sample) in known.iter().enumerate() {
            if kept.get(place) != Some(sample) {
                self.displaced.insert(*sample, place);
            }
        }
        self.moved.clear();
        self.joined.clear();
        for (place, sample) in kept.iter().enumerate() {
            if known.get(place) == Some(sample) {
                continue;
            }
            match self.displaced.get(sample) {
                Some(&from) => self.moved.push((from, place)),
                None => self.joined.push(place),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{random_below, random_stream};

    #[test]
    fn renewed_values_are_those_computed_at_once() {
        let kernels = [
            Kernel::NormalisedPolynomial {
                degree: 2,
                offset: 1.0,
            },
            Kernel::Gaussian { width: 1e-3 },
            Kernel::Gaussian { width: 2.0 },
            Kernel::Laplacian { width: 2.0 },
        ];
        for kernel in kernels {
            for (n_features, n_rows) in [(76, 128), (3, 2), (3, 1), (300, 20)] {
                let sample = |i: usize| -> Vec<f64> {
                    let value = |k: usize| ((i * n_features + k) as f64).sin() + 3.0;
                    (0..n_features).map(value).collect()
                };
                let mut block = Samples::new(n_features, n_rows);
                for i in 0..n_rows {
                    let added = block.push(&kernel, i, &sample(i));
                    added.expect("finite sample");
                }
                let mut random = random_stream(3, "renewal", n_rows as u64);
                let (mut kept, mut renewal) = (Samples::new(n_features, 0), Renewal::default());
                let (mut rows, mut known) = (Matrix::default(), Vec::new());
                let mut expected = Matrix::default();
                for _ in 0..60 {
                    for _ in 0..random_below(&mut random, 4) {
                        let i = 500 + random_below(&mut random, 90);
                        let added = kept.push(&kernel, i, &sample(i));
                        added.expect("finite sample");
                    }
                    while kept.len() > 20 {
                        let last = kept.len() - 1;
                        kept.move_to(last, random_below(&mut random, last));
                        kept.truncate(last);
                    }
                    renewal.renew(&kernel, &block, &kept, &mut rows, &mut known);
                    kernel.block(&block, &kept, &mut expected);
                    assert_eq!(rows.cols(), kept.len());
                    for j in 0..kept.len() {
                        assert_eq!(rows.col(j), expected.col(j), "{kernel:?}");
                    }
                }
            }
        }
    }
}
