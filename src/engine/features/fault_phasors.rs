//! Phasors of a fault record before and after its inception, on one clock, and what decides whether they can be judged.

use std::f64::consts::TAU;

use num_complex::Complex64;

use super::phase_signals::PhaseSignals;
use super::phasor::sequence_components;
use super::{FeatureError, RejectReason};

/// The cycle before the fault ends this share of a cycle before the inception,
pub(crate) const GUARD_BEFORE: f64 = 2.0 / 64.0;

/// and the cycle of the fault starts this share after it, past the first ringing.
const GUARD_AFTER: f64 = 1.0 / 8.0;

/// Cycles from the inception to the end of the cycle that is judged.
pub(super) const JUDGED_CYCLES: f64 = 1.0 + GUARD_AFTER;

/// Cycles before the inception that are needed.
pub(super) const CYCLES_BEFORE: f64 = 1.0 + GUARD_BEFORE;

/// Share of the AC energy that the fundamental must hold for its phasor to mean anything.
const LEAST_FUNDAMENTAL: f64 = 0.5;

/// The line was dead before if its voltage was below this share of the largest after.
const DEAD_SHARE: f64 = 0.2;

/// Furthest that a measured frequency may lie from the nominal one.
const FREQUENCY_REACH: f64 = 0.1;

/// Longest distance, in cycles, over which the turning of the voltages tells the frequency.
const LONGEST_BASELINE: usize = 4;

/// A sine, a constant and the energy of what a cycle holds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct FittedCycle {
    /// Peak phasor; its angle is that of a cosine at the reference time.
    pub(crate) phasor: Complex64,
    /// The constant part.
    constant: f64,
    /// Mean square of the values without their constant part.
    pub(crate) ac_power: f64,
    /// Mean square of what the fit leaves.
    rest_power: f64,
}

impl FittedCycle {
    /// The fitted value at an angle from the reference time.
    pub(crate) fn value(&self, turn: f64) -> f64 {
        self.constant + (self.phasor * Complex64::cis(turn)).re
    }

    /// Root mean square of what the fit leaves.
    pub(crate) fn unrest(&self) -> f64 {
        self.rest_power.max(0.0).sqrt()
    }
}

/// One cycle of one channel by least squares on `1, cos ωt, sin ωt`.
///
/// Where samples divide the cycle evenly this is the DFT with the constant removed; elsewhere nothing is interpolated,
/// so that no value from across the inception enters. Four samples a cycle suffice.
pub(crate) fn fit_cycle(
    values: &[f64],
    first_s: f64,
    step_s: f64,
    frequency_hz: f64,
) -> Option<FittedCycle> {
    let n = values.len() as f64;
    let turn = |k: usize| TAU * frequency_hz * (first_s + k as f64 * step_s);
    let (mut c, mut s, mut cc, mut ss, mut cs) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let (mut x, mut xc, mut xs) = (0.0, 0.0, 0.0);
    for (k, value) in values.iter().enumerate() {
        let (sine, cosine) = turn(k).sin_cos();
        c += cosine;
        s += sine;
        cc += cosine * cosine;
        ss += sine * sine;
        cs += cosine * sine;
        x += value;
        xc += value * cosine;
        xs += value * sine;
    }
    // The constant is eliminated first; two equations in cos and sin remain.
    let (a, b, d) = (cc - c * c / n, cs - c * s / n, ss - s * s / n);
    let (p, q) = (xc - x * c / n, xs - x * s / n);
    let determinant = a * d - b * b;
    if determinant.is_nan() || determinant <= 1e-9 * n * n {
        return None;
    }
    let (along, across) = ((p * d - q * b) / determinant, (q * a - p * b) / determinant);
    let constant = (x - along * c - across * s) / n;
    let ac: f64 = values.iter().map(|v| (v - constant).powi(2)).sum();
    // Where samples do not divide the cycle, half the square of the phasor is not what the fit takes.
    let around_mean: f64 = values.iter().map(|v| (v - x / n).powi(2)).sum();
    let rest = around_mean - along * p - across * q;
    Some(FittedCycle {
        phasor: Complex64::new(along, -across),
        constant,
        ac_power: ac / n,
        rest_power: rest / n,
    })
}

/// Where a cycle lies relative to a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CycleAt {
    /// Its last sample is at or before the time.
    EndsBy(f64),
    /// Its first sample is at or after the time.
    StartsAt(f64),
}

