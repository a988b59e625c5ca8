//! A record: channels over time with their units, rates, annotations, gaps, source and warnings.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ndarray::ArrayD;
use serde::Serialize;

use super::{ReadError, StartTime, Unit, Warning};

/// The format a record came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the names of the formats")]
pub enum Format {
    Edf,
    EdfPlusC,
    EdfPlusD,
    Bdf,
    BdfPlusC,
    BdfPlusD,
    BrainVision,
    Eeglab,
    Fif,
    Gdf1,
    Gdf2,
    NihonKohden,
    Persyst,
    Xdf,
    Mat4,
    Mat5,
    Mat73,
    Hdf5,
    Comtrade1991,
    Comtrade1999,
    Comtrade2013,
    SelEvent,
    Csv,
    Tsv,
    TextColumns,
    Npy,
    Npz,
    Excel,
    OpenDocument,
    Arff,
    Simulated,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Edf => "EDF",
            Self::EdfPlusC => "EDF+C",
            Self::EdfPlusD => "EDF+D",
            Self::Bdf => "BDF",
            Self::BdfPlusC => "BDF+C",
            Self::BdfPlusD => "BDF+D",
            Self::BrainVision => "BrainVision",
            Self::Eeglab => "EEGLAB",
            Self::Fif => "FIF",
            Self::Gdf1 => "GDF 1",
            Self::Gdf2 => "GDF 2",
            Self::NihonKohden => "Nihon Kohden",
            Self::Persyst => "Persyst",
            Self::Xdf => "XDF",
            Self::Mat4 => "MATLAB v4",
            Self::Mat5 => "MATLAB v5",
            Self::Mat73 => "MATLAB v7.3",
            Self::Hdf5 => "HDF5",
            Self::Comtrade1991 => "COMTRADE 1991",
            Self::Comtrade1999 => "COMTRADE 1999",
            Self::Comtrade2013 => "COMTRADE 2013",
            Self::SelEvent => "SEL event report",
            Self::Csv => "CSV",
            Self::Tsv => "TSV",
            Self::TextColumns => "text columns",
            Self::Npy => "NPY",
            Self::Npz => "NPZ",
            Self::Excel => "Excel workbook",
            Self::OpenDocument => "OpenDocument spreadsheet",
            Self::Arff => "ARFF",
            Self::Simulated => "simulated",
        })
    }
}

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A recording of biological signals.
    Recording,
    /// A disturbance record of a power grid.
    FaultRecord,
    /// Rows are samples, columns are features or labels; there is no time axis.
    Table,
    /// Arrays none of which is a recording (a data set of features, say).
    Arrays,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Recording => "recording",
            Self::FaultRecord => "fault record",
            Self::Table => "table",
            Self::Arrays => "arrays",
        })
    }
}

/// Where a record came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file that was opened.
    pub path: PathBuf,
    /// Files beside it that were read too.
    pub companions: Vec<PathBuf>,
    /// Bytes of all of them.
    pub size_bytes: u64,
}

impl Source {
    /// A single file.
    pub fn new(path: &Path, size_bytes: u64) -> Self {
        Self {
            path: path.to_owned(),
            companions: Vec::new(),
            size_bytes,
        }
    }

    /// Counts a file beside the first.
    pub fn add_companion(&mut self, path: &Path, size_bytes: u64) {
        self.companions.push(path.to_owned());
        self.size_bytes = self.size_bytes.saturating_add(size_bytes);
    }
}

/// What the values of a channel are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelKind {
    /// A measured quantity.
    Analog,
    /// 0 or 1; the state it has when nothing happens.
    Digital {
        /// The normal state, where the file gives it.
        normal: Option<bool>,
    },
    /// Positions in a list of names (a class column of a table).
    Nominal {
        /// The names; value `k` means `levels[k]`.
        levels: Arc<[String]>,
    },
    /// Dates or times of day of a table, in seconds.
    Time,
}

