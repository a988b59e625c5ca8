//! Small files of every recording format, made here, are read as they were meant.

use std::path::Path;

use super::made::{brainvision_parts, broken_recording, edf_bytes, recording};
use super::made_matlab::{self as matlab, Order};
use atomscope_engine::records::edf::{self, SampleWidth};
use atomscope_engine::records::{
    self, Format, Input, Kind, Mode, ReadOptions, Record, brainvision, mat,
};

/// Replaces the bytes at `at`.
fn patched(mut bytes: Vec<u8>, at: usize, text: &str) -> Vec<u8> {
    bytes[at..at + text.len()].copy_from_slice(text.as_bytes());
    bytes
}

fn read_edf(bytes: Vec<u8>) -> Record {
    edf::from_bytes("small.edf", bytes, Mode::Tolerant).expect("the file is readable")
}

fn warnings(record: &Record) -> String {
    let lines: Vec<String> = record.warnings.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

fn refusal_in_strict_mode(bytes: Vec<u8>) -> String {
    edf::from_bytes("small.edf", bytes, Mode::Strict)
        .expect_err("strict reading refuses")
        .to_string()
}

#[test]
fn edf_and_bdf_come_back_within_half_a_step_and_then_exactly() {
    for (made, width, format) in [
        (recording(), SampleWidth::Edf, Format::EdfPlusC),
        (recording(), SampleWidth::Bdf, Format::BdfPlusC),
        (broken_recording(), SampleWidth::Edf, Format::EdfPlusD),
        (broken_recording(), SampleWidth::Bdf, Format::BdfPlusD),
    ] {
        let bytes = edf_bytes(&made, width);
        let record = edf::from_bytes("small.edf", bytes.clone(), Mode::Strict).expect("no breach");
        assert_eq!(record.format, format);
        assert_eq!(record.start, made.start);
        assert_eq!(record.annotations, made.annotations);
        assert_eq!(record.gaps, made.gaps);
        assert_eq!(record.warnings, []);
        let steps = if width == SampleWidth::Edf {
            65_534.0
        } else {
            16_777_214.0
        };
        for (channel, about) in record.channels.iter().enumerate() {
            let meant = &made.channels[channel];
            assert_eq!(
                (&about.name, &about.unit.symbol),
                (&meant.name, &meant.unit.symbol)
            );
            assert_eq!(
                (about.rate_hz, about.n_samples),
                (meant.rate_hz, meant.n_samples)
            );
            let found = record.read_channel(channel).expect("memory is readable");
            let wanted = made.read_channel(channel).expect("memory is readable");
            let half_step = 80.02 / steps / 2.0;
            assert!(
                found
                    .iter()
                    .zip(&wanted)
                    .all(|(a, b)| (a - b).abs() <= half_step)
            );
        }
        // Written once more from what was read, every byte is the same.
        assert_eq!(edf_bytes(&record, width), bytes);
    }
}

#[test]
fn parts_of_a_channel_equal_the_whole() {
    let record = read_edf(edf_bytes(&recording(), SampleWidth::Edf));
    let whole = record.read_channel(1).expect("memory is readable");
    for (first, end) in [(0, 0), (0, 1), (99, 101), (37, 333), (399, 400), (100, 200)] {
        let part = record.read(1, first..end).expect("memory is readable");
        assert_eq!(part, whole[first..end]);
    }
    assert!(record.read(1, 399..401).is_err());
    assert!(record.read(3, 0..1).is_err());
}

#[test]
fn gaps_separate_segments_and_shift_times() {
    let record = read_edf(edf_bytes(&broken_recording(), SampleWidth::Edf));
    let starts: Vec<(usize, f64)> = record
        .segments(0)
        .iter()
        .map(|s| (s.first_sample, s.onset_s))
        .collect();
    assert_eq!(starts, [(0, 0.0), (100, 3.5), (300, 6.0)]);
    assert_eq!(record.time_s(0, 99), Some(0.99));
    assert_eq!(record.time_s(0, 100), Some(3.5));
    assert_eq!(record.time_s(2, 150), Some(6.0));
    assert_eq!(record.duration_s(), Some(7.0));
}

#[test]
fn edf_oddities_are_read_with_a_warning_and_refused_when_strict() {
    let sound = edf_bytes(&recording(), SampleWidth::Edf);
    let label = |k: usize| 256 + 16 * k;
    let unit = |k: usize| 256 + 4 * 96 + 8 * k;
    let mut latin1 = sound.clone();
    latin1[unit(0)] = 0xb5;
    let mut cut = sound.clone();
    cut.truncate(sound.len() - 10);
    let mut longer = sound.clone();
    longer.extend([0; 7]);
    for (bytes, sign) in [
        (
            patched(sound.clone(), 236, "-1      "),
            "number of data records",
        ),
        (
            patched(sound.clone(), 236, "9       "),
            "number of data records",
        ),
        (cut, "the file is cut short"),
        (longer, "the bytes after them are ignored"),
        (patched(sound.clone(), 184, "999     "), "header size"),
        (
            patched(sound.clone(), label(1), "Fz              "),
            "label",
        ),
        (
            patched(sound.clone(), 168, "29/02/24"),
            "start date and time",
        ),
        (
            patched(sound.clone(), 168, "xx.yy.zz"),
            "start date and time",
        ),
        (
            patched(sound.clone(), 244, "abc     "),
            "duration of a data record",
        ),
        (
            patched(sound.clone(), 256 + 4 * 104, "-        "),
            "physical and digital range",
        ),
        (patched(sound.clone(), label(0), "Gr\u{fc}n"), "label"),
    ] {
        let record = read_edf(bytes.clone());
        assert!(
            warnings(&record).contains(sign),
            "{sign}: {}",
            warnings(&record)
        );
        assert_eq!(record.channels.len(), 3, "{sign}");
        let refusal = refusal_in_strict_mode(bytes);
        assert!(
            refusal.contains("at byte") && refusal.ends_with("small.edf"),
            "{refusal}"
        );
    }
    let record = read_edf(latin1);
    assert_eq!(record.channels[0].unit.symbol, "µV");
    let record = read_edf(patched(sound.clone(), unit(0), "furlong "));
    assert_eq!(record.channels[0].unit.symbol, "furlong");
    assert!(
        warnings(&record).contains("\"furlong\""),
        "{}",
        warnings(&record)
    );
    let record = read_edf(patched(sound, 236, "-1      "));
    assert_eq!(record.channels[0].n_samples, 400);
}

#[test]
fn edf_without_a_meaning_is_refused_with_the_place() {
    let sound = edf_bytes(&recording(), SampleWidth::Edf);
    for (bytes, reason) in [
        (sound[..200].to_vec(), "file length is 200 bytes"),
        (patched(sound.clone(), 0, "1"), "version at byte 0"),
        (
            patched(sound.clone(), 252, "9999"),
            "number of signals at byte 252",
        ),
        (
            patched(sound.clone(), 256 + 4 * 216, "x       "),
            "samples per data record at byte 1120",
        ),
    ] {
        let refusal = edf::from_bytes("small.edf", bytes, Mode::Tolerant).expect_err(reason);
        assert!(refusal.to_string().contains(reason), "{refusal}");
    }
}

#[test]
fn what_edf_cannot_hold_is_refused_by_the_writer() {
    let mut record = recording();
    record.channels[0].rate_hz = None;
    assert!(edf::write(&record, SampleWidth::Edf, &mut Vec::new()).is_err());
    let channel = record.channels[1].clone();
    let missing = Record::in_memory(
        Format::Simulated,
        Kind::Recording,
        "x",
        vec![(channel, vec![f64::NAN; 100])],
    );
    let error = edf::write(&missing, SampleWidth::Edf, &mut Vec::new()).expect_err("NaN");
    assert!(error.to_string().contains("NaN"), "{error}");
}

#[test]
fn brainvision_is_read_in_every_layout() {
    for number in ["INT_16", "IEEE_FLOAT_32"] {
        for orientation in ["MULTIPLEXED", "VECTORIZED"] {
            let [header, data, markers] = brainvision_parts(number, orientation);
            let record =
                brainvision::from_bytes(header, data, markers, Mode::Strict).expect("sound");
            assert_eq!(record.channels[0].name, "A,B");
            assert_eq!(record.channels[0].rate_hz, Some(500.0));
            assert_eq!(record.channels[1].unit.symbol, "mV");
            let first = record.read(0, 0..3).expect("memory is readable");
            assert_eq!(first, [-10.0, -9.5, -9.0]);
            let last = record.read(1, 48..50).expect("memory is readable");
            assert_eq!(last, [112.0, 116.0]);
            let mut all = vec![vec![0.0; 20]; 2];
            record
                .read_all_into(7, &mut all)
                .expect("memory is readable");
            for (channel, values) in all.iter().enumerate() {
                assert_eq!(
                    *values,
                    record.read(channel, 7..27).expect("memory is readable")
                );
            }
            // 25 samples are 0.05 s; the clock says 1.05 s.
            assert_eq!(record.gaps.len(), 1);
            assert!((record.gaps[0].duration_s - 1.0).abs() < 1e-9);
            let notes: Vec<&str> = record.annotations.iter().map(|a| a.text.as_str()).collect();
            assert_eq!(notes, ["Stimulus/S  1", "New Segment", "Comment/a,b"]);
            assert!((record.annotations[2].onset_s - 1.06).abs() < 1e-9);
            assert_eq!(record.annotations[2].duration_s, Some(0.01));
        }
    }
}

#[test]
fn brainvision_is_read_from_text_too() {
    let [header, _, _] = brainvision_parts("ASCII", "MULTIPLEXED");
    let header = String::from_utf8(header).expect("the header is text");
    let infos =
        "[ASCII Infos]\r\nDecimalSymbol=,\r\nSkipLines=1\r\nSkipColumns=0\r\n[Binary Infos]";
    let header = header.replace("[Binary Infos]", infos);
    let record = brainvision::from_bytes(
        header.as_str(),
        "A C\r\n1,5 -2\r\n3 4e1\r\n",
        "",
        Mode::Tolerant,
    )
    .expect("sound");
    assert_eq!(
        record.read_channel(0).expect("memory is readable"),
        [0.75, 1.5]
    );
    assert_eq!(
        record.read_channel(1).expect("memory is readable"),
        [-4.0, 80.0]
    );
    let header = header
        .replace("MULTIPLEXED", "VECTORIZED")
        .replace("SkipLines=1", "SkipLines=0");
    let header = header.replace("SkipColumns=0", "SkipColumns=1");
    let record = brainvision::from_bytes(header.as_str(), "A 1 2 3\nC 4 5\n", "", Mode::Tolerant)
        .expect("sound");
    assert_eq!(
        record.read_channel(1).expect("memory is readable"),
        [8.0, 10.0]
    );
    assert!(
        warnings(&record).contains("channels of different length"),
        "{}",
        warnings(&record)
    );
    let wrong =
        brainvision::from_bytes(header, "A 1 2\nC 4 x\n", "", Mode::Tolerant).expect_err("x");
    assert!(
        wrong
            .to_string()
            .contains("at line 2 is \"x\", expected a number"),
        "{wrong}"
    );
}

#[test]
fn the_v_amp_stores_a_value_more_than_its_header_lists() {
    let [header, data, _] = brainvision_parts("INT_16", "MULTIPLEXED");
    let listed = brainvision::from_bytes(header.clone(), data.clone(), "", Mode::Tolerant)
        .expect("two files are enough");
    let n_channels = listed.channels.len();
    let frames = data.chunks_exact(2 * n_channels);
    let with_trigger: Vec<u8> = frames
        .flat_map(|frame| [frame, &[7, 7][..]].concat())
        .collect();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("amp.ahdr");
    std::fs::write(&path, header).expect("the folder can be written");
    std::fs::write(folder.path().join("amp.eeg"), with_trigger).expect("the same");
    let record = records::open(&path, Mode::Tolerant).expect("readable");
    assert_eq!(record.channels.len(), n_channels);
    for channel in 0..n_channels {
        assert_eq!(
            record.read_channel(channel).expect("readable"),
            listed.read_channel(channel).expect("readable")
        );
    }
}

#[test]
fn brainvision_finds_renamed_files_and_names_missing_ones() {
    let [header, data, _] = brainvision_parts("INT_16", "MULTIPLEXED");
    let text = String::from_utf8(header).expect("the header is text");
    let renamed = text
        .replace("memory.eeg", "old name.eeg")
        .replace("memory.vmrk", "gone.vmrk");
    let record =
        brainvision::from_bytes(renamed.clone(), data, "", Mode::Tolerant).expect("found by stem");
    assert!(
        warnings(&record).contains("DataFile"),
        "{}",
        warnings(&record)
    );
    let alone = Input::from_bytes("alone.vhdr", renamed);
    let refusal = records::read(&alone, &ReadOptions::default()).expect_err("no data file");
    assert!(
        refusal.to_string().contains("\"old name.eeg\" is missing"),
        "{refusal}"
    );
    for (from, to, reason) in [
        ("INT_16", "INT_99", "BinaryFormat at line 14 is \"INT_99\""),
        (
            "SamplingInterval=2000",
            "SamplingInterval=0",
            "SamplingInterval at line 11 is \"0\"",
        ),
        (
            "NumberOfChannels=2",
            "NumberOfChannels=99999999",
            "NumberOfChannels at line 10",
        ),
    ] {
        let wrong = text.replace(from, to);
        let refusal = brainvision::from_bytes(wrong, "", "", Mode::Tolerant).expect_err(reason);
        assert!(refusal.to_string().contains(reason), "{refusal}");
    }
}

#[test]
fn matlab_recordings_are_picked_in_both_byte_orders() {
    for order in [Order::Little, Order::Big] {
        let record =
            mat::from_bytes("x.mat", matlab::recording(order), Mode::Strict).expect("sound");
        assert_eq!(
            (record.format, record.kind),
            (Format::Mat5, Kind::Recording)
        );
        let names: Vec<&str> = record.channels.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["Fz", "Cz", "Pz"]);
        assert_eq!(record.channels[0].rate_hz, Some(250.0));
        assert_eq!(
            record.read(1, 0..3).expect("memory is readable"),
            [1.0, 4.0, 7.0]
        );
        let sparse = record.array("sp").expect("the array is readable");
        assert_eq!(
            (sparse[[2, 0]], sparse[[1, 1]], sparse.sum()),
            (5.0, 7.0, 12.0)
        );
        assert!(
            warnings(&record).contains("assumed array \"eeg\""),
            "{}",
            warnings(&record)
        );
        let refusal = record
            .array("note")
            .expect_err("text is no array of numbers")
            .to_string();
        assert!(
            refusal.contains("a text, as an array of numbers"),
            "{refusal}"
        );
    }
}