impl PhaseSignals {
    /// The cycles of all six channels around a time; `reference_s` is where angles count from. `None` where the signals
    /// do not hold the whole cycle, or where it has holes.
    pub(crate) fn cycles(
        &self,
        at: CycleAt,
        reference_s: f64,
        frequency_hz: f64,
    ) -> Option<[FittedCycle; 6]> {
        let n = (self.rate_hz / frequency_hz).round() as usize;
        let mut found = [FittedCycle::default(); 6];
        for (channel, cycle) in found.iter_mut().enumerate() {
            let first = match at {
                CycleAt::EndsBy(time_s) => {
                    let end = (self.position(channel, time_s) + 1e-6).floor();
                    end + 1.0 - n as f64
                }
                CycleAt::StartsAt(time_s) => (self.position(channel, time_s) - 1e-6).ceil(),
            };
            // Half a sample at either end of the record is rounding.
            if first.is_nan() || first < 0.0 || n < 3 {
                return None;
            }
            let values = self.values[channel].get(first as usize..first as usize + n)?;
            if values.iter().any(|v| !v.is_finite()) {
                return None;
            }
            let first_s = self.time_s(first as usize) + self.skews_s[channel] - reference_s;
            *cycle = fit_cycle(values, first_s, 1.0 / self.rate_hz, frequency_hz)?;
        }
        Some(found)
    }

    /// Peak phasors of the cycle that ends at a time, angles counted from that time.
    pub fn phasors_at(&self, end_s: f64, frequency_hz: f64) -> Option<[Complex64; 6]> {
        let cycles = self.cycles(CycleAt::EndsBy(end_s), end_s, frequency_hz)?;
        Some(cycles.map(|cycle| cycle.phasor))
    }

    /// The frequency that the record has before a time: how fast its positive sequence turns over up to four cycles.
    /// Falls back to the nominal one where less than two cycles, or nothing that turns, lies before.
    pub fn own_frequency(&self, before_s: f64) -> f64 {
        let mut frequency_hz = self.nominal_hz;
        for _ in 0..4 {
            let Some(next_hz) = self.turning_frequency(before_s, frequency_hz) else {
                return self.nominal_hz;
            };
            if (next_hz / self.nominal_hz - 1.0).abs() > FREQUENCY_REACH {
                return self.nominal_hz;
            }
            frequency_hz = next_hz;
        }
        frequency_hz
    }

    fn turning_frequency(&self, before_s: f64, frequency_hz: f64) -> Option<f64> {
        let cycle_s = 1.0 / frequency_hz;
        let end_s = before_s - GUARD_BEFORE * cycle_s;
        let held = ((end_s - self.start_s) / cycle_s).floor() as usize;
        let baseline = held.checked_sub(1)?.min(LONGEST_BASELINE);
        let turning = |time_s: f64| {
            let cycles = self.cycles(CycleAt::EndsBy(time_s), time_s, frequency_hz)?;
            Some(strongest_turning(&cycles))
        };
        let (now, is_voltage, is_positive) = turning(end_s)?;
        (baseline > 0 && now.norm() > 0.0).then_some(())?;
        let earlier_s = end_s - baseline as f64 * cycle_s;
        let cycles = self.cycles(CycleAt::EndsBy(earlier_s), earlier_s, frequency_hz)?;
        let earlier = turning_of(&cycles, is_voltage, is_positive);
        let turned = (now * earlier.conj()).arg() / TAU;
        Some(frequency_hz * (1.0 + turned / baseline as f64))
    }

    /// Phasors before and after an inception.
    pub fn fault_phasors(
        &self,
        inception_s: f64,
    ) -> Result<Result<FaultPhasors, RejectReason>, FeatureError> {
        let frequency_hz = self.own_frequency(inception_s);
        self.fault_phasors_from(inception_s, inception_s, frequency_hz)
    }

    /// Phasors before an inception and of the cycle that starts an eighth of a cycle after `judged_s`, at a frequency
    /// that is known.
    pub fn fault_phasors_from(
        &self,
        inception_s: f64,
        judged_s: f64,
        frequency_hz: f64,
    ) -> Result<Result<FaultPhasors, RejectReason>, FeatureError> {
        let cycle_s = 1.0 / frequency_hz;
        let end_s = inception_s - GUARD_BEFORE * cycle_s;
        let start_s = judged_s + GUARD_AFTER * cycle_s;
        let before = self.cycles(CycleAt::EndsBy(end_s), inception_s, frequency_hz);
        let after = self.cycles(CycleAt::StartsAt(start_s), inception_s, frequency_hz);
        let (Some(before), Some(after)) = (before, after) else {
            return match self.hole_in(end_s - cycle_s, start_s + cycle_s) {
                Some(reason) => Ok(Err(reason)),
                None if before.is_none() => Err(FeatureError::NoCycleBefore {
                    start_s: inception_s,
                }),
                None => Err(FeatureError::WindowOutside {
                    start_s,
                    end_s: start_s + cycle_s,
                    record_start_s: self.start_s,
                    record_end_s: self.end_s(),
                }),
            };
        };
        Ok(FaultPhasors::new(&before, &after, frequency_hz))
    }

