//! COMTRADE: made by the writer and by hand, odd in the ways recorders are.

use std::sync::Arc;

use atomscope_engine::records::comtrade::{self, ComtradeStorage, WrittenFiles};
use atomscope_engine::records::{
    Channel, ChannelKind, Format, GridChannel, GridFacts, Input, Kind, Mode, RateSection,
    ReadError, Record, StartTime, TimeAxis, TransformerSide, Unit,
};
use proptest::prelude::*;

fn read(configuration: &[u8], data: &[u8], mode: Mode) -> Result<Record, ReadError> {
    let input = Input::from_bytes("fault.cfg", configuration).with_companion("fault.DAT", data);
    comtrade::read(&input, &mode.into())
}

fn tolerant(configuration: &str, data: &[u8]) -> Record {
    read(configuration.as_bytes(), data, Mode::Tolerant).expect("readable")
}

fn values(record: &Record, channel: usize) -> Vec<f64> {
    record.read_channel(channel).expect("samples are readable")
}

#[track_caller]
fn warns(record: &Record, words: &str) {
    let told = record
        .warnings
        .iter()
        .any(|w| w.to_string().contains(words));
    assert!(told, "{words:?} in {:?}", record.warnings);
}

/// Tolerated with a warning that says `words`, refused in strict mode.
#[track_caller]
fn tolerated(configuration: &str, data: &[u8], words: &str) -> Record {
    let record = tolerant(configuration, data);
    warns(&record, words);
    let refusal = read(configuration.as_bytes(), data, Mode::Strict);
    assert!(refusal.is_err(), "strict mode refuses");
    record
}

/// Two analog channels and one digital, 1999, four samples at 1 kHz.
const PLAIN: &str = "Station,Device,1999\r\n3,2A,1D\r\n\
    1,VA,A,bay,kV,0.5,1,0,-32767,32767,110,0.1,S\r\n\
    2,IA,A,bay,A,2,0,5,-32767,32767,600,5,P\r\n\
    1,trip,,,0\r\n50\r\n1\r\n1000,4\r\n\
    01/02/2020,03:04:05.000006\r\n01/02/2020,03:04:05.001006\r\nASCII\r\n1\r\n";
const ROWS: &[u8] = b"1,0,10,1,0\r\n2,1000,20,2,0\r\n3,2000,30,3,1\r\n4,3000,40,4,1\r\n";

