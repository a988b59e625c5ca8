//! Accuracy of a run against mini-batches as a figure.

use super::RunResult;
use super::chart::{Chart, Series, Stroke, batch_ticks, last_place, series_ink};
use super::figure::Figure;
use super::matrix::title;
use crate::experiment::CurvePoint;

/// Mean over the folds as a line, one standard deviation around it as a band.
pub(super) fn figure(result: &RunResult<'_>) -> Figure {
    let series = vec![series("this run", &result.summary.curve, 0)];
    Chart {
        title: title(result),
        x_label: "mini-batches".into(),
        ticks: batch_ticks(last_place(&series)),
        series,
    }
    .figure()
}

/// A curve of means with its spread, in the colour of its place.
pub(super) fn series(name: &str, curve: &[CurvePoint], place: usize) -> Series {
    Series {
        name: name.to_owned(),
        points: curve.iter().map(|point| [point.at, point.mean]).collect(),
        spread: curve.iter().filter_map(|point| point.sd).collect(),
        ink: series_ink(place),
        stroke: Stroke::Solid,
    }
}
