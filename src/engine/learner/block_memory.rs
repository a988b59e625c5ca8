//! A block of samples that is looked at again and again while dictionaries change: its features are gathered once, and
//! only samples that were kept since the last look are compared with it.

use std::collections::HashMap;

use crate::math::Matrix;

use super::kernel::Kernel;
use super::samples::Samples;
use super::scoring::BlockScores;

/// One block, and its kernel values with the kept samples of every class, as they were at the last look.
/// Valid for the same samples and kernel; kept samples are known by their place in the data set.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockMemory {
    block: Option<Samples>,
    classes: Vec<(Matrix, Option<Vec<usize>>)>,
}

impl BlockMemory {
    /// Exchanges what is known of the block with what `scores` and `block` hold: before it is looked at, and after.
    pub(crate) fn exchange(&mut self, scores: &mut BlockScores, block: &mut Samples) {
        let own = || Samples::new(block.n_features(), 0);
        std::mem::swap(self.block.get_or_insert_with(own), block);
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
    /// Where columns come from and where they go. Of those at the front, so many, the place where they go is the origin
    /// of another one.
    moved: Vec<(usize, usize)>,
    n_crossing: usize,
    is_origin: Vec<bool>,
    /// Places of samples that were not known.
    joined: Vec<usize>,
    samples: Option<Samples>,
    /// Between which samples the above were found; those of a block are the same for all blocks of a test.
    compared: [Vec<usize>; 2],
    /// Whether `samples` are those that joined.
    holds_joined: bool,
    values: Matrix,
}

impl Renewal {
    /// Makes room for a change of so many kept samples at once.
    pub(super) fn reserve(&mut self, n_kept: usize) {
        self.displaced.reserve(n_kept);
        self.moved.reserve(n_kept);
        self.joined.reserve(n_kept);
        self.is_origin.reserve(n_kept);
        self.compared
            .iter_mut()
            .for_each(|list| list.reserve(n_kept));
        self.values = Matrix::with_capacity(n_kept, n_kept);
    }

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
        self.move_columns(known, kept, rows);
        self.compute_columns(kernel, block, kept, rows);
        known.clear();
        known.extend_from_slice(kept.index());
    }

    /// The columns of samples that stay go where these are now.
    fn move_columns(&mut self, known: &[usize], kept: &Samples, rows: &mut Matrix) {
        self.compare(known, kept.index());
        let (crossing, straight) = self.moved.split_at(self.n_crossing);
        self.values.reshape(rows.rows(), crossing.len());
        for (k, (from, _)) in crossing.iter().enumerate() {
            self.values.col_mut(k).copy_from_slice(rows.col(*from));
        }
        rows.resize(rows.rows(), kept.len().max(known.len()));
        for (from, to) in straight {
            rows.copy_col(*from, *to);
        }
        for (k, (_, to)) in crossing.iter().enumerate() {
            rows.col_mut(*to).copy_from_slice(self.values.col(k));
        }
        rows.resize(rows.rows(), kept.len());
    }

    /// Then those of samples that joined are computed.
    fn compute_columns(
        &mut self,
        kernel: &Kernel,
        block: &Samples,
        kept: &Samples,
        rows: &mut Matrix,
    ) {
        let stand_alone = |count| kernel.columns_stand_alone(block.len(), kept.n_features(), count);
        self.load_joined(kept, stand_alone);
        if let (Some(joined), false) = (&self.samples, self.joined.is_empty()) {
            kernel.block(block, joined, &mut self.values);
            for (k, place) in self.joined.iter().enumerate() {
                rows.col_mut(*place).copy_from_slice(self.values.col(k));
            }
        }
    }

    /// The rows of samples that stay go where these are now.
    fn move_rows(&mut self, known: &[usize], kept: &Samples, values: &mut Matrix) {
        self.compare(known, kept.index());
        self.values.reshape(self.moved.len(), values.cols());
        for j in 0..values.cols() {
            let places = self.values.col_mut(j).iter_mut().zip(&self.moved);
            places.for_each(|(value, (from, _))| *value = values[(*from, j)]);
        }
        values.resize(kept.len(), values.cols());
        for j in 0..values.cols() {
            let places = self.values.col(j).iter().zip(&self.moved);
            places.for_each(|(value, (_, to))| values[(*to, j)] = *value);
        }
    }

    /// Then those of samples that joined are computed.
    fn compute_rows(
        &mut self,
        kernel: &Kernel,
        kept: &Samples,
        columns: &Samples,
        values: &mut Matrix,
    ) {
        let stand_alone =
            |count| kernel.columns_stand_alone(count, kept.n_features(), columns.len());
        self.load_joined(kept, stand_alone);
        if let (Some(joined), false) = (&self.samples, self.joined.is_empty()) {
            kernel.block(joined, columns, &mut self.values);
            for j in 0..columns.len() {
                let places = self.values.col(j).iter().zip(&self.joined);
                places.for_each(|(value, place)| values[(*place, j)] = *value);
            }
        }
    }

