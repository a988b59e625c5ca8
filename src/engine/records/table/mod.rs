//! Text tables: CSV, TSV and plain columns of numbers, each column a channel.

mod dialect;

use std::sync::Arc;

use super::number_column::NumberColumn;
use super::text::quoted;
use super::text_encoding;
use super::{
    Channel, ChannelKind, Findings, Format, Input, Kind, Place, ReadError, ReadOptions, Record,
    Samples, Source, Unit,
};
use dialect::{Dialect, Separator, is_comment, is_missing};

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

/// Reads a table.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let mut findings = Findings::new(input.path(), options.mode);
    let bytes = input.bytes.read_all()?;
    let decoded = text_encoding::decode(&bytes);
    decoded.report(&mut findings)?;
    if let Some(at) = decoded.text.find('\0') {
        let place = Place::Byte(at as u64);
        return Err(findings.refusal(place, "text", "a NUL character", "a table of text"));
    }
    let dialect = Dialect::detect(&decoded.text);
    check_width(&decoded.text, dialect.separator, &findings)?;
    let names = column_names(&decoded.text, dialect);
    if names.is_empty() {
        let expected = "rows of numbers or names";
        return Err(findings.refusal(Place::Line(1), "table", "no row", expected));
    }
    let tallies = tally_columns(&decoded.text, dialect, names.len());
    let n_nominal = tallies.iter().filter(|tally| tally.is_nominal()).count();
    let max_levels = (MAX_LEVELS / n_nominal.max(1)).clamp(2, MAX_LEVELS_PER_COLUMN);
    let column = |tally| TableColumn::for_tally(tally, max_levels);
    let mut columns: Vec<TableColumn> = tallies.iter().map(column).collect();
    fill_columns(&decoded.text, dialect, &mut columns, &mut findings)?;
    let n_rows = columns.first().map_or(0, TableColumn::len);
    for ((name, column), tally) in names.iter().zip(&columns).zip(&tallies) {
        column.report(name, tally, &mut findings)?;
    }
    let channels = channels(&names, &columns, n_rows, options);
    let format = match (dialect.separator, input.extension().as_str()) {
        (Separator::Byte(b'\t'), _) => Format::Tsv,
        (Separator::Byte(_), "csv") => Format::Csv,
        (Separator::Byte(_), _) if names.len() > 1 => Format::Csv,
        _ => Format::TextColumns,
    };
    let kind = match options.rate_hz {
        Some(_) => Kind::Recording,
        None => Kind::Table,
    };
    let source = Source::new(input.path(), input.bytes.len());
    let samples = Arc::new(TableSamples { columns });
    let mut record = Record::new(format, kind, source, channels, samples);
    record.warnings = findings.into_warnings();
    Ok(record)
}

/// Refuses lines of more fields than a table has columns, before they are cut.
fn check_width(text: &str, separator: Separator, findings: &Findings) -> Result<(), ReadError> {
    let is_end = |b: &u8| match separator {
        Separator::Byte(byte) => *b == byte,
        Separator::Spaces => b.is_ascii_whitespace(),
    };
    for (index, line) in text.lines().enumerate() {
        let n_ends = line.bytes().filter(is_end).count();
        if n_ends >= MAX_COLUMNS {
            let place = Place::Line(index + 1);
            let expected = format!("at most {MAX_COLUMNS} columns");
            return Err(findings.refusal(place, "row", format!("{n_ends} separators"), expected));
        }
    }
    Ok(())
}

/// Calls `take` for every row with its line number; fields are trimmed.
fn for_each_row(
    text: &str,
    separator: Separator,
    mut take: impl FnMut(usize, &[&str]) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    match separator {
        Separator::Spaces => {
            for (index, line) in text.lines().enumerate() {
                if line.trim().is_empty() || is_comment(line) {
                    continue;
                }
                let fields: Vec<&str> = line.split_whitespace().collect();
                take(index + 1, &fields)?;
            }
        }
        Separator::Byte(byte) => {
            let mut reader = csv::ReaderBuilder::new()
                .delimiter(byte)
                .has_headers(false)
                .flexible(true)
                .from_reader(text.as_bytes());
            let mut record = csv::StringRecord::new();
            // The text is UTF-8 and rows are flexible: nothing is left to fail.
            while reader.read_record(&mut record).unwrap_or(false) {
                let line = record.position().map_or(0, csv::Position::line);
                let fields: Vec<&str> = record.iter().map(str::trim).collect();
                if fields.first().is_some_and(|field| is_comment(field)) {
                    continue;
                }
                if fields.iter().any(|field| !field.is_empty()) {
                    take(usize::try_from(line).unwrap_or(usize::MAX), &fields)?;
                }
            }
        }
    }
    Ok(())
}

