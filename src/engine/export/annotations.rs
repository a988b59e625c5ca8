//! The annotations of a recording in files: a table, or the recording itself with them as EDF+.

use std::io;
use std::path::Path;

use super::{ExportError, write};
use crate::evaluation::EpochScores;
use crate::records::edf::{SampleWidth, write_file};
use crate::records::{Annotation, Record, StartTime, event_list};

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

/// Writes scores of epochs as annotations, one for each run of equal states; the ending of `path` decides: `.csv`,
/// `.tsv` as BIDS has it, `.edf` as hypnograms are exchanged.
pub fn write_scores(
    scores: &EpochScores,
    start: Option<StartTime>,
    path: &Path,
) -> Result<(), ExportError> {
    let annotations = scores.to_annotations();
    let ending = path.extension().and_then(|ending| ending.to_str());
    let bytes = match ending.unwrap_or("").to_lowercase().as_str() {
        "csv" => event_list::to_csv(&annotations).into_bytes(),
        "tsv" => event_list::to_bids(&annotations).into_bytes(),
        "edf" => {
            event_list::to_edf(&annotations, start).map_err(|source| ExportError::Recording {
                path: path.to_owned(),
                source,
            })?
        }
        _ => {
            return Err(ExportError::Ending {
                expected: "csv, .tsv or .edf".to_owned(),
                path: path.to_owned(),
            });
        }
    };
    write(path, &bytes)
}

/// Onset and duration in seconds, the clock where it is known, the text and the channels.
fn table(record: &Record, annotations: &[Annotation]) -> String {
    let mut text = "onset_s,duration_s,clock,text,channels\n".to_owned();
    for annotation in annotations {
        let clock = record
            .start
            .and_then(|start| start.plus_seconds(annotation.onset_s));
        let clock = clock.map_or(String::new(), |clock| clock.to_string());
        let duration_s = annotation.duration_s.unwrap_or(0.0);
        let quoted = |text: &str| text.replace('"', "\"\"");
        let (note, channels) = (
            quoted(&annotation.text),
            quoted(&annotation.channels.join(",")),
        );
        let onset_s = annotation.onset_s;
        text += &format!("{onset_s},{duration_s},{clock},\"{note}\",\"{channels}\"\n");
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
    fn fields_of_the_header_are_kept_or_left_out_as_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut record = record();
        record.start = crate::records::StartTime::new((2019, 3, 2), (13, 14, 15), 0);
        record.identity.patient = "MCH-0234567 F 02-MAY-1951 Haagse_Harry".to_owned();
        record.identity.recording =
            "Startdate 02-MAR-2019 EMG561 BK/JOP Sony. MNC R Median Nerve.".to_owned();
        record.channels[0].sensor.transducer = "AgAgCl electrode".to_owned();
        record.channels[0].sensor.prefilter = "HP:0.1Hz LP:75Hz N:50Hz".to_owned();
        let kept = folder.path().join("kept.edf");
        write_annotations(&record, Vec::new(), &kept).expect("written");
        let back = open(&kept, Mode::Strict).expect("readable");
        assert_eq!(back.identity, record.identity);
        assert_eq!(back.channels[0].sensor, record.channels[0].sensor);
        assert_eq!(back.start, record.start);
        let nameless = folder.path().join("nameless.edf");
        write_annotations(&back.anonymised(), Vec::new(), &nameless).expect("written");
        let text = std::fs::read(&nameless).expect("readable");
        for secret in ["Haagse", "1951", "2019", "Sony", "EMG561"] {
            let bytes = secret.as_bytes();
            assert!(!text.windows(bytes.len()).any(|at| at == bytes), "{secret}");
        }
        let back = open(&nameless, Mode::Strict).expect("readable");
        assert_eq!(back.identity.patient, "X X X X");
        let start = back.start.expect("a start");
        assert_eq!((start.year, start.hour, start.second), (1985, 13, 15));
        assert_eq!(back.channels[0].sensor, record.channels[0].sensor);
        // A text of plain EDF follows the fields that EDF+ asks for.
        record.identity.patient = "John Doe, bed 4".to_owned();
        let plain = folder.path().join("plain.edf");
        write_annotations(&record, Vec::new(), &plain).expect("written");
        let back = open(&plain, Mode::Strict).expect("readable");
        assert_eq!(back.identity.patient, "X X X X John Doe, bed 4");
    }

    #[test]
    fn tables_quote_their_texts() {
        let lines = table(&record(), &annotations());
        assert_eq!(
            lines,
            "onset_s,duration_s,clock,text,channels\n1.5,0,,\"spike, left\",\"\"\n4,2,,\"he said \"\"stop\"\"\",\"\"\n"
        );
    }

    #[test]
    fn scores_come_back_from_every_format() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut scores = EpochScores::sleep(150.0);
        for (epoch, state) in [(0, 0), (1, 2), (2, 2), (4, 4)] {
            assert_eq!(scores.set(epoch, Some(state)), Some(None));
        }
        for ending in ["csv", "tsv", "edf"] {
            let path = folder.path().join(format!("scores.{ending}"));
            write_scores(&scores, None, &path).expect("written");
            let list = event_list::open(&path, Mode::Strict).expect("readable");
            let back = EpochScores::from_annotations(&list.annotations, 30.0, 150.0);
            let agreement = scores.agreement(&back);
            assert_eq!(agreement.confusion.total(), 4, "{ending}");
            assert!(agreement.differing.is_empty(), "{ending}");
        }
        let wrong = write_scores(&scores, None, Path::new("scores.txt"));
        assert!(wrong.is_err());
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
