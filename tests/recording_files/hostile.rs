//! Mutated files of every recording format are answered with a record or an error, in bounded memory.

use crate::made::{brainvision_parts, broken_recording, edf_bytes, joined, recording};
use crate::made_matlab::{self as matlab, Order};
use atomscope::records::FUZZ_ENTRIES;
use atomscope::records::edf::SampleWidth;
use proptest::prelude::*;

/// Valid files with the entries that read them.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let samples: Vec<u8> = (0..128).flat_map(|k| (k as f32).to_le_bytes()).collect();
    vec![
        ("edf", edf_bytes(&recording(), SampleWidth::Edf)),
        ("edf", edf_bytes(&broken_recording(), SampleWidth::Bdf)),
        (
            "brainvision",
            joined(&brainvision_parts("INT_16", "MULTIPLEXED")),
        ),
        (
            "brainvision",
            joined(&brainvision_parts("IEEE_FLOAT_32", "VECTORIZED")),
        ),
        (
            "brainvision",
            joined(&brainvision_parts("ASCII", "MULTIPLEXED")),
        ),
        ("mat", matlab::recording(Order::Little)),
        ("mat", matlab::recording(Order::Big)),
        ("mat", matlab::version4(Order::Little)),
        ("mat", include_bytes!("../data/matlab73.mat").to_vec()),
        ("eeglab", matlab::eeglab(Order::Little, true)),
        (
            "eeglab",
            joined(&[matlab::eeglab(Order::Big, false), samples]),
        ),
    ]
}

/// Runs the entry, and the one that recognises the format by itself.
fn run(entry: &str, bytes: &[u8]) {
    for name in [entry, "any"] {
        let entry = FUZZ_ENTRIES.iter().find(|known| known.name == name);
        // A refusal is a good answer; a panic is not.
        drop((entry.expect("the entry is listed").run)(bytes));
    }
}

#[test]
fn valid_files_are_read() {
    for (name, bytes) in seeds() {
        let entry = FUZZ_ENTRIES
            .iter()
            .find(|known| known.name == name)
            .expect("listed");
        (entry.run)(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn files_cut_at_any_length_are_answered() {
    for (name, bytes) in seeds() {
        // Every length of small files, every length near the start of larger ones.
        let step = (bytes.len() / 4000).max(1);
        for len in (0..bytes.len().min(1500)).chain((0..bytes.len()).step_by(step)) {
            run(name, &bytes[..len]);
        }
    }
}

#[test]
fn extreme_numbers_at_any_place_are_answered() {
    let extremes: [&[u8]; 8] = [
        &[0xff; 4],
        &[0; 4],
        &[0xff, 0xff, 0xff, 0x7f],
        &[0, 0, 0, 0x80],
        &[0xff; 8],
        b"99999999",
        b"-1      ",
        b"1e9     ",
    ];
    for (name, bytes) in seeds() {
        for at in (0..bytes.len().saturating_sub(8)).step_by(4).take(3000) {
            let extreme = extremes[at / 4 % extremes.len()];
            let mut changed = bytes.clone();
            changed[at..at + extreme.len()].copy_from_slice(extreme);
            run(name, &changed);
        }
    }
}

#[test]
fn streams_that_expand_without_bound_are_refused() {
    let order = Order::Little;
    // 200 MB of zeros in 200 kB.
    let bomb = matlab::compressed_zeros(order, "x", &[5000, 5000]);
    let bytes = matlab::file(order, &[bomb]);
    let entry = FUZZ_ENTRIES
        .iter()
        .find(|known| known.name == "mat")
        .expect("listed");
    let refusal = (entry.run)(&bytes)
        .expect_err("too much for its size")
        .to_string();
    assert!(refusal.contains("many times that of the file"), "{refusal}");
}

#[test]
fn nesting_without_end_is_refused() {
    let order = Order::Little;
    let mut inner = matlab::doubles(order, "", &[1, 1], &[1.0]);
    for _ in 0..500 {
        inner = matlab::cell(order, "", &[inner]);
    }
    let bytes = matlab::file(order, &[matlab::cell(order, "deep", &[inner])]);
    let entry = FUZZ_ENTRIES
        .iter()
        .find(|known| known.name == "mat")
        .expect("listed");
    let refusal = (entry.run)(&bytes).expect_err("too deep").to_string();
    assert!(refusal.contains("nesting"), "{refusal}");
}

/// What can happen to a file.
#[derive(Debug, Clone)]
enum Damage {
    Flip {
        at: prop::sample::Index,
        bit: u8,
    },
    Multiply {
        at: prop::sample::Index,
        factor: u32,
    },
    Swap {
        a: prop::sample::Index,
        b: prop::sample::Index,
        len: usize,
    },
    Cut {
        at: prop::sample::Index,
    },
    Insert {
        at: prop::sample::Index,
        bytes: Vec<u8>,
    },
}

fn damage() -> impl Strategy<Value = Damage> {
    use prop::sample::Index;
    prop_oneof![
        4 => (any::<Index>(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip { at, bit }),
        2 => (any::<Index>(), any::<u32>()).prop_map(|(at, factor)| Damage::Multiply { at, factor }),
        2 => (any::<Index>(), any::<Index>(), 1..33_usize)
            .prop_map(|(a, b, len)| Damage::Swap { a, b, len }),
        1 => any::<Index>().prop_map(|at| Damage::Cut { at }),
        1 => (any::<Index>(), prop::collection::vec(any::<u8>(), 1..17))
            .prop_map(|(at, bytes)| Damage::Insert { at, bytes }),
    ]
}

fn damaged(mut bytes: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for damage in damages {
        if bytes.len() < 40 {
            break;
        }
        match damage {
            Damage::Flip { at, bit } => {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
            Damage::Multiply { at, factor } => {
                let at = at.index(bytes.len() - 4) / 4 * 4;
                let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
                let product = u32::from_le_bytes(word).wrapping_mul(*factor);
                bytes[at..at + 4].copy_from_slice(&product.to_le_bytes());
            }
            Damage::Swap { a, b, len } => {
                let (a, b) = (a.index(bytes.len() - len), b.index(bytes.len() - len));
                for k in 0..*len {
                    bytes.swap(a + k, b + k);
                }
            }
            Damage::Cut { at } => bytes.truncate(at.index(bytes.len()) + 1),
            Damage::Insert { at, bytes: more } => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_answered(
        which in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..8),
    ) {
        let seeds = seeds();
        let (name, bytes) = &seeds[which.index(seeds.len())];
        run(name, &damaged(bytes.clone(), &damages));
    }
}

/// The tests of this file run side by side in one process, on files of some kilobytes.
#[test]
#[cfg(target_os = "linux")]
fn memory_stays_bounded() {
    files_cut_at_any_length_are_answered();
    streams_that_expand_without_bound_are_refused();
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("the peak is told");
    let peak_kb: u64 = peak
        .split_whitespace()
        .next()
        .and_then(|n| n.parse().ok())
        .expect("a number");
    assert!(peak_kb < 400_000, "{peak_kb} kB");
}
