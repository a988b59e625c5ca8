//! How a text table is written: separator, where it begins, header, units.

use std::collections::BTreeSet;

use super::super::Unit;
use super::super::text::quoted;
use super::moment::MomentForm;
use super::number_form::{
    DecimalSign, affix_of_number, is_space_or_apostrophe, parse, spelling, without_percent,
};
use super::rows::{
    Separator, TableText, for_each_row, is_missing, is_spreadsheet_error, may_be_remark,
};

/// The way a table is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dialect {
    /// What separates fields.
    pub(super) separator: Separator,
    /// Number of columns.
    pub(super) n_columns: usize,
    /// The names in the header, as written; `None` without a header.
    pub(super) header: Option<HeaderRow>,
    /// The line of the first row of values.
    pub(super) first_line: usize,
    /// Units in a line of their own below the header.
    pub(super) units: Option<Vec<String>>,
    /// Lines before the table that are neither remarks nor rows of it: the first, and how many.
    pub(super) preamble: Option<(usize, usize)>,
    /// What was assumed where the rows allow something else too.
    pub(super) doubts: Vec<Doubt>,
    /// The first of the rows at the end that sum up the others, and the word that says so.
    pub(super) totals: Option<(usize, String)>,
    /// The first of the lines below the table whose words stand where all rows have numbers, and how it begins.
    pub(super) note: Option<(usize, String)>,
}

/// The row that names the columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeaderRow {
    /// Its line.
    pub(super) line: usize,
    /// The names of the columns.
    pub(super) names: Vec<String>,
    /// Whether it lacks a name for the first column, as R writes row names.
    pub(super) lacks_first: bool,
    /// Whether it is written as a remark, as NumPy writes it.
    pub(super) is_remark: bool,
}

/// Something assumed of the way a table is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Doubt {
    pub(super) line: usize,
    pub(super) what: &'static str,
    pub(super) found: String,
    pub(super) expected: &'static str,
    pub(super) assumed: &'static str,
}

/// Lines looked at, and bytes.
const LINES_LOOKED_AT: usize = 200;
const BYTES_LOOKED_AT: usize = 1 << 20;
/// Fields looked at in each row.
const FIELDS_LOOKED_AT: usize = 500;

/// Lines at the end among which rows of totals are looked for.
const LINES_AT_END: usize = 12;
/// Words that begin a row which sums up those above it.
const TOTAL_WORDS: [&str; 22] = [
    "total",
    "totals",
    "grand total",
    "sum",
    "summe",
    "gesamt",
    "mean",
    "average",
    "avg",
    "mittelwert",
    "median",
    "sd",
    "std",
    "min",
    "max",
    "count",
    "somme",
    "moyenne",
    "suma",
    "totale",
    "итого",
    "合计",
];

/// A row with its line.
type LinedRow = (usize, Vec<String>);