#[test]
fn the_choice_of_array_orientation_and_rate_can_be_overruled() {
    let input = Input::from_bytes("x.mat", matlab::recording(Order::Little));
    let options = ReadOptions {
        array: Some("eeg".to_owned()),
        rows_are_channels: Some(false),
        rate_hz: Some(10.0),
        ..ReadOptions::default()
    };
    let record = mat::read(&input, &options).expect("sound");
    assert_eq!(
        (record.channels.len(), record.channels[0].n_samples),
        (200, 3)
    );
    assert_eq!(record.channels[0].rate_hz, Some(10.0));
    assert_eq!(
        record.read_channel(1).expect("memory is readable"),
        [3.0, 4.0, 5.0]
    );
    let wrong = ReadOptions {
        array: Some("nothing".to_owned()),
        ..ReadOptions::default()
    };
    let refusal = mat::read(&input, &wrong)
        .expect_err("no such array")
        .to_string();
    assert!(refusal.contains("one of eeg, info.fs"), "{refusal}");
}

#[test]
fn arrays_keep_their_axes() {
    let order = Order::Little;
    let values: Vec<f64> = (0..24).map(f64::from).collect();
    let bytes = matlab::file(
        order,
        &[matlab::doubles(order, "data", &[2, 3, 4], &values)],
    );
    let record = mat::from_bytes("x.mat", bytes, Mode::Strict).expect("sound");
    assert_eq!(record.kind, Kind::Arrays);
    let array = record.array("data").expect("the array is readable");
    assert_eq!(array.shape(), [2, 3, 4]);
    assert_eq!(
        (array[[1, 0, 0]], array[[0, 1, 0]], array[[0, 0, 1]]),
        (1.0, 2.0, 6.0)
    );
    let missing = record
        .array("other")
        .expect_err("no such array")
        .to_string();
    assert!(missing.contains("which has data"), "{missing}");
}

