//! Kernel order-recursive matching pursuit (KORMP) and kernel OMP: sparse codes from
//! inner products alone.
//!
//! Given Ψ = DᵀD, h = Dᵀφ(x) and σ = k(x, x), both find w with at most s non-zeros that
//! makes r² = ‖φ(x) − D w‖² small. Atoms are normalised inside, so the scale of Ψ has no
//! influence on the choice. ORMP chooses the atom that leaves the smallest residual
//! *after* it was made orthogonal to those chosen; OMP the one most correlated before.

use serde::{Deserialize, Serialize};

use crate::math::{Matrix, View, add_scaled, vectorised};

/// How the next atom is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pursuit {
    /// Order-recursive matching pursuit.
    #[default]
    Ormp,
    /// Orthogonal matching pursuit.
    Omp,
}

/// An atom with less than this share of its squared length left is no candidate any more.
const SMALLEST_REMAINDER: f64 = 1e-10;

/// Codes of equal sparsity side by side: `sparsity` (atom, value) pairs per sample,
/// filled up with pairs of value 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SparseCodes {
    sparsity: usize,
    atoms: Vec<u32>,
    values: Vec<f64>,
}

impl SparseCodes {
    /// No codes yet, with room for `capacity` codes of `sparsity` pairs.
    pub fn new(sparsity: usize, capacity: usize) -> Self {
        Self {
            sparsity,
            atoms: Vec::with_capacity(sparsity * capacity),
            values: Vec::with_capacity(sparsity * capacity),
        }
    }

    /// Whether these are `n` codes of `sparsity` finite pairs over `n_atoms` atoms.
    pub(super) fn fits(&self, sparsity: usize, n_atoms: usize, n: usize) -> bool {
        self.sparsity == sparsity
            && self.atoms.len() == n * sparsity
            && self.values.len() == n * sparsity
            && self.atoms.iter().all(|&atom| (atom as usize) < n_atoms)
            && self.values.iter().all(|value| value.is_finite())
    }

    /// Number of codes.
    pub fn len(&self) -> usize {
        self.atoms.len() / self.sparsity.max(1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// Forgets all codes, keeps the memory.
    pub fn clear(&mut self) {
        self.atoms.clear();
        self.values.clear();
    }

    /// Atoms and values of code `j`.
    #[inline(always)]
    pub fn code(&self, j: usize) -> (&[u32], &[f64]) {
        let range = j * self.sparsity..(j + 1) * self.sparsity;
        (&self.atoms[range.clone()], &self.values[range])
    }

    /// (atom, value) pairs of code `j`, the filling pairs included.
    #[inline(always)]
    pub fn pairs(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + Clone + '_ {
        let (atoms, values) = self.code(j);
        atoms
            .iter()
            .map(|&q| q as usize)
            .zip(values.iter().copied())
    }

    /// Adds a code of at most `sparsity` pairs.
    pub fn push(&mut self, pairs: impl Iterator<Item = (usize, f64)>) {
        let end = self.atoms.len() + self.sparsity;
        for (atom, value) in pairs {
            self.atoms.push(atom as u32);
            self.values.push(value);
        }
        debug_assert!(self.atoms.len() <= end);
        self.atoms.resize(end, 0);
        self.values.resize(end, 0.0);
    }

    /// Adds code `j` of `other`.
    pub fn push_from(&mut self, other: &Self, j: usize) {
        let (atoms, values) = other.code(j);
        self.atoms.extend_from_slice(atoms);
        self.values.extend_from_slice(values);
    }

    /// Takes over all codes of `other`, reusing the memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.sparsity = other.sparsity;
        self.clear();
        self.atoms.extend_from_slice(&other.atoms);
        self.values.extend_from_slice(&other.values);
    }

    /// Exchanges codes `a` and `b`.
    pub fn swap(&mut self, a: usize, b: usize) {
        for k in 0..self.sparsity {
            self.atoms
                .swap(a * self.sparsity + k, b * self.sparsity + k);
            self.values
                .swap(a * self.sparsity + k, b * self.sparsity + k);
        }
    }

    /// Forgets all codes from position `n` on.
    pub fn truncate(&mut self, n: usize) {
        self.atoms.truncate(n * self.sparsity);
        self.values.truncate(n * self.sparsity);
    }

    /// Multiplies the value of every pair by the factor of its atom.
    pub fn scale_atoms(&mut self, factors: &[f64]) {
        for (value, &atom) in self.values.iter_mut().zip(&self.atoms) {
            *value *= factors[atom as usize];
        }
    }

    /// `dense` ← the codes as columns of length `n_atoms`.
    pub fn write_dense(&self, n_atoms: usize, dense: &mut Matrix) {
        dense.reshape(n_atoms, self.len());
        dense.fill(0.0);
        for j in 0..self.len() {
            for (atom, value) in self.pairs(j) {
                dense[(atom, j)] += value;
            }
        }
    }
}

/// Finds sparse codes over one dictionary; holds the normalised Ψ and its scratch memory.
#[derive(Clone, Debug, Default)]
pub struct SparseCoder {
    pursuit: Pursuit,
    /// Stop when r² ≤ `error_limit`·σ.
    error_limit: f64,
    sparsity: usize,
    n_atoms: usize,
    /// 1/√Ψ_qq, 0 for atoms without length.
    scales: Vec<f64>,
    /// Ψ with unit diagonal.
    gram: Matrix,
    search: Search,
}

/// What one pursuit works on; every vector has one entry per atom.
#[derive(Clone, Debug, Default)]
struct Search {
    /// Inner product of every atom with the residual, made orthogonal to the chosen ones.
    correlations: Vec<f64>,
    /// Squared length of every atom outside the span of the chosen ones.
    remainders: Vec<f64>,
    scores: Vec<f64>,
    /// Row k: inner products of all atoms with the k-th orthonormal direction.
    directions: Matrix,
    chosen: Vec<usize>,
    /// Coefficients of the orthonormal directions, then of the atoms.
    coefficients: Vec<f64>,
}

impl SparseCoder {
    /// A coder for at most `sparsity` atoms per sample.
    pub fn new(pursuit: Pursuit, sparsity: usize, error_limit: f64) -> Self {
        Self {
            pursuit,
            error_limit,
            sparsity,
            ..Self::default()
        }
    }