/// Names from the header, or numbers; as many as most of the first rows have fields.
fn column_names(text: &str, dialect: Dialect) -> Vec<String> {
    const ROWS_LOOKED_AT: usize = 50;
    let mut first: Option<Vec<String>> = None;
    let mut widths: Vec<usize> = Vec::new();
    let head_end = text
        .match_indices('\n')
        .nth(4 * ROWS_LOOKED_AT)
        .map_or(text.len(), |(at, _)| at);
    let head = text.get(..head_end).unwrap_or(text);
    let looked = for_each_row(head, dialect.separator, |_, fields| {
        if first.is_none() {
            first = Some(fields.iter().map(|field| (*field).to_owned()).collect());
        }
        if widths.len() < ROWS_LOOKED_AT {
            widths.push(fields.len());
        }
        Ok(())
    });
    let (Ok(()), Some(first)) = (looked, first) else {
        return Vec::new();
    };
    widths.sort_unstable();
    let usual = widths.get(widths.len() / 2).copied().unwrap_or(0);
    (0..usual)
        .map(|column| {
            let given = first
                .get(column)
                .filter(|name| dialect.has_header && !name.is_empty());
            given
                .cloned()
                .unwrap_or_else(|| format!("column {}", column + 1))
        })
        .collect()
}

/// What the fields of a column are.
#[derive(Debug, Default)]
struct Tally {
    n_numbers: usize,
    n_texts: usize,
    first_text: Option<(usize, String)>,
}

impl Tally {
    /// Text among numbers is a slip of the writer unless there is much of it.
    fn is_nominal(&self) -> bool {
        self.n_texts > 0 && self.n_texts * 20 > self.n_numbers
    }
}

fn tally_columns(text: &str, dialect: Dialect, n_columns: usize) -> Vec<Tally> {
    let mut tallies: Vec<Tally> = (0..n_columns).map(|_| Tally::default()).collect();
    let mut is_header = dialect.has_header;
    let tallied = for_each_row(text, dialect.separator, |line, fields| {
        if std::mem::take(&mut is_header) {
            return Ok(());
        }
        for (tally, field) in tallies.iter_mut().zip(fields) {
            if dialect.number(field).is_some() {
                tally.n_numbers += 1;
            } else if !is_missing(field) {
                tally.n_texts += 1;
                tally
                    .first_text
                    .get_or_insert_with(|| (line, quoted(field)));
            }
        }
        Ok(())
    });
    debug_assert!(tallied.is_ok(), "counting refuses nothing");
    tallies
}

/// A column of numbers or of names.
#[derive(Debug)]
enum TableColumn {
    Numbers(NumberColumn),
    Names(NameColumn),
}

/// Names by their position in the list of different names.
#[derive(Debug)]
pub(super) struct NameColumn {
    /// The different names, in order of appearance.
    pub(super) levels: Vec<String>,
    /// Positions; NaN where missing.
    pub(super) positions: NumberColumn,
    /// Whether there were more names than fit.
    pub(super) overflowed: bool,
    max_levels: usize,
    known: std::collections::HashMap<String, i32>,
}

impl NameColumn {
    /// A column with these names to begin with, and room for `max_levels`.
    pub(super) fn new(levels: Vec<String>, max_levels: usize) -> Self {
        let known = levels
            .iter()
            .enumerate()
            .filter_map(|(position, name)| Some((name.clone(), i32::try_from(position).ok()?)))
            .collect();
        Self {
            levels,
            positions: NumberColumn::new(),
            overflowed: false,
            max_levels,
            known,
        }
    }

    /// Position of a name, if it is known.
    pub(super) fn position(&self, name: &str) -> Option<i32> {
        self.known.get(name).copied()
    }

    /// Adds a name, known or new.
    pub(super) fn push(&mut self, name: &str) {
        let position = self.position(name).or_else(|| {
            let next = i32::try_from(self.levels.len()).ok()?;
            (self.levels.len() < self.max_levels).then(|| {
                self.levels.push(name.to_owned());
                self.known.insert(name.to_owned(), next);
                next
            })
        });
        match position {
            Some(position) => self.positions.push_whole(position),
            None => {
                self.overflowed = true;
                self.positions.push(f64::NAN);
            }
        }
    }

    /// Adds a missing value.
    pub(super) fn push_missing(&mut self) {
        self.positions.push(f64::NAN);
    }
}

impl TableColumn {
    fn for_tally(tally: &Tally, max_levels: usize) -> TableColumn {
        if tally.is_nominal() {
            TableColumn::Names(NameColumn::new(Vec::new(), max_levels))
        } else {
            TableColumn::Numbers(NumberColumn::new())
        }
    }