#[test]
fn matlab_4_is_read_in_both_byte_orders() {
    for order in [Order::Little, Order::Big] {
        let record =
            mat::from_bytes("x.mat", matlab::version4(order), Mode::Strict).expect("sound");
        assert_eq!(record.format, Format::Mat4);
        let array = record.array("x").expect("the array is readable");
        assert_eq!((array.shape(), array[[1, 2]]), (&[2, 3][..], 6.0));
        assert_eq!(record.arrays[1].name, "t");
    }
}

#[test]
fn matlab_7_3_is_read_with_chunks_references_and_text() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/matlab73.mat");
    let record = records::open(&path, Mode::Strict).expect("sound");
    assert_eq!(
        (record.format, record.kind),
        (Format::Mat73, Kind::Recording)
    );
    let names: Vec<&str> = record.channels.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["Fz", "Cz", "Pz"]);
    assert_eq!(record.channels[0].rate_hz, Some(250.0));
    for channel in 0..3 {
        let wanted: Vec<f64> = (0..200)
            .map(|k| ((3 * k + channel) % 97) as f64 - 48.0)
            .collect();
        assert_eq!(
            record.read_channel(channel).expect("memory is readable"),
            wanted
        );
    }
    let shape = |name: &str| {
        let found = record.arrays.iter().find(|array| array.name == name);
        found.map(|array| array.shape.clone())
    };
    assert_eq!(shape("empty"), Some(vec![0, 3]));
    assert_eq!(shape("s"), Some(vec![1, 1]));
    let complex = record.array("s.z").expect_err("complex").to_string();
    assert!(complex.contains("complex array \"s.z\""), "{complex}");
}

