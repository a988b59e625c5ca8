//! Fault records of the data folder are read with the facts that independent readers and people found in them.

use std::path::{Path, PathBuf};

use atomscope_engine::records::{self, Format, Input, Mode, Record, TimeAxis, comtrade};
use serde_json::Value;

/// The folder of real fault records, if the environment names one.
fn data_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("ATOMSCOPE_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: ATOMSCOPE_DATA does not name a folder of real files");
    }
    folder
}

fn open(folder: &Path, name: &str) -> Record {
    records::open(&folder.join("comtrade").join(name), Mode::Tolerant)
        .unwrap_or_else(|error| panic!("{name} is readable, but: {error}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("the fact is a number")
}

fn values(record: &Record, channel: usize) -> Vec<f64> {
    record.read_channel(channel).expect("samples are readable")
}

/// Equal as far as single precision tells.
#[track_caller]
fn assert_close(found: f64, fact: f64, size: f64, name: &str) {
    let close = (found - fact).abs() <= 2e-6 * size.max(fact.abs());
    assert!(close, "{name}: {found}, fact {fact}");
}

fn warned(record: &Record, words: &str) -> bool {
    record
        .warnings
        .iter()
        .any(|w| w.to_string().contains(words))
}

#[test]
fn every_record_is_read_as_its_facts_say() {
    let Some(folder) = data_folder() else { return };
    let text = std::fs::read_to_string(folder.join("facts.json")).expect("facts are readable");
    let facts: Value = serde_json::from_str(&text).expect("facts are JSON");
    let files = facts["comtrade"].as_object().expect("files are listed");
    assert!(files.len() >= 18);
    for (name, fact) in files {
        let record = open(&folder, name.trim_start_matches("comtrade/"));
        let analog = fact["analog"].as_array().expect("channels are listed");
        let n_digital = fact["n_digital"].as_u64().expect("a count") as usize;
        assert_eq!(record.channels.len(), analog.len() + n_digital, "{name}");
        let grid = record.grid.clone().expect("grid facts");
        let frequency_hz = number(&fact["frequency_hz"]);
        assert_eq!(
            grid.line_frequency_hz.unwrap_or(0.0),
            frequency_hz,
            "{name}"
        );
        for (index, (channel, fact_of)) in record.channels.iter().zip(analog).enumerate() {
            assert_eq!(channel.name, fact_of["name"], "{name}");
            assert_eq!(channel.unit.raw, fact_of["unit"], "{name}");
            assert_eq!(channel.n_samples as u64, fact["n_samples"], "{name}");
            assert_values(&record, index, fact_of, name);
        }
        assert_times(&record, fact, name);
    }
}

fn assert_values(record: &Record, channel: usize, fact: &Value, name: &str) {
    let values = values(record, channel);
    let present = || values.iter().copied().filter(|v| !v.is_nan());
    let (min, max) = (number(&fact["min"]), number(&fact["max"]));
    let size = min.abs().max(max.abs());
    assert_close(present().fold(f64::INFINITY, f64::min), min, size, name);
    assert_close(present().fold(f64::NEG_INFINITY, f64::max), max, size, name);
    let first = fact["first"].as_array().expect("first values are listed");
    for (value, fact) in values.iter().zip(first) {
        assert_close(*value, number(fact), size, name);
    }
}

fn assert_times(record: &Record, fact: &Value, name: &str) {
    let rates = fact["rates"].as_array().expect("rates are listed");
    let rate_hz = record.channels[0].rate_hz;
    match number(&rates[0][0]) {
        0.0 => assert_eq!(rate_hz, None, "{name}"),
        fact_hz => assert_close(rate_hz.expect("a rate"), fact_hz, fact_hz, name),
    }
    let last = record.channels[0].n_samples - 1;
    let last_s = record.time_s(0, last).expect("times are known");
    // That record numbers its samples from 0, which the independent reader takes for a time before the first.
    let shift_s = if name.ends_with("wisp/5.cfg") {
        0.0005
    } else {
        0.0
    };
    assert_close(last_s - shift_s, number(&fact["t_last_s"]), last_s, name);
}

#[test]
fn a_russian_record_with_83_sections_and_doubled_line_ends_is_read() {
    let Some(folder) = data_folder() else { return };
    let record = open(&folder, "wisp/1.cfg");
    assert_eq!(record.channels.len(), 19);
    assert_eq!(record.channels[0].n_samples, 5316);
    assert_eq!(record.channels[4].name, "ЗМН-1 пуск");
    let TimeAxis::Sections(sections) = &record.time_axis else {
        panic!("the record has sections");
    };
    assert_eq!(sections.len(), 83);
    let expected = [-52.7678, -59.8851, -69.0880];
    for (value, fact) in values(&record, 0).iter().zip(expected) {
        assert!((value - fact).abs() < 1e-4);
    }
    for words in ["windows-1251", "revision year", "blank"] {
        assert!(warned(&record, words), "{words}");
    }
}

#[test]
fn a_chinese_combined_file_cut_short_is_read() {
    let Some(folder) = data_folder() else { return };
    let record = open(&folder, "comtrade-io/ascii_cff_2013.cff");
    assert_eq!(record.format, Format::Comtrade2013);
    assert_eq!(record.channels.len(), 96 + 192);
    assert_eq!(record.channels[0].n_samples, 186);
    assert_eq!(record.channels[0].rate_hz, Some(10_000.0));
    assert_eq!(record.channels[0].name, "220kV母线_Ua");
    for words in ["separator", "45600", "time code"] {
        assert!(warned(&record, words), "{words}");
    }
}

#[test]
fn gbk_and_latin_names_are_decoded() {
    let Some(folder) = data_folder() else { return };
    let chinese = open(&folder, "comtrade-io/ascii_1991.cfg");
    assert_eq!(chinese.channels.len(), 24 + 37);
    assert_eq!(chinese.channels[0].n_samples, 2131);
    assert_eq!(chinese.channels[9].name, "Ua对侧");
    assert!(warned(&chinese, "GBK"));
    assert!((values(&chinese, 0)[0] + 0.001).abs() < 1e-12);
    for name in ["sample_iso8859-1.cfg", "sample_iso8859-1_bin.cfg"] {
        let portuguese = open(&folder, &format!("python-comtrade/{name}"));
        let grid = portuguese.grid.clone().expect("grid facts");
        assert_eq!(grid.station, "Estação de Medição");
        assert_eq!(grid.device, "Oscilógrafo");
        assert_eq!(portuguese.channels[0].n_samples, 40);
    }
}

#[test]
fn missing_values_are_one_in_each_channel() {
    let Some(folder) = data_folder() else { return };
    for name in ["sample_ascii_missing.dat", "sample_bin_missing.dat"] {
        let record = open(&folder, &format!("python-comtrade/{name}"));
        for channel in 0..4 {
            let n_missing = values(&record, channel)
                .iter()
                .filter(|v| v.is_nan())
                .count();
            assert_eq!(n_missing, 1, "{name}");
        }
        assert!(warned(&record, "configuration file"), "{name}");
    }
}

#[test]
fn padding_and_korean_names_do_not_change_the_samples() {
    let Some(folder) = data_folder() else { return };
    let folder = folder.join("comtrade/python-comtrade");
    let bytes = |name: &str| std::fs::read(folder.join(name)).expect("readable");
    for (name, station) in [
        ("sample_sub_char.cfg", "SMARTSTATION"),
        (
            "sample_ascii_utf-8.cfg",
            "SMARTSTATION testing text encoding: hgvcj터파크387",
        ),
    ] {
        let input = Input::from_bytes("a.cfg", bytes(name))
            .with_companion("a.dat", bytes("sample_ascii.dat"));
        let record = comtrade::read(&input, &Mode::Tolerant.into()).expect("readable");
        assert_eq!(record.grid.clone().expect("grid facts").station, station);
        assert!((values(&record, 0)[0] + 9.39606).abs() < 1e-5);
        assert_eq!(warned(&record, "SUB"), name.contains("sub"));
    }
}

#[test]
fn a_trigger_of_1970_is_ignored_and_the_start_kept() {
    let Some(folder) = data_folder() else { return };
    let record = open(&folder, "wisp/5.cfg");
    assert_eq!(record.grid.clone().expect("grid facts").trigger_s, None);
    assert!(warned(&record, "trigger"));
    let start = record.start.expect("a start").to_string();
    assert_eq!(start, "2010-02-22T21:41:29.659551+00:00");
    let channel = record.channel_index("Un").expect("a channel of that name");
    let values = values(&record, channel);
    assert!((values.iter().copied().fold(0.0, f64::max) - 0.1046).abs() < 1e-4);
}

#[test]
fn strict_mode_refuses_what_breaks_the_standard() {
    let Some(folder) = data_folder() else { return };
    let folder = folder.join("comtrade");
    for name in [
        "wisp/1.cfg",
        "wisp/4.CFG",
        "comtrade-io/ascii_1991.cfg",
        "comtrade-io/ascii_cff_2013.cff",
        "python-comtrade/sample_iso8859-1.cfg",
        "tshort/1999-binary-hif-sel.cfg",
    ] {
        let error = records::open(&folder.join(name), Mode::Strict).expect_err(name);
        assert!(error.to_string().contains("expected"), "{error}");
    }
    for name in [
        "pycomtrade/test1.cfg",
        "python-comtrade/sample_ascii.cff",
        "tshort/1999-ascii-pq.cfg",
        "rtds-mpei/rtds_case01_690.cfg",
    ] {
        assert!(
            records::open(&folder.join(name), Mode::Strict).is_ok(),
            "{name}"
        );
    }
}

#[test]
fn real_records_survive_being_written_again() {
    let Some(folder) = data_folder() else { return };
    let record = open(&folder, "pnnl-ieee123/f1_1b274run.cfg");
    let files = comtrade::encode(&record, comtrade::ComtradeStorage::Float32).expect("writable");
    let input = Input::from_bytes("a.cfg", files.configuration).with_companion("a.dat", files.data);
    let back = comtrade::read(&input, &Mode::Strict.into()).expect("readable");
    for channel in 0..record.channels.len() {
        assert_eq!(values(&back, channel), values(&record, channel));
    }
}
