//! Small valid files of every reader, made by the writers and by hand.

use std::io::Write;
use std::path::Path;

use atomscope::records::comtrade::{self, Storage};
use atomscope::records::edf::{self, SampleWidth};
use atomscope::records::{
    Annotation, Channel, ChannelKind, Format, Gap, Kind, READERS, Record, StartTime, Unit,
};
use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::{FILE_BREAK, matlab};

/// A valid file, with the files beside it, of one reader.
pub(crate) struct Seed {
    /// Name of the reader.
    pub(crate) reader: &'static str,
    /// Names of the files.
    pub(crate) names: Vec<&'static str>,
    /// Their bytes, with [`FILE_BREAK`] between them.
    pub(crate) bytes: Vec<u8>,
}

/// Largest shared file taken as a seed.
const MAX_SHARED_BYTES: u64 = 5_000;

/// All seeds; with the shared data folder also its small files.
pub(crate) fn seeds(shared: Option<&Path>) -> Vec<Seed> {
    let mut seeds = [
        edf_seeds(),
        brainvision_seeds(),
        matlab_seeds(),
        comtrade_seeds(),
        text_seeds(),
        array_seeds(),
    ]
    .into_iter()
    .flatten()
    .collect();
    if let Some(folder) = shared {
        add_shared(folder, &mut seeds);
    }
    seeds
}

fn seed(reader: &'static str, names: &[&'static str], files: &[&[u8]]) -> Seed {
    Seed {
        reader,
        names: names.to_vec(),
        bytes: files.join(FILE_BREAK),
    }
}

/// Two analog channels and a digital one.
pub(crate) fn small_record(kind: Kind) -> Record {
    let n_samples = 40;
    let wave = |k: f64| (0..n_samples).map(move |i| (f64::from(i) * k).sin() * 100.0);
    let single = |v: f64| f64::from(v as f32);
    let channel = |name: &str| Channel::analog(name, Unit::parse("V"), Some(10.0), 0);
    let mut state = channel("trip");
    state.unit = Unit::none();
    state.kind = ChannelKind::Digital {
        normal: Some(false),
    };
    let data = vec![
        (channel("VA"), wave(0.3).map(single).collect()),
        (channel("VB"), wave(0.7).map(single).collect()),
        (state, (0..n_samples).map(|i| f64::from(i / 20)).collect()),
    ];
    let mut record = Record::in_memory(Format::Simulated, kind, "made", data);
    record.start = StartTime::new((2024, 2, 29), (12, 30, 15), 500_000_000);
    record
}

fn edf_seeds() -> Vec<Seed> {
    let mut record = small_record(Kind::Recording);
    record.channels.truncate(2);
    record.annotations.push(Annotation {
        onset_s: 1.5,
        duration_s: Some(0.5),
        text: "blink".to_owned(),
    });
    let written = |record: &Record, width| {
        let mut bytes = Vec::new();
        edf::write(record, width, &mut bytes).expect("the record fits EDF");
        bytes
    };
    let mut seeds = vec![
        seed(
            "EDF/BDF",
            &["a.edf"],
            &[&written(&record, SampleWidth::Edf)],
        ),
        seed(
            "EDF/BDF",
            &["a.bdf"],
            &[&written(&record, SampleWidth::Bdf)],
        ),
    ];
    record.gaps.push(Gap {
        onset_s: 2.0,
        duration_s: 3.0,
    });
    let gapped = written(&record, SampleWidth::Edf);
    seeds.push(seed("EDF/BDF", &["a.edf"], &[&gapped]));
    seeds
}

