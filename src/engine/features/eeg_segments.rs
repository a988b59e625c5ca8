//! Groups of features of EEG segments, computed: one segment of a recording after the other, then what needs the
//! whole recording.

use std::borrow::Cow;
use std::ops::Range;

use super::covariance::{
    CovarianceLogarithm, Spectra, between, delay_covariance, mean_power, push_triangle, shrink,
    triangle_length,
};
use super::eeg::{check_frame, frame_length, hop};
use super::eeg_frames::{RecordingChannels, SampleMaker};
use super::eeg_groups::{
    CovarianceGroup, EegGroup, EegGroupsRecipe, Placement, Recentring, Reference,
};
use super::{
    Extraction, FeatureError, FeatureGroup, GroupKind, RejectReason, RejectedStretch, Sample,
    Stretch,
};
use crate::math::{Matrix, NotConverged};
use crate::records::Record;
use crate::settings::SettingProblem;

/// Most features of a sample: 500 channels in one band.
const MAX_FEATURES: usize = 130_000;

/// Names of the shape measures, in order.
const SHAPE_NAMES: [&str; 9] = [
    "ln variance",
    "ln slope variance ratio",
    "ln curvature variance ratio",
    "ln mean slope",
    "ln peak",
    "ln steepest slope",
    "ln kurtosis",
    "ln slope kurtosis",
    "skewness",
];

/// Makes the samples of a recording; with `stretches`, of its labelled stretches. Each is given to `take`.
pub(super) fn extract(
    recipe: &EegGroupsRecipe,
    record: &Record,
    stretches: Option<&[Stretch]>,
    take: &mut dyn FnMut(Sample),
    keep_going: &mut dyn FnMut(f64) -> bool,
) -> Result<Extraction, FeatureError> {
    let sampled = RecordingChannels::new(record, &recipe.channels)?;
    let mut maker = SegmentMaker::new(recipe, &sampled.names, sampled.rate_hz)?;
    let mut extraction = Extraction {
        feature_groups: maker.feature_groups(),
        label_slack_s: match recipe.placement {
            Placement::Consecutive { .. } => 0.0,
            // A stretch starts between two samples of the recording.
            Placement::Stretches { .. } => 1.0 / sampled.rate_hz,
        },
        ..Extraction::new(maker.feature_names(), super::Layout::Plain)
    };
    let moved: Option<Vec<Stretch>> = match (recipe.placement, stretches) {
        (Placement::Stretches { offset_s }, Some(stretches)) => {
            let moved = stretches.iter().map(|stretch| Stretch {
                start_s: stretch.start_s + offset_s,
                end_s: stretch.end_s,
            });
            Some(moved.collect())
        }
        _ => None,
    };
    let moved = moved.as_deref();
    let mut share_before = 0.0;
    if maker.needs_means() {
        share_before = 0.5;
        let (mut seen, mut left_out) = (|_| {}, Vec::new());
        let mut go_on = |share: f64| keep_going(share_before * share);
        sampled.make_samples(&mut maker, moved, &mut seen, &mut left_out, &mut go_on)?;
        maker.end_of_first_pass()?;
    }
    let mut go_on = |share: f64| keep_going(share_before + (1.0 - share_before) * share);
    let n_samples =
        sampled.fill_extraction(&mut maker, moved, &mut extraction, take, &mut go_on)?;
    extraction.notes.extend(maker.notes(n_samples));
    Ok(extraction)
}

/// The steps from a segment to the features of a band, each to be looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct CovarianceSteps {
    /// The band.
    pub band: String,
    /// The channels: rows and columns.
    pub channels: Vec<String>,
    /// The covariance as it was measured.
    pub measured: Matrix,
    /// Free of gain, where the recipe asks for it, and shrunk.
    pub shrunk: Matrix,
    /// Its logarithm; re-centring comes later, over the recording.
    pub logarithm: Matrix,
}

