//! What a class remembers of all samples it has seen, written on the samples it keeps: their sum
//! Σφ(x) = Φv and their second moment Σφ(x)φ(x)ᵀ = ΦMΦᵀ, each projected on the span of the kept
//! samples. Nothing of it is forgotten when samples leave.

use serde::{Deserialize, Serialize};

use crate::math::{Matrix, Write, product};

use super::span::{ShrinkWork, SpanBlock};

/// All samples of a class on those it keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenSamples {
    /// Samples seen: start samples and those that were not kept included.
    pub n_seen: u64,
    /// v.
    pub sum: Vec<f64>,
    /// M, where the head needs it.
    pub second_moment: Option<Matrix>,
}

/// Scratch memory.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenWork {
    refused: Vec<usize>,
    /// T_old of the refused samples, a column each.
    old: Matrix,
    /// T_new of the refused samples, a column each.
    new: Matrix,
    /// [B; R] and [R; B] of the samples that leave.
    left: Matrix,
    right: Matrix,
}

impl SeenSamples {
    /// Of no samples yet, with room for `capacity` kept ones.
    pub(super) fn new(capacity: usize, with_second_moment: bool) -> Self {
        Self {
            n_seen: 0,
            sum: Vec::with_capacity(capacity),
            second_moment: with_second_moment.then(|| {
                let mut moment = Matrix::with_capacity(capacity, capacity);
                moment.resize(0, 0);
                moment
            }),
        }
    }

    /// Takes in the block that a class begins with: `distinct` are its samples, each once. One that serves
    /// several atoms stands in the block as often, and was seen once all the same.
    pub(super) fn begin(&mut self, block: &SpanBlock, distinct: &[usize]) {
        let n_kept = block.admitted.len();
        let mixing = &block.mixing;
        self.n_seen = distinct.len() as u64;
        let sum = |k: usize| distinct.iter().map(|&i| mixing[(k, i)]).sum::<f64>();
        self.sum.extend((0..n_kept).map(sum));
        if let Some(moment) = &mut self.second_moment {
            moment.resize(n_kept, n_kept);
            for k in 0..n_kept {
                for l in 0..n_kept {
                    let products = distinct.iter().map(|&i| mixing[(k, i)] * mixing[(l, i)]);
                    moment[(k, l)] = products.sum();
                }
            }
        }
    }

    /// Takes in a block whose admitted samples are about to be kept, `n_counted` samples of it new:
    /// v ← [v + ΣT_old, ΣT_new], M ← [[M + T_oT_oᵀ, T_oT_nᵀ], [T_nT_oᵀ, T_nT_nᵀ]].
    pub(super) fn add(&mut self, block: &SpanBlock, n_counted: usize, work: &mut SeenWork) {
        let (old, new) = (self.sum.len(), block.admitted.len());
        self.n_seen += n_counted as u64;
        work.take_refused(block, old);
        for l in 0..old {
            self.sum[l] += (0..work.refused.len())
                .map(|r| work.old[(l, r)])
                .sum::<f64>();
        }
        for k in 0..new {
            self.sum.push(block.mixing.row(k).sum());
        }
        let Some(moment) = &mut self.second_moment else {
            return;
        };
        moment.resize(old + new, old + new);
        if !work.refused.is_empty() {
            let (t_old, t_new) = (work.old.view(), work.new.view());
            product(
                moment.block_mut(0, old, 0, old),
                Write::Add,
                t_old,
                t_old.t(),
            );
            product(
                moment.block_mut(0, old, old, new),
                Write::Add,
                t_old,
                t_new.t(),
            );
            for k in 0..new {
                for l in 0..old {
                    moment[(old + k, l)] = moment[(l, old + k)];
                }
            }
        }
        product(
            moment.block_mut(old, new, old, new),
            Write::Replace,
            block.mixing.view(),
            block.mixing.view().t(),
        );
    }

