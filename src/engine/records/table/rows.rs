//! The rows of a text table: fields between separators, remarks left out.

use std::borrow::Cow;

use super::super::ReadError;
use super::MAX_COLUMNS;

/// What separates the fields of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// A single character; fields may be quoted.
    Byte(u8),
    /// Any stretch of white space.
    Spaces,
}

/// A text with line ends made one, and the separator that its first line may name.
pub(super) struct TableText<'a> {
    text: Cow<'a, str>,
    /// Bytes before the table: the line `sep=;`.
    start: usize,
    /// The separator that this line names.
    pub(super) named_separator: Option<Separator>,
}

impl<'a> TableText<'a> {
    /// Makes line ends of CR, CRLF and LF one, and looks for the line `sep=;` that Excel writes.
    pub(super) fn new(text: Cow<'a, str>) -> Self {
        let text = match text.contains('\r') {
            true => Cow::Owned(with_plain_ends(&text)),
            false => text,
        };
        // The end of a file as DOS marked it.
        let text = match text.strip_suffix('\u{1a}').map(str::len) {
            Some(length) => Cow::Owned(text[..length].to_owned()),
            None => text,
        };
        let first = text.lines().next().unwrap_or_default();
        let bare = first.trim().trim_matches('"');
        let is_named = bare
            .get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case("sep="));
        let separator = match bare.get(4..).map(str::as_bytes) {
            Some(&[byte]) if is_named && byte.is_ascii() => Some(Separator::Byte(byte)),
            Some(b"\\t" | b"") if is_named && (first.ends_with('\t') || bare.len() > 4) => {
                Some(Separator::Byte(b'\t'))
            }
            _ => None,
        };
        let start = match separator {
            Some(_) => (first.len() + 1).min(text.len()),
            None => 0,
        };
        Self {
            text,
            start,
            named_separator: separator,
        }
    }

    /// A text with line ends LF whose fields commas separate, whatever its first line says.
    pub(super) fn of_commas(text: Cow<'a, str>) -> Self {
        Self {
            text,
            start: 0,
            named_separator: Some(Separator::Byte(b',')),
        }
    }

    /// Lines before the table.
    pub(super) fn lines_before(&self) -> usize {
        usize::from(self.start > 0)
    }

    /// The table without that line.
    pub(super) fn table(&self) -> &str {
        self.text.get(self.start..).unwrap_or_default()
    }

    /// The first lines, and not much of them where they are long.
    pub(super) fn head(&self, n_lines: usize, n_bytes: usize) -> &str {
        let table = self.table();
        let nth_end = table.match_indices('\n').nth(n_lines);
        let lines_end = nth_end.map_or(table.len(), |(at, _)| at);
        let mut end = lines_end.min(n_bytes);
        while !table.is_char_boundary(end) {
            end -= 1;
        }
        table.get(..end).unwrap_or(table)
    }

    /// The last lines, and how many stand before them; nothing if they are longer than this.
    pub(super) fn tail(&self, n_lines: usize, n_bytes: usize) -> (&str, usize) {
        let table = self.table();
        let start = table.trim_end().rmatch_indices('\n').nth(n_lines);
        let (before, tail) = table.split_at(start.map_or(0, |(at, _)| at + 1));
        if tail.len() > n_bytes {
            return ("", 0);
        }
        let n_before = before.bytes().filter(|b| *b == b'\n').count();
        (tail, self.lines_before() + n_before)
    }

    /// The first empty line between the rows from this line on, and how many there are.
    pub(super) fn empty_lines(&self, first_line: usize) -> Option<(usize, usize)> {
        let lines = self.table().trim_end().lines().enumerate();
        let bare = |line: &'_ str| line.trim().trim_matches('"').is_empty();
        let numbered = lines.map(|(index, line)| (self.lines_before() + index + 1, bare(line)));
        let mut empty = numbered.filter(|(line, is_empty)| *line >= first_line && *is_empty);
        let (first, _) = empty.next()?;
        Some((first, 1 + empty.count()))
    }

    /// Calls `take` for every row with its line number, from 1 in the file; fields are trimmed.
    pub(super) fn for_each_row(
        &self,
        separator: Separator,
        take: impl FnMut(usize, &[&str]) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        for_each_row(self.table(), self.lines_before(), separator, take)
    }

    /// The line on which a quote is opened that nothing closes: all rows after it would be one field.
    pub(super) fn open_quote(&self, separator: Separator) -> Option<usize> {
        let Separator::Byte(byte) = separator else {
            return None;
        };
        let table = self.table();
        let mut last = None;
        if table.contains('"') {
            let mut reader = reader(table, byte);
            let mut record = csv::StringRecord::new();
            while reader.read_record(&mut record).unwrap_or(false) {
                let place = record.position();
                last = place.map(|place| (place.byte() as usize, place.line() as usize));
            }
        }
        let (start, line) = last?;
        // The last row swallows what would be another one.
        let tail = format!("{}\nx", table.get(start..)?.trim_end_matches('\n'));
        let n_rows = reader(&tail, byte).byte_records().count();
        (n_rows == 1).then_some(line + self.lines_before())
    }
}