/// The steps of every covariance band of the segment that starts at `start_s`, or the next place where one fits.
pub fn covariance_steps(
    recipe: &EegGroupsRecipe,
    record: &Record,
    start_s: f64,
) -> Result<Vec<CovarianceSteps>, FeatureError> {
    let sampled = RecordingChannels::new(record, &recipe.channels)?;
    let mut maker = SegmentMaker::new(recipe, &sampled.names, sampled.rate_hz)?;
    let values = sampled.segment_at(start_s, maker.length)?;
    let mut views: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    let mut referenced = Vec::new();
    if recipe.reference == Reference::Average {
        against_average(&views, &mut referenced);
        views = referenced.iter().map(Vec::as_slice).collect();
    }
    maker.spectra.transform(&views);
    let mut steps = Vec::new();
    for group in &maker.groups {
        let GroupWork::Covariance(group, bands) = group else {
            continue;
        };
        let measured = measured(&maker.spectra, bands);
        let mut all = measured.clone();
        // A band without power has no logarithm, so its segment is no sample.
        normalise(group, &mut all).map_err(|_silent| FeatureError::NoValues)?;
        for ((band, measured), shrunk) in bands.iter().zip(measured).zip(all) {
            let mut logarithm = Matrix::default();
            maker
                .logarithm
                .logarithm(&shrunk, group.shrinkage, &mut logarithm)
                .map_err(|_not_converged| FeatureError::NoValues)?;
            steps.push(CovarianceSteps {
                band: band.name.clone(),
                channels: sampled.names.clone(),
                measured,
                shrunk,
                logarithm,
            });
        }
    }
    Ok(steps)
}

/// A band of a covariance group at work.
#[derive(Clone)]
struct BandWork {
    name: String,
    lines: Range<usize>,
    /// Sum of the logarithms of the recording's covariances so far, and how many.
    sum: Matrix,
    n_summed: usize,
    /// exp(−½ mean log C) of the whole recording, once it is known.
    whitening: Option<Matrix>,
}

/// A group at work.
#[derive(Clone)]
enum GroupWork {
    Covariance(CovarianceGroup, Vec<BandWork>),
    LogBands(Vec<(String, Range<usize>)>),
    Shape,
    Delays {
        n_delays: usize,
        step: usize,
        shrinkage: f64,
    },
}

/// A recipe at work on one recording.
pub struct SegmentMaker<'a> {
    recipe: Cow<'a, EegGroupsRecipe>,
    names: Cow<'a, [String]>,
    rate_hz: f64,
    length: usize,
    hop: usize,
    spectra: Spectra,
    groups: Vec<GroupWork>,
    logarithm: CovarianceLogarithm,
    matrices: [Matrix; 3],
    referenced: Vec<Vec<f64>>,
    /// Bands that reach above half the rate.
    cut_bands: Vec<String>,
    /// Smallest rank of a covariance that lacked some, and how many did.
    deficient: Option<(usize, usize)>,
    /// Segments in which each channel is flat.
    n_flat: Vec<usize>,
}

impl<'a> SegmentMaker<'a> {
    /// Prepares the recipe for channels of one sampling rate.
    pub fn new(
        recipe: &'a EegGroupsRecipe,
        names: &'a [String],
        rate_hz: f64,
    ) -> Result<Self, FeatureError> {
        Self::assemble(Cow::Borrowed(recipe), Cow::Borrowed(names), rate_hz)
    }

    /// The same; it may own recipe and names, and then lives as long as a stream does.
    pub(super) fn assemble(
        recipe: Cow<'a, EegGroupsRecipe>,
        names: Cow<'a, [String]>,
        rate_hz: f64,
    ) -> Result<Self, FeatureError> {
        if let Some(problem) = recipe.problems().into_iter().next() {
            return Err(FeatureError::Recipe(problem));
        }
        let length = frame_length(recipe.segment_s, rate_hz)?;
        let overlap = match recipe.placement {
            Placement::Consecutive { overlap } => overlap,
            Placement::Stretches { .. } => 0.0,
        };
        let (low_hz, high_hz) = frequency_range(&recipe.groups);
        let groups = recipe.groups.clone();
        let mut maker = Self {
            n_flat: vec![0; names.len()],
            recipe,
            names,
            rate_hz,
            length,
            hop: hop(length, overlap),
            spectra: Spectra::new(length, rate_hz, low_hz, high_hz),
            groups: Vec::new(),
            logarithm: CovarianceLogarithm::default(),
            matrices: Default::default(),
            referenced: Vec::new(),
            cut_bands: Vec::new(),
            deficient: None,
        };
        for group in &groups {
            let work = maker.work(group)?;
            maker.groups.push(work);
        }
        let n_features = maker.feature_groups().iter().map(|g| g.n_features).sum();
        if n_features > MAX_FEATURES {
            return Err(FeatureError::TooManyFeatures {
                found: n_features,
                most: MAX_FEATURES,
            });
        }
        Ok(maker)
    }