    /// Missing or infinite values of the first channel that has some in a span.
    fn hole_in(&self, from_s: f64, to_s: f64) -> Option<RejectReason> {
        (0..6).find_map(|channel| {
            let index = |time_s: f64| self.position(channel, time_s).max(0.0) as usize;
            let values = &self.values[channel];
            let span = values.get(index(from_s)..values.len().min(index(to_s) + 1))?;
            let n_missing = span.iter().filter(|v| !v.is_finite()).count();
            (n_missing > 0).then(|| RejectReason::Missing {
                channel: self.names[channel].clone(),
                n_missing,
            })
        })
    }
}

/// The sequence that turns with most strength: of the voltages unless they are dead, in whichever rotation they have.
fn strongest_turning(cycles: &[FittedCycle; 6]) -> (Complex64, bool, bool) {
    let is_sine = |three: &[FittedCycle]| fundamental_share(three) >= LEAST_FUNDAMENTAL;
    let is_voltage = is_sine(&cycles[..3]);
    let [_, positive, negative] = sequence_components(three_phasors(cycles, is_voltage));
    let is_positive = positive.norm() >= negative.norm();
    let found = if is_positive { positive } else { negative };
    (found, is_voltage, is_positive)
}

fn turning_of(cycles: &[FittedCycle; 6], is_voltage: bool, is_positive: bool) -> Complex64 {
    let [_, positive, negative] = sequence_components(three_phasors(cycles, is_voltage));
    if is_positive { positive } else { negative }
}

fn three_phasors(cycles: &[FittedCycle; 6], is_voltage: bool) -> [Complex64; 3] {
    let first = if is_voltage { 0 } else { 3 };
    [0, 1, 2].map(|phase| cycles[first + phase].phasor)
}

/// Share of the AC energy of channels that their fundamentals hold; 0 where there is none.
fn fundamental_share(cycles: &[FittedCycle]) -> f64 {
    let ac: f64 = cycles.iter().map(|cycle| cycle.ac_power).sum();
    let fundamental: f64 = cycles.iter().map(|c| c.phasor.norm_sqr() / 2.0).sum();
    if ac > 0.0 { fundamental / ac } else { 0.0 }
}

/// Phasors of voltages and currents before and during a fault, phases in the order in which the voltages turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FaultPhasors {
    /// The frequency at which they were taken.
    pub frequency_hz: f64,
    /// Voltages before; a healthy set where the line was dead.
    pub voltages_before: [Complex64; 3],
    /// Voltages during the fault.
    pub voltages: [Complex64; 3],
    /// Currents before.
    pub currents_before: [Complex64; 3],
    /// Currents during the fault.
    pub currents: [Complex64; 3],
    /// What counts as the normal phase voltage (peak).
    pub base_v: f64,
    /// Whether the line was dead before.
    pub was_dead: bool,
    /// Whether phases turn A–C–B, so that B and C are exchanged here.
    pub is_acb: bool,
}

