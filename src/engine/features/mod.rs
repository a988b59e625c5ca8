//! Features: how a record becomes samples, as plain settings (`FeatureRecipe`) and the signal processing behind them.

pub mod bad_channels;
pub mod covariance;
pub mod cycle;
pub mod declared;
pub mod display_filter;
pub mod eeg;
mod eeg_frames;
pub mod eeg_groups;
pub mod eeg_segments;
pub mod electrodes;
pub mod fault;
pub mod fault_facts;
pub mod fault_phasors;
pub mod filter;
pub mod inception;
mod live;
pub mod measure;
pub mod montage;
pub mod phase_signals;
pub mod phases;
pub mod phasor;
pub mod readable;
pub mod resample;
pub mod sampled;
pub mod signal_kind;
pub mod spectrum;
pub mod trace_columns;
pub mod trends;

pub use eeg::EegRecipe;
pub use eeg_groups::EegGroupsRecipe;
pub use fault::FaultRecipe;
pub use live::LiveSegments;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::records::{ReadError, Record};
use crate::settings::SettingProblem;

/// How samples are made from a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FeatureRecipe {
    /// Band features of EEG frames.
    Eeg(EegRecipe),
    /// Groups of features of EEG segments: covariance, fine bands, shape, delays.
    EegGroups(EegGroupsRecipe),
    /// Windows of fault records.
    Fault(FaultRecipe),
}

impl FeatureRecipe {
    /// What is wrong with the settings, field by field; nothing when the recipe can be used.
    pub fn problems(&self) -> Vec<SettingProblem> {
        match self {
            Self::Eeg(recipe) => recipe.problems(),
            Self::EegGroups(recipe) => recipe.problems(),
            Self::Fault(recipe) => recipe.problems(),
        }
    }

    /// Makes the samples of a record. `keep_going` receives the share done and cancels by returning false.
    pub fn extract(
        &self,
        record: &Record,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Extraction, FeatureError> {
        self.extract_within(record, None, keep_going)
    }

    /// The same; a recipe that places its samples by labelled stretches finds them in `stretches`.
    pub fn extract_within(
        &self,
        record: &Record,
        stretches: Option<&[Stretch]>,
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Extraction, FeatureError> {
        let mut samples = Vec::new();
        let mut take = |sample| samples.push(sample);
        let made = self.extract_each(record, stretches, &mut take, keep_going)?;
        Ok(Extraction { samples, ..made })
    }

    /// The same for recordings of any length: each sample is given to `take` as soon as it is made, and the result has
    /// none. Of the recording only a block is in memory at a time. What is seen relative to the mean of the whole
    /// recording needs a second pass over it.
    pub fn extract_each(
        &self,
        record: &Record,
        stretches: Option<&[Stretch]>,
        take: &mut dyn FnMut(Sample),
        keep_going: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Extraction, FeatureError> {
        match self {
            Self::Eeg(recipe) => eeg_frames::extract(recipe, record, take, keep_going),
            Self::EegGroups(recipe) => {
                eeg_segments::extract(recipe, record, stretches, take, keep_going)
            }
            Self::Fault(recipe) => {
                let mut made = recipe.extract(record)?;
                std::mem::take(&mut made.samples).into_iter().for_each(take);
                Ok(made)
            }
        }
    }
}

/// A stretch of time in a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// Its start.
    pub start_s: f64,
    /// Its end.
    pub end_s: f64,
}

/// Neighbouring features that belong together: they are brought to one scale together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureGroup {
    /// What the group is called.
    pub name: String,
    /// Number of its features.
    pub n_features: usize,
    /// What they are.
    pub kind: GroupKind,
}

/// What the features of a group are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum GroupKind {
    /// Values without further order.
    Values,
    /// The logarithm of a channel covariance: its upper triangle.
    Covariance {
        /// The channels.
        channels: Vec<String>,
        /// Whether it is seen relative to the mean of its recording.
        recentred: bool,
    },
    /// The logarithm of the covariance of one channel with itself at delays: its upper triangle.
    DelayCovariance {
        /// Number of delays.
        n_delays: usize,
        /// Time from one delay to the next.
        step_s: f64,
    },
}

