//! When the samples of a COMTRADE record were taken: rate sections or time stamps.

use std::sync::Arc;

use crate::records::{FilePlace, Findings, Gap, RateSection, ReadError, TimeAxis};

use super::configuration::{Configuration, DeclaredRate};

/// Rates of sections that differ by less than this share are one rate with a drift.
const DRIFT: f64 = 0.01;

/// Periods that a step of the time stamps must exceed to be a gap.
const GAP_PERIODS: f64 = 1.5;

/// Numbers at which counters of recorders start again: a step back by one of them is no gap.
const WRAPS: [f64; 6] = [65_536.0, 4_294_967_296.0, 1e6, 1e7, 1e8, 1e9];

/// Share of the steps that must agree with the declared rate for the stamps to be believed.
const BELIEVED_SHARE: f64 = 0.9;

/// Most gaps of a record: more of them are stamps that mean something else.
const MOST_GAPS: usize = 1000;

/// The time axis of a record and the rate of its channels.
#[derive(Debug, PartialEq)]
pub(super) struct RecordTimeline {
    /// How sample numbers become times.
    pub(super) axis: TimeAxis,
    /// Samples per second, if there is one rate (or one that drifts a little).
    pub(super) rate_hz: Option<f64>,
    /// Breaks that the time stamps tell.
    pub(super) gaps: Vec<Gap>,
}

impl RecordTimeline {
    /// From declared sections of constant rate.
    pub(super) fn from_rates(
        rates: &[DeclaredRate],
        n_samples: usize,
        findings: &mut Findings,
    ) -> RecordTimeline {
        let sections = sections(rates, n_samples);
        let Some(first) = sections.first() else {
            return RecordTimeline {
                axis: TimeAxis::Regular,
                rate_hz: None,
                gaps: Vec::new(),
            };
        };
        let all = || sections.iter().map(|section| section.rate_hz);
        let (least, greatest) = (all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max));
        if least == greatest {
            return RecordTimeline {
                axis: TimeAxis::Regular,
                rate_hz: Some(first.rate_hz),
                gaps: Vec::new(),
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
            FilePlace::File,
            format!("{n_sections} sections at {least} to {greatest} Hz; {told}"),
        );
        RecordTimeline {
            axis: TimeAxis::Sections(sections),
            rate_hz,
            gaps: Vec::new(),
        }
    }

    /// Whether the first and last time stamp lie farther apart, or less far, than the rates say.
    pub(super) fn contradicts(
        &self,
        outer_stamps: Option<(f64, f64)>,
        unit_s: f64,
        n_samples: usize,
    ) -> bool {
        let Some((first, last)) = outer_stamps else {
            return false;
        };
        let n_steps = n_samples.saturating_sub(1) as f64;
        let (span_s, period_s) = match (&self.axis, self.rate_hz) {
            (TimeAxis::Sections(sections), _) => {
                let periods = sections.iter().map(|s| 1.0 / s.rate_hz);
                let span = sections.iter().map(|s| s.n_samples as f64 / s.rate_hz);
                (span.sum::<f64>(), periods.fold(f64::INFINITY, f64::min))
            }
            (_, Some(rate_hz)) => (n_steps / rate_hz, 1.0 / rate_hz),
            (_, None) => return false,
        };
        // Stamps drift by their rounding.
        let slack_s = period_s + unit_s + 1e-4 * span_s;
        ((last - first) * unit_s - span_s).abs() > slack_s
    }

    /// Splits the record where its time stamps, in units of `unit_s`, step by more than one and a half periods or back.
    pub(super) fn split_at_gaps(&mut self, stamps: &[f64], unit_s: f64, findings: &mut Findings) {
        let stretches = match (&self.axis, self.rate_hz) {
            (TimeAxis::Sections(sections), _) => sections.clone(),
            (TimeAxis::Regular, Some(rate_hz)) => vec![RateSection {
                rate_hz,
                onset_s: 0.0,
                first_sample: 0,
                n_samples: stamps.len(),
            }],
            _ => return,
        };
        let breaks = gap_samples(&stretches, stamps, unit_s);
        if breaks.is_empty() {
            return;
        }
        // The stretches again, cut at the breaks; each one after a break starts at its stamp.
        let (mut pieces, mut lost_s): (Vec<RateSection>, f64) = (Vec::new(), 0.0);
        for stretch in &stretches {
            let end = stretch.first_sample + stretch.n_samples;
            let inside = |sample: &&(usize, f64)| (stretch.first_sample..end).contains(&sample.0);
            let mut first = stretch.first_sample;
            let mut onset_s = stretch.onset_s + lost_s;
            let mut add = |first: usize, last: usize, onset_s: f64| {
                if last > first {
                    pieces.push(RateSection {
                        first_sample: first,
                        n_samples: last - first,
                        onset_s,
                        ..*stretch
                    });
                }
            };
            for (sample, missing_s) in breaks.iter().filter(inside) {
                add(first, *sample, onset_s);
                let ends_s = onset_s + (*sample - first) as f64 / stretch.rate_hz;
                // A clock that stepped back tells no offset: the samples go on at once.
                let duration_s = missing_s.max(0.0);
                self.gaps.push(Gap {
                    onset_s: ends_s,
                    duration_s,
                });
                let known = match *missing_s > 0.0 {
                    true => format!("{duration_s:.6} s are missing"),
                    false => "the clock steps back, so the offset is unknown".to_owned(),
                };
                findings.note(
                    FilePlace::File,
                    format!("gap before sample {}: {known}", sample + 1),
                );
                lost_s += duration_s;
                onset_s = ends_s + duration_s;
                first = *sample;
            }
            add(first, end, onset_s);
        }
        if matches!(self.axis, TimeAxis::Sections(_)) {
            self.axis = TimeAxis::Sections(pieces);
        }
    }

