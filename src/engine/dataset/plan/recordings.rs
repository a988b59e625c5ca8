//! Recordings as samples: files found, labelled by rules, corrected by hand, read and sampled several at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::builder::{DataFile, DatasetBuilder, Keeping, Label};
use super::super::error::DatasetError;
use super::super::in_order::in_order;
use super::super::kept_features::KeptFeatures;
use super::super::made_samples::{MadeSamples, MakingError};
use super::{Locate, found, note_skipped};
use crate::features::FeatureRecipe;
use crate::records::catalog::{self, Folder, LabelledFile, LabelledSet, Rule};
use crate::records::{ReadOptions, StartTime, open_with, path_keys, path_texts};
use crate::settings::{SettingProblem, SettingProblems};

/// Class or group of one file, corrected by hand.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Relabel {
    /// The class of the whole file, instead of what the rules say.
    pub class: Option<String>,
    /// The group, instead of what the rules say.
    pub group: Option<String>,
}

/// Recordings or fault records, labelled by rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecordingSource {
    /// Folders and files; a folder stands for all recordings in it and below it.
    #[serde(with = "path_texts")]
    pub paths: Vec<PathBuf>,
    /// Where classes and groups are taken from; the first rule that knows wins.
    pub rules: Vec<Rule>,
    /// What the rules say wrongly of single files, each named as `paths` names it or its folder.
    #[serde(with = "path_keys")]
    pub relabelled: BTreeMap<PathBuf, Relabel>,
    /// Files that take no part, named in the same way.
    #[serde(with = "path_texts")]
    pub left_out: BTreeSet<PathBuf>,
    /// How the files are read.
    pub options: ReadOptions,
    /// How many times every recording is taken. More than once makes a leak: it serves only to repeat the published
    /// EEG protocol, whose programs read one recording of each class fourteen times.
    pub n_copies: usize,
}

impl Default for RecordingSource {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            rules: Vec::new(),
            relabelled: BTreeMap::new(),
            left_out: BTreeSet::new(),
            options: ReadOptions::default(),
            n_copies: 1,
        }
    }
}

/// One folder or file of the settings with what is known of its recordings before they are read.
#[derive(Debug, Clone, PartialEq)]
pub struct FolderLabels {
    /// The folder as the settings name it; for a single file, the folder that the file is in.
    pub named: PathBuf,
    /// The real folder and its files.
    pub folder: Folder,
    /// Class, group or problem of each file.
    pub labels: LabelledSet,
}

/// Share of the work that labels take where annotations must be read for them.
const LABELS_SHARE: f64 = 0.1;

/// Most bytes of files whose samples are made at the same time: what waits for its turn is in memory.
const MAX_BYTES_AT_ONCE: u64 = 1 << 30;

/// Most bytes of features that stay in memory: recordings of days make more, however much memory is free.
const MAX_BYTES_IN_MEMORY: u64 = 1 << 28;

