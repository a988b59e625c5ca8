//! Nihon Kohden recordings of the EEG-1100 family: samples (.EEG), patient (.PNT), events (.LOG), electrode
//! names (.21E).
//!
//! The first block lists control blocks, each of which lists data blocks; a data block has its start, rate,
//! channels and interleaved samples. Layout as reverse-engineered by the authors of BIOSIG, EDFbrowser and MNE.

use std::sync::Arc;

use super::block_samples::{BlockSamples, SampleBlock};
use super::ini::Ini;
use super::text::{decode, decode_field};
use super::{
    Annotation, ByteSource, Channel, FilePlace, Findings, Format, Gap, Input, Kind, Number,
    ReadError, ReadOptions, Record, Source, StartTime, Unit,
};

/// Devices whose files have this layout.
const DEVICES: [&[u8; 16]; 10] = [
    b"EEG-1100A V01.00",
    b"EEG-1100B V01.00",
    b"EEG-1100C V01.00",
    b"QI-403A   V01.00",
    b"QI-403A   V02.00",
    b"EEG-2100  V01.00",
    b"EEG-2100  V02.00",
    b"DAE-2100D V01.30",
    b"DAE-2100D V02.00",
    b"EEG-1200A V01.00",
];

/// Where the number of listed blocks stands, and the list: the first four of twenty bytes are an address.
const N_BLOCKS_AT: u64 = 0x91;
const BLOCKS_AT: u64 = 0x92;
const BLOCK_ENTRY_BYTES: u64 = 20;
const LOG_ENTRY_BYTES: u64 = 45;
/// Log blocks from this one on hold the rest of text and time of those before.
const SUB_LOG_BLOCKS: u64 = 22;

/// Whether these bytes start a file of one of these devices.
pub fn is_certain(head: &[u8]) -> bool {
    DEVICES.iter().any(|device| head.starts_with(*device))
}

/// Reads the headers of a recording; samples when asked. Any of its files may be named.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    if input.extension() == "eeg" {
        return read_recording(input, options);
    }
    match input.companion_with_extension("eeg")? {
        Some(eeg) => read_recording(&input.seen_from(eeg), options),
        None => Err(ReadError::MissingCompanion {
            path: input.path().to_owned(),
            role: "Nihon Kohden samples",
            name: input.sibling_name("EEG"),
        }),
    }
}

/// What a data block says of itself.
struct DataBlock {
    offset: u64,
    rate_hz: f64,
    n_samples: u64,
    start: Option<StartTime>,
    /// Codes of the electrodes.
    codes: Vec<u8>,
}

fn read_recording(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let mut findings = Findings::new(input.path(), options.mode);
    let bytes = &input.bytes;
    let head = bytes.read_start(0x92)?;
    if !is_certain(&head) || bytes.read_range(0x17fe, 1)? != [1] {
        let found = decode_field(&head[..head.len().min(16)]);
        let expected = "a waveform file of the EEG-1100 family";
        return Err(findings.refusal(FilePlace::Byte(0), "device", format!("{found:?}"), expected));
    }
    let mut source = Source::new(input.path(), bytes.len());
    let mut companion = |ending: &str| -> Result<Option<ByteSource>, ReadError> {
        let file = input.companion_with_extension(ending)?;
        if let Some(file) = &file {
            source.add_companion(file.path(), file.len());
        }
        Ok(file)
    };
    let names = electrode_names(companion("21e")?, &mut findings)?;
    let patient = companion("pnt")?;
    let log = companion("log")?;
    let blocks = data_blocks(bytes, &mut findings)?;
    let first = &blocks[0];
    let (rate_hz, n_channels) = (first.rate_hz, first.codes.len());
    let n_samples: u64 = blocks.iter().map(|block| block.n_samples).sum();
    let channels = first.codes.iter().map(|&code| {
        let unit = Unit::parse(if is_millivolt(code) { "mV" } else { "µV" });
        let name = names.get(usize::from(code)).cloned().unwrap_or_default();
        Channel::analog(name, unit, Some(rate_hz), n_samples as usize)
    });
    let samples = BlockSamples {
        bytes: bytes.clone(),
        is_big_endian: false,
        blocks: sample_blocks(&blocks),
        // Marks follow the channels of each time.
        frame_len: n_channels + 1,
        lines: first.codes.iter().map(|&code| line(code)).collect(),
    };
    let mut record = Record::new(
        Format::NihonKohden,
        Kind::Recording,
        source,
        channels.collect(),
        Arc::new(samples),
    );
    record.start = patient_start(patient)?.or(first.start);
    record.gaps = gaps(&blocks);
    if let Some(log) = log {
        record.annotations = events(&log, &mut findings)?;
    }
    record.warnings = findings.into_warnings();
    Ok(record)
}

