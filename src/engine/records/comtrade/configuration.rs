//! The configuration (.cfg) of a COMTRADE record: what was recorded, how to scale it, when.
//!
//! Field names follow IEEE C37.111-1991, -1999 and -2013 (IEC 60255-24).

use crate::records::text::quoted;
use crate::records::{FilePlace, Findings, ReadError, TransformerSide};

use super::lines::{BlankFields, ConfigurationLine, parse_count, split_lines};
use super::moment::{self, Moment};

/// The revision whose layout a record follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Revision {
    R1991,
    R1999,
    R2013,
}

/// How the samples are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataType {
    /// Text, one sample time per line.
    Ascii,
    /// Two-byte whole numbers.
    Binary,
    /// Four-byte whole numbers.
    Binary32,
    /// Four-byte floating point numbers.
    Float32,
}

impl DataType {
    /// The type of that name, in any case.
    pub(super) fn parse(name: &str) -> Option<DataType> {
        match name.trim().to_ascii_uppercase().as_str() {
            "ASCII" => Some(DataType::Ascii),
            "BINARY" | "BINARY16" => Some(DataType::Binary),
            "BINARY32" => Some(DataType::Binary32),
            "FLOAT32" => Some(DataType::Float32),
            _ => None,
        }
    }

    /// The name in a configuration.
    pub(super) fn name(self) -> &'static str {
        match self {
            DataType::Ascii => "ASCII",
            DataType::Binary => "BINARY",
            DataType::Binary32 => "BINARY32",
            DataType::Float32 => "FLOAT32",
        }
    }
}

/// An analog channel: value = `multiplier` × stored number + `offset`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AnalogChannel {
    pub(super) name: String,
    pub(super) phase: String,
    pub(super) circuit: String,
    pub(super) unit: String,
    pub(super) multiplier: f64,
    pub(super) offset: f64,
    pub(super) skew_us: f64,
    /// Range of stored numbers, as declared; NaN if blank.
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) primary: f64,
    pub(super) secondary: f64,
    pub(super) scaling: Option<TransformerSide>,
}

/// A digital (status) channel.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DigitalChannel {
    pub(super) name: String,
    pub(super) phase: String,
    pub(super) circuit: String,
    pub(super) normal: Option<bool>,
}

/// A declared section of constant rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DeclaredRate {
    /// Samples per second.
    pub(super) rate_hz: f64,
    /// Number of the last sample of the section, from 1.
    pub(super) last_sample: usize,
}

/// Everything a configuration says.
#[derive(Debug, Clone)]
pub(super) struct Configuration {
    pub(super) station: String,
    pub(super) device: String,
    pub(super) revision: Revision,
    pub(super) analog: Vec<AnalogChannel>,
    pub(super) digital: Vec<DigitalChannel>,
    pub(super) line_frequency_hz: Option<f64>,
    /// Sections of constant rate; empty if every sample has a time stamp instead.
    pub(super) rates: Vec<DeclaredRate>,
    /// Number of samples declared, if any is.
    pub(super) n_declared: Option<usize>,
    pub(super) start: Option<Moment>,
    pub(super) trigger: Option<Moment>,
    /// How the samples are stored; `None` if the line is missing.
    pub(super) data_type: Option<DataType>,
    /// Factor on the time stamps.
    pub(super) time_multiplier: f64,
}

impl Configuration {
    /// Seconds per unit of the time stamps.
    pub(super) fn stamp_unit_s(&self) -> f64 {
        let fine = self.start.is_some_and(|start| start.nanoseconds);
        let base_s = if fine { 1e-9 } else { 1e-6 };
        base_s * self.time_multiplier
    }

