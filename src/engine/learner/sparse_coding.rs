//! Kernel order-recursive matching pursuit (KORMP) and kernel OMP: sparse codes from
//! inner products alone.
//!
//! Given Ψ = DᵀD, h = Dᵀφ(x) and σ = k(x, x), both find w with at most s non-zeros that
//! makes r² = ‖φ(x) − D w‖² small. Atoms are normalised inside, so the scale of Ψ has no
//! influence on the choice. ORMP chooses the atom that leaves the smallest residual
//! *after* it was made orthogonal to those chosen; OMP the one most correlated before.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::math::{Matrix, Vectors, View, WithVectors, vectorised, with_vectors};

/// How the next atom is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pursuit {
    /// Order-recursive matching pursuit.
    #[default]
    Ormp,
    /// Orthogonal matching pursuit.
    Omp,
}

/// Samples that are coded side by side: where the pursuit of one has to wait for a comparison or a
/// root, the other continues.
const TOGETHER: usize = 2;
/// Numbers in the widest vectors.
const LANES: usize = 8;
/// Vectors that are worked on at a time.
const BLOCK: usize = 4;
/// Rows of numbers over the atoms are filled up with zeros to a multiple of this many, so that no
/// loop over blocks of the widest vectors has a remainder. An atom without length is never chosen.
const ROW: usize = BLOCK * LANES;
/// The first atoms by number.
const NUMBERS: [f64; LANES] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// An atom whose squared length is less than this share of the largest is what rounding left of none:
/// codes over it would be as large as it is short.
const SMALLEST_LENGTH: f64 = 1e-24;
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

    /// Makes room for `capacity` more codes.
    pub(super) fn reserve(&mut self, capacity: usize) {
        self.atoms.reserve(self.sparsity * capacity);
        self.values.reserve(self.sparsity * capacity);
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
    /// Ψ as it was taken over.
    source: Matrix,
    /// 1/√Ψ_qq, 0 for atoms without length.
    scales: Vec<f64>,
    /// Squared length of every atom: 1, or 0 for those without.
    lengths: Vec<f64>,
    /// Ψ with unit diagonal, column after column.
    gram: Vec<f64>,
    searches: [PursuitSearch; TOGETHER],
}