/// What a recipe made of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Extraction {
    /// Names of the features, in their order.
    pub feature_names: Vec<String>,
    /// How the features lie side by side.
    pub layout: Layout,
    /// The groups of features, in their order; none where all features are one group.
    pub feature_groups: Vec<FeatureGroup>,
    /// By how much a sample may reach over the edge of a labelled stretch: one sample of the recording where samples
    /// are placed by stretches.
    pub label_slack_s: f64,
    /// The samples in order of time.
    pub samples: Vec<Sample>,
    /// The stretches omitted.
    pub rejected: Vec<RejectedStretch>,
    /// What was assumed.
    pub notes: Vec<String>,
}

impl Extraction {
    fn new(feature_names: Vec<String>, layout: Layout) -> Self {
        Self {
            feature_names,
            layout,
            feature_groups: Vec::new(),
            label_slack_s: 0.0,
            samples: Vec::new(),
            rejected: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// A number that a length, a frequency or a limit can be.
fn is_positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// How the features of one sample lie side by side, for drawing them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Layout {
    /// A list without further order.
    #[default]
    Plain,
    /// A picture.
    Image {
        /// Rows of the picture.
        n_rows: usize,
        /// Columns of the picture.
        n_columns: usize,
        /// Its columns lie one after the other, as MATLAB stores pictures; otherwise its rows do.
        by_columns: bool,
    },
    /// Channels one after the other, each a run of values over time.
    Waveform {
        /// Number of channels.
        n_channels: usize,
        /// Values of each channel.
        n_points: usize,
    },
    /// Channels one after the other, each with one value per band.
    ChannelBand {
        /// Number of channels.
        n_channels: usize,
        /// Number of bands.
        n_bands: usize,
    },
}

impl Layout {
    /// Number of features the layout describes; `None` where any number fits.
    pub fn n_features(&self) -> Option<usize> {
        match *self {
            Self::Plain => None,
            Self::Image {
                n_rows, n_columns, ..
            } => n_rows.checked_mul(n_columns),
            Self::Waveform {
                n_channels,
                n_points,
            } => n_channels.checked_mul(n_points),
            Self::ChannelBand {
                n_channels,
                n_bands,
            } => n_channels.checked_mul(n_bands),
        }
    }
}

/// One sample made from a stretch of a record.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    /// Start of the stretch, from the start of the record.
    pub start_s: f64,
    /// Length of the stretch.
    pub duration_s: f64,
    /// The features.
    pub values: Vec<f64>,
}

/// A stretch of a record that was omitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RejectedStretch {
    /// Start of the stretch, from the start of the record.
    pub start_s: f64,
    /// Length of the stretch.
    pub duration_s: f64,
    /// Why it was omitted.
    pub reason: RejectReason,
}

/// Why a stretch was omitted.
#[derive(Debug, Clone, PartialEq, Error, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum RejectReason {
    /// The recording has holes or infinities there.
    #[error("{n_missing} missing or infinite values in channel {channel}")]
    Missing {
        /// The channel.
        channel: String,
        /// Number of such values.
        n_missing: usize,
    },
    /// A channel swings more than the recipe allows.
    #[error("channel {channel} swings by {peak_to_peak}, more than {limit}")]
    Amplitude {
        /// The channel.
        channel: String,
        /// Highest minus lowest value.
        peak_to_peak: f64,
        /// The limit of the recipe.
        limit: f64,
    },
    /// A channel ends before the stretch does.
    #[error("channel {channel} has {n_found} of the {n_needed} values needed")]
    TooShort {
        /// The channel.
        channel: String,
        /// Values left in the channel.
        n_found: usize,
        /// Values needed.
        n_needed: usize,
    },
    /// Less than half of the frames of a sample are usable.
    #[error("only {n_kept} of {n_frames} frames are usable")]
    TooFewFrames {
        /// Frames that could be used.
        n_kept: usize,
        /// Frames the sample is made of.
        n_frames: usize,
    },
    /// No voltage, so nothing to compare with.
    #[error("the voltages are about zero before and after: no verdict")]
    NoVoltage,
    /// The current is no sine.
    #[error(
        "the fundamental holds {:.0} % of the current's energy, less than half: no verdict",
        100.0 * share
    )]
    NoSine {
        /// Share of the AC energy in the fundamental.
        share: f64,
    },
    /// No channel changes.
    #[error("no channel changes, or one that is measured alone does not")]
    Silent,
    /// The values are so large that the features overflow.
    #[error("the values are too large to compute with")]
    Overflow,
}

