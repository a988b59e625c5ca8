//! Band features of EEG frames: the paper's mean amplitudes, their logarithm, Welch band power.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::eeg_frames::SampleMaker;
use super::filter::{Filter, FilterDesign, MAX_ORDER, Passband, Prototype};
use super::spectrum::{Welch, band_power};
use super::{FeatureError, Layout, RejectReason, RejectedStretch, Sample, is_positive};
use crate::settings::{SettingProblem, SettingProblems};

/// The longest frame, in samples, that a recipe may ask for: an hour at 4 kHz.
const MAX_FRAME_LENGTH: f64 = 14_400_000.0;

/// The largest overlap: more would make many samples out of the same values.
pub(super) const MAX_OVERLAP: f64 = 0.95;

/// A frequency band with a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// What the band is called, such as "alpha".
    pub name: String,
    /// Lower limit; 0 for a band that starts at rest.
    pub low_hz: f64,
    /// Upper limit.
    pub high_hz: f64,
}

impl Band {
    /// A band between two frequencies.
    pub fn new(name: &str, low_hz: f64, high_hz: f64) -> Self {
        Self {
            name: name.to_owned(),
            low_hz,
            high_hz,
        }
    }

    fn width_hz(&self) -> f64 {
        self.high_hz - self.low_hz
    }

    /// A band must rise.
    pub(super) fn check_limits(&self, problems: &mut SettingProblems) {
        let Self {
            name,
            low_hz,
            high_hz,
        } = self;
        let text = format!(
            "band {name} must rise from 0 Hz or more, but goes from {low_hz} to {high_hz} Hz"
        );
        let rises = *low_hz >= 0.0 && high_hz > low_hz && high_hz.is_finite();
        problems.require(rises, "bands", text);
    }
}

/// Which channels of a recording are used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ChannelChoice {
    /// Every signal channel, in the order of the file.
    All,
    /// The named channels, in this order.
    Named(Vec<String>),
}

impl ChannelChoice {
    /// Channels are named once.
    pub(super) fn check(&self, problems: &mut SettingProblems) {
        if let Self::Named(names) = self {
            let unique: BTreeSet<_> = names.iter().collect();
            let named_once = !names.is_empty() && unique.len() == names.len();
            let text = "name at least one channel, and none twice".to_owned();
            problems.require(named_once, "channels", text);
        }
    }
}

/// What is measured in each band of a frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum EegMeasure {
    /// Mean absolute value of the band-filtered frame divided by the width of the band (the paper's feature).
    /// Bands that start at 0 Hz are cut by a Chebyshev-I low-pass, the others by a Butterworth band-pass.
    Amplitude {
        /// How far the filter's edges lie outside the band (the paper: 0.5 Hz).
        edge_margin_hz: f64,
        /// Order of the filters, even (the paper: 10).
        order: usize,
        /// Passband ripple of the low-pass (the paper: 1 dB).
        ripple_db: f64,
    },
    /// Power of the band in Welch's spectrum of the frame.
    Power {
        /// Length of Welch's segments, at most the frame.
        segment_s: f64,
        /// Share of a segment that the next one repeats, 0 to 0.95.
        segment_overlap: f64,
        /// Divide by the power of the whole frame without its mean.
        relative: bool,
    },
}

/// How samples are made from an EEG recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EegRecipe {
    /// The channels used.
    pub channels: ChannelChoice,
    /// Length of a frame.
    pub frame_s: f64,
    /// Share of a frame that the next one repeats, 0 to 0.95.
    pub overlap: f64,
    /// The bands, in the order of the features.
    pub bands: Vec<Band>,
    /// What is measured in each band.
    pub measure: EegMeasure,
    /// Take the natural logarithm of every feature; the logarithm of 0 is a missing value.
    pub logarithm: bool,
    /// Number of successive frames whose features are averaged to one sample.
    pub frames_per_sample: usize,
    /// Leave out frames in which a channel swings by more than this, in µV (in the unit of the recording where that is no voltage).
    pub max_peak_to_peak: Option<f64>,
}

