//! How far a distance may be off: the same method on simulated faults of the user's own line.
//!
//! Faults of the type and loop that were found are placed where the method sees this one, behind sources, load angles and
//! fault resistances that are not known and therefore drawn; what the method errs by there is the interval. The fault
//! resistance is drawn up to what the loop of the record shows beyond the line.

use std::f64::consts::TAU;

use num_complex::Complex64;

use crate::math::{RandomStream, random_share, random_stream};
use crate::simulate::FaultStar;
use crate::simulate::feeder::FaultClass;
use crate::simulate::two_source::{EndState, Sequences, TwoSourceLine};

use super::distance::{Distance, EndPhasors, Method, one_ended, synchronised, unsynchronised};
use super::impedance::Loop;
use super::line::Line;
use super::rule::RuleVerdict;

/// Simulated faults behind one interval.
pub const N_SIMULATED: usize = 1000;

/// Seed of the draws: the same record and line give the same interval.
pub const SEED: u64 = 1;

/// Share of the simulated faults that the interval holds.
pub const COVERED: f64 = 0.9;

impl From<&EndState> for EndPhasors {
    fn from(of: &EndState) -> Self {
        Self {
            voltages: of.voltages,
            currents: of.currents,
            voltages_before: of.voltages_before,
            currents_before: of.currents_before,
        }
    }
}

/// Ratio and angle errors of instrument transformers between voltage and current: classes 3P and 5P allow some per cent
/// and a degree or two at their limits, most are far within.
const RATIO_ERROR: f64 = 0.01;
const ANGLE_ERROR: f64 = 0.5 * TAU / 360.0;
/// What noise, harmonics and the remaining DC do to a phasor, as shares of the largest voltage and current.
const VOLTAGE_NOISE: f64 = 0.002;
const CURRENT_NOISE: f64 = 0.004;

/// Share of the lines that end at a load instead of a source.
const LOAD_SHARE: f64 = 0.3;

/// What is known of the circuit around a fault.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Type and phases.
    pub verdict: RuleVerdict,
    /// Impedance of the faulted loop.
    pub loop_z: Complex64,
}

/// Gives every distance its interval.
pub fn add_intervals(distances: &mut [Distance], seen: &Seen, line: &Line) {
    for distance in distances {
        distance.interval = interval(distance.method, distance.value, seen, line);
    }
}

/// The interval of one distance.
pub fn interval(method: Method, value: f64, seen: &Seen, line: &Line) -> Option<(f64, f64)> {
    if !value.is_finite() {
        return None;
    }
    let place = value.clamp(0.01, 0.99);
    let mut random = random_stream(SEED, "distance interval", method as u64);
    let beyond = (seen.loop_z.re - place * line.z1().re).abs();
    let most_ohm = (2.0 * beyond).max(0.1);
    let mut errors: Vec<f64> = (0..N_SIMULATED)
        .filter_map(|_| simulated_error(method, place, most_ohm, seen, line, &mut random))
        .collect();
    errors.sort_by(f64::total_cmp);
    let at = |share: f64| errors.get((share * errors.len() as f64) as usize).copied();
    let tail = (1.0 - COVERED) / 2.0;
    Some((value - at(1.0 - tail)?, value - at(tail)?))
}

