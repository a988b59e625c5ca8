//! The joint readout judged without the group it is asked about, in closed form: what a grouped stream of samples,
//! judged before it is learned, cannot tell.

use crate::learner::{Dictionary, Samples};
use crate::math::{Cholesky, Matrix};

/// ρ of the joint readout.
const RIDGE: f64 = 0.1;

/// Kept samples of all classes above which the readout is not solved.
const MOST_KEPT: usize = 1200;

/// Kept samples decided rightly by the readout of all other groups' kept samples, and all of them; nothing where fewer
/// than two groups are kept, or too many samples.
///
/// With M = (K + ρσ̄I)⁻¹ the prediction for the samples of group g by all others is Ŷ_g = Y_g − M_gg⁻¹ (M Y)_g.
pub fn readout_without_own_group<'a>(
    dictionaries: impl Iterator<Item = &'a Dictionary>,
    group_of: impl Fn(usize) -> Option<usize>,
) -> Option<(usize, usize)> {
    let dictionaries: Vec<&Dictionary> = dictionaries.collect();
    let first = dictionaries.first()?;
    let n: usize = dictionaries.iter().map(|d| d.n_kept()).sum();
    if n > MOST_KEPT {
        return None;
    }
    let mut kept = Samples::new(first.kept.n_features(), n);
    let mut classes = Vec::with_capacity(n);
    for (class, dictionary) in dictionaries.iter().enumerate() {
        for place in 0..dictionary.n_kept() {
            kept.push_from(&dictionary.kept, place);
            classes.push(class);
        }
    }
    let groups: Vec<usize> = kept
        .index()
        .iter()
        .map(|sample| group_of(*sample))
        .collect::<Option<_>>()?;
    let mut gram = Matrix::default();
    first.kernel.gram(&kept, &mut gram);
    left_out_decisions(gram, &classes, &groups, dictionaries.len()).map(|decided| {
        let right = decided.iter().zip(&classes).filter(|(a, b)| a == b).count();
        (right, n)
    })
}

/// The class decided for each sample by the readout without its own group.
fn left_out_decisions(
    mut gram: Matrix,
    classes: &[usize],
    groups: &[usize],
    n_classes: usize,
) -> Option<Vec<usize>> {
    let n = gram.rows();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|sample| groups[*sample]);
    let own = (0..n).map(|j| gram[(j, j)]).sum::<f64>() / n.max(1) as f64;
    (0..n).for_each(|j| gram[(j, j)] += RIDGE * own);
    let mut factor = Cholesky::default();
    factor.factor(gram.view()).ok()?;
    let mut inverse = Matrix::default();
    factor.inverse_into(&mut inverse);
    let target = |sample: usize, class: usize| if classes[sample] == class { 1.0 } else { -1.0 };
    // (M Y)_jc = Σ_i M_ji Y_ic.
    let weights = Matrix::from_fn(n, n_classes, |j, class| {
        let column = inverse.col(j).iter().enumerate();
        column.map(|(i, m)| m * target(i, class)).sum()
    });
    let parts: Vec<&[usize]> = order.chunk_by(|a, b| groups[*a] == groups[*b]).collect();
    if parts.len() < 2 {
        return None;
    }
    let mut decided = vec![0; n];
    for part in parts {
        let block = Matrix::from_fn(part.len(), part.len(), |i, j| inverse[(part[i], part[j])]);
        let mut factor = Cholesky::default();
        factor.factor(block.view()).ok()?;
        let mut best = vec![f64::NEG_INFINITY; part.len()];
        for class in 0..n_classes {
            let mut correction: Vec<f64> = part.iter().map(|j| weights[(*j, class)]).collect();
            factor.solve(&mut correction);
            for (place, sample) in part.iter().enumerate() {
                let value = target(*sample, class) - correction[place];
                if value > best[place] {
                    best[place] = value;
                    decided[*sample] = class;
                }
            }
        }
    }
    Some(decided)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_the_readout_solved_without_the_group() {
        let n = 12;
        let x = |i: usize| ((i * 7 % 12) as f64) / 4.0;
        let kernel = |i: usize, j: usize| (-0.5 * (x(i) - x(j)).powi(2)).exp();
        let classes: Vec<usize> = (0..n)
            .map(|i| usize::from(x(i) + 0.4 * (i % 3) as f64 > 1.5))
            .collect();
        let groups: Vec<usize> = (0..n).map(|i| i % 4).collect();
        let found = left_out_decisions(Matrix::from_fn(n, n, kernel), &classes, &groups, 2)
            .expect("four groups");
        for group in 0..4 {
            let others: Vec<usize> = (0..n).filter(|i| groups[*i] != group).collect();
            let system = Matrix::from_fn(others.len(), others.len(), |i, j| {
                let ridge = if i == j { RIDGE } else { 0.0 };
                kernel(others[i], others[j]) + ridge
            });
            let mut factor = Cholesky::default();
            factor.factor(system.view()).expect("positive definite");
            let mut weights: Vec<f64> = others
                .iter()
                .map(|i| if classes[*i] == 1 { 1.0 } else { -1.0 })
                .collect();
            factor.solve(&mut weights);
            for sample in (0..n).filter(|i| groups[*i] == group) {
                let pairs = others.iter().zip(&weights);
                let value: f64 = pairs.map(|(i, w)| w * kernel(*i, sample)).sum();
                assert_eq!(found[sample], usize::from(value > 0.0), "{sample}: {value}");
            }
        }
    }
}