impl Dialect {
    /// The dialect that makes most numbers of the first lines; `None` if there is no row.
    pub(super) fn detect(text: &TableText<'_>, told: Option<DecimalSign>) -> Option<Dialect> {
        let head = text.head(LINES_LOOKED_AT, BYTES_LOOKED_AT);
        let commas = Commas::of(head, told);
        let separator = text.named_separator.unwrap_or_else(|| match commas {
            // A character that does not occur: nothing separates.
            Commas::Decimals => Separator::Byte(b'\t'),
            _ => separator_of(head),
        });
        let rows = rows_of(head, text.lines_before(), separator, usize::MAX);
        let n_columns = usual_width(&rows)?;
        // Names and remarks of the writer may stand above the table.
        let is_of_table = |(_, row): &LinedRow| {
            let lacks_one = row.len() > 1 && row.len() + 1 == n_columns;
            // A title stands alone in its row, however many separators follow it.
            let is_title = n_columns > 2
                && row
                    .first()
                    .is_some_and(|first| !first.is_empty() && !is_number(first))
                && row.iter().skip(1).all(String::is_empty);
            !is_title && (lacks_one || row.len() * 4 >= n_columns * 3)
        };
        let n_above = n_of_settings(&rows, n_columns);
        let mut n_before = n_above + rows.get(n_above..)?.iter().position(is_of_table)?;
        let note = note_below(text, separator, n_columns, rows.get(n_before..)?);
        let n_rows = rows.partition_point(|(line, _)| note.as_ref().is_none_or(|n| *line < n.0));
        let rows = rows.get(..n_rows)?;
        n_before += usize::from(rows.get(n_before..).is_some_and(is_above_names));
        let preamble = rows.first().filter(|_| n_before > 0);
        let preamble = preamble.map(|(line, _)| (*line, n_before));
        let rows = rows.get(n_before..)?;
        let mut n_columns = n_columns;
        let (first, rest) = rows.split_first()?;
        let (header, mut body) = match has_header(rows) {
            true => {
                let (names, lacks_first) = names_of(&first.1, rest, &mut n_columns);
                let header = HeaderRow {
                    line: first.0,
                    names,
                    lacks_first,
                    is_remark: false,
                };
                (Some(header), rest)
            }
            false => {
                let above = (head, text.lines_before());
                let header = header_in_remark(above, separator, n_columns, first.0);
                (header, rows)
            }
        };
        let mut units = None;
        if let (Some(_), Some((second, rest))) = (&header, body.split_first())
            && are_units(&second.1, rest)
        {
            units = Some(second.1.clone());
            body = rest;
        }
        let mut doubts = Vec::new();
        let is_open = commas == Commas::Open && text.named_separator.is_none() && told.is_none();
        if let Some((line, row)) = body.first().filter(|_| is_open && separator == COMMA) {
            doubts.push(Doubt {
                line: *line,
                what: "row",
                found: quoted(&row.join(",")),
                expected: "rows that can be read in one way only",
                assumed: "the comma was taken to separate two columns; say if it is the decimal sign (--decimal comma)",
            });
        }
        let again = header
            .as_ref()
            .filter(|h| !h.is_remark && !counts_columns(&h.names));
        let is_open = |header: &&HeaderRow| {
            are_words_below(&header.names, body) || names_numbers(&header.names, body)
        };
        if let Some(header) = again.filter(is_open) {
            doubts.push(Doubt {
                line: header.line,
                what: "row",
                found: quoted(&header.names.join(",")),
                expected: "words that stand in no row below",
                assumed: "it was taken for the names of the columns",
            });
        }
        doubts.extend(match &header {
            Some(header) if n_columns == 1 => doubt_of_only_name(header, body),
            Some(_) => None,
            None => doubt_of_first_row(body),
        });
        // Remarks between names and rows are told as those among the rows.
        let n_above = rows.len() - body.len();
        let above = n_above.checked_sub(1).and_then(|last| rows.get(last));
        let first_line = match (above, body.first()) {
            (Some((line, _)), _) => line + 1,
            (None, Some((line, _))) => *line,
            (None, None) => 1,
        };
        Some(Dialect {
            separator,
            n_columns,
            header,
            first_line,
            units,
            preamble,
            doubts,
            totals: totals(text, separator, n_columns, body, note.as_ref().map(|n| n.0)),
            note,
        })
    }

    /// The first line below the rows, if something stands there.
    pub(super) fn end_line(&self) -> Option<usize> {
        let ends = [&self.totals, &self.note];
        ends.into_iter().flatten().map(|(line, _)| *line).min()
    }

    /// How many columns have names, or have such without a name before them.
    pub(super) fn n_named(&self) -> usize {
        let names = self.header.iter().flat_map(|header| &header.names);
        let last = names
            .enumerate()
            .filter(|(_, name)| !name.is_empty())
            .last();
        last.map_or(0, |(place, _)| place + 1)
    }
}

/// A title above the name of a single column, or a note below its words, looks like its name or one of them.
fn doubt_of_only_name(header: &HeaderRow, body: &[LinedRow]) -> Option<Doubt> {
    const WORDS_OF_TITLE: usize = 3;
    let name = header.names.join(" ");
    let is_title = name.split_whitespace().count() >= WORDS_OF_TITLE && !name.ends_with([')', ']']);
    if is_title && !header.is_remark {
        return Some(Doubt {
            line: header.line,
            what: "row",
            found: quoted(&name),
            expected: "the short name of a column",
            assumed: "it was taken for the name; remove the line if it is a title",
        });
    }
    let text = |row: &LinedRow| row.1.join(" ");
    let is_alone =
        |row: &&LinedRow| body.iter().filter(|other| text(other) == text(row)).count() == 1;
    let comes_again = body.iter().any(|row| !is_alone(&row));
    let is_words = !are_values(filled_fields(0, body));
    let ends = [body.first(), body.last()];
    let lonely = ends
        .into_iter()
        .flatten()
        .find(|row| comes_again && is_words && is_alone(row));
    lonely.map(|row| Doubt {
        line: row.0,
        what: "row",
        found: quoted(&text(row)),
        expected: "a word that stands in other rows too",
        assumed: "it was taken for one of the class names; remove the line if it is a title or a note",
    })
}

/// A first row that was taken for values, although one of its words stands in no row below where others recur, or one
/// of its numbers stands above dates.
fn doubt_of_first_row(rows: &[LinedRow]) -> Option<Doubt> {
    let ((line, first), below) = rows.split_first()?;
    let is_odd = |(column, field): (usize, &String)| {
        let below: Vec<&String> = filled_fields(column, below).collect();
        let different: BTreeSet<&&String> = below.iter().collect();
        let is_new_word = !is_value(field)
            && !is_missing(field)
            && !below.contains(&field)
            && below.len() > 1
            && 2 * different.len() <= below.len();
        let is_date = |field: &&String| is_value(field) && !is_number(field);
        is_new_word || is_number(field) && !below.is_empty() && below.iter().all(is_date)
    };
    first.iter().enumerate().any(is_odd).then(|| Doubt {
        line: *line,
        what: "row",
        found: quoted(&first.join(",")),
        expected: "values like those of the rows below",
        assumed: "it was taken for values; give the other columns names too if it names them",
    })
}

