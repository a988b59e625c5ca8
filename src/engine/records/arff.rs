//! ARFF tables (Weka): named attributes, numeric or nominal, dense or sparse rows.

use std::sync::Arc;

use super::number_column::NumberColumn;
use super::table::{MAX_COLUMNS, MAX_LEVELS, NameColumn};
use super::text::quoted;
use super::text_encoding;
use super::{
    Channel, ChannelKind, FilePlace, Findings, Format, Input, Kind, ReadError, ReadOptions, Record,
    SampleSource, Source, Unit,
};

/// Most different texts of a string attribute.
const MAX_TEXTS: usize = 1_000;

/// Whether the first line that is no remark declares a relation.
pub(super) fn is_certain(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines().map(str::trim_start);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('%'));
    first.is_some_and(|line| keyword(line).is_some_and(|(word, _)| word == "@relation"))
}

/// Reads an ARFF table.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let mut findings = Findings::new(input.path(), options.mode);
    let bytes = input.bytes.read_all()?;
    let decoded = text_encoding::decode(&bytes);
    decoded.report(&mut findings)?;
    let mut lines = decoded
        .text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line));
    let mut table = read_header(&mut lines, input, &mut findings)?;
    table.room = 4 * bytes.len() + (32 << 20);
    for (number, line) in lines {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('%') {
            table.take_row(number, line, &mut findings)?;
        }
    }
    let n_rows = table.n_rows;
    let attributes = table.attributes;
    let channels = attributes
        .iter()
        .map(|attribute| attribute.channel(n_rows, options.rate_hz))
        .collect();
    let source = Source::new(input.path(), input.bytes.len());
    let samples = Arc::new(ArffSamples { attributes });
    let mut record = Record::new(Format::Arff, Kind::Table, source, channels, samples);
    record.warnings = findings.into_warnings();
    Ok(record)
}

/// `@word rest`, the word in lower case.
fn keyword(line: &str) -> Option<(String, &str)> {
    let line = line.trim_start_matches('\u{feff}').trim();
    if !line.starts_with('@') {
        return None;
    }
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    let (word, rest) = line.split_at_checked(end)?;
    Some((word.to_ascii_lowercase(), rest.trim()))
}

/// Declarations up to and including `@data`.
fn read_header<'a>(
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
    input: &Input,
    findings: &mut Findings,
) -> Result<ArffTable, ReadError> {
    let mut table = ArffTable::default();
    for (number, line) in lines {
        let line = line.trim();
        if line.is_empty() || line.starts_with('%') {
            continue;
        }
        let place = FilePlace::Line(number);
        match keyword(line) {
            Some((word, _)) if word == "@relation" => {}
            Some((word, rest)) if word == "@attribute" => {
                let attribute = ArffAttribute::parse(rest, number, input, findings)?;
                table.add(attribute, place, findings)?;
            }
            Some((word, _)) if word == "@data" => {
                if table.attributes.is_empty() {
                    let expected = "at least one before @data";
                    return Err(findings.refusal(place, "attributes", "none", expected));
                }
                return Ok(table);
            }
            _ => {
                let expected = "@relation, @attribute or @data";
                let found = quoted(line);
                findings.breach(
                    place,
                    "declaration",
                    found,
                    expected,
                    "the line was skipped",
                )?;
            }
        }
    }
    let expected = "a line @data after the attributes";
    Err(findings.refusal(FilePlace::File, "@data", "missing", expected))
}

#[derive(Debug, Default)]
struct ArffTable {
    attributes: Vec<ArffAttribute>,
    /// Names declared by all nominal attributes.
    n_names: usize,
    n_rows: usize,
    /// Bytes that sparse rows may take.
    room: usize,
}

/// A named column.
#[derive(Debug)]
struct ArffAttribute {
    name: String,
    values: ArffValues,
}

#[derive(Debug)]
enum ArffValues {
    Numeric(NumberColumn),
    /// The names are declared.
    Nominal(NameColumn),
    /// The names are those that occur.
    Text(NameColumn),
}

