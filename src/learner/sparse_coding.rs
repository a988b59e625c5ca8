//! Kernel order-recursive matching pursuit (KORMP) and kernel OMP: sparse codes from
//! inner products alone.
//!
//! Given Ψ = DᵀD, h = Dᵀφ(x) and σ = k(x, x), both find w with at most s non-zeros that
//! makes r² = ‖φ(x) − D w‖² small. Atoms are normalised inside, so the scale of Ψ has no
//! influence on the choice. ORMP chooses the atom that leaves the smallest residual
//! *after* it was made orthogonal to those chosen; OMP the one most correlated before.

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

/// Rows of numbers over the atoms are filled up with zeros to a multiple of this many, so that no
/// loop over the widest vectors has a remainder. An atom without length is never chosen.
const LANES: usize = 8;
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
    /// 1/√Ψ_qq, 0 for atoms without length.
    scales: Vec<f64>,
    /// Squared length of every atom: 1, or 0 for those without.
    lengths: Vec<f64>,
    /// Ψ with unit diagonal, column after column.
    gram: Vec<f64>,
    search: Search,
}

/// What one pursuit works on; all rows are as long as `lengths`.
#[derive(Clone, Debug, Default)]
struct Search {
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
        let n = atom_gram.rows();
        self.n_atoms = n;
        let largest = (0..n).fold(0.0_f64, |largest, q| largest.max(atom_gram.at(q, q)));
        self.scales.clear();
        self.scales.extend((0..n).map(|q| {
            let squared = atom_gram.at(q, q);
            let used = squared > 0.0 && squared.is_finite() && squared >= SMALLEST_LENGTH * largest;
            if used { 1.0 / squared.sqrt() } else { 0.0 }
        }));
        let row = n.next_multiple_of(LANES);
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
        self.search.reserve(row, self.sparsity.min(n));
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
        self.search
            .begin(inner_products, &self.scales, &self.lengths);
        with_vectors(PursuitOfSample {
            search: &mut self.search,
            gram: &self.gram,
            pursuit: self.pursuit,
            self_kernel,
            limit: self.error_limit * self_kernel,
            most: self.sparsity.min(self.n_atoms),
        })
    }
}

/// One sample that is being coded.
struct PursuitOfSample<'a> {
    search: &'a mut Search,
    gram: &'a [f64],
    pursuit: Pursuit,
    self_kernel: f64,
    limit: f64,
    most: usize,
}

impl WithVectors for PursuitOfSample<'_> {
    /// r².
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Vectors>(self, simd: S) -> f64 {
        match self.pursuit {
            Pursuit::Ormp => self.pursue(simd, |remainders| remainders),
            Pursuit::Omp => self.pursue(simd, |_| simd.splat_f64s(1.0)),
        }
    }
}

impl PursuitOfSample<'_> {
    /// Chooses atoms by the largest c²/`weigh`(e) of correlation and remainder; returns r².
    #[inline(always)]
    fn pursue<S: Vectors>(self, simd: S, weigh: impl Fn(S::f64s) -> S::f64s) -> f64 {
        let search = self.search;
        let mut leaders = search.first_leaders(simd, &weigh);
        let mut residual = self.self_kernel;
        while search.chosen.len() < self.most && residual > self.limit {
            let Some(atom) = leaders.best(simd) else {
                break;
            };
            let coefficient;
            (coefficient, leaders) = search.take(simd, atom, self.gram, &weigh);
            residual -= coefficient * coefficient;
        }
        residual.max(0.0)
    }
}

impl Search {
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

    #[inline(always)]
    fn first_leaders<S: Vectors>(&self, simd: S, weigh: impl Fn(S::f64s) -> S::f64s) -> Leaders<S> {
        let mut leaders = Leaders::none(simd);
        let (correlations, _) = S::as_simd_f64s(&self.correlations);
        let (remainders, _) = S::as_simd_f64s(&self.remainders);
        for (&c, &e) in correlations.iter().zip(remainders) {
            leaders.meet(simd, c, e, weigh(e));
        }
        leaders
    }