fn simulated_error(
    method: Method,
    place: f64,
    most_ohm: f64,
    seen: &Seen,
    line: &Line,
    random: &mut RandomStream,
) -> Option<f64> {
    let mut log_between =
        |low: f64, high: f64| (low.ln() + (high / low).ln() * random_share(random)).exp();
    let z1 = line.z1();
    let near_z = match line.source_ohm {
        Some((r, x)) => Complex64::new(r, x),
        None => Complex64::from_polar(z1.norm() * log_between(0.1, 10.0), 1.45),
    };
    let far_source_z = Complex64::from_polar(z1.norm() * log_between(0.1, 20.0), 1.45);
    let load_z = Complex64::from_polar(z1.norm() * log_between(3.0, 50.0), 0.35);
    let (near_zero, far_zero) = (log_between(0.5, 3.0), log_between(0.5, 3.0));
    let ohm = log_between(0.01, most_ohm.max(0.02));
    // Line data are known to some per cent only.
    let line_error = log_between(0.98, 1.02);
    let zero_error = log_between(0.9, 1.1);
    let angle = (random_share(random) - 0.5) * 40.0_f64.to_radians();
    let is_load = random_share(random) < LOAD_SHARE;
    let far_z = if is_load { load_z } else { far_source_z };
    let far_source = if is_load { 0.0 } else { 1e5 };
    let circuit = TwoSourceLine {
        line: Sequences {
            z1: z1 * line_error,
            z0: line.z0() * zero_error,
        },
        near: Sequences {
            z1: near_z,
            z0: near_z * near_zero,
        },
        far: Sequences {
            z1: far_z,
            z0: far_z * far_zero,
        },
        sources: [
            Complex64::from(1e5),
            Complex64::from_polar(far_source, angle),
        ],
    };
    let star = match seen.verdict.class {
        FaultClass::SingleLineToGround => FaultStar {
            phases: seen.verdict.phases,
            phase_ohm: ohm / 2.0,
            earth_ohm: Some(ohm / 2.0),
        },
        FaultClass::DoubleLineToGround => FaultStar {
            phases: seen.verdict.phases,
            phase_ohm: ohm / 2.0,
            earth_ohm: Some(ohm),
        },
        FaultClass::LineToLine | FaultClass::ThreeLine => FaultStar {
            phases: seen.verdict.phases,
            phase_ohm: ohm / 2.0,
            earth_ohm: None,
        },
        FaultClass::NoFault => return None,
    };
    Loop::of(&seen.verdict)?;
    let [near, far] = circuit.fault(place, &star);
    let mut near = EndPhasors::from(&near);
    let mut far = EndPhasors::from(&far);
    measure(&mut near, random);
    measure(&mut far, random);
    let (z1, k0) = (line.z1(), line.k0());
    let found = match method {
        Method::Synchronised => {
            // Clocks of two recorders agree to about a degree.
            let turn = Complex64::cis((random_share(random) - 0.5) * TAU / 180.0);
            for three in [&mut far.voltages, &mut far.currents] {
                three.iter_mut().for_each(|x| *x *= turn);
            }
            synchronised(&near, &far, &seen.verdict, z1, k0)?
        }
        Method::Unsynchronised => unsynchronised(&near, &far, &seen.verdict, z1)?,
        _ => one_ended(method, &near, &seen.verdict, z1, k0)?,
    };
    Some(found - place)
}

/// What transformers and recorder make of the phasors of one end.
fn measure(end: &mut EndPhasors, random: &mut RandomStream) {
    let mut within = |limit: f64| (2.0 * random_share(random) - 1.0) * limit;
    let ratio = Complex64::from_polar(1.0 + within(RATIO_ERROR), within(ANGLE_ERROR));
    let largest = |sets: [&[Complex64; 3]; 2]| {
        let sizes = sets.into_iter().flatten().map(|x| x.norm());
        sizes.fold(0.0, f64::max)
    };
    let noise = [
        VOLTAGE_NOISE * largest([&end.voltages, &end.voltages_before]),
        CURRENT_NOISE * largest([&end.currents, &end.currents_before]),
    ];
    let sets = [
        (&mut end.voltages, 0),
        (&mut end.voltages_before, 0),
        (&mut end.currents, 1),
        (&mut end.currents_before, 1),
    ];
    for (three, quantity) in sets {
        for x in three {
            let error = Complex64::new(within(noise[quantity]), within(noise[quantity]));
            let ratio = match quantity {
                0 => Complex64::from(1.0),
                _ => ratio,
            };
            *x = *x * ratio + error;
        }
    }
}