/// How a channel was measured, in the words of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sensor {
    /// Electrode or transducer.
    pub transducer: String,
    /// Filters of the amplifier.
    pub prefilter: String,
}

/// Who was recorded and where, in the words of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// The patient: code, sex, birth date, name.
    pub patient: String,
    /// The recording: date, hospital, technician, equipment.
    pub recording: String,
}

/// One channel of a record. Missing values are NaN.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// Name as in the file; a warning tells if it is not unique.
    pub name: String,
    /// Unit of the samples as they are read.
    pub unit: Unit,
    /// Samples per second; `None` if unknown or not constant (see [`TimeAxis`]).
    pub rate_hz: Option<f64>,
    /// Number of samples.
    pub n_samples: usize,
    /// Analog, digital or nominal.
    pub kind: ChannelKind,
    /// What a fault record says of the channel.
    pub grid: Option<GridChannel>,
    /// How it was measured.
    pub sensor: Sensor,
}

impl Channel {
    /// An analog channel.
    pub fn analog(
        name: impl Into<String>,
        unit: Unit,
        rate_hz: Option<f64>,
        n_samples: usize,
    ) -> Self {
        Self {
            name: name.into(),
            unit,
            rate_hz,
            n_samples,
            kind: ChannelKind::Analog,
            grid: None,
            sensor: Sensor::default(),
        }
    }
}

/// Whether the values of a fault record are those of the line or of the instrument transformer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransformerSide {
    /// Values of the line.
    Primary,
    /// Values behind the instrument transformer.
    Secondary,
}

/// What a fault record says of one channel.
#[derive(Debug, Clone, PartialEq)]
pub struct GridChannel {
    /// Phase (`A`, `B`, `C`, `N`, …) as written.
    pub phase: String,
    /// The circuit component monitored, as written.
    pub circuit: String,
    /// Ratio of the instrument transformer, primary side.
    pub primary: f64,
    /// Ratio of the instrument transformer, secondary side.
    pub secondary: f64,
    /// Which of the two the samples are; `None` before the 1999 revision.
    pub scaling: Option<TransformerSide>,
    /// Time of the channel's samples after the sample time.
    pub skew_s: f64,
}

impl GridChannel {
    /// Factor that turns the samples as read into primary values.
    pub fn to_primary(&self) -> f64 {
        let ratio = self.primary / self.secondary;
        match self.scaling {
            Some(TransformerSide::Secondary) if ratio.is_finite() && ratio > 0.0 => ratio,
            _ => 1.0,
        }
    }

    /// Factor that turns the samples as read into secondary values.
    pub fn to_secondary(&self) -> f64 {
        let ratio = self.secondary / self.primary;
        match self.scaling {
            Some(TransformerSide::Primary) if ratio.is_finite() && ratio > 0.0 => ratio,
            _ => 1.0,
        }
    }
}

/// What a fault record says of itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GridFacts {
    /// Name of the substation.
    pub station: String,
    /// Name or number of the recorder.
    pub device: String,
    /// Nominal frequency.
    pub line_frequency_hz: Option<f64>,
    /// The trigger, in seconds after the first sample.
    pub trigger_s: Option<f64>,
}

/// How sample numbers become times.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum TimeAxis {
    /// Each channel at its own constant rate, interrupted by the record's gaps.
    #[default]
    Regular,
    /// All channels together, piece by piece at another rate.
    Sections(Vec<RateSection>),
    /// All channels together, the time of each sample given.
    Stamps(Arc<[f64]>),
}

/// A stretch of constant rate in a fault record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateSection {
    /// Samples per second.
    pub rate_hz: f64,
    /// Time of its first sample.
    pub onset_s: f64,
    /// Number of its first sample.
    pub first_sample: usize,
    /// Number of samples.
    pub n_samples: usize,
}

