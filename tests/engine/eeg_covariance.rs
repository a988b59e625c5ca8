//! Groups of EEG features: against reference numbers where the shared data folder is present, and on made signals.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use atomscope_engine::features::covariance::from_triangle;
use atomscope_engine::features::eeg::Band;
use atomscope_engine::features::eeg_groups::{EegGroup, EegGroupsRecipe, Recentring, Reference};
use atomscope_engine::features::eeg_segments::covariance_steps;
use atomscope_engine::features::{Extraction, FeatureRecipe, Stretch};
use atomscope_engine::learner::Readout;
use atomscope_engine::math::{Matrix, Normal, random_stream};
use atomscope_engine::records::{
    Channel, Format, Kind, ReadError, Record, SampleSource, Source, Unit,
};
use cpu_time::ThreadTime;
use ndarray::{Array, Dimension, Ix2, Ix3};

use super::reference::{self, Archive, rows_and_columns};

fn reference() -> Option<Archive> {
    Archive::large("eeg_covariance.npz")
}

fn array<D: Dimension>(file: &Archive, name: &str) -> Array<f64, D> {
    let array = file.array(name).into_dimensionality();
    array.expect("as many dimensions as it should have")
}

fn recording(names: &[String], channels: Vec<Vec<f64>>, rate_hz: f64) -> Record {
    let channels = names.iter().zip(channels).map(|(name, values)| {
        let channel = Channel::analog(name, Unit::parse("uV"), Some(rate_hz), 0);
        (channel, values)
    });
    Record::in_memory(
        Format::Simulated,
        Kind::Recording,
        "made.edf",
        channels.collect(),
    )
}

fn names(n: usize) -> Vec<String> {
    (0..n).map(|channel| format!("C{channel}")).collect()
}

fn extract(recipe: &EegGroupsRecipe, record: &Record) -> Extraction {
    FeatureRecipe::EegGroups(recipe.clone())
        .extract(record, &mut |_| true)
        .expect("the record fits the recipe")
}

