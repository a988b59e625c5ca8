//! BrainVision samples written as text: a row per time (multiplexed) or per channel (vectorised).

use super::super::ini::Ini;
use super::super::text::{decode, quoted};
use super::super::{ByteSource, FilePlace, Findings, MemorySamples, ReadError};
use super::header::{BrainVisionHeader, Orientation};

/// What stands between and before the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextLayout {
    has_decimal_comma: bool,
    n_skipped_lines: usize,
    n_skipped_columns: usize,
}

impl TextLayout {
    pub(super) fn read(ini: &Ini<'_>) -> Self {
        let value = |key: &str| ini.get("ascii infos", key).map(|entry| entry.value);
        let count = |key: &str| value(key).and_then(|text| text.parse().ok()).unwrap_or(0);
        Self {
            has_decimal_comma: value("decimalsymbol") == Some(","),
            n_skipped_lines: count("skiplines"),
            n_skipped_columns: count("skipcolumns"),
        }
    }

    /// The words of a line that are numbers.
    fn words<'a>(&self, line: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let separates = |byte: &u8| byte.is_ascii_whitespace() || *byte == b';';
        line.split(separates)
            .filter(|word| !word.is_empty())
            .skip(self.n_skipped_columns)
    }

    fn number(&self, word: &[u8]) -> Option<f64> {
        let text = std::str::from_utf8(word).ok()?;
        match self.has_decimal_comma {
            true => text.replace(',', ".").parse().ok(),
            false => text.parse().ok(),
        }
    }
}

/// All samples, scaled; channels that a cut file leaves shorter are cut to the shortest.
pub(super) fn read(
    bytes: &ByteSource,
    header: &BrainVisionHeader,
    layout: TextLayout,
    findings: &mut Findings,
) -> Result<MemorySamples, ReadError> {
    let text = bytes.read_all()?;
    let lines = || {
        let numbered = text.split(|&byte| byte == b'\n').enumerate();
        let kept = numbered.skip(layout.n_skipped_lines);
        kept.filter(|(_, line)| !line.trim_ascii().is_empty())
    };
    let n_channels = header.channels.len();
    // Counted before memory is taken: a number is a letter and what separates it from the next.
    let n_samples = match header.orientation {
        Orientation::Multiplexed => lines().count(),
        Orientation::Vectorised => lines()
            .map(|(_, line)| layout.words(line).count())
            .max()
            .unwrap_or(0),
    };
    if n_samples.saturating_mul(n_channels) > text.len() / 2 + 1 {
        let found = format!("{} bytes", text.len());
        let expected = format!("{n_channels} channels × {n_samples} numbers");
        return Err(findings.refusal(FilePlace::File, "length of the data file", found, expected));
    }
    let mut channels: Vec<Vec<f64>> = (0..n_channels)
        .map(|_| Vec::with_capacity(n_samples))
        .collect();
    for (row, (line_number, line)) in lines().enumerate() {
        for (column, word) in layout.words(line).enumerate() {
            let channel = match header.orientation {
                Orientation::Multiplexed => column,
                Orientation::Vectorised => row,
            };
            let Some(values) = channels.get_mut(channel) else {
                break;
            };
            let Some(number) = layout.number(word) else {
                let found = quoted(&decode(word));
                let place = FilePlace::Line(line_number + 1);
                return Err(findings.refusal(place, "sample of the data file", found, "a number"));
            };
            values.push(number * header.channels[channel].resolution);
        }
    }
    let shortest = channels.iter().map(Vec::len).min().unwrap_or(0);
    if channels.iter().any(|values| values.len() != shortest) {
        let found = "channels of different length";
        let assumed = format!("read {shortest} samples of each channel");
        findings.breach(
            FilePlace::File,
            "data file",
            found,
            "equal lengths",
            assumed,
        )?;
        channels
            .iter_mut()
            .for_each(|values| values.truncate(shortest));
    }
    Ok(MemorySamples {
        channels,
        arrays: Vec::new(),
    })
}
