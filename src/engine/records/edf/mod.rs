//! European Data Format and its kin: EDF, EDF+C, EDF+D, BDF, BDF+; reader and writer.
//!
//! A header of ASCII fields (256 bytes, then 256 for each signal), followed by
//! data records of equal duration in which each signal has its own number of
//! samples, two bytes each (three in BDF). In the "+" kinds, a signal called
//! `EDF Annotations` holds the onset of each data record and the annotations.
//! <https://www.edfplus.info/specs/>

mod annotations;
mod header;
mod writer;

use std::sync::Arc;

use super::data_records::{DataRecords, StoredSignal};
use super::text::quoted;
use super::{
    ByteSource, Channel, ChannelKind, FilePlace, Findings, Format, Input, Kind, Mode, Number,
    ReadError, ReadOptions, Record, Source, Unit,
};
use header::{Continuity, EdfHeader};
pub use writer::{SampleWidth, covering, write, write_annotations, write_file};

/// Whether these bytes start an EDF or BDF file.
pub fn is_certain(head: &[u8]) -> bool {
    let version = head.get(..8);
    version == Some(b"\xffBIOSEMI")
        || (version == Some(b"0       ") && head.get(8..256).is_some_and(looks_like_header))
}

/// Dates and counts of the fixed header are made of printable characters.
fn looks_like_header(fields: &[u8]) -> bool {
    fields[160..]
        .iter()
        .all(|&byte| byte == b' ' || byte.is_ascii_graphic() || byte == 0)
}

/// Reads the bytes of an EDF or BDF file.
pub fn from_bytes(name: &str, bytes: impl Into<Vec<u8>>, mode: Mode) -> Result<Record, ReadError> {
    read(&Input::from_bytes(name, bytes), &mode.into())
}

/// Reads the header and the annotations of an EDF or BDF file; samples when asked.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let bytes = &input.bytes;
    let mut findings = Findings::new(input.path(), options.mode);
    let header = EdfHeader::read(bytes, &mut findings)?;
    header.check_damage(bytes, &mut findings)?;
    let timeline = annotations::read(bytes, &header, &mut findings)?;

    let channels = channels(&header, &mut findings)?;
    let samples = samples(bytes, &header);
    let source = Source::new(input.path(), bytes.len());
    let mut record = Record::new(
        format(&header),
        Kind::Recording,
        source,
        channels,
        Arc::new(samples),
    );
    record.start = header.start_after(timeline.first_onset_s);
    record.identity = header.identity;
    record.annotations = timeline.annotations;
    record.gaps = timeline.gaps;
    record.warnings = findings.into_warnings();
    Ok(record)
}

fn samples(bytes: &ByteSource, header: &EdfHeader) -> DataRecords {
    let number = match header.is_bdf {
        true => Number::Int24,
        false => Number::Int16,
    };
    let signals = header.data_signals().map(|(_, signal)| StoredSignal {
        offset_in_record: signal.offset_in_record,
        samples_per_record: signal.samples_per_record as usize,
        number,
        digital: signal.digital,
        physical: signal.physical,
    });
    DataRecords {
        bytes: bytes.clone(),
        data_offset: header.data_offset,
        record_bytes: header.record_bytes(),
        signals: signals.collect(),
    }
}

fn format(header: &EdfHeader) -> Format {
    match (header.is_bdf, header.continuity) {
        (false, Continuity::Plain) => Format::Edf,
        (false, Continuity::Continuous) => Format::EdfPlusC,
        (false, Continuity::Discontinuous) => Format::EdfPlusD,
        (true, Continuity::Plain) => Format::Bdf,
        (true, Continuity::Continuous) => Format::BdfPlusC,
        (true, Continuity::Discontinuous) => Format::BdfPlusD,
    }
}

/// The channels that hold samples, with what is odd about their names and units.
fn channels(header: &EdfHeader, findings: &mut Findings) -> Result<Vec<Channel>, ReadError> {
    let mut channels: Vec<Channel> = Vec::new();
    for (position, signal) in header.data_signals() {
        let unit = Unit::parse(&signal.unit);
        let place = FilePlace::Byte(header.label_offset(position));
        findings.note_unit(place, &unit, &signal.label);
        if channels.iter().any(|known| known.name == signal.label) {
            findings.breach(
                place,
                "label",
                quoted(&signal.label),
                "a name of its own",
                "both channels keep it",
            )?;
        }
        channels.push(Channel {
            name: signal.label.clone(),
            unit,
            rate_hz: header.rate_hz(signal),
            n_samples: header.n_samples(signal),
            kind: ChannelKind::Analog,
            grid: None,
            sensor: signal.sensor.clone(),
        });
    }
    Ok(channels)
}
