//! Text tables: CSV, TSV and plain columns of numbers, each column a channel.

mod column;
mod dialect;
mod margin;
mod melted;
mod moment;
mod number_form;
mod rows;
mod times;

use std::collections::HashSet;
use std::sync::Arc;

use super::text::{counted, quoted};
use super::text_encoding;
use super::{
    Channel, FilePlace, Findings, Format, Input, Kind, ReadError, ReadOptions, Record,
    SampleSource, Source, Unit,
};
pub(super) use column::NameColumn;
pub use column::are_truth_values;
use column::{ColumnDecision, ColumnTally, FileSigns, Form, TableColumn};
use dialect::{Dialect, counts_columns};
pub use number_form::DecimalSign;
use rows::{Separator, TableText, is_remark};
use times::rate_told;
pub use times::told_rate;
pub(crate) use times::{TIME_NAMES, base_name, plain_name, rate_of_times, seconds_in};

/// Most different texts of all nominal columns together.
///
/// A name in memory takes some fifty times its place in the file.
pub(super) const MAX_LEVELS: usize = 100_000;
/// Most different texts of one nominal column.
const MAX_LEVELS_PER_COLUMN: usize = 10_000;
/// Most columns; each takes some hundred bytes, and a comma in the file one.
pub(super) const MAX_COLUMNS: usize = 1 << 16;

/// Whether bytes are text made mostly of numbers and separators.
pub(super) fn is_likely(head: &[u8]) -> bool {
    let is_text = |b: &u8| matches!(b, b'\t' | b'\n' | b'\r' | 0x20..=0x7e | 0x80..);
    let is_plain = |b: &&u8| {
        matches!(
            **b,
            b'0'..=b'9' | b'+' | b'-' | b'.' | b',' | b';' | b' ' | b'\t' | b'\n' | b'\r'
        )
    };
    let n_plain = head.iter().filter(is_plain).count();
    !head.is_empty() && head.iter().all(is_text) && n_plain * 2 > head.len()
}

/// Whether bytes are a text with words, which samples written as text have not.
pub(super) fn has_words(head: &[u8]) -> bool {
    let decoded = text_encoding::decode(head);
    let is_control = |c: char| c.is_control() && !c.is_whitespace();
    let is_word = |word: &str| word.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let mut words = decoded.text.split(|c: char| !c.is_alphanumeric());
    !decoded.text.contains(is_control) && words.any(is_word)
}

/// Reads a table.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let mut findings = Findings::new(input.path(), options.mode);
    let bytes = input.bytes.read_all()?;
    let decoded = text_encoding::decode(&bytes);
    // A mark at the start says which encoding it is: nothing is assumed then.
    if !text_encoding::is_marked(&bytes) || decoded.malformed {
        decoded.report(&mut findings)?;
    }
    if let Some(at) = decoded.text.find('\0') {
        let place = FilePlace::Byte(at as u64);
        return Err(findings.refusal(place, "text", "a NUL character", "a table of text"));
    }
    let text = TableText::new(decoded.text);
    let (mut record, separator) = read_text(&text, input, options, findings)?;
    record.format = match (separator, input.extension().as_str()) {
        (Separator::Byte(_), "csv") if record.channels.len() == 1 => Format::Csv,
        (Separator::Byte(b'\t'), _) if record.channels.len() > 1 => Format::Tsv,
        (Separator::Byte(_), _) if record.channels.len() > 1 => Format::Csv,
        _ => Format::TextColumns,
    };
    Ok(record)
}

/// Reads the sheet of a workbook, written as text with commas.
pub(super) fn read_sheet(
    text: String,
    input: &Input,
    options: &ReadOptions,
    findings: Findings,
) -> Result<Record, ReadError> {
    let text = TableText::of_commas(text.into());
    read_text(&text, input, options, findings).map(|(record, _)| record)
}

