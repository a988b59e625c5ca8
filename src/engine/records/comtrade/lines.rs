//! Lines and fields of a COMTRADE configuration: separators, padding, numbers.

use std::fmt::Display;

use crate::records::text::quoted;
use crate::records::{FilePlace, Findings, ReadError};

/// One line of a configuration, cut into trimmed fields.
#[derive(Debug, Clone)]
pub(super) struct ConfigurationLine<'a> {
    /// Number in the file, from 1.
    pub(super) number: usize,
    /// The fields, without the white space around them.
    pub(super) fields: Vec<&'a str>,
}

impl<'a> ConfigurationLine<'a> {
    /// Field `index`; blank if the line is shorter.
    pub(super) fn field(&self, index: usize) -> &'a str {
        self.fields.get(index).copied().unwrap_or("")
    }

    /// Where it is, for messages.
    pub(super) fn place(&self) -> FilePlace {
        FilePlace::Line(self.number)
    }

    /// Number of fields without the blank ones at the end.
    pub(super) fn n_used(&self) -> usize {
        let last = self.fields.iter().rposition(|field| !field.is_empty());
        last.map_or(0, |last| last + 1)
    }

    /// A number that is blank or written as a number; `None` if it is blank.
    pub(super) fn number_at(
        &self,
        index: usize,
        name: &str,
        findings: &Findings,
    ) -> Result<Option<f64>, ReadError> {
        let text = self.field(index);
        if text.is_empty() {
            return Ok(None);
        }
        match parse_number(text) {
            Some(value) => Ok(Some(value)),
            None => Err(findings.refusal(self.place(), name, quoted(text), "a finite number")),
        }
    }
}

/// A finite number with a decimal point or comma and an exponent by E or D.
pub(super) fn parse_number(text: &str) -> Option<f64> {
    let direct = text.parse::<f64>().ok();
    let value = direct.or_else(|| {
        let normal: String = text
            .chars()
            .map(|c| match c {
                ',' => '.',
                'd' | 'D' => 'e',
                other => other,
            })
            .collect();
        normal.parse().ok()
    })?;
    value.is_finite().then_some(value)
}

/// A count that fits into memory and is written as a whole number (`40`, `40.0`).
pub(super) fn parse_count(text: &str) -> Option<usize> {
    if let Ok(count) = text.parse::<usize>() {
        return Some(count);
    }
    let value = parse_number(text)?;
    // 2^53: beyond it not every whole number exists.
    let whole = value.fract() == 0.0 && (0.0..9.007e15).contains(&value);
    whole.then_some(value as usize)
}

/// Cuts a configuration into its lines, leaving blank lines and padding out.
pub(super) fn split_lines<'a>(
    text: &'a str,
    findings: &mut Findings,
) -> Result<Vec<ConfigurationLine<'a>>, ReadError> {
    let filled = filled_lines(text, findings)?;
    let separator = separator_of(&filled);
    if separator != ',' {
        let shown = format!("{separator:?}");
        let assumed = "it was taken for the comma";
        findings.breach(FilePlace::Line(1), "separator", shown, "','", assumed)?;
    }
    let cut = |(number, line): (usize, &'a str)| ConfigurationLine {
        number,
        fields: line.split(separator).map(unquoted).collect(),
    };
    Ok(filled.into_iter().map(cut).collect())
}

