//! Tables and arrays: made by hand, and those of the data folder with their facts.

use std::path::PathBuf;

use atomscope_engine::records::table::DecimalSign;
use atomscope_engine::records::{
    self, ChannelKind, Format, Input, Kind, Mode, ReadError, ReadOptions, Record,
};
use proptest::prelude::*;

use super::recording_files::made_numpy::{npy, zip};

fn read(name: &str, bytes: &[u8]) -> Result<Record, ReadError> {
    records::read(&Input::from_bytes(name, bytes), &ReadOptions::default())
}

fn table(name: &str, text: &str) -> Record {
    read(name, text.as_bytes()).expect("readable")
}

fn values(record: &Record, channel: usize) -> Vec<f64> {
    record.read_channel(channel).expect("samples are readable")
}

fn names(record: &Record) -> Vec<&str> {
    record.channels.iter().map(|c| c.name.as_str()).collect()
}

fn levels(record: &Record, channel: usize) -> Vec<String> {
    match &record.channels[channel].kind {
        ChannelKind::Nominal { levels } => levels.to_vec(),
        other => panic!("nominal, not {other:?}"),
    }
}

/// NaN equals NaN.
#[track_caller]
fn same(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!(
            a == b || (a.is_nan() && b.is_nan()),
            "{found:?} {expected:?}"
        );
    }
}

#[test]
fn a_table_has_named_columns_units_and_classes() {
    let record = table(
        "a.csv",
        "Ua(V), class ,n\r\n1.5,ok,1\r\n,fault,2\r\n-2e3,ok,\r\n",
    );
    assert_eq!((record.format, record.kind), (Format::Csv, Kind::Table));
    assert_eq!(names(&record), ["Ua(V)", "class", "n"]);
    assert_eq!(record.channels[0].unit.symbol, "V");
    assert_eq!(record.channels[0].rate_hz, None);
    same(&values(&record, 0), &[1.5, f64::NAN, -2000.0]);
    same(&values(&record, 1), &[0.0, 1.0, 0.0]);
    assert_eq!(levels(&record, 1), ["ok", "fault"]);
    same(&values(&record, 2), &[1.0, 2.0, f64::NAN]);
    assert_eq!(record.warnings, []);
}

#[test]
fn quoted_fields_keep_separators_and_line_ends() {
    let record = table("a.csv", "\"a,b\",c\n1,\"x\ny\"\n2,\"say \"\"z\"\"\"\n");
    assert_eq!(names(&record), ["a,b", "c"]);
    assert_eq!(levels(&record, 1), ["x\ny", "say \"z\""]);
}

#[test]
fn decimal_commas_and_thousands_are_read() {
    let record = table("a.csv", "t;x\n0,1;1.234,5\n0,2;-7\n");
    same(&values(&record, 0), &[0.1, 0.2]);
    same(&values(&record, 1), &[1234.5, -7.0]);
    let record = table("a.tsv", "t\tx\n0,1\t1\n0,2\t-7\n");
    assert_eq!(record.format, Format::Tsv);
    same(&values(&record, 0), &[0.1, 0.2]);
}