    /// Takes over a dictionary given by Ψ = DᵀD.
    pub fn prepare(&mut self, atom_gram: View<'_>) {
        let n = atom_gram.rows();
        self.n_atoms = n;
        let largest = (0..n).fold(0.0_f64, |largest, q| largest.max(atom_gram.at(q, q)));
        self.scales.clear();
        self.scales.extend((0..n).map(|q| {
            let squared = atom_gram.at(q, q);
            let used = squared > 0.0 && squared.is_finite() && squared >= 1e-300 * largest;
            if used { 1.0 / squared.sqrt() } else { 0.0 }
        }));
        self.gram.reshape(n, n);
        let scales = &self.scales;
        let gram = &mut self.gram;
        vectorised(
            #[inline(always)]
            || {
                for q in 0..n {
                    let target = gram.col_mut(q).iter_mut().zip(atom_gram.col(q));
                    for ((target, source), scale) in target.zip(scales) {
                        *target = source * scale * scales[q];
                    }
                }
            },
        );
        self.search.reserve(n, self.sparsity.min(n));
    }

    /// Codes one sample; the pairs are then given by [`SparseCoder::chosen`].
    pub fn code(&mut self, inner_products: &[f64], self_kernel: f64) -> f64 {
        let residual = self.residual(inner_products, self_kernel);
        self.search.resolve_coefficients(&self.scales);
        residual
    }

    /// (atom, value) pairs of the sample coded last, in the order of choice.
    pub fn chosen(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let search = &self.search;
        search
            .chosen
            .iter()
            .copied()
            .zip(search.coefficients.iter().copied())
    }

