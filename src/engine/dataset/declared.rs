//! The settings of how files become samples: what each is called, what it does and which values it takes.

use crate::settings::{Setting, SettingGroup};

/// Sampling rate of files that tell none.
pub const RATE_HZ: Setting = Setting::number(
    "options.rate_hz",
    "Sampling rate",
    "For files that do not state it; more than 0",
    (0.0, f64::INFINITY),
    (1.0, 10_000.0),
    250.0,
)
.logarithmic()
.unit("Hz");

/// What the values of arrays are divided by.
pub const DIVIDE_BY: Setting = Setting::number(
    "choice.divide_by",
    "Divide by",
    "Every value is divided by it; 255 turns bytes into 0 to 1; not 0",
    (f64::NEG_INFINITY, f64::INFINITY),
    (1.0, 255.0),
    1.0,
);

/// Rows of a sample that is a picture.
pub const PICTURE_ROWS: Setting = Setting::number(
    "choice.layout.n_rows",
    "Picture rows",
    "Rows of the picture that a sample is drawn as",
    (1.0, f64::INFINITY),
    (2.0, 64.0),
    16.0,
)
.whole();

/// Columns of a sample that is a picture.
pub const PICTURE_COLUMNS: Setting = Setting::number(
    "choice.layout.n_columns",
    "Picture columns",
    "Columns of the picture; rows times columns are the features",
    (1.0, f64::INFINITY),
    (2.0, 64.0),
    16.0,
)
.whole();

/// All of them, in the order of the window.
pub const SETTINGS: SettingGroup = SettingGroup {
    place: "data.source",
    settings: &[&RATE_HZ, &DIVIDE_BY, &PICTURE_ROWS, &PICTURE_COLUMNS],
};
