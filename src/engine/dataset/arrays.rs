//! Data sets from arrays: pages of classes (features × samples × classes), or a matrix beside its labels.

use ndarray::{ArrayD, Axis, Ix3};
use serde::{Deserialize, Serialize};

use super::builder::DatasetBuilder;
use super::labels::number_name;
use super::table::{CLASS_NAMES, MAX_CLASSES, tell_classes};
use super::{DatasetError, Layout, Place};
use crate::records::table::plain_name;
use crate::records::{ArrayInfo, Format, Record};
use crate::settings::{SettingProblem, SettingProblems};

/// Which arrays of a file hold what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ArrayContent {
    /// One array of features × samples × classes.
    Pages {
        /// The array.
        array: String,
    },
    /// A matrix, and the class of each of its rows (or columns, if their number fits).
    Labelled {
        /// The matrix.
        samples: String,
        /// The class of each sample.
        labels: String,
        /// The group of each sample, if there is one.
        groups: Option<String>,
    },
}

/// How a file of arrays becomes samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayChoice {
    /// Which arrays hold what.
    pub content: ArrayContent,
    /// Names of the classes in the order of pages or of rising label; without them the numbers are the names.
    pub class_names: Option<Vec<String>>,
    /// Every value is divided by this (255 turns bytes into 0…1).
    #[serde(default = "unchanged")]
    pub divide_by: f64,
    /// All samples of a file belong together.
    #[serde(default)]
    pub group_by_file: bool,
    /// How the features lie side by side.
    #[serde(default)]
    pub layout: Layout,
}

/// The divisor that leaves values as they are.
fn unchanged() -> f64 {
    1.0
}

impl ArrayChoice {
    /// The likely meaning of a file: a matrix beside a vector of its length that is named as labels are, a 3-D array of
    /// pages of classes, or a matrix beside any vector of its length that can tell classes. A square number of features of
    /// pages is taken for pictures, in MATLAB's order if the file is MATLAB's.
    pub fn guess(record: &Record) -> Option<Self> {
        let vectors = record
            .arrays
            .iter()
            .filter(|array| length_of(&array.shape).is_some());
        let (named, others): (Vec<&ArrayInfo>, Vec<&ArrayInfo>) =
            vectors.partition(|array| is_named_as_class(&array.name));
        labelled(record, &named)
            .or_else(|| pages(record, &named))
            .or_else(|| labelled(record, &others))
    }

    /// Which arrays hold what, in a few words.
    pub(super) fn in_words(&self) -> String {
        match &self.content {
            ArrayContent::Pages { array } => {
                format!("array {array:?}, a page each: features × samples × classes")
            }
            ArrayContent::Labelled {
                samples, labels, ..
            } => format!("array {labels:?} for the rows or columns of {samples:?}"),
        }
    }

    /// One array of features × samples × classes, as it is.
    pub fn pages(array: String) -> Self {
        Self::plain(ArrayContent::Pages { array }, Layout::Plain)
    }

    fn plain(content: ArrayContent, layout: Layout) -> Self {
        Self {
            content,
            class_names: None,
            divide_by: unchanged(),
            group_by_file: false,
            layout,
        }
    }

    /// What is wrong with the settings.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let legal = self.divide_by.is_finite() && self.divide_by != 0.0;
        let divisor = self.divide_by;
        let text = format!("the divisor must be a number other than 0, but is {divisor}");
        let mut problems = SettingProblems::default();
        problems.require(legal, "divide_by", text);
        problems.into_list()
    }
}

/// The length of a shape that is long along one axis only.
fn length_of(shape: &[usize]) -> Option<usize> {
    match *shape {
        [n] | [n, 1] | [1, n] => Some(n),
        _ => None,
    }
}

/// Whether an array is called as classes are: `y`, `labels`, `train.target`.
fn is_named_as_class(name: &str) -> bool {
    let base = plain_name(name.rsplit(['.', '/']).next().unwrap_or(name));
    CLASS_NAMES.contains(&base.as_str())
}

