//! The moment a fault begins, between samples: where the signals leave the wave that they had before.

use std::f64::consts::TAU;

use crate::features::fault_phasors::{CycleAt, GUARD_BEFORE};
use crate::features::phase_signals::PhaseSignals;

/// Cycles from the wave before to the change that was found.
const REACH_BACK: f64 = 0.5;
/// Cycles after it within which the signals leave the wave.
const REACH_ON: f64 = 1.0;

/// How far a sample is from the wave that it has left.
struct Departure {
    /// Farther than this multiple of the unrest before,
    unrest: f64,
    /// and than these shares of the largest change of the voltages, which ring, and of the currents.
    shares: [f64; 2],
}

/// Where samples are close the first small one tells the moment;
const FINE_DEPARTURE: Departure = Departure {
    unrest: 4.0,
    shares: [0.05, 0.02],
};
/// where they are far apart, one more before it would move the moment by as much as the fit can correct.
const COARSE_DEPARTURE: Departure = Departure {
    unrest: 8.0,
    shares: [0.08, 0.05],
};

/// Samples per cycle from which half a sample is as good as the fit.
const FINE_SAMPLES: f64 = 10.0;
/// Cycles of the fault that are fitted,
const FITTED_CYCLES: f64 = 0.6;
/// of so many samples at least,
const FITTED_SAMPLES: usize = 3;
/// time constants of its DC part in cycles,
const TIME_CONSTANTS: [f64; 5] = [0.05, 0.15, 0.5, 2.0, 8.0];
/// how far the currents of real networks lie from such a fit, as a share of their largest change,
const FIT_ERROR: f64 = 0.05;
/// and the moments that are tried between two samples.
const STEPS: usize = 32;

/// When the signals leave their wave, near a change that was found in samples: half a sample before the first one that
/// has left it or, where samples are far apart, where the currents of a fault that grow from nothing fit best. `None`
/// without a whole cycle before.
pub(super) fn onset_s(signals: &PhaseSignals, found_s: f64, frequency_hz: f64) -> Option<f64> {
    let cycle_s = 1.0 / frequency_hz;
    let ends_s = [REACH_BACK, GUARD_BEFORE].map(|back| found_s - back * cycle_s);
    let mut before = ends_s.into_iter().map(CycleAt::EndsBy);
    let before = before.find_map(|at| signals.cycles(at, found_s, frequency_hz))?;
    let departure = |channel: usize, sample: usize| {
        let since_s = signals.time_s(sample) + signals.skews_s[channel] - found_s;
        let expected = before[channel].value(TAU * frequency_hz * since_s);
        signals.values[channel][sample] - expected
    };
    let sample = |time_s: f64| (time_s - signals.start_s).max(0.0) * signals.rate_hz;
    let n_samples = signals.values.iter().map(Vec::len).min()?;
    let is_fine = signals.rate_hz * cycle_s >= FINE_SAMPLES;
    // The change is seen half a sample after the moment that was found, at most one sample late where they are few.
    let seen = sample(found_s).ceil() as usize;
    let first = seen.saturating_sub(usize::from(!is_fine));
    let end = n_samples.min(sample(found_s + REACH_ON * cycle_s) as usize + 1);
    let left_if = if is_fine {
        FINE_DEPARTURE
    } else {
        COARSE_DEPARTURE
    };
    let limits = [0, 3].map(|group| {
        let channels = group..group + 3;
        let changes = channels
            .clone()
            .flat_map(|channel| (first..end).map(move |sample| (channel, sample)));
        let largest = changes.fold(0.0, |most: f64, (channel, sample)| {
            most.max(departure(channel, sample).abs())
        });
        let unrest = before[channels].iter().map(|wave| wave.unrest());
        let unrest = unrest.fold(0.0, f64::max);
        (left_if.unrest * unrest).max(left_if.shares[group / 3] * largest)
    });
    let has_left = |sample: &usize| {
        (0..6).any(|channel| departure(channel, *sample).abs() > limits[channel / 3])
    };
    let left = (first..end).find(has_left)?;
    let half_s = signals.time_s(left) - 0.5 / signals.rate_hz;
    if is_fine {
        return Some(half_s);
    }
    let until = n_samples.min(sample(signals.time_s(left) + FITTED_CYCLES * cycle_s) as usize + 1);
    let currents = [3, 4, 5].map(|channel| -> Vec<f64> {
        (left..until)
            .map(|sample| departure(channel, sample))
            .collect()
    });
    let step = TAU * frequency_hz / signals.rate_hz;
    let unrest = before[3..].iter().map(|wave| wave.unrest());
    let early = samples_since_onset(&currents, step, unrest.fold(0.0, f64::max));
    Some(early.map_or(half_s, |early| {
        signals.time_s(left) - early / signals.rate_hz
    }))
}

