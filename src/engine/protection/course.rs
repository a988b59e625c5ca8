//! The course of a fault: when it is cleared, and how its type changes until then.

use std::f64::consts::TAU;

use crate::features::fault_phasors::{GUARD_BEFORE, fit_cycle};
use crate::features::phase_signals::PhaseSignals;
use crate::simulate::feeder::FaultClass;

use super::rule::{RuleVerdict, judge};

/// Share of the current during the fault below which it is cleared,
const CLEARED_SHARE: f64 = 0.15;
/// unless this multiple of the peak before is more.
const CLEARED_LOAD: f64 = 1.3;
/// Multiple of the peak before that the current must reach for a clearing to be seen at all.
const SEEN_LOAD: f64 = 2.0;
/// Cycles after the limit is undercut between which nothing but rest is left of the current,
const QUIET_CYCLES: [f64; 2] = [0.75, 2.0];
/// a share of the current during the fault at most, else the load goes on.
const GONE_SHARE: f64 = 0.1;
/// A pole is open where its current stays below this multiple of the rest,
const REST: f64 = 1.3;
/// or this share of the current during the fault: transformers and filters go on for a while.
const ZERO_SHARE: f64 = 0.08;
/// Cycles from such a current to its zero, or one sample.
const LONGEST_FALL: f64 = 0.03;
/// Places that are tried there.
const ZERO_STEPS: usize = 64;
/// Samples of a cycle from which the last quarter of it tells the zero, else all of it,
const FINE_SAMPLES: f64 = 16.0;
/// and samples that are fitted at least.
const FITTED_SAMPLES: usize = 4;

/// Steps of a quarter cycle for which a new type must hold to count,
const LASTING_STEPS: usize = 4;
/// or, for a fault, at the end, where no more are seen.
const LAST_STEPS: usize = 2;
/// The poles of a breaker open at their zeros, within this part of a cycle.
const OPENING_CYCLES: f64 = 0.75;

/// A stage of a fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CourseStage {
    /// When it begins.
    pub start_s: f64,
    /// What it is.
    pub verdict: RuleVerdict,
}

/// When the current of a fault is interrupted.
///
/// `pk(t)` is the largest |i| of the three phases over the half cycle after t, `F` its median over the two cycles after
/// the inception. The fault is cleared at the first t, at least half a cycle after the inception, from which `pk` stays
/// below the limit for half a cycle. Where poles open there, the zero at which the last one of those that carried more
/// than the limit did so is given.
pub fn clearing_s(signals: &PhaseSignals, inception_s: f64, frequency_hz: f64) -> Option<f64> {
    let largest = largest_current(signals);
    let cycle = signals.rate_hz / frequency_hz;
    let half = ((cycle / 2.0).round() as usize).max(1);
    let inception = ((inception_s - signals.start_s) * signals.rate_hz).round();
    if !(1.0..largest.len() as f64).contains(&inception) {
        return None;
    }
    let inception = inception as usize;
    // The inception may be found a little late; what is before it must not hold the first rise of the fault.
    let end_before = inception.saturating_sub((GUARD_BEFORE * cycle).ceil() as usize);
    let before = &largest[end_before.saturating_sub(cycle.round() as usize)..end_before];
    let peak_before = before.iter().copied().fold(0.0, f64::max);
    let peaks = sliding_largest(&largest, half);
    let two_cycles = peaks.get(inception..peaks.len().min(inception + (2.0 * cycle) as usize))?;
    let mut sorted = two_cycles.to_vec();
    sorted.sort_by(f64::total_cmp);
    let during = *sorted.get(sorted.len() / 2)?;
    if during.is_nan() || during <= SEEN_LOAD * peak_before {
        return None;
    }
    let limit = (CLEARED_SHARE * during).max(CLEARED_LOAD * peak_before);
    let earliest = inception + half;
    let mut n_below = 0;
    for (at, peak) in peaks.iter().enumerate().skip(earliest) {
        n_below = if *peak < limit { n_below + 1 } else { 0 };
        if n_below > half {
            let first = at - half;
            let openings =
                (3..6).filter_map(|k| opening(signals, k, first, (during, frequency_hz)));
            let of_fault = openings.filter(|(_, interrupted)| *interrupted >= limit);
            let last_s = of_fault.map(|(opens_s, _)| opens_s).reduce(f64::max);
            return Some(last_s.unwrap_or(signals.time_s(first)));
        }
    }
    None
}

