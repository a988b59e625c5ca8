//! A data set put together from records, one after the other; what does not fit is omitted with the reason.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::feature_store::FeatureList;
use super::labels::NameList;
use super::made_samples::{MadeSamples, MakingError};
use super::{
    ByHand, Dataset, DatasetError, DatasetParts, FeatureMismatch, Origin, OriginList, Place,
    StretchCorrection,
};
use crate::features::{FeatureError, FeatureGroup, FeatureRecipe, Layout, Sample, Stretch};
use crate::records::catalog::LabelledSpan;
use crate::records::{ContentHash, ReadError, Record, Source, SourceId, StartTime, Warning};

/// The class of a record, or of its parts.
#[derive(Debug, Clone, PartialEq)]
pub enum Label {
    /// The whole record is of one class.
    Whole(String),
    /// Stretches have classes (seizures, say); everything else is omitted.
    Spans(Vec<LabelledSpan>),
}

/// Something that did not become a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// The file.
    pub source: PathBuf,
    /// Where in the file; `None` for all of it.
    pub place: Option<Place>,
    /// Why.
    pub reason: String,
}

impl LeftOut {
    /// How many were excluded, and the first of them.
    pub fn in_words(all: &[Self]) -> Option<String> {
        let Self { source, reason, .. } = all.first()?;
        let how_many = match all.len() {
            1 => "1 recording or segment was".to_owned(),
            n => format!("{n} recordings or segments were"),
        };
        Some(format!(
            "{how_many} excluded, e.g. {}: {reason}",
            source.display()
        ))
    }
}