/// Line ends CR and CRLF as LF.
fn with_plain_ends(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut pieces = text.split('\r').peekable();
    while let Some(piece) = pieces.next() {
        plain.push_str(piece);
        if pieces.peek().is_some_and(|next| !next.starts_with('\n')) {
            plain.push('\n');
        }
    }
    plain
}

fn reader(text: &str, separator: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes())
}

/// Calls `take` for every row with its line number; empty lines are none.
pub(super) fn for_each_row(
    text: &str,
    lines_before: usize,
    separator: Separator,
    mut take: impl FnMut(usize, &[&str]) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    match separator {
        Separator::Spaces => {
            for (index, line) in text.lines().enumerate() {
                // Spaces that do not break stand within a number: `1 234,5`.
                let fields: Vec<&str> = line.split_ascii_whitespace().collect();
                if !fields.is_empty() {
                    take(lines_before + index + 1, &fields)?;
                }
            }
        }
        Separator::Byte(byte) => {
            let mut reader = reader(text, byte);
            let mut record = csv::StringRecord::new();
            // The text is UTF-8 and rows are flexible: nothing is left to fail.
            while reader.read_record(&mut record).unwrap_or(false) {
                let line = record.position().map_or(0, csv::Position::line);
                let line = usize::try_from(line).unwrap_or(usize::MAX);
                let fields = record.iter().take(MAX_COLUMNS + 1).map(unquoted);
                let fields: Vec<&str> = fields.collect();
                if fields.iter().any(|field| !field.is_empty()) {
                    take(lines_before + line, &fields)?;
                }
            }
        }
    }
    Ok(())
}

/// A field without the spaces around it, and without the quotes that stand behind a space: `1, "2"`.
fn unquoted(field: &str) -> &str {
    let bare = field.trim();
    let inner = bare
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match inner {
        Some(inner) if bare.len() < field.len() => inner.trim(),
        _ => bare,
    }
}

/// Whether a row may be a remark: it begins with `#` or `%`, and not with the error of a spreadsheet.
pub(super) fn may_be_remark(fields: &[&str]) -> bool {
    fields
        .first()
        .is_some_and(|first| first.starts_with(['#', '%']) && !is_spreadsheet_error(first))
}

/// Whether a row that may be a remark is one all the same: its fields are not those of the table.
pub(super) fn is_remark(fields: &[&str], n_columns: usize, separator: Separator) -> bool {
    if !may_be_remark(fields) {
        return false;
    }
    let is_number = |field: &&&str| super::number_form::spelling(field).is_some();
    let others = fields.get(1..).unwrap_or_default();
    let fits = match separator {
        Separator::Byte(_) => {
            // The separators at the ends of lines make no column.
            let surplus = fields.get(n_columns..).unwrap_or_default();
            let is_whole =
                fields.len() >= n_columns && surplus.iter().all(|field| field.is_empty());
            n_columns > 1 && is_whole
        }
        // Words of a sentence may be as many as there are columns.
        Separator::Spaces => {
            fields.len() == n_columns && 2 * others.iter().filter(is_number).count() > others.len()
        }
    };
    !fits
}

/// Whether a field says that there is no value.
pub(super) fn is_missing(field: &str) -> bool {
    is_missing_word(field) || is_spreadsheet_error(field)
}

/// Words for a missing value that could be a name in a column of names.
pub(super) fn is_missing_word(field: &str) -> bool {
    const MARKS: [&str; 15] = [
        "", "nan", "na", "n/a", "n.a.", "<na>", "nat", "null", "\\n", "none", "?", "-", "--", ".",
        "missing",
    ];
    // Sodium is a name.
    field.len() <= 7 && field != "Na" && MARKS.iter().any(|mark| field.eq_ignore_ascii_case(mark))
}