/// The pursuit of one sample; all rows are as long as `lengths`.
#[derive(Clone, Debug, Default)]
struct PursuitSearch {
    /// r².
    residual: f64,
    /// The r² that is small enough.
    limit: f64,
    /// Inner product of every atom with the residual, made orthogonal to the chosen ones.
    correlations: Vec<f64>,
    /// Squared length of every atom outside the span of the chosen ones.
    remainders: Vec<f64>,
    /// Inner products of all atoms with the orthonormal directions, one row after the other.
    directions: Vec<f64>,
    /// Those of the atom that is being chosen.
    along: Vec<f64>,
    chosen: Vec<usize>,
    /// 1/length of every chosen atom outside the span of those chosen before it.
    reciprocals: Vec<f64>,
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
        if self.source.view() == atom_gram {
            return;
        }
        self.source.copy_from(atom_gram);
        let n = atom_gram.rows();
        self.n_atoms = n;
        let largest = (0..n).fold(0.0_f64, |largest, q| largest.max(atom_gram.at(q, q)));
        self.scales.clear();
        self.scales.extend((0..n).map(|q| {
            let squared = atom_gram.at(q, q);
            let used = squared > 0.0 && squared.is_finite() && squared >= SMALLEST_LENGTH * largest;
            if used { 1.0 / squared.sqrt() } else { 0.0 }
        }));
        let row = n.next_multiple_of(ROW);
        self.lengths.clear();
        let lengths = self.scales.iter();
        self.lengths
            .extend(lengths.map(|&scale| if scale > 0.0 { 1.0 } else { 0.0 }));
        self.lengths.resize(row, 0.0);
        self.gram.clear();
        self.gram.resize(n * row, 0.0);
        let scales = &self.scales;
        let columns = self.gram.chunks_exact_mut(row.max(1));
        vectorised(
            #[inline(always)]
            || {
                for ((q, column), own) in columns.enumerate().zip(scales) {
                    for ((target, source), scale) in
                        column.iter_mut().zip(atom_gram.col(q)).zip(scales)
                    {
                        *target = source * scale * own;
                    }
                }
            },
        );
        for search in &mut self.searches {
            search.reserve(row, self.sparsity.min(n));
        }
    }

    /// Codes one sample: (atom, value) pairs in the order of choice, and r².
    pub fn code(&mut self, inner_products: &[f64], self_kernel: f64) -> (Vec<(usize, f64)>, f64) {
        self.begin(0, inner_products, self_kernel);
        self.pursue(1);
        let search = &mut self.searches[0];
        search.resolve_coefficients(&self.scales);
        (search.pairs().collect(), search.residual)
    }

    /// Adds r² of every column of `inner_products` to `residuals`, and the codes of those whose
    /// positions are in `coded` to `codes`.
    pub fn code_block(
        &mut self,
        inner_products: &Matrix,
        self_kernel: &[f64],
        coded: Range<usize>,
        codes: &mut SparseCodes,
        residuals: &mut Vec<f64>,
    ) {
        for (part, own) in self_kernel.chunks(TOGETHER).enumerate() {
            let first = part * TOGETHER;
            for (k, &own) in own.iter().enumerate() {
                self.begin(k, inner_products.col(first + k), own);
            }
            self.pursue(own.len());
            for (k, search) in self.searches[..own.len()].iter_mut().enumerate() {
                residuals.push(search.residual);
                if coded.contains(&(first + k)) {
                    search.resolve_coefficients(&self.scales);
                    codes.push(search.pairs());
                }
            }
        }
    }

    /// Puts r² of some columns of `inner_products` into their places among `residuals`.
    pub(super) fn find_residuals(
        &mut self,
        inner_products: &Matrix,
        self_kernel: &[f64],
        columns: &[usize],
        residuals: &mut [f64],
    ) {
        for part in columns.chunks(TOGETHER) {
            for (k, &column) in part.iter().enumerate() {
                self.begin(k, inner_products.col(column), self_kernel[column]);
            }
            self.pursue(part.len());
            for (search, &column) in self.searches.iter().zip(part) {
                residuals[column] = search.residual;
            }
        }
    }

    fn begin(&mut self, k: usize, inner_products: &[f64], self_kernel: f64) {
        assert_eq!(inner_products.len(), self.n_atoms);
        let search = &mut self.searches[k];
        search.residual = self_kernel;
        search.limit = self.error_limit * self_kernel;
        search.begin(inner_products, &self.scales, &self.lengths);
    }

    /// The first `n` searches choose atoms until the sparsity, the error limit or the useful atoms
    /// are used up.
    fn pursue(&mut self, n: usize) {
        with_vectors(Pursuits {
            searches: &mut self.searches[..n],
            gram: &self.gram,
            pursuit: self.pursuit,
            most: self.sparsity.min(self.n_atoms),
        });
    }
}

/// Samples that are being coded.
struct Pursuits<'a> {
    searches: &'a mut [PursuitSearch],
    gram: &'a [f64],
    pursuit: Pursuit,
    most: usize,
}

impl WithVectors for Pursuits<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Vectors>(self, simd: S) {
        match self.pursuit {
            Pursuit::Ormp => self.pursue(simd, |remainders| remainders),
            Pursuit::Omp => self.pursue(simd, |_| simd.splat_f64s(1.0)),
        }
    }
}

impl Pursuits<'_> {
    /// Chooses atoms by the largest c²/`weigh`(e) of correlation and remainder.
    #[inline(always)]
    fn pursue<S: Vectors>(self, simd: S, weigh: impl Fn(S::f64s) -> S::f64s) {
        let Self {
            searches,
            gram,
            most,
            ..
        } = self;
        if let Ok(searches) = <&mut [PursuitSearch; TOGETHER]>::try_from(&mut *searches) {
            pursue_together(simd, searches, gram, most, &weigh);
        } else {
            for search in searches {
                pursue_together(simd, std::array::from_mut(search), gram, most, &weigh);
            }
        }
    }
}

/// Every sample in turn takes one atom, until none takes one.
#[inline(always)]
fn pursue_together<S: Vectors, const N: usize>(
    simd: S,
    searches: &mut [PursuitSearch; N],
    gram: &[f64],
    most: usize,
    weigh: &impl Fn(S::f64s) -> S::f64s,
) {
    let mut leaders = [Leaders::none(simd); N];
    for (leaders, search) in leaders.iter_mut().zip(searches.iter()) {
        *leaders = search.first_leaders(simd, weigh);
    }
    let mut goes_on = true;
    while goes_on {
        goes_on = false;
        for (leaders, search) in leaders.iter_mut().zip(searches.iter_mut()) {
            if search.chosen.len() < most
                && search.residual > search.limit
                && let Some(atom) = leaders.best(simd)
            {
                *leaders = search.take(simd, atom, gram, weigh);
                goes_on = true;
            }
        }
    }
    for search in searches {
        search.residual = search.residual.max(0.0);
    }
}

