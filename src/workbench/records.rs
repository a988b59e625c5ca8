//! The records of the session: loaded in the background, and what is known of each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::TaskError;
use super::background::{Answer, BackgroundTask, Post};
use super::event::Event;
use super::train::Beginning;
use atomscope_engine::dataset::{DataFile, DataSettings, Dataset, LeftOut};
use atomscope_engine::experiment::JobProgress;
use atomscope_engine::records::SourceId;
use atomscope_engine::session::{DataPlaces, Resolution, renamed_file};

/// One file or record of the data set.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordRow {
    /// Its name.
    pub name: String,
    /// Its classes; several where stretches have classes of their own.
    pub classes: Vec<usize>,
    /// Its group, where all samples have the same.
    pub group: Option<usize>,
    /// Its samples.
    pub n_samples: usize,
    /// The first of them.
    pub first_sample: usize,
    /// What was odd about it.
    pub warnings: Vec<String>,
}

/// Data as they were loaded.
#[derive(Clone, Debug)]
pub struct LoadedData {
    /// The settings they were loaded with.
    pub settings: DataSettings,
    /// The samples.
    pub dataset: Arc<Dataset>,
    /// What did not become a sample.
    pub left_out: Vec<LeftOut>,
    /// What was assumed.
    pub notes: Vec<String>,
    /// The files that were opened.
    pub files: Vec<DataFile>,
    /// The records, in the order of the sources.
    pub records: Vec<RecordRow>,
    /// Files that were moved or changed since the session was saved.
    pub remarks: Vec<String>,
}

impl LoadedData {
    /// The file that the settings name so.
    pub(super) fn file_named(&self, name: &str) -> Option<&DataFile> {
        let is_it = |file: &&DataFile| SourceId::of(&file.named).as_str() == name;
        self.files.iter().find(is_it)
    }

    /// The file of a record, which is called by where it was found.
    pub(super) fn file_found(&self, record: &str) -> Option<&DataFile> {
        let is_it = |file: &&DataFile| file.source.path.to_string_lossy() == record;
        self.files.iter().find(is_it)
    }

    /// A record of the data as the settings name it.
    pub(super) fn named(&self, record: &str) -> PathBuf {
        let file = self.file_found(record);
        let named = file.map_or(Path::new(record), |file| file.named.as_path());
        PathBuf::from(named.to_string_lossy().replace('\\', "/"))
    }
}

/// What follows when data are loaded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Then {
    /// The folds follow what is known of the data.
    pub(super) chooses_split: bool,
    /// Training begins.
    pub(super) trains: Option<Beginning>,
}

/// How loading stands.
#[derive(Debug, Default)]
enum Loading {
    #[default]
    Idle,
    Reading {
        task: BackgroundTask,
        then: Then,
        /// Nothing tells the classes of these fault records.
        is_unlabelled: bool,
    },
    Failed {
        reason: String,
        /// A file or folder is not where the session says.
        is_missing: bool,
        /// Only the classes are missing.
        lacks_classes: bool,
    },
}

/// The records of the session: what is loaded, and the loading of others.
#[derive(Default)]
pub struct Data {
    loaded: Option<Arc<LoadedData>>,
    loading: Loading,
}

impl Data {
    /// What is loaded.
    pub fn loaded(&self) -> Option<&Arc<LoadedData>> {
        self.loaded.as_ref()
    }

    /// Why the last attempt failed.
    pub fn error(&self) -> Option<&str> {
        match &self.loading {
            Loading::Failed { reason, .. } => Some(reason),
            Loading::Idle | Loading::Reading { .. } => None,
        }
    }

    /// Whether a file or folder is not where the session says: the user may locate it.
    pub fn is_missing(&self) -> bool {
        matches!(
            self.loading,
            Loading::Failed {
                is_missing: true,
                ..
            }
        )
    }

    /// Whether the last attempt failed only because nothing tells the classes of fault records: they can be looked at
    /// all the same.
    pub fn lacks_classes(&self) -> bool {
        matches!(
            self.loading,
            Loading::Failed {
                lacks_classes: true,
                ..
            }
        )
    }

    /// The share loaded, while loading.
    pub fn loading_share(&self) -> Option<f64> {
        match &self.loading {
            Loading::Reading { task, .. } => Some(task.share()),
            Loading::Idle | Loading::Failed { .. } => None,
        }
    }

    /// What follows the loading under way.
    pub(super) fn then_mut(&mut self) -> Option<&mut Then> {
        match &mut self.loading {
            Loading::Reading { then, .. } => Some(then),
            Loading::Idle | Loading::Failed { .. } => None,
        }
    }

    /// Loads in the background; what is loaded now stays until then.
    pub(super) fn load(
        &mut self,
        settings: DataSettings,
        places: DataPlaces,
        then: Then,
        post: &Post,
    ) {
        let is_unlabelled = settings.are_unlabelled_faults();
        let task = BackgroundTask::start(post, "loading", Event::Loaded, move |progress| {
            load(settings, &places, progress)
        });
        self.loading = Loading::Reading {
            task,
            then,
            is_unlabelled,
        };
    }

