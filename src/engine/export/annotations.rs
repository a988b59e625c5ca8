//! The annotations of a recording in files: a table, or the recording itself with them as EDF+.

use std::io;
use std::path::Path;

use super::{ExportError, write};
use crate::records::edf::{SampleWidth, write_file};
use crate::records::{Annotation, Record, event_list};

/// Writes annotations; the ending of `path` decides: `.csv` for a table, `.tsv` for one as BIDS has it, `.edf` or `.bdf` for the
/// recording with these annotations. A recording is never written over itself.
pub fn write_annotations(
    record: &Record,
    annotations: Vec<Annotation>,
    path: &Path,
) -> Result<(), ExportError> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let width = match ending.unwrap_or("").to_lowercase().as_str() {
        "csv" => return write(path, table(record, &annotations).as_bytes()),
        "tsv" => return write(path, event_list::to_bids(&annotations).as_bytes()),
        "edf" => SampleWidth::Edf,
        "bdf" => SampleWidth::Bdf,
        _ => {
            return Err(ExportError::Ending {
                expected: "csv, .tsv, .edf or .bdf".to_owned(),
                path: path.to_owned(),
            });
        }
    };
    let failed = |source: io::Error| ExportError::Recording {
        path: path.to_owned(),
        source,
    };
    let own = record.source.path.canonicalize();
    if own.is_ok_and(|own| path.canonicalize().is_ok_and(|target| target == own)) {
        let text = "it is the recording itself: choose another name".to_owned();
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, text)));
    }
    let mut annotated = record.clone();
    annotated.annotations = annotations;
    write_file(&annotated, width, path).map_err(failed)
}

/// Onset and duration in seconds, the clock where it is known, and the text.
fn table(record: &Record, annotations: &[Annotation]) -> String {
    let mut text = "onset_s,duration_s,clock,text\n".to_owned();
    for annotation in annotations {
        let clock = record
            .start
            .and_then(|start| start.plus_seconds(annotation.onset_s));
        let clock = clock.map_or(String::new(), |clock| clock.to_string());
        let duration_s = annotation.duration_s.unwrap_or(0.0);
        let quoted = annotation.text.replace('"', "\"\"");
        text += &format!("{},{duration_s},{clock},\"{quoted}\"\n", annotation.onset_s);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Channel, Format, Kind, Mode, Unit, open};

    fn record() -> Record {
        let channel = Channel::analog("Cz", Unit::parse("µV"), Some(100.0), 0);
        let data = vec![(channel, (0..1000).map(|k| f64::from(k % 50)).collect())];
        Record::in_memory(Format::Simulated, Kind::Recording, "test", data)
    }

    fn annotations() -> Vec<Annotation> {
        let annotation =
            |onset_s, duration_s, text: &str| Annotation::new(onset_s, duration_s, text);
        vec![
            annotation(1.5, None, "spike, left"),
            annotation(4.0, Some(2.0), "he said \"stop\""),
        ]
    }

    #[test]
    fn tables_quote_their_texts() {
        let lines = table(&record(), &annotations());
        assert_eq!(
            lines,
            "onset_s,duration_s,clock,text\n1.5,0,,\"spike, left\"\n4,2,,\"he said \"\"stop\"\"\"\n"
        );
    }

    #[test]
    fn a_recording_comes_back_with_its_annotations() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("noted.edf");
        write_annotations(&record(), annotations(), &path).expect("written");
        let back = open(&path, Mode::Strict).expect("readable");
        let texts: Vec<&str> = back.annotations.iter().map(|a| a.text.as_str()).collect();
        assert_eq!(texts, ["spike, left", "he said \"stop\""]);
        assert_eq!(back.annotations[1].duration_s, Some(2.0));
        let again = write_annotations(&back, Vec::new(), &path);
        assert!(again.is_err(), "a recording is not written over itself");
        let wrong = write_annotations(&record(), Vec::new(), Path::new("x.txt"));
        let text = wrong.expect_err("no such format").to_string();
        assert!(
            text.starts_with("the file must end in .csv, .tsv, .edf or .bdf"),
            "{text}"
        );
    }
}