impl PursuitSearch {
    fn reserve(&mut self, row: usize, sparsity: usize) {
        for values in [&mut self.correlations, &mut self.remainders] {
            values.clear();
            values.resize(row, 0.0);
        }
        self.directions.resize(row * sparsity, 0.0);
        self.along.reserve(sparsity);
        self.chosen.reserve(sparsity);
        self.reciprocals.reserve(sparsity);
        self.coefficients.reserve(sparsity);
    }

    fn begin(&mut self, inner_products: &[f64], scales: &[f64], lengths: &[f64]) {
        self.chosen.clear();
        self.reciprocals.clear();
        self.coefficients.clear();
        let correlations = self.correlations.iter_mut();
        for ((c, h), scale) in correlations.zip(inner_products).zip(scales) {
            *c = h * scale;
        }
        self.remainders.copy_from_slice(lengths);
    }

    /// (atom, value) pairs in the order of choice.
    fn pairs(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let values = self.coefficients.iter().copied();
        self.chosen.iter().copied().zip(values)
    }

    /// Who is most promising at the beginning.
    #[inline(always)]
    fn first_leaders<S: Vectors>(
        &self,
        simd: S,
        weigh: &impl Fn(S::f64s) -> S::f64s,
    ) -> Leaders<S> {
        let mut leaders = Leaders::none(simd);
        let correlations = blocks::<S>(&self.correlations).iter();
        for (at, (c, e)) in correlations.zip(blocks::<S>(&self.remainders)).enumerate() {
            leaders = leaders.or(simd, Leaders::of_block(simd, at, c, e, weigh));
        }
        leaders
    }

    /// Adds `atom` to the chosen ones; r² falls by the square of the coefficient of its direction.
    /// Returns who is most promising then.
    #[inline(always)]
    fn take<S: Vectors>(
        &mut self,
        simd: S,
        atom: usize,
        gram: &[f64],
        weigh: &impl Fn(S::f64s) -> S::f64s,
    ) -> Leaders<S> {
        let row = self.correlations.len();
        let length = self.remainders[atom].sqrt();
        let (reciprocal, coefficient) = (1.0 / length, self.correlations[atom] / length);
        let (earlier, rest) = self.directions.split_at_mut(self.chosen.len() * row);
        self.along.clear();
        let along = earlier.chunks_exact(row);
        self.along.extend(along.map(|direction| direction[atom]));
        let earlier = blocks::<S>(earlier);
        let column = blocks::<S>(&gram[atom * row..(atom + 1) * row]);
        let directions = blocks_mut::<S>(&mut rest[..row]).iter_mut();
        let correlations = blocks_mut::<S>(&mut self.correlations).iter_mut();
        let remainders = blocks_mut::<S>(&mut self.remainders).iter_mut();
        let minus_coefficient = simd.splat_f64s(-coefficient);
        let reciprocals = simd.splat_f64s(reciprocal);
        let mut leaders = Leaders::none(simd);
        let state = directions.zip(correlations.zip(remainders));
        for (at, (own, (direction, (correlations, remainders)))) in
            column.iter().zip(state).enumerate()
        {
            let mut values = *own;
            let across = earlier.get(at..).unwrap_or_default();
            for (along, previous) in self.along.iter().zip(across.iter().step_by(column.len())) {
                let along = simd.splat_f64s(-along);
                for (value, previous) in values.iter_mut().zip(previous) {
                    *value = simd.mul_add_f64s(along, *previous, *value);
                }
            }
            for k in 0..BLOCK {
                let value = simd.mul_f64s(values[k], reciprocals);
                direction[k] = value;
                correlations[k] = simd.mul_add_f64s(value, minus_coefficient, correlations[k]);
                remainders[k] = simd.mul_add_f64s(simd.neg_f64s(value), value, remainders[k]);
            }
            let met = Leaders::of_block(simd, at, correlations, remainders, weigh);
            leaders = if at == 0 { met } else { leaders.or(simd, met) };
        }
        // Nothing but rounding is left of it, so that it was no candidate above.
        self.remainders[atom] = 0.0;
        self.chosen.push(atom);
        self.reciprocals.push(reciprocal);
        self.coefficients.push(coefficient);
        self.residual -= coefficient * coefficient;
        leaders
    }