/// Whether an input takes volts: the DC inputs and the marks.
fn is_millivolt(code: u8) -> bool {
    matches!(code, 42..=73 | 76 | 77)
}

/// Value of the stored 0 and of one step: numbers 0 to 65535 span the range of the input.
fn line(code: u8) -> (f64, f64) {
    let (low, high) = match is_millivolt(code) {
        true => (-12_002.9, 12_002.56),
        false => (-3200.0, 3199.902),
    };
    (low, (high - low) / 65_535.0)
}

fn sample_blocks(blocks: &[DataBlock]) -> Vec<SampleBlock> {
    let mut first_sample = 0;
    let place = |block: &DataBlock| {
        let own = SampleBlock {
            offset: block.offset,
            first_sample,
            n_samples: block.n_samples as usize,
            number: Number::Uint16,
        };
        first_sample += own.n_samples;
        own
    };
    blocks.iter().map(place).collect()
}

/// Time between the end of a block and the start of the next, where their clocks tell.
fn gaps(blocks: &[DataBlock]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut end_s = 0.0;
    for pair in blocks.windows(2) {
        let recorded_s = pair[0].n_samples as f64 / pair[0].rate_hz;
        end_s += recorded_s;
        let elapsed_s = match (pair[0].start, pair[1].start) {
            (Some(before), Some(after)) => after.seconds_since(before),
            _ => recorded_s,
        };
        // Clocks count whole seconds.
        let lost_s = elapsed_s - recorded_s;
        let duration_s = if lost_s > 1.0 { lost_s } else { 0.0 };
        gaps.push(Gap {
            onset_s: end_s,
            duration_s,
        });
        end_s += duration_s;
    }
    gaps
}

fn number<const N: usize>(bytes: &ByteSource, at: u64) -> Result<[u8; N], ReadError> {
    let mut stored = [0; N];
    bytes.read_exact_at(at, &mut stored)?;
    Ok(stored)
}

fn address(bytes: &ByteSource, at: u64) -> Result<u64, ReadError> {
    Ok(u64::from(u32::from_le_bytes(number(bytes, at)?)))
}

/// All data blocks that have the channels and the rate of the first.
fn data_blocks(bytes: &ByteSource, findings: &mut Findings) -> Result<Vec<DataBlock>, ReadError> {
    let [n_controls] = number(bytes, N_BLOCKS_AT)?;
    let mut blocks: Vec<DataBlock> = Vec::new();
    for control in 0..u64::from(n_controls) {
        let at = address(bytes, BLOCKS_AT + control * BLOCK_ENTRY_BYTES)?;
        let [n_blocks] = number(bytes, at + 17)?;
        for k in 0..u64::from(n_blocks) {
            let at = address(bytes, at + 18 + k * BLOCK_ENTRY_BYTES)?;
            let block = data_block(bytes, at, findings)?;
            let is_alike = blocks
                .first()
                .is_none_or(|first| (first.rate_hz, &first.codes) == (block.rate_hz, &block.codes));
            if is_alike {
                blocks.push(block);
            } else {
                let expected = "the channels and rate of the first block";
                let found = format!("{} channels at {} Hz", block.codes.len(), block.rate_hz);
                findings.breach(
                    FilePlace::Byte(at),
                    "data block",
                    found,
                    expected,
                    "left out",
                )?;
            }
        }
    }
    if blocks.is_empty() {
        let place = FilePlace::Byte(N_BLOCKS_AT);
        return Err(findings.refusal(place, "number of data blocks", 0, "at least one"));
    }
    Ok(blocks)
}