/// The record of a text that is a table.
fn read_text(
    text: &TableText<'_>,
    input: &Input,
    options: &ReadOptions,
    mut findings: Findings,
) -> Result<(Record, Separator), ReadError> {
    for separator in [b'\t', b';', b'|', b','].map(Separator::Byte) {
        check_width(text, separator, &findings)?;
    }
    let detected = Dialect::detect(text, options.decimal);
    let Some(mut dialect) = detected.filter(|dialect| dialect.n_columns > 0) else {
        let expected = "rows of numbers or names";
        return Err(findings.refusal(FilePlace::Line(1), "table", "empty", expected));
    };
    check_width(text, dialect.separator, &findings)?;
    report_layout(text, &dialect, &mut findings)?;
    let body = Body {
        text,
        dialect: &dialect,
    };
    let mut tallies = body.tally(&mut findings)?;
    // A separator at the end of every line makes no column; several of them are empty columns of a spreadsheet.
    let n_used = tallies.iter().rposition(|tally| !tally.is_empty());
    let n_used = n_used.map_or(1, |last| last + 1).max(dialect.n_named());
    if n_used + 1 == tallies.len() {
        tallies.truncate(n_used);
    }
    dialect.n_columns = tallies.len();
    let body = Body {
        text,
        dialect: &dialect,
    };
    let mut names = column_names(&dialect, &tallies, &mut findings)?;
    let has_semicolons = dialect.separator == Separator::Byte(b';');
    let signs = FileSigns::of(&tallies, options.decimal, has_semicolons);
    let decisions: Vec<ColumnDecision> = tallies
        .iter()
        .map(|t| ColumnDecision::of(t, signs))
        .collect();
    let n_nominal = decisions.iter().filter(|d| d.form == Form::Names).count();
    let max_levels = (MAX_LEVELS / n_nominal.max(1)).clamp(2, MAX_LEVELS_PER_COLUMN);
    let column = |(decision, tally): (&ColumnDecision, &ColumnTally)| {
        TableColumn::new(decision.form, tally, max_levels)
    };
    let mut columns: Vec<TableColumn> = decisions.iter().zip(&tallies).map(column).collect();
    body.fill(&mut columns, &mut findings)?;
    let mut undecided = Vec::new();
    for (((name, column), tally), decision) in
        names.iter().zip(&columns).zip(&tallies).zip(&decisions)
    {
        decision.report(name, tally, column.n_levels(), &mut findings)?;
        column.report(name, &mut findings)?;
        if decision.is_undecided {
            undecided.push(name.clone());
        }
    }
    body.report_margin(&names, &columns, &mut findings)?;
    let kind = match options.rate_hz {
        Some(_) => Kind::Recording,
        None => Kind::Table,
    };
    if undecided.is_empty()
        && dialect.units.is_none()
        && let Some((wide, [quantity, value])) = melted::put_together(&names, &columns)
    {
        let field = format!("columns {} and {}", quoted(&quantity), quoted(&value));
        let found = counted(columns.first().map_or(0, TableColumn::len), "row");
        (names, columns) = wide;
        let n_rows = counted(columns.first().map_or(0, TableColumn::len), "row");
        let assumed = format!("put together to {n_rows}, with a column for each {quantity}");
        findings.breach(
            FilePlace::File,
            &field,
            found,
            "a row for each sample",
            assumed,
        )?;
    }
    let mut channels = channels(&names, &columns, &dialect, options);
    leave_out_time(&mut channels, &mut columns, options, &mut findings)?;
    let source = Source::new(input.path(), input.bytes.len());
    let samples = Arc::new(TableSamples { columns });
    let mut record = Record::new(Format::Csv, kind, source, channels, samples);
    record.warnings = findings.into_warnings();
    record.undecided = undecided;
    Ok((record, dialect.separator))
}

/// Of a recording the column with the time of the rows is no channel.
fn leave_out_time(
    channels: &mut Vec<Channel>,
    columns: &mut Vec<TableColumn>,
    options: &ReadOptions,
    findings: &mut Findings,
) -> Result<(), ReadError> {
    let Some(rate_hz) = options.rate_hz.filter(|_| channels.len() > 1) else {
        return Ok(());
    };
    let told = channels.iter().zip(&*columns).map(|(channel, column)| {
        let times: Vec<f64> = (0..column.len()).map(|row| column.get(row)).collect();
        rate_told(channel, &times)
    });
    let told: Vec<Option<f64>> = told.collect();
    let Some(place) = told.iter().position(Option::is_some) else {
        return Ok(());
    };
    let channel = channels.remove(place);
    columns.remove(place);
    match told[place].filter(|told| (told / rate_hz - 1.0).abs() > 0.01) {
        Some(other) => findings.breach(
            FilePlace::File,
            &format!("column {}", quoted(&channel.name)),
            format!("rising at {other} Hz"),
            format!("{rate_hz} Hz as given"),
            "the given sampling rate was used",
        ),
        None => Ok(()),
    }
}

