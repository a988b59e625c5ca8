//! One seed, many independent random streams.

use std::f64::consts::TAU;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A reproducible source of random numbers.
pub type RandomStream = ChaCha8Rng;

/// The stream of `seed` that belongs to `purpose` and `index`; streams of different
/// purposes or indices are independent, and none depends on how much another one gave.
pub fn random_stream(seed: u64, purpose: &str, index: u64) -> RandomStream {
    let mut key = [0_u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&index.to_le_bytes());
    key[16..24].copy_from_slice(&fnv(purpose.as_bytes()).to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// A uniform number below `limit` (0 for a limit of 0), without the bias of a plain
/// remainder. Written here so that no new version of a library changes what a seed gives.
pub fn random_below(random: &mut RandomStream, limit: usize) -> usize {
    let limit = limit as u64;
    if limit < 2 {
        return 0;
    }
    // Draws above the last whole multiple of the limit are drawn again.
    let fair = u64::MAX - u64::MAX % limit;
    loop {
        let draw = random.next_u64();
        if draw < fair {
            return (draw % limit) as usize;
        }
    }
}

/// A uniform number from 0 to 1, 1 itself excluded: a multiple of 2⁻⁵³.
pub fn random_share(random: &mut RandomStream) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Draws from the standard normal distribution.
#[derive(Clone, Debug, Default)]
pub struct Normal {
    spare: Option<f64>,
}

impl Normal {
    /// One draw; Box and Muller's transform gives two at a time.
    #[inline]
    pub fn draw(&mut self, random: &mut RandomStream) -> f64 {
        if let Some(value) = self.spare.take() {
            return value;
        }
        // 1 − u is in (0, 1], so that the logarithm is finite.
        let radius = (-2.0 * (1.0 - random_share(random)).ln()).sqrt();
        let (sine, cosine) = (TAU * random_share(random)).sin_cos();
        self.spare = Some(radius * sine);
        radius * cosine
    }
}

/// Puts the items in random order (Fisher and Yates).
pub fn shuffle<T>(items: &mut [T], random: &mut RandomStream) {
    for last in (1..items.len()).rev() {
        items.swap(last, random_below(random, last + 1));
    }
}

/// Fowler–Noll–Vo hash: gives every purpose its own number, the same for ever.
pub fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_gives_every_order_equally_often() {
        let mut counts = std::collections::BTreeMap::new();
        let mut random = random_stream(5, "test", 0);
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            shuffle(&mut items, &mut random);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (850..1150).contains(count)));
    }

    #[test]
    fn streams_repeat_and_differ_by_seed_purpose_and_index() {
        let first = |seed, purpose, index| random_stream(seed, purpose, index).next_u64();
        assert_eq!(first(1, "folds", 0), first(1, "folds", 0));
        assert_ne!(first(1, "folds", 0), first(2, "folds", 0));
        assert_ne!(first(1, "folds", 0), first(1, "order", 0));
        assert_ne!(first(1, "folds", 0), first(1, "folds", 1));
    }

    #[test]
    fn shares_fill_the_unit_interval_evenly() {
        let mut random = random_stream(3, "test", 0);
        let mut counts = [0_u32; 10];
        for _ in 0..40_000 {
            counts[(random_share(&mut random) * 10.0) as usize] += 1;
        }
        // Expected 4000 each, standard deviation 60.
        assert!(counts.iter().all(|n| (3700..4300).contains(n)));
    }

    #[test]
    fn normal_draws_have_zero_mean_unit_variance_and_normal_tails() {
        let mut random = random_stream(2, "test", 0);
        let mut normal = Normal::default();
        let n = 40_000;
        let draws: Vec<f64> = (0..n).map(|_| normal.draw(&mut random)).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        let within = draws.iter().filter(|x| x.abs() < 1.96).count() as f64 / f64::from(n);
        assert!(mean.abs() < 0.02, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.03, "variance {variance}");
        assert!((within - 0.95).abs() < 0.005, "{within} within 1.96");
    }
}