/// The lines at the end that are no rows: words stand in them where all rows have numbers, dates or times, and fields
/// that separators cut off hold nothing else.
fn note_below(
    text: &TableText<'_>,
    separator: Separator,
    n_columns: usize,
    rows: &[LinedRow],
) -> Option<(usize, String)> {
    let (tail, lines_before) = text.tail(LINES_AT_END, BYTES_LOOKED_AT);
    let tail = rows_of(tail, lines_before, separator, FIELDS_LOOKED_AT);
    let is_text = |field: &String| !is_missing(field) && !is_value(field);
    let is_note = |(line, row): &&LinedRow| {
        let words = row
            .iter()
            .take(n_columns)
            .enumerate()
            .filter(|(_, f)| is_text(f));
        let is_alone = row.iter().filter(|field| !field.is_empty()).count() == 1;
        let above = rows
            .iter()
            .position(|(l, _)| l >= line)
            .unwrap_or(rows.len());
        // The first rows may name the columns.
        let above = rows
            .get(NAMES_AND_UNITS.min(above / 2)..above)
            .unwrap_or_default();
        (is_alone || separator == Separator::Spaces)
            && above.len() > 1
            && words
                .map(|(column, _)| column)
                .any(|column| are_values(filled_fields(column, above)))
    };
    let first = tail.iter().rev().take_while(is_note).last()?;
    Some((first.0, quoted(&first.1.join(" "))))
}

/// Rows at the top that may hold names and units.
const NAMES_AND_UNITS: usize = 3;

/// The fields of a column that are not missing.
fn filled_fields(column: usize, rows: &[LinedRow]) -> impl Iterator<Item = &String> {
    let fields = rows.iter().filter_map(move |(_, row)| row.get(column));
    fields.filter(|field| !is_missing(field))
}

/// Whether there are fields, and all are numbers, dates or times.
fn are_values<'a>(fields: impl Iterator<Item = &'a String>) -> bool {
    let mut fields = fields.peekable();
    fields.peek().is_some() && fields.all(|field| is_value(field))
}

/// The rows at the end that begin with words such as `Total` and `Mean`, each once and in no row before.
fn totals(
    text: &TableText<'_>,
    separator: Separator,
    n_columns: usize,
    body: &[LinedRow],
    end_line: Option<usize>,
) -> Option<(usize, String)> {
    let word_of = |row: &[String]| {
        let first = row.iter().find(|field| !field.is_empty())?;
        let word = first.trim_end_matches(':').to_lowercase();
        TOTAL_WORDS.contains(&word.as_str()).then_some(word)
    };
    let (tail, lines_before) = text.tail(LINES_AT_END, BYTES_LOOKED_AT);
    let mut words = Vec::new();
    let mut first = None;
    for (line, row) in rows_of(tail, lines_before, separator, FIELDS_LOOKED_AT) {
        // Notes below the table are skipped, and rows that are much too short.
        if row.len() * 4 < n_columns * 3 || end_line.is_some_and(|end| line >= end) {
            continue;
        }
        match word_of(&row) {
            Some(word) if words.contains(&word) => return None,
            Some(word) => {
                first.get_or_insert((line, row.iter().find(|f| !f.is_empty())?.clone()));
                words.push(word);
            }
            None if first.is_some() => return None,
            None => {}
        }
    }
    let (line, word) = first.filter(|_| n_columns > 1)?;
    let before = || body.iter().filter(|(row_line, _)| *row_line < line);
    let is_class = |(_, row): &LinedRow| word_of(row).is_some();
    (before().count() > 1 && !before().any(is_class)).then_some((line, word))
}

/// The last remark above the first row, if it names as many columns as there are.
fn header_in_remark(
    (head, lines_before): (&str, usize),
    separator: Separator,
    n_columns: usize,
    first_line: usize,
) -> Option<HeaderRow> {
    let mut last = None;
    let looked = for_each_row(head, lines_before, separator, |line, fields| {
        if line < first_line && may_be_remark(fields) {
            let names = fields.iter().enumerate().map(|(place, field)| match place {
                0 => field.trim_start_matches(['#', '%']).trim_start(),
                _ => field,
            });
            let mut names: Vec<String> = names.map(str::to_owned).collect();
            // With spaces between the fields the mark is one of them.
            if separator == Separator::Spaces && names.first().is_some_and(String::is_empty) {
                names.remove(0);
            }
            last = Some((line, names));
        }
        Ok(())
    });
    debug_assert!(looked.is_ok(), "looking refuses nothing");
    let (line, names) = last?;
    let is_name = |name: &String| !name.is_empty() && !is_number(name) && !is_missing(name);
    let fits = n_columns > 1 && names.len() == n_columns && names.iter().all(is_name);
    fits.then_some(HeaderRow {
        line,
        names,
        lacks_first: false,
        is_remark: true,
    })
}

