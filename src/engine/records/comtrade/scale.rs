//! From the stored number of a channel to its value: scaling, and codes that mean "missing".

use super::configuration::{AnalogChannel, DataType, Revision};

/// How the stored numbers of one analog channel become values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ChannelScale {
    multiplier: f64,
    offset: f64,
    /// The stored number that means "missing", if there is one.
    missing: Option<f64>,
}

impl ChannelScale {
    /// The scale of a channel in a file of that type and revision.
    pub(super) fn new(channel: &AnalogChannel, data: DataType, revision: Revision) -> ChannelScale {
        let code = match (data, revision) {
            // A multiplier of zero gives every code the same value; recorders
            // write 999999 for such a channel without meaning "missing".
            (DataType::Ascii, Revision::R1991) if channel.multiplier == 0.0 => None,
            (DataType::Ascii, Revision::R1991) => Some(999_999.0),
            (DataType::Ascii, _) => Some(99_999.0),
            (DataType::Binary, _) if is_unsigned(channel) => None,
            (DataType::Binary, _) => Some(f64::from(i16::MIN)),
            (DataType::Binary32, _) => Some(f64::from(i32::MIN)),
            (DataType::Float32, _) => Some(f64::from(f32::MIN)),
        };
        ChannelScale {
            multiplier: channel.multiplier,
            offset: channel.offset,
            missing: code,
        }
    }

    /// The value of a stored number; NaN if it means "missing".
    pub(super) fn value(&self, stored: f64) -> f64 {
        if self.missing == Some(stored) {
            f64::NAN
        } else {
            self.multiplier * stored + self.offset
        }
    }
}

/// Whether a declared range shows that two-byte numbers have no sign.
pub(super) fn is_unsigned(channel: &AnalogChannel) -> bool {
    channel.min >= 0.0 && channel.max > f64::from(i16::MAX) && channel.max <= f64::from(u16::MAX)
}
