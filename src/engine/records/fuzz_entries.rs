//! One way into each reader over bytes, for fuzzing: reads the record, then what it promises.

use super::{
    Input, Mode, ReadError, ReadOptions, Record, arff, brainvision, comtrade, edf,
    electrode_positions, event_list, fif, gdf, mat, nihon_kohden, npy, npz, persyst, readers,
    sel_event, table, workbook, xdf,
};

use super::table::DecimalSign;

/// A reader as a function of bytes; a refusal is as good as a record.
pub struct FuzzEntry {
    /// Name of the fuzz target.
    pub name: &'static str,
    /// Must neither panic, nor hang, nor take memory beyond eight times the bytes and 64 MB.
    pub run: fn(&[u8]) -> Result<(), ReadError>,
}

/// Bytes between the files of a format that has several: header, data, markers.
pub const PART_SEPARATOR: &[u8] = b"\n%%part%%\n";

/// All entries.
pub const FUZZ_ENTRIES: &[FuzzEntry] = &[
    FuzzEntry {
        name: "any",
        run: |bytes| {
            visit(&readers::read(
                &Input::from_bytes("file", bytes),
                &tolerant(),
            )?)
        },
    },
    FuzzEntry {
        name: "edf",
        run: |bytes| visit(&edf::from_bytes("file.edf", bytes, Default::default())?),
    },
    FuzzEntry {
        name: "brainvision",
        run: |bytes| {
            let [header, data, markers] = parts(bytes);
            visit(&brainvision::from_bytes(
                header,
                data,
                markers,
                Default::default(),
            )?)
        },
    },
    FuzzEntry {
        name: "gdf",
        run: |bytes| {
            visit(&gdf::read(
                &Input::from_bytes("file.gdf", bytes),
                &tolerant(),
            )?)
        },
    },
    FuzzEntry {
        name: "fif",
        run: |bytes| {
            visit(&fif::read(
                &Input::from_bytes("file.fif", bytes),
                &tolerant(),
            )?)
        },
    },
    FuzzEntry {
        name: "xdf",
        run: |bytes| {
            visit(&xdf::read(
                &Input::from_bytes("file.xdf", bytes),
                &tolerant(),
            )?)
        },
    },
    FuzzEntry {
        name: "nihon_kohden",
        run: |bytes| {
            let [samples, log, electrodes] = parts(bytes);
            let input = Input::from_bytes("file.eeg", samples)
                .with_companion("file.log", log)
                .with_companion("file.21e", electrodes);
            visit(&nihon_kohden::read(&input, &tolerant())?)
        },
    },
    FuzzEntry {
        name: "persyst",
        run: |bytes| {
            let [layout, data, _] = parts(bytes);
            let input = Input::from_bytes("file.lay", layout).with_companion("file.dat", data);
            visit(&persyst::read(&input, &tolerant())?)
        },
    },
    FuzzEntry {
        name: "events",
        run: |bytes| {
            let input = Input::from_bytes("file.csv", bytes);
            event_list::read(&input, Mode::Tolerant).map(drop)
        },
    },
    FuzzEntry {
        name: "mat",
        run: |bytes| visit(&mat::from_bytes("file.mat", bytes, Default::default())?),
    },
    FuzzEntry {
        name: "eeglab",
        run: |bytes| {
            let [data_set, data, _] = parts(bytes);
            visit(&mat::eeglab_from_bytes(data_set, data, Default::default())?)
        },
    },
    FuzzEntry {
        name: "comtrade",
        run: |bytes| {
            let [configuration, data, _] = parts(bytes);
            let input =
                Input::from_bytes("file.cfg", configuration).with_companion("file.dat", data);
            visit(&comtrade::read(&input, &tolerant())?)
        },
    },
    FuzzEntry {
        name: "comtrade_combined",
        run: |bytes| {
            visit(&comtrade::read(
                &Input::from_bytes("file.cff", bytes),
                &tolerant(),
            )?)
        },
    },
    FuzzEntry {
        name: "sel_event",
        run: |bytes| {
            visit(&sel_event::read(
                &Input::from_bytes("file.cev", bytes),
                &tolerant(),
            )?)
        },
    },
    FuzzEntry {
        name: "arff",
        run: |bytes| {
            visit(&arff::read(
                &Input::from_bytes("file.arff", bytes),
                &tolerant(),
            )?)
        },
    },
    FuzzEntry {
        name: "npy",
        run: |bytes| {
            visit(&npy::read(
                &Input::from_bytes("file.npy", bytes),
                &tolerant(),
            )?)
        },
    },
    FuzzEntry {
        name: "npz",
        run: |bytes| {
            visit(&npz::read(
                &Input::from_bytes("file.npz", bytes),
                &tolerant(),
            )?)
        },
    },
    FuzzEntry {
        name: "workbook",
        run: |bytes| {
            visit(&workbook::read(
                &Input::from_bytes("file.xlsx", bytes),
                &tolerant(),
            )?)
        },
    },
    FuzzEntry {
        name: "table",
        run: |bytes| {
            visit(&table::read(
                &Input::from_bytes("file.csv", bytes),
                &tolerant(),
            )?)
        },
    },
    // The same with the choices of a user: the first byte tells the mode and the decimal sign.
    FuzzEntry {
        name: "dialect",
        run: |bytes| {
            let (choice, rest) = bytes.split_first().unwrap_or((&0, &[]));
            let options = ReadOptions {
                mode: [Mode::Tolerant, Mode::Strict][usize::from(choice & 1)],
                decimal: match choice >> 1 & 3 {
                    1 => Some(DecimalSign::Point),
                    2 => Some(DecimalSign::Comma),
                    _ => None,
                },
                ..ReadOptions::default()
            };
            visit(&table::read(
                &Input::from_bytes("file.csv", rest),
                &options,
            )?)
        },
    },
    // The first byte chooses the ending.
    FuzzEntry {
        name: "electrodes",
        run: |bytes| {
            const NAMES: [&str; 5] = ["a.sfp", "a.elc", "a.elp", "a.loc", "a.tsv"];
            let (choice, rest) = bytes.split_first().unwrap_or((&0, &[]));
            let name = NAMES[usize::from(*choice) % NAMES.len()];
            electrode_positions::read(&Input::from_bytes(name, rest)).map(drop)
        },
    },
];

