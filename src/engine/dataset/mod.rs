//! Samples with class, group and origin; what is fitted on training samples alone; damage for robustness tests.

mod arrays;
mod builder;
mod class_difference;
mod columns;
pub mod declared;
mod error;
mod feature_store;
mod in_order;
mod inner_products;
mod kept_features;
mod labels;
mod long_table;
mod made_samples;
mod origins;
mod plan;
mod preparation;
mod scaling;
mod table;
mod times;
mod zeroing;

pub use arrays::{ArrayChoice, ArrayContent};
pub use builder::{Built, DataFile, DatasetBuilder, Label, LeftOut};
pub use class_difference::class_difference;
pub use columns::Columns;
pub use error::{DatasetError, FeatureMismatch};
pub use feature_store::FeatureStore;
pub use inner_products::{InnerProducts, SharedProducts};
pub use kept_features::KeptFeatures;
pub use long_table::LongTable;
pub use origins::OriginList;
pub use plan::{
    ArraySource, ByHand, DataPlan, DataSettings, FolderLabels, Locate, RecordingSource, Relabel,
    StretchByHand, StretchCorrection, TableSource,
};
pub use preparation::{FittedPreparation, MissingPolicy, Preparation, Prepared};
pub use scaling::{FittedScaling, Scaling};
pub use table::{TableChoice, TableClasses, is_feature};
pub use zeroing::Zeroing;

pub use crate::features::{FeatureGroup, GroupKind, Layout};
use crate::records::StartTime;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ndarray::{Array2, ShapeBuilder};

use feature_store::FeatureList;

/// Samples whose numbers are listed at once by who visits all.
const AT_ONCE: usize = 4096;

/// Where in its file a sample lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// A stretch of time.
    Window {
        /// Start, from the start of the record.
        start_s: f64,
        /// Length.
        duration_s: f64,
    },
    /// A row of a table, or a sample of an array, counted from 0.
    Row(usize),
}

/// Where a sample came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Origin {
    /// Number of the file among [`Dataset::sources`].
    pub source: usize,
    /// Where in the file.
    pub place: Place,
}

/// The parts of a data set, before they are checked against each other.
#[derive(Debug, Clone, Default)]
pub struct DatasetParts {
    /// All features, sample after sample; missing ones are NaN. Empty where they are stored.
    pub values: Vec<f64>,
    /// The same on disk.
    pub stored: Option<Arc<FeatureStore>>,
    /// Names of the features.
    pub feature_names: Vec<String>,
    /// How the features lie side by side.
    pub layout: Layout,
    /// The groups of features, in their order; none where all features are one group.
    pub feature_groups: Vec<FeatureGroup>,
    /// Names of the classes.
    pub class_names: Vec<String>,
    /// Class of each sample.
    pub classes: Vec<usize>,
    /// Names of the groups.
    pub group_names: Vec<String>,
    /// Group of each sample, where groups are known.
    pub groups: Option<Vec<usize>>,
    /// Whether groups are only names of files: nothing tells which files belong to one subject.
    pub groups_are_files: bool,
    /// The files.
    pub sources: Vec<PathBuf>,
    /// When each file begins, by its own clock; empty where no file tells.
    pub source_starts: Vec<Option<StartTime>>,
    /// When each row of a file was written, in seconds, where a column tells; empty where none does.
    pub row_times_s: Vec<Option<Arc<[f64]>>>,
    /// Origin of each sample.
    pub origins: OriginList,
}

/// Samples with class, group and origin. Samples are columns: N features × n samples, each sample contiguous.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// All but the classes.
    parts: DatasetParts,
    /// Class of each sample.
    classes: Arc<Vec<usize>>,
    n_missing: usize,
    /// Once it was asked for.
    fingerprint: OnceLock<u64>,
}