    pub(super) fn cancel(&self) {
        if let Loading::Reading { task, .. } = &self.loading {
            task.cancel();
        }
    }

    /// Data as they would be called after a save in another place.
    pub(super) fn rename(&mut self, settings: &DataSettings) {
        if let Some(loaded) = &mut self.loaded {
            let loaded = Arc::make_mut(loaded);
            let (before, after) = (loaded.settings.files(), settings.files());
            for file in &mut loaded.files {
                let name = SourceId::of(&file.named);
                if let Some(renamed) = renamed_file(name.as_str(), &before, &after) {
                    file.named = SourceId::from_text(&renamed).path();
                }
            }
            loaded.settings = settings.clone();
        }
    }

    /// Takes over what was loaded and says what follows; or why nothing was, unless it was
    /// cancelled.
    pub(super) fn take(
        &mut self,
        answer: Answer<LoadedData>,
    ) -> Option<Result<(Arc<LoadedData>, Then), TaskError>> {
        let (then, is_unlabelled) = match &self.loading {
            Loading::Reading {
                task,
                then,
                is_unlabelled,
            } if task.is_answered_by(&answer) => (*then, *is_unlabelled),
            _ => return None,
        };
        self.loading = Loading::Idle;
        match answer.result() {
            Ok(loaded) => {
                let loaded = Arc::new(loaded);
                self.loaded = Some(loaded.clone());
                Some(Ok((loaded, then)))
            }
            Err(TaskError::Cancelled) => None,
            Err(error) => {
                let is_missing = matches!(error, TaskError::NotFound { .. });
                self.loading = Loading::Failed {
                    reason: error.to_string(),
                    is_missing,
                    lacks_classes: is_unlabelled && !is_missing,
                };
                Some(Err(error))
            }
        }
    }
}

fn load(
    settings: DataSettings,
    places: &DataPlaces,
    progress: &JobProgress,
) -> Result<LoadedData, TaskError> {
    let locate = |named: &Path| places.locate(named);
    let built = settings.load(&locate, &mut |share| progress.go_on(share))?;
    Ok(LoadedData {
        records: record_rows(&built.dataset, &built.files),
        remarks: changed_data(places, progress),
        settings,
        dataset: Arc::new(built.dataset),
        left_out: built.left_out,
        notes: built.notes,
        files: built.files,
    })
}

/// What to say of data that are not what they were when the session was saved.
fn changed_data(places: &DataPlaces, progress: &JobProgress) -> Vec<String> {
    let mut remarks = Vec::new();
    for reference in &places.references {
        let named = &reference.path;
        match reference.resolve(places, &mut |share| progress.go_on(share)) {
            Ok(Resolution::Found(_) | Resolution::Missing) | Err(_) => {}
            Ok(Resolution::Moved(path)) => {
                remarks.push(format!("{named} was found elsewhere: {}", path.display()));
            }
            Ok(Resolution::Changed { path, difference }) => remarks.push(format!(
                "the data have changed since the session was saved: {difference}: {}",
                path.display()
            )),
        }
    }
    remarks
}

fn record_rows(dataset: &Dataset, files: &[DataFile]) -> Vec<RecordRow> {
    // A record is called by its path: as the settings name it, or where it was found.
    let mut warnings: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let mut names = [&file.named, &file.source.path]
            .map(|path| path.to_string_lossy().replace('\\', "/"))
            .to_vec();
        names.dedup();
        for name in names {
            let texts = file.warnings.iter().map(ToString::to_string);
            warnings.entry(name).or_default().extend(texts);
        }
    }
    let mut rows: Vec<RecordRow> = dataset
        .sources()
        .iter()
        .map(|source| {
            let name = source.to_string_lossy().into_owned();
            RecordRow {
                warnings: warnings
                    .remove(&name.replace('\\', "/"))
                    .unwrap_or_default(),
                name,
                classes: Vec::new(),
                group: None,
                n_samples: 0,
                first_sample: 0,
            }
        })
        .collect();
    let mut has_two_groups = vec![false; rows.len()];
    for sample in 0..dataset.n_samples() {
        let source = dataset.origin(sample).source;
        let (row, class) = (&mut rows[source], dataset.classes()[sample]);
        if row.n_samples == 0 {
            row.first_sample = sample;
            row.group = dataset.groups().map(|groups| groups[sample]);
        }
        if row.group != dataset.groups().map(|groups| groups[sample]) {
            has_two_groups[source] = true;
        }
        if !row.classes.contains(&class) {
            row.classes.push(class);
        }
        row.n_samples += 1;
    }
    for (row, has_two) in rows.iter_mut().zip(has_two_groups) {
        row.classes.sort_unstable();
        row.group = row.group.filter(|_| !has_two);
    }
    rows
}