    /// Reads the text of a configuration.
    pub(super) fn parse(text: &str, findings: &mut Findings) -> Result<Configuration, ReadError> {
        let lines = split_lines(text, findings)?;
        let [identity, counts, rest @ ..] = lines.as_slice() else {
            let found = format!("{} filled lines", lines.len());
            let expected =
                "a COMTRADE configuration: station line, channel counts, channels, rates";
            return Err(findings.refusal(FilePlace::File, "configuration", found, expected));
        };
        let (n_analog, n_digital) = channel_counts(counts, rest, findings)?;
        let (analog_lines, rest) = rest.split_at_checked(n_analog).unwrap_or((rest, &[]));
        let (digital_lines, rest) = rest.split_at_checked(n_digital).unwrap_or((rest, &[]));
        let (station, device, revision) = parse_identity(identity, analog_lines, findings)?;
        let mut configuration = Configuration {
            station,
            device,
            revision,
            analog: parse_analog(analog_lines, revision, findings)?,
            digital: digital_lines.iter().map(parse_digital).collect(),
            line_frequency_hz: None,
            rates: Vec::new(),
            n_declared: None,
            start: None,
            trigger: None,
            data_type: None,
            time_multiplier: 1.0,
        };
        let rest = configuration.parse_rates(rest, findings)?;
        let rest = configuration.parse_moments(rest, findings)?;
        configuration.parse_storage(rest, findings)?;
        Ok(configuration)
    }

