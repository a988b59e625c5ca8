//! Kernel K-SVD (Nguyen, Patel, Nasrabadi and Chellappa 2013): atom by atom, together with
//! the codes of the samples that use it.
//!
//! For atom q with users ω let E be what the other atoms leave of these samples,
//!
//! ```text
//! E = (I − Σ_{j≠q} a_j w_j) restricted to ω,     G = EᵀKE
//! a_q = E v / σ₁,     w_q(ω) = (G v)ᵀ / σ₁,      (σ₁², v) the leading eigenpair of G
//! ```
//!
//! G comes from H = U K, Ψ and the codes: G_ij = K_ij − w̃_iᵀh_j − (h_i − Ψw̃_i)ᵀw̃_j with w̃
//! the codes without atom q, so that no product with K is needed.

use crate::math::{Matrix, Write, dot, product, vectorised};

use super::batch::BatchClass;
use super::dictionary::Dictionary;

/// Power iterations of an atom at most, and the change of direction at which they end.
const MOST_ITERATIONS: usize = 200;
const SMALLEST_CHANGE: f64 = 1e-10;
/// Less than this share of the samples' energy is rounding: there is nothing left to fit.
const SMALLEST_ENERGY: f64 = 1e-14;

/// Scratch memory.
#[derive(Debug, Default)]
pub(super) struct Ksvd {
    /// W, dense.
    codes: Matrix,
    /// Which samples use the atom.
    users: Vec<usize>,
    /// w̃, h and h − Ψw̃ of the users.
    others: Matrix,
    inner_products: Matrix,
    errors: Matrix,
    /// G.
    energy: Matrix,
    /// v and G v.
    direction: Matrix,
    image: Matrix,
    /// w̃ v.
    mixture: Vec<f64>,
}

impl Ksvd {
    /// Updates every atom and its codes in turn. H and Ψ are kept in step.
    pub(super) fn update(&mut self, class: &mut BatchClass) {
        let n_atoms = class.profile.dictionary.n_atoms();
        class.view.codes.write_dense(n_atoms, &mut self.codes);
        for atom in 0..n_atoms {
            let codes = &self.codes;
            self.users.clear();
            let uses = |j: &usize| codes[(atom, *j)] != 0.0;
            self.users.extend((0..codes.cols()).filter(uses));
            if self.users.is_empty() {
                class.redraw(atom);
                self.follow_redrawn(class, atom);
                continue;
            }
            self.measure_energy(class, atom);
            if let Some(length) = self.find_direction(atom) {
                self.write_atom(class, atom, length);
                for (k, &j) in self.users.iter().enumerate() {
                    self.codes[(atom, j)] = self.image[(k, 0)] / length;
                }
            }
        }
    }

    /// Row `atom` of H and Ψ for an atom that lies on one sample.
    fn follow_redrawn(&mut self, class: &mut BatchClass, atom: usize) {
        let Dictionary {
            coefficients,
            atom_gram,
            ..
        } = &mut class.profile.dictionary;
        let inner_products = &mut class.view.inner_products;
        let Some(place) = (0..coefficients.cols()).find(|&j| coefficients[(atom, j)] != 0.0) else {
            return;
        };
        let scale = coefficients[(atom, place)];
        for j in 0..coefficients.cols() {
            inner_products[(atom, j)] = scale * class.kept_gram[(place, j)];
        }
        for p in 0..atom_gram.rows() {
            let value = scale * inner_products[(p, place)];
            atom_gram[(p, atom)] = value;
            atom_gram[(atom, p)] = value;
        }
    }

    /// G of the users.
    fn measure_energy(&mut self, class: &BatchClass, atom: usize) {
        let n_atoms = self.codes.rows();
        let n = self.users.len();
        self.others.reshape(n_atoms, n);
        self.inner_products.reshape(n_atoms, n);
        self.energy.reshape(n, n);
        for (k, &j) in self.users.iter().enumerate() {
            self.others.col_mut(k).copy_from_slice(self.codes.col(j));
            self.others[(atom, k)] = 0.0;
            let h = class.view.inner_products.col(j);
            self.inner_products.col_mut(k).copy_from_slice(h);
            let column = class.kept_gram.col(j);
            for (value, &i) in self.energy.col_mut(k).iter_mut().zip(&self.users) {
                *value = column[i];
            }
        }
        self.errors.copy_from(self.inner_products.view());
        product(
            self.errors.view_mut(),
            Write::Subtract,
            class.profile.dictionary.atom_gram.view(),
            self.others.view(),
        );
        for (left, right) in [
            (&self.others, &self.inner_products),
            (&self.errors, &self.others),
        ] {
            product(
                self.energy.view_mut(),
                Write::Subtract,
                left.view().t(),
                right.view(),
            );
        }
        self.energy.symmetrise();
    }

