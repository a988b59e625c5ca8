//! The data stage: records loaded in the background, and what is known of each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Wake, start_job};
use atomscope_engine::dataset::{DataFile, DataSettings, Dataset, DatasetError, LeftOut};
use atomscope_engine::experiment::{Job, JobOutcome, JobProgress};
use atomscope_engine::records::ReadError;
use atomscope_engine::session::{DataPlaces, Resolution};

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
    /// A record of the data as the settings name it.
    pub(super) fn named(&self, record: &str) -> PathBuf {
        let path = Path::new(record);
        let file = self.files.iter().find(|file| file.source.path == path);
        let named = file.map_or(path, |file| file.named.as_path());
        PathBuf::from(named.to_string_lossy().replace('\\', "/"))
    }
}

/// What a loading job gives: nothing if it was cancelled.
type Outcome = Result<Option<LoadedData>, String>;

/// The data stage.
#[derive(Default)]
pub struct DataStage {
    loaded: Option<Arc<LoadedData>>,
    job: Option<Job<Outcome>>,
    error: Option<String>,
}

/// What came of loading.
pub(super) enum Loading {
    Done(Arc<LoadedData>),
    Failed(String),
    Cancelled,
}

impl DataStage {
    /// What is loaded.
    pub fn loaded(&self) -> Option<&Arc<LoadedData>> {
        self.loaded.as_ref()
    }

    /// Why the last attempt failed.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The share loaded, while loading.
    pub fn loading_share(&self) -> Option<f64> {
        self.job.as_ref().map(Job::share)
    }

    /// Loads in the background; what is loaded now stays until then.
    pub(super) fn load(&mut self, settings: DataSettings, places: DataPlaces, wake: &Wake) {
        self.error = None;
        self.job = Some(start_job(wake, "loading", move |progress| {
            load(settings, &places, progress)
        }));
    }

    pub(super) fn cancel(&mut self) {
        if let Some(job) = &self.job {
            job.cancel();
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Data as they would be called after a save in another place.
    pub(super) fn rename(&mut self, settings: &DataSettings) {
        if let Some(loaded) = &mut self.loaded {
            Arc::make_mut(loaded).settings = settings.clone();
        }
    }

    pub(super) fn poll(&mut self) -> Option<Loading> {
        let outcome = self.job.as_ref()?.take()?;
        self.job = None;
        Some(match outcome {
            JobOutcome::Done(Ok(Some(loaded))) => {
                let loaded = Arc::new(loaded);
                self.loaded = Some(loaded.clone());
                Loading::Done(loaded)
            }
            JobOutcome::Done(Ok(None)) => Loading::Cancelled,
            JobOutcome::Done(Err(message)) | JobOutcome::Failed(message) => {
                self.error = Some(message.clone());
                Loading::Failed(message)
            }
        })
    }
}

fn load(settings: DataSettings, places: &DataPlaces, progress: &JobProgress) -> Outcome {
    let mut go_on = |share: f64| progress.go_on(share);
    let locate = |named: &std::path::Path| places.locate(named);
    let built = match settings.load(&locate, &mut go_on) {
        Ok(built) => built,
        Err(DatasetError::Read(ReadError::Cancelled)) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    Ok(Some(LoadedData {
        records: record_rows(&built.dataset, &built.files),
        remarks: changed_data(places, progress),
        settings,
        dataset: Arc::new(built.dataset),
        left_out: built.left_out,
        notes: built.notes,
        files: built.files,
    }))
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
    let mut warnings: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let name = file.named.to_string_lossy().replace('\\', "/");
        let texts = file.warnings.iter().map(ToString::to_string);
        warnings.entry(name).or_default().extend(texts);
    }
    let mut rows: Vec<RecordRow> = dataset
        .sources()
        .iter()
        .map(|source| {
            let name = source.to_string_lossy().into_owned();
            RecordRow {
                warnings: warnings.remove(&name).unwrap_or_default(),
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