impl ArffAttribute {
    fn parse(
        declaration: &str,
        line: usize,
        input: &Input,
        findings: &mut Findings,
    ) -> Result<ArffAttribute, ReadError> {
        let place = FilePlace::Line(line);
        let (name, rest) = take_token(declaration.trim(), &[]);
        let kind = rest.trim();
        if name.is_empty() || kind.is_empty() {
            let expected = "a name and a type";
            return Err(findings.refusal(place, "attribute", quoted(declaration), expected));
        }
        let word = kind
            .split(|c: char| c.is_whitespace() || c == '[')
            .next()
            .unwrap_or("");
        let values = match word.to_ascii_lowercase().as_str() {
            "numeric" | "real" | "integer" => ArffValues::Numeric(NumberColumn::new()),
            "string" => ArffValues::Text(NameColumn::new(Vec::new(), MAX_TEXTS)),
            word @ ("date" | "relational") => {
                let remedy = match word {
                    "date" => "write the date as seconds (numeric) or as text (string)",
                    _ => "flatten it into attributes of its own",
                };
                return Err(ReadError::Unsupported {
                    path: input.path().to_owned(),
                    what: format!("{word} attribute {} on line {line}", quoted(&name)),
                    remedy: remedy.to_owned(),
                });
            }
            _ => match nominal_names(kind, MAX_LEVELS + 1) {
                Some(names) => ArffValues::Nominal(NameColumn::new(names, MAX_LEVELS)),
                None => {
                    let expected = "numeric, real, integer, string or {names}";
                    return Err(findings.refusal(place, "attribute type", quoted(kind), expected));
                }
            },
        };
        Ok(ArffAttribute { name, values })
    }

    fn n_names(&self) -> usize {
        match &self.values {
            ArffValues::Numeric(_) => 0,
            ArffValues::Nominal(names) | ArffValues::Text(names) => names.levels.len(),
        }
    }

    /// The default of a sparse row: zero, or the first name.
    fn push_default(&mut self) {
        match &mut self.values {
            ArffValues::Numeric(numbers) => numbers.push_whole(0),
            ArffValues::Nominal(names) | ArffValues::Text(names) => names.positions.push_whole(0),
        }
    }

    fn push(
        &mut self,
        field: &ArffField,
        line: usize,
        findings: &mut Findings,
    ) -> Result<(), ReadError> {
        let is_missing = !field.is_quoted && (field.text == "?" || field.text.is_empty());
        let place = FilePlace::Line(line);
        let text = field.text.as_str();
        match &mut self.values {
            ArffValues::Numeric(numbers) => {
                let number = text.parse::<f64>().ok();
                numbers.push(number.unwrap_or(f64::NAN));
                if number.is_none() && !is_missing {
                    let found = quoted(text);
                    let assumed = "taken as missing";
                    return findings.breach(place, &self.name, found, "a number", assumed);
                }
            }
            ArffValues::Nominal(names) | ArffValues::Text(names) if is_missing => {
                names.push_missing()
            }
            ArffValues::Text(names) => names.push(text),
            ArffValues::Nominal(names) => match names.position(text) {
                Some(position) => names.positions.push_whole(position),
                None => {
                    names.push_missing();
                    let expected = "one of the declared names";
                    let assumed = "taken as missing";
                    return findings.breach(place, &self.name, quoted(text), expected, assumed);
                }
            },
        }
        Ok(())
    }

    fn channel(&self, n_rows: usize, rate_hz: Option<f64>) -> Channel {
        let mut channel = Channel::analog(self.name.clone(), Unit::none(), rate_hz, n_rows);
        if let ArffValues::Nominal(names) | ArffValues::Text(names) = &self.values {
            channel.kind = ChannelKind::Nominal {
                levels: names.levels.as_slice().into(),
            };
        }
        channel
    }
}

/// Names of `{a, 'b c', "d"}`.
fn nominal_names(kind: &str, most: usize) -> Option<Vec<String>> {
    let inner = kind.strip_prefix('{')?;
    let inner = inner.trim_end().strip_suffix('}').unwrap_or(inner);
    let fields = fields(inner, most);
    Some(fields.into_iter().map(|field| field.text).collect())
}

/// One field of a row.
struct ArffField {
    text: String,
    is_quoted: bool,
}

/// Fields between commas, or between white space if there is no comma;
/// quotation marks and backslashes resolved; at most `most` of them.
fn fields(line: &str, most: usize) -> Vec<ArffField> {
    let ends: &[char] = if line.contains(',') { &[','] } else { &[] };
    let mut fields = Vec::new();
    let mut rest = line.trim();
    loop {
        let is_quoted = rest.starts_with(['\'', '"']);
        let (text, after) = take_token(rest, ends);
        fields.push(ArffField { text, is_quoted });
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(next) => next.trim_start(),
            None if ends.is_empty() && !after.is_empty() => after,
            None => return fields,
        };
        if fields.len() >= most {
            return fields;
        }
    }
}