    fn work(&mut self, group: &EegGroup) -> Result<GroupWork, FeatureError> {
        let nyquist_hz = self.rate_hz / 2.0;
        Ok(match group {
            EegGroup::Covariance(group) => {
                let p = self.names.len();
                let mut bands = Vec::with_capacity(group.bands.len());
                for band in &group.bands {
                    let lines = self.spectra.lines_between(band.low_hz, band.high_hz);
                    if lines.is_empty() {
                        return Err(FeatureError::BandWithoutLine {
                            band: band.name.clone(),
                            low_hz: band.low_hz,
                            high_hz: band.high_hz,
                            resolution_hz: self.spectra.resolution_hz(),
                            nyquist_hz,
                        });
                    }
                    if band.high_hz > nyquist_hz {
                        self.cut_bands.push(band.name.clone());
                    }
                    bands.push(BandWork {
                        name: band.name.clone(),
                        lines,
                        sum: Matrix::zeros(p, p),
                        n_summed: 0,
                        whitening: None,
                    });
                }
                GroupWork::Covariance(group.clone(), bands)
            }
            EegGroup::LogBands { edges_hz } => {
                let pairs = edges_hz.windows(2).filter(|pair| pair[1] <= nyquist_hz);
                let bands = pairs.map(|pair| {
                    let name = format!("{}–{} Hz", pair[0], pair[1]);
                    (name, self.spectra.lines_between(pair[0], pair[1]))
                });
                let bands: Vec<_> = bands.filter(|(_, lines)| !lines.is_empty()).collect();
                if bands.is_empty() {
                    return Err(FeatureError::BandWithoutLine {
                        band: "fine bands".into(),
                        low_hz: edges_hz[0],
                        high_hz: edges_hz[edges_hz.len() - 1],
                        resolution_hz: self.spectra.resolution_hz(),
                        nyquist_hz,
                    });
                }
                GroupWork::LogBands(bands)
            }
            EegGroup::Shape => GroupWork::Shape,
            EegGroup::DelayCovariance {
                n_delays,
                step,
                shrinkage,
            } => {
                let reach = (n_delays - 1) * step;
                if reach >= self.length {
                    return Err(FeatureError::Recipe(SettingProblem {
                        field: "n_delays".into(),
                        message: format!(
                            "delays reach over {reach} values, but a segment of {} s at {} Hz has {}: use fewer or longer segments",
                            self.recipe.segment_s, self.rate_hz, self.length
                        ),
                    }));
                }
                GroupWork::Delays {
                    n_delays: *n_delays,
                    step: *step,
                    shrinkage: *shrinkage,
                }
            }
        })
    }

    /// The groups of features, in their order.
    pub fn feature_groups(&self) -> Vec<FeatureGroup> {
        let p = self.names.len();
        let mut found = Vec::new();
        let mut add = |name: String, n_features, kind| {
            found.push(FeatureGroup {
                name,
                n_features,
                kind,
            });
        };
        for group in &self.groups {
            match group {
                GroupWork::Covariance(group, bands) => {
                    for band in bands {
                        let kind = GroupKind::Covariance {
                            channels: self.names.to_vec(),
                            recentred: group.recentring != Recentring::Off,
                        };
                        add(band.name.clone(), triangle_length(p), kind);
                    }
                }
                GroupWork::LogBands(bands) => {
                    add("fine bands".into(), p * bands.len(), GroupKind::Values);
                }
                GroupWork::Shape => add("shape".into(), p * SHAPE_NAMES.len(), GroupKind::Values),
                GroupWork::Delays { n_delays, step, .. } => {
                    for name in self.names.iter() {
                        let kind = GroupKind::DelayCovariance {
                            n_delays: *n_delays,
                            step_s: *step as f64 / self.rate_hz,
                        };
                        add(
                            format!("delays of {name}"),
                            triangle_length(*n_delays),
                            kind,
                        );
                    }
                }
            }
        }
        found
    }