fn brainvision_seeds() -> Vec<Seed> {
    let header = |format: &str, orientation: &str| {
        format!(
            "Brain Vision Data Exchange Header File Version 1.0\r\n[Common Infos]\r\n\
             DataFile=a.eeg\r\nMarkerFile=a.vmrk\r\nDataFormat=BINARY\r\n\
             DataOrientation={orientation}\r\nNumberOfChannels=2\r\nSamplingInterval=4000\r\n\
             [Binary Infos]\r\nBinaryFormat={format}\r\n[Channel Infos]\r\n\
             Ch1=Fp1,,0.5,µV\r\nCh2=Fp2,,0.1,µV\r\n"
        )
    };
    let markers = "Brain Vision Data Exchange Marker File, Version 1.0\r\n[Common Infos]\r\n\
                   DataFile=a.eeg\r\n[Marker Infos]\r\n\
                   Mk1=New Segment,,1,1,0,20131113161403794232\r\nMk2=Stimulus,S 1,4,1,0\r\n";
    let integers: Vec<u8> = (0..20_i16)
        .flat_map(|n| (n * 7 - 40).to_le_bytes())
        .collect();
    let floats: Vec<u8> = (0..20_u8)
        .flat_map(|n| f32::from(n).to_le_bytes())
        .collect();
    let names = ["a.vhdr", "a.eeg", "a.vmrk"];
    let (multiplexed, vectorised) = (
        header("INT_16", "MULTIPLEXED"),
        header("IEEE_FLOAT_32", "VECTORIZED"),
    );
    vec![
        seed(
            "BrainVision",
            &names,
            &[multiplexed.as_bytes(), &integers, markers.as_bytes()],
        ),
        seed(
            "BrainVision",
            &names,
            &[vectorised.as_bytes(), &floats, markers.as_bytes()],
        ),
    ]
}

fn matlab_seeds() -> Vec<Seed> {
    const READER: &str = "MATLAB and EEGLAB";
    let values: Vec<f64> = (0..12).map(f64::from).collect();
    let plain = matlab::doubles("data", &[2, 6], &values);
    let cube = matlab::doubles("cube", &[2, 3, 2], &values);
    let scalar = |value: f64| matlab::doubles("", &[1, 1], &[value]);
    let labels = matlab::structure("", &[("labels", matlab::characters("", "Cz"))]);
    let eeg = matlab::structure(
        "EEG",
        &[
            ("nbchan", scalar(2.0)),
            ("pnts", scalar(6.0)),
            ("trials", scalar(1.0)),
            ("srate", scalar(100.0)),
            ("chanlocs", labels),
            ("data", matlab::doubles("", &[2, 6], &values)),
        ],
    );
    let apart = matlab::structure(
        "EEG",
        &[
            ("nbchan", scalar(2.0)),
            ("pnts", scalar(6.0)),
            ("trials", scalar(1.0)),
            ("srate", scalar(100.0)),
            ("data", matlab::characters("", "a.fdt")),
        ],
    );
    let floats: Vec<u8> = (0..12_u8)
        .flat_map(|n| f32::from(n).to_le_bytes())
        .collect();
    let cell = matlab::cells("c", &[matlab::characters("", "x"), scalar(1.0)]);
    let file = |elements: &[Vec<u8>]| matlab::file(elements);
    vec![
        seed(READER, &["a.mat"], &[&file(&[plain.clone(), cell])]),
        seed(READER, &["a.mat"], &[&file(&[matlab::compressed(&cube)])]),
        seed(READER, &["a.mat"], &[&matlab::version_4("old", 3, 4)]),
        seed(READER, &["a.set"], &[&file(&[eeg])]),
        seed(READER, &["a.set", "a.fdt"], &[&file(&[apart]), &floats]),
    ]
}

fn comtrade_seeds() -> Vec<Seed> {
    let record = small_record(Kind::FaultRecord);
    let mut seeds = Vec::new();
    for storage in [Storage::Ascii, Storage::Binary, Storage::Float32] {
        let files = comtrade::encode(&record, storage).expect("the record fits COMTRADE");
        let parts: [&[u8]; 2] = [&files.configuration, &files.data];
        seeds.push(seed("COMTRADE", &["a.cfg", "a.dat"], &parts));
        let kind = match storage {
            Storage::Ascii => "ASCII".to_owned(),
            Storage::Binary => format!("BINARY: {}", files.data.len()),
            Storage::Float32 => format!("FLOAT32: {}", files.data.len()),
        };
        let mut combined = b"--- file type: CFG ---\r\n".to_vec();
        combined.extend_from_slice(&files.configuration);
        combined.extend(b"--- file type: INF ---\r\n\r\n--- file type: HDR ---\r\n\r\n");
        combined.extend(format!("--- file type: DAT {kind} ---\r\n").bytes());
        combined.extend_from_slice(&files.data);
        seeds.push(seed("COMTRADE", &["a.cff"], &[&combined]));
    }
    seeds
}

