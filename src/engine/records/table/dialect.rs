//! How a text table is written: separator, decimal sign, header.

/// What separates the fields of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// A single character; fields may be quoted.
    Byte(u8),
    /// Any stretch of white space.
    Spaces,
}

/// The way a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// What separates fields.
    pub(super) separator: Separator,
    /// Whether numbers have a decimal comma.
    pub(super) decimal_comma: bool,
    /// Whether the first row names the columns.
    pub(super) has_header: bool,
}

/// Lines examined.
const LINES_LOOKED_AT: usize = 200;
/// Fields examined in each line.
const FIELDS_LOOKED_AT: usize = 500;

impl Dialect {
    /// The dialect that makes most numbers of the first lines.
    pub(super) fn detect(text: &str) -> Dialect {
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty() && !is_comment(line))
            .take(LINES_LOOKED_AT)
            .collect();
        // In the order of preference where two fit equally well.
        let candidates = [
            Separator::Byte(b'\t'),
            Separator::Byte(b';'),
            Separator::Byte(b'|'),
            Separator::Byte(b','),
            Separator::Spaces,
        ];
        let mut best = (Separator::Byte(b','), 0.0);
        for separator in candidates {
            let score = fitness(separator, &lines);
            if score > best.1 {
                best = (separator, score);
            }
        }
        let rows: Vec<Vec<String>> = lines.iter().map(|line| cut(line, best.0)).collect();
        let decimal_comma = has_decimal_comma(&rows);
        Dialect {
            separator: best.0,
            decimal_comma,
            has_header: has_header(&rows, decimal_comma),
        }
    }

    /// A number written in this dialect.
    pub(super) fn number(&self, field: &str) -> Option<f64> {
        parse_number(field, self.decimal_comma)
    }
}

/// Whether a line is a remark.
pub(super) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with(['#', '%'])
}

/// Whether a field says that there is no value.
pub(super) fn is_missing(field: &str) -> bool {
    const MARKS: [&str; 10] = [
        "", "nan", "na", "n/a", "null", "none", "?", "-", "--", "missing",
    ];
    MARKS.iter().any(|mark| field.eq_ignore_ascii_case(mark))
}

/// A finite or infinite number; with a decimal comma, points group thousands.
fn parse_number(field: &str, decimal_comma: bool) -> Option<f64> {
    let plain = |text: &str| {
        let number: f64 = text.parse().ok()?;
        (!number.is_nan()).then_some(number)
    };
    if decimal_comma && field.contains(',') {
        let text: String = field
            .chars()
            .filter(|c| *c != '.')
            .map(|c| if c == ',' { '.' } else { c })
            .collect();
        plain(&text)
    } else {
        plain(field)
    }
}

/// Share of numbers among the fields of all but the first line, if the lines have equally many fields.
fn fitness(separator: Separator, lines: &[&str]) -> f64 {
    let rows: Vec<Vec<String>> = lines.iter().map(|line| cut(line, separator)).collect();
    let Some(n_fields) = rows.last().map(Vec::len).filter(|n| *n > 1) else {
        return 0.0;
    };
    let n_alike = rows.iter().filter(|row| row.len() == n_fields).count();
    // A few ragged rows do not make another separator.
    if n_alike * 10 < rows.len() * 9 {
        return 0.0;
    }
    let decimal_comma = has_decimal_comma(&rows);
    let body = rows
        .get(1..)
        .filter(|body| !body.is_empty())
        .unwrap_or(&rows);
    let fields = || body.iter().flatten();
    let is_value =
        |field: &&String| is_missing(field) || parse_number(field, decimal_comma).is_some();
    let n_values = fields().filter(is_value).count();
    // Separating at all is worth something, also between words.
    0.1 + n_values as f64 / fields().count().max(1) as f64
}