/// Why a record gives no samples at all.
#[derive(Debug, Error)]
pub enum FeatureError {
    /// A setting of the recipe is wrong.
    #[error("{0}")]
    Recipe(SettingProblem),
    /// The sampling rate is unknown or no positive number.
    #[error("the file does not state a usable sampling rate ({rate_hz} Hz): enter it")]
    Rate {
        /// The rate found.
        rate_hz: f64,
    },
    /// A frame would have too few or too many values.
    #[error(
        "a frame of {frame_s} s at {rate_hz} Hz has {n_samples} values: 2 to 14400000 are possible"
    )]
    FrameLength {
        /// Length of a frame.
        frame_s: f64,
        /// Sampling rate.
        rate_hz: f64,
        /// Number of values.
        n_samples: f64,
    },
    /// The filter of a band cannot be built at this rate.
    #[error(
        "band {band}: {source}; take the band out of the recipe, or state the rate if the file has a wrong one (--rate)"
    )]
    Filter {
        /// The band.
        band: String,
        /// The reason.
        source: filter::FilterError,
    },
    /// A band has no line in the spectrum.
    #[error(
        "band {band} ({low_hz} to {high_hz} Hz) needs a spectral line below {nyquist_hz} Hz, but lines are {resolution_hz} Hz apart: use longer Welch segments or a wider band"
    )]
    BandWithoutLine {
        /// The band.
        band: String,
        /// Lower limit.
        low_hz: f64,
        /// Upper limit.
        high_hz: f64,
        /// Distance of the lines.
        resolution_hz: f64,
        /// Half the sampling rate.
        nyquist_hz: f64,
    },
    /// A sample would have too many features.
    #[error(
        "a sample would have {found} features, more than {most}: choose fewer channels, bands or delays"
    )]
    TooManyFeatures {
        /// Number of features.
        found: usize,
        /// Most that are possible.
        most: usize,
    },
    /// The samples could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The record has no value to work with.
    #[error("the record has no values in the channels used")]
    NoValues,
    /// A channel named in the recipe does not exist.
    #[error("channel {name:?} is not in the record, which has {channels}")]
    NoChannel {
        /// The name in the recipe.
        name: String,
        /// The first channels of the record.
        channels: String,
    },
    /// Two channels used together have different rates.
    #[error(
        "channel {first:?} has {first_hz} Hz but channel {second:?} has {second_hz} Hz: choose channels of one rate"
    )]
    UnequalRates {
        /// The first channel used.
        first: String,
        /// Its rate; 0 if unknown.
        first_hz: f64,
        /// The channel that differs.
        second: String,
        /// Its rate; 0 if unknown.
        second_hz: f64,
    },
    /// Not all six phases were found.
    #[error("no channel found for {missing} among {channels}: name the channels")]
    Unmapped {
        /// The quantities without a channel.
        missing: String,
        /// The first channels of the record.
        channels: String,
    },
    /// The nominal frequency is not known.
    #[error("the record does not state its nominal frequency: enter it (50 or 60 Hz)")]
    NoFrequency,
    /// The record has too few samples per cycle.
    #[error("{rate_hz} Hz is too coarse for a {nominal_hz} Hz grid: {needed_hz} Hz are needed")]
    TooCoarse {
        /// Rate of the record.
        rate_hz: f64,
        /// Nominal frequency.
        nominal_hz: f64,
        /// Rate needed.
        needed_hz: f64,
    },
    /// The record names no trigger.
    #[error("the record has no trigger: detect a change instead, or enter a time")]
    NoTrigger,
    /// Nothing changes in the record.
    #[error(
        "no signal differs from its previous cycle by more than {threshold} of its normal amplitude: lower the threshold, or give a time"
    )]
    NoChange {
        /// The threshold of the recipe.
        threshold: f64,
    },
    /// The window reaches beyond the record.
    #[error(
        "the window from {start_s} to {end_s} s reaches beyond the record ({record_start_s} to {record_end_s} s): use fewer cycles or another start"
    )]
    WindowOutside {
        /// Start of the window.
        start_s: f64,
        /// End of the window.
        end_s: f64,
        /// Time of the first sample.
        record_start_s: f64,
        /// Time of the last sample.
        record_end_s: f64,
    },
    /// The window starts within the first cycle, so there is nothing to scale by.
    #[error(
        "there is no whole cycle before the window at {start_s} s to scale by: give bases for per unit"
    )]
    NoCycleBefore {
        /// Start of the window.
        start_s: f64,
    },
    /// The cycle before the window is empty, so there is nothing to scale by.
    #[error(
        "{quantity} is zero or missing in the cycle before the window: give bases for per unit"
    )]
    NoBase {
        /// Voltage or current.
        quantity: &'static str,
    },
    /// The times of the samples do not rise.
    #[error("times must rise, but sample {sample} is at {found_s} s after {before_s} s")]
    TimesDoNotRise {
        /// Number of the sample, from 0.
        sample: usize,
        /// Time of the sample before.
        before_s: f64,
        /// Its own time.
        found_s: f64,
    },
}