    /// From coefficients of the orthonormal directions to those of the atoms: R w = c.
    fn resolve_coefficients(&mut self, scales: &[f64]) {
        let row = self.correlations.len();
        for k in (0..self.chosen.len()).rev() {
            let direction = &self.directions[k * row..(k + 1) * row];
            let mut value = self.coefficients[k];
            for j in k + 1..self.chosen.len() {
                value -= direction[self.chosen[j]] * self.coefficients[j];
            }
            self.coefficients[k] = value * self.reciprocals[k];
        }
        for (value, &atom) in self.coefficients.iter_mut().zip(&self.chosen) {
            *value *= scales[atom];
        }
    }
}

/// A row of numbers over the atoms in vectors.
#[inline(always)]
fn blocks<S: Vectors>(row: &[f64]) -> &[[S::f64s; BLOCK]] {
    S::as_simd_f64s(row).0.as_chunks().0
}

/// The same, to be written.
#[inline(always)]
fn blocks_mut<S: Vectors>(row: &mut [f64]) -> &mut [[S::f64s; BLOCK]] {
    S::as_mut_simd_f64s(row).0.as_chunks_mut().0
}

/// The most promising atom at every place of a vector. The promise is a fraction; fractions are
/// compared crosswise, which needs no division.
#[derive(Clone, Copy)]
struct Leaders<S: Vectors> {
    numerators: S::f64s,
    denominators: S::f64s,
    atoms: S::f64s,
}

impl<S: Vectors> Leaders<S> {
    #[inline(always)]
    fn none(simd: S) -> Self {
        Self {
            numerators: simd.splat_f64s(0.0),
            denominators: simd.splat_f64s(1.0),
            atoms: simd.splat_f64s(f64::INFINITY),
        }
    }

    /// Those among the atoms of block `at`.
    #[inline(always)]
    fn of_block(
        simd: S,
        at: usize,
        correlations: &[S::f64s; BLOCK],
        remainders: &[S::f64s; BLOCK],
        weigh: &impl Fn(S::f64s) -> S::f64s,
    ) -> Self {
        let mut all = [Self::none(simd); BLOCK];
        for (k, leaders) in all.iter_mut().enumerate() {
            let first = simd.splat_f64s(((at * BLOCK + k) * S::F64_LANES) as f64);
            let limit = simd.splat_f64s(SMALLEST_REMAINDER);
            let candidates = simd.greater_than_f64s(remainders[k], limit);
            let squares = simd.mul_f64s(correlations[k], correlations[k]);
            *leaders = Self {
                numerators: simd.select_f64s(candidates, squares, simd.splat_f64s(0.0)),
                // What rounding left of the length of others may be negative.
                denominators: simd.select_f64s(
                    candidates,
                    weigh(remainders[k]),
                    simd.splat_f64s(1.0),
                ),
                atoms: simd.add_f64s(S::as_simd_f64s(&NUMBERS).0[0], first),
            };
        }
        let [first, second, third, fourth] = all;
        first.or(simd, second).or(simd, third.or(simd, fourth))
    }

    /// The better ones of these and of `later` atoms; these win among equals.
    #[inline(always)]
    fn or(self, simd: S, later: Self) -> Self {
        let own = simd.mul_f64s(self.numerators, later.denominators);
        let its = simd.mul_f64s(later.numerators, self.denominators);
        self.replaced(simd, simd.greater_than_f64s(its, own), later)
    }

    #[inline(always)]
    fn replaced(self, simd: S, better: S::m64s, by: Self) -> Self {
        Self {
            numerators: simd.select_f64s(better, by.numerators, self.numerators),
            denominators: simd.select_f64s(better, by.denominators, self.denominators),
            atoms: simd.select_f64s(better, by.atoms, self.atoms),
        }
    }