/// The texts of the warnings.
fn told(record: &Record) -> Vec<String> {
    record.warnings.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn refused_when_strict(text: &str) -> String {
    let input = Input::from_bytes("a.csv", text.as_bytes());
    let refused = records::read(&input, &Mode::Strict.into());
    refused.expect_err("an assumption is refused").to_string()
}

#[test]
fn rows_that_begin_with_the_error_of_a_spreadsheet_are_rows() {
    let text = "# made by hand\na,b\n#DIV/0!,1\n#N/A,2\n#NV,3\n4,5\n# a remark\n#6,7\n";
    let record = table("a.csv", text);
    same(&values(&record, 1), &[1.0, 2.0, 3.0, 5.0, 7.0]);
    assert_eq!(record.channels[0].n_samples, 5);
    let told = told(&record);
    assert!(
        told.iter().any(|t| t.starts_with("line 3: column \"a\"")),
        "{told:?}"
    );
    assert!(
        told.iter()
            .any(|t| t.starts_with("line 7") && t.contains("remarks")),
        "{told:?}"
    );
    assert!(
        refused_when_strict(text).contains("line 7"),
        "the remark comes first"
    );
}

#[test]
fn a_table_without_values_and_a_note_that_looks_like_a_row_are_told() {
    for (text, found) in [
        ("value\n\n\n\n\n", "without a row"),
        ("value\nNA\nNA\nNA\n", "without a value"),
    ] {
        let told = told(&table("a.csv", text));
        assert!(told.iter().any(|t| t.contains(found)), "{told:?}");
        assert!(refused_when_strict(text).contains("table is without"));
    }
    let rows = "x,1\ny,2\n".repeat(5);
    let noted = told(&table("a.csv", &format!("class,a\n{rows}Source: lab 4,\n")));
    assert_eq!(noted.len(), 1, "{noted:?}");
    assert!(noted[0].starts_with("line 12: column \"class\" is \"Source: lab 4\""));
    let words = "open\nclosed\n".repeat(5);
    let noted = told(&table("a.csv", &format!("class\n{words}Total 10\n")));
    assert!(noted[0].contains("Total 10"), "{noted:?}");
    let plain = table("a.csv", &format!("class,a\n{rows}"));
    assert_eq!(plain.warnings, []);
}

#[test]
fn one_value_in_each_row_becomes_one_sample_in_each_row() {
    let text = ",id,channel,value,class\n0,1,C3,1.5,left\n1,1,C4,2.5,left\n2,2,C3,3.5,right\n3,2,C4,,right\n\
        4,3,C3,5.5,left\n5,3,C4,6.5,left\n";
    let record = table("a.csv", text);
    assert_eq!(names(&record), ["id", "C3", "C4", "class"]);
    same(&values(&record, 1), &[1.5, 3.5, 5.5]);
    same(&values(&record, 2), &[2.5, f64::NAN, 6.5]);
    assert_eq!(levels(&record, 3), ["left", "right"]);
    let told = told(&record);
    assert!(
        told.iter().any(|t| t.contains("put together to 3 rows")),
        "{told:?}"
    );
    refused_when_strict(text);
    for text in [
        // Twice the same quantity of a sample.
        "id,channel,value\n1,C3,1\n1,C3,2\n2,C3,3\n2,C4,4\n",
        // Rows that are samples of their own.
        "id,channel,value\n1,C3,1\n2,C4,2\n3,C3,3\n4,C4,4\n",
    ] {
        assert_eq!(names(&table("a.csv", text)), ["id", "channel", "value"]);
    }
}

#[test]
fn what_spaces_and_lines_leave_open_is_right_or_told() {
    let narrow = table("a.txt", "a b\n1\u{202f}000 x\n2\u{202f}000 y\n");
    same(&values(&narrow, 0), &[1000.0, 2000.0]);
    let empty = told(&table("a.csv", "x\n1\n\n3\n"));
    assert!(empty[0].starts_with("line 3: line is empty"), "{empty:?}");
    let dates = table(
        "a.csv",
        "when,day\n20240131,\"Feb 1, 2024\"\n20240201,3 Feb 2024\n20240202,4 Feb 2024\n",
    );
    assert!(dates.channels.iter().all(|c| c.kind == ChannelKind::Time));
    assert_eq!(values(&dates, 0)[1], values(&dates, 1)[0]);
}

#[test]
fn none_is_a_class_and_sodium_an_element() {
    let record = table("a.csv", "x,fault,salt\n1,none,Na\n.,SLG,K\n3,<NA>,NA\n");
    assert_eq!(levels(&record, 1), ["none", "SLG"]);
    assert_eq!(levels(&record, 2), ["Na", "K"]);
    same(&values(&record, 0), &[1.0, f64::NAN, 3.0]);
    let told = told(&record);
    assert!(
        told.iter().any(|t| t.contains("it was taken for a name")),
        "{told:?}"
    );
}

#[test]
fn thousands_and_decimals_are_told_apart_by_the_whole_column() {
    let english = table("a.csv", "a,b\n\"1,234.5\",1\n\"2,000\",2\n");
    same(&values(&english, 0), &[1234.5, 2000.0]);
    let spaced = table("a.csv", "a;b\n1 000,5;1\n2 000;2\n");
    same(&values(&spaced, 0), &[1000.5, 2000.0]);
    let german = table("a.csv", "a;b\n1.234,5;1\n2.000;2\n");
    same(&values(&german, 0), &[1234.5, 2000.0]);
    let swiss = table("a.csv", "a;b\n1'234.5;1\n2'000;2\n");
    same(&values(&swiss, 0), &[1234.5, 2000.0]);
    for record in [english, spaced, german, swiss] {
        assert_eq!((told(&record), record.undecided), (vec![], vec![]));
    }
    // Three digits after a point are a fraction, unless another column has decimal commas.
    let plain = table("a.csv", "a,b\n1.234,1\n5.678,2\n");
    same(&values(&plain, 0), &[1.234, 5.678]);
    assert_eq!((told(&plain), plain.undecided), (vec![], vec![]));
    // Where semicolons separate, points may as well group thousands: nobody but the user knows.
    let open = table("a.csv", "a;b\n1.234;1\n5.678;2\n");
    same(&values(&open, 0), &[1.234, 5.678]);
    assert_eq!(open.undecided, ["a"]);
    assert!(told(&open)[0].contains("--decimal"), "{:?}", told(&open));
    let grouped = table("a.csv", "a;b\n1.234;1,5\n5.678;2\n");
    same(&values(&grouped, 0), &[1234.0, 5678.0]);
    assert!(
        told(&grouped)[0].contains("group thousands"),
        "{:?}",
        told(&grouped)
    );
}

#[test]
fn a_column_that_can_be_read_in_two_ways_is_named_and_asked() {
    let text = "a;b\n1,234;1\n5,678;2\n";
    let record = table("a.csv", text);
    assert_eq!(record.undecided, ["a"]);
    assert!(
        told(&record)[0].contains("--decimal"),
        "{:?}",
        told(&record)
    );
    for (decimal, expected) in [
        (DecimalSign::Comma, [1.234, 5.678]),
        (DecimalSign::Point, [1234.0, 5678.0]),
    ] {
        let options = ReadOptions {
            decimal: Some(decimal),
            ..Mode::Strict.into()
        };
        let input = Input::from_bytes("a.csv", text.as_bytes());
        let record = records::read(&input, &options).expect("nothing is assumed");
        same(&values(&record, 0), &expected);
        assert!(record.undecided.is_empty());
    }
}

#[test]
fn line_ends_separator_lines_marks_and_wide_characters_change_nothing() {
    let expected: [&[f64]; 2] = [&[1.5, 3.0], &[2.0, 4.0]];
    for text in [
        "a;b\n1,5;2\n3;4\n",
        "a;b\r1,5;2\r3;4\r",
        "a;b\r\n1,5;2\r3;4\n",
        "sep=;\r\na;b\r\n1,5;2\r\n3;4",
        "\u{feff}a;b\n1,5;2\n3;4\n",
    ] {
        let wide: Vec<u8> = std::iter::once(0xfeff)
            .chain(text.trim_start_matches('\u{feff}').encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        for bytes in [text.as_bytes(), &wide] {
            let input = Input::from_bytes("a.csv", bytes);
            let record = records::read(&input, &Mode::Strict.into()).expect("nothing is assumed");
            assert_eq!(names(&record), ["a", "b"], "{text:?}");
            same(&values(&record, 0), expected[0]);
            same(&values(&record, 1), expected[1]);
        }
    }
}

#[test]
fn percent_dates_truth_and_units_are_what_they_are() {
    let text = "when,at,share,trip,U [kV],name\n\
        2024-01-31 12:00:00,12:30:15.5,12.5 %,yes,1,a\n\
        2024-01-31 12:00:01,12:30:16,50%,no,2,b\n";
    let record = table("a.csv", text);
    assert_eq!(record.channels[0].kind, ChannelKind::Time);
    let when = values(&record, 0);
    assert_eq!(when[1] - when[0], 1.0);
    same(&values(&record, 1), &[45_015.5, 45_016.0]);
    assert_eq!(record.channels[2].unit.symbol, "%");
    same(&values(&record, 2), &[12.5, 50.0]);
    assert_eq!(levels(&record, 3), ["no", "yes"]);
    same(&values(&record, 3), &[1.0, 0.0]);
    // Large and small letters make no other truth, but another name.
    let mixed = table("a.csv", "x,y,z\n1,TRUE,a\n2,False,A\n3,true,b\n");
    assert_eq!(levels(&mixed, 1), ["False", "TRUE"]);
    same(&values(&mixed, 1), &[1.0, 0.0, 1.0]);
    assert_eq!(levels(&mixed, 2), ["a", "A", "b"]);
    assert_eq!(record.channels[4].unit.symbol, "kV");
    assert_eq!(
        told(&record).len(),
        2,
        "dates and times: {:?}",
        told(&record)
    );
    let unclear = table("a.csv", "d,x\n01/02/2024,1\n03/04/2024,2\n");
    assert!(matches!(
        unclear.channels[0].kind,
        ChannelKind::Nominal { .. }
    ));
    assert!(
        told(&unclear)[0].contains("day and month"),
        "{:?}",
        told(&unclear)
    );
}

#[test]
fn names_are_unique_and_quotes_that_stay_open_are_told() {
    let text = "a,,a\n1,2,3\n4,5,6\n";
    let record = table("a.csv", text);
    assert_eq!(names(&record), ["a", "column 2", "a (3)"]);
    assert_eq!(told(&record).len(), 2);
    assert!(refused_when_strict(text).contains("column 2"));
    let open = table("a.csv", "a,b\n1,x\n2,\"y\n3,z\n");
    assert!(
        told(&open).iter().any(|t| t.contains("quote")),
        "{:?}",
        told(&open)
    );
    let none = table("a.csv", "fault,x\nnone,1\nSLG,2\nLL,3\n");
    assert!(told(&none)[0].contains("\"none\""), "{:?}", told(&none));
}

#[test]
fn remarks_that_name_columns_ends_of_dos_and_numbers_too_large_are_told() {
    let named = table("a.csv", "# made by hand\n# t,x\n0,1.5\n1,2.5\n");
    assert_eq!(names(&named), ["t", "x"]);
    assert!(told(&named)[0].starts_with("line 2"), "{:?}", told(&named));
    let ended = table("a.csv", "a,b\n1,2\n3,4\n\u{1a}");
    same(&values(&ended, 0), &[1.0, 3.0]);
    assert_eq!(told(&ended), Vec::<String>::new());
    let rows: String = (0..40).map(|k| format!("{k},1\n")).collect();
    let large = table("a.csv", &format!("a,b\n{rows}1e400,1\n"));
    assert!(values(&large, 0)[40].is_nan());
    assert!(told(&large)[0].contains("1e400"), "{:?}", told(&large));
}

#[test]
fn columns_without_header_are_numbered() {
    let record = table("a.txt", "  1.0   2\n  3.5  -4\n");
    assert_eq!(record.format, Format::TextColumns);
    assert_eq!(names(&record), ["column 1", "column 2"]);
    same(&values(&record, 1), &[2.0, -4.0]);
}

#[test]
fn a_given_rate_makes_a_recording_of_a_table() {
    let options = ReadOptions {
        rate_hz: Some(173.61),
        ..ReadOptions::default()
    };
    let input = Input::from_bytes("Z001.txt", b"12\r\n22\r\n35\r\n".as_slice());
    let record = records::read(&input, &options).expect("readable");
    assert_eq!(record.kind, Kind::Recording);
    assert_eq!(record.channels[0].rate_hz, Some(173.61));
}

#[test]
fn ragged_rows_and_slips_are_told_and_refused_in_strict_mode() {
    let mut text = "a,b,c,d\n".to_owned();
    for i in 0..100 {
        text.push_str(&format!("{i},1,2,3\n"));
    }
    text.push_str("1,2,3\n1\n1,2,3,4,5\n9,oops,9,9\n");
    let record = table("a.csv", &text);
    assert_eq!(record.channels[0].n_samples, 103);
    assert!(values(&record, 3)[100].is_nan());
    assert!(values(&record, 1)[102].is_nan());
    assert_eq!(record.warnings.len(), 2, "{:?}", record.warnings);
    let strict = records::read(
        &Input::from_bytes("a.csv", text.as_bytes()),
        &Mode::Strict.into(),
    );
    let message = strict.expect_err("refused").to_string();
    assert!(message.contains("line 102"), "{message}");
}

#[test]
fn russian_and_chinese_headers_are_decoded() {
    for (encoding, name) in [
        (encoding_rs::WINDOWS_1251, "Напряжение фазы"),
        (encoding_rs::GBK, "母线电压"),
    ] {
        let text = format!("{name},b\n1,2\n");
        let (bytes, _, _) = encoding.encode(&text);
        let record = read("a.csv", &bytes).expect("readable");
        assert_eq!(record.channels[0].name, name);
        assert_eq!(record.warnings.len(), 1);
    }
}

#[test]
fn what_is_no_table_is_refused() {
    for bytes in [
        b"".as_slice(),
        b"\n\n\n",
        b"# only a remark\n",
        b"a\0b,c\n1,2\n",
    ] {
        assert!(read("a.csv", bytes).is_err(), "{bytes:?}");
    }
    assert!(read("a.bin", b"\x7fELF\x02\x01\x01\0\0\0").is_err());
}

#[test]
fn arff_attributes_keep_their_names_and_levels() {
    let text = "% remark\n@RELATION 'a b'\n@attribute 'two words' REAL\n\
        @attribute class {yes, 'not sure', \"no\"}\n@attribute note string\n@data\n\
        1.5, yes, 'it\\'s'\n% remark\n?, 'not sure', ?\n-2,no,x\n";
    let record = table("a.arff", text);
    assert_eq!((record.format, record.kind), (Format::Arff, Kind::Table));
    assert_eq!(names(&record), ["two words", "class", "note"]);
    same(&values(&record, 0), &[1.5, f64::NAN, -2.0]);
    same(&values(&record, 1), &[0.0, 1.0, 2.0]);
    assert_eq!(levels(&record, 1), ["yes", "not sure", "no"]);
    assert_eq!(levels(&record, 2), ["it's", "x"]);
    same(&values(&record, 2), &[0.0, f64::NAN, 1.0]);
}

#[test]
fn sparse_rows_are_filled_up() {
    let text = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute c integer\n\
        @data\n{0 5, 2 7}\n{1 y}\n{}\n";
    let record = table("a.arff", text);
    same(&values(&record, 0), &[5.0, 0.0, 0.0]);
    same(&values(&record, 1), &[0.0, 1.0, 0.0]);
    same(&values(&record, 2), &[7.0, 0.0, 0.0]);
}

#[test]
fn arff_faults_are_told_with_their_line() {
    let text = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n1,z\nq,x\n1\n";
    let record = table("a.arff", text);
    assert_eq!(record.channels[0].n_samples, 2);
    let told: Vec<String> = record.warnings.iter().map(ToString::to_string).collect();
    assert!(
        told[0].starts_with("line 5") && told[2].starts_with("line 7"),
        "{told:?}"
    );
    for broken in [
        "@relation r\n@attribute a numeric\n",
        "@relation r\n@data\n1\n",
        "@relation r\n@attribute a weird\n@data\n",
        "@relation r\n@attribute a relational\n@data\n",
        "@relation r\n@attribute when date\n@data\n2020-01-01\n",
    ] {
        assert!(read("a.arff", broken.as_bytes()).is_err(), "{broken}");
    }
}

/// The elements of an array of this shape in C order, each made from its indices.
fn elements<T>(shape: [usize; 3], element: impl Fn([usize; 3]) -> T) -> Vec<T> {
    let mut found = Vec::new();
    for i in 0..shape[0] {
        for j in 0..shape[1] {
            found.extend((0..shape[2]).map(|k| element([i, j, k])));
        }
    }
    found
}

#[test]
fn arrays_become_columns_along_their_shorter_side() {
    let tall = elements([1, 5, 2], |[_, i, j]| ((i * 10 + j) as f64).to_le_bytes()).concat();
    let wide = elements([1, 5, 2], |[_, j, i]| ((j * 10 + i) as f32).to_le_bytes()).concat();
    for bytes in [
        npy("<f8", "False", "(5, 2)", &tall),
        npy("<f4", "True", "(2, 5)", &wide),
    ] {
        let record = read("x.npy", &bytes).expect("readable");
        assert_eq!((record.format, record.kind), (Format::Npy, Kind::Table));
        assert_eq!(record.channels.len(), 2);
        same(&values(&record, 1), &[1.0, 11.0, 21.0, 31.0, 41.0]);
        assert_eq!(record.read(1, 2..4).expect("readable"), [21.0, 31.0]);
        assert_eq!(record.arrays[0].name, "x");
    }
    let half = [0x3c00_u16, 0xc000].map(u16::to_le_bytes).concat();
    let half = read("x.npy", &npy("<f2", "False", "(2,)", &half)).expect("readable");
    same(&values(&half, 0), &[1.0, -2.0]);
    let line = [3_i64, -4, 5].map(i64::to_le_bytes).concat();
    let line = read("x.npy", &npy("<i8", "False", "(3,)", &line)).expect("readable");
    same(&values(&line, 0), &[3.0, -4.0, 5.0]);
}

#[test]
fn arrays_of_three_axes_keep_their_order() {
    let cube = elements([2, 3, 4], |[i, j, k]| (i * 100 + j * 10 + k) as u8);
    let turned = elements([4, 3, 2], |[k, j, i]| (i * 100 + j * 10 + k) as u8);
    for bytes in [
        npy("|u1", "False", "(2, 3, 4)", &cube),
        npy("|u1", "True", "(2, 3, 4)", &turned),
    ] {
        let record = read("cube.npy", &bytes).expect("readable");
        assert_eq!(record.kind, Kind::Arrays);
        let array = record.array("cube").expect("stored");
        assert_eq!(array.shape(), [2, 3, 4]);
        assert_eq!(array[[1, 2, 3]], 123.0);
        assert!(record.array("other").is_err());
    }
}

#[test]
fn archives_list_their_arrays_and_open_the_chosen_one() {
    let samples = elements([1, 4, 2], |[_, i, j]| ((i + j) as f64).to_le_bytes()).concat();
    let samples = npy("<f8", "False", "(4, 2)", &samples);
    let labels = npy("|u1", "False", "(2,)", &[1, 2]);
    let bytes = zip(&[("samples.npy", &samples), ("labels.npy", &labels)], true);
    let input = Input::from_bytes("a.npz", bytes);
    let record = records::read(&input, &ReadOptions::default()).expect("readable");
    assert_eq!(record.kind, Kind::Arrays);
    let shapes: Vec<_> = record
        .arrays
        .iter()
        .map(|a| (a.name.as_str(), &a.shape))
        .collect();
    assert_eq!(shapes, [("samples", &vec![4, 2]), ("labels", &vec![2])]);
    let options = ReadOptions {
        array: Some("samples".to_owned()),
        ..ReadOptions::default()
    };
    let record = records::read(&input, &options).expect("readable");
    same(&values(&record, 1), &[1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn arrays_larger_than_their_file_are_refused_at_once() {
    let head = |shape: &str| {
        let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.bytes());
        bytes
    };
    for shape in [
        "(4,)",
        "(4294967296, 4294967296)",
        "(18446744073709551615, 8, 0)",
    ] {
        let error = read("x.npy", &head(shape))
            .expect_err("refused")
            .to_string();
        assert!(error.contains("data length"), "{error}");
    }
    for shape in ["4", "(a,)", "(-1,)"] {
        let error = read("x.npy", &head(shape))
            .expect_err("refused")
            .to_string();
        assert!(error.contains("shape"), "{error}");
    }
}

/// The folder of real tables, if the environment names one.
fn data_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("ATOMSCOPE_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: ATOMSCOPE_DATA does not name a folder of real files");
    }
    folder
}

fn open(folder: &std::path::Path, name: &str) -> Record {
    records::open(&folder.join(name), Mode::Tolerant)
        .unwrap_or_else(|error| panic!("{name} is readable, but: {error}"))
}

#[test]
fn fault_tables_have_the_rows_and_values_of_their_facts() {
    let Some(folder) = data_folder() else { return };
    let facts = [
        ("sgah/1-data.csv", 6, 50_100, [16.342, -72.911]),
        ("sgah/2-data.csv", 6, 7_000, [-24.401, 82.551]),
        ("sgah/3-data.csv", 6, 34_200, [-37.069, 1.2255]),
        ("sgah/4-data.csv", 6, 32_000, [-81.602, 23.331]),
        ("sgah/5-data.csv", 6, 49_700, [77.336, -76.541]),
        ("kaggle-efdc/classData.csv", 10, 7_861, [1.0, 1.0]),
        ("kaggle-efdc/detect_dataset.csv", 9, 12_001, [0.0, 0.0]),
    ];
    for (name, n_columns, n_rows, first) in facts {
        let record = open(&folder, &format!("faults/{name}"));
        assert_eq!(record.channels.len(), n_columns, "{name}");
        assert_eq!(record.channels[0].n_samples, n_rows, "{name}");
        assert_eq!(record.warnings, [], "{name}");
        same(&values(&record, 0)[..2], &first);
    }
    let detect = open(&folder, "faults/kaggle-efdc/detect_dataset.csv");
    let ones = values(&detect, 0).iter().filter(|v| **v == 1.0).count();
    assert_eq!(ones, 5496);
    let n_missing: usize = (0..9)
        .map(|c| values(&detect, c).iter().filter(|v| v.is_nan()).count())
        .sum();
    assert_eq!(n_missing, 24_002);
    assert_eq!(names(&open(&folder, "faults/sgah/1-data.csv"))[3], "Ia(A)");
}

#[test]
fn arff_files_have_the_rows_of_their_facts() {
    let Some(folder) = data_folder() else { return };
    let facts = [
        ("arff/iris.arff", 150, 5),
        ("arff/missing.arff", 3, 2),
        ("arff/nodata.arff", 0, 5),
        ("arff/test1.arff", 1, 5),
        ("arff/test5.arff", 3, 5),
        ("arff/quoted_nominal.arff", 6, 2),
        ("eeg-tables/EEG_Eye_State.arff", 14_980, 15),
    ];
    for (name, n_rows, n_columns) in facts {
        let record = open(&folder, name);
        assert_eq!(record.channels.len(), n_columns, "{name}");
        assert_eq!(record.channels[0].n_samples, n_rows, "{name}");
        assert_eq!(record.warnings, [], "{name}");
    }
    let eyes = open(&folder, "eeg-tables/EEG_Eye_State.arff");
    let closed = values(&eyes, 14).iter().filter(|v| **v == 1.0).count();
    assert_eq!(closed, 6723);
    let first: Vec<f64> = (0..3).map(|c| values(&eyes, c)[0]).collect();
    same(&first, &[4329.23, 4009.23, 4289.23]);
    let smoker = open(&folder, "arff/quoted_nominal.arff");
    assert_eq!(levels(&smoker, 1), ["yes", "no"]);
}

#[test]
fn all_segments_of_the_epilepsy_sets_have_4097_values() {
    let Some(folder) = data_folder() else { return };
    let mut n_files = 0;
    for set in ["Z", "O", "N", "F", "S"] {
        let entries = std::fs::read_dir(folder.join("bonn").join(set)).expect("the set is there");
        for entry in entries {
            let path = entry.expect("listed").path();
            let record = records::open(&path, Mode::Strict).expect("readable");
            assert_eq!(record.format, Format::TextColumns);
            assert_eq!(record.channels.len(), 1);
            assert_eq!(record.channels[0].n_samples, 4097);
            assert_eq!(record.channels[0].rate_hz, None);
            n_files += 1;
        }
    }
    assert_eq!(n_files, 250);
    same(
        &values(&open(&folder, "bonn/S/S001.txt"), 0)[..4],
        &[100.0, 124.0, 153.0, 185.0],
    );
    same(
        &values(&open(&folder, "bonn/N/N001.TXT"), 0)[..4],
        &[-42.0, -39.0, -35.0, -35.0],
    );
}

/// How many warnings name a text.
fn n_told(record: &Record, text: &str) -> usize {
    let warnings = record.warnings.iter().map(ToString::to_string);
    warnings.filter(|warning| warning.contains(text)).count()
}

#[test]
fn separators_at_the_ends_of_all_lines_make_no_column() {
    for text in [
        "a,b,\n1,2,\n3,4,\n",
        "1;2;\n3;4;\n",
        "a\tb\t\n# x\t2\t\n3\t4\t\n",
    ] {
        let record = table("a.csv", text);
        assert_eq!(record.channels.len(), 2, "{text}");
        assert_eq!(values(&record, 1).len(), 2, "{text}");
        assert_eq!(record.warnings, [], "{text}");
    }
    let named = table("a.csv", "a,b\n1,\n3,\n");
    assert_eq!(names(&named), ["a", "b"], "a column with a name is one");
}

#[test]
fn what_stands_around_a_table_is_no_row_of_it() {
    let settings = "Serial|12\nStart time|12:30:05\nFilter|50|Hz\n[DATA]\nw|class\n1.5|a\n2.5|b\n3.5|a\n4.5|b\n5.5|a\n6.5|b\n";
    let record = table("a.csv", settings);
    assert_eq!(names(&record), ["w", "class"]);
    assert_eq!(levels(&record, 1), ["a", "b"]);
    assert_eq!(n_told(&record, "4 lines above the table"), 1);
    for text in [
        "a b\n1 2\n3 4\n5 6\nSource: own measurements\n",
        "a,b\n1,2\n3,4\n5,6\n\nSource: own\n",
        "a\n2\n4\n6\nn = 3\n",
    ] {
        let record = table("a.txt", text);
        let last = record.channels.len() - 1;
        same(&values(&record, last), &[2.0, 4.0, 6.0]);
        assert_eq!(record.warnings.len(), 1, "{text} {:?}", record.warnings);
    }
    // A word in one of the columns is no note.
    let slip = table("a.csv", "a,b\n1,2\n3,4\n5,6\nbad,8\n");
    assert_eq!(values(&slip, 1).len(), 4);
}

#[test]
fn a_header_that_stands_again_among_the_rows_is_skipped_and_told() {
    let record = table("a.csv", "a,class\n1,x\n2,y\na,class\n3,x\n4,y\n");
    same(&values(&record, 0), &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(levels(&record, 1), ["x", "y"]);
    assert_eq!(n_told(&record, "the header again"), 1);
}

#[test]
fn numbers_with_something_around_them_are_told_and_those_of_fortran_are_read() {
    for fields in [
        "1.5 kV,2.5 kV,0.3 kV",
        "$1.5,$2,$0.3",
        "(1.5),2,3",
        "1.5-,2.0-,3.1",
        "0x1F,0x2A,0xFF",
    ] {
        let text = format!("class,x\na,{}\n", fields.replace(',', "\nb,"));
        let record = table("a.csv", &text);
        assert_eq!(
            n_told(&record, "column \"x\""),
            1,
            "{text} {:?}",
            record.warnings
        );
    }
    let classes = table(
        "a.csv",
        "x,f\n1,10 Hz\n2,20 Hz\n3,10 Hz\n4,20 Hz\n5,10 Hz\n",
    );
    assert_eq!(classes.warnings, []);
    let fortran = table("a.txt", "x y\n1.5D+03 2\n-2.0D-01 3\n");
    same(&values(&fortran, 0), &[1500.0, -0.2]);
    let padded = table("a.csv", "code,x\n00123,1\n00456,2\n");
    assert_eq!(n_told(&padded, "column \"code\""), 1);
}

#[test]
fn words_for_what_was_not_measured_among_numbers_are_told() {
    for word in ["k.A.", "nd", "*", "unbekannt"] {
        let text = format!("x,class\n1.5,a\n{word},b\n2.5,a\n{word},b\n0.5,a\n{word},b\n");
        let record = table("a.csv", &text);
        let told = n_told(&record, "empty field where none was measured");
        assert_eq!(told, 1, "{text} {:?}", record.warnings);
    }
    // A class has few levels that come again; a code has many words.
    for class in [
        "x,class\n1,0\n2,u\n3,1\n4,0\n5,u\n6,u\n7,1\n8,u\n9,u\n",
        "x,id\n1,A1\n2,7\n3,B2\n4,8\n5,C3\n6,9\n7,D4\n",
    ] {
        assert_eq!(table("a.csv", class).warnings, [], "{class}");
    }
}

#[test]
fn the_name_of_a_single_column_is_doubted_where_it_may_be_a_title() {
    for text in [
        "Report of station 7\nopen\nshut\nopen\nshut\n",
        "Fault record 12\n1.5\n2.5\n3.5\n",
        "Messwerte\nstate\nopen\nshut\nopen\nshut\n",
    ] {
        let record = table("a.csv", text);
        assert_eq!(record.warnings.len(), 1, "{text} {:?}", record.warnings);
    }
    let plain = table("a.csv", "Time since start (s)\n1.5\n2.5\n3.5\n");
    assert_eq!(plain.warnings, []);
    let quoted = table("a.csv", "\"x\"\n\"1,5\"\n2,5\n\"NA\"\n");
    same(&values(&quoted, 0), &[1.5, 2.5, f64::NAN]);
    // What follows the name as a remark may be a value.
    let remark = table("a.csv", "type\n# hash\nplain\n");
    assert_eq!(n_told(&remark, "# hash"), 1);
}

#[test]
fn rows_that_may_be_a_header_and_dates_that_may_be_numbers_are_doubted() {
    let first = table("a.csv", ",y,2020\n1,yes,1\n2,yes,2\n3,no,1\n4,no,1\n");
    assert_eq!(n_told(&first, "values like those of the rows below"), 1);
    let dates = "d,x\n20240101,1\n20240102,2\n9999,3\n20240104,4\n20240105,5\n";
    assert_eq!(
        n_told(&table("a.csv", dates), "dates in all rows, or in none"),
        1
    );
    let units = table("a.csv", "t,x,k\ns,V,-\n1,2,3\n4,5,6\n");
    same(&values(&units, 2), &[3.0, 6.0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn numbers_survive_being_written_as_a_table(
        rows in proptest::collection::vec(proptest::collection::vec(any::<f32>(), 3), 2..20)
    ) {
        let mut text = "a;b;c\n".to_owned();
        for row in &rows {
            let fields: Vec<String> = row.iter().map(ToString::to_string).collect();
            text.push_str(&fields.join(";"));
            text.push('\n');
        }
        let record = table("a.csv", &text);
        prop_assert_eq!(record.channels.len(), 3);
        for column in 0..3 {
            let read = values(&record, column);
            for (value, row) in read.iter().zip(&rows) {
                let written = row[column];
                prop_assert!((*value as f32) == written || (value.is_nan() && written.is_nan()));
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}(\n\\PC{0,80}){0,6}") {
        for name in ["a.csv", "a.txt", "a.arff"] {
            if let Ok(record) = read(name, text.as_bytes()) {
                for channel in 0..record.channels.len() {
                    prop_assert!(record.read_channel(channel).is_ok());
                }
            }
        }
    }

    #[test]
    fn any_header_of_an_array_is_read_or_refused(
        header in "[ -~]{0,60}",
        version in 0_u8..4,
        data in proptest::collection::vec(any::<u8>(), 0..64),
    ) {
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(data);
        drop(read("x.npy", &bytes));
    }
}
