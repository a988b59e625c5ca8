//! Readers against damaged files: no panic, no hang, bounded memory.
//!
//! The loop over many files is ignored by default; this runs a million:
//!
//!     ATOMSCOPE_MUTATIONS=1000000 cargo test --release --test slow mutation -- --ignored --nocapture

use std::collections::BTreeMap;
use std::env;
use std::panic;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::hostile::{Mutator, Seed, seeds};
use atomscope_engine::records::FUZZ_ENTRIES;
use proptest::prelude::*;

/// Longest that one small file may take.
const LONGEST: Duration = Duration::from_secs(5);

fn shared_folder() -> Option<PathBuf> {
    env::var_os("ATOMSCOPE_DATA").map(PathBuf::from)
}

/// Greatest memory this process has held, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

fn read(seed: &Seed, bytes: &[u8]) -> bool {
    enter(seed.entry, bytes)
}

/// Whether the entry finds a record in the bytes.
fn enter(name: &str, bytes: &[u8]) -> bool {
    let started = Instant::now();
    let entry = FUZZ_ENTRIES.iter().find(|entry| entry.name == name);
    let outcome = (entry.expect("seeds name entries").run)(bytes);
    let took = started.elapsed();
    assert!(took < LONGEST, "{name} took {took:?}");
    if let Err(error) = &outcome {
        assert!(!error.to_string().is_empty());
    }
    outcome.is_ok()
}

/// Runs `count` damaged files, equally many per entry; how many each got and still read.
fn run_mutations(seeds: &[Seed], count: u64, first: u64) -> BTreeMap<&'static str, (u64, u64)> {
    let mut by_entry: BTreeMap<&'static str, Vec<&Seed>> = BTreeMap::new();
    for seed in seeds {
        by_entry.entry(seed.entry).or_default().push(seed);
    }
    let mut tally = BTreeMap::new();
    // A panic is kept with its file's number and the loop goes on: one run finds them all.
    let mut panics: BTreeMap<String, usize> = BTreeMap::new();
    for (number, (name, own)) in (0..count as usize).zip(by_entry.iter().cycle()) {
        let seed = own[number / by_entry.len() % own.len()];
        let other = &seeds[(number * 7 + 3) % seeds.len()];
        let mut mutator = Mutator::new(first + number as u64);
        let bytes = mutator.mutated(&seed.bytes, &other.bytes);
        let (runs, records) = tally.entry(*name).or_insert((0, 0));
        *runs += 1;
        match panic::catch_unwind(|| read(seed, &bytes)) {
            Ok(is_record) => *records += u64::from(is_record),
            Err(payload) => {
                let text = payload.downcast_ref::<String>().cloned();
                let text = text.unwrap_or_else(|| "panic with a fixed text".to_owned());
                panics.entry(format!("{name}: {text}")).or_insert(number);
            }
        }
    }
    assert!(panics.is_empty(), "{panics:#?}");
    tally
}

/// Memory may exceed what there was by 64 MB and eight times the file.
fn assert_bounded(before: Option<u64>, seeds: &[Seed]) {
    let longest = seeds.iter().map(|seed| seed.bytes.len()).max().unwrap_or(0) as u64;
    if let (Some(before), Some(after)) = (before, peak_bytes()) {
        let allowed = before + (64 << 20) + 8 * 2 * longest;
        assert!(after <= allowed, "peak of {after} bytes, {allowed} allowed");
    }
}

#[test]
fn the_seeds_are_records() {
    for seed in seeds(None) {
        assert!(read(&seed, &seed.bytes), "{}", seed.entry);
    }
}

#[test]
fn every_entry_but_the_general_one_has_a_seed() {
    let seeds = seeds(None);
    for entry in FUZZ_ENTRIES.iter().filter(|entry| entry.name != "any") {
        let has_seed = seeds.iter().any(|seed| seed.entry == entry.name);
        assert!(has_seed, "{}", entry.name);
    }
}