impl RecordingSource {
    /// What is wrong with the settings, field by field.
    pub(super) fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        let text = "no rule gives the class of a file: enter a pattern of file names, put the recordings of each class into a folder of its own, or a table labels.csv with the columns file, class, group beside them".to_owned();
        problems.require(!self.rules.is_empty(), "rules", text);
        if let Some(rate_hz) = self.options.rate_hz {
            let text = format!("sampling rate must be more than 0 Hz, but is {rate_hz} Hz");
            let legal = rate_hz.is_finite() && rate_hz > 0.0;
            problems.require(legal, "options.rate_hz", text);
        }
        problems.require_within("n_copies", self.n_copies, 1, 1000);
        problems.into_list()
    }

    /// Names every path again.
    pub(super) fn rename_files(&mut self, new_name: &dyn Fn(&Path) -> PathBuf) {
        self.paths
            .iter_mut()
            .for_each(|path| *path = new_name(path));
        for table in self.rules.iter_mut().filter_map(Rule::table_mut) {
            *table = new_name(table);
        }
        let relabelled = std::mem::take(&mut self.relabelled).into_iter();
        self.relabelled = relabelled.map(|(file, by)| (new_name(&file), by)).collect();
        self.left_out = self.left_out.iter().map(|file| new_name(file)).collect();
    }

    /// What rules and hand say of every file, before any is read: the preview. `keep_going` receives the share done
    /// and cancels by returning false.
    pub fn labels(
        &self,
        locate: &Locate<'_>,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Vec<FolderLabels>, DatasetError> {
        let mut rules = self.rules.clone();
        for table in rules.iter_mut().filter_map(Rule::table_mut) {
            *table = found(table, locate)?;
        }
        let n_paths = self.paths.len() as f64;
        let mut all = Vec::with_capacity(self.paths.len());
        let mut seen = BTreeSet::new();
        for (number, path) in self.paths.iter().enumerate() {
            let (named, mut folder) = folder_of(path, locate)?;
            let real = folder.path.clone();
            folder.files.retain(|file| seen.insert(real.join(file)));
            let go_on = |share: f64| keep_going((number as f64 + share) / n_paths);
            let mut labels = catalog::label(&folder, &rules, self.options.mode, go_on)?;
            for file in &mut labels.files {
                self.correct_by_hand(file, &named);
            }
            // A table may list the files of all folders, or more than the one that was named.
            if self.paths.len() > 1 || named != *path {
                labels.not_found.clear();
            }
            all.push(FolderLabels {
                named,
                folder,
                labels,
            });
        }
        Ok(all)
    }

    /// Applies what was changed by hand.
    fn correct_by_hand(&self, file: &mut LabelledFile, folder: &Path) {
        let named = folder.join(&file.path);
        // Files of the same name in two folders are two groups.
        if self.paths.len() > 1 && file.is_own_group {
            file.group = catalog::own_name(&named);
        }
        if let Some(by_hand) = self.relabelled.get(&named) {
            if let Some(class) = &by_hand.class {
                file.class = Some(class.clone());
                file.spans.clear();
                file.problem = None;
            }
            if let Some(group) = &by_hand.group {
                file.group.clone_from(group);
                file.is_own_group = false;
            }
        }
        if self.left_out.contains(&named) {
            file.class = None;
            file.spans.clear();
            file.problem = Some("excluded from the data set".to_owned());
        }
    }

    /// Reads and samples every file that has a class; the others, and those that cannot be read, are omitted with
    /// the reason.
    pub(super) fn add_to(
        &self,
        builder: &mut DatasetBuilder,
        recipe: &FeatureRecipe,
        kept: Option<&KeptFeatures>,
        locate: &Locate<'_>,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<(), DatasetError> {
        builder.limit_memory(MAX_BYTES_IN_MEMORY);
        let making = Making {
            options: &self.options,
            recipe,
            kept,
        };
        let reads_all = self.rules.iter().any(|r| matches!(r, Rule::Annotations(_)));
        let share_before = if reads_all { LABELS_SHARE } else { 0.0 };
        let folders = self.labels(locate, &mut |share| keep_going(share * share_before))?;
        let all_files = || folders.iter().flat_map(|folder| &folder.labels.files);
        if all_files().all(|file| file.is_own_group) {
            builder.take_files_for_groups();
        }
        let mut files = Vec::new();
        for FolderLabels {
            named,
            folder,
            labels,
        } in &folders
        {
            note_skipped(builder, named, folder);
            if let Some(lost) = labels.lost() {
                builder.note(format!("{lost}: {}", named.display()));
            }
            for file in &labels.files {
                let path = folder.path.join(&file.path);
                match label_of(file) {
                    Some(label) => files.push((named.join(&file.path), path, label, &file.group)),
                    None => {
                        let reason = file.problem.as_deref().unwrap_or("no rule gives a class");
                        builder.leave_out(&path, None, reason.to_owned());
                    }
                }
            }
        }
        let sizes: Vec<u64> = files
            .iter()
            .map(|(_, path, ..)| path.metadata().map_or(0, |file| file.len()))
            .collect();
        let n_files = files.len() as f64;
        for together in within_size(&sizes, MAX_BYTES_AT_ONCE) {
            let files = &files[together.clone()];
            in_order(
                files.len(),
                &mut |share| {
                    let done = (together.start as f64 + share * files.len() as f64) / n_files;
                    keep_going(share_before + done * (1.0 - share_before))
                },
                |number, go_on| {
                    let (named, path, label, _) = &files[number];
                    making.of_file((named, path), label, go_on)
                },
                |number, read| {
                    let (_, path, label, group) = &files[number];
                    match read {
                        Ok(read) => self.take(builder, read, label, group),
                        Err(error @ DatasetError::Changed { .. }) => Err(error),
                        Err(error) => {
                            builder.leave_out(path, None, error.to_string());
                            Ok(())
                        }
                    }
                },
            )?;
        }
        Ok(())
    }

    fn take(
        &self,
        builder: &mut DatasetBuilder,
        read: Read,
        label: &Label,
        group: &str,
    ) -> Result<(), DatasetError> {
        let path = read.file.source.path.clone();
        builder.note_keeping(&path, read.keeping);
        builder.add_file(read.file);
        builder.note_start(&path, read.start);
        builder.add_made(&path, read.made, label, Some(group), self.n_copies)
    }
}

/// Successive pieces that are together no larger than `most`; one that is larger stands alone.
fn within_size(sizes: &[u64], most: u64) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut sum = 0;
    for (number, size) in sizes.iter().enumerate() {
        sum += size;
        match found.last_mut() {
            Some(last) if sum <= most => last.end = number + 1,
            _ => {
                found.push(number..number + 1);
                sum = *size;
            }
        }
    }
    found
}

/// A file that was read, and what the recipe made of it.
struct Read {
    file: DataFile,
    start: Option<StartTime>,
    made: Result<MadeSamples, MakingError>,
    keeping: Keeping,
}