fn assert_close(found: impl IntoIterator<Item = f64>, expected: &[f64], what: &str) {
    let mut n = 0;
    for (found, expected) in found.into_iter().zip(expected) {
        assert!(
            (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
            "{what}: {found} instead of {expected}"
        );
        n += 1;
    }
    assert_eq!(n, expected.len(), "{what}");
}

#[test]
fn channel_covariance_equals_the_reference() {
    let Some(file) = reference() else { return };
    let segments = array::<Ix3>(&file, "h01_seg");
    let (n_segments, length, p) = segments.dim();
    let channels = (0..p).map(|c| {
        let of_segment = |s: usize| (0..length).map(move |t| (s, t));
        let places = (0..n_segments).flat_map(of_segment);
        places.map(|(s, t)| segments[(s, t, c)]).collect()
    });
    let record = recording(&names(p), channels.collect(), 250.0);
    let recipe = EegGroupsRecipe::for_traits();
    let expected = array::<Ix2>(&file, "h01_logeuclid");
    let found = extract(&recipe, &record);
    assert_eq!(found.samples.len(), n_segments);
    assert_eq!(found.feature_names.len(), 190);
    assert_eq!(found.feature_groups[0].n_features, 190);
    let measured = array::<Ix3>(&file, "h01_cov");
    let shrunk = array::<Ix3>(&file, "h01_cov_norm_shrunk");
    for (number, sample) in found.samples.iter().enumerate() {
        let row = expected.row(number).to_vec();
        assert_close(sample.values.iter().copied(), &row, "log-Euclidean");
        let steps = covariance_steps(&recipe, &record, sample.start_s).expect("it is there");
        for i in 0..p {
            for j in 0..p {
                let place = (number, i, j);
                assert_close(
                    [steps[0].measured[(i, j)]],
                    &[measured[place]],
                    "covariance",
                );
                assert_close([steps[0].shrunk[(i, j)]], &[shrunk[place]], "shrunk");
            }
        }
    }
}

#[test]
fn single_channel_groups_equal_the_reference() {
    let Some(file) = reference() else { return };
    let segments = array::<Ix2>(&file, "Z001_seg");
    let expected = ["bands", "shape", "delay_logeuclid"]
        .map(|group| array::<Ix2>(&file, &format!("Z001_{group}")));
    let values = segments.iter().copied().collect();
    let record = recording(&names(1), vec![values], 173.61);
    let found = extract(&EegGroupsRecipe::for_single_channel(), &record);
    let sizes: Vec<usize> = found.feature_groups.iter().map(|g| g.n_features).collect();
    assert_eq!(sizes, [25, 9, 210]);
    assert_eq!(found.samples.len(), 3);
    for (number, sample) in found.samples.iter().enumerate() {
        let rows = expected.iter().flat_map(|group| group.row(number).to_vec());
        let row: Vec<f64> = rows.collect();
        assert_close(sample.values.iter().copied(), &row, "single channel");
    }
}

#[test]
fn the_joint_readout_of_a_stored_kernel_matrix_equals_the_reference() {
    let Some(file) = reference() else { return };
    let kernel = file.matrix("learn_K");
    let places = |name: &str| -> Vec<usize> {
        let numbers = file.numbers(name).into_iter();
        numbers.map(|place| place as usize).collect()
    };
    let classes = [places("learn_kept_h"), places("learn_kept_s")];
    let kept = classes.concat();
    let sizes = classes.each_ref().map(Vec::len);
    let gram = rows_and_columns(&kernel, &kept);
    let readout = Readout::joint_of_gram(gram, &sizes).expect("it is solved");
    let tested = places("learn_test");
    // k(x) of every tested sample is a row.
    let rows = classes.each_ref().map(|class| {
        Matrix::from_fn(tested.len(), class.len(), |i, j| {
            kernel[(tested[i], class[j])]
        })
    });
    let mut found = Matrix::default();
    readout.apply(tested.len(), |class| &rows[class], &mut found);
    let expected = file.matrix("learn_J");
    let expected = Matrix::from_fn(tested.len(), 2, |i, c| expected[(c, i)]);
    reference::assert_close("J", &found, &expected, 1e-9);
}

/// Noise whose channels share some of it.
fn noise(n_channels: usize, n_samples: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = random_stream(seed, "test", 0);
    let mut normal = Normal::default();
    let shared: Vec<f64> = (0..n_samples).map(|_| normal.draw(&mut random)).collect();
    (0..n_channels)
        .map(|channel| {
            let own = shared.iter().map(|s| normal.draw(&mut random) + s);
            own.map(|value| value * (1.0 + channel as f64)).collect()
        })
        .collect()
}

#[test]
fn gain_does_not_count_and_missing_rank_is_named() {
    let rate_hz = 250.0;
    let plain = noise(6, 2000, 1);
    let louder = plain.iter().map(|c| c.iter().map(|v| 3.0 * v).collect());
    let louder = recording(&names(6), louder.collect(), rate_hz);
    let record = recording(&names(6), plain.clone(), rate_hz);
    let recipe = EegGroupsRecipe::for_traits();
    let (found, louder) = (extract(&recipe, &record), extract(&recipe, &louder));
    assert!(found.notes.is_empty(), "{:?}", found.notes);
    for (a, b) in found.samples.iter().zip(&louder.samples) {
        assert_close(a.values.iter().copied(), &b.values, "gain");
    }
    // A flat channel, one that is the mean of two others, and the average reference.
    let mut poor = plain.clone();
    poor[2] = vec![7.0; 2000];
    poor[5] = (0..2000).map(|t| 0.5 * (poor[0][t] + poor[1][t])).collect();
    let found = extract(&recipe, &recording(&names(6), poor, rate_hz));
    assert_eq!(found.samples.len(), 4);
    assert!(found.notes[0].contains("C2 in 4"), "{:?}", found.notes);
    assert!(
        found.notes[1].contains("rank 4 or more of 6"),
        "{:?}",
        found.notes
    );
    let average = EegGroupsRecipe {
        reference: Reference::Average,
        ..recipe.clone()
    };
    let found = extract(&average, &record);
    assert!(found.notes[0].contains("rank 5 or more of 6 (the average reference"));
    // More channels than spectral lines: still a finite vector.
    let many = recording(&names(40), noise(40, 500, 2), rate_hz);
    let narrow = EegGroupsRecipe::for_states(vec![Band::new("alpha", 9.0, 11.0)], 2.0, 0.0);
    let found = extract(&narrow, &many);
    assert!(
        found.samples[0]
            .values
            .iter()
            .all(|value| value.is_finite())
    );
    assert!(found.notes[0].contains("of 40"), "{:?}", found.notes);
    // Nothing at all is left out.
    let silent = recording(&names(3), vec![vec![0.0; 500]; 3], rate_hz);
    let found = extract(&recipe, &silent);
    assert!(found.samples.is_empty() && found.rejected.len() == 1);
}

#[test]
fn recentring_brings_the_mean_of_a_recording_to_the_identity() {
    let p = 5;
    let record = recording(&names(p), noise(p, 10 * 250, 3), 250.0);
    let bands = vec![Band::new("a", 4.0, 20.0), Band::new("b", 20.0, 40.0)];
    let whole = EegGroupsRecipe::for_states(bands, 1.0, 0.0);
    let found = extract(&whole, &record);
    assert_eq!(found.samples.len(), 10);
    let mut causal = whole.clone();
    let EegGroup::Covariance(group) = &mut causal.groups[0] else {
        panic!("the state recipe is a covariance");
    };
    group.recentring = Recentring::Causal;
    let live = extract(&causal, &record);
    let size = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut off = whole.clone();
    let EegGroup::Covariance(group) = &mut off.groups[0] else {
        panic!("the state recipe is a covariance");
    };
    group.recentring = Recentring::Off;
    let raw = extract(&off, &record);
    for band in 0..2 {
        let place = 15 * band..15 * (band + 1);
        let mean = |samples: &[atomscope_engine::features::Sample]| -> Vec<f64> {
            let of = |k: usize| samples.iter().map(move |s| s.values[k]).sum::<f64>();
            place.clone().map(|k| of(k) / 10.0).collect()
        };
        // The mean is that of logarithms, so it comes close to the identity, not onto it.
        let (centred, before) = (size(&mean(&found.samples)), size(&mean(&raw.samples)));
        assert!(centred < 0.1 * before, "{centred} {before}");
        // Alone so far, the first segment is its own mean; the last one has seen everything.
        assert!(size(&live.samples[0].values[place.clone()]) < 1e-9);
        let (last, same) = (&live.samples[9].values, &found.samples[9].values);
        assert_close(last[place.clone()].iter().copied(), &same[place], "causal");
    }
    let symmetric = from_triangle(&found.samples[0].values[..15], p);
    assert_eq!(symmetric[(0, 3)], symmetric[(3, 0)]);
}

#[test]
fn segments_lie_in_labelled_stretches_after_the_offset() {
    let record = recording(&names(2), noise(2, 40 * 250, 4), 250.0);
    let stretch = |start_s, end_s| Stretch { start_s, end_s };
    // Trials of 5 s that start between two samples; one that is too short; a long stretch.
    let stretches = [
        stretch(1.0013, 6.0013),
        stretch(8.0, 12.0),
        stretch(20.0, 32.0),
    ];
    let recipe = EegGroupsRecipe::for_states(vec![Band::new("a", 4.0, 20.0)], 3.0, 2.0);
    let recipe = FeatureRecipe::EegGroups(recipe);
    let found = recipe
        .extract_within(&record, Some(&stretches), &mut |_| true)
        .expect("it fits");
    let starts: Vec<f64> = found.samples.iter().map(|s| s.start_s).collect();
    assert_eq!(starts, [3.0, 22.0, 25.0, 28.0]);
    assert_eq!(found.label_slack_s, 1.0 / 250.0);
}

#[test]
fn work_can_be_cancelled_and_bands_end_at_half_the_rate() {
    let record = recording(&names(3), noise(3, 64 * 64, 5), 64.0);
    let recipe = EegGroupsRecipe::for_traits();
    let stopped = FeatureRecipe::EegGroups(recipe.clone()).extract(&record, &mut |_| false);
    assert!(stopped.is_err());
    let found = extract(&recipe, &record);
    assert!(found.notes[0].contains("32 Hz"), "{:?}", found.notes);
    let fine = extract(&EegGroupsRecipe::for_single_channel(), &record);
    assert_eq!(fine.feature_groups[0].n_features, 3 * 18);
}

/// A recording that is nowhere: its values are made when they are read.
#[derive(Default)]
struct Made {
    longest_read: AtomicUsize,
}

impl SampleSource for Made {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        self.longest_read.fetch_max(out.len(), Ordering::Relaxed);
        for (place, value) in out.iter_mut().enumerate() {
            let t = (first + place) as u64;
            let mixed = (t ^ (channel as u64) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            *value = (mixed >> 40) as f64 / 1e6 + (0.1 * t as f64).sin();
        }
        Ok(())
    }
}

#[test]
fn a_day_of_64_channels_is_read_in_blocks_with_progress_and_can_be_cancelled() {
    let made = Arc::new(Made::default());
    let recording = |duration_s: f64| made_recording(duration_s, made.clone());
    let recipe = FeatureRecipe::EegGroups(EegGroupsRecipe::for_traits());
    let mut shares = Vec::new();
    let cancelled = recipe.extract(&recording(24.0 * 3600.0), &mut |share| {
        shares.push(share);
        shares.len() < 3
    });
    assert!(cancelled.is_err());
    assert!(
        shares.is_sorted() && shares[2] > 0.0 && shares[2] < 0.02,
        "{shares:?}"
    );
    // Ten minutes are read in as small pieces as a day.
    let found = recipe
        .extract(&recording(600.0), &mut |_| true)
        .expect("it fits");
    assert_eq!(
        (found.samples.len(), found.feature_names.len()),
        (300, 64 * 65 / 2)
    );
    let longest = made.longest_read.load(Ordering::Relaxed);
    assert!(longest <= 1 << 17, "{longest} values of a channel at once");
}

/// A recording of 64 channels that is nowhere.
fn made_recording(duration_s: f64, made: Arc<Made>) -> Record {
    let rate_hz = 250.0;
    let n_samples = (duration_s * rate_hz) as usize;
    let channels = names(64);
    let channels = channels
        .iter()
        .map(|name| Channel::analog(name, Unit::parse("uV"), Some(rate_hz), n_samples));
    let source = Source::new(Path::new("made.edf"), 0);
    let (format, kind) = (Format::Simulated, Kind::Recording);
    Record::new(format, kind, source, channels.collect(), made)
}

#[test]
fn samples_one_at_a_time_are_those_of_the_whole() {
    let record = made_recording(30.0, Arc::default());
    let bands = vec![Band::new("alpha", 8.0, 13.0)];
    for recipe in [
        EegGroupsRecipe::for_traits(),
        EegGroupsRecipe::for_states(bands, 2.0, 0.0),
    ] {
        let whole = extract(&recipe, &record);
        let (mut samples, mut shares) = (Vec::new(), Vec::new());
        let made = FeatureRecipe::EegGroups(recipe)
            .extract_each(
                &record,
                None,
                &mut |sample| samples.push(sample),
                &mut |share| {
                    shares.push(share);
                    true
                },
            )
            .expect("it fits");
        assert!(made.samples.is_empty() && shares.is_sorted());
        assert_eq!((samples, made.notes), (whole.samples, whole.notes));
    }
}

/// What the process holds, and the most it has held, in megabytes.
fn memory_mb() -> Option<(f64, f64)> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let number: f64 = line.split_whitespace().next()?.parse().ok()?;
        Some(number / 1e3)
    };
    Some((value("VmRSS:")?, value("VmHWM:")?))
}

