//! The table of readers, and the choice of the one that fits a file.

use std::path::Path;

use super::{
    ChannelKind, FilePlace, Input, Kind, Mode, ReadError, ReadOptions, Record, arff, brainvision,
    comtrade, edf, events_beside, fif, gdf, mat, nihon_kohden, npy, npz, persyst, sel_event, table,
    unread, workbook, xdf,
};

/// One format family: how it is recognised and what reads it.
pub struct Reader {
    /// Name for messages and fuzz targets.
    pub name: &'static str,
    /// Extensions in lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Whether the first bytes belong to this format and no other.
    pub is_certain: fn(&[u8]) -> bool,
    /// Whether the first bytes could be this format, for files with a foreign extension.
    pub is_likely: fn(&[u8]) -> bool,
    /// Reads headers now and samples when asked.
    pub read: fn(&Input, &ReadOptions) -> Result<Record, ReadError>,
}

/// All readers; among several that fit, the first wins.
pub const READERS: &[Reader] = &[
    Reader {
        name: "EDF/BDF",
        extensions: &["edf", "bdf", "rec"],
        is_certain: edf::is_certain,
        is_likely: |_| false,
        read: edf::read,
    },
    Reader {
        name: "GDF",
        extensions: &["gdf"],
        is_certain: gdf::is_certain,
        is_likely: |_| false,
        read: gdf::read,
    },
    Reader {
        name: "FIF",
        extensions: &["fif"],
        is_certain: fif::is_certain,
        is_likely: |_| false,
        read: fif::read,
    },
    Reader {
        name: "XDF",
        extensions: &["xdf"],
        is_certain: xdf::is_certain,
        is_likely: |_| false,
        read: xdf::read,
    },
    Reader {
        name: "Nihon Kohden",
        extensions: &["21e", "pnt"],
        is_certain: nihon_kohden::is_certain,
        is_likely: |_| false,
        read: nihon_kohden::read,
    },
    Reader {
        name: "Persyst",
        extensions: &["lay"],
        is_certain: persyst::is_certain,
        is_likely: |_| false,
        read: persyst::read,
    },
    Reader {
        name: "BrainVision",
        extensions: &["vhdr", "ahdr", "vmrk", "amrk", "eeg", "avg"],
        is_certain: brainvision::is_certain,
        is_likely: |_| false,
        read: brainvision::read,
    },
    Reader {
        name: "MATLAB, EEGLAB and HDF5",
        extensions: &["mat", "set", "fdt", "h5", "hdf5"],
        is_certain: mat::is_certain,
        is_likely: mat::is_likely,
        read: mat::read,
    },
    Reader {
        name: "COMTRADE",
        extensions: &["cfg", "cff", "dat", "hdr", "inf"],
        is_certain: comtrade::is_certain,
        is_likely: |_| false,
        read: comtrade::read,
    },
    Reader {
        name: "SEL event report",
        extensions: &["cev"],
        is_certain: sel_event::is_certain,
        is_likely: |_| false,
        read: sel_event::read,
    },
    Reader {
        name: "ARFF",
        extensions: &["arff"],
        is_certain: arff::is_certain,
        is_likely: |_| false,
        read: arff::read,
    },
    Reader {
        name: "NPY",
        extensions: &["npy"],
        is_certain: npy::is_certain,
        is_likely: |_| false,
        read: npy::read,
    },
    Reader {
        name: "Excel and OpenDocument",
        extensions: &["xlsx", "xlsm", "ods"],
        is_certain: workbook::is_certain,
        is_likely: |_| false,
        read: workbook::read,
    },
    Reader {
        name: "NPZ",
        extensions: &["npz"],
        is_certain: |_| false,
        is_likely: npz::is_likely,
        read: npz::read,
    },
    Reader {
        name: "CSV or text columns",
        extensions: &["csv", "tsv", "tab", "txt", "asc", "prn"],
        is_certain: |_| false,
        is_likely: table::is_likely,
        read: table::read,
    },
];