    /// Names of the features, in their order.
    pub fn feature_names(&self) -> Vec<String> {
        let mut found = Vec::new();
        for group in &self.groups {
            match group {
                GroupWork::Covariance(_, bands) => {
                    for band in bands {
                        for (i, a) in self.names.iter().enumerate() {
                            found.push(format!("{} {a}", band.name));
                            let others = self.names[i + 1..].iter();
                            found.extend(others.map(|b| format!("{} {a} × {b}", band.name)));
                        }
                    }
                }
                GroupWork::LogBands(bands) => {
                    for name in self.names.iter() {
                        found.extend(bands.iter().map(|(band, _)| format!("{name} {band}")));
                    }
                }
                GroupWork::Shape => {
                    for name in self.names.iter() {
                        found.extend(SHAPE_NAMES.iter().map(|shape| format!("{name} {shape}")));
                    }
                }
                GroupWork::Delays { n_delays, step, .. } => {
                    for name in self.names.iter() {
                        for i in 0..*n_delays {
                            let delays = (i..*n_delays).map(|j| (i * step, j * step));
                            found.extend(delays.map(|(i, j)| format!("{name} delays {i} × {j}")));
                        }
                    }
                }
            }
        }
        found
    }

    /// The features of one segment. In the first pass over a recording whose mean is needed, what is re-centred on the
    /// mean is only summed.
    fn features(&mut self, segment: &[&[f64]]) -> Result<Vec<f64>, RejectReason> {
        for (channel, n_flat) in segment.iter().zip(&mut self.n_flat) {
            *n_flat += usize::from(channel.windows(2).all(|pair| pair[0] == pair[1]));
        }
        let referenced = match self.recipe.reference {
            Reference::AsRecorded => None,
            Reference::Average => {
                against_average(segment, &mut self.referenced);
                Some(std::mem::take(&mut self.referenced))
            }
        };
        let views: Vec<&[f64]> = match &referenced {
            None => segment.to_vec(),
            Some(channels) => channels.iter().map(Vec::as_slice).collect(),
        };
        let made = self.features_of(&views);
        drop(views);
        self.referenced = referenced.unwrap_or_default();
        let values = made?;
        match values.iter().all(|value| value.is_finite()) {
            true => Ok(values),
            false => Err(RejectReason::Overflow),
        }
    }

    fn features_of(&mut self, segment: &[&[f64]]) -> Result<Vec<f64>, RejectReason> {
        self.spectra.transform(segment);
        let mut values = Vec::new();
        let mut groups = std::mem::take(&mut self.groups);
        let outcome = groups
            .iter_mut()
            .try_for_each(|group| self.group_features(group, segment, &mut values));
        self.groups = groups;
        outcome.map(|()| values)
    }

    fn group_features(
        &mut self,
        group: &mut GroupWork,
        segment: &[&[f64]],
        values: &mut Vec<f64>,
    ) -> Result<(), RejectReason> {
        match group {
            GroupWork::Covariance(group, bands) => self.covariances(group, bands, values),
            GroupWork::LogBands(bands) => {
                for channel in 0..segment.len() {
                    let densities = bands.iter().map(|(_, l)| self.spectra.density(channel, l));
                    values.extend(densities.map(|density| (density + 1e-3).ln()));
                }
                Ok(())
            }
            GroupWork::Shape => {
                segment
                    .iter()
                    .for_each(|channel| values.extend(shape(channel)));
                Ok(())
            }
            GroupWork::Delays {
                n_delays,
                step,
                shrinkage,
            } => {
                for channel in segment {
                    let mean = channel.iter().sum::<f64>() / channel.len() as f64;
                    let centred: Vec<f64> = channel.iter().map(|x| x - mean).collect();
                    let [matrix, logarithm, _] = &mut self.matrices;
                    delay_covariance(&centred, *n_delays, *step, matrix);
                    if mean_power(matrix) <= 0.0 {
                        return Err(RejectReason::Silent);
                    }
                    shrink(matrix, *shrinkage);
                    self.logarithm
                        .logarithm(matrix, *shrinkage, logarithm)
                        .map_err(overflow)?;
                    push_triangle(logarithm, values);
                }
                Ok(())
            }
        }
    }

