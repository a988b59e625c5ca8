//! BrainVision recordings: a text header (.vhdr), binary samples (.eeg), a text of markers (.vmrk).

mod header;

mod markers;
mod text_data;

use std::sync::Arc;

use super::text::quoted;
use super::{
    ByteSource, Channel, FilePlace, Findings, Format, Input, Kind, Mode, Number, ReadError,
    ReadOptions, Record, SampleSource, Source, Stored, StridedSamples, Unit,
};
use header::{BrainVisionHeader, Orientation, SampleStorage};

/// Whether these bytes start a header or marker file.
pub fn is_certain(head: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&head[..head.len().min(64)]).to_lowercase();
    let start = start.trim_start_matches('\u{feff}').replace(' ', "");
    start.starts_with("brainvisiondataexchange")
}

/// Reads a header with its samples and markers, all in memory.
pub fn from_bytes(
    header: impl Into<Vec<u8>>,
    samples: impl Into<Vec<u8>>,
    markers: impl Into<Vec<u8>>,
    mode: Mode,
) -> Result<Record, ReadError> {
    // Whatever the header calls its files, they are found by the stem of its name.
    let input = Input::from_bytes("memory.vhdr", header)
        .with_companion("memory.eeg", samples)
        .with_companion("memory.vmrk", markers);
    read(&input, &mode.into())
}

/// Reads header and markers; samples when asked. Any of the three files may be named.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    if !input.extension().ends_with("hdr") && !is_header(input)? {
        let header = find_header(input)?;
        return read_header(&input.seen_from(header), options);
    }
    read_header(input, options)
}

fn is_header(input: &Input) -> Result<bool, ReadError> {
    let head = input.bytes.read_start(64)?;
    Ok(is_certain(&head)
        && String::from_utf8_lossy(&head)
            .to_lowercase()
            .contains("header"))
}

fn find_header(input: &Input) -> Result<ByteSource, ReadError> {
    for ending in ["vhdr", "ahdr"] {
        if let Some(header) = input.companion_with_extension(ending)? {
            return Ok(header);
        }
    }
    let name = input.path().with_extension("vhdr");
    Err(ReadError::MissingCompanion {
        path: input.path().to_owned(),
        role: "BrainVision header",
        name: name
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    })
}

fn read_header(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let mut findings = Findings::new(input.path(), options.mode);
    let header = BrainVisionHeader::read(&input.bytes, &mut findings)?;
    let data = data_file(input, &header, &mut findings)?;
    let (n_samples, samples) = samples(&data, &header, &mut findings)?;
    let markers = marker_file(input, &header, &mut findings)?;

    let mut source = Source::new(input.path(), input.bytes.len());
    source.add_companion(data.path(), data.len());
    let mut timeline = markers::MarkedTimeline::default();
    if let Some(markers) = &markers {
        source.add_companion(markers.path(), markers.len());
        timeline = markers::read(
            markers,
            header.rate_hz,
            n_samples,
            options.mode,
            &mut findings,
        )?;
    }
    let channels = channels(&header, n_samples, &mut findings);
    let mut record = Record::new(
        Format::BrainVision,
        Kind::Recording,
        source,
        channels,
        samples,
    );
    record.start = timeline.start;
    record.annotations = timeline.annotations;
    record.gaps = timeline.gaps;
    record.warnings = findings.into_warnings();
    Ok(record)
}

/// The named file, or the one of the header's own stem where the set was renamed.
fn data_file(
    input: &Input,
    header: &BrainVisionHeader,
    findings: &mut Findings,
) -> Result<ByteSource, ReadError> {
    if let Some(data) = input.companion(&header.file_name(&header.data_file, input.path()))? {
        return Ok(data);
    }
    for ending in ["eeg", "dat", "avg"] {
        if let Some(data) = input.companion_with_extension(ending)? {
            let found = format!("{}, which is not there", quoted(&header.data_file));
            let assumed = "took the file of the header's own name";
            findings.breach(
                FilePlace::File,
                "DataFile",
                found,
                "a file beside the header",
                assumed,
            )?;
            return Ok(data);
        }
    }
    Err(ReadError::MissingCompanion {
        path: input.path().to_owned(),
        role: "data file",
        name: header.data_file.clone(),
    })
}

