//! The settings of the simulators: what each is called, what it does and which values it takes.

use crate::settings::{Setting, SettingGroup};

/// Fault records of each class.
pub const RECORDS_PER_CLASS: Setting = Setting::number(
    "records_per_class",
    "Records per class",
    "How many faults of each kind are simulated",
    (1.0, 1e6),
    (10.0, 2000.0),
    400.0,
)
.whole();

/// Subjects of each class.
pub const SUBJECTS_PER_CLASS: Setting = Setting::number(
    "subjects_per_class",
    "Subjects per class",
    "How many subjects are simulated",
    (1.0, 1e4),
    (2.0, 50.0),
    14.0,
)
.whole();

/// Length of a simulated EEG.
pub const DURATION_S: Setting = Setting::number(
    "duration_s",
    "Duration",
    "Length of each recording",
    (1.0, 3600.0),
    (10.0, 600.0),
    120.0,
)
.unit("s");

/// How much the classes of simulated EEG differ.
pub const EFFECT: Setting = Setting::number(
    "effect",
    "Effect",
    "How much the classes differ; 0 makes them equal",
    (0.0, 5.0),
    (0.0, 3.0),
    1.0,
);

/// Samples of a stream that changes.
pub const N_SAMPLES: Setting = Setting::number(
    "n_samples",
    "Samples",
    "How many samples are drawn",
    (10.0, 1e7),
    (1000.0, 100_000.0),
    10_000.0,
)
.whole();

/// Wrong labels of a stream that changes.
pub const NOISE: Setting = Setting::number(
    "noise",
    "Wrong labels",
    "Share of the labels that are wrong",
    (0.0, 0.5),
    (0.0, 0.3),
    0.1,
);

/// How far electrodes drift.
pub const ELECTRODE_DRIFT: Setting = Setting::number(
    "electrode_drift",
    "Electrode drift",
    "How much the gains of the electrodes differ by the end, as the deviation of their logarithm; 0 for none",
    (0.0, 2.0),
    (0.0, 1.0),
    0.0,
);

/// All of them, in the order of the window.
pub const SETTINGS: SettingGroup = SettingGroup {
    place: "data.source",
    settings: &[
        &RECORDS_PER_CLASS,
        &SUBJECTS_PER_CLASS,
        &DURATION_S,
        &EFFECT,
        &N_SAMPLES,
        &NOISE,
        &ELECTRODE_DRIFT,
    ],
};