    /// Finds out which columns move and which samples joined.
    fn compare(&mut self, known: &[usize], kept: &[usize]) {
        if self.compared[0] == known && self.compared[1] == kept {
            return;
        }
        for (compared, samples) in self.compared.iter_mut().zip([known, kept]) {
            compared.clear();
            compared.extend_from_slice(samples);
        }
        self.holds_joined = false;
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
        self.is_origin.clear();
        self.is_origin.resize(known.len().max(kept.len()), false);
        for (from, _) in &self.moved {
            self.is_origin[*from] = true;
        }
        self.n_crossing = 0;
        for k in 0..self.moved.len() {
            if self.is_origin[self.moved[k].1] {
                self.moved.swap(k, self.n_crossing);
                self.n_crossing += 1;
            }
        }
    }

    /// `samples` ← those that joined, if any; with others where so few would be computed in another way.
    fn load_joined(&mut self, kept: &Samples, stand_alone: impl Fn(usize) -> bool) {
        if self.joined.is_empty() {
            return;
        }
        let n_most = self.joined.capacity().max(kept.len());
        let new = || Samples::new(kept.n_features(), n_most);
        let samples = self.samples.get_or_insert_with(new);
        if !std::mem::replace(&mut self.holds_joined, true) {
            samples.clear();
            let places = self.joined.iter();
            places.for_each(|place| samples.push_from(kept, *place));
        }
        while !stand_alone(samples.len()) {
            samples.push_from(kept, 0);
        }
    }
}

/// Kernel values between the kept samples of two classes, or of one, that are asked for again and
/// again while both change.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptGram {
    values: Matrix,
    /// The samples of its rows and columns, as they were at the last look.
    known: [Vec<usize>; 2],
    is_current: bool,
}

impl KeptGram {
    /// No values yet, with room for those of so many samples of each class.
    pub(super) fn with_capacity(n_kept: usize) -> Self {
        Self {
            values: Matrix::with_capacity(n_kept, n_kept),
            known: [(); 2].map(|()| Vec::with_capacity(n_kept)),
            is_current: false,
        }
    }

    /// The kept samples have changed.
    pub(super) fn outdate(&mut self) {
        self.is_current = false;
    }

    /// The values as they were brought up to date last.
    pub(super) fn values(&self) -> &Matrix {
        &self.values
    }

    /// The values become k(rows, columns), to the bits of [`Kernel::block`].
    pub(super) fn renew(
        &mut self,
        kernel: &Kernel,
        rows: &Samples,
        columns: &Samples,
        renewal: &mut Renewal,
    ) {
        if std::mem::replace(&mut self.is_current, true) {
            return;
        }
        let (values, [known_rows, known_columns]) = (&mut self.values, &mut self.known);
        let n_features = rows.n_features();
        let stands_alone = kernel.columns_stand_alone(rows.len(), n_features, columns.len());
        if stands_alone && !known_rows.is_empty() {
            renewal.move_rows(known_rows, rows, values);
            renewal.move_columns(known_columns, columns, values);
            renewal.compute_columns(kernel, rows, columns, values);
            renewal.compare(known_rows, rows.index());
            renewal.compute_rows(kernel, rows, columns, values);
        } else {
            kernel.block(rows, columns, values);
        }
        for (known, samples) in [(known_rows, rows), (known_columns, columns)] {
            known.clear();
            let indices = samples.index().iter();
            known.extend(indices.filter(|_| stands_alone));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{random_below, random_stream};

    const KERNELS: [Kernel; 4] = [
        Kernel::NormalisedPolynomial {
            degree: 2,
            offset: 1.0,
        },
        Kernel::Gaussian { width: 1e-3 },
        Kernel::Gaussian { width: 2.0 },
        Kernel::Laplacian { width: 2.0 },
    ];

    #[test]
    fn values_between_kept_samples_are_those_computed_at_once() {
        for kernel in KERNELS {
            for n_features in [256, 76, 3] {
                let sample = |i: usize| -> Vec<f64> {
                    let value = |k: usize| ((i * n_features + k) as f64).sin() + 3.0;
                    (0..n_features).map(value).collect()
                };
                let mut random = random_stream(5, "kept samples", n_features as u64);
                let mut classes = [(); 2].map(|()| Samples::new(n_features, 0));
                let (mut gram, mut renewal) = (KeptGram::default(), Renewal::default());
                let mut expected = Matrix::default();
                for _ in 0..60 {
                    for (class, budget) in classes.iter_mut().zip([40, 7]) {
                        for _ in 0..random_below(&mut random, 9) {
                            let i = random_below(&mut random, 500);
                            let added = class.push(&kernel, i, &sample(i));
                            added.expect("finite sample");
                        }
                        while class.len() > budget {
                            let last = class.len() - 1;
                            class.move_to(last, random_below(&mut random, last));
                            class.truncate(last);
                        }
                    }
                    let [rows, columns] = &classes;
                    gram.outdate();
                    gram.renew(&kernel, rows, columns, &mut renewal);
                    kernel.block(rows, columns, &mut expected);
                    assert_eq!(gram.values().cols(), columns.len());
                    for j in 0..columns.len() {
                        let (found, expected) = (gram.values().col(j), expected.col(j));
                        assert_eq!(found, expected, "{kernel:?}, {n_features} features");
                    }
                }
            }
        }
    }

    #[test]
    fn renewed_values_are_those_computed_at_once() {
        for kernel in KERNELS {
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
