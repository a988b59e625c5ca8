//! Formats of EEG recorders: small files made here, and real ones against what MNE and pyxdf read in them.

use std::path::{Path, PathBuf};

use atomscope_engine::records::{
    self, Format, Input, Mode, ReadOptions, Record, fif, gdf, nihon_kohden, xdf,
};
use serde_json::Value;

use super::made_clinical::{self as made, STORED};

/// Names, half of the stored numbers, start and annotations of a small file.
fn assert_small(record: &Record, format: Format) {
    assert_eq!(record.format, format);
    assert_eq!(record.warnings, [], "{format}");
    for (channel, stored) in STORED.iter().enumerate() {
        let expected: Vec<f64> = stored.iter().map(|value| f64::from(*value) / 2.0).collect();
        let values = record.read_channel(channel).expect("readable");
        let close = values
            .iter()
            .zip(&expected)
            .all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(
            close && values.len() == 12,
            "{format}: {values:?}, not {expected:?}"
        );
        assert_eq!(record.read(channel, 5..9).expect("readable"), values[5..9]);
    }
    let mut all = vec![vec![0.0; 7]; 2];
    record.read_all_into(3, &mut all).expect("readable");
    assert_eq!(all[1], record.read(1, 3..10).expect("readable"), "{format}");
}

fn notes(record: &Record) -> Vec<(f64, Option<f64>, &str)> {
    let note = |note: &'_ records::Annotation| (note.onset_s, note.duration_s);
    let texts = record.annotations.iter();
    texts
        .map(|each| (note(each).0, note(each).1, each.text.as_str()))
        .collect()
}

#[test]
fn small_gdf_files_are_read() {
    for (is_first, format) in [(true, Format::Gdf1), (false, Format::Gdf2)] {
        let input = Input::from_bytes("small.gdf", made::gdf(is_first));
        let record = gdf::read(&input, &ReadOptions::default()).expect("readable");
        assert_small(&record, format);
        assert_eq!(record.channels[0].unit.symbol, "µV");
        assert_eq!(record.channels[1].rate_hz, Some(4.0));
        let start = record.start.expect("known").to_string();
        assert_eq!(start, "2024-02-29T12:30:15.5");
        assert_eq!(
            notes(&record),
            [(1.0, None, "769"), (2.0, Some(1.0), "1010")]
        );
        assert_eq!(record.annotations[1].channels, ["Cz"]);
    }
}

#[test]
fn small_fif_files_are_read() {
    for with_floats in [true, false] {
        let input = Input::from_bytes("small_raw.fif", made::fif(with_floats));
        let mut record = fif::read(&input, &ReadOptions::default()).expect("readable");
        assert_eq!(record.warnings.len(), 1, "the pause is told");
        record.warnings.clear();
        assert_small(&record, Format::Fif);
        assert_eq!(record.channels[0].unit.symbol, "V");
        // The first sample comes 8 samples after the date.
        let start = record.start.expect("known").to_string();
        assert_eq!(start, "2024-02-29T12:30:17.5");
        assert_eq!(notes(&record), [(1.0, Some(1.5), "eyes: closed")]);
        assert_eq!(
            (record.gaps[0].onset_s, record.gaps[0].duration_s),
            (1.5, 1.5)
        );
        assert_eq!(record.time_s(0, 6), Some(3.0));
    }
}

#[test]
fn small_xdf_files_are_read() {
    let input = Input::from_bytes("small.xdf", made::xdf());
    let record = xdf::read(&input, &ReadOptions::default()).expect("readable");
    for (channel, stored) in STORED.iter().enumerate() {
        let expected: Vec<f64> = stored.iter().map(|value| f64::from(*value)).collect();
        assert_eq!(record.read_channel(channel).expect("readable"), expected);
    }
    assert_eq!(record.channels[1].name, "C&z");
    assert_eq!(record.channels[0].unit.symbol, "µV");
    assert_eq!(record.channels[0].rate_hz, Some(4.0));
    // The clock of the amplifier is 10 s behind: the mark lies 1 s after its first sample.
    let [(onset_s, None, "go")] = notes(&record)[..] else {
        panic!("one mark, not {:?}", record.annotations);
    };
    assert!((onset_s - 1.0).abs() < 1e-9, "{onset_s}");
    let stamps = record.array("Amplifier/time_stamps").expect("there");
    assert!((stamps[[0]] - 110.0).abs() < 1e-9);
    let values = record.array("Amplifier").expect("there");
    assert_eq!(values.shape(), [12, 2]);
    assert_eq!(values[[3, 1]], 2.0);
}