/// Something noted at a time; times count from the first sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Annotation {
    /// When it starts.
    pub onset_s: f64,
    /// How long it lasts, if it is not a moment or the file says so.
    pub duration_s: Option<f64>,
    /// What it is.
    pub text: String,
    /// The channels it is about; none where it is about all of them.
    pub channels: Vec<String>,
}

impl Annotation {
    /// A note about the whole recording.
    pub fn new(onset_s: f64, duration_s: Option<f64>, text: impl Into<String>) -> Self {
        Self {
            onset_s,
            duration_s,
            text: text.into(),
            channels: Vec::new(),
        }
    }

    /// Most annotations kept of a file: one of a letter takes two bytes in some files,
    /// and forty times that in memory.
    pub(super) fn most_in(file_bytes: u64) -> usize {
        usize::try_from(file_bytes / 24 + 100_000).unwrap_or(usize::MAX)
    }
}

/// A break in the recording: no sample was taken for a while.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gap {
    /// When the samples before it end, counted from the first sample.
    pub onset_s: f64,
    /// How long until the samples continue: 0 if unknown, negative if the file's clock stepped back.
    pub duration_s: f64,
}

impl Gap {
    /// Turns times that count recorded samples only into times that count the gaps too.
    pub(super) fn add_lost_time(gaps: &mut [Self], annotations: &mut [Annotation]) {
        gaps.sort_by(|a, b| a.onset_s.total_cmp(&b.onset_s));
        let mut lost_s = 0.0;
        let lost: Vec<f64> = gaps
            .iter_mut()
            .map(|gap| {
                let recorded_s = gap.onset_s;
                gap.onset_s += lost_s;
                lost_s += gap.duration_s;
                recorded_s
            })
            .collect();
        annotations.sort_by(|a, b| a.onset_s.total_cmp(&b.onset_s));
        let (mut before, mut lost_s) = (0, 0.0);
        for annotation in annotations {
            while lost
                .get(before)
                .is_some_and(|&gap_s| gap_s <= annotation.onset_s)
            {
                lost_s += gaps[before].duration_s;
                before += 1;
            }
            annotation.onset_s += lost_s;
        }
    }
}

/// Samples of one channel without a break.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Time of its first sample.
    pub onset_s: f64,
    /// Number of its first sample.
    pub first_sample: usize,
    /// Number of samples.
    pub n_samples: usize,
}

/// An array stored in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArrayInfo {
    /// Its name.
    pub name: String,
    /// Its size along each axis.
    pub shape: Vec<usize>,
}

/// Where samples come from when they are needed.
pub trait SampleSource: Send + Sync {
    /// Fills `out` with the samples of `channel` from number `first`, in the channel's unit.
    ///
    /// [`Record`] has checked that they exist.
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError>;

    /// The same samples of all channels, one vector each, whose length tells how many.
    ///
    /// Formats that store all channels of a time together read them in one go.
    fn read_all(&self, first: usize, out: &mut [Vec<f64>]) -> Result<(), ReadError> {
        for (channel, values) in out.iter_mut().enumerate() {
            self.read(channel, first, values)?;
        }
        Ok(())
    }

    /// The array called `name`, or `None` if it is not stored (complex ones give their real part).
    fn array(&self, name: &str) -> Result<Option<ArrayD<f64>>, ReadError> {
        let _ = name;
        Ok(None)
    }

    /// Fills `out` with the entries of the matrix called `name` at place `first` of `axis` and those that follow, all of
    /// one place together; false where arrays are only read whole.
    fn slices(
        &self,
        name: &str,
        axis: usize,
        first: usize,
        out: &mut [f64],
    ) -> Result<bool, ReadError> {
        let _ = (name, axis, first, out);
        Ok(false)
    }

    /// How a channel is stored as whole numbers, so that it can be written again without loss.
    fn quantisation(&self, channel: usize) -> Option<Quantisation> {
        let _ = channel;
        None
    }
}