impl FaultPhasors {
    fn new(
        before: &[FittedCycle; 6],
        after: &[FittedCycle; 6],
        frequency_hz: f64,
    ) -> Result<Self, RejectReason> {
        let largest = |three: &[Complex64; 3]| three.iter().map(|x| x.norm()).fold(0.0, f64::max);
        let mut found = Self {
            frequency_hz,
            voltages_before: three_phasors(before, true),
            voltages: three_phasors(after, true),
            currents_before: three_phasors(before, false),
            currents: three_phasors(after, false),
            base_v: 0.0,
            was_dead: false,
            is_acb: false,
        };
        let is_voltage =
            |cycles: &[FittedCycle; 6]| fundamental_share(&cycles[..3]) >= LEAST_FUNDAMENTAL;
        if !(is_voltage(before) || is_voltage(after)) {
            return Err(RejectReason::NoVoltage);
        }
        let is_all_zero = largest(&found.currents) == 0.0 && largest(&found.currents_before) == 0.0;
        if is_all_zero
            || fundamental_share(&after[3..]) < LEAST_FUNDAMENTAL && largest(&found.currents) > 0.0
        {
            return Err(RejectReason::NoSine {
                share: fundamental_share(&after[3..]),
            });
        }
        let mean_before = mean_size(&found.voltages_before);
        let largest_after = largest(&found.voltages);
        found.was_dead = mean_before <= DEAD_SHARE * largest_after;
        let turning = if found.was_dead {
            found.voltages
        } else {
            found.voltages_before
        };
        let [_, positive, negative] = sequence_components(turning);
        found.is_acb = negative.norm() > positive.norm();
        if found.is_acb {
            for three in [
                &mut found.voltages_before,
                &mut found.voltages,
                &mut found.currents_before,
                &mut found.currents,
            ] {
                three.swap(1, 2);
            }
        }
        found.base_v = if found.was_dead {
            largest_after
        } else {
            mean_before
        };
        if found.was_dead {
            let [_, positive, _] = sequence_components(found.voltages);
            let a = Complex64::from_polar(found.base_v, positive.arg());
            let turn = Complex64::cis(TAU / 3.0);
            found.voltages_before = [a, a * turn.conj(), a * turn];
        }
        let all = [
            found.voltages,
            found.currents,
            found.voltages_before,
            found.currents_before,
        ];
        let is_finite = all.iter().flatten().all(|x| x.is_finite());
        if is_finite {
            Ok(found)
        } else {
            Err(RejectReason::Overflow)
        }
    }

    /// Changes of the currents.
    pub fn current_changes(&self) -> [Complex64; 3] {
        [0, 1, 2].map(|p| self.currents[p] - self.currents_before[p])
    }

    /// Zero, positive and negative sequence of the current changes.
    pub fn current_sequences(&self) -> [Complex64; 3] {
        sequence_components(self.current_changes())
    }

    /// Zero, positive and negative sequence of the voltage changes, per unit.
    pub fn voltage_sequences(&self) -> [Complex64; 3] {
        let changes = [0, 1, 2].map(|p| self.voltages[p] - self.voltages_before[p]);
        sequence_components(changes).map(|u| u / self.base_v)
    }

    /// Positive-sequence voltage during the fault, per unit.
    pub fn positive_voltage(&self) -> f64 {
        sequence_components(self.voltages)[1].norm() / self.base_v
    }

    /// Mean of the three currents before.
    pub fn mean_current_before(&self) -> f64 {
        mean_size(&self.currents_before)
    }
}

fn mean_size(three: &[Complex64; 3]) -> f64 {
    three.iter().map(|x| x.norm()).sum::<f64>() / 3.0
}

/// Names of the fifteen magnitudes, in their order.
pub(super) const MAGNITUDE_NAMES: [&str; 15] = [
    "dI0 share",
    "dI1 share",
    "dI2 share",
    "dI / I",
    "log I / I before",
    "dV0",
    "dV1",
    "dV2",
    "V1",
    "dI largest",
    "dI middle",
    "dI smallest",
    "V largest",
    "V middle",
    "V smallest",
];

/// The fifteen magnitudes: unchanged by scale, polarity of the current transformers and cyclic exchange of the phases.
pub fn magnitudes(phasors: &FaultPhasors) -> Vec<f64> {
    let sizes = |three: [Complex64; 3]| three.map(|x| x.norm());
    let largest = |three: [f64; 3]| three.into_iter().fold(0.0, f64::max);
    let falling = |mut three: [f64; 3]| {
        three.sort_by(|a, b| b.total_cmp(a));
        three
    };
    let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
    let changes = sizes(phasors.current_changes());
    let sequences = sizes(phasors.current_sequences());
    let norm = sequences.iter().map(|x| x * x).sum::<f64>().sqrt();
    let most_change = largest(changes);
    let (now, before) = (
        largest(sizes(phasors.currents)),
        largest(sizes(phasors.currents_before)),
    );
    let rise = now / (phasors.mean_current_before() + 0.001 * now);
    let rise = if now > 0.0 {
        rise.log10().clamp(-1.0, 2.0) / 2.0
    } else {
        -0.5
    };
    let mut values = Vec::with_capacity(15);
    values.extend(sequences.map(|x| share(x, norm)));
    values.push(share(most_change, now.max(before)));
    values.push(rise);
    values.extend(sizes(phasors.voltage_sequences()));
    values.push(phasors.positive_voltage().min(1.5));
    values.extend(falling(changes).map(|x| share(x, most_change)));
    values.extend(falling(sizes(phasors.voltages)).map(|x| x / phasors.base_v));
    values
}