#[test]
fn damaged_files_are_read_or_refused() {
    let before = peak_bytes();
    let seeds = seeds(None);
    run_mutations(&seeds, 20_000, 1);
    assert_bounded(before, &seeds);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 6_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_damage_to_any_seed_is_read_or_refused(
        position in any::<proptest::sample::Index>(),
        damage in any::<u64>(),
        kept in any::<proptest::sample::Index>(),
    ) {
        thread_local!(static SEEDS: Vec<Seed> = seeds(None));
        SEEDS.with(|seeds| {
            let seed = &seeds[position.index(seeds.len())];
            let other = &seeds[damage as usize % seeds.len()];
            let bytes = Mutator::new(damage).mutated(&seed.bytes, &other.bytes);
            read(seed, &bytes);
            // The entry that recognises formats by itself.
            enter("any", &bytes);
            read(seed, &bytes[..kept.index(bytes.len() + 1)]);
        });
    }
}

#[test]
fn monotonous_files_take_bounded_memory() {
    const LEN: usize = 2 << 20;
    let pieces: [&[u8]; 14] = [
        b",",
        b"\n",
        b"\t",
        b"1,",
        b"{",
        b"a b\n",
        b"1\n",
        b"\0",
        b"\xff",
        b"a,\n",
        b"\"",
        b";1;2\n",
        b"@attribute a {b,c}\n",
        b"@attribute a real\n",
    ];
    let arff_head = b"@relation r\n@attribute a real\n@attribute b {x}\n@data\n".as_slice();
    let before = peak_bytes();
    for entry in FUZZ_ENTRIES {
        let heads: &[&[u8]] = match entry.name {
            "arff" => &[b"", b"@relation r\n", arff_head],
            "comtrade" => &[b"", b"s,d,1999\n2,1A,1D\n"],
            _ => &[b""],
        };
        for (piece, head) in pieces
            .iter()
            .flat_map(|p| heads.iter().map(move |h| (p, h)))
        {
            let mut bytes = head.to_vec();
            bytes.extend(piece.iter().cycle().take(LEN));
            let started = Instant::now();
            drop((entry.run)(&bytes));
            let took = started.elapsed();
            let shown = piece.escape_ascii();
            assert!(took < LONGEST, "{} {shown}: {took:?}", entry.name);
            if let (Some(before), Some(after)) = (before, peak_bytes()) {
                // The bytes themselves are held here and once more by the source.
                let allowed = before + (40 << 20) + 10 * bytes.len() as u64;
                assert!(
                    after <= allowed,
                    "{} {shown}: {after} > {allowed}",
                    entry.name
                );
            }
        }
    }
}

#[test]
fn files_cut_at_every_length_are_read_or_refused() {
    for seed in seeds(None) {
        // All lengths of small files; of larger ones the head, where structure is.
        for length in 0..seed.bytes.len().min(3000) {
            read(&seed, &seed.bytes[..length]);
        }
    }
}

#[test]
fn extreme_numbers_at_any_place_are_read_or_refused() {
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
    for seed in seeds(None) {
        let places = (0..seed.bytes.len().saturating_sub(8)).step_by(4);
        for (extreme, at) in extremes.iter().cycle().zip(places.take(3000)) {
            let mut bytes = seed.bytes.clone();
            bytes[at..at + extreme.len()].copy_from_slice(extreme);
            read(&seed, &bytes);
        }
    }
}

#[test]
#[ignore = "long: give the count in ATOMSCOPE_MUTATIONS"]
fn many_damaged_files_are_read_or_refused() {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse().ok());
    let count = number("ATOMSCOPE_MUTATIONS").unwrap_or(1_000_000);
    let first = number("ATOMSCOPE_MUTATION_SEED").unwrap_or(1_000_000);
    let before = peak_bytes();
    let seeds = seeds(shared_folder().as_deref());
    let tally = run_mutations(&seeds, count, first);
    for (reader, (runs, records)) in tally {
        println!("{reader}: {runs} files, {records} still records");
    }
    assert_bounded(before, &seeds);
}