impl EegRecipe {
    /// The paper's recipe: 1 s frames, mean amplitude of delta, theta, alpha and beta in every channel.
    pub fn as_published() -> Self {
        Self {
            channels: ChannelChoice::All,
            frame_s: 1.0,
            overlap: 0.0,
            bands: vec![
                Band::new("delta", 0.0, 4.0),
                Band::new("theta", 4.0, 8.0),
                Band::new("alpha", 8.0, 13.0),
                Band::new("beta", 13.0, 31.0),
            ],
            measure: EegMeasure::Amplitude {
                edge_margin_hz: 0.5,
                order: 10,
                ripple_db: 1.0,
            },
            logarithm: false,
            frames_per_sample: 1,
            max_peak_to_peak: None,
        }
    }

    /// What is wrong with the settings, field by field; nothing when the recipe can be used.
    pub fn problems(&self) -> Vec<SettingProblem> {
        let mut problems = SettingProblems::default();
        self.channels.check(&mut problems);
        let text = format!(
            "frame length must be more than 0 s, but is {} s",
            self.frame_s
        );
        problems.require(is_positive(self.frame_s), "frame_s", text);
        let text = format!(
            "overlap must be 0 to {MAX_OVERLAP}, but is {}",
            self.overlap
        );
        problems.require(is_overlap(self.overlap), "overlap", text);
        let n_frames = self.frames_per_sample;
        let text = format!("frames per sample must be 1 to 10000, but is {n_frames}");
        problems.require((1..=10_000).contains(&n_frames), "frames_per_sample", text);
        check_peak_limit(self.max_peak_to_peak, &mut problems);
        let text = "at least one band is needed".to_owned();
        problems.require(!self.bands.is_empty(), "bands", text);
        self.bands
            .iter()
            .for_each(|band| band.check_limits(&mut problems));
        self.check_measure(&mut problems);
        problems.into_list()
    }

    fn check_measure(&self, problems: &mut SettingProblems) {
        match self.measure {
            EegMeasure::Amplitude {
                edge_margin_hz,
                order,
                ripple_db,
            } => {
                let text = format!("edge margin must be 0 Hz or more, but is {edge_margin_hz} Hz");
                let legal = edge_margin_hz >= 0.0 && edge_margin_hz.is_finite();
                problems.require(legal, "edge_margin_hz", text);
                let text =
                    format!("filter order must be even and 2 to {MAX_ORDER}, but is {order}");
                let legal = (2..=MAX_ORDER).contains(&order) && order.is_multiple_of(2);
                problems.require(legal, "order", text);
                let text =
                    format!("ripple must be more than 0 and at most 20 dB, but is {ripple_db} dB");
                problems.require(ripple_db > 0.0 && ripple_db <= 20.0, "ripple_db", text);
            }
            EegMeasure::Power {
                segment_s,
                segment_overlap,
                ..
            } => {
                let text = format!(
                    "Welch segments must be longer than 0 s and at most the frame of {} s, but are {segment_s} s",
                    self.frame_s
                );
                let legal = is_positive(segment_s) && segment_s <= self.frame_s;
                problems.require(legal, "segment_s", text);
                let text =
                    format!("segment overlap must be 0 to {MAX_OVERLAP}, but is {segment_overlap}");
                problems.require(is_overlap(segment_overlap), "segment_overlap", text);
            }
        }
    }

    /// The filter that cuts out a band; none where spectra measure it.
    pub fn filter_design(&self, band: &Band) -> Option<FilterDesign> {
        let EegMeasure::Amplitude {
            edge_margin_hz,
            order,
            ripple_db,
        } = self.measure
        else {
            return None;
        };
        let low_hz = band.low_hz - edge_margin_hz;
        let high_hz = band.high_hz + edge_margin_hz;
        Some(if low_hz <= 0.0 {
            FilterDesign {
                prototype: Prototype::Chebyshev1 { ripple_db },
                passband: Passband::Low { edge_hz: high_hz },
                order,
            }
        } else {
            FilterDesign {
                prototype: Prototype::Butterworth,
                passband: Passband::Band { low_hz, high_hz },
                order,
            }
        })
    }
}

