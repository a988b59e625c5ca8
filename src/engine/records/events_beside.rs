//! Events of a recording that stand in a file beside it, by the conventions in use.
//!
//! BIDS: `sub-01_task-rest_eeg.edf` has `sub-01_task-rest_events.tsv`. Sleep-EDF: `SC4001E0-PSG.edf` has
//! `SC4001EC-Hypnogram.edf`, where the eighth letter names who scored.

use std::path::Path;

use super::{
    Annotation, ByteSource, FilePlace, Input, Mode, ReadError, Record, Warning, counted, event_list,
};

/// What ends the names of recordings in BIDS.
const BIDS_RECORDINGS: [&str; 4] = ["_eeg", "_ieeg", "_meg", "_nirs"];
/// What ends the names of tables about recordings in BIDS.
const BIDS_TABLES: [&str; 6] = [
    "_events",
    "_channels",
    "_electrodes",
    "_optodes",
    "_scans",
    "_sessions",
];
/// What a recording and its hypnogram have in common: `SC4001E` of `SC4001E0-PSG` and `SC4001EC-Hypnogram`.
const SLEEP_STEM: usize = 7;

/// Whether a file tells about another one, by its name alone.
pub(super) fn is_about_another(file: &Path) -> bool {
    let stem = lower_stem(file);
    match lower_ending(file).as_str() {
        "tsv" => BIDS_TABLES.iter().any(|ending| stem.ends_with(ending)),
        "edf" => stem.ends_with("-hypnogram"),
        _ => false,
    }
}

/// Adds the events beside a recording; where one of the recording's own starts at the same sample, the file beside it
/// is right.
pub(super) fn add(record: &mut Record, input: &Input, mode: Mode) -> Result<(), ReadError> {
    if is_about_another(input.path()) {
        return Ok(());
    }
    let Some(file) = events_of(input)? else {
        return Ok(());
    };
    let (path, size) = (file.path().to_owned(), file.len());
    let list = match event_list::read(&input.seen_from(file), mode) {
        Ok(list) => list,
        Err(error) if mode == Mode::Tolerant => {
            let text = format!("the events beside the recording are left out: {error}");
            note(record, text);
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    record.source.add_companion(&path, size);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let n_events = counted(list.annotations.len(), "event");
    note(record, format!("{n_events} taken from {name}"));
    record.warnings.extend(list.warnings);
    let rates = record.channels.iter().filter_map(|channel| channel.rate_hz);
    let sample_s = 1.0 / rates.fold(1.0, f64::max);
    let starts: Vec<f64> = list.annotations.iter().map(|event| event.onset_s).collect();
    let is_told = |own: &Annotation| {
        let after = starts.partition_point(|start_s| *start_s < own.onset_s - sample_s);
        starts
            .get(after)
            .is_some_and(|start_s| *start_s <= own.onset_s + sample_s)
    };
    record.annotations.retain(|own| !is_told(own));
    record.annotations.extend(list.annotations);
    record
        .annotations
        .sort_by(|a, b| a.onset_s.total_cmp(&b.onset_s));
    Ok(())
}

fn note(record: &mut Record, text: String) {
    let place = FilePlace::File;
    record.warnings.push(Warning { place, text });
}

/// The file with the events of a recording, if there is one.
fn events_of(input: &Input) -> Result<Option<ByteSource>, ReadError> {
    let stem = input.path().file_stem().unwrap_or_default();
    let stem = stem.to_string_lossy();
    let lower = stem.to_lowercase();
    if let Some(kind) = BIDS_RECORDINGS.iter().find(|kind| lower.ends_with(*kind)) {
        let of_all = stem
            .get(..stem.len().saturating_sub(kind.len()))
            .unwrap_or(&stem);
        return input.companion(&format!("{of_all}_events.tsv"));
    }
    if lower.ends_with("-psg") {
        let is_hypnogram = |name: &&String| {
            let name = name.to_lowercase();
            name.ends_with("-hypnogram.edf") && name.get(..SLEEP_STEM) == lower.get(..SLEEP_STEM)
        };
        if let Some(name) = input.names_beside().iter().find(is_hypnogram) {
            return input.companion(name);
        }
    }
    Ok(None)
}

fn lower_stem(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    stem.to_string_lossy().to_lowercase()
}

fn lower_ending(file: &Path) -> String {
    let ending = file.extension().unwrap_or_default();
    ending.to_string_lossy().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Channel, Format, Kind, Unit};

    fn recording(name: &str, annotations: Vec<Annotation>) -> Record {
        let channel = Channel::analog("Cz", Unit::parse("uV"), Some(100.0), 0);
        let data = vec![(channel, vec![0.0; 1000])];
        let mut record = Record::in_memory(Format::Edf, Kind::Recording, name, data);
        record.annotations = annotations;
        record
    }

    fn events(record: &Record) -> Vec<(f64, &str)> {
        let events = record.annotations.iter();
        events
            .map(|event| (event.onset_s, event.text.as_str()))
            .collect()
    }

    #[test]
    fn bids_events_are_taken_and_are_right_where_both_tell() {
        let name = "sub-01_task-rest_eeg.edf";
        let own = vec![
            Annotation::new(2.0, None, "Stimulus/S  1"),
            Annotation::new(5.0, None, "boundary"),
        ];
        let mut record = recording(name, own);
        let table = "onset\tduration\ttrial_type\n2.004\t3\tleft\n7\t3\tright\n";
        let input =
            Input::from_bytes(name, "").with_companion("sub-01_task-rest_events.tsv", table);
        add(&mut record, &input, Mode::Strict).expect("readable");
        assert_eq!(
            events(&record),
            [(2.004, "left"), (5.0, "boundary"), (7.0, "right")]
        );
        assert_eq!(record.source.companions.len(), 1);
        assert!(record.warnings[0].text.starts_with("2 events taken from"));
    }

    #[test]
    fn a_hypnogram_belongs_to_its_night_and_a_broken_table_hides_no_recording() {
        let stages = [Annotation::new(0.0, Some(30.0), "Sleep stage W")];
        let edf = event_list::to_edf(&stages, None).expect("memory takes all");
        let night = |name: &str| Input::from_bytes(name, "");
        let input = night("SC4001E0-PSG.edf")
            .with_companion("SC4002EC-Hypnogram.edf", "")
            .with_companion("SC4001EC-Hypnogram.edf", edf);
        let mut record = recording("SC4001E0-PSG.edf", Vec::new());
        add(&mut record, &input, Mode::Strict).expect("readable");
        assert_eq!(events(&record), [(0.0, "Sleep stage W")]);
        let input = night("a_eeg.edf").with_companion("a_events.tsv", "no times\n");
        let mut record = recording("a_eeg.edf", Vec::new());
        add(&mut record, &input, Mode::Tolerant).expect("the recording is right");
        assert!(record.warnings[0].text.contains("left out"));
        assert!(add(&mut record, &input, Mode::Strict).is_err());
    }
}