#[test]
fn eeglab_is_read_with_its_samples_inside_or_beside() {
    let beside: Vec<u8> = (0..128).flat_map(|k| (k as f32).to_le_bytes()).collect();
    let inside = mat::eeglab_from_bytes(matlab::eeglab(Order::Little, true), "", Mode::Strict);
    let outside = mat::eeglab_from_bytes(matlab::eeglab(Order::Big, false), beside, Mode::Tolerant);
    for record in [inside.expect("sound"), outside.expect("found by stem")] {
        assert_eq!((record.format, record.channels.len()), (Format::Eeglab, 2));
        assert_eq!(record.channels[1].name, "Oz");
        assert_eq!(
            record.read(1, 0..3).expect("memory is readable"),
            [1.0, 3.0, 5.0]
        );
        assert_eq!(record.channels[0].rate_hz, Some(32.0));
        // The boundary after 32 samples stands for 16 lost ones.
        assert_eq!(
            (record.gaps[0].onset_s, record.gaps[0].duration_s),
            (1.0, 0.5)
        );
        let target = &record.annotations[2];
        assert_eq!(
            (target.onset_s, target.duration_s),
            (40.0 / 32.0 + 0.5, Some(0.125))
        );
    }
    let alone = Input::from_bytes("alone.set", matlab::eeglab(Order::Little, false));
    let refusal = records::read(&alone, &ReadOptions::default()).expect_err("no data file");
    assert!(
        refusal.to_string().contains("\"elsewhere.fdt\" is missing"),
        "{refusal}"
    );
}