/// A matrix beside one of these vectors, which can tell the classes of its rows or columns.
fn labelled(record: &Record, vectors: &[&ArrayInfo]) -> Option<ArrayChoice> {
    record.arrays.iter().find_map(|samples| {
        let [n_rows, n_columns] = samples.shape[..] else {
            return None;
        };
        if n_rows < 2 || n_columns < 2 {
            return None;
        }
        let fits = |labels: &&&ArrayInfo| {
            length_of(&labels.shape).is_some_and(|n| n == n_rows || n == n_columns)
                && vector(record, &labels.name).is_ok_and(tell_classes)
        };
        let content = ArrayContent::Labelled {
            samples: samples.name.clone(),
            labels: vectors.iter().find(fits)?.name.clone(),
            groups: None,
        };
        Some(ArrayChoice::plain(content, Layout::Plain))
    })
}

/// A 3-D array, unless one of these vectors labels what lies along one of its axes.
fn pages(record: &Record, labels: &[&ArrayInfo]) -> Option<ArrayChoice> {
    let pages = record.arrays.iter().find(|array| array.shape.len() == 3)?;
    let mut lengths = labels.iter().filter_map(|array| length_of(&array.shape));
    if lengths.any(|n| n > 1 && pages.shape.contains(&n)) {
        return None;
    }
    let side = (pages.shape[0] as f64).sqrt().round() as usize;
    let layout = if side > 1 && side.checked_mul(side) == Some(pages.shape[0]) {
        Layout::Image {
            n_rows: side,
            n_columns: side,
            by_columns: matches!(record.format, Format::Mat4 | Format::Mat5 | Format::Mat73),
        }
    } else {
        Layout::Plain
    };
    let array = pages.name.clone();
    Some(ArrayChoice::plain(ArrayContent::Pages { array }, layout))
}

impl DatasetBuilder {
    /// Adds the samples of a file of arrays.
    pub fn add_arrays(
        &mut self,
        record: &Record,
        choice: &ArrayChoice,
    ) -> Result<(), DatasetError> {
        if let Some(problem) = choice.problems().into_iter().next() {
            return Err(DatasetError::Setting(problem));
        }
        match &choice.content {
            ArrayContent::Pages { array } => self.add_pages(record, array, choice),
            ArrayContent::Labelled {
                samples,
                labels,
                groups,
            } => self.add_labelled(record, samples, labels, groups.as_deref(), choice),
        }
    }

    fn add_pages(
        &mut self,
        record: &Record,
        name: &str,
        choice: &ArrayChoice,
    ) -> Result<(), DatasetError> {
        let array = record.array(name)?;
        let shape = array.shape().to_vec();
        let wrong = |expected: &str| wrong_shape(record, name, &shape, expected);
        let pages = array
            .into_dimensionality::<Ix3>()
            .or(Err(wrong("features × samples × classes")))?;
        let n_classes = pages.len_of(Axis(2));
        if n_classes > MAX_CLASSES {
            return Err(wrong("at most 1000 classes on the third axis"));
        }
        let class_names = class_names(
            choice,
            (0..n_classes).map(|page| number_name((page + 1) as f64)),
            || wrong("as many classes on the third axis as names"),
        )?;
        self.join(record, pages.len_of(Axis(0)), choice.layout)?;
        for (page, class) in class_names.iter().enumerate() {
            let samples = pages.index_axis(Axis(2), page);
            let first_row = page * samples.ncols();
            for (sample, values) in samples.columns().into_iter().enumerate() {
                let values: Vec<f64> = values.iter().map(|v| v / choice.divide_by).collect();
                self.push_row(record, choice, first_row + sample, &values, class, None)?;
            }
        }
        Ok(())
    }