fn data_block(
    bytes: &ByteSource,
    at: u64,
    findings: &mut Findings,
) -> Result<DataBlock, ReadError> {
    // The highest bits say something else.
    let rate = u16::from_le_bytes(number(bytes, at + 0x1a)?) & 0x3fff;
    let tenths = u64::from(u32::from_le_bytes(number(bytes, at + 0x1c)?));
    let [n_channels] = number(bytes, at + 0x26)?;
    if rate == 0 || n_channels == 0 {
        let found = format!("{n_channels} channels at {rate} Hz");
        let expected = "at least one channel and a rate";
        return Err(findings.refusal(FilePlace::Byte(at), "data block", found, expected));
    }
    let listed = bytes.read_range(at + 0x27, u64::from(n_channels) * 10)?;
    let offset = at + 0x27 + listed.len() as u64;
    let frame_bytes = (u64::from(n_channels) + 1) * 2;
    let declared = tenths * u64::from(rate) / 10;
    let stored = bytes.len().saturating_sub(offset) / frame_bytes;
    if declared > stored {
        let assumed = format!("the file is cut short; read {stored}");
        let expected = format!("{stored}, as many as the file holds");
        let place = FilePlace::Byte(at + 0x1c);
        findings.breach(place, "number of samples", declared, expected, assumed)?;
    }
    Ok(DataBlock {
        offset,
        rate_hz: f64::from(rate),
        n_samples: declared.min(stored),
        start: block_start(number(bytes, at + 0x14)?),
        codes: listed.chunks_exact(10).map(|entry| entry[0]).collect(),
    })
}

/// Year, month, day, hour, minute, second, two decimal digits in each byte.
fn block_start(bytes: [u8; 6]) -> Option<StartTime> {
    let [year, month, day, hour, minute, second] = bytes.map(|b| (b >> 4) * 10 + (b & 15));
    let century = if year >= 70 { 1900 } else { 2000 };
    let date = (century + u16::from(year), month, day);
    StartTime::new(date, (hour, minute, second), 0)
}

/// `YYYYMMDDhhmmss` in the patient file.
fn patient_start(patient: Option<ByteSource>) -> Result<Option<StartTime>, ReadError> {
    let Some(patient) = patient.filter(|patient| patient.len() >= 0x4e) else {
        return Ok(None);
    };
    let text = decode(&patient.read_range(0x40, 14)?);
    let part = |from: usize, to: usize| text.get(from..to)?.parse::<u16>().ok();
    let small = |from: usize| u8::try_from(part(from, from + 2)?).ok();
    let start = || {
        let date = (part(0, 4)?, small(4)?, small(6)?);
        StartTime::new(date, (small(8)?, small(10)?, small(12)?), 0)
    };
    Ok(start())
}

/// Names by code: the device's own, replaced by those of the electrode file.
fn electrode_names(
    file: Option<ByteSource>,
    findings: &mut Findings,
) -> Result<Vec<String>, ReadError> {
    let mut names = device_names();
    let Some(file) = file else {
        let text =
            "there is no .21E file with the names of the electrodes; the device's own are used";
        findings.note(FilePlace::File, text);
        return Ok(names);
    };
    let text = decode(&file.read_all()?);
    let list = Ini::new(&text);
    for entry in list.section("ELECTRODE").chain(list.section("REFERENCE")) {
        // Codes are a byte.
        let code = entry.key.parse::<u8>().map(usize::from);
        if let Some(name) = code.ok().and_then(|code| names.get_mut(code)) {
            entry.value.clone_into(name);
        }
    }
    Ok(names)
}