impl EegRecipe {
    /// What of the default recipe short recordings of a low rate can carry: frames no longer than the shortest, bands
    /// below half the rate; the default where nothing of it is left.
    pub fn carried_by(shortest_s: f64, nyquist_hz: f64) -> Self {
        /// In less there is no rhythm to be found.
        const SHORTEST_S: f64 = 0.5;
        /// How far a filter reaches beyond the edge of its band.
        const SKIRT_HZ: f64 = 0.75;
        let mut recipe = Self::default();
        if (SHORTEST_S..recipe.frame_s).contains(&shortest_s) {
            recipe.frame_s = shortest_s;
        }
        let fits = |band: &Band| band.high_hz + SKIRT_HZ <= nyquist_hz;
        if recipe.bands.iter().any(fits) {
            recipe.bands.retain(fits);
        }
        recipe
    }
}

impl Default for EegRecipe {
    /// The published recipe on a logarithmic scale, which separates subjects it has not seen better.
    fn default() -> Self {
        Self {
            logarithm: true,
            ..Self::as_published()
        }
    }
}

impl SampleMaker for EegExtractor<'_> {
    fn sample_length(&self) -> usize {
        self.sample_length()
    }

    fn sample_hop(&self) -> usize {
        self.sample_hop()
    }

    fn sample(
        &mut self,
        stretch: &[&[f64]],
        start_s: f64,
        channel_names: &[String],
        rejected: &mut Vec<RejectedStretch>,
    ) -> Option<Sample> {
        self.sample(stretch, start_s, channel_names, rejected)
    }
}

/// The frequency analysis of one channel of a frame.
enum Analysis {
    Filters(Vec<(Filter, f64)>),
    Welch(Box<Welch>),
}

/// A recipe at work at one sampling rate.
pub struct EegExtractor<'a> {
    recipe: Cow<'a, EegRecipe>,
    rate_hz: f64,
    frame_length: usize,
    frame_hop: usize,
    analysis: Analysis,
    filtered: Vec<f64>,
}

impl<'a> EegExtractor<'a> {
    /// Prepares filters or spectra for a sampling rate.
    pub fn new(recipe: &'a EegRecipe, rate_hz: f64) -> Result<Self, FeatureError> {
        Self::assemble(Cow::Borrowed(recipe), rate_hz)
    }

    /// The same; it may own the recipe, and then lives as long as a stream does.
    pub(super) fn assemble(recipe: Cow<'a, EegRecipe>, rate_hz: f64) -> Result<Self, FeatureError> {
        if let Some(problem) = recipe.problems().into_iter().next() {
            return Err(FeatureError::Recipe(problem));
        }
        let frame_length = frame_length(recipe.frame_s, rate_hz)?;
        let frame_hop = hop(frame_length, recipe.overlap);
        let analysis = match recipe.measure {
            EegMeasure::Amplitude { .. } => {
                let mut filters = Vec::with_capacity(recipe.bands.len());
                for band in &recipe.bands {
                    if let Some(design) = recipe.filter_design(band) {
                        let design = up_to_half_the_rate(design, rate_hz);
                        let filter =
                            design
                                .at_rate(rate_hz)
                                .map_err(|source| FeatureError::Filter {
                                    band: band.name.clone(),
                                    source,
                                })?;
                        filters.push((filter, band.width_hz()));
                    }
                }
                Analysis::Filters(filters)
            }
            EegMeasure::Power {
                segment_s,
                segment_overlap,
                ..
            } => {
                let segment_length = (segment_s * rate_hz).round() as usize;
                let segment_hop = hop(segment_length, segment_overlap);
                let welch = Welch::new(segment_length, segment_hop, rate_hz);
                check_resolution(&recipe, &welch, rate_hz)?;
                Analysis::Welch(Box::new(welch))
            }
        };
        Ok(Self {
            recipe,
            rate_hz,
            frame_length,
            frame_hop,
            analysis,
            filtered: Vec::new(),
        })
    }

    /// Number of values of each channel that one sample is made of.
    pub fn sample_length(&self) -> usize {
        (self.recipe.frames_per_sample - 1) * self.frame_hop + self.frame_length
    }