    /// The most promising atom, the first of equals; none if no candidate correlates.
    #[inline(always)]
    fn best(mut self, simd: S) -> Option<usize> {
        let mut distance = S::F64_LANES / 2;
        while distance > 0 {
            let other = Self {
                numerators: simd.rotate_left_f64s(self.numerators, distance),
                denominators: simd.rotate_left_f64s(self.denominators, distance),
                atoms: simd.rotate_left_f64s(self.atoms, distance),
            };
            let own = simd.mul_f64s(self.numerators, other.denominators);
            let its = simd.mul_f64s(other.numerators, self.denominators);
            let equal = simd.and_m64s(
                simd.equal_f64s(its, own),
                simd.less_than_f64s(other.atoms, self.atoms),
            );
            let better = simd.or_m64s(simd.greater_than_f64s(its, own), equal);
            self = self.replaced(simd, better, other);
            distance /= 2;
        }
        // Every place holds the same atom now.
        let first = |values: S::f64s| {
            let mut array = [0.0; LANES];
            S::as_mut_simd_f64s(&mut array).0[0] = values;
            array[0]
        };
        (first(self.numerators) > 0.0).then_some(first(self.atoms) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Write, dot, product};

    const N_FEATURES: usize = 12;

    /// The first atom of the same direction; between such atoms rounding may choose.
    fn twin(q: usize) -> usize {
        if q % 5 == 4 { q - 3 } else { q }
    }

    /// More atoms than a vector has lanes and than there are dimensions, some of them equal,
    /// one zero, of very different lengths.
    fn atoms(n: usize) -> Matrix {
        Matrix::from_fn(N_FEATURES, n, |i, q| {
            let twin = twin(q);
            let length = if q == 6 {
                0.0
            } else {
                10_f64.powi(q as i32 % 5 - 2)
            };
            length * ((i * (twin + 2) + 3 * twin) as f64).sin()
        })
    }

    /// The same pursuit on the vectors themselves: every atom is made orthogonal to the
    /// chosen ones and divided by what is left of it.
    fn pursue_vectors(
        pursuit: Pursuit,
        atoms: &Matrix,
        x: &[f64],
        most: usize,
    ) -> (Vec<usize>, f64) {
        let unit = |v: &[f64]| {
            let length = dot(v, v).sqrt();
            v.iter().map(|value| value / length).collect::<Vec<f64>>()
        };
        let mut rest: Vec<Option<Vec<f64>>> = (0..atoms.cols())
            .map(|q| Some(unit(atoms.col(q))).filter(|v| v[0].is_finite()))
            .collect();
        let (mut residual, mut chosen) = (x.to_vec(), Vec::new());
        while chosen.len() < most {
            let score = |v: &Vec<f64>| match pursuit {
                Pursuit::Ormp => dot(v, &residual).powi(2) / dot(v, v),
                Pursuit::Omp => dot(v, &residual).powi(2),
            };
            let scores = rest.iter().enumerate();
            let scores = scores.filter_map(|(q, v)| v.as_ref().map(|v| (q, score(v))));
            let Some((best, _)) = scores.fold(None, |best: Option<(usize, f64)>, (q, score)| {
                best.filter(|(_, s)| score <= *s).or(Some((q, score)))
            }) else {
                break;
            };
            let direction = unit(rest[best].as_ref().expect("a candidate"));
            for v in rest.iter_mut() {
                *v = v.take().and_then(|v| {
                    let along = dot(&v, &direction);
                    let left: Vec<f64> = v
                        .iter()
                        .zip(&direction)
                        .map(|(v, d)| v - along * d)
                        .collect();
                    (dot(&left, &left) > SMALLEST_REMAINDER).then_some(left)
                });
            }
            let along = dot(&residual, &direction);
            for (value, d) in residual.iter_mut().zip(&direction) {
                *value -= along * d;
            }
            chosen.push(best);
        }
        (chosen, dot(&residual, &residual))
    }

    #[test]
    fn many_dependent_atoms_are_chosen_as_on_the_vectors_themselves() {
        for (n, most) in [(5, 5), (9, 4), (17, 6), (30, 5), (30, 11), (41, 8)] {
            let atoms = atoms(n);
            let mut gram = Matrix::zeros(n, n);
            product(
                gram.view_mut(),
                Write::Replace,
                atoms.view().t(),
                atoms.view(),
            );
            for pursuit in [Pursuit::Ormp, Pursuit::Omp] {
                let mut coder = SparseCoder::new(pursuit, most, 0.0);
                coder.prepare(gram.view());
                for sample in 0..20 {
                    let x: Vec<f64> = (0..N_FEATURES)
                        .map(|i| ((i * i + 7 * sample) as f64).cos())
                        .collect();
                    let h: Vec<f64> = (0..n).map(|q| dot(atoms.col(q), &x)).collect();
                    let (code, residual) = coder.code(&h, dot(&x, &x));
                    let (chosen, expected) = pursue_vectors(pursuit, &atoms, &x, most);
                    let found: Vec<usize> = code.iter().map(|&(q, _)| twin(q)).collect();
                    let chosen: Vec<usize> = chosen.into_iter().map(twin).collect();
                    assert_eq!(found, chosen, "{pursuit:?}, {n} atoms, sample {sample}");
                    assert!((residual - expected).abs() < 1e-9 * dot(&x, &x));
                    let mut rest = x.clone();
                    for &(q, value) in &code {
                        for (rest, element) in rest.iter_mut().zip(atoms.col(q)) {
                            *rest -= value * element;
                        }
                    }
                    assert!((dot(&rest, &rest) - expected).abs() < 1e-9 * dot(&x, &x));
                }
            }
        }
    }
}