    fn push(&mut self, field: &str, dialect: Dialect) {
        match self {
            TableColumn::Numbers(numbers) => {
                numbers.push(dialect.number(field).unwrap_or(f64::NAN));
            }
            TableColumn::Names(names) if is_missing(field) => names.push_missing(),
            TableColumn::Names(names) => names.push(field),
        }
    }

    fn len(&self) -> usize {
        match self {
            TableColumn::Numbers(numbers) => numbers.len(),
            TableColumn::Names(names) => names.positions.len(),
        }
    }

    fn get(&self, row: usize) -> f64 {
        match self {
            TableColumn::Numbers(numbers) => numbers.get(row),
            TableColumn::Names(names) => names.positions.get(row),
        }
    }

    fn report(&self, name: &str, tally: &Tally, findings: &mut Findings) -> Result<(), ReadError> {
        match (self, &tally.first_text) {
            (TableColumn::Numbers(_), Some((line, text))) => {
                let field = format!("column {}", quoted(name));
                let assumed = format!("{} such values are missing", tally.n_texts);
                findings.breach(Place::Line(*line), &field, text, "a number", assumed)
            }
            (TableColumn::Names(names), _) if names.overflowed => {
                let field = format!("column {}", quoted(name));
                let found = format!("more than {} different texts", names.levels.len());
                let assumed = "later ones are missing";
                findings.breach(Place::File, &field, found, "class names", assumed)
            }
            _ => Ok(()),
        }
    }
}

/// Second pass: the values.
fn fill_columns(
    text: &str,
    dialect: Dialect,
    columns: &mut [TableColumn],
    findings: &mut Findings,
) -> Result<(), ReadError> {
    let n_columns = columns.len();
    let mut is_header = dialect.has_header;
    let mut ragged: Option<(usize, usize, usize)> = None;
    for_each_row(text, dialect.separator, |line, fields| {
        if std::mem::take(&mut is_header) {
            return Ok(());
        }
        let n_used = fields.iter().rposition(|field| !field.is_empty());
        let n_used = n_used.map_or(0, |last| last + 1);
        if n_used > n_columns || fields.len() < n_columns {
            let (_, _, count) = ragged.get_or_insert((line, fields.len(), 0));
            *count += 1;
        }
        // Filling up a row that is much too short would take memory the file does not have.
        if fields.len() * 4 < n_columns * 3 {
            return Ok(());
        }
        for (position, column) in columns.iter_mut().enumerate() {
            column.push(fields.get(position).copied().unwrap_or(""), dialect);
        }
        Ok(())
    })?;
    if let Some((line, n_fields, count)) = ragged {
        let found = format!("{n_fields} fields");
        let assumed = format!(
            "missing values assumed, surplus fields and rows under three quarters skipped ({count} rows)"
        );
        findings.breach(Place::Line(line), "row", found, n_columns, assumed)?;
    }
    Ok(())
}

fn channels(
    names: &[String],
    columns: &[TableColumn],
    n_rows: usize,
    options: &ReadOptions,
) -> Vec<Channel> {
    let channel = |(name, column): (&String, &TableColumn)| {
        let unit = unit_in_name(name);
        let mut channel = Channel::analog(name.clone(), unit, options.rate_hz, n_rows);
        if let TableColumn::Names(names) = column {
            channel.kind = ChannelKind::Nominal {
                levels: names.levels.as_slice().into(),
            };
        }
        channel
    };
    names.iter().zip(columns).map(channel).collect()
}

/// A unit of voltage or current in brackets at the end of a name: `Ua(V)`, `Fp1 [µV]`.
fn unit_in_name(name: &str) -> Unit {
    let inside = name
        .trim_end()
        .strip_suffix([')', ']'])
        .and_then(|rest| rest.rsplit_once(['(', '[']));
    let unit = inside.map(|(_, unit)| Unit::parse(unit));
    let is_electric = |unit: &Unit| unit.volts().or(unit.amperes()).is_some();
    // `Output (S)` is rarely in siemens: only what fault and EEG tables are in counts.
    unit.filter(is_electric).unwrap_or_else(Unit::none)
}

/// The columns of a table, in memory.
#[derive(Debug)]
struct TableSamples {
    columns: Vec<TableColumn>,
}

impl Samples for TableSamples {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let column = self.columns.get(channel);
        for (offset, value) in out.iter_mut().enumerate() {
            *value = column.map_or(f64::NAN, |column| column.get(first + offset));
        }
        Ok(())
    }
}