const COMMA: Separator = Separator::Byte(b',');

/// What the commas of lines are that hold one each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Commas {
    /// Signs of the numbers of a single column, whose name has none.
    Decimals,
    /// Either; nothing tells which.
    Open,
    /// What the dialect makes of them.
    Others,
}

impl Commas {
    fn of(head: &str, told: Option<DecimalSign>) -> Self {
        let lines = head.lines().map(|line| line.trim().trim_matches('"'));
        let mut lines = lines
            .filter(|line| !line.is_empty() && !line.starts_with(['#', '%']))
            .peekable();
        let is_name = |line: &&str| !line.contains(',') && !is_value(line);
        let has_name = lines.next_if(is_name).is_some();
        let (mut n_without, mut n_with) = (0, 0);
        for line in lines {
            let number = without_percent(line).0;
            match line.matches(',').count() {
                0 if is_number(line) || is_missing(line) => n_without += 1,
                1 if parse(number, DecimalSign::Comma).is_some() => n_with += 1,
                _ => return Self::Others,
            }
        }
        match told {
            _ if n_with < 2 => Self::Others,
            Some(DecimalSign::Comma) => Self::Decimals,
            None if has_name || n_without > 0 => Self::Decimals,
            None => Self::Open,
            Some(DecimalSign::Point) => Self::Others,
        }
    }
}

fn separator_of(head: &str) -> Separator {
    // In the order of preference where two fit equally well.
    let candidates = [
        Separator::Byte(b'\t'),
        Separator::Byte(b';'),
        Separator::Byte(b'|'),
        COMMA,
        Separator::Spaces,
    ];
    let mut best = (COMMA, 0.0);
    for separator in candidates {
        // Where tabs cut numbers out, spaces stand within names.
        if separator == Separator::Spaces && best.0 == Separator::Byte(b'\t') && best.1 > 0.2 {
            break;
        }
        let score = fitness(separator, &rows_of(head, 0, separator, FIELDS_LOOKED_AT));
        if score > best.1 {
            best = (separator, score);
        }
    }
    best.0
}

/// The rows of the first lines that can be no remarks.
fn rows_of(head: &str, lines_before: usize, separator: Separator, most: usize) -> Vec<LinedRow> {
    let mut rows = Vec::new();
    let looked = for_each_row(head, lines_before, separator, |line, fields| {
        if !may_be_remark(fields) {
            let fields = fields.iter().take(most).map(|f| (*f).to_owned());
            rows.push((line, fields.collect()));
        }
        Ok(())
    });
    debug_assert!(looked.is_ok(), "looking refuses nothing");
    rows
}

/// As many columns as most rows of several fields have, if those are more than a third; lines of words may stand above.
fn usual_width(rows: &[LinedRow]) -> Option<usize> {
    let mut widths: Vec<usize> = rows.iter().map(|(_, fields)| fields.len()).collect();
    widths.sort_unstable();
    let runs = widths.chunk_by(|a, b| a == b).filter(|run| run[0] > 1);
    let usual = runs
        .max_by_key(|run| run.len())
        .filter(|run| 3 * run.len() > widths.len());
    let width = usual.and_then(<[usize]>::first);
    width.or(widths.get(widths.len() / 2)).copied()
}

fn is_number(field: &str) -> bool {
    spelling(field).is_some()
}

/// Whether a field is what stands in rows and not above them: a number, a date or a time.
fn is_value(field: &str) -> bool {
    is_number(field)
        || MomentForm::ALL
            .iter()
            .any(|form| form.parse(field).is_some())
}