/// Whole numbers `digital_min ..= digital_max` standing for `physical_min ..= physical_max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantisation {
    /// Smallest stored number.
    pub digital_min: i32,
    /// Largest stored number.
    pub digital_max: i32,
    /// Value of the smallest.
    pub physical_min: f64,
    /// Value of the largest.
    pub physical_max: f64,
}

/// Samples held in memory, one vector per channel.
#[derive(Debug, Default)]
pub struct MemorySamples {
    /// The samples of each channel.
    pub channels: Vec<Vec<f64>>,
    /// Arrays by name.
    pub arrays: Vec<(String, ArrayD<f64>)>,
}

impl SampleSource for MemorySamples {
    fn read(&self, channel: usize, first: usize, out: &mut [f64]) -> Result<(), ReadError> {
        let stored = self
            .channels
            .get(channel)
            .and_then(|values| values.get(first..)?.get(..out.len()));
        match stored {
            Some(values) => {
                out.copy_from_slice(values);
                Ok(())
            }
            None => Err(ReadError::NotThere {
                path: PathBuf::new(),
                what: format!("channel {channel}, sample {first}"),
                has: format!("{} channels in memory", self.channels.len()),
            }),
        }
    }

    fn array(&self, name: &str) -> Result<Option<ArrayD<f64>>, ReadError> {
        let found = self.arrays.iter().find(|(known, _)| known == name);
        Ok(found.map(|(_, array)| array.clone()))
    }
}

/// Channels over time, and everything the file says about them.
#[derive(Clone)]
pub struct Record {
    /// The format it came in.
    pub format: Format,
    /// What it is about.
    pub kind: Kind,
    /// The files it came from.
    pub source: Source,
    /// When the first sample was taken.
    pub start: Option<StartTime>,
    /// Who was recorded.
    pub identity: Identity,
    /// The channels, digital ones after the analog ones.
    pub channels: Vec<Channel>,
    /// How sample numbers become times.
    pub time_axis: TimeAxis,
    /// Annotations in order of time.
    pub annotations: Vec<Annotation>,
    /// Breaks in order of time.
    pub gaps: Vec<Gap>,
    /// Arrays stored in the file.
    pub arrays: Vec<ArrayInfo>,
    /// What a fault record says of itself.
    pub grid: Option<GridFacts>,
    /// What was odd, and what was assumed.
    pub warnings: Vec<Warning>,
    /// Columns of a table whose numbers can be read in two ways: the user is asked before they are used.
    pub undecided: Vec<String>,
    /// The sheets of the workbook that the table is one of, the table first.
    pub sheets: Vec<String>,
    samples: Arc<dyn SampleSource>,
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("format", &self.format)
            .field("kind", &self.kind)
            .field("source", &self.source)
            .field("start", &self.start)
            .field("channels", &self.channels)
            .field("annotations", &self.annotations)
            .field("gaps", &self.gaps)
            .field("arrays", &self.arrays)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

impl Record {
    /// A record of these channels, whose samples `samples` delivers in the same order.
    pub fn new(
        format: Format,
        kind: Kind,
        source: Source,
        channels: Vec<Channel>,
        samples: Arc<dyn SampleSource>,
    ) -> Self {
        Self {
            format,
            kind,
            source,
            start: None,
            identity: Identity::default(),
            channels,
            time_axis: TimeAxis::Regular,
            annotations: Vec::new(),
            gaps: Vec::new(),
            arrays: Vec::new(),
            grid: None,
            warnings: Vec::new(),
            undecided: Vec::new(),
            sheets: Vec::new(),
            samples,
        }
    }

    /// The same record with its samples from elsewhere.
    pub(super) fn with_samples(mut self, samples: Arc<dyn SampleSource>) -> Self {
        self.samples = samples;
        self
    }