/// Lines that hold more than white space and padding, with their numbers.
fn filled_lines<'a>(
    text: &'a str,
    findings: &mut Findings,
) -> Result<Vec<(usize, &'a str)>, ReadError> {
    let is_padding = |c: char| matches!(c, '\u{1a}' | '\0' | '\u{feff}');
    let is_blank = |c: char| is_padding(c) || c.is_whitespace();
    let mut filled: Vec<(usize, &str)> = Vec::new();
    let (mut padded_line, mut blank_line) = (None, None);
    let line_end = if text.contains('\n') { '\n' } else { '\r' };
    for (index, line) in text.split(line_end).enumerate() {
        let number = index + 1;
        let content = line.trim_matches(is_blank);
        if line.contains(is_padding) {
            padded_line.get_or_insert(number);
        }
        if !content.is_empty() {
            // Only blank lines before the last filled one are odd.
            if blank_line.is_none() && filled.last().map_or(0, |(last, _)| *last) + 1 < number {
                blank_line = Some(number - 1);
            }
            filled.push((number, line.trim_matches(is_padding)));
        }
    }
    if let Some(number) = padded_line {
        let assumed = "they were skipped";
        let found = "SUB or NUL characters";
        findings.breach(FilePlace::Line(number), "padding", found, "none", assumed)?;
    }
    if let Some(number) = blank_line {
        let assumed = "blank lines were skipped";
        findings.breach(FilePlace::Line(number), "line", "blank", "a field", assumed)?;
    }
    Ok(filled)
}

/// The separator that makes a list of channels of the second line (`8,4A,4D`).
fn separator_of(lines: &[(usize, &str)]) -> char {
    let counts = lines.get(1).map_or("", |(_, line)| *line);
    [',', ';', '\t', '|']
        .into_iter()
        .find(|separator| counts.contains(*separator))
        .unwrap_or(',')
}

/// A field without surrounding white space and quotation marks.
fn unquoted(field: &str) -> &str {
    let field = field.trim();
    field
        .strip_prefix('"')
        .and_then(|inner| inner.strip_suffix('"'))
        .map_or(field, str::trim)
}

/// Counts fields of one kind that were blank, to warn once and not per channel.
#[derive(Debug)]
pub(super) struct BlankFields {
    name: &'static str,
    assumed: &'static str,
    first: Option<FilePlace>,
    count: usize,
}

impl BlankFields {
    /// No blank field yet of this name; what is assumed for it.
    pub(super) fn new(name: &'static str, assumed: &'static str) -> Self {
        Self {
            name,
            assumed,
            first: None,
            count: 0,
        }
    }

    /// `value`, or the default after counting a blank field.
    pub(super) fn or<T>(&mut self, value: Option<T>, place: FilePlace, default: T) -> T {
        value.unwrap_or_else(|| {
            self.first.get_or_insert(place);
            self.count += 1;
            default
        })
    }

    /// One warning for all of them.
    pub(super) fn report(
        &self,
        findings: &mut Findings,
        expected: impl Display,
    ) -> Result<(), ReadError> {
        let Some(place) = self.first else {
            return Ok(());
        };
        let assumed = format!("{} was assumed ({} channels)", self.assumed, self.count);
        findings.breach(place, self.name, "blank", expected, assumed)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::records::Mode;

    #[test]
    fn numbers_of_several_habits_are_read() {
        assert_eq!(parse_number("2.836798e+000"), Some(2.836798));
        assert_eq!(parse_number("-0,5"), Some(-0.5));
        assert_eq!(parse_number("1.5D-03"), Some(0.0015));
        assert_eq!(parse_number(".5"), Some(0.5));
        assert_eq!(parse_number("NaN"), None);
        assert_eq!(parse_number("1e999"), None);
        assert_eq!(parse_number("1,000,000"), None);
        assert_eq!(parse_count("40.0"), Some(40));
        assert_eq!(parse_count("-1"), None);
        assert_eq!(parse_count("1e300"), None);
    }

    #[test]
    fn separators_padding_and_blank_lines_are_told() {
        let text = "a;b;1999\r\n\r\n8;4A;4D\r\n\u{1a}\u{1a}";
        let mut findings = Findings::new(Path::new("x.cfg"), Mode::Tolerant);
        let lines = split_lines(text, &mut findings).expect("tolerant");
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1].fields, ["8", "4A", "4D"]);
        assert_eq!(lines[1].number, 3);
        let told: Vec<String> = findings
            .into_warnings()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(told.len(), 3, "{told:?}");
        let mut strict = Findings::new(Path::new("x.cfg"), Mode::Strict);
        assert!(split_lines(text, &mut strict).is_err());
    }
}