    fn covariances(
        &mut self,
        group: &CovarianceGroup,
        bands: &mut [BandWork],
        values: &mut Vec<f64>,
    ) -> Result<(), RejectReason> {
        let mut all = measured(&self.spectra, bands);
        normalise(group, &mut all)?;
        let mut smallest = None;
        for (covariance, band) in all.iter().zip(bands) {
            let [logarithm, whitening, centred] = &mut self.matrices;
            let rank = self
                .logarithm
                .logarithm(covariance, group.shrinkage, logarithm)
                .map_err(overflow)?;
            if rank < covariance.rows() {
                smallest = Some(smallest.map_or(rank, |least: usize| least.min(rank)));
            }
            match group.recentring {
                Recentring::Off => push_triangle(logarithm, values),
                Recentring::WholeRecording => match &band.whitening {
                    None => band.add(logarithm),
                    Some(whitening) => {
                        between(whitening, covariance, centred);
                        self.logarithm
                            .logarithm(centred, 0.0, logarithm)
                            .map_err(overflow)?;
                        push_triangle(logarithm, values);
                    }
                },
                Recentring::Causal => {
                    band.add(logarithm);
                    self.logarithm
                        .whitening(&band.mean(), whitening)
                        .map_err(overflow)?;
                    between(whitening, covariance, centred);
                    self.logarithm
                        .logarithm(centred, 0.0, logarithm)
                        .map_err(overflow)?;
                    push_triangle(logarithm, values);
                }
            }
        }
        if let Some(rank) = smallest {
            let (least, count) = self.deficient.unwrap_or((rank, 0));
            self.deficient = Some((least.min(rank), count + 1));
        }
        Ok(())
    }

    /// Whether a first pass over the recording has to find the means of its covariances.
    fn needs_means(&self) -> bool {
        self.groups.iter().any(|group| {
            matches!(group, GroupWork::Covariance(group, _) if group.recentring == Recentring::WholeRecording)
        })
    }

    /// Fixes the means that the covariances of the second pass are seen relative to, and counts anew.
    fn end_of_first_pass(&mut self) -> Result<(), FeatureError> {
        self.n_flat.fill(0);
        self.deficient = None;
        for group in &mut self.groups {
            let GroupWork::Covariance(_, bands) = group else {
                continue;
            };
            for band in bands {
                let mut whitening = Matrix::default();
                self.logarithm
                    .whitening(&band.mean(), &mut whitening)
                    .map_err(|_not_converged| FeatureError::NoValues)?;
                band.whitening = Some(whitening);
            }
        }
        Ok(())
    }

    /// What to know of the recording: flat channels, missing rank, bands cut by the rate.
    fn notes(&self, n_samples: usize) -> Vec<String> {
        let mut notes = Vec::new();
        let flat = self.names.iter().zip(&self.n_flat).filter(|(_, n)| **n > 0);
        let flat: Vec<String> = flat.map(|(name, n)| format!("{name} in {n}")).collect();
        if !flat.is_empty() {
            notes.push(format!(
                "flat channels, by number of segments: {} (of {n_samples})",
                flat.join(", ")
            ));
        }
        if let Some((rank, count)) = self.deficient {
            let p = self.names.len();
            let reason = match self.recipe.reference {
                Reference::Average => "the average reference takes one dimension away",
                Reference::AsRecorded => {
                    "channels that are flat, interpolated or re-referenced, or fewer values than channels"
                }
            };
            notes.push(format!(
                "the covariance of {count} of {n_samples} segments has rank {rank} or more of {p} ({reason}): shrinkage stands in for what is missing"
            ));
        }
        if !self.cut_bands.is_empty() {
            notes.push(format!(
                "bands that reach only to half the sampling rate, {} Hz: {}",
                self.rate_hz / 2.0,
                self.cut_bands.join(", ")
            ));
        }
        notes
    }
}

impl BandWork {
    fn add(&mut self, logarithm: &Matrix) {
        for j in 0..logarithm.cols() {
            for (sum, value) in self.sum.col_mut(j).iter_mut().zip(logarithm.col(j)) {
                *sum += value;
            }
        }
        self.n_summed += 1;
    }

    fn mean(&self) -> Matrix {
        let mut mean = self.sum.clone();
        mean.scale(1.0 / self.n_summed.max(1) as f64);
        mean
    }
}

impl SampleMaker for SegmentMaker<'_> {
    fn sample_length(&self) -> usize {
        self.length
    }

    fn sample_hop(&self) -> usize {
        self.hop
    }

    fn sample(
        &mut self,
        stretch: &[&[f64]],
        start_s: f64,
        channel_names: &[String],
        rejected: &mut Vec<RejectedStretch>,
    ) -> Option<Sample> {
        let name = |channel: usize| channel_names.get(channel).cloned().unwrap_or_default();
        let limit = self.recipe.max_peak_to_peak;
        let checked = stretch
            .iter()
            .enumerate()
            .try_for_each(|(channel, values)| check_frame(values, limit, || name(channel)));
        let duration_s = self.length as f64 / self.rate_hz;
        match checked.and_then(|()| self.features(stretch)) {
            Ok(values) => Some(Sample {
                start_s,
                duration_s,
                values,
            }),
            Err(reason) => {
                rejected.push(RejectedStretch {
                    start_s,
                    duration_s,
                    reason,
                });
                None
            }
        }
    }
}