/// When a pole opens for good around a sample, and the largest current of its last half wave: the zero of a sine with a
/// constant through its last samples. `None` where current goes on.
fn opening(
    signals: &PhaseSignals,
    channel: usize,
    around: usize,
    (during, frequency_hz): (f64, f64),
) -> Option<(f64, f64)> {
    let current = &signals.values[channel];
    let cycle = signals.rate_hz / frequency_hz;
    let samples = |cycles: f64| (cycles * cycle).round() as usize;
    let end = current.len().min(around + samples(QUIET_CYCLES[1]));
    let quiet = (around + samples(QUIET_CYCLES[0])).min(end.saturating_sub(samples(0.25)));
    let rest = current.get(quiet..end)?.iter();
    let rest = rest.fold(0.0_f64, |most, i| most.max(i.abs()));
    (rest < GONE_SHARE * during).then_some(())?;
    let limit = (REST * rest).max(ZERO_SHARE * during);
    let first = around.saturating_sub(samples(1.0));
    let last = first
        + current[first..quiet]
            .iter()
            .rposition(|i| i.abs() > limit)?;
    let back = |cycles: f64| (last + 1).saturating_sub(samples(cycles).max(FITTED_SAMPLES));
    let lobe = current[back(0.5)..=last].iter().rev();
    let lobe = lobe.take_while(|i| **i * current[last] > 0.0);
    let interrupted = lobe.fold(0.0_f64, |most, i| most.max(i.abs()));
    let fitted = match cycle < FINE_SAMPLES {
        true => back(1.0),
        false => back(0.25),
    };
    let step_s = 1.0 / signals.rate_hz;
    let first_s = -((last - fitted) as f64) * step_s;
    let wave = fit_cycle(&current[fitted..=last], first_s, step_s, frequency_hz)?;
    let reach = 1.0_f64.max(LONGEST_FALL * cycle) / ZERO_STEPS as f64;
    let is_over = |step: &usize| {
        wave.value(TAU * *step as f64 * reach / cycle) * current[last].signum() <= 0.0
    };
    let zero = (0..ZERO_STEPS).find(is_over).unwrap_or(ZERO_STEPS);
    let opens_s = signals.time_s(last) + signals.skews_s[channel] + zero as f64 * reach * step_s;
    Some((opens_s, interrupted))
}

/// The largest |i| of the three phases at every sample; missing values count as nothing.
fn largest_current(signals: &PhaseSignals) -> Vec<f64> {
    let [a, b, c] = [3, 4, 5].map(|channel| &signals.values[channel]);
    let n = a.len().min(b.len()).min(c.len());
    (0..n)
        .map(|k| {
            [a[k], b[k], c[k]]
                .iter()
                .fold(0.0f64, |most, i| most.max(i.abs()))
        })
        .collect()
}

/// Largest of every `width` values from a place on, as far as all of them exist.
fn sliding_largest(values: &[f64], width: usize) -> Vec<f64> {
    let mut candidates: std::collections::VecDeque<usize> = std::collections::VecDeque::new();
    let mut largest = Vec::with_capacity(values.len().saturating_sub(width) + 1);
    for (at, value) in values.iter().enumerate() {
        while candidates
            .back()
            .is_some_and(|last| values[*last] <= *value)
        {
            candidates.pop_back();
        }
        candidates.push_back(at);
        if let Some(first) = (at + 1).checked_sub(width) {
            while candidates.front().is_some_and(|oldest| *oldest < first) {
                candidates.pop_front();
            }
            largest.extend(candidates.front().map(|place| values[*place]));
        }
    }
    largest
}

