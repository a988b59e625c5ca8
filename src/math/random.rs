//! One seed, many independent random streams.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

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

/// Fowler–Noll–Vo hash: gives every purpose its own number, the same for ever.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    #[test]
    fn streams_repeat_and_differ_by_seed_purpose_and_index() {
        let first = |seed, purpose, index| random_stream(seed, purpose, index).random::<u64>();
        assert_eq!(first(1, "folds", 0), first(1, "folds", 0));
        assert_ne!(first(1, "folds", 0), first(2, "folds", 0));
        assert_ne!(first(1, "folds", 0), first(1, "order", 0));
        assert_ne!(first(1, "folds", 0), first(1, "folds", 1));
    }
}