    /// Line frequency, number of rates, rates; gives back the lines after them.
    fn parse_rates<'a, 'b>(
        &mut self,
        lines: &'b [ConfigurationLine<'a>],
        findings: &mut Findings,
    ) -> Result<&'b [ConfigurationLine<'a>], ReadError> {
        // The line frequency may be blank, and blank lines are gone: the line
        // before the first pair of numbers is the count of rates.
        let has_frequency = lines.get(1).is_none_or(|line| line.n_used() < 2);
        let mut rest = lines;
        if has_frequency {
            if let Some((line, tail)) = lines.split_first() {
                let frequency_hz = line.number_at(0, "line frequency", findings)?;
                self.line_frequency_hz = frequency_hz.filter(|hz| *hz > 0.0);
                rest = tail;
            }
        } else {
            let place = lines
                .first()
                .map_or(FilePlace::File, ConfigurationLine::place);
            let assumed = "it is taken as unknown";
            findings.breach(place, "line frequency", "blank", "50 or 60", assumed)?;
        }
        let Some((line, tail)) = rest.split_first() else {
            let assumed = "time stamps are used";
            findings.breach(FilePlace::File, "nrates", "missing", "a count", assumed)?;
            return Ok(rest);
        };
        let Some(n_rates) = parse_count(line.field(0)) else {
            let expected = "the number of sampling rates";
            return Err(findings.refusal(line.place(), "nrates", quoted(line.field(0)), expected));
        };
        self.parse_sections(n_rates, tail, findings)
    }

    fn parse_sections<'a, 'b>(
        &mut self,
        n_rates: usize,
        lines: &'b [ConfigurationLine<'a>],
        findings: &mut Findings,
    ) -> Result<&'b [ConfigurationLine<'a>], ReadError> {
        let is_rate = |line: &&ConfigurationLine| parse_count(line.field(1)).is_some();
        let n_present = lines.iter().take_while(is_rate).count();
        // With no rate there is still one line: zero and the number of samples.
        let n_expected = n_rates.max(usize::from(n_present > 0));
        let place = lines
            .first()
            .map_or(FilePlace::File, ConfigurationLine::place);
        if n_present != n_expected {
            let found = format!("{n_present} lines of rate and last sample");
            let assumed = "those present are used";
            findings.breach(place, "sampling rates", found, n_expected, assumed)?;
        }
        let (sections, rest) = lines.split_at_checked(n_present).unwrap_or((lines, &[]));
        for line in sections {
            let rate_hz = line.number_at(0, "sampling rate", findings)?.unwrap_or(0.0);
            let last_sample = parse_count(line.field(1)).unwrap_or(0);
            self.n_declared = self.n_declared.max(Some(last_sample));
            let is_padding = self
                .rates
                .last()
                .is_some_and(|last| last.last_sample == last_sample);
            if n_rates > 0 && rate_hz <= 0.0 && !is_padding {
                let assumed = "time stamps are used";
                findings.breach(line.place(), "sampling rate", rate_hz, "above 0", assumed)?;
            }
            self.rates.push(DeclaredRate {
                rate_hz,
                last_sample,
            });
        }
        self.correct_section_ends(place, findings)?;
        if n_rates == 0 || self.rates.iter().any(|section| section.rate_hz <= 0.0) {
            self.rates.clear();
        }
        Ok(rest)
    }

    /// Ends are cumulative. A section that repeats the end before it is empty padding and is left out; where an end is
    /// smaller than the one before, all of them are lengths, as some recorders write.
    fn correct_section_ends(
        &mut self,
        place: FilePlace,
        findings: &mut Findings,
    ) -> Result<(), ReadError> {
        let falls = |pair: &[DeclaredRate]| matches!(pair, [a, b] if b.last_sample < a.last_sample);
        if !self.rates.windows(2).any(falls) {
            let mut end = 0;
            self.rates.retain(|section| {
                let is_filled = section.last_sample > end;
                end = section.last_sample;
                is_filled
            });
            return Ok(());
        }
        let assumed = "the numbers were taken as lengths of the sections";
        findings.breach(
            place,
            "last sample of a section",
            "falling",
            "rising",
            assumed,
        )?;
        let mut end = 0_usize;
        for section in &mut self.rates {
            end = end.saturating_add(section.last_sample);
            section.last_sample = end;
        }
        self.n_declared = Some(end);
        Ok(())
    }

    /// Start and trigger; gives back the lines after them.
    fn parse_moments<'a, 'b>(
        &mut self,
        lines: &'b [ConfigurationLine<'a>],
        findings: &mut Findings,
    ) -> Result<&'b [ConfigurationLine<'a>], ReadError> {
        let is_type = |line: &ConfigurationLine| DataType::parse(line.field(0)).is_some();
        let n_moments = lines
            .iter()
            .take(2)
            .take_while(|line| !is_type(line))
            .count();
        let (moments, rest) = lines.split_at_checked(n_moments).unwrap_or((lines, &[]));
        if n_moments < 2 {
            let place = lines
                .first()
                .map_or(FilePlace::File, ConfigurationLine::place);
            let found = format!("{n_moments} lines");
            let expected = "two lines, start and trigger";
            let assumed = "the missing one is taken as unknown";
            findings.breach(place, "date and time", found, expected, assumed)?;
        }
        let mut read = Vec::with_capacity(2);
        for line in moments {
            let moment = moment::parse(line.field(0), line.field(1), self.revision);
            let found = quoted(&line.fields.join(","));
            // Blank fields are how the standard says that a time is unknown.
            let is_blank = line.n_used() == 0;
            match moment {
                None if is_blank => {}
                None => {
                    let assumed = "it is taken as unknown";
                    findings.breach(line.place(), "date and time", found, "one", assumed)?;
                }
                Some(moment) if moment.swapped => {
                    let expected = match self.revision {
                        Revision::R1991 => "the month first",
                        Revision::R1999 | Revision::R2013 => "the day first",
                    };
                    let assumed = "day and month were swapped";
                    findings.breach(line.place(), "date", found, expected, assumed)?;
                }
                Some(_) => {}
            }
            read.push(moment);
        }
        self.start = read.first().copied().flatten();
        self.trigger = read.get(1).copied().flatten();
        Ok(rest)
    }

    /// File type, time multiplier, time codes.
    fn parse_storage(
        &mut self,
        lines: &[ConfigurationLine],
        findings: &mut Findings,
    ) -> Result<(), ReadError> {
        if let Some(line) = lines.first() {
            self.data_type = DataType::parse(line.field(0));
            if self.data_type.is_none() {
                let found = quoted(line.field(0));
                let expected = "ASCII, BINARY, BINARY32 or FLOAT32";
                let assumed = "it was inferred from the data";
                findings.breach(line.place(), "file type", found, expected, assumed)?;
            }
        }
        if let Some(line) = lines.get(1) {
            let factor = line.number_at(0, "time multiplier", findings)?;
            self.time_multiplier = factor.filter(|f| *f > 0.0).unwrap_or(1.0);
            if factor.is_some_and(|f| f <= 0.0) {
                let found = line.field(0);
                findings.breach(
                    line.place(),
                    "time multiplier",
                    found,
                    "above 0",
                    "1 is used",
                )?;
            }
        }
        self.check_late_lines(lines, findings)?;
        let code = lines.get(2).map(|line| line.field(0));
        if let (Some(start), Some(code)) = (&mut self.start, code) {
            start.time.utc_offset_min = moment::utc_offset_min(code);
        }
        Ok(())
    }

    /// Lines that a revision asks for at the end and that recorders forget.
    fn check_late_lines(
        &self,
        lines: &[ConfigurationLine],
        findings: &mut Findings,
    ) -> Result<(), ReadError> {
        let expected: &[&str] = match self.revision {
            Revision::R1991 => &["file type"],
            Revision::R1999 => &["file type", "time multiplier"],
            Revision::R2013 => &[
                "file type",
                "time multiplier",
                "time code",
                "time quality code",
            ],
        };
        let missing = expected.get(lines.len()..).unwrap_or(&[]);
        if missing.is_empty() {
            return Ok(());
        }
        let list = missing.join(", ");
        let assumed = "the usual values are used";
        findings.breach(
            FilePlace::File,
            "end of the configuration",
            "missing",
            list,
            assumed,
        )
    }
}