/// The covariance of every band of the segment that was transformed last.
fn measured(spectra: &Spectra, bands: &[BandWork]) -> Vec<Matrix> {
    let of_band = |band: &BandWork| {
        let mut covariance = Matrix::default();
        spectra.covariance(&band.lines, &mut covariance);
        covariance
    };
    bands.iter().map(of_band).collect()
}

/// Takes the gain out of the covariances of a segment, where the group asks for it, and shrinks them.
fn normalise(group: &CovarianceGroup, all: &mut [Matrix]) -> Result<(), RejectReason> {
    let powers: Vec<f64> = all.iter().map(mean_power).collect();
    if powers.iter().any(|power| *power <= 0.0) {
        return Err(RejectReason::Silent);
    }
    let gain = powers.iter().sum::<f64>() / powers.len() as f64;
    for covariance in all {
        if group.gain_normalised {
            covariance.scale(1.0 / gain);
        }
        shrink(covariance, group.shrinkage);
    }
    Ok(())
}

fn overflow(_: NotConverged) -> RejectReason {
    RejectReason::Overflow
}

/// Lowest and highest frequency that the groups ask for.
fn frequency_range(groups: &[EegGroup]) -> (f64, f64) {
    let mut range = (f64::INFINITY, 0.0f64);
    let mut widen = |low_hz: f64, high_hz: f64| {
        range = (range.0.min(low_hz), range.1.max(high_hz));
    };
    for group in groups {
        match group {
            EegGroup::Covariance(group) => {
                group.bands.iter().for_each(|b| widen(b.low_hz, b.high_hz));
            }
            EegGroup::LogBands { edges_hz } => {
                if let (Some(low_hz), Some(high_hz)) = (edges_hz.first(), edges_hz.last()) {
                    widen(*low_hz, *high_hz);
                }
            }
            EegGroup::Shape | EegGroup::DelayCovariance { .. } => {}
        }
    }
    range
}

/// Every channel without the mean of all.
fn against_average(segment: &[&[f64]], referenced: &mut Vec<Vec<f64>>) {
    let length = segment.first().map_or(0, |channel| channel.len());
    let mut mean = vec![0.0; length];
    for channel in segment {
        for (sum, value) in mean.iter_mut().zip(*channel) {
            *sum += value / segment.len() as f64;
        }
    }
    referenced.resize_with(segment.len(), Vec::new);
    for (out, channel) in referenced.iter_mut().zip(segment) {
        out.clear();
        out.extend(channel.iter().zip(&mean).map(|(value, mean)| value - mean));
    }
}

/// The shape measures of a channel: x without its mean, d1 and d2 its first and second differences.
fn shape(channel: &[f64]) -> [f64; 9] {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let differences =
        |values: &[f64]| -> Vec<f64> { values.windows(2).map(|pair| pair[1] - pair[0]).collect() };
    // Not quite the variance: never 0, so that logarithms and quotients exist.
    let spread = |values: &[f64]| {
        let centre = mean(values);
        let squares: f64 = values.iter().map(|x| (x - centre).powi(2)).sum();
        squares / values.len().max(1) as f64 + 1e-6
    };
    let moment = |values: &[f64], power: i32| {
        values.iter().map(|x| x.powi(power)).sum::<f64>() / values.len().max(1) as f64
    };
    let size = |values: &[f64]| -> Vec<f64> { values.iter().map(|x| x.abs()).collect() };
    let largest = |values: &[f64]| values.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let centre = mean(channel);
    let x: Vec<f64> = channel.iter().map(|value| value - centre).collect();
    let d1 = differences(&x);
    let d2 = differences(&d1);
    let (v, v1, v2) = (spread(&x), spread(&d1), spread(&d2));
    [
        v.ln(),
        (v1 / v).ln(),
        (v2 / v1).ln(),
        (mean(&size(&d1)) + 1e-3).ln(),
        (largest(&x) + 1e-3).ln(),
        (largest(&d1) + 1e-3).ln(),
        // A flat channel has no kurtosis; the smallest positive number stands for it.
        (moment(&x, 4) / (v * v)).max(1e-12).ln(),
        (moment(&d1, 4) / (v1 * v1)).max(1e-12).ln(),
        (moment(&x, 3) / v.powf(1.5)).clamp(-4.0, 4.0),
    ]
}
