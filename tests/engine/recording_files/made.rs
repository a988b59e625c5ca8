//! Small valid files made by hand or by the project's writers, for tests.

use atomscope_engine::records::{
    Annotation, Channel, Format, Gap, Kind, Record, StartTime, Unit, edf,
};

/// Two channels at 100 Hz and one at 50 Hz, 4 s long, with annotations.
pub(crate) fn recording() -> Record {
    let wave = |n: usize, period: f64| -> Vec<f64> {
        (0..n).map(|k| 40.0 * (k as f64 / period).sin()).collect()
    };
    let channel = |name: &str, unit: &str, rate_hz: f64| {
        Channel::analog(name, Unit::parse(unit), Some(rate_hz), 0)
    };
    let data = vec![
        (channel("Fz", "uV", 100.0), wave(400, 7.0)),
        (channel("Cz", "uV", 100.0), wave(400, 11.0)),
        (channel("Resp", "mV", 50.0), wave(200, 23.0)),
    ];
    let mut record = Record::in_memory(Format::Simulated, Kind::Recording, "made", data);
    record.start = StartTime::new((2024, 2, 29), (23, 59, 58), 250_000_000);
    let note = |onset_s, duration_s, text: &str| Annotation::new(onset_s, duration_s, text);
    record.annotations = vec![
        note(0.5, None, "Augen zu µ"),
        note(1.25, Some(0.5), "seizure"),
        note(3.0, None, "end"),
    ];
    record
}

/// The same with two breaks.
pub(crate) fn broken_recording() -> Record {
    let mut record = recording();
    record.gaps = vec![
        Gap {
            onset_s: 1.0,
            duration_s: 2.5,
        },
        Gap {
            onset_s: 5.5,
            duration_s: 0.5,
        },
    ];
    record
}

/// A record as bytes of an EDF+ or BDF+ file.
pub(crate) fn edf_bytes(record: &Record, width: edf::SampleWidth) -> Vec<u8> {
    let mut bytes = Vec::new();
    edf::write(record, width, &mut bytes).expect("the record fits the format");
    bytes
}

/// Header, data and markers of a BrainVision recording of two channels and 50 samples.
pub(crate) fn brainvision_parts(number: &str, orientation: &str) -> [Vec<u8>; 3] {
    let format = if number == "ASCII" { "ASCII" } else { "BINARY" };
    let header = format!(
        "Brain Vision Data Exchange Header File Version 1.0\r\n\
         ; comment\r\n\r\n[Common Infos]\r\nCodepage=UTF-8\r\nDataFile=memory.eeg\r\n\
         MarkerFile=memory.vmrk\r\nDataFormat={format}\r\nDataOrientation={orientation}\r\n\
         NumberOfChannels=2\r\nSamplingInterval=2000\r\n\r\n[Binary Infos]\r\n\
         BinaryFormat={number}\r\n\r\n[Channel Infos]\r\nCh1=A\\1B,,0.5,µV\r\nCh2=C,,2,mV\r\n\
         [Comment]\r\nfree = text\r\n"
    );
    let value = |channel: usize, sample: usize| (sample as i16 - 20) * (channel as i16 + 1);
    let order: Vec<(usize, usize)> = match orientation {
        "MULTIPLEXED" => (0..100).map(|k| (k % 2, k / 2)).collect(),
        _ => (0..100).map(|k| (k / 50, k % 50)).collect(),
    };
    let data = order
        .into_iter()
        .flat_map(|(channel, sample)| {
            let value = value(channel, sample);
            match number {
                "INT_16" => value.to_le_bytes().to_vec(),
                "ASCII" if channel == 0 => format!("{value} ").into_bytes(),
                "ASCII" => format!("{value}\r\n").into_bytes(),
                _ => f32::from(value).to_le_bytes().to_vec(),
            }
        })
        .collect();
    let markers = "Brain Vision Data Exchange Marker File, Version 1.0\r\n[Common Infos]\r\n\
                   DataFile=memory.eeg\r\n[Marker Infos]\r\n\
                   Mk1=New Segment,,1,1,0,20240229235958250000\r\n\
                   Mk2=Stimulus,S  1,11,1,0\r\n\
                   Mk3=New Segment,,26,1,0,20240229235959300000\r\n\
                   Mk4=Comment,a\\1b,31,5,1\r\n";
    [header.into_bytes(), data, markers.as_bytes().to_vec()]
}
