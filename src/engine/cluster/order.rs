//! What is worked on in a folder, written down so that a worker needs nothing but the folder.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::ClusterError;
use super::folder::{Mark, WorkFolder};
use super::work::{FoldsWork, SweepWork, Work};
use crate::dataset::{DataFile, DataSettings, Dataset};
use crate::evaluation::Baseline;
use crate::experiment::{ComparisonPlan, Entrant, SweepPlan, available_threads};
use crate::paper::Reproduction;
use crate::session::{
    DATA_VARIABLE, DataPlaces, Session, SessionError, SweepFile, WorkIdentity, from_text, read_text,
};

const ORDER_NAME: &str = "work.ron";

/// What is to be computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Task {
    /// A sweep.
    Sweep {
        /// `SWEEP.ron`.
        file: PathBuf,
    },
    /// A comparison.
    Compare {
        /// The sessions.
        sessions: Vec<PathBuf>,
        /// How many seeds, counted up from that of the first session.
        n_seeds: u16,
        /// Whether more simple classifiers are tried beside them.
        with_baselines: bool,
    },
    /// The paper's comparison.
    Reproduce {
        /// Fewer folds and tests.
        is_quick: bool,
    },
}

/// Work as it is ordered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// What is to be computed.
    pub task: Task,
    /// Folders of data.
    pub data: Vec<PathBuf>,
    /// Number of points, for those who only watch.
    #[serde(default)]
    pub n_points: usize,
}

/// Work with its data, ready to be computed.
pub struct PreparedWork {
    /// The work.
    pub work: Box<dyn Work>,
    /// What its points are computed from.
    pub identity: WorkIdentity,
}

/// Receives the share of the data that is read; cancels by returning false.
type KeepReading<'a> = &'a mut dyn FnMut(f64) -> bool;

/// A path that leads to the same file from any folder.
fn absolute(path: &Path) -> Result<PathBuf, ClusterError> {
    std::path::absolute(path).map_err(|error| ClusterError::io("find the file", path, error))
}

fn all_absolute(paths: &[PathBuf]) -> Result<Vec<PathBuf>, ClusterError> {
    paths.iter().map(|path| absolute(path)).collect()
}

impl Order {
    /// An order that means the same in any folder and without the variables of this environment.
    pub fn new(task: Task, data: &[PathBuf]) -> Result<Self, ClusterError> {
        let mut data = all_absolute(data)?;
        if let Some(folder) = std::env::var_os(DATA_VARIABLE) {
            data.push(absolute(Path::new(&folder))?);
        }
        let task = match task {
            Task::Sweep { file } => Task::Sweep {
                file: absolute(&file)?,
            },
            Task::Compare {
                sessions,
                n_seeds,
                with_baselines,
            } => Task::Compare {
                sessions: all_absolute(&sessions)?,
                n_seeds,
                with_baselines,
            },
            Task::Reproduce { is_quick } => Task::Reproduce { is_quick },
        };
        Ok(Self {
            task,
            data,
            n_points: 0,
        })
    }

    /// Reads the data and checks everything.
    pub fn prepare(&self, keep_going: KeepReading<'_>) -> Result<PreparedWork, ClusterError> {
        let (work, files): (Box<dyn Work>, Vec<DataFile>) = match &self.task {
            Task::Sweep { file } => {
                let file = SweepFile::load(file)?;
                let (plan, files) = read_sweep_plan(&file, &self.data, keep_going)?;
                let work = SweepWork {
                    plan,
                    experiment: file.session.experiment,
                    sweep: file.sweep,
                };
                (Box::new(work), files)
            }
            Task::Compare {
                sessions,
                n_seeds,
                with_baselines,
            } => {
                let read = read_entrants(sessions, *with_baselines, &self.data, keep_going)?;
                let (entrants, files) = read;
                let first = entrants.first().map_or(1, |first| first.experiment.seed);
                let seeds = (0..u64::from(*n_seeds)).map(|number| first.wrapping_add(number));
                let plan = ComparisonPlan::new(entrants, &seeds.collect::<Vec<u64>>())?;
                (Box::new(FoldsWork::Comparison(plan)), files)
            }
            Task::Reproduce { is_quick } => {
                let reproduction = Reproduction {
                    data: self.data.clone(),
                    is_quick: *is_quick,
                    n_threads: available_threads(),
                };
                let mut parts = reproduction.plan(keep_going)?;
                let files = parts.iter_mut().flat_map(|part| part.files.drain(..));
                let files = files.collect();
                let is_quick = *is_quick;
                (Box::new(FoldsWork::Paper { parts, is_quick }), files)
            }
        };
        let identity = WorkIdentity::new(work.fingerprint(), &files, work.audit());
        Ok(PreparedWork { work, identity })
    }