/// Refuses lines of more fields than a table has columns, before they are cut.
fn check_width(
    text: &TableText<'_>,
    separator: Separator,
    findings: &Findings,
) -> Result<(), ReadError> {
    let is_end = |b: &u8| match separator {
        Separator::Byte(byte) => *b == byte,
        Separator::Spaces => b.is_ascii_whitespace(),
    };
    for (index, line) in text.table().lines().enumerate() {
        let n_ends = line.bytes().filter(is_end).count();
        if n_ends >= MAX_COLUMNS {
            let place = FilePlace::Line(index + 1);
            let expected = format!("at most {MAX_COLUMNS} columns");
            return Err(findings.refusal(place, "row", format!("{n_ends} separators"), expected));
        }
    }
    Ok(())
}

/// Says what was assumed of the lines around the rows.
fn report_layout(
    text: &TableText<'_>,
    dialect: &Dialect,
    findings: &mut Findings,
) -> Result<(), ReadError> {
    if let Some(header) = dialect.header.as_ref().filter(|h| counts_columns(&h.names)) {
        let found = quoted(&header.names.join(","));
        let (expected, assumed) = ("values or names", "it was taken for numbers of the columns");
        findings.breach(
            FilePlace::Line(header.line),
            "row",
            found,
            expected,
            assumed,
        )?;
    }
    if let Some(header) = dialect.header.as_ref().filter(|h| h.is_remark) {
        let found = quoted(&header.names.join(","));
        let assumed = "the remark was taken for the names of the columns";
        let place = FilePlace::Line(header.line);
        findings.breach(
            place,
            "line",
            found,
            "names without a mark before them",
            assumed,
        )?;
    }
    if let Some((line, count)) = dialect.preamble {
        let expected = format!("a row of {} fields", dialect.n_columns);
        let assumed = format!("skipped: {} above the table", counted(count, "line"));
        findings.breach(
            FilePlace::Line(line),
            "line",
            "another one",
            expected,
            assumed,
        )?;
    }
    if let Some(units) = &dialect.units {
        let place = FilePlace::Line(dialect.first_line.saturating_sub(1));
        let found = quoted(&units.join(" "));
        findings.breach(place, "row", found, "values", "it was taken for units")?;
    }
    for doubt in &dialect.doubts {
        let (line, found) = (FilePlace::Line(doubt.line), &doubt.found);
        findings.breach(line, doubt.what, found, doubt.expected, doubt.assumed)?;
    }
    if dialect.n_columns == 1
        && let Some((line, count)) = text.empty_lines(dialect.first_line)
    {
        let assumed = format!("skipped: {}", counted(count, "empty line"));
        findings.breach(FilePlace::Line(line), "line", "empty", "a value", assumed)?;
    }
    if let Some((line, found)) = &dialect.note {
        let place = FilePlace::Line(*line);
        let assumed = "skipped: what stands below the table";
        findings.breach(place, "line", found, "values as in the rows above", assumed)?;
    }
    if let Some((line, word)) = &dialect.totals {
        let assumed = "skipped: the rows that sum up those above them";
        let place = FilePlace::Line(*line);
        findings.breach(place, "row", quoted(word), "values of one sample", assumed)?;
    }
    if let Some(line) = text.open_quote(dialect.separator) {
        let found = "not closed, so that all that follows is one field";
        let assumed = "the rows after it are lost; close the quote";
        findings.breach(
            FilePlace::Line(line),
            "quote",
            found,
            "a closing quote",
            assumed,
        )?;
    }
    Ok(())
}

