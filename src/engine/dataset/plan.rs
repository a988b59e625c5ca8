//! The data stage of an experiment as plain settings: where samples come from, and how they are made.

mod by_hand;
mod eeg_guess;
mod guess;
mod recordings;
mod simulated;
mod tables;
mod unlabelled;

pub use by_hand::{ByHand, StretchByHand, StretchCorrection};
pub use recordings::{FolderLabels, RecordingSource, Relabel};
pub use tables::TableSource;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::builder::{DataFile, DatasetBuilder};
use super::{ArrayChoice, Built, DatasetError, KeptFeatures, TableChoice};
use crate::features::{FaultRecipe, FeatureRecipe};
use crate::records::catalog::Folder;
use crate::records::{Mode, ReadError, ReadOptions, Record, open_with, path_texts};
use crate::settings::{SettingProblem, SettingProblems};
use crate::simulate::concepts::ConceptSettings;
use crate::simulate::eeg::EegSettings;
use crate::simulate::feeder::FeederSettings;
use crate::simulate::network::NetworkSettings;

/// Finds the real place of a path that settings name, usually relative; `None` if it is nowhere.
pub type Locate<'a> = dyn Fn(&Path) -> Option<PathBuf> + 'a;

/// Arrays as samples.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ArraySource {
    /// Files, or folders of them.
    #[serde(with = "path_texts")]
    pub paths: Vec<PathBuf>,
    /// Which arrays mean what; without it the likeliest for each file.
    pub choice: Option<ArrayChoice>,
    /// Tolerant or strict reading.
    pub mode: Mode,
}

/// Where the samples of an experiment come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum DataPlan {
    /// Built in: short circuits on a distribution feeder.
    FeederFaults(Box<FeederSettings>),
    /// Built in: faults and other events on many networks.
    NetworkFaults(Box<NetworkSettings>),
    /// Built in: EEG of simulated subjects.
    SimulatedEeg(EegSettings),
    /// Built in: samples of classes that change their meaning.
    Concepts(ConceptSettings),
    /// Rows of tables.
    Table(TableSource),
    /// Columns, rows or pages of arrays.
    Arrays(ArraySource),
    /// Recordings or fault records, labelled by rules.
    Recordings(RecordingSource),
}

/// The data stage of an experiment: source and feature recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSettings {
    /// Where the samples come from.
    pub source: DataPlan,
    /// How a record becomes samples; tables and arrays hold samples already and need none.
    pub recipe: Option<FeatureRecipe>,
    /// Other names for classes; two that get the same name become one.
    #[serde(default)]
    pub class_names: BTreeMap<String, String>,
    /// Stretches of recordings that were given another class or taken out by hand.
    #[serde(default, skip_serializing_if = "ByHand::is_empty")]
    pub by_hand: ByHand,
}

impl Default for DataSettings {
    fn default() -> Self {
        Self::feeder_faults(FeederSettings::default())
    }
}

impl DataSettings {
    /// Peak of the nominal phase voltage and of the largest load current of the built-in feeder: 1 per unit.
    const FEEDER_BASE: (f64, f64) = (16_330.0, 215.0);

    /// Settings for a source, without other names for its classes.
    pub fn new(source: DataPlan, recipe: Option<FeatureRecipe>) -> Self {
        Self {
            source,
            recipe,
            class_names: BTreeMap::new(),
            by_hand: ByHand::default(),
        }
    }

    /// Simulated feeder faults as the paper's samples: one cycle of six waveforms, in per unit of the feeder.
    pub fn feeder_faults(settings: FeederSettings) -> Self {
        let (voltage_v, current_a) = Self::FEEDER_BASE;
        let recipe = FaultRecipe::of_cut_records(voltage_v, current_a);
        let source = DataPlan::FeederFaults(Box::new(settings));
        Self::new(source, Some(FeatureRecipe::Fault(recipe)))
    }

