//! What "open this file or folder" means: the likeliest source, labels and recipe.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::super::error::DatasetError;
use super::super::{ArrayChoice, LongTable, TableChoice};
use super::eeg_guess::eeg_recipe;
use super::tables::{choice_with_labels, labels_beside, with_labels};
use super::{ArraySource, DataPlan, DataSettings, RecordingSource, TableSource};
use crate::features::{EegRecipe, FaultRecipe, FeatureRecipe};
use crate::records::catalog::{
    self, AnnotationRule, CatalogError, Folder, LabelledSet, Pattern, Rule,
};
use crate::records::table::told_rate;
use crate::records::{Kind, Mode, ReadError, ReadOptions, Record, open, open_with};

/// Files of a folder that are opened to see what it holds.
const MAX_LOOKED_INTO: usize = 10;

/// Files beside a table among which its labels are looked for.
const MAX_BESIDE: usize = 1000;

/// More classes than this come from names that tell something else.
const MAX_GUESSED_CLASSES: usize = 50;

impl DataSettings {
    /// The likeliest meaning of a file or folder. What cannot be guessed is an error that says what to do; a sampling
    /// rate that the files do not tell is asked for when they are loaded. `keep_going` receives the share done and stops
    /// the work by saying false.
    pub fn for_path(
        path: &Path,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Self, DatasetError> {
        if path.is_dir() {
            return for_folder(path, keep_going);
        }
        let record = open(path, Mode::Tolerant)?;
        match record.kind {
            Kind::Table if record.channels.len() == 1 => Err(single(
                path,
                "a single column of numbers has no classes: to train, open the folder with the recordings of all classes",
            )),
            Kind::Table => for_table(path, &record),
            Kind::Arrays => Ok(of_arrays(path, &record)),
            Kind::FaultRecord => Err(single(
                path,
                "a single fault record is one sample: to train, open the folder with the records of all classes",
            )),
            Kind::Recording => {
                let records = std::slice::from_ref(&record);
                let rule = AnnotationRule::suggest(records).ok_or_else(|| {
                    single(
                        path,
                        "a single recording without annotations of two classes has no classes: to train, open the folder with the recordings of all classes",
                    )
                })?;
                let rules = vec![Rule::Annotations(rule)];
                Ok(of_recordings(path, rules, records, ReadOptions::default()))
            }
        }
    }
}

fn single(path: &Path, reason: &'static str) -> DatasetError {
    DatasetError::SingleRecording {
        reason,
        path: path.to_owned(),
    }
}

fn unclear(path: &Path, reason: &str) -> DatasetError {
    DatasetError::Unclear {
        reason: reason.to_owned(),
        path: path.to_owned(),
    }
}

fn for_folder(
    path: &Path,
    keep_going: &mut dyn FnMut(f64) -> bool,
) -> Result<DataSettings, DatasetError> {
    let folder = Folder::scan(path)?;
    let records = first_records(&folder, keep_going)?;
    let Some(first) = records.first() else {
        return Err(unclear(path, "no file of the folder can be read"));
    };
    let held = match first.kind {
        Kind::Arrays => Some(of_arrays(path, first)),
        Kind::Table => {
            let choice = TableChoice::guess(first);
            let paired = paired_tables(&folder)?;
            paired.or_else(|| choice.map(|choice| of_tables(path, Some(choice))))
        }
        Kind::Recording | Kind::FaultRecord => None,
    };
    if let Some(settings) = held {
        return Ok(settings);
    }
    let by_notes = AnnotationRule::suggest(&records);
    let is_faults = first.kind == Kind::FaultRecord;
    let by_names = best_rule(&folder, by_notes.is_some())?;
    // Names of fault records tell a class if all of them do: else they are stations, dates and numbers.
    let by_names = by_names.filter(|rule| !is_faults || labels_all(&folder, rule));
    let mut rules = match (by_names, by_notes) {
        (Some(rule), _) => vec![rule],
        (None, Some(rule)) => vec![Rule::Annotations(rule)],
        // Without a rule, loading says what is missing, and a rule can be given.
        (None, None) => Vec::new(),
    };
    if !is_faults && !rules.is_empty() {
        rules.extend(group_rule(&folder, rules.first()));
    }
    let options = ReadOptions {
        rate_hz: told_rate_of(&records),
        ..ReadOptions::default()
    };
    // With a rate the columns of times are no channels.
    let timed = records.iter().filter(|_| options.rate_hz.is_some());
    let timed: Vec<Record> = timed
        .filter_map(|record| open_with(&record.source.path, &options).ok())
        .collect();
    let records = if timed.is_empty() { records } else { timed };
    Ok(of_recordings(path, rules, &records, options))
}

/// What the names say of subjects, where several files share one and every class has several: folders of subjects,
/// what stands before an underscore or hyphen (`anna_night1`, `anna_night2`), or before the same letters and a number
/// (`S001R01`, `S001R02`). Nothing where the rule for the classes tells groups.
fn group_rule(folder: &Folder, of_class: Option<&Rule>) -> Option<Rule> {
    let of_class = of_class.filter(|rule| !matches!(rule, Rule::Annotations(_)));
    let told_by = |candidate: &Rule| {
        let rules: Vec<Rule> = of_class.into_iter().chain([candidate]).cloned().collect();
        catalog::label(folder, &rules, Mode::Tolerant, |_| true).ok()
    };
    if let Some(rule) = of_class {
        let labels = told_by(rule)?;
        if labels.files.iter().any(|file| !file.is_own_group) {
            return None;
        }
    }
    let stems = folder.files.iter().filter_map(|file| file.file_stem());
    let stems: Vec<String> = stems.map(|s| s.to_string_lossy().into_owned()).collect();
    let counted = letters_before_last_number(stems.first().map_or("", String::as_str));
    let patterns = ["{group}/{*}", "{group}_{*}", "{group}-{*}"].map(str::to_owned);
    let patterns = patterns
        .into_iter()
        .chain(counted.map(|letters| format!("{{group}}{letters}{{*}}")));
    let mut candidates = patterns.filter_map(|text| Pattern::new(&text).ok().map(Rule::FileName));
    candidates.find(|rule| told_by(rule).is_some_and(|labels| tells_groups(&labels)))
}

/// Whether every file has a group, several files share one, and several groups share every class.
fn tells_groups(labels: &LabelledSet) -> bool {
    let files = labels.files.iter();
    let groups: BTreeSet<&str> = files.map(|file| file.group.as_str()).collect();
    let all_told = labels.files.iter().all(|file| !file.is_own_group);
    let is_shared = groups.len() > 1 && groups.len() < labels.files.len();
    let classes = labels.classes();
    all_told && is_shared && classes.iter().all(|class| class.n_groups > 1)
}

/// The letters between two numbers of which the second ends the name: `R` of `S001R01`.
fn letters_before_last_number(stem: &str) -> Option<&str> {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let head = stem.trim_end_matches(is_digit);
    let letters = &head[head.rfind(is_digit)? + 1..];
    let is_word = !letters.is_empty() && letters.chars().all(|letter| letter.is_ascii_alphabetic());
    (is_word && head.len() < stem.len()).then_some(letters)
}

/// The first files that can be read.
fn first_records(
    folder: &Folder,
    keep_going: &mut dyn FnMut(f64) -> bool,
) -> Result<Vec<Record>, DatasetError> {
    let mut records = Vec::new();
    for (number, file) in folder.files.iter().take(MAX_LOOKED_INTO).enumerate() {
        if !keep_going(number as f64 / MAX_LOOKED_INTO as f64) {
            return Err(ReadError::Cancelled.into());
        }
        let record = open(&folder.path.join(file), Mode::Tolerant);
        // A text of words reads as a table without rows.
        records.extend(
            record
                .into_iter()
                .filter(|r| r.kind != Kind::Table || r.channels.iter().any(|c| c.n_samples > 0)),
        );
    }
    Ok(records)
}

fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

/// A table with its classes, those in a file beside it, or recordings one below the other.
fn for_table(path: &Path, record: &Record) -> Result<DataSettings, DatasetError> {
    let choice = TableChoice::guess(record);
    if choice.is_none()
        && let Some(folder) = path.parent()
        && let Some(paired) = with_labels_in(folder, path, record)?
    {
        return Ok(paired);
    }
    let long = choice
        .as_ref()
        .and_then(|choice| LongTable::guess(record, choice));
    // Recordings are groups of their own; of plain rows those of one case must not stand on both sides of a split.
    let choice = match long {
        Some(_) => choice,
        None => choice.map(|choice| choice.grouped_by_case(record)),
    };
    let mut settings = of_tables(path, choice);
    if let (Some(long), DataPlan::Table(source)) = (long, &mut settings.source)
        && let Some(choice) = &source.choice
    {
        let recordings = long.recordings(record, choice)?;
        let records = || recordings.iter().map(|recording| &recording.record);
        let durations = records().filter_map(Record::duration_s);
        let rates = records()
            .flat_map(|r| &r.channels)
            .filter_map(|c| c.rate_hz);
        let (shortest_s, lowest_hz) = (least(durations), least(rates));
        source.recordings = Some(long);
        let recipe = EegRecipe::carried_by(shortest_s, lowest_hz / 2.0);
        settings.recipe = Some(FeatureRecipe::Eeg(recipe));
    }
    Ok(settings)
}

/// A table with the labels that a file of the folder holds, if there is one. A file of labels and nothing else must
/// have as many rows as the table.
fn with_labels_in(
    folder: &Path,
    table: &Path,
    record: &Record,
) -> Result<Option<DataSettings>, DatasetError> {
    let files = catalog::files_in(folder, MAX_BESIDE);
    let Some(path) = labels_beside(table, &files) else {
        return Ok(None);
    };
    let Ok(labels) = open(&path, Mode::Tolerant) else {
        return Ok(None);
    };
    if labels.channels.len() == 1 {
        with_labels(record, &labels)?;
    }
    let Some(choice) = choice_with_labels(record, &labels) else {
        return Ok(None);
    };
    let source = TableSource {
        paths: vec![table.to_owned()],
        choice: Some(choice),
        labels: vec![path],
        ..TableSource::default()
    };
    Ok(Some(DataSettings::new(DataPlan::Table(source), None)))
}

/// The tables of a folder that have their labels in files beside them.
fn paired_tables(folder: &Folder) -> Result<Option<DataSettings>, DatasetError> {
    let mut paired: Option<DataSettings> = None;
    for file in &folder.files {
        let table = folder.path.join(file);
        let Ok(record) = open(&table, Mode::Tolerant) else {
            continue;
        };
        let beside = table.parent().unwrap_or(&folder.path);
        let Some(found) = with_labels_in(beside, &table, &record)? else {
            continue;
        };
        match (&mut paired, found.source) {
            (None, source) => paired = Some(DataSettings::new(source, None)),
            (Some(all), DataPlan::Table(more)) => {
                if let DataPlan::Table(tables) = &mut all.source {
                    tables.paths.extend(more.paths);
                    tables.labels.extend(more.labels);
                }
            }
            _ => {}
        }
    }
    Ok(paired)
}

/// Without a choice, loading says what there is to choose from.
fn of_tables(path: &Path, choice: Option<TableChoice>) -> DataSettings {
    let source = TableSource {
        paths: vec![path.to_owned()],
        choice,
        ..TableSource::default()
    };
    DataSettings::new(DataPlan::Table(source), None)
}

fn of_arrays(path: &Path, record: &Record) -> DataSettings {
    let source = ArraySource {
        paths: vec![path.to_owned()],
        choice: ArrayChoice::guess(record),
        mode: Mode::Tolerant,
    };
    DataSettings::new(DataPlan::Arrays(source), None)
}

/// `records` are some of the recordings: the first tells the kind of all.
fn of_recordings(
    path: &Path,
    rules: Vec<Rule>,
    records: &[Record],
    options: ReadOptions,
) -> DataSettings {
    let recipe = match records.first().map(|record| record.kind) {
        Some(Kind::FaultRecord) => FeatureRecipe::Fault(FaultRecipe::default()),
        _ => FeatureRecipe::EegGroups(eeg_recipe(&rules, records)),
    };
    let source = RecordingSource {
        paths: vec![path.to_owned()],
        rules,
        options,
        ..RecordingSource::default()
    };
    DataSettings::new(DataPlan::Recordings(source), Some(recipe))
}

/// The sampling rate that all of these tables tell by a column of times.
fn told_rate_of(records: &[Record]) -> Option<f64> {
    let told = |record: &Record| {
        let is_table = record.kind == Kind::Table;
        is_table.then(|| told_rate(record)).flatten()
    };
    let first = told(records.first()?)?;
    let is_same = |record: &Record| told(record) == Some(first);
    records.iter().all(is_same).then_some(first)
}

/// The likeliest rule for the classes. Tables of labels were made to tell classes and come first; a single letter of the
/// name says least and counts only where nothing else does.
fn best_rule(folder: &Folder, has_notes: bool) -> Result<Option<Rule>, DatasetError> {
    let (letters, others): (Vec<Rule>, Vec<Rule>) = folder
        .suggestions()
        .into_iter()
        .filter(|rule| !matches!(rule, Rule::Annotations(_)))
        .partition(|rule| matches!(rule, Rule::FileName(p) if p.text().starts_with("{class:")));
    let best = fewest_classes(folder, others, has_notes)?;
    best.map_or_else(
        || fewest_classes(folder, letters, has_notes),
        |rule| Ok(Some(rule)),
    )
}

/// The rule that tells the fewest classes, two or more, of most files.
///
/// Folders that differ in a number alone (`sub-01`, `sub-02`) are subjects where annotations tell the classes, or their
/// names say so.
fn fewest_classes(
    folder: &Folder,
    rules: Vec<Rule>,
    has_notes: bool,
) -> Result<Option<Rule>, DatasetError> {
    let mut best: Option<(usize, Rule)> = None;
    for rule in rules {
        let labels =
            match catalog::label(folder, std::slice::from_ref(&rule), Mode::Tolerant, |_| {
                true
            }) {
                Ok(labels) => labels,
                // A table without the columns of labels is some other table.
                Err(CatalogError::Column { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
        // A table of labels may name some of the files only: the others are listed and left out.
        if rule.table().is_some() && labels.classes().len() > 1 {
            return Ok(Some(rule));
        }
        let Some(n_classes) = told_classes(&labels) else {
            continue;
        };
        let may_count = match rule {
            Rule::FileName(_) => true,
            Rule::ParentFolder => has_notes || names_subjects(&labels),
            _ => false,
        };
        if may_count && has_numbers(&labels) {
            continue;
        }
        if best.as_ref().is_none_or(|(fewest, _)| n_classes < *fewest) {
            best = Some((n_classes, rule));
        }
    }
    Ok(best.map(|(_, rule)| rule))
}

/// Whether a rule tells the class of every fault record, or is a table that was made to tell them.
fn labels_all(folder: &Folder, rule: &Rule) -> bool {
    let labels = catalog::label(folder, std::slice::from_ref(rule), Mode::Tolerant, |_| true);
    let is_told = |labels: LabelledSet| {
        let told = labels.files.iter().filter(|file| file.has_class());
        let told: BTreeSet<PathBuf> = told.map(|file| folder.path.join(&file.path)).collect();
        folder
            .fault_records()
            .iter()
            .all(|record| told.contains(record))
    };
    rule.table().is_some() || labels.is_ok_and(is_told)
}

/// Numbers in names count recordings or subjects, and so do names that differ from another in the numbers of their words
/// alone: `session1`, `ses-1_task-rest`, `run2_raw`; `h01`, `h02`, `s01`, `s02`. The number of `13Hz` counts nothing.
fn has_numbers(labels: &LabelledSet) -> bool {
    let mut alike: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for class in labels.files.iter().filter_map(|file| file.class.as_deref()) {
        alike
            .entry(without_counts(class))
            .or_default()
            .insert(class);
    }
    alike.contains_key("") || alike.values().all(|classes| classes.len() > 1)
}

/// Whether every class is called a subject.
fn names_subjects(labels: &LabelledSet) -> bool {
    const WORDS: [&str; 10] = [
        "s",
        "p",
        "sub",
        "subj",
        "subject",
        "participant",
        "pat",
        "patient",
        "person",
        "case",
    ];
    let mut classes = labels.files.iter().filter_map(|file| file.class.as_deref());
    classes.all(|class| {
        let word = without_counts(class).to_lowercase();
        WORDS.contains(&word.trim_end_matches(|letter: char| !letter.is_alphanumeric()))
    })
}

/// A name without the numbers that end its words.
fn without_counts(name: &str) -> String {
    let words = name.split_inclusive(|letter: char| !letter.is_alphanumeric());
    let bare = words.flat_map(|word| {
        let end = word.find(|letter: char| !letter.is_alphanumeric());
        let (word, end) = word.split_at(end.unwrap_or(word.len()));
        [
            word.trim_end_matches(|letter: char| letter.is_ascii_digit()),
            end,
        ]
    });
    bare.collect()
}

/// The number of classes, if the labels look like classes: two or more, of most files, with two files each on average;
/// and no more than groups, where the same rule tells both.
fn told_classes(labels: &LabelledSet) -> Option<usize> {
    let n_files = labels.files.len();
    let n_labelled = labels.files.iter().filter(|file| file.has_class()).count();
    let n_classes = labels.classes().len();
    let groups = labels.files.iter().map(|file| file.group.as_str());
    let n_groups = groups.collect::<BTreeSet<_>>().len();
    let is_likely = n_labelled * 2 > n_files
        && (2..=MAX_GUESSED_CLASSES).contains(&n_classes)
        && n_classes * 2 <= n_labelled
        && (labels.files.iter().all(|file| file.is_own_group) || n_classes <= n_groups);
    is_likely.then_some(n_classes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::catalog::LabelledFile;

    #[test]
    fn numbers_that_end_words_count_recordings() {
        let counts = |classes: &[&str]| {
            let file = |class: &&str| LabelledFile {
                class: Some((*class).to_owned()),
                ..LabelledFile::default()
            };
            let files = classes.iter().map(file).collect();
            let labels = LabelledSet {
                files,
                ..LabelledSet::default()
            };
            has_numbers(&labels)
        };
        assert!(counts(&["session1", "session2"]));
        assert!(counts(&["ses-1_task-rest", "ses-12_task-rest"]));
        assert!(counts(&["run1_raw", "run2_raw"]) && counts(&["01", "rest"]));
        assert!(counts(&["h01", "h02", "s01", "s02"]));
        assert!(
            !counts(&["13Hz", "17Hz"]) && !counts(&["h01", "s01"]) && !counts(&["rest", "task"])
        );
    }

    #[test]
    fn classes_are_told_by_the_level_of_folders_that_has_fewest() {
        let told = |files: &[&str]| {
            let folder = Folder {
                files: files.iter().map(PathBuf::from).collect(),
                ..Folder::default()
            };
            let rule = best_rule(&folder, false).expect("no table is read");
            rule.map(|rule| match rule {
                Rule::FileName(pattern) => pattern.text().to_owned(),
                Rule::ParentFolder => "parent".to_owned(),
                other => other.in_words(),
            })
        };
        let is = |files: &[&str], text: &str| assert_eq!(told(files).as_deref(), Some(text));
        // Three folders of which two begin with the same letter.
        let folders = [
            "ictal/i1",
            "ictal/i2",
            "interictal/i1",
            "interictal/i2",
            "well/w1",
            "well/w2",
        ];
        is(&folders, "parent");
        let visits = [
            "ill/s01/1.edf",
            "ill/s01/2.edf",
            "ill/s02/1.edf",
            "well/s03/1.edf",
        ];
        is(&visits, "{class}/{group}/{*}");
        let tasks = [
            "ann/rest.edf",
            "ann/task.edf",
            "bob/rest.edf",
            "bob/task.edf",
            "eve/rest.edf",
            "eve/task.edf",
        ];
        is(&tasks, "{group}/{class}.{*}");
        is(
            &["h01.edf", "h02.edf", "s01.edf", "s02.edf"],
            "{class:1}{*}",
        );
        // Subjects are no classes.
        assert_eq!(
            told(&[
                "sub-01/1.edf",
                "sub-01/2.edf",
                "sub-02/1.edf",
                "sub-02/2.edf"
            ]),
            None
        );
        is(&["1/a.edf", "1/b.edf", "2/a.edf", "2/b.edf"], "parent");
    }

    #[test]
    fn subjects_are_read_from_folders_and_names_that_files_share() {
        let told = |files: &[&str], of_class: Option<&Rule>| {
            let folder = Folder {
                files: files.iter().map(std::path::PathBuf::from).collect(),
                ..Folder::default()
            };
            match group_rule(&folder, of_class) {
                Some(Rule::FileName(pattern)) => Some(pattern.text().to_owned()),
                _ => None,
            }
        };
        let pattern = |text: &str| Some(text.to_owned());
        let folders = ["sub-01/1.edf", "sub-01/2.edf", "sub-02/1.edf"];
        assert_eq!(told(&folders, None), pattern("{group}/{*}"));
        let names = ["anna_1.edf", "anna_2.edf", "bert_1.edf"];
        assert_eq!(told(&names, None), pattern("{group}_{*}"));
        let counted = ["S001R01.edf", "S001R02.edf", "S002R01.edf"];
        assert_eq!(told(&counted, None), pattern("{group}R{*}"));
        // Where folders are the classes, subjects are told by the names in them.
        let by_folder = Some(&Rule::ParentFolder);
        let files = ["ill/a_1", "ill/a_2", "ill/b_1", "well/c_1", "well/d_1"];
        assert_eq!(told(&files, by_folder), pattern("{group}_{*}"));
        // What tells the classes tells no groups; neither do names that nothing shares.
        assert_eq!(
            told(&["ill/1.edf", "ill/2.edf", "well/3.edf"], by_folder),
            None
        );
        let class = Pattern::new("{class}_{*}")
            .map(Rule::FileName)
            .expect("legal");
        assert_eq!(
            told(&["ill_1", "ill_2", "well_1", "well_2"], Some(&class)),
            None
        );
        assert_eq!(told(&["h01.edf", "h02.edf"], None), None);
    }
}
