//! The combined file (.cff) of the 2013 revision: configuration, notes and data in one.

use std::io::{BufRead, BufReader};

use crate::records::source_reader::SourceReader;
use crate::records::{ByteSource, FilePlace, Findings, ReadError};

use super::configuration::DataType;

/// Where configuration and data lie in a combined file.
#[derive(Debug, PartialEq)]
pub(super) struct Parts {
    /// Bytes of the configuration.
    pub(super) configuration: (u64, u64),
    /// Bytes of the data.
    pub(super) data: (u64, u64),
    /// Type of the data, if its separator names it.
    pub(super) data_type: Option<DataType>,
}

/// A line between sections: `--- file type: DAT BINARY: 1024 ---`.
#[derive(Debug, PartialEq)]
struct Heading {
    section: String,
    data_type: Option<DataType>,
    length: Option<u64>,
    /// Whether it is written as the standard asks.
    exact: bool,
}

/// Whether a file starts like a combined file.
pub(super) fn is_combined(head: &[u8]) -> bool {
    let start = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    let line = start.trim_ascii_start().split(|b| *b == b'\n').next();
    line.and_then(heading)
        .is_some_and(|heading| heading.section == "CFG")
}

/// Finds the sections of a combined file.
pub(super) fn find_parts(source: &ByteSource, findings: &mut Findings) -> Result<Parts, ReadError> {
    let mut reader = BufReader::new(SourceReader::new(source, 0, u64::MAX));
    let (mut at, mut line) = (0_u64, Vec::new());
    let mut configuration: Option<(u64, u64)> = None;
    let mut data: Option<(Heading, u64, u64)> = None;
    let mut open: Option<(Heading, u64)> = None;
    loop {
        line.clear();
        let cannot = |error| ReadError::io(source.path(), error);
        let n = reader.read_until(b'\n', &mut line).map_err(cannot)? as u64;
        let found = if n == 0 { None } else { heading(&line) };
        if n == 0 || found.is_some() {
            match open.take() {
                Some((section, start)) if section.section == "CFG" && configuration.is_none() => {
                    configuration = Some((start, at));
                }
                Some((section, start)) if section.section == "DAT" => {
                    data = Some((section, start, at));
                }
                _ => {}
            }
        }
        if n == 0 || data.is_some() {
            break;
        }
        at += n;
        if let Some(found) = found {
            if !found.exact {
                let shown = format!("{:?}", String::from_utf8_lossy(line.trim_ascii()));
                let expected = "\"--- file type: … ---\"";
                let assumed = "it was taken for one";
                findings.breach(
                    FilePlace::Byte(at - n),
                    "separator",
                    shown,
                    expected,
                    assumed,
                )?;
            }
            let is_binary = found.data_type.is_some_and(|kind| kind != DataType::Ascii);
            if found.section == "DAT" && is_binary {
                // Binary data may hold anything, also what looks like a separator.
                let end = data_end(source, at, &found, findings)?;
                data = Some((found, at, end));
                break;
            }
            open = Some((found, at));
        }
    }
    let missing = |section: &str| {
        let field = format!("section {section}");
        findings.refusal(FilePlace::File, &field, "missing", "one in a combined file")
    };
    let configuration = configuration.ok_or_else(|| missing("CFG"))?;
    let (heading, start, end) = data.ok_or_else(|| missing("DAT"))?;
    Ok(Parts {
        configuration,
        data: (start, end),
        data_type: heading.data_type,
    })
}

/// End of binary data: the declared length if it fits into the file.
fn data_end(
    source: &ByteSource,
    start: u64,
    heading: &Heading,
    findings: &mut Findings,
) -> Result<u64, ReadError> {
    let Some(length) = heading.length else {
        return Ok(source.len());
    };
    match start.checked_add(length).filter(|end| *end <= source.len()) {
        Some(end) => Ok(end),
        None => {
            let found = format!("{} bytes", source.len().saturating_sub(start));
            let expected = format!("{length} as declared");
            let assumed = "the bytes present are read";
            findings.breach(
                FilePlace::Byte(start),
                "data length",
                found,
                expected,
                assumed,
            )?;
            Ok(source.len())
        }
    }
}

/// Reads a separator line; recorders vary dashes, colon and case.
fn heading(line: &[u8]) -> Option<Heading> {
    const LONGEST: usize = 120;
    let text = std::str::from_utf8(line.get(..LONGEST).unwrap_or(line)).ok()?;
    let text = text.trim_start_matches('\u{feff}').trim();
    let inner = text.trim_matches('-').trim();
    let (before, after) = (
        text.len() - text.trim_start_matches('-').len(),
        text.len() - text.trim_end_matches('-').len(),
    );
    if before < 2 {
        return None;
    }
    let lower = inner.to_ascii_lowercase();
    let kind = lower.strip_prefix("file type")?;
    let colon = kind.trim_start().starts_with(':');
    let mut words = kind.split([' ', ':', '\t']).filter(|word| !word.is_empty());
    let section = words.next()?.to_ascii_uppercase();
    let rest: Vec<&str> = words.collect();
    Some(Heading {
        section,
        data_type: rest.iter().find_map(|word| DataType::parse(word)),
        length: rest.iter().find_map(|word| word.parse().ok()),
        exact: before == 3 && after == 3 && colon,
    })
}