    /// The leading eigenvector of G by power iteration from the present codes; gives σ₁, or
    /// nothing where G is zero but for rounding. From there on the error can only fall: the
    /// atom for these codes is the best one, and every iteration is better than the one before.
    fn find_direction(&mut self, atom: usize) -> Option<f64> {
        let n = self.users.len();
        self.direction.reshape(n, 1);
        self.image.reshape(n, 1);
        for (k, &j) in self.users.iter().enumerate() {
            self.direction[(k, 0)] = self.codes[(atom, j)];
        }
        normalise(self.direction.col_mut(0))?;
        for _ in 0..MOST_ITERATIONS {
            self.apply_energy();
            let mut next = self.image.col(0).to_vec();
            normalise(&mut next)?;
            let change = 1.0 - inner(&next, self.direction.col(0)).abs();
            self.direction.col_mut(0).copy_from_slice(&next);
            if change < SMALLEST_CHANGE {
                break;
            }
        }
        self.apply_energy();
        let squared = inner(self.image.col(0), self.direction.col(0));
        let trace: f64 = (0..n).map(|k| self.energy[(k, k)].max(0.0)).sum();
        let is_signal = squared > SMALLEST_ENERGY * trace && squared.is_normal();
        is_signal.then(|| squared.sqrt())
    }

    fn apply_energy(&mut self) {
        product(
            self.image.view_mut(),
            Write::Replace,
            self.energy.view(),
            self.direction.view(),
        );
    }

    /// a_q = E v / σ₁ in U, and with it row q of H and of Ψ.
    fn write_atom(&mut self, class: &mut BatchClass, atom: usize, length: f64) {
        let direction = self.direction.col(0);
        self.mixture.clear();
        self.mixture.resize(self.codes.rows(), 0.0);
        for (k, value) in direction.iter().enumerate() {
            let column = self.others.col(k).iter();
            let terms = self.mixture.iter_mut().zip(column);
            terms.for_each(|(sum, other)| *sum += value * other);
        }
        let Dictionary {
            coefficients,
            atom_gram,
            ..
        } = &mut class.profile.dictionary;
        let inner_products = &mut class.view.inner_products;
        let (mixture, users, gram) = (&self.mixture, &self.users, &class.kept_gram);
        // Ψ first, from H before it changes.
        for p in (0..atom_gram.rows()).filter(|&p| p != atom) {
            let along = users.iter().zip(direction);
            let own: f64 = along.map(|(&j, v)| inner_products[(p, j)] * v).sum();
            let value = (own - inner(atom_gram.col(p), mixture)) / length;
            self.errors[(p, 0)] = value;
        }
        for p in (0..atom_gram.rows()).filter(|&p| p != atom) {
            atom_gram[(p, atom)] = self.errors[(p, 0)];
            atom_gram[(atom, p)] = self.errors[(p, 0)];
        }
        atom_gram[(atom, atom)] = 1.0;
        vectorised(
            #[inline(always)]
            || {
                for l in 0..coefficients.cols() {
                    let column = gram.col(l);
                    let along = users.iter().zip(direction);
                    let own: f64 = along.map(|(&j, v)| column[j] * v).sum();
                    let h = inner_products.col_mut(l);
                    h[atom] = (own - dot(h, mixture)) / length;
                    let u = coefficients.col_mut(l);
                    u[atom] = -dot(u, mixture) / length;
                }
            },
        );
        for (&j, v) in users.iter().zip(direction) {
            coefficients[(atom, j)] += v / length;
        }
    }
}

fn inner(x: &[f64], y: &[f64]) -> f64 {
    vectorised(
        #[inline(always)]
        || dot(x, y),
    )
}

/// Scales to length 1; nothing if there is no length.
fn normalise(vector: &mut [f64]) -> Option<()> {
    let largest = vector.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    vector.iter_mut().for_each(|value| *value /= largest);
    let length = inner(vector, vector).sqrt();
    vector.iter_mut().for_each(|value| *value /= length);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::algorithm::Algorithm;
    use crate::learner::batch::tests::coded_class;
    use crate::learner::kernel::Kernel;
    use crate::learner::sparse_coding::SparseCodes;

    #[test]
    fn every_update_lowers_the_error_and_keeps_h_and_the_gram_in_step() {
        for kernel in [Kernel::Linear, Kernel::Gaussian { width: 0.7 }] {
            let mut class = coded_class(kernel, Algorithm::Ksvd);
            for _ in 0..5 {
                class.code();
                let before = class.error();
                let mut ksvd = Ksvd::default();
                ksvd.update(&mut class);
                let mut codes = SparseCodes::new(2, 40);
                for j in 0..40 {
                    let column = ksvd.codes.col(j).iter().copied().enumerate();
                    codes.push(column.filter(|(_, value)| *value != 0.0));
                }
                class.view.codes = codes;
                let followed = class.view.inner_products.clone();
                let gram = class.profile.dictionary.atom_gram.clone();
                class.take_products();
                assert!(class.error() <= before * (1.0 + 1e-12));
                for q in 0..6 {
                    for j in 0..40 {
                        let fresh = class.view.inner_products[(q, j)];
                        assert!((followed[(q, j)] - fresh).abs() < 1e-10);
                    }
                    for p in 0..6 {
                        let fresh = class.profile.dictionary.atom_gram[(p, q)];
                        assert!((gram[(p, q)] - fresh).abs() < 1e-10);
                    }
                }
            }
        }
    }
}