/// The fields of one line; a rough cut, good enough to compare separators.
fn cut(line: &str, separator: Separator) -> Vec<String> {
    match separator {
        Separator::Spaces => {
            let fields = line.split_whitespace().take(FIELDS_LOOKED_AT);
            fields.map(str::to_owned).collect()
        }
        Separator::Byte(byte) => {
            let mut is_quoted = false;
            let ends_field = |c: char| {
                is_quoted ^= c == '"';
                c == char::from(byte) && !is_quoted
            };
            let unquoted = |field: &str| field.trim().trim_matches('"').trim().to_owned();
            let fields = line.split(ends_field).take(FIELDS_LOOKED_AT);
            fields.map(unquoted).collect()
        }
    }
}

/// Whether numbers such as `1,5` occur and none such as `1.5`.
fn has_decimal_comma(rows: &[Vec<String>]) -> bool {
    let (mut with_comma, mut with_point) = (false, false);
    for field in rows.iter().flatten() {
        let has_digit = field.bytes().any(|b| b.is_ascii_digit());
        if !has_digit {
            continue;
        }
        with_point |= field.contains('.') && parse_number(field, false).is_some();
        with_comma |= field.matches(',').count() == 1 && parse_number(field, true).is_some();
    }
    with_comma && !with_point
}

/// Whether the first row holds names: none of its fields is a number, or one
/// is text above a column of numbers.
fn has_header(rows: &[Vec<String>], decimal_comma: bool) -> bool {
    let Some((first, body)) = rows.split_first() else {
        return false;
    };
    let is_number = |field: &str| parse_number(field, decimal_comma).is_some();
    let n_numbers = first.iter().filter(|field| is_number(field)).count();
    let n_texts = first
        .iter()
        .filter(|field| !is_number(field) && !is_missing(field))
        .count();
    if n_texts == 0 {
        return false;
    }
    if n_numbers == 0 {
        return true;
    }
    first.iter().enumerate().any(|(column, name)| {
        let below = body.iter().filter_map(|row| row.get(column));
        let mut filled = below.filter(|field| !is_missing(field)).peekable();
        let is_text = !is_number(name) && !is_missing(name);
        is_text && filled.peek().is_some() && filled.all(|field| is_number(field))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn detected(text: &str, separator: u8, decimal_comma: bool, has_header: bool) {
        let expected = Dialect {
            separator: Separator::Byte(separator),
            decimal_comma,
            has_header,
        };
        assert_eq!(Dialect::detect(text), expected, "{text}");
    }

    #[test]
    fn separators_and_decimal_signs_are_told_apart() {
        detected("a,b\n1.5,2\n3,4", b',', false, true);
        detected("a;b\n1,5;2\n3;4,25", b';', true, true);
        detected("1,5\t2\n3\t4,25", b'\t', true, false);
        detected(
            "\"a\",\"b,c\"\n\"1,5\",\"2\"\n\"3,5\",\"4\"",
            b',',
            true,
            true,
        );
        detected("x|y\n1|2", b'|', false, true);
        detected("time;name\n1;a,b\n2;c,d", b';', false, true);
        assert_eq!(
            Dialect::detect("1.0  2.0\n3.0 -4.0\n").separator,
            Separator::Spaces
        );
        assert_eq!(
            Dialect::detect("1,5 2,5\n3,5 4,5\n").separator,
            Separator::Spaces
        );
    }

    #[test]
    fn a_header_is_seen_only_where_one_is() {
        assert!(!Dialect::detect("1,2\n3,4\n").has_header);
        assert!(!Dialect::detect("5.1,3.5,setosa\n4.9,3.0,setosa\n").has_header);
        assert!(Dialect::detect("id,1,2\n7,3,4\n8,5,6\n").has_header);
        assert!(Dialect::detect("name,class\nx,a\ny,b\n").has_header);
        assert!(!Dialect::detect("12\n22\n35\n").has_header);
        assert!(Dialect::detect("value\n22\n35\n").has_header);
    }

    #[test]
    fn remarks_are_not_looked_at() {
        let text = "# made by; a program\n% version; 2\n1,2\n3,4\n";
        detected(text, b',', false, false);
    }
}
