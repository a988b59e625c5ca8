//! When the samples of a COMTRADE record were taken: rate sections or time stamps.

use std::sync::Arc;

use crate::records::{Findings, Place, RateSection, ReadError, TimeAxis};

use super::configuration::{Configuration, DeclaredRate};

/// Rates of sections that differ by less than this share are one rate with a drift.
const DRIFT: f64 = 0.01;

/// The time axis of a record and the rate of its channels.
#[derive(Debug, PartialEq)]
pub(super) struct Timeline {
    /// How sample numbers become times.
    pub(super) axis: TimeAxis,
    /// Samples per second, if there is one rate (or one that drifts a little).
    pub(super) rate_hz: Option<f64>,
}

impl Timeline {
    /// From declared sections of constant rate.
    pub(super) fn from_rates(
        rates: &[DeclaredRate],
        n_samples: usize,
        findings: &mut Findings,
    ) -> Timeline {
        let sections = sections(rates, n_samples);
        let Some(first) = sections.first() else {
            return Timeline {
                axis: TimeAxis::Regular,
                rate_hz: None,
            };
        };
        let all = || sections.iter().map(|section| section.rate_hz);
        let (least, greatest) = (all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max));
        if least == greatest {
            return Timeline {
                axis: TimeAxis::Regular,
                rate_hz: Some(first.rate_hz),
            };
        }
        let drifts = greatest <= least * (1.0 + DRIFT);
        let rate_hz = drifts.then(|| mean_rate_hz(&sections));
        let told = match rate_hz {
            Some(mean) => format!("their mean of {mean:.3} Hz is listed"),
            None => "no single rate is listed".to_owned(),
        };
        let n_sections = sections.len();
        findings.note(
            Place::File,
            format!("{n_sections} sections at {least} to {greatest} Hz; {told}"),
        );
        Timeline {
            axis: TimeAxis::Sections(sections),
            rate_hz,
        }
    }

    /// From time stamps in units of `unit_s`; NaN where missing.
    pub(super) fn from_stamps(
        stamps: &[f64],
        unit_s: f64,
        findings: &mut Findings,
    ) -> Result<Timeline, ReadError> {
        let first = stamps.first().copied().unwrap_or(f64::NAN);
        let known = stamps.iter().all(|stamp| stamp.is_finite());
        if !known {
            let n_missing = stamps.iter().filter(|stamp| !stamp.is_finite()).count();
            let found = format!("missing in {n_missing} of {} rows", stamps.len());
            let assumed = "times are unknown";
            findings.breach(Place::File, "time stamp", found, "one per row", assumed)?;
            return Ok(Timeline {
                axis: TimeAxis::Regular,
                rate_hz: None,
            });
        }
        let back = stamps
            .windows(2)
            .position(|pair| matches!(pair, [a, b] if b < a));
        if let Some(row) = back {
            let found = format!("smaller in row {} than before", row + 2);
            let assumed = "the stamps are kept as they are";
            findings.breach(Place::File, "time stamp", found, "rising", assumed)?;
        }
        let seconds: Arc<[f64]> = stamps
            .iter()
            .map(|stamp| (stamp - first) * unit_s)
            .collect();
        Ok(Timeline {
            axis: TimeAxis::Stamps(seconds),
            rate_hz: None,
        })
    }
}

/// Says if the time stamps of the first and last row contradict the declared rate.
pub(super) fn compare_with_stamps(
    configuration: &Configuration,
    rate_hz: Option<f64>,
    outer_stamps: Option<(f64, f64)>,
    n_samples: usize,
    findings: &mut Findings,
) {
    let (Some(rate_hz), Some((first, last))) = (rate_hz, outer_stamps) else {
        return;
    };
    let elapsed_s = (last - first) * configuration.stamp_unit_s();
    let stamped_hz = n_samples.saturating_sub(1) as f64 / elapsed_s;
    let agrees = (stamped_hz / rate_hz - 1.0).abs() < 0.02;
    // A stamp is rounded to its unit: short records say little.
    if n_samples < 10 || agrees || !stamped_hz.is_finite() || stamped_hz <= 0.0 {
        return;
    }
    findings.note(
        Place::File,
        format!("time stamps say {stamped_hz:.6} Hz, the declared rate of {rate_hz} Hz is used"),
    );
}

/// Declared sections that hold samples, with their onsets.
fn sections(rates: &[DeclaredRate], n_samples: usize) -> Vec<RateSection> {
    let mut sections = Vec::with_capacity(rates.len());
    let (mut first_sample, mut onset_s) = (0, 0.0);
    for rate in rates {
        let end = rate.last_sample.min(n_samples);
        if end <= first_sample {
            continue;
        }
        sections.push(RateSection {
            rate_hz: rate.rate_hz,
            onset_s,
            first_sample,
            n_samples: end - first_sample,
        });
        onset_s += (end - first_sample) as f64 / rate.rate_hz;
        first_sample = end;
    }
    sections
}

fn mean_rate_hz(sections: &[RateSection]) -> f64 {
    let n_samples: usize = sections.iter().map(|section| section.n_samples).sum();
    let duration_s: f64 = sections
        .iter()
        .map(|section| section.n_samples as f64 / section.rate_hz)
        .sum();
    n_samples as f64 / duration_s
}