#[test]
fn small_nihon_kohden_files_are_read() {
    let [eeg, log, names] = made::nihon_kohden();
    let input = Input::from_bytes("small.eeg", eeg)
        .with_companion("small.log", log)
        .with_companion("small.21e", names);
    let record = nihon_kohden::read(&input, &ReadOptions::default()).expect("readable");
    let (microvolts, millivolts) = (6399.902 / 65_535.0, 24_005.46 / 65_535.0);
    let close = |value: f64, expected: f64| (value - expected).abs() < 1e-9;
    let first = record.read_channel(0).expect("readable");
    assert!(
        close(first[3], -3200.0 + (32_768.0 + 30.0) * microvolts),
        "{first:?}"
    );
    let second = record.read_channel(1).expect("readable");
    assert!(close(second[0], -12_002.9 + (32_768.0 + 5.0) * millivolts));
    let names: Vec<&str> = record.channels.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["Fp1", "DC one"]);
    assert_eq!(record.channels[1].unit.symbol, "mV");
    assert_eq!(
        record.start.expect("known").to_string(),
        "2024-02-29T12:30:15"
    );
    assert_eq!(notes(&record), [(1.0, None, "EYES OPEN")]);
}

#[test]
fn small_persyst_files_are_read_from_either_file() {
    let [layout, data] = made::persyst();
    let by_layout =
        Input::from_bytes("file.lay", layout.clone()).with_companion("file.dat", data.clone());
    let by_data = Input::from_bytes("file.dat", data.clone())
        .with_companion("file.lay", layout)
        .with_companion("file.dat", data);
    for input in [by_layout, by_data] {
        let record = records::read(&input, &ReadOptions::default()).expect("readable");
        assert_small(&record, Format::Persyst);
        assert_eq!(record.channels[0].name, "Fp1-Ref");
        assert_eq!(
            record.start.expect("known").to_string(),
            "2024-02-29T12:30:15"
        );
        assert_eq!(
            notes(&record),
            [(0.5, None, "start"), (1.0, Some(0.5), "seizure, left")]
        );
    }
}

#[test]
fn damage_is_named_with_its_place() {
    let read = |name: &str, bytes: Vec<u8>| {
        let outcome = records::read(&Input::from_bytes(name, bytes), &ReadOptions::default());
        outcome.expect_err("damaged").to_string()
    };
    let mut bytes = made::gdf(true);
    bytes[252..256].copy_from_slice(&u32::MAX.to_le_bytes());
    let text = read("a.gdf", bytes);
    assert!(
        text.starts_with("number of channels at byte 252 is 4294967295"),
        "{text}"
    );
    let mut bytes = made::fif(true);
    bytes[8..12].copy_from_slice(&i32::MAX.to_be_bytes());
    let text = read("a.fif", bytes);
    assert!(text.starts_with("length of a tag at byte 0"), "{text}");
    // A file that ends early is read as far as it goes, and says so.
    let mut bytes = made::xdf();
    bytes.truncate(bytes.len() - 5);
    let input = Input::from_bytes("a.xdf", bytes);
    let record = xdf::read(&input, &ReadOptions::default()).expect("readable");
    assert!(
        record.warnings[0]
            .text
            .contains("the rest of the file is left out")
    );
    assert!(xdf::read(&input, &Mode::Strict.into()).is_err());
    let text = read("b.xdf", b"none".to_vec());
    assert!(
        text.starts_with("start of the file at byte 0 is \"none\""),
        "{text}"
    );
}

