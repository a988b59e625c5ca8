//! Formats that are not read, recognised by their content: what they are called and what to do.

/// A format that is not read.
pub(super) struct Unread {
    /// What it is.
    pub(super) name: &'static str,
    /// What the user can do.
    pub(super) remedy: &'static str,
}

const UNPACK: &str = "unpack it and open what it holds";
const AS_CSV: &str = "export the table as CSV";
const NO_DATA: &str = "it holds no samples; open the file with the data";

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