    /// Writes the order into a folder, where it may be worked on from now; what is finished there
    /// must be of the same work. How many points are open.
    pub fn place(
        &self,
        folder: &WorkFolder,
        prepared: &PreparedWork,
    ) -> Result<usize, ClusterError> {
        drop(prepared.work.open(folder.path(), &prepared.identity)?);
        folder.make()?;
        let order = Self {
            n_points: prepared.work.n_points(),
            ..self.clone()
        };
        folder.write(&folder.inner(ORDER_NAME), &order)?;
        folder.set(Mark::Cancelled, false)?;
        folder.set(Mark::Paused, false)?;
        let n_done = folder.list()?.done.len();
        Ok(order.n_points.saturating_sub(n_done))
    }

    /// The order in a folder.
    pub fn load(folder: &WorkFolder) -> Result<Self, ClusterError> {
        let path = folder.inner(ORDER_NAME);
        let text = match read_text(&path) {
            Ok((text, _)) => text,
            Err(SessionError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return Err(ClusterError::NoWork {
                    path: folder.path().to_owned(),
                });
            }
            Err(error) => return Err(error.into()),
        };
        let order = from_text(&text, &path);
        order.map_err(|error| ClusterError::DamagedOrder(error.to_string()))
    }
}

impl WorkFolder {
    /// Whether there is work for a cluster in it.
    pub fn has_work(&self) -> bool {
        self.inner(ORDER_NAME).exists()
    }
}

/// A sweep with all data that its points use, and the files that were read for it.
pub fn read_sweep_plan(
    file: &SweepFile,
    data: &[PathBuf],
    keep_going: KeepReading<'_>,
) -> Result<(SweepPlan, Vec<DataFile>), ClusterError> {
    let experiment = &file.session.experiment;
    let all = SweepPlan::data_settings(experiment, &file.sweep)?;
    let places = DataPlaces::new(Some(&file.session_path), data).knowing(&file.session.references);
    let mut read: Vec<(DataSettings, Arc<Dataset>)> = Vec::with_capacity(all.len());
    let mut files = Vec::new();
    for settings in all {
        let built = settings.load(&|named| places.locate(named), keep_going)?;
        files.extend(built.files);
        read.push((settings, Arc::new(built.dataset)));
    }
    Ok((SweepPlan::new(experiment, &file.sweep, read)?, files))
}

/// Sessions with their data, and the files that were read for them; what several sessions share
/// is read once.
pub fn read_entrants(
    sessions: &[PathBuf],
    with_baselines: bool,
    data: &[PathBuf],
    keep_going: KeepReading<'_>,
) -> Result<(Vec<Entrant>, Vec<DataFile>), ClusterError> {
    let mut read: Vec<(DataSettings, Arc<Dataset>)> = Vec::new();
    let mut files = Vec::new();
    let mut entrants: Vec<Entrant> = Vec::new();
    for path in sessions {
        let session = Session::load(path)?;
        let mut experiment = session.experiment;
        if with_baselines {
            experiment.tests.baselines = Baseline::ON_REQUEST.to_vec();
        }
        let known = read.iter().find(|(data, _)| *data == experiment.data);
        let dataset = match known {
            Some((_, dataset)) => dataset.clone(),
            None => {
                let places = DataPlaces::new(Some(path), data).knowing(&session.references);
                let locate = |named: &Path| places.locate(named);
                let built = experiment.data.load(&locate, keep_going)?;
                files.extend(built.files);
                let dataset = Arc::new(built.dataset);
                read.push((experiment.data.clone(), dataset.clone()));
                dataset
            }
        };
        let name = name_of(path, &entrants);
        entrants.push(Entrant {
            name,
            experiment,
            dataset,
        });
    }
    Ok((entrants, files))
}

/// The name of the file, with a number where an earlier session has it too.
fn name_of(path: &Path, known: &[Entrant]) -> String {
    let stem = path
        .file_stem()
        .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let is_taken = |name: &str| known.iter().any(|entrant| entrant.name == name);
    let numbered = (2..).map(|number| format!("{stem} {number}"));
    std::iter::once(stem.clone())
        .chain(numbered)
        .find(|name| !is_taken(name))
        .unwrap_or(stem)
}