/// The first token of `text` and what follows it.
///
/// A token ends at white space if `ends` is empty, otherwise at one of `ends`
/// (white space around it does not belong to it).
fn take_token<'a>(text: &'a str, ends: &[char]) -> (String, &'a str) {
    let mut characters = text.char_indices();
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let mut token = String::new();
    if quote.is_some() {
        characters.next();
    }
    while let Some((at, c)) = characters.next() {
        let ends_here = match quote {
            Some(mark) => c == mark,
            None if ends.is_empty() => c.is_whitespace(),
            None => ends.contains(&c),
        };
        if ends_here {
            let from = if quote.is_some() {
                at + c.len_utf8()
            } else {
                at
            };
            let after = text.get(from..).unwrap_or("");
            return (finished(token, quote), after);
        }
        match (c, quote) {
            ('\\', Some(_)) => token.extend(characters.next().map(|(_, escaped)| escaped)),
            _ => token.push(c),
        }
    }
    (finished(token, quote), "")
}

fn finished(token: String, quote: Option<char>) -> String {
    match quote {
        Some(_) => token,
        None => token.trim().to_owned(),
    }
}

impl ArffTable {
    /// Adds an attribute unless there are too many of them or of their names.
    fn add(
        &mut self,
        attribute: ArffAttribute,
        place: FilePlace,
        findings: &Findings,
    ) -> Result<(), ReadError> {
        self.n_names += attribute.n_names();
        self.attributes.push(attribute);
        if self.attributes.len() > MAX_COLUMNS {
            let expected = format!("at most {MAX_COLUMNS}");
            return Err(findings.refusal(place, "attributes", self.attributes.len(), expected));
        }
        if self.n_names > MAX_LEVELS {
            let expected = format!("at most {MAX_LEVELS} in all attributes");
            return Err(findings.refusal(place, "nominal names", self.n_names, expected));
        }
        Ok(())
    }

    fn take_row(
        &mut self,
        number: usize,
        line: &str,
        findings: &mut Findings,
    ) -> Result<(), ReadError> {
        if let Some(inner) = line.strip_prefix('{') {
            let inner = inner.split('}').next().unwrap_or("");
            return self.take_sparse_row(number, inner, findings);
        }
        let n_attributes = self.attributes.len();
        let fields = fields(line, n_attributes + 1);
        if fields.len() != n_attributes {
            let found = match fields.len() {
                more if more > n_attributes => "more fields".to_owned(),
                fewer => format!("{fewer} fields"),
            };
            let assumed = "the row was skipped";
            return findings.breach(FilePlace::Line(number), "row", found, n_attributes, assumed);
        }
        for (attribute, field) in self.attributes.iter_mut().zip(&fields) {
            attribute.push(field, number, findings)?;
        }
        self.n_rows += 1;
        Ok(())
    }

    /// `{1 x, 4 y}`: attributes that are not named have their default.
    fn take_sparse_row(
        &mut self,
        number: usize,
        inner: &str,
        findings: &mut Findings,
    ) -> Result<(), ReadError> {
        let place = FilePlace::Line(number);
        let taken = (self.n_rows + 1)
            .saturating_mul(self.attributes.len())
            .saturating_mul(8);
        if taken > self.room {
            let found = format!("more than {} bytes when filled up", self.room);
            let expected = "a file of proportionate size; store it densely";
            return Err(findings.refusal(place, "sparse rows", found, expected));
        }
        let mut given: Vec<(usize, ArffField)> = Vec::new();
        for part in inner
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (index, value) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
            let index = index.parse().ok().filter(|i| *i < self.attributes.len());
            let Some(index) = index else {
                let expected = format!("a number under {} and a value", self.attributes.len());
                let assumed = "it was skipped";
                findings.breach(place, "sparse value", quoted(part), expected, assumed)?;
                continue;
            };
            let is_quoted = value.trim_start().starts_with(['\'', '"']);
            let (text, _) = take_token(value.trim_start(), &[',']);
            given.push((index, ArffField { text, is_quoted }));
        }
        given.sort_by_key(|(index, _)| *index);
        given.dedup_by_key(|(index, _)| *index);
        let mut given = given.iter().peekable();
        for (position, attribute) in self.attributes.iter_mut().enumerate() {
            match given.next_if(|(index, _)| *index == position) {
                Some((_, field)) => attribute.push(field, number, findings)?,
                None => attribute.push_default(),
            }
        }
        self.n_rows += 1;
        Ok(())
    }
}

/// The columns of the table, in memory.
#[derive(Debug)]
struct ArffSamples {
    attributes: Vec<ArffAttribute>,
}

impl SampleSource for ArffSamples {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let attribute = self.attributes.get(channel);
        for (offset, value) in out.iter_mut().enumerate() {
            *value = match attribute.map(|attribute| &attribute.values) {
                Some(ArffValues::Numeric(numbers)) => numbers.get(first + offset),
                Some(ArffValues::Nominal(names) | ArffValues::Text(names)) => {
                    names.positions.get(first + offset)
                }
                None => f64::NAN,
            };
        }
        Ok(())
    }
}