#[test]
fn formats_that_are_not_read_are_called_by_name() {
    let cases: [(&str, &[u8], &str); 9] = [
        ("a.cnt", b"Version 3.0\0\0\0", "Neuroscan CNT"),
        ("a.cnt", b"RIFF\0\0\0\0CNT ", "ANT Neuro CNT"),
        ("a.cnt", b"RF64\0\0\0\0\0\0\0\0CNT ", "ANT Neuro CNT"),
        (
            "a.trc",
            b"* MICROMED  Brain-Quick file *\x1a",
            "Micromed TRC",
        ),
        ("a.e", b"\x01\0\0\0\x02\0\0\0", "Nicolet .e"),
        ("a.nwb", b"\x89HDF\r\n\x1a\n\0\0", "NWB"),
        ("a.snirf", b"\x89HDF\r\n\x1a\n\0\0", "SNIRF"),
        ("a.ns5", b"NEURALCD\x02\x03", "Blackrock NSx"),
        ("a.dap", b"DATA_PARAMETERS Start", "Curry"),
    ];
    let mut nicolet = vec![3; 172];
    nicolet.extend(12_u32.to_le_bytes());
    nicolet.extend("SegmentStream".encode_utf16().flat_map(u16::to_le_bytes));
    nicolet.resize(1000, 0);
    let nwb = hdf5(&[
        "identifier",
        "session_start_time",
        "timestamps_reference_time",
    ]);
    let snirf = hdf5(&["formatVersion", "nirs"]);
    let by_content = [
        ("renamed.dat", nicolet, "Nicolet .e"),
        ("renamed.h5", nwb, "NWB"),
        ("renamed.mat", snirf, "SNIRF"),
    ];
    let cases = cases.map(|(name, bytes, format)| (name, bytes.to_vec(), format));
    for (name, bytes, format) in cases.into_iter().chain(by_content) {
        let outcome = records::read(&Input::from_bytes(name, bytes), &ReadOptions::default());
        let text = outcome.expect_err("not read").to_string();
        assert!(text.starts_with(format), "{text}");
        assert!(text.contains("is not supported; "), "{text}");
    }
    // Another HDF5 file is not refused for being one.
    let input = Input::from_bytes("plain.h5", hdf5(&["data"]));
    let outcome = records::read(&input, &ReadOptions::default());
    let text = outcome.map_or_else(|error| error.to_string(), |_| String::new());
    assert!(!text.contains("is not supported; "), "{text}");
}

#[test]
fn a_folder_that_is_a_recording_is_called_by_name_and_so_are_its_parts() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["sleep.mff", "renamed"] {
        let recording = folder.path().join(name);
        std::fs::create_dir(&recording).expect("it can be made");
        for part in ["info.xml", "signal1.bin"] {
            std::fs::write(recording.join(part), b"<?xml version=\"1.0\"?>").expect("written");
        }
        for path in [recording.clone(), recording.join("signal1.bin")] {
            let text = records::open(&path, Mode::Tolerant).expect_err("not read");
            let text = text.to_string();
            assert!(
                text.starts_with("EGI MFF is not supported; convert"),
                "{text}"
            );
        }
    }
}

/// The real files of these formats and what other programs read in them, if the environment names the folder.
fn facts() -> Option<(PathBuf, Value)> {
    let Some(folder) = std::env::var_os("ATOMSCOPE_DATA") else {
        println!("skipped: ATOMSCOPE_DATA does not name a folder of real files");
        return None;
    };
    let folder = Path::new(&folder).join("formats");
    let text = std::fs::read_to_string(folder.join("facts.json")).expect("facts.json is readable");
    Some((
        folder,
        serde_json::from_str(&text).expect("facts.json is JSON"),
    ))
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("the fact is a number")
}

#[track_caller]
fn assert_near(found: f64, expected: f64, size: f64, what: &str) {
    assert!(
        (found - expected).abs() <= 1e-6 * size.abs(),
        "{what}: {found}, not {expected}"
    );
}