fn text_seeds() -> Vec<Seed> {
    const TABLE: &str = "CSV or text columns";
    let arff = "% remark\n@relation r\n@attribute a numeric\n@attribute 'b c' {x,'y z'}\n\
                @attribute s string\n@data\n1,x,\"p q\"\n?,'y z',?\n{0 2, 1 'y z'}\n";
    vec![
        seed("ARFF", &["a.arff"], &[arff.as_bytes()]),
        seed(
            TABLE,
            &["a.csv"],
            &[b"a,b(V),class\n1,2.5,x\n,4e3,y\n5,\"6\",\"x,y\"\n"],
        ),
        seed(TABLE, &["a.tsv"], &[b"a\tb\n1,5\t2\n3\t4,25\n"]),
        seed(TABLE, &["a.txt"], &[b"12\r\n22\r\n-35\r\n"]),
        seed(TABLE, &["a.txt"], &[b"# t x\n0.0  1.5\n0.1 -2.5\n"]),
    ]
}

/// A NumPy array of version 1.
fn npy(description: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '{description}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    while !(header.len() + 11).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// An archive of members, deflated if so wanted; the check sums are left zero.
pub(crate) fn zip(members: &[(&str, &[u8])], deflated: bool) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let packed = if deflated {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(content).expect("memory takes all");
            encoder.finish().expect("memory takes all")
        } else {
            content.to_vec()
        };
        let offset = bytes.len() as u32;
        let method: u16 = if deflated { 8 } else { 0 };
        let mut common = Vec::new();
        common.extend_from_slice(&20_u16.to_le_bytes());
        common.extend_from_slice(&[0, 0]);
        common.extend_from_slice(&method.to_le_bytes());
        common.extend_from_slice(&[0; 8]);
        common.extend_from_slice(&(packed.len() as u32).to_le_bytes());
        common.extend_from_slice(&(content.len() as u32).to_le_bytes());
        common.extend_from_slice(&(name.len() as u16).to_le_bytes());
        common.extend_from_slice(&[0, 0]);
        bytes.extend(b"PK\x03\x04");
        bytes.extend_from_slice(&common);
        bytes.extend(name.bytes());
        bytes.extend_from_slice(&packed);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend_from_slice(&common);
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&offset.to_le_bytes());
        directory.extend(name.bytes());
    }
    let (start, n) = (bytes.len() as u32, members.len() as u16);
    bytes.extend_from_slice(&directory);
    bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
    bytes.extend_from_slice(&n.to_le_bytes());
    bytes.extend_from_slice(&n.to_le_bytes());
    bytes.extend_from_slice(&(directory.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&start.to_le_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes
}

fn array_seeds() -> Vec<Seed> {
    let doubles: Vec<u8> = (0..12_u8)
        .flat_map(|n| f64::from(n).to_le_bytes())
        .collect();
    let integers: Vec<u8> = (0..12_i16).flat_map(i16::to_be_bytes).collect();
    let matrix = npy("<f8", "False", "(6, 2)", &doubles);
    let cube = npy(">i2", "True", "(2, 3, 2)", &integers);
    let members: [(&str, &[u8]); 2] = [("x.npy", &matrix), ("y.npy", &cube)];
    vec![
        seed("NPY", &["a.npy"], &[&matrix]),
        seed("NPY", &["a.npy"], &[&cube]),
        seed("NPZ", &["a.npz"], &[&zip(&members, false)]),
        seed("NPZ", &["a.npz"], &[&zip(&members, true)]),
    ]
}

/// Adds the small files of the shared folder that need no other file.
fn add_shared(folder: &Path, seeds: &mut Vec<Seed>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<_> = entries.filter_map(Result::ok).map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add_shared(&path, seeds);
            continue;
        }
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        let ending = ending.to_lowercase();
        let small = path.metadata().is_ok_and(|m| m.len() <= MAX_SHARED_BYTES);
        let reader = READERS
            .iter()
            .find(|reader| reader.extensions.contains(&ending.as_str()));
        let whole = !["cfg", "dat", "hdr", "inf", "vhdr", "vmrk"].contains(&ending.as_str());
        let (true, true, Some(reader)) = (small, whole, reader) else {
            continue;
        };
        let name = if reader.name == "COMTRADE" {
            "a.cff"
        } else {
            "a.mat"
        };
        if let Ok(bytes) = std::fs::read(&path) {
            seeds.push(seed(reader.name, &[name], &[&bytes]));
        }
    }
}
