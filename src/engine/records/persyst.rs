//! Persyst recordings: a text header (.lay) and interleaved samples (.dat).

use std::sync::Arc;

use super::ini::Ini;
use super::text::quoted;
use super::{
    Annotation, ByteSource, Channel, FilePlace, Findings, Format, Input, Kind, Number, ReadError,
    ReadOptions, Record, Source, StartTime, Stored, StridedSamples, Unit, text_encoding,
};

/// Whether these bytes start a layout file.
pub fn is_certain(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head).to_lowercase();
    text.contains("[fileinfo]") && text.contains("waveformcount")
}

/// Reads a layout file; samples when asked. Its data file may be named too.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    if input.extension() != "dat" {
        return read_layout(input, options);
    }
    match input.companion_with_extension("lay")? {
        Some(layout) => read_layout(&input.seen_from(layout), options),
        None => Err(missing(input, "Persyst layout", input.sibling_name("lay"))),
    }
}

fn missing(input: &Input, role: &'static str, name: String) -> ReadError {
    ReadError::MissingCompanion {
        path: input.path().to_owned(),
        role,
        name,
    }
}

fn read_layout(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let mut findings = Findings::new(input.path(), options.mode);
    let bytes = input.bytes.read_all()?;
    let decoded = text_encoding::decode(&bytes);
    decoded.report(&mut findings)?;
    let layout = Ini::new(&decoded.text);
    let names = channel_names(&layout, &mut findings)?;
    let rate_hz = positive(&layout, "SamplingRate", &findings)?;
    let calibration = positive(&layout, "Calibration", &findings)?;
    let number = number_of(&layout, &findings)?;
    let data = data_file(input, &layout)?;
    let header_bytes = layout.get("FileInfo", "HeaderLength");
    let offset = header_bytes.map_or(0, |entry| entry.value.parse().unwrap_or(0));
    let frame_bytes = (names.len() * number.bytes()) as u64;
    let n_samples = data.len().saturating_sub(offset) / frame_bytes;
    if n_samples * frame_bytes + offset != data.len() {
        let found = format!("{} bytes", data.len());
        let expected = format!("a multiple of {frame_bytes} bytes");
        let assumed = format!("read {n_samples} samples of each channel");
        findings.breach(
            FilePlace::File,
            "length of the data file",
            found,
            expected,
            assumed,
        )?;
    }
    let channels: Vec<Channel> = names
        .into_iter()
        .map(|name| Channel::analog(name, Unit::parse("µV"), Some(rate_hz), n_samples as usize))
        .collect();
    let samples = StridedSamples {
        stored: Stored {
            bytes: data.clone(),
            offset,
            number,
            is_big_endian: false,
        },
        channel_stride: 1,
        sample_stride: channels.len(),
        factors: vec![calibration; channels.len()],
    };
    let mut source = Source::new(input.path(), input.bytes.len());
    source.add_companion(data.path(), data.len());
    let mut record = Record::new(
        Format::Persyst,
        Kind::Recording,
        source,
        channels,
        Arc::new(samples),
    );
    record.start = start(&layout);
    record.identity.patient = patient(&layout);
    record.annotations = comments(&layout, input.bytes.len(), &mut findings)?;
    record.warnings = findings.into_warnings();
    Ok(record)
}

/// Code, sex, birth date and name, as EDF+ orders them; X for what is not given.
fn patient(layout: &Ini<'_>) -> String {
    let field = |key: &str| {
        let value = layout
            .get("Patient", key)
            .map_or("", |entry| entry.value.trim());
        match value {
            "" => "X".to_owned(),
            value => value.replace(char::is_whitespace, "_"),
        }
    };
    let fields = ["ID", "Sex", "BirthDate", "FullName"].map(field);
    match fields.iter().all(|field| field == "X") {
        true => String::new(),
        false => fields.join(" "),
    }
}

fn positive(layout: &Ini<'_>, key: &str, findings: &Findings) -> Result<f64, ReadError> {
    let entry = layout.get("FileInfo", key);
    let place = entry.map_or(FilePlace::File, |entry| FilePlace::Line(entry.line));
    let value = entry.map_or("", |entry| entry.value);
    let number: Option<f64> = value.parse().ok();
    number
        .filter(|number| number.is_finite() && *number > 0.0)
        .ok_or_else(|| findings.refusal(place, key, quoted(value), "a positive number"))
}

fn number_of(layout: &Ini<'_>, findings: &Findings) -> Result<Number, ReadError> {
    let entry = layout.get("FileInfo", "DataType");
    match entry.map_or("", |entry| entry.value) {
        "0" => Ok(Number::Int16),
        "7" => Ok(Number::Int32),
        other => {
            let place = entry.map_or(FilePlace::File, |entry| FilePlace::Line(entry.line));
            let expected = "0 (16 bits) or 7 (32 bits)";
            Err(findings.refusal(place, "DataType", quoted(other), expected))
        }
    }
}

