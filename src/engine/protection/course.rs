//! The course of a fault: when it is cleared, and how its type changes until then.

use std::f64::consts::TAU;

use crate::features::fault_phasors::GUARD_BEFORE;
use crate::features::phase_signals::PhaseSignals;

use super::rule::{RuleVerdict, judge};

/// Share of the current during the fault below which it is cleared,
const CLEARED_SHARE: f64 = 0.15;
/// unless this multiple of the peak before is more.
const CLEARED_LOAD: f64 = 1.3;
/// Multiple of the peak before that the current must reach for a clearing to be seen at all.
const SEEN_LOAD: f64 = 2.0;
/// Cycles from the limit to the zero that are believed: a sine takes .024 from 15 % of its peak, more beside a large load.
const LONGEST_FALL: f64 = 0.06;

/// Share of the last current above the limit below which what follows is nothing.
const GONE_SHARE: f64 = 0.5;

/// Steps of a quarter cycle for which a new type must hold to count.
const LASTING_STEPS: usize = 4;

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
/// below the limit for half a cycle. Where a pole has interrupted the last current, it did so at the zero that this
/// current was heading for, a little later: that moment is given.
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
            let until_zero = match first > earliest {
                true => samples_until_zero(signals, first - 1, (cycle, half)),
                false => 1.0,
            };
            return Some(signals.time_s(first) + (until_zero - 1.0) / signals.rate_hz);
        }
    }
    None
}

/// Samples from one to the zero that the largest current there heads for, as a sine through it and an earlier sample;
/// half a sample where it does not fall.
fn samples_until_zero(signals: &PhaseSignals, sample: usize, (cycle, half): (f64, usize)) -> f64 {
    let largest = signals.values[3..]
        .iter()
        .max_by(|a, b| a[sample].abs().total_cmp(&b[sample].abs()));
    let back = ((cycle / 16.0).round() as usize).max(1);
    let (Some(current), Some(earlier)) = (largest, sample.checked_sub(back)) else {
        return 0.5;
    };
    let now = current[sample].abs();
    let before = current[earlier] * current[sample].signum();
    if before.is_nan() || before <= now {
        return 0.5;
    }
    // Once the fault is over elsewhere, the load goes on.
    let rest = current.iter().skip(sample + half / 4).take(half);
    let rest = rest.fold(0.0_f64, |most, i| most.max(i.abs()));
    if rest > GONE_SHARE * now {
        return 1.0;
    }
    // now = A sin θ, before = A sin(θ + δ).
    let delta = TAU * back as f64 / cycle;
    let theta = (now * delta.sin()).atan2(before - now * delta.cos());
    (theta / TAU * cycle).min(1.0 + LONGEST_FALL * cycle)
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

/// The types of a fault every quarter cycle from its inception on, where they last; the last cycle before the clearing is
/// left out, since poles open one by one.
pub fn stages(
    signals: &PhaseSignals,
    inception_s: f64,
    clearing_s: Option<f64>,
    frequency_hz: f64,
) -> Vec<CourseStage> {
    const MOST_STEPS: usize = 4000;
    let quarter_s = 0.25 / frequency_hz;
    let cycle_s = 4.0 * quarter_s;
    let end_s = clearing_s.map_or(signals.end_s(), |clearing_s| clearing_s - cycle_s);
    let mut seen: Vec<CourseStage> = Vec::new();
    for step in 0..MOST_STEPS {
        let judged_s = inception_s + step as f64 * quarter_s;
        if step > 0 && judged_s + 1.125 * cycle_s > end_s {
            break;
        }
        let phasors = signals.fault_phasors_from(inception_s, judged_s, frequency_hz);
        let Ok(Ok(phasors)) = phasors else { break };
        seen.push(CourseStage {
            start_s: judged_s,
            verdict: judge(&phasors),
        });
    }
    let mut stages: Vec<CourseStage> = seen.first().copied().into_iter().collect();
    for (at, stage) in seen.iter().enumerate() {
        let lasts = seen.get(at..at + LASTING_STEPS);
        let lasts = lasts.is_some_and(|all| all.iter().all(|s| s.verdict == stage.verdict));
        let is_new = stages
            .last()
            .is_some_and(|last| last.verdict != stage.verdict);
        if lasts && is_new {
            stages.push(*stage);
        }
    }
    stages
}
