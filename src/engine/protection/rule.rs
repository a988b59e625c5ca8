//! Type and phases of a fault in closed form, from the phasors before and during it.

use std::f64::consts::TAU;
use std::fmt;

use num_complex::Complex64;

use crate::features::fault_phasors::FaultPhasors;
use crate::simulate::feeder::FaultClass;
use crate::simulate::phase_letters;

/// Zero-sequence voltage, per unit, from which an earth fault is considered that hardly moves the other voltages,
pub(super) const ISOLATED_ZERO: f64 = 0.10;
/// and how little the line-to-line voltages may change beside it.
const ISOLATED_BETWEEN: f64 = 0.25;
/// The change of the current, as a multiple of the mean before, up to which its shape is not asked.
const ISOLATED_CURRENT: f64 = 0.5;
/// Voltage of the lowest phase, per unit, up to which it tells the phase of such a fault.
const LOWEST_TELLS: f64 = 0.5;

/// Unbalance of the voltage below which nothing has happened,
const QUIET_VOLTAGE: f64 = 0.015;
/// if the positive sequence keeps this much,
const QUIET_POSITIVE: f64 = 0.94;
/// and no current reaches this multiple of the mean before.
const QUIET_CURRENT: f64 = 2.0;

/// Negative and zero sequence, as shares of the positive one, below which a change is balanced.
const BALANCED_NEGATIVE: f64 = 0.25;
const BALANCED_ZERO: f64 = 0.10;
/// A balanced change is a fault if the voltage drops below this, or
const BALANCED_VOLTAGE: f64 = 0.985;
/// every current exceeds this multiple of the mean before,
const BALANCED_CURRENT: f64 = 2.5;
/// and the change is this share of the current,
const BALANCED_CHANGE: f64 = 0.4;
/// which has grown by this factor.
const BALANCED_GROWTH: f64 = 1.2;

/// Zero sequence of the current, as a share of the larger other one, that means earth;
const EARTH_CURRENT: f64 = 0.04;
/// so does this zero sequence of the voltage, per unit.
const EARTH_VOLTAGE: f64 = 0.05;
/// Smallest over largest change between two phases, below which only one phase is faulted.
const ONE_PHASE: f64 = 0.3;

/// Type and phases of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleVerdict {
    /// The type.
    pub class: FaultClass,
    /// Which of A, B, C are faulted; none without a fault.
    pub phases: [bool; 3],
}

impl RuleVerdict {
    /// Nothing has happened.
    pub const NO_FAULT: Self = Self {
        class: FaultClass::NoFault,
        phases: [false; 3],
    };

    /// `A` … `ABC`; nothing without a fault.
    pub fn phase_letters(&self) -> String {
        phase_letters(self.phases)
    }

    /// Whether earth is part of the fault.
    pub fn is_to_earth(&self) -> bool {
        matches!(
            self.class,
            FaultClass::SingleLineToGround | FaultClass::DoubleLineToGround
        )
    }
}

impl fmt::Display for RuleVerdict {
    /// `BC-G`, `ABC`, `no fault`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class {
            FaultClass::NoFault => f.write_str(self.class.name()),
            _ if self.is_to_earth() => write!(f, "{}-G", self.phase_letters()),
            _ => f.write_str(&self.phase_letters()),
        }
    }
}

/// Type and phases by the rule; phases carry the record's own letters also where they turn A–C–B.
pub fn judge(phasors: &FaultPhasors) -> RuleVerdict {
    let mut verdict = judge_turned(phasors);
    if phasors.is_acb {
        verdict.phases.swap(1, 2);
    }
    verdict
}

