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

/// Numbers over the atoms come in lanes of this many, the last filled up with zeros, so that
/// no loop has a remainder. An atom without length is never chosen.
const LANES: usize = 4;
type Lane = [f64; LANES];

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

    /// Adds the absolute value of every pair to the sum of its atom.
    pub(super) fn add_sizes(&self, sums: &mut [f64]) {
        for (&atom, value) in self.atoms.iter().zip(&self.values) {
            sums[atom as usize] += value.abs();
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
    /// Ψ with unit diagonal, column after column.
    gram: Vec<Lane>,
    search: Search,
}

/// What one pursuit works on; the lanes hold one number per atom.
#[derive(Clone, Debug, Default)]
struct Search {
    /// Inner product of every atom with the residual, made orthogonal to the chosen ones.
    correlations: Vec<Lane>,
    /// Squared length of every atom outside the span of the chosen ones.
    remainders: Vec<Lane>,
    /// How promising every atom is.
    scores: Vec<Lane>,
    /// Inner products of all atoms with the orthonormal directions, one after the other.
    directions: Vec<Lane>,
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
        let n_lanes = n.div_ceil(LANES);
        self.gram.clear();
        self.gram.resize(n * n_lanes, [0.0; LANES]);
        let scales = &self.scales;
        let columns = self.gram.chunks_exact_mut(n_lanes.max(1));
        vectorised(
            #[inline(always)]
            || {
                for ((q, column), own) in columns.enumerate().zip(scales) {
                    let target = column.as_flattened_mut().iter_mut();
                    for ((target, source), scale) in target.zip(atom_gram.col(q)).zip(scales) {
                        *target = source * scale * own;
                    }
                }
            },
        );
        self.search.reserve(n_lanes, self.sparsity.min(n));
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
                match pursuit {
                    Pursuit::Ormp => {
                        search.pursue(self_kernel, limit, most, gram, |c, e| c * c / e)
                    }
                    Pursuit::Omp => search.pursue(self_kernel, limit, most, gram, |c, _| c * c),
                }
            },
        )
    }
}

impl Search {
    fn reserve(&mut self, n_lanes: usize, sparsity: usize) {
        for lanes in [
            &mut self.correlations,
            &mut self.remainders,
            &mut self.scores,
        ] {
            lanes.clear();
            lanes.resize(n_lanes, [0.0; LANES]);
        }
        self.directions.resize(n_lanes * sparsity, [0.0; LANES]);
        self.chosen.reserve(sparsity);
        self.coefficients.reserve(sparsity);
    }

    #[inline(always)]
    fn begin(&mut self, inner_products: &[f64], scales: &[f64]) {
        self.chosen.clear();
        self.coefficients.clear();
        let correlations = self.correlations.as_flattened_mut().iter_mut();
        for ((c, h), scale) in correlations.zip(inner_products).zip(scales) {
            *c = h * scale;
        }
        let remainders = self.remainders.as_flattened_mut().iter_mut();
        for (e, scale) in remainders.zip(scales) {
            *e = if *scale > 0.0 { 1.0 } else { 0.0 };
        }
    }

    /// Chooses atoms by the largest `gain` of correlation and remainder; returns r².
    #[inline(always)]
    fn pursue(
        &mut self,
        self_kernel: f64,
        limit: f64,
        most: usize,
        gram: &[Lane],
        gain: impl Fn(f64, f64) -> f64,
    ) -> f64 {
        let correlations = self.correlations.as_flattened().iter();
        let remainders = self.remainders.as_flattened().iter();
        let scores = self.scores.as_flattened_mut().iter_mut();
        for (score, (c, e)) in scores.zip(correlations.zip(remainders)) {
            *score = score_of(*c, *e, &gain);
        }
        let mut residual = self_kernel;
        while self.chosen.len() < most && residual > limit {
            let Some(atom) = self.best() else { break };
            residual -= self.take(atom, gram, &gain);
        }
        residual.max(0.0)
    }

    /// The most promising atom, the first of equals; none if no candidate correlates.
    #[inline(always)]
    fn best(&self) -> Option<usize> {
        let mut lane = [0.0_f64; LANES];
        for scores in &self.scores {
            for l in 0..LANES {
                lane[l] = if scores[l] > lane[l] {
                    scores[l]
                } else {
                    lane[l]
                };
            }
        }
        let largest = lane.into_iter().fold(0.0, f64::max);
        let scores = self.scores.as_flattened().iter();
        (largest > 0.0)
            .then(|| scores.into_iter().position(|&score| score == largest))
            .flatten()
    }

    /// Adds `atom` to the chosen ones and returns by how much r² falls.
    #[inline(always)]
    fn take(&mut self, atom: usize, gram: &[Lane], gain: impl Fn(f64, f64) -> f64) -> f64 {
        let n_lanes = self.correlations.len();
        let length = element(&self.remainders, atom).sqrt();
        let coefficient = element(&self.correlations, atom) / length;
        let reciprocal = 1.0 / length;
        let step = self.chosen.len() * n_lanes;
        let (earlier, rest) = self.directions.split_at_mut(step);
        let direction = &mut rest[..n_lanes];
        direction.copy_from_slice(&gram[atom * n_lanes..(atom + 1) * n_lanes]);
        for previous in earlier.chunks_exact(n_lanes) {
            let along = element(previous, atom);
            add_scaled(
                direction.as_flattened_mut(),
                -along,
                previous.as_flattened(),
            );
        }
        let correlations = self.correlations.as_flattened_mut().iter_mut();
        let remainders = self.remainders.as_flattened_mut().iter_mut();
        let scores = self.scores.as_flattened_mut().iter_mut();
        let state = correlations.zip(remainders).zip(scores);
        for (d, ((c, e), score)) in direction.as_flattened_mut().iter_mut().zip(state) {
            *d *= reciprocal;
            *c -= *d * coefficient;
            *e -= *d * *d;
            *score = score_of(*c, *e, &gain);
        }
        self.remainders[atom / LANES][atom % LANES] = 0.0;
        self.scores[atom / LANES][atom % LANES] = 0.0;
        self.chosen.push(atom);
        self.coefficients.push(coefficient);
        coefficient * coefficient
    }

    /// From coefficients of the orthonormal directions to those of the atoms: R w = c.
    fn resolve_coefficients(&mut self, scales: &[f64]) {
        let n_lanes = self.correlations.len();
        for k in (0..self.chosen.len()).rev() {
            let direction = &self.directions[k * n_lanes..(k + 1) * n_lanes];
            let mut value = self.coefficients[k];
            for j in k + 1..self.chosen.len() {
                value -= element(direction, self.chosen[j]) * self.coefficients[j];
            }
            self.coefficients[k] = value / element(direction, self.chosen[k]);
        }
        for (value, &atom) in self.coefficients.iter_mut().zip(&self.chosen) {
            *value *= scales[atom];
        }
    }
}

/// The number of one atom.
#[inline(always)]
fn element(lanes: &[Lane], atom: usize) -> f64 {
    lanes[atom / LANES][atom % LANES]
}

/// `gain`, or 0 for an atom that is no candidate.
#[inline(always)]
fn score_of(correlation: f64, remainder: f64, gain: impl Fn(f64, f64) -> f64) -> f64 {
    let score = gain(correlation, remainder);
    if remainder > SMALLEST_REMAINDER {
        score
    } else {
        0.0
    }
}