fn tolerant() -> ReadOptions {
    ReadOptions::default()
}

/// The files in `bytes`; missing ones are empty.
fn parts(bytes: &[u8]) -> [&[u8]; 3] {
    let (first, rest) = split_once(bytes);
    let (second, third) = split_once(rest);
    [first, second, third]
}

fn split_once(bytes: &[u8]) -> (&[u8], &[u8]) {
    let width = PART_SEPARATOR.len();
    match bytes
        .windows(width)
        .position(|window| window == PART_SEPARATOR)
    {
        Some(at) => (&bytes[..at], &bytes[at + width..]),
        None => (bytes, &[]),
    }
}

/// Reads both ends of every channel and every array of moderate size.
pub fn visit(record: &Record) -> Result<(), ReadError> {
    const MOST: usize = 64;
    const N_SAMPLES: usize = 4096;
    const MAX_LEN: usize = 1 << 20;
    for (channel, about) in record.channels.iter().enumerate().take(MOST) {
        let n_samples = about.n_samples;
        record.read(channel, 0..n_samples.min(N_SAMPLES))?;
        record.read(channel, n_samples.saturating_sub(N_SAMPLES)..n_samples)?;
        record.time_s(channel, n_samples / 2);
    }
    for array in record.arrays.iter().take(MOST) {
        let len = array
            .shape
            .iter()
            .try_fold(1_usize, |p, &size| p.checked_mul(size));
        if len.is_some_and(|len| len <= MAX_LEN) {
            // Text and structs are listed too; asking for their numbers is refused.
            drop(record.array(&array.name));
        }
    }
    record.duration_s();
    Ok(())
}