/// Names from the header, or numbers; each only once.
fn column_names(
    dialect: &Dialect,
    tallies: &[ColumnTally],
    findings: &mut Findings,
) -> Result<Vec<String>, ReadError> {
    let mut names: Vec<String> = Vec::with_capacity(dialect.n_columns);
    let mut used: HashSet<String> = HashSet::new();
    for (column, tally) in tallies.iter().enumerate() {
        let numbered = format!("column {}", column + 1);
        let Some(header) = &dialect.header else {
            names.push(numbered);
            continue;
        };
        let place = FilePlace::Line(header.line);
        let given = header.names.get(column).filter(|name| !name.is_empty());
        let mut name = given.cloned().unwrap_or_else(|| numbered.clone());
        if given.is_none() && !tally.is_empty() {
            let assumed = match header.lacks_first {
                true => format!(
                    "the other names count from the second column, the first is {numbered:?}"
                ),
                false => format!("it is called {numbered:?}"),
            };
            let field = format!("name of {numbered}");
            findings.breach(place, &field, "empty", "a name", assumed)?;
        }
        if used.contains(&name) {
            let field = format!("name of {numbered}");
            let found = format!("{} again", quoted(&name));
            // Numbered by its column, it is a name that no other column has.
            name = format!("{name} ({})", column + 1);
            while used.contains(&name) {
                name.push('\'');
            }
            let assumed = format!("it is called {}", quoted(&name));
            findings.breach(place, &field, found, "a name of its own", assumed)?;
        }
        used.insert(name.clone());
        names.push(name);
    }
    Ok(names)
}

/// Lines among the rows of a table that are none of them: how many, the first, and how it begins.
#[derive(Default)]
struct Skipped {
    remarks: Option<(usize, usize, String)>,
    headers: Option<(usize, usize, String)>,
}

/// The rows below header and units.
struct Body<'a> {
    text: &'a TableText<'a>,
    dialect: &'a Dialect,
}

impl Body<'_> {
    /// Calls `take` for every row of values; gives the remarks and the headers among them.
    fn for_each(
        &self,
        mut take: impl FnMut(usize, &[&str]) -> Result<(), ReadError>,
    ) -> Result<Skipped, ReadError> {
        let Dialect {
            separator,
            n_columns,
            first_line,
            ..
        } = *self.dialect;
        let end_line = self.dialect.end_line();
        let names = self.dialect.header.as_ref().map(|header| &header.names);
        let is_header =
            |fields: &[&str]| names.is_some_and(|names| n_columns > 1 && names == fields);
        let mut skipped = Skipped::default();
        self.text.for_each_row(separator, |line, fields| {
            if line < first_line || end_line.is_some_and(|end| line >= end) {
                return Ok(());
            }
            let list = match is_header(fields) {
                true => &mut skipped.headers,
                false if is_remark(fields, n_columns, separator) => &mut skipped.remarks,
                false => return take(line, fields),
            };
            let first = fields.first().copied().unwrap_or_default();
            let (count, _, _) = list.get_or_insert_with(|| (0, line, quoted(first)));
            *count += 1;
            Ok(())
        })?;
        Ok(skipped)
    }

    /// Whether a row is a note; filling it up would take memory the file does not have.
    fn is_much_too_short(&self, fields: &[&str]) -> bool {
        fields.len() * 4 < self.dialect.n_columns * 3
    }

    /// Says that a table has no value, and which of its rows look like a title or a note.
    fn report_margin(
        &self,
        names: &[String],
        columns: &[TableColumn],
        findings: &mut Findings,
    ) -> Result<(), ReadError> {
        if let Some(found) = margin::emptiness(columns) {
            let (expected, assumed) = ("rows of values", "there is nothing to learn from");
            findings.breach(FilePlace::File, "table", found, expected, assumed)?;
        }
        for (row, column, text) in margin::lonely_rows(columns) {
            let place = self.place_of(row)?;
            let field = format!("column {}", quoted(&names[column]));
            let expected = "a name that other rows have too";
            let assumed = "it was taken for a name; remove the row if it is a title or a note";
            findings.breach(place, &field, text, expected, assumed)?;
        }
        Ok(())
    }

    /// The line of a row of values, counted from 0.
    fn place_of(&self, row: usize) -> Result<FilePlace, ReadError> {
        let (mut n_before, mut place) = (0, FilePlace::File);
        self.for_each(|line, fields| {
            if !self.is_much_too_short(fields) {
                if n_before == row {
                    place = FilePlace::Line(line);
                }
                n_before += 1;
            }
            Ok(())
        })?;
        Ok(place)
    }

    /// First pass: what the columns are.
    fn tally(&self, findings: &mut Findings) -> Result<Vec<ColumnTally>, ReadError> {
        let mut tallies: Vec<ColumnTally> = Vec::new();
        tallies.resize_with(self.dialect.n_columns, ColumnTally::default);
        let skipped = self.for_each(|line, fields| {
            if self.is_much_too_short(fields) {
                return Ok(());
            }
            for (tally, field) in tallies.iter_mut().zip(fields) {
                tally.take(line, field);
            }
            Ok(())
        })?;
        if let Some((count, line, text)) = skipped.remarks {
            let expected = format!("a row of {} fields", self.dialect.n_columns);
            let assumed = format!("skipped as remarks: {}", counted(count, "line"));
            findings.breach(FilePlace::Line(line), "line", text, expected, assumed)?;
        }
        if let Some((count, line, _)) = skipped.headers {
            let assumed = format!("skipped: {}", counted(count, "header"));
            let place = FilePlace::Line(line);
            findings.breach(place, "row", "the header again", "a row of values", assumed)?;
        }
        Ok(tallies)
    }

    /// Second pass: the values.
    fn fill(&self, columns: &mut [TableColumn], findings: &mut Findings) -> Result<(), ReadError> {
        let n_columns = columns.len();
        let mut ragged: Option<(usize, usize, usize)> = None;
        self.for_each(|line, fields| {
            let n_used = fields.iter().rposition(|field| !field.is_empty());
            let n_used = n_used.map_or(0, |last| last + 1);
            if n_used > n_columns || fields.len() < n_columns {
                let (_, _, count) = ragged.get_or_insert((line, fields.len(), 0));
                *count += 1;
            }
            if self.is_much_too_short(fields) {
                return Ok(());
            }
            for (position, column) in columns.iter_mut().enumerate() {
                column.push(fields.get(position).copied().unwrap_or(""));
            }
            Ok(())
        })?;
        if let Some((line, n_fields, count)) = ragged {
            let found = format!("{n_fields} fields");
            let assumed = format!(
                "missing values assumed, surplus fields and rows under three quarters skipped ({})",
                counted(count, "row")
            );
            findings.breach(FilePlace::Line(line), "row", found, n_columns, assumed)?;
        }
        Ok(())
    }
}