/// Share of values among the fields of the rows, if they have equally many fields; less where rows above them have not.
fn fitness(separator: Separator, rows: &[LinedRow]) -> f64 {
    let Some(n_fields) = usual_width(rows).filter(|n| *n > 1) else {
        return 0.0;
    };
    let is_alike = |(_, row): &LinedRow| row.len() == n_fields;
    let n_above = n_of_settings(rows, n_fields);
    let (Some(mut first), Some(last)) = (
        (n_above..rows.len()).find(|row| is_alike(&rows[*row])),
        rows.iter().rposition(is_alike),
    ) else {
        return 0.0;
    };
    // What stands above and below the table may be of another width, if it is not much more.
    let table = rows.get(first..=last).unwrap_or_default();
    let n_alike = table.iter().filter(|row| is_alike(row)).count();
    // A few ragged rows do not make another separator.
    let is_ragged = n_alike * 10 < table.len() * 9 && (n_alike < 3 || n_alike + 1 < table.len());
    if 3 * table.len() < rows.len() || is_ragged {
        return 0.0;
    }
    let is_comma = separator == COMMA;
    if is_comma && table.iter().all(|(_, row)| is_cut_at_decimals(row)) {
        return 0.0;
    }
    let body = table.get(1..).filter(|body| !body.is_empty());
    let fields = || body.unwrap_or(table).iter().flat_map(|(_, row)| row);
    // Cut at commas, `1,5 200,5` would hold the grouped number `5 200`.
    let is_whole = |field: &&String| !is_comma || !field.contains(is_space_or_apostrophe);
    // Cut at spaces, `1.5 kV,2,x` would hold `kV,2,x`.
    let holds_marks = |field: &&String| field.contains([',', ';', '|']) && !is_number(field);
    if separator == Separator::Spaces && fields().filter(holds_marks).count() * 2 >= table.len() {
        return 0.0;
    }
    let is_filled = |field: &&String| {
        let is_number = is_value(field) || affix_of_number(field).is_some();
        is_missing(field) || (is_whole(field) && is_number)
    };
    let n_values = fields().filter(is_filled).count();
    let lacks_first = |(_, row): &LinedRow| row.len() > 1 && row.len() + 1 == n_fields;
    if is_above_names(table) {
        first += 1;
    } else if first > 0 && rows.get(first - 1).is_some_and(lacks_first) {
        first -= 1;
    }
    // Separating at all is worth something, also between words; the right separator cuts the header too.
    let share = 0.1 + n_values as f64 / fields().count().max(1) as f64;
    share / (1.0 + first.min(2) as f64)
}

/// How many rows at the top hold settings of an instrument, some of them in as many fields as the table has: the last
/// of them is a line of words alone, and names follow it.
fn n_of_settings(rows: &[LinedRow], n_columns: usize) -> usize {
    let is_alone = |(_, row): &LinedRow| {
        let mut filled = row.iter().filter(|field| !field.is_empty());
        let is_words = |field: &String| !is_value(field) && !is_missing(field);
        filled.next().is_some_and(is_words) && filled.next().is_none()
    };
    let upper_half = rows.get(..rows.len() / 2).unwrap_or_default();
    let last = upper_half
        .iter()
        .rposition(is_alone)
        .map_or(0, |last| last + 1);
    let below = rows.get(last..).unwrap_or_default();
    let names_follow = || {
        below
            .first()
            .is_some_and(|(_, names)| names.len() == n_columns)
            && has_header(below)
    };
    match n_columns > 1 && last > 0 && names_follow() {
        true => last,
        false => 0,
    }
}

/// Whether every comma of a row stands in a number between spaces: `on 1,5`.
fn is_cut_at_decimals(row: &[String]) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_decimal = |pair: &[String]| {
        let [left, right] = pair else { return false };
        let whole = left.rsplit(' ').next().unwrap_or_default();
        let fraction = right.split(' ').next().unwrap_or_default();
        is_digits(whole.trim_start_matches(['-', '+'])) && is_digits(fraction.trim_end_matches('%'))
    };
    row.iter().any(|field| field.contains(' ')) && row.windows(2).all(is_decimal)
}

/// Whether the first row holds names: none of its fields is a number, or one
/// is text above a column of numbers.
fn has_header(rows: &[LinedRow]) -> bool {
    let Some(((_, first), body)) = rows.split_first() else {
        return false;
    };
    if counts_columns(first) {
        return true;
    }
    if body
        .split_first()
        .is_some_and(|((_, second), below)| are_units(second, below))
    {
        return true;
    }
    let is_text = |field: &str| !is_value(field) && !is_missing(field);
    if !first.iter().any(|field| is_text(field)) {
        return false;
    }
    // What stands for no value, but is no symbol such as `Na`.
    let is_blank = |field: &str| matches!(field, "?" | "-" | "--" | "nan" | "NaN");
    let has_values = first
        .iter()
        .any(|field| is_value(field) || is_spreadsheet_error(field) || is_blank(field));
    if !has_values && !is_again_below(first, body) {
        return true;
    }
    first.iter().enumerate().any(|(column, name)| {
        let below = filled_fields(column, body);
        is_text(name) && are_values(below)
    }) || names_numbers(first, body)
}

