//! A sheet as the text of a table: values separated by commas, one line for each row.

use std::fmt::Write;

use calamine::{DataRef, ExcelDateTime};

use super::super::{FilePlace, Findings, ReadError};

/// The rectangle of a sheet that has cells; rows and columns from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SheetExtent {
    last_row: u32,
    first_column: u32,
    last_column: u32,
}

impl SheetExtent {
    pub(super) fn of((row, column): (u32, u32)) -> Self {
        Self {
            last_row: row,
            first_column: column,
            last_column: column,
        }
    }

    pub(super) fn with(self, (row, column): (u32, u32)) -> Self {
        Self {
            last_row: self.last_row.max(row),
            first_column: self.first_column.min(column),
            last_column: self.last_column.max(column),
        }
    }

    fn n_columns(self) -> u64 {
        u64::from(self.last_column - self.first_column) + 1
    }

    /// Whether there are rows and columns.
    pub(super) fn is_table(self) -> bool {
        self.last_row > 0 && self.last_column > self.first_column
    }

    /// Refuses a sheet of more cells than a file of this size is given memory for: eight bytes and a comma each.
    pub(super) fn check(self, n_bytes: u64, findings: &Findings) -> Result<(), ReadError> {
        let n_rows = u64::from(self.last_row) + 1;
        let n_cells = n_rows.saturating_mul(self.n_columns());
        let most = n_bytes / 4 + (3 << 20);
        match n_cells <= most {
            true => Ok(()),
            false => {
                let found = format!("{n_rows} rows of {} columns", self.n_columns());
                let expected =
                    format!("at most {most} cells in a file of {n_bytes} bytes; save it as CSV");
                Err(findings.refusal(FilePlace::Line(n_rows as usize), "sheet", found, expected))
            }
        }
    }
}

/// The text of a sheet while it grows.
pub(super) struct SheetText {
    extent: SheetExtent,
    text: String,
    /// Bytes that values may take.
    room: usize,
    row: u32,
    /// Fields of the row so far.
    n_fields: u64,
    field: String,
}

impl SheetText {
    pub(super) fn new(extent: SheetExtent, n_bytes: u64) -> Self {
        let room = n_bytes.saturating_mul(3).saturating_add(16 << 20);
        Self {
            extent,
            text: String::new(),
            room: usize::try_from(room).unwrap_or(usize::MAX),
            row: 0,
            n_fields: 0,
            field: String::new(),
        }
    }

    /// Adds a cell; cells come row by row.
    pub(super) fn put(
        &mut self,
        (row, column): (u32, u32),
        value: &DataRef<'_>,
        findings: &Findings,
    ) -> Result<(), ReadError> {
        let place = FilePlace::Line(row as usize + 1);
        let field = u64::from(column - self.extent.first_column);
        if row < self.row || (row == self.row && field < self.n_fields) {
            let found = format!("column {} out of order", column + 1);
            return Err(findings.refusal(place, "cell", found, "cells from left to right"));
        }
        while self.row < row {
            self.end_row();
        }
        // Each field but the first follows a comma.
        while self.n_fields <= field {
            if self.n_fields > 0 {
                self.text.push(',');
            }
            self.n_fields += 1;
        }
        self.field.clear();
        write_value(value, &mut self.field);
        self.room = match self.room.checked_sub(2 * self.field.len()) {
            Some(room) => room,
            None => {
                let expected = "texts that are not much longer than the file; save it as CSV";
                return Err(findings.refusal(place, "sheet", "too much text", expected));
            }
        };
        push_quoted(&self.field, &mut self.text);
        Ok(())
    }

    fn end_row(&mut self) {
        // Nothing but a line end for a row without cells.
        if self.n_fields > 0 {
            while self.n_fields < self.extent.n_columns() {
                self.text.push(',');
                self.n_fields += 1;
            }
        }
        self.text.push('\n');
        self.row += 1;
        self.n_fields = 0;
    }

    pub(super) fn finish(mut self) -> String {
        self.end_row();
        self.text
    }
}

