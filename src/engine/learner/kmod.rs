//! The kernel method of optimal directions (Nguyen, Patel, Nasrabadi and Chellappa 2013).
//!
//! For given codes W of all samples the dictionary D = Φ Uᵀ that represents them best is
//!
//! ```text
//! U = (W Wᵀ + ε I)⁻¹ W
//! ```
//!
//! where ε only keeps atoms apart that the codes cannot tell apart. The codes are those for
//! atoms of length 1.

use crate::math::{Cholesky, Matrix};

use super::batch::BatchClass;
use super::contributions::add_outer_product;
use super::recursion::set_combinations;
use super::report::{ClassReport, Repair};
use super::ridge::factor_guarded;

/// Scratch memory.
#[derive(Debug, Default)]
pub(super) struct Kmod {
    /// W Wᵀ + ε I and its inverse.
    code_gram: Matrix,
    precision: Matrix,
    factor: Cholesky,
    lengths: Vec<f64>,
}

impl Kmod {
    /// Fits U to the codes; H and Ψ follow later.
    pub(super) fn update(&mut self, class: &mut BatchClass, ridge: f64, report: &mut ClassReport) {
        let atom_gram = &class.profile.dictionary.atom_gram;
        let n_atoms = atom_gram.rows();
        self.lengths.clear();
        let length = |q: usize| atom_gram[(q, q)].max(0.0).sqrt();
        self.lengths.extend((0..n_atoms).map(length));
        class.view.codes.scale_atoms(&self.lengths);
        self.invert_code_gram(class, ridge, report);
        let coefficients = &mut class.profile.dictionary.coefficients;
        let (codes, precision) = (&class.view.codes, &self.precision);
        set_combinations(coefficients, precision, codes, |j| (j, 1.0));
        for (atom, &used) in report.atom_use.iter().enumerate() {
            if used == 0 {
                class.redraw(atom);
            }
        }
        report.health.condition = self.factor.condition_estimate();
    }

    /// (W Wᵀ + ε I)⁻¹, ε being the share `ridge` of the mean of the diagonal.
    fn invert_code_gram(&mut self, class: &BatchClass, ridge: f64, report: &mut ClassReport) {
        let n_atoms = self.lengths.len();
        let gram = &mut self.code_gram;
        gram.reshape(n_atoms, n_atoms);
        gram.fill(0.0);
        for j in 0..class.view.codes.len() {
            add_outer_product(gram, &class.view.codes, j, 1.0);
        }
        let trace: f64 = (0..n_atoms).map(|q| gram[(q, q)]).sum();
        let lift = (ridge * trace / n_atoms as f64).max(f64::MIN_POSITIVE);
        (0..n_atoms).for_each(|q| gram[(q, q)] += lift);
        factor_guarded(&mut self.factor, gram, 0.0, |atom, _| {
            report.health.repairs.push(Repair::Ridge { atom });
        });
        self.factor.inverse_into(&mut self.precision);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::algorithm::Algorithm;
    use crate::learner::batch::tests::coded_class;
    use crate::learner::kernel::Kernel;

    #[test]
    fn the_update_never_raises_the_error_for_fixed_codes() {
        for kernel in [
            Kernel::Linear,
            Kernel::Gaussian { width: 0.7 },
            Kernel::Polynomial {
                degree: 2,
                offset: 1.0,
            },
        ] {
            let ridge = 1e-12;
            let mut class = coded_class(kernel, Algorithm::Kmod { ridge });
            for iteration in 0..10 {
                class.code();
                let before = class.error();
                let mut report = ClassReport {
                    atom_use: vec![1; 6],
                    ..ClassReport::default()
                };
                Kmod::default().update(&mut class, ridge, &mut report);
                class.take_products();
                let after = class.error();
                assert!(
                    after <= before * (1.0 + 1e-9),
                    "{kernel:?}, iteration {iteration}: {before:e} to {after:e}"
                );
            }
        }
    }
}