    /// Simulated EEG with the recipe for classes that belong to the recording.
    pub fn simulated_eeg(settings: EegSettings) -> Self {
        let source = DataPlan::SimulatedEeg(settings);
        Self::new(source, Some(FeatureRecipe::EegGroups(Default::default())))
    }

    /// The one EEG recording that is all of the data, if they are that.
    pub fn single_recording(&self) -> Option<&Path> {
        let is_eeg = matches!(
            &self.recipe,
            Some(FeatureRecipe::Eeg(_) | FeatureRecipe::EegGroups(_))
        );
        match &self.source {
            DataPlan::Recordings(recordings) => match &recordings.paths[..] {
                [path] if is_eeg && !path.is_dir() => Some(path),
                _ => None,
            },
            _ => None,
        }
    }

    /// The folder of fault records whose classes nothing tells.
    pub fn unlabelled_faults(&self) -> Option<&Path> {
        match &self.source {
            DataPlan::Recordings(recordings) => match &recordings.paths[..] {
                [path] if self.are_unlabelled_faults() && path.is_dir() => Some(path),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether these are fault records whose classes nothing tells: something to look at, not to learn from.
    pub fn are_unlabelled_faults(&self) -> bool {
        let is_faults = matches!(&self.recipe, Some(FeatureRecipe::Fault(_)));
        match &self.source {
            DataPlan::Recordings(recordings) => is_faults && recordings.rules.is_empty(),
            _ => false,
        }
    }

    /// What is wrong with the settings, field by field; nothing when they can be used.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        let of_source = match &self.source {
            DataPlan::FeederFaults(settings) => settings.problems(),
            DataPlan::NetworkFaults(settings) => settings.problems(),
            DataPlan::SimulatedEeg(settings) => settings.problems(),
            DataPlan::Concepts(settings) => settings.problems(),
            DataPlan::Table(table) => {
                require_paths(&table.paths, &mut problems);
                let of_choice = table.choice.as_ref().map(TableChoice::problems);
                within("choice", of_choice.unwrap_or_default())
            }
            DataPlan::Arrays(arrays) => {
                require_paths(&arrays.paths, &mut problems);
                let of_choice = arrays.choice.as_ref().map(ArrayChoice::problems);
                within("choice", of_choice.unwrap_or_default())
            }
            DataPlan::Recordings(recordings) => {
                require_paths(&recordings.paths, &mut problems);
                recordings.problems()
            }
        };
        let text = "a feature recipe is needed to make samples of records".to_owned();
        let has_samples = match &self.source {
            DataPlan::Table(table) => table.recordings.is_none(),
            DataPlan::Arrays(_) | DataPlan::Concepts(_) => true,
            _ => false,
        };
        problems.require(has_samples || self.recipe.is_some(), "recipe", text);
        let of_recipe = self.recipe.as_ref().map(FeatureRecipe::problems);
        let mut all = problems.into_list();
        all.extend(within("source", of_source));
        all.extend(within("recipe", of_recipe.unwrap_or_default()));
        all.extend(self.by_hand.problems());
        all
    }

    /// The files and folders that the settings name, as they name them; none for built-in data.
    pub fn files(&self) -> Vec<PathBuf> {
        match &self.source {
            DataPlan::FeederFaults(_)
            | DataPlan::NetworkFaults(_)
            | DataPlan::SimulatedEeg(_)
            | DataPlan::Concepts(_) => Vec::new(),
            DataPlan::Table(table) => table.files().cloned().collect(),
            DataPlan::Arrays(arrays) => arrays.paths.clone(),
            DataPlan::Recordings(recordings) => {
                let tables = recordings.rules.iter().filter_map(|rule| rule.table());
                let tables = tables.map(Path::to_owned);
                recordings.paths.iter().cloned().chain(tables).collect()
            }
        }
    }

    /// What the samples come from, in a few words.
    pub fn in_words(&self) -> String {
        match &self.source {
            DataPlan::FeederFaults(settings) => {
                format!("simulated feeder faults (seed {})", settings.seed)
            }
            DataPlan::NetworkFaults(settings) => {
                format!("simulated faults on many networks (seed {})", settings.seed)
            }
            DataPlan::SimulatedEeg(settings) => format!("simulated EEG (seed {})", settings.seed),
            DataPlan::Concepts(settings) => {
                format!("simulated changing concepts (seed {})", settings.seed)
            }
            DataPlan::Table(_) | DataPlan::Arrays(_) | DataPlan::Recordings(_) => {
                let files = self.files();
                let names = files.iter().map(|path| path.display().to_string());
                names.collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// Where tables and arrays say the class of a sample, in a few words.
    pub fn classes_in_words(&self) -> Option<String> {
        match &self.source {
            DataPlan::Table(table) => table.choice.as_ref().map(TableChoice::in_words),
            DataPlan::Arrays(arrays) => arrays.choice.as_ref().map(ArrayChoice::in_words),
            _ => None,
        }
    }

    /// Names every file and folder again, as when a session is saved in another place.
    pub fn rename_files(&mut self, new_name: &dyn Fn(&Path) -> PathBuf) {
        match &mut self.source {
            DataPlan::FeederFaults(_)
            | DataPlan::NetworkFaults(_)
            | DataPlan::SimulatedEeg(_)
            | DataPlan::Concepts(_) => {}
            DataPlan::Table(table) => table.rename_files(new_name),
            DataPlan::Arrays(ArraySource { paths, .. }) => {
                paths.iter_mut().for_each(|path| *path = new_name(path));
            }
            DataPlan::Recordings(recordings) => {
                recordings.rename_files(new_name);
                self.by_hand.rename_files(new_name);
            }
        }
    }

    /// Reads or simulates the records and makes the data set. The same settings and files give the same set, bit for
    /// bit, for any number of threads. `keep_going` receives the share done and cancels by returning false.
    pub fn load(
        &self,
        locate: &Locate<'_>,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Built, DatasetError> {
        self.load_with(KeptFeatures::of_program(), locate, keep_going)
    }

    /// The same; features of recordings are kept for another time, and not computed again where they were kept.
    pub fn load_with(
        &self,
        kept: Option<&KeptFeatures>,
        locate: &Locate<'_>,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Built, DatasetError> {
        if let Some(problem) = self.problems().into_iter().next() {
            return Err(DatasetError::Setting(problem));
        }
        let mut builder = DatasetBuilder::with_class_names(self.class_names.clone())
            .with_stretches(self.by_hand.clone());
        match (&self.source, &self.recipe) {
            (DataPlan::Table(table), recipe) => {
                table.add_to(&mut builder, recipe.as_ref(), locate, keep_going)?;
            }
            (DataPlan::Arrays(arrays), _) => {
                let options = arrays.mode.into();
                let add = |builder: &mut DatasetBuilder, opened: OpenedFile<'_>| {
                    let OpenedFile {
                        named,
                        record,
                        keep_going,
                    } = opened;
                    let choice = match &arrays.choice {
                        Some(choice) => choice.clone(),
                        None => ArrayChoice::guess(&record).ok_or_else(|| no_arrays(&record))?,
                    };
                    builder.add_file(DataFile::opened(named, &record, keep_going)?);
                    builder.add_arrays(&record, &choice)
                };
                add_each(
                    &arrays.paths,
                    &options,
                    locate,
                    keep_going,
                    &mut builder,
                    add,
                )?;
            }
            (DataPlan::FeederFaults(settings), Some(recipe)) => {
                simulated::add_feeder_faults(&mut builder, settings, recipe, keep_going)?;
            }
            (DataPlan::NetworkFaults(settings), Some(recipe)) => {
                simulated::add_network_faults(&mut builder, settings, recipe, keep_going)?;
            }
            (DataPlan::SimulatedEeg(settings), Some(recipe)) => {
                simulated::add_eeg(&mut builder, settings, recipe, keep_going)?;
            }
            (DataPlan::Concepts(settings), _) => {
                simulated::add_concepts(&mut builder, settings, keep_going)?;
            }
            (DataPlan::Recordings(recordings), Some(recipe)) => {
                recordings.add_to(&mut builder, recipe, kept, locate, keep_going)?;
            }
            // `problems` has asked for the recipe.
            (_, None) => return Err(DatasetError::NoFeatures),
        }
        builder.finish()
    }
}

fn require_paths(paths: &[PathBuf], problems: &mut SettingProblems) {
    let text = "name at least one file or folder".to_owned();
    problems.require(!paths.is_empty(), "source.paths", text);
}

/// Problems of a part, with the way to the part before each field.
fn within(part: &str, problems: Vec<SettingProblem>) -> Vec<SettingProblem> {
    let inside = |problem: SettingProblem| SettingProblem {
        field: format!("{part}.{}", problem.field),
        ..problem
    };
    problems.into_iter().map(inside).collect()
}

/// The real place of a path, or the error that says how to name it.
fn found(path: &Path, locate: &Locate<'_>) -> Result<PathBuf, DatasetError> {
    locate(path).ok_or_else(|| DatasetError::NotFound {
        path: path.to_owned(),
    })
}

/// A file that was opened.
struct OpenedFile<'a> {
    /// As the settings name it.
    named: &'a Path,
    record: Record,
    keep_going: &'a mut dyn FnMut(f64) -> bool,
}

/// Opens every file named, those of a folder in order of their paths, and hands it to `add`.
fn add_each(
    paths: &[PathBuf],
    options: &ReadOptions,
    locate: &Locate<'_>,
    keep_going: &mut dyn FnMut(f64) -> bool,
    builder: &mut DatasetBuilder,
    mut add: impl FnMut(&mut DatasetBuilder, OpenedFile<'_>) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    let mut files = Vec::new();
    for named in paths {
        let real = found(named, locate)?;
        if real.is_dir() {
            let folder = Folder::scan(&real)?;
            note_skipped(builder, named, &folder);
            let inside = folder.files.iter();
            files.extend(inside.map(|file| (named.join(file), real.join(file))));
        } else {
            files.push((named.clone(), real));
        }
    }
    let n_files = files.len() as f64;
    for (number, (named, real)) in files.iter().enumerate() {
        let mut go_on = |_: f64| keep_going(number as f64 / n_files);
        if !go_on(0.0) {
            return Err(ReadError::Cancelled.into());
        }
        let opened = OpenedFile {
            named,
            record: open_with(real, options)?,
            keep_going: &mut go_on,
        };
        add(builder, opened)?;
    }
    if !keep_going(1.0) {
        return Err(ReadError::Cancelled.into());
    }
    Ok(())
}

/// Says what files of a folder were not opened.
fn note_skipped(builder: &mut DatasetBuilder, named: &Path, folder: &Folder) {
    if let Some(skipped) = folder.skipped_in_words() {
        builder.note(format!(
            "files were skipped, {skipped}: {}",
            named.display()
        ));
    }
}

fn no_class(record: &Record) -> DatasetError {
    DatasetError::Unclear {
        reason: format!(
            "no column looks like the class among {}: choose one (--class)",
            record.first_channel_names()
        ),
        path: record.source.path.clone(),
    }
}

fn no_arrays(record: &Record) -> DatasetError {
    let arrays = record.arrays.iter();
    let shapes: Vec<String> = arrays
        .take(8)
        .map(|array| format!("{} {:?}", array.name, array.shape))
        .collect();
    DatasetError::Unclear {
        reason: format!(
            "neither an array of features × samples × classes nor a matrix beside its labels among {}: choose the arrays",
            shapes.join(", ")
        ),
        path: record.source.path.clone(),
    }
}

#[cfg(test)]
mod tests;