    /// r² of one sample without its code: chooses atoms until the sparsity, the error limit
    /// or the useful atoms are used up.
    pub fn residual(&mut self, inner_products: &[f64], self_kernel: f64) -> f64 {
        assert_eq!(inner_products.len(), self.n_atoms);
        let limit = self.error_limit * self_kernel;
        let most = self.sparsity.min(self.n_atoms);
        let (search, gram, scales) = (&mut self.search, &self.gram, &self.scales);
        let pursuit = self.pursuit;
        vectorised(
            #[inline(always)]
            || {
                search.begin(inner_products, scales);
                let mut residual = self_kernel;
                while search.chosen.len() < most && residual > limit {
                    let Some(atom) = search.best(pursuit) else {
                        break;
                    };
                    residual -= search.take(atom, gram);
                }
                residual.max(0.0)
            },
        )
    }
}

impl Search {
    fn reserve(&mut self, n_atoms: usize, sparsity: usize) {
        for vector in [
            &mut self.correlations,
            &mut self.remainders,
            &mut self.scores,
        ] {
            vector.resize(n_atoms, 0.0);
        }
        self.directions.reshape(n_atoms, sparsity);
        self.chosen.reserve(sparsity);
        self.coefficients.reserve(sparsity);
    }

    #[inline(always)]
    fn begin(&mut self, inner_products: &[f64], scales: &[f64]) {
        self.chosen.clear();
        self.coefficients.clear();
        for (q, &scale) in scales.iter().enumerate() {
            self.correlations[q] = inner_products[q] * scale;
            self.remainders[q] = if scale > 0.0 { 1.0 } else { 0.0 };
        }
    }

    /// The most promising atom, the first of equals; none if no candidate correlates.
    #[inline(always)]
    fn best(&mut self, pursuit: Pursuit) -> Option<usize> {
        let candidates = self.correlations.iter().zip(&self.remainders);
        match pursuit {
            Pursuit::Ormp => {
                for (score, (c, e)) in self.scores.iter_mut().zip(candidates) {
                    let gain = c * c / e;
                    *score = if *e > SMALLEST_REMAINDER { gain } else { 0.0 };
                }
            }
            Pursuit::Omp => {
                for (score, (c, e)) in self.scores.iter_mut().zip(candidates) {
                    *score = if *e > SMALLEST_REMAINDER { c * c } else { 0.0 };
                }
            }
        }
        let largest = largest_of(&self.scores);
        if largest > 0.0 {
            self.scores.iter().position(|&score| score == largest)
        } else {
            None
        }
    }

    /// Adds `atom` to the chosen ones and returns by how much r² falls.
    #[inline(always)]
    fn take(&mut self, atom: usize, gram: &Matrix) -> f64 {
        let step = self.chosen.len();
        let n = self.correlations.len();
        let length = self.remainders[atom].sqrt();
        let coefficient = self.correlations[atom] / length;
        let (earlier, rest) = self.directions.flat_mut().split_at_mut(step * n);
        let direction = &mut rest[..n];
        direction.copy_from_slice(gram.col(atom));
        for previous in earlier.chunks_exact(n) {
            add_scaled(direction, -previous[atom], previous);
        }
        let reciprocal = 1.0 / length;
        for ((d, c), e) in direction
            .iter_mut()
            .zip(&mut self.correlations)
            .zip(&mut self.remainders)
        {
            *d *= reciprocal;
            *c -= *d * coefficient;
            *e -= *d * *d;
        }
        self.remainders[atom] = 0.0;
        self.chosen.push(atom);
        self.coefficients.push(coefficient);
        coefficient * coefficient
    }

    /// From coefficients of the orthonormal directions to those of the atoms: R w = c.
    fn resolve_coefficients(&mut self, scales: &[f64]) {
        for k in (0..self.chosen.len()).rev() {
            let direction = self.directions.col(k);
            let mut value = self.coefficients[k];
            for j in k + 1..self.chosen.len() {
                value -= direction[self.chosen[j]] * self.coefficients[j];
            }
            self.coefficients[k] = value / direction[self.chosen[k]];
        }
        for (value, &atom) in self.coefficients.iter_mut().zip(&self.chosen) {
            *value *= scales[atom];
        }
    }
}

/// The largest of non-negative numbers.
#[inline(always)]
fn largest_of(values: &[f64]) -> f64 {
    let chunks = values.chunks_exact(4);
    let mut lanes = [0.0_f64; 4];
    for &value in chunks.remainder() {
        lanes[0] = if value > lanes[0] { value } else { lanes[0] };
    }
    for chunk in chunks {
        for lane in 0..4 {
            lanes[lane] = if chunk[lane] > lanes[lane] {
                chunk[lane]
            } else {
                lanes[lane]
            };
        }
    }
    lanes.into_iter().fold(0.0, f64::max)
}