/// A field in quotes where it needs them; line ends in it become spaces, so that lines are rows.
fn push_quoted(field: &str, out: &mut String) {
    let is_end = |c: char| matches!(c, '\n' | '\r');
    if !field.contains(|c: char| matches!(c, ',' | '"') || is_end(c)) {
        out.push_str(field);
        return;
    }
    out.push('"');
    for c in field.chars() {
        match c {
            '"' => out.push_str("\"\""),
            c if is_end(c) => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn write_value(value: &DataRef<'_>, out: &mut String) {
    match value {
        DataRef::Int(value) => push(out, value),
        DataRef::Float(value) => push_number(*value, out),
        DataRef::String(text) => out.push_str(text),
        DataRef::SharedString(text) => out.push_str(text),
        DataRef::Bool(value) => push(out, value),
        DataRef::DateTime(moment) => push_moment(moment, out),
        DataRef::DateTimeIso(text) => out.push_str(text),
        DataRef::DurationIso(text) => match duration_s(text) {
            Some(seconds) if seconds < DAY_S => push_clock((seconds * 1000.0).round() as u64, out),
            Some(seconds) => push_number(seconds, out),
            None => out.push_str(text),
        },
        DataRef::Error(error) => push(out, error),
        DataRef::Empty => {}
    }
}

fn push(out: &mut String, value: impl std::fmt::Display) {
    // A string takes everything.
    let _written = write!(out, "{value}");
}

/// A number that can be read in one way only: `1.234` gets a fourth decimal, because it could be grouped.
fn push_number(value: f64, out: &mut String) {
    let is_usual = value == 0.0 || (1e-5..1e15).contains(&value.abs());
    let text = match is_usual {
        true => format!("{value}"),
        false => format!("{value:e}"),
    };
    let (mantissa, exponent) = match text.find('e') {
        Some(at) => text.split_at(at),
        None => (text.as_str(), ""),
    };
    out.push_str(mantissa);
    if mantissa
        .rsplit_once('.')
        .is_some_and(|(_, decimals)| decimals.len() == 3)
    {
        out.push('0');
    }
    out.push_str(exponent);
}

const DAY_S: f64 = 86_400.0;

/// A date with its time, a time of day, or the seconds of a duration.
fn push_moment(moment: &ExcelDateTime, out: &mut String) {
    let days = moment.as_f64();
    if moment.is_duration() {
        return push_number((days * DAY_S * 1e3).round() / 1e3, out);
    }
    if (0.0..1.0).contains(&days) {
        return push_clock((days * DAY_S * 1e3).round() as u64, out);
    }
    let (year, month, day, hour, minute, second, milli) = moment.to_ymd_hms_milli();
    push(out, format_args!("{year:04}-{month:02}-{day:02}"));
    if (hour, minute, second, milli) != (0, 0, 0, 0) {
        push(
            out,
            format_args!(" {hour:02}:{minute:02}:{second:02}.{milli:03}"),
        );
    }
}

fn push_clock(milliseconds: u64, out: &mut String) {
    let (seconds, milli) = (milliseconds / 1000, milliseconds % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    push(
        out,
        format_args!("{hour:02}:{minute:02}:{second:02}.{milli:03}"),
    );
}

/// The seconds of `PT12H30M15.5S`.
fn duration_s(text: &str) -> Option<f64> {
    let mut rest = text.strip_prefix("PT")?;
    let mut seconds = 0.0;
    for (unit, factor) in [('H', 3600.0), ('M', 60.0), ('S', 1.0)] {
        if let Some((number, after)) = rest.split_once(unit) {
            seconds += factor * number.replace(',', ".").parse::<f64>().ok()?;
            rest = after;
        }
    }
    (rest.is_empty() && (0.0..1e12).contains(&seconds)).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use calamine::{CellErrorType, ExcelDateTimeType};
    use std::path::Path;

    fn findings() -> Findings {
        Findings::new(Path::new("a.xlsx"), Default::default())
    }

    #[test]
    fn values_are_written_so_that_they_can_be_read_in_one_way() {
        let moment = |days, kind| DataRef::DateTime(ExcelDateTime::new(days, kind, false));
        for (value, text) in [
            (DataRef::Float(1.234), "1.2340"),
            (DataRef::Float(-1.5), "-1.5"),
            (DataRef::Float(3.0), "3"),
            (DataRef::Float(1.234e300), "1.2340e300"),
            (DataRef::Bool(true), "true"),
            (DataRef::Error(CellErrorType::Div0), "#DIV/0!"),
            (
                moment(45943.5, ExcelDateTimeType::DateTime),
                "2025-10-13 12:00:00.000",
            ),
            (moment(45943.0, ExcelDateTimeType::DateTime), "2025-10-13"),
            (moment(0.5, ExcelDateTimeType::DateTime), "12:00:00.000"),
            (moment(1.5, ExcelDateTimeType::TimeDelta), "129600"),
            (DataRef::DurationIso("PT12H30M15.5S".into()), "12:30:15.500"),
            (DataRef::DurationIso("PT30H0M0S".into()), "108000"),
        ] {
            let mut out = String::new();
            write_value(&value, &mut out);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn rows_are_lines_and_as_long_as_the_widest() {
        let extent = [(1, 4), (3, 2)].map(SheetExtent::of);
        let extent = extent[0].with((3, 2));
        let mut text = SheetText::new(extent, 100);
        for (place, value) in [((1, 2), "a"), ((1, 4), "b,\"c\""), ((3, 2), "x\ny")] {
            let put = text.put(place, &DataRef::SharedString(value), &findings());
            put.expect("in order");
        }
        let back = text.put((2, 2), &DataRef::Int(1), &findings());
        assert!(back.is_err(), "a row that is over");
        assert_eq!(text.finish(), "\na,,\"b,\"\"c\"\"\"\n\n\"x y\",,\n");
    }

    #[test]
    fn a_sheet_of_two_cells_far_apart_takes_no_memory() {
        let extent = SheetExtent::of((0, 0)).with((1_048_575, 16_383));
        let refused = extent.check(10_000, &findings()).expect_err("too large");
        assert!(refused.to_string().contains("1048576 rows"), "{refused}");
        assert!(
            SheetExtent::of((99_999, 9))
                .check(10_000, &findings())
                .is_ok()
        );
    }
}