#[test]
fn real_files_hold_what_mne_reads_in_them() {
    let Some((folder, facts)) = facts() else {
        return;
    };
    let files = facts.as_object().expect("files by name");
    for (name, fact) in files.iter().filter(|(name, _)| !name.starts_with("xdf/")) {
        let record = records::open(&folder.join(name), Mode::Tolerant)
            .unwrap_or_else(|error| panic!("{name} is readable, but: {error}"));
        assert_eq!(record.channels.len() as u64, fact["n_channels"], "{name}");
        assert_eq!(
            record.channels[0].rate_hz,
            fact["rate_hz"].as_f64(),
            "{name}"
        );
        assert_eq!(
            record.channels[0].n_samples as u64, fact["n_samples"],
            "{name}"
        );
        let first = fact["first"].as_object().expect("first values");
        let names = fact["names"].as_array().expect("names");
        for (channel, expected) in record.channels.iter().zip(names) {
            let own = channel.name.to_uppercase();
            let own = own.trim_end_matches("-REF");
            assert_eq!(
                own,
                expected.as_str().expect("a name").to_uppercase(),
                "{name}"
            );
        }
        for (channel, expected) in first {
            let place = names
                .iter()
                .position(|known| known.as_str() == Some(channel));
            let place = place.expect("a channel");
            // MNE gives volts, and files without a known unit as they are.
            let volts = record.channels[place].unit.volts().unwrap_or(1.0);
            let values = record.read_channel(place).expect("readable");
            let size = number(&fact["max"][&names[0].as_str().unwrap_or("")]);
            for (value, expected) in values.iter().zip(expected.as_array().expect("three")) {
                assert_near(value * volts, number(expected), size, name);
            }
            if let Some(expected) = fact["min"].get(channel) {
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                assert_near(least * volts, number(expected), size, name);
                let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                assert_near(most * volts, number(&fact["max"][channel]), size, name);
            }
        }
        // MNE leaves out what lies behind the last sample.
        let end_s = record.duration_s().expect("a recording");
        let inside = record
            .annotations
            .iter()
            .filter(|note| note.onset_s < end_s);
        assert_eq!(inside.count() as u64, fact["n_annotations"], "{name}");
        let listed = fact["annotations"].as_array().expect("annotations");
        for note in listed {
            let is_it = |own: &&records::Annotation| {
                Some(own.text.as_str()) == note[2].as_str()
                    && (own.onset_s - number(&note[0])).abs() < 1e-6
            };
            assert!(
                record.annotations.iter().any(|own| is_it(&own)),
                "{name}: {note}"
            );
        }
    }
}

#[test]
fn real_streams_hold_what_pyxdf_reads_in_them() {
    let Some((folder, facts)) = facts() else {
        return;
    };
    for name in ["xdf/minimal.xdf", "xdf/clock_resets.xdf"] {
        let record = records::open(&folder.join(name), Mode::Tolerant).expect("readable");
        for stream in facts[name]["streams"].as_array().expect("streams") {
            let own = stream["name"].as_str().expect("a name");
            let stamps = record.array(&format!("{own}/time_stamps")).expect("there");
            assert_eq!(stamps.len() as u64, stream["n_samples"], "{own}");
            let last = number(&stream["last_stamp"]);
            assert_near(stamps[[stamps.len() - 1]], last, 1.0, own);
            for (k, stamp) in stream["first_stamps"]
                .as_array()
                .expect("stamps")
                .iter()
                .enumerate()
            {
                assert_near(stamps[[k]], number(stamp), 1.0, own);
            }
            if stream["format"] == "string" {
                continue;
            }
            let values = record.array(own).expect("there");
            for (k, row) in stream["first"].as_array().expect("rows").iter().enumerate() {
                for (channel, value) in row.as_array().expect("a row").iter().enumerate() {
                    assert_near(values[[k, channel]], number(value), 1.0, own);
                }
            }
        }
        let texts = facts[name]["streams"].as_array().expect("streams").iter();
        let n_texts: u64 = texts
            .filter(|stream| stream["format"] == "string")
            .map(|stream| stream["n_samples"].as_u64().unwrap_or(0))
            .sum();
        assert_eq!(record.annotations.len() as u64, n_texts, "{name}");
    }
}