/// How many samples before the first of them changes of currents began: the mean of all moments up to one sample,
/// weighted by how well `a (cos θ − e^(−θ/τ)) + b sin θ` fits from there on, which is what a fault drives through
/// resistance and inductance. `step` is the angle between samples. `None` where too few samples tell.
fn samples_since_onset(currents: &[Vec<f64>; 3], step: f64, unrest: f64) -> Option<f64> {
    let largest = currents.iter().flat_map(|values| values.iter());
    let largest = largest.fold(0.0, |most: f64, value| most.max(value.abs()));
    let tolerance = unrest.max(FIT_ERROR * largest);
    let n = currents.iter().map(Vec::len).min()?;
    if n < FITTED_SAMPLES || tolerance.is_nan() || tolerance <= 0.0 {
        return None;
    }
    let tried = TIME_CONSTANTS.into_iter().flat_map(|tau| {
        (0..=STEPS).map(move |part| {
            let early = part as f64 / STEPS as f64;
            let error: f64 = currents
                .iter()
                .map(|values| misfit(values, step, early, TAU * tau))
                .sum();
            (early, error / (2.0 * tolerance * tolerance))
        })
    });
    let tried: Vec<(f64, f64)> = tried.collect();
    let least = tried.iter().fold(f64::INFINITY, |least, t| least.min(t.1));
    let weights = tried
        .iter()
        .map(|(early, error)| (early, (least - error).exp()));
    let (sum, all) = weights.fold((0.0, 0.0), |(sum, all), (early, weight)| {
        (sum + early * weight, all + weight)
    });
    (sum / all).is_finite().then_some(sum / all)
}

/// Squared error of the best `a`, `b` for one current.
fn misfit(values: &[f64], step: f64, early: f64, tau: f64) -> f64 {
    let (mut cc, mut cs, mut ss, mut cy, mut sy, mut yy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for (sample, y) in values.iter().enumerate() {
        let turn = (sample as f64 + early) * step;
        let (s, c) = (turn.sin(), turn.cos() - (-turn / tau).exp());
        cc += c * c;
        cs += c * s;
        ss += s * s;
        cy += c * y;
        sy += s * y;
        yy += y * y;
    }
    let determinant = cc * ss - cs * cs;
    let a = (cy * ss - sy * cs) / determinant;
    let b = (sy * cc - cy * cs) / determinant;
    yy - a * cy - b * sy
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fault on all phases of a network without load, of four samples a cycle and a given X/R.
    fn fault(begins_s: f64, x_over_r: f64) -> PhaseSignals {
        let (rate_hz, hz) = (200.0, 50.0);
        let turn = |sample: usize| TAU * hz * sample as f64 / rate_hz;
        let values = [0, 1, 2, 3, 4, 5].map(|channel: usize| {
            let shift = TAU * (channel % 3) as f64 / 3.0;
            let wave = |sample: usize| {
                let since = turn(sample) - TAU * hz * begins_s;
                let now = turn(sample) - shift;
                let start = TAU * hz * begins_s - shift;
                match channel {
                    0..3 => now.cos() * if since > 0.0 { 0.5 } else { 1.0 },
                    _ if since > 0.0 => {
                        100.0
                            * ((now - 1.4).cos() - (start - 1.4).cos() * (-since / x_over_r).exp())
                    }
                    _ => 0.01 * now.cos(),
                }
            };
            (0..40).map(wave).collect()
        });
        PhaseSignals {
            rate_hz,
            start_s: 0.0,
            nominal_hz: hz,
            values,
            skews_s: [0.0; 6],
            names: Default::default(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_fault_between_two_of_four_samples_a_cycle_is_found() {
        for part in 0..10 {
            for x_over_r in [3.0, 8.0, 20.0] {
                let begins_s = 0.1 + 0.0005 + 0.0004 * f64::from(part);
                let signals = fault(begins_s, x_over_r);
                let found_s = onset_s(&signals, 0.1025, 50.0).expect("a cycle before");
                let cycles = (found_s - begins_s) * 50.0;
                assert!(
                    cycles.abs() < 0.03,
                    "{cycles} at {begins_s} s, X/R {x_over_r}"
                );
            }
        }
    }
}