impl Dataset {
    /// Checks that the parts fit together. Infinite values become missing ones.
    pub fn new(mut parts: DatasetParts) -> Result<Self, DatasetError> {
        let n_samples = parts.classes.len();
        let n_features = parts.feature_names.len();
        if n_samples == 0 {
            return Err(DatasetError::NoSamples);
        }
        if n_features == 0 {
            return Err(DatasetError::NoFeatures);
        }
        let lengths = [
            (
                "values",
                parts
                    .stored
                    .as_ref()
                    .map_or(parts.values.len(), |s| s.n_values()),
                n_samples.saturating_mul(n_features),
            ),
            ("origins", parts.origins.len(), n_samples),
            (
                "groups",
                parts.groups.as_ref().map_or(n_samples, Vec::len),
                n_samples,
            ),
        ];
        for (what, found, expected) in lengths {
            if found != expected {
                return Err(DatasetError::Length {
                    what,
                    found,
                    expected,
                });
            }
        }
        let n_groups = parts.group_names.len();
        let classes_exist = parts.classes.iter().all(|c| *c < parts.class_names.len());
        let groups_exist = parts.groups.iter().flatten().all(|g| *g < n_groups);
        let sources_exist = parts.origins.iter().all(|o| o.source < parts.sources.len());
        if !(classes_exist && groups_exist && sources_exist) {
            return Err(DatasetError::Reference);
        }
        if parts.layout.n_features().is_some_and(|n| n != n_features) {
            parts.layout = Layout::Plain;
        }
        let grouped: usize = parts.feature_groups.iter().map(|g| g.n_features).sum();
        if grouped != n_features {
            parts.feature_groups.clear();
        }
        let mut n_missing = parts.stored.as_ref().map_or(0, |s| s.n_missing());
        for value in &mut parts.values {
            if !value.is_finite() {
                *value = f64::NAN;
                n_missing += 1;
            }
        }
        Ok(Self {
            classes: Arc::new(std::mem::take(&mut parts.classes)),
            parts,
            n_missing,
            fingerprint: OnceLock::new(),
        })
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.classes.len()
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.parts.feature_names.len()
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.parts.class_names.len()
    }

