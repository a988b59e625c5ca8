//! Ways to damage a valid file.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Damages files, the same way for the same seed.
pub(crate) struct Mutator {
    random: ChaCha8Rng,
}

impl Mutator {
    /// A mutator with its own stream of random numbers.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// `file` with one to four damages; `other` lends pieces.
    pub(crate) fn mutated(&mut self, file: &[u8], other: &[u8]) -> Vec<u8> {
        let mut bytes = file.to_vec();
        for _ in 0..self.random.random_range(1..=4) {
            self.damage(&mut bytes, other);
        }
        bytes
    }

    fn below(&mut self, end: usize) -> usize {
        self.random.random_range(0..end.max(1))
    }

    fn stretch(&mut self, len: usize) -> std::ops::Range<usize> {
        let start = self.below(len);
        let longest = (len - start.min(len)).min(64);
        let end = start + self.below(longest + 1);
        start.min(len)..end.min(len)
    }

    fn damage(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(bytes.len());
        match self.below(10) {
            0 | 1 => self.flip_bits(bytes),
            2 => {
                let odd = [0, 1, 0x7f, 0x80, 0xff, b',', b'\n', b' ', b'-', b'9', b'"'];
                let byte = odd[self.below(odd.len())];
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
            }
            3 => bytes.truncate(at),
            4 => {
                let range = self.stretch(bytes.len());
                bytes.drain(range);
            }
            5 => {
                let range = self.stretch(bytes.len());
                let piece = bytes[range].to_vec();
                bytes.splice(at..at, piece);
            }
            6 => self.swap_fields(bytes),
            7 => self.change_number(bytes),
            8 => self.change_binary_size(bytes),
            _ => {
                let range = self.stretch(other.len());
                let piece = other[range].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }

    fn flip_bits(&mut self, bytes: &mut [u8]) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            let bit = self.below(8);
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
        }
    }

    /// Exchanges two stretches of equal length, as when fields change places.
    fn swap_fields(&mut self, bytes: &mut [u8]) {
        let (a, b) = (self.stretch(bytes.len()), self.stretch(bytes.len()));
        for (i, j) in a.zip(b) {
            bytes.swap(i, j);
        }
    }

    /// Replaces a number written in digits by one that is too large, zero or negative.
    fn change_number(&mut self, bytes: &mut Vec<u8>) {
        let start = self.below(bytes.len());
        let is_digit = |b: &u8| b.is_ascii_digit();
        let Some(first) = bytes.iter().skip(start).position(is_digit) else {
            return;
        };
        let first = start + first;
        let n = bytes[first..].iter().take_while(|b| is_digit(b)).count();
        let texts = [
            "0",
            "-1",
            "1",
            "10",
            "65536",
            "2147483648",
            "4294967295",
            "99999999999",
            "18446744073709551616",
            "1e308",
            "nan",
            "",
        ];
        let text = texts[self.below(texts.len())];
        bytes.splice(first..first + n, text.bytes());
    }

    /// Writes a size that is too large, zero or negative over four bytes.
    fn change_binary_size(&mut self, bytes: &mut [u8]) {
        let sizes = [
            0,
            1,
            0xff,
            0xffff,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            0x0100_0000,
        ];
        let size: u32 = sizes[self.below(sizes.len())];
        let at = self.below(bytes.len()) & !3;
        let written = if self.below(4) == 0 {
            size.to_be_bytes()
        } else {
            size.to_le_bytes()
        };
        for (to, from) in bytes.iter_mut().skip(at).zip(written) {
            *to = from;
        }
    }
}