/// What the devices call their inputs.
fn device_names() -> Vec<String> {
    const HEAD: [&str; 26] = [
        "FP1", "FP2", "F3", "F4", "C3", "C4", "P3", "P4", "O1", "O2", "F7", "F8", "T3", "T4", "T5",
        "T6", "FZ", "CZ", "PZ", "E", "PG1", "PG2", "A1", "A2", "T1", "T2",
    ];
    let numbered = |prefix: &'static str, numbers: std::ops::RangeInclusive<u8>| {
        numbers.map(move |number| format!("{prefix}{number}"))
    };
    let mut names: Vec<String> = HEAD.map(str::to_owned).to_vec();
    names.extend(numbered("X", 1..=11));
    names.extend(numbered("NA", 1..=5));
    names.extend((1..=32).map(|number| format!("DC{number:02}")));
    names.extend(["BN1", "BN2", "Mark1", "Mark2"].map(str::to_owned));
    names.extend(numbered("NA", 6..=27));
    names.extend(["X12/BP1", "X13/BP2", "X14/BP3", "X15/BP4"].map(str::to_owned));
    names.extend(numbered("X", 16..=165));
    names.extend(["NA28", "Z"].map(str::to_owned));
    names
}

/// The events of the log, which count from the start.
fn events(log: &ByteSource, findings: &mut Findings) -> Result<Vec<Annotation>, ReadError> {
    if !is_certain(&log.read_start(16)?) || log.len() <= N_BLOCKS_AT {
        findings.note(
            FilePlace::File,
            "the .LOG file is of another kind; it is left out",
        );
        return Ok(Vec::new());
    }
    let [n_blocks] = number(log, N_BLOCKS_AT)?;
    let mut annotations = Vec::new();
    for block in 0..u64::from(n_blocks) {
        let entries = log_entries(log, block)?;
        let rest = match u64::from(n_blocks) < SUB_LOG_BLOCKS {
            true => log_entries(log, block + SUB_LOG_BLOCKS)?,
            false => Vec::new(),
        };
        let has_rest = rest.len() == entries.len();
        for (k, entry) in entries.chunks_exact(LOG_ENTRY_BYTES as usize).enumerate() {
            let rest = rest
                .chunks_exact(LOG_ENTRY_BYTES as usize)
                .nth(k)
                .filter(|_| has_rest);
            match event(entry, rest) {
                Some(event) => annotations.push(event),
                None => {
                    let found = format!("\"{}\"", entry[..26].escape_ascii());
                    let expected = "text and hhmmss";
                    findings.breach(
                        FilePlace::File,
                        "event of the log",
                        found,
                        expected,
                        "left out",
                    )?;
                }
            }
        }
    }
    annotations.sort_by(|a: &Annotation, b| a.onset_s.total_cmp(&b.onset_s));
    Ok(annotations)
}

/// The bytes of the entries of one block of the log; none if it does not exist.
fn log_entries(log: &ByteSource, block: u64) -> Result<Vec<u8>, ReadError> {
    let entry = BLOCKS_AT + block * BLOCK_ENTRY_BYTES;
    if entry + 4 > log.len() {
        return Ok(Vec::new());
    }
    let at = address(log, entry)?;
    if at == 0 || at + 0x14 > log.len() {
        return Ok(Vec::new());
    }
    let [n_entries] = number(log, at + 0x12)?;
    let stored = (log.len() - at - 0x14) / LOG_ENTRY_BYTES;
    log.read_range(
        at + 0x14,
        u64::from(n_entries).min(stored) * LOG_ENTRY_BYTES,
    )
}

/// Twenty bytes of text and `hhmmss`; the rest has twenty more and, after `hhmm`, microseconds.
fn event(entry: &[u8], rest: Option<&[u8]>) -> Option<Annotation> {
    let digits = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.trim().parse::<f64>().ok();
    let clock = |from: usize| digits(entry.get(from..from + 2)?);
    let mut onset_s = clock(20)? * 3600.0 + clock(22)? * 60.0 + clock(24)?;
    let mut text = entry[..20].to_vec();
    if let Some(rest) = rest {
        onset_s += digits(&rest[24..30])? / 1e6;
        text.extend_from_slice(&rest[..20]);
    }
    let end = text
        .iter()
        .rposition(|&byte| byte != 0)
        .map_or(0, |last| last + 1);
    let text = decode(&text[..end]).replace('\0', "");
    Some(Annotation::new(onset_s, None, text.trim_end()))
}