    fn add_labelled(
        &mut self,
        record: &Record,
        samples_name: &str,
        labels_name: &str,
        groups_name: Option<&str>,
        choice: &ArrayChoice,
    ) -> Result<(), DatasetError> {
        let labels = vector(record, labels_name)?;
        let mut samples = MatrixRows::of(record, samples_name, labels.len())?;
        let groups = groups_name.map(|name| vector(record, name)).transpose()?;
        if let (Some(groups), Some(name)) = (&groups, groups_name)
            && groups.len() != labels.len()
        {
            let expected = format!("{} entries, one per sample", labels.len());
            return Err(wrong_shape(record, name, &[groups.len()], &expected));
        }
        let known = sorted_labels(&labels, labels_name)?;
        let names = class_names(choice, known.iter().map(|v| number_name(*v)), || {
            let expected = format!("{} different labels, one per name", known.len());
            wrong_shape(record, labels_name, &[labels.len()], &expected)
        })?;
        self.join(record, samples.n_features, choice.layout)?;
        self.expect(samples.n_samples, samples.n_features)?;
        for (row, label) in labels.iter().enumerate() {
            let Ok(class) = known.binary_search_by(|value| value.total_cmp(label)) else {
                let path = record.source.path.as_path();
                self.leave_out(
                    path,
                    Some(Place::Row(row)),
                    "the class is missing".to_owned(),
                );
                continue;
            };
            let values = samples.row(row)?.iter();
            let values: Vec<f64> = values.map(|v| v / choice.divide_by).collect();
            let group = groups.as_ref().map(|groups| number_name(groups[row]));
            self.push_row(
                record,
                choice,
                row,
                &values,
                &names[class],
                group.as_deref(),
            )?;
        }
        Ok(())
    }

    fn join(
        &mut self,
        record: &Record,
        n_features: usize,
        layout: Layout,
    ) -> Result<(), DatasetError> {
        let names: Vec<String> = (0..n_features).map(|f| format!("feature {f}")).collect();
        self.join_features(&names, layout)
            .map_err(|reason| DatasetError::OtherFeatures {
                reason,
                path: record.source.path.clone(),
            })
    }

    fn push_row(
        &mut self,
        record: &Record,
        choice: &ArrayChoice,
        row: usize,
        values: &[f64],
        class: &str,
        group: Option<&str>,
    ) -> Result<(), DatasetError> {
        let path = record.source.path.as_path();
        let file = self.name_of(path);
        let group = group.or(choice.group_by_file.then_some(file.as_str()));
        self.push(path, Place::Row(row), values, class, group)
    }
}

fn wrong_shape(record: &Record, name: &str, shape: &[usize], expected: &str) -> DatasetError {
    DatasetError::Shape {
        name: name.to_owned(),
        shape: shape.to_vec(),
        expected: expected.to_owned(),
        path: record.source.path.clone(),
    }
}

/// The names given, if they fit in number, or those derived from the labels.
fn class_names(
    choice: &ArrayChoice,
    derived: impl ExactSizeIterator<Item = String>,
    wrong: impl Fn() -> DatasetError,
) -> Result<Vec<String>, DatasetError> {
    match &choice.class_names {
        None => Ok(derived.collect()),
        Some(names) if names.len() == derived.len() => Ok(names.clone()),
        Some(_) => Err(wrong()),
    }
}

/// An array with one axis longer than 1, as a list.
fn vector(record: &Record, name: &str) -> Result<Vec<f64>, DatasetError> {
    let array = record.array(name)?;
    let longest = array.shape().iter().max().copied().unwrap_or(0);
    if array.len() != longest {
        return Err(wrong_shape(record, name, array.shape(), "a vector"));
    }
    Ok(array.iter().copied().collect())
}

/// Values of a matrix that are read at a time, where not all of it has to be.
const BLOCK_VALUES: usize = 1 << 17;

/// The samples of a matrix one after the other, whichever way it lies in the file; rows if both fit.
struct MatrixRows<'r> {
    record: &'r Record,
    name: &'r str,
    n_samples: usize,
    n_features: usize,
    /// Along which the samples follow each other.
    axis: usize,
    /// Samples that were read together, from `first` on.
    block: Vec<f64>,
    first: usize,
    /// All of it, where parts cannot be read.
    whole: Option<ArrayD<f64>>,
}

impl<'r> MatrixRows<'r> {
    fn of(record: &'r Record, name: &'r str, n_samples: usize) -> Result<Self, DatasetError> {
        let listed = record.arrays.iter().find(|array| array.name == name);
        let (shape, whole) = match listed {
            Some(listed) => (listed.shape.clone(), None),
            None => {
                let array = record.array(name)?;
                (array.shape().to_vec(), Some(array))
            }
        };
        let (axis, n_features) = match shape[..] {
            [rows, columns] if rows == n_samples => (0, columns),
            [rows, columns] if columns == n_samples => (1, rows),
            _ => {
                let expected = format!("a matrix with {n_samples} rows or columns, one per label");
                return Err(wrong_shape(record, name, &shape, &expected));
            }
        };
        Ok(Self {
            record,
            name,
            n_samples,
            n_features,
            axis,
            block: Vec::new(),
            first: 0,
            whole,
        })
    }

