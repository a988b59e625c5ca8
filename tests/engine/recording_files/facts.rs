//! Recordings of the data folder are read with the facts that independent readers found in them.

use std::path::{Path, PathBuf};

use atomscope_engine::records::{self, Mode, Record};
use serde_json::Value;

/// The folder of real files, if the environment names one.
fn data_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("ATOMSCOPE_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: ATOMSCOPE_DATA does not name a folder of real files");
    }
    folder
}

fn facts(folder: &Path, section: &str) -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(folder.join("facts.json")).expect("facts.json is readable");
    let facts: Value = serde_json::from_str(&text).expect("facts.json is JSON");
    let files = facts[section].as_object().expect("the section lists files");
    files
        .iter()
        .map(|(name, fact)| (name.clone(), fact.clone()))
        .collect()
}

fn open(folder: &Path, name: &str) -> Record {
    records::open(&folder.join(name), Mode::Tolerant)
        .unwrap_or_else(|error| panic!("{name} is readable, but: {error}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("the fact is a number")
}

/// First values, smallest and largest, within rounding of the facts; `scale` turns the
/// channel's unit into that of the facts.
fn assert_values(record: &Record, channel: usize, fact: &Value, scale: f64, name: &str) {
    let values = record.read_channel(channel).expect("samples are readable");
    let min = values.iter().copied().fold(f64::INFINITY, f64::min) * scale;
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) * scale;
    let (fact_min, fact_max) = (number(&fact["min"]), number(&fact["max"]));
    let size = fact_min.abs().max(fact_max.abs());
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * size;
    assert!(close(min, fact_min), "{name}: min {min}, fact {fact_min}");
    assert!(close(max, fact_max), "{name}: max {max}, fact {fact_max}");
    let first = fact["first"].as_array().expect("first values are listed");
    for (value, fact) in values.iter().zip(first) {
        let fact = number(fact);
        assert!(
            close(value * scale, fact),
            "{name}: {value} at the start, fact {fact}"
        );
    }
}

#[test]
fn edf_and_bdf_files_are_read_as_their_facts_say() {
    let Some(folder) = data_folder() else { return };
    for (name, fact) in facts(&folder, "edf") {
        let record = open(&folder, &name);
        let channels = fact["channels"].as_array().expect("channels are listed");
        assert_eq!(record.channels.len(), channels.len(), "{name}");
        assert_eq!(
            record.annotations.len() as u64,
            fact["n_annotations"],
            "{name}"
        );
        assert_eq!(record.duration_s(), fact["duration_s"].as_f64(), "{name}");
        for (position, (channel, fact)) in record.channels.iter().zip(channels).enumerate() {
            assert_eq!(channel.name, fact["name"], "{name}");
            assert_eq!(channel.unit.raw, fact["unit"], "{name}");
            assert_eq!(channel.rate_hz, fact["rate_hz"].as_f64(), "{name}");
            assert_eq!(channel.n_samples as u64, fact["n_samples"], "{name}");
            assert_values(&record, position, fact, 1.0, &name);
        }
    }
}

#[test]
fn onsets_count_from_the_first_sample_even_within_a_second() {
    let Some(folder) = data_folder() else { return };
    for (name, onset_s, start) in [
        (
            "edf/pyedflib/test_subsecond.edf",
            1.95117,
            "2020-01-24T04:05:56.3945312",
        ),
        (
            "edf/pyedflib/test_utf8.edf",
            1.55664,
            "2020-01-24T04:05:56.3945312",
        ),
    ] {
        let record = open(&folder, name);
        let first = &record.annotations[0];
        assert_eq!(first.text, "XLSpike", "{name}");
        assert!(
            (first.onset_s - onset_s).abs() < 1e-5,
            "{name}: {}",
            first.onset_s
        );
        let found = record.start.expect("the start is known").to_string();
        assert_eq!(found, start, "{name}");
    }
}

#[test]
fn gaps_of_a_discontinuous_file_are_kept() {
    let Some(folder) = data_folder() else { return };
    let record = open(&folder, "edf/edfReader/edfPlusD.edf");
    let gaps: Vec<(f64, f64)> = record
        .gaps
        .iter()
        .map(|gap| (gap.onset_s, gap.duration_s))
        .collect();
    assert_eq!(
        gaps,
        [
            (1.0, 1.0),
            (3.0, 1.0),
            (10.0, 2.0),
            (13.0, 2.0),
            (16.0, 3.0)
        ]
    );
    assert_eq!(record.channels.len(), 11);
    assert_eq!(record.channels[0].n_samples, 2200);
    assert_eq!(record.duration_s(), Some(20.0));
    let onsets: Vec<f64> = record
        .segments(0)
        .iter()
        .map(|segment| segment.onset_s)
        .collect();
    assert_eq!(onsets, [0.0, 2.0, 4.0, 12.0, 15.0, 19.0]);
    assert_eq!(record.time_s(0, 200), Some(2.0));
}

#[test]
fn files_that_other_readers_refuse_are_read_with_a_warning() {
    let Some(folder) = data_folder() else { return };
    let record = open(&folder, "edf/mne-python/test.bdf");
    assert_eq!(record.channels.len(), 73);
    assert_eq!(record.channels[0].rate_hz, Some(2048.0));
    assert_eq!(record.channels[0].n_samples, 2048);

    let mangled = folder.join("corrupt/S001R01_utf8_mangled.edf");
    let record = records::open(&mangled, Mode::Tolerant).expect("the header is intact");
    assert_eq!(record.channels.len(), 64);
    let warnings: String = record.warnings.iter().map(ToString::to_string).collect();
    assert!(warnings.contains("EF BF BD"), "{warnings}");
    assert!(warnings.contains("number of data records"), "{warnings}");
    let refusal = records::open(&mangled, Mode::Strict).expect_err("strict reading refuses");
    assert!(
        refusal
            .to_string()
            .contains("number of data records at byte 236"),
        "{refusal}"
    );
}

#[test]
fn brainvision_files_are_read_as_their_facts_say() {
    let Some(folder) = data_folder() else { return };
    let n_markers = [
        ("brainvision/test.vhdr", 13),
        ("brainvision/test_mixed_lowpass.vhdr", 13),
        ("brainvision/test_old_layout_latin1_software_filter.vhdr", 1),
        ("brainvision/test_units.vhdr", 13),
        ("brainvision/testv2.vhdr", 12),
    ];
    for ((name, fact), (same_name, n_annotations)) in
        facts(&folder, "brainvision").into_iter().zip(n_markers)
    {
        assert_eq!(name, same_name);
        let record = open(&folder, &name);
        let channels = fact["channels"].as_array().expect("channels are listed");
        assert_eq!(record.channels.len() as u64, fact["n_channels"], "{name}");
        assert_eq!(record.annotations.len(), n_annotations, "{name}");
        for (position, (channel, channel_fact)) in record.channels.iter().zip(channels).enumerate()
        {
            assert_eq!(channel.name, channel_fact["name"], "{name}");
            assert_eq!(channel.rate_hz, fact["rate_hz"].as_f64(), "{name}");
            assert_eq!(channel.n_samples as u64, fact["n_samples"], "{name}");
            // The facts are in base units where the unit is known.
            assert_values(&record, position, channel_fact, channel.unit.in_base, &name);
        }
    }
}

#[test]
fn matlab_files_are_read_as_their_facts_say() {
    let Some(folder) = data_folder() else { return };
    for (name, fact) in facts(&folder, "mat") {
        let record = open(&folder, &name);
        for (variable, fact) in fact.as_object().expect("variables are listed") {
            let listed = record.arrays.iter().find(|array| array.name == *variable);
            let listed =
                listed.unwrap_or_else(|| panic!("{name} has {variable}: {:?}", record.arrays));
            let shape: Vec<u64> = fact["shape"]
                .as_array()
                .expect("the shape is listed")
                .iter()
                .filter_map(Value::as_u64)
                .collect();
            // The facts count a row of letters as one.
            if !fact["dtype"]
                .as_str()
                .is_some_and(|dtype| dtype.starts_with("<U"))
            {
                assert!(
                    listed.shape.iter().map(|&n| n as u64).eq(shape),
                    "{name}: {listed:?}"
                );
            }
            if let Some(sum) = fact["sum"].as_f64() {
                let found = record.array(variable).expect("the array is readable").sum();
                assert!(
                    (found - sum).abs() <= 1e-8 * sum.abs().max(1.0),
                    "{name}: {found}, fact {sum}"
                );
            }
        }
    }
}

#[test]
fn odd_matlab_files_are_read_or_refused_for_the_right_reason() {
    let Some(folder) = data_folder() else { return };
    let refused = [
        (
            "mat/bad_miuint32.mat",
            "dimension at byte 152 is -2147483647",
        ),
        ("mat/corrupted_zlib_checksum.mat", "incorrect data check"),
    ];
    for (name, reason) in refused {
        let refusal = records::open(&folder.join(name), Mode::Tolerant).expect_err(name);
        assert!(refusal.to_string().contains(reason), "{refusal}");
    }
    let record = open(&folder, "mat/bad_miutf8_array_name.mat");
    assert_eq!(record.arrays[0].name, "äray_name");
    assert_eq!(record.warnings.len(), 1);

    let sums = [
        ("mat/sparse_3x3.mat", "sp", vec![3, 3], 6.0),
        (
            "mat/testsparse_7.4_GLNX86.mat",
            "testsparse",
            vec![3, 5],
            20.0,
        ),
        (
            "mat/testhdf5_7.4_GLNX86.mat",
            "testdouble",
            vec![1, 9],
            9.0 * std::f64::consts::PI,
        ),
    ];
    for (name, variable, shape, sum) in sums {
        let record = open(&folder, name);
        let array = record.array(variable).expect("the array is readable");
        assert_eq!(array.shape(), shape, "{name}");
        assert!((array.sum() - sum).abs() < 1e-9, "{name}: {}", array.sum());
    }
}

#[test]
fn matlab_recordings_are_picked_with_their_orientation() {
    let Some(folder) = data_folder() else { return };
    let recordings = [
        ("schizophrenia-eeg/h01.mat", 19, 42_250),
        ("edf/mne-python/test_bdf_eeglab.mat", 72, 2048),
        ("edf/mne-python/test_edf_eeglab.mat", 139, 3072),
        ("edf/mne-python/test_uneven_samp.mat", 2, 176_000),
    ];
    for (name, n_channels, n_samples) in recordings {
        let record = open(&folder, name);
        assert_eq!(record.channels.len(), n_channels, "{name}");
        assert_eq!(record.channels[0].n_samples, n_samples, "{name}");
        assert_eq!(record.channels[0].rate_hz, None, "{name}");
    }
    let options = records::ReadOptions {
        rate_hz: Some(250.0),
        ..Default::default()
    };
    let path = folder.join("schizophrenia-eeg/h01.mat");
    let record = records::open_with(&path, &options).expect("the recording is readable");
    assert_eq!(record.duration_s(), Some(169.0));
    let data_set = open(&folder, "isolet/Isolet1.mat");
    assert_eq!(data_set.kind, records::Kind::Arrays);
}

#[test]
fn eeglab_data_set_is_read_as_its_facts_say() {
    let Some(folder) = data_folder() else { return };
    for (name, fact) in facts(&folder, "eeglab") {
        let record = open(&folder, &name);
        assert_eq!(record.channels.len() as u64, fact["n_channels"], "{name}");
        assert_eq!(record.annotations.len(), 154, "{name}");
        let channels = fact["channels"].as_array().expect("channels are listed");
        for (position, (channel, channel_fact)) in record.channels.iter().zip(channels).enumerate()
        {
            assert_eq!(channel.name, channel_fact["name"], "{name}");
            assert_eq!(channel.rate_hz, fact["rate_hz"].as_f64(), "{name}");
            assert_eq!(channel.n_samples as u64, fact["n_samples"], "{name}");
            assert_values(&record, position, channel_fact, channel.unit.in_base, &name);
        }
    }
}