    /// Adds `atom` to the chosen ones; returns the coefficient of its direction, whose square is
    /// what r² falls by, and who is most promising then.
    #[inline(always)]
    fn take<S: Vectors>(
        &mut self,
        simd: S,
        atom: usize,
        gram: &[f64],
        weigh: impl Fn(S::f64s) -> S::f64s,
    ) -> (f64, Leaders<S>) {
        let row = self.correlations.len();
        let length = self.remainders[atom].sqrt();
        let (reciprocal, coefficient) = (1.0 / length, self.correlations[atom] / length);
        let (earlier, rest) = self.directions.split_at_mut(self.chosen.len() * row);
        self.along.clear();
        let along = earlier.chunks_exact(row);
        self.along.extend(along.map(|direction| direction[atom]));
        let (earlier, _) = S::as_simd_f64s(earlier);
        let (column, _) = S::as_simd_f64s(&gram[atom * row..(atom + 1) * row]);
        let (direction, _) = S::as_mut_simd_f64s(&mut rest[..row]);
        let (correlations, _) = S::as_mut_simd_f64s(&mut self.correlations);
        let (remainders, _) = S::as_mut_simd_f64s(&mut self.remainders);
        let minus_coefficient = simd.splat_f64s(-coefficient);
        let reciprocals = simd.splat_f64s(reciprocal);
        let n_vectors = column.len();
        let mut leaders = Leaders::none(simd);
        let state = correlations.iter_mut().zip(remainders);
        for (at, ((own, d), (c, e))) in column.iter().zip(direction).zip(state).enumerate() {
            let mut value = *own;
            let across = earlier.get(at..).unwrap_or_default();
            for (&along, &previous) in self.along.iter().zip(across.iter().step_by(n_vectors)) {
                value = simd.mul_add_f64s(simd.splat_f64s(-along), previous, value);
            }
            value = simd.mul_f64s(value, reciprocals);
            *d = value;
            *c = simd.mul_add_f64s(value, minus_coefficient, *c);
            *e = simd.mul_add_f64s(simd.neg_f64s(value), value, *e);
            leaders.meet(simd, *c, *e, weigh(*e));
        }
        // Nothing but rounding is left of it, so that it was no candidate above.
        self.remainders[atom] = 0.0;
        self.chosen.push(atom);
        self.reciprocals.push(reciprocal);
        self.coefficients.push(coefficient);
        (coefficient, leaders)
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

/// The most promising atom at every place of a vector. The promise is a fraction; fractions are
/// compared crosswise, which needs no division.
#[derive(Clone, Copy)]
struct Leaders<S: Vectors> {
    numerators: S::f64s,
    denominators: S::f64s,
    atoms: S::f64s,
    /// The atoms that are met next.
    next: S::f64s,
}

impl<S: Vectors> Leaders<S> {
    #[inline(always)]
    fn none(simd: S) -> Self {
        Self {
            numerators: simd.splat_f64s(0.0),
            denominators: simd.splat_f64s(1.0),
            atoms: simd.splat_f64s(f64::INFINITY),
            next: S::as_simd_f64s(&NUMBERS).0[0],
        }
    }

    /// Compares the next atoms; earlier ones win among equals.
    #[inline(always)]
    fn meet(&mut self, simd: S, correlations: S::f64s, remainders: S::f64s, denominators: S::f64s) {
        let limit = simd.splat_f64s(SMALLEST_REMAINDER);
        let candidates = simd.greater_than_f64s(remainders, limit);
        let squares = simd.mul_f64s(correlations, correlations);
        let met = Self {
            numerators: simd.select_f64s(candidates, squares, simd.splat_f64s(0.0)),
            // What rounding left of the length of others may be negative.
            denominators: simd.select_f64s(candidates, denominators, simd.splat_f64s(1.0)),
            atoms: self.next,
            next: simd.add_f64s(self.next, simd.splat_f64s(S::F64_LANES as f64)),
        };
        let own = simd.mul_f64s(self.numerators, met.denominators);
        let its = simd.mul_f64s(met.numerators, self.denominators);
        self.replace(simd, simd.greater_than_f64s(its, own), met);
    }

    #[inline(always)]
    fn replace(&mut self, simd: S, better: S::m64s, by: Self) {
        self.numerators = simd.select_f64s(better, by.numerators, self.numerators);
        self.denominators = simd.select_f64s(better, by.denominators, self.denominators);
        self.atoms = simd.select_f64s(better, by.atoms, self.atoms);
        self.next = by.next;
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
                next: self.next,
            };
            let own = simd.mul_f64s(self.numerators, other.denominators);
            let its = simd.mul_f64s(other.numerators, self.denominators);
            let equal = simd.and_m64s(
                simd.equal_f64s(its, own),
                simd.less_than_f64s(other.atoms, self.atoms),
            );
            let better = simd.or_m64s(simd.greater_than_f64s(its, own), equal);
            self.replace(simd, better, other);
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
                    let residual = coder.code(&h, dot(&x, &x));
                    let (chosen, expected) = pursue_vectors(pursuit, &atoms, &x, most);
                    let found: Vec<usize> = coder.chosen().map(|(q, _)| twin(q)).collect();
                    let chosen: Vec<usize> = chosen.into_iter().map(twin).collect();
                    assert_eq!(found, chosen, "{pursuit:?}, {n} atoms, sample {sample}");
                    assert!((residual - expected).abs() < 1e-9 * dot(&x, &x));
                    let mut rest = x.clone();
                    for (q, value) in coder.chosen() {
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