/// To be run alone: the memory is that of the whole process.
#[test]
#[ignore = "takes minutes"]
fn a_whole_day_of_64_channels_needs_little_memory() {
    let record = made_recording(24.0 * 3600.0, Arc::default());
    let bands = vec![Band::new("alpha", 8.0, 13.0)];
    let before_mb = memory_mb().expect("Linux tells").0;
    for recipe in [
        EegGroupsRecipe::for_traits(),
        EegGroupsRecipe::for_states(bands, 2.0, 0.0),
    ] {
        let (mut n_samples, begin) = (0, std::time::Instant::now());
        FeatureRecipe::EegGroups(recipe)
            .extract_each(&record, None, &mut |_| n_samples += 1, &mut |_| true)
            .expect("it fits");
        let grown_mb = memory_mb().expect("Linux tells").1 - before_mb;
        println!(
            "{n_samples} samples, {grown_mb:.0} MB, {:?}",
            begin.elapsed()
        );
        assert_eq!(n_samples, 43_200);
        assert!(grown_mb < 200.0, "{grown_mb} MB");
    }
}

#[test]
fn a_segment_of_19_channels_takes_less_than_half_a_millisecond() {
    let record = recording(&names(19), noise(19, 250 * 200, 6), 250.0);
    let recipe = EegGroupsRecipe::for_traits();
    let fastest = (0..5).map(|_| {
        let begin = ThreadTime::now();
        let n_samples = extract(&recipe, &record).samples.len();
        begin.elapsed().as_secs_f64() / n_samples as f64
    });
    let fastest_us = 1e6 * fastest.fold(f64::INFINITY, f64::min);
    println!("a 2 s segment of 19 channels: {fastest_us:.0} µs");
    assert!(fastest_us < 500.0, "{fastest_us} µs");
}