    /// Distance between the starts of successive samples.
    pub fn sample_hop(&self) -> usize {
        self.recipe.frames_per_sample * self.frame_hop
    }

    /// Bands that reach above half the rate and are measured up to there.
    pub fn cut_bands(&self) -> Option<String> {
        let nyquist_hz = self.rate_hz / 2.0;
        let cut = self.recipe.bands.iter().filter(|b| b.high_hz > nyquist_hz);
        let names: Vec<&str> = cut.map(|band| band.name.as_str()).collect();
        (!names.is_empty()).then(|| {
            let names = names.join(", ");
            format!("bands that reach only to half the sampling rate, {nyquist_hz} Hz: {names}")
        })
    }

    /// Names of the features, band by band within channel by channel.
    pub fn feature_names(&self, channel_names: &[String]) -> Vec<String> {
        let bands = &self.recipe.bands;
        channel_names
            .iter()
            .flat_map(|channel| {
                bands
                    .iter()
                    .map(move |band| format!("{channel} {}", band.name))
            })
            .collect()
    }

    /// How the features of a sample lie side by side.
    pub fn layout(&self, n_channels: usize) -> Layout {
        Layout::ChannelBand {
            n_channels,
            n_bands: self.recipe.bands.len(),
        }
    }

    /// The sample made of one stretch (`sample_length` values of each channel, starting at `start_s`). Frames omitted
    /// are added to `rejected`; a sample that keeps less than half of its frames is omitted itself.
    pub fn sample(
        &mut self,
        stretch: &[&[f64]],
        start_s: f64,
        channel_names: &[String],
        rejected: &mut Vec<RejectedStretch>,
    ) -> Option<Sample> {
        let n_frames = self.recipe.frames_per_sample;
        let mut sums = vec![0.0; stretch.len() * self.recipe.bands.len()];
        let mut n_kept = 0;
        for frame in 0..n_frames {
            let first = frame * self.frame_hop;
            match self.frame(stretch, first, channel_names) {
                Ok(features) => {
                    n_kept += 1;
                    for (sum, feature) in sums.iter_mut().zip(features) {
                        *sum += feature;
                    }
                }
                Err(reason) => rejected.push(RejectedStretch {
                    start_s: start_s + first as f64 / self.rate_hz,
                    duration_s: self.frame_length as f64 / self.rate_hz,
                    reason,
                }),
            }
        }
        let duration_s = self.sample_length() as f64 / self.rate_hz;
        if 2 * n_kept < n_frames || n_kept == 0 {
            if n_frames > 1 {
                rejected.push(RejectedStretch {
                    start_s,
                    duration_s,
                    reason: RejectReason::TooFewFrames { n_kept, n_frames },
                });
            }
            return None;
        }
        for sum in &mut sums {
            *sum /= n_kept as f64;
            if self.recipe.logarithm {
                *sum = if *sum > 0.0 { sum.ln() } else { f64::NAN };
            }
        }
        Some(Sample {
            start_s,
            duration_s,
            values: sums,
        })
    }

    /// Features of the frame that starts `first` values into the stretch.
    fn frame(
        &mut self,
        stretch: &[&[f64]],
        first: usize,
        channel_names: &[String],
    ) -> Result<Vec<f64>, RejectReason> {
        let name = |channel: usize| channel_names.get(channel).cloned().unwrap_or_default();
        let mut features = Vec::with_capacity(stretch.len() * self.recipe.bands.len());
        for (channel, signal) in stretch.iter().enumerate() {
            let frame = signal
                .get(first..first + self.frame_length)
                .ok_or_else(|| RejectReason::TooShort {
                    channel: name(channel),
                    n_found: signal.len().saturating_sub(first),
                    n_needed: self.frame_length,
                })?;
            check_frame(frame, self.recipe.max_peak_to_peak, || name(channel))?;
            self.channel_features(frame, &mut features);
        }
        if features.iter().any(|value| !value.is_finite()) {
            return Err(RejectReason::Overflow);
        }
        Ok(features)
    }