#[test]
fn a_plain_record_is_read_without_a_warning_in_both_modes() {
    for mode in [Mode::Tolerant, Mode::Strict] {
        let record = read(PLAIN.as_bytes(), ROWS, mode).expect("readable");
        assert_eq!(record.warnings, []);
        assert_eq!(record.format, Format::Comtrade1999);
        assert_eq!(record.kind, Kind::FaultRecord);
        assert_eq!(values(&record, 0), [6.0, 11.0, 16.0, 21.0]);
        assert_eq!(values(&record, 1), [2.0, 4.0, 6.0, 8.0]);
        assert_eq!(values(&record, 2), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(record.channels[0].rate_hz, Some(1000.0));
        assert_eq!(record.channels[0].unit.symbol, "kV");
        let kind = ChannelKind::Digital {
            normal: Some(false),
        };
        assert_eq!(record.channels[2].kind, kind);
        assert_eq!(record.duration_s(), Some(0.004));
        let start = record.start.expect("the file has a start").to_string();
        assert_eq!(start, "2020-02-01T03:04:05.000006");
        let grid = record.grid.expect("a fault record has grid facts");
        assert_eq!(grid.line_frequency_hz, Some(50.0));
        assert!((grid.trigger_s.expect("the file has a trigger") - 0.001).abs() < 1e-12);
    }
}

#[test]
fn primary_and_secondary_values_are_told_apart() {
    let record = tolerant(PLAIN, ROWS);
    let grid = |channel: usize| record.channels[channel].grid.clone().expect("grid facts");
    assert_eq!(grid(0).scaling, Some(TransformerSide::Secondary));
    assert!((grid(0).to_primary() - 1100.0).abs() < 1e-9);
    assert_eq!(grid(1).scaling, Some(TransformerSide::Primary));
    assert_eq!(grid(1).to_primary(), 1.0);
    assert!((grid(1).skew_s - 5e-6).abs() < 1e-18);
}

#[test]
fn a_unit_of_both_sides_is_part_of_the_ratio() {
    for (side, scale, base) in [("S", 2200.0, 1.0), ("P", 1.0, 1e3)] {
        let text = PLAIN
            .replace(",kV,", ",В/кВ,")
            .replace("110,0.1,S", &format!("220,100,{side}"));
        let record = read(text.as_bytes(), ROWS, Mode::Strict).expect("readable");
        assert_eq!(record.warnings, []);
        let channel = &record.channels[0];
        assert_eq!(channel.unit.volts(), Some(base));
        let grid = channel.grid.as_ref().expect("of the grid");
        assert_eq!(grid.to_primary(), scale);
    }
}

#[test]
fn blank_values_and_the_codes_for_missing_are_nan() {
    let rows = b"1,0,99999,1,0\n2,1000,,2,0\n3,2000,30,99999,1\n4,3000,40,4,\n";
    let record = tolerant(PLAIN, rows);
    assert!(values(&record, 0)[0].is_nan() && values(&record, 0)[1].is_nan());
    assert!(values(&record, 1)[2].is_nan());
    assert!(values(&record, 2)[3].is_nan());
    assert_eq!(values(&record, 0)[2], 16.0);
}

#[test]
fn the_code_of_1991_is_missing_unless_the_multiplier_is_zero() {
    let configuration = "S,D\n2,2A,0D\n1,a,,,A,0.1,0,0,0,999999\n2,b,,,A,0,0,0,0,999999\n\
        60\n1\n100,2\n02/28/95,01:02:03.5\n02/28/95,01:02:03.5\nASCII\n";
    let record = tolerant(configuration, b"1,0,999999,999999\n2,1,10,999999\n");
    assert_eq!(record.format, Format::Comtrade1991);
    assert!(values(&record, 0)[0].is_nan());
    assert_eq!(values(&record, 0)[1], 1.0);
    assert_eq!(values(&record, 1), [0.0, 0.0]);
    let start = record.start.expect("the file has a start").to_string();
    assert_eq!(start, "1995-02-28T01:02:03.5");
}

#[test]
fn semicolons_with_decimal_commas_are_read() {
    let configuration = PLAIN.replace(',', ";").replace("0.5", "0,5");
    let rows = String::from_utf8_lossy(ROWS).replace(',', ";");
    let record = tolerated(&configuration, rows.as_bytes(), "separator");
    assert_eq!(values(&record, 0), [6.0, 11.0, 16.0, 21.0]);
    let tabs = String::from_utf8_lossy(ROWS).replace(',', "\t");
    let record = tolerated(PLAIN, tabs.as_bytes(), "separator");
    assert_eq!(values(&record, 2), [0.0, 0.0, 1.0, 1.0]);
}

#[test]
fn blank_lines_padding_and_a_wrong_revision_are_told() {
    let blank_lines = String::from_utf8_lossy(ROWS).replace("\r\n", "\r\n\r\n");
    let record = tolerated(PLAIN, blank_lines.as_bytes(), "blank");
    assert_eq!(values(&record, 1), [2.0, 4.0, 6.0, 8.0]);
    tolerated(&format!("{PLAIN}\x1a\x1a"), ROWS, "SUB");
    let odd_year = PLAIN.replace("1999", "2001");
    let record = tolerated(&odd_year, ROWS, "revision year");
    assert_eq!(record.format, Format::Comtrade1999);
}

#[test]
fn lengths_that_differ_from_the_declaration_are_told() {
    let longer = PLAIN.replace("1000,4", "1000,40");
    let record = tolerated(&longer, ROWS, "40 as declared");
    assert_eq!(record.channels[0].n_samples, 4);
    let shorter = PLAIN.replace("1000,4", "1000,3");
    let record = tolerated(&shorter, ROWS, "data length");
    assert_eq!(record.channels[0].n_samples, 3);
}

#[test]
fn wrong_channel_counts_give_way_to_the_lines() {
    let record = tolerated(&PLAIN.replace("3,2A,1D", "9,5A,4D"), ROWS, "channel counts");
    assert_eq!(record.channels.len(), 3);
    let record = tolerated(
        &PLAIN.replace("3,2A,1D", "7,2A,1D"),
        ROWS,
        "total of channels",
    );
    assert_eq!(record.channels.len(), 3);
}

#[test]
fn a_blank_line_frequency_and_blank_fields_are_told() {
    let record = tolerated(
        &PLAIN.replace("\r\n50\r\n", "\r\n\r\n"),
        ROWS,
        "line frequency",
    );
    assert_eq!(record.grid.expect("grid facts").line_frequency_hz, None);
    let record = tolerated(&PLAIN.replace("A,2,0,5,", "A,2,,,"), ROWS, "offset b");
    assert_eq!(values(&record, 1), [2.0, 4.0, 6.0, 8.0]);
}

#[test]
fn a_multiplier_that_is_no_number_is_refused_with_its_place() {
    let broken = PLAIN.replace("kV,0.5", "kV,half");
    let error = read(broken.as_bytes(), ROWS, Mode::Tolerant).expect_err("refused");
    let text = error.to_string();
    for part in ["multiplier a", "line 3", "\"half\"", "number", "fault.cfg"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn sections_of_different_rate_keep_their_times() {
    let two = PLAIN.replace("1\r\n1000,4", "2\r\n1000,2\r\n4000,4");
    let record = tolerant(&two, ROWS);
    assert_eq!(record.channels[0].rate_hz, None);
    warns(&record, "2 sections");
    let times: Vec<f64> = (0..4).filter_map(|i| record.time_s(0, i)).collect();
    for (time, expected) in times.iter().zip([0.0, 0.001, 0.002, 0.00225]) {
        assert!((time - expected).abs() < 1e-12, "{times:?}");
    }
    let drifting = PLAIN.replace("1\r\n1000,4", "2\r\n1000,2\r\n1001,4");
    let record = tolerant(&drifting, ROWS);
    let rate_hz = record.channels[0].rate_hz.expect("nearly one rate");
    assert!((1000.0..1001.0).contains(&rate_hz));
}

#[test]
fn without_rates_the_stamps_and_their_multiplier_tell_the_time() {
    let stamped = PLAIN
        .replace("1\r\n1000,4", "0\r\n0,4")
        .replace("ASCII\r\n1\r\n", "ASCII\r\n10\r\n");
    let record = tolerant(&stamped, ROWS);
    assert_eq!(record.channels[0].rate_hz, None);
    let time_s = record.time_s(0, 3).expect("stamps");
    assert!((time_s - 0.03).abs() < 1e-12);
    assert!(matches!(record.time_axis, TimeAxis::Stamps(_)));
}

#[test]
fn names_in_other_encodings_are_decoded() {
    let cases = [
        (encoding_rs::WINDOWS_1251, "ПС Южная", "Ток фазы А"),
        (encoding_rs::IBM866, "ПС Южная", "Ток фазы А"),
        (encoding_rs::GBK, "变电站", "母线电压"),
        (encoding_rs::WINDOWS_1252, "Estação Süd", "Tensão à terra"),
    ];
    for (encoding, station, channel) in cases {
        let text = PLAIN.replace("Station", station).replace("VA", channel);
        let (bytes, _, _) = encoding.encode(&text);
        let record = read(&bytes, ROWS, Mode::Tolerant).expect("readable");
        assert_eq!(record.channels[0].name, channel);
        assert_eq!(record.grid.clone().expect("grid facts").station, station);
        warns(&record, encoding.name());
    }
}

/// The binary rows of [`PLAIN`].
fn binary_rows(stored: impl Fn(i32, i32) -> Vec<u8>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for row in 1..=4_i32 {
        bytes.extend(row.to_le_bytes());
        bytes.extend(((row - 1) * 1000).to_le_bytes());
        bytes.extend(stored(row, 10 * row));
        bytes.extend(stored(row, row));
        bytes.extend(u16::from(row > 2).to_le_bytes());
    }
    bytes
}

#[test]
fn the_binary_types_hold_the_same_samples() {
    let two_bytes = |_, n: i32| (n as i16).to_le_bytes().to_vec();
    let four_bytes = |_, n: i32| n.to_le_bytes().to_vec();
    let floats = |_, n: i32| (n as f32).to_le_bytes().to_vec();
    let cases: [(&str, Vec<u8>); 3] = [
        ("BINARY", binary_rows(two_bytes)),
        ("BINARY32 ", binary_rows(four_bytes)),
        ("float32", binary_rows(floats)),
    ];
    let expected = tolerant(PLAIN, ROWS);
    for (name, rows) in &cases {
        let record = tolerant(&PLAIN.replace("ASCII", name), rows);
        for channel in 0..3 {
            assert_eq!(
                values(&record, channel),
                values(&expected, channel),
                "{name}"
            );
        }
        assert_eq!(record.read(0, 1..3).expect("readable"), [11.0, 16.0]);
    }
    // A type that is declared wrongly shows in the sample numbers.
    let record = tolerated(&PLAIN.replace("ASCII", "BINARY"), &cases[1].1, "layout");
    assert_eq!(values(&record, 1), [2.0, 4.0, 6.0, 8.0]);
    let record = tolerated(&PLAIN.replace("ASCII", "BINARY"), &cases[2].1, "layout");
    assert_eq!(values(&record, 1), [2.0, 4.0, 6.0, 8.0]);
    let record = tolerated(&PLAIN.replace("ASCII", "BINARY"), ROWS, "file type");
    assert_eq!(values(&record, 1), [2.0, 4.0, 6.0, 8.0]);
}

#[test]
fn surplus_words_and_swapped_bytes_show_in_the_sample_numbers() {
    let mut rows = Vec::new();
    for row in 1..=4_u32 {
        rows.extend(row.to_be_bytes());
        rows.extend((1000 * row).to_be_bytes());
        rows.extend((10 * row as u16).to_be_bytes());
        rows.extend((row as u16).to_be_bytes());
        rows.extend([u16::from(row > 2), 0].map(u16::to_be_bytes).concat());
    }
    let record = tolerated(&PLAIN.replace("ASCII", "BINARY"), &rows, "big-endian");
    assert_eq!(values(&record, 0), [6.0, 11.0, 16.0, 21.0]);
    assert_eq!(values(&record, 2), [0.0, 0.0, 1.0, 1.0]);
}

#[test]
fn habits_of_recorders_do_not_change_the_samples() {
    let rows = String::from_utf8_lossy(ROWS).into_owned();
    let cases = [
        (
            "small letters",
            PLAIN.replace("2A,1D", "2a,1d"),
            rows.clone(),
        ),
        (
            "no last line end",
            PLAIN.trim_end().to_owned(),
            rows.clone(),
        ),
        (
            "carriage returns",
            PLAIN.replace('\n', ""),
            rows.replace('\n', ""),
        ),
        (
            "commas in names",
            PLAIN.replace("Device", "Device, one"),
            rows.clone(),
        ),
        (
            "commas in channels",
            PLAIN.replace("VA,A", "V,A,A"),
            rows.clone(),
        ),
        (
            "surplus commas",
            PLAIN.replace("\r\n", ",,\r\n"),
            rows.replace('\r', ","),
        ),
        ("byte order mark", format!("\u{feff}{PLAIN}"), rows.clone()),
        (
            "no multiplier",
            PLAIN.replace("ASCII\r\n1\r\n", "ASCII\r\n"),
            rows.clone(),
        ),
        (
            "a header row",
            PLAIN.to_owned(),
            format!("n,time,VA,IA,trip\n{rows}"),
        ),
        (
            "columns by spaces",
            PLAIN.to_owned(),
            rows.replace(',', "   "),
        ),
        ("no times", PLAIN.to_owned(), rows.replace("000,", ",")),
        (
            "real numbers",
            PLAIN.to_owned(),
            rows.replace(",10,", ",10.0,"),
        ),
        (
            "dashes in dates",
            PLAIN.replace("01/02/2020", "2020-02-01"),
            rows.clone(),
        ),
        (
            "no dates",
            PLAIN
                .replace("01/02/2020,03:04:05.000006", ",")
                .replace("01/02/2020,03:04:05.001006", ","),
            rows.clone(),
        ),
        (
            "no file type",
            PLAIN.replace("ASCII\r\n1\r\n", ""),
            rows.clone(),
        ),
        (
            "wrong numbering",
            PLAIN.to_owned(),
            rows.replace("\n3,", "\n7,"),
        ),
    ];
    for (habit, configuration, rows) in cases {
        let record = read(configuration.as_bytes(), rows.as_bytes(), Mode::Tolerant);
        let record = record.unwrap_or_else(|error| panic!("{habit}: {error}"));
        assert_eq!(values(&record, 0), [6.0, 11.0, 16.0, 21.0], "{habit}");
        assert_eq!(values(&record, 2), [0.0, 0.0, 1.0, 1.0], "{habit}");
        assert_eq!(record.channels[0].rate_hz, Some(1000.0), "{habit}");
    }
}

#[test]
fn missing_codes_of_the_binary_types_are_nan() {
    let two_bytes = |row, n: i32| if row == 2 { i16::MIN } else { n as i16 };
    let rows = binary_rows(|row, n| two_bytes(row, n).to_le_bytes().to_vec());
    let record = tolerant(&PLAIN.replace("ASCII", "BINARY"), &rows);
    assert!(values(&record, 0)[1].is_nan());
    let floats = |row, n: i32| if row == 2 { f32::MIN } else { n as f32 };
    let rows = binary_rows(|row, n| floats(row, n).to_le_bytes().to_vec());
    let record = tolerant(&PLAIN.replace("ASCII", "FLOAT32"), &rows);
    assert!(values(&record, 1)[1].is_nan());
}

#[test]
fn combined_files_are_read_with_their_habits() {
    let data = String::from_utf8_lossy(ROWS);
    let standard = format!(
        "--- file type: CFG ---\r\n{PLAIN}--- file type: INF ---\r\n\r\n\
         --- file type: HDR ---\r\n\r\n--- file type: DAT ASCII ---\r\n{data}"
    );
    let odd = standard.replace("--- file type: DAT ASCII", "-- file type  DAT");
    for (text, n_warnings) in [(standard, 0), (odd, 1)] {
        let input = Input::from_bytes("a.cff", text.as_bytes());
        let record = comtrade::read(&input, &Mode::Tolerant.into()).expect("readable");
        assert_eq!(values(&record, 1), [2.0, 4.0, 6.0, 8.0]);
        assert_eq!(record.warnings.len(), n_warnings, "{:?}", record.warnings);
    }
}

#[test]
fn a_missing_data_file_is_named() {
    let input = Input::from_bytes("fault.cfg", PLAIN.as_bytes());
    let error = comtrade::read(&input, &Mode::Tolerant.into()).expect_err("refused");
    assert!(error.to_string().contains("fault.dat"), "{error}");
}

/// A record with everything the writer keeps.
fn record_of(samples: &[f64], states: &[bool]) -> Record {
    let mut analog = Channel::analog("V,A", Unit::parse("kV"), Some(4000.0), 0);
    analog.grid = Some(GridChannel {
        phase: "A".to_owned(),
        circuit: "bay 1".to_owned(),
        primary: 110.0,
        secondary: 0.1,
        scaling: Some(TransformerSide::Secondary),
        skew_s: 0.0,
    });
    let mut digital = Channel::analog("trip", Unit::none(), Some(4000.0), 0);
    digital.kind = ChannelKind::Digital { normal: Some(true) };
    let states = states.iter().map(|on| f64::from(u8::from(*on))).collect();
    let data = vec![(analog, samples.to_vec()), (digital, states)];
    let mut record = Record::in_memory(Format::Simulated, Kind::FaultRecord, "made", data);
    record.start = StartTime::new((1999, 12, 31), (23, 59, 59), 999_000_000);
    record.grid = Some(GridFacts {
        station: "подстанция".to_owned(),
        device: "made".to_owned(),
        line_frequency_hz: Some(50.0),
        trigger_s: Some(0.0005),
    });
    record
}

fn round_trip(record: &Record, storage: ComtradeStorage, mode: Mode) -> Record {
    let WrittenFiles {
        configuration,
        data,
    } = comtrade::encode(record, storage).expect("writable");
    read(&configuration, &data, mode).expect("readable")
}

#[test]
fn what_is_written_is_read_back_without_a_warning() {
    let samples: Vec<f64> = (0..50)
        .map(|i| f64::from((f64::from(i) * 0.3).sin() as f32))
        .collect();
    let record = record_of(&samples, &[true, false].repeat(25));
    for storage in [
        ComtradeStorage::Ascii,
        ComtradeStorage::Binary,
        ComtradeStorage::Float32,
    ] {
        let back = round_trip(&record, storage, Mode::Strict);
        assert_eq!(back.warnings, []);
        assert_eq!(back.start, record.start);
        let (grid, kept) = (record.grid.clone(), back.grid.clone());
        let (grid, kept) = (grid.expect("grid facts"), kept.expect("grid facts"));
        assert_eq!((&grid.station, &grid.device), (&kept.station, &kept.device));
        assert!((kept.trigger_s.expect("trigger") - 0.0005).abs() < 1e-9);
        assert_eq!(back.channels[0].name, "V;A");
        assert_eq!(back.channels[0].grid, record.channels[0].grid);
        assert_eq!(back.channels[1].kind, record.channels[1].kind);
        assert_eq!(values(&back, 1), values(&record, 1));
    }
    assert_eq!(
        values(
            &round_trip(&record, ComtradeStorage::Float32, Mode::Strict),
            0
        ),
        samples
    );
}

#[test]
fn stamps_sections_and_long_times_are_written() {
    let mut record = record_of(&[1.0, 2.0, 3.0], &[true; 3]);
    record.time_axis = TimeAxis::Stamps(Arc::from([0.0, 0.5, 10_000.0]));
    for channel in &mut record.channels {
        channel.rate_hz = None;
    }
    let back = round_trip(&record, ComtradeStorage::Binary, Mode::Tolerant);
    let last_s = back.time_s(0, 2).expect("stamps");
    assert!((last_s - 10_000.0).abs() < 1e-5, "{last_s}");
    let section = |rate_hz, onset_s, first_sample, n_samples| RateSection {
        rate_hz,
        onset_s,
        first_sample,
        n_samples,
    };
    let sections = vec![section(1000.0, 0.0, 0, 1), section(10.0, 0.001, 1, 2)];
    record.time_axis = TimeAxis::Sections(sections);
    let back = round_trip(&record, ComtradeStorage::Ascii, Mode::Tolerant);
    assert_eq!(back.time_axis, record.time_axis);
}

#[test]
fn records_that_do_not_fit_are_refused() {
    let mut record = record_of(&[1.0, 2.0], &[true; 2]);
    record.channels[0].rate_hz = None;
    assert!(comtrade::encode(&record, ComtradeStorage::Binary).is_err());
    let empty = record_of(&[], &[]);
    assert!(comtrade::encode(&empty, ComtradeStorage::Ascii).is_err());
}

fn samples_with_gaps() -> impl Strategy<Value = Vec<f64>> {
    let single = prop_oneof![
        8 => (-1e6_f32..1e6).prop_map(f64::from),
        1 => Just(f64::NAN),
        1 => (-1e-6_f32..1e-6).prop_map(f64::from),
    ];
    proptest::collection::vec(single, 1..60)
}

#[test]
fn a_record_that_cannot_be_written_leaves_the_old_one_and_nothing_beside_it() {
    let record = tolerant(PLAIN, ROWS);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fault");
    let names = || {
        let entries = std::fs::read_dir(folder.path()).expect("readable");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    comtrade::write_files(&record, ComtradeStorage::Ascii, &path).expect("written");
    assert_eq!(names().len(), 2, "{:?}", names());
    // A folder in place of the configuration cannot be replaced.
    std::fs::remove_file(path.with_extension("cfg")).expect("removed");
    std::fs::create_dir_all(path.with_extension("cfg").join("inside")).expect("made");
    let before = std::fs::read(path.with_extension("dat")).expect("readable");
    comtrade::write_files(&record, ComtradeStorage::Binary, &path).expect_err("no room");
    assert_eq!(
        std::fs::read(path.with_extension("dat")).expect("readable"),
        before
    );
    assert_eq!(names().len(), 2, "{:?}", names());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn samples_survive_the_round_trip(samples in samples_with_gaps()) {
        let record = record_of(&samples, &vec![true; samples.len()]);
        let finite = || samples.iter().copied().filter(|v| v.is_finite());
        let span = finite().fold(0.0, f64::max) - finite().fold(0.0, f64::min);
        let cases = [
            (ComtradeStorage::Ascii, span / 199_996.0),
            (ComtradeStorage::Binary, span / 65_534.0),
            (ComtradeStorage::Float32, 0.0),
        ];
        for (storage, step) in cases {
            let back = values(&round_trip(&record, storage, Mode::Strict), 0);
            prop_assert_eq!(back.len(), samples.len());
            for (a, b) in samples.iter().zip(&back) {
                let close = (a - b).abs() <= 0.5001 * step + 1e-12 * a.abs();
                prop_assert!(close || (a.is_nan() && b.is_nan()), "{} {}", a, b);
            }
        }
    }

    #[test]
    fn damaged_configurations_do_not_panic(
        at in any::<proptest::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<proptest::sample::Index>(),
    ) {
        let mut configuration = PLAIN.as_bytes().to_vec();
        let place = at.index(configuration.len());
        configuration[place] = byte;
        let damaged = read(&configuration, ROWS, Mode::Tolerant);
        if let Ok(record) = damaged {
            for channel in 0..record.channels.len() {
                prop_assert!(record.read_channel(channel).is_ok());
            }
        }
        configuration.truncate(cut.index(configuration.len()));
        drop(read(&configuration, ROWS, Mode::Tolerant));
    }

    #[test]
    fn counts_of_any_size_do_not_take_memory(analog in any::<u32>(), digital in any::<u64>(), last in any::<u64>()) {
        let text = PLAIN
            .replace("3,2A,1D", &format!("3,{analog}A,{digital}D"))
            .replace("1000,4", &format!("1000,{last}"));
        if let Ok(record) = read(text.as_bytes(), ROWS, Mode::Tolerant) {
            prop_assert!(record.channels.len() < 20);
        }
    }
}
