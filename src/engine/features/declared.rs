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
        &N_CYCLES,
        &N_POINTS,
        &HIGHEST_HARMONIC,
    ],
};
