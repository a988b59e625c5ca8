//! Formats that are not read, recognised by their content: what they are called and what to do.

use std::path::Path;

use super::ReadError;

/// A format that is not read.
#[derive(Clone, Copy)]
pub(super) struct Unread {
    /// What it is.
    name: &'static str,
    /// What the user can do.
    remedy: &'static str,
}

impl Unread {
    /// The refusal of a file of this format.
    pub(super) fn refusal(self, path: &Path) -> ReadError {
        ReadError::Unsupported {
            path: path.to_owned(),
            what: self.name.to_owned(),
            remedy: self.remedy.to_owned(),
        }
    }
}

const BY_MNE: &str =
    "convert it to EDF+ or FIF, with MNE-Python: mne.io.read_raw(…).export(\"file.edf\")";
const BY_ITS_PROGRAM: &str =
    "export it as EDF+ in the program that recorded it, or with EDFbrowser (Tools › Convert)";
const AS_COMTRADE: &str = "export it as COMTRADE (.cfg and .dat, or .cff)";

const NWB: Unread = Unread {
    name: "NWB (Neurodata Without Borders)",
    remedy: "export the series you need as EDF+, NPY or CSV, with pynwb",
};
const SNIRF: Unread = Unread {
    name: "SNIRF (near-infrared spectroscopy)",
    remedy: BY_MNE,
};
const MFF: Unread = Unread {
    name: "EGI MFF",
    remedy: BY_MNE,
};

/// A recording of another program: its name, whether the first bytes (or the ending where bytes do not tell) are of
/// it, and the way to convert it.
type Recording = (&'static str, fn(&[u8], &str) -> bool, &'static str);

const RECORDINGS: &[Recording] = &[
    (
        "Neuroscan CNT",
        |head, _| head.starts_with(b"Version 3.0\0"),
        BY_MNE,
    ),
    (
        "ANT Neuro CNT",
        |head, _| {
            // The size is of 32 bits in RIFF, of 64 in RF64.
            let of = |riff: &[u8], kind: usize| {
                head.starts_with(riff) && head.get(kind..kind + 4) == Some(b"CNT ")
            };
            of(b"RIFF", 8) || of(b"RF64", 8) || of(b"RF64", 12)
        },
        BY_MNE,
    ),
    (
        "Micromed TRC",
        |head, _| head.starts_with(b"* MICROMED"),
        BY_ITS_PROGRAM,
    ),
    (
        "Nicolet .e",
        |head, ending| is_nicolet(head) || (ending == "e" && !head.starts_with(b"0       ")),
        BY_ITS_PROGRAM,
    ),
    (
        MFF.name,
        |head, ending| {
            let is_part = ending == "bin" || ending == "xml";
            let says_so = head.windows(11).any(|part| part == b"www.egi.com");
            ending == "mff" || (is_part && says_so)
        },
        MFF.remedy,
    ),
    (
        NWB.name,
        |head, ending| is_hdf5(head, ending, "nwb"),
        NWB.remedy,
    ),
    (
        SNIRF.name,
        |head, ending| is_hdf5(head, ending, "snirf"),
        SNIRF.remedy,
    ),
    (
        "Curry",
        |head, ending| {
            head.starts_with(b"DATA_PARAMETERS") || ["cdt", "dap", "dpa"].contains(&ending)
        },
        BY_MNE,
    ),
    (
        "BCI2000",
        |head, _| head.starts_with(b"BCI2000V=") || head.starts_with(b"HeaderLen="),
        "convert it with BCI2000's own tools, or with MNE-Python to EDF+",
    ),
    (
        "Blackrock NSx",
        |head, _| {
            let starts: [&[u8]; 4] = [b"NEURALSG", b"NEURALCD", b"BRSMPGRP", b"NEURALEV"];
            starts.iter().any(|start| head.starts_with(start))
        },
        "convert it to EDF+ or MAT, with neo or Blackrock's NPMK",
    ),
    (
        "Intan RHD or RHS",
        |head, _| {
            head.starts_with(&[0x02, 0x27, 0x91, 0xc6])
                || head.starts_with(&[0xac, 0x27, 0x91, 0xd6])
        },
        "convert it to NPY or MAT, with neo or Intan's own scripts",
    ),
    (
        "Spike2 SMR",
        |head, ending| head.get(2..12) == Some(b"(C) CED 87") || ending == "smrx",
        BY_ITS_PROGRAM,
    ),
    ("Natus XLTEK", |_, ending| ending == "erd", BY_ITS_PROGRAM),
    (
        "PQDIF (IEEE 1159.3)",
        |head, ending| head.starts_with(&PQDIF) || ["pqd", "pqdif"].contains(&ending),
        AS_COMTRADE,
    ),
    (
        "an SEL event report in its long form (.eve)",
        |_, ending| ending == "eve",
        AS_COMTRADE,
    ),
];