    /// Features of a sample; a copy where they are on disk.
    pub fn sample(&self, sample: usize) -> Cow<'_, [f64]> {
        let n_features = self.n_features();
        match &self.parts.stored {
            None => {
                let first = sample * n_features;
                Cow::Borrowed(&self.parts.values[first..first + n_features])
            }
            Some(stored) => {
                let mut features = vec![0.0; n_features];
                stored.read(sample, &mut features);
                Cow::Owned(features)
            }
        }
    }

    /// `features` ← those of a sample.
    pub fn read_sample(&self, sample: usize, features: &mut [f64]) {
        match &self.parts.stored {
            None => features.copy_from_slice(&self.sample(sample)),
            Some(stored) => stored.read(sample, features),
        }
    }

    /// Gives the features of samples to `visit`, one sample after the other. On disk those that lie close together
    /// are read at once: whoever needs all samples saves most of the time that single reads take.
    pub(crate) fn visit(&self, samples: &[usize], mut visit: impl FnMut(&[f64])) {
        let Some(stored) = &self.parts.stored else {
            return samples.iter().for_each(|s| visit(&self.sample(*s)));
        };
        let n_features = self.n_features();
        let mut features = Vec::new();
        for near in samples.chunk_by(|one, next| stored.are_near(*one, *next)) {
            let (first, last) = (near[0], near[near.len() - 1]);
            features.resize((last - first + 1) * n_features, 0.0);
            stored.read(first, &mut features);
            for sample in near {
                visit(&features[(sample - first) * n_features..][..n_features]);
            }
        }
    }

    /// The same for all samples, in their order.
    pub(crate) fn visit_all(&self, mut visit: impl FnMut(&[f64])) {
        for first in (0..self.n_samples()).step_by(AT_ONCE) {
            let last = self.n_samples().min(first + AT_ONCE);
            let samples: Vec<usize> = (first..last).collect();
            self.visit(&samples, &mut visit);
        }
    }

    /// All features, sample after sample, where they are in memory.
    pub fn values(&self) -> Option<&[f64]> {
        self.parts.stored.is_none().then_some(&self.parts.values)
    }

    /// Why features on disk could not be read back, if so; they count as missing since.
    pub fn failure(&self) -> Option<&str> {
        self.parts.stored.as_ref()?.failure()
    }

    /// All samples as columns.
    pub fn matrix(&self) -> Array2<f64> {
        let mut matrix = Array2::zeros((self.n_features(), self.n_samples()).f());
        for (sample, mut column) in matrix.columns_mut().into_iter().enumerate() {
            for (value, feature) in column.iter_mut().zip(&*self.sample(sample)) {
                *value = *feature;
            }
        }
        matrix
    }

    /// Names of the features.
    pub fn feature_names(&self) -> &[String] {
        &self.parts.feature_names
    }

    /// How the features lie side by side.
    pub fn layout(&self) -> Layout {
        self.parts.layout
    }

    /// The groups of features, in their order; none where all features are one group.
    pub fn feature_groups(&self) -> &[FeatureGroup] {
        &self.parts.feature_groups
    }

    /// Whether features are seen relative to the mean of their recording.
    pub fn is_recentred(&self) -> bool {
        self.parts.feature_groups.iter().any(|group| {
            matches!(
                group.kind,
                GroupKind::Covariance {
                    recentred: true,
                    ..
                }
            )
        })
    }

    /// Whether groups are only names of files: nothing tells which files belong to one subject.
    pub fn groups_are_files(&self) -> bool {
        self.parts.groups_are_files
    }

    /// Names of the classes.
    pub fn class_names(&self) -> &[String] {
        &self.parts.class_names
    }

    /// Class of each sample.
    pub fn classes(&self) -> &[usize] {
        &self.classes
    }

    /// The same for who keeps them beside the data set.
    pub fn shared_classes(&self) -> Arc<Vec<usize>> {
        self.classes.clone()
    }

    /// Number of samples of each class.
    pub fn class_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.n_classes()];
        for class in &*self.classes {
            counts[*class] += 1;
        }
        counts
    }

    /// Group of each sample, where groups are known.
    pub fn groups(&self) -> Option<&[usize]> {
        self.parts.groups.as_deref()
    }

    /// Names of the groups.
    pub fn group_names(&self) -> &[String] {
        &self.parts.group_names
    }

    /// The files the samples came from.
    pub fn sources(&self) -> &[PathBuf] {
        &self.parts.sources
    }

    /// Where a sample came from.
    pub fn origin(&self, sample: usize) -> Origin {
        self.parts.origins.of(sample)
    }

    /// The file a sample came from.
    pub fn source(&self, sample: usize) -> &Path {
        &self.parts.sources[self.origin(sample).source]
    }

    /// Number of missing values.
    pub fn n_missing(&self) -> usize {
        self.n_missing
    }

    /// A number that changes with any value of any sample: FNV-1a over the bits of all values, word by word.
    pub fn fingerprint(&self) -> u64 {
        *self.fingerprint.get_or_init(|| {
            let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
            self.visit_all(|sample| {
                for value in sample {
                    hash = (hash ^ value.to_bits()).wrapping_mul(0x0100_0000_01b3);
                    hash ^= hash >> 32;
                }
            });
            hash
        })
    }

    /// The same set with its features on disk, wherever they are now.
    pub fn on_disk(&self) -> Result<Self, DatasetError> {
        let all: Vec<usize> = (0..self.n_samples()).collect();
        self.gathered(&all, FeatureList::in_memory_up_to(0))
    }

    /// The samples at these positions, in this order, as a set of their own.
    pub fn subset(&self, samples: &[usize]) -> Result<Self, DatasetError> {
        self.gathered(samples, FeatureList::default())
    }

    /// The samples at these positions with class and group alone, enough to split them: their one feature is 0.
    pub(crate) fn labels_of(&self, samples: &[usize]) -> Result<Self, DatasetError> {
        Self::new(DatasetParts {
            values: vec![0.0; samples.len()],
            feature_names: vec![String::new()],
            ..self.labels_at(samples)
        })
    }

    /// Class, group and origin of the samples at these positions, without features.
    fn labels_at(&self, samples: &[usize]) -> DatasetParts {
        let all = &self.parts;
        let pick = |list: &[usize]| samples.iter().map(|s| list[*s]).collect();
        DatasetParts {
            class_names: all.class_names.clone(),
            classes: pick(&self.classes),
            group_names: all.group_names.clone(),
            groups: all.groups.as_deref().map(pick),
            groups_are_files: all.groups_are_files,
            sources: all.sources.clone(),
            origins: samples.iter().map(|s| all.origins.of(*s)).collect(),
            ..DatasetParts::default()
        }
    }

    fn gathered(&self, samples: &[usize], mut list: FeatureList) -> Result<Self, DatasetError> {
        let all = &self.parts;
        if let Some(&beyond) = samples.iter().find(|s| **s >= self.n_samples()) {
            return Err(DatasetError::NoSuchSample {
                sample: beyond,
                n_samples: self.n_samples(),
            });
        }
        for sample in samples {
            list.push(&self.sample(*sample))
                .map_err(DatasetError::not_stored)?;
        }
        let (values, stored) = list.finish().map_err(DatasetError::not_stored)?;
        Self::new(DatasetParts {
            values,
            stored,
            feature_names: all.feature_names.clone(),
            layout: all.layout,
            feature_groups: all.feature_groups.clone(),
            source_starts: all.source_starts.clone(),
            row_times_s: all.row_times_s.clone(),
            ..self.labels_at(samples)
        })
    }
}