/// Whether a row names columns by numbers, such as years, and others by words: its words do not stand below again, as
/// those of other rows do, or the numbers are equally far apart.
fn names_numbers(first: &[String], body: &[LinedRow]) -> bool {
    let numbers: Vec<Option<i64>> = first
        .iter()
        .filter(|field| is_value(field))
        .map(|field| field.parse().ok())
        .collect();
    let words = || {
        first
            .iter()
            .enumerate()
            .filter(|(_, field)| !is_value(field) && !is_missing(field))
    };
    let is_new = |(column, word): (usize, &String)| {
        let mut below = body.iter().filter_map(|(_, row)| row.get(column));
        below.all(|field| field != word)
    };
    let is_among_names = |(column, _): &(usize, &String)| {
        let below: Vec<&String> = body
            .iter()
            .filter_map(|(_, row)| row.get(*column))
            .collect();
        let different: BTreeSet<&&String> = below.iter().collect();
        below.len() > 3 && 2 * different.len() <= below.len()
    };
    let steps = numbers
        .windows(2)
        .map(|pair| pair[1]?.checked_sub(pair[0]?));
    let steps: Vec<Option<i64>> = steps.collect();
    let are_even = steps
        .first()
        .is_some_and(|step| step.is_some_and(|step| step > 0))
        && steps.windows(2).all(|pair| pair[0] == pair[1]);
    let are_whole = numbers.iter().all(Option::is_some);
    !numbers.is_empty()
        && are_whole
        && words().all(is_new)
        && (are_even && steps.len() > 1 || words().filter(is_among_names).count() > 1)
}

/// Whether every word of the first row stands below it again, and no number does: labels without a header.
fn is_again_below(first: &[String], body: &[LinedRow]) -> bool {
    let holds_number = |(_, row): &LinedRow| row.iter().any(|field| is_number(field));
    are_words_below(first, body) && !body.iter().any(holds_number)
}

/// Whether every word of a row stands below it again, in its column.
fn are_words_below(first: &[String], body: &[LinedRow]) -> bool {
    let recurs = |(column, name): (usize, &String)| {
        let mut below = body.iter().filter_map(|(_, row)| row.get(column));
        is_missing(name) || below.any(|field| field == name)
    };
    first.iter().enumerate().all(recurs)
}

/// Whether a row counts the columns from 0, as programs name columns that have no name; the column of row numbers
/// before them has none at all.
pub(super) fn counts_columns(row: &[String]) -> bool {
    let counted = match row.split_first() {
        Some((first, rest)) if first.is_empty() => rest,
        _ => row,
    };
    let counts = |(number, field): (usize, &String)| *field == number.to_string();
    counted.len() > 2 && counted.iter().enumerate().all(counts)
}

/// The names, and whether the first column has none. Rows that all end with a separator are one field too wide.
fn names_of(first: &[String], body: &[LinedRow], n_columns: &mut usize) -> (Vec<String>, bool) {
    let is_full = |(_, row): &&LinedRow| row.len() == *n_columns;
    let mut full = body.iter().filter(is_full).peekable();
    if first.len() + 1 != *n_columns || full.peek().is_none() {
        return (first.to_vec(), false);
    }
    if full.all(|(_, row)| row.last().is_some_and(String::is_empty)) {
        *n_columns -= 1;
        return (first.to_vec(), false);
    }
    let names = std::iter::once(String::new()).chain(first.iter().cloned());
    (names.collect(), true)
}

/// Whether the first rows have nothing but numbers, dates and times in a column, and not only missing ones.
fn stands_above_values(column: usize, below: &[LinedRow]) -> bool {
    const ROWS_LOOKED_AT: usize = 5;
    are_values(filled_fields(column, below).take(ROWS_LOOKED_AT))
}

/// Whether another row of names follows the first one, and is the one that names the columns: most of its names stand
/// above numbers, as those of a title or of groups of columns do not.
fn is_above_names(rows: &[LinedRow]) -> bool {
    let [(_, first), (_, second), below @ ..] = rows else {
        return false;
    };
    let is_text = |field: &&String| !is_missing(field) && !is_value(field);
    let is_named =
        |row: &[String]| row.iter().any(|f| is_text(&f)) && !row.iter().any(|f| is_value(f));
    let below = match below.split_first() {
        Some(((_, units), rest)) if are_units(units, rest) => rest,
        _ => below,
    };
    let n_names = second.iter().filter(is_text).count();
    let above_values = second
        .iter()
        .enumerate()
        .filter(|(column, field)| is_text(field) && stands_above_values(*column, below));
    is_named(first)
        && is_named(second)
        && 2 * above_values.count() > n_names
        && !are_units(second, below)
}