/// Station, device and revision.
fn parse_identity(
    line: &ConfigurationLine,
    analog: &[ConfigurationLine],
    findings: &mut Findings,
) -> Result<(String, String, Revision), ReadError> {
    let station = line.field(0).to_owned();
    // A comma inside the name of the device: the year is the last field.
    let year_at = line.n_used().max(3) - 1;
    let device = line.fields.get(1..year_at).unwrap_or(&[]).join(",");
    let year_text = line.field(year_at);
    // The 1999 revision added three fields to the lines of analog channels.
    let long_lines = analog.iter().any(|line| line.n_used() > 10);
    let by_layout = if long_lines || analog.is_empty() {
        Revision::R1999
    } else {
        Revision::R1991
    };
    let revision = match year_text.parse::<u16>() {
        Ok(1991) => Revision::R1991,
        Ok(1999) => Revision::R1999,
        Ok(2013) => Revision::R2013,
        Err(_) if year_text.is_empty() && by_layout == Revision::R1991 => Revision::R1991,
        other => {
            let (revision, assumed) = match other {
                Ok(2008..) => (Revision::R2013, "it was read as 2013"),
                _ if by_layout == Revision::R1991 => (by_layout, "it was read as 1991"),
                _ => (by_layout, "it was read as 1999"),
            };
            let expected = "1991, 1999 or 2013";
            findings.breach(
                line.place(),
                "revision year",
                quoted(year_text),
                expected,
                assumed,
            )?;
            revision
        }
    };
    Ok((station, device, revision))
}

/// Number of analog and digital channels: declared, or those with lines if the declaration is wrong.
fn channel_counts(
    line: &ConfigurationLine,
    rest: &[ConfigurationLine],
    findings: &mut Findings,
) -> Result<(usize, usize), ReadError> {
    let count_with = |letter: char| {
        let suffixed = line.fields.iter().skip(1).find_map(|field| {
            let digits = field.strip_suffix([letter, letter.to_ascii_lowercase()])?;
            digits.trim().parse::<usize>().ok()
        });
        suffixed.ok_or_else(|| {
            let field = format!("number of channels marked {letter}");
            let found = quoted(&line.fields.join(","));
            let expected = "total, analog and digital as in 8,4A,4D";
            findings.refusal(line.place(), &field, found, expected)
        })
    };
    let declared = (count_with('A')?, count_with('D')?);
    let present = channels_with_lines(rest);
    let counts = if declared == present || ends_at_frequency(declared, rest) {
        declared
    } else {
        let text = |(analog, digital)| format!("{analog}A,{digital}D");
        let expected = format!("{} as the lines show", text(present));
        let assumed = "the lines were counted";
        findings.breach(
            line.place(),
            "channel counts",
            text(declared),
            expected,
            assumed,
        )?;
        present
    };
    let total = counts.0.saturating_add(counts.1);
    if total == 0 {
        let expected = "at least one channel";
        return Err(findings.refusal(line.place(), "channel counts", "0", expected));
    }
    if parse_count(line.field(0)) != Some(total) {
        let found = quoted(line.field(0));
        let assumed = "the total was ignored";
        findings.breach(line.place(), "total of channels", found, total, assumed)?;
    }
    Ok(counts)
}