impl Label {
    /// The labelled stretches of a record, where it has some.
    pub fn stretches(&self) -> Option<Vec<Stretch>> {
        let Self::Spans(spans) = self else {
            return None;
        };
        let stretch = |span: &LabelledSpan| Stretch {
            start_s: span.onset_s,
            end_s: span.end_s(),
        };
        Some(spans.iter().map(stretch).collect())
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(Place::Window {
                start_s,
                duration_s,
            }) => {
                let end_s = start_s + duration_s;
                write!(f, "{start_s:.3} to {end_s:.3} s: {}", self.reason)
            }
            Some(Place::Row(row)) => write!(f, "row {}: {}", row + 1, self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

/// A file that was opened for a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct DataFile {
    /// The path as the settings name it, usually relative.
    pub named: PathBuf,
    /// Where it was found, its size and the files that belong to it.
    pub source: Source,
    /// What was odd about it and what was assumed.
    pub warnings: Vec<Warning>,
    /// It and the files that belong to it, as they were when they were read. Nothing of one that
    /// vanished meanwhile.
    pub contents: Vec<(PathBuf, ContentHash)>,
}

impl DataFile {
    /// A file that was just opened; it is hashed here. `keep_going` cancels by returning false.
    pub(super) fn opened(
        named: &Path,
        record: &Record,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Self, ReadError> {
        let source = record.source.clone();
        Ok(Self {
            named: named.to_owned(),
            warnings: record.warnings.clone(),
            contents: contents_of(&source, keep_going)?,
            source,
        })
    }

    /// Whether a file is not what it was when it was opened: that one.
    pub(super) fn changed(
        &self,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<PathBuf>, ReadError> {
        let now = contents_of(&self.source, keep_going)?;
        let is_same = |then: &(PathBuf, ContentHash)| now.contains(then);
        let changed = self.contents.iter().find(|then| !is_same(then));
        Ok(changed.map(|(path, _)| path.clone()))
    }
}

/// The content of a file and of those that belong to it; nothing of one that cannot be read.
fn contents_of(
    source: &Source,
    keep_going: &mut dyn FnMut(f64) -> bool,
) -> Result<Vec<(PathBuf, ContentHash)>, ReadError> {
    let mut contents = Vec::new();
    for path in std::iter::once(&source.path).chain(&source.companions) {
        match ContentHash::of_file(path, &mut |_| keep_going(0.0)) {
            Ok(content) => contents.push((path.clone(), content)),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {
                return Err(ReadError::Cancelled);
            }
            Err(_) => {}
        }
    }
    Ok(contents)
}

/// A data set with what was omitted and assumed on the way.
#[derive(Debug, Clone)]
pub struct Built {
    /// The samples.
    pub dataset: Dataset,
    /// What did not become a sample.
    pub left_out: Vec<LeftOut>,
    /// What was assumed.
    pub notes: Vec<String>,
    /// The files that were opened.
    pub files: Vec<DataFile>,
    /// Files whose features had been computed before.
    pub n_reused: usize,
}

/// What came of keeping the features of a file.
#[derive(Debug)]
pub(super) enum Keeping {
    /// They had been kept before.
    Reused,
    /// They were computed, and kept where that was wanted.
    Done,
    /// They were computed, but could not be kept in this folder.
    Failed(PathBuf, std::io::Error),
}

/// The group of a sample that has none.
const NO_GROUP: u32 = u32::MAX;

/// A data set in the making.
#[derive(Debug, Default)]
pub struct DatasetBuilder {
    features: FeatureList,
    feature_names: Vec<String>,
    layout: Layout,
    feature_groups: Vec<FeatureGroup>,
    class_names: NameList,
    classes: Vec<usize>,
    group_names: NameList,
    /// Those of samples without a group are missing at the end, or [`NO_GROUP`].
    groups: Vec<u32>,
    /// Whether groups are only names of files.
    groups_are_files: bool,
    sources: NameList,
    /// When files begin, by where they were found.
    starts: BTreeMap<PathBuf, StartTime>,
    /// When the rows of tables were written, in seconds.
    row_times_s: BTreeMap<PathBuf, Arc<[f64]>>,
    origins: OriginList,
    left_out: Vec<LeftOut>,
    /// How many of these do not state their sampling rate.
    n_without_rate: usize,
    notes: Vec<String>,
    files: Vec<DataFile>,
    n_reused: usize,
    /// Whether it was said that features could not be kept.
    has_told: bool,
    renamed_classes: BTreeMap<String, String>,
    by_hand: ByHand,
    /// Samples with a class by hand: numbered last, so that the order of the classes stays that of the rules.
    relabelled: Vec<(usize, String)>,
    /// What files are called, by where they were found.
    file_names: BTreeMap<PathBuf, String>,
}

impl DatasetBuilder {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty set in which classes get other names; two that get the same name become one.
    pub fn with_class_names(renamed_classes: BTreeMap<String, String>) -> Self {
        Self {
            renamed_classes,
            ..Self::default()
        }
    }

    /// The same set, in which stretches of recordings are corrected by hand.
    pub fn with_stretches(self, by_hand: ByHand) -> Self {
        Self { by_hand, ..self }
    }

    /// Features beyond so many bytes go to disk, even where more memory is free.
    pub(super) fn limit_memory(&mut self, most_bytes: u64) {
        self.features.limit_memory(most_bytes);
    }

    /// Keeps what is known of a file that was opened, and calls it by the name that the settings give it.
    pub(super) fn add_file(&mut self, file: DataFile) {
        let name = SourceId::of(&file.named);
        self.file_names
            .insert(file.source.path.clone(), name.into());
        self.files.push(file);
    }

    /// Adds the samples that a recipe makes of a record. Without a group the record is a group of its own: its windows
    /// belong together. `keep_going` receives the share done and cancels by returning false; a record that gives no
    /// samples is omitted with the reason.
    pub fn add_record(
        &mut self,
        record: &Record,
        recipe: &FeatureRecipe,
        label: &Label,
        group: Option<&str>,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<(), DatasetError> {
        let made = MadeSamples::of(recipe, record, label.stretches().as_deref(), keep_going);
        self.note_start(&record.source.path, record.start);
        self.add_made(&record.source.path, made, label, group, 1)
    }

    /// Counts a file whose features had been computed before, or says why they will have to be once more.
    pub(super) fn note_keeping(&mut self, path: &Path, keeping: Keeping) {
        match keeping {
            Keeping::Reused => self.n_reused += 1,
            Keeping::Failed(folder, error) if !self.has_told => {
                self.has_told = true;
                self.note(format!(
                    "features could not be kept for another time, those of {} first: {error}; make room there, or name another folder in ATOMSCOPE_FEATURES: {}",
                    path.display(),
                    folder.display()
                ));
            }
            Keeping::Done | Keeping::Failed(..) => {}
        }
    }

    /// Keeps when the rows of a table were written, if they stand in the order of their times: times of day may begin
    /// anew.
    pub(super) fn note_row_times(&mut self, path: &Path, times_s: Vec<f64>) {
        if times_s.is_sorted() || times_s.iter().rev().is_sorted() {
            self.row_times_s.insert(path.to_owned(), times_s.into());
        }
    }

    /// Keeps when a file begins.
    pub(super) fn note_start(&mut self, path: &Path, start: Option<StartTime>) {
        if let Some(start) = start {
            self.starts.insert(path.to_owned(), start);
        }
    }

    /// Adds what a recipe made of the record at `path`, its samples `n_copies` times, or leaves the record out with
    /// the reason.
    pub(super) fn add_made(
        &mut self,
        path: &Path,
        made: Result<MadeSamples, MakingError>,
        label: &Label,
        group: Option<&str>,
        n_copies: usize,
    ) -> Result<(), DatasetError> {
        let mut made = match made {
            Ok(made) => made,
            Err(MakingError::Storage(error)) => return Err(DatasetError::not_stored(error)),
            Err(MakingError::Recipe(FeatureError::Read(ReadError::Cancelled))) => {
                return Err(ReadError::Cancelled.into());
            }
            Err(MakingError::Recipe(error)) => {
                self.n_without_rate += usize::from(matches!(error, FeatureError::Rate { .. }));
                self.leave_out(path, None, error.to_string());
                return Ok(());
            }
        };
        let extraction = &mut made.extraction;
        let (notes, rejected) = (
            std::mem::take(&mut extraction.notes),
            std::mem::take(&mut extraction.rejected),
        );
        if made.n_samples() == 0 && rejected.is_empty() {
            let reason = notes.first().map_or("it is empty", |note| note);
            self.leave_out(path, None, reason.to_owned());
            return Ok(());
        }
        for note in notes {
            self.notes.push(format!("{note}: {}", path.display()));
        }
        for rejection in rejected {
            let place = Place::Window {
                start_s: rejection.start_s,
                duration_s: rejection.duration_s,
            };
            self.leave_out(path, Some(place), rejection.reason.to_string());
        }
        if made.n_samples() == 0 {
            return Ok(());
        }
        let extraction = &made.extraction;
        if let Err(reason) = self.join_features(&extraction.feature_names, extraction.layout) {
            self.leave_out(path, None, reason.to_string());
            return Ok(());
        }
        if self.classes.is_empty() {
            self.feature_groups.clone_from(&extraction.feature_groups);
        }
        for _ in 0..n_copies {
            self.add_samples(path, &made, label, group)?;
        }
        Ok(())
    }

    /// Adds the samples that have a class; their features have joined.
    fn add_samples(
        &mut self,
        path: &Path,
        made: &MadeSamples,
        label: &Label,
        group: Option<&str>,
    ) -> Result<(), DatasetError> {
        let own_group = self.name_of(path);
        let group = group.unwrap_or(&own_group);
        let slack_s = made.extraction.label_slack_s;
        if matches!(label, Label::Whole(_)) {
            self.expect(made.n_samples(), made.extraction.feature_names.len())?;
        }
        let mut sample = Sample::default();
        for number in 0..made.n_samples() {
            made.read(number, &mut sample)?;
            let place = Place::Window {
                start_s: sample.start_s,
                duration_s: sample.duration_s,
            };
            let named = SourceId::from_text(&own_group).path();
            let correction = self
                .by_hand
                .correction(&named, sample.start_s, sample.duration_s);
            match (correction.cloned(), class_of(label, &sample, slack_s)) {
                (Some(StretchCorrection::Exclude), _) => {
                    self.leave_out(path, Some(place), "excluded manually".to_owned());
                }
                (Some(StretchCorrection::Relabel(class)), _) => {
                    self.relabelled.push((self.classes.len(), class));
                    self.push_numbered(path, place, &sample.values, 0, Some(group))?;
                }
                (None, Ok(class)) => self.push(path, place, &sample.values, class, Some(group))?,
                (None, Err(reason)) => self.leave_out(path, Some(place), reason.to_owned()),
            }
        }
        Ok(())
    }

    /// What a file is called: as the settings name it, else its path.
    pub(super) fn name_of(&self, path: &Path) -> String {
        let known = self.file_names.get(path);
        known.map_or_else(|| SourceId::of(path).into(), Clone::clone)
    }

    /// Says that groups are only names of files: nothing tells which files belong to one subject.
    pub(super) fn take_files_for_groups(&mut self) {
        self.groups_are_files = true;
    }

    /// What was excluded for the reason that most have; of several such the first.
    fn usual_reason(&self) -> Option<&LeftOut> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for left_out in &self.left_out {
            *counts.entry(&left_out.reason).or_default() += 1;
        }
        let count = |left_out: &LeftOut| counts.get(left_out.reason.as_str()).copied();
        // Of equals the last is the greatest.
        self.left_out
            .iter()
            .rev()
            .max_by_key(|left_out| count(left_out))
    }

    /// The data set, if there is a sample in it.
    pub fn finish(mut self) -> Result<Built, DatasetError> {
        for (sample, class) in std::mem::take(&mut self.relabelled) {
            self.classes[sample] = self.class_names.number(&class);
        }
        if self.classes.is_empty()
            && let Some(usual) = self.usual_reason()
        {
            let path = usual.source.clone();
            return Err(match 2 * self.n_without_rate > self.left_out.len() {
                true => DatasetError::NoRate { path },
                false => DatasetError::AllExcluded {
                    n_left_out: self.left_out.len(),
                    reason: usual.reason.clone(),
                    path,
                },
            });
        }
        let sources = self.sources.names().iter();
        let source_names: Vec<String> = sources
            .map(|source| self.name_of(&SourceId::from_text(source).path()))
            .collect();
        let (class_names, moved_to) = self.class_names.into_sorted();
        let sources = self.sources.into_names();
        let mut group_names = self.group_names;
        let any_group = !self.groups.is_empty();
        self.groups.resize(self.classes.len(), NO_GROUP);
        // Where only some samples have a group, the others are grouped by file: they must not be mixed either.
        let groups = any_group.then(|| {
            let known = self.groups.iter().zip(self.origins.iter());
            known
                .map(|(group, origin)| match *group {
                    NO_GROUP => group_names.number(&source_names[origin.source]),
                    group => group as usize,
                })
                .collect()
        });
        let mut classes = self.classes;
        let moved = classes.iter_mut();
        moved.for_each(|class| *class = moved_to[*class]);
        let (values, stored) = self.features.finish().map_err(DatasetError::not_stored)?;
        let dataset = Dataset::new(DatasetParts {
            values,
            stored,
            feature_names: self.feature_names,
            layout: self.layout,
            feature_groups: self.feature_groups,
            class_names,
            classes,
            group_names: group_names.into_names(),
            groups_are_files: any_group && self.groups_are_files,
            groups,
            row_times_s: sources
                .iter()
                .map(|source| {
                    self.row_times_s
                        .get(&SourceId::from_text(source).path())
                        .cloned()
                })
                .collect(),
            source_starts: sources
                .iter()
                .map(|source| {
                    self.starts
                        .get(&SourceId::from_text(source).path())
                        .copied()
                })
                .collect(),
            sources: sources
                .iter()
                .map(|source| SourceId::from_text(source).path())
                .collect(),
            origins: self.origins,
        })?;
        Ok(Built {
            dataset,
            left_out: self.left_out,
            notes: self.notes,
            files: self.files,
            n_reused: self.n_reused,
        })
    }

    /// Takes over the features of the first addition; later ones must have the same.
    pub(super) fn join_features(
        &mut self,
        feature_names: &[String],
        layout: Layout,
    ) -> Result<(), FeatureMismatch> {
        if self.feature_names.is_empty() {
            self.feature_names = feature_names.to_vec();
            self.layout = layout;
            return Ok(());
        }
        if self.feature_names.len() != feature_names.len() {
            return Err(FeatureMismatch::Count {
                found: feature_names.len(),
                expected: self.feature_names.len(),
            });
        }
        let pairs = self.feature_names.iter().zip(feature_names);
        match pairs.into_iter().find(|(known, found)| known != found) {
            None => Ok(()),
            Some((known, found)) => Err(FeatureMismatch::Name {
                found: found.clone(),
                expected: known.clone(),
            }),
        }
    }

    /// Makes room for samples to come.
    pub(super) fn expect(
        &mut self,
        n_samples: usize,
        n_features: usize,
    ) -> Result<(), DatasetError> {
        // As with features, small additions are left to the usual doubling.
        if n_samples > self.classes.len() {
            self.classes.reserve_exact(n_samples);
        }
        let made = self.features.expect(n_samples, n_features);
        made.map_err(DatasetError::not_stored)
    }

    /// Adds one sample whose features have joined; its class may get another name.
    pub(super) fn push(
        &mut self,
        path: &Path,
        place: Place,
        values: &[f64],
        class: &str,
        group: Option<&str>,
    ) -> Result<(), DatasetError> {
        let renamed = self.renamed_classes.get(class);
        let class = self
            .class_names
            .number(renamed.map_or(class, String::as_str));
        self.push_numbered(path, place, values, class, group)
    }

    /// Adds one sample by the number of its class.
    fn push_numbered(
        &mut self,
        path: &Path,
        place: Place,
        values: &[f64],
        class: usize,
        group: Option<&str>,
    ) -> Result<(), DatasetError> {
        let kept = self.features.push(values);
        kept.map_err(DatasetError::not_stored)?;
        if let Some(group) = group {
            let number = self.group_names.number(group);
            self.groups.resize(self.classes.len(), NO_GROUP);
            self.groups.push(u32::try_from(number).unwrap_or(NO_GROUP));
        }
        self.classes.push(class);
        let source = self.sources.number(SourceId::of(path).as_str());
        self.origins.push(Origin { source, place });
        Ok(())
    }

    /// Says what did not become a sample.
    pub(super) fn leave_out(&mut self, path: &Path, place: Option<Place>, reason: String) {
        self.left_out.push(LeftOut {
            source: path.to_owned(),
            place,
            reason,
        });
    }

    /// Says what was assumed.
    pub(super) fn note(&mut self, text: String) {
        self.notes.push(text);
    }
}

/// The class of a sample: that of the stretch it lies in, never of one it only touches.
fn class_of<'a>(label: &'a Label, sample: &Sample, slack_s: f64) -> Result<&'a str, &'static str> {
    let spans = match label {
        Label::Whole(class) => return Ok(class),
        Label::Spans(spans) => spans,
    };
    // Times are sums of roundings: a microsecond decides nothing.
    let slack_s = slack_s + 1e-6;
    let (start_s, end_s) = (sample.start_s, sample.start_s + sample.duration_s);
    let touches =
        |span: &&LabelledSpan| start_s < span.end_s() - slack_s && end_s > span.onset_s + slack_s;
    let holds =
        |span: &LabelledSpan| start_s >= span.onset_s - slack_s && end_s <= span.end_s() + slack_s;
    let mut touched = spans.iter().filter(touches);
    match touched.next() {
        None => Err("it has no label"),
        Some(first) if !holds(first) => Err("it crosses the boundary of a labelled section"),
        Some(first) if touched.any(|other| other.class != first.class) => {
            Err("sections of different classes overlap there")
        }
        Some(first) => Ok(&first.class),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::EegRecipe;
    use crate::records::{Channel, Format, Kind, Unit};

    fn recording(name: &str, channel_names: &[&str], n_seconds: usize) -> Record {
        let data = channel_names.iter().map(|channel| {
            let values = (0..n_seconds * 250)
                .map(|t| ((t * 7) % 50) as f64)
                .collect();
            (
                Channel::analog(*channel, Unit::parse("uV"), Some(250.0), 0),
                values,
            )
        });
        Record::in_memory(Format::Simulated, Kind::Recording, name, data.collect())
    }

    fn eeg() -> FeatureRecipe {
        FeatureRecipe::Eeg(EegRecipe::as_published())
    }

    fn add(builder: &mut DatasetBuilder, record: &Record, label: &Label, group: Option<&str>) {
        builder
            .add_record(record, &eeg(), label, group, &mut |_| true)
            .expect("not stopped");
    }

    #[test]
    fn samples_know_class_group_and_origin() {
        let mut builder = DatasetBuilder::new();
        add(
            &mut builder,
            &recording("h01.edf", &["Fp1", "Fp2"], 3),
            &Label::Whole("healthy".into()),
            Some("h01"),
        );
        add(
            &mut builder,
            &recording("s01.edf", &["Fp1", "Fp2"], 2),
            &Label::Whole("patient".into()),
            None,
        );
        let built = builder.finish().expect("five samples");
        let data = &built.dataset;
        assert_eq!((data.n_samples(), data.n_features()), (5, 8));
        assert_eq!(data.class_names(), ["healthy", "patient"]);
        assert_eq!(data.classes(), [0, 0, 0, 1, 1]);
        assert_eq!(data.group_names(), ["h01", "s01.edf"]);
        assert_eq!(data.groups(), Some(&[0, 0, 0, 1, 1][..]));
        assert_eq!(data.source(4), Path::new("s01.edf"));
        assert_eq!(
            data.origin(4).place,
            Place::Window {
                start_s: 1.0,
                duration_s: 1.0
            }
        );
        assert_eq!(data.matrix().column(3).to_vec(), *data.sample(3));
        let part = data.subset(&[4, 0]).expect("they exist");
        assert_eq!(part.classes(), [1, 0]);
        assert_eq!(part.sample(0), data.sample(4));
        assert!(data.subset(&[5]).is_err());
    }

    #[test]
    fn features_beyond_the_limit_are_on_disk_and_the_same() {
        let built = |most_bytes| {
            let mut builder = DatasetBuilder::new();
            builder.limit_memory(most_bytes);
            for name in ["a", "b"] {
                let record = recording(name, &["Fp1", "Fp2"], 20);
                add(&mut builder, &record, &Label::Whole("x".into()), None);
            }
            builder.finish().expect("samples").dataset
        };
        let (in_memory, on_disk) = (built(1 << 20), built(1 << 10));
        assert!(in_memory.values().is_some() && on_disk.values().is_none());
        assert_eq!(in_memory.matrix(), on_disk.matrix());
    }

    #[test]
    fn records_that_do_not_fit_are_left_out_with_the_reason() {
        let mut builder = DatasetBuilder::new();
        let label = Label::Whole("x".into());
        add(
            &mut builder,
            &recording("a", &["Fp1", "Fp2"], 2),
            &label,
            None,
        );
        add(&mut builder, &recording("b", &["Fp1"], 2), &label, None);
        add(
            &mut builder,
            &recording("c", &["Fp2", "Fp1"], 2),
            &label,
            None,
        );
        let mut slow = recording("d", &["Fp1", "Fp2"], 2);
        slow.channels
            .iter_mut()
            .for_each(|c| c.rate_hz = Some(20.0));
        add(&mut builder, &slow, &label, None);
        let built = builder.finish().expect("the first fits");
        assert_eq!(built.dataset.n_samples(), 2);
        let reasons: Vec<&str> = built.left_out.iter().map(|l| l.reason.as_str()).collect();
        assert!(reasons[0].starts_with("has 4 features, but those before have 8"));
        assert!(
            reasons[1]
                .starts_with("has feature \"Fp2 delta\" where those before have \"Fp1 delta\"")
        );
        assert!(reasons[2].contains("half the sampling rate"));
    }

    #[test]
    fn labelled_stretches_decide_and_their_edges_are_left_out() {
        let span = |onset_s, duration_s, class: &str| LabelledSpan {
            onset_s,
            duration_s,
            class: class.into(),
        };
        let label = Label::Spans(vec![
            span(0.0, 1.0, "normal"),
            span(1.0, 1.5, "seizure"),
            span(4.0, 1.0, "artefact"),
        ]);
        let mut builder = DatasetBuilder::new();
        add(&mut builder, &recording("chb", &["Cz"], 6), &label, None);
        let built = builder.finish().expect("samples");
        let classes = built.dataset.classes().iter();
        let names: Vec<&str> = classes
            .map(|class| built.dataset.class_names()[*class].as_str())
            .collect();
        assert_eq!(names, ["normal", "seizure", "artefact"]);
        let reasons: Vec<&str> = built.left_out.iter().map(|l| l.reason.as_str()).collect();
        let uncovered = "it has no label";
        assert_eq!(
            reasons,
            [
                "it crosses the boundary of a labelled section",
                uncovered,
                uncovered
            ]
        );
    }

    #[test]
    fn stopping_and_an_empty_set_are_errors() {
        let mut builder = DatasetBuilder::new();
        let record = recording("a", &["Cz"], 2);
        let stopped = builder.add_record(
            &record,
            &eeg(),
            &Label::Whole("x".into()),
            None,
            &mut |_| false,
        );
        assert!(matches!(
            stopped,
            Err(DatasetError::Read(ReadError::Cancelled))
        ));
        assert!(matches!(
            builder.finish(),
            Err(DatasetError::NoFeatures | DatasetError::NoSamples)
        ));
    }
}
