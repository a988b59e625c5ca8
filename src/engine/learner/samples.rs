//! Samples side by side with what the kernel needs to know of each: mini-batches,
//! test blocks and the kept samples of a profile are all of this kind.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::dataset::{Columns, InnerProducts};
use crate::math::{Matrix, View, squared_norm};

use super::error::LearnError;
use super::kernel::Kernel;

/// A kernel value k(x, x) above this could overflow in the recursions.
const LARGEST_SELF_KERNEL: f64 = 1e150;
/// A kernel value k(x, x) below this is no signal: such a sample counts as zero.
const SMALLEST_SELF_KERNEL: f64 = 1e-150;

/// Columns of features, the place of each in the data set, and its kernel with itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Samples {
    features: Matrix,
    index: Vec<usize>,
    self_kernel: Vec<f64>,
    auxiliary: Vec<f64>,
    /// Where inner products of these samples are looked up, if all of them are known there.
    #[serde(skip)]
    products: Option<Arc<InnerProducts>>,
    /// The features once more, a row per sample, for a block that is compared again and again: products take its rows
    /// as they are.
    #[serde(skip)]
    turned: Option<Matrix>,
}

impl Samples {
    /// No samples of `n_features`, with room for `capacity`.
    pub fn new(n_features: usize, capacity: usize) -> Self {
        let mut features = Matrix::with_capacity(n_features, capacity);
        features.resize(n_features, 0);
        Self {
            features,
            index: Vec::with_capacity(capacity),
            self_kernel: Vec::with_capacity(capacity),
            auxiliary: Vec::with_capacity(capacity),
            products: None,
            turned: None,
        }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Number of features of each.
    pub fn n_features(&self) -> usize {
        self.features.rows()
    }

    /// The features of sample `i`.
    pub fn features(&self, i: usize) -> &[f64] {
        self.features.col(i)
    }

    /// All features, one column per sample.
    pub fn matrix(&self) -> &Matrix {
        &self.features
    }

    /// All features, one row per sample.
    pub(super) fn rows(&self) -> View<'_> {
        match &self.turned {
            Some(turned) => turned.view(),
            None => self.features.view().t(),
        }
    }

    /// Prepares for many comparisons, until the samples change.
    pub(crate) fn turn(&mut self) {
        let turned = self.turned.get_or_insert_default();
        turned.copy_from(self.features.view().t());
    }

    /// Where each sample stands in the data set.
    pub fn index(&self) -> &[usize] {
        &self.index
    }

    /// k(x, x) of each.
    pub fn self_kernel(&self) -> &[f64] {
        &self.self_kernel
    }

    /// The kernel's auxiliary number of each.
    pub(super) fn auxiliary(&self) -> &[f64] {
        &self.auxiliary
    }

    /// Whether sample `i` is zero in feature space.
    pub fn is_zero(&self, i: usize) -> bool {
        self.self_kernel[i] < SMALLEST_SELF_KERNEL
    }

    /// Whether all parts have one entry per sample and hold finite numbers.
    pub(super) fn is_consistent(&self) -> bool {
        let n = self.index.len();
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        self.features.cols() == n
            && self.self_kernel.len() == n
            && self.auxiliary.len() == n
            && self.features.is_finite()
            && finite(&self.self_kernel)
            && finite(&self.auxiliary)
    }

    /// Forgets all samples, keeps the memory.
    pub fn clear(&mut self) {
        let n_features = self.features.rows();
        self.features.resize(n_features, 0);
        self.turned = None;
        self.index.clear();
        self.self_kernel.clear();
        self.auxiliary.clear();
    }

    /// Adds a sample of the data set.
    pub fn push(&mut self, kernel: &Kernel, index: usize, x: &[f64]) -> Result<(), LearnError> {
        if x.len() != self.features.rows() {
            return Err(LearnError::FeatureCount {
                sample: index,
                found: x.len(),
                expected: self.features.rows(),
            });
        }
        self.push_read(kernel, index, |features| features.copy_from_slice(x))?;
        self.look_up_in(None);
        Ok(())
    }

    /// After a sample was added: its inner products are looked up there. Samples of several stores, or of none, are
    /// multiplied.
    fn look_up_in(&mut self, products: Option<&Arc<InnerProducts>>) {
        let is_same = match (&self.products, products) {
            (None, None) => true,
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            _ => false,
        };
        if !is_same {
            self.products = products.filter(|_| self.len() == 1).cloned();
        }
    }

    /// Where the inner products of these samples with `others` are looked up.
    pub(super) fn products_with(&self, others: &Self) -> Option<&InnerProducts> {
        let (own, other) = (self.products.as_ref()?, others.products.as_ref()?);
        Arc::ptr_eq(own, other).then_some(own)
    }