/// Whether a row holds units above rows of numbers: `(V)`, `[s]`, `kV`.
fn are_units(row: &[String], below: &[LinedRow]) -> bool {
    let is_bracketed = |field: &str| {
        (field.starts_with('(') && field.ends_with(')'))
            || (field.starts_with('[') && field.ends_with(']'))
    };
    // `(3.5)` is how accountants write −3.5; `1` is the unit of what has none.
    let holds_number = |field: &str| is_number(field.trim_matches(['(', ')', '[', ']']));
    let is_unit = |field: &&String| {
        (is_bracketed(field) || field.as_str() == "-" || Unit::parse(field).is_known())
            && (field.as_str() == "1" || !holds_number(field))
    };
    let filled = || row.iter().enumerate().filter(|(_, f)| !f.is_empty());
    let has_words = filled().any(|(_, field)| !is_number(field));
    let mut is_above = filled().map(|(column, _)| stands_above_values(column, below));
    // A row of nothing but brackets may stand above names too.
    let fits = match filled().all(|(_, field)| is_bracketed(field)) {
        true => is_above.any(|above| above),
        false => is_above.all(|above| above),
    };
    has_words && filled().all(|(_, field)| is_unit(&field)) && fits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(text: &str) -> Dialect {
        Dialect::detect(&TableText::new(text.into()), None).expect("there are rows")
    }

    fn has_header(text: &str) -> bool {
        dialect(text).header.is_some()
    }

    #[test]
    fn separators_are_told_apart() {
        let separator = |text: &str| match dialect(text).separator {
            Separator::Byte(byte) => char::from(byte),
            Separator::Spaces => ' ',
        };
        assert_eq!(separator("a,b\n1.5,2\n3,4"), ',');
        assert_eq!(separator("a;b\n1,5;2\n3;4,25"), ';');
        assert_eq!(separator("1,5\t2\n3\t4,25"), '\t');
        assert_eq!(
            separator("\"a\",\"b,c\"\n\"1,5\",\"2\"\n\"3,5\",\"4\""),
            ','
        );
        assert_eq!(separator("x|y\n1|2"), '|');
        assert_eq!(separator("Report of it\na b\tc\nx y\t1\nz x\t2\n"), '\t');
        assert_eq!(separator("time;name\n1;a,b\n2;c,d"), ';');
        assert_eq!(separator("1.0  2.0\n3.0 -4.0\n"), ' ');
        assert_eq!(separator("1,5 2,5\n3,5 4,5\n"), ' ');
        assert_eq!(separator("1,5 200,5\n3,5 400,5\n"), ' ');
        assert_eq!(separator("1 000,5;2 000,5\n3 000,5;4\n"), ';');
        assert_eq!(separator("a,b,class\n1.5 kV,1,x\n2.0 kV,2,y\n"), ',');
        assert_eq!(separator("1.5 1,2\n2.5 3,4\n"), ' ');
        assert_eq!(separator("c p\na on -64,50\nb on 95,97\nb NA NA\n"), ' ');
        assert_eq!(separator("a;b;c\n1,234;x;u\n2,345;y;v\n"), ';');
        assert_eq!(separator("name,value\nSample 1,5\nSample 2,7\n"), ',');
        assert_eq!(
            separator("a|b|c\nx|11:47:23|-82,22\ny|12:30:00|5,31\n"),
            '|'
        );
        let long = "made by a device, in a lab\nline\n".repeat(9) + &"1;2\n3;4\n".repeat(6);
        assert_eq!(separator(&long), ';');
        // Notes above and below the table are of another width.
        assert_eq!(separator("k;v\n1;x\n2;y\n3;x\n\nSource: a, b\n"), ';');
        assert_eq!(separator("Report of a station\nk|v|w\n1|x|u\n2|y|u\n"), '|');
        assert_eq!(
            separator("Report of it\n\"k\"\tv\tw\n1\t2\t3\n4\t5\t6\n"),
            '\t'
        );
    }

    #[test]
    fn a_header_is_seen_only_where_one_is() {
        assert!(!has_header("1,2\n3,4\n"));
        assert!(!has_header("5.1,3.5,setosa\n4.9,3.0,setosa\n"));
        assert!(has_header("id,1,2\n7,3,4\n8,5,6\n"));
        assert!(has_header("name,class\nx,a\ny,b\n"));
        assert!(!has_header("12\n22\n35\n"));
        assert!(has_header("value\n22\n35\n"));
        assert!(!has_header("g\nc\ng\nb\n"));
        assert!(has_header("a,b\n1,x\na,b\n2,y\n"));
        assert!(has_header("0,1,2\n7,8,9\n4,5,6\n"));
        assert!(has_header(",0,1,2\n0,7,8,9\n1,4,5,6\n"));
        assert!(!has_header("22:32:28,open\n22:32:29,shut\n"));
        assert!(!has_header("#DIV/0!,open\n5.5,shut\n"));
        assert!(!has_header("?,open\n5.5,shut\n"));
        assert!(has_header("Na,class\n5.5,shut\n"));
    }

    #[test]
    fn titles_and_groups_of_columns_stand_above_the_names() {
        for text in [
            "Report of station\nt x class\n1 2.5 a\n2 3.5 b\n",
            ",A,A\nclass,x,y\nu,1,2\nv,3,4\n",
        ] {
            let found = dialect(text);
            assert_eq!(found.preamble, Some((1, 1)), "{text}");
            assert_eq!(found.header.map(|header| header.line), Some(2), "{text}");
        }
        for text in [
            "v,class\nbad,open\n1,open\n2,shut\n",
            "t,x\ns,V\n1,2\n3,4\n",
        ] {
            assert_eq!(dialect(text).preamble, None, "{text}");
        }
    }

    #[test]
    fn rows_that_sum_up_the_others_are_seen_at_the_end_only() {
        let totals = |text: &str| dialect(text).totals.map(|(line, _)| line);
        assert_eq!(totals("k,v\na,1\nb,2\nTotal:,3\n"), Some(4));
        assert_eq!(
            totals("k,v,w\n1,1,2\n2,2,2\nMean,3,2\nSD,1,1\n\nby: me\n"),
            Some(4)
        );
        assert_eq!(totals("k,v\nmin,1\nb,2\nmin,3\n"), None);
        assert_eq!(totals("k,v\nmean,1\nmax,2\nmin,3\n"), None);
    }

    #[test]
    fn what_stands_above_the_table_is_not_its_header() {
        let found = dialect("# made by; a program\nDevice X\nt;Ua\n(s);(V)\n0,1;2\n0,2;3\n0,3;4\n");
        assert_eq!(found.preamble, Some((2, 1)));
        let header = found.header.expect("there is one");
        assert_eq!(
            (header.line, header.names),
            (3, vec!["t".into(), "Ua".into()])
        );
        assert_eq!(found.units, Some(vec!["(s)".into(), "(V)".into()]));
        assert_eq!(found.first_line, 5);
    }

    #[test]
    fn headers_shorter_than_their_rows_are_corrected() {
        let of_r = dialect("x,y\na,1,2\nb,3,4\nc,5,6\n");
        let header = of_r.header.expect("there is one");
        assert!(header.lacks_first);
        assert_eq!(header.names, ["", "x", "y"]);
        let trailing = dialect("x,y\n1,2,\n3,4,\n5,6,\n");
        assert_eq!(trailing.n_columns, 2);
        assert_eq!(dialect("x,y\n1,2,\n3,4,\nnote\n").n_columns, 2);
        assert_eq!(trailing.header.expect("there is one").names, ["x", "y"]);
    }

    #[test]
    fn a_comma_in_every_line_separates_or_marks_decimals() {
        let columns = |text: &str| (dialect(text).n_columns, dialect(text).doubts.len());
        assert_eq!(columns("x\n1,5\n2,25\n-3,125\n"), (1, 0));
        assert_eq!(columns("1,5\n7\n-3,125\n"), (1, 0));
        assert_eq!(columns("21,1%\n3,0%\n"), (2, 1));
        assert_eq!(columns("a,b\n1,5\n2,25\n"), (2, 0));
        let told = TableText::new("21,1%\n3,0%\n".into());
        let told = Dialect::detect(&told, Some(DecimalSign::Comma));
        assert_eq!(told.map(|told| told.n_columns), Some(1));
    }

    #[test]
    fn numbers_name_columns_beside_words_that_do_not_recur() {
        assert!(has_header(
            "land,code,2019,2020,2021\nx,A,1.5,2,3\ny,B,4,5,6\n"
        ));
        assert!(has_header("a,b,1\nx,u,2.5\nx,u,3.5\ny,v,1.5\ny,v,4.5\n"));
        assert!(!has_header("x,u,1\nx,u,2\ny,v,3\ny,v,4\n"));
        assert!(!has_header("x,1,2,4\ny,5,6,7\n"));
        let names = dialect("kind,code\n1,2\nkind,code\n3,4\n").doubts;
        assert_eq!(names.len(), 1, "names that stand below again are doubtful");
    }

    #[test]
    fn units_in_brackets_stand_above_columns_of_words_too() {
        let found = dialect("a,2020\n[s],(V)\nx,1.5\ny,2.5\n");
        assert!(found.units.is_some() && found.header.is_some());
        assert_eq!(
            dialect("t\n(s)\n01.02.2024\n02.02.2024\n").units,
            Some(vec!["(s)".into()])
        );
    }

    #[test]
    fn a_remark_that_names_the_columns_is_the_header() {
        for text in [
            "# t,x\n0,1.5\n1,2.5\n",
            "%t,x\n0,1.5\n1,2.5\n",
            "# t x\n0 1.5\n1 2.5\n",
        ] {
            let header = dialect(text).header.expect(text);
            assert!(header.is_remark);
            assert_eq!(
                (header.line, header.names),
                (1, vec!["t".into(), "x".into()])
            );
        }
        for text in [
            "# made on,2024\n0,1.5\n",
            "# one,two,three\n0,1.5\n",
            "# x\n0\n1\n",
        ] {
            assert_eq!(dialect(text).header, None, "{text}");
        }
    }

    #[test]
    fn a_row_of_numbers_in_brackets_holds_no_units() {
        assert_eq!(dialect("a,b\n(3.5),1\n2,2\n").units, None);
        assert!(dialect("a,b\ns,1\n2,2\n").units.is_some());
        assert!(dialect("a,b,c\n[s],,\n2,x,y\n3,z,y\n").units.is_some());
        assert_eq!(dialect("a,b\nA,x\nB,y\n").units, None);
    }
}