/// The first record of a PQDIF file carries this identifier.
const PQDIF: [u8; 16] = [
    0x40, 0x14, 0x11, 0x4a, 0x9f, 0xe4, 0xcf, 0x11, 0x99, 0x00, 0x50, 0x51, 0x44, 0x49, 0x46, 0x00,
];

/// HDF5 files that are not MATLAB's.
fn is_hdf5(head: &[u8], ending: &str, own: &str) -> bool {
    head.starts_with(b"\x89HDF\r\n\x1a\n") && ending == own
}

/// From byte 172 on stand the number of tags and the first of them: a name or an identifier in braces, in UTF-16.
/// <https://github.com/ieeg-portal/Nicolet-Reader>
fn is_nicolet(head: &[u8]) -> bool {
    let (Some([n_tags, more @ ..]), Some(tag)) = (head.get(172..176), head.get(176..256)) else {
        return false;
    };
    let letters = tag.chunks_exact(2).take_while(|pair| **pair != [0, 0]);
    let letters: Vec<&[u8]> = letters.collect();
    let is_text = |pair: &&[u8]| pair[0].is_ascii_graphic() && pair[1] == 0;
    more[1..] == [0, 0] && *n_tags > 0 && letters.len() >= 4 && letters.iter().all(is_text)
}

/// The recording of another program that the first bytes or the ending tell.
pub(super) fn recording(head: &[u8], ending: &str) -> Option<Unread> {
    let is_it = |(_, is_it, _): &&Recording| is_it(head, ending);
    let (name, _, remedy) = RECORDINGS.iter().find(is_it)?;
    Some(Unread { name, remedy })
}

/// The format of an HDF5 file, told by the members of its root group, whatever the ending.
pub(super) fn hdf5<'a>(members: impl Iterator<Item = &'a str>) -> Option<Unread> {
    let members: Vec<&str> = members.collect();
    let has = |name: &str| members.contains(&name);
    if has("session_start_time") && has("timestamps_reference_time") {
        return Some(NWB);
    }
    let has_series = members.iter().any(|name| name.starts_with("nirs"));
    (has("formatVersion") && has_series).then_some(SNIRF)
}

/// A folder that is a recording, or a file inside of one.
pub(super) fn folder(path: &Path) -> Option<Unread> {
    const CTF: Unread = Unread {
        name: "CTF",
        remedy: BY_MNE,
    };
    let ends_in = |path: &Path, own: &str| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ending.eq_ignore_ascii_case(own))
    };
    let is_mff = |folder: &Path| {
        let has = |name: &str| folder.join(name).is_file();
        ends_in(folder, "mff") || (has("info.xml") && has("signal1.bin"))
    };
    match path.is_dir() {
        true if is_mff(path) => Some(MFF),
        true => ends_in(path, "ds").then_some(CTF),
        false => path.parent().is_some_and(is_mff).then_some(MFF),
    }
}

pub(super) const UNPACK: &str = "unpack it and open what it holds";
const AS_CSV: &str = "export the table as CSV";
const NO_DATA: &str = "it holds no samples; open the file with the data";

/// The start of a SAS data set.
const SAS: &[u8] = b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60";

/// Bytes at the start of a file, and what they belong to.
const SIGNATURES: &[(&[u8], &str, &str)] = &[
    (b"\x1f\x8b", "a gzip archive", UNPACK),
    (b"BZh", "a bzip2 archive", UNPACK),
    (b"\xfd7zXZ\0", "an xz archive", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", UNPACK),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an Office file from before 2007 (.xls) or with a password",
        "save it without a password as .xlsx or the sheet as CSV",
    ),
    (b"PAR1", "a Parquet table", AS_CSV),
    (b"ARROW1", "an Arrow table", AS_CSV),
    (b"FEA1", "a Feather table", AS_CSV),
    (b"SQLite format 3\0", "an SQLite data base", AS_CSV),
    (b"$FL2", "an SPSS file", AS_CSV),
    (b"<stata_dta>", "a Stata file", AS_CSV),
    (b"RDX2\n", "an R workspace", AS_CSV),
    (b"RDX3\n", "an R workspace", AS_CSV),
    (b"TDSm", "a LabVIEW TDMS file", AS_CSV),
    (b"ABF2", "an Axon ABF file", AS_CSV),
    (b"ABF ", "an Axon ABF file", AS_CSV),
    (SAS, "a SAS file", AS_CSV),
    (b"fLaC", "a FLAC sound", "convert it to CSV"),
    (b"%PDF-", "a PDF document", NO_DATA),
    (b"\x89PNG\r\n", "a PNG picture", NO_DATA),
    (b"\xff\xd8\xff", "a JPEG picture", NO_DATA),
    (b"GIF8", "a GIF picture", NO_DATA),
    (b"II*\0", "a TIFF picture", NO_DATA),
    (b"MM\0*", "a TIFF picture", NO_DATA),
    (b"\x7fELF", "a program", NO_DATA),
    (b"MZ\x90\0", "a program", NO_DATA),
];