/// Counts the lines that look like analog channels and, after them, digital ones.
fn channels_with_lines(lines: &[ConfigurationLine]) -> (usize, usize) {
    let is_analog = |line: &&ConfigurationLine| line.fields.len() >= 8;
    let is_digital = |line: &&ConfigurationLine| (3..8).contains(&line.fields.len());
    let analog = lines.iter().take_while(is_analog).count();
    let digital = lines.iter().skip(analog).take_while(is_digital).count();
    (analog, digital)
}

/// Whether so many channel lines are followed by the single number of the line frequency.
fn ends_at_frequency((analog, digital): (usize, usize), lines: &[ConfigurationLine]) -> bool {
    let n_channels = analog.saturating_add(digital);
    let channels_have_fields = lines
        .iter()
        .take(n_channels)
        .all(|line| line.fields.len() >= 2);
    let is_single = |line: &ConfigurationLine| line.n_used() == 1;
    channels_have_fields && lines.get(n_channels).is_some_and(is_single)
}

fn parse_analog(
    lines: &[ConfigurationLine],
    revision: Revision,
    findings: &mut Findings,
) -> Result<Vec<AnalogChannel>, ReadError> {
    let mut multipliers = BlankFields::new("multiplier a", "1");
    let mut offsets = BlankFields::new("offset b", "0");
    let mut skews = BlankFields::new("skew", "0");
    let mut ranges = BlankFields::new("range", "any value");
    let mut scalings = BlankFields::new("P or S", "neither");
    let mut channels = Vec::with_capacity(lines.len());
    for line in lines {
        let line = &without_name_commas(line);
        let place = line.place();
        let number = |index, name, findings: &Findings| line.number_at(index, name, findings);
        let scaling = match line.field(12) {
            "P" | "p" => Some(TransformerSide::Primary),
            "S" | "s" => Some(TransformerSide::Secondary),
            _ => None,
        };
        if revision != Revision::R1991 {
            scalings.or(scaling, place, TransformerSide::Primary);
        }
        channels.push(AnalogChannel {
            name: line.field(1).to_owned(),
            phase: line.field(2).to_owned(),
            circuit: line.field(3).to_owned(),
            unit: line.field(4).to_owned(),
            multiplier: multipliers.or(number(5, "multiplier a", findings)?, place, 1.0),
            offset: offsets.or(number(6, "offset b", findings)?, place, 0.0),
            skew_us: skews.or(number(7, "skew", findings)?, place, 0.0),
            min: ranges.or(parse_limit(line.field(8)), place, f64::NAN),
            max: ranges.or(parse_limit(line.field(9)), place, f64::NAN),
            primary: parse_limit(line.field(10)).unwrap_or(1.0),
            secondary: parse_limit(line.field(11)).unwrap_or(1.0),
            scaling,
        });
    }
    multipliers.report(findings, "a number")?;
    offsets.report(findings, "a number")?;
    skews.report(findings, "microseconds")?;
    ranges.report(findings, "least and greatest stored number")?;
    scalings.report(findings, "P or S")?;
    Ok(channels)
}

/// Limits and ratios do not scale samples: what is no number is taken as blank.
fn parse_limit(text: &str) -> Option<f64> {
    super::lines::parse_number(text)
}

/// A channel name with commas in it makes the line too long: joins it again.
fn without_name_commas<'a>(line: &ConfigurationLine<'a>) -> ConfigurationLine<'a> {
    const N_FIELDS: usize = 13;
    let surplus = line.n_used().saturating_sub(N_FIELDS);
    let ends_with_scaling = matches!(line.field(N_FIELDS - 1 + surplus), "P" | "p" | "S" | "s");
    if surplus == 0 || !ends_with_scaling {
        return line.clone();
    }
    let mut fields = line.fields.clone();
    fields.drain(2..2 + surplus);
    ConfigurationLine {
        number: line.number,
        fields,
    }
}

/// `n,name,phase,circuit,normal`, in 1991 `n,name,normal`.
fn parse_digital(line: &ConfigurationLine) -> DigitalChannel {
    let normal_at = if line.n_used() <= 3 { 2 } else { 4 };
    let short = normal_at == 2;
    let text_at = |index: usize| {
        let text = if short { "" } else { line.field(index) };
        text.to_owned()
    };
    DigitalChannel {
        name: line.field(1).to_owned(),
        phase: text_at(2),
        circuit: text_at(3),
        normal: match line.field(normal_at) {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        },
    }
}