    fn channel_features(&mut self, frame: &[f64], features: &mut Vec<f64>) {
        match &mut self.analysis {
            Analysis::Filters(filters) => {
                for (filter, width_hz) in filters {
                    filter.run(frame, &mut self.filtered);
                    let sum: f64 = self.filtered.iter().map(|y| y.abs()).sum();
                    features.push(sum / frame.len() as f64 / *width_hz);
                }
            }
            Analysis::Welch(welch) => {
                let resolution_hz = welch.resolution_hz();
                let density = welch.density(frame).unwrap_or_default();
                let whole = density.iter().sum::<f64>() * resolution_hz;
                let EegMeasure::Power { relative, .. } = self.recipe.measure else {
                    return;
                };
                for band in &self.recipe.bands {
                    let power = band_power(&density, resolution_hz, band.low_hz, band.high_hz);
                    // A frame without any power has no share in any band.
                    let share = if whole > 0.0 { power / whole } else { 0.0 };
                    features.push(if relative { share } else { power });
                }
            }
        }
    }
}

/// A limit of the swing of a channel is more than 0.
pub(super) fn check_peak_limit(limit: Option<f64>, problems: &mut SettingProblems) {
    if let Some(limit) = limit {
        let text = format!("peak-to-peak limit must be more than 0, but is {limit}");
        problems.require(is_positive(limit), "max_peak_to_peak", text);
    }
}

/// Values of a frame at a rate.
pub(super) fn frame_length(frame_s: f64, rate_hz: f64) -> Result<usize, FeatureError> {
    if !(rate_hz.is_finite() && rate_hz > 0.0) {
        return Err(FeatureError::Rate { rate_hz });
    }
    let n_samples = (frame_s * rate_hz).round();
    match (2.0..=MAX_FRAME_LENGTH).contains(&n_samples) {
        true => Ok(n_samples as usize),
        false => Err(FeatureError::FrameLength {
            frame_s,
            rate_hz,
            n_samples,
        }),
    }
}

fn is_overlap(share: f64) -> bool {
    (0.0..=MAX_OVERLAP).contains(&share)
}

pub(super) fn hop(length: usize, overlap: f64) -> usize {
    ((length as f64 * (1.0 - overlap)).round() as usize).max(1)
}

/// A band-pass that reaches above half the rate passes everything above its lower edge.
fn up_to_half_the_rate(design: FilterDesign, rate_hz: f64) -> FilterDesign {
    let nyquist_hz = rate_hz / 2.0;
    let passband = match design.passband {
        Passband::Band { low_hz, high_hz } if high_hz >= nyquist_hz && low_hz < nyquist_hz => {
            Passband::High { edge_hz: low_hz }
        }
        passband => passband,
    };
    FilterDesign { passband, ..design }
}

/// A band needs at least one line of the spectrum below half the rate.
fn check_resolution(recipe: &EegRecipe, welch: &Welch, rate_hz: f64) -> Result<(), FeatureError> {
    let resolution_hz = welch.resolution_hz();
    for band in &recipe.bands {
        let first_line = (band.low_hz / resolution_hz).ceil() * resolution_hz;
        if first_line >= band.high_hz || first_line > rate_hz / 2.0 {
            return Err(FeatureError::BandWithoutLine {
                band: band.name.clone(),
                low_hz: band.low_hz,
                high_hz: band.high_hz,
                resolution_hz,
                nyquist_hz: rate_hz / 2.0,
            });
        }
    }
    Ok(())
}

/// Refuses frames with missing values or with a larger swing than allowed.
pub(super) fn check_frame(
    frame: &[f64],
    max_peak_to_peak: Option<f64>,
    channel: impl Fn() -> String,
) -> Result<(), RejectReason> {
    let n_missing = frame.iter().filter(|value| !value.is_finite()).count();
    if n_missing > 0 {
        return Err(RejectReason::Missing {
            channel: channel(),
            n_missing,
        });
    }
    let Some(limit) = max_peak_to_peak else {
        return Ok(());
    };
    let (low, high) = frame
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| {
            (low.min(value), high.max(value))
        });
    if high - low > limit {
        return Err(RejectReason::Amplitude {
            channel: channel(),
            peak_to_peak: high - low,
            limit,
        });
    }
    Ok(())
}