    /// The features of a sample.
    fn row(&mut self, row: usize) -> Result<&[f64], DatasetError> {
        let n = self.n_features;
        if row < self.first || (row - self.first + 1) * n > self.block.len() {
            let count = (BLOCK_VALUES / n.max(1)).clamp(1, self.n_samples - row);
            self.first = row;
            self.block.resize(count * n, 0.0);
            self.load()?;
        }
        let place = (row - self.first) * n;
        Ok(&self.block[place..place + n])
    }

    fn load(&mut self) -> Result<(), DatasetError> {
        let (record, block) = (self.record, &mut self.block);
        if self.whole.is_none() {
            if record.slices(self.name, self.axis, self.first, block)? {
                return Ok(());
            }
            self.whole = Some(record.array(self.name)?);
        }
        let Some(array) = &self.whole else {
            return Ok(());
        };
        let n_features = self.n_features.max(1);
        for (k, values) in block.chunks_mut(n_features).enumerate() {
            let sample = array.index_axis(Axis(self.axis), self.first + k);
            values
                .iter_mut()
                .zip(&sample)
                .for_each(|(to, from)| *to = *from);
        }
        Ok(())
    }
}

/// The different labels in rising order, missing ones aside.
fn sorted_labels(labels: &[f64], name: &str) -> Result<Vec<f64>, DatasetError> {
    let mut known: Vec<f64> = Vec::new();
    for label in labels.iter().filter(|label| !label.is_nan()) {
        if let Err(place) = known.binary_search_by(|value| value.total_cmp(label)) {
            known.insert(place, *label);
        }
        if known.len() > MAX_CLASSES {
            return Err(DatasetError::TooManyClasses {
                name: format!("array {name:?}"),
                most: MAX_CLASSES,
            });
        }
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;
    use crate::records::{ArrayInfo, Kind, MemorySamples, Source};
    use ndarray::{Array1, Array2, Array3};
    use std::path::Path;
    use std::sync::Arc;

    fn arrays(named: Vec<(&str, ArrayD<f64>)>) -> Record {
        let infos = named.iter().map(|(name, array)| ArrayInfo {
            name: (*name).to_owned(),
            shape: array.shape().to_vec(),
        });
        let infos = infos.collect();
        let samples = MemorySamples {
            channels: Vec::new(),
            arrays: named.into_iter().map(|(n, a)| (n.to_owned(), a)).collect(),
        };
        let source = Source::new(Path::new("digits.mat"), 0);
        let mut record = Record::new(
            Format::Mat5,
            Kind::Arrays,
            source,
            Vec::new(),
            Arc::new(samples),
        );
        record.arrays = infos;
        record
    }

    fn build(record: &Record, choice: &ArrayChoice) -> Result<Dataset, DatasetError> {
        let mut builder = DatasetBuilder::new();
        builder.add_arrays(record, choice)?;
        Ok(builder.finish()?.dataset)
    }

    fn guess(record: &Record) -> ArrayChoice {
        ArrayChoice::guess(record).expect("the arrays look like samples")
    }

    #[test]
    fn pages_of_classes_become_samples() {
        let pages = Array3::from_shape_fn((4, 3, 2), |(f, s, c)| (100 * c + 10 * s + f) as f64);
        let record = arrays(vec![("data", pages.into_dyn())]);
        let mut choice = guess(&record);
        choice.divide_by = 10.0;
        choice.class_names = Some(vec!["one".into(), "zero".into()]);
        let data = build(&record, &choice).expect("the shape fits");
        assert_eq!((data.n_features(), data.n_samples()), (4, 6));
        assert_eq!(*data.sample(4), [11.0, 11.1, 11.2, 11.3]);
        assert_eq!(data.classes(), [0, 0, 0, 1, 1, 1]);
        assert_eq!(data.class_names(), ["one", "zero"]);
        assert_eq!(
            data.layout(),
            Layout::Image {
                n_rows: 2,
                n_columns: 2,
                by_columns: true
            }
        );
        assert_eq!(data.origin(4).place, Place::Row(4));
    }

    #[test]
    fn a_matrix_is_read_whichever_way_it_lies() {
        let matrix = Array2::from_shape_fn((3, 2), |(s, f)| (10 * s + f) as f64);
        let labels = Array2::from_shape_vec((3, 1), vec![26.0, 3.0, f64::NAN]).expect("three");
        for samples in [matrix.clone().into_dyn(), matrix.reversed_axes().into_dyn()] {
            let record = arrays(vec![("gnd", labels.clone().into_dyn()), ("fea", samples)]);
            let mut choice = guess(&record);
            choice.group_by_file = true;
            let data = build(&record, &choice).expect("the shapes fit");
            assert_eq!(data.class_names(), ["3", "26"]);
            assert_eq!(data.classes(), [1, 0]);
            assert_eq!(*data.sample(1), [10.0, 11.0]);
            assert_eq!(data.group_names(), ["digits.mat"]);
        }
    }

    #[test]
    fn labels_are_told_by_their_name_and_their_values() {
        let matrix = || Array2::<f64>::zeros((8, 2)).into_dyn();
        let times = Array1::from_iter((0..8).map(|t| f64::from(t) / 4.0)).into_dyn();
        let classes = || Array1::from_iter((0..8).map(|t| f64::from(t % 2))).into_dyn();
        let labels_of = |named| match guess(&arrays(named)).content {
            ArrayContent::Labelled { labels, .. } => labels,
            ArrayContent::Pages { array } => array,
        };
        let named = vec![("x", matrix()), ("t", times.clone()), ("u", classes())];
        assert_eq!(labels_of(named), "u");
        let named = vec![
            ("x", matrix()),
            ("a", classes()),
            ("train.labels", classes()),
        ];
        assert_eq!(labels_of(named), "train.labels");
        assert_eq!(
            ArrayChoice::guess(&arrays(vec![("x", matrix()), ("t", times)])),
            None
        );
        // Trials × channels × time with a label for each trial are no pages of classes.
        let trials = Array3::<f64>::zeros((8, 3, 5)).into_dyn();
        assert_eq!(
            ArrayChoice::guess(&arrays(vec![("x", trials), ("y", classes())])),
            None
        );
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused_by_name() {
        let matrix = Array2::<f64>::zeros((4, 2)).into_dyn();
        let record = arrays(vec![("x", matrix), ("y", Array1::zeros(3).into_dyn())]);
        assert_eq!(ArrayChoice::guess(&record), None);
        let labelled = ArrayContent::Labelled {
            samples: "x".into(),
            labels: "y".into(),
            groups: None,
        };
        let refusal =
            build(&record, &ArrayChoice::plain(labelled, Layout::Plain)).expect_err("3 labels");
        assert_eq!(
            refusal.to_string(),
            "array \"x\" has shape [4, 2], expected a matrix with 3 rows or columns, one per label: digits.mat"
        );
        let pages = ArrayContent::Pages { array: "x".into() };
        assert!(matches!(
            build(&record, &ArrayChoice::plain(pages.clone(), Layout::Plain)),
            Err(DatasetError::Shape { .. })
        ));
        let by_zero = ArrayChoice {
            divide_by: 0.0,
            ..ArrayChoice::plain(pages, Layout::Plain)
        };
        assert!(matches!(
            build(&record, &by_zero),
            Err(DatasetError::Setting(_))
        ));
    }

    #[test]
    fn empty_arrays_are_no_data_set() {
        let record = arrays(vec![("data", Array3::<f64>::zeros((4, 0, 2)).into_dyn())]);
        assert!(matches!(
            build(&record, &guess(&record)),
            Err(DatasetError::NoSamples)
        ));
        let record = arrays(vec![("data", Array3::<f64>::zeros((0, 3, 2)).into_dyn())]);
        assert!(matches!(
            build(&record, &guess(&record)),
            Err(DatasetError::NoFeatures)
        ));
    }
}