/// Bytes examined to recognise a format.
const HEAD_BYTES: u64 = 4096;

/// Opens a file of any format known here.
pub fn open(path: &Path, mode: Mode) -> Result<Record, ReadError> {
    open_with(path, &mode.into())
}

/// Opens a file with choices beyond the mode.
pub fn open_with(path: &Path, options: &ReadOptions) -> Result<Record, ReadError> {
    if let Some(unread) = unread::folder(path) {
        return Err(unread.refusal(path));
    }
    read(&Input::open(path)?, options)
}

/// Reads a file or bytes of any format known here.
pub fn read(input: &Input, options: &ReadOptions) -> Result<Record, ReadError> {
    let head = input.bytes.read_start(HEAD_BYTES)?;
    if let Some(unread) = unread::recording(&head, &input.extension()) {
        return Err(unread.refusal(input.path()));
    }
    match reader_for(input, &head)? {
        Some(reader) => {
            tracing::debug!(path = %input.path().display(), reader = reader.name, "read");
            let mut record = (reader.read)(input, options)?;
            if let Some(names) = &options.channel_names {
                name_signals(&mut record, names)?;
            }
            if record.kind == Kind::Recording {
                events_beside::add(&mut record, input, options.mode)?;
            }
            Ok(record)
        }
        None => Err(unknown_format(input, &head)),
    }
}

/// Names given by the user take the place of the file's, one for each signal.
fn name_signals(record: &mut Record, names: &[String]) -> Result<(), ReadError> {
    let signals = record.channels.iter_mut();
    let signals: Vec<_> = signals.filter(|c| c.kind == ChannelKind::Analog).collect();
    if signals.len() != names.len() {
        let (path, n_signals) = (&record.source.path, signals.len().to_string());
        let expected = format!("{}, one for each name given", names.len());
        let field = "number of signal channels";
        return Err(ReadError::malformed(
            path,
            FilePlace::File,
            field,
            n_signals,
            expected,
        ));
    }
    for (signal, name) in signals.into_iter().zip(names) {
        signal.name.clone_from(name);
    }
    Ok(())
}

/// Unmistakable content first, then the extension, then plausible content; content of a format that is not read is
/// no other, whatever the extension says.
fn reader_for(input: &Input, head: &[u8]) -> Result<Option<&'static Reader>, ReadError> {
    let extension = input.extension();
    // Samples of Persyst have the ending of COMTRADE's; the layout beside them tells.
    if extension == "dat" && input.companion_with_extension("lay")?.is_some() {
        return Ok(READERS.iter().find(|reader| reader.name == "Persyst"));
    }
    if let Some(certain) = READERS.iter().find(|reader| (reader.is_certain)(head)) {
        return Ok(Some(certain));
    }
    if unread::recognise(head).is_some() {
        return Ok(None);
    }
    // Tables have the ending of COMTRADE's samples too; beside no configuration, words tell them apart.
    if extension == "dat"
        && table::has_words(head)
        && input.companion_with_extension("cfg")?.is_none()
    {
        return Ok(READERS
            .iter()
            .find(|reader| reader.extensions.contains(&"csv")));
    }
    let named = || {
        READERS
            .iter()
            .find(|reader| reader.extensions.contains(&extension.as_str()))
    };
    let likely = || READERS.iter().find(|reader| (reader.is_likely)(head));
    Ok(named().or_else(likely))
}

fn unknown_format(input: &Input, head: &[u8]) -> ReadError {
    if let Some(unread) = unread::recognise(head) {
        return unread.refusal(input.path());
    }
    let start = &head[..head.len().min(16)];
    let expected: Vec<&str> = READERS.iter().map(|reader| reader.name).collect();
    ReadError::UnknownFormat {
        path: input.path().to_owned(),
        found: match start {
            [] => "nothing: it is empty".to_owned(),
            bytes => format!("\"{}\"", bytes.escape_ascii()),
        },
        expected: expected.join(", "),
    }
}