/// The types of a fault every quarter cycle from its inception on, where they last; what is seen while poles open one by
/// one is left out.
pub fn stages(
    signals: &PhaseSignals,
    inception_s: f64,
    clearing_s: Option<f64>,
    frequency_hz: f64,
) -> Vec<CourseStage> {
    const MOST_STEPS: usize = 4000;
    let quarter_s = 0.25 / frequency_hz;
    let cycle_s = 4.0 * quarter_s;
    let opens_s = clearing_s.map(|clearing_s| clearing_s - OPENING_CYCLES * cycle_s);
    let end_s = opens_s.unwrap_or(signals.end_s());
    let mut seen: Vec<CourseStage> = Vec::new();
    for step in 0..MOST_STEPS {
        let judged_s = inception_s + step as f64 * quarter_s;
        if step > 0 && judged_s + 1.125 * cycle_s > end_s {
            break;
        }
        let phasors = signals.fault_phasors_from(inception_s, judged_s, frequency_hz);
        match phasors {
            Ok(Ok(phasors)) => seen.push(CourseStage {
                start_s: judged_s,
                verdict: judge(&phasors),
            }),
            // Where the type changes, a cycle may hold no sine.
            Ok(Err(_)) => {}
            Err(_) => break,
        }
    }
    let mut stages: Vec<CourseStage> = seen.first().copied().into_iter().collect();
    for (at, stage) in seen.iter().enumerate() {
        let next = &seen[at..seen.len().min(at + LASTING_STEPS)];
        let n_least = match stage.verdict.class {
            FaultClass::NoFault => LASTING_STEPS,
            _ => LAST_STEPS,
        };
        let lasts = next.len() >= n_least && next.iter().all(|s| s.verdict == stage.verdict);
        let is_new = stages
            .last()
            .is_some_and(|last| last.verdict != stage.verdict);
        if lasts && is_new {
            stages.push(*stage);
        }
    }
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fault of three phases from .1 s on, whose poles open at their first zeros after `opens_s`; the last of them.
    fn fault(per_cycle: f64, opens_s: f64) -> (PhaseSignals, f64) {
        const HZ: f64 = 50.0;
        let rate_hz = per_cycle * HZ;
        let angle = |phase: usize, t: f64| TAU * (HZ * t - phase as f64 / 3.0) + 0.3;
        let zero_s = |phase: usize| {
            let half_turns = (angle(phase, opens_s) / (TAU / 2.0)).ceil();
            opens_s + (half_turns * TAU / 2.0 - angle(phase, opens_s)) / (TAU * HZ)
        };
        let values = [0, 1, 2, 3, 4, 5].map(|channel: usize| {
            let phase = channel % 3;
            let wave = |sample: usize| {
                let t = sample as f64 / rate_hz;
                let size = match channel {
                    0..3 => 100.0,
                    _ if t < 0.1 => 1.0,
                    _ if t < zero_s(phase) => 20.0,
                    _ => 0.0,
                };
                size * angle(phase, t).sin()
            };
            (0..(0.3 * rate_hz) as usize).map(wave).collect()
        });
        let signals = PhaseSignals {
            rate_hz,
            start_s: 0.0,
            nominal_hz: HZ,
            values,
            skews_s: [0.0; 6],
            names: Default::default(),
            notes: Vec::new(),
        };
        let last_s = (0..3).map(zero_s).fold(0.0, f64::max);
        (signals, last_s)
    }

    #[test]
    fn the_zero_at_which_the_last_pole_opens_is_found_between_samples() {
        for per_cycle in [4.0, 5.0, 10.0, 16.0, 33.3, 128.0] {
            for step in 0..12 {
                let (signals, last_s) = fault(per_cycle, 0.2 + 0.0017 * f64::from(step));
                let found_s = clearing_s(&signals, 0.1, 50.0).expect("it is cleared");
                let cycles = (found_s - last_s) * 50.0;
                assert!(
                    cycles.abs() < 0.01,
                    "{cycles} of {per_cycle} samples, {last_s} s"
                );
            }
        }
    }
}