/// Names in the order of their numbers, as many as the file says.
fn channel_names(layout: &Ini<'_>, findings: &mut Findings) -> Result<Vec<String>, ReadError> {
    /// More than any amplifier has.
    const MAX_CHANNELS: usize = 1 << 16;
    let entry = layout.get("FileInfo", "WaveformCount");
    let place = entry.map_or(FilePlace::File, |entry| FilePlace::Line(entry.line));
    let value = entry.map_or("", |entry| entry.value);
    let count = value.parse().ok();
    let Some(count) = count.filter(|n| (1..=MAX_CHANNELS).contains(n)) else {
        let expected = "a number of channels";
        return Err(findings.refusal(place, "WaveformCount", quoted(value), expected));
    };
    let mut names: Vec<Option<String>> = vec![None; count];
    for entry in layout.section("ChannelMap") {
        let number: Option<usize> = entry.value.parse().ok();
        let slot = number.and_then(|n| names.get_mut(n.checked_sub(1)?));
        match slot {
            Some(slot) => *slot = Some(entry.key.to_owned()),
            None => findings.breach(
                FilePlace::Line(entry.line),
                "channel number",
                quoted(entry.value),
                format!("1 to {count}"),
                "left out",
            )?,
        }
    }
    let n_unnamed = names.iter().filter(|name| name.is_none()).count();
    if n_unnamed > 0 {
        let expected = format!("{count} names");
        let assumed = "the others are numbered";
        let found = format!("{} names", count - n_unnamed);
        findings.breach(place, "ChannelMap", found, expected, assumed)?;
    }
    let numbered = names.into_iter().enumerate();
    Ok(numbered
        .map(|(k, name)| name.unwrap_or_else(|| format!("channel {}", k + 1)))
        .collect())
}

/// The named file, or the one of the layout's own stem where both were renamed.
fn data_file(input: &Input, layout: &Ini<'_>) -> Result<ByteSource, ReadError> {
    let named = layout.get("FileInfo", "File").map_or("", |e| e.value);
    if let Some(data) = input.companion(named)? {
        return Ok(data);
    }
    let own = input.sibling_name("dat");
    let data = input.companion(&own)?;
    data.ok_or_else(|| missing(input, "data file", own))
}

/// `2014.12.19`, `12/19/2014` or `19-12-2014`, with `02:37:48`.
fn start(layout: &Ini<'_>) -> Option<StartTime> {
    let value = |key: &str| layout.get("Patient", key).map(|entry| entry.value);
    let numbers = |text: &str| -> Option<[u16; 3]> {
        let mut parts = text.split(['.', '/', '-', ':']).map(str::trim);
        let mut next = || parts.next()?.parse().ok();
        Some([next()?, next()?, next()?])
    };
    let date = value("TestDate")?;
    let [a, b, c] = numbers(date)?;
    let (year, month, day) = match date {
        _ if date.contains('/') => (c, a, b),
        _ if date.contains('-') => (c, b, a),
        _ => (a, b, c),
    };
    let [hour, minute, second] = numbers(value("TestTime")?)?;
    let small = |number: u16| u8::try_from(number).ok();
    StartTime::new(
        (year, small(month)?, small(day)?),
        (small(hour)?, small(minute)?, small(second)?),
        0,
    )
}

/// `onset,duration,state,type,text` lines.
fn comments(
    layout: &Ini<'_>,
    file_bytes: u64,
    findings: &mut Findings,
) -> Result<Vec<Annotation>, ReadError> {
    let mut annotations = Vec::new();
    for (line, text) in layout
        .lines("Comments")
        .take(Annotation::most_in(file_bytes))
    {
        let mut fields = text.splitn(5, ',');
        let mut number = || -> Option<f64> {
            let number: f64 = fields.next()?.trim().parse().ok()?;
            number.is_finite().then_some(number)
        };
        let (onset_s, duration_s) = (number(), number());
        match (onset_s, fields.nth(2)) {
            (Some(onset_s), Some(text)) => {
                let lasts = duration_s.filter(|duration_s| *duration_s > 0.0);
                annotations.push(Annotation::new(onset_s, lasts, text.trim()));
            }
            _ => findings.breach(
                FilePlace::Line(line),
                "comment",
                quoted(text),
                "onset,duration,state,type,text",
                "left out",
            )?,
        }
    }
    annotations.sort_by(|a, b| a.onset_s.total_cmp(&b.onset_s));
    Ok(annotations)
}