/// Places on the scalp and EEG channels, by the label sets of real files.
#[test]
fn labels_of_real_files_are_taken_for_what_they_are() {
    use atomscope_engine::features::electrodes::Scalp;
    use atomscope_engine::features::signal_kind::{SignalKind, kinds_of};
    let Some((folder, _)) = facts() else { return };
    let folder = folder.parent().expect("the data folder");
    let mut sets: Vec<(String, usize, Option<usize>)> = [
        ("edf/clinical/MB0400FU.EDF", 19, Some(21)),
        ("edf/clinical/chtypes_edf.edf", 27, Some(31)),
        // Caps by letters: not the 10–20 system.
        ("edf/mne-python/test.edf", 0, None),
        ("edf/mne-python/test_bdf_stim_channel.bdf", 3, Some(3)),
        ("edf/mne-python/test_edf_stim_channel.edf", 19, Some(20)),
        ("edf/mne-python/duplicate_channel_labels.edf", 3, Some(3)),
        ("edf/mne-python/test_stim_channel.edf", 0, Some(0)),
        ("edf/edfReader/edfPlusC.edf", 0, Some(0)),
        ("edf/pyedflib/test_generator.edf", 0, Some(0)),
        ("edf/pyedflib/test_subsecond.edf", 1, Some(1)),
        ("edf/pyedflib/test_utf8.edf", 1, Some(1)),
        ("corrupt/S001R01_utf8_mangled.edf", 64, Some(64)),
        ("formats/gdf/ssvep_subject01.gdf", 8, Some(8)),
        ("formats/fif/ssvep_subject01_raw.fif", 8, Some(8)),
        ("formats/gdf/test_1ch.gdf", 0, Some(0)),
        ("formats/nihon-kohden/MB0400FU.EEG", 19, Some(21)),
        (
            "formats/persyst/sub-pt1_ses-02_task-monitor_acq-ecog_run-01_clip2.lay",
            23,
            None,
        ),
    ]
    .map(|(name, n_places, n_eeg)| (name.to_owned(), n_places, n_eeg))
    .to_vec();
    for subject in 1..=6 {
        let name = format!("ssvep/subject0{subject}_session1.edf");
        sets.push((name, 8, Some(8)));
    }
    for (name, n_places, n_eeg) in sets {
        let record = records::open(&folder.join(&name), Mode::Tolerant).expect("readable");
        let labels: Vec<&str> = record.channels.iter().map(|c| c.name.as_str()).collect();
        let scalp = Scalp::of(&labels);
        let placed = (0..labels.len()).filter(|k| scalp.position(*k).is_some());
        let placed: Vec<&str> = placed.map(|k| labels[k]).collect();
        assert_eq!(placed.len(), n_places, "{name}: {placed:?}");
        let kinds = kinds_of(&record);
        let eeg = labels
            .iter()
            .zip(&kinds)
            .filter(|(_, kind)| **kind == SignalKind::Eeg);
        let eeg: Vec<&str> = eeg.map(|(label, _)| *label).collect();
        if let Some(n_eeg) = n_eeg {
            assert_eq!(eeg.len(), n_eeg, "{name}: {eeg:?}");
        }
    }
}

/// An HDF5 file whose root group has these members; all of them are the group itself.
fn hdf5(members: &[&str]) -> Vec<u8> {
    const ROOT: u64 = 48;
    let mut messages: Vec<u8> = Vec::new();
    for name in members {
        let mut link = vec![1, 0, name.len() as u8];
        link.extend(name.as_bytes());
        link.extend(ROOT.to_le_bytes());
        messages.push(6);
        messages.extend((link.len() as u16).to_le_bytes());
        messages.push(0);
        messages.extend(link);
    }
    let mut bytes = b"\x89HDF\r\n\x1a\n\x02\x08\x08\x00".to_vec();
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend(u64::MAX.to_le_bytes());
    bytes.extend(4096_u64.to_le_bytes());
    bytes.extend(ROOT.to_le_bytes());
    bytes.extend([0; 4]);
    // Two bytes tell the length of the messages.
    bytes.extend(b"OHDR\x02\x01");
    bytes.extend((messages.len() as u16).to_le_bytes());
    bytes.extend(messages);
    bytes.resize(4096, 0);
    bytes
}
