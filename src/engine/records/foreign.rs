//! Formats that are recognised but not read: what they are called, and how to convert them.

use std::path::Path;

use super::{Input, ReadError};

/// A format of other programs.
struct Foreign {
    name: &'static str,
    /// Whether the first bytes, or the ending where bytes do not tell, are of this format.
    is_it: fn(&[u8], &str) -> bool,
    remedy: &'static str,
}

const BY_MNE: &str =
    "convert it to EDF+ or FIF, with MNE-Python: mne.io.read_raw(…).export(\"file.edf\")";
const BY_ITS_PROGRAM: &str =
    "export it as EDF+ in the program that recorded it, or with EDFbrowser (Tools › Convert)";

/// HDF5 files that are not MATLAB's.
fn is_hdf5(head: &[u8], ending: &str, own: &str) -> bool {
    head.starts_with(b"\x89HDF\r\n\x1a\n") && ending == own
}

const FOREIGN: &[Foreign] = &[
    Foreign {
        name: "Neuroscan CNT",
        is_it: |head, _| head.starts_with(b"Version 3.0\0"),
        remedy: BY_MNE,
    },
    Foreign {
        name: "ANT Neuro CNT",
        is_it: |head, _| {
            let is_riff = head.starts_with(b"RIFF") || head.starts_with(b"RF64");
            is_riff && head.get(8..12) == Some(b"CNT ")
        },
        remedy: BY_MNE,
    },
    Foreign {
        name: "Micromed TRC",
        is_it: |head, _| head.starts_with(b"* MICROMED"),
        remedy: BY_ITS_PROGRAM,
    },
    Foreign {
        name: "Nicolet .e",
        // Six numbers, then the identifier of the main index.
        is_it: |head, ending| ending == "e" && !head.is_empty() && !head.starts_with(b"0       "),
        remedy: BY_ITS_PROGRAM,
    },
    Foreign {
        name: "EGI MFF",
        is_it: |head, ending| {
            let is_part = ending == "bin" || ending == "xml";
            let says_so = head.windows(11).any(|part| part == b"www.egi.com");
            ending == "mff" || (is_part && says_so)
        },
        remedy: BY_MNE,
    },
    Foreign {
        name: "NWB (Neurodata Without Borders)",
        is_it: |head, ending| is_hdf5(head, ending, "nwb"),
        remedy: "export the series you need as EDF+, NPY or CSV, with pynwb",
    },
    Foreign {
        name: "SNIRF (near-infrared spectroscopy)",
        is_it: |head, ending| is_hdf5(head, ending, "snirf"),
        remedy: BY_MNE,
    },
    Foreign {
        name: "Curry",
        is_it: |head, ending| {
            head.starts_with(b"DATA_PARAMETERS") || ["cdt", "dap", "dpa"].contains(&ending)
        },
        remedy: BY_MNE,
    },
    Foreign {
        name: "BCI2000",
        is_it: |head, _| head.starts_with(b"BCI2000V=") || head.starts_with(b"HeaderLen="),
        remedy: "convert it with BCI2000's own tools, or with MNE-Python to EDF+",
    },
    Foreign {
        name: "Blackrock NSx",
        is_it: |head, _| {
            let starts: [&[u8]; 4] = [b"NEURALSG", b"NEURALCD", b"BRSMPGRP", b"NEURALEV"];
            starts.iter().any(|start| head.starts_with(start))
        },
        remedy: "convert it to EDF+ or MAT, with neo or Blackrock's NPMK",
    },
    Foreign {
        name: "Intan RHD or RHS",
        is_it: |head, _| {
            head.starts_with(&[0x02, 0x27, 0x91, 0xc6])
                || head.starts_with(&[0xac, 0x27, 0x91, 0xd6])
        },
        remedy: "convert it to NPY or MAT, with neo or Intan's own scripts",
    },
    Foreign {
        name: "Natus XLTEK",
        is_it: |_, ending| ending == "erd",
        remedy: BY_ITS_PROGRAM,
    },
];

/// The refusal for a format that is known but not read.
pub(super) fn refusal(input: &Input, head: &[u8]) -> Option<ReadError> {
    let ending = input.extension();
    let found = FOREIGN
        .iter()
        .find(|format| (format.is_it)(head, &ending))?;
    Some(ReadError::Unsupported {
        path: input.path().to_owned(),
        what: found.name.to_owned(),
        remedy: found.remedy.to_owned(),
    })
}

/// The refusal for a folder that is a recording of such a format.
pub(super) fn folder_refusal(path: &Path) -> Option<ReadError> {
    let ending = path.extension()?.to_str()?.to_lowercase();
    let what = match ending.as_str() {
        "mff" => "EGI MFF",
        "ds" => "CTF",
        _ => return None,
    };
    path.is_dir().then(|| ReadError::Unsupported {
        path: path.to_owned(),
        what: what.to_owned(),
        remedy: BY_MNE.to_owned(),
    })
}