#[test]
fn the_samples_of_an_eeglab_set_lead_to_it() {
    let set = matlab::eeglab(Order::Little, false);
    let samples = Input::from_bytes("subject.fdt", [0; 512]);
    let both = samples.clone().with_companion("subject.set", set);
    // In memory a file is not beside itself.
    let both = both.with_companion("subject.fdt", [0; 512]);
    let record = records::read(&both, &Mode::Tolerant.into()).expect("the set is beside it");
    assert_eq!(record.format, Format::Eeglab);
    let refusal = records::read(&samples, &Mode::Tolerant.into()).expect_err("there is no set");
    assert_eq!(
        refusal.to_string(),
        "EEGLAB data set \"subject.set\" is missing beside the file; put both in one folder: subject.fdt"
    );
}

#[test]
fn content_decides_before_the_extension() {
    let options = ReadOptions::default();
    let edf = Input::from_bytes("recording.mat", edf_bytes(&recording(), SampleWidth::Edf));
    assert_eq!(
        records::read(&edf, &options).expect("sound").format,
        Format::EdfPlusC
    );
    let mat = Input::from_bytes("recording", matlab::version4(Order::Big));
    assert_eq!(
        records::read(&mat, &options).expect("sound").format,
        Format::Mat4
    );
    let nothing = Input::from_bytes("picture.png", *b"\x89PNG\r\n\x1a\n");
    let refusal = records::read(&nothing, &options)
        .expect_err("no reader")
        .to_string();
    assert!(
        refusal.starts_with("a PNG picture is not supported"),
        "{refusal}"
    );
    let nothing = Input::from_bytes("data.bin", *b"\x01\x02\x03\x04");
    let refusal = records::read(&nothing, &options);
    let refusal = refusal.expect_err("no reader").to_string();
    assert!(
        refusal.starts_with("unknown format: file starts with \"\\x01"),
        "{refusal}"
    );
}
