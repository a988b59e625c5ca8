//! The settings of feature recipes: what each is called, what it does and which values it takes.

use crate::settings::{Setting, SettingGroup};

/// Length of an EEG frame.
pub const FRAME_S: Setting = Setting::number(
    "frame_s",
    "Frame",
    "Length of the section in which features are measured; more than 0",
    (0.0, f64::INFINITY),
    (0.2, 10.0),
    1.0,
)
.unit("s");

/// Overlap of EEG frames.
pub const OVERLAP: Setting = Setting::number(
    "overlap",
    "Overlap",
    "Share of a frame that the next one repeats; less than 1",
    (0.0, 1.0),
    (0.0, 0.95),
    0.0,
);

/// EEG frames that make a sample.
pub const FRAMES_PER_SAMPLE: Setting = Setting::number(
    "frames_per_sample",
    "Frames per sample",
    "Frames whose features are averaged",
    (1.0, 1e4),
    (1.0, 60.0),
    1.0,
)
.whole();

/// Length of an EEG segment.
pub const SEGMENT_S: Setting = Setting::number(
    "segment_s",
    "Segment",
    "Length of the section that becomes one sample; more than 0",
    (0.0, f64::INFINITY),
    (0.5, 10.0),
    2.0,
)
.unit("s");

/// Overlap of EEG segments.
pub const SEGMENT_OVERLAP: Setting = Setting::number(
    "placement.overlap",
    "Overlap",
    "Share of a segment that the next one repeats",
    (0.0, super::eeg::MAX_OVERLAP),
    (0.0, super::eeg::MAX_OVERLAP),
    0.0,
);

/// Where the first segment of a labelled section lies.
pub const OFFSET_S: Setting = Setting::number(
    "placement.offset_s",
    "Offset",
    "Time from the start of a labelled section (a cue) to its first segment",
    (-3600.0, 3600.0),
    (0.0, 5.0),
    0.0,
)
.unit("s");

/// What EEG channels are measured against.
pub const REFERENCE: Setting = Setting::choice(
    "reference",
    "Reference",
    "What the channels are measured against. Default as recorded.",
    &["AsRecorded", "Average"],
);

/// Re-centring of covariances.
pub const RECENTRING: Setting = Setting::choice(
    "groups.0.recentring",
    "Re-centring",
    "Covariances relative to the mean of their recording: right where the class changes within recordings, wrong where it belongs to the recording.",
    &["Off", "WholeRecording", "Causal"],
);

/// Whether covariances are free of gain.
pub const GAIN_NORMALISED: Setting = Setting::switch(
    "groups.0.gain_normalised",
    "Free of gain",
    "Divides each segment by its mean channel power, so that gain and electrode contact do not count. Default on where the class belongs to the recording.",
);

/// Shrinkage of covariances.
pub const SHRINKAGE: Setting = Setting::number(
    "groups.0.shrinkage",
    "Shrinkage",
    "Share of the mean channel power mixed into the covariance; more where channels are many or flat",
    (0.0, 1.0),
    (0.0, 0.5),
    0.05,
)
.symbol("α");

/// Delays of a delay covariance.
pub const N_DELAYS: Setting = Setting::number(
    "groups.2.n_delays",
    "Delays",
    "Delays at which a channel is compared with itself",
    (2.0, 200.0),
    (2.0, 50.0),
    20.0,
)
.whole();

/// Step of a delay covariance.
pub const DELAY_STEP: Setting = Setting::number(
    "groups.2.step",
    "Delay step",
    "Values of the recording from one delay to the next",
    (1.0, 10_000.0),
    (1.0, 20.0),
    2.0,
)
.whole();

/// Limit of the swings of a channel.
pub const MAX_PEAK_TO_PEAK: Setting = Setting::number(
    "max_peak_to_peak",
    "Largest swing",
    "Highest minus lowest value of a channel in a section that is still used",
    (0.0, f64::INFINITY),
    (50.0, 2000.0),
    500.0,
)
.unit("µV");

/// Length of a fault window.
pub const N_CYCLES: Setting = Setting::number(
    "n_cycles",
    "Cycles",
    "Length of the window in cycles of the mains",
    (1.0, 100.0),
    (1.0, 5.0),
    1.0,
)
.whole();

/// Points of a fault waveform.
pub const N_POINTS: Setting = Setting::number(
    "form.n_points",
    "Points",
    "Values of each of the six waveforms",
    (2.0, 1e5),
    (11.0, 401.0),
    201.0,
)
.whole();

/// Harmonics of fault phasors.
pub const HIGHEST_HARMONIC: Setting = Setting::number(
    "form.highest_harmonic",
    "Highest harmonic",
    "1 takes the fundamental alone",
    (1.0, super::fault::MAX_HARMONIC as f64),
    (1.0, 25.0),
    5.0,
)
.whole();

/// All of them, in the order of the window.
pub const SETTINGS: SettingGroup = SettingGroup {
    place: "data.recipe",
    settings: &[
        &FRAME_S,
        &OVERLAP,
        &FRAMES_PER_SAMPLE,
        &SEGMENT_S,
        &SEGMENT_OVERLAP,
        &OFFSET_S,
        &REFERENCE,
        &RECENTRING,
        &GAIN_NORMALISED,
        &SHRINKAGE,
        &N_DELAYS,
        &DELAY_STEP,
        &MAX_PEAK_TO_PEAK,
        &N_CYCLES,
        &N_POINTS,
        &HIGHEST_HARMONIC,
    ],
};