/// How files become samples.
struct Making<'a> {
    options: &'a ReadOptions,
    recipe: &'a FeatureRecipe,
    kept: Option<&'a KeptFeatures>,
}

impl Making<'_> {
    fn of_file(
        &self,
        (named, path): (&Path, &Path),
        label: &Label,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Read, DatasetError> {
        let record = open_with(path, self.options)?;
        let file = DataFile::opened(named, &record, keep_going)?;
        let stretches = label.stretches();
        let settings = (self.options, self.recipe, &stretches);
        let place = self.kept.and_then(|kept| {
            let place = kept.path_of(&file.contents, &settings)?;
            Some((kept, place))
        });
        let start = record.start;
        if let Some(made) = place.as_ref().and_then(|(kept, place)| kept.find(place)) {
            return Ok(Read {
                file,
                start,
                made: Ok(made),
                keeping: Keeping::Reused,
            });
        }
        let made = MadeSamples::of(self.recipe, &record, stretches.as_deref(), keep_going);
        if let Some(path) = file.changed(keep_going)? {
            return Err(DatasetError::Changed { path });
        }
        let keeping = match (&made, place) {
            (Ok(made), Some((kept, place))) => match kept.keep(&place, made) {
                Ok(()) => Keeping::Done,
                Err(error) => {
                    let folder = place.parent().unwrap_or(&place);
                    Keeping::Failed(folder.to_owned(), error)
                }
            },
            _ => Keeping::Done,
        };
        Ok(Read {
            file,
            start,
            made,
            keeping,
        })
    }
}

/// The folder that a path names, or a folder of the one file it names; and what the settings call it.
fn folder_of(path: &Path, locate: &Locate<'_>) -> Result<(PathBuf, Folder), DatasetError> {
    let real = found(path, locate)?;
    if real.is_dir() {
        return Ok((path.to_owned(), Folder::scan(&real)?));
    }
    let parent = |of: &Path| of.parent().map(Path::to_owned).unwrap_or_default();
    let file = real.file_name().map(PathBuf::from).unwrap_or_default();
    let folder = Folder {
        path: parent(&real),
        files: vec![file],
        ..Folder::default()
    };
    Ok((parent(path), folder))
}

/// The label of a file: one class, or those of its stretches.
fn label_of(file: &LabelledFile) -> Option<Label> {
    if let Some(class) = &file.class {
        return Some(Label::Whole(class.clone()));
    }
    (!file.spans.is_empty()).then(|| Label::Spans(file.spans.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::EegRecipe;
    use crate::records::edf::{SampleWidth, write_file};
    use crate::records::{Channel, Format, Kind, Record, Unit};

    #[test]
    fn files_are_read_together_as_long_as_they_are_small() {
        assert_eq!(
            within_size(&[1, 2, 3], 10).as_slice(),
            std::slice::from_ref(&(0..3))
        );
        assert_eq!(within_size(&[4, 6, 1, 20, 2], 10), [0..2, 2..3, 3..4, 4..5]);
        assert!(within_size(&[], 10).is_empty());
    }

    #[test]
    fn a_file_that_is_written_meanwhile_is_an_error_and_its_features_are_not_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let wave = |t: usize| ((t * t) as f64 * 0.013).sin() * 20.0;
        let channel = Channel::analog("Cz", Unit::parse("uV"), Some(250.0), 0);
        let path = folder.path().join("growing.edf");
        let write = |duration_s: usize| {
            let values = (0..duration_s * 250).map(wave).collect();
            let (format, kind) = (Format::Simulated, Kind::Recording);
            let channels = vec![(channel.clone(), values)];
            let record = Record::in_memory(format, kind, "made.edf", channels);
            write_file(&record, SampleWidth::Edf, &path).expect("writable");
        };
        write(400);
        let kept = KeptFeatures::in_folder(&folder.path().join("kept"));
        let recipe = FeatureRecipe::Eeg(EegRecipe::default());
        let making = Making {
            options: &ReadOptions::default(),
            recipe: &recipe,
            kept: Some(&kept),
        };
        let label = Label::Whole("a".into());
        let made = |go_on: &mut dyn FnMut(f64) -> bool| {
            let named = Path::new("growing.edf");
            making.of_file((named, &path), &label, go_on)
        };
        // Whoever records writes while features are computed: after the two looks that hashing takes.
        let mut n_looks = 0;
        let found = made(&mut |_| {
            n_looks += 1;
            if n_looks == 3 {
                write(401);
            }
            true
        });
        let error = found.err().expect("it has changed");
        assert!(matches!(&error, DatasetError::Changed { path: named } if *named == path));
        assert!(error.to_string().contains("load the data again"), "{error}");
        assert!(!folder.path().join("kept").exists());
        let keeping = |found: Result<Read, DatasetError>| found.expect("it rests").keeping;
        assert!(matches!(keeping(made(&mut |_| true)), Keeping::Done));
        assert!(matches!(keeping(made(&mut |_| true)), Keeping::Reused));
    }
}