    /// Exchanges the places of two kept samples.
    pub(super) fn swap(&mut self, a: usize, b: usize) {
        self.sum.swap(a, b);
        if let Some(moment) = &mut self.second_moment {
            moment.swap_symmetric(a, b);
        }
    }

    /// The last `count` samples leave; what they stand for is projected on the others with
    /// R = P_mm⁻¹ P_mk: v_k − v_m R and M_kk − M_km R − Rᵀ M_mk + Rᵀ M_mm R. `shrink` holds
    /// P_mm^(−1/2) P_mk, or is not `sound` and nothing can be projected.
    pub(super) fn remove_last(
        &mut self,
        count: usize,
        sound: bool,
        shrink: &ShrinkWork,
        work: &mut SeenWork,
    ) {
        let keep = self.sum.len() - count;
        if sound {
            work.take_ratios(shrink, keep, count);
            let (kept, leaving) = self.sum.split_at_mut(keep);
            for (j, value) in kept.iter_mut().enumerate() {
                let ratios = &work.left.col(j)[count..];
                *value -= leaving.iter().zip(ratios).map(|(v, r)| v * r).sum::<f64>();
            }
            if let Some(moment) = &mut self.second_moment {
                work.project(moment, keep, count);
            }
        }
        self.sum.truncate(keep);
        if let Some(moment) = &mut self.second_moment {
            moment.resize(keep, keep);
        }
    }
}

impl SeenWork {
    /// T of the samples that were not admitted: a − a_S c on the kept ones, c on the admitted ones.
    fn take_refused(&mut self, block: &SpanBlock, n_old: usize) {
        self.refused.clear();
        let positions = block.is_admitted.iter().enumerate();
        let refused = positions.filter_map(|(i, &admitted)| (!admitted).then_some(i));
        self.refused.extend(refused);
        self.old.reshape(n_old, self.refused.len());
        self.new.reshape(block.admitted.len(), self.refused.len());
        for l in 0..n_old {
            let weights = block.weights.col(l);
            for (r, &i) in self.refused.iter().enumerate() {
                let pairs = block.admitted.iter().zip(block.mixing.col(i));
                let mixed: f64 = pairs.map(|(&j, c)| weights[j] * c).sum();
                self.old[(l, r)] = weights[i] - mixed;
            }
        }
        for (r, &i) in self.refused.iter().enumerate() {
            self.new.col_mut(r).copy_from_slice(block.mixing.col(i));
        }
    }

    /// The lower half of `left` ← R, a column per staying sample.
    fn take_ratios(&mut self, shrink: &ShrinkWork, keep: usize, count: usize) {
        self.left.reshape(2 * count, keep);
        for j in 0..keep {
            let ratios = &mut self.left.col_mut(j)[count..];
            let half = shrink.half.row(j);
            ratios.iter_mut().zip(half).for_each(|(r, h)| *r = *h);
            shrink.factor.solve_upper(ratios);
        }
    }

    /// With B = M_mk − ½ M_mm R the projection is M_kk − BᵀR − RᵀB.
    fn project(&mut self, moment: &mut Matrix, keep: usize, count: usize) {
        self.right.reshape(2 * count, keep);
        for j in 0..keep {
            let (upper, lower) = self.right.col_mut(j).split_at_mut(count);
            upper.copy_from_slice(&self.left.col(j)[count..]);
            lower.copy_from_slice(&moment.col(j)[keep..]);
            for (i, value) in lower.iter_mut().enumerate() {
                let along = upper.iter().enumerate();
                let mixed = along.map(|(k, r)| moment[(keep + i, keep + k)] * r);
                *value -= 0.5 * mixed.sum::<f64>();
            }
            self.left.col_mut(j)[..count].copy_from_slice(lower);
        }
        product(
            moment.block_mut(0, keep, 0, keep),
            Write::Subtract,
            self.left.view().t(),
            self.right.view(),
        );
    }
}