#[cfg(test)]
mod tests {
    use super::eeg::{Band, ChannelChoice, EegMeasure};
    use super::fault::{FaultForm, Inception, PerUnit};
    use super::*;

    #[test]
    fn recipes_survive_saving_and_misspelt_settings_are_refused() {
        let recipes = [
            FeatureRecipe::Eeg(EegRecipe::default()),
            FeatureRecipe::EegGroups(EegGroupsRecipe::default()),
            FeatureRecipe::EegGroups(EegGroupsRecipe::for_single_channel()),
            FeatureRecipe::Fault(FaultRecipe::default()),
        ];
        for recipe in recipes {
            assert_eq!(recipe.problems(), []);
            let text = ron::to_string(&recipe).expect("plain data");
            let read: FeatureRecipe = ron::from_str(&text).expect("its own text");
            assert_eq!(read, recipe);
            let misspelt = text
                .replace("overlap", "overlop")
                .replace("n_cycles", "cycles");
            assert!(ron::from_str::<FeatureRecipe>(&misspelt).is_err());
        }
    }

    #[test]
    fn every_wrong_setting_is_named_with_its_value() {
        let eeg = EegRecipe {
            channels: ChannelChoice::Named(vec!["Cz".into(), "Cz".into()]),
            frame_s: 0.0,
            overlap: 1.0,
            bands: vec![Band {
                name: "odd".into(),
                low_hz: 9.0,
                high_hz: 8.0,
            }],
            measure: EegMeasure::Amplitude {
                edge_margin_hz: -1.0,
                order: 5,
                ripple_db: f64::NAN,
            },
            logarithm: false,
            frames_per_sample: 0,
            max_peak_to_peak: Some(-3.0),
        };
        let fields = |problems: Vec<SettingProblem>| -> Vec<String> {
            problems.into_iter().map(|problem| problem.field).collect()
        };
        let expected = [
            "channels",
            "frame_s",
            "overlap",
            "frames_per_sample",
            "max_peak_to_peak",
            "bands",
            "edge_margin_hz",
            "order",
            "ripple_db",
        ];
        assert_eq!(fields(eeg.problems()), expected);
        assert_eq!(
            eeg.problems()[5].message,
            "band odd must rise from 0 Hz or more, but goes from 9 to 8 Hz"
        );
        let fault = FaultRecipe {
            nominal_hz: Some(0.0),
            inception: Inception::At { time_s: -1.0 },
            n_cycles: 0,
            per_unit: PerUnit::Base {
                voltage_v: 0.0,
                current_a: 1.0,
            },
            form: FaultForm::Phasors {
                highest_harmonic: 99,
            },
            ..FaultRecipe::default()
        };
        let expected = [
            "nominal_hz",
            "time_s",
            "n_cycles",
            "per_unit",
            "form.highest_harmonic",
        ];
        assert_eq!(fields(fault.problems()), expected);
    }
}