    /// The same record without patient, recording and date: it begins on 1 January 1985, as the format's own
    /// tools write an unknown date, at its time of day. Texts of annotations stay.
    pub fn anonymised(&self) -> Self {
        let at_same_time = |start: StartTime| {
            let time = (start.hour, start.minute, start.second);
            StartTime::new((1985, 1, 1), time, start.nanosecond)
        };
        Self {
            identity: Identity::default(),
            start: self.start.and_then(at_same_time),
            ..self.clone()
        }
    }

    /// A record made in memory; each channel's `n_samples` is set from its samples.
    pub fn in_memory(
        format: Format,
        kind: Kind,
        name: &str,
        data: Vec<(Channel, Vec<f64>)>,
    ) -> Self {
        let mut channels = Vec::with_capacity(data.len());
        let mut memory = MemorySamples::default();
        for (mut channel, values) in data {
            channel.n_samples = values.len();
            channels.push(channel);
            memory.channels.push(values);
        }
        let source = Source::new(Path::new(name), 0);
        Self::new(format, kind, source, channels, Arc::new(memory))
    }

    /// Samples `range` of a channel, in the channel's unit.
    pub fn read(&self, channel: usize, range: Range<usize>) -> Result<Vec<f64>, ReadError> {
        self.check_range(channel, &range)?;
        let mut values = vec![0.0; range.len()];
        self.samples.read(channel, range.start, &mut values)?;
        Ok(values)
    }

    /// Fills `out` with samples of a channel from number `first`.
    pub fn read_into(
        &self,
        channel: usize,
        first: usize,
        out: &mut [f64],
    ) -> Result<(), ReadError> {
        self.check_range(channel, &(first..first.saturating_add(out.len())))?;
        self.samples.read(channel, first, out)
    }

    /// Fills one vector per channel with samples from number `first`.
    pub fn read_all_into(&self, first: usize, out: &mut [Vec<f64>]) -> Result<(), ReadError> {
        for (channel, values) in out.iter().enumerate() {
            self.check_range(channel, &(first..first.saturating_add(values.len())))?;
        }
        self.samples.read_all(first, out)
    }

    /// All samples of a channel.
    pub fn read_channel(&self, channel: usize) -> Result<Vec<f64>, ReadError> {
        let n_samples = self.channels.get(channel).map_or(0, |c| c.n_samples);
        self.read(channel, 0..n_samples)
    }

    /// The stored array called `name`, as f64, in the shape listed in `arrays`.
    pub fn array(&self, name: &str) -> Result<ArrayD<f64>, ReadError> {
        match self.samples.array(name)? {
            Some(array) => Ok(array),
            None => Err(self.not_there(
                format!("array {name:?}"),
                first_names(self.arrays.iter().map(|array| array.name.as_str())),
            )),
        }
    }

    /// The entries of a matrix at some places of an axis: see [`SampleSource::slices`].
    pub(crate) fn slices(
        &self,
        name: &str,
        axis: usize,
        first: usize,
        out: &mut [f64],
    ) -> Result<bool, ReadError> {
        self.samples.slices(name, axis, first, out)
    }

    /// How a channel is stored as whole numbers, if it is.
    pub fn quantisation(&self, channel: usize) -> Option<Quantisation> {
        self.samples.quantisation(channel)
    }

    /// Position of the first channel called `name`.
    pub fn channel_index(&self, name: &str) -> Option<usize> {
        self.channels
            .iter()
            .position(|channel| channel.name == name)
    }

    /// Names of the first channels, for messages; digital ones measure nothing and are left out.
    pub fn first_channel_names(&self) -> String {
        let is_digital = |channel: &&Channel| matches!(channel.kind, ChannelKind::Digital { .. });
        let named = self.channels.iter().filter(|channel| !is_digital(channel));
        first_names(named.map(|channel| channel.name.as_str()))
    }