fn judge_turned(phasors: &FaultPhasors) -> RuleVerdict {
    let sizes = |three: [Complex64; 3]| three.map(|x| x.norm());
    let largest = |three: [f64; 3]| three.into_iter().fold(0.0, f64::max);
    let smallest = |three: [f64; 3]| three.into_iter().fold(f64::INFINITY, f64::min);
    let sequences = phasors.current_sequences();
    let [s0, s1, s2] = sizes(sequences);
    let [u0, _, u2] = sizes(phasors.voltage_sequences());
    let v1 = phasors.positive_voltage();
    let now = sizes(phasors.currents);
    let before = phasors.mean_current_before();
    let turn = (sequences[2] / sequences[1]).arg();

    let between = sizes(differences(phasors.current_changes()));
    let is_one_phase = smallest(between) < ONE_PHASE * largest(between);
    // Two phases to earth far out on a strong network move the voltages like one phase; their currents tell them apart.
    let is_one_phase_or_small =
        is_one_phase || largest(sizes(phasors.current_changes())) < ISOLATED_CURRENT * before;
    if u0 > ISOLATED_ZERO
        && line_to_line_change(phasors) < ISOLATED_BETWEEN * u0
        && is_one_phase_or_small
    {
        let voltages = sizes(phasors.voltages).map(|v| v / phasors.base_v);
        let lowest = [0, 1, 2]
            .into_iter()
            .min_by(|a, b| voltages[*a].total_cmp(&voltages[*b]));
        let phase = match lowest {
            Some(phase) if voltages[phase] <= LOWEST_TELLS => phase,
            _ => nearest(turn, ONE_PHASE_TURNS),
        };
        return one_phase(phase);
    }
    if u0.max(u2) < QUIET_VOLTAGE && v1 > QUIET_POSITIVE && largest(now) < QUIET_CURRENT * before {
        return RuleVerdict::NO_FAULT;
    }
    if s2 < BALANCED_NEGATIVE * s1 && s0 < BALANCED_ZERO * s1 {
        let most = largest(now).max(largest(sizes(phasors.currents_before)));
        let is_fault = (v1 < BALANCED_VOLTAGE || smallest(now) > BALANCED_CURRENT * before)
            && largest(sizes(phasors.current_changes())) > BALANCED_CHANGE * most
            && largest(now) > BALANCED_GROWTH * before;
        return match is_fault {
            true => RuleVerdict {
                class: FaultClass::ThreeLine,
                phases: [true; 3],
            },
            false => RuleVerdict::NO_FAULT,
        };
    }
    let is_earth = s0 > EARTH_CURRENT * s1.max(s2) || u0 > EARTH_VOLTAGE;
    if is_earth && is_one_phase {
        return one_phase(nearest(turn, ONE_PHASE_TURNS));
    }
    let mut phases = [true; 3];
    phases[nearest(turn, HEALTHY_TURNS)] = false;
    RuleVerdict {
        class: match is_earth {
            true => FaultClass::DoubleLineToGround,
            false => FaultClass::LineToLine,
        },
        phases,
    }
}

fn one_phase(phase: usize) -> RuleVerdict {
    RuleVerdict {
        class: FaultClass::SingleLineToGround,
        phases: [0, 1, 2].map(|p| p == phase),
    }
}

/// Angle of the negative against the positive sequence for a fault of A, B, C.
const ONE_PHASE_TURNS: [f64; 3] = [0.0, TAU / 3.0, -TAU / 3.0];

/// The same for faults of two phases of which A, B, C is the healthy one: BC, CA, AB.
const HEALTHY_TURNS: [f64; 3] = [TAU / 2.0, -TAU / 6.0, TAU / 6.0];

/// The angle that lies nearest.
fn nearest(turn: f64, of: [f64; 3]) -> usize {
    let distance = |k: usize| -(turn - of[k]).cos();
    let best = [0, 1, 2]
        .into_iter()
        .min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
    best.unwrap_or(0)
}

/// Differences A − B, B − C, C − A.
fn differences([a, b, c]: [Complex64; 3]) -> [Complex64; 3] {
    [a - b, b - c, c - a]
}

/// Largest change of a line-to-line voltage, per unit of the phase voltage.
fn line_to_line_change(phasors: &FaultPhasors) -> f64 {
    let changes = [0, 1, 2].map(|p| phasors.voltages[p] - phasors.voltages_before[p]);
    let sizes = differences(changes).map(|v| v.norm() / phasors.base_v);
    sizes.into_iter().fold(0.0, f64::max)
}