    /// Adds a sample whose features are written into their place.
    fn push_read(
        &mut self,
        kernel: &Kernel,
        index: usize,
        read: impl FnOnce(&mut [f64]),
    ) -> Result<(), LearnError> {
        let (n_features, at) = (self.features.rows(), self.len());
        self.turned = None;
        self.features.resize(n_features, at + 1);
        read(self.features.col_mut(at));
        match own_terms(kernel, index, self.features.col(at)) {
            Ok((self_kernel, auxiliary)) => {
                self.index.push(index);
                self.self_kernel.push(self_kernel);
                self.auxiliary.push(auxiliary);
                Ok(())
            }
            Err(error) => {
                self.features.resize(n_features, at);
                Err(error)
            }
        }
    }

    /// Adds sample `i` of `other`.
    pub fn push_from(&mut self, other: &Samples, i: usize) {
        self.append(
            other.index[i],
            other.features(i),
            other.self_kernel[i],
            other.auxiliary[i],
        );
        self.look_up_in(other.products.as_ref());
    }

    fn append(&mut self, index: usize, x: &[f64], self_kernel: f64, auxiliary: f64) {
        let at = self.len();
        self.turned = None;
        self.features.resize(x.len(), at + 1);
        self.features.col_mut(at).copy_from_slice(x);
        self.index.push(index);
        self.self_kernel.push(self_kernel);
        self.auxiliary.push(auxiliary);
    }

    /// Replaces the contents by columns of `data`, one per entry of `index`.
    pub fn load<'d>(
        &mut self,
        kernel: &Kernel,
        data: impl Into<Columns<'d>>,
        index: &[usize],
    ) -> Result<(), LearnError> {
        let data = data.into();
        self.clear();
        for &sample in index {
            self.push_column(kernel, data, sample)?;
        }
        Ok(())
    }

    /// Adds column `sample` of `data`.
    pub(super) fn push_column(
        &mut self,
        kernel: &Kernel,
        data: Columns<'_>,
        sample: usize,
    ) -> Result<(), LearnError> {
        if sample >= data.n_samples() {
            return Err(LearnError::NoSuchSample {
                sample,
                n_samples: data.n_samples(),
            });
        }
        if data.n_features() != self.n_features() {
            return Err(LearnError::FeatureCount {
                sample,
                found: data.n_features(),
                expected: self.n_features(),
            });
        }
        self.push_read(kernel, sample, |features| data.read(sample, features))?;
        self.look_up_in(data.products());
        Ok(())
    }

    /// Exchanges samples `a` and `b`.
    pub fn swap(&mut self, a: usize, b: usize) {
        self.turned = None;
        self.features.swap_cols(a, b);
        self.index.swap(a, b);
        self.self_kernel.swap(a, b);
        self.auxiliary.swap(a, b);
    }

    /// Puts sample `from` in the place of `to`, which is forgotten.
    pub(super) fn move_to(&mut self, from: usize, to: usize) {
        self.turned = None;
        self.features.copy_col(from, to);
        self.index[to] = self.index[from];
        self.self_kernel[to] = self.self_kernel[from];
        self.auxiliary[to] = self.auxiliary[from];
    }

    /// Forgets all samples from position `n` on.
    pub fn truncate(&mut self, n: usize) {
        let n_features = self.features.rows();
        self.turned = None;
        self.features.resize(n_features, n);
        self.index.truncate(n);
        self.self_kernel.truncate(n);
        self.auxiliary.truncate(n);
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        let turned = self.turned.as_ref().map_or(0, Matrix::memory_bytes);
        self.features.memory_bytes() + turned + self.index.capacity() * 3 * size_of::<f64>()
    }
}

/// k(x, x) and the kernel's auxiliary number of a sample that can be learned from.
fn own_terms(kernel: &Kernel, index: usize, x: &[f64]) -> Result<(f64, f64), LearnError> {
    // Squares may overflow, but the square of what is not finite never is: most samples are
    // cleared by a loop without an exit.
    let norm = squared_norm(x);
    if !norm.is_finite()
        && let Some(feature) = x.iter().position(|value| !value.is_finite())
    {
        return Err(LearnError::NotFinite {
            sample: index,
            feature,
            value: x[feature],
        });
    }
    let (self_kernel, auxiliary) = kernel.own_terms(norm);
    if self_kernel.is_nan() || self_kernel > LARGEST_SELF_KERNEL {
        return Err(LearnError::KernelOverflow {
            sample: index,
            value: self_kernel,
        });
    }
    Ok((self_kernel, auxiliary))
}