/// Whether such a word is rather a name in a column of names: nobody writes `none` there for what is unknown.
pub(super) fn is_none(field: &str) -> bool {
    field.eq_ignore_ascii_case("none")
}

/// Whether a field is what a spreadsheet writes where a formula failed, in whatever language: `#DIV/0!`, `#NAME?`,
/// `#¡VALOR!`, `#ДЕЛ/0!`, and the words that have no mark behind them.
pub(super) fn is_spreadsheet_error(field: &str) -> bool {
    const WITHOUT_MARK: [&str; 10] = [
        "N/A",
        "NA",
        "NV",
        "N/D",
        "DIV/0",
        "NB",
        "YOK",
        "I/T",
        "Н/Д",
        "GETTING_DATA",
    ];
    const LONGEST: usize = 40;
    let Some(word) = field.strip_prefix('#').filter(|word| word.len() <= LONGEST) else {
        return false;
    };
    let has_mark = |word: &str| {
        let word = word.trim_start_matches(['¡', '¿']).trim_end();
        let is_part = |c: char| c.is_alphabetic() || matches!(c, '/' | '0' | '_');
        // `#Note!` is a remark.
        let is_shouted = !word.contains(char::is_lowercase) || word.contains("/0");
        word.starts_with(char::is_alphabetic) && is_shouted && word.chars().all(is_part)
    };
    word.strip_suffix(['!', '?']).is_some_and(has_mark)
        || WITHOUT_MARK
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, separator: Separator) -> Vec<(usize, Vec<String>)> {
        let text = TableText::new(text.into());
        let mut rows = Vec::new();
        let took = text.for_each_row(separator, |line, fields| {
            rows.push((line, fields.iter().map(|f| (*f).to_owned()).collect()));
            Ok(())
        });
        took.expect("nothing is refused");
        rows
    }

    #[test]
    fn line_ends_of_all_kinds_end_lines() {
        let comma = Separator::Byte(b',');
        for text in ["a,b\r1,2\r3,4", "a,b\r\n1,2\r\n3,4", "a,b\n1,2\r3,4\r\n"] {
            let rows = rows(text, comma);
            let lines: Vec<usize> = rows.iter().map(|(line, _)| *line).collect();
            assert_eq!(lines, [1, 2, 3], "{text:?}");
            assert_eq!(rows[2].1, ["3", "4"]);
        }
    }

    #[test]
    fn the_line_of_the_separator_is_no_row() {
        for text in ["sep=;\na;b\n", "\"sep=;\"\r\na;b\n", "SEP=;\ra;b"] {
            let made = TableText::new(text.into());
            assert_eq!(made.named_separator, Some(Separator::Byte(b';')), "{text}");
            assert_eq!(rows(text, Separator::Byte(b';'))[0].0, 2, "{text}");
        }
        assert_eq!(TableText::new("separate;b\n".into()).named_separator, None);
    }

    #[test]
    fn quotes_behind_a_space_are_no_part_of_a_field() {
        let rows = rows("a, \"b\"\n1, \"2.5\"\n", Separator::Byte(b','));
        assert_eq!(rows[0].1, ["a", "b"]);
        assert_eq!(rows[1].1, ["1", "2.5"]);
    }

    #[test]
    fn errors_of_spreadsheets_are_known_in_every_language() {
        for text in [
            "#DIV/0!",
            "#div/0!",
            "#DIV/0 !",
            "#N/A",
            "#NV",
            "#¡VALOR!",
            "#¿NOMBRE?",
            "#ДЕЛ/0!",
            "#ЗНАЧ!",
            "#DZIEL/0!",
            "#SPILL!",
            "#BLOCKED!",
            "#NÚM!",
        ] {
            assert!(is_spreadsheet_error(text), "{text}");
        }
        for text in [
            "#1", "#", "#!", "#5!", "# note!", "#Note!", "#tag", "DIV/0!",
        ] {
            assert!(!is_spreadsheet_error(text), "{text}");
        }
    }

    #[test]
    fn a_quote_that_nothing_closes_is_found() {
        let comma = Separator::Byte(b',');
        let open = |text: &str| TableText::new(text.into()).open_quote(comma);
        assert_eq!(open("a,b\n1,\"x\n2,y\n"), Some(2));
        assert_eq!(open("a,b\n1,\"x\ny\"\n2,5\" pipe\n"), None);
        assert_eq!(open("a,b\n1,\"x\ny\"\n2,z\n"), None);
    }
}