fn channels(
    names: &[String],
    columns: &[TableColumn],
    dialect: &Dialect,
    options: &ReadOptions,
) -> Vec<Channel> {
    let n_rows = columns.first().map_or(0, TableColumn::len);
    let below_header = |column: usize| {
        let unit = dialect.units.as_ref()?.get(column)?;
        let unit = Unit::parse(unit.trim_matches(['(', ')', '[', ']']));
        unit.is_known().then_some(unit)
    };
    let numbered = names.iter().zip(columns).enumerate();
    let channel = |(number, (name, column)): (usize, (&String, &TableColumn))| {
        let unit = column.unit().or_else(|| below_header(number));
        let unit = unit.unwrap_or_else(|| unit_in_name(name));
        let mut channel = Channel::analog(name.clone(), unit, options.rate_hz, n_rows);
        channel.kind = column.kind();
        channel
    };
    numbered.map(channel).collect()
}

/// A unit at the end of a name: `Ua(V)`, `Fp1 [µV]`, `Ua / kV`, `t [s]`.
fn unit_in_name(name: &str) -> Unit {
    let name = name.trim_end();
    let bracketed = |open, close| {
        let rest = name.strip_suffix(close)?;
        rest.rsplit_once(open)
            .map(|(_, unit): (&str, &str)| Unit::parse(unit))
    };
    let is_electric = |unit: &Unit| unit.volts().or(unit.amperes()).is_some();
    let after_slash = || name.rsplit_once(" / ").map(|(_, unit)| Unit::parse(unit));
    let square = bracketed('[', ']').filter(Unit::is_known);
    // `Output (S)` is rarely in siemens: only what fault and EEG tables are in counts.
    let round = || bracketed('(', ')').filter(is_electric);
    let unit = square
        .or_else(round)
        .or_else(|| after_slash().filter(is_electric));
    unit.unwrap_or_else(Unit::none)
}

/// The columns of a table, in memory.
#[derive(Debug)]
struct TableSamples {
    columns: Vec<TableColumn>,
}

impl SampleSource for TableSamples {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let column = self.columns.get(channel);
        for (offset, value) in out.iter_mut().enumerate() {
            *value = column.map_or(f64::NAN, |column| column.get(first + offset));
        }
        Ok(())
    }
}
