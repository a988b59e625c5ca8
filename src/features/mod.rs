//! Features: how a record becomes samples, as plain settings (`FeatureRecipe`) and the signal processing behind them.

pub mod eeg;
pub mod filter;
pub mod spectrum;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// One thing that is wrong with a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The setting, by the name of its field.
    pub field: &'static str,
    /// What is allowed and what was found.
    pub message: String,
}

/// How the features of one sample lie side by side, for drawing them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Layout {
    /// A list without further order.
    #[default]
    Plain,
    /// A picture, its rows one after the other.
    Image {
        /// Rows of the picture.
        n_rows: usize,
        /// Columns of the picture.
        n_columns: usize,
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

/// One sample made from a stretch of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Start of the stretch, from the start of the record.
    pub start_s: f64,
    /// Length of the stretch.
    pub duration_s: f64,
    /// The features.
    pub values: Vec<f64>,
}

/// A stretch of a record that was left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejection {
    /// Start of the stretch, from the start of the record.
    pub start_s: f64,
    /// Length of the stretch.
    pub duration_s: f64,
    /// Why it was left out.
    pub reason: RejectReason,
}

/// Why a stretch was left out.
#[derive(Debug, Clone, PartialEq, Error)]
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
    /// The values are so large that the features overflow.
    #[error("the values are too large to compute with")]
    Overflow,
}

/// Why a record gives no samples at all.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FeatureError {
    /// A setting of the recipe is wrong.
    #[error("{}", .0.message)]
    Recipe(Problem),
    /// The sampling rate is unknown or no positive number.
    #[error("sampling rate must be a positive number, but is {rate_hz} Hz: give the rate of the recording")]
    Rate {
        /// The rate found.
        rate_hz: f64,
    },
    /// A frame would have too few or too many values.
    #[error("a frame of {frame_s} s at {rate_hz} Hz has {n_samples} values: 2 to 14400000 are possible")]
    FrameLength {
        /// Length of a frame.
        frame_s: f64,
        /// Sampling rate.
        rate_hz: f64,
        /// Number of values.
        n_samples: f64,
    },
    /// The filter of a band cannot be built at this rate.
    #[error("band {band}: {source}")]
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
}