    /// Time from the first sample to the end of the last, gaps included.
    pub fn duration_s(&self) -> Option<f64> {
        let ends = (0..self.channels.len()).filter_map(|channel| self.end_s(channel));
        ends.reduce(f64::max)
    }

    /// Time of a sample, counted from the first.
    pub fn time_s(&self, channel: usize, sample: usize) -> Option<f64> {
        match &self.time_axis {
            TimeAxis::Stamps(stamps) => stamps.get(sample).copied(),
            TimeAxis::Sections(sections) => {
                let section = sections
                    .iter()
                    .rev()
                    .find(|section| section.first_sample <= sample)?;
                let inside = (sample - section.first_sample) as f64;
                Some(section.onset_s + inside / section.rate_hz)
            }
            TimeAxis::Regular => {
                let rate_hz = self.channels.get(channel)?.rate_hz?;
                let mut segments = self.segments(channel).into_iter().rev();
                let segment = segments.find(|segment| segment.first_sample <= sample)?;
                let inside = (sample - segment.first_sample) as f64;
                Some(segment.onset_s + inside / rate_hz)
            }
        }
    }

    /// The stretches of a channel between gaps; one if there is none.
    pub fn segments(&self, channel: usize) -> Vec<Segment> {
        let Some(channel) = self.channels.get(channel) else {
            return Vec::new();
        };
        let mut segments = vec![Segment {
            onset_s: 0.0,
            first_sample: 0,
            n_samples: channel.n_samples,
        }];
        let Some(rate_hz) = channel.rate_hz else {
            return segments;
        };
        let mut lost_s = 0.0;
        for gap in &self.gaps {
            // Negative or NaN becomes 0 in the cast, too large is cut below.
            let before = ((gap.onset_s - lost_s) * rate_hz).round() as usize;
            lost_s += gap.duration_s;
            let Some(last) = segments.last_mut() else {
                break;
            };
            let first_sample = before.clamp(last.first_sample, channel.n_samples);
            last.n_samples = first_sample - last.first_sample;
            segments.push(Segment {
                onset_s: gap.onset_s + gap.duration_s,
                first_sample,
                n_samples: channel.n_samples - first_sample,
            });
        }
        segments.retain(|segment| segment.n_samples > 0);
        segments
    }

    fn end_s(&self, channel: usize) -> Option<f64> {
        match &self.time_axis {
            TimeAxis::Regular => {
                let rate_hz = self.channels.get(channel)?.rate_hz?;
                let segment = self.segments(channel).pop()?;
                Some(segment.onset_s + segment.n_samples as f64 / rate_hz)
            }
            TimeAxis::Sections(sections) => {
                let section = sections.last()?;
                Some(section.onset_s + section.n_samples as f64 / section.rate_hz)
            }
            // The last interval stands for the one after it.
            TimeAxis::Stamps(stamps) => match **stamps {
                [.., before, last] => Some(last + (last - before)),
                [only] => Some(only),
                [] => None,
            },
        }
    }

    fn check_range(&self, channel: usize, range: &Range<usize>) -> Result<(), ReadError> {
        let Some(known) = self.channels.get(channel) else {
            let has = format!("{} channels", self.channels.len());
            return Err(self.not_there(format!("channel number {channel}"), has));
        };
        if range.start <= range.end && range.end <= known.n_samples {
            return Ok(());
        }
        Err(self.not_there(
            format!("sample {} of channel {:?}", range.end, known.name),
            format!("{} samples", known.n_samples),
        ))
    }

    fn not_there(&self, what: String, has: String) -> ReadError {
        ReadError::NotThere {
            path: self.source.path.clone(),
            what,
            has,
        }
    }
}

/// The first of some names, for messages.
pub(crate) fn first_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 20;
    let list: Vec<&str> = names.collect();
    match list.len() {
        0 => "none".to_owned(),
        1..=MOST => list.join(", "),
        more => format!("{} and {} more", list[..MOST].join(", "), more - MOST),
    }
}