fn marker_file(
    input: &Input,
    header: &BrainVisionHeader,
    findings: &mut Findings,
) -> Result<Option<ByteSource>, ReadError> {
    let Some(name) = &header.marker_file else {
        return Ok(None);
    };
    if let Some(markers) = input.companion(&header.file_name(name, input.path()))? {
        return Ok(Some(markers));
    }
    let own = input.companion_with_extension("vmrk")?;
    let assumed = match own {
        Some(_) => "took the file of the header's own name",
        None => "there are no annotations",
    };
    let found = format!("{}, which is not there", quoted(name));
    findings.breach(
        FilePlace::File,
        "MarkerFile",
        found,
        "a file beside the header",
        assumed,
    )?;
    Ok(own)
}

/// Samples of each channel, from the length of the data file.
fn count_samples(
    header: &BrainVisionHeader,
    number: Number,
    data: &ByteSource,
    findings: &mut Findings,
) -> Result<usize, ReadError> {
    let frame_bytes = header.n_stored as u64 * number.bytes() as u64;
    let (stored, surplus) = (data.len() / frame_bytes, data.len() % frame_bytes);
    let declared = header.n_samples;
    if surplus > 0 || declared.is_some_and(|declared| declared != stored) {
        let expected = match declared {
            Some(declared) => format!(
                "{} bytes for DataPoints={declared}",
                declared.saturating_mul(frame_bytes)
            ),
            None => format!("a multiple of {frame_bytes} bytes"),
        };
        let mut kept = stored;
        if header.orientation == Orientation::Vectorised {
            // Where one channel ends and the next begins is known from the declared length only.
            kept = declared
                .filter(|&declared| declared <= stored)
                .unwrap_or(stored);
        }
        findings.breach(
            FilePlace::File,
            "length of the data file",
            format!("{} bytes", data.len()),
            expected,
            format!("read {kept} samples of each channel"),
        )?;
        return Ok(kept as usize);
    }
    Ok(stored as usize)
}

fn channels(header: &BrainVisionHeader, n_samples: usize, findings: &mut Findings) -> Vec<Channel> {
    header
        .channels
        .iter()
        .map(|channel| {
            let unit = Unit::parse(&channel.unit);
            findings.note_unit(channel.place, &unit, &channel.name);
            Channel::analog(channel.name.clone(), unit, Some(header.rate_hz), n_samples)
        })
        .collect()
}

/// How many samples each channel has, and where they are.
fn samples(
    data: &ByteSource,
    header: &BrainVisionHeader,
    findings: &mut Findings,
) -> Result<(usize, Arc<dyn SampleSource>), ReadError> {
    let (number, is_big_endian) = match header.storage {
        SampleStorage::Binary {
            number,
            is_big_endian,
        } => (number, is_big_endian),
        SampleStorage::Text(layout) => {
            let samples = text_data::read(data, header, layout, findings)?;
            let n_samples = samples.channels.first().map_or(0, Vec::len);
            return Ok((n_samples, Arc::new(samples)));
        }
    };
    let n_samples = count_samples(header, number, data, findings)?;
    let (channel_stride, sample_stride) = match header.orientation {
        Orientation::Multiplexed => (1, header.n_stored),
        Orientation::Vectorised => (n_samples, 1),
    };
    let samples = StridedSamples {
        stored: Stored {
            bytes: data.clone(),
            offset: 0,
            number,
            is_big_endian,
        },
        channel_stride,
        sample_stride,
        factors: header
            .channels
            .iter()
            .map(|channel| channel.resolution)
            .collect(),
    };
    Ok((n_samples, Arc::new(samples)))
}