/// What the first bytes of a file say it is, if it is a format that is not read.
pub(super) fn recognise(head: &[u8]) -> Option<Unread> {
    let known = SIGNATURES
        .iter()
        .find(|(start, ..)| head.starts_with(start));
    if let Some((_, name, remedy)) = known {
        return Some(Unread { name, remedy });
    }
    // A pickle of protocol 2 to 5 ends its frame far behind; its second byte is the protocol.
    if let [0x80, 2..=5, third, ..] = head
        && (*third == 0x95 || third.is_ascii_graphic())
    {
        return Some(Unread {
            name: "a Python pickle",
            remedy: "pickles run code when they are opened; save arrays with numpy.save, tables as CSV",
        });
    }
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WAVE") {
        return Some(Unread {
            name: "a WAV sound",
            remedy: "convert it to CSV or EDF+",
        });
    }
    let text = head.trim_ascii_start().to_ascii_lowercase();
    let starts = |words: &[&[u8]]| words.iter().any(|word| text.starts_with(word));
    if starts(&[b"<!doctype html", b"<html"]) {
        return Some(Unread {
            name: "a web page",
            remedy: "the download may have failed; fetch the file itself",
        });
    }
    if starts(&[b"{\"", b"[{", b"{\n"]) {
        return Some(Unread {
            name: "JSON",
            remedy: AS_CSV,
        });
    }
    starts(&[b"<?xml"]).then_some(Unread {
        name: "an XML file",
        remedy: AS_CSV,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Input, Mode, read};

    #[test]
    fn recordings_of_other_programs_are_told_by_content_and_never_by_chance() {
        let mut nicolet = vec![7; 172];
        nicolet.extend(40_u32.to_le_bytes());
        let tag = "{A271CCCB-515D-4590-B6A1-DC170C8D6EE2}";
        nicolet.extend(tag.encode_utf16().flat_map(u16::to_le_bytes));
        nicolet.resize(4096, 0);
        let found = super::recording(&nicolet, "dat").map(|unread| unread.name);
        assert_eq!(found, Some("Nicolet .e"));
        assert!(super::recording(&[b'1'; 4096], "csv").is_none());
        assert!(super::recording(&[0; 4096], "dat").is_none());
        let names = |names: &[&str]| super::hdf5(names.iter().copied()).map(|unread| unread.name);
        let nwb = ["acquisition", "identifier", "session_start_time"];
        assert_eq!(names(&nwb), None);
        let nwb = [nwb[0], nwb[1], nwb[2], "timestamps_reference_time"];
        assert!(names(&nwb).is_some_and(|name| name.starts_with("NWB")));
        let snirf = names(&["formatVersion", "nirs1"]);
        assert!(snirf.is_some_and(|name| name.starts_with("SNIRF")));
        assert_eq!(names(&["data", "fs"]), None);
    }

    #[test]
    fn files_of_other_programs_are_named_whatever_their_ending() {
        for (name, bytes, called) in [
            ("a.csv", b"\x1f\x8b\x08\0\0\0".as_slice(), "gzip"),
            ("a.bin", b"PAR1....", "Parquet"),
            ("table.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0", ".xlsx"),
            ("a.txt", b"<!DOCTYPE html><p>1,2</p>", "web page"),
            ("a.pkl", b"\x80\x04\x95\x10\0\0", "pickle"),
            ("a.csv", b"{\"a\": [1, 2]}", "JSON"),
        ] {
            let refused = read(&Input::from_bytes(name, bytes), &Mode::Tolerant.into());
            let text = refused.expect_err("not read").to_string();
            assert!(text.contains(called), "{name}: {text}");
        }
    }
}
