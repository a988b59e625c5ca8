//! Small valid files of every reader, made by the writers and by hand.

use std::path::Path;

use atomscope_engine::records::comtrade::{self, ComtradeStorage};
use atomscope_engine::records::edf::SampleWidth;
use atomscope_engine::records::{
    Channel, ChannelKind, Format, Kind, PART_SEPARATOR, Record, StartTime, Unit,
};

use super::made_matlab::Order;
use super::made_numpy::{npy, zip};
use super::{made, made_clinical, made_matlab, made_workbook};

/// A valid file of one fuzz entry, or several with separators between them.
pub(crate) struct Seed {
    /// Name of the entry.
    pub(crate) entry: &'static str,
    /// The bytes it takes.
    pub(crate) bytes: Vec<u8>,
}

/// Largest shared file taken as a seed.
const MAX_SHARED_BYTES: u64 = 5_000;

/// All seeds; with the shared data folder also its small files.
pub(crate) fn seeds(shared: Option<&Path>) -> Vec<Seed> {
    let mut seeds = [
        recording_seeds(),
        clinical_seeds(),
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

fn seed(entry: &'static str, files: &[&[u8]]) -> Seed {
    Seed {
        entry,
        bytes: files.join(PART_SEPARATOR),
    }
}

/// Two analog channels and a digital one.
fn small_record() -> Record {
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
    let mut record = Record::in_memory(Format::Simulated, Kind::FaultRecord, "made", data);
    record.start = StartTime::new((2024, 2, 29), (12, 30, 15), 500_000_000);
    record
}

/// Recordings and MATLAB files, as their own tests make them.
fn recording_seeds() -> Vec<Seed> {
    let (whole, broken) = (made::recording(), made::broken_recording());
    let edf = |record: &Record, width| seed("edf", &[&made::edf_bytes(record, width)]);
    let mut seeds = vec![
        edf(&whole, SampleWidth::Edf),
        edf(&whole, SampleWidth::Bdf),
        edf(&broken, SampleWidth::Edf),
        edf(&broken, SampleWidth::Bdf),
    ];
    for (number, orientation) in [
        ("INT_16", "MULTIPLEXED"),
        ("IEEE_FLOAT_32", "VECTORIZED"),
        ("ASCII", "MULTIPLEXED"),
    ] {
        let parts = made::brainvision_parts(number, orientation);
        seeds.push(seed("brainvision", &parts.each_ref().map(Vec::as_slice)));
    }
    for order in [Order::Little, Order::Big] {
        seeds.push(seed("mat", &[&made_matlab::recording(order)]));
        seeds.push(seed("mat", &[&made_matlab::version4(order)]));
        seeds.push(seed("eeglab", &[&made_matlab::eeglab(order, true)]));
    }
    let cube = made_matlab::doubles(Order::Little, "cube", &[2, 2, 2], &[1.0; 8]);
    let packed = made_matlab::compressed(Order::Little, &cube);
    let file = made_matlab::file(Order::Little, &[packed]);
    seeds.push(seed("mat", &[&file]));
    seeds.push(seed("mat", &[include_bytes!("../../data/matlab73.mat")]));
    let apart = made_matlab::eeglab(Order::Big, false);
    seeds.push(seed("eeglab", &[&apart, &[0; 512]]));
    seeds
}

fn clinical_seeds() -> Vec<Seed> {
    let nihon_kohden = made_clinical::nihon_kohden();
    let persyst = made_clinical::persyst();
    vec![
        seed("gdf", &[&made_clinical::gdf(true)]),
        seed("gdf", &[&made_clinical::gdf(false)]),
        seed("fif", &[&made_clinical::fif(true)]),
        seed("fif", &[&made_clinical::fif(false)]),
        seed("xdf", &[&made_clinical::xdf()]),
        seed("nihon_kohden", &nihon_kohden.each_ref().map(Vec::as_slice)),
        seed("persyst", &persyst.each_ref().map(Vec::as_slice)),
        seed(
            "events",
            &[b"onset\tduration\ttrial_type\tchannel\n1.5\tn/a\tspike\tFp1,F7\n"],
        ),
        seed("events", &[b"onset,duration,label\n1,2,\"a, b\"\n3,,c\n"]),
    ]
}

fn comtrade_seeds() -> Vec<Seed> {
    let record = small_record();
    let mut seeds = Vec::new();
    let storages = [
        ComtradeStorage::Ascii,
        ComtradeStorage::Binary,
        ComtradeStorage::Binary32,
        ComtradeStorage::Float32,
    ];
    for storage in storages {
        let files = comtrade::encode(&record, storage).expect("the record fits COMTRADE");
        let parts: [&[u8]; 2] = [&files.configuration, &files.data];
        seeds.push(seed("comtrade", &parts));
        let combined = comtrade::encode_combined(&record, storage).expect("it fits one file too");
        seeds.push(seed("comtrade_combined", &[&combined]));
    }
    seeds
}

fn text_seeds() -> Vec<Seed> {
    let arff = "% remark\n@relation r\n@attribute a numeric\n@attribute 'b c' {x,'y z'}\n\
                @attribute s string\n@data\n1,x,\"p q\"\n?,'y z',?\n{0 2, 1 'y z'}\n";
    let sel_event = "\"FID\",\"0143\"\n\"MONTH\",\"DAY\",\"YEAR\",\"HOUR\",\"MIN\",\"SEC\",\"MSEC\",\"0ACA\"\n\
                     2,29,2024,23,59,59,999,\"03\"\n\"FREQ\",\"SAM/CYC_A\",\"SAM/CYC_D\",\"0C\"\n60.00,16,4,\"0D\"\n\
                     \"IA\",\"IB\",\"IC\",\"VA(kV)\",\"TRIG\",\"TRIP 52A * IN101\",\"0E\"\n\
                     1,2,-3,11.5,,\"4\",\"0F\"\n2,3,-5,11.0,\">\",\"\",\"0F\"\n\"SETTINGS\",\"02E1\"\n";
    vec![
        seed("sel_event", &[sel_event.as_bytes()]),
        seed("arff", &[arff.as_bytes()]),
        seed(
            "table",
            &[b"a,b(V),class\n1,2.5,x\n,4e3,y\n5,\"6\",\"x,y\"\n"],
        ),
        seed("dialect", &[b"\x04a;b;class\n1.234,5;12 %;x\n1 000,5;#N/A;y\n"]),
        seed("electrodes", &[b"\x00Fp1 -27 83 -3\nCz 0 -9 100\n"]),
        seed("electrodes", &[b"\x01NumberPositions= 2\nUnitPosition mm\nPositions\nFp1 : -27 83 -3\nCz : 0 -9 100\nLabels\nFp1 Cz\n"]),
        seed("electrodes", &[b"\x02EEG Fp1 -92 -72\n"]),
        seed("electrodes", &[b"\x031 -18 .511 Fp1\n2 18 .511 Fp2\n"]),
        seed("electrodes", &[b"\x04name\tx\ty\tz\nFp1\t-27\t83\t-3\n"]),
        seed("table", &[b"a\tb\n1,5\t2\n3\t4,25\n"]),
        seed("table", &[b"12\r\n22\r\n-35\r\n"]),
        seed("table", &[b"# t x\n0.0  1.5\n0.1 -2.5\n"]),
    ]
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
        seed("npy", &[&matrix]),
        seed("npy", &[&cube]),
        seed("npz", &[&zip(&members, false)]),
        seed("npz", &[&zip(&members, true)]),
        seed("workbook", &[&made_workbook::small_excel(false)]),
        seed("workbook", &[&made_workbook::small_excel(true)]),
        seed("workbook", &[&made_workbook::small_open_document(false)]),
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
        let entry = match ending.to_lowercase().as_str() {
            "edf" | "bdf" => "edf",
            "mat" => "mat",
            "cff" => "comtrade_combined",
            "arff" => "arff",
            "xdf" => "xdf",
            "csv" => "table",
            _ => continue,
        };
        let is_small = path.metadata().is_ok_and(|m| m.len() <= MAX_SHARED_BYTES);
        if let (true, Ok(bytes)) = (is_small, std::fs::read(&path)) {
            seeds.push(seed(entry, &[&bytes]));
        }
    }
}
