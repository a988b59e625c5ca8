//! Seeded draws whose results never depend on the version of a library: the same seed gives the same folds for ever.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The independent stream number `stream` of `seed`.
pub(crate) fn stream(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// A uniform number below `limit` (0 for a limit of 0), without the bias of a plain remainder.
pub(crate) fn below(rng: &mut ChaCha8Rng, limit: usize) -> usize {
    let limit = limit as u64;
    if limit < 2 {
        return 0;
    }
    // Draws above the last whole multiple of the limit are drawn again.
    let fair = u64::MAX - u64::MAX % limit;
    loop {
        let draw = rng.next_u64();
        if draw < fair {
            return (draw % limit) as usize;
        }
    }
}

/// Fisher and Yates' shuffle.
pub(crate) fn shuffle<T>(items: &mut [T], rng: &mut ChaCha8Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(rng, last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_this_order_for_ever() {
        let mut items: Vec<usize> = (0..10).collect();
        shuffle(&mut items, &mut stream(7, 0));
        let mut again: Vec<usize> = (0..10).collect();
        shuffle(&mut again, &mut stream(7, 0));
        assert_eq!(items, again);
        shuffle(&mut again, &mut stream(7, 1));
        assert_ne!(items, again);
    }

    #[test]
    fn every_place_is_equally_likely() {
        let mut rng = stream(1, 0);
        let mut counts = [[0u32; 5]; 5];
        for _ in 0..20_000 {
            let mut items = [0, 1, 2, 3, 4];
            shuffle(&mut items, &mut rng);
            for (place, item) in items.iter().enumerate() {
                counts[*item][place] += 1;
            }
        }
        // Expected 4000 each, standard deviation 57.
        assert!(counts.iter().flatten().all(|n| (3700..4300).contains(n)));
    }
}
