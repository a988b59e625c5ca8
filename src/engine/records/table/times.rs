//! Columns that tell the time of a row, and the sampling rate that they tell.

use super::super::{Channel, Record, Unit};

/// Column names that usually hold the time of a row.
pub(crate) const TIME_NAMES: [&str; 5] = ["time", "t", "timestamp", "date", "seconds"];

/// A name in lower case, its words apart by a space.
pub(crate) fn plain_name(name: &str) -> String {
    let apart = name.trim().to_lowercase().replace(['_', '-', '.'], " ");
    apart.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name as [`plain_name`] gives it, without a unit in brackets.
pub(crate) fn base_name(name: &str) -> String {
    let bare = name.split(['(', '[', '/']).next().unwrap_or(name);
    plain_name(bare)
}

/// Seconds in one unit of a column of times.
pub(crate) fn seconds_in(unit: &Unit) -> f64 {
    match unit.symbol.as_str() {
        "ms" => 1e-3,
        "µs" => 1e-6,
        "ns" => 1e-9,
        _ => 1.0,
    }
}

/// The rate of times that are equally far apart.
pub(crate) fn rate_of_times(times: &[f64], unit_s: f64) -> Option<f64> {
    let (first, last) = (times.first()?, times.last()?);
    let step = (last - first) / (times.len().checked_sub(1)? as f64);
    let is_even = times
        .windows(2)
        .all(|two| ((two[1] - two[0]) / step - 1.0).abs() < 0.1);
    let rate_hz = 1.0 / (step * unit_s);
    (is_even && rate_hz.is_finite() && rate_hz > 0.0).then_some(rate_hz)
}

/// The sampling rate that a column tells, if it is the time of the rows.
pub(super) fn rate_told(channel: &Channel, times: &[f64]) -> Option<f64> {
    let is_time = TIME_NAMES.contains(&base_name(&channel.name).as_str());
    let rate_hz = is_time.then(|| rate_of_times(times, seconds_in(&channel.unit)))??;
    // Times are written with few digits.
    let whole = rate_hz.round();
    let is_whole = (rate_hz - whole).abs() < 1e-3 * whole;
    Some(if is_whole { whole } else { rate_hz })
}

/// The sampling rate of a table whose rows are moments, by the column that tells their time.
pub fn told_rate(table: &Record) -> Option<f64> {
    let numbered = table.channels.iter().enumerate();
    numbered
        .filter_map(|(number, channel)| Some((channel, table.read_channel(number).ok()?)))
        .find_map(|(channel, times)| rate_told(channel, &times))
}
