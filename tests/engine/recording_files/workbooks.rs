//! Sheets of Excel and OpenDocument files, whole and hostile.

use super::made_workbook::{excel, open_document, small_excel, small_open_document};
use atomscope_engine::records::{
    ChannelKind, Format, Input, Mode, ReadError, ReadOptions, Record, read,
};

fn opened(bytes: &[u8], sheet: Option<&str>, mode: Mode) -> Result<Record, ReadError> {
    let options = ReadOptions {
        array: sheet.map(str::to_owned),
        ..mode.into()
    };
    // The content tells what it is.
    read(&Input::from_bytes("table.csv", bytes), &options)
}

fn column(record: &Record, name: &str) -> Vec<String> {
    let number = record.channel_index(name).expect("a column");
    let values = record.read_channel(number).expect("values");
    values.iter().map(|value| value.to_string()).collect()
}

#[test]
fn a_sheet_is_a_table_with_the_types_of_its_cells() {
    for deflated in [false, true] {
        let record = opened(&small_excel(deflated), None, Mode::Tolerant).expect("a workbook");
        assert_eq!(record.format, Format::Excel);
        assert_eq!(record.sheets, ["Data", "Empty", "More"]);
        assert_eq!(column(&record, "U [kV]"), ["1.234", "NaN", "2"]);
        assert_eq!(record.channels[0].unit.symbol, "kV");
        assert_eq!(column(&record, "when")[0], "1760313600");
        assert_eq!(record.channels[1].kind, ChannelKind::Time);
        assert_eq!(column(&record, "trip"), ["1", "0", "NaN"]);
        let levels = match &record.channels[3].kind {
            ChannelKind::Nominal { levels } => levels.to_vec(),
            other => panic!("{other:?}"),
        };
        assert_eq!(levels, ["a & b, c", "ok"]);
        let warnings: Vec<String> = record.warnings.iter().map(ToString::to_string).collect();
        let told = |what: &str| warnings.iter().any(|text| text.contains(what));
        assert!(
            told("--sheet") && told("#DIV/0!") && told("line 5"),
            "{warnings:?}"
        );
    }
    let more = opened(&small_excel(true), Some("more"), Mode::Strict).expect("one number");
    assert_eq!(more.channels.len(), 1);
    let refused = opened(&small_excel(true), None, Mode::Strict).expect_err("two sheets");
    assert!(refused.to_string().contains("Data, More"), "{refused}");
    let missing = opened(&small_excel(true), Some("Sheet9"), Mode::Tolerant);
    assert!(missing.expect_err("none").to_string().contains("More"));
}

#[test]
fn formulas_whose_values_were_not_stored_are_told() {
    let row = |row: u32, formula: &str| {
        format!(
            "<row r=\"{row}\"><c r=\"A{row}\"><v>{row}</v></c><c r=\"B{row}\">{formula}</c></row>"
        )
    };
    let sheet = |formula: &str| (1..5).map(|r| row(r, formula)).collect::<String>();
    let read = |formula: &str| {
        let bytes = excel(&[("Data", &sheet(formula))], "<sst/>", true);
        opened(&bytes, None, Mode::Tolerant).expect("a workbook")
    };
    for bare in ["<f>A1*2</f><v></v>", "<f>A1*2</f><v/>", "<f>A1*2</f>"] {
        let warnings = read(bare).warnings;
        let told: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        let says = "4 formulas without a value, the first in B1";
        assert!(told.iter().any(|text| text.contains(says)), "{told:?}");
    }
    assert_eq!(read("<f>A1*2</f><v>2</v>").warnings, []);
    let cell = |rest: &str| format!("<table:table-cell {rest}/>");
    let value = cell("office:value-type=\"float\" office:value=\"1\"");
    let bare = cell("table:formula=\"of:=1+1\"");
    let rows = format!("<table:table-row>{value}{bare}</table:table-row>").repeat(3);
    let table = format!("<table:table table:name=\"a\">{rows}</table:table>");
    let record = opened(&open_document(&table, true), None, Mode::Tolerant).expect("a sheet");
    let told = record.warnings.iter().map(ToString::to_string);
    assert_eq!(
        told.filter(|text| text.contains("3 formulas without a value"))
            .count(),
        1
    );
}

#[test]
fn an_open_document_sheet_is_a_table_too() {
    let record = opened(&small_open_document(true), None, Mode::Tolerant).expect("a spreadsheet");
    assert_eq!(record.format, Format::OpenDocument);
    assert_eq!(column(&record, "x"), ["1.5", "1.5", "3"]);
    assert_eq!(column(&record, "y"), ["1.5", "1.5", "NaN"]);
    assert_eq!(column(&record, "when")[2], "1706659200");
    assert_eq!(column(&record, "class"), ["0", "0", "1"]);
}

#[test]
fn workbooks_that_promise_too_much_are_refused_before_memory_is_taken() {
    let one = "<row r=\"1\"><c r=\"A1\"><v>1</v></c></row>";
    let far = "<row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row>";
    let no_strings = "<sst/>";
    let many = "<sst uniqueCount=\"88888888888888\"/>";
    let bomb = format!("<row r=\"1\">{}</row>", " ".repeat(100 << 20));
    let rows = "<row><c><v>1</v></c></row>".repeat(6 << 20);
    let cell = "<table:table-cell table:number-columns-repeated=\"16384\" office:value=\"1\"/>";
    let wide = format!("<table:table-row>{cell}</table:table-row>").repeat(200);
    let sheet = |rows: &str| format!("<table:table table:name=\"t\">{rows}</table:table>");
    let cut = "<table:table table:name=\"t\"><table:table-row><table:table-cell office:value-type=\"string\"><office:annotation>";
    for (what, bytes, reason) in [
        (
            "far",
            excel(&[("a", far)], no_strings, true),
            "save it as CSV",
        ),
        (
            "strings",
            excel(&[("a", one)], many, true),
            "88888888888888 strings",
        ),
        (
            "spaces",
            excel(&[("a", &bomb)], no_strings, true),
            "million bytes",
        ),
        (
            "rows",
            excel(&[("a", &rows)], no_strings, true),
            "when unpacked",
        ),
        (
            "wide",
            open_document(&sheet(&wide), true),
            "cells that take",
        ),
        ("cut", open_document(cut, true), "not opened"),
    ] {
        assert!(bytes.len() < 2 << 20, "{what} is small");
        let refused = opened(&bytes, None, Mode::Tolerant).expect_err(what);
        assert!(refused.to_string().contains(reason), "{what}: {refused}");
    }
}