    /// From time stamps in units of `unit_s`; NaN where missing.
    pub(super) fn from_stamps(
        stamps: &[f64],
        unit_s: f64,
        findings: &mut Findings,
    ) -> Result<RecordTimeline, ReadError> {
        let first = stamps.first().copied().unwrap_or(f64::NAN);
        let known = stamps.iter().all(|stamp| stamp.is_finite());
        if !known {
            let n_missing = stamps.iter().filter(|stamp| !stamp.is_finite()).count();
            let found = format!("missing in {n_missing} of {} rows", stamps.len());
            let assumed = "times are unknown";
            findings.breach(FilePlace::File, "time stamp", found, "one per row", assumed)?;
            return Ok(RecordTimeline {
                axis: TimeAxis::Regular,
                rate_hz: None,
                gaps: Vec::new(),
            });
        }
        let back = stamps
            .windows(2)
            .position(|pair| matches!(pair, [a, b] if b < a));
        if let Some(row) = back {
            let found = format!("smaller in row {} than before", row + 2);
            let assumed = "the stamps are kept as they are";
            findings.breach(FilePlace::File, "time stamp", found, "rising", assumed)?;
        }
        let seconds: Arc<[f64]> = stamps
            .iter()
            .map(|stamp| (stamp - first) * unit_s)
            .collect();
        let gaps = gaps_of_stamps(&seconds, unit_s);
        for gap in &gaps {
            let text = format!(
                "gap at {:.6} s: {:.6} s are missing",
                gap.onset_s, gap.duration_s
            );
            findings.note(FilePlace::File, text);
        }
        Ok(RecordTimeline {
            axis: TimeAxis::Stamps(seconds),
            rate_hz: None,
            gaps,
        })
    }
}

/// Steps that are longer than both of their neighbours by more than rounding: where the rate changes, one is as long.
fn gaps_of_stamps(seconds: &[f64], unit_s: f64) -> Vec<Gap> {
    let around = seconds.windows(4).filter_map(|times| {
        let [before, step, after] = [1, 2, 3].map(|k| times[k] - times[k - 1]);
        let longest = GAP_PERIODS * before.max(after) + unit_s;
        (before > 0.0 && after > 0.0 && step > longest).then(|| Gap {
            onset_s: times[1] + before,
            duration_s: step - before,
        })
    });
    let gaps: Vec<Gap> = around.take(MOST_GAPS + 1).collect();
    match gaps.len() <= MOST_GAPS {
        true => gaps,
        false => Vec::new(),
    }
}

/// The samples before which time is missing, and how much; nothing where the stamps do not follow the rates anyway.
fn gap_samples(stretches: &[RateSection], stamps: &[f64], unit_s: f64) -> Vec<(usize, f64)> {
    let (mut breaks, mut n_agree, mut n_steps) = (Vec::new(), 0_usize, 0_usize);
    for stretch in stretches {
        let last = (stretch.first_sample + stretch.n_samples).min(stamps.len());
        let period_s = 1.0 / stretch.rate_hz;
        for sample in stretch.first_sample.max(1)..last {
            let step = stamps[sample] - stamps[sample - 1];
            let step_s = step * unit_s;
            if !step_s.is_finite() {
                continue;
            }
            n_steps += 1;
            // A stamp is rounded to its unit.
            let slack_s = unit_s.max(0.02 * period_s);
            let agrees = |step: f64| (step * unit_s - period_s).abs() <= slack_s;
            if agrees(step) || step < 0.0 && WRAPS.iter().any(|wrap| agrees(step + wrap)) {
                n_agree += 1;
            } else if step_s > GAP_PERIODS * period_s + unit_s || step_s < 0.0 {
                breaks.push((sample, step_s - period_s));
            }
        }
    }
    let is_believed = n_agree as f64 >= BELIEVED_SHARE * n_steps as f64;
    match is_believed && breaks.len() <= MOST_GAPS {
        true => breaks,
        false => Vec::new(),
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
        FilePlace::File,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_between_shorter_ones_is_a_gap_and_a_change_of_the_rate_is_none() {
        let gaps = gaps_of_stamps(&[0.0, 1.0, 2.0, 12.0, 13.0, 14.0, 24.0, 34.0, 44.0], 1e-6);
        let [gap] = gaps.as_slice() else {
            panic!("{gaps:?}");
        };
        assert_eq!((gap.onset_s, gap.duration_s), (3.0, 9.0));
    }
}
